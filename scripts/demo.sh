#!/bin/sh
# The whole way once: a server in a temporary directory, commands in, decisions,
# what the projections show, and a replay from the log alone.
# Usage: scripts/demo.sh [folder of the two programs]
set -eu
cd "$(dirname "$0")/.."
bin=${1:-bin}
dir=$(mktemp -d)
: >"$dir/ready" # read below, maybe before the server's shell has opened it
server=
finish() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

# show prints a command of reducer as one would type it, and what it prints.
show() {
  printf '$ reducer %s\n' "$*"
  "$bin/reducer" "$@" --nats "$url"
}

say "A reducer with its own NATS server, on a free port"
"$bin/reducer" serve --data "$dir/data" --listen 127.0.0.1:0 >"$dir/ready" 2>"$dir/log" &
server=$!
url=
while [ -z "$url" ]; do
  kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
  url=$(sed -n 's/^ready //p' "$dir/ready")
  [ -n "$url" ] || sleep 0.1
done
echo "ready at $url"

say "A small purchase in nineteen commands, and their decisions"
echo '$ ingest --wait testdata/quickstart.jsonl'
# Exit code 4: the story has refusals in it.
"$bin/ingest" --wait --nats "$url" testdata/quickstart.jsonl || [ $? -eq 4 ]

say "What came of it"
show show runs --contract onboarding
echo
show show exposure --contract onboarding
echo
show show attempts --contract onboarding
echo
show digest | tee "$dir/live"
live=$(tail -n 1 "$dir/live" | cut -d' ' -f1)

say "The server stops; its store is deleted, the log stays"
kill "$server"
wait "$server"
server=
rm -rf "$dir/data/store"
echo '$ reducer replay'
"$bin/reducer" replay --data "$dir/data" | tee "$dir/replayed"
echo
echo '$ reducer verify'
"$bin/reducer" verify --data "$dir/data"

replayed=$(tail -n 1 "$dir/replayed" | cut -d' ' -f1)
if [ "$live" != "$replayed" ]; then
  say "The digests differ: $live and $replayed"
  exit 1
fi
say "Replayed from the log alone: the same digest"
