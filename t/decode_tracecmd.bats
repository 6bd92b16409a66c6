# trdecode on trace.dat: every version, byte order and word size, clocks, instances, damage; the
# fields as trace-cmd report -R prints them.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$DATA/trace-cmd
	S=$RECORDED/trace-cmd
}

# Lines without what only pads them.
fold() {
	sed -E 's/[[:space:]]+/ /g; s/^ //; s/ $//' "$@" | grep -av -e '^$' -e '^cpus=' -e '^version '
}

raw() {
	pipefail "trdecode -q '$1' | trencode -q --raw --ns" | fold
}

# Lines without what the printers differ in. trace-cmd 3.4, of module-events and zlib, has flags and
# symbols' addresses, and digits for all arrays of bytes. Faults of libtraceevent: bytes after the record
# (kernel_stack shorter than its 8 callers, raw_data, empty strings of kprobes and rd), a signed long of
# 32 bits as unsigned, s8 too.
without_faults() {
	perl -0777 -pe 's/\n(?!\S+-\d+ \[\d{3}\])/ /g' "$1" | sed -E '
		/: (kernel_stack|raw_data): /d
		s/(\[[0-9]{3}\])-0x[0-9a-f]+/\1/
		s/(=[^ =]+) \(0x[0-9a-f]{16}\)/\1/g; s/ip= \((0x[0-9a-f]+)\)/ip=\1/
		s/ bytes=.* mask=/ mask=/; s/ uuid=(ARRAY\[[^]]*\])? dev=/ dev=/; s/ file=.*//
		s/ (rd|arr)=.* (ns|fl)=/ \2=/; s/ s8=-?[0-9]+//
		s/=(4294967|-)[0-9]{1,3}( |$)/=-\2/g'
}

# Events, gaps not among them.
events() {
	pipefail "trdecode -q '$1' | trstat -q -g type -c count -t tsv" |
		awk -F'\t' 'NR > 1 && $1 != "gap" { n += $2 } END { print n + 0 }'
}

@test "all recordings: fields and times as the real tool prints them" {
	local differs=()
	for f in "$S"/*.raw.txt; do
		f=$(basename "$f" .raw.txt)
		[[ $f == bad-* ]] && continue
		fold "$S/$f.raw.txt" >want
		raw "$S/$f.dat" >got
		diff -aq want got >/dev/null && continue
		differs+=("$f")
		diff -a <(without_faults want) <(without_faults got) || fail "$f"
	done
	run -0 printf '%s\n' "${differs[@]}"
	assert_output "$(printf '%s\n' i386-v6-markers-raw i386-v7-zstd-sched-syscalls v6-kprobes \
		v6-module-events v6-profile v6-stacktrace v7-zlib-fgraph-depth \
		v7-zlib-sched-irq-timer v7-zstd-module-events)"
}

@test "small signed numbers keep their sign" {
	raw "$S/v6-module-events.dat" >out
	run -0 grep -m1 -a tc_scalar: out
	assert_output --partial "s8=-39 u8v=163 s16v=-11700 "
	raw "$S/i386-v7-zstd-sched-syscalls.dat" >out
	run -0 grep -ac "sys_exit: id=-1 ret=" out
}

@test "a stack shorter than its declared callers is not filled from the next record" {
	raw "$S/v6-stacktrace.dat" >out
	run -0 grep -m1 -a "kernel_stack: size=7" out
	# 7 addresses of 8 bytes
	[ "$(grep -o ',' <<<"$output" | wc -l)" = 55 ]
}

# What trace-cmd report -R printed, as counts: type, CPU, events.
report_counts() {
	sed -nE 's/^.*\[([0-9]{3})\](-0x[0-9a-f]+)? *[0-9.]+: *([^:]+): .*/\3 \1/p' "$@" |
		awk '{ n[$1 "\t" $2 + 0]++ } END { for (k in n) print k "\t" n[k] }' | LC_ALL=C sort
}

our_counts() {
	pipefail "trdecode -q '$1' | trstat -q -g type,cpu -c count -t tsv" |
		awk -F'\t' 'NR > 1 && $1 != "gap"' | LC_ALL=C sort
}

@test "as many events of each type on each CPU as the real tool" {
	need trace-cmd
	local n=0
	for f in "$S"/*.dat; do
		case $f in */bad-* | *latency*) continue ;; esac
		# what is installed may not read all compressions
		if [[ -f ${f%.dat}.raw.txt ]]; then
			report_counts "${f%.dat}.raw.txt" >want
		else
			trace-cmd report -R -i "$f" 2>/dev/null | report_counts >want
		fi
		[ -s want ]
		our_counts "$f" >got
		diff want got
		n=$((n + 1))
	done
	[ $n -ge 64 ]
}

@test "latency traces: as many lines of each CPU as the real tool" {
	for f in "$S"/*latency.report.txt; do
		sed -nE 's/^.{17}.*\[([0-9]{3})\] +[^ ]+ +[0-9.]+: .*/\1/p' "$f" |
			awk '{ n[$1 + 0]++ } END { for (k in n) print k "\t" n[k] }' | sort >want
		our_counts "${f%.report.txt}.dat" | awk -F'\t' '$1 == "latency" { print $2 "\t" $3 }' >got
		diff want got
		# the others are the comments of the heading, which the kernel counts in it too
		run -0 awk 'BEGIN { n = 0 } /^#/ { n++ } match($0, /written: [0-9]+/) { events = substr($0, RSTART + 9, RLENGTH - 9) }
			END { print "latency," events; print "latency_other," n }' "$f"
		trdecode -q "${f%.report.txt}.dat" | trstat -q -t csv -g type -c count | tail -n +2 | sort >got
		diff got - <<<"$output"
		# threads and times are those of the text
		for of in "${f%.report.txt}.dat" "$f"; do
			trdecode -q "$of" | trfilter -q 'type != "latency_other"' 2>/dev/null | trstat -q -t csv -g cpu,tid,comm -c count,first,last | sort >got."${of##*.}"
		done
		diff got.dat got.txt
	done
}

@test "functions are calls with names from kallsyms" {
	pipefail "trdecode -q '$T/v6-fgraph.dat' | trsym -q | trstat -q -g name -c count -s count -t tsv" >out
	run -0 sed -n 1,3p out
	assert_output --partial __x64_sys_close
}

@test "lost events are gaps with their number" {
	run -0 --separate-stderr pipe \
		"trdecode '$T/v7-zstd-split-lost.dat' | trencode -q --raw | grep -a DROPPED"
	assert_output "CPU:0 [78 EVENTS DROPPED]"
	run -1 --separate-stderr trdecode --strict -o x "$T/v7-zstd-split-lost.dat"
}

@test "instances are lanes of their own" {
	pipefail "trdecode -q '$T/v7-zstd-instances.dat' | trencode -q --raw" >out
	run -0 grep -ac '^one: ' out
	run -0 grep -ac '^two: ' out
}

@test "a guest and its host are merged on the host's clock, as the real tool does it" {
	need trace-cmd
	cd "$S"
	diff <(trace-cmd report -i agent-host.dat -i agent-guest.dat 2>/dev/null) \
		<(trdecode agent-host.dat agent-guest.dat | trencode -t text)
	# in their own times they have nothing in common
	run -2 --separate-stderr trdecode --clock raw -o "$BATS_TEST_TMPDIR/x" agent-host.dat agent-guest.dat
	[[ $stderr == *"cannot be compared"* ]]
}

@test "the same events from a pipe" {
	trdecode -q "$T/v6-date.dat" | trencode -q --raw >want
	cat "$T/v6-date.dat" | trdecode -q - | trencode -q --raw >got
	cmp want got
}

@test "--clock raw leaves the date out" {
	run -0 pipe "trdecode -q --clock raw '$T/v6-date.dat' | trencode -q --raw --ns | sed -n 2p"
	refute_output --partial 1795208957
	run -0 pipe "trdecode -q --clock wall '$T/v6-date.dat' | trencode -q --raw --ns | sed -n 2p"
	assert_output --partial 1795208957.671387188
}

@test "--info" {
	run -0 trdecode --info "$T/s390x-v7-zstd-sched-syscalls.dat"
	assert_line --regexp '^byte order +big-endian$'
	assert_line --regexp '^version +7$'
}

@test "a loop of options ends" {
	run -1 --separate-stderr timeout 10 trdecode -o x "$T/bad-v7-options-loop.dat"
	assert_regex "$stderr" 'lead back to here'
}

@test "sections that no option leads to are found: after a loop of options all events come" {
	fold "$S/v7-zstd-clock-boot.raw.txt" >want
	pipe "trdecode -q '$T/bad-v7-options-loop.dat' 2>/dev/null | trencode -q --raw --ns" |
		fold >got
	diff want got
}

# The lines of one CPU, from standard input.
of_cpu() {
	# not every recorder wrote down a second time how an instance is called
	grep -a "\[00$1\]" | sed 's/^solo: /unnamed: /'
}

@test "version 7, cut: the CPUs' data are found without their table, and each is a beginning" {
	for f in v7-none-sched-irq-timer v7-none-instance-only v7-none-max; do
		trdecode -q "$S/$f.dat" | trencode -q --raw --ns | fold >want
		for part in 75 90 99; do
			head -c $(($(stat -c %s "$S/$f.dat") * part / 100)) "$S/$f.dat" >cut.dat
			run -1 --separate-stderr trdecode -o x cut.dat
			assert_regex "$stderr" 'table of this data.* is lost'
			trencode -q --raw --ns x 2>/dev/null | fold | grep -av -e '^#' >got
			for cpu in 0 1; do
				of_cpu $cpu <want >want.cpu || continue
				of_cpu $cpu <got >got.cpu || continue
				diff <(head -n "$(wc -l <got.cpu)" want.cpu) got.cpu
			done
		done
	done
	# of version 6 the table is in front
	[ "$(grep -ac . got)" -gt 250 ]
}

@test "a file with its events cut at 60 % gives 60 % of them" {
	need trace-cmd
	file=$S/s390x-v6-busy.dat
	all=$(events "$file")
	start=$(trace-cmd dump --flyrecord -i "$file" | awk '/of cpu 0/ { print $1 }')
	head -c $((start + ($(stat -c %s "$file") - start) * 6 / 10)) "$file" >cut.dat
	trdecode -q -o x cut.dat 2>/dev/null || [ $? = 1 ]
	some=$(trstat -q -g type -c count -t tsv x 2>/dev/null |
		awk -F'\t' 'NR > 1 && $1 != "gap" { n += $2 } END { print n }')
	[ $((some * 100 / all)) -ge 58 ] && [ $((some * 100 / all)) -le 62 ]
}

@test "bad recordings: what is intact comes out, and exit 1" {
	run -2 --separate-stderr trdecode -o x "$S/bad-magic.dat"
	for f in bad-option-size:87 bad-page-commit:137 bad-truncated:642 bad-v7-chunk:681 \
		bad-truncated-header:0 bad-v7-options-loop:153; do
		run -1 --separate-stderr trdecode -o x "$S/${f%:*}.dat"
		assert_regex "$stderr" '^trdecode: .*bad-.*: '
		[ "$(trstat -q -g type -c count -t tsv x 2>/dev/null |
			awk -F'\t' 'NR > 1 && $1 != "gap" { n += $2 } END { print n + 0 }')" = "${f#*:}" ]
	done
}

@test "a kernel stack has all of its callers, and no more" {
	trdecode -q "$T/v6-stacktrace.dat" >x.trs
	run -0 pipe "trfilter 'type == \"kernel_stack\"' x.trs | trencode -q -t ndjson |
		jq -r 'select(.args.size != (.args.caller | length)) | .time'"
	refute_output
	trfilter 'type == "kernel_stack"' x.trs | trencode -q -t ndjson | jq .args.size | sort -n >sizes
	[ "$(head -n 1 sizes)" -lt 8 ]
	[ "$(tail -n 1 sizes)" -gt 8 ]
	# as many lines of a chrome trace and of CTF have all of them
	run -0 pipe "trencode -q -t chrome x.trs | jq '.traceEvents[] | select(.name == \"kernel_stack\") | .args.caller | length' | sort -n"
	assert_output "$(cat sizes)"
	# the first eight are those of trace-cmd report -R
	need trace-cmd
	trace-cmd report -R -i "$T/v6-stacktrace.dat" 2>/dev/null | grep 'size=[0-9]*[89] \|size=[1-9][0-9]' | grep -o 'caller=.*' >want
	trencode -q -t text --raw x.trs | grep 'size=[0-9]*[89] \|size=[1-9][0-9]' | grep -o 'caller=.*' | diff want -
	[ -s want ]
}

# frames FILE TYPE: the addresses of each event, innermost first, of trace-cmd report -R: bytes of
# eight callers, of which size= are valid, or those up to a zero
frames() {
	trace-cmd report -R -i "$1" 2>/dev/null | grep " $2: " | python3 -c 'import re, sys
for line in sys.stdin:
    size = re.search(r"size=(\d+)", line)
    data = bytes.fromhex("".join(re.search(r"caller=ARRAY\[(.*)\]", line)[1].replace(",", "").split()))
    callers = [int.from_bytes(data[k:k + 8], "little") for k in range(0, 64, 8)]
    callers = callers[:int(size[1])] if size else callers[:callers.index(0)] if 0 in callers else callers
    print("".join(f" {caller:x}" for caller in callers))'
}

# stacks FILE TYPE: the same of the events' recorded stacks
stacks() {
	trdecode -q "$1" | trfilter -q "type == \"$2\"" | trencode -q -t ndjson |
		jq -r '.args.stack // [] | reverse | map(" " + ltrimstr("<") | rtrimstr(">")) | join("")'
}

@test "recorded stacks: the frames are the callers of the record" {
	need trace-cmd
	stacks "$T/v6-stacktrace.dat" kernel_stack >got
	# trace-cmd prints the first eight callers
	frames "$T/v6-stacktrace.dat" kernel_stack >want
	[ "$(wc -l <want)" = 130 ]
	cut -d ' ' -f 1-9 got | diff want -
	[ -d "$S" ] || return 0
	for name in v6-userstack v7-zstd-procmap; do
		frames "$S/$name.dat" user_stack >want
		stacks "$S/$name.dat" user_stack | diff want - || fail "$name"
		[ -s want ]
	done
}

@test "recorded stacks: profiles, groups and conditions agree with trace-cmd's names" {
	need trace-cmd
	# the report has all frames: a line of the event, then "=> NAME (ADDRESS)", innermost first
	trace-cmd report -i "$T/v6-stacktrace.dat" 2>/dev/null | awk '
		/^=> / { stack = $2 (stack == "" ? "" : ";") stack; next }
		{ if (n) print comm ";" stack; n = 0; stack = "" }
		/ kernel_stack: / { match($0, /-[0-9]+ +\[/); comm = substr($0, 1, RSTART - 1); gsub(/^ +/, "", comm); n = 1 }
		END { if (n) print comm ";" stack }' | sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 " " n }' | LC_ALL=C sort >want
	[ "$(wc -l <want)" -gt 20 ]
	trdecode -q "$T/v6-stacktrace.dat" | trsym -q >x.trs
	trencode -q -t folded x.trs | LC_ALL=C sort >got
	diff want got
	# trstat: by stack; events without a stack are in a group without one
	trstat -q -g stack -c count -t tsv x.trs | awk -F '\t' 'NR > 1 && $1 { print $1, $2 }' | LC_ALL=C sort >got
	sed 's/^[^;]*;//' want | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' | LC_ALL=C sort | diff - got
	for f in schedule_idle hrtimer_interrupt; do
		run -0 trfilter -q -c "type == \"kernel_stack\" && under(\"$f\")" x.trs
		assert_output "$(awk -v f="$f" '(";" $0 " ") ~ (";" f "[; ]") { n += $NF } END { print n }' want)"
		run -0 trfilter -q -c "stack =~ \"(^|;)$f(;|$)\"" x.trs
		assert_output "$(awk -v f="$f" '(";" $0 " ") ~ (";" f "[; ]") { n += $NF } END { print n }' want)"
	done
	# a profile of a trace with calls is of its calls
	[ ! -d "$S" ] || diff <(trdecode -q "$S/v6-profile.dat" | trencode -q -t folded) \
		<(trdecode -q "$S/v6-profile.dat" | trfilter -q 'type != "kernel_stack"' | trencode -q -t folded)
}

@test "recorded stacks: the function tracer's functions are below their callers" {
	[ -d "$S" ] || skip "no traces"
	need trace-cmd
	trace-cmd report -R -i "$S/v6-function.dat" 2>/dev/null | sed -nE 's/.* function: +ip=([^ ]+) parent_ip=(.+)/\2;\1/p' |
		sort | uniq -c | awk '{ print $2, $1 }' | sort >want
	[ "$(wc -l <want)" -gt 100 ]
	trdecode -q "$S/v6-function.dat" | trsym -q | trstat -q -g stack -c count -t tsv |
		awk -F '\t' 'NR > 1 && $1 { print $1, $2 }' | sort | diff want -
}

@test "a marker whose text has the size 0 and no brackets, as old kernels declare it" {
	need trace-cmd
	sed 's/field:char buf\[\];/field:char   buf;/' "$T/v6-date.dat" >old.dat
	trace-cmd report -R -i old.dat 2>/dev/null | grep -o ' buf=.*' >want
	trdecode -q old.dat | trencode -q -t text --raw | grep -o ' buf=.*' | diff want -
	run -0 grep -v 'buf=0$' want
}

@test "what trace_printk() printed is in the fields of every format" {
	trdecode -q "$T/v6-bprint-bputs.dat" | trfilter 'type == "bprint" || type == "bputs"' >x.trs
	trencode -q -t text x.trs | sed -n 's/.*: b\(print\|puts\): *[^:]*: //p' >want
	[ "$(wc -l <want)" -gt 300 ]
	trencode -q -t ndjson x.trs | jq -r .args.message | diff want -
	trencode -q -t chrome x.trs | jq -r '.traceEvents[] | select(.ph == "i") | .args.message' | diff want -
	trencode -q -t perfetto -o x.pftrace x.trs
	run -0 grep -ac "$(head -n 1 want)" x.pftrace
	need babeltrace2
	trencode -q -t ctf -o x.ctf x.trs
	babeltrace2 x.ctf 2>/dev/null | sed 's/.*message = "\(.*\)" }$/\1/' | diff want -
}

@test "cut anywhere: no crash, and exit 1" {
	size=$(stat -c %s "$T/v6-date.dat")
	for ((part = 1; part < 32; part++)); do
		head -c $((size * part / 32)) "$T/v6-date.dat" >cut.dat
		run --separate-stderr trdecode -q -o x cut.dat
		((part > 28)) || [ "$status" = 1 ]
		[ "$status" -lt 2 ]
	done
}

@test "a latency trace cut in the middle of a line is damaged, at the end of a line it is not" {
	file=$RECORDED/trace-cmd/v6-latency.dat
	head -c 1032633 "$file" >cut.dat
	run -1 --separate-stderr trdecode -o cut.trs cut.dat
	assert_equal "$stderr" \
		'trdecode: cut.dat: 0xfc1b9: the text of the latency trace ends in the middle of a line'
	# what is there of the line is shown
	run -1 pipefail 'trencode -q cut.trs 2>/dev/null | tail -n 3'
	assert_output --partial "$(tail -n 1 cut.dat)"
	for file in v6-latency v7-zstd-latency; do
		run -0 --separate-stderr trdecode -o whole.trs "$RECORDED/trace-cmd/$file.dat"
		assert_equal "$stderr" ''
	done
}

@test "numbers have the names that the print fmt has, system calls those of the kernel" {
	local names=/usr/include/x86_64-linux-gnu/asm/unistd_32.h
	# "vec=1 [action=TIMER]"
	trdecode -q "$S/v7-none-sched-irq-timer.dat" -o x.trs
	sed -nE 's/.*: softirq_raise: .*action=([A-Z_]+).*/\1/p' "$S/v7-none-sched-irq-timer.report.txt" | sort | uniq -c | awk '{ print $2 "\t" $1 }' >theirs
	[ -s theirs ]
	trfilter -q 'type == "softirq_raise"' x.trs | trstat -q -t tsv -g vec -c count | tail -n +2 | sort | diff theirs -
	run -0 trfilter -c 'type == "softirq_raise" && vec == "TIMER"' x.trs
	assert_output "$(trfilter -c 'type == "softirq_raise" && vec == 1' x.trs)"
	assert_output "$(sed -n 's/^TIMER\t//p' theirs)"
	# the numbers of both are unchanged
	run -0 pipe 'trencode -q --raw x.trs | grep -c "softirq_raise: *vec=1$"'
	assert_output "$(sed -n 's/^TIMER\t//p' theirs)"
	[ -e "$names" ] || skip 'no linux-libc-dev'
	perl -ne '
		BEGIN { open(my $h, "<", shift); while (<$h>) { $name{$2} = $1 if /^#define __NR_(\w+)\s+(\d+)/ } }
		$n{$name{$1}}++ if /: sys_enter: +id=(\d+) /;
		END { print "$_\t$n{$_}\n" for sort keys %n }' "$names" <(trdecode -q "$S/i386-v6-busy.dat" | trencode -q --raw) >theirs
	[ "$(wc -l <theirs)" -gt 10 ]
	trdecode -q --type sys_enter "$S/i386-v6-busy.dat" | trstat -q -t tsv -g id -c count | tail -n +2 | LC_ALL=C sort >ours
	LC_ALL=C sort theirs | diff - ours
}

@test "threads that saved_cmdlines lacks have their names from the scheduler's events, as trace-cmd has them" {
	need trace-cmd
	file=$DATA/trace-cmd/names-of-sched-switch.dat
	trace-cmd report "$file" >want 2>/dev/null
	grep -q 'rcu_preempt-18' want
	trdecode -q "$file" | trencode | diff want -
	run -0 pipe "trdecode -q '$file' | trstat -q -g comm,tid -c count -t tsv"
	assert_line $'rcu_preempt\t18\t11'
}
