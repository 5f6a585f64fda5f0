#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for the given time each.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzztime=${1:?usage: scripts/fuzz.sh TIME, for example 5s}

grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u | while read -r package; do
  grep -ho '^func Fuzz[A-Za-z0-9_]*' "$package"/*_test.go | cut -d' ' -f2 | while read -r target; do
    echo "fuzz $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "$package" </dev/null
  done
done
