"""Holds the headers to their layers: python3 layering.py REPOSITORY

A header includes only headers of its own or a lower layer, without cycles; cells and schedules do not know each other;
no .hpp includes a .cuh; no header includes Thrust, CUB or libcu++; a new header has to be given a layer here.
"""

import pathlib
import re
import sys

# A name ending in "/" stands for every header in that folder.
LAYERS = [
    ["config.hpp", "version.hpp", "error.hpp"],
    ["extents.hpp"],
    ["pack.hpp", "half.hpp", "precision.hpp", "product_choice.hpp", "gates.hpp", "math.hpp", "autodiff.hpp", "traced.hpp", "workspace.hpp"],
    ["cell.hpp", "evaluate.hpp", "tape.hpp", "schedule.hpp"],
    ["cells/", "schedules/"],
    ["weights.hpp", "arguments.hpp", "buffers.hpp", "checks.hpp", "recorder.hpp", "schedule_values.hpp", "schedule_check.hpp", "gradient_check.hpp", "host/", "host_rnn.hpp"],
    ["device/"],
    ["rnn.cuh"],
    ["best_of.cuh"],
    ["rnnopt.cuh", "rnnopt_host.hpp"],
]
STRANGERS = [("cells/", "schedules/"), ("schedules/", "cells/")]
FORBIDDEN_INCLUDES = ("thrust/", "cub/", "cuda/", "nv/")
MACROS_AT_MOST = 8


def layer_of(header):
    for number, names in enumerate(LAYERS, start=1):
        for name in names:
            if header == name or (name.endswith("/") and header.startswith(name)):
                return number
    return None


def cycle_through(header, includes, path=()):
    """The first cycle found below `header`, as a list of headers, or None."""
    if header in path:
        return [*path[path.index(header):], header]
    for included in includes.get(header, []):
        cycle = cycle_through(included, includes, (*path, header))
        if cycle:
            return cycle
    return None


def main(repository):
    root = repository / "include" / "rnnopt"
    headers = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    errors, includes, macros = [], {}, set()

    for header in headers:
        text = (root / header).read_text(encoding="utf-8")
        layer = layer_of(header)
        if layer is None:
            errors.append(f"{header}: has no layer; give it one in LAYERS of tests/checks/layering.py")
        if not header.endswith((".hpp", ".cuh")):
            errors.append(f"{header}: is neither .hpp nor .cuh")
        if "#pragma once" not in text:
            errors.append(f"{header}: has no '#pragma once'")

        includes[header] = []
        for quote, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', text, re.MULTILINE):
            if name.startswith(FORBIDDEN_INCLUDES):
                errors.append(f"{header}: includes <{name}>; no header includes Thrust, CUB or libcu++")
            if not name.startswith("rnnopt/"):
                if quote == '"':
                    errors.append(f'{header}: includes "{name}"; write "rnnopt/..." or <...>')
                continue
            included = name[len("rnnopt/"):]
            if included not in headers:
                errors.append(f"{header}: includes {included}, which does not exist")
                continue
            includes[header].append(included)
            if layer and layer_of(included) and layer_of(included) > layer:
                errors.append(f"{header} (layer {layer}): includes {included} (layer {layer_of(included)})")
            if header.endswith(".hpp") and included.endswith(".cuh"):
                errors.append(f"{header}: a .hpp includes {included}")
            for one, other in STRANGERS:
                if header.startswith(one) and included.startswith(other):
                    errors.append(f"{header}: includes {included}; {one} and {other} know only the contracts")

        for macro in re.findall(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE):
            if not macro.startswith("RNNOPT_"):
                errors.append(f"{header}: defines {macro}; macros begin with RNNOPT_")
            elif not macro.startswith("RNNOPT_VERSION_"):
                macros.add(macro)

    if len(macros) > MACROS_AT_MOST:
        errors.append(f"{len(macros)} macros, at most {MACROS_AT_MOST}: {', '.join(sorted(macros))}")
    for header in headers:
        cycle = cycle_through(header, includes)
        if cycle and cycle[0] == header:
            errors.append(f"cycle: {' -> '.join(cycle)}")
    if not headers:
        errors.append(f"no headers in {root}")

    print("\n".join(errors) if errors else f"{len(headers)} headers keep to their layers")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
