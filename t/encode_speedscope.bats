# trencode -t speedscope: an evented profile for each thread.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

speedscope() {
	trencode -q -t speedscope "$@" x.trs >out.json || (($? == 1))
}

# What speedscope itself requires: times that do not go back, closes of what was opened last. Prints
# name, count, total of outermost calls, self, total of all calls.
replay() {

	jq -r '.shared.frames as $f | .profiles[] | "P\t\(.startValue)\t\(.endValue)",
		(.events[] | "\(.type)\t\(.at)\t\($f[.frame].name)")' out.json | awk -F '\t' '
		$1 == "P" { if (n) exit 1; last = $2; end = $3; next }
		$2 < last || $2 > end { print "time goes back"; exit 1 }
		{ last = $2 }
		$1 == "O" { name[++n] = $3; start[n] = $2; child[n] = 0; open[$3]++; next }
		name[n] != $3 { print "wrong close"; exit 1 }
		{ d = $2 - start[n]; count[$3]++; self[$3] += d - child[n]; if (--open[$3] == 0) total[$3] += d
			all[$3] += d; n--; child[n] += d }
		END { if (n) exit 1
			for (f in count) printf "%s\t%d\t%.0f\t%.0f\t%.0f\n", f, count[f], total[f], self[f], all[f] }' | sort
}

@test "count, total and self are trstat's" {
	stream "$DATA/uftrace/fib"
	speedscope
	replay | cut -f 1-4 >ours
	calls >theirs
	diff theirs ours
}

@test "and so they are for other recordings" {
	for d in args-spec basic-pg dlopen deep-default kill-segv threads; do
		stream "$U/$d"
		speedscope
		replay | cut -f 1-4 >ours
		calls >theirs
		diff theirs ours
	done
}

@test "longjmp, exec and lost events leave a balanced profile, with every call as long as it was" {
	for d in longjmp forkexec lost; do
		for how in close drop; do
			stream "$U/$d"
			speedscope --unclosed=$how
			replay | cut -f 1,2,5 >ours
			trencode -q -t tsv --no-header --unclosed=$how --columns name,dur,kind x.trs |
				awk -F '\t' '$3 == "call" { n[$1]++; t[$1] += $2 }
					END { for (f in n) printf "%s\t%d\t%.0f\n", f, n[f], t[f] }' | sort >theirs
			diff theirs ours
		done
	done
}

@test "dropped calls are not there" {
	stream "$U/kill-segv"
	speedscope --unclosed=drop
	replay | cut -f 1,2 >dropped
	returned >whole
	diff whole dropped
}

@test "a profile for each thread, named" {
	stream "$DATA/uftrace/fib"
	speedscope
	run -0 jq -r '.profiles[] | "\(.name) \(.unit)"' out.json
	assert_line --index 0 'fib [4123] nanoseconds'
	assert_equal "${#lines[@]}" 3
}

@test "calls of apitrace: ticks, and overlapping ones are counted" {
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	speedscope
	replay >out
	run -0 jq -r '.profiles[0].unit' out.json
	assert_output none
}

@test "memory goes with the depth, not with the events" {
	[[ -x /usr/bin/time ]] || skip 'no /usr/bin/time'
	unsanitized 'it needs more memory'
	source "$ROOT/t/many.bash"
	records 800 >each
	many long 1000 each
	trdecode long >x.trs
	/usr/bin/time -f %M -o rss trencode -q -t speedscope x.trs >out.json
	[[ $(cat rss) -lt 20000 ]]
}

@test "concatenated streams whose times step back" {
	stream "$U/basic-pg"
	mv x.trs one.trs
	stream "$U/threads"
	# whichever is older: their clock is the same
	cat one.trs x.trs one.trs >both.trs
	mv both.trs x.trs
	for how in start none; do
		speedscope --rebase=$how
		replay | cut -f 1-4 >ours
		calls >theirs
		diff theirs ours
	done
}

@test "a trace without calls has a profile all the same: speedscope cannot load a file without" {
	printf '[{"ph":"i","pid":1,"ts":5,"name":"m"},{"ph":"i","pid":1,"ts":7,"name":"m"}]' | trdecode -q -f chrome - >x.trs
	run -0 pipe "trencode -q -t speedscope x.trs | jq -c '[.profiles[] | [.type, .startValue, .endValue, .events]]'"
	assert_output '[["evented",0,2000,[]]]'
	echo '[]' | trdecode -q -f chrome - >x.trs
	run -0 pipe "trencode -q -t speedscope x.trs | jq -c '.profiles | length'"
	assert_output 1
}

@test "asynchronous calls that overlap with the calls of their thread are left out, and counted" {
	mixed | trdecode -f chrome - >x.trs
	run -0 pipe 'trencode -t speedscope x.trs 2>&1 >out.json'
	assert_line 'trencode: 3 calls overlap others of their thread: left out'
	run -0 replay
	assert_output $'in\t1\t2000\t2000\t2000
k\t1\t2000\t1500\t2000
last\t1\t500\t500\t500
outer\t1\t5000\t3000\t5000'
}
