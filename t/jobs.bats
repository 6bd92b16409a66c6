# -j: the bytes, messages and status of one process, from several; a worker that is killed.
load lib

# One trace of each source, and sizes of segments that give several.
SOURCES="uftrace 1K $DATA/uftrace/fib
trace-cmd 4K $DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat
perf 4K $DATA/perf/two.data.gz
apitrace 4K $DATA/apitrace/threads.trace
lttng 1K $DATA/lttng/v2.6-le64-packed.tar.gz"

setup_file() {
	local name size path
	cd "$BATS_FILE_TMPDIR" || return
	while read -r name size path; do
		trdecode -q --segment "$size" "$path" | trsym -q >"$name.trs" || [ $? = 1 ]
	done <<<"$SOURCES"
	trdecode -q "$DATA/uftrace/fib" >whole.trs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	export own=$BATS_TEST_TMPDIR
}

# same PROGRAM ARGUMENT...: with three workers as with one, and the status of both
same() {
	local a=0 b=0 program=$1
	shift
	"$program" -j 1 "$@" >"$own/a" 2>"$own/a.err" || a=$?
	"$program" -j 3 "$@" >"$own/b" 2>"$own/b.err" || b=$?
	cmp "$own/a" "$own/b"
	diff "$own/a.err" "$own/b.err"
	[ $a = $b ] || {
		echo "status $a, $b: $program $*"
		return 1
	}
}

# workers PROGRAM ARGUMENT...: how many workers gave the output; 0: none
workers() {
	"$1" --verbose -j 3 "${@:2}" 2>&1 >/dev/null | sed -n "s/^$1: \([0-9]*\) workers$/\1/p" | grep . || echo 0
}

@test "trstat -j prints the bytes and the messages of -j 1, by workers" {
	local name
	for name in uftrace trace-cmd perf apitrace lttng; do
		while read -r view; do
			# shellcheck disable=SC2086
			same trstat $view $name.trs
			# shellcheck disable=SC2086
			(($(workers trstat $view $name.trs) > 1)) || {
				echo "no workers: trstat $view $name.trs"
				return 1
			}
		done <<-'END'

			-g name,tid,caller,depth -t json
			-g type,kind,group -c count -s count
			-c total,total_stdev,self_stdev,p50,p99.9,total%,self% --bounds
			-g stack
		END
	done
	for name in uftrace apitrace; do
		same trstat --tree $name.trs
		same trstat --callees fib $name.trs
		same trstat --hist $name.trs
		same trstat -t prom -n 3 -q $name.trs
	done
	(($(workers trstat --tree uftrace.trs) > 1))
}

@test "trstat -j of several files, of standard input, of a part of the fields" {
	same trstat uftrace.trs trace-cmd.trs
	(($(workers trstat uftrace.trs trace-cmd.trs) > 1))
	# times and ticks, which one process finds
	same trstat uftrace.trs apitrace.trs
	trstat -j 3 -g name <uftrace.trs >"$own/c"
	trstat -j 1 -g name uftrace.trs | cmp - "$own/c"
	# what parts do not know is not divided
	for view in '-g bucket(dur,10us)' '-c rate' '-g cpu' '--slowest 3' '-i 10us' '--where dur>1us' \
		'--since +10us' '-g no_such_field' '--fail-if count>3'; do
		# shellcheck disable=SC2086
		same trstat $view uftrace.trs
		# shellcheck disable=SC2086
		[ "$(workers trstat $view uftrace.trs)" = 0 ]
	done
	same trstat -g name whole.trs whole.trs
	same trstat --tree trace-cmd.trs
}

@test "trencode -j writes the rows and the messages of -j 1, by workers" {
	local name
	for name in uftrace trace-cmd perf apitrace lttng; do
		same trencode -t ndjson $name.trs
		same trencode -t csv -c +kind,self,caller,recursive,stack,weight $name.trs
		same trencode -t tsv -q $name.trs
		# the order of the calls that the end closes in threads which began late is that of one process
		(($(workers trencode -t ndjson $name.trs) > 1)) || [ $name = lttng ]
	done
	# what a part does not know
	for options in '-c +running' '-c +no_such_field' '-n 3' '--since +1us' '--tick 5us' '-t text' '-t chrome'; do
		# shellcheck disable=SC2086
		same trencode -t csv $options uftrace.trs
	done
	trencode -j 3 -t ndjson <uftrace.trs >"$own/c"
	trencode -j 1 -t ndjson uftrace.trs | cmp - "$own/c"
}

@test "damage in one part, a missing segment and a cut file: messages and status of -j 1" {
	local size at
	size=$(stat -c %s uftrace.trs)
	for at in $((size / 3)) $((size / 2)) $((size - 100)); do
		cp uftrace.trs "$own/bad.trs"
		printf '\xff\xfe\xfd' | dd of="$own/bad.trs" bs=1 seek=$at conv=notrunc status=none
		same trstat "$own/bad.trs"
		same trencode -t ndjson "$own/bad.trs"
		head -c "$at" uftrace.trs >"$own/cut.trs"
		same trstat "$own/cut.trs"
	done
	[ -s "$own/a.err" ]
	run -1 trstat -j 3 "$own/cut.trs"
}

@test "a worker that a signal ends: an error that says so, status 2 and no output file" {
	# its output is larger than a file may be: SIGXFSZ
	run -2 bash -c "ulimit -f 0; trstat -j 3 -o '$own/out' uftrace.trs 2>&1 | cat; exit \${PIPESTATUS[0]}"
	[[ $output == 'trstat: a worker was ended by signal 25 ('* ]]
	[ ! -e "$own/out" ]
	run -2 bash -c "ulimit -f 1; trencode -t ndjson -j 3 -o '$own/out' uftrace.trs 2>&1 | cat; exit \${PIPESTATUS[0]}"
	[[ $output == 'trencode: a worker was ended by signal 25 ('* ]]
	[ ! -e "$own/out" ]
}

@test "-j: the input as output is refused, numbers are checked, other descriptors are as before" {
	cp uftrace.trs "$own/both.trs"
	run -2 bash -c "trstat -j 3 '$own/both.trs' >>'$own/both.trs'"
	[[ $output == *'both.trs: is also the output' ]]
	cmp uftrace.trs "$own/both.trs"
	for n in 0 257 x -1 ''; do
		run -2 trstat -j "$n" uftrace.trs
		[[ ${lines[0]} == 'trstat: -j '* ]]
	done
	# without room for temporary files one process reads all
	TMPDIR=$own/none trstat -j 3 uftrace.trs >"$own/c"
	trstat -j 1 uftrace.trs | cmp - "$own/c"
}
