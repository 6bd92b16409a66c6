#!/bin/bash
# Print how many lines of each part the kept inputs, and those of FOUND, reach, and the decoders' files below 80 %.
# usage: t/fuzz/coverage.sh BUILT [FOUND], the targets in BUILT being built for coverage (make
# fuzz-coverage)
built=$(realpath "$1") found=${2:+$(realpath "$2")}
corpus=$(realpath "$(dirname "$0")")/corpus
cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# part, targets, files
parts="
uftrace      uftrace,decode          cmd/trdecode/uftrace
trace-cmd    tracecmd,ring,decode    cmd/trdecode/tracecmd
apitrace     apitrace,decode         cmd/trdecode/(apitrace|glprofile)
lttng        lttng,decode            cmd/trdecode/lttng
ctf          ctf,decode              cmd/trdecode/ctf
chrome       chrome,decode           cmd/trdecode/chrome
perfetto     perfetto,decode         cmd/trdecode/perfetto
ftrace       ftrace,decode           cmd/trdecode/kernel_
rows         rows_in                 cmd/trdecode/rows_
strace       strace                  cmd/trdecode/strace
callgrind    callgrind               cmd/trdecode/callgrind
gmon         gmon                    cmd/trdecode/gmon
bpftrace     bpftrace                cmd/trdecode/bpftrace
pstats       pstats                  cmd/trdecode/pstats
ninja        ninja_log               cmd/trdecode/ninja_log
spans        services                cmd/trdecode/(services|otlp|jaeger)
streams      decode                  cmd/trdecode/stream
containers   decode                  cmd/trdecode/(input|row_filter|sorter)
reader       stream,expression       common/stream
expressions  expression,filter       cmd/trfilter
tables       stat,summary            cmd/trstat
summaries    stat,summary            cmd/trstat/summary
encoders     encode                  cmd/trencode
print-fmt    print_format,encode     common/ftrace
symbols      symbols,elf             (cmd/trsym|common/symbols/(symbols|debug_info))
demanglers   demangle                common/symbols/demangle
"

# One profile for each target, of all its inputs.
for target in "$built"/*; do
	name=$(basename "$target")
	[[ -x $target && -d $corpus/$name ]] || continue
	find "$corpus/$name" ${found:+$(ls -d "$found/$name" 2>/dev/null)} -type f -print0 |
		LLVM_PROFILE_FILE=$work/$name.raw timeout 600 xargs -0 -x -s 1000000 "$target" >"$work/log" 2>&1 ||
		tail -n 3 "$work/log"
done

# report TARGETS: "file lines missed" of each file, TARGETS separated by commas
report() {
	local name objects=() raw=()
	for name in ${1//,/ }; do
		[[ -f $work/$name.raw ]] || continue
		objects+=(${objects:+-object} "$built/$name")
		raw+=("$work/$name.raw")
	done
	llvm-profdata merge -sparse -o "$work/profile" "${raw[@]}"
	llvm-cov report -instr-profile="$work/profile" "${objects[@]}" 2>/dev/null | awk '{ print $1, $8, $9 }'
}

echo "part         lines covered"
while read -r part targets files; do
	[[ $part ]] || continue
	report "$targets" | awk -v part="$part" -v files="^$files" '$1 ~ files { lines += $2; missed += $3 }
		END { printf "%-12s %5d %5.1f %%\n", part, lines, lines ? (lines - missed) * 100 / lines : 0 }'
done <<<"$parts"

echo "files of decoders below 80 %"
report uftrace,tracecmd,ring,apitrace,lttng,ctf,chrome,perfetto,ftrace,rows_in,decode |
	awk '$1 ~ /^cmd.trdecode/ && $2 && $3 * 5 > $2 { printf "%-40s %5.1f %%\n", $1, ($2 - $3) * 100 / $2 }'
