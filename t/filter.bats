# trfilter: conditions on real recordings, and its manners in a pipe.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	for name in args-spec threads read-events longjmp; do
		trdecode "$RECORDED/uftrace/$name" 2>/dev/null >"$name.raw"
		trsym "$name.raw" 2>/dev/null >"$name.trs"
	done
	export CONDITIONS="name =~ '^a'
depth < 2
time > 2025108523877ns
kind == leave
type == 'exit' || depth == 1
name in {ints, str} || name == 'main'
!(cpu == 1)
module == 'libc.so.6' || module =~ 'args\$'
comm != 'x'
type =~ 'exit' || depth > 1
group == 'uftrace' && depth in {0, 2}"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# count EXPRESSION STREAM COUNT
count() {
	run -0 trfilter -c "$1" "$2"
	assert_output "$3"
}

@test "conditions find what is in the recording" {
	count 'kind == enter && name == "ints"' args-spec.trs 2
	count 'name == "ints"' args-spec.trs 2
	assert_equal "$(rows_of 'name == "ints"' args-spec.trs)" 4
	count 'name in {ints, str} && kind != leave' args-spec.trs \
		"$(trfilter -c 'kind == enter && (name == "ints" || name == "str")' args-spec.trs)"
	count 'type =~ "^read:"' read-events.trs "$(grep -c 'event\] read:' "$RECORDED/uftrace/read-events.expect/dump.txt")"
	count 'vmrss > 0 && vmsize > 0 && type =~ "^read"' read-events.trs 2
	run -0 trfilter -q -c 'has(no_such_field)' args-spec.trs
	assert_output 0
}

@test "arguments and returned values are compared as they were recorded" {
	count 'arg.1 == -1 && name == "ints"' args-spec.trs 1
	count 'arg.2 == -300 && arg.3 == 70000 && arg.4 == -5000000000' args-spec.trs 1
	count 'arg.1 == "NULL" && name == "str"' args-spec.trs 1
	count 'fparg.1 > 3.14 && fparg.1 < 3.15' args-spec.trs 1
	count 'ret < 0 && name == "ints"' args-spec.trs 1
	assert_equal "$(rows_of 'ret < 0 && name == "ints"' args-spec.trs)" 2
	count 'ret < 0 && name == "ints" && kind == leave' args-spec.trs 1
}

@test "every event passes either with or without -v" {
	for stream in *.trs; do
		all=$(rows_of 1 "$stream")
		while IFS= read -r a; do
			with=$(rows_of "$a" "$stream") without=$(rows_of -v "$a" "$stream")
			assert_equal "$stream $a $((with + without))" "$stream $a $all"
			assert_equal "$(trfilter "$a" "$stream" | trfilter -c 1)" "$(trfilter -c "$a" "$stream")"
		done <<<"$CONDITIONS"
	done
}

@test "two filters are one with both conditions" {
	while IFS= read -r a; do
		while IFS= read -r b; do
			trfilter "$a" args-spec.trs | trfilter "$b" | trencode >two
			trfilter "($a) && ($b)" args-spec.trs | trencode >one
			cmp one two || fail "$a && $b"
		done <<<"$CONDITIONS"
	done <<<"$CONDITIONS"
}

@test "what passes everything changes nothing" {
	for stream in *.trs; do
		trencode "$stream" >before
		for expression in 1 '0 || depth >= 0' 'tid > 0 || tid <= 0'; do
			trfilter "$expression" "$stream" | trencode | cmp - before
		done
	done
}

@test "calls stay whole" {
	for expression in 'depth < 1' 'arg.1 == -1' 'time > 2025234100000ns' 'name =~ "i"'; do
		enters=$(trfilter "$expression" args-spec.trs | trfilter -c 'name !~ "linux" && kind == enter')
		leaves=$(trfilter "$expression" args-spec.trs | trfilter -c 'name !~ "linux" && kind == leave')
		assert_equal "$expression $enters" "$expression $leaves"
		[ "$enters" -gt 0 ]
	done
}

@test "-c and -n take a call once, and whole" {
	run -0 pipe "trfilter -n 1 'name == \"main\"' args-spec.trs | trencode -q"
	assert_line --partial 'main();'
	assert_equal "${#lines[@]}" 2
	assert_equal "$(trfilter -n 1 'name == "main"' args-spec.trs | rows_of 1)" 2
	# as many as trstat and uftrace count
	calls=$(trfilter 'name !~ "^linux"' args-spec.trs | trstat -q -t tsv -g '' -c count | tail -n 1)
	assert_equal "$(trfilter -c 'name !~ "^linux"' args-spec.trs)" "$calls"
	for e in 1 'dur >= 0' 'name =~ "s"' 'kind == leave' '!under("main")'; do
		for options in '' -v --with-callers '-A 1' '-D 2'; do
			# shellcheck disable=SC2086
			all=$(trfilter -c $options "$e" args-spec.trs)
			for n in 1 2 5 1000; do
				[[ $options != *-A* && $options != --with* ]] || continue
				want=$((n < all ? n : all))
				# shellcheck disable=SC2086
				assert_equal "$e $options $(trfilter -c -n $n $options "$e" args-spec.trs)" "$e $options $want"
				# shellcheck disable=SC2086
				assert_equal "$e $options $(trfilter -n $n $options "$e" args-spec.trs | trfilter -c 1)" "$e $options $want"
				run -0 --separate-stderr pipe "trfilter -n $n $options '$e' args-spec.trs | trstat -c count"
				refute_output --partial 'returns of calls'
			done
		done
	done
}

@test "-n ends after so many events, with a whole stream" {
	for n in 0 1 7; do
		run -0 pipe "trfilter -n $n 1 args-spec.trs | trfilter -c 1"
		assert_output "$n"
	done
	run -0 pipe "trfilter -c -n 5 1 args-spec.trs"
	assert_output 5
	run -0 pipefail "cat args-spec.trs | trfilter -n 1 1 >out"
	run -2 errors trfilter -n x 1 args-spec.trs
	assert_line --partial "-n needs a number, not 'x'"
}

@test "a bad expression is status 2, with the column" {
	run -2 --separate-stderr trfilter 'tid == 1 &&' args-spec.trs
	assert_equal "$stderr" 'trfilter: expression, column 12: a field, a number or a string expected, not the end'
	run -2 --separate-stderr trfilter 'tid == "one"'
	assert_equal "$stderr" 'trfilter: expression, column 1: a number cannot be compared with a text'
	run -2 --separate-stderr trfilter
	assert_equal "${stderr_lines[0]}" 'trfilter: the expression is missing'
}

# CONDITION@the same in Python, where & | ^ are tighter than a comparison; div and rem are C's
operators() {
	cat <<-'EOF'
		ret & 0xf@ret & 0xf
		(ret & 0x80000000) != 0@ret & 0x80000000 != 0
		(ret | 3) == 7@ret | 3 == 7
		(ret ^ 5) > 2@ret ^ 5 > 2
		~ret == 2 - 1@~ret == 1
		0 < -ret@0 < -ret
		ret << 4 > 100@ret << 4 > 100
		ret >> 1 == -1@ret >> 1 == -1
		ret >> 64 == -1@ret < 0
		ret << 64 == 0@True
		1 << id > 0x7fffffffffffffff@id == 63
		ret << -ret == ret@ret == 0
		id + 1 == 5@id + 1 == 5
		ret - id < 0@ret - id < 0
		id * ret > 1000@id * ret > 1000
		ret * 0x7fffffffffffffff == 2@ret == -2
		ret * 0xffffffffffffffff == 0xfffffffffffffffe@ret == 2
		id / ret > 2@ret and div(id, ret) > 2
		ret / 3 == -4@div(ret, 3) == -4
		ret % 3 == -2@rem(ret, 3) == -2
		id % ret >= 0@ret != 0
		!(id / ret == 1)@ret == 0 or div(id, ret) != 1
		ret * 1.5 > id@ret * 1.5 > id
		ret / 4.0 == 0.25@ret == 1
		ret + 0.1 - 0.1 < ret@ret + 0.1 - 0.1 < ret
		id - 3 * 2 + 1 == ret@id - 3 * 2 + 1 == ret
		id - (3 * 2 + 1) == ret@id - (3 * 2 + 1) == ret
		100 - id - ret < 10@100 - id - ret < 10
		(1 << 3 + 1 & id) == 16@1 << 4 & id == 16
		(id & 1) in {1} && id % 5 in {0, 2}@id & 1 == 1 and id % 5 in (0, 2)
		ret == id * -1 || ret == -id + 1@ret == -id or ret == -id + 1
	EOF
}

@test "operators calculate on 64 bits, with C's precedence" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >sched.trs
	trfilter 'type == "sys_exit"' sched.trs >exits.trs
	# the numbers of the calls, not their names
	trencode -q --raw exits.trs | sed -nE 's/.*: sys_exit: +id=([0-9]+) ret=(-?[0-9]+)$/{"args": {"id": \1, "ret": \2}}/p' >exits.ndjson
	[ "$(wc -l <exits.ndjson)" -gt 400 ]
	operators | while IFS=@ read -r c python; do
		c=${c//ret/field(\"ret\")} # of the event, not of a call
		want=$(python3 -c '
import json, sys
def div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q
def rem(a, b):
    return a - b * div(a, b)
code = compile(sys.argv[1], "", "eval")
print(sum(1 for line in open("exits.ndjson")
          if eval(code, {"div": div, "rem": rem}, json.loads(line)["args"])))' "$python")
		assert_equal "$c: $(trfilter -q -c "$c" exits.trs)" "$c: $want"
		assert_equal "$c: $(trstat -q -t csv -c count --fail-if "count($c) == $want" exits.trs >/dev/null; echo $?)" "$c: 3"
	done
}

@test "operators on times, and on fields that events lack" {
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
	for c in 'dur > 2 * 1ms|dur > 2ms' 'dur / 1ms >= 2|dur >= 2ms' 'dur - self >= 1us|has(self) && !(dur - self < 1us)' \
		'dur * 2 <= 1us|dur <= 500ns' 'self * 2 == dur + dur|self == dur' '(-dur) > -1us|dur < 1us' \
		'time - 1s < 0|time < 1s' 'line + 1 > 0 || line - 1 < 1|0'; do
		assert_equal "$c: $(trfilter -q -c "${c%|*}" fib.trs)" "$c: $(trfilter -q -c "${c##*|}" fib.trs)"
	done
	assert_equal "$(trfilter -c 'dur / children > 0' fib.trs)" "$(trfilter -c 'children > 0 && dur / children > 0' fib.trs)"
	run -0 pipe "trdecode '$DATA/apitrace/v6.trace' | trfilter -q -c 'dur + 1 > 0'"
	[ "$output" -gt 0 ]
	run -2 --separate-stderr trfilter 'tid & 1 == 0' fib.trs
	assert_equal "$stderr" "trfilter: expression, column 5: '&' takes numbers, not conditions: use parentheses, as in (a & b) == c, or '&&' and '||'"
}

@test "names asked of a stream without symbols: trsym is named once" {
	run -0 --separate-stderr trfilter -c 'name == "main" || module =~ "libc"' args-spec.raw
	assert_output 0
	assert_equal "$stderr" 'trfilter: some functions have an address but no name: run trsym before this program'
	run -0 trfilter -q -c 'name == "main"' args-spec.raw
	assert_output 0
	run -0 --separate-stderr trfilter -c 'name == "main"' args-spec.trs
	[ -z "$stderr" ]
}

@test "names are missed in all that asks for them, also around calls" {
	for e in 'caller == "main"' 'stack =~ "main"' 'under("main")' 'over(module == "x")' 'file == "x"' 'line > 3' \
		'dur > 1us && name =~ "x"'; do
		run -0 --separate-stderr trfilter -c "$e" args-spec.raw
		assert_equal "$e: $stderr" "$e: trfilter: some functions have an address but no name: run trsym before this program"
		run -0 --separate-stderr trfilter -c "$e" args-spec.trs
		[[ $stderr != *'run trsym'* ]]
	done
	run -0 --separate-stderr trfilter -c --between 'name == "a"' 0 1 args-spec.raw
	[[ $(grep -c 'run trsym' <<<"$stderr") == 1 ]]
	run -0 --separate-stderr trfilter -c --sample 1/2 --by name 1 args-spec.raw
	[[ $(grep -c 'run trsym' <<<"$stderr") == 1 ]]
}

# said EXPRESSION LINE...: the first lines of --explain
said() {
	run -0 trfilter --explain "$1"
	shift
	for line; do
		assert_line "$line"
	done
}

@test "--explain: expressions of all kinds, as they are understood" {
	said 'dur > 1ms && !(x == 3)' 'keep dur > 1000000ns' '     tested for each call, as soon as the result is known' \
		'and  !(field("x") == 3)' '     tested for each event; a call is tested at its enter'
	said 'prev_pid in {3, 1, -2} || has(arg.1)' 'keep field("prev_pid") in {-2, 1, 3} || has(arg.1)'
	said 'arg.name.size > 4KiB' 'keep arg.name.size > 4096'
	said 'fparg.1 > 3.5 && ret == -1' 'keep fparg.1 > 3.5' 'and  ret == -1'
	said 'name in {read, "a b"}' 'keep name in {"a b", "read"}' '     tested once for each function or type'
	said 'stack !~ "a;.*;b"' 'keep stack !~ "a;.*;b"' \
		'     tested for each event, with the calls around it; a call is tested at its enter'
	said 'under(name =~ "^f" && tid == 3) && over("f")' 'keep under(name =~ "^f" && tid == 3)' 'and  over(name == "f")'
	said 'caller == "main" && children == 0 && self < 2us' 'keep caller == "main"' 'and  children == 0' 'and  self < 2000ns'
	said 'field("name") == name' 'keep field("name") == name'
	said 'a == 1 || b == 2 && c' 'keep field("a") == 1 || (field("b") == 2 && field("c"))'
	said 'kind == enter && type =~ "x"' 'keep kind == "enter"' '     tested once for each type'
	said 'comm == "x" && pid != 1' 'keep comm == "x"' '     tested once for each thread'
	said 'cpu == 0 && module == "m"' '     tested for each event, enters and leaves separately' '     tested once for each function'
	said 'name == "x" || tid == 1' '     tested once for each combination of thread, type and function'
	said '"x" == name && 3 < depth' 'keep "x" == name' 'and  3 < depth'
	said 'call == 3 && time >= 1.5s && 1' 'keep field("call") == 3' 'and  time >= 1500000000ns' 'and  1' '     tested once'
	run -0 trfilter -v --explain 'name == "a" && depth < 2'
	assert_line --index 0 'drop name == "a"'
	assert_line --index 2 'and  depth < 2'
}

@test "--explain prints how often each part is tested, and the types" {
	run -0 trfilter --explain 'name == "a" && depth<2 && kind == leave'
	assert_line --index 0 'keep name == "a"'
	assert_line --index 1 '     tested once for each function or type'
	assert_line --index 3 '     tested for each event; a call is tested at its enter'
	assert_line --index 5 '     tested once for each type'
	refute_line --partial 'types of this stream'
	# apitrace's clock counts ticks
	assert_line --regexp '^  (time|dur) .*, in ns or ticks$'
	run -0 trfilter --explain 1 read-events.trs
	assert_line '  read:proc/statm (instant): vmsize, vmrss, shared'
}

@test "concatenated streams" {
	cat args-spec.trs threads.trs >both
	sum=$(($(trfilter -c 'kind == enter' args-spec.trs) + $(trfilter -c 'kind == enter' threads.trs)))
	count 'kind == enter' both "$sum"
	run -0 pipe 'cat both | trfilter "kind == enter" | trfilter -c 1'
	assert_output "$sum"
	run -0 trfilter -c 'kind == enter' args-spec.trs threads.trs
	assert_output "$sum"
}

@test "a truncated input is status 1, what came is filtered" {
	size=$(stat -c %s threads.trs)
	for n in 10 $((size / 3)) $((size / 2)) $((size - 100)) $((size - 1)); do
		run -1 --separate-stderr pipe "head -c $n threads.trs | trfilter 1 >out"
		[ -n "$stderr" ]
		run -1 --separate-stderr pipe 'trfilter -c 1 <out'
		[[ $output =~ ^[0-9]+$ ]]
	done
	run -1 pipe "head -c $((size - 40)) threads.trs | trfilter 'depth >= 0' 2>/dev/null | trfilter -c 1 2>/dev/null"
	assert_output "$(trfilter -c 1 threads.trs)"
}

@test "errors of writing are status 2, a closed pipe is quiet" {
	run -2 pipe 'trfilter 1 threads.trs >/dev/full'
	assert_output --partial 'No space left on device'
	run -2 pipe 'trfilter -c 1 threads.trs >/dev/full'
	assert_output --partial 'No space left on device'
	run -0 pipe 'for i in $(seq 200); do cat threads.trs; done | { trfilter 1; echo $? >&2; } | head -c 1 >/dev/null'
	assert_output 141
}

@test "-o appears complete or not at all" {
	rm -f filtered
	run -0 trfilter -o filtered 'tid > 0' threads.trs
	run -0 trfilter -c 'tid > 0' filtered
	assert_output "$(trfilter -c 'tid > 0' threads.trs)"
	run -2 errors trfilter -o not-there 1 no-such-file
	[ ! -e not-there ]
}

@test "the examples of the man page run" {
	cp -r "$RECORDED/uftrace/args-spec" uftrace.data
	cp "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" trace.dat
	cp "$DATA"/apitrace/mt4*.trace app.trace 2>/dev/null || cp "$RECORDED/apitrace/mt4.trace" app.trace
	cp "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" trace.dat
	cp "$DATA/follow/app.json" .
	trdecode -q uftrace.data -o night.trs
	page_examples trfilter >examples
	[ "$(wc -l <examples)" -ge 30 ]
	while IFS= read -r line; do
		check=pipefail
		[[ $line != *' -n '* ]] || check=pipe # it may leave before its input ends
		[[ $line != *arg.vis* ]] || cp "$DATA/apitrace/v6.trace" app.trace
		$check "$line" >/dev/null 2>errors </dev/null || fail "$line: $(cat errors)"
	done <examples
}

@test "--strict: events that the recorder lost are damage" {
	local lost="$BATS_TEST_TMPDIR/lost.trs"
	trdecode -q "$DATA/ctf/lost.tar.gz" >"$lost"
	trfilter 1 "$lost" >plain
	run -1 --separate-stderr trfilter --strict -o strict 1 "$lost"
	[[ $stderr == "trfilter: the recorder lost "*" (--strict)" ]]
	# the programs after it learn why
	run -1 pipe 'trfilter --strict 1 "'"$lost"'" 2>own | trstat -q 2>&1 >/dev/null'
	assert_output --regexp '^trstat: <stdin>: the trace is damaged: the recorder lost .* \(--strict\)$'
	# but for the command lines in the heads
	cmp <(trencode -t ndjson plain) <(trencode -t ndjson strict)
	trdecode -q "$DATA/uftrace/fib" | trfilter --strict -c 1
}

@test "a call is of the kind call, and an enter and a leave are calls" {
	trdecode "$DATA/uftrace/fib" | trsym | trfilter 'name !~ "^linux:"' >s.trs
	calls=$(trfilter -c 'kind == leave' s.trs)
	enters=$(trfilter -c 'kind == enter' s.trs)
	assert_equal "$(trfilter -c 'kind == call && kind == leave' s.trs)" "$calls"
	assert_equal "$(trfilter -c '"call" == kind && kind == enter' s.trs)" "$enters"
	assert_equal "$(trfilter -c 'kind in {instant, call} && kind in {enter}' s.trs)" "$enters"
	assert_equal "$(trfilter 'kind != call' s.trs | trfilter -c 'kind in {enter, leave}')" 0
	run -0 trstat -q -t tsv -g kind -c count s.trs
	assert_line "$(printf 'call\t%s' "$calls")"
	refute_line --regexp '^(enter|leave)'
	run -0 trencode -q -t tsv -c kind s.trs
	assert_equal "$(grep -c '^call$' <<<"$output")" "$calls"
	# the types of an enter and of its leave are two
	run -0 trstat -q -t tsv -g type,kind -c count s.trs
	assert_line --regexp $'\tenter\t'
	assert_line --regexp $'\tleave\t'
	for kind in call enter leave; do
		run -3 trstat -q -g kind -c count --fail-if "count(kind == $kind) > 0" s.trs
	done
	run -2 trfilter 'kind == cal' s.trs
	assert_output --partial "did you mean 'call'?"
}
