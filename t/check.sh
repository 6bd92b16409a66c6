#!/bin/bash
# Run the unit tests, the kept inputs of the fuzz targets and the bats tests; the last line counts.
# usage: t/check.sh BIN BUILT, BUILT holding unit/* and fuzz/* as built
BIN=$(realpath "$1") built=$(realpath "$2")
export BIN
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

mapfile -t units < <(find t/unit -name '*.c' | sort | sed 's|^t/||; s|\.c$||')
# the longest one first, so that no processor waits for it in the end
# shellcheck disable=SC2016 # of the shell that each starts
printf '%s\n' unit/filter/call_filter "${units[@]}" | awk '!seen[$0]++' |
	xargs -P "$(nproc)" -I NAME bash -c 'run_unit "$0"' NAME
for name in "${units[@]}"; do
	status=$(<"$log/$name/status")
	if ((status)); then
		cat "$log/$name/tap"
	else
		echo "ok $name: $(grep -c '^ok ' "$log/$name/tap") tests"
	fi
	count "$name" "$status" "$log/$name/tap"
done

for corpus in t/fuzz/corpus/*/; do
	name=fuzz/$(basename "$corpus")
	[[ -f t/$name.c ]] || continue
	if timeout 120 "$built/$name" "$corpus"/* >"$log/fuzz" 2>&1; then
		echo "ok $name: kept inputs"
		((passed++))
	else
		echo "not ok $name: kept inputs"
		tail -n 40 "$log/fuzz"
		((failed++))
	fi
done

# The files that take longest, longest first: the others keep all processors busy to the end.
long=(growth memory streams layout perf filter_keeps encode_chrome encode_split lttng merge kernel_text decode encode_svg
	damage failure apitrace)
mapfile -t files < <(printf 't/%s.bats\n' "${long[@]}" | cat - <(printf '%s\n' t/*.bats) | awk '!seen[$0]++')
# Within a file bats would wait a second for each test (1.8), between files it does not.
bats --formatter tap --jobs "$(nproc)" --no-parallelize-within-files "${files[@]}" 2>&1 | tee "$log/tap"
count bats "${PIPESTATUS[0]}" "$log/tap"

# "7 public traces, 1 no script"
kinds=$(sed 's/^$/no reason/' "$log/kinds" | sort | uniq -c | sort -rn | sed 's/^ *//' | paste -sd, | sed 's/,/, /g')
echo "$passed passed, $failed failed, $skipped skipped${kinds:+ ($kinds)}"
((failed == 0 && passed > 0))
