# The data sets of trutils-scale(7) and streams of Arrow, read by DuckDB and apache-arrow. Run by make check-interop.

load ../lib

setup() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	DATA=$ROOT/t/data
	cd "$BATS_TEST_TMPDIR" || return
	# the command line of DuckDB
	mkdir bin
	printf '#!/bin/sh\nexec node "%s" "$2"\n' "$ROOT/t/interop/query.mjs" >bin/duckdb
	chmod +x bin/duckdb
	PATH=$PATH:$PWD/bin
}

query() {
	node "$ROOT/t/interop/query.mjs" "$@"
}

# dataset: calls.trs, sched.trs and samples.trs, and the data set traces of them
dataset() {
	trdecode -q "$DATA/uftrace/fib" | trsym -q | trfilter -q 'kind == "call"' >calls.trs
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o sched.trs
	trdecode -q "$DATA/perf/flat.data" | trfilter -q 'kind == "sample"' >samples.trs
	local name
	for name in calls sched samples; do
		trencode -q -t parquet --partition host=$name,date,table -o traces $name.trs
	done
}

# page NAME: the literal lines of a section of trutils-scale(7), or the script in it
page() {
	mandoc -Tutf8 -O width=200 "$ROOT/man7/trutils-scale.7" | sed 's/.\x08//g' |
		sed -n "/^ *$1\$/,/^ \{0,3\}[A-Z]/p" | sed 's/^ \{11\}//'
}

@test "the questions in SQL of trutils-scale(7) have the numbers of trstat" {
	local line command='' sql='' n=0
	dataset
	page 'Questions in SQL' >text
	while IFS= read -r line; do
		case $line in
		'$ '*) command=${line#\$ } ;;
		'D '*) sql=${line#D } ;;
		'  '*) [ -z "$sql" ] || sql+=" $line" ;;
		esac
		[[ $sql == *';' ]] || continue
		eval "${command/trstat/trstat -q -t tsv}" | tail -n +2 | sort >theirs
		query "$sql" | sort | diff theirs - || fail "$command; $sql"
		[ -s theirs ]
		sql=
		((++n))
	done <text
	[ "$n" -ge 10 ]
}

@test "DuckDB: the tables have types, the range of each column, and the rows of ndjson" {
	local table
	dataset
	run -0 query "describe select * from 'traces/**/table=event.sched_switch/*.parquet'"
	assert_line --partial $'time\tBIGINT'
	assert_line --partial $'next_comm\tVARCHAR'
	assert_line --partial $'next_pid\tBIGINT'
	run -0 query "describe select * from 'traces/**/table=sample/*.parquet'"
	assert_line --partial $'stack\tSTRUCT("name" VARCHAR, file VARCHAR, line INTEGER, module VARCHAR)[]'
	run -0 query "select count(*) from parquet_metadata('traces/**/*.parquet')
		where stats_null_count < num_values and stats_min_value is null and path_in_schema not like 'stack%'"
	assert_output 0
	for table in call sample; do
		trencode -q -t ndjson "${table}s.trs" | wc -l >theirs
		query "select count(*) from 'traces/**/table=$table/*.parquet'" | diff theirs -
	done
	# wall time
	echo '{"time":"2026-11-30T23:59:59.5Z","dur":1000000000,"name":"f"}{"time":"2026-12-01T00:00:00Z","dur":5,"name":"g"}' |
		sed 's/}{/}\n{/' | trdecode -q -f ndjson | trencode -q -t parquet --partition host,date,table -o night
	run -0 query "select time, dur, name, date from 'night/**/table=call/*.parquet' order by time" \
		"select typeof(time), count(*) from 'night/**/table=trace/*.parquet' group by 1"
	assert_line --index 0 $'2026-11-30 23:59:59.5+00\t1000000000\tf\t2026-11-30'
	assert_line --index 1 $'2026-12-01 00:00:00+00\t5\tg\t2026-12-01'
	assert_line --index 2 $'TIMESTAMP WITH TIME ZONE\t1'
}

# rows ID MANY: a call and an event at noon of 2500 days; on the last day as many more, 100 each second
rows() {
	awk -v id="$1" -v many="$2" '
		function row(t) {
			printf "{\"time\":%s,\"dur\":1000,\"type\":\"call\",\"tid\":%d,\"name\":\"f\"}\n", t, id
			printf "{\"time\":%s,\"type\":\"tick\",\"tid\":%d,\"name\":\"tick\",\"args\":{\"n\":5}}\n", t, id
		}
		BEGIN {
			for (d = 0; d < 2500; d++) {
				t = 1699920000 + d * 86400 + 43200
				row(t "000000000")
			}
			for (i = 0; i < many; i++)
				row(sprintf("%d%02d0000000", t + 1 + int(i / 100), i % 100))
		}' </dev/null
}

@test "of 10,000 files a question about 10 s reads one row group of each table" {
	local id table
	for id in 1 2; do
		rows $id $((id == 1 ? 200000 : 0)) | trdecode -q -f ndjson | trencode -q -t parquet --partition host=h$id,date,table -o traces
	done
	[ "$(find traces -name '*.parquet' | wc -l)" -ge 10000 ]
	for table in call event.tick; do
		page 'DATA SETS' | sed -n '/^D select count/,/;$/p' |
			sed "s/^D //; s/sum(dur)/sum(tid)/; s/'call'/'$table'/; s/2026-11-30/2030-09-17/g" >sql
		run -0 query "$(<sql)"
		assert_output $'1000\t1000'
		query "explain (analyze, format json) $(<sql)" | sed 's/^analyzed_plan\t//' |
			jq -r '.. | objects | select(.operator_type? == "TABLE_SCAN") | "\(.extra_info["Scanning Files"]) \(.operator_rows_scanned)"' >scan
		read -r files scanned <scan
		[[ $files == 2/1000? ]]
		((scanned >= 1000 && scanned <= 65536))
		# by the ranges of the groups
		run -0 query "select count(distinct (file_name, row_group_id)), count(distinct (file_name, row_group_id)) filter (
			stats_max_value >= '2030-09-17 12:10:00' and stats_min_value < '2030-09-17 12:10:10')
			from parquet_metadata('traces/**/date=2030-09-17/table=$table/*.parquet') where path_in_schema = 'time'"
		assert_output $'5\t1'
	done
}

@test "many small files become one, and old days are removed" {
	local id
	for id in 1 2 3; do
		rows "$id" 10 | trdecode -q -f ndjson | trencode -q -t parquet --since 2030-09-15 --partition host,date,table -o traces 2>/dev/null
	done
	sql="select \"table\", date, count(*), min(time), sum(tid) from read_parquet('traces/**/*.parquet', union_by_name = true) group by all order by all"
	query "$sql" >before
	page 'Many small files' | sed -n '/^#!/,/^done/p' >pack.sh
	page Retention | sed -n '/^#!/,/^done/p' >remove.sh
	for _ in 1 2; do
		sh pack.sh 2030-09-17
		query "$sql" | diff before -
		[ "$(find traces -path '*date=2030-09-17*' -name '*.parquet' | wc -l)" = "$(ls -d traces/host=*/date=2030-09-17/* | wc -l)" ]
	done
	mkdir -p traces/host=old/date=2020-01-01/table=call "traces/host=old/date=$(date -u +%F)" traces/host=old/date=unknown
	sh remove.sh
	run -0 ls traces/host=old
	assert_output "date=$(date -u +%F)"$'\n'date=unknown
	query "$sql" | diff before -
}

@test "summaries of nights become those of weeks and months" {
	local day
	dataset
	for day in 29 30; do
		trdecode -q --since "+$((day == 29 ? 0 : 100))ms" "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" | trfilter -q "cpu == $((day - 29))" >$day.trs
		trstat --partial -o part.2026-11-$day $day.trs
	done
	page 'NIGHTS, WEEKS AND MONTHS' | sed -n '/^trstat --merge/p' | sed 's/^trstat/trstat -q/' >commands
	sh -e commands >ours
	trstat -q 29.trs 30.trs | diff - ours
	trstat -q --merge week.2026-49 | diff ours -
}

@test "apache-arrow reads streams of each table, and trdecode those of apache-arrow" {
	local table input
	dataset
	for input in calls:call samples:sample sched:event.sched_switch sched:state sched:thread sched:trace; do
		table=${input#*:} input=${input%:*}
		trencode -q -t arrow --table "$table" $input.trs >x.arrows
		node "$ROOT/t/interop/arrow.mjs" rows x.arrows >ours
		query "copy (select * exclude (host, date, \"table\") from 'traces/host=$input/**/table=$table/*.parquet') to 'theirs' (format json)" >/dev/null
		jq -cS "del(.host_name)" theirs | sort >want
		jq -cS "del(.host_name)" ours | sort | diff want - >differ || fail "$table: $(head -c 1000 differ)"
	done
	# what it writes itself: dictionaries and lists of its own
	node "$ROOT/t/interop/arrow.mjs" write >x.arrows
	run -0 pipe "trdecode -q x.arrows | trencode -q -t ndjson -c time,tid,name,args"
	assert_output '{"time":1764547200000000000,"tid":1,"name":"read","args":{"bytes":5,"ok":true,"parts":[1,2]}}
{"time":1764547200000001000,"tid":2,"name":"write","args":{"bytes":0.5,"ok":false,"parts":[3]}}'
}
