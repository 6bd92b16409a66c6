# A trace of LTTng-UST, recorded with Debian's lttng-tools, for what is compared with babeltrace2.
# shellcheck shell=bash
# BENCH_EVENTS=2000000 events of each of two programs

# record_ust: a trace of two programs at once, none of which loses events; sets ctf and theirs
record_ust() {
	local count=${BENCH_EVENTS:-2000000}
	need babeltrace2 lttng lttng-sessiond cc
	ctf=$CACHE/ust-$count
	[[ -d $ctf ]] || record_once
	theirs=$(babeltrace2 "$ctf" -c sink.utils.counter | awk '$2 == "Event" { n = $1 } END { print n }')
	echo "babeltrace2: $theirs events, $(du -sh "$ctf" | cut -f 1)B"
}

record_once() {
	local pid session=trutils-bench-$$ home=$CACHE/lttng-home pidfile=$CACHE/lttng.pid
	mkdir -p "$home"
	export LTTNG_HOME=$home
	cc -O2 -w -I"$BENCH/../.." -I"$BENCH" -o "$CACHE/lttng-ust" "$BENCH/lttng-ust.c" -llttng-ust -ldl || {
		echo 'skipped: no liblttng-ust'
		exit 0
	}
	lttng-sessiond --no-kernel --daemonize --pidfile "$pidfile" >/dev/null 2>&1 || return
	pid=$(<"$pidfile")
	{
		lttng create "$session" --output="$ctf.part" &&
			lttng enable-channel --userspace --blocking-timeout=inf --subbuf-size=1M \
				--num-subbuf=8 ch &&
			lttng enable-event --userspace --channel=ch 'kernel:*' && lttng start
	} >/dev/null && {
		for _ in 1 2; do
			LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_UST_REGISTER_TIMEOUT=-1 \
				"$CACHE/lttng-ust" "$count" &
		done
		wait
		lttng stop
		lttng destroy "$session"
	} >/dev/null
	kill "$pid"
	mv "$ctf.part" "$ctf"
}
