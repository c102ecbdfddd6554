#!/usr/bin/env python3
"""Lists what each kernel of a sweep takes of a processor, as compiled: registers, static shared memory, local memory.

usage: kernel_resources.py BINARY [--csv RESOURCES.csv] [--match REGEX] [--no-spills]

BINARY is a program, an object file or a cubin, which does not say its architecture. Needs cuobjdump, of the CUDA
toolkit, and cu++filt or c++filt. A kernel whose registers did not suffice has local bytes; so has one that keeps an
array there. Shared memory is static, with what the architecture reserves of it.
"""
import argparse
import csv
import re
import shutil
import subprocess
import sys

SHAPE = ("units", "cluster", "rows")
COLUMNS = ("kernel", "cell", "precision", *SHAPE, "registers", "shared_bytes", "local_bytes", "architecture")
SWEEP = re.compile(r"void (?:\w+::)*(?P<kernel>\w+)"
                   r"<(?P<cell>.+?), (?P<precision>[\w:]+), (?:\w+::)*team_shape<(?P<shape>[^<>]+)> ?>\(")


def program(*names):
    """The first of these that is installed."""
    found = next(filter(None, map(shutil.which, names)), None)
    return found or sys.exit(f"kernel_resources.py: no {' or '.join(names)} found, needs one in PATH")


def usages_of(text):
    """A dictionary for each kernel in what cuobjdump prints: mangled name, resources, architecture."""
    usages, architecture, name = [], "", ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("arch = "):
            architecture = line[len("arch = "):]
        elif line.startswith("Function "):
            name = line[len("Function "):].rstrip(":")
        elif line.startswith("REG:"):
            used = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", line)}
            usages.append({"mangled": name, "registers": used["REG"], "shared_bytes": used["SHARED"],
                           "local_bytes": used["STACK"] + used["LOCAL"], "architecture": architecture})
    return usages


def parts_of(name):
    """Columns of a demangled name: that of a sweep is taken apart, any other is kept whole."""
    sweep = SWEEP.match(name)
    if not sweep:
        return {"kernel": name}
    # cu++filt writes the type before a number.
    numbers = re.findall(r"\d+", sweep["shape"])
    return {"kernel": sweep["kernel"], "cell": sweep["cell"].replace("rnnopt::", ""),
            "precision": sweep["precision"].replace("rnnopt::", ""), **dict(zip(SHAPE, map(int, numbers)))}


def label_of(row):
    """A kernel in a few words."""
    return " ".join(str(row[column]) for column in ("kernel", "cell", "precision", *SHAPE) if column in row)


def write(rows, file):
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def output_of(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"kernel_resources.py: {command[0]} failed: {result.stderr.strip()}")
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description="Lists registers and memory of the kernels of a compiled program.")
    parser.add_argument("binary", help="program, object file or cubin")
    parser.add_argument("--csv", help="file to write (standard output)")
    parser.add_argument("--match", default="sweep_kernel|sweep_gradient_kernel", type=re.compile,
                        help="regular expression that the names of listed kernels contain (%(default)s)")
    parser.add_argument("--no-spills", action="store_true", help="exit code 1 where a listed kernel has local bytes")
    arguments = parser.parse_args()

    usages = usages_of(output_of([program("cuobjdump"), "--dump-resource-usage", arguments.binary]))
    names = output_of([program("cu++filt", "c++filt")], input="".join(usage["mangled"] + "\n" for usage in usages))
    rows = [{**parts_of(name), **{column: usage[column] for column in COLUMNS if column in usage}}
            for name, usage in zip(names.splitlines(), usages) if arguments.match.search(name)]
    if not rows:
        sys.exit(f"kernel_resources.py: {arguments.binary} has no kernel that matches '{arguments.match.pattern}'")

    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            write(rows, file)
    else:
        write(rows, sys.stdout)
    spills = [f"kernel_resources.py: {row['local_bytes']} bytes of local memory in {label_of(row)}"
              for row in rows if row["local_bytes"]]
    if arguments.no_spills and spills:
        sys.exit("\n".join(spills))


if __name__ == "__main__":
    main()
