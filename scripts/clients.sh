#!/usr/bin/env bash
# Runs what docs/clients.md tells: its commands with the real nats command line,
# and, where npm is there, its program with the npm packages.
#
#   scripts/clients.sh BIN    nats is built into BIN, once
set -euo pipefail

bin=$1
version=v0.5.0
packages=(@nats-io/transport-node @nats-io/jetstream @nats-io/kv)

if [[ ! -x $bin/nats ]]; then
  GOBIN=$bin go install "github.com/nats-io/natscli/nats@$version"
fi
export PATH="$bin:$PATH"

if command -v npm >/dev/null && command -v node >/dev/null; then
  AIWS_TEST_NODE_MODULES=$(mktemp -d)
  export AIWS_TEST_NODE_MODULES
  trap 'rm -rf "$AIWS_TEST_NODE_MODULES"' EXIT
  npm install --silent --no-audit --no-fund --prefix "$AIWS_TEST_NODE_MODULES" "${packages[@]}"
else
  echo "npm and node are not there: the JavaScript of docs/clients.md is not run" >&2
fi

go test ./events/client -run '^TestPage' -count=1 -v
