# Mistakes of users: no program answers a misspelt question with nothing and status 0.

load lib
load encode

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o sched.trs
	trdecode "$DATA/uftrace/fib" | trsym -o fib.trs
	trdecode -q "$DATA/perf/flat.data" -o samples.trs
	cp "$DATA/apitrace/v6.trace" app.trace
	cp -r "$DATA/uftrace/fib" .
	trstat --partial -o fib.sum fib.trs
	echo 'ffffffff81000000 T _stext' >kallsyms
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

@test "an integer time needs a unit where the clock counts ns, and has none where it counts ticks" {
	trdecode -q app.trace -o ticks.trs
	trstat --partial -g name -o fib.part fib.trs
	# one block of rows
	trfilter -q 'name == "fib"' fib.trs | trdecode -q -o block.trs
	while IFS='|' read -r command option; do
		eval "words=($command)"
		run -2 --separate-stderr "${words[@]}"
		[[ $output != *[!$'\n']* ]] || fail "$command: $output"
		assert_equal "$(head -n 1 <<<"$stderr")" "${words[0]}: $option: a time needs a unit: 81ns or 81s?"
	done <<-'X'
		trdecode --since 81 -o x fib|fib: --since
		trdecode --until 81 -o x fib|fib: --until
		trdecode --offset=fib=81 -o x fib|fib: --offset
		trfilter -c --since 81 1 fib.trs|--since
		trfilter -c --within 81 1 fib.trs|--within
		trfilter -c --between 'time > 81' 1 1 fib.trs|--between, column 8
		trfilter -c 'time > 81' fib.trs|expression, column 8
		trfilter -c '0x51 > dur && tid > 1' fib.trs|expression, column 1
		trfilter -c 'dur + 81 > 1ms' fib.trs|expression, column 7
		trfilter -c 'dur / 1000 > 81' fib.trs|expression, column 14
		trfilter -c 'dur / 1000 > 81.0' fib.trs|expression, column 14
		trfilter -c 'dur in {0, 1ms, 81}' fib.trs|expression, column 17
		trfilter -c 'over(name == "main") && self * 2 < 80 + 1' fib.trs|expression, column 36
		trfilter -c '1ms + 81 > dur' ticks.trs|expression, column 7
		trfilter -c -A 1 'time > 81' fib.trs|expression, column 8
		trstat --since 81 fib.trs|--since
		trstat -i 81 fib.trs|-i
		trstat -i 81 --wall ticks.trs|-i
		trstat --timeline 81 fib.trs|--timeline
		trstat -g 'bucket(time,81)' fib.trs|bucket(time,81)
		trstat -g 'bucket(dur,81)' fib.trs|bucket(dur,81)
		trstat --pair offcpu -g 'bucket(dur,81)' sched.trs|bucket(dur,81)
		trstat --pair offcpu --fail-if 'max > 81' sched.trs|--fail-if, column 7
		trstat --slowest 2 --fail-if 'max > 81' block.trs|--fail-if, column 7
		trstat --where 'tid > 81 && dur > 81 && time > 81' samples.trs|--where, column 32
		trstat --where 'dur > 81' fib.trs|--where, column 7
		trstat -i 1ms --fail-if 'count(dur > 81) > 3' fib.trs|--fail-if, column 13
		trstat --merge --fail-if 'max > 81' fib.part|--fail-if, column 7
		trstat --diff --fail-if 'total_change > 81' fib.trs fib.trs|--fail-if, column 16
		trfilter -c 'dur > 81 * children' fib.trs|expression, column 7
		trstat --fail-if 'total > 81 * count' fib.trs|--fail-if, column 9
		trstat --fail-if 'count > 1 && count(tid > 1) * 81 > max' fib.trs|--fail-if, column 31
		trstat --fail-if 'total > 81 * uniq(tid)' fib.trs|--fail-if, column 9
		trstat --merge --fail-if 'total > count + 81' fib.part|--fail-if, column 17
		trstat --diff --fail-if 'total_b > 81 * count_b' fib.trs fib.trs|--fail-if, column 11
		trstat --where 'dur > 81 * depth' fib.trs|--where, column 7
		trstat --pair 'time > 81 -> name == "x"' sched.trs|--pair, column 8
		trencode -t csv --since 81 fib.trs|--since
		trencode -t csv --tick 81 ticks.trs|--tick
		trencode -t folded --pair 'time > 81 -> name == "x"' sched.trs|--pair, column 8
	X
	# 0 is one time in each unit; a point means seconds, as in the traces' own tools
	for e in 'dur >= 0' 'time > 81.0' 'dur / 1us >= 0' '(dur & 1) < 81' 'dur * 2 > 0' 'time - 1.5 > 2.5s' 'children < 81' 'dur << 1 > 81'; do
		run -0 trfilter -c "$e" fib.trs
		[ "$output" -gt 0 ] || fail "$e"
	done
	assert_equal "$(trfilter -c 'time - 1.5 > 3585.865s' fib.trs)" "$(trfilter -c 'time > 3587.365s' fib.trs)"
	assert_equal "$(trfilter -c 'dur + 0.000001 > 3us' fib.trs)" "$(trfilter -c 'dur > 2us' fib.trs)"
	# ticks, weights of samples that are no times, numbers
	run -0 trfilter -c 'time >= 0 && dur > 1' ticks.trs
	for c in 'total > 81' 'count(tid > 81) > 81' 'total > 81 * count / 1000'; do
		run -3 trstat -q --fail-if "$c" samples.trs
	done
	run -0 trstat -q --where 'dur > 81' -g 'bucket(dur,81)' samples.trs
	run -3 trstat -q --diff --fail-if 'total_b > 81' samples.trs samples.trs
	run -3 trstat -q --fail-if 'max / 1us > 81' fib.trs
	# a field may be a time
	run -3 trstat -q --pair wakeup --fail-if 'total > 2 * sum(next_prio) / 1000' sched.trs
	run -3 trstat -q --diff -c total,count --fail-if 'total_b > count_b * 2ns' fib.trs fib.trs
	# and no header of a table
	run -2 --separate-stderr trencode -t csv --since 81 fib.trs
	assert_equal "$output" ''
	run -2 --separate-stderr pipe 'trfilter 1 fib.trs | trencode -t csv --until 81'
	assert_equal "$output" ''
}

# Each line: a command, a bar, and what its message must contain. The classes: misspelt
# field, text without quotes, misspelt option or format, wrong unit, wrong order of arguments,
# option without effect. A "!" is the bar of a pipe.
mistakes() {
	local command message
	while IFS='|' read -r command message; do
		command=${command/ ! / | }
		[ -n "$command" ] || continue
		run -2 errors bash -o pipefail -c "{ $command; } >printed"
		# streams carry their cause; tables of intervals and rows are printed before the end
		[[ $command =~ ^(trfilter|trsym|trdecode)|\ -i\ |-c\ nme ]] || [ ! -s printed ] || fail "$command: $(cat printed)"
		[[ $output == *"$message"* ]] || fail "$command: $output"
	done
}

@test "trfilter: mistakes are status 2, with the right spelling" {
	mistakes <<-'X'
		trfilter 'nxt_comm == "x"' sched.trs|no event has a field 'nxt_comm'; did you mean 'next_comm'?
		trfilter -c 'nme == "main"' fib.trs|did you mean 'name'?
		trfilter 'duration > 1ms' fib.trs|did you mean 'dur'?
		trfilter 'func == "main"' fib.trs|did you mean 'name'?
		trfilter 'arg1 > 3' fib.trs|did you mean 'arg.1'?
		trfilter 'under(nam == "main")' fib.trs|did you mean 'name'?
		trfilter --between 'nme == "a"' 'name == "b"' 1 fib.trs|did you mean 'name'?
		trfilter 'undr("main")' fib.trs|there is no function 'undr'; did you mean 'under'?
		trfilter 'kind == entr' fib.trs|did you mean 'enter'?
		trfilter -c 'kind == "smaple"' fib.trs|gap expected, not 'smaple'; did you mean 'sample'?
		trfilter -c '"entr" != kind' fib.trs|did you mean 'enter'?
		trfilter -c 'kind in {smaple, enter}' fib.trs|did you mean 'sample'?
		trfilter -c 'kind in {enter, "laeve"}' fib.trs|did you mean 'leave'?
		trfilter 'name == main' fib.trs|quote a text: "main"
		trfilter 'type == sched_switch' sched.trs|quote a text: "sched_switch"
		trfilter 'under(fib)' fib.trs|quote a text: "fib"
		trfilter 'vec == SCHD' sched.trs|'vec' is a number that has no name 'SCHD'; did you mean 'SCHED'?
		trdecode app.trace ! trfilter 'arg.mode == GL_TRIANGLES'|no event has a field 'arg.mode'
		trfilter 'next_pid == "159"' sched.trs|'next_pid' is a number: write 159 without quotes
		trfilter -c '"159" != next_pid' sched.trs|'next_pid' is a number: write 159 without quotes
		trfilter 'next_pid == "work"' sched.trs|'next_pid' is a number, which no text is equal to: 'work'
		trfilter 'next_pid in {218,"219"}' sched.trs|'next_pid' is a number: write 219 without quotes
		trfilter 'type == "softirq_entry" && vec == "SCHD"' sched.trs|'vec' is a number that has no name 'SCHD'; did you mean 'SCHED'?
		trfilter 'vec == "7"' sched.trs|'vec' is a number: write 7 without quotes
		trfilter 'next_comm == 3' sched.trs|'next_comm' is a text: quote what it is compared with
		trfilter 'next_comm in {"work",3}' sched.trs|'next_comm' is a text: quote what it is compared with
		trfilter 'tid == "159"' sched.trs|a number cannot be compared with a text
		trfilter --untl 3s 1 fib.trs|did you mean '--until'?
		trfilter --scrub nams 1 fib.trs|did you mean 'names'?
		trfilter 'dur > 5 ms' fib.trs|a unit follows its number without a blank: 5ms
		trfilter 'dur > 5mss' fib.trs|unknown unit 'mss'; units are ns us ms s
		trfilter --since 5mss 1 fib.trs|12.5s
		trfilter fib.trs 'name == "main"'|the expression comes before the files
		trfilter fib.trs|the expression is missing
		trfilter --drop nxt_comm 1 sched.trs|no event has a field 'nxt_comm'; did you mean 'next_comm'?
		trfilter --keep next_com,prev_pid 1 sched.trs|did you mean 'next_comm'?
		trdecode app.trace ! trfilter --keep arg.enmu 1|did you mean 'arg.enum'?
		trfilter -c --drop prev_pid 1 sched.trs|--drop has no effect with -c
		trfilter -c --scrub names 1 fib.trs|--scrub has no effect with -c
		trfilter --key x 1 fib.trs|--key goes with --scrub
		trfilter --by tid 1 fib.trs|--by goes with --sample
	X
}

@test "trstat: mistakes are status 2, with the right spelling" {
	mistakes <<-'X'
		trstat -g nxt_comm sched.trs|did you mean 'next_comm'?
		trstat -c 'sum(priro)' sched.trs|did you mean 'prio'?
		trstat -c totl fib.trs|did you mean 'total'?
		trstat -c 'total(name == "fib")' fib.trs|column 'total' takes no parentheses
		trstat -s totl fib.trs|did you mean 'total'?
		trstat --hist=priro sched.trs|did you mean 'prio'?
		trstat --fail-if 'p99(nam == "fib") > 5ms' fib.trs|did you mean 'name'?
		trstat --slowest 3 --fail-if 'p99(nam == "fib") > 5ms' fib.trs|did you mean 'name'?
		trstat -i 1s -g nxt_comm sched.trs|did you mean 'next_comm'?
		trstat --pair 'sched_waking -> sched_switch on .pid == .next_pd' sched.trs|did you mean 'next_pid'?
		trstat --pair wakup sched.trs|did you mean 'wakeup'?
		trstat --where 'kind=="smaple"' fib.trs|gap expected, not 'smaple'; did you mean 'sample'?
		trstat -c cnt fib.trs|unknown column 'cnt'; did you mean 'count'?
		trstat -c mean fib.trs|unknown column 'mean'; did you mean 'avg'?
		trstat -s median fib.trs|unknown column 'median'; did you mean 'p50'?
		trstat --top 3 fib.trs|unknown option '--top'; did you mean '--limit'?
		trstat --head=3 fib.trs|unknown option '--head'; did you mean '--limit'?
		trstat --filter 'dur > 1ms' fib.trs|unknown option '--filter'; did you mean '--where'?
		trstat --json fib.trs|unknown option '--json'; did you mean '--to=json'?
		trstat -g process fib.trs|did you mean 'pid' or 'comm'?
		trstat -g thread sched.trs|did you mean 'tid' or 'comm'?
		trstat -c duration fib.trs|did you mean 'total'?
		trstat --csv fib.trs|unknown option '--csv'; did you mean '--to=csv'?
		trstat --format=csv fib.trs|unknown option '--format'; did you mean '--to'?
		trstat --all fib.trs|it is an option of trdecode
		trstat --wakeup sched.trs|did you mean '--pair=wakeup'?
		trstat -f uftrace fib.trs|unknown option '-f'; it is an option of trdecode
		trstat --kallsyms=kallsyms fib.trs|it is an option of trsym
		trfilter --where 'dur > 1ms' fib.trs|unknown option '--where'; it is an option of trstat
		trstat --where 'tid > 1 and dur > 1ms' fib.trs|column 9: '&&', '||' or the end expected, not 'and'; did you mean '&&'?
		trstat --fail-if 'p99 > 1s or p50 > 1s' fib.trs|column 10: '&&', '||' or the end expected, not 'or'; did you mean '||'?
		trfilter 'a and b' fib.trs|column 3: '&&', '||' or the end expected, not 'and'; did you mean '&&'?
		trfilter 'tid > 1 OR pid > 1' fib.trs|did you mean '||'?
		trfilter 'not name == "fib"' fib.trs|not 'name'; did you mean '!'?
		trfilter 'tid > 1 && not (pid > 1)' fib.trs|there is no function 'not'; did you mean '!'?
		trfilter 'name like "fib"' fib.trs|did you mean '=~'?
		trstat --where 'dur > 1 ms' fib.trs|a unit follows its number without a blank: 5ms
		trfilter 'name =~ "["' fib.trs|column 9: regular expression '[': a '[' is not closed; the character is \[
		trfilter 'name =~ "a(b"' fib.trs|regular expression 'a(b': a '(' is not closed
		trfilter 'name =~ "*a"' fib.trs|regular expression '*a': '*', '+', '?' or '{' repeats nothing
		trfilter 'name =~ "a++++++++++++++++++++"' fib.trs|'a++++++++++++++++++++': its repetitions and alternatives make more than 10000 characters
		trfilter 'prev_prio == S' sched.trs|'prev_prio' is a number, which no text is equal to: 'S'
		trfilter 'prev_state == V' sched.trs|'prev_state' is a number that has no name 'V'
		trfilter 'next_comm == S' sched.trs|quote a text: "S"
		trstat --fail-if 'count(kind in {entr}) > 0' fib.trs|did you mean 'enter'?
		trstat --pair 'kind == "entr" -> kind == "leave"' fib.trs|did you mean 'enter'?
		trstat --fail-if 'count(next_pid == "159") > 0' sched.trs|'next_pid' is a number: write 159 without quotes
		trstat --where 'vec == "SCHD"' sched.trs|did you mean 'SCHED'?
		trstat --pair 'type == "softirq_entry" && vec == "SCHD" -> softirq_exit' sched.trs|did you mean 'SCHED'?
		trstat --fail-if 'count(tid == "159") > 0' sched.trs|a number cannot be compared with a text
		trstat --pair offcpu -c 'sum(a.prev_prio)' sched.trs|columns of pairs take fields of the second event, such as b.prev_prio; use a.prev_prio as a key of -g
		trstat --pair offcpu -c 'uniq(tid)' sched.trs|such as b.tid; use tid as a key of -g
		trstat --pair offcpu -c 'sum(b.priro)' sched.trs|no event has a field 'priro'
		trstat --pair offcpu --fail-if 'sum(priro)(comm == "x") > 3' sched.trs|no event has a field 'priro'
		trstat --pair wakeup -g pid sched.trs|no event of these pairs records the pid of their task; use a.pid or b.pid
		trstat --fail-if 'p99(name == fib) > 5ms' fib.trs|quote a text: "fib"
		trstat --group-by=name fib.trs|did you mean '--group'?
		trstat -t jsn fib.trs|did you mean 'json'?
		trstat -g 'bucke(time,1s)' fib.trs|did you mean 'bucket'?
		trstat --fail-if 'p99 > 5mss' fib.trs|unknown unit 'mss'; units are ns us ms s
		trstat -i 5x fib.trs|such as 2s or 500ms
		trstat --timeline f fib.trs|--timeline takes a time such as 10ms
		trstat name fib.trs|did you mean '-g name'?
		trstat --width 80 -t csv fib.trs|--width has no effect on csv
		trstat --alpha 0.1 fib.trs|--alpha goes with --diff
		trstat --bounds -c count fib.trs|--bounds has no effect: the columns are exact
		trstat --diff -g nxt_comm sched.trs sched.trs|sched.trs: no event has a field 'nxt_comm'; did you mean 'next_comm'?
		trstat --diff --fail-if slowr fib.trs fib.trs|did you mean 'slower'?
		trstat --diff --fail-if 'p99_chnge > 10%' fib.trs fib.trs|did you mean 'p99_change'?
		trstat --diff --fail-if 'p99_change' fib.trs fib.trs|a comparison is expected
		trstat --diff --fail-if 'p99_change(name == "fib") > 10%' fib.trs fib.trs|'name == "commit" && p99_change > 10%'
		trstat --diff --fail-if 'count_change > 3ms' fib.trs fib.trs|count_change is not a time
		trstat --diff --fail-if 'p99 > 10%' fib.trs fib.trs|a percentage can be compared with columns of trstat such as util and, with --diff, p99_change
		trstat --fail-if 'p99 > 10%' fib.trs|a percentage can be compared
		trstat --fail-if 'p99 > 10% * 3' fib.trs|expected, not '*'
		trfilter 'dur > 10%' fib.trs|a percentage can be compared with columns of trstat
		trstat --diff -c 'sum(priro)' sched.trs fib.trs|did you mean 'prio'?
		trstat --merge -c totl fib.sum|did you mean 'total'?
		trstat --merge -g nme fib.sum|fib.sum: the summary has the keys 'name', not 'nme'
		trstat --merge --fail-if 'p99(nam == "fib") > 5ms' fib.sum|the summaries are not by its key 'nam'
	X
}

@test "trencode: mistakes are status 2, with the right spelling" {
	mistakes <<-'X'
		trencode -t csv -c nme fib.trs|did you mean 'name'?
		trencode -c comn fib.trs|did you mean 'comm'?
		trencode -t chrom fib.trs|did you mean 'chrome'?
		trencode -t json fib.trs|no format 'json'; see --formats; did you mean 'chrome' or 'ndjson'?
		trencode -t html fib.trs|did you mean 'svg'?
		trencode -t flamegraph fib.trs|did you mean 'svg'?
		trencode -f uftrace fib.trs|unknown option '-f'; it is an option of trdecode
		trencode --csv fib.trs|did you mean '--to=csv'?
		trencode --json|unknown option '--json'; did you mean '--to=chrome' or '--to=ndjson'?
		trencode --json-int64|option '--json-int64' needs an argument
		trencode --flamegraph fib.trs|did you mean '--to=svg'?
		trencode --unclosed drp -t chrome fib.trs|did you mean 'drop'?
		trencode --no-heder -t csv fib.trs|did you mean '--no-header'?
		trencode --since 5mss fib.trs|12.5s
		trencode --since 5 --until 3 fib.trs|the time of --since is not before that of --until
		trencode -n many fib.trs|-n needs a number, not 'many'
		trencode --tick 5 -t csv fib.trs|--tick: a time needs a unit: 5ns or 5s?
		trencode --tick 5x -t chrome fib.trs|--tick takes a time in whole ns, such as 1ns, not '5x'
		trencode chrome fib.trs|did you mean '-t chrome'?
		trencode --no-header fib.trs|--no-header has no effect on text
		trencode -o x.html fib.trs|no format has the suffix of 'x.html'; choose one with -t
		trencode -o x.svgz fib.trs|no format has the suffix of 'x.svgz'
		trencode -o x.csv.gz fib.trs|no format has the suffix of 'x.csv.gz'
		trencode --tick 1us -o x.csv fib.trs|--tick has no effect: no clock of this trace counts ticks
	X
	for option in --raw --ns --ts-diff; do
		run -2 errors bash -c "trencode $option fib.trs >printed"
		assert_output "trencode: $option has no effect on this trace; it is for text of trace-cmd"
		assert [ ! -s printed ]
		# one of several inputs, or of several sources, has that text
		run -0 errors bash -c "trencode $option fib.trs sched.trs >printed"
		run -0 errors bash -c "trdecode --offset fib.trs=0 fib.trs sched.trs | trencode $option >printed"
		run -2 errors bash -c "trencode $option fib.trs fib.trs >printed"
	done
	for option in --all-calls --thread-ids --octal --blobs=blobs; do
		run -2 trencode $option -o x.txt sched.trs
		assert_line "trencode: ${option%=*} has no effect on this trace; it is for text of apitrace"
		assert [ ! -e x.txt ]
	done
	run -2 errors bash -c 'trdecode app.trace | trencode -D 3 >printed'
	assert_line "trencode: --depth has no effect on this trace; it is for text of uftrace"
}

@test "trdecode: mistakes are status 2, with the right spelling" {
	mistakes <<-'X'
		trdecode -f apitrac app.trace|did you mean 'apitrace'?
		trdecode --untill 3s app.trace|did you mean '--until'?
		trdecode -t chrome app.trace|unknown option '-t'; it is an option of trstat and trencode
		trdecode -n 3 app.trace|it is an option of trfilter, trstat and trencode
		trdecode --clock rw app.trace|raw or wall
		trdecode --since 5mss app.trace|12.5s
		trdecode --segment 5x app.trace|--segment takes a size
		trdecode apitrace app.trace|did you mean '-f apitrace'?
		trdecode --offset ap.trace=1 app.trace|--offset ap.trace=1: no input of that name
		trdecode app.trace -o app.trace|app.trace: the output would replace the input: name another file
		trdecode --max-value 1K fib|--max-value has no effect on uftrace; it is for apitrace
		trdecode --no-unwind fib|--no-unwind has no effect on uftrace; it is for perf
		trdecode --sysroot . fib|--sysroot has no effect on uftrace; it is for perf
		trdecode --clock raw fib|--clock raw has no effect on uftrace, whose times are those of its clock
		trdecode --clock raw fib.trs|--clock raw has no effect on stream
		trdecode --clock raw app.trace|--clock raw has no effect on apitrace
		trdecode --json app.trace|--json goes with --info or --list
		trdecode --all app.trace|--all goes with --list
		trdecode --list --all --json app.trace|--all has no effect with --json
		trdecode --segment 1M --list app.trace|--segment has no effect with --list
		trdecode --info --cpu 1 app.trace|--cpu, --tid, --type, --since and --until have no effect with --info
	X
}

@test "trsym: mistakes are status 2, with the right spelling" {
	mistakes <<-'X'
		trsym --demangle ful fib.trs|did you mean 'full'?
		trsym --linse fib.trs|did you mean '--lines'?
		trsym --lines=3 fib.trs|takes no argument
		trsym full fib.trs|did you mean '--demangle full'?
		trsym --inline=3 fib.trs|takes no argument
		trsym --demangle= fib.trs|--demangle takes simple, full or no
		trsym --kallsyms missing fib.trs|missing: cannot open
		trsym --kallsyms /dev/null fib.trs|/dev/null: not a copy of /proc/kallsyms
		trsym fib|is a directory, not an event stream; if it is a trace: trdecode fib | trsym
		trsym app.trace|is not an event stream; if it is a trace: trdecode app.trace | trsym
		trsym --kallsyms kallsyms fib.trs|--kallsyms has no effect: this trace has no kernel
	X
}

@test "a program knows the options of the others" {
	for program in trdecode trsym trfilter trstat trencode; do
		"$program" --complete-options | cut -f 1 | tr ' ' '\n' |
			grep -vxE -e '-[oqhV]|--(output|quiet|verbose|progress|help|version)' | sed "s/^/$program /"
	done >code
	sed -n '/^} program_options/,/^};/p' "$ROOT/common/cli/program.c" | grep -oE '"[^"]*"' | tr -d '"' |
		awk '/^tr/ { program = $1; next } { for (i = 1; i <= NF; i++) print program, $i }' >table
	# program_options in common/cli/program.c lacks what is only in the code
	diff <(sort code) <(sort table)
}

@test "a stream without declared events, and a damaged one, have no misspelt fields" {
	trdecode -q --type no_such "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o empty.trs
	run -0 --separate-stderr trfilter -c 'nxt_comm == "x"' empty.trs
	assert_output 0
	run -0 trstat -t csv -g nxt_comm empty.trs
	head -c "$(($(wc -c <sched.trs) * 3 / 4))" sched.trs >half.trs
	run -1 --separate-stderr trfilter -c 'nxt_comm == "x"' half.trs
	assert_output 0
	[[ $stderr == *"did you mean 'next_comm'?"* ]]
	# a field of one of several streams, and of alternatives
	run -0 --separate-stderr trfilter -c 'next_pid >= 0' fib.trs sched.trs
	run -0 --separate-stderr trstat -t csv -g 'no_such|next_comm' sched.trs
	run -0 --separate-stderr trfilter -c 'has(no_such)' sched.trs
	assert_output 0
	assert_equal "$stderr" "trfilter: no event has a field 'no_such'; trdecode --list names the fields"
}

@test "events that did not occur have the fields that the trace declares" {
	for trace in "$DATA"/{trace-cmd/v7-zlib-sched-irq-timer.dat,ctf/kinds.tar.gz,ctf/lost.tar.gz,lttng/v2.6-le64-packed.tar.gz} \
		"$RECORDED/uftrace/kernel-sched"; do
		fields=$(trdecode -q --list --json "$trace" | jq -r '[.[] | select(.kind == "instant" or .events == 0) | .fields[], .values[]? | .name |
			select(test("^[a-z][a-z_0-9.]*$") and (IN("comm", "name", "caller", "file", "format", "module", "type", "kind", "input") | not))] | unique | map(. + " == " + .) | join(" || ")')
		trdecode -q --until 0 "$trace" -o empty.trs
		trdecode -q empty.trs -o again.trs
		for stream in empty.trs again.trs; do
			run -0 errors trfilter -q -c "$fields" "$stream"
			assert_output ''
			run -2 errors trfilter -c "x${fields%% *} == 3" "$stream"
			assert_output --partial "did you mean '${fields%% *}'?"
		done
		trdecode -q --segment 2K "$trace" -o x.trs
		split_segments
		run errors trfilter -q -c "$fields" segment*1
		refute_output --partial 'no event has'
	done
	# a name that other programs have for a field of this one
	run -0 errors trfilter -c 'duration > 1ms' sched.trs
	assert_output "trfilter: no event has a field 'duration'; did you mean 'dur'?"
	run -0 errors trstat -t csv -g duration sched.trs
	assert_output "trstat: no event has a field 'duration'; did you mean 'dur'?"
}

# warned COMMAND MESSAGE: status 0, and the message alone on stderr
warned() {
	run -0 errors bash -o pipefail -c "{ $1; } >printed"
	assert_equal "$1: $output" "$1: $2"
}

@test "names that no event matches, and numbers of threads and processes that none has, are said" {
	while IFS='|' read -r condition says; do
		run -0 errors trfilter -o none.trs "$condition" fib.trs
		assert_output "${says:+trfilter: no event has $says}"
		run -0 errors bash -c 'trstat -n 1 --where "$0" fib.trs >printed' "$condition"
		assert_output "${says:+trstat: no event has $says}"
	done <<-'X'
		name =~ "fbi"|a name that matches 'fbi'
		comm =~ "sleep"|a comm that matches 'sleep'
		tid == 1|the tid 1
		pid in {2}|the pid 2
		name =~ "^fi"|
		name !~ "fbi"|
		tid != 1|
	X
}

@test "files and lines need trsym -l" {
	for key in file line name,line; do
		run -0 errors bash -c 'trstat -g "$0" sched.trs >printed' $key
		assert_output 'trstat: no function has a file and a line; trsym -l adds them'
	done
}

@test "depth is of calls" {
	run -0 errors trfilter -o none.trs 'depth > 5' sched.trs
	assert_output "trfilter: only calls have 'depth', and this trace has no calls"
	run -0 errors trfilter -D 3 -o none.trs 'cpu == 0' sched.trs
	assert_output 'trfilter: --depth has no effect: this trace has no calls'
}

@test "a field that is unknown in one input of a comparison is a warning; a summary has no unknown field" {
	run -0 errors bash -c 'trstat --diff -g next_comm sched.trs fib.trs >printed'
	assert_output "trstat: fib.trs: no event has a field 'next_comm'; did you mean 'comm'?"
	run -0 errors bash -c "trstat --fail-if-empty=ok --fail-if 'p99(name == \"fib\") > 2 * p99(name == \"fib\" && tid == 1)' fib.trs >printed"
	assert_line --index 0 'trstat: no event has the tid 1'
	assert_line --index 1 "trstat: --fail-if 'p99(name == \"fib\") > 2 * p99(name == \"fib\" && tid == 1)': p99 has no value: no such call or event was counted; so the condition is false"
	run -2 errors bash -c 'trstat --partial -g nxt_comm sched.trs >printed'
	assert_output "trstat: no event has a field 'nxt_comm'; did you mean 'next_comm'?"
}

@test "a name or type that occurs nowhere is a warning" {
	run -0 --separate-stderr trstat --merge --fail-if-empty=ok --fail-if 'count(name == "fbi") > 5' fib.sum
	[[ $stderr == "trstat: --fail-if 'count': no group of the summaries matches its condition; there are "*' fib,'* ]]
	warned 'trstat --merge --fail-if '\''p99(name == "fib") > 5h'\'' fib.sum' ''
	warned 'trfilter -c '\''name == "fbi"'\'' fib.trs' "trfilter: no event has the name 'fbi'; did you mean 'fib'?"
	assert_equal "$(<printed)" 0
	warned 'trfilter -c '\''type == "switch"'\'' sched.trs' "trfilter: no event has the type 'switch'; did you mean 'sched_switch'?"
	warned 'trfilter -c '\''type == "sched_switch_x"'\'' sched.trs' "trfilter: no event has the type 'sched_switch_x'; did you mean 'sched_switch'?"
	warned 'trfilter -c '\''type in {"sched_swich", "sched_switch"}'\'' sched.trs' "trfilter: no event has the type 'sched_swich'; did you mean 'sched_switch'?"
	warned 'trstat --fail-if-empty=ok --fail-if '\''count(name == "fbi") > 5'\'' fib.trs' "trstat: no event has the name 'fbi'; did you mean 'fib'?"
	warned 'trstat --pair '\''sched_wakin -> sched_switch'\'' sched.trs | cat' "trstat: no event has the name 'sched_wakin'; did you mean 'sched_waking'?
trstat: no pair of sched_wakin -> sched_switch: the trace has no sched_wakin
trstat: $(trfilter -c 'type == "sched_switch"' sched.trs) ends of pairs without a beginning"
	# a quiet night: events that did not occur have fields that nothing declares
	warned 'trfilter -c '\''type == "block_rq_issue" && sector > 3'\'' sched.trs' "trfilter: no event has the type 'block_rq_issue'"
	run -2 errors trfilter -c 'type == "block_rq_issue" && sector > 3 || nxt_pid == 1' sched.trs
	assert_line "trfilter: no event has a field 'nxt_pid'; did you mean 'next_pid'?"
	for quiet in 'trfilter -q -c '\''name == "fbi"'\'' fib.trs' 'trfilter -c '\''name != "fbi"'\'' fib.trs' 'trfilter -c '\''dur > 1h'\'' fib.trs' \
		'trfilter 0 fib.trs | trfilter -c '\''name == "fib"'\'; do
		warned "$quiet" ''
	done
}

@test "a column that an event may have without a declaration is a warning" {
	echo '[{"name":"b","ph":"i","ts":1,"pid":1,"tid":1}]' | trdecode -o b.trs
	warned 'trencode -t csv -c name,no_such b.trs' "trencode: no event has a field 'no_such'; trdecode --list names the fields"
	assert_equal "$(<printed)" $'name,no_such\nb,'
	warned 'trencode -t csv -c arg.1 sched.trs | sort -u' "trencode: no event has a field 'arg.1'; did you mean 'args'?"
	assert_equal "$(<printed)" $'\narg.1'
	# a recording with returned values
	trdecode "$RECORDED/uftrace/args-auto" -o ret.trs
	warned "trfilter -c 'has(ret) && has(arg.1)' ret.trs" ''
	for field in ret arg.1; do
		for c in "$field < 0" "has($field)"; do
			warned "trfilter -c '$c' fib.trs" "trfilter: no event has a field '$field'; trdecode --list names the fields"
			warned "trstat --where '$c' fib.trs" "trstat: no event has a field '$field'; trdecode --list names the fields"
		done
	done
}

@test "a field of calls in a trace without calls is a warning" {
	for stream in samples.trs sched.trs; do
		for c in 'dur > 1ms' 'self / 2 > 3us' 'children == 0' 'caller == "mid"'; do
			warned "trfilter -c '$c' $stream" "trfilter: only calls have '${c%% *}', and this trace has no calls"
			assert_equal "$(<printed)" 0
			warned "trfilter -q -c '$c' $stream" ''
		done
		warned "trfilter 0 $stream | trfilter -c 'dur > 1ms'" ''
	done
	warned "trfilter -c 'caller =~ \"fib\" && dur > 1h' fib.trs" ''
}

@test "a text that no thread, function or input has is a warning" {
	local stream field text hint
	trdecode app.trace -o app.trs
	while IFS='|' read -r stream field text hint; do
		warned "trfilter -c '$field == \"$text\"' $stream" "trfilter: no event has the $field '$text'$hint"
		assert_equal "$(<printed)" 0
		warned "trfilter -q -c '$field == \"$text\"' $stream" ''
		warned "trfilter -c '$field != \"$text\"' $stream" ''
		# not of trstat: format; app.trs has a remark of its own
		[[ $field == format || $stream == app.trs ]] ||
			warned "trstat -t csv --where '$field == \"$text\"' $stream | tail -n +2" "trstat: no event has the $field '$text'$hint"
	done <<-'X'
		sched.trs|comm|wrk|; did you mean 'work'?
		sched.trs|module|nosuch.so|
		sched.trs|buffer|x|
		sched.trs|input|zz|
		sched.trs|format|trace-cdm|; did you mean 'trace-cmd'?
		samples.trs|format|prf|; did you mean 'perf'?
		fib.trs|module|fbi|; did you mean 'fib'?
		fib.trs|file|nosuch.cpp|; trsym -l adds the files of functions
		fib.trs|caller|fbi|; did you mean 'fib'?
		app.trs|class|frme|; did you mean 'frame'?
	X
	warned "trfilter -c 'under(module == \"nosuch.so\")' fib.trs" "trfilter: no event has the module 'nosuch.so'"
	warned "trfilter -c 'comm in {\"work\", \"wrk\"}' sched.trs" "trfilter: no event has the comm 'wrk'; did you mean 'work'?"
	for c in 'module == "fib"' 'module == "/opt/example/fib"' 'caller == "fib"' 'buffer == ""' 'input =~ "fib"' 'format == "uftrace"'; do
		warned "trfilter -c '$c' fib.trs" ''
		[ "$(<printed)" -gt 0 ]
	done
}

@test "texts that a number may be spelled as, and groups" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" -o calls.trs
	for c in 'vec == "SCHED"' 'vec in {"SCHED", 99}' 'next_comm == "3"' 'next_comm != NULL' 'has(next_pid) && next_pid == 3'; do
		warned "trfilter -c '$c' sched.trs" ''
	done
	# names that occur in no event, and a field that is a number or a text
	warned "trfilter -c 'id == \"setns\" || buf == \"0x2d7ee50\" || buf == \"no such\"' calls.trs" ''
	run -2 errors trfilter -c 'ret == "0"' calls.trs
	assert_line "trfilter: 'ret' is a number: write 0 without quotes"
	# arguments and returned values have any type
	trdecode "$RECORDED/uftrace/args-auto" -o ret.trs
	warned "trfilter -c 'arg.1 == \"3\" || ret == \"x\"' ret.trs" ''
	warned "trfilter -c 'group == \"shced\"' sched.trs" "trfilter: no event has the group 'shced'; did you mean 'sched'?"
	warned "trfilter -c 'group == \"no\" && no_such == 3' sched.trs" "trfilter: no event has the group 'no'"
	warned "trstat --where 'group in {\"sched\", \"irqs\"}' sched.trs" "trstat: no event has the group 'irqs'; did you mean 'irq'?"
	warned "trfilter -c 'group != \"shced\"' sched.trs" ''
	# the part of a name after a colon
	echo '[{"name":"bench:sysc_begin","ph":"i","ts":1,"pid":1,"tid":1}]' | trdecode -o colon.trs
	for misspelt in sysc_begin sysc_begn; do
		warned "trfilter -c 'type == \"$misspelt\"' colon.trs" "trfilter: no event has the type '$misspelt'; did you mean 'bench:sysc_begin'?"
		warned "trdecode --type $misspelt colon.trs" "trdecode: no event has the type '$misspelt'; did you mean 'bench:sysc_begin'?"
	done
	warned "trdecode --type 'nothing*' colon.trs" "trdecode: no event has the type 'nothing*'"
	warned "trdecode --type nothing --list colon.trs" "trdecode: no event has the type 'nothing'"
}

@test "a field of events that a condition chooses in other ways is a warning" {
	for choice in 'kind == "gap"' 'has(next_pid)' '(group == "sched" || name == "fib")' 'format == "trace-cmd"' 'type =~ "^sched"' \
		'(type == "sched_switch" || type == "x")'; do
		run -0 --separate-stderr trfilter -c "$choice && next_pid == 3" fib.trs
		assert_output 0
		[[ $stderr == *"no event has a field 'next_pid'"* ]]
		run -2 trfilter -c "depth > 1 && $choice || next_pid == 3" fib.trs
	done
	for choice in 'type != "sched_switch"' '!(type == "sched_switch")' 'kind != "gap"' '!(type =~ "^sched")' 'type !~ "^s"'; do
		run -0 errors trfilter -c "$choice || next_pid == 3" fib.trs
		assert_line "trfilter: no event has a field 'next_pid'; did you mean 'pid'?"
		run -2 trfilter -c "$choice && dur > 0 || next_pid == 3" fib.trs
	done
	run -2 trfilter -c 'type != "entry" || next_pid == 3' fib.trs
	run -0 --separate-stderr trfilter -c 'has(next_pid) && next_pid == 3' fib.trs
	assert_equal "$stderr" "trfilter: no event has a field 'next_pid'; did you mean 'pid'?"
	run -2 trfilter -c 'type == "entry" && next_pid == 3' fib.trs
	run -2 trfilter -c 'kind == "enter" && name == fib' fib.trs
}

@test "trdecode --type: a type that occurs nowhere is a warning" {
	trace=$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat
	warned "trdecode --type sched_swich --type sched_wak* $trace" "trdecode: no event has the type 'sched_swich'; did you mean 'sched_switch'?"
	warned "trdecode -q --type sched_swich $trace" ''
	warned "trdecode --type sched_swich --until 0 $trace" "trdecode: no event has the type 'sched_swich'; did you mean 'sched_switch'?"
}

@test "a view of calls of a trace without calls says what there is; usual ends of pairs are no remarks" {
	for view in --tree '--slowest 3' --hist; do
		warned "trstat $view sched.trs" "trstat: no calls in this trace; $(trfilter -c 1 sched.trs) events of $(trstat -t tsv -g type -c count sched.trs | tail -n +2 | wc -l) types: try -g type"
	done
	warned 'trstat --pair wakeup sched.trs' ''
	warned 'trstat --pair offcpu sched.trs' ''
}

@test "a message names the right spelling once" {
	run -2 trencode -t svg --pair offcpo fib.trs
	assert_line "trencode: no such pair: 'offcpo'; did you mean 'offcpu'?"
	run -2 trencode -t sgv fib.trs
	assert_output --regexp "^trencode: [^?]*did you mean 'svg'\?"
	[[ $output != *'did you mean'*'did you mean'* ]]
}

@test "a program that is given a trace prints the pipe to type, which works" {
	cp app.trace "it's a trace"
	cp app.trace ./-app.trace
	gzip -c app.trace >"app of today.gz"
	gzip -c fib.trs >./-fib.gz
	# a command, @, and the pipe of the message, which is run
	while IFS='@' read -r command pipe; do
		run -2 errors bash -o pipefail -c "{ $command; } >printed"
		assert_line --partial "event stream; if it is a trace: $pipe"
		refute_line --partial "$pipe "
		run -0 errors bash -o pipefail -c "{ $pipe; } >printed"
		[[ -s printed || $pipe == *' -o '* ]] || fail "$pipe"
	done <<-'X'
		trstat app.trace@trdecode app.trace | trsym | trstat
		trstat -g tid -c count,total app.trace@trdecode app.trace | trsym | trstat -g tid -c count,total
		trstat app.trace --where 'dur > 1' -n 3@trdecode app.trace | trsym | trstat --where 'dur > 1' -n 3
		trstat fib@trdecode fib | trsym | trstat
		trstat "it's a trace"@trdecode 'it'\''s a trace' | trsym | trstat
		trencode -t ndjson -o x.json app.trace@trdecode app.trace | trsym | trencode -t ndjson -o x.json
		trencode fib@trdecode fib | trsym | trencode
		trfilter -c 'name =~ "it'"'"'s" || 1' fib@trdecode fib | trsym | trfilter -c 'name =~ "it'\''s" || 1'
		trfilter -c --between 1 'tid > 1' 1 fib@trdecode fib | trsym | trfilter -c --between 1 'tid > 1' 1
		trsym -l fib@trdecode fib | trsym -l
		trstat -- -app.trace@trdecode -- -app.trace | trsym | trstat --
	X
	# what is compressed may be either
	run -2 errors trstat -n 1 "app of today.gz"
	assert_output "trstat: app of today.gz: is compressed; if it is a stream: zcat 'app of today.gz' | trstat -n 1; if it is a trace: trdecode 'app of today.gz' | trsym | trstat -n 1"
	run -0 bash -o pipefail -c "${output##*trace: }"
	assert_line --index 0 --regexp 'count.*name'
	run -2 errors trstat -n 1 -- -fib.gz
	[[ $output =~ 'a stream: '(.*)'; if' ]]
	run -0 bash -o pipefail -c "${BASH_REMATCH[1]}"
	assert_line --index 0 --regexp 'count.*name'
	run -2 errors bash -c 'trstat --tree <app.trace'
	assert_output 'trstat: <stdin>: is not an event stream; if it is a trace: trdecode | trsym | trstat --tree'
	# of two inputs, with a key that a stream must not have, and of what is no command of one line
	for command in 'trstat app.trace app.trace' 'trstat --diff app.trace app.trace' 'trstat --merge app.trace' \
		'trfilter --scrub names --key=secret 1 app.trace' "trfilter -c \$'1\\n' app.trace"; do
		run -2 errors bash -c "{ $command; } >printed"
		assert_line --partial '(trdecode makes one of a trace)'
		! grep -q secret printed
	done
}

@test "an expression that is not quoted is refused with what works" {
	run -2 errors trfilter name == fib "$DATA/uftrace/fib"
	assert_line --index 0 "trfilter: 'name ==' are several words: put the expression in quotes, as in 'dur > 1ms'"
}
