# trstat: conditions that fail, and metrics for Prometheus.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >sched.trs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# empty CONDITION MESSAGE: status 2, and with --fail-if-empty=ok status 0; -q prints the cause
empty() {
	for keys in name tid ''; do
		run -2 --separate-stderr trstat -q -g "$keys" -t tsv --fail-if "$1" "${3:-fib.trs}"
		[[ $stderr == *"$2"* ]] || fail "$1: $stderr"
		run -0 --separate-stderr trstat -q -g "$keys" -t tsv --fail-if-empty=ok --fail-if "$1" "${3:-fib.trs}"
	done
}

# holds CONDITION, fails CONDITION: with the default keys and with others
holds() {
	for keys in name tid type ''; do
		run -3 --separate-stderr trstat -g "$keys" -t tsv --fail-if "$@" fib.trs
		[[ $stderr == *"trstat: $1 is true: "* ]] || fail "$stderr"
		trstat -g "$keys" -t tsv fib.trs | diff - <(printf '%s\n' "$output")
	done
}

does_not() {
	for keys in name tid type ''; do
		run -0 --separate-stderr trstat -g "$keys" -t tsv --fail-if "$@" fib.trs
		[ -z "$(grep -vxE "trstat: no event has ((the|a) name (that matches )?'\^?no_such[$]?'|the tid [12])" <<<"$stderr")" ] || fail "$stderr"
	done
}

@test "--fail-if: exit 3 where the condition holds" {
	holds 'p99(name == "fib") > 1us'
	holds 'total(name == "fib") == 100719ns'
	does_not 'total(name == "fib") != 100.719us'
	holds 'count(name == "fib") >= 599'
	does_not 'count(name == "fib") >= 600'
	holds 'max(name =~ "^m" && tid == 4123) > 2ms'
	does_not 'max(name =~ "^m" && tid != 4123) > 2ms'
	holds 'count(tid in {4125, 4126} && !(name == "fib")) > 0'
	holds 'self(module == "/opt/example/fib") > 1ns'
	holds 'max > 2988110ns'
	holds 'rate() > 0.5'
	holds 'uniq(tid)(kind == "leave") == 3'
}

@test "--fail-if: percentiles are those of all calls that are named together" {
	for p in p50 p90 p99.9; do
		value=$(trfilter 'name == "fib" || name == "compare"' fib.trs | trstat -q -g '' -t tsv -c $p | tail -n 1)
		holds "$p(name in {\"fib\", \"compare\"}) == ${value}ns"
	done
}

@test "--fail-if: the times of single calls" {
	for t in 100us 1ms 2ms; do
		for key in dur self; do
			c="$key > $t && module =~ 'fib' && tid != 4125"
			n=$(trfilter -c "$c" fib.trs)
			holds "count($c) == $n"
		done
	done
	holds 'count(dur > 1ms) > 0'
	does_not 'count(dur > 1h) > 0'
	holds 'max(dur) > 1ms'
	does_not 'max(self) > 1h'
	run -2 trstat --fail-if 'count(children > 1) > 0' fib.trs
	assert_output --partial "use trfilter 'children > 2'"
	run -2 trstat -q --fail-if 'count(dur > 1ms) > 0' <(trdecode "$DATA/apitrace/v6.trace")
	assert_output --partial 'counts ticks'
	run -3 trstat -q --fail-if 'count(dur > 0) > 0' <(trdecode "$DATA/apitrace/v6.trace")
}

@test "--fail-if and --pair: conditions are trfilter's" {
	trfilter 'kind != leave' fib.trs >enters.trs
	for c in 'name == "sched_switch" && prev_pid > 0' 'type in {sched_waking, "sched_wakeup"}' \
		'has(next_pid)' '!has(next_pid) && has(pid)' 'next_pid' '!(prev_pid == 0)' '10 < prev_pid' \
		'prev_pid < next_pid' 'next_comm =~ "^wl"' 'next_comm !~ "^wl"' 'kind == instant && cpu in {0, 1}' \
		'field("prev_prio") >= 120 || group =~ "^nope$"' '(time > 1s && has(cpu)) && !(tid == 0)' \
		'comm in {wl.sh, swapper}' 'kind != leave' 'pid != tid' 'next_pid - prev_pid < 0' \
		'(prev_prio & 0x18) == 24 || id % 3 == 1' 'time / 1ms % 2 == 0'; do
		n=$(trfilter -q -c "$c" sched.trs)
		run -3 --separate-stderr trstat --fail-if "count($c) == $n" sched.trs
		[[ $stderr == *"count($c) == $n is true: $n"* ]] || fail "$c: $stderr"
	done
	for c in 'module == fib' 'module == "fib"' 'module =~ "^fib$"' 'name in {fib, compare}' 'name == module'; do
		if n=$(trfilter -q -c "($c) && kind == enter" fib.trs 2>/dev/null); then
			run -3 trstat -q --fail-if "count($c) == $n" fib.trs
		else
			run -2 trstat -q --fail-if "count($c) == 1" fib.trs
		fi
	done
	for c in 'kind == nope' 'tid == "x"' '!tid == 3' '"x"' 'tid =~ "1"' 'name in {1}' 'has()' 'has(5)' 'under("x")' \
		'field(x)' 'name == "a" == "b"' 'has(tid' 'in {a}'; do
		run -2 trstat --fail-if "count($c) > 1" fib.trs
		run -2 trstat --pair "$c -> main && 1" fib.trs
	done
	run -0 trstat -q -t tsv -c count --pair 'kind == enter && name == "fill" -> kind == leave && name in {fill}' fib.trs
	assert_output $'count\n2'
	run -2 trstat -q --pair 'time > 1ms -> kind == leave' <(trdecode "$DATA/apitrace/v6.trace")
	assert_output --partial 'counts ticks'
}

@test "--fail-if: several columns, and what is calculated from them" {
	max=$(trstat -q -g '' -t tsv -c max fib.trs | tail -n 1)
	fib=$(trstat -q -g name -t tsv -c count fib.trs | awk '$1 == "fib" { print $2 }')
	holds "max - min(name == \"fib\") == ${max}ns - $(trstat -q -g name -t tsv -c min fib.trs | awk '$1 == "fib" { print $2 }')ns"
	holds "count(name == \"fib\") * 2 / 4 == $fib * 2 / 4 && p99 <= max"
	holds 'total(name == "fib") / count(name == "fib") * 1.0 <= avg(name == "fib") + 1ns'
	does_not 'max > 3 * 1s || count(tid == 1) / count(tid == 4123) >= 1'
	empty 'max > 3 * 1s || count(tid == 1) / count(tid == 2) >= 0' 'the result is not defined'
	run -3 --separate-stderr trstat --fail-if 'count(name == "fib") > 1 && max > 1us' fib.trs
	assert_equal "$stderr" "trstat: count(name == \"fib\") > 1 && max > 1us is true: $fib, 2.988 ms"
}

@test "--fail-if: a name that occurs nowhere is status 2 with the names that are there" {
	empty 'max(name == "uslep") > 2ms' "no event has the name 'uslep'; did you mean 'usleep'?"
	empty 'count(name == "uslep") > 2' "no event has the name 'uslep'; did you mean 'usleep'?"
	empty 'total(tid > 0 && (dur > 0 || name in {"uslep", "mian"})) > 1h' 'no event has the name'
	empty 'count(name == "qqqqzzzz") > 0' '; there are linux:task-name, '
	empty 'count(type == "sched_swich") > 99999' "no event has the type 'sched_swich'; did you mean 'sched_switch'?" sched.trs
	empty 'count(comm == "nope") > 0' "no event has the comm 'nope'"
	run -2 trstat -q --slowest 3 --fail-if 'max(name == "uslep") > 2ms' fib.trs
	run -2 trstat -q --where 'name == "uslep"' --fail-if 'count > 2' fib.trs
	run -2 trstat -q --pair 'usleep -> uslep' --fail-if 'count > 2' fib.trs
	run -2 trstat -q -i 1ms --fail-if 'count(name == "uslep") > 2' fib.trs
	run -2 trstat -q --fail-if 'max > 1us' --fail-if 'max(name == "uslep") > 2ms' fib.trs
	# what may be absent: an excluded name, a pattern, one of several
	does_not 'count(!(name == "no_such") && tid == 4123) < 1'
	does_not 'count(name != "no_such") < 1'
	does_not 'count(name =~ "^no_such$") > 0'
	does_not 'count(name in {"no_such", "fib"}) < 1'
	holds 'count(name =~ "^no_such$") < 1'
}

# once CONDITION FILE LINE...: status 2, and exactly these lines
once() {
	run -2 --separate-stderr trstat -q "${@:4}" --fail-if "$1" "$2"
	assert_equal "$stderr" "$3"
}

@test "--fail-if: one cause is one line, with names that occur" {
	once 'max(name in {"mian", "uslep"}) > 2ms' fib.trs "trstat: no event has the name 'uslep'; did you mean 'usleep'?
trstat: no event has the name 'mian'; did you mean 'main'?"
	# types that are declared only are left out, unless there are no other ones
	used=$(trstat -q -t tsv -g type -c count sched.trs | tail -n +2 | cut -f 1)
	for c in 'count(type == "qqqqzzzz") > 0' 'count(name == "qqqqzzzz") > 0'; do
		run -2 --separate-stderr trstat -q --fail-if "$c" sched.trs
		read -r -a words <<<"${stderr##*there are }"
		[ "${#words[@]}" -gt 3 ]
		for word in "${words[@]}"; do
			grep -qx "${word%,}" <<<"$used" || fail "$word: $stderr"
		done
	done
	trfilter 'depth > 99' sched.trs >none.trs
	run -2 --separate-stderr trstat -q --fail-if 'count(type == "qqqqzzzz") > 0' none.trs
	[[ $stderr == *'; there are '* ]]
	# of summaries
	trdecode "$DATA/uftrace/fib" | trstat -q --partial -o raw.sum -
	trstat -q --partial -g tid,name -o fib.sum fib.trs
	names=$(trstat -q -t tsv -g name -c count fib.trs | tail -n +2 | cut -f 1)
	for c in 'max(name == "uslep") > 2ms' 'count(tid > 0 && name == "uslep") > 2' 'max(name =~ "uslep") > 2ms'; do
		run -2 --separate-stderr trstat -q --merge --fail-if "$c" fib.sum
		[[ ${#stderr_lines[@]} == 1 && $stderr == *'; there are '* ]] || fail "$stderr"
		IFS=, read -r -a words <<<"${stderr##*there are }"
		for word in "${words[@]# }"; do
			grep -qxF "$word" <<<"$names" || fail "$word: $stderr"
		done
	done
	once 'max(name == "uslep") > 2ms' raw.sum \
		"trstat: --fail-if 'max': no group of the summaries matches its condition; functions have no names: run trsym before trstat --partial" --merge
}

@test "--fail-if with --pair: names, types and groups are checked, texts of fields are counted" {
	for pair in wakeup offcpu 'sched_wakeup -> sched_switch on .pid == .next_pid'; do
		for key in name type group; do
			run -2 trstat -q --pair "$pair" --fail-if "count($key == \"nosuch\") > 1" sched.trs
			assert_output --partial "no event has the $key 'nosuch'"
		done
	done
	for key in comm next_comm; do
		run -0 trstat -q --pair wakeup --fail-if "count($key == \"nosuch\") > 1" sched.trs
	done
	run -0 trstat -q --fail-if 'count(type == "sched_switch" && next_comm == "nosuch") > 0' sched.trs
}

@test "--fail-if: fields with few words take no other text or pattern" {
	kinds='call, enter, leave, instant, counter, sample or gap'
	for c in "kind == 'smaple'|15|$kinds|smaple" "kind in {call, smaple}|22|$kinds|smaple" "kind =~ '^smap'|15|$kinds|^smap" \
		"'pltt' == symkind|7|plt, kernel or function|pltt" 'symkind != "pltt"|18|plt, kernel or function|pltt'; do
		IFS='|' read -r condition column expected text <<<"$c"
		run -2 --separate-stderr trstat -q --fail-if-empty=ok --fail-if "count($condition) > 0" fib.trs
		[[ $stderr == "trstat: expression, column $column: $expected expected, not '$text'"* ]] || fail "$stderr"
		run -2 trstat -q --where "$condition" fib.trs
	done
	run -2 trfilter -q -c 'kind =~ "^smap"' fib.trs
	assert_equal "$(trfilter -q -c 'kind =~ "^(enter|leave)$"' fib.trs)" "$(trfilter -q -c 'kind == call' fib.trs)"
	n=$(trstat -q -t tsv -g symkind -c count fib.trs | awk '$1 == "plt" { print $2 }')
	holds "count(symkind == plt) == $n && $n > 0"
}

@test "--fail-if: without trsym a name is status 2, and says so" {
	trdecode "$DATA/uftrace/fib" >raw.trs
	for c in 'max(name == "usleep") > 2ms' 'count(name == "usleep") > 2' 'count(name =~ "^usleep") > 2'; do
		empty "$c" 'the stream has no symbols: run trsym before this program' raw.trs
	done
}

# lacks CONDITION FILE CAUSE [OPTION]...: status 2 and one line; with --fail-if-empty=ok status 0
lacks() {
	run -2 --separate-stderr trstat -q "${@:4}" --fail-if "$1" "$2"
	[[ $stderr == "trstat: "*"$3"* && $stderr != *$'\n'* ]] || fail "$1: $stderr"
	run -0 trstat -q --fail-if-empty=ok "${@:4}" --fail-if "$1" "$2"
}

@test "--fail-if: what needs calls is status 2 in a trace without calls" {
	for c in 'count(dur > 1ms) > 0' 'count(self > 1ms) > 0' 'sum(dur) > 1ms' 'max(dur) > 1s' 'uniq(caller) > 5' \
		'count(depth > 3) > 0' 'count(stack =~ "x") > 0' 'count(type == "sched_switch" && dur > 1ms) > 0' \
		'count(dur > 1ms || type == "sched_switch") > 99999' 'total > 1ms' 'p99 > 1ms'; do
		lacks "$c" sched.trs 'no calls'
		lacks "$c" sched.trs 'no calls' -i 100ms
		lacks "$c" sched.trs 'no calls' -g cpu
	done
	lacks 'count > 99999' sched.trs 'no calls' --where 'dur > 1ms'
	for kind in call enter leave; do
		lacks "count(kind == $kind) > 0" sched.trs "the trace has no event of the kind $kind"
	done
	lacks 'count(kind in {call, counter}) > 0' sched.trs 'the trace has no event of the kind call, counter'
	lacks 'count(kind == sample) > 0' fib.trs 'the trace has no event of the kind sample'
	lacks 'count(kind =~ "^s") > 0' fib.trs 'the trace has no event of the kind sample'
	lacks 'count > 1000' fib.trs 'no event of the kind sample' --pair 'kind == sample -> kind == sample'
	# gaps may always come; what a condition excludes may be absent
	run -0 trstat -q --fail-if 'count(kind == gap) > 0' sched.trs
	run -0 trstat -q --fail-if 'count(kind != sample && kind in {instant, call}) < 1' fib.trs
	# calls that are declared, of which there are none tonight
	trfilter 'tid == 1' fib.trs >quiet.trs
	for c in 'count(dur > 1ms) > 0' 'sum(dur) > 1ms' 'total > 1ms' 'uniq(caller) > 5' 'count(kind == call) > 0'; do
		run -0 trstat -q --fail-if "$c" quiet.trs
	done
	run -2 trstat -q --fail-if 'max(dur) > 1ms' quiet.trs
}

@test "--fail-if: without trsym stacks, callers and kinds of functions are status 2" {
	trdecode "$DATA/uftrace/fib" >raw.trs
	for c in 'count(stack =~ "usleep") > 0' 'count(stack == "main") > 0' 'count(symkind == plt) > 0' \
		'count(symkind != function) > 0' 'uniq(caller) > 5' 'count(caller =~ "^main$") > 0'; do
		lacks "$c" raw.trs 'the stream has no symbols: run trsym before this program'
	done
	lacks 'count > 99999' raw.trs 'run trsym before this program' --where 'symkind == plt'
	run -3 trstat -q --fail-if 'count(stack =~ "usleep") > 0' fib.trs
}

@test "--fail-if: a field that no declared event has is status 2" {
	for c in 'sum(ret) > 0' 'uniq(ret) > 5' 'sum(arg.1) > 5' 'count(ret < 0) > 0' 'p99(ret < 0) > 1h' \
		'count(tid > 0 && ret < 0) > 0'; do
		lacks "$c" fib.trs "no event has a field '"
	done
	for c in 'kind == instant && nextpid == 3' 'name =~ "sched" && nextpid == 3'; do
		lacks "count($c) > 0" sched.trs "no event has a field 'nextpid'; did you mean 'next_pid'?"
	done
	# fields of events that a pattern may find, or not
	run -0 trstat -q --fail-if 'count(type =~ "^my_own_event$" && my_field == 3) > 0' sched.trs
	run -0 trstat -q --fail-if 'count(type == "sched_switch" && next_pid == 999999) > 0' sched.trs
}

@test "--fail-if: one failure is one line" {
	lacks 'max(tid == 999999999) > 1us' fib.trs 'no event has the tid 999999999'
	lacks 'max(name =~ "comit") > 1us' fib.trs "no event has a name that matches 'comit'"
	lacks 'count > 1' fib.trs "name =~ 'comit'" --pair 'name =~ "comit" -> name == "main"'
}

@test "--fail-if: an extreme, a mean or a quantile of nothing is status 2, a sum of nothing is 0" {
	for column in p99 max min avg total_stdev first last self_avg self_max 'max(tid)' 'avg(cpu)'; do
		empty "$column(name == \"fib\" && tid == 4125 && depth > 90) > 0" "$column has no value: no such call or event was counted"
	done
	for column in count total self rate total_percent self_percent 'sum(tid)' 'uniq(tid)'; do
		does_not "$column(name == \"fib\" && depth > 90) > 0"
		holds "$column(name == \"fib\" && depth > 90) == 0"
	done
	# declared, but on a quiet night not there
	does_not 'count(type == "linux:sched-in" && depth > 90) > 0'
	# what another part of the condition decides
	does_not 'count(name =~ "^no_such$") > 0 && max(name =~ "^no_such$") > 0'
	holds 'count(name =~ "^no_such$") == 0 || max(name =~ "^no_such$") > 0'
	empty 'max > 0' 'max has no value: the trace has no calls' sched.trs
	empty 'total > 0' 'total has no value: the trace has no calls' sched.trs
	trfilter 'tid == 1' fib.trs >empty.trs
	run -3 trstat -q --fail-if 'count == 0' empty.trs
	run -2 trstat -q --fail-if 'max > 0' empty.trs
	run -0 trstat -q --fail-if 'count > 0' empty.trs
	# an interval without a value ends nothing, all intervals without one do
	run -0 trstat -q -i 1ms --fail-if 'max(name == "usleep") > 1h' fib.trs
	empty_interval='max(name == "usleep" && depth > 90) > 1h'
	run -2 trstat -q -i 1ms --fail-if "$empty_interval" fib.trs
	run -0 trstat -q -i 1ms --fail-if-empty=ok --fail-if "$empty_interval" fib.trs
	run -2 trstat -q -i 1ms --fail-if 'max > 1h' empty.trs
	# of summaries
	trstat --partial -o fib.sum fib.trs
	run -2 trstat -q --merge --fail-if 'max(name == "uslep") > 2ms' fib.sum
	run -2 trstat -q --merge --fail-if 'count(name == "uslep") > 2' fib.sum
	assert_output --partial 'no group of the summaries matches its condition; there are '
	run -0 trstat -q --merge --fail-if-empty=ok --fail-if 'count(name == "uslep") > 2' fib.sum
	run -3 trstat -q --merge --fail-if 'max(name == "usleep") > 2ms' fib.sum
	# damaged input may lack what is missing
	head -c 20000 fib.trs >cut.trs
	run -1 trstat -q --fail-if 'max(name == "usleep" && depth > 90) > 2ms' cut.trs
	# and there is no output that looks complete
	run -2 trstat -q -o none.txt --fail-if "$empty_interval" fib.trs
	[ ! -e none.txt ]
	run -2 trstat --fail-if-empty=ok fib.trs
	assert_output --partial 'goes with --fail-if'
	run -2 trstat --fail-if-empty=no --fail-if 'count > 1' fib.trs
	assert_output --partial "takes ok, not 'no'"
}

@test "--fail-if: pairs of events that the trace has not are status 2" {
	for c in 'p99 > 1ms' 'count > 1' 'count < 1' 'total > 1ns'; do
		run -2 --separate-stderr trstat -q --pair wakeup --fail-if "$c" fib.trs
		[[ $stderr == *'the trace has no '*sched_wakeup*' and no '*sched_switch* ]] || fail "$stderr"
		run trstat -q --pair wakeup --fail-if "$c" --fail-if-empty=ok fib.trs
		[ "$status" != 2 ]
	done
	# the types are declared, and no pair ends
	trfilter 'type == "sched_switch" && prev_pid == 0 && next_pid == 0' sched.trs >quiet.trs
	run -0 trstat -q --pair offcpu --fail-if 'count > 1' --fail-if 'total > 1ns' quiet.trs
	run -2 trstat -q --pair offcpu --fail-if 'p99 > 1ns' quiet.trs
	assert_output --partial 'no such pair was found'
}

@test "--diff --fail-if: what no group can decide is status 2" {
	run -2 trstat -q --diff --fail-if slower sched.trs sched.trs
	assert_output --partial 'no group has times in both traces'
	run -2 trstat -q --diff --fail-if 'p99_change > 10%' sched.trs sched.trs
	run -2 trstat -q --diff --fail-if 'name == "uslep" && p99_change > 10%' fib.trs fib.trs
	assert_output --partial 'no group matches its condition on name'
	run -0 trstat -q --diff --fail-if-empty=ok --fail-if 'name == "uslep" && p99_change > 10%' fib.trs fib.trs
	run -0 trstat -q --diff --fail-if 'name == "usleep" && p99_change > 10%' fib.trs fib.trs
	run -0 trstat -q --diff --fail-if slower fib.trs fib.trs
}

@test "--diff --fail-if: with trsym on one side only the status is 2, and both files are named" {
	trdecode "$DATA/uftrace/fib" >raw.trs
	for f in raw fib; do
		trstat -q --partial -o $f.part $f.trs
		trstat -q --partial -g stack -o $f.stack $f.trs
	done
	for kind in trs part stack; do
		for sides in "raw.$kind fib.$kind" "fib.$kind raw.$kind"; do
			for c in slower new changed 'p99_change > 10%' 'total_b > 1h'; do
				# shellcheck disable=SC2086
				run -2 --separate-stderr trstat -q --diff -c total,p99 --fail-if "$c" $sides
				[[ $stderr == *"raw.$kind: some functions have an address but no name, unlike those of fib.$kind: run trsym before this program"* ]] || fail "$stderr"
			done
			# shellcheck disable=SC2086
			run -0 trstat -q --diff --fail-if-empty=ok --fail-if slower $sides
		done
	done
	# neither or both, or keys that need no names
	run -0 trstat -q --diff --fail-if slower raw.trs raw.trs
	run -0 trstat -q --diff -g tid --fail-if 'total_b > 1h' raw.trs fib.trs
	# it is reported without a condition too
	run -0 --separate-stderr trstat --diff raw.trs fib.trs
	[[ $stderr == *'raw.trs: some functions have an address but no name'* ]]
	run -0 --separate-stderr trstat -q --diff raw.trs fib.trs
	assert_equal "$stderr" ''
}

@test "--diff --fail-if: a trace without a common group is status 2 for slower and for changes" {
	trfilter 'name == "fib"' fib.trs >one.trs
	trfilter 'name == "compare"' fib.trs >other.trs
	for c in slower faster 'p99_change > 10%' '!(p99_change < 10%)'; do
		run -2 trstat -q --diff -c p99 --fail-if "$c" one.trs other.trs
		run -0 trstat -q --diff -c p99 --fail-if-empty=ok --fail-if "$c" one.trs other.trs
	done
	run -3 trstat -q --diff --fail-if gone one.trs other.trs
}

@test "--fail-if-empty=ok: a condition that cannot be tested is false, negated too" {
	for c in '!(max(name == "uslep") > 2ms)' '!!(max(name == "uslep") > 2ms)' \
		'max(name == "uslep") != 2ms' '!(count > 1 && max(name == "uslep") > 2ms)' \
		'count < 1 || !(max(name == "uslep") > 2ms)' '!(count < 1 || max(name == "uslep") > 2ms)' \
		'!(count / count(name == "uslep") > 2)'; do
		run -0 --separate-stderr trstat --fail-if-empty=ok --fail-if "$c" fib.trs
		[[ $stderr == *"--fail-if '$c': "*'; so the condition is false'* && $stderr != *'is true'* ]] || fail "$stderr"
	done
	# decided by the other part
	run -3 trstat -q --fail-if-empty=ok --fail-if 'count > 1 || !(max(name == "uslep") > 2ms)' fib.trs
	run -3 trstat -q --fail-if-empty=ok --fail-if '!(count < 1 && max(name == "uslep") > 2ms)' fib.trs
	# a count of nothing is a number
	run -3 trstat -q --fail-if-empty=ok --fail-if 'count(name == "uslep") == 0' fib.trs
	assert_output --partial 'is true: 0'
}

@test "--fail-if: several of them, and its place among the exit statuses" {
	run -3 --separate-stderr trstat --fail-if 'count < 1' --fail-if 'count > 1' --fail-if 'max > 1ms' fib.trs
	assert_equal "${#stderr_lines[@]}" 2
	run -3 --separate-stderr trstat -q --fail-if 'count(name == "fib") > 1' fib.trs
	assert_equal "$stderr" 'trstat: count(name == "fib") > 1 is true: 599'
	head -c 20000 fib.trs >cut.trs
	run -1 pipe "trstat --fail-if 'count > 1' cut.trs >/dev/null"
	assert_output --partial 'count > 1 is true: '
	run -2 trstat --fail-if 'count > 1' no-such.trs
	# what is written is there
	run -3 trstat -q --fail-if 'count > 1' -t tsv -o out.tsv fib.trs
	trstat -t tsv fib.trs | diff - out.tsv
}

@test "--fail-if with pairs and views" {
	run -3 trstat -q --pair wakeup --fail-if 'p99(next_comm == "wl.sh") > 1ns' sched.trs
	run -0 trstat -q --pair wakeup --fail-if 'p99(next_comm == "wl.sh") > 1h' sched.trs
	run -3 trstat -q --pair syscall --fail-if 'count(id == 3) > 1' --fail-if 'max > 1h' sched.trs
	run -3 trstat -q --tree --fail-if 'max(name == "main") > 1us' fib.trs
	run -3 trstat -q --hist --fail-if 'max(name == "main") > 1us' fib.trs
}

@test "wrong conditions are named" {
	for c in '' 'nope > 1' 'p99' 'p99 >' 'p99 > x' 'p99 > 1 2' 'p99( > 1' 'p99(name == "a" > 1' \
		'count > 5ms' 'p99(no such == 1) > 1' 'p99(name == ) > 1' 'p99(name =~ "(") > 1' 'p99 = 1'; do
		run -2 trstat --fail-if "$c" fib.trs
		assert_line --index 0 --partial 'trstat: '
	done
	run -2 trstat -q --fail-if 'p99 > 5ms' <(trdecode "$DATA/apitrace/v6.trace")
	assert_output --partial 'counts ticks'
	run -3 trstat -q --fail-if 'max > 0' <(trdecode "$DATA/apitrace/v6.trace")
}

@test "-t prom: what promtool accepts" {
	need promtool
	ALL=count,total,total_avg,total_min,total_max,total_stdev,self,self_avg,self_min,self_max,self_stdev,p50,p99.9,first,last,rate
	for keys in name '' name,tid 'le,quantile,field,job,__x,bucket(time,1ms),9x' 'stack'; do
		[[ $keys == le* ]] && keys='le,quantile,field,job,bucket(time,1ms),log2(dur)'
		trstat -q -t prom -g "$keys" -c "$ALL,sum(cpu),min(cpu),max(cpu),avg(cpu),uniq(tid),avg,min,max,p50.0" fib.trs >m.prom
		run -0 promtool check metrics <m.prom
		assert_output ''
		trstat -q -t prom -g "$keys" --hist fib.trs >m.prom
		run -0 promtool check metrics <m.prom
		assert_output ''
	done
	trstat -q -t prom --hist=ret sched.trs >m.prom
	run -0 promtool check metrics <m.prom
	trdecode "$DATA/apitrace/v6.trace" | trstat -q -t prom -c count,total,p50 >m.prom
	run -0 promtool check metrics <m.prom
	run -0 cat m.prom
	assert_line --partial 'trstat_total_ticks{'
	refute_output --partial seconds
	trfilter 'tid == 1' fib.trs | trstat -q -t prom >m.prom
	run -0 promtool check metrics <m.prom
}

@test "-t prom: numbers and labels" {
	run -0 pipe "trstat -q -t prom -g name,tid -c total,count,p50,p99,'max(cpu)' fib.trs | grep -v '^#'"
	assert_line 'trstat_total_seconds{name="fib",tid="4123"} 0.000081573'
	assert_line 'trstat_events{name="compare",tid="4125"} 553'
	assert_line 'trstat_call_seconds{name="compare",tid="4125",quantile="0.5"} 0.000000050'
	assert_line 'trstat_call_seconds_sum{name="compare",tid="4125"} 0.000025650'
	assert_line 'trstat_call_seconds_count{name="compare",tid="4125"} 553'
	assert_line 'trstat_field_max{name="linux:schedule",tid="4125",field="cpu"} 0'
	refute_line --partial 'trstat_total_seconds{name="linux:task-new"'
	run -0 pipe "trstat -q -t prom --hist fib.trs | grep -v '^#'"
	assert_line --index 0 'trstat_call_seconds_bucket{le="0.000000031"} 0'
	assert_line 'trstat_call_seconds_bucket{le="0.000000255"} 1412'
	assert_line 'trstat_call_seconds_bucket{le="+Inf"} 1732'
	assert_line 'trstat_call_seconds_sum 0.024570547'
	awk 1 <(trstat -q -t tsv --hist fib.trs) | awk 'NR > 1 && $2 <= 255 { n += $3 } END { if (n != 1412) exit 1 }'
	# texts are quoted and valid UTF-8, and labels are unique
	name=$'q"b\\n\nl\xff'
	cp -r "$DATA/uftrace/fib" "$name"
	run -0 pipe "trdecode '$name' | trstat -q -t prom -g input -c count"
	assert_line 'trstat_events{input="q\"b\\n\nl'$'\xef\xbf\xbd''"} 1738'
	cp -r "$name" $'q"b\\n\nl\xfe'
	run -0 pipe "trdecode q* | trstat -q -t prom -g input -c count"
	assert_line 'trstat_events{input="q\"b\\n\nl'$'\xef\xbf\xbd''",duplicate="2"} 1738'
	# and so are the names of labels
	run -0 pipe "trfilter 'type == \"sched_switch\"' sched.trs |
		trstat -q -t prom -g 'prev_pid,.prev_pid,prev.pid|module,prev_pid_2|module,tid,le|module,.le|module' -c count -n 1 | grep -v '^#'"
	assert_output --regexp '^trstat_events\{prev_pid="[0-9]+",_prev_pid="[0-9]+",prev_pid_2="",prev_pid_2_2="",tid="[0-9]+",key_le="",_le=""\} [0-9]+$'
	run -2 trstat -t prom --tree fib.trs
	assert_output --partial '-t prom does not go with --tree'
}
