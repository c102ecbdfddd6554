# What the tests of char_lm share; sourced with the program and the device as arguments.

set -uo pipefail
program=$1
device=$2
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# A text with something to learn: sentences of a small grammar, drawn from a fixed sequence.
make_text() {
  awk -v sentences="$1" 'BEGIN {
    split("the a every some", article); split("cat dog bird fish snake", noun); split("sees likes fears finds", verb)
    state = 7
    for (i = 0; i < sentences; ++i) {
      for (k = 1; k <= 5; ++k) { state = (state * 1103 + 12345) % 65521; draw[k] = int(state / 16) }
      printf "%s %s %s %s %s.\n", article[draw[1] % 4 + 1], noun[draw[2] % 5 + 1], verb[draw[3] % 4 + 1],
             article[draw[4] % 4 + 1], noun[draw[5] % 5 + 1]
    }
  }'
}

small=(--device "$device" --hidden 24 --embedding 12 --batch 8 --steps 16)

finish() {
  [ "$failures" -eq 0 ] || echo "$failures failures"
  exit $((failures > 0))
}
