# Every source to every native target, read by the target's own tool, and by trdecode again.

load lib

setup_file() {
	cc -O1 -o "$BATS_FILE_TMPDIR/lttng_list" "$ROOT/t/tools/lttng_list.c"
	cd "$BATS_FILE_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >uftrace.trs
	trdecode "$DATA/trace-cmd/v6-fgraph.dat" | trsym >trace-cmd.trs
	trdecode "$DATA/apitrace/threads.trace" >apitrace.trs
	trdecode "$DATA/lttng/v2.6-le64-packed.tar.gz" >lttng.trs
	for s in uftrace trace-cmd apitrace lttng; do
		for t in uftrace trace-cmd apitrace lttng; do
			tick=(--tick 1ns)
			[ $s = apitrace ] || tick=()
			trencode -q "${tick[@]}" -t $t -o $s-$t $s.trs
		done
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
}

# Tables as name, TAB and the columns: of calls, and of other events.
table() {
	trstat -q -t tsv "$@" | tail -n +2
}

calls() {
	table -g name -c "total,$1" "$2" | awk -F '\t' -v OFS='\t' '$2 != "" { print $1, $2, $3 }' |
		LC_ALL=C sort
}

events() {
	table -g name -c total,count "$1" | awk -F '\t' -v OFS='\t' '$2 == "" { print $1, $3 }' |
		LC_ALL=C sort
}

# What trencode adds to a trace of that system, and what that system's streams have of their own.
plain() {
	trsym -q | trfilter -q \
		'!(name in {"print", "ftrace:print", "external-data", "core_marker_id", "core_marker_format",
			"metadata:core_marker_id", "metadata:core_marker_format"})'
}

# Names as they were, before trencode escaped them.
names() {
	case $1 in
	uftrace) sed 's/^[^:\t]*://' ;;
	trace-cmd) perl -pe 's/_x([0-9a-f]{2})/chr hex $1/ge if /^linux_x/' ;;
	*) cat ;;
	esac | perl -pe 's/\\\\x([0-9a-f]{2})/chr hex $1/ge' | LC_ALL=C sort
}

# The totals of `uftrace report` as ours: name, total, count. Times have three decimals there.
uftrace_calls() {
	uftrace report -d "$1" -f total,call --no-pager 2>/dev/null | tail -n +3 |
		awk '{ n = $0; sub(/^ *[0-9.]+ [a-z]+ +[0-9]+ +/, "", n); print n "\t" $1 " " $2 "\t" $3 }' |
		LC_ALL=C sort
}

# The same of trstat, as uftrace prints times.
our_calls() {
	table -g name -c total,count "$1" | awk -F '\t' '
		$2 != "" {
			t = $2; u = "us"
			if (t >= 1e6) { t = int(t / 1e3); u = "ms" }
			if (t >= 1e6) { t = int(t / 1e3); u = "s" }
			printf "%s\t%d.%03d %s\t%d\n", $1, int(t / 1000), t % 1000, u, $3
		}' | LC_ALL=C sort
}

@test "to uftrace: uftrace report shows the calls of the source, with their times" {
	need uftrace
	for s in uftrace trace-cmd apitrace; do
		our_calls $s.trs >want
		uftrace_calls $s-uftrace >got
		[ -s want ]
		diff want got || fail "$s"
	done
}

@test "to uftrace: arguments, events and their fields are shown" {
	need uftrace
	uftrace replay -d apitrace-uftrace --no-pager -f none >got
	grep -q 'eglInitialize(0x562894dbcb80) = "EGL_TRUE (major = NULL, minor = NULL)";' got
	diff <(uftrace replay -d "$DATA/uftrace/fib" --no-pager) <(uftrace replay -d uftrace-uftrace --no-pager)
	trencode -q --resynthesize -t uftrace -o "$T/converted" uftrace.trs
	uftrace replay -d "$T/converted" --no-pager --event-full >got
	grep -q '[^:]linux:task-new' got
	refute grep -q 'linux:linux' got
	grep -q 'task-new.*pid=4123 ppid=4123 tid=4125' got
	# what a kernel's call has in fields
	uftrace replay -d lttng-uftrace --no-pager -f none >got
	grep -q '^ *irq [0-9]*([0-9]*, [01])' got
}

@test "to trace-cmd: trace-cmd report shows every call and event" {
	need trace-cmd
	for s in uftrace apitrace lttng; do
		trace-cmd report -i $s-trace-cmd >got 2>err
		[ ! -s err ] || fail "$s: $(head -n 3 err)"
		# an exit for each call that returned; leaves of one line are counted by their entries
		trdecode $s-trace-cmd >back
		for type in funcgraph_entry funcgraph_exit; do
			[ "$(table -g type -c count back | awk -F '\t' -v t=$type '$1 == t { print $2 }')" = \
				"$(trace-cmd report -R -i $s-trace-cmd 2>/dev/null | grep -c " $type: ")" ]
		done
		calls count $s.trs | cut -f 1,2 >want
		trsym back | calls count - | cut -f 1,2 | names trace-cmd >got
		[ -s want ]
		diff want got || fail "$s"
	done
	trace-cmd report -i uftrace-trace-cmd 2>/dev/null | grep -q 'funcgraph_entry:  *1.272 us  *|  __monstartup();'
	trace-cmd report -i uftrace-trace-cmd 2>/dev/null | grep -q 'linux_x3atask_x2dnew: .* pid=4123 .*tid=4125'
	trace-cmd report -i apitrace-trace-cmd 2>/dev/null | grep -q 'print:  *eglInitialize: (major = NULL, minor = NULL) = EGL_TRUE$'
}

@test "to trace-cmd: times, CPUs and threads are those of the source" {
	need trace-cmd
	trace-cmd report -t -i uftrace-trace-cmd 2>/dev/null | grep -q 'fib-4125 *\[000\]'
	# what LTTV reads in the source, moved to wall time; its times are rounded by 1 ns. Arguments
	# of calls become prints, and of the ends some have no begin.
	awk -v wall="$(head -n 1 "$DATA/lttng/v2.6-le64-packed.wall")" '
		function ns(t, p) { split(t, p, "."); return p[1] % 1000 * 1000000000 + p[2] }
		NR == 1 { shift = ns(wall) - ns($1) }
		{ sub(/.*\./, "", $3); sub(/(irq|sysc)_begin/, "funcgraph_entry", $3) }
		$3 !~ /_end$/ { printf "%.0f %s\n", ns($1) + shift, $3 }
		' "$DATA/lttng/v2.6-le64-packed.expect.txt" >"$T/want"
	trace-cmd report -R -t -i lttng-trace-cmd 2>/dev/null | sed 1d >"$T/report"
	sed -E 's/^ *.*-[0-9]+ +\[000\] [0-9]*([0-9]{3})\.([0-9]{9}): ([^ ]*):.*/\1\2 \3/' "$T/report" |
		grep -v ' print$\| funcgraph_exit$' >"$T/got"
	[ "$(wc -l <"$T/want")" = "$(wc -l <"$T/got")" ]
	run paste "$T/want" "$T/got"
	assert_equal "$(awk '$2 != $4 || $1 - $3 > 1 || $3 - $1 > 1' <<<"$output")" ''
	# a switch is in the thread that it leaves
	run sed -nE 's/^.*-([0-9]+) .* sched_change: .*prev_pid=([0-9]+).*/\1 \2/p' "$T/report"
	[ "${#lines[@]}" = 19 ]
	assert_equal "$(awk '$1 != $2' <<<"$output")" ''
	# ticks as they are
	trencode -q -t trace-cmd -o "$T/ticks.dat" apitrace.trs
	trdecode --info "$T/ticks.dat" | grep -q counter
	trdecode "$T/ticks.dat" | trsym | trstat -q -c total 2>/dev/null | grep -q ticks
}

@test "to apitrace: apitrace dump shows calls, events and arguments" {
	need apitrace
	for s in uftrace trace-cmd lttng; do
		apitrace dump --color=never $s-apitrace >got 2>err
		[ ! -s err ] || grep -q '^warning: bitmask' err || fail "$s: $(head -n 3 err)"
		table -g name -c count $s.trs | names x >want
		sed -n 's/^[0-9]* \(.*\)$/\1/p' got | sed 's/\((.*\)$//' | LC_ALL=C sort | uniq -c |
			awk '{ c = $1; $1 = ""; print substr($0, 2) "\t" c }' | LC_ALL=C sort >have
		# calls that the source had lost the returns of are there, incomplete
		[ $s = lttng ] || diff want have || fail "$s"
	done
	apitrace dump --color=never --thread-ids uftrace-apitrace |
		grep -q '^[0-9]* @101b linux:task-name(cpu = 0, misc = 0x2000, pid = 4123, tid = 4123, comm = "fib")$'
}

@test "to apitrace: a converted apitrace recording dumps as before" {
	need apitrace
	for f in threads v6 odd; do
		trdecode -q "$DATA/apitrace/$f.trace" | trencode -q --resynthesize -o "$T/$f.trace" || [ $? = 1 ]
		apitrace dump --color=never "$DATA/apitrace/$f.trace" 2>/dev/null | grep -v '^//' >want
		apitrace dump --color=never "$T/$f.trace" 2>/dev/null >got
		diff want got || fail "$f"
	done
}

@test "to LTTng: another reader lists every event, with its fields" {
	for s in uftrace trace-cmd apitrace; do
		"$BATS_FILE_TMPDIR/lttng_list" $s-lttng >got || fail "$s"
		# but for what uftrace was scheduled out in outside of all calls
		[ "$(grep '^[0-9]*\.[0-9]\{9\} ' got | grep -vc linux.sched-)" = "$(table -g type -c count $s.trs |
			awk -F '\t' '!/^linux:sched-/ { n += $2 } END { print n }')" ] || fail "$s"
	done
	"$BATS_FILE_TMPDIR/lttng_list" uftrace-lttng >got
	grep -q '^3587.866590204 uftrace_0 uftrace.entry { _tid = 4123, _pid = 4123, _depth = 0, .*_comm = "fib", _enter = "__monstartup" }$' got
	"$BATS_FILE_TMPDIR/lttng_list" trace-cmd-lttng >got
	grep -q 'sched.sched_switch { _tid = .*prev_comm = ' got
}

@test "every cell: what the man page says is kept is there again, and nothing else" {
	# the rows of the table, with the marks of calls, times, CPU, thread, comm, ..., events
	man=$ROOT/man7/trencode-formats.7
	sed -n '/^from  *to  *calls/,/^\.Ed/p' "$man" | sed '1d;$d' >cells
	[ "$(wc -l <cells)" = 16 ]
	for s in uftrace trace-cmd apitrace lttng; do
		plain <$s.trs >$s.plain
	done
	while read -r from to calls times cpu thread comm _ events _; do
		trdecode -q "$from-$to" | plain >back
		dialect=$to
		[ "$from" = "$to" ] && dialect=own
		for what in calls times CPU thread comm events; do
			case $what in
			calls)
				mark=$calls
				calls count $from.plain | cut -f 1,3 | names own >want
				# in apitrace all is a call
				calls count back | cut -f 1,3 | names $dialect |
					grep -F -x -f want >got || :
				;;
			times)
				mark=$times
				calls self $from.plain | names own >want
				calls self back | names own >got
				;;
			CPU)
				mark=$cpu
				table -g cpu -c count $from.plain | sort >want
				table -g cpu -c count back | sort >got
				;;
			thread)
				mark=$thread
				table -g tid -c count $from.plain | sort >want
				table -g tid -c count back | sort >got
				;;
			comm)
				mark=$comm
				table -g comm -c count $from.plain | sort >want
				table -g comm -c count back | sort >got
				;;
			events)
				mark=$events
				events $from.plain | names own >want
				events back | names $dialect >got
				;;
			esac
			# what this recording lost the ends of are calls of uftrace, and without a return
			[ "$from" = lttng ] && [[ $to == uftrace || $to == apitrace ]] &&
				[[ $what == calls || $what == times ]] && continue
			case $mark in
			+) cmp -s want got || fail "$from to $to: $what is not kept: $(diff want got | head -n 5)" ;;
			. | '~' | -) [ $mark = . ] || ! cmp -s want got || fail "$from to $to: $what is kept" ;;
			*) fail "$from to $to: a mark $mark" ;;
			esac
		done
	done <cells
}

@test "several sources become one trace" {
	trdecode --offset "$DATA/trace-cmd/v6-fgraph.dat=0" --offset "$DATA/uftrace/fib=0" \
		--offset "$DATA/apitrace/threads.trace=0" \
		"$DATA/trace-cmd/v6-fgraph.dat" "$DATA/uftrace/fib" "$DATA/apitrace/threads.trace" |
		trsym >"$T/m.trs"
	# ticks and times have counts in common only
	trdecode --offset "$DATA/trace-cmd/v6-fgraph.dat=0" --offset "$DATA/uftrace/fib=0" \
		"$DATA/trace-cmd/v6-fgraph.dat" "$DATA/uftrace/fib" | trsym >"$T/times.trs"
	{ calls count "$T/times.trs" && calls count apitrace.trs; } | cut -f 1,3 |
		LC_ALL=C sort >"$T/want"
	for t in uftrace trace-cmd apitrace lttng; do
		trencode -q --tick 1ns -t $t -o "$T/$t" "$T/m.trs"
		trdecode "$T/$t" | plain | calls count - | cut -f 1,3 | names x |
			grep -F -x -f "$T/want" >"$T/got"
		cmp "$T/want" "$T/got" || fail $t
	done
	run -2 --separate-stderr trencode -t trace-cmd -o "$T/no.dat" "$T/m.trs"
	[[ $stderr == *'the stream has clocks of ticks and of ns; give the length of a tick, as in --tick 1ns'* ]]
	[ ! -e "$T/no.dat" ]
	# two of one system, whose threads have the same numbers
	cp -r "$DATA/uftrace/fib" "$T/a"
	trdecode "$DATA/uftrace/fib" "$T/a" | trsym >"$T/two.trs"
	run -0 --separate-stderr trencode -t uftrace -o "$T/two" "$T/two.trs"
	[[ $stderr == *'3 threads without a unique number'* ]]
	calls self "$T/two.trs" >"$T/want"
	trdecode "$T/two" | trsym | calls self - >"$T/got"
	cmp "$T/want" "$T/got"
	# concatenated
	run -2 pipe "cat uftrace.trs uftrace.trs | trencode -t uftrace -o $T/behind"
	run -0 pipe "cat uftrace.trs uftrace.trs | trencode -q --resynthesize -t uftrace -o $T/behind"
}

@test "filtered streams" {
	trfilter 'name =~ "fib|compare|qsort"' uftrace.trs >"$T/f.trs"
	calls self "$T/f.trs" >"$T/want"
	for t in uftrace trace-cmd lttng; do
		trencode -q --resynthesize -t $t -o "$T/$t" "$T/f.trs"
		trdecode "$T/$t" | trsym | calls self - >"$T/got"
		cmp "$T/want" "$T/got" || fail $t
	done
	trencode -q -t apitrace -o "$T/x.trace" "$T/f.trs"
	need apitrace
	[ "$(apitrace dump --color=never "$T/x.trace" | grep -c ' fib()$')" = 599 ]
}

@test "what cannot be is said" {
	run -2 --separate-stderr trencode -t uftrace -o "$T/x" apitrace.trs
	[[ $stderr == *'clock of the trace counts ticks'*'--tick 1ns'* ]]
	[ ! -e "$T/x" ]
	run -2 --separate-stderr trencode -t lttng -o "$T/x" apitrace.trs
	[[ $stderr == *'--tick 1ns'* ]]
	trfilter 'name == "sched_switch"' trace-cmd.trs >"$T/none.trs"
	run -2 --separate-stderr trencode -t uftrace -o "$T/x" "$T/none.trs"
	[[ $stderr == *'the stream has no calls'*'(60 other events came)'* ]]
	[ ! -e "$T/x" ]
	for tick in 0 -1ns abc ''; do
		run -2 trencode --tick "$tick" uftrace.trs
	done
	run -0 --separate-stderr trencode -t apitrace -o "$T/x.trace" trace-cmd.trs
	[[ $stderr == *'events are written without their times: a .trace has none'* ]]
	[[ $stderr == *'events are written without their CPU'* && $stderr == *'64 events are written as calls that return at once'* ]]
	run -0 --separate-stderr trencode -t uftrace -o "$T/u" trace-cmd.trs
	[[ $stderr == *'524 events are written without their CPU: uftrace has none'* ]]
	# and names are missed
	run -0 --separate-stderr pipe "trdecode '$DATA/trace-cmd/v6-fgraph.dat' | trencode -t uftrace -o $T/v"
	[[ $stderr == *'functions are named by their addresses: run trsym before trencode'* ]]
}

@test "calls that overlap are left out where calls nest" {
	# 0 a, 1 b, leave 0, leave 1; 2 c, 3 d, leave 3, leave 2
	printf 'at' >"$T/o.trace"
	{
		printf '\x05' # version
		printf '\x00\x00\x00\x01a\x00\x00' # enter, thread, signature, name, no arguments, end
		printf '\x00\x00\x01\x01b\x00\x00'
		printf '\x01\x00\x00\x01\x01\x00'
		printf '\x00\x00\x02\x01c\x00\x00\x00\x00\x03\x01d\x00\x00\x01\x03\x00\x01\x02\x00'
	} | gzip -n >"$T/o.trace"
	trdecode "$T/o.trace" >"$T/o.trs"
	[ "$(table -g name -c count "$T/o.trs" | sort | tr '\n\t' '  ')" = "a 1 b 1 c 1 d 1 " ]
	for t in uftrace trace-cmd; do
		run -0 --separate-stderr trencode --tick 1ns -t $t -o "$T/$t" "$T/o.trs"
		[[ $stderr == *'1 call that overlaps another of its thread is left out'* ]] || fail "$stderr"
		trdecode "$T/$t" | trsym | table -g name -c count - | sort >"$T/got"
		[ "$(tr '\n\t' '  ' <"$T/got")" = "a 1 c 1 d 1 " ]
	done
	for t in apitrace lttng; do
		run -0 --separate-stderr trencode --resynthesize --tick 1ns -t $t -o "$T/$t" "$T/o.trs"
		[[ $stderr != *overlap* ]]
		trdecode "$T/$t" | plain | table -g name -c count - | sort >"$T/got"
		[ "$(tr '\n\t' '  ' <"$T/got")" = "a 1 b 1 c 1 d 1 " ]
	done
}

@test "sources of 32 bits and of the other byte order, with gaps, and empty ones" {
	run -0 --separate-stderr pipe "trdecode -q '$DATA/lttng/v1.0-be32-align.tar.gz' | trencode --resynthesize -t lttng -o $T/be"
	"$BATS_FILE_TMPDIR/lttng_list" "$T/be" >"$T/list"
	# times from the first on and names: those that LTTV reads in the source, but for ends
	# without a begin; 1 ns is rounding
	for listing in "$DATA/lttng/v1.0-be32-align.expect.txt" "$T/list"; do
		awk '{
			split($1, t, "."); ns = t[1] % 1000 * 1000000000 + t[2]
			if (NR == 1) first = ns
			sub(/.*\./, "", $3); sub(/^kernel_/, "", $3)
			if ($3 !~ /_end$/) printf "%.0f %s\n", ns - first, $3
		}' "$listing" | sort -n >"$T/times-${listing##*/}"
	done
	[ "$(wc -l <"$T/times-list")" = 138 ]
	run paste "$T"/times-*
	assert_equal "$(awk '$2 != $4 || $1 - $3 > 1 || $3 - $1 > 1' <<<"$output")" ''
	trdecode "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" | trsym >"$T/s390.trs"
	for t in trace-cmd apitrace lttng; do
		trencode -q --resynthesize -t $t -o "$T/s390-$t" "$T/s390.trs"
	done
	trdecode "$T/s390-lttng" | plain | events - >"$T/got"
	trdecode "$T/s390-trace-cmd" | events - | grep -v ^print >"$T/got2"
	events "$T/s390.trs" | grep -v ^print >"$T/want"
	cmp "$T/want" "$T/got"
	cmp "$T/want" "$T/got2"
	# lost events are lost there too
	trdecode -q "$DATA/trace-cmd/v7-zstd-split-lost.dat" >"$T/lost.trs"
	lost=$(trstat "$T/lost.trs" 2>&1 >/dev/null | grep 'lost by the recorder')
	for t in trace-cmd lttng; do
		trencode -q --resynthesize -t $t -o "$T/lost-$t" "$T/lost.trs"
		[ "$(trdecode -q "$T/lost-$t" | trstat 2>&1 >/dev/null | grep 'lost by the recorder')" = "$lost" ] || fail "$t: $lost"
	done
	# nothing at all
	trfilter 'name == "no such"' trace-cmd.trs >"$T/e.trs"
	for t in trace-cmd apitrace lttng; do
		run -0 trencode -q --resynthesize -t $t -o "$T/empty-$t" "$T/e.trs"
		run -0 pipe "trdecode $T/empty-$t | trstat"
	done
}

@test "names that a target forbids can be had back" {
	local odd=$'a b\tc\n"d" $e\\x41 \xff\xc3\xa4'
	# the second function of the recording gets the name, by its symbol table
	cp -r "$DATA/apitrace/v6.trace" "$T/x.trace"
	{
		printf '\x05\x00\x00\x00'
		printf "\\x$(printf %02x ${#odd})"
		printf '%s' "$odd"
		printf '\x00\x00\x01\x00\x00'
	} >"$T/raw"
	LC_ALL=C
	{
		printf '\x05\x00\x00\x00'
		printf "\\x$(printf %02x "$(printf %s "$odd" | wc -c)")"
		printf '%s' "$odd"
		printf '\x00\x00\x01\x00\x00'
	} | gzip -n >"$T/x.trace"
	trdecode "$T/x.trace" >"$T/x.trs"
	for t in uftrace trace-cmd apitrace lttng; do
		trencode -q --resynthesize --tick 1ns -t $t -o "$T/$t" "$T/x.trs"
		run -0 pipe "trdecode '$T/$t' | trsym | trstat -q -t json -c count"
		assert_output --partial 'a b\tc\n\"d\" $e\\x41 '
	done
	need trace-cmd
	trace-cmd report -i "$T/trace-cmd" 2>&1 | grep -q 'a\\x20b\\x09c\\x0a"d"'
}

@test "the suffix of -o chooses the format, --formats names all" {
	for name in x.uftrace y/uftrace.data x.dat x.trace x.lttng x.folded x.txt; do
		mkdir -p "$T/y"
		run -0 trencode -q -o "$T/$name" uftrace.trs
	done
	[ -e "$T/x.uftrace/info" ] && [ -e "$T/y/uftrace.data/info" ] && [ -e "$T/x.lttng/metadata_0" ]
	trdecode --info "$T/x.dat" | grep -q 'format *trace-cmd'
	trdecode --info "$T/x.trace" | grep -q 'format *apitrace'
	cmp "$T/x.folded" <(trencode -q -t folded uftrace.trs)
	cmp "$T/x.txt" <(trencode -q uftrace.trs)
	# -t wins, and another suffix says nothing
	trencode -q -t text -o "$T/t.dat" uftrace.trs
	cmp "$T/t.dat" "$T/x.txt"
	trencode -q -o "$T/z.xyz" uftrace.trs
	cmp "$T/z.xyz" "$T/x.txt"
	run -0 trencode --formats
	for format in text uftrace trace-cmd apitrace lttng folded; do
		assert_line --regexp "^$format +[a-z]"
	done
	# all are in FORMATS
	for format in $(cut -d ' ' -f 1 <<<"$output"); do
		sed -n '/^\.Sh FORMATS/,/^\.Sh EXIT/p' "$ROOT/man1/trencode.1" | grep -qx "\.It Cm $format" ||
			fail "trencode(1), FORMATS: no $format"
	done
}
