# CTF 2: metadata in JSON. The events are those that an independent writer (t/tools/ctf2_traces.py)
# wrote by the specification, or those of a trace of CTF 1.8 with the same data.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	C=$RECORDED/ctf2
	S=$RECORDED/ctf-babeltrace/traces
	tool=$ROOT/t/tools/ctf2_traces.py
}

# fragments JSON...: metadata of these fragments
fragments() {
	printf '\36%s\n' "$@"
}

u8='{"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian", "alignment": 8}'
preamble='{"type": "preamble", "version": 2}'
stream='{"type": "data-stream-class"}'

# one FIELD-CLASS: a trace with an event of this field, of the bytes of standard input
one() {
	rm -rf one
	mkdir one
	fragments "$preamble" "$stream" '{"type": "event-record-class", "name": "e",
		"payload-field-class": {"type": "structure", "member-classes": [
		{"name": "f", "field-class": '"$1"'}]}}' >one/metadata
	cat >one/data
}

@test "random field classes have the values that were written" {
	need python3
	local seed
	for seed in {1..12}; do
		python3 "$tool" $seed "t$seed"
		trdecode "t$seed" | trencode -t ndjson | python3 "$tool" compare "t$seed.expect"
	done
}

@test "locations of lengths and tags lead through arrays and variants" {
	need python3
	python3 "$tool" examples x
	trdecode x | trencode -t ndjson | python3 "$tool" compare x.expect
}

same_events() {
	local name
	for name in smalltrace succeed1 trace-with-index lttng-crash; do
		trdecode "$S/succeed/$name" | trencode >want
		pipefail "trdecode '$C/CTF2-7.0-$name' | trencode" | cmp want -
	done
	run -0 pipefail "trdecode '$C/CTF2-vl-ints' | trencode"
	assert_output --partial 'vu9 = 333333333333333333, vu10 = 18446744073709551615, vi1a = 0, vi1b = -1'
	assert_output --partial 'vi10b = 9223372036854775807, vi10c = -9223372036854775808 }'
}

listed_events() {
	local d
	for d in "$S"/succeed/* "$S"/packet-seq-num/no-lost; do
		babeltrace2 --clock-gmt --clock-date --no-delta "$d" 2>/dev/null | LC_ALL=C sort >want
		trdecode "$d" | trencode -q | sed '/lost\]$/d' | LC_ALL=C sort | diff want -
	done
}

bad_traces() {
	local d s
	for d in "$S"/fail/*; do
		s=0
		trdecode -o out "$d" 2>err || s=$?
		# traces of a draft of CTF are not read at all
		[[ $s == 1 || $s == 2 && $(<err) == *"the version is CTF "* ]]
		grep -Eq '(metadata|channel0_3|dummystream): ' err
	done
}

@test "babeltrace's traces have the events that babeltrace2 lists, in both versions; bad ones give a place" {
	need babeltrace2
	need_shared ctf2
	need_shared ctf-babeltrace
	same_events
	listed_events
	bad_traces
}

@test "bit maps in both byte and bit orders" {
	local bits='"type": "fixed-length-bit-map", "length": 16, "flags": {"RED": [[0, 0]], "X": [[4, 5], [9, 9]]}'
	local bytes rest want
	while read -r bytes want rest; do
		printf '%b' "$bytes" | one "{$bits, $rest}"
		run -0 pipefail "trdecode one | trencode"
		assert_output "e: { f = $want }"
	done <<-'END'
		\1\2 RED|X.9 "byte-order": "little-endian"
		\2\1 RED|X.9 "byte-order": "big-endian"
		\1\0 0x8000 "byte-order": "little-endian", "bit-order": "last-to-first"
		\2\0 0x40 "byte-order": "big-endian", "bit-order": "first-to-last"
	END
}

@test "booleans, texts and BLOBs" {
	printf '\1\0' | one '{"type": "fixed-length-boolean", "length": 16, "byte-order": "big-endian"}'
	trdecode one | trfilter -c 'f == "true"' | grep -qx 1
	printf 'a\0\254 \75\330\0\336\0\0' | one '{"type": "null-terminated-string", "encoding": "utf-16le"}'
	run -0 pipefail "trdecode one | trencode"
	assert_output 'e: { f = "a€😀" }'
	printf '\0\1\0\0' | one '{"type": "static-length-string", "length": 4, "encoding": "utf-32le"}'
	run -0 pipefail "trdecode one | trencode"
	assert_output 'e: { f = "Ā" }'
	printf 'a\377\0' | one '{"type": "static-length-blob", "length": 3}'
	run -0 pipefail "trdecode one | trencode"
	assert_output 'e: { f = [ [0] = 0x61, [1] = 0xFF, [2] = 0x0 ] }'
}

@test "a clock has an origin, a precision and an accuracy" {
	local clock='"type": "clock-class", "id": "c", "frequency": 1000, "precision": 5, "accuracy": 7'
	local time='"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian", "roles": ["default-clock-timestamp"]'
	local origin name want
	mkdir c
	printf '\7\12' >c/data
	while read -r name want origin; do
		fragments "$preamble" "{$clock, \"offset-from-origin\": {\"seconds\": 5, \"cycles\": 3}$origin}" \
			'{"type": "data-stream-class", "default-clock-class-id": "c",
			"event-record-header-field-class": {"type": "structure", "member-classes": [
			{"name": "t", "field-class": {'"$time"'}}]}}' \
			'{"type": "event-record-class", "name": "e"}' >c/metadata
		trdecode c | trencode -t csv -c time | sed 1d >got
		printf '%s\n' "$want" "$((want + 3000000))" | diff - got
		run -0 trdecode --info c
		assert_line --regexp '^clock precision +5$'
		assert_line --regexp '^clock accuracy +7$'
		[[ $name == none ]] || assert_line --regexp "^clock origin +$name\$"
	done <<-'END'
		none 7000000
		none 5010000000 , "origin": "unix-epoch"
		n/u 5010000000 , "origin": {"name": "n", "uid": "u"}
		s/n/u 5010000000 , "origin": {"namespace": "s", "name": "n", "uid": "u"}
	END
}

@test "an extension is refused by its name" {
	printf 'x' | one "$u8"
	fragments '{"type": "preamble", "version": 2, "extensions": {"my.tracer": {"piano": {}}}}' \
		"$stream" >one/metadata
	run -2 errors trdecode one
	assert_output "trdecode: one/metadata: line 1: the extension 'my.tracer/piano' is not supported"
	fragments "$preamble" "$stream" '{"type": "event-record-class", "name": "e",
		"payload-field-class": {"type": "structure", "extensions": {"a": {"b": 1}}}}' >one/metadata
	run -1 errors trdecode one
	assert_line "trdecode: one/metadata: line 4: the extension 'a/b' is not supported"
}

@test "a fragment that cannot be read costs itself, and its line is printed" {
	local what class
	while IFS='|' read -r what class; do
		mkdir -p bad
		printf '\1\5' >bad/data
		fragments "$preamble" '{"type": "data-stream-class",
			"event-record-header-field-class": {"type": "structure", "member-classes": [
			{"name": "i", "field-class": {"type": "variable-length-unsigned-integer",
			"roles": ["event-record-class-id"]}}]}}' \
			'{"type": "event-record-class", "name": "bad", "payload-field-class": '"$class"'}' \
			'{"type": "event-record-class", "id": 1, "name": "good", "payload-field-class":
			{"type": "structure", "member-classes": [{"name": "n", "field-class": '"$u8"'}]}}' \
			>bad/metadata
		run -1 --separate-stderr pipe "trdecode bad 2>err | trencode -q"
		assert_output 'good: { n = 5 }'
		grep -qF "trdecode: bad/metadata: $what" err
	done <<-'END'
		line 6: 'type' is missing|{}
		line 6: 'tree' is not a type of a field class|{"type": "tree"}
		line 6: 'payload-field-class' must be a structure|{"type": "null-terminated-string"}
		line 6: the field class 'x' is not declared|"x"
		line 6: 'byte-order' is missing|{"type": "fixed-length-boolean", "length": 1}
		line 6: a field of 0 or more than 64 bits, which trutils does not read|{"type": "fixed-length-bit-array", "length": 65, "byte-order": "big-endian"}
		line 6: an alignment that is not a power of two|{"type": "structure", "minimum-alignment": 3}
		the event 'bad' cannot be read: 'x', the length of 's', is missing or of another kind|{"type": "structure", "member-classes": [{"name": "s", "field-class": {"type": "dynamic-length-string", "length-field-location": {"path": ["x"]}}}]}
		the event 'bad' cannot be read: 'x', the tag of 's', is missing or of another kind|{"type": "structure", "member-classes": [{"name": "x", "field-class": {"type": "variable-length-unsigned-integer"}}, {"name": "s", "field-class": {"type": "optional", "field-class": {"type": "null-terminated-string"}, "selector-field-location": {"path": ["x"]}}}]}
	END
}

@test "metadata that is cut, of another version, or without its preamble" {
	need python3
	python3 "$tool" 3 t
	head -c 1500 t/metadata >short
	cp short t/metadata
	run -1 errors trdecode t
	assert_line --regexp '^trdecode: t/metadata: line [0-9]+: '
	fragments '{"type": "preamble", "version": 3}' >t/metadata
	run -2 errors trdecode t
	assert_output "trdecode: t/metadata: line 1: the version is CTF 3"
	fragments "$stream" >t/metadata
	run -1 errors trdecode t
	assert_line "trdecode: t/metadata: line 1: the first fragment is not a preamble"
}

@test "LTTng's packets of metadata contain JSON too, and TSDL needs no comment" {
	printf '\5' | one "$u8"
	local n
	n=$(stat -c %s one/metadata)
	{
		printf '\x57\x1d\xd1\x75%020d' 0
		printf '%b' "$(printf '\\x%02x\\x%02x\\0\\0' $(((n + 37) * 8 & 255)) $(((n + 37) * 8 >> 8)))"{,}
		printf '\0\0\0\2\0'
		cat one/metadata
	} >packets
	mv packets one/metadata
	run -0 pipefail "trdecode one | trencode"
	assert_output 'e: { f = 5 }'
	printf 'typealias integer { size = 8; } := u8;
		trace { major = 1; minor = 8; byte_order = le; }; stream {};
		event { name = e; fields := struct { u8 f; }; };' >one/metadata
	run -0 pipefail "trdecode one | trencode"
	assert_output 'e: { f = 5 }'
}

@test "damage: no crash, and a status" {
	need python3
	local seed s file
	RANDOM=7
	for seed in {1..30}; do
		rm -rf t
		python3 "$tool" $((seed % 5)) t
		file=t/metadata
		((seed % 3)) || file=t/stream
		flip $file $((1 + seed % 4))
		((seed % 4)) || truncate -s $((RANDOM % 2000)) $file
		s=0
		trdecode t >out 2>/dev/null || s=$?
		((s <= 2))
		((s == 2)) || trencode -q out >/dev/null 2>&1 || (($? == 1))
	done
}
