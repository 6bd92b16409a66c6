# What tests of trstat's tables have in common: load tables
# fib.trs has calls of functions, sched.trs events of a kernel.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" | trsym >sched.trs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# lines LINE...: the output, with tabs for blanks
lines() {
	assert_output "$(printf '%s\n' "$@" | tr ' ' '\t')"
}
