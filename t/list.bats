# trdecode --list: types with counts, rates, fields and examples.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "the types of a trace.dat have the counts of trace-cmd report" {
	for name in v7-none-sched-irq-timer i386-v6-busy v6-syscalls; do
		trace=$RECORDED/trace-cmd/$name
		trdecode -q --list --json "$trace.dat" >list
		jq -r '.[] | select(.events > 0 and .kind != "gap") | "\(.type) \(.events)"' list | sort >ours
		# "  task-123 [000]  12.3456: event: ..."
		sed -nE 's/^ +.*\[[0-9]+\] [^:]* *[0-9]+\.[0-9]+: +([a-zA-Z0-9_]+):.*/\1/p' "$trace.report.txt" |
			sort | uniq -c | awk '{ print $2, $1 }' | sort >theirs
		[ -s theirs ]
		diff ours theirs
	done
}

@test "types without events are listed, as many as the file declares" {
	for name in v6-stacktrace v6-fgraph; do
		trace=$DATA/trace-cmd/$name.dat
		run -0 jq '[.[] | select(.kind != "gap")] | length' <(trdecode -q --list --json "$trace")
		assert_output "$(grep -ac '^ID: [0-9]' "$trace")"
	done
	run -0 trdecode -q --list --all "$trace"
	assert_line --regexp '^     0              instant  ftrace  bputs: ip, str$'
	refute_output --partial 'without events'
	without=$(grep -c '^     0' <<<"$output")
	# without --all they are counted, unless --type names them
	run -0 trdecode -q --list "$trace"
	refute_output --partial bputs
	assert_line "... and $without types without events (--all)"
	run -0 trdecode -q --list --type 'func*' "$trace"
	refute_output --partial bputs
	run -0 trdecode -q --list --type bputs "$trace"
	assert_line --index 1 --regexp '^     0 .* bputs: '
}

@test "the fields of a type are those of its format file, in order" {
	trdecode -q --list --json "$DATA/trace-cmd/v7-zstd-instances.dat" >"$BATS_TEST_TMPDIR/list"
	run -0 jq -r '.[] | select(.type == "sched_switch") | [.fields[].name] | join(" ")' "$BATS_TEST_TMPDIR/list"
	assert_output 'common_type common_flags common_preempt_count common_pid prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio'
	# each example is the value of some event of its type
	trdecode -q --type sched_switch "$DATA/trace-cmd/v7-zstd-instances.dat" | trencode -q -t ndjson >"$BATS_TEST_TMPDIR/rows"
	for field in prev_comm next_pid; do
		example=$(jq -r ".[] | select(.type == \"sched_switch\") | .fields[] | select(.name == \"$field\") | .example" "$BATS_TEST_TMPDIR/list")
		jq -r ".args.$field" "$BATS_TEST_TMPDIR/rows" | grep -qxF "${example//\"/}"
	done
}

@test "a list as text" {
	run -0 trdecode -q --list "$DATA/trace-cmd/v7-zstd-instances.dat"
	assert_line --index 0 --regexp '^events +rate  kind     group +type, with its fields'
	# the fields that all types have are there once
	assert_line --index 1 --regexp '^ +in each type of the kernel:$'
	assert_equal "$(grep -c common_ <<<"$output")" 4
	assert_line --index 6 --regexp '^ +133 +306/s  instant  timer +hrtimer_start$'
	assert_line --regexp '^ +prev_comm +text +"[^"]+"$'
}

@test "the fields that all types of a group have are printed once, before them" {
	for trace in uftrace/fib trace-cmd/v6-fgraph.dat trace-cmd/s390x-v7-zstd-sched-syscalls.dat \
		lttng/v2.6-le64-packed.tar.gz perf/sched.data.gz; do
		# by the JSON: the fields of each group of three types or more, and those of the kernel
		trdecode -q --list --json "$DATA/$trace" | jq -r '[.[] | select(.events > 0)] |
			def shared: length as $n | map(.fields | map("\(.name) \(.kind)") | unique) | add // [] |
				group_by(.) | map(select(length == $n)[0]);
			([.[] | select(any(.fields[]; .name | startswith("common_")))] | select(length > 1) | shared[] |
				select(startswith("common_")) | "the kernel: \(.)"),
			(group_by(.group)[] | select(length > 2) | .[0].group as $g | shared[] |
				select(startswith("common_") | not) | "\($g): \(.)")' | sort >want
		trdecode -q --list "$DATA/$trace" >list
		awk '/in each type of/ { sub(/.*in each type of /, ""); group = $0; next } NR == 1 || !/^     / { exit_ = NR > 1 }
			exit_ { exit } NR > 1 { print group, $1, $2 }' list | sort | diff - want
		[ -s want ]
		# and nowhere else
		if grep -q '^the kernel: ' want; then
			assert_equal "$(grep -c ' common_' list)" "$(grep -c '^the kernel: ' want)"
		fi
	done
}

@test "a list of calls has arguments as an example" {
	trace=$RECORDED/apitrace/backtrace.trace
	trdecode -q --list --json "$trace" >"$BATS_TEST_TMPDIR/list"
	run -0 jq -r '.[] | select(.kind == "enter") | .values_of, .values[0].name' "$BATS_TEST_TMPDIR/list"
	# ticks: no rate
	run -0 jq 'map(has("rate")) | any' "$BATS_TEST_TMPDIR/list"
	assert_output false
	function=$(jq -r '.[] | select(.kind == "enter") | .values_of' "$BATS_TEST_TMPDIR/list")
	trdecode -q "$trace" | trfilter "name == \"$function\"" | trencode -q --all-calls | grep -v "^//" >"$BATS_TEST_TMPDIR/call"
	grep -q "$function(" "$BATS_TEST_TMPDIR/call"
	for name in $(jq -r '.[] | select(.kind == "enter") | .values[].name' "$BATS_TEST_TMPDIR/list"); do
		grep -q "\<${name#arg.} = " "$BATS_TEST_TMPDIR/call"
	done
}

@test "a list of a stream, of chosen events, and into a file" {
	trdecode -q --list "$DATA/uftrace/fib" >direct
	trdecode -q "$DATA/uftrace/fib" >s
	diff direct <(trdecode -q --list s)
	diff direct <(trdecode -q --list - <s)
	trdecode -q --list -o file s
	diff direct file
	run -0 trdecode -q --list --type linux:task-new s
	assert_line --index 1 --regexp '^ +2 .* linux:task-new$'
	refute_line --partial 'uftrace  entry'
	# the same types of two streams are one line
	run -0 trdecode -q --list <(cat s s)
	assert_line --regexp '^ +3458 .* entry$'
}

@test "a list of damage has what can be read, and the status; of no trace nothing" {
	trdecode -q -o s "$DATA/uftrace/fib"
	head -c $(($(stat -c %s s) - 5000)) s >short
	run -1 --separate-stderr trdecode -q --list short
	assert_line --index 0 --partial 'events'
	[[ ${#lines[@]} -gt 1 && $stderr == *short* ]]
	echo nothing >nothing
	run -2 --separate-stderr trdecode --list nothing
	[[ -z $output && $stderr == *nothing* ]]
	run -2 trdecode --list -o out nothing
	[ ! -e out ]
	run -2 trdecode --list --info s
	run -2 pipe 'trdecode --list s >/dev/full'
}

@test "--list and --info fit terminals of 80, 100 and 200 columns, of a trace of each source" {
	need_terminal
	for trace in uftrace/fib trace-cmd/v6-fgraph.dat trace-cmd/v7-zstd-instances.dat apitrace/v6.trace \
		apitrace/feat.profile.txt lttng/v2.6-le64-packed.tar.gz ctf/kinds.tar.gz perf/two.data.gz perf/sched.data.gz \
		chrome/v8-profile.json.gz perfetto/perf-followers.pftrace; do
		echo "$DATA/$trace"
	done >traces
	cat >all <<-'END'
		for COLUMNS in 80 100 200; do
			export COLUMNS
			while read -r trace; do
				for what in --list '--list --all' --info; do
					echo "== $COLUMNS trdecode $what $trace"
					trdecode -q $what "$trace" 2>/dev/null
				done
			done <traces
		done
	END
	terminal 80 bash all >shown
	run -0 perl -CSD -lne 'if (/^== (\d+) /) { ($most, $what) = ($1, $_) }
		elsif (length > $most) { print "$what: $_" } else { $lines++ } END { print $lines > 1500 ? "many" : $lines }' shown
	assert_output many
	# types and fields are those of the list in a file, and --info has all words
	while read -r trace; do
		trdecode -q --list --all "$trace" >wide
		terminal 80 trdecode -q --list --all "$trace" >narrow
		assert_equal "$(grep -c '^ *[0-9]' narrow)" "$(grep -c '^ *[0-9]' wide)"
		diff <(grep -o '  \(unsigned\|integer\|hexadecimal\|text\|enum\)  .' narrow) \
			<(grep -o '  \(unsigned\|integer\|hexadecimal\|text\|enum\)  .' wide)
		# a line end in a value is a question mark on a terminal
		terminal 80 trdecode -q --info "$trace" | tr -d ' ?\n' >narrow
		trdecode -q --info "$trace" | tr -d ' ?\n' | cmp - narrow
	done <traces
}

@test "--list: an input that cannot be read has one message, each time" {
	trdecode -q "$DATA/uftrace/fib" | trstat --partial -o fib.part
	for _ in {1..20}; do
		run -2 trdecode --list fib.part
		assert_output 'trdecode: fib.part: is a summary, no event stream; trstat --merge reads it'
	done
}
