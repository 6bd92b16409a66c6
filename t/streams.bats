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
	python3 "$ROOT/t/tools/check_streams.py" reader "$DATA/streams"
}

@test "trencode gives the events and the status of each stream of the corpus" {
	run -0 "$ROOT/packaging/conformance/trstream_conformance.py" -d "$DATA/streams" trencode -q -t ndjson \
		-c +kind,self,caller,recursive,unfinished,group,module,input,stack,weight
	[[ ${lines[0]} =~ ^[0-9]{3}' streams, 0 differ'$ ]]
	grep -qxF "${lines[0]}" "$ROOT/man1/trstream-conformance.1"
}

@test "trstream-conformance: other readers, those that differ, and what is no reader" {
	local runner="$ROOT/packaging/conformance/trstream_conformance.py"
	run -0 "$runner" -v -d "$DATA/streams" -s 'bad/cut-e*' python3 "$ROOT/t/tools/trstream.py" {}
	assert_line 'bad/cut-events-4.trs: agrees'
	# a reader that does not find the damage, prints too little, or crashes
	run -1 "$runner" -d "$DATA/streams" -s 'bad/cut-e*' bash -c 'trencode -q -t ndjson "$0" || true'
	assert_line --partial 'status 0, expected 1'
	run -1 "$runner" -d "$DATA/streams" -s good/gaps.trs true
	assert_line --partial 'missing: {'
	assert_line '1 streams, 1 differ'
	run -1 "$runner" -d "$DATA/streams" -s good/gaps.trs cat
	assert_line --partial 'printed a line that is no JSON object: trstrm1:'
	run -1 "$runner" -d "$DATA/streams" -s good/gaps.trs bash -c 'kill -9 $$'
	assert_line 'good/gaps.trs: was ended by signal 9'
	run -2 "$runner" -d "$DATA/streams" no_such_reader
	assert_output 'trstream-conformance: no_such_reader: No such file or directory'
	run -2 "$runner" -d "$DATA" true
	assert_output "trstream-conformance: $DATA/expect.ndjson: No such file or directory"
	run -2 "$runner" -d "$DATA/streams" -s none true
	run -2 "$runner"
	run -0 "$runner" --list -d "$DATA/streams" -s 'good/gaps.trs'
	assert_output --regexp '^good/gaps.trs: .'
}

@test "file(1) and the database of media types know a stream" {
	need file
	trdecode -q "$DATA/uftrace/fib" -o "$BATS_TEST_TMPDIR/x"
	run -0 file -b -m "$ROOT/packaging/mime/trutils.magic" "$BATS_TEST_TMPDIR/x"
	assert_output --regexp '^trutils event stream, id [0-9a-f]{8}$'
	run -0 file -b --mime-type -m "$ROOT/packaging/mime/trutils.magic" "$BATS_TEST_TMPDIR/x"
	assert_output application/x-trstream
	xmllint --noout "$ROOT/packaging/mime/trutils.xml"
	# the bytes of the rule are those of the stream
	value=$(xmllint --xpath 'string(//*[local-name()="match"]/@value)' "$ROOT/packaging/mime/trutils.xml")
	[ "$(head -c "${#value}" "$BATS_TEST_TMPDIR/x")" = "$value" ]
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

# kept_outside NAME FLAGS CODE: of the stream that CODE makes (t/tools/streams_case.py), the calls
# "sched" and "sys" that a filter keeps are those that the whole stream has. o and k are types that
# the engine ignores outside any call; FLAGS are those of the other calls.
kept_outside() {
	PYTHONPATH=$ROOT/t/tools python3 - "$2" "$3" >"$1.trs" <<-'END'
		import sys
		from streams_case import *

		def types(name, flags=w.INNER):
		    return case.type(name, w.ENTER, flags), case.type(name + "-end", w.LEAVE, flags)

		def call(kinds, start, end, lane=0, where="sched"):
		    case.E(start, names[where], kind=kinds[0], lane=lane).L(end, names[where], kind=kinds[1], lane=lane)

		source = None
		case = Case(eval(sys.argv[1]), lane={"tid": 42, "cpu": 1})
		case.lane(tid=42, buffer="second")
		case.lane(tid=43, cpu=1)
		names = {"sched": case.location("sched"), "sys": case.location("sys")}
		exec(sys.argv[2])
		sys.stdout.buffer.write(case.data())
	END
	trencode -q -t ndjson "$1.trs" | jq -c 'select(.name == "sched" or .name == "sys") | [.time, .dur, .name]' >expected
	trfilter -q 'name == "sched" || name == "sys"' "$1.trs" | trencode -q -t ndjson |
		jq -c '[.time, .dur, .name]' | diff expected - || fail "$1"
	(($(wc -l <expected) == $4)) || fail "$1: $(cat expected)"
}

@test "what is ignored outside any call stays ignored in a filtered stream, and nothing else" {
	local flags
	cd "$BATS_TEST_TMPDIR"
	for flags in w.DEPTH 0; do
		kept_outside simple $flags 'o = types("o"); call(o, 1000, 1005); case.E(1010); call(o, 1020, 1025); case.L(1030); call(o, 1040, 1045)' 1
		# types that are declared after calls have begun
		kept_outside later $flags 'case.E(1000).E(1010, F, 1).L(1020, F, 1).flush(); o = types("o"); call(o, 1100, 1150); case.L(1300); call(o, 1400, 1450)' 1
		kept_outside later-kernel $flags 'o = types("o"); case.E(1000); call(o, 1005, 1006); case.flush(); k = types("k", w.KERNEL | w.DEPTH); call(k, 1010, 1020, where="sys"); call(o, 1030, 1035); case.L(1040); call(o, 1050, 1055); call(k, 1060, 1065, where="sys")' 3
		kept_outside later-deep $flags 'case.E(1000).E(1001, F, 1).E(1002, F, 2).flush(); k = types("k", w.KERNEL | w.DEPTH); case.L(1003, F, 2).L(1004, F, 1); call(k, 1010, 1020, where="sys"); case.L(1040); call(k, 1050, 1055, where="sys")' 1
		# times that step back, and 0
		kept_outside back $flags 'o = types("o"); call(o, 1100, 1105); call(o, 1050, 1055); case.E(1110); call(o, 1120, 1125); case.L(1130)' 1
	done
	# two lanes of one thread
	kept_outside lanes w.DEPTH 'case.E(1000).E(1010, F, 1).L(1020, F, 1, lane=1).flush(); o = types("o"); call(o, 1100, 1150); case.L(1300); call(o, 1400, 1450)' 1
	# calls of a CPU
	kept_outside cpu 'w.PER_CPU | w.DEPTH' 'o = types("o", w.INNER | w.PER_CPU); call(o, 1000, 1005); case.E(1010, lane=2); call(o, 1012, 1014); case.L(1020, lane=2); call(o, 1030, 1035)' 1
	kept_outside cpu-kernel 'w.PER_CPU | w.DEPTH' 'k = types("k", w.KERNEL | w.DEPTH | w.PER_CPU); call(k, 1000, 1005, where="sys"); case.E(1010, lane=2); call(k, 1012, 1014, where="sys"); case.L(1020, lane=2); call(k, 1030, 1035, where="sys")' 1
}

@test "a SNAPSHOT that continues nothing ends the calls of a filter's earlier segments" {
	cd "$BATS_TEST_TMPDIR"
	PYTHONPATH=$ROOT/t/tools python3 - >two.trs <<-'END'
		import sys
		from streams_case import *

		def segment(sequence, rows):
		    case = Case(head=w.head(sequence))
		    off, on = case.type("off", w.ENTER, w.INNER), case.type("on", w.LEAVE, w.INNER)
		    case.dictionary()
		    if sequence:
		        case.add(w.snapshot())
		    rows(case, off, on)
		    return case

		first = segment(0, lambda c, off, on: c.E(1000).E(1010, G, kind=off).L(1015, G, kind=on))
		third = segment(2, lambda c, off, on: c.E(1200, G, kind=off).L(1205, G, kind=on).E(1300).E(1310, G, kind=off)
		                .L(1315, G, kind=on).L(1400))
		sys.stdout.buffer.write(first.data(flags=0) + third.data())
	END
	trencode -q -t ndjson two.trs | jq -c 'select(.name == "g").time' >expected || true
	trfilter -q 'name == "g"' two.trs | trencode -q -t ndjson | jq -c .time | diff expected -
	[ "$(cat expected)" = $'1010\n1310' ]
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

@test "inputs without times meet, saved or not, and others do not" {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'a;b 3\na;c 5\n' >f.folded
	printf 'a;b 1\n' >g.folded
	trdecode -o f.trs f.folded
	trdecode -o fg.trs f.folded g.folded
	for inputs in 'f.folded g.folded' 'f.trs g.folded' 'g.folded f.trs' fg.trs; do
		# shellcheck disable=SC2086
		run -0 pipefail "trdecode $inputs | trstat -q -t tsv -g name -c self -s name | tail -n +2 | sort"
		assert_output $'a\t0\nb\t4\nc\t5'
	done
	# ticks of a recorder are not those
	run -2 trdecode -o x.trs f.trs "$DATA/apitrace/crash.trace"
	assert_output --partial 'cannot be compared'
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
