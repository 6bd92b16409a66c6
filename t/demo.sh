#!/bin/bash
# The main job on a small recording: where did the time go?
# usage: t/demo.sh BIN
PATH=$(realpath "$1"):$PATH
cd "$(dirname "$0")/.." || exit
set -o pipefail
echo '$ trdecode t/data/uftrace/fib | trsym | trstat'
trdecode t/data/uftrace/fib | trsym | trstat
