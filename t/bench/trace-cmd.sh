#!/bin/bash
# A large trace.dat: our pipes against trace-cmd's report.
# BENCH_TRACE=FILE     a trace.dat of some million events (default: ../shared/bench/ftrace-2M-v7.dat)
# BENCH_REPEAT=5       times that everything is run, in turn
# BENCH_CACHE=DIR      where it is kept as version 6, without compression
set -u
# shellcheck source=t/bench/lib.bash
. "${BASH_SOURCE[0]%/*}/lib.bash"
need trace-cmd trdecode trstat trencode trfilter cc

trace=${BENCH_TRACE:-$BENCH/../../../shared/bench/ftrace-2M-v7.dat}
[[ -f $trace ]] || {
	echo "skipped: no ${trace##*/} (BENCH_TRACE names another trace.dat)"
	exit 0
}
data=$CACHE/trace-v6.dat
if [[ ! -f $data || $trace -nt $data ]]; then
	trace-cmd convert --file-version 6 --compression none -i "$trace" -o "$data.part" >/dev/null 2>&1 &&
		mv "$data.part" "$data" || exit
fi
echo "$(du -hL --apparent-size "$data" | cut -f 1)B," \
	"$(trdecode "$data" | trstat -q -g kind -c count -t tsv | awk 'NR > 1 { n += $2 } END { print n }') events"
cat "$data" >/dev/null

only='type == "sched_switch" && prev_pid == 0'
compare 'trace-cmd report' "trace-cmd report -i '$data'" \
	"trace-cmd report -F" "trace-cmd report -i '$data' -F 'sched_switch:prev_pid==0'" \
	'trdecode | trstat -g type' "trdecode '$data' | trstat -g type" \
	'trdecode | trfilter | trencode' "trdecode '$data' | trfilter '$only' | trencode -t text" \
	'trdecode | trencode -t text' "trdecode '$data' | trencode -t text"
ratio 'report is times slower: count (30)' 'trdecode | trstat -g type' 'trace-cmd report'
ratio 'report -F: selective text (2)' 'trdecode | trfilter | trencode' 'trace-cmd report -F'
ratio 'report: all to text (5)' 'trdecode | trencode -t text' 'trace-cmd report'
sizes "trdecode $data | trstat -g type"
sizes "trdecode $data | trfilter '$only' | trencode -t text"
sizes "trdecode $data | trencode -t text"
sizes "trdecode $data | trencode -t trace-cmd -o $CACHE/out.dat"

# The text that report prints, read back.
report=$CACHE/trace.report.txt
if [[ ! -f $report || $data -nt $report ]]; then
	trace-cmd report -i "$data" >"$report.part" 2>/dev/null && mv "$report.part" "$report" || exit
fi
compare 'trace-cmd report' "trace-cmd report -i '$data'" \
	'trdecode of its text' "trdecode -q '$report'" \
	'trdecode of its text | trstat' "trdecode -q '$report' | trstat -q -g type -c count"
ratio 'report is times slower: its text is read (3)' 'trdecode of its text' 'trace-cmd report'
ratio 'report is times slower: its text is counted' 'trdecode of its text | trstat' 'trace-cmd report'
sizes "trdecode -q $report | trstat -q -g type"

# As it was recorded: version 7, compressed; and written so.
compare 'trace-cmd report' "trace-cmd report -i '$trace'" \
	'trdecode | trstat -g type' "trdecode '$trace' | trstat -g type" \
	'trdecode | trencode -t trace-cmd' "trdecode '$trace' | trencode -t trace-cmd -o '$CACHE/out.dat'" \
	'trace-cmd convert' "trace-cmd convert --file-version 7 --compression zstd -i '$trace' -o '$CACHE/out.dat'"
ratio 'report is times slower: count' 'trdecode | trstat -g type' 'trace-cmd report'
ratio 'convert is times slower' 'trdecode | trencode -t trace-cmd' 'trace-cmd convert'
sizes "trdecode $trace | trstat -g type"
sizes "trdecode $trace | trencode -t trace-cmd -o $CACHE/out.dat"
rm -f "$CACHE/out.dat"
