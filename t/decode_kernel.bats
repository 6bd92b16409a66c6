# trdecode on uftrace recordings of the kernel: its functions and events beside those of the tasks.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	K=$RECORDED/uftrace/kernel-sched
	COLUMNS_ALL=total,total_avg,total_min,total_max,self,self_avg,self_min,self_max,count
}

copy() {
	cp -r "$K" rec
	chmod -R u+w rec
}

table() {
	pipefail "trdecode -q '$1' | trsym | trstat -q -g name -c $COLUMNS_ALL -t csv" |
		tail -n +2 | LC_ALL=C sort
}

@test "functions that the kernel called by itself take what uftrace reports" {
	local names='handle_mm_fault|irq_enter_rcu|irq_exit_rcu|lock_mm_and_find_vma|up_read|__sysvec_.*'

	awk -F, -v OFS=, '$11 ~ /^('"$names"')$/ { print $11, $1, $2, $3, $4, $5, $6, $7, $8, $9 }' \
		"$K.expect/report-ns.csv" | LC_ALL=C sort >want
	table "$K" | grep -E "^($names)," >got
	[ "$(wc -l <want)" -eq 6 ]
	diff want got
}

# The clock of this recording is a system call, so user records lie inside of x64_sys_call. uftrace
# takes its end for that of the user function, and reports main with 1800 ns.
@test "what the tasks called takes as long as without the kernel's data" {
	copy
	table rec | cut -d, -f1-5,10 | grep -v -e ^sched_ >with
	rm rec/kernel-cpu*
	table rec | cut -d, -f1-5,10 >without
	[ "$(wc -l <without)" -eq 15 ]
	LC_ALL=C comm -23 without with >missing
	[ ! -s missing ]
}

# What the last system call of a root function goes on for is in no call of the task's.
@test "calls in the kernel are callees of the task's: no time is counted twice" {
	pipefail "trdecode '$K' | trsym | trstat -q -c self -t csv" |
		awk -F, '{ s += $2 } END { print s }' >with
	copy
	rm rec/kernel-cpu*
	pipefail "trdecode rec | trsym | trstat -q -c self -t csv" |
		awk -F, '{ s += $2 } END { print s }' >without
	[ "$(cat with)" -ge "$(cat without)" ]
	[ "$(($(cat with) - $(cat without)))" -le 10000 ]
	pipefail "trdecode '$K' | trsym | trencode -q -t folded" >folded
	grep -q '^main;reap;pthread_join;x64_sys_call [0-9]*$' folded
	awk '{ s += $NF } END { print s }' folded | diff - with
}

@test "events have the fields of their format, and belong to the task they name" {
	pipefail "trdecode -q '$K' | trfilter -q 'type == \"sched_switch\"' |
		trstat -q -g prev_pid,next_pid -c count -t csv" >got
	run -0 awk -F, 'NR > 1 { n += $3 } END { print n }' got
	assert_output 87
	pipefail "trdecode -q '$K' | trfilter -q 'type == \"sched_switch\" && tid == 103' |
		trstat -q -g 'tid' -c count -t csv" >got
	[ "$(wc -l <got)" -eq 2 ]
}

replayed() {
	pipefail "trdecode -q '$1' | trsym | trencode -q \
		-c time,delta,elapsed,dur,tid,comm,module,address" | fold
}

fold() {
	sed -E 's/[[:space:]]+/ /g; s/^ //; s/ $//; /^$/d'
}

# uftrace 0.19 printed this of the same records, those of each task in a file of their own: then it
# cannot give them to another task.
@test "the text is that of uftrace replay, messages of events too" {
	replayed "$K" >got
	zcat "$DATA/uftrace/kernel-sched-apart.txt.gz" | fold >want
	[ "$(wc -l <want)" -gt 1150 ]
	run -1 diff want got
	# the end of a function that began on another CPU
	assert_equal "$(grep -c '^[<>]' <<<"$output")" 5
	assert_line --regexp '^> 2.327 ms \[ 103\] ffffa6003320 16.185393670 .* \} /\* x64_sys_call \*/'
}

# What a record's own fields say: it was the running task.
@test "where a task is scheduled out, uftrace shows the function around it of another task" {
	fold <"$K.expect/replay.txt" >want
	replayed "$K" >got
	local line='16.178353010 .* \(prev_comm=threads prev_pid=105 '
	grep -Eq "\[ 103\] $line" want
	grep -Eq "\[ 105\] $line" got
	assert_equal "$(diff want got | grep -c '^[<>]')" 122
	# no time is of two tasks
	assert_equal "$(sed -nE 's/^[^]]*(prev_state=S).*/\1/p; s/^.*\[ (1[0-9]+)\].*prev_pid=(1[0-9]+) .*prev_state=S.*/\1 \2/p' got |
		awk '$1 != $2' | wc -l)" 0
}

@test "a directory with the kernel's data again: the same files, the same text" {
	run -0 --separate-stderr bash -c "trdecode '$K' | trencode -t uftrace -o out"
	assert_equal "$stderr" ""
	for f in "$K"/1*.dat "$K/kernel_header" "$K/kallsyms"; do cmp "$f" "out/${f##*/}"; done
	replayed "$K" >want
	replayed out | diff want -
	table "$K" >want
	table out | diff want -
	[ "$(stat -c %s out/kernel-cpu0.dat)" -le "$(stat -c %s "$K/kernel-cpu0.dat")" ]
}

@test "uftrace reads the kernel's data that were written as those recorded" {
	need uftrace
	uftrace --version | grep -qw kernel || skip "this uftrace does not read the kernel's data"
	trdecode -q "$K" | trencode -q -t uftrace -o out
	for what in report replay 'report --task'; do
		# shellcheck disable=SC2086
		diff <(uftrace $what --no-pager -d "$K" 2>&1) <(uftrace $what --no-pager -d out 2>&1)
	done
}

@test "a filter leaves out records of the kernel, and of a task its file has the rest" {
	pipefail "trdecode -q '$K' | trfilter -q 'tid == 103' | trencode -q -t uftrace -o out"
	pipefail "trdecode -q out | trstat -q -g tid,kind -c count -t csv" | tail -n +2 | sort >got
	pipefail "trdecode -q '$K' | trstat -q -g tid,kind -c count -t csv" | grep ^103, | sort |
		diff - got
}

@test "damaged data of the kernel: a line, status 1, and all the rest" {
	copy
	truncate -s 100000 rec/kernel-cpu0.dat
	run -1 --separate-stderr trdecode -o out.trs rec
	[[ $stderr == *kernel-cpu0.dat* ]]
	run -1 bash -c "trsym out.trs 2>&1 >out2.trs; trstat -q -t csv -c count -g name out2.trs"
	[[ $output == *main,1* ]] || [[ $output == *"1,main"* ]]
	rm -r rec
	copy
	for n in 0 10 30 500 1100 3000; do
		head -c "$n" "$K/kernel_header" >rec/kernel_header
		run -1 --separate-stderr trdecode -o out.trs rec
		[[ $stderr == *kernel_header* ]]
	done
	rm rec/kernel_header
	run -1 --separate-stderr trdecode -o out.trs rec
}

@test "calls in the kernel outside any call of their task are not counted, and said" {
	# 86 of them are of the thread 0, as the pages of kernel-cpu*.dat have them
	run -0 --separate-stderr bash -c "trdecode '$K' | trsym | trstat -t csv -c count"
	[[ $stderr == 'trstat: 2303 calls in the kernel outside any call of their task: left out, '* ]]
	assert_line handle_mm_fault,5
	for format in folded chrome text; do
		run -0 --separate-stderr bash -c "trdecode '$K' | trsym | trencode -t $format"
		[[ $stderr == *'calls in the kernel outside any call of their task: left out'* ]]
		[[ $stderr == *2303* ]]
	done
	pipefail "trdecode '$K' | trsym | trstat --partial -o all.part"
	run -0 --separate-stderr trstat --merge all.part
	[[ $stderr == *'2303 calls in the kernel outside'* ]]
}

# The calls below them may be left out.
@test "of a filtered stream the same calls in the kernel are counted and shown" {
	pipefail "trdecode -q '$K' | trsym | trfilter 'name == \"handle_mm_fault\"'" >some.trs
	run -0 --separate-stderr trstat -t csv -c count some.trs
	assert_line handle_mm_fault,5
	[[ $stderr == *'588 calls in the kernel outside any call of their task: left out'* ]]
	pipefail "trencode some.trs | grep -c 'handle_mm_fault();'" | diff - <(echo 5)
	run -0 --separate-stderr bash -c "trdecode -q '$K' | trsym |
		trfilter 'name == \"x64_sys_call\"' | trstat -t csv -c count"
	assert_line x64_sys_call,393
	[[ $stderr == *'381 calls in the kernel outside any call of their task: left out'* ]]
}

@test "uftrace: calls of the kernel in thread 0 are in the stream and come back" {
	need uftrace
	cd "$BATS_TEST_TMPDIR"
	tar -xJf "$DATA/uftrace/kernel-thread-0.tar.xz"
	calls() {
		uftrace dump -d "$1" | sed -nE 's/^([0-9.]+) +0: \[(entry|exit) ?\] (.*)\(.*/\1 \2 \3/p' | sort
	}
	calls uftrace-tid0 >want
	[ "$(wc -l <want)" = 8 ]
	trdecode -q uftrace-tid0 -o x.trs
	trencode -q -t uftrace -o back x.trs
	calls back | diff want -
	run -0 trfilter -c 'tid == 0' x.trs
	assert_output 4
	# uftrace report has none of them
	run -0 trstat -q -g tid -c count -t tsv x.trs
	refute_line --regexp $'^0\t|\t0$'
}
