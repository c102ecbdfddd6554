"""What the tests of scripts have in common."""

import sys


def expect(got, expected):
    if got != expected:
        sys.exit(f"got {got!r}, expected {expected!r}")
