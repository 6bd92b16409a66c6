# pairs.awk - latencies between two events, from the lines of `trace-cmd report -R -t`, or of
# `perf script --ns -F comm,tid,cpu,time,event,trace`
#
#     awk -v preset=wakeup -f pairs.awk raw.txt
#
# With -v list=pairs: a line for each pair, with its time, the times of both events and the CPU of B; with -v
# list=unpaired: a line for each A without a B, with its time. With -v tasks=1 the key of wakeup, offcpu and
# oncpu is the command and the thread. Otherwise a line for each group: key, count, total, min, max, then all times in ascending order. At the end
# "unmatched": As that came again, As without a B, Bs without an A. Written apart from trstat, to
# compare it with.

function field(name,    i, n, w) {
	n = split(rest, w, " ")
	for (i = 1; i <= n; i++)
		if (index(w[i], name "=") == 1)
			return substr(w[i], length(name) + 2)
	return ""
}

function task(comm, tid) {
	return tasks ? comm "\t" tid : comm
}

function put(key) {
	if (key in start)
		again++
	start[key] = time
}

function end(key, group,    took) {
	if (!(key in start)) {
		lone++
		return
	}
	took = time - start[key]
	if (list == "pairs")
		printf "%.0f\t%.0f\t%.0f\t%d\n", took, start[key], time, cpu
	delete start[key]
	count[group]++
	total[group] += took
	times[group, count[group]] = took
}

/^.* [0-9]+ +\[[0-9]+\] +[0-9]+\.[0-9]+: +[a-z_]+:[a-z_]+: / {
	# as trace-cmd has it
	match($0, / [0-9]+ +\[/)
	$0 = substr($0, 1, RSTART - 1) "-" substr($0, RSTART + 1)
	match($0, /: +[a-z_]+:/)
	$0 = substr($0, 1, RSTART) " " substr($0, RSTART + RLENGTH)
}

{
	if (!match($0, /-[0-9]+ +\[[0-9]+\] .*[0-9]+\.[0-9]+: +[^ ]+:/))
		next
	name = substr($0, 1, RSTART - 1)
	sub(/^ +/, "", name)
	head = substr($0, RSTART, RLENGTH)
	rest = substr($0, RSTART + RLENGTH)
	n = split(head, w, " ")
	tid = substr(w[1], 2)
	cpu = substr(w[2], 2) + 0
	event = substr(w[n], 1, length(w[n]) - 1)
	split(substr(w[n - 1], 1, length(w[n - 1]) - 1), t, ".")
	time = t[1] * 1000000000 + t[2]
}

# perf script's words
preset ~ /^block/ { sub(/^ +/, "", rest); split(rest, word, " "); disk = word[1]; sector = rest; sub(/ \+ .*/, "", sector); sub(/.* /, "", sector) }
preset == "block" && event == "block_rq_complete" { end(disk "," sector, disk) }
preset == "block" && event == "block_rq_issue" { put(disk "," sector) }
preset == "block-queue" && event == "block_rq_issue" { end(disk "," sector, disk) }
preset == "block-queue" && event == "block_rq_insert" { put(disk "," sector) }
preset == "net" && event == "net_dev_xmit" { end(field("skbaddr") "," field("dev"), field("dev")) }
preset == "net" && event == "net_dev_queue" { put(field("skbaddr") "," field("dev")) }
preset == "net-receive" && event == "skb_copy_datagram_iovec" { end(field("skbaddr"), own[field("skbaddr")]) }
preset == "net-receive" && event == "netif_receive_skb" { put(field("skbaddr")); own[field("skbaddr")] = field("dev") }

# the first of repeated beginnings counts
function wait(key, lock) {
	if (key in start) {
		again++
		return
	}
	put(key)
	own[key] = lock
}
preset == "raise" && event == "softirq_entry" { end(cpu "," field("vec"), field("vec")) }
preset == "raise" && event == "softirq_raise" { wait(cpu "," field("vec")) }
preset == "lock" { sub(/^ +/, "", rest); split(rest, word, "[ ,]+") }
preset == "lock" && event == "contention_begin" { wait(tid "," word[1], word[1]) }
preset == "lock" && event == "contention_end" { end(tid "," word[1], word[1]) }
preset == "lock" && event == "sys_exit_futex" { end(tid, own[tid]) }
preset == "lock" && event == "sys_enter_futex" && word[4] ~ /[08][069bd]$/ { wait(tid, word[2]) }

preset == "wakeup" && event == "sched_switch" { end(field("next_pid"), task(field("next_comm"), field("next_pid"))) }
preset == "wakeup" && event ~ /^sched_(waking|wakeup|wakeup_new)$/ { put(field("pid")) }

preset == "offcpu" && event == "sched_switch" && field("next_pid") != 0 { end(field("next_pid"), task(field("next_comm"), field("next_pid"))) }
preset == "offcpu" && event == "sched_switch" && field("prev_pid") != 0 { put(field("prev_pid")) }

# by the sleeper's own command and state
preset == "sleep" && event == "sched_switch" && field("next_pid") != 0 { end(field("next_pid"), own[field("next_pid")]) }
preset == "sleep" && event == "sched_switch" && field("prev_pid") != 0 { put(field("prev_pid")); own[field("prev_pid")] = field("prev_comm") "," field("prev_state") }

# waits for a CPU since a wakeup or a pre-emption, and sleeps by the task that ended them, the first one
preset == "runq" && event == "sched_switch" && field("next_pid") != 0 { end(field("next_pid"), "") }
preset == "runq" && event == "sched_switch" && field("prev_pid") != 0 && field("prev_state") % 256 == 0 { put(field("prev_pid")) }
preset == "runq" && event ~ /^sched_wakeup(_new)?$/ { put(field("pid")) }
preset == "offwake" && event == "sched_switch" && field("next_pid") != 0 { end(field("next_pid"), waker[field("next_pid")] "\t" field("next_comm")) }
preset == "offwake" && event == "sched_switch" && field("prev_pid") != 0 { put(field("prev_pid")); waker[field("prev_pid")] = "" }
preset == "offwake" && event ~ /^sched_wak/ && field("pid") in start && waker[field("pid")] == "" { waker[field("pid")] = name }

preset == "oncpu" && event == "sched_switch" && field("prev_pid") != 0 { end(field("prev_pid"), task(own[field("prev_pid")], field("prev_pid"))) }
preset == "oncpu" && event == "sched_switch" && field("next_pid") != 0 { put(field("next_pid")); own[field("next_pid")] = field("next_comm") }

preset == "syscall" && event == "sys_exit" { end(tid "," field("id"), field("id")) }
preset == "syscall" && event == "sys_enter" { put(tid "," field("id")) }

# the events of single system calls, where those of all are not there
preset == "syscall" && event ~ /^sys_(enter|exit)$/ { all = 1 }
preset == "syscall" && event ~ /^sys_exit_/ && !all { end(tid "," field("__syscall_nr"), substr(event, 10)) }
preset == "syscall" && event ~ /^sys_enter_/ && !all { put(tid "," field("__syscall_nr")) }

preset == "irq" && event == "irq_handler_exit" { end(cpu "," field("irq"), field("irq")) }
preset == "irq" && event == "irq_handler_entry" { put(cpu "," field("irq")) }

preset == "softirq" && event == "softirq_exit" { end(cpu "," field("vec"), field("vec")) }
preset == "softirq" && event == "softirq_entry" { put(cpu "," field("vec")) }

END {
	if (list == "unpaired")
		for (k in start)
			printf "%.0f\n", start[k]
	if (list)
		exit
	for (g in count) {
		n = count[g]
		for (i = 2; i <= n; i++) {
			v = times[g, i]
			for (k = i - 1; k > 0 && times[g, k] > v; k--)
				times[g, k + 1] = times[g, k]
			times[g, k + 1] = v
		}
		printf "%s\t%d\t%.0f\t%.0f\t%.0f", g, n, total[g], times[g, 1], times[g, n]
		for (i = 1; i <= n; i++)
			printf "\t%.0f", times[g, i]
		print ""
	}
	for (k in start)
		open++
	printf "unmatched\t%d\t%d\t%d\n", again, open, lone
}
