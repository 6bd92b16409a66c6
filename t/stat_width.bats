# Tables for people: lines that fit a width, what leaves them, headings again, colours, units.
load lib
load tables

# One trace of each source: its name and the path.
SOURCES="uftrace $DATA/uftrace/fib
trace-cmd $DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat
perf $DATA/perf/two.data.gz
offcpu $DATA/perf/offcpu.data.gz
apitrace $DATA/apitrace/threads.trace
lttng $DATA/lttng/v2.6-le64-packed.tar.gz
ctf $DATA/ctf/kinds.tar.gz
chrome $DATA/chrome/v8-profile.json.gz
perfetto $DATA/perfetto/perf-followers.pftrace"

setup_file() {
	local name path
	cd "$BATS_FILE_TMPDIR" || return
	while read -r name path; do
		trdecode -q "$path" | trsym -q >"$name.trs" || [ $? = 1 ]
	done <<<"$SOURCES"
}

# fits WIDTH FILE WHAT: no line of the output is longer
fits() {
	LC_ALL=C.UTF-8 awk -v most="$1" -v what="$3" \
		'length > most { print what ": " length ": " $0; bad = 1 } END { exit bad }' "$2"
}

# The views of a stream, one on a line
views() {
	printf '%s\n' "" "-g name,tid,comm,caller" "-g type,cpu" "-g stack" "--tree" "--hist" \
		"--timeline 10ms" "--slowest 5" "-i 10ms" "--diff $1.trs"
	case $1 in
	trace-cmd | offcpu) printf '%s\n' "--pair wakeup" "--pair syscall -g id,comm,tid" ;;
	esac
}

@test "no line of any view is longer than 80, 100 or 200 characters" {
	local name path view width
	while read -r name path; do
		while read -r view; do
			for width in 80 100 200; do
				# shellcheck disable=SC2086 # options are words
				trstat -q --width $width $view "$name.trs" >out 2>err || [ $? = 2 ]
				fits $width out "$name: $view"
			done
		done < <(views "$name")
	done <<<"$SOURCES"
}

@test "views fit narrow screens: headings are shortened, the head of a timeline is broken" {
	local name path view width
	while read -r name path; do
		for view in --hist "--timeline 10ms" "--timeline 100" "--diff $name.trs"; do
			for width in 45 50 59; do
				# shellcheck disable=SC2086 # options are words
				trstat -q --width $width $view "$name.trs" >out 2>err || [ $? = 2 ]
				fits $width out "$name: $view"
			done
		done
	done <<<"$SOURCES"
	trstat -q --width 34 --diff perf.trs perf.trs >out
	run -0 head -n 1 out
	assert_output --regexp '^ +total  t[a-z_]*\.\.\.[a-z]+  name +type$'
	trstat -q --width 40 --timeline 10ms uftrace.trs >out
	run -0 head -n 2 out
	assert_line --index 1 '    10.000 ms a bar'
}

@test "in a pipe nothing is left out or shortened" {
	trstat -q -g name,caller,comm uftrace.trs >pipe
	COLUMNS=40 trstat -q -g name,caller,comm uftrace.trs | cmp - pipe
	trstat -q --width=0 -g name,caller,comm uftrace.trs | cmp - pipe
	run -0 head -n 1 pipe
	assert_output --regexp '^ *total +self +count +avg +p50 +p99 +max +name +caller +comm *$'
	# all names are whole
	trstat -q -t tsv -g name,caller,comm -c count uftrace.trs | cut -f 1 | sort >names
	awk 'NR == 1 { at = index($0, "name"); next } { split(substr($0, at), w, "  "); print w[1] }' pipe |
		sort | diff - <(grep -vx name names)
}

@test "the columns that leave first, and the remark" {
	trstat -q --width 80 -g name,tid,caller uftrace.trs >out
	refute grep -q p50 <(head -n 1 out)
	run -0 tail -n 2 out
	assert_output --partial 'left out at this width: '
	assert_output --partial p50
	# the sort column and the keys stay, and columns that were asked for go last
	trstat -q --width 50 -s p50 uftrace.trs >out
	run -0 head -n 1 out
	assert_output --regexp '^ *total .*p50 .*name'
	trstat -q --width 50 -c count,avg,p99 uftrace.trs >out
	run -0 head -n 1 out
	assert_output --regexp '^count +avg +p99 +name'
	for width in 1 2 5 10 20; do
		trstat -q --width $width -g name,tid,caller uftrace.trs >out
		trstat -q --width $width --diff uftrace.trs uftrace.trs >out
	done
}

@test "numbers of samples have their event in the heading" {
	run -0 bash -c 'trdecode -q "$DATA/perf/flat.data" | trsym -q | trstat -q -n 1'
	assert_line --index 0 --regexp '^total \[cycles\] +self \[cycles\] +count +name$'
	run -0 trstat -q perf.trs
	assert_line --index 0 --regexp '^ *total \[weight\] +self \[weight\] +count +name +type$'
	# the rows of an event are together
	[ "$(sed 1d <<<"$output" | grep -oE '(instructions|cycles)$' | uniq | wc -l)" = 2 ]
}

@test "colours where they are wanted" {
	need_terminal
	local esc=$'\e'
	run -0 terminal 80 trstat -q -n 1 uftrace.trs
	assert_output --partial "${esc}[1m"
	run -0 terminal 80 trstat -q -n 1 --color=never uftrace.trs
	refute_output --partial "$esc"
	NO_COLOR=1 run -0 terminal 80 trstat -q -n 1 uftrace.trs
	refute_output --partial "$esc"
	TERM=dumb run -0 terminal 80 trstat -q -n 1 uftrace.trs
	refute_output --partial "$esc"
	run -0 trstat -q -n 1 uftrace.trs
	refute_output --partial "$esc"
	run -0 trstat -q --color -n 1 uftrace.trs
	assert_output --partial "${esc}[1m"
	# an alarm, on stderr
	errors trstat --color --fail-if 'count > 1' uftrace.trs >alarm || true
	run -0 cat alarm
	assert_output --partial "${esc}[1;31mtrstat: count > 1 is true: "
	errors trstat --fail-if 'count > 1' uftrace.trs >alarm || true
	run -1 grep "$esc" alarm
	run -2 trstat --color=red uftrace.trs
	assert_output --partial "--color takes auto, always or never, not 'red'"
	# without the sequences the table is the same
	trstat -q --color=always uftrace.trs | sed "s/$esc\[[0-9;]*m//g" | diff - <(trstat -q uftrace.trs)
}

@test "on a terminal the heading is on each screenful, in a pipe once" {
	need_terminal
	LINES=12 run -0 terminal 80 trstat -q -n 0 -c count -g name,tid --color=never trace-cmd.trs
	local rows headings
	headings=$(grep -c '^count  *tid' <<<"$output")
	rows=$(grep -c '^ *[0-9]' <<<"$output")
	[ "$rows" -gt 20 ]
	[ "$headings" = $(((rows + 9) / 10)) ]
	[ "$(trstat -q -n 0 -c count -g name,tid trace-cmd.trs | grep -c '^count  *tid')" = 1 ]
}
