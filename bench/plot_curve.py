#!/usr/bin/env python3
"""Draws the rate of recurrent products over the batch from a CSV of rnnopt_bench, for each schedule and cuDNN's best.

usage: plot_curve.py RESULTS.csv -o PICTURE.{svg,png,pdf} [--cell vanilla_tanh]

Operations are counted as by Diamos et al. 2016, those of R h alone: 2 * batch * hidden * hidden * steps for each gate
and layer. The time is all of the pass, with the input product, captured in a graph.
"""
import argparse

from plot import PASSES, captured, pyplot, read, require_one_shape

RECURRENT_GATES = {"lstm": 4, "gru": 3, "vanilla_tanh": 1, "vanilla_relu": 1}
CUDNN = "cuDNN best"


def operations_of(row):
    batch, hidden, steps, layers = (int(row[name]) for name in ("batch", "hidden", "steps", "layers"))
    return 2 * batch * hidden * hidden * steps * layers * RECURRENT_GATES[row["cell"]]


def curves_of(rows):
    """TFLOP/s by schedule, or by CUDNN, and batch, from the smallest; what was not timed is left out."""
    curves = {}
    for row in rows:
        for name, time in ((row["schedule"], row["microseconds"]), (CUDNN, row["cudnn_best_microseconds"])):
            if time:
                curves.setdefault(name, {})[int(row["batch"])] = operations_of(row) / float(time) / 1e6
    return {name: dict(sorted(curve.items())) for name, curve in curves.items()}


def draw_curves(axis, curves, schedules):
    for name, curve in curves.items():
        style = {"color": "black", "linestyle": "--"} if name == CUDNN else {"color": f"C{schedules.index(name)}"}
        axis.plot(curve.keys(), curve.values(), marker="o", markersize=4, label=name, **style)
    axis.grid(linewidth=0.4)


def main():
    parser = argparse.ArgumentParser(description="Draws TFLOP/s of recurrent products over the batch.")
    parser.add_argument("results", help="CSV written by rnnopt_bench --csv")
    parser.add_argument("-o", "--output", required=True, help="picture to write; its ending says the format")
    parser.add_argument("--cell", choices=RECURRENT_GATES, default="vanilla_tanh", help="cell to draw (vanilla_tanh)")
    arguments = parser.parse_args()
    drawing = pyplot()

    device, rows = read(arguments.results)
    rows = captured(rows, cell=arguments.cell)
    require_one_shape(rows, ("hidden", "steps", "layers"))
    precisions = list(dict.fromkeys(row["precision"] for row in rows))
    schedules = list(dict.fromkeys(row["schedule"] for row in rows))

    figure, grid = drawing.subplots(len(precisions), len(PASSES), squeeze=False, sharex=True, sharey="row",
                                    figsize=(12, 1.5 + 3.5 * len(precisions)), layout="constrained")
    for precision, axes in zip(precisions, grid):
        for pass_name, axis in zip(PASSES, axes):
            draw_curves(axis, curves_of(captured(rows, precision=precision, **{"pass": pass_name})), schedules)
            axis.set_title(f"{precision}, {pass_name.replace('_', ' ')}", fontsize=10)
        axes[0].set_ylabel("TFLOP/s of R h")
        axes[0].set_ylim(bottom=0)
    batches = sorted({int(row["batch"]) for row in rows})
    for axis in grid[-1]:
        axis.set_xscale("log", base=2)
        axis.set_xticks(batches, batches)
        axis.set_xlabel("batch")
    entries = {}  # by label: a schedule may be missing from some of the axes
    for axis in grid.flat:
        entries.update((label, handle) for handle, label in zip(*axis.get_legend_handles_labels()))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=min(4, len(entries)), fontsize=8)
    shape = "{cell}, hidden {hidden}, {steps} steps, {layers} layers".format(**rows[0])
    figure.suptitle(f"{shape}, {device}, graph", fontsize=9)
    figure.savefig(arguments.output)


if __name__ == "__main__":
    main()
