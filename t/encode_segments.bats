# What trencode writes of one segment of a stream by itself, and where a segment is missing.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# each: the text of each segment by itself
each() {
	for f in segment.*; do
		trencode -q "$f" 2>/dev/null || (($? == 1))
	done
}

# finished STREAM: its calls that have ended: time, duration, thread, name
finished() {
	trencode -q -t tsv --no-header --columns time,dur,tid,name,unfinished "$1" 2>/dev/null |
		awk -F '\t' '$2 != "" && $5 == "0"' | sort
}

# made TRACE: those of a trace
made() {
	trdecode -q "$1" | trsym -q >made.trs
	finished made.trs
}

# Lines of uftrace without what is added at the end of a recording, and leaf calls in two lines.
lines_of_uftrace() {
	sed -E -e '/^uftrace stopped/,/^# DURATION/d' -e '/^#/d' -e '/^$/d' |
		perl -pe 's/^(.{11})( \[ *\d+\] \| +)(.*)\(\);$/"           $2$3() {\n$1$2} \/* $3 *\/"/e'
}

@test "texts of the segments of a uftrace recording are the text of the whole" {
	for d in "$DATA/uftrace/fib" "$U/lost" "$U/threads" "$U/exc-pg"; do
		rm -f segment.*
		segments "$d" || [ -f segment.1 ]
		trencode -q x.trs 2>/dev/null | lines_of_uftrace >whole || true
		[ -s whole ]
		diff whole <(each | lines_of_uftrace)
	done
}

@test "the time filter of a uftrace recording decides what is before a missing segment by itself" {
	cp -r "$DATA/uftrace/fib" fib
	echo '-t 500us' >fib/default.opts
	segments fib
	trencode -q segment.0 2>/dev/null | lines_of_uftrace >before || true
	cat segment.0 segment.2 | trencode -q 2>/dev/null | lines_of_uftrace >both || true
	diff before <(head -n "$(wc -l <before)" both)
}

@test "texts of the segments of a function graph have the depths of the whole, also when filtered" {
	segments "$DATA/trace-cmd/v6-fgraph.dat"
	for e in 1 'depth != 0'; do
		trdecode -q --segment 2K "$DATA/trace-cmd/v6-fgraph.dat" | trsym -q | trfilter "$e" >x.trs
		split_segments
		trencode -q x.trs | grep -v ^cpus= >whole
		each | grep -v ^cpus= >parts
		# a leaf across a border is two lines
		(($(grep -c 'funcgraph_entry.*();' whole) - $(grep -c 'funcgraph_entry.*();' parts) <= $(ls segment.* | wc -l)))
		diff <(grep funcgraph_exit whole) <(grep funcgraph_exit parts) >differ || (($(grep -c '^>' differ) <= $(ls segment.* | wc -l)))
		run ! grep '^<' differ
	done
}

@test "texts of the segments of an apitrace trace have the calls that end in them" {
	segments "$DATA/apitrace/threads.trace"
	trencode -q x.trs | grep '^[0-9]' >whole
	each | grep '^[0-9]' | grep -v '// incomplete' >parts
	diff whole parts
}

@test "a conversion of each segment by itself has the calls that end in it, with their times" {
	segments
	for t in ctf 'uftrace --resynthesize' 'trace-cmd --resynthesize' 'lttng --resynthesize'; do
		# shellcheck disable=SC2086
		trencode -q -t $t -o whole x.trs
		for f in segment.*; do
			# shellcheck disable=SC2086
			trencode -q -t $t -o "part${f#segment}" "$f" 2>/dev/null || (($? == 1))
		done
		for p in part.*; do
			made "$p"
		done | sort | diff <(finished x.trs) - || fail "$t"
		rm -r whole part.*
	done
}

@test "a conversion of each segment by itself has the calls in the kernel of the whole" {
	trdecode -q --segment 64K "$U/kernel-sched" | trsym -q >x.trs
	split_segments
	trencode -q --resynthesize -t trace-cmd -o whole x.trs
	made whole >want
	for f in segment.*; do
		trencode -q --resynthesize -t trace-cmd -o "part${f#segment}" "$f" 2>/dev/null || (($? == 1))
	done
	for p in part.*; do
		made "$p"
	done | sort | diff want -
}

@test "a call that is open before a missing segment and after it is one call" {
	segments
	cat segment.0 segment.2 >lossy.trs
	for t in ctf 'uftrace --resynthesize' 'trace-cmd --resynthesize' 'lttng --resynthesize'; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr trencode -q -t $t -o "${t%% *}" lossy.trs
		assert_equal "$(made "${t%% *}" | cut -f 4 | grep -cx main)" 1
		# a target may need the ends of calls that ended in the missing segment
		run -0 comm -23 <(finished lossy.trs) <(made "${t%% *}")
		assert_output ''
	done
}

@test "each step of a flow is in one segment, also that of a call which is open in others" {
	need protoc
	jq -nc '[{ph: "X", name: "outer", ts: 1, dur: 9000, pid: 1, bind_id: "0x77", flow_out: true},
		{ph: "X", name: "inner", ts: 3, dur: 8990, pid: 1, bind_id: "0x78", flow_out: true}] +
		[range(1500) | {ph: "X", name: "f\(. % 3)", ts: (10 + . * 5), dur: 2, pid: 1} +
			if . % 300 == 0 then {bind_id: "0x77", flow_in: true} else {} end]' >x.json
	jq -r '.[] | select(.bind_id) | "\(.ts) \(.bind_id)"' x.json | sort >want
	trdecode --segment 4K x.json >x.trs
	split_segments
	[ -f segment.2 ] || [ -f segment.002 ]
	for f in segment.*; do
		trencode -q -t chrome --rebase=none "$f" | jq -r '.traceEvents[] | select(.ph | test("[stf]")) | "\(.ts) \(.id)"'
	done | sort | diff want -
	for f in segment.*; do
		trencode -q -t perfetto "$f" | protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto |
			awk '$1 == "timestamp:" { t = $2 } $1 ~ /flow_ids:$/ { printf "%d 0x%x\n", t / 1000, $2 }'
	done | sort | diff want -
}

@test "a native trace of a later segment alone is refused with what to do" {
	local trace
	for trace in uftrace/fib trace-cmd/v6-fgraph.dat lttng/v2.6-le64-packed.tar.gz; do
		trdecode -q --segment 4K "$DATA/$trace" >x.trs
		split_segments
		run -2 --separate-stderr trencode -t "${trace%%/*}" -o x segment.1
		[[ $stderr == *'it is in the stream'"'"'s first segment; use --resynthesize '* ]]
		[[ ! -e x ]]
	done
}
