# trencode -t ctf: Common Trace Format 1.8, read by babeltrace2.

load lib

setup() {
	need babeltrace2
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD
}

# stream INPUT: x.trs of it; damage of the input is not this test's
stream() {
	trdecode -q "$1" 2>/dev/null | trsym -q 2>/dev/null >x.trs || true
}

ctf() {
	rm -rf out
	trencode -q -t ctf -o out x.trs || (($? == 1))
}

# Each event: its time and its name.
listed() {
	babeltrace2 --clock-cycles "${1:-out}" 2>err | sed -E 's/^\[0*([0-9]+)\] \([^)]*\) ([^{]*): \{.*/\1 \2/'
}

counts() {
	listed | sed 's/^[0-9]* //' | sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }'
}

@test "begins and ends of calls, with names, arguments and times" {
	stream "$DATA/uftrace/fib"
	ctf
	run -0 pipe 'babeltrace2 out | grep -m 1 "entry.*name = \"main\""'
	assert_output --regexp 'pid = 4123, tid = 4123, procname = "fib" \}, \{ name = "main", depth = 0 \}$'
	listed | awk '$2 == "entry" || $2 == "exit" { print $1, $2 }' | sort >ours
	trencode -q -t tsv --no-header --columns time,dur,kind,type x.trs |
		awk -F '\t' '$3 == "call" && $4 == "exit" { printf "%.0f entry\n%.0f exit\n", $1, $1 + $2 }' |
		sort >theirs
	diff theirs ours
}

@test "every event is there once: types and counts are trstat's" {
	for x in "$DATA/uftrace/fib" "$DATA/trace-cmd/"{v6-fgraph,v7-zlib-sched-irq-timer,v7-zstd-instances}.dat \
		"$RECORDED/uftrace/"{args-spec,threads,kernel-sched,sdt-events} "$DATA/apitrace/threads.trace" \
		"$RECORDED/lttng-legacy/gen/gen-2.5-le32-align"; do
		stream "$x"
		ctf
		counts >ours
		trstat -q -g type -c count -t tsv x.trs | tail -n +2 | sort >theirs
		diff theirs <(sort ours)
	done
}

@test "times and fields of the kernel's events" {
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >x.trs
	ctf
	listed | sort >ours
	trencode -q -t tsv --no-header --columns time,type x.trs | tr '\t' ' ' | sort >theirs
	diff theirs ours
	babeltrace2 out | grep sched_switch: | sed 's/.*prev_comm = "\([^"]*\)", prev_pid = \([0-9]*\).*/\1 \2/' | sort >ours
	trencode -q -t ndjson x.trs | jq -r 'select(.type == "sched_switch").args | "\(.prev_comm) \(.prev_pid)"' |
		sort >theirs
	diff theirs ours
	run -0 pipe 'babeltrace2 --fields all out | grep -c "cpu_id = 1"'
	assert_output "$(trstat -q -g cpu -c count -t tsv x.trs | awk '$1 == 1 { print $2 }')"
}

@test "wall clock where the trace has one" {
	trdecode -q "$DATA/trace-cmd/v6-date.dat" >x.trs
	ctf
	first=$(trencode -q -t tsv --no-header --columns time x.trs | head -n 1)
	run -0 pipe 'babeltrace2 --clock-seconds out | head -n 1'
	assert_output --partial "[$((first / 1000000000)).$(printf %09d $((first % 1000000000)))]"
}

@test "wall times of CTF are wall times of its copy, in both versions and from both clocks" {
	tar -xzf "$DATA/ctf/kinds.tar.gz"
	seconds() { babeltrace2 --clock-seconds --no-delta "$1" 2>/dev/null | sed 's/\].*//'; }
	seconds kinds >want
	grep -q '^\[1[0-9]\{9\}\.' want
	times() { trdecode -q --clock=wall "$1" | trencode -q -t csv -c time,type; }
	times kinds >rows
	for clock in raw wall; do
		trdecode -q --clock=$clock kinds >x.trs
		both
		seconds v1 | diff want -
		for v in v1 v2; do
			times $v | diff rows -
			trdecode -q $v | trencode -q -t csv -c time,type | diff rows -
		done
	done
	# without the mark of an absolute clock the times are those of any clock
	sed -i 's/absolute = true/absolute = false/' v1/metadata
	run -2 errors trdecode --clock=wall v1
	assert_output --partial 'does not record its wall time'
}

# Events lost, as babeltrace2 reports them for a trace: their number and the first time
lost() {
	babeltrace2 "$1" 2>&1 >/dev/null | sed -E 's/.*(WARNING: .*) between (\[[^]]*\]).*/\1 \2/'
}

@test "what the recorder lost: babeltrace2 reports the same number at the same time as of the source" {
	tar -xzf "$DATA/ctf/lost.tar.gz"
	stream lost
	ctf
	lost lost >want
	grep -q 'discarded 1314 events' want
	diff want <(lost out)
	# each gap of a source of another system, at its time
	for x in v6-split-lost v7-zstd-split-lost; do
		stream "$RECORDED/trace-cmd/$x.dat"
		ctf
		trencode -q -t ndjson x.trs |
			jq -r 'select(.type == "gap") | "\(.args.events) \(.time)"' |
			sed -E 's/(.*) (.*)(.{9})/discarded \1 events between [00:00:0\2.\3]/; s/:0(..)\./:\1./' >want
		lost out | sed 's/WARNING: Tracer //; s/ \[/ between [/' | diff want -
	done
}

@test "gaps are read back as they were, once, from a second conversion too" {
	local x key
	tar -xzf "$DATA/ctf/lost.tar.gz"
	for x in lost "$RECORDED/trace-cmd/"{v6-split-lost,v7-zstd-split-lost}.dat; do
		rm -rf again
		stream "$x"
		ctf
		trdecode -q out >back.trs
		trencode -q -t ctf -o again back.trs
		for key in type type,cpu,tid; do
			trstat -g $key -c count -t tsv x.trs >want 2>&1
			trstat -g $key -c count -t tsv back.trs >got 2>&1
			diff want got
			trdecode -q again | trstat -g $key -c count -t tsv >got 2>&1
			diff want got
		done
		trencode -q -t ndjson x.trs | grep '"type":"gap"' >want
		trencode -q -t ndjson back.trs | grep '"type":"gap"' | diff want -
		run -1 trdecode -q --strict -o s out
	done
}

@test "damage keeps its file, offset and message" {
	tar -xzf "$DATA/ctf/lost.tar.gz"
	# the magic of the second packet
	printf 'XXXX' | dd of=lost/ust/uid/0/64-bit/ch_1 bs=4096 seek=1 conv=notrunc status=none
	stream lost
	ctf
	(trencode -q -t ndjson x.trs || true) 2>/dev/null | grep '"reason":"damage"' >want
	trdecode -q out | trencode -q -t ndjson | grep '"reason":"damage"' | diff want -
}

@test "a file that begins or ends with a gap" {
	mkdir x
	cat >x/metadata <<-END
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; } := u8;
		typealias integer { size = 64; align = 8; byte_order = le; } := u64;
		trace { major = 1; minor = 8; byte_order = le; };
		env { tracer_name = "trencode"; };
		event { name = "gap"; model.emf.uri = "urn:trutils:gap"; fields := struct {
			string _reason; u64 _count; string _unit; string _message; string _file; u64 _offset; }; };
	END
	printf 'lost\0\5\0\0\0\0\0\0\0events\0\0\0%blost\0\3\0\0\0\0\0\0\0packets\0\0\0%b' \
		'\377\377\377\377\377\377\377\377' '\377\377\377\377\377\377\377\377' >x/s
	stream x
	ctf
	babeltrace2 out 2>&1 >/dev/null | grep -o 'Tracer .* between' >got
	printf 'Tracer discarded %s between\n' '5 events' '3 packets' | diff - got
	run -0 pipefail "trdecode -q out | trencode -q -t ndjson | jq -c .args"
	assert_line --index 0 '{"reason":"lost","events":5}'
	assert_line --index 1 '{"reason":"lost","packets":3}'
	assert_equal "${#lines[@]}" 2
}

@test "the group of a type is read back" {
	cat >x.json <<-'END'
		[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a","cat":"net,io:kernel \"x\""},
		{"ph":"X","pid":1,"tid":1,"ts":20,"dur":10,"name":"b","cat":"disk"},
		{"ph":"i","pid":1,"tid":1,"ts":25,"name":"c","cat":"disk"},
		{"ph":"i","pid":1,"tid":1,"ts":26,"name":"d","cat":"a_x2c"}]
	END
	local t
	for t in ctf lttng; do
		stream x.json
		trencode -q -t $t -o $t x.trs
		trstat -q -g group,type,kind,name -c count -t tsv x.trs >want
		trdecode -q $t | trfilter -q 'group != "metadata"' |
			trstat -q -g group,type,kind,name -c count -t tsv | diff want -
	done
	stream "$DATA/trace-cmd/v6-fgraph.dat"
	ctf
	trstat -q -g group,type -c count -t tsv x.trs >want
	trdecode -q out | trstat -q -g group,type -c count -t tsv | diff want -
}

@test "many packets; babeltrace2 copies them, and the copy lists the same" {
	source "$ROOT/t/many.bash"
	records 800 >each
	many long 100 each
	trdecode -q long >x.trs
	ctf
	run -0 babeltrace2 -c sink.utils.counter out
	assert_output --regexp "80000 Event messages"
	stream "$RECORDED/lttng-legacy/gen/gen-2.5-le32-align"
	ctf
	babeltrace2 out -o ctf --output=copy
	diff <(listed out) <(listed copy/*)
}

@test "a tar on standard output has the same files" {
	stream "$DATA/uftrace/fib"
	ctf
	mkdir t
	trencode -q -t ctf x.trs | tar -x -C t
	diff -r out t/ctf
	# and a second time the same bytes
	mv out first
	ctf
	diff -r first out
}

@test "names are escaped" {
	cp -r "$RECORDED/uftrace/basic-pg" odd
	chmod -R u+w odd
	sed -i 's/ T leaf$/ T l"\\\xff/' odd/basic.sym
	stream odd
	ctf
	run -0 pipe "babeltrace2 out | grep -c 'name = \"l'"
	[[ $output -gt 0 ]]
	run -1 grep -rl tmp out/metadata
}

@test "memory does not grow with the trace" {
	[[ -x /usr/bin/time ]] || skip 'no /usr/bin/time'
	unsanitized 'it needs more memory'
	source "$ROOT/t/many.bash"
	records 800 >each
	many long 600 each
	trdecode long >x.trs
	/usr/bin/time -f %M -o rss trencode -q -t ctf -o out x.trs
	[[ $(cat rss) -lt 20000 ]]
}

@test "read back, a string that looks like a pointer is a string" {
	echo '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"f","args":{"s":"0x1f","u":"0xyz"}}]' >x.json
	trdecode -q x.json >x.trs
	ctf
	run -0 pipe 'trdecode out | trencode -t text'
	assert_output --partial '{ s = "0x1f", u = "0xyz" }'
	run -0 pipe 'trdecode out | trencode -q -t ndjson | jq -c .args'
	assert_output '{"s":"0x1f","u":"0xyz"}'
}

@test "read back, calls are calls again: the same tables as of the source" {
	local source key
	for source in uftrace/fib trace-cmd/v6-fgraph.dat trace-cmd/v7-zlib-sched-irq-timer.dat \
		lttng/v2.6-le64-packed.tar.gz apitrace/threads.trace; do
		rm -rf out back.json
		trdecode -q "$DATA/$source" | trsym -q >x.trs
		trencode -q -t ctf -o out x.trs
		for key in name comm,tid,name type,kind; do
			trstat -q -t tsv -g $key x.trs | sort >want
			trdecode -q out | trstat -q -t tsv -g $key | sort | diff want -
		done
	done
	trdecode -q "$DATA/uftrace/fib" | trsym -q >x.trs
	trencode -q -t chrome -o back.json x.trs
	trstat -q -t tsv x.trs | sort >want
	trdecode -q back.json | trstat -q -t tsv | sort | diff want -
}

@test "threads of several inputs, or of several processes with the same tids, stay apart" {
	cp -r "$DATA/uftrace/fib" other
	trdecode "$DATA/uftrace/fib" other | trsym >two.trs
	trstat -q -c total,self,count -s name -t tsv two.trs >want
	trstat -q -g tid -c count -t tsv two.trs | tail -n +2 >tids
	run -0 --separate-stderr trencode -t ctf -o two two.trs
	[[ $stderr == *' threads without a unique number are numbered from 4194305'* ]] || fail "$stderr"
	trdecode -q two | trstat -q -c total,self,count -s name -t tsv >got
	diff want got
	trdecode -q two | trstat -q -g tid -c count -t tsv | tail -n +2 >got
	[ "$(wc -l <got)" = $((2 * $(wc -l <tids))) ] || fail "$(cat got)"
	cat >x.json <<-END
		[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"p1"},
		{"ph":"X","pid":2,"tid":1,"ts":5,"dur":10,"name":"p2"}]
	END
	trdecode x.json | trencode -q -t ctf -o processes
	run -0 pipefail "trdecode processes | trstat -q -g name,pid -c total -t tsv"
	assert_line $'p1\t1\t10000'
	assert_line $'p2\t2\t10000'
	# one input keeps its numbers
	trdecode "$DATA/uftrace/fib" | trsym >one.trs
	run -0 --separate-stderr trencode -t ctf -o one one.trs
	[[ $stderr != *threads* ]] || fail "$stderr"
}

# Names, times and arguments of all calls and events of a stream on standard input, without the
# numbers of calls that rows of apitrace have
rows() {
	trencode -q -t ndjson | jq -c 'select(.type | startswith("core_marker") | not) | [.name, .time, .dur, (.args | del(.call?, .stack?))]' | sort
}

@test "read back, calls have their arguments and return values, and nothing else" {
	need jq
	local source
	for source in apitrace/threads.trace apitrace/v6.trace uftrace/fib lttng/v2.6-le64-packed.tar.gz; do
		rm -rf out
		trdecode -q "$DATA/$source" | trsym -q >x.trs
		ctf
		rows <x.trs >want
		trdecode -q out | rows | diff want -
	done
}

@test "read back, what the enter says stays where the leave says something, too" {
	need jq
	trdecode -q "$RECORDED/uftrace/args-spec" | trsym -q >x.trs
	ctf
	rows <x.trs >want
	grep -q '"arg1":-1,"arg2":-300,"arg3":70000,"arg4":-5000000000,"ret":-704963005}' want
	trdecode -q out | rows | diff want -
	trencode -q -t lttng -o legacy x.trs
	run -0 pipefail "trdecode -q legacy | trencode -q -t ndjson | jq -c 'select(.name == \"ints\").args'"
	assert_line --index 0 '{"arguments":"-1, -300, 70000, -5000000000","return":"-704963005"}'
	run -0 pipefail "trdecode -q legacy | trencode -q -t ndjson | jq -c 'select(.name == \"__cxa_atexit\").args'"
	assert_line --index 0 null
}

# same COMMAND: for the stream x.trs and for its read-back back.trs it prints the same table, with rows
same() {
	trstat -q "${@:2}" -t tsv <(trfilter -q "$1" x.trs) | sort >want
	trstat -q "${@:2}" -t tsv <(trfilter -q "$1" back.trs) | sort | diff want -
	[[ $(wc -l <want) -gt 1 ]]
}

@test "read back, arguments and return values are in conditions and keys as of the source" {
	local key condition
	stream "$DATA/apitrace/threads.trace"
	ctf
	trdecode -q out >back.trs
	for key in arg.dpy arg.api ret name,arg.dpy,arg.surface; do
		same 'depth >= 0' -g $key
	done
	for condition in 'arg.api == "EGL_OPENGL_API"' 'ret == "EGL_TRUE"' 'arg.dpy != 0' 'arg.attrib_list.size > 0' 'arg.config_size < 2'; do
		same "$condition" -g name
	done
	stream "$RECORDED/uftrace/args-spec"
	ctf
	trdecode -q out >back.trs
	for key in arg.1 name,arg.2 ret; do
		same 'depth >= 0' -g $key
	done
	for condition in 'arg.1 == 1' 'ret == 10' 'arg.1 == -1'; do
		same "$condition" -g name
	done
	# names with quotes, nested values, and arguments of some calls alone
	cat >x.json <<-'END'
		[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"f \"x\"","args":{"n":1,"a \"b\\":"t\n\u00e4\ud83d\ude00"}},
		{"ph":"X","pid":1,"tid":1,"ts":2,"dur":2,"name":"f \"x\"","args":{"late":-2.5,"n":18446744073709551615}},
		{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"f \"x\"","args":{"truth":true,"none":null}},
		{"ph":"X","pid":1,"tid":1,"ts":8,"dur":1,"name":"f \"x\""}]
	END
	stream x.json
	ctf
	trdecode -q out >back.trs
	for key in arg.n arg.late arg.truth name; do
		same 'depth >= 0' -g $key
	done
	same 'arg.n == 1' -g name
	same 'arg.late < -2' -g name
	diff <(rows <x.trs) <(rows <back.trs)
	# a second time, too
	rm -rf again
	trencode -q -t ctf -o again back.trs
	diff <(rows <x.trs) <(trdecode -q again | rows)
}

@test "arguments of nested values, and of functions that the metadata does not name" {
	rm -rf x
	mkdir x
	cat >x/metadata <<-END
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; } := u8;
		trace { major = 1; minor = 8; byte_order = le; };
		event { name = "entry"; model.emf.uri = "urn:trutils:enter"; fields := struct { string _name; u8 _depth; string _args; }; };
	END
	printf 'f\0\0{"a":{"b":[1,{"c":"0x1f"}]}}\0f\0\1{"z":2, "a":{"b":[]}}\0' >x/s
	run -0 pipefail "trdecode -q x | trencode -q -t ndjson | jq -c '.args'"
	assert_line '{"a":{"b":[1,{"c":"0x1f"}]}}'
	assert_line '{"z":2,"a":{"b":[]}}'
	run -0 pipefail "trdecode -q x | trfilter -q 'arg.a.b.1.c == 0x1f' | trencode -q -t ndjson | jq -c '.args'"
	assert_output '{"a":{"b":[1,{"c":"0x1f"}]}}'
	run -0 pipefail "trdecode -q x | trfilter -q 'arg.z == 2' | trencode -q -t ndjson | jq -c '.args.z'"
	assert_output 2
}

@test "names of arguments that are no array of JSON" {
	local names
	for names in '[\"f\"],\"x\":[\"a\"]' '[\"f\",1,{}]' '[]' '[' '{}' '' 'f'; do
		rm -rf x
		mkdir x
		cat >x/metadata <<-END
			/* CTF 1.8 */
			typealias integer { size = 8; align = 8; } := u8;
			trace { major = 1; minor = 8; byte_order = le; };
			env { tracer_name = "trencode"; arguments_0 = "$names"; };
			event { name = "entry"; model.emf.uri = "urn:trutils:enter"; fields := struct { string _name; u8 _depth; string _args; }; };
		END
		printf 'f\0\0{"a":1}\0' >x/s
		run -0 pipefail "trdecode -q x | trencode -q -t ndjson | jq -c '.args'"
		assert_output '{"a":1}'
	done
}

@test "JSON of a hostile trace is bounded: names, shapes, nesting" {
	rm -rf x
	mkdir x
	cat >x/metadata <<-END
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; } := u8;
		trace { major = 1; minor = 8; byte_order = le; };
		event { name = "entry"; model.emf.uri = "urn:trutils:enter"; fields := struct { string _name; u8 _depth; string _args; }; };
	END
	awk 'BEGIN { for (i = 0; i < 6000; i++) printf "f%c%c{\"n%d\":1,\"o\":{\"m%d\":[[[{}]]]}}%c", 0, 0, i, i, 0 }' >x/s
	run -0 --separate-stderr trdecode -o y x
	assert_equal "$stderr" 'trdecode: x: functions with more than 256 arguments: the others are left out'
	run -0 pipefail "trencode -q -t ndjson y | jq -c 'select(.args.n7) | .args'"
	assert_output '{"n7":1,"o":{"m7":[[[{}]]]}}'
}

@test "an object of JSON that is none is a text" {
	local text
	for text in '{"a":1' '{"a":bogus}' '{"a":01}' '{a:1}' "$(printf '{"a":%0100d' 0 | tr 0 '[')"; do
		rm -rf x
		mkdir x
		cat >x/metadata <<-END
			/* CTF 1.8 */
			typealias integer { size = 8; align = 8; } := u8;
			trace { major = 1; minor = 8; byte_order = le; };
			event { name = "entry"; model.emf.uri = "urn:trutils:enter"; fields := struct { string _name; u8 _depth; string _args; }; };
		END
		printf 'f\0\0%s\0' "$text" >x/s
		run -0 pipefail "trdecode x | trencode -q -t ndjson | jq -r '.args.args'"
		assert_output "$text"
	done
}

@test "markers of a clock that begins long before the trace are announced with the first event" {
	need jq
	trdecode -q "$DATA/uftrace/fib" | trsym -q >x.trs
	trencode -q -t lttng -o legacy x.trs
	first=$(trdecode --info x.trs | awk '/^first time/ { print $NF }')
	[ "$first" -gt 1000000000 ]
	run -0 pipefail "trdecode -q legacy | trencode -q -t ndjson | jq -s 'map(.time) | min'"
	assert_output "$first"
}

@test "a file of a CPU has that CPU's number in its name" {
	local f
	for f in v7-zstd-split-lost v7-zlib-sched-irq-timer v7-zstd-instances; do
		trdecode -q "$DATA/trace-cmd/$f.dat" >x.trs
		ctf
		for file in out/cpu_*; do
			rm -rf one
			mkdir one
			cp out/metadata "$file" one
			run -0 pipe "trdecode -q one | trstat -q -g cpu -c count -t tsv | tail -n +2 | cut -f 1"
			assert_output "$(sed 's/.*cpu_\([0-9]*\).*/\1/' <<<"$file")"
		done
	done
}

# both: v1 and v2, the trace x.trs in both versions
both() {
	rm -rf v1 v2
	trencode -q -t ctf --file-version=1.8 -o v1 x.trs || (($? == 1))
	trencode -q -t ctf --file-version 2 -o v2 x.trs || (($? == 1))
}

@test "--file-version 2: the events of version 1.8, read back and by another reader" {
	need python3
	for x in "$DATA/uftrace/fib" "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" "$DATA/ctf/lost.tar.gz"; do
		stream "$x"
		both
		babeltrace2 --clock-cycles --no-delta v1 2>/dev/null | LC_ALL=C sort >want
		python3 "$ROOT/t/tools/ctf2_traces.py" list v2 | LC_ALL=C sort | diff want -
	done
	for x in "$DATA/uftrace/fib" "$DATA/trace-cmd/"{v6-fgraph,v7-zstd-split-lost}.dat \
		"$DATA/apitrace/"{threads,values}.trace "$DATA/ctf/kinds.tar.gz" "$RECORDED/uftrace/args-spec"; do
		stream "$x"
		both
		for o in text ndjson; do
			trdecode -q v1 | trencode -q -t $o >want
			trdecode -q v2 | trencode -q -t $o | cmp want -
		done
	done
	run -0 trdecode --info v2
	assert_line --regexp '^version +2$'
}

@test "--file-version 2 keeps the names of fields and the clock's origin" {
	mkdir odd
	printf '\36%s\n' '{"type": "preamble", "version": 2}' '{"type": "data-stream-class"}' \
		'{"type": "event-record-class", "name": "a \"b\" é", "payload-field-class": {"type": "structure",
		"member-classes": [{"name": "c d", "field-class": {"type": "variable-length-unsigned-integer"}}]}}' >odd/metadata
	printf '\5' >odd/data
	trdecode odd >x.trs
	both
	run -0 pipefail "trdecode v2 | trencode"
	assert_output '[0.000000000] a "b" é: { pid = -1, tid = -1, procname = "" }, { c d = 5 }'
	stream "$DATA/trace-cmd/v6-date.dat"
	both
	trdecode v1 | trencode -q -t csv -c time | head -n 3 >want
	trdecode v2 | trencode -q -t csv -c time | head -n 3 | diff want -
	grep -q '"origin":"unix-epoch"' v2/metadata
}

@test "--file-version is of the format" {
	stream "$DATA/uftrace/fib"
	run -2 --separate-stderr trencode -t ctf --file-version 7 -o o x.trs
	[[ $stderr == *"--file-version of ctf is 1.8 or 2"* ]]
	run -2 --separate-stderr trencode -t trace-cmd --file-version 2 -o o x.trs
	[[ $stderr == *"--file-version of a trace.dat is 6 or 7"* ]]
	run -2 --separate-stderr trencode -t ctf --file-version 3 -o o x.trs
	[[ $stderr == *"not '3'"* ]]
}

@test "the stacks that CTF cannot have are counted: those of perf script" {
	trdecode -q "$DATA/perf/zstd.data" | trsym -q >x.trs
	# a line of the event, a line for each frame, an empty line
	n=$(zcat "$DATA/perf/zstd.txt.gz" | awk 'BEGIN { RS = ""; FS = "\n" } NF > 2 { n++ } END { print n }')
	[ "$n" -gt 10 ]
	run -0 errors trencode -t ctf -o out x.trs
	assert_line "trencode: $n stacks were left out: an event has no stack, a sample only its innermost function"
	stream "$DATA/uftrace/fib"
	run -0 errors trencode -t ctf -o fib x.trs
	refute_output --partial stack
}
