"""What the READMEs say of the program is what it prints: quoted.py PROGRAM REPOSITORY"""

import pathlib
import re
import shlex

from common import REPOSITORY, expect, finish, report

readme = (pathlib.Path(REPOSITORY) / "README.md").read_text(encoding="utf-8")
quotes = re.findall(r"^    \S*/rnnopt_schedule (--schedule .*)\n\n((?:    .*\n)+)", readme, re.MULTILINE)
expect(quotes, "README.md quotes nothing")
for arguments, body in quotes:
    quoted = [line.strip() for line in body.splitlines()]
    printed = [line.strip() for line in report(*shlex.split(arguments)).splitlines()]
    for line in quoted:
        expect(line in printed, f"{arguments} does not print: {line}")

rungs = re.findall(r"^\| \d+ \| `(.+?)` \| `(.+?)` \|",
                   (pathlib.Path(REPOSITORY) / "bench" / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
listed = [tuple(line.split(maxsplit=1)) for line in report("--list").splitlines()]
expect(rungs + [("cluster", "cluster")] == listed, f"bench/README.md has the rungs {rungs}, the program {listed}")
finish()
