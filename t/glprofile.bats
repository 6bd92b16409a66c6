# Profiles of a replay of apitrace, alone and with the .trace: sums against awk over the text. The profiles are
# what `glretrace --headless --pcpu --pgpu --ppd --pmem` of apitrace 11.1 printed for the recorded traces, with
# Mesa's llvmpipe (whose first clear of a context has a nonsense duration on the GPU).

# shellcheck disable=SC2016 # keys of awk
load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	P=$DATA/apitrace
}

# sums KEY PROFILE: KEY,ns,calls by a key of awk; lane is CPU or GPU, mark the prefix of names on the GPU
sums() {
	awk -v OFS=, '
	function add(mark, lane, ns, key) { key = '"$1"'; total[key] += ns; count[key]++ }
	$1 == "frame_end" { frame++ }
	$1 == "call" && ($5 || $6) { add("", "CPU", $6) }
	$1 == "call" && ($3 || $4) { add("GPU ", "GPU", $4) }
	END { for (key in total) printf "%s,%.0f,%d\n", key, total[key], count[key] }' "$2" | sort
}

# table KEYS STREAM: the same of a stream
table() {
	trstat -q -t csv -g "$1" -c total,count "$2" | tail -n +2 | sort
}

@test "a profile alone: times by name, frame and program are those of the text" {
	for name in mt4 feat; do
		trdecode -o x.trs "$P/$name.profile.txt"
		sums 'mark $13' "$P/$name.profile.txt" >want
		(($(wc -l <want) > 8))
		table name x.trs | diff want -
		sums 'mark $13 OFS (frame + 0)' "$P/$name.profile.txt" >want
		table name,frame x.trs | diff want -
		sums 'lane OFS $12' "$P/$name.profile.txt" >want
		table comm,program x.trs | diff want -
	done
}

@test "a profile with its trace: the same times, and arguments and threads of the trace" {
	for name in mt4 feat; do
		trdecode -o x.trs "$RECORDED/apitrace/$name.trace" "$P/$name.profile.txt"
		# the calls that the profile has are those with a program; an argument has this name, too
		trfilter -q 'program >= 0 && !(name =~ "^glGetProgram")' x.trs >measured.trs
		sums 'mark $13 OFS (frame + 0)' "$P/$name.profile.txt" >want
		table name,frame measured.trs | diff want -
		sums 'mark $13 OFS $12' "$P/$name.profile.txt" >want
		table name,program measured.trs | diff want -
		# all others have no duration
		trdecode "$RECORDED/apitrace/$name.trace" | trstat -q -t csv -g name,tid,frame -c count | sort >want
		trfilter -q 'name !~ "^GPU "' x.trs | trstat -q -t csv -g name,tid,frame -c count | sort | diff want -
		trstat -q -t csv -c total -g name x.trs | awk -F, 'NR > 1 { sum += $2 } END { printf "%.0f\n", sum }' >have
		awk '$1 == "call" { sum += $4 + $6 } END { printf "%.0f\n", sum }' "$P/$name.profile.txt" | diff - have
	done
	trfilter -q -c 'name == "glClear" && arg.mask == "GL_COLOR_BUFFER_BIT"' x.trs >n
	(($(<n) > 0))
}

@test "a compressed profile with its trace" {
	trdecode "$RECORDED/apitrace/mt4.trace" "$P/mt4.profile.txt" | trstat -q -t csv -g name >want
	for pack in gzip zstd; do
		$pack -c "$P/mt4.profile.txt" >profile.packed
		trdecode "$RECORDED/apitrace/mt4.trace" profile.packed | trstat -q -t csv -g name | diff want -
	done
	head -c 900 profile.packed >cut.packed
	run -1 --separate-stderr trdecode -o x.trs "$RECORDED/apitrace/mt4.trace" cut.packed
	assert_regex "$stderr" 'cut.packed: 0x384: .*the file ends inside'
}

@test "the order of the two inputs has no effect" {
	trdecode "$RECORDED/apitrace/mt4.trace" "$P/mt4.profile.txt" | trencode -q -t ndjson >want
	trdecode "$P/mt4.profile.txt" "$RECORDED/apitrace/mt4.trace" | trencode -q -t ndjson | diff want -
	trdecode --segment 4K "$RECORDED/apitrace/mt4.trace" "$P/mt4.profile.txt" |
		trencode -q -t ndjson | diff want -
}

@test "pictures have a track of the GPU with its calls" {
	trdecode "$RECORDED/apitrace/mt4.trace" "$P/mt4.profile.txt" -o x.trs
	trencode -q -t chrome x.trs >x.json
	gpu=$(jq '.traceEvents[] | select(.name == "thread_name" and .args.name == "GPU [1]") | .tid' x.json)
	[[ $gpu ]]
	jq -r --argjson tid "$gpu" '.traceEvents[] | select(.tid == $tid and .ph == "b") | .name' x.json |
		sort | uniq -c >have
	awk '$1 == "call" && $4 { print "GPU", $13 }' "$P/mt4.profile.txt" | sort | uniq -c | diff - have
}

@test "Perfetto: each call of the GPU is a slice" {
	need protoc
	trdecode -o x.trs "$P/mt4.profile.txt"
	trencode -q -t perfetto x.trs | protoc --decode=m.Trace -I "$ROOT/t/proto" perfetto.proto >decoded
	grep -q 'name: "GPU' decoded
	awk '
	$1 == "packet" { type = iid = "" }
	$1 == "event_names" { interning = 1 }
	interning && $1 == "iid:" { key = $2 }
	interning && $1 == "name:" { gsub(/"/, ""); sub(/^ *name: /, ""); names[key] = $0; interning = 0 }
	$1 == "type:" { type = $2 }
	$1 == "name_iid:" { iid = $2 }
	/^}/ && type ~ /BEGIN/ { count[iid]++ }
	END { for (i in count) if (names[i] ~ /^GPU/) print count[i], names[i] }' decoded | sort >have
	awk '$1 == "call" && $4 { n["GPU " $13]++ } END { for (k in n) print n[k], k }' "$P/mt4.profile.txt" |
		sort | diff - have
}

@test "times of calls: begin, end, and what the GPU measured of one call" {
	trdecode "$P/mt4.profile.txt" | trencode -q -t ndjson >x
	awk '$1 == "call" && $5 { print $5, $6, $13, $12 }' "$P/mt4.profile.txt" | sort -n >want
	jq -r 'select(.comm == "CPU") | "\(.time) \(.dur) \(.name) \(.args.program)"' x | sort -n | diff want -
	awk '$1 == "call" && $3 { print $3, $4, "GPU", $13, $11 }' "$P/mt4.profile.txt" | sort -n >want
	jq -r 'select(.comm == "GPU") | "\(.time) \(.dur) \(.name) \(.args.pixels)"' x | sort -n | diff want -
}

@test "calls before the line of the columns are damage" {
	grep -v '^# call no' "$P/mt4.profile.txt" >bare.txt
	run -1 --separate-stderr trdecode -f glprofile -o x.trs bare.txt
	[[ $stderr == *': a call before the line of the columns, # call no ...'* ]]
	{ grep -m 3 '^call ' "$P/mt4.profile.txt" && cat "$P/mt4.profile.txt"; } >x.txt
	run -1 --separate-stderr trdecode -f glprofile -o x.trs x.txt
	[[ $stderr == *'x.txt: 0x0: a call before the line of the columns'*$'\n'*': 2 more '* ]]
	trdecode -q "$P/mt4.profile.txt" | trencode -q -t csv | diff - <(trencode -q -t csv x.trs)
}

@test "columns of memory, of old versions, and values that were not measured" {
	run -1 --separate-stderr trdecode "$ROOT/t/fuzz/corpus/glprofile/odd" -o x.trs
	[[ $stderr == *"a line that is not a call of a replay"*"the replay failed: cannot profile"* ]]
	[[ $stderr == *"4 more lines that are not calls of a replay"* ]]
	trencode -q -t ndjson x.trs | jq -Sc '[.name, .time, .dur, .args]' >have
	diff have - <<-END
		["glViewport",1000,2000,{"frame":0,"program":0,"rss_dura":-256,"rss_start":2048,"vsize_dura":512,"vsize_start":4096}]
		["GPU glDrawArrays",3000,100,{"frame":0,"pixels":12,"program":3}]
		["glDrawArrays",3000,1000,{"frame":0,"program":3}]
		["GPU glDrawArrays",3100,900,{"frame":0,"pixels":12,"program":3}]
		["glEnable",4000,null,{"frame":0,"program":0}]
		["glClear",4000,500,{"frame":0,"program":3}]
		["GPU glClear",5000,10,{"frame":0,"pixels":7,"program":3}]
	END
}

@test "a profile of another trace, a second profile, and lost lines are reported" {
	run -1 --separate-stderr trdecode "$RECORDED/apitrace/feat.trace" "$P/mt4.profile.txt" -o x.trs
	[[ $stderr == *"is this the profile of another trace?"* ]]
	sed 's/ glClear$/ glFinish/' "$P/mt4.profile.txt" >x
	run -1 --separate-stderr trdecode "$RECORDED/apitrace/mt4.trace" x -o x.trs
	[[ $stderr == *"x: $(grep -c ' glClear$' "$P/mt4.profile.txt") calls are not in "* ]]
	run -2 trdecode "$P/feat.profile.txt" "$P/mt4.profile.txt" -o x.trs
	assert_output --partial 'a second profile of a replay'
	# lines that are missing cost their times only
	awk 'NR % 3' "$P/mt4.profile.txt" | grep -v '^#' | sed "1i $(head -n 1 "$P/mt4.profile.txt")" >x
	trdecode "$RECORDED/apitrace/mt4.trace" x -o x.trs
	trfilter -q 'program >= 0' x.trs | trstat -q -t csv -g name -c total,count | tail -n +2 | sort >have
	sums 'mark $13' x | diff - have
}

@test "a replay is read as it goes on" {
	mkfifo fifo
	trdecode fifo >x.trs &
	exec 7>fifo
	head -n 4 "$P/feat.profile.txt" >&7
	sleep 0.5
	sed -n 5p "$P/feat.profile.txt" >&7
	sleep 0.1
	trencode -q -t ndjson x.trs 2>/dev/null | wc -l >n || true
	exec 7>&-
	wait
	(($(<n) >= 3))
}

@test "a replay here: its profile and its trace" {
	need glretrace
	need Xvfb
	Xvfb -displayfd 7 -screen 0 64x64x24 7>display 2>/dev/null &
	server=$!
	for ((i = 0; i < 100; i++)); do
		[[ -s display ]] && break
		sleep 0.1
	done
	DISPLAY=:$(<display) timeout 60 glretrace --headless --pcpu --pgpu --ppd --min-cpu-time=0 \
		"$RECORDED/apitrace/feat.trace" >x 2>/dev/null || true
	kill $server
	grep -q ^frame_end x || skip "no OpenGL with timer queries"
	trdecode "$RECORDED/apitrace/feat.trace" x | trfilter -q 'program >= 0 && !(name =~ "^glGetProgram")' >x.trs
	sums 'mark $13 OFS (frame + 0)' x >want
	table name,frame x.trs | diff want -
}
