#!/bin/bash
# A million nested calls, and calls of 100,000 threads, that are open at the ends of segments:
# trstat --partial and --merge give the bytes of a single run, in bounded memory. Not part of make
# check: some two minutes, 150 MB in TMPDIR.
#
#     t/many_calls.sh [FOLDER OF THE PROGRAMS]
set -u
PATH=$(cd "${1:-build/bin}" && pwd):$PATH
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit
bad=0

# stream CALLS EVENTS THREADS: enters, instant events while all calls are open, and leaves; THREADS 1:
# each call in a thread of its own
stream() {
	awk -v calls="$1" -v events="$2" -v threads="$3" '
		function event(ph, tid, ts, name) {
			printf "{\"ph\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"name\":\"%s\"}%s\n",
				ph, threads ? tid : 1, ts, name, ph == "E" && !tid ? "]" : ","
		}
		BEGIN {
			printf "["
			for (i = 0; i < calls; i++) event("B", i, i, "f" i % 7)
			for (i = 0; i < events; i++) event("i", i % calls, calls + i, "x")
			for (i = calls; i--;) event("E", i, 2 * calls + events - i, "f" i % 7)
		}' | trdecode --segment 1M -o stream.trs -
}

# segments: the segments of stream.trs, each a file
segments() {
	local marker at=0 next n=0
	marker=$(head -c 16 stream.trs)
	rm -f seg.*
	for next in $(grep -abo "$marker" stream.trs | cut -d: -f1 | tail -n +2) \
		"$(stat -c %s stream.trs)"; do
		tail -c +$((at + 1)) stream.trs | head -c $((next - at)) >seg.$((100 + n))
		at=$next
		n=$((n + 1))
	done
}

# limited KIB COMMAND...: with so much address space at most
limited() {
	(ulimit -v "$1" && shift && "$@")
}

# compare KIB OPTION...: the tables of the summaries, in both orders, and of the stream
compare() {
	local limit=$1 f
	shift
	for f in seg.*; do
		limited "$limit" trstat -q "$@" --partial -o "part.${f#seg.}" "$f" || bad=1
	done
	trstat -q -t tsv "$@" stream.trs >want || bad=1
	limited "$limit" trstat -q -t tsv --merge part.* >got || bad=1
	cmp want got || bad=1
	# shellcheck disable=SC2046 # names without spaces
	limited "$limit" trstat -q -t tsv --merge $(printf '%s\n' part.* | tac) >got || bad=1
	cmp want got || bad=1
	rm -f part.*
	echo "$(wc -l <want) lines of trstat $* from ${#segments[@]} segments: bad $bad"
}

# check CALLS EVENTS THREADS KIB-WITHOUT-GROUPS KIB KEYS
check() {
	stream "$1" "$2" "$3" || bad=1
	segments
	segments=(seg.*)
	[[ ${#segments[@]} -gt 1 ]] || bad=1
	compare "$4"
	compare "$5" -g "$6"
	compare "$5" -g stack
}

check 1000000 11000000 '' 100000 1000000 name,depth
check 100000 2000000 1 200000 400000 tid,name
exit $bad
