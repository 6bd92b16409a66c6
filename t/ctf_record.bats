# Traces that LTTng records now, by a session daemon of this file: events and fields as babeltrace2
# lists them, and every event that the program sent is kept or counted as lost.

load lib

setup_file() {
	local dir=$BATS_FILE_TMPDIR
	command -v lttng lttng-sessiond babeltrace2 cc >/dev/null || return 0
	export LTTNG_HOME=$dir
	# another run of this file may send at the same time: a name of its own to filter by
	export SENDER=$dir/send-$$
	cc -E -include lttng/tracepoint.h -x c /dev/null >/dev/null 2>&1 || return 0
	cc -O2 -w -I"$ROOT" -I"$ROOT/t/bench" -o "$SENDER" "$ROOT/t/bench/lttng-ust.c" -llttng-ust -ldl
	# root has one daemon on a machine
	lttng --no-sessiond list >/dev/null 2>&1 ||
		lttng-sessiond --no-kernel --daemonize --pidfile "$dir/daemon.pid" >/dev/null 2>&1 3>&- || return 0
	touch "$dir/ready"
}

teardown_file() {
	[[ ! -s $BATS_FILE_TMPDIR/daemon.pid ]] || kill "$(<"$BATS_FILE_TMPDIR/daemon.pid")"
}

setup() {
	[[ -e $BATS_FILE_TMPDIR/ready ]] || skip "no LTTng recording: tools are missing, or no session daemon runs here"
	cd "$BATS_TEST_TMPDIR" || return
	SESSION=trutils-$BATS_TEST_NUMBER-$$
}

teardown() {
	[[ -z ${SESSION-} ]] || lttng destroy "$SESSION" >/dev/null 2>&1 || true
}

# channel OPTION...: a session that records into rec, with sub-buffers that are soon full
channel() {
	lttng create "$SESSION" --output="$PWD/rec" >/dev/null
	use "$@"
}

use() {
	lttng enable-channel --userspace --session="$SESSION" --subbuf-size=4k "$@" ch >/dev/null
	lttng enable-event --userspace --session="$SESSION" --channel=ch 'kernel:*' \
		--filter="\$ctx.procname == \"${SENDER##*/}\"" >/dev/null
	lttng start "$SESSION" >/dev/null
}

# send EVENTS PAUSE: numbered events; 0 for PAUSE sends as fast as it goes
send() {
	LTTNG_UST_REGISTER_TIMEOUT=-1 "$SENDER" "$@"
}

# send_unread EVENTS: while the daemon's consumer reads nothing, so most are lost; not the first of a
# session, whose buffers the consumer makes
send_unread() {
	local consumer='' bad=0
	[[ ! -s $BATS_FILE_TMPDIR/daemon.pid ]] ||
		consumer=$(pgrep -P "$(<"$BATS_FILE_TMPDIR/daemon.pid")" lttng-consumerd)
	[[ -z $consumer ]] || kill -STOP $consumer
	send "$1" 0 || bad=1
	[[ -z $consumer ]] || kill -CONT $consumer
	return $bad
}

stop() {
	lttng stop "$SESSION" >/dev/null
	lttng destroy "$SESSION" >/dev/null
}

sum() {
	awk '{ n += $1 } END { print n + 0 }'
}

# What babeltrace2 counts: events, packets
discarded() {
	grep -oP "discarded \K[0-9]+(?= $1)" bt.err | sum
}

# compare TRACE...: the events are those of babeltrace2, with all fields; sets kept, lost, packets,
# unknown: events, lost events, lost packets, and how often it is not known how many events
compare() {
	local may
	babeltrace2 --clock-gmt --clock-date --no-delta "$@" >bt 2>bt.err
	pipefail "trdecode $* | trencode -q" >all
	grep -v ' lost\]$' all | LC_ALL=C sort >ours
	LC_ALL=C sort bt | diff - ours
	kept=$(wc -l <ours)
	lost=$(grep -oP '[0-9]+(?= events? lost\]$)' all | sum)
	packets=$(grep -oP '[0-9]+(?= packets? lost\]$)' all | sum)
	unknown=$(grep -c 'an unknown number of events lost\]$' all) || true
	may=$(grep -c 'may have discarded events' bt.err) || true
	assert_equal "$lost $packets $unknown" "$(discarded event) $(discarded packet) $may"
}

@test "libc's events with contexts are listed as babeltrace2 does" {
	lttng create "$SESSION" --output="$PWD/rec" >/dev/null
	lttng enable-event --userspace --session="$SESSION" --all >/dev/null
	lttng add-context --userspace --session="$SESSION" -t vpid -t vtid -t procname >/dev/null
	lttng start "$SESSION" >/dev/null
	LTTNG_UST_REGISTER_TIMEOUT=-1 LD_PRELOAD=liblttng-ust-libc-wrapper.so:liblttng-ust-pthread-wrapper.so \
		ls / >/dev/null 2>&1 || true
	stop
	compare rec
	((kept > 100))
}

@test "discard mode: kept and lost events are those that were sent" {
	channel --discard --num-subbuf=2
	send 20000 100
	send_unread 60000
	send 20000 100
	stop
	compare rec
	((lost > 0 && unknown == 0))
	assert_equal $((kept + lost)) 100000
	run -1 trdecode --strict -o s rec
	assert_output --partial "the recorder lost $lost events (--strict)"
	run -0 bash -c "trdecode rec | trstat -g type -c count"
	assert_output --partial "$lost events were lost by the recorder"
}

@test "tracefiles of a size: a loss is counted once" {
	local sent=21000
	channel --discard --num-subbuf=2 --tracefile-size=16k
	send 1000 100
	send_unread 20000
	while (($(find rec -name 'ch_*_*' | wc -l) <= 8 && sent < 1000000)); do
		send 10000 100
		((sent += 10000))
	done
	stop
	compare rec
	((lost > 0 && unknown == 0))
	assert_equal $((kept + lost)) $sent
}

@test "tracefiles of a number: what the ones that were removed lost is not known" {
	channel --discard --num-subbuf=2 --tracefile-size=16k --tracefile-count=2
	send 60000 100
	stop
	compare rec
	((kept + lost < 60000 && unknown > 0))
	run -1 trdecode --strict -o s rec
}

@test "rotated chunks: together they count everything once, alone they say what they know" {
	channel --discard --num-subbuf=2
	local chunk n=0 sum=0
	send 1000 100
	send_unread 19000
	lttng rotate "$SESSION" >/dev/null
	send_unread 20000
	lttng rotate "$SESSION" >/dev/null
	send_unread 20000
	stop
	compare rec
	((lost > 0 && unknown == 0))
	assert_equal $((kept + lost)) 60000
	cp all together
	# as operands, in any order
	pipefail "trdecode $(printf '%s\n' rec/archives/* | tac | xargs) | trencode -q" >all
	diff together all
	for chunk in rec/archives/*; do
		compare "$chunk"
		((n++ == 0 || unknown > 0))
		sum=$((sum + kept))
	done
	assert_equal $n 3
	assert_equal $sum "$(grep -vc ' lost\]$' together)"
}

@test "buffers of each process: each has losses of its own" {
	channel --buffers-pid --discard --num-subbuf=2
	send 30000 100 &
	local other=$!
	send 30000 50
	wait $other
	stop
	[[ $(find rec -name metadata | wc -l) == 2 ]]
	compare rec
	((lost > 0 && unknown == 0))
	assert_equal $((kept + lost)) 60000
}

@test "overwrite mode: packets are lost, and kept events are all there" {
	channel --overwrite --num-subbuf=4
	send 30000 100
	# twice, since LTTng does not always count what the first one loses
	send_unread 30000
	send_unread 30000
	stop
	compare rec
	# a program that is interrupted for a whole round of its buffer loses events too
	((packets > 0))
	run -1 trdecode --strict -o s rec
	assert_output --partial "the recorder lost packets or an unknown number of events (--strict)"
	run -1 bash -c "trdecode rec | trencode -q --strict"
	run -1 bash -c "trdecode rec | trfilter 1 | trstat -q --strict"
	run -0 bash -c "trdecode rec | trencode -q -t ndjson | grep -c '\"packets\":'"
	((output > 0))
}

@test "overwrite mode, over rotations and tracefiles" {
	channel --overwrite --num-subbuf=4 --tracefile-size=16k
	send 30000 100
	lttng rotate "$SESSION" >/dev/null
	send 30000 0
	stop
	compare rec
	((packets > 0 && lost == 0))
}

@test "snapshots: what is between two of them is lost, what both have is read once" {
	lttng create "$SESSION" --snapshot --output="$PWD/rec" >/dev/null
	use --num-subbuf=4
	send 5000 100
	lttng snapshot record --session="$SESSION" >/dev/null
	send 50 10
	lttng snapshot record --session="$SESSION" >/dev/null
	send 5000 10
	lttng snapshot record --session="$SESSION" >/dev/null
	stop
	compare rec
	((packets > 0))
	assert_equal "$(wc -l <ours)" "$(sort -u ours | wc -l)"
	# one of them begins within the recording, and has no gap
	compare rec/*-0
	((packets == 0))
}
