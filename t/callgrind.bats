#!/usr/bin/env bats
# Profiles of callgrind: own and inclusive costs, and calls by caller, as callgrind_annotate prints them.
# t/data/callgrind has a program and what valgrind wrote.
bats_require_minimum_version 1.5.0

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gunzip -c "$DATA/callgrind/callgrind.out.gz" >callgrind.out
}

# annotate FILE EVENT OPTION...: callgrind_annotate, from a directory whose name no file begins with
annotate() {
	local file event=$2
	file=$(realpath "$1")
	shift 2
	(cd / && callgrind_annotate --auto=no --threshold=100 "--show=$event" "--sort=$event" "$@" "$file") |
		sed -n '/file:function$/,$p' | tr -d ,
}

# own FILE EVENT: file:function and its own cost
own() {
	need callgrind_annotate
	annotate "$1" "$2" | awk '/ \(.*%\) / { cost = $1; sub(/^.*%\) */, ""); sub(/ \[.*\]$/, ""); n[$0] += cost }
		END { for (f in n) if (n[f]) print f "\t" n[f] }' | LC_ALL=C sort >want
	trdecode -q "$1" | trfilter -q "type == \"$2\"" | trstat -q -t tsv -g file,name,type -c self |
		awk -F '\t' 'NR > 1 && $4 { n[($1 == "" ? "???" : $1) ":" $2] += $4 }
			END { for (f in n) print f "\t" n[f] }' | LC_ALL=C sort >have
	[ "$(wc -l <want)" -ge "${3:-20}" ]
	diff want have
}

# inclusive FILE EVENT: file:function and inclusive cost. A row of an inlined part is another function
# to callgrind_annotate; here its costs are the function's, so those without calls are not compared.
inclusive() {
	annotate "$1" "$2" --inclusive=yes | awk '/ \(.*%\) / { cost = $1; sub(/^.*%\) */, ""); sub(/ \[.*\]$/, "")
		print $0 "\t" cost }' | LC_ALL=C sort >all
	trdecode -q "$1" | trfilter -q "type == \"$2\"" | trstat -q -t tsv -g file,name,type -c total |
		awk -F '\t' 'NR > 1 && $4 { n[($1 == "" ? "???" : $1) ":" $2] += $4 }
			END { for (f in n) print f "\t" n[f] }' | LC_ALL=C sort >have
	cut -f 1 have >names
	awk -F '\t' 'FILENAME == "names" { known[$1] = 1; next } known[$1]' names all >want
	[ "$(wc -l <want)" -ge "${3:-20}" ]
	diff want have
}

# callers FILE EVENT: file:function, caller without its file, calls and their inclusive cost
callers() {
	annotate "$1" "$2" --inclusive=yes --tree=caller | awk '/ < / { cost = $1; caller = $0
			sub(/^.* < /, "", caller); sub(/ \[[^]]*\]$/, "", caller)
			calls = caller; sub(/^.*\(/, "", calls); sub(/x\)$/, "", calls)
			sub(/ \([0-9]*x\)$/, "", caller); sub(/^[^:]*:/, "", caller)
			n[caller] += calls; sum[caller] += cost; next }
		/ \* / { sub(/^.* \*  /, ""); sub(/ \[[^]]*\]$/, "")
			for (c in n) if (sum[c]) print $0 "\t" c "\t" n[c] "\t" sum[c]
			split("", n); split("", sum) }' | LC_ALL=C sort >want
	trdecode -q "$1" | trfilter -q "type == \"$2\"" | trstat -q -t tsv -g file,name,caller,type -c count,total |
		awk -F '\t' 'NR > 1 && $3 != "" && $6 { key = ($1 == "" ? "???" : $1) ":" $2 "\t" $3; n[key] += $5; sum[key] += $6 }
			END { for (k in n) print k "\t" n[k] "\t" sum[k] }' | LC_ALL=C sort >have
	[ "$(wc -l <want)" -ge "${3:-20}" ]
	diff want have
}

# same FILE EVENT [ROWS]
same() {
	own "$@"
	inclusive "$@"
	callers "$@"
}

# record FILE OPTION...: a profile of the program of t/data/callgrind, not static: with many inlined
# parts, jumps and recursions of the loader
record() {
	local out=$1
	shift
	need valgrind
	[ -x work ] || cc -g -O1 -o work "$DATA/callgrind/work.c"
	valgrind -q --tool=callgrind "--callgrind-out-file=$out" "$@" ./work || [ $? = 1 ]
}

@test "a recorded file: own and inclusive costs, callers and calls are those of callgrind_annotate" {
	same callgrind.out Ir
	run -0 trdecode --info callgrind.out
	assert_line --regexp '^creator +callgrind-3'
	assert_line --regexp '^totals +728758$'
}

@test "each form of names and positions, and several events" {
	record c.out --cache-sim=yes --branch-sim=yes --collect-jumps=yes
	for event in Ir Dw D1mr Bcm; do same c.out $event; done
	# an event that is computed, before its terms; others have no term, or a name that an event has
	sed '/^events:/i event: Sum = Ir + 16*Dw - Bcm + Nothing : long = name\nevent: No = Nothing\nevent: Dw = Ir' c.out >sum.out
	for option in --inclusive=no --inclusive=yes; do
		annotate c.out Ir,Dw,Bcm $option | sed -E 's/\( *[0-9.]+%\)//g; s/ \[[^]]*\]$//; s/ \. / 0 /g' |
			awk '$1 ~ /^[0-9]+$/ { n = $1 + 16 * $2 - $3; $1 = $2 = $3 = ""; sub(/^ +/, ""); print $0 "\t" n }' |
			LC_ALL=C sort >all
		trdecode sum.out | trfilter -q 'type == "Sum"' | trstat -q -t tsv -g file,name -c "$([ $option = --inclusive=no ] && echo self || echo total)" |
			awk -F '\t' 'NR > 1 && $NF { n[($1 == "" ? "???" : $1) ":" $2] += $NF } END { for (f in n) print f "\t" n[f] }' |
			LC_ALL=C sort >have
		awk -F '\t' 'NR == FNR { known[$1] = 1; next } known[$1]' have all | awk -F '\t' '{ n[$1] += $2 } END { for (f in n) print f "\t" n[f] }' |
			LC_ALL=C sort >want
		[ "$(wc -l <want)" -ge 20 ]
		diff want have
	done
	trdecode sum.out | trstat -q -t tsv -g type -c self >have
	refute grep -q No have
	trdecode c.out | trstat -q -t tsv -g type -c self | sort | diff - <(grep -v ^Sum have | sort)
	record instr.out --dump-instr=yes --dump-line=yes --collect-jumps=yes
	same instr.out Ir
	record addresses.out --dump-instr=yes --dump-line=no
	same addresses.out Ir
	record plain.out --compress-strings=no --compress-pos=no
	same plain.out Ir
	record caller.out --separate-callers=3 --separate-recs=5
	same caller.out Ir
}

@test "parts and threads of one file" {
	record parts.out --dump-every-bb=20000 --combine-dumps=yes
	[ "$(grep -c ^part: parts.out)" -ge 3 ]
	trdecode -q parts.out | trstat -q -t tsv -g file,name -c self >original
	# callgrind_annotate takes the cost of calls that an earlier part counted for the caller's own
	sed -i 's/^calls=0 /calls=1 /' parts.out
	same parts.out Ir
	trdecode -q parts.out | trstat -q -t tsv -g file,name -c self | diff original -
	cat >threads.c <<-'END'
		#include <pthread.h>
		static volatile int sink;
		static void *work(void *n) { for (long i = 0; i < (long)n; i++) sink += i; return 0; }
		int main(void)
		{
			pthread_t t[2];
			for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)(1000 * (i + 1)));
			for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
			work((void *)10L);
			return 0;
		}
	END
	cc -g -o threads threads.c -lpthread
	valgrind -q --tool=callgrind --callgrind-out-file=t.out --separate-threads=yes ./threads
	# a thread may have the number of one that has ended
	for i in t.out-??; do
		trdecode -q "$i" | trstat -q -t tsv --where 'name == "work"' -g tid,pid -c self | tail -n +2
	done | LC_ALL=C sort >by_thread
	for i in t.out-??; do
		same "$i" Ir 1
		annotate "$i" Ir | awk -v tid="${i#t.out-0}" -v pid="$(sed -n 's/^pid: //p' t.out-01)" \
			'/:work / { print tid "\t" pid "\t" $1 }'
	done | LC_ALL=C sort | diff - by_thread
}

@test "cachegrind's own files" {
	need valgrind
	cc -g -O1 -static -o work "$DATA/callgrind/work.c"
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=cg.out ./work || [ $? = 1 ]
	for event in Ir Dr ILmr; do
		(cd / && cg_annotate --auto=no --threshold=0 --show=$event --sort=$event "$OLDPWD/cg.out") | tr -d , |
			awk '/ \(.*%\)  / && !/TOTALS/ { cost = $1; sub(/^.*%\) */, ""); if (cost) print $0 "\t" cost }' | LC_ALL=C sort >want
		trdecode -q cg.out | trfilter -q "type == \"$event\"" | trstat -q -t tsv -g file,name,type -c self,total |
			awk -F '\t' 'NR > 1 && $4 { if ($4 != $5) exit 1; print ($1 == "" ? "???" : $1) ":" $2 "\t" $4 }' |
			LC_ALL=C sort >have
		[ "$(wc -l <want)" -ge 5 ]
		awk -F '\t' '{ n[$1] += $2 } END { for (f in n) print f "\t" n[f] }' have | LC_ALL=C sort | diff want -
	done
}

# what Xdebug writes: times in units of 10 ns, memory that may be freed, calls with a name each first use
xdebug() {
	cat <<-'END'
		version: 1
		creator: xdebug 3.1.2 (PHP 8.1.2)
		cmd: /srv/www/index.php
		part: 1
		positions: line

		events: Time_(10ns) Memory_(bytes)

		fl=(1) php:internal
		fn=(1) php::strlen
		12 40 0

		fl=(2) /srv/www/index.php
		fn=(2) load
		9 700 -300
		cfl=(1)
		cfn=(1)
		calls=1 0 0
		12 40 0

		fl=(2)
		fn=(3) {main}
		1 1000 500
		cfl=(2)
		cfn=(2)
		calls=2 0 0
		20 740 -300

		summary: 1740 200
	END
}

@test "Xdebug: units of time, and negative costs" {
	xdebug >cachegrind.out.1
	trdecode cachegrind.out.1 -o a.trs
	run -0 trstat -t tsv -g type,name -c total,self,count -s type,total a.trs
	assert_line $'Time\t{main}\t17400\t10000\t0'
	assert_line $'Time\tload\t7400\t7000\t2'
	assert_line $'Time\tphp::strlen\t400\t400\t1'
	assert_line $'Memory_(bytes)\t{main}\t200\t500\t0'
	assert_line $'Memory_(bytes)\tload\t-300\t-300\t2'
	run -0 trstat -t tsv -g comm,line -c self --where 'name == "load" && type == "Time"' a.trs
	assert_line $'index.php\t9\tTime\t7000'
	sed '/^summary/d' cachegrind.out.1 >cut.out
	run -1 --separate-stderr trdecode -q -o a.trs cut.out
	assert_regex "$stderr" ': no summary of the costs: the file was cut$'
}

@test "pprof -callgrind: calls without a number" {
	cat >p.out <<-'END'
		positions: instr line
		events: cpu(ms)
		fl=(1) main.go
		fn=(1) main.main
		0x1000 5 10
		cfl=(2) work.go
		cfn=(2) main.work
		calls=0 +16 7
		* * 90

		ob=(1) /bin/work
		fl=(2) work.go
		fn=(2) main.work
		+16 7 90
	END
	run -0 pipe 'trdecode p.out | trstat -t tsv -g type,name -c total,self,avg'
	assert_line $'cpu\tmain.main\t100000000\t10000000\t'
	assert_line $'cpu\tmain.work\t90000000\t90000000\t'
	run -0 pipe 'trdecode p.out | trstat -t tsv -g name,line,module -c self'
	assert_line $'main.work\t7\t/bin/work\t90000000'
}

@test "trencode writes the same profile back" {
	trdecode -q callgrind.out | trencode -q -t callgrind -o back.out
	for option in --inclusive=no --inclusive=yes '--inclusive=yes --tree=caller'; do
		for file in callgrind.out back.out; do
			# shellcheck disable=SC2086
			annotate $file Ir $option | sed '1,2d; /^$/d' | LC_ALL=C sort >$file.txt
		done
		[ "$(wc -l <back.out.txt)" -ge 40 ]
		diff callgrind.out.txt back.out.txt
	done
	run -0 pipe 'trdecode callgrind.out | trencode -q -t dot'
	assert_line --regexp '^	f[0-9]+ -> f[0-9]+ \[label="110100"\]$'
	# no stack is known but that of a caller: a flame graph has the own costs side by side
	trdecode -q callgrind.out | trencode -q -t folded >x.folded
	[ "$(awk '{ n += $NF } END { print n }' x.folded)" = 728758 ]
	run grep ';.*;' x.folded
	assert_output ''
}

@test "compressed, through a pipe, merged in summaries, by name of the format" {
	trdecode -q callgrind.out | trstat -t tsv >want
	trdecode -q "$DATA/callgrind/callgrind.out.gz" | trstat -t tsv | diff want -
	cat callgrind.out | trdecode -q -f callgrind | trstat -t tsv | diff want -
	trdecode -q --segment 4K callgrind.out -o s.trs
	trstat -q --partial s.trs -o p
	trstat --merge -t tsv p | diff want -
	# no single call is known
	run -0 pipe "trdecode -q callgrind.out | trstat -t tsv -c min,max,p50,total_stdev,self_min,avg,total,count"
	assert_line $'checksum\t\t\t\t\t\t1820\t218400\t120'
}

@test "damage: lines that are none, numbers without a name, a file that was cut" {
	size=$(stat -c %s callgrind.out)
	for at in 400 1000 5000 $((size - 20)); do
		head -c "$at" callgrind.out >c.out
		run -1 --separate-stderr trdecode -o a.trs c.out
		assert_regex "$stderr" 'c.out: 0x[0-9a-f]+: (the costs are less than the summary: the file was cut|the last line is cut)'
	done
	cat >bad.out <<-'END'
		# callgrind format
		events: Ir
		12 3
		fl=(1) a.c
		fn=(7)
		fn=(1) f
		12 3
		13 4 5
		14 x
		calls=1 2
		cfn=(2) g
		calls=x 1
		calls=3 1
		15 99999999999999999999
		nonsense
		+2 0x10
	END
	run -1 --separate-stderr trdecode -o a.trs bad.out
	assert_regex "$stderr" 'bad.out: 0x1e: not a line of a profile of callgrind'
	run -1 --separate-stderr trstat -q -t tsv -g name,line -c self,total,count -s line a.trs
	assert_line $'f\t12\t3\t0\t0'
	assert_line $'f\t17\t16\t0\t0'
}

@test "a file that was cut: any event, a later part, each last line" {
	local cut='the costs are less than the summary: the file was cut' none='no summary of the costs: the file was cut'
	# expect STATUS MESSAGE: of x.out
	expect() {
		run --separate-stderr trdecode -o a.trs x.out
		[ "$status" = "$1" ] || fail "status $status: $stderr"
		if [ "$2" ]; then assert_regex "$stderr" "^trdecode: x.out: 0x[0-9a-f]+: $2$"; else assert_equal "$stderr" ''; fi
	}
	printf 'events: Ir Dr\nsummary: 15 3\nfn=f\n1 5 1\n2 10 2\n' >x.out
	expect 0 ''
	sed -i 's/15 3/15 4/' x.out
	expect 1 "$cut"
	printf 'events: Ir\nfn=f\n1 5\n2 1' >x.out
	expect 1 'the last line is cut'
	run -1 --separate-stderr trstat -q -t tsv -c self a.trs
	assert_line $'f\t5'
	# callgrind writes the totals of each part
	part() {
		printf 'part: %s\n\nevents: Ir Dr\nsummary: %s\n\nfn=f\n1 5 1\n2 10 2\n\ntotals: %s\n' "$@"
	}
	{ printf 'version: 1\ncreator: callgrind-3.19.0\npid: 1\n' && part 1 '15 3' '15 3' && part 2 '17 4' '15 3'; } >whole.out
	cp whole.out x.out
	expect 0 ''
	sed '$s/15 3/15 4/' whole.out >x.out
	expect 1 "$cut"
	for n in 12 13 14 16 17 20 22; do
		head -n "$n" whole.out >x.out
		case $n in 13) expect 0 '' ;; 12 | 14 | 16) expect 1 "$none" ;; *) expect 1 "$cut" ;; esac
	done
	# a part without costs is whole
	{ cat whole.out && printf 'part: 3\nevents: Ir Dr\nsummary: 0\ntotals: 0\n'; } >x.out
	expect 0 ''
}

@test "a byte order mark, and a point for 0" {
	{ printf '\xef\xbb\xbf' && cat callgrind.out; } >bom.out
	trdecode callgrind.out | trstat -q -t tsv >want
	trdecode bom.out | trstat -q -t tsv | diff want -
	printf '\xef\xbb\xbfevents: Ir I1mr\nfn=f\n3 2 .\n4 . 7\n' >x.out
	run -0 pipe 'trdecode x.out | trstat -q -t tsv -g type,line -c self'
	assert_line $'Ir\t3\t2'
	assert_line $'I1mr\t4\t7'
}

@test "files of several threads or runs add up" {
	sed 's/^thread: .*//; s/^pid: .*/&\nthread: 2/' callgrind.out >second.out
	trdecode callgrind.out second.out -o both.trs
	totals=$(sed -n 's/^totals: //p' callgrind.out)
	run -0 pipe 'trstat -q -t tsv -g tid -c self both.trs'
	assert_equal "$(awk -F '\t' 'NR > 1 { n++; if ($NF != '"$totals"') exit 1 } END { print n }' <<<"$output")" 2
	# no clock of rows needs another; one of times does
	trdecode -q callgrind.out "$DATA/profiles/node.heapprofile.gz" -o both.trs
	run -2 --separate-stderr trdecode callgrind.out "$DATA/uftrace/fib" -o x.trs
	assert_regex "$stderr" 'cannot be compared: align them'
}

@test "--info and --list: no empty description, and no empty group" {
	run -0 trdecode --info callgrind.out
	refute_line --regexp '^desc .*:$'
	assert_line --regexp '^desc +Trigger: Program termination$'
	record c.out --cache-sim=yes
	run -0 trdecode --list c.out
	assert_line --regexp '^ *in each type of no group:$'
	run -0 trdecode --info --json "$DATA/pstats/3.13.prof"
	assert_output --partial '"time_ns": '
}
