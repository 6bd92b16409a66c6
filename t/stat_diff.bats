# trstat --diff: two recordings, as streams or as summaries, side by side.

load lib

# gen SHIFT OTHER: forty calls of commit of 100 to 139 us and SHIFT, as many of another function
# that never changes, and one of OTHER
gen() {
	awk -v shift="$1" -v other="$2" 'BEGIN {
		print "["
		for (i = 0; i < 40; i++) {
			t = i * 1000
			printf "{\"ph\":\"X\",\"name\":\"commit\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1},\n",
				t, 100 + i + shift
			printf "{\"ph\":\"X\",\"name\":\"same\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1},\n",
				t + 300, 50 + i * 7 % 40
		}
		printf "{\"ph\":\"X\",\"name\":\"%s\",\"ts\":99000,\"dur\":5,\"pid\":1,\"tid\":1}\n]\n", other
	}'
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	gen 0 old >a.json
	gen 20 new >b.json
	for f in a b; do
		trdecode $f.json >$f.trs || return
		trstat --partial -o $f.part $f.trs || return
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# jq on the difference: field COLUMN of the group NAME
field() {
	trstat --diff -t json "${@:3}" | jq -r --arg n "$1" ".[] | select(.name == \$n) | .$2"
}

@test "changes of columns are exact, and the shift has its sign" {
	assert_equal "$(field commit total_change a.trs b.trs)" 800000
	assert_equal "$(field commit p99_change a.trs b.trs)" 20000
	assert_equal "$(field commit total_change b.trs a.trs)" -800000
	run -0 field commit shift a.trs b.trs
	# 20 us, by the middles of buckets
	assert [ "$output" -gt 19800 -a "$output" -lt 20200 ]
	assert_equal "$(field commit shift b.trs a.trs)" "-$output"
	# of the 1600 pairs b is less in 19 + 18 + ... + 1 and the same in 20: (1390 - 190) / 1600
	assert_equal "$(field commit effect a.trs b.trs)" 0.75
	assert_equal "$(field same effect a.trs b.trs)" 0
	assert_equal "$(field same p a.trs b.trs)" 1
}

@test "what is in one only, and what changed, is said; that comes first" {
	run -0 pipe "trstat --diff -t tsv -c count a.trs b.trs | cut -f 1-5"
	assert_output "$(printf '%s\t%s\t%s\t%s\t%s\n' name count_a count_b count_change verdict \
		commit 40 40 0 slower new '' 1 '' new old 1 '' '' gone same 40 40 0 '')"
	run -0 trstat --diff b.trs a.trs -n 1
	assert_line --index 0 --regexp '^ *total +total_change +count +count_change +p50 .* verdict  name$'
	assert_line --index 1 --regexp '^4\.780 ms +-14\.3 % +40 += .* -19\.[0-9]* us +-0\.75 .* faster +commit$'
	assert_equal "${#lines[@]}" 2
	assert_equal "$(field commit verdict a.trs b.trs --threshold 10%)" slower
	assert_equal "$(field commit verdict a.trs b.trs --threshold 20%)" null
	assert_equal "$(field commit verdict a.trs b.trs --alpha 1e-9)" null
}

@test "columns that are empty in all rows are left out unless -c names them" {
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >events.trs
	run -0 pipe "trstat --diff -g type events.trs events.trs | head -n 2"
	assert_line --index 0 --regexp '^count  count_change  type$'
	assert_line --index 1 --regexp '^ *[0-9]+ +=  [a-z_]+$'
	run -0 pipe "trstat --diff -g type -c count,total events.trs events.trs | head -n 1"
	assert_output --partial 'total  total_change'
	run -0 pipe "trstat --diff -g type -t csv events.trs events.trs | head -n 1"
	assert_output --partial 'total_a,total_b'
}

@test "a threshold is a share or a factor" {
	# the median is 119.5 us, the shift 20 us: 16.7 %
	for none in 20% 1.2x; do
		assert_equal "$(field commit verdict a.trs b.trs --threshold $none)" null
	done
	for slower in 0% 1x 16% 1.16x; do
		assert_equal "$(field commit verdict a.trs b.trs --threshold $slower)" slower
	done
}

@test "-s sorts by values, changes, the test and keys" {
	order() {
		trstat --diff -s "$1" -t tsv a.trs b.trs | tail -n +2 | cut -f 1 | paste -sd ' '
	}
	assert_equal "$(order name)" 'commit new old same'
	assert_equal "$(order -name)" 'same old new commit'
	assert_equal "$(order total_change)" 'commit same new old'
	assert_equal "$(order +total_change)" 'same commit new old'
	assert_equal "$(order total_b,name)" 'commit same new old'
	assert_equal "$(order total,name)" "$(order total_b,name)"
	assert_equal "$(order count_a,-name)" 'same commit old new'
	assert_equal "$(order p)" 'same commit new old'
	assert_equal "$(order +p)" 'commit same new old'
	assert_equal "$(order effect)" 'commit same new old'
	assert_equal "$(order verdict)" 'commit new old same'
	run -2 trstat --diff -s totl_change a.trs b.trs
	assert_output --partial "'totl_change'; did you mean 'total_change'?"
	run -2 trstat --diff -s 'name,' a.trs b.trs
}

@test "summaries give what streams give, and so does one of each" {
	for format in table tsv csv json ndjson; do
		trstat --diff -t $format a.trs b.trs >want
		run -0 trstat --diff -t $format a.part b.part
		assert_output "$(<want)"
		run -0 pipe "trstat --diff -t $format a.part - <b.trs"
		assert_output "$(<want)"
	done
	run -2 trstat --diff -g tid a.part b.trs
	assert_output --partial "the summary has the keys 'name', not 'tid'"
	trstat --partial -g tid -c count -o tid.part a.trs
	run -0 trstat --diff -t tsv tid.part b.trs
	assert_line --index 1 --regexp '^1	81	81	0	'
	trstat --partial --hist -o hist.part a.trs
	run -2 trstat --diff hist.part hist.part
	assert_output 'trstat: hist.part: --diff cannot compare the summary of a view'
}

@test "--fail-if takes what changed" {
	run -3 trstat --diff --fail-if slower a.trs b.trs
	assert_output --partial '1 of 4 groups'
	run -0 trstat -q --diff --fail-if faster a.trs b.trs
	run -3 trstat -q --diff --fail-if changed a.trs b.trs
	run -3 trstat -q --diff --fail-if gone --fail-if faster a.trs b.trs
	run -0 trstat -q --diff --fail-if changed a.trs a.trs
}

@test "--fail-if: a word in a condition is refused, with the condition that compares the verdict" {
	for word in slower faster new gone changed; do
		for condition in "$word(name == \"commit\")" "!$word" "$word && total_b > 1" "$word > 5"; do
			run -2 --separate-stderr trstat --diff --fail-if "$condition" a.trs b.trs
			[[ $stderr == *"takes the word '$word' alone; a condition compares the verdict, as in 'verdict == "* ]] || fail "$stderr"
		done
	done
	run -2 --separate-stderr trstat --diff --fail-if '!slower' a.trs b.trs
	# the condition of the message
	run -3 trstat -q --diff --fail-if "$(sed "s/.*as in '//; s/'\$//" <<<"$stderr")" a.trs b.trs
	run -2 --separate-stderr trstat --diff --fail-if 'Slower' a.trs b.trs
	[[ $stderr == *"not 'Slower'; did you mean 'slower'?" ]]
	run -2 --separate-stderr trstat --diff --fail-if 'totl > 5' a.trs b.trs
	[[ $stderr == *"not 'totl'; did you mean 'total'?" ]]
	run -2 --separate-stderr trstat --diff -s slower a.trs b.trs
	[[ $stderr == *"not 'slower'"* && $stderr != *'did you mean'* ]]
}

@test "--fail-if: a verdict, or a key with few words, takes no other text" {
	for condition in 'verdict == "slowr"' 'verdict == slowr' 'verdict in {slowr}' 'verdict == "NEW"' 'verdict =~ "^slowr"'; do
		run -2 --separate-stderr trstat -q --diff --fail-if "$condition" a.trs b.trs
		[[ $stderr == *'"", slower, faster, new or gone expected, not '* ]] || fail "$stderr"
	done
	run -2 --separate-stderr trstat -q --diff -g kind --fail-if 'kind == "smaple"' a.trs b.trs
	[[ $stderr == *"did you mean 'sample'?" ]] || fail "$stderr"
	run -3 trstat -q --diff --fail-if 'verdict == slower' a.trs b.trs
	run -3 trstat -q --diff --fail-if 'verdict == ""' a.trs a.trs
}

@test "--fail-if: events of a pair that one of the traces does not declare are status 2" {
	trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >sched.trs
	for sides in 'sched.trs a.trs' 'a.trs sched.trs'; do
		for condition in new gone changed slower 'verdict == "new"' 'count_b > 1000000'; do
			# shellcheck disable=SC2086
			run -2 --separate-stderr trstat -q --diff --pair wakeup --fail-if "$condition" $sides
			[[ $stderr == 'trstat: a.trs: no pair of wakeup: the trace has no sched_'* && $stderr != *$'\n'* ]] || fail "$stderr"
		done
		# shellcheck disable=SC2086
		trstat -q --diff --pair wakeup --fail-if-empty=ok --fail-if 'count_b > 1000000' $sides
	done
	trfilter 'name == "nope"' a.trs >none.trs
	run -2 --separate-stderr trstat -q --diff --fail-if new none.trs none.trs
	assert_equal "$stderr" 'trstat: neither trace has a group'
}

@test "--fail-if tests the columns of the rows" {
	# commit: p99 from 139 to 159 us (14.4 %), total from 4780 to 5580 us (16.7 %)
	while IFS='|' read -r status condition; do
		run -"$status" --separate-stderr trstat --diff -c total,count,p99 --fail-if "$condition" a.trs b.trs
		[[ $status == 0 ]] || assert_equal "$stderr" "trstat: $condition is true for 1 of 4 groups: commit"
		run -"$status" --separate-stderr trstat --diff --fail-if "$condition" -c total,count,p99 a.part b.part
	done <<-'X'
		3|p99_change > 14%
		0|p99_change > 15%
		3|p99_change > 19us
		0|p99_change > 21us
		3|total_change == 800us
		3|16.7% < total_change && total_change < 16.8%
		3|total_b > 1.1 * total_a
		3|name == "commit" && total > 5.5ms
		3|verdict == "slower"
		3|p < 0.01 && shift >= 19us && effect == 0.75
		0|total_change < -10%
		0|count_change != 0
	X
	run -3 trstat -q --diff --fail-if 'total_change < -14%' b.trs a.trs
	run -3 trstat --diff -g tid,name -c total --fail-if 'total_a > 1ns' a.trs b.trs
	assert_output --partial 'total_a > 1ns is true for 3 of 4 groups: 1,commit 1,'
	# of words and conditions, each may be given
	run -3 trstat --diff --fail-if faster --fail-if 'p99_change > 14%' a.trs b.trs
	run -0 trstat -q --diff --fail-if faster --fail-if 'p99_change > 15%' a.trs b.trs
	run -2 --separate-stderr trstat --diff --fail-if 'name == "comit" && p99_change > 14%' a.trs b.trs
	assert_equal "$stderr" "trstat: --fail-if 'name == \"comit\" && p99_change > 14%': no group matches its condition on name"
}

@test "too few calls for a verdict are reported" {
	for n in 2 3 4 8; do
		awk -v n=$n 'BEGIN { print "["; for (i = 0; i < n; i++) printf "{\"ph\":\"X\",\"name\":\"f\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1}%s\n", i * 1000, 10 + i, i < n - 1 ? "," : "]" }' |
			trdecode -o few.trs
		awk -v n=$n 'BEGIN { print "["; for (i = 0; i < n; i++) printf "{\"ph\":\"X\",\"name\":\"f\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1}%s\n", i * 1000, 100 + i, i < n - 1 ? "," : "]" }' |
			trdecode -o slow.trs
		run --separate-stderr trstat --diff --fail-if slower few.trs slow.trs
		# (n^2 / 2 - 0.5) / sqrt(n^2 (2n + 1) / 12) is 1.16, 1.75, 2.17 and 3.31; 2.58 is needed
		if [ $n -lt 8 ]; then
			# no group can have a verdict: the gate cannot fail
			assert_equal "$status" 2
			assert_equal "$stderr" "trstat: 1 of 1 group with times has too few calls for a verdict with --alpha 0.01; --fail-if tests changes too, such as 'p99_change > 10%'"
		else
			assert_equal "$status" 3
			assert_equal "$stderr" 'trstat: slower is true for 1 of 1 group: f'
		fi
	done
	run -3 --separate-stderr trstat -q --diff --alpha 0.1 --fail-if slower few.trs slow.trs
	run -2 --separate-stderr trstat --diff --fail-if faster a.trs slow.trs
	assert_equal "$stderr" 'trstat: no group has times in both traces: none is slower or faster'
	# with many groups the correction needs more calls
	run -0 --separate-stderr trstat --diff a.trs b.trs
	assert_equal "$stderr" ''
}

# calls N TIME NAME: a stream with N calls of TIME us and more
calls() {
	awk -v n="$1" -v time="$2" -v name="$3" 'BEGIN {
		print "["
		for (i = 0; i < n; i++)
			printf "{\"ph\":\"X\",\"name\":\"%s\",\"ts\":%d,\"dur\":%d,\"pid\":1,\"tid\":1}%s\n",
				name, i * 1000, time + i, i < n - 1 ? "," : "]"
	}' | trdecode
}

@test "--fail-if: a verdict that no group can have is status 2, for words and for conditions" {
	calls 3 10 f >few.trs
	calls 3 100 f >few_slow.trs
	calls 40 10 f >many.trs
	calls 40 100 f >many_slow.trs
	calls 40 100 g >other.trs
	# STATUS for too few calls, no common group, no difference, a slower group | what tests it
	while IFS='|' read -r statuses words; do
		case=0
		for files in 'few.trs few_slow.trs' 'many.trs other.trs' 'many.trs many.trs' 'many.trs many_slow.trs'; do
			args=()
			for word in $words; do
				args+=(--fail-if "${word//\~/ }")
			done
			# shellcheck disable=SC2086
			run --separate-stderr trstat -q --diff "${args[@]}" $files
			assert_equal "$words $files $status" "$words $files ${statuses:case:1}"
			[ "$status" = 0 ] || [ -n "$stderr" ] || fail "$words $files: no message"
			case=$((case + 1))
		done
	done <<-'X'
		2203|slower
		2200|faster
		2303|changed
		0300|gone
		2203|slower gone
		2203|faster slower
		2203|verdict~==~"slower"
		2203|verdict~==~"slower"~&&~count_b~>~2
		0203|verdict~==~"slower"~&&~count_b~>~39
		2203|verdict~==~"slower"~||~verdict~==~"new"~&&~total_b~<~1ns
		2303|verdict~in~{"slower",~"gone"}
		2303|verdict~!=~""
		0300|verdict~==~"gone"
		2333|!(verdict~==~"faster")
		2203|p~<~0.001
		0200|p~<~0.001~&&~effect~<~0
	X
	run -2 --separate-stderr trstat -q --diff --fail-if 'verdict == "slower"' few.trs few_slow.trs
	assert_equal "$stderr" "trstat: --fail-if 'verdict == \"slower\"': 1 of 1 group with times has too few calls for a verdict with --alpha 0.01; --fail-if tests changes too, such as 'p99_change > 10%'"
	run -2 --separate-stderr trstat -q --diff --fail-if 'verdict == "slower"' many.trs other.trs
	assert_equal "$stderr" "trstat: --fail-if 'verdict == \"slower\"': no group has times in both traces: none is slower or faster"
	# one group can have a verdict, but not that of the condition
	run -0 trstat -q --diff --fail-if 'verdict == "faster"' a.trs b.trs
	run -2 --separate-stderr trstat -q --diff --fail-if 'name == "old" && verdict == "slower"' a.trs b.trs
	assert_equal "$stderr" "trstat: --fail-if 'name == \"old\" && verdict == \"slower\"': no group that is compared has times in both traces"
	run -0 trstat -q --diff --fail-if-empty=ok --fail-if 'verdict == "slower"' --fail-if slower few.trs few_slow.trs
}

@test "a real recording: values are those of the tables, and of itself there is no change" {
	for f in basic-pg basic-fentry; do
		trdecode "$RECORDED/uftrace/$f" | trsym >$f.trs
		trstat -q -t tsv -g name -c total,count,p99 -s name $f.trs | tail -n +2 | sort >$f.tsv
	done
	trstat -q --diff -t tsv -c total,count,p99 basic-pg.trs basic-fentry.trs | tail -n +2 >both.tsv
	for side in basic-pg:2,5,8:3 basic-fentry:3,6,9:2; do
		IFS=: read -r file columns other <<<"$side"
		diff "$file.tsv" <(cut -f 1,"$columns" both.tsv | grep -vP '^[^\t]*\t\t\t$' | sort)
	done
	awk -F '\t' '$2 != "" && $3 != "" && $4 != $3 - $2 { exit 1 }' both.tsv
	run -0 pipe "trstat -q --diff -t tsv basic-pg.trs basic-pg.trs | cut -f 14,16,19 | tail -n +2 | sort -u"
	refute_output --regexp 'slower|faster|new|gone'
}

@test "a file with other keys or columns is named, and so are they" {
	trdecode "$DATA/uftrace/fib" | trsym >keys.trs
	trstat -q --partial -g tid,name -c count keys.trs >keys.part
	run -2 trstat --diff keys.trs keys.part
	assert_output "trstat: keys.part: has the keys 'tid,name', and not 'name' as keys.trs: use -g"
	trstat -q --partial -c count keys.trs >keys.part
	run -2 trstat --diff keys.trs keys.part
	assert_output --partial "keys.part: has the columns 'count', and not '"
}

@test "what does not go with --diff is named" {
	run -2 trstat --diff a.trs
	assert_output --partial 'two streams or summaries, not 1'
	run -2 trstat --diff a.trs no-such-file
	assert_output --partial 'no-such-file'
	for other in --tree --merge --partial '-i 1' '-t prom' --bounds '--where pid==1' '--since 1' '--until 1'; do
		# shellcheck disable=SC2086
		run -2 trstat --diff $other a.trs b.trs
		assert_output --partial 'does not go with --diff'
	done
	run -2 trstat --threshold 5% a.trs
	assert_output --partial '--threshold goes with --diff'
	run -2 trstat --fail-if slower a.trs
	assert_output --partial 'goes with --diff'
	for share in -5% 5 0.05 0.9x x % 5%% ''; do
		run -2 trstat --diff --threshold "$share" a.trs b.trs
		assert_output --partial "--threshold takes a share such as 5% or a factor such as 1.05x, not '$share'"
	done
	run -2 trstat --diff --alpha 2 a.trs b.trs
	head -c 300 b.trs >cut.trs
	run -1 trstat -q --diff a.trs cut.trs
	trdecode "$DATA/apitrace/v6.trace" >ticks.trs
	run -2 trstat --diff a.trs ticks.trs
	assert_output 'trstat: ticks.trs: the clock counts ticks, and not ns as that of a.trs: they cannot be compared'
}

# picture A B: draw the difference of two streams, and compare it with their stacks, A.stacks and B.stacks
picture() {
	trstat -q --diff -t svg -o x.svg "$1.trs" "$2.trs"
	python3 "$ROOT/t/tools/flame_diff.py" x.svg "$1.stacks" "$2.stacks"
	xmllint --noout x.svg
}

@test "-t svg: widths, colours and values are those of the stacks of both traces" {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR"
	for seed in 1 2; do
		python3 "$ROOT/t/tools/random_samples.py" $seed >$seed.trs
		python3 "$ROOT/t/tools/sample_totals.py" tree $seed.trs |
			awk -F, '$2 > 0 { print $4 " " $2 }' >$seed.stacks
	done
	picture 1 2
	picture 2 1
	# the same trace twice: nothing has a colour
	picture 1 1
	assert_equal "$(grep -o 'fill="#......"' x.svg | sort -u)" 'fill="#f0f0f0"'
	need uftrace
	for name in basic-pg basic-cyg deep-1024 exc-pg; do
		uftrace dump --no-pager --flame-graph --sample-time 1 -d "$RECORDED/uftrace/$name" >$name.stacks
		trdecode "$RECORDED/uftrace/$name" | trsym >$name.trs
	done
	picture basic-pg basic-cyg
	picture exc-pg basic-pg
	# summaries, too
	for name in basic-pg basic-cyg; do
		trstat --partial -g stack -c self -o $name.part $name.trs
	done
	trstat -q --diff -t svg -o y.svg exc-pg.trs basic-pg.trs
	cmp x.svg y.svg
	trstat -q --diff -t svg --title both -o x.svg basic-pg.trs basic-cyg.trs
	trstat -q --diff -t svg --title both basic-pg.part basic-cyg.part | cmp - x.svg
}

@test "-t svg goes with --diff, and draws one type of samples" {
	cd "$BATS_TEST_TMPDIR"
	python3 "$ROOT/t/tools/random_samples.py" 1 cycles cpu-clock+ >two.trs
	run -2 trstat --diff -t svg two.trs two.trs
	assert_output --partial "choose a type with trfilter 'type == "
	run -2 trstat -t svg two.trs
	assert_line 'trstat: -t svg goes with --diff, --hist, --timeline, --heatmap; trencode -t svg draws one trace'
	for option in '-g name' '-c count' '-n 3' '-s self' '--pair wakeup'; do
		# shellcheck disable=SC2086
		run -2 trstat --diff -t svg $option two.trs two.trs
		assert_line --partial 'it goes with none of -g, -c, -n, -s and --pair'
	done
	# nothing in one of them
	trfilter -q 'name == "none"' "$BATS_FILE_TMPDIR/a.trs" >none.trs
	trstat -q --diff -t svg "$BATS_FILE_TMPDIR/a.trs" none.trs | grep -q '<title>all (0 ns, '
	trstat -q --diff -t svg none.trs "$BATS_FILE_TMPDIR/a.trs" |
		grep -q '<title>commit (4.78 ms, .*; before 0 ns, 0.00%)</title>.*fill="#f07373"'
}
