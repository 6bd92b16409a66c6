# trstat -i: a table for each interval of the trace's time or of the wall clock.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
}

@test "-i gives what a bucket of the time gives, interval by interval" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >sched.trs
	for trace in fib.trs sched.trs; do
		for width in 1us 37us 1ms 0.002 2s 1h; do
			trstat -q -i $width -g name,tid -s name,tid -c count,total,p50,max -t tsv $trace | sed 1d >got
			trstat -q -g "bucket(time,$width),name,tid" -s "bucket(time,$width),name,tid" -c count,total,p50,max \
				-t tsv $trace | sed 1d >expected
			cmp got expected || fail "$trace $width"
		done
	done
	run -0 trstat -q -i 1ms -g '' -c count,rate -t csv fib.trs
	assert_output "$(printf '%s\n' time,count,rate 3587860000000,1,1000.000 3587866000000,562,562000.000 \
		3587867000000,556,556000.000 3587869000000,619,619000.000)"
}

@test "-i: a heading for people, the header once for programs" {
	run -0 trstat -q -i 1ms -n 1 -c count fib.trs
	assert_line --index 0 '3587.860000000:'
	assert_line --index 3 '3587.866000000:'
	assert_equal "${#lines[@]}" 12
	run -0 trstat -q -i 1ms -g '' -c count -t ndjson fib.trs
	assert_line --index 1 '{"time": 3587866000000, "count": 562}'
	trfilter 'tid == 1' fib.trs >empty.trs
	run -0 trstat -q -i 1ms -t tsv empty.trs
	assert_output ''
}

@test "-i with pairs, fields, stacks and conditions" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >sched.trs
	trstat -q -i 10ms --pair syscall -t tsv -c count,total sched.trs | awk -F '\t' 'NR > 1 { c[$2] += $3; t[$2] += $4 } END { for (k in c) print k, c[k], t[k] }' | sort >got
	trstat -q --pair syscall -t tsv -c count,total sched.trs | awk -F '\t' 'NR > 1 { print $1, $2, $3 }' | sort | diff got -
	trstat -q -i 10ms -g next_comm,stack -t tsv -c count,'sum(next_pid)' sched.trs | awk -F '\t' 'NR > 1 { c[$2] += $4; s[$2] += $5 } END { for (k in c) print k, c[k], s[k] }' | sort >got
	trstat -q -g next_comm -t tsv -c count,'sum(next_pid)' sched.trs | awk -F '\t' 'NR > 1 { print $1, $2, $3 + 0 }' | sort | diff got -
	# a condition is judged for each interval
	run -3 --separate-stderr trstat -i 1ms -g name -t tsv --fail-if 'count(name == "compare") > 500' --fail-if 'count(tid == 4123) > 400' fib.trs
	assert_equal "${#stderr_lines[@]}" 3
	run -0 trstat -q -i 1ms --fail-if 'count(name == "compare") > 600' fib.trs
	for recording in forkexec exit-mid longjmp; do
		trdecode "$RECORDED/uftrace/$recording" | trsym >r.trs
		trstat -q -i 10us -g stack -t tsv -c count,self r.trs | awk -F '\t' 'NR > 1 { c += $3; s += $4 } END { print c, s }' >got
		trstat -q -g '' -t tsv -c count,self r.trs | awk -F '\t' 'NR > 1 { print $1, $2 }' | diff got - || fail $recording
	done
}

@test "-i: a condition that holds says when" {
	trdecode "$DATA/uftrace/fib" | trsym >when.trs
	run -3 --separate-stderr trstat -i 1ms -t tsv -c count,max --fail-if 'max > 2100us' when.trs
	while IFS= read -r line; do
		[[ $line =~ ^'trstat: '([0-9]+\.[0-9]{9})': max > 2100us is true: ' ]] || fail "$line"
		trstat -q -i 1ms when.trs | grep -x "${BASH_REMATCH[1]}:" || fail "$line"
	done <<<"$stderr"
	# without an interval there is none
	run -3 --separate-stderr trstat --fail-if 'max > 2100us' when.trs
	[[ $stderr == *'trstat: max > 2100us is true: '* ]]
}

@test "-i shows an interval as soon as a later event is there" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >sched.trs
	trstat -q -i 10ms -g '' -c count -t csv sched.trs >expected
	[ "$(wc -l <expected)" -gt 5 ]
	mkfifo pipe
	trstat -q -i 10ms -g '' -c count -t csv <pipe >out 3>&- &
	pid=$!
	exec 5>pipe
	cat sched.trs >&5
	# the input is still open: all but the last interval are there
	for ((i = 0; i < 100; i++)); do
		[ "$(wc -l <out)" -eq $(($(wc -l <expected) - 1)) ] && break
		sleep 0.05
	done
	[ $i -lt 100 ]
	exec 5>&-
	wait $pid
	cmp expected out
}

@test "-i --wall: what came in each interval of the wall clock, silent ones too" {
	{
		cat fib.trs
		sleep 0.7
		cat fib.trs
	} | trstat -q -i 0.2 --wall -g '' -c count -t tsv >out
	# two streams in two intervals, their times apart
	awk 'NR > 1 { n += $2; if ($2) rows++; t[NR] = $1 } END { if (n != 2 * 1738 || rows != 2 || t[NR] - t[2] < 400000000 || t[2] < 1500000000000000000) exit 1 }' out ||
		fail "$(cat out)"
	{
		cat fib.trs
		sleep 0.5
	} | trstat -q -i 100ms --wall -n 1 >out
	# each has its own time, by the fraction of the second
	[ "$(grep -E '^20[0-9-]* [0-9:]*[.][0-9]{3}:$' out | sort -u | wc -l)" -ge 3 ]
	run -2 trstat --wall fib.trs
}

@test "-i: ticks, and what it does not go with" {
	run -0 pipe "trdecode '$DATA/apitrace/v6.trace' | trstat -q -i 10 -g '' -c count -t tsv"
	assert_line --index 0 "$(printf 'time\tcount')"
	assert_line --index 1 --regexp '^0	[0-9]+$'
	run -2 pipe "trdecode '$DATA/apitrace/v6.trace' | trstat -q -i 10ms"
	assert_output --partial 'counts ticks'
	for width in '' 0 -1 x 1x 99999999999999999999; do
		run -2 trstat -i "$width" fib.trs
		assert_output --partial '-i takes a time'
	done
	for option in --tree --hist '-t json' '-t prom'; do
		run -2 trstat -i 1ms $option fib.trs
		assert_output --partial '-i does not go with'
	done
}
