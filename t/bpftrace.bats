#!/usr/bin/env bats
# What bpftrace and the tools of bcc print: sums by map, key and bucket, and stacks, as t/tools/bpftrace.py
# reads them. t/data/bpftrace has the output of bpftrace 0.17 and of bcc 0.26 for work.c.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	MAPS=$DATA/bpftrace
	cd "$BATS_TEST_TMPDIR" || return
}

# sums FILE: MAP KEYS BUCKET SUM, as trstat counts them
sums() {
	trdecode -q "$1" | trstat -q -t tsv -g type,key1,key2,key3,name -c self | awk -F '\t' 'NR > 1 && $6 + 0 != 0 {
		keys = $2
		for (i = 3; i < 5; i++)
			keys = keys (keys != "" && $i != "" ? ", " : "") $i
		bucket = $5 ~ /^[[(].*[])]$/ ? $5 : ""
		sum[$1 "\t" keys "\t" bucket] += $6
	}
	END { for (key in sum) print key "\t" sum[key] }' | LC_ALL=C sort
}

expected() {
	python3 "$ROOT/t/tools/bpftrace.py" "$@" | LC_ALL=C sort
}

@test "maps, keys, histograms and stats, as text and as JSON" {
	for file in maps.txt maps.json; do
		expected sums "$MAPS/$file" >want
		[ "$(wc -l <want)" -ge 60 ]
		sums "$MAPS/$file" | diff want - || fail "$file"
	done
	# the text has what stats() counted; a negative sum
	run -0 pipe "trdecode -q $MAPS/maps.txt | trencode -q -t ndjson | jq -c 'select(.type == \"@st\" or .type == \"@less\") | .args'"
	assert_output $'{"value":-11698140}\n{"value":11698140,"count":2762,"average":4235,"key1":"work"}'
}

@test "a histogram without keys alone is recognised" {
	for first in '(..., 0)               1' '[2, 4)                 1'; do
		printf '@:\n%s |@@@@@@@@@@@@@                          |\n[4, 8)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n\n' "$first" >x.txt
		run -0 --separate-stderr pipe 'trdecode x.txt | trstat -q -t tsv -g name -c self'
		assert_line $'[4, 8)\t2'
		assert_equal "$stderr" ''
	done
	printf '@:\nhosts: all\n' >x.txt
	run -2 trdecode -o x.trs x.txt
}

@test "the line after a histogram with keys is no value" {
	printf '@h[a]: \n[1, 2)    1 |@|\n\n@h[b, 3]: \n[4, 8)    2 |@@|\n[8, 16)    0 |  |\n\n' >h.txt
	echo '{"type": "hist", "data": {"@h": {"a": [{"min": 1, "max": 1, "count": 1}], "b,3": [{"min": 4, "max": 7, "count": 2}]}}}' >h.json
	trdecode h.json | trencode -q -t ndjson >want
	[ "$(wc -l <want)" -eq 2 ]
	trdecode h.txt | trencode -q -t ndjson | sed 's/\[1, 2)/[1]/g' | diff want -
}

@test "stacks: as bpftrace and bcc print them" {
	for map in @stacks @user; do
		for file in maps.txt maps.json; do
			expected folded "$map" "$MAPS/$file" >want
			[ "$(wc -l <want)" -ge 5 ]
			trdecode -q --type "$map" "$MAPS/$file" | trencode -q -t folded | LC_ALL=C sort | diff want - || fail "$map of $file"
		done
	done
	expected bcc "$MAPS/offcputime.txt" >want
	[ "$(wc -l <want)" -eq 4 ]
	trdecode -q "$MAPS/offcputime.txt" | trencode -q -t folded | LC_ALL=C sort | diff want -
	run -0 pipe "trdecode -q $MAPS/offcputime.txt | trstat -q -t tsv -g comm -c count"
	assert_output $'comm\tcount\nwork\t5'
}

@test "stacks of bcc: stackcount, offcputime, both stacks, a process without a stack" {
	cat >stackcount.txt <<-'END'
		Tracing 2 functions for "vfs_*"... Hit Ctrl-C to end.
		^C
		  vfs_read
		  ksys_read+0x5 [kernel]
		    dd [712]
		    36

		  vfs_write
		    4

		Detaching...
	END
	run -0 --separate-stderr pipe "trdecode stackcount.txt | trstat -t tsv -g type,comm,pid,name,module -c self -s name"
	assert_output - <<-'END'
		type	comm	pid	name	module	self
		vfs_*	dd	712	ksys_read	kernel	0
		vfs_*	dd	712	vfs_read		36
		vfs_*			vfs_write		4
	END
	assert_equal "$stderr" 'trdecode: stackcount.txt: 2 lines of other output, skipped'
	# functions of one name in two modules
	printf 'Attaching 1 probe...\n@[\n    f+1 [a]\n    f+2 [b]\n]: 3\n' >modules.txt
	run -0 pipe "trdecode modules.txt | trstat -q -t tsv -g name,module -c self"
	assert_output $'name\tmodule\tself\nf\ta\t3\nf\tb\t0'
	cat >off.txt <<-'END'
		Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.

		    finish_task_switch
		    schedule
		    --
		    [Missed User Stack]
		    -                rcu sched (9)
		        12

		    -                swapper/0 (0)
		        5

	END
	run -0 --separate-stderr pipe "trdecode off.txt | trencode -t folded"
	assert_output $'rcu_sched;[Missed User Stack];schedule;finish_task_switch 12000\nswapper/0;off-CPU 5000'
	assert_equal "$stderr" ''
}

@test "histograms of bcc: by process and disk, of single numbers" {
	awk '/^pid/ { pid = $3 } / -> / && $5 { print pid "\t" $1 " -> " $3 "\t" $5 }' "$MAPS/runqlat.txt" | sort >want
	[ "$(wc -l <want)" -ge 40 ]
	trdecode -q "$MAPS/runqlat.txt" | trstat -q -t tsv -g pid,name -c self | sed 1d | sort | diff want -
	run -0 pipe "trdecode -q $MAPS/runqlat.txt | trencode -q -t ndjson | jq -r 'select(.args.low > 4000) | [.comm, .args.high] | @tsv' | sort -u"
	assert_output "$(awk '/^pid/ { comm = $4 } / -> / && $1 > 4000 && $5 { print comm "\t" $3 }' "$MAPS/runqlat.txt" | sort -u)"
	cat >disks.txt <<-'END'
		Tracing block device I/O... Hit Ctrl-C to end.

		Bucket disk = 'sda'
		     usecs               : count     distribution
		         2 -> 3          : 7        |****************************************|
		         4 -> 7          : 0        |                                        |

		disk = 8
		     usecs               : count     distribution
		         4 -> 7          : 1        |****************************************|

		     runqlen       : count     distribution
		        0          : 1068     |****************************************|
		        1          : 642      |************************                |
	END
	run -0 pipe 'trdecode -q disks.txt | trstat -q -t tsv -g group,disk,low,high -c self -s low'
	assert_output - <<-'END'
		group	disk	low	high	self
		runqlen		0	0	1068
		runqlen		1	1	642
		usecs	sda	2	3	7
		usecs	8	4	7	1
	END
}

@test "keys with commas, brackets and colons; labels with units; numbers of 64 bits" {
	cat >x.txt <<-'END'
		Attaching 1 probe...
		@a[f(int, char), 3]: 1
		@a[a]: b, 4]: 2
		@a[x (y, 05]: 3
		@e[]: 4
		@h:
		(..., 0)            1 |@    |
		[0]                 2 |@    |
		[1023K, 1M)         3 |@    |
		[1P, ...)           4 |@    |

		@f[
		        main+12
		        std::vector<int, std::allocator<int> >::push_back(int&&)+7
		, -5]: 2
		an @ sign: 3
		@printed by the program
		Lost 12 events
	END
	run -0 --separate-stderr pipe "trdecode x.txt | trencode -q -t ndjson | jq -c '[.type, .name, .args]'"
	assert_output - <<-END
		["@a","f(int, char), 3",{"value":1,"key1":"f(int, char)","key2":3}]
		["@a","a]: b, 4",{"value":2,"key1":"a]: b","key2":4}]
		["@a","x (y, 05",{"value":3,"key1":"x (y","key2":"05"}]
		["@e","@e",{"value":4}]
		["@h","(..., 0)",{"value":1,"high":-1}]
		["@h","[0]",{"value":2,"low":0,"high":0}]
		["@h","[1023K, 1M)",{"value":3,"low":1047552,"high":1048575}]
		["@h","[1P, ...)",{"value":4,"low":1125899906842624}]
		["@f","main",{"value":2,"key2":-5}]
		["gap","gap",{"reason":"lost","events":12,"file":"x.txt","offset":$(grep -b ^Lost x.txt | cut -d: -f1)}]
	END
	assert_equal "$stderr" 'trdecode: x.txt: 2 lines of other output, skipped'
	printf '@b: 18446744073709551615\n@c: -9223372036854775808\n@h:\n[8E, ...)  1 |@|\n' >large.txt
	run -0 pipe 'trdecode -q large.txt | trencode -q -t ndjson | grep -oE "(value|low).:[0-9-]+"'
	assert_output $'value":18446744073709551615\nvalue":-9223372036854775808\nvalue":1\nlow":9223372036854775807'
	run -0 pipe 'trdecode -q --type @f x.txt | trencode -q -t folded'
	assert_output '-5;std::vector<int, std::allocator<int> >::push_back(int&&);main 2'
}

@test "JSON: lost events, buckets without bounds, keys, stats without keys" {
	cat >x.json <<-'END'
		{"type": "attached_probes", "data": {"probes": 1}}
		{"type": "printf", "data": "@x: 3\n"}
		{"type": "lost_events", "data": {"events": 12}}
		{"type": "map", "data": {"@a": 5, "@b": {"x,1": 2, "\n    f+1\n    g+2\n,y": 3}, "@c": {"a": [1, "x"]}}}
		{"type": "hist", "data": {"@h": [{"max": -1, "count": 2}, {"min": 0, "max": 0, "count": 0}, {"min": 1000, "count": 1}]}}
		{"type": "lhist", "data": {"@l": {"k": [{"min": 0, "max": 99, "count": 2}]}}}
		{"type": "stats", "data": {"@s": {"count": 2, "average": 3, "total": 6}, "@t": {"count": 4}}}
		{"type": "future", "data": {"@f": {"a": 5}}}
	END
	run -0 --separate-stderr pipe "trdecode x.json | trencode -q -t ndjson | jq -c '[.type, .stack, .args]'"
	assert_output - <<-'END'
		["gap",null,{"reason":"lost","events":12,"file":"x.json","offset":89}]
		["@a",["@a"],{"value":5}]
		["@b",["x, 1"],{"value":2,"key1":"x","key2":1}]
		["@b",["y","g","f"],{"value":3,"key2":"y"}]
		["@c",null,{"value":"[1,\"x\"]","key1":"a"}]
		["@h",["(..., 0)"],{"value":2,"high":-1}]
		["@h",["[1000, ...)"],{"value":1,"low":1000}]
		["@l",["k","[0, 100)"],{"value":2,"low":0,"high":99,"key1":"k"}]
		["@s",["@s"],{"value":6,"count":2,"average":3}]
		["@t",["@t"],{"value":0,"count":4,"average":0}]
		["@f",["a"],{"value":5,"key1":"a"}]
	END
	assert_equal "$stderr" 'trdecode: x.json: 1 line of other output, skipped'
}

@test "JSON of any form: compact, indented, another order, no newline at the end" {
	values() {
		trdecode -q "$1" | trencode -q -t ndjson | jq -c '[.type, .stack, .args]'
	}
	values "$MAPS/maps.json" >want
	[ "$(wc -l <want)" -ge 60 ]
	jq -c . "$MAPS/maps.json" >compact.json
	jq . "$MAPS/maps.json" >indented.json
	jq --tab '{data, type}' "$MAPS/maps.json" >order.json
	head -c -1 compact.json >open.json
	head -c -1 indented.json | sed 's/$/\r/' >crlf.json
	for file in compact indented order open crlf; do
		values "$file.json" | diff want - || fail "$file"
		run -0 --separate-stderr trdecode -q -o a.trs "$file.json"
		assert_equal "$stderr" ''
	done
	# an object that is cut, and a line of text, end what is before them
	printf '%s\n' '{' '{"type": "map", "data": {"@a":' '{"type": "map", "data": {"@b": 2}}' '{' ' "data": {"@c": 3,' '@d: 4' '{ printed' >cut.json
	run -1 --separate-stderr trdecode -o a.trs cut.json
	assert_regex "$stderr" '^trdecode: cut.json: 0x21: the input ends within a JSON value: the rest of the object is left out'
	assert_regex "$stderr" '2 lines of other output, skipped'
	assert_regex "$stderr" '1 more: '
	run -0 pipe "trencode -q -t csv -c type,weight a.trs 2>/dev/null | sed 1d"
	assert_output $'@b,2\n@c,3\n@d,4'
}

@test "a stack as a value; the line after it is a value, too" {
	printf '@s[1]: \n    f+1\n    g+2\n@t: 3\n' >x.txt
	run -0 --separate-stderr pipe "trdecode x.txt | trencode -q -t ndjson | jq -c '[.type, .args]'"
	assert_output $'["@s",{"value":"f+1;g+2","key1":1}]\n["@t",{"value":3}]'
	assert_equal "$stderr" ''
}

@test "keys with newlines, and what only begins like them" {
	printf '%s\n' 'Attaching 1 probe...' '@a[x' 'y]: 4' '@b[' '    f+1' ', x' 'y, 2]: 5' '@c[ a printed line' '@d[1]: 6' '@e[printed' '' '@f: 7' >x.txt
	run -0 --separate-stderr pipe "trdecode x.txt | trencode -q -t ndjson | jq -c '[.type, .stack, .args]'"
	assert_output - <<-'END'
		["@a",["x\ny"],{"value":4,"key1":"x\ny"}]
		["@b",["x\ny, 2","f"],{"value":5,"key2":"x\ny","key3":2}]
		["@d",["1"],{"value":6,"key1":1}]
		["@f",["@f"],{"value":7}]
	END
	assert_equal "$stderr" 'trdecode: x.txt: 2 lines of other output, skipped'
}

@test "numbers of more than 64 bits are reported" {
	printf '%s\n' '@d[x]: 99999999999999999999' '@h:' '[0]   99999999999999999999 |@|' '[1]   2 |@|' '' '@e: 3' >x.txt
	run -1 --separate-stderr trdecode -o a.trs x.txt
	assert_equal "$stderr" 'trdecode: x.txt: 0x0: a number of more than 64 bits, kept as a text
trdecode: x.txt: 0x20: a line of a histogram of bpftrace without a range and a count'
	run -0 pipe "trencode -q -t ndjson a.trs 2>/dev/null | jq -c '[.type, .args]'"
	assert_output - <<-'END'
		["@d",{"value":"99999999999999999999","key1":"x"}]
		["@h",{"value":2,"low":1,"high":1}]
		["@e",{"value":3}]
	END
	echo '{"type": "map", "data": {"@d": -99999999999999999999}}' >x.json
	run -1 trdecode -o a.trs x.json
	assert_output --partial 'a number of more than 64 bits'
}

@test "bcc: names as Python's bytes, addresses before names" {
	cat >x.txt <<-'END'
		Tracing 1 functions for "b'ip_output'"... Hit Ctrl-C to end.
		  b'ip_output'
		  ffffffff811bd3f5 b'ip_queue_xmit+0x5 [kernel]'
		  0x7f12
		  deadbeef f
		  abc g
		    b'ping' [2132]
		    2

	END
	run -0 pipe "trdecode x.txt | trencode -q -t ndjson | jq -c '[.type, .comm, .pid, .stack]'"
	assert_output '["ip_output","ping",2132,["abc g","f","0x7f12","ip_queue_xmit","ip_output"]]'
}

@test "--info, --list, -f; a pipe, a compressed file" {
	run -0 trdecode --info "$MAPS/maps.txt"
	assert_line --regexp '^format +bpftrace$'
	assert_line --regexp '^maps +@stacks$'
	assert_line --regexp "^buckets +$(grep -c '^[[(].*[1-9][0-9]* |' "$MAPS/maps.txt")\$"
	run -0 trdecode --list "$MAPS/maps.txt"
	assert_line --regexp '^ +1 .* sample +@st$'
	assert_line --regexp 'key1 +text +"work"'
	sums "$MAPS/maps.txt" >want
	trdecode -q - <"$MAPS/maps.txt" | trencode -q -t ndjson | jq -s length >have
	trdecode -q <(cat "$MAPS/maps.txt") | trencode -q -t ndjson | jq -s length | diff have -
	gzip -c "$MAPS/maps.txt" >maps.txt.gz
	sums maps.txt.gz | diff want -
	# other text is none, unless -f says so
	printf 'From: me@example.org\n\n  quoted\n  12\n' >other
	run -2 trdecode -o a.trs other
	run -0 trdecode -q -f bpftrace -o a.trs other
	run -1 trdecode -q -f bpftrace -o a.trs "$MAPS/work.c"
	assert_output --partial 'work.c: the text has nothing of bpftrace or bcc'
	# in a pipe the value of a line shows before the next one comes
	run -0 timeout 3 head -n 1 < <({
		printf 'Attaching 1 probe...\n@x[bash]: 3\n'
		sleep 6
	} | trdecode -q | trencode -q -t ndjson)
	assert_output --partial '"type":"@x"'
}

@test "damage: a text cut at any byte, and lines that are not whole" {
	for file in maps.txt maps.json offcputime.txt runqlat.txt; do
		head -c 6000 "$MAPS/$file" >whole
		trdecode -q -f bpftrace whole 2>/dev/null | trencode -q -t csv -c type,stack,weight 2>/dev/null >all || true
		size=$(wc -c <whole)
		for ((n = 1; n < size; n += 97)); do
			head -c "$n" whole >short
			run trdecode -q -f bpftrace -o a.trs short
			[ "$status" -le 1 ] || fail "$n: status $status"
			[ "$status" -eq 1 ] || [ "$(tail -c 1 short | wc -l)" -eq 1 ] || fail "$n: status $status"
			# what was read is the beginning of all
			trencode -q -t csv -c type,stack,weight a.trs 2>/dev/null >some || true
			head -n "$(wc -l <some)" all | diff - some || fail "$file: $n"
		done
	done
	cat >bad.txt <<-'END'
		@a[
		    f+1
		text
		@b: 5
		{"type": "map", "data": {"@c": {"x": 1, "y" 2}}}
		@d[
		    f+1
	END
	run -1 --separate-stderr trdecode -o a.trs bad.txt
	assert_equal "$stderr" "trdecode: bad.txt: 0xc: the keys of a map of bpftrace have no end
trdecode: bad.txt: 0x43: a colon is missing: the rest of the object is left out
trdecode: bad.txt: $(printf '0x%x' "$(wc -c <bad.txt)"): the text ends in the keys of a map of bpftrace
trdecode: bad.txt: 1 line of other output, skipped"
	run -0 pipe "trencode -q -t csv -c type,weight a.trs 2>/dev/null | sed 1d"
	assert_output $'@b,5\n@c,1'
}
