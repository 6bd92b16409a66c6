#!/usr/bin/env bats
# Records of perf.data that this machine cannot record: files of an independent writer, t/tools/perf_data.py, and its
# list of what they contain.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

write() {
	python3 "$ROOT/t/tools/perf_data.py" "$@"
}

# check CASE SEED OPTION...: a file and what trdecode makes of it; its stderr is in x.err
check() {
	write "$@" x.data >x.list
	trdecode --no-unwind -o x.trs x.data 2>x.err || fail "$*: $(cat x.err)"
	python3 "$ROOT/t/tools/trstream.py" x.trs >x.ndjson
	write compare x.list <x.ndjson || fail "$*"
}

# total NAME: a number of the list
total() {
	tail -n 1 x.list | jq ".$1"
}

@test "a function such as mmap does not share its row with the records of perf" {
	need perf
	cat >f.c <<-'END'
		#define BUSY(name) \
			__attribute__((noinline)) static int name(int n) { volatile int x = n; while (x < 40000000) x++; return x; }
		BUSY(mmap) BUSY(comm) BUSY(fork)
		int main(void) { return mmap(0) + comm(0) + fork(0) == 1; }
	END
	gcc -O1 -fno-builtin -fno-omit-frame-pointer -o f f.c
	perf record -q -F 997 -e cpu-clock:u --call-graph fp -o f.data ./f 2>err || skip "perf record: $(tail -n 1 err)"
	trdecode f.data | trsym -q >f.trs
	python3 "$ROOT/t/tools/sample_totals.py" totals f.trs | grep -E ',(mmap|comm|fork)$' >want
	[ "$(wc -l <want)" = 3 ]
	trstat -q -t csv -c total,self,count f.trs | awk -F, '{ print $2 "," $3 "," $4 "," $1 }' |
		grep -E ',(mmap|comm|fork)$' | LC_ALL=C sort | diff want -
	# each record has the name that perf prints
	perf script --show-task-events --show-mmap-events -i f.data 2>err |
		sed -nE 's/.* (PERF_RECORD_[A-Z]+2?).*/\1/p' | sort -u >printed
	# a busy machine adds records of lost and throttled samples, which it does not print
	trencode -q -t csv -c kind,type f.trs | sed -nE 's/^instant,(PERF_RECORD_(COMM|EXIT|FORK|MMAP)2?)$/\1/p' |
		sort -u >have
	[ -s have ] && [ -z "$(comm -13 printed have)" ]
}

@test "samples with any bits of sample_type and read_format, all types of records, both byte orders, file and pipe" {
	for options in '2' '3 big' '4 pipe' '5' '6 big pipe'; do
		# shellcheck disable=SC2086
		check layout $options
		bytes=$(sed -n 's/.*: \([0-9]*\) bytes of an AUX area (Intel PT and the like) were left out.*/\1/p' x.err)
		assert_equal "${bytes:-0}" "$(total aux)"
	done
	check layout 1
	run -0 trdecode --info x.data
	assert_line --regexp '^wall time +1000000000000000005 ns at 5 ns$'
	assert_line --regexp '^host +box$'
}

@test "records without sample_id_all have the place that they have in the file; the first format; 32 bits" {
	for options in '1' '2 big' '3 big 32'; do
		# shellcheck disable=SC2086
		check old $options
		# the same of perf script, which gives the comm of a thread at each sample
		need perf
		perf script -i x.data -F comm,tid,period,event 2>/dev/null |
			sed 's/^ *\(:\?\S*\) *\([0-9]*\) *\([0-9]*\) task-clock:HG:.*/\1 \2 \3/' >theirs
		jq -r 'select(.kind == "sample") | "\(.comm) \(.tid) \(.args.period)"' x.ndjson | diff theirs -
		run -0 trdecode --info x.data
		assert_line --regexp '^host +box$'
	done
}

@test "lost samples count once: what perf record counts at its end is what LOST has counted, and more" {
	for options in '1' '2 big' '3 pipe'; do
		# shellcheck disable=SC2086
		check lost $options
		run -1 --separate-stderr trdecode --strict -o /dev/null x.data
		assert_regex "$stderr" "lost $(total lost) events"
	done
}

@test "deferred call chains: the samples of a thread have the user frames that come later, by their cookie" {
	for options in '1' '2 big' '3 pipe'; do
		# shellcheck disable=SC2086
		check deferred $options
		grep -qx "trdecode: x.data: $(total incomplete) samples lack their deferred call chains" x.err
		grep -qx "trdecode: x.data: $(total unmatched) deferred call chains belong to no sample" x.err
	done
	# the same in several segments, and with limits of time
	trdecode -q --segment=64K -o segments.trs x.data
	diff <(trencode -q -t csv -c time,tid,stack x.trs) <(trencode -q -t csv -c time,tid,stack segments.trs)
	run -0 trdecode -q --since=5000ns --until=9000ns -o part.trs x.data
	diff <(trencode -q -t csv -c time,tid,stack part.trs | sed 1d) \
		<(trencode -q -t csv -c time,tid,stack x.trs | awk -F, '$1 >= 5000 && $1 < 9000')
}

@test "deferred call chains: as many samples wait as there is memory for; those of a pipe, a second" {
	write many 1 x.data >/dev/null
	# stacks INPUT...: how many samples in a row lack the rest of their chains, and how many have it
	stacks() {
		trdecode -q "$@" | trencode -q -t csv -c stack | sed 1d | uniq -c | awk '{ print $1 }' | paste -sd ' '
	}
	# of 20,000 samples, 2^14 wait
	assert_equal "$(stacks x.data)" "$((20000 - 16384)) 16384"
	# the last one is at 1.9999 s
	# shellcheck disable=SC2002
	assert_equal "$(cat x.data | stacks)" '9999 10001'
}

@test "records that perf does not have, and samples of no event, are damage" {
	python3 - "$DATA/perf/group.data" <<-'END' >where
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		here, end = struct.unpack_from("<QQ", data, 40)
		end += here
		at = [here]
		while at[-1] < end:
		    at.append(at[-1] + struct.unpack_from("<H", data, at[-1] + 6)[0])
		third = [here for here in at[:-1] if data[here] == 9][2]
		for name, offset, form, value in ("type", 0, "<I", 0x4009), ("id", 32, "<Q", 1 << 60):
		    changed = bytearray(data)
		    struct.pack_into(form, changed, third + offset, value)
		    open(name + ".data", "wb").write(changed)
		print(hex(third))
	END
	trdecode -q "$DATA/perf/group.data" | trencode -q -t csv -c kind,time | grep '^sample' | sed 3d >want
	run -1 trdecode -o type.trs type.data
	assert_output "trdecode: type.data: $(<where): a record of type 16393, which perf does not have"
	run -1 trdecode -o id.trs id.data
	assert_output "trdecode: id.data: $(<where): a sample of no declared event"
	for name in type id; do
		run -1 trencode -q -t csv -c kind,time $name.trs
		printf '%s\n' "${lines[@]}" | grep '^sample' | diff want -
	done
}

@test "a sample whose call chain excludes its mode has the function of its address, as in perf report" {
	need perf
	cat >f.c <<-'END'
		static int busy(int n) { volatile int x = n; while (x < 80000000) x++; return x; }
		int main(void) { return busy(0) == 1; }
	END
	gcc -O1 -fno-inline -o f f.c
	perf record -q -F 997 -e cpu-clock:u -g --kernel-callchains -o f.data ./f 2>err || skip "perf record: $(tail -n 1 err)"
	perf report -i f.data --stdio --no-children -g none -F sample,sym 2>/dev/null | awk '$3 == "busy" { print $1 }' >want
	[ -s want ]
	trdecode f.data | trsym -q | trstat -q -t tsv -c count -g name | awk '$1 == "busy" { print $2 }' | diff want -
}

@test "folded: a frame without a function has the name of its file, as the text of perf script" {
	need perf
	cat >f.c <<-'END'
		static int busy(int n) { volatile int x = n; while (x < 80000000) x++; return x; }
		int main(void) { return busy(0) == 1; }
	END
	gcc -O1 -s -fno-inline -fno-omit-frame-pointer -o f f.c
	perf record -q -F 997 -e cpu-clock:u -g -o f.data ./f 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i f.data --no-inline 2>/dev/null | trdecode -f perf-script | trencode -q -t folded |
		grep ';\[f\] ' >want
	trdecode f.data | trsym -q >f.trs
	trencode -q -t folded f.trs | grep ';\[f\] ' | diff want -
	trencode -q -t svg f.trs | grep -q '<title>\[f\] ('
}

@test "cut and changed files: no crash, no endless loop; the samples before a cut are those of the whole file" {
	write deferred 7 x.data >/dev/null
	write layout 7 big y.data >/dev/null
	trdecode -q --no-unwind x.data | trencode -q -t csv -c time,tid >whole.csv
	size=$(stat -c %s x.data)
	for part in 2 3 5 8; do
		head -c $((size * part / 9)) x.data >cut.data
		run -1 trdecode -q -o cut.trs cut.data
		trencode -q -t csv -c time,tid cut.trs 2>/dev/null >cut.csv || true
		cmp cut.csv <(head -n "$(wc -l <cut.csv)" whole.csv)
		(($(wc -l <cut.csv) > 100))
	done
	for seed in $(seq 6); do
		for file in x y; do
			cp $file.data bad.data
			RANDOM=$seed
			flip bad.data 3
			status=0
			timeout 20 trdecode --no-unwind -q -o bad.trs bad.data 2>/dev/null || status=$?
			((status <= 2)) || fail "$file, seed $seed: status $status"
		done
	done
}

@test "files mapped in any order, over each other and after a fork: those of a model, in linear time" {
	local -A took
	for n in 8000 32000; do
		write maps $n x.data | grep -v '^{' >x.list
		TIMEFORMAT=%U
		took[$n]=$({ time trdecode -q -o x.trs x.data; } 2>&1)
		trsym -q x.trs | trencode -q -t csv -c kind,name,module | sed -n 's/^sample,<\(.*\)>,/\1,/p' >have
		cmp x.list have
	done
	# 16 times as long if the time is quadratic
	jq -ne "${took[32000]} < 8 * ${took[8000]} + 0.05"
}
