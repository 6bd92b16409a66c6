# trace.dat out of streams of one: read by the real tool, and by trdecode again.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	K=$RECORDED/trace-cmd
}

# Fields, times and lost events, as text of trutils.
listing() {
	trdecode "$1" | trencode --raw --ns 2>/dev/null
}

report() {
	trace-cmd report -R -t -i "$1" 2>/dev/null
}

@test "trace.dat: every sample comes back in both versions and all compressions" {
	local options=("" "--file-version 6" "--compress none --file-version 7" "--compress zlib:1" "--compress zstd:1") n=0
	for f in "$K"/*.dat; do
		case $f in */bad-* | */pub-* | */v6-latency.dat) continue ;; esac
		trdecode "$f" >s
		trencode --raw --ns s >a 2>/dev/null
		# each file with two of them, in turn
		for o in "${options[n++ % 5]}" "${options[n++ % 5]}"; do
			# shellcheck disable=SC2086 # several words
			run -0 trencode -q -t trace-cmd $o -o x.dat s
			listing x.dat >b
			cmp a b || fail "$f $o"
		done
	done
}

@test "trace.dat: trace-cmd reports the same of it" {
	need trace-cmd
	for f in v6-instances v6-split-lost s390x-v6-sched-irq-timer i386-v6-sched-irq-timer \
		v7-zstd-instances trixie-v6-subbuf16k-sched synth-v6-tsc2nsec agent-guest \
		v6-clock-tai v7-none-instance-only synth-v6-offset-unknown; do
		trdecode "$K/$f.dat" >s
		report "$K/$f.dat" >a
		[ -s a ]
		for o in 6 7; do
			run -0 trencode -q -t trace-cmd --file-version $o -o x.dat s
			report x.dat >b
			cmp a b || fail "$f version $o"
		done
	done
}

@test "trace.dat: trace-cmd reads what is compressed with zlib" {
	need trace-cmd
	trace-cmd list -c | grep -q zlib || skip "this trace-cmd has no zlib"
	for f in v6-instances s390x-v6-sched-irq-timer v7-zlib-fgraph-depth v6-split-lost; do
		report "$K/$f.dat" >a
		[ -s a ]
		trdecode -q "$K/$f.dat" |
			trencode -q -t trace-cmd --file-version 7 --compress zlib -o x.dat
		report x.dat >b
		cmp a b || fail "$f"
	done
}

@test "trace.dat: lost events after the last event of a CPU are kept, and trace-cmd reads on" {
	need trace-cmd
	# the second loss of this CPU, with no event after it
	trdecode -q "$K/v6-split-lost.dat" | trencode -q --raw --ns >all
	run -0 grep -n DROPPED all
	assert_equal "${#lines[@]}" 2
	local last=${lines[1]%%:*}
	time=$(sed -n "$((last - 1))s/.*\] *\([0-9.]*\):.*/\1/p" all)
	trdecode -q "$K/v6-split-lost.dat" | trfilter -q "time <= ${time}s" >s
	for o in 6 7; do
		trencode -q -t trace-cmd --file-version $o -o x.dat s
		run -0 --separate-stderr bash -c 'trace-cmd report -R -t -i x.dat | grep -c "\]"'
		assert_output "$((last - 2))"
		run -0 --separate-stderr bash -c 'trdecode x.dat >y'
		assert_equal "$stderr" "$(trdecode "$K/v6-split-lost.dat" 2>&1 >/dev/null)"
		trencode -q --raw --ns y | grep -F 'CPU:1 [78 EVENTS DROPPED]'
	done
}

@test "trace.dat: without options it is what the source was, and not larger" {
	for f in v6-sched-irq-timer v7-none-max v7-zlib-sched-irq-timer v7-zstd-sched-irq-timer; do
		trdecode "$K/$f.dat" | trencode -t trace-cmd -o x.dat
		for what in version compression; do
			[ "$(trdecode --info x.dat | grep "^$what")" = \
				"$(trdecode --info "$K/$f.dat" | grep "^$what")" ]
		done
		(($(stat -c %s x.dat) * 10 <= $(stat -c %s "$K/$f.dat") * 11))
	done
}

@test "trace.dat: a pipe is as good as a file" {
	for o in 6 7; do
		trdecode "$K/v6-instances.dat" >s
		trencode -t trace-cmd --file-version $o -o x.dat s
		trencode -t trace-cmd --file-version $o s | cat >y.dat
		cmp x.dat y.dat
	done
}

@test "trace.dat: of filtered streams, with the times of the source" {
	for f in v6-date v7-zstd-date synth-v6-tsc2nsec agent-guest v6-instances v6-split-lost; do
		trdecode "$K/$f.dat" | trfilter 'name == "sched_switch"' >s
		# the next event that is left now reports the loss
		trencode --raw --ns s 2>/dev/null | grep -v DROPPED >a
		for o in 6 7; do
			run -0 trencode -q -t trace-cmd --file-version $o -o x.dat s
			listing x.dat | grep -v DROPPED >b
			cmp a b || fail "$f version $o"
		done
	done
}

@test "trace.dat: latency traces are text again" {
	for f in v6-latency v7-zstd-latency; do
		trdecode "$K/$f.dat" >s
		trencode s >a 2>/dev/null
		for o in 6 7; do
			run -0 trencode -q -t trace-cmd --file-version $o -o x.dat s
			trdecode x.dat | trencode >b 2>/dev/null
			cmp a b
		done
	done
}

@test "trace.dat: what cannot be is said" {
	# a stream that is cut after its HEAD: an empty trace.dat, and status 1
	trdecode -o x.trs "$DATA/trace-cmd/v6-date.dat"
	run -1 --separate-stderr trencode -t trace-cmd -o x.dat < <(head -c 200 x.trs)
	[[ $stderr == *"without its end mark"* ]]
	run -0 trencode -t trace-cmd -o y.dat <(trdecode x.dat)
	run -0 trace-cmd report x.dat
	refute_output --partial ':'
	run -2 --separate-stderr trencode -t trace-cmd --file-version 5 x.trs
	[[ $stderr == *"--file-version is 6 or 7"* ]]
	run -2 --separate-stderr trencode -t trace-cmd --file-version 6 --compress zlib -o x.dat x.trs
	[[ $stderr == *"version 6 of trace.dat is never compressed"* ]]
	run -2 --separate-stderr trencode -t trace-cmd --compress snappy -o x.dat x.trs
	[[ $stderr == *"zlib or zstd, or not"* ]]
	run -2 --separate-stderr trencode -t apitrace --compress none -o x.trace x.trs
	[[ $stderr == *"snappy, gzip, brotli or zstd"* ]]
}

@test "an offset given to trdecode is an option of the file" {
	cd "$BATS_TEST_TMPDIR"
	for file in v6-onecpu synth-v7-unknown-options-offset v6-clock-x86-tsc; do
		cp "$RECORDED/trace-cmd/$file.dat" in.dat
		offset=1s
		[[ $file != *tsc ]] || offset=1000000000 # ticks
		trdecode -q --offset=in.dat=$offset in.dat | trencode -q --raw --ns >want
		for version in 6 7; do
			trdecode -q --offset=in.dat=$offset in.dat |
				trencode -q -t trace-cmd --file-version $version -o out.dat
			trdecode -q out.dat | trencode -q --raw --ns | diff want -
			if command -v trace-cmd >/dev/null; then
				diff want <(trace-cmd report -R -t -i out.dat 2>/dev/null) >/dev/null ||
					[ $file != v6-onecpu ]
			fi
		done
	done
	# the times of a latency trace are text
	run -0 --separate-stderr bash -c "trdecode -q --offset=l.dat=1s l.dat |
		trencode -t trace-cmd -o out.dat" <<<"$(cp "$RECORDED/trace-cmd/v6-latency.dat" l.dat)"
	[[ $stderr == *'the offset of 1000000000 ns is not applied to a latency trace'* ]]
}

@test "one source of two, and two halves of a file, become one trace.dat" {
	trdecode -q "$K/agent-host.dat" "$K/agent-guest.dat" |
		trfilter -q 'input =~ "guest"' | trencode -q -t trace-cmd -o guest.dat
	trdecode -q "$K/agent-guest.dat" | trstat -q -g type,cpu -c count -t tsv >want
	trdecode -q guest.dat | trstat -q -g type,cpu -c count -t tsv | diff want -
	trdecode "$K/v6-onecpu.dat" >all.trs
	trfilter -o a.trs 'type == "sched_switch"' all.trs
	trfilter -o b.trs 'type != "sched_switch"' all.trs
	trdecode -q a.trs b.trs | trencode -q -t trace-cmd -o both.dat
	trstat -q -g type,cpu -c count -t tsv all.trs >want
	trdecode -q both.dat | trstat -q -g type,cpu -c count -t tsv | diff want -
	# concatenated streams are refused, and the message names the option
	run -2 bash -c 'cat a.trs b.trs | trencode -t trace-cmd -o x.dat'
	assert_output --partial 'use --resynthesize'
	run -0 bash -c 'cat a.trs b.trs | trencode -q --resynthesize -t trace-cmd -o x.dat'
	trdecode -q x.dat | trstat -q -g type,cpu -c count -t tsv | diff want -
}
