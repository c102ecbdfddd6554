"""The model agrees with what was measured, as well as bench/README.md says: agrees.py PROGRAM REPOSITORY"""

import pathlib
import sys

from common import PROGRAM, REPOSITORY, expect, finish

bench = pathlib.Path(REPOSITORY) / "bench"
sys.path.insert(0, str(bench / "schedule_tool"))
from compare import geometric_mean, ratios  # noqa: E402

found = ratios(PROGRAM, bench / "results" / "2026-12-01_h200.csv")
for wanted_pass in ("forward", "backward"):
    one_lane = found["stepwise", "fp16", "one layer", wanted_pass]
    expect(0.8 < geometric_mean(one_lane) < 1.2, f"{wanted_pass}: {geometric_mean(one_lane)} on average")
    expect(0.8 < min(one_lane) and max(one_lane) < 1.5, f"{wanted_pass}: {min(one_lane)} to {max(one_lane)}")
finish()
