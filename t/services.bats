#!/usr/bin/env bats
# Spans of OTLP, Jaeger and Zipkin: ids, parents, names, services, times and attributes as
# t/tools/spans.py lists them, which writes the same spans in each format.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	mkdir s
	python3 "$ROOT/t/tools/spans.py" 1 s
}

# spans FILE: the columns of expect
spans() {
	trdecode -q "$@" | trencode -q -t tsv \
		-c trace_id,span_id,parent_id,name,comm,time,dur,parent,span_kind,status,arg.http.target,kind |
		awk -F '\t' '$NF == "call"' | cut -f 1-11 | sort
}

@test "spans, parents and durations of each format are those of the script" {
	local file
	for seed in 1 2 3; do
		mkdir -p s$seed
		python3 "$ROOT/t/tools/spans.py" $seed s$seed
		sort s$seed/expect >want
		[ "$(awk -F '\t' '$8 != ""' want | wc -l)" -ge 50 ]
		for file in otlp.json one.json old.json otlp.pb sized.pb jaeger.json; do
			spans s$seed/$file | diff want - || fail "$seed $file"
		done
		# Zipkin has no status ok, and no internal spans
		awk -F '\t' -v OFS='\t' '{ sub("^internal$", "", $9); sub("^ok$", "", $10); print }' want | sort >zipkin
		spans s$seed/zipkin.json | diff zipkin -
		# of version 1 a record may be of a client and of a server
		sort s$seed/expect_v1 >want_v1
		[ "$(cut -f 2 want_v1 | uniq -d | wc -l)" -ge 4 ]
		spans s$seed/zipkin_v1.json | diff want_v1 - || fail "$seed zipkin_v1.json"
	done
	# one line of several documents, arrays of arrays, a trace without the object around it
	tr '\n' ' ' <s3/otlp.json | spans - | diff want -
	jq -c '[.]' s3/zipkin.json | spans - | diff zipkin -
	jq -c '.data[]' s3/jaeger.json | spans - | diff want -
	# snake_case, and resources after their spans
	sed 's/resourceSpans/resource_spans/; s/"scopeSpans/"scope_spans/g; s/"traceId/"trace_id/g; s/"startTimeUnixNano/"start_time_unix_nano/g' \
		s3/otlp.json | spans - | diff want -
	jq -c '.resourceSpans |= map({scopeSpans, resource})' s3/otlp.json | spans - | diff want -
	# compressed
	gzip -c s3/otlp.pb | spans - | diff want -
	# ids are hexadecimal in either case, as the API of Tempo gives them; Elasticsearch has a span of Jaeger in each line
	jq -c '{trace: .}' s3/one.json | perl -pe 's/("(?:trace|span|parentSpan)Id":")([0-9a-f]+)/$1\U$2/g' >tempo.json
	grep -q '"traceId":"[^"]*[A-F]' tempo.json
	spans tempo.json | diff want -
	jq -c '{batches: .resourceSpans}' s3/one.json | spans - | diff want -
	# in an array, in pieces, after a mark of the byte order
	jq -cs . s3/otlp.json | spans - | diff want -
	jq -c '.resourceSpans[]' s3/one.json | spans - | diff want -
	for file in one jaeger; do
		{ printf '\xef\xbb\xbf'; cat s3/$file.json; } >bom.json
		spans bom.json | diff want -
	done
	# and its API before version 2, and other programs with protobuf's JSON, in base64; Jaeger's API has a "result"
	python3 - <<-'PY' >base64.json
		import base64, json, re
		ids = re.compile(r'("(?:trace|span|parentSpan)Id": ")([0-9a-f]+)')
		text = json.dumps(json.load(open('s3/one.json')))
		print('{"result": ' + ids.sub(lambda m: m[1] + base64.b64encode(bytes.fromhex(m[2])).decode(), text) + '}')
	PY
	grep -q '"spanId": "[^"]*="' base64.json
	spans base64.json | diff want -
	jq -c '.data[] | .processes as $p | .spans[] | .process = $p[.processID] | del(.processID)' s3/jaeger.json | spans - | diff want -
}

@test "JSON and Protocol Buffers of OTLP give the same events, and values of all kinds" {
	trdecode -q s/otlp.json | trencode -q -t ndjson | sort >json
	for file in one.json otlp.pb sized.pb; do
		trdecode -q s/$file | trencode -q -t ndjson | jq -cS 'del(.args.flow_ids, .args.terminating_flow_ids)' | sort |
			diff <(jq -cS 'del(.args.flow_ids, .args.terminating_flow_ids)' json | sort) - || fail $file
	done
	run -0 jq -c 'select(.type == "span end") | .args | [(.n | type), (.ok | type), (.ratio | type), .list[0:2], (.list[2].three | length), .empty]' json
	assert_equal "$(sort -u <<<"$output")" '["number","boolean","number",[1,"two"],1,""]'
	# codes and numbers may be strings
	sed -E 's/"code": ([0-9])/"code": "\1"/g; s/"doubleValue": ([0-9.]+)/"doubleValue": "\1"/g' s/otlp.json >strings.json
	trdecode -q strings.json | trencode -q -t ndjson | sort | diff json -
	# the attributes as the script wrote them
	jq -c '.resourceSpans[].scopeSpans[].spans[] | [.spanId, (.attributes[] | select(.key == "n") | .value.intValue)]' s/otlp.json |
		tr -d '[]"' | sort >want
	trdecode -q s/otlp.json | trencode -q -t csv -c span_id,n,kind | awk -F , '$3 == "call" { print $1 "," $2 }' | sort | diff want -
	# bytes are base64, nested values as deep as they go
	printf '%s\n' '{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"01","name":"a","startTimeUnixNano":1,"endTimeUnixNano":2,"attributes":[{"key":"b","value":{"bytesValue":"AAEC"}},{"key":"none","value":{}},{"key":"k","value":{"kvlistValue":{"values":[{"key":"x","value":{"arrayValue":{"values":[]}}}]}}}]}]}]}]}' >bytes.json
	run -0 pipe "trdecode bytes.json | trencode -t ndjson | jq -c '.args | [.b, .none, .k]'"
	assert_output '["AAEC",null,{"x":[]}]'
	# numbers that JSON does not have
	python3 - <<-'PY' >doubles.pb
		import struct, sys
		def field(number, b):
		    return bytes([number << 3 | 2, len(b)]) + b
		def attribute(key, x):
		    return field(9, field(1, key) + field(2, bytes([4 << 3 | 1]) + struct.pack('<d', x)))
		def time(number, ns):
		    return bytes([number << 3 | 1]) + struct.pack('<Q', ns)
		span = field(1, bytes(range(16))) + field(2, bytes(range(8))) + time(7, 5) + time(8, 6)
		span += attribute(b'inf', float('inf')) + attribute(b'minus', float('-inf')) + attribute(b'nan', float('nan'))
		sys.stdout.buffer.write(field(1, field(2, field(2, span + attribute(b'real', 2.5)))))
	PY
	run -0 pipe "trdecode doubles.pb | trencode -t ndjson | jq -c '.args | [.inf, .minus, .nan, .real]'"
	assert_output '["Infinity","-Infinity","NaN",2.5]'
	need protoc
	protoc --decode_raw <s/otlp.pb >raw
	[ "$(grep -c '^1 {' raw)" -ge 4 ]
}

@test "events of spans are instants with the ids of the span" {
	jq -r '.resourceSpans[].scopeSpans[].spans[] | . as $s | .events[] | [$s.traceId, $s.spanId, .name, .timeUnixNano] | @tsv' \
		s/otlp.json | sort >want
	[ "$(wc -l <want)" -ge 40 ]
	for file in otlp.json otlp.pb jaeger.json; do
		trdecode -q s/$file | trencode -q -t tsv -c trace_id,span_id,name,time,kind,type |
			awk -F '\t' -v OFS='\t' '$5 == "instant" && $6 != "resource" { print $1, $2, $3, $4 }' | sort | diff want - || fail $file
	done
	for file in zipkin.json zipkin_v1.json; do
		trdecode -q s/$file | trencode -q -t tsv -c trace_id,span_id,name,time,kind,type |
			awk -F '\t' -v OFS='\t' '$5 == "instant" && $6 != "resource" { print $1, $2, $3, $4 }' | sort | diff want - || fail $file
	done
}

@test "links are flows, and fields" {
	jq -r '.resourceSpans[].scopeSpans[].spans[] | . as $s | .links[] | [.spanId, $s.spanId] | @tsv' s/otlp.json | sort >want
	[ "$(wc -l <want)" -ge 10 ]
	for file in otlp.json otlp.pb jaeger.json; do
		trdecode -q s/$file | trencode -q -t ndjson >rows
		# the span that a flow begins in, and the one that it ends in
		jq -r 'select(.args.flow_ids) | . as $r | .args.flow_ids | if type == "array" then .[] else . end | [., $r.args.span_id] | @tsv' rows | sort -u >begins
		jq -r 'select(.args.terminating_flow_ids) | . as $r | .args.terminating_flow_ids | if type == "array" then .[] else . end | [., $r.args.span_id] | @tsv' rows | sort >ends
		join -t "$(printf '\t')" begins ends | cut -f 2,3 | sort | diff want - || fail $file
		jq -r 'select(.args.links) | . as $r | .args.links[] | [.span_id, $r.args.span_id] | @tsv' rows | sort | diff want -
	done
	# as arrows in both viewers' formats
	for format in chrome perfetto; do
		trdecode -q s/otlp.json | trencode -q -t $format -o converted
		trdecode -q converted | trencode -q -t ndjson | jq -r 'select(.args.terminating_flow_ids) | .args.span_id' | sort -u |
			diff <(cut -f 2 want | sort -u) - || fail $format
	done
}

@test "members of objects have no order" {
	cat >shuffle.py <<-'PY'
		import json, random, sys
		def shuffled(v):
		    if isinstance(v, list):
		        return [shuffled(x) for x in v]
		    if not isinstance(v, dict):
		        return v
		    items = list(v.items())
		    random.shuffle(items)
		    return {k: shuffled(x) for k, x in items}
		random.seed(7)
		for line in sys.stdin:
		    print(json.dumps(shuffled(json.loads(line))))
	PY
	# scopes of several names, or none
	python3 - <<-'PY' >s/scopes.json
		import json, sys
		for n, line in enumerate(open('s/otlp.json')):
		    document = json.loads(line)
		    for i, of in enumerate(document['resourceSpans']):
		        scope = of['scopeSpans'][0]['scope']
		        scope['name'] = f'lib{n % 3}{i}'
		        if i % 3 == 2:
		            del of['scopeSpans'][0]['scope']
		    print(json.dumps(document))
	PY
	rows() {
		trdecode "$@" | trencode -t ndjson -c +group | jq -Sc 'del(.pid)' | sort
	}
	for file in scopes jaeger zipkin zipkin_v1; do
		rows s/$file.json >want
		python3 shuffle.py <s/$file.json >shuffled.json
		! cmp -s s/$file.json shuffled.json
		rows shuffled.json | diff want - || fail $file
	done
	# spans of one endpoint are of one process, in whichever order its members are
	[ "$(trdecode s/zipkin.json | trencode -q -t tsv -c pid | sort -u | wc -l)" = 5 ]
	python3 shuffle.py <s/zipkin.json | trdecode | trencode -q -t tsv -c pid | sort -u | wc -l | diff <(echo 5) -
	# a scope and a resource after their spans, an event without a time before the start of its span, and a
	# process before the name of another one
	echo '{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":[{"name":"e"}],"name":"a","spanId":"01","startTimeUnixNano":5,"endTimeUnixNano":9}],"scope":{"name":"late"}},{"spans":[{"name":"b","spanId":"02","startTimeUnixNano":6,"endTimeUnixNano":9}]}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]}}]}' >late.json
	trdecode late.json | trencode -q -t csv -c name,group,comm,time | sed 1d |
		diff <(printf '%s\n' resource,,shop,5 e,late,shop,5 a,late,shop,5 b,,shop,6) -
	echo '{"traceID":"1","spanID":"2","operationName":"a","logs":[{"fields":[]}],"startTime":7,"duration":5,"process":{"serviceName":"own"},"processID":"p1"}' >own.json
	trdecode own.json | trencode -q -t csv -c name,comm,time | sed 1d |
		diff <(printf '%s\n' resource,own,7000 '(no name),own,7000' a,own,7000) -
	# objects around spans in others of their kind, which no program writes
	echo '{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[],"scopeSpans":[{"resource":{},"spans":[]}],"scope":{"name":"x"}}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"odd"}}]}}]}' >odd.json
	trdecode -o odd.trs late.json odd.json
}

@test "services are processes in the formats of other tracers, with their names" {
	cut -f 5 s/expect | sort -u >want
	for format in uftrace ctf lttng; do
		trdecode -q s/one.json | trencode -q -t $format -o $format
		trdecode $format | trencode -q -t tsv -c comm,pid | sed 1d | sort -u >have
		cut -f 1 have | grep . | diff want - || fail $format
		[ "$(cut -f 2 have | grep -c .)" = 4 ] || fail $format
	done
	# a trace.dat has threads alone
	trdecode -q s/one.json | trencode -q -t trace-cmd -o trace.dat
	trdecode trace.dat | trencode -q -t tsv -c comm | sed 1d | sort -u | diff want -
	# processes of two inputs with one number
	trdecode -q s/one.json s/zipkin.json | trencode -q -t ctf -o two
	trdecode two | trencode -q -t tsv -c comm,pid | sed 1d | sort -u | cut -f 1 | uniq -c | awk '$1 != 2' | diff /dev/null -
}

@test "services are processes, with their attributes" {
	run -0 pipe "trdecode s/otlp.json | trstat -q -t tsv --where 'kind == \"call\"' -g comm -c count -s comm"
	cut -f 5 s/expect | LC_ALL=C sort | uniq -c | awk '{ n = $1; sub("^ *[0-9]+ ", ""); print $0 "\t" n }' >want
	diff <(sed 1d <<<"$output" | LC_ALL=C sort) <(LC_ALL=C sort want)
	# a track of each in the viewers' formats, with the name of the service
	for format in chrome firefox perfetto; do
		trdecode -q s/otlp.json | trencode -q -t $format -o converted
		trdecode -q converted | trencode -q -t tsv -c span_id,comm | grep '^[0-9a-f]' | sort -u |
			diff <(cut -f 2,5 s/expect | sort -u) - || fail $format
	done
	# the key input keeps services of two files apart
	cp s/otlp.pb other.pb
	run -0 pipe "trdecode -q s/otlp.pb other.pb | trstat -q -t tsv --where 'kind == \"call\"' -g input,pid -c count | cut -f 3 | sort | uniq -c | grep -c ' 2 '"
	assert_output 4
	run -0 pipe "trdecode s/otlp.pb | trencode -t ndjson | jq -c 'select(.type == \"resource\") | [.comm, .args.\"host.name\"]' | sort"
	assert_equal "${#lines[@]}" 4
	assert_line '["shop","h1"]'
	# a recorded pid is that of the process, unless another one has it
	res() {
		printf '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}},{"key":"process.pid","value":{"intValue":"%s"}}]},"scopeSpans":[{"spans":[{"name":"a","startTimeUnixNano":"5","endTimeUnixNano":"9"}]}]}]}\n' "$@"
	}
	{ res a 7; res b 7; res c 1; res a 7; } >pids.json
	run -0 pipe "trdecode pids.json | trstat -t tsv -g comm,pid -c count --where 'kind == \"call\"' -s comm | sort"
	assert_output --partial $'a\t7\t2'
	assert_output --partial $'b\t2\t1'
	assert_output --partial $'c\t1\t1'
}

@test "attributes with the names of fields, and two of one name, are all kept" {
	# status, trace_id and call are fields; parent and links are other values of a span
	jq -nc '{resourceSpans: [{scopeSpans: [{spans: [
		{name: "up", traceId: "aa", spanId: "01", startTimeUnixNano: 1, endTimeUnixNano: 20},
		{name: "a", traceId: "aa", spanId: "02", parentSpanId: "01", startTimeUnixNano: 5, endTimeUnixNano: 9, status: {code: 2},
		 events: [{timeUnixNano: 6, name: "e", attributes: [{key: "span_id", value: {stringValue: "E"}}]}], links: [{traceId: "aa", spanId: "01"}],
		 attributes: (["status", "trace_id", "call", "parent", "links", "name", "start", "time", "twice", "twice"] |
			[to_entries[] | {key: .value, value: {stringValue: "\(.value) \(.key)"}}])}]}]}]}' >names.json
	trdecode names.json | trencode -q -t ndjson >rows
	run -0 jq -c 'select(.name == "a").args | [.status, .trace_id, .call, .parent, .links, .name, .start, .time, .twice, .twice_2]' rows
	assert_output '["status 0","trace_id 1","call 2","parent 3","links 4","name 5","start 6","time 7","twice 8","twice 9"]'
	run -0 jq -c 'select(.name == "a").args | [.status_, .trace_id_, .span_id_, .parent_id, .parent_2, .links_2[0].span_id]' rows
	assert_output '["error","00000000000000aa","0000000000000002","0000000000000001","up","0000000000000001"]'
	run -0 jq -c 'select(.name == "e").args | [.span_id, .span_id_]' rows
	assert_output '["E","0000000000000002"]'
	# zeros that begin an id may be left out, also of a trace
	span='{"traceID":"%s","spanID":"%s","operationName":"%s","startTime":7,"duration":5,"references":[{"refType":"CHILD_OF","traceID":"A1","spanID":"%s"}]},'
	# shellcheck disable=SC2059
	printf "{\"data\":[{\"spans\":[$(printf "$span" 00a1 01 up '' a1 2 down 1 000000000000000000000000000000a1 0003 low 2)]}]}" >zeros.json
	run -0 pipe "trdecode zeros.json | trencode -q -t csv -c kind,name,trace_id,span_id,parent_id,parent | grep ^call | sort"
	assert_line call,down,00000000000000a1,0000000000000002,0000000000000001,up
	assert_line call,low,000000000000000000000000000000a1,0000000000000003,0000000000000002,down
	# tags of Jaeger may be repeated
	echo '{"data":[{"spans":[{"traceID":"1","spanID":"2","operationName":"a","startTime":7,"duration":5,"tags":[{"key":"k","value":1},{"key":"k","value":2},{"key":"k_2","value":3}]}]}]}' >tags.json
	run -0 pipe "trdecode tags.json | trencode -t ndjson | jq -c '.args | [.k, .k_2, .k_2_2]'"
	assert_output '[1,2,3]'
}

@test "parents: of the id 0, of another trace, and the span itself; fractions of us; a pid that is a string" {
	echo '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","traceId":"aa","spanId":"0000000000000000","parentSpanId":"0000000000000000","startTimeUnixNano":"5","endTimeUnixNano":"9"}]}]}]}' >zero.json
	run -0 pipe "trdecode zero.json | trencode -t ndjson | jq -c '.args | [.span_id, .parent_id, .parent]'"
	assert_output '["0000000000000000","",null]'
	echo '[{"traceId":"1","id":"2","parentId":"2","name":"a","timestamp":7.5,"duration":1.25},{"traceId":"1","id":"3","parentId":"2","name":"b","timestamp":"8","duration":1e1}]' >self.json
	run -0 pipe "trdecode self.json | trencode -t csv -c name,parent_id,parent,time,dur | sed 1d"
	assert_output $'a,0000000000000002,,7500,1250\nb,0000000000000002,a,8000,10000'
	reference='{"refType":"CHILD_OF","traceID":"%s","spanID":"1"}'
	span='{"traceID":"1a","spanID":"%s","operationName":"%s","startTime":7,"duration":5,"processID":"p","references":[%s]}'
	# shellcheck disable=SC2059
	printf '{"data":[{"spans":[%s,%s,%s],"processes":{"p":{"serviceName":"s","tags":[{"key":"process.pid","type":"int64","value":"77"}]}}}]}' \
		"$(printf "$span" 1 up '')" "$(printf "$span" 2 down "$(printf "$reference" 0000001A)")" \
		"$(printf "$span" 3 other "$(printf "$reference" b)")" >trace.json
	run -0 pipe "trdecode trace.json | trencode -t ndjson | jq -c 'select(.dur) | [.name, .pid, .args.parent, .args.links]' | sort"
	assert_output '["down",77,"up",null]
["other",77,null,[{"trace_id":"000000000000000b","span_id":"0000000000000001"}]]
["up",77,null,null]'
}

@test "services on one time line with other wall clocks" {
	head -n 1 s/otlp.json >a.json
	sed 1d s/otlp.json >b.json
	[ "$(spans a.json b.json | cut -f 1-7 | diff - <(cut -f 1-7 s/expect | sort) | wc -l)" = 0 ]
	trdecode -q s/jaeger.json "$DATA/strace/f-ttt-T-y.txt" -o both.trs
}

@test "damage: lines, messages and spans" {
	sed '3s/"spanId"/spanId/' s/otlp.json >bad.json
	run -1 --separate-stderr trdecode -o bad.trs bad.json
	[[ $stderr == *"bad.json: 0x"*': a key is missing'* ]]
	kept=$(trencode -q -t tsv -c span_id,kind bad.trs 2>/dev/null | awk '$2 == "call"' | sort -u | wc -l)
	[ "$kept" -ge $(($(wc -l <s/expect) - 7)) ] && [ "$kept" -lt "$(wc -l <s/expect)" ]
	head -c 30000 s/otlp.json >cut.json
	run -1 --separate-stderr trdecode -o cut.trs cut.json
	[[ $stderr == *'the input ends within a JSON value'* ]]
	for file in otlp.pb sized.pb; do
		head -c 9000 s/$file >cut.pb
		run -1 --separate-stderr trdecode -o cut.trs cut.pb
		trencode -q -t tsv -c span_id,kind cut.trs 2>/dev/null | awk '$2 == "call"' | wc -l >n
		[ "$(cat n)" -ge 5 ]
		# one byte is missing at the end, or in a span: that span is left out, and no other one
		head -c -1 s/$file >less1.pb
		for at in 900 9000; do
			{ head -c $at s/$file; tail -c +$((at + 2)) s/$file; } >less$at.pb
		done
		for cut in 1 900 9000; do
			run -1 --separate-stderr trdecode -o cut.trs less$cut.pb
			[ $cut != 1 ] || [[ $stderr == *': the input ends within a message of spans' ]]
			cut -f 2 s/expect | sort >want
			trencode -q -t tsv -c span_id,kind cut.trs 2>/dev/null | awk '$2 == "call" { print $1 }' | sort >have
			assert_equal "$file $cut $(comm -13 want have | wc -l) $(comm -23 want have | wc -l)" "$file $cut 0 1"
		done
	done
	# a span without its start, one that ends before it starts, one without an end
	span='{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"%s","spanId":"01"%s}]}]}]}\n'
	{
		# shellcheck disable=SC2059
		printf "$span" none '' back ',"startTimeUnixNano":"9","endTimeUnixNano":"5"' open ',"startTimeUnixNano":"10"' \
			late ',"startTimeUnixNano":"99999999999999999999"' good ',"startTimeUnixNano":"12","endTimeUnixNano":"15"'
	} >odd.json
	run -1 --separate-stderr trdecode -o odd.trs odd.json
	[[ $stderr == *'a span without the time of its start: it is left out'* ]]
	[[ $stderr == *'1 span ends before its start: it lasts 0 ns'* ]]
	run -0 pipe "trencode -q -t ndjson odd.trs 2>/dev/null | jq -r '[.name, .dur, .unfinished] | @tsv' | sort"
	assert_output $'back\t0\t\ngood\t3\t\nopen\t5\ttrue'
	# metrics and logs are no spans
	echo '{"resourceMetrics":[]}' | cat s/otlp.json - >mixed.json
	run -0 --separate-stderr trdecode -o mixed.trs mixed.json
	[[ $stderr == *'1 line without spans is left out'* ]]
	# nothing but what has no spans is no trace
	echo '{"_source":{"traceID":"1","spanID":"2"}}' >none.json
	run -2 --separate-stderr trdecode -o none.trs none.json
	assert_equal "$stderr" 'trdecode: none.json: 0x0: JSON without the spans of jaeger: not a trace'
}

@test "values of another type than their key has are damage, and leave the others" {
	echo '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","traceId":"aa","spanId":"01","startTimeUnixNano":5,"endTimeUnixNano":9,"attributes":{"x":"y"},"events":"none","links":[7],"status":null}]}]}]}' >otlp.json
	echo '{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"2","operationName":"a","startTime":7,"duration":5,"tags":{},"logs":9,"references":"x","warnings":null}],"processes":[]}]}' >jaeger.json
	echo '[{"traceId":"1","id":"2","name":"a","timestamp":7,"duration":5,"annotations":{},"tags":["x"],"localEndpoint":"shop"}]' >zipkin.json
	echo '[{"traceId":"1","id":"2","name":"a","timestamp":7,"duration":5,"annotations":[],"binaryAnnotations":[{"key":5,"value":"a"}]}]' >v1.json
	for file in otlp:attributes:3 jaeger:tags:4 zipkin:annotations:3 v1:annotation:1; do
		IFS=: read -r file first count <<<"$file"
		run -1 --separate-stderr trdecode --verbose -o odd.trs $file.json
		[[ ${stderr_lines[0]} == *"$file.json: 0x"*": a value of another type than $first has: it is left out" ]]
		assert_equal "$(grep -c 'a value of another type' <<<"$stderr")" "$count"
		assert_equal "$(trencode -q -t tsv -c name,kind odd.trs 2>/dev/null | tail -n 1)" $'a\tcall'
	done
}

@test "a fault in one span leaves the other spans, in one line, in several, and in a line that is cut" {
	# the fault: a colon is missing, a quote, a bracket, or a span is no object
	jq -c . s/zipkin.json >z.json
	jq . s/zipkin.json >z_pretty.json
	jq -c . s/jaeger.json >j.json
	jq -c . s/one.json >o.json
	for file in z z_pretty j o; do
		for fault in colon quote bracket; do
			python3 - $fault >fault.json <<-'PY' 3<$file.json
				import re, sys
				text = open(3).read()
				at = list(re.finditer(r'"(timestamp|startTime|startTimeUnixNano)" ?:', text))[30].end()
				left = {'colon': (at - 1, ''), 'quote': (at - 3, ''), 'bracket': (at, '{')}[sys.argv[1]]
				print(text[:left[0]] + left[1] + text[left[0] + (sys.argv[1] != 'bracket'):])
			PY
			run -1 --separate-stderr trdecode -o fault.trs fault.json
			assert_equal "$(wc -l <<<"$stderr")" 1
			kept=$(trencode -q -t tsv -c span_id,kind fault.trs 2>/dev/null | awk '$2 == "call"' | wc -l)
			[ "$kept" -ge $(($(wc -l <s/expect) - 2)) ] || fail "$file $fault: $kept"
		done
	done
	# a fault around the spans, in one line: no span is lost, nor is any of a service that is not its own
	for fault in 'o "resource":{"attributes":[ "resource":{"attributes":' 'o "scope":{"name": "scope"{"name":' \
		'o {"resource": "resource":' 'o {"resource": {resource":' 'o }]},{"resource": }},{"resource":' \
		'o "scopeSpans":[ "scopeSpans":' 'j "processes":{"p1" "processes":"p1"' \
		'j {"serviceName":"stock" {"serviceName""stock"' 'j "spans":[ "spans":'; do
		read -r file from to <<<"$fault"
		python3 - "$from" "$to" >fault.json <<-'PY' 3<"$file.json"
			import sys
			text = open(3).read()
			at = text.index(sys.argv[1], len(text) // 4)
			print(text[:at] + sys.argv[2] + text[at + len(sys.argv[1]):])
		PY
		run -1 --separate-stderr trdecode -o fault.trs fault.json
		trencode -q -t tsv -c span_id,comm,kind fault.trs 2>/dev/null | awk -F '\t' -v OFS='\t' '$3 == "call" { print $1, $2 }' | sort >have
		cut -f 2,5 s/expect | sort >want
		assert_equal "$(wc -l <have)" "$(wc -l <want)"
		awk -F '\t' '$2 != ""' have | comm -23 - want | diff /dev/null - || fail "$fault"
		[ "$(awk -F '\t' '$2 == ""' have | wc -l)" -le 40 ]
	done
	# of processes only the one with the fault has no service, before or after its spans
	for file in jaeger before; do
		[ $file = jaeger ] || jq -c '.data |= map({traceID, processes, spans})' s/jaeger.json >s/before.json
		jq -c . s/$file.json | sed 's/"serviceName":"shop"/"serviceName""shop"/' >fault.json
		run -1 --separate-stderr trdecode -o fault.trs fault.json
		trencode -q -t tsv -c span_id,comm,kind fault.trs 2>/dev/null | awk -F '\t' -v OFS='\t' '$3 == "call" { print $1, $2 }' | sort >have
		cut -f 2,5 s/expect | sort | comm -13 - have | cut -f 2 | sort -u >wrong
		[ -z "$(cat wrong)" ]
		cut -f 2,5 s/expect | sort | comm -23 - have | cut -f 2 | sort -u | diff <(echo shop) -
	done
	# a line that ends within a string: the next one is read
	for cut in '"data":[{"spans":[],"processes":{"p1":{"tags":[{"k' '"traceID":"1","processes":{"p1":{"tags":[{"k' '"sp' '"resourceSpans":[{"scopeSpans":[{"spans":[{"na' '"data":[{"spans":[{"op' '"traceId":"1'; do
		for file in otlp jaeger; do
			jq -c . s/$file.json >lines
			{ cat lines; printf '{%s\n' "$cut"; cat lines; } >cut.json
			run -1 --separate-stderr trdecode -o cut.trs cut.json
			[[ $stderr == *': the line ends within a string'* ]]
			kept=$(trencode -q -t tsv -c span_id,kind cut.trs 2>/dev/null | awk '$2 == "call"' | wc -l)
			assert_equal "$kept" $((2 * $(wc -l <s/expect)))
		done
	done
	# a process that ends after a colon: the next line is no value of it
	jq -c . s/jaeger.json >lines
	{ printf '{"data":[{"spans":[],"processes":{"p1":{"tags":[{"key":\n'; cat lines; } >cut.json
	run -1 --separate-stderr trdecode -o cut.trs cut.json
	trencode -q -t tsv -c span_id,kind cut.trs 2>/dev/null | awk '$2 == "call"' | wc -l | diff <(wc -l <s/expect) -
	# other elements among the spans
	jq -c '[.[0], 5, null, "x"] + .[1:]' s/zipkin.json >mixed.json
	run -0 --separate-stderr trdecode -o mixed.trs mixed.json
	assert_equal "$stderr" 'trdecode: mixed.json: 3 elements among the spans are no spans, and are left out'
	trencode -q -t tsv -c span_id,kind mixed.trs | awk '$2 == "call"' | wc -l | diff <(wc -l <s/expect) -
}

@test "names of kinds, impossible ends, and attributes beyond 4096 names" {
	sed -E 's/"kind": 2/"kind": "SPAN_KIND_SERVER"/; s/"kind": 5/"kind": "SPAN_KIND_CONSUMER"/' s/otlp.json >kinds.json
	grep -q SPAN_KIND_CONSUMER kinds.json
	spans kinds.json | diff <(sort s/expect) -
	span='{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","spanId":"01","startTimeUnixNano":"5","endTimeUnixNano":%s}]}]}]}\n'
	# shellcheck disable=SC2059
	printf "$span" '"18446744073709551615"' -3 '"0"' >ends.json
	run -0 --separate-stderr trdecode -o ends.trs ends.json
	assert_equal "$stderr" 'trdecode: ends.json: 2 spans have an impossible end: they are unfinished calls'
	echo '[{"traceID":"1","spans":[{"traceID":"1","spanID":"2","operationName":"a","startTime":7,"duration":-5}],"processes":{}}]' >back.json
	run -0 --separate-stderr trdecode -o back.trs back.json
	assert_equal "$stderr" 'trdecode: back.json: 1 span ends before its start: it lasts 0 ns'
	jq -nc '{resourceSpans: [{scopeSpans: [{spans: [{name: "a", spanId: "01", startTimeUnixNano: "5", endTimeUnixNano: "6",
		attributes: [range(5000) | {key: "k\(.)", value: {intValue: .}}]}]}]}]}' >many.json
	run -0 --separate-stderr trdecode -o many.trs many.json
	assert_equal "$stderr" 'trdecode: many.json: 904 arguments of names that have more than 4096 different ones were left out'
	trencode -t ndjson many.trs | jq '.args | has("k4095")' | diff <(echo true) -
}

@test "--info and --list" {
	for file in otlp.json otlp.pb jaeger.json zipkin.json; do
		run -0 trdecode --info s/$file
		assert_line --regexp "^format +${file%%.*}\$"
		assert_line --regexp "^spans +$(wc -l <s/expect)\$"
	done
	run -0 trdecode --list s/otlp.json
	assert_line --regexp 'enter +lib +span start'
	assert_line --regexp 'arg.http.target +text'
}
