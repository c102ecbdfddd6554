"""Finds paths that exist on one machine only: python3 machine_paths.py REPOSITORY"""

import pathlib
import re
import sys

# An absolute path into somebody's folders, or one that leaves the repository.
FORBIDDEN = re.compile(r"(?<![\w.$}-])/(?:work|root|home|Users|mnt)/|\.\./shared")
IGNORED_FOLDERS = {".git", "build", "__pycache__"}


def main(repository):
    errors, files = [], 0
    for path in sorted(repository.rglob("*")):
        name = path.relative_to(repository)
        if not path.is_file() or IGNORED_FOLDERS.intersection(name.parts):
            continue
        files += 1
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if FORBIDDEN.search(line):
                errors.append(f"{name}:{number}: {line.strip()[:160]}")

    print("\n".join(errors) if errors else f"{files} files name no path of one machine")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
