# What the tests of trencode's formats have in common: load encode
U=$RECORDED/uftrace

# stream INPUT: x.trs of it, with names; damage of the input is not these tests' matter
stream() {
	trdecode -q "$1" 2>/dev/null | trsym -q 2>/dev/null >x.trs || true
}

# The recordings of user space that are whole.
good() {
	local d
	for d in "$U"/*/info; do
		d=$(basename "${d%/info}")
		case $d in bad-* | kernel-*) ;; *) echo "$d" ;; esac
	done
}

# What trstat says of the calls in x.trs: name, count, total, self
calls() {
	trstat -q -g name,kind -c count,total,self -t tsv x.trs |
		awk -F '\t' -v OFS='\t' '$2 == "call" && $4 != "" { print $1, $3, $4, $5 }' | sort
}

# The calls in x.trs that have returned: name, count
returned() {
	trencode -q -t tsv --no-header --columns name,unfinished x.trs |
		awk -F '\t' '$2 == "0" { n[$1]++ } END { for (f in n) print f "\t" n[f] }' | sort
}

# A thread with calls of a stack and asynchronous ones: f, g and h overlap with others, k does not.
mixed() {
	{
		printf '[{"ph":"B","name":"outer","pid":1,"ts":0},{"ph":"b","name":"f","id":6,"pid":1,"ts":1},'
		printf '{"ph":"B","name":"in","pid":1,"ts":1.5},{"ph":"b","name":"g","id":5,"pid":1,"ts":2},'
		printf '{"ph":"e","name":"f","id":6,"pid":1,"ts":3},{"ph":"E","pid":1,"ts":3.5},{"ph":"e","name":"g","id":5,"pid":1,"ts":4},'
		printf '{"ph":"b","name":"h","id":5,"pid":1,"ts":4.5},{"ph":"E","pid":1,"ts":5},{"ph":"e","name":"h","id":5,"pid":1,"ts":6},'
		printf '{"ph":"b","name":"k","id":5,"pid":1,"ts":7},{"ph":"B","name":"last","pid":1,"ts":8},{"ph":"E","pid":1,"ts":8.5},{"ph":"e","name":"k","id":5,"pid":1,"ts":9}]'
	}
}

# split_segments: each segment of x.trs by itself in segment.N
split_segments() {
	rm -f segment.*
	python3 - <<-'END'
		import re
		data = open("x.trs", "rb").read()
		at = [found.start() for found in re.finditer(b"trstrm1:", data)] + [len(data)]
		for i, begin in enumerate(at[:-1]):
		    open(f"segment.{i:03}" if len(at) > 11 else f"segment.{i}", "wb").write(data[begin:at[i + 1]])
	END
}

# segments [TRACE]: x.trs, a recording of several segments with the names of functions, and each segment by itself in segment.N
segments() {
	trdecode -q --segment 2K "${1:-$DATA/uftrace/fib}" | trsym -q >x.trs
	split_segments
	[ -f segment.2 ]
}

# each_segment FORMAT OPTION...: what trencode writes of each segment by itself, without the calls that do not end in it
each_segment() {
	for f in segment.?; do
		trencode -q --unclosed=drop -t "$@" "$f" 2>/dev/null || (($? == 1))
	done
}
