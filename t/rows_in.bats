#!/usr/bin/env bats
# trdecode -f ndjson, csv, tsv: what trencode writes is read back, and tables of other programs by --map.
bats_require_minimum_version 1.5.0

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# again FORMAT STREAM: the rows of a stream, decoded and written again, in a.FORMAT and b.FORMAT
again() {
	local format=$1 stream=$2
	trencode -q -t "$format" "${columns[@]}" "$stream" >"a.$format" 2>/dev/null || (($? == 1))
	trdecode -q -f "$format" -o back.trs "a.$format"
	trencode -q -t "$format" "${columns[@]}" back.trs >"b.$format"
}

# same FORMAT TRACE...: the second rows are the first ones, and the tables are equal
same() {
	local format=$1 trace
	shift
	for trace; do
		echo "$trace"
		trdecode -q -o first.trs "$trace" || (($? == 1))
		again "$format" first.trs
		diff "a.$format" "b.$format"
		diff <(trstat -q -g name,kind first.trs) <(trstat -q -g name,kind back.trs)
	done
}

@test "ndjson: recordings of all systems are read back" {
	same ndjson "$DATA"/uftrace/{fib,frames} "$DATA"/trace-cmd/{v6,v7}*.dat "$DATA"/trace-cmd/s390x-*.dat \
		"$DATA"/apitrace/{crash,threads,values,v6,sides,gz-members}.trace "$DATA"/perf/{flat,two,weight,sys,sched}.data* \
		"$DATA"/perf/two.txt.gz "$DATA"/chrome/v8-profile.json.gz "$DATA"/ctf/*.tar.gz
}

@test "ndjson: calls in the kernel, with those around them or without; times that a thread is scheduled out" {
	local k=$RECORDED/uftrace/kernel-sched expression
	local -a states=(-t csv -g "name,tid" -c "runnable,offcpu")
	same ndjson "$k" "$RECORDED/uftrace/watch-cpu"
	grep -q '"nesting":"inner"' a.ndjson
	diff <(trstat -q "${states[@]}" first.trs) <(trstat -q "${states[@]}" back.trs)
	for expression in 'type =~ "funcgraph"' 'dur > 3us'; do
		trdecode -q "$k" | trfilter -o kernel.trs "$expression"
		same ndjson kernel.trs
		grep -q '"nesting":"kernel"' a.ndjson
	done
}

@test "ndjson: calls without a return, and calls that overlap" {
	trdecode -q -o first.trs "$DATA/uftrace/jumps"
	again ndjson first.trs
	diff a.ndjson b.ndjson
	grep -c '"unfinished":true' a.ndjson | grep -qx 24
	# calls without a return keep their durations, whatever follows: a call at the same time, a later one, an event
	cat >open.ndjson <<-'END'
		{"time":100,"dur":50,"type":"exit","tid":1,"name":"f","depth":0,"unfinished":true}
		{"time":100,"dur":60,"type":"exit","tid":1,"name":"g","depth":0}
		{"time":200,"dur":50,"type":"exit","tid":2,"name":"f","depth":0,"unfinished":true}
		{"time":300,"dur":10,"type":"exit","tid":2,"name":"g","depth":0}
		{"time":400,"dur":50,"tid":3,"name":"f","unfinished":true}
		{"time":500,"dur":10,"tid":3,"name":"g"}
		{"time":600,"dur":50,"type":"exit","tid":4,"name":"f","depth":0,"unfinished":true}
		{"time":700,"type":"mark","tid":4,"name":"mark"}
	END
	trdecode -o open.trs open.ndjson
	trencode -q -t ndjson -c time,dur,tid,name,unfinished open.trs | jq -c '[.time, .dur, .unfinished]' |
		diff <(jq -c '[.time, .dur, if .dur then .unfinished // false else null end]' open.ndjson) -
	# such a call that others follow is no call
	run -0 pipe 'trstat -q -t csv -g name -c count,total open.trs'
	assert_output $'name,count,total\ng,3,80\nmark,1,'
	trdecode -q -o first.trs "$DATA/apitrace/mt4.profile.txt"
	again ndjson first.trs
	diff a.ndjson b.ndjson
}

# exceptions FORMAT: samples of which rows do not say all, by the reason; "order": the rows and tables are
# equal, and only the order of the rows is another
exceptions() {
	cat <<-'END'
		# types without an event have no row, and with one type the table has no column of types
		perf/group.data
		# a sample without a stack but with arguments has a frame: a location declares their names
		perf/kmem.txt.gz
		perf/offcpu.txt.gz
		perf/wait.txt.gz
		perfetto/perf-followers.pftrace
		streams/good/samples-frame-without-location.trs
		streams/good/samples-period.trs
		# calls that are open at the end are in the order of their threads' first rows, some of which are in no table
		lttng/v2.6-le64-packed.tar.gz order
		recorded/lttng-legacy.tar.xz order
		# a THREAD ends the calls, which are open in the rows
		streams/good/thread-open.trs
		# setjmp returns to another function than it was called from: a row has the last name, and the callees
		# had the first one as their caller
		uftrace/jumps
		# rows are sorted by time: the clock steps back, or a call of strace ends by its duration before the line
		# above it
		ctf/step-back order
		streams/good/fields-of-short-tail.trs order
		streams/good/time-steps-back.trs order
		strace/f-C-w-ttt-T.txt order
		strace/f-k-ttt-T.txt order
		strace/f-stderr.txt order
		strace/f-ttt-T-y.txt order
		strace/f.txt order
		strace/perf-events.txt order
		# the clock steps back inside of a call, or to 2^64 - 2 ns, which is no time of trdecode
		streams/good/base-of-a-block.trs
		streams/good/leave-before-enter-in-time.trs
		streams/good/unfinished-after-step-back.trs
		# several streams or sources in one, with calls of the same thread and depth that overlap
		streams/good/concatenated-three.trs
		streams/good/concatenated.trs
		streams/good/end-printed.trs
		streams/good/threads-of-sources.trs
		streams/good/values-old-definition.trs
		# calls that were open before the first event have no row, and the depths of others show them, or not
		streams/good/mid-call-by-enter.trs
		streams/good/thread-unseen.trs
		streams/good/threads.trs
		# the snapshot of a lost segment has the time of callees that are in no row
		streams/good/snapshot-time-of-callees.trs
		streams/good/snapshot-unseen-calls.trs
		# rows have only UTF-8
		stream/bare-enters.trs
		streams/good/bytes-that-are-no-utf8.trs
	END
	# a gap is of the group of gaps: ndjson has no column of groups
	[[ $1 = ndjson ]] || echo streams/good/unfinished-calls.trs
}

# changed FORMAT TRACE: print the name if the second rows, their clock or the tables differ
changed() {
	local format=$1 name=${2//\//+} s order=''
	local d=$BATS_TEST_TMPDIR/$name first=$BATS_FILE_TMPDIR/$name
	local -a columns=()
	[[ $format = ndjson ]] || columns=(-c "+kind,unfinished,group,module,stack,weight,weight_total,weight_count,weight_unit,nesting,time_unit")
	mkdir "$d" && cd "$d" || return
	# once for all formats
	if [[ ! -e $first.csv ]]; then
		trdecode -q -o "$first.trs" "$DATA/$2" 2>err
		trstat -q -t csv -g name,kind "$first.trs" >"$first.csv" 2>>err
	fi
	trencode -q -t "$format" "${columns[@]}" "$first.trs" >1.rows 2>>err
	# some are no traces, or have no events
	{ read -r s && { [[ $s != time[,$'\t']* ]] || read -r s; }; } <1.rows || return 0
	echo "$2" >>../samples
	trdecode -q -f "$format" -o 2.trs 1.rows 2>>err
	trencode -q -t "$format" "${columns[@]}" 2.trs >2.rows
	trstat -q -t csv -g name,kind 2.trs >2.csv 2>>err
	if ! cmp -s 1.rows 2.rows; then
		order=' order'
		cmp -s <(LC_ALL=C sort 1.rows) <(LC_ALL=C sort 2.rows) || order=none
	fi
	# names of equal totals are in the order in which they were first seen
	if [[ $order = none ]] || ! { cmp -s "$first.csv" 2.csv || cmp -s <(LC_ALL=C sort "$first.csv") <(LC_ALL=C sort 2.csv); }; then
		echo "$2"
	elif [[ $order ]]; then
		echo "$2$order"
	fi
}

# all_samples FORMAT [DIRECTORY...]: test all samples, of every format, or those of these directories
all_samples() {
	export -f changed
	local format=$1 in='^'
	shift
	(($# == 0)) || in="^($(tr ' ' '|' <<<"$*"))/"
	(cd "$DATA" && ls -d {uftrace,ctf}/*/ | sed 's:/$::' &&
		find trace-cmd apitrace lttng ctf perf perfetto chrome recorded strace stream streams/good \
			callgrind gmon pstats bpftrace profiles -maxdepth 1 -type f) | grep -E "$in" |
		LC_ALL=C sort -u | xargs -P 2 -I{} bash -c 'changed "$@"' _ "$format" {} >got
	exceptions "$format" | grep -v '^#' | sed 's/^[[:blank:]]*//' | grep -E "$in" | LC_ALL=C sort | diff - <(LC_ALL=C sort got)
	[ "$(wc -l <samples)" -gt "$(($# ? 40 : 270))" ]
}

@test "ndjson: the rows and tables of all samples, but for those of which rows do not say all" {
	all_samples ndjson
}

@test "csv: the same, with the columns that name what a row is" {
	all_samples csv
}

@test "tsv: the same for the samples of some systems, as only the delimiter is another" {
	all_samples tsv chrome perf strace uftrace callgrind pstats
}

# Calls and instants of three threads at few different times, as Trace Event JSON
crowded() {
	python3 -c '
import json, random
random.seed('"$1"')
stacks, events, t = [[], [], []], [], 0
for i in range(60):
    t += random.choice([0, 0, 0, 1, 2])
    thread, k = random.randrange(3), random.random()
    event = dict(ts=t, pid=1, tid=thread + 1, name="f%d" % random.randrange(4))
    if k < .4: stacks[thread].append(event["name"]); event["ph"] = "B"
    elif k < .75 and stacks[thread]: event.update(ph="E", name=stacks[thread].pop())
    else: event["ph"] = "i"
    events.append(event)
for thread, stack in enumerate(stacks):
    events += [dict(ts=t, pid=1, tid=thread + 1, name=name, ph="E") for name in stack[::-1]]
print(json.dumps(events))'
}

@test "rows of equal times keep their order" {
	local seed
	for seed in 1 2 3 4 5 6; do
		crowded $seed | trdecode -q -o first.trs
		again ndjson first.trs
		diff a.ndjson b.ndjson
	done
	# of another table, too
	for seed in {a..z}; do echo "{\"at\":5,\"op\":\"$seed\"}"; done >equal.ndjson
	trdecode -f ndjson --map time=at:s,name=op equal.ndjson | trencode -q -t ndjson -c name | diff <(jq -c '{name: .op}' equal.ndjson) -
}

@test "the names of errors, -0, and columns of arguments are read back" {
	local trace
	for trace in "$DATA/strace/f-t.txt" "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" "$DATA/perf/sys.data.gz"; do
		trdecode -q -o first.trs "$trace"
		again ndjson first.trs
		diff a.ndjson b.ndjson
		grep -q '"ret.name":"E' b.ndjson
		diff <(trfilter -q -c 'ret == ENOENT || ret == ECHILD' first.trs) <(trfilter -q -c 'ret == ENOENT || ret == ECHILD' back.trs)
	done
	# a name that is not that of the number is a field
	run -0 pipe "echo '{\"time\":1,\"name\":\"f\",\"ret\":-2,\"ret.name\":\"EWHAT\"}' | trdecode -q -f ndjson | trencode -q -t ndjson -c args"
	assert_output '{"args":{"ret":-2,"ret.name":"EWHAT"}}'
	echo '{"time":1,"n":-0,"a":{"x":[-0.0]},"args":{"y":-0}}' >zero.ndjson
	run -0 pipe 'trdecode -f ndjson zero.ndjson | trencode -q -t ndjson -c args'
	assert_output '{"args":{"n":-0,"a":{"x":[-0]},"y":-0}}'
	trdecode -q -o first.trs "$DATA/strace/f-tt.txt"
	local columns=(-c "time,type,name,tid,dur,depth,arg.fd,arg.status,ret,ret.name")
	again csv first.trs
	diff <(sort a.csv) <(sort b.csv)
	grep -q ',EBADF$' b.csv
	columns=(-c "+arg.fd,ret,ret.name")
	again tsv first.trs
	diff <(sort a.tsv) <(sort b.tsv)
	run -0 pipe 'trencode -q -t ndjson back.trs | grep -c "arg\.fd"' || [ "$status" -eq 1 ]
	assert_output 0
}

@test "whole numbers as pandas writes them, and negative durations" {
	printf 'time,dur,name,tid,cpu\n100,,a,7.0,\n200,50.0,b,8.00,1.0\n300,-5,c,7.5,-1.0\n' >pandas.csv
	run -1 --separate-stderr pipe 'trdecode --verbose -f csv pandas.csv | trencode -q -t ndjson -c time,dur,name,tid,cpu,args'
	assert_output - <<-'END'
		{"time":100,"dur":null,"name":"a","tid":7,"cpu":null,"args":null}
		{"time":200,"dur":50,"name":"b","tid":8,"cpu":1,"args":null}
		{"time":300,"dur":null,"name":"c","tid":null,"cpu":-1,"args":{"tid":"7.5"}}
	END
	assert_equal "$stderr" "trdecode: pandas.csv: 0x36: the row is read without a duration: its dur '-5' cannot be read: it is negative
trdecode: pandas.csv: 1 value does not fit the type of its column: written as text"
}

@test "commas in --map: in quotes, or after a backslash" {
	printf '"when, UTC","o:p",n\n"21 Nov 2026, 11:40:05",x,7\n' >commas.csv
	local time
	for time in "'when, UTC':'%d %b %Y, %H:%M:%S'" 'when\, UTC:%d %b %Y\, %H:%M:%S'; do
		run -0 pipe "TZ=UTC trdecode --map \"time=$time\",'name=o\:p,comm=\"a, b\"' commas.csv | trencode -q -t csv --no-header -c time,name,comm"
		assert_output "$(date -ud '2026-11-21 11:40:05' +%s)000000000,x,\"a, b\""
	done
}

@test "a file of samples: a type is known, however late its first row is" {
	{ echo time,type,stack,weight; seq 100000 | sed 's/$/,a,main;f,3/'; echo '100001,b,main;g,4'; } >late.csv
	run -0 pipe 'trdecode -f csv late.csv | trstat -q -t csv -g name -c self | sort'
	assert_output $'f,a,300000\ng,b,4\nmain,a,0\nmain,b,0\nname,type,self'
}

# live MS ARGUMENT...: so many events of trdecode's stream, so many ms after each line of stdin was written to a pipe
live() {
	local ms=$1 line
	shift
	rm -f fifo
	mkfifo fifo
	trdecode -q "$@" fifo >live.trs &
	exec 7>fifo
	while IFS= read -r line; do
		echo "$line" >&7
		sleep "0.$ms"
		trencode -q -t ndjson -c name live.trs 2>/dev/null | wc -l
	done
	exec 7>&-
	wait
}

@test "a pipe: rows of trencode and of --map are written as they arrive, calls inside of others after a second" {
	# a row without a call around it is certain; all have passed out of the window
	printf '{"time":%s000000000,"dur":50,"type":"exit","tid":7,"name":"f","depth":0}\n' {1..5} | live 300 -f ndjson >got
	printf '%s\n' {1..5} | diff - got
	# mapped calls may be inside of others for a second; instants are certain
	printf '{"at":%s,"op":"f"}\n' {1..4} | live 200 -f ndjson --map time=at:ms,name=op >got
	printf '%s\n' {1..4} | diff - got
	printf '{"at":%s000,"took":5,"op":"f"}\n' {1..5} | live 200 -f ndjson --map time=at:ms,dur=took:ms,name=op >got
	[ "$(tail -1 got)" -ge 3 ]
	# calls wait for the call around them, whatever the steps of the times are
	local i
	for i in {10..30}; do
		printf '{"time":%s0000%s,"dur":%s,"type":"exit","tid":7,"name":"%s","depth":%s}\n' \
			$((i * 6)) 1000 100 in 1 $((i * 6)) 0000 5000 out 0
	done >steps.ndjson
	run -0 pipe 'cat steps.ndjson | trdecode -f ndjson | trstat -q -t csv -g name -c count,total,self'
	assert_output $'name,count,total,self\nin,21,2100,2100\nout,21,105000,102900'
	# the call around others comes after they were written: only its self time is another
	{
		echo '{"time":100,"dur":50,"type":"exit","tid":7,"name":"f","depth":1}'
		sleep 1.3
		echo '{"time":10,"dur":500,"type":"exit","tid":7,"name":"main","depth":0}'
	} | trdecode -f ndjson 2>late | trstat -q -t csv -g name -c count,total,self | sort >got
	printf 'f,1,50,50\nmain,1,500,500\nname,count,total,self\n' | diff - got
	assert_equal "$(cat late)" "trdecode: <stdin>: 1 call came after calls inside of it were written: self and total are the whole time of each; sort all rows with --sort"
}

@test "sums of calls keep their totals and counts" {
	# main has cost 10 of its own; f, which it calls 3 times, has 70, of which 40 are those of g
	cat >sum.callgrind <<-'END'
		events: Ir
		fn=main
		1 10
		cfn=f
		calls=3 2
		1 70
		fn=f
		2 30
		cfn=g
		calls=6 3
		2 40
		fn=g
		3 40
	END
	local more=kind,unfinished,stack,weight,weight_total,weight_count,weight_unit,nesting,time_unit format
	for format in "ndjson" "csv -c +$more" "tsv -c +$more"; do
		run -0 pipe "trdecode -f callgrind sum.callgrind | trencode -q -t $format | trdecode | trstat -q -t csv -g name -c count,total,self -s name"
		assert_output - <<-'END'
			name,count,total,self
			f,3,70,30
			g,6,40,40
			main,0,80,10
		END
	done
}

@test "csv without the columns on request: switches and system calls" {
	columns=()
	same csv "$DATA"/uftrace/fib "$DATA"/trace-cmd/s390x-v7-zstd-sched-syscalls.dat
}

@test "ndjson: jq's filter is trfilter's" {
	need jq
	trdecode -q -o first.trs "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat"
	trencode -q -t ndjson first.trs | jq -c 'select(.args.next_pid == 0)' | trdecode | trfilter -c true >got
	trfilter -c 'next_pid == 0' first.trs | diff - got
	[ "$(cat got)" -gt 10 ]
}

# A csv with quoted newlines, quotes, a byte order mark, CRLF and empty lines
odd_csv() {
	printf '\xef\xbb\xbfts,elapsed,op,thread,n\r\n1764486000123,250,"GET ""a"", b\nc",7,1\r\n'
	printf '1764486000100,2,x,7,\r\n\r\n1764486000124,1,"",8,-3\r\n'
}

@test "csv: cells as python's csv module reads them" {
	odd_csv >odd.csv
	trdecode -f csv --map time=ts:ms,dur=elapsed:us,name=op,tid=thread odd.csv | trencode -q -t ndjson |
		python3 -c '
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print(r["time"], r["dur"], [r["name"]], r["tid"], r["args"])' >got
	python3 -c '
import csv
rows = csv.DictReader(open("odd.csv", encoding="utf-8-sig", newline=""))
for r in sorted((r for r in rows if r["ts"]), key=lambda r: int(r["ts"])):
    # a call without a name has that of its type; a call lasts 250 us, and the last begins before the first ends
    print(int(r["ts"]) * 10**6, int(r["elapsed"]) * 1000, [r["op"] or "call" if r["op"] else "row"], int(r["thread"]),
          {"n": int(r["n"])} if r["n"] else None)' >want
	diff want got
}

@test "types: of csv by the first values, or by --map; what does not fit is text and counted" {
	# the first 8 MiB are whole numbers
	{ echo time,dur,n; for i in {1..5}; do echo "$i,1,$i"; done; } >a.csv
	run -0 --separate-stderr pipe 'trdecode -f csv --map n=n:int <(sed "4s/3$/x/" a.csv) | trencode -q -t ndjson | jq -c .args.n'
	assert_output $'1\n2\n"x"\n4\n5'
	assert_equal "$(sed 's/.*: 1/1/' <<<"$stderr")" "1 value does not fit the type of its column: written as text"
	run -0 pipe 'sed "4s/3$/x/" a.csv | trdecode -f csv | trencode -q -t ndjson | jq -c .args.n'
	assert_output $'"1"\n"2"\n"x"\n"4"\n"5"'
	run -0 pipe 'sed "4s/3$/1.5/" a.csv | trdecode -f csv --map n=n:text | trencode -q -t ndjson | jq -c .args.n'
	assert_output $'"1"\n"2"\n"1.5"\n"4"\n"5"'
	run -0 pipe 'sed "4s/3$/1.5/" a.csv | trdecode -f csv | trencode -q -t ndjson | jq -c .args.n'
	assert_output $'1\n2\n1.5\n4\n5'
	# whole numbers of more than 64 bits would be others with a point
	run -0 pipe 'sed "4s/3$/18446744073709551616/" a.csv | trdecode -f csv | trencode -q -t ndjson | jq -c .args.n'
	assert_output $'"1"\n"2"\n"18446744073709551616"\n"4"\n"5"'
	run -0 --separate-stderr pipe 'sed "4s/3$/18446744073709551616/" a.csv | trdecode -f csv --map n=n:int | trencode -q -t ndjson -c arg.n | jq -c ".[]"'
	assert_line --index 2 '"18446744073709551616"'
	assert_equal "$(sed 's/.*: 1/1/' <<<"$stderr")" "1 value does not fit the type of its column: written as text"
	# the lines of a quoted cell are no rows
	printf 'time,text,n\n1,"a\nb,c,d\n",7\n2,"e",8\n' >lines.csv
	for file in lines.csv '<(cat lines.csv)'; do
		run -0 pipe "trdecode -f csv $file | trencode -q -t ndjson | jq -c .args.n"
		assert_output $'7\n8'
	done
}

@test "times: ISO 8601, patterns of strptime, zones, units, as python reads them" {
	local times=("2026-11-21T11:40:05.123+01:00" "2026-11-21 10:40:06Z" "2026-11-21 10:40:07.5 UTC" "2024-02-29T23:59:59,25-0330")
	{ echo time,name; for t in "${times[@]}"; do echo "\"$t\",x"; done; } >iso.csv
	trdecode -f csv --sort iso.csv | trencode -q -t csv --no-header -c time >got
	python3 -c '
import datetime, sys
for t in sys.argv[1:]:
    t = t.replace(" UTC", "Z").replace("Z", "+00:00").replace(",", ".").replace("-0330", "-03:30").replace(".25-", ".250000-").replace(".5+", ".500000+")
    d = datetime.datetime.fromisoformat(t) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    print((d.days * 86400 + d.seconds) * 10**9 + d.microseconds * 1000)' "${times[@]}" | sort >want
	diff want got
	# local time, as date reads it
	printf 'time,name\n2026-07-01 12:00:00,x\n2026-12-01 12:00:00,y\n' >local.csv
	TZ=Europe/Berlin trdecode -f csv local.csv | trencode -q -t csv --no-header -c time >got
	for t in '2026-07-01 12:00' '2026-12-01 12:00'; do TZ=Europe/Berlin date -d "$t" +%s000000000; done | diff - got
	echo '{"t":"21/Nov/2026:11:40:05.5 +0100"}' >nginx.ndjson
	run -0 pipe "trdecode -f ndjson --map 'time=t:%d/%b/%Y:%H:%M:%S.%f %z' nginx.ndjson | trencode -q -t csv --no-header -c time"
	assert_output "$(date -d '2026-11-21 11:40:05 +0100' +%s)500000000"
	for unit in s/1500 ms/1.5 us/0.0015 ns/0.0000015; do
		run -0 pipe "printf 'at,name\n1500,x\n' | trdecode -f csv --map time=at:${unit%/*} | trencode -q -t csv --no-header -c time"
		assert_output "$(awk -v s="${unit#*/}" 'BEGIN { printf "%.0f", s * 1e9 }')"
	done
	run -0 pipe "printf 'at,name\n1500.25,x\n' | trdecode -f csv --map time=at | trencode -q -t csv --no-header -c time"
	assert_output 1500250000000
}

@test "what a row is: a call, a sample, a counter, an instant; constants and nested names" {
	cat >mixed.ndjson <<-'END'
		{"t":1000,"m":{"op":"call","took":5}}
		{"t":2000,"m":{"op":"sample"},"st":["main","f"],"w":3}
		{"t":3000,"m":{"op":"sample"},"st":"main;f;g","w":4}
		{"t":4000,"m":{"op":"queue"},"v":-2.5}
		{"t":5000,"m":{"op":"mark","why":{"a":[1,null]}}}
	END
	run -0 --separate-stderr pipe "trdecode -f ndjson --map 'time=t:us,name=m.op,dur=m.took:us,stack=st,weight=w,value=v,tid=7,comm=\"web\"' mixed.ndjson >mixed.trs &&
		trencode -q -t ndjson -c kind,name,time,dur,tid,comm,stack,weight,args mixed.trs | jq -c '[.[]]'"
	assert_output - <<-'END'
		["call","call",1000000,5000,7,"web",null,null,null]
		["sample","f",2000000,null,7,"web",["main","f"],3,null]
		["sample","g",3000000,null,7,"web",["main","f","g"],4,null]
		["counter","queue",4000000,null,7,"web",null,null,{"value":-2.5}]
		["instant","mark",5000000,null,7,"web",null,null,{"m.why":{"a":[1,null]}}]
	END
	run -0 pipe 'trstat -q -t tsv -g name -c self mixed.trs | grep -w g'
	assert_output $'g\t4'
}

@test "order: rows up to a second out of order are sorted, all with --sort, by python's sort" {
	python3 -c '
import random
random.seed(3)
rows = [(i * 1000 + random.randrange(900_000_000), i) for i in range(0, 3_000_000, 10)]
print("time,name,n")
for t, i in rows: print(f"{t},x,{i}")' >near.csv
	trdecode -f csv near.csv | trencode -q -t csv --no-header -c time,n >got
	tail -n +2 near.csv | cut -d , -f 1,3 | LC_ALL=C sort -t , -s -n -k 1,1 | diff - got
	{ head -1 near.csv; tail -n +2 near.csv | shuf --random-source=near.csv; } >far.csv
	trdecode --sort -f csv far.csv | trencode -q -t csv --no-header -c time,n | LC_ALL=C sort | diff - <(LC_ALL=C sort got)
	trdecode --sort -f csv far.csv | trencode -q -t csv --no-header -c time | sort -nc
	printf 'time,name\n5000000000,a\n1000000000,b\n5100000000,c\n' >late.csv
	run -1 --separate-stderr pipe 'trdecode -f csv late.csv | trencode -q -t csv --no-header -c name'
	assert_output $'a\nc'
	assert_equal "$stderr" "trdecode: late.csv: 0x17: a row is left out: its time is more than 1 s before that of a row before it; sort all rows with --sort"
	run -0 pipe 'trdecode --sort -f csv late.csv | trencode -q -t csv --no-header -c name'
	assert_output $'b\na\nc'
}

@test "a csv that was edited: sorted by another column, with fewer columns, by awk" {
	trdecode -q -o first.trs "$DATA/uftrace/fib"
	trencode -q -t csv first.trs >a.csv
	trstat -q -t tsv -g name -c count,total,self first.trs | sort >want
	{ head -1 a.csv; tail -n +2 a.csv | sort -t , -k 2,2n; } >sorted.csv
	trdecode -q sorted.csv | trstat -q -t tsv -g name -c count,total,self | sort | diff want -
	awk -F , -v OFS=, '{ print $1, $2, $5, $8 }' a.csv >fewer.csv
	head -1 fewer.csv | grep -qx time,dur,tid,name
	trdecode -q -f csv --sort fewer.csv | trstat -q -t tsv -g name -c count,total | sort >got
	trstat -q -t tsv -g name -c count,total first.trs | sort | diff - got
}

@test "damage costs the row, with file and offset" {
	trdecode -q "$DATA/uftrace/fib" | trencode -q -t ndjson >good.ndjson
	{ sed -n 1,2p good.ndjson; echo '{"time":5,"name":'; echo 7; echo '{"name":"x"}'; sed -n 3,4p good.ndjson; } >bad.ndjson
	run -1 --separate-stderr trdecode -f ndjson -o bad.trs bad.ndjson
	run -1 --separate-stderr trencode -q -t csv bad.trs
	assert_equal "${#lines[@]}" 5
	stderr=$(trdecode -f ndjson -o bad.trs bad.ndjson 2>&1) || true
	local at
	at=$(sed -n 1,2p good.ndjson | wc -c)
	printf 'trdecode: bad.ndjson: 0x%x: a row is left out: %s\n' $((at + 17)) 'the text ends within a value' >want
	head -1 <<<"$stderr" | sed 's/left out: .*/left out/' | diff - <(sed 's/left out: .*/left out/' want)
	grep -qx "trdecode: bad.ndjson: $(printf 0x%x $((at + 18))): a row is left out: it is no object of JSON" <<<"$stderr"
	printf 'time,name\n1,a\n2,"b\n3,c\n4,d,5\n6,"e"f\n7,g\n' >bad.csv
	run -1 --separate-stderr pipe 'trdecode -f csv bad.csv | trencode -q -t csv --no-header -c name'
	assert_output $'a\nc\ng'
	sed 's/ (--verbose.*//' <<<"$stderr" | diff - <(cat <<-'END'
		trdecode: bad.csv: 0xe: a row is left out: a quote has no end
		trdecode: bad.csv: 0x17: a row is left out: it has more cells than the header, which has 2
		trdecode: bad.csv: 0x1d: a row is left out: text after a quoted cell
	END
	)
}

@test "a row is left out with the reason: times out of range, times that are none; a header that is none" {
	printf 'time,dur,name\n1,2,a\n18446744073709551614,1,b\n2026-02-30T00:00,1,c\n1969-12-31T00:00Z,1,d\n,1,e\n4611686018427387904,1,f\n4611686018427387903,0,g\n' >times.csv
	run -1 --separate-stderr pipe 'trdecode --verbose -f csv times.csv | trencode -q -t csv --no-header -c name'
	assert_output $'a\ng'
	diff <(sed 's/^[^ ]* times.csv: 0x[0-9a-f]*: //' <<<"$stderr") - <<-'END'
		a row is left out: its time '18446744073709551614' is out of range: times begin with 1970, and have fewer than 2^62 ns
		a row is left out: its time '2026-02-30T00:00' cannot be read
		a row is left out: its time '1969-12-31T00:00Z' is out of range: times begin with 1970, and have fewer than 2^62 ns
		a row is left out: it has no time
		a row is left out: its time '4611686018427387904' is out of range: times begin with 1970, and have fewer than 2^62 ns
	END
	{ seq -s, 5000; seq -s, 5000; } >wide.csv
	run -2 errors trdecode -f csv --map time=1:s wide.csv
	assert_output "trdecode: wide.csv: 0x0: the header: it has more than 4096 cells"
	printf 'time,"na"me\n1,x\n' >quote.csv
	run -2 errors trdecode -f csv quote.csv
	assert_output "trdecode: quote.csv: 0x0: the header: text after a quoted cell"
}

@test "a NUL costs its row or nothing; names of columns that are empty, or none" {
	local f
	printf 'time,name\n1,a\n2,\0\n\0,x\n3,b\n' >nul.csv
	run -1 --separate-stderr pipe 'trdecode -f csv nul.csv | trencode -q -t csv --no-header -c time'
	assert_output $'1\n2\n3'
	printf '{"time":1,"name":"a"}\n\0\n{"time":2,"name":"b"}\n' >nul.ndjson
	run -1 --separate-stderr pipe 'trdecode -f ndjson nul.ndjson | trencode -q -t csv --no-header -c time'
	assert_output $'1\n2'
	# an index without a name, as pandas writes it
	printf ',time,dur,name\n4,10,5,a\n5,20,5,b\n' >unnamed.csv
	tr , '\t' <unnamed.csv >unnamed.tsv
	printf '{"":%s,"time":%s,"dur":5,"name":"x"}\n' 4 10 5 20 >unnamed.ndjson
	printf '{"time":%s,"dur":5,"name":"x","args":{"":%s}}\n' 10 4 20 5 >unnamed-args.ndjson
	for f in unnamed*; do
		run -0 pipe "trdecode -f ${f#*.} $f | trencode -q -t ndjson | jq -c .args"
		assert_output $'{"unnamed":4}\n{"unnamed":5}'
	done
	sed 1d unnamed.csv >none.csv
	run -2 errors trdecode -f csv none.csv
	assert_output --partial ": is there a header?"
}

@test "a table with ends alone has instants" {
	printf 'end,name\n5s,a\n6s,b\n' >ends.csv
	run -0 pipe 'trdecode -f csv ends.csv | trencode -q -t csv --no-header -c time,dur,name,kind'
	assert_output $'5000000000,,a,instant\n6000000000,,b,instant'
	# a log has rows in the order of their ends: no call is left out, however long it took
	printf 'end,dur,name\n5s,1ms,a\n6s,1ms,b\n7s,6s,c\n' >order.csv
	run -0 pipe 'trdecode -f csv --map end=end,dur=dur,name=name order.csv | trencode -q -t csv --no-header -c time,name'
	assert_output $'4999000000,a\n5999000000,b\n1000000000,c'
}

@test "truncated at any byte: what is before is decoded" {
	trdecode -q "$DATA/perf/two.data.gz" | trencode -q -t ndjson | head -4 >four.ndjson
	trdecode -q "$DATA/uftrace/fib" | trencode -q -t csv | head -5 >four.csv
	local format n lines events
	for format in ndjson csv; do
		for ((n = 1; n < $(wc -c <four.$format); n += 13)); do
			head -c "$n" four.$format >begin.part
			lines=$(($(wc -l <begin.part) - (format == csv)))
			trdecode -q -f $format begin.part >part.trs 2>/dev/null || (($? <= 2))
			((lines > 0)) || continue
			events=$(trfilter -q -c true part.trs) || (($? <= 1))
			((events >= lines && events <= 2 * lines + 2)) || { echo "$format $n: $events"; return 1; }
		done
	done
}

@test "what the columns are is asked for by an example from the header" {
	run -2 --separate-stderr trdecode -f csv -o x.trs <(printf 'when,op\n1,a\n')
	assert_equal "${stderr#*: */*: }" "no column is known to be the time; name the columns, as in --map time=when:ms,name=op; there are when, op"
	run -2 --separate-stderr trdecode -o x.trs -f ndjson <(echo '{"ts":17,"op":"a"}')
	assert_equal "${stderr#*: */*: }" "the numbers in 'ts' have no unit: give one, as in --map time=ts:ms (s, ms, us, ns, ticks, or a pattern of strptime)"
	run -2 --separate-stderr trdecode -o x.trs -f csv <(printf 'ts,timestamp,op\n1.5,2.5,a\n')
	assert_equal "${stderr#*: */*: }" "'ts' and 'timestamp' may both be the time: choose one with --map time=ts"
	run -2 --separate-stderr trdecode -o x.trs -f csv --map time=tz:ms <(printf 'ts,op\n1,a\n')
	assert_equal "${stderr#*: */*: }" "--map: no row has the column 'tz'; did you mean 'ts'?; there are ts, op"
	run -2 --separate-stderr trdecode -o x.trs -f ndjson --map time=ts,op=tz <(echo '{"ts":1.5,"t":1}')
	assert_equal "${stderr#*: */*: }" "--map: no row has the column 'tz'; did you mean 'ts'?; there are ts, t"
	run -2 --separate-stderr trdecode -f csv --map time=ts:parsec <(echo ts)
	assert_equal "$stderr" "trdecode: --map: time has no unit 'parsec'; there are s, ms, us, ns, ticks, and patterns such as %d/%b/%Y:%H:%M:%S %z"
	run -2 --separate-stderr trdecode -f csv --map nonsense <(echo ts)
	assert_equal "$stderr" "trdecode: --map takes FIELD=COLUMN[:UNIT],..., such as time=ts:ms,name=op, not 'nonsense'"
	run -2 --separate-stderr trdecode --map time=ts "$DATA/uftrace/fib"
	assert_equal "$stderr" "trdecode: --map has no effect on uftrace; it is for ndjson, csv, tsv, arrow"
	# --map says that the input is a table; other JSON is sent there
	run -0 pipe "printf 'at,op\n5,x\n' | trdecode --map time=at:ms,name=op | trencode -q -t csv --no-header -c time,name"
	assert_output 5000000,x
	run -0 pipe "printf '[{\"at\":5,\"op\":\"x\"},\n{\"at\":6,\"op\":\"y\"}]\n' | trdecode --map time=at:ms,name=op | trencode -q -t csv --no-header -c time,name"
	assert_output $'5000000,x\n6000000,y'
	run -2 --separate-stderr trdecode -o x.trs <(echo '{"at":5,"op":"x"}')
	assert_equal "${stderr##*, and other}" " rows of JSON with --map"
	run -2 --separate-stderr trdecode -o x.trs -f csv --map time=at:ms <(printf 'at;op\n5;x\n')
	assert_equal "${stderr#*: */*: }" "the header has one column, 'at;op': there is a comma between cells of csv, and a tab between those of tsv"
	# guesses that leave nothing open
	run -0 pipe "printf 'timestamp_ms\tduration_us\tname\n5\t7\tx\n' | trdecode | trencode -q -t csv --no-header -c time,dur,name"
	assert_output 5000000,7000,x
}

@test "recognised, --info, --list" {
	trdecode -q "$DATA/uftrace/fib" | trencode -q -t tsv >fib.tsv
	run -0 trdecode --info fib.tsv
	assert_line --regexp '^format +tsv$'
	assert_line --regexp "^rows +$(($(wc -l <fib.tsv) - 1))\$"
	run -0 pipe 'trdecode --list --json fib.tsv | jq "map(select(.kind == \"leave\").events) | add"'
	assert_output "$(awk -F '\t' 'NR > 1 && $2 != ""' fib.tsv | wc -l)"
}

@test "memory is constant, and time is linear in hostile rows" {
	unsanitized "memory of its own"
	seq 1000000 | awk 'BEGIN { print "time,dur,name,n" } { print $1 * 1000 ",50,f" $1 % 9 "," $1 }' >many.csv
	local kb most
	kb=$(/usr/bin/time -f %M trdecode -f csv --sort many.csv 2>&1 >/dev/null | tail -1)
	[ "$kb" -le 20480 ] || { echo "$kb KB"; return 1; }
	# a name takes 200 bytes, or 300 with arguments, also of an instant
	local map=time=at:s,dur=took:s,name=op
	seq 100000 | sed 's/.*/{"at":&,"took":5,"op":"name &"}/' >took.ndjson
	seq 100000 | sed 's/.*/{"at":&,"took":5,"op":"name &","n":&}/' >took-n.ndjson
	seq 100000 | sed 's/.*/{"at":&,"op":"name &","n":&}/' >n.ndjson
	for most in took/20000 took-n/30000 n/30000; do
		[[ $most != n/* ]] || map=time=at:s,name=op
		kb=$(/usr/bin/time -f %M trdecode -f ndjson --map "$map" "${most%/*}.ndjson" 2>&1 >/dev/null | tail -1)
		[ "$kb" -le $((12000 + ${most#*/})) ] || { echo "$most: $kb KB"; return 1; }
	done
	# a quote without an end in each of many lines; 100,000 names; deep nesting
	{ echo time,name; yes '1,a"b,"c' | head -100000; } >quotes.csv
	timeout 20 trdecode -q -f csv quotes.csv >/dev/null 2>&1 || (($? == 1))
	{ echo -n '{"time":1'; for ((i = 0; i < 100000; i++)); do echo -n ",\"n$i\":1"; done; echo '}'; } >names.ndjson
	run -0 --separate-stderr pipe 'timeout 20 trdecode -f ndjson names.ndjson | trencode -q -t ndjson | jq -c ".args | length"'
	assert_output 4095
	{ echo -n '{"time":1,"deep":'; printf '[%.0s' {1..200}; printf ']%.0s' {1..200}; echo '}'; } >deep.ndjson
	run -0 pipe 'trdecode -f ndjson deep.ndjson | trencode -q -t ndjson | jq -c ".args.deep | type"'
	assert_output '"string"'
}

@test "functions of one name: each has its file, line and module, as csv has them" {
	printf 'time,name,file,line,module\n1,h,b.c,9,liba.so\n2,h,c.c,10,liba.so\n3,h,c.c,11,libb.so\n4,h,b.c,9,liba.so\n5,h,,,\n' >lines.csv
	run -0 pipe 'trdecode -f csv lines.csv | trencode -q -t csv -c time,name,file,line,module'
	assert_output "$(cat lines.csv)"
	# of a sample the innermost frame
	cat >lines.ndjson <<-'END'
		{"time":1,"kind":"sample","name":"f","file":"a.c","line":50,"stack":["main","f"]}
		{"time":2,"kind":"sample","name":"f","file":"a.c","line":51,"stack":["main","f"]}
	END
	run -0 pipe 'trdecode -f ndjson lines.ndjson | trencode -q -t ndjson -c time,kind,name,file,line,stack'
	assert_output "$(cat lines.ndjson)"
}

@test "a call of a function inside another one is counted once, whatever its arguments are" {
	printf '{"time":1,"dur":10,"tid":1,"name":"f","args":{"a":1}}\n{"time":3,"dur":5,"tid":1,"name":"f","args":{"b":1}}\n' >inner.ndjson
	printf 'time,dur,tid,name,x\n1,10,1,f,\n3,5,1,f,3\n' >inner.csv
	for file in inner.ndjson inner.csv; do
		run -0 pipe "trdecode $file | trstat -q -t tsv -g name -c count,total | tail -n +2"
		assert_output $'f\t2\t10'
	done
}

@test "names of arguments that are ever new cost as much as the rows" {
	unsanitized "memory of its own"
	local kb step
	# in one second, and one each second, where each row is written before the next is read
	for step in 1 2000000000; do
		seq 0 20000 | awk -v step=$step '{ printf "{\"time\":%.0f,\"name\":\"f\",\"k%d\":1}\n", $1 * step, $1 % 4000 }' >names.ndjson
		kb=$(/usr/bin/time -f %M trdecode -f ndjson -o names.trs names.ndjson 2>&1 | tail -1)
		[ "$kb" -le 40960 ] || { echo "$kb KB"; return 1; }
		[ "$(wc -c <names.trs)" -le $((10 * $(wc -c <names.ndjson))) ] || { wc -c names.*; return 1; }
		trencode -q -t ndjson names.trs | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [r["args"] for r in rows] == [{f"k{i % 4000}": 1} for i in range(20001)]'
	done
}

@test "a call that overlaps others, or whose callers have no row, costs only its own nesting" {
	cat >one.ndjson <<-'END'
		{"time":200,"dur":100,"type":"exit","tid":7,"name":"f","depth":1}
		{"time":100,"dur":1000,"type":"exit","tid":7,"name":"main","depth":0}
		{"time":1097,"dur":10,"type":"exit","tid":7,"name":"k","depth":0}
		{"time":2200,"dur":100,"type":"exit","tid":7,"name":"f","depth":1}
		{"time":2000,"dur":1000,"type":"exit","tid":7,"name":"main","depth":0}
	END
	run -0 --separate-stderr pipe 'trdecode one.ndjson | trencode -q -t ndjson -c name,depth,nesting | jq -c "[.[]]"'
	assert_equal "$stderr" "trdecode: one.ndjson: 1 call with a depth overlaps others of its thread: self is the whole time"
	assert_output $'["f",1,null]\n["main",0,null]\n["k",0,"none"]\n["f",1,null]\n["main",0,null]'
	# what jq selects has no calls that are in no row
	printf '{"time":5,"dur":9,"name":"g","depth":4,"tid":1}\n{"time":3,"dur":100,"name":"f","depth":2,"tid":1}\n' >deep.ndjson
	run -0 pipe 'trdecode deep.ndjson | trencode -q -t ndjson -c time,name,depth,unfinished | jq -c "[.[]]"'
	assert_output $'[5,"g",1,false]\n[3,"f",0,false]'
}

@test "times that contradict each other are reported, and numbers with a point are seconds" {
	printf 'time,end,dur,name\n1,5,,a\n7,6,,b\n10,20,10,c\n30,40,50,d\n,5,7,e\n' >ends.csv
	run -1 --separate-stderr pipe 'trdecode --verbose -f csv ends.csv | trencode -q -t csv --no-header -c time,dur,name,kind'
	assert_output $'1,4,a,call\n7,,b,instant\n10,10,c,call\n30,50,d,call'
	diff <(sed 's/^[^ ]* ends.csv: 0x[0-9a-f]*: //' <<<"$stderr") - <<-'END'
		the end of a row is before its time: it is left out
		the end of a row is not its time and dur: it is left out
		a row is left out: its dur is more than its end: it begins before 0
	END
	printf '{"time":1.5,"dur":0.5,"name":"a"}\n{"time":2,"dur":2,"name":"b"}\n' >points.ndjson
	run -0 pipe 'trdecode points.ndjson | trencode -q -t csv --no-header -c time,dur'
	assert_output $'1500000000,500000000\n2000000000,2000000000'
	run -0 pipe "jq -c '{at: .time}' points.ndjson | trdecode -f ndjson --map time=at | trencode -q -t csv --no-header -c time"
	assert_output $'1500000000\n2000000000'
	printf 'time,name\n1,a\n1.5,b\n' >both.csv
	run -1 --separate-stderr pipe 'trdecode -f csv both.csv | trencode -q -t csv --no-header -c time'
	assert_output 1
	assert_equal "$stderr" "trdecode: both.csv: 0xe: a row is left out: its time '1.5' cannot be read; it has a point, and those before it are whole numbers, of ns: give a unit with --map"
}

@test "zones by name: those of TZ, as date reads them" {
	printf 'time,name\n2026-07-01 12:00:00.5 CEST,a\n2026-12-01 12:00:00 CET,b\n2026-12-01 12:00:00 GMT,c\n' >zones.csv
	TZ=Europe/Berlin trdecode -f csv zones.csv | trencode -q -t csv --no-header -c time >got
	for t in '2026-07-01 10:00:00.5' '2026-12-01 11:00' '2026-12-01 12:00'; do date -u -d "$t" +%s%N; done | diff - got
	run -1 --separate-stderr pipe 'TZ=Asia/Tokyo trdecode -f csv zones.csv | trencode -q -t csv --no-header -c name'
	assert_output c
	grep -qF "its time '2026-07-01 12:00:00.5 CEST' cannot be read; its zone is not the local one: set TZ, as in TZ=Europe/Berlin trdecode" <<<"$stderr"
	run -2 errors trdecode -f csv --map 'time=time:%Y-%m-%d %H:%M:%S %Z' zones.csv
	assert_output "trdecode: --map: %Z is the name of a zone, which has no offset: write the name in the pattern, such as CET, and set TZ, as in TZ=Europe/Berlin; %z is an offset"
}

@test "lists of JSON in one line, or over several lines, are sent to jq" {
	echo '[{"time":1,"name":"a"}, {"time":2,"name":"b"}]' >list.json
	run -1 errors trdecode -f ndjson -o x.trs list.json
	assert_output --partial "a row is left out: text after its object; jq -c '.[]' writes each object of a list as a line"
	jq . list.json >long.json
	run -1 errors trdecode -f ndjson -o x.trs long.json
	assert_output --partial "; jq -c '.[]' writes each object of a list as a line"
	# a sequence of objects is no list
	printf '{"time":1}{"time":2}\n' >two.json
	run -1 errors trdecode -f ndjson -o x.trs two.json
	assert_output --partial "left out: text after its object; jq -c . writes each object as a line"
	jq . two.json >long.json
	run -1 errors trdecode -f ndjson -o x.trs long.json
	assert_output --partial "; jq -c . writes each object as a line"
	run -0 pipe "jq -c '.[]' list.json | trdecode | trencode -q -t csv --no-header -c name"
	assert_output $'a\nb'
}

@test "tables of other programs: sqlite3, jq, journalctl, nginx, Postgres, Nsight, Java" {
	need sqlite3
	need jq
	sqlite3 db 'create table q(at real, took real, sql text); insert into q values (1764486000.5, 0.25, "select 1"), (1764486001.25, 1.5, "update t");'
	run -0 pipe "sqlite3 -json db 'select * from q' | trdecode -f ndjson --map time=at:s,dur=took:s,name=sql | trstat -q -t tsv -g name -c total | tail -n +2"
	assert_output $'update t\t1500000000\nselect 1\t250000000'
	cat >journal <<-'END'
		{"__REALTIME_TIMESTAMP":"1764486000123456","MESSAGE":"Started cron.","_PID":"12","_COMM":"systemd","PRIORITY":"6"}
	END
	run -0 pipe "trdecode -f ndjson --map time=__REALTIME_TIMESTAMP:us,name=MESSAGE,pid=_PID,comm=_COMM journal | trencode -q -t csv --no-header"
	assert_output '1764486000123456000,,Started cron.,12,,,systemd,Started cron.,,,,"{""PRIORITY"":""6""}"'
	echo '10.0.0.1 - - [21/Nov/2026:11:40:05 +0100] "GET /a HTTP/1.1" 200 512 0.025' >access.log
	jq -cR 'capture("\\[(?<at>[^]]*)\\] \"(?<op>[A-Z]+ [^ ]*)[^\"]*\" (?<status>\\d+) (?<bytes>\\d+) (?<took>[\\d.]+)")' access.log >access.ndjson
	run -0 pipe "trdecode -f ndjson --map 'end=at:%d/%b/%Y:%H:%M:%S %z,dur=took:s,name=op,status=status:int' access.ndjson |
		trencode -q -t csv --no-header -c time,dur,name,status"
	assert_output "$(($(date -d '2026-11-21 11:40:05 +0100' +%s) * 1000000000 - 25000000)),25000000,GET /a,200"
	echo '{"timestamp":"2026-11-21 11:40:05.123 UTC","pid":77,"ps":"SELECT","message":"duration: 12.500 ms  statement: select 1"}' |
		jq -c '. + (.message | capture("duration: (?<ms>[0-9.]+) ms +statement: (?<sql>.*)"))' >postgres.ndjson
	run -0 pipe "trdecode -f ndjson --map end=timestamp,dur=ms:ms,name=sql postgres.ndjson | trencode -q -t csv --no-header -c dur,pid,name"
	assert_output '12500000,77,select 1'
	printf 'Start (ns),Duration (ns),CorrId,Device,Name\n1000,250,7,GPU0,"void axpy<float>(int, float)"\n' >nsys.csv
	run -0 pipe "trdecode -f csv --map 'time=Start (ns):ns,dur=Duration (ns):ns,name=Name,comm=Device' nsys.csv | trencode -q -t csv --no-header -c time,dur,name"
	assert_output '1000,250,"void axpy<float>(int, float)"'
	cat >jfr.json <<-'END'
		{"recording":{"events":[{"type":"jdk.ExecutionSample","values":{"startTime":"2026-11-21T11:40:05.123456789+01:00",
		"sampledThread":{"javaName":"main","osThreadId":7},"stackTrace":{"frames":[
		{"method":{"type":{"name":"A"},"name":"inner"}},{"method":{"type":{"name":"A"},"name":"main"}}]}}}]}}
	END
	jq -c '.recording.events[] | select(.type == "jdk.ExecutionSample").values | {at: .startTime, tid: .sampledThread.osThreadId,
		stack: [.stackTrace.frames | reverse[] | .method | .type.name + "." + .name]}' jfr.json >jfr.ndjson
	run -0 pipe "trdecode -f ndjson --map time=at jfr.ndjson | trencode -q -t folded"
	assert_output 'A.main;A.inner 1'
}

@test "tables by mlr and awk are read as those of trencode" {
	need mlr
	trdecode -q "$DATA/uftrace/fib" | trencode -q -t csv >a.csv
	mlr --icsv --ojsonl put '$args = is_empty($args) ? "" : $args' a.csv >mlr.ndjson
	trdecode -q mlr.ndjson | trstat -q -t tsv -g name -c count,total >got
	trdecode -q a.csv | trstat -q -t tsv -g name -c count,total | diff - got
}

@test "dates that no calendar has are no times; texts of other systems are named" {
	printf 'time,name\n2024-02-29T00:00:00Z,a\n2024-02-30T00:00:00Z,b\n2023-02-29T00:00:00Z,c\n2024-04-31 10:00,d\n' >dates.csv
	run -1 --separate-stderr pipefail 'trdecode -f csv dates.csv | trstat -g name -c count -t csv'
	assert_output $'name,count\na,1'
	printf 'time,dur,name\r1,2,a\r' >mac.csv
	run -2 errors trdecode -f csv mac.csv
	assert_output "trdecode: mac.csv: 0x0: lines end with a carriage return alone: convert it with tr '\r' '\n'"
	printf 'time,name\n1ms,a\n' | iconv -t UTF-16 >wide.csv
	run -2 errors trdecode -f csv wide.csv
	assert_output 'trdecode: wide.csv: 0x0: is UTF-16: convert it with iconv -f UTF-16'
}
