#!/usr/bin/env bats
# Marks of atrace in trace.dat and perf.data: the calls, counters and instants that the text of the tools shows.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	cp "$RECORDED"/atrace/* "$DATA/trace-cmd/marks.dat" .
}

# rows FILE: the rows of its marks
rows() {
	trdecode -q "$1" | trencode -q -t ndjson | "$ROOT/t/tools/atrace_marks.py"
}

@test "marks of trace.dat: the calls, counters, instants and asynchronous calls of the text of trace-cmd" {
	for x in marks overwritten; do
		rows "$x.dat" >have
		"$ROOT/t/tools/atrace_marks.py" "$x.report.txt" >want
		(($(wc -l <want) > 50))
		diff have want
	done
}

@test "marks of trace.dat are those that the decoder of the text finds" {
	for x in marks overwritten; do
		for y in dat report.txt; do
			trdecode -q "$x.$y" | trencode -q -t ndjson -c time,dur,type,tid,comm,cpu,name |
				grep -v '"gap"' | sort >"$y.rows"
		done
		diff dat.rows report.txt.rows
	done
}

@test "marks of perf.data: a probe at tracing_mark_write" {
	rows probe.perf.data >have
	"$ROOT/t/tools/atrace_marks.py" probe.script.txt >want
	(($(wc -l <want) > 30))
	diff <(grep -v "at the end" have) <(grep -v "at the end" want)
	trdecode -q probe.perf.data | trencode -q -t ndjson |
		jq -r 'select(.name == "queue") | .args.stack[0]' | sort -u | grep -qx '<[0-9a-f]*>'
}

@test "marks: trace-cmd report of the trace written again is that of the recording" {
	need trace-cmd
	for x in marks overwritten; do
		trdecode -q "$x.dat" | trencode -q -t trace-cmd -o same.dat
		trace-cmd report -t same.dat 2>/dev/null | diff - "$x.report.txt"
		trace-cmd report -R -t same.dat >raw 2>/dev/null
		trace-cmd report -R -t "$x.dat" 2>/dev/null | diff raw -
	done
	# text of trencode, and two traces in one
	trdecode -q marks.dat | trencode -q -t text | diff - <(trace-cmd report marks.dat 2>/dev/null)
	trdecode -q marks.dat overwritten.dat | trencode -q -t trace-cmd -o both.dat
	trace-cmd report -t both.dat 2>/dev/null | sed -n 's/.* \([0-9.]*: print:\)/\1/p' | sort >have
	sed -n 's/.* \([0-9.]*: print:\)/\1/p' ./*.report.txt | sort | diff have -
}

@test "marks: a filter keeps calls whole, and trace-cmd reads their marks" {
	need trace-cmd
	trdecode -q marks.dat | trfilter 'name == "inner"' | trencode -q -t trace-cmd -o some.dat
	trace-cmd report -t some.dat 2>/dev/null | sed -n 's/.*tracing_mark_write: //p' | cut -d '|' -f 1,3 | sort | uniq -c |
		sed 's/^ *//' | diff - <(printf '%s\n' '12 B|inner' '12 E')
}

@test "marks: message is the text of a print, without its newline" {
	run -0 --separate-stderr bash -c 'trdecode -q marks.dat | trfilter -c "message == \"plain text, no mark\""'
	assert_output 1
	trdecode -q marks.dat | trencode -q -t csv --no-header -c type,message | grep '^print' |
		diff - <(printf 'print,"plain text, no mark"\nprint,B|not a mark\nprint,"two\n')
}

@test "marks beside calls of function_graph: each keeps its own calls" {
	cat >x <<-'END'
		# tracer: function_graph
		     app-10    [000]     1.000001: funcgraph_entry:                   |  ksys_write() {
		     app-10    [000]     1.000002: print:                tracing_mark_write: B|10|draw
		     app-10    [000]     1.000003: funcgraph_exit:         0.002 us   |  }
		     app-10    [000]     1.000004: funcgraph_entry:                   |  ksys_read() {
		     app-10    [000]     1.000009: funcgraph_exit:         0.005 us   |  }
		     app-10    [000]     1.000010: funcgraph_entry:                   |  ksys_write() {
		     app-10    [000]     1.000011: print:                tracing_mark_write: E|10
		     app-10    [000]     1.000012: funcgraph_exit:         0.002 us   |  }
	END
	trdecode -q x | trstat -q -t csv -g name -c count,total -s name | sort >have
	diff have <(printf '%s\n' draw,1,9000 ksys_read,1,5000 ksys_write,2,4000 name,count,total)
}
