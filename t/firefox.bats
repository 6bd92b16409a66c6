# Profiles of the Firefox Profiler: samples, markers and counters, processed and gecko, of many versions.

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

# stacks WEIGHT STREAM: folded, with the sum of that weight
stacks() {
	trfilter -q 'kind == sample' "$2" | trencode -q -t folded --weight "$1" |
		awk '{ n = $NF; sub(/^[^;]*;?/, ""); sub(/ *[0-9-]+$/, ""); gsub(/ /, "_"); sum[$0] += n }
			END { for (s in sum) if (sum[s] && s != "") print s, sum[s] }' | LC_ALL=C sort
}

# reads FILE: its samples and markers are those of an independent reader
reads() {
	trdecode -q -o x.trs "$1"
	python3 "$ROOT/t/tools/firefox_stacks.py" stacks "$1" >want
	[ -s want ]
	awk 'NF == 3 { print $1, $2 }' want | LC_ALL=C sort | diff - <(stacks count x.trs)
	awk 'NF == 3 && $3 { print $1, $3 }' want | LC_ALL=C sort | diff - <(stacks period x.trs)
	python3 "$ROOT/t/tools/firefox_stacks.py" markers "$1" | awk 'NF == 3' | LC_ALL=C sort >want
	trfilter -q 'kind == enter || kind == leave' x.trs | trstat -q -t csv -g name -c count,total | sed '1d; s/ /_/g; s/,/ /g' |
		LC_ALL=C sort | diff want -
	python3 "$ROOT/t/tools/firefox_stacks.py" markers "$1" | awk 'NF == 2 { print $1, $2 }' | LC_ALL=C sort >want
	trfilter -q 'kind == instant' x.trs | trstat -q -t csv -g type -c count | sed '1d; s/ /_/g; s/,/ /g' | LC_ALL=C sort | diff want -
}

# A thread with samples and markers of each phase, in the processed format of version 48.
processed() {
	cat >processed.json <<-'END'
		{"meta":{"preprocessedProfileVersion":48,"interval":1,"startTime":1700000000000,"processType":0,
			"categories":[{"name":"Other"},{"name":"Kernel"},{"name":"Layout"}],"sampleUnits":{"threadCPUDelta":"µs"},
			"markerSchema":[{"name":"Text","fields":[{"key":"name","format":"unique-string"},{"key":"n","format":"integer"}]}]},
		"libs":[{"name":"libx.so","path":"/usr/lib/libx.so","codeId":"AB12CD","breakpadId":"00"}],
		"counters":[{"name":"malloc","category":"Memory","pid":"7","mainThreadIndex":0,
			"samples":{"time":[1,2],"count":[100,-30],"number":[5,6]}}],
		"threads":[{"name":"work","processName":"app","pid":"7","tid":8,"processType":"default",
			"samples":{"length":4,"time":[1.5,2.5,3.5,4.25],"stack":[1,2,1,null],"weight":null,"threadCPUDelta":[null,1000,2,7]},
			"markers":{"length":5,"name":[3,4,4,5,3],"startTime":[1,2,null,2.5,5],"endTime":[4,null,3,null,6],"phase":[1,2,3,0,1],
				"category":[2,2,2,0,2],"data":[{"type":"Text","name":4,"n":3},null,null,{"type":"Text","cause":{"time":1,"stack":1}},null]},
			"stackTable":{"length":3,"frame":[0,1,2],"prefix":[null,0,0],"category":[0,0,0]},
			"frameTable":{"length":3,"address":[-1,31,-1],"func":[0,1,2],"category":[0,0,1],"line":[12,null,null]},
			"funcTable":{"length":3,"name":[0,1,2],"resource":[-1,0,-1],"fileName":[6,null,null],"lineNumber":[3,null,null]},
			"resourceTable":{"length":1,"lib":[0],"name":[7]},
			"stringArray":["main","0x1f","sys_read","Reflow","Styles","Paint","a.c","libx.so"]}]}
	END
}

@test "samples, their weights, and markers: an independent reader has the same" {
	processed
	reads processed.json
	run -0 pipe "trdecode processed.json | trfilter 'kind == sample' | trencode -q -t csv -c time,pid,tid,comm,stack,weight"
	assert_output - <<-'END'
		time,pid,tid,comm,stack,weight
		1500000,7,8,work,"[""main"",""<1f>""]",0
		2500000,7,8,work,"[""main"",""sys_read""]",1000000
		3500000,7,8,work,"[""main"",""<1f>""]",2000
		4250000,7,8,work,,7000
	END
	run -0 pipe "trdecode processed.json | trencode -q -t ndjson | jq -c '[.time, .name, .dur, .args]'"
	assert_line '[1000000,"Reflow",3000000,{"name":"Styles","n":3}]'
	assert_line '[2000000,"Styles",1000000,null]'
	run -0 pipe "trdecode processed.json | trfilter 'type == \"Paint\" || kind == enter || kind == leave' | trstat -q -t csv -g name,group -c count"
	assert_line Reflow,Layout,2
	assert_line Paint,Other,1
	run -0 pipe "trdecode processed.json | trfilter 'type == \"Paint\"' | trencode -q -t folded"
	assert_output 'work;main;<1f> 1'
	run -0 pipe "trdecode processed.json | trstat -q -t csv -g name,file,line -c count"
	assert_line 'main,a.c,12,3'
	# counters: the sum of the changes
	run -0 pipe "trdecode processed.json | trfilter 'type == \"malloc\"' | trencode -q -t csv -c time,value,change,number"
	assert_line '1000000,100,100,5'
	assert_line '2000000,70,-30,6'
}

@test "tables of all threads, of rows, with distances, and in any order" {
	processed
	trdecode -q processed.json | trencode -q -t csv >want
	jq -cS . processed.json >sorted.json
	trdecode -q -f firefox sorted.json | trencode -q -t csv -c time,tid,name,dur,stack,weight,arg.name,arg.n |
		diff <(trdecode -q processed.json | trencode -q -t csv -c time,tid,name,dur,stack,weight,arg.name,arg.n) -
	# versions from 60 on share the tables, and from 66 on have distances
	python3 - <<-'END'
		import json
		p = json.load(open("processed.json"))
		t = p["threads"][0]
		p["shared"] = {n: t.pop(n) for n in ("stackTable", "frameTable", "funcTable", "resourceTable", "stringArray")}
		p["shared"]["sources"] = {"filename": [6], "length": 1}
		files = p["shared"]["funcTable"].pop("fileName")
		p["shared"]["funcTable"]["source"] = [None if f is None else 0 for f in files]
		prefix = p["shared"]["stackTable"].pop("prefix")
		p["shared"]["stackTable"]["prefixOffset"] = [0 if x is None else i - x for i, x in enumerate(prefix)]
		times = t["samples"].pop("time")
		t["samples"]["timeDeltas"] = [b - a for a, b in zip([0] + times, times)]
		json.dump(p, open("shared.json", "w"))
		rows = lambda t: {"schema": {n: i for i, n in enumerate(c for c in t if isinstance(t[c], list))},
		                  "data": [list(r) for r in zip(*(c for c in t.values() if isinstance(c, list)))]}
		p = json.load(open("processed.json"))
		t = p["threads"][0]
		for n in ("samples", "markers", "stackTable"):
		    t[n] = rows(t[n])
		json.dump(p, open("rows.json", "w"))
		t["samples"] = {"data": t["samples"]["data"], "schema": t["samples"]["schema"]}
		t["markers"] = {"data": t["markers"]["data"], "schema": t["markers"]["schema"]}
		json.dump(p, open("late.json", "w"))
	END
	for file in shared rows late; do
		trdecode -q $file.json | trencode -q -t csv | diff want -
	done
	gzip -c shared.json >profile.json.gz
	trdecode -q <profile.json.gz | trencode -q -t csv | diff want -
	reads shared.json
	reads rows.json
}

@test "gecko: names with modules, files and lines, addresses of a process, processes with times of their own" {
	cat >gecko.json <<-'END'
		{"meta":{"version":24,"processType":0,"startTime":1000,"categories":[{"name":"User"},{"name":"Kernel"}]},
		"libs":[{"start":4096,"end":8192,"offset":0,"name":"app","path":"/bin/app","breakpadId":"0"}],
		"threads":[{"name":"main","tid":1,"pid":1,"processType":"default",
			"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[[5,1,null,0,0]]},
			"samples":{"schema":{"stack":0,"time":1,"responsiveness":2},"data":[[1,5,0],[2,6],[3,7.5]]},
			"frameTable":{"schema":{"location":0,"relevantForJS":1,"category":7},"data":[[0],[1,false,0,0,0,0,0,1],[2],[3]]},
			"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[0,2],[2,3]]},
			"stringTable":["main (in app)","do_syscall (in [kernel.kallsyms])","draw (ui.js:12:3)","0x1004","GC","gc"]}],
		"processes":[{"meta":{"version":24,"startTime":1002},"libs":[],"threads":[{"name":"web","tid":9,"pid":9,
			"samples":{"schema":{"stack":0,"time":1},"data":[[0,1]]},"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3},"data":[]},
			"frameTable":{"schema":{"location":0},"data":[[0]]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},
			"stringTable":["f"]}]}]}
	END
	reads gecko.json
	run -0 pipe "trdecode gecko.json | trfilter 'kind == sample' | trencode -q -t csv -c time,tid,stack"
	assert_output - <<-'END'
		time,tid,stack
		3000000,9,"[""f""]"
		5000000,1,"[""main"",""do_syscall""]"
		6000000,1,"[""main"",""draw""]"
		7500000,1,"[""main"",""draw"",""<1004>""]"
	END
	run -0 pipe "trdecode gecko.json | trstat -q -t csv -g name,module,file,line -c count"
	assert_line 'main,app,,,3'
	assert_line 'draw,,ui.js,12,2'
	# the cause of a marker is a thread with one sample, of which the schema may come last
	local table
	for table in '{"schema":{"stack":0,"time":1},"data":[[2,0.7]]}' '{"data":[[0.7,2]],"schema":{"time":0,"stack":1}}'; do
		sed "s/\[5,1,null,0,0\]/[5,1,null,0,0,{\"n\":4,\"stack\":{\"name\":\"SyncProfile\",\"samples\":$table}}]/" gecko.json >cause.json
		run -0 pipe "trdecode cause.json | trfilter 'kind == instant' | trencode -q -t ndjson | jq -c '[.name, .args.n, .args.stack]'"
		assert_output '["gc",4,["main","draw"]]'
	done
	# a recording of the developer tools has such a profile
	jq -c '{label: "", duration: 1, profile: .}' gecko.json | trdecode -q -f firefox | trstat -q -t csv -c count |
		diff <(trdecode -q gecko.json | trstat -q -t csv -c count) -
}

@test "trsym finds the names of addresses, from the first byte of a library in memory" {
	gzip -dc "$DATA/perf/work.gz" >work
	start=$(nm work | awk '$3 == "main" { print $1 }')
	first=$(readelf -lW work | awk '$1 == "LOAD" { print $3; exit }')
	id=$(readelf -n work | sed -n 's/.*Build ID: //p')
	# a non-position-independent program has addresses that do not begin at 0
	cat >x.json <<-END
		{"meta":{"preprocessedProfileVersion":48,"processType":0},"libs":[{"name":"work","path":"$PWD/work","codeId":"${id^^}"}],
		"threads":[{"name":"t","pid":1,"tid":1,"samples":{"time":[1],"stack":[0]},"stackTable":{"frame":[0],"prefix":[null]},
			"frameTable":{"address":[$((16#$start - first))],"func":[0]},"funcTable":{"name":[0],"resource":[0]},
			"resourceTable":{"lib":[0],"name":[0]},"stringArray":["0x0"]}]}
	END
	run -0 pipe 'trdecode x.json | trsym -q | trencode -q -t folded'
	assert_output 't;main 1'
	# the library at its address in memory
	cat >y.json <<-END
		{"meta":{"version":24,"processType":0},"libs":[{"start":$((16#500000)),"end":$((16#900000)),"offset":0,"name":"work","path":"$PWD/work"}],
		"threads":[{"name":"t","pid":1,"tid":1,"samples":{"schema":{"stack":0,"time":1},"data":[[0,1]]},
			"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"frameTable":{"schema":{"location":0},"data":[[0]]},
			"stringTable":["$(printf '0x%x' $((16#$start - first + 16#500000)))"]}]}
	END
	run -0 pipe 'trdecode y.json | trsym -q | trencode -q -t folded'
	assert_output 't;main 1'
}

@test "what trencode writes has the tables of the trace that it was made of" {
	trdecode -q "$DATA/uftrace/fib" | trsym -q >a.trs
	trencode -q -t firefox -o a.json a.trs
	# times outside any call are samples without a stack
	diff <(trstat -q -t csv -c total,self a.trs | LC_ALL=C sort) \
		<(trdecode -q a.json | trstat -q -t csv -c total,self | grep -v ^samples, | LC_ALL=C sort)
	reads a.json
	for file in perf/zstd.data perf/weight.data.gz; do
		trdecode -q "$DATA/$file" | trfilter -q 'kind == sample' >a.trs
		for weight in count period; do
			trencode -q -t firefox --weight "$weight" -o a.json a.trs
			trdecode -q -o b.trs a.json
			diff <(trstat -q -t csv -g name,tid -c count,self,total a.trs | LC_ALL=C sort) \
				<(trstat -q -t csv -g name,tid -c count,self,total b.trs | LC_ALL=C sort)
			reads a.json
		done
	done
	# calls that overlap, and instants with their fields
	trdecode -q "$DATA/chrome/members.json" | trencode -q -t firefox -o a.json
	reads a.json
}

@test "indexes beyond their tables, numbers out of range, markers without a start, types of weight" {
	cat >x.json <<-'END'
		{"meta":{"preprocessedProfileVersion":48,"processType":0},"threads":[{"name":"t","pid":1,"tid":1,
			"samples":{"time":[1,2,1e60,3],"stack":[0,9,0,1],"weight":[2,3,4,5],"weightType":"bytes"},
			"nativeAllocations":{"time":[1],"stack":[0],"weight":[-8],"weightType":"bytes"},
			"markers":{"name":[0,7],"startTime":[null,2],"endTime":[3,null],"phase":[3,0],"data":[99999999999,"0x7fffffff"],"category":[0,0]},
			"stackTable":{"frame":[0,7],"prefix":[null,1]},"frameTable":{"func":[0]},"funcTable":{"name":[0]},"stringArray":["a"]}]}
	END
	run -1 --separate-stderr pipefail "trdecode x.json | trfilter 'kind == sample' | trencode -q -t csv -c time,type,stack,weight"
	assert_output - <<-'END'
		time,type,stack,weight
		1000000,samples,"[""a""]",2
		1000000,native_allocations,"[""a""]",-8
		2000000,samples,,3
		3000000,samples,"[""?""]",5
	END
	[[ $stderr == *"x.json: 't', table stringArray: an index that is beyond its table; such indexes: "* ]]
	[[ $stderr == *"x.json: 0x$(printf %x "$(grep -abo 1e60, x.json | cut -d : -f 1)" | sed 's/.$//')"*': a number that is out of range; such numbers: 1'* ]]
	[[ $stderr == *"x.json: 't', table samples: a sample, marker or count without a time, which is left out; such ones: 1"* ]]
	[[ $stderr == *'1 end of markers without a start was left out'* ]]
}

# thread MEMBERS [META]: a profile of one thread with these members
thread() {
	echo "{\"meta\":{\"preprocessedProfileVersion\":48,\"processType\":0${2-}},\"threads\":[{\"name\":\"t\",\"pid\":1,\"tid\":1,$1,
		\"stackTable\":{\"frame\":[0,1],\"prefix\":[null,0]},\"frameTable\":{\"func\":[0,1]},\"funcTable\":{\"name\":[0,1]},
		\"stringArray\":[\"a\",\"b\"]}]}" >x.json
}

# weights: those of the samples, with the status and messages of trdecode
weights() {
	local damaged=0
	trdecode -o x.trs x.json 2>err || damaged=$?
	trfilter -q 'kind == sample' x.trs 2>/dev/null | trencode -q -t csv -c weight --no-header 2>/dev/null | tr '\n' ' '
	echo "$damaged $(sed '1s/^trdecode: x.json: //' err)"
}

@test "weights: a column of nulls is none, a null among values weighs 0, fractions are scaled" {
	thread '"samples":{"time":[1,2],"stack":[0,1],"threadCPUDelta":[null,null]}'
	assert_equal "$(weights)" '1 1 0 '
	thread '"samples":{"time":[1,2],"stack":[0,1],"weight":[null,null],"threadCPUDelta":[null,7]}' ',"sampleUnits":{"threadCPUDelta":"ns"}'
	assert_equal "$(weights)" '0 7 0 '
	thread '"samples":{"time":[1,2],"stack":[0,1],"weight":[null,3]}'
	assert_equal "$(weights)" '0 3 0 '
	thread '"samples":{"time":[1,2,3],"stack":[0,1,1],"weight":[0.5,2,1.25]}'
	assert_equal "$(weights)" '500000 2000000 1250000 0 weights of samples have fractions: all are in millionths'
	thread '"samples":{"time":[1,2,3],"stack":[0,1,1],"weight":["x",{},4]}'
	assert_regex "$(weights)" '^0 0 4 1 0x[0-9a-f]+: a value that is no number; such values: 2$'
	thread '"samples":{"time":[1.00000012,2.00000034],"stack":["x",1]}'
	assert_regex "$(weights)" '^1 1 1 0x[0-9a-f]+: a value that is no number; such values: 1
trdecode: x.json: 2 times have digits below 1 ns, which are left out$'
	thread '"samples":{"time":[1,2],"stack":[0,1],"threadCPUDelta":[-7,3]}' ',"sampleUnits":{"threadCPUDelta":"ns"}'
	assert_equal "$(weights)" "0 3 1 't', table samples: a CPU time below 0, which counts as 0; such times: 1"
}

@test "columns of different lengths, a marker that ends before it starts, a later version" {
	thread '"samples":{"time":[1],"stack":[0,1]}'
	assert_equal "$(weights)" "1 1 't', table samples: the column time has too few rows: 1, and stack has 2"
	thread '"samples":{"time":[1,2],"stack":[0]}'
	assert_equal "$(weights)" "1 1 1 't', table samples: the column stack has too few rows: 1, and time has 2"
	thread '"samples":{"time":[1,2],"stack":[0,1],"weight":[5]}'
	assert_equal "$(weights)" "5 0 1 't', table samples: the column weight has too few rows: 1, and stack has 2"
	thread '"samples":{"time":[1],"stack":[0]},"markers":{"name":[0,1],"startTime":[4,5],"endTime":[3,6],"phase":[1]}'
	assert_regex "$(weights)" "^1 1 't', table markers: the column phase has too few rows: 1, and name has 2
trdecode: x.json: 't', table markers: a marker that ends before it starts, which lasts 0 ns; such markers: 1\$"
	thread '"samples":{"time":[1],"stack":[0]}'
	sed -i 's/"threads"/"counters":[{"name":"m","samples":{"time":[1,2],"count":[3]}}],&/' x.json
	assert_equal "$(weights)" "1 1 'm', table counter: the column count has too few rows: 1, and time has 2"
	thread '"samples":{"time":[1],"stack":[0]}'
	sed -i 's/:48/:99/' x.json
	assert_equal "$(weights)" '1 0 version 99 of the profiles of Firefox: what is newer than version 69 is not read'
}

@test "starts of one name nest: an end is that of the latest" {
	cat >x.json <<-'END'
		{"meta":{"preprocessedProfileVersion":48,"processType":0},"threads":[{"name":"t","pid":1,"tid":1,"samples":{"time":[],"stack":[]},
			"markers":{"name":[0,0,0,0],"startTime":[1,2,null,null],"endTime":[null,null,5,9],"phase":[2,2,3,3],"data":[null,null,null,null]},
			"stringArray":["a"]}]}
	END
	run -0 --separate-stderr pipe 'trdecode x.json | trencode -q -t csv -c time,name,dur | sed 1d | sort'
	assert_output - <<-'END'
		1000000,a,8000000
		2000000,a,3000000
	END
	assert_equal "$stderr" ''
}

@test "facts, types; a file that is cut, and one that is no profile" {
	processed
	run -0 trdecode --info processed.json
	assert_line --regexp '^format +firefox$'
	assert_line --regexp '^threads +1$'
	assert_line --regexp '^samples +4$'
	assert_line --regexp '^markers +4$'
	assert_line --regexp '^counters +1$'
	run -0 trdecode --list processed.json
	assert_line --regexp ' sample +samples$'
	assert_line --regexp ' counter +Memory +malloc$'
	head -c 1400 processed.json >cut.json
	run -1 --separate-stderr pipefail 'trdecode cut.json | trstat -q -t csv -g type -c count'
	assert_line 'samples,4'
	assert_regex "$stderr" '^trdecode: cut.json: 0x578: the input ends within a JSON value
trdecode: cut.json: .work., table [a-zA-Z]+: an index that is beyond its table; such indexes: [0-9]+$'
	# a profile without threads is an empty trace
	echo '{"meta":{"processType":0},"threads":[]}' >empty.json
	run -0 --separate-stderr pipe 'trdecode empty.json | trfilter -c true'
	assert_output 0
	assert_equal "$stderr" 'trdecode: empty.json: no events'
	echo '{"meta":{"processType":0},"threads":{}}' >none.json
	run -2 errors trdecode none.json
	assert_output 'trdecode: none.json: no profile of Firefox: no threads'
	# a profile meets others by the wall time
	run -0 pipe "trdecode --clock=wall processed.json | trfilter 'kind == sample' | trencode -q -t csv -c time | sed -n 2p"
	assert_output 1700000000001500000
	# exactly, where it has one
	sed 's/1700000000000/1700000000900/' processed.json >later.json
	trdecode -o first.trs processed.json
	run -0 pipe "trdecode first.trs later.json | trfilter 'kind == sample' | trencode -q -t csv -c time | sed -n 2p\;6p"
	assert_output $'1700000000001500000\n1700000000901500000'
	sed 's/"startTime":1700000000000,//' processed.json >none.json
	sed 's/"app"/"other"/' none.json >other.json
	for first in processed none; do
		run -2 errors trdecode -o x.trs "$first.json" other.json
		assert_output --partial 'align them with'
	done
	# a clock of the system that has a wall time, too
	echo ' x-7 (7) [000] .... 5.000000: tracing_mark_write: trace_event_clock_sync: realtime_ts=1700000000000' >kernel.txt
	run -2 errors trdecode -o x.trs processed.json kernel.txt
	assert_output --partial 'cannot be compared: --clock wall gives their wall times; or align'
	run -0 trdecode -q --clock=wall -o x.trs processed.json kernel.txt
}
