#!/bin/bash
# Large legacy LTTng traces against babeltrace2 on LTTng 2's own format, with events of the same
# fields, in events a second.
# BENCH_MB=100         size of our traces
# BENCH_EVENTS=2000000 events of each of two programs in the other one
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where traces are kept
# GEN_LTTNG=FILE       the generator of large traces (needs python3-numpy)
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=t/bench/ust.bash
. "${BASH_SOURCE[0]%/*}/ust.bash"
need trdecode trstat trencode

mb=${BENCH_MB:-100}
generator=${GEN_LTTNG:-$BENCH/../../../shared/bench/gen-lttng.py}
[[ -f $generator ]] || {
	echo 'skipped: no generator of large traces (GEN_LTTNG)'
	exit 0
}

# generate VERSION OPTION...: a trace of that version; sets data and events
generate() {
	data=$CACHE/lttng-$1-$mb
	if [[ ! -f $data.events ]]; then
		/usr/bin/python3 "$generator" "$data" --big --mb "$mb" --cpus 2 --version "$@" >"$data.said" || {
			echo 'skipped: the generator does not run'
			exit 0
		}
		sed -n 's/.* \([0-9]*\) events in .*/\1/p' "$data.said" >"$data.events"
	fi
	events=$(<"$data.events")
}

# rates EVENTS NAME OTHER_EVENTS OTHER WHAT: events a second of both, and their ratio
rates() {
	awk -v n="$1" -v w="${wall[$2]}" -v c="${cpu[$2]}" -v on="$3" -v ow="${wall[$4]}" \
		-v oc="${cpu[$4]}" -v t="$5" -v other="$4" -v name="$2" 'BEGIN {
		printf "  %-44s %8.2f M/s wall %8.2f M/s CPU\n", name, n / w / 1e6, n / c / 1e6
		printf "  %-44s %8.2f M/s wall %8.2f M/s CPU\n", other, on / ow / 1e6, on / oc / 1e6
		printf "  %-44s %8.2f   wall %8.2f   CPU\n", t, n / w / (on / ow), n / c / (on / oc)
	}'
}

record_ust
babeltrace2 "$ctf" | head -n 3
for version in 2.6 1.0; do
	generate "$version"
	echo "$version: $events events, $(du -sh "$data" | cut -f 1)B"
	trdecode "$data" | trencode -q | sed -n '1000,1002p'
	compare 'babeltrace2, counter' "babeltrace2 '$ctf' -c sink.utils.counter" \
		'trdecode | trstat -c count' "trdecode '$data' | trstat -q -g name -c count" \
		'trdecode | trstat -g type -c count' "trdecode '$data' | trstat -q -g type -c count" \
		'trdecode | trstat' "trdecode '$data' | trstat -q"
	for name in 'trdecode | trstat -c count' 'trdecode | trstat -g type -c count' 'trdecode | trstat'; do
		rates "$events" "$name" "$theirs" 'babeltrace2, counter' 'times the events a second (6)'
	done
	sizes "trdecode $data | trstat -q -g name -c count"
	sizes "trdecode $data | trstat -q"
	compare 'babeltrace2, text' "babeltrace2 '$ctf'" \
		'trdecode | trencode' "trdecode '$data' | trencode -q"
	rates "$events" 'trdecode | trencode' "$theirs" 'babeltrace2, text' 'times the events a second (4)'
	sizes "trdecode $data | trencode -q"
done
sizes "babeltrace2 $ctf"
