# trencode -t text of trace.dat: as trace-cmd report prints it.

load lib

TRACES=trace-cmd

# text FILE [OPTION...]: what the pipe prints
text() {
	local file=$1
	shift
	trdecode "$RECORDED/$TRACES/$file.dat" 2>/dev/null | trencode "$@" 2>/dev/null
}

# report FILE [OPTION...]: what the real tool prints; -N: without plugins. The clock's text of
# pub-arm32-thermal is empty: the tool reads beyond it, and the bytes there at times take the
# point out of its times; so what it printed once is taken, in which no plugin had a part.
report() {
	local file=$1
	shift
	if [[ $file == pub-arm32-thermal && $* == -N ]]; then
		cat "$RECORDED/$TRACES/$file.report.txt"
		return
	fi
	trace-cmd report "$@" -i "$RECORDED/$TRACES/$file.dat" 2>/dev/null
}

# The tool that these tests know the faults of.
need_report() {
	local library
	need trace-cmd
	library=$(find /usr/lib /lib -name 'libtraceevent.so.1.*' 2>/dev/null | head -1)
	[[ $library == *.so.1.7.1 ]] || skip "trace-cmd's libtraceevent is not 1.7.1: ${library:-none}"
}

# What libtraceevent 1.7.1 prints wrong is left out:
# - the mask in __print_flags(REC->flags & (M | D | P | I), ...) is not applied: D|P|I at every timer_start
# - a signed long of 4 bytes is not extended: 4294967286 for -10
comparable() {
	sed -E 's/( timer_start: .*flags=).*/\1/'
}

same_as_report() {
	local file
	for file; do
		[[ -s $RECORDED/$TRACES/$file.dat ]] || fail "no $file"
		diff <(report "$file" -N | comparable) <(text "$file" --no-plugins | comparable) || {
			echo "differs: $file"
			return 1
		}
		# the report of pub-arm32-thermal without -N differs from run to run; that of
		# i386-v6-markers-raw has bytes of raw data twice
		[[ $file != pub-arm32-thermal && $file != i386-v6-markers-raw ]] || continue
		diff <(report "$file" | comparable) <(text "$file" | comparable) || {
			echo "differs: $file, with plug-ins"
			return 1
		}
	done
}

@test "text of sched, irq and timer events is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-sched-irq-timer v7-zstd-sched-irq-timer v7-none-sched-irq-timer \
		trixie-v6-sched-irq-timer s390x-v6-sched-irq-timer i386-v6-sched-irq-timer
}

@test "text of system calls is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-syscalls v7-zstd-syscalls-all s390x-v6-busy s390x-v7-zstd-sched-syscalls
}

@test "text of markers, raw data and bprintk is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-markers trixie-v6-markers-raw i386-v6-markers-raw v6-bprint-bputs
}

@test "text of public recordings is trace-cmd report, with plug-ins and without" {
	need_report
	need_shared trace-cmd/pub-arm32-thermal.dat
	same_as_report pub-arm32-thermal pub-i386-buildroot
}

@test "text of stacks and functions is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-stacktrace v6-userstack v6-profile v6-function v7-zstd-function v6-kprobes
}

@test "text of instances, with their names in front, is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-instances v7-none-instance-only v7-zstd-instances s390x-v7-none-instances
}

@test "text of lost events and of latency traces is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-split-lost v7-zstd-split-lost v6-latency v7-zstd-latency
	run text v6-split-lost
	assert_line "CPU:1 [325 EVENTS DROPPED]"
}

@test "text by every clock is trace-cmd report, with plug-ins and without" {
	need_report
	same_as_report v6-clock-boot v6-clock-counter v6-clock-mono v6-clock-perf v6-clock-tai \
		v6-clock-uptime v6-clock-x86-tsc v6-date synth-v6-tsc2nsec synth-v6-offset-unknown
}

@test "--ns and --ts-diff are report -t and --ts-diff" {
	need_report
	diff <(report v6-instances -t --ts-diff | comparable) \
		<(text v6-instances --ns --ts-diff | comparable)
	diff <(report v6-markers --ts-diff) <(text v6-markers --ts-diff)
	# a trace of trace-cmd split does not name its clock: differences are not rounded
	diff <(report v6-split-lost --ts-diff) <(text v6-split-lost --ts-diff)
}

@test "function graphs are drawn as trace-cmd report draws them" {
	local file
	for file in v6-fgraph i386-v6-fgraph s390x-v6-fgraph trixie-v6-fgraph v6-profile v6-hooks; do
		diff <(grep ': funcgraph_' "$RECORDED/$TRACES/$file.report.txt") \
			<(text $file | grep ': funcgraph_')
	done
}

@test "the faults of libtraceevent 1.7.1 are not ours" {
	need_report
	# the flags of the record are 0xc00000: none of D (0x80000), P (0x100000) and I (0x200000)
	run bash -c "trace-cmd report -N -i '$RECORDED/$TRACES/v6-sched-irq-timer.dat' 2>/dev/null |
		grep -m1 ' timer_start:'"
	assert_output --partial "idx=3 flags=D|P|I"
	run bash -c "trdecode '$RECORDED/$TRACES/v6-sched-irq-timer.dat' | trencode | grep -m1 ' timer_start:'"
	assert_output --partial "idx=3 flags="
	refute_output --partial "D|P|I"
	# a system call's error, on a machine of 32 bits
	diff <(report i386-v6-busy | sed -E 's/4294967([0-9]{3})/-/; s/NR 4294967295/NR -/') \
		<(text i386-v6-busy | sed -E 's/= -[0-9]+$/= -/; s/NR -1/NR -/')
	run grep -c 'NR 114 = -10$' <(text i386-v6-busy)
	assert_output "$(report i386-v6-busy | grep -c 'NR 114 = 4294967286$')"
	refute_output 0
}

@test "conversions that libtraceevent 1.7.1 does not know" {
	run grep -m1 tc_scalar <(text v6-module-events)
	assert_output --partial "s8=-39 u8=163 s16=-11700 u16=0xc92f i=-3900000 u=1035883008 "
	assert_output --partial " ch=N ptr=0xdead0027 fn=schedule+0x0 schedule schedule kind=alpha next=0x3"
	assert_output --partial " sz=159744 tern=big expr=-5777 oct=243 X=C92F star=-11700"
	run grep -m1 -A2 tc_array <(text v6-module-events)
	assert_output --partial " mac=10:37:5e:85:ac:d3 macm=10375e85acd3 str=newline"
	assert_output --partial "fix={0x9858,0x9859,0x985a,0x985b} dyn={0x27,0x8b,0xef,0x153} "
	assert_output --partial " mask=00000000,00000027,00000280,00000000 dynlen=8 "
	assert_output --partial "flags=ONE|TWO|FOUR|0x20 fix2=39002 prec=new|   tcmod/7|"
	run grep -m1 tc_net <(text v6-module-events)
	assert_output --partial " v6=27:4e75::d4fb:2249 0027:4e75:0000:0000:0000:0000:d4fb:2249 "
	assert_output --partial " sa=127.0.0.1:8080 uuid=27374757-6777-8797-A7B7-C7D7E7F70717 "
	assert_output --partial " rd=27 28 29 ns=48148.147714 ph=c0 99 72 4b fl=A:E:0x100"
}

@test "the module's events are the same in version 7" {
	local ours theirs
	# trace-cmd 3.4 and libtraceevent 1.8 print these as the kernel does, but for small signed
	# numbers, %*d and %pS's neighbours
	ours=$(text v7-zstd-module-events | grep -c ': tc_')
	theirs=$(grep -c ': tc_' "$RECORDED/$TRACES/v7-zstd-module-events.report.txt")
	assert_equal "$ours" "$theirs"
	diff <(grep -o ': tc_net: .* rd=' "$RECORDED/$TRACES/v7-zstd-module-events.report.txt") \
		<(text v7-zstd-module-events | grep -o ': tc_net: .* rd=')
}

@test "a print fmt that needs the running kernel is counted" {
	# the latest words of the message are its reason
	cp "$RECORDED/$TRACES/v6-sched-irq-timer.dat" "$BATS_TEST_TMPDIR/x.dat"
	chmod +w "$BATS_TEST_TMPDIR/x.dat"
	LC_ALL=C sed -i 's/"vec=%u \[action=%s\]", REC->vec, __print_symbolic(/"vec=%u [action=%s]", REC->vec, kernel_symbolic_(/' \
		"$BATS_TEST_TMPDIR/x.dat"
	bash -c "trdecode '$BATS_TEST_TMPDIR/x.dat' | trencode >'$BATS_TEST_TMPDIR/out'" \
		2>"$BATS_TEST_TMPDIR/err"
	run cat "$BATS_TEST_TMPDIR/err"
	assert_output --regexp "events are shown by their fields: .*calls kernel_symbolic_\(\) of the kernel"
	run grep -m1 softirq_entry "$BATS_TEST_TMPDIR/out"
	assert_output --partial "softirq_entry:        [FAILED TO PARSE] vec="
}

@test "--raw --ts-diff is report -R --ts-diff" {
	need_report
	for file in v6-markers v6-clock-counter; do
		diff <(report $file -R --ts-diff) <(text $file --raw --ts-diff)
		diff <(report $file -R -t --ts-diff) <(text $file --raw --ns --ts-diff)
	done
}

@test "--raw of several files and of a latency trace is report -R" {
	need_report
	cd "$RECORDED/$TRACES"
	diff <(trace-cmd report -R -i v6-instances.dat -i v6-syscalls.dat 2>/dev/null) \
		<(trdecode -q v6-instances.dat v6-syscalls.dat | trencode -q --raw)
	diff <(report v6-latency -R) <(text v6-latency --raw)
	diff <(report s390x-v6-fgraph -R) <(text s390x-v6-fgraph --raw)
}

@test "--raw prints no empty line after a message with a newline" {
	need_report
	diff <(report v6-markers -R -t) <(text v6-markers --raw --ns)
	assert_equal "$(text v6-markers --raw | grep -c '^$')" 0
	diff <(report v6-bprint-bputs -R) <(text v6-bprint-bputs --raw)
}

@test "a filtered function graph is indented by what is left of it" {
	cd "$BATS_TEST_TMPDIR"
	trdecode -q "$DATA/trace-cmd/v6-fgraph.dat" | trsym -q >graph.trs
	# the depths that are left, counted by the braces
	nested() {
		awk '{ sub(/.*\|  /, ""); at = match($0, /[^ ]/) - 1 } /}$/ { d -= 2 }
			at != d { print NR ": " $0; bad = 1 } /{$/ { d += 2 } END { exit bad }'
	}
	for e in 'depth != 0' 'depth != 1' 'name =~ "^vfs"' 'dur > 10us' 'dur < 20us' 1; do
		trfilter "($e) && tid == 149 && has(self)" graph.trs | trencode -q | sed 1d >text
		run -0 grep -c funcgraph text
		[ "$output" -gt 20 ]
		run -0 nested <text
	done
	# with its own indent, what was recorded is shown as it was
	trfilter 1 graph.trs | trencode -q | cmp - <(trencode -q graph.trs)
}

# plugins_agree [OPTION...] SEED: random events for which trace-cmd has plug-ins, of a machine by the
# options; all texts agree
plugins_agree() {
	python3 "$ROOT/t/tools/plugin_events.py" "$@" plugins.dat
	trdecode -q -o plugins.trs plugins.dat
	for options in '|' '-N|--no-plugins' '-R|--raw' '-R -N|--raw --no-plugins' \
		'-O parent -O fgraph:depth|--plugin-option parent --plugin-option fgraph:depth' \
		'-O ftrace:offset -O tailprint=1|--plugin-option ftrace:offset --plugin-option tailprint=1' \
		'-O ftrace:indent=0|--plugin-option ftrace:indent=0'; do
		# shellcheck disable=SC2086
		diff <(trace-cmd report ${options%|*} -i plugins.dat 2>/dev/null) \
			<(trencode -q -t text ${options#*|} plugins.trs) || {
			echo "differs: plugin_events.py $*, $options"
			return 1
		}
	done
}

@test "random events of all plug-ins, with missing fields, of other machines" {
	need_report
	cd "$BATS_TEST_TMPDIR"
	# with -R the tool reads these beyond the record
	some='^(?!ftrace/(kernel_stack|raw_data)|compaction)'
	plugins_agree --only "$some" 1
	trace-cmd report -i plugins.dat 2>/dev/null >want
	refute grep -q 'FAILED TO PARSE' want
	# each event is there
	run -0 awk '$2 == "[000]" { n[$4]++ } END { for (i in n) events += n[i] > 10; print events }' want
	assert_output 34
	run -0 pipe "trace-cmd report -N -i plugins.dat 2>/dev/null | diff - want | grep -c '^>'"
	[ "$output" -gt 600 ]
	for seed in 2 3; do
		plugins_agree --only "$some" --drop $seed
	done
	plugins_agree --only "$some" --big 5
	plugins_agree --only "$some" --word 4 6
	plugins_agree --only "$some" --big --word 4 --drop 7
	# a negative number without a name differs in the text
	python3 "$ROOT/t/tools/plugin_events.py" --only compaction 7 plugins.dat
	diff <(trace-cmd report -R -i plugins.dat 2>/dev/null) <(trdecode plugins.dat | trencode -q --raw)
	for options in "" --big --drop; do
		# shellcheck disable=SC2086
		python3 "$ROOT/t/tools/plugin_events.py" --only ftrace $options 8 plugins.dat
		diff <(trace-cmd report -i plugins.dat 2>/dev/null) <(trdecode plugins.dat | trencode -q)
	done
}

@test "events of kvm name the functions of guests whose traces are inputs too" {
	need_report
	cd "$BATS_TEST_TMPDIR"
	for options in "" --big; do
		# shellcheck disable=SC2086
		for machine in host guest; do
			python3 "$ROOT/t/tools/plugin_events.py" --only kvm $options --machine $machine 9 $machine.dat
		done
		trace-cmd report -i host.dat -i guest.dat 2>/dev/null >want
		trdecode -q host.dat guest.dat | trencode -q | diff want -
		run -0 grep -c ' guest_' want
		[ "$output" -gt 30 ]
	done
}

@test "--plugin-option prints what trace-cmd report -O prints" {
	need_report
	cd "$BATS_TEST_TMPDIR"
	for file in v6-fgraph i386-v6-fgraph v6-function; do
		trdecode -q "$RECORDED/trace-cmd/$file.dat" >x.trs
		for options in tailprint fgraph:depth 'fgraph:tailprint depth' parent ftrace:offset ftrace:indent=0 \
			'parent offset indent=0' 'depth=1 depth=0' indent 'indent=true depth=true' 'indent=false parent=1' \
			'parent parent tailprint=false'; do
			# shellcheck disable=SC2046,SC2086
			trace-cmd report $(printf -- ' -O %s' $options) -i "$RECORDED/trace-cmd/$file.dat" 2>/dev/null >want
			# shellcheck disable=SC2046,SC2086
			trencode -q $(printf -- ' --plugin-option %s' $options) x.trs | diff want - || fail "$file $options"
		done
	done
	# the frames of stacks
	trace-cmd report -O ftrace:offset -i "$DATA/trace-cmd/v6-stacktrace.dat" 2>/dev/null >want
	grep -q '^=> hrtimer_interrupt+0x[0-9a-f]*  (' want
	trdecode -q "$DATA/trace-cmd/v6-stacktrace.dat" | trencode -q --plugin-option offset | diff want -
	# one with its plug-in and one without, and the same twice
	for plugins in '|' 'ftrace:|' '|ftrace:'; do
		for values in '|' '|=0' '=1|'; do
			a=${plugins%|*}indent${values%|*} b=${plugins#*|}indent${values#*|}
			trace-cmd report -O "$a" -O "$b" -i "$RECORDED/trace-cmd/v6-function.dat" 2>/dev/null >want
			trencode -q --plugin-option "$a" --plugin-option "$b" x.trs | cmp - want || fail "$a $b"
		done
	done
	run -2 trencode --plugin-option colour x.trs
	assert_line "trencode: --plugin-option takes parent, indent, offset, tailprint or depth, with =1, =0, =true, =false or no value, not 'colour'"
	for wrong in fgraph:parent ftrace:depth parent=2 parent= parent=yes parent=TRUE indent=1=0 ''; do
		run -2 trencode --plugin-option "$wrong" x.trs
	done
	for other in --raw --no-plugins; do
		run -2 trencode --plugin-option parent $other x.trs
		assert_output "trencode: --plugin-option has no effect with $other"
	done
	run -2 pipe 'trdecode -q "$DATA/uftrace/fib" | trencode -t text --plugin-option parent'
	assert_output --partial '--plugin-option has no effect on this trace; it is for text of trace-cmd'
}

@test "--no-plugins is for text of trace-cmd" {
	trdecode -q "$DATA/uftrace/fib" >"$BATS_TEST_TMPDIR/x.trs"
	run -2 trencode -t text --no-plugins "$BATS_TEST_TMPDIR/x.trs"
	assert_output --partial '--no-plugins has no effect on this trace; it is for text of trace-cmd'
}
