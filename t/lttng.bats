# Legacy LTTng traces in and out: listings, times, damage, the way back.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	L=$RECORDED/lttng-legacy
}

setup_file() {
	cc -O1 -o "$BATS_FILE_TMPDIR/lttng_list" "$ROOT/t/tools/lttng_list.c"
}

# Lines sorted by their text, with the time after the text.
by_event() {
	sed 's/^\([^ ]*\) \(.*\)/\2\t\1/' | LC_ALL=C sort
}

# same_listing A B: the same events at times that differ by 1 ns at most.
same_listing() {
	[[ $(wc -l <"$1") == "$(wc -l <"$2")" ]] || return 1
	paste -d $'\002' <(by_event <"$1") <(by_event <"$2") | LC_ALL=C awk -F $'[\t\002]' '
		{
			split($2, a, "."); split($4, b, "."); d = (a[1] - b[1]) * 1e9 + a[2] - b[2]
			if ($1 != $3 || d > 1 || d < -1) { print; exit 1 }
		}'
}

# The events without those of the trace itself, named as in a converted trace.
without_core() {
	grep -v -E '^[^ ]* [^ ]* (metadata\.)?core_' | sed 's/ control\// /; s/ flight-/ /'
}

expect_of() {
	case $1 in *.xz) xzcat "$1" ;; *) cat "$1" ;; esac
}

unpack() {
	tar -xzf "$DATA/lttng/$1.tar.gz"
}

@test "own traces are listed as expected" {
	local t
	for t in v1.0-be32-align v2.6-le64-packed; do
		pipefail "trdecode --clock raw '$DATA/lttng/$t.tar.gz' | trencode -q" >got
		same_listing "$DATA/lttng/$t.expect.txt" got
	done
}

@test "own traces come back as 2.6" {
	local t old
	for t in v1.0-be32-align v2.6-le64-packed; do
		pipefail "trdecode '$DATA/lttng/$t.tar.gz' | trencode -q -t lttng -o '$t'"
		[[ $t == v1* ]] && old=-1 || old=
		"$BATS_FILE_TMPDIR/lttng_list" $old "$t" >got
		without_core <"$DATA/lttng/$t.expect.txt" >want
		same_listing want got
		run -0 trdecode --info "$t"
		assert_line --regexp '^version +2\.6$'
	done
}

@test "every trace is listed as expected" {
	local e t
	for e in "$L"/*.expect.txt* "$L"/gen/*.expect.txt; do
		[[ -e $e ]] || continue
		t=${e%.expect.txt*}
		[[ $t == *-trunc ]] && continue
		[[ -d $t ]] || t=$t.tar.gz
		pipefail "trdecode --clock raw '$t' | trencode -q" >got
		expect_of "$e" >want
		same_listing want got || fail "$t"
	done
}

# What is written depends on the events alone, which are those of all traces by the test before this one.
@test "each second trace comes back as 2.6, read by another reader" {
	local e t old n=0
	for e in "$L"/*.expect.txt* "$L"/gen/*.expect.txt; do
		[[ -e $e ]] || continue
		t=${e%.expect.txt*}
		[[ $t == *-trunc ]] && continue
		((n++ % 2 == 0)) || continue
		[[ -d $t ]] || t=$t.tar.gz
		[[ $t == *gen-1.0* ]] && old=-1 || old=
		rm -rf back
		pipefail "trdecode '$t' | trencode -q -t lttng -o back"
		"$BATS_FILE_TMPDIR/lttng_list" $old back >got
		expect_of "$e" | without_core >want
		same_listing want got || fail "$t"
	done
}

@test "wall time is the default, and exact" {
	unpack v2.6-le64-packed
	pipefail "trdecode v2.6-le64-packed | trencode -q" >wall
	pipefail "trdecode --clock raw v2.6-le64-packed | trencode -q" >raw
	[[ $(wc -l <wall) == "$(wc -l <raw)" ]]
	run -0 head -n 1 wall
	assert_output --regexp '^1212400800\.'
	run -0 sed -n '1s/ .*//p' wall
	assert_output "$(head -n 1 "$DATA/lttng/v2.6-le64-packed.wall")"
}

@test "lost events are counted by every program" {
	local t
	cp -r "$L/gen/gen-2.6-le32-align" own
	chmod -R u+w own
	# events_lost of the first block
	printf '\015\005' | dd of=own/kernel_0 bs=1 seek=60 conv=notrunc status=none
	for t in own "$L"/v2.3-618339ev-1293lost*.tar.gz; do
		[[ -e $t ]] || continue
		run -0 --separate-stderr pipe "trdecode '$t' | trstat -n 1"
		# shellcheck disable=SC2154 # bats sets it
		[[ $stderr == *'1293 events were lost by the recorder'* ]]
		run -1 pipe "trdecode --strict '$t' >/dev/null"
		run -1 pipe "trdecode '$t' | trencode --strict >/dev/null"
		# and they are still in a converted trace
		rm -rf back
		pipefail "trdecode '$t' | trencode -q -t lttng -o back"
		run -0 --separate-stderr pipe "trdecode back | trstat -n 1"
		[[ $stderr == *'1293 events were lost by the recorder'* ]]
	done
}

calls_have_names() {
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' | trstat -q -t tsv -c count" >names
	grep -q $'\tsys_poll$\|^sys_poll\t' names
	grep -q 'page_fault' names
	grep -q 'softirq run_timer_softirq' names
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' | trstat -q -t tsv -g comm -c count" >comms
	grep -q pulseaudio comms
}

tables_are_listed() {
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' >stream"
	pipefail "trencode -q stream >listing"
	awk -f "$ROOT/t/tools/lttng_summary.awk" listing listing >said
	trstat -q -t tsv -g cpu,tid,type -c count stream | sed 1d | LC_ALL=C sort >got
	awk '$1 == "type" { print $2 "\t" $3 "\t" $4 "\t" $5 }' said | LC_ALL=C sort | diff - got
	# times of system calls to the ns; the median within the bound of the histogram
	trstat -q -t tsv -c count,total,max,p50 stream | LC_ALL=C sort >got
	grep '^call ' said | LC_ALL=C sort -k 2,2 -k 3,3n | awk '
		function flush() { if (n) print name "\t" n "\t" total "\t" v[n] "\t" v[int((n + 1) / 2)] }
		$2 != name { flush(); name = $2; n = total = 0 }
		{ v[++n] = $3; total += $3 }
		END { flush() }' OFMT=%.0f CONVFMT=%.0f >want
	(($(wc -l <want) > 90))
	LC_ALL=C join -t $'\t' want got >both
	(($(wc -l <both) == $(wc -l <want)))
	awk -F '\t' '$2 != $6 || $3 != $7 || $4 != $8 || ($5 - $9) ^ 2 > ($5 / 50) ^ 2 {
		print; bad = 1 } END { exit bad }' both
}

threads_have_names() {
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' | tee stream | trencode -q >listing"
	trstat -q -t tsv -g tid,comm -c count stream | sed 1d >got
	# but for those that change theirs, or are there several times
	sed -n 's/.*task_state.process_state { pid = \([0-9]*\), .* name = "\(.*\)", type .*/\1\t\2/p' \
		listing | LC_ALL=C sort -u >dumped
	cut -f 1,2 got | LC_ALL=C sort -u | LC_ALL=C comm -12 - dumped >same
	(($(wc -l <same) >= 30)) || fail "$(wc -l <same)"
	# no thread has a name that is neither dumped nor executed
	cut -f 2 got | LC_ALL=C sort -u |
		LC_ALL=C comm -23 - <(cut -f 2 dumped | LC_ALL=C sort -u) >others
	while read -r name; do
		[[ -z $name ]] || grep -q "exec { filename = \".*$name" listing || fail "$name"
	done <others
}

@test "a damaged file costs only what it held" {
	for t in bad-magic bad-event-size-past-block; do
		run -1 --separate-stderr pipe "trdecode --clock raw '$L/bad/$t' >stream"
		[[ $stderr == *"$t/cpu_0: 0x"* ]]
		run -1 pipe "trencode -q stream >got 2>/dev/null"
		same_listing "$L/bad/$t.expect.txt" got
	done
	t=bad-bufsize-beyond-file
	run -1 --separate-stderr pipe "trdecode --clock raw '$L/bad/$t' >stream"
	[[ $stderr == *"$t/cpu_0: 0x"* ]]
	run -1 pipe "trencode -q stream >got 2>/dev/null"
	[[ -z $(comm -23 <(by_event <"$L/bad/$t.expect.txt") <(by_event <got)) ]]
}

@test "a file cut anywhere: no crash, and what is whole comes out" {
	local n size before=0
	unpack v2.6-le64-packed
	chmod -R u+w .
	cp v2.6-le64-packed/kernel_0 whole
	size=$(stat -c %s whole)
	for ((n = 68; n < size; n += size / 23)); do
		head -c "$n" whole >v2.6-le64-packed/kernel_0
		run pipe "trdecode v2.6-le64-packed >stream 2>errors"
		((status == 1)) || fail "status $status at $n"
		grep -q 'kernel_0: 0x' errors
		pipe "trencode -q stream 2>/dev/null | wc -l" >count
		(($(<count) >= before))
		before=$(<count)
	done
}

@test "any file cut or with bytes changed: no crash, and damage is said with file and offset" {
	local t f size at n=0 damaged=0
	for t in v1.0-be32-align v2.6-le64-packed; do
		unpack "$t"
		chmod -R u+w "$t"
		while read -r f; do
			size=$(stat -c %s "$f")
			cp "$f" whole
			for at in 22 56 70 $((size / 3)) $((size * 5 / 7)); do
				((at < size)) || continue
				printf '\377\125' | dd of="$f" bs=1 seek="$at" conv=notrunc status=none
				n=$((n + 1))
				run pipe "timeout 10 trdecode '$t' 2>errors | trstat -q >/dev/null 2>&1"
				((status < 2)) || fail "status $status: $f changed at $at"
				((status == 0)) || { grep -q ': 0x' errors && damaged=$((damaged + 1)); }
				cp whole "$f"
			done
			head -c $((size - size % 4096 / 2 - 7)) whole >"$f"
			run pipe "timeout 10 trdecode '$t' 2>errors | trstat -q >/dev/null 2>&1"
			((status == 1)) || fail "status $status: $f cut"
			grep -q "$f: 0x" errors
			cp whole "$f"
		done < <(find "$t" -type f -size +0)
	done
	((n > 30 && damaged > 10)) || fail "$damaged of $n"
}

mappings_are_there() {
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' >stream"
	grep -aq '\[inode 2887482\]' stream
	# and change nothing of what is listed
	pipefail "trsym stream | trencode -q | wc -l" >count
	(($(<count) == 219558))
}

@test "the public trace of two CPUs: names of calls and threads, tables, mappings" {
	need_shared lttng-legacy/v2.6-219558ev-2cpu
	calls_have_names
	tables_are_listed
	threads_have_names
	mappings_are_there
}

@test "0.x is refused with the reason" {
	unpack v1.0-be32-align
	chmod -R u+w .
	for f in v1.0-be32-align/control/* v1.0-be32-align/cpu_*; do
		printf '\0\10' | dd of="$f" bs=1 seek=57 conv=notrunc status=none
	done
	run -2 --separate-stderr trdecode --info v1.0-be32-align
	[[ $stderr == *'format 0.8'*'eventdefs'* ]]
}

@test "one tracefile alone" {
	unpack v2.6-le64-packed
	pipefail "trdecode v2.6-le64-packed/kernel_0 | trencode -q" >got
	[[ -s got ]]
	! grep -v ' kernel_0 ' got
}

@test "a file beside those of a trace is none; one of them alone is" {
	local f
	tar -xzf "$DATA/lttng/v2.6-le64-packed.tar.gz"
	echo '{"a": 1}' >no.json
	echo text >notes.txt
	cp no.json notes.txt v2.6-le64-packed
	echo text >v2.6-le64-packed/notes_1
	for f in {.,v2.6-le64-packed}/{no.json,notes.txt} v2.6-le64-packed/notes_1; do
		run -2 errors trdecode "$f"
		if [[ $f == *.json ]]; then
			assert_output --partial "trdecode: $f: JSON, but no trace"
		else
			assert_output "trdecode: $f: not a trace of a known format"
		fi
		run -2 errors trdecode -f lttng "$f"
		assert_output "trdecode: $f: not a trace of the format lttng"
	done
	run -2 errors trdecode -f chrome v2.6-le64-packed/notes.txt
	assert_output "trdecode: v2.6-le64-packed/notes.txt: not a trace of the format chrome"
	run -0 trdecode --info v2.6-le64-packed/kernel_0
	assert_line --regexp '^format +lttng$'
	: >v2.6-le64-packed/empty_0
	run -0 trdecode --info --json v2.6-le64-packed/empty_0
	assert_line --partial '"format": "lttng"'
	: >empty_0
	run -2 errors trdecode empty_0
	assert_output "trdecode: empty_0: empty, not a trace"
}
