# trencode -t chrome and perfetto: what CPUs and threads do, from the events of the kernel's scheduler.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

model() {
	python3 "$ROOT/t/tools/scheduling.py" "$@"
}

# drawn: the slices, states and flows of out.json
drawn() {
	jq -r -f "$ROOT/t/tools/chrome_scheduling.jq" out.json | sort
}

# chrome_is LISTING: x.trs becomes the slices, states and flows of the listing
chrome_is() {
	trencode -q -t chrome -o out.json x.trs
	model slices "$(jq -r .otherData.origin out.json)" <"$1" | sort >want
	drawn >got
	diff want got
	[ "$(wc -l <got)" -gt 100 ]
}

# bundled: the events in the bundles of x.trs as Perfetto's format
bundled() {
	trencode -q -t perfetto -o out.pftrace x.trs
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <out.pftrace >decoded
	run -1 grep -E '^ *[0-9]+:' decoded
	model bundles <decoded | sort
}

perfetto_is() {
	need protoc
	model events <"$1" | sort >want
	bundled >all
	grep -v $'\tprint\t' all >got
	diff want got
	[ "$(wc -l <got)" -gt 100 ]
}

kinds() {
	cut -f 1 got | sort -u | paste -sd ,
}

@test "slices, states, interrupts, softirqs and wakeups are those of trace-cmd report" {
	local kernel
	for kernel in s390x i386; do
		trdecode -q "$RECORDED/trace-cmd/$kernel-v6-sched-irq-timer.dat" >x.trs
		chrome_is "$RECORDED/trace-cmd/$kernel-v6-sched-irq-timer.raw.txt"
		[ $kernel != s390x ] || assert_equal "$(kinds)" 'cpu,flow,irq,open,open state,softirq,state,unseen'
		perfetto_is "$RECORDED/trace-cmd/$kernel-v6-sched-irq-timer.raw.txt"
	done
}

@test "text of the plug-ins of trace-cmd, which print W for an idle thread: states and wakeups of the recording" {
	need trace-cmd
	local trace=$RECORDED/trace-cmd/v7-none-sched-irq-timer.dat
	# names, counts and milliseconds: the text has microseconds
	totals() {
		trdecode -q "$1" | trencode -q -t chrome -o out.json
		jq -r '[.traceEvents[] | select(.cat == "trutils.scheduling" and .ph != "s")] | group_by(.ph, .name)[] |
			[.[0].ph, .[0].name, length, (map(.dur // 0) | add / 1000 | round)] | @tsv' out.json
	}
	trace-cmd report -i "$trace" 2>/dev/null >report.txt
	grep -q ' \[120\] W ==> ' report.txt
	totals "$trace" >want
	totals report.txt >got
	grep $'^X\tIdle\t' want
	grep $'^f\twakeup\t' want
	diff want got
}

@test "a recording of perf, with events missing: those of perf script" {
	need perf
	gunzip -c "$DATA/perf/sched.data.gz" >sched.data
	trdecode -q sched.data >x.trs
	perf script --ns -F comm,tid,cpu,time,event,trace --show-mmap-events --show-task-events -i sched.data 2>/dev/null |
		grep -v ' 0\.000000000: ' >listing
	chrome_is listing
	perfetto_is listing
}

@test "by way of CTF, whose contexts have fields of the same names, the tracks are the same" {
	local dat="$RECORDED/trace-cmd/i386-v6-sched-irq-timer"
	trdecode -q "$dat.dat" >direct.trs
	trencode -q -t ctf -o again direct.trs
	trdecode -q again >x.trs
	chrome_is "$dat.raw.txt"
	jq -c '.traceEvents[] | select(.cat == "trutils.scheduling") | [.ph, .name, .args]' out.json >got
	grep -q '"RCU",{"vec":9}' got
	trencode -q -t chrome direct.trs | jq -c '.traceEvents[] | select(.cat == "trutils.scheduling") | [.ph, .name, .args]' | diff - got
}

@test "by way of Trace Event JSON, whose instants have CPUs, the tracks are the same" {
	local dat="$RECORDED/trace-cmd/i386-v6-sched-irq-timer"
	trdecode -q "$dat.dat" >direct.trs
	trencode -q -t chrome -o direct.json direct.trs
	trdecode -q direct.json >x.trs
	chrome_is "$dat.raw.txt"
	diff <(grep trutils.scheduling direct.json) <(grep trutils.scheduling out.json)
	diff <(trencode -q -t tsv -c time,name,cpu direct.trs) <(trencode -q -t tsv -c time,name,cpu x.trs)
	# and by way of Perfetto's bundles, where each event is once
	perfetto_is "$dat.raw.txt"
	trdecode -q out.pftrace >x.trs
	chrome_is "$dat.raw.txt"
	for type in sched_switch sched_waking irq_handler_entry; do
		assert_equal "$(trfilter -q -c "type == \"$type\"" x.trs)" "$(grep -c " $type: " "$dat.raw.txt")"
	done
	# events that lack what their kind needs, or have more than a bundle can hold, are instants; the latter are in bundles, too
	cat >few.json <<-'END'
		[{"ph":"i","ts":1,"pid":1,"cpu":0,"name":"sched_switch","args":{"prev_pid":1,"n":2}},
		{"ph":"i","ts":2,"pid":1,"cpu":0,"name":"sched_waking","args":{"comm":"a","pid":2,"prio":1.5,"target_cpu":0}},
		{"ph":"i","ts":3,"pid":1,"cpu":0,"name":"cpu_idle","args":{"state":1,"cpu_id":0,"more":"x"}},
		{"ph":"i","ts":4,"pid":1,"cpu":0,"name":"cpu_idle","args":{"state":2,"cpu_id":0}}]
	END
	trdecode -q few.json >x.trs
	if command -v protoc >/dev/null; then
		bundled >got
		run -0 awk '$1 == "type:" { print $2 } $1 ~ /^(sched|cpu_idle)/ { print $1 }' decoded
		assert_output $'INSTANT\nINSTANT\nINSTANT\ncpu_idle\nsched_waking\ncpu_idle'
	fi
	trdecode -q out.pftrace | trencode -q -t ndjson >got
	run -0 jq -c '[.type, .args]' got
	assert_output '["sched_switch",{"prev_pid":1,"n":2}]
["sched_waking",{"comm":"a","pid":2,"prio":1.5,"target_cpu":0}]
["cpu_idle",{"state":1,"cpu_id":0,"more":"x"}]
["cpu_idle",{"state":2,"cpu_id":0}]'
	# a "cpu" that is no CPU
	sed -i 's/"cpu":[01],/"cpu":-1,/' direct.json
	trdecode -q direct.json | trencode -q -t tsv --no-header -c cpu >got
	assert_equal "$(sort -u got)" ""
}

@test "by way of Perfetto's format, the states of threads keep their letters" {
	ends() {
		trencode -q -t chrome "$1" | jq -r '.traceEvents[] | select(.args.end_state?) | [.ts, .args.end_state] | @tsv' | sort
	}
	trdecode -q "$RECORDED/trace-cmd/i386-v6-sched-irq-timer.dat" >x.trs
	trencode -q -t perfetto x.trs | trdecode -q >again.trs
	ends x.trs >want
	ends again.trs >got
	grep -q $'\tI$' got
	# all that are there are as before
	run -0 comm -13 <(cut -f 2 want | sort -u) <(cut -f 2 got | sort -u)
	assert_output ""
}

@test "by way of Perfetto's format, wakeups of a source without wakings keep their CPU and flows" {
	cat >wake.txt <<-'END'
		# tracer: nop
		#
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		#              | |         |   |||||     |         |
		          <idle>-0       [000] d..1.   100.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=11 next_prio=120
		          <idle>-0       [001] d..1.   100.000150: sched_switch: prev_comm=b prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
		               a-11      [000] d..2.   100.000200: sched_wakeup: comm=b pid=12 prio=120 target_cpu=001
		          <idle>-0       [001] d..1.   100.000300: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=12 next_prio=120
		               b-12      [001] d..1.   100.000400: sched_switch: prev_comm=b prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
	END
	trdecode -q wake.txt >direct.trs
	trencode -q -t perfetto -o copy.pftrace direct.trs
	trdecode -q copy.pftrace >x.trs
	run -0 pipe "trencode -q -t ndjson x.trs | jq -c 'select(.type | startswith(\"sched_wak\")) | [.type, .time, .cpu, .tid, .args.comm, .args.pid, .args.target_cpu]'"
	assert_output '["sched_wakeup",100000200000,0,11,"b",12,1]'
	for copy in direct x; do
		trencode -q -t chrome -o $copy.json $copy.trs
		grep trutils.scheduling $copy.json | sort >$copy
	done
	grep -q '"ph":"f"' direct
	grep -q Runnable direct
	diff direct x
	# viewers look only at wakings
	need protoc
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <copy.pftrace >decoded
	run -0 awk '$1 ~ /^sched_wak/ { print $1 } /trusted_packet_sequence_id/ { n[$2] } END { print length(n) }' decoded
	assert_output $'sched_wakeup\nsched_waking\n2'
}

@test "by way of Perfetto's format, whose softirqs are numbers, they have the kernel's names" {
	local dat="$RECORDED/trace-cmd/i386-v6-sched-irq-timer"
	softirqs() {
		jq -c '.traceEvents[] | select(.cat == "trutils.scheduling" and .args.vec) | [.ts, .args.vec, .name]' "$1" | sort
	}
	trdecode -q "$dat.dat" | tee direct.trs | trencode -q -t chrome -o direct.json
	trencode -q -t perfetto direct.trs | trdecode -q | trencode -q -t chrome -o copy.json
	softirqs direct.json >want
	grep -q ',9,"RCU"' want
	softirqs copy.json | diff want -
	# a number that the kernel does not have
	cat >other.json <<-'END'
		[{"ph":"i","ts":1,"pid":1,"cpu":0,"name":"softirq_entry","args":{"vec":77}},
		{"ph":"i","ts":2,"pid":1,"cpu":0,"name":"softirq_exit","args":{"vec":77}}]
	END
	trdecode -q other.json | trencode -q -t chrome -o other.out
	run -0 jq -r '.traceEvents[] | select(.cat == "trutils.scheduling" and .ph == "X").name' other.out
	assert_output 'softirq 77'
}

@test "fields of samples that are read from Trace Event JSON are left out with a remark" {
	gunzip -c "$DATA/perf/sched.data.gz" >sched.data
	trdecode -q sched.data | trencode -q -t chrome -o out.json
	local n
	n=$(jq '[.samples[] | select(.args | del(.period) | length > 0)] | length' out.json)
	[ "$n" -gt 100 ]
	trdecode out.json 2>err >x.trs
	run -0 cat err
	assert_output "trdecode: out.json: $n samples have arguments beside the weight, which are left out"
	# the period is the weight
	echo '{"traceEvents":[],"samples":[{"ts":1,"pid":1,"weight":2,"args":{"period":2}}]}' >one.json
	trdecode one.json 2>err >x.trs
	[ ! -s err ]
}

@test "LTTng's scheduler: those of babeltrace2" {
	local trace=ctf-babeltrace/traces/succeed/lttng-tracefile-rotation
	need babeltrace2
	need_shared "$trace"
	# the first 130 ms
	trdecode -q --until 1571261795.65 "$RECORDED/$trace" >x.trs
	babeltrace2 --clock-seconds --no-delta "$RECORDED/$trace" 2>/dev/null | awk -F '[][]' '$2 < 1571261795.65' >listing
	chrome_is listing
	perfetto_is listing
}

@test "switches and wakings are rows of columns, except where the columns do not have a field" {
	need protoc
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >x.trs
	bundled >got
	# the first switch of each CPU, and those after a thread that changed its name: exec
	run -0 grep -c '^      sched_switch {' decoded
	assert_output 4
	trstat -q -g type -c count -t tsv x.trs >counts
	for type in sched_switch sched_waking sched_wakeup softirq_entry softirq_exit print; do
		assert_equal "$(grep -c $'\t'"$type"$'\t' got)" "$(awk -F '\t' -v t=$type '$1 == t { print $2 }' counts)"
	done
	# a column has a number for each row
	awk '$1 == "compact_sched" { delete n } /^      (switch|waking)_/ { n[$1]++ }
		/^    }/ && "switch_timestamp:" in n { for (c in n) { split(c, p, "_"); if (n[c] != n[p[1] "_timestamp:"]) exit 1 } }' decoded
	# events that bundles have no message for are instants, with their fields
	run -0 grep -c 'type: INSTANT' decoded
	assert_output "$(awk -F '\t' '/^(hrtimer|timer|tick|sched_stat|sched_migrate)_/ { n += $2 } END { print n }' counts)"
	grep -q 'name: "vruntime"' decoded
}

# A listing of ftrace: CPU 0 loses events, CPU 1 does not.
lossy() {
	cat >lossy.txt <<-'END'
		# tracer: nop
		#
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		#              | |         |   |||||     |         |
		               a-11      [000] d..2.    10.000100: sched_switch: prev_comm=a prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=b next_pid=12 next_prio=120
		               c-13      [001] d..2.    10.000150: sched_switch: prev_comm=c prev_pid=13 prev_prio=120 prev_state=R+ ==> next_comm=d next_pid=14 next_prio=98
		               b-12      [000] d.h2.    10.000200: irq_handler_entry: irq=9 name=acpi
		               b-12      [000] d.h2.    10.000300: softirq_raise: vec=1 [action=TIMER]
		CPU:0 [LOST 7 EVENTS]
		               e-15      [000] d..2.    10.000500: irq_handler_exit: irq=9 ret=handled
		               e-15      [000] d..2.    10.000600: sched_switch: prev_comm=e prev_pid=15 prev_prio=120 prev_state=D ==> next_comm=a next_pid=11 next_prio=120
		               d-14      [001] d..2.    10.000700: sched_switch: prev_comm=d prev_pid=14 prev_prio=98 prev_state=Z ==> next_comm=c next_pid=13 next_prio=120
	END
	trdecode -q lossy.txt >x.trs 2>/dev/null || (($? == 1))
}

@test "a gap ends what is open on its CPU, and no slice is across it" {
	lossy
	trencode -q -t chrome --rebase=none -o out.json x.trs
	run -0 pipe "jq -rc '.traceEvents[] | select(.cat == \"trutils.scheduling\") | [.name, .ts, .dur, .args.unseen, .args.unfinished, .args.open]' out.json | sort"
	assert_output '["Runnable",10000150,550,null,null,null]
["Running",10000100,200,null,true,null]
["Running",10000150,550,null,null,null]
["Running",10000500,100,true,null,null]
["Running",10000600,100,null,null,true]
["Sleeping",10000100,200,null,true,null]
["Uninterruptible",10000600,100,null,null,true]
["a",10000600,100,null,null,true]
["acpi",10000200,100,null,true,null]
["b",10000100,200,null,true,null]
["d",10000150,550,null,null,null]
["e",10000500,100,true,null,null]'
	run -0 pipe 'trencode -t chrome x.trs 2>&1 >/dev/null'
	assert_line 'trencode: 1 end of interrupts without a beginning: no slice'
	# those that did not end are left out, as calls are
	trencode -q -t chrome --unclosed=drop x.trs >out.json
	run -0 jq -c '[.traceEvents[] | select(.cat == "trutils.scheduling" and (.args.open or .args.unfinished))]' out.json
	assert_output '[]'
	need protoc
	bundled >/dev/null
	run -0 grep -c 'lost_events: true' decoded
	assert_output 1
}

@test "frequencies, idle states and memory are counters" {
	cat >power.txt <<-'END'
		# tracer: nop
		#
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		#              | |         |   |||||     |         |
		          <idle>-0       [000] d..1.   100.000100: cpu_idle: state=2 cpu_id=0
		          <idle>-0       [001] d..1.   100.000200: cpu_idle: state=0 cpu_id=1
		          <idle>-0       [000] d..1.   100.000300: cpu_idle: state=4294967295 cpu_id=0
		     kworker/0:1-25      [000] .....   100.000400: cpu_frequency: state=1800000 cpu_id=1
		     kworker/0:1-25      [000] .....   100.000450: cpu_frequency_limits: min=800000 max=3600000 cpu_id=1
		            work-300     [001] .....   100.000500: rss_stat: mm_id=7 curr=1 type=MM_ANONPAGES size=4096B
		            work-300     [001] .....   100.000600: rss_stat: mm_id=8 curr=0 type=MM_FILEPAGES size=8192B
	END
	trdecode -q power.txt >x.trs
	trencode -q -t chrome -o out.json x.trs
	run -0 jq -c '.traceEvents[] | select(.ph == "C") | [.name, .ts, .args]' out.json
	assert_output '["CPU 0 idle state",0,{"state":3}]
["CPU 1 idle state",100,{"state":1}]
["CPU 0 idle state",200,{"state":0}]
["CPU 1 frequency",300,{"kHz":1800000}]
["CPU 1 frequency limits",350,{"min":800000,"max":3600000}]
["rss anon",400,{"size":4096}]
["rss file of mm 8",500,{"size":8192}]'
	run -0 jq -c '[.traceEvents[] | select(.name == "rss anon")][0] | [.pid]' out.json
	assert_output '[300]'
	need protoc
	run -0 bundled
	assert_output $'100000100000\t0\tcpu_idle\tcpu_id=0 state=2
100000200000\t1\tcpu_idle\tcpu_id=1 state=0
100000300000\t0\tcpu_idle\tcpu_id=0 state=4294967295
100000400000\t0\tcpu_frequency\tcpu_id=1 state=1800000
100000450000\t0\tcpu_frequency_limits\tcpu_id=1 max_freq=3600000 min_freq=800000
100000500000\t1\trss_stat\tcurr=1 member=1 mm_id=7 size=4096
100000600000\t1\trss_stat\tcurr=0 member=0 mm_id=8 size=8192'
}

@test "the tracks have names; those of a thread name it and its number" {
	trdecode -q "$RECORDED/trace-cmd/s390x-v6-sched-irq-timer.dat" | trencode -q -t chrome -o out.json
	run -0 jq -r '.traceEvents[] | select(.name == "process_name" and .pid > 4194304) | .args.name' out.json
	assert_output $'CPUs\nThread states'
	run -0 jq -r '[.traceEvents[] | select(.name == "thread_name" and (.args.name | startswith("CPU ")) and .pid > 4194304) | .args.name] | sort | .[]' out.json
	assert_output $'CPU 0\nCPU 0 irq\nCPU 0 softirq\nCPU 1\nCPU 1 irq\nCPU 1 softirq'
	# each thread that ran before the last event has a track of states
	head -n -1 "$RECORDED/trace-cmd/s390x-v6-sched-irq-timer.raw.txt" |
		awk '/sched_switch/ { match($0, /next_pid=[0-9]+/); print substr($0, RSTART + 9, RLENGTH - 9) }' | grep -vx 0 | sort -un >ran
	jq -r '.traceEvents[] | select(.name == "Running") | .tid' out.json | sort -un | diff ran -
	run -0 jq -r '[.traceEvents[] | select(.name == "thread_name" and .args.name == "rcu_sched 14")] | length' out.json
	assert_output 1
}

@test "trdecode leaves the derived tracks out: the events are those of the source" {
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >x.trs
	trencode -q -t chrome x.trs | trdecode -q -f chrome >again.trs
	diff <(trencode -q -t tsv --no-header --columns time,name x.trs | sort) \
		<(trencode -q -t tsv --no-header --columns time,name again.trs | sort)
}

@test "flows keep their ids, their steps and where they end" {
	cat >flows.json <<-'END'
		[{"ph":"X","name":"a","ts":1,"dur":5,"pid":1},{"ph":"X","name":"b","ts":11,"dur":5,"pid":1,"tid":2},
		{"ph":"s","cat":"c","name":"go","id":7,"ts":2,"pid":1},{"ph":"t","cat":"c","name":"go","id":7,"ts":4,"pid":1,"args":{"n":3}},
		{"ph":"f","bp":"e","cat":"c","name":"go","id":7,"ts":12,"pid":1,"tid":2},{"ph":"s","cat":"c","name":"go","id":"0x7f","ts":13,"pid":1,"tid":2},
		{"ph":"f","cat":"c","name":"go","id2":{"local":"0x7f"},"ts":14,"pid":1},{"ph":"n","cat":"c","name":"go","id":9,"ts":15,"pid":1}]
	END
	trdecode flows.json >x.trs
	trencode -t chrome -o again.json --rebase=none x.trs
	flows() {
		jq -c '(.traceEvents? // .)[] | select(.ph | test("[stfn]")) | [.ph, .cat, .name, .id, .id2, .bp, .ts, .pid, .tid // .pid, .args]' "$1"
	}
	diff <(flows flows.json) <(flows again.json)
	need protoc
	trencode -t perfetto x.trs | protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto >decoded
	# the parts of one flow have one id, those of others another one
	run -0 awk '$1 == "timestamp:" { t = $2 } /flow_ids/ { if (!($2 in n)) n[$2] = ++k; print t, $1, n[$2] }' decoded
	assert_output '2000 flow_ids: 1
4000 flow_ids: 1
12000 terminating_flow_ids: 1
13000 flow_ids: 2
14000 terminating_flow_ids: 3'
	run -0 awk '/flow_ids/ && $2 < 1000 { print $2 }' decoded
	assert_output $'7\n7\n7\n127'
	# the id of the event that is no flow
	run -0 grep -cE 'uint_value: (7|9)$' decoded
	assert_output 1
}

@test "files and lines of trsym -l are arguments, and source locations of Perfetto" {
	trdecode -q "$U/srcline" | trsym -q -l >x.trs
	trencode -q -t ndjson x.trs | jq -r 'select(.line) | [.name, .file, .line] | @tsv' | sort -u >want
	[ -s want ]
	trencode -q -t chrome -o out.json x.trs
	jq -r '.traceEvents[] | select(.args.line) | [.name, .args.file, .args.line] | @tsv' out.json | sort -u | diff want -
	need protoc
	trencode -q -t perfetto x.trs | protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto >decoded
	awk '$1 == "packet" { kind = type = name = place = "" } / {$/ { kind = $1 } $1 == "iid:" { iid = $2 }
		kind == "event_names" && $1 == "name:" { names[iid] = $2 } $1 == "file_name:" { file = $2 }
		$1 == "line_number:" { lines[iid] = file "\t" $2 } $1 == "name_iid:" { name = $2 }
		$1 == "source_location_iid:" { print names[name] "\t" lines[$2] }' decoded | tr -d '"' | sort -u | diff want -
}

@test "a part has the tracks of --since and --until" {
	trdecode -q "$RECORDED/trace-cmd/v6-sched-irq-timer.dat" >x.trs
	first=$(trdecode --info x.trs | awk '/^first time/ { print $NF }')
	trencode -q --split 3ms -t chrome -o p.json x.trs
	# most intervals have no event
	for part in 009:28 018:61; do
		since=$((first + ${part#*:} * 3000000))
		trencode -q --since ${since}ns --until $((since + 3000000))ns -t chrome -o range.json x.trs
		(($(grep -c trutils.scheduling range.json) > 10))
		jq -c '.traceEvents[]' range.json | sort | diff - <(jq -c '.traceEvents[]' p.json."${part%:*}" | sort)
	done
}
