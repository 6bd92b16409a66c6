# trstat --cover: the time in which calls are open, against an independent script.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	SCHED=$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat
}

@test "spans of random calls, by key and depth" {
	for seed in 1 2 3; do
		python3 "$ROOT/t/tools/cover.py" $seed >r.json
		trdecode r.json -o r.trs
		for key in '' tid pid; do
			for sets in a 'a & b' 'a - b'; do
				python3 "$ROOT/t/tools/cover.py" "$key" "$sets" 0 <r.json | sort >theirs
				[ -s theirs ]
				trstat -q --cover "$(sed 's/\<a\>/name == "a"/' <<<"$sets")" -g "$key" \
					-c busy,count,max -t tsv r.trs | tail -n +2 | sort | diff theirs -
				python3 "$ROOT/t/tools/cover.py" "$key" "$sets" 1 <r.json | sort >theirs
				trstat -q --cover "$sets" -g "${key:+$key,}depth" -c busy -t tsv r.trs |
					tail -n +2 | sort | diff theirs -
			done
		done
	done
}

@test "calls with numbers overlap within a thread; calls that have not returned are open until the end" {
	cat >n.json <<-'EOF2'
		[{"ph":"b","cat":"net","name":"get","id":1,"pid":1,"tid":1,"ts":0},
		{"ph":"b","cat":"net","name":"get","id":2,"pid":1,"tid":1,"ts":10},
		{"ph":"e","cat":"net","name":"get","id":1,"pid":1,"tid":1,"ts":20},
		{"ph":"e","cat":"net","name":"get","id":2,"pid":1,"tid":1,"ts":30},
		{"ph":"i","name":"mark","pid":1,"tid":1,"ts":35,"s":"t"},
		{"ph":"B","name":"open","pid":1,"tid":1,"ts":40},
		{"ph":"i","name":"mark","pid":1,"tid":2,"ts":50,"s":"t"}]
	EOF2
	trdecode -q n.json -o n.trs
	run -0 trstat -q --cover get -g depth -c busy,count -t csv -s depth n.trs
	assert_output $'depth,busy,count\n1,20000,2\n2,10000,1'
	run -0 trstat -q --cover 'name == "open"' -c busy,idle,util -t csv n.trs
	assert_output $'busy,idle,util\n10000,40000,20.000'
	# in buckets of time, and in a range
	run -0 trstat -q --cover get -g 'bucket(time,20us)' -s 'bucket(time,20us)' -c busy,count -t csv n.trs
	assert_output --partial $'0,20000,0\n20000,10000,1'
	run -0 trstat -q --cover get --since 0.000005s --until 0.000025s -c busy,total n.trs -t csv
	assert_output $'busy,total\n20000,20000'
	# of two streams each has its own end
	run -0 trstat -q --cover 'name == "open"' -c busy,count -t csv n.trs n.trs
	assert_output $'busy,count\n20000,2'
	# the time between two streams, which no event shows, is not idle
	jq 'map(.ts += 1e9)' n.json | trdecode -q -o late.trs
	for order in 'n.trs late.trs' 'late.trs n.trs' 'n.trs n.trs'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr trstat --cover 'name == "open"' -c busy,idle,util -t csv $order
		assert_output $'busy,idle,util\n20000,80000,20.000'
		assert_regex "$stderr" 'util is of 100.000 us in 2 streams, from '
	done
	run -0 trstat -q --cover 'name == "open"' -c busy,idle -g 'bucket(time,1s)' -t csv n.trs late.trs
	assert_output $'"bucket(time,1s)",busy,idle\n0,10000,40000\n1000000000000,10000,40000'
	run -0 trstat -q --cover 'name == "open"' -c idle -t csv --since 0.000045s --until 1s n.trs late.trs
	assert_output $'idle\n0'
}

@test "overlap of communication and computation, and idle time: the numbers of HolisticTraceAnalysis" {
	need_shared chrome/hta-sampled_rank-0.json.gz
	trdecode -q "$RECORDED/chrome/hta-sampled_rank-0.json.gz" -o h.trs
	gpu='group in {kernel, gpu_memcpy, gpu_memset}'
	# get_comm_comp_overlap: 14.95 % of the communication
	all=$(trstat -q --cover "$gpu && name =~ \"^nccl\"" -c busy -t tsv h.trs | tail -n 1)
	both=$(trstat -q --cover "$gpu && name =~ \"^nccl\" & $gpu && name !~ \"^nccl|Memcpy|Memset\"" -c busy -t tsv h.trs | tail -n 1)
	assert_equal "$(awk "BEGIN { printf \"%.2f\", 100 * $both / $all }")" 14.95
	# get_idle_time_breakdown: idle us of each stream from its first kernel to its last, whose times are here too
	while read -r stream since until idle; do
		run -0 trstat -q --cover "$gpu && stream == $stream" --since "${since}us" --until "${until}us" -c idle -t csv h.trs
		assert_output $'idle\n'"${idle}000"
	done <<-'END'
		7 1682725898100599 1682725899303534 1000017
		23 1682725898082228 1682725899305075 1214987
		25 1682725898111391 1682725898772826 660568
		84 1682725898094377 1682725899182485 798049
		203 1682725898585321 1682725899249534 558073
	END
}

@test "sets of pairs: CPUs that run tasks, how many at once, and system calls that do" {
	trdecode -q "$SCHED" -o s.trs
	# on one CPU the pairs do not overlap, and the last one may have no end
	trstat -q --pair oncpu -g cpu -c total -t tsv s.trs | tail -n +2 | sort >pairs
	trstat -q --cover oncpu -g cpu -c total -t tsv s.trs | tail -n +2 | sort >spans
	# those that the trace leaves open, by its text
	trencode -q s.trs | awk '{ match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART + 1, RLENGTH - 2) + 0
			match($0, /[0-9]+\.[0-9]+:/); time = substr($0, RSTART, RLENGTH - 1) }
		match($0, /==> .*:[0-9]+ \[/) { next_ = substr($0, RSTART, RLENGTH - 2); sub(/.*:/, "", next_); on[cpu] = next_ + 0 ? time : 0 }
		END { for (c in on) if (on[c]) printf "%d\t%.0f\n", c, (time - on[c]) * 1e6 }' | sort >open
	join -t $'\t' -a 1 -e 0 -o 0,1.2,2.2 pairs open |
		awk -F '\t' '{ printf "%d\t%.0f\n", $1, ($2 + 1000 * $3) / 10000 }' >want
	awk -F '\t' '{ printf "%d\t%.0f\n", $1, $2 / 10000 }' spans | diff want -
	# each moment counts as often as CPUs run tasks
	run -0 bash -c "trstat -q --cover oncpu -g depth -c busy -t tsv s.trs | awk 'NR > 1 { n += \$1 * \$2 } END { print n }'"
	assert_output "$(awk '{ n += $2 } END { print n }' spans)"
	run -0 trstat -q --cover 'syscall & oncpu' -g tid -c busy -t tsv s.trs
	[ "${#lines[@]}" -gt 3 ]
	run -3 trstat -q --cover oncpu --fail-if 'util(cpu == 0) > 59%' s.trs
	run -0 trstat -q --cover oncpu --fail-if 'util > 99%' s.trs
	run -0 trstat -q --cover oncpu --timeline 10ms -c util s.trs
	assert_line --regexp '^ +[0-9.]+ % '
	run -0 trstat -q --cover oncpu -g cpu --hist s.trs
	assert_line --index 0 --regexp '^cpu [01]: dur, count '
}

@test "the calls that are open where a part of a stream begins are open there" {
	trdecode "$DATA/uftrace/fib" | trsym -o all.trs
	trfilter -q --since 3587.8630 'time > 0' all.trs -o part.trs
	run -0 trstat -q --cover 'name == "main"' -c count -t csv part.trs
	assert_output $'count\n1'
	whole=$(trstat -q --cover 'name == "main"' --since 3587.8630 -c busy -t csv all.trs | tail -n 1)
	run -0 trstat -q --cover 'name == "main"' -c busy -t csv part.trs
	[ "${lines[1]}" -le "$whole" ]
}

@test "tasks of sets of pairs are those that run, wait or sleep" {
	trdecode -q "$SCHED" -o s.trs
	for pair in oncpu offcpu; do
		# those that the trace does not leave open agree
		trstat -q --pair $pair -g comm,tid -c busy -t tsv s.trs | tail -n +2 | sort >pairs
		trstat -q --cover $pair -g comm,tid -c busy -t tsv s.trs | tail -n +2 | sort >spans
		run -0 comm -12 pairs spans
		[ "${#lines[@]}" -ge 5 ] || fail "$pair: $(diff pairs spans)"
		run -1 grep -E '^(swapper|<idle>)' spans
	done
	run -0 trstat -q --cover wakeup -g tid -c busy -t tsv s.trs
	[ "${#lines[@]}" -gt 3 ]
	run -2 trstat -q --cover wakeup -g pid s.trs
	assert_output --partial 'has no key pid'
}

@test "a CPU runs one task, and a thread is in one system call, where the event of the end is missing" {
	switches() { while read -r time prev next; do
		echo "     x-$prev     [000] d..2.  $time: sched_switch: prev_comm=x prev_pid=$prev prev_prio=120 prev_state=S ==> next_comm=x next_pid=$next next_prio=120"
	done; }
	switches <<<$'1.0 2 1\n1.1 3 4\n1.2 4 2\n1.5 9 0\n2.0 0 2' | sed '1i # tracer: nop' | trdecode -q -o s.trs
	run -0 trstat -q --cover oncpu -g tid -c busy -t csv -s tid s.trs
	assert_output $'tid,busy\n1,100000000\n2,300000000\n4,100000000'
	run -0 trstat -q --cover oncpu -g depth -c busy,count -t csv s.trs
	assert_output $'depth,busy,count\n1,500000000,1'
	# rt_sigreturn returns from the call that the signal interrupted; the second call is lost
	calls() { while read -r time tid call; do echo "     x-$tid     [000] d..2.  $time: $call"; done; }
	calls <<<$'1.00 7 sys_enter: NR 15 (0, 0, 0, 0, 0, 0)\n1.01 7 sys_exit: NR -1 = 5\n1.01 8 sys_enter: NR 1 (0, 0, 0, 0, 0, 0)
		2.00 7 sys_enter: NR 1 (0, 0, 0, 0, 0, 0)\n2.30 7 sys_enter: NR 2 (0, 0, 0, 0, 0, 0)\n2.31 8 sys_exit: NR 1 = 0\n3.30 7 sys_exit: NR 2 = 0' |
		sed '1i # tracer: nop' | trdecode -q -o c.trs
	run -0 trstat -q --cover syscall -g tid -c busy -t csv -s tid c.trs
	assert_output $'tid,busy\n7,1310000000\n8,1300000000'
}

@test "a range of time is covered until its end" {
	printf '%s' '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":9000},{"ph":"X","name":"b","pid":1,"tid":2,"ts":100,"dur":50},
		{"ph":"X","name":"b","pid":1,"tid":2,"ts":5250,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":9500,"dur":50}]' >r.json
	trdecode -q r.json -o r.trs
	for range in '0.0052s 0.0058s' '0.006s 0.0066s'; do
		run -0 trstat -q --cover a --since "${range% *}" --until "${range#* }" -c busy,idle,util -t csv r.trs
		assert_line --index 1 600000,0,100.000
	done
	run -0 --separate-stderr trstat --cover a --since 0.0052s --until 0.0058s -c busy -t csv r.trs
	refute_regex "$stderr" 'no event'
	# a group in which A was open, but not as the sets require
	for sets in 'a & b' 'a - a' 'b & a'; do
		run -0 --separate-stderr trstat --cover "$sets" -c busy,idle,count -g tid -t csv r.trs
		assert_output "tid,busy,idle,count"$'\n'"$([[ $sets == a* ]] && echo 1 || echo 2),0,9550000,0"
		refute_regex "$stderr" 'no call'
	done
	run -0 --separate-stderr trstat --cover 'a - x' -c busy -t csv r.trs
	assert_output $'busy\n9000000'
	assert_regex "$stderr" "no call or pair is of the set 'x'"
}

@test "--cover: what it does not go with, and wrong sets" {
	for sets in 'a - b - c' 'a & b & c' 'a - b & c' 'dur > 5us' 'depth == 1' 'caller == "x"'; do
		run -2 trstat --cover "$sets" /dev/null
		assert_line --index 0 --regexp '^trstat: '
		refute_line --index 0 --partial '/dev/null'
	done
	run -2 trstat --cover '(pid & 1) == 1' /dev/null
	assert_line --index 0 --partial '/dev/null'
	for with in '--tree' '--slowest 3' '--partial' '--merge' '-i 1s' '--unpaired' '-c sum(x)' \
		'--where tid==1' '--pair oncpu' '-g caller' '-g w.comm'; do
		# shellcheck disable=SC2086
		run -2 trstat --cover oncpu $with /dev/null
		assert_line --index 0 --regexp '^trstat: '
	done
	run -2 trstat --cover 'a & ' /dev/null
	assert_line --index 0 --partial 'an event is missing'
	run -2 trstat --cover 'name = "a" - b' /dev/null
	assert_line --index 0 --partial 'column'
	run -2 trstat --cover 'x -> y on .z & b' /dev/null
	assert_line --index 0 --partial "'==' is missing"
	trdecode -q "$SCHED" -o s.trs
	run -0 trstat --cover 'oncpu & none' s.trs
	assert_output --partial "no call or pair is of the set 'none'"
}
