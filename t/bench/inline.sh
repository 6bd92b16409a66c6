#!/bin/bash
# Inlined functions of a C++ program against addr2line.
# BENCH_ADDRESSES=10000 addresses of instructions of the program
# BENCH_UNITS=8         units of the program, each some 1 MB of debug information
# BENCH_REPEAT=5        times that everything is run, in turn
# BENCH_CACHE=DIR       where the program is kept
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need g++ addr2line objdump python3 trsym

addresses=${BENCH_ADDRESSES:-10000} units=${BENCH_UNITS:-8}
program=$CACHE/inline-work-$units stacks=$BENCH/../tools/program_stacks.py

if [[ ! -x $program ]]; then
	seq 0 $((units - 1)) | xargs -P "$(nproc)" -I '{}' \
		g++ -O2 -g -DUNIT='{}' -c -o "$program.{}.o" "$BENCH/inline-work.cc" || exit
	g++ -no-pie -o "$program" "$program".*.o || exit
	rm "$program".*.o
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$stacks" samples "$program" "$addresses" "$program.txt" >"$program.trs" || exit
echo "$addresses addresses of $units units, $(du -h "$program" | cut -f 1)B"

compare 'addr2line -f -i -C' "addr2line -f -i -C -e '$program' <'$program.txt'" \
	'trsym -i' "trsym -qi '$program.trs'" \
	'trsym -il' "trsym -qil '$program.trs'"
ratio 'inlined functions, against addr2line (20)' 'trsym -i' 'addr2line -f -i -C'
ratio 'with lines' 'trsym -il' 'addr2line -f -i -C'
sizes "trsym -qi $program.trs"
