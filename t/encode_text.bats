# trencode -t text: the listing of each system, as its own tool prints it.

load lib

# text TRACE [OPTION...]: what the pipe prints
text() {
	local trace=$1
	shift
	trdecode "$trace" 2>/dev/null | trsym 2>/dev/null | trencode "$@" 2>/dev/null
}

replay() {
	local trace=$1
	shift
	uftrace replay --no-pager "$@" -d "$trace" 2>/dev/null
}

# le BYTES NUMBER: little-endian bytes
le() {
	local i out=
	for ((i = 0; i < $1; i++)); do
		out+=$(printf '\\x%02x' $(($2 >> 8 * i & 255)))
	done
	printf '%b' "$out"
}

# record TIME TYPE DEPTH ADDRESS [DATA]: DATA as hex bytes
record() {
	local n=$((${#5} / 2)) i
	le 8 "$1"
	le 8 $(($2 | (n > 0) << 2 | 5 << 3 | $3 << 6 | $4 << 16))
	((n)) || return 0
	le 2 $n
	for ((i = 0; i < n; i++)); do
		printf '%b' "\\x${5:2*i:2}"
	done
	le $(((8 - (n + 2) % 8) % 8)) 0
}

enter() { record "$1" 0 "$2" $((16#10000 + $3)); }
leave() { record "$1" 1 "$2" $((16#10000 + $3)); }

MAIN=$((16#100)) F=$((16#200)) G=$((16#300))

# trace DIR: a recording of one task, its records from standard input
trace() {
	mkdir -p "$1"
	{
		printf 'Ftrace!\0'
		le 4 4
		le 2 40
		le 1 1
		le 1 2
		le 8 $((16#e2)) # sessions, relative symbols, max_stack, events
		le 8 $((16#81)) # exename, taskinfo
		le 2 1024
		le 6 0
		printf 'exename:/opt/t/prog\n'
		printf 'taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=100\n'
	} >"$1/info"
	cat >"$1/task.txt" <<-END
		SESS timestamp=0.000000100 pid=100 sid=00000000000000aa exename="/opt/t/prog"
		TASK timestamp=0.000000100 tid=100 pid=100
	END
	cat >"$1/sid-00000000000000aa.map" <<-END
		10000-20000 r-xp 00000000 00:00 0                          /opt/t/prog
		7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0            [stack]
	END
	cat >"$1/prog.sym" <<-END
		# symbols: 4
		# path name: /opt/t/prog
		0000000000000100 T main
		0000000000000200 T f
		0000000000000300 T g
		0000000000000400 ? __sym_end
	END
	cat >"$1/100.dat"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "calls, leaves, and what was open at the end" {
	trace t < <(
		enter 1000 0 "$MAIN"
		enter 2000 1 "$F"
		leave 3500 1 "$F"
		enter 4000 1 "$F"
		enter 5000 2 "$G"
		leave 6000005000 2 "$G"
		leave 6000006000 1 "$F"
		enter 7000000000 1 "$G"
	)
	text t >got
	cat >want <<-'END'
		# DURATION     TID     FUNCTION
		            [   100] | main() {
		   1.500 us [   100] |   f();
		            [   100] |   f() {
		   6.000  s [   100] |     g();
		   6.000  s [   100] |   } /* f */
		            [   100] |   g() {

		uftrace stopped tracing with remaining functions
		================================================
		task: 100
		[1] g
		[0] main

	END
	diff want got
	need uftrace
	replay t | diff - got
}

@test "the default text is that of uftrace replay" {
	need uftrace
	local d name bad=''
	for d in "$RECORDED"/uftrace/*.expect; do
		d=${d%.expect} name=${d##*/}
		case $name in
		# broken, of the kernel, with estimated times
		bad-* | kernel-* | estimate) continue ;;
		# uftrace 0.13 cannot read them, or takes all for kernel addresses as their maps
		# have no stack: see the next test
		new-*) [[ $(uftrace --version) != *v0.1[0-7]* ]] || continue ;;
		esac
		cmp -s <(replay "$d") <(text "$d") || bad+=" $name"
	done
	[[ -z $bad ]] || fail "differ:$bad"
}

@test "the columns are those of uftrace replay -f" {
	local e d name bad='' columns=time,delta,elapsed,dur,tid,comm,module,address
	for e in "$RECORDED"/uftrace/*.expect; do
		d=${e%.expect} name=${d##*/}
		[[ -s $e/replay.txt ]] || continue
		case $name in
		bad-* | kernel-* | estimate) continue ;;
		dlopen | forkexec) continue ;; # module and task: pinned below
		esac
		# newer ones have a wider TID
		sed -E '/^#/s/TID  +/TID /; s/\[ ([ 0-9]{6})\]/[\1]/' "$e/replay.txt" |
			cmp -s - <(text "$d" -c $columns | sed -E '/^#/s/TID  +/TID /') ||
			bad+=" $name"
	done
	[[ -z $bad ]] || fail "differ:$bad"
}

@test "fields: none, all, more, unknown" {
	trace t < <(
		enter 1000 0 "$MAIN"
		leave 3000 0 "$MAIN"
	)
	[ "$(text t -c none)" = "main();" ]
	text t -c +time | grep -q '^   2.000 us \[   100\]        0.000001000 | main();$'
	text t -c time,dur | grep -q '^   2.000 us        0.000001000 | main();$'
	[ "$(text t -c all | wc -l)" = 2 ]
	run -2 --separate-stderr pipe 'trdecode t | trencode -c color'
	[[ $stderr == *"no column 'color'"* ]]
}

@test "exception: minutes and hours have sixty of the smaller unit" {
	trace t < <(
		enter 1000 0 "$MAIN"
		leave 1830000001000 0 "$MAIN"
		enter 1830000002000 0 "$F"
		leave 7350000002000 0 "$F"
	)
	text t >got
	grep -q '^  30.030  m \[   100\] | main();$' got
	grep -q '^   1.032  h \[   100\] | f();$' got
	# uftrace takes 24 minutes for an hour
	need uftrace
	replay t | grep -q '^   1.006  h \[   100\] | main();$'
}

@test "exception: what became less is negative" {
	trace t < <(
		enter 1000 0 "$MAIN"
		record 2000 3 0 100003 \
			fcffffffffffffff0000000000000000f8ffffffffffffff
		leave 3000 0 "$MAIN"
	)
	text t | grep -qF '/* diff:proc/statm (vmsize=-4KB vmrss=+0KB shared=-8KB) */'
	need uftrace
	replay t | grep -qF 'vmsize=+18446744073709551612KB'
}

@test "exception: lost records are shown outside of calls too" {
	trace t < <(
		enter 1000 0 "$F"
		leave 2000 0 "$F"
		record 0 2 0 7
		enter 3000 0 "$G"
		leave 4000 0 "$G"
	)
	text t >got
	grep -qF '[   100] |   /* LOST 7 records!! */' got
	need uftrace
	replay t | diff - <(grep -v LOST got)
}

@test "exception: the elapsed time does not restart after a loss" {
	trace t < <(
		enter 1000 0 "$MAIN"
		record 0 2 0 7
		enter 5000 1 "$G"
		leave 6000 1 "$G"
	)
	text t -c elapsed | grep -q '^   4.000 us | .*g();$'
	need uftrace
	replay t -f elapsed | grep -q '^           *| .*g();$'
}

@test "exception: the module of what dlopen brought, the task's name at the time" {
	text "$RECORDED/uftrace/dlopen" -c module | grep -q '^     libplug_a.so | .*plug_a() {$'
	grep -q '\[unknown\] | .*plug_a() {$' "$RECORDED/uftrace/dlopen.expect/replay.txt"
	# the child of fork is not yet what it will exec
	text "$RECORDED/uftrace/forkexec" -c comm | grep -q '^        forkexec | .*do_exec() {$'
	grep -q ' basic .* do_exec() {$' "$RECORDED/uftrace/forkexec.expect/replay.txt"
}

@test "a recording's time filter is applied as uftrace does" {
	trace t < <(
		enter 1000 0 "$MAIN"
		enter 2000 1 "$F"
		record 2500 3 0 100002 01000000000000000200000000000000
		leave 3000 1 "$F"
		enter 4000 1 "$F"
		enter 4100 2 "$G"
		leave 9000 2 "$G"
		leave 9050 1 "$F"
		enter 9100 1 "$G"
		record 9150 3 0 1000000
		leave 9200 1 "$G"
		leave 9300 0 "$MAIN"
		enter 9400 0 "$F"
	)
	echo '-t 2us' >t/default.opts
	text t >got
	[ "$(grep -c 'f()' got)" = 2 ]
	need uftrace
	replay t | diff - got
	echo '--time-filter=50us --no-merge' >t/default.opts
	run -0 --separate-stderr pipe 'trdecode t | trsym | trencode'
	[[ $stderr == *"only the time filter"* ]]
}

@test "nested deeper than shown: -D" {
	trace t < <(
		enter 1000 0 "$MAIN"
		enter 2000 1 "$F"
		enter 3000 2 "$G"
		leave 4000 2 "$G"
		leave 5000 1 "$F"
		leave 6000 0 "$MAIN"
	)
	run -0 --separate-stderr pipe 'trdecode t | trsym | trencode -D 2'
	[[ $output == *"  f();"* && $output != *"g()"* ]]
	[[ $stderr == "trencode: 1 call is nested too deep to be shown"* ]]
	need uftrace
	replay t -D 2 | diff - <(text t -D 2)
	run -2 pipe 'trdecode t | trencode -D none'
}

@test "segments, blocks and copies of a stream do not show in the text" {
	local d=$RECORDED/uftrace/lost
	trdecode "$d" 2>/dev/null | trsym >whole
	trdecode --segment 64K "$d" 2>/dev/null | trsym | trencode 2>/dev/null >parts
	trencode whole >once 2>/dev/null
	cmp parts once
	trencode whole whole >twice 2>/dev/null
	(($(wc -l <twice) == 2 * $(wc -l <once) - 1)) # one header
}

@test "events lost by the recorder are counted; --strict" {
	trace t < <(
		enter 1000 0 "$MAIN"
		record 0 2 0 7
		leave 3000 0 "$MAIN"
	)
	run -0 --separate-stderr pipe 'trdecode t 2>/dev/null | trsym 2>/dev/null | trencode'
	[[ $stderr == *"7 events were lost by the recorder"* ]]
	run -1 pipe 'trdecode t | trsym | trencode --strict'
}

@test "damage is a line of the text, and exit status 1" {
	trace t < <(
		enter 1000 0 "$MAIN"
		leave 2000 0 "$MAIN"
		le 16 0
		enter 3000 0 "$F"
		leave 4000 0 "$F"
	)
	run -1 pipe 'trdecode t 2>/dev/null | trsym 2>/dev/null | trencode 2>/dev/null'
	[[ $output == *"/* DAMAGED"*"!! */"* ]]
}

@test "without trsym: addresses, said once" {
	trace t < <(
		enter 1000 0 "$MAIN"
		enter 2000 1 "$F"
		leave 3000 1 "$F"
		leave 4000 0 "$MAIN"
	)
	run -0 --separate-stderr pipe 'trdecode t | trencode'
	[[ $output == *"| <10100>() {"*"|   <10200>();"*"} /* <10100> */"* ]]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *trsym* ]]
}

@test "a live stream shows at once" {
	trace t < <(
		enter 1000 0 "$MAIN"
		enter 2000 1 "$F"
		leave 3000 1 "$F"
		leave 4000 0 "$MAIN"
	)
	trdecode t | trsym >s
	mkfifo pipe
	trencode pipe >got 3>&- &
	exec 9>pipe
	# all but END, which is the last 100 bytes or so
	head -c $(($(stat -c %s s) - 32)) s >&9
	sleep 0.3
	grep -q '} /\* main \*/' got
	exec 9>&-
	wait $! || [ $? = 1 ]
}

@test "output errors are failures, and so are unknown formats" {
	trace t < <(enter 1000 0 "$MAIN")
	run -2 pipe 'trdecode t | trencode >/dev/full'
	run -2 --separate-stderr pipe 'trdecode t | trencode -t nothing'
	[[ $stderr == *"no format 'nothing'"* ]]
	run -0 trencode --formats
	[[ $output == *"text "*"uftrace "*"folded "* ]]
	# what completes -t is what there is
	[ "$(trencode --complete-options | grep '^-t ' | cut -f 3 | tr ' ' '\n')" = \
		"$(trencode --formats | cut -d' ' -f1)" ]
}

@test "-o writes a file when all is done" {
	trace t < <(
		enter 1000 0 "$MAIN"
		leave 4000 0 "$MAIN"
	)
	trdecode t | trsym | trencode -o out.txt
	cmp out.txt <(text t)
}

@test "nothing in a trace steers the terminal, in no format" {
	need_terminal
	cd "$BATS_TEST_TMPDIR" || return
	# a property, a function, an argument, an enum's name and a text with escapes in them
	{
		printf '\006\006\002k\033\004v\033[m\000'
		printf '\000\000\000\006f\033[31m\001\003a\302\233\001\000\011\000\001\003e\033c\004\001\004\001\000'
		printf '\001\000\002\007\005x\033]0\007\000'
	} | gzip >x.trace
	trdecode x.trace >x.trs
	for t in text csv tsv ndjson chrome folded callgrind speedscope; do
		trencode -q -t "$t" x.trs >plain
		script -qec "trencode -q -t $t x.trs" /dev/null </dev/null | tr -d '\r' >shown
		run -1 env LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' shown
		assert_equal "$t $(wc -l <shown)" "$t $(wc -l <plain)"
	done
	trencode x.trs >plain
	grep -q $'f\e\\[31m(a\xc2\x9b = e\ec)' plain
	script -qec 'trencode x.trs' /dev/null </dev/null | grep -qF 'f?[31m(a? = e?c)'
}

@test "characters that turn the direction of the text are shown as '?' on a terminal" {
	need_terminal
	cd "$BATS_TEST_TMPDIR" || return
	printf 'main;a\xe2\x80\xaeb\xe2\x81\xa6c\xe2\x81\xa9 1\nmain;d\xe2\x80\xaf\xe2\x81\xa5 1\n' >x.folded
	trdecode x.folded -o x.trs
	trencode -t folded x.trs | cmp - x.folded
	script -qec 'trencode -q -t folded x.trs' /dev/null </dev/null | tr -d '\r' |
		diff - <(printf 'main;a?b?c? 1\nmain;d\xe2\x80\xaf\xe2\x81\xa5 1\n')
	# a name is masked wherever the buffers of the program end
	for at in {4090..4100} {65530..65540}; do
		printf '%*s\xe2\x80\xae\n' "$at" x >line
		printf 'a;%s 1\n' "$(tr ' ' x <line)" >y.folded
		trdecode -f folded y.folded -o y.trs
		script -qec 'trencode -q -t folded y.trs' /dev/null </dev/null >shown
		run -1 env LC_ALL=C grep -c $'\xe2' shown
	done
	run -2 errors trfilter 'name == "x' $'a\xe2\x80\xaeb.trs'
	refute_output --partial $'\xe2\x80\xae'
	run -0 trstat -c count x.trs
	refute_output --partial $'\xe2\x80\xae'
}

@test "a field that is a stack: the names of its frames, outermost first; no field without a stack" {
	run -0 pipefail "trdecode -q '$DATA/streams/good/samples-stacks-of-another-event.trs' | trencode -q -t text | sed 's/^ *//'"
	assert_output '0.000001000 42 - switch cpu=3 kernel={"main","f","g"} user={"main"}
0.000001001 42 - switch cpu=3 user={"main","f"}'
	run -0 trdecode --list "$DATA/streams/good/samples-stack-of-a-call.trs"
	assert_output --partial '["main", "f"]'
}
