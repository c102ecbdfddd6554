"""Changes fields of a checkpoint of char_lm and puts its checksum right: forge.py FROM TO CASES

CASES has a line for each forgery: a text that is not looked at, then NAME=VALUE as often as wanted, all separated by
tabs. Line N becomes the file TO.N. A value is a Python expression of the old one, called old. Written from the layout
of the file, not from its reader."""

import struct
import sys

MAGIC = b"rnnopt char_lm checkpoint 1\n"
# In the order of the file: numbers by their struct codes; a list by the code of its elements.
FIELDS = [("cell", "list B"), ("layers", "q"), ("hidden", "q"), ("embedding", "q"), ("batch", "q"), ("steps", "q"),
          ("learning_rate", "d"), ("clip", "d"), ("seed", "Q"), ("characters", "list I"), ("text", "Q"),
          ("iterations", "q"), ("position", "q"), ("parameters", "list f"), ("mean", "list f"), ("variance", "list f"),
          ("states", "list list f")]


def take(kind, data, at):
    if not kind.startswith("list "):
        return struct.unpack_from("<" + kind, data, at)[0], at + struct.calcsize("<" + kind)
    size, at = take("Q", data, at)
    values = []
    for _ in range(size):
        value, at = take(kind[5:], data, at)
        values.append(value)
    return values, at


def put(kind, value):
    if not kind.startswith("list "):
        return struct.pack("<" + kind, value)
    return struct.pack("<Q", len(value)) + b"".join(put(kind[5:], element) for element in value)


def checksum(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data.startswith(MAGIC)
    at, values = len(MAGIC) + 16, {}
    for name, kind in FIELDS:
        values[name], at = take(kind, data, at)
    assert at == len(data)
    return values


def write(path, values):
    content = b"".join(put(kind, values[name]) for name, kind in FIELDS)
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<QQ", len(content), checksum(content)) + content)


def main(source, target, cases):
    original = read(source)
    with open(cases, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            values = dict(original)
            for change in line.rstrip("\n").split("\t")[1:]:
                name, expression = change.split("=", 1)
                values[name] = eval(expression, {"old": original[name]})
            write(f"{target}.{number}", values)


if __name__ == "__main__":
    main(*sys.argv[1:])
