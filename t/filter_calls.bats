# trfilter: conditions on whole calls, against uftrace where it has the same; what is around a
# match, and limits.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	for name in basic-pg threads threads-nosched forkexec exc-pg nest-libcall args-spec longjmp; do
		trdecode -q "$RECORDED/uftrace/$name" 2>/dev/null | trsym -q >"$name.trs" 2>/dev/null
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# count EXPRESSION STREAM COUNT
count() {
	run -0 trfilter -q -c "$1" "$2"
	assert_output "$3"
}

# same RECORDING 'OPTIONS OF UFTRACE' 'OPTIONS OF TRFILTER' EXPRESSION: the same text
same() {
	# shellcheck disable=SC2086 # several options
	uftrace replay --no-pager -d "$RECORDED/uftrace/$1" $2 2>/dev/null | sed '1d; s/ *$//' >theirs
	# shellcheck disable=SC2086
	trfilter -q $3 "$4" "$1.trs" | trencode -q 2>/dev/null | sed '1d; s/ *$//' >ours
	diff theirs ours || fail "$1: uftrace $2, trfilter $3 $4"
}

@test "dur is uftrace -t" {
	need uftrace
	for name in basic-pg threads threads-nosched exc-pg nest-libcall args-spec; do
		for t in 1us 10us 100us 1ms; do
			same "$name" "-t $t" '' "dur >= $t"
		done
	done
}

@test "dur alone, which has a way of its own, gives what it gives beside another condition" {
	local streams=() d expression
	for d in "$RECORDED"/uftrace/*/ "$RECORDED"/trace-cmd/*graph*.dat; do
		trdecode -q "$d" 2>/dev/null | trsym -q 2>/dev/null >"all.${#streams[@]}" || [ $? = 1 ] || continue
		streams+=("all.${#streams[@]}")
	done
	for expression in 'dur > 100ns' 'dur >= 3us && dur <= 9us' 'dur > 50us' 'dur > 1ms' \
		"dur > 2us && name =~ '^[a-f]'"; do
		trfilter -q "$expression" "${streams[@]}" 2>/dev/null | trencode -q -t tsv >one 2>/dev/null || true
		trfilter -q "$expression && depth >= 0" "${streams[@]}" 2>/dev/null | trencode -q -t tsv >other 2>/dev/null || true
		[[ $(wc -l <one) -gt 10 ]] || fail "$expression: nothing"
		cmp one other || fail "$expression"
	done
}

@test "conditions on whole calls are those of a model over uftrace dump" {
	need uftrace
	local name
	for name in basic-cyg threads kill-segv; do
		uftrace dump --no-pager -d "$RECORDED/uftrace/$name" 2>/dev/null | grep '\[' |
			sort -s -n -k 1,1 >$name.dump
		trdecode -q "$RECORDED/uftrace/$name" | trsym -q >$name.trs
	done
	# trencode leaves out times off the CPU whose call is not kept
	while read -r line; do
		: >some
		for name in basic-cyg threads kill-segv; do
			perl "$ROOT/t/tools/uftrace_calls.pl" "${line#* # }" <$name.dump | grep -v linux: >want || true
			trfilter -q "${line%% # *}" $name.trs |
				trencode -q -t tsv --no-header --columns time,name,kind |
				sed -n '/\tlinux:/d; s/\tcall$//p' >got
			diff <(sort want) <(sort got) || fail "$name: $line"
			cat want >>some
		done
		[ -s some ] || fail "no call: $line"
	done <<-'END'
		dur > 1us # $c->{dur} > 1000
		dur > 200ns && dur <= 3us # $c->{dur} > 200 && $c->{dur} <= 3000
		!(dur > 1us) # !($c->{dur} > 1000)
		dur < 1us # $c->{dur} < 1000
		self > 100ns # $c->{self} > 100
		dur > 1us && name =~ "^s" # $c->{dur} > 1000 && $c->{name} =~ /^s/
		children > 1 # $c->{children} > 1
		children == 0 # $c->{children} == 0
		caller == "main" # $c->{caller} eq 'main'
		caller != "main" # defined $c->{caller} && $c->{caller} ne 'main'
		under("main") # under('main')
		!under("main") && dur > 500ns # !under('main') && $c->{dur} > 500
		over("usleep") || self > 10us # over('usleep') || $c->{self} > 10000
		over("usleep") && !(over("fib") || depth > 2) # over('usleep') && !(over('fib') || $c->{depth} > 2)
		stack =~ ";leaf$|^main;[a-z]*$" # $c->{stack} =~ /;leaf$|^main;[a-z]*$/
		depth == 1 && dur > 300ns # $c->{depth} == 1 && $c->{dur} > 300
		has(self) && (children < 2 || over("leaf")) # defined $c->{self} && ($c->{children} < 2 || over('leaf'))
	END
}

@test "-D is uftrace -D" {
	need uftrace
	for name in basic-pg threads-nosched exc-pg nest-libcall; do
		for depth in 1 2 3; do
			same "$name" "-D $depth" "-D $depth" 1
		done
	done
}

@test "under() is uftrace -F and -N, over() is -C" {
	need uftrace
	for name in basic-pg threads-nosched exc-pg nest-libcall; do
		for f in $(trstat -q -c count -t tsv "$name.trs" | cut -f1 | grep -x '[a-z_]*' | grep -v '^name$' | head -n 6); do
			same "$name" "-F $f" '' "under('$f')"
			same "$name" "-F $f -D 2" '-D 2' "under('$f')"
			same "$name" "-N $f" '' "!under('$f')"
			same "$name" "-C $f" '' "over('$f')"
		done
	done
}

@test "the table of what lasted longer is that of uftrace report" {
	need uftrace
	for t in 10us 1ms; do
		uftrace report --no-pager -d "$RECORDED/uftrace/threads-nosched" -f total,call -t $t 2>/dev/null |
			tail -n +3 | awk '{ print $4, $3 }' | sort >theirs
		trfilter "dur >= $t" threads-nosched.trs | trstat -q -c count -t tsv |
			awk 'NR > 1 { print $1, $2 }' | sort >ours
		diff theirs ours
	done
}

CALLS="dur > 100us
dur < 10us
dur == 0 || dur > 20us
self > 5us
children > 1
children == 0 && dur > 1us
caller == 'main'
under('main')
over('usleep')
stack =~ '^main;.*;usleep'
dur > 1us && name =~ '^p'
!(dur > 10us)
name == 'usleep' || self > 3us
under(name =~ '^w') && !over('usleep')
has(dur) && has(caller)
dur > 1ms || over('step')"

@test "whole calls: both halves are all, calls stay balanced" {
	for name in threads exc-pg args-spec; do
		all=$(trfilter -c 1 "$name.trs")
		while IFS= read -r e; do
			with=$(trfilter -c "$e" "$name.trs") without=$(trfilter -v -c "$e" "$name.trs")
			assert_equal "$name $e $((with + without))" "$name $e $all"
			for v in '' -v; do
				# shellcheck disable=SC2086
				trfilter $v "$e" "$name.trs" >half
				assert_equal "$(trfilter -c 1 half)" "$([[ $v ]] && echo "$without" || echo "$with")"
				run -0 trstat -c count half
				refute_output --partial 'returns of calls'
			done
		done <<<"$CALLS"
	done
}

@test "conditions on calls joined by && are all asked" {
	count 'name == "nap" && caller == "main"' threads.trs 1
	count 'caller == "main" && name == "zz"' threads.trs 0
	count 'caller == "main" && cpu == 9' threads.trs 0
	count 'caller != "x" && name == "step"' threads.trs 36
	count '!under("x") && name == "step"' threads.trs 36
	count 'dur > 50us && (name =~ "nap" && name =~ "zz")' threads.trs 0
	count '(depth == 0 && name =~ "main") && dur > 50us' threads.trs 1
	trdecode -q "$RECORDED/apitrace/feat.trace" >feat.trs 2>/dev/null
	count 'ret > 0 && (call > 100 && call < 50)' feat.trs 0
	if [[ -e $RECORDED/lttng-legacy/v2.5-15316ev-1cpu ]]; then
		trdecode -q "$RECORDED/lttng-legacy/v2.5-15316ev-1cpu" >lttng.trs
		count '(depth == 0 && name =~ "irq") && dur > 50us' lttng.trs 32
		count 'dur > 50us && (name =~ "irq" && name =~ "zz")' lttng.trs 0
	fi
}

@test "what && and || join is counted once each, in all recordings" {
	a=('caller == "main"' 'dur > 50us' 'depth == 0 && name =~ "a" && children < 9' '!under("main")')
	b=('name =~ "[mt]"' 'children == 0' 'tid > 0 && depth < 2 && !under("x")' 'dur > 10us && self > 5us')
	for stream in basic-pg.trs args-spec.trs "$DATA"/trace-cmd/*.dat "$DATA"/lttng/*.gz; do
		[[ $stream == *.trs ]] && cp "$stream" all.trs
		[[ $stream == *.trs ]] || trdecode -q "$stream" >all.trs 2>/dev/null || continue
		for i in 0 1 2 3; do
			for part in "${a[i]}" "${b[i]}" "${a[i]} && ${b[i]}" "(${a[i]}) || (${b[i]})" \
				"((${a[i]}) && (${b[i]})) || dur > 100h"; do
				trfilter -q -c "$part" all.trs || fail "$stream: $part"
			done | paste -s -d ' ' >counts
			read -r one other both either whole <counts
			[[ $((both + either)) == $((one + other)) && $both == "$whole" ]] ||
				fail "$stream: ${a[i]}, ${b[i]}: $(cat counts)"
		done
	done
}

@test "stack is that of trstat -g stack" {
	for name in basic-pg threads nest-libcall; do
		trstat -q -g stack -c count -t tsv $name.trs | sed 1d | grep -v '^[[:blank:]]\|linux:' >stacks
		[ -s stacks ]
		while IFS=$'\t' read -r stack count; do
			trfilter -q "stack == \"$stack\"" $name.trs | trstat -q -g '' -c count -t tsv |
				tail -n 1 >found
			assert_equal "$(cat found)" "$count"
		done <stacks
	done
	count 'stack =~ "^main;printf$"' threads.trs 1
	count 'stack == "main;main"' threads.trs 0
	count 'stack == "main;work;usleep;linux:schedule"' basic-pg.trs 2
}

@test "as many enters as leaves, but for calls that do not end" {
	while IFS= read -r e; do
		for options in '' --with-callers '-D 3'; do
			# shellcheck disable=SC2086
			trfilter $options "$e" threads-nosched.trs >kept
			open=$(trencode kept 2>/dev/null | sed -n '/remaining/,$p' | grep -c '^\[' || true)
			assert_equal "$e $(($(trfilter -c 'kind == enter' kept) - open))" \
				"$e $(trfilter -c 'kind == leave' kept)"
		done
	done <<<"$CALLS"
}

@test "whole calls and single rows" {
	count 'name == "usleep" && dur > 1us && kind == leave' threads.trs \
		"$(trfilter -c 'name == "usleep" && kind == leave' threads.trs)"
	count 'kind == leave && dur > 1us && name == "usleep"' threads.trs \
		"$(trfilter -c 'name == "usleep" && kind == leave' threads.trs)"
	count 'ret == -42 && dur > 0' args-spec.trs "$(trfilter -c 'ret == -42' args-spec.trs)"
}

@test "--with-callers keeps what encloses a call, -D counts it" {
	run -0 pipe "trfilter --with-callers 'name == \"c3\"' longjmp.trs | trencode -q 2>/dev/null | grep -c 'main() {'"
	assert_output 1
	trfilter --with-callers 'name == "usleep"' threads-nosched.trs | trencode -q >callers
	trfilter 'over("usleep")' threads-nosched.trs | trencode -q >over
	cmp callers over
}

@test "streams in segments: calls go across their borders" {
	trdecode -q --segment 64K "$RECORDED/uftrace/threads" 2>/dev/null >segments.trs
	trdecode -q "$RECORDED/uftrace/threads" 2>/dev/null >whole.trs
	for e in 'dur > 100us' 'self > 10us && children > 0' 'caller != ""'; do
		trfilter -q "$e" segments.trs | trencode -q >a 2>/dev/null
		trfilter -q "$e" whole.trs | trencode -q >b 2>/dev/null
		cmp a b
	done
}

# blobs: two calls with a blob of 32 MiB each, open at the same time, and one without, in x.trs
blobs() {
	{
		printf '\005\000\000\000\001f\002\001a\001b\001\000\010\200\200\200\020'
		head -c 32M /dev/zero
		printf '\000\000\001\000\001\000\010\200\200\200\020'
		head -c 32M /dev/zero
		printf '\000\001\000\000\001\001\000\000\000\000\001\001\004\001\000\001\002\000'
	} | gzip -1 >x.trace
	trdecode -o x.trs x.trace
}

@test "large values that wait are in memory once" {
	[[ -x /usr/bin/time ]] || skip 'no /usr/bin/time'
	cd "$BATS_TEST_TMPDIR" || return
	blobs
	trencode --all-calls x.trs >all
	assert_equal "$(wc -l <all)" 3
	for e in 'arg.1.size > 5' 'dur >= 0' 'children == 0' '--with-callers arg.2 == 1' '-A 1 dur > 0' '-B 3 name == "f" && arg.2 == 1'; do
		options=()
		case $e in -*) read -r -a options <<<"${e%% [a-z]*}" && e=${e#"${options[*]} "} ;; esac
		/usr/bin/time -f %M -o rss trfilter "${options[@]}" "$e" x.trs >y.trs
		trencode --all-calls y.trs >got
		case $e in
		arg.1*) grep blob all | cmp - got ;;
		arg.2*) grep 'b = 1' all | cmp - got ;;
		*) cmp all got ;;
		esac
		# a sanitizer needs its own
		nm "$BIN/trfilter" | grep -q __asan_init || [ "$(tail -n 1 rss)" -le $(((32 + 16) * 1024)) ]
	done
}

@test "-A, -B and --within keep what is around a match" {
	e='name == "pthread_create" && kind == enter'
	for stream in threads.trs basic-pg.trs; do
		trfilter -B 1000000 -A 1000000 1 "$stream" | trencode -q | cmp - <(trencode -q "$stream")
		trfilter --within 1h 'kind == enter' "$stream" | trencode -q | cmp - <(trencode -q "$stream")
	done
	count "$e" threads.trs 3
	# 8 rows; the leave of one enter among them is farther away
	run -0 trfilter -c -n 1 -B 3 -A 4 "$e" threads.trs
	assert_output 8
	# what is outside of the limits is around nothing
	run -0 trfilter -c --since +2ms --within 1h 1 threads.trs
	assert_output "$(trfilter -c --since +2ms 1 threads.trs)"
	run -0 trfilter -c -n 1 --within 0 "$e" threads.trs
	assert_output 1
}

# open_ends STREAM: calls that are not left, and leaves that were not entered
open_ends() {
	trstat -c count "$1" 2>&1 >/dev/null | awk '
		/calls? had not returned at the end/ { open = $2 }
		/returns? without a call/ { back = $2 }
		END { print open + 0, back + 0 }'
}

@test "what is around a match is balanced, and so are ranges" {
	for input in "$RECORDED"/trace-cmd/*fgraph.dat "$RECORDED"/lttng-legacy/gen/gen-2.6-*/ \
		"$RECORDED"/apitrace/mt4.trace; do
		trdecode -q "$input" >"around-$(basename "$input").trs" 2>/dev/null || true
	done
	for stream in *.trs; do
		# a forked child leaves calls that its parent entered
		[[ -s $stream && $stream != forkexec.trs ]] || continue
		read -r open back <<<"$(open_ends "$stream")"
		for e in 'cpu == 0 && depth > 1' 'dur > 0 && children == 0' 'kind == instant'; do
			for options in '-A 3' '-B 5 -D 3' '--within 20us' '-B 4 --since +1ms'; do
				# ticks have no unit
				[[ $stream != *mt4* && $stream != feat.trs ]] || options=$(sed 's/20us/20/; s/1ms/100/' <<<"$options")
				# shellcheck disable=SC2086
				trfilter -q $options "$e" "$stream" >kept.out 2>/dev/null
				read -r o b <<<"$(open_ends kept.out)"
				((o <= open && b <= back)) || fail "$stream $options $e: $o of $open, $b of $back"
			done
			trfilter -q --between 'depth == 1' 'depth == 2' "$e" "$stream" >kept.out 2>/dev/null
			read -r o b <<<"$(open_ends kept.out)"
			((o <= open && b <= back)) || fail "$stream --between $e: $o of $open, $b of $back"
		done
	done
}

@test "rows that were asked for one by one are kept, whatever else is" {
	local all

	count 'kind == leave && time >= 998201321169ns' exc-pg.trs 118
	trfilter -q 'kind == leave && time >= 998201321169ns' exc-pg.trs | trencode -q -t csv >one
	for all in "-B 1" "-A 1" "--within 1ns" --with-callers "-D 100"; do
		# shellcheck disable=SC2086 # an option and its value
		trfilter -q $all 'kind == leave && time >= 998201321169ns' exc-pg.trs |
			trencode -q -t csv >other
		run diff one other
		refute_output --partial '< '
	done
}

@test "single rows that were asked for stay single, what is around them does not" {
	e='kind == leave && name == "usleep"'
	trfilter -A 1 "$e" threads-nosched.trs | trfilter -c 'kind == enter && name == "usleep"' >enters
	assert_equal "$(cat enters)" 0
	trfilter -B 1 "$e" threads-nosched.trs >kept.out
	assert_equal "$(trfilter -c "$e" kept.out)" "$(trfilter -c "$e" threads-nosched.trs)"
	[ "$(trfilter -c 'kind == enter' kept.out)" -gt 0 ]
}

@test "a call that longjmp ended lasts until then, whatever else is asked" {
	count 'dur > 622ns && name == "c2"' longjmp.trs 1
	count 'name == "c2" && dur > 622ns && dur != 5ns' longjmp.trs 1
	count 'name == "c2" && dur > 622ns && has(dur)' longjmp.trs 1
	count 'name == "c2" && !(dur <= 622ns)' longjmp.trs 1
	trfilter -q 'dur > 622ns' longjmp.trs >long.trs
	count 'name == "c2"' long.trs 1
}

@test "--since and --until part a stream, whole calls too" {
	all=$(trfilter -c 1 threads.trs)
	for t in +1ms -3ms +0 2025ns; do
		for e in 1 'tid > 0 && kind != gap' 'dur >= 0 || !has(dur)'; do
			before=$(trfilter -c --until "$t" "$e" threads.trs)
			after=$(trfilter -c --since "$t" "$e" threads.trs)
			assert_equal "$t $e $((before + after))" "$t $e $all"
		done
	done
	[ "$(trfilter -c --since +1ms --until +3ms 1 threads.trs)" -gt 0 ]
	assert_equal "$(trfilter -c --since -1ms 1 <threads.trs)" "$(trfilter -c --since -1ms 1 threads.trs)"
	run -2 pipe 'cat threads.trs | trfilter --since -1ms 1 >/dev/null'
	assert_output --partial 'a complete saved stream'
	run -2 errors trfilter --since 2026-01-01 -c 1 threads.trs
	assert_output --partial 'has no wall time'
	run -2 errors trfilter --since tomorrow 1 threads.trs
	assert_line --index 0 --partial "not 'tomorrow'"
}

@test "before the end of a stream without events there is nothing" {
	trfilter -q 0 threads.trs >empty.trs
	count_since() {
		run -0 trfilter -q -c --since "$1" 1 "$2"
		assert_output "$3"
	}
	count_since -1s empty.trs 0
	run -0 pipe 'trfilter -q -c --until -1s 1 <empty.trs'
	assert_output 0
	# nor does it hide what is before it
	cat threads.trs empty.trs >both.trs
	count_since -1ms both.trs "$(trfilter -q -c --since -1ms 1 threads.trs)"
	head -c 5000 threads.trs >cut.trs
	run -2 errors trfilter --since -1s 1 cut.trs
	assert_output --partial 'needs a complete saved stream'
}

@test "a unit of time is refused where the clock counts ticks" {
	trdecode -q "$DATA/apitrace/threads.trace" >ticks.trs
	for limit in '--since +1ms' '--until 5us' '--since -1s' '--until 0.5' '--within 1ms'; do
		# shellcheck disable=SC2086
		run -2 errors trfilter -c $limit 1 ticks.trs
		assert_output --partial 'the clock counts ticks: '
	done
	# in conditions too, in the words of trstat, however they are evaluated
	for e in 'time > 5ms' 'dur > 1.5' 'dur > 5us' '0.5 < self' 'dur + 1ns > 0' 'under(time > 1ms)' \
		'kind == enter && (depth < 3 || !(time < 1s))' 'dur in {1us, 2us}'; do
		run -2 --separate-stderr errors trfilter -c "$e" ticks.trs
		assert_equal "$output" 'trfilter: expression: the clock counts ticks: use numbers without a unit'
		run -2 errors trstat -q --where "${e//under/}" ticks.trs
		assert_output --partial '--where: the clock counts ticks: use numbers without a unit'
	done
	run -2 errors trfilter -c --between 'time > 5ms' 1 1 ticks.trs
	assert_output --partial '--between: the clock counts ticks: use numbers without a unit'
	for e in 'max > 1ms' 'count(dur > 1ms) > 0' 'count > 0 && !(last > 1.5)'; do
		run -2 errors trstat -q --fail-if "$e" ticks.trs
		assert_output --partial '--fail-if: the clock counts ticks: use numbers without a unit'
	done
	run -2 errors trstat -q --diff --fail-if 'count_b > 0 && total_b > 1ms' ticks.trs ticks.trs
	assert_output --partial '--fail-if: the clock counts ticks: use numbers without a unit'
	run -3 trstat -q --diff --fail-if 'total_b > 0 * count_b' ticks.trs ticks.trs
	# a number of units that is no time of the clock
	run -0 trfilter -c 'depth < 5us / 1us && 1ms > 0' ticks.trs
	[ "$output" -gt 0 ]
	for limit in '--since +1ms' '--until 1.5'; do
		for input in "$DATA/apitrace/threads.trace" ticks.trs; do
			# shellcheck disable=SC2086
			run -2 errors trdecode -o x $limit "$input"
			assert_output --partial "$input: the clock counts ticks"
		done
	done
	run -0 trfilter -c --since +3 --until 10 --within 1 1 ticks.trs
	run -0 pipe "trdecode --since +3 '$DATA/apitrace/threads.trace' | trfilter -c 1"
	[ "$output" -gt 1000 ]
}

@test "a range, a sample and a border that leave nothing: a remark" {
	local whole
	whole=$(trfilter -q -c 1 threads.trs)
	while IFS='|' read -r options remark; do
		for count in -c -v '-o x.trs' '-c --with-callers'; do
			# shellcheck disable=SC2086
			run -0 --separate-stderr trfilter $count $options 1 threads.trs
			[[ $stderr == "trfilter: $remark"* ]] || fail "$count $options: $stderr"
		done
	done <<-'END'
		--since 1s --until 2s|no event is in the range of --since and --until: the times are from
		--since +1h|no event is in the range of --since and --until: the times are from
		--sample 0/1000000|no value of tid is in the sample: --sample keeps 0 of 1000000
		--between depth==77 1|no event matches the first condition of --between
	END
	# the times can be pasted
	run -0 --separate-stderr trfilter -c --since +1h 1 threads.trs
	assert_output 0
	run -0 trfilter -c --since "$(sed 's/.* from \(.*\) to .*/\1/' <<<"$stderr")" 1 threads.trs
	assert_output "$whole"
	run -0 --separate-stderr trfilter -q -c --since +1h 1 threads.trs
	assert_equal "$stderr" ''
}

@test "a limit does not hide a field that no event has" {
	for options in '-n 3' '-n 3 -c' '-n 3 -q' '-n 3 -o x.trs'; do
		rm -f x.trs
		# shellcheck disable=SC2086
		run -2 errors trfilter $options 'depth >= 0 || nosuch == 3' basic-pg.trs
		assert_output --partial "no event has a field 'nosuch'"
		[ ! -e x.trs ]
	done
}

@test "--between takes ranges in each thread" {
	trfilter --between 'name == "nap"' 'name == "reap"' 1 threads-nosched.trs | trencode -q >ranges
	grep -q 'nap()' ranges
	run -1 grep -E 'spawn\(\)|monstartup' ranges
	run -0 trfilter -c --between 1 0 1 threads.trs
	assert_output "$(trfilter -c 1 threads.trs)"
	run -0 trfilter -qc --between 0 1 1 threads.trs
	assert_output 0
	run -2 errors trfilter --between 'dur > 1' 1 1 threads.trs
	assert_output --partial 'not whole calls'
}

@test "--sample takes the same threads everywhere" {
	trfilter --sample 1/2 1 threads.trs | trstat -g tid -c count -t tsv | sort >a
	trfilter --sample 1/2 --by tid 1 threads-nosched.trs | trstat -g tid -c count -t tsv | sort >b
	[ "$(wc -l <a)" -gt 1 ]
	run -0 trfilter -c --sample 2/2 1 threads.trs
	assert_output "$(trfilter -c 1 threads.trs)"
	run -0 trfilter -qc --sample 0/2 1 threads.trs
	assert_output 0
	count 'kind == enter' <(trfilter --sample 1/2 --by name 1 threads-nosched.trs) \
		"$(trfilter --sample 1/2 --by name 1 threads-nosched.trs | trfilter -c 'kind == leave')"
	run -2 errors trfilter --sample 3/2 1 threads.trs
	run -2 errors trfilter --by tid 1 threads.trs
}

@test "what cannot be asked is refused with the reason" {
	run -2 --separate-stderr trfilter 'total > 1ms' threads.trs
	assert_equal "$stderr" "trfilter: expression, column 1: unknown field 'total'; did you mean 'dur'?"
	run -2 --separate-stderr trfilter 'under(dur > 1ms)' threads.trs
	assert_equal "$stderr" 'trfilter: expression, column 1: under() tests the enter of a call: its name, thread, time, fields or arguments'
	run -2 --separate-stderr trfilter 'dur > time' threads.trs
	assert_equal "$stderr" 'trfilter: expression, column 1: a value of the enter cannot be compared with a value of the whole call'
	run -2 --separate-stderr trfilter -D x 1 threads.trs
	assert_equal "${stderr_lines[0]}" "trfilter: -D needs a number, not 'x'"
}

@test "--explain shows conditions on whole calls, and when they are tested" {
	run -0 trfilter --explain 'dur > 1ms && under("f") && over(tid == 3)'
	assert_line --index 0 'keep dur > 1000000ns'
	assert_line --index 1 '     tested for each call, as soon as the result is known'
	assert_line --index 2 'and  under(name == "f")'
	assert_line --index 3 '     tested for each event, with the calls around it; a call is tested at its enter'
	assert_line --index 4 'and  over(tid == 3)'
}

@test "calls in the kernel outside any call stay apart after a filter, however many ranges of times they have" {
	mkdir k
	cat >k/metadata <<-'END'
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; } := u8;
		clock { name = c; };
		trace { major = 1; minor = 8; byte_order = le; };
		env { tracer_name = "trencode"; };
		stream { event.header := struct { u8 id;
				integer { size = 32; align = 8; byte_order = be; map = clock.c.value; } timestamp; };
			event.context := struct { u8 _tid; }; };
		event { id = 0; name = "e"; model.emf.uri = "urn:trutils:enter"; fields := struct { string _name; }; };
		event { id = 1; name = "x"; model.emf.uri = "urn:trutils:leave"; fields := struct { string _name; }; };
		event { id = 2; name = "ke"; model.emf.uri = "urn:trutils:enter:kernel"; fields := struct { string _name; }; };
		event { id = 3; name = "kx"; model.emf.uri = "urn:trutils:leave:kernel"; fields := struct { string _name; }; };
	END
	# each time: k in a call g, and k after a call f, outside any call
	LC_ALL=C awk 'function put(id, name) {
			t++
			printf "%c%c%c%c%c%c%s%c", id, 0, t / 65536 % 256, t / 256 % 256, t % 256, 7, name, 0
		}
		BEGIN { for (i = 0; i < 70000; i++) {
			put(0, "g"); put(2, "k"); put(3, "k"); put(1, "g")
			put(0, "f"); put(1, "f"); put(2, "k"); put(3, "k") } }' >k/s
	trdecode k >k.trs
	run -0 pipefail "trstat -q -c count -t tsv k.trs"
	assert_line $'k\t70000'
	# two filters: the second one repeats the ranges that the first one wrote
	run -0 pipefail "trfilter 'name != \"f\" && name != \"g\"' k.trs | trfilter 'dur >= 0' | trstat -c count -t tsv 2>&1"
	assert_line $'k\t70000'
	assert_line --partial '70000 calls in the kernel outside any call'
}

@test "a side that is calculated decides as the field alone, also of calls without a leave" {
	for trace in uftrace/fib uftrace/jumps apitrace/v6.trace apitrace/sides.trace; do
		trdecode -q "$DATA/$trace" | trsym -q >plain.trs
		while IFS='|' read -r plain calculated; do
			# ticks have no unit
			[[ $trace != apitrace/* ]] || plain=${plain//ns/} calculated=${calculated//ns/}
			for option in -q -v; do
				trfilter -q $option "$plain" plain.trs | trencode -q -t ndjson >plain.rows
				trfilter -q $option "$calculated" plain.trs | trencode -q -t ndjson | cmp - plain.rows ||
					fail "$trace: $calculated"
			done
		done <<-'EOF'
			dur > 1000ns|dur + 0 > 1000ns
			dur <= 10000ns && children < 2|dur * 2 <= 20000ns && children + 0 < 2
			!(dur > 5000ns) && arg.1 == 1|!(0 < dur - 5000ns) && arg.1 - 1 == 0
			ret < 0 && self < 1000ns|0 > ret * 1 && self * 2 < 2000ns
			kind == leave && ret == 0|kind == leave && ret * 1 == 0
			over(depth > 2)|over(depth - 2 > 0)
		EOF
	done
}
