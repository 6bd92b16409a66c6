#!/bin/bash
# A large uftrace recording: our pipe against uftrace's own report and replay, and against cat.
# BENCH_ROUNDS=6000    rounds of the traced program: 138 KB of trace each
# BENCH_THREADS=4
# BENCH_TASKS=3000     tasks of the second recording
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where recordings are kept
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need uftrace trdecode trsym trstat trencode trfilter cc

rounds=${BENCH_ROUNDS:-6000} threads=${BENCH_THREADS:-4} tasks=${BENCH_TASKS:-3000}

# record ROUNDS THREADS: the recording of that size, made if it is not there yet
record() {
	data=$CACHE/uftrace-$1-$2.data
	[[ -f $data/info ]] && return
	cc -O1 -g -pg -fno-inline -w -o "$CACHE/big" "$BENCH/uftrace-big.c" -lpthread &&
		rm -rf "$data" "$data.part" &&
		uftrace record -b 16M --no-libcall -d "$data.part" "$CACHE/big" "$1" "$2" >/dev/null &&
		mv "$data.part" "$data" || exit
}

describe() {
	echo "$(du -shL --apparent-size "$data" | cut -f 1)B," \
		"$(($(cat "$data"/[0-9]*.dat | wc -c) / 16)) records, $(find "$data" -name '[0-9]*.dat' | wc -l) tasks"
}

record "$rounds" "$threads"
describe
cat "$data"/*.dat >/dev/null

compare 'uftrace report' "uftrace report --no-pager -d '$data'" \
	'trdecode | trsym | trstat' "trdecode '$data' | trsym | trstat" \
	'cat *.dat | cat | cat' "cat '$data'/*.dat | cat | cat"
ratio 'report is times slower (10, CPU 5)' 'trdecode | trsym | trstat' 'uftrace report'
ratio 'ours is times cat (at most 2)' 'cat *.dat | cat | cat' 'trdecode | trsym | trstat'
sizes "trdecode $data | trsym | trstat"

compare 'uftrace dump -t 1ms --chrome' "uftrace dump --no-pager -t 1ms --chrome -d '$data'" \
	"trdecode | trfilter 'dur > 1ms'" "trdecode '$data' | trfilter 'dur > 1ms'" \
	'trdecode alone' "trdecode '$data'"
ratio 'dump is times slower (8)' "trdecode | trfilter 'dur > 1ms'" 'uftrace dump -t 1ms --chrome'
trdecode "$data" | trsym >"$CACHE/saved.trs"
compare 'uftrace dump -t 1ms --chrome' "uftrace dump --no-pager -t 1ms --chrome -d '$data'" \
	"trfilter 'dur > 1ms' SAVED" "trfilter 'dur > 1ms' '$CACHE/saved.trs'" \
	'cat SAVED' "cat '$CACHE/saved.trs'" \
	'cat SAVED | cat' "cat '$CACHE/saved.trs' | cat" \
	"trfilter 'name == \"fib\"' SAVED" "trfilter 'name == \"fib\"' '$CACHE/saved.trs'" \
	"cat SAVED | trfilter 'name == \"fib\"'" \
	"cat '$CACHE/saved.trs' | trfilter 'name == \"fib\"'"
ratio 'dump is times slower (8)' "trfilter 'dur > 1ms' SAVED" 'uftrace dump -t 1ms --chrome'
ratio 'by name is times cat | cat (at most 1.25)' 'cat SAVED | cat' \
	"cat SAVED | trfilter 'name == \"fib\"'"
ratio 'by name is times cat (at most 1.25)' 'cat SAVED' "trfilter 'name == \"fib\"' SAVED"
rm -f "$CACHE/saved.trs"

# A tenth of it is enough for the slow ones.
record $((rounds / 10 + 1)) "$threads"
describe
all=count,total,total_avg,total_min,total_max,total_stdev,self,self_avg,self_min,self_max,self_stdev
compare 'uftrace report' "uftrace report --no-pager -d '$data'" \
	'trdecode | trsym | trstat, all columns' \
	"trdecode '$data' | trsym | trstat -c $all,p50,p90,p99,p99.9,first,last,rate" \
	'trdecode | trsym | trstat --tree' "trdecode '$data' | trsym | trstat --tree"
ratio 'report is times slower (8)' 'trdecode | trsym | trstat, all columns' 'uftrace report'
ratio 'report is times slower than a tree' 'trdecode | trsym | trstat --tree' 'uftrace report'
compare 'uftrace replay' "uftrace replay --no-pager -d '$data'" \
	'trdecode | trsym | trencode -t text' "trdecode '$data' | trsym | trencode -t text"
ratio 'replay is times slower' 'trdecode | trsym | trencode -t text' 'uftrace replay'
sizes "trdecode $data | trsym | trencode -t text"
compare 'uftrace dump --flame-graph' "uftrace dump --no-pager --flame-graph -d '$data'" \
	'trdecode | trsym | trencode -t folded' "trdecode '$data' | trsym | trencode -t folded"
ratio 'dump --flame-graph is times slower' 'trdecode | trsym | trencode -t folded' \
	'uftrace dump --flame-graph'
sizes "trdecode $data | trsym | trencode -t folded"
trdecode "$data" | trsym >"$CACHE/named.trs"
compare 'cat | cat' "cat '$CACHE/named.trs' | cat" \
	'cat | trfilter by depth' "cat '$CACHE/named.trs' | trfilter 'depth < 4'"
ratio 'trfilter by depth is times cat' 'cat | cat' 'cat | trfilter by depth'
rm -f "$CACHE/named.trs"

if ((tasks)); then
	record "${BENCH_TASK_ROUNDS:-1}" "$tasks"
	describe
	# uftrace report itself looks at every task for every record: minutes
	compare 'trdecode | trsym | trstat' "trdecode '$data' | trsym | trstat" \
		'cat *.dat | cat | cat' "cat '$data'/*.dat | cat | cat"
	ratio 'ours is times cat' 'cat *.dat | cat | cat' 'trdecode | trsym | trstat'
	sizes "trdecode $data | trsym | trstat"
	sizes "trdecode $data | trsym | trstat -g tid,name"
fi
