#!/usr/bin/env bats
# Samples and recorded stacks in Trace Event JSON and in Perfetto's format: each sample by jq or protoc, against the
# events of the source.
bats_require_minimum_version 1.5.0

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# recordings: the samples of this project, with a constant and a varying weight, times, groups, tracepoints
recordings() {
	local f
	for f in flat group zstd sched offcpu weight; do
		echo "$DATA/perf/$f.data"*
	done
}

# samples FILE: each sample of a stream, in the order of time
samples() {
	trfilter -q 'kind == "sample"' "$1" | trencode -q -t csv -c time,pid,tid,type,group,stack,weight
}

@test "chrome: samples read again have number, time, thread, event, stack and weight of the source" {
	for f in $(recordings); do
		stream "$f"
		trencode -q -t chrome -o out.json x.trs
		trdecode -q -o y.trs out.json
		samples x.trs >want
		samples y.trs | diff want -
		(($(wc -l <want) > 30)) || fail "$f"
		# a time stays a time
		diff <(trstat -q -t csv -g type -c total,count x.trs | grep -v ,$) \
			<(trstat -q -t csv -g type -c total,count y.trs | grep -v ,$)
	done
}

@test "chrome: stackFrames and samples, walked by jq, are the stacks and sums of the source" {
	for f in $(recordings); do
		stream "$f"
		trencode -q -t chrome --rebase=none -o out.json x.trs
		jq -r '.stackFrames as $f
			| def path($i): if $i then path($f[$i | tostring].parent) + [$f[$i | tostring].name] else [] end;
			.samples[] | [.ts * 1000, .pid, .tid, .name, .cat, .cpu, .weight, (path(.sf) | join(";"))] | @csv' out.json >have
		trfilter -q 'kind == "sample"' x.trs | trencode -q -t ndjson -c time,pid,tid,type,group,cpu,weight,stack |
			jq -r '[.time, .pid, .tid, .type, .group, .cpu, .weight, (.stack // [] | join(";"))] | @csv' | diff - have
		# no frame without a sample or an event, and no instant for a sample
		jq -e '.stackFrames as $f | [.samples[], .traceEvents[] | .sf | select(.)] as $used | ($f | keys | length) >=
			($used | unique | length)' out.json >valid
		assert_equal "$(jq '[.traceEvents[] | select(.ph == "i")] | length' out.json)" \
			"$(rows_of 'kind == "instant" || kind == "gap"' x.trs)"
	done
}

@test "chrome: fields of a sample beside its weight are its args" {
	stream "$DATA/perf/sched.data.gz"
	trencode -q -t chrome -o out.json x.trs
	jq -r '.samples[] | select(.name == "sched_switch").args | [.prev_comm, .prev_pid, .next_pid] | @csv' out.json >have
	trencode -q -t ndjson -c type,prev_comm,prev_pid,next_pid x.trs |
		jq -r 'select(.type == "sched_switch") | [.prev_comm, .prev_pid, .next_pid] | @csv' | diff - have
	[ -s have ]
}

@test "chrome: recorded stacks of other events are sf, and are read again" {
	stream "$DATA/trace-cmd/v6-stacktrace.dat"
	trencode -q -t chrome -o out.json x.trs
	jq -r '.stackFrames as $f
		| def path($i): if $i then path($f[$i | tostring].parent) + [$f[$i | tostring].name] else [] end;
		.traceEvents[] | select(.sf) | path(.sf) | join(";")' out.json | sort >have
	trencode -q -t ndjson -c stack x.trs | jq -r 'select(.stack).stack | join(";")' | sort >want
	diff want have
	[ -s want ]
	trdecode -q out.json | trencode -q -t ndjson -c stack | jq -r 'select(.stack).stack | join(";")' | sort | diff want -
}

@test "chrome: the backtraces of calls of apitrace are sf" {
	stream "$RECORDED/apitrace/backtrace.trace"
	trencode -q -t chrome -o out.json x.trs
	jq -r '.stackFrames as $f
		| def path($i): if $i then path($f[$i | tostring].parent) + [$f[$i | tostring].name] else [] end;
		.traceEvents[] | select(.sf) | "\(.name) \(path(.sf) | join(";"))"' out.json | sort >have
	# the argument that trencode has for the same stack
	jq -r '.traceEvents[] | select(.args.stack) | "\(.name) \(.args.stack | join(";"))"' out.json | sort | diff - have
	[ -s have ]
}

# packets: x.trs in protoc's text; an unknown field would be a line that begins with a number
packets() {
	need protoc
	trencode -q -t perfetto "$@" x.trs >out.pftrace
	protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto <out.pftrace >decoded
	run -1 grep -E '^ *[0-9]+:' decoded
}

@test "perfetto: samples with time, thread, CPU, event, weight and stack are those of the source" {
	for f in $(recordings); do
		stream "$f"
		packets
		python3 "$ROOT/t/tools/perfetto_samples.py" <decoded >have
		trfilter -q 'kind == "sample"' x.trs | trencode -q -t ndjson -c time,pid,tid,cpu,type,weight,stack |
			jq -c '[.time, .pid, .tid, .cpu, .type, .weight, .stack // []]' >want
		diff want <(jq -c . have) || fail "$f"
		(($(wc -l <have) > 30)) || fail "$f"
	done
}

@test "perfetto: weights of nothing, and samples without a CPU, are read as they were written" {
	cat >x.json <<-'END'
		{"traceEvents":[],"samples":[
		{"cpu":0,"tid":1,"ts":0,"name":"cycles","sf":2,"weight":0},
		{"tid":1,"ts":1,"name":"cycles","sf":2,"weight":5},
		{"cpu":0,"tid":1,"ts":2,"name":"cycles","sf":2,"weight":7},
		{"cpu":0,"tid":1,"ts":3,"name":"cycles","sf":1,"weight":0},
		{"tid":1,"ts":4,"name":"cycles","sf":1,"weight":0}],
		"stackFrames":{"1":{"name":"main"},"2":{"name":"f","parent":1}}}
	END
	trdecode -q -o x.trs x.json
	packets
	assert_equal "$(python3 "$ROOT/t/tools/perfetto_samples.py" <decoded | jq -c '.[5]' | paste -sd ' ')" '0 5 7 0 0'
	assert_equal "$(trdecode -q out.pftrace | trencode -q -t ndjson | jq -c .args.weight | paste -sd ' ')" '0 5 7 0 0'
}

@test "perfetto: sums by stack are those of perf script, which counts by itself" {
	need perf
	perf script -i "$DATA/perf/zstd.data" --no-inline -F pid,period,ip 2>/dev/null |
		awk 'NF == 2 && /^ *[0-9]+ +[0-9]+ *$/ { n = $2; next } NF { depth++ } !NF { sum[depth] += n; depth = 0 }
			END { for (d in sum) print d, sum[d] }' | sort >want
	[ -s want ]
	trdecode -q -o x.trs "$DATA/perf/zstd.data"
	packets
	python3 "$ROOT/t/tools/perfetto_samples.py" <decoded |
		jq -r '"\(.[6] | length) \(.[5])"' | awk '{ sum[$1] += $2 } END { for (d in sum) print d, sum[d] }' | sort | diff want -
}

@test "perfetto: recorded stacks of other events are their callstacks; lines of source, mappings, build-ids" {
	stream "$DATA/trace-cmd/v6-stacktrace.dat"
	packets
	python3 "$ROOT/t/tools/perfetto_samples.py" stacks <decoded >have
	trencode -q -t ndjson -c time,stack x.trs | jq -c 'select(.stack) | [.time, .stack]' | diff - <(jq -c . have)
	[ -s have ]
	need gcc
	need perf
	printf '%s\n' 'static volatile unsigned n;' 'int main(void)' '{' 'for (int i = 0; i < 30000000; i++) n += i;' \
		'return 0; }' >loop.c
	gcc -g -O1 -o loop loop.c
	perf record -q -e cpu-clock -o loop.data ./loop 2>err || skip "perf record: $(tail -n 1 err)"
	trdecode -q loop.data | trsym -q -l >x.trs
	packets
	grep -Eq 'name: ".*loop\.c"' decoded
	grep -q 'line_number: 4' decoded
	grep -q "name: \"${PWD#/}/loop\"" decoded
	grep -q 'build_ids {' decoded
}

@test "perfetto: the backtraces of calls of apitrace are callstacks" {
	stream "$RECORDED/apitrace/backtrace.trace"
	packets
	trencode -q -t chrome x.trs | jq -c '.traceEvents[].args.stack | select(.)' | sort >want
	python3 "$ROOT/t/tools/perfetto_samples.py" stacks <decoded | jq -c '.[1]' | sort | diff want -
	[ -s want ]
}

@test "perfetto: --unclosed=drop writes the same samples; fields beside the weight are counted" {
	stream "$DATA/perf/sched.data.gz"
	packets
	cp out.pftrace one
	packets --unclosed=drop
	cmp one out.pftrace
	run -0 --separate-stderr trencode -t perfetto -o out.pftrace x.trs
	assert_regex "$stderr" "$(rows_of 'kind == "sample"' x.trs) samples have fields beside the weight, which are left out"
}
