# trstat: keys, columns, orders and formats on real recordings, and its manners in a pipe.

load lib

ALL=total,total_avg,total_min,total_max,self,self_avg,self_min,self_max,count

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# tsv KEYS COLUMNS [OPTION...]: the table of the bundled trace, in the order of its keys
tsv() {
	local keys=$1 columns=$2
	shift 2
	trstat -t tsv -g "$keys" -c "$columns" -s "$keys" "$@" fib.trs
}

# shared RECORDING [OPTION...]: the table of a recording beside the project
shared() {
	local name=$1
	shift
	trdecode "$RECORDED/uftrace/$name" | trsym | trstat -t tsv "$@"
}

# lines TEXT...: they are the output, blanks for tabs
lines() {
	assert_output "$(printf '%s\n' "$@" | tr ' ' '\t')"
}

@test "the default is a profile by function" {
	run -0 trstat fib.trs
	assert_line --index 0 --regexp '^ *total +self +count +avg +p50 +p99 +max +name$'
	assert_line --index 1 --regexp '^ *6\.956 ms +6\.956 ms +3 +2\.318 ms .* linux:schedule$'
	run -0 pipe 'trstat <fib.trs'
	assert_line --index 2 --regexp '^ *4\.441 ms +4\.585 us +2 .* worker$'
	run -0 pipe 'cat fib.trs | trstat -t tsv -n 1 -'
	assert_line --index 0 "$(echo name total self count avg p50 p99 max | tr ' ' '\t')"
	assert_equal "${#lines[@]}" 2
}

@test "total, self, average, extremes and count are to the nanosecond" {
	run -0 pipe "trstat -t tsv -c $ALL fib.trs | grep -E '^(fib|compare|main|pthread_join)	'"
	assert_line "$(echo fib 100719 1196 40 81573 100719 168 40 9698 599 | tr ' ' '\t')"
	assert_line "$(echo compare 51331 46 40 70 51331 46 40 70 1106 | tr ' ' '\t')"
	assert_line "$(echo main 2988111 2988111 2988111 2988111 2592 2592 2592 2592 1 | tr ' ' '\t')"
	assert_line "$(echo pthread_join 2788930 1394465 221 2788709 8397 4198 221 8176 2 | tr ' ' '\t')"
	run -0 tsv name avg,min,max -n 2
	lines 'name avg min max' '__cxa_atexit 781 781 781' '__monstartup 1272 1272 1272'
}

@test "tables of the bundled trace are those of a model over uftrace dump, to the nanosecond" {
	need uftrace
	uftrace dump --no-pager -d "$DATA/uftrace/fib" 2>/dev/null | grep '\[' | sort -s -n -k 1,1 >dump
	for key in name tid caller depth ''; do
		awk -v key=$key -f "$ROOT/t/tools/uftrace_profile.awk" dump | sed 's/^\t//' | sort >want
		trstat -t tsv -g "$key" -c count,total,self fib.trs | tail -n +2 | sed 's/^\t//' | sort | diff want - || fail "$key"
	done
}

@test "keys of threads: tid pid ppid comm cpu input" {
	run -0 tsv tid count,total
	lines 'tid count total' '4123 477 2990164' '4125 630 2232189' '4126 631 2208946'
	run -0 tsv pid,ppid,comm count
	lines 'pid ppid comm count' '4123 0 fib 1738'
	run -0 tsv cpu count
	lines 'cpu count' '0 9' ' 1729'
	run -0 tsv input count
	lines 'input count' "$DATA/uftrace/fib 1738"
}

@test "keys of functions: module caller depth" {
	run -0 tsv module count,total
	lines 'module count total' '/opt/example/fib 1729 7431299' ' 9 6956032'
	run -0 tsv caller count,total
	lines 'caller count total' 'fib 596 100076' 'main 7 2985519' 'pause_a_while 2 4207488' \
		'pthread_join 1 2780533' 'qsort 1106 51331' 'usleep 1 2062112' 'worker 14 4436550' \
		' 11 7431299'
	run -0 pipe "trstat -t tsv -g depth -c count,total -s depth fib.trs | head -n 5"
	lines 'depth count total' '0 11 7431299' '1 21 7422069' '2 1115 7139428' '3 13 2160938'
	run -0 tsv caller,depth count
	assert_line "$(echo fib 12 2 | tr ' ' '\t')"
}

@test "keys address and name: what uftrace replay prints, as often" {
	need uftrace
	uftrace replay --no-pager --no-event -f addr -d "$DATA/uftrace/fib" 2>/dev/null |
		sed -nE 's/^ *([0-9a-f]{8,}) \| *([A-Za-z_0-9]+)\(.*/0x\1\t\2/p' | sort | uniq -c |
		awk -v OFS='\t' '{ print $2, $3, $1 }' >want
	[ "$(wc -l <want)" -gt 10 ]
	trstat -t tsv -g address,name -c count fib.trs | grep ^0x56 | sort | diff <(sort want) -
}

@test "keys of types: with type every row counts, otherwise calls and instants" {
	run -0 tsv type count,total
	lines 'type count total' 'entry 1729 ' 'exit 1729 7431299' 'linux:sched-in 20 6956032' \
		'linux:sched-out 18 ' 'linux:task-exit 3 ' 'linux:task-name 1 ' 'linux:task-new 2 '
	run -0 tsv group count
	lines 'group count' 'linux 9' 'uftrace 1729'
	run -0 tsv kind count
	lines 'kind count' 'call 1732' 'instant 6'
}

@test "instants have a count and no times" {
	run -0 pipe "trstat -q -t tsv -c count,total,avg,p50,first,last,rate fib.trs | grep task-new"
	lines 'linux:task-new 2    3587866649414 3587866692605 222.911'
	run -0 pipe "trstat -t json -c count,total,max fib.trs | jq -c '.[] | select(.name == \"linux:task-exit\")'"
	assert_output '{"name":"linux:task-exit","count":3,"total":null,"max":null}'
}

@test "several keys, and a bucket of the time" {
	run -0 tsv 'bucket(time,1ms)' count,total
	lines 'bucket(time,1ms) count total' '3587860000000 1 ' '3587866000000 562 205653' \
		'3587867000000 556 99137' '3587869000000 619 7429246'
	run -0 tsv 'tid,name' count,total
	assert_line "$(echo 4125 fib 67 9698 | tr ' ' '\t')"
	assert_line "$(echo 4126 fib 67 9448 | tr ' ' '\t')"
	assert_equal "${#lines[@]}" 37
	run -0 tsv 'bucket(time,1s),cpu,kind' count
	lines 'bucket(time,1s) cpu kind count' '3587000000000 0 call 3' \
		'3587000000000 0 instant 6' '3587000000000  call 1729'
	run -0 trstat -g '' -c count,total -t tsv fib.trs
	lines 'count total' '1738 7431299'
}

@test "fields are keys and columns" {
	run -0 shared read-events -c 'count,sum(vmsize),min(vmrss),max(vmrss),avg(vmrss)' -g name -s name
	assert_line "$(echo read:proc/statm 2 31008 7900 7904 7902.000 | tr ' ' '\t')"
	assert_line "$(printf 'fib\t25\t\t\t\t')"
	run -0 shared read-events -c count -g vmsize -s vmsize
	assert_line "$(printf '15504\t2')"
	run -0 shared args-spec2 -g 'name,arg.1' -c count,total -s 'name,arg.1'
	assert_line --regexp "$(printf '^ints\t-1\t1\t')"
	run -0 shared args-spec2 -g name -c 'count,sum(arg.1),uniq(ret)' -s name
	assert_line --regexp "$(printf '^str\t[0-9]+\t\t')"
	# as many names as the table by name has rows
	run -0 pipe "trstat -t tsv -g name -c count fib.trs | tail -n +2 | wc -l"
	names=$output
	run -0 pipe "trstat -t tsv -g '' -c 'uniq(name)' fib.trs"
	lines 'uniq(name)' "$names"
	run -0 pipe "trstat -t tsv -c 'count,uniq(tid),uniq(comm)' -n 2 fib.trs"
	lines 'name count uniq(tid) uniq(comm)' 'compare 1106 2 1' 'fib 599 3 1'
}

@test "calls that are open at the end have what is known of their thread" {
	# main never returns
	cat >open.json <<-'END'
		[{"name":"process_name","ph":"M","pid":7,"args":{"name":"cat"}},
		{"name":"thread_name","ph":"M","pid":7,"tid":8,"args":{"name":"cat"}},
		{"name":"main","ph":"B","ts":1,"pid":7,"tid":8},
		{"name":"f","ph":"X","ts":2,"dur":1,"pid":7,"tid":8}]
	END
	run -0 pipe "trdecode -q open.json | trstat -q -t tsv -c 'count,uniq(tid),max(tid),min(pid),uniq(comm),sum(cpu)' -s name"
	assert_line $'main\t1\t1\t8\t7\t1\t'
	assert_line $'f\t1\t1\t8\t7\t1\t'
}

@test "what is not known is no empty text, and comes last" {
	trdecode "$DATA/apitrace/v6.trace" >ticks.trs
	run -0 pipe "trstat -q -t ndjson -g comm -c count,'uniq(comm)' ticks.trs"
	assert_output --regexp '^\{"comm": null, "count": [0-9]+, "uniq\(comm\)": 0\}$'
	run -0 pipe "trstat -q -t ndjson --slowest 1 ticks.trs"
	assert_output --partial '"comm": null,'
	run -0 pipe "trstat -q -t csv --slowest 1 ticks.trs"
	refute_output --partial ',"",'
	# rows that tie
	run -0 pipe "trstat -q -t tsv -g caller,name -c count fib.trs | awk -F '\t' 'NR > 1 { if (n == \$3 && empty && \$1) bad = 1; n = \$3; empty = !\$1 } END { print bad + 0 }'"
	assert_output 0
	run -0 pipe "trstat -q -t tsv -g caller,name -c count -s caller fib.trs | tail -n 1 | cut -f 1"
	assert_output ''
}

@test "the mean of times is in whole nanoseconds, as avg" {
	run -0 pipe "trstat -q -t tsv -c 'avg,avg(dur),self_avg,avg(self)' fib.trs | awk -F '\t' 'NR > 1 && (\$2 != \$3 || \$4 != \$5)'"
	assert_output ''
}

@test "a summary is not written to a terminal" {
	need_terminal
	run script -qec 'trstat --partial fib.trs' /dev/null </dev/null
	assert_output --partial 'a summary is not written to a terminal; pipe it into trstat --merge, or use -o FILE'
}

@test "percentiles are those of the sorted times" {
	for f in fib compare; do
		trfilter 'kind == leave || kind == enter' fib.trs |
			trstat -t tsv -g "name,bucket(time,1ns)" -c total_max,count |
			awk -v f=$f '$1 == f && $4 == 1 { print $3 }' | sort -n >times.txt
		[ "$(wc -l <times.txt)" -gt 500 ]
		for p in 1 50 90 99 99.9; do
			exact=$(awk -v p=$p '{ t[NR] = $1 } END { r = int(NR * p / 100); if (r < NR * p / 100) r++; print t[r] }' times.txt)
			got=$(trfilter "name == '$f'" fib.trs | trstat -t tsv -c "p$p" | tail -n 1 | cut -f 2)
			awk -v a="$exact" -v b="$got" 'BEGIN { d = a > b ? a - b : b - a; exit d > a / 256 }' ||
				fail "$f p$p: exact $exact, got $got"
		done
	done
	run -0 --separate-stderr trstat --bounds -t tsv -n 1 fib.trs
	[[ $stderr == *0.39*%* ]]
	run -0 pipe 'trstat --bounds -n 1 fib.trs | tail -n 1'
	assert_output --partial '0.39'
	run -2 trstat --bounds -c count -t tsv fib.trs
}

@test "-s sorts by columns and keys, -n cuts" {
	run -0 pipe 'trstat -t tsv -c count -s count,name -n 3 fib.trs'
	lines 'name count' 'compare 1106' 'fib 599' 'linux:schedule 3'
	run -0 pipe 'trstat -t tsv -c count -s +count,-name -n 2 fib.trs'
	lines 'name count' 'usleep 1' 'snprintf 1'
	run -0 pipe 'trstat -t tsv -c count -s self -n 2 fib.trs'
	lines 'name count' 'linux:schedule 3' 'qsort 2'
	run -0 pipe 'trstat -t tsv -c self,count -n 1 fib.trs'
	lines 'name self count' 'linux:schedule 6956032 3'
	run -2 trstat -s no_such fib.trs
	assert_output --partial no_such
	for n in -1 x 1x ''; do
		run -2 trstat -n "$n" fib.trs
		assert_output --partial '-n needs a number'
	done
}

@test "a table leaves out empty columns; rows without times are in the order of their counts" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >s.trs
	run -0 trstat -q -g type s.trs
	assert_line --index 0 'count  type'
	assert_equal "$(tail -n +2 <<<"$output")" "$(trstat -q -g type -c count -s -count,type s.trs | tail -n +2)"
	run -0 pipe 'trstat -q -g type -t csv s.trs | head -n 1'
	assert_output 'type,total,self,count,avg,p50,p99,max'
	run -0 pipe 'trstat -q -g type -c count,total s.trs | head -n 1'
	assert_output 'count  total  type'
	run -0 pipe 'trstat -q -g type -c +first,p90 s.trs | head -n 1'
	assert_output --regexp '^count +first  p90  type$'
	# a clock of ticks
	trdecode "$DATA/apitrace/v6.trace" >t.trs
	run -0 trstat -q -n 1 t.trs
	assert_output "$(trstat -q -c count -s count -n 1 t.trs)"
	run -0 pipe 'trstat -q -c total -n 1 t.trs | head -n 1'
	assert_output --partial '[ticks]'
}

@test "times as keys are formatted in a table only" {
	run -0 pipe "trstat -g 'bucket(time,1ms)' -c count -s 'bucket(time,1ms)' fib.trs | head -n 2 | tail -n 1"
	assert_output '    1    3587.860000000'
	run -0 pipe "trstat -g time -c count -s time -n 1 fib.trs | tail -n 1"
	assert_output --regexp '^    1 +3587\.86[0-9]{7}$'
}

@test "on a terminal a table has 50 rows unless -n is given" {
	need_terminal
	run -0 pipe "script -qec 'trstat -g time -c count fib.trs' /dev/null </dev/null | tr -d '\r'"
	assert_equal "${#lines[@]}" 52
	n=$(trstat -g time -c count -t tsv fib.trs | tail -n +2 | wc -l)
	assert_equal "${lines[51]}" "... $((n - 50)) more (-n 0)"
	for arguments in '-n 60' '-n 0' '-t tsv'; do
		run -0 pipe "script -qec 'trstat -g time -c count fib.trs $arguments' /dev/null </dev/null"
		refute_output --partial ' more '
		assert [ "${#lines[@]}" -gt 60 ]
	done
}

@test "every format holds the same rows" {
	trstat -t tsv -c count,total,p99 fib.trs | tail -n +2 >rows
	trstat -t csv -c count,total,p99 fib.trs | tail -n +2 | tr ',' '\t' | diff rows -
	trstat -t json -c count,total,p99 fib.trs | jq -r '.[] | [.name, .count, .total, .p99] | @tsv' | diff rows -
	trstat -t ndjson -c count,total,p99 fib.trs | jq -r '[.name, .count, .total, .p99] | @tsv' | diff rows -
	[ "$(trstat -t table -c count,total,p99 fib.trs | tail -n +2 | wc -l)" -eq "$(wc -l <rows)" ]
	run -0 trstat -t csv -c count -n 1 fib.trs
	assert_line --index 0 'name,count'
	run -2 trstat -t xml fib.trs
	assert_output --partial 'ndjson'
}

@test "rate and util say of which span they are, as one early event makes it long" {
	# an event at 1 s, and four within 0.4 s, 70 s later
	echo '[{"ph":"i","name":"stray","ts":1000000,"pid":1,"tid":1}' >stray.json
	for us in 71000000 71100000 71200000 71400000; do
		echo ",{\"ph\":\"i\",\"name\":\"e\",\"ts\":$us,\"pid\":1,\"tid\":1}"
	done >>stray.json
	echo ']' >>stray.json
	trdecode -o stray.trs stray.json
	run -0 --separate-stderr trstat -g name -c count,rate -s count -n 1 -t tsv stray.trs
	assert_line $'e\t4\t0.057'
	assert_equal "$stderr" 'trstat: rate is of 70.400 s, from 1.000000000 to 71.400000000; --since and --until choose a part of the run'
	run -0 --separate-stderr trstat --since 70s -g name -c rate -t tsv stray.trs
	assert_line $'e\t2.857'
	assert_equal "$stderr" 'trstat: rate is of 1.400 s, from 70.000000000 to 71.400000000; --since and --until choose a part of the run'
	run -0 --separate-stderr trstat -q -c rate stray.trs
	assert_equal "$stderr" ''
	run -0 --separate-stderr trstat -c count stray.trs
	assert_equal "$stderr" ''
	# of 3000 events two, a pause before, are not of the run: 1499 pairs of 1 ms in 2.999 s, and one that
	# lasts from a stray event to the first one
	jq -nc '[["a", 1e6], ["x", 1.5e6]] + [range(3000) | [if . % 2 == 0 then "b" else "a" end, 100e6 + 1000 * .]] |
		map({ph: "i", pid: 1, tid: 1, name: .[0], ts: .[1]})' | trdecode -q -o late.trs
	said='from 100.000000000 to 102.999000000; 2 earlier events are before it'
	run -0 --separate-stderr trstat -g name -c rate -n 1 -t tsv late.trs
	assert_line $'a\t500.500'
	assert_equal "$stderr" "trstat: rate is of 2.999 s, $said, but counted; --since +0s includes them"
	run -0 --separate-stderr trstat --pair 'a -> b' -c count,busy,util,idle -t csv late.trs
	assert_output $'count,busy,util,idle\n1500,1499000000,49.983,1500000000'
	assert_equal "${stderr_lines[0]}" "trstat: idle is of 2.999 s, $said; --since +0s includes them"
	run -0 --separate-stderr trstat --cover 'a -> b' -c busy,util,idle -t csv late.trs
	assert_output $'busy,util,idle\n1499000000,49.983,1500000000'
	run -0 --separate-stderr trstat --pair 'a -> b' -c busy,util -t csv --since +0s late.trs
	assert_output $'busy,util\n100499000000,98.529'
	assert_equal "${stderr_lines[0]}" 'trstat: util is of 101.999 s, from 1.000000000 to 102.999000000; --since and --until choose a part of the run'
	run -3 trstat -q --pair 'a -> b' --fail-if 'util < 50%' late.trs
	# a tenth of the events is not stray
	jq -nc '[range(1000) | {ph: "i", pid: 1, tid: 1, name: "e", ts: (if . < 100 then . else 5e6 + . end)}]' |
		trdecode -q | trstat -c rate 2>&1 >/dev/null | grep -q 'rate is of 5.000 s, from 0.0'
}

@test "wrong keys and columns are named" {
	run -2 --separate-stderr trstat -g 'no such' fib.trs
	assert_output ''
	assert_equal "${stderr_lines[0]%%(*}" "trstat: no such key: 'no such' "
	run -2 trstat -g 'bucket(time)' fib.trs
	assert_output --partial 'bucket(time,1s)'
	run -2 trstat -g tid,tid fib.trs
	assert_output --partial twice
	run -2 trstat -c no_such fib.trs
	assert_output --partial no_such
	run -2 trstat -c count,count fib.trs
	run -2 trstat -g no_such_field -c count -t tsv fib.trs
	assert_output "trstat: no event has a field 'no_such_field'; trdecode --list names the fields"
}

@test "what the table does not show is said on stderr, unless --quiet" {
	run -0 --separate-stderr shared forkexec -n 1
	assert_equal "$stderr" 'trstat: 2 calls had not returned at the end of the trace'
	run -0 --separate-stderr shared forkexec -n 1 -q
	[ -z "$stderr" ]
	trfilter '!(kind == enter && name == "usleep")' fib.trs >cut.trs
	run -0 --separate-stderr trstat -n 1 cut.trs
	assert_equal "$stderr" 'trstat: 1 return without a call'
	run -0 --separate-stderr shared lost -n 1
	[[ $stderr == *'events were lost by the recorder'* ]]
	run -1 shared lost -n 1 --strict
	run -0 --separate-stderr pipe "trdecode '$DATA/uftrace/fib' | trstat -n 1"
	assert_equal "$stderr" 'trstat: some functions have an address but no name: run trsym before this program'
	run -0 --separate-stderr pipe "trdecode '$DATA/uftrace/fib' | trstat -n 1 --partial | trstat --merge"
	assert_equal "$stderr" 'trstat: some functions have an address but no name: run trsym before this program'
	run -0 --separate-stderr pipe "trdecode '$DATA/uftrace/fib' | trstat -g tid"
	[ -z "$stderr" ]
}

@test "gaps are no rows" {
	run -0 pipe "cd '$RECORDED/uftrace' && trdecode lost | trsym | trstat -q -t tsv -g type -c count -s type"
	lines 'type count' 'entry 3162' 'exit 3161' 'linux:task-exit 1' 'linux:task-name 1'
	run -0 pipe "trdecode '$RECORDED/uftrace/lost' | trstat -g type"
	assert_line 'trstat: 19982 events were lost by the recorder'
}

@test "a damaged input is shown as far as it goes, with status 1" {
	size=$(stat -c %s fib.trs)
	head -c $((size - 3000)) fib.trs >cut.trs
	run -1 --separate-stderr trstat -t tsv cut.trs
	[ "${#lines[@]}" -gt 5 ]
	[ -n "$stderr" ]
	run -2 trstat no-such.trs
	head -c 100 /dev/zero >zero.trs
	run ! trstat zero.trs
}

@test "a trace without events is an empty table" {
	trfilter 'tid == 1' fib.trs >empty.trs
	run -0 trstat empty.trs
	assert_equal "${#lines[@]}" 1
	run -0 trstat -t tsv -c count empty.trs
	lines 'name count'
	run -0 pipe "trstat -t json empty.trs | jq -c ."
	assert_output '[]'
	run -0 trstat -t ndjson empty.trs
	assert_output ''
}

@test "concatenated streams are one trace with separate threads" {
	cat fib.trs fib.trs >two.trs
	run -0 trstat -t tsv -c count,total,self,min,max two.trs
	assert_line "$(echo fib 1198 201438 201438 40 81573 | tr ' ' '\t')"
	run -0 trstat -t tsv -c count,total,self,min,max fib.trs fib.trs
	assert_line "$(echo fib 1198 201438 201438 40 81573 | tr ' ' '\t')"
	trdecode "$RECORDED/uftrace/exit-mid" | trsym >open.trs
	trstat -q -t tsv -c count,total,self,max open.trs >once
	cat open.trs open.trs | trstat -q -t tsv -c count,total,self,max |
		awk -F '\t' -v OFS='\t' 'NR > 1 { for (i = 2; i < 5; i++) if ($i != "") $i /= 2 } 1' | diff once -
}

@test "calls go over the borders of segments" {
	for i in 1 2 3 4 5; do cp -r "$DATA/uftrace/fib" fib$i; done
	trdecode --segment 64K fib? | trsym | tee segments.trs |
		trstat -t tsv -c $ALL >cut.tsv
	[ "$(grep -ao 'trstrm1:' segments.trs | wc -l)" -gt 1 ]
	trdecode fib? | trsym | trstat -t tsv -c $ALL | diff - cut.tsv
}

@test "long names are shortened on a terminal only" {
	need_terminal
	trdecode "$DATA/uftrace/fib" | trsym >n.trs
	run -0 pipe "COLUMNS=24 script -qec 'trstat -g input -c count n.trs' /dev/null </dev/null"
	refute_output --partial "$DATA/uftrace/fib"
	run -0 pipe "COLUMNS=24 script -qec 'trstat --width=0 -g input -c count n.trs' /dev/null </dev/null"
	assert_output --partial "$DATA/uftrace/fib"
	run -0 pipe "COLUMNS=24 trstat -g input -c count n.trs"
	assert_output --partial "$DATA/uftrace/fib"
}

@test "-o writes the table when it is complete" {
	echo old >table.tsv
	trstat -t tsv -o table.tsv fib.trs
	trstat -t tsv fib.trs | diff - table.tsv
	run -2 trstat -t tsv -o table.tsv no-such.trs
	[ "$(wc -l <table.tsv)" -gt 5 ]
}

@test "every good recording gives the numbers of uftrace report" {
	local equal=0
	for expect in "$RECORDED"/uftrace/*.expect; do
		recording=${expect%.expect}
		case ${recording##*/} in
		bad-* | estimate | kernel-* | deep-1024 | forkexec) continue ;; # see trstat-calls(7)
		esac
		[ -f "$expect/report-ns.csv" ] || continue
		trdecode "$recording" 2>/dev/null | trsym 2>/dev/null |
			trstat -q -t tsv -c $ALL | awk -F '\t' 'NR > 1 && $2 != "" { print }' | sort >ours
		awk -F , -v OFS='\t' '!/^#/ && NF { name = $11
			for (i = 12; i <= NF; i++) name = name "," $i
			for (i = 1; i < 10; i++) if ($i == "") $i = 0
			print name, $1, $2, $3, $4, $5, $6, $7, $8, $9 }' "$expect/report-ns.csv" | sort >theirs
		diff theirs ours || fail "$recording"
		equal=$((equal + 1))
	done
	[ $equal -ge 54 ]
}

# Differences from uftrace report: each is explained in trstat-calls(7).

@test "calls deeper than 1024 are counted" {
	# a recursion of 1101 calls; uftrace report ends at 1023 and gives the rest to the last of them
	run -0 pipe "trdecode '$RECORDED/uftrace/deep-1024' | trsym | trstat -t tsv -c $ALL | grep -E '^(deep|main)	'"
	lines 'main 163965 163965 163965 163965 561 561 561 561 1' \
		'deep 158677 91327 110 158677 158677 144 60 19309 1101'
	# records of entries in the file, by the two low bits of their second word: deep and 4 others
	entries=$(od -An -v -tx8 -w16 "$RECORDED"/uftrace/deep-1024/[0-9]*.dat | grep -c '[048c]$')
	assert_equal "$entries" 1105
}

@test "an open call ends with an event of its own thread, a forked child begins with its first record" {
	run -0 pipe "trdecode '$RECORDED/uftrace/forkexec' | trsym | trstat -q -t tsv -c $ALL |
		grep -E '^(exit|fork|spawn_plain|<0>)	' | sort"
	# exit: 998.277903810 to the task-exit of its thread at 998.278034365
	# fork: in the children from their first record, its leave, to itself: 0, and not to the
	# scheduler's event before it; spawn_plain: 998.277896820 to 998.277903530 in the child
	# the function of the parent that a child has not left has no row, as in uftrace report
	lines 'exit 130555 130555 130555 130555 130555 130555 130555 130555 1' \
		'fork 744661 186165 0 626555 255251 63812 0 143474 4' \
		'spawn_plain 635889 317944 6710 629179 9334 4667 2624 6710 2'
	for time in 998.277903810 998.278034365 998.277896820 998.277903530; do
		grep -q "^$time  13296: " "$RECORDED/uftrace/forkexec.expect/dump.txt"
	done
	run -0 pipe "trdecode '$RECORDED/uftrace/forkexec' | trsym | trstat -q --slowest 99"
	refute_line --partial '<0>()'
	# all rows are those of uftrace report
	trdecode "$RECORDED/uftrace/forkexec" | trsym | trstat -q -t tsv -c total | awk -F '\t' 'NR > 1 && $2 { print $1 }' |
		LC_ALL=C sort >rows
	sed 1d "$RECORDED/uftrace/forkexec.expect/report-ns.csv" | cut -d , -f 11 | LC_ALL=C sort | diff - rows
}

@test "ticks and times in one stream have counts only" {
	cd "$BATS_TEST_TMPDIR"
	trdecode -q "$DATA/uftrace/fib" >u.trs
	trdecode -q "$DATA/apitrace/v6.trace" >m.trs
	cat u.trs m.trs >both.trs
	for options in '' '--slowest 3' --partial '-g input -c count,last' '-c count --fail-if total>1ns'; do
		read -ra words <<<"$options"
		run -2 trstat "${words[@]}" both.trs
		assert_output --partial 'the stream has clocks of ticks and of ns; only counts (-c count) apply to both: '
		assert_output --partial 'v6.trace (clock ticks) and '
	done
	run -0 trstat -q -g file -c count both.trs
	trstat -q --partial u.trs >u.sum
	trstat -q --partial m.trs >m.sum
	run -2 trstat --merge u.sum m.sum
	assert_output --partial 'm.sum (clock ticks) and u.sum (clock ns)'
}

@test "total of two functions of one name that call each other: as uftrace report, and by name alone where no address is left" {
	need uftrace
	cp -r "$DATA/uftrace/fib" two
	chmod -R u+w two
	sed -i 's/ t pause_a_while$/ t worker/' two/fib.sym
	# 4 calls, 8.656 ms
	run -0 pipefail "uftrace report --no-pager -d two -f total,call | awk '\$4 == \"worker\" { print \$1, \$3 }'"
	want=$output
	trdecode -q two | trsym >two.trs
	run -0 pipefail "trstat -q -g name -c total,count -t tsv two.trs | awk '\$1 == \"worker\" { printf \"%.3f %d\", int(\$2 / 1000) / 1000, \$3 }'"
	assert_output "$want"
	# the two outer calls
	trencode -q -t chrome -o two.json two.trs
	run -0 pipefail "trdecode two.json | trstat -q -g name -c total,count -t tsv | awk '\$1 == \"worker\"'"
	assert_output "worker	$(trstat -q -g caller,name -c total -t tsv two.trs | awk -F '\t' '$1 == "" && $2 == "worker" { print $3 }')	4"
}

@test "null, NaN and infinities are no numbers, and values of uniq() as of the key" {
	cat >model.py <<-'END'
		import json, math, sys
		values = [5, None, 7, 0, 1e999, -1e999, 5.0, "5", None, "x", 2.5]
		if len(sys.argv) == 1:
		    rows = ({"ph": "i", "s": "t", "ts": i, "pid": 1, "tid": 1, "name": "e", "args": {"v": v}} for i, v in enumerate(values))
		    print(json.dumps(list(rows)).replace("Infinity", "1e999"))
		else:
		    numbers = [v for v in values if type(v) in (int, float) and math.isfinite(v)]
		    distinct = {"%s %s" % (type(v) is str, v) for v in [float(v) if type(v) is int else v for v in values]}
		    print(sum(numbers), min(numbers), max(numbers), "%.3f" % (sum(numbers) / len(numbers)), len(distinct), sep="\t")
	END
	python3 model.py >x.json
	trdecode x.json >x.trs
	python3 model.py want >want
	for run in 'trstat -q -t tsv -g "" -c "$c" x.trs' 'trstat -q --partial -g "" -c "$c" x.trs | trstat -q --merge -t tsv'; do
		# shellcheck disable=SC2034
		c='sum(v),min(v),max(v),avg(v),uniq(v)' && eval "$run" | tail -n 1 | diff want - || fail "$run"
	done
	# as many groups as the key has
	[ "$(trstat -q -t tsv -g v -c count x.trs | tail -n +2 | wc -l)" -eq "$(cut -f 5 want)" ]
	# all but the five finite numbers have no bucket
	run -0 trstat -q -t tsv -g 'bucket(v,5)' -c count x.trs
	assert_line $'\t6'
}

@test "a clock that counts ticks has no rate" {
	run -2 pipe "trdecode -q '$DATA/apitrace/v6.trace' | trstat -c count,rate"
	assert_output 'trstat: no rate: the clock counts ticks'
}
