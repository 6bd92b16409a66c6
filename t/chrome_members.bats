# What Trace Event JSON has beside its events: metadata events, and members next to traceEvents.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# As PyTorch writes it: members before and after the events; a process without events, a thread
# without events, ids that are repeated, changed back, or no numbers.
make_input() {
	cat >x.json <<-'END'
		{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A100 \"x\"\u00e4", "f": 1.50, "n": null, "l": [[], {}, [1, {"a": [true, false]}]]}],
		"distributedInfo": {"backend": "nccl", "rank": 0}, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1732107141000000000,
		"traceEvents": [
		{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 10, "tid": 11, "ts": 5000.25, "dur": 40.5, "args": {"n": 1}},
		{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 10, "tid": 11, "ts": 5010, "dur": 4},
		{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5020, "dur": 9},
		{"name": "process_name", "ph": "M", "ts": 4999, "pid": 10, "tid": 0, "args": {"name": "python"}},
		{"name": "process_labels", "ph": "M", "ts": 4999, "pid": 10, "tid": 0, "args": {"labels": "CPU"}},
		{"name": "process_sort_index", "ph": "M", "pid": 10, "tid": 0, "args": {"sort_index": -3}},
		{"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "gpu"}},
		{"name": "process_labels", "ph": "M", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
		{"name": "process_sort_index", "ph": "M", "pid": 0, "tid": 0, "args": {"sort_index": 5000000}},
		{"args": {"name": "idle gpu"}, "name": "process_name", "pid": 1, "ph": "M", "tid": 0},
		{"args": {"labels": "GPU 1"}, "name": "process_labels", "pid": 1, "ph": "M", "tid": 0},
		{"name": "thread_name", "ph": "M", "pid": 10, "tid": 11, "args": {"name": "main"}},
		{"name": "thread_sort_index", "ph": "M", "pid": 10, "tid": 11, "args": {"sort_index": 1}},
		{"name": "thread_sort_index", "ph": "M", "pid": 10, "tid": 11, "args": {"sort_index": 1}},
		{"name": "thread_sort_index", "ph": "M", "pid": 10, "tid": 11, "args": {"sort_index": 2.5}},
		{"name": "thread_name", "ph": "M", "pid": 10, "tid": 12, "args": {"name": "no events"}},
		{"name": "thread_sort_index", "ph": "M", "pid": 10, "tid": 12, "args": {"sort_index": 9007199254740993}},
		{"name": "num_cpus", "ph": "M", "args": {"number": 8, "more": {"a": [1, "\ttab"]}}},
		{"name": "empty", "ph": "M", "pid": 10, "args": {}}
		], "traceName": "x.json", "otherData": {"version": "1.2", "nested": {"a": []}}, "metadata": {"clock-domain": "MONO", "": {"": 1}},
		"systemTraceEvents": "# tracer: nop\n#\n"}
	END
}

# Print what the files have beside their events, read by Python: each different metadata event, the
# last of each kind, and each member.
beside() {
	python3 - "$@" <<-'END'
		import json, sys
		own = {"clock", "origin", "unit", "part", "kernel_category"}
		for name in sys.argv[1:]:
		    d = json.load(open(name))
		    d = {"traceEvents": d} if isinstance(d, list) else d
		    events, last = set(), {}
		    for e in d["traceEvents"]:
		        if e["ph"] == "M":
		            # the tid of a process's name has no meaning
		            key = e["name"], e.get("pid"), None if e["name"] == "process_name" else e.get("tid")
		            args = json.dumps(e["args"], sort_keys=True)
		            events.add((str(key), args))
		            last[str(key)] = args
		    lines = [" ".join(e) for e in events] + [f"last {k} {v}" for k, v in last.items()]
		    for k, v in d.items():
		        if k == "otherData":
		            v = {a: b for a, b in v.items() if a not in own}
		        if k not in ("traceEvents", "samples", "stackFrames"):
		            lines.append(k + " " + json.dumps(v, sort_keys=True))
		    print("\n".join(sorted(lines)))
	END
}

times() {
	jq -c '.traceEvents[] | select(.ph == "X") | [.name, .ts, .dur]' "$1" | sort
}

@test "metadata events, members and times of JSON are those of its copy: in pipes, segments, saved streams" {
	make_input
	trdecode x.json >s
	trencode -t chrome -o direct.json s
	trfilter 'dur > 0' s | trsym | trencode -t chrome -o filtered.json
	trdecode --segment 64K x.json | trdecode - | trencode -t chrome -o segments.json
	trdecode direct.json | trencode -t chrome -o again.json
	beside x.json >want
	for f in direct filtered segments again; do
		beside $f.json | diff want - || return
		diff <(times x.json) <(times $f.json) || return
	done
	# only the process with the kernel: what describes the others is harmless
	trfilter 'pid == 0' s | trencode -t chrome -o one.json
	beside one.json | grep -v thread_name >got
	diff <(grep -v thread_name want) got
}

@test "members of events that the stream has no place for are named and counted" {
	cat >x.json <<-'END'
		{"traceEvents": [
		{"ph": "X", "ts": 70, "dur": 5, "pid": 1, "tid": 2, "name": "t", "tts": 1, "tdur": 2, "cname": "good", "sf": 1, "zzz": {"a": [3]}},
		{"ph": "X", "ts": 71, "dur": 2, "pid": 1, "tid": 2, "name": "u", "tts": 4, "cat": "c", "args": {"tts": 5}},
		{"ph": "i", "ts": 72, "s": "t", "pid": 1, "tid": 2, "name": "v", "sf": 1, "cpu": 0},
		{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "n"}}
		], "stackFrames": {"1": {"name": "f"}}}
	END
	run -0 errors trdecode x.json -o x.trs
	assert_output 'trdecode: x.json: 2 events have members that are left out: tts, tdur, cname, zzz, sf'
	run -0 errors trdecode -q x.json -o x.trs
	assert_output ''
	# a copy of the copy has none of them
	trencode -q -t chrome -o copy.json x.trs
	run -0 errors trdecode copy.json -o x.trs
	assert_output ''
	# the names are bounded
	python3 -c 'print([{"ph": "i", "ts": 1, "pid": 1, "name": "e", **{f"m{i}": i for i in range(20)}}])' | tr "'" '"' >x.json
	run -0 errors trdecode x.json -o x.trs
	assert_output 'trdecode: x.json: 1 event has members that are left out: m0, m1, m2, m3, m4, m5, m6, m7, ...'
}

@test "names of processes and threads are those of the file: none is made of another one" {
	local x='"ph":"X","ts":1,"dur":1,"name":"a"'
	name() { # name WHAT IDS NAME
		echo "{\"ph\":\"M\",\"name\":\"$1_name\",$2,\"args\":{\"name\":\"$3\"}}"
	}
	echo "[$(name thread '"pid":1,"tid":1' T),{$x,\"pid\":1,\"tid\":1}]" >thread.json
	echo "[{$x,\"pid\":1,\"tid\":2},$(name process '"pid":1' P),{$x,\"pid\":1,\"tid\":1}]" >process.json
	# the event of a process is of another thread, or of one that comes later; two names; the same names
	echo "[$(name process '"pid":1,"tid":0' P),{$x,\"pid\":1,\"tid\":2},{$x,\"pid\":1,\"tid\":0},
		$(name process '"pid":2,"tid":9' old),$(name process '"pid":2,"tid":9' new),{$x,\"pid\":2,\"tid\":9},
		$(name process '"pid":3,"tid":3' same),$(name thread '"pid":3,"tid":3' same),$(name thread '"pid":3,"tid":4' same),
		{$x,\"pid\":3,\"tid\":5},{$x,\"pid\":3,\"tid\":3},{$x,\"pid\":3,\"tid\":4},$(name process '"pid":4,"tid":4' idle)]" >both.json
	metadata() {
		jq -cS '(.traceEvents? // .)[] | select(.ph == "M")' "$@" | sort
	}
	for f in thread process both; do
		trdecode -q $f.json | tee s | trencode -t chrome -o copy.json
		metadata $f.json | diff - <(metadata copy.json) || return
		# nothing is lost on the way
		diff <(trencode -t tsv -c tid,pid,comm s | sort) <(trdecode -q copy.json | trencode -t tsv -c tid,pid,comm | sort) || return
	done
	# a process of which the file has no name has none
	trdecode -q thread.json | trencode -t perfetto -o copy.pftrace
	run -0 protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <copy.pftrace
	assert_output --partial 'thread_name: "T"'
	refute_output --partial process_name
}

@test "an array of events has metadata events too; without members times begin at the first event" {
	jq -c '[.traceEvents[] | select(.ph != "M" or .args != {})]' <(make_input; cat x.json) >y.json
	trdecode y.json | trencode -t chrome -o copy.json
	diff <((beside y.json; echo 'displayTimeUnit "ns"'; echo 'otherData {}') | LC_ALL=C sort) <(beside copy.json)
	diff <(printf '["a",0,40.5]\n["b",9.75,4]\n["k",19.75,9]\n') <(times copy.json)
}

@test "what describes a process follows its number, however it is written, and where inputs share it" {
	cat >x.json <<-'END'
		[{"ph": "X", "name": "a", "pid": "Spans", "tid": -1, "ts": 1, "dur": 1},
		{"ph": "M", "name": "thread_sort_index", "pid": "Spans", "tid": -1, "args": {"sort_index": 4}},
		{"ph": "M", "name": "process_sort_index", "pid": "Spans", "args": {"sort_index": 3}}]
	END
	trdecode -q x.json | trencode -t chrome -o copy.json
	jq -r '.traceEvents | [.[] | select(.ph == "X")][0] as $x | .[] | select(.name | endswith("sort_index")) |
		[.name, .args.sort_index, .pid == $x.pid, (.tid // $x.tid) == $x.tid] | @tsv' copy.json | sort >got
	diff <(printf 'process_sort_index\t3\ttrue\ttrue\nthread_sort_index\t4\ttrue\ttrue\n') got
	make_input
	sed -e 's/GPU 0/GPU of rank 1/' -e 's/"rank": 0/"rank": 1/' -e 's/"name": "k"/"name": "k1"/' x.json >y.json
	run -0 --separate-stderr pipefail 'trdecode x.json y.json | trencode -t chrome -o both.json'
	assert_equal "$stderr" "trencode: 1 member beside the events is left out: the inputs have different ones, or they are larger than 16 MiB"
	# each kernel is in the process with its label
	jq -r '[.traceEvents[] | select(.name == "process_labels") | {key: (.pid | tostring), value: .args.labels}] | from_entries as $l |
		input.traceEvents[] | select(.name | startswith("k")) | [.name, $l[.pid | tostring]] | @tsv' both.json both.json | sort >got
	diff <(printf 'k\tGPU 0\nk1\tGPU of rank 1\n') got
	run -0 jq -c '[.schemaVersion, .distributedInfo, .baseTimeNanoseconds, .displayTimeUnit]' both.json
	assert_output '[1,null,1732107141000000000,"ms"]'
}

@test "each part of a split trace has it" {
	make_input
	trdecode x.json | trencode -q -t chrome --split 10us -o part.json
	beside x.json | grep -v -e "'thread_name', 1[01], 1[01]" -e "'process_name'" >want
	for f in part.json.*; do
		beside "$f" | grep -v -e "'thread_name', 1[01], 1[01]" -e "'process_name'" | diff want - || return
	done
}

@test "times that members explain are not moved: below 0, from a filter, by an offset alone" {
	cat >x.json <<-'END'
		{"baseTimeNanoseconds": 1000000000, "traceEvents": [
		{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": -5, "dur": 2}, {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 7, "dur": 1}]}
	END
	trdecode -q x.json >s
	run -0 --separate-stderr trencode -t chrome -o copy.json s
	assert_equal "$stderr" ''
	diff <(times x.json) <(times copy.json)
	trdecode copy.json 2>/dev/null | trencode -t chrome | times /dev/stdin | diff <(times x.json) -
	trfilter 'name == "b"' s | trencode -t chrome | times /dev/stdin | diff <(echo '["b",7,1]') -
	trdecode -q --offset x.json=1ms x.json | trencode -t chrome | times /dev/stdin | diff <(printf '["a",995,2]\n["b",1007,1]\n') -
}

@test "a scrubbed trace has none of it" {
	make_input
	trdecode x.json >s
	for what in args names paths; do
		run -0 --separate-stderr pipefail "trfilter --scrub $what 1 s | trencode -t chrome"
		for word in nccl A100 GPU MONO tracer sort_index; do
			refute_output --partial "$word"
		done
		assert_regex "$stderr" 'left out, as it may contain (names|values): .*chrome.metadata of the source'
	done
}

@test "members and metadata events of any size and nesting, twice, and cut: bounded, and the rest is copied" {
	python3 - <<-'END'
		import json
		events = '"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}%s]'
		m = ',{"ph":"M","name":"process_labels","pid":1,"args":{"labels":"%s"}}'
		big = '"big":[' + ",".join('"%063d"' % i for i in range(80000)) + "]"
		open("big.json", "w").write('{"first":1,' + big + "," + events % "" + ',"text":"' + "x" * (5 << 20) + '","last":2}')
		open("events.json", "w").write("{" + events % (m % "GPU" + m % ("y" * (5 << 20)) + m % "CPU") + "}")
		open("many.json", "w").write("{" + events % "".join(
		    ',{"ph":"M","name":"thread_sort_index","pid":1,"tid":%d,"args":{"sort_index":%d}}' % (i, i) for i in range(60000)) + "}")
		open("deep.json", "w").write('{"deep":' + "[" * 250 + "]" * 250 + "," + events % "" + ',"other":1}')
		open("deeper.json", "w").write('{"one":1,"deep":' + "[" * 1100 + "]" * 1100 + "," + events % "" + ',"other":1}')
		open("twice.json", "w").write('{"a":1,"a":{"b":2},' + events % "" + ',"otherData":{"c":1},"otherData":{"c":2,"d":3},"a":[3]}')
		open("cut.json", "w").write("{" + events % "" + ',"whole":1,"cut":{"a":[1,2')
		open("fault.json", "w").write('{"whole":1,"fault":[1,2}' + "," + events % "" + ',"after":{"a":1}}')
	END
	run -0 --separate-stderr trdecode -o s big.json
	assert_equal "$stderr" "trdecode: big.json: 2 members beside the events are left out: all are larger than 4 MiB"
	trencode -t chrome s | jq -c 'del(.traceEvents, .otherData, .displayTimeUnit)' | diff <(echo '{"first":1,"last":2}') -
	run -0 --separate-stderr trdecode -o s events.json
	assert_equal "$stderr" "trdecode: events.json: 2 metadata events are left out: they are larger than 4 MiB"
	trencode -t chrome s | jq -c '.traceEvents[] | select(.ph == "M").args' | diff <(echo '{"labels":"GPU"}') -
	run -0 --separate-stderr trdecode -o s many.json
	assert_regex "$stderr" "^trdecode: many.json: [0-9]+ metadata events are left out: they are larger than 4 MiB\$"
	trencode -t chrome s | jq -c '[.traceEvents[] | select(.ph == "M")] | [length > 40000, all(.tid == .args.sort_index)]' | diff <(echo '[true,true]') -
	trdecode deep.json | trencode -t chrome | python3 -c 'import json, sys; d = json.load(sys.stdin); assert str(d["deep"]) == "[" * 250 + "]" * 250 and d["other"] == 1'
	run -1 --separate-stderr trdecode -o s deeper.json
	trencode -t chrome s 2>/dev/null | jq -c '[.one, .deep, (.traceEvents | length)]' | diff <(echo '[1,null,1]') -
	trdecode twice.json | trencode -t chrome -o copy.json
	diff <((beside twice.json; echo 'displayTimeUnit "ns"') | LC_ALL=C sort) <(beside copy.json)
	run -1 --separate-stderr trdecode -o s cut.json
	run -1 trencode -q -t chrome -o copy.json s
	run -0 jq -c '[.whole, .cut, (.traceEvents | length)]' copy.json
	assert_output '[1,null,1]'
	run -1 --separate-stderr trdecode -o s fault.json
	run -1 trencode -q -t chrome -o copy.json s
	run -0 jq -c '[.whole, .fault, .after, (.traceEvents | length)]' copy.json
	assert_output '[1,null,{"a":1},1]'
}
