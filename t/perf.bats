#!/usr/bin/env bats
# perf.data: samples are those that perf script prints.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	here=$DATA/perf
}

# compare FILE TEXT OPTION...: the samples of a perf.data with the text of perf script
compare() {
	trdecode -o x.trs "$1"
	python3 "$ROOT/t/tools/trstream.py" x.trs >x.ndjson
	python3 "$ROOT/t/tools/perf_script.py" "${@:3}" x.ndjson "$2"
}

# record NAME OPTION...: record this program; skip where perf cannot
record() {
	need perf
	perf record -q -o "$1.data" "${@:2}" sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; ls / >/dev/null' \
		>/dev/null 2>err || skip "perf record: $(tail -n 1 err)"
}

# script NAME: perf script of a recording, with the first list of fields that it has
script() {
	for fields in comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,trace \
		comm,pid,tid,time,period,event,ip,sym,symoff,dso \
		comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,trace; do
		perf script -i "$1.data" --no-inline -F $fields >"$1.txt" 2>/dev/null && [ -s "$1.txt" ] && return
	done
	fail "perf script: $1"
}

@test "recordings: number, time, thread, CPU, event, period, fields and frames of the samples" {
	for name in flat group zstd pipe-zstd switch sched sys weight; do
		file=$(ls "$here/$name".data*)
		gzip -dc "$here/$name.txt.gz" >text
		compare "$file" text || fail "$name"
	done
}

# record_deep OPTION...: record stacks of ./deep, compiled with these options, as memory, in deep.data, and what perf
# makes of them in deep.txt
record_deep() {
	need gcc
	cat >deep.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		static unsigned numbers[20000];
		static int order(const void *a, const void *b)
		{
			return *(const unsigned *)a < *(const unsigned *)b ? -1 : 1;
		}
		__attribute__((noipa)) unsigned deep(unsigned n)
		{
			volatile unsigned local[16] = {n};

			if (!n)
				for (int i = 0; i < 3; i++) {
					for (unsigned k = 0; k < 20000; k++)
						numbers[k] = k * 2654435761u + (unsigned)i;
					qsort(numbers, 20000, sizeof *numbers, order);
				}
			return n ? deep(n - 1) + local[n % 16] : numbers[5];
		}
		static void *thread(void *arg)
		{
			return (void *)(size_t)deep(arg ? 3 : 4);
		}
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, NULL, thread, NULL);
			pthread_join(t, NULL);
			return deep(20) == 1;
		}
	END
	gcc -O2 -fomit-frame-pointer -pthread "$@" -o deep deep.c
	need perf
	perf record -q -F 4000 -e cpu-clock --call-graph dwarf,16384 -o deep.data ./deep >/dev/null 2>err ||
		skip "perf record: $(tail -n 1 err)"
	script deep
}

@test "stacks recorded as memory are unwound, as perf script unwinds them" {
	record_deep
	compare deep.data deep.txt --stack-share 0.95
	# as many kinds of stacks as the program has: 21 frames in one thread, 5 in the other
	trdecode deep.data | trsym -q | trencode -q -t folded >folded
	grep -Eq '(;|^)main(;deep){21};.*order' folded
	grep -Eq ';thread(;deep){5};.*order' folded
	run ! grep -Eq '(;deep){22}' folded
	# the same in several segments
	trdecode --segment=64K deep.data | trsym -q | trencode -q -t folded | cmp folded -
}

@test "stacks are unwound by .debug_frame, of the program or its debug file, where .eh_frame has no entry" {
	need objcopy
	local tables=(-fno-asynchronous-unwind-tables -fno-unwind-tables)
	record_deep -g -Wl,--build-id=none "${tables[@]}"
	# perf unwinds by the .eh_frame of a program with the same code
	mv deep without
	gcc -O2 -g -fomit-frame-pointer -pthread -Wl,--build-id=none -o deep deep.c
	for program in deep without; do
		objcopy -O binary -j .text $program $program.text
	done
	cmp deep.text without.text
	script deep
	trdecode -q deep.data | trencode -q -t folded >want
	grep -Eq '(;deep|;<[0-9a-f]*>){21}' want
	mv without deep
	compare deep.data deep.txt --stack-share 0.95
	trdecode -q deep.data | trencode -q -t folded | cmp want -
	cp deep whole
	for packing in none zlib; do
		objcopy --compress-debug-sections=$packing whole deep
		trdecode -q deep.data | trencode -q -t folded | cmp want -
		objcopy --only-keep-debug deep deep.debug
		objcopy -g --add-gnu-debuglink=deep.debug whole deep
		trdecode -q deep.data | trencode -q -t folded | cmp want -
	done
	# no table is left
	rm deep.debug
	trdecode -q deep.data | trencode -q -t folded | run ! cmp -s want -
}

@test "--no-unwind: the frames of the kernel, and the function in which the program was" {
	record_deep
	trdecode --no-unwind deep.data | trsym -q | trencode -q -t folded >folded
	# the first frame is the thread, which is named deep as well
	run ! grep -q ';deep;deep' folded
	grep -q order folded
	weight() {
		awk '{ n += $NF } END { print n }' "$1"
	}
	trdecode deep.data | trsym -q | trencode -q -t folded >unwound
	grep -q ';deep;deep' unwound
	assert_equal "$(weight folded)" "$(weight unwound)"
}

# rows FILE COLUMNS OPTION...: the samples of a file, one JSON object each
rows() {
	trdecode "${@:3}" "$1" | trfilter -q 'kind == "sample"' | trencode -q -t ndjson -c "$2"
}

@test "--no-unwind: a program that called the kernel has the address of the call as caller" {
	python3 "$ROOT/t/tools/perf_made.py"
	rows state.data stack --no-unwind >have
	diff have - <<-'END'
		{"stack":["<401234>","<fffffffffffff000>"]}
		{"stack":["<401300>"]}
	END
}

# what perf script -F ip prints: the kernel frames, then the calls of the program, and without calls the chain
@test "stacks of calls that the processor recorded are the stacks of the program" {
	python3 "$ROOT/t/tools/perf_made.py"
	rows lbr.data stack >have
	diff have - <<-'END'
		{"stack":["<401b68>","<42089e>","<401581>","<417a53>","<41b3b0>"]}
		{"stack":["<401b68>","<42089e>","<401581>","<417a53>","<41b3b0>","<ffffffffffffe000>","<fffffffffffff000>"]}
		{"stack":["<fffffffffffff000>"]}
		{"stack":["<77>","<41b47f>"]}
	END
	rows lbr.data branch_stack | grep -c 0x420410 >have
	assert_equal "$(cat have)" 3
}

@test "raw data and a branch stack in one sample are two fields" {
	python3 "$ROOT/t/tools/perf_made.py"
	rows branches.data args >have
	diff have - <<-'END'
		{"args":{"period":5,"raw":"726177206461746100000000","branch_stack":["0x417a53","0x41b3b0","0x0","0x401581","0x417a30","0x0"]}}
		{"args":{"period":6,"raw":"72617700","branch_stack":[]}}
	END
}

# the counts that perf script prints
@test "counters of a group are found by their ids, in any order and with any period" {
	python3 "$ROOT/t/tools/perf_made.py"
	for name in after before period; do
		rows group-$name.data args >have
		diff have - <<-'END' || fail "$name"
			{"args":{"period":4000,"instructions:HG":3000,"cache-references:HG":70}}
			{"args":{"period":4000,"instructions:HG":4500,"cache-references:HG":20}}
		END
	done
	# later samples read more
	rows group-grows.data args >have
	diff have - <<-'END'
		{"args":{"period":4000}}
		{"args":{"period":4000}}
		{"args":{"period":4000,"instructions:HG":30}}
		{"args":{"period":4000,"instructions:HG":10}}
		{"args":{"period":4000,"instructions:HG":10,"cache-references:HG":7}}
		{"args":{"period":4000,"instructions:HG":10,"cache-references:HG":0}}
	END
}

@test "--sysroot: the programs by which stacks are unwound; others are refused by their build-id" {
	record_deep
	# without the copies that perf keeps
	export HOME=$PWD/home
	trdecode -q deep.data | trencode -q -t csv -c stack >want
	mkdir -p "root$PWD"
	mv deep "root$PWD/"
	ln -s /usr root/usr
	run -0 --separate-stderr trdecode -o bare.trs deep.data
	[[ $stderr == *"deep.data: 1 file could not be read to unwind stacks; the first: $PWD/deep: cannot open"* ]]
	run -0 --separate-stderr trdecode --sysroot=root -o root.trs deep.data
	assert_equal "$stderr" ''
	trencode -q -t csv -c stack root.trs | cmp want -
	run ! cmp -s bare.trs root.trs
	sed -i 's/< 3/< 4/' deep.c
	gcc -O2 -pthread -o deep deep.c
	run -0 --separate-stderr trdecode -o /dev/null deep.data
	[[ $stderr == *"$PWD/deep: build-id "*' differs from '*' in the trace' ]]
	# not a file, and no program
	rm deep && mkfifo deep
	run -0 --separate-stderr timeout 20 trdecode -o /dev/null deep.data
	rm deep && head -c 5000 /dev/urandom >deep
	run -0 --separate-stderr trdecode -o /dev/null deep.data
	[[ $stderr == *'not an ELF file'* ]]
}

@test "what perf keeps in ~/.debug: stacks and names of programs that are stripped, changed or gone" {
	need objcopy
	local HOME=$PWD/home
	export HOME
	record_deep -g -Wl,--build-id
	id=$(readelf -n deep | awk '/Build ID/ { print $3 }')
	copies=$HOME/.debug/.build-id/${id:0:2}/${id:2}
	rm -rf "$HOME/.debug"
	trdecode -q deep.data | trsym -q -l | trencode -q -t csv -c stack,file,line >want
	grep -q 'deep.*deep.*deep.c' want
	mv deep whole
	objcopy -S whole bare
	printf 'int main(void) { return 0; }\n' >other.c
	gcc -Wl,--build-id -o other other.c
	# nothing is found: one line for the module
	cp bare deep
	trdecode -q deep.data >deep.trs
	run -0 --separate-stderr trsym -o out.trs deep.trs
	assert_equal "$(grep -cF "$PWD/deep: no symbols: the file has no .symtab, and its debug file is not found" <<<"$stderr")" 1
	run -0 --separate-stderr trsym --report -o out.trs deep.trs
	assert_regex "$stderr" " 0 +[1-9][0-9]*  file    $PWD/deep: the file has no .symtab"
	mkdir -p "$copies"
	# as perf has them: the program, beside it a debug file; only the debug file has symbols
	for kept in elf debug both; do
		rm -f "$copies"/*
		case $kept in
		elf) cp whole "$copies/elf" ;;
		debug) objcopy --only-keep-debug whole "$copies/debug" && cp bare "$copies/elf" ;;
		both) cp bare "$copies/debug" && cp whole "$copies/elf" ;;
		esac
		for program in bare other none; do
			rm -f deep
			[ $program = none ] || cp $program deep
			run -0 --separate-stderr trdecode -o deep.trs deep.data
			assert_equal "$stderr" ''
			trsym -l deep.trs 2>err | trencode -q -t csv -c stack,file,line | cmp want -
			run ! grep -F "$PWD/deep" err
		done
	done
	# an older perf links the program; a copy of another build is none
	rm -r "$copies"
	cp whole "$HOME/kept"
	ln -s "$HOME/kept" "$copies"
	trdecode -q deep.data | trsym -q -l | trencode -q -t csv -c stack,file,line | cmp want -
	cp other "$HOME/kept"
	run -0 --separate-stderr trdecode -o deep.trs deep.data
	[[ $stderr == *"the first: $PWD/deep: cannot open"* ]]
}

@test "larger recordings, and those of others: kernels 3.2 to 4.14, 32 bits, format 1, pipes, compression" {
	need_shared perf/pub
	for name in fp pipe two; do
		compare "$RECORDED/perf/$name.data" "$RECORDED/perf/$name.data.script.txt" || fail "$name"
	done
	# perf unwinds these stacks; the libraries are seldom those of this machine
	compare "$RECORDED/perf/dwarf.data" "$RECORDED/perf/dwarf.data.script.txt" --skip-stacks
	cd "$RECORDED/perf/pub" || return
	samples() {
		trdecode -q "$1" | trfilter -qc 'kind == "sample"'
	}
	# the numbers of perf script and of the text beside the file
	while read -r name number; do
		assert_equal "$name $(samples "$name")" "$name $number"
	done <<-'END'
		quipper-perf.data.armv7.perf_3.14-3.8 700
		quipper-perf.data.group_desc-4.14 13
		quipper-perf.data.lost_samples-4.4 191
		quipper-perf.data.piped.no_attr_ids-4.14 7
		quipper-perf.data.remmap-3.2 198
		quipper-perf.data.singleprocess-3.4 77
		sleep.compressed.data 8
		sleep.compressed.pipe.data 8
		sleep.data 7
		hotspot-perf.data.true.v1 0
		hotspot-perf.data.true.v2 1
		hotspot-perf.data.true.v2.gz 1
	END
	for file in *.pb_text; do
		assert_equal "$(samples "${file%.pb_text}")" "$(grep -c 'sample_event {' "$file")"
	done
	# perf reads no COMPRESSED2 yet: the twin without
	assert_equal "$(samples sleep.compressed2.data)" 7
	# this file ends with the messages of perf record
	run -1 trdecode -o /dev/null sleep.compressed2.pipe.data
	assert_output --partial '0x7c40: the file ends inside of a record'
	# lost samples are gaps
	run -0 pipe 'trdecode -q quipper-perf.data.lost_samples-4.4 | trencode -q -t csv -c kind | grep -c gap'
	assert_output 2
	run -1 trdecode -o /dev/null quipper-perf.data.piped.corrupted.zero_size_sample-3.2
	assert_output --partial '0xbfd0: a record of type 9 with 0 bytes'
}

@test "fresh recordings: a clock, call chains, two events, a group, tracepoints" {
	record clock -F 4000 -e cpu-clock
	script clock
	compare clock.data clock.txt
	record two -F 4000 -e cpu-clock -e task-clock -g
	script two
	compare two.data two.txt
	record packed -z -F 4000 -e cpu-clock -g
	script packed
	compare packed.data packed.txt
	record counted -c 100000 -e task-clock -d --phys-data
	script counted
	compare counted.data counted.txt
	record points -e sched:sched_switch -e raw_syscalls:sys_enter -g
	script points
	compare points.data points.txt
}

@test "fresh recordings of other kinds: a clock by name, groups, switches, cgroups, namespaces, page sizes, registers" {
	# record and script pass over what this machine cannot record
	while read -r name options; do
		# shellcheck disable=SC2086
		perf record -q -o $name.data $options sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; ls / >/dev/null' \
			>/dev/null 2>err || continue
		script "$name"
		compare "$name.data" "$name.txt" || fail "$name"
		recorded+=" $name"
	done <<-'END'
		clock -k CLOCK_MONOTONIC -e cpu-clock -g
		group -e {cpu-clock,task-clock,page-faults}:S
		chains -e {task-clock,page-faults}:S -g -c 500000
		switches -a --switch-events -e cpu-clock
		spaces --all-cgroups --namespaces --buildid-mmap -e cpu-clock
		pages --data-page-size --code-page-size -d -W --transaction -e page-faults
		registers --user-regs=ip,sp,bp --intr-regs=ip,sp -e cpu-clock
		ids --sample-identifier --sample-cpu -s -e cpu-clock,task-clock
		overwritten --overwrite -e cpu-clock
		offcpu --off-cpu -e cpu-clock
	END
	[ -n "${recorded:-}" ] || skip "perf record: $(tail -n 1 err)"
	if [ -f clock.txt ]; then
		# the wall time of the recording is near
		time=$(trdecode --info clock.data | sed -n 's/^wall time *\([0-9]*\) ns at .*/\1/p')
		((time / 1000000000 - $(date +%s) < 600 && $(date +%s) - time / 1000000000 < 600))
	fi
}

@test "samples of a clock without periods: with a frequency each counts 1, which is no time" {
	for options in '-F 1000 --no-period' '-F 1000' '-c 250000 --no-period'; do
		# shellcheck disable=SC2086
		record clock $options -e cpu-clock
		perf script -i clock.data -F comm,tid,event 2>/dev/null | grep -c . >samples
		have=$(trdecode -q clock.data | trfilter -q 'kind == "sample"' | trstat -q -g type -c count,total | tail -n 1)
		case $options in
		*'1000 --no-period') assert_regex "$have" "^ *$(cat samples) +$(cat samples) +cpu-clock" ;;
		*) assert_regex "$have" "^ *$(cat samples) +[0-9.]+ [mu]?s +cpu-clock" ;;
		esac
	done
}

@test "threads without a recorded name have the one that perf prints" {
	record named -F 2000 -g -e cpu-clock
	# the records COMM (3) become ITRACE_START (12), which names no thread; the numbers of a thread become -1
	python3 - <<-'END'
		import struct
		data = bytearray(open("named.data", "rb").read())
		at, size = struct.unpack_from("<QQ", data, 40)
		end, samples = at + size, 0
		while at < end:
		    kind, misc, n = struct.unpack_from("<IHH", data, at)
		    if kind == 3:
		        data[at] = 12
		    samples += kind == 9
		    if kind == 9 and samples % 5 == 0:
		        data[at + 16:at + 24] = b"\xff" * 8
		    at += n
		open("unnamed.data", "wb").write(data)
	END
	perf script -i unnamed.data -F comm,tid,time,event 2>/dev/null | sed -E 's/^ *(:?\S+) +(-?[0-9]+) .*/\1/' >theirs
	grep -q '^:[0-9]' theirs && grep -qx -e ':-1' theirs
	trdecode -q unnamed.data | trencode -q -t csv -c kind,comm | sed -n 's/^sample,//p' | diff theirs -
	perf script -i unnamed.data 2>/dev/null | trdecode -f perf-script | trencode -q -t folded | sed 's/;.*//' | sort -u >theirs
	trdecode -q unnamed.data | trencode -q -t folded 2>/dev/null | sed 's/;.*//' | sort -u | diff theirs -
}

@test "a pipe, as it is recorded" {
	need perf
	perf record -q -F 4000 -e cpu-clock -g -o - sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' \
		>pipe.data 2>err || skip "perf record: $(tail -n 1 err)"
	script pipe
	compare pipe.data pipe.txt
	trdecode -o file.trs pipe.data
	trdecode <pipe.data -o piped.trs
	diff <(trencode -q -t csv file.trs) <(trencode -q -t csv piped.trs)
	# perf record ends only after this program has read
	run -0 pipe 'perf record -q -F 1000 -e cpu-clock -o - sh -c "sleep 0.1; echo >&2" 2>/dev/null | trdecode | trfilter -c 1'
}

@test "functions are those of perf script: of the kernel by kallsyms, of programs by their files" {
	[ "$(id -u)" = 0 ] && [ -r /proc/kallsyms ] || skip 'only root sees the addresses of the kernel'
	record names -F 4000 -e cpu-clock -g
	perf script -i names.data --no-inline -F ip,sym 2>/dev/null |
		awk 'NF { print $2 }' | sed 's/@.*//' | sort >theirs
	# names PROGRAM...: the names of all frames after trsym
	names() {
		trdecode names.data | "$@" -q --demangle=no >names.trs
		python3 "$ROOT/t/tools/trstream.py" names.trs | jq -r '.stack // [] | .[]' |
			sed 's/^<[0-9a-f]*>$/[unknown]/; s/@.*//'
	}
	names trsym | sort >ours
	assert_equal "$(wc -l <ours)" "$(wc -l <theirs)"
	# of several names of one address the two choose differently
	both=$(comm -12 theirs ours | wc -l)
	echo "$both of $(wc -l <ours) frames"
	((both * 100 >= $(wc -l <ours) * 95 && both > 100))

	# the kallsyms of another boot: all addresses are 32 MiB higher
	names trsym >all
	python3 -c 'import sys
for line in sys.stdin:
	print("%016x" % (int(line[:16], 16) + (1 << 25)) + line[16:], end="")' </proc/kallsyms >moved
	names trsym --kallsyms moved | diff all -
	# what perf has copied, of a kernel that does not run here
	id=$(perf buildid-list -i names.data | sed -n 's/ \[kernel.kallsyms\]$//p')
	mkdir -p "root$HOME/.debug/.build-id/${id:0:2}/${id:2}"
	cp moved "root$HOME/.debug/.build-id/${id:0:2}/${id:2}/kallsyms"
	trdecode names.data | trsym --sysroot "$PWD/root" --report 2>&1 >/dev/null | grep -E ' 0  kernel  .kernel.kallsyms.$'
	rm -r root
	trdecode names.data | trsym --sysroot "$PWD" --report 2>&1 >/dev/null |
		grep -F "[kernel.kallsyms]: no kallsyms and no vmlinux of its build-id $id (see --kallsyms)"
}

@test "code whose place in memory is not that in the file, as lld writes programs: names, lines and stacks" {
	need perf cc
	cat >moved.c <<-'END'
		volatile unsigned long sink;
		__attribute__((noinline)) static void hot(unsigned long n) { while (n--) sink += n; }
		__attribute__((noinline)) static void middle(unsigned long n) { hot(n); sink++; }
		int main(void) { for (int i = 0; i < 20; i++) middle(2000000); return 0; }
	END
	cc -O1 -g -no-pie -Wl,--section-start=.text=0x900000 -o moved moved.c
	perf record -q -F 1000 -e cpu-clock:u --call-graph dwarf,4096 -o moved.data ./moved 2>err ||
		skip "perf record: $(tail -n 1 err)"
	want=$(perf script -i moved.data --no-inline -F ip,sym 2>/dev/null |
		awk '$2 ~ /^(hot|middle|main)$/ { n[$2]++ } END { for (name in n) print name, n[name] }' | sort)
	[[ $want == *middle* ]]
	for options in -q -qi; do
		assert_equal "$(trdecode -q moved.data | trsym $options | trencode -q -t folded --weight count |
			awk '{ count = $NF; sub(/ [0-9]+$/, ""); split($0, frame, ";"); for (i in frame) n[frame[i]] += count }
				END { for (name in n) if (name ~ /^(hot|middle|main)$/) print name, n[name] }' | sort)" "$want"
	done
	run -0 pipe "trdecode -q moved.data | trsym -ql | trencode -q -t ndjson"
	assert_output --partial 'moved.c'
}

@test "--info: facts that the recording has about itself" {
	run -0 trdecode --info "$here/group.data"
	assert_line --regexp '^format +perf$'
	assert_line --regexp '^events +cycles'
	assert_line --regexp '^host '
	assert_line --regexp '^command +/usr/bin/perf record'
	run -0 pipe 'trdecode --info --json '"$here"'/zstd.data | jq -r ".[0].format"'
	assert_output perf
}

@test "a cut file: the samples before the cut, status 1 and the place" {
	size=$(stat -c %s "$here/flat.data")
	trdecode "$here/flat.data" | trfilter 'kind == "sample"' | trencode -q -t csv -c time,tid | tail -n +2 >flat.csv
	for part in $(seq 39); do
		head -c $((size * part / 40)) "$here/flat.data" >cut.data
		run --separate-stderr trdecode -o cut.trs cut.data
		((status == 1 || status == 2)) || fail "cut at $((size * part / 40)): status $status"
		[ -n "$stderr" ]
		((status == 2)) && continue
		trfilter -q 'kind == "sample"' cut.trs 2>/dev/null | trencode -q -t csv -c time,tid 2>/dev/null | tail -n +2 >cut.csv || true
		# what is there is in the whole recording
		[ -z "$(comm -13 <(sort flat.csv) <(sort cut.csv))" ] || fail "cut at $((size * part / 40))"
	done
	[ -s cut.csv ]
}

@test "a recording that perf did not end: the records up to the end of the file, status 1" {
	# without the features, which follow the records
	python3 - "$here/flat.data" <<-'END'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at, size = struct.unpack_from("<QQ", data, 40)
		struct.pack_into("<Q", data, 48, 0)
		open("open.data", "wb").write(data[:at + size])
	END
	run -1 --separate-stderr trdecode -o open.trs open.data
	assert_equal "$stderr" "trdecode: open.data: 0x28: the size of the records is 0 (perf record did not end): they are read up to the end of the file"
	diff <(trencode -q -t csv -c time,tid,stack open.trs) <(trdecode "$here/flat.data" | trencode -q -t csv -c time,tid,stack)
}

@test "changed bytes: no crash, no endless loop" {
	for name in group zstd pipe-zstd switch; do
		for seed in $(seq 25); do
			perl -0777 -e 'srand shift; $_ = <STDIN>; for my $i (1 .. 3) { vec($_, int rand 8 * length, 1) ^= 1 } print' \
				$seed <"$here/$name.data" >bad.data
			status=0
			timeout 20 trdecode -q -o bad.trs bad.data 2>/dev/null || status=$?
			((status <= 2)) || fail "$name, seed $seed: status $status"
		done
	done
}

@test "changed bytes in recorded stacks: no crash, no endless loop" {
	record_deep
	for seed in $(seq 25); do
		perl -0777 -e 'srand shift; $_ = <STDIN>; for my $i (1 .. 300) { vec($_, int rand 8 * length, 1) ^= 1 } print' \
			$seed <deep.data >bad.data
		status=0
		timeout 20 trdecode -q -o bad.trs bad.data 2>/dev/null || status=$?
		((status <= 2)) || fail "seed $seed: status $status"
	done
}

@test "counts of perf stat are no events, and a remark reports them" {
	need perf
	perf stat record -a -e task-clock,page-faults -o x.data -- true >/dev/null 2>err || skip "perf stat record: $(tail -n 1 err)"
	counts=$(perf report -D -i x.data 2>/dev/null | grep -cE 'PERF_RECORD_STAT *$')
	((counts))
	run -0 --separate-stderr trdecode -o x.trs x.data
	assert_regex "$stderr" "x.data: $counts counts of perf stat were left out: use perf stat report"
}

@test "tracepoints from a pipe have their fields" {
	need perf
	perf record -q -a -e sched:sched_switch -o - sleep 0.2 >x.pipe 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i x.pipe -F event,trace 2>/dev/null | sed -nE 's/.* next_pid=([0-9]+) .*/\1/p' >want
	[[ -s want ]] || skip 'perf script: no switches'
	trdecode x.pipe | trencode -q -t tsv -c next_pid | sed 1d | grep . >have
	diff want have
}

@test "directories of perf record: --threads has the samples in files beside data, --kcore in data" {
	record threads --threads -F 5000 -g
	script threads
	[[ $(find threads.data -name 'data.*' -size +0 | wc -l) -ge 1 ]]
	compare threads.data threads.txt
	run -2 --separate-stderr trdecode -o x.trs threads.data/data
	assert_equal "$stderr" 'trdecode: threads.data/data: the samples are in files beside it: name the directory'
	# one of several files is cut: the others are whole, and the damage has the name of the file
	cp -r threads.data cut
	last=$(find cut -name 'data.*' -size +0 | sort | tail -n 1)
	truncate -s -4 "$last"
	run -1 --separate-stderr trdecode -o x.trs cut
	assert_regex "$stderr" "^trdecode: $last: 0x[0-9a-f]+: "
	samples() {
		trfilter -q 'kind == "sample"' "$1" | trstat -q -t tsv -g type -c count | sed 1d | awk '{ n += $NF } END { print n }'
	}
	trdecode -o all.trs threads.data
	((all = $(samples all.trs), most = $(samples x.trs)))
	((most == all || most == all - 1))
	# a file is missing; whether it was the last one is not recorded
	cp -r threads.data holes
	[ -e holes/data.0 ]
	mv holes/data.0 holes/data.7
	for missing in 0 1; do
		run -1 --separate-stderr trdecode -o x.trs holes
		assert_equal "$stderr" "trdecode: holes/data.$missing: the file of the directory is missing"
		[ -e holes/data.1 ] || break
		mv holes/data.1 holes/data.0
	done
	rm holes/data.*
	run -1 --separate-stderr trdecode -o x.trs holes
	assert_equal "$stderr" 'trdecode: holes/data.0: the file of the directory is missing'
	# an archive of the directory, with and without its own name
	tar -cf x.tar threads.data
	tar -cf y.tar -C threads.data .
	for archive in x y; do
		trdecode -o $archive.trs $archive.tar
		diff <(trencode -q -t ndjson $archive.trs) <(trencode -q -t ndjson all.trs)
	done
	tar -cf z.tar cut
	run -1 --separate-stderr trdecode -o z.trs z.tar
	run -1 trdecode -o x.trs cut
	assert_equal "${stderr#*z.tar/}" "${output#*cut/}"
	record kcore -g
	script kcore
	mkdir -p kcore/kcore_dir
	mv kcore.data kcore/data
	: >kcore/kcore_dir/kallsyms
	compare kcore kcore.txt
}

@test "stacks are unwound after a sample in a mapping that ends beyond the last address" {
	need readelf
	local text
	read -ra text < <(readelf -lW /bin/true | awk '$1 == "LOAD" && / R E / { print $2, $5 }')
	for mode in good lost uaf; do
		python3 "$ROOT/t/tools/unwind_wrap.py" $mode $mode.data "${text[0]}" 0x2000 0x100
		trdecode -q $mode.data | trencode -q -t folded >$mode.folded
	done
	# ordinary mappings have the stacks that they have without the other one; its sample has its address
	LC_ALL=C sort good.folded >want
	[[ $(head -n 1 want) == *';'*';'*';'* ]] || skip "readelf: the text of /bin/true has no tables there"
	run -0 grep -c . lost.folded
	assert_output 4
	run -0 grep -vxFf want lost.folded
	assert_output ':100;<ffffffffffffd100> 1000'
	# the first four mappings have another sample after it
	sed -E 's/^(.*;<1[0-3]0000100>) 1000$/\1 2000/' want >twice
	run -0 grep -vxFf twice uaf.folded
	assert_output ':100;<ffffffffffffd100> 1000'
	run -0 grep -c . uaf.folded
	assert_output 17
}
