# What a listing of a legacy LTTng trace (2.3 and later, in the order of time) says of its events:
# who they are of, and how long system calls took. Reads the listing twice:
#
#     awk -f lttng_summary.awk LISTING LISTING
#
# type CPU TID EVENT COUNT               events of a thread on a CPU
# call NAME NS                           a system call but exec; an open one ends with its thread's
#                                        last event
BEGIN {
	FS = " "
}

# The number of a field of the line.
function number(name,    at) {
	at = index($0, " " name " = ")
	return at ? substr($0, at + length(name) + 4) + 0 : -1
}

function text(name,    at, rest) {
	at = index($0, " " name " = \"")
	rest = substr($0, at + length(name) + 5)
	return substr(rest, 1, index(rest, "\"") - 1)
}

function finish(tid, time) {
	if (calls[tid] !~ /execve/)
		printf "call %s %.0f\n", calls[tid], time - start[tid]
	delete calls[tid]
}

{
	cpu = $2
	sub(/.*_/, "", cpu)
	event = $3
	sub(/.*\./, "", event)
}

NR == FNR {
	if (event == "sched_schedule" && !(cpu in thread))
		thread[cpu] = number("prev_pid")
	if (event == "sys_call_table") {
		id = number("id")
		symbol[id] = text("symbol")
		sub(/\+.*/, "", symbol[id])
	}
	if (NR == 1)
		first = substr($1, 1, index($1, ".") - 1) # so that the rest is exact in a double
	next
}

{
	split($1, part, ".")
	time = (part[1] - first) * 1e9 + part[2]
	if (event == "sched_schedule")
		thread[cpu] = number("prev_pid")
	tid = cpu in thread ? thread[cpu] : -1
	events[cpu " " tid " " event]++
	# the idle threads of all CPUs have tid 0
	key = tid == 0 ? "idle" cpu : tid
	last[key] = time
	if (event == "syscall_entry") {
		calls[key] = symbol[number("syscall_id")]
		start[key] = time
	}
	if (event == "syscall_exit" && key in calls)
		finish(key, time)
	if (event == "process_fork")
		delete calls[number("child_pid")]
	if (event == "sched_schedule")
		thread[cpu] = number("next_pid")
}

END {
	for (tid in calls)
		finish(tid, last[tid])
	for (e in events)
		print "type", e, events[e]
}
