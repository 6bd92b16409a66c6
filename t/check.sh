#!/bin/bash
# Run the unit tests, the kept inputs of the fuzz targets and the bats tests; the last line counts.
# usage: t/check.sh BIN BUILT [TEST...]
#        BUILT holds unit/* and fuzz/* as built. TEST: unit/SUBJECT/NAME, fuzz/NAME or t/NAME.bats; none: all
BIN=$(realpath "$1") built=$(realpath "$2")
export BIN
shift 2
cd "$(dirname "$0")/.." || exit

log=$(mktemp -d) passed=0 failed=0 skipped=0
trap 'rm -rf "$log"' EXIT

# count NAME STATUS FILE: take TAP's results; a crash or a plan not kept is one failure more.
count() {
	local ok not_ok skip plan
	ok=$(grep -c '^ok ' "$3")
	not_ok=$(grep -c '^not ok ' "$3")
	skip=$(grep -ci '^ok .*# skip' "$3")
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$3" | head -n 1)
	if ((not_ok == 0 && $2 != 0)) || [[ $plan != $((ok + not_ok)) ]]; then
		echo "not ok - $1: status $2, $((ok + not_ok)) of ${plan:-?} tests run"
		((failed++))
	fi
	# the reason up to a colon is its kind
	sed -nE 's/^ok .*# [Ss][Kk][Ii][Pp] *([^:]*).*/\1/p' "$3" >>"$log/kinds"
	((passed += ok - skip, failed += not_ok, skipped += skip))
	return 0
}

# run_unit NAME: its TAP in $log/NAME/tap, its status in $log/NAME/status
run_unit() {
	mkdir -p "$log/$1"
	timeout 120 "$built/$1" >"$log/$1/tap" 2>&1
	echo $? >"$log/$1/status"
}
export -f run_unit
export built log

# chosen FIRST...: of the names on standard input those that were chosen, FIRST before the others: what takes
# longest, so that no processor waits for it in the end
chosen() {
	awk -v chosen="${tests[*]}" -v first="$*" '
		BEGIN {
			all = !split(chosen, list, " ")
			for (i in list)
				is_chosen[list[i]]
			n = split(first, order, " ")
		}
		all || $0 in is_chosen { has[$0]; name[++count] = $0 }
		END {
			for (i = 1; i <= n; i++)
				if (order[i] in has) {
					print order[i]
					delete has[order[i]]
				}
			for (i = 1; i <= count; i++)
				if (name[i] in has)
					print name[i]
		}'
}
tests=("$@")

mapfile -t units < <(find t/unit -name '*.c' | sort | sed 's|^t/||; s|\.c$||' | chosen unit/filter/call_filter)
# shellcheck disable=SC2016 # of the shell that each starts
printf '%s\n' "${units[@]}" | xargs -r -P "$(nproc)" -I NAME bash -c 'run_unit "$0"' NAME
for name in "${units[@]}"; do
	status=$(<"$log/$name/status")
	if ((status)); then
		cat "$log/$name/tap"
	else
		echo "ok $name: $(grep -c '^ok ' "$log/$name/tap") tests"
	fi
	count "$name" "$status" "$log/$name/tap"
done

mapfile -t targets < <(printf '%s\n' t/fuzz/corpus/*/ | sed 's|^t/fuzz/corpus/|fuzz/|; s|/$||' | chosen)
for name in "${targets[@]}"; do
	[[ -f t/$name.c ]] || continue
	corpus=t/fuzz/corpus/${name#fuzz/}
	if timeout 120 "$built/$name" "$corpus"/* >"$log/fuzz" 2>&1; then
		echo "ok $name: kept inputs"
		((passed++))
	else
		echo "not ok $name: kept inputs"
		tail -n 40 "$log/fuzz"
		((failed++))
	fi
done

long=(growth memory rows_in layout perf filter_keeps filter_calls encode_chrome kernel_text perfetto apitrace chrome
	encode_split decode failure lttng large_values perf_script)
long=("${long[@]/#/t/}")
mapfile -t files < <(printf '%s\n' t/*.bats | chosen "${long[@]/%/.bats}")
if ((${#files[@]})); then
	# Within a file bats would wait a second for each test (1.8), between files it does not.
	bats --formatter tap --jobs $(($(nproc) + 2)) --no-parallelize-within-files "${files[@]}" 2>&1 | tee "$log/tap"
	count bats "${PIPESTATUS[0]}" "$log/tap"
fi

# "7 public traces, 1 no script"
kinds=$(sed 's/^$/no reason/' "$log/kinds" | sort | uniq -c | sort -rn | sed 's/^ *//' | paste -sd, | sed 's/,/, /g')
echo "$passed passed, $failed failed, $skipped skipped${kinds:+ ($kinds)}"
((failed == 0 && passed > 0))
