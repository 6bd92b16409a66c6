#!/usr/bin/env bats
# trstat --explain-tail: what is different about the slow calls. The traces and what is planted in them are the model's
# (tools/tail_traces.py).
bats_require_minimum_version 1.5.0

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local kind
	for kind in child number state before+child none; do
		python3 "$ROOT/t/tools/tail_traces.py" make "$kind" 7 2500 | trdecode -f ndjson -o "$kind.trs" || return
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# explain TRACE [OPTION]...
explain() {
	local trace=$1
	shift
	trstat -q --explain-tail 'name == "request"' "$@" "$trace"
}

@test "what is planted comes first, decoys are not named, and nothing where nothing is planted" {
	local kind
	for kind in child number state before+child none; do
		explain "$kind.trs" -t json --quantile 0.98 >"$kind.json"
		run -0 python3 "$ROOT/t/tools/tail_traces.py" check "$kind" "$kind.json"
		assert_output 'yes 0 0'
	done
}

@test "the table names the calls that are slow and the difference" {
	run -0 explain child.trs --quantile 98%
	assert_line --regexp '^[45][0-9] of 2500 calls are slow: longer than [0-9.]+ ms, the quantile 98%$'
	assert_line --regexp '^ *slow +rest +risk ratio +95 % interval +p +difference$'
	assert_line --regexp '^ *[0-9.]+% +[0-9.]+% +[0-9]+ +[0-9]+ - [0-9]+ +< 1e-15  child fsync'
	run -0 explain none.trs
	assert_line --regexp '^nothing is significantly different: of [0-9]+ candidates '
	explain child.trs -t csv >child.csv
	assert_equal "$(head -n 1 child.csv)" \
		difference,feature,relation,value,slow,slow_of,rest,rest_of,ratio,low,high,p,note
}

@test "shares and the ratio of risks are those of a count by another program" {
	# without a sample: all calls are compared
	explain child.trs -t json --quantile 0.98 >row.json
	trencode -q -t ndjson child.trs | python3 -c '
import json, math, sys
rows = [json.loads(line) for line in sys.stdin]
calls = [r for r in rows if r["name"] == "request"]
syncs = [(r["time"], r["tid"]) for r in rows if r["name"] == "fsync"]
row = json.load(open("row.json"))[0]
limit = sorted(r["dur"] for r in calls)[-row["slow_of"]]
has = lambda r: any(r["time"] <= t < r["time"] + r["dur"] for t, tid in syncs)
a = sum(has(r) for r in calls if r["dur"] >= limit)
b = sum(has(r) for r in calls if r["dur"] < limit)
n, s = len(calls), row["slow_of"]
c, d = s - a, n - s - b
assert (a, b, n - s) == (row["slow"], row["rest"], row["rest_of"]), (a, b, row)
if not b * c:
    a, b, c, d = (x + y for x, y in zip((a, b, c, d), ((a + b) / (a + b) * 0.5,) * 4))
ratio = a / (a + b) / (c / (c + d))
error = math.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
print(row, ratio, ratio * math.exp(-1.96 * error), ratio * math.exp(1.96 * error))
for name, value in ("ratio", ratio), ("low", ratio * math.exp(-1.96 * error)), ("high", ratio * math.exp(1.96 * error)):
    assert abs(row[name] / value - 1) < 0.1, (name, row, value)
'
}

@test "the result does not depend on segments, and is the same in each run" {
	explain state.trs >one.txt
	trdecode --segment 64K -o segments.trs state.trs
	explain segments.trs | diff one.txt -
	explain state.trs | diff one.txt -
}

@test "options that do not go with it, fields that no event has, traces without calls" {
	local wrong
	for wrong in '-g name' '-c count' '-s name' '-n 3' '--tree' '--pair wakeup' '--partial' '--merge' '--since 1s' \
		'--where cpu==1' '--fail-if count>1' '-i 1s' '-t prom' '-t svg' '--quantile 1' '--quantile x' '--bounds'; do
		# shellcheck disable=SC2086
		run -2 trstat --explain-tail 'name == "request"' $wrong child.trs
	done
	run -2 trstat --quantile 0.9 child.trs
	assert_output --partial -- '--quantile goes with --explain-tail'
	run -2 trstat --explain-tail 'arg.moode == "sync"' child.trs
	assert_output --partial "did you mean 'arg.mode'"
	run -2 trstat --explain-tail 'name ==' child.trs
	run -0 trstat --explain-tail 'name == "nothing"' child.trs
	assert_output --partial 'the condition is true of none of'
	run -0 pipe "trdecode -q '$DATA/perf/flat.data' | trstat --explain-tail 'name == \"main\"'"
	assert_output --partial 'no calls in this trace'
}

# values FILE CALLS DURATION VALUE: write calls, whose duration and fields are expressions of Python; one of 50 is slow
values() {
	python3 -c '
import json, sys
calls, duration, value = int(sys.argv[1]), *sys.argv[2:]
for i in range(calls):
    slow = i % 50 == 7
    row = dict(time=i * 10**7, dur=eval(duration), name="request", tid=1, pid=1, **eval(value))
    print(json.dumps(row))
' "${@:2}" | trdecode -q -f ndjson -o "$1"
}

@test "slow calls in the bucket of the quantile are found, exactly, and the threshold is a duration" {
	# all durations are in one bucket of the histogram
	values bucket.trs 5000 '1002000 if slow else 1000000' 'dict(gc="yes" if slow else "no")'
	local quantile
	for quantile in 0.5 0.9 0.97; do
		run -0 explain bucket.trs --quantile $quantile
		assert_line "100 of 5000 calls are slow: longer than 1.000 ms, the quantile $quantile"
		assert_line --regexp ' 0.0% .* arg.gc == "yes"$'
	done
	run -0 explain bucket.trs --quantile 0.98
	assert_line '0 of 5000 calls are slow: longer than 1.002 ms, the quantile 0.98'
}

@test "a difference is a condition that is true of the slow calls counted" {
	local value difference
	for value in 'dict(v=[1, 2, 3] if slow else [1])' 'dict(v="evil\"q\\x\t" if slow else "no")' \
		'dict(v=2.5 if slow else i % 3 and "a")' 'dict(v="s" if slow else i % 7)' \
		'dict(v=i % 7) if slow else dict(v="s")' 'dict(v=-i, w=i) if slow else dict(w=i)' \
		'dict(v=i) if not slow else {}' 'dict(o=dict(i=dict(v="s" if slow else "no")))' \
		'dict(v=("a.b|\\\\\"[" * 40)[:200] + str(i) if slow else "a.b" * 9 + str(i))' \
		'dict(v=("x" * 95 + "yy")[:97 if slow else 95])' 'dict(v="\u202e\x9b\xff" if slow else "")' \
		'dict(v=("z" * 96)[:95 if slow else 96])' 'dict(v="x" * 95 + "\u00e9" * 3 if slow else "no")' \
		'dict(v=0.0 if slow else float("nan"), w=-0.0 if i % 2 else 0.0)'; do
		values value.trs 2000 'i + (10**6 if slow else 10**5)' "$value"
		explain value.trs -t json --quantile 0.98 >rows.json
		difference=$(python3 -c '
import json
row = json.load(open("rows.json"))[0]
assert (row["slow"], row["slow_of"], row["rest"]) == (40, 40, 0), row
print(row["difference"])')
		echo "$value: $difference"
		run -0 --separate-stderr trstat -q --where "$difference" -c count -t csv value.trs
		assert_line request,40
	done
}

@test "the name of the function is a difference where the condition is true of several" {
	values name.trs 2000 'i + (10**6 if slow else 10**5)' 'dict(size=i % 5)'
	trencode -q -t ndjson name.trs | sed '8~50s/"request"/"report"/' | trdecode -q -f ndjson -o names.trs
	run -0 trstat -q --explain-tail 'dur > 0' --quantile 0.98 names.trs
	assert_line --partial 'name == "report"'
}
