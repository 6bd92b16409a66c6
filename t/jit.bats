#!/usr/bin/env bats
# Functions of JIT compilers in recordings of perf: perf-PID.map and jit-PID.dump.
bats_require_minimum_version 1.5.0

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need perf
	[ "$(uname -m)" = x86_64 ] || skip 'the compiler of the tests makes code of x86_64'
	cc -O1 -o compiler "$ROOT/t/tools/jit_compiler.c"
	mkdir -p image/tmp
}

# record KIND: record the compiler; its file is below image/tmp
record() {
	perf record -q -k mono -F 4000 -e cpu-clock:u -g -o "$1.data" ./compiler "$1" "$PWD/image/tmp" 2>err ||
		skip "perf record: $(tail -n 1 err)"
}

# counts: the number of samples of each function, of a stream
counts() {
	trsym -q | trstat -q -t tsv -g name -c count | grep -P '^(first function|second|third;x)\t' | sort
}

@test "perf-PID.map: functions as perf report has them" {
	record map
	map=$(echo image/tmp/perf-*.map)
	ln -s "$PWD/$map" /tmp/ 2>/dev/null || skip 'no /tmp'
	perf report --stdio -n --no-children -g none -i map.data 2>/dev/null >report
	rm "/tmp/${map##*/}"
	sed -n 's/^ *[0-9.]*% *\([0-9]*\) .*\[\.\] \(.*[^ ]\) *$/\2\t\1/p' report |
		grep -E '^(first function|second|third;x)' | sort >theirs
	trdecode -q --sysroot "$PWD/image" map.data | counts >ours
	[ "$(wc -l <ours)" -eq 3 ]
	diff theirs ours
	# of two lines for an address, the last counts; lines that are none are passed over
	{ echo 'no line'; sed 's/second/other/' "$map"; cat "$map"; echo 'ffff'; } >new
	mv new "$map"
	trdecode -q --sysroot "$PWD/image" map.data | counts | diff ours -
	# numbers with the prefix 0x, and lines that end with CR
	cp "$map" kept
	sed -E 's/^([0-9a-f]+) ([0-9a-f]+) /0x\1 0x\2 /; s/$/\r/' kept >"$map"
	grep -qP '^0x[0-9a-f]+ 0x[0-9a-f]+ second\r$' "$map"
	trdecode -q --sysroot "$PWD/image" map.data | counts | diff ours -
	cp kept "$map"
	# nothing is read below another root, and nothing of another user
	trdecode --sysroot "$PWD" map.data 2>said | trsym -q | run -1 grep -c second -
	assert_equal "$(cat said)" ''
	if [ "$(id -u)" = 0 ]; then
		chown 12345 "$map"
		trdecode --sysroot "$PWD/image" map.data 2>said >/dev/null
		grep -q "^trdecode: .*${map##*/}: belongs to another user, and is not read" said
	fi
}

@test "jit-PID.dump: functions by address and time as perf inject --jit has them, with lines" {
	record dump
	perf inject --jit -i dump.data -o injected.data 2>err || skip "perf inject: $(tail -n 1 err)"
	perf report --stdio -n --no-children -g none -i injected.data 2>/dev/null |
		sed -n 's/^ *[0-9.]*% *\([0-9]*\) .*\[\.\] \(.*[^ ]\) *$/\2\t\1/p' |
		grep -E '^(first function|second|third;x)' | sort >theirs
	trdecode -q dump.data | counts >ours
	[ "$(wc -l <ours)" -eq 3 ]
	diff theirs ours
	trdecode -q dump.data | trstat -q -t tsv -g name,file,line -c count | grep -P '\tloop.js$|loop.js' >lines
	for function in 'first function' second 'third;x'; do
		grep -q "$function" lines
	done
	[ "$(grep -cE '\b2[012]\b' lines)" -ge 3 ]
	# the dump was moved beside the recording
	mv image/tmp/jit-*.dump .
	trdecode -q dump.data | counts | diff ours -
	# damage is said, with the place; what is before it is used
	dump=$(echo jit-*.dump)
	head -c 300 "$dump" >some && mv some "$dump"
	trdecode dump.data 2>said | counts >before
	grep -E "^trdecode: .*$dump: (at )?(offset )?0x[0-9a-f]+: " said
	[ "$(wc -l <before)" -lt 3 ]
}

@test "a dump in the other byte order, and damaged ones" {
	record dump
	dump=$(echo image/tmp/jit-*.dump)
	trdecode -q dump.data | counts >ours
	cp "$dump" kept
	python3 - "$dump" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		out = struct.pack(">IIIIIIQQ", *struct.unpack_from("<IIIIIIQQ", data))
		at = 40
		while at < len(data):
		    kind, size, time = struct.unpack_from("<IIQ", data, at)
		    out += struct.pack(">IIQ", kind, size, time)
		    body, i = data[at + 16:at + size], 0
		    form = "IIQQQQ" if kind == 0 else "QQ"
		    out += struct.pack(">" + form, *struct.unpack_from("<" + form, body))
		    i = struct.calcsize("<" + form)
		    while kind == 2 and i < len(body):
		        out += struct.pack(">QII", *struct.unpack_from("<QII", body, i))
		        end = body.index(b"\0", i + 16) + 1
		        out += body[i + 16:end]
		        i = end
		    out += body[i:]
		    at += size
		open(sys.argv[1], "wb").write(out)
	END
	trdecode -q dump.data | counts | diff ours -
	size=$(wc -c <kept)
	for ((at = 0; at < size; at += 17)); do
		head -c "$at" kept >"$dump"
		run -0 --separate-stderr trdecode -o x.trs dump.data
		cp kept "$dump"
		flip "$dump" 2
		run -0 --separate-stderr trdecode -o x.trs dump.data
	done
}
