# trfilter: what is around a match, what encloses it, limits; on traces that are written here.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cat >m.json <<-'END'
		[{"ph":"B","name":"outer","pid":1,"tid":1,"ts":1},
		{"ph":"i","name":"i1","pid":1,"tid":1,"ts":2},
		{"ph":"i","name":"i2","pid":1,"tid":1,"ts":3},
		{"ph":"i","name":"x","pid":1,"tid":1,"ts":4, "args": {"v": 94}},
		{"ph":"i","name":"i3","pid":1,"tid":1,"ts":5, "args": {"v": 92}},
		{"ph":"i","name":"i4","pid":1,"tid":1,"ts":6},
		{"ph":"E","pid":1,"tid":1,"ts":7},
		{"ph":"i","name":"i5","pid":1,"tid":1,"ts":8},
		{"ph":"i","name":"i6","pid":1,"tid":1,"ts":9}]
	END
	trdecode m.json >m.trs
}

# names FILE: of its events, in one line; calls at their end
names() {
	trencode -q -t ndjson "$1" | jq -r .name | tr '\n' ' ' | sed 's/ $//'
}

# keeps 'OPTIONS' EXPRESSION NAMES [FILE...]
keeps() {
	local options=$1 expression=$2 want=$3
	shift 3
	# shellcheck disable=SC2086 # several options
	trfilter $options "$expression" "${@:-m.trs}" >kept.trs
	assert_equal "$options: $(names kept.trs)" "$options: $want"
}

# ticks N FILE: a stream of N instants, one named alpha after every ten; with segments
ticks() {
	jq -cn --argjson n "$1" '[range($n) | {ph: "i", pid: 1, tid: 1, ts: ., name: (if . % 11 == 10 then "alpha" else "t" end)}]' >t.json
	trdecode t.json >"$2"
	trdecode --segment 64 t.json >"segments-$2"
}

@test "-B reaches over any number of blocks" {
	ticks 400 t.trs
	for options in '-B 4' '-B 9' '-B 40' '-B 4 -A 3' '--within 3us' '-B 1 --within 1us' '-B 30 -n 3'; do
		# shellcheck disable=SC2086
		run -0 trfilter $options -c 'name == "alpha"' segments-t.trs
		# shellcheck disable=SC2086
		assert_output "$(trfilter $options -c 'name == "alpha"' t.trs)"
	done
	run -0 trfilter -B 4 -c 'name == "alpha"' segments-t.trs
	assert_output $((36 * 5))
}

@test "--with-callers keeps what encloses, and nothing that is open above it" {
	cat >c.json <<-'END'
		[{"ph":"B","name":"main","pid":1,"tid":1,"ts":0},
		{"ph":"B","name":"outer","pid":1,"tid":1,"ts":1},
		{"ph":"B","name":"mid","pid":1,"tid":1,"ts":2},
		{"ph":"B","name":"in","pid":1,"tid":1,"ts":90},
		{"ph":"E","pid":1,"tid":1,"ts":100},
		{"ph":"E","pid":1,"tid":1,"ts":101},
		{"ph":"E","pid":1,"tid":1,"ts":110},
		{"ph":"E","pid":1,"tid":1,"ts":111}]
	END
	# segments, and so blocks, are as short as can be: calls are decided while others are open
	for segment in 64 1K 1M; do
		trdecode --segment $segment c.json >c.trs
		keeps --with-callers 'dur == 109us' 'outer main' c.trs
		keeps --with-callers 'dur > 99us' 'outer main' c.trs
		keeps --with-callers 'dur > 98us' 'mid outer main' c.trs
		keeps --with-callers 'dur < 20us' 'in mid outer main' c.trs
		run -0 trfilter --with-callers -c 'dur > 99us' c.trs
		assert_output 2
	done
}

@test "what encloses a match is no match" {
	keeps '--with-callers' 'name == "x"' 'x outer'
	keeps '--with-callers -A 1' 'name == "x"' 'x i3 outer'
	keeps '--with-callers -B 1' 'name == "x"' 'i2 x outer'
	keeps '--with-callers --within 1us' 'name == "x"' 'i2 x i3 outer'
	keeps '--with-callers -n 1' 'name == "x"' 'x outer'
	keeps '--with-callers -n 1 -A 1' 'name == "x"' 'x i3 outer'
	keeps '-A 1 -n 1' 'name == "x"' 'x i3'
	# unless it matches too, be it at its end
	keeps '--with-callers -A 1' 'name == "x" || dur > 1us' 'i1 x i3 outer i5'
	keeps '--with-callers -B 1' 'name == "x" || self > 5us' 'i2 x i4 outer'
	# calls are kept whole, whatever is cut off
	keeps '--with-callers --since 4us' 'name == "x"' 'x outer'
	keeps '--with-callers --until 5us' 'name == "x"' 'x outer'
}

@test "--within 0 is what happened at the same time" {
	cat >s.json <<-'END'
		[{"ph":"i","name":"a","pid":1,"tid":1,"ts":1},
		{"ph":"i","name":"b","pid":1,"tid":2,"ts":2},
		{"ph":"i","name":"c","pid":1,"tid":3,"ts":2},
		{"ph":"i","name":"d","pid":1,"tid":4,"ts":2},
		{"ph":"i","name":"e","pid":1,"tid":5,"ts":3}]
	END
	trdecode s.json >s.trs
	keeps '--within 0' 'name == "c"' 'b c d' s.trs
	keeps '--within 1us' 'name == "c"' 'a b c d e' s.trs
}

@test "nothing reaches from one stream into the next" {
	keeps '-A 4' 'name == "i6"' 'i6 i6' m.trs m.trs
	keeps '-B 4' 'name == "i1"' 'i1 outer i1 outer' m.trs m.trs
	cat m.trs m.trs >both.trs
	keeps '-A 4' 'name == "i6"' 'i6 i6' both.trs
	keeps '--within 1h' 'name == "i6" && time == 9000ns' 'i1 i2 x i3 i4 outer i5 i6 i1 i2 x i3 i4 outer i5 i6' both.trs
	trdecode --offset m.json=1s m.json >late.trs
	keeps '--within 1us' 'name == "i6" && time > 1s' 'i5 i6' m.trs late.trs
	# a range that was not closed ends with its stream
	keeps '--between name=="i5" name=="no"' 1 'i5 i6 i5 i6' both.trs
}

@test "each stream has its own end" {
	jq -c '.[].ts += 1000' m.json >n.json
	trdecode n.json >n.trs
	cat m.trs n.trs >both.trs
	trfilter -q 0 m.trs >none.trs
	cat m.trs none.trs n.trs none.trs >all.trs
	trdecode --segment 64 m.json >segments.trs
	for files in 'm.trs n.trs' 'n.trs m.trs' both.trs 'm.trs none.trs n.trs' all.trs 'segments.trs n.trs'; do
		# shellcheck disable=SC2086
		keeps '--since -1us' 1 'i5 i6 i5 i6' $files
		# shellcheck disable=SC2086
		keeps '--until -7us' 1 'outer outer' $files
	done
	keeps '--since -1us' 1 'i5 i6 i5 i6' - <both.trs
	head -c $(($(stat -c %s both.trs) - 8)) both.trs >cut.trs
	run -2 errors trfilter --since -1us 1 cut.trs
	assert_output --partial 'cut.trs: a time before the end needs a complete saved stream'
	run -2 pipe 'cat both.trs | trfilter --since -1us 1 m.trs -'
	assert_output --partial 'standard input: a time before the end needs'
}

@test "what has nothing to be chosen by is in no sample, and it is said" {
	run -0 --separate-stderr trfilter -c --sample 1/1 --by arg.v 1 m.trs
	assert_output 2
	assert_equal "$stderr" 'trfilter: 6 events without the field arg.v are not in the sample'
	run -0 --separate-stderr trfilter -q -c --sample 1/1 --by no_such 1 m.trs
	assert_output 0
	assert_equal "$stderr" ''
	run -0 --separate-stderr trfilter -c --sample 1/1 1 m.trs
	assert_equal "$stderr" ''
}

@test "under() is of calls alone" {
	run -0 trfilter -c 'under(name == "x")' m.trs
	assert_output 0
	run -0 trfilter -c 'under("outer")' m.trs
	assert_output 6
	run -0 trfilter -c -D 1 'under("outer") || name == "i5"' m.trs
	assert_output 2
	trdecode "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >irq.trs
	run -0 trfilter -c 'under("sched_switch")' irq.trs
	assert_output 0
	run -0 trfilter -c 'over(name == "x")' m.trs
	assert_output 2
}

@test "conditions on single events test the arguments of the enter and the fields of events" {
	keeps '--between arg.v>93 v==92' 1 'x i3'
	keeps '--between name=="x"&&arg.v>100 0' 1 ''
	cat >a.json <<-'END'
		[{"ph":"B","name":"f","pid":1,"tid":1,"ts":1,"args":{"n":1}},
		{"ph":"i","name":"a","pid":1,"tid":1,"ts":2},
		{"ph":"E","pid":1,"tid":1,"ts":3},
		{"ph":"B","name":"f","pid":1,"tid":1,"ts":4,"args":{"n":2}},
		{"ph":"i","name":"b","pid":1,"tid":1,"ts":5},
		{"ph":"E","pid":1,"tid":1,"ts":6},
		{"ph":"i","name":"c","pid":1,"tid":1,"ts":7}]
	END
	trdecode a.json >a.trs
	keeps '' 'under(name == "f" && arg.n > 1)' 'b f' a.trs
	keeps '' '!under(arg.n > 1)' 'a f c' a.trs
	keeps '' 'over(arg.n == 1)' 'f' a.trs
	keeps '--between arg.n==2 name=="c"' 1 'b f c' a.trs
	trdecode "$DATA/apitrace/v6.trace" >api.trs
	for e in 'arg.1 > 0' 'has(arg.2)' 'name == "kinds" && has(arg.1)'; do
		run -0 trfilter -c "under($e) && kind == enter" api.trs
		assert_output "$(trfilter -c "$e && kind == enter" api.trs)"
		[ "$output" -gt 0 ]
	done
	run -2 errors trfilter 'under(arg.n > 1 && dur > 1)' a.trs
	assert_output --partial 'under() tests the enter of a call: its name, thread, time, fields or arguments'
	run -2 errors trfilter --between 'ret > 1' 1 1 a.trs
	assert_output --partial 'not whole calls'
}

@test "--between: leaves that begin or end a range are in it" {
	keeps '--between kind==leave name=="i6"' 1 'i5 i6'
	run -0 trfilter -c --between 'kind == leave' 'name == "i5"' 1 m.trs
	assert_output 2
	run -0 trfilter -c --between 'name == "i4"' 'kind == leave' 1 m.trs
	assert_output 2
	# one without an enter is asked as an event is
	trfilter 'kind != enter' m.trs >left.trs
	run -0 trfilter -c --between 'name == "outer"' 'name == "i5"' 1 left.trs
	assert_output 2
	run -0 trfilter -c --between 'name == "outer"' 'name == "i2"' 1 m.trs
	assert_output 3
}

@test "days that no month has are no date" {
	for day in 2009-02-30 2026-02-29 2026-11-31 2026-13-01 2100-02-29; do
		run -2 errors trfilter --since $day 1 m.trs
		assert_output --partial "not '$day'"
	done
	run -2 errors trfilter --since 2028-02-29 1 m.trs
	assert_output --partial 'no wall time'
}

@test "a call that is kept around a match, and never returns, lasts until the last event of its thread" {
	local condition
	printf '[%s]\n' '{"ph":"B","pid":1,"tid":1,"ts":1,"name":"open"},
		{"ph":"i","pid":1,"tid":1,"ts":2,"name":"match"},
		{"ph":"X","pid":1,"tid":2,"ts":2,"dur":9,"name":"match"},
		{"ph":"i","pid":1,"tid":1,"ts":70,"name":"last"}' >open.json
	for condition in 'name == "match"' 'name == "match" && dur < 1ms'; do
		trdecode open.json | trfilter -B 2 "$condition" | trencode -q -t tsv --no-header -c name,dur,unfinished >got
		grep -qx $'open\t69000\t1' got || fail "$condition: $(<got)"
	done
}

@test "context adds no call that the trace has not" {
	local trace option
	for trace in "$DATA"/uftrace/fib "$DATA"/uftrace/kernel-thread-0.tar.xz "$RECORDED"/uftrace/kernel-sched; do
		trdecode -q "$trace" >whole.trs
		trencode -q -t ndjson -c time,dur,tid,name whole.trs | sort >all
		for option in -A1 -B3 --within=100us '--segment=4K -B3'; do
			if [[ $option == --segment* ]]; then
				trdecode -q --segment=4K "$trace" >whole.trs
			fi
			# shellcheck disable=SC2086 # two options
			trfilter -q ${option#--segment=4K} 'dur > 10us' whole.trs |
				trencode -q -t ndjson -c time,dur,tid,name | sort >kept
			[ -s kept ]
			comm -23 kept all >other
			[ ! -s other ] || fail "$option of $trace: $(head -n 3 other)"
		done
	done
}
