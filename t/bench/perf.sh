#!/bin/bash
# Samples of perf with call chains against perf report and perf script.
# BENCH_SAMPLES=1000000 samples to record
# BENCH_REPEAT=5        times that everything is run, in turn
# BENCH_CACHE=DIR       where the recording is kept
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need perf trdecode trsym trstat trencode

wanted=${BENCH_SAMPLES:-1000000}
data=$CACHE/perf-$wanted.data work=$CACHE/perf-work

# samples: their number in the recording
samples() {
	trdecode -q "$data" 2>/dev/null | trfilter -qc 'kind == "sample"' 2>/dev/null
}

# record SECONDS
record() {
	perf record -q -F 20000 -e cpu-clock:u -g -o "$data" "$work" "$1" 2>"$CACHE/err" || {
		echo "skipped: perf record: $(tail -n 1 "$CACHE/err")"
		rm -f "$data"
		exit 0
	}
}

cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread -o "$work" "$BENCH/perf-work.c" || exit
if [[ ! -f $data ]]; then
	record 2
	record $((5 * wanted / (2 * $(samples) + 1) + 3))
fi
echo "$(samples) samples, $(du -hL --apparent-size "$data" | cut -f 1)B"

compare 'perf report --stdio --children' "perf report --stdio --children -g none -i '$data'" \
	'trdecode | trsym | trstat' "trdecode -q '$data' | trsym -q | trstat -q" \
	'perf script' "perf script -i '$data'" \
	'trdecode | trsym | trencode -t folded' "trdecode -q '$data' | trsym -q | trencode -q -t folded"
ratio 'totals of functions, against perf report (10)' 'trdecode | trsym | trstat' 'perf report --stdio --children'
ratio 'folded stacks, against perf script (20)' 'trdecode | trsym | trencode -t folded' 'perf script'
sizes "trdecode -q $data | trsym -q | trstat -q"
sizes "trdecode -q $data | trsym -q | trencode -q -t folded"
