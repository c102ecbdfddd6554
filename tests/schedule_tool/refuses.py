"""Whatever is wrong is said in one line, with an exit code: refuses.py PROGRAM REPOSITORY"""

from common import expect, finish, run

GIVEN = ("--schedule", "naive")


def refuse(code, expected, *arguments):
    result = run(*arguments)
    expect(result.returncode == code and not result.stdout, f"{arguments}: exit code {result.returncode}, {result.stdout}")
    expect(result.stderr.startswith("rnnopt_schedule: ") and result.stderr.count("\n") == 1 and expected in result.stderr,
           f"{arguments}: says '{result.stderr}', expected '{expected}'")


refuse(2, "give --schedule NAME")
refuse(2, "--schedule is 'fastest', needs one of naive, ", "--schedule", "fastest")
refuse(2, "--schedule needs a value", "--schedule")
refuse(2, "bad option '--unknown'", *GIVEN, "--unknown")
refuse(2, "unexpected 'stray'", *GIVEN, "stray")
refuse(2, "--pass is 'sideways', needs forward or backward", *GIVEN, "--pass", "sideways")
refuse(2, "--cell is 'rnn', needs one of lstm, gru, vanilla", *GIVEN, "--cell", "rnn")
refuse(2, "--precision is 'fp8', needs one of fp32, ", *GIVEN, "--precision", "fp8")
refuse(2, "--directions is '3', needs a whole number from 1 to 2", *GIVEN, "--directions", "3")
for option in ("--layers", "--steps", "--hidden", "--batch"):
    for value in ("0", "-1", "12x", "", "99999999999999999999"):
        refuse(2, f"{option} is '{value}', needs a whole number from 1 to ", *GIVEN, option, value)
refuse(1, "cannot be written", "--schedule", "naive", "--steps", "1", "--svg", "/nonexistent/picture.svg")
expect(run("--help").stdout.startswith("usage: rnnopt_schedule"), "--help")
finish()
