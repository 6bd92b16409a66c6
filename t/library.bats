# libtrstream: the examples, built against what make install puts in place.

load lib

setup_file() {
	! sanitized && type -p pkg-config >/dev/null || return 0
	root=$BATS_FILE_TMPDIR/root
	if [[ $BIN == /usr/bin ]]; then # the installed package
		root=''
	else
		make -s -o all -C "$ROOT" O="$(dirname "$BIN")" DESTDIR="$root" PREFIX=/usr install >/dev/null 2>&1 3>&-
		export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/usr/lib/pkgconfig
	fi
	for example in count_calls sum_columns write_events; do
		# shellcheck disable=SC2046
		gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$ROOT/doc/examples/$example.c" \
			$(pkg-config --cflags --libs libtrstream) -o "$BATS_FILE_TMPDIR/$example"
	done
	INSTALLED=$root PATH=$BATS_FILE_TMPDIR:$PATH
	export INSTALLED PATH
}

setup() {
	need pkg-config
	unsanitized 'programs are linked without it'
	cd "$BATS_TEST_TMPDIR" || return
}

@test "the examples have less than 60 lines" {
	for file in count_calls sum_columns write_events; do
		[ "$(wc -l <"$ROOT/doc/examples/$file.c")" -lt 60 ]
	done
}

@test "the header is C++ too, and needs no other header" {
	need g++
	echo '#include <trstream.h>' >a.cc
	echo 'int main() { return !trstream_version(); }' >>a.cc
	# shellcheck disable=SC2046
	g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror a.cc $(pkg-config --cflags --libs libtrstream) -o a
	run -0 ./a
}

@test "the library defines no other name than trstream_*, and all of the header" {
	archive=$(pkg-config --variable=libdir libtrstream)/libtrstream.a
	[[ -z $INSTALLED || $archive == "$INSTALLED"/* ]] || archive=$INSTALLED$archive
	nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort >names
	grep -oE 'trstream_[a-z_]+\(' "$ROOT/common/library/trstream.h" | tr -d '(' | sort -u | diff - names
	# and the page has all of them
	grep -oE '^\.F[no] trstream_[a-z_]+' "$ROOT/man3/trstream.3" | sed 's/.* //' | sort -u >page
	diff page names
}

@test "pkg-config gives the version of the programs" {
	run -0 pkg-config --modversion libtrstream
	assert_equal "trstat (trutils) $output" "$(trstat --version)"
}

@test "count_calls prints what trstat prints" {
	for trace in "$DATA/uftrace/fib" "$DATA/trace-cmd/"*.dat; do
		trdecode -q "$trace" | trsym -q >s.trs || continue
		trstat -q -t tsv -g name -c count,self,total -s count s.trs | awk -F '\t' 'NR > 1 && $3 != "" { print $2 "\t" $3 "\t" $1 }' |
			LC_ALL=C sort >want
		count_calls s.trs | LC_ALL=C sort | diff want -
		[[ $trace != */fib ]] || [ "$(wc -l <want)" -gt 10 ]
	done
}

# print_sums [--since T --until T]: count, self and name of each function of s.trs, as trstat has them
print_sums() {
	trstat -q -t tsv -g name -c count,self,total -s count "$@" s.trs |
		awk -F '\t' 'NR > 1 && $3 != "" { print $2 "\t" $3 "\t" $1 }' | LC_ALL=C sort
}

@test "sum_columns prints what trstat prints, of ranges of times too" {
	for trace in "$DATA/uftrace/fib" "$DATA/trace-cmd/"{v6-fgraph,marks}.dat; do
		trdecode -q "$trace" | trsym -q >s.trs
		print_sums >want
		sum_columns <s.trs | LC_ALL=C sort | diff want -
		[ "$(wc -l <want)" -gt 7 ]
	done
	trdecode -q --segment 4K "$DATA/uftrace/fib" | trsym -q >s.trs
	for range in '+0s +6.5ms' '+7ms +7500us' '+6ms +8ms'; do
		read -r since until <<<"$range"
		print_sums --since "$since" --until "$until" >want
		sum_columns "$since" "$until" <s.trs | LC_ALL=C sort | diff want -
		[ -s want ]
	done
	# the end of standard input is not known before it is read
	run -2 sum_columns -2ms <s.trs
	assert_output --partial '<stdin>: a time before the end needs the name of a saved stream'
}

@test "streams with and without damage: the status of trencode, which reads everything" {
	for stream in "$DATA"/streams/{good,bad}/*; do
		status=0 want=0
		count_calls "$stream" >/dev/null 2>errors || status=$?
		trencode -q -t ndjson "$stream" >/dev/null 2>&1 || want=$?
		assert_equal "$stream $status" "$stream $want"
		[[ $want == 0 ]] || [ -s errors ]
		status=0
		sum_columns <"$stream" 2>tables >/dev/null || status=$?
		assert_equal "$stream $status" "$stream $want"
		diff <(sed "s|^count_calls: $stream||" errors) <(sed 's/^sum_columns: <stdin>//' tables)
	done
}

@test "write_events writes what its source says" {
	run -0 pipe 'write_events | trencode -q'
	assert_output - <<-END
		       0.000001000 100 worker serve {
		       0.000001500 100 worker request path="/index.html" bytes=-1 load=0.5
		       0.000002000 100 worker send {
		       0.000002500 100 worker queue depth=7
		       0.000005000 100 worker send }
		       0.000009000 100 worker serve }
		       0.000009500 100 worker gap LOST 12 events
	END
	run -0 pipe 'write_events | count_calls'
	assert_output $'1\t3000\tsend\n1\t5000\tserve'
	write_events file.trs
	"$ROOT/t/tools/trstream.py" file.trs | wc -l >n
	[ "$(cat n)" -gt 0 ]
}

@test "a stream that ends early, and a program that failed" {
	trdecode -q "$DATA/uftrace/fib" >s.trs
	head -c 20000 s.trs >short.trs
	run -1 --separate-stderr count_calls short.trs
	assert_regex "$stderr" '^count_calls: short.trs: 0x[0-9a-f]+: '
	trdecode no-such-file >failed.trs 2>/dev/null || true
	run -2 --separate-stderr count_calls failed.trs
	assert_regex "$stderr" '^count_calls: failed.trs: the program that wrote this failed: '
	run -2 count_calls no-such-file
	assert_output 'no-such-file: No such file or directory'
	run -2 write_events no/such/folder
	assert_output --partial 'No such file or directory'
}
