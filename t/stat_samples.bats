#!/usr/bin/env bats
# trstat of samples: conditions, and frames that --where selects, against a model of the stream.
bats_require_minimum_version 1.5.0

setup() {
	load lib
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	python3 "$ROOT/t/tools/random_samples.py" 1 >one.trs
	python3 "$ROOT/t/tools/random_samples.py" 2 cycles cpu-clock+ >two.trs
}

model() {
	python3 "$ROOT/t/tools/sample_totals.py" "$@"
}

@test "trstat --fail-if: columns without parentheses count each sample once, with any keys" {
	count=$(trencode -q -t ndjson one.trs | wc -l)
	total=$(trencode -q -t ndjson -c period one.trs | jq .period | awk '{ n += $1 } END { print n }')
	f3=$(model totals one.trs | sed -n 's/,.*,f3$//p')
	(($(model totals one.trs | awk -F, '{ n += $3 } END { print n }') > count))
	for options in '' '-g name,caller' '-g comm' '-g module,comm' '-g stack' --tree --hist '--timeline 1us' '-g depth'; do
		# shellcheck disable=SC2086
		run -3 --separate-stderr trstat $options --fail-if "count == $count && total == $total && avg(tid > 0) > 0" \
			--fail-if "total(name == \"f3\") * 1000000 / total == $f3 * 1000000 / $total" one.trs
		assert_equal "${#stderr_lines[@]}" 2
	done
	trdecode -q --segment 2K one.trs | trstat --partial -g comm -o comm.part
	run -3 --separate-stderr trstat --merge --fail-if "count == $count && total == $total" comm.part
	trstat --partial -o name.part one.trs
	run -3 --separate-stderr trstat --merge --fail-if "total(name == \"f3\") == $f3" name.part
	run -2 trstat --merge --fail-if 'count > 1' name.part
	assert_output --partial "--fail-if 'count': a sample counts in a group for each of its functions; write the summaries with a key without functions, such as -g comm"
	trstat --partial -g type -o type.part one.trs
	run -2 trstat --merge --fail-if 'count > 1' type.part
	assert_output --partial "the summaries have the key type or stack; write them without"
	# samples after calls, which were counted in the table's groups
	trdecode -q "$DATA/uftrace/fib" >calls.trs
	run -2 trstat --fail-if 'count > 1' calls.trs one.trs
	assert_output --partial 'use a key without functions, such as -g comm'
	run -3 trstat -g comm --fail-if "count == $(trstat -q -g '' -c count -t tsv calls.trs | tail -n 1) + $count" calls.trs one.trs
}

@test "trstat --fail-if: weights of different types are not added" {
	run -2 trstat --fail-if 'total > 1' two.trs
	assert_output --partial "--fail-if 'total': weights of samples of 'cpu-clock' and of 'cycles' are not added; choose a type: 'total(type == \"cpu-clock\")'"
	run -2 trstat --fail-if 'max(name == "f3") > 1' two.trs
	for type in cycles cpu-clock; do
		trfilter -q "type == \"$type\"" two.trs >$type.trs
		total=$(trencode -q -t ndjson -c period $type.trs | jq .period | awk '{ n += $1 } END { print n }')
		run -3 trstat -q --fail-if "total(type == \"$type\") == $total" two.trs
		f3=$(model totals $type.trs | sed -n 's/,.*,f3$//p')
		run -3 trstat -q --fail-if "total(type == \"$type\" && name == \"f3\") == $f3" --fail-if 'count == 2000' two.trs
	done
}

@test "trstat --where: callers and depths of frames, as with the keys" {
	trstat -q -t csv -g name,caller,depth -c total,count one.trs | sed 1d >all
	for where in 'caller == "f3" $2 == "f3"' 'depth == 3 $3 == 3' 'has(caller) $2 != ""' 'depth>1&&caller!="f3" $3 > 1 && $2 != "f3"'; do
		pattern=${where#*[\")1-9] }
		trstat -q -t csv -c count --where "${where%" $pattern"}" one.trs | sed 1d | grep -v '^cycles,' | sort >have
		awk -F, "$pattern"' { n[$1] += $5 } END { for (k in n) print k "," n[k] }' all | grep -v '^cycles,' | sort | diff - have
		(($(wc -l <have) > 5))
	done
	# where no key has a frame, a sample counts once if one of its frames is selected
	for name in f3 f7; do
		model totals one.trs | grep ",$name$" | cut -d, -f 1,3 |
			diff - <(trstat -q -t csv -g type -c total,count --where "name == \"$name\"" one.trs | sed '1d; s/^cycles,//')
	done
	trencode -q -t ndjson -c stack,period one.trs | jq -c 'select(.stack | length > 3) | .period' |
		awk '{ n += $1 } END { print n "," NR }' |
		diff - <(trstat -q -t csv -g type -c total,count --where 'depth == 3' one.trs | sed '1d; s/^cycles,//')
	# a function with several frames counts in the total of its outermost one
	printf 'rec;rec;a 3\nrec;b 5\nc;b 7\n' | trdecode -f folded -o f.trs
	run -0 trstat -q -t csv -c total,self,count --where 'caller == "rec"' f.trs
	assert_output $'name,total,self,count\nb,5,5,1\na,3,3,1\nrec,0,0,1'
}
