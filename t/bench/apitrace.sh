#!/bin/bash
# A large .trace: our pipes against apitrace's own info, dump and trim.
# BENCH_FRAMES=1000    frames of the traced program: some 2000 calls each
# BENCH_OBJECTS=500    objects drawn in each
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where the trace is kept
# EGLTRACE=FILE        apitrace's egltrace.so, if it is not found
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need apitrace trdecode trstat trencode trfilter cc

frames=${BENCH_FRAMES:-1000} objects=${BENCH_OBJECTS:-500}
trace=$CACHE/apitrace-$frames-$objects.trace

skip() {
	echo "skipped: $1"
	exit 0
}

# tracer: the path of apitrace's wrapper of EGL
tracer() {
	local file
	for file in ${EGLTRACE:+"$EGLTRACE"} /usr/lib/*/apitrace/wrappers/egltrace.so \
		/usr/lib/apitrace/wrappers/egltrace.so \
		/usr/local/lib/apitrace/wrappers/egltrace.so; do
		[[ -f $file ]] && echo "$file" && return
	done
	return 1
}

record() {
	local wrapper
	[[ -f $trace ]] && return
	wrapper=$(tracer) || skip "no egltrace.so of apitrace"
	cc -O2 -w -o "$CACHE/heavy" "$BENCH/apitrace-heavy.c" -lEGL -lGL -lpthread 2>"$CACHE/err" ||
		skip "cannot build against EGL and GL (libegl-dev, libgl-dev)"
	rm -f "$trace.part"
	LP_NUM_THREADS=0 TRACE_FILE=$trace.part LD_PRELOAD=$wrapper \
		"$CACHE/heavy" "$frames" "$objects" >"$CACHE/err" 2>&1 ||
		skip "the traced program does not run here: $(tail -n 1 "$CACHE/err")"
	mv "$trace.part" "$trace" || exit
}

record
calls=$(trdecode --info "$trace" | awk '/^calls  / { print $2 }')
echo "$(du -shL --apparent-size "$trace" | cut -f 1)B, $calls calls"
cat "$trace" >/dev/null

count="trdecode '$trace' | trstat -g name -c count -s count"
compare 'apitrace info' "apitrace info '$trace'" \
	'trdecode | trstat -c count' "$count" \
	'trdecode | trstat' "trdecode '$trace' | trstat"
ratio 'info is times slower (4)' 'trdecode | trstat -c count' 'apitrace info'
ratio 'with times, too' 'trdecode | trstat' 'apitrace info'
sizes "trdecode $trace | trstat -g name -c count -s count"

compare 'apitrace dump' "apitrace dump --color=never -v --thread-ids=yes '$trace'" \
	'trdecode | trencode -t text' "trdecode '$trace' | trencode -t text --all-calls --thread-ids"
ratio 'dump is times slower (5)' 'trdecode | trencode -t text' 'apitrace dump'
sizes "trdecode $trace | trencode -t text --all-calls --thread-ids"

compare 'apitrace pickle' "apitrace pickle '$trace'" \
	'trdecode | trencode -t ndjson' "trdecode '$trace' | trencode -q -t ndjson"
ratio 'pickle is times slower (2)' 'trdecode | trencode -t ndjson' 'apitrace pickle'
sizes "trdecode $trace | trencode -q -t ndjson"

compare 'apitrace trim --frames' "apitrace trim --frames=10-4000000000 -o '$CACHE/a.trace' '$trace'" \
	'trdecode | trfilter | trencode -t apitrace' \
	"trdecode '$trace' | trfilter 'frame >= 10' | trencode -t apitrace -o '$CACHE/b.trace'" \
	'apitrace trim --thread' "apitrace trim --thread=0 -o '$CACHE/a.trace' '$trace'" \
	'the same by tid' \
	"trdecode '$trace' | trfilter 'tid == 0' | trencode -t apitrace -o '$CACHE/b.trace'"
ratio 'trim --frames is times slower (3)' 'trdecode | trfilter | trencode -t apitrace' \
	'apitrace trim --frames'
ratio 'trim --thread is times slower (3)' 'the same by tid' 'apitrace trim --thread'
sizes "trdecode $trace | trfilter tid==0 | trencode -t apitrace -o $CACHE/b.trace"
rm -f "$CACHE/a.trace" "$CACHE/b.trace"
