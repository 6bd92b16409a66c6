# CTF 1.8, what LTTng 2 writes: events as babeltrace2 lists them, damage, losses.
# kinds and lost were recorded with lttng-tools 2.13, a tracepoint with a field of every kind.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	C=$RECORDED/ctf
}

unpack() {
	tar -xzf "$DATA/ctf/$1.tar.gz"
}

@test "a field of every kind is printed as babeltrace2 does" {
	pipefail "trdecode '$DATA/ctf/kinds.tar.gz' | trencode" >got
	diff "$DATA/ctf/kinds.expect.txt" got
}

@test "every sample lists the events that babeltrace2 lists" {
	local d
	for d in "$C"/*/; do
		pipefail "trdecode '$d' | trencode" | diff "${d%/}.expect.txt" -
	done
}

@test "threads, processes, names and CPUs follow from the contexts" {
	unpack kinds
	run -0 pipefail "trdecode kinds | trstat -g pid,tid,comm,type -c count -t tsv"
	assert_line --index 0 $'pid\ttid\tcomm\ttype\tcount'
	assert_line --regexp $'^([0-9]+)\t\\1\tapp\tkinds:plain\t24$'
	run -0 pipefail "trdecode kinds | trfilter 'type == \"kinds:plain\" && a < 2' | trencode"
	assert_equal "${#lines[@]}" 2
}

@test "--clock raw is the clock's own time" {
	unpack kinds
	run -0 pipefail "trdecode --clock raw kinds | trencode | head -n 1"
	assert_output --regexp '^\[[0-9]+\.[0-9]{9}\] vm kinds:all: '
	want=$(babeltrace2 --clock-cycles --no-delta kinds 2>/dev/null | sed -n '1s/^\[0*\([0-9]*\)\].*/\1/p') || true
	[[ -z $want ]] || [[ $(tr -d "[." <<<"${output%%]*}") == "$want" ]]
}

@test "events that the recorder dropped are counted and listed" {
	run -0 pipefail "trdecode '$DATA/ctf/lost.tar.gz' 2>/dev/null | trencode -q | grep lost"
	assert_output --regexp '\[CPU [01]: 1314 events lost\]$'
	run -0 bash -c "trdecode '$DATA/ctf/lost.tar.gz' | trstat -g type -c count -t tsv"
	assert_output --partial "1314 events were lost by the recorder"
	assert_line $'kinds:plain\t186'
	run -1 trdecode --strict -o s "$DATA/ctf/lost.tar.gz"
}

@test "a directory, its tar, a pipe, one file of it" {
	unpack kinds
	trdecode kinds | trencode >want
	trdecode "$DATA/ctf/kinds.tar.gz" | trencode | cmp want -
	trdecode - <"$DATA/ctf/kinds.tar.gz" | trencode | cmp want -
	trdecode kinds/ust/uid/0/64-bit | trencode | cmp want -
	{
		trdecode kinds/ust/uid/0/64-bit/ch_0 | trencode
		[[ ! -s kinds/ust/uid/0/64-bit/ch_1 ]] || trdecode kinds/ust/uid/0/64-bit/ch_1 | trencode
	} | LC_ALL=C sort >parts
	LC_ALL=C sort want | cmp - parts
}

@test "--info prints what the trace is" {
	run -0 trdecode --info "$DATA/ctf/kinds.tar.gz"
	assert_line --regexp '^version +1\.8$'
	assert_line --regexp '^tracer_name +lttng-ust$'
	assert_line --regexp '^clock rate +1000000000$'
	assert_line --regexp '^event types +3$'
}

@test "a cut file gives what is whole, says where, and exits with 1" {
	unpack kinds
	cd kinds/ust/uid/0/64-bit || return
	trdecode . | trencode >../want
	local file=ch_0 n count last=0
	[[ -s ch_1 && $(stat -c %s ch_1) -gt $(stat -c %s ch_0) ]] && file=ch_1
	cp $file ../whole
	for n in 1 20 100 500 1000 2000 4000; do
		head -c "$n" ../whole >$file
		run -1 bash -c "trdecode . 2>../err >../s; s=\$?; trencode -q ../s >../got; exit \$s"
		grep -q "^trdecode: \./$file: 0x[0-9a-f]*: a packet" ../err
		count=$(grep -c kinds: ../got || true)
		((count >= last))
		last=$count
	done
	((last > 10))
}

@test "a packet that is damaged costs only itself" {
	unpack lost
	cd lost/ust/uid/0/64-bit || return
	# the magic of the first packet
	printf 'XXXX' | dd of=ch_0 conv=notrunc status=none
	run -1 trdecode -o s .
	assert_output --regexp '^trdecode: \./ch_0: 0x0: no packet begins here'
	run -1 pipe "trstat -g type -c count -t tsv s 2>/dev/null"
	assert_line --regexp $'^kinds:plain\t[1-9][0-9]*$'
}

@test "metadata that cannot be understood is said with its line" {
	unpack kinds
	cd kinds/ust/uid/0/64-bit || return
	{
		echo '/* CTF 1.8 */'
		echo 'trace { major = 1; minor = 8; byte_order = le; packet.header := struct {'
		echo '  nosuch_t magic; }; };'
	} >metadata
	run -1 trdecode -o s .
	assert_line "trdecode: ./metadata: line 3: type 'nosuch_t' is not declared, before 'magic'"
	printf 'no metadata' >metadata
	run -2 errors trdecode .
	assert_output --partial 'not a trace of a known format'
}

# A trace of our own making: bit fields, both byte orders, nested types, variants.
made() {
	local order=$1
	mkdir made
	cat >made/metadata <<-END
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
		typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
		trace { major = 1; minor = 8; byte_order = $order;
			packet.header := struct { uint32_t magic; }; };
		stream { event.header := struct { uint8_t id; }; };
		event { name = one; id = 1; fields := struct {
			integer { size = 3; } a; integer { size = 5; signed = true; } b;
			enum : uint8_t { LOW = 0 ... 9, HIGH } tag;
			variant <tag> { uint8_t LOW; struct { uint8_t x; string s; } HIGH; } v;
			uint8_t n; uint8_t list[n][2]; }; };
		event { name = two; id = 2; };
	END
}

@test "bit fields, variants and nested types in both byte orders" {
	need babeltrace2
	local order
	for order in le be; do
		rm -rf made
		made $order
		{
			[[ $order == le ]] && printf '\xc1\x1f\xfc\xc1' || printf '\xc1\xfc\x1f\xc1'
			printf '\1\xb5\5\7\2\1\2\3\4\1\x2d\12\7hi\0\0\2'
		} >made/data
		pipefail "trdecode made | trencode" >got
		babeltrace2 made 2>/dev/null | diff - got
	done
}

@test "a file beside those of a trace is none; metadata alone hold no events" {
	unpack kinds
	local d=kinds/ust/uid/0/64-bit
	echo '{"a": 1}' | tee kinds/no.json >$d/no.json
	run -2 errors trdecode $d/no.json
	assert_output --partial "trdecode: $d/no.json: JSON, but no trace: no traceEvents"
	run -2 errors trdecode kinds/no.json
	assert_output --partial "trdecode: kinds/no.json: JSON, but no trace: no traceEvents"
	run -2 errors trdecode $d/metadata
	assert_output "trdecode: $d/metadata: metadata has no events: give the directory that contains it"
	run -0 trdecode --info $d/ch_0
	assert_line --regexp '^format +ctf$'
	run -0 trdecode --info --json $d/ch_0
	assert_line --partial '"format": "ctf"'
}

# one field of the bytes 1 to 127, each followed by an x
@test "every control character is printed as babeltrace2 does" {
	local i
	cat >metadata <<-END
		/* CTF 1.8 */
		typealias integer { size = 32; align = 8; signed = false; } := u32;
		typealias integer { size = 64; align = 8; signed = false; } := u64;
		trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
		stream { id = 0; packet.context := struct { u64 content_size; u64 packet_size; }; event.header := struct { u32 id; }; };
		event { id = 0; stream_id = 0; name = "e"; fields := struct { string s; }; };
	END
	mkdir trace
	mv metadata trace
	{
		printf '\xc1\x1f\xfc\xc1\0\0\0\0\x18\x0d\0\0\0\0\0\0\x18\x0d\0\0\0\0\0\0\0\0\0\0'
		for ((i = 1; i < 128; i++)); do printf '%b' "\\x$(printf %02x $i)x"; done
		printf '\303\244\0'
	} >trace/c_0
	size=$(($(stat -c %s trace/c_0) * 8))
	for at in 8 16; do
		printf '%b' "$(printf '\\x%02x\\x%02x' $((size % 256)) $((size / 256)))" |
			dd of=trace/c_0 bs=1 seek=$at conv=notrunc status=none
	done
	need babeltrace2
	babeltrace2 trace >want 2>/dev/null
	trdecode trace | trencode | diff want -
}

@test "fields of an event with a sequence have the names that others have" {
	local d=$DATA/ctf/kinds.tar.gz
	run -0 pipefail "trdecode '$d' | trfilter 'i == 1 && col == \"GREEN\"' | trstat -c count -t tsv"
	assert_output $'name\tcount\nkinds:all\t1'
	run -0 pipefail "trdecode '$d' | trfilter 'arg.i == 1' | trstat -c count -t tsv"
	assert_output $'name\tcount\nkinds:all\t1'
	run -0 pipefail "trdecode '$d' | trstat -g type,col -c count -t tsv"
	assert_line $'kinds:all\tMANY\t11'
	run -0 pipefail "trdecode '$d' | trstat -g type,arg.col -c count -t tsv"
	assert_line $'kinds:all\tMANY\t11'
}

# trace NAME HEX...: a trace of one file with these bytes; the metadata that begin every one are on
# standard input without their types and their trace block
trace() {
	rm -rf "$1"
	mkdir "$1"
	{
		echo '/* CTF 1.8 */'
		echo 'typealias integer { size = 8; align = 8; } := u8;'
		echo 'typealias integer { size = 32; align = 8; } := u32;'
		echo 'typealias integer { size = 64; align = 8; } := u64;'
		echo "trace { major = 1; minor = 8; byte_order = le; ${HEADER-} };"
		cat
	} >"$1/metadata"
	bytes "${@:2}" >"$1/s"
}

bytes() {
	local hex
	hex=$(tr -d ' \n' <<<"$*")
	printf '%b' "$(sed 's/../\\x&/g' <<<"$hex")"
}

# same NAME COUNT: so many events, listed as babeltrace2 does
same() {
	babeltrace2 --clock-gmt --clock-date --no-delta "$1" >want 2>bt.err
	pipefail "trdecode '$1' | trencode -q" | diff want - || fail "$1"
	assert_equal "$(wc -l <want)" "$2"
}

@test "metadata may be written in every way that the specification allows" {
	need babeltrace2
	trace no-stream 68690000 <<<'event { name = e; fields := struct { string s; }; };'
	same no-stream 2
	trace no-header 0102 <<<'stream { id = 3; }; event { name = e; id = 7; stream_id = 3; fields := struct { u8 a; }; };'
	HEADER='packet.header := struct { u8 stream_id; };' trace one-stream 030102 \
		<<<'stream { id = 3; }; event { name = e; fields := struct { u8 a; }; };'
	same one-stream 2
	trace env-length 020908 <<<'env { len = 3; }; event { name = e; fields := struct { u8 x[env.len]; }; };'
	same env-length 1
	HEADER='packet.header := struct { u8 h; };' trace absolute 0101 02 0909 0708 <<-END
		stream { packet.context := struct { u8 n; }; event.context := struct { u8 m; u8 p[stream.event.context.m]; }; };
		event { name = e; fields := struct { u8 a[trace.packet.header.h]; u8 b[stream.packet.context.n]; }; };
	END
	same absolute 1
	trace own-scope 020908 <<<'event { name = e; fields := struct { u8 n; u8 x[event.fields.n]; }; };'
	same own-scope 1
	trace characters 0102 <<-'END'
		env { a = 'x'; b = '\''; c = '\n'; d = "\"\x20\040'"; };
		event { name = "e"; loglevel = 13; fields := struct { u8 a; }; };
	END
	same characters 2
	trace types 01 0201 03040506 0708 <<-END
		stream {
			typealias integer { size = 16; align = 8; } := u16;
			typedef struct { u16 x; } inner;
			event.context := struct { u8 one; inner c; };
		};
		event {
			typealias integer { size = 24; align = 8; base = hex; } := u24;
			name = e;
			fields := struct { typedef u24 t; typealias u24 := t2; t a; typealias u8 := unsigned long; unsigned long b, c[1]; u8 d; };
		};
	END
	same types 1
	trace named 000200050102030406 <<-END
		enum ee : u8 { A, B = 5, C, "d e" = 10 ... 20, F, };
		struct st { enum ee x; } align(8);
		variant vv { u8 A; u32 B; string C; };
		event { name = e; fields := struct { enum ee tag; variant vv <tag> v; struct st y; }; };
	END
	same named 2
	trace constants 01ff <<-'END'
		// a comment, which \
		   goes on
		event { name = e; fields := struct {
			integer { size = 0x08u; align = 010; base = 'x'; } a;
			integer { size = 8UL; base = "hex"; signed = TRUE; byte_order = network; } \
				b; }; };
	END
	run -0 pipefail "trdecode constants | trencode"
	assert_output 'e: { a = 0x1, b = 0xFF }'
	# 5000 fields
	{
		printf 'event { name = e; fields := struct { '
		printf 'u8 f%d; ' $(seq 5000)
		echo '}; };'
	} | trace fields "$(seq 1 5000 | awk '{ printf "%02x", $1 % 251 }')"
	same fields 1
}

@test "metadata without a signature are read, those of other versions are refused" {
	trace x 0102 <<<'event { name = e; fields := struct { u8 a; }; };'
	sed -i 1d x/metadata
	run -0 pipefail "trdecode x | trencode"
	assert_output $'e: { a = 1 }\ne: { a = 2 }'
	sed -i '1i // of some writer\n' x/metadata
	run -0 pipefail "trdecode x | trstat -c count -q -t tsv"
	assert_line $'e\t2'
	sed -i '1i /* CTF 1.9 */' x/metadata
	run -2 errors trdecode x
	assert_output 'trdecode: x/metadata: 0x0: the version is CTF 1.9: only 1.8 and 2 can be read'
	sed -i '1s/1.9/1.8/; s/minor = 8/minor = 9/' x/metadata
	run -2 errors trdecode x
	assert_output 'trdecode: x/metadata: the version is CTF 1.9: only 1.8 and 2 can be read'
	# the other trace of the directory is read
	mkdir two
	cp -r x two/bad
	trace two/good 01 <<<'event { name = e; fields := struct { u8 a; }; };'
	run -1 pipefail "trdecode -q two | trencode -q"
	assert_line 'e: { a = 1 }'
}

@test "times: the only clock is that of times without one, and they are exact to the ns" {
	need babeltrace2
	local event='event { name = e; };'
	trace implicit 0100000002000000 <<-END
		clock { name = c; freq = 1000000; offset_s = 1000; offset = 5; };
		stream { event.header := struct { u32 timestamp; }; }; $event
	END
	same implicit 2
	# 2/3 s and 1/3 s are one second: of the two that babeltrace2 adds each is rounded down
	trace thirds 01000000020000000300000004000000 <<-END
		clock { name = c; freq = 3; offset_s = 10; offset = 2; };
		stream { event.header := struct { integer { size = 32; align = 8; map = clock.c.value; } timestamp; }; }; $event
	END
	run -0 pipefail "trdecode thirds | trencode -t tsv --no-header --columns time"
	assert_output $'11000000000\n11333333333\n11666666666\n12000000000'
	# ticks of 1 ms from 2^60 on
	trace far 0000000000000010 0100000000000010 <<-END
		clock { name = c; freq = 1000000000000; };
		stream { event.header := struct { u64 timestamp; }; }; $event
	END
	run -0 pipefail "trdecode far | trencode -t tsv --no-header --columns time"
	assert_output $'1152921504606846\n1152921504606846'
	# an offset that no time can have: the events are there
	trace overflow 0100000002000000 <<-END
		clock { name = c; offset_s = 9223372036854775807; };
		stream { event.header := struct { u32 timestamp; }; }; $event
	END
	run -1 pipefail "trdecode -q overflow 2>err | trencode -q"
	assert_line '[0.000000001] e: '
	assert_line '[0.000000002] e: '
	grep -qx "trdecode: overflow/metadata: the offset of the clock 'c' is impossible: times are without it" err
	# a time that cannot be is that of the event before
	trace time 0100000000000000 ffffffffffffffff 0300000000000000 <<-END
		stream { event.header := struct { u64 timestamp; }; }; $event
	END
	run -1 pipefail "trdecode -q time 2>err | trencode -q"
	assert_equal "$(grep -F '] e' <<<"$output")" $'[0.000000001] e: \n[0.000000001] e: \n[0.000000003] e: '
	grep -qx "trdecode: time/s: 0x8: an event with an impossible time" err
}

@test "a packet with another UUID than the metadata's is read" {
	need babeltrace2
	HEADER='uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"; packet.header := struct { u32 magic; u8 uuid[16]; };' \
		trace x c11ffcc1 00112233445566778899aabbccddeeff 0102 <<<'event { name = e; fields := struct { u8 a; }; };'
	same x 2
}

@test "enums: unsigned numbers, ranges, many labels, several labels of a number" {
	need babeltrace2
	trace unsigned 90c8ff <<<'event { name = e; fields := struct { enum : u8 { A, C = 200, D = 201 ... 255 } x; }; };'
	same unsigned 3
	run -0 pipefail "trdecode unsigned | trfilter 'x == 144' | trencode -t ndjson"
	assert_output --partial '"x":144'
	run -0 pipefail "trdecode unsigned | trfilter 'x == \"C\"' | trencode"
	assert_output 'e: { x = ( "C" : container = 200 ) }'
	run -0 pipefail "trdecode unsigned | trstat -q -g x -c count -t tsv"
	assert_line $'144\t1'
	assert_line $'D\t1'
	# in values, of 64 bits too
	trace values 01 ffffffffffffffff 0000000000000080 <<-END
		event { name = e; fields := struct { u8 n; enum : u64 { NEG = 9223372036854775808 ... 18446744073709551615 } x[n]; u64 y; }; };
	END
	same values 1
	trace ranges d6cfffff c7cfffff 02000000 88130000 00000000 <<-END
		event { name = e; fields := struct { enum : integer { size = 32; align = 8; signed = true; } { "NEG" = -12345 ... -1, "POS" = 1 ... 5000 } en; }; };
	END
	same ranges 5
	run -0 pipefail "trdecode ranges | trfilter 'en == \"NEG\"' | trstat -q -c count -t tsv"
	assert_line $'e\t2'
	trace overlap 0001020304 <<<'event { name = e; fields := struct { enum : u8 { A = 0, B = 0, C = 0 ... 2, D = 2 ... 3 } x; }; };'
	same overlap 5
	run -0 pipefail "trdecode overlap | trfilter 'x == \"C\"' | trstat -q -c count -t tsv"
	assert_line $'e\t3'
	{
		printf 'event { name = e; fields := struct { enum : integer { size = 16; align = 8; } { '
		printf 'L%d, ' $(seq 0 4999)
		echo '} x; }; };'
	} | trace many 8713000401000000
	same many 4
	{
		printf 'event { name = e; fields := struct { enum : integer { size = 16; align = 8; } { '
		printf 'L%d, ' $(seq 0 29999)
		echo '} x; }; };'
	} | trace more 0100
	run -0 --separate-stderr trdecode -o s more
	assert_equal "$stderr" "trdecode: more: 'x' has 30000 labels: those after the first 21844 are left out"
}

@test "the context of packets: names of threads, the base of cpu_id, all its fields" {
	need babeltrace2
	trace x a0000000 6d61696e00 0b 01 2a000000 0105 0702 06 a0000000 776f726b00 00 02 07000000 0105 0702 0a <<-END
		stream {
			packet.context := struct { u32 packet_size; string thread_name; integer { size = 8; align = 8; base = 16; } cpu_id; enum : u8 { A, B } e; u32 tid; };
			event.header := struct { u8 id; };
			event.context := struct { u8 c; };
		};
		event { name = e; id = 1; fields := struct { u8 a; }; };
		event { name = f; id = 2; };
	END
	same x 4
	run -0 pipefail "trdecode x | trstat -q -g tid,comm,cpu,type -c count -t tsv"
	assert_line $'42\tmain\t11\te\t1'
	assert_line $'7\twork\t0\tf\t1'
	run -0 pipefail "trdecode x | trfilter 'thread_name == \"work\" && e == \"<none>\" || e == \"B\"' | trstat -q -c count -t tsv"
	assert_line $'e\t1'
}

@test "ids of threads of 64 bits: one beyond 32 bits is none, and not that of another thread" {
	# 2^32 + 42, 42, -1, 2^32 - 1, 2^63 + 42
	trace x 88000000 2a00000001000000 010507 0206 88000000 2a00000000000000 010507 0206 \
		88000000 ffffffffffffffff 010507 0206 88000000 ffffffff00000000 010507 0206 \
		88000000 2a00000000000080 010507 0206 <<-END
			stream {
				packet.context := struct { u32 packet_size; u64 tid; };
				event.header := struct { u8 id; };
				event.context := struct { u8 c; };
			};
			event { name = e; id = 1; fields := struct { u8 a; }; };
			event { name = f; id = 2; };
		END
	run -0 pipefail "trdecode x | trstat -q -g tid,type -c count -t tsv | sort"
	assert_output $'\te\t4\n\tf\t4\n42\te\t1\n42\tf\t1\ntid\ttype\tcount'
}

@test "kernel threads follow from a sched_switch with strings, arrays or values" {
	local comm
	for comm in 'string _next_comm' 'u8 _n; integer { size = 8; encoding = UTF8; } _next_comm[_n]' 'u8 _n; u8 _x[_n]; string _next_comm'; do
		local b=6200 x=7800
		case $comm in
		u8*UTF8*) b=0162 x=0178 ;;
		u8*) b=01016200 x=01017800 ;;
		esac
		trace x "00000000 0a00 $b 02000000 1401 1e00 $x 03000000 2801 3202 3c00 $b 02000000 4602" <<-END
			env { domain = "kernel"; };
			clock { name = c; };
			stream { packet.context := struct { u32 cpu_id; };
				event.header := struct { integer { size = 8; align = 8; map = clock.c.value; } timestamp; u8 id; }; };
			event { name = "sched_switch"; id = 0; fields := struct { $comm; u32 _next_tid; }; };
			event { name = "syscall_entry_read"; id = 1; };
			event { name = "syscall_exit_read"; id = 2; };
		END
		run -0 pipefail "trdecode x | trstat -q -g name,tid,comm -c count,total -t tsv"
		assert_line $'read\t2\tb\t1\t50'
		assert_line $'read\t3\tx\t1\t10'
	done
}

@test "events and elements of no bits do not go on for ever" {
	local field
	for field in '' 'fields := struct { struct { } x[4294967295]; };' 'fields := struct { struct { } x[99999][99999]; };'; do
		trace x 01020304 <<<"event { name = e; $field };"
		run -1 timeout 10 bash -c "trdecode -q x >s"
		assert_output --partial "x/s: 0x0: an event"
		[[ $(stat -c %s s) -lt 4096 ]]
	done
	HEADER='packet.header := struct { struct { } x[99999][99999]; };' trace x 01020304 \
		<<<'stream { packet.context := struct { u8 packet_size; }; }; event { name = e; fields := struct { u8 a; }; };'
	run -1 timeout 10 bash -c "trdecode -q x >s"
	# many names
	for field in 'clock { name = c%d; };' 'typealias u8 := t%d;'; do
		{
			seq -f "${field/\%d/%.0f}" 150000
			echo 'event { name = e; fields := struct { u8 a; }; };'
		} | trace x 01
		run -0 bash -c "ulimit -t 5; trdecode x | trstat -t csv -c count"
		assert_line 'e,1'
	done
	# as many of them as an event may have
	trace x 0203 <<<'event { name = e; fields := struct { u8 n; struct { } x[n]; }; };'
	run -0 pipefail "trdecode x | trencode"
	assert_line 'e: { n = 2, x = [ [0] = { }, [1] = { } ] }'
}

@test "losses: what is before the first packet, tracefiles without an instance, counters that wrap" {
	local context='packet.context := struct { u8 packet_size; u8 b; u8 e; u8 cpu_id; u8 events_discarded; SEQ };'
	stream() {
		local c=${context//SEQ/$2}
		c=${c//u8 b/integer { size = 8; map = clock.c.value; \} timestamp_begin}
		c=${c//u8 e;/integer { size = 8; map = clock.c.value; \} timestamp_end;}
		HEADER="$1" trace x "${@:3}" <<-END
			clock { name = c; };
			stream { $c }; event { name = e; fields := struct { u8 a; }; };
		END
	}
	gaps() {
		pipefail "trdecode -q x | trencode -q" | grep ' lost\]' | sed 's/.*: //'
	}
	# without numbers the first counter counts
	stream '' '' 30 00 09 00 05 01 30 0a 13 00 07 01
	run -0 gaps
	assert_output $'5 events lost]\n2 events lost]'
	# it begins with packet 0, or in its midst
	stream '' 'u8 packet_seq_num;' 38 00 09 00 05 00 01 38 0a 13 00 05 01 01
	run -0 gaps
	assert_output '5 events lost]'
	stream '' 'u8 packet_seq_num;' 38 00 09 00 05 03 01 38 0a 13 00 06 05 01
	run -0 gaps
	assert_output $'an unknown number of events lost]\n1 event lost]\n1 packet lost]'
	# summaries know of it
	pipefail 'trdecode -q x | trstat -q --partial' >one
	trstat -q --merge --partial one >two
	for summary in one two; do
		run -0 trstat --merge $summary
		assert_output --partial 'packets or an unknown number of events were lost by the recorder'
		run -1 trstat -q --merge --strict $summary
	done
	# the counter wraps, or falls
	stream '' 'u8 packet_seq_num;' 38 00 09 00 fe 00 01 38 0a 13 00 01 01 01 38 14 1d 00 00 09 01
	run -0 gaps
	assert_output $'254 events lost]\n3 events lost]\n7 packets lost]'
	# tracefiles of LTTng before 2.8
	stream '' '' 30 00 09 00 05 01
	bytes 30 0a 13 00 07 01 >x/s_1
	bytes 30 0a 13 01 02 01 >x/t
	run -0 gaps
	assert_output $'5 events lost]\n2 events lost]\n2 events lost]'
}

@test "system calls with arrays, sequences and structs among their arguments are calls" {
	trace x 00000000 0a01 02 0506 3202 02 0708 <<-END
		env { domain = "kernel"; };
		clock { name = c; };
		stream { packet.context := struct { u32 cpu_id; };
			event.header := struct { integer { size = 8; align = 8; map = clock.c.value; } timestamp; u8 id; }; };
		event { name = "syscall_entry_poll"; id = 1; fields := struct { u8 _n; struct { u8 _x; } _fds[_n]; }; };
		event { name = "syscall_exit_poll"; id = 2; fields := struct { u8 _n; struct { u8 _x; } _fds[_n]; }; };
	END
	run -0 pipefail "trdecode x | trstat -q -g name -c count,total -t tsv"
	assert_line $'poll\t1\t40'
	run -0 pipefail "trdecode x | trencode"
	assert_line --index 1 '[0.000000050] syscall_exit_poll: { cpu_id = 0 }, { n = 2, fds = [ [0] = { x = 7 }, [1] = { x = 8 } ] }'
}

@test "returned errors, signals and states of the kernel's events have names, by its release" {
	local release letters
	for release in 3.16.0 6.1.0; do
		letters=$([[ $release == 3* ]] && echo Z || echo X)
		trace x "00000000 0503 0a00 feffffffffffffff 1401 10000000 1e02 0900" <<-END
			env { domain = "kernel"; kernel_release = "$release"; };
			clock { name = c; };
			stream { packet.context := struct { u32 cpu_id; };
				event.header := struct { integer { size = 8; align = 8; map = clock.c.value; } timestamp; u8 id; }; };
			event { name = "syscall_entry_read"; id = 3; };
			event { name = "syscall_exit_read"; id = 0; fields := struct { integer { size = 64; signed = true; } _ret; }; };
			event { name = "sched_switch"; id = 1; fields := struct { integer { size = 32; signed = true; } _prev_state; }; };
			event { name = "signal_deliver"; id = 2; fields := struct { u8 _sig; u8 _code; }; };
		END
		run -0 pipefail "trdecode x | trstat -q -g ret,prev_state,sig,code -c count"
		assert_line --regexp "^ +1 +ENOENT *\$"
		assert_line --regexp "^ +1 +$letters *\$"
		assert_line --regexp "^ +1 +SIGKILL +SI_USER\$"
		run -0 pipefail "trdecode x | trencode -t csv --no-header -c ret,ret.name,prev_state,sig.name"
		assert_output "-2,ENOENT,,"$'\n'",,16,"$'\n'",,,SIGKILL"
		# as babeltrace2 prints them
		run -0 pipefail "trdecode x | trencode"
		assert_output --partial 'ret = -2 }'
		assert_output --partial 'prev_state = 16 }'
		assert_output --partial 'sig = 9, code = 0 }'
	done
}

@test "a clock that begins before 1970 keeps its times" {
	echo '[{"ph":"X","name":"f","ts":1,"dur":2,"pid":1},{"ph":"X","name":"g","ts":5,"dur":3,"pid":1}]' >x.json
	trdecode x.json | trencode -t ctf -o early
	sed -i 's/offset_s = 0;/offset_s = -5;/; s/absolute = false/absolute = true/' early/metadata
	run -0 pipefail "trdecode early | trencode -t tsv --no-header --columns time,dur,name"
	assert_output $'1000\t2000\tf\n5000\t3000\tg'
	run -2 errors trdecode --clock wall early
}

@test "callstack contexts are stacks: the kernel's frames above the user's" {
	# event.context: as lttng-modules declares it, with u32 length and u64 addresses
	trace stacks 00 0200000000000000 02000000 0010000000000000 0020000000000000 \
		02000000 00000081ffffffff ffffffffffffffff 07000000 \
		00 0500000000000000 00000000 01000000 00000081ffffffff 07000000 \
		00 0600000000000000 01000000 0010000000000000 00000000 07000000 \
		00 0700000000000000 00000000 00000000 07000000 <<-'END'
	clock { name = c; freq = 1000000000; offset_s = 1; };
	typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
	typealias integer { size = 64; align = 8; base = 16; } := address;
	stream { event.header := struct { u8 id; time timestamp; };
		event.context := struct {
			u32 __callstack_user_length; address _callstack_user[ __callstack_user_length ];
			u32 __callstack_kernel_length;
			address _callstack_kernel[ __callstack_kernel_length ];
			u32 _vpid; }; };
	event { id = 0; name = tick; fields := struct { }; };
	END
	run -0 pipefail "trdecode stacks | trencode -q -t folded"
	assert_output - <<-'END'
	<1000> 1
	<2000>;<1000>;<ffffffff81000000> 1
	<ffffffff81000000> 1
	END
	echo 'ffffffff81000000 T begin' >kallsyms
	run -0 pipefail "trdecode stacks | trsym -q --kallsyms=kallsyms | trstat -g stack -c count -t tsv"
	assert_line $'<2000>;<1000>;begin\t1'
	run -0 pipefail "trdecode stacks | trfilter 'stack =~ \"1000>;<f\"' | trstat -c count -t tsv"
	assert_line $'tick\t1'
	need babeltrace2
	same stacks 4
}

@test "a clock that steps back is reported with its place, and no event is lost" {
	run -0 pipe "trdecode $DATA/ctf/step-back 2>err | trencode -q -t csv -c time"
	assert_output $'time\n4294967000\n4294967200\n100\n300'
	grep "^trdecode: .*step-back/channel0_0: 0x[0-9a-f]*: the time steps back" err
}
