#!/usr/bin/env python3
"""Compares the times of the model with measured ones: compare.py rnnopt_schedule RESULTS.csv

Reads a CSV of rnnopt_bench. Backward is the sum of its passes backward_data and weight_gradient, captured in a graph.
Prints, for each schedule, precision and pass, the model's time over the measured one: least, geometric mean, largest.
"""

import collections
import csv
import math
import re
import subprocess
import sys

CELLS = {"lstm": "lstm", "gru": "gru", "vanilla_tanh": "vanilla", "vanilla_relu": "vanilla"}
SHAPE = ("cell", "hidden", "batch", "steps", "layers", "precision", "schedule")


def measured_times(path):
    """By shape and pass of the model, in microseconds."""
    times = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["mode"] == "graph" and row["microseconds"]:
                times[tuple(row[name] for name in SHAPE)][row["pass"]] = float(row["microseconds"])
    return {
        shape: {"forward": of["forward_training"], "backward": of["backward_data"] + of["weight_gradient"]}
        for shape, of in times.items()
        if {"forward_training", "backward_data", "weight_gradient"} <= of.keys()
    }


def modelled_time(program, shape, wanted_pass):
    values = dict(zip(SHAPE, shape), cell=CELLS[shape[0]])
    command = [program, "--pass", wanted_pass] + [word for name in SHAPE for word in ("--" + name, values[name])]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"^total time +(\S+) us$", text, re.MULTILINE).group(1))


def ratios(program, path):
    """Model over measurement, by schedule, precision, whether there is one layer, and pass."""
    result = collections.defaultdict(list)
    for shape, times in measured_times(path).items():
        for wanted_pass, time in times.items():
            layers = "one layer" if shape[4] == "1" else "more layers"
            result[shape[6], shape[5], layers, wanted_pass].append(modelled_time(program, shape, wanted_pass) / time)
    return result


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


if __name__ == "__main__":
    for key, values in sorted(ratios(*sys.argv[1:3]).items()):
        print("%-26s %s, %-12s %-9s %.2f %.2f %.2f" % (*key, min(values), geometric_mean(values), max(values)))
