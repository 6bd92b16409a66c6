#!/usr/bin/env bats
# trencode -t firefox: the Firefox Profiler's processed format, read by a reader of our own, which checks it.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

# profile WHAT [OPTION]...: what the reader prints of the profile of x.trs
profile() {
	trencode -q -t firefox "${@:2}" -o x.json x.trs || (($? == 1))
	python3 "$ROOT/t/tools/firefox_profile.py" "$1" x.json
}

@test "calls: total and self of each function are those of a model over uftrace dump, to the nanosecond" {
	need uftrace
	uftrace dump --no-pager -d "$DATA/uftrace/fib" 2>/dev/null | grep '\[' | sort -s -n -k 1,1 >dump
	awk -v key=name -f "$ROOT/t/tools/uftrace_profile.awk" dump | awk -F '\t' -v OFS='\t' '$3 > 0 { print $1, $3, $4 }' | sort >want
	trdecode -q "$DATA/uftrace/fib" | trsym -q -o x.trs
	profile functions | sort | diff want -
}

@test "calls: the numbers of trstat on other recordings, also of calls that were open before the trace" {
	for d in args-spec basic-pg dlopen threads deep-default kernel-default; do
		[ -d "$RECORDED/uftrace/$d" ] || continue
		{ trdecode -q "$RECORDED/uftrace/$d" | trsym -q -o x.trs; } 2>/dev/null
		trstat -q -g name,kind -c total,self -t tsv x.trs | awk -F '\t' -v OFS='\t' '$2 == "call" && $3 > 0 { print $1, $3, $4 }' |
			sort >want
		profile functions | awk -F '\t' '$2 > 0' | sort | diff want - || fail "$d"
	done
}

@test "the samples of a fresh recording: number, thread, time and frames that perf script prints" {
	need perf
	perf record -q -F 2000 -e cpu-clock -g -o cpu.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; ls -R /etc | wc -l' \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i cpu.data --ns --no-inline -F comm,tid,time,period,ip,sym 2>/dev/null >text
	trdecode -q cpu.data -o plain.trs
	first=$(trencode -q -t ndjson plain.trs | head -n 1 | jq .time)
	awk -v first="$first" '/^[^\t ]/ { if (n) print tid, t, frames, period; n = 1; frames = 0
			for (k = 1; k <= NF; k++) if ($k ~ /^[0-9]+\.[0-9]+:$/) { tid = $(k - 1); period = $(k + 1)
				split($k, part, /[.:]/); t = sprintf("%.0f", part[1] * 1000000000 + part[2] - first) } }
		/^\t/ { frames++ }
		END { print tid, t, frames, period }' text | sort >want
	[ "$(wc -l <want)" -gt 20 ]
	cp plain.trs x.trs
	profile samples --weight period | awk -F '\t' '{ print $1, $2, $3, $4 }' | sort >ours
	diff want ours
	# the time that a sample weighs is time on a CPU
	run -0 pipe "python3 '$ROOT/t/tools/firefox_profile.py' samples x.json | awk -F '\t' '\$4 != \$5'"
	assert_output ''
	# by default each counts 1: counts by thread and stack
	trsym -q plain.trs -o x.trs
	profile stacks | awk -F '\t' '{ n += $3 } END { print n }' >count
	assert_equal "$(cat count)" "$(wc -l <want)"
	# a thread of the profile has its last name, so stacks are compared without names of threads
	trencode -q -t ndjson -c kind,stack x.trs | jq -r 'select(.kind == "sample").stack | join(";")' |
		awk '{ n[$0]++ } END { for (s in n) print s, n[s] }' | LC_ALL=C sort >want
	profile stacks | awk -F '\t' '{ n[$2] += $3 } END { for (s in n) print s, n[s] }' | LC_ALL=C sort | diff want -
}

@test "functions of the samples are those of perf script" {
	need perf
	[ "$(id -u)" = 0 ] && [ -r /proc/kallsyms ] || skip 'only root sees the addresses of the kernel'
	perf record -q -F 4000 -e cpu-clock -g -o names.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; ls -R /etc' \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
	# the functions of each stack, once each, and their counts
	perf script -i names.data --no-inline -F ip,sym 2>/dev/null | sed 's/@.*//' |
		awk '!NF { for (f in seen) n[f]++; delete seen; next } { $1 = ""; sub(/^ /, ""); seen[$0] = 1 }
			END { for (f in seen) n[f]++; for (f in n) print n[f], f }' | grep -v unknown | sort >want
	trdecode -q names.data | trsym -q --kallsyms /proc/kallsyms --demangle=no -o x.trs
	profile functions | grep -v '^<' | awk -F '\t' '{ sub(/@.*/, "", $1); print $2, $1 }' | sort >ours
	both=$(comm -12 want ours | wc -l)
	echo "$both of $(wc -l <want) functions"
	((both * 100 >= $(wc -l <want) * 80 && both > 20))
}

@test "tracepoints are markers with their fields and the stack at which they happened" {
	gzip -dc "$DATA/perf/offcpu.data.gz" | trdecode -q -o x.trs
	first=$(trencode -q -t ndjson x.trs | head -n 1 | jq .time)
	gzip -dc "$DATA/perf/offcpu.txt.gz" | awk -v first="$first" '
		function put() { if (name) print tid, name, t, rest, frames }
		/^[^\t ]/ { put(); frames = ""
			match($0, /[0-9]+ +[0-9]+\.[0-9]+: +sched:/)
			split(substr($0, RSTART), f, / +/); tid = f[1]; split(f[2], part, /[.:]/)
			t = sprintf("%.0f", part[1] * 1000000000 + part[2] - first)
			name = f[3]; sub(/^sched:/, "", name); sub(/:$/, "", name)
			rest = match($0, /(prev_)?pid=[0-9]+/) ? substr($0, RSTART, RLENGTH) : "" }
		/^\t/ { frames = "<" $1 ">" (frames == "" ? "" : ";" frames) }
		END { put() }' | sort >want
	[ "$(wc -l <want)" -gt 50 ]
	profile markers | jq -Rr 'split("\t") | select(.[1] | startswith("sched_")) | (.[4] | fromjson) as $f |
		"\(.[0]) \(.[1]) \(.[2]) \(if $f.prev_pid then "prev_pid=\($f.prev_pid)" else "pid=\($f.pid)" end) \(.[5])"' | sort >ours
	diff want ours
	# without samples of another kind those of the first tracepoint are the samples
	gzip -dc "$DATA/perf/offcpu.txt.gz" | grep -o 'sched:sched_[a-z]*' >types
	grep -cx "$(head -n 1 types)" types >n
	profile samples | wc -l | diff n -
	run -0 profile categories
	refute_line --regexp $'^<ffffffff.*\t(User|Other)$'
}

@test "threads, processes, categories; idle times are calls of uftrace" {
	trdecode -q "$DATA/uftrace/fib" | trsym -q -o x.trs
	run -0 profile threads
	assert_output "$(printf '4123\t%s\tfib\tfib\t%s\n' 4123 True 4125 False 4126 False)"
	run -0 profile categories
	assert_line $'linux:schedule\tIdle'
	assert_line $'fib\tUser'
	run -0 profile markers
	assert_line --regexp $'^4123\tlinux:task-name\t0\t\t.*"comm": "fib"'
	assert_line --regexp $'^4123\tlinux:task-exit\t8972177\t\t'
}

@test "calls with numbers are markers with a begin, an end, and arguments" {
	trdecode -q "$DATA/apitrace/threads.trace" -o x.trs
	trstat -q -g name -c count -t tsv x.trs | tail -n +2 | sort >want
	profile markers | awk -F '\t' '$4 != "" { n[$2]++ } END { for (f in n) print f "\t" n[f] }' | sort | diff want -
	trdecode -q "$DATA/apitrace/odd.trace" -o x.trs
	run -0 profile markers --tick 1us
	assert_line --regexp $'\tretInEnter\t0\t1000\t.*"x": 1, "ret": 42'
}

@test "other sources: the profile is valid, and each event is there" {
	for f in trace-cmd/v7-zlib-sched-irq-timer.dat perf/zstd.data perf/group.data perf/switch.data perf/flat.data; do
		trdecode -q "$DATA/$f" -o x.trs
		profile markers >m
		events=$(trstat -q -g kind,type -c count -t tsv x.trs | awk -F '\t' '$1 == "instant" || $1 == "counter" { n += $3 } END { print n + 0 }')
		assert_equal "$(wc -l <m)" "$events" "$f"
	done
	trdecode -q "$DATA/uftrace/fib" | trfilter 'tid == 1' >x.trs
	run -0 profile threads
	assert_line --regexp 'True$'
	run -2 trencode -t firefox --weight nothing x.trs
	assert_output --partial '--weight of firefox'
	trdecode -q "$DATA/perf/zstd.data" -o samples.trs
	run -2 trencode -q -t firefox --weight dur samples.trs
	assert_output --partial 'which weigh count or period'
}

@test "samples of other types are left out and counted" {
	trdecode -q "$DATA/perf/two.data.gz" -o x.trs
	n=$(trstat -q -g kind,type -c count -t tsv x.trs | awk -F '\t' '$1 == "sample" { n += $3; if ($3 > most) most = $3 } END { print n }')
	run -0 pipe "trencode -t firefox -o x.json x.trs 2>&1 | sed -n 's/^trencode: \([0-9]*\) event.*other types of samples left out/\1/p'"
	left=$output
	assert_equal $((n - left)) "$(profile samples | wc -l)"
}

@test "a cut stream, and segments by themselves" {
	trdecode -q --segment 2K "$DATA/uftrace/fib" | trsym -q >whole.trs
	cp whole.trs x.trs
	profile functions >/dev/null
	for n in 3000 7000 12345; do
		head -c $n whole.trs >x.trs
		profile functions >/dev/null || fail "$n"
	done
}
