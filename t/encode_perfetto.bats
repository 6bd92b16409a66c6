# trencode -t perfetto: track events, decoded by protoc with a .proto of their own.

load lib
load encode

setup() {
	need protoc
	cd "$BATS_TEST_TMPDIR" || return
}

# decoded: x.trs in protoc's text; an unknown field would be a line that begins with a number
decoded() {
	trencode -q -t perfetto "$@" x.trs >out.pftrace || (($? == 1))
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <out.pftrace >decoded
	run -1 grep -E '^ *[0-9]+:' decoded
}

# What a viewer makes of it: an end closes what was begun last on its track. Name, count, total of
# the outermost, self.
slices() {
	awk '
	$1 == "packet" { type = track = name = ""; next }
	$1 == "timestamp:" { time = $2; next }
	$1 == "event_names" { interning = 1; next }
	interning && $1 == "iid:" { iid = $2; next }
	interning && $1 == "name:" { t = $0; sub(/^ *name: "/, "", t); sub(/"$/, "", t); names[iid] = t
		interning = 0; next }
	$1 == "type:" { type = $2; next }
	/^    name_iid:/ { name = $2; next }
	$1 == "track_uuid:" { track = $2; next }
	/^}/ && type == "BEGIN" { if (!(name in names)) { print "unknown name"; exit }
		n = ++depth[track]; of[track, n] = name; start[track, n] = time; child[track, n] = 0; open[track, name]++ }
	/^}/ && type == "END" { n = depth[track]--; if (n < 1) { print "end without begin"; exit }
		name = of[track, n]; d = time - start[track, n]; count[name]++; self[name] += d - child[track, n]
		if (d < 0) print "negative"
		if (--open[track, name] == 0) total[name] += d
		child[track, n - 1] += d }
	END { for (t in depth) if (depth[t]) print "left open"
		for (f in count) printf "%s\t%d\t%.0f\t%.0f\n", names[f], count[f], total[f], self[f] }' decoded | sort
}

@test "no unknown field; count, total and self are trstat's" {
	stream "$DATA/uftrace/fib"
	decoded
	diff <(calls) <(slices)
}

@test "and so they are for other recordings" {
	for d in args-spec basic-pg dlopen deep-default kill-segv threads; do
		stream "$U/$d"
		decoded
		diff <(calls) <(slices)
	done
}

@test "calls since before the trace, longjmp, exec and lost events leave balanced tracks" {
	for d in longjmp forkexec lost kernel-sched; do
		for how in close drop; do
			stream "$U/$d"
			decoded --unclosed=$how
			run -0 slices
			refute_output --regexp 'unknown name|end without|negative|left open'
		done
	done
}

@test "dropped calls are not there" {
	stream "$U/kill-segv"
	decoded --unclosed=drop
	slices | cut -f 1,2 >dropped
	returned >whole
	diff whole dropped
}

@test "nothing to drop: the same bytes, by way of the temporary file" {
	stream "$DATA/uftrace/fib"
	trencode -q -t perfetto x.trs >one
	trencode -q -t perfetto --unclosed=drop x.trs >two
	cmp one two
}

@test "names of processes and threads, arguments, clocks" {
	stream "$U/args-spec"
	decoded
	run -0 grep -E 'process_name|thread_name' decoded
	assert_line --partial 'process_name: "args"'
	run -0 grep -cE 'int_value: -5000000000$' decoded
	trdecode -q "$DATA/trace-cmd/v6-date.dat" >x.trs
	decoded
	run -0 grep -c clock_snapshot decoded
	assert_output 1
}

@test "events are instants, as many as trstat counts" {
	trdecode -q "$DATA/trace-cmd/v6-bprint-bputs.dat" >x.trs
	decoded
	run -0 grep -c 'type: INSTANT' decoded
	assert_output "$(trstat -q -g kind -c count -t tsv x.trs | awk '$1 == "instant" { print $2 }')"
}

@test "calls of apitrace that overlap have tracks of their own" {
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	decoded
	slices | cut -f 1,2 >ours
	trstat -q -g name -c count -t tsv x.trs | tail -n +2 | sort >theirs
	diff theirs ours
}

@test "counters keep their categories, from JSON to Perfetto's format and back" {
	need protoc
	cat >x.json <<-'END'
		[{"ph":"C","name":"mem","cat":"memory","ts":1,"pid":1,"args":{"a":1}},{"ph":"C","name":"one","cat":"x,y","ts":2,"pid":1,"args":{"value":3}},
		{"ph":"C","name":"no","ts":3,"pid":1,"args":{"v":5}},{"ph":"C","name":"mem","cat":"other","ts":4,"pid":1,"args":{"a":7.5}},
		{"ph":"C","name":"mem","cat":"memory","ts":5,"pid":1,"args":{"a":8}}]
	END
	jq -c '.[] | [.ts, .name, .cat]' x.json >want
	trdecode x.json | trencode -q -t chrome --rebase=none | jq -c '.traceEvents[] | select(.ph == "C") | [.ts, .name, .cat]' | diff want -
	trdecode x.json | trencode -q -t perfetto -o x.pftrace
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <x.pftrace >decoded
	assert_equal "$(grep -c category_iids decoded)" 4
	trdecode x.pftrace | trencode -q -t chrome --rebase=none | jq -c '.traceEvents[] | select(.ph == "C") | [.ts, .name, .cat]' | diff want -
}

@test "counters have tracks, one for each value" {
	echo '[{"ph":"C","ts":1,"pid":1,"name":"load","args":{"a":3,"b":-2,"t":"x"}},
		{"ph":"C","ts":2,"pid":1,"name":"load","args":{"a":0.5,"b":7}},
		{"ph":"C","ts":3,"pid":1,"name":"depth","args":{"n":18446744073709551615}},
		{"ph":"C","ts":4,"pid":1,"name":"text","args":{"n":"x"}}]' >x.json
	trdecode -f chrome x.json >x.trs
	decoded
	run -0 awk '/^    counter \{/ { print name, uuid } $1 == "uuid:" { uuid = $2 } $1 == "name:" { name = $0 }' decoded
	assert_equal "${#lines[@]}" 3
	assert_line --partial '"load a"'
	assert_line --partial '"load b"'
	assert_line --partial '"depth"'
	run -0 grep -E 'counter_value' decoded
	assert_output '    counter_value: 3
    counter_value: -2
    double_counter_value: 0.5
    counter_value: 7
    double_counter_value: 1.8446744073709552e+19'
	run -0 grep -c 'type: COUNTER' decoded
	assert_output 5
	run -0 grep -c 'type: INSTANT' decoded
	assert_output 1
	# the values are those of the tracks that say so
	run -0 awk '$1 == "uuid:" { uuid = $2 } $1 == "name:" && !named[uuid] { named[uuid] = $2 $3 }
		$1 == "track_uuid:" { track = $2 } $1 == "counter_value:" && $2 == 7 { print named[track] }' decoded
	assert_output '"loadb"'
	# the format has no names of values
	run -0 pipe "trencode -q -t perfetto x.trs | trdecode -q | trencode -q -t ndjson | jq -c 'select(.time < 3000) | [.time, .name, .args]'"
	assert_output '[1000,"load a",{"value":3}]
[1000,"load b",{"value":-2}]
[2000,"load a",{"value":0.5}]
[2000,"load b",{"value":7}]'
}

@test "asynchronous calls are not on the track of their thread, whose calls stay what they are" {
	mixed | trdecode -f chrome - >x.trs
	decoded
	slices >ours
	trstat -q -c count,total,self -t tsv x.trs | tail -n +2 | sort | diff - ours
}

@test "a call that is open before a missing segment and after it is one slice" {
	segments
	cat segment.0 segment.2 >x.trs
	decoded 2>/dev/null
	run -0 slices
	assert_line --regexp $'^main\t1\t'
	refute_line 'end without begin'
}

@test "each thread with rows has its name" {
	trdecode -q "$RECORDED/trace-cmd/v6-markers.dat" >x.trs
	decoded
	trencode -q -t tsv --no-header -c tid,comm x.trs | awk -F '\t' '$1 && $2 != ""' | sort -u >want
	[ "$(wc -l <want)" -gt 30 ]
	awk '/^    thread \{/ { of = 1 } of && $1 == "tid:" { tid = $2 } of && $1 == "thread_name:" {
		sub(/^ *thread_name: "/, ""); sub(/"$/, ""); print tid "\t" $0; of = 0 }' decoded | sort -u | diff want -
}

# The categories of slices, with their numbers
categories() {
	awk '$1 == "event_categories" { of = 1 } of && $1 == "iid:" { iid = $2 } of && $1 == "name:" { names[iid] = $0; of = 0 }
		$1 == "track_event" { type = category = "" } $1 == "type:" { type = $2 } $1 == "category_iids:" { category = names[$2] }
		/^}/ && type == "BEGIN" { print category; type = "" }' decoded | sed 's/^ *name: //' | sort | uniq -c
}

@test "slices have the category of their call, also by way of Perfetto's format" {
	mixed | sed 's/"ph":"\([BbeE]\)"/&,"cat":"c \1,d"/g; s/c [eE],d/c b,d/g' >x.json
	trdecode -q x.json >x.trs
	jq '.[] | select(.ph == "B" or .ph == "b").cat' x.json | sort | uniq -c >want
	[ "$(wc -l <want)" = 2 ]
	decoded
	categories | diff want -
	trdecode -q out.pftrace >x.trs
	decoded
	categories | diff want -
}
