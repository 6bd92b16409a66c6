# trencode --split: parts of a trace, each whole by itself, that add up to the trace.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >x.trs
}

# table: count, total, self of each function that was called, of the stream on stdin
table() {
	trsym -q | trstat -q -t tsv -c count,total,self,max | awk -F '\t' 'NR > 1 && $3' | LC_ALL=C sort
}

# split FORMAT LIMIT OPTION...: the parts of x.trs in parts/p.NNN, and whole, all of it in one
split() {
	local format=$1 limit=$2
	shift 2
	rm -rf parts whole
	mkdir parts
	trencode -q -t "$format" --split "$limit" "$@" -o parts/p x.trs
	trencode -q -t "$format" "$@" -o whole x.trs
	# cuts are needed for a test
	[ -e parts/p.003 ]
}

# sums FILE...: count, total, self of each function, of the tables of these parts, added up
sums() {
	local part
	for part in "$@"; do
		trdecode -q "$part" | table
	done | awk -F '\t' -v OFS='\t' '{ n[$1] += $2; t[$1] += $3; s[$1] += $4 }
		END { for (f in n) printf "%s\t%d\t%.0f\t%.0f\n", f, n[f], t[f], s[f] }' | LC_ALL=C sort
}

# add_up: the parts, read as one trace, and each by itself, are the whole
add_up() {
	local part
	trdecode -q whole | table >want
	[ -s want ]
	trdecode -q parts/p.* | table | diff want -
	cut -f 1-4 want >sums
	for part in parts/p.*; do
		trdecode -q "$part" | trsym -q | trstat -q --partial -o "${part##*/}.sum"
	done
	trstat -q --merge -t tsv -c count,total,self p.*.sum | awk -F '\t' 'NR > 1 && $3' | LC_ALL=C sort | diff sums -
	rm p.*.sum
}

@test "parts of chrome, perfetto, uftrace and ctf are the whole, read together and one by one" {
	for format in chrome perfetto uftrace ctf; do
		split $format 200us
		add_up
		split $format 12K
		add_up
	done
	split chrome 500us
	trdecode -q whole | table | cut -f 1-4 >sums
	sums parts/p.* | diff sums -
}

@test "parts of CTF with wall times are the whole" {
	trdecode -q "$RECORDED/uftrace/kernel-sched" >x.trs
	rm -rf parts && mkdir parts
	trencode -q -t ctf --split 49ms -o parts/p x.trs
	trencode -q -t ctf -o whole x.trs
	for clock in '' --clock=raw; do
		trdecode -q ${clock:+"$clock"} whole | trstat -q -t tsv -g name -c count,total | LC_ALL=C sort >want
		[ -s want ]
		trdecode -q ${clock:+"$clock"} parts/p.* | trstat -q -t tsv -g name -c count,total | LC_ALL=C sort | diff want -
	done
}

@test "parts whose ticks have a length are the whole" {
	trdecode -q "$(ls "$DATA"/apitrace/*.trace | head -n 1)" >x.trs
	for format in trace-cmd uftrace ctf chrome; do
		split $format 7us --tick 1us
		trdecode -q whole | table | cut -f 1-4 >want
		[ -s want ]
		trdecode -q parts/p.* | table | cut -f 1-4 | diff want -
	done
}

@test "parts of perfetto and chrome are the whole, with the rows of the stream" {
	for d in v7-zlib-fgraph-depth i386-v6-fgraph; do
		trdecode -q "$RECORDED/trace-cmd/$d.dat" >x.trs
		split perfetto 10ms
		trencode -q -t ndjson -c time,name,dur,tid,kind,args x.trs | grep '"kind":"call"' | LC_ALL=C sort >want
		trdecode -q parts/p.* | trencode -q -t ndjson -c time,name,dur,tid,kind,args |
			grep '"kind":"call"' | LC_ALL=C sort | diff want -
		# in chrome the fields of the leave that was made at a cut are not those of the call
		split chrome 10ms
		trdecode -q whole | trencode -q -t ndjson | LC_ALL=C sort >want
		trdecode -q parts/p.* | trencode -q -t ndjson | LC_ALL=C sort | diff want -
	done
	split perfetto 10ms
	# a part by itself adds the times of the calls that go on, but does not count them
	trdecode -q parts/p.* | table | cut -f 1,2,4 >want
	for part in parts/p.*; do
		trdecode -q "$part" | trsym -q | trstat -q --partial -o "${part##*/}.sum"
	done
	trstat -q --merge -t tsv -c count,total,self p.*.sum | awk -F '\t' 'NR > 1 && $3' | LC_ALL=C sort |
		cut -f 1,2,4 | diff want -
	# nothing of the marks is left in the stream
	run -1 grep -c continues <(trdecode -q parts/p.* | trencode -q -t ndjson -)
}

rows_of_calls() {
	trsym -q | trencode -q -t ndjson -c time,dur,tid,cpu,depth,name | LC_ALL=C sort
}

@test "a thread without a number, or the idle thread of a CPU, has the same number in all parts" {
	# calls of three CPUs without threads: the first event of a part is of any of them
	awk 'BEGIN {
		srand(3)
		print "# tracer: function_graph"
		for (t = 1000000; t < 1003000; t += 8) {
			c = int(rand() * 3)
			if (n[c] < 4 && rand() < 0.6)
				printf " 1.%06d |  %d)               |  %*sf%d() {\n", t - 1000000, c, 2 * n[c], "", n[c]++
			else if (n[c]) {
				n[c]--
				printf " 1.%06d |  %d)   1.000 us    |  %*s}\n", t - 1000000, c, 2 * n[c], ""
			}
		}
	}' >text
	trdecode -q text >x.trs
	for format in chrome perfetto uftrace trace-cmd ctf; do
		split $format 300us
		trdecode -q whole | rows_of_calls >want
		(($(wc -l <want) > 100)) || fail "$format"
		trdecode -q parts/p.* | rows_of_calls | diff want - || fail "$format"
	done
	# the idle threads
	trdecode -q "$RECORDED/trace-cmd/v6-sched-irq-timer.dat" >x.trs
	for format in chrome perfetto; do
		split $format 20K
		trdecode -q whole | trstat -q -t csv -g tid,type -c count | LC_ALL=C sort >want
		trdecode -q parts/p.* | trstat -q -t csv -g tid,type -c count | LC_ALL=C sort | diff want - || fail "$format"
	done
}

@test "parts of a trace.dat are the whole, and calls have their times in each" {
	for d in v7-zlib-fgraph-depth i386-v6-fgraph; do
		trdecode -q "$RECORDED/trace-cmd/$d.dat" >x.trs
		split trace-cmd 10ms
		add_up
	done
}

# rows FILE...: the rows without their addresses, which a converted trace.dat has made up
rows() {
	trdecode -q "$@" | trsym -q | trencode -q -t ndjson | jq -c 'del(.args.func?, .args.ip?)' | LC_ALL=C sort
}

# rows_as_whole: the rows of the parts, read as one trace, are those of the whole
rows_as_whole() {
	rows whole >want
	[ -s want ]
	rows parts/p.* | diff want -
}

@test "a call of a converted trace.dat has its own start, and its arguments once, in all parts" {
	need trace-cmd
	split trace-cmd 200us
	rows_as_whole
	cat >calls.json <<-'EOF'
		{"traceEvents":[
		{"ph":"X","name":"outer","pid":1,"tid":2,"ts":0,"dur":100,"args":{"x":1}},
		{"ph":"X","name":"in","pid":1,"tid":2,"ts":10,"dur":10},
		{"ph":"X","name":"in","pid":1,"tid":2,"ts":40,"dur":10},
		{"ph":"X","name":"in","pid":1,"tid":2,"ts":80,"dur":10}]}
	EOF
	trdecode -q calls.json >x.trs
	split trace-cmd 30us
	rows_as_whole
	trdecode -q parts/p.* | trencode -q -t trace-cmd -o joined
	for file in whole joined; do
		trace-cmd report -i "$file" | grep '^  *<' >"$file.txt"
	done
	grep -qF '+ 100.000 us' whole.txt
	diff whole.txt joined.txt
	# calls with numbers, which wait for their ends
	cat >calls.json <<-'EOF'
		{"traceEvents":[
		{"ph":"b","name":"A","cat":"c","id":1,"pid":1,"tid":3,"ts":0},
		{"ph":"b","name":"B","cat":"c","id":2,"pid":1,"tid":3,"ts":15},
		{"ph":"e","name":"B","cat":"c","id":2,"pid":1,"tid":3,"ts":75},
		{"ph":"e","name":"A","cat":"c","id":1,"pid":1,"tid":3,"ts":85}]}
	EOF
	trdecode -q calls.json >x.trs
	split trace-cmd 10us
	assert_equal "$(trdecode -q whole | trfilter -q -c 'type == "print"')" 2
	rows_as_whole
	# ticks have a length in both times
	trdecode -q "$(ls "$DATA"/apitrace/*.trace | head -n 1)" >x.trs
	split trace-cmd 7us --tick 1us
	rows_as_whole
	trdecode -q whole | trencode -q -t ndjson -c dur,args |
		jq -r 'select(.args.rettime) | .args.rettime - .args.calltime - .dur' | sort -u >difference
	assert_equal "$(cat difference)" 0
}

@test "rows of ndjson, csv and parquet count a call where continues is not after or both" {
	trencode -q -t ndjson x.trs | jq -r 'select(.dur != null) | [.name, .dur] | @tsv' |
		awk -F '\t' '{ n[$1]++; t[$1] += $2 } END { for (f in n) printf "%s\t%d\t%.0f\n", f, n[f], t[f] }' |
		LC_ALL=C sort >want
	split ndjson 200us
	cat parts/p.* | jq -r 'select(.dur != null) | [.name, .dur, .continues] | @tsv' >rows
	for format in csv parquet; do
		split $format 200us
		[ $format = csv ] || continue
		for part in parts/p.*; do
			jq -Rr 'split(",") | select(.[1] != "") | [.[7], .[1], .[-1]] | @tsv' "$part" | tail -n +2
		done >rows.csv
	done
	for f in rows rows.csv; do
		awk -F '\t' '{ t[$1] += $2; n[$1] += $3 == "" || $3 == "before" }
			END { for (f in t) printf "%s\t%d\t%.0f\n", f, n[f], t[f] }' $f | LC_ALL=C sort | diff want -
	done
	# a call that continues in both directions, and its ends
	for word in before after both; do
		grep -q "^main	[0-9]*	$word\$" rows
	done
}

@test "slices of perfetto are balanced in each part, and add up" {
	need protoc
	calls >want
	split perfetto 200us
	for part in parts/p.*; do
		protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <"$part" >decoded
		run -1 grep -E '^ *[0-9]+:' decoded
		python3 "$ROOT/t/tools/perfetto_slices.py" <decoded
	done | awk -F '\t' '{ n[$1] += $2; t[$1] += $3 } END { for (f in n) printf "%s\t%d\t%.0f\n", f, n[f], t[f] }' |
		LC_ALL=C sort >slices
	# total of trstat counts recursions once
	trencode -q -t tsv --no-header -c name,dur,kind x.trs | awk -F '\t' '$3 == "call" { n[$1]++; t[$1] += $2 }
		END { for (f in n) printf "%s\t%d\t%.0f\n", f, n[f], t[f] }' | LC_ALL=C sort | diff - slices
}

@test "profiles add up, and --weight count counts a call once" {
	for weight in dur count; do
		trencode -q -t folded --weight $weight x.trs | LC_ALL=C sort >want
		rm -rf parts && mkdir parts
		trencode -q -t folded --weight $weight --split 200us -o parts/p x.trs
		[ -e parts/p.003 ]
		cat parts/p.* | awk '{ n = $NF; sub(/ [0-9]+$/, ""); t[$0] += n }
			END { for (f in t) if (t[f]) printf "%s %.0f\n", f, t[f] }' | LC_ALL=C sort | diff want -
	done
}

@test "each part of a uftrace directory is whole for uftrace" {
	need uftrace
	split uftrace 200us
	# calls of main: one in each part, and their times add up to that of the recording
	for part in parts/p.*; do
		uftrace report --no-pager -d "$part" -f total,call -s total 2>&1 |
			awk '$NF == "main" { print $1, $2, $3 }'
	done >mains
	[ "$(wc -l <mains)" -gt 3 ]
	[ -z "$(awk '$3 != 1' mains)" ]
	awk '{ t += $1 * ($2 == "ms" ? 1000 : 1) } END { printf "%.0f\n", t / 10 }' mains >sum
	uftrace report --no-pager -d "$DATA/uftrace/fib" -f total,call |
		awk '$NF == "main" { printf "%.0f\n", $1 * ($2 == "ms" ? 1000 : 1) / 10 }' | diff - sum
}

@test "each part of a trace.dat and of CTF is whole for its own tools" {
	need trace-cmd
	need babeltrace2
	trdecode -q "$RECORDED/trace-cmd/s390x-v6-fgraph.dat" >x.trs
	split trace-cmd 10ms
	for part in parts/p.*; do
		trace-cmd report -R -i "$part" 2>errors | grep -c funcgraph_exit || true
		run -1 grep -v '^trace-cmd: No such file\|^  *$' errors
	done | awk '{ n += $1 } END { print n }' >sum
	cuts=$(for part in parts/p.*; do
		trdecode -q "$part" | trencode -q -t ndjson -c name,dur,continues |
			jq -c 'select(.continues == "after" or .continues == "both")'
	done | wc -l)
	[ "$cuts" -gt 1 ]
	assert_equal "$(cat sum)" $(($(trace-cmd report -R -i whole 2>/dev/null | grep -c funcgraph_exit) + cuts))

	trdecode "$DATA/uftrace/fib" | trsym >x.trs
	split ctf 500us
	for part in parts/p.*; do
		babeltrace2 "$part"
	done | grep -c ' entry: ' >sum
	assert_equal "$(cat sum)" $(($(babeltrace2 whole | grep -c ' entry: ') + \
		$(for part in parts/p.*; do trdecode -q "$part" | trencode -q -t ndjson -c dur,type,continues |
			jq -c 'select(.type == "exit" and .continues != null)'; done | wc -l)))
}

@test "each part of chrome is JSON with the calls that continue" {
	split chrome 200us
	for part in parts/p.*; do
		jq -e '.otherData.part | test("^split=[0-9a-f]{16} part=[0-9]+ since=(-|[0-9]+) until=(-|[0-9]+)$")' "$part" >/dev/null
	done
	jq -r '.traceEvents[] | select(.args.continues) | .ph + " " + .args.continues' parts/p.009 | sort | uniq -c >args
	# of main and of pthread_join, which sleeps; of worker, qsort and others
	grep -q 'X both' args && grep -q 'B before' args && grep -q 'E both' args
}

@test "a size is exceeded by little; the names go on after 999" {
	for format in ndjson chrome text; do
		split $format 8K
		for part in parts/p.*; do
			[ "$(stat -c %s "$part")" -lt 20000 ]
		done
	done
	split ctf 16K
	split uftrace 16K
	rm -rf parts && mkdir parts
	trencode -q -t csv -c name,dur,continues --split 0.01K -o parts/p x.trs
	[ -e parts/p.999 ] && [ -e parts/p.1000 ]
}

@test "parts that are not next to each other are two traces; a call is counted in the last" {
	split chrome 200us
	n=$(trdecode -q parts/p.008 parts/p.010 | trstat -q -t tsv -g name -c count,total | awk '$1 == "main" { print $2, $3 }')
	assert_equal "$n" "0 2000000"
	last=$(find parts | LC_ALL=C sort | tail -n 1)
	n=$(trdecode -q "$last" | trstat -q -t tsv -g name -c count | awk '$1 == "main" { print $2 }')
	assert_equal "$n" 1
}

@test "a remark names the parts that are missing before and between those that are read" {
	for format in chrome perfetto uftrace ctf trace-cmd; do
		split $format 500us
		run errors trdecode parts/p.001 parts/p.003
		[[ $output == *"parts/p.001: part 0 of the trace is no input before this part 1: calls lack their time in it"* ]]
		[[ $output == *"parts/p.003: part 2 of the trace is no input before this part 3: calls lack their time in it"* ]]
		run errors trdecode parts/p.000 parts/p.003
		[[ $output == *"parts/p.003: parts 1 to 2 of the trace are no inputs before this part 3: calls lack their time in them"* ]]
		# in another order calls cannot be joined
		run errors trdecode parts/p.001 parts/p.000
		[[ $output == *"part 0 of the trace is no input before this part 1"* ]]
		for parts in 'p.000 p.001' 'p.002' 'p.000 p.001 p.002 p.003'; do
			# shellcheck disable=SC2046,SC2086
			run errors trdecode $(printf 'parts/%s ' $parts)
			refute_output --partial 'no input'
		done
		run errors trdecode -q parts/p.000 parts/p.003
		refute_output --partial 'no input'
	done
}

@test "--align start moves the parts of a trace as one" {
	for format in chrome perfetto uftrace ctf trace-cmd; do
		split $format 500us
		trdecode -q whole | rows_of_calls >want
		(($(wc -l <want) > 100)) || fail "$format"
		trdecode -q --align=start parts/p.* | rows_of_calls | diff want - || fail "$format"
		# after another trace, which the parts begin with
		echo 'a-1 [000] 7.000000: e: v=1' >other.txt
		first=$(trdecode -q whole | trencode -q -t ndjson -c time | jq -s 'map(.time) | min')
		trdecode -q --align=start other.txt parts/p.* | trfilter -q 'type != "e"' | rows_of_calls |
			jq -c --argjson by "$first" '.time += $by - 7000000000' | LC_ALL=C sort | diff want - || fail "$format"
	done
}

@test "a stream of segments, and a clipped one, are split like the others" {
	trdecode "$DATA/uftrace/fib" | trsym | trencode -q -t chrome --split 200us -o one -
	trdecode --segment 4K "$DATA/uftrace/fib" | trsym | trencode -q -t chrome --split 200us -o two -
	for part in one.*; do
		diff <(jq -S .traceEvents "$part") <(jq -S .traceEvents "two.${part##*.}")
	done
	first=$(trdecode --info x.trs | awk '/^first time/ { print $NF }')
	since=$((first + 6000000))ns
	trstat -q -t tsv -c total,self --since $since x.trs | awk -F '\t' 'NR > 1 && $2' | LC_ALL=C sort >want
	trencode -q -t chrome --split 200us --since $since -o clip x.trs
	trdecode -q clip.* | trstat -q -t tsv -c total,self | awk -F '\t' 'NR > 1 && $2' | LC_ALL=C sort | diff want -
}

@test "two streams are two runs of parts; files of an earlier run are mentioned" {
	cat x.trs x.trs | trencode -q -t csv --split 1s -o p -
	[ -e p.001 ] && [ ! -e p.002 ]
	cmp p.000 p.001
	run --separate-stderr trencode -t csv --split 1s -o p x.trs
	assert_success
	[[ $stderr == *"p.001: is of an earlier run: this trace has 1 part"* ]]
}

@test "a truncated stream gives whole parts and status 1" {
	head -c 20000 x.trs >cut.trs
	mkdir parts
	run -1 trencode -q -t chrome --split 200us -o parts/p cut.trs
	run -1 trencode -q -t chrome -o whole cut.trs
	for part in parts/p.*; do
		jq -e .traceEvents "$part" >/dev/null
	done
	trdecode -q whole | table >want
	trdecode -q parts/p.* | table | diff want -
}

@test "uftrace refuses parts of a stream without calls" {
	trdecode -q "$RECORDED/trace-cmd/v7-zlib-fgraph-depth.dat" |
		trfilter 'kind != "enter" && kind != "leave"' >events.trs
	run -2 trencode -q -t uftrace -o whole events.trs
	assert_line --partial "the stream has no calls"
	run -2 trencode -q -t uftrace --split 10ms -o p events.trs
	[ ! -e p.000 ]
	assert_line --partial "the stream has no calls"
}

@test "a part of uftrace without calls is joined to the next" {
	for ((i = 0; i < 9; i++)); do
		printf ' a-1 [000] 1.%d00001: e: v=1\n' $i
		((i % 4 == 0)) || continue
		printf ' a-1 [000] 1.%d00002: funcgraph_entry:        1.000 us   |  f();\n' $i
	done >text
	trdecode text >x.trs
	split uftrace 100ms || true
	[ ! -e parts/p.003 ] && [ -e parts/p.002 ]
	trdecode -q whole | rows_of_calls >want
	trdecode -q parts/p.* | rows_of_calls | diff want -
	for part in parts/p.*; do
		assert_equal "$(trdecode -q "$part" | trfilter -q -c 'kind == enter')" 1
	done
	split chrome 100ms
	[ -e parts/p.008 ]
}

@test "a call that overlaps others is left out of all parts after it was left out of one" {
	# B is left out when A ends; a part without other calls goes on
	cat >calls.json <<-'EOF'
		{"traceEvents":[
		{"ph":"b","name":"A","cat":"c","id":1,"pid":1,"tid":2,"ts":0,"args":{"x":1}},
		{"ph":"b","name":"B","cat":"c","id":2,"pid":1,"tid":2,"ts":5,"args":{"x":2}},
		{"ph":"e","name":"A","cat":"c","id":1,"pid":1,"tid":2,"ts":8},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":15},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":25},
		{"ph":"e","name":"B","cat":"c","id":2,"pid":1,"tid":2,"ts":32},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":45},
		{"ph":"X","name":"C","pid":1,"tid":2,"ts":55,"dur":20},
		{"ph":"i","name":"i","pid":1,"tid":3,"ts":85}]}
	EOF
	trdecode -q calls.json >x.trs
	for format in trace-cmd uftrace; do
		split $format 10us || [ $format = uftrace ]
		trdecode -q whole | trstat -q -t tsv -g type -c count | LC_ALL=C sort >types
		trdecode -q parts/p.* | trstat -q -t tsv -g type -c count | LC_ALL=C sort | diff types - || fail "$format"
		rows whole | jq -c '[.name, .dur]' >want
		[ "$(grep -cE '^."[AC]",[0-9]+' want)" = 2 ]
		rows parts/p.* | jq -c '[.name, .dur]' | diff want - || fail "$format"
		for part in parts/p.*; do
			run -1 grep -F '"B"' <(rows "$part")
		done
		run --separate-stderr trencode -t $format --split 10us -o remark x.trs
		[[ $stderr == *"1 call that overlaps another of its thread is left out"* ]]
		rm -rf remark.*
	done
	# the second part of uftrace has C
	[ -e parts/p.001 ] && [ "$(rows parts/p.001 | grep -c '"C"')" = 1 ]
}

@test "a remark of an encoder is printed once, with the sum over the parts" {
	for ((i = 0; i < 9; i++)); do
		printf ' a-1 [000] 1.%d00001: e: v=1\n' $i
		printf ' a-1 [000] 1.%d00002: funcgraph_entry:        1.000 us   |  f();\n' $i
	done >text
	trdecode text >x.trs
	run --separate-stderr trencode -t folded --split 100ms -o p x.trs
	[ -e p.008 ]
	assert_equal "$stderr" 'trencode: 9 other events left out: folded stacks hold calls and samples only'
	# a function that occurs in several parts is one function
	trdecode "$DATA/uftrace/fib" >x.trs
	unnamed=$(trstat -q -t tsv -g name -c count x.trs | grep -c '^<[0-9a-f]*>')
	run --separate-stderr trencode -t uftrace --resynthesize --split 300us -o q x.trs
	[ -e q.003 ]
	assert_equal "$(grep 'by their addresses' <<<"$stderr")" \
		"trencode: $unnamed functions are named by their addresses: run trsym before trencode"
	run --separate-stderr trencode -t chrome --split 300us -o r x.trs
	[[ $(grep -c 'some functions have an address but no name' <<<"$stderr") == 1 ]]
	run --separate-stderr trencode -q -t chrome --split 300us -o r x.trs
	[ -z "$stderr" ]
}

@test "wrong uses of --split" {
	run -2 trencode --split 10s x.trs
	assert_line "trencode: --split needs -o FILE: it writes FILE.000, FILE.001"
	run -2 trencode --split 10s -o - x.trs
	run -2 trencode --split 10 -o p x.trs
	assert_line "trencode: --split takes a size or a time with a unit, such as 10M or 10s"
	run -2 trencode --split 0K -o p x.trs
	run -2 trencode --split 0 -o p x.trs
	assert_line "trencode: --split 0: a part cannot be empty: use a size or a time, such as 64M or 10s"
	run -2 trencode --split often -o p x.trs
	assert_line "trencode: --split takes a size or a time, such as 64M or 10s, not 'often'"
	run -2 trstat --split 10s x.trs
	# a clock without times
	trdecode "$(ls "$DATA"/apitrace/*.trace | head -n 1)" >gl.trs
	run -2 trencode -t csv --split 10s -o p gl.trs
	assert_line --partial "the clock counts ticks"
	trencode -q -t csv --tick 1us --split 10us -o gl gl.trs
	[ -e gl.001 ]
	[ ! -e p.000 ]
}
