#!/bin/bash
# A large uftrace recording as reports: ours against uftrace dump --chrome and --flame-graph.
# BENCH_ROUNDS=6000    as of uftrace.sh, a tenth of which is used here: some 5 M records
# BENCH_THREADS=4
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where recordings are kept
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need uftrace trdecode trsym trencode cc

rounds=$((${BENCH_ROUNDS:-6000} / 10 + 1)) threads=${BENCH_THREADS:-4}
data=$CACHE/uftrace-$rounds-$threads.data

if [[ ! -f $data/info ]]; then
	cc -O1 -g -pg -fno-inline -w -o "$CACHE/big" "$BENCH/uftrace-big.c" -lpthread &&
		rm -rf "$data" "$data.part" &&
		uftrace record -b 16M --no-libcall -d "$data.part" "$CACHE/big" "$rounds" "$threads" >/dev/null &&
		mv "$data.part" "$data" || exit
fi
echo "$(du -shL --apparent-size "$data" | cut -f 1)B," \
	"$(($(cat "$data"/[0-9]*.dat | wc -c) / 16)) records"

compare 'uftrace dump --chrome' "uftrace dump --no-pager --chrome -d '$data'" \
	'trdecode | trsym | trencode -t chrome' "trdecode '$data' | trsym | trencode -t chrome" \
	'uftrace dump --flame-graph' "uftrace dump --no-pager --flame-graph -d '$data'" \
	'trdecode | trsym | trencode -t folded' "trdecode '$data' | trsym | trencode -t folded"
ratio 'dump --chrome is times slower (5)' 'trdecode | trsym | trencode -t chrome' \
	'uftrace dump --chrome'
ratio 'dump --flame-graph is times slower (8)' 'trdecode | trsym | trencode -t folded' \
	'uftrace dump --flame-graph'
sizes "trdecode $data | trsym | trencode -t chrome"

commands=()
for format in perfetto speedscope callgrind pprof ctf ndjson csv parquet; do
	commands+=("trdecode | trsym | trencode -t $format" "trdecode '$data' | trsym | trencode -t $format")
done
compare "${commands[@]}"

# The same calls as a trace of Perfetto, in
trace=$CACHE/uftrace-$rounds-$threads.pftrace
[[ -f $trace ]] || trdecode -q "$data" | trsym -q | trencode -q -t perfetto >"$trace" || exit
compare 'trdecode PFTRACE' "trdecode -q '$trace'"
trdecode -q --info "$trace" | awk -v cpu="${cpu[trdecode PFTRACE]}" '$1 == "events" {
	printf "  %-44s %8.1f M/s\n", "events (5 M/s)", $2 / cpu / 1e6 }'
sizes "trdecode -q $trace"
