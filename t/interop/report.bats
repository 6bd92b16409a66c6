# trstat --report -t html in a browser: markup, accessibility, keyboard, colours, widths, hostile names.
# RECORDED: trace-cmd

load ../lib

setup() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	need chromium
	cd "$BATS_TEST_TMPDIR" || return
}

# look TRACE: with SHOTS=DIR, screenshots go there
look() {
	trstat -q --report -t html -o "$1.html" "$1.trs"
	run -0 node "$ROOT/t/interop/report.mjs" "$INTEROP" "$1.html" ${SHOTS:+"$SHOTS"}
	assert_output ''
}

@test "the page of calls, of a scheduler, of system calls, of samples, of counters, of ticks" {
	trdecode -q "$ROOT/t/data/uftrace/fib" | trsym -q -o fib.trs
	trdecode -q -o sched.trs "$RECORDED/trace-cmd/v6-sched-irq-timer.dat"
	trdecode -q -o strace.trs "$ROOT/t/data/strace/f-ttt-T-y.txt"
	trdecode -q "$ROOT/t/data/perf/sched.data.gz" | trsym -q -o perf.trs
	trdecode -q -o disk.trs "$ROOT/t/data/perfetto/disk_stat.pftrace"
	trdecode -q -o ticks.trs "$RECORDED/trace-cmd/v6-clock-counter.dat"
	for trace in fib sched strace perf disk ticks; do
		look "$trace"
	done
}

@test "the page of a trace whose names are markup runs no script and asks for nothing" {
	python3 - >hostile.ndjson <<-'END'
		import json
		text = "</title></style></script></svg><img src=http://x.invalid onerror=alert(1)><script>alert(2)</script>]]>\"' onload='alert(3)"
		for i in range(40):
		    print(json.dumps({"time": 1000 + i * 100, "dur": 50 + i, "type": "call", "tid": 1, "pid": 1, "comm": text,
		                      "name": text + str(i % 9), "depth": 0, "args": {"a": text}}))
	END
	trdecode -q -f ndjson -o hostile.trs hostile.ndjson
	look hostile
	# the test sees what a page without escapes and without its policy does
	sed 's/<meta http-equiv[^>]*>//; s/&lt;/</g; s/&gt;/>/g' hostile.html >open.html
	run -1 node "$ROOT/t/interop/report.mjs" "$INTEROP" open.html
	assert_output --partial 'dialog: 2'
}
