# trencode --split: parts of a trace, each whole by itself, that add up to the trace.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >x.trs
}

# table: count, total, self of each function that was called, of the stream on stdin
table() {
	trsym -q | trstat -q -t tsv -c count,total,self | awk -F '\t' 'NR > 1 && $3' | LC_ALL=C sort
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

# rows: time, dur and so on of the stream on stdin, with names
rows() {
	trsym -q | trencode -q -t ndjson -c time,dur,tid,depth,name,type,args | jq -c 'del(.args.ret)' | LC_ALL=C sort
}

# content FORMAT FILE: what a file has, in an order that does not depend on its encoder
content() {
	case $1 in
	chrome) jq -c '.otherData, .traceEvents[]' "$2" | LC_ALL=C sort ;;
	ndjson | csv | folded) LC_ALL=C sort "$2" ;;
	*) trdecode -q "$2" | rows ;;
	esac
}

# cuts_of FORMAT LIMIT: how often trencode says that a call is cut, in cuts
cuts_of() {
	mkdir -p counted
	cuts=$(trencode -t "$1" --split "$2" -o counted/p x.trs 2>&1 | sed -n 's/^trencode: \([0-9]*\) times a call is cut in two.*/\1/p')
	rm -r counted
}

# model LIMIT: the calls of x.trs, cut by the model, in model; edges: the begins of its parts
model() {
	trencode -q -t ndjson -c time,dur,tid,name,kind x.trs | python3 "$ROOT/t/tools/split_calls.py" "$1" >model.out
	grep -v '^cuts\|^edges' model.out | LC_ALL=C sort >model
	cuts=$(sed -n 's/^cuts //p' model.out)
	read -ra edges <<<"$(sed -n 's/^edges //p' model.out)"
}

@test "each part is what --since and --until write of its time" {
	# that a task is scheduled out outside any call has a time, but no row
	trdecode -q "$DATA/uftrace/fib" | trsym | trfilter -q 'group == "uftrace"' >x.trs
	model 200000
	((${#edges[@]} > 6))
	for format in ndjson csv folded chrome perfetto uftrace trace-cmd ctf; do
		split $format 200us
		assert_equal "$(find parts -mindepth 1 -maxdepth 1 | wc -l)" ${#edges[@]}
		for k in 0 1 3 $((${#edges[@]} - 1)); do
			range="--since ${edges[k]}ns"
			((k + 1 == ${#edges[@]})) || range+=" --until ${edges[k + 1]}ns"
			rm -rf range
			# shellcheck disable=SC2086
			trencode -q -t $format $range -o range x.trs
			content $format range >want
			[ -s want ] || fail "$format $k"
			content $format "$(printf 'parts/p.%03d' "$k")" | diff want - || fail "$format $k"
		done
	done
}

@test "the time of intervals without events belongs to the part before them" {
	cat >calls.json <<-'EOF'
		{"traceEvents":[
		{"ph":"B","name":"f","pid":1,"tid":2,"ts":0},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":3},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":33},
		{"ph":"E","name":"f","pid":1,"tid":2,"ts":37}]}
	EOF
	trdecode -q calls.json >x.trs
	for format in ndjson chrome; do
		rm -rf p.*
		trencode -q -t $format --split 10us -o p x.trs
		[ ! -e p.002 ]
		trencode -q -t $format --until 30us x.trs | cmp - p.000
		trencode -q -t $format --since 30us x.trs | cmp - p.001
	done
	trencode -q -t csv --no-header -c name,time,dur --split 10us -o p x.trs
	cat p.* | diff - <(printf '%s\n' i,3000, f,0,30000 i,33000, f,30000,7000)
}

@test "the calls of all parts are those of the trace, cut where the model cuts them" {
	trdecode -q "$DATA/uftrace/fib" | trsym | trfilter -q 'group == "uftrace"' >x.trs
	for limit in 200 1000 7; do
		model ${limit}000
		((cuts > 5))
		rm -rf parts && mkdir parts
		run --separate-stderr trencode -t ndjson --split ${limit}us -o parts/p x.trs
		assert_equal "$stderr" "trencode: $cuts times a call is cut in two: the parts together have as many calls more than the trace"
		cat parts/p.* | jq -r '"\(.name) \(.tid) \(.time) \(.dur)"' | LC_ALL=C sort | diff model - || fail "$limit"
	done
	for format in chrome perfetto uftrace ctf trace-cmd; do
		split $format 200us
		model 200000
		trdecode -q parts/p.* | trsym -q | trencode -q -t ndjson |
			jq -r 'select(.dur != null) | "\(.name) \(.tid) \(.time) \(.dur)"' | LC_ALL=C sort | diff model - || fail "$format"
	done
}

@test "times of parts add up to those of the whole, and counts but for the calls that are cut" {
	for format in chrome perfetto ctf trace-cmd uftrace; do
		# there the time of a task that is scheduled out ends 1 ns before a cut
		[ $format != uftrace ] || trdecode -q "$DATA/uftrace/fib" | trsym | trfilter -q 'group == "uftrace"' >x.trs
		for limit in 200us 12K; do
			rm -rf parts whole && mkdir parts
			trencode -q -t $format --split $limit -o parts/p x.trs
			cuts_of $format $limit
			((cuts > 5)) || fail "$format $limit"
			trencode -q -t $format -o whole x.trs
			# print: the values of calls in a trace.dat
			trdecode -q whole | table | grep -v ^print >want
			(($(wc -l <want) > 10))
			# read as several inputs, and one by one
			trdecode -q parts/p.* | table | grep -v ^print >together
			for part in parts/p.*; do
				trdecode -q "$part" | table | grep -v ^print || true
			done | awk -F '\t' -v OFS='\t' '{ n[$1] += $2; t[$1] += $3; s[$1] += $4 }
				END { for (f in n) printf "%s\t%d\t%.0f\t%.0f\n", f, n[f], t[f], s[f] }' | LC_ALL=C sort >sums
			diff sums together || fail "$format $limit"
			cut -f 1,3,4 want | diff - <(cut -f 1,3,4 together) || fail "$format $limit"
			assert_equal "$(awk '{ n += $2 } END { print n }' together)" \
				$(($(awk '{ n += $2 } END { print n }' want) + cuts))
		done
	done
}

@test "calls that began before the trace are calls <0> of the parts before their leave, and counted" {
	cp -r "$DATA/uftrace/fib" late
	chmod -R u+w late
	for task in late/4*.dat; do
		tail -c +4001 "$task" >rest.dat
		mv rest.dat "$task"
	done
	trdecode -q late | trsym -q >x.trs
	for limit in 20us 1ms 16K; do
		rm -rf parts && mkdir parts
		run --separate-stderr trencode -t ndjson --split $limit -o parts/p x.trs
		cuts=$(sed -n 's/^trencode: \([0-9]*\) times a call is cut in two.*/\1/p' <<<"$stderr")
		unseen=$(sed -n 's/^trencode: \([0-9]*\) times a call that began before the trace goes on.*/\1/p' <<<"$stderr")
		((cuts > 0 && unseen > 0))
		# each is one of the parts only
		cat parts/p.* | jq -c 'select(.dur != null)' >rows
		assert_equal "$(grep -c '"name":"<0>"' rows)" "$unseen"
		assert_equal "$(wc -l <rows)" \
			$(($(trencode -q -t ndjson x.trs | jq -c 'select(.dur != null)' | wc -l) + cuts + unseen))
	done
}

@test "the leave of a call at a cut has no return value, and the enter its arguments" {
	cat >calls.json <<-'EOF'
		{"traceEvents":[
		{"ph":"B","name":"f","pid":1,"tid":2,"ts":0,"args":{"x":1}},
		{"ph":"B","name":"g","pid":1,"tid":2,"ts":1,"args":{"y":2}},
		{"ph":"E","name":"g","pid":1,"tid":2,"ts":2,"args":{"r":3}},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":15},
		{"ph":"E","name":"f","pid":1,"tid":2,"ts":25,"args":{"r":4}}]}
	EOF
	trdecode -q calls.json >x.trs
	trencode -q -t ndjson -c name,time,dur,args --split 10us -o p x.trs
	cat p.* | jq -c '[.name, .time, .dur, .args]' | diff - <(cat <<-'EOF'
		["g",1000,1000,{"y":2,"r":3}]
		["f",0,10000,{"x":1}]
		["i",15000,null,null]
		["f",10000,10000,{"x":1}]
		["f",20000,5000,{"x":1,"r":4}]
	EOF
	)
	# in a trace.dat a call has the time of its own begin in each part
	trencode -q -t trace-cmd --split 10us -o d x.trs
	trdecode -q d.* | trsym -q | trencode -q -t ndjson | jq -c 'select(.name == "f" and .dur != null) | [.args.calltime, .args.rettime]' |
		diff - <(printf '%s\n' '[0,10000]' '[10000,20000]' '[20000,25000]')
}

@test "parts with wall times, and parts whose ticks have a length" {
	trdecode -q "$RECORDED/uftrace/kernel-sched" >x.trs
	split ctf 49ms || true
	for clock in '' --clock=raw; do
		trdecode -q ${clock:+"$clock"} whole | trstat -q -t tsv -g name -c total | LC_ALL=C sort >want
		[ -s want ]
		trdecode -q ${clock:+"$clock"} parts/p.* | trstat -q -t tsv -g name -c total | LC_ALL=C sort | diff want -
	done
	trdecode -q "$(ls "$DATA"/apitrace/*.trace | head -n 1)" >x.trs
	for format in trace-cmd uftrace ctf chrome; do
		split $format 7us --tick 1us
		trdecode -q whole | table | cut -f 1,3,4 >want
		[ -s want ]
		trdecode -q parts/p.* | table | cut -f 1,3,4 | diff want - || fail $format
	done
}

@test "parts whose clock counts ticks are inputs of one time line" {
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	for format in chrome ctf trace-cmd perfetto; do
		split $format 2K
		trdecode -q whole | table | cut -f 1,3,4 | grep -v ^print >want
		[ -s want ]
		trdecode -q parts/p.* | table | cut -f 1,3,4 | grep -v ^print | diff want - || fail $format
	done
	# each .trace begins with tick 0
	split apitrace 2K
	run -2 trdecode parts/p.*
	assert_output --partial 'cannot be compared: align them with --offset FILE=TIME'
	# so does each trace that is no part of another
	cp whole other
	run -2 trdecode whole other
	assert_output --partial 'its clock (ticks) and the clock of whole (ticks) cannot be compared'
}

@test "parts of a trace.dat have the records of the trace, and those of the cuts" {
	for d in v7-zlib-fgraph-depth i386-v6-fgraph; do
		trdecode -q "$RECORDED/trace-cmd/$d.dat" >x.trs
		split trace-cmd 10ms
		trdecode -q whole | table | cut -f 1,3,4 >want
		trdecode -q parts/p.* | table | cut -f 1,3,4 | diff want -
		for format in chrome perfetto; do
			split $format 10ms
			trdecode -q whole | table | cut -f 1,3,4 >want
			trdecode -q parts/p.* | table | cut -f 1,3,4 | diff want - || fail "$d $format"
		done
	done
}

@test "calls in the kernel that are cut are inside of the calls that are cut around them" {
	trdecode -q "$RECORDED/uftrace/kernel-sched" >x.trs
	for format in chrome perfetto; do
		for limit in 16K 64K; do
			split $format $limit || true
			trdecode -q whole | table | cut -f 1,3,4 >want
			grep -q '<ffffffff' want
			for part in parts/p.*; do
				trdecode -q "$part" | table
			done | awk -F '\t' -v OFS='\t' '{ t[$1] += $3; s[$1] += $4 }
				END { for (f in t) printf "%s\t%.0f\t%.0f\n", f, t[f], s[f] }' | LC_ALL=C sort |
				diff want - || fail "$format $limit"
		done
	done
}

@test "each part of an LTTng trace has the threads of its events" {
	instants() {
		trfilter -q 'kind == instant && type !~ "^core_marker"' | trencode -q -t csv --no-header -c time,tid,comm,type,name
	}
	for trace in gen-2.3-le32-packed gen-2.6-le32-align; do
		trdecode -q "$RECORDED/lttng-legacy/gen/$trace" >x.trs
		instants <x.trs | LC_ALL=C sort >want
		grep -q ,kswapd0, want
		for format in lttng ctf; do
			split $format 4K
			for part in parts/p.*; do
				trdecode -q "$part" | instants
			done | LC_ALL=C sort | diff want - || fail "$trace $format"
		done
	done
}

@test "slices of perfetto are balanced in each part, and add up" {
	need protoc
	split perfetto 200us
	for part in parts/p.*; do
		protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <"$part" >decoded
		run -1 grep -E '^ *[0-9]+:' decoded
		python3 "$ROOT/t/tools/perfetto_slices.py" <decoded
	done | awk -F '\t' '{ t[$1] += $3 } END { for (f in t) printf "%s\t%.0f\n", f, t[f] }' |
		LC_ALL=C sort >slices
	# total of trstat counts recursions once
	trencode -q -t tsv --no-header -c name,dur,kind x.trs | awk -F '\t' '$3 == "call" { t[$1] += $2 }
		END { for (f in t) printf "%s\t%.0f\n", f, t[f] }' | LC_ALL=C sort | diff - slices
}

@test "profiles add up" {
	trencode -q -t folded x.trs | LC_ALL=C sort >want
	rm -rf parts && mkdir parts
	trencode -q -t folded --split 200us -o parts/p x.trs
	[ -e parts/p.003 ]
	cat parts/p.* | awk '{ n = $NF; sub(/ [0-9]+$/, ""); t[$0] += n }
		END { for (f in t) if (t[f]) printf "%s %.0f\n", f, t[f] }' | LC_ALL=C sort | diff want -
}

@test "each part of a uftrace directory is whole for uftrace" {
	need uftrace
	split uftrace 200us
	# a task that is only scheduled has an empty file
	find parts -name '*.dat' -empty | grep -q '/[0-9]*.dat$'
	for part in parts/p.*; do
		run -0 trdecode "$part" -o part.trs
		assert_output ''
	done
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
	cuts_of trace-cmd 10ms
	[ "$cuts" -gt 1 ]
	for part in parts/p.*; do
		trace-cmd report -R -i "$part" 2>errors | grep -c funcgraph_exit || true
		run -1 grep -v '^trace-cmd: No such file\|^  *$' errors
	done | awk '{ n += $1 } END { print n }' >sum
	assert_equal "$(cat sum)" $(($(trace-cmd report -R -i whole 2>/dev/null | grep -c funcgraph_exit) + cuts))

	trdecode "$DATA/uftrace/fib" | trsym | trfilter -q 'group == "uftrace"' >x.trs
	split ctf 500us
	cuts_of ctf 500us
	for part in parts/p.*; do
		babeltrace2 "$part"
	done | grep -c ' entry: ' >sum
	assert_equal "$(cat sum)" $(($(babeltrace2 whole | grep -c ' entry: ') + cuts))
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
	trencode -q -t csv -c name,dur --split 0.01K -o parts/p x.trs
	[ -e parts/p.999 ] && [ -e parts/p.1000 ]
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
	[[ $stderr == *"p.001: is of an earlier run: this trace has 1 part; remove the others"* ]]
}

@test "a truncated stream gives whole parts and status 1" {
	head -c 20000 x.trs >cut.trs
	mkdir parts
	run -1 trencode -q -t chrome --split 200us -o parts/p cut.trs
	run -1 trencode -q -t chrome -o whole cut.trs
	for part in parts/p.*; do
		jq -e .traceEvents "$part" >/dev/null
	done
	# the others are open at the end
	trdecode -q whole | table | grep -vE '^(main|pthread_join|qsort|worker)' >want
	(($(wc -l <want) > 5))
	trdecode -q parts/p.* | table | grep -vE '^(main|pthread_join|qsort|worker|linux:schedule)' | diff want -
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

@test "a part of uftrace goes on until it has a call" {
	for ((i = 0; i < 9; i++)); do
		printf ' a-1 [000] 1.%d00001: e: v=1\n' $i
		((i % 4 == 0)) || continue
		printf ' a-1 [000] 1.%d00002: funcgraph_entry:        1.000 us   |  f();\n' $i
	done >text
	trdecode text >x.trs
	split uftrace 100ms || true
	[ ! -e parts/p.003 ] && [ -e parts/p.002 ]
	trdecode -q whole | rows >want
	trdecode -q parts/p.* | rows | diff want -
	for part in parts/p.*; do
		assert_equal "$(trdecode -q "$part" | trfilter -q -c 'kind == enter')" 1
	done
	split chrome 100ms
	[ -e parts/p.008 ]
}

@test "a call that overlaps others is left out of the parts in which it overlaps them" {
	# B is left out up to the cut at 10 us
	cat >calls.json <<-'EOF'
		{"traceEvents":[
		{"ph":"b","name":"A","cat":"c","id":1,"pid":1,"tid":2,"ts":0,"args":{"x":1}},
		{"ph":"b","name":"B","cat":"c","id":2,"pid":1,"tid":2,"ts":5,"args":{"x":2}},
		{"ph":"e","name":"A","cat":"c","id":1,"pid":1,"tid":2,"ts":8},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":15},
		{"ph":"i","name":"i","pid":1,"tid":2,"ts":25},
		{"ph":"e","name":"B","cat":"c","id":2,"pid":1,"tid":2,"ts":32},
		{"ph":"X","name":"C","pid":1,"tid":2,"ts":55,"dur":20}]}
	EOF
	trdecode -q calls.json >x.trs
	printf '%s\n' 'A 8000' 'B 10000' 'B 10000' 'B 2000' 'C 15000' 'C 5000' >want
	for format in trace-cmd uftrace; do
		rm -rf p.*
		run --separate-stderr trencode -t $format --split 10us -o p x.trs
		[[ $stderr == *"1 call that overlaps another of its thread is left out"* ]]
		for part in p.*; do
			trdecode -q "$part" | trsym -q | trencode -q -t ndjson | jq -r 'select(.dur != null) | "\(.name) \(.dur)"'
		done | diff want - || fail "$format"
	done
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
	# the functions of each part
	trdecode "$DATA/uftrace/fib" >x.trs
	run --separate-stderr trencode -t uftrace --resynthesize --split 300us -o q x.trs
	[ -e q.003 ]
	unnamed=$(for part in q.*; do
		trdecode -q "$part" | trsym -q | trfilter -q 'kind == enter && group != "linux"' | trencode -q -t csv --no-header -c name | sort -u
	done | grep -c '^<[0-9a-f]*>')
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
	assert_line --regexp '^trencode: .*\.trace: the clock counts ticks: use a size, as in --split 64M, or give the length of a tick, as in --tick 1ns$'
	trencode -q -t csv --tick 1us --split 10us -o gl gl.trs
	[ -e gl.001 ]
	[ ! -e p.000 ]
	mkdir -p full.000/x
	touch file.000
	run -2 trencode -q -t uftrace --split 1ms -o full x.trs
	assert_output 'trencode: full.000: is a directory that is not empty: remove it, or use another name'
	run -2 trencode -q -t uftrace --split 1ms -o file x.trs
	assert_output 'trencode: file.000: is a file: remove it, or use another name for the directory'
	run -2 trencode -q -t uftrace --split 1ms -o file.000/p x.trs
	assert_output --partial 'file.000/p.000: cannot be used: Not a directory'
}
