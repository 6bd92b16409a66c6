# trdecode -f arrow: streams and files of Apache Arrow, of trencode and of tools/arrow_writer.py.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# read: the rows of x.arrow as arrow_writer.py prints them
read_rows() {
	trdecode -q -f arrow x.arrow | trencode -q -t ndjson -c time,tid,name,stack,args |
		jq -c '{time, tid, name, stack: ((.stack // "") | if type == "array" then join(";") else . end), args}'
}

@test "each type of Arrow is read, in streams and files, with and without compression" {
	for options in '' old 'file zstd'; do
		# shellcheck disable=SC2086 # words
		python3 "$ROOT/t/tools/arrow_writer.py" x.arrow $options | jq -c . >theirs
		read_rows | diff theirs - || fail "$options"
	done
	# no option is needed
	[ "$(trdecode -q x.arrow | trencode -q -t tsv --no-header -c tid)" = $'7\n8\n7' ]
}

@test "the rows of trencode -t arrow are read back, as those of csv are, and its tables" {
	list=time,dur,type,pid,tid,cpu,comm,name,depth,file,line,args,kind,weight,stack,nesting,group,unfinished
	for trace in uftrace/fib trace-cmd/v7-zlib-sched-irq-timer.dat perf/flat.data apitrace/values.trace; do
		trdecode -q "$DATA/$trace" | trsym -q >x.trs
		trencode -q -t arrow -c $list x.trs | trdecode -q | trencode -q -t ndjson -c $list >ours
		trencode -q -t csv -c $list x.trs | trdecode -q -f csv | trencode -q -t ndjson -c $list | diff - ours || fail "$trace"
	done
	trdecode -q "$DATA/trace-cmd/v6-stacktrace.dat" -o x.trs
	trfilter -q 'type == "kernel_stack"' x.trs | trencode -q -t ndjson | jq -r '.args.stack | join(";")' | sort >theirs
	trencode -q -t arrow --table event.kernel_stack x.trs | trdecode -q |
		trencode -q -t ndjson -c stack | jq -r '.stack | if type == "array" then join(";") else . end' | sort | diff theirs -
}

@test "Arrow that cannot be read is an error with the reason, or damage, and costs little" {
	for want in 'big:its numbers are big-endian' 'deep:the schema has more than' "decimal:the column 'decimal' has a type that is not read"; do
		python3 "$ROOT/t/tools/arrow_writer.py" x.arrow "${want%%:*}"
		run -2 trdecode -f arrow x.arrow -o x.trs
		assert_output --partial "${want#*:}"
	done
	python3 "$ROOT/t/tools/arrow_writer.py" x.arrow lz4
	run -1 trdecode -f arrow x.arrow -o x.trs
	assert_output --partial 'it is compressed by lz4'
	# 20000 rows have a name of 100 KB
	python3 "$ROOT/t/tools/arrow_writer.py" x.arrow repeat
	run -1 trdecode -f arrow x.arrow -o x.trs
	assert_output --partial 'its rows repeat long texts too often'
	trdecode -q "$DATA/uftrace/fib" | trencode -q -t arrow >x.arrow
	head -c -20 x.arrow >cut.arrow
	run -1 trdecode cut.arrow -o x.trs
	assert_output --partial 'the input ends within a message of Arrow'
	run -1 pipe "cat x.arrow x.arrow | trdecode -o x.trs"
	assert_output --partial 'what follows the end of the stream is not read'
}

@test "the units of times are those of their columns, or of --map" {
	python3 "$ROOT/t/tools/arrow_writer.py" x.arrow >/dev/null
	run -0 pipe "trdecode -q --map time=days,name=view x.arrow | trencode -q -t tsv --no-header -c time"
	assert_line --index 0 86400000000000
	run -0 pipe "trdecode -q --map time=days:s,name=view x.arrow | trencode -q -t tsv --no-header -c time"
	assert_line --index 0 1000000000
}
