# trfilter --keep, --drop, --scrub: fewer fields, pseudonyms.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	IRQ=$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat
}

# hidden WORD... -- FILE...: none of the words is in a file
hidden() {
	local words=()
	while [[ $1 != -- ]]; do words+=(-e "$1") && shift; done
	shift
	run -1 bash -c 'strings -n 3 "$1" | grep -F "${@:2}"' - "$1" "${words[@]}"
	refute_output
}

@test "--keep and --drop take fields out of events" {
	trdecode "$IRQ" >all.trs
	trfilter --drop prev_comm,next_prio 'type == "sched_switch"' all.trs >less.trs
	trencode -t csv less.trs >less.csv
	run -0 grep -c prev_pid less.csv
	assert_output "$(trfilter -c 'type == "sched_switch"' all.trs)"
	run -1 grep -e prev_comm -e next_prio less.csv
	# what is left has the values it had
	diff <(trencode -t ndjson less.trs | jq -c .args) \
		<(trfilter 'type == "sched_switch"' all.trs | trencode -t ndjson |
			jq -c '.args | del(.prev_comm, .next_prio)')
	diff <(trfilter --keep prev_pid,next_comm 'type == "sched_switch"' all.trs | trencode -t ndjson | jq -c .args) \
		<(trfilter 'type == "sched_switch"' all.trs | trencode -t ndjson | jq -c '.args | {prev_pid, next_comm}')
	# the text shows what there is
	run -0 --separate-stderr pipefail "trencode less.trs | sed -n 1,3p"
	refute_output --partial FAILED
	assert_output --partial 'next_comm="rcu_preempt"'
	# and the expression sees all fields
	run -0 pipe "trfilter --drop prev_pid 'prev_pid == 0' all.trs | trfilter -c 1"
	assert_output "$(trfilter -c 'prev_pid == 0' all.trs)"
	# a big-endian trace
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >be.trs
	diff <(trfilter --drop prev_comm 'type == "sched_switch"' be.trs | trencode -t ndjson | jq -c .args) \
		<(trfilter 'type == "sched_switch"' be.trs | trencode -t ndjson | jq -c '.args | del(.prev_comm)')
}

@test "a reduced stream makes traces that the tools read" {
	trdecode "$IRQ" | trfilter --drop prev_comm 1 >less.trs
	trencode -q -t trace-cmd -o less.dat less.trs 2>/dev/null
	run -0 pipefail 'trdecode less.dat | trfilter -c "type =~ \"sched_switch\""'
	assert_output "$(trfilter -c 'type == "sched_switch"' less.trs)"
	if command -v trace-cmd; then trace-cmd report less.dat | grep -q 'sched_switch: .*217'; fi
}

@test "--drop takes arguments out of calls" {
	trdecode "$RECORDED/uftrace/args-spec" 2>/dev/null | trsym >a.trs
	run -0 --separate-stderr pipefail "trfilter --drop arg.2,ret 1 a.trs | trencode | grep -m 1 ints"
	assert_output --partial 'ints(-1, 70000, -5000000000);'
	run -0 --separate-stderr pipefail "trfilter --keep ret 1 a.trs | trencode | grep -m 1 ints"
	assert_output --partial 'ints() = -704963005;'
	trfilter --drop arg,ret 1 a.trs | trencode -q -t uftrace -o less
	if command -v uftrace; then
		run -0 --separate-stderr uftrace replay -d less
		assert_output --partial 'ints();'
		assert_equal "$stderr" ''
	fi
}

@test "arguments with names are taken out by them" {
	trdecode "$DATA/apitrace/v6.trace" >a.trs
	run -0 --separate-stderr pipefail "trfilter --drop arg.neg,arg.str 'name == \"kinds\"' a.trs | trencode"
	assert_output --partial 't = true, neg = ?, pos = 1'
	refute_output --partial 'str = "hi"'
}

@test "a name that no event has is said, and wrong options are refused" {
	trdecode "$IRQ" >all.trs
	run -2 errors bash -c 'trfilter --drop no_such,prev_pid 1 all.trs >x.trs'
	assert_output "trfilter: no event has a field 'no_such'; trdecode --list names the fields"
	run -0 errors bash -c 'trfilter --keep arg.9,next_pid 1 all.trs >x.trs'
	assert_output --partial "trfilter: no event has a field 'arg.9'"
	run -2 errors trfilter --keep a --drop b 1 all.trs
	assert_output --partial 'use --keep or --drop, not both'
	run -2 errors trfilter --scrub nmaes 1 all.trs
	assert_output --partial "not 'nmaes'"
	run -2 errors trfilter --key x 1 all.trs
	assert_output --partial '--key goes with --scrub'
}

@test "the stream and its conversions contain no scrubbed word" {
	trdecode "$IRQ" >all.trs
	trfilter -q --scrub names,args,paths --key 'my secret' 'comm != "janedoe"' all.trs >s.trs
	words=(rcu_preempt swapper "${IRQ##*/}" secret janedoe process_timeout)
	hidden "${words[@]}" -- s.trs
	trencode -q s.trs >s.txt 2>/dev/null
	hidden "${words[@]}" -- s.txt
	for format in chrome csv; do trencode -q -t $format s.trs >s.$format 2>/dev/null && hidden "${words[@]}" -- s.$format; done
	run -0 trfilter -c 1 s.trs
	assert_output "$(trfilter -c 1 all.trs)"
	trencode -q -t trace-cmd -o s.dat s.trs 2>/dev/null
	trdecode s.dat >again.trs
	run -0 trfilter -c 'kind != gap' again.trs
	assert_output "$(trfilter -c 'kind != gap' all.trs)"
}

@test "calls keep their shape, times and statistics under pseudonyms" {
	trdecode "$RECORDED/uftrace/args-spec" 2>/dev/null | trsym >a.trs
	run -0 --separate-stderr bash -c 'trfilter --scrub names,args,paths --key k 1 a.trs >s.trs'
	assert_regex "$stderr" '^trfilter: left out, as it may contain names: args.dbg, args.sym, .* of the source$'
	hidden main hello __monstartup libc args .so uftrace/ world considerably -- s.trs
	diff <(trstat -g name -t tsv a.trs | cut -f 2- | sort) <(trstat -g name -t tsv s.trs | cut -f 2- | sort)
	diff <(trencode a.trs | sed 's/|\( *\).*/|\1/') <(trencode s.trs | sed 's/|\( *\).*/|\1/')
	# the condition is asked of what came
	run -0 pipe "trfilter -q --scrub names 'name == \"main\"' a.trs | trfilter -c 1"
	assert_output 1
	run -0 --separate-stderr pipefail 'trfilter --scrub names "dur > 1us" a.trs | trencode'
	refute_output --partial main
	if command -v uftrace; then
		trencode -q -t uftrace -o u s.trs
		run -0 --separate-stderr uftrace replay -d u
		assert_equal "$(wc -l <<<"$output")" \
			"$(uftrace replay -d "$RECORDED/uftrace/args-spec" | wc -l)"
	fi
}

@test "the same key gives the same pseudonyms, another key and no key others" {
	trdecode "$IRQ" >all.trs
	for key in one one two; do
		trfilter -q --scrub names --key $key 1 all.trs | trstat -g comm -t tsv | sort | cksum
	done >sums
	for _ in 1 2; do trfilter -q --scrub names 1 all.trs | trstat -g comm -t tsv | sort | cksum; done >>sums
	assert_equal "$(sort -u sums | wc -l)" 4
	assert_equal "$(sed -n 1p sums)" "$(sed -n 2p sums)"
	# of a thread and of what names it
	comm=$(trfilter -q --scrub names --key one 'comm == "rcu_preempt"' all.trs | trstat -g comm -t tsv | sed -n '2s/\t.*//p')
	trfilter -q --scrub names --key one 1 all.trs | trfilter -c "next_comm == '$comm'" >n
	assert_equal "$(cat n)" "$(trfilter -c 'next_comm == "rcu_preempt"' all.trs)"
}

@test "texts of LTTng, CTF and apitrace are scrubbed, and encoders take them" {
	local trace words
	while read -r trace words; do
		trdecode "$DATA/$trace" >all.trs 2>/dev/null
		trfilter -q --scrub names,args,paths 1 all.trs >s.trs
		for word in $words; do grep -qaF "$word" all.trs; done
		assert_equal "$(trfilter -c 1 s.trs)" "$(trfilter -c 1 all.trs)"
		trencode -q s.trs >s.txt
		# an event is a line at least
		[ "$(wc -l <s.txt)" -ge "$(trencode -q -t ndjson s.trs | jq -c 'select(.kind != "gap")' | wc -l)" ]
		for name in all s; do
			trencode -q -t apitrace -o $name.trace $name.trs
			trdecode $name.trace >$name-again.trs
			rm $name.trace
		done
		assert_equal "$(trfilter -c 1 s-again.trs)" "$(trfilter -c 1 all-again.trs)"
		for file in s.trs s.txt s-again.trs; do
			# shellcheck disable=SC2086
			hidden $words "${trace##*/}" -- $file
		done
	done <<-END
		lttng/v2.6-le64-packed.tar.gz /etc/passwd /home/john e1000
		ctf/kinds.tar.gz hello
		apitrace/v6.trace human glXCreateContext
	END
}

@test "an input cut or flipped anywhere does no harm" {
	trdecode -o all.trs "$DATA/apitrace/v6.trace"
	RANDOM=7
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		cp all.trs bad.trs
		flip bad.trs 3
		run trfilter -q --drop arg.1 --scrub names,args,paths 1 bad.trs
		((status < 2)) || fail "status $status"
		run bash -c "head -c $((RANDOM % $(stat -c %s all.trs))) all.trs | trfilter -q --keep ret --scrub args 1 - >x.trs"
		((status <= 2)) || fail "status $status"
	done
}

@test "calls of apitrace stay calls, whatever is kept of them" {
	trdecode -o all.trs "$DATA/apitrace/threads.trace"
	n=$(rows_of 1 all.trs)
	for options in '--keep arg.mode' '--keep arg,ret' '--keep ret' '--drop frame' '--drop call,frame' '--keep arg.mode,call'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr trfilter $options 1 all.trs -o less.trs
		[[ -z $stderr ]] || fail "$stderr"
		assert_equal "$options $(trencode -q --all-calls less.trs | grep -c '^[0-9]')" "$options $((n / 2))"
		for t in apitrace uftrace lttng trace-cmd; do
			rm -rf out
			trencode -q --tick 1us -t $t -o out less.trs
			if [[ $t == apitrace || $t == uftrace ]]; then
				assert_equal "$options $t $(trdecode -q out | rows_of 'kind in {enter, leave}')" "$options $t $n"
			fi
			run -0 pipe "trdecode -q out | trfilter -c 'kind == enter'"
			((output >= n / 2)) || fail "$options $t: $output"
		done
	done
	run -0 pipe "trfilter --keep arg.mode 'name == \"glBegin\"' all.trs | trencode -q | grep -c 'glBegin(mode = GL_TRIANGLES)'"
	assert_output "$(grep -c 'glBegin(mode = GL_TRIANGLES)' "$DATA/apitrace/threads.txt")"
	run -2 pipe "trfilter --drop frame 1 all.trs | trstat -q -t tsv -g frame -c count"
	assert_output --partial "no event has a field 'frame'"
}

@test "scrubbed messages are not in the file of uftrace that contains them either" {
	trdecode -q "$RECORDED/uftrace/extern-data" 2>/dev/null | trsym -q >e.trs
	grep -q 'first message' e.trs
	run -0 --separate-stderr bash -c 'trfilter --scrub args 1 e.trs >args.trs'
	assert_equal "$stderr" 'trfilter: left out, as it may contain values: extern.dat of the source'
	hidden 'first message' -- args.trs
	trfilter -q --drop message 1 e.trs >dropped.trs
	hidden 'first message' -- dropped.trs
	trfilter -q --keep ret 1 e.trs >kept.trs
	hidden 'first message' -- kept.trs
	# who keeps them has both
	run -0 pipe "trfilter -q --keep message 1 e.trs | strings | grep -c 'first message'"
	assert_output "$(strings e.trs | grep -c 'first message')"
}
