# trstat: keys that are made of numbers, stacks, kinds of symbols.

load lib
load tables

@test "symkind: functions, library calls through the PLT, the kernel" {
	run -0 trstat -q -t tsv -g symkind -c count,total -s symkind fib.trs
	lines 'symkind count total' 'function 1717 7429246' 'plt 15 5201338' ' 6 '
	# what uftrace's --no-libcall leaves out is what the recording's symbols call P
	run -0 pipe "trstat -q -t tsv -g symkind,name -c count fib.trs | awk '\$1 == \"plt\" { print \$2 }' | sort"
	plt=$output
	run -0 pipe "awk '\$2 == \"P\" { print \$3 }' '$DATA'/uftrace/fib/*.sym | sort -u"
	for name in $plt; do assert_line "$name"; done
	run -0 pipe "trdecode '$RECORDED/trace-cmd/v6-fgraph.dat' | trsym | trstat -q -t tsv -g symkind -c count | cut -f 1"
	assert_line kernel
}

@test "log2, bucket and hist of a call's times and of fields" {
	run -0 pipe "trstat -q -t tsv -g 'log2(dur)' -c count,min,max -s 'log2(dur)' fib.trs |
		awk -F '\t' 'NR > 1 && \$1 { if (\$3 < \$1 || \$4 >= 2 * \$1) exit 1; n += \$2 } END { print n }'"
	assert_output 1732
	run -0 pipe "trstat -q -t tsv -g 'bucket(dur,1us)' -c count,min,max fib.trs |
		awk -F '\t' 'NR > 1 && \$1 != \"\" { if (\$3 < \$1 || \$4 >= \$1 + 1000) exit 1; n += \$2 } END { print n }'"
	assert_output 1732
	run -0 pipe "trstat -q -t tsv -g 'hist(self)' -c count,self_min,self_max fib.trs |
		awk -F '\t' 'NR > 1 && \$1 != \"\" { if (\$3 < \$1 || \$4 > \$1 * 129 / 128) exit 1; n += \$2 } END { print n }'"
	assert_output 1732
	run -0 pipe "trfilter 'type == \"sched_switch\"' sched.trs |
		trstat -q -t tsv -g 'bucket(next_pid,64)' -c 'count,min(next_pid),max(next_pid)' |
		awk -F '\t' 'NR > 1 { if (\$3 < \$1 || \$4 >= \$1 + 64) exit 1; n += \$2 } END { print n }'"
	assert_output "$(trfilter -c 'type == "sched_switch"' sched.trs)"
	run -0 pipe "trdecode '$DATA/uftrace/fib' | trstat -q -t tsv -g 'log2(depth)' -c count -s 'log2(depth)'"
	assert_line --index 1 "$(printf '0\t11')"
	run -0 pipe "trstat -q -t tsv -g 'log2(dur,1us)' -c count,min,max fib.trs |
		awk -F '\t' 'NR > 1 && \$1 { if (\$3 < \$1 || \$4 >= 2 * \$1 || \$1 % 1000) exit 1; n += \$2 } END { print n }'"
	assert_output "$(trstat -q -t tsv -g dur -c count fib.trs | awk '$1 >= 1000 { n += $2 } END { print n }')"
	run -2 trstat -g 'log2(dur,1)' fib.trs
	assert_output --partial 'log2(dur,1): a time needs a unit: 1ns or 1s?'
	run -2 trstat -g 'hist(dur,1)' fib.trs
	assert_output --partial 'a bucket is bucket(time,1s) or bucket(F,64)'
	run -2 trstat -g 'bucket(self,0)' fib.trs
}

@test "dur and self: keys and columns" {
	for key in dur self; do
		time=${key/dur/total}
		run -0 pipe "trstat -q -t tsv -g $key -c count,${time}_min,${time}_max fib.trs |
			awk -F '\t' 'NR > 1 && \$1 != \"\" { if (\$3 != \$1 || \$4 != \$1) exit 1; n += \$2 } END { print n }'"
		assert_output 1732
		run -0 pipe "trstat -q -t tsv -c 'sum($key),min($key),max($key),avg($key),$time,${time}_min,${time}_max,${time}_avg,count' fib.trs |
			awk -F '\t' 'NR > 1 && \$6 != \"\" { n++
				if (\$3 != \$7 || \$4 != \$8 || \$5 != \$9 || \$2 < \$6) { print; exit 1 } } END { exit !n }'"
	done
	# calls below a call of the same function are in it, and in total they are not
	run -0 pipe "trstat -q -t tsv -g '' -c 'sum(self),self' fib.trs | tail -n 1"
	assert_output "${output%%$'\t'*}	${output%%$'\t'*}"
	run -0 trstat -q -g '' -c 'max(dur),avg(self)' fib.trs
	assert_output --regexp 'ms .* us'
	for what in '-g children' '-g log2(children)' '-c sum(children)' '--hist=children'; do
		run -2 trstat $what fib.trs
		assert_output --partial "use trfilter 'children > 2'"
	done
	run -2 trstat --pair 'dur > 1ms -> main' fib.trs
	assert_output --partial 'the events of pairs have no keys caller, depth'
	# unfinished calls too, and a summary of parts
	trdecode --segment 2K "$DATA/uftrace/fib" | trsym >rec.trs
	trstat -q -t tsv -g tid -c 'sum(dur),max(self),count' rec.trs >want
	parallel --pipepart -a rec.trs --block 4K --recstart "$(head -c 16 rec.trs)" \
		"trstat -q --partial -g tid -c 'sum(dur),max(self),count'" | trstat -q -t tsv --merge | diff want -
}

@test "a bucket of the time gives what every row gives by itself" {
	for width in 1us 100us 1ms 3ms 1s; do
		ns=${width/us/000} ns=${ns/ms/000000} ns=${ns/s/000000000}
		trstat -q -t tsv -g "bucket(time,$width),kind,tid" -c count -s "bucket(time,$width),kind,tid" sched.trs >got
		trstat -q -t tsv -g "time,kind,tid" -c count sched.trs |
			awk -F '\t' -v OFS='\t' -v w="$ns" '
				NR > 1 { n[sprintf("%.0f", $1 - $1 % w) OFS $2 OFS $3] += $4 }
				END { for (k in n) print k, n[k] }' | sort >expected
		tail -n +2 got | sort >sorted
		cmp sorted expected || fail "$width"
	done
}

@test "stack: the calls from the outermost down" {
	run -0 pipe "trstat -q -t tsv -g stack -c count,total,self fib.trs | grep -E '^(main|main;pthread_join|main;fib;fib;fib)	'"
	lines 'main;fib;fib;fib 4 80923 1164' 'main;pthread_join 2 2788930 8397' 'main 1 2988111 2592'
	trencode -q -t folded fib.trs | sort >folded
	trstat -q -t tsv -g stack -c self fib.trs | awk -F '\t' 'NR > 1 && $2 > 0 { print $1, $2 }' | sort | diff folded -
	for recording in forkexec signal longjmp exit-mid threads deep-default; do
		trdecode "$RECORDED/uftrace/$recording" | trsym >r.trs
		# tables leave out calls that are ended without a return; forkexec has open ones as well
		unclosed=close
		[[ $recording != longjmp ]] || unclosed=drop
		trencode -q -t folded --unclosed=$unclosed r.trs | sort >folded
		[[ $recording == forkexec ]] ||
			trstat -q -t tsv -g stack -c self r.trs |
			awk -F '\t' 'NR > 1 && $2 > 0 { print $1, $2 }' | sort | diff folded - || fail "$recording"
		# sums over stacks are those over functions
		trstat -q -t tsv -g stack -c self,count r.trs | awk -F '\t' 'NR > 1 { s += $2; c += $3 } END { print s, c }' >sum
		trstat -q -t tsv -g tid -c self,count r.trs | awk -F '\t' 'NR > 1 { s += $2; c += $3 } END { print s, c }' | diff sum -
	done
	# an instant has the stack that it happened on
	trdecode "$RECORDED/uftrace/read-events" | trsym | trfilter 'kind == "instant" || kind == "enter" || kind == "leave"' >r.trs
	trstat -q -t tsv -g name,stack,caller -c count r.trs | awk -F '\t' '$1 ~ /^read:/ {
		n = split($2, stack, ";")
		if (stack[n] != $3) exit 1
		if (n) deep++ } END { if (deep < 2) exit 1 }'
}

@test "the examples of the man page run" {
	ln -sfn "$DATA/uftrace/fib" uftrace.data
	trdecode uftrace.data | trencode -q --resynthesize -t uftrace -o b.data
	ln -sf "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" trace.dat
	ln -sf "$DATA/apitrace/v6.trace" app.trace
	cp "$DATA/strace/f-ttt-T-y.txt" strace.txt
	mkdir old new
	for run in old/1 old/2 old/3 old/4 new/1 new/2 new/3 new/4; do
		trdecode -q uftrace.data | trsym -o $run.trs
	done
	page_examples trstat >examples
	[ "$(wc -l <examples)" -ge 30 ]
	while read -r example; do
		data=offcpu
		[[ $example != *'--pair '@(lock|block|net)* ]] || data='wait'
		[[ $example != *'--pair '@(kmem|pages)* ]] || data=kmem
		gzip -dc "$DATA/perf/$data.data.gz" >perf.data
		bash -o pipefail -c "$example" >out 2>err </dev/null || [ $? -eq 3 ] || fail "$example: $(cat err)"
		[ -s out ] || [[ $example == *' -o '* ]] || fail "$example: no output"
	done <examples
}

@test "the key address is in hexadecimal, as trencode prints it; its numbers can be grouped" {
	trdecode -q "$DATA/uftrace/fib" >"$BATS_TEST_TMPDIR/x.trs"
	cd "$BATS_TEST_TMPDIR"
	run -0 trstat -q -g address -c count -t tsv x.trs
	assert_line --regexp $'^0x[0-9a-f]+\t[0-9]+$'
	refute_line --regexp $'^[0-9]+\t'
	run -0 pipe "trstat -q -g address -c count -t json x.trs | jq -r '.[0].address'"
	assert_output --regexp '^0x[0-9a-f]+$'
	run -0 trstat -q -g 'bucket(address,4096)' -c count -t tsv x.trs
	assert_line --regexp $'^[0-9]+\t[0-9]+$'
	trstat -q --partial -g address -c count -o x.sum x.trs
	trstat -q -g address -c count -t tsv x.trs >want
	trstat -q --merge -g address -c count -t tsv x.sum | diff want -
}

@test "equal numbers are one group and one type in rows, in whatever base the source prints them" {
	T=$RECORDED/trace-cmd/v7-zstd-syscalls-all
	# mmap's fd is an unsigned long, which is hexadecimal; others are decimal
	perl -ne '$n{hex $1}++ if /sys_enter_.*\bfd=0x(\w+)/; END { print "$_,$n{$_}\n" for sort { $a <=> $b } keys %n }' \
		"$T.raw.txt" >want
	grep -q '^3,16$' want
	trdecode -q "$T.dat" | trstat -q --where 'type =~ "^sys_enter"' -g fd -c count -s fd -t csv | grep '^[0-9]' | diff want -
	trdecode -q "$T.dat" | trfilter 'type =~ "^sys_enter"' | trstat -q -g fd -c count --partial | trstat -q --merge -s fd -t csv | grep '^[0-9]' | diff want -
	trdecode -q "$T.dat" | trencode -q -t ndjson -c args | jq -r 'select(.args.fd != null) | .args.fd | type' | sort -u | grep -qx number
	trdecode -q "$T.dat" | trencode -q -t csv -c fd | grep -c '^3$' | grep -qx 16
	# text has both spellings too, and pairs are by number
	cat >x <<-'END'
		 a-1 [000] 1.000001: begin: fd=3
		 a-1 [000] 1.000002: end: fd=0x3
		 a-1 [000] 1.000003: begin: fd=17
	END
	trdecode x -o x.trs
	run -0 trstat -q -g fd -c count -t csv x.trs
	assert_line 3,2
	run -0 trstat -q --pair 'begin -> end on .fd == .fd' -g fd -c total -t csv x.trs
	assert_line 3,1000
	run -0 pipe 'trencode -q -t ndjson -c args x.trs | jq -c .args.fd'
	assert_output $'3\n3\n17'
	# the first number of a field decides
	sed 's/fd=3/fd=0x3/' x | trdecode | trencode -q -t ndjson -c args | jq -c .args.fd >kinds
	diff kinds <(printf '%s\n' '"0x3"' '"0x3"' '"0x11"')
}

@test "equal numbers are one group and one type in rows, whether the source writes integers or floats" {
	python3 - >x.json <<-'END'
		values = ["1", "1.0", "1e0", "10e-1", '"1"', "-1", "-1.0", "0", "-0", "0.0", "-0.0", "0.5", "5e-1", "1e300",
			"18446744073709551615", "18446744073709551616.0", "-9223372036854775808", "-9223372036854775808.0", "1e999"]
		print("[" + ",".join('{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":1,"name":"e","args":{"v":%s}}' % (i, i, v)
			for i, v in enumerate(values)) + "]")
	END
	trdecode -q x.json -o x.trs
	cat >want <<-'END'
		[-9223372036854775808,2]
		[-1,2]
		[0,4]
		[0.5,2]
		[1,4]
		[18446744073709551615,1]
		[1.8446744073709552e+19,1]
		[1e+300,1]
		["1",1]
		["inf",1]
	END
	rows() { tr -d ' \n[]' | sed 's/},*/}\n/g' | sed -E 's/^\{"arg.v":(.*),"count":(.*)\}$/[\1,\2]/'; }
	trstat -q -g arg.v -c count -s arg.v -t json x.trs | rows | diff want -
	trstat -q -g arg.v -c count --partial x.trs | trstat -q --merge -s arg.v -t json | rows | diff want -
	run -0 trstat -q -g name -c count --where 'arg.v == 1' -t csv x.trs
	assert_line e,4
	run -0 trstat -q -g name -c count --where 'arg.v == 0.5' -t csv x.trs
	assert_line e,2
	run -0 trstat -q -g 'bucket(arg.v,2)' -c count --where 'arg.v >= 0 && arg.v < 2' -t csv x.trs
	assert_line 0,10
}

@test "bucket, log2 and hist of floats beyond 64 bits are floats" {
	cat >model.py <<-'END'
		import collections, csv, json, random, subprocess, sys
		from fractions import Fraction as F
		random.seed(3)
		values = [2.0**64, -2.0**64, 2.0**63, -2.0**63, 2.0**64 - 2048, -1e300, 1e300, 1.7976931348623157e308,
		    -1.7976931348623157e308, 0.3, -0.3, 7, -7, 2**64 - 1, -2**63, 255.5, -255.5, 10**19, 1.5e19, -1.5e19]
		values += [random.choice([-1, 1]) * 2.0 ** random.uniform(60, 70) for _ in range(60)]
		with open("x.json", "w") as out:
		    json.dump([{"ph": "i", "s": "t", "ts": i, "pid": 1, "tid": 1, "name": "e", "args": {"v": v}}
		        for i, v in enumerate(values)], out)

		def nearest(number):
		    return F(number) if -2**63 <= number < 2**64 else F(float(number))

		def bucket(value, width):
		    return nearest(F(value) // width * width)

		def floor_to(value, parts):
		    size = abs(int(value))
		    unit = max((1 << size.bit_length() >> 1) // parts, 1)
		    return (1 if value > 0 else -1) * F(size // unit * unit)

		def counts(key):
		    return collections.Counter(map(key, values))

		def read(text):
		    return F(int(text)) if text.lstrip("-").isdigit() else F(float(text))

		subprocess.run("trdecode -q x.json -o x.trs", shell=True, check=True)
		for name, key in (("bucket(arg.v,10)", lambda v: bucket(v, 10)),
		        ("bucket(arg.v,9000000000000000000)", lambda v: bucket(v, 9 * 10**18)),
		        ("bucket(arg.v,9223372036854775807)", lambda v: bucket(v, 2**63 - 1)),
		        ("log2(arg.v)", lambda v: floor_to(v, 1)), ("log2(arg.v,1024)", lambda v: floor_to(v, 1) if abs(v) >= 1024 else 0), ("hist(arg.v)", lambda v: floor_to(v, 128))):
		    for command in (f"trstat -q -t csv -c count -g '{name}' x.trs",
		            f"trstat -q -c count -g '{name}' --partial x.trs | trstat -q --merge -t csv"):
		        rows = list(csv.reader(subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
		            .stdout.splitlines()))[1:]
		        have = collections.Counter()
		        for text, count in rows:
		            have[read(text)] += int(count)
		        if have != counts(key):
		            sys.exit(f"{command}: {have - counts(key)} {counts(key) - have}")
	END
	python3 model.py
	# a histogram has integers: the outermost ones count the floats beyond, with a remark
	beyond=$(python3 -c 'import json; print(sum(not -2**63 <= e["args"]["v"] < 2**64 for e in json.load(open("x.json"))))')
	run -0 errors trstat --hist=arg.v -t csv x.trs
	assert_output "trstat: $beyond values beyond 64 bits counted as the nearest number of 64 bits"
	run -0 errors trstat -q --hist=arg.v x.trs
	assert_output ''
}

@test "sum, min, max, avg and uniq of fields take floats, and integers exactly" {
	python3 - <<-'END'
		import json, pickle
		from fractions import Fraction
		values = {"ints": ["9007199254740993", "18446744073709551615", "-9223372036854775808", "7"],
		    "halves": ["1.5", "2", "-0.25", "1024.0", "1024", "9007199254740993"],
		    "floats": ["0.1", "-0.7", "0.1", "1e-9"], "large": ["1e300", "-5", "1e30"],
		    "same": ["0.5", "-0.5"], "none": ["1e999", '"text"'], "two": ["-0.5", "0.25", "-1e300"], "huge": ["1e36", "-1e60"]}
		rows = [(n, v) for n in values for v in values[n]]
		for file, part in enumerate([rows, rows[:7], rows[7:14], rows[14:]]):
		    open("floats.%d.json" % file, "w").write("[" + ",".join(
		        '{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"%s","args":{"v":%s}}' % (i, n, v)
		        for i, (n, v) in enumerate(part)) + "]")
		want = {}
		for n in values:
		    of = [int(v) if v.lstrip("-").isdigit() else float(v) for v in values[n]] if n != "none" else []
		    total = sum(map(Fraction, of))
		    if of:
		        want[n] = [total, min(of), max(of), total / len(of), len(set(of))]
		pickle.dump(want, open("want", "wb"))
	END
	trdecode -q floats.0.json -o floats.trs
	for n in 1 2 3; do
		trdecode -q floats.$n.json |
			trstat -q -g name -c 'sum(arg.v),min(arg.v),max(arg.v),avg(arg.v),uniq(arg.v)' --partial -o floats.$n.sum
	done
	trstat -q -g name -c 'sum(arg.v),min(arg.v),max(arg.v),avg(arg.v),uniq(arg.v)' -t json floats.trs >whole.json
	trstat -q --merge -t json floats.[123].sum >merged.json
	python3 - <<-'END'
		import json, pickle
		from fractions import Fraction
		for file in "whole.json", "merged.json":
		    rows = {r["name"]: [r[c + "(arg.v)"] for c in ("sum", "min", "max", "avg", "uniq")]
		        for r in json.load(open(file), parse_float=Fraction)}
		    assert rows["none"] == [None, None, None, None, 2], rows["none"]
		    for name, (total, least, most, mean, different) in pickle.load(open("want", "rb")).items():
		        r = rows[name]
		        near = [abs(r[i] - x) <= abs(x) / 10**12 for i, x in ((0, total), (3, mean))]
		        if name in ("ints", "same"):
		            near = [r[0] == total, abs(r[3] - mean) <= Fraction(1, 2000)]
		        assert all(near), (file, name, r)
		        assert [float(r[1]), float(r[2]), r[4]] == [float(least), float(most), different], (file, name, r)
	END
	# order, conditions, differences
	run -0 pipe "trstat -q -g name -c 'max(arg.v)' -s 'max(arg.v)' -t csv floats.trs | tail -n +2 | cut -d , -f 1 | tr '\\n' ' '"
	assert_output 'large huge ints halves same two floats none '
	run -3 trstat -q --fail-if 'max(arg.v)(name == "floats") == 0.1 && sum(arg.v)(name == "halves") > 1.5' floats.trs
	run -0 trstat -q --fail-if 'max(arg.v)(name == "floats") > 0.1' floats.trs
	trfilter 'name == "floats" && arg.v == 0.1' floats.trs >a.trs
	trfilter 'name == "floats" && arg.v < 0' floats.trs >b.trs
	run -0 pipe "trstat -q --diff -c 'min(arg.v)' -t json a.trs b.trs | jq -c '.[0] | [.[\"min(arg.v)_a\",\"min(arg.v)_b\",\"min(arg.v)_change\"]]'"
	assert_output '[0.1,-0.7,-0.7999999999999999]'
	run -3 trstat -q --diff -c 'min(arg.v)' --fail-if 'field("min(arg.v)_change") < -790%' a.trs b.trs
	# a reader of version 6 does not know floats; what it wrote is read
	LC_ALL=C grep -aq $'trstat\x08' floats.1.sum
	run -0 trstat --merge -t csv "$DATA/stream/summary-6.part"
	assert_output "$(printf '%s\n' 'name,count,sum(arg.y),min(arg.y)' f,1,7,7 g,1,,)"
}

@test "recursion is judged by the group: a call of 60 us inside a call of another group has the total 60 us" {
	cat >x.json <<-'END'
		{"traceEvents":[
		{"pid":1,"tid":1,"ph":"X","ts":0,"dur":100,"name":"Source","args":{"detail":"a.h"}},
		{"pid":1,"tid":1,"ph":"X","ts":10,"dur":60,"name":"Source","args":{"detail":"b.h"}},
		{"pid":1,"tid":1,"ph":"X","ts":20,"dur":30,"name":"Source","args":{"detail":"a.h"}}
		]}
	END
	trdecode --segment 64K x.json -o x.trs
	run -0 trstat -t tsv -g arg.detail -c total,count,max x.trs
	lines 'arg.detail total count max' 'a.h 100000 2 100000' 'b.h 60000 1 60000'
	run -0 pipe "trstat -g arg.detail -c total --partial x.trs | trstat --merge -t tsv"
	lines 'arg.detail total' 'a.h 100000' 'b.h 60000'
	run -0 trstat -t tsv -c total x.trs
	lines 'name total' 'Source 100000'
	# a call at a depth is inside no other one at this depth
	run -0 trstat -t tsv -g depth -c total,self x.trs
	lines 'depth total self' '0 100000 40000' '1 60000 30000' '2 30000 30000'
	# a call inside a call of another caller; calls of two depths are one group
	run -0 trstat -t tsv -g caller -c total,self x.trs
	lines 'caller total self' ' 100000 40000' 'Source 60000 60000'
	run -0 trstat -t tsv -g arg.detail,caller -c total x.trs
	lines 'arg.detail caller total' 'a.h  100000' 'b.h Source 60000' 'a.h Source 30000'
	run -0 trstat -t tsv -g 'bucket(depth,2)' -c total,self x.trs
	lines 'bucket(depth,2) total self' '0 100000 70000' '2 30000 30000'
	# the categories of calls of one function
	sed 's/"args":{"detail"/"cat":"none","args":{"detail"/; 3s/none/other/' x.json >categories.json
	run -0 pipe "trdecode categories.json | trstat -t tsv -g name,group -c total"
	lines 'name group total' 'Source none 100000' 'Source other 60000'
	# one group of all calls
	run -0 trstat -t tsv -g '' -c total,self x.trs
	lines 'total self' '100000 100000'
	# also in parts of a trace, each read alone: calls that were open before are known
	trdecode --segment 4K "$DATA/uftrace/fib" | trsym -o many.trs
	[ "$(trstat --partial -g tid -c total,count many.trs | trstat --merge -t tsv | sort)" = "$(trstat -g tid -c total,count -t tsv many.trs | sort)" ]
}

@test "recursion: a call without an argument is of no group of calls with the argument, whatever its number" {
	# the functions have numbers from 1 on in the stream; a call without i counts by its function
	python3 - >x.json <<-'END'
		import json
		calls = [{"pid": 1, "tid": 1, "ph": "X", "ts": 0, "dur": 100, "name": "f"}]
		calls += [{"pid": 1, "tid": 1, "ph": "X", "ts": 10 + i, "dur": 1, "name": "f", "args": {"i": i}} for i in range(9)]
		calls += [{"pid": 1, "tid": 1, "ph": "X", "ts": 30, "dur": 1, "name": "f"}]
		print(json.dumps({"traceEvents": calls}))
	END
	run -0 pipefail 'trdecode x.json | trstat -t tsv -g arg.i -c total -s arg.i'
	lines 'arg.i total' '0 1000' '1 1000' '2 1000' '3 1000' '4 1000' '5 1000' '6 1000' '7 1000' '8 1000' ' 100000'
}

# calls_are_timed FILE KEY...: the total of each group is the time in which a call of it is open
calls_are_timed() {
	local file=$1
	shift
	trdecode -q "$file" | trsym -q -o timed.trs
	python3 "$ROOT/t/tools/group_totals.py" timed.trs "$@"
}

@test "the total of a group is the time in which a call of it is open, and self is not above" {
	calls_are_timed "$DATA/uftrace/fib" name tid depth caller comm caller,name name,depth ''
	calls_are_timed "$RECORDED/uftrace/forkexec" tid comm name,tid caller ''
	calls_are_timed "$RECORDED/trace-cmd/v6-fgraph.dat" name tid caller comm ''
	# a call in the kernel that outlives the last call of its thread
	calls_are_timed "$RECORDED/uftrace/kernel-sched" tid name comm pid
	# threads that begin within calls that return
	cp -r "$DATA/uftrace/fib" cut
	for i in 4123 4125 4126; do
		tail -c +321 "$DATA/uftrace/fib/$i.dat" >cut/$i.dat
	done
	calls_are_timed cut tid comm pid
	# in parts
	for d in cut "$RECORDED/uftrace/kernel-sched"; do
		trdecode -q --segment 4K "$d" | trsym -q -o many.trs
		for key in tid caller 'bucket(depth,2)' ''; do
			diff <(trstat -q --partial -g "$key" -c total,self many.trs | trstat --merge -q -t tsv | sort) \
				<(trstat -q -g "$key" -c total,self -t tsv many.trs | sort)
		done
	done
}

@test "total of keys that only the return shows, and of the calls that --where selects" {
	local seed keys=('bucket(dur,10us)' 'log2(dur)' 'bucket(self,3us),name' 'bucket(time,20us)' dur self time
		'name@name == "b"' 'group@name == "b"' 'name@depth > 1' 'tid@dur > 9us && group == "x"' 'caller@self > 3us'
		'@time > 100us' 'depth@dur < 20us' 'bucket(dur,10us)@depth > 0 || name == "a"')
	for seed in 1 2 3; do
		python3 - $seed >x.json <<-'END'
			import json, random, sys
			r, calls = random.Random(int(sys.argv[1])), []
			def nest(begin, end, depth):
			    while depth < 7 and begin < end:
			        begin += r.randint(0, 4)
			        last = min(end, begin + r.randint(1, max(1, (end - begin) * 2 // 3)))
			        if last > begin:
			            calls.append({"pid": 1, "tid": tid, "ph": "X", "ts": begin, "dur": last - begin,
			                          "name": r.choice("abc"), "cat": r.choice("xy")})
			            nest(begin, last, depth + 1)
			        begin = last
			for tid in 1, 2:
			    nest(0, 300, 0)
			print(json.dumps({"traceEvents": calls}))
		END
		calls_are_timed x.json "${keys[@]}"
		# one program that reads all parts
		trdecode -q --segment 1K x.json -o many.trs
		diff <(trstat -q -t tsv -g 'bucket(dur,10us)' -c total many.trs) <(trstat -q -t tsv -g 'bucket(dur,10us)' -c total timed.trs)
		diff <(trstat -q --partial -g 'bucket(dur,10us)' -c total many.trs | trstat --merge -q -t tsv) \
			<(trstat -q -t tsv -g 'bucket(dur,10us)' -c total timed.trs)
	done
	calls_are_timed "$DATA/uftrace/fib" dur 'bucket(time,1ms)' 'name@depth > 1'
	calls_are_timed "$RECORDED/trace-cmd/v6-fgraph.dat" dur 'log2(self)' 'bucket(time,1ms)' 'caller@dur > 10us'
	# a call in the kernel that outlives the last call of its thread
	calls_are_timed "$RECORDED/uftrace/kernel-sched" 'bucket(dur,10us)' 'bucket(time,1ms)' 'tid@dur > 10us'
	# the return value
	cat >x.json <<-'END'
		[{"pid":1,"tid":1,"ph":"B","ts":0,"name":"f"}, {"pid":1,"tid":1,"ph":"B","ts":10,"name":"f"},
		{"pid":1,"tid":1,"ph":"B","ts":20,"name":"f"}, {"pid":1,"tid":1,"ph":"E","ts":50,"args":{"ret":1}},
		{"pid":1,"tid":1,"ph":"E","ts":70,"args":{"ret":2}}, {"pid":1,"tid":1,"ph":"E","ts":90,"args":{"ret":1}}]
	END
	run -0 pipe "trdecode x.json | trstat -t tsv -g ret -c total,self -s ret"
	lines 'ret total self' '1 90000 60000' '2 60000 30000'
	# each interval has the calls that return in it
	run -0 pipe "trdecode x.json | trstat -t tsv -g 'bucket(dur,1ms)' -c total -i 60us"
	lines 'time bucket(dur,1ms) total' '0 0 30000' '60000 0 90000'
}
