#!/usr/bin/env bats
# trfilter --follow: what worked for one request, in all threads.
# follow.py is an independent model of FOLLOWING ONE REQUEST in trfilter(1).

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	TRACE=$DATA/follow/app.json
}

# Prints "TIME NAME" of the calls and events that are kept, times in us.
kept() {
	trdecode "$TRACE" | trfilter "$@" | trencode -t ndjson |
		jq -r '"\(.time / 1000) \(.name)"' | sort -n | paste -sd,
}

@test "flows: the calls that these lead to, whatever decides the first call and however late" {
	local request='1 request,2 queue,6 queue,7 handle,7.5 part,7.6 queue,13 reply,14 queue'

	[ "$(kept --follow 'arg.id == 7')" = "$request" ]
	[ "$(kept --follow 'arg.id == 7 && dur > 1us')" = "$request" ]
	[ "$(kept --follow 'name == "request" && children == 0' -n 1)" = "$request" ]
	[ "$(kept --follow --with-callers 'arg.id == 7')" = "${request/,2 /,1.5 loop,2 }" ]
	[ "$(trdecode "$TRACE" | trfilter -c --follow 'arg.id == 7')" = 8 ]
	# the call around a flow's end is kept whole, what it did before is not
	[ "$(kept --follow 'flow == 14')" = '7.5 part,7.6 queue,13 reply,14 queue' ]
	[ "$(kept --follow 'flow == 13')" = '4 request,4.5 queue,10 queue,11 handle' ]
	[ "$(kept 'flow in {12, 14}')" = '2 queue,6 queue,7.6 queue,14 queue' ]
}

@test "random traces: the calls and events of the model" {
	local seed

	for seed in 3 5 21 77; do
		"$ROOT"/t/tools/follow.py random $seed 250 >r.json
		"$ROOT"/t/tools/follow.py keep 7 r.json | sort >want
		trdecode r.json | trfilter --follow 'arg.id == 7' | trencode -t ndjson 2>log |
			"$ROOT"/t/tools/follow.py lines | sort >got
		diff want got
		[ -s want ]
	done
}

@test "options that do not go with it are refused, with the reason" {
	local option

	for option in -v '-A 1' '-B 1' '--within 1us' '-D 2'; do
		# shellcheck disable=SC2086
		run trfilter $option --follow 1 "$TRACE"
		[ "$status" = 2 ]
		[[ $output == *"with --follow"* ]]
	done
}

@test "a trace without flows, wakeups and messages: a warning, with the command that records them" {
	sed 's/"ph":"[sf]"/"ph":"i"/' "$TRACE" >plain.json
	run --separate-stderr bash -c "trdecode -q plain.json | trfilter --follow 'arg.id == 7' | trencode | wc -l"
	[ "$output" = 3 ]
	[[ $stderr == *"keeps only the calls themselves"*"trace-cmd record -e sched_waking"* ]]
	run bash -c "trdecode -q plain.json | trfilter -q --follow 'arg.id == 7' >o.trs"
	[ -z "$output" ]
	# a trace that has none of the calls has no remark
	run bash -c "trdecode -q plain.json | trfilter --follow 'arg.id == 99' >o.trs"
	[[ $output != *"--follow"* ]]
}
