# Damaged recordings: all that can be read comes out, what is missing is said, status 1.

load lib
load many

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	FIB=$DATA/uftrace/fib
	U=$RECORDED/uftrace
}

# counts X: entries, exits and gaps of X, as "60 60 0"; trdecode's messages go to the file said
counts() {
	trdecode "$1" 2>said >out.trs
	status=$?
	trstat -t tsv -g type -c count out.trs 2>/dev/null | awk '{ n[$1] = $2 } END {
		printf "%d %d\n", n["entry"], n["exit"] }'
	return $status
}

# gaps X: how many places END says are missing
gaps() {
	trdecode --info --json "$1" 2>/dev/null | jq '.[0].gaps'
}

# bad NAME COUNTS [MESSAGE]: that many entries and exits, this alone is said, status 1 to the end
bad() {
	run -1 counts "$U/$1"
	assert_output "$2"
	[[ -z ${3-} ]] || assert_equal "$(cat said)" "trdecode: $U/$1/$3"
	run -1 pipe "trdecode '$U/$1' 2>/dev/null | trsym | trstat >/dev/null"
}

@test "an empty, a cut and a damaged TID.dat" {
	bad bad-empty-dat '0 0' "13139.dat: the task's file is empty"
	# 345 bytes are 21 records and 9 bytes
	bad bad-trunc-dat '12 9' '13139.dat: 0x150: the file ends inside of a record'
	assert_equal "$(gaps out.trs)" 1
	# one of 120 records
	bad bad-rec-magic '60 59' '13139.dat: 0x1e0: a record with a wrong magic'
	assert_equal "$(gaps out.trs)" 1
	bad bad-trunc-args '4 2' "10982.dat: 0x60: the file ends inside of a record's arguments"
}

@test "rows of gaps have the file and the offset" {
	cp -r "$FIB" fib
	file=$(find fib -name '[1-9]*.dat' | sort | head -n 1)
	# the magic number of the third record
	printf '\377\377' | dd of="$file" bs=1 seek=$((2 * 16 + 8)) conv=notrunc status=none
	trdecode fib >s 2>said || true
	[[ $(cat said) == "trdecode: $file: 0x20: "* ]]
	trencode -q -t ndjson s 2>/dev/null | jq -c 'select(.type == "gap").args' >rows
	diff - rows <<-END
		{"reason":"damage","bytes":16,"file":"${file#fib/}","offset":32,"message":"damaged records"}
	END
}

@test "damaged descriptions: the events come all the same" {
	bad bad-info-cut '60 60' 'info: 0x114: file is cut within meminfo:20.4 / 23.5 GB ('
	bad bad-magic '60 60' 'info: 0x0: not the info file of a uftrace recording'
	bad bad-version '60 60' 'info: 0x8: unsupported file version 9'
	bad bad-no-map '60 60' 'sid-9dfdf3bad8655138.map: no such file'
	# as found in public, where calls are open too
	[[ ! -e $U/bad-pub-missing-map ]] || bad bad-pub-missing-map '1493 1490' 'sid-8b024150c9e54bf3.map: no such file'
	bad bad-no-task '60 60' 'task.txt: no such file'
	run -0 counts "$U/bad-no-sym"
	assert_output '60 60'
	run -0 counts "$U/bad-new-dlopen-args"
	assert_output '53 53'
	[ ! -s said ]
}

@test "END carries the damage through a saved stream" {
	cp -r "$FIB" x
	truncate -s -3 x/4125.dat
	run -1 trdecode -o x.trs x
	[ -s x.trs ]
	run -1 trdecode -o y.trs x.trs
	assert_output --regexp 'x.trs: the trace is damaged: x/4125.dat: 0x[0-9a-f]+: the file ends inside of a record'
	run -1 pipe 'trdecode y.trs 2>/dev/null | trstat >/dev/null'
}

@test "tasks that info or task.txt do not know, or know twice" {
	cp -r "$FIB" x
	sed -i 's/^taskinfo:tids=.*/taskinfo:tids=4123,4123,4199/' x/info
	run -1 trdecode -o out x
	assert_line 'trdecode: x/info: task 4123 is listed twice'
	assert_line 'trdecode: x/4125.dat: info does not list this task'
	assert_line 'trdecode: x/4126.dat: info does not list this task'
	diff <(trstat -t tsv -g type -c count out 2>/dev/null) \
		<(trdecode "$FIB" | trstat -t tsv -g type -c count)
	rm -r x
	cp -r "$FIB" x
	sed -i '/tid=4125/d; /pid=4125/d' x/task.txt
	run -1 trdecode -o out x
	assert_output --partial 'trdecode: x/4125.dat: task.txt does not list this task'
	: >x/task.txt
	run -1 trdecode -o out x
}

@test "cut tables of symbols and mappings" {
	cp -r "$FIB" x
	for f in fib.sym sid-99b3158153d2cd48.map; do
		truncate -s -1 "x/$f"
		run -1 trdecode -o out x
		assert_output --partial "x/$f: 0x"
		assert_output --partial 'the file ends inside of a line'
		cp "$FIB/$f" x
	done
	head -n 6 "$FIB/fib.sym" >x/fib.sym
	run -1 trdecode -o out x
	assert_output --partial 'the file ends before its last symbol'
}

# recording RECORD...: a recording x of one task with these records, each "TIME WORD"
recording() {
	rm -rf x
	many x 1 <(for r; do
		# shellcheck disable=SC2086
		record $r
	done)
}

@test "damaged times" {
	enter=$((0x401000 << 16 | 0x28)) leave=$((0x401000 << 16 | 0x29))
	recording "1000000 $enter" "2000000 $leave" "3000000 $enter" "4000000 $leave"
	run -0 counts x
	assert_output '2 2'
	# far ahead, and beyond any clock
	for time in $((1 << 60)) $((1 << 62)) -1; do
		recording "1000000 $enter" "$time $leave" "3000000 $enter" "4000000 $leave"
		run -1 counts x
		assert_output '2 1'
		assert_equal "$(gaps out.trs)" 1
		assert_equal "$(trstat -t tsv -g type -c last -s type out.trs 2>/dev/null | sed -n 's/^exit\t//p')" 4000000
	done
	# back, and forth again
	recording "1000000 $enter" "2000000 $leave" "5 $enter" "4000000 $leave"
	run -1 counts x
	assert_output '1 2'
	# back, and it stays there
	recording "9000000 $enter" "9900000 $leave" "3000000 $enter" "4000000 $leave"
	run -1 counts x
	assert_output '2 2'
	grep -q 'x/1000.dat: 0x20: the time steps back' said
	# hours without an event are none
	recording "1000000 $enter" "$((36000 * 10 ** 9)) $leave" "$((72000 * 10 ** 9)) $enter"
	run -0 counts x
	assert_output '2 1'
	# damage before such a pause does not hide what comes after it
	recording "1000000 $enter" "2000000 7" "$((72000 * 10 ** 9)) $enter" "$((72000 * 10 ** 9 + 5)) $leave"
	run -1 counts x
	assert_output '2 1'
}

@test "records that are none" {
	enter=$((0x401000 << 16 | 0x28)) leave=$((0x401000 << 16 | 0x29))
	# LOST with a time; an event's id beyond 32 bits; data of an event that never ends
	for word in $((5 << 16 | 0x2a)) $((1 << 55 | 0x2b)); do
		recording "1000000 $enter" "2000000 $word" "3000000 $leave"
		run -1 counts x
		assert_output '1 1'
		assert_equal "$(gaps out.trs)" 1
	done
	recording "1000000 $enter" "2000000 $((100001 << 16 | 0x2f))" "65535 0" "3000000 $leave"
	run -1 counts x
	assert_output '1 1'
	# a file of LOST only, and one that begins with some
	recording "0 $((5 << 16 | 0x2a))"
	run -0 counts x
	recording "0 $((5 << 16 | 0x2a))" "0 $((6 << 16 | 0x2a))" "3000000 $enter"
	run -0 counts x
	assert_output '1 0'
	assert_equal "$(trdecode --info --json out.trs | jq -c '.[0] | [.lost, .first_time]')" '[11,3000000]'
}

@test "a large event of a small window" {
	# so many tasks that each has 4 KiB of memory, and an event with 5000 bytes
	many x 1000 <(
		record 1000000 $((100012 << 16 | 0x2f))
		printf '\210\023'
		head -c 5000 /dev/zero
		printf '\0\0\0\0\0\0'
		record 2000000 $((0x401000 << 16 | 0x28))
	)
	run -0 trdecode -o out x
	assert_output ''
	assert_equal "$(trstat -t tsv -g type -c count out | sort | tr '\n\t' ' =')" 'entry=1000 type=count watch:var=1000 '
}

# sweep FILE STEP: X cut at every STEP-th byte of FILE never crashes or hangs, and says what it lost
sweep() {
	local file=$1 step=$2 size i status
	size=$(stat -c %s "$FIB/$file")
	rm -rf x
	cp -r "$FIB" x
	for ((i = 0; i < size; i += step)); do
		head -c "$i" "$FIB/$file" >"x/$file"
		timeout 20 trdecode -o out x 2>said
		status=$?
		((status <= 1)) || fail "$file cut at $i: status $status: $(cat said)"
		((status == 1)) || echo "$i"
	done
}

@test "cut anywhere: no crash, no hang, and nothing unsaid that the format shows" {
	# only between two records, 16 bytes each here, nothing shows
	while read -r i; do
		((i % 16 == 0 && i > 0)) || fail "4125.dat cut at $i unsaid"
	done < <(sweep 4125.dat 5)
	run -0 sweep info 13
	assert_output ''
	run -0 sweep fib.sym 17
	assert_output ''
	# nor between two of these, of 8, 24 or 48 bytes
	while read -r i; do
		((i % 8 == 0)) || fail "perf-cpu0.dat cut at $i unsaid"
	done < <(sweep perf-cpu0.dat 19)
	# after the session, but then before the tasks
	run -0 sweep task.txt 7
	assert_output ''
	# between two lines nothing shows
	run -0 sweep sid-99b3158153d2cd48.map 11
	[ "$(wc -w <<<"$output")" -le 3 ]
}

@test "flipped bits: no crash, no hang, and what is read can be read again" {
	RANDOM=1
	cp -r "$FIB" x
	for ((k = 0; k < 120; k++)); do
		set -- 4123.dat 4125.dat info task.txt fib.sym sid-99b3158153d2cd48.map perf-cpu0.dat
		shift $((k % 7))
		file=$1
		[[ -s $FIB/$file ]] || continue
		cp "$FIB/$file" x
		flip "x/$file" $((k % 3 ? 1 : 8))
		timeout 20 trdecode -o out x 2>said && status=0 || status=$?
		((status <= 1)) || fail "$file, flip $k: status $status: $(cat said)"
		timeout 20 trstat out >/dev/null 2>&1 && then=0 || then=$?
		assert_equal "$then" "$status"
		cp "$FIB/$file" x
	done
}

@test "archives cut anywhere" {
	tar -C "$DATA/uftrace" -cf fib.tar fib
	gzip -k fib.tar
	for f in fib.tar fib.tar.gz; do
		size=$(stat -c %s "$f")
		for ((i = 1000; i < size; i += size / 20)); do
			head -c "$i" "$f" >cut.tar
			run timeout 20 trdecode -o out cut.tar
			# the blocks of zeros at a tar's end are nothing
			((status == 1 || status == 2 || i > size * 3 / 4)) || fail "$f cut at $i: $status"
		done
	done
	run -1 pipe 'head -c 40000 fib.tar | trdecode - 2>/dev/null | trstat >/dev/null'
}

@test "a cut archive: the files before the cut come out, and a part of the last" {
	local part before=0
	tar -C "$DATA/uftrace" -czf fib.tar.gz fib
	for part in 10 40 60 90; do
		head -c $(($(stat -c %s fib.tar.gz) * part / 100)) fib.tar.gz >cut.bin
		run -1 pipe 'trdecode cut.bin 2>said >cut.trs'
		grep -q 'cut.bin: 0x.*: member 0: the file ends inside of it' said
		run -1 pipe 'trencode -c none cut.trs 2>/dev/null | wc -l; exit ${PIPESTATUS[0]}'
		[ "$output" -gt "$before" ]
		before=$output
	done
	# all is there but the checksum
	head -c -1 fib.tar.gz >cut.bin
	trdecode "$FIB" | trencode -c none >want
	run -0 pipe 'trdecode cut.bin 2>/dev/null | trencode -c none 2>/dev/null | cmp - want'
	head -c 100 fib.tar.gz >cut.bin
	# so little of it has no mark of a format
	run -1 trdecode -o s cut.bin
	assert_output 'trdecode: cut.bin: 0x64: member 0: the file ends inside of it'
	run -2 errors trdecode -f uftrace cut.bin
	assert_output 'trdecode: cut.bin: 0x64: member 0: the file ends inside of it'
	tar -C "$DATA/uftrace" -cf - fib | xz >fib.tar.xz
	head -c -100 fib.tar.xz >cut.bin
	run -1 pipe 'trdecode cut.bin 2>&1 >/dev/null'
	assert_line --partial 'the compressed data are damaged or end early'
	refute_output --partial 'Lzma'
}

@test "a stream of another version is refused, by all" {
	local p version
	trdecode "$FIB" | cat >s.trs
	for version in 0 2; do
		{ printf %s "trstrm$version"; tail -c +8 s.trs; } >marker
		{ head -c 40 s.trs; printf %b "\\0$version"; tail -c +42 s.trs; } >head.trs
		for p in trdecode trsym 'trfilter 1==1' trstat trencode; do
			run -2 errors $p marker
			assert_output "${p%% *}: marker: event stream version $version is not supported"
			run -2 pipe "$p head.trs 2>&1 >/dev/null"
			assert_output "${p%% *}: head.trs: event stream version $version.0 is not supported"
		done
	done
	for p in trdecode trsym 'trfilter 1==1' trstat trencode; do
		run -2 errors $p ''
		assert_output "${p%% *}: '': cannot open: No such file or directory"
	done
	run -1 pipe 'cat s.trs head.trs | trstat 2>&1 >/dev/null'
	assert_output --partial 'stream version 2.0 is not supported'
}

@test "the first fault of a kind is printed with its place, the others are counted at the end" {
	local at
	# 46 records of one file have arguments without a type
	run -1 --separate-stderr trdecode -o s "$RECORDED/uftrace/bad-no-argspec"
	what='arguments of a function whose argument types are not known'
	assert_regex "$stderr" "bad-no-argspec/[0-9]*.dat: 0x[0-9a-f]*: $what"
	assert_regex "$stderr" "bad-no-argspec: [0-9]* more: $what \(--verbose prints them\)\$"
	assert_equal "$(wc -l <<<"$stderr")" 2
	more=$(sed -n 's/.*: \([0-9]*\) more: .*/\1/p' <<<"$stderr")
	run -1 --separate-stderr trdecode --verbose -o s "$RECORDED/uftrace/bad-no-argspec"
	assert_equal "$(wc -l <<<"$stderr")" $((more + 1))
	# a saved stream with damage in several segments
	trdecode -q --segment 8K -o good "$DATA/uftrace/fib"
	cp good bad
	for at in 12000 14000 25000 35000 47000; do
		printf '\xff' | dd of=bad bs=1 seek=$at conv=notrunc status=none
	done
	for tool in trdecode trsym 'trfilter depth>=0' trstat trencode; do
		run -1 --separate-stderr bash -c "$tool bad | cat >/dev/null; exit \${PIPESTATUS[0]}"
		assert_equal "$(grep -c ': 0x[0-9a-f]*: ' <<<"$stderr")" \
			"$(grep ': 0x[0-9a-f]*: ' <<<"$stderr" | sed 's/.*0x[0-9a-f]*: //' | sort -u | wc -l)"
	done
	# the program after it prints the first one
	run -1 --separate-stderr pipefail "trdecode -q bad 2>/dev/null | trstat -q"
	assert_equal "$(wc -l <<<"$stderr")" 1
	assert_regex "$stderr" "the trace is damaged: bad: 0x[0-9a-f]*: "
	run -1 --separate-stderr pipefail "trfilter 'depth >= 0' bad 2>/dev/null | trstat -q"
	assert_equal "$(wc -l <<<"$stderr")" 1
	assert_regex "$stderr" "the trace is damaged: bad: 0x[0-9a-f]*: "
}
