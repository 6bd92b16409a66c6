# trstat: --since and --until, to which calls are clipped; --where, which prints a part.

load lib
load tables

# functions OPTION...: name, count and total of fib.trs without the kernel's
functions() {
	trstat -q -t tsv -c count,total "$@" fib.trs | awk -F '\t' 'NR > 1 && $1 !~ /^linux:/ { print $1, $2, $3 }' | LC_ALL=C sort
}

@test "calls that are open at the edges of the window are clipped to it" {
	need uftrace
	uftrace dump --no-pager -d "$DATA/uftrace/fib" >dump 2>/dev/null
	read -r first last < <(awk -F '[. ]+' '/: \[/ { sub(/^ */, ""); t = $1 $2; if (!n++) print t; z = t } END { print z }' dump | paste -s -d ' ')
	for part in '0 1' '1 2' '2 4' '4 8' '7 8' '0 8'; do
		read -r from to <<<"$part"
		since=$((first + (last - first) * from / 8)) until=$((first + (last - first) * to / 8 + 1))
		LC_ALL=C python3 "$ROOT/t/tools/clip_calls.py" $since $until <dump | LC_ALL=C sort >want
		[ -s want ]
		functions --since "${since}ns" --until "${until}ns" | diff want - || fail "$part"
	done
}

@test "the parts of a trace add up to the whole" {
	whole=$(trstat -q -t tsv -g '' -c self fib.trs | tail -n 1)
	first=$(trdecode --info fib.trs | awk '/^first time/ { print $NF }')
	sum=0
	for ms in 0 1 2 3 4 5 6 7 8; do
		range=(--since "$((first + ms * 1000000))ns")
		[[ $ms -eq 8 ]] || range+=(--until "$((first + ms * 1000000 + 1000000))ns")
		part=$(trstat -q -t tsv -g '' -c self "${range[@]}" fib.trs | tail -n 1)
		sum=$((sum + part))
	done
	assert_equal "$sum" "$whole"
	# the same by stacks, and of events without calls
	[ "$(trstat -q -t tsv -g stack -c self --until +7ms fib.trs | awk -F '\t' 'NR > 1 { n += $NF } END { printf "%d", n }')" -eq \
		"$(trstat -q -t tsv -g '' -c self --until +7ms fib.trs | tail -n 1)" ]
	events=0
	for range in '--until +500ms' '--since +500ms --until +1s' '--since +1s'; do
		# shellcheck disable=SC2086
		events=$((events + $(trstat -q -t tsv -g '' -c count $range sched.trs | tail -n 1)))
	done
	assert_equal "$events" "$(trfilter -c 1 sched.trs)"
}

@test "a window of a segment that is read alone begins at --since" {
	trdecode --segment 4K "$DATA/uftrace/fib" | trsym >cut.trs
	marker=$(head -c 16 cut.trs)
	# the bytes from the second segment on
	at=$(grep -abo -F "$marker" cut.trs | cut -d : -f 1 | sed -n 2p)
	tail -c +$((at + 1)) cut.trs >later.trs
	since=$(($(trdecode --info cut.trs | awk '/^last time/ { print $NF }') - 1000000))ns
	run -1 pipe "trstat -q -t tsv -c count,total --since $since later.trs 2>/dev/null >ours"
	trstat -q -t tsv -c count,total --since $since fib.trs | cmp - ours
}

# before T: group, name, count and total of random.json before T, which needs no trace program
before() {
	python3 - "$1" <<-'END' | LC_ALL=C sort
		import collections, json, sys
		until, sums, stack = int(sys.argv[1]), collections.Counter(), []
		def add(call, end):
		    sums[call["cat"], call["name"], "n"] += 1
		    sums[call["cat"], call["name"], "t"] += 1000 * (end - call["ts"])
		events = json.load(open("random.json"))
		for e in [e for e in events if e["ts"] < until]:
		    if e["ph"] == "B":
		        stack.append(e)
		    elif e["ph"] == "E":
		        add(stack.pop(), e["ts"])
		last = min(until, events[-1]["ts"])
		for call in stack:
		    add(call, last)
		for group, name in {k[:2] for k in sums}:
		    print(group, name, sums[group, name, "n"], sums[group, name, "t"], sep="\t")
	END
}

@test "a call without a leave has the type, the lane and the fields of its enter" {
	python3 - <<-'END'
		import json, random
		random.seed(9)
		events, stack, names = [], [], 0
		for ts in range(0, 4000, 10):
		    what = random.choice("BBEEi")
		    e = {"ts": ts, "pid": 1, "tid": 1, "ph": what}
		    if what == "B":
		        names += 1
		        stack.append({"name": "f%d" % names, "cat": random.choice("xyzw")})
		        e.update(stack[-1], args={"v": names})
		    elif what == "E" and stack:
		        e.update(stack.pop())
		    else:
		        e.update(ph="i", s="t", name="i", cat=random.choice("xyzw"))
		    events.append(e)
		json.dump(events, open("random.json", "w"))
	END
	trdecode --segment 4K random.json >random.trs
	for end in 1005 2500 3333 9999; do
		before $end >want
		trstat -q -g group,name -c count,total -t tsv --until ${end}us --where 'name != "i"' random.trs |
			tail -n +2 | LC_ALL=C sort | diff want - || fail "$end"
		trstat -q -g name -c count -t tsv --until ${end}us --where 'group == "x" && name != "i"' random.trs |
			tail -n +2 | LC_ALL=C sort | diff <(grep '^x' want | cut -f 2,3) - || fail "$end"
	done
	before 9999 >want
	trstat --partial -q -g group,name -c count,total random.trs |
		trstat --merge -q -t tsv -c count,total | tail -n +2 | grep -v -P '\ti\t' | LC_ALL=C sort | diff want -
	# the fields too, and what is open belongs to the enters' type
	trencode -q -t ndjson random.trs | jq -r 'select(.type == "begin") | [.args.v, .name] | @tsv' | LC_ALL=C sort >open
	[ -s open ]
	trstat -q -g v,name -c count -t tsv --where 'type == "begin"' random.trs | tail -n +2 | cut -f 1,2 | LC_ALL=C sort | diff open -
	# a tree of each group, and a condition
	cat >open.json <<-'END'
		[{"ph":"B","ts":0,"pid":1,"tid":1,"name":"a","cat":"x"},
		{"ph":"B","ts":10,"pid":1,"tid":1,"name":"b","cat":"y"},
		{"ph":"X","ts":20,"dur":10,"pid":1,"tid":1,"name":"c","cat":"z"},
		{"ph":"i","s":"t","ts":50,"pid":1,"tid":1,"name":"i","cat":"w"}]
	END
	trdecode open.json >open.trs
	run -0 trstat -q --tree -g group -c total,count -t tsv open.trs
	assert_line $'x\t0\ta\t50000\t1'
	assert_line $'y\t1\tb\t40000\t1'
	run -0 trstat -q --fail-if 'total(group == "x") != 50us' open.trs
	# no leave, so no times of leaves
	run -0 trstat -q -g type,name -c total,count -t tsv open.trs
	assert_line $'begin\ta\t\t1'
}

@test "--where prints a part, with the times of the whole" {
	trstat -q -t tsv fib.trs >all
	for name in main worker fib; do
		trstat -q -t tsv --where "name == \"$name\"" fib.trs | tail -n +2 | cmp - <(grep -P "^$name\t" all)
	done
	for condition in 'dur > 1ms' 'depth < 2' 'tid == 4125' 'self > 10us && caller != "fib"'; do
		condition="$condition && name !~ \"^linux\""
		trstat -q -t tsv -g '' -c count --where "$condition" fib.trs | tail -n 1 >ours
		trfilter -c "$condition" fib.trs | diff - ours || fail "$condition"
		[ "$(cat ours)" -gt 0 ]
	done
	# self is less than total, though the callees are not printed
	trstat -q -t tsv -c total,self --where 'depth < 1' fib.trs >outer
	grep -P "$(printf '^main\t%s' "$(awk -F '\t' '$1 == "main" { print $2 "\t" $3 }' all)")" outer
	# fields of the enter, and of events
	trdecode -q "$DATA/apitrace/sides.trace" >sides.trs
	run -0 trstat -q -t tsv -g name -c count --where 'arg.n == 3' sides.trs
	assert_line $'fG\t1'
	run -0 trstat -q -t tsv -g type -c count --where 'next_pid > 0 && cpu == 0' sched.trs
	assert_line "$(printf 'sched_switch\t%s' "$(trfilter -c 'next_pid > 0 && cpu == 0' sched.trs)")"
	# conditions of --fail-if see the same part
	run -3 trstat -q --where 'name == "main"' --fail-if 'count == 1' -c count fib.trs
	run -3 trstat -q --where 'name == "main"' --fail-if 'count(tid > 0) == 1' fib.trs
}

@test "--where and trfilter test another name, self time and depth, as trstat(1) lists" {
	# setjmp returns twice; uftrace writes the second return as the leave of longjmp
	trdecode -q "$RECORDED/uftrace/longjmp" | trsym -q >x.trs
	trstat -q -t tsv -c count x.trs | grep -P '^_setjmp\t' >table
	trstat -q -t tsv -c count --where 'name == "_setjmp"' x.trs | tail -n 1 | diff table -
	[ "$(cut -f 2 table)" -gt "$(trfilter -q -c 'name == "_setjmp"' x.trs)" ]
	# exit does not return
	trdecode -q "$RECORDED/uftrace/exit-mid" | trsym -q >x.trs
	run -0 trstat -q -t tsv -c count --where 'self > 2us && name == "exit"' x.trs
	assert_line $'exit\t1'
	assert_equal "$(trfilter -q -c 'self > 2us && name == "exit"' x.trs)" 0
	# calls in the kernel, inside of others
	trdecode -q "$RECORDED/uftrace/kernel-sched" >x.trs
	run -0 trstat -q -t tsv -c count --where 'depth == 1 && group == "ftrace"' x.trs
	assert_line --partial '<ffffffffa6003320>'
	assert_equal "$(trfilter -q -c 'depth == 1 && group == "ftrace"' x.trs)" 0
}

@test "--where, --since and --until: mistakes, and what they do not go with" {
	run -2 errors trstat --where 'nme == "main"' fib.trs
	assert_output --partial "no event has a field 'nme'; did you mean 'name'?"
	run -2 errors trstat --where 'name == main' fib.trs
	assert_output --partial 'quote a text: "main"'
	run -2 errors trstat --where 'dur >' fib.trs
	run -2 errors trstat --where 'stack == "main"' fib.trs
	assert_output --partial '--where cannot test the stack; trfilter can'
	run -2 errors trstat --since soon fib.trs
	assert_output --partial "--since takes a time such as 12.5s, +1.5s, -10s or 2026-11-21 11:40, not 'soon'"
	run -2 pipe "cat fib.trs | trstat --since -1s"
	for options in '--where depth>1 --partial' '--since +1s --partial' '--where depth>1 --slowest 3' '--since +1s --slowest 3' \
		'--since +1s -i 1s' '--until +1s --merge' '--where depth>1 --diff'; do
		# shellcheck disable=SC2086
		run -2 errors trstat $options fib.trs
		assert_output --partial 'does not go with --'
	done
	for range in '--since 5 --until 3' '--since -1s --until -2s' '--since +2s --until +2s'; do
		for command in "trstat $range fib.trs" "trfilter $range 1 fib.trs" "trdecode $range fib.trs"; do
			run -2 errors eval "$command"
			assert_line --index 0 "${command%% *}: the time of --since is not before that of --until"
		done
	done
	run -0 --separate-stderr trstat --since +1h fib.trs
	# times to paste, in seconds
	assert_equal "$stderr" "trstat: no event is in the range of --since and --until: the times are from $(
		trdecode --info fib.trs | sed -nE 's/^(first|last) time .* ([0-9]+)([0-9]{9})$/\2.\3/p' | paste -sd ' ' | sed 's/ / to /')"
	range=$(sed 's/.* from \(.*\) to .*/--since \1/' <<<"$stderr")
	# shellcheck disable=SC2086
	diff <(trstat -q -t csv $range fib.trs) <(trstat -q -t csv fib.trs)
	# a range between two events, in which no call is open
	run -0 --separate-stderr trstat --since 3587.861 --until 3587.862 fib.trs
	assert_equal "${lines[1]-}" ''
	[[ $stderr == "trstat: no event is in the range of --since and --until: the times are from 3587."* ]]
	trdecode -q "$DATA/apitrace/v6.trace" >ticks.trs
	run -2 errors trstat --since +1ms ticks.trs
	assert_output --partial 'counts ticks'
	run -2 errors trstat --where 'dur > 1ms' ticks.trs
	assert_output --partial 'counts ticks'
}
