# Compressed and indexed streams: what programs read of them, and what they print about damage. The
# seek table is read by tools/seek_table.py, which was written from its specification.
load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	# 4 phases of types and 2 of threads, so that sections differ
	awk 'BEGIN {
		n = 180000
		for (i = 0; i < n; i++) {
			tid = int(i * 4 / n) % 2 ? 100 + i % 5 : 200 + i % 7
			e = i % 3 ? "a" int(i * 8 / n) : "common"
			if (i < 8) e = "a" i
			if (i == n / 2) e = "rare"
			printf "            task-%d    [%03d] d... %.6f: %s: number=%d\n", tid, i % 4, 1000 + i / 1e4, e, i
		}
	}' >trace.txt
	trdecode -q --segment 200K -o raw.trs trace.txt
	trsym -q -o plain.trs raw.trs
	trsym -q --index -o index.trs raw.trs
	trsym -q --compress -o packed.trs raw.trs
	trdecode -q --segment 4K --compress=zstd:1 -o small.trs <(head -n 3000 trace.txt)
	trdecode -q --segment 1K "$DATA/uftrace/fib" | trsym -q >calls.trs
	trdecode --reindex --compress -o calls-packed.trs calls.trs
	# an INDEX that is not of the stream, with right check sums: another block begins the last section
	python3 - <<-'EOF'
		import struct, zlib
		data = bytearray(open("index.trs", "rb").read())
		end = data.rindex(b"trindex1") + 16
		length = struct.unpack("<I", data[end - 8:end - 4])[0]
		at = end - length
		types, lanes, sections = struct.unpack("<III", data[at + 8:at + 20])
		section = at + 24
		for i in range(types):
		    group, name = struct.unpack("<HH", data[section + 4:section + 8])
		    section += (8 + group + name + 7) // 8 * 8
		section += 16 * lanes
		for i in range(sections - 1):
		    types, lanes = struct.unpack("<II", data[section + 68:section + 76])
		    section += 80 + (8 * types + 4 * lanes + 7) // 8 * 8
		data[section + 64] ^= 1
		data[end - 4:end] = struct.pack("<I", zlib.crc32(data[at:end - 4]))
		header = at - 24
		if struct.unpack("<H", data[header + 6:header + 8])[0] & 1:
		    data[header + 12:header + 16] = struct.pack("<I", zlib.crc32(data[at:end]))
		    data[header + 20:header + 24] = struct.pack("<I", zlib.crc32(data[header:header + 20]))
		open("wrong.trs", "wb").write(data)
		data = bytearray(open("index.trs", "rb").read())
		data[-300] ^= 4
		open("damaged.trs", "wb").write(data)
	EOF
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	own=$BATS_TEST_TMPDIR
}

# same COMMAND: with FILE an indexed or a compressed stream as with a plain one
same() {
	local file status
	for file in plain index packed; do
		status=0
		bash -c "set -o pipefail; ${1//FILE/$file.trs}" >"$own/$file" 2>"$own/$file.err" || status=$?
		echo "status $status" >>"$own/$file"
		sed -i "s/$file.trs/FILE/g" "$own/$file.err"
		cmp "$own/plain" "$own/$file" || fail "$1: $file"
		diff "$own/plain.err" "$own/$file.err" || fail "$1: $file"
	done
}

# read_bytes COMMAND: bytes that the programs of a command read
read_bytes() {
	bash -c "before=\$(sed -n 's/rchar: //p' /proc/\$\$/io); $1 >/dev/null; after=\$(sed -n 's/rchar: //p' /proc/\$\$/io); echo \$((after - before))"
}

@test "zstdcat prints the stream, and an independent reader the frames of the seek table" {
	need zstd
	run -0 "$ROOT/t/tools/seek_table.py" check small.trs
	[ "$output" -gt 10 ]
	"$ROOT/t/tools/seek_table.py" check packed.trs calls-packed.trs
	cat packed.trs small.trs >"$own/both.trs"
	"$ROOT/t/tools/seek_table.py" check "$own/both.trs"
	zstdcat packed.trs | trencode -t csv | cmp - <(trencode -t csv plain.trs)
	[ "$(wc -c <packed.trs)" -lt "$(($(wc -c <plain.trs) / 3))" ]
}

@test "every program reads compressed and indexed streams, from files and pipes" {
	for command in 'trstat FILE' 'trstat <FILE' 'cat FILE | trstat' 'cat FILE FILE | trstat' 'trencode FILE | tail -n 3' \
		'trfilter "number == 17" FILE | trencode' 'trsym FILE | trstat' 'trdecode FILE | trstat' 'trdecode - <FILE | trstat' \
		'trdecode --list FILE' 'cat FILE | trdecode --list -'; do
		same "$command"
	done
	trstat calls.trs | cmp - <(trstat calls-packed.trs)
	trencode calls.trs | cmp - <(trfilter --compress true calls-packed.trs | trencode)
}

@test "what is left out by the index is what reading leaves out" {
	for range in '--since 1005.5' '--until 1004.25' '--since 1003.0 --until 1003.001' '--since +1s --until +1.5s' '--since 1030.0'; do
		for command in "trdecode $range FILE | trencode -t csv" "trfilter $range true FILE | trencode" \
			"trstat -j 1 -g type,tid $range FILE" "trencode -t csv $range FILE"; do
			same "$command"
		done
	done
	for select in '--tid 103' '--tid 999' '--cpu 2' '--type rare' '--type "a[12]"' '--type none' '--type a6 --until 1002.0'; do
		same "trdecode $select FILE | trencode -t csv"
	done
	for expression in "'type == \"rare\"'" "'type == \"a7\" && number < 170000'" "'type == \"nosuch\"'" \
		"-n 3 'type == \"a5\"'" "-v 'type == \"common\"'"; do
		same "trfilter $expression FILE | trencode"
		same "trfilter -c $expression FILE"
	done
}

@test "calls that are open at the begin and at the end of a range are those of reading" {
	first=$(trdecode --info calls.trs | awk '/first time/ { print $3 }')
	last=$(trdecode --info calls.trs | awk '/last time/ { print $3 }')
	for i in 1 3 5; do
		since=$((first + (last - first) * i / 8))ns until=$((first + (last - first) * (i + 1) / 8))ns
		for range in "--since $since" "--until $until" "--since $since --until $until"; do
			for command in "trstat -j 1" "trstat -j 1 -g name,tid" "trstat --tree" "trencode -t csv" "trfilter true"; do
				# shellcheck disable=SC2086
				$command $range calls.trs | trencode_if "$command" >"$own/a"
				# shellcheck disable=SC2086
				$command $range calls-packed.trs | trencode_if "$command" >"$own/b"
				cmp "$own/a" "$own/b" || fail "$command $range"
			done
		done
	done
}

trencode_if() {
	[[ $1 == trfilter* ]] && trencode -t csv || cat
}

@test "a part of an indexed file is read, not the file" {
	size=$(wc -c <index.trs)
	for command in 'trdecode --since 1017.9 index.trs' 'trdecode --type rare index.trs' 'trfilter -c "type == \"a7\"" index.trs' \
		'trstat -j 1 --since 1000.0 --until 1000.1 index.trs' 'trencode -t csv --since 1017.9 index.trs'; do
		[ "$(read_bytes "$command")" -lt $((size * 2 / 3)) ] || fail "$command: $(read_bytes "$command") of $size"
	done
}

@test "a wrong index is a message, and all is read" {
	run --separate-stderr -1 trdecode --since 1017.9 damaged.trs -o "$own/a.trs"
	[[ $stderr == "trdecode: damaged.trs: an index that is damaged: all is read (trdecode --reindex makes a new one)"$'\n'*"a block with a wrong checksum"* ]]
	trencode -t csv "$own/a.trs" 2>/dev/null | cmp - <(trdecode --since 1017.9 plain.trs | trencode -t csv)
	run --separate-stderr -1 trdecode --since 1017.9 wrong.trs -o "$own/a.trs"
	assert_equal "$stderr" "trdecode: wrong.trs: an index that does not match its stream: all is read (trdecode --reindex makes a new one)"
	trencode -t csv "$own/a.trs" 2>/dev/null | cmp - <(trdecode --since 1017.9 plain.trs | trencode -t csv)
}

@test "--verify compares the index with the stream, and --reindex makes a new one" {
	run -0 trdecode --verify plain.trs index.trs packed.trs
	assert_line --index 0 --regexp '^plain.trs: 180000 events, [0-9]+ segments, no index$'
	assert_line --index 1 --regexp '^index.trs: 180000 events, [0-9]+ segments, ([0-9]+) of \1 sections as the index has them$'
	run --separate-stderr -1 trdecode --verify wrong.trs
	[[ $stderr == *'the index does not match the stream: another block begins the section'* ]]
	run -1 trdecode --verify damaged.trs
	run -0 trdecode --reindex -o "$own/new.trs" wrong.trs
	run -0 trdecode --verify "$own/new.trs"
	trencode -t csv "$own/new.trs" | cmp - <(trencode -t csv plain.trs)
	run -2 trdecode --verify --since 1s plain.trs
}

@test "a flipped bit costs the rows of its frame, and is found" {
	need zstd
	"$ROOT/t/tools/seek_table.py" flips 12 "${FLIPS_SEED:-1}" small.trs "$own/flip.trs"
}
