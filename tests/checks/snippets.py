"""Holds README.md to code that is compiled: python3 snippets.py REPOSITORY

In README.md the line before a C++ or CUDA fence names a snippet, <!-- snippet: examples/custom_cell/mgu.cu#cell -->,
and the fence repeats what stands in that file between two lines '// [cell]', indented as little as possible.
"""

import pathlib
import re
import sys
import textwrap

LANGUAGES = {"cpp", "c++", "cxx", "cuda", "cu"}
COMPILED_FOLDERS = ("examples/", "tests/", "bench/")
COMPILED_ENDINGS = (".cpp", ".hpp", ".cu", ".cuh")


def normalised(lines):
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines))
    return text.strip("\n")


def quoted(repository, reference):
    """The text that `reference`, path#name, stands for; raises ValueError if there is none."""
    path, _, name = reference.partition("#")
    if not path.startswith(COMPILED_FOLDERS) or not path.endswith(COMPILED_ENDINGS):
        raise ValueError(f"{path} is not a source in {', '.join(COMPILED_FOLDERS)}")
    if not (repository / path).is_file():
        raise ValueError(f"{path} does not exist")
    lines = (repository / path).read_text(encoding="utf-8").splitlines()
    marks = [number for number, line in enumerate(lines) if line.strip() == f"// [{name}]"]
    if len(marks) != 2:
        raise ValueError(f"{path} has {len(marks)} lines '// [{name}]', needs 2")
    return normalised(lines[marks[0] + 1:marks[1]])


def main(repository):
    readme = repository / "README.md"
    if not readme.is_file():
        print("README.md does not exist")
        return 1
    lines = readme.read_text(encoding="utf-8").splitlines()

    errors, compared, number = [], 0, 0
    while number < len(lines):
        opening = re.fullmatch(r"\s*(`{3,}|~{3,})\s*(\S*).*", lines[number])
        if not opening:
            number += 1
            continue
        start, fence = number, opening.group(1)
        number += 1
        while number < len(lines) and lines[number].strip() != fence:
            number += 1
        body = lines[start + 1:number]
        number += 1
        if opening.group(2).lower() not in LANGUAGES:
            continue
        mark = re.fullmatch(r"\s*<!-- snippet: (\S+#\S+) -->\s*", lines[start - 1]) if start else None
        if not mark:
            errors.append(f"README.md:{start + 1}: no '<!-- snippet: path#name -->' on the line before")
            continue
        try:
            expected = quoted(repository, mark.group(1))
        except ValueError as error:
            errors.append(f"README.md:{start}: {error}")
            continue
        compared += 1
        if normalised(body) != expected:
            errors.append(f"README.md:{start + 1}: differs from {mark.group(1)}, which reads\n{expected}")

    print("\n".join(errors) if errors else f"{compared} snippets of README.md are what is compiled")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
