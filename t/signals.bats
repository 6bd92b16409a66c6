# The first SIGINT or SIGTERM ends the input, and every program finishes its work; a second one ends the program.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	python3 -c 'for i in range(2000):
		print(f"  task-1 [000] d..1. {100 + i // 1000}.{i % 1000:06}: sched_wakeup: comm=a pid={i} prio=120 target_cpu=000")' >k.txt
	EVENTS=$(head -c 60000 k.txt | grep -c target_cpu=000$)
	# the shell of a pipe whose program dies of SIGINT would die of it, too
	printf '#!/bin/bash\n%s\n' 'trap exit INT; head -c "${2:-60000}" "$1"; sleep 9 >/dev/null & wait' >slow.sh
	printf '#!/bin/bash\n%s\n' 'trap "" INT TERM; exec ./slow.sh "$@"' >deaf.sh
	# late.sh FILE BYTES SECONDS: the rest of the file is written so long after the signal
	printf '#!/bin/bash\n%s\n' 'trap : INT; head -c "$2" "$1"; sleep 9 >/dev/null & wait; trap "" INT; sleep "$3"; tail -c +$(($2 + 1)) "$1"' >late.sh
	chmod +x slow.sh deaf.sh late.sh
	RUNS='ended by a signal: its writer still runs, and the rest is not read'
}

# live OPTION... COMMAND: t/tools/live.py, the time that it took after the signal in $after, ms
live() {
	run --separate-stderr "$ROOT/t/tools/live.py" -w 0.25 "$@"
	after=${stderr_lines[-1]#ended after } after=${after% ms}
	unset 'stderr_lines[-1]'
}

quiet() {
	((!${#stderr_lines[@]})) || { printf '%s\n' "${stderr_lines[@]}" && false; }
}

@test "SIGINT of the terminal: what was recorded is in the table and in the file" {
	live './slow.sh k.txt | trdecode | trsym | trfilter 1 | trstat -q -c count'
	assert_success
	[[ ${lines[1]} == *" $EVENTS  sched_wakeup" ]]
	quiet
	for p in 'trdecode -o f' 'trdecode | trstat -o f' 'trdecode | trencode -t csv -o f' 'trdecode | trfilter 1 -o f' \
		'trdecode | trsym -o f'; do
		live "./slow.sh k.txt | $p"
		assert_success
		assert [ -s f ]
		quiet
		mv f "${p//[ |]/}"
	done
	[[ $(wc -l <'trdecodetrencode-tcsv-of') == $((EVENTS + 1)) ]]
	[[ $(trfilter -c 1 trdecode-of) == "$EVENTS" && $(trfilter -c 1 trdecodetrsym-of) == "$EVENTS" ]]
}

@test "a writer that ignores the signal is waited for, at most 2 seconds" {
	live 'trdecode < <(./deaf.sh k.txt) | trfilter 1 | trstat -q -c count'
	assert_success
	[[ ${lines[1]} == *" $EVENTS  sched_wakeup" ]]
	assert_equal "${stderr_lines[*]}" "trdecode: <stdin>: $RUNS"
	((after > 1900 && after < 3000))
	trdecode -q -o fib.trs "$DATA/uftrace/fib"
	live 'trstat -q -n 1 -c count < <(./deaf.sh fib.trs 20000)'
	assert_success
	assert [ ${#lines[@]} = 2 ]
	quiet
	((after > 3900 && after < 5000))
}

@test "a writer that needs up to 2 seconds after the signal: all of it is read" {
	live './late.sh k.txt 3000 1.6 | trdecode | trsym -q | trstat -q -c count'
	assert_success
	quiet
	[[ ${lines[1]} == *" 2000  sched_wakeup" ]]
	# a stream ends after its writer has waited, and finished
	trdecode -q -o k.trs k.txt
	live './late.sh k.trs 3000 2.3 | trdecode | trfilter -q 1 | trstat -q -c count'
	assert_success
	quiet
	[[ ${lines[1]} == *" 2000  sched_wakeup" ]]
}

@test "the last program alone gets the signal: it ends, and the others with their next write" {
	live -s TERM -o trstat "(trap '' TERM; while cat k.txt; do sleep 0.05; done) | trdecode -q | trsym -q | trstat -q -c count --fail-if 'count > 1000000'"
	assert_success
	assert_equal "${stderr_lines[*]}" "trstat: <stdin>: $RUNS"
	[[ ${lines[1]} == *" sched_wakeup" ]]
	((after > 3900 && after < 5500))
}

@test "SIGTERM of one program, or of all at once" {
	live -s TERM -o trdecode 'trdecode < <(./slow.sh k.txt) | trstat -q -c count'
	assert_success
	[[ ${lines[1]} == *" $EVENTS  sched_wakeup" ]]
	live -s TERM './slow.sh k.txt | trdecode | trstat -q -c count -o f'
	for i in {1..20}; do [[ -e f ]] || sleep 0.1; done # the shell is gone first
	[[ $(tail -n 1 f) == *" $EVENTS  sched_wakeup" ]]
}

@test "a stop by systemd of the example's service: metrics of what was recorded, and no process is left" {
	local command c
	command=$(sed -n 's/^ExecStart=//p' "$ROOT/doc/examples/trstat-monitor.service")
	[[ $command == *' -o "$METRICS" '* ]]
	python3 -c 'for i in range(500):
		t = f"100.{i:03}"
		print(f"  a-1 [000] d..1. {t}000: sched_wakeup: comm=b pid=2 prio=120 target_cpu=000")
		for (c, p), (n, q), us in ((("a", 1), ("b", 2), 10), (("b", 2), ("a", 1), 20)):
			print(f"  {c}-{p} [000] d..2. {t}0{us}: sched_switch: prev_comm={c} prev_pid={p} prev_prio=120 prev_state=S"
				f" ==> next_comm={n} next_pid={q} next_prio=120")' >wakeups.txt
	mkfifo fifo
	export TRACE=$PWD/fifo METRICS=$PWD/trstat.prom
	# the recorder does not belong to the service, and runs on
	for c in "$command" "${command/' -o "$METRICS"'/}"; do
		{ head -c 90000 wakeups.txt; exec sleep 1; } >fifo 3>&- &
		live -w 0.5 -s TERM --stop "exec $c"
		assert_success
		quiet
		((after < 4000))
		# of the service with -o, or of the journal
		[[ -e trstat.prom ]] || echo "$output" >trstat.prom
		run -0 grep -c "^trstat_events{next_comm=\"b\"} $(head -c 90000 wakeups.txt | grep -c 'next_comm=b.*120$')\$" trstat.prom
		rm -f trstat.prom
	done
}

@test "a second signal: status 130 or 143, and no file" {
	live -2 0.3 'trdecode -o f < <(./deaf.sh k.txt)'
	assert_failure 130
	live -2 0.3 -s TERM 'exec trdecode -o f < <(./deaf.sh k.txt)'
	assert_failure 143
	trdecode -q -o fib.trs "$DATA/uftrace/fib"
	live -2 0.3 'exec trencode -q -t uftrace -o d < <(./deaf.sh fib.trs 20000)'
	assert_failure 130
	run ls -A
	refute_line --regexp '^(f|d|\.tr-.*)$'
	# a signal that timeout(1) sends to the program and to its group is one
	run timeout -s INT 0.4 trdecode -o f < <(./slow.sh k.txt)
	assert_failure 124
	[[ $(trfilter -c 1 f) == "$EVENTS" ]]
}

@test "a record that is cut at the end is no damage, in any format" {
	local f n size
	trdecode -q -o fib.trs "$DATA/uftrace/fib"
	trencode -q -t chrome -o fib.json fib.trs
	trencode -q -t perfetto -o fib.pf fib.trs
	gzip -c k.txt >k.gz
	cp "$DATA/perf/flat.data" .
	for f in k.txt fib.trs fib.json fib.pf k.gz flat.data; do
		size=$(stat -c %s $f)
		for n in $((size * 3 / 5 + 1)) $((size * 9 / 10 + 3)); do
			live "./slow.sh $f $n | trdecode | trstat -q -c count"
			assert_success
			assert [ ${#lines[@]} -gt 1 ]
			quiet
		done
	done
	# damage before the end is damage
	{ head -c 5000 k.txt; echo; echo none; cat k.txt; } >bad.txt
	live './slow.sh bad.txt | trdecode | trstat -q -c count'
	assert_failure 1
}

@test "an archive or trace.dat that ends within a file: what is missing is no damage, and the rest is read" {
	local f="$DATA/trace-cmd/v7-zstd-instances.dat" n lost='is lost: its CPUs are numbered in the order of the file'
	# version 7 has its tables of CPUs at the end
	for n in $(($(stat -c %s "$f") - 300)) 21560; do
		live "./slow.sh $f $n | trdecode | trfilter -q -c 1"
		assert_success
		assert [ "$output" -gt 500 ]
		((${#stderr_lines[@]} <= 1))
		[[ ${#stderr_lines[@]} == 0 || ${stderr_lines[0]} == "trdecode: <stdin>: 0x"*"$lost" ]]
	done
	# a part that is wrong, before the end
	live "./slow.sh $DATA/trace-cmd/bad-v7-options-loop.dat 16760 | trdecode | trfilter -q -c 1"
	assert_failure 1
	assert_equal "${stderr_lines[0]}" 'trdecode: <stdin>: 0x221a: the options lead back to here'
	# the second of three threads ends within its data
	tar -cf t.tar -C "$DATA/uftrace/fib" sid-99b3158153d2cd48.map fib.sym info 4126.dat 4125.dat 4123.dat task.txt
	n=$(($(grep -abo '4125\.dat' t.tar | head -n 1 | cut -d : -f 1) + 512 + 10004))
	gzip -k t.tar
	mkdir dir && tar -xf t.tar -C dir && trdecode -q dir | trstat -q -g tid -c count -t csv >whole
	live "./slow.sh t.tar $n | trdecode | trstat -q -g tid -c count -t csv"
	assert_success
	assert_line "$(grep '^4126,' whole)"
	assert_line --regexp '^4125,[0-9]+$'
	((${#lines[@]} == 3))
	[[ ${stderr_lines[0]} == 'trdecode: <stdin>/4125.dat: 0x'*': ended by a signal within the archive: what follows is missing' ]]
	live "./slow.sh t.tar.gz 9000 | trdecode -q -o f"
	assert_success
	quiet
	[[ $(trfilter -q -c 1 f) -gt 0 ]]
	# a profile has the names after the samples
	trdecode -q "$DATA/uftrace/fib" | trencode -q -t pprof | gzip -dc >fib.pb
	live './slow.sh fib.pb 600 | trdecode -f pprof | trencode -q -t folded'
	assert_success
	assert_line --partial '?'
	[[ ${stderr_lines[*]} == 'trdecode: <stdin>: 0x2'??': ended by a signal within the profile: names that follow are missing' ]]
	# between two files, and after the end
	live "./slow.sh t.tar $((n - 512 - 10004)) | trdecode -q | trstat -q -g tid -c count -t csv"
	assert_success
	assert_line "$(grep '^4126,' whole)"
	((${#lines[@]} == 2))
	live "./slow.sh t.tar 999999 | trdecode | trstat -q -g tid -c count -t csv"
	assert_success
	quiet
	assert_equal "$output" "$(<whole)"
}

@test "an input without a byte; a FIFO that no program writes" {
	# the shell ends with the signal if its program does
	live 'sh -c "trap \"exit 0\" INT; sleep 9 >/dev/null & wait" | trstat -q -c count'
	assert_success
	quiet
	mkfifo fifo
	live 'trstat -q -c count fifo'
	assert_success
	quiet
}

@test "an idle live source ends as an empty recording: status 0, an empty table" {
	local p
	mkfifo fifo
	for p in 'trstat -c count' 'trencode -t csv' 'trfilter 1 | trencode -t chrome' 'trsym | trstat -t json'; do
		live "trdecode fifo | $p"
		assert_success
		[[ ${stderr_lines[*]} == *'trdecode: fifo: ended by a signal before its first byte: no events'* ]]
		((${#stderr_lines[@]} == 1))
	done
	# the first program waits 2 s, and the second one for its stream
	live 'trdecode < <(./deaf.sh /dev/null) | trdecode -f stream -o g'
	assert_success
	[[ $(grep -c 'before its first byte' <<<"$stderr") == 1 && ${stderr_lines[2]} == 'trdecode: <stdin>: no events' ]]
	[[ $(trfilter -q -c 1 g) == 0 ]]
	live 'exec trdecode -q -o f < <(./deaf.sh /dev/null)'
	assert_success
	quiet
	run -0 trencode -t csv -c time,name f
	assert_output 'time,name'
	# without the signal it is refused
	run -2 errors trdecode -o f2 < <(:)
	assert_output 'trdecode: <stdin>: empty, not a trace'
}

@test "a live source that a signal ends within its header is an empty recording" {
	local f n
	trdecode -q -o fib.trs "$DATA/uftrace/fib"
	trencode -q -t perfetto -o fib.pf fib.trs
	gzip -c k.txt >k.gz
	tar -cf fib.tar -C "$DATA/uftrace" fib
	{ echo '# tracer: nop'; echo '#'; cat k.txt; } >heading.txt
	# bytes of a marker, and of headers that are recognised: of perf and trace.dat to a pipe, and others
	for f in k.txt:12 heading.txt:20 fib.trs:5 fib.pf:5 "$DATA/perfetto/cpuidle.pftrace:25" fib.tar:600 k.gz:3 k.gz:40 "$DATA/perf/pipe-zstd.data:"{5,16,60} \
		"$DATA/trace-cmd/names-of-sched-switch.dat:"{5,14}; do
		n=${f##*:}
		live "./slow.sh ${f%:*} $n | trdecode | trstat -q -c count"
		assert_success
		((${#lines[@]} == 1 && ${#stderr_lines[@]} == 1))
		[[ ${stderr_lines[0]} == "trdecode: <stdin>: "*"no events"* ]]
	done
	[[ ${stderr_lines[0]} == *'ended by a signal within its header: no events ('* ]]
	live './slow.sh k.txt 12 | trdecode --no-unwind -o x'
	assert_success
	assert_equal "${stderr_lines[*]}" 'trdecode: <stdin>: ended by a signal after 12 bytes, too few to recognise its format: no events'
	[[ $(trfilter -q -c 1 x) == 0 ]]
	# content that is no trace
	echo 'usage: recorder [-o FILE]' >usage
	live './slow.sh usage | trdecode | trstat -q -c count'
	assert_failure 2
	assert_equal "${stderr_lines[*]}" 'trdecode: <stdin>: not a trace of a known format'
	# a program that failed
	live './slow.sh usage | trdecode | trdecode -f stream -o y'
	assert_failure 2
}

@test "several live inputs end with one signal" {
	local s
	sed 's/task-1 /task-2 /' k.txt >l.txt
	# each with FIFOs of its own: the writers, which a shell started in the background, run on
	for s in INT TERM; do
		mkfifo a.$s b.$s
		live -w 0.5 -s $s -o trdecode "./deaf.sh k.txt 30000 >a.$s & ./deaf.sh l.txt >b.$s & trdecode -q a.$s b.$s | trstat -q -g tid -c count"
		assert_success
		quiet
		((${#lines[@]} == 3))
		((after < 5000))
	done
	# one of them, or both, without a byte
	mkfifo a b c d e f
	live -w 0.5 "./slow.sh k.txt >a & exec trdecode -o x a b"
	assert_success
	[[ $(trfilter -c 1 x) == "$EVENTS" ]]
	[[ $stderr == *'trdecode: b: ended by a signal before its first byte'* ]]
	live 'exec trdecode -q -o y c d'
	assert_success
	[[ $(trfilter -q -c 1 y) == 0 ]]
	# streams, one after another: the second is not waited for
	trdecode -q -o k.trs k.txt
	live -w 0.5 "./slow.sh k.trs 30000 >e & exec trfilter -o z 1 e f"
	assert_success
	assert [ -s z ]
}

@test "intervals by the wall clock end with the present one" {
	live 'trdecode < <(./slow.sh k.txt) | trstat -q -c count -i 10s --wall'
	assert_success
	[[ $output == *" $EVENTS  sched_wakeup"* ]]
}

@test "nohup: an ignored signal stays ignored" {
	run bash -c 'trap "" INT; trdecode -q -o g < <(head -c 6000 k.txt; sleep 0.6; tail -c +6001 k.txt) & sleep 0.3; kill -INT $!; wait $!'
	assert_success
	[[ $(trfilter -c 1 g) == 2000 ]]
}

@test "perf record to a pipe" {
	need perf
	perf record -q -e cpu-clock -o probe.data true 2>/dev/null || skip "perf cannot record"
	live -w 1 'perf record -q -e cpu-clock -g -o - -- sh -c "trap exit INT; while :; do :; done" 2>/dev/null | trdecode | trsym -q | trstat -q -c count -n 1'
	[[ ${#lines[@]} == 2 ]]
	quiet
}

@test "trace_pipe of tracefs" {
	local root f s
	for root in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		I=$root/instances/trutilss$$
		[[ ! -d $root/instances ]] || ! mkdir "$I" 2>/dev/null || break
	done
	[[ -d $I ]] || skip "no tracefs"
	# without an event
	for f in trace_pipe per_cpu/cpu0/trace_pipe per_cpu/cpu0/trace_pipe_raw; do
		for s in INT TERM; do
			rm -f e
			live -s $s "exec trdecode -o e $I/$f"
			assert_success
			assert_equal "${stderr_lines[*]}" "trdecode: $I/$f: ended by a signal before its first byte: no events"
			[[ $(trfilter -q -c 1 e) == 0 ]]
		done
	done
	live "for ((i = 0; i < 50; i++)); do echo \"mark \$i\" >$I/trace_marker; done & exec trdecode -o f $I/trace_pipe"
	rmdir "$I"
	assert_success
	quiet
	[[ $(trencode -q -t ndjson f | grep -c '"mark [0-9]*') == 50 ]]
}

@test "a full device; a pipe that is closed" {
	run -2 trdecode -q -o /dev/full k.txt
	assert_output --partial 'No space left on device'
	for ((i = 0; i < 50; i++)); do cat k.txt; done >many.txt
	run pipefail 'trdecode -q many.txt | trencode -q -t csv 2>err | head -n 1'
	assert_failure 141
	assert [ ! -s err ]
}

@test "a line on stderr is one write" {
	need strace
	unsanitized 'it does not run under strace'
	{ strace -f -o calls -e trace=write trstat none | cat; } 2>/dev/null
	[[ $(grep -c 'write(2' calls) == 1 ]]
	echo '{"traceEvents":[{"ph":"X","ts":"x","dur":1},' >impossible.json
	{ strace -f -o calls -e trace=write trdecode impossible.json | cat >/dev/null; } 2>err || true
	[[ $(grep -c 'write(2' calls) == $(grep -c '' err) && -s err ]]
}
