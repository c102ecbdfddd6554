#!/usr/bin/env python3
"""Maps which schedule is the fastest from a CSV of rnnopt_bench: a field for each batch and hidden size.

usage: plot_map.py RESULTS.csv -o PICTURE.{svg,png,pdf} [--pass forward_training] [--cell lstm] [--precision fp16]

A field says the time of a step of the fastest schedule, captured in a graph, and cuDNN's best time over it. Fields are
equally wide, so the axes are logarithmic for sizes of which each is a multiple of the one before, as in grid_map.csv.
"""
import argparse

from plot import captured, pyplot, read, require_one_shape


def fastest_of(rows):
    """By batch and hidden size, the row of the fastest schedule; None where none could be timed."""
    fastest = {}
    for row in rows:
        field = int(row["batch"]), int(row["hidden"])
        best = fastest.setdefault(field, None)
        if row["microseconds"] and (best is None or float(row["microseconds"]) < float(best["microseconds"])):
            fastest[field] = row
    return fastest


def text_of(row):
    """Of a field: time of a step, and cuDNN's over it if that was timed."""
    step = float(row["microseconds"]) / int(row["steps"])
    return f"{step:.2f} us" + (f"\n{float(row['best_ratio']):.2f}x" if row["best_ratio"] else "")


def draw_fields(axis, fastest, colours):
    batches, hiddens = (sorted(set(sizes)) for sizes in zip(*fastest))
    for (batch, hidden), row in fastest.items():
        x, y = batches.index(batch), hiddens.index(hidden)
        axis.bar(x, 1, 1, y - 0.5, color=colours[row["schedule"]] if row else "white", edgecolor="white", alpha=0.6)
        axis.text(x, y, text_of(row) if row else "not run", ha="center", va="center", fontsize=9)
    axis.set_xticks(range(len(batches)), batches)
    axis.set_yticks(range(len(hiddens)), hiddens)
    axis.set_xlim(-0.5, len(batches) - 0.5)
    axis.set_ylim(-0.5, len(hiddens) - 0.5)
    axis.set_xlabel("batch")
    axis.set_ylabel("hidden")


def main():
    parser = argparse.ArgumentParser(description="Maps the fastest schedule over batch and hidden size.")
    parser.add_argument("results", help="CSV written by rnnopt_bench --csv")
    parser.add_argument("-o", "--output", required=True, help="picture to write; its ending says the format")
    parser.add_argument("--pass", dest="wanted_pass", default="forward_training",
                        help="pass to draw (forward_training)")
    parser.add_argument("--cell", default="lstm", help="cell to draw (lstm)")
    parser.add_argument("--precision", default="fp16", help="precision to draw (fp16)")
    arguments = parser.parse_args()
    drawing = pyplot()

    device, rows = read(arguments.results)
    rows = captured(rows, cell=arguments.cell, precision=arguments.precision, **{"pass": arguments.wanted_pass})
    require_one_shape(rows, ("steps", "layers"))
    colours = {schedule: f"C{index}" for index, schedule in enumerate(dict.fromkeys(row["schedule"] for row in rows))}
    fastest = fastest_of(rows)

    figure, axis = drawing.subplots(figsize=(8, 6.5), layout="constrained")
    draw_fields(axis, fastest, colours)
    winners = {row["schedule"] for row in fastest.values() if row}
    handles = [drawing.Rectangle((0, 0), 1, 1, color=colour, alpha=0.6, label=schedule)
               for schedule, colour in colours.items() if schedule in winners]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)), fontsize=8)
    shape = "{cell} {precision}, {steps} steps, {layers} layers".format(**rows[0])
    figure.suptitle(f"{shape}, {arguments.wanted_pass.replace('_', ' ')}: time of a step, cuDNN best over it\n"
                    f"{device}, graph (above 1: rnnopt is faster)", fontsize=9)
    figure.savefig(arguments.output)


if __name__ == "__main__":
    main()
