# Reports opened by DuckDB, the Firefox Profiler and speedscope: run by make check-interop.

load ../lib

setup() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	DATA=$ROOT/t/data
	cd "$BATS_TEST_TMPDIR" || return
	trdecode -q "$DATA/uftrace/fib" | trsym -q >x.trs
}

query() {
	node "$ROOT/t/interop/query.mjs" "$@"
}

# recordings: x.trs of each in turn, as $1 is called
recordings() {
	"$@"
	for d in args-spec basic-pg deep-default dlopen threads kernel-sched; do
		{ trdecode -q "$RECORDED/uftrace/$d" | trsym -q; } >x.trs 2>/dev/null
		"$@" || fail "$d"
	done
}

# Of calls: name, count, total, self.
theirs() {
	trstat -q -g name,kind -c count,total,self -t tsv x.trs |
		awk -F '\t' -v OFS='\t' '$2 == "leave" { print $1, $3, $4, $5 }' | sort
}

by_name() {
	echo "select name, count(*), coalesce(sum(dur) filter (not recursive), 0), sum(self) from $1
		where kind = 'call' group by name"
}

# rows FORMAT FROM
rows() {
	trencode -q -t "$1" --columns +self,recursive,kind -o "out.$1" x.trs
	query "$(by_name "$2")" | sort >ours
	theirs | diff - ours
}

@test "DuckDB reads parquet: count, total, self are trstat's" {
	recordings rows parquet "'out.parquet'"
}

@test "DuckDB reads csv" {
	recordings rows csv "read_csv('out.csv', all_varchar = false, sample_size = -1)"
}

@test "DuckDB reads ndjson" {
	recordings rows ndjson "read_json('out.ndjson', format = 'newline_delimited', sample_size = -1)"
}

@test "DuckDB: parquet of many row groups, with arguments and nulls" {
	source "$ROOT/t/many.bash"
	records 1000 >each
	many long 400 each
	trdecode long | trsym -q >x.trs
	trencode -q -t parquet --columns +kind -o out.parquet x.trs
	run -0 query "select count(*), count(distinct tid), sum(dur), count(cpu), min(time), max(time) from 'out.parquet'"
	assert_output "$(trencode -q -t tsv --no-header --columns tid,dur,time x.trs | awk -F '\t' '
		{ n++; tid[$1] = 1; dur += $2; if (!min || $3 < min) min = $3; if ($3 > max) max = $3 }
		END { for (t in tid) k++; printf "%d\t%d\t%.0f\t0\t%.0f\t%.0f", n, k, dur, min, max }')"
	run -0 query "select count(*) > 1 from (select distinct row_group_id from parquet_metadata('out.parquet'))"
	assert_output true
	trdecode -q "$RECORDED/uftrace/args-spec" | trsym -q >x.trs
	trencode -q -t parquet -o out.parquet x.trs
	query "select args from 'out.parquet' where args is not null" >ours
	trencode -q -t ndjson x.trs | grep -o '"args":{.*}' | sed 's/^"args"://; s/}$//' >theirs
	diff theirs ours
}

chrome() {
	trencode -q -t chrome -o out.json x.trs
	query "select e.name, count(*), cast(round(sum(e.dur) * 1000) as bigint) from (select unnest(traceEvents) e
		from read_json('out.json', maximum_object_size = 1000000000, sample_size = -1)) where e.ph = 'X' and
		e.cat not in ('kernel', 'trutils.scheduling') group by 1" | sort >ours || return
	trencode -q -t tsv --no-header --columns name,dur,kind,type x.trs | awk -F '\t' \
		'$3 == "call" && $4 !~ /^funcgraph/ { n[$1]++; s[$1] += $2 } END { for (f in n) printf "%s\t%d\t%.0f\n", f, n[f], s[f] }' |
		sort | diff - ours
}

@test "DuckDB reads chrome: counts and times" {
	# calls of the kernel have another name in the table
	chrome
}

# function FILE: "name<TAB>total<TAB>self" that the Firefox Profiler shows
functions() {
	local cli=$INTEROP/node_modules/.bin/profiler-cli
	export HOME=$PWD
	"$cli" load "$1" --session s >load 2>&1 || true
	for _ in 1 2 3 4 5; do
		"$cli" thread functions --limit 0 --session s >shown 2>&1 && grep -q 'self:' shown && break
		sleep 1
	done
	"$cli" stop s >/dev/null 2>&1 || true
	grep -q 'self:' shown || skip "profiler-cli does not run here: $(head -n 1 shown)"
	sed -nE 's/^ *f-[0-9]+\. (.*) - self: ([0-9]+) .*, total: ([0-9]+) .*/\1\t\3\t\2/p' shown | sort
}

@test "the Firefox Profiler reads folded: total and self are trstat's" {
	trencode -q -t folded -o out.folded x.trs
	functions out.folded >ours
	theirs | awk -F '\t' -v OFS='\t' '$3 > 0 { print $1, $3, $4 }' | diff - ours
}

# shown FILE COMMAND...: what the Firefox Profiler prints of a file, in x.shown; skip where it does not run
shown() {
	local cli=$INTEROP/node_modules/.bin/profiler-cli
	export HOME=$PWD
	"$cli" load "$1" --session f >load 2>&1 || true
	for _ in 1 2 3 4 5; do
		"$cli" "${@:2}" --session f >x.shown 2>&1 && grep -q Thread: x.shown && break
		sleep 1
	done
	"$cli" stop f >/dev/null 2>&1 || true
	grep -q Thread: x.shown || skip "profiler-cli does not run here: $(head -n 1 x.shown)"
}

@test "the Firefox Profiler reads firefox: self times of calls, counts of samples, markers" {
	trfilter -q 'tid == 4126' x.trs >one.trs
	trencode -q -t firefox -o out.json one.trs
	shown out.json thread functions --include-idle --limit 0
	# it prints three decimals of the unit that suits
	sed -nE 's/^ *f-[0-9]+\. (.*!)?(.*) - self: ([0-9.]+)(ns|μs|ms|s) .*/\2\t\3\t\4/p' x.shown | awk -F '\t' '
		{ unit["ns"] = 1; unit["μs"] = 1000; unit["ms"] = 1000000; unit["s"] = 1000000000
			printf "%s\t%.0f\n", $1, $2 * unit[$3] }' | sort >ours
	trstat -q -g name -c self -t tsv one.trs | awk -F '\t' 'NR > 1 && $2 > 0' | sort | join -t "$(printf '\t')" -a 1 -e none -o 0,1.2,2.2 - ours >both
	grep -q 'usleep' both
	run -0 awk -F '\t' '$2 && ($3 == "none" || ($2 - $3) ^ 2 > 1 + ($2 / 1000) ^ 2)' both
	assert_output ''

	trdecode -q "$DATA/perf/zstd.data" -o perf.trs
	trencode -q -t firefox -o out.json perf.trs
	shown out.json thread functions --include-idle --limit 0
	run -0 pipe "sed -nE 's/.* - self: ([0-9]+) .*/\1/p' x.shown | awk '{ n += \$1 } END { print n }'"
	python3 "$ROOT/t/tools/firefox_profile.py" samples out.json | awk -F '\t' '$3 { n[$1]++ } END { for (t in n) print n[t] }' |
		grep -qx "$output"
	gzip -dc "$DATA/perf/offcpu.data.gz" | trdecode -q | trfilter -q 'comm == "wc"' -o off.trs
	trencode -q -t firefox -o out.json off.trs
	shown out.json thread markers
	run -0 sed -nE 's/^ *sched_switch +([0-9]+) markers.*/\1/p' x.shown
	python3 "$ROOT/t/tools/firefox_profile.py" markers out.json | awk -F '\t' '$2 == "sched_switch" { n[$1]++ } END { for (t in n) print n[t] }' |
		grep -qx "$output"
}

@test "the Firefox Profiler reads chrome: every call is a marker" {
	local cli=$INTEROP/node_modules/.bin/profiler-cli
	export HOME=$PWD
	trencode -q -t chrome -o out.json x.trs
	"$cli" load out.json --session c >load 2>&1 || true
	for _ in 1 2 3 4 5; do
		"$cli" thread markers --session c >shown 2>&1 && grep -q markers shown && break
		sleep 1
	done
	"$cli" stop c >/dev/null 2>&1 || true
	grep -q markers shown || skip "profiler-cli does not run here: $(head -n 1 shown)"
	run -0 sed -nE 's/^ *fib +([0-9]+) markers.*/\1/p' shown
	assert_output "$(trencode -q -t tsv --columns tid,name x.trs | awk '$1 == 4123 && $2 == "fib"' | wc -l)"
}

@test "pprof reads pprof: self and total of samples and of calls are trstat's, names whole" {
	need go
	trdecode -q "$DATA/perf/zstd.data" >perf.trs
	for of in perf x; do
		trencode -q -t pprof -o out.pb.gz "$of.trs"
		go tool pprof -symbolize=none -nodecount=0 -nodefraction=0 -edgefraction=0 -unit=ns -top out.pb.gz 2>err |
			sed '1,/flat%/d' | awk -v OFS='\t' '{ flat = $1; total = $4
				for (i = 0; i < 5; i++) sub(/^ *[^ ]+/, "")
				sub(/^ +/, ""); gsub(/ns$/, "", flat); gsub(/ns$/, "", total); print $0, total, flat }' | sort >ours
		trstat -q -g name -c total,self -t tsv "$of.trs" | sed 1d | awk -F '\t' -v OFS='\t' '$2 > 0 { print $1, $2, $3 }' | sort >theirs
		[[ -s theirs ]]
		diff theirs ours
	done
}

valid() {
	trencode -q -t speedscope -o out.json x.trs
	run -0 node "$ROOT/t/interop/schema.mjs" out.json
}

@test "speedscope's schema finds nothing wrong" {
	recordings valid
	trdecode -q "$DATA/apitrace/threads.trace" >x.trs
	valid
	trdecode -q "$DATA/trace-cmd/v6-fgraph.dat" >x.trs
	valid
	# without calls
	trdecode -q "$DATA/trace-cmd/v6-date.dat" >x.trs
	valid
	# samples
	trdecode -q "$DATA/perf/zstd.data" >x.trs
	valid
}

@test "and it does find a wrong unit" {
	trencode -q -t speedscope x.trs | sed 's/"nanoseconds"/"ns"/' >out.json
	run -1 node "$ROOT/t/interop/schema.mjs" out.json
}

@test "speedscope in a browser shows the README's flame chart" {
	need chromium
	run -0 "$ROOT/t/interop/flame.sh" "$BIN" "$INTEROP" flame.png
	[[ $(head -c 4 flame.png | tail -c 3) == PNG ]]
	# what the README says is what was done
	grep -qF "$("$ROOT/t/interop/flame.sh" --command)" "$ROOT/README.md"
}
