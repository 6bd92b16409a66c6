#!/bin/bash
# shellcheck disable=SC2034,SC2094 # some names are used as ${!kind}; a file is read, its name is the output's
# Make inputs for the fuzz target decode that have options with values, directories and two inputs:
# what t/fuzz/seeds.sh makes has none of these. The inputs are few and small, and are all kept.
# usage: t/fuzz/decode_seeds.sh BIN OUT [TRACES]
bin=$(realpath "$1") out=$2 traces=${3:-}
here=$(realpath "$(dirname "$0")") data=$(realpath "$(dirname "$0")/../data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# What decode.c makes of the first byte and of the second.
SINCE=16 UNTIL=17 CPU=18 TID=19 TYPE=20 CLOCK=21 OFFSET=22 SEGMENT=23 MAX_VALUE=24 FORMAT=25
STRICT=26 INFO=27 SINCE_TYPE=28 WALL_UNTIL=29 RAW_OFFSET=31
TAR=32 PIPE=64 STREAM=128
DIRECTORY=1 PART=2 TWO=4

byte() { printf '%b' "$(printf '\\x%02x' $(($1 & 255)))"; }
# add NAME KIND WAYS VALUE: standard input with these
add() {
	{
		byte "$2"
		byte "$3"
		printf '%s\0' "$4"
		cat
	} >"$out/with-$1"
}
# two FIRST SECOND: two inputs
two() {
	local size
	size=$(stat -c %s "$1")
	byte "$size"
	byte $((size >> 8))
	cat "$1" "$2"
}
small() { zstd -q -19 -c; }

# --- values of options ---
printf '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"f"}]' >"$work/one"
while read -r name kind value; do
	add "value-$name" "${!kind}" 0 "$value" <"$work/one"
done <<'END'
since SINCE x
until UNTIL 2026-01-32
cpu CPU 3-1
tid TID 1,,2
type TYPE [
clock CLOCK tai
clock-wall CLOCK wall
offset OFFSET 1s
offset-none OFFSET other=1
offset-file OFFSET -=1.5s
offset-ticks RAW_OFFSET -=-20
segment SEGMENT 1
max MAX_VALUE 1
max-good MAX_VALUE 64K
format FORMAT nothing
format-other FORMAT ctf
format-chrome FORMAT chrome
END
: | add value-empty $FORMAT 0 chrome
printf 'TRST\0\1\0\0\377\377' | add value-stream $FORMAT 0 stream

# --- trace.dat: pages before a time, CPUs left out, options, instances, latency text ---
# events N: a stream of that many
events() {
	awk -v n="$1" 'BEGIN { printf "["
		for (i = 0; i < n; i++)
			printf "%s{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"name\":\"f\"}",
				i ? "," : "", 1 + i % 2, i * 100
		print "]" }' | "$bin/trdecode" -q -
}
events 500 | "$bin/trencode" -q -t trace-cmd --file-version=6 -o "$work/v6"
events 100000 | "$bin/trencode" -q -t trace-cmd --file-version=7 --compress=zstd:19 -o "$work/v7"
add v6 $SINCE 0 +30ms <"$work/v6"
for at in +1s +9s -1ms; do
	add "v7$at" $SINCE 0 $at <"$work/v7"
done
add v7-late $INFO 0 -1ms <"$work/v7"
add v7-cpu $CPU 0 1 <"$work/v7"
events 30 | "$bin/trencode" -q -t trace-cmd --file-version=6 -o "$work/few"
perl "$here/trace_dat_options.pl" "$work" <"$work/few"
for file in "$work"/options-*; do
	add "$(basename "$file")" $STRICT 0 +0 <"$file"
done

# --- Trace Event JSON: what is warned of, more events than are sorted in memory ---
{
	printf '{"displayTimeUnit":"ns","baseTimeNanoseconds":"1000","otherData":{"a":1},"traceEvents":['
	printf '{"ph":"X","pid":1,"tid":1,"ts":-5,"dur":9,"name":"a"},{"ph":"X","pid":1,"tid":1,"ts":2,"dur":50,"name":"b"},'
	printf '{"ph":"E","pid":"p","tid":"t","ts":3},{"name":"no"},{"ph":"b","cat":"c","id":"x","pid":1,"tid":1,"ts":4,"name":"n"},'
	printf '{"ph":"N","id":"0x1","pid":1,"tid":1,"ts":5,"name":"o"},{"ph":"i","ts":1e300,"pid":1,"tid":1},{"ph":"i","ts":"x","pid":1,"tid":1}]}'
} | add warnings $CLOCK 0 raw
awk 'BEGIN { printf "["
	for (i = 0; i < 200; i++)
		printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"name\":\"f\"}",
			i ? "," : "", 10000 - i * 7
	print "]" }' | add sorted $CLOCK 0 raw
two "$work/one" "$data/apitrace/v6.trace" | add two-clocks $SINCE $TWO 0
two "$data/apitrace/v6.trace" "$work/one" | add two-offset $OFFSET $TWO /dev/fd/100=5
two "$data/apitrace/v6.trace" "$work/one" | add two-unit $OFFSET $TWO -=5s
two "$work/one" "$work/one" | add two-same $WALL_UNTIL $TWO 5s

# --- apitrace: values beyond --max-value ---
for name in values v6; do
	add "max-$name" $MAX_VALUE 0 64 <"$data/apitrace/$name.trace"
done

# --- LTTng: several blocks ---
events 20 | "$bin/trencode" -q -t lttng -o "$work/page"
mkdir "$work/blocks"
perl "$here/lttng_blocks.pl" "$work/page" chrome_0 "$work/blocks"
for trace in "$work"/blocks/*; do
	name=$(basename "$trace")
	tar -C "$work/blocks" -c "$name" | small >"$work/packed"
	add "blocks-$name" $SINCE 0 +2500ms <"$work/packed"
	[[ $name == good-* ]] && add "blocks-late-$name" $UNTIL 0 -1s <"$work/packed"
done

# --- directories ---
for archive in "$data"/{ctf,lttng}/*.tar.gz; do
	tar -C "$work" -xzf "$archive"
	name=$(basename "$archive" .tar.gz)
	bash "$here/pack.sh" "$work/$name" 1500 >"$work/packed"
	add "dir-$name" $((TAR + SINCE)) $DIRECTORY +1ms <"$work/packed"
	[[ $name == kinds ]] && add "part-$name" $((TAR + CPU)) $((DIRECTORY + PART)) 0 <"$work/packed"
	tar -C "$work" -c "$name" | small | add "late-$name" $INFO 0 -1us
	tar -C "$work" -c "$name" | small | add "since-$name" $SINCE 0 +1us
done
bash "$here/pack.sh" "$data/uftrace/fib" 1000 >"$work/packed"
add dir-fib $((TAR + SINCE)) $DIRECTORY -10us <"$work/packed"
add part-fib $((TAR + FORMAT)) $((DIRECTORY + PART)) uftrace <"$work/packed"
awk 'BEGIN { printf "["
	for (i = 0; i < 3500; i++)
		printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"name\":\"f\"}",
			i ? "," : "", i * 100
	print "]" }' | "$bin/trdecode" -q - | "$bin/trencode" -q -t uftrace -o "$work/calls"
tar -C "$work" -c calls | small | add skip-calls $SINCE 0 +200ms

mkdir "$work/kernel"
"$bin/trdecode" -q "$work/one" | "$bin/trencode" -q -t ctf -o "$work/written"
mv "$work"/written/* "$work/kernel"
# metadata of CTF without its first line, with comments, cut in a packet
n=0
for change in '1s,.*,// text,' '1s,.*,/* text */,' '1d' '1s,CTF 1.8,CTF 3.0,'; do
	cp -r "$work/kernel" "$work/text"
	sed -i "$change" "$work/text/metadata"
	((n++))
	bash "$here/pack.sh" "$work/text" 9000 | add "text-$n" $((TAR + SINCE_TYPE)) 0 +0
	rm -r "$work/text"
done

# mappings that LTTng 0.x dumps
input=$traces/lttng-legacy/v2.6-219558ev-2cpu
[[ -d $input ]] && {
	"$bin/trdecode" -q "$input" 2>/dev/null |
		"$bin/trfilter" -q -n 300 'type =~ "vm_map|process_state"' |
		"$bin/trencode" -q -t lttng -o "$work/maps" 2>/dev/null
	tar -C "$work" -c maps | small | add maps $SINCE 0 +0
	"$bin/trdecode" -q "$input" 2>/dev/null |
		"$bin/trfilter" -q 'type =~ "^exec$|process_free|process_fork"' |
		"$bin/trencode" -q -t lttng -o "$work/execs" 2>/dev/null
	tar -C "$work" -c execs | small | add execs $SINCE 0 +0
	tar -C "$work" -c maps | small | add maps-late $INFO 0 -1ms
}

# all types of CTF, and one fault each
mkdir "$work/types"
printf '\0\1\1\144\2\310\4\0\0\2\7\10who\0\0\2\1\2\2\11\12\3\1\2\1\1\2\3\4\5\7\6txt\0\77\200\0\0\77\360\0\0' >"$work/types/s"
truncate -s 128 "$work/types/s"
n=0
while read -r fault; do
	{
		((n)) || echo '/* CTF 1.8 */'
		sed "$fault" "$here/types.tsdl"
	} >"$work/types/metadata"
	bash "$here/pack.sh" "$work/types" 9000 | add "types-$n" $((TAR + SINCE)) 0 +0
	((n++))
done <<'END'
p;d
s/size = 8; align = 8; signed = false/size = 65/
s/size = 8; align/size = 8; align = 3; x/
s/mant_dig = 24/mant_dig = 25/
s/^enum kind : u8/enum kind : float/
s/5 \.\.\. 7/7 ... 5/
s/variant either <tag>/variant either/
s/either <tag>/either <none>/
s/enum kind tag/enum nokind tag/
s/s\[n\]/s[none]/
s/env\.n/env.none/
s/align(8)/align(7)/
s/"d e"/;/
s/string who;/string;/
s/struct point p/struct pointless p/
s/freq = 1000000/freq = 0/
s/map = clock.c.value/map = clock.none.value/
s/id = 1; packet/id = 2; packet/
s/fields := struct {/fields := u8; x := struct {/
s/}/ /
s/major = 1/major = 2/
s/byte_order = be; uuid/byte_order = middle; uuid/
END

# LTTng 0.x of other versions, and damaged
for name in gen/gen-2.6-le64-align-huge gen/gen-1.0-emptycpu bad/bad-event-size-past-block; do
	[[ -d $traces/lttng-legacy/$name ]] &&
		tar -C "$traces/lttng-legacy" -c "$name" | small | add "$(basename "$name")" $SINCE 0 +1ms
done

# streams with symbols, whole and cut
"$bin/trdecode" -q "$work/one" | "$bin/trencode" -q -t uftrace -o "$work/few-calls"
"$bin/trdecode" -q "$work/few-calls" | "$bin/trsym" -q >"$work/symbols"
add stream-symbols $SINCE 0 +0 <"$work/symbols"
add stream-info $INFO 0 +1us <"$work/symbols"
head -c -70 "$work/symbols" | add stream-cut $SINCE 0 +1us

# streams in segments, of which one is missing: those after it begin with what their snapshot has
# segments INPUT: each segment of the input's stream, without checksums of its blocks, in $work/segment.N
segments() {
	"$bin/trdecode" -q --segment=1K "$1" | "$bin/trsym" -q | cat >"$work/whole"
	mapfile -t at < <(grep -aboF "$(head -c 8 "$work/whole")" "$work/whole" | cut -d: -f1)
	for ((n = 0; n < ${#at[@]}; n++)); do
		tail -c "+$((at[n] + 1))" "$work/whole" |
			head -c $((${at[n + 1]:-$(stat -c %s "$work/whole")} - at[n])) >"$work/segment.$n"
	done
}
for input in "$data/uftrace/fib" "$data/apitrace/v6.trace"; do
	rm -f "$work"/segment.*
	segments "$input"
	name=$(basename "$input")
	[[ -f $work/segment.2 ]] || continue
	{
		byte $((STREAM + PIPE))
		cat "$work"/segment.[02]
	} >"$out/missing-$name"
	[[ $name == fib ]] || cat "$work"/segment.[12] | add "later-$name" $((STREAM + PIPE + SINCE)) 0 +0
	two "$work/segment.1" "$work/one" | add "missing-two-$name" $SINCE $TWO 0
	[[ $name == fib ]] || two "$work/segment.1" "$work/segment.1" | add "twice-$name" $SINCE $TWO 0
done

# what --list prints
for input in "$work/one" "$data/apitrace/values.trace" "$data/apitrace/v6.trace"; do
	for kind in 9 10; do
		{
			byte $kind
			"$bin/trdecode" -q "$input"
		} >"$out/list-$kind-$(basename "$input")"
	done
done

# a recording of uftrace with tables, libraries and messages that are odd
cp -r "$data/uftrace/fib" "$work/odd"
(
	cd "$work/odd" || exit
	sid=$(basename sid-*.map .map)
	printf 'ffffffff81000000 T _text\nffffffff81000010 T do_x\t[mod]\n' >kallsyms
	printf '# c\nno time\n3587866.839300 first\n\n9999999999999999999.1 z\n3587866.8395 last' >extern.dat
	printf '# symbols: 1\n# path name: python.fake\n0000000000000001 T py.main\n' >python.fake.sym
	printf '# path name: /x/lib.so\n# build-id: 12\n0000000000000100 00000040 T in_lib\n' >lib.so.sym
	printf '# path name: /y/two.so\n0000000000000100 00000040 T b\n' >two.so-abcd.sym
	for library in ./lib.so ../y/two.so; do
		echo "DLOP timestamp=3587866.839299000 tid=4123 sid=${sid#sid-} base=7000 libname=\"$library\""
	done >>task.txt
	echo 'SESS timestamp=x' >>task.txt
	printf '%s\n' '10000-20000 r-xp 00000000 00:00 0 /x/a.so build-id:11' \
		'20000-30000 r-xp 00000000 00:00 0 /x/a.so build-id:11' 'zz-1 x' \
		'30000-20000 r-xp 00000000 00:00 0 /x/b.so' \
		'bf000000-c0000000 rw-p 00000000 00:00 0 [stack]' >>"$sid.map"
	truncate -s 2400 41*.dat
)
tar -C "$work" -c odd | small | add odd $SINCE 0 +0
