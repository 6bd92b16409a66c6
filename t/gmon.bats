#!/usr/bin/env bats
# gmon.out: times and calls by function, as gprof prints them, and those of files that t/tools/gmon.py
# writes. t/data/gmon has a program and what it wrote.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	gunzip -c "$DATA/gmon/work.gz" >work
	chmod +x work
}

# flat PROGRAM GMON: function, self time in hundredths of a second, calls that are no recursion
flat() {
	trdecode -q -o a.trs "$2"
	trsym -q -e "$1" -o b.trs a.trs
	trstat -q -t tsv -c self,count -g name b.trs | awk -F '\t' 'NR > 1 { self[$1] = $2 }
		END { for (f in self) print f "\t" self[f] }' >self.tsv
	trstat -q -t tsv -c count -g name,caller b.trs | awk -F '\t' 'NR > 1 && $1 != $2 && $2 != "" { n[$1] += $3 }
		END { for (f in n) print f "\t" n[f] }' >calls
	awk -F '\t' 'FILENAME == "calls" { n[$1] = $2; seen[$1] = 1; next } { self[$1] = $2; seen[$1] = 1 }
		END { for (f in seen) printf "%s\t%.2f\t%d\n", f, self[f] / 1e9, n[f] }' calls self.tsv | LC_ALL=C sort
}

# gprof_flat PROGRAM GMON: the same of gprof. A function of no calls has no column of them.
gprof_flat() {
	gprof -b -p "$1" "$2" | awk '/^ *[0-9]/ { print $NF "\t" $3 "\t" (NF > 4 ? $4 : 0) }' | LC_ALL=C sort
}

# same PROGRAM GMON: times within the hundredth to which gprof rounds, calls equal
same() {
	flat "$1" "$2" >have
	gprof_flat "$1" "$2" >want
	[ -s want ]
	# gprof leaves out functions without times and calls
	join -t $'\t' -a 1 -a 2 -o 0,1.2,1.3,2.2,2.3 -e 0 have want |
		awk -F '\t' '{ d = $2 - $4 } d > .0101 || d < -.0101 || $3 != $5 { print; bad = 1 } END { exit bad }'
}

# callers PROGRAM GMON: caller, callee and number of calls; those of gprof -q
callers() {
	trstat -q -t tsv -c count -g name,caller b.trs |
		awk -F '\t' 'NR > 1 && $2 != "" { print $2 "\t" $1 "\t" $3 }' | LC_ALL=C sort >have
	# callers are above the line of a function [N], with calls/all, and its callees below; recursions
	# are lines with the number alone
	gprof -b -q "$1" "$2" | awk '/^index/ { on = above = 1; next } /^---/ { above = 1; next }
		/^\f|^Index/ { exit } !on { next }
		/^\[/ { above = 0; function_of = $(NF - 1); next }
		above || NF < 3 || $NF !~ /^\[/ { next }
		{ n = $(NF - 2); sub(/\/.*/, "", n); print function_of "\t" $(NF - 1) "\t" n }' | LC_ALL=C sort >want
	[ -s want ]
	diff want have
}

@test "a recorded file: times and calls are those of gprof" {
	need gprof
	same work "$DATA/gmon/gmon.out"
	callers work "$DATA/gmon/gmon.out"
	# a program with an address of its own, and one that is position-independent
	sed 's/3000000/300000/; s/6000000/600000/' "$DATA/gmon/work.c" >w.c
	for option in -no-pie '-pie -fPIE'; do
		# shellcheck disable=SC2086
		cc -O1 -pg $option -o w w.c
		./w
		same w gmon.out
		callers w gmon.out
	done
}

@test "bins at the end of a function are divided as gprof divides them, and histograms add up" {
	need gprof
	read -r start size < <(nm -S work | awk '$4 == "checksum" { print "0x" $1, "0x" $2 }')
	walk=$(nm work | awk '$3 == "walk" { print "0x" $1 }')
	read_block=$(nm work | awk '$3 == "read_block" { print "0x" $1 }')
	low=$((start - 6)) high=$((start + size + 36))
	# bins of 4 bytes, of which some have two functions
	bins=$(seq -s, 100 20 $((100 + 20 * ((high - low) / 4 - 1))))
	python3 "$ROOT/t/tools/gmon.py" g.out 64 little "hist:$low:$((low + (high - low) / 4 * 4)):100:$bins" \
		"calls:$((start + 9)):$walk:7" "calls:$((read_block + 1)):$start:5" "calls:$((read_block + 6)):$((start + 4)):5" >list
	same work g.out
	callers work g.out
	# gprof adds histograms of one range
	python3 "$ROOT/t/tools/gmon.py" h.out 64 little "hist:$low:$((low + (high - low) / 4 * 4)):100:$bins" \
		"hist:$low:$((low + (high - low) / 4 * 4)):100:$bins" >list
	same work h.out
}

@test "each size of addresses and byte order" {
	for bits in 32 64; do
		for order in little big; do
			python3 "$ROOT/t/tools/gmon.py" g.out $bits $order hist:0x1000:0x1010:100:3,0,5,7 \
				hist:0x8000:0x8003:1000:9 calls:0x1004:0x1010:4 calls:0x1008:0x1000:1000000 \
				blocks:0x1000:12,0x1004:8 blocks:0x1000:1 >want
			trdecode -q -o a.trs g.out
			{
				trstat -q -t tsv -g type,name -c self a.trs |
					awk -F '\t' '$1 == "time" && $3 > 0 { print "time", $2, $3 }'
				trstat -q -t tsv -g type,caller,name -c count a.trs |
					awk -F '\t' '$1 == "time" && $2 != "" { print "calls", $2, $3, $4 }'
				trstat -q -t tsv -g type,name -c self a.trs |
					awk -F '\t' '$1 == "blocks" { print "blocks", $2, $3 }'
			} | LC_ALL=C sort | diff <(LC_ALL=C sort want) - || fail "$bits $order"
			run -0 trdecode --info g.out
			assert_line --regexp "^bits +$bits$"
			assert_line --regexp "^byte order +$order endian$"
			assert_line --partial '0x1000-0x1010, 4 bins, 100 ticks per second'
			assert_line --regexp '^calls +1000004$'
		done
	done
}

@test "trsym --exe: the program, its lines, and what is refused" {
	trdecode -o a.trs "$DATA/gmon/gmon.out"
	run -0 --separate-stderr pipe 'trsym a.trs | trstat -t tsv'
	assert_equal "$stderr" 'trsym: no symbols: the trace does not name its program (see --exe)'
	run -0 --separate-stderr pipe 'trsym --report -e work a.trs | trstat -t tsv -c count -g name,module'
	assert_line "checksum	$PWD/work	120"
	[[ $stderr == *" 0  file    $PWD/work"* ]]
	# --sysroot is for the programs that traces name
	run -0 pipe 'trsym --sysroot=/nowhere -e work a.trs | trstat -t tsv -c count'
	assert_line "checksum	120"
	run -2 trsym -e nowhere a.trs
	assert_output --partial 'trsym: nowhere: cannot open'
	run -2 pipe "trdecode -q '$DATA/perf/flat.data' | trsym -q -e work >x"
	assert_output --partial '--exe has no effect: this trace names its programs'
	cc -g -O1 -pg -o w "$DATA/gmon/work.c"
	run -0 pipe "./w && trdecode gmon.out | trsym -l -e w | trstat -t tsv -g name,line -c count | sort"
	assert_line --regexp $'^checksum\t[5-8]\t120$'
}

@test "the call graph that trencode writes has the calls" {
	trdecode -q "$DATA/gmon/gmon.out" | trsym -q -e work -o b.trs
	trencode -q -t callgrind -o cg.out b.trs
	run -0 callgrind_annotate --auto=no --threshold=100 --tree=caller cg.out
	assert_line --regexp '< \?\?\?:read_block \(60x\)'
	assert_line --regexp '< \?\?\?:walk \(57,312x\)'
	run -0 trencode -q -t dot --weight count b.trs
	assert_line --regexp '-> f[0-9]+ \[label="57312"\]'
	# no function is known but those with time
	trencode -q -t folded b.trs | awk '{ n += $NF } END { print n / 1e7 }' >have
	trdecode --info "$DATA/gmon/gmon.out" | awk '$1 == "ticks" { print $2 }' | diff have -
}

@test "compressed, through a pipe, by name of the format" {
	trdecode -q "$DATA/gmon/gmon.out" | trstat -t tsv >want
	gzip -c "$DATA/gmon/gmon.out" >g.gz
	trdecode -q g.gz | trstat -t tsv | diff want -
	trdecode -q <"$DATA/gmon/gmon.out" | trstat -t tsv | diff want -
	cat "$DATA/gmon/gmon.out" | trdecode -q -f gmon | trstat -t tsv | diff want -
	run -0 trdecode --list "$DATA/gmon/gmon.out"
	assert_line --regexp '^ +[0-9]+ .*sample +time$'
	assert_line --regexp '^ +calls +unsigned'
}

@test "damage: cut at each place, and records that are none" {
	size=$(stat -c %s "$DATA/gmon/gmon.out")
	for at in 19 20 21 45 60 70 1000 2452 2455 2470 2477 $((size - 1)); do
		head -c "$at" "$DATA/gmon/gmon.out" >c.out
		run -1 --separate-stderr pipe 'trdecode c.out | trstat -q -t tsv' && [ "$at" -gt 20 ] && continue
		# a header alone has no records
		[ "$at" = 20 ] && [ "$status" = 0 ] && continue
		[ "$at" = 19 ] && [ "$status" = 2 ] && continue
		fail "$at: $status $output $stderr"
	done
	head -c $((size - 1)) "$DATA/gmon/gmon.out" >c.out
	run -1 --separate-stderr trdecode -o a.trs c.out
	assert_equal "$stderr" "trdecode: c.out: $(printf '0x%x' $((size - 21))): the file ends within a record"
	cp "$DATA/gmon/gmon.out" bad
	printf '\7' >>bad
	run -1 --separate-stderr trdecode -o a.trs bad
	assert_equal "$stderr" "trdecode: bad: $(printf '0x%x' "$size"): no record of gmon.out: the rest is left out"
	trstat -q -t tsv a.trs 2>/dev/null | diff <(trdecode "$DATA/gmon/gmon.out" | trstat -q -t tsv) -
	python3 "$ROOT/t/tools/gmon.py" g.out 64 little calls:0x10:0x20:3 hist:0x1000:0x1000:100:3,4 >list
	run -1 --separate-stderr trdecode -o a.trs g.out
	assert_equal "$stderr" 'trdecode: g.out: 0x29: a histogram without a range, bins or a rate: the rest is left out'
	run -1 trstat -q -t tsv -c count a.trs
	assert_line '<20>	3'
}
