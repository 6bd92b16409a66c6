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
	trstat -q -g name,kind -a count,total,self -F tsv x.trs |
		awk -F '\t' -v OFS='\t' '$2 == "leave" && $4 != "" { print $1, $3, $4, $5 }' | sort
}

# The calls in x.trs that have returned: name, count
returned() {
	trencode -q -t tsv --no-header --columns name,unfinished x.trs |
		awk -F '\t' '$2 == "0" { n[$1]++ } END { for (f in n) print f "\t" n[f] }' | sort
}
