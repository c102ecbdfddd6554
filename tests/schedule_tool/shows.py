"""Every schedule is shown, in numbers that agree with each other, as text and as a picture: shows.py PROGRAM REPOSITORY"""

import pathlib
import re
import tempfile
import xml.etree.ElementTree as xml

from common import expect, finish, number, report

SVG = "{http://www.w3.org/2000/svg}"
PLACES = 100  # of a line of text
TABLE_LINE = re.compile(r"^  (\w+) +(\d+) +([\d.]+) us +([\d.]+) %$", re.MULTILINE)


def near(a, b, rounding):
    return abs(a - b) <= rounding


def check_numbers(text, what):
    operations, critical = text.split("critical path", 1)
    kinds, on_path = TABLE_LINE.findall(operations), TABLE_LINE.findall(critical)
    # Each number of the report is rounded to a tenth.
    rounding = 0.06 * (1 + len(kinds))
    work, total = number(text, "work"), number(text, "total time")
    largest = int(re.search(r"average, (\d+) at most", text).group(1))
    expect(number(text, "operations") == sum(int(count) for _, count, _, _ in kinds), f"{what}: operations")
    expect(near(work, sum(float(time) for _, _, time, _ in kinds), rounding), f"{what}: work")
    expect(near(100, sum(float(share) for _, _, _, share in kinds), rounding), f"{what}: shares")
    # With no limit on what runs at once, what is on the critical path leaves no gap.
    expect(near(number(text, "critical path"), total, 0.1), f"{what}: critical path and total time")
    expect(near(total, sum(float(time) for _, _, time, _ in on_path), rounding), f"{what}: critical path")
    expect(near(work / total, number(text, "width"), 0.01), f"{what}: width")
    expect(1 <= largest <= number(text, "lanes"), f"{what}: largest width")


def check_drawing(text, what):
    drawing = re.findall(r"^lane +\d+ (.*)\|$", text, re.MULTILINE)
    expect(len(drawing) == number(text, "lanes"), f"{what}: lanes of the drawing")
    expect(all(len(line) <= PLACES for line in text.splitlines()), f"{what}: a line is too long")
    expect(all(set(line) - {"."} for line in drawing), f"{what}: an empty lane")


def check_picture(path, text, what):
    root = xml.parse(path).getroot()
    boxes = [box for box in root.iter(SVG + "rect") if box.find(SVG + "title") is not None]
    arrows = [line for line in root.iter(SVG + "line") if "marker-end" in line.attrib]
    expect(len(boxes) == number(text, "operations"), f"{what}: boxes")
    expect(len(arrows) == int(re.search(r"(\d+) waits", text).group(1)), f"{what}: arrows")
    expect(all(float(box.get("width")) > 0 for box in boxes), f"{what}: an empty box")
    expect(all(float(box.get("x")) + float(box.get("width")) <= float(root.get("width")) for box in boxes),
           f"{what}: a box outside")


def check(schedule, arguments, path):
    what = " ".join([schedule, *arguments])
    text = report("--schedule", schedule, *arguments, "--svg", str(path))
    expect("\nproven: " in text, f"{what}: not proven")
    check_numbers(text, what)
    check_drawing(text, what)
    check_picture(path, text, what)


def total_time(schedule, *arguments):
    return number(report("--schedule", schedule, *arguments), "total time")


def main():
    schedules = [line.split()[0] for line in report("--list").splitlines()]
    expect(len(schedules) == len(set(schedules)) and len(schedules) >= 12, f"schedules: {schedules}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "picture.svg"
        for schedule in schedules:
            for wanted_pass in ("forward", "backward"):
                for layers, directions, cell in (("1", "1", "lstm"), ("3", "1", "gru"), ("3", "2", "vanilla")):
                    check(schedule, ["--pass", wanted_pass, "--layers", layers, "--directions", directions, "--cell",
                                     cell, "--steps", "19"], path)
    for wanted_pass in ("forward", "backward"):
        arguments = ("--layers", "4", "--pass", wanted_pass)
        expect(total_time("wavefront", *arguments) < total_time("stepwise", *arguments) / 2, f"wavefront {wanted_pass}")
    finish()


main()
