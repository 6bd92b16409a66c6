# trdecode on uftrace recordings of the kernel: its functions and events beside those of the tasks.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need_shared uftrace
	K=$SHARED/uftrace/kernel-sched
	COLUMNS_ALL=total,total_avg,total_min,total_max,self,self_avg,self_min,self_max,count
}

copy() {
	cp -r "$K" rec
	chmod -R u+w rec
}

table() {
	pipefail "trdecode -q '$1' | trsym | trstat -q -g name -a $COLUMNS_ALL -F csv" |
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
	table rec | cut -d, -f1-5,10 | grep -v -e ^sched: >with
	rm rec/kernel-cpu*
	table rec | cut -d, -f1-5,10 >without
	[ "$(wc -l <without)" -eq 15 ]
	LC_ALL=C comm -23 without with >missing
	[ ! -s missing ]
}

# What the last system call of a root function goes on for is in no call of the task's.
@test "calls in the kernel are callees of the task's: no time is counted twice" {
	pipefail "trdecode '$K' | trsym | trstat -q -a self -F csv" |
		awk -F, '{ s += $2 } END { print s }' >with
	copy
	rm rec/kernel-cpu*
	pipefail "trdecode rec | trsym | trstat -q -a self -F csv" |
		awk -F, '{ s += $2 } END { print s }' >without
	[ "$(cat with)" -ge "$(cat without)" ]
	[ "$(($(cat with) - $(cat without)))" -le 10000 ]
	pipefail "trdecode '$K' | trsym | trencode -q -t folded" >folded
	grep -q '^main;reap;pthread_join;x64_sys_call [0-9]*$' folded
	awk '{ s += $NF } END { print s }' folded | diff - with
}

@test "events have the fields of their format, and belong to the task they tell of" {
	pipefail "trdecode -q '$K' | trfilter -q 'type == \"sched:sched_switch\"' |
		trstat -q -g prev_pid,next_pid -a count -F csv" >got
	run -0 awk -F, 'NR > 1 { n += $3 } END { print n }' got
	assert_output 87
	pipefail "trdecode -q '$K' | trfilter -q 'type == \"sched:sched_switch\" && tid == 103' |
		trstat -q -g 'tid' -a count -F csv" >got
	[ "$(wc -l <got)" -eq 2 ]
}

@test "kernel_header and kallsyms are in the stream, what cannot be re-encoded is counted" {
	run -0 --separate-stderr bash -c "trdecode '$K' | trencode -t uftrace -o out"
	assert_equal "$stderr" \
		"trencode: functions and events of the kernel are left out: 5339 records"
	cmp "$K/kernel_header" out/kernel_header
	cmp "$K/kallsyms" out/kallsyms
	for f in "$K"/1*.dat; do cmp "$f" "out/${f##*/}"; done
}

@test "damaged data of the kernel: a line, status 1, and all the rest" {
	copy
	truncate -s 100000 rec/kernel-cpu0.dat
	run -1 --separate-stderr trdecode -o out.trs rec
	[[ $stderr == *kernel-cpu0.dat* ]]
	run -1 bash -c "trsym out.trs 2>&1 >out2.trs; trstat -q -F csv -a count -g name out2.trs"
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
