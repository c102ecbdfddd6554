"""What the tests of rnnopt_schedule share; their arguments are the program and the repository."""

import re
import subprocess
import sys

PROGRAM, REPOSITORY = sys.argv[1:3]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def report(*arguments):
    """What the program prints, which has to be a success."""
    result = run(*arguments)
    expect(result.returncode == 0 and not result.stderr, f"{arguments}: {result.returncode}, {result.stderr}")
    return result.stdout


def number(text, name):
    """The number after a name at the beginning of a line."""
    return float(re.search(rf"^{name} +([\d.]+)\b", text, re.MULTILINE).group(1))


def finish():
    print("\n".join(failures) if failures else "passed")
    sys.exit(1 if failures else 0)
