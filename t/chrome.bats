# Trace events of Chrome (JSON) in.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# What both columns have for the functions that uftrace's export has.
profile() {
	trstat -q -c total,count -t tsv | LC_ALL=C sort | grep -v -e 'pre-empted' -e linux:task
}

@test "what uftrace exports has the times of its own recording" {
	local d
	for d in fib args; do
		[[ -d $DATA/uftrace/$d ]] || continue
		uftrace dump --chrome -d "$DATA/uftrace/$d" >x.json
		trdecode -q x.json | profile >got
		trdecode -q "$DATA/uftrace/$d" | trsym | profile >want
		diff want got
	done
}

@test "complete events are calls: what is inside of another takes from its own time" {
	cat >x.json <<-END
		{"displayTimeUnit": "ns", "traceEvents": [
		{"ph": "X", "ts": 12, "dur": 3, "pid": 1, "tid": 2, "name": "in", "cat": "c"},
		{"ph": "X", "ts": 10, "dur": 10.5, "pid": 1, "tid": 2, "name": "out", "args": {"n": 7, "s": "a\\u00e4\\n"}},
		{"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "worker"}},
		{"ph": "i", "ts": 11.001, "pid": 1, "tid": 2, "name": "mark", "s": "t"},
		{"ph": "C", "ts": 11.5, "pid": 1, "name": "free", "args": {"bytes": 5}}
		], "other": [1, {"a": null}]}
	END
	run -0 pipefail "trdecode x.json | trstat -c total,self,count -s name -t tsv"
	assert_line $'in\t3000\t3000\t1'
	assert_line $'out\t10500\t7500\t1'
	assert_line $'mark\t\t\t1'
	run -0 pipefail "trdecode x.json | trstat -g comm,tid -c count -t tsv"
	assert_line $'worker\t2\t3'
	run -0 pipefail "trdecode x.json | trfilter 'arg.n == 7' | trstat -c count -t tsv"
	assert_line $'out\t1'
}

@test "begins and ends, by name where they have one; in any order in the file" {
	cat >x.json <<-END
		[{"ph": "E", "ts": 9, "pid": 1, "name": "a"},
		{"ph": "B", "ts": 1, "pid": 1, "name": "a"}, {"ph": "B", "ts": 2, "pid": 1, "name": "b"},
		{"ph": "E", "ts": 3, "pid": 1, "name": "never"}, {"ph": "E", "ts": 4, "pid": 1}]
	END
	run -0 bash -c "trdecode x.json | trstat -c total,self -s name -t tsv"
	assert_line $'a\t8000\t6000'
	assert_line $'b\t2000\t2000'
	assert_line "trdecode: x.json: 1 end of calls without a begin was left out"
}

@test "more than fits in memory is sorted on disk" {
	awk 'BEGIN {
		print "["
		for (i = 40000; i > 0; i--)
			printf "{\"ph\":\"X\",\"ts\":%d,\"dur\":0.5,\"pid\":1,\"tid\":1,\"name\":\"f%d\",\"args\":{\"text\":\"%d-----------------------------------------------------\"}},\n", i, i % 7, i
	}' >x.json
	trdecode x.json | trencode | awk '{ if ($1 + 0 < last) exit 1; last = $1 + 0 } END { exit NR != 80000 }'
	run -0 pipefail "trdecode - <x.json | trstat -g type -c count -t tsv"
	assert_line $'begin\t40000'
}

@test "an array of events may lack its end; anything else cut is damage" {
	printf '[{"ph":"i","ts":1,"pid":1,"name":"x"},' >x.json
	run -0 pipefail "trdecode x.json | trstat -c count -t tsv"
	assert_line $'x\t1'
	printf '[{"ph":"i","ts":1,"pid":1,"name":"x"},{"ph":"i","t' >x.json
	run -1 trdecode -o s x.json
	assert_output --regexp '^trdecode: x.json: 0x[0-9a-f]+: the input ends within a JSON value$'
	run -1 bash -c "trstat -c count -t tsv s 2>/dev/null"
	assert_line $'x\t1'
	printf '{"traceEvents":[{"ph":"i","ts":1,"pid":1,"name":"x"}]' >x.json
	run -1 trdecode -o s x.json
	printf '{"traceEvents":[{"ph":"i","ts":1e300,"pid":1,"name":"x"}]}' >x.json
	run -1 trdecode -o s x.json
	assert_output "trdecode: x.json: 0x10: an event with an impossible time"
	echo '{"a": 1}' >x.json
	run -2 errors trdecode x.json
}

@test "times in quotes are times; an event without a time is reported with its offset" {
	printf '[{"ph":"X","ts":"12.5","dur":"3","name":"a"},{"ph":"X","ts":"late","name":"b"},{"name":"c","ts":1}]' >x.json
	run -0 pipefail "trdecode x.json | trstat -c total -t tsv"
	assert_line $'a\t3000'
	assert_line "trdecode: x.json: 0x2d: the first of 2 events without a time or a phase, which were left out"
}

@test "ids of threads that are no numbers become their comm, and a remark" {
	cat >x.json <<-END
		[{"ph":"i","ts":1,"pid":1,"tid":"render","name":"a"},
		{"ph":"i","ts":2,"pid":1,"tid":140234567890123,"name":"b"},
		{"ph":"i","ts":3,"pid":1,"tid":"io","name":"c"},
		{"ph":"M","pid":1,"tid":"io","name":"thread_name","args":{"name":"disk"}},
		{"ph":"i","ts":4,"pid":1,"tid":"2","name":"d"}]
	END
	run -0 pipefail "trdecode x.json | trstat -g name,comm -c count -s name -t tsv"
	assert_line $'a\trender\t1'
	assert_line $'b\t140234567890123\t1'
	assert_line $'c\tdisk\t1'
	assert_line $'d\t\t1'
	assert_line --partial "x.json: 3 ids of processes and threads are not numbers from 0 to 2147483647 (the first one: render)"
	# the id of a process is its name, and its thread's
	run -0 pipefail "echo '[{\"ph\":\"i\",\"ts\":1,\"pid\":\"web\",\"name\":\"a\"}]' | trdecode -f chrome - | trencode -q -t chrome"
	assert_line --partial "trdecode: <stdin>: 1 id of processes and threads is not a number from 0 to 2147483647 (the first one: web): it was given a number, and names processes and threads without a name"
	assert_line --regexp '"process_name".*"web"'
	trdecode x.json 2>/dev/null | trstat -g tid -c count -t tsv | grep $'^2\t1$'
}

@test "an id is a number, however the number is written" {
	# calls, asynchronous events, counters, flows, and stacks, whose ids are 3, 0, 10 and -7
	for id in '3 3.0 3e0 0.3E1 30e-1' '0 -0 0.0 0e9' '10 1e1 1.0e+1 100e-1 10.00' '2147483647 2147483647.0'; do
		read -r -a forms <<<"$id"
		for form in "${forms[@]}"; do
			cat >x.json <<-END
				{"traceEvents":[{"ph":"X","ts":1,"dur":2,"pid":$form,"tid":$form,"name":"a"},
				{"ph":"b","ts":1,"pid":1,"tid":1,"name":"b","cat":"c","id":$form},
				{"ph":"e","ts":5,"pid":1,"tid":1,"name":"b","cat":"c","id":$form},
				{"ph":"C","ts":6,"pid":1,"tid":1,"name":"n","id":$form,"args":{"v":1.0}},
				{"ph":"X","ts":7,"dur":1,"pid":1,"tid":1,"name":"f","bind_id":$form,"flow_out":true},
				{"ph":"b","ts":8,"pid":1,"tid":1,"name":"g","cat":"c","id2":{"local":$form}},
				{"ph":"i","ts":9,"pid":1,"tid":1,"name":"i","sf":$form}],
				"stackFrames":{"${forms[0]}":{"name":"main"}}}
			END
			run -0 --separate-stderr trdecode x.json -o s
			assert_equal "$stderr" ''
			trencode -q -t chrome s | jq -c .traceEvents[] >have
			[[ $form == "${forms[0]}" ]] || diff want have || fail "$form"
			mv have want
		done
		[ "$(jq -s 'map(select(.name == "a")) | .[0].pid' want)" -eq "${forms[0]}" ]
	done
	# one thread, as python reads them
	echo '[{"ph":"X","ts":20,"dur":5,"pid":1.0,"tid":2.0,"name":"a"},
		{"ph":"X","ts":30,"dur":5,"pid":1,"tid":2,"name":"a"},
		{"ph":"X","ts":40,"dur":5,"pid":1e0,"tid":"2","name":"a"}]' >x.json
	python3 -c 'import json; print(*{(int(e["pid"]), int(e["tid"])) for e in json.load(open("x.json"))})' >want
	trdecode x.json | trstat -q -t ndjson -g pid,tid -c count | jq -r '"(\(.pid), \(.tid))"' | diff want -
	# these are no ids of processes
	for id in 1.5 -1 -1.0 1e10 2147483648.0 1e-1; do
		run -0 pipefail "echo '[{\"ph\":\"i\",\"ts\":1,\"pid\":$id,\"name\":\"a\"}]' | trdecode -f chrome - | trstat -q"
		assert_line --partial '1 id of processes and threads is not a number from 0 to 2147483647'
	done
}

@test "data after the end is damage" {
	local text
	for text in '[{"ph":"i","ts":1,"name":"x"}] more' '{"traceEvents":[{"ph":"i","ts":1,"name":"x"}]}}'; do
		printf '%s' "$text" >x.json
		run -1 trdecode -o s x.json
		assert_output --regexp '^trdecode: x.json: 0x[0-9a-f]+: text follows the JSON document$'
		run -1 bash -c "trstat -c count -t tsv s 2>/dev/null"
		assert_line $'x\t1'
	done
}

@test "an event without a name has one that says so" {
	printf '[{"ph":"X","ts":1,"dur":1},{"ph":"i","ts":1},{"ph":"C","ts":2,"args":{"n":1}}]' >x.json
	run -0 pipefail "trdecode x.json | trstat -c count -t tsv"
	assert_line $'(no name)\t3'
	refute_line --partial '<0>'
}

@test "empty arrays, a byte order mark, events behind long metadata" {
	local text
	for text in '[]' '[ ]' ' [ ] ' '{"traceEvents":[]}'; do
		printf '%s' "$text" >x.json
		run -0 pipefail "trdecode -q x.json | trstat -c count -t tsv"
		assert_output $'name\tcount'
	done
	printf '\xef\xbb\xbf[{"ph":"i","ts":1,"name":"x"}]' >x.json
	run -0 pipefail "trdecode x.json | trstat -c count -t tsv"
	assert_line $'x\t1'
	printf '{"metadata":"%05000d","traceEvents":[{"ph":"i","ts":1,"name":"x"}]}' 0 >x.json
	run -0 pipefail "trdecode -f chrome x.json | trstat -c count -t tsv"
	assert_line $'x\t1'
	echo '{"a": 1}' >x.json
	run -2 errors trdecode -o s x.json
	assert_output --partial "trdecode: x.json: JSON, but no trace: no traceEvents; trdecode reads"
	run -2 errors trdecode -f lttng x.json
	assert_output "trdecode: x.json: not a trace of the format lttng"
}

@test "--info prints the format" {
	echo '[]' >x.json
	run -0 trdecode --info x.json
	assert_line --regexp '^format +chrome$'
	run -0 trdecode --info --json x.json
	assert_line --partial '"format": "chrome"'
}

@test "arguments are optional: a name is one function with or without them" {
	echo '[{"ph":"B","name":"f","ts":0,"args":{"a":1}},{"ph":"B","name":"f","ts":1},
		{"ph":"E","ts":2,"args":{"r":4}},{"ph":"E","ts":3},
		{"ph":"X","name":"f","ts":4,"dur":1,"args":{"b":true,"a":2}}]' >x.json
	trdecode -f chrome x.json >x.trs
	run -0 trstat -c total,count -t tsv x.trs
	assert_line $'f\t4000\t3'
	run -0 trencode -t tsv --no-header --columns dur,args x.trs
	assert_line --index 0 $'1000\t{"r":4}'
	assert_line --index 1 $'3000\t{"a":1}'
	assert_line --index 2 $'1000\t{"b":true,"a":2}'
	run -0 pipe "trfilter 'arg.a == 2' x.trs | trstat -c count -t tsv"
	assert_line $'f\t1'
}

@test "a call whose duration cannot be is left out, one without lasts 0; NaN and Infinity of Python are read" {
	{
		printf '['
		printf '{"ph": "X", "name": "x", "ts": 2, "dur": %s, "pid": 1, "tid": 1}, ' NaN -1 '"no"' 1e300 null
		printf '{"ph": "X", "name": "y", "ts": 2.5, "pid": 1, "tid": 1}, '
		printf '{"ph": "i", "name": "i", "ts": 3, "dur": -1, "pid": 1, "tid": 1, "args": {"a": Infinity, "b": [-Infinity, 1]}}]'
	} >x.json
	run -1 trdecode -o s x.json
	assert_line --index 0 "trdecode: x.json: 0x1: an event with an impossible duration, which is left out"
	assert_line --index 1 "trdecode: x.json: 3 more events with impossible durations were left out"
	assert_line --index 2 "trdecode: x.json: 2 calls have no duration (X without dur): they last 0 ns"
	assert_equal "${#lines[@]}" 3
	run pipe "trencode -q -t ndjson s 2>/dev/null | jq -c '[.name, .dur, .args]'"
	assert_output "[\"x\",0,null]
[\"y\",0,null]
[\"i\",null,{\"a\":\"inf\",\"b\":[\"-inf\",1]}]"
}

@test "times may be below 0: then they count from the earliest" {
	echo '[{"ph":"X","name":"g","ts":1,"dur":1},{"ph":"X","name":"f","ts":-5.5,"dur":2}]' >x.json
	run -0 --separate-stderr pipe "trdecode -f chrome x.json | trencode -t tsv --no-header --columns time,dur,name"
	[ "$stderr" = "trdecode: x.json: 1 time is below 0: all times count from the earliest, -5500 ns" ] || fail "$stderr"
	assert_line --index 0 $'0\t2000\tf'
	assert_line --index 1 $'6500\t1000\tg'
	printf '[{"ph":"X","name":"g","ts":-2e15,"dur":1},{"ph":"i","ts":1}]' >x.json
	run -1 trdecode -f chrome -o s x.json
	assert_output "trdecode: x.json: 0x1: an event with an impossible time"
}

@test "of events whose time cannot be the first is reported with its offset, the others as a number" {
	{
		printf '[{"ph":"i","ts":1e300,"name":"a"},{"ph":"i","ts":1,"name":"b"},'
		printf '{"ph":"i","ts":-1e300,"name":"%d"},' {1..20}
		printf '{"ph":"i","ts":2,"name":"d"}]'
	} >x.json
	run -1 trdecode -o s x.json
	assert_output "trdecode: x.json: 0x1: an event with an impossible time
trdecode: x.json: 20 more events with impossible times were left out"
	run pipe "trencode -q -t ndjson s 2>/dev/null | jq -r .name"
	assert_output "$(printf 'b\nd')"
}

@test "an argument called id is no number of an asynchronous event, nor are others the event's own" {
	echo '[{"ph":"b","cat":"c","name":"f","id":6,"pid":1,"ts":1,"args":{"id":"mine","name":"n","ts":1.5,"cat":"k","dur":"d"}},
		{"ph":"b","cat":"c","name":"g","id":5,"pid":1,"ts":2,"args":{"id":7}},{"ph":"n","cat":"c","name":"h","id":5,"pid":1,"ts":2},
		{"ph":"e","cat":"c","name":"f","id":6,"pid":1,"ts":3},{"ph":"e","cat":"c","name":"g","id":5,"pid":1,"ts":4}]' >x.json
	trdecode x.json >x.trs
	run -0 pipefail "trencode -t ndjson x.trs | jq -c '[.name,.time,.dur,.args]'"
	assert_line --index 0 '["h",2000,null,{"async_id":5}]'
	assert_line --index 1 '["f",1000,2000,{"id":"mine","name":"n","ts":1.5,"cat":"k","dur":"d","async_id":6}]'
	assert_line --index 2 '["g",2000,2000,{"id":7,"async_id":5}]'
	for condition in 'arg.id == "mine"' 'async_id == 6' 'arg.name == "n"' 'arg.ts == 1.5' 'arg.cat == "k"' 'arg.dur == "d"'; do
		run -0 pipefail "trfilter '$condition' x.trs | trstat -c count -t tsv"
		assert_output $'name\tcount\nf\t1'
	done
	trencode -t chrome --rebase=none -o again.json x.trs
	run -0 jq -c '[.traceEvents[] | select(.ph == "b") | [.name, .id, .args.id]]' again.json
	assert_output '[["f",6,"mine"],["g",5,7]]'
	# a name that only arguments have
	sed 's/"id":"mine"/"id":"mine","async_id":1/' x.json >y.json
	run -0 pipefail "trdecode y.json | trfilter 'async_id_ == 6' | trstat -c count -t tsv"
	assert_line $'f\t1'
}

# What all calls of a stream are, without the rows of a trace's own
calls() {
	trstat -q -g name -c count,total,self -t tsv | grep -v core_marker | LC_ALL=C sort
}

@test "asynchronous calls that overlap come back from CTF and LTTng; events at one time in their order" {
	need babeltrace2
	need jq
	local t
	# times of 10 us: many are equal, in several categories
	awk 'BEGIN { srand(7); print "["
		for (i = 0; i < 400; i++) {
			t = int(i / 4) * 10
			printf "{\"ph\":\"B\",\"cat\":\"c%d\",\"name\":\"out%d\",\"pid\":1,\"tid\":%d,\"ts\":%d},\n", i % 3, i % 5, i % 4, t
			printf "{\"ph\":\"b\",\"cat\":\"a%d\",\"name\":\"async%d\",\"id\":%d,\"pid\":1,\"tid\":%d,\"ts\":%d},\n", i % 2, i % 7, i, i % 4, t
			printf "{\"ph\":\"B\",\"cat\":\"c%d\",\"name\":\"in%d\",\"pid\":1,\"tid\":%d,\"ts\":%d},\n", i % 2, i % 6, i % 4, t
			printf "{\"ph\":\"E\",\"pid\":1,\"tid\":%d,\"ts\":%d},\n{\"ph\":\"E\",\"pid\":1,\"tid\":%d,\"ts\":%d},\n", i % 4, t + 10, i % 4, t + 10
			if (i >= 20)
				printf "{\"ph\":\"e\",\"cat\":\"a%d\",\"name\":\"async%d\",\"id\":%d,\"pid\":1,\"tid\":%d,\"ts\":%d},\n", i % 2, (i - 20) % 7, i - 20, i % 4, t + 10
		} }' >x.json
	trdecode -f chrome x.json >x.trs
	calls <x.trs >want
	grep -q $'^async3\t' want
	for t in ctf lttng; do
		run -0 errors trencode -t $t -o out.$t x.trs
		[[ $output != *'left out'* ]] || fail "$output"
		trdecode out.$t | calls >got
		diff want got || fail "$t"
		trdecode out.$t | trstat -q -g caller,name -c count -t tsv | grep -v core_marker | sort >got
		trstat -q -g caller,name -c count -t tsv x.trs | sort | diff - got || fail "callers of $t"
		trdecode out.$t | trencode -q -t chrome -o again.json
		trdecode -q again.json | calls | diff want - || fail "$t, then chrome"
	done
	run -0 pipefail "babeltrace2 out.ctf | grep -c 'async begin: .* name = \"async3\", call = [0-9]*, id = [0-9]* }'"
	assert_output "$(awk -F '\t' '$1 == "async3" { print $2 }' want)"
}

@test "calls with numbers of several inputs stay apart in CTF" {
	echo '[{"ph":"b","name":"f","id":6,"pid":1,"ts":1},{"ph":"b","name":"g","id":5,"pid":1,"ts":2},
		{"ph":"e","name":"f","id":6,"pid":1,"ts":3},{"ph":"e","name":"g","id":5,"pid":1,"ts":4}]' >x.json
	sed 's/"f"/"k"/g; s/"g"/"l"/g; s/"ts":4/"ts":9/' x.json >y.json
	trdecode x.json y.json | tee x.trs | calls >want
	trencode -q -t ctf -o out x.trs
	trdecode out | calls | diff want -
	trencode -q -t lttng -o legacy x.trs
	trdecode legacy | calls | diff want -
}

@test "the same tid in another process is another thread, also behind other formats" {
	local t
	cat >two.json <<-END
		[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"p1work"},
		{"ph":"X","pid":2,"tid":1,"ts":5,"dur":10,"name":"p2work"},
		{"ph":"C","pid":1,"tid":1,"ts":5.5,"name":"free","args":{"bytes":1}},
		{"ph":"X","pid":2,"tid":1,"ts":6,"dur":1,"name":"p2in"},
		{"ph":"C","pid":2,"tid":1,"ts":7,"name":"free","args":{"bytes":2}}]
	END
	trdecode two.json >two.trs
	trstat -q -c total,self,count -s name -t tsv two.trs >want
	run -0 grep -v -e ^name -e ^free want
	[ "$output" = $'p1work\t10000\t10000\t1\np2in\t1000\t1000\t1\np2work\t10000\t9000\t1' ] || fail "$output"
	trfilter 'tid == 1' two.trs | trstat -g pid,tid -c count -t tsv >got
	[ "$(grep -c -P '^[12]\t1\t' got)" = 2 ] || fail "$(cat got)"
	for t in chrome lttng; do
		trencode -q -t $t -o again.$t two.trs
		trdecode -q again.$t | trstat -q -c total,self,count -s name -t tsv |
			grep -v core_marker >got
		diff want got || fail "$t"
	done
	run -0 jq -c '[.traceEvents[] | select(.ph == "C") | [.pid, .args.bytes]]' again.chrome
	[ "$output" = '[[1,1],[2,2]]' ] || fail "$output"
	run -0 pipefail "trencode -t perfetto two.trs | strings | grep -c '^free\|.free$'"
}

# What asynchronous events have, sorted.
asynchronous() {
	jq -r '(.traceEvents? // .)[] | select(.ph | test("[benSFTp]")) |
		[.ph, .cat, .id, .id2.local, .pid, .tid, .ts * 1000, .name, .args.step] | @json' "$1" | sort
}

@test "asynchronous pairs are calls with a number, and come back as they were" {
	cat >x.json <<-END
		[{"ph":"b","cat":"net","name":"get","id":"0x1f","pid":1,"tid":2,"ts":1,"args":{"url":"a"}},
		{"ph":"b","cat":"net","name":"get","id":32,"pid":1,"tid":2,"ts":2},
		{"ph":"b","cat":"net","name":"part","id":32,"pid":1,"tid":2,"ts":2.5},
		{"ph":"n","cat":"net","name":"byte","id":"0x1f","pid":1,"tid":2,"ts":3},
		{"ph":"e","cat":"net","name":"get","id":"0x1f","pid":1,"tid":2,"ts":4,"args":{"status":200}},
		{"ph":"e","cat":"net","name":"part","id":32,"pid":1,"tid":2,"ts":5},
		{"ph":"e","cat":"net","name":"get","id":"32","pid":1,"tid":2,"ts":6},
		{"ph":"b","cat":"net","name":"p","id2":{"local":"0x5"},"pid":1,"tid":2,"ts":7},
		{"ph":"b","cat":"net","name":"p","id2":{"local":"0x5"},"pid":2,"tid":9,"ts":8},
		{"ph":"e","cat":"net","name":"p","id2":{"local":"0x5"},"pid":1,"tid":2,"ts":9},
		{"ph":"e","cat":"net","name":"p","id2":{"local":"0x5"},"pid":2,"tid":9,"ts":11},
		{"ph":"S","cat":"old","name":"s","id":7,"pid":1,"tid":2,"ts":12},
		{"ph":"T","cat":"old","name":"s","id":7,"pid":1,"tid":2,"ts":13,"args":{"step":"x"}},
		{"ph":"F","cat":"old","name":"s","id":7,"pid":1,"tid":2,"ts":15}]
	END
	run -0 pipefail "trdecode x.json | tee x.trs | trstat -c count,total -s name -t tsv"
	assert_line $'get\t2\t7000'
	assert_line $'p\t2\t5000'
	assert_line $'part\t1\t2500'
	assert_line $'s\t2\t3000'
	run -0 trencode -t ndjson x.trs
	assert_line --partial '"name":"get","depth":0,"file":null,"line":null,"args":{"url":"a","status":200,"id":"0x1f"},"nesting":"none"}'
	trencode -t chrome --rebase=none -o again.json x.trs
	jq -c . x.json >/dev/null
	sed -i 's/"id":"32"/"id":32/' x.json
	diff <(asynchronous x.json) <(asynchronous again.json)
	run -0 pipefail "jq -c '.traceEvents[] | select(.id == \"0x1f\" and .ph == \"b\") | .args' again.json"
	assert_output '{"url":"a","status":200}'
	trdecode again.json | trstat -q -c count,total -s name -t tsv >got
	trstat -q -c count,total -s name -t tsv x.trs | diff - got
}

@test "pairs that were written for calls that overlap come back as calls" {
	printf '[{"ph":"b","cat":"c","name":"f","id":1,"pid":1,"ts":0},{"ph":"b","cat":"c","name":"g","id":2,"pid":1,"ts":1},
		{"ph":"e","cat":"c","name":"f","id":1,"pid":1,"ts":3},{"ph":"e","cat":"c","name":"g","id":2,"pid":1,"ts":5}]' >x.json
	trdecode x.json | trencode -t apitrace -q -o x.trace
	trdecode -q x.trace | trstat -q -g name -c count -t tsv >want
	trdecode -q x.trace | trencode -q -t chrome -o overlap.json
	grep -q '"ph":"b"' overlap.json
	run -0 pipefail "trdecode overlap.json | trstat -q -g name -c count -t tsv"
	diff want - <<<"$output"
}

@test "ids that are left out are counted; so are ends without a begin, and begins without an end" {
	printf '[{"ph":"s","name":"x","id":1,"ts":1},{"ph":"f","name":"x","id":1,"ts":2},{"ph":"O","name":"o","id":"0x1","ts":3},
		{"ph":"e","cat":"c","name":"g","id":2,"ts":4},{"ph":"b","cat":"c","name":"g","id":"two","ts":5},{"ph":"i","name":"m","ts":9}]' >x.json
	run -0 trdecode -o x.trs x.json
	assert_line "trdecode: x.json: the ids of 1 event were left out, which are instants now (phases: O)"
	assert_line "trdecode: x.json: 1 id of asynchronous events is not a number (the first one: two): it was given a number"
	assert_line "trdecode: x.json: 1 end of calls without a begin was left out"
	run -0 trencode -t chrome x.trs
	assert_line --regexp '^\{"ph":"b",.*"name":"g"\}$'
}

@test "very many asynchronous calls of one id cost no time" {
	awk 'BEGIN {
		print "["
		for (i = 0; i < 100000; i++)
			printf "{\"ph\":\"b\",\"cat\":\"c\",\"id\":0,\"ts\":%d,\"name\":\"f%d\"},\n", i, i % 1000
		for (i = 0; i < 100000; i++)
			printf "{\"ph\":\"e\",\"cat\":\"c\",\"id\":0,\"ts\":%d,\"name\":\"x\"},\n", i + 100000
	}' >x.json
	run -0 timeout 60 trdecode -o x.trs x.json
	assert_output "trdecode: x.json: 100000 ends of calls without begins were left out"
}

@test "samples with stackFrames: weights, threads, callers that come later, frames that are missing or a circle" {
	cat >x.json <<-'END'
		{"samples":[{"name":"cycles","pid":1,"tid":2,"ts":"5.5","weight":"7","sf":"a"},
			{"name":"cycles","pid":1,"tid":2,"ts":6,"weight":3,"sf":4},
			{"pid":1,"tid":2,"ts":7,"sf":"nothere"},{"pid":1,"tid":3,"ts":8},
			{"pid":1,"tid":2,"ts":9,"sf":"x"}],
		"traceEvents":[{"ph":"i","name":"tick","pid":1,"tid":2,"ts":1,"sf":4},
			{"ph":"i","name":"tick","pid":1,"tid":2,"ts":2},
			{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"T"}}],
		"stackFrames":{"a":{"name":"leaf","parent":4},"4":{"name":"middle","category":"c","parent":"root"},
			"root":{"name":"main"},"x":{"name":"X","parent":"y"},"y":{"name":"Y","parent":"x"}}}
	END
	run -0 --separate-stderr pipe 'trdecode x.json | trencode -q -t csv -c time,tid,type,kind,stack,weight'
	assert_output - <<-'END'
		time,tid,type,kind,stack,weight
		1000,2,tick,instant,"[""main"",""middle""]",
		2000,2,tick,instant,,
		5500,2,cycles,sample,"[""main"",""middle"",""leaf""]",7
		6000,2,cycles,sample,"[""main"",""middle""]",3
		7000,2,samples,sample,"[""?""]",1
		8000,3,samples,sample,,1
		9000,2,samples,sample,"[""Y"",""X""]",1
	END
	assert_equal "$stderr" 'trdecode: x.json: 1 frame of stacks is not in the file'
	# three of the type samples, two of cycles
	run -0 pipe 'trdecode -q x.json | trencode -q -t folded'
	assert_output - <<-'END'
		T;? 1
		T;Y;X 1
		samples 1
	END
	run -0 pipe "trdecode -q x.json | trfilter 'type == \"cycles\"' | trencode -q -t folded"
	assert_output - <<-'END'
		T;main;middle 3
		T;main;middle;leaf 7
	END
	# the same events as a trace by themselves: a profile of events with stacks
	run -0 pipe "trdecode -q x.json | trfilter 'kind == \"instant\"' | trencode -q -t folded"
	assert_output 'T;main;middle 1'
	[ ! -d "$RECORDED/chrome" ] || for f in simple multi-thread; do
		jq -r '.stackFrames as $f | def path($i): if $i then path($f[$i | tostring].parent) + [$f[$i | tostring].name] else [] end;
			.samples[] | "\(.tid) \(path(.sf) | join(";")) \(.weight)"' \
			"$RECORDED/chrome/speedscope-trace-event/$f-with-samples.json" | sort >want
		trdecode -q "$RECORDED/chrome/speedscope-trace-event/$f-with-samples.json" | trfilter -q 'kind == "sample"' |
			trencode -q -t ndjson -c tid,stack,weight | jq -r '"\(.tid) \(.stack | join(";")) \(.weight)"' | sort | diff want -
		[ -s want ]
	done
}

@test "CPU profiles of V8: the samples of each stack, and their times, are those of an independent reader" {
	trdecode -q -o x.trs "$DATA/chrome/v8-profile.json.gz"
	python3 "$ROOT/t/tools/v8_profile.py" "$DATA/chrome/v8-profile.json.gz" >want
	[ "$(awk '{ n += $2 } END { print n }' want)" = 1916 ]
	# the first frame is the name of the thread
	stacks() {
		trencode -q -t folded --weight "$1" x.trs |
			awk '{ n = $NF; sub(/^[^;]*;/, ""); sub(/ [0-9]+$/, ""); gsub(/ /, "_"); sum[$0] += n }
				END { for (s in sum) if (sum[s]) print s, sum[s] }' | sort
	}
	diff <(awk '{ print $1, $2 }' want | sort) <(stacks count)
	diff <(awk '$3 { print $1, $3 * 1000 }' want | sort) <(stacks period)
	run -0 trstat -q -t csv -g name,file,line -c count x.trs
	assert_line 'fib,busy.html,1,301'
	# a chunk of another profile, and chunks that are damaged
	cat >y.json <<-'END'
		[{"ph":"P","name":"Profile","pid":1,"tid":2,"ts":3,"id":"0x1","args":{"data":{"startTime":100}}},
		{"ph":"P","name":"ProfileChunk","pid":1,"tid":9,"ts":120,"id":"0x1","args":{"data":{"cpuProfile":{"nodes":
			[{"id":1,"callFrame":{"functionName":"","url":"u","lineNumber":4}}],"samples":[1,1,5]},"timeDeltas":[10,-4]}}},
		{"ph":"P","name":"ProfileChunk","pid":1,"tid":9,"ts":130,"id":"0x1","args":{"data":{"cpuProfile":[1,2],"timeDeltas":{},"endTime":145}}},
		{"ph":"P","name":"ProfileChunk","pid":1,"tid":9,"ts":140,"id":"0x2","args":{"data":{"cpuProfile":{"samples":[1]},"timeDeltas":[1]}}},
		{"ph":"P","name":"ProfileChunk","pid":1,"tid":9,"ts":150,"id":"0x2","args":{}}]
	END
	run -0 pipe 'trdecode -q y.json | trencode -q -t csv -c time,tid,type,stack,line,weight'
	assert_output - <<-'END'
		time,tid,type,stack,line,weight
		106000,2,cpu_profile,"[""(anonymous)""]",5,0
		106000,2,cpu_profile,"[""?""]",,4000
		110000,2,cpu_profile,"[""(anonymous)""]",5,35000
		141000,9,cpu_profile,"[""?""]",,0
		150000,9,ProfileChunk,,,
	END
}

@test "counters of one name with several ids are several counters" {
	cat >x.json <<-'END'
		[{"ph":"C","ts":1,"pid":1,"name":"bytes","id":3,"args":{"n":2}},{"id":"0x5f","ph":"C","ts":2,"pid":1,"name":"bytes","args":{"n":7}},
		{"ph":"C","ts":3,"pid":1,"id":"main","name":"bytes","args":{"n":8}},{"ph":"C","ts":4,"pid":1,"id":3,"name":"bytes","args":{"n":3}},
		{"ph":"C","ts":5,"pid":1,"name":"bytes","args":{"n":9,"none":null}}]
	END
	trdecode -q x.json >x.trs
	# the names that the viewer of the catapult project gives them
	trencode -q -t tsv --no-header -c time,name x.trs | diff <(jq -r '.[] | [.ts * 1000, .name + (if .id then "[\(.id)]" else "" end)] | @tsv' x.json) -
	trencode -q -t perfetto x.trs | trdecode -q | trencode -q -t tsv --no-header -c time,name |
		diff <(trencode -q -t tsv --no-header -c time,name x.trs) -
}

@test "null is null again, also by way of Perfetto's format" {
	echo '[{"ph":"i","ts":1,"pid":1,"name":"x","args":{"a":null,"b":"NULL","c":0}}]' >x.json
	trdecode -q x.json >x.trs
	trencode -q -t perfetto x.trs | trdecode -q >y.trs
	for of in x y; do
		run -0 pipe "trencode -q -t chrome $of.trs | jq -c '.traceEvents[] | select(.ph == \"i\").args'"
		assert_output '{"a":null,"b":"NULL","c":0}'
	done
}

@test "objects and arrays in arguments are nested, also by way of Perfetto's format, and in segments" {
	cat >x.json <<-'END'
		[{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":5,"args":{"a":{"b":1},"c":[1,2],"d":{},"e":[],"s":"{}"}},
		{"ph":"B","name":"g","pid":1,"tid":1,"ts":10,"args":{"a":{"b":-3.5,"t":[true,null,{"z":"q\"\u00e9"}]}}},
		{"ph":"E","pid":1,"tid":1,"ts":12,"args":{"r":{"k":4294967297}}},
		{"ph":"i","s":"t","name":"h","pid":1,"tid":1,"ts":13,"args":{"a":{"b":2},"m":[[1],[2,[3]]]}},
		{"ph":"b","name":"as","cat":"x","id":7,"pid":1,"tid":1,"ts":14,"args":{"a":{"b":1,"c":false}}},
		{"ph":"e","name":"as","cat":"x","id":7,"pid":1,"tid":1,"ts":15,"args":{"w":{"b":[]}}}]
	END
	jq -Sc '.[].args | select(has("r") or has("w") | not)' x.json | sort >want
	trdecode -o x.trs x.json
	trencode -t perfetto -o x.pftrace x.trs
	trdecode -o y.trs x.pftrace
	for stream in x y; do
		trencode -t chrome --rebase=none $stream.trs | jq -Sc '.traceEvents[] | select(.args and .ph != "M") | .args | del(.r, .w, .id, .track_id)' |
			sort | diff want - || fail "$stream"
		trencode -t chrome $stream.trs | jq -c '.traceEvents[].args | select(.) | .r // .w // empty' >have
		printf '%s\n' '{"k":4294967297}' '{"b":[]}' | diff - have
		trstat -t csv -g arg.a.b -c count $stream.trs | sort >have
		printf '%s\n' -3.5,1 1,2 2,1 arg.a.b,count | diff - have
	done
	"$ROOT/t/tools/check_streams.py" same x.trs
	jq -n '[range(3000) | {ph:"i",name:"n",pid:1,ts:.,args:{o:{"k\(. % 7)":[.],l:{m:.}}}}]' >many.json
	trdecode --segment 16K -o many.trs many.json
	"$ROOT/t/tools/check_streams.py" segments many.trs
	jq -c '.[].args' many.json | diff - <(trencode -t ndjson many.trs | jq -c .args)
}

@test "objects that are nested too deep, or too large, are their text" {
	jq -n 'def nest($n): {a: (reduce range($n - 1) as $i (1; [.]))};
		def wide($n): [range($n) | {key: "k\(.)", value: .}] | from_entries;
		[{ph:"i",name:"n",pid:1,ts:1,args:{x:nest(128)}}, {ph:"i",name:"n",pid:1,ts:2,args:{x:nest(129)}},
		{ph:"i",name:"n",pid:1,ts:3,args:{x:wide(4096)}}, {ph:"i",name:"n",pid:1,ts:4,args:{x:wide(4097)}},
		{ph:"i",name:"n",pid:1,ts:5,args:{x:[range(9999)]}}]' >x.json
	jq -c '.[].args.x' x.json >want
	trdecode x.json | trencode -t ndjson | jq -c .args.x >all
	jq -r type all >have
	printf '%s\n' object string object string array | diff - have
	jq -c 'if type == "string" then fromjson else . end' all | diff want -
	# distinct lists of members
	jq -n '[range(66000) | {ph:"i",name:"n",pid:1,ts:.,args:{x:{"k\(.)":1}}}]' >x.json
	trdecode x.json | trencode -t ndjson | jq -r '.args.x | type' | sort | uniq -c | sed 's/^ *//' >have
	printf '%s\n' '65536 object' '464 string' | diff - have
}

@test "the last call that receives the flow of a bind_id ends it, whatever its place in the file" {
	cat >x.json <<-'END'
		[{"ph":"X","name":"late","ts":30,"dur":2,"pid":1,"bind_id":"0x5","flow_in":true},{"ph":"X","name":"out","ts":1,"dur":2,"pid":1,"bind_id":"0x5","flow_out":true},
		{"ph":"X","name":"in","ts":10,"dur":2,"pid":1,"bind_id":"0x5","flow_in":true,"args":{"a":1}},{"ph":"X","name":"out","ts":11,"dur":1,"pid":1,"bind_id":"0x6","flow_out":true},
		{"ph":"b","cat":"x","id":3,"name":"in","ts":12,"pid":1,"bind_id":"0x6","flow_in":true},{"ph":"e","cat":"x","id":3,"name":"in","ts":13,"pid":1},
		{"ph":"B","name":"step","ts":14,"pid":1,"bind_id":"0x6","flow_in":true,"flow_out":true},{"ph":"E","ts":15,"pid":1},
		{"ph":"X","name":"out","ts":16,"dur":1,"pid":1,"bind_id":"0x7","flow_out":true},{"ph":"b","cat":"x","id":4,"name":"end","ts":17,"pid":1,"bind_id":"0x7","flow_in":true}]
	END
	jq -c '[group_by(.bind_id)[] | select(.[0].bind_id) | sort_by(.ts) | (length - 1) as $last | to_entries[] |
		{ts: .value.ts, id: .value.bind_id, ph: (if .key == 0 then "s" elif .key == $last and (.value.flow_out | not) then "f" else "t" end)}] | sort_by(.ts)[]' x.json >want
	trdecode -q x.json | trencode -q -t chrome --rebase=none | jq -c '[.traceEvents[] | select(.cat == "flow") | {ts, id, ph}] | sort_by(.ts)[]' | diff want -
	run -0 pipefail "trdecode -q x.json | trencode -q -t ndjson | jq -c 'select(.name == \"in\" or .name == \"end\") | .args'"
	assert_output $'{"a":1,"flow_ids":5}\n{"flow_ids":6,"id":3}\n{"terminating_flow_ids":7,"id":4}'
}

@test "the format is found however long the members before the events are: files, pipes, compressed" {
	jq -nc '{schemaVersion: 1, distributedInfo: {ranks: [range(400000)]}, traceEvents: [{ph: "X", name: "op", ts: 1, dur: 2}]}' >x.json
	[ "$(stat -c %s x.json)" -gt 2000000 ]
	gzip -k x.json
	run -0 pipefail "trdecode x.json | trstat -c total -t tsv"
	assert_line $'op\t2000'
	run -0 pipefail "cat x.json.gz | trdecode | trstat -c total -t tsv"
	assert_line $'op\t2000'
	jq -nc '[{args: {a: [range(3000)]}, ph: "X", name: "op", ts: 1, dur: 2}]' >x.json
	run -0 pipefail "trdecode x.json | trstat -c total -t tsv"
	assert_line $'op\t2000'
	echo '[{"a": 1}]' >x.json
	run -2 errors trdecode -o s x.json
	assert_output --partial "JSON, but no trace: no object has a ph; trdecode reads the Trace Event Format"
}

# Each line: what is written between the events a and b, the calls that are left, and the status.
@test "what programs without a library for JSON write is read, or costs one event" {
	local text names status b='{"ph":"X","name":"b","pid":1,"ts":9,"dur":1}'
	while IFS='|' read -r text names status; do
		printf '[{"ph":"X","name":"a","pid":1,"ts":1,"dur":2}%b%s]' "$text" "$b" >x.json
		run "-$status" pipefail "trdecode -q x.json 2>err | trencode -q -t ndjson -c name 2>>err"
		[ "$(jq -rs 'map(.name | @json) | join(" ") | gsub("\""; "")' <<<"$output")" = "$names" ] || fail "$text: $output"
		[ "$status" = 0 ] || grep -q "^trdecode: x.json: 0x[0-9a-f]*: " err || fail "$text: no offset"
	done <<-'END'
		,|a b|0
		,,|a b|0
		,{"ph":"X","name":"c","ts":5,"dur":2,"args":{"l":[1,],},},|a c b|0
		,{"ph":"X","name":"c\td","ts":5,"dur":2},|a c\td b|0
		,{"ph":"X","name":"c","ts":5,"dur":2,"args":{"x":nan,"y":-inf,"z":inf,"w":-nan,"v":NaN,"u":-Infinity}},|a c b|0
		|a b|1
		,{"ph":"X","name":"C:\\\\Users\\x","ts":5,"dur":2},|a C:\\Users\\x b|1
		,{"ph":"X","name":"c","ts":5,"dur":nan},|a b|1
		,{"ph":"X","name":"c","ts":5,"dur":0x1},|a b|1
		,{"ph":"X","name":"c","ts":5,"args":{"l":[{"x":1},{"y":.}]},"dur":2},|a b|1
		,{"ph":"X","name":"c","ts":|a b|1
		,{"ph":"X","name":"c,"ts":5,"dur":2},|a b|1
		,{"ph":"X","name":"c\n},\n|a b|1
		,{"ph":"X","args":{"l":[{"x":1,|a b|1
	END
	printf '{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":x}],"otherData":{"clock":"c","unit":"ticks","origin":"5"}}' >x.json
	run -1 pipefail "trdecode x.json 2>&1 >s; trencode -q -t ndjson -c time s"
	assert_output --partial "x.json: 0x32: invalid JSON value: the event is left out"
	printf '{"device":[{x}],"traceEvents":[%s]}' '{"ph":"X","name":"b","ts":9,"dur":1}' >x.json
	run -1 bash -c "trdecode x.json 2>/dev/null | trstat -c total -t tsv 2>/dev/null"
	assert_line $'b\t1000'
}

@test "damage of any kind in one event leaves all others" {
	python3 - >names <<-'END'
		import json, random, re
		random.seed(3)
		events = [{"ph": "X", "name": f"n{i}", "ts": 10 * i, "dur": 3, "args": {"a": [1, {"b": i}], "s": "t{}[]"}}
		      for i in range(4000)]
		parts = [json.dumps(e) for e in events]
		for k in range(20, 4000, 20):
		    p = parts[k]
		    kind = k // 20 % 5
		    at = random.choice([m.start() for m in re.finditer('"' if kind == 1 else r"[{}\[\]]", p)])
		    if kind == 0:
		        p = p[:random.randrange(1, len(p))]
		    elif kind < 3:
		        p = p[:at] + p[at + 1:]
		    elif kind == 3:
		        p = p[:at] + "\\" + p[at:]
		    else:
		        p = p.replace(", ", " ", 1)
		    parts[k] = p
		    print(f"n{k}")
		for name, between in ("lines", ",\n"), ("line", ","):
		    with open(name + ".json", "w") as out:
		        out.write('{"traceEvents":[' + between.join(parts) + "]}")
	END
	for f in lines line; do
		run -1 bash -c "trdecode -q $f.json 2>/dev/null >s"
		trencode -q -t ndjson -c name s 2>/dev/null | jq -r .name | sort -u >got || true
		seq -f n%g 0 3999 | sort | comm -23 - got | comm -23 - <(sort names) >lost
		[ ! -s lost ] || fail "$f: $(head lost)"
	done
}

@test "faults of JSON take linear time" {
	# objects that all seem to begin, and have no end
	python3 -c 'print("[" + "{\"a\":[" * 400000)' >1.json
	python3 -c 'print("[" + ("{\"a\":[" * 200 + "{}," * 3000) * 100)' >2.json
	python3 -c 'print("[" + "{\"a\":\"" * 400000)' >3.json
	python3 -c 'print("[" + "{\"ph\":\"X\" " * 300000)' >4.json
	for f in 1 2 3 4; do
		run -1 timeout 10 trdecode -q -o s $f.json
	done
}

@test "values of counters in quotes are numbers, and counters again when written" {
	printf '[{"ph":"C","pid":1,"name":"mem","ts":0,"args":{"MB":"25.7"}},{"ph":"C","pid":1,"name":"mem","ts":5,"args":{"MB":"26"}}]' >x.json
	run -0 pipefail "trdecode x.json | trencode -t chrome | jq -c '.traceEvents[] | [.ph, .ts, .args.MB]'"
	assert_output $'["C",0,25.7]\n["C",5,26]'
	# test_json_counter_args of Perfetto
	echo '[{"ph":"C","pid":1,"name":"c","ts":3,"args":{"a":".75","b":"246.","c":"01.23","d":"050","e":"1.5e","f":"2e+","g":".","h":"+10.5","i":"+","j":"-","k":"-1e3"}}]' >x.json
	run -0 pipefail "trdecode x.json | trencode -t ndjson | jq -c .args"
	assert_output '{"a":0.75,"b":246,"c":1.23,"d":50,"e":"1.5e","f":"2e+","g":".","h":10.5,"i":"+","j":"-","k":-1000}'
}

# Sums of durations by name, with exact numbers.
sums() {
	python3 -c '
import collections, decimal, json, sys
total = collections.Counter()
for e in json.load(open(sys.argv[1]), parse_float=decimal.Decimal)["traceEvents"]:
    if e["ph"] == "X":
        total[e["name"]] += int(decimal.Decimal(e["dur"]) * 1000)
for name in sorted(total):
    print(name, total[name], sep="\t")' "$1"
}

@test "calls that overlap keep their durations: in sums, copies, and as calls of Perfetto's format" {
	python3 - >x.json <<-'END'
		import json, random
		random.seed(7)
		events = []
		for i in range(3000):
		    events.append({"ph": "X", "name": f"f{i % 17}", "pid": 1, "tid": i % 3, "ts": random.randrange(4000) + i % 1000 / 1000,
		                   "dur": random.choice((0, 1, 2, 5, 40)) + i % 10 / 1000, "args": {"n": i}})
		    if i % 7 == 0:
		        events.append({"ph": "i", "name": "mark", "pid": 1, "tid": i % 3, "ts": events[-1]["ts"]})
		print(json.dumps({"traceEvents": events}))
	END
	trdecode -o s x.json
	trencode -q -t ndjson -c name,dur s | jq -sr 'map(select(.dur != null)) | group_by(.name)[] | [.[0].name, (map(.dur) | add)] | @tsv' | sort >got
	diff <(sums x.json | sort) got
	trencode -q -t chrome -o copy.json s
	diff <(jq -c '.traceEvents[] | select(.ph == "X") | [.name, .args]' x.json | sort) \
		<(jq -c '.traceEvents[] | select(.args.n) | [.name, .args]' copy.json | sort)
	trdecode copy.json | trencode -q -t ndjson -c time,name,dur,args | sort >again
	trencode -q -t ndjson -c time,name,dur,args s | sort | diff - again
	trencode -q -t perfetto -o p.pftrace s
	trdecode p.pftrace | trencode -q -t ndjson -c name,dur | jq -sr 'map(select(.dur != null)) | group_by(.name)[] | [.[0].name, (map(.dur) | add)] | @tsv' | sort | diff got -
}

@test "profiles have calls that overlap; formats of stacks alone leave them out, and count them" {
	need jq
	local t
	echo '[{"ph":"X","name":"a","pid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"ts":5,"dur":15},
		{"ph":"X","name":"c","pid":1,"ts":18,"dur":20},{"ph":"X","name":"d","pid":1,"ts":40,"dur":4}]' >x.json
	trdecode -o x.trs x.json
	jq -r '.[] | "\(.name) \(.dur * 1000)"' x.json >want
	run -0 errors trencode -t folded -o out.folded x.trs
	assert_output ''
	diff want out.folded
	trencode -q -t callgrind x.trs | grep -qx 'summary: 49000 4'
	trencode -q -t svg x.trs | grep -q 'all (49 us, 100.00%)'
	# c begins after b, which is on no stack
	for t in uftrace trace-cmd; do
		run -0 errors trencode -t $t -o out.$t x.trs
		[[ $output == *'trencode: 1 call that overlaps another of its thread is left out'* ]] || fail "$t: $output"
		trdecode -q out.$t | trsym -q | trstat -q -g name -c count -t tsv | grep -c '^[acd]' | grep -qx 3 || fail $t
	done
	for t in 'speedscope' 'svg --by-time'; do
		# shellcheck disable=SC2086
		run -0 errors trencode -t $t -o out x.trs
		assert_output 'trencode: 1 call overlaps others of its thread: left out'
	done
}

@test "a call that overlaps does not take the number of one that ends as it begins, in another thread" {
	need jq
	local t
	cat >x.json <<-END
		[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"z"},
		{"ph":"X","pid":2,"tid":1,"ts":34,"dur":2,"name":"p"},{"ph":"X","pid":2,"tid":1,"ts":35,"dur":10,"name":"q"},
		{"ph":"X","pid":1,"tid":1,"ts":44,"dur":5,"name":"r"},{"ph":"X","pid":1,"tid":1,"ts":45,"dur":5,"name":"s"}]
	END
	python3 - >y.json <<-'END'
		import json, random
		random.seed(19)
		print(json.dumps([{"ph": "X", "name": f"f{i % 9}", "pid": i % 2, "tid": random.randrange(2), "ts": random.randrange(900),
		                   "dur": random.choice((0, 1, 2, 5, 10, 40))} for i in range(1500)]))
	END
	for t in x y; do
		jq -r 'group_by(.name)[] | [.[0].name, length, (map(.dur) | add * 1000)] | @tsv' $t.json | sort >want
		trdecode $t.json | trencode -q -t ctf -o $t.ctf
		trdecode $t.ctf | trencode -q -t ndjson -c name,dur |
			jq -sr 'map(select(.dur != null)) | group_by(.name)[] | [.[0].name, length, (map(.dur) | add)] | @tsv' | sort >got
		diff want got || fail $t
	done
	# the end of f has no leave in the stream: its number is used again, but later
	cat >z.json <<-END
		[{"ph":"b","pid":2,"name":"f","id":1,"ts":5},{"ph":"e","pid":2,"name":"f","id":1,"ts":5,"unfinished":true},
		{"ph":"b","pid":1,"name":"g","id":1,"ts":5},{"ph":"e","pid":1,"name":"g","id":1,"ts":8}]
	END
	trdecode z.json | trencode -q -t ctf -o z.ctf
	run -0 pipefail "trdecode z.ctf | trencode -q -t ndjson -c name,time,dur | jq -c 'select(.name == \"g\")'"
	assert_output '{"name":"g","time":5000,"dur":3000}'
}

@test "what is inside of a call stays there: what overlaps it is beside, and 1 ns of truncation is none" {
	cat >x.json <<-END
		[{"ph":"X","name":"a","pid":1,"ts":0,"dur":10}, {"ph":"X","name":"b","pid":1,"ts":5,"dur":15},
		{"ph":"X","name":"c","pid":1,"ts":12,"dur":6}, {"ph":"X","name":"d","pid":1,"ts":15,"dur":40},
		{"ph":"X","name":"e","pid":1,"ts":16,"dur":1},
		{"ph":"X","name":"f","pid":2,"ts":0.0009,"dur":2.9991},{"ph":"X","name":"g","pid":2,"ts":2.0000,"dur":1.0000}]
	END
	run -0 pipefail "trdecode x.json | trstat -c total,self -g name,caller -s name -t tsv"
	assert_output - <<-'END'
		trdecode: x.json: 1 call that ends after the call around it was ended with it
		name	caller	total	self
		a		10000	10000
		b		15000	15000
		c		6000	5000
		d		40000	40000
		e	c	1000	1000
		f		2999	2000
		g	f	999	999
	END
	trdecode -q x.json | trencode -q -t chrome | jq -r '.traceEvents[] | select(.overlaps) | [.name, .ph, .ts, .dur] | @tsv' >got
	diff <(printf 'b\tX\t5\t15\nd\tX\t15\t40\n') got
}

@test "a call that outlives the B and E around it keeps its duration: in sums and copies, also of a trace sorted on disk" {
	cat >x.json <<-END
		[{"ph":"B","name":"a","pid":1,"ts":0}, {"ph":"X","name":"x","pid":1,"ts":1,"dur":10}, {"ph":"X","name":"y","pid":1,"ts":2,"dur":18},
		{"ph":"X","name":"z","pid":1,"ts":3,"dur":1,"args":{"n":1}}, {"ph":"E","name":"a","pid":1,"ts":5}, {"ph":"X","name":"w","pid":1,"ts":6,"dur":1},
		{"ph":"B","name":"b","pid":2,"ts":0}, {"ph":"X","name":"c","pid":2,"ts":1.0009,"dur":2.9992}, {"ph":"E","pid":2,"ts":4.000}]
	END
	run -0 --separate-stderr pipefail "trdecode x.json | trstat -c total,self -g name,caller -s name -t tsv"
	assert_output - <<-'END'
		name	caller	total	self
		a		5000	4000
		b		4000	1001
		c	b	2999	2999
		w		1000	1000
		x		10000	10000
		y		18000	18000
		z	a	1000	1000
	END
	python3 - >y.json <<-'END'
		import json, random
		random.seed(3)
		events, now = [], 0
		def event(ph, name, ts, **more):
		    events.append({"ph": ph, "name": name, "pid": 1, "tid": tid, "ts": ts, **more})
		for i in range(30000):
		    # a B, perhaps one in it, and X that begin inside of them; nothing begins before all ended
		    tid, end = i % 3, now + random.randrange(5, 40)
		    inner = random.randrange(1, end - now - 1) if i % 2 else None
		    last = end
		    event("B", f"b{i % 5}", now)
		    if inner:
		        event("B", "in", now + inner)
		        event("E", "in" if i % 4 > 1 else "", end - 1)
		    for n in range(i % 4):
		        ts, dur = random.randrange(now, end), random.choice((0, 1, 3, 30))
		        # a B that begins in an X ends before the X
		        if inner and ts <= now + inner < ts + dur < end:
		            continue
		        event("X", f"x{n}", ts, dur=dur, args={"i": i})
		        last = max(last, ts + dur)
		    event("E", f"b{i % 5}", end)
		    now = last + 1
		print(json.dumps(events))
	END
	python3 -c '
import collections, json, sys
total, open_ = collections.Counter(), collections.defaultdict(list)
for e in sorted(json.load(open("y.json")), key=lambda e: e["ts"]):
    if e["ph"] == "X":
        total[e["name"]] += e["dur"] * 1000
    elif e["ph"] == "B":
        open_[e["tid"]].append(e)
    else:
        b = open_[e["tid"]].pop()
        total[b["name"]] += (e["ts"] - b["ts"]) * 1000
for name in sorted(total):
    print(name, total[name], sep="\t")' >want
	run -0 --separate-stderr trdecode -o s y.json
	assert_equal "$stderr" ''
	trencode -q -t ndjson -c name,dur s | jq -sr 'map(select(.dur != null)) | group_by(.name)[] | [.[0].name, (map(.dur) | add)] | @tsv' | diff want -
	for to in chrome perfetto; do
		trencode -q -t $to -o copy s
		trdecode copy | trencode -q -t ndjson -c name,dur | jq -sr 'map(select(.dur != null)) | group_by(.name)[] | [.[0].name, (map(.dur) | add)] | @tsv' | diff want - || return
	done
}

@test "a pid that is text names the process, a tid that is text the thread" {
	cat >x.json <<-'EOF'
		[{"ph":"X","pid":"Spans","tid":"s1","ts":1,"dur":2,"name":"a"},
		{"ph":"X","pid":"Traces","tid":"s1","ts":1,"dur":2,"name":"b"},
		{"ph":"X","pid":"Third","tid":"s2","ts":1,"dur":2,"name":"c"},
		{"ph":"M","pid":"Third","name":"process_name","args":{"name":"a name of its own"}}]
	EOF
	trdecode -q x.json | trencode -q -t chrome -o y.json
	jq -r '.traceEvents[] | select(.ph == "M") | "\(.name) \(.args.name)"' y.json | sort >names
	diff - names <<-'EOF'
		process_name Spans
		process_name Traces
		process_name a name of its own
		thread_name s1
		thread_name s1
		thread_name s2
	EOF
}

@test "clang and PyTorch record when a trace began: several files meet on one time line" {
	local x='{"name":"a","ph":"X","pid":1,"tid":1,"ts":5,"dur":2}'
	echo "{\"traceEvents\":[$x],\"beginningOfTime\":1796034223338934}" >a.json
	echo "{\"baseTimeNanoseconds\":1796034223338934100,\"traceEvents\":[${x/:\"a\"/:\"b\"}]}" >b.json
	times() {
		trdecode "$@" | trencode -q -t csv -c name,time,dur | sed 1d
	}
	run -0 times a.json b.json
	assert_output $'a,1796034223338939000,2000\nb,1796034223338939100,2000'
	# saved ones, too
	trdecode -o a.trs a.json
	trdecode -o b.trs b.json
	run -0 times a.trs b.trs
	assert_output $'a,1796034223338939000,2000\nb,1796034223338939100,2000'
	run -0 times --align=start a.json b.json
	[[ ${lines[0]#*,} == "${lines[1]#*,}" ]]
	# a single one has the times of the file, and its wall time
	run -0 times a.json
	assert_output a,5000,2000
	run -0 times --clock=wall a.json
	assert_output a,1796034223338939000,2000
	# with logs that have the time of day
	echo '1796034223.338940 getpid() = 7 <0.000001>' >s.log
	run -0 times a.json s.log
	assert_output $'a,1796034223338939000,2000\ngetpid,1796034223338940000,1000'
	# a file without it does not meet
	echo "[$x]" >c.json
	run -2 trdecode -o x.trs a.json c.json
	assert_output --partial 'c.json: its clock (trace) and the clock of a.json (wall) cannot be compared'
	run -0 times --align=start a.json c.json
	# what is written has the same ts and member, and is read as the same times
	for clock in '' --clock=wall; do
		trdecode $clock a.json | trencode -q -t chrome -o again.json
		run -0 jq -c '[.beginningOfTime, (.traceEvents[] | select(.ph == "X") | .ts)]' again.json
		assert_output '[1796034223338934,5]'
		run -0 times --clock=wall again.json
		assert_output a,1796034223338939000,2000
	done
	# what is no time
	for began in '"x"' -5 1e30 99999999999999999999 null '{}'; do
		echo "{\"traceEvents\":[$x],\"beginningOfTime\":$began}" >d.json
		run -0 --separate-stderr times d.json
		assert_output a,5000,2000
		[[ $stderr == 'trdecode: d.json: 0x'*': beginningOfTime is no whole number of us since 1970: '*'; the trace has no wall time' ]]
	done
	for began in 1796034223338934100.5 -7; do
		echo "{\"traceEvents\":[$x],\"baseTimeNanoseconds\":$began}" >d.json
		run -0 --separate-stderr times d.json
		assert_output a,5000,2000
		[[ $stderr == *": baseTimeNanoseconds is no whole number of ns since 1970: $began; the trace has no wall time" ]]
	done
	# 0: there is none
	echo "{\"traceEvents\":[$x],\"baseTimeNanoseconds\":0}" >d.json
	run -0 --separate-stderr times d.json
	assert_output a,5000,2000
	[[ $stderr == *': baseTimeNanoseconds is 0: the trace has no wall time' ]]
	# the same number with an exponent
	echo "{\"traceEvents\":[$x],\"baseTimeNanoseconds\":1.796034223338934100e18}" >d.json
	run -0 times --clock=wall d.json
	assert_output a,1796034223338939100,2000
	# a trace of clang 14
	run -0 times "$DATA/chrome/clang14.json.gz"
	[ "${#lines[@]}" = "$(zcat "$DATA/chrome/clang14.json.gz" | jq '[.traceEvents[] | select(.ph == "X")] | length')" ]
	run -0 times --clock=wall "$DATA/chrome/clang14.json.gz"
	[[ ${lines[0]} == *",$(zcat "$DATA/chrome/clang14.json.gz" | jq '.beginningOfTime')000,"* ]]
}

@test "clang's asynchronous events of one id: each end belongs to the begin before it in the file" {
	# as clang 19 writes them: ended first, first; a.h is in b.h, c.h after both
	cat >source.json <<-'END'
		{"traceEvents":[
		{"pid":9,"tid":9,"ts":10,"cat":"Source","ph":"b","id":0,"name":"Source","args":{"detail":"a.h"}},
		{"pid":9,"tid":9,"ts":15,"cat":"Source","ph":"e","id":0,"name":"Source"},
		{"pid":9,"tid":9,"ts":10,"cat":"Source","ph":"b","id":0,"name":"Source","args":{"detail":"b.h"}},
		{"pid":9,"tid":9,"ts":30,"cat":"Source","ph":"e","id":0,"name":"Source"},
		{"pid":9,"tid":9,"ts":30,"cat":"Source","ph":"b","id":0,"name":"Source","args":{"detail":"c.h"}},
		{"pid":9,"tid":9,"ts":34,"cat":"Source","ph":"e","id":0,"name":"Source"},
		{"pid":9,"tid":9,"ts":0,"ph":"X","dur":40,"name":"Frontend"}],
		"beginningOfTime":1796034223338934}
	END
	run -0 pipe "trdecode -q source.json | trencode -q -t ndjson | jq -r '[.args.detail, .time, .dur, .name] | @csv' | sort | tr -d '\\\"'"
	assert_output - <<-'END'
		a.h,10000,5000,Source
		b.h,10000,20000,Source
		c.h,30000,4000,Source
		,0,40000,Frontend
	END
	# other ends belong to the last begin
	jq -c '.traceEvents |= [.[0], .[2], .[1], .[3]]' source.json >nested.json
	run -0 pipe "trdecode -q nested.json | trencode -q -t ndjson | jq -r '[.args.detail, .time, .dur, .name] | @csv' | sort | tr -d '\\\"'"
	assert_output $'a.h,10000,20000,Source\nb.h,10000,5000,Source'
}
