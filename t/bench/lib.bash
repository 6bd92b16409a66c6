# What the benchmarks share: measure commands side by side, print times, ratios and sizes.
# shellcheck shell=bash

BENCH=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
CACHE=${BENCH_CACHE:-${TMPDIR:-/tmp}/trutils-bench-$UID}
REPEAT=${BENCH_REPEAT:-5}
mkdir -p "$CACHE"
export LC_ALL=C
declare -A wall cpu

RUN=$CACHE/run
cc -O2 -o "$RUN" "$BENCH/run.c" || exit

# need TOOL...: end well, saying so, where a peer is not installed
need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || {
			echo "skipped: no $tool"
			exit 0
		}
	done
}

# once COMMAND: "wall cpu kilobytes status" of it
once() {
	{ "$RUN" "$1" 3>&1 >/dev/null 2>"$CACHE/err"; } || return
}

# compare NAME COMMAND [NAME COMMAND]...: run all in turn REPEAT times and keep the best of each
compare() {
	local i k w c status
	local -a pairs=("$@")
	for ((k = 0; k < $#; k += 2)); do
		unset "wall[${pairs[k]}]" "cpu[${pairs[k]}]"
	done
	for ((i = 0; i < REPEAT; i++)); do
		for ((k = 0; k < $#; k += 2)); do
			read -r w c _ status < <(once "${pairs[k + 1]}")
			((status == 0)) || {
				echo "failed ($status): ${pairs[k + 1]}"
				tail -n 3 "$CACHE/err"
				exit 1
			}
			best wall "${pairs[k]}" "$w"
			best cpu "${pairs[k]}" "$c"
		done
	done
	for ((k = 0; k < $#; k += 2)); do
		printf '  %-44s %8.3f s wall %8.3f s CPU\n' "${pairs[k]}" "${wall[${pairs[k]}]}" "${cpu[${pairs[k]}]}"
	done
}

# best ARRAY NAME VALUE: keep the lower one
best() {
	local -n of=$1
	if [[ -z ${of[$2]-} ]] || awk -v a="$3" -v b="${of[$2]}" 'BEGIN { exit a >= b }'; then
		of[$2]=$3
	fi
}

# ratio TEXT NAME OTHER: how many times the time of NAME that of OTHER is
ratio() {
	awk -v t="$1" -v w1="${wall[$2]}" -v w2="${wall[$3]}" -v c1="${cpu[$2]}" -v c2="${cpu[$3]}" \
		'BEGIN { printf "  %-44s %8.2f   wall %8.2f   CPU\n", t, w2 / (w1 > 0 ? w1 : 0.001), c2 / (c1 > 0 ? c1 : 0.001) }'
}

# sizes PIPELINE: largest resident size of each program of it, a pipe of programs without quotes
sizes() {
	local stage pipeline='' n=0
	local -a stages names
	IFS='|' read -r -a stages <<<"$1"
	for stage in "${stages[@]}"; do
		names[n]=$(awk '{ print $1 }' <<<"$stage")
		pipeline+="${pipeline:+ | }'$RUN' -r '$CACHE/size.$n' $stage"
		n=$((n + 1))
	done
	bash -o pipefail -c "$pipeline" >/dev/null 2>"$CACHE/err" || {
		echo "failed: $1"
		return 1
	}
	for ((n = 0; n < ${#names[@]}; n++)); do
		printf '  %s %d.%d MB' "${names[n]}" $(($(<"$CACHE/size.$n") / 1024)) \
			$(($(<"$CACHE/size.$n") % 1024 * 10 / 1024))
	done
	echo
}
