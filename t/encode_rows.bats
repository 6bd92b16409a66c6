# trencode -t ndjson, csv, tsv: a row for each call and event.

load lib
load encode

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trdecode -q "$DATA/uftrace/fib" | trsym -q >x.trs
}

# tsv ARG...: the rows without their header, for awk -F '\t'
tsv() {
	trencode -q -t tsv --no-header "$@" x.trs || (($? == 1))
}

# The tsv of CSV as RFC 4180 has it: quotes are doubled within quotes, a field may hold line ends.
csv_as_tsv() {
	perl -0777 -ne '
		my %escape = ("\\" => "\\\\", "\t" => "\\t", "\n" => "\\n", "\r" => "\\r");
		while (/\G(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/gc) {
			my ($quoted, $plain, $end) = ($1, $2, $3);
			$plain = $quoted =~ s/""/"/gr if defined $quoted;
			print $plain =~ s/([\\\t\n\r])/$escape{$1}/gr, $end eq "," ? "\t" : "\n";
		}
		die "no CSV at " . pos() if pos() != length'
}

# Lines with those numbers shortened that a double cannot hold.
numbers() {
	perl -pe 's/(?<![\w"])-?(\d{4})\d{13,}/$1.../g'
}

# tables of trstat from the rows: name count total self, calls only
table() {
	tsv --columns name,dur,self,recursive,unfinished,kind | awk -F '\t' '
		$6 == "call" && $3 != "" { n[$1]++; self[$1] += $3; total[$1] += $4 ? 0 : $2 }
		END { for (f in n) printf "%s\t%d\t%.0f\t%.0f\n", f, n[f], total[f], self[f] }' | sort
}

@test "the columns are as documented" {
	run -0 pipe 'trencode -q -t csv x.trs | head -n 1'
	assert_output 'time,dur,type,pid,tid,cpu,comm,name,depth,file,line,args'
	run -0 pipe 'trencode -q -t tsv --columns=name,time x.trs | head -n 1'
	assert_output $'name\ttime'
	run -0 pipe 'trencode -q -t tsv --columns=+self,kind x.trs | head -n 1'
	assert_output --regexp $'\targs\tself\tkind$'
	run -0 pipe 'trencode -q -t ndjson x.trs | head -n 1 | jq -r "keys_unsorted | join(\",\")"'
	assert_output 'time,dur,type,pid,tid,cpu,comm,name,depth,file,line,args'
	run -2 trencode -t csv --columns=time,nothing x.trs
	assert_line "trencode: no event has a field 'nothing'; trdecode --list names the fields"
	run -2 trencode -t csv --columns=time,time x.trs
	assert_line --index 0 --partial "the column 'time' is given twice"
}

@test "a dot distinguishes a field from the column of its name" {
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" | trfilter 'type == "sched_wakeup"' >w.trs
	trencode -q --no-plugins w.trs | sed -nE 's/^ +(.*)-[0-9]+ +\[.* comm=(.*) pid=([0-9]+) prio=.*/\1,\2,\3/p' >theirs
	[ "$(sort -u theirs | wc -l)" -gt 3 ]
	run -0 diff theirs <(trencode -q -t csv -c comm,.comm,.pid w.trs | tail -n +2)
	run -0 pipe 'trencode -q -t csv -c pid,.pid w.trs | sed -n 1,2p'
	assert_output $'pid,.pid\n,54'
	run -0 pipe 'trencode -q -t ndjson -c .pid,.prio,prio w.trs | head -n 1'
	assert_output '{".pid":54,".prio":120,"prio":120}'
	trencode -q -t parquet -c .pid,pid -o w.parquet w.trs
	run -2 trencode -q -t csv -c .tid w.trs
	assert_line "trencode: no event has a field 'tid'; did you mean 'tgid'?"
	run -2 trencode -q -t csv -c .,time w.trs
}

@test "count, total and self by name are trstat's" {
	table >ours
	calls >theirs
	diff theirs ours
}

@test "and so they are for every recording that is whole" {
	for d in args-spec basic-pg deep-default dlopen exc-cyg kernel-sched kill-segv threads; do
		stream "$U/$d"
		table >ours
		calls >theirs
		diff theirs ours
	done
}

@test "events of the kernel: all of them, with their CPU" {
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >x.trs
	tsv --columns cpu,type | sort | uniq -c | awk '{ print $2 "\t" $3 "\t" $1 }' >ours
	trstat -q -g cpu,type -c count -t tsv x.trs | tail -n +2 | sort >theirs
	diff theirs ours
}

@test "csv and tsv have the values of ndjson, as jq and RFC 4180 read them" {
	stream "$U/args-spec"
	for columns in name,dur type,pid,tid time,comm,depth args,kind; do
		trencode -q -t ndjson --columns $columns x.trs | jq -r '[.[] |
			if . == null then "" elif type == "object" then tojson else tostring end] | @tsv' >json
		tsv --columns $columns >tsv
		trencode -q -t csv --no-header --columns $columns x.trs | csv_as_tsv | diff tsv -
		# jq has numbers as doubles, and prints them in its own way
		diff <(numbers <tsv) <(numbers <json)
	done
}

@test "csv is quoted by RFC 4180, tsv has its escapes, both are UTF-8" {
	cp -r "$U/basic-pg" odd
	chmod -R u+w odd
	sed -i 's/ T leaf$/ T l,"a"\\f\xff/' odd/basic.sym
	stream odd
	trencode -q -t csv --columns tid,name x.trs >x.csv
	run -0 grep -m 1 '"' x.csv
	assert_output --regexp $'^[0-9]+,"l,""a""\\\\f\xef\xbf\xbd"$'
	run -0 pipe 'trencode -q -t tsv --columns tid,name x.trs | grep -m 1 ,'
	assert_output --regexp $'^[0-9]+\tl,"a"\\\\\\\\f\xef\xbf\xbd$'
	run -0 pipe 'trencode -q -t ndjson --columns name x.trs | jq -r .name | grep -m 1 ,'
	assert_output $'l,"a"\\f\xef\xbf\xbd'
}

@test "arguments with commas and quotes come back" {
	need python3
	stream "$U/args-spec"
	trencode -q -t csv x.trs | python3 -c 'import csv, json, sys
for row in csv.DictReader(sys.stdin):
	if row["name"] == "str": print(json.loads(row["args"])["arg1"])' >csv
	trencode -q -t ndjson x.trs | jq -r 'select(.name == "str") | .args.arg1' >json
	[[ -s csv ]]
	diff csv json
}

@test "large integers may be strings" {
	stream "$U/args-spec"
	run -0 pipe 'trencode -q -t ndjson --columns args --json-int64=string x.trs | grep -cE "[:,]-?[0-9]{17,}[,}]" || true'
	assert_output 0
}

@test "times of apitrace are ticks, and all calls are there" {
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	tsv --columns name,kind | sort | uniq -c | awk '{ print $2 "\t" $3 "\t" $1 }' >ours
	trstat -q -g name,kind -c count -t tsv x.trs | tail -n +2 | sort >theirs
	diff theirs ours
}

@test "--tick gives ticks a length, in every format that has times" {
	trdecode -q "$DATA/apitrace/v6.trace" >x.trs
	trencode -q -t tsv --no-header --columns time,dur,name x.trs |
		awk -F '\t' -v OFS='\t' '{ print $1 * 1000, $2 * 1000, $3 }' >theirs
	trencode -q --tick 1us -t tsv --no-header --columns time,dur,name x.trs >ours
	diff theirs ours
	trencode -q -t folded x.trs | sed 's/$/000/' >theirs
	trencode -q --tick 1us -t folded x.trs >ours
	diff theirs ours
	trencode -q --tick 1us -t chrome x.trs >x.json
	trdecode -f chrome x.json | trstat -q -g name -c total -t tsv | sort >ours
	trstat -q -g name -c total -t tsv x.trs | awk -F '\t' -v OFS='\t' 'NR > 1 { $2 *= 1000 } 1' |
		sort >theirs
	diff theirs ours
	for t in ndjson csv speedscope callgrind perfetto pprof parquet; do
		trencode -q -t $t x.trs >theirs
		trencode -q --tick 1us -t $t x.trs >ours
		run -1 cmp -s theirs ours
	done
	run -0 trencode -q --tick 1us -t callgrind x.trs
	assert_line 'events: ns Calls'
	run -2 trencode --tick 1us x.trs
	assert_line --index 0 'trencode: --tick has no effect on text; it is for all formats but text'
}

@test "the CPU is that of the event where its thread has none" {
	stream "$U/threads"
	tsv --columns cpu,name,kind | awk -F '\t' '$1 != "" { n[$1]++ } END { for (c in n) print c "\t" n[c] }' |
		sort >ours
	[[ -s ours ]]
	trstat -q -g cpu -c count -t tsv x.trs | awk -F '\t' -v OFS='\t' 'NR > 1 && $1 != ""' | sort >theirs
	diff theirs ours
}

@test "--tick that is too long, or no whole number of ns, is an error" {
	trdecode -q "$DATA/apitrace/v6.trace" >x.trs
	for t in csv ndjson firefox chrome folded svg dot mermaid callgrind pprof speedscope perfetto parquet ctf uftrace \
		trace-cmd lttng; do
		run -2 trencode -q --tick 2000000h -t $t -o x.$t x.trs
		assert_output --partial 'v6.trace: tick 3, of 7200000000000000000 ns each, is beyond 2^64 ns'
		[ ! -e x.$t ]
	done
	run -2 trencode --tick 1.5ns -t csv x.trs
	assert_line --index 0 "trencode: --tick takes a time in whole ns, such as 1ns, not '1.5ns'"
	run -0 trencode -q --tick 1.5us -t csv x.trs
}

@test "ticks and times in one stream are refused, but with --tick" {
	trdecode -q "$DATA/uftrace/fib" | trsym >both.trs
	trdecode -q "$DATA/apitrace/v6.trace" >>both.trs
	for t in csv tsv ndjson firefox chrome folded svg dot mermaid callgrind pprof speedscope perfetto parquet ctf; do
		run -2 trencode -q -t $t -o x.$t both.trs
		assert_output --partial 'the stream has clocks of ticks and of ns; give the length of a tick, as in --tick 1ns'
		assert_output --partial 'v6.trace (clock ticks) and '
		[ ! -e x.$t ]
		run -0 trencode -q --tick 1ns -t $t -o x.$t both.trs
	done
	run -0 trencode -q both.trs
}

@test "chrome says the length of ticks, and which values a counter cannot hold" {
	trdecode -q "$DATA/apitrace/v6.trace" >x.trs
	run -0 pipe 'trencode -q --tick 1us -t chrome x.trs | jq -r .otherData.clock'
	assert_output 'ticks of 1000 ns'
	run -0 pipe 'trencode -q -t chrome x.trs | jq -r .otherData.clock'
	assert_output ticks
	echo '[{"ph":"C","pid":1,"tid":1,"ts":4,"name":"c","args":{"n":3,"s":"t"}}]' >x.json
	trdecode -f chrome x.json >x.trs
	for t in chrome perfetto; do
		run -0 trencode -t $t -o x.$t x.trs
		assert_output 'trencode: 1 value of a counter is left out: not a number'
	done
}

@test "a float has the same digits in rows, keys, conditions and texts" {
	trdecode "$DATA/apitrace/v6.trace" >v6.trs
	for f in 'f.3 0.1' 'f.4 0.33333334' 'f.13 1e-45' 'f.12 3.4028235e+38' 'f.6 1e-05' 'd.4 0.3333333333333333' 'd.15 5e-324'; do
		path=${f% *} digits=${f#* }
		run -0 pipe "trencode -q -t ndjson v6.trs | grep -m 1 '\"name\":\"floats\"' | jq -c '.args.${path%.*}' | tr -d '[]' | cut -d , -f $((${path#*.} + 1))"
		assert_output "$digits"
		run -0 pipe "trstat -q -g 'arg.$path' -c count v6.trs | awk '\$2 == \"$digits\" { print \$1 }'"
		assert_output 1
		run -0 pipe "trfilter 'name == \"floats\" && arg.$path == $digits' v6.trs | trencode -q -t ndjson | wc -l"
		assert_output 1
	done
	run -0 pipe 'trencode -t chrome v6.trs 2>&1 | grep -o "\"f\":\[0,-0,1,0.1,0.33333334,1e-07"'
	assert_output
}

@test "fields of events are columns, of calls their arguments and return values" {
	local trace=$RECORDED/trace-cmd/i386-v6-sched-irq-timer list=time,cpu,next_comm,next_pid,prev_state
	trdecode -q --type sched_switch "$trace.dat" -o x.trs
	# TASK-PID [CPU] SECONDS: sched_switch: prev_comm=... prev_state=0x0 next_comm=swapper/0 next_pid=0
	sed -nE 's/^.*\[0*([0-9]+)\] +([0-9.]+): +sched_switch: .* prev_state=0x([0-9a-f]+) .*next_comm=(.*) next_pid=([0-9]+) .*/\1\t\4\t\5\t\3/p' "$trace.raw.txt" |
		perl -pe 's/(\w+)$/hex $1/e' >theirs
	[ -s theirs ]
	tsv -c "$list" | cut -f 2- | diff theirs -
	trencode -q -t csv --no-header -c "$list" x.trs | csv_as_tsv | cut -f 2- | diff theirs -
	trencode -q -t ndjson -c "$list" x.trs | jq -r '[.cpu, .next_comm, .next_pid, .prev_state] | @tsv' | diff theirs -
	trencode -q -t parquet -c "$list" -o x.parquet x.trs
	{ echo time:int64$'\t'cpu:int32$'\t'next_comm:text$'\t'next_pid:int64$'\t'prev_state:int64 && tsv -c "$list"; } |
		diff - <(python3 "$ROOT/t/tools/parquet.py" x.parquet)
	# the arguments of a call are those that args has
	trdecode -q "$RECORDED/uftrace/args-spec" | trsym -q >x.trs
	tsv -c arg.1,arg.3,ret,name >ours
	grep -q $'^-1\t70000\t-704963005\tints$' ours
	trencode -q -t ndjson -c args,arg.1,arg.3,ret x.trs >rows
	[ "$(jq -c 'select(."arg.1" != null and .ret != null)' rows | wc -l)" -gt 10 ]
	run -0 jq -c 'select([."arg.1", ."arg.3", .ret] != ([.args.arg1, .args.arg3, .args.ret] |
		map(if type == "object" or type == "array" then null else . end)))' rows
	assert_output ''
	# a name that nothing has, and types that differ
	run -2 errors trencode -t csv -c time,next_com x.trs
	run -2 errors trencode -q -t parquet -c time,nam -o none.parquet x.trs
	assert_output "trencode: no event has a field 'nam'; did you mean 'name'?"
	[ ! -e none.parquet ]
	# neither a limit nor -q makes it right, where the fields are declared
	trdecode -q "$DATA/trace-cmd/v6-date.dat" >y.trs
	for options in '-n 3' '-q -n 3' ''; do
		# shellcheck disable=SC2086
		run -2 errors trencode $options -t csv -c time,nam -o none.csv y.trs
		assert_line "trencode: no event has a field 'nam'; did you mean 'name'?"
		[ ! -e none.csv ]
	done
}

@test "a parquet file has the rows of tsv" {
	list=time,dur,type,pid,tid,cpu,comm,name,depth,kind,self,caller
	for trace in "$DATA"/{trace-cmd/v7-zlib-sched-irq-timer.dat,apitrace/values.trace,uftrace/fib}; do
		trdecode -q "$trace" | trsym -q >x.trs
		trencode -q -t parquet -c "$list" -o x.parquet x.trs
		tsv -c "$list" | diff - <(python3 "$ROOT/t/tools/parquet.py" x.parquet | tail -n +2)
	done
}

@test "parquet: times that its numbers cannot hold are counted" {
	run -0 pipe "trdecode -q '$DATA/apitrace/v6.trace' | trencode -t parquet --tick 300000000000000000ns -o x.parquet"
	assert_line --regexp '^trencode: [1-9][0-9]* numbers are 2\^63 or more: written as 9223372036854775807, the largest number of the format$'
	run -0 pipe "trdecode -q '$DATA/apitrace/v6.trace' | trencode -t parquet -o x.parquet"
	refute_line --partial 2^63
}

@test "a segment by itself has the rows of the whole, also with ticks of a length" {
	segments "$DATA/apitrace/threads.trace"
	trencode -q --unclosed=drop -t ndjson --tick 3us x.trs | sort >whole
	each_segment ndjson --tick 3us | sort >parts
	[ -s whole ]
	diff whole parts
}
