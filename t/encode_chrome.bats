# trencode -t chrome: Trace Event JSON.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

chrome() {
	trencode -q -t chrome "$@" x.trs >out.json || (($? == 1))
}

# Each name's count, and the sum of the durations in ns.
sums() {
	jq -r '.traceEvents[] | select(.ph == "X" and .args.unfinished != true) |
		[.name, (.dur * 1000 | round)] | @tsv' out.json |
		awk -F '\t' '{ n[$1]++; t[$1] += $2 } END { for (f in n) printf "%s\t%d\t%.0f\n", f, n[f], t[f] }' |
		sort
}

@test "a recording is valid JSON, an event a line" {
	stream "$DATA/uftrace/fib"
	chrome
	run -0 jq -r '.displayTimeUnit, .otherData.clock, (.traceEvents | length)' out.json
	assert_line --index 0 ns
	assert_line --index 1 monotonic
	assert_equal "${lines[2]}" "$(grep -c '^{"ph"' out.json)"
	run -0 jq -rc '[.traceEvents[] | select(.name == "main")][0] | [.ph, .pid, .tid, .dur]' out.json
	assert_output '["X",4123,4123,2988.111]'
}

@test "scheduling outside of calls is left out, and counted" {
	trdecode -q "$DATA/uftrace/fib" | trfilter 'type =~ "^linux:sched-"' >sched.trs
	# the stream knows that some are within calls, though the filter left those out
	within=$(trdecode -q "$DATA/uftrace/fib" | trstat -q -c count -t tsv | awk '$1 == "linux:schedule" { print $2 }')
	n=$(trstat -q -g type -c count -t tsv sched.trs | awk '$1 == "linux:sched-out" { print $2 }')
	n=$((n - within))
	[ "$within" -gt 0 ] && [ "$n" -gt 10 ]
	for t in chrome firefox perfetto speedscope csv trace-cmd apitrace folded svg 'svg --by-time' dot mermaid callgrind pprof; do
		# shellcheck disable=SC2086
		run -0 trencode -t $t -o out.trace sched.trs
		assert_line "trencode: $n times that a task was scheduled out outside any call: left out"
	done
	run -0 trencode -t lttng -o out.lttng sched.trs
	refute_output --partial 'outside any call'
}

@test "counts and times are trstat's" {
	stream "$DATA/uftrace/fib"
	chrome
	trstat -q -g name,kind -c 'count,sum(dur)' -t tsv x.trs |
		awk -F '\t' -v OFS='\t' '$2 == "call" { print $1, $3, $4 }' | sort >theirs
	diff theirs <(sums)
	# linux:schedule is a call too
	trstat -q -g name -c count -t tsv x.trs | tail -n +2 | sort >counts
	jq -r '.traceEvents[] | select(.ph == "X" or .ph == "i") | .name' out.json | sort | uniq -c |
		awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' | sort >all
	diff counts all
	trstat -q -g name -c self -t tsv x.trs | awk -F '\t' 'NR > 1 { s += $2 } END { printf "%.0f\n", s }' >self
	# the outermost calls of each thread hold all self times
	jq -s '[.[0].traceEvents[] | select(.ph == "X")] | group_by(.tid) | map(
		sort_by(.ts, -.dur) | reduce .[] as $e ({end: -1, sum: 0};
			if $e.ts >= .end then {end: ($e.ts + $e.dur - 0.0001), sum: (.sum + $e.dur)} else . end) |
		.sum) | add * 1000 | round' out.json >outer
	diff self outer
}

@test "every recording gives valid JSON with trstat's counts" {
	for d in args-spec args-cpp-auto basic-pg dlopen exc-cyg kernel-sched read-events threads; do
		stream "$U/$d"
		chrome
		trstat -q -g name -c count -t tsv x.trs | tail -n +2 | sort >counts
		# the tracks of CPUs and states of threads are made from these events
		jq -r '.traceEvents[] | select((.ph | test("[XBib]")) and .cat != "trutils.scheduling") | .name' out.json |
			sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' | sort >all
		diff counts all
	done
}

# uftrace's own export begins and ends each call.
@test "begins and durations are those of uftrace dump --chrome" {
	need uftrace
	for d in basic-nopie basic-cyg threads-nosched; do
		stream "$U/$d"
		chrome --rebase none
		uftrace dump --no-pager --chrome -d "$U/$d" >theirs.json
		jq -r '.traceEvents[] | select(.ph == "B") | [.pid, (.ts * 1000 | round), .name] | @tsv' \
			theirs.json | grep -v linux:schedule | sort >theirs
		jq -r '.traceEvents[] | select(.ph == "X") | [.pid, (.ts * 1000 | round), .name] | @tsv' \
			out.json | grep -v linux:schedule | sort >ours
		diff theirs ours
	done
}

@test "arguments, return values and fields are args" {
	stream "$U/args-spec"
	chrome
	run -0 jq -c '[.traceEvents[] | select(.name == "ints")][0].args' out.json
	assert_output '{"arg1":-1,"arg2":-300,"arg3":70000,"arg4":-5000000000,"ret":-704963005}'
	run -0 jq -c '[.traceEvents[] | select(.name == "dbl")][0].args' out.json
	assert_output '{"fparg1":3.14159,"fparg2":2.5,"ret":7.853975}'
}

@test "fields of kernel events; threads by their names" {
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >x.trs
	chrome
	run -0 jq -c '[.traceEvents[] | select(.name == "sched_switch")][0].args | keys_unsorted' out.json
	assert_output '["prev_comm","prev_pid","prev_prio","prev_state","next_comm","next_pid","next_prio"]'
	# every thread is named before its first event, and no two have the same numbers
	run -0 jq -r '.traceEvents[] | "\(.pid) \(.tid) \(.ph)"' out.json
	printf '%s\n' "${lines[@]}" | awk '$3 == "M" { named[$1 " " $2] = 1 }
		$3 != "M" && !(($1 " " $2) in named) { exit 1 }'
}

@test "numbers of apitrace: calls of one thread may overlap" {
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	chrome
	trstat -q -g name -c count -t tsv x.trs | tail -n +2 | sort >counts
	jq -r '.traceEvents[] | select(.ph == "X" or .ph == "b") | .name' out.json | sort | uniq -c |
		awk '{ print $2 "\t" $1 }' | sort >all
	diff counts all
	# X of one thread nest
	jq -r '.traceEvents[] | select(.ph == "X") | [.tid, .ts, .ts + .dur] | @tsv' out.json |
		sort -k1,1n -k2,2n -k3,3nr | awk '{ while (n[$1] && end[$1, n[$1]] <= $2) n[$1]--
			if (n[$1] && $3 > end[$1, n[$1]]) exit 1; end[$1, ++n[$1]] = $3 }'
}

@test "calls open at the end have no end, or are dropped, and are counted" {
	stream "$U/kill-segv"
	run -0 pipe 'trencode -t chrome x.trs 2>&1 >out.json | grep returned'
	assert_output --regexp '^trencode: [1-9][0-9]* calls had not returned at the end of the trace: written without an end$'
	open=${output#trencode: } open=${open%% *}
	run -0 jq '[.traceEvents[].ph] | map(select(. == "B")) as $b | map(select(. == "E")) as $e | ($b | length) - ($e | length)' out.json
	assert_output "$open"
	run -0 pipe 'trencode -t chrome --unclosed=drop x.trs 2>&1 >out.json'
	assert_output --partial "$open calls had not returned at the end of the trace: dropped"
	run -0 jq '[.traceEvents[] | select(.ph | test("[BE]"))] | length' out.json
	assert_output 0
	run -2 trencode -t chrome --unclosed=keep x.trs
	assert_line --index 0 "trencode: --unclosed is close or drop, not 'keep'"
}

@test "integers that a double cannot hold may be strings" {
	stream "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat"
	chrome
	run -0 grep -c '[:,]-\?[0-9]\{17,\}[,}]' out.json
	plain=$output
	chrome --json-int64=string
	run -1 grep '[:,]-\?[0-9]\{17,\}[,}]' out.json
	run -0 grep -c '[:,]"-\?[0-9]\{17,\}"[,}]' out.json
	assert_output "$plain"
}

@test "bytes that are no UTF-8 become U+FFFD" {
	cp -r "$U/basic-pg" odd
	chmod -R u+w odd
	sed -i 's/ T leaf$/ T l\xff"\\/' odd/basic.sym
	stream odd
	chrome
	iconv -f UTF-8 -t UTF-8 out.json >/dev/null
	run -0 jq -r '[.traceEvents[] | select(.name | startswith("l\ufffd"))][0].name' out.json
	assert_output --partial $'\xef\xbf\xbd"\\'
}

@test "the same input gives the same bytes" {
	stream "$DATA/uftrace/fib"
	chrome
	cp out.json first
	chrome
	cmp out.json first
}

@test "memory does not grow with the trace" {
	[[ -x /usr/bin/time ]] || skip 'no /usr/bin/time'
	unsanitized 'it needs more memory'
	source "$ROOT/t/many.bash"
	records 800 >each
	many long 600 each
	trdecode long >x.trs
	/usr/bin/time -f %M -o rss trencode -q -t chrome x.trs >out.json
	[[ $(cat rss) -lt 16000 ]]
}

@test "concatenated streams whose times step back are read unchanged" {
	trdecode -q --offset "$U/basic-pg=1000000s" "$U/basic-pg" | trsym -q >one.trs
	stream "$U/args-spec"
	cat one.trs x.trs >both.trs
	mv both.trs x.trs
	calls >theirs
	run -0 pipe 'trencode -t chrome x.trs 2>&1 >x.json'
	assert_line --partial 'times are negative, as they are before the first event'
	trdecode -f chrome x.json >x.trs
	calls >ours
	diff theirs ours
}

# tables STREAM [KEYS...]: names, callers, threads and groups with their counts and times, or $sums
tables() {
	local keys
	[ $# -gt 1 ] || set -- "$1" name caller,group,comm,pid,tid,name
	for keys in "${@:2}"; do
		trstat -q -g "$keys" -c ${sums:-count,total,self} -t tsv "$1" 2>/dev/null | LC_ALL=C sort
	done
}

@test "Trace Event JSON read, written and read again has the same counts, times, callers and threads" {
	local file n=0
	echo '[{"ph":"b","cat":"c","name":"f","id":6,"pid":1,"ts":1},{"ph":"B","name":"g","pid":1,"ts":1},{"ph":"E","pid":1,"ts":1}]' >one.json
	while read -r file; do
		zcat -f "$file" >in.json
		trdecode -q -f chrome -o x.trs in.json 2>/dev/null || (($? == 1)) || continue
		# samples are written as instants
		! trfilter -q 'kind == "sample"' x.trs 2>/dev/null | trencode -q -t ndjson 2>/dev/null | grep -q . || continue
		trencode -q -t chrome -o again.json x.trs 2>/dev/null || (($? == 1))
		run -0 errors trdecode -f chrome -o again.trs again.json
		assert_output ''
		diff <(tables x.trs) <(tables again.trs) || fail "$file"
		diff <(trencode -q -t tsv --no-header --columns time x.trs 2>/dev/null | sort -n | sed -n '1p;$p') \
			<(trencode -q -t tsv --no-header --columns time again.trs | sort -n | sed -n '1p;$p') ||
			fail "times of $file"
		((++n))
	done < <(echo one.json
		find -L "$RECORDED/" -path '*.expect/chrome.json' -o -path '*/chrome/*' -type f -size -900k \
			\( -name '*.json' -o -name '*.gz' \))
	echo "$n files"
	[ $n -ge 50 ]
}

@test "of calls that begin, end or are empty at one time the same one is inside" {
	local file
	cat >nested.json <<-END
		[{"ph":"B","name":"out","ts":5,"pid":1,"cat":"a"},{"ph":"B","name":"in","ts":5,"pid":1,"args":{"x":1}},
		{"ph":"E","ts":9,"pid":1,"args":{"r":2}},{"ph":"E","ts":9,"pid":1}]
	END
	cat >empty.json <<-END
		[{"ph":"B","name":"out","ts":5,"pid":1},{"ph":"B","name":"e","ts":5,"pid":1},{"ph":"B","name":"f","ts":5,"pid":1},
		{"ph":"E","ts":5,"pid":1},{"ph":"E","ts":5,"pid":1},{"ph":"B","name":"g","ts":9,"pid":1},
		{"ph":"E","ts":9,"pid":1},{"ph":"E","ts":9,"pid":1},{"ph":"B","name":"h","ts":9,"pid":1},{"ph":"E","ts":9,"pid":1}]
	END
	cat >instant.json <<-END
		[{"ph":"B","name":"out","ts":5,"pid":1},{"ph":"i","name":"first","ts":5,"pid":1},{"ph":"B","name":"in","ts":6,"pid":1},
		{"ph":"i","name":"last","ts":9,"pid":1},{"ph":"E","ts":9,"pid":1},{"ph":"i","name":"after","ts":9,"pid":1},{"ph":"E","ts":9,"pid":1}]
	END
	for file in nested empty instant; do
		trdecode -f chrome $file.json | tee x.trs | trencode -t chrome -o again.json
		run -0 errors trdecode -o again.trs again.json
		assert_output ''
		diff <(tables x.trs) <(tables again.trs) || fail "$file"
		diff <(trencode -t ndjson x.trs | jq -c '[.name,.time,.dur,.args]' | sort) \
			<(trencode -t ndjson again.trs | jq -c '[.name,.time,.dur,.args]' | sort)
	done
	run -0 pipefail "trdecode nested.json | trstat -g caller,name -c total,self -t tsv"
	assert_line $'out\tin\t4000\t4000'
	assert_line $'\tout\t4000\t0'
}

@test "threads without a name, and those of one number in several processes, stay as they are" {
	echo '[{"ph":"X","name":"a","ts":1000,"dur":1,"pid":1,"tid":7},{"ph":"X","name":"b","ts":1001,"dur":1,"pid":2,"tid":7},
		{"ph":"i","name":"c","ts":1003},{"ph":"X","name":"d","ts":1004,"dur":1,"pid":"main","tid":"io"}]' >x.json
	trdecode -q x.json | tee x.trs | trencode -t chrome -o again.json
	run -0 jq -c '[.traceEvents[] | select(.ph == "M") | [.name, .args.name]]' again.json
	assert_output '[["process_name","main"],["thread_name","io"]]'
	diff <(trencode -q -t tsv --no-header --columns time,pid,tid,comm,name x.trs | grep -v c$) \
		<(trdecode again.json | trencode -q -t tsv --no-header --columns time,pid,tid,comm,name | grep -v c$)
	run -0 jq -c .otherData again.json
	assert_output '{"clock":"trace","origin":"1000000","unit":"ns"}'
}

@test "processes keep their names, which are not those of their threads" {
	cat >x.json <<-'END'
		[{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"GPU \"Process\""}},{"ph":"M","pid":2,"tid":9,"name":"process_name","args":{"name":"Renderer"}},
		{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"VizCompositor"}},{"ph":"M","pid":2,"tid":8,"name":"thread_name","args":{"name":"io"}},
		{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"bare"}},{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},
		{"ph":"X","name":"b","pid":2,"tid":8,"ts":2,"dur":1},{"ph":"i","name":"c","pid":3,"tid":3,"ts":3},{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1}]
	END
	# names JSON: of processes and threads
	names() {
		jq -r '(.traceEvents? // .)[] | select(.ph == "M") | [.name, .pid, if .name == "process_name" then "" else .tid end, .args.name] | @tsv' "$1" | sort
	}
	names x.json >want
	trdecode -q x.json >x.trs
	trencode -q -t chrome -o y.json x.trs
	names y.json | diff want -
	trencode -q -t perfetto x.trs | trdecode -q | trfilter -q 'name != "none"' | trencode -q -t chrome -o z.json
	# a process without a name in other formats has that of its first thread
	names z.json | diff <({ cat want && printf 'process_name\t3\t\tbare\n'; } | sort) -
	# also in each part
	trencode -q -t chrome --split 3us -o part.json x.trs
	[ -f part.json.001 ]
	for part in part.json.*; do
		run -0 jq -r 'first(.traceEvents[] | select(.pid == 1 and .name == "process_name")) | .args.name' $part
		assert_output 'GPU "Process"'
	done
}

@test "an exec is no return" {
	echo '[{"ph":"B","name":"main","ts":1,"pid":1},{"ph":"B","name":"execv","ts":2,"pid":1},
		{"ph":"B","name":"main","ts":3,"pid":1},{"ph":"E","ts":4,"pid":1}]' >x.json
	trdecode -q x.json | tee x.trs | trencode -q -t chrome -o again.json
	run -0 pipefail "trdecode -q again.json | trstat -q -c count,total -t tsv"
	assert_output "$(trstat -q -c count,total -t tsv x.trs)"
	assert_line $'main\t1\t1000'
}

@test "calls that are open at the end are open again when read: on a stack, asynchronous, in the kernel" {
	local file
	cat >open.json <<-END
		[{"ph":"b","cat":"c","id":1,"name":"req","pid":1,"ts":1,"args":{"u":1}},{"ph":"b","cat":"c","id":1,"name":"done","pid":1,"ts":1},
		{"ph":"S","cat":"c","id":1,"name":"early","pid":1,"ts":1},{"ph":"B","name":"main","pid":1,"ts":1},
		{"ph":"B","name":"in","pid":1,"ts":1,"args":{"z":1}},{"ph":"X","name":"x","pid":1,"ts":1,"dur":2},
		{"ph":"e","cat":"c","id":1,"name":"done","pid":1,"ts":4},{"ph":"i","name":"t","pid":1,"ts":9}]
	END
	trdecode -q open.json >open.trs
	stream "$U/kill-segv"
	mv x.trs kill-segv.trs
	trdecode -q "$DATA/trace-cmd/v6-fgraph.dat" | trsym -q >fgraph.trs
	trdecode -q "$DATA/apitrace/pending.trace" >pending.trs
	for file in open kill-segv pending fgraph; do
		trencode -q -t chrome -o again.json $file.trs
		trdecode -q again.json >again.trs
		# trstat does not know the group of each open call of a stack
		diff <(tables $file.trs name caller,name) <(tables again.trs name caller,name) || fail "$file"
		trstat $file.trs 2>&1 >/dev/null | grep 'had not returned' >want || fail "$file: no open call"
		trstat again.trs 2>&1 >/dev/null | grep 'had not returned' | diff want - || fail "$file"
	done
	trencode -q -t chrome open.trs | grep -c '"ph":"[BbS]"' >got
	[ "$(cat got)" = 5 ]
	run ! grep -q unfinished again.json
}

@test "ticks are ticks again when read, also those of a slow clock with a name" {
	local file
	for file in threads v6 pending; do
		trdecode -q "$DATA/apitrace/$file.trace" >x.trs
		trencode -q -t chrome -o x.json x.trs
		run -0 jq -c .otherData x.json
		assert_output '{"clock":"ticks","origin":"0","unit":"ticks"}'
		trdecode -q x.json >again.trs
		diff <(tables x.trs name caller,name) <(tables again.trs name caller,name) || fail "$file"
		diff <(trencode -q -t tsv --no-header --columns time,dur,name x.trs) \
			<(trdecode -q x.json | trencode -q -t tsv --no-header --columns time,dur,name) || fail "$file"
	done
	trencode -q -t trace-cmd -o x.dat x.trs
	trdecode -q x.dat | trsym -q >x.trs
	trencode -q -t chrome -o x.json x.trs
	trdecode -q x.json >again.trs
	diff <(tables x.trs name tid,name) <(tables again.trs name tid,name)
	trdecode -q x.json | trencode -t chrome -q | tail -n 1 | grep -q '"clock":"counter",.*"unit":"ticks"'
	run -2 trdecode --since 1ms x.json
	assert_output --partial 'the clock counts ticks'
	# files of other programs, whatever they have there, are in microseconds
	echo '{"traceEvents":[{"ph":"X","name":"f","pid":1,"ts":7,"dur":2}],"otherData":{"clock":"ticks","unit":"ticks"}}' >x.json
	run -0 pipefail 'trdecode -q x.json | trencode -q -t tsv --no-header --columns time,dur'
	assert_output $'7000\t2000'
}

# Each recording of DIRECTORY... in $DATA and $RECORDED
recordings() {
	local dir
	for dir; do
		find -L "$DATA/$dir" "$RECORDED/$dir" -name info -printf '%h\n' -o -name '*.dat' -path '*/trace-cmd/*' -print \
			-o -name '*.trace' -path '*/apitrace/*' -print -o -name metadata -printf '%h\n' -o -name '*.tar.gz' -print
	done 2>/dev/null | sort
}

# Where several functions have one name, or one function two addresses, the file has one function for
# them: its total omits calls inside calls of that name.
same_name='/(exc-cyg|i386-v6-fgraph.dat|s390x-v6-fgraph.dat|v7-zlib-fgraph-depth.dat)$'

@test "recordings of every system, each third one, have the same counts, times and callers after Trace Event JSON" {
	local file sums n=0
	while read -r file; do
		stream "$file"
		trencode -q -t chrome -o again.json x.trs 2>/dev/null || (($? == 1)) || continue
		trdecode -q again.json >again.trs
		sums=count,total,self
		[[ ! $file =~ $same_name ]] || sums=count,self
		diff <(sums=$sums tables x.trs name caller,name) <(sums=$sums tables again.trs name caller,name) || fail "$file"
		((++n))
	done < <(recordings uftrace trace-cmd apitrace ctf lttng ctf-babeltrace lttng-legacy | sed -n 'p;n;n')
	echo "$n recordings"
	[ $n -ge 35 ]
}

@test "gaps are gaps again when read, with reason, count, file and offset" {
	trdecode -q "$DATA/trace-cmd/v7-zstd-split-lost.dat" >x.trs
	trencode -q -t chrome -o x.json x.trs
	run -1 --separate-stderr trdecode --strict -o again.trs x.json
	gaps() {
		trencode -q -t ndjson "$1" | jq -c 'select(.type == "gap") | [.time, .args]'
	}
	gaps x.trs >want
	gaps again.trs | diff want -
	grep -q '"reason":"lost","events":[1-9]' want
	# numbers in quotes; all the members of a gap
	echo '[{"ph":"i","name":"gap","cat":"trutils","ts":1,"pid":1,
		"args":{"message":"m","offset":"9007199254740994","bytes":"7","file":"a.dat","reason":"damage"}}]' >y.json
	run -0 pipefail "trdecode -q y.json | trencode -q -t ndjson | jq -c '[.type, .args]'"
	assert_output '["gap",{"reason":"damage","bytes":7,"file":"a.dat","offset":9007199254740994,"message":"m"}]'
	# other instants of this name are instants
	echo '[{"ph":"i","name":"gap","cat":"trutils","ts":1,"args":{"reason":"none"}},{"ph":"i","name":"gap","ts":2,"args":{"reason":"lost"}},
		{"ph":"i","name":"gap","cat":"trutils","ts":3},{"ph":"X","name":"gap","cat":"trutils","ts":4,"args":{"reason":"lost"}}]' >y.json
	run -0 pipefail "trdecode -q y.json | trstat -q -g kind,name -c count -t tsv"
	assert_output --partial $'instant\tgap\t3'
}

@test "calls that ended without a return have none when read: on a stack, in the kernel, asynchronous" {
	# the E of a call without a return, and an X; the depth shows that in and deep are over
	cat >x.json <<-END
		[{"ph":"B","name":"main","pid":1,"ts":1},{"ph":"B","name":"in","pid":1,"ts":2},{"ph":"X","name":"deep","pid":1,"ts":3,"dur":1,"unfinished":true,
		"args":{"unfinished":1,"unfinished":true}},
		{"ph":"E","pid":1,"ts":4,"unfinished":true,"args":{"unfinished":true}},{"ph":"X","name":"next","pid":1,"ts":5,"dur":1},{"ph":"E","pid":1,"ts":9},
		{"ph":"b","cat":"c","id":5,"name":"req","pid":1,"ts":1,"unfinished":true,"args":{"unfinished":true}},
		{"ph":"e","cat":"c","id":5,"name":"req","pid":1,"ts":2,"unfinished":true},{"ph":"b","cat":"c","id":6,"name":"req","pid":1,"ts":2},
		{"ph":"e","cat":"c","id":6,"name":"req","pid":1,"ts":3}]
	END
	trdecode x.json >x.trs
	run -0 trstat -g caller,name -c count,total,self -t tsv x.trs
	assert_line $'\tmain\t1\t8000\t7000'
	assert_line $'main\tnext\t1\t1000\t1000'
	assert_line $'\treq\t1\t1000\t1000'
	assert_equal ${#lines[@]} 4
	run -0 pipefail "trencode -q -t ndjson x.trs | jq -c 'select(.name == \"deep\") | .args'"
	assert_output '{"unfinished":1}'
	trencode -q -t chrome -o again.json x.trs
	trdecode -q again.json >again.trs
	diff <(tables x.trs) <(tables again.trs)
}

@test "calls without an enter, and those whose leave has another name, are so when read" {
	cat >x.json <<-END
		[{"ph":"X","name":"early","pid":1,"ts":1,"dur":8,"unseen":true,"args":{"ret":7}},{"ph":"B","name":"first","pid":1,"ts":1,"unseen":true},
		{"ph":"X","name":"setjmp","enter_name":"deep","pid":1,"ts":1,"dur":2,"args":{"a":1}},{"ph":"X","name":"leaf","pid":1,"ts":2,"dur":0.5},
		{"ph":"B","name":"f","pid":1,"ts":4},{"ph":"E","leave_name":"g","pid":1,"ts":5}]
	END
	trdecode x.json >x.trs
	run -0 --separate-stderr trstat -g caller,name -c count,total,self -t tsv x.trs
	assert_line $'deep\tleaf\t1\t500\t500'
	assert_line $'\tsetjmp\t1\t2000\t1500'
	assert_line $'\tg\t1\t1000\t1000'
	assert_line $'\tearly\t1\t8000\t5000'
	# a call without enter and leave has no row there
	refute_line --partial '<0>'
	run -0 trencode -q -t tsv -c name,dur x.trs
	assert_line $'<0>\t8000'
	run -0 pipefail "trencode -q -t ndjson x.trs | jq -c 'select(.args != null and .args != {}) | [.name, .args]' | sort"
	assert_output $'["early",{"ret":7}]\n["setjmp",{"a":1}]'
	trencode -q -t chrome x.trs >again.json
	trdecode -q again.json >again.trs
	diff <(tables x.trs name caller,name) <(tables again.trs name caller,name)
}

@test "calls in the kernel that overlap others are in the kernel when read" {
	stream "$U/kernel-sched"
	trencode -q -t chrome -o x.json x.trs
	tail -n 1 x.json | grep -q '"kernel_category":"kernel"'
	grep -q '"ph":"b","cat":"kernel"' x.json
	trdecode -q x.json >again.trs
	diff <(tables x.trs name caller,name) <(tables again.trs name caller,name)
	# without the calls around them the calls in the kernel still count
	trfilter -q 'name =~ "^handle_mm_fault|^irq_|^lock_mm"' x.trs >y.trs
	trencode -q -t chrome -o y.json y.trs
	trdecode -q y.json >again.trs
	diff <(tables y.trs name caller,name) <(tables again.trs name caller,name)
	[ "$(sums=count tables y.trs name | grep -c '^handle_mm_fault')" = 1 ]
	# a category of this name in other files is one like others
	echo '[{"ph":"X","name":"f","cat":"kernel","pid":1,"ts":1,"dur":2},{"ph":"X","name":"g","cat":"kernel","pid":1,"ts":1.5,"dur":1}]' >y.json
	trdecode y.json | tee y.trs | trencode -t chrome -o y.json
	run ! grep kernel_category y.json
	run -0 pipefail "trdecode y.json | trstat -g caller,name -c count,total,self -t tsv"
	assert_line $'f\tg\t1\t1000\t1000'
	# of both only one can be: these calls are all on one stack, which does not lose any
	trdecode -q x.json y.json -o both.trs
	trencode -q -t chrome -o both.json both.trs
	run ! grep kernel_category both.json
	diff <(sums=count tables both.trs name) <(trdecode -q both.json >b.trs; sums=count tables b.trs name)
}

@test "a segment by itself has the calls that end in it, with the times of the whole" {
	segments
	trencode -q --unclosed=drop -t chrome x.trs | grep '"ph":"X"' | sed 's/,$//' | sort >whole
	each_segment chrome | grep '"ph":"X"' | sed 's/,$//' | sort >parts
	[ -s whole ]
	diff whole parts
}

@test "a call that was open where a segment was lost goes on if the snapshot has it, else it is dropped" {
	segments
	cat segment.0 segment.2 >lossy.trs
	run -1 --separate-stderr trencode -q -t chrome --rebase=none --unclosed=drop lossy.trs
	grep '"ph":"X"' <<<"$output" | sed 's/,$//' | sort >lossy
	for f in segment.0 segment.2; do
		trencode -q -t chrome --rebase=none --unclosed=drop $f 2>/dev/null || (($? == 1))
	done | grep '"ph":"X"' | sed 's/,$//' | sort >parts
	diff lossy parts
}

@test "instants of no thread are global, and so again when read, also by way of Perfetto's format" {
	need protoc
	sed 's/^/packet { trusted_packet_sequence_id: 1 /; s/$/ }/' >x.text <<-'END'
		timestamp: 1 sequence_flags: 1 track_descriptor { uuid: 10 process { pid: 7 process_name: "app" } }
		timestamp: 1 track_descriptor { uuid: 1 parent_uuid: 10 thread { pid: 7 tid: 8 thread_name: "worker" } }
		timestamp: 1 track_descriptor { uuid: 5 name: "named" }
		timestamp: 2000 track_event { type: INSTANT track_uuid: 5 name: "a" debug_annotations { name: "n" uint_value: 3 } }
		timestamp: 3000 track_event { type: INSTANT track_uuid: 0 name: "b" }
		timestamp: 4000 track_event { type: INSTANT track_uuid: 1 name: "c" }
	END
	protoc --encode=m.Trace -I "$ROOT/t/proto" perfetto.proto <x.text >x.pftrace
	# of process and thread scopes, too
	jq -n '[{ph:"i",s:"g",name:"d",ts:5,pid:1,tid:2},{ph:"I",s:"p",name:"e",ts:6,pid:1,tid:2},{ph:"i",s:"t",name:"f",ts:7,pid:1,tid:2},
		{ph:"i",s:"g",name:"h",ts:8}]' >y.json
	trdecode -q -o x.trs x.pftrace
	trdecode -q -o y.trs y.json
	for n in x y; do
		trencode -q -t chrome --rebase=none -o $n.again.json $n.trs
		trdecode -q $n.again.json | trencode -q -t chrome --rebase=none -o $n.third.json
		for again in $n.again $n.third; do
			jq -c '.traceEvents[] | select(.ph == "i") | [.name, .s, .pid, .tid, .ts]' $again.json
		done >$n
	done
	printf '%s\n' '["a","g",null,null,2]' '["b","g",null,null,3]' '["c","t",7,8,4]' | sed p | sort | diff - <(sort x)
	printf '%s\n' '["d","g",1,2,5]' '["e","p",1,2,6]' '["f","t",1,2,7]' '["h","g",null,null,8]' | sed p | sort | diff - <(sort y)
	jq -c '.traceEvents[] | select(.name == "thread_name") | .tid' x.again.json | sort -u >have
	echo 8 | diff - have
	for of in x.pftrace x.third.json; do
		trdecode -q $of | trencode -q -t perfetto | protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto |
			grep -w tid | sort -u >have
		echo '      tid: 8' | diff - have || fail "$of"
	done
}
