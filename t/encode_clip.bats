# trencode: --since, --until and --limit; calls that are open at an edge are clipped to it.

load lib
load tables

# edges PART PART: --since and --until of eighths of fib.trs
edges() {
	echo "--since $((first + (last - first) * $1 / 8))ns --until $((first + (last - first) * $2 / 8 + 1))ns"
}

# self_times: the self time of each function, of folded stacks
self_times() {
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); self[$0] += n }
		END { for (f in self) printf "%s\t%.0f\n", f, self[f] }' | LC_ALL=C sort
}

setup_clip() {
	first=$(trdecode --info fib.trs | awk '/^first time/ { print $NF }')
	last=$(trdecode --info fib.trs | awk '/^last time/ { print $NF }')
}

@test "total times of a range are those of the recording, clipped" {
	need uftrace
	setup_clip
	uftrace dump --no-pager -d "$DATA/uftrace/fib" >dump 2>/dev/null
	for part in '5 6' '6 7' '5 8' '7 8' '0 8'; do
		read -r from to <<<"$part"
		range=$(edges "$from" "$to")
		read -r _ since _ until <<<"$range"
		LC_ALL=C python3 "$ROOT/t/tools/clip_calls.py" "${since%ns}" "${until%ns}" <dump |
			awk '$3 { print $1 "\t" $3 }' | LC_ALL=C sort >total
		# shellcheck disable=SC2086
		trencode -q -t csv --no-header -c name,dur,kind,recursive $range fib.trs |
			awk -F , '$3 == "call" && $4 == 0 && $2 && $1 !~ /^linux:/ { t[$1] += $2 }
				END { for (f in t) printf "%s\t%.0f\n", f, t[f] }' | LC_ALL=C sort |
			diff total - || fail "$part"
	done
}

@test "a range has the self times of trstat in it" {
	setup_clip
	for part in '0 1' '5 6' '6 7' '5 8' '7 8'; do
		# shellcheck disable=SC2086
		range=$(edges $part)
		# shellcheck disable=SC2086
		trstat -q -t tsv -c self $range fib.trs | awk -F '\t' 'NR > 1 && $2' | LC_ALL=C sort >want
		# shellcheck disable=SC2086
		trencode -q -t folded $range fib.trs | self_times | diff want - || fail "$part"
		# shellcheck disable=SC2086
		trencode -q -t chrome --rebase none $range fib.trs | trdecode | trstat -q -t tsv -c self |
			awk -F '\t' 'NR > 1 && $2' | LC_ALL=C sort | diff want - || fail "chrome $part"
		# also where a task is scheduled out at --until
		rm -rf range.data
		# shellcheck disable=SC2086
		trencode -q -t uftrace $range -o range.data fib.trs
		trdecode range.data | trsym | trstat -q -t tsv -c self |
			awk -F '\t' 'NR > 1 && $2' | LC_ALL=C sort | diff want - || fail "uftrace $part"
	done
	[ -s want ]
}

@test "a uftrace directory has the external data of its range" {
	trdecode -q "$RECORDED/uftrace/extern-data" >x.trs
	# both lines are in the second half
	middle=$(trdecode --info x.trs | awk '/^first time/ { a = $NF } /^last time/ { b = $NF } END { printf "%.0f", (a + b) / 2 }')
	trencode -q -t uftrace --until "${middle}ns" -o early x.trs
	[ ! -e early/extern.dat ]
	trencode -q -t uftrace --since "${middle}ns" -o late x.trs
	grep -v '^#' "$RECORDED/uftrace/extern-data/extern.dat" | diff - late/extern.dat
}

@test "the parts of a trace add up to the whole" {
	setup_clip
	trencode -q -t folded fib.trs | self_times >want
	for part in '0 5' '5 6' '6 7'; do
		read -r from to <<<"$part"
		trencode -q -t folded --since $((first + (last - first) * from / 8))ns \
			--until $((first + (last - first) * to / 8))ns fib.trs
	done >parts
	trencode -q -t folded --since $((first + (last - first) * 7 / 8))ns fib.trs >>parts
	self_times <parts | diff want -
}

@test "a call that never returns ends at --until, if its thread goes on" {
	cat >open.json <<-'EOF'
		[{"ph": "B", "pid": 1, "tid": 1, "ts": 1, "name": "outer"},
		 {"ph": "B", "pid": 1, "tid": 1, "ts": 1.2, "name": "inner"},
		 {"ph": "E", "pid": 1, "tid": 1, "ts": 2},
		 {"ph": "i", "pid": 1, "tid": 1, "ts": 3, "s": "t", "name": "last"}]
	EOF
	trdecode open.json >open.trs
	trencode -q -t csv --no-header -c name,time,dur --since 1500ns --until 2500ns open.trs >rows
	assert_equal "$(cat rows)" "$(printf 'inner,1500,500\nouter,1500,1000')"
	trencode -q -t folded --since 1500ns --until 2500ns open.trs >rows
	assert_equal "$(cat rows)" "$(printf 'outer 500\nouter;inner 500')"
	# no event of the thread is later
	trencode -q -t folded --since 1500ns --until 4000ns open.trs >rows
	assert_equal "$(cat rows)" "$(printf 'outer 1000\nouter;inner 500')"
}

@test "rows that wait in a conversion outlast the end of a range" {
	cat >open.json <<-'EOF'
		[{"ph": "B", "pid": 1, "tid": 1, "ts": 0, "name": "outer"},
		 {"ph": "b", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": 1, "name": "task"},
		 {"ph": "i", "pid": 1, "tid": 1, "ts": 2, "s": "t", "name": "in"},
		 {"ph": "i", "pid": 1, "tid": 1, "ts": 5, "s": "t", "name": "later"},
		 {"ph": "e", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": 7, "name": "task"}]
	EOF
	trdecode open.json >open.trs
	for format in uftrace trace-cmd; do
		rm -rf out
		trencode -q -t $format --until 4us -o out open.trs
		trdecode -q out | trsym -q | trencode -q -t csv --no-header -c name,time,dur |
			sed 's/^trace://' |
			grep -v print | LC_ALL=C sort >rows
		assert_equal "$(cat rows)" "$(printf 'in,2000,\nouter,0,4000\ntask,1000,3000')"
	done
}

@test "segments, and a segment alone, have the clipped calls of the whole" {
	setup_clip
	trdecode --segment 4K "$DATA/uftrace/fib" | trsym >cut.trs
	marker=$(head -c 16 cut.trs)
	at=$(grep -abo -F "$marker" cut.trs | cut -d : -f 1 | sed -n 2p)
	tail -c +$((at + 1)) cut.trs >later.trs
	for format in folded csv chrome text; do
		for part in '5 6' '6 8'; do
			# shellcheck disable=SC2086
			range=$(edges $part)
			# shellcheck disable=SC2086
			trencode -q -t $format $range fib.trs >want
			# shellcheck disable=SC2086
			trencode -q -t $format $range cut.trs | cmp want -
		done
		trencode -q -t $format --since $((last - 1000000))ns fib.trs >want
		run -1 bash -c "trencode -q -t $format --since $((last - 1000000))ns later.trs 2>/dev/null | cmp want - && exit 1"
	done
}

@test "-n writes the first calls and events, calls whole" {
	for n in 0 1 5 200; do
		trfilter -n $n 1 fib.trs | trencode -q -t csv >want
		trencode -q -t csv -n $n fib.trs | diff want -
		trfilter -n $n 1 sched.trs | trencode -q >want
		trencode -q -n $n sched.trs | diff want -
	done
	[ "$(wc -l <want)" -gt 200 ]
}

@test "a range without events says which times there are" {
	local range
	setup_clip
	for range in '--since +5s' "--until $((first - 1))ns" "--since 1ns --until $((first - 1))ns"; do
		# shellcheck disable=SC2086
		run --separate-stderr trencode -t csv $range fib.trs
		assert_success
		assert_equal "$(wc -l <<<"$output")" 1
		[[ $stderr == *"no event is in the range of --since and --until: the times are from "* ]]
	done
	trdecode "$(ls "$DATA"/apitrace/*.trace | head -n 1)" >calls.trs
	run -2 trencode --since 5ms calls.trs
	assert_line "trencode: the clock counts ticks: --since takes a number without a unit, not '5ms'"
}

@test "a range of a filtered stream has no call that the range of the trace has not" {
	local trace condition first since
	cd "$BATS_TEST_TMPDIR"
	for trace in "$DATA/uftrace/fib" "$RECORDED"/uftrace/{exit-_exit,m32-basic,kernel-sched,lost}; do
		trdecode -q "$trace" >whole.trs
		first=$(trencode -q -t tsv --no-header -c time whole.trs | sort -n | sed 1q)
		for since in 100000 1000000 3000000; do
			set -- --since=$((first + since))ns --until=$((first + 3 * since))ns
			trencode -q -t ndjson -c time,dur,tid,name "$@" whole.trs | sort >all
			for condition in 'dur > 1us' 'depth < 2' 'children == 0'; do
				trfilter -q "$condition" whole.trs |
					trencode -q -t ndjson -c time,dur,tid,name "$@" | sort >kept
				comm -23 kept all >other
				[ ! -s other ] || fail "$*, $condition of $trace: $(head -n 3 other)"
			done
		done
	done
}
