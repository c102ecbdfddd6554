#!/usr/bin/env python3
"""Plots cuDNN's time over this library's from a CSV of rnnopt_bench: a group of bars for each shape.

usage: plot.py RESULTS.csv PICTURE.{svg,png,pdf} [--mode graph|stream]
"""
import argparse
import csv
import pathlib
import sys

PASSES = ("forward_training", "backward_data")


def pyplot():
    """matplotlib's pyplot, drawing into files."""
    try:
        import matplotlib
    except ImportError:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: needs matplotlib (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    from matplotlib import pyplot as drawing
    return drawing


def read(path):
    """The device that the header names, and the rows."""
    with open(path, newline="") as file:
        lines = file.read().splitlines()
    device = next((line[len("# device: "):] for line in lines if line.startswith("# device: ")), "")
    return device, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def captured(rows, **wanted):
    """The rows of graph launches that have these values."""
    return [row for row in rows if row["mode"] == "graph" and all(row[name] == wanted[name] for name in wanted)]


def require_one_shape(rows, columns):
    """Refuses rows without times, and those that differ in one of these columns."""
    program = pathlib.Path(sys.argv[0]).name
    if not any(row["microseconds"] for row in rows):
        sys.exit(f"{program}: the results hold no times of what is asked for")
    for name in columns:
        values = list(dict.fromkeys(row[name] for row in rows))
        if len(values) > 1:
            sys.exit(f"{program}: the results differ in {name} ({', '.join(values)}), needs one")


def main():
    parser = argparse.ArgumentParser(description="Plots cuDNN's time over this library's.")
    parser.add_argument("results", help="CSV written by rnnopt_bench --csv")
    parser.add_argument("picture", help="file to write; its ending says the format")
    parser.add_argument("--mode", choices=("graph", "stream"), default="graph", help="launch mode to plot (graph)")
    arguments = parser.parse_args()
    drawing = pyplot()
    device, rows = read(arguments.results)
    rows = [row for row in rows if row["mode"] == arguments.mode]
    shapes = list(dict.fromkeys(shape_of(row) for row in rows))
    # Where only the standard algorithm was timed, it is the best.
    peers = ("standard", "best") if any(row["standard_ratio"] != row["best_ratio"] for row in rows) else ("standard",)
    series = list(dict.fromkeys((row["schedule"], peer) for row in rows for peer in peers))
    if not any(row["standard_ratio"] or row["best_ratio"] for row in rows):
        sys.exit("plot.py: the results hold no ratios, cuDNN was not timed")

    height = 1.5 + 0.08 * len(shapes) * (len(series) + 1)
    figure, axes = drawing.subplots(1, len(PASSES), sharey=True, figsize=(12, height), layout="constrained")
    thickness = 0.8 / len(series)
    for axis, pass_name in zip(axes, PASSES):
        for index, (schedule, peer) in enumerate(series):
            ratios = {shape_of(row): float(row[peer + "_ratio"] or 0)
                      for row in rows if row["schedule"] == schedule and row["pass"] == pass_name}
            places = [position + index * thickness for position in range(len(shapes))]
            axis.barh(places, [ratios.get(shape, 0) for shape in shapes], thickness,
                      label=f"{schedule} against cuDNN {peer}")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(pass_name.replace("_", " "))
        axis.set_xlabel("cuDNN time / rnnopt time")
    axes[0].set_yticks([position + 0.4 - thickness / 2 for position in range(len(shapes))], shapes, fontsize=7)
    axes[0].set_ylim(len(shapes), -0.5)  # the first shape on top
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(3, len(series)), fontsize=8)
    figure.suptitle(f"{device}, {arguments.mode} (above 1: rnnopt is faster)", fontsize=9)
    figure.savefig(arguments.picture)


def shape_of(row):
    """Label of a shape."""
    return "{cell} {precision} h{hidden} b{batch} t{steps} l{layers}".format(**row)


if __name__ == "__main__":
    main()
