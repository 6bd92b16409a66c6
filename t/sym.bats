# trsym: tables in the stream, files on disk, names, and everything else untouched.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" >raw.trs
	command -v uftrace >/dev/null && record
	return 0
}

# A program of C and C++ with two libraries of one basename, recorded here: its files are on disk.
record() {
	mkdir a b
	for d in a b; do
		printf 'int in_%s(void) { return 1; }\nint f_%s(void) { return in_%s(); }\n' $d $d $d >$d/x.c
		gcc -O0 -g -pg -shared -fPIC -Wl,--build-id -o $d/libx.so $d/x.c || return 0
	done
	cat >main.cc <<-'END'
		extern "C" { int f_a(void); int f_b(void); }
		namespace space { template <class T> struct box { T get(T x) { return x; } }; }
		static int leaf(int x) { space::box<int> b; return b.get(x); }
		int main() { return leaf(f_a() + f_b()) == 99; }
	END
	g++ -O0 -g -pg -Wl,--build-id -o main main.cc a/libx.so b/libx.so -Wl,-rpath,"$PWD" || return 0
	uftrace record -d main.data ./main >/dev/null 2>&1 || return 0
	trdecode main.data >main.trs
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

need_recording() {
	[ -s main.trs ] || skip 'no uftrace, gcc or g++ to record with'
}

names() {
	trstat -q -t tsv -g name,module -c count -s name,module "$@"
}

# The EVENTS blocks of a stream as numbers, a word to a line: kind 3 of the blocks after a marker.
events_blocks() {
	od -An -v -tu4 -w4 "$1" | awk '
		{ w[NR - 1] = $1 + 0 }
		END {
			for (at = 0; at < NR; at += n) {
				if (w[at] != 441668180) { n = 4; continue } # a marker
				n = 6 + 2 * int((w[at + 2] + 7) / 8)
				if (w[at + 1] % 65536 == 3)
					for (i = at; i < at + n; i++)
						print w[i]
			}
		}'
}

@test "functions get the names of the tables in the stream" {
	run -0 pipe 'trsym raw.trs | trstat -t tsv -g name -c count -s name'
	assert_line "$(printf 'fib\t599')"
	assert_line "$(printf 'main\t1')"
	refute_output --partial '<'
	run -0 --separate-stderr trsym -o out.trs raw.trs
	assert_output ''
	[ -z "$stderr" ]
	run -0 pipe 'trsym raw.trs | trstat -t tsv -g module -c count -s module'
	assert_line "$(printf '/opt/example/fib\t1729')"
}

@test "--report says where the symbols came from" {
	run -0 --separate-stderr pipe 'trsym --report raw.trs >out.trs'
	assert_regex "${stderr_lines[0]}" 'found     missed  from    module'
	[[ ${stderr_lines[1]} =~ ^\ +[0-9]+\ +0\ \ stream\ \ /opt/example/fib$ ]]
	run -0 --separate-stderr pipe "trdecode '$RECORDED/uftrace/bad-no-sym' | trsym --report >out.trs"
	[[ $stderr == *'        17  none    /opt/samples/bin/basic: '* ]]
}

@test "all else passes untouched" {
	trsym raw.trs >out.trs
	events_blocks raw.trs >before
	[ "$(wc -l <before)" -gt 1000 ]
	events_blocks out.trs | cmp before -
	for name in args-spec read-events dlopen forkexec new-watch be-synth; do
		trdecode "$RECORDED/uftrace/$name" >r.trs 2>/dev/null
		trsym -q r.trs >s.trs
		events_blocks r.trs >before
		events_blocks s.trs | cmp before -
	done
}

@test "pipe to pipe gives the bytes of file to file" {
	for i in {1..40}; do
		cat raw.trs
	done >many.trs
	trsym <many.trs >file.trs
	# files have checksums in their blocks
	cat many.trs | trsym >half.trs
	cmp half.trs file.trs
	trsym <many.trs | cat >copied.trs
	cat many.trs | trsym | cat | cmp - copied.trs
	names copied.trs >copied
	names file.trs | diff copied -
}

@test "names in the styles of --demangle" {
	need_recording
	run -0 pipe 'trsym main.trs | trstat -t tsv -c count -s name'
	assert_line "$(printf 'space::box::get\t1')"
	run -0 pipe 'trsym --demangle=full main.trs | trstat -t tsv -c count -s name'
	assert_line "$(printf 'space::box<int>::get(int)\t1')"
	run -0 pipe 'trsym --demangle=no main.trs | trstat -t tsv -c count -s name'
	assert_line "$(printf '_ZN5space3boxIiE3getEi\t1')"
	run -2 errors trsym --demangle=some main.trs
	assert_output --partial 'simple, full or no'
}

@test "a second trsym has the last word" {
	need_recording
	trsym --demangle=full main.trs | trstat -t tsv -c count | sort >full
	trsym main.trs | trsym --demangle=full | trstat -t tsv -c count | sort | diff full -
	trsym main.trs | trsym --demangle=no | trsym --demangle=full | trstat -t tsv -c count | sort | diff full -
}

@test "what an earlier trsym found stays where a later one finds nothing" {
	need_recording
	strip_tables
	trdecode bare.data | trsym | names >with
	mv main away
	trdecode bare.data >bare.trs
	mv away main
	trsym bare.trs >named.trs
	mv main away
	trsym -q named.trs | names >again
	trsym -q named.trs | trsym -q | names | diff again -
	mv away main
	diff with again
}

# A copy of the recording without its tables of symbols.
strip_tables() {
	rm -rf bare.data
	cp -r main.data bare.data
	rm bare.data/*.sym
}

@test "without tables the files on disk are read, with the same names" {
	need_recording
	strip_tables
	trsym main.trs | names >stream
	trdecode bare.data | trsym | names | diff stream -
	run -0 --separate-stderr pipe 'trdecode bare.data | trsym --report >out.trs'
	[[ $stderr == *"0  file    $PWD/main"* ]]
	[[ $stderr == *"0  file    $PWD/a/libx.so"* ]]
}

@test "labels of assembler files name the code that no function covers, as perf does" {
	need perf
	cat >a.s <<-'END'
		.macro busy label, count
			mov $\count, %ecx
		\label:
		1:	dec %ecx
			jnz 1b
		.endm
			.text
			.globl _start
		_start:
			busy spin, 200000000
			call helper
			mov $60, %eax
			xor %edi, %edi
			syscall
			.type typed, @function
		typed:
			busy inner, 100000000
			ret
			.size typed, .-typed
		unsized:
			.type unsized, @function
			busy within, 100000000
			call typed
			ret
		helper:
			call unsized
			busy "mapping", 100000000
			ret
			.data
		word:	.quad 1
	END
	gcc -nostdlib -static -o a.out a.s
	perf record -q -e cpu-clock:u -F 999 -o a.data ./a.out 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -F ip,sym -i a.data 2>err | awk 'NF { print $2 }' | sort | uniq -c >want
	names() {
		trdecode -q a.data | trsym -q | trencode -q -t csv -c kind,name | sed -n 's/^sample,//p' | sort | uniq -c
	}
	names | diff want -
	for name in spin typed within mapping; do
		grep -q " $name$" want
	done
	# symbols that tell code from data for ARM and RISC-V name nothing; only labels: names all the same
	sed -i 's/"mapping"/"$x.1"/; /\.type/d; s/spin/.Lspin/' a.s
	gcc -nostdlib -static -o a.out a.s
	perf record -q -e cpu-clock:u -F 999 -o a.data ./a.out 2>err
	names | awk '{ print $2 }' >have
	diff have <(printf '%s\n' _start helper inner within)
}

@test "two modules of one basename have tables of their own" {
	need_recording
	compgen -G 'main.data/libx.so-????.sym' >/dev/null
	run -0 pipe 'trsym main.trs | trstat -q -t tsv -g name,module -c count'
	assert_line "$(printf 'in_a\t%s/a/libx.so\t1' "$PWD")"
	assert_line "$(printf 'in_b\t%s/b/libx.so\t1' "$PWD")"
	refute_output --partial '<'
}

@test "--sysroot finds them elsewhere" {
	need_recording
	strip_tables
	trsym main.trs | names >stream
	mkdir -p "root$PWD"
	mv main a b "root$PWD"
	run -0 pipe 'trdecode bare.data | trsym -q | trstat -q -c count'
	assert_output --partial '<'
	trdecode bare.data | trsym --sysroot=root | names >elsewhere
	mv "root$PWD"/* .
	diff stream elsewhere
}

@test "a file of another build is refused" {
	need_recording
	strip_tables
	grep -q build-id: bare.data/*.map || skip 'this uftrace records no build-ids'
	cp main kept
	echo 'int other(void) { return 1; }' >>main.cc
	g++ -O0 -g -pg -Wl,--build-id -o main main.cc a/libx.so b/libx.so -Wl,-rpath,"$PWD"
	run -0 --separate-stderr pipefail 'trdecode bare.data | trsym | trstat -q -t tsv -g name,module -c count'
	mv kept main
	[[ $stderr == *"trsym: $PWD/main: no symbols: "*build-id* ]]
	assert_line --regexp "$(printf '^<[0-9a-f]+>\t%s/main\t1' "$PWD")"
	assert_line "$(printf 'in_a\t%s/a/libx.so\t1' "$PWD")"
	refute_output --partial leaf
	run -0 --separate-stderr pipe 'rm -f main.gone; mv main main.gone; trdecode bare.data | trsym -q >out.trs'
	mv main.gone main
	[ -z "$stderr" ]
}

@test "libraries loaded at run time, several at one address" {
	for name in dlopen new-dlopen; do
		trdecode "$RECORDED/uftrace/$name" | trsym | trstat -q -t tsv -c count |
			awk 'NR > 1 && !/^linux:task/' | sort >ours
		awk -F , -v OFS='\t' '!/^#/ && NF { print $11, $9 }' \
			"$RECORDED/uftrace/$name.expect/report-ns.csv" | sort | diff - ours
	done
	run -0 pipe "trdecode '$RECORDED/uftrace/dlopen' | trsym | trstat -t tsv -g module -c count"
	assert_output --partial libplug_a.so
	assert_output --partial libplug_b.so
}

@test "damage goes on to the next program" {
	size=$(stat -c %s raw.trs)
	head -c $((size - 3000)) raw.trs >cut.trs
	run -1 --separate-stderr pipe 'trsym cut.trs >out.trs'
	[ -n "$stderr" ]
	run -1 --separate-stderr trstat -t tsv -c count out.trs
	assert_output --partial fib
	run -1 pipe 'trsym <cut.trs | trstat -q | grep -q fib; exit ${PIPESTATUS[1]}'
}

@test "in every segment places get their symbols again" {
	for i in 1 2 3 4 5; do cp -r "$DATA/uftrace/fib" fib$i; done
	trdecode --segment 64K fib? >segments.trs
	mapfile -t at < <(grep -abo 'trstrm1:' segments.trs | cut -d : -f 1)
	[ "${#at[@]}" -gt 2 ]
	trdecode fib? | trsym | names >whole
	trsym <segments.trs >named.trs
	names named.trs | diff whole -
	mapfile -t at < <(grep -abo 'trstrm1:' named.trs | cut -d : -f 1)
	# the last one alone: all functions have names
	tail -c +$((at[-1] + 1)) named.trs >last.trs
	run -1 --separate-stderr trstat -q -t tsv -g name -c count last.trs
	assert_line --regexp '^fib	'
	refute_output --partial '<'
}

@test "a segment without its tables says what is missing" {
	for i in 1 2 3 4 5; do [ -d fib$i ] || cp -r "$DATA/uftrace/fib" fib$i; done
	trdecode --segment 64K fib? >segments.trs
	mapfile -t at < <(grep -abo 'trstrm1:' segments.trs | cut -d : -f 1)
	tail -c +$((at[-1] + 1)) segments.trs >last.trs
	run -1 --separate-stderr pipe 'trsym last.trs >out.trs'
	[[ $stderr == *'/opt/example/fib: no symbols: fib.sym is not in this part of the stream'* ]]
	run -1 --separate-stderr pipe 'trsym -q last.trs | trstat -q -t tsv -c count'
	assert_line --regexp '^<[0-9a-f]+>	'
}

@test "a hostile number of loads does not hang it" {
	cp -r "$RECORDED/uftrace/dlopen" loads
	chmod -R u+w loads
	line=$(grep -m 1 ^DLOP loads/task.txt)
	awk -v line="$line" 'BEGIN { for (i = 0; i < 20000; i++) print line }' >more.txt
	{ grep -v ^DLOP loads/task.txt; cat more.txt; } >task && mv task loads/task.txt
	run -0 pipe 'trdecode loads | timeout 20 trsym -q | trstat -q | grep -c main'
}

@test "a mapping of a later epoch has its addresses, up to its end" {
	run -0 --separate-stderr pipe "trsym --report '$DATA/stream/map-epoch.trs' >out.trs"
	assert_regex "$stderr" '1  none    /lib/liballoc.so: cannot open'
	refute_regex "$stderr" 'lie in no module'
}

@test "the examples of the man page run" {
	mkdir -p examples
	cd examples || return
	ln -sfn "$DATA/uftrace/fib" uftrace.data
	cp "$DATA/trace-cmd/v6-fgraph.dat" trace.dat
	gzip -dc "$DATA/perf/offcpu.data.gz" >perf.data
	cp "$DATA/gmon/gmon.out" .
	gzip -dc "$DATA/gmon/work.gz" >work
	echo 'ffffffff81000000 T _text' >kallsyms.copy
	page_examples trsym >commands
	[ "$(wc -l <commands)" -ge 11 ]
	for option in -i -il -e --kallsyms= --demangle= --sysroot= --report -o; do
		grep -q -- "trsym.* $option" commands || fail "no example of $option"
	done
	while read -r command; do
		bash -o pipefail -c "$command" >out 2>err </dev/null || fail "$command: $(cat err)"
		[ -s out ] || [[ $command =~ \ -o\ |parse.c|/dev/null ]] || fail "$command: no output"
	done <commands
	trencode -q named.trs | grep -q .
}
