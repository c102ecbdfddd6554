#!/usr/bin/env python3
"""Draws the ladder from a CSV of rnnopt_ladder: GFLOP/s of each rung, with cuDNN and a large product as lines.

usage: plot_ladder.py RESULTS.csv PICTURE.{svg,png,pdf} [--cell lstm] [--precision fp32]
"""
import argparse
import sys

from plot import pyplot, read

PASSES = ("forward_training", "backward_data")
MODES = ("stream", "graph")
COLOURS = {"stream": "tab:blue", "graph": "tab:orange"}
PAPER_NAIVE_GFLOPS = 349  # Appleyard et al. 2016, table 1: a Tesla M40


def rungs_of(rows, pass_name):
    """A dictionary for each rung, from the bottom: number, name, GFLOP/s by launch mode, the paper's GFLOP/s or None."""
    rungs = {}
    for row in rows:
        if not row["rung"] or row["pass"] != pass_name:
            continue
        paper = PAPER_NAIVE_GFLOPS * float(row["paper_speedup"]) if row["paper_speedup"] else None
        rung = rungs.setdefault(int(row["rung"]), {"number": int(row["rung"]), "name": row["name"], "paper": paper})
        rung[row["mode"]] = float(row["gflops"] or 0)
    return [rungs[number] for number in sorted(rungs)]


def peers_of(rows, pass_name):
    """GFLOP/s of what the rungs are held against, by label; those that were not measured are left out."""
    peers = {}
    for row in rows:
        if row["rung"] or not row["gflops"]:
            continue
        if not row["pass"]:
            peers[row["name"]] = float(row["gflops"])
        elif row["pass"] == pass_name:
            peers[f"{row['name']}, {row['mode']}"] = float(row["gflops"])
    return peers


def draw_pass(axis, rows, pass_name):
    rungs = rungs_of(rows, pass_name)
    for index, mode in enumerate(MODES):
        axis.bar([place + 0.4 * index - 0.2 for place in range(len(rungs))], [rung.get(mode, 0) for rung in rungs], 0.4,
                 color=COLOURS[mode], label=mode)
    paper = [(place, rung["paper"]) for place, rung in enumerate(rungs) if rung["paper"]]
    if paper:
        axis.plot(*zip(*paper), "kD", markersize=5, label="the paper, Tesla M40")
    for label, rate in peers_of(rows, pass_name).items():
        mode = next((mode for mode in MODES if label.endswith(", " + mode)), None)
        axis.axhline(rate, color=COLOURS.get(mode, "black"), linestyle="--" if mode else "-", linewidth=1.2, label=label)
    axis.set_xticks(range(len(rungs)), [f"{rung['number']} {rung['name']}" for rung in rungs], rotation=55, ha="right",
                    rotation_mode="anchor", fontsize=8)
    axis.set_yscale("log")
    axis.grid(axis="y", linewidth=0.4)
    axis.set_axisbelow(True)
    axis.set_title(pass_name.replace("_", " "))


def main():
    parser = argparse.ArgumentParser(description="Draws GFLOP/s of each rung of the ladder.")
    parser.add_argument("results", help="CSV written by rnnopt_ladder --csv")
    parser.add_argument("picture", help="file to write; its ending says the format")
    parser.add_argument("--cell", default="lstm", help="cell to draw (lstm)")
    parser.add_argument("--precision", default="fp32", help="precision to draw (fp32)")
    arguments = parser.parse_args()
    drawing = pyplot()

    device, rows = read(arguments.results)
    rows = [row for row in rows if row["cell"] == arguments.cell and row["precision"] == arguments.precision]
    if not any(row["rung"] and row["gflops"] for row in rows):
        sys.exit(f"plot_ladder.py: the results hold no times of {arguments.cell} in {arguments.precision}")

    figure, axes = drawing.subplots(1, len(PASSES), sharey=True, figsize=(14, 6.5), layout="constrained")
    for axis, pass_name in zip(axes, PASSES):
        draw_pass(axis, rows, pass_name)
    axes[0].set_ylabel("GFLOP/s of the products")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
    shape = "{cell} {precision}, hidden {hidden}, batch {batch}, {steps} steps, {layers} layers".format(**rows[0])
    figure.suptitle(f"{shape}, {device}", fontsize=9)
    figure.savefig(arguments.picture)


if __name__ == "__main__":
    main()
