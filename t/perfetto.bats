# Traces of Perfetto in. Most are made from text by protoc, with a .proto of their own.

load lib
load encode

setup() {
	need protoc
	cd "$BATS_TEST_TMPDIR" || return
}

# trace FILE: make it of packets in protoc's text on stdin; each has the sequence 1 unless it has one
trace() {
	sed -E 's/^[[:blank:]]*\{/packet {/; /trusted_packet_sequence_id/!s/^packet \{/&trusted_packet_sequence_id: 1 /' |
		protoc --encode=m.Trace -I "$ROOT/t/proto" perfetto.proto >"$1"
}

# A thread's track 1, and track 2, of the process 7
tracks() {
	cat <<-'END'
		{ timestamp: 1 sequence_flags: 1 track_descriptor { uuid: 10 process { pid: 7 process_name: "app" } } }
		{ timestamp: 1 track_descriptor { uuid: 1 parent_uuid: 10 thread { pid: 7 tid: 8 thread_name: "worker" } } }
		{ timestamp: 1 track_descriptor { uuid: 2 parent_uuid: 10 name: "jobs" } }
	END
}

# rows FILE: the events as text, without the spaces before the time
rows() {
	trdecode -q "$1" | trencode -q -t text | sed 's/^ *//'
}

@test "calls of threads and of other tracks, instants, counters; packets in any order" {
	{
		echo '{ timestamp: 500 track_event { type: END track_uuid: 1 } }'
		echo '{ timestamp: 300 track_event { type: COUNTER track_uuid: 3 counter_value: 5 } }'
		tracks
		cat <<-'END'
			{ timestamp: 100 track_event { type: BEGIN track_uuid: 1 name: "outer" categories: "a" categories: "b" } }
			{ timestamp: 200 track_event { type: BEGIN track_uuid: 1 name: "inner" debug_annotations { name: "n" uint_value: 3 } } }
			{ timestamp: 250 track_event { type: END track_uuid: 1 debug_annotations { name: "r" string_value: "x" } } }
			{ timestamp: 150 track_event { type: BEGIN track_uuid: 2 name: "job" } }
			{ timestamp: 600 track_event { type: END track_uuid: 2 } }
			{ timestamp: 260 track_event { type: INSTANT track_uuid: 1 name: "mark" categories: "c" } }
			{ timestamp: 1 track_descriptor { uuid: 3 name: "load" counter { unit_name: "x" unit_multiplier: 10 } } }
			{ timestamp: 350 track_event { type: COUNTER track_uuid: 3 double_counter_value: 0.25 } }
			{ timestamp: 700 track_event { type: END track_uuid: 2 } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g name,type,comm,tid,pid -c count,total,self -t tsv"
	assert_line $'outer\tend\tworker\t8\t7\t1\t400\t350'
	assert_line $'inner\tend\tworker\t8\t7\t1\t50\t50'
	assert_line $'job\tasync end\tapp\t7\t7\t1\t450\t450'
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g group,type -c count -t tsv"
	assert_line $'a,b\tbegin\t1'
	assert_line $'c\tmark\t1'
	run -0 rows x.pftrace
	assert_line '0.000000200 8 worker inner(3) {'
	assert_line '0.000000300 - - load value=50'
	assert_line '0.000000350 - - load value=2.5'
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c 'select(.name == \"inner\").args'"
	assert_output '{"n":3,"r":"x"}'
	run -0 errors trdecode x.pftrace
	assert_output 'trdecode: x.pftrace: 1 end of calls without a begin was left out'
}

@test "names of processes: of tracks, of the process tree, of descriptors" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 5 process_tree { processes { pid: 20 cmdline: "/bin/tree" } threads { tid: 20 tgid: 20 name: "main" } threads { tid: 21 tgid: 20 name: "io" } } }
			{ timestamp: 6 track_descriptor { uuid: 3 thread { pid: 20 tid: 20 thread_name: "main" } } }
			{ timestamp: 10 track_event { type: INSTANT track_uuid: 1 name: "i" } }
			{ timestamp: 11 track_event { type: INSTANT track_uuid: 3 name: "j" } }
		END
	} | trace x.pftrace
	trdecode -q x.pftrace >x.trs
	run -0 pipefail "trencode -q -t chrome x.trs | jq -r '.traceEvents[] | select(.ph == \"M\") | \"\(.name) \(.pid) \(.args.name)\"' | sort"
	assert_output $'process_name 20 /bin/tree\nprocess_name 7 app\nthread_name 20 main\nthread_name 7 worker'
	run -0 pipefail "trencode -q -t perfetto x.trs | protoc --decode=m.Trace -I '$ROOT/t/proto' perfetto.proto | grep -oE '(process|thread)_name: .*' | sort"
	assert_output $'process_name: "/bin/tree"\nprocess_name: "app"\nthread_name: "main"\nthread_name: "worker"'
}

@test "annotations: numbers, texts, lists and dictionaries, the older nested values" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 5 sequence_flags: 2
			  interned_data { debug_annotation_names { iid: 1 name: "far" } debug_annotation_names { iid: 9000000000 name: "neg" }
			    debug_annotation_string_values { iid: 4 name: "kept" } event_names { iid: 1 name: "e" } }
			  track_event { type: INSTANT track_uuid: 1 name_iid: 1
			    debug_annotations { name_iid: 9000000000 int_value: -7 } debug_annotations { name_iid: 1 string_value_iid: 4 }
			    debug_annotations { name: "p" pointer_value: 255 } debug_annotations { name: "b" bool_value: true }
			    debug_annotations { name: "f" double_value: 0.5 } debug_annotations { name: "json" legacy_json_value: "[1]" }
			    debug_annotations { name: "d" dict_entries { name: "k" int_value: -4 }
			      dict_entries { name: "l" array_values { uint_value: 1 } array_values { string_value: "z" } } }
			    debug_annotations { name: "o" nested_value { nested_type: 1 dict_keys: "x" dict_values { int_value: 6 }
			      dict_keys: "y" dict_values { nested_type: 2 array_values { string_value: "w" } } } } } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode x.pftrace | trencode -q -t ndjson | jq -c .args"
	assert_output '{"neg":-7,"far":"kept","p":"0xff","b":true,"f":0.5,"json":"[1]","d":{"k":-4,"l":[1,"z"]},"o":{"x":6,"y":["w"]}}'
}

# lists KIND LEVELS: the annotation "a" of lists around 5, of the kind array or of the older nested
lists() {
	local i open='array_values { ' value=uint_value
	printf 'debug_annotations { name: "a" '
	if [[ $1 == older ]]; then
		printf 'nested_value { '
		open="nested_type: 2 $open" value=int_value
	fi
	for ((i = 0; i < $2; i++)); do printf '%s' "$open"; done
	printf '%s: 5' $value
	for ((i = 0; i < $2; i++)); do printf ' }'; done
	[[ $1 == array ]] || printf ' }'
	printf ' }'
}

@test "annotations are nested up to 64 deep; lists and dictionaries below are counted" {
	local kind n
	for kind in array older; do
		{
			tracks
			for n in 33 64 65 200; do
				printf '{ timestamp: %d track_event { type: INSTANT track_uuid: 1 name: "e" ' "$n"
				lists $kind "$n"
				echo ' } }'
			done
		} | trace x.pftrace
		trdecode x.pftrace 2>err | trencode -q -t ndjson >rows
		grep -qx 'trdecode: x.pftrace: 2 values of annotations are nested more than 64 deep: their contents are left out' err
		run -0 jq -c '.args.a | [([paths | length] | max), (.. | scalars)]' rows
		assert_output $'[33,5]\n[64,5]\n[64,null]\n[64,null]'
	done
}

@test "nested annotations that trencode writes are nested: the same JSON, types and rows" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1000 track_event { type: INSTANT track_uuid: 1 name: "i" debug_annotations { name: "d" dict_entries { name: "k" int_value: -3 }
			    dict_entries { name: "arr" array_values { bool_value: true } array_values { double_value: 2.5 } array_values { string_value: "s\"\303\274\n" } array_values { uint_value: 18446744073709551615 } }
			    dict_entries { name: "in" dict_entries { name: "x" legacy_json_value: "null" } dict_entries { name: "y" array_values { array_values { uint_value: 7 } } } } } } }
		END
		printf '{ timestamp: 2000 track_event { type: INSTANT track_uuid: 1 name: "deep" debug_annotations { name: "a" '
		for ((i = 0; i < 32; i++)); do printf 'array_values { '; done
		printf 'uint_value: 5'
		for ((i = 0; i < 32; i++)); do printf ' }'; done
		echo ' } } }'
	} | trace x.pftrace
	trdecode -q x.pftrace >x.trs
	trencode -q -t perfetto -o y.pftrace x.trs
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <y.pftrace >decoded
	# 3 members, 2 of "in"; 4 elements and 2 of "y"; the deep list is a text
	assert_equal "$(grep -c 'dict_entries {' decoded)" 5
	assert_equal "$(grep -c 'array_values {' decoded)" 6
	run -0 grep -E '^ {6,}.*_value: ' decoded
	assert_line --regexp 'int_value: -3$'
	assert_line --regexp 'bool_value: true$'
	assert_line --regexp 'double_value: 2.5$'
	assert_line --regexp 'uint_value: 18446744073709551615$'
	assert_line --regexp 'string_value: "s\\"\\303\\274\\n"$'
	trdecode -q y.pftrace | trfilter -q 'name != "deep"' | trencode -q -t ndjson | diff <(trfilter -q 'name != "deep"' x.trs | trencode -q -t ndjson) -
}

@test "tracks that are not of a thread keep their names, with and without a thread" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1 track_descriptor { uuid: 3 parent_uuid: 1 name: "async track" } }
			{ timestamp: 1 track_descriptor { uuid: 4 name: "global track" } }
			{ timestamp: 1000 track_event { type: BEGIN track_uuid: 2 name: "a" } }
			{ timestamp: 1100 track_event { type: BEGIN track_uuid: 3 name: "b" } }
			{ timestamp: 1200 track_event { type: INSTANT track_uuid: 4 name: "g" } }
			{ timestamp: 1300 track_event { type: INSTANT track_uuid: 3 name: "i" } }
			{ timestamp: 1400 track_event { type: END track_uuid: 2 } }
			{ timestamp: 1500 track_event { type: END track_uuid: 3 } }
			{ timestamp: 1600 track_event { type: BEGIN track_uuid: 4 name: "h" } }
			{ timestamp: 1700 track_event { type: END track_uuid: 4 } }
			{ timestamp: 1800 track_event { type: BEGIN track_uuid: 1 name: "own" } }
			{ timestamp: 1900 track_event { type: END track_uuid: 1 } }
		END
	} | trace x.pftrace
	# the time of each begin and instant, and the name of its track
	placed() {
		protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto | awk '
			/^    uuid:/ { uuid = $2 } /^    name:/ && uuid { sub(/^ *name: /, ""); names[uuid] = $0 } /^}/ { uuid = "" }
			$1 == "timestamp:" { time = $2 } $1 == "type:" { type = $2 } $1 == "track_uuid:" { track = $2 }
			/^}/ && track { if (type != "END") print time, names[track]; track = "" }'
	}
	placed <x.pftrace >want
	assert_equal "$(cat want)" $'1000 "jobs"\n1100 "async track"\n1200 "global track"\n1300 "async track"\n1600 "global track"\n1800 '
	trdecode -q x.pftrace | trencode -q -t perfetto -o y.pftrace
	placed <y.pftrace | diff want -
	trdecode -q y.pftrace | trencode -q -t perfetto | placed | diff want -
	diff <(trdecode -q x.pftrace | trencode -q -t ndjson -c time,type,name,pid,tid) <(trdecode -q y.pftrace | trencode -q -t ndjson -c time,type,name,pid,tid)
	# in Trace Event JSON the names are arguments
	trdecode -q x.pftrace | trencode -q -t chrome --rebase=none | jq -r '[.traceEvents[] | select(.ph | test("^[biX]$"))] | sort_by(.ts)[] | "\(.ts * 1000) \(.args.track | if . then tojson else "" end)"' | diff want -
}

@test "slices of other tracks keep the track's uuid, also nested ones; arguments keep their names; ids of calls stay" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1 track_descriptor { uuid: 11644473600000000001 parent_uuid: 10 name: "jobs" } }
			{ timestamp: 1 track_descriptor { uuid: 504403158265495552 name: "of ours" } }
			{ timestamp: 1000 track_event { type: BEGIN track_uuid: 2 name: "a" debug_annotations { name: "track_id" uint_value: 3 } } }
			{ timestamp: 1001 track_event { type: BEGIN track_uuid: 11644473600000000001 name: "b" } }
			{ timestamp: 1002 track_event { type: BEGIN track_uuid: 2 name: "in a" } }
			{ timestamp: 1003 track_event { type: INSTANT track_uuid: 2 name: "i" debug_annotations { name: "track_id" string_value: "x" } } }
			{ timestamp: 1004 track_event { type: END track_uuid: 2 } }
			{ timestamp: 1005 track_event { type: END track_uuid: 2 debug_annotations { name: "r" uint_value: 9 } } }
			{ timestamp: 1006 track_event { type: END track_uuid: 11644473600000000001 } }
			{ timestamp: 1007 trusted_packet_sequence_id: 2 track_event { type: BEGIN name: "of no track" } }
			{ timestamp: 1008 trusted_packet_sequence_id: 2 track_event { type: END } }
			{ timestamp: 1009 track_event { track_uuid: 1 name: "old" categories: "c" legacy_event { phase: 98 unscoped_id: 12 } } }
			{ timestamp: 1010 track_event { track_uuid: 1 name: "old" categories: "c" legacy_event { phase: 101 unscoped_id: 12 } } }
			{ timestamp: 1011 track_event { type: BEGIN track_uuid: 504403158265495552 name: "d" } }
			{ timestamp: 1012 track_event { type: END track_uuid: 504403158265495552 } }
		END
	} | trace x.pftrace
	# time, type, name and track of each event of TrackEvent; an end has the last name of its track
	slices() {
		protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto | awk '
			/event_names/ { of = 1 } of && $1 == "iid:" { iid = $2 } of && $1 == "name:" { names[iid] = $2; of = 0 }
			$1 == "timestamp:" { time = $2; name = track = type = "" } $1 == "type:" { type = $2 } $1 == "track_uuid:" { track = $2 }
			/^    name: / { name = $2 } $1 == "name_iid:" && /^    n/ { name = names[$2] }
			/^}/ && type && type != "INSTANT" { print time, type, name, track ? track : 0 }'
	}
	trdecode -q x.pftrace >x.trs
	trencode -q -t perfetto -o y.pftrace x.trs
	# trencode gives uuids like that of d, which gets another
	diff <(slices <x.pftrace | awk '$1 < 1009') <(slices <y.pftrace | awk '$1 < 1009')
	args() { trencode -q -t ndjson "$1" | jq -c 'select(.name != "d") | [.time, .dur, .name, .tid, .args]'; }
	args x.trs >want
	trdecode -q y.pftrace | args - | diff want -
	run -0 cat want
	assert_line '[1000,5,"a",7,{"track_id":3,"r":9,"track_id_":"0x2"}]'
	assert_line '[1001,5,"b",7,{"track_id_":"0xa1997b0b4c6a0001"}]'
	assert_line '[1003,null,"i",7,{"track_id":"x"}]'
	assert_line '[1007,1,"of no track",null,{"track_id_":"0x0"}]'
	assert_line '[1009,1,"old",8,{"track_id_":"0xc"}]'
}

@test "flows, source locations, log messages, correlation, call stacks of events" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 5 track_event { type: INSTANT track_uuid: 1 name: "out" flow_ids: 77 terminating_flow_ids: 5 terminating_flow_ids: 6 correlation_id: 9 } }
			{ timestamp: 6 sequence_flags: 2 interned_data { source_locations { iid: 3 file_name: "a.c" function_name: "f" line_number: 12 }
			    log_message_body { iid: 2 name: "hello" } }
			  track_event { type: INSTANT track_uuid: 1 name: "log" log_message { body_iid: 2 source_location_iid: 3 } } }
			{ timestamp: 7 track_event { type: INSTANT track_uuid: 1 name: "s"
			    callstack { frames { function_name: "main" } frames { function_name: "leaf" source_file: "l.c" line_number: 4 } } } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode x.pftrace | trencode -q -t ndjson | jq -c .args"
	assert_line '{"correlation_id":9,"flow_ids":77,"terminating_flow_ids":[5,6]}'
	assert_line '{"file":"a.c","function":"f","line":12,"message":"hello"}'
	assert_line '{"stack":["main","leaf"]}'
}

# flow_list: time and ids of the flows in a trace on stdin, in the order of the file
flow_list() {
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto | awk '$1 == "timestamp:" { t = $2 } $1 ~ /flow_ids:$/ { print t, $1, $2 }'
}

@test "flows come out as flows: their ids, events, begins, steps and ends" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1 track_descriptor { uuid: 3 parent_uuid: 10 thread { pid: 7 tid: 9 } } }
			{ timestamp: 1000 track_event { type: BEGIN track_uuid: 1 name: "a" flow_ids: 77 flow_ids: 18446744073709551615 } }
			{ timestamp: 1000 track_event { type: BEGIN track_uuid: 1 name: "b" flow_ids: 78 debug_annotations { name: "n" uint_value: 3 } } }
			{ timestamp: 1500 track_event { type: INSTANT track_uuid: 3 name: "i" flow_ids: 77 } }
			{ timestamp: 2000 track_event { type: END track_uuid: 1 flow_ids: 5 } }
			{ timestamp: 2000 track_event { type: END track_uuid: 1 } }
			{ timestamp: 2100 track_event { type: BEGIN track_uuid: 2 name: "job" terminating_flow_ids: 77 terminating_flow_ids: 5 } }
			{ timestamp: 2200 track_event { type: END track_uuid: 2 flow_ids: 77 flow_ids: 18446744073709551615 } }
			{ timestamp: 2300 track_event { type: INSTANT track_uuid: 3 name: "i" terminating_flow_ids: 18446744073709551615 } }
			{ timestamp: 2400 track_event { type: INSTANT track_uuid: 3 name: "i" flow_ids: 18446744073709551615 } }
		END
	} | trace x.pftrace
	flow_list <x.pftrace >want
	[ "$(wc -l <want)" = 11 ]
	trdecode -q x.pftrace >x.trs
	trencode -q -t perfetto x.trs | tee y.pftrace | flow_list | diff want -
	trdecode -q y.pftrace | trencode -q -t perfetto | flow_list | diff want -
	run -0 grep -c debug_annotations <(protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <y.pftrace)
	# n
	assert_output 1
	# in Trace Event JSON the first event of a flow is s, the others t, the last f; after that it begins again
	trencode -q -t chrome --rebase=none -o x.json x.trs
	awk '{ print (/terminating/ ? "f" : begun[$3] ? "t" : "s"), $1 / 1000, $3; begun[$3] = !/terminating/ }' want >phases
	jq -r '.traceEvents[] | select(.ph | test("^[stf]$")) | "\(.ph) \(.ts) \(.id)"' x.json |
		perl -M-warnings=portable -pe 's/0x([0-9a-f]+)/hex $1/e' | diff phases -
	# those of leaves alone are no arguments
	run -0 jq -c '.traceEvents[] | select(.args | has("flow_ids")? or has("terminating_flow_ids")?) | [.ph, .name]' x.json
	assert_output '["B","a"]
["B","b"]
["i","i"]
["b","job"]
["i","i"]
["i","i"]'
	run -0 jq -r '.traceEvents[] | select(.name == "flow" and (.derived | not)) | .ts' x.json
	assert_output $'2\n2.2\n2.2'
	# they are inside of the calls that begin and end at their time
	run -0 pipefail "trdecode -q x.json | trencode -q -t text | sed 's/^ *//'"
	assert_line --index 0 '0.000001000 8 worker a({77,18446744073709551615}) {'
	assert_line --index 1 '0.000001000 8 worker b(3, 78) {'
	assert_line --index 3 --partial '0.000002000 8 worker flow'
	assert_line --index 4 '0.000002000 8 worker b }'
}

@test "trencode -t chrome --unclosed=drop leaves out the flows of the calls that it drops" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1 track_descriptor { uuid: 3 parent_uuid: 10 thread { pid: 7 tid: 9 } } }
			{ timestamp: 1000 track_event { type: BEGIN track_uuid: 1 name: "open" flow_ids: 77 flow_ids: 5 debug_annotations { name: "n" uint_value: 3 } } }
			{ timestamp: 1100 track_event { type: BEGIN track_uuid: 1 name: "done" flow_ids: 77 debug_annotations { name: "n" uint_value: 4 } } }
			{ timestamp: 1150 track_event { type: BEGIN track_uuid: 2 name: "other" flow_ids: 77 } }
			{ timestamp: 1200 track_event { type: INSTANT track_uuid: 3 name: "i" flow_ids: 78 } }
			{ timestamp: 1300 track_event { type: END track_uuid: 1 flow_ids: 78 } }
			{ timestamp: 1400 track_event { type: BEGIN track_uuid: 3 name: "next" flow_ids: 5 terminating_flow_ids: 77 } }
			{ timestamp: 1500 track_event { type: END track_uuid: 3 } }
		END
	} | trace x.pftrace
	trdecode -q x.pftrace >x.trs
	steps() {
		trencode -q -t chrome --rebase=none "$@" x.trs >x.json
		jq -r '.traceEvents[] | select(.ph | test("^[stf]$")) | "\(.ts) \(.ph) \(.id)"' x.json | LC_ALL=C sort
	}
	run -0 steps --unclosed=drop
	assert_output $'1.1 s 0x4d\n1.2 s 0x4e\n1.3 t 0x4e\n1.4 f 0x4d\n1.4 s 0x5'
	run -0 jq -c '.traceEvents[] | select(.ph == "X") | [.name, .args]' x.json
	assert_output $'["done",{"n":4,"flow_ids":77}]\n["next",{"flow_ids":5,"terminating_flow_ids":77}]'
	run -0 steps
	assert_output $'1 s 0x4d\n1 s 0x5\n1.1 t 0x4d\n1.15 t 0x4d\n1.2 s 0x4e\n1.3 t 0x4e\n1.4 f 0x4d\n1.4 t 0x5'
}

@test "flows of Trace Event JSON come back by way of Perfetto's format" {
	cat >x.json <<-'END'
		[{"ph":"X","name":"a","ts":1,"dur":5,"pid":1},{"ph":"X","name":"b","ts":11,"dur":5,"pid":1,"tid":2},
		{"ph":"s","cat":"c","name":"go","id":7,"ts":2,"pid":1},{"ph":"t","cat":"c","name":"go","id":7,"ts":4,"pid":1,"args":{"n":3}},
		{"ph":"s","cat":"d","name":"go","id":7,"ts":3,"pid":1},{"ph":"f","bp":"e","cat":"d","name":"go","id":7,"ts":13,"pid":1,"tid":2},
		{"ph":"f","bp":"e","cat":"c","name":"go","id":7,"ts":12,"pid":1,"tid":2},{"ph":"s","cat":"c","name":"go","id":"0x7f","ts":13,"pid":1,"tid":2}]
	END
	# phase, time, thread and number of each flow
	listed() {
		jq -r '[(.traceEvents? // .)[] | select(.ph | test("^[stf]$"))] | sort_by(.ts)[] | [.ph, .ts, .tid // .pid, "\(.id) \(.cat)"] | @tsv' "$1" |
			awk -F '\t' -v OFS='\t' '{ if (!($4 in n)) n[$4] = ++k; $4 = n[$4] } 1'
	}
	listed x.json >want
	[ "$(wc -l <want)" = 6 ]
	trdecode -q x.json | trencode -q -t perfetto | trdecode -q | trencode -q -t chrome --rebase=none -o y.json
	listed y.json | diff want -
}

@test "flows of JSON with bind_id are flows of their calls; cycles add nothing; numbers stay; a part has its own flows" {
	cat >x.json <<-'END'
		[{"ph":"X","name":"a","ts":1,"dur":5,"pid":1,"bind_id":"0x77","flow_out":true},{"ph":"X","name":"b","ts":10,"dur":15,"pid":1,"tid":2,"bind_id":"0x77","flow_in":true,"flow_out":true,"args":{"n":1}},
		{"ph":"B","name":"c","ts":21,"pid":1,"tid":2,"flow_in":true,"bind_id":119},{"ph":"E","ts":22,"pid":1,"tid":2},{"ph":"X","name":"none","ts":30,"dur":1,"pid":1,"bind_id":"0x77"},
		{"ph":"s","cat":"c","name":"go","id":5,"ts":2,"pid":1},{"ph":"t","cat":"c","name":"go","id":5,"ts":4,"pid":1,"args":{"n":3}},
		{"ph":"f","bp":"e","cat":"c","name":"go","id":5,"ts":12,"pid":1,"tid":2},{"ph":"f","cat":"c","name":"go","id":5,"ts":13,"pid":1,"tid":2}]
	END
	trdecode -q x.json >x.trs
	trencode -q -t perfetto x.trs | tee x.pftrace | flow_list >flows
	assert_equal "$(awk '{ print $1, $NF }' flows | sort -n)" $'1000 119\n2000 5\n4000 5\n10000 119\n12000 5\n13000 5\n21000 119'
	# phase, time, binding point and arguments of each flow
	of() {
		jq -c '(.traceEvents? // .)[] | select(.ph | test("^[stf]$")) | [.ph, .ts, .name, .cat, .bp, .args]' "$1" | sort
	}
	{
		of x.json
		printf '["%s",%s,"flow","flow",%s,null]\n' s 1 null t 10 '"e"' f 21 '"e"'
	} | sort >want
	trencode -q -t chrome --rebase=none -o y.json x.trs
	of y.json | diff want -
	jq '.traceEvents | length' y.json >events
	jq -r '.traceEvents[] | select(.name == "flow").id' y.json | sort -u | diff <(echo 0x77) -
	for cycle in 1 2 3; do
		trdecode -q y.json | trencode -q -t perfetto | trdecode -q | trencode -q -t chrome --rebase=none -o z.json
		mv z.json y.json
		of y.json | diff want -
		jq '.traceEvents | length' y.json | diff events - || fail "cycle $cycle"
	done
	trencode -q -t chrome --split 6us -o part.json x.trs
	[ -f part.json.002 ]
	# b is cut at 13, 19 and 25 us, and has its flow in each part
	assert_equal "$(cat part.json.* | grep -cE '"ph":"[stf]"')" 10
	trencode -q -t perfetto --split 6us -o part.pftrace x.trs
	for part in part.pftrace.*; do flow_list <$part; done | awk '{ print $1, $NF }' | sort |
		diff <({ awk '{ print $1, $NF }' flows && printf '%s 119\n' 13000 19000 25000; } | sort) -
}

@test "flows of calls and instants are theirs in a copy as Trace Event JSON" {
	local flow='select(.ph | test("^[stf]$")) | [.ph, .ts, .pid, .tid // .pid, .id, .bp]'
	cat >x.json <<-'END'
		[{"ph":"X","name":"a","ts":1,"dur":5,"pid":1,"bind_id":"0x77","flow_out":true},{"ph":"X","name":"b","ts":10,"dur":5,"pid":1,"tid":2,"bind_id":"0x77","flow_in":true},
		{"ph":"i","name":"i","ts":12,"pid":3,"args":{"flow_ids":[8,9007199254740993]}},{"ph":"b","cat":"c","id":1,"name":"c","ts":13,"pid":3,"bind_id":8,"flow_in":true},{"ph":"e","cat":"c","id":1,"name":"c","ts":14,"pid":3}]
	END
	trdecode -q x.json >x.trs
	trencode -q -t ndjson x.trs >want
	trencode -q -t chrome --rebase=none -o y.json x.trs
	run -0 grep -c '"derived":true' y.json
	assert_output 5
	trdecode -q y.json | tee y.trs | trencode -q -t ndjson | diff want -
	# the same flows in a copy of the copy
	trencode -q -t chrome --rebase=none y.trs | diff y.json -
	# ids of texts, and of two files, are not those of the events: their flows stay events
	trencode -q -t chrome --json-int64=string x.trs >z.json
	run -0 jq -c '.traceEvents[] | select(.name == "flow") | [.id, .derived]' z.json
	assert_output '["0x77",true]
["0x77",true]
["0x8",null]
["0x20000000000001",null]
["0x8",true]'
	cp x.json other.json
	trdecode -q x.json other.json | trencode -q -t chrome --rebase=none -o y.json
	run -0 grep -c '"ph":"[stf]".*"derived":true' y.json
	assert_output 5
	jq -c ".traceEvents[] | $flow" y.json | sort >want
	[ "$(cut -d , -f 5 want | sort -u | wc -l)" = 6 ]
	trdecode -q y.json | trencode -q -t chrome --rebase=none | jq -c ".traceEvents[] | $flow" | sort | diff want -
	# a is cut at 4 us, b at 13 us
	trencode -q -t chrome --split 3us -o part.json x.trs
	assert_equal "$(cat part.json.* | grep -cE '"(terminating_)?flow_ids":')" 6
	assert_equal "$(cat part.json.* | grep -c '"derived":true')" 7
	# no other writer's
	echo '[{"ph":"s","cat":"flow","name":"flow","id":1,"ts":1,"pid":1},{"ph":"s","cat":"x","name":"flow","derived":true,"id":1,"ts":1,"pid":1}]' >x.json
	run -0 pipe 'trdecode -q x.json | trencode -q -t ndjson | wc -l'
	assert_output 2
}

@test "typed arguments: messages with the names of their fields, later ones with numbers" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 5 sequence_flags: 2 interned_data { source_locations { iid: 3 file_name: "a.c" function_name: "f" line_number: 12 } }
			  track_event { type: INSTANT track_uuid: 1 name: "task" task_execution { posted_from_iid: 3 } chrome_user_event { action: "Click" action_hash: 900 } } }
			{ timestamp: 6 track_event { type: INSTANT track_uuid: 1 name: "latency" chrome_latency_info { trace_id: -4 step: 2 is_coalesced: false later: "x"
			    component_info { component_type: 1 time_us: 70 } component_info { component_type: 2 time_us: 90 } } } }
			{ timestamp: 7 track_event { type: INSTANT track_uuid: 1 name: "later" later { a: 1 inner { a: 2 } inner { b: "t" } } later_bytes: "\377\001" later_text: "text" } }
			{ timestamp: 8 sequence_flags: 2 track_event { type: INSTANT track_uuid: 1 name: "none" task_execution { posted_from_iid: 4 } chrome_user_event { } } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -ac .args"
	assert_output - <<-'END'
		{"task_execution":{"posted_from":{"file":"a.c","function":"f","line":12}},"chrome_user_event":{"action":"Click","action_hash":900}}
		{"chrome_latency_info":{"trace_id":-4,"step":2,"component_info":[{"component_type":1,"time_us":70},{"component_type":2,"time_us":90}],"is_coalesced":false,"field 20":"x"}}
		{"field 1001":{"field 3":1,"field 4":[{"field 3":2},{"field 5":"t"}]},"field 1002":"\ufffd\u0001","field 1003":"text"}
		{"task_execution":{"posted_from":null},"chrome_user_event":{}}
	END
	run -0 pipefail "trdecode -q x.pftrace | trfilter -q -c 'arg.chrome_latency_info.step == 2'"
	assert_output 1
}

@test "clocks: times beyond 64 bits are no times, and do not wrap to others" {
	# of clocks 64 and 65 a unit is a second; the sums of 66 and of the last event wrap to small times
	cat <<-'END' | trace x.pftrace
		{ clock_snapshot { primary_trace_clock: 6 clocks { clock_id: 6 timestamp: 5000 } clocks { clock_id: 3 timestamp: 1000 } } }
		{ trusted_packet_sequence_id: 2 sequence_flags: 1
		  clock_snapshot { clocks { clock_id: 64 timestamp: 1 unit_multiplier_ns: 1000000000 } clocks { clock_id: 6 timestamp: 2000000000 }
		    clocks { clock_id: 65 timestamp: 2 is_incremental: true unit_multiplier_ns: 1000000000 } } }
		{ trusted_packet_sequence_id: 2 timestamp: 3 timestamp_clock_id: 64 track_event { type: INSTANT name: "four" } }
		{ trusted_packet_sequence_id: 2 timestamp: 18446744075 timestamp_clock_id: 64 track_event { type: INSTANT name: "wraps" } }
		{ trusted_packet_sequence_id: 2 timestamp: 1 timestamp_clock_id: 65 track_event { type: INSTANT name: "three" } }
		{ trusted_packet_sequence_id: 2 timestamp: 18446744074 timestamp_clock_id: 65 track_event { type: INSTANT name: "wraps" } }
		{ trusted_packet_sequence_id: 2 timestamp: 18446744073709551615 timestamp_clock_id: 65 track_event { type: INSTANT name: "two" } }
		{ timestamp: 18446744073709551000 timestamp_clock_id: 3 track_event { type: INSTANT name: "wraps" } }
		{ timestamp: 2000 timestamp_clock_id: 3 track_event { type: INSTANT name: "6000" } }
	END
	run -0 rows x.pftrace
	assert_output - <<-'END'
		trdecode: x.pftrace: 3 events with an impossible time
		0.000006000 - - 6000
		2.000000000 - - two
		3.000000000 - - three
		4.000000000 - - four
	END
}

@test "clocks: a snapshot relates them; a sequence's own clock has differences" {
	cat <<-'END' | trace x.pftrace
		{ clock_snapshot { primary_trace_clock: 6 clocks { clock_id: 6 timestamp: 1000000 } clocks { clock_id: 3 timestamp: 400000 }
		  clocks { clock_id: 1 timestamp: 1700000000001000000 } } }
		{ trusted_packet_sequence_id: 2 sequence_flags: 1 trace_packet_defaults { timestamp_clock_id: 64 }
		  clock_snapshot { clocks { clock_id: 64 timestamp: 5 is_incremental: true unit_multiplier_ns: 1000 } clocks { clock_id: 6 timestamp: 2000000 } } }
		{ timestamp: 400100 timestamp_clock_id: 3 track_event { type: INSTANT track_uuid: 4 name: "mono" } }
		{ trusted_packet_sequence_id: 2 timestamp: 10 track_event { type: INSTANT track_uuid: 4 name: "ten" } }
		{ trusted_packet_sequence_id: 2 timestamp: 10 track_event { type: INSTANT track_uuid: 4 name: "twenty" } }
		{ trusted_packet_sequence_id: 2 timestamp: 2000001 timestamp_clock_id: 6 track_event { type: INSTANT track_uuid: 4 name: "boot" } }
		{ clock_snapshot { clocks { clock_id: 6 timestamp: 3000000 } clocks { clock_id: 3 timestamp: 2400500 } } }
		{ timestamp: 2400600 timestamp_clock_id: 3 track_event { type: INSTANT track_uuid: 4 name: "later" } }
	END
	run -0 rows x.pftrace
	assert_output - <<-'END'
		0.001000100 - - mono
		0.002000001 - - boot
		0.002010000 - - ten
		0.002020000 - - twenty
		0.003000100 - - later
	END
	run -0 pipefail "trdecode --clock=wall x.pftrace | trencode -q -t text | head -n 1"
	assert_output --partial '1700000000.001000100'
}

@test "clocks without a snapshot: the kernel's are kept and counted, events of others are left out and counted" {
	event() { echo "{ timestamp: $2 $3 track_event { type: INSTANT track_uuid: 4 name: \"$1\" } }"; }
	{
		event default 100
		event kernel 200 'timestamp_clock_id: 5'
		event sequence 300 'timestamp_clock_id: 70'
		event global 400 'timestamp_clock_id: 200'
	} | trace x.pftrace
	run -0 rows x.pftrace
	assert_output $'0.000000100 - - default\n0.000000200 - - kernel'
	run -0 errors trdecode x.pftrace
	assert_output - <<-'END'
		trdecode: x.pftrace: 1 time of clocks without a snapshot was not converted
		trdecode: x.pftrace: 2 packets or events of unknown clocks were left out: the trace has no snapshot of their clocks
	END
	# with snapshots all are there; lost packets before an event of an unknown clock count it once
	{
		echo '{ clock_snapshot { clocks { clock_id: 6 timestamp: 1000 } clocks { clock_id: 5 timestamp: 2000 } clocks { clock_id: 70 timestamp: 3000 } } }'
		event kernel 2200 'timestamp_clock_id: 5'
		event sequence 3300 'timestamp_clock_id: 70'
		event global 400 'previous_packet_dropped: true timestamp_clock_id: 200'
	} | trace x.pftrace
	run -0 rows x.pftrace
	assert_output $'0.000001200 - - kernel\n0.000001300 - - sequence\n0.000001300 - - gap LOST'
	run -0 errors trdecode x.pftrace
	assert_line 'trdecode: x.pftrace: 1 packet or event of unknown clocks was left out: the trace has no snapshot of its clock'
	refute_output --partial 'not converted'
}

@test "descriptions are read whatever the clock of their packet, and interned data" {
	{
		tracks | sed 's/timestamp: 1 /timestamp: 99 timestamp_clock_id: 200 /'
		cat <<-'END'
			{ timestamp: 99 timestamp_clock_id: 200 sequence_flags: 2 interned_data { event_names { iid: 3 name: "kept" } } process_descriptor { pid: 7 process_name: "seven" } }
			{ timestamp: 99 timestamp_clock_id: 70 process_tree { processes { pid: 20 cmdline: "tree" } threads { tid: 21 tgid: 20 name: "io" } } }
			{ timestamp: 99 timestamp_clock_id: 70 track_descriptor { uuid: 5 thread { pid: 20 tid: 21 } } }
			{ trusted_packet_sequence_id: 2 timestamp: 99 timestamp_clock_id: 200 thread_descriptor { pid: 30 tid: 31 thread_name: "old" } }
			{ timestamp: 5 sequence_flags: 2 track_event { type: INSTANT track_uuid: 1 name_iid: 3 } }
			{ timestamp: 6 track_event { type: INSTANT track_uuid: 5 name: "b" } }
			{ trusted_packet_sequence_id: 2 timestamp: 7 track_event { type: INSTANT name: "c" } }
			{ timestamp: 8 timestamp_clock_id: 200 track_event { type: INSTANT track_uuid: 1 name: "d" } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode x.pftrace 2>err | trencode -q -t csv -c time,pid,tid,comm,name --no-header"
	assert_output $'5,7,8,worker,kept\n6,20,21,io,b\n7,30,31,old,c'
	run -0 cat err
	assert_output 'trdecode: x.pftrace: 1 packet or event of unknown clocks was left out: the trace has no snapshot of its clock'
}

@test "a packet that needs state which was lost is left out, and is a gap" {
	cat <<-'END' | trace x.pftrace
		{ timestamp: 10 sequence_flags: 2 track_event { type: INSTANT track_uuid: 1 name_iid: 1 } }
		{ timestamp: 11 sequence_flags: 1 interned_data { event_names { iid: 1 name: "one" } } track_event { type: INSTANT track_uuid: 1 name_iid: 1 } }
		{ timestamp: 12 previous_packet_dropped: true sequence_flags: 2 track_event { type: INSTANT track_uuid: 1 name_iid: 1 } }
		{ timestamp: 13 sequence_flags: 2 track_event { type: INSTANT track_uuid: 1 name_iid: 1 } }
		{ timestamp: 14 sequence_flags: 1 interned_data { event_names { iid: 1 name: "two" } } track_event { type: INSTANT track_uuid: 1 name_iid: 1 } }
		{ timestamp: 15 trace_stats { buffer_stats { trace_writer_packet_loss: 4 } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g name -c count -t tsv"
	assert_line $'one\t1'
	assert_line $'two\t1'
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson 2>&1 | jq -c 'select(.type == \"gap\") | .args'"
	assert_output - <<-'END'
		{"reason":"lost","packets":1}
		{"reason":"lost"}
		{"reason":"lost","packets":2}
		{"reason":"lost","packets":4}
	END
	run -1 trdecode --strict -q -o /dev/null x.pftrace
}

@test "counters: the product with the unit has 64 bits, or is the largest number of 64 bits" {
	# 2^62 * 3, -2^62 * 3 and 2^62 - 1 times 2
	cat <<-'END' | trace x.pftrace
		{ timestamp: 1 track_descriptor { uuid: 3 name: "a" counter { unit_multiplier: 3 } } }
		{ timestamp: 1 track_descriptor { uuid: 4 name: "b" counter { unit_multiplier: 2 } } }
		{ timestamp: 10 track_event { type: COUNTER track_uuid: 3 counter_value: 4611686018427387904 } }
		{ timestamp: 20 track_event { type: COUNTER track_uuid: 3 counter_value: -4611686018427387904 } }
		{ timestamp: 30 track_event { type: COUNTER track_uuid: 4 counter_value: 4611686018427387903 } }
	END
	run -0 rows x.pftrace
	assert_output - <<-'END'
		0.000000010 - - a value=9223372036854775807
		0.000000020 - - a value=-9223372036854775808
		0.000000030 - - b value=9223372036854775806
	END
}

@test "counters of events: extra ones, differences, those of defaults" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1 track_descriptor { uuid: 5 parent_uuid: 1 name: "cycles" counter { is_incremental: true unit_multiplier: 2 } } }
			{ timestamp: 1 track_descriptor { uuid: 6 parent_uuid: 1 counter { type: 1 } } }
			{ timestamp: 2 sequence_flags: 1 trace_packet_defaults { track_event_defaults { track_uuid: 1 extra_counter_track_uuids: [5, 6] } } }
			{ timestamp: 10 track_event { type: BEGIN name: "f" extra_counter_values: [100, 7] } }
			{ timestamp: 20 track_event { type: END extra_counter_values: [11, 8] } }
			{ timestamp: 30 sequence_flags: 1 track_event { type: INSTANT track_uuid: 1 name: "i" extra_counter_track_uuids: 5 extra_counter_values: 1 } }
		END
	} | trace x.pftrace
	run -0 rows x.pftrace
	assert_output - <<-'END'
		0.000000010 8 worker f {
		0.000000010 8 worker cycles value=200
		0.000000010 8 worker thread_time value=7
		0.000000020 8 worker f }
		0.000000020 8 worker cycles value=222
		0.000000020 8 worker thread_time value=8
		0.000000030 8 worker i
		0.000000030 8 worker cycles value=2
	END
}

@test "values of counters that have no place are counted: without a track, beyond sixteen, in an event of another type" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 2 sequence_flags: 1 track_descriptor { uuid: 5 parent_uuid: 1 name: "c" counter { } } trace_packet_defaults { track_event_defaults { track_uuid: 1 extra_counter_track_uuids: 5 } } }
			{ timestamp: 10 track_event { type: INSTANT name: "none" extra_counter_values: 1 extra_double_counter_values: 2 } }
			{ timestamp: 20 track_event { type: INSTANT name: "three" extra_counter_values: [1, 2, 3, 4] extra_double_counter_track_uuids: 5 extra_double_counter_values: [1, 2] } }
			{ timestamp: 30 track_event { type: INSTANT name: "value" counter_value: 9 } }
			{ timestamp: 40 track_event { type: BEGIN name: "value" double_counter_value: 0.5 } }
		END
		python3 -c 'print("{ timestamp: 50 track_event { type: INSTANT track_uuid: 1 name: \"many\" extra_counter_track_uuids: %s extra_counter_values: %s flow_ids: %s terminating_flow_ids: %s } }"
			% ([5] * 17, list(range(18)), list(range(1, 68)), list(range(1, 66))))'
	} | trace x.pftrace
	run -0 --separate-stderr trdecode -o x.trs x.pftrace
	assert_equal "${stderr##*(1)}" ', and 4 more (--verbose names them)'
	run -0 --separate-stderr trdecode --verbose -o x.trs x.pftrace
	# three without a track and two beyond sixteen; 1 + 2 + 16 have a place
	assert_equal "$stderr" 'trdecode: x.pftrace: 14 fields were left out, by name or number: TrackEvent.extra_counter_values (5), TrackEvent.counter_value (1), TrackEvent.extra_counter_track_uuids (1), TrackEvent.double_counter_value (1), TrackEvent.extra_double_counter_values (2), TrackEvent.flow_ids (3), TrackEvent.terminating_flow_ids (1)'
	run -0 pipefail "trstat -q -g name -c count -t tsv x.trs | sort"
	assert_line $'c\t19'
}

@test "Chrome's older events: durations, ids, times as differences" {
	cat <<-'END' | trace x.pftrace
		{ sequence_flags: 1 thread_descriptor { pid: 3 tid: 4 thread_name: "main" reference_timestamp_us: 1000 } }
		{ track_event { timestamp_delta_us: 5 name: "whole" legacy_event { phase: 88 duration_us: 10 } } }
		{ track_event { timestamp_delta_us: 0 name: "part" legacy_event { phase: 88 duration_us: 4 } } }
		{ track_event { timestamp_delta_us: 4 name: "next" legacy_event { phase: 88 duration_us: 0 } } }
		{ track_event { timestamp_delta_us: 1 name: "a" legacy_event { phase: 98 unscoped_id: 9 } } }
		{ track_event { timestamp_delta_us: 1 name: "b" legacy_event { phase: 98 unscoped_id: 9 } } }
		{ track_event { timestamp_delta_us: 1 name: "a" legacy_event { phase: 101 unscoped_id: 9 } } }
		{ track_event { timestamp_delta_us: 1 legacy_event { phase: 101 unscoped_id: 9 } } }
		{ track_event { timestamp_delta_us: 1 name: "b" legacy_event { phase: 70 unscoped_id: 9 } } }
		{ track_event { timestamp_absolute_us: 1100 name: "old" legacy_event { phase: 66 } } }
		{ track_event { timestamp_absolute_us: 1107 legacy_event { phase: 69 } } }
		{ track_event { timestamp_absolute_us: 1108 name: "i" legacy_event { phase: 73 tid_override: 44 } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g name,tid -c count,total,self -t tsv"
	assert_line $'whole\t4\t1\t10000\t6000'
	assert_line $'part\t4\t1\t4000\t4000'
	assert_line $'next\t4\t1\t0\t0'
	assert_line $'a\t4\t1\t2000\t2000'
	assert_line $'b\t4\t1\t2000\t2000'
	assert_line $'old\t4\t1\t7000\t7000'
	assert_line --regexp $'^i\t44\t1'
}

@test "Chrome's older flows: bind_id, and the phases s, t and f, which are apart by name" {
	cat <<-'END' | trace x.pftrace
		{ sequence_flags: 1 thread_descriptor { pid: 3 tid: 4 reference_timestamp_us: 1000 } }
		{ track_event { timestamp_delta_us: 5 name: "post" legacy_event { phase: 88 duration_us: 10 bind_id: 99 flow_direction: 2 } } }
		{ track_event { timestamp_delta_us: 5 name: "relay" legacy_event { phase: 88 duration_us: 2 bind_id: 99 flow_direction: 3 } } }
		{ track_event { timestamp_delta_us: 5 name: "run" legacy_event { phase: 88 duration_us: 10 bind_id: 99 flow_direction: 1 } } }
		{ track_event { timestamp_delta_us: 1 name: "go" legacy_event { phase: 115 unscoped_id: 7 } } }
		{ track_event { timestamp_delta_us: 1 name: "other" legacy_event { phase: 115 unscoped_id: 7 } } }
		{ track_event { timestamp_delta_us: 1 name: "go" legacy_event { phase: 116 unscoped_id: 7 } } }
		{ track_event { timestamp_delta_us: 1 name: "go" legacy_event { phase: 102 unscoped_id: 7 } } }
		{ track_event { timestamp_delta_us: 1 name: "plain" legacy_event { phase: 88 duration_us: 1 bind_id: 5 } } }
	END
	trdecode -q x.pftrace | trencode -q -t chrome --rebase=none >x.json
	run -0 jq -r '.traceEvents[] | select(.ph | test("^[stf]$")) | "\(.ph) \(.ts) \(.id)"' x.json
	assert_equal "$(awk '{ if (!($3 in n)) n[$3] = ++k; print $1, $2, n[$3] }' <<<"$output")" "s 1005 1
t 1010 1
t 1015 1
s 1016 2
s 1017 3
t 1018 2
f 1019 2"
	assert_line 's 1005 0x63'
	run -0 jq -c '.traceEvents[] | select(.name == "plain").args' x.json
	assert_output '{"bind_id":5}'
}

@test "ftrace: events by number, generic and described ones, lost events, names of threads" {
	cat <<-'END' | trace x.pftrace
		{ timestamp: 1 process_tree { processes { pid: 70 cmdline: "shell" } threads { tid: 71 tgid: 70 name: "io" } } }
		{ ftrace_events { cpu: 2 lost_events: true
		  event { timestamp: 200 pid: 71 cpu_frequency { state: 1800000 cpu_id: 2 } }
		  event { timestamp: 210 pid: 71 sched_switch { prev_comm: "io" prev_pid: 71 prev_prio: 120 prev_state: 1 next_comm: "kworker" next_pid: 90 next_prio: 100 } }
		  event { timestamp: 220 pid: 90 sys_enter { id: 1 args: 5 args: 9 } }
		  event { timestamp: 230 pid: 90 generic { event_name: "my_event" field { name: "text" str_value: "t" } field { name: "n" int_value: -2 } } } } }
		{ ftrace_events { cpu: 1
		  generic_event_descriptors { field_id: 65540 group_name: "own" event_descriptor { name: "own_event" field { name: "first" number: 1 type: 13 } field { name: "second" number: 2 type: 4 } } }
		  event { timestamp: 205 pid: 70 described { state: 3 cpu_id: 4 } }
		  event { timestamp: 240 pid: 70 unknown { a: 1 } } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c 'select(.type != \"gap\") | [.time, .type, .tid, .pid, .cpu, .comm, .args]'"
	assert_output - <<-'END'
		[200,"cpu_frequency",71,70,2,"io",{"state":1800000,"cpu_id":2}]
		[205,"own_event",70,70,1,"shell",{"first":3,"second":4}]
		[210,"sched_switch",71,70,2,"io",{"prev_comm":"io","prev_pid":71,"prev_prio":120,"prev_state":1,"next_comm":"kworker","next_pid":90,"next_prio":100}]
		[220,"sys_enter",90,null,2,"kworker",{"id":1,"args":[5,9,0,0,0,0]}]
		[230,"my_event",90,null,2,"kworker",{"text":"t","n":-2}]
		[240,"ftrace field 60000",70,70,1,"shell",null]
	END
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g group,type -c count -t tsv"
	assert_line $'own\town_event\t1'
	assert_line $'sched\tsched_switch\t1'
	assert_line $'power\tcpu_frequency\t1'
	assert_line $'ftrace\tmy_event\t1'
	run -0 errors trdecode x.pftrace
	assert_line 'trdecode: x.pftrace: 1 event of ftrace has an unknown number: its fields are left out'
}

@test "ftrace: compact switches have the thread that ran before, wakings that which runs" {
	cat <<-'END' | trace x.pftrace
		{ ftrace_events { cpu: 0 compact_sched { intern_table: "idle" intern_table: "a"
		  switch_timestamp: [100, 50, 25] switch_prev_state: [1, 0, 2] switch_next_pid: [11, 0, 12] switch_next_prio: [120, 120, 98]
		  switch_next_comm_index: [1, 0, 1]
		  waking_timestamp: [110] waking_pid: [12] waking_target_cpu: [3] waking_prio: [98] waking_comm_index: [1] } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c '[.time, .type, .tid] + (.args | [.prev_pid, .prev_comm, .prev_state, .next_pid, .next_comm, .next_prio, .pid, .target_cpu])'"
	assert_output - <<-'END'
		[100,"sched_switch",null,-1,"",1,11,"a",120,null,null]
		[110,"sched_waking",11,null,null,null,null,null,null,12,3]
		[150,"sched_switch",11,11,"a",0,0,"idle",120,null,null]
		[175,"sched_switch",0,0,"idle",2,12,"a",98,null,null]
	END
}

@test "ftrace: marks of atrace are calls, counters and instants" {
	cat <<-'END' | trace x.pftrace
		{ ftrace_events { cpu: 0
		  event { timestamp: 10 pid: 21 print { buf: "B|20|draw|x\n" } }
		  event { timestamp: 12 pid: 21 print { buf: "C|20|depth|-3\n" } }
		  event { timestamp: 13 pid: 21 print { buf: "S|20|load|5\n" } }
		  event { timestamp: 14 pid: 22 print { buf: "I|20|vsync\n" } }
		  event { timestamp: 15 pid: 21 print { buf: "not a mark\n" } }
		  event { timestamp: 20 pid: 22 print { buf: "F|20|load|5\n" } }
		  event { timestamp: 30 pid: 21 print { buf: "E|20\n" } } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g name,tid,pid -c count,total -t tsv"
	assert_line $'draw|x\t21\t20\t1\t20'
	assert_line $'load\t20\t20\t1\t7'
	run -0 rows x.pftrace
	assert_line --regexp ' depth value=-3$'
	assert_line --regexp ' vsync$'
	assert_line --regexp ' print ip=0 buf="not a mark'
}

@test "samples: stacks with functions, files and addresses; weights; streaming profiles" {
	cat <<-'END' | trace x.pftrace
		{ sequence_flags: 1 trace_packet_defaults { perf_sample_defaults { timebase { period: 1000 counter: 10 } } }
		  interned_data { callstacks { iid: 1 frame_ids: 1 frame_ids: 2 } callstacks { iid: 2 frame_ids: 1 frame_ids: 3 }
		    frames { iid: 1 function_name_id: 1 mapping_id: 1 rel_pc: 16 } frames { iid: 2 function_name_id: 2 source_path_iid: 1 line_number: 5 }
		    frames { iid: 3 mapping_id: 1 rel_pc: 64 } mappings { iid: 1 build_id: 1 path_string_ids: [1, 2] }
		    function_names { iid: 1 name: "main" } function_names { iid: 2 name: "leaf" } source_paths { iid: 1 name: "leaf.c" }
		    build_ids { iid: 1 name: "abc" } mapping_paths { iid: 1 name: "usr" } mapping_paths { iid: 2 name: "prog" } } }
		{ timestamp: 50 perf_sample { cpu: 3 pid: 5 tid: 6 callstack_iid: 1 } }
		{ timestamp: 60 perf_sample { cpu: 3 pid: 5 tid: 6 callstack_iid: 1 } }
		{ timestamp: 70 perf_sample { cpu: 1 pid: 5 tid: 6 callstack_iid: 2 } }
		{ timestamp: 75 perf_sample { cpu: 1 pid: 5 tid: 6 kernel_records_lost: 9 } }
		{ timestamp: 80000 streaming_profile_packet { callstack_iid: 1 callstack_iid: 2 timestamp_delta_us: 0 timestamp_delta_us: 15 } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trfilter -q 'type == \"cpu-cycles\"' | trencode -q -t folded"
	assert_line 'main;leaf 2000'
	assert_line --regexp '^main;.* 1000$'
	run -0 pipefail "trdecode -q x.pftrace | trstat -q -g type,tid -c count -t tsv"
	assert_line $'cpu-cycles\t6\t3'
	assert_line --regexp $'^cpu_profile\t.*\t2$'
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c 'select(.type == \"gap\").args.events'"
	assert_output 9
}

@test "samples weigh what their counter has counted on their CPU, which may be nothing; with a period, another count is counted as left out" {
	for period in '' 'period: 99'; do
		trace x.pftrace <<-END
			{ timestamp: 1 sequence_flags: 1 trace_packet_defaults { perf_sample_defaults { timebase { name: "cyc" $period } } } }
			{ timestamp: 10 perf_sample { cpu: 0 pid: 5 tid: 6 timebase_count: 0 } }
			{ timestamp: 20 perf_sample { cpu: 0 pid: 5 tid: 6 timebase_count: 99 } }
			{ timestamp: 30 perf_sample { cpu: 1 pid: 5 tid: 6 timebase_count: 99 } }
			{ timestamp: 40 perf_sample { cpu: 0 pid: 5 tid: 6 timebase_count: 99 } }
			{ timestamp: 50 perf_sample { cpu: 0 pid: 5 tid: 6 timebase_count: 30 } }
			{ timestamp: 60 perf_sample { pid: 5 tid: 6 timebase_count: 129 } }
			{ timestamp: 70 perf_sample { cpu: 0 pid: 5 tid: 6 timebase_count: 129 } }
			{ timestamp: 80 perf_sample { cpu: 0 pid: 5 tid: 6 } }
		END
		run -0 --separate-stderr trdecode -o x.trs x.pftrace
		if [ -z "$period" ]; then
			assert_equal "$stderr" ''
			weights='0 99 99 0 30 129 99 1'
		else
			assert_equal "$stderr" 'trdecode: x.pftrace: 4 fields were left out, by name or number: PerfSample.timebase_count (4)'
			weights='99 99 99 99 99 99 99 99'
		fi
		assert_equal "$(trencode -q -t ndjson x.trs | jq -r .args.weight | paste -sd ' ')" "$weights"
	done
}

@test "symbols of modules name the addresses of their files, by build-id or path" {
	cat <<-'END' | trace x.pftrace
		{ module_symbols { path: "/other" build_id: "\001\177" address_symbols { address: 16 lines { function_name: "by_id" source_file_name: "i.c" line_number: 7 } } } }
		{ sequence_flags: 1
		  interned_data { callstacks { iid: 1 frame_ids: [1, 2, 3] } callstacks { iid: 2 frame_ids: [1, 4, 5] }
		    frames { iid: 1 mapping_id: 1 rel_pc: 16 } frames { iid: 2 mapping_id: 2 rel_pc: 16 } frames { iid: 3 function_name_id: 1 mapping_id: 2 rel_pc: 32 }
		    frames { iid: 4 mapping_id: 2 rel_pc: 64 } frames { iid: 5 mapping_id: 1 rel_pc: 17 }
		    mappings { iid: 1 build_id: 1 path_string_ids: 1 } mappings { iid: 2 path_string_ids: 2 }
		    function_names { iid: 1 name: "known" } build_ids { iid: 1 name: "\001\177" } mapping_paths { iid: 1 name: "a" } mapping_paths { iid: 2 name: "b" } } }
		{ timestamp: 50 perf_sample { pid: 5 tid: 6 callstack_iid: 1 } }
		{ timestamp: 60 perf_sample { pid: 5 tid: 6 callstack_iid: 2 } }
		{ module_symbols { path: "/b" address_symbols { address: 16 lines { function_name: "inlined" } lines { function_name: "by_path" source_file_name: "p.c" line_number: 9 } }
		  address_symbols { address: 32 lines { function_name: "no" } } address_symbols { address: 65 lines { function_name: "no" } } } }
		{ module_symbols { build_id: "\001" address_symbols { address: 17 lines { function_name: "no" } } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t folded"
	assert_line 'by_id;by_path;inlined;known 1'
	assert_line --regexp '^by_id;<40>;<11> 1$'
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t callgrind | grep -c -e '=([0-9]*) i.c' -e '=([0-9]*) p.c'"
	assert_output 2
	run -0 errors trdecode x.pftrace
	assert_output ''
}

# lines N...: the text of lines with the functions f1 to fN
lines() {
	local i
	for ((i = 1; i <= $1; i++)); do
		printf 'lines { function_name: "f%d" source_file_name: "%d.c" line_number: %d } ' $i $i $i
	done
}

@test "functions that are inlined at an address are frames, the innermost first in the symbols" {
	cat <<-END | trace x.pftrace
		{ sequence_flags: 1
		  interned_data { callstacks { iid: 1 frame_ids: [1, 2] } callstacks { iid: 2 frame_ids: [1, 2, 1] } callstacks { iid: 3 frame_ids: 3 }
		    frames { iid: 1 mapping_id: 1 rel_pc: 16 } frames { iid: 2 mapping_id: 1 rel_pc: 32 } frames { iid: 3 mapping_id: 1 rel_pc: 48 }
		    mappings { iid: 1 path_string_ids: 1 } mapping_paths { iid: 1 name: "m" } } }
		{ timestamp: 50 perf_sample { pid: 5 tid: 6 callstack_iid: 2 } }
		{ timestamp: 60 perf_sample { pid: 5 tid: 6 callstack_iid: 1 } }
		{ timestamp: 70 track_event { type: INSTANT name: "i" callstack_iid: 1 } }
		{ timestamp: 80 perf_sample { pid: 5 tid: 6 callstack_iid: 3 } }
		{ timestamp: 90 profile_packet { process_dumps { pid: 7 samples { callstack_id: 1 self_allocated: 8 alloc_count: 1 } } } }
		{ module_symbols { path: "/m" address_symbols { address: 16 $(lines 3) } address_symbols { address: 32 $(lines 1) }
		  address_symbols { address: 48 $(lines 70) } } }
	END
	run -0 errors trdecode x.pftrace
	refute_output
	{
		printf '%s\n' 'f3;f2;f1;f1 1' 'f3;f2;f1;f1;f3;f2;f1 1'
		# at most 64 lines of one address
		seq -s ';f' 70 -1 7 | sed 's/^/f/; s/$/ 1/'
	} | LC_ALL=C sort >want
	trdecode -q x.pftrace | trfilter -q 'type == "samples"' | trencode -q -t folded | LC_ALL=C sort | diff want -
	run -0 pipefail "trdecode -q x.pftrace | trfilter -q 'type == \"malloc\"' | trencode -q -t folded"
	assert_output 'f3;f2;f1;f1 8'
	# of an event, and with the file and line of each function
	trdecode -q x.pftrace | trfilter -q 'type == "i"' | trencode -q -t perfetto |
		protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto >decoded
	assert_equal "$(grep -c 'frame_ids' decoded)" 4
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t callgrind | grep -E '^c?f[lin]=' | sed 's/^[^)]*) *//' | grep . | LC_ALL=C sort -u"
	for name in f2 2.c f3 3.c f1 1.c; do assert_line "$name"; done
}

@test "profiles of heaps have their own tables in Android 10" {
	cat <<-'END' | trace x.pftrace
		{ timestamp: 5 profile_packet {
		    strings { iid: 1 name: "lib" } strings { iid: 2 name: "main" } strings { iid: 3 name: "\001\177" } strings { iid: 4 name: "make" }
		    callstacks { iid: 1 frame_ids: [1, 2, 3] } callstacks { iid: 2 frame_ids: 1 }
		    frames { iid: 1 function_name_id: 2 mapping_id: 1 } frames { iid: 2 mapping_id: 1 rel_pc: 16 } frames { iid: 3 function_name_id: 4 }
		    mappings { iid: 1 build_id: 3 path_string_ids: 1 }
		    process_dumps { pid: 7 samples { callstack_id: 1 self_allocated: 100 alloc_count: 1 } } } }
		{ timestamp: 9 profile_packet { process_dumps { pid: 7 samples { callstack_id: 2 self_allocated: 30 alloc_count: 1 } } } }
		{ module_symbols { build_id: "\001\177" address_symbols { address: 16 lines { function_name: "by_id" } } } }
	END
	run -0 errors trdecode x.pftrace
	refute_output
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t folded | LC_ALL=C sort"
	assert_output $'main 30\nmain;by_id;make 100'
}

@test "profiles of heaps: each dump adds what was allocated and freed since the one before" {
	cat <<-'END' | trace x.pftrace
		{ clock_snapshot { clocks { clock_id: 6 timestamp: 1000 } clocks { clock_id: 4 timestamp: 300 } } }
		{ sequence_flags: 1
		  interned_data { callstacks { iid: 1 frame_ids: [1, 2] } callstacks { iid: 2 frame_ids: 1 } frames { iid: 1 function_name_id: 1 }
		    frames { iid: 2 function_name_id: 2 } function_names { iid: 1 name: "main" } function_names { iid: 2 name: "make" } } }
		{ timestamp: 1500 profile_packet { process_dumps { pid: 7 heap_name: "libc" timestamp: 400
		    samples { callstack_id: 1 self_allocated: 1000 self_freed: 300 alloc_count: 10 free_count: 3 } samples { callstack_id: 2 self_allocated: 64 alloc_count: 1 } }
		  process_dumps { pid: 8 samples { callstack_id: 1 self_max: 50 self_max_count: 2 } } } }
		{ timestamp: 2000 sequence_flags: 1
		  interned_data { callstacks { iid: 9 frame_ids: [3, 4] } callstacks { iid: 2 frame_ids: 3 } frames { iid: 3 function_name_id: 5 }
		    frames { iid: 4 function_name_id: 2 } function_names { iid: 5 name: "main" } function_names { iid: 2 name: "make" } }
		  profile_packet { process_dumps { pid: 7 heap_name: "libc" timestamp: 900 buffer_overran: true
		    samples { callstack_id: 9 self_allocated: 1500 self_freed: 1200 alloc_count: 15 free_count: 12 } samples { callstack_id: 2 self_allocated: 64 alloc_count: 1 } } } }
	END
	run -0 errors trdecode x.pftrace
	refute_output
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson 2>/dev/null | jq -c '[.time, .type, .pid, .args]'"
	assert_output - <<-'END'
		[1100,"libc",7,{"allocated":1000,"allocations":10,"freed":300,"frees":3,"unreleased":700}]
		[1100,"libc",7,{"allocated":64,"allocations":1,"freed":0,"frees":0,"unreleased":64}]
		[1500,"malloc",8,{"allocated":50,"allocations":2,"freed":0,"frees":0,"unreleased":50}]
		[1600,"gap",null,{"reason":"lost"}]
		[1600,"libc",7,{"allocated":500,"allocations":5,"freed":900,"frees":9,"unreleased":-400}]
	END
	# the sums are the last dump's
	trdecode -q x.pftrace | trfilter -q 'type == "libc"' >x.trs
	run -0 pipefail 'trencode -q -t folded x.trs | sort'
	assert_output $'main 64\nmain;make 1500'
	run -0 pipefail 'trencode -q -t folded --weight freed x.trs | sort'
	assert_line 'main;make 1200'
	run -0 pipefail 'trencode -q -t folded --weight count x.trs | sort'
	assert_output $'main 1\nmain;make 15'
}

@test "statistics of the system and of processes are counters, Android's log instants" {
	cat <<-'END' | trace x.pftrace
		{ clock_snapshot { clocks { clock_id: 6 timestamp: 1000 } clocks { clock_id: 1 timestamp: 5000 } } }
		{ timestamp: 10 sys_stats { meminfo { key: 2 value: 900 } meminfo { key: 37 value: 8 } meminfo { key: 99 value: 7 } cpu_stat { cpu_id: 1 user_ns: 30 idle_ns: 40 } num_forks: 6 } }
		{ timestamp: 20 process_stats { processes { pid: 5 vm_rss_kb: 77 } } }
		{ timestamp: 30 android_log { events { pid: 5 tid: 6 timestamp: 5040 tag: "T" prio: 4 message: "said" } } }
		{ packages_list { packages { name: "org.app" uid: 10001 version_code: 3 } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c '[.time, .name, .pid, .cpu, .args]'"
	assert_output - <<-'END'
		[10,"meminfo MemFree",null,null,{"value":900}]
		[10,"meminfo ION_heap",null,null,{"value":8}]
		[10,"meminfo 99",null,null,{"value":7}]
		[10,"cpu user",null,1,{"value":30}]
		[10,"cpu idle",null,1,{"value":40}]
		[10,"forks",null,null,{"value":6}]
		[20,"vm_rss_kb",5,null,{"value":77}]
		[1040,"android_log",5,null,{"tag":"T","prio":4,"message":"said"}]
	END
}

@test "compressed packets, and packets that trdecode does not read" {
	{
		tracks
		echo '{ timestamp: 9 track_event { type: INSTANT track_uuid: 1 name: "in" } }'
	} | trace inner
	for how in zlib zstd; do
		if [[ $how == zlib ]]; then
			python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(open("inner", "rb").read()))' >packed
			field=50
		else
			zstd -qf inner -o packed
			field=133
		fi
		python3 - $field >x.pftrace <<-'END'
			import sys
			def varint(n):
			    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
			def field(number, data):
			    return varint(number << 3 | 2) + varint(len(data)) + data
			packet = field(int(sys.argv[1]), open("packed", "rb").read())
			open("bare.pftrace", "wb").write(field(1, packet))
			sys.stdout.buffer.write(field(1, packet + b"\x50\x01"))
		END
		for file in x.pftrace bare.pftrace; do
			run -0 rows $file
			assert_output '0.000000009 8 worker in'
		done
	done
	# 89 is trace_uuid
	{
		printf '%s\n' '{ timestamp: 1 unknown: "a" }' '{ timestamp: 1 unknown: "b" }' '{ timestamp: 2 far: "c" }' | trace x.pftrace
		cat x.pftrace
		printf '\x0a\x05\xca\x05\x02\x08\x01'
	} >y.pftrace
	run -0 errors trdecode y.pftrace
	assert_line --index 0 'trdecode: y.pftrace: no events'
	assert_line --index 1 'trdecode: y.pftrace: 4 packets of kinds that trdecode does not read were left out, by name or number: trace_uuid (1), 999 (2), 1500 (1)'
	run -0 trdecode -q --info y.pftrace
	assert_line --regexp '^packet +field 999 2$'
	assert_line --regexp '^packet +field 1500 1$'
	assert_line --regexp '^packet +trace_uuid 1$'
}

@test "one damaged packet of a trace without sequences, or of compressed packets, is all that is lost" {
	python3 - <<-'END'
		import zlib
		def varint(n):
		    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
		def field(number, data):
		    return varint(number << 3 | 2) + varint(len(data)) + data
		def number(n, value):
		    return varint(n << 3) + varint(value)
		def track(time, name):
		    return time + field(11, number(9, 3) + number(11, 1) + field(23, name))
		def packet(kind, i):
		    time = number(8, 1000 + i)
		    name = b"e%d" % i
		    if kind == "track":
		        return field(1, track(time, name))
		    if kind == "ftrace":
		        return field(1, field(1, number(1, 0) + field(2, number(1, 1000 + i) + number(2, 5) + field(3, field(2, name)))))
		    if kind == "trigger":
		        return field(1, time + field(46, field(1, name) + field(2, b"p")))
		    return field(1, field(50, zlib.compress(field(1, number(10, 7) + track(time, name)))))
		for kind in "track", "ftrace", "trigger", "compressed":
		    packets = [packet(kind, i) for i in range(40)]
		    good = packets[20]
		    for what, bad in {"tag": b"\xff" + good[1:], "length": good[:1] + b"\xff" + good[2:],
		                      "field": good[:2] + b"\x0f" + good[3:], "zeros": bytes(len(good))}.items():
		        packets[20] = bad
		        open("%s-%s" % (kind, what), "wb").write(b"".join(packets))
	END
	# all but e20
	seq 0 39 | sed '/^20$/d; s/^/e/' >want
	for file in {track,ftrace,trigger,compressed}-{length,zeros} track-{tag,field}; do
		run -1 errors trdecode -f perfetto $file -o y.trs
		assert_line --regexp "^trdecode: $file: 0x[0-9a-f]+: "
		trencode -q -t ndjson y.trs 2>/dev/null | jq -r 'select(.type != "gap") | .args.trigger_name // .args.buf // .name' >have || true
		diff have want || fail "$file"
	done
}

@test "several annotations of one name in one event, or of one dictionary, are all kept" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 10 track_event { type: BEGIN track_uuid: 1 name: "f" debug_annotations { name: "u" uint_value: 1 } debug_annotations { name: "v" uint_value: 2 } debug_annotations { name: "u" uint_value: 3 } debug_annotations { name: "u" string_value: "x" } } }
			{ timestamp: 20 track_event { type: END track_uuid: 1 debug_annotations { name: "r" uint_value: 4 } debug_annotations { name: "r" uint_value: 5 } } }
			{ timestamp: 30 track_event { type: INSTANT track_uuid: 1 name: "i" debug_annotations { name: "u_2" uint_value: 6 } debug_annotations { name: "u" uint_value: 7 } debug_annotations { name: "u" uint_value: 8 } } }
			{ timestamp: 40 track_event { type: INSTANT track_uuid: 1 name: "d" debug_annotations { name: "of" dict_entries { name: "u" uint_value: 9 } dict_entries { name: "u" uint_value: 10 } } debug_annotations { name: "u" uint_value: 11 } } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c '[.name, .args]'"
	assert_output - <<-'END'
		["f",{"u":1,"v":2,"u_2":3,"u_3":"x","r":4,"r_2":5}]
		["i",{"u_2":6,"u":7,"u_3":8}]
		["d",{"of":{"u":9,"u_2":10},"u":11}]
	END
	# more than an event has: those that are left out are counted
	{
		tracks
		echo "{ timestamp: 10 track_event { type: INSTANT track_uuid: 1 name: \"f\" $(yes 'debug_annotations { name: "u" uint_value: 1 }' | head -5000 | tr '\n' ' ') } }"
	} | trace x.pftrace
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c '.args | [length, add]'"
	assert_output '[4096,4096]'
	run -0 errors trdecode x.pftrace
	assert_output 'trdecode: x.pftrace: 904 arguments of names that have more than 4096 different ones were left out'
}

@test "triggers and events of the tracing service are instants" {
	trace x.pftrace <<-'END'
		{ timestamp: 1000 trigger { trigger_name: "janky" producer_name: "ui" trusted_producer_uid: 1000 } }
		{ timestamp: 2000 service_event { tracing_disabled: true } }
		{ clone_snapshot_trigger { trigger_name: "copy" producer_name: "" } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c '[.time, .name, .args]'"
	assert_output - <<-'END'
		[1000,"trigger",{"trigger_name":"janky","producer_name":"ui","trusted_producer_uid":1000}]
		[2000,"service_event",{"tracing_disabled":true}]
		[2000,"clone_snapshot_trigger",{"trigger_name":"copy"}]
	END
	run -0 errors trdecode x.pftrace
	assert_output ''
}

# kinds FILE: the number of packets of each kind, by protoc alone
kinds() {
	protoc --decode_raw <"$1" | awk '
		/^1 \{/ { kind = "none"; n++; next }
		/^  [0-9]+( \{|:)/ { sub(":", "", $1); if ($1 !~ /^(3|8|10|12|13|41|42|58|59|79|87|98)$/) kind = $1; next }
		/^}/ { count[kind]++ }
		END { print "packets", n; for (k in count) print k, count[k] }' | sort
}

# the numbers of packets of each kind are those that protoc counts
packets_are_counted() {
	local file
	for file in "$RECORDED"/perfetto/*; do
		kinds "$file" >want
		trdecode -q --info "$file" | sed -nE '
			s/^packets +/packets /p
			s/^packet +no payload /none /p
			s/^packet +field //p
			s/^packet +ftrace_events /1 /p; s/^packet +clock_snapshot /6 /p; s/^packet +trace_config /33 /p
			s/^packet +ftrace_stats /34 /p; s/^packet +trace_stats /35 /p; s/^packet +synchronization_marker /36 /p
			s/^packet +android_log /39 /p; s/^packet +system_info /45 /p; s/^packet +packages_list /47 /p
			s/^packet +service_event /69 /p; s/^packet +frame_timeline_event /76 /p; s/^packet +trace_uuid /89 /p' | sort >got
		diff want got
	done
}

# frames FILE: name, begin, duration, pid, token of each frame, by protoc and awk
frames() {
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <"$1" | awk '
		$1 == "packet" { kind = "" }
		$1 == "timestamp:" { t = $2 }
		/(start|frame_end) \{$/ { kind = $1; gsub("_", " ", kind); sub(" start", "", kind) }
		kind != "" && $1 ~ /^(cookie|pid|token):$/ { v[$1] = $2 }
		$1 == "}" && kind != "" {
			c = v["cookie:"]
			if (kind == "frame end") end[c] = t
			else { begin[c] = t; name[c] = kind; rest[c] = v["pid:"] "\t" v["token:"] }
			kind = ""; delete v
		}
		END { for (c in begin) if (c in end) print begin[c] "\t" name[c] "\t" end[c] - begin[c] "\t" rest[c] }' | sort
}

@test "the timeline of frames: each is a call with its pid and token, from its begin to its end" {
	cat <<-'END' | trace x.pftrace
		{ timestamp: 10 frame_timeline_event { expected_surface_frame_start { cookie: 5 token: 70 display_frame_token: 9 pid: 33 layer_name: "L" } } }
		{ timestamp: 12 frame_timeline_event { actual_surface_frame_start { cookie: 6 token: 70 display_frame_token: 9 pid: 33 layer_name: "L" present_type: 2 on_time_finish: false jank_type: 320 prediction_type: 1 is_buffer: true } } }
		{ timestamp: 20 frame_timeline_event { frame_end { cookie: 5 } } }
		{ timestamp: 25 frame_timeline_event { actual_display_frame_start { cookie: 7 token: 9 pid: 44 present_type: 9 jank_type: 65536 } } }
		{ timestamp: 31 frame_timeline_event { frame_end { cookie: 7 } } }
		{ timestamp: 40 frame_timeline_event { frame_end { cookie: 6 } } }
		{ timestamp: 41 frame_timeline_event { frame_end { cookie: 6 } } }
	END
	run -0 pipefail "trdecode -q x.pftrace | trencode -q -t ndjson | jq -c '[.time, .dur, .name, .pid, (.args | del(.track_id))]'"
	assert_output - <<-'END'
		[10,10,"expected surface frame",33,{"token":70,"display_frame_token":9,"layer_name":"L"}]
		[25,6,"actual display frame",44,{"token":9,"present_type":9,"jank_type":65536}]
		[12,28,"actual surface frame",33,{"token":70,"display_frame_token":9,"layer_name":"L","present_type":"LATE","on_time_finish":false,"jank_type":"APP_DEADLINE_MISSED|UNKNOWN","prediction_type":"VALID","is_buffer":true}]
	END
	run -0 errors trdecode x.pftrace
	assert_output 'trdecode: x.pftrace: 1 end of calls without a begin was left out'
}

@test "a recording of Android: its packets, marks and frames are all there, and a copy of it is equal" {
	need_shared perfetto/nowinandroid.perfetto-trace
	file=$RECORDED/perfetto/nowinandroid.perfetto-trace
	packets_are_counted
	frames "$file" >want
	[ "$(wc -l <want)" -gt 3000 ]
	trdecode -q "$file" | trfilter -q 'group == "frame_timeline"' | trencode -q -t ndjson |
		jq -r 'select(.type == "async end") | [.time, .name, .dur, .pid, .args.token] | @tsv' | sort | diff want -
	protoc --decode_raw <"$file" | grep -cE '^ +2: "B\|' >want
	trdecode -q "$file" >x.trs
	trfilter -q -c 'kind == enter && type == "begin"' x.trs >got
	diff want got
	# a copy has the same events, with their tracks and groups
	events() { trencode -q -t csv -c time,dur,type,group,pid,tid,cpu,comm,name,args "$@" | LC_ALL=C sort; }
	trencode -q -t perfetto x.trs | trdecode -q | events >got
	events x.trs | diff - got
}

# What is the same in a trace and in what trencode made of it
same() {
	trstat -q -g name,tid,kind -c count,total,self -t tsv "$1" | awk -F '\t' '$3 == "call"' | sort
	trstat -q -g type,kind -c count -t tsv "$1" | awk -F '\t' '$2 == "instant"' | sort
	trencode -q -t ndjson "$1" | jq -c 'select(.dur != null and .args != null) | [.time, .dur, .name, .tid, .args]' | sort
}

@test "what trencode writes comes back: calls, threads, events, arguments and times" {
	for input in "$DATA/uftrace/fib" "$U/args-spec" "$U/args-stdstring" "$U/threads" "$U/kernel-sched" "$U/forkexec" "$U/longjmp"; do
		stream "$input"
		trencode -q -t perfetto x.trs >y.pftrace
		trdecode -q y.pftrace >y.trs
		diff <(same x.trs) <(same y.trs)
	done
}

@test "what trencode writes of asynchronous calls and counters comes back" {
	mixed >x.json
	trdecode -q -f chrome x.json >x.trs
	trencode -q -t perfetto x.trs >y.pftrace
	trdecode -q y.pftrace >y.trs
	diff <(trstat -q -g name,tid -c count,total,self -t tsv x.trs | sort) <(trstat -q -g name,tid -c count,total,self -t tsv y.trs | sort)
	echo '[{"ph":"C","ts":1,"pid":1,"name":"depth","args":{"value":3}}, {"ph":"C","ts":2,"pid":1,"name":"depth","args":{"value":-5}}]' >x.json
	trdecode -q -f chrome x.json | trencode -q -t perfetto >y.pftrace
	run -0 rows y.pftrace
	assert_line --regexp '^0.000001000 1 .*depth value=3$'
	assert_line --regexp '^0.000002000 1 .*depth value=-5$'
}

# The weight of each stack.
weights() {
	trstat -q -g stack -c self -t tsv "$1" | awk -F '\t' 'NR > 1 && $2 > 0' | sort
}

@test "samples that trencode wrote come back: stacks, threads, weights" {
	for input in "$DATA"/perf/flat.data "$DATA"/perf/zstd.data; do
		trdecode -q "$input" | trsym -q >x.trs
		trencode -q -t perfetto x.trs >y.pftrace
		trdecode -q y.pftrace >y.trs
		diff <(weights x.trs) <(weights y.trs)
		diff <(trstat -q -g tid,kind -c count -t tsv x.trs | grep sample | sort) \
			<(trstat -q -g tid,kind -c count -t tsv y.trs | grep sample | sort)
	done
}

@test "gaps that trencode wrote come back" {
	stream "$U/lost"
	trencode -q -t perfetto x.trs >y.pftrace
	trdecode -q y.pftrace >y.trs
	gaps() {
		trencode -q -t ndjson "$1" | jq -c 'select(.type == "gap") | [.time, .args]'
	}
	diff <(gaps x.trs) <(gaps y.trs)
	[[ -n $(gaps y.trs) ]]
	# of no thread
	cat <<-'END' | trace x.pftrace
		{ timestamp: 11 sequence_flags: 1 track_event { type: INSTANT track_uuid: 1 name: "i" } }
		{ timestamp: 13 previous_packet_dropped: true track_event { type: INSTANT track_uuid: 1 name: "j" } }
	END
	trdecode -q x.pftrace | trencode -q -t perfetto -o y.pftrace
	run -0 pipefail "trdecode -q y.pftrace | trencode -q -t ndjson | jq -c 'select(.type == \"gap\") | [.time, .tid, .pid, .args]'"
	assert_output '[13,null,null,{"reason":"lost"}]'
	# of a CPU
	gaps() { trencode -q -t ndjson "$1" | jq -c 'select(.type == "gap") | [.time, .tid, .pid, .cpu, .comm, .args]'; }
	trdecode -q "$DATA/trace-cmd/v7-zstd-split-lost.dat" >x.trs
	run -0 gaps x.trs
	assert_output --regexp '^\[[0-9]+,null,null,0,null,'
	trencode -q -t perfetto x.trs | trdecode -q | gaps - | diff <(gaps x.trs) -
}

@test "truncated and damaged files: events before and after are there, one line, status 1" {
	{
		tracks
		for ((i = 1; i <= 200; i++)); do
			echo "{ timestamp: ${i}000 track_event { type: INSTANT track_uuid: 1 name: \"e$i\" } }"
		done
	} | trace x.pftrace
	head -c -5 x.pftrace >short
	run -1 errors trdecode short
	assert_output --regexp '^trdecode: short: 0x[0-9a-f]+: truncated: a packet of [0-9]+ bytes has [0-9]+$'
	trdecode -q short 2>/dev/null >y.trs || [[ $? == 1 ]]
	[[ $(rows_of 'kind == instant' y.trs 2>/dev/null) == 199 ]]
	# the length of a packet in the middle
	at=$(grep -obaP 'e100' x.pftrace | cut -d : -f 1)
	for back in 14 15 16 17 18 19 20; do
		cp x.pftrace bad
		printf '\377' | dd of=bad bs=1 seek=$((at - back)) conv=notrunc status=none
		trdecode -q bad 2>/dev/null >y.trs || [[ $? == 1 ]]
		(($(trfilter -q -c 'kind == instant' y.trs) >= 197))
	done
	cp x.pftrace bad
	dd if=/dev/zero of=bad bs=1 seek=$at count=60 conv=notrunc status=none
	run -1 errors trdecode bad
	assert_line --regexp '^trdecode: bad: 0x[0-9a-f]+: no packet$'
	[[ $(trdecode -q bad 2>/dev/null | trencode -q -t ndjson 2>/dev/null | jq -c 'select(.type == "gap") | .args.reason') == '"damage"' ]]
}

# bare FILE: make a trace of text on stdin, whose packets have no sequence
bare() {
	sed 's/^{/packet {/' | protoc --encode=m.Trace -I "$ROOT/t/proto" perfetto.proto >"$1"
}

@test "probe: a trace whose packets have no sequence is read, with what packets keep for later ones" {
	tracks >tracks
	cat tracks - >events <<-'END'
		{ timestamp: 5 sequence_flags: 2 interned_data { event_names { iid: 1 name: "kept" } } trace_packet_defaults { track_event_defaults { track_uuid: 1 } } }
		{ timestamp: 10 sequence_flags: 2 track_event { type: BEGIN name_iid: 1 } }
		{ timestamp: 20 sequence_flags: 2 track_event { type: END } }
	END
	bare x <events
	run -0 rows x
	assert_line '0.000000010 8 worker kept {'
	trace with <events
	trencode -q -t ndjson <(trdecode -q x) >got
	trencode -q -t ndjson <(trdecode -q with) | diff got -
	# each kind of packet that a program is likely to write
	while read -r event packet; do
		bare x <<<"{ $packet }"
		run -0 pipefail "trdecode -q x | trencode -q -t ndjson | jq -r .name"
		assert_line "$event"
	done <<-'END'
		e timestamp: 9 track_event { type: INSTANT name: "e" track_uuid: 4 flow_ids: 7 debug_annotations { name: "x" double_value: 0.5 } }
		softirq_entry ftrace_events { cpu: 1 event { timestamp: 7 pid: 8 softirq_entry { vec: 1 } } }
		forks timestamp: 9 sys_stats { num_forks: 6 }
		vm_rss_kb timestamp: 9 process_stats { processes { pid: 5 vm_rss_kb: 77 } }
		android_log timestamp: 9 android_log { events { pid: 5 tid: 6 tag: "T" message: "m" } }
	END
	# the end of the first bytes is anywhere in a packet
	for ((n = 2; n < 400; n++)); do
		echo "{ timestamp: $n track_event { type: INSTANT name: \"an event of some length\" } }"
	done | bare rest
	python3 - <<-'END'
		for i in range(44):
		    event = b"\x48\x03\xba\x01" + bytes([i]) + b"x" * i
		    packet = b"\x40\x01\x5a" + bytes([len(event)]) + event
		    open("at%02d" % i, "wb").write(b"\n" + bytes([len(packet)]) + packet + open("rest", "rb").read())
	END
	for file in at*; do
		run -0 trdecode --info "$file"
		assert_line --regexp '^packets +399$'
	done
}

@test "probe: other messages of Protocol Buffers are no trace" {
	# lists of messages in field 1, with the shapes of OTLP, of tf.train.Example, and of descriptors
	python3 - <<-'END'
		import random
		def varint(n):
		    out = b""
		    while n > 127:
		        out += bytes([n & 127 | 128])
		        n >>= 7
		    return out + bytes([n])
		def field(number, value):
		    if isinstance(value, int):
		        return varint(number << 3) + varint(value)
		    if isinstance(value, float):
		        return varint(number << 3 | 1) + bytes(8)
		    if isinstance(value, str):
		        value = value.encode()
		    return varint(number << 3 | 2) + varint(len(value)) + value
		def message(*fields):
		    return b"".join(field(number, value) for number, value in fields)
		span = message((1, b"0123456789abcdef"), (2, b"01234567"), (5, "name"), (6, 1), (7, 0.5))
		scope = message((1, message((1, "lib"), (2, "1.0"))), (2, span))
		feature = message((1, "key"), (2, message((1, message((1, "value"))))))
		files = [message((1, message((2, scope)))), message((1, message((1, message((1, "a"))), (2, scope)))),
		         message((1, message((1, feature)))), message((1, message((1, "name"), (2, 3)))), message((1, message((1, 5), (2, "x")))),
		         message((1, message((1, "only")))), message((1, message((11, "text"), (8, 3))))]
		random.seed(5)
		def some(depth):
		    return message(*((random.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15)), random.choice(
		        (random.randrange(1 << 20), 0.5, "text", "", "some longer text", some(depth - 1) if depth else 7)))
		        for _ in range(random.randrange(1, 5))))
		files += [message(*((1, some(3)) for _ in range(random.randrange(1, 4)))) for _ in range(60)]
		files += [b"\n" + varint(n) + bytes(random.randrange(256) for _ in range(n)) for n in range(2, 200, 7)]
		for i, data in enumerate(files):
		    open("other%03d" % i, "wb").write(data)
	END
	protoc --descriptor_set_out=descriptors -I "$ROOT/t/proto" perfetto.proto
	for file in other* descriptors; do
		run trdecode -q --info "$file"
		refute_output --regexp 'format +perfetto'
	done
}

@test "probe: other formats are none, and -f perfetto takes any packets" {
	printf '\n\n\nplain text\n' >text
	run -2 trdecode text
	printf '\n\x04\x08\x01\x10\x02\n\x04\x08\x03\x10\x04' >profile
	run -0 trdecode --info profile
	assert_line --regexp '^format +pprof$'
	printf '\n\x02\x40\x05' >x
	run -2 trdecode --info x
	run -0 trdecode -f perfetto --info x
	assert_line --regexp '^packets +1$'
	# a large packet, whose sequence the service writes after it
	{
		printf '\n\xab\x9c\x01\x40\x05\x5a\xa3\x9c\x01\x22\x99\x9c\x01\x52\x01t\x32\x92\x9c\x01'
		printf '%019986d' 0
		printf '\x48\x03\xba\x01\x01i\x50\x07'
	} >x
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <x | grep -q 'trusted_packet_sequence_id: 7'
	run -0 rows x
	assert_output --partial '0.000000005 - - i'
	# the same header before other bytes
	head -c 9000 "$BIN/trdecode" | cat <(head -c 4 x) - >other
	run -2 trdecode other
}

@test "large traces are sorted on disk" {
	{
		tracks
		awk 'BEGIN {
			for (i = 40000; i > 0; i--)
				printf "{ timestamp: %d000 track_event { type: INSTANT track_uuid: 1 name: \"e\" debug_annotations { name: \"text\" string_value: \"%0100d\" } } }\n", i, i
		}'
	} | trace x.pftrace
	trdecode -q x.pftrace | trencode -q -t tsv --no-header --columns time | sort -nc
	[[ $(trdecode -q x.pftrace | trfilter -q -c 'kind == instant') == 40000 ]]
}

@test "what trencode writes of the kernel's scheduler is read once: events of each group and type, as in the source" {
	# events of perf.data have no group
	for file in "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" "$DATA/trace-cmd/v7-zstd-split-lost.dat" "$DATA/perf/sched.data.gz" "$DATA/perf/offcpu.data.gz"; do
		trdecode -q "$file" >x.trs
		trencode -q -t perfetto -o x.pftrace x.trs
		trencode -q -t ndjson -c time,group,type x.trs | jq -r '"\(.group // "sched") \(.type) \(.time)"' | sort >want
		[[ -s want ]]
		trdecode -q x.pftrace | trencode -q -t ndjson -c time,group,type | jq -r '"\(.group // "sched") \(.type) \(.time)"' | sort | diff want - || fail "$file"
	done
	# switches that are compact, and those that are not; wakeups without success
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >x.trs
	trencode -q -t perfetto x.trs | trdecode -q >again.trs
	for of in x again; do
		trfilter -q 'type == "sched_switch"' $of.trs | trencode -q -t tsv -c time,tid,prev_pid,prev_prio,next_pid,next_prio >$of.switches
		trencode -q -t chrome $of.trs | grep -oE '"name":"(Runnable|Running)|"ph":"s"' | sort | uniq -c >$of.states
	done
	[[ -s x.states ]]
	cmp x.switches again.switches
	diff x.states again.states
}

@test "snapshots of clocks in any order: a time is converted by the last one before it" {
	# the points of a clock that steps back and forth, equal times too, and a model of the rule
	python3 - >points <<-'END'
		import random
		random.seed(7)
		points = [(random.randrange(500, 900) * 1000, 1000000 + 1000 * i) for i in range(200)]
		for i, (own, boot) in enumerate(points):
		    print("{ clock_snapshot { clocks { clock_id: 6 timestamp: %d } clocks { clock_id: 3 timestamp: %d } } }" % (boot, own))
		want = []
		for t in range(490123, 910000, 4999):
		    before = [p for p in points if p[0] <= t]
		    own, boot = max(enumerate(before), key=lambda p: (p[1][0], p[0]))[1] if before else min(points)
		    want.append(t - own + boot)
		    print('{ timestamp: %d timestamp_clock_id: 3 track_event { type: INSTANT track_uuid: 1 name: "i" } }' % t)
		open("want", "w").write("".join("%d\n" % t for t in sorted(want)))
	END
	{
		tracks
		cat points
	} | trace x.pftrace
	trdecode -q x.pftrace | trencode -q -t ndjson -c time,name | jq 'select(.name == "i").time' >got
	cmp want got
}

@test "many snapshots of a clock that steps down take linear time" {
	python3 - <<-'END'
		def v(n):
		    o = bytearray()
		    while n > 127:
		        o.append(n & 127 | 128)
		        n >>= 7
		    return bytes(o) + bytes([n])
		def num(k, n): return v(k << 3) + v(n)
		def sub(k, data): return v(k << 3 | 2) + v(len(data)) + data
		out = bytearray()
		for i in range(5000):
		    clocks = sub(1, num(1, 6) + num(2, 1000000 + i))
		    for k in range(32):
		        clocks += sub(1, num(1, 3) + num(2, 2**40 - 32 * i - k))
		    out += sub(1, sub(6, clocks) + num(10, 1))
		out += sub(1, num(8, 2000000) + sub(11, num(9, 3) + num(11, 7) + sub(23, b"x")) + num(10, 1))
		open("x.pftrace", "wb").write(out)
	END
	# 0.02 s; with a sorted array, 3 s
	(
		ulimit -t 1
		trdecode -q -o x.trs x.pftrace
	)
	assert_equal "$(trencode -q -t ndjson x.trs | wc -l)" 1
}

@test "times in microseconds out of range are damage, not other times" {
	# 1000 * 2^61 is 0 modulo 2^64
	trace x.pftrace <<-'END'
		{ sequence_flags: 1 thread_descriptor { pid: 1 tid: 2 reference_timestamp_us: 2305843009213693952 }
		  interned_data { callstacks { iid: 1 } } }
		{ streaming_profile_packet { callstack_iid: 1 timestamp_delta_us: 5 } }
		{ track_event { type: INSTANT name: "x" timestamp_delta_us: 7 } }
	END
	run -1 --separate-stderr pipefail "trdecode x.pftrace | trencode -q -t ndjson"
	assert_output ''
	assert_regex "$stderr" '2 events with an impossible time'
}

# columns FILE COLUMNS: the rows of a small trace of Perfetto's own tests, whose values are the expected ones there
columns() {
	trdecode -q "$DATA/perfetto/$1.pftrace" | trencode -q -t csv -c "$2" | tail -n +2
}

@test "statistics of the system and of processes: every field is a counter" {
	columns cpuidle cpu,name,value >have
	diff have - <<-'END'
		0,cpuidle C8,486626084
		0,cpuidle C8,486636254
	END
	assert_equal "$(columns disk_stat name | sort -u | wc -l)" 16
	columns process-runtime name,value >have
	assert_equal "$(grep -c runtime have)" 4
	grep -qx runtime_kernel_mode,1327800000000 have
	trace x.pftrace <<-'END'
		{ timestamp: 10 sequence_flags: 1 sys_stats { num_irq { key: 17 value: 5 } num_softirq { key: 1 value: 6 }
		  collection_end_timestamp: 3 buddy_info { node: "0" zone: "DMA" order_pages: 7 order_pages: 8 }
		  thermal_zone { name: "thermal_zone0" temp: 9 type: "cpu" } gpufreq_mhz: 300 gpufreq_mhz: 350
		  slab_info { name: "dentry" pages_per_slab: 2 num_slabs: 11 } } }
		{ timestamp: 10 process_stats { processes { pid: 4 dmabuf_rss_kb: 12 } } }
	END
	trdecode x.pftrace 2>err | trencode -q -t csv -c pid,name,value | tail -n +2 >have
	diff have - <<-'END'
		,irq 17,5
		,softirq TIMER,6
		,buddy 0 DMA order 0,7
		,buddy 0 DMA order 1,8
		,thermal cpu,9
		,gpufreq 0,300
		,gpufreq 1,350
		,slab dentry pages_per_slab,2
		,slab dentry num_slabs,11
		4,dmabuf_rss_kb,12
	END
	assert_equal "$(cat err)" 'trdecode: x.pftrace: 1 field was left out, by name or number: SysStats.collection_end_timestamp (1)'
}

@test "fields that are left out are counted by name, or by number" {
	trace x.pftrace <<-'END'
		{ timestamp: 10 sequence_flags: 1 sys_stats { num_forks: 6 of_later_versions: 7 } }
		{ timestamp: 11 process_stats { processes { pid: 4 vm_rss_kb: 5 threads { tid: 8 } threads { tid: 9 } } } }
	END
	run -0 --separate-stderr trdecode -o /dev/null x.pftrace
	assert_equal "$stderr" 'trdecode: x.pftrace: 3 fields were left out, by name or number: SysStats.60 (1), ProcessStats.Process.threads (2)'
}

@test "a packet with a field of a later version is read, and the field is counted" {
	tracks | trace first.pftrace
	trace second.pftrace <<-'END'
		{ timestamp: 10 track_event { type: INSTANT track_uuid: 1 name: "e" } }
	END
	size=$(stat -c %s second.pftrace)
	cat first.pftrace second.pftrace >x.pftrace
	# field 200 is 7, an integer, after the payload
	{
		cat first.pftrace
		printf '\x0a'
		printf %b "\\x$(printf %x $((size - 2 + 3)))"
		tail -c +3 second.pftrace
		printf '\xc0\x0c\x07'
	} >y.pftrace
	run -0 --separate-stderr trdecode y.pftrace -o y.trs
	assert_equal "$stderr" 'trdecode: y.pftrace: 1 field was left out, by name or number: TracePacket.others (1)'
	diff <(trdecode -q x.pftrace | trencode -q -t ndjson) <(trencode -q -t ndjson y.trs)
}

@test "several payloads of a packet: those that are not read are counted, two that are read are damage" {
	trace x.pftrace <<-'END'
		{ timestamp: 10 sequence_flags: 1 track_event { type: INSTANT track_uuid: 1 name: "a" } }
		{ timestamp: 20 unknown: "abc" far: "def" }
		{ timestamp: 30 unknown: "abc" track_event { type: INSTANT track_uuid: 1 name: "b" } far: "def" }
		{ timestamp: 40 track_event { type: INSTANT track_uuid: 1 name: "c" } }
	END
	run -0 errors trdecode -o x.trs x.pftrace
	assert_output 'trdecode: x.pftrace: 4 packets of kinds that trdecode does not read were left out, by name or number: 999 (2), 1500 (2)'
	assert_equal "$(trstat -q -g name -c count -t tsv -s name x.trs | tr '\n' ' ')" $'name\tcount a\t1 b\t1 c\t1 '
	# one more, of the number 2001, which no payload has: 2001 << 3 | 2 is 0xfa8a, as a varint fa 7d
	{
		cat x.pftrace
		printf '\x0a\x0b\x08\x01\x50\x01\xba\x3e\x01\x61\x8a\x7d\x00'
		cat x.pftrace
	} >y.pftrace
	run -1 errors trdecode -o y.trs y.pftrace
	assert_line "trdecode: y.pftrace: 0x$(printf %x "$(stat -c %s x.pftrace)"): no packet"
	trace z.pftrace <<-'END'
		{ timestamp: 10 sequence_flags: 1 track_event { type: INSTANT track_uuid: 1 name: "a" } }
		{ timestamp: 10 track_event { type: INSTANT track_uuid: 1 name: "b" } process_stats { processes { pid: 3 } } }
	END
	run -1 errors trdecode -o z.trs z.pftrace
	assert_line 'trdecode: z.pftrace: 0x12: no packet'
}

@test "every field of the messages that are read changes the stream, or is counted as left out" {
	run -0 python3 "$ROOT/t/tools/perfetto_fields.py" "$BIN/trdecode" "$ROOT"
	assert_output ''
}

@test "counters that follow a sample's timebase are counters of the CPU" {
	columns perf-followers kind,cpu,name,value >have
	diff have - <<-'END'
		counter,0,cpu-cycles,4672142
		counter,0,instructions,1144537
		sample,0,cpu-clock,
	END
}

@test "incremental counters count on in each sequence" {
	assert_equal "$(columns inc-counters value | paste -sd ' ')" '100 50 110 55'
}

@test "events with a phase are on the thread of their sequence; own tracks are not merged with those of the system" {
	columns legacy0 kind,pid,tid,comm,dur | grep -qx call,5,1,t1,1000
	tracks | sed 's/parent_uuid: 10 thread/thread/' >tracks.txt
	{
		cat tracks.txt
		cat <<-'END'
			{ timestamp: 100 track_event { name: "none" legacy_event { phase: 66 } } }
			{ timestamp: 200 track_event { legacy_event { phase: 69 } } }
			{ timestamp: 300 track_event { track_uuid: 0 name: "other" legacy_event { phase: 66 tid_override: 77 } } }
			{ timestamp: 400 track_event { track_uuid: 0 legacy_event { phase: 69 tid_override: 77 } } }
		END
	} | trace x.pftrace
	trdecode -q x.pftrace | trencode -q -t csv -c name,pid,tid,dur | tail -n +2 >have
	diff have - <<-'END'
		none,7,8,100
		other,7,77,100
	END
	columns disallow-merging name,tid,dur >have
	diff have - <<-'END'
		event1,1,1000
		event2,1,8000
		atrace,1,8000
	END
}

@test "an end is of the innermost call of its category and name, or of no call" {
	# event2 and mark are those of Perfetto's test_track_event_with_atrace
	{
		tracks
		cat <<-'END'
			{ timestamp: 20000 track_event { track_uuid: 1 categories: "cat" name: "event2" legacy_event { phase: 66 } } }
			{ timestamp: 21000 track_event { track_uuid: 1 type: BEGIN name: "mark" } }
			{ timestamp: 28000 track_event { track_uuid: 1 categories: "cat" legacy_event { phase: 69 } } }
			{ timestamp: 29000 track_event { track_uuid: 1 type: END } }
			{ timestamp: 30000 track_event { track_uuid: 1 type: BEGIN categories: "a" name: "outer" } }
			{ timestamp: 31000 track_event { track_uuid: 1 type: BEGIN categories: "a" name: "inner" } }
			{ timestamp: 32000 track_event { track_uuid: 1 type: END categories: "b" } }
			{ timestamp: 33000 track_event { track_uuid: 1 type: END name: "other" } }
			{ timestamp: 34000 track_event { track_uuid: 1 type: END categories: "a" name: "outer" } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode x.pftrace 2>remarks | trencode -q -t csv -c time,dur,name"
	assert_output $'time,dur,name\n21000,7000,mark\n20000,8000,event2\n31000,3000,inner\n30000,4000,outer'
	grep -q '3 ends of calls without begins were left out' remarks
}

@test "numbers of threads and processes that are used again have the names of their time" {
	# the rows of trace processor's test_track_event_tracks_slices; events on the track of a process have
	# the number of its main thread
	columns pid-reuse time,name,tid,comm >have
	diff have - <<-'END'
		1000,event1_on_t1,1,t1
		2000,event1_on_t2,2,t2
		3000,event2_on_t2,2,t2
		4000,event1_on_p1,5,p1
		5000,event1_on_async,5,p1
		5100,event1_on_async2,5,p1
		6000,event1_on_async3,2,t2
		6000,event3_on_t1,1,t1
		11000,event1_on_t3,1,t3
		21000,event1_on_p2,5,p2
		22000,event1_on_t4,4,t4
		30000,event1_on_t1,,
		31000,event2_on_p2,5,p2
		32000,event2_on_t4,4,t4
		40000,event_and_track_async3,5,p1
	END
	# a number without a name is of the process that has it: before, between and after three of them
	{
		for n in 1 2 3; do
			echo "{ timestamp: ${n}000 sequence_flags: 1 track_descriptor { uuid: $n process { pid: 5 process_name: \"p$n\" } } }"
			echo "{ timestamp: ${n}100 track_event { type: INSTANT track_uuid: $n name: \"own\" } }"
			echo "{ timestamp: ${n}200 track_event { track_uuid: 0 name: \"any\" legacy_event { phase: 73 instant_event_scope: 2 pid_override: 5 tid_override: 5 } } }"
			echo "{ timestamp: ${n}300 process_stats { processes { pid: 5 vm_rss_kb: $n } } }"
		done
		# an older track is still its process's, and changes nothing of the number
		echo '{ timestamp: 3400 track_event { type: INSTANT track_uuid: 1 name: "old" } }'
		echo '{ timestamp: 3500 track_event { track_uuid: 0 name: "any" legacy_event { phase: 73 instant_event_scope: 2 pid_override: 5 tid_override: 5 } } }'
	} | trace x.pftrace
	trdecode -q x.pftrace | trencode -q -t csv -c time,comm | tail -n +2 >have
	diff have - <<-'END'
		1100,p1
		1200,p1
		1300,p1
		2100,p2
		2200,p2
		2300,p2
		3100,p3
		3200,p3
		3300,p3
		3400,p1
		3500,p3
	END
}

@test "names of threads and processes by time: of the process tree, of events of ftrace, of descriptors" {
	# events FILE: time and comm of each row
	events() {
		trdecode -q "$1" | trencode -q -t csv -c time,comm | tail -n +2
	}
	# a pid that is used again: a new process has the name of its parent until it has its own
	trace x.pftrace <<-'END'
		{ timestamp: 10 process_tree { processes { pid: 5 cmdline: "first" } } }
		{ ftrace_events { cpu: 0
		  event { timestamp: 5 pid: 5 print { buf: "I|5|one" } }
		  event { timestamp: 20 pid: 5 print { buf: "I|5|two" } }
		  event { timestamp: 50 pid: 1 task_newtask { pid: 5 comm: "init" clone_flags: 17 } }
		  event { timestamp: 60 pid: 5 print { buf: "I|5|three" } }
		  event { timestamp: 85 pid: 5 print { buf: "C|5|four|4" } }
		  event { timestamp: 86 pid: 5 cpu_frequency { state: 1 cpu_id: 2 } } } }
		{ timestamp: 80 process_tree { processes { pid: 5 cmdline: "second" } } }
		{ timestamp: 90 process_stats { processes { pid: 5 vm_rss_kb: 1 } } }
	END
	run -0 events x.pftrace
	assert_output $'5,first\n20,first\n50,\n60,init\n85,second\n86,second\n90,second'
	# names of switches (before and after), of renames, of an execution, and the process tree again
	trace x.pftrace <<-'END'
		{ timestamp: 10 process_tree { processes { pid: 5 cmdline: "p" } threads { tid: 6 tgid: 5 name: "alpha" } } }
		{ ftrace_events { cpu: 0
		  event { timestamp: 20 pid: 6 print { buf: "I|5|one" } }
		  event { timestamp: 60 pid: 6 task_rename { pid: 6 oldcomm: "alpha" newcomm: "beta" } }
		  event { timestamp: 65 pid: 6 print { buf: "I|5|two" } }
		  event { timestamp: 70 pid: 6 sched_switch { prev_comm: "gamma" prev_pid: 6 next_comm: "x" next_pid: 7 } }
		  event { timestamp: 80 pid: 7 sched_switch { prev_comm: "x" prev_pid: 7 next_comm: "delta" next_pid: 6 } }
		  event { timestamp: 85 pid: 6 print { buf: "I|5|three" } }
		  event { timestamp: 88 pid: 6 cpu_frequency { state: 1 cpu_id: 2 } }
		  event { timestamp: 90 pid: 6 sched_process_exec { filename: "/bin/a-program-with-a-long-name" pid: 6 } }
		  event { timestamp: 95 pid: 6 print { buf: "I|5|four" } }
		  event { timestamp: 110 pid: 6 print { buf: "I|5|five" } } } }
		{ timestamp: 100 process_tree { threads { tid: 6 tgid: 5 name: "omega" } } }
	END
	run -0 events x.pftrace
	assert_output $'20,alpha\n60,alpha\n65,beta\n70,gamma\n80,x\n85,delta\n88,delta\n90,a-program-with-\n95,a-program-with-\n110,omega'
	# descriptors: marks and counters of numbers have the names of their time
	trace x.pftrace <<-'END'
		{ timestamp: 1 sequence_flags: 1 track_descriptor { uuid: 1 process { pid: 5 process_name: "old" } } }
		{ timestamp: 1 track_descriptor { uuid: 2 thread { pid: 5 tid: 6 thread_name: "oldthr" } } }
		{ ftrace_events { cpu: 0
		  event { timestamp: 110 pid: 6 print { buf: "I|5|mark" } } event { timestamp: 140 pid: 6 print { buf: "C|5|ctr|1" } }
		  event { timestamp: 320 pid: 6 print { buf: "I|5|mark" } } event { timestamp: 330 pid: 6 print { buf: "C|5|ctr|1" } } } }
		{ timestamp: 300 track_descriptor { uuid: 3 process { pid: 5 process_name: "new" } } }
		{ timestamp: 300 track_descriptor { uuid: 4 thread { pid: 5 tid: 6 thread_name: "newthr" } } }
	END
	run -0 events x.pftrace
	assert_output $'110,oldthr\n140,old\n320,newthr\n330,new'
}

@test "states of a track last until the next one, and are states in a copy" {
	# the rows of trace processor's test_track_event_simple_state
	columns state-track time,dur,group,name >have
	diff have - <<-'END'
		1000,2000,state_cat,state_active
		3000,1000,state_cat,state_idle
	END
	run -0 --separate-stderr trdecode "$DATA/perfetto/state-track.pftrace" -o x.trs
	assert_equal "$stderr" ''
	trencode -q -t chrome --rebase=none x.trs | jq -c '.traceEvents[] | select(.ph | test("^[be]$")) | [.ph, .ts, .name]' >have
	diff have - <<-'END'
		["b",1,"state_active"]
		["e",3,"state_active"]
		["b",3,"state_idle"]
		["e",4,"state_idle"]
	END
	# states of a thread, of a process and of none, in any order of the packets, one without an end
	{
		tracks
		cat <<-'END'
			{ timestamp: 900 track_event { type: STATE track_uuid: 4 name: "late" } }
			{ timestamp: 100 track_event { type: BEGIN track_uuid: 1 name: "call" } }
			{ timestamp: 150 track_event { type: STATE track_uuid: 4 name: "run" debug_annotations { name: "n" uint_value: 3 } } }
			{ timestamp: 200 track_event { type: END track_uuid: 1 } }
			{ timestamp: 250 track_event { type: STATE track_uuid: 4 name: "run" } }
			{ timestamp: 260 track_event { type: STATE track_uuid: 4 name: "run" debug_annotations { name: "n" uint_value: 4 } } }
			{ timestamp: 300 track_event { type: STATE track_uuid: 4 debug_annotations { name: "end" uint_value: 5 } } }
			{ timestamp: 350 track_event { type: STATE track_uuid: 4 } }
			{ timestamp: 400 track_event { type: STATE track_uuid: 5 name: "up" } }
			{ timestamp: 500 track_event { type: STATE track_uuid: 5 name: "down" } }
			{ timestamp: 600 track_event { type: STATE track_uuid: 2 name: "of no states" } }
			{ timestamp: 1000 track_event { type: STATE track_uuid: 4 name: "open" } }
			{ timestamp: 1 track_descriptor { uuid: 4 parent_uuid: 1 name: "state" state { } } }
			{ timestamp: 1 track_descriptor { uuid: 5 parent_uuid: 10 name: "power" state { } } }
		END
	} | trace x.pftrace
	trdecode -q x.pftrace | trencode -q -t ndjson -c time,kind,name,tid,dur,args |
		jq -r 'del(.args.track_id) | [.time, .kind, .name, .tid, .dur, (.args | tojson)] | map(tostring) | join(" ")' | sort -n >have
	# calls open at the end are closed at their thread's last event
	diff have - <<-'END'
		100 call call 8 100 null
		150 call run 8 150 {"n":3,"end":5}
		260 instant run 8 null {"n":4}
		400 call up 7 100 {}
		500 call down 7 100 {}
		600 instant of no states 7 null null
		900 call late 8 100 {}
		1000 call open 8 0 {}
	END
	trdecode -q x.pftrace | trencode -q -t perfetto -o y.pftrace
	diff <(trdecode -q x.pftrace | trencode -q -t ndjson -c time,kind,type,name,pid,tid,dur) \
		<(trdecode -q y.pftrace | trencode -q -t ndjson -c time,kind,type,name,pid,tid,dur)
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <y.pftrace >text
	assert_equal "$(grep -c 'state {' text) $(grep -c 'type: STATE' text)" '2 8'
}

@test "a thread with a number below 0 keeps the number and its name" {
	trace x.pftrace <<-'END'
		{ timestamp: 1000 sequence_flags: 1 track_event { type: BEGIN track_uuid: 1 name: "work" } }
		{ timestamp: 3000 track_event { type: END track_uuid: 1 } }
		{ timestamp: 1 track_descriptor { uuid: 1 thread { pid: 1176181 tid: -136712896 thread_name: "main" } } }
	END
	trdecode x.pftrace >x.trs
	trencode -q -t csv -c pid,tid,comm,dur x.trs | grep -qx 1176181,-136712896,main,2000
	# no such number is possible in a timeline: it is in the name
	trencode -q -t chrome x.trs | grep -q '"thread_name","args":{"name":"main \[-136712896\]"}'
	trencode -q -t perfetto x.trs | protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto | grep -q 'thread_name: "main \[-136712896\]"'
}

@test "calls with a duration that overlap keep it, as in Trace Event JSON: also beside B and E, and in copies" {
	need jq
	python3 - <<-'END'
		import json, random
		random.seed(11)
		packets, events = [], []
		def event(tid, ph, ts, name="", dur=None):
		    kind = {"B": "type: BEGIN", "E": "type: END"}.get(ph, "legacy_event { phase: 88 duration_us: %s }" % dur)
		    packets.append("packet { trusted_packet_sequence_id: 1 timestamp: %d track_event { track_uuid: %d %s %s } }"
		                   % (ts * 1000, tid, 'name: "%s"' % name if name else "", kind))
		    events.append({"ph": ph, "pid": 7, "tid": tid, "ts": ts, "name": name} | ({"dur": dur} if ph == "X" else {}))
		for tid in 1, 2:
		    packets.append("packet { trusted_packet_sequence_id: 1 timestamp: 1 sequence_flags: 1 track_descriptor { uuid: %d thread { pid: 7 tid: %d } } }" % (tid, tid))
		total = {}
		def add(name, dur):
		    n, sum_ = total.get(name, (0, 0))
		    total[name] = n + 1, sum_ + dur * 1000
		now = 10
		for i in range(600):
		    # X of one thread; X in a B of the other; a B begins in no X, and nothing else before all ended
		    dur = random.choice((0, 1, 2, 5, 40))
		    name = "f%d" % (i % 7)
		    event(1, "X", now + random.randrange(20), name, dur)
		    add(name, dur)
		    end = now + random.randrange(5, 30)
		    event(2, "B", now, "b%d" % (i % 3))
		    add("b%d" % (i % 3), end - now)
		    last = end
		    for n in range(i % 4):
		        ts, dur = random.randrange(now + 1, end), random.choice((0, 1, 3, 30))
		        event(2, "X", ts, "x%d" % n, dur)
		        add("x%d" % n, dur)
		        last = max(last, ts + dur)
		    event(2, "E", end)
		    now = last + 1
		open("x.txt", "w").write("\n".join(packets))
		json.dump(events, open("x.json", "w"))
		open("want", "w").write("".join("%s\t%d\t%d\n" % (k, *total[k]) for k in sorted(total)))
	END
	protoc --encode=m.Trace -I "$ROOT/t/proto" perfetto.proto <x.txt >x.pftrace
	sums() {
		trencode -q -t ndjson -c name,dur | jq -sr 'map(select(.dur != null)) | group_by(.name)[] | [.[0].name, length, (map(.dur) | add)] | @tsv'
	}
	trdecode x.pftrace >x.trs 2>err
	[ ! -s err ] || fail "$(cat err)"
	sums <x.trs | diff want -
	trdecode x.json | trstat -q -g name,depth -c count,total,self -t tsv >json
	trstat -q -g name,depth -c count,total,self -t tsv x.trs | diff json -
	for t in perfetto chrome ctf; do
		trencode -q -t $t -o copy.$t x.trs
		trdecode copy.$t | sums | diff want - || fail $t
	done
	[ "$(jq '[.traceEvents[] | select(.ph == "X" and .overlaps)] | length > 50' copy.chrome)" = true ]
}

@test "an END is of the innermost call that was begun, not of one with a duration" {
	{
		tracks
		cat <<-'END'
			{ timestamp: 1000 track_event { type: BEGIN track_uuid: 1 name: "b" } }
			{ timestamp: 3000 track_event { track_uuid: 1 name: "x" legacy_event { phase: 88 duration_us: 10 } } }
			{ timestamp: 5000 track_event { type: END track_uuid: 1 } }
			{ timestamp: 30000 track_event { track_uuid: 2 name: "o" legacy_event { phase: 88 duration_us: 10 } } }
			{ timestamp: 35000 track_event { track_uuid: 2 name: "p" legacy_event { phase: 88 duration_us: 10 } } }
			{ timestamp: 36000 track_event { type: BEGIN track_uuid: 2 name: "in" } }
			{ timestamp: 60000 track_event { track_uuid: 1 name: "short" legacy_event { phase: 88 duration_us: 10 } } }
			{ timestamp: 61000 track_event { type: BEGIN track_uuid: 1 name: "long" } }
			{ timestamp: 75000 track_event { type: END track_uuid: 1 } }
		END
	} | trace x.pftrace
	run -0 pipefail "trdecode x.pftrace 2>err | trstat -q -g name -c count,total -t tsv -s name"
	assert_output - <<-'END'
		name	count	total
		b	1	4000
		in	1	4000
		long	1	9000
		o	1	10000
		p	1	10000
		short	1	10000
		x	1	10000
	END
	diff - err <<-'END'
		trdecode: x.pftrace: 1 end of calls without a begin was left out
		trdecode: x.pftrace: 2 calls that end after the call around them were ended with it
	END
}
