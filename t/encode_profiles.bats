# trencode -t callgrind and pprof: functions, stacks, and who calls whom.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode -q "$DATA/uftrace/fib" | trsym -q >x.trs
}

# annotated OPTION...: "name<TAB>number" as callgrind_annotate prints them
annotated() {
	trencode -q -t callgrind x.trs >out.callgrind || (($? == 1))
	callgrind_annotate --threshold=100 --show-percs=no "$@" out.callgrind | sed '/(all threads)/d' >listing
	sed -n '/file:function/,$p' listing | sed -nE 's/^ *([0-9,]+) +[0-9,.]+ +[^:]*:(.*) \[.*\]$/\2\t\1/p' |
		tr -d , | awk -F '\t' '$2 > 0' | sort
}

# column NAME: trstat's, of calls, where it is not 0
column() {
	trstat -q -g name,kind -c "$1" -t tsv x.trs |
		awk -F '\t' -v OFS='\t' 'NR > 1 && $2 == "call" && $3 > 0 { print $1, $3 }' | sort
}

# decoded: x.trs as pprof, in protoc's text; an unknown field would be a line that begins with a number
decoded() {
	trencode -q -t pprof x.trs >out.pb.gz || (($? == 1))
	gzip -dc out.pb.gz | protoc --decode=m.Profile -I "$ROOT/t/proto" pprof.proto >decoded
	run -1 grep -E '^ *[0-9]+:' decoded
}

# name, calls, total of outermost calls, self: as pprof would add them up
profile() {
	awk '
	$1 == "sample" { n = 0; v = 0; in_sample = 1; next }
	$1 == "location_id:" { loc[n++] = $2; next }
	in_sample && $1 == "value:" { value[v++] = $2; next }
	in_sample && $1 == "}" { in_sample = 0; s = ++samples; count[s] = n; calls[s] = value[0]; self[s] = value[1]
		for (i = 0; i < n; i++) at[s, i] = loc[i]; next }
	$1 == "function" { in_function = 1; next }
	in_function && $1 == "id:" { id = $2; next }
	in_function && $1 == "name:" { names[id] = $2; in_function = 0; next }
	$1 == "string_table:" { t = $0; sub(/^string_table: "/, "", t); sub(/"$/, "", t); strings[nstrings++] = t }
	END { for (s = 1; s <= samples; s++) { delete seen
			for (i = 0; i < count[s]; i++) { f = at[s, i]
				if (!(f in seen)) total[f] += self[s]; seen[f] = 1 }
			f = at[s, 0]; c[f] += calls[s]; own[f] += self[s] }
		for (f in c) if (c[f]) printf "%s\t%d\t%.0f\t%.0f\n", strings[names[f]], c[f], total[f], own[f] }' decoded |
		sort
}

@test "callgrind_annotate: self is trstat's" {
	need callgrind_annotate
	annotated >ours
	column self >theirs
	diff theirs ours
}

@test "callgrind_annotate: inclusive is trstat's total, recursion too" {
	need callgrind_annotate
	annotated --inclusive=yes >ours
	column total >theirs
	diff theirs ours
}

@test "callgrind_annotate: the same of other recordings" {
	need callgrind_annotate
	for d in basic-pg basic-cyg args-spec deep-default dlopen threads; do
		stream "$U/$d"
		annotated >ours
		column self >theirs
		diff theirs ours
		annotated --inclusive=yes >ours
		column total >theirs
		diff theirs ours
	done
}

@test "callgrind_annotate: callers and callees" {
	need callgrind_annotate
	trencode -q -t callgrind x.trs >out.callgrind
	callgrind_annotate --tree=both --inclusive=yes --show-percs=no --threshold=100 out.callgrind >listing
	run -0 grep -E '> .*:pthread_join \(2x\)' listing
	run -0 grep -E '< .*:main \(2x\)' listing
	# the totals are all that was spent
	self=$(column self | awk '{ s += $NF } END { printf "%.0f", s }')
	run -0 sed -n 's/^totals: \([0-9]*\) .*/\1/p' out.callgrind
	assert_output "$self"
}

@test "source lines are there if trsym found them" {
	trdecode -q "$U/srcline" | trsym -q >x.trs
	trencode -q -t callgrind x.trs >out.callgrind
	run -0 grep -cE '^(fl|cfi)=' out.callgrind
	[[ $output -gt 1 ]]
}

@test "pprof: no unknown field, and trstat's numbers" {
	need protoc
	decoded
	profile >ours
	calls >theirs
	diff theirs ours
}

@test "pprof: the same of other recordings" {
	need protoc
	for d in basic-pg args-spec deep-default dlopen threads; do
		stream "$U/$d"
		decoded
		profile >ours
		calls >theirs
		diff theirs ours
	done
}

@test "pprof: sample types and units" {
	need protoc
	decoded
	grep "^string_table" decoded | sed -n "2,5p" >listed
	run -0 cat listed
	assert_output 'string_table: "calls"
string_table: "count"
string_table: "self"
string_table: "nanoseconds"'
	run -0 grep default_sample_type decoded
	assert_output 'default_sample_type: 3'
}

@test "the same input gives the same bytes" {
	for t in callgrind pprof; do
		trencode -q -t $t x.trs >one
		trencode -q -t $t x.trs >two
		cmp one two
	done
}

@test "open calls are closed, or dropped" {
	stream "$U/kill-segv"
	for t in callgrind pprof folded; do
		run -0 pipe "trencode -t $t x.trs 2>&1 >closed"
		assert_line --partial "had not returned at the end of the trace: closed"
		run -0 pipe "trencode -t $t --unclosed=drop x.trs 2>&1 >dropped"
		assert_line --partial "had not returned at the end of the trace: dropped"
		run -1 cmp -s closed dropped
	done
}

@test "calls that ended without a return are closed, or dropped, and counted" {
	stream "$U/longjmp"
	for t in callgrind pprof folded; do
		run -0 pipe "trencode -t $t x.trs 2>&1 >closed"
		assert_line --regexp ': 6 calls ended without a return .*: closed at the next event of their thread$'
		run -0 pipe "trencode -t $t --unclosed=drop x.trs 2>&1 >dropped"
		assert_line --regexp ': 6 calls ended without a return .*: dropped$'
		run -1 cmp -s closed dropped
	done
	# dropped: as trstat has it; closed: what they took is no longer their callers'
	run -1 grep longjmp dropped
	run -0 grep longjmp closed
	assert_output 'main;try_it;c1;c2;c3;longjmp 861'
	[[ $(awk '{ s += $NF } END { print s }' closed) == $(awk '{ s += $NF } END { print s }' dropped) ]]
}

@test "callgrind_annotate: a function that is both outermost and a callee" {
	need callgrind_annotate
	printf '[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"g"},{"ph":"X","pid":1,"tid":2,"ts":0,"dur":5,"name":"f"},
		{"ph":"X","pid":1,"tid":2,"ts":1,"dur":3,"name":"g"}]' | trdecode -f chrome - >x.trs
	annotated --inclusive=yes >ours
	column total | diff - ours
	run -0 grep -c . ours
	assert_output 2
	run -0 grep -E '^15,000 .*\(all threads\)' <(callgrind_annotate --inclusive=yes --threshold=100 out.callgrind)
}

@test "names that differ in control characters, or in bytes that are no UTF-8, stay apart" {
	printf '[{"ph":"X","tid":1,"ts":0,"dur":1,"name":"a\\nb"},{"ph":"X","tid":1,"ts":2,"dur":2,"name":"a\\tb"},
		{"ph":"X","tid":1,"ts":5,"dur":3,"name":"a\\\\x0ab"},{"ph":"X","tid":1,"ts":9,"dur":4,"name":"a\xff"},
		{"ph":"X","tid":1,"ts":14,"dur":5,"name":"a\xfe"}]' | trdecode -q -f chrome - >x.trs
	trencode -q -t callgrind x.trs >out.callgrind
	run -0 sed -n 's/^fn=([0-9]*) \(a.*\)/\1/p' out.callgrind
	assert_output 'a\x0ab
a\x09b
a\x5cx0ab
a\xff
a\xfe'
	decoded
	run -0 grep -c 'string_table: "a' decoded
	assert_output 5
}

@test "pprof: the first mapping is the program also where its functions are not the outermost ones" {
	cd "$BATS_TEST_TMPDIR" || return
	# stack WEIGHT FRAME...: a sample as perf script prints it, innermost first
	stack() {
		printf 'work 7 [000] 1.000001: %d cycles:\n' "$1"
		printf '\t1000 %s (%s)\n' "${@:2}"
		echo
	}
	first() {
		trdecode -f perf-script | trencode -q -t pprof -o x.pb.gz
		trdecode --info x.pb.gz | sed -n 's/^mapping  *//p' | head -n 1
	}
	local start=(__libc_start_main /lib/libc.so.6)
	assert_equal "$({ stack 900 poll /lib/libc.so.6 "${start[@]}"; stack 5 f /lib/x.so main /bin/work "${start[@]}"; stack 800 g /opt/tool "${start[@]}"; } | first)" /bin/work
	assert_equal "$({ stack 900 poll /lib/libc.so.6 "${start[@]}"; stack 950 k '[kernel.kallsyms]'; stack 5 f /lib/x.so '[unknown]' /bin/work "${start[@]}"; } | first)" /bin/work
	assert_equal "$({ stack 5 f /lib/x.so "${start[@]}"; stack 3 k /lib/y.so; } | first)" /lib/libc.so.6
}

@test "pprof: the first mapping is the program, and functions of no module have none" {
	decoded
	run -0 awk '$1 == "mapping" { m = 1 } m && $1 == "filename:" { print $2; exit }' decoded
	strings=$(sed -n 's/^string_table: "\(.*\)"$/\1/p' decoded | sed -n "$((output + 1))p")
	assert_equal "${strings##*/}" fib
	run -1 grep -F '[unknown]' decoded
	run -0 trencode -q -t pprof -o none.pb.gz <(echo '[{"ph":"X","ts":0,"dur":1,"name":"f"}]' | trdecode -q -f chrome -)
}

@test "sums beyond 64 bits are the largest number, inclusive ones too" {
	# 8 threads: f, of 3e18 ns, calls g, of 2.9e18 ns
	trdecode -q "$DATA/chrome/wrap.json" >w.trs
	trencode -q -t callgrind w.trs | grep -E '^fn=|^totals|^0 ' | cut -d ' ' -f 1-2 >got
	printf '%s\n' 'fn=(2) f' '0 800000000000000000' '0 18446744073709551615' 'fn=(3)' \
		'0 18446744073709551615' 'fn=(4) (all' '0 0' '0 18446744073709551615' \
		'totals: 18446744073709551615' | cmp - got
	run -0 pipefail "trencode -q -t dot --weight dur w.trs | grep -c 18446744073709551615"
	assert_output 2
	run -0 trencode -t folded w.trs
	assert_line 'trencode: 1 sum of a stack was clipped to 18446744073709551615: folded stacks hold no larger numbers'
	assert_line 'f;g 18446744073709551615'
	# and the total of f, and that of all
	run -0 errors trencode -t svg -o w.svg w.trs
	assert_output 'trencode: 3 sums of stacks were clipped to 18446744073709551615: flame graphs show no larger numbers'
	# 4 of g are below 2^64, but not below 2^63
	trfilter -q 'tid <= 4' w.trs >four.trs
	run -0 trencode -t folded four.trs
	assert_output $'f 400000000000000000\nf;g 11600000000000000000'
	run -0 trencode -t pprof -o four.pb.gz four.trs
	assert_output 'trencode: 1 sum of a stack was clipped to 9223372036854775807: profiles hold no larger numbers'
	run -0 trencode -q -t pprof -o four.pb.gz four.trs
	assert_output ''
}

@test "functions of one name in two files are two, read back from each format that has files" {
	cat >same.out <<-'END'
		events: Ir
		fl=a.c
		fn=f
		1 10
		fl=b.c
		fn=f
		2 20
		9 4
		fl=b.c
		fn=main
		3 5
		cfl=a.c
		cfn=f
		calls=1 1
		3 10
		cfl=b.c
		cfn=f
		calls=1 2
		3 24
	END
	for format in pprof perfetto speedscope; do
		trdecode -q -f callgrind same.out | trencode -q -t $format -o same.$format
		run -0 pipefail "trdecode -q same.$format | trstat -q -t tsv -g name,file -c self -s name,file | tail -n +2 | sort"
		assert_output $'f\ta.c\t10\nf\tb.c\t24\nmain\tb.c\t5'
	done
}
