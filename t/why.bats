#!/usr/bin/env bats
# trstat --why: whom calls waited for, against t/tools/waits.py, a model of the text of perf script.
bats_require_minimum_version 1.5.0

load lib

FUNCTIONS='chain lock consume urgent join pause_5ms save'

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	tar -xJf "$DATA/waits/recording.tar.xz"
	trdecode -q app kernel.data | trsym -q -o s.trs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# why STREAM FUNCTION [OPTION...]
why() {
	trstat -q --why "name == \"$2\"" "${@:3}" "$1"
}

# paths STREAM FUNCTION: the rows of the model, whose parts have no functions
paths() {
	why "$1" "$2" -t tsv | awk -F '\t' -v OFS='\t' '
		NR > 1 { sum[$3 OFS $4 OFS $5 OFS $6] += $1 }
		END { for (i in sum) print sum[i], i }' | LC_ALL=C sort
}

# numbers: rows in which threads have numbers alone, as a program that was executed has several names
numbers() {
	sed -E 's/\t[^\t]*-([0-9]+)/\t\1/g' | awk -F '\t' -v OFS='\t' '
		{ n = $1; $1 = ""; sum[$0] += n }
		END { for (i in sum) print sum[i] i }' | LC_ALL=C sort
}

# text LINE...: the text of ftrace, of which each line here is TID CPU US EVENT FIELDS: "7 0 120 sched_switch ..."
text() {
	printf '%s\n' "$@" | awk '{
		tid = $1; cpu = $2; us = $3; event = $4; $1 = $2 = $3 = $4 = ""
		sub(/^ */, "")
		printf "%16s-%-7d [%03d] d..2.    10.%06d: %s: %s\n", tid ? "t" tid : "<idle>", tid, cpu, us, event, $0
	}'
}

# sw PREV STATE NEXT: the fields of a switch between threads named by their tids
sw() {
	echo "prev_comm=t$1 prev_pid=$1 prev_prio=${4:-120} prev_state=$2 ==> next_comm=t$3 next_pid=$3 next_prio=${5:-120}"
}

wk() {
	echo "comm=t$1 pid=$1 prio=120 target_cpu=$2"
}

# Rows without the reason of what is unknown: on a busy machine a recording may lack the first switch
# of a thread, and then there are two.
unreasoned() {
	awk -F '\t' -v OFS='\t' '$3 != "unknown" { print; next } { sum[$2 OFS $3 OFS $4] += $1 }
		END { for (i in sum) print sum[i], i }' | LC_ALL=C sort
}

# of TID < TEXT: the parts of a thread's time, in us, and those of the model
of() {
	cat >text
	trdecode -q text | trstat -q --why "tid == $1" -t tsv | tail -n +2 |
		awk -F '\t' -v OFS='\t' '{ print $1 / 1000, $3, $4, $5 ($6 ? OFS $6 : "") }' | LC_ALL=C sort
}

@test "the paths are those of the model, to the ns: pipes, mutexes, conditions, timers, a disk" {
	for f in $FUNCTIONS; do
		awk -F '\t' -v f="$f" '$1 == f' "$DATA/waits/paths.tsv" | cut -f 2- | numbers >theirs
		[ -s theirs ]
		paths s.trs "$f" | numbers | diff theirs - || fail "$f"
	done
}

@test "the same of a fresh recording, each path that of the program, at most 2 % unknown" {
	need perf
	need uftrace
	"$DATA/waits/record.sh" "$BATS_TEST_TMPDIR" 2>err || skip "perf record: $(tail -n 1 err)"
	cd "$BATS_TEST_TMPDIR"
	# of some threads of a sandbox perf records no switch: the program then says that it does not know, the model guesses
	sed -nE 's/.*\[([0-9]+)\].* sched:sched_switch: .*prev_pid=([0-9]+) .* next_pid=([0-9]+) .*/\1 \2 \3/p' kernel.txt |
		awk '$1 in on && on[$1] != $2 { exit 1 } { on[$1] = $3 }' || skip 'the recording lacks switches'
	trdecode -q app kernel.data | trsym -q -o s.trs
	for f in $FUNCTIONS main; do
		awk -v f="$f" '$3 ~ /^\[(entry|exit)/ && index($0, " " f "(") {
			sub(":", "", $2)
			if ($3 ~ /entry/) begin = $1; else print $2, begin, $1
		}' app.txt >spans
		# shellcheck disable=SC2046 # words
		python3 "$ROOT/t/tools/waits.py" kernel.txt $(cat spans) | numbers >theirs
		diff <(unreasoned <theirs) <(paths s.trs "$f" | numbers | unreasoned) || fail "$f"
		awk -F '\t' '{ sum += $1; unknown += $3 == "unknown" ? $1 : 0 } END { exit !(sum && unknown < sum / 50) }' theirs ||
			fail "$f: unknown"
	done
}

@test "random threads whose calls are inside each other: each path that of the model, each time one slice" {
	for seed in 1 2; do
		rm -rf random
		mkdir random
		python3 "$ROOT/t/tools/wait_traces.py" "$seed" 600 random
		trdecode -q -o random.trs random/trace
		for f in f0 f1 f2 f3 f4 f5; do
			# shellcheck disable=SC2046 # words
			python3 "$ROOT/t/tools/waits.py" random/kernel.txt $(awk -v f=$f '$1 == f { print $2, $3, $4 }' random/spans) |
				LC_ALL=C sort >theirs
			[ -s theirs ]
			paths random.trs $f | diff theirs - || fail "seed $seed, $f"
		done
		# the slices of a thread: the times in which it is in a call, each once
		sort -k 2,2n -k 3,3n random/spans | awk '$2 != tid || $3 >= end { sum[$2] += $4 - $3; tid = $2; end = $4; next }
			$4 > end { sum[tid] += $4 - end; end = $4 } END { for (i in sum) print "t" i "-" i, sum[i] }' | LC_ALL=C sort >theirs
		trencode -q -t chrome --why 'dur >= 0' random.trs | jq -r '
			([.traceEvents[] | select(.name == "process_name" and (.args.name | startswith("Critical path of ")))
				| {key: (.pid | tostring), value: .args.name[17:]}] | from_entries) as $of
			| [.traceEvents[] | select(.ph == "X" and .args.depth != null) | {of: $of[.pid | tostring], dur: (.dur * 1000 | round)}]
			| group_by(.of)[] | "\(.[0].of) \(map(.dur) | add)"' | LC_ALL=C sort | diff theirs - || fail "slices of seed $seed"
	done
}

@test "each thread of a chain does its work: depths, functions" {
	run -0 pipe "trstat -q --why 'name == \"chain\"' -t ndjson s.trs | jq -c 'select(.what == \"running\" and
		.function == \"compute\") | [.depth, (.thread | sub(\"-.*\"; \"\")), (.total / 1000000 | round)]' | sort"
	assert_output - <<'END'
[0,"main",2]
[1,"a",2]
[2,"b",4]
[3,"c",6]
END
}

@test "the parts of calls add up to their times, in each format" {
	for f in $FUNCTIONS; do
		total=$(trstat -q --where "name == \"$f\"" -c total -t tsv s.trs | sed -n 2p | cut -f 3)
		[ "$total" -gt 0 ]
		[ "$(why s.trs "$f" -t csv | awk -F, '{ sum += $1 } END { print sum }')" = "$total" ]
		[ "$(why s.trs "$f" -t json | jq 'map(.total) | add')" = "$total" ]
		[ "$(why s.trs "$f" -t folded | awk '{ sum += $NF } END { print sum }')" = "$total" ]
	done
}

@test "folded stacks have the threads of the chain" {
	run -0 pipe "trstat -q --why 'name == \"chain\"' -t folded s.trs | sed 's/-[0-9]*;/;/g; s/ [0-9]*$//' | grep running"
	assert_line 'chain;running in compute'
	assert_line 'chain;waiting for a;waiting for b;running in compute'
	assert_line 'chain;waiting for a;waiting for b;waiting for c;running in compute'
}

@test "a condition on what is known at the end" {
	run -0 pipe "trstat -q --why 'name == \"save\" && dur > 100s' s.trs"
	assert_output '0 calls, 0.000 us, 0.0 % unknown'
	trstat -q --why 'name == "save" && dur > 1us' -t csv s.trs >ours
	trstat -q --why 'name == "save"' -t csv s.trs | diff - ours
	run -0 trstat --why 'name == "save" && dur > 100s' s.trs
	assert_output --partial "no call for which 'name == \"save\" && dur > 100s' is true"
}

@test "a thread: its time from its first event, by turns of other threads, to the end" {
	text "7 0 100 sched_switch $(sw 7 S 8)" "8 0 150 sched_waking $(wk 7 0)" "8 0 170 sched_switch $(sw 8 R 7)" \
		"7 0 200 sched_switch $(sw 7 R+ 9)" "9 0 260 sched_switch $(sw 9 S 7)" "7 0 300 sched_switch $(sw 7 X 0)" \
		"0 0 400 sched_switch $(sw 0 R 9)" | of 7 >ours
	diff - ours <<-'END'
		20	0	waiting for a CPU	t7-7	t8-8
		50	1	running	t8-8
		60	0	waiting for a CPU	t7-7	t9-9
		70	0	running	t7-7
	END
}

@test "an idle CPU after a wakeup, a throttled thread after it was runnable" {
	text "7 0 100 sched_switch $(sw 7 S 0)" "8 1 150 sched_waking $(wk 7 0)" "0 0 170 sched_switch $(sw 0 R 7)" \
		"7 0 200 sched_switch $(sw 7 R 0)" "0 0 260 sched_switch $(sw 0 R 7)" "7 0 300 sched_switch $(sw 7 X 0)" |
		of 7 >ours
	diff - ours <<-'END'
		20	0	waiting for an idle CPU	t7-7
		50	1	unknown	t8-8	no switch recorded
		60	0	throttled	t7-7
		70	0	running	t7-7
	END
}

@test "a preempted thread waits for the CPU that it left, until another one takes it" {
	text "0 0 90 sched_switch $(sw 0 R 7)" "8 1 90 sched_switch $(sw 8 S 0)" "7 0 100 sched_switch $(sw 7 R 9)" \
		"0 1 140 sched_switch $(sw 0 R 7)" "7 1 150 sched_switch $(sw 7 R 0)" \
		"9 0 160 sched_migrate_task comm=t7 pid=7 prio=120 orig_cpu=1 dest_cpu=0" \
		"9 0 170 sched_switch $(sw 9 R 7)" "7 0 180 sched_switch $(sw 7 R 9)" \
		"9 0 183 sched_migrate_task comm=t7 pid=7 prio=120 orig_cpu=0 dest_cpu=1" \
		"0 1 190 sched_switch $(sw 0 R 7)" "7 1 200 sched_switch $(sw 7 X 0)" | of 7 >ours
	diff - ours <<-'END'
		10	0	throttled	t7-7
		40	0	running	t7-7
		53	0	waiting for a CPU	t7-7	t9-9
		7	0	waiting for an idle CPU	t7-7
	END
}

@test "rows of one time go by their order; a wakeup may be read after the switch" {
	before=("0 0 90 sched_switch $(sw 0 R 7)" "0 1 91 sched_switch $(sw 0 R 8)" "7 0 100 sched_switch $(sw 7 S 0)"
		"8 1 120 sched_switch $(sw 8 S 0)" "0 2 130 irq_handler_entry irq=5 name=net" "0 2 130 sched_waking $(wk 8 1)"
		"0 2 130 irq_handler_exit irq=5 ret=handled" "0 1 130 sched_switch $(sw 0 R 8)")
	wakes="8 1 130 sched_waking $(wk 7 0)" sleeps="8 1 130 sched_switch $(sw 8 S 0)" runs="0 0 130 sched_switch $(sw 0 R 7)"
	after=("7 0 130 sched_waking $(wk 8 1)" "0 1 140 sched_switch $(sw 0 R 8)" "7 0 150 sched_switch $(sw 7 X 0)")
	cat >theirs <<-'END'
		10	1	waiting for an interrupt	t8-8	irq net
		20	1	running	t8-8
		30	0	running	t7-7
	END
	text "${before[@]}" "$wakes" "$sleeps" "$runs" "${after[@]}" | of 7 | diff theirs -
	text "${before[@]}" "$runs" "$wakes" "$sleeps" "${after[@]}" | of 7 | diff theirs -
}

@test "a loss of another CPU leaves what is known; of its own CPU it is the reason" {
	lines=("0 1 90 sched_switch $(sw 0 R 9)" "0 0 91 sched_switch $(sw 0 R 7)" "7 0 100 sched_waking $(wk 8 1)"
		"7 0 104 sched_switch $(sw 7 S 0)" "9 1 108 sched_switch $(sw 9 R 8)" "8 1 118 sched_waking $(wk 7 0)"
		"0 0 120 sched_switch $(sw 0 R 7)" "7 0 130 sched_switch $(sw 7 X 0)")
	text "${lines[@]}" | sed '/ 10.000108:/i CPU:3 [LOST 20 EVENTS]' | of 7 >ours
	diff - ours <<-'END'
		10	1	running	t8-8
		2	0	waiting for an idle CPU	t7-7
		23	0	running	t7-7
		4	1	waiting for a CPU	t8-8	t9-9
	END
	text "${lines[@]}" | sed '/ 10.000108:/i CPU:0 [LOST 20 EVENTS]' | of 7 >ours
	diff - ours <<-'END'
		14	0	unknown	t7-7	events lost
		2	0	waiting for a CPU	t7-7
		23	0	running	t7-7
	END
}

@test "an inversion of a thread two levels above; nested interrupts by the innermost one" {
	text "0 0 90 sched_switch $(sw 0 R 1 120 10)" "0 1 90 sched_switch $(sw 0 R 2)" "0 2 90 sched_switch $(sw 0 R 3 120 130)" \
		"1 0 100 sched_switch $(sw 1 S 0 10)" "2 1 110 sched_switch $(sw 2 S 0)" "3 2 120 sched_switch $(sw 3 R 4 130 50)" \
		"4 2 160 sched_switch $(sw 4 S 3 50 130)" "3 2 170 sched_waking $(wk 2 1)" "0 1 170 sched_switch $(sw 0 R 2)" \
		"2 1 180 sched_waking $(wk 1 0)" "0 0 180 sched_switch $(sw 0 R 1 120 10)" \
		"1 0 185 softirq_entry vec=3 [action=NET_RX]" "1 0 186 irq_handler_entry irq=33 name=disk" \
		"1 0 188 irq_handler_exit irq=33 ret=handled" "1 0 189 softirq_exit vec=3 [action=NET_RX]" \
		"1 0 190 sched_switch $(sw 1 X 0 10)" | of 1 >ours
	diff - ours <<-'END'
		16	0	running	t1-1
		2	0	interrupted	t1-1	irq disk
		2	0	interrupted	t1-1	softirq NET_RX
		20	1	running	t2-2
		20	2	running	t3-3
		40	2	priority inversion	t3-3	t4-4
	END
}

@test "a thread begins with a switch to it, a later one of its tid with its wakeup; a thread without switches" {
	text "0 0 100 sched_switch $(sw 0 R 7)" "7 0 110 sched_switch $(sw 7 X 0)" "8 1 200 sched_wakeup_new $(wk 7 0)" \
		"0 0 210 sched_switch $(sw 0 R 7)" "7 0 230 sched_switch $(sw 7 S 0)" "8 1 260 sched_waking $(wk 7 0)" \
		"0 0 270 sched_switch $(sw 0 R 7)" "7 0 280 sched_switch $(sw 7 X 0)" | of 7 >ours
	diff - ours <<-'END'
		20	0	waiting for an idle CPU	t7-7
		30	1	unknown	t8-8	no switch recorded
		40	0	running	t7-7
	END
	text "7 0 100 sched_waking $(wk 8 1)" "7 0 110 sched_switch $(sw 7 S 0)" "8 1 140 sched_waking $(wk 7 0)" \
		"8 1 150 sched_waking $(wk 9 1)" | of 8 | diff - <(printf '50\t0\tunknown\tt8-8\tno switch recorded\n')
}

@test "threads that wake each other at one time, and a wakeup by itself: no endless path" {
	for i in 1 2 3; do
		text "7 0 100 sched_switch $(sw 7 S 8)" "8 0 150 sched_switch $(sw 8 S 9)" "8 1 200 sched_waking $(wk 7 0)" \
			"7 1 200 sched_waking $(wk 8 0)" "7 1 200 sched_waking $(wk 7 0)" "9 0 200 sched_switch $(sw 9 S 7)" \
			"7 0 250 sched_switch $(sw 7 S 0)" "7 0 250 sched_waking $(wk 7 0)" "0 0 260 sched_switch $(sw 0 R 7)" |
			of 7 >ours
		[ "$(cut -f 1 ours | paste -sd + | bc)" = 160 ]
		grep -q unknown ours
	done
}

@test "a thread that is woken on its way to sleep waits for a CPU; migrations are counted" {
	text "7 0 100 sched_switch $(sw 7 S 9)" "9 0 105 sched_switch $(sw 9 S 7)" "8 1 118 sched_waking $(wk 7 0)" \
		"7 0 120 sched_switch $(sw 7 S 9)" "9 0 130 sched_wakeup $(wk 7 0)" \
		"9 0 140 sched_migrate_task comm=t7 pid=7 prio=120 orig_cpu=0 dest_cpu=1" \
		"8 1 160 sched_switch $(sw 8 R 7)" "7 1 170 sched_switch $(sw 7 X 8)" | of 7 >ours
	diff - ours <<-'END'
		20	0	waiting for a CPU	t7-7	t8-8
		20	0	waiting for a CPU	t7-7	t9-9
		25	0	running	t7-7
		5	0	unknown	t7-7	no wakeup recorded
	END
	run -0 pipe "trdecode -q text | trstat --why 'tid == 7' 2>&1 >/dev/null"
	assert_line 'trstat: 1 migration to another CPU while a thread waited for its CPU'
}

@test "a chain of more threads than are followed has an end" {
	for ((i = 1; i <= 80; i++)); do
		sleeps+=("$i 0 $((100 + i)) sched_switch $(sw "$i" S $((i + 1)))")
		wakes=("$((i + 1)) 1 $((400 - i)) sched_waking $(wk "$i" 0)" "${wakes[@]}")
	done
	text "${sleeps[@]}" "${wakes[@]}" "81 0 500 sched_switch $(sw 81 S 1)" | of 1 >ours
	grep -q $'\tunknown\t.*chain too deep' ours
	[ "$(cut -f 1 ours | paste -sd + | bc)" = 399 ]
}

@test "which events a trace lacks, and how they are recorded" {
	text "7 0 100 sched_switch $(sw 7 S 8)" "8 0 150 sched_waking $(wk 7 0)" "8 0 170 sched_switch $(sw 8 R 7)" >text
	run -0 pipe "grep -v sched_switch text | trdecode -q | trstat --why 'tid == 7' 2>&1 >/dev/null"
	assert_line --partial 'this trace has no sched_switch'
	run -0 pipe "grep -v sched_wak text | trdecode -q | trstat --why 'tid == 7' 2>&1 >/dev/null"
	assert_line --partial 'this trace has no sched_waking: whom a thread waited for is not known; trace-cmd record -e sched_switch'
	run -0 pipe "trdecode -q app | trstat --why 'name == \"main\"' 2>&1 >/dev/null"
	assert_line --partial 'this trace has no sched_switch'
	# switches of threads without sched_switch; no row of a loss
	run -0 pipe "trdecode -q '$DATA/perf/switch.data' | trstat --why 'comm =~ \".\"' 2>&1 >/dev/null"
	assert_line --partial 'this trace has no sched_waking'
	run -0 pipe "trdecode -q '$DATA/perf/sched.data.gz' | trstat -q --why 'comm =~ \".\"' -t tsv"
	assert_output --partial 'no switch recorded'
	refute_output --partial 'events lost'
	run -0 pipe "trstat --why 'name == \"main\"' s.trs 2>&1 >/dev/null"
	refute_line --partial 'this trace has no'
}

@test "trdecode --list names what --why lacks, if the trace has some of the events" {
	run -0 --separate-stderr trdecode --list "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat"
	[[ $stderr == 'trdecode: this trace has no sched_waking, but sched_wakeup: '*'; trace-cmd record -e sched_switch '* ]]
	trstat --why 'comm == "sshd"' -o /dev/null <(trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat") 2>err || true
	grep -qF "${stderr#trdecode: }" err
	run -0 --separate-stderr trdecode --list s.trs
	assert_equal "$stderr" ''
	run -0 --separate-stderr trdecode --list -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat"
	assert_equal "$stderr" ''
	run -0 --separate-stderr trdecode --list "$DATA/apitrace/v6.trace"
	assert_equal "$stderr" ''
}

@test "what goes with --why" {
	for other in '-t folded -n 1' '-g name' '-c count' '-s name' '--pair wakeup' '--cover kind' '--partial' '--merge' '-i 1s' '--slowest 3' \
		'--where cpu' '--since 1' '--fail-if count>1' '--diff' '-t prom'; do
		# shellcheck disable=SC2086 # options
		run -2 trstat --why 'name == "main"' $other s.trs
	done
	run -2 trstat --why 'running > 1ms' s.trs
	run -2 trstat --why 'stack =~ "x"' s.trs
	run -2 trencode -t csv --why 'name == "main"' s.trs
}

@test "trencode --why: the slices are the parts, in tracks of threads, with flows between them" {
	trencode -q -t chrome --why 'name == "chain"' -o x.json s.trs
	jq -r '.traceEvents[] | select(.ph == "X" and .args.depth != null) | [.args.depth, .name, .dur] | @tsv' x.json |
		awk -F '\t' -v OFS='\t' '{ sum[$1 OFS $2] += $3 } END { for (i in sum) printf "%s\t%.0f\n", i, 1000 * sum[i] }' |
		LC_ALL=C sort >ours
	why s.trs chain -t folded | awk '{ n = $NF; sub(/ [0-9]+$/, ""); depth = split($0, part, ";") - 2
		sum[depth "\t" part[depth + 2]] += n } END { for (i in sum) print i "\t" sum[i] }' | LC_ALL=C sort | diff - ours
	# each flow begins in a slice of one thread, and ends at the begin of the next slice, of another
	jq -e '[.traceEvents[] | select(.name == "critical path")] | group_by(.id) | length > 3 and all(length == 2 and
		.[0].tid != .[1].tid and .[0].ph == "s" and .[1].ph == "f" and ((.[1].ts - .[0].ts) * 1000 | round) == 1)' x.json
	jq -r '.traceEvents[] | select(.ph == "M" and .derived and (.args.name // "" | test("^(Critical path of main|main|a|b|c)-"))) |
		.args.name | sub("-.*"; "")' x.json | LC_ALL=C sort >names
	for name in 'Critical path of main' main a b c; do grep -qx "$name" names; done
	trencode -q -t perfetto --why 'name == "chain"' -o x.pftrace s.trs
	trdecode -q x.pftrace | trfilter 'name =~ "^(running|waiting|interrupted)"' | trencode -q -t csv -c name,dur --no-header |
		tr , '\t' | awk -F '\t' '{ sum[$1] += $2 } END { for (i in sum) print i "\t" sum[i] }' | LC_ALL=C sort >perfetto
	awk -F '\t' '{ sum[$2] += $3 } END { for (i in sum) print i "\t" sum[i] }' ours | LC_ALL=C sort | diff - perfetto
}

# refused MESSAGE OPTION...
refused() {
	run -2 trstat "${@:2}" s.trs
	assert_line "trstat: $1"
}

@test "-t folded is of --why alone, -t svg of --diff, in every view" {
	for view in --group=tid --tree --callers=save --callees=save --hist --timeline=10ms --slowest=3 '--pair=wakeup --unpaired' \
		'--explain-tail=depth>0' --interval=1s '--cover=depth>0' --partial --merge '--diff s.trs'; do
		# shellcheck disable=SC2086 # words
		refused '-t folded goes with --why; trencode -t folded writes the calls of a trace' -t folded $view
	done
	refused '-t svg goes with --diff, --hist, --timeline, --heatmap; trencode -t svg draws one trace' -t svg --why 'name == "save"'
}

@test "--why has no columns for --fail-if; --strict is for each view" {
	refused '--fail-if does not go with --why, which has no columns' --why 'name == "save"' --fail-if 'max > 1us'
	pipe "trdecode -q -o lost.trs '$DATA/ctf/lost.tar.gz'"
	for view in '--why=comm =~ "."' '--explain-tail=name =~ "."' --slowest=3 --hist; do
		run -0 trstat -q "$view" lost.trs
		run -1 trstat -q --strict "$view" lost.trs
	done
}

@test "a thread begins when another one first wakes it, or hands its CPU to it" {
	text "7 0 100 sched_waking $(wk 8 0)" "7 0 130 sched_switch $(sw 7 S 8)" "8 0 150 sched_switch $(sw 8 S 9)" \
		"9 0 200 sched_switch $(sw 9 S 0)" >both
	of 8 <both | diff - <(printf '%s\n' '20	0	running	t8-8' '30	0	waiting for a CPU	t8-8	t7-7' \
		'50	0	unknown	t8-8	not woken before the end')
	of 9 <both | diff - <(printf '%s\n' '50	0	running	t9-9')
	run -0 pipe "trdecode -q both | trstat -q --why 'comm == \"t9\"' -t csv | tail -n +2"
	assert_output '50000,1,0,running,t9-9,,'
	# a field that another thread does not name: from its first event
	run -0 pipe "trdecode -q both | trstat -q --why 'tid == 9 && ppid == 1'"
	assert_output --partial '0 threads'
}

@test "a call that hangs lasts until the end of the trace, that of a thread that exits until then" {
	text "0 0 90 sched_switch $(sw 0 R 7)" '7 0 100 tracing_mark_write B|7|hangs' "7 0 110 sched_switch $(sw 7 S 0)" \
		"0 1 120 sched_switch $(sw 0 R 8)" '8 1 130 tracing_mark_write B|8|ends' "8 1 170 sched_switch $(sw 8 X 0)" \
		"0 1 200 sched_switch $(sw 0 R 9)" >open
	run -0 pipe "trdecode -q open | trstat -q --why 'name == \"hangs\"' -t csv | tail -n +2"
	assert_output - <<-'END'
		90000,1,0,unknown,t7-7,not woken before the end,hangs
		10000,1,0,running,t7-7,,hangs
	END
	run -0 pipe "trdecode -q open | trstat -q --why 'name == \"ends\"' -t csv | tail -n +2"
	assert_output 40000,1,0,running,t8-8,,ends
	# the condition tests the whole time
	run -0 pipe "trdecode -q open | trstat -q --why 'dur > 99us' | head -n 1"
	assert_output '1 call, 100.000 us, 90.0 % unknown'
}

@test "a call of more events than are kept is divided as it runs" {
	awk 'function at(event, tid) {
			us += 3
			printf "%16s-%-7d [000] d..2. %5d.%06d: %s\n", "t" tid, tid, 10 + int(us / 1000000), us % 1000000, event
		}
		function turn(from, to) {
			at("sched_switch: prev_comm=t" from " prev_pid=" from " prev_prio=120 prev_state=S ==> next_comm=t" to " next_pid=" to " next_prio=120", from)
		}
		BEGIN {
			turn(0, 7)
			at("tracing_mark_write: B|7|long", 7)
			for (i = 0; i < 100000; i++) {
				turn(7, 8)
				at("sched_waking: comm=t7 pid=7 prio=120 target_cpu=000", 8)
				turn(8, 7)
			}
			at("tracing_mark_write: E|7", 7)
		}' | trdecode -q -o long.trs
	run -0 pipe "trstat -q --why 'name == \"long\"' -t csv long.trs | tail -n +2"
	assert_output - <<-'END'
		300003000,100001,0,running,t7-7,,long
		300000000,100000,0,waiting for a CPU,t7-7,t8-8,long
		300000000,100000,1,running,t8-8,,
	END
}
