# trdecode: what it takes, how it merges, what it refuses.

load lib
load many

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	FIB=$DATA/uftrace/fib
	U=$RECORDED/uftrace
}

# rows X...: every event of the inputs as a line, with times
rows() {
	pipefail "trdecode $* | trsym | trencode -c time,tid,comm"
}

# calls X...: the exact table of the inputs' functions
calls() {
	pipefail "trdecode $* | trsym | trstat -t tsv -c count,total,self,first,last -s name"
}

# good NAME: is the recording whole?
good() {
	case $1 in bad-* | *.expect | src) return 1 ;; esac
}

@test "a directory, its tar in every packing, on standard input and as a file" {
	calls "$FIB" >want
	[ "$(wc -l <want)" -gt 3 ]
	for pack in cat gzip xz 'zstd -q'; do
		tar -C "$DATA/uftrace" -cf - fib | $pack >fib.tar
		calls fib.tar | diff want -
		calls - <fib.tar | diff want -
		# shellcheck disable=SC2002
		cat fib.tar | calls /dev/stdin | diff want -
	done
	tar -C "$FIB" -cf flat.tar .
	calls flat.tar | diff want -
	calls /dev/stdin <"$FIB" | diff want -
	calls - <"$FIB" | diff want -
}

@test "one task's file alone" {
	calls "$FIB/4125.dat" >alone
	trdecode "$FIB" | trsym | trfilter 'tid == 4125 && group == "uftrace"' |
		trstat -t tsv -c count,total,self,first,last -s name | diff alone -
	cd "$FIB"
	calls 4125.dat | diff "$BATS_TEST_TMPDIR/alone" -
	for name in info task.txt perf-cpu0.dat; do
		run -2 pipe "trdecode $name >/dev/null"
		assert_output "trdecode: $name: only a TID.dat can be read alone"
	done
}

@test "a saved stream is what it was made of" {
	calls "$FIB" >want
	trdecode -o fib.trs "$FIB"
	calls fib.trs | diff want -
	calls - <fib.trs | diff want -
	# shellcheck disable=SC2002
	cat fib.trs | calls - | diff want -
	trdecode fib.trs | trsym | trencode -t uftrace -o back
	diff -r "$FIB" back
	# symbols and all
	trdecode "$FIB" | trsym | trdecode - | trstat -t tsv -c count,total,self,first,last -s name |
		diff want -
}

@test "an event of a growing stream is passed on while the input waits" {
	trdecode -o fib.trs "$FIB"
	n=$(trdecode fib.trs | trstat -t tsv -g type -c count | awk '{ n += $2 } END { print n }')
	mkfifo in
	trdecode - <in | trsym >out &
	{
		cat fib.trs
		for ((i = 0; i < 100; i++)); do
			seen=$(trstat -t tsv -g type -c count <out 2>/dev/null | awk '{ n += $2 } END { print n }')
			[ "$seen" != "$n" ] || break
			sleep 0.05
		done
	} >in
	wait
	assert_equal "$seen" "$n"
	[ "$i" -lt 100 ]
}

@test "inputs are merged by time, ties in the order of the operands" {
	cp -r "$FIB" a
	cp -r "$FIB" b
	# each event twice, the first operand's first: two lanes of different sources
	trdecode a b | trstat -t tsv -g type -c count | sort >twice
	trdecode a | trstat -t tsv -g type -c count | awk -F'\t' -v OFS='\t' 'NR > 1 { $2 *= 2 } 1' | sort |
		diff - twice
	calls a b >ab
	calls b a | diff ab -
	calls a | awk -F'\t' -v OFS='\t' 'NR > 1 { $2 *= 2 } NR > 1 && $3 != "" { $3 *= 2; $4 *= 2 } 1' |
		diff - ab
	# so it is with saved streams, and with one of each
	trdecode -o a.trs a
	trdecode -o b.trs b
	calls a.trs b.trs | diff ab -
	calls a b.trs | diff ab -
	calls - b <a.trs | diff ab -
	trdecode a b.trs | trsym | trencode -c time >mixed
	trdecode a b | trsym | trencode -c time | diff mixed -
}

@test "times never step back in a merge, and ties keep the operands' order" {
	cp -r "$FIB" a
	cp -r "$FIB" b
	mv b/4123.dat b/5123.dat
	mv b/4125.dat b/5125.dat
	mv b/4126.dat b/5126.dat
	sed -i 's/412\([356]\)/512\1/g' b/info b/task.txt
	# no filter: one line an event
	trdecode a b | trencode -c time,tid 2>/dev/null >lines ||:
	sed 's/[][|]/ /g' lines | awk '$2 + 0 { if ($2 + 0 < last) bad = 1; last = $2 + 0; n++ }
		END { exit bad || n < 10 }'
	# at the first time of all it is the first operand's turn
	grep -o '\[ *[0-9]*\]' lines | tr -dc '0-9\n' | head -n 1 | grep -q '^4'
	trdecode b a | trencode -c time,tid 2>/dev/null | grep -o '\[ *[0-9]*\]' | tr -dc '0-9\n' |
		head -n 1 | grep -q '^5'
}

@test "--offset shifts one input, and all of them is as none" {
	cp -r "$FIB" a
	cp -r "$FIB" b
	span() { trdecode "$@" | trstat -t tsv -g type -c count,first,last -s type; }
	span a >zero
	span --offset a=1.5s a >later
	awk -F'\t' -v OFS='\t' 'NR > 1 { $3 += 1500000000; $4 += 1500000000 } 1' OFMT=%.0f CONVFMT=%.0f zero |
		diff - later
	trdecode -o a.trs a
	span --offset a.trs=1.5s a.trs | diff later -
		trdecode -o e.trs --offset a=-1.5ms a
	span --offset e.trs=1.5ms e.trs | diff zero -
	# both by the same is both by none, then shifted
	calls --offset a=2s --offset b=2s a b >two
	trdecode -o ab.trs a b
	calls --offset ab.trs=2s ab.trs | diff two -
	# with one far later, it comes behind
	calls --offset b=1h a b | cut -f 1,2,3,4 >apart
	calls a b | cut -f 1,2,3,4 | diff apart -
	# a negative one is merged, too, not just put in front
	calls --offset b=-1us a b | cut -f 1,2,3,4 | diff apart -
	trdecode --offset b=-1us a b | trencode -c time 2>/dev/null |
		awk '$1 + 0 { if ($1 + 0 < last) bad = 1; last = $1 + 0; n++ } END { exit bad || n < 10 }'
}

@test "--offset: what cannot be is refused" {
	for arg in a a= =1s a=x a=1.5parsec a=9999999h; do
		run -2 pipe "trdecode --offset '$arg' '$FIB' >/dev/null"
		assert_output --partial '--offset takes FILE=TIME'
	done
	run -2 pipe "trdecode --offset absent=1s '$FIB' >/dev/null"
	assert_output 'trdecode: --offset absent=1s: no input of that name'
	run -2 pipe "trdecode --offset '$FIB'=-9999h '$FIB' >/dev/null"
	assert_output "trdecode: $FIB: --offset moves its events before time 0"
	trdecode -o fib.trs "$FIB"
	run -2 pipe "trdecode --offset fib.trs=-9999h fib.trs >/dev/null"
	assert_output 'trdecode: fib.trs: --offset moves its events before time 0'
}

@test "clocks that cannot be compared are refused, unless an offset says how they meet" {
	cp -r "$FIB" a
	cp -r "$FIB" b
	sed -i 's/^cmdline:.*/cmdline:uftrace record --clock=boot .\/fib /' b/info
	run -2 pipe 'trdecode a b >/dev/null'
	assert_output --partial 'trdecode: b: its clock (boot) and the clock of a (monotonic)'
	run -0 pipe 'trdecode --offset b=0 a b >/dev/null'
	cp -r "$FIB" c
	run -2 pipe 'trdecode --offset a=0 a b c >/dev/null'
	trdecode -o b.trs b
	run -2 pipe 'trdecode a b.trs >/dev/null'
	run -0 pipe 'trdecode b b.trs >/dev/null'
}

@test "a remark on inputs of ticks and of ns on one time line, aligned or with an offset" {
	local ticks=$DATA/apitrace/threads.trace ns=$DATA/uftrace/fib
	remark="its clock counts ticks, the clock of $ns (monotonic) ns: their times agree only if a tick is 1 ns"
	for option in --align=start "--offset=$ticks=7"; do
		for operands in "$ns $ticks" "$ticks $ns"; do
			# shellcheck disable=SC2086
			run -0 trdecode "$option" $operands -o x.trs
			assert_output "trdecode: $ticks: $remark"
			# shellcheck disable=SC2086
			run -0 trdecode -q "$option" $operands -o x.trs
			refute_output
		done
		trencode -q --tick 1ns -t csv -o x.csv x.trs
		run -2 trencode -q -t csv x.trs -o x.csv
	done
	cp "$ticks" other.trace
	run -0 trdecode --align=start other.trace "$ticks" -o x.trs
	refute_output
}

@test "--align start: all inputs begin with the first, whatever their clocks" {
	need trace-cmd
	run -2 pipe 'trdecode "$DATA/uftrace/fib" "$DATA/trace-cmd/v6-date.dat" >/dev/null'
	assert_output --partial 'or with --align start'
	# the kernel's events from the first one on, by trace-cmd
	trace-cmd report -t -i "$DATA/trace-cmd/v6-date.dat" 2>/dev/null | sed -nE 's/.* +([0-9]+)\.([0-9]{9}): .*/\1\2/p' >kernel
	[ "$(wc -l <kernel)" -gt 5 ]
	first=$(trdecode -q "$DATA/uftrace/fib" | trencode -q -t ndjson | jq .time | sort -n | head -n 1)
	least=$(head -n 1 kernel)
	for offset in '' "--offset=$DATA/trace-cmd/v6-date.dat=5us"; do
		while read -r time; do
			echo $((time - least + first + ${offset:+5}000))
		done <kernel >want
		# shellcheck disable=SC2086
		trdecode -q --align=start $offset "$DATA/uftrace/fib" "$DATA/trace-cmd/v6-date.dat" >both.trs
		trfilter -q 'format == "trace-cmd"' both.trs | trencode -q -t ndjson | jq .time | diff want -
		trfilter -q 'format == "uftrace"' both.trs | trencode -q -t csv -c time,dur,name |
			diff <(trdecode -q "$DATA/uftrace/fib" | trencode -q -t csv -c time,dur,name) -
	done
	# the first operand stays where it is
	trdecode -q --align=start "$DATA/trace-cmd/v6-date.dat" "$DATA/uftrace/fib" | trencode -q -t tsv -c time |
		sed 1d | sort -n | head -n 1 | diff <(head -n 1 kernel) -
	# with times from the first event and from the end
	run -0 pipe 'trdecode -q --align=start --until=+1ns "$DATA/uftrace/fib" "$DATA/trace-cmd/v6-date.dat" | trfilter -qc "format == \"trace-cmd\""'
	assert_output 1
	run -2 pipe 'cat "$DATA/trace-cmd/v6-date.dat" | trdecode --align=start "$DATA/uftrace/fib" - >/dev/null'
	assert_output 'trdecode: <stdin>: --align needs a file or directory, not a pipe: save the trace first'
	run -2 pipe 'trdecode --align=end x >/dev/null'
	assert_output --partial "--align takes start, not 'end'"
}

@test "saved streams whose clocks cannot be compared are refused where their times meet" {
	printf '[{"ph":"X","ts":1,"dur":2,"name":"f"}]' | tee x.json | trdecode -q -f chrome - >a.trs
	trdecode -q "$DATA/uftrace/fib" >b.trs
	for program in 'trencode -t chrome' 'trencode -t csv' 'trencode -t ctf -o x.ctf' 'trstat --timeline 1ms' \
		'trstat -g time' 'trstat -c first' 'trstat -c rate' 'trstat --pair f->f' 'trfilter --since 0s 1'; do
		run -2 --separate-stderr $program a.trs b.trs
		[[ $stderr == *": its clock (mono"*") and the clock of "*" (trace) cannot be compared: decode both with one trdecode"* ]] ||
			fail "$program: $stderr"
		run -2 pipe "cat a.trs b.trs | $program >/dev/null"
	done
	# sums, and lines for each input; one clock; one stream of two clocks
	for program in trstat trencode 'trencode -t folded' 'trfilter 1'; do
		run -0 $program -q -o x.out a.trs b.trs
	done
	run -0 trstat -c first b.trs b.trs
	trdecode -q --offset x.json=0 -o both.trs "$DATA/uftrace/fib" x.json
	run -0 trstat -c first both.trs
}

@test "--clock wall" {
	offset=$(sed -n 's/^utc_offset://p' "$U/new-basic/info")
	trdecode "$U/new-basic" | trstat -t tsv -g type -c first,last -s type >raw
	trdecode --clock wall "$U/new-basic" | trstat -t tsv -g type -c first,last -s type >wall
	trdecode --offset "$U/new-basic=${offset}s" "$U/new-basic" | trstat -t tsv -g type -c first,last -s type |
		diff wall -
	# a saved stream knows it, too
	trdecode -o n.trs "$U/new-basic"
	trdecode --clock=wall n.trs | trstat -t tsv -g type -c first,last -s type | diff wall -
	# and what is wall time already stays
	trdecode --clock=wall -o w.trs "$U/new-basic"
	trdecode --clock=wall w.trs | trstat -t tsv -g type -c first,last -s type | diff wall -
	run -2 pipe "trdecode --clock wall '$U/basic-pg' >/dev/null"
	assert_output "trdecode: $U/basic-pg: the trace does not record its wall time (--clock wall)"
	run -2 errors trdecode --clock sundial "$FIB"
	assert_line "trdecode: --clock takes raw or wall, not 'sundial'"
}

@test "--segment: every segment stands alone, all together are the whole" {
	many recording 80 <(records 256)
	trdecode -o one.trs recording
	trdecode --segment 64K -o parts.trs recording
	segments=$(trdecode --info --json parts.trs | jq '.[0].segments')
	[ "$segments" -gt 1 ]
	assert_equal "$(trdecode --info --json one.trs | jq '.[0].segments')" 1
	table() { trsym | trstat -t tsv -c count,total,self,first,last -s name; }
	table <one.trs >want
	table <parts.trs | diff want -
	calls recording | diff want -
	trdecode parts.trs | table | diff want -
	for size in 63 x 1.5X; do
		run -2 errors trdecode --segment "$size" recording
		assert_line --partial '--segment takes a size of at least 64 bytes'
	done
}

@test "--info" {
	run -0 trdecode --info "$FIB"
	assert_line --index 0 "input             $FIB"
	assert_line 'format            uftrace'
	assert_line 'clock             monotonic'
	assert_line 'tasks             3'
	run -0 pipe "trdecode --info --json '$FIB' | jq -e '.[0] | .format == \"uftrace\" and .tasks == 3 and .word_size == 8'"
	trdecode "$FIB" | trsym >fib.trs
	run -0 trdecode --info fib.trs
	assert_line 'format            stream'
	assert_line 'made by           trsym'
	assert_line --partial 'made by           trdecode '
	run -0 pipe "trdecode --info --json fib.trs '$FIB' |
		jq -e 'length == 2 and (.[0].made_by | length == 2) and (.[0].input == [\"uftrace $FIB\"])'"
	events=$(trstat -t tsv -g type -c count <fib.trs | awk 'NR > 1 { n += $2 } END { print n }')
	assert_equal "$(trdecode --info --json - <fib.trs | jq '.[0].events')" "$events"
	head -c 3000 fib.trs >cut.trs
	run -1 --separate-stderr trdecode --info cut.trs
	[ -n "$stderr" ]
	run -0 trdecode --info -o facts "$FIB"
	assert_output ''
	grep -q '^format  *uftrace$' facts
}

@test "--info of every recording is JSON" {
	run -2 errors trdecode --json "$FIB"
	assert_line "trdecode: --json goes with --info or --list"
	for d in "$U"/*/; do
		d=${d%/}
		good "${d##*/}" || continue
		trdecode --info --json "$d" | jq -e '.[0].format == "uftrace"' >/dev/null || fail "$d"
		[ "$(trdecode --info "$d" | wc -l)" -gt 15 ]
	done
}

@test "--from" {
	trdecode -o fib.trs "$FIB"
	run -0 trdecode -f uftrace -o out "$FIB"
	run -0 trdecode --from=stream -o out fib.trs
	run -2 errors trdecode -f stream -o none "$FIB"
	assert_output "trdecode: $FIB: not a trace of the format stream (but of uftrace)"
	run -2 errors trdecode -f uftrace -o none fib.trs
	assert_output --partial 'not a trace of the format uftrace'
	run -2 errors trdecode -f tape -o none fib.trs
	assert_line --partial "trdecode: no such format: 'tape'; there are "
	[ ! -e none ]
}

@test "pages list the formats of the table, and no other" {
	formats=$(trdecode --complete-options | grep '^-f ' | cut -f 3)
	# the tags of the section FORMATS, and the words of -f
	for name in $formats; do
		grep -q "^\.Cm .*\<$name\>" "$ROOT/man1/trdecode.1" || fail "trdecode(1): no $name"
		[[ $name == stream ]] || grep -q "\"$name\"" "$ROOT/man5/trstream.5" ||
			fail "trstream(5): no $name"
		[[ $name == stream ]] || grep -q "^\.It $name Ta " "$ROOT/man5/trstream-sources.5" ||
			fail "trstream-sources(5), the table: no $name"
		[[ $name == stream ]] || grep -qx "\.Ss $name" "$ROOT/man5/trstream-sources.5" ||
			fail "trstream-sources(5): no section $name"
	done
	[ "$(sed -n '/^Every input is of this/,/^An input of another/s/^\.Cm //p' "$ROOT/man1/trdecode.1" |
		tr -d ',.' | xargs)" = "$formats" ]
	for name in $formats; do
		trdecode --help=all | grep -q "^ *.*\<$name\>" || fail "--help: no $name"
	done
}

@test "two bytes of a magic number and anything after them are no trace" {
	cd "$BATS_TEST_TMPDIR" || return
	for magic in '\027\010' 'tr' 'Ft' '\037\213' '(\265' '\355\267' '\000\326' \
		'\301\037' '\035\127' '/*' '{"' '[{'; do
		for rest in '' ' junk, and more of it' '\377\377\377\377\377\377\377\377' \
			'\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'; do
			# shellcheck disable=SC2059 # it is a format
			printf "$magic$rest" >two
			run -2 errors trdecode -o none two
			assert_output 'trdecode: two: not a trace of a known format'
			rm -rf tree
			mkdir tree
			cp two tree/metadata
			cp two tree/cpu_0
			cp two tree/info
			run -2 errors trdecode -o none tree
			assert_output --partial 'not a trace of a known format'
		done
	done
}

@test "what is no input is refused with status 2" {
	mkdir directory
	: >empty
	echo text >text
	run -2 errors trdecode -o none absent
	assert_output 'trdecode: absent: cannot open: No such file or directory'
	run -2 errors trdecode -o none directory
	assert_output 'trdecode: directory: not a trace of a known format (a directory without the files of one)'
	mkdir traces
	cp "$DATA/apitrace/v6.trace" traces/a.trace
	cp "$DATA/apitrace/v5.trace" traces/b.trace
	run -2 errors trdecode -o none traces
	assert_output --partial 'if its files are traces, name them: DIRECTORY/FILE'
	run -2 errors trdecode -o none empty
	assert_output 'trdecode: empty: empty, not a trace'
	run -2 pipe 'trdecode -o none - </dev/null'
	assert_output 'trdecode: <stdin>: empty, not a trace'
	run -2 errors trdecode -o none text
	assert_output 'trdecode: text: not a trace of a known format'
	run -2 pipe 'trdecode -o none </dev/null'
	assert_output 'trdecode: <stdin>: empty, not a trace'
	run -2 errors trdecode -o none "$FIB" "$FIB/."
	assert_output --partial "$FIB/.: given twice, also as $FIB"
	[ ! -e none ]
	cp -r "$FIB" closed
	chmod 0 closed
	if [ "$(id -u)" -eq 0 ]; then
		command -v setpriv >/dev/null || skip 'no setpriv'
		chmod 755 .
		setpriv --reuid=65534 --clear-groups true || skip 'cannot change the user'
		run -2 setpriv --reuid=65534 --clear-groups "$BIN/trdecode" closed
	else
		run -2 errors trdecode closed
	fi
	chmod 700 closed
	assert_output --partial 'Permission denied'
}

@test "a device that gets full while a decoder writes is named" {
	printf '{"traceEvents":[{"ph":"i","ts":1,"name":"a"}],"x":"%s"}' "$(head -c 200000 /dev/zero | tr '\0' x)" >large.json
	run -2 pipe "trap '' XFSZ; ulimit -f 60; trdecode -q -o x.trs large.json"
	assert_output 'trdecode: x.trs: cannot write: File too large'
	assert [ ! -e x.trs ]
}

@test "pipes: a cut stream, a full device, a reader that leaves, a terminal" {
	run -1 pipe "trdecode '$FIB' | head -c 1000 | trstat >/dev/null"
	assert_output --partial 'the stream ends without its end mark'
	run -2 pipe "trdecode '$FIB' >/dev/full"
	assert_output 'trdecode: standard output: cannot write: No space left on device'
	many recording 10 <(records 256)
	for ((i = 0; i < 30; i++)); do cp -r recording "r$i"; done
	run -0 pipe "trap '' PIPE; { trdecode --segment 64K r*; echo \$? >&2; } | head -c 100 >/dev/null"
	assert_output 141
	need_terminal
	run -2 script -qec "trdecode '$FIB'" /dev/null
	assert_output --partial 'a binary stream is not written to a terminal'
}

@test "--strict counts what the recorder lost, in every segment" {
	many recording 40 <(records 128; record 0 $((7 << 16 | 0x2a)); records_from 128 128)
	run -0 --separate-stderr trdecode -o out recording
	[ -z "$stderr" ]
	for segment in '' '--segment 64K'; do
		# shellcheck disable=SC2086
		run -1 trdecode --strict $segment -o out recording
		assert_output 'trdecode: the recorder lost 280 events (--strict)'
		run -1 trdecode -o out2 out
		assert_output 'trdecode: out: the trace is damaged: the recorder lost 280 events (--strict)'
		trdecode -o plain recording
		run -1 trdecode --strict -o out2 plain
		assert_output 'trdecode: the recorder lost 280 events (--strict)'
	done
	# the programs after it exit as after other damage, and print it once on one terminal
	for p in trstat 'trfilter 1 | trencode -t csv' 'trstat --partial | trstat --merge'; do
		run -1 pipe "{ trdecode --strict recording | $p >/dev/null; } 2>&1"
		assert_equal "$(grep -c 'the recorder lost 280 events (--strict)' <<<"$output")" 1
		run -1 pipe "trdecode --strict recording 2>own | { $p >/dev/null; } 2>&1"
		assert_output --partial 'the trace is damaged: the recorder lost 280 events (--strict)'
	done
	run -1 pipe 'trstat --partial --strict plain 2>own | trstat --merge 2>&1 >/dev/null'
	assert_output --partial '<stdin>: the trace is damaged: the recorder lost events (--strict)'
	run -0 trdecode --strict -o out "$FIB"
}

@test "thousands of tasks: few descriptors, little memory" {
	need /usr/bin/time
	for n in 2 256; do
		many "r$n" 2000 <(records $n)
		calls=$(bash -c "ulimit -n 64; /usr/bin/time -o rss -f %M trdecode r$n | trsym | trstat -t tsv -c count" |
			sed -n 's/^work\t//p')
		assert_equal "$calls" $((2000 * n / 2))
		rss=$(tail -n 1 rss)
		# a sanitizer needs its own
		nm "$BIN/trdecode" | grep -q __asan_init || [ "$rss" -le 16384 ]
	done
	# each operand that is a file is open: the soft limit is raised
	for ((i = 1; i <= 100; i++)); do
		echo "1000000000.$((1000000 - i)) close(3) = 0 <0.000001>" >"log.$i"
	done
	run -0 bash -c 'ulimit -Sn 64; trdecode log.* | trstat -q -t tsv -c count'
	assert_output $'name\tcount\nclose\t100'
	run -2 --separate-stderr bash -c 'ulimit -n 64; trdecode -o a.trs log.*'
	assert_regex "$stderr" '^trdecode: log\.[0-9]+: cannot open: Too many open files \(ulimit -Hn is 64\): give fewer files at once, or the directory that has them$'
}

@test "a good recording gives status 0 and not a word" {
	for d in "$U"/*/; do
		d=${d%/}
		good "${d##*/}" || continue
		run -0 --separate-stderr trdecode -o out.trs "$d"
		[ -z "$stderr" ] || fail "$d: $stderr"
		run -0 --separate-stderr trdecode --quiet -o out.trs "$d"
		[ -z "$stderr" ]
	done
}

@test "byte orders and versions give the same rows" {
	rows "$U/basic-pg" >want
	rows "$U/be-synth" | diff want -
	cp -r "$U/basic-pg" v3
	printf '\3' | dd of=v3/info bs=1 seek=8 conv=notrunc status=none
	rows v3 | diff want -
}

@test "calls deeper than 1023 have their own depth and address" {
	trdecode "$U/deep-1024" | trsym | trstat -t tsv -g name,depth -c count >deep
	grep -q '^deep	1100	1$' deep || grep -q '^deep	1101	1$' deep
	assert_equal "$(grep -c '^deep' deep)" 1101
	run -1 grep '<' deep
}

@test "the manual's examples work" {
	cp -r "$FIB" uftrace.data
	cp -r "$FIB" a.data
	cp -r "$FIB" b.data
	cp -r "$FIB" run1.data
	cp -r "$FIB" run2.data
	cp "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" trace.dat
	cp "$DATA/trace-cmd/v6-fgraph.dat" other.dat
	cp "$DATA/apitrace/threads.trace" app.trace
	cp "$DATA/perf/zstd.data" perf.data
	trdecode trace.dat | trencode -q -t chrome --split 20ms -o trace.json
	[[ -e trace.json.001 ]]
	printf 'ts,elapsed,op\n1764486009000,250,GET /b\n1764486000123,125,GET /a\n' >requests.csv
	page_examples trdecode | grep '^trdecode' >examples
	[ "$(wc -l <examples)" -ge 9 ]
	while read -r example; do
		case $example in *clock=wall*) continue ;; esac
		run -0 pipefail "$example" </dev/null
	done < <(sed 's/ || mail.*//' examples)
	grep -q '^ssh host tar -cz uftrace.data | trdecode' <(page_examples trdecode)
	run -0 pipefail 'tar -cz uftrace.data | trdecode -f uftrace - | trsym | trstat'
	run -0 pipefail 'cat trace.dat | trdecode - | trencode'
}

@test "compressed inputs of every kind, from files and pipes" {
	local trace tool
	cd "$BATS_TEST_TMPDIR"
	trdecode -o saved.trs "$DATA/trace-cmd/v6-date.dat"
	printf '[{"ph":"i","ts":10,"pid":1,"tid":1,"name":"a"}]' >chrome.json
	tar -C "$DATA/uftrace" -cf fib.tar fib
	for trace in "$DATA"/trace-cmd/v6-fgraph.dat "$DATA/apitrace/v4.trace" saved.trs chrome.json fib.tar; do
		trdecode -q "$trace" | trencode -q -t ndjson >want
		[ -s want ]
		for tool in gzip bzip2 xz zstd lz4; do
			"$tool" -c "$trace" >packed
			trdecode -q packed | trencode -q -t ndjson | diff want -
			trdecode -q <packed | trencode -q -t ndjson | diff want -
			cat packed | trdecode -q --until 0 >none
		done
	done
	for tool in gzip bzip2 xz zstd lz4; do
		"$tool" -c "$DATA/trace-cmd/v6-date.dat" >packed
		run -0 pipe 'trdecode -q --since -10ms packed | trfilter -c 1'
		assert_output "$(trdecode -q --since -10ms "$DATA/trace-cmd/v6-date.dat" | trfilter -c 1)"
		# the end of a trace.dat in pieces that cost most: what is left is read, or nothing
		head -c -200 packed >"cut"
		run trdecode -o out cut
		((status == 1 || status == 2))
		[[ $output == *"cut: "* ]]
		# no trace
		echo no trace | "$tool" -c >packed
		run -2 errors trdecode packed
		assert_output 'trdecode: packed: the compressed data are not a trace of a known format'
	done
	# other programs say how
	gzip -c saved.trs >packed
	run -2 errors trfilter -c 1 packed
	assert_output 'trfilter: packed: is compressed; if it is a stream: zcat packed | trfilter -c 1; if it is a trace: trdecode packed | trsym | trfilter -c 1'
	xz -c saved.trs >packed
	run -2 errors trstat packed
	assert_output 'trstat: packed: is compressed; if it is a stream: xzcat packed | trstat; if it is a trace: trdecode packed | trsym | trstat'
	# but zstd, of which a compressed stream is made, is read
	zstd -qc saved.trs >packed
	trstat packed | diff <(trstat saved.trs) -
}

@test "what is unpacked is not stored: gigabytes in a small file are refused at once" {
	unsanitized 'it needs more memory'
	cd "$BATS_TEST_TMPDIR"
	{ echo no trace; head -c 128M /dev/zero; } | zstd -q -o bomb
	for i in {1..800}; do cat bomb; done >bombs
	run -2 timeout 10 bash -c 'ulimit -v 600000; trdecode bombs >out'
	assert_output 'trdecode: bombs: the compressed data are not a trace of a known format'
}

@test "standard input is taken once" {
	run -2 pipe "trdecode - - <'$DATA/trace-cmd/v6-fgraph.dat' >out"
	assert_output 'trdecode: <stdin>: given twice: its events would be counted twice'
}

@test "--offset to before the time 0 is refused, whatever the format; to 0 it is not" {
	printf '[{"ph":"i","ts":10,"pid":1,"tid":1,"name":"a"}]' >chrome.json
	for trace in chrome.json "$DATA"/{apitrace/v6.trace,ctf/kinds.tar.gz,uftrace/fib} \
		"$DATA"/lttng/v{1.0-be32-align,2.6-le64-packed}.tar.gz \
		"$DATA"/trace-cmd/{v6-date,v6-fgraph,v7-zstd-instances}.dat; do
		trdecode -q -o whole.trs "$trace"
		first=$(trdecode --info whole.trs | awk '/^first time/ { print $NF }')
		unit=ns
		# ticks have none
		[[ $trace != *apitrace* ]] || unit=
		for input in "$trace" whole.trs; do
			run -0 trdecode -q --offset="$input=-$first$unit" -o moved.trs "$input"
			run -0 pipe "trdecode --info moved.trs | grep -c '^first time *0$'"
			run -2 errors trdecode -q --offset="$input=-$((first + 1))$unit" -o no.trs "$input"
			assert_output "trdecode: $input: --offset moves its events before time 0"
			[ ! -e no.trs ]
		done
		rm whole.trs
	done
}

@test "gzip: a first member with nothing in it, and a file cut after its header" {
	cd "$BATS_TEST_TMPDIR" || return
	{
		gzip -c </dev/null
		gzip -c </dev/null
		printf '\004\000\000\000\001f\000\000\001\000\000' | gzip
	} >x.trace
	run -0 pipe 'trdecode x.trace | trencode'
	assert_output '0 f()'
	printf '\037\213\010\000' >x.trace
	run -1 --separate-stderr trdecode -o x.trs x.trace
	[[ $stderr == *'0x4: member 0: the file ends inside of it'* ]]
}

@test "the clock of ticks has no wall time" {
	run -2 errors trdecode --clock=wall "$DATA/apitrace/v6.trace"
	assert_output --partial 'does not record its wall time'
	trdecode "$DATA/apitrace/v6.trace" >"$BATS_TEST_TMPDIR/x.trs"
	run -2 errors trdecode --clock=wall "$BATS_TEST_TMPDIR/x.trs"
	assert_output --partial 'does not record its wall time'
}

@test "of a trace that was cut in its header an empty one is made" {
	cd "$BATS_TEST_TMPDIR" || return
	head -c 8 "$DATA/apitrace/v6.trace" >cut.trace
	trdecode -q cut.trace >cut.trs || true
	for t in text apitrace trace-cmd lttng csv chrome ctf; do
		rm -rf out
		run -1 trencode -t $t -o out cut.trs
		[[ -e out ]] || fail "no $t"
		[[ $t != text && $t != csv && $t != chrome ]] || continue
		trdecode -o back out
		# LTTng's has the markers that declare markers
		run -0 trfilter -q -c '!(name =~ "core_marker")' back
		assert_output 0
	done
	run -2 trencode -t uftrace -o none cut.trs
	[[ ! -e none ]]
}

@test "compressed files of a directory are read as the files that they were" {
	cd "$BATS_TEST_TMPDIR"
	cp -r "$FIB" packed
	chmod -R u+w packed
	trdecode "$FIB" | trencode -q >want
	gzip packed/4125.dat packed/info
	bzip2 packed/task.txt
	xz packed/fib.sym
	if command -v zstd; then zstd -q --rm packed/4126.dat; fi
	run -0 errors trdecode -o s packed
	assert_output ''
	trencode -q s | diff want -
	# the file itself has precedence, and of several the first suffix
	cp "$FIB/4125.dat" packed
	head -c 1000 packed/4125.dat.gz >packed/x.gz && mv packed/x.gz packed/4125.dat.gz
	run -0 errors trdecode -o s packed
	trencode -q s | diff want -
	rm packed/4125.dat
	bzip2 <"$FIB/4125.dat" >packed/4125.dat.bz2
	trdecode packed | trencode -q | diff want -
	# damage is that of the packed file; what can be read is read
	rm packed/4125.dat.bz2
	run -1 errors trdecode -o s packed
	assert_line --index 0 'trdecode: packed/4125.dat.gz: 0x3e8: member 0: the file ends inside of it'
	[ "$(trencode -q s | wc -l)" -gt 1000 ]
	# what is not compressed keeps its name
	mkdir logs && echo text >logs/old.gz
	run -2 errors trdecode logs
	mkdir ctf && tar xf "$DATA/ctf/kinds.tar.gz" -C ctf
	trdecode -q ctf | trencode -q >want
	find ctf -name 'ch_*' ! -name '*.idx' -exec gzip {} +
	trdecode -q ctf | trencode -q | diff want -
}
