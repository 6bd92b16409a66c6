# What trencode makes of another system's events in a native format, as that system's tool reads it.

load lib
load encode

setup() {
	T=$BATS_TEST_TMPDIR
	cd "$T" || return
}

# The rows of trstat as name, TAB and the columns.
table() {
	trstat -q -t tsv "$@" | tail -n +2 | LC_ALL=C sort
}

@test "trace-cmd report prints ticks as ticks, and the times of another clock as that clock's" {
	need trace-cmd
	local version clock
	trdecode "$DATA/apitrace/threads.trace" >ticks.trs
	for version in 6 7; do
		trencode -q --file-version $version -t trace-cmd -o x.dat ticks.trs
		trace-cmd report x.dat 2>/dev/null | sed '1d; s/^.*\[000\] *\([0-9.]*\): .*/\1/' | sort -nu | head -n 3 >got
		[ "$(tr '\n' ' ' <got)" = '0 1 2 ' ] || fail "version $version: $(cat got)"
	done
	# a tick with a length is a time
	trencode -q --tick 1us -t trace-cmd -o x.dat ticks.trs
	trace-cmd report x.dat 2>/dev/null | grep -q '\[000\] *0.000001: '
	for clock in counter x86-tsc boot mono tai; do
		trdecode "$RECORDED/trace-cmd/v6-clock-$clock.dat" | trencode -q --resynthesize -t trace-cmd -o x.dat
		diff <(trace-cmd report "$RECORDED/trace-cmd/v6-clock-$clock.dat" 2>/dev/null) \
			<(trace-cmd report x.dat 2>/dev/null) || fail "$clock"
	done
}

@test "calls in the kernel are kept by LTTng, and what others lose of them is counted" {
	local t
	trdecode "$RECORDED/uftrace/kernel-sched" | trsym >k.trs
	table -c total,self,count k.trs >want
	run -0 --separate-stderr trencode -t lttng -o lttng k.trs
	[[ $stderr != *kernel* ]] || fail "$stderr"
	trdecode -q lttng | table -c total,self,count - | grep -v core_marker_ >got
	diff want got
	for t in uftrace trace-cmd; do
		run -0 --separate-stderr trencode --resynthesize -t $t -o $t k.trs
		[[ $stderr == *'2303 calls in the kernel outside any call of their task'* ]] || fail "$stderr"
		[[ $stderr == *'342 kernel calls outlast their callers and are closed with them'* ]] ||
			fail "$stderr"
	done
}

@test "concatenated streams whose times step back become buffers of their own in a trace.dat" {
	trdecode "$RECORDED/uftrace/basic-pg" | trsym >late.trs
	trdecode "$DATA/trace-cmd/v6-fgraph.dat" | trsym >early.trs
	cat late.trs early.trs early.trs >both.trs
	table -c self,count both.trs | grep -v -e '^linux' -e ^print >want
	run -0 --separate-stderr trencode --resynthesize -t trace-cmd -o x.dat both.trs
	[[ $stderr == *'2 streams overlap earlier ones: their buffers are instances named ~2 and so on'* ]] || fail "$stderr"
	trdecode x.dat | trsym | table -c self,count - | grep -v -e '^linux' -e ^print >got
	diff want got
	need trace-cmd
	[ "$(trace-cmd report x.dat 2>/dev/null | grep -c '^ *~[23]: ')" -gt 800 ]
	[ "$(trace-cmd report -R x.dat 2>/dev/null | grep -c 'funcgraph_entry:')" = \
		"$(trdecode x.dat | table -g type -c count - | sed -n 's/^funcgraph_entry\t//p')" ]
	# the segments of one stream, and streams in their order, need none
	trdecode --segment 4KiB "$DATA/trace-cmd/v6-fgraph.dat" >segments.trs
	run -0 --separate-stderr trencode --resynthesize -t trace-cmd -o y.dat segments.trs late.trs
	[[ $stderr != *instances* ]] || fail "$stderr"
}

@test "concatenated streams whose times step back become channels of their own in LTTng" {
	cat >late.json <<-END
		[{"ph":"X","pid":1,"tid":1,"ts":1000,"dur":10,"name":"late"},
		{"ph":"X","pid":1,"tid":1,"ts":1002,"dur":5,"name":"in"}]
	END
	sed 's/"ts":100/"ts":/; s/late/early/' late.json >early.json
	trdecode late.json >late.trs
	trdecode early.json | cat late.trs - >both.trs
	table -c total,self,count both.trs >want
	run -0 --separate-stderr trencode -t lttng -o x both.trs
	[[ $stderr == *'1 stream overlaps an earlier one: its channels are named ~2 and so on'* ]] || fail "$stderr"
	[ -f x/chrome~2_0 ] || fail "$(ls x)"
	trdecode x | table -c total,self,count - | grep -v core_marker_ >got
	diff want got
	run -0 --separate-stderr trencode -t lttng -o y late.trs
	[[ $stderr != *streams* ]] || fail "$stderr"
}

@test "types of one name and layout are one event; other layouts are marked, and had back" {
	cp -r "$DATA/uftrace/fib" a
	trdecode "$DATA/uftrace/fib" a | trsym >two.trs
	local t
	table -g type -c count two.trs >want
	grep -q '^linux:task-name' want
	for t in trace-cmd lttng; do
		trencode -q -t $t -o two.$t two.trs
		trdecode two.$t | trsym >back.trs
		[ "$(table -g type -c count back.trs | grep -i 'linux.*task.*name' | tee got | wc -l)" = 1 ] || fail "$t: $(cat got)"
		cut -f 2 got | cmp - <(sed -n 's/^linux:task-name\t//p' want)
		[ "$(table -g type -c count back.trs | grep -c -e '~' -e _x5f)" = 0 ]
	done
	# the two layouts of one name in the kernels of two machines
	trdecode "$RECORDED/trace-cmd/v6-sched-irq-timer.dat" >one.trs
	trdecode "$RECORDED/trace-cmd/trixie-v6-sched-irq-timer.dat" >other.trs
	cat one.trs other.trs >both.trs
	table -g type -c count both.trs >want
	for t in trace-cmd lttng; do
		trencode -q --resynthesize -t $t -o both.$t both.trs
		trdecode both.$t >back.trs
		table -g type -c count back.trs | grep -v core_marker_ >got
		diff want got || fail "$t"
		# and once more
		trencode -q -t $t -o again.$t back.trs
		trdecode again.$t | table -g type -c count - | grep -v core_marker_ >got
		diff want got || fail "$t again"
	done
	need trace-cmd
	trace-cmd report -N both.trace-cmd 2>err >got
	[ ! -s err ]
	grep -q 'hrtimer_start_x5f2\|sched_switch_x5f2\|_x5f2:' got
	# print fmt stays
	trace-cmd report -N "$RECORDED/trace-cmd/trixie-v6-sched-irq-timer.dat" 2>/dev/null |
		sed '1d; s/^.*\] *//; s/: */: /g' | LC_ALL=C sort >want
	sed '1d; s/^.*\] *//; s/_x5f2:/:/; s/: */: /g' got | LC_ALL=C sort >have
	[ "$(LC_ALL=C comm -23 want have | wc -l)" = 0 ] || fail "$(LC_ALL=C comm -23 want have | head -n 5)"
}

# events ROW...: Trace Event JSON of these rows, as JSON objects without their braces
events() {
	local IFS=$'\n'
	printf '%s\n' "$@" | sed 's/.*/{&},/; $s/,$//' | sed '1s/^/[/; $s/$/]/'
}

@test "uftrace reads what has long names of events, which are cut" {
	need uftrace
	local n which long
	for n in 511 512 550 2000; do
		printf -v long '%*s' "$n" ''
		for which in name cat; do
			events '"ph":"B","name":"f","pid":1,"tid":1,"ts":1' \
				'"ph":"i","name":"n","cat":"c","pid":1,"tid":1,"ts":2' \
				'"ph":"E","pid":1,"tid":1,"ts":3' |
				sed "s/\"$which\":\"[nc]\"/\"$which\":\"${long// /n}\"/" >x.json
			rm -rf x
			run -0 --separate-stderr pipe 'trdecode -f chrome x.json | trencode -t uftrace -o x'
			if ((n > 511)); then
				[[ $stderr == *'1 name or group of events is cut to 511 bytes'* ]]
			else
				[[ $stderr != *cut* ]]
			fi
			uftrace report -d x >got 2>&1 || fail "$which of $n: status $?"
			uftrace replay -d x >got 2>&1 || fail "$which of $n: status $?"
			grep -q "nnnnn" got
		done
	done
	# not inside of an escape
	events '"ph":"B","name":"f","pid":1,"tid":1,"ts":1' \
		"\"ph\":\"i\",\"name\":\"${long:0:508}\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":2" \
		'"ph":"E","pid":1,"tid":1,"ts":3' >x.json
	rm -rf x
	trdecode -f chrome x.json | trencode -q -t uftrace -o x
	grep -q '^EVENT: 1000000 c:\(\\x20\)\{127\}$' x/events.txt
}

@test "uftrace knows the types that return values are said to have" {
	need uftrace
	trdecode "$RECORDED/uftrace/new-events" | trsym | trencode -q --resynthesize -t uftrace -o x
	uftrace replay -d x --no-pager >got 2>err
	[ ! -s err ] || fail "$(cat err)"
	grep -q 'leaf(2) = 0x7;' got
}

@test "threads without a name are of their process" {
	need uftrace
	local rows=() i
	for i in 6 7 8; do
		rows+=('"ph":"B","name":"f","pid":5,"tid":'"$i"',"ts":1' '"ph":"E","pid":5,"tid":'"$i"',"ts":3')
	done
	events "${rows[@]}" >x.json
	run -0 --separate-stderr pipe 'trdecode -f chrome x.json | trencode -t uftrace -o x'
	[ "$stderr" = '' ] || fail "$stderr"
	[ "$(grep -c '^SESS .*pid=5 .*exename="process-5"$' x/task.txt)" = 1 ]
	[ "$(grep -c '^TASK .*tid=[678] pid=5$' x/task.txt)" = 3 ]
	# a name is the process's, but for that of a thread that has another one
	events "${rows[@]}" '"ph":"M","name":"thread_name","pid":5,"tid":7,"args":{"name":"seven"}' \
		'"ph":"M","name":"thread_name","pid":5,"tid":8,"args":{"name":"eight"}' >y.json
	run -0 --separate-stderr pipe 'trdecode -f chrome y.json | trencode -t uftrace -o y'
	[[ $stderr == *'1 thread is a process of its own, as it has a name of its own'* ]] || fail "$stderr"
	grep -q '^TASK .*tid=6 pid=5$' y/task.txt
	grep -q '^SESS .*pid=5 .*exename="seven"' y/task.txt && grep -q '^SESS .*pid=8 .*exename="eight"' y/task.txt || fail "$(cat y/task.txt)"
	# memory for each of many threads stays small
	rows=()
	for i in {6..405}; do
		rows+=('"ph":"B","name":"f","pid":5,"tid":'"$i"',"ts":1' '"ph":"E","pid":5,"tid":'"$i"',"ts":3')
	done
	events "${rows[@]}" >z.json
	trdecode -f chrome z.json | trencode -q -t uftrace -o z
	(ulimit -v 300000 && uftrace report -d z) | grep -q ' 400  f$'
}

@test "to lttng: a character that is NUL ends no text" {
	run -0 --separate-stderr pipe "trdecode '$RECORDED/uftrace/args-auto' | trencode -t lttng -o x"
	[[ $stderr != *' cut '* ]] || fail "$stderr"
	trdecode x | trencode -q >text
	grep -qF "_arguments = \"'\x00'\"" text
}

@test "to uftrace: values that do not fit, and calls that are too deep, are counted" {
	local rows=() i
	events '"ph":"B","name":"f","pid":5,"tid":5,"ts":1,"args":{"c":1,"d":"x"}' '"ph":"E","pid":5,"tid":5,"ts":2' \
		'"ph":"B","name":"f","pid":5,"tid":5,"ts":3,"args":{"c":7,"d":8,"e":9}' '"ph":"E","pid":5,"tid":5,"ts":4' \
		'"ph":"B","name":"f","pid":5,"tid":5,"ts":5,"args":{"c":"no"}' '"ph":"E","pid":5,"tid":5,"ts":6' >x.json
	run -0 --separate-stderr pipe 'trdecode -f chrome x.json | trencode -t uftrace -o x'
	[[ $stderr == *"1 call is written without the values that the function's first call lacks"* ]] || fail "$stderr"
	[[ $stderr == *"1 call is written without its values: their types differ from the function's first call"* ]]
	for i in {1..1030}; do rows+=('"ph":"B","name":"f'"$i"'","pid":5,"tid":5,"ts":'"$i"); done
	for i in {1031..2060}; do rows+=('"ph":"E","pid":5,"tid":5,"ts":'"$i"); done
	events "${rows[@]}" >y.json
	run -0 --separate-stderr pipe 'trdecode -f chrome y.json | trencode -t uftrace -o y'
	[[ $stderr == *'6 calls are deeper than 1024 levels: uftrace shows them only if its -D is larger'* ]] || fail "$stderr"
	need uftrace
	[ "$(uftrace report -d y | grep -c ' f[0-9]*$')" = 1024 ]
	[ "$(uftrace report -d y -D 2000 | grep -c ' f[0-9]*$')" = 1030 ]
	# what came back through arguments of what returns nothing
	trdecode -q "$DATA/apitrace/v6.trace" | trencode -q --tick 1ns -t uftrace -o z
	uftrace replay -d z --no-pager >got 2>err
	[ ! -s err ]
}

@test "NULs in names, where they would end them, can be had back" {
	local t
	events '"ph":"B","name":"a\u0000b","pid":1,"tid":1,"ts":1' \
		'"ph":"i","name":"c\u0000d","cat":"g","pid":1,"tid":1,"ts":2,"args":{"s":"text"}' \
		'"ph":"E","pid":1,"tid":1,"ts":3' '"ph":"B","name":"l\\x00\\x41","pid":1,"tid":1,"ts":4' \
		'"ph":"E","pid":1,"tid":1,"ts":5' >x.json
	trdecode -f chrome x.json >x.trs
	for t in uftrace trace-cmd apitrace lttng ctf; do
		trencode -q -t $t -o x.$t x.trs
		trdecode x.$t | trsym -q >back.trs
		table -g name -c count back.trs >got
		grep -qF 'a\\x00b' got || fail "$t: $(cat got)"
		grep -qF -e 'l\\x5cx00\\x' -e 'l\\x00\\x41' got || fail "$t: $(cat got)"
		table -g type,name -c count back.trs >got
		grep -qF -e 'c\\x00d' -e c_x00d got || fail "$t: $(cat got)"
	done
	# values of events that are no calls
	trdecode x.trace-cmd | trencode -q | grep -qF 'c_x00d:               s = "text"'
	run -0 --separate-stderr trencode -t apitrace -o y x.trs
	[[ $stderr == *'1 event is written as a call that returns at once'* && $stderr != *values* ]] || fail "$stderr"
	trdecode y | trencode -q --all-calls | grep -qF '(s = "text")'
	need babeltrace2
	babeltrace2 x.ctf >got
	grep -qF 'name = "a\\x00b"' got || grep -qF 'name = "a\x00b"' got || fail "$(cat got)"
}

@test "trace.dat converted from trace.dat: trace-cmd report prints the same for both, on any machine" {
	need trace-cmd
	local f o
	for f in s390x-v7-zstd-sched-syscalls s390x-v6-fgraph s390x-v7-none-instances i386-v6-sched-irq-timer \
		i386-v6-fgraph i386-v6-markers-raw i386-v7-none-instances trixie-v6-fgraph v6-instances; do
		trdecode "$RECORDED/trace-cmd/$f.dat" | trsym -q | trencode -q --resynthesize -t trace-cmd -o x.dat
		for o in '' -N; do
			# of raw_data it prints more than is there
			diff <(trace-cmd report $o "$RECORDED/trace-cmd/$f.dat" 2>/dev/null | sed /raw_data/d) \
				<(trace-cmd report $o x.dat 2>/dev/null | sed /raw_data/d) >different || fail "$f $o: $(head -n 6 different)"
		done
	done
	# every field
	for f in s390x i386 trixie; do
		trdecode "$RECORDED/trace-cmd/$f-v6-fgraph.dat" | trsym -q | trencode -q --resynthesize -t trace-cmd -o x.dat
		diff <(trace-cmd report -R "$RECORDED/trace-cmd/$f-v6-fgraph.dat" 2>/dev/null) \
			<(trace-cmd report -R x.dat 2>/dev/null) || fail "$f"
	done
	# LTTng has those fields too
	trdecode "$RECORDED/trace-cmd/trixie-v6-fgraph.dat" | trsym -q >x.trs
	trencode -q -t lttng -o x x.trs
	[ "$(trstat -q -t tsv -g rettime -c count x.trs | grep '^[0-9]' | LC_ALL=C sort | cksum)" = \
		"$(trdecode x | trstat -q -t tsv -g rettime -c count | grep '^[0-9]' | LC_ALL=C sort | cksum)" ]
}

@test "what has no place for the names of buffers says so" {
	local t
	trdecode "$DATA/trace-cmd/v7-zstd-instances.dat" >x.trs
	for t in lttng apitrace; do
		run -0 --separate-stderr trencode -t $t -o x.$t x.trs
		[[ $stderr =~ [0-9]+\ 'events are written without the name of their buffers' ]] || fail "$stderr"
	done
	run -0 --separate-stderr trencode --resynthesize -t trace-cmd -o x.dat x.trs
	[[ $stderr != *'their buffer'* ]] || fail "$stderr"
}

@test "values of events that are no calls are arguments of apitrace calls" {
	events '"ph":"i","name":"foo","pid":1,"tid":1,"ts":1,"args":{"x":5}' \
		'"ph":"i","name":"bare","pid":1,"tid":1,"ts":2' \
		'"ph":"X","name":"foo","pid":1,"tid":1,"ts":3,"dur":1' >x.json
	trdecode -f chrome x.json | trencode -q -t apitrace -o x.trace
	need apitrace
	run -0 apitrace dump --color=never x.trace
	assert_line --index 0 '0 foo(x = 5)'
	assert_line --index 1 '1 bare()'
	assert_line --index 2 '2 foo(x = ?)'
	# each such event has the names of what it has, calls may have more where they return
	events '"ph":"i","name":"foo","pid":1,"tid":1,"ts":1,"args":{"x":5,"y":6}' \
		'"ph":"i","name":"foo","pid":1,"tid":1,"ts":2' \
		'"ph":"i","name":"foo","pid":1,"tid":1,"ts":3,"args":{"y":7}' \
		'"ph":"B","name":"foo","pid":1,"tid":1,"ts":4,"args":{"x":8}' \
		'"ph":"E","name":"foo","pid":1,"tid":1,"ts":5,"args":{"z":9}' \
		'"ph":"i","name":"foo","pid":1,"tid":1,"ts":6,"args":{"x":10,"y":11}' >x.json
	trdecode -f chrome x.json | trencode -q -t apitrace -o x.trace
	run -0 apitrace dump --color=never x.trace
	assert_output "$(printf '%s\n' '0 foo(x = 5, y = 6)' '1 foo()' '2 foo(y = 7)' \
		'3 foo(x = 8, y = ?, z = 9)' '4 foo(x = 10, y = 11)')"
	run -0 pipe 'trdecode x.trace | trencode'
	assert_line --index 1 '1 foo()'
}

@test "calls of a function with and without arguments are of two functions of a .trace" {
	need apitrace
	cp -r "$RECORDED/uftrace/args-spec" x
	chmod -R u+w x
	# the second call of ints loses its values
	{
		head -c $((0x98)) "$RECORDED/uftrace/args-spec/10982.dat"
		printf '\x68'
		tail -c +$((0x9a)) "$RECORDED/uftrace/args-spec/10982.dat" | head -c 7
		tail -c +$((0xb9)) "$RECORDED/uftrace/args-spec/10982.dat"
	} >x/10982.dat
	trdecode -q x | trsym -q | trencode -q -t apitrace -o x.trace
	run -0 apitrace dump --color=never x.trace
	assert_line '4 ints(arg1 = -1, arg2 = -300, arg3 = 70000, arg4 = -5000000000) = -704963005'
	assert_line '5 ints() = 10'
	trdecode x.trace | trencode >got
	printf '%s\n' "$output" | diff <(sed /^$/d got) -
}

@test "concatenated .trace files: a message says that apitrace reads only the first" {
	trdecode -q "$DATA/apitrace/v6.trace" >x.trs
	run -0 --separate-stderr pipe "cat x.trs x.trs x.trs | trencode -t apitrace -o x.trace"
	[[ $(grep -c 'apitrace reads only the first: --resynthesize writes one trace' <<<"$stderr") == 1 ]]
	run -0 --separate-stderr pipe "cat x.trs x.trs | trencode --resynthesize -t apitrace -o x.trace"
	[[ $stderr != *first* ]]
}

@test "names that a target escapes are read back as they were" {
	printf '[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a b $c"},{"ph":"i","pid":1,"tid":1,"ts":1,"name":"x:y z-1"},
		{"ph":"i","pid":1,"tid":1,"ts":2,"name":"_x2a"},{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"w\\tk"}}]' |
		trdecode -q -f chrome - >x.trs
	trencode -q -t trace-cmd -o x.dat x.trs
	trdecode -q x.dat | trsym -q >back.trs
	run -0 trstat -q -g comm,name -c count -s name -t tsv back.trs
	assert_line $'w\\tk\t_x2a\t1'
	assert_line $'w\\tk\ta b $c\t1'
	assert_line $'w\\tk\tx:y z-1\t1'
	trencode -q -t uftrace -o x.uftrace x.trs
	run -0 pipe "trdecode -q x.uftrace | trsym -q | trstat -q -g name -c count -s name -t tsv"
	assert_line --regexp 'x:y z-1'
	# names of a kernel that look like an escape stay
	sed 's/^name: sched_switch$/name: sche_x2aitch/' "$DATA/trace-cmd/v6-fgraph.dat" >kernel.dat
	run -0 pipe "trdecode -q kernel.dat | trstat -q -g type -c count -t tsv"
	refute_line --partial '*'
	need trace-cmd
	run -0 pipe "trace-cmd report x.dat 2>/dev/null | grep -c x_x3ay_x20z_x2d1:"
	assert_output 1
}

@test "a clock that counts something else than calls and returns is not said to" {
	trdecode -q "$DATA/apitrace/v6.trace" >x.trs
	run -2 trencode -t uftrace -o x.data x.trs
	assert_output --partial 'the clock of the trace counts ticks, one for each call and return; give the length of a tick, as in --tick 1ns'
	trencode -q -t trace-cmd -o x.dat x.trs
	run -2 pipe 'trdecode -q x.dat | trencode -t uftrace -o x.data'
	assert_output --partial 'x.dat: the clock of the trace counts ticks; give the length of a tick, as in --tick 1ns'
}

@test "calls with numbers beside a stack of calls: those that overlap are left out, and counted" {
	local t
	mixed | trdecode -f chrome - >x.trs
	for t in uftrace trace-cmd; do
		run -0 errors trencode -t $t -o out.$t x.trs
		assert_line 'trencode: 3 calls that overlap others of their threads are left out'
		refute_line --partial 'return'
		run -0 pipefail "trdecode -q out.$t | trsym -q | trfilter 'name != \"print\"' | trstat -q -c count,total,self -s name -t tsv"
		assert_output $'name\tcount\ttotal\tself
in\t1\t2000\t2000
k\t1\t2000\t1500
last\t1\t500\t500
outer\t1\t5000\t3000'
	done
	# too many rows while it is open to know whether the asynchronous call nests
	{
		echo '[{"ph":"X","name":"first","pid":1,"ts":0,"dur":1},{"ph":"b","name":"long","id":6,"pid":1,"ts":1},'
		awk 'BEGIN { for (i = 2; i < 6000; i++) printf "{\"ph\":\"X\",\"name\":\"x\",\"pid\":1,\"ts\":%d,\"dur\":1},\n", i }'
		echo '{"ph":"e","name":"long","id":6,"pid":1,"ts":9999}]'
	} | trdecode -f chrome - >x.trs
	run -0 errors trencode -t uftrace -o long x.trs
	assert_line 'trencode: 1 call that overlaps another of its thread is left out'
	run -0 pipefail "trdecode -q long | trsym -q | trstat -q -c count,total,self -s name -t tsv"
	assert_output $'name\tcount\ttotal\tself
first\t1\t1000\t1000
x\t5998\t5998000\t5998000'
}

@test "ids of asynchronous events keep a name, and are no return values" {
	local t ids
	events '"ph":"b","cat":"net","id":"0x10","name":"load","pid":1,"tid":2,"ts":1,"args":{"url":"u1"}' \
		'"ph":"b","cat":"net","id":"0x11","name":"load","pid":1,"tid":2,"ts":2,"args":{"url":"u2"}' \
		'"ph":"n","cat":"net","id":"0x11","name":"step","pid":1,"tid":2,"ts":3,"args":{"x":7}' \
		'"ph":"n","cat":"net","id":"0x12","name":"bare","pid":1,"tid":2,"ts":3.5' \
		'"ph":"e","cat":"net","id":"0x11","name":"load","pid":1,"tid":2,"ts":4' \
		'"ph":"b","cat":"net","id":"0x13","name":"wait","pid":1,"tid":2,"ts":4.5' \
		'"ph":"e","cat":"net","id":"0x13","name":"wait","pid":1,"tid":2,"ts":4.7' \
		'"ph":"B","name":"load","pid":1,"tid":2,"ts":4.8,"args":{"url":"u3"}' '"ph":"E","pid":1,"tid":2,"ts":4.9' \
		'"ph":"e","cat":"net","id":"0x10","name":"load","pid":1,"tid":2,"ts":5,"args":{"size":9}' >x.json
	trdecode -f chrome x.json >x.trs
	trencode -q -t apitrace -o x.apitrace x.trs
	run -0 pipefail 'trdecode x.apitrace | trencode --all-calls'
	assert_line '0 load(url = "u1", size = 9, id = 0x10)'
	assert_line '1 load(url = "u2", size = ?, id = 0x11)'
	assert_line '2 step(x = 7, id = 0x11)'
	assert_line '3 bare(id = 0x12)'
	assert_line '4 wait(id = 0x13)'
	assert_line '5 load(url = "u3", size = ?)'
	# uftrace has no names of arguments
	trencode -q -t uftrace -o x.uftrace x.trs
	trdecode x.uftrace | trsym | trencode -t ndjson >got
	ids=$(jq -c 'select(.name == "load" or .name == "wait") | [.time, .args]' got)
	[ "$ids" = '[2000,{"arg1":"u2","arg3":"0x11"}]
[4500,{"arg1":"0x13"}]
[4800,null]
[1000,{"arg1":"u1","arg3":"0x10","ret":"(size = 9)"}]' ] || fail "$ids"
	grep -q '"message":"step\[2\]: step x = 7, id = 0x11"' got
	grep -q '"message":"bare\[2\]: id=0x12"' got
	trencode -q -t trace-cmd -o x.trace-cmd x.trs
	trdecode x.trace-cmd | trsym | trencode -t ndjson | jq -r 'select(.name == "print") | .args.buf' >got
	diff - got <<-'END'
		(url = "u1", id = 0x10)
		(url = "u2", id = 0x11)
		(id=0x13)
		(url = "u3")
		(size = 9)
	END
	run -0 pipefail 'trdecode x.trace-cmd | trencode -q -t ndjson | jq -c "select(.name == \"step\" or .name == \"bare\") | .args"'
	assert_output '{"values":"x = 7, id = 0x11"}
{"id":18}'
	trencode -q -t lttng -o x.lttng x.trs
	trencode -q -t ctf -o x.ctf x.trs
	for t in lttng ctf; do
		run -0 pipefail "trdecode x.$t | trencode -t ndjson | grep -v core_marker | jq -c '[.name, .args.id]'"
		assert_output '["step","0x11"]
["bare","0x12"]
["load","0x11"]
["wait","0x13"]
["load",null]
["load","0x10"]'
	done
	# a further conversion, in which the id is a field like others
	trdecode x.ctf | trencode -q -t apitrace -o y.apitrace
	run -0 pipefail 'trdecode y.apitrace | trencode --all-calls'
	refute_output --partial ') = '
	for t in apitrace uftrace trace-cmd lttng ctf chrome; do
		trencode -q -t $t -o z.$t x.trs
		trdecode -q z.$t | trsym -q >z.trs
		[ $t = apitrace ] || diff <(table -g name -c count,min,max z.trs | grep -E '^(load|wait)') \
			<(table -g name -c count,min,max x.trs | grep -E '^(load|wait)') || fail $t
		[ $t != apitrace ] || diff <(table -g name -c count z.trs) <(table -g name -c count x.trs)
	done
}

@test "the field ret of a leave is the return value in every target" {
	trdecode -q "$DATA/lttng/v2.6-le64-packed.tar.gz" >x.trs
	[ "$(trstat -q -g ret -c count -t tsv x.trs | awk '$1 ~ /^-?[0-9]/ { n += $2 } END { print n }')" = 8 ]
	trencode -q -t apitrace -o x.trace x.trs
	[ "$(trdecode x.trace | trencode --all-calls | grep -c '^[0-9]* syscall [0-9]*(syscall_id = [0-9]*, ip = 0x[0-9a-f]*) = -\?[0-9]*$')" = 8 ]
	trencode -q -t trace-cmd -o x.dat x.trs
	[ "$(trdecode x.dat | trencode -t ndjson | jq -r 'select(.name == "print") | .args.buf' | grep -c '^= -\?[0-9]*$')" = 8 ]
}

@test "stacks of the kernel beside calls go into every native format, with all their frames" {
	local to
	# a frame of 48 of the stacks, which the source's own tool prints so often
	need trace-cmd
	assert_equal "$(trace-cmd report "$DATA/trace-cmd/v6-stacktrace.dat" 2>/dev/null | grep -c ffffffff81152ce2)" 48
	trdecode -q --align start "$DATA"/trace-cmd/{v6-stacktrace,v6-fgraph}.dat >x.trs
	for to in uftrace apitrace lttng ctf trace-cmd; do
		trencode -q -t $to x.trs >x.tar || fail "$to"
		trdecode -q x.tar | trencode -q -t ndjson >rows || fail "$to, read back"
		assert_equal "$to: $(grep -c -e ffffffff81152ce2 -e 18446744071580134626 rows)" "$to: 48"
	done
}
