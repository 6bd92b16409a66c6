#!/usr/bin/env bats
# The text of perf script: its samples, and its stacks as stackcollapse-perf.pl folds them.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

# compare TEXT: the samples of the text with those that an independent program reads
compare() {
	trdecode -o x.trs "$1"
	python3 "$ROOT/t/tools/trstream.py" x.trs >x.ndjson
	python3 "$ROOT/t/tools/perf_script.py" --names x.ndjson "$1"
}

@test "samples: number, time, thread, CPU, event, period, text and frames" {
	for name in flat group zstd pipe-zstd switch sched sys weight; do
		gzip -dc "$DATA/perf/$name.txt.gz" >text
		compare text || fail "$name"
	done
	[ ! -d "$RECORDED/perf" ] || for name in dwarf fp pipe two; do
		compare "$RECORDED/perf/$name.data.script.txt" || fail "$name"
	done
}

@test "a text must have the event and a thread or a process" {
	local comm thread cpu time event stack kind n=0
	for comm in '' 'work '; do for thread in '' '7 ' '6/7 '; do for cpu in '' '[000] '; do
		for time in '' '1.000001: '; do for event in '' 'cycles: '; do for stack in '' $'\n\t1000 f+0x4 (/m.so)'; do
			kind=good
			[[ $thread && $event ]] || kind=bad
			for _ in 1 2 3; do
				printf '%s\n\n' "$comm$thread$cpu$time$event$stack"
			done >"$kind-$((++n))"
		done; done; done
	done; done; done
	for text in good-*; do
		assert_equal "$(trdecode -q -f perf-script "$text" | trstat -q -t tsv -g type -c count)" $'type\tcount\ncycles\t3'
	done
	for text in bad-*; do
		run ! trdecode -q -f perf-script -o x.trs "$text"
	done
}

@test "folded stacks are those of stackcollapse-perf.pl" {
	need_shared perf-script
	for theirs in "$RECORDED"/perf-script/*-collapsed-all.txt; do
		text=${theirs%-collapsed-all.txt}.txt
		# without marks of the kernel, JIT compilers and inlined functions
		sed -E 's/_\[[kji]\]//g' "$theirs" |
			awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (k in sum) print k " " sum[k] }' |
			LC_ALL=C sort >want
		# what that program leaves out: a last sample without an empty line, names that are empty
		{ cat "$text"; echo; echo; } | sed '$d' | python3 -c 'import sys
blocks = sys.stdin.read().rstrip("\n").split("\n\n")
whole = open(sys.argv[1]).read().endswith("\n\n")
print("\n\n".join(blocks if whole else blocks[:-1]))' "$text" |
			sed 's|^\(\s*[0-9a-f]*\)  (/lib/x86_64-linux-gnu/libc-2.15.so)$|\1 EMPTY (x)|' >kept
		trdecode -q kept | trencode -q -t folded | sed 's/;EMPTY /;  /' | LC_ALL=C sort >got
		diff want got || fail "$text"
	done
}

@test "odd lines: names of threads, inlined functions, source lines, no times, damage" {
	cat >text <<-'END'
		# a comment
		my 12 thread 7/8 [002] 5.000000001: 4 cycles:u:
			    7f00 inner->outer+0x12 (/lib/x y.so (deleted))
			  lib.c:12
			    10 operator()(int) const (/bin/p)
			    11 (anonymous namespace)::f<int>(char) (/bin/p)
			    12 net/http.(*Client).Do (/bin/p)
			    13 [unknown] (/usr/lib/libm.so.6)
			    14 [unknown] ([unknown])
			    15 (p)
		:-1    -1 [000]     6.5: sched:sched_switch: prev_comm=a b prev_pid=1
		dd 9 7.000000: 1 page-faults: ffffffff81 dd (bin) (/bin/dd)
	END
	run -0 pipe 'trdecode -f perf-script text | trencode -q -t csv -c time,pid,tid,cpu,comm,type,stack,period,text'
	assert_output - <<-'END'
		time,pid,tid,cpu,comm,type,stack,period,text
		5000000001,7,8,2,my 12 thread,cycles:u,"[""[p]"",""[unknown]"",""[libm.so.6]"",""net/http.(*Client).Do"",""(anonymous namespace)::f<int>"",""operator()"",""inner"",""outer""]",4,
		6500000000,,,0,:-1,sched_switch,,,prev_comm=a b prev_pid=1
		7000000000,,9,,dd,page-faults,"[""dd""]",1,
	END
	grep prev_comm text >unknown # "-1 [000]" is no "-TID [CPU]" of the kernel's text
	run -0 trdecode --info unknown
	assert_line --regexp '^format +perf-script$'
	printf 'java 19983 cycles:\n12 a (/x)\n\njava 19983 cycles:\n12 b (/x)\n' >text
	run -0 pipe 'trdecode text | trencode -q -t csv -c time,tid,stack'
	assert_line --index 1 '1,19983,"[""a""]"'
	assert_line --index 2 '2,19983,"[""b""]"'
	printf 'a 1 2.5: x:\n\t12 f (/x)\nwhat is this\n\nand this\na 1 2.6: x:\n' >text
	run -1 pipe 'trdecode text 2>said | trfilter -c true 2>>said'
	assert_output 2
	grep -F 'trdecode: text: ' said | grep -F 'a line that is neither a sample nor a frame'
	grep -F 'trdecode: text: 1 more line is neither a sample nor a frame' said
	run -0 trdecode --info text
	assert_line --regexp '^samples +2$'
}

@test "names of threads that have blanks and end in numbers" {
	n=0
	for name in 'Worker 3' 'Thread 12' 'pool 1 t 2' '[x] 5' '3' 'a [007]' '12/13' 'x 1.5' '7 [001] 9/9'; do
		for ids in 2208 2208/2209 -1; do
			for cpu in '' ' [001]'; do
				printf '%16s  %s%s %d.485938:    1000000 cpu-clock:ppp: \n\t    12 f (/x)\n\n' "$name" $ids "$cpu" $((++n))
				pid=${ids%/*} tid=${ids#*/}
				[[ $ids == */* ]] || pid=
				printf '%d485938000,%s,%s,%s,%s,1000000\n' $n "$pid" "${tid#-1}" "${cpu:+1}" "$name" >>want
			done
		done
	done >text
	trdecode -f perf-script text | trencode -q -t csv -c time,pid,tid,cpu,comm,period | sed 1d | diff want -
	# a name such as the kernel's text has before the CPU and flags
	printf 'x-91  2208/2209 %d.485938:    1000000 cpu-clock: \n\t    12 f (/x)\n' 1 2 >text
	assert_equal "$(trdecode text | trencode -q -t csv -c pid,tid,cpu,comm,period | sed 1d | sort -u)" '2208,2209,,x-91,1000000'
	# without times the first number counts that a period and an event can follow
	printf 'Worker 3  2208    1000000 cpu-clock:ppp: \n\t    12 f (/x)\n' >text
	assert_equal "$(trdecode text | trencode -q -t csv -c tid,comm,period | sed 1d)" '2208,Worker 3,1000000'
	need perf
	cat >busy.c <<-'END'
		#include <sys/prctl.h>
		int main(void) { volatile long n = 0; prctl(PR_SET_NAME, "pool 1 t 2"); while (n < 40000000) n++; return 0; }
	END
	gcc -O1 -o busy busy.c
	perf record -q -F 997 -e cpu-clock:u -g -o fresh.data ./busy 2>err || skip "perf record: $(tail -n 1 err)"
	diff <(perf script -i fresh.data 2>err | trdecode -f perf-script | trstat -q -g comm,tid -c count -t tsv) \
		<(trdecode -q fresh.data | trfilter -q 'kind == "sample"' | trstat -q -g comm,tid -c count -t tsv)
}

@test "the field misc is ignored; a text with another column before the time is not read" {
	cat >text <<-'END'
		a b 9 7 [002] K     5.000000001: 4 cycles:u:  12 f (/x)
		a b 9 7/8 U     5.000000002: 4 cycles:u:  12 f (/x)
		a 8 [002] Sp    5.1: PERF_RECORD_SWITCH OUT preempt
		a 8 5.2: 4 cycles:u:  12 f (/x)
	END
	run -0 pipe 'trdecode text | trencode -q -t csv -c time,pid,tid,cpu,comm,period'
	assert_output - <<-'END'
		time,pid,tid,cpu,comm,period
		5000000001,,7,2,a b 9,4
		5000000002,7,8,,a b 9,4
		5100000000,,8,2,a,
		5200000000,,8,,a,4
	END
	sed 's/ [0-9.]*: / /; /RECORD/d' text >timeless
	run -0 pipe 'trdecode timeless | trencode -q -t csv -c pid,tid,cpu,comm,period'
	assert_output - <<-'END'
		pid,tid,cpu,comm,period
		,7,2,a b 9,4
		7,8,,a b 9,4
		,8,,a,4
	END
	for column in 03:14:20.123456 0x12 Q 5.5; do
		echo "a 7 $column 5.000000001: 4 cycles:u:  12 f (/x)" >text
		run -2 trdecode -o x.trs text
		run -2 --separate-stderr trdecode -f perf-script -o x.trs text
		assert_equal "$stderr" 'trdecode: text: not a trace of the format perf-script'
	done
}

@test "records that perf script shows beside samples are no samples, but the instants of perf.data" {
	cat >text <<-'END'
		swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1276f48) @ 0xffffffff81000000]: x [kernel.kallsyms]_text
		perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:28478/28478
		my 1 sh 28478 [002]  12.689527: PERF_RECORD_COMM exec: my 1 sh:28478/28478
		sh 28478/28478 12.689553: PERF_RECORD_MMAP2 28478/28478: [0x55799e2ef000(0x13000) @ 0x4000 fe:00 247230 0]: r-xp /usr/bin/a (deleted)
		sh 28478 12.690000:   1000 cycles:
		@12 f (/x)
		sh 28478 12.690212: PERF_RECORD_FORK(28522:28522):(28478:28478)

		sh 28478 12.700000:   1000 cycles:
		@13 PERF_RECORD_g (/x)

		sh 28478 12.713251: PERF_RECORD_EXIT(28478:28478):(28391:28391)
	END
	sed -i 's/^@/\t/' text
	trdecode text | trencode -q -t csv -c time,tid,cpu,comm,kind,type,stack,text >have
	diff - have <<-'END'
		time,tid,cpu,comm,kind,type,stack,text
		12689527000,28478,2,my 1 sh,instant,PERF_RECORD_COMM,,exec: my 1 sh:28478/28478
		12689553000,28478,,sh,instant,PERF_RECORD_MMAP2,,28478/28478: [0x55799e2ef000(0x13000) @ 0x4000 fe:00 247230 0]: r-xp /usr/bin/a (deleted)
		12690000000,28478,,sh,sample,cycles,"[""f""]",
		12690212000,28478,,sh,instant,PERF_RECORD_FORK,,(28522:28522):(28478:28478)
		12700000000,28478,,sh,sample,cycles,"[""PERF_RECORD_g""]",
		12713251000,28478,,sh,instant,PERF_RECORD_EXIT,,(28478:28478):(28391:28391)
	END
	run -0 trdecode --info text
	assert_line --regexp '^samples +2$'
	# lines of records that are no events
	{
		echo PERF_RECORD_FINISHED_ROUND
		sed '/MMAP /a sh 1 0.0: PERF_RECORD_NAMESPACES 1/1 - nr_namespaces: 7\n\t\t[0/net: 0/0, 1/uts: 0/0, \n\t\t 4/user: 0/0]
			/COMM e/a sh 1 12.6895: PERF_RECORD_NAMESPACES 1/1 - nr_namespaces: 7\n\t\t[0/net: 0/0, 1/uts: 0/0, \n\t\t 4/user: 0/0]
			/FORK/a PERF_RECORD_FINISHED_ROUND' text
	} >mixed
	run -0 --separate-stderr trdecode -o x.trs mixed
	assert_equal "$stderr" ''
	trencode -q -t csv -c time,tid,cpu,comm,kind,type,stack,text x.trs | grep -v ',PERF_RECORD_NAMESPACES,,1/1 - nr_namespaces: 7$' | diff have -
	# without times: samples only
	sed 's/ [0-9]*\.[0-9]*://' text >timeless
	assert_equal "$(trdecode timeless | trencode -q -t csv -c time,kind,type)" $'time,kind,type\n1,sample,cycles\n2,sample,cycles'
	need perf
	perf record -q -F 4000 -e cpu-clock -g -o fresh.data sh -c '/bin/true; /bin/true' >out 2>err || skip "perf record: $(tail -n 1 err)"
	for option in task mmap; do
		perf script --show-$option-events -i fresh.data >text 2>err
		diff <(grep -Eo ' PERF_RECORD_[A-Z]+' text | sort | uniq -c) \
			<({ trdecode text | trencode -q -t csv -c kind,type | sed -n 's/^instant,/ /p'
				grep -Eo ' 0\.0+: PERF_RECORD_[A-Z]+' text | sed 's/.*:\( .*\)/\1/'; } | sed 's/[0-9]*$//' | sort | uniq -c)
		diff <(trdecode text | trencode -q -t folded) <(perf script -i fresh.data 2>err | trdecode | trencode -q -t folded)
	done
}

@test "records of switches have the names that they have in perf.data" {
	need perf
	for options in '--switch-events' '--switch-events -a'; do
		# shellcheck disable=SC2086
		perf record -q $options -F 997 -e cpu-clock -o fresh.data sh -c '/bin/true; /bin/true' >out 2>err ||
			skip "perf record: $(tail -n 1 err)"
		perf script --show-switch-events --ns -F comm,pid,tid,time,event -i fresh.data 2>err >text
		trdecode -f perf-script text | trencode -q -t csv -c time,pid,tid,type | grep SWITCH >have
		trdecode fresh.data | trencode -q -t csv -c time,pid,tid,type | grep SWITCH | diff - have
		grep -q _OUT have
		[ "$(grep -c 'SWITCH.* OUT' text) $(grep -c 'SWITCH.* IN' text)" = "$(grep -c _OUT have) $(grep -c _IN have)" ]
	done
}

@test "a fresh text: the functions of perf.data, and by pipe" {
	need perf
	perf record -q -F 4000 -e cpu-clock -g -o fresh.data sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
	perf script --no-inline -i fresh.data -F comm,pid,tid,time,period,event,ip,sym,symoff,dso >text 2>/dev/null
	compare text
	run -0 pipe 'trdecode fresh.data | trstat -q -g comm,type -c count,total -t tsv'
	perf script --no-inline -i fresh.data -F comm,pid,tid,time,period,event,ip,sym,symoff,dso 2>/dev/null |
		trdecode | trstat -q -g comm,type -c count,total -t tsv >piped
	grep -E 'cpu-clock' <<<"$output" | cut -f 1-3 | diff - <(cut -f 1-3 piped | grep cpu-clock)
}

@test "with -f, messages of perf may be before the samples" {
	gzip -dc "$DATA/perf/flat.txt.gz" >flat.txt
	{ echo 'Failed to open /tmp/perf-1.map, continuing without symbols'; cat flat.txt; } >x.txt
	run -2 trdecode -o /dev/null x.txt
	run -1 trdecode -f perf-script -o x.trs x.txt
	assert_output 'trdecode: x.txt: 0x0: a line that is neither a sample nor a frame'
	trdecode flat.txt | trencode -q -t csv >want
	run -1 trencode -q -t csv -o have x.trs
	diff want have
}

@test "parameters of C++ are no part of a name, other parentheses are" {
	cat >x.txt <<-'END'
		a 1 1.000001: 10 cycles:
			401000 std::function<void (int)>::operator()(int) const+0x10 (/bin/x)
			401100 (anonymous namespace)::f(int (*)(char))+0x10 (/bin/x)
			401200 main::{lambda(int)#1}::operator()(int) const [clone .cold]+0x1 (/bin/x)
			401300 std::function<void (char)>::operator()(char) const+0x10 (/bin/x)
			401400 <fmt::P as core::fmt::Debug>::fmt+0x3 (/bin/x)

	END
	run -0 pipe 'trdecode x.txt | trencode -t folded'
	assert_output 'a;<fmt::P as core::fmt::Debug>::fmt;std::function<void (char)>::operator();main::{lambda(int)#1}::operator();(anonymous namespace)::f;std::function<void (int)>::operator() 10'
}

# calls FILE: name, calls that ended, and the sum of their times
calls() {
	trdecode -q -o x.trs "$1"
	trencode -q -t ndjson x.trs | jq -r 'select(.type == "leave" and .dur != null) | [.name, .dur] | @tsv' |
		awk -F '\t' -v OFS='\t' '{ n[$1]++; sum[$1] += $2 } END { for (name in n) print name, n[name], sum[name] }' |
		LC_ALL=C sort
}

@test "branches are calls, with the times that another program finds" {
	calls "$DATA/perf/branches.txt" >have
	python3 "$ROOT/t/tools/branches.py" "$DATA/perf/branches.txt" | LC_ALL=C sort >want
	[ "$(wc -l <want)" -eq 16 ]
	diff want have
	# a tail call, the linkage table, longjmp, an interrupt, a system call; names as of stacks
	run -0 trencode -q -t csv -c name,depth,dur x.trs
	assert_line '"std::map<int, Node>::operator[]",2,24'
	assert_line finish,2,6
	assert_line __GI___libc_write,2,907
	assert_line '[syscall],3,900'
	assert_line '[untraced],2,400'
	assert_line __longjmp,3,6
	assert_line fail,2,10
	assert_line asm_sysvec_apic_timer_interrupt,1,35
	assert_line tick_sched_timer,2,20
	assert_line __x64_sys_getpid,2,7
	run -0 trfilter -c 'stack == "main;parse;__GI___libc_write;[syscall]" && kind == "call"' x.trs
	assert_output 1
	# an error is a gap; the calls of the thread end there, those of others do not
	run -0 pipe 'trencode -q -t text x.trs | grep -B3 gap'
	assert_output --partial "174106.000002481 400 app main }
  174106.000002481 400 app gap LOST: Overflow packet"
	run -0 --separate-stderr trstat -t tsv -c self --where 'name == "[syscall]"' x.trs
	assert_output $'name\tself\n[syscall]\t900'
	[[ $stderr == *'1 gap'* ]]
	# flame charts, Perfetto and Trace Event JSON have the same calls
	trencode -q -t svg --by-time -o x.svg x.trs
	grep -q __longjmp x.svg
	trencode -q -t chrome -o x.json x.trs
	[ "$(jq '[.traceEvents[] | select(.ph == "X" and .name == "finish")] | length' x.json)" -eq 3 ]
	trencode -q -t perfetto -o x.pftrace x.trs
	trdecode -q x.pftrace | trstat -q -t tsv -s name -c count,total >a
	trstat -q -t tsv -s name -c count,total x.trs | diff - a
}

@test "branches of calls and returns only: the function that calls is known" {
	cat >text <<-'END'
		prog 7/7 [001] 174106.015091592:          1      branches:u:   tr strt                               0 [unknown] ([unknown]) =>     7f14f9e9c60b mprotect+0xb (/lib/ld.so)
		prog 7/7 [001] 174106.015091700:          1      branches:u:   call                         7f14f9e9c610 main+0x10 (/bin/x) =>     7f14f9e9c700 foo+0x0 (/bin/x)
		prog 7/7 [001] 174106.015091900:          1      branches:u:   call                         7f14f9e9c710 foo+0x10 (/bin/x) =>     7f14f9e9c800 bar+0x0 (/bin/x)
		prog 7/7 [001] 174106.015092100:          1      branches:u:   return                       7f14f9e9c810 bar+0x10 (/bin/x) =>     7f14f9e9c715 foo+0x15 (/bin/x)
		prog 7/7 [001] 174106.015092400:          1      branches:u:   return                       7f14f9e9c720 foo+0x20 (/bin/x) =>     7f14f9e9c615 main+0x15 (/bin/x)
		prog 7/7 [001] 174106.015092500:          1      branches:u:   return/miss                  7f14f9e9c620 main+0x20 (/bin/x) =>     7f14f9e9c000 start+0x5 (/bin/x) 	 IPC: 0.81 (39/48)
	END
	calls text >have
	python3 "$ROOT/t/tools/branches.py" text | LC_ALL=C sort >want
	printf '%s\t1\t%s\n' bar 200 foo 700 main 800 mprotect 108 | diff - want
	diff want have
	# without flags a branch is a sample, as before
	sed 's/ call  / /; s/ return[^ ]* / /; s/ tr strt / /' text >plain
	run -0 pipe 'trdecode -q plain | trstat -q -t tsv -g kind -c count'
	assert_output $'kind\tcount\nsample\t6'
}

@test "--call-trace and --call-ret-trace of perf script are calls" {
	printf '%s\n' \
		$'            perf   900 [000] 194167.205652203: ([kernel.kallsyms])\t        event_sched_in      ' \
		$'            perf   900 [000] 194167.205652210: ([kernel.kallsyms])\t            perf_pmu_disable' \
		$'            perf   901 [001] 194167.205652211: (/usr/bin/a b)\tmain' \
		$'            perf   900 [000] 194167.205652215: ([kernel.kallsyms])\t            perf_log_itrace_start' \
		$'            perf   900 [000] 194167.205652220: ([kernel.kallsyms])\t        event_filter_match' \
		$'            perf   900 [000] 194167.205652230: ([kernel.kallsyms])\t    group_sched_in' >text
	calls text >have
	printf '%s\t1\t%s\n' event_filter_match 10 event_sched_in 17 perf_log_itrace_start 5 perf_pmu_disable 5 | diff - have
	python3 "$ROOT/t/tools/branches.py" text | LC_ALL=C sort | diff - have
	run -0 trencode -q -t csv -c name,depth,tid x.trs
	assert_line perf_pmu_disable,1,900
	assert_line main,0,901
	run -0 pipe 'trdecode -q text | trstat -q -t tsv -g name,module -c count | grep main'
	assert_output --partial 'a b'
	printf '%s\n' \
		$'            perf   900 [000] 194167.205652203:   call                 ([kernel.kallsyms])\t        event_sched_in      ' \
		$'            perf   900 [000] 194167.205652210:   call                 ([kernel.kallsyms])\t            perf_pmu_disable' \
		$'            perf   900 [000] 194167.205652213:   return               ([kernel.kallsyms])\t            perf_pmu_disable' \
		$'            perf   900 [000] 194167.205652230:   return               ([kernel.kallsyms])\t        event_sched_in' >text
	calls text >have
	printf '%s\t1\t%s\n' event_sched_in 27 perf_pmu_disable 3 | diff - have
	python3 "$ROOT/t/tools/branches.py" text | LC_ALL=C sort | diff - have
}

@test "branches: samples beside them are instants, and a sum is of calls only" {
	cat >text <<-'END'
		app 400/400 [001] 10.000000090:  5 instructions:uH:   401000 main+0x0 (/a)
		app 400/400 [001] 10.000000100:   1   branches:uH: tr strt 0 [unknown] ([unknown]) => 401020 main+0x20 (/a)
		app 400/400 [001] 10.000000105:  5 instructions:uH: call 401020 main+0x20 (/a)
		app 400/400 [001] 10.000000110:   1   branches:uH: call 401020 main+0x20 (/a) => 401200 f+0x0 (/a)
		app 400/400 [001] 10.000000115:  5 instructions:uH:   401202 f+0x2 (/a)
		app 400/400 [001] 10.000000120:   1   branches:uH: return 401210 f+0x10 (/a) => 401025 main+0x25 (/a)
		app 400/400 [001] 10.000000130:   1   branches:uH: return 401030 main+0x30 (/a) => 400000 start+0x5 (/a)
	END
	trdecode -o x.trs text
	run -0 trstat -q -t tsv -c count,total x.trs
	assert_line $'main\t1\t30'
	assert_line $'f\t1\t10'
	run -0 pipe 'trencode -q -t ndjson x.trs | jq -c "select(.args.period) | [.time, .name, .args.period]"'
	assert_output - <<-'END'
		[10000000090,"instructions:uH",5]
		[10000000105,"instructions:uH",5]
		[10000000115,"instructions:uH",5]
	END
	run -0 pipe 'trencode -q -t csv -c name,stack x.trs | grep instr'
	assert_line 'instructions:uH,"[""f""]"'
	run -0 trfilter -c 'kind == "sample"' x.trs
	assert_output 0
	# the same of a text alone are samples, whose period is the weight
	grep instructions text >alone
	run -0 pipe 'trdecode -q alone | trstat -q -t tsv -c total'
	assert_line $'main\t10'
}

# deep N: a thread in which N calls are open
deep() {
	awk -v n="$1" 'BEGIN {
		at = "app 400/400 [001] 10.%09d: 1 branches:uH: "
		printf at "tr strt 0 [unknown] ([unknown]) => 401220 f+0x20 (/a)\n", 1
		for (i = 1; i < n; i++)
			printf at "call 401220 f+0x20 (/a) => 401200 f+0x0 (/a)\n", i + 1
		for (i = n; i < 2 * n - 1; i++)
			printf at "return 401230 f+0x30 (/a) => 401225 f+0x25 (/a)\n", i + 1
		printf at "return 401230 f+0x30 (/a) => 400005 start+0x5 (/a)\n", 2 * n }'
}

@test "branches: calls are as deep as other programs read them; deeper ones are counted" {
	deep 40000 >log
	run -0 pipe 'trdecode log | trstat -q -t tsv -c count,total'
	# f is open from the first to the last branch
	assert_line $'f\t40000\t79999'
	deep 1048580 >log
	run -0 trdecode -o x.trs log
	assert_output --partial '4 calls are left out: a thread has more than 1048576 open calls'
	run -0 trstat -q -t tsv -c count,total,min x.trs
	# the innermost one with rows has the time of the four in it
	assert_line $'f\t1048576\t2097159\t9'
}

@test "branches: a text that is cut at any byte, and errors without a time or a thread" {
	head -c 3000 "$DATA/perf/branches.txt" >whole
	for ((n = 400; n < 3000; n += 13)); do
		head -c "$n" whole >text
		run trdecode -q -o x.trs text
		((status < 2)) || fail "$n: status $status"
	done
	# what is cut in its target, or has none, is no event
	head -n 8 "$DATA/perf/branches.txt" >some
	trdecode -q some | trencode -q -t csv -c type | sort -u >want
	for damage in '$s/.$//' '$s/ => .*//' '8s/=>/=/'; do
		sed "$damage" some >text
		run -1 errors trdecode -o x.trs text
		assert_output --partial 'a branch without the end it goes to: it is left out'
		trencode -q -t csv -c type x.trs | sort -u | diff want -
	done
	{
		echo ' instruction trace error type 1 cpu -1 pid -1 tid -1 ip 0 code 5: Failed to get instruction'
		head -n 8 "$DATA/perf/branches.txt"
		echo ' instruction trace error type 1 cpu 1 pid 400 tid 400 ip 0x401220 code 5: Failed to get instruction'
	} >text
	run -0 pipe 'trdecode -q text | trencode -q -t text | tail -n 4'
	assert_output "  174106.000001049 400 app finish }
  174106.000001049 400 app parse }
  174106.000001049 400 app main }
  174106.000001049 400 app gap NOT READ: Failed to get instruction"
}
