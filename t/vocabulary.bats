# One vocabulary: the same option and the same field name in all programs.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "an option without effect on the output format is refused" {
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	for line in 'csv --raw' 'chrome --columns time' 'text --no-header' 'text --tick=1ns' 'uftrace --unclosed=drop' \
		'folded --rebase=none' 'uftrace --compress=gzip' 'apitrace --file-version=6' 'ndjson -D3' \
		'parquet --no-header' 'tsv --resynthesize' 'perfetto --json-int64=string'; do
		# shellcheck disable=SC2086
		run -2 trencode -o out -t $line s.trs
		assert_line --regexp "^trencode: --[a-z0-9-]* has no effect on ${line%% *}; it is for "
		assert [ ! -e out ]
	done
	run -2 trencode -o out.csv --raw s.trs
	run -2 trstat --wide -t csv s.trs
	assert_line 'trstat: --wide has no effect on csv; it is for table'
	run -0 trstat --wide -t table s.trs
	# a format takes each option that --help lists for it
	for format in text csv chrome; do
		run -0 trencode -q -t "$format" -o out s.trs
	done
	run -0 trencode -q -t csv --no-header --unclosed=drop --json-int64=string -c dur -o out s.trs
}

@test "trdecode reads standard input without operands and lists its formats" {
	tar -C "$DATA/uftrace" -c fib >fib.tar
	trdecode fib.tar | trstat -t tsv >want
	trdecode <fib.tar | trstat -t tsv | diff want -
	trdecode -f uftrace <fib.tar | trstat -t tsv | diff want -
	run -0 trdecode --formats
	assert_line uftrace
	assert_line trace-cmd
	[ "$(trdecode --complete-options | grep '^-f ' | cut -f 3 | tr ' ' '\n')" = "$output" ]
}

@test "-c +LIST adds to the default columns" {
	trdecode "$DATA/uftrace/fib" | trsym >s.trs
	run -0 trstat -q -t csv -c +p90,uniq\(tid\) -n 1 s.trs
	assert_line --index 0 'name,total,self,count,avg,p50,p99,max,p90,uniq(tid)'
	run -0 trstat -q --tree -t csv -c +max -n 1 s.trs
	assert_line --index 0 'depth,name,total,self,count,max'
	run -0 trencode -q -t csv -c +kind s.trs
	assert_line --index 0 --regexp ',args,kind$'
	run -0 pipe "trstat --partial -c +p90 s.trs | trstat -q --merge -t csv -n 1"
	assert_line --index 0 'name,total,self,count,avg,p50,p99,max,p90'
}
