# Memory of large values: each program takes 16 MiB and the value (with brotli and zstd 32 MiB).

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	yes 'plain, "quoted" and \ ' | head -c 20M | trace string '\007\200\200\200\012'
	# of the value false
	head -c 4M /dev/zero | tr '\000' '\001' | trace array '\013\200\200\200\002'
}

# trace NAME HEAD: calls f(a = VALUE) and g(), VALUE being HEAD and the bytes from standard input
trace() {
	{
		printf '\005\000\000\000\001f\001\001a\001\000'
		# shellcheck disable=SC2059
		printf "$2"
		cat
		printf '\000\001\000\000\000\000\001\001g\000\000\001\001\000'
	} | gzip -1 >"$1.gz.trace"
	trdecode -o "$1.trs" "$1.gz.trace"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	[[ -x /usr/bin/time ]] || skip 'no /usr/bin/time'
	unsanitized 'it needs more memory'
}

# takes MIB COMMAND...: no more than that, and 16 MiB
takes() {
	local most=$((($1 + 16) * 1024)) rss
	shift
	/usr/bin/time -f %M -o "$BATS_TEST_TMPDIR/rss" "$@" >"$BATS_TEST_TMPDIR/out"
	rss=$(tail -n 1 "$BATS_TEST_TMPDIR/rss")
	((rss <= most)) || fail "$*: $rss KiB, at most $most"
}

@test "a string of 20 MiB: decoded, filtered, counted" {
	takes 20 trdecode string.gz.trace
	takes 20 trdecode string.trs
	takes 20 trsym string.trs
	takes 20 trstat string.trs
	for e in 'dur > 0' 'arg.1.size > 5' 'children == 0'; do
		takes 20 trfilter "$e" string.trs
	done
	takes 20 trfilter -B 3 -A 1 'name == "g"' string.trs
	takes 20 trfilter --with-callers 'name == "g"' string.trs
	takes 20 trfilter --drop arg.2 1 string.trs
}

@test "a string of 20 MiB in each format" {
	for t in ndjson csv tsv chrome firefox perfetto parquet ctf uftrace trace-cmd lttng; do
		takes 20 trencode -q --tick 1us -t "$t" string.trs
	done
	takes 20 trencode -q string.trs
	for c in snappy gzip; do
		takes 20 trencode -q -t apitrace --compress=$c string.trs
	done
	for c in brotli zstd; do
		takes 36 trencode -q -t apitrace --compress=$c string.trs
		cp "$BATS_TEST_TMPDIR/out" string.$c.trace
		takes 36 trdecode string.$c.trace
	done
}

@test "large arguments of many calls that are open before --since" {
	for ((i = 0; i < 100; i++)); do
		printf '{"ph":"B","name":"f","pid":1,"tid":1,"ts":%d,"args":{"a":"%0400000d"}},' $i 0
	done >enters
	{
		echo '{"traceEvents":['
		cat enters
		yes '{"ph":"E","name":"f","pid":1,"tid":1,"ts":1000},' | head -n 100
		echo '{"ph":"i","name":"i","pid":1,"tid":1,"ts":2000}]}'
	} | trdecode -o open.trs
	# of 40 MB
	takes 0 trencode -q -t csv --since 500us <open.trs
	assert_equal "$(grep -c '^500000,500000,' "$BATS_TEST_TMPDIR/out")" 100
}

@test "an array of 4 Mi values in each format" {
	for t in ndjson csv tsv chrome firefox perfetto parquet ctf; do
		takes 8 trencode -q --tick 1us -t "$t" array.trs
	done
	takes 8 trencode -q array.trs
}

@test "a large value is the same in pieces" {
	yes 'plain, "quoted" and \ ' | head -c 20M >string
	trencode -q -t ndjson string.trs | jq -j 'select(.name == "f").args.a' | cmp - string
	trencode -q -t csv string.trs | python3 -c '
import csv, json, sys
csv.field_size_limit(1 << 30)
for row in csv.DictReader(sys.stdin):
	if row["name"] == "f":
		sys.stdout.write(json.loads(row["args"])["a"])' | cmp - string
	trencode -q -t chrome --tick 1us string.trs | jq -j '.traceEvents[] | select(.name == "f").args.a' | cmp - string
	trencode -q string.trs | sed -e 's/\\\([\\"]\)/\1/g' -e '1s/^0 f(a = "//' -e 's/")$//' | head -c 20M | cmp - string
}

# small FIRST LAST: calls g() with these numbers
small() {
	perl -e 'for ($n = $ARGV[0]; $n <= $ARGV[1]; $n++) {
		print "\0\0\1\0\1", $n < 128 ? chr $n : chr($n & 127 | 128) . chr($n >> 7), "\0" }' "$1" "$2"
}

@test "an argument of 256 MiB in segments: in the stream once, in memory once" {
	# f(a) contains the first calls of g(); its argument is as large as a call's values may be
	{
		printf '\005\000\000\000\001f\001\001a\001\000\007\200\340\377\177'
		head -c $((256 * 1024 * 1024 - 4096)) /dev/zero
		printf '\000\000\000\001\001g\000\000\001\001\000'
		small 2 8000
		printf '\001\000\000'
		small 8001 16000
	} | gzip -1 >"$BATS_TEST_TMPDIR/x.trace"
	cd "$BATS_TEST_TMPDIR"
	takes 256 trdecode --segment 16K -o x.trs x.trace
	# no border while f is open: the snapshot would contain the argument
	(($(stat -c %s x.trs) < 258 * 1024 * 1024))
	(($(grep -abo trstrm1: x.trs | wc -l) >= 3))
	takes 256 trsym x.trs
	takes 256 trfilter 'name =~ "^[fg]"' x.trs
	takes 256 trstat -q -c count -t tsv x.trs
	assert_equal "$(cat out)" $'name\tcount\ng\t16000\nf\t1'
}
