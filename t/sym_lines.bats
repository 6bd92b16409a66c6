# trsym -l and --kallsyms: source lines of functions, names of a kernel that came without.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	command -v uftrace >/dev/null && command -v gcc >/dev/null && record
	return 0
}

# A program with inlined functions, in two files, recorded with and without lines.
record() {
	cat >part.h <<-'END'
		static volatile int sum;
		static inline __attribute__((always_inline)) int leaf(int x) { sum += x; return x * 3; }
		static inline __attribute__((always_inline)) int middle(int x)
		{
			return leaf(x) + leaf(x + 1);
		}
	END
	cat >prog.c <<-'END'
		#include "part.h"
		__attribute__((noinline)) int
		outer(int x)
		{
			int s = middle(x);

			return s + sum;
		}
		extern int other(int x);
		int main(int argc, char **argv)
		{
			return other(outer(argc)) == 12345;
		}
	END
	mkdir sub
	cat >sub/other.c <<-'END'


		int other(int x)
		{
			return x + 1;
		}
	END
	build -g || return 0
	uftrace record --srcline -d lines.data ./prog >/dev/null 2>&1 || return 0
	cp -r lines.data plain.data
	rm plain.data/*.dbg
	trdecode lines.data >lines.trs
	trdecode plain.data >plain.trs
	cp prog prog.kept
}

# The program again: the same code, so the same build-id where the debug information is the same.
build() {
	gcc -O2 -pg "$@" -Wl,--build-id -o prog prog.c sub/other.c
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	[[ -f prog.kept ]] && cp prog.kept prog
	return 0
}

need_recording() {
	[ -s plain.trs ] || skip 'no uftrace or gcc to record with'
}

# name, basename of the file, line
lines() {
	trstat -q -t tsv -g name,file,line -c count -s name |
		awk -F '\t' -v OFS='\t' 'NR > 1 && $2 != "" { sub(".*/", "", $2); print $1, $2, $3 }'
}

@test "lines are those that uftrace shows, recorded or from the program" {
	need_recording
	uftrace report -d lines.data --srcline 2>/dev/null |
		sed -nE 's|.* ([a-z_]+) \[(.*/)?([^/]*):([0-9]+)\]$|\1\t\3\t\4|p' | sort >theirs
	[ "$(wc -l <theirs)" -eq 3 ]
	trsym -l lines.trs | lines | diff theirs -
	trsym -l plain.trs | lines | diff theirs -
	trsym --lines plain.trs | lines | diff theirs -
	run -0 --separate-stderr pipe "trsym -l plain.trs | trfilter 'name == \"other\"' | trstat -q -t tsv -g file,line -c count"
	assert_line "$(printf '%s/sub/other.c\t3\t1' "$PWD")"
	[ -z "$stderr" ]
}

@test "without -l no file is opened for them, and streams are the same" {
	need_recording
	trsym lines.trs >a.trs
	rm prog
	trsym lines.trs >b.trs
	cmp a.trs b.trs
	run -0 --separate-stderr trsym -l -o b.trs lines.trs
	[ -z "$stderr" ]
	lines <b.trs | grep -q 'prog.c'
}

@test "as conditions, and in profiles" {
	need_recording
	trsym -l plain.trs >l.trs
	run -0 pipe "trfilter 'file == \"prog.c\" && line < 5' l.trs | trstat -q -t tsv -g name -c count"
	assert_line "$(printf 'outer\t1')"
	refute_output --partial main
	run -0 pipe "trfilter 'file =~ \"sub/\"' l.trs | trstat -q -t tsv -g name -c count"
	assert_line "$(printf 'other\t1')"
	run -0 pipe 'trencode -q -t callgrind l.trs | grep -A 1 -E "^(fl|cfi)=.*other.c"'
	assert_output --partial other
	run -0 pipe 'trencode -q -t speedscope l.trs'
	assert_output --partial "\"file\":\"$PWD/sub/other.c\",\"line\":3"
	run -0 pipe 'trencode -q -t pprof l.trs | gzip -d | strings'
	assert_output --partial "$PWD/sub/other.c"
	run -0 pipe 'trdecode l.trs | trstat -q -t tsv -g file -c count'
	assert_output --partial "$PWD/sub/other.c"
}

@test "a second trsym without -l leaves the lines" {
	need_recording
	trsym -l plain.trs | lines >with
	[ -s with ]
	trsym -l plain.trs | trsym | lines | diff with -
	trsym plain.trs | trsym -l | lines | diff with -
	trsym -l plain.trs | trsym --demangle=full | lines | diff with -
}

@test "compressed, split and separate debug information" {
	need_recording
	trsym -l plain.trs | lines >want
	for how in '-g -gz' '-g -gdwarf-4' '-g -gsplit-dwarf' '-g1'; do
		# shellcheck disable=SC2086
		build $how
		# another build-id: as a recording without one
		rm -rf any.data
		cp -r plain.data any.data
		sed -i 's/ build-id:.*//' any.data/*.map
		sed -i '/^# build-id/d' any.data/*.sym
		trdecode any.data | trsym -l | lines | diff want -
	done
	rm -f ./*.dwo
	run -0 --separate-stderr pipe 'trdecode any.data | trsym -l | trstat -q -g name,line -c count'
	[ -z "$stderr" ]
	# beside the program, by .gnu_debuglink
	cp prog.kept prog
	mkdir -p .debug
	objcopy --only-keep-debug prog .debug/prog.debug
	strip prog
	run -0 --separate-stderr pipe 'trsym -l plain.trs | trstat -q -t tsv -g line -c count'
	[[ $stderr == *"trsym: $PWD/prog: no source lines: has no debug information"* ]]
	(cd .debug && objcopy --add-gnu-debuglink=prog.debug ../prog)
	trsym -l plain.trs | lines | diff want -
	# by build-id, below --sysroot
	id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
	mkdir -p "root$PWD" "root/usr/lib/debug/.build-id/${id:0:2}"
	mv .debug/prog.debug "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	cp prog "root$PWD/prog"
	rm prog
	trsym -l --sysroot=root plain.trs | lines | diff want -
	# which does without the program, and for symbols too
	rm "root$PWD/prog"
	trsym -l --sysroot=root plain.trs | lines | diff want -
	rm -rf bare.data
	cp -r plain.data bare.data
	rm -f bare.data/*.sym
	trdecode bare.data | trsym -l -q --sysroot=root | lines | diff want -
	run -0 --separate-stderr pipe 'trsym -l --sysroot=nowhere plain.trs | trstat -q -c count'
	[[ $stderr == *"no source lines: cannot open: No such file or directory"* ]]
	assert_output --partial outer
}

@test "what clang writes" {
	need_recording
	need clang
	trsym -l plain.trs | lines >want
	clang -O2 -pg -g -Wl,--build-id -o prog prog.c sub/other.c
	uftrace record -d clang.data ./prog >/dev/null 2>&1 || skip 'uftrace records no such program'
	rm -f clang.data/*.dbg
	trdecode clang.data | trsym -l | lines | diff want -
}

@test "from a debuginfod server" {
	need_recording
	need debuginfod
	trsym -l plain.trs | lines >want
	mkdir -p served
	objcopy --only-keep-debug prog served/prog.debug
	strip prog
	port=$((20000 + RANDOM % 20000))
	debuginfod -p $port -d :memory: -F served >debuginfod.log 2>&1 3>&- &
	server=$!
	id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
	for _ in {1..50}; do
		grep -q "$id\|scanned=1" debuginfod.log && break
		sleep 0.1
	done
	export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$PWD/cache
	for _ in {1..50}; do
		trsym -q -l plain.trs | lines >got
		[ -s got ] && break
		rm -rf cache
		sleep 0.1
	done
	kill $server
	unset DEBUGINFOD_URLS
	diff want got
}

@test "a program of another build, and what is no program" {
	need_recording
	sed -i 's/x + 1/x + 2/' sub/other.c
	build -g
	run -0 --separate-stderr pipe 'trsym -l plain.trs | trstat -q -t tsv -g name,file -c count'
	[[ $stderr == *"trsym: $PWD/prog: no source lines: "*"build-id "*" differs from "*" in the trace"* ]]
	assert_line "$(printf 'outer\t\t1')"
	echo 'no program' >prog
	run -0 --separate-stderr pipe 'trsym -l --report plain.trs | trstat -q -t tsv -g name,file -c count'
	[[ ${stderr_lines[0]} =~ found\ +missed\ +lines\ +from ]]
	[[ $stderr == *"  0  stream  $PWD/prog: no source lines: not an ELF file"* ]]
	: >prog
	run -0 --separate-stderr pipe 'trsym -l plain.trs | trstat -q -c count'
	[[ $stderr == *'not an ELF file'* ]]
	rm prog
	mkfifo prog
	run -0 --separate-stderr timeout 10 trsym -l -o out.trs plain.trs
	[[ $stderr == *'cannot open'* ]]
	rm prog
	head -c 3000 prog.kept >prog
	run -0 timeout 10 trsym -q -l -o out.trs plain.trs
	run -0 pipe 'trsym -l -q plain.trs | trstat -q -t tsv -c count'
	assert_output --partial outer
}

@test "a program of 32 bits" {
	echo 'int main(void) { return 0; }' >m.c
	gcc -m32 -O0 -pg -g -o m m.c 2>/dev/null || skip 'no compiler for 32 bits'
	timeout 20 uftrace record --srcline -d m.data ./m >/dev/null 2>&1 || skip 'uftrace records no such program'
	trdecode m.data | trsym -l | lines >with
	rm -f m.data/*.dbg
	trdecode m.data | trsym -l | lines | diff with -
	grep -q "^main	m.c	1$" with
}

# --- --kallsyms ---

# A little-endian u32
u32() {
	printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) \
		$(($1 >> 16 & 255)) $(($1 >> 24 & 255)))"
}

# kernel.dat: v6-fgraph.dat without its kallsyms, which are left in the file kallsyms
without_kallsyms() {
	local at size next
	cp "$DATA/trace-cmd/v6-fgraph.dat" kernel.dat
	at=$(LC_ALL=C grep -aobP '[0-9a-f]{16} A ksoftirqd' kernel.dat | head -n 1)
	at=$((${at%%:*} - 4))
	size=$(od -An -tu4 -j $at -N 4 kernel.dat)
	tail -c +$((at + 5)) kernel.dat | head -c $((size)) >kallsyms
	next=$(od -An -tu4 -j $((at + 4 + size)) -N 4 kernel.dat)
	# they become a part of the table of formats after them
	{ u32 0 && u32 $((size + next)); } | dd of=kernel.dat bs=1 seek=$at conv=notrunc status=none
}

@test "--kallsyms names a kernel that came without" {
	without_kallsyms
	trdecode "$DATA/trace-cmd/v6-fgraph.dat" | trsym | trstat -q >want
	run -0 --separate-stderr pipe 'trdecode kernel.dat | trsym | trstat -q'
	assert_output --partial '<ffffffff81'
	[[ $stderr == *'trsym: [kernel]: no symbols: the trace has no kallsyms (see --kallsyms)'* ]]
	trdecode kernel.dat | trsym --kallsyms=kallsyms | trstat -q | diff want -
	run -0 --separate-stderr pipe 'trdecode kernel.dat | trsym --kallsyms=kallsyms --report >out.trs'
	[[ $stderr == *'49          0  option  [kernel]'* ]]
}

@test "and the addresses in its events, in text and in a trace made again" {
	without_kallsyms
	trdecode "$DATA/trace-cmd/v6-fgraph.dat" | trsym | trencode -q >want
	trdecode kernel.dat | trsym --kallsyms=kallsyms | trencode -q | diff want -
	trdecode --segment 10K kernel.dat | trsym --kallsyms=kallsyms | trencode -q | diff want -
	need trace-cmd
	trdecode kernel.dat | trsym --kallsyms=kallsyms | trencode -q -t trace-cmd -o again.dat
	trace-cmd report again.dat | diff <(trace-cmd report "$DATA/trace-cmd/v6-fgraph.dat") -
}

@test "a trace's own table comes first" {
	without_kallsyms
	sed 's/$/_wrong/' kallsyms >wrong
	trdecode "$DATA/trace-cmd/v6-fgraph.dat" | trsym | trstat -q >want
	trdecode "$DATA/trace-cmd/v6-fgraph.dat" | trsym --kallsyms=wrong | trstat -q | diff want -
	# unless its addresses were hidden
	LC_ALL=C sed 's/^ffffffff[0-9a-f]\{8\} \([a-zA-Z] \)/0000000000000000 \1/' \
		"$DATA/trace-cmd/v6-fgraph.dat" >hidden.dat
	trdecode hidden.dat | trsym --kallsyms=kallsyms | trstat -q | diff want -
}

@test "a copy of kallsyms that is none" {
	without_kallsyms
	sed 's/^[0-9a-f]*/0000000000000000/' kallsyms >zero
	run -2 --separate-stderr trsym --kallsyms=zero </dev/null
	assert_equal "$stderr" 'trsym: zero: every address is 0: copy the file as root (see kernel.kptr_restrict)'
	run -2 --separate-stderr trsym --kallsyms=/dev/null </dev/null
	assert_equal "$stderr" 'trsym: /dev/null: not a copy of /proc/kallsyms'
	run -2 --separate-stderr trsym --kallsyms=none </dev/null
	assert_equal "$stderr" 'trsym: none: cannot open: No such file or directory'
	run -2 --separate-stderr trsym --kallsyms=. </dev/null
	[[ $stderr == 'trsym: .: '*directory ]]
}
