"""Draws the ladder from a made-up CSV: plot.py REPOSITORY RESULTS.csv"""

import pathlib
import subprocess
import sys
import tempfile

REPOSITORY, RESULTS = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "tests")]
from expectations import expect  # noqa: E402
from plot import read  # noqa: E402
from plot_ladder import peers_of, rungs_of  # noqa: E402


device, rows = read(RESULTS)
rows = [row for row in rows if row["precision"] == "fp32"]
expect(device, "made up")
expect(rungs_of(rows, "forward_training"), [
    {"number": 0, "name": "naive", "paper": 349.0, "stream": 250.0, "graph": 500.0},
    {"number": 1, "name": "combined_gates", "paper": 349 * 2.1, "stream": 500.0, "graph": 1000.0},
    {"number": 2, "name": "overlapped_products", "paper": 349 * 2.8, "stream": 1000.0, "graph": 2000.0},
])
expect([rung["graph"] for rung in rungs_of(rows, "backward_data")], [250.0, 500.0, 1000.0])
expect(peers_of(rows, "backward_data"), {"cudnn standard, stream": 2000.0, "large product": 20000.0})

with tempfile.TemporaryDirectory() as folder:
    def draw(picture, *options):
        return subprocess.run([sys.executable, "-B", REPOSITORY / "bench" / "plot_ladder.py", RESULTS,
                               pathlib.Path(folder) / picture, *options], capture_output=True, text=True)

    for picture, begins in (("ladder.png", b"\x89PNG"), ("ladder.svg", b"<?xml")):
        drawn = draw(picture)
        expect((drawn.returncode, drawn.stderr), (0, ""))
        expect((pathlib.Path(folder) / picture).read_bytes().startswith(begins), True)
    refused = draw("none.png", "--cell", "gru")
    expect((refused.returncode, refused.stderr),
           (1, "plot_ladder.py: the results hold no times of gru in fp32\n"))
