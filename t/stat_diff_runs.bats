# trstat --diff of many runs: OLD... -- NEW...

load lib

# tables RUN.json...: the stream, the summary and the table of each run
tables() {
	local run
	for run; do
		trdecode -o "${run%.json}.trs" "$run"
		trstat --partial -c total,count,p50,p99,avg -o "${run%.json}.part" "${run%.json}.trs"
		trstat -t csv -c total,p50,p99,avg,count -o "${run%.json}.csv" "${run%.json}.trs"
	done
}

setup_file() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_FILE_TMPDIR" || return
	python3 "$ROOT/t/tools/random_runs.py" 1 old 5
	python3 "$ROOT/t/tools/random_runs.py" 1 new 6 plan=1.25
	tables old/*.json new/*.json
	mkdir same
	cp old/*.trs same
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# model COLUMNS OLD... -- NEW...: compare the difference of runs, named without .trs, with the model
model() {
	local columns=$1 run sides=() tables=()
	shift
	for run; do
		if [ "$run" = -- ]; then
			sides+=(--)
			tables+=(--)
		else
			sides+=("$run.trs")
			tables+=("$run.csv")
		fi
	done
	trstat -q --diff -t csv -c "$columns" "${sides[@]}" |
		python3 "$ROOT/t/tools/run_changes.py" "$columns" "${tables[@]}"
}

@test "means, intervals, effects and p-values are those of an independent model" {
	run -0 model total,count,p50,p99,avg old/0{1,2,3,4,5} -- new/0{1,2,3,4,5,6}
	assert_output --partial '45 statistics, least p 0.0'
	run -0 model p50,avg old/0{1,2,3,4} -- new/0{1,2,3,4}
	run -0 model total,p50 old/01 -- new/0{1,2,3,4}
	run -0 model total,count old/0{1,2} -- new/0{1,2,3}
}

@test "the example of trstat-diff(7) prints what the page shows" {
	sed -n '/^\.Sh MANY/,/^\.Ed/p' "$ROOT/man7/trstat-diff.7" | sed -e '/^\./d' -e "s/\\\\(aq/'/g" >page
	bash -c "$(sed -n 's/^\$ //p' page)" | diff <(sed 1d page) -
}

@test "the table marks what is not significant, and has it last" {
	run -0 trstat --diff -c p50,total 'old/*.trs' -- 'new/*.trs'
	assert_line --index 0 --regexp '^ *p50 +p50_change +total +total_change +p +verdict +name$'
	assert_line --index 1 --regexp '^[0-9.]+ us +\+2[0-9]\.[0-9] % \+-[0-9.]+ % .* slower +plan$'
	for i in 2 3 4 5 6 7 8 9; do
		assert_line --index "$i" --regexp '^[0-9.]+ us +~ .* us|ms +~ [^a-z]*  [a-z]+$'
	done
	assert_line --index 10 '~ no significant change (p >= 0.05, 5 and 6 runs)'
	run -0 trstat --diff -c p50 -n 1 old/0{1,2}.trs old/03.trs old/04.trs -- same/0{1,2,3,4}.trs
	assert_line --index 1 --regexp '^[0-9.]+ us +~ \+0\.0 % \+-[0-9.]+ % +1 +[a-z]+$'
	assert_line --index 2 'no significant change in 9 groups (p >= 0.05, 4 and 4 runs)'
	# without a verdict: in the order of the larger mean
	trstat -q --diff -t csv -c total 'old/*.trs' -- 'new/*.trs' >order.csv
	run -0 awk -F, 'NR > 1 && !$NF { print ($2 > $3 ? $2 : $3) + 0 }' order.csv
	assert_equal "$(sort -rn <<<"$output")" "$output"
	[ "${#lines[@]}" -gt 5 ]
	# of the same runs nothing changes, whatever is chosen
	run -0 trstat --diff -c p50 -s +p50_p,name -n 1 -t csv 'old/*.trs' -- 'new/*.trs'
	assert_line --index 1 --regexp '^plan,.*,slower$'
}

@test "patterns in quotes, files, streams and summaries give the same; one file on each side is two traces" {
	for format in table tsv csv json ndjson; do
		trstat --diff -c total,count,p50,p99,avg -t $format old/*.trs -- new/*.trs >want 2>/dev/null ||
			trstat --diff -t $format -c total,count,p50,p99,avg 'old/*.trs' -- 'new/*.trs' >want
		run -0 trstat --diff -t $format -c total,count,p50,p99,avg 'old/*.part' -- new/*.part
		assert_output "$(<want)"
		run -0 pipe "trstat --diff -t $format 'old/0?.part' -- new/0[1-4].part 'new/0[56].part'"
		assert_output "$(<want)"
		run -0 pipe "trstat --diff -t $format -c total,count,p50,p99,avg old/0[1-5].trs -- - new/0[2-6].part <new/01.trs"
		assert_output "$(<want)"
	done
	# without -- the two patterns are the sides
	run -0 trstat --diff -t ndjson 'old/*.part' 'new/*.part'
	assert_output "$(<want)"
	trstat --diff old/01.trs new/01.trs >want
	for sides in 'old/01.trs -- new/01.trs' '-- old/01.trs new/01.trs' 'old/01.* -- new/01.trs'; do
		# shellcheck disable=SC2086
		run -0 trstat --diff ${sides//01.\*/0\[1\].trs}
		assert_output "$(<want)"
	done
}

@test "--fail-if: conditions on significant changes, on bounds of intervals, and words" {
	# plan: p50 +25 % and total +17 % +-34 %
	while IFS='|' read -r status condition; do
		run -"$status" --separate-stderr trstat --diff -c p50,total,count --fail-if "$condition" 'old/*.trs' -- 'new/*.trs'
		[[ $status != 3 ]] || assert_equal "$stderr" "trstat: $condition is true for 1 of 9 groups: plan"
	done <<-'X'
		3|p50_p < 0.05 && p50_change > 5%
		3|p50_p < 0.05
		0|total_p < 0.05 && total_change > 5%
		0|count_p < 0.05
		3|p50_low > 15%
		3|p50_low > 8us
		0|p50_low > 25%
		0|p50_high < -1%
		3|verdict == "slower"
		3|verdict == slower && p50_effect == 1
		3|slower
		3|changed
		0|faster
		0|new
		0|verdict == "changed"
	X
	run -0 trstat -q --diff -c p50 --threshold 40% --fail-if slower 'old/*.trs' -- 'new/*.trs'
	run -3 trstat -q --diff -c p50 --threshold 10% --fail-if faster 'new/*.trs' -- 'old/*.trs'
	run -0 trstat -q --diff -c p50 --fail-if 'p50_p < 0.05' 'old/*.trs' -- 'same/*.trs'
	run -2 --separate-stderr trstat --diff --fail-if 'p50_q < 1' 'old/*.trs' -- 'new/*.trs'
	[[ $stderr == *"columns such as total, total_a and total_change, those with _low, _high, _effect and _p and verdict"* ]]
}

@test "too few runs are reported, and are status 2 of what needs a significant change" {
	few=(old/0{1,2,3}.trs -- new/0{1,2,3}.trs)
	message='3 and 3 runs are too few for a significant change with --alpha 0.05: 4 and 4 are enough'
	run -0 --separate-stderr trstat --diff -c p50 "${few[@]}"
	assert_equal "$stderr" "trstat: $message"
	for condition in slower changed new 'p50_p < 0.05 && p50_change > 5%' 'verdict == "slower"'; do
		run -2 --separate-stderr trstat --diff -c p50 --fail-if "$condition" "${few[@]}"
		[[ $stderr == *"$message" && $stderr != *$'\n'* ]] || fail "$stderr"
	done
	run -3 --separate-stderr trstat -q --diff -c p50 --fail-if 'p50_low > 5%' "${few[@]}"
	# 4 of 20 ways are as clear
	run -0 --separate-stderr trstat --diff -c p50 --alpha 0.25 -s +p50_p -n 1 -t json "${few[@]}"
	assert_equal "$(jq -c '.[0] | [.name, .p50_p, .verdict]' <<<"$output")" '["plan",0.2,"slower"]'
	assert_equal "$stderr" ''
	run -2 --separate-stderr trstat --diff -c p50 --alpha 0.25 --fail-if 'p50_p < 0.05' "${few[@]}"
	[[ $stderr == *'there are too few runs for this p' ]] || fail "$stderr"
	run -0 --separate-stderr trstat --diff -c p50 --alpha 0.01 old/0{1,2,3,4}.trs -- new/0{1,2,3,4}.trs
	[[ $stderr == *': 5 and 5 are enough' ]]
	# one run of one side, which is taken to vary as the other side
	run -0 --separate-stderr trstat --diff -c p50 -t csv old/01.trs -- new/0?.trs
	assert_line --regexp '^plan,.*,0\.143,$'
}

@test "groups that are missing from runs: 0 in sums and counts, no value of averages" {
	for run in 1 2 3 4 5 6 7 8; do
		awk -v run=$run 'BEGIN {
			print "["
			if (run > 4)
				for (i = 0; i < 5; i++)
					printf "{\"ph\":\"X\",\"name\":\"added\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1},\n", 90 * i, 20 + run
			if (run == 2 || run == 7)
				print "{\"ph\":\"X\",\"name\":\"rare\",\"ts\":400,\"dur\":40,\"pid\":1,\"tid\":1},"
			printf "{\"ph\":\"X\",\"name\":\"main\",\"ts\":0,\"dur\":500,\"pid\":1,\"tid\":1}\n]\n"
		}' | trdecode -o m$run.trs
	done
	trstat --diff -c total,count,avg -t json m{1,2,3,4}.trs -- m{5,6,7,8}.trs >out
	jq -e '.[] | select(.name == "added") | .total_a == 0 and .total_b == 132500 and .count_change == 5 and
		.avg_a == null and .avg_b == 26500 and .avg_p == null and .total_p < 0.05 and .verdict == "new"' out
	jq -e '.[] | select(.name == "rare") | .total_a == 10000 and .count_b == 0.25 and .avg_a == 40000 and
		.avg_p == null and .total_p == 1 and .verdict == null' out
	jq -e '.[] | select(.name == "main") | .total_change == 0 and .total_p == 1 and .count_low == 0 and .verdict == null' out
	run -0 trstat --diff -c total m{1,2,3,4}.trs -- m{5,6,7,8}.trs
	assert_line --index 1 --regexp '^132\.500 us +from 0 +0\.029 +new +added$'
	run -3 trstat -q --diff -c count --fail-if gone m{5,6,7,8}.trs -- m{1,2,3,4}.trs
	# a run without events counts, and is reported
	trfilter -q 'name == "nope"' m1.trs >none.trs
	run -0 --separate-stderr trstat --diff -c count -t csv none.trs m{2,3,4}.trs -- m{1,5,6,7}.trs
	assert_equal "$stderr" 'trstat: none.trs: this run has no group: its sums are 0'
	assert_line --partial main,0.75,1,0.25,
}

@test "what is no run that compares is named with its reason" {
	refuse() {
		run -2 --separate-stderr trstat --diff "${@:2}"
		[[ $stderr == *"$1"* ]] || fail "$stderr"
	}
	refuse "'--' is between" old/01.trs old/02.trs new/01.trs
	refuse "takes two streams or summaries, not 2" old/01.trs old/02.trs --
	refuse 'old/01.trs: given twice' old/01.trs 'old/0*.trs' -- new/01.trs
	# the same file, by any name, on any side
	refuse 'old/05.trs: given twice' 'old/*.trs' -- new/01.trs old/05.trs
	ln -s ../old/03.trs new/last.trs
	refuse 'new/last.trs: given twice, also as old/03.trs' 'old/*.trs' -- 'new/*.trs'
	rm new/last.trs
	refuse '-: given twice, also as old/02.trs' old/0{1,2}.trs -- - new/02.trs <old/02.trs
	run -0 trstat -q --diff -c count old/01.trs -- old/01.trs
	refuse 'older/*.trs: no file has such a name' 'older/*.trs' -- 'new/*.trs'
	refuse '-n: no such file; options come before the --' 'old/*.trs' -- 'new/*.trs' -n 3
	refuse '-t svg draws two traces, not 11' -t svg 'old/*.trs' -- 'new/*.trs'
	trstat --partial --hist -o hist.sum old/01.trs
	refuse 'trstat: hist.sum: --diff cannot compare the summary of a view' hist.sum old/02.part -- 'new/*.part'
	refuse 'trstat: hist.sum: --diff cannot compare the summary of a view' old/02.part -- new/01.part hist.sum
	trstat --partial -g tid -o tid.sum old/01.trs
	refuse "tid.sum: has the keys 'tid', and not 'name' as new/01.part: use -g" 'new/*.part' -- old/01.part tid.sum
	# which file is the first does not decide the keys or the columns
	refuse "old/02.trs: has the keys 'name', and not 'tid' as tid.sum: use -g" tid.sum old/02.trs -- 'new/*.trs'
	refuse "tid.sum: has the keys 'tid', and not 'name' as old/02.trs: use -g" old/02.trs tid.sum -- 'new/*.trs'
	refuse "new/01.trs: has the columns 'total,count,p50,p99', and not 'total,count,p50,p99,avg' as old/01.part: use -c" \
		'old/*.part' -- 'new/*.trs'
	run -0 trstat --diff -t csv -c count -g tid tid.sum old/02.trs -- 'new/*.trs'
	assert_line --index 1 --regexp '^1,'
	trdecode "$DATA/apitrace/v6.trace" | tee ticks.trs >ticks2.trs
	refuse 'trstat: ticks.trs: the clock counts ticks, and not ns as that of new/01.trs: they cannot be compared' \
		'new/*.trs' -- old/01.trs ticks.trs
	refuse 'trstat: old/01.trs: the clock counts ns, and not ticks as that of ticks.trs' ticks.trs ticks2.trs -- old/01.trs
	trdecode -q "$DATA/uftrace/fib" | tee fib1.trs fib2.trs >fib3.trs
	refuse "no event has a field 'nosuch'" -c 'sum(nosuch)' fib1.trs fib2.trs -- fib3.trs
	# a field that no event of many runs has is one line
	run -0 --separate-stderr trstat --diff -g nosuch 'old/*.trs' -- 'new/*.trs'
	assert_equal "$stderr" "trstat: old/01.trs: no event has a field 'nosuch'; trdecode --list names the fields"
	head -c 300 new/01.trs >cut.trs
	run -1 --separate-stderr trstat -q --diff -c count 'old/*.trs' -- cut.trs new/02.trs
	[[ $stderr == *cut.trs* ]]
	# a run that is much longer
	echo '[{"ph":"X","name":"plan","ts":0,"dur":900000,"pid":1,"tid":1}]' | trdecode -o long.trs
	run -0 --separate-stderr trstat --diff -c count 'old/*.trs' -- 'new/*.trs' long.trs
	[[ $stderr == "trstat: long.trs: this run is "*" times as long as that of "*"; use -c rate,self_percent,avg" ]]
}
