#!/bin/bash
# -j 2 beside -j 1: saved streams of each source, through each program that has workers.
# BENCH_ROUNDS=6000    as of uftrace.sh, whose recording is used
# BENCH_THREADS=4
# BENCH_TRACE=FILE     a trace.dat, as of trace-cmd.sh
# BENCH_SAMPLES=1000000  as of perf.sh, whose recording is used
# BENCH_JOBS=2         processors
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where recordings are kept
# Sources that are missing are left out. For a figure to keep, run it while the host is idle: the load is printed.
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need trdecode trsym trstat trencode cc cmp

jobs=${BENCH_JOBS:-2}
trace=${BENCH_TRACE:-$BENCH/../../../shared/bench/ftrace-2M-v7.dat}

# row SOURCE COMMAND: wall time, CPU time and memory of COMMAND -j 1 and -j N, in turn, of which the lowest is kept
row() {
	local i w c k status n bytes=equal
	local -A wall=() cpu=() size=()
	for ((i = 0; i < REPEAT; i++)); do
		for n in 1 "$jobs"; do
			read -r w c k status < <(once "$2 -j $n >'$CACHE/jobs.$n'")
			((status == 0)) || {
				echo "failed ($status): $2 -j $n"
				tail -n 3 "$CACHE/err"
				exit 1
			}
			best wall "$n" "$w"
			best cpu "$n" "$c"
			best size "$n" "$k"
		done
		cmp -s "$CACHE/jobs.1" "$CACHE/jobs.$jobs" || bytes=DIFFER
	done
	awk -v s="$1" -v p="${2%% /*}" -v w1="${wall[1]}" -v w2="${wall[$jobs]}" -v c1="${cpu[1]}" -v c2="${cpu[$jobs]}" \
		-v k1="${size[1]}" -v k2="${size[$jobs]}" -v workers="$(workers "$2")" -v bytes="$bytes" 'BEGIN {
		printf "%-10s %-18s %7s %8.3f %8.3f %6.2f %6.2f %7.1f %7.1f  %s\n", s, p, workers, w1, w2, w1 / w2,
			c2 / c1, k1 / 1024, k2 / 1024, bytes }'
	[[ $bytes == equal ]] || differ=1
}

# workers COMMAND: how many gave its output
workers() {
	bash -c "$1 --verbose -j $jobs" 2>&1 >/dev/null | sed -n 's/^[a-z]*: \([0-9]*\) workers$/\1/p' | grep . || echo 0
}

# rows SOURCE RECORDING: the rows of a recording, saved as a stream of many segments
rows() {
	local saved=$CACHE/jobs.trs how
	[[ -e $2 ]] || {
		echo "$1: skipped, no ${2##*/}"
		return
	}
	trdecode -q --segment 4M "$2" | trsym -q >"$saved" || exit
	cat "$saved" >/dev/null
	for how in 'trstat -q' 'trencode -q -t csv' 'trencode -q -t tsv' 'trencode -q -t ndjson'; do
		row "$1" "$how $saved"
	done
	rm -f "$saved" "$CACHE/jobs.1" "$CACHE/jobs.$jobs"
}

differ=0
echo "$(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg), the lowest of $REPEAT runs"
echo "wall and CPU in s; gain: wall of -j 1 / -j $jobs; work: CPU of -j $jobs / -j 1; MB: the largest process"
printf '%-10s %-18s %7s %8s %8s %6s %6s %7s %7s  %s\n' source program workers 'wall 1' "wall $jobs" gain work \
	'MB 1' "MB $jobs" bytes
rows uftrace "$CACHE/uftrace-${BENCH_ROUNDS:-6000}-${BENCH_THREADS:-4}.data"
rows trace-cmd "$trace"
rows perf "$CACHE/perf-${BENCH_SAMPLES:-1000000}.data"
exit "$differ"
