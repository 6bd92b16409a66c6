#!/bin/bash
# Choose inputs to keep under t/fuzz/corpus: the most edges of the target for at most KBYTES.
# usage: t/fuzz/keep.sh TARGET KBYTES OUT DIRECTORY...
target=$1 most=$2 out=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/merged" "$out"

# libFuzzer's control file has the names of the files, then STARTED number size and FT number edges.
"$target" -merge=1 -use_counters=0 -close_fd_mask=2 -timeout=10 -rss_limit_mb=1024 -max_len=40000 \
	-artifact_prefix="$work/" -merge_control_file="$work/control" "$work/merged" "$@" \
	>"$work/log" 2>&1 || tail "$work/log"
awk -v most=$((most * 1024)) '
	NR == 1 { files = $1 }
	NR > 2 && NR <= files + 2 { name[NR - 3] = $0 }
	$1 == "STARTED" { size[$2] = $3 + 1 }
	$1 == "FT" { edges[$2] = $0; rate[$2] = NF / (size[$2] + 200) }
	# what an input adds only gets less: the best by what is known is looked at again
	END {
		for (;;) {
			best = -1
			for (i in rate)
				if (best < 0 || rate[i] > rate[best])
					best = i
			if (best < 0)
				exit
			n = split(edges[best], e, " ")
			gain = 0
			for (k = 3; k <= n; k++)
				gain += !(e[k] in had)
			if (!gain || size[best] > most) {
				delete rate[best]
			} else if (gain / (size[best] + 200) < rate[best]) {
				rate[best] = gain / (size[best] + 200)
			} else {
				for (k = 3; k <= n; k++)
					had[e[k]]
				delete rate[best]
				most -= size[best]
				print name[best]
			}
		}
	}' "$work/control" | while read -r file; do cp -- "$file" "$out"; done
