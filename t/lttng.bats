# Legacy LTTng traces in and out: listings, times, damage, the way back.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	L=$SHARED/lttng-legacy
}

setup_file() {
	cc -O1 -o "$BATS_FILE_TMPDIR/lttng_list" "$ROOT/t/tools/lttng_list.c"
}

# Lines by what they say, their time behind it.
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

# The events without those of the trace itself, named as in a trace written anew.
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
	need_shared lttng-legacy
	for e in "$L"/*.expect.txt* "$L"/gen/*.expect.txt; do
		t=${e%.expect.txt*}
		[[ $t == *-trunc ]] && continue
		[[ -d $t ]] || t=$t.tar.gz
		pipefail "trdecode --clock raw '$t' | trencode -q" >got
		expect_of "$e" >want
		same_listing want got || fail "$t"
	done
}

@test "every trace comes back as 2.6, read by another reader" {
	local e t old
	need_shared lttng-legacy
	for e in "$L"/*.expect.txt* "$L"/gen/*.expect.txt; do
		t=${e%.expect.txt*}
		[[ $t == *-trunc ]] && continue
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
	need_shared lttng-legacy
	t=$L/v2.3-618339ev-1293lost-1cpu.tar.gz
	run -0 --separate-stderr pipe "trdecode '$t' | trstat -n 1"
	# shellcheck disable=SC2154 # bats sets it
	[[ $stderr == *'1293 events were lost by the recorder'* ]]
	run -1 pipe "trdecode --strict '$t' >/dev/null"
	run -1 pipe "trdecode '$t' | trencode --strict >/dev/null"
	# and they are still in a trace written anew
	pipefail "trdecode '$t' | trencode -q -t lttng -o back"
	run -0 --separate-stderr pipe "trdecode back | trstat -n 1"
	[[ $stderr == *'1293 events were lost by the recorder'* ]]
}

@test "calls have the names that the trace dumps, threads their tid and comm" {
	need_shared lttng-legacy
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' | trstat -q -F tsv -a count" >names
	grep -q $'\tsys_poll$\|^sys_poll\t' names
	grep -q 'page_fault' names
	grep -q 'softirq run_timer_softirq' names
	pipefail "trdecode '$L/v2.6-219558ev-2cpu' | trstat -q -F tsv -g comm -a count" >comms
	grep -q pulseaudio comms
}

@test "a damaged file costs only what it held" {
	need_shared lttng-legacy
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
