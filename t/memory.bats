# Out of memory: each allocation of a run fails once, by t/tools/fail_allocations.c, which says what is
# tested. A run has some 200 allocations and takes about 0.3 s.

load lib

setup_file() {
	cc -shared -fPIC -O1 -o "$BATS_FILE_TMPDIR/fail.so" "$ROOT/t/tools/fail_allocations.c"
}

setup() {
	unsanitized 'it has its own allocator'
	cd "$BATS_TEST_TMPDIR" || return
	trdecode -q -o calls.trs "$DATA/uftrace/fib"
	trdecode -q -o values.trs "$DATA/apitrace/v6.trace"
	trdecode -q -o samples.trs "$DATA/perf/flat.data"
}

# fail_each OUTPUT PROGRAM ARGUMENT...
fail_each() {
	local output=$1
	shift
	FAIL_OUTPUT=$output LD_PRELOAD=$BATS_FILE_TMPDIR/fail.so "$BIN/$1" "${@:2}" >faults 2>&1 </dev/null ||
		fail "$* $(<faults)"
}

# fail_then PROGRAM ARGUMENT...: a failed program's reader fails
fail_then() {
	FAIL_THEN="$BIN/trstat -q" LD_PRELOAD=$BATS_FILE_TMPDIR/fail.so "$BIN/$1" "${@:2}" </dev/null 2>&1 |
		tail -c 3000 >faults
	[[ $(tail -n 1 faults) == *', 0 faults' ]] || fail "$* $(<faults)"
}

@test "an allocation of trdecode fails" {
	for input in apitrace/{v6,v6-br,values,gz-members}.trace uftrace/fib trace-cmd/v6-date.dat \
		trace-cmd/v7-{zstd-instances,zlib-sched-irq-timer}.dat perf/{flat,pipe-zstd,group}.data \
		stream/map-epoch.trs chrome/{wrap,members}.json perfetto/{perf-followers,pid-reuse}.pftrace ctf/step-back; do
		fail_each x.trs trdecode -q -o x.trs "$DATA/$input"
	done
	fail_each x trdecode -q --info -o x "$DATA/uftrace/fib"
}

@test "an allocation of trdecode fails: other programs' text and profiles" {
	head -n 60 "$DATA/apitrace/mt4.profile.txt" >x.profile
	gzip -dc "$DATA/perf/switch.txt.gz" | head -n 40 >script.txt
	trdecode -q "$DATA/trace-cmd/v6-date.dat" | trencode -q | head -n 40 >kernel.txt
	trencode -q -o x.folded samples.trs
	trencode -q -o x.pprof samples.trs
	for input in x.profile script.txt kernel.txt x.folded x.pprof; do
		fail_each x.trs trdecode -q -o x.trs $input
	done
}

@test "an allocation of trdecode fails while it reads an archive" {
	tar -C "$DATA/ctf" -cf ctf.tar step-back
	tar -C "$DATA/uftrace" -cf fib.tar fib
	xz -k -c fib.tar >fib.tar.xz
	bzip2 -c "$DATA/chrome/wrap.json" >wrap.bz2
	lz4 -q -c "$DATA/chrome/wrap.json" >wrap.lz4
	for input in "$DATA/lttng/v2.6-le64-packed.tar.gz" ctf.tar fib.tar fib.tar.xz wrap.{bz2,lz4}; do
		FAIL_LIBRARIES='libarchive liblzma' fail_each x.trs trdecode -q -o x.trs "$input"
		# libarchive 3.6 ends the program itself where a string cannot grow (__archive_errx), and
		# crashes in archive_read_open and in archive_entry_set_dev, which do not test calloc.
		# All other failures are those of a program without memory
		FAIL_OUTPUT=x.trs LD_PRELOAD=$BATS_FILE_TMPDIR/fail.so trdecode -q -o x.trs "$input" </dev/null >faults 2>&1 || true
		[[ $(tail -n 1 faults) =~ ^[0-9]+' allocations, '[0-9]+' faults'$ ]]
		awk '/^allocation/ { fault = $0; getline printed; getline library
			if (printed !~ /Fatal Internal Error in libarchive/ &&
			    (fault !~ /killed by signal 11/ || library !~ /lib(archive|lzma)\.so/))
				print fault, printed, library }' faults >ours
		[ ! -s ours ] || fail "$input $(<ours)"
	done
}

@test "an allocation of trfilter and of trsym fails" {
	fail_each x.trs trfilter -q -o x.trs 'dur > 1us' calls.trs
	trdecode -q -o flows.trs "$DATA/follow/app.json"
	fail_each x.trs trfilter -q -o x.trs --follow --with-callers 'arg.id == 7 || flow == 13' flows.trs
	fail_each x.txt trstat -q -o x.txt -g trace_id flows.trs
	# slow calls in a burst, a struct, a text that is compared by its begin
	seq 60 | sed 's/.*/{"time":&000,"dur":1,"name":"f","tid":1,"pid":1,"o":{"m":&},"t":"a"}/; 21,30s/"dur":1/"dur":99/; 21,30s/"t":"a"/"t":"'"$(printf 'b%.0s' {1..100})"'"/' |
		trdecode -q -f ndjson -o slow.trs
	fail_each x.txt trstat -q -o x.txt --explain-tail 'dur > 0' --quantile 0.8 --alpha 0.5 slow.trs
	fail_each x.trs trsym -q -o x.trs values.trs
	trdecode -q -o jumps.trs "$DATA/uftrace/jumps"
	fail_each x.trs trsym -q -o x.trs jumps.trs
	fail_each x.trs trsym -q --demangle=full -o x.trs jumps.trs
	printf '%s\n' 'static volatile int n;' 'static inline int in(int x) { return n * x; }' \
		'int out(int x) { return in(x) + 1; }' 'int main(int argc, char **argv) { return out(argc); }' >x.c
	cc -O2 -g -no-pie -o x.elf x.c
	PYTHONPATH=$ROOT/t/tools python3 - "$PWD/x.elf" "$(nm x.elf | awk '$3 == "out" { print $1 }')" >x.elf.trs <<-'END'
		import sys
		import streams_writer as w
		words = w.Dictionary()
		kind, lane, space = words.type("cycles", w.SAMPLE), words.lane(tid=1), words.space()
		words.map(space, 0x400000, 0x800000, sys.argv[1])
		stack = words.stack(0, words.location("", int(sys.argv[2], 16) + 3, space=space))
		sys.stdout.buffer.write(w.marker() + w.head() + words.block() +
		    w.events(0, [w.narrow(0, 0, location=1)], [kind], [lane], [], stacks=[stack]) + w.end(1))
	END
	FAIL_LIBRARIES=libdw fail_each x.trs trsym -q -il -o x.trs x.elf.trs
	# libdw ends the program, by memory_exit, or itself crashes or leaks where it does not test calloc and tsearch
	FAIL_OUTPUT=x.trs LD_PRELOAD=$BATS_FILE_TMPDIR/fail.so trsym -q -il -o x.trs x.elf.trs </dev/null >faults 2>&1 || true
	[[ $(tail -n 1 faults) =~ ^[0-9]+' allocations, '[0-9]+' faults'$ ]]
	run grep '^allocation' faults
	refute_line --regexp '(status|is there|no end)'
	run grep -A 2 '^allocation' faults
	refute_line --regexp '^    /.*/trsym: '
}

@test "an allocation of trstat fails" {
	for options in '' --tree --partial '-g stack' '--callers fib'; do
		# shellcheck disable=SC2086 # words
		fail_each x trstat -q $options -o x calls.trs
	done
	fail_each x trstat -q -o x --fail-if 'p99(name == "fib") > 5ms' calls.trs
	fail_each x trstat -q -o x --pair 'name == "fib" -> name == "fib"' calls.trs
	printf 'fib # a name\n-> name == "fib" &&\nkind == "leave"' >fib.pair
	fail_each x trstat -q -o x --pair @fib.pair calls.trs
	fail_each x trstat -q -o x --diff calls.trs calls.trs
	cp calls.trs again.trs
	fail_each x trstat -q -o x --diff -c total,p50 calls.trs '[a]gain.trs' -- calls.trs
	trstat -q --partial -o x.sum calls.trs
	fail_each x trstat -q -o x --merge x.sum x.sum
}

@test "an allocation fails in a critical path" {
	python3 "$ROOT/t/tools/wait_traces.py" 3 120 .
	trdecode -q -o waits.trs trace
	for options in '' '-t folded'; do
		# shellcheck disable=SC2086 # words
		fail_each x trstat -q $options -o x --why 'dur >= 0' waits.trs
	done
	fail_each x trencode -q -t chrome -o x --why 'dur >= 0' waits.trs
	fail_each x trencode -q -t perfetto -o x --why 'tid > 0' waits.trs
}

@test "an allocation of trencode fails" {
	for to in chrome folded pprof csv parquet arrow perfetto callgrind speedscope firefox ctf uftrace lttng; do
		fail_each x trencode -q -t $to -o x calls.trs
	done
	trdecode -q -o members.trs "$DATA/chrome/members.json"
	fail_each x trencode -q -t chrome -o x members.trs
	fail_each dataset trencode -q -t parquet --partition host,date,table -o dataset samples.trs
	fail_each x trencode -q -o x values.trs
	fail_each x trencode -q -t apitrace -o x values.trs
	# whole parts are kept
	fail_each no-file trencode -q --split 1K -t text -o x values.trs
	fail_each x trencode -q -t svg -o x samples.trs
	trdecode -q -o kernel.trs "$DATA/trace-cmd/v6-date.dat"
	fail_each x trencode -q -o x kernel.trs
	fail_each x trencode -q -t trace-cmd -o x kernel.trs
}

@test "a program that reads what a failed one wrote exits 2" {
	for input in apitrace/values.trace uftrace/fib perf/flat.data; do
		fail_then trdecode -q "$DATA/$input"
	done
	fail_then trfilter -q 'dur > 1us' calls.trs
	fail_then trsym -q calls.trs
}
