# Time and output grow with the input, not with its square: calls nested very deep, many sessions.

load lib

FRAMES=1024

setup_file() {
	export NESTED=100000 DEEP=$BATS_FILE_TMPDIR/deep.tr
	# the calls f0, f1, ... f999, f0, ... within each other, of 2 us each but for their callees
	awk -v n="$NESTED" 'BEGIN {
		print "["
		for (i = 0; i < n; i++)
			printf "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":%d,\"name\":\"f%d\"},\n",
				i, i % 1000
		for (i = 0; i < n; i++)
			printf "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%d}%s\n", n + i,
				i + 1 < n ? "," : "]"
	}' | trdecode - >"$DEEP"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# deep SIZE COMMAND...: its output, in out, is smaller, and takes less than 10 s of CPU
deep() {
	local size=$1
	shift
	run -0 --separate-stderr bash -c 'ulimit -t 10 && exec "$@" >out' _ "$@" "$DEEP"
	(($(stat -c %s out) < size))
}

@test "folded: one frame for what is above 1024 others, with its time" {
	deep 4000000 trencode -t folded
	assert_equal "$stderr" "trencode: $((NESTED - FRAMES)) stacks of more than 1024 frames: the\
 frames above these are one, \"...\""
	assert_equal "$(wc -l <out)" $((FRAMES + 1))
	assert_equal "$(awk -F'[; ]' '{ if (NF > n) n = NF; sum += $NF } END { print n - 1, sum }' out)" \
		"$((FRAMES + 1)) $((1000 * (2 * NESTED - 1)))"
	assert_equal "$(grep -F ';... ' out | sed 's/.*;//')" \
		"... $((1000 * (2 * (NESTED - FRAMES) - 1)))"
}

@test "pprof has the same stacks" {
	deep 4000000 trencode -t pprof
	assert_regex "$stderr" "^trencode: $((NESTED - FRAMES)) stacks of more than 1024 frames: "
	gzip -t <out
}

@test "recorded stacks: their first 1024 frames, then one, also where a format has no table of stacks" {
	local n=1060 first=1001 says="trencode: $((1060 - FRAMES)) stacks of more than 1024 frames: the frames above\
 these are one, \"...\""
	# stacks of FIRST to n frames of f0, f1, ... f9, each of a sample and of an instant
	python3 "$ROOT/t/tools/growth.py" make 'trencode text: deep stacks' $n all.tr
	trfilter "time >= $((first - 1))ns" all.tr >stacks.tr
	DEEP=stacks.tr
	python3 - $first $n $FRAMES >want <<-'END'
		import json, sys
		first, n, most = map(int, sys.argv[1:])
		for i in range(first, n + 1):
		    print(json.dumps([f"f{j % 10}" for j in range(min(i, most))] + ["..."] * (i > most), separators=(",", ":")))
	END
	deep 10000000 trencode -t text
	assert_equal "$stderr" "$says"
	cmp <(sed -n 's/.* e stack={\(.*\)}$/[\1]/p' out) want
	deep 30000000 trencode -t ndjson -c stack,args,kind
	assert_equal "$stderr" "${says/$((n - FRAMES))/$((2 * (n - FRAMES)))}"
	cmp <(jq -c 'select(.kind == "sample").stack' out) want
	cmp <(jq -c 'select(.kind == "instant").stack' out) want
	cmp <(jq -c 'select(.kind == "instant").args.stack' out) want
	deep 10000000 trencode -t chrome
	assert_equal "$stderr" "$says"
	cmp <(jq -c '.traceEvents[] | select(.name == "e").args.stack' out) want
	# the table of stacks is whole
	jq -e --argjson n $n '.stackFrames | length == $n' out
	deep 20000000 trencode -t firefox
	assert_equal "$stderr" "$says"
	jq -e --argjson n $n '.shared.stackTable.length == $n' out
	deep 20000000 trencode -t speedscope
	assert_equal "$stderr" "${says/$((n - FRAMES))/$((2 * (n - FRAMES)))}"
	for i in 0 1; do
		cmp <(jq -c --argjson i $i '[.shared.frames[].name] as $f | .profiles[$i].samples[] |
			[$f[.[]]]' out) want
	done
}

@test "perfetto: one callstack for what is above 1024 frames" {
	python3 "$ROOT/t/tools/growth.py" make 'trencode text: deep stacks' 2000 stacks.tr
	trfilter 'kind == "sample"' stacks.tr >samples.tr
	DEEP=samples.tr deep 2000000 trencode -t perfetto
	assert_equal "$stderr" "trencode: $((2000 - FRAMES)) stacks of more than 1024 frames: the frames\
 above these are one, \"...\""
	mv out samples.pftrace
	trencode -q -t folded samples.tr >want
	cmp <(trdecode samples.pftrace | trencode -q -t folded) want
	DEEP=stacks.tr deep 20000000 trencode -t perfetto
	assert_equal "$stderr" "trencode: $((2 * (2000 - FRAMES))) stacks of more than 1024 frames: the\
 frames above these are one, \"...\""
}

@test "trstat -g stack: rows of such stacks are one" {
	deep 4000000 trstat -t csv -c count,total -g stack
	assert_equal "$stderr" "trstat: $((NESTED - FRAMES)) stacks of more than 1024 frames: the\
 frames above these are one, \"...\""
	assert_equal "$(wc -l <out)" $((FRAMES + 2))
	assert_equal "$(grep -F ';...' out | sed 's/.*;//')" \
		"...,$((NESTED - FRAMES)),$((1000 * (2 * (NESTED - FRAMES) - 1)))"
	deep 6000000 trstat --partial -g stack
	assert_equal "$stderr" ""
	mv out summary
	trstat -q -t csv -c count,total -g stack "$DEEP" >want
	trstat -q --merge -t csv summary >out
	cut -d, -f 1,2 want >first
	assert_equal "$(wc -l <out)" "$(wc -l <first)"
	trstat -q --merge -t csv -c count,total summary >out
	cmp out want
}

@test "trstat -g stack,name: each name above 1024 frames has a row, with the end of the stack" {
	awk -v n="$NESTED" 'BEGIN {
		print "["
		for (i = 0; i < n; i++)
			printf "{\"ph\":\"B\",\"pid\":1,\"ts\":%d,\"name\":\"f%d\"},\n", i, i
		for (i = 0; i < n; i++)
			printf "{\"ph\":\"E\",\"pid\":1,\"ts\":%d}%s\n", n + i, i + 1 < n ? "," : "]"
	}' | trdecode - >names.tr
	DEEP=names.tr deep 40000000 trstat -q -t csv -c count -g stack,name
	assert_equal "$(wc -l <out)" $((NESTED + 1))
	# whole frames up to the 1024th
	assert_equal "$(grep -c '^\.\.\.;f979;.*;f1022;f1023;\.\.\.,f[0-9]*,1$' out)" $((NESTED - FRAMES))
	[ "$(grep -F ,f1500, out | cut -d , -f 1 | wc -c)" -le 260 ]
	grep -q '^f0;f1;.*;f1023,f1023,1$' out
}

@test "trstat: trees are as deep as the calls" {
	deep 15000000 trstat -t csv -c count --tree
	assert_equal "$(wc -l <out)" $((NESTED + 1))
	deep 1000000 trstat -t csv -c count --callers f7
	assert_equal "$(sed -n 2p out)" "0,f7,$((NESTED / 1000))"
}

@test "trfilter: the deeper ones have one stack" {
	for condition in 'stack =~ "x"' 'stack =~ ";f1023"' 'stack =~ "^f0;f1;"'; do
		deep 8000000 trfilter -c "$condition"
		assert_equal "$stderr" \
			"trfilter: $((NESTED - FRAMES)) calls are on 1024 others or more: \"...\" ends their stacks"
		cat out >>counts
	done
	assert_equal "$(cat counts)" "0
0
$((NESTED - 2))"
	deep 8000000 trfilter -c 'stack =~ ";f22;f23;[.]{3}$"'
	assert_equal "$(cat out)" $((NESTED - FRAMES))
}

@test "other outputs are as deep as the calls, and no larger than those" {
	for t in text chrome firefox perfetto speedscope ndjson csv callgrind; do
		deep 20000000 trencode -q -t "$t"
	done
	deep 8000000 trsym
	deep 100000 trstat -t csv --slowest 10
}

@test "many sessions of one sid read its map once" {
	source "$ROOT/t/many.bash"
	records 100 >each
	many long 1 each
	seq -f '%08.0f-%08.0f r-xp 00000000 00:00 0    /lib/l.so' 500000 2 502000 |
		awk '{ sub(/l.so/, "l" NR ".so"); print }' >>long/sid-0123456789abcdef.map
	seq -f 'SESS timestamp=0.000500001 pid=%.0f sid=0123456789abcdef exename="/bin/many"' \
		2000 202000 >>long/task.txt
	run -0 bash -c 'ulimit -t 5; trdecode long | trstat -t csv -c count'
	assert_line --index 1 '<401000>,50'
}

@test "packets of many streams of CTF" {
	python3 - many 20000 100000 <<-'END'
		import os, struct, sys
		name, streams, packets = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		os.mkdir(name)
		with open(name + "/metadata", "w") as f:
		    f.write("/* CTF 1.8 */\ntypealias integer { size = 32; align = 8; signed = false; } := u32;\n"
		            "trace { major = 1; minor = 8; byte_order = le;"
		            " packet.header := struct { u32 magic; u32 stream_id; }; };\n")
		    for i in range(streams):
		        f.write("stream { id = %d; packet.context := struct { u32 packet_size; }; };\n"
		                "event { id = 0; name = \"e\"; stream_id = %d; fields := struct { u32 f; }; };\n" % (i, i))
		with open(name + "/data", "wb") as f:
		    for i in range(packets):
		        f.write(struct.pack("<IIII", 0xC1FC1FC1, streams - 1 - i % streams, 128, i))
	END
	run -0 bash -c 'ulimit -t 3; trdecode many | trstat -t csv -c count'
	assert_line --index 1 "e,100000"
}

@test "perf script: inlined frames of one line" {
	awk 'BEGIN {
		print "a 1 1.000000: cycles: "
		printf "\t    1234 f"
		for (i = 0; i < 300000; i++)
			printf "->g%d", i % 100
		print " (/bin/a)\n"
	}' >line.txt
	unsanitized "it needs more time"
	run -0 bash -c 'ulimit -t 1; trdecode line.txt | trstat -t csv -c count'
	assert_line "g99,1"
}

# linear REGEX...: of the cases of growth.py that match, 4 N take no more than some 4 times the time of N
linear() {
	run python3 "$ROOT/t/tools/growth.py" run "$@"
	((status == 0)) || fail "$(grep '^not ok' <<<"$output")"
	assert_line --regexp '^ok '
}

@test "time is linear in all that an input may have many of: JSON and text" {
	linear '^(chrome|cpuprofile|folded|perf script|ftrace|glprofile) '
}

@test "time is linear: Perfetto, perf.data, pprof" {
	linear '^(perfetto|perf|pprof) (?!script)'
}

@test "time is linear: CTF, LTTng, apitrace, uftrace, trace.dat" {
	linear '^(ctf2?|lttng|apitrace|uftrace|trace-cmd) '
}

@test "time is linear: what the other programs read" {
	linear '^tr(decode|filter|stat|sym|encode)'
}
