#!/bin/bash
# A picture of a flame graph, in a browser: the samples that perf takes of trstat.
# usage: t/interop/flame_graph.sh BIN PNG
#        t/interop/flame_graph.sh --commands: what is recorded, and how it is drawn
# shellcheck disable=SC2016 # of the shell that runs it
make=("trdecode -q t/data/uftrace/fib | trsym -q >one.trs" 'for n in $(seq 600); do cat one.trs; done >run.trs')
record='perf record -q --call-graph dwarf,16384 -F 1999 -- trstat -q -g stack run.trs'
draw='trdecode -q perf.data | trsym -i | trencode -q -t svg -o graph.svg'
if [[ $1 == --commands ]]; then
	printf '%s\n' "${make[@]}" "$record" "$draw"
	exit
fi

die() {
	echo "flame_graph.sh: $*" >&2
	exit 1
}

[[ $# -eq 2 ]] || die "BIN PNG"
PATH=$(realpath "$1"):$PATH
png=$(realpath "$2")
top=$(dirname "$(realpath "$0")")/../..
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cd "$temporary" || exit

# a million calls, so that perf has some hundred samples
mkdir t
ln -s "$(realpath "$top")/t/data" t/data
for command in "${make[@]}"; do bash -o pipefail -c "$command" || die "$command"; done
bash -c "$record" >/dev/null 2>log || die "perf does not record: $(tail -n 1 log)"
bash -o pipefail -c "$draw" 2>log || die "$(tail -n 1 log)"
height=$(sed -n 's/.*viewBox="0 0 1200 \([0-9]*\)".*/\1/p' graph.svg)
[[ $height ]] || die 'no graph'
timeout 120 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$temporary/browser" \
	--hide-scrollbars --window-size="1200,$height" --screenshot="$png" "file://$temporary/graph.svg" 2>log
[[ -s $png ]] || die "no picture: $(tail -n 1 log)"
