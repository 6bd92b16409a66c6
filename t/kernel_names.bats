#!/usr/bin/env bats
# Names of the kernel's numbers: errors, signals, states of tasks, softirqs, system calls.
load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# events FORMAT [NUMBER...]: kernel text with one event for each number.
events() {
	local format=$1 at=0 number
	for number in "${@:2}"; do
		# shellcheck disable=SC2059
		printf "          x-1       [000] d..1.     1.%06d: $format\n" $((++at)) "$number"
	done
}

# names_of KEY FILE: the name that a table has for each number of FILE.
names_of() {
	paste -d' ' <(trstat -g "$1" -s "$1" -c count -t csv "$2" | cut -d, -f1) \
		<(trstat -g "$1" -s "$1" -c count "$2" | awk '{ print $2 }') | tail -n +2 | sort -n
}

@test "errors and signals have the names of another table" {
	python3 -c 'if True:
		import errno
		own = {35: "EDEADLK", 95: "EOPNOTSUPP", 133: "EHWPOISON"}  # of two names, the other one
		for n in range(1, 134):
			print(-n, own.get(n) or errno.errorcode.get(n, -n))
		for n in (0, 1, 4096):
			print(n, n)' | sort -n >errors
	# shellcheck disable=SC2046
	events 'sys_exit: NR 5 = %d' $(seq -133 1) 4096 | trdecode -o errors.trs
	names_of ret errors.trs | diff - errors
	python3 -c 'if True:
		import signal
		for n in range(1, 33):
			print(n, signal.Signals(n).name if n < 32 else n)' >signals
	# shellcheck disable=SC2046
	events 'signal_deliver: sig=%d errno=0 code=0 sa_handler=0 sa_flags=0' $(seq 32) | trdecode -o signals.trs
	names_of sig signals.trs | diff - signals
	run -0 trfilter -c 'sig == SIGKILL' signals.trs
	assert_output 1
	run -0 trfilter -c 'code == SI_USER' signals.trs
	assert_output 32
}

@test "the states of tasks are those that the kernel's print fmt has, and perf script prints" {
	local trace
	for trace in v6-sched-irq-timer i386-v6-sched-irq-timer s390x-v6-sched-irq-timer; do
		trdecode -q -o x.trs "$RECORDED/trace-cmd/$trace.dat"
		# { 0x00000001, "S" }
		grep -a 'print fmt: "prev_comm=%s' "$RECORDED/trace-cmd/$trace.dat" | grep -o '{ 0x[0-9a-f]*, "." }' |
			sed -E 's/^[{] 0x0*([0-9a-f]+), "(.)" [}]/\1 \2/' >letters
		[[ $(wc -l <letters) -eq 8 ]]
		sed -nE 's/^.* sched_switch: .* prev_state=([0-9a-fx]+) .*/\1/p' "$RECORDED/trace-cmd/$trace.raw.txt" |
			while read -r state; do printf '%x\n' $((state)); done |
			awk 'BEGIN { name["0"] = "R"; name["100"] = "R+" }
				NR == FNR { name[$1] = $2; next }
				{ n[name[$1]]++ }
				END { for (s in n) print s, n[s] }' letters - | sort >theirs
		[[ $(wc -l <theirs) -gt 1 ]]
		trstat -q --where 'type == "sched_switch"' -g prev_state -c count x.trs |
			awk 'NR > 1 { print $2, $1 }' | sort | diff - theirs
		run -0 trfilter -c 'prev_state == S' x.trs
		assert_output "$(awk '$1 == "S" { print $2 }' theirs)"
		run -0 trfilter -c 'prev_state == "R+"' x.trs
		assert_output "$(awk '$1 == "R+" { print $2; n = 1 } END { if (!n) print 0 }' theirs)"
	done
	gzip -dc "$DATA/perf/sched.data.gz" >sched.data
	gzip -dc "$DATA/perf/sched.txt.gz" | grep -o 'prev_state=[^ ]*' | sort | uniq -c |
		awk '{ sub(/.*=/, "", $2); print $2, $1 }' | sort >theirs
	trdecode -q sched.data | trstat -q --where 'type == "sched_switch"' -g prev_state -c count |
		awk 'NR > 1 { print $2, $1 }' | sort | diff - theirs
}

@test "names in conditions: as words and in quotes; a word that is no name is refused" {
	events 'sys_exit: NR 5 = %d' -2 -2 -11 0 3 | trdecode -o x.trs
	run -0 trfilter -c 'ret == ENOENT' x.trs
	assert_output 2
	run -0 trfilter -c 'ret == "ENOENT"' x.trs
	assert_output 2
	run -0 trfilter -c 'ret == -2' x.trs
	assert_output 2
	run -0 trfilter -c 'ret != ENOENT' x.trs
	assert_output 3
	run -0 trfilter -c 'ret in {ENOENT, "EAGAIN"}' x.trs
	assert_output 3
	run -0 trfilter -c 'ret =~ "^E(NO|AG)"' x.trs
	assert_output 3
	# two names of one number
	run -0 trfilter -c 'ret == EWOULDBLOCK' x.trs
	assert_output 1
	run -0 trfilter -c 'ret in {ENOENT, "EWOULDBLOCK"} || ret in {ENOTSUP, EDEADLOCK}' x.trs
	assert_output 3
	run -0 trfilter -c 'has(ret.name)' x.trs
	assert_output 3
	run -0 trfilter -c 'ret.name == "EAGAIN"' x.trs
	assert_output 1
	run -2 trfilter -c 'ret == ENOENTT' x.trs
	assert_output "trfilter: 'ret' is a number that has no name 'ENOENTT'; did you mean 'ENOENT'?"
	run -0 trstat -c count --where 'ret == ENOENT' -t csv x.trs
	assert_output $'name,count\nsys_exit,2'
	run -3 trstat -q --fail-if 'count(ret == ENOENT) > 1' x.trs
	run -0 trstat -q --fail-if 'count(ret == EAGAIN) > 1' x.trs
	run -0 trstat -q --fail-if 'count(ret != ENOENT) > 3' x.trs
	run -3 trstat -q --fail-if 'count(ret != ENOENT) > 2' x.trs
	trdecode -o raw.trs "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat"
	run -2 trstat -q --fail-if 'count(ret == ENOENTT) > 1' raw.trs
	assert_output "trstat: 'ret' is a number that has no name 'ENOENTT'; did you mean 'ENOENT'?"
	run -3 trstat -q --fail-if 'count(id == openat) > 1' raw.trs
	# a word is a field where the event has one of that name
	{
		events 'sched_switch: prev_comm=a prev_pid=%d prev_prio=7 prev_state=S ==> next_comm=b next_pid=7 next_prio=7' 7 8
	} | trdecode -o switch.trs
	run -0 trfilter -c 'prev_pid == next_pid' switch.trs
	assert_output 1
	# there it is a text, of a source that declares no fields
	run -0 trfilter -c 'prev_state == S' switch.trs
	assert_output "trfilter: no event has a field 'S'; quote a text: \"S\""$'\n0'
	run -0 trfilter -c 'prev_state == "S"' switch.trs
	assert_output 2
}

@test "tables for machines keep the numbers; NAME.name is the name, and missing without one" {
	events 'sys_exit: NR 5 = %d' -2 -2 3 | trdecode -o x.trs
	run -0 trencode -t csv -c ret,ret.name x.trs
	assert_output $'ret,ret.name\n-2,ENOENT\n-2,ENOENT\n3,'
	run -0 trencode -t ndjson -c ret,ret.name x.trs
	assert_line --index 0 '{"ret":-2,"ret.name":"ENOENT"}'
	assert_line --index 2 '{"ret":3,"ret.name":null}'
	run -0 pipefail 'trencode -t ndjson x.trs | head -1 | jq -c .args'
	assert_output '{"id":5,"ret":-2}'
	trencode -t parquet -c ret,ret.name -o x.parquet x.trs
	run -0 python3 "$ROOT/t/tools/parquet.py" x.parquet
	assert_line --partial ENOENT
	for format in csv tsv json ndjson prom; do
		run -0 trstat -g ret -c count -t "$format" x.trs
		assert_output --partial -2
		refute_output --partial ENOENT
	done
	run -0 trstat -g ret.name -c count -t csv x.trs
	assert_output $'ret.name,count\nENOENT,2\n,1'
	run -0 trstat -g 'bucket(ret,2)' -c count x.trs
	refute_output --partial ENOENT
	run -0 pipefail 'trdecode --list <x.trs | grep " ret "'
	assert_output --partial ENOENT
}

@test "a number is one group, and has a name where all its events give it the same" {
	{
		events 'sys_exit: NR 5 = %d' -2 -11
		events 'other: ret=%d' -2
	} | trdecode -o x.trs
	run -0 trstat -g ret -c count -s ret x.trs
	assert_output $'count  ret\n    1  EAGAIN\n    2  -2'
	run -0 trstat -g ret -c count -s ret -t csv x.trs
	assert_output $'ret,count\n-11,1\n-2,2'
	# of parts as of the whole
	events 'sys_exit: NR 5 = %d' -2 -11 | trdecode | trstat --partial -g ret -c count -o 1.sum
	events 'other: ret=%d' -2 | trdecode | trstat --partial -g ret -c count -o 2.sum
	for order in '1.sum 2.sum' '2.sum 1.sum'; do
		# shellcheck disable=SC2086
		run -0 trstat --merge -s ret $order
		assert_output $'count  ret\n    1  EAGAIN\n    2  -2'
	done
	run -0 trstat --merge -s ret 1.sum
	assert_output $'count  ret\n    1  EAGAIN\n    1  ENOENT'
}

@test "elements of arrays have a name in all programs" {
	local trace=$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat
	trdecode -o x.trs "$trace"
	# of raw system calls the first argument, in hexadecimal
	trencode -t ndjson x.trs | jq -r 'select(.type == "sys_enter") | .args.args[0]' | grep -c '^0x3$' >theirs
	run -0 trfilter -c 'args[0] == 3' x.trs
	assert_output "$(<theirs)"
	run -0 trfilter -c 'args.0 == 3' x.trs
	assert_output "$(<theirs)"
	for name in 'args[0]' args.0 '.args.0'; do
		run -0 pipefail "trstat --where 'type == \"sys_enter\"' -g '$name' -c count -t csv x.trs | grep '^0x3,'"
		assert_output "0x3,$(<theirs)"
		run -0 pipefail "trencode -t csv --no-header -c '$name' x.trs | grep -c '^0x3$'"
		assert_output "$(<theirs)"
	done
}
