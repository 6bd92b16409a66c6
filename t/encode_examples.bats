# What trencode(1) says of the reports.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cp -r "$DATA/uftrace/fib" uftrace.data
	cp -r uftrace.data a.data
	cp -r uftrace.data b.data
	cp "$DATA/apitrace/odd.trace" gl.trace
	cp "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" trace.dat
	# not packaged: a reader of standard input is enough for the example
	mkdir bin
	printf '#!/bin/sh\nexec cat\n' >bin/flamegraph.pl
	chmod +x bin/flamegraph.pl
	PATH=$PATH:$PWD/bin
}

@test "the examples run" {
	page_examples trencode >examples
	[[ $(wc -l <examples) == $(grep -c '^\.Dl' "$ROOT/man1/trencode.1") ]]
	[[ $(wc -l <examples) -gt 12 ]]
	mapfile -t lines_of_page <examples
	for line in "${lines_of_page[@]}"; do
		for tool in babeltrace2 callgrind_annotate jq; do
			[[ $line == *$tool* ]] && ! command -v $tool >/dev/null && continue 2
		done
		run -0 pipe "{ ${line/4788/4123}; } >shown"
	done
	for file in graph.svg chart.svg graph.gv graph.mmd ms.svg trace.json trace.pftrace trace.speedscope.json callgrind.out \
		profile.pb.gz trace.ctf/metadata calls.csv calls.parquet; do
		[[ -s $file ]] || fail "$file"
	done
}

@test "no page loses a quote of its examples" {
	run -1 grep -nE '^\.(Dl|D1) .*"' "$ROOT"/man*/*.[157]
}

@test "every format of --formats is in the page" {
	page=$(mandoc -Tascii "$ROOT/man1/trencode.1" | sed 's/.\x08//g')
	details=$(sed -n 's/^\.Sh //p' "$ROOT/man7/trencode-formats.7" | tr -d ',')
	for format in $(trencode --formats | awk '{ print $1 }'); do
		grep -qE "^ +.*\b$format\b" <<<"$page" || fail "$format"
		grep -qw -e "${format^^}" <<<"$details" || fail "trencode-formats(7): $format"
	done
}

@test "every format ends with status 2 where its output fails" {
	trdecode -q uftrace.data >x.trs
	for format in chrome firefox perfetto speedscope callgrind pprof ndjson csv tsv parquet arrow; do
		run -2 pipe "trencode -q -t $format x.trs >/dev/full"
		assert_output --partial 'No space left on device'
	done
}

@test "every format takes a stream that is cut, and says so" {
	trdecode -q uftrace.data | head -c 20000 >x.trs
	for format in chrome firefox perfetto speedscope callgrind pprof ndjson csv tsv parquet arrow ctf; do
		run -1 pipe "trencode -q -t $format x.trs >out"
		[[ -s out ]]
	done
}

@test "every format takes a stream without any event" {
	trdecode -q uftrace.data | trfilter 'tid == 1' >x.trs
	for format in folded chrome firefox perfetto speedscope callgrind pprof ndjson csv tsv parquet arrow ctf; do
		run -0 pipe "trencode -q -t $format x.trs >out"
	done
	run -0 pipe 'trencode -t chrome x.trs | jq ".traceEvents | length"'
	assert_output 0
	# speedscope cannot load a file without profiles
	run -0 pipe 'trencode -t speedscope x.trs | jq -c "[.profiles[].events]"'
	assert_output '[[]]'
}

@test "a name's end chooses the format, as --formats and the page have it" {
	trdecode uftrace.data | trsym >x.trs
	trencode --formats | sed 's/^\([^ ]*\).*(\(.*\))$/\1 \2/' >listed
	[[ $(wc -l <listed) == $(grep -c '^[[:space:]]*F(' "$ROOT/cmd/trencode/formats.h") ]]
	page=$(mandoc -Tascii "$ROOT/man1/trencode.1" | sed 's/.\x08//g')
	mkdir there
	while read -r format ends; do
		trencode -q -t "$format" -o want x.trs
		for end in $ends; do
			name=there/out$end
			[[ $end == .* ]] || name=there/${end/\*/.1}
			trencode -q -o "$name" x.trs
			diff -r want "$name"
			rm -r "$name"
			[[ $end == ".$format" ]] || grep -qE "^ +$format.* \\$end" <<<"$page" || fail "$end"
		done
		rm -r want
	done <listed
	trencode -q -o callgrind.out x.trs
	trencode -q -t callgrind x.trs | cmp - callgrind.out
	trencode -q -o other.name x.trs
	trencode -q x.trs | cmp - other.name
}

@test "binary files are not written to a terminal" {
	need_terminal
	trdecode uftrace.data >x.trs
	for t in pprof perfetto parquet; do
		run -2 script -qec "trencode -q -t $t x.trs" /dev/null
		assert_output --partial 'a binary file is not written to a terminal; use -o FILE or a pipe'
	done
}
