# trfilter that begins to read with a segment adopts the calls of its snapshot.

load lib

setup_file() {
	local input size n=0
	cd "$BATS_FILE_TMPDIR" || return
	for input in "$DATA/uftrace/fib" "$DATA/trace-cmd/v6-fgraph.dat" "$DATA/apitrace/threads.trace" \
		"$RECORDED"/uftrace/{kernel-sched,lost}; do
		((++n))
		# a dozen segments of the largest
		[[ $input == */kernel-sched ]] && size=16K || size=4K
		trdecode -q --segment $size "$input" 2>/dev/null | trsym -q >"$n.trs" || true
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# segments FILE: each is a file of its own, FILE.000 and so on
segments() {
	local at starts
	mapfile -t at < <(grep -aob "$(head -c 16 "$1")" "$1" | cut -d : -f 1)
	at+=("$(stat -c %s "$1")")
	((starts = ${#at[@]} - 1))
	for ((i = 0; i < starts; i++)); do
		tail -c "+$((at[i] + 1))" "$1" | head -c $((at[i + 1] - at[i])) >"$1.$(printf %03d "$i")"
	done
}

# parts STREAM CONDITION OPTION...: in.N.part is the summary of segments that are filtered alone, of one
# or more each
parts() {
	local part last=
	rm -f in.*
	cp "$1" in
	segments in
	for part in in.[0-9]*; do
		if [[ $last ]] && ((RANDOM % 3 == 0)); then
			cat "$part" >>"$last"
			rm "$part"
		else
			last=$part
		fi
	done
	for part in in.[0-9]*; do
		# status 1: segments are missing
		trfilter -q "$2" "$part" 2>/dev/null | trstat -q --partial "${@:3}" -o "$part.part" 2>>err || true
	done
}

# merged MEASURES STREAM CONDITION: of segments that are filtered alone
merged() {
	parts "$2" "$3" -g tid,name
	trstat -q --merge -t tsv -c "$1" in.*.part 2>/dev/null || true
}

# same MEASURES CONDITION: segments that are filtered alone have the calls of the filtered whole
same() {
	local stream
	for stream in ?.trs; do
		trfilter -q "$2" "$stream" | trstat -q -t tsv -c "$1" -g tid,name >want
		merged "$1" "$stream" "$2" | diff want - || fail "$stream: $2"
	done
}

@test "segments that are filtered alone have the calls of the filtered whole" {
	local condition
	for condition in 'name =~ "^[a-m]"' 'dur > 0' 'dur > 0 && name =~ "^[a-m]"' 'children > 0' 'depth < 3'; do
		same count,total "$condition"
	done
}

@test "they have the self times too, if calls are kept with all that they call" {
	local condition
	for condition in 1 'tid == 4125 || tid == 101' 'under(name =~ "^[f-m]")'; do
		rm -f err
		same count,total,self,max "$condition"
		# snapshots are not approximate
		run ! grep 'lacks calls' err
	done
}

@test "summaries of segments that are filtered alone are those of the filtered whole, in all views" {
	local stream view
	for stream in ?.trs; do
		for view in '-g name' '-g caller,name' '-g stack' '-g tid,depth' '--slowest=5' '-i 1ms -g name' '--tree'; do
			# its clock counts ticks
			[[ $stream$view != 3.trs-i* ]] || continue
			parts "$stream" 'under(name =~ "^[f-m]") || tid == 101' $view
			trfilter -q 'under(name =~ "^[f-m]") || tid == 101' "$stream" | trstat -q $view >want 2>/dev/null
			trstat -q --merge in.*.part 2>/dev/null | diff want - || fail "$stream: $view"
		done
	done
}

@test "a call that is undecided at the end of a segment is kept" {
	cp 1.trs in
	segments in
	# main lasts until the last segment
	trfilter -q 'dur > 1h || name == "nosuch"' in.000 2>/dev/null >kept || true
	run -1 trencode -q -t tsv --columns name,unfinished kept
	assert_line $'main\t1'
	trfilter -q 'dur > 1h' 1.trs >kept
	run -0 trfilter -c 1 kept
	assert_output 0
}

@test "of a call that is open where a segment begins, ended callees are one child and no call of over()" {
	cp 1.trs in
	segments in
	# status 1: a segment is missing; worker called fill in an earlier one
	run -1 bash -c "trfilter -q 'name == \"worker\" && children == 1' in.002 2>err | trencode -q -t tsv --no-header -c name,unfinished 2>err"
	assert_output ''
	run -1 bash -c "trfilter -q 'name == \"worker\" && children > 1' in.002 2>err | trencode -q -t tsv --no-header -c name,unfinished 2>err"
	[[ $output == *$'worker\t0'* ]]
	run -1 bash -c "trfilter -q 'name == \"worker\" && over(name == \"fill\")' in.002 2>err | trencode -q -t tsv --no-header -c name,unfinished 2>err"
	assert_output ''
}

@test "a filter that lost rows adopts the next snapshot, and says so" {
	cp 5.trs in
	segments in
	cat in.000 in.002 >lost
	trfilter -q 'name =~ "^[a-z]"' lost >kept 2>/dev/null || true
	trstat -q -t tsv -c count,total -g tid,name lost >all 2>/dev/null || true
	run pipe 'trstat -q -t tsv -c count,total -g tid,name kept 2>/dev/null | diff all - | grep -c "[<>].*\b\(leaf\|mid\|burst\|main\)"'
	assert_output 0
}
