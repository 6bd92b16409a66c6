# trencode --partition and --table: tables of typed columns as Parquet and Arrow, read by tools/parquet.py and arrow.py.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

parquet() {
	python3 "$ROOT/t/tools/parquet.py" "$@"
}

# table TABLE [COLUMN]...: its rows, or these columns of them, without the header
table() {
	trencode -q -t parquet --table "$1" -o table.parquet x.trs || return
	parquet table.parquet | python3 -c '
import sys
lines = [line.rstrip("\n").split("\t") for line in sys.stdin]
names = [cell.rsplit(":", 1)[0] for cell in lines[0]]
chosen = [names.index(name) for name in sys.argv[1:]] or range(len(names))
for line in lines[1:]:
    print("\t".join(line[i] for i in chosen))' "${@:2}"
}

# night ID SECONDS...: x.trs with an event and a call of thread ID at each second after 23:59:58 UTC
night() {
	local id=$1 s t
	shift
	for s; do
		t=$((1764460798 + s))
		echo "{\"time\":\"$(date -u -d "@$t" +%FT%T)Z\",\"type\":\"tick\",\"tid\":$id,\"name\":\"tick\",\"args\":{\"n\":$s}}"
		echo "{\"time\":\"$(date -u -d "@$t" +%FT%T)Z\",\"dur\":5,\"type\":\"call\",\"tid\":$id,\"name\":\"f\"}"
	done >rows.ndjson
	trdecode -q -f ndjson rows.ndjson -o x.trs
}

dataset() {
	trencode -q -t parquet --partition host=h/1,date,table -o ds x.trs
}

files() {
	(cd ds && find . -type f -name '*.parquet' | sort)
}

@test "a data set has each event of a recording once, in the table of its type" {
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o x.trs
	dataset
	find ds -path '*table=event.*' -name '*.parquet' -exec python3 "$ROOT/t/tools/parquet.py" count {} + |
		sed -E 's!^([0-9]+) .*/table=event\.(.*)/.*!\2 \1!' | sort >ours
	trencode -q -t ndjson x.trs | jq -r 'select(.dur == null) | .type' | sort | uniq -c | awk '{ print $2, $1 }' | sort >theirs
	[ "$(wc -l <theirs)" -gt 20 ]
	diff theirs ours
	run -0 sh -c "cut -d / -f 1,2 ds/.trutils/* | sort -u"
	assert_output host=h%2F1/date=unknown
	# files of a data set are those of --table
	trencode -q -t parquet --table thread -o thread.parquet x.trs
	parquet thread.parquet | diff - <(parquet ds/host*/date*/table=thread/*)
	[ "$(parquet ds/host*/date*/table=trace/* | tail -n +2 | cut -f 9)" = "$(trencode -q -t ndjson x.trs | wc -l)" ]
	[ "$(parquet thread.parquet | awk -F '\t' 'NR > 1 { n += $8 } END { print n }')" = "$(trencode -q -t ndjson x.trs | grep -c '"tid"')" ]
	run -0 parquet thread.parquet metadata
	assert_line trutils.clock$'\t'local
}

@test "fields have columns with the types of their declarations" {
	local trace=$RECORDED/trace-cmd/i386-v6-sched-irq-timer
	trdecode -q --type sched_switch "$trace.dat" -o x.trs
	sed -nE 's/^.*\[0*([0-9]+)\] +([0-9.]+): +sched_switch: .* prev_state=0x([0-9a-f]+) .*next_comm=(.*) next_pid=([0-9]+) .*/\1\t\4\t\5\t\3/p' "$trace.raw.txt" |
		perl -pe 's/(\w+)$/hex $1/e' >theirs
	table event.sched_switch cpu next_comm next_pid prev_state | diff theirs -
	trencode -q -t parquet --table event.sched_switch -o x.parquet x.trs
	run -0 parquet x.parquet
	assert_line --index 0 --partial $'\tprev_comm:text\tprev_pid:int64\tprev_prio:int64\tprev_state:int64\tnext_comm:text'
	# what has the name of another column has a dot before it
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o x.trs
	trencode -q -t csv --no-header -c type,.pid x.trs | sed -n 's/^sched_wakeup,//p' >theirs
	table event.sched_wakeup .pid | diff theirs -
}

@test "stacks are lists of frames, the innermost first" {
	trdecode -q "$DATA/trace-cmd/v6-stacktrace.dat" -o x.trs
	trencode -q -t ndjson x.trs | jq -r 'select(.type == "kernel_stack") | .args.stack | join(";")' >theirs
	[ -s theirs ]
	table event.kernel_stack stack | jq -r 'map(.name) | reverse | join(";")' | diff theirs -
}

@test "calls, samples and counters have their rows of csv" {
	trdecode -q "$DATA/uftrace/fib" | trsym -q >x.trs
	columns=time,dur,self,pid,tid,comm,name,depth,caller,recursive,unfinished
	trencode -q -t tsv --no-header -c "$columns,kind" x.trs | sed -n 's/\tcall$//p' | sort >theirs
	IFS=, read -ra names <<<"$columns"
	table call "${names[@]}" | sort | diff theirs -
	# the times in states are there in one table, too
	trencode -q -t parquet --partition table -o ds x.trs
	parquet ds/table=call/*.parquet | diff - <(parquet table.parquet)
	trdecode -q "$DATA/perf/flat.data" -o x.trs
	trencode -q -t tsv --no-header -c time,tid,comm,name,weight,kind x.trs | sed -n 's/\tsample$//p' >theirs
	[ -s theirs ]
	table sample time tid comm name weight | diff theirs -
	echo '[{"ph":"C","pid":1,"tid":1,"name":"memory","ts":5,"args":{"used":7,"free":2.5,"of":"x"}}]' >c.json
	trdecode -q -f chrome c.json -o x.trs
	run -0 table counter time name series value
	assert_output $'5000\tmemory\tused\t7.0\n5000\tmemory\tfree\t2.5'
}

@test "the times of the state table are those of the switches" {
	trdecode -q --type sched_switch "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o x.trs
	trencode -q -t tsv --no-header -c time,prev_pid,next_pid x.trs | awk -F '\t' '
		$2 in since { sum[$2] += $1 - since[$2]; delete since[$2] }
		$3 { since[$3] = $1 }
		{ last = $1 }
		END { for (t in since) sum[t] += last - since[t]; for (t in sum) if (sum[t]) printf "%s\t%.0f\n", t, sum[t] }' | sort >theirs
	[ -s theirs ]
	table state tid state dur | awk -F '\t' '$2 == "running" { sum[$1] += $3 }
		END { for (t in sum) printf "%s\t%.0f\n", t, sum[t] }' | sort | diff theirs -
}

@test "a recording over midnight is in both days, and once however often it is added" {
	night 7 0 1 2 3
	dataset
	files >first
	run -0 grep -c table=event.tick first
	assert_output 2
	f=$(echo ds/host*/date=2025-11-30/table=call/*)
	run -0 sh -c "python3 '$ROOT/t/tools/parquet.py' '$f' | cut -f 1,2"
	assert_output $'time:timestamp\tdur:int64\n1764460800000000000\t5\n1764460801000000000\t5'
	# again, by another name; and another recording beside it
	trencode -q -t parquet --partition date,host=h/1,table -o ds2 x.trs
	[ -n "$(echo ds2/date=2025-11-29/host=h%2F1/table=trace/*.parquet)" ]
	mv rows.ndjson other.ndjson
	trdecode -q -f ndjson other.ndjson -o x.trs
	dataset
	files | diff first -
	night 8 0 1
	dataset
	files | grep -vFf - first && fail 'files of another recording are lost'
	[ "$(files | wc -l)" -gt "$(wc -l <first)" ]
	[ -z "$(find ds -name '*.tmp')" ]
}

@test "files that a second run does not write are removed" {
	night 7 0 1 2 3
	id=$(dataset && basename ds/.trutils/*)
	mkdir -p ds/host=old/table=gone
	touch "ds/host=old/table=gone/$id.parquet" ds/host=old/table=gone/other.parquet
	printf '%s\n' "host=old/table=gone/$id.parquet" host=old/table=gone/other.parquet "../$id" >>"ds/.trutils/$id"
	touch "$id"
	dataset
	[ ! -e "ds/host=old/table=gone/$id.parquet" ]
	[ -e ds/host=old/table=gone/other.parquet ]
	[ -e "$id" ]
}

@test "a failed run leaves the data set as it was" {
	night 7 0 1
	dataset
	files >first
	run -2 pipe "(head -c 300 x.trs; echo) | trencode -t parquet --partition host,date,nothing -o ds"
	assert_line --partial "--partition takes a list of host, host=NAME, date and table, such as host,date,table, not 'nothing'"
	files | diff first -
	[ -z "$(find ds -name '.tr-*')" ]
	run -2 pipe "(head -c 300 x.trs; echo) | trencode -t parquet --partition host,date,nothing -o new"
	[ ! -e new ]
	run -2 trencode -t parquet --partition date x.trs
	assert_line --partial '--partition needs -o DIR'
	run -2 trencode -t parquet --table call -c time -o y x.trs
	assert_line --partial '-c does not go with --table'
	run -2 trencode -t parquet --table event.tack -o y x.trs
	assert_line --partial "there is no table 'event.tack'; did you mean 'event.tick'?"
}

@test "a stream of Arrow has the rows of tsv, and the tables of Parquet" {
	list=time,dur,type,pid,tid,cpu,comm,name,depth,kind,self,caller
	for trace in "$DATA"/{trace-cmd/v7-zlib-sched-irq-timer.dat,apitrace/values.trace,uftrace/fib}; do
		trdecode -q "$trace" | trsym -q >x.trs
		trencode -q -t arrow -c "$list" x.trs >x.arrows
		trencode -q -t tsv --no-header -c "$list" x.trs | diff - <(python3 "$ROOT/t/tools/arrow.py" x.arrows | tail -n +2)
	done
	for trace in uftrace/fib:call trace-cmd/v6-stacktrace.dat:event.kernel_stack trace-cmd/v6-stacktrace.dat:state \
		perf/flat.data:{sample,thread,trace}; do
		trdecode -q "$DATA/${trace%:*}" -o x.trs
		trencode -q -t arrow --table "${trace#*:}" -o x.arrows x.trs
		trencode -q -t parquet --table "${trace#*:}" -o x.parquet x.trs
		python3 "$ROOT/t/tools/arrow.py" x.arrows | diff <(parquet x.parquet) - || fail "$trace"
	done
}

@test "rows of a group are sorted by time, and many groups and tables are written in parts" {
	# a group ends with 4 MiB of texts; make check-interop has groups of 65536 rows
	awk 'BEGIN { for (i = 0; i < 8000; i++) text = text "abcdef"
		for (i = 0; i < 300; i++)
			printf "{\"time\":%d,\"dur\":%d,\"tid\":%d,\"name\":\"f\",\"args\":{\"text\":\"%d%s\"}}\n", i * 1000, i % 3 * 9000 + 5, i % 3, i, text }' </dev/null |
		trdecode -q -f ndjson -o x.trs
	trencode -q -t parquet --table call -o x.parquet x.trs
	run -0 parquet x.parquet metadata
	[ "$(grep -c ^group <<<"$output")" -ge 3 ]
	parquet x.parquet | tail -n +2 | sort >ours
	trencode -q -t arrow --table call -o x.arrows x.trs
	python3 "$ROOT/t/tools/arrow.py" x.arrows | tail -n +2 | sort | diff ours -
}
