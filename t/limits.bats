# trdecode: --since, --until, --cpu, --tid, --type: what is left is what a filter of the whole leaves.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# all events of a stream as text, with what a table does not show
rows() {
	cat >rows.trs
	trencode -q --raw -o rows.txt rows.trs 2>/dev/null || trencode -q -o rows.txt rows.trs 2>/dev/null
	cat rows.txt
}

# cut INPUT OPTION...: the same out of the input and out of a stream of all of it
cut_both() {
	local input=$1
	shift
	trdecode -q "$@" "$input" 2>/dev/null | rows >direct
	trdecode -q "$@" all.trs 2>/dev/null | rows >saved
	cmp direct saved || fail "$input $*"
}

@test "limits of a recording are those of the saved stream" {
	for input in "$RECORDED"/uftrace/threads "$RECORDED"/uftrace/kernel-sched \
		"$RECORDED"/trace-cmd/*busy.dat "$RECORDED"/trace-cmd/*fgraph.dat; do
		trdecode -q "$input" >all.trs 2>/dev/null || continue
		cut_both "$input" --since +2ms
		cut_both "$input" --since +20ms --until +60ms
		cut_both "$input" --until +1ms
		cut_both "$input" --cpu 1
		cut_both "$input" --cpu 0,2-3 --since +5ms
		cut_both "$input" --type 'sched*' --since +1ms
		cut_both "$input" --tid 0-14000
	done
}

@test "limits leave what conditions leave" {
	trdecode -q "$RECORDED/uftrace/threads" >all.trs
	start=$(trdecode --info all.trs | awk '/^first time/ { print $NF }')
	middle=$((start + 3000000))
	# shellcheck disable=SC2089,SC2090 # the quotes are for trfilter
	for pair in "--tid 13265,13269|tid in {13265, 13269}" "--type e*|type =~ '^e'" \
		"--type linux:*|type =~ '^linux'"; do
		# shellcheck disable=SC2086,SC2090
		trdecode -q ${pair%%|*} "$RECORDED/uftrace/threads" | rows >ours
		trfilter "${pair#*|}" all.trs | rows | cmp - ours
	done
	for input in all.trs "$RECORDED/uftrace/threads"; do
		before=$(trdecode -q --until +3ms "$input" | rows_of 1)
		after=$(trdecode -q --since "${middle}ns" "$input" | rows_of 1)
		assert_equal $((before + after)) "$(rows_of 1 all.trs)"
	done
	run -0 pipe "trdecode -q --type nothing all.trs | trfilter -c 1"
	assert_output 0
}

@test "--cpu and --tid of a trace without CPUs or threads: a remark, as the output is empty" {
	printf 'a;b 3\nc 4\n' >x.folded
	run -0 --separate-stderr pipe 'trdecode --cpu 0 x.folded | trencode -q -t ndjson'
	assert_output ''
	assert_equal "$stderr" 'trdecode: no event has a CPU: --cpu leaves none'
	run -0 --separate-stderr pipe 'trdecode --tid 7 x.folded | trencode -q -t ndjson'
	assert_output ''
	assert_equal "$stderr" 'trdecode: no event has a thread: --tid leaves none'
	run -0 --separate-stderr pipe 'trdecode -q --cpu 0 x.folded | trencode -q -t ndjson'
	assert_equal "$stderr" ''
	# a CPU that the trace does not have, and one input of two with CPUs
	printf 'p 1 [001] 1.0: 1 x: 1 f (/x)\n\np 1 [002] 2.0: 1 x: 1 f (/x)\n\n' >cpus.txt
	printf 'p 1 1.5: 1 x: 1 f (/x)\n\n' >none.txt
	run -0 --separate-stderr pipe 'trdecode --cpu 0 -f perf-script cpus.txt | trencode -q -t csv -c time'
	assert_equal "$stderr" 'trdecode: no event is of CPU 0'
	run -0 --separate-stderr pipe 'trdecode --cpu 2 -f perf-script cpus.txt none.txt | trencode -q -t csv -c time | sed 1d'
	assert_output 2000000000
	assert_equal "$stderr" ''
}

@test "limits that leave nothing: a remark" {
	local dat=$DATA/trace-cmd/v6-date.dat first
	# the times of the text are trace-cmd's
	first=$(trdecode -q "$dat" | trencode -q --ns | grep -o '[0-9]*\.[0-9]\{9\}:' | head -n 1)
	while IFS='|' read -r options remark; do
		remark=${remark/\$first/${first%:}}
		# shellcheck disable=SC2086
		run -0 --separate-stderr pipe "trdecode $options $dat | trencode -q -t ndjson"
		assert_output ''
		assert_equal "$stderr" "trdecode: $remark"
	done <<-'END'
		--tid 99999|no event is of thread 99999
		--cpu 77|no event is of CPU 77
		--cpu 77,80-90|no event is of a CPU of --cpu
		--since +100s|no event is in the range of --since and --until: the first event is at $first
		--until +0s|no event is in the range of --since and --until: the first event is at $first
		--tid 99999 --since +1us|no event in the range of --since and --until is of thread 99999
		--type nosuch|no event has the type 'nosuch'
	END
	# events of the thread and of the CPU, but none of both
	printf ' a-%d [%03d] 1.00000%d: e: v=1\n' 1 0 1 2 1 2 >x
	run -0 --separate-stderr pipe 'trdecode --tid 1 --cpu 1 x | trencode -q -t ndjson'
	assert_output ''
	assert_equal "$stderr" 'trdecode: no event matches all of the limits'
	run -0 --separate-stderr pipe 'trdecode --tid 1 --cpu 0 x | trencode -q -t csv -c time | sed 1d'
	assert_output 1000001000
	assert_equal "$stderr" ''
	# an empty trace has no range
	echo 'cpus=2' >empty
	run -0 --separate-stderr trdecode -f ftrace --since +1s empty -o x.trs
	assert_equal "$stderr" ''
}

@test "--cpu asks the row where its lane is of no CPU" {
	trdecode -q "$RECORDED/uftrace/kernel-sched" >all.trs
	for input in "$RECORDED/uftrace/kernel-sched" all.trs; do
		for cpus in 0 1 0-1; do
			run -0 pipe "trdecode -q --cpu $cpus '$input' | trfilter -c 'kind != gap'"
			assert_output "$(trfilter -c "kind != gap && cpu >= ${cpus%-*} && cpu <= ${cpus#*-}" all.trs)"
			[ "$output" -gt 0 ]
		done
	done
	# limits do not know which calls in the kernel are outside of any call, so text shows them all
	trdecode -q --cpu 0-1 all.trs >both.trs
	for cpu in 0 1; do
		trdecode -q --cpu $cpu all.trs | rows >ours
		trfilter "cpu == $cpu" both.trs | rows | cmp - ours
	done
}

@test "ticks of apitrace, and LTTng" {
	trdecode -q "$RECORDED/apitrace/mt4.trace" >all.trs 2>/dev/null
	n=$(rows_of 1 all.trs)
	a=$(trdecode -q --until 100 "$RECORDED/apitrace/mt4.trace" | rows_of 1)
	b=$(trdecode -q --since 100 "$RECORDED/apitrace/mt4.trace" | rows_of 1)
	assert_equal $((a + b)) "$n"
	[ "$a" -gt 0 ]
	for trace in "$DATA"/lttng/*/; do
		trdecode -q "$trace" >all.trs 2>/dev/null || continue
		cut_both "$trace" --since +1ms
		cut_both "$trace" --cpu 0 --type 'kernel*'
	done
}

# near_end INPUT: what is after and before moments near its end, straight and out of a saved stream
near_end() {
	local moments='-100ns -20us -1s' t last
	[[ $1 != */apitrace/* ]] || moments='-1 -100 -20000' # ticks
	last=${moments##* }
	trdecode -q "$1" >all.trs 2>/dev/null || true
	for t in $moments; do
		cut_both "$1" --since "$t"
		cut_both "$1" --until "$t"
	done
	# a call is there or not as a whole with trfilter
	assert_equal "$1 $(trdecode -q --since "$last" "$1" 2>/dev/null | trfilter -qc 'kind == instant')" \
		"$1 $(trfilter -qc --since "$last" 'kind == instant' all.trs)"
}

@test "moments before the end, of every format" {
	for input in "$DATA"/uftrace/fib "$DATA"/{lttng,ctf}/*.tar.gz "$DATA"/trace-cmd/v7-zlib-sched-irq-timer.dat \
		"$DATA"/apitrace/threads.trace "$RECORDED"/uftrace/{args-spec,kernel-sched,lost} \
		"$RECORDED"/trace-cmd/i386-v6-busy.dat \
		"$RECORDED"/ctf/ust-3000ev-2app; do
		near_end "$input"
	done
	for compress in none zstd; do
		trdecode -q "$RECORDED/trace-cmd/s390x-v6-busy.dat" |
			trencode -q -t trace-cmd --file-version 7 --compress "$compress" -o "$compress.dat"
		near_end "$compress.dat"
	done
}

@test "moments before the end of several inputs, and of standard input" {
	cp -r "$DATA/uftrace/fib" other
	trdecode -q --offset other=1ms "$DATA/uftrace/fib" other >all.trs
	end=$(trdecode --info all.trs | awk '/^last time/ { print $NF }')
	trdecode -q --offset other=1ms --since -500us "$DATA/uftrace/fib" other | rows >direct
	trdecode -q --since "$((end - 500000))ns" all.trs | rows | cmp - direct
	[ -s direct ]
	trdecode -q --since -500us - <all.trs | rows | cmp - direct
	run -2 --separate-stderr pipe "cat all.trs | trdecode --since -500us - >x"
	# shellcheck disable=SC2154
	assert_equal "$stderr" "trdecode: <stdin>: a time before the end needs a file or directory, not a pipe: save the trace first"
	head -c 9000 all.trs >cut.trs # without its END
	run -1 pipe "trdecode --since -10us cut.trs | trencode -q"
	assert_output
}

@test "little is read of what is before --since" {
	need strace
	trdecode -q "$RECORDED/trace-cmd/s390x-v6-busy.dat" |
		trencode -q -t trace-cmd --file-version 7 --compress zstd -o zstd.dat
	for input in "$RECORDED/uftrace/lost/15997.dat" "$RECORDED/trace-cmd/s390x-v6-busy.dat" zstd.dat; do
		end=$(trdecode -q "$input" | trdecode --info - | awk '/^last time/ { print $NF }')
		for since in +0 "$((end - 1000))ns"; do
			# of the input alone: a sanitizer reads files of its own
			ASAN_OPTIONS=detect_leaks=0 strace -f -o log -P "$input" -e trace=pread64,read trdecode -q --since "$since" "$input" >/dev/null 2>&1
			awk '{ n += $NF } END { print n }' log >>bytes
		done
		sort -n bytes | tail -n 1 | cmp - <(head -n 1 bytes) || fail "$input: $(cat bytes)"
		rm bytes
	done
}

@test "a part is another stream, and says that it is one" {
	trdecode -q "$RECORDED/uftrace/threads" | head -c 16 >a
	trdecode -q --tid 13265 "$RECORDED/uftrace/threads" | head -c 16 >b
	run -1 cmp -s a b
	trdecode -q --since +3ms "$RECORDED/uftrace/threads" | trsym -q >part.trs
	run -0 trstat part.trs
	refute_output --partial '<0>'
}

@test "limits that are none are usage errors" {
	for bad in '--since x' '--until 1y' '--cpu 3-1' '--cpu a' '--tid 1,'; do
		# shellcheck disable=SC2086
		run -2 errors trdecode $bad "$RECORDED/uftrace/threads"
		assert_line --index 0 --partial "${bad%% *} takes"
	done
	run -2 errors trdecode --since 2026-01-01 -o x "$RECORDED/uftrace/threads"
	assert_output --partial 'wall time'
}

@test "--tid keeps what was lost of a CPU, as a filter does" {
	trdecode "$DATA/trace-cmd/v7-zstd-split-lost.dat" >all.trs
	gaps() { trencode -q | grep DROPPED; }
	gaps <all.trs >want
	[ -s want ]
	trfilter 'tid == 1316' all.trs | gaps | cmp - want
	for input in "$DATA/trace-cmd/v7-zstd-split-lost.dat" all.trs; do
		trdecode --tid 1316 "$input" >some.trs
		gaps <some.trs | cmp - want
		run -0 trfilter -c 1 some.trs
		assert_output "$(trfilter -c 'tid == 1316' all.trs)"
	done
	# but not of the CPUs that are not asked for
	run -1 pipefail "trdecode --tid 1316 --cpu 99 all.trs | trencode -q | grep DROPPED"
}

# ctf_packets TRACE PACKET...: a trace of one stream. A packet is BEGIN,END:TIME,TIME...: its own times
# and those of its events. A time "x" is an event that the metadata does not declare.
ctf_packets() {
	local trace=$1
	shift
	mkdir -p "$trace"
	cat >"$trace/metadata" <<-'END'
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
		typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
		trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
		clock { name = c; freq = 1000000000; };
		typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := ts_t;
		stream {
			packet.context := struct {
				ts_t timestamp_begin; ts_t timestamp_end;
				uint32_t content_size; uint32_t packet_size;
			};
			event.header := struct { uint8_t id; ts_t timestamp; };
		};
		event { name = a; id = 1; fields := struct { uint32_t x; }; };
	END
	perl -e 'for (@ARGV) {
		my ($begin, $end, $events) = /^(\d+),(\d+):(.*)$/ or die;
		my $data = join "", map { pack "CQ<L<", $_ eq "x" ? 9 : 1, $_ eq "x" ? 0 : $_, 7 } split /,/, $events;
		my $bits = 8 * (28 + length $data);
		print pack("L<Q<Q<L<L<", 0xc1fc1fc1, $begin, $end, $bits, $bits), $data;
	}' "$@" >"$trace/channel0_0"
}

# ends_at TIME INPUT: --until has all events before the time (ns), by a count of the whole trace
ends_at() {
	trdecode -q "$2" 2>/dev/null | trencode -q -t csv -c time |
		awk -v end="$1" 'NR > 1 && $1 < end' | sort -n >expected
	trdecode -q --until "$1ns" "$2" | trencode -q -t csv -c time | sed 1d | sort -n >ours
	[[ -s expected ]] || fail "$2: no event before $1"
	diff expected ours || fail "$2 --until $1"
}

@test "--until has the events after a clock stepped back: CTF" {
	ends_at 1000000000 "$DATA/ctf/step-back"
	# in a packet, between packets, and with packets whose times do not show it
	ctf_packets inside 100,900:100,900,200,800 1000,1100:1000,1100
	ctf_packets between 100,200:100,200 1000,1100:1000,1100 300,400:300,400 1200,1300:1200,1300
	ctf_packets untimed 100,200:100,200 1000,1100:1000 0,0:1200,300 1300,1400:1300
	ctf_packets wrapped 100,200:100,200 900,1000:900,1000 1100,50:1100,20,50 1300,1400:1300
	ends_at 500 inside
	for trace in between untimed wrapped; do
		ends_at 250 "$trace"
		ends_at 1050 "$trace"
		ends_at 950 "$trace"
		trdecode -q "$trace" -o all.trs
		ends_at 250 all.trs
	done
	# in every stream of a trace, and in a tar of it
	mkdir two
	cp between/* two
	cp wrapped/channel0_0 two/channel0_1
	tar -cf two.tar two
	ends_at 250 two
	ends_at 250 two.tar
}

@test "--until has the events of a packet whose header begins later" {
	ctf_packets later 100,200:100,200 300,400:300,400 1000,1100:1000,350,360,1100 1200,1300:1200,1300
	run -0 pipe 'trdecode -q --until 355ns later | trencode -q -t csv -c time | sed 1d | sort -n'
	assert_output $'100\n200\n300\n350'
	# merged with another input, and as a part of a trace
	ctf_packets other 150,250:150,250 2000,2100:2000,340
	run -0 pipe 'trdecode -q --until 355ns later other | trencode -q -t csv -c time | sed 1d | sort -n'
	assert_output $'100\n150\n200\n250\n300\n340\n350'
	cp other/channel0_0 later/channel0_1
	run -0 pipe 'trdecode -q --until 355ns later | trencode -q -t csv -c time | sed 1d | sort -n'
	assert_output $'100\n150\n200\n250\n300\n340\n350'
	# damage may have been an event in the range
	ctf_packets bad 100,200:100,200 300,400:300,400 1000,1100:x 250,260:250
	run -1 trdecode -q --until 350ns bad -o bad.trs
	run -1 --separate-stderr trfilter -q -c 'type == "a"' bad.trs
	assert_output 4
}

@test "--until has the events after a clock stepped back: texts and saved streams" {
	printf ' a-1 [000] %s: e: v=1\n' 1.000001 1.000005 1.000002 1.000009 1.000003 1.000004 >kernel
	ends_at 1000004000 kernel
	ends_at 1000003000 kernel
	gzip -k kernel
	ends_at 1000003000 kernel.gz
	for time in 1.000001 1.000005 1.000002 1.000009 1.000003; do
		printf 'p 1 [000] %s: 1 x: 1 f (/x)\n\n' "$time"
	done >script
	ends_at 1000004000 script
	for input in kernel script; do
		trdecode -q "$input" -o "$input.trs"
		ends_at 1000004000 "$input.trs"
	done
	# durations alone: the time of each CPU is the sum of its durations
	{
		printf '%s\n' '# tracer: function_graph' '# CPU  DURATION                  FUNCTION CALLS' \
			'# |     |   |                     |   |   |   |'
		for cpu in 0 1; do
			for _ in 1 2 3; do
				printf ' %d)   2.000 us    |  f%d();\n' $cpu $cpu
			done
		done
	} >graph
	ends_at 5000 graph
	# merged: the events of each input
	printf ' b-2 [001] %s: f: v=1\n' 1.000002 1.000007 1.000001 >second
	run -0 pipe "trdecode -q --until 1000004000ns kernel second | trencode -q -t csv -c time,type | sed 1d"
	assert_output $'1000001000,e\n1000002000,f\n1000002000,e\n1000003000,e\n1000001000,f'
}

@test "--until ends a trace that has no end" {
	mkfifo live
	{
		printf ' a-1 [000] %s: e: v=1\n' 1.000001 1.000002 1.000003 1.000004
		exec sleep 20
	} >live &
	run -0 timeout 10 trdecode -q --until 1000003000ns live -o live.trs
	kill $!
	run -0 trfilter -q -c 1 live.trs
	assert_output 2
}

@test "losses after --until are not counted, those of a saved stream too" {
	{
		printf ' a-1 [000] %s: e: v=1\n' 1.000001 1.000005
		echo 'CPU:0 [LOST 7 EVENTS]'
		printf ' a-1 [000] %s: e: v=1\n' 1.000006 1.000002
	} >lossy
	trdecode -q lossy -o all.trs
	for input in lossy all.trs; do
		trdecode -q --until 1000003000ns "$input" -o part.trs
		run -0 pipe 'trdecode --info part.trs | grep -E "^(events|gaps|lost)"'
		refute_output --partial 7
		run -0 trfilter -q -c 1 part.trs
		assert_output 2
	done
}
