#!/usr/bin/env bats
# Event streams against an independent reader, which tools/trstream.py is: it follows trstream(5) alone.
bats_require_minimum_version 1.5.0

setup_file() {
	load lib
}

setup() {
	load lib
	need python3
}

# segmented TRACE: its stream in a few to a dozen segments
segmented() {
	local size=4K
	[[ $1 != */kernel-sched ]] || size=16K
	trdecode -q --segment $size "$1"
}

# same TRACE...: the reader and trencode give the same events and status for the stream of each trace
same() {
	local trace streams=()
	for trace; do
		streams+=("$BATS_TEST_TMPDIR/${#streams[@]}-${trace##*/}.trs")
		trdecode -q -o "${streams[-1]}" "$trace" || (($? == 1))
	done
	python3 "$ROOT/t/tools/check_streams.py" same "${streams[@]}"
}

@test "the corpus of streams is what make_streams.py writes" {
	python3 "$ROOT/t/tools/make_streams.py" "$BATS_TEST_TMPDIR/streams"
	diff -r "$BATS_TEST_TMPDIR/streams" "$DATA/streams"
}

@test "the independent reader gives the events and the status of each stream of the corpus" {
	python3 "$ROOT/t/tools/check_streams.py" reader "$DATA/streams/expect.ndjson"
}

@test "trencode gives the events and the status of each stream of the corpus" {
	python3 "$ROOT/t/tools/check_streams.py" program "$DATA/streams/expect.ndjson"
}

@test "streams of uftrace: the independent reader gives the events of ndjson" {
	cd "$RECORDED/uftrace"
	same "$DATA"/uftrace/{fib,jumps} args-auto args-cpp-auto be-synth estimate forkexec kernel-sched lost longjmp \
		new-events read-events bad-trunc-dat
}

@test "streams of apitrace: the independent reader gives the events of ndjson" {
	same "$DATA"/apitrace/*.trace "$RECORDED"/apitrace/{feat,backtrace,crash}.trace
}

@test "streams of trace-cmd: the independent reader gives the events of ndjson" {
	same "$DATA"/trace-cmd/*.dat "$RECORDED"/trace-cmd/{i386-v6-fgraph,v6-clock-counter,v7-zstd-latency,v6-markers}.dat
}

@test "streams of CTF and LTTng: the independent reader gives the events of ndjson" {
	same "$DATA"/ctf/*.tar.gz "$DATA"/lttng/*.tar.gz "$RECORDED"/lttng-legacy/gen/gen-2.6-be32-packed \
		"$RECORDED"/lttng-legacy/bad/bad-bufsize-beyond-file
}

# filtered CONDITION TRACE...: the same, for the part of each stream that a filter keeps
filtered() {
	local trace condition=$1 streams=()
	for trace in "${@:2}"; do
		streams+=("$BATS_TEST_TMPDIR/${#streams[@]}-${trace##*/}.trs")
		trdecode -q "$trace" 2>/dev/null | trsym -q | trfilter -q "$condition" 2>/dev/null >"${streams[-1]}" || (($? == 1))
	done
	python3 "$ROOT/t/tools/check_streams.py" same "${streams[@]}"
}

@test "a filter that drops a block whole finds an impossible last row of a thread" {
	local row condition
	cd "$BATS_TEST_TMPDIR"
	for row in 'dt=1 << 20' lane=1 lane=200 location=4 kind=3; do
		PYTHONPATH=$ROOT/t/tools python3 - "$row" >bad.trs <<-'END'
			import sys
			from streams_case import *

			case = Case()
			case.type("sched", w.ENTER, w.INNER)
			case.E(1000).L(1001).flush()
			row = {"dt": 1, "kind": 1, **eval(f"dict({sys.argv[1]})")}
			rows = [w.narrow(0, 0, location=F), w.narrow(**row)]
			case.add(w.events(1002, rows, case.types[:3], case.lanes, case.locations, last=1005, flags=w.BARE))
			sys.stdout.buffer.write(case.data(events=4))
		END
		for condition in 'name == "f"' 'tid == 7'; do
			run -1 trfilter -o kept.trs "$condition" bad.trs
			[[ $output == *'bad.trs: 0x'*': an event block with impossible rows'* ]]
		done
		run -1 trencode -t ndjson kept.trs
		[[ $output != *'"name"'* ]]
	done
}

@test "a filter knows the open calls when a type that may be ignored is declared later" {
	local rows
	cd "$BATS_TEST_TMPDIR"
	# the task is scheduled out inside of main, and after it; one lane, and two of one thread
	for rows in 'case.L(1020, F, 1)' 'case.L(1020, F, 1, lane=1)' 'case.L(1020, F, 1).E(1030, F, 1)'; do
		PYTHONPATH=$ROOT/t/tools python3 - "$rows" >late.trs <<-'END'
			import sys
			from streams_case import *

			case = Case()
			case.lane(tid=42, buffer="second")
			case.E(1000).E(1010, F, 1)
			eval(sys.argv[1])
			case.flush()
			off, on = case.type("off", w.ENTER, w.INNER), case.type("on", w.LEAVE, w.INNER)
			case.E(1100, G, kind=off).L(1150, G, kind=on).L(1300).E(1400, G, kind=off).L(1450, G, kind=on)
			sys.stdout.buffer.write(case.data())
		END
		trstat -q -t csv -c count,total late.trs | grep '^g,' >expected
		trfilter 'name == "g"' late.trs | trstat -q -t csv -c count,total | grep '^g,' | diff expected -
		grep -q '^g,1,50$' expected
	done
}

@test "filtered streams: the independent reader gives the events of ndjson" {
	local condition
	cd "$RECORDED/uftrace"
	for condition in 'name == "longjmp"' 'name !~ "^[a-m]"' 'dur > 1us' 'children > 0' 'depth == 2'; do
		filtered "$condition" "$DATA"/uftrace/{fib,jumps} forkexec longjmp lost bad-rec-magic kernel-sched \
			"$DATA"/lttng/*.tar.gz "$RECORDED"/trace-cmd/i386-v6-fgraph.dat
	done
}

@test "snapshots of trdecode: a reader that begins with any segment gets the events of the rest" {
	local trace streams=()
	for trace in "$DATA"/uftrace/fib "$DATA"/trace-cmd/v6-fgraph.dat "$DATA"/apitrace/threads.trace \
		"$RECORDED"/{uftrace/kernel-sched,uftrace/lost,lttng-legacy/gen/gen-2.6-le32-align}; do
		streams+=("$BATS_TEST_TMPDIR/${trace##*/}.trs")
		segmented "$trace" >"${streams[-1]}"
	done
	python3 "$ROOT/t/tools/check_streams.py" segments "${streams[@]}"
}

@test "trdecode of a stream that begins with any segment has the open calls" {
	local trace
	cd "$BATS_TEST_TMPDIR"
	for trace in "$DATA"/uftrace/fib "$DATA"/trace-cmd/v6-fgraph.dat "$DATA"/apitrace/threads.trace \
		"$RECORDED"/{uftrace/kernel-sched,uftrace/lost,lttng-legacy/gen/gen-2.6-le32-align}; do
		segmented "$trace" >cut.trs
		python3 "$ROOT/t/tools/check_streams.py" copied cut.trs trdecode -q
	done
	python3 "$ROOT/t/tools/check_streams.py" copied cut.trs trdecode -q --segment 2K
	python3 "$ROOT/t/tools/check_streams.py" copied cut.trs bash -c 'trdecode -q "$0" | trdecode -q -'
}

@test "samples: trdecode, trsym and trfilter give the events of the stream, in segments too" {
	local stream copy streams=()
	cd "$BATS_TEST_TMPDIR"
	for stream in "$DATA"/streams/good/samples-*.trs; do
		for copy in 'trdecode -q' 'trsym -q' 'trfilter -q "time >= 0"' 'trfilter -q "time > 1000ns"' \
			'trdecode -q --segment 64 | trfilter -q "time >= 0" | trdecode -q --segment 64'; do
			streams+=("${#streams[@]}.trs")
			bash -c "$copy" <"$stream" >"${streams[-1]}"
		done
		diff <(trencode -q -t ndjson -c +stack,weight "$stream") \
			<(trencode -q -t ndjson -c +stack,weight "${streams[-1]}")
	done
	python3 "$ROOT/t/tools/check_streams.py" same "${streams[@]}"
}

@test "trdecode of two streams that begin with later segments has the open calls of both" {
	local name at
	cd "$BATS_TEST_TMPDIR"
	for name in uftrace/fib uftrace/jumps; do
		trdecode -q --segment 2K "$DATA/$name" >cut.trs
		at=$(grep -abo "$(head -c 16 cut.trs)" cut.trs | cut -d: -f1 | sed -n 2p)
		tail -c +$((at + 1)) cut.trs >"${name#*/}.trs"
		# status 1: a segment is missing
		run -1 bash -c "trdecode -q $PWD/${name#*/}.trs 2>err | python3 '$ROOT/t/tools/trstream.py' 2>err >${name#*/}.json"
	done
	run -1 bash -c "trdecode -q $PWD/fib.trs $PWD/jumps.trs 2>err | python3 '$ROOT/t/tools/trstream.py' 2>err >both.json"
	[ -s jumps.json ]
	diff <(sort fib.json jumps.json) <(sort both.json)
}

# lossy TRACE: its stream without the second segment
lossy() {
	local at
	trdecode -q --segment 2K "$1" >cut.trs
	mapfile -t at < <(grep -abo "$(head -c 16 cut.trs)" cut.trs | cut -d: -f1)
	head -c "${at[1]}" cut.trs
	tail -c +$((at[2] + 1)) cut.trs
}

@test "trdecode of two streams that lack a segment has the open calls of both" {
	cd "$BATS_TEST_TMPDIR"
	lossy "$DATA/uftrace/fib" >fib.trs
	lossy "$RECORDED/uftrace/lost" >lost.trs
	for name in fib lost; do
		run -1 bash -c "python3 '$ROOT/t/tools/trstream.py' <$name.trs 2>err >>apart.json"
	done
	run -1 bash -c "trdecode -q fib.trs lost.trs 2>err | python3 '$ROOT/t/tools/trstream.py' 2>err >both.json"
	diff <(sort apart.json) <(sort both.json)
}

@test "trdecode of chosen threads where a segment is missing has no call with another start" {
	cd "$BATS_TEST_TMPDIR"
	lossy "$DATA/uftrace/fib" >lossy.trs
	trdecode -q --tid=4125 lossy.trs >tid.trs 2>err || (($? == 1))
	python3 "$ROOT/t/tools/trstream.py" tid.trs 2>err | grep '"unfinished": false' | jq -c '[.time, .dur, .name]' | sort >tid || true
	python3 "$ROOT/t/tools/trstream.py" lossy.trs 2>err | jq -c '[.time, .dur, .name]' | sort >all
	[ -s tid ]
	run -0 comm -23 tid all
	assert_output ''
}

@test "a filter that begins with any segment passes on the open calls" {
	local trace
	cd "$BATS_TEST_TMPDIR"
	for trace in "$DATA"/uftrace/fib "$DATA"/trace-cmd/v6-fgraph.dat "$DATA"/apitrace/threads.trace \
		"$RECORDED"/{uftrace/kernel-sched,uftrace/lost}; do
		segmented "$trace" >cut.trs
		python3 "$ROOT/t/tools/check_streams.py" copied cut.trs trfilter -q 'time >= 0'
		python3 "$ROOT/t/tools/check_streams.py" copied cut.trs trfilter -q 'dur >= 0 || kind != leave'
	done
}

@test "with names, a reader that begins with any segment gets the events of the rest" {
	trdecode -q --segment 4K "$RECORDED/uftrace/lost" | trsym -q >"$BATS_TEST_TMPDIR/names.trs"
	python3 "$ROOT/t/tools/check_streams.py" segments "$BATS_TEST_TMPDIR/names.trs"
}

@test "trdecode of a filtered stream keeps what is known of the rows that are left out" {
	local trace condition n=0
	cd "$BATS_TEST_TMPDIR"
	for trace in "$DATA"/uftrace/fib "$DATA"/trace-cmd/v6-fgraph.dat \
		"$RECORDED"/uftrace/{kernel-sched,longjmp,exit-_exit}; do
		trdecode -q "$trace" >whole.trs
		for condition in 'children == 0' 'dur > 10us' 'depth < 2' 'name =~ "a"' 'cpu == 0'; do
			n=$((n + 1))
			trfilter -q "$condition" whole.trs >left.$n.trs
			trencode -q -t ndjson left.$n.trs | sort >want.$n
			trdecode left.$n.trs | trencode -q -t ndjson | sort >got
			cmp want.$n got || fail "$condition of $trace"
		done
	done
	# kernel-sched and longjmp: calls in the kernel count inside of calls that are left out
	trdecode left.{11,16}.trs | trencode -q -t ndjson | jq -c '[.dur, .name]' | sort >got
	sort -m want.{11,16} | jq -c '[.dur, .name]' | sort | cmp - got
}
