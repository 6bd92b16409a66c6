#!/usr/bin/env bats
# The examples of the README and of the pages of section 7 print what these documents show.

load lib

# examples COUNT: runs each command of the text on standard input ("$ command", lines "> " continue it)
# and compares its output with the lines up to the next command or the next line that ends the output, "."
examples() {
	local line command='' want=$BATS_TEST_TMPDIR/want got=$BATS_TEST_TMPDIR/got n=0
	while IFS= read -r line || [[ -n $command ]]; do
		case $line in
		'$ '* | . | '')
			if [[ -n $command ]]; then
				bash -c "$command" >"$got" 2>&1 </dev/null || true
				diff "$want" "$got" || fail "$command"
				((n += 1))
			fi
			command=
			: >"$want"
			[[ $line != '$ '* ]] || command=${line#\$ }
			;;
		'> '*) command+=$'\n'${line#> } ;;
		*) [[ -z $command ]] || printf '%s\n' "$line" >>"$want" ;;
		esac
	done
	assert_equal "$n" "$1"
}

# literal PAGE: the lines of its literal displays as a reader sees them, with a line "." after each
literal() {
	sed -n '/^\.Bd -literal/,/^\.Ed/p' "$ROOT/man7/$1.7" |
		sed -e '/^\.Bd/d' -e 's/^\.Ed/./' -e 's/^\\&//' -e "s/\\\\(aq/'/g" -e 's/\\(ga/`/g' -e 's/\\(ha/^/g' \
			-e 's/\\(ti/~/g' -e 's/\\(dq/"/g' -e 's/\\e/\\/g'
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir t
	ln -s "$DATA" t/data
	ln -s "$DATA/uftrace/fib" uftrace.data
	ln -s "$DATA/uftrace/jumps" old.data
	ln -s "$DATA/uftrace/frames" frames.data
	ln -s "$DATA/uftrace/requests.tar.gz" requests.tar.gz
	ln -s "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" trace.dat
	ln -s "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" irq.dat
	ln -s "$DATA/trace-cmd/locks.dat" locks.dat
	ln -s "$DATA/trace-cmd/marks.dat" marks.dat
	ln -s "$DATA/apitrace/threads.trace" app.trace
	ln -s "$DATA/apitrace/feat.profile.txt" app.profile
	ln -s "$DATA/perf/zstd.data" perf.data
	ln -s "$DATA/perf/simpleperf.data" simpleperf.data
	ln -s "$DATA/strace/f-ttt-T-y.txt" strace.log
	ln -s "$DATA/profiles/node.cpuprofile.gz" node.cpuprofile
	ln -s "$DATA/profiles/node.heapprofile.gz" node.heapprofile
	ln -s "$DATA/gmon/gmon.out" gmon.out
	tar -xJf "$DATA/waits/recording.tar.xz"
	gunzip -c "$DATA/callgrind/callgrind.out.gz" >callgrind.out
	gunzip -c "$DATA/gmon/work.gz" >work
	ln -s "$DATA/bpftrace/maps.txt" maps.txt
	ln -s "$DATA/perf/branches.txt" branches.txt
	ln -s "$DATA/pstats/3.13.prof" app.prof
	ln -s "$DATA/ninja/v7.ninja_log" .ninja_log
	ln -s "$DATA/services/spans.json" spans.json
	ln -s "$DATA/follow/app.json" app.json
	gunzip -c "$DATA/perf/sched.data.gz" >sched.data
	mkdir -p root/opt/example/pf
	gunzip -c "$DATA/perf/work.gz" >root/opt/example/pf/work
}

# runs of some nights, for a recipe
nightly_runs() {
	local run
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/t/tools/random_runs.py" 1 week 7
	PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/t/tools/random_runs.py" 1 tonight 5 join=1.15
	for run in week/* tonight/*; do
		trdecode "$run" | trstat --partial -o "${run%.json}.part"
	done
}

@test "the README's examples" {
	sed -n 's/^    //p; /^$/p' "$ROOT/README.md" >text
	[[ $(grep -c '^\$ ' text) -ge 1 ]]
	examples "$(grep -c '^\$ ' text)" <text
}

@test "each command of the README for a trace of a system prints an answer" {
	trdecode -q trace.dat | trencode -q -t ctf -o lttng-trace
	trdecode -q trace.dat | trencode -q -o trace.txt
	trdecode -q uftrace.data | trsym -q | trencode -q -t chrome -o trace.json
	trdecode -q perf.data | trencode -q -t pprof -o profile.pb.gz
	trdecode -q perf.data | trencode -q -t firefox | gzip -c >profile.json.gz
	cp "$DATA/perfetto/state-track.pftrace" trace.pftrace
	gunzip -c "$DATA/perf/zstd.txt.gz" >script.txt
	printf 'ts,op\n1,read\n2,write\n4,read\n' >log.csv
	ln -s trace.dat INPUT
	sed -n '/^I have a trace/,/^What/s/^    .*  \(trdecode .*\)/\1/p' "$ROOT/README" >commands
	[ "$(wc -l <commands)" -ge 11 ]
	while read -r command; do
		run -0 --separate-stderr bash -o pipefail -c "$command"
		[ "${#lines[@]}" -ge 2 ] || fail "$command: $output$stderr"
	done <commands
	# what the text says of the last program holds for each
	run -0 bash -o pipefail -c "$(head -n 1 commands | sed 's/trstat.*/trencode -q -t svg -o graph.svg/')"
	[ -s graph.svg ]
}

@test "lines of prose of the README fit 100 columns, and it counts the recipes" {
	run grep -nE '^[^|!].{100}' "$ROOT/README"
	assert_output ''
	run grep -oE '[0-9]+ (questions|common tasks)' "$ROOT/README"
	recipes=$(grep -c '^\.Ss ' "$ROOT/man7/trutils-recipes.7")
	assert_line "$recipes questions"
	assert_line "$recipes common tasks"
}

@test "the commands of trutils-recipes(7)" {
	[[ $(grep -c '^\.Ss ' "$ROOT/man7/trutils-recipes.7") -ge 30 ]]
	literal trutils-recipes >text
	nightly_runs
	examples "$(grep -c '^\$ ' "$ROOT/man7/trutils-recipes.7")" <text
	# the list at the top has all questions, in their order
	diff <(sed -n '/^\.Sh QUESTIONS/,/^\.Sh S/s/^\.Sx //p' "$ROOT/man7/trutils-recipes.7") \
		<(sed -n 's/^\.Ss //p' "$ROOT/man7/trutils-recipes.7")
	# each recipe has a command
	run awk '/^\.S[sh] / { if (recipe) print recipe; recipe = /^\.Ss / ? $0 : "" } /^\$ / { recipe = "" }' \
		"$ROOT/man7/trutils-recipes.7"
	assert_output ''
}

@test "the commands at the beginning of the pages on trstat run" {
	trdecode -q uftrace.data | trsym -q -o before.trs
	trdecode -q uftrace.data | trsym -q -o after.trs
	ln -s after.trs run.trs
	mkdir old new
	tee old/{1,2,3,4}.trs new/{1,2,3,4}.trs <after.trs >/dev/null
	for page in trstat-columns trstat-calls trstat-pairs trstat-conditions trstat-diff; do
		run -0 page_examples "$page"
		[ -n "$output" ] || fail "$page: no example"
		while read -r command; do
			bash -o pipefail -c "$command" >out 2>err </dev/null || [ $? = 3 ] || fail "$page: $command: $(cat err)"
			[ -s out ] || fail "$page: $command"
		done <<<"$output"
	done
}

@test "the first session of trutils(7)" {
	literal trutils >text
	[[ $(grep -c '^\$ ' text) -ge 10 ]]
	examples "$(grep -c '^\$ ' text)" <text
}

@test "the README names every program and both commands" {
	for program in trdecode trfilter trsym trstat trencode 'make demo' 'make check'; do
		grep -q "$program" "$ROOT/README.md"
	done
}
