"""Draws the map and the curve from a made-up CSV: plots.py REPOSITORY RESULTS.csv"""

import pathlib
import subprocess
import sys
import tempfile

REPOSITORY, RESULTS = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "tests")]
from expectations import expect  # noqa: E402
from plot import captured, read  # noqa: E402
from plot_curve import CUDNN, curves_of  # noqa: E402
from plot_map import fastest_of, text_of  # noqa: E402


device, rows = read(RESULTS)


def fields_of(pass_name):
    fastest = fastest_of(captured(rows, cell="lstm", **{"pass": pass_name}))
    return {field: (row["schedule"], text_of(row)) if row else None for field, row in fastest.items()}


expect(device, "made up")
expect(fields_of("forward_training"), {
    (1, 500): ("cluster", "2.00 us\n2.50x"),
    (4, 500): ("stepwise", "1.80 us\n2.00x"),
    (1, 1000): ("stepwise", "8.00 us\n0.50x"),
    (4, 1000): None,
})
expect(fields_of("backward_data"), {(1, 500): ("stepwise", "2.00 us")})

# 2 * 1000 * 1000 * 100 operations for a row of the batch.
curves = curves_of(captured(rows, cell="vanilla_tanh", precision="fp32"))
expect(curves, {"stepwise": {2: 1.0, 4: 2.0}, CUDNN: {2: 4.0, 4: 4.0}})
expect(list(curves[CUDNN]), [2, 4])
# 3 gates, 2 layers.
expect(curves_of(captured(rows, cell="gru", precision="fp16", **{"pass": "forward_training"})), {"stepwise": {4: 4.0}})

with tempfile.TemporaryDirectory() as folder:
    def draw(program, picture, *options):
        return subprocess.run([sys.executable, "-B", REPOSITORY / "bench" / program, RESULTS, "-o",
                               pathlib.Path(folder) / picture, *options], capture_output=True, text=True)

    for program, picture, options, begins in (
            ("plot_map.py", "map.png", (), b"\x89PNG"),
            ("plot_map.py", "map.svg", ("--pass", "backward_data"), b"<?xml"),
            ("plot_map.py", "one.svg", ("--cell", "gru"), b"<?xml"),
            ("plot_curve.py", "curve.png", (), b"\x89PNG"),
            ("plot_curve.py", "curve.svg", ("--cell", "vanilla_tanh"), b"<?xml")):
        drawn = draw(program, picture, *options)
        expect((drawn.returncode, drawn.stderr), (0, ""))
        expect((pathlib.Path(folder) / picture).read_bytes().startswith(begins), True)
    for program, options, says in (
            ("plot_map.py", ("--precision", "bf16"), "the results hold no times of what is asked for"),
            ("plot_curve.py", ("--cell", "gru"), "the results differ in steps (100, 50), needs one"),
            ("plot_curve.py", ("--cell", "lstm"), "the results differ in hidden (500, 1000), needs one")):
        refused = draw(program, "none.png", *options)
        expect((refused.returncode, refused.stderr), (1, f"{program}: {says}\n"))
