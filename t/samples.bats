#!/usr/bin/env bats
# Samples: their sums against a model that reads the stream by the page, folded stacks against their own sums.
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

# sums KEY OPTION...: trstat's sums by that key, as the model prints them
sums() {
	trstat -q -t csv -c total,self,count -g "$1" "${@:2}" | sed 1d |
		awk -F, '{ print $2 "," $3 "," $4 "," $1 }' | LC_ALL=C sort
}

@test "trstat: total, self and count of functions are those of the model" {
	diff <(model totals one.trs) <(sums name one.trs)
}

@test "trstat -g stack and --tree: those of all stacks" {
	diff <(model tree one.trs) <(sums stack one.trs)
	diff <(model tree one.trs | cut -d, -f1-3 | sort) \
		<(trstat -q -t csv --tree -c total,self,count one.trs | sed 1d | cut -d, -f3-5 | sort)
}

@test "trstat --callees: the part of the tree below a function; --callers: its callers" {
	trstat -q --callees f3 -t csv -c total one.trs | sed -n '2{s/.*,//;p}' >callees
	trstat -q --callers f3 -t csv -c total one.trs | sed -n '2{s/.*,//;p}' >callers
	model totals one.trs | sed -n 's/,.*,f3$//p' >want
	cmp callers want
	# F in F is another row of --callees
	(($(<callees) <= $(<want)))
}

@test "trstat --callers: a sample counts once, with the callers of its outermost call" {
	for function in f3 f7; do
		model callers=$function one.trs >want
		(($(wc -l <want) > 10))
		# the rows are a tree: the path of each from the depths
		trstat -q --callers $function -t csv -c total,self,count one.trs | sed 1d |
			awk -F, '{ at[$1] = $2; path = at[0]
				for (i = 1; i <= $1; i++) path = path ";" at[i]
				print $3 "," $4 "," $5 "," path }' | LC_ALL=C sort | diff want -
		# as summaries of parts too
		trdecode -q --segment 2K one.trs | trstat -q --partial --callers $function -c total,self,count |
			trstat -q --merge -t csv --callers $function >parts
		trstat -q --callers $function -t csv -c total,self,count one.trs | diff parts -
		# the first row is that of the function in the table
		columns=total,self,count,total_avg,total_max,self_max,self_stdev,total_stdev,p50,p99
		diff <(trstat -q --callers $function -t csv -c $columns one.trs | sed -n 2p | cut -d, -f 2-) \
			<(trstat -q -t csv -c $columns one.trs | grep "^$function,")
		model totals one.trs | grep ",$function$" | diff - <(head -2 parts | awk -F, 'NR == 2 { print $3 "," $4 "," $5 "," $2 }')
	done
}

@test "trstat: a sample counts once in each row: functions of one name or module" {
	# f0 to f4, each in three modules, as perf script prints them
	awk 'BEGIN { srand(7); for (i = 1; i <= 300; i++) {
		printf "work %d [000] %d.%06d: %7d cycles: \n", 100 + i % 3, i, i, 1 + int(rand() * 999)
		for (n = 1 + int(rand() * 12); n > 0; n--) {
			f = int(rand() * 5); m = int(rand() * 3)
			printf "\t%16x f%d+0x4 (/lib/m%d.so)\n", 4096 * (1 + 8 * f + m), f, m
		}
		print "" } }' >text
	trdecode -f perf-script -o m.trs text
	for key in name module; do
		awk -v by=$key 'NF && !/^\t/ { weight = $5; number++; inner = "" }
			/^\t/ { k = $2; sub(/\+.*/, "", k); if (by == "module") { k = $3; gsub(/[()]/, "", k) }
				if (inner == "") { inner = k; self[k] += weight }
				if (seen[k] != number) { seen[k] = number; total[k] += weight; count[k]++ } }
			END { for (k in total) print k "," total[k] "," self[k] + 0 "," count[k] }' text | sort >want
		(($(wc -l <want) >= 3))
		# summed by stacks; each sample by itself, by its functions and by its frames
		for column in '' ,first ',sum(period)'; do
			trstat -q -t csv -g $key -c "total,self,count$column" m.trs | sed 1d | cut -d, -f 1-4 | sort | diff want -
		done
	done
	trstat -q -t csv -g name,caller -c total m.trs | sed 1d | awk -F, '{ n[$1] += $3 } END { for (k in n) print k "," n[k] }' |
		sort | diff <(trstat -q -t csv -g name -c total m.trs | sed 1d | sort) -
}

@test "trstat: the sums of parts are those of the whole" {
	trdecode -q --segment 2K one.trs >parts.trs
	(($(grep -ac trstrm1: parts.trs) > 5))
	for key in name stack comm name,tid; do
		diff <(trstat -q -t csv -c total,self,count,p50,max -g $key one.trs) \
			<(trstat --partial -g $key -c total,self,count,p50,max parts.trs | trstat -q --merge -t csv)
	done
}

@test "trstat: samples summed by their stacks give the table of single samples" {
	# the column first needs each sample
	columns=count,total,total_avg,total_min,total_max,self,self_avg,self_min,self_max,p50,p99
	python3 "$ROOT/t/tools/random_samples.py" 3 a b+ c d+ e f >six.trs
	for key in name name,type module,name,type type; do
		for stream in one two six; do
			[[ $stream != one && $key != *type* ]] && continue
			trstat -q -t csv -g $key -c $columns $stream.trs >summed
			trstat -q -t csv -g $key -c $columns,first $stream.trs >single
			(($(wc -l <summed) > 1))
			diff summed <(sed 's/,[^,]*$//' single)
		done
	done
	diff <(trstat -q -t csv -c $columns -i 100ns one.trs) \
		<(trstat -q -t csv -c $columns,first -i 100ns one.trs | sed 's/,[^,]*$//')
}

@test "trstat: samples of several types are not added up" {
	trstat -q -t csv -c total,self,count two.trs | sort >both
	for type in cycles cpu-clock; do
		trfilter -q "type == \"$type\"" two.trs >$type.trs
		grep ",$type," both | sed "s/\([^,]*\),[^,]*,\(.*\)/\2,\1/" | sort >have
		model totals $type.trs | sort >want
		diff want have
	done
	diff <(trstat -q -t csv two.trs) <(trstat --partial two.trs | trstat -q --merge -t csv)
	diff <(trstat -q -t csv --tree two.trs) <(trstat --partial --tree two.trs | trstat -q --merge -t csv)
}

@test "trstat: rows of samples of one type are together, the largest first, with the sums of perf script" {
	# the weight of the samples of each type whose innermost frame has that address
	zcat "$DATA/perf/two.txt.gz" | awk '
		/: +[0-9]+ +(cycles|instructions): *$/ { weight = $4; type = $5; sub(/:/, "", type); innermost = 1; next }
		innermost { n[type " " $0] += weight; innermost = 0 }
		END { for (k in n) { split(k, word, " "); print word[1] "," n[k] } }' | sort >want
	[ "$(wc -l <want)" -gt 100 ]
	trdecode -q "$DATA/perf/two.data.gz" -o two.trs
	for options in '' '-g name,type' '-s -total'; do
		# shellcheck disable=SC2086
		trstat -q -t csv $options -c self,total two.trs | sed 1d | grep -v PERF_RECORD >rows
		awk -F, -v OFS=, '$3 { print $2, $3 }' rows | sort | diff want -
		cut -d , -f 2 rows | uniq >types
		[[ $options != *-s* ]] || continue
		assert_equal "$(sort <types)" $'cycles\ninstructions'
		for type in cycles instructions; do
			grep ",$type," rows | cut -d , -f 3 | sort -rnc
		done
	done
	# a given order is kept; events without a weight are last; parts have the order of the whole
	[ "$(wc -l <types)" -gt 2 ]
	cut -d , -f 4 rows | sort -rnc
	trstat -q -t csv two.trs | tail -n 1 | grep -q PERF_RECORD
	diff <(trstat -q two.trs) <(trstat --partial two.trs | trstat -q --merge)
}

@test "trstat: weights that are no times are plain numbers; keys without a function count a sample once" {
	run -0 trstat -q -g comm one.trs
	assert_line --index 0 --regexp '^ *total \[cycles\] +self \[cycles\] +count  comm$'
	assert_equal "$(trstat -q -t csv -c count -g type one.trs | tail -1)" cycles,2000
	trfilter -q 'type == "cpu-clock"' two.trs | trstat -q -c total >out
	grep -qE ' (ms|s)  f3 ' out
}

@test "trstat: weights of recordings without times are no ticks: numbers, or times where the type weighs time" {
	for type in cycles cpu-clock; do
		# of the same samples with a time and without one, as perf script prints them
		awk -v type=$type 'BEGIN { srand(3); for (i = 1; i <= 50; i++)
			printf "work 7 %d.000001: %7d %s: \n\t%16x f%d+0x4 (/lib/m.so)\n\n", i, 1000 * int(rand() * 999), type, 4096 + 8 * (i % 3), i % 3
			}' >timed.txt
		sed 's/ [0-9]*\.000001://' timed.txt >timeless.txt
		for name in timed timeless; do
			trdecode -f perf-script -o $name.trs $name.txt
			trstat --partial -o $name.part $name.trs
			{
				trstat -q $name.trs
				trstat -q -c total,self,total_max,p50 $name.trs
				trstat -q --merge $name.part
				trstat -q --hist $name.trs
				trstat -q --diff -c total $name.trs $name.trs
				trstat -q --diff -t svg $name.trs $name.trs | grep -F '<title>'
				trstat -q -t prom -c total,self,p50 $name.trs
				trstat -q --hist -t prom $name.trs
				trencode -q -t svg $name.trs | grep -F '<title>'
			} >$name.out
		done
		run cat timeless.out
		refute_output --partial ticks
		assert_output --partial f2
		diff timed.out timeless.out
		# cycles are no seconds, ns are
		[[ $type = cycles ]] || assert_output --regexp ' us  f2'
		[[ $type = cpu-clock ]] || refute_output --regexp '_seconds| [mu]?s( |,|$)'
	done
	# weights are compared with times if they are times
	us=$(awk '{ n += $3 } END { print n / 1000 }' <(grep clock timeless.txt))
	run -3 trstat -q --fail-if "total == ${us}us && count(dur > 100us) > 1" timeless.trs
	run -0 trstat -q -t csv -c count --where 'dur > 100us' timeless.trs
	assert_output "$(trstat -q -t csv -c count --where 'dur > 100000' timeless.trs)"
	for condition in 'first > 1s' 'count(time > 1s) > 1' 'total > 1s && last > 1s'; do
		run -2 trstat --fail-if "$condition" timeless.trs
		assert_output --partial 'counts ticks'
	done
	run -2 trstat --where 'time > 1s' timeless.trs
	sed 's/task-clock\|cpu-clock/cycles/' timeless.txt | trdecode -f perf-script -o cycles.trs
	run -2 trstat --fail-if 'total > 1s' cycles.trs
	assert_output --partial 'counts ticks'
	# times themselves are ticks
	run trstat -q -c total,first timeless.trs
	assert_line --index 0 --regexp 'total  first \[ticks\]'
}

@test "svg --by-time of samples without times: widths and the axis count what the samples count" {
	printf 'a;b 300\na;b 100\na;c 600\n' | trdecode -f folded >x.trs
	trencode -q -t svg --by-time x.trs >x.svg
	run grep -E '<title>|class="tick"' x.svg
	assert_output --partial '<title>a (1000 samples at 0 samples, 100.00%)'
	assert_output --partial '<title>b (400 samples at 0 samples, 40.00%)'
	assert_output --partial '<title>c (600 samples at 400 samples, 60.00%)'
	refute_output --partial ' ticks'
	xmllint --noout x.svg
	# a type with any name; weights that are times; two threads take turns
	printf '%s 7 \t %s %s: \n\t1000 %s+0x0 (/m)\n\n' p 100 'my"<ev' f p 300 'my"<ev' g >any.txt
	sed 's/my"<ev/task-clock/; $!b' any.txt >clock.txt
	printf 'q 8 \t 600 task-clock: \n\t1000 h+0x0 (/m)\n\n' >>clock.txt
	for name in any clock; do
		trdecode -f perf-script -o x.trs $name.txt
		trencode -q -t svg --by-time x.trs >$name.svg
		xmllint --noout $name.svg
	done
	grep -qF '<title>g (300 my&quot;&lt;ev at 100 my&quot;&lt;ev, 75.00%)' any.svg
	grep -qF 'data-unit="my&quot;&lt;ev"' any.svg
	grep -qF '<title>h (600 ns at 400 ns, 60.00%)' clock.svg
}

@test "folded: a first line that is longer than what is looked at to find the format" {
	printf 'main;%s 3\nmain;b 4\n' "$(head -c 5000 /dev/zero | tr '\0' f)" >long.folded
	run -0 pipefail "trdecode -f folded long.folded | trstat -g type -c count,self -t tsv"
	assert_line $'samples\t2\t7'
}

@test "folded: the stacks of the model, below the names of threads" {
	diff <(model folded one.trs) <(trencode -q -t folded one.trs)
	trencode -q -t folded one.trs | trdecode -q - | trencode -q -t folded >again
	diff <(trencode -q -t folded one.trs) again
}

@test "folded --weight: count, period, a field; and what it refuses" {
	assert_equal "$(trencode -q -t folded --weight count one.trs | awk '{ n += $NF } END { print n }')" \
		"$(trencode -q -t ndjson one.trs | wc -l)"
	diff <(trencode -q -t folded one.trs) <(trencode -q -t folded --weight period one.trs)
	assert_equal "$(trencode -q -t folded --weight bytes one.trs | awk '{ n += $NF } END { print n }')" \
		"$(trencode -q -t ndjson -c bytes one.trs | jq .bytes | awk '{ n += $1 } END { print n }')"
	run -2 trencode -t folded --weight nothing one.trs
	assert_line --partial "'cycles' has no field 'nothing'"
	run -2 trencode -t folded --weight dur one.trs
	assert_line --partial "the trace has samples"
	trdecode -q "$DATA/uftrace/fib" >calls.trs
	run -2 trencode -t folded --weight period calls.trs
	assert_line --partial "the trace has calls"
	diff <(trencode -q -t folded calls.trs) <(trencode -q -t folded --weight dur calls.trs)
	assert_equal "$(trencode -q -t folded --weight count calls.trs | awk '{ n += $NF } END { print n }')" \
		"$(trencode -q -t csv -c kind calls.trs | grep -cx call)"
}

@test "profiles: of several types that with the most samples, as if it were alone, and a remark on the others" {
	# the first sample is of the rarest type; types have functions of their own; instants with stacks, too
	awk 'BEGIN { srand(5); for (i = 1; i <= 400; i++) {
		k = i % 40 == 1 ? "rare" : i % 3 ? "often" : "other"
		printf "work%d 7 %d.000001: %7d %s: \n", i % 2, i, 1 + int(rand() * 999), k
		for (n = int(rand() * 6); n >= 0; n--) {
			f = int(rand() * 5)
			printf "\t%16x %s+0x4 (/lib/m.so)\n", 4096 + 8 * f, (f ? "f" : k) f
		}
		print "" } }' | trdecode -f perf-script >many.trs
	assert_equal "$(trencode -q -t csv -c type many.trs | sed -n 2p)" rare
	trfilter 'type == "often"' many.trs >often.trs
	for format in folded svg 'folded --weight count'; do
		# shellcheck disable=SC2086
		diff <(trencode -q -t $format often.trs) <(trencode -q -t $format many.trs)
	done
	# these number the functions: edges and functions by name
	for name in often many; do
		trencode -q -t dot $name.trs | awk -F '[ \t"[]+' '/label=/ && !/->/ { at[$2] = $4 }
			/->/ { print ($2 in at ? at[$2] : $2), at[$4], $6 }' | sort >$name.dot
		trencode -q -t callgrind $name.trs | sed -nE '/^(events|summary)/p; s/^c?fn=\([0-9]+\) //p' | sort >$name.callgrind
	done
	grep -q 'often0 f1 [0-9]' often.dot
	diff often.dot many.dot
	grep -qx often0 often.callgrind
	diff often.callgrind many.callgrind
	for name in often many; do
		trencode -q -t pprof -o $name.pb.gz $name.trs
		trdecode $name.pb.gz | trencode -q -t folded >$name.pprof
	done
	[ -s often.pprof ]
	diff often.pprof many.pprof
	run -0 --separate-stderr trencode -t folded many.trs
	assert_regex "$stderr" "the profile is of the samples of 'often', the most frequent type: choose others"
	assert_regex "$stderr" "$(($(trfilter -c 'type != "often"' many.trs))) samples of other types left out"
	model folded often.trs | diff - <(trencode -q -t folded many.trs)
	# those that are written as they are read are of the first type, which the remark names
	for format in 'svg --by-time' firefox; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr trencode -t $format -o x.out many.trs
		assert_regex "$stderr" "the (chart|profile) is of the samples of 'rare', the first type: choose others"
	done
	# only samples with the field are candidates
	run -2 trencode -t folded --weight nothing many.trs
	assert_line --partial "has no field 'nothing'"
	# events with stacks: the same
	trdecode -q -o sched.trs "$DATA/perf/sched.data.gz"
	most=$(trstat -q -g type -c count -t csv sched.trs | sed -n 2p | cut -d, -f 1)
	diff <(trencode -q -t folded sched.trs) <(trfilter "type == \"$most\"" sched.trs | trencode -q -t folded)
}

@test "callgrind and pprof: the same sums" {
	trencode -q -t callgrind one.trs >cg
	sums=$(trencode -q -t ndjson -c period one.trs | jq -r .period | awk '{ n += $1 } END { print n, NR }')
	assert_equal "$(sed -n 's/^summary: //p' cg)" "$sums"
	assert_equal "$(sed -n 's/^totals: //p' cg)" "$sums"
	grep -qx 'events: cycles Samples' cg
	need callgrind_annotate
	callgrind_annotate --threshold=100 --show-percs=no cg |
		sed -nE '/\(all threads\)/d; s/^ *([0-9,]+) +[0-9,.]+ +[^:]*:(.*) \[.*\]$/\2\t\1/p' |
		tr -d , | awk -F '\t' '$2 > 0' | sort >got
	# samples without a stack are a function of their type, as in trstat
	trstat -q -t tsv -g name -c self one.trs | awk -F '\t' 'NR > 1 && $2 > 0' | sort >want
	grep -q '^cycles' want
	diff want got
	trencode -q -t pprof -o p.pb.gz one.trs
	python3 "$ROOT/t/tools/pprof_profile.py" p.pb.gz | awk -v OFS='\t' '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); self[$0] += n }
		END { for (k in self) if (self[k]) print k, self[k] }' | sort | diff want -
	gzip -dc p.pb.gz | grep -aq cycles
	trfilter -q 'type == "cpu-clock"' two.trs | trencode -q -t pprof -o p.pb.gz
	gzip -dc p.pb.gz | grep -aq nanoseconds
}

@test "speedscope: a sampled profile for each thread and type, with the stacks and weights of folded" {
	trfilter -q 'type == "cpu-clock"' two.trs >clock.trs
	for of in one two clock; do
		trencode -q -t speedscope "$of.trs" >s.json
		jq -r '.shared.frames as $f | .profiles[] | .name as $n | [.samples, .weights] | transpose[] |
			"\($n) \([.[0][] | $f[.].name] | join(";")) \(.[1])"' s.json |
			awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (k in sum) print k, sum[k] }' | sort >got
		# the same of each event by itself
		trencode -q -t ndjson -c comm,tid,type,stack,period "$of.trs" |
			jq -r '"\(.comm // "thread") [\(.tid)] \(.type) \((.stack // []) | join(";")) \(.period // 1)"' |
			awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (k in sum) print k, sum[k] }' | sort >want
		diff want got
		jq -e '[.profiles[] | .endValue == (.weights | add)] | all' s.json >all
	done
	jq -e '[.profiles[].unit] | unique == ["nanoseconds"]' s.json >all
	jq -e '.profiles | length > 1' s.json >all
	# samples of no thread
	run -0 pipe "printf 'a;b 3\nc 1\n' | trdecode -f folded | trencode -q -t speedscope | jq -r '.profiles[].name'"
	assert_output samples
}

@test "folded stacks as input: sums of the lines, decimals, carriage returns, damage" {
	printf 'a;b 3\r\na;b 4.7\nc 1\n' >x.folded
	assert_equal "$(trdecode -q x.folded | trencode -q -t folded)" $'a;b 7\nc 1'
	run -0 trdecode -o /dev/null x.folded
	assert_output 'trdecode: x.folded: 1 weight has a fraction, which is left out'
	# one line, without its newline
	assert_equal "$(printf 'a;b;c 5' | trdecode -f folded | trencode -q -t folded)" 'a;b;c 5'
	printf 'a;b 3\nno weight\na 5\n;; 1\n' >x.folded
	run -1 --separate-stderr bash -c 'trdecode -f folded x.folded | trencode -q -t folded'
	assert_output $'?;?;? 1\na 5\na;b 3'
	assert_regex "$stderr" 'x.folded: 0x6: a line that is not a stack with a weight'
	printf 'just text 5\nmore 6\n' >x.folded
	run -2 trdecode -o /dev/null x.folded
	assert_output --partial "not a trace of a known format"
}

@test "folded stacks as input: negative weights are those of a difference, in every program" {
	printf 'a;b 10\na;c -4\na;b -12.0\na -3\n' >x.folded
	run -0 trdecode -o x.trs x.folded
	assert_output ''
	run -0 trstat -q -g name -c total,self,count,min,max -t csv --sort name x.trs
	# a: 10 - 4 - 12 - 3
	assert_output - <<-'END'
		name,total,self,count,min,max
		a,-9,-3,4,-12,10
		b,-2,-2,2,-12,10
		c,-4,-4,1,-4,-4
	END
	assert_equal "$(trencode -q -t folded x.trs)" $'a -3\na;b -2\na;c -4'
	trencode -q -t pprof -o x.pb.gz x.trs
	assert_equal "$(trdecode -q x.pb.gz | trencode -q -t folded)" $'a -3\na;b -2\na;c -4'
	assert_equal "$(trfilter -q 'weight < 0' x.trs | trencode -q -t csv -c weight)" $'weight\n-4\n-12\n-3'
	assert_equal "$(trsym -q x.trs | trstat -q -c total -t tsv -g type)" $'type\ttotal\nsamples\t-9'
	run -3 trstat -q --fail-if 'total(name == "a") < -8' x.trs
	run -0 --separate-stderr trencode -t svg -o x.svg x.trs
	assert_equal "$stderr" 'trencode: 3 stacks with a negative weight left out: -t folded and -t pprof hold them'
	run -0 trdecode --info x.folded
	assert_line --regexp '^weight +-9$'
}

@test "folded stacks as input: weights of 64 bits, with and without a sign; more is damage" {
	printf 'a;b %s\n' 18446744073709551615 -9223372036854775808 18446744073709551616 -9223372036854775809 - 1 >x.folded
	run -1 trdecode -f folded --verbose -o x.trs x.folded
	assert_output - <<-'END'
		trdecode: x.folded: 0x32: a line that is not a stack with a weight
		trdecode: x.folded: 0x4b: a line that is not a stack with a weight
		trdecode: x.folded: 0x64: a line that is not a stack with a weight
	END
	run -1 trstat -q -c total,count,min -g type -t csv x.trs
	# 2^64 - 1 - 2^63 + 1
	assert_line 'samples,9223372036854775808,3,-9223372036854775808'
	run -1 trdecode -f folded --info x.folded
	assert_line --regexp '^weight +9223372036854775808$'
	printf 'a;b %s\n' 18446744073709551615 18446744073709551615 >x.folded
	run -0 trdecode --info x.folded
	assert_line --regexp '^weight +36893488147419103230$'
}

@test "trstat --slowest lists calls: a trace of samples has none, and a message" {
	printf 'a;b 3\nc 1\n' | trdecode -f folded >x.trs
	run -0 --separate-stderr trstat --slowest 1 x.trs
	assert_output ''
	assert_equal "$stderr" 'trstat: no calls in this trace; 2 events of 1 type: try -g type'
	run -0 --separate-stderr trstat -q --tree x.trs
	assert_equal "$stderr" ''
}

# kept EXPRESSION: the folded stacks of the samples that trfilter keeps
kept() {
	trfilter -q "$1" s.trs | trencode -q -t folded | paste -sd ' '
}

@test "trfilter: under() and stack are those of the recorded stack" {
	printf 'a;b;c 1\na;c;b 2\nd 4\na;d 8\nd;a;b;x 16\n' >s.folded
	trdecode -o s.trs s.folded
	assert_equal "$(kept 'under("a")')" 'a;b;c 1 a;c;b 2 a;d 8 d;a;b;x 16'
	assert_equal "$(kept '!under("a")')" 'd 4'
	assert_equal "$(kept 'under("b") && name == "c"')" 'a;b;c 1'
	assert_equal "$(kept 'stack =~ "a;.*;b"')" 'a;c;b 2'
	assert_equal "$(kept 'stack =~ "^a;b"')" 'a;b;c 1'
	assert_equal "$(kept 'stack == "d"')" 'd 4'
	# as grep finds them in the text
	trencode -q -t folded one.trs >all
	while read -r expression pattern; do
		diff <(trfilter -q "$expression" one.trs | trencode -q -t folded) <(grep -E "$pattern" all)
	done <<-'END'
		under("f3") (^|;)f3[; ]
		stack=~"^f1;" ^((one|two_words);)?f1;
		stack=~"f2;.*;f4" f2;.*;f4
		name=="f3" (^|;)f3[[:blank:]]
		name=~"^f[12]$" (^|;)f[12][[:blank:]]
	END
	# a stack that is deeper than what is compared
	{ yes f | head -2000 | paste -sd ';' | tr '\n' ' ' && echo 1; } >s.folded
	trdecode -o s.trs s.folded
	run -0 trfilter -c 'stack =~ "f;f"' s.trs
	assert_output 1
}

# both A B KEY: the sums of two streams by that key, as the model has them: total, self and count of each
both() {
	join -t '|' -a 1 -a 2 -e ,, -o 0,1.2,2.2 \
		<(model "$3" "$1" | sed 's/\(.*\),\(.*\)/\2|\1/' | LC_ALL=C sort -t '|' -k 1,1) \
		<(model "$3" "$2" | sed 's/\(.*\),\(.*\)/\2|\1/' | LC_ALL=C sort -t '|' -k 1,1) |
		tr '|' ',' | LC_ALL=C sort
}

@test "trstat --diff: the sums of both traces are those of the model, as streams and as summaries" {
	python3 "$ROOT/t/tools/random_samples.py" 7 >seven.trs
	# a function of one trace only
	trfilter -q 'name != "f3" && !under("f3")' seven.trs >other.trs
	for key in name stack; do
		kind=totals
		[ $key = name ] || kind=tree
		both one.trs other.trs $kind >want
		(($(wc -l <want) > 10))
		trstat -q --diff -t csv -g $key -c total,self,count one.trs other.trs >diff.csv
		# key, A and B of the three columns
		sed 1d diff.csv | awk -F, -v OFS=, '{ print $1, $2, $5, $8, $3, $6, $9 }' |
			LC_ALL=C sort >have
		diff want have
		# the changes are the differences
		sed 1d diff.csv | awk -F, '$2 != "" && $3 != "" && ($4 != $3 - $2 || $10 != $9 - $8) { exit 1 }'
		for name in one other; do
			trstat --partial -g $key -c total,self,count -o $name.part $name.trs
		done
		trstat -q --diff -t csv one.part other.part | cmp - diff.csv
	done
	grep -q '^f3,[0-9]*,,,' diff.csv || trstat -q --diff -t csv one.trs other.trs | grep '^f3,.*,gone,'
}

@test "trstat --diff: weights are no times of calls, so no function is slower or faster" {
	for type in cycles cpu-clock+; do
		python3 "$ROOT/t/tools/random_samples.py" 5 $type >a.trs
		python3 "$ROOT/t/tools/random_samples.py" 5 $type >b.trs
		for name in a b; do
			trstat --partial -o $name.part $name.trs
		done
		for inputs in 'a.trs b.trs' 'a.part b.part'; do
			# shellcheck disable=SC2086
			trstat -q --diff -t csv -c total $inputs >diff.csv
			assert_equal "$(sed 1d diff.csv | cut -d, -f 5- | sort -u)" ',,,,,'
		done
	done
	# the table has no statistics of single weights, unless -c names them
	run -0 trstat -q --diff one.trs two.trs -g name,type
	assert_line --index 0 --regexp '^ *total \[weight\] +total_change +count +count_change +verdict  name +type$'
	run -0 trstat -q --diff one.trs two.trs -g name,type -c p50
	assert_line --index 0 --regexp 'p50 \[weight\] +p50_change'
}

@test "trstat --diff of several types: type is a key; a remark on other types, and times are refused" {
	trstat -q --diff -t csv -c total,count two.trs two.trs >diff.csv
	assert_regex "$(head -n 1 diff.csv)" '^name,type,total_a,'
	for type in cycles cpu-clock; do
		trfilter -q "type == \"$type\"" two.trs >$type.trs
		model totals $type.trs | awk -F, -v OFS=, '{ print $4, $1, $3 }' | sort >want
		awk -F, -v OFS=, -v type=$type '$2 == type { print $1, $3, $6 }' diff.csv | sort >have
		diff want have
	done
	for options in '' '-t svg'; do
		# shellcheck disable=SC2086
		run -2 trstat --diff $options one.trs two.trs
		assert_output --partial "samples of 'cpu-clock' and of 'cycles': choose a type with trfilter 'type == \"cycles\"'"
		# the filter keeps the declarations of both types
		# shellcheck disable=SC2086
		run -0 trstat -q --diff $options one.trs cycles.trs
	done
	run -2 trstat --diff -t svg two.trs one.trs
	assert_output --partial "choose a type with trfilter 'type == \"cpu-clock\"'"
	run -0 trstat -q --diff -t svg cycles.trs one.trs
	assert_equal "$(trstat -q --diff -t csv -c total,count two.trs one.trs | head -n 1)" "$(head -n 1 diff.csv)"
	run -0 --separate-stderr trstat --diff -g name one.trs <(python3 "$ROOT/t/tools/random_samples.py" 1 misses)
	assert_regex "$stderr" "the samples are of 'misses', and in one.trs of 'cycles'"
	python3 "$ROOT/t/tools/random_samples.py" 1 cpu-clock+ >times.trs
	run -2 trstat --diff one.trs times.trs
	assert_output --partial 'times.trs: has times, and not weights of samples as one.trs: they cannot be compared'
}

@test "trstat: weights of different types are not added, in streams one after another and in summaries" {
	trdecode -q -o flat.trs "$DATA/perf/flat.data"
	trdecode -q -o zstd.trs "$DATA/perf/zstd.data"
	trdecode -q -o weight.trs "$DATA/perf/weight.data.gz"
	says="samples of 'cycles' and of 'task-clock': weights of different types are not added; add type to -g"
	for name in flat zstd weight; do
		trstat --partial -c total,self,count -o $name.part $name.trs
		trstat --partial -g name,type -c total,count -o $name.typed $name.trs
	done
	run -2 trstat flat.trs weight.trs
	assert_output --partial "trstat: $says"
	run -2 bash -c 'trstat --partial flat.trs weight.trs >x.part'
	assert_output --partial "trstat: $says"
	run -2 trstat --merge flat.part weight.part
	assert_output --partial "trstat: $says"
	run -2 bash -c 'trstat --merge --partial flat.part weight.part >x.part'
	assert_output --partial "trstat: $says"
	# with the key type, all have the sums of the model
	for name in flat weight; do
		model totals $name.trs
	done | awk -F, -v OFS=, '{ print $4, $1, $3 }' | sort >want
	trstat -q -t csv -g name,type -c total,count flat.trs weight.trs | sed 1d |
		awk -F, -v OFS=, '$1 ~ /^</ { print $1, $3, $4 }' | sort >have
	diff want have
	trstat -q --merge -t csv flat.typed weight.typed | sed 1d |
		awk -F, -v OFS=, '$1 ~ /^</ { print $1, $3, $4 }' | sort >have
	diff want have
	# samples of one type are added, over all recordings
	cat flat.trs zstd.trs >both.trs
	model totals both.trs >want
	trstat -q --merge -t csv flat.part zstd.part | sed 1d |
		awk -F, -v OFS=, '$1 ~ /^</ { print $2, $3, $4, $1 }' | LC_ALL=C sort >have
	diff want have
}
