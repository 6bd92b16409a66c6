#!/usr/bin/env bats
# trfilter --follow: what worked for one request, in all threads.
# follow.py is an independent model of FOLLOWING ONE REQUEST in trfilter(1).

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export TRACE=$DATA/follow/app.json
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

@test "flows at the begin of a call belong to the call, whatever the order in the file" {
	local seed

	for seed in 4 22; do
		"$ROOT"/t/tools/follow.py random $seed 250 >r.json
		"$ROOT"/t/tools/follow.py keep 7 r.json | sort >want
		"$ROOT"/t/tools/follow.py complete r.json | trdecode | trfilter --follow 'arg.id == 7' |
			trencode -t ndjson 2>log | "$ROOT"/t/tools/follow.py lines | sort >got
		diff want got
		[ -s want ]
	done
	export TRACE=begin.json
	for ph in s t 'f","bp":"e' f; do
		cat >begin.json <<-END
			[{"name":"work","ph":"X","ts":50,"dur":20,"pid":1,"tid":2},
			{"name":"launch","ph":"X","ts":10,"dur":20,"pid":1,"tid":1},
			{"name":"q","cat":"q","ph":"s","id":7,"ts":10,"pid":1,"tid":1},
			{"name":"q","cat":"q","ph":"$ph","id":7,"ts":50,"pid":1,"tid":2},
			{"name":"in","ph":"X","ts":55,"dur":5,"pid":1,"tid":2}]
		END
		[ "$(kept --follow 'name == "launch"')" = '10 launch,10 q,50 q,50 work,55 in' ]
		# perfetto has the calls and flows in the same order
		trdecode begin.json | trencode -t perfetto -o begin.pftrace
		run pipe 'trdecode begin.pftrace | trfilter --follow "name == \"launch\"" | trencode -t ndjson | jq -r .name | sort | paste -sd,'
		assert_output in,launch,q,q,work
		# one request, and no other
		run pipe 'trdecode begin.json | trstat -g trace_id -t tsv -c count'
		assert_output "$(printf '%s\t%s\n' trace_id count 7 5)"
	done
}

# By hand: request, handle and reply of 7 last 2 us each, part is inside of handle; those of 8 last 1 us each.
@test "trstat -g trace_id: the requests of flows, and of spans" {
	run pipe 'trdecode "$TRACE" | trstat -g trace_id -t tsv -c total,self,count'
	assert_output "$(printf '%s\t%s\t%s\t%s\n' trace_id total self count '' 18500 15500 1 12 6000 6000 8 13 2000 2000 4)"
	run pipe 'trdecode "$TRACE" | trstat --partial -g trace_id >o.trs'
	[ "$status" = 2 ]
	[[ $output == *"does not go with --partial"* ]]
	# flows of calls, which are joined by a call of both
	cat >bound.json <<-'END'
		[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a","bind_id":"0x5","flow_out":true},
		{"ph":"X","pid":1,"tid":2,"ts":4,"dur":3,"name":"b","bind_id":"0x5","flow_in":true},
		{"ph":"X","pid":1,"tid":2,"ts":5,"dur":1,"name":"c","bind_id":"0x6","flow_out":true},
		{"ph":"X","pid":1,"tid":3,"ts":8,"dur":4,"name":"d","bind_id":"0x6","flow_in":true},
		{"ph":"X","pid":1,"tid":3,"ts":20,"dur":4,"name":"e"}]
	END
	run pipe 'trdecode bound.json | trstat -g trace_id,name -t tsv -c total | sort'
	assert_output "$(printf '%s\t%s\t%s\n' '' e 4000 5 a 2000 5 b 3000 5 c 1000 5 d 4000 trace_id name total)"
	run pipe 'trdecode "$DATA/services/spans.json" | trstat --partial -g trace_id | trstat --merge -t tsv -c count | grep -c "	5\$"'
	assert_output 12
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

@test "pipes and sockets that strace names: the bytes of one request, also if a read returns before the write" {
	cat >app.strace <<-'END'
		100 1796068932.000000 write(4<pipe:[55]>, "id=6", 4) = 4 <0.000010>
		200 1796068932.000100 read(3<pipe:[55]>, "id=6", 64) = 4 <0.000010>
		200 1796068932.000200 openat(AT_FDCWD, "/six", O_RDONLY) = 5 <0.000010>
		200 1796068932.000300 read(3<pipe:[55]>,  <unfinished ...>
		100 1796068932.000400 write(4<pipe:[55]>, "id=7", 4 <unfinished ...>
		200 1796068932.000410 <... read resumed>"id=7", 64) = 4 <0.000110>
		100 1796068932.000420 <... write resumed>) = 4 <0.000020>
		100 1796068932.000430 write(4<pipe:[55]>, "id=8", 4) = 4 <0.000010>
		200 1796068932.000500 openat(AT_FDCWD, "/seven", O_RDONLY) = 5 <0.000010>
		200 1796068932.000520 read(5</seven>, "x", 10) = 1 <0.000010>
		200 1796068932.000600 sendto(7<TCP:[127.0.0.1:40->127.0.0.1:80]>, "GET /7", 6, 0, NULL, 0) = 6 <0.000010>
		300 1796068932.000700 recvfrom(9<TCP:[127.0.0.1:80->127.0.0.1:40]>, "GET /7", 100, 0, NULL, NULL) = 6 <0.000010>
		300 1796068932.000750 getpid() = 300 <0.000001>
		300 1796068932.000800 epoll_wait(4<anon_inode:[eventpoll]>, [], 10, 0) = 0 <0.000010>
		300 1796068932.000850 getpid() = 300 <0.000001>
		200 1796068932.000900 read(3<pipe:[55]>, "id=8", 64) = 4 <0.000010>
		200 1796068932.001000 openat(AT_FDCWD, "/eight", O_RDONLY) = 5 <0.000010>
	END
	trdecode -q app.strace >app.trs
	run pipe 'trfilter --follow "name == \"write\" && arg.buf == \"id=7\"" app.trs | trencode -t ndjson |
		jq -r "\"\(.tid) \(.name)\"" | sort | paste -sd,'
	[ "$output" = '100 write,200 openat,200 read,200 read,200 sendto,300 getpid,300 recvfrom' ]
	# the thread that reads the request
	run pipe 'trfilter --follow "name == \"recvfrom\"" app.trs | trencode -t ndjson | jq -r .name | sort | paste -sd,'
	[ "$output" = getpid,recvfrom ]
}

@test "spans: children in whatever service, and spans that are linked" {
	run pipe 'trdecode "$DATA/services/spans.json" | trfilter --follow "parent_id == \"\" && trace_id =~ \"^384ef\"" |
		trencode -t ndjson | jq -r .args.span_id | sort | diff - <(jq -r "
			.resourceSpans[].scopeSpans[].spans[] | select(.traceId | startswith(\"384ef\")).spanId" \
			"$DATA/services/spans.json" | sort)'
	[ "$status" = 0 ]
	cat >links.json <<-'END'
		{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"s"},"spans":[
		{"traceId":"0000000000000000000000000000000a","spanId":"000000000000000a","name":"request","startTimeUnixNano":"1000","endTimeUnixNano":"2000","attributes":[{"key":"id","value":{"intValue":"7"}}]},
		{"traceId":"0000000000000000000000000000000e","spanId":"000000000000000e","name":"other","startTimeUnixNano":"1050","endTimeUnixNano":"2500","attributes":[{"key":"id","value":{"intValue":"8"}}]},
		{"traceId":"0000000000000000000000000000000a","spanId":"000000000000000b","parentSpanId":"000000000000000a","name":"child","startTimeUnixNano":"1100","endTimeUnixNano":"1200"},
		{"traceId":"0000000000000000000000000000000c","spanId":"000000000000000c","name":"batch","startTimeUnixNano":"1500","endTimeUnixNano":"3000","links":[{"traceId":"0000000000000000000000000000000a","spanId":"000000000000000b"}]},
		{"traceId":"0000000000000000000000000000000c","spanId":"000000000000000d","parentSpanId":"000000000000000c","name":"part","startTimeUnixNano":"4000","endTimeUnixNano":"5000"}
		]}]}]}
	END
	run pipe 'trdecode links.json | trfilter --follow "arg.id == 7" | trencode -t ndjson | jq -r .name | sort | paste -sd,'
	[ "$output" = batch,child,part,request ]
}

@test "spans: a child that is before its parent at the same time, or by another clock" {
	local span='"traceId":"0000000000000000000000000000000a","kind":1'

	cat >skew.json <<-END
		{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"spans":[
		{$span,"spanId":"000000000000000c","parentSpanId":"000000000000000b","name":"grandchild","startTimeUnixNano":"800","endTimeUnixNano":"1400"},
		{$span,"spanId":"000000000000000b","parentSpanId":"000000000000000a","name":"child","startTimeUnixNano":"900","endTimeUnixNano":"1500"},
		{$span,"spanId":"000000000000000d","parentSpanId":"000000000000000a","name":"same","startTimeUnixNano":"1000","endTimeUnixNano":"1001"},
		{$span,"spanId":"000000000000000e","parentSpanId":"000000000000000a","name":"ended","startTimeUnixNano":"700","endTimeUnixNano":"999"},
		{$span,"spanId":"000000000000000f","parentSpanId":"00000000000000ff","name":"other","startTimeUnixNano":"700","endTimeUnixNano":"999"},
		{$span,"spanId":"000000000000000a","name":"root","startTimeUnixNano":"1000","endTimeUnixNano":"2000"},
		{$span,"spanId":"0000000000000010","parentSpanId":"000000000000000c","name":"late","startTimeUnixNano":"1100","endTimeUnixNano":"1200"}
		]}]}]}
	END
	run --separate-stderr bash -c "trdecode skew.json | trfilter --follow 'name == \"root\"' | trencode -t ndjson | jq -r .name | sort | paste -sd,"
	[ "$output" = child,grandchild,late,root,same ]
	[[ $stderr == *"1 span is left out by --follow, though its parent is kept"* ]]
}

@test "strace: bytes that are peeked at are received again; what waits ends the work" {
	cat >peek.strace <<-'END'
		10 1700000000.000010 sendto(4<UNIX-STREAM:[100->101]>, "aaaa", 4, 0, NULL, 0) = 4 <0.000001>
		10 1700000000.000012 sendto(4<UNIX-STREAM:[100->101]>, "bbbb", 4, 0, NULL, 0) = 4 <0.000001>
		11 1700000000.000020 recvfrom(5<UNIX-STREAM:[101->100]>, "aaaa", 4, MSG_PEEK|MSG_DONTWAIT, NULL, NULL) = 4 <0.000001>
		11 1700000000.000030 recvfrom(5<UNIX-STREAM:[101->100]>, "aaaa", 4, 0, NULL, NULL) = 4 <0.000001>
		11 1700000000.000040 openat(AT_FDCWD, "forA", O_RDONLY) = 7 <0.000001>
		11 1700000000.000050 recvfrom(5<UNIX-STREAM:[101->100]>, "bbbb", 4, 0, NULL, NULL) = 4 <0.000001>
		11 1700000000.000060 openat(AT_FDCWD, "forB", O_RDONLY) = 7 <0.000001>
	END
	run pipe 'trdecode peek.strace | trfilter --follow "name == \"sendto\" && arg.buff == \"aaaa\"" |
		trencode -t ndjson | jq -r "\"\(.name) \(.args.filename // .args.flags)\"" | paste -sd,'
	assert_output 'sendto 0,recvfrom MSG_PEEK|MSG_DONTWAIT,recvfrom 0,openat forA'
	# each of them ends the work for aaaa, others do not
	while read -r wait call; do
		{ sed -n '1,5p' peek.strace; echo "11 1700000000.000045 $call <0.000001>"; sed -n '7p' peek.strace; } >wait.strace
		run pipe 'trdecode wait.strace | trfilter --follow "name == \"sendto\" && arg.buff == \"aaaa\"" |
			trencode -t ndjson | jq -r ".args.filename // empty" | sort | paste -sd,'
		[ "$output" = "$([ "$wait" = y ] && echo forA || echo forA,forB)" ] || { echo "$call: $output"; return 1; }
	done <<-'END'
		y futex(0x7f, FUTEX_WAIT_PRIVATE, 2, NULL) = 0
		n futex(0x7f, FUTEX_WAKE_PRIVATE, 2) = 0
		y io_uring_enter(3, 0, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 0
		n io_uring_enter(3, 1, 0, 0, NULL, 8) = 1
		y mq_timedreceive(3, "x", 10, NULL, NULL) = 1
		y recvmsg(5<UDP:[127.0.0.1:5]>, {msg_name=NULL}, 0) = 4
		y read(0</dev/pts/0<char 136:0>>, "x", 10) = 1
		n read(6</etc/passwd>, "x", 10) = 1
	END
	# without the names of descriptors
	sed 's/<UNIX[^>]*>]*>//; s/<UNIX[^]]*\]>//' peek.strace >plain.strace
	run pipe 'trdecode plain.strace | trfilter --follow "arg.buff == \"aaaa\"" -o o.trs'
	[[ $output == *"no messages; strace -f -yy "* ]]
	[[ $output != *trace-cmd* ]]
}

@test "messages in the text of the kernel: works and transactions of binder" {
	local text='           app-1     [000] .... 1.000'

	cat >kernel.txt <<-END
		# tracer: nop
		#
		${text}100: tracing_mark_write: B|1|request 7
		${text}110: workqueue_queue_work: work struct=0000000012345678 function=foo workqueue=events req_cpu=8192 cpu=0
		${text}112: workqueue_queue_work: work struct=00000000000000ee function=foo workqueue=events req_cpu=8192 cpu=0
		${text}113: binder_transaction: transaction=55 dest_node=3 dest_proc=20 dest_thread=0 reply=0 flags=0x10 code=0x1
		${text}150: tracing_mark_write: E|1
		${text}151: workqueue_queue_work: work struct=00000000000000bb function=bar workqueue=events req_cpu=8192 cpu=0
		  kworker/0:1-9     [001] d... 1.000160: workqueue_execute_start: work struct 0000000012345678: function foo
		  kworker/0:1-9     [001] .... 1.000165: first: x=1
		  kworker/0:1-9     [001] d... 1.000170: workqueue_execute_end: work struct 0000000012345678: function foo
		  kworker/0:1-9     [001] d... 1.000180: workqueue_execute_start: work struct 00000000000000bb: function bar
		  kworker/0:1-9     [001] .... 1.000185: other: x=1
		  kworker/0:1-9     [001] d... 1.000190: workqueue_execute_end: work struct 00000000000000bb: function bar
		  kworker/0:1-9     [001] d... 1.000191: workqueue_execute_start: work struct 00000000000000ee: function foo
		  kworker/0:1-9     [001] .... 1.000192: second: x=1
		  srv-21    [001] .... 1.000220: binder_transaction_received: transaction=55
		  srv-21    [001] .... 1.000230: tracing_mark_write: B|20|serve
		  srv-21    [001] .... 1.000240: tracing_mark_write: E|20
	END
	run pipe 'trdecode kernel.txt | trfilter --follow "name == \"request 7\"" | trencode -t ndjson |
		jq -r .name | grep -v "_" | sort | paste -sd,'
	assert_output 'first,request 7,second,serve'
}

@test "works of the kernel, recorded now: the begin of each work that a sync queued" {
	need perf
	# without those that an interrupt queued, which its thread did not cause
	perf record -q -a -o works.data -e workqueue:workqueue_queue_work --filter '!(common_flags & 24)' \
		-e workqueue:workqueue_execute_start -e workqueue:workqueue_execute_end \
		-- sh -c 'for i in 1 2 3; do echo $i >file; sync file; sync; done' >err 2>&1 ||
		skip "perf record: $(tail -n 1 err)"
	# from perf's own listing: the first execute_start of the work that a queue_work is of
	perf script --ns -F comm,tid,time,event,trace -i works.data 2>err | awk '
		{ match($0, /[0-9]+\.[0-9]+: /); time = substr($0, RSTART, RLENGTH - 2); sub(/\./, "", time)
		  match($0, /struct[= ]0x[0-9a-f]+/); work = substr($0, RSTART + 7, RLENGTH - 7) }
		/workqueue_queue_work/ && $1 == "sync" { queued[work] }
		/workqueue_execute_start/ && work in queued { print time; delete queued[work] }' | sort >want
	[ -s want ] || skip 'perf record: sync queued no work here'
	run pipe "trdecode works.data | trfilter --follow 'comm == \"sync\" && type == \"workqueue_queue_work\"' |
		trencode -q -t ndjson | jq -r 'select(.type == \"workqueue_execute_start\") | .time' | sort | comm -23 want -"
	# works that these queue may begin besides
	assert_output ''
}

@test "a flow is a number: a text is refused" {
	local text

	for text in abc 0x7; do
		run pipe "trdecode '$TRACE' | trfilter -c 'flow == \"$text\"'"
		[ "$status" = 2 ]
		[[ $output == *"'flow' is a number"* ]]
	done
}

@test "a server of two stages, recorded now: what it did for each request, as it printed that" {
	need uftrace
	need perf
	gcc -O1 -pg -g -o pool "$DATA/follow/pool.c" -pthread
	perf record -q -k CLOCK_MONOTONIC -o sched.data -e sched:sched_switch -e sched:sched_waking \
		-e sched:sched_wakeup_new -a -- uftrace record --no-libcall -d app -A 'request|handle|answer@arg1' \
		./pool >log 2>err || skip "perf record: $(tail -n 1 err)"
	trdecode -q sched.data app | trsym -q >app.trs
	for ((id = 1; id <= 6; id++)); do
		trfilter --follow "name == \"request\" && arg.1 == $id" app.trs |
			trfilter 'name in {request, handle, answer}' | trencode -t ndjson |
			jq -r "\"$id \(.tid) \(.name)\"" | sort >got
		grep "^$id " log | sort | diff - got
	done
}
