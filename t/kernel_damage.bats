# trdecode on kernel trace text whose lines are damaged, and on marks with text that looks like other lines.
# The whole text, or the text that was written to trace_marker, is what the events are compared with.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$RECORDED/trace-cmd
}

# rows TEXT STATUS: its events
rows() {
	trdecode "$1" 2>err | trencode -q -t ndjson 2>/dev/null
	[[ ${PIPESTATUS[0]} == "$2" ]]
}

# as_want MESSAGE: x has the events of want.json, and this damage
as_want() {
	rows x 1 >x.json && cmp x.json want.json && echo "trdecode: x: $1" | diff - err
}

# damaged TEXT SEED WHAT: write x, TEXT with a damage in a random line; want, TEXT without the events
# of that line; at, the offset of the damage. No line of a mark, which may have any text.
damaged() {
	python3 - "$@" <<-'END'
		import random, re, sys
		name, seed, what = sys.argv[1:]
		random.seed(seed)
		lines = open(name, "rb").read().split(b"\n")[:400] + [b""]
		fit = [i for i in range(len(lines) // 3, len(lines) - 2) if b"[" in lines[i] and lines[i + 1][-1:] != b">" and
			not any(b"mark" in line or b"stack" in line or b"=>" in line[:2] for line in lines[i:i + 2])]
		keys_of = lambda text: [m for m in re.finditer(rb" [a-z_]+=", text) if m.start() > text.index(b": ") + 30][1:]
		if what == "cut in a key":
		    fit = [i for i in fit if keys_of(lines[i])]
		i = random.choice(fit)
		before = b"".join(line + b"\n" for line in lines[:i])
		text, after = lines[i], b"\n".join(lines[i + 1:])
		at = len(before)
		if what == "join":
		    at += len(text) + next(n for n, c in enumerate(after) if c != 32)
		    want, have = before + text + b"\n" + after, before + text + after
		elif what == "cut in the head":
		    head = re.match(rb" *\S.*?-[0-9]+ ", text).end()
		    want, have = before + after, before + text[:random.randrange(head, text.index(b":", head))] + b"\n" + after
		elif what == "cut in a key":
		    key = random.choice(keys_of(text))
		    want, have = before + after, before + text[:random.randrange(key.start() + 2, key.end())] + b"\n" + after
		else:
		    want, have = before + text + b"\n" + after, before + text + b"\n" + b"what is this\n" + after
		    at += len(text) + 1
		open("x", "wb").write(have)
		open("want", "wb").write(want)
		open("at", "w").write("%#x" % at)
	END
}

@test "two events in one line: both are read, and the offset of the second is reported" {
	for text in v6-sched-irq-timer.report v6-sched-irq-timer.raw v6-function.report v6-fgraph.report v6-latency.report v6-kprobes.report; do
		for seed in 1 2; do
			damaged "$T/$text.txt" $seed join
			rows want 0 >want.json
			as_want "$(cat at): a second event in a line" || fail "$text $seed"
		done
	done
	# of function_graph, and of latency formats
	printf '%s\n' '# tracer: function_graph' ' 1)   0.541 us    |  lock(a=1); /* <-x */' ' 1)               |  top() {' \
		' 1)   0.100 us    |    leaf();' ' 1)   1.200 us    |  } /* top */' ' 1)   0.300 us    |  last();' >want
	rows want 0 >want.json
	for n in 2 3 4 5; do
		sed "$n{N;s/\n//}" want >x
		as_want "$(printf 0x%x "$(head -n $n want | wc -c)"): a second event in a line" || fail "$n"
	done
	printf '%s\n' '    bash-8834      1d..2. 35039646584us!: sched_switch: prev_comm=bash prev_pid=8834' \
		'    uniq-8949      0d..2. 35039646769us!: sched_switch: prev_comm=uniq prev_pid=8949' \
		'      sh-8952      0d..2. 35039646887us : sched_switch: prev_comm=sh prev_pid=8952' >want
	sed '2{N;s/\n//}' want >x
	rows want 0 >want.json
	as_want "$(printf 0x%x $(($(head -n 2 want | wc -c) + 5))): a second event in a line"
	# stacks
	printf '%s\n' ' a-1 [000] 1.000001: kernel_stack: <stack trace >' '=> f (ffffffff810d9cef)' '=> g (ffffffff810e19d2)' \
		' a-1 [000] 1.000002: ev: v=1' >want
	rows want 0 >want.json
	for n in 1 2 3; do
		sed "$n{N;s/\n//}" want >x
		at=$(printf 0x%x $(($(head -n $n want | wc -c) - (n == 2))))
		((n > 1)) || at=0x0
		damage='a second event in a line'
		((n > 1)) || damage='a frame in the line of its event'
		as_want "$at: $damage" || fail "$n"
	done
}

@test "an event without its end in the middle of a text is damage, and all others are read" {
	for text in v6-sched-irq-timer.raw v6-latency.report; do
		for seed in 1 2 3 4; do
			damaged "$T/$text.txt" $seed 'cut in a key'
			rows want 0 >want.json
			as_want "$(cat at): an event that ends early" || fail "$text $seed"
		done
	done
	for text in v6-sched-irq-timer.report v6-syscalls.report v6-fgraph.report; do
		for seed in 1 2; do
			damaged "$T/$text.txt" $seed 'cut in the head'
			rows want 0 >want.json
			as_want "$(cat at): a line that is not an event" || fail "$text $seed"
		done
	done
	# what lacks is seen by the events before
	printf ' a-1 [000] 1.00000%s\n' '1: ev: a=x b=1 [ns]' '2: ev: a=y b=2 [ns]' '3: ev: a=z b=3 [ns]' \
		'1: irq: vec=1 [action=A]' '2: irq: vec=1 [action=A]' '3: irq: vec=1 [action=A]' \
		'1: kp: (fff) f="/a"' '2: kp: (fff) f="/b"' '3: kp: (fff) f="/c"' '4: sched_switch: a:1 [120] S ==> b:2 [120]' \
		'5: sys_exit: NR 1 = 2' '5: do_f <-do_g' '6: funcgraph_entry:  1.000 us | f();' '7: print: a_f: text' >before
	echo ' a-1 [000] 1.000009: ev: a=u b=7 [ns]' >after
	cat before after >want
	rows want 0 >want.json
	while read -r line; do
		{ cat before; echo " a-1 [000] 1.000008: $line"; cat after; } >x
		as_want '0x248: an event that ends early' || fail "$line"
	done <<-'END'
		ev: a=x b=12
		ev: a=x b=1 [
		ev: a=x b
		ev: a=x b=
		ev: a
		ev:
		ev
		e
		irq: vec=1 [action=
		irq: vec=1 [act
		irq: vec=1 [
		kp: (fff) f="/
		sched_switch: a:1 [120] S ==> b:2
		sched_switch: a:1
		sys_exit: NR 1
		do_f
		funcgraph_entry:  1.0
		funcgraph_ex
		function:
		print: a_
		kernel_stack: <stack tr
		<user sta
		tracing_mark_wri
	END
}

@test "events of one name may have different fields" {
	# the plug-in of libtraceevent prints three fields of FUTEX_WAKE
	for n in 1 2 3 4; do echo " a-1 [000] 1.00000$n: sys_enter_futex: op=FUTEX_WAIT uaddr=0x1 val=0x2 utime=0x0 val3=0xff"; done >x
	sed -i '2s/.*/ a-1 [000] 1.000002: sys_enter_futex: op=FUTEX_WAKE uaddr=0x1 val=2147483647/' x
	run -0 --separate-stderr trdecode x -o x.trs
	assert_equal "$stderr" ''
	trencode -q -t ndjson -c args x.trs | jq -es 'length == 4 and .[1].args.val == "0x7fffffff" and (.[1].args | has("val3") | not)'
	# a flag that is not set is empty
	for n in 1 2 3 4 5; do echo " a-1 [000] 1.00000$n: ev: a=1 flags=0x70"; done >x
	sed -i '4s/0x70//' x
	run -0 --separate-stderr trdecode x -o x.trs
	printf ' a-1 [000] 1.000001: ev: a=%s c=3\n' 'b b=2' $'b\nb b=2' 'c b=2' 'd b=2' 'e b=2' >x
	run -0 --separate-stderr trdecode x -o x.trs
	refute_output
}

@test "a last line of blanks is no damage" {
	printf 'task-1 (1) [000] .... 1.000000: tracing_mark_write: B|1|x\ntask-1 (1) [000] .... 2.000000: tracing_mark_write: E|1\n    ' >x
	run -0 --separate-stderr trdecode x -o x.trs
	assert_equal "$stderr" ''
	trstat -t tsv -c count,total x.trs | grep -qx $'x\t1\t1000000000'
}

@test "a line after an event without a message is damage" {
	for text in v6-sched-irq-timer.report v6-sched-irq-timer.raw v6-function.report v6-syscalls.report; do
		damaged "$T/$text.txt" 1 garbage
		rows want 0 >want.json
		as_want "$(cat at): a line that is not an event" || fail "$text"
	done
}

@test "values with newlines are no damage" {
	for text in "$T"/v?-*module-events.{report,raw}.txt; do
		run -0 --separate-stderr trdecode "$text" -o x.trs
	done
}

# The texts that were written to trace_marker, as lines of JSON
marks() {
	jq -c . <<-'END'
		"plain"
		"one\ntwo"
		"one\n\nthree"
		"two newlines\n"
		"\nleading"
		"# comment first\nthen"
		"first\n# comment inside\nlast"
		"first\n#\nlast"
		"x\n=> frame like\ny"
		"x\n----- dashes\ny"
		"x\ncpus=2\ny"
		"version = 6\n(Overruns: 3)"
		"          sh-9     [001]    20.900001: sched_wakeup: comm=b pid=2"
		"          sh-9     [001] ..... 20.900001: sched_wakeup: comm=b pid=2"
		"      sh-9       3d..3   15us+: foo <-bar"
		"    bash   32374   0 0 00000000 00000002 [dba2e668] 28.252ms (+0.002ms): sys_exit: NR 33 = 1"
		" 0)   1.000 us |  foo();"
		"x\n 0)   1.000 us |  foo();\nz"
		"x\n 0)               |  foo() {\n 0)    |  }\nz"
		""
		"\n\n"
		"tab\tend "
		"spaces   \n   indented"
		"foo: bar=1 baz=2\nqux=3"
		"cpus=4"
		"see: cpus=4"
		"<========== |"
		"R 4 100.000003 1 0xf0000010 0x12 0xffffffff81000000 0"
		"last"
	END
}

@test "the text of a mark is whole, whatever its lines look like" {
	marks >marks
	# the value of a message has no newline at its end
	jq -c 'rtrimstr("\n")' marks >want
	# the columns of Linux 6.18 and of trace-cmd 3.1.6
	while IFS= read -r head; do
		head=${head%|} # which keeps the last blank
		{
			[[ $head == *print:* ]] || printf '# tracer: nop\n#\n'
			jq -r --arg head "$head" '$head + .' marks
		} >x
		run -0 --separate-stderr trdecode x -o x.trs
		trencode -q -t ndjson x.trs | jq -c .args.message | diff want - || fail "$head"
	done <<-'END'
		              sh-8952    [000] ...1. 35039.648649: tracing_mark_write: |
		              sh-8952    (   8952) [000] ...1. 35039.648649: tracing_mark_write: |
		              sh-8952    [000] ...1. 35039.648649: tracing_mark_write+0x91/0x170: |
		      sh-8952      0...1. 35039648649us+: tracing_mark_write: |
		              sh    8952   0 0 00000001 00000008 [828869b89] 35039648.649ms (+0.045ms): tracing_mark_write: |
		wktext:               sh-8952  [000] 35039.648649: print:                tracing_mark_write: |
		      sh-8952    0...1. 35039.648649: print:                tracing_mark_write: |
	END
	# what the kernel prints between events ends it
	printf '%s\n' '# tracer: nop' ' sh-1 [000] 1.000001: tracing_mark_write: one' '##### CPU 1 buffer started ####' \
		' sh-1 [001] 1.000002: tracing_mark_write: two' 'CPU:1 [LOST 5 EVENTS]' ' sh-1 [001] 1.000003: tracing_mark_write: three' \
		'# tracer: nop' '#' '# entries-in-buffer/entries-written: 1/1   #P:2' '' ' sh-1 [001] 1.000004: tracing_mark_write: four' >x
	run -0 --separate-stderr bash -c 'trdecode x | trencode -q -t ndjson | jq -r "select(.type == \"print\").args.message"'
	assert_output $'one\ntwo\nthree\nfour'
}

@test "a latency format: a line of a mark with the columns and the time of another format is of the mark" {
	printf '%s\n' '# tracer: nop' '      sh-1      0...1. 15us+: tracing_mark_write: one' '   sh-9 [001] 20.900001: ev: a=b' \
		'      sh-1      0...1. 16us : ev: a=c' >x
	run -0 --separate-stderr bash -c 'trdecode x | trencode -q -t ndjson | jq -c "[.type, .args]"'
	assert_line --index 0 '["print",{"ip":"tracing_mark_write","message":"one\n   sh-9 [001] 20.900001: ev: a=b"}]'
	assert_line --index 1 '["ev",{"a":"c"}]'
}

@test "marks of this kernel: the text of tracefs has the messages of the trace.dat" {
	need trace-cmd
	for root in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		I=$root/instances/trutils_$$
		[[ ! -d $root/instances ]] || ! mkdir "$I" 2>/dev/null || break
		I=
	done
	[[ -n $I ]] || skip "no tracefs"
	marks >want
	while IFS= read -r mark; do
		# the kernel writes no empty text
		[[ $mark == '""' ]] && mark='"\n"'
		jq -j . <<<"$mark" >"$I/trace_marker"
	done <want
	cat "$I/trace" >default
	for options in latency-format verbose; do
		echo $options >"$I/trace_options"
		cat "$I/trace" >$options
	done
	# it removes the instance
	trace-cmd extract -B "${I##*/}" -o x.dat >/dev/null 2>&1 || rmdir "$I"
	trdecode x.dat | trencode -q -t ndjson | jq -c '.args.buf // .args.message' | sed 's/\\n"$/"/' >dat
	sed -i 's/\(^"two.*\)\\n/\1/;s/\\n\\n/\\n/' want
	(($(wc -l <dat) == $(wc -l <want)))
	for text in default latency-format verbose; do
		run -0 --separate-stderr trdecode $text -o x.trs
		trencode -q -t ndjson x.trs | jq -c .args.message | diff dat - || fail "$text"
	done
}

@test "a name has at most 32 lists of fields: further events have the message alone" {
	for i in {10..59}; do
		echo " app-1 (1) [000] .... 1.0000$i: tracing_mark_write: B|1|n|k$i=$i"
		echo " app-1 (1) [000] .... 1.0001$i: ev: k$i=$i"
	done >x
	run -0 --separate-stderr trdecode x -o x.trs
	trstat -q -t csv -g type -c count x.trs | sort >have
	printf '%s\n' begin,50 ev,50 type,count | diff have -
}

@test "another trace that is forced as kernel text is named" {
	for input in v6-date.dat v7-zstd-date.dat; do
		run -2 trdecode -f ftrace "$T/$input" -o x.trs
		assert_output "trdecode: $T/$input: not a trace of the format ftrace (but of trace-cmd)"
	done
	head -c 4096 /dev/zero >x
	run -2 trdecode -f ftrace x -o x.trs
	assert_output 'trdecode: x: not a trace of the format ftrace'
	# an event after a damaged line
	printf 'a\0b\n sh-1 [000] 1.000001: ev: a=b\n' >x
	run -0 trdecode -f ftrace x -o x.trs
	trstat -q -t csv -g type -c count x.trs | grep -qx ev,1
}
