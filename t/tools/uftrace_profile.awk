# The table of `trstat -g KEY -c count,total,self -t tsv` from `uftrace dump`, as trstat-columns(7) defines the columns:
# an independent model. usage: uftrace dump -d DIR | grep '\[' | sort -s -n -k 1,1 | awk -v key=KEY -f uftrace_profile.awk
# KEY is name, tid, caller, depth or "" (one group). Times that a task was scheduled out within a call are calls.
# A call inside another one of its group adds nothing to the total.
function ns(time, part) {
	split(time, part, ".")
	return part[1] * 1000000000 + part[2]
}

function value(name, caller, depth) {
	return key == "name" ? name : key == "tid" ? tid : key == "caller" ? caller : key == "depth" ? depth : ""
}

function enter(name,    at) {
	at = top[tid]++
	names[tid, at] = name
	groups[tid, at] = value(name, at ? names[tid, at - 1] : "", at)
	begins[tid, at] = now
	within[tid, at] = 0
}

function leave(    at, i, k, duration, recursive) {
	at = --top[tid]
	duration = now - begins[tid, at]
	for (i = 0; i < at; i++)
		if (groups[tid, i] == groups[tid, at]) recursive = 1
	if (at)
		within[tid, at - 1] += duration
	k = groups[tid, at]
	count[k]++
	total[k] += recursive ? 0 : duration
	self[k] += duration - within[tid, at]
}

{
	now = ns($1)
	tid = $2 + 0
	name = $NF ~ /^linux:/ ? $NF : $(NF - 2)
	sub(/\([0-9a-f]*\)$/, "", name)
}
$3 == "[entry]" { enter(name) }
$3 == "[exit" { leave() }
/ linux:sched-out/ && top[tid] { enter("linux:schedule" (/pre-empted/ ? " (pre-empted)" : "")) }
/ linux:sched-in\(/ && names[tid, top[tid] - 1] ~ /^linux:schedule/ { leave() }
/ linux:task-/ { count[value(name, "", 0)]++ }

END {
	for (k in count)
		printf "%s\t%d\t%s\t%s\n", k, count[k], k in total ? sprintf("%.0f", total[k]) : "",
			k in total ? sprintf("%.0f", self[k]) : ""
}
