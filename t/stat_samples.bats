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

# percents: the columns total% and self% that belong to a CSV with total and self. 100 % is the sum
# of self of a type and, with -i, an interval
percents() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ whole = ("time" in at ? $at["time"] : "") FS ("type" in at ? $at["type"] : "")
		of[NR] = whole; sum[whole] += $at["self"]; total[NR] = $at["total"]; self[NR] = $at["self"] }
		END { for (i = 2; i <= NR; i++) printf "%.3f,%.3f\n", 100 * total[i] / sum[of[i]], 100 * self[i] / sum[of[i]] }' "$1"
}

@test "trstat total_percent, self_percent: those of perf report" {
	need perf
	mkdir -p root/opt/example/pf
	gunzip -c "$DATA/perf/work.gz" >root/opt/example/pf/work
	# of named functions; arguments of templates are no part of trstat's names
	perf report --symfs root --stdio --children --sort sym -g none -i "$DATA/perf/zstd.data" 2>/dev/null |
		sed -nE 's/^ +([0-9.]+)% +([0-9.]+)% +\[[.k]\] ([^0].*)$/\1 \2 \3/p' |
		sed -E ':a; s/<[^<>]*>//; ta; s/ +$//' >perf
	(($(wc -l <perf) > 5))
	# the example of trstat(1), as TSV
	trdecode -q "$DATA/perf/zstd.data" | trsym -q --sysroot root |
		trstat -c total%,self%,count -s self% -n 200 -t tsv >have
	awk -F'\t' '$3 > last && NR > 2 { exit 1 } { last = $3 }' have
	awk -F'\t' 'function off(a, b) { return a - b > 0.0056 || b - a > 0.0056 }
		NR == FNR { total[$1] = $2; self[$1] = $3; next }
		{ split($0, v, " "); name = substr($0, length(v[1] v[2]) + 3) }
		name in total { n++; if (off(total[name], v[1]) || off(self[name], v[2])) { print name, v[1], v[2]; bad = 1 } }
		END { exit bad || n < 5 }' have perf
}

@test "trstat total_percent, self_percent: shares of the self values of all groups of a type" {
	columns=total,self,total_percent,self_percent
	trdecode -q "$DATA/uftrace/fib" >calls.trs
	for options in 'one.trs' '-g tid one.trs' '-g stack one.trs' 'two.trs' '-g type,comm,name two.trs' '-i 500ns two.trs' \
		'calls.trs' '-g tid,name calls.trs' '--since +1ms calls.trs'; do
		# shellcheck disable=SC2086
		trstat -q -t csv -c $columns $options | grep -v ',,,,$' >have
		(($(wc -l <have) > 2))
		percents have | diff - <(sed 1d have | rev | cut -d, -f 1,2 | rev)
	done
	# groups that are not printed count too; a sort key that is no column
	trstat -q -t csv -c $columns -n 3 two.trs >first
	trstat -q -t csv -c $columns two.trs | head -n 4 | diff - first
	trstat -q -t csv -c self -s total_percent one.trs | cut -d, -f 1 | diff - <(trstat -q -t csv -c total one.trs | cut -d, -f 1)
	for size in 2K 64K; do
		trdecode -q --segment $size two.trs | trstat --partial -g name,type -o two.part
		trstat --merge -q -t csv -c $columns -n 3 two.part | diff - first
	done
	# the tree has each sample once at its outermost function
	trstat -q --tree -t csv -c total_percent,self_percent one.trs | awk -F, '
		function off(a) { a -= 100; return a > 0.1 || a < -0.1 }
		NR > 1 { self += $4; if ($1 == 0) total += $3 }
		END { exit off(self) || off(total) }'
	run -2 trstat --fail-if 'self_percent(name == "f3") > 1%' two.trs
	assert_output --partial "weights of samples of 'cpu-clock' and of 'cycles' are not added"
	run -3 --separate-stderr trstat --fail-if 'self_percent(name == "f3") > 1%' --fail-if 'self_percent == 100%' one.trs
	assert_equal "$stderr" "$(printf 'trstat: self_percent(name == "f3") > 1%% is true: %s %%\ntrstat: self_percent == 100%% is true: 100.000 %%' \
		"$(trstat -q -t csv -c self% one.trs | sed -n 's/^f3,//p' | grep -o '[0-9.]*$')")"
}
