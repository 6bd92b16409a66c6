# What trencode makes of another system's events in a native format, as that system's tool reads it.

load lib

setup() {
	T=$BATS_TEST_TMPDIR
	cd "$T" || return
}

# The rows of trstat as name, TAB and the columns.
table() {
	trstat -q -F tsv "$@" | tail -n +2 | LC_ALL=C sort
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
	need_shared trace-cmd
	for clock in counter x86-tsc boot mono tai; do
		trdecode "$SHARED/trace-cmd/v6-clock-$clock.dat" | trencode -q --anew -t trace-cmd -o x.dat
		diff <(trace-cmd report "$SHARED/trace-cmd/v6-clock-$clock.dat" 2>/dev/null) \
			<(trace-cmd report x.dat 2>/dev/null) || fail "$clock"
	done
}

@test "calls in the kernel are kept by LTTng, and what others lose of them is counted" {
	need_shared uftrace
	local t
	trdecode "$SHARED/uftrace/kernel-sched" | trsym >k.trs
	table -a total,self,count k.trs >want
	run -0 --separate-stderr trencode -t lttng -o lttng k.trs
	[[ $stderr != *kernel* ]] || fail "$stderr"
	trdecode -q lttng | table -a total,self,count - | grep -v core_marker_ >got
	diff want got
	for t in uftrace trace-cmd; do
		run -0 --separate-stderr trencode --anew -t $t -o $t k.trs
		[[ $stderr == *'2217 calls in the kernel outside any call of their task'* ]] || fail "$stderr"
		[[ $stderr == *'342 calls in the kernel outlast the call that they are in: they end with it, and what they took behind it is time of the call below'* ]] ||
			fail "$stderr"
	done
}
