# CTF 1.8, what LTTng 2 writes: events as babeltrace2 lists them, damage, losses.
# kinds and lost were recorded with lttng-tools 2.13, a tracepoint with a field of every kind.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	C=$SHARED/ctf
}

teardown() {
	[[ ! -s sessiond.pid ]] || kill "$(cat sessiond.pid)"
}

unpack() {
	tar -xzf "$DATA/ctf/$1.tar.gz"
}

@test "a field of every kind is printed as babeltrace2 does" {
	pipefail "trdecode '$DATA/ctf/kinds.tar.gz' | trencode" >got
	diff "$DATA/ctf/kinds.expect.txt" got
}

@test "every sample lists the events that babeltrace2 lists" {
	need_shared ctf
	local d
	for d in "$C"/*/; do
		pipefail "trdecode '$d' | trencode" | diff "${d%/}.expect.txt" -
	done
}

@test "a trace recorded now is listed as babeltrace2 does" {
	need lttng
	need babeltrace2
	local name=trutils-$$
	export LTTNG_HOME=$PWD
	lttng list >/dev/null 2>&1 || lttng-sessiond -d -p "$PWD/sessiond.pid" >/dev/null 2>&1 3>&- ||
		skip "no lttng-sessiond can run here"
	{
		lttng create "$name" -o "$PWD/rec" && lttng enable-event -u -a -s "$name" &&
			lttng add-context -u -t vpid -t vtid -t procname -s "$name" && lttng start "$name"
	} >/dev/null 2>&1 || skip "lttng cannot record here"
	LD_PRELOAD=liblttng-ust-libc-wrapper.so:liblttng-ust-pthread-wrapper.so ls / >/dev/null 2>&1 || true
	lttng destroy "$name" >/dev/null
	[[ -d rec ]] || skip "nothing was recorded"
	babeltrace2 --clock-gmt --clock-date --no-delta rec >want
	[[ -s want ]] || skip "nothing was recorded"
	pipefail "trdecode rec | trencode" >got
	LC_ALL=C sort want >want.sorted
	LC_ALL=C sort got | diff want.sorted -
}

@test "threads, processes, names and CPUs follow from the contexts" {
	unpack kinds
	run -0 pipefail "trdecode kinds | trstat -g pid,tid,comm,type -a count -F tsv"
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
	run -0 bash -c "trdecode '$DATA/ctf/lost.tar.gz' | trstat -g type -a count -F tsv"
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

@test "--info tells what the trace is" {
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
	run -1 pipe "trstat -g type -a count -F tsv s 2>/dev/null"
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
	run -2 trdecode .
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
	run -2 trdecode $d/no.json
	assert_output "trdecode: $d/no.json: not a trace of a known format"
	run -2 trdecode kinds/no.json
	assert_output "trdecode: kinds/no.json: not a trace of a known format"
	run -2 trdecode $d/metadata
	assert_output "trdecode: $d/metadata: metadata alone hold no events: give the directory around them"
	run -0 trdecode --info $d/ch_0
	assert_line --regexp '^format +ctf$'
	run -0 trdecode --info --json $d/ch_0
	assert_line --partial '"format": "ctf"'
}

# one field of the bytes 1 to 127, each with an x behind it
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
	run -0 pipefail "trdecode '$d' | trfilter 'i == 1 && col == \"GREEN\"' | trstat -a count -F tsv"
	assert_output $'name\tcount\nkinds:all\t1'
	run -0 pipefail "trdecode '$d' | trfilter 'arg.i == 1' | trstat -a count -F tsv"
	assert_output $'name\tcount\nkinds:all\t1'
	run -0 pipefail "trdecode '$d' | trstat -g type,col -a count -F tsv"
	assert_line $'kinds:all\tMANY\t11'
	run -0 pipefail "trdecode '$d' | trstat -g type,arg.col -a count -F tsv"
	assert_line $'kinds:all\tMANY\t11'
}
