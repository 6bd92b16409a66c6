# trencode -t folded: stacks with their self time.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

folded() {
	pipefail "trdecode -q '$1' | trsym -q | trencode -q -t folded"
}

@test "one thread's stacks" {
	folded "$U/basic-nopie" >out
	run -0 head -n 3 out
	assert_line --index 0 --regexp '^main [0-9]+$'
	assert_line --index 1 --regexp '^main;even [0-9]+$'
	assert_line --index 2 --regexp '^main;even;odd [0-9]+$'
}

@test "stacks are sorted bytewise, each once, with a positive number" {
	for d in $(good); do
		folded "$U/$d" >out
		sed 's/ [0-9]*$//' out >stacks
		LC_ALL=C sort -cu stacks
		run -1 grep -vE '^[^;]+(;[^;]+)* [1-9][0-9]*$' out
	done
}

@test "per name, the sums are trstat's self times" {
	for d in $(good); do
		trdecode -q "$U/$d" | trsym -q >x.trs
		trencode -t folded x.trs 2>remarks >out
		# trstat leaves calls without a return out, and their time where it was; the frames
		# above 1024 others have no names
		! grep -q 'ended without a return\|more than 1024 frames' remarks || continue
		awk <out '{
			n = $NF; sub(/ [0-9]*$/, ""); sub(/.*;/, ""); self[$0] += n
		} END { for (f in self) printf "%s\t%.0f\n", f, self[f] }' | sort >folded
		trstat -q -g name -c self -t tsv x.trs | tail -n +2 |
			awk -F '\t' '$2 > 0' | sort >trstat
		diff trstat folded
	done
}

# With samples of 1 ns uftrace's flame graph is ours, where one task runs without longjmp, events are
# not lost, and no number is cut by its output.
@test "stacks and times of uftrace dump --flame-graph" {
	need uftrace
	for d in args-spec2 basic-pg basic-cyg basic-nopie be-synth depth-filter dlopen exc-cyg exc-pg \
		exit-mid kill-segv libcall-only signal srcline tailcall; do
		folded "$U/$d" >ours
		uftrace dump --no-pager --flame-graph --sample-time 1 -d "$U/$d" | LC_ALL=C sort >theirs
		diff theirs ours
	done
}

@test "a forked child's stacks hang on the frames that it returns from" {
	folded "$U/forkexec" >out
	# it returns from fork into spawn_plain, and calls exit from what it never leaves
	run -0 grep -c '^<0>;exit' out
	run -1 grep spawn_plain\;exit out
	run -0 grep '^<0>;spawn_plain' out
	# what it never leaves has no time of its own, as in uftrace
	run -1 grep '^<0> ' out
}

@test "separators in names are replaced" {
	cp -r "$U/basic-pg" odd
	chmod -R u+w odd
	sed -i 's/ T leaf$/ T a;b c/; s/ T work$/ T work 7/' odd/basic.sym
	folded odd >out
	run -0 grep ':' out
	assert_line --regexp '^main;work 7;a:b c [0-9]+$'
	run -0 grep -c '^main;work 7 [0-9]*$' out
}

@test "open calls are closed and counted" {
	run -0 pipe "trdecode '$U/kill-segv' | trsym | trencode -t folded 2>&1 >/dev/null"
	assert_line --regexp "^trencode: [1-9][0-9]* calls? had not returned at the end of the trace: closed at their thread's last event$"
	run -0 pipe "trdecode '$U/kill-segv' | trsym | trencode -q -t folded 2>&1 >/dev/null"
	assert_output ''
}

@test "what stacks cannot hold is counted" {
	run -0 pipe "trdecode '$U/args-spec' | trencode -t folded 2>&1 >/dev/null"
	assert_line --regexp '^trencode: [1-9][0-9]* other events? left out: folded stacks hold calls and samples only$'
	assert_line --regexp '^trencode: [1-9][0-9]* calls? without (its|their) arguments: folded stacks hold no arguments$'
}

@test "memory goes with the stacks, not with the events" {
	[[ -x /usr/bin/time ]] || skip 'no /usr/bin/time'
	unsanitized 'it needs more memory'
	source "$ROOT/t/many.bash"
	records 2000 >each
	many long 500 each
	trdecode long >x.trs
	/usr/bin/time -f %M -o rss trencode -q -t folded x.trs >out
	[[ $(cat rss) -lt 16000 ]]
}

@test "an output that fails is status 2" {
	trdecode "$U/threads" >x.trs
	run -2 pipe 'trencode -q -t folded x.trs >/dev/full'
	assert_output --partial 'No space left on device'
}

@test "names that are not UTF-8 become text that is" {
	printf '[{"ph":"B","pid":1,"tid":1,"ts":0,"name":"a\xff;b"},{"ph":"E","pid":1,"tid":1,"ts":2}]' |
		trdecode -q -f chrome - >x.trs
	run -0 pipe 'trencode -q -t folded x.trs | iconv -f UTF-8 -t UTF-8'
	assert_output $'a\xef\xbf\xbd:b 2000'
}

@test "control characters in names are escaped, in folded and in the key stack" {
	cd "$BATS_TEST_TMPDIR"
	echo '[{"ph":"X","pid":1,"tid":1,"ts":7,"dur":1,"name":"nl\nx"},
		{"ph":"X","pid":1,"tid":1,"ts":9,"dur":2,"name":"nlx"}]' >x.json
	trdecode -f chrome x.json >x.trs
	run -0 trencode -q -t folded x.trs
	assert_output 'nl\x0ax 1000
nlx 2000'
	run -0 trstat -q -g stack -c total -t csv x.trs
	assert_line 'nl\x0ax,1000'
}

@test "calls with numbers have the times that trstat counts, and their values are counted" {
	local trace
	cd "$BATS_TEST_TMPDIR"
	for trace in v6 threads sides pending; do
		trdecode -q "$DATA/apitrace/$trace.trace" >x.trs
		trencode -q -t folded x.trs >folded.txt
		trstat -q -g name -c total -t csv x.trs | sed -n '2,${/,0$/!p}' | tr , ' ' | sort >total.txt
		# a backtrace is below its call
		sed 's/.*;//' folded.txt | awk '{ n[$1] += $2 } END { for (c in n) print c, n[c] }' | sort >leaves.txt
		run -0 diff leaves.txt total.txt
	done
	trdecode -q "$DATA/apitrace/v6.trace" >x.trs
	run -0 --separate-stderr trencode -t folded x.trs
	[[ $stderr == *'32 calls without their arguments'* ]]
}

@test "a segment by itself has the stacks of the calls that end in it, and their self times" {
	segments
	trencode -q --unclosed=drop -t folded x.trs | sort >whole
	each_segment folded | awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' | sort >parts
	[ -s whole ]
	diff whole parts
}
