#!/usr/bin/env bats
# The states of calls: how long their threads were running, runnable, asleep, against a model of the texts
# of trace-cmd report, perf script and uftrace dump.
bats_require_minimum_version 1.5.0

load lib

STATES=running,runnable,sleeping,blocked,iowait,irq,offcpu,unknown

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

model() {
	python3 "$ROOT/t/tools/states.py" "$@" | LC_ALL=C sort >theirs
	[ "$(wc -l <theirs)" -gt 5 ]
}

# table KEYS OPTION...: each call or pair by itself
table() {
	trstat -q -g "$@" -c "sum(dur),$STATES" -t tsv x.trs | tail -n +2 | LC_ALL=C sort >ours
	# the states add up to the time
	awk -F '\t' '{ t = $(NF - 8); for (i = NF - 7; i <= NF; i++) t -= $i; if (t) { print; bad = 1 } } END { exit bad }' ours
}

# sums: those of each function are the model's, too, also where several columns are of single calls
sums() {
	local columns="total,$STATES" more="p99(running),max(unknown)"
	awk -F '\t' -v OFS='\t' '{ for (i = 5; i <= NF; i++) t[$3, i] += $i; n[$3] = NF; if ($NF > m[$3]) m[$3] = $NF }
		END { for (f in n) { printf "%s", f; for (i = 5; i <= n[f]; i++) printf "\t%.0f", t[f, i]; print "", m[f] + 0 } }' theirs |
		LC_ALL=C sort >wanted
	trstat -q -c "$STATES" -t tsv --where "$1" x.trs | tail -n +2 | LC_ALL=C sort | diff <(cut -f 1-9 wanted) -
	trstat -q -c "$STATES" -t tsv x.trs | LC_ALL=C sort | grep -Fxf <(cut -f 1-9 wanted) | diff <(cut -f 1-9 wanted) -
	awk -F '\t' -v OFS='\t' '{ for (i = 6; i <= NF; i++) t[$2 OFS $3, i] += $i; n[$2 OFS $3] = NF; if ($5 > m[$2 OFS $3]) m[$2 OFS $3] = $5 }
		END { for (f in n) { printf "%s", f; for (i = 6; i <= n[f]; i++) printf "\t%.0f", t[f, i]; print "", m[f] + 0 } }' theirs |
		LC_ALL=C sort >threads
	trstat -q -g tid,name -c "${STATES#running,},max(running)" -t tsv x.trs | LC_ALL=C sort | grep -Fxf threads | diff threads -
	trstat -q -c "$STATES,$more" -t tsv x.trs | cut -f 1-9,11 | LC_ALL=C sort | grep -Fxf wanted | diff wanted -
}

agree() {
	diff theirs ours
}

# has COLUMN...: some call was in each of these states
has() {
	local c
	for c; do
		awk -F '\t' -v n="$c" '$(NF - 8 + n) { found = 1 } END { exit !found }' ours || fail "$c"
	done
}

kernel() {
	trdecode -q "$RECORDED/trace-cmd/$1.dat" | trsym -o x.trs
}

@test "calls of the kernel's functions are those of trace-cmd report" {
	local trace list
	for trace in v6-fgraph s390x-v6-fgraph i386-v6-fgraph trixie-v6-fgraph; do
		kernel $trace
		model calls trace-cmd "$RECORDED/trace-cmd/$trace.raw.txt"
		table time,tid,name --where 'kind == "call"'
		agree || fail $trace
		has 1 8
		sums 'kind == "call"' || fail $trace
	done
	has 1 2
	trstat -q --slowest 1000 -c "+$STATES" -t tsv x.trs | awk -F '\t' -v OFS='\t' 'NR > 1 { printf "%s", $4 OFS $5 OFS $9 OFS $1
		for (i = 13; i <= NF; i++) printf "%s", OFS $i; print "" }' | LC_ALL=C sort >ours
	agree
	run -0 trstat -q --slowest 1 -c +runnable x.trs
	assert_line --partial ", cpu 0, runnable 84.307 us"
	for list in running +total +running,running + '+running,'; do
		run -2 trstat --slowest 1 -c $list x.trs
	done
	run -2 trstat --slowest 1 --partial -c +running x.trs
	run -2 trstat --slowest 1 --pair oncpu -c +running x.trs
}

@test "pairs are those of trace-cmd report: interrupts, wakeups, switches and system calls" {
	local trace list p99
	for trace in v6-sched-irq-timer s390x-v6-sched-irq-timer s390x-v7-zstd-sched-syscalls; do
		kernel $trace
		pairs trace-cmd "$RECORDED/trace-cmd/$trace.raw.txt" oncpu:prev_pid offcpu:next_pid wakeup:next_pid
	done
	pairs trace-cmd "$RECORDED/trace-cmd/$trace.raw.txt" syscall:tid
	# percentiles differ by less than 0.4 %
	p99=$(cut -f 5 theirs | sort -n | awk '{ v[NR] = $1 } END { print v[int(NR * 0.99 + 0.999)] }')
	[ "$p99" -gt 1000 ]
	run -3 trstat -q --pair syscall --fail-if "p99(runnable) > $((p99 * 995 / 1000))ns" x.trs
	run -0 trstat -q --pair syscall --fail-if "p99(runnable) > $((p99 * 1005 / 1000))ns" x.trs
	has 1 2 3 8
	kernel s390x-v6-sched-irq-timer
	# those of a thread are its time from the first switch to the last one
	awk '/ sched_switch: / { t = $3; sub(/:$/, "", t); gsub(/\./, "", t)
		for (i = 4; i <= NF; i++) if ($i ~ /^(prev|next)_pid=/) { n = substr($i, 10); if (!(n in first)) first[n] = t; last[n] = t } }
		END { for (n in last) if (n + 0 && last[n] != first[n]) printf "%d\t%.0f\n", n, last[n] - first[n] }' \
		"$RECORDED/trace-cmd/s390x-v6-sched-irq-timer.raw.txt" | sort >theirs
	[ "$(wc -l <theirs)" -gt 5 ]
	for list in oncpu offcpu; do
		trstat -q --pair $list -g tid -c "total,$STATES" -t tsv x.trs
	done | awk 'NR > 1 && $1 != "tid" { total[$1] += $2; for (i = 3; i <= NF; i++) state[$1] += $i }
		END { for (n in total) if (total[n] == state[n]) printf "%d\t%.0f\n", n, total[n] }' | sort >ours
	agree
	table time,prev_pid --pair oncpu
	has 1 6
	table time,next_pid --pair offcpu
	has 2 3
}

# pairs TOOL TEXT PRESET:KEY...: those of x.trs are the model's
pairs() {
	local tool="$1" text="$2" preset
	shift 2
	for preset; do
		model "${preset%:*}" "$tool" "$text"
		table "time,${preset#*:}" --pair "${preset%:*}"
		agree || fail "$text $preset"
	done
}

@test "pairs of text of the kernel, Perfetto and LTTng" {
	local trace text
	for trace in v6-sched-irq-timer s390x-v7-zstd-sched-syscalls; do
		text="$RECORDED/trace-cmd/$trace.report.txt"
		trdecode -q "$text" -o x.trs
		pairs kernel "$text" offcpu:next_pid
		text="$RECORDED/trace-cmd/$trace.raw.txt"
		python3 "$ROOT/t/tools/states.py" packets trace-cmd "$text" |
			protoc --encode=m.Trace -I "$ROOT/t/proto" perfetto.proto >x.pftrace
		trdecode -q x.pftrace -o x.trs
		pairs trace-cmd "$text" oncpu:prev_pid offcpu:next_pid
	done
	# marks of atrace
	model syscall trace-cmd "$text"
	table time,tid --where 'kind == "call"'
	agree
	has 1 2 3 8
	# interrupts of LTTng are calls
	tar -xf "$DATA/analyses/kernel.tar.xz"
	trdecode -q kernel -o x.trs
	pairs lttng kernel.txt oncpu:prev_tid offcpu:next_tid syscall:tid
	has 1 2 3 4 6
}

@test "pairs of old LTTng, whose listing has rounded times" {
	need_shared lttng-legacy/v2.5-15316ev-1cpu
	trdecode -q "$RECORDED/lttng-legacy/v2.5-15316ev-1cpu" -o x.trs
	model oncpu lttng "$RECORDED/lttng-legacy/v2.5-15316ev-1cpu.expect.txt"
	table time,prev_pid --pair oncpu
	has 1 6
	paste <(sort -k 2,2 -k 1,1 theirs) <(sort -k 2,2 -k 1,1 ours) |
		awk 'NF != 22 { exit bad = 1 } { for (i = 2; i < 12; i++) if (($i - $(i + 11)) ^ 2 > 100) exit bad = 1 } END { exit bad }'
}

# uftrace_record OPTION...: a program whose threads sleep and wait for a CPU, as u.data and u.txt
uftrace_record() {
	need uftrace
	cat >w.c <<-'END'
		#include <pthread.h>
		#include <time.h>
		static volatile long sink;
		__attribute__((noinline)) void spin(void) { for (long i = 0; i < 200000; i++) sink += i; }
		__attribute__((noinline)) void nap(void) { nanosleep(&(struct timespec){0, 100000}, NULL); }
		static void *work(void *a) { for (int i = 0; i < 20; i++) { spin(); nap(); } return a; }
		int main(void)
		{
			pthread_t t[4];
			for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, NULL);
			for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
		}
	END
	gcc -O1 -pg -o w w.c -pthread
	uftrace record "$@" -d u.data ./w >/dev/null 2>err || skip "uftrace record: $(tail -n 1 err)"
	uftrace dump -d u.data >u.txt
}

@test "calls of a fresh recording of uftrace with its scheduling events" {
	uftrace_record
	grep -q sched-out u.txt || skip 'uftrace records no scheduling events here'
	model calls uftrace u.txt
	trdecode -q u.data | trsym -o x.trs
	table time,tid,name --where 'name !~ "^linux:"'
	agree
	has 1 7
	sums 'name !~ "^linux:"'
}

@test "what is not needed of the past is forgotten" {
	# calls of two threads, 60 deep, whose threads change 6000 times: more than are kept without a look
	awk 'function at() { printf "  a-%d (%d) [000] .... %d.%06d: ", tid, tid, 1 + ++t / 1000000, t % 1000000 }
		function mark(w) { at(); print "tracing_mark_write: " w }
		function change(to) { at(); printf "sched_switch: prev_comm=a prev_pid=%d prev_prio=120 prev_state=%s ==> ", tid, t % 3 ? "S" : "D"
			printf "next_comm=a next_pid=%d next_prio=120\n", to; tid = to }
		BEGIN { srand(1); print "# tracer: nop\n#"; tid = 8; change(7)
			for (i = 0; i < 6000; i++) {
				n = int(rand() * 5) - 2
				for (; n > 0 && d[tid] < 60; n--) mark("B|" tid "|f" d[tid]++)
				for (; n < 0 && d[tid] > 0; n++) { mark("E|" tid); d[tid]-- }
				change(15 - tid)
			}
			for (i = 0; i < 2; i++) { while (d[tid]-- > 0) mark("E|" tid); if (!i) change(15 - tid) } }' >t.txt
	python3 - >theirs <<-'END'
		import re
		now, since, sums, stacks = {}, {}, {7: {}, 8: {}}, {7: [], 8: []}
		def set_state(tid, state, time):
		    if tid in now: sums[tid][now[tid]] = sums[tid].get(now[tid], 0) + time - since[tid]
		    now[tid], since[tid] = state, time
		for line in open("t.txt"):
		    m = re.match(r" +a-(\d) .* (\d+)\.(\d+): (.*)", line)
		    if not m: continue
		    tid, time, what = int(m[1]), int(m[2]) * 10**9 + int(m[3]) * 1000, m[4]
		    s = re.search(r"prev_state=(.).*next_pid=(\d)", what)
		    if s:
		        set_state(tid, {"S": "sleeping", "D": "blocked"}[s[1]], time)
		        set_state(int(s[2]), "running", time)
		        continue
		    set_state(tid, now[tid], time)
		    if " B|" in what: stacks[tid].append((what.split("|")[2], time, dict(sums[tid])))
		    else:
		        name, start, before = stacks[tid].pop()
		        print(time, tid, name, time - start, *(sums[tid].get(k, 0) - before.get(k, 0) for k in ("running", "sleeping", "blocked")), sep="\t")
	END
	[ "$(wc -l <theirs)" -gt 2000 ]
	trdecode -q t.txt -o x.trs
	trstat -q -g time,tid,name -c 'sum(dur),running,sleeping,blocked' -t tsv --where 'kind == "call"' x.trs | tail -n +2 |
		LC_ALL=C sort >ours
	LC_ALL=C sort -o theirs theirs
	agree
}

# perf_record OPTION... COMMAND: p.data and p.txt
perf_record() {
	need perf
	perf record -q -m 2048 -a -k mono -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -o p.data "$@" \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i p.data --ns -F tid,cpu,time,event,trace >p.txt 2>/dev/null
}

@test "calls of uftrace with the switches of perf, of one clock" {
	uftrace_record --no-event
	# perf may start on a CPU after a thread has left it: then the model, which knows what follows, says more
	for _ in 1 2 3 4; do
		rm -rf u.data p.data
		perf_record -- uftrace record --no-event -d u.data ./w
		uftrace dump -d u.data >u.txt
		model calls uftrace u.txt perf p.txt
		trdecode -q u.data p.data | trsym -o x.trs
		table time,tid,name --where 'kind == "call"'
		if agree >differs; then
			break
		fi
	done
	agree
	has 1 3
}

@test "system calls of a fresh recording of perf" {
	perf_record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -- sh -c 'for n in 1 2; do sleep 0.01; ls -R /etc | wc -l; done'
	model syscall perf p.txt
	trdecode -q p.data -o x.trs
	table time,tid --pair syscall
	agree
	has 1 3
}

# marks LINE...: the calls of thread 7, "TIME EVENT..." of CPU 0, as text of the kernel
marks() {
	printf '# tracer: nop\n#\n' >t.txt
	printf '%s\n' "$@" | sed -E 's/^([0-9]+) ([<a-z>]+-[0-9]+) /  \2 ( 7) [000] .... 1.000\1: /' >>t.txt
	trdecode -q t.txt -o x.trs
}

on='<idle>-0 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120'
off() {
	echo "a-7 sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=$1 ==> next_comm=swapper/0 next_pid=0 next_prio=120"
}
enter='a-7 tracing_mark_write: B|7|f'
leave='a-7 tracing_mark_write: E|7'
wake='b-9 sched_wakeup: comm=a pid=7 prio=120 target_cpu=000'

is() {
	run -0 trstat -q -c "total,$STATES" -t tsv --where 'name == "f"' x.trs
	assert_line --index 1 "f	$(tr ' ' '\t' <<<"$1")"
}

@test "each state, and what switches it" {
	marks "100 $on" "110 $enter" "120 $(off S)" "150 $wake" "160 $on" "170 $leave"
	is '60000 20000 10000 30000 0 0 0 0 0'
	marks "100 $on" "110 $enter" "120 $(off D)" "130 b-9 sched_stat_iowait: comm=a pid=7 delay=10000 [ns]" "150 $wake" "160 $on" "170 $leave"
	is '60000 20000 10000 0 0 30000 0 0 0'
	for to in ndjson csv perfetto; do
		trencode -q -t $to x.trs | trdecode -q -o y.trs
		run -0 trstat -q -c "total,$STATES" -t tsv --where 'name == "f"' y.trs
		assert_line --index 1 $'f\t60000\t20000\t10000\t0\t0\t30000\t0\t0\t0'
	done
	marks "100 $on" "110 $enter" "120 $(off D)" "150 $wake" "160 $on" "170 $leave"
	is '60000 20000 10000 0 30000 0 0 0 0'
	marks "100 $on" "110 $enter" "120 $(off R)" "160 $on" "170 $leave"
	is '60000 20000 40000 0 0 0 0 0 0'
	marks "100 $on" "110 $enter" '120 a-7 irq_handler_entry: irq=3 name=x' '125 a-7 softirq_entry: vec=1 [action=TIMER]' \
		'130 a-7 softirq_exit: vec=1 [action=TIMER]' '140 a-7 irq_handler_exit: irq=3 ret=handled' "170 $leave"
	is '60000 40000 0 0 0 0 20000 0 0'
}

@test "a thread is unknown before its first switch, and where a switch is missing" {
	marks "110 $enter" "120 $(off S)" "150 $wake" "160 $on" "170 $leave"
	is '60000 10000 10000 30000 0 0 0 0 10000'
	marks "100 $on" "110 $enter" "120 $(off S)" "170 $leave"
	is '60000 10000 0 0 0 0 0 0 50000'
	marks "100 $on" "110 $enter" "120 $(off S)" "150 $(off S)" "160 $on" "170 $leave"
	is '60000 20000 0 10000 0 0 0 0 30000'
	# of a call inside a call, and of the rest of the outer one
	marks "100 $on" "110 $enter" "120 $(off S)" "140 $enter" "150 $leave" "160 $on" "170 $leave"
	run -0 trstat -q -g time -c "sum(dur),$STATES" -t tsv --where 'name == "f"' -s time x.trs
	assert_output --regexp $'\n1000150000\t10000\t0\t0\t0\t0\t0\t0\t0\t10000\n1000170000\t60000\t20000\t0\t0\t0\t0\t0\t0\t40000$'
	# those of a thread are of its outermost calls
	run -0 trstat -q -g tid -c "sum(dur),$STATES" -t tsv --where 'depth == 0 && kind == "call"' x.trs
	assert_line $'7\t60000\t20000\t0\t0\t0\t0\t0\t0\t40000'
}

@test "a thread is unknown from the last event before a loss on its CPU" {
	marks "100 $on" "110 $enter" 'CPU:0 [LOST 3 EVENTS]' "130 $(off S)" "150 $wake" "160 $on" "170 $leave"
	is '60000 10000 10000 20000 0 0 0 0 20000'
	# a thread that sleeps may have run on the CPU; one that runs on another CPU did not
	marks "100 $on" "110 $enter" "120 $(off S)" 'CPU:0 [LOST 3 EVENTS]' "150 $wake" "160 $on" "170 $leave"
	is '60000 20000 0 0 0 0 0 0 40000'
	marks "100 $on" "110 $enter" "115 b-9 foo: x" 'CPU:1 [LOST 3 EVENTS]' "130 $(off S)" "150 $wake" "160 $on" "170 $leave"
	is '60000 30000 10000 20000 0 0 0 0 0'
}

@test "iowait=0 and io_wait=0 are no waits for I/O" {
	local field value io
	for field in iowait io_wait; do
		for value in 0 1; do
			io=$((value * 30000))
			marks "100 $on" "110 $enter" "120 $(off D)" "130 b-9 sched_blocked_reason: pid=7 $field=$value caller=f+0x1/0x2" \
				"150 $wake" "160 $on" "170 $leave"
			is "60000 20000 10000 0 $((30000 - io)) $io 0 0 0"
			# rows have the fields as arguments
			trencode -q -t ndjson x.trs | trdecode -q >y.trs
			mv y.trs x.trs
			is "60000 20000 10000 0 $((30000 - io)) $io 0 0 0"
		done
	done
}

@test "events of the scheduler that are samples of perf add no weight to the times of calls" {
	gzip -dc "$DATA/perf/sched.data.gz" >p.data
	# perf script: 24305 runs at 791130560, sleeps at 791502750, is woken at 792050980, runs at 792061890
	printf '# tracer: nop\n#\n%s\n%s\n' '  work-24305 (24302) [000] .... 4896.791200: tracing_mark_write: B|24302|f' \
		'  work-24305 (24302) [000] .... 4896.792100: tracing_mark_write: E|24302' >t.txt
	trdecode -q --offset t.txt=0 p.data t.txt -o x.trs
	run -0 trstat -q -n 1 -c total,running,runnable,sleeping x.trs
	assert_output "     total     running   runnable    sleeping  name
900.000 us  340.860 us  10.910 us  548.230 us  f"
	run -0 trstat -q -g cpu,name -c count --where 'running > 0' -t tsv x.trs
	assert_output $'cpu\tname\tcount\n0\tf\t1'
	run -3 trstat -q --fail-if 'p99(runnable) > 5us' x.trs
	run -0 trstat -q --fail-if 'max(runnable)(name == "f") > 20us' x.trs
	# nor to those of other columns of a condition: 340.860 us of 900 us
	for c in 'sum(running) * 1000 / total' 'sum(running)(name == "f") * 1000 / total' 'running(name == "f") * 1000 / max(name == "f")'; do
		run -3 trstat -q --fail-if "$c == 378" x.trs
	done
	# without a state they are rows
	run -0 trstat -q -g type -c count -t tsv x.trs
	assert_line $'sched_switch\t110'
	trdecode -q p.data -o y.trs
	run -0 --separate-stderr trstat -c running y.trs
	assert_equal "${stderr_lines[1]}" "trstat: 'running' is a time of calls, and this trace has none: samples do not count; use --pair, such as --pair oncpu"
}

interrupts() {
	marks "100 $on" "110 $enter" '120 a-7 irq_handler_entry: irq=3 name=x' '140 a-7 irq_handler_exit: irq=3 ret=handled' \
		"170 $leave" '180 a-7 irq_handler_entry: irq=5 name=x' '181 a-7 irq_handler_exit: irq=5 ret=handled'
}

@test "a column of a state is of calls, and the field of events has a dot" {
	interrupts
	run -0 trstat -q -g tid -c running,irq --where 'tid == 7' x.trs
	assert_output "  running        irq  tid
40.000 us  20.000 us    7"
	# the columns add up to the calls' times
	run -0 trstat -q -g tid -c "sum(dur),$STATES" -t tsv x.trs
	assert_line $'7\t60000\t40000\t0\t0\t0\t0\t20000\t0\t0'
	run -0 trstat -q -g tid -c 'sum(.irq),max(.irq),max(irq)' -t tsv x.trs
	assert_line $'7\t16\t5\t20000'
	run -0 trstat -q -g tid --hist=irq x.trs
	assert_output --partial us
	run -0 trstat -q -g tid --hist=irq -t tsv x.trs
	[ "$(awk -F '\t' 'NR > 1 { n += $NF } END { print n }' <<<"$output")" = 1 ] || fail "$output"
	# without events of the scheduler there are no states
	marks '120 a-7 irq_handler_entry: irq=3 name=x'
	run -2 trstat -c irq x.trs
	assert_output --partial "such as sched_switch; the field of its events is '.irq'"
	run -0 trstat -q -g tid -c 'sum(.irq)' -t tsv x.trs
	assert_line $'7\t3'
}

@test "metrics of states are in seconds" {
	interrupts
	run -0 trstat -q -t prom -c 'running,irq,max(irq),p99(running)' --where 'name == "f"' x.trs
	assert_line '# HELP trstat_state_seconds Time of calls in which their threads were in a state.'
	assert_line 'trstat_state_seconds{name="f",state="running"} 0.000040000'
	assert_line 'trstat_state_seconds{name="f",state="irq"} 0.000020000'
	assert_line 'trstat_state_max_seconds{name="f",state="irq"} 0.000020000'
	assert_line 'trstat_state_percentile_seconds{name="f",state="running",quantile="0.99"} 0.000040000'
	run -0 trstat -q -t prom -g tid --hist=irq x.trs
	assert_line 'trstat_call_state_seconds_sum{tid="7",state="irq"} 0.000020000'
}

@test "columns, percentiles, keys and conditions" {
	marks "100 $on" "110 $enter" "120 $(off S)" "150 $wake" "160 $on" "170 $leave" "180 $enter" "185 $leave"
	run -0 trstat -q -t tsv -c 'runnable,max(runnable),p50(running),p99(running),avg(sleeping)' --where 'running > 0' x.trs
	assert_line --index 1 $'f\t10000\t10000\t5000\t20000\t15000'
	run -0 trstat -q -t tsv -g runnable -c count --where 'runnable > 5us' x.trs
	assert_output $'runnable\tcount\n10000\t1'
	run -3 trstat -q --fail-if 'p99(runnable) > 5us' x.trs
	run -0 trstat -q --fail-if 'p99(runnable) > 20us' --fail-if 'max(running)(runnable > 5us) > 30us' x.trs
	run -2 trstat --fail-if 'p99(runnable) > 5' x.trs
	run -2 --separate-stderr trstat --partial -c running x.trs
	assert_equal "${stderr_lines[0]}" "trstat: 'running' does not go with --partial and --merge: a part of a trace does not know what its threads did before"
	trdecode -q "$DATA/uftrace/t-abc" -o y.trs 2>/dev/null || trdecode -q "$(find "$DATA/uftrace" -name info -printf '%h\n' | head -n 1)" -o y.trs
	run -2 trstat -c running y.trs
	assert_output --partial "no time of calls is known to be 'running': the trace has no events of the scheduler, such as sched_switch"
}

@test "a stream in segments, a range, and intervals: the same times" {
	kernel trixie-v6-fgraph
	table time,tid,name --where 'kind == "call"'
	mv ours whole
	trdecode -q --segment 1000 "$RECORDED/trace-cmd/trixie-v6-fgraph.dat" | trsym -o x.trs
	table time,tid,name --where 'kind == "call"'
	diff whole ours
	# of the calls that are open at the begin, what is after it
	run -0 trstat -q -g kind -c "sum(dur),$STATES" -t tsv --since 152.70455 --until 152.71160 x.trs
	awk -F '\t' '$1 == "call" { t = $2; for (i = 3; i <= NF; i++) t -= $i; exit t != 0 || !$4 }' <<<"$output"
}

@test "trfilter keeps the calls that the model has" {
	kernel trixie-v6-fgraph
	model calls trace-cmd "$RECORDED/trace-cmd/trixie-v6-fgraph.raw.txt"
	for condition in 'running > 100us:$5 > 100000' 'runnable > 0:$6' 'unknown == dur:$12 == $4' \
		'running < 50us && name == "vfs_read":$5 < 50000 && $3 == "vfs_read"'; do
		awk -F '\t' "${condition#*:}" theirs >wanted
		[ -s wanted ] || [ "$condition" = 'unknown == dur:$12 == $4' ]
		run -0 trfilter -q -c "kind == \"call\" && (${condition%:*})" x.trs
		assert_output "$(wc -l <wanted)"
		trfilter -q "${condition%:*}" x.trs | trstat -q -g time,tid,name -c 'sum(dur)' -t tsv --where 'kind == "call"' |
			tail -n +2 | LC_ALL=C sort | diff <(cut -f 1-4 wanted) -
	done
	# calls that are open at the end, and segments
	trdecode -q --segment 1000 "$RECORDED/trace-cmd/v6-fgraph.dat" | trsym -o x.trs
	model calls trace-cmd "$RECORDED/trace-cmd/v6-fgraph.raw.txt"
	run -0 trfilter -q -c 'running > 50us' x.trs
	assert_output "$(awk -F '\t' '$5 > 50000' theirs | wc -l)"
}

@test "rows of trencode have the times that the model has" {
	local columns=time,dur,tid,name,running,runnable,sleeping,blocked,iowait,offcpu,unknown
	kernel v6-fgraph
	model calls trace-cmd "$RECORDED/trace-cmd/v6-fgraph.raw.txt"
	trencode -q -t tsv -c "kind,$columns" x.trs | awk -F '\t' -v OFS='\t' '$1 == "call" {
		printf "%.0f", $2 + $3; print "", $4, $5, $3, $6, $7, $8, $9, $10, 0, $11, $12 }' | LC_ALL=C sort >ours
	agree
	run -2 trencode -t csv -c running,running x.trs
}
