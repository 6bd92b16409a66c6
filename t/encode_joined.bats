# Parts of trencode --split that trdecode joins, and that are encoded again into the same format.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# trace: x.json, in which functions, events and threads begin one after another, and a recursion
# that cuts divide; x.trs of it
trace() {
	awk 'BEGIN {
		print "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"late\"}},"
		print "{\"ph\":\"X\",\"name\":\"again\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":600,\"args\":{\"s\":\"x\"}},"
		print "{\"ph\":\"X\",\"name\":\"again\",\"pid\":1,\"tid\":1,\"ts\":97,\"dur\":300},"
		for (i = 0; i < 60; i++) {
			printf "{\"ph\":\"X\",\"name\":\"f%d\",\"pid\":1,\"tid\":%d,\"ts\":%d.5,\"dur\":4", i * 7 % 20, 1 + i / 20, 10 * i
			printf i % 3 ? ",\"args\":{\"n\":%d,\"word\":\"w%d\"}},\n" : "},\n", i, i
			printf "{\"ph\":\"i\",\"name\":\"e%d\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"args\":{\"v\":%d}},\n", i / 4, 1 + i / 20, 10 * i + 6, i
		}
		print "{\"ph\":\"i\",\"name\":\"end\",\"pid\":1,\"tid\":1,\"ts\":610}]"
	}' >x.json
	trdecode -q x.json >x.trs
}

# split FORMAT LIMIT: the parts of x.trs in p.NNN; whole: all of it; joined: the parts, joined
split() {
	rm -rf p.* whole joined
	trencode -q -t "$1" --split "$2" -o p x.trs
	trencode -q -t "$1" -o whole x.trs
	trdecode -q p.* | trencode -q -t "$1" -o joined
	# cuts are needed for a test
	[ -e p.003 ]
}

# counts: calls of each function of x.json
counts() {
	jq -r 'map(select(.ph == "X")) | group_by(.name)[] | "\(.[0].name) \(length)"' x.json
}

# report_of_uftrace DIRECTORY, report_of_trace_cmd FILE: the same, in the words of these systems
report_of_uftrace() {
	uftrace report --no-pager -d "$1" -f call | awk 'NR > 2 && $2 !~ /:/ { print $2, $1 }' | LC_ALL=C sort
}

report_of_trace_cmd() {
	trace-cmd report -R -i "$1" 2>/dev/null |
		sed -n 's/.*funcgraph_exit: *func=\([a-z0-9]*\) .*/\1/p' | LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }'
}

# text_of_trace_cmd FILE: the lines of its events
text_of_trace_cmd() {
	trace-cmd report -i "$1" 2>/dev/null | grep '^  *[<a-z]'
}

# ended FILE: the calls that end in it
ended() {
	trdecode -q "$1" | trsym -q | trencode -q -t ndjson | jq -r 'select(.dur != null) | .name' |
		LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }'
}

@test "parts of a converted uftrace recording, joined, are the whole for uftrace" {
	need uftrace
	trace
	for limit in 50us 1K; do
		split uftrace $limit
		report_of_uftrace joined | diff <(counts) -
		uftrace replay --no-pager -d whole >want
		(($(grep -cw f7 want) == 3)) && grep -q '"w59"' want && grep -q 'v = 19' want
		uftrace replay --no-pager -d joined | diff want -
		uftrace info -d joined | grep 'number of tasks' | diff <(uftrace info -d whole | grep 'number of tasks') -
		diff -r whole joined
		# a copy of the stream, and of its segments
		trdecode -q --segment 4K p.* | trfilter -q true | trencode -q -t uftrace -o copied
		uftrace replay --no-pager -d copied | diff want -
		rm -r copied
	done
}

@test "parts of a converted trace.dat, joined, are the whole for trace-cmd" {
	need trace-cmd
	trace
	for limit in 50us 1K; do
		split trace-cmd $limit
		report_of_trace_cmd joined | diff <(counts) -
		text_of_trace_cmd whole >want
		(($(grep -c ' e1[0-4]: *v = ' want) == 20)) && grep -q 'late-3' want
		text_of_trace_cmd joined | diff want -
		trdecode -q --segment 4K p.* | trfilter -q true | trencode -q -t trace-cmd -o copied
		text_of_trace_cmd copied | diff want -
	done
}

@test "each part of a conversion has the names, tasks and formats that it needs" {
	need uftrace
	need trace-cmd
	trace
	for format in uftrace trace-cmd; do
		split $format 50us
		for part in p.*; do
			"report_of_${format/-/_}" "$part" | diff <(ended "$part") - || fail "$part"
			cut -d ' ' -f 1 <(ended "$part") | grep -vxF -f <(counts | cut -d ' ' -f 1) && fail "$part"
		done
	done
	for part in p.*; do
		trace-cmd report -i "$part" 2>errors | grep -i 'unknown\|bad\|ffff\|10000000' && fail "$part"
		run -1 grep -v '^trace-cmd: No such file\|^  *$' errors
	done
}

# rows: the events of the stream on stdin, with names
rows() {
	trsym -q | trencode -q -t ndjson -c time,dur,tid,name,args,continues | LC_ALL=C sort
}

@test "some of the parts, joined, are those parts, and go on with the others" {
	trace
	for format in uftrace trace-cmd; do
		split $format 50us
		trdecode -q whole | rows >want
		for some in 'p.000 p.001' 'p.001 p.002 p.003' p.004; do
			read -ra parts <<<"$some"
			trdecode -q "${parts[@]}" | trencode -q -t $format -o some
			trdecode -q "${parts[@]}" | rows >before
			grep -q '"continues":"' before || fail "$some"
			trdecode -q some | rows | diff before - || fail "$format $some"
			rm -r some
		done
		trdecode -q p.000 p.001 p.002 | trencode -q -t $format -o some
		trdecode -q some p.00[3-9] p.0[1-9]* | rows | diff want - || fail $format
		# the whole is no part
		run -1 grep -rac 'split=[0-9a-f]*' joined
		rm -r some
	done
}

@test "a call that cuts divide, and in which its function is called again, counts once" {
	trace
	for format in uftrace trace-cmd; do
		split $format 50us
		for joined in joined 'p.*'; do
			# shellcheck disable=SC2086
			trdecode -q $joined | trsym -q | trstat -q -t tsv -c count,total | awk '$1 == "again" { print $2, $3 }' >again
			assert_equal "$(cat again)" "2 600000"
		done
	done
}

@test "parts of a uftrace recording, joined, are its copy, with the lines of extern.dat" {
	cp -r "$DATA/uftrace/fib" own
	first=$(trdecode -q own | trencode -q -t ndjson -c time | jq -s 'map(.time) | min')
	for ((i = 1; i < 12; i++)); do
		((t = first + i * 1000000))
		printf '%d.%09d line %d\n' $((t / 1000000000)) $((t % 1000000000)) $i
	done >own/extern.dat
	trdecode -q own >x.trs
	split uftrace 2ms
	diff -r own joined
	trdecode -q p.00[1-3] | trencode -q -t uftrace -o some
	cat p.00[1-3]/extern.dat | diff - some/extern.dat
	# as for a recording whose parts have no extern.dat
	rm own/extern.dat
	trdecode -q own >x.trs
	split uftrace 200us
	diff -r own joined
}

@test "a directory with two parts of CTF is one input, which the other parts do not continue" {
	need babeltrace2
	trace
	trencode -q -t ctf --split 50us -o p x.trs
	mkdir two
	mv p.000 p.001 two
	timeout 20 trdecode -q two p.003 >two.trs
	assert_equal "$(trfilter -q -c 'kind == enter' two.trs)" "$(babeltrace2 two p.003 | grep -c ' begin: ')"
}

@test "the idle threads of CPUs are one thread each in chrome, whichever part has events with a CPU" {
	# the calls go on over cuts; only the first part has events of CPU 0, and the last of CPU 1
	awk 'BEGIN {
		print "# tracer: function_graph"
		for (t = 0; t < 1000; t += 100)
			for (c = 0; c < 2; c++) {
				printf " 1.%06d |  %d)    <idle>-0    |               |  idle%d() {\n", t + c, c, c
				if (c ? t == 900 : !t)
					printf " 1.%06d |  %d)    <idle>-0    |               |  /* e: v=1 */\n", t + 2 + c, c
				if (c)
					for (d = 0; d < 2; d++)
						printf " 1.%06d |  %d)    <idle>-0    | + 90.000 us   |  }\n", t + 90 + d, d
			}
	}' >text
	trdecode -q text >x.trs
	split chrome 130us
	for trace in whole 'p.*'; do
		# shellcheck disable=SC2086
		trdecode -q $trace | trencode -q -t tsv -c dur,tid,cpu,name | grep '	idle' | LC_ALL=C sort | uniq -c | awk '{ print $1, $2, $NF }' >got
		diff <(printf '10 90000 idle0\n10 90000 idle1\n') got || fail "$trace"
	done
}

@test "a cut call is joined in perfetto where the same tid is in several processes of other parts" {
	cat >x.json <<-'EOF'
		[{"ph":"X","pid":1,"tid":0,"ts":0,"dur":50,"name":"a"},
		{"ph":"X","pid":3,"tid":0,"ts":60,"dur":60,"name":"b"},
		{"ph":"X","pid":3,"tid":1,"ts":10,"dur":5,"name":"c"}]
	EOF
	trdecode x.json | trencode -q -t perfetto --split 97us -o p
	trdecode -q p.000 p.001 | trencode -q -t ndjson -c time,dur,pid,name | LC_ALL=C sort |
		diff <(jq -c '.[] | {time: (.ts * 1000), dur: (.dur * 1000), pid, name}' x.json | LC_ALL=C sort) -
	# the pid is that of the second part alone
	sed 's/"pid":3,"tid":1,"ts":10/"pid":3,"tid":1,"ts":100/; s/"tid":0,"ts":60/"tid":7,"ts":60/; s/"tid":0,"ts":0/"tid":1,"ts":0/' x.json >y.json
	trdecode y.json | trencode -q -t perfetto --split 97us -o p
	trdecode -q p.000 p.001 | trencode -q -t ndjson -c time,dur,pid,name | LC_ALL=C sort |
		diff <(jq -c '.[] | {time: (.ts * 1000), dur: (.dur * 1000), pid, name}' y.json | LC_ALL=C sort) -
}

@test "a switch in perfetto is of the thread that it ends, whole and in parts" {
	trdecode -q "$RECORDED/uftrace/kernel-sched" >x.trs
	n=$(trfilter -q -c 'type == "sched_switch"' x.trs)
	((n > 50))
	for option in '' '--split=49147126ns'; do
		rm -f p*
		trencode -q -t perfetto $option -o p x.trs
		trdecode -q p* | trencode -q -t ndjson | jq -c 'select(.type == "sched_switch") | .tid == .args.prev_pid' |
			LC_ALL=C sort | uniq -c | awk '{ print $1, $2 }' | diff <(echo "$n true") - || fail "$option"
	done
	# a later part knows the names that switches had before
	trdecode -q p.* | trencode -q -t ndjson | LC_ALL=C sort >got
	trencode -q -t perfetto -o whole x.trs
	trdecode -q whole | trencode -q -t ndjson | LC_ALL=C sort | diff - got
}

@test "parts whose clock counts ticks are joined" {
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	for format in chrome perfetto trace-cmd; do
		split $format 4K
		trdecode -q whole | trsym -q | trstat -q -t tsv -c count,total | LC_ALL=C sort >want
		(($(wc -l <want) > 5))
		trdecode -q p.* | trsym -q | trstat -q -t tsv -c count,total | LC_ALL=C sort | diff want - || fail $format
	done
	# in a trace.dat the values are events of their own
	trdecode -q p.* | trsym -q | trstat -q -t tsv -c count | grep -v ^print | LC_ALL=C sort |
		diff <(trstat -q -t tsv -c count x.trs | LC_ALL=C sort) -
}

@test "a mark of a part that cannot be read, or whose part ends elsewhere, is mentioned" {
	trace
	split chrome 97us
	for word in split part since until; do
		sed "s/\(\"split.*\)$word=/\1$word=x/; s/\"$word=/\"$word=x/" p.001 >v.001
		! cmp -s p.001 v.001
		run -1 trdecode p.000 v.001 -o v.trs
		assert_output --partial 'v.001: the mark of this part of a trace cannot be read: calls that go on in other parts count in each part'
	done
	sed 's/since=/since=1/' p.001 >v.001
	run -0 trdecode p.000 v.001 -o v.trs
	assert_output --partial 'v.001: part 0 of the trace does not end where this part 1 begins: calls that go on count in each'
	run -0 trdecode p.000 p.001 -o v.trs
	refute_output --partial part
}
