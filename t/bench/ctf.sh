#!/bin/bash
# A large trace of LTTng 2 (CTF 1.8) against babeltrace2, and written as CTF 2 against CTF 1.8.
# BENCH_EVENTS=2000000 events of each of two programs
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where the trace is kept
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=t/bench/ust.bash
. "${BASH_SOURCE[0]%/*}/ust.bash"
need trdecode trstat trencode

record_ust
compare 'babeltrace2, counter' "babeltrace2 '$ctf' -c sink.utils.counter" \
	'trdecode | trstat -c count' "trdecode '$ctf' | trstat -q -g name -c count" \
	'babeltrace2, text' "babeltrace2 '$ctf'" \
	'trdecode | trencode' "trdecode '$ctf' | trencode -q"
ratio 'counting, times faster (5)' 'trdecode | trstat -c count' 'babeltrace2, counter'
ratio 'text, times faster' 'trdecode | trencode' 'babeltrace2, text'
sizes "trdecode $ctf | trstat -q -g name -c count"
sizes "trdecode $ctf | trencode -q"

# the same packets, with the metadata of each version
for version in 1.8 2; do
	[[ -d $ctf-written-$version ]] || trdecode "$ctf" |
		trencode -q -t ctf --file-version "$version" -o "$ctf-written-$version" || exit
done
compare 'CTF 1.8' "trdecode '$ctf-written-1.8'" 'CTF 2' "trdecode '$ctf-written-2'"
ratio 'CTF 2, times faster than CTF 1.8 (1)' 'CTF 2' 'CTF 1.8'
