# Out of memory: each allocation of a run fails once, by t/tools/fail_allocations.c, which says what is
# tested. A run has some 200 allocations and takes about 0.3 s.

load lib

setup_file() {
	cc -shared -fPIC -O1 -o "$BATS_FILE_TMPDIR/fail.so" "$ROOT/t/tools/fail_allocations.c"
}

setup() {
	# a sanitizer has its own allocator
	! nm "$BIN/trdecode" | grep -q __asan_init || skip 'no sanitizer: allocations are replaced'
	cd "$BATS_TEST_TMPDIR" || return
	trdecode -q -o calls.trs "$DATA/uftrace/fib"
	trdecode -q -o values.trs "$DATA/apitrace/v6.trace"
	trdecode -q -o samples.trs "$DATA/perf/flat.data"
}

# fail_each OUTPUT PROGRAM ARGUMENT...
fail_each() {
	local output=$1
	shift
	FAIL_OUTPUT=$output LD_PRELOAD=$BATS_FILE_TMPDIR/fail.so "$BIN/$1" "${@:2}" >faults 2>&1 </dev/null ||
		fail "$* $(<faults)"
}

@test "an allocation of trdecode fails" {
	for input in apitrace/{v6,v6-br,values}.trace uftrace/{fib,jumps} trace-cmd/v6-date.dat \
		trace-cmd/v7-{zstd-instances,zlib-sched-irq-timer,zstd-split-lost}.dat \
		perf/{flat,switch,pipe-zstd,group}.data stream/map-epoch.trs; do
		fail_each x.trs trdecode -q -o x.trs "$DATA/$input"
	done
	fail_each x trdecode -q --info -o x "$DATA/uftrace/fib"
}

@test "an allocation of trfilter and of trsym fails" {
	fail_each x.trs trfilter -q -o x.trs 'dur > 1us' calls.trs
	fail_each x.trs trsym -q -o x.trs values.trs
}

@test "an allocation of trstat fails" {
	for options in '' --tree --partial; do
		fail_each x trstat -q ${options:+$options} -o x calls.trs
	done
}

@test "an allocation of trencode fails" {
	fail_each x trencode -q -t chrome -o x calls.trs
	fail_each x trencode -q -o x values.trs
	fail_each x trencode -q -t svg -o x samples.trs
	fail_each x trencode -q -t pprof -o x samples.trs
}
