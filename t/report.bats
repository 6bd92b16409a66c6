#!/usr/bin/env bats
# trstat --report: a page on a trace. Its numbers are those of the commands that it names.
bats_require_minimum_version 1.5.0

load lib
# RECORDED: trace-cmd

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode -q "$ROOT/t/data/uftrace/fib" | trsym -q -o fib.trs
	trdecode -q -o sched.trs "$RECORDED/trace-cmd/v6-sched-irq-timer.dat"
	trdecode -q -o syscalls.trs "$RECORDED/trace-cmd/v6-syscalls.dat"
	trdecode -q -o strace.trs "$ROOT/t/data/strace/f-ttt-T-y.txt"
	trdecode -q "$ROOT/t/data/perf/sched.data.gz" | trsym -q -o perf.trs
	trdecode -q -o disk.trs "$ROOT/t/data/perfetto/disk_stat.pftrace"
	trdecode -q -o ticks.trs "$RECORDED/trace-cmd/v6-clock-counter.dat"
	# the same text in a name and in an argument
	python3 - >hostile.ndjson <<-'END'
		import json
		text = "<script>alert(1)</script>|`x`\"'&\x1b[31m\x07\n# h\n</style>"
		for i in range(4):
		    print(json.dumps({"time": 1000 + i * 100, "dur": 50 + i, "type": "call", "tid": 1, "pid": 1, "comm": text,
		                      "name": text + str(i % 2), "depth": 0, "args": {"a": text}}))
	END
	trdecode -q -f ndjson -o hostile.trs hostile.ndjson
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

@test "each number is that of the command that its section names" {
	local trace
	for trace in fib sched syscalls strace perf disk ticks; do
		trstat -q --report -t json -o "$trace.json" "$trace.trs"
		run -0 python3 "$ROOT/t/tools/report_commands.py" "$trace.json" "$trace.trs"
		assert_output --regexp '^([3-9]|1[0-9]|2[0-9]) sections$'
	done
	run -0 python3 "$ROOT/t/tools/report_commands.py" sched.json syscalls.trs
	assert_output --partial 'threads: '
}

@test "the sections are those for which the trace has data" {
	jq -e '[.sections[].id] | contains(["functions", "slowest", "states", "stacks"]) and (contains(["syscalls"]) | not)' fib.json
	jq -e '[.sections[].id] | contains(["cpus", "wakeups", "wakers", "cpu_time"]) and (contains(["functions"]) | not)' sched.json
	jq -e '[.sections[].id] | contains(["syscalls", "errors"])' syscalls.json
	jq -e '.sections[] | select(.id == "errors") | .rows[0].ret == -2' syscalls.json
	jq -e '[.sections[].id] | contains(["counters"])' disk.json
	jq -e '.trace.unit == "ticks" and ([.sections[].id] | contains(["activity"]) | not)' ticks.json
	# buckets of time: between 24 and 120
	jq -e '.sections[] | select(.id == "activity") | .groups >= 12 and .groups <= 121' sched.json
}

@test "a text has 60 lines at most and Markdown 200, and the lines that name commands run" {
	local trace command
	for trace in fib sched syscalls strace perf disk ticks; do
		trstat -q --report -o "$trace.txt" "$trace.trs"
		[ "$(wc -l <"$trace.txt")" -le 60 ]
		trstat -q --report -t markdown -o "$trace.md" "$trace.trs"
		[ "$(wc -l <"$trace.md")" -le 200 ]
	done
	# the table below a command is what the command prints
	command=$(sed -n 's/^Use of CPUs: //p' sched.txt)
	run -0 bash -c "$command -q sched.trs"
	[ "$output" = "$(sed -n '/^Use of CPUs/,/^$/p' sched.txt | sed '1d;$d')" ]
	command=$(sed -n '/^## Use of CPUs/,/^|/s/^`\(.*\)`$/\1/p' sched.md)
	run -0 bash -c "$command -q -t markdown sched.trs"
	[ "$output" = "$(sed -n '/^## Use of CPUs/,/^## /p' sched.md | grep '^|')" ]
	assert_line '|---:|---:|---:|'
}

@test "losses, damage and alarms come first" {
	head -c 30000 fib.trs >cut.trs
	run -1 trstat -q --report cut.trs
	assert_line --regexp '^Damage: .*cut'
	run -3 --separate-stderr trstat --report --fail-if 'count > 10' --fail-if 'max < 1ns' fib.trs
	assert_line --index 0 --regexp '^ALARM true: count > 10 \([0-9]+\)$'
	assert_line --index 1 --regexp '^Alarm false: max < 1ns \(2.988 ms\)$'
	run -3 --separate-stderr trstat --report --fail-if 'count > 10' -t markdown fib.trs
	assert_line --index 1 --regexp '^- \*\*ALARM true\*\*: count \\> 10 \([0-9]+\)$'
	run -3 --separate-stderr trstat --report --pair wakeup --fail-if 'p99 > 1ms' -t json sched.trs
	jq -e --arg p99 "$(trstat -q --pair wakeup -g '' -c p99 sched.trs | tail -n 1 | sed 's/^ *//')" \
		'.alarms == [{"condition": "p99 > 1ms", "true": true, "values": $p99}]' <<<"$output"
	run -3 --separate-stderr trstat --report --fail-if 'count > 10' -t html fib.trs
	assert_line --regexp 'true.*count &gt; 10'
}

@test "names from a hostile trace are text in each format" {
	local bar=$'\e'
	trstat -q --report -t html -o hostile.html hostile.trs
	run -1 grep -F '<script>alert' hostile.html
	run -1 grep -F "$bar" hostile.html
	grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;|`x`&quot;&#39;&amp;' hostile.html
	trstat -q --report -t markdown -o hostile.md hostile.trs
	run -1 grep -F "$bar" hostile.md
	grep -qF '\<script\>alert(1)\</script\>\|\`x\`' hostile.md
	# each row of a table has the columns of its heading
	awk -F '|' '/^\|/ { row = $0; gsub(/\\\|/, "", row); n = gsub(/\|/, "", row)
		if (!head) head = n; else if (n != head) bad = 1; next } { head = 0 } END { exit bad }' hostile.md
	trstat -q --report -o hostile.txt hostile.trs
	run -1 grep -F "$bar" hostile.txt
	trstat -q --report -t json hostile.trs | jq -e '.sections[0].rows[0].name | startswith("<script>")'
}

@test "a page of HTML: the policy has the hashes of its styles and scripts, and at most 2 MB" {
	# long names, of which each has another stack, at many times
	python3 - >long.ndjson <<-'END'
		import json
		for i in range(6000):
		    for depth in range(2):
		        print(json.dumps({"time": 1000 + i * 100000 + 10 * depth, "dur": 500 - 20 * depth, "type": "call", "tid": i % 50,
		                          "comm": "c" * 15, "depth": depth, "name": "f<&>" * 60 + str(i * (depth + 1))}))
	END
	trdecode -q -f ndjson long.ndjson | trstat -q --report -t html -o long.html
	[ "$(stat -c %s long.html)" -le 2000000 ]
	trstat -q --report -t html -o fib.html fib.trs
	run -0 python3 - long.html fib.html hostile.html <<-'END'
		import base64, hashlib, html, re, sys
		for name in sys.argv[1:]:
		    page = open(name).read()
		    policy = html.unescape(re.search('Content-Security-Policy" content="([^"]*)"', page)[1])
		    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
		    for kind in "style", "script":
		        texts = re.findall(f"<{kind}>(.*?)</{kind}>", page, re.S)
		        hashes = ["'sha256-" + base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() + "'" for t in texts]
		        print(name, kind, rules[kind + "-src"].split() == hashes, len(texts), len(re.findall(f"<{kind}", page)))
		    print(rules["default-src"], len(re.findall(r"\s(?:src|style|on[a-z]+)=", re.sub('"[^"]*"|>[^<]*<', "", page))))
	END
	assert_output "$(for name in long fib hostile; do
		printf '%s.html style True 2 2\n%s.html script True 2 2\n%s\n' $name $name "'none' 0"
	done)"
}

@test "options that a report has no use for are refused" {
	local option
	for option in '-g name' '-c count' '-n 3' '--where dur>1' '-i 1s' '--tree' '--partial' '-t csv' '-t svg'; do
		# shellcheck disable=SC2086
		run -2 trstat --report $option fib.trs
	done
	run -2 trstat -t html fib.trs
	assert_output --partial '-t html goes with --report'
	run -2 trstat -t markdown --tree fib.trs
	run -0 trstat -q --report --since +3ms -t json sched.trs
	jq -e '.sections[0].command | endswith("--since +3ms")' <<<"$output"
}

@test "the commands of trstat-report(7) run" {
	trdecode -q "$ROOT/t/data/uftrace/fib" | trsym -q -o uftrace.trs
	cp "$RECORDED/trace-cmd/v6-sched-irq-timer.dat" trace.dat
	cp -r "$ROOT/t/data/uftrace/fib" uftrace.data
	run -0 page_examples trstat-report
	while read -r command; do
		bash -o pipefail -c "$command" </dev/null >/dev/null 2>err || fail "$command: $(cat err)"
	done <<<"$output"
	[ -s report.md ] && [ -s report.html ] && jq -e '.report == 1' report.json
}

@test "a report of a scrubbed trace has no name, path or argument of the trace" {
	trfilter -q --scrub names,args,paths 1 fib.trs >scrubbed.trs
	local format
	for format in text markdown json html; do
		trstat -q --report -t "$format" -o "$format.scrubbed" scrubbed.trs
		run -1 grep -E 'qsort|pthread|usleep|worker|data/uftrace' "$format.scrubbed"
		grep -q 'x[0-9a-f]\{12\}' "$format.scrubbed"
	done
}

@test "-t markdown prints any table, and differences" {
	run -0 trstat -q -t markdown -c count -s name -g name -n 2 fib.trs
	[ "$output" = "| count | name |
|---:|:---|
| 1 | \\_\\_cxa_atexit |
| 1 | \\_\\_monstartup |" ]
	run -0 trstat -q --diff -t markdown -c total -n 1 fib.trs fib.trs
	assert_line --index 0 --regexp '^\| total \|.* name \|$'
}
