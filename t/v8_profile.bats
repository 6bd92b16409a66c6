# Profiles of V8 in files of their own: .cpuprofile and .heapprofile.

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	CPU=$DATA/profiles/node.cpuprofile.gz
	HEAP=$DATA/profiles/node.heapprofile.gz
}

# stacks WEIGHT STREAM: folded, with the sum of that weight
stacks() {
	trencode -q -t folded --weight "$1" "$2" |
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); gsub(/ /, "_"); sum[$0] += n } END { for (s in sum) if (sum[s]) print s, sum[s] }' |
		LC_ALL=C sort
}

# columns CSV: of the events of a profile on stdin
columns() {
	trdecode -q "$@" | trencode -q -t csv -c time,stack,line,weight
}

@test "the samples of each stack and their weights are those of an independent reader" {
	for file in "$CPU" "$HEAP"; do
		unit=1
		[[ $file == *heap* ]] || unit=1000
		trdecode -o x.trs "$file"
		python3 "$ROOT/t/tools/v8_profile.py" "$file" >want
		[ "$(wc -l <want)" -ge 10 ]
		awk '{ print $1, $2 }' want | LC_ALL=C sort | diff - <(stacks count x.trs)
		awk -v unit=$unit '$3 { print $1, $3 * unit }' want | LC_ALL=C sort | diff - <(stacks period x.trs)
	done
	# each frame of the deepest stack, 128 calls in nested objects
	run -0 pipe "trdecode -q $HEAP | trencode -q -t folded | grep -o 'nest' | wc -l"
	assert_output "$(gzip -dc "$HEAP" | grep -o '"functionName":"nest"' | wc -l)"
}

@test "sums by function are those of Node.js itself" {
	need node
	gzip -dc "$HEAP" >x.heapprofile
	node -e '
		const sums = {};
		const walk = (n) => { const f = n.callFrame.functionName || "(anonymous)"; sums[f] = (sums[f] || 0) + n.selfSize;
			n.children.forEach(walk); };
		walk(JSON.parse(require("fs").readFileSync("x.heapprofile")).head);
		for (const f in sums) if (sums[f]) console.log(f + "," + sums[f]);' | LC_ALL=C sort >want
	[ "$(wc -l <want)" -gt 10 ]
	trdecode -q x.heapprofile | trstat -q -t csv -g name -c self | sed '1d; /,0$/d' | LC_ALL=C sort | diff want -
}

@test "nodes nested in each other: deeply, too deeply, and cut" {
	# nested FILE N: N calls of f, of a byte each
	nested() {
		awk -v n="$2" 'BEGIN { printf "{\"head\":"
			for (i = 0; i < n; i++) printf "{\"callFrame\":{\"functionName\":\"f%d\"},\"selfSize\":1,\"children\":[", i
			for (i = 0; i < n; i++) printf "]}"
			print "}" }' >"$1"
	}
	nested x.heapprofile 8000
	trdecode x.heapprofile | trstat -q -t tsv -g name -c self,total | sed 1d | sort >have
	awk 'BEGIN { for (i = 0; i < 8000; i++) print "f" i "\t1\t" 8000 - i }' | sort | cmp - have
	nested x.heapprofile 9000
	run -1 --separate-stderr trdecode -o x.trs x.heapprofile
	assert_regex "$stderr" '^trdecode: x.heapprofile: 0x[0-9a-f]+: nested more than 16384 deep$'
	run -1 --separate-stderr trstat -q -t tsv -g name -c self,total -n 1 x.trs
	assert_line $'f0\t1\t8191'
	nested x.heapprofile 3
	head -c 175 x.heapprofile >cut.heapprofile
	run -1 --separate-stderr pipefail 'trdecode cut.heapprofile | trencode -q -t folded'
	assert_output $'f0 1\nf0;f1 1\nf0;f1;f2 1'
}

@test "bytes with fractions are in millionths" {
	cat >x.heapprofile <<-'END'
		{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[
			{"callFrame":{"functionName":"f"},"selfSize":32.25,"children":[]},
			{"callFrame":{"functionName":"g"},"selfSize":0.5000019,"children":[
				{"callFrame":{"functionName":"f"},"selfSize":7,"children":[]}]}]}}
	END
	run -0 --separate-stderr pipe 'trdecode x.heapprofile | trstat -t tsv -g name -c self,total'
	assert_output $'name\tself\ttotal\nf\t39250000\t39250000\ng\t500001\t7500001\n(root)\t0\t39750001'
	assert_equal "$stderr" 'trdecode: x.heapprofile: weights have fractions: all are in millionths'
	sed -i 's/0.5000019/-0.5/' x.heapprofile
	run -1 --separate-stderr trdecode x.heapprofile -o x.trs
	assert_regex "$stderr" ': hits or bytes that are negative or out of range are left out; such nodes: 1'
	# whole numbers with a point are bytes
	sed -i 's/-0.5/0.0/; s/32.25/32.0/' x.heapprofile
	run -0 --separate-stderr pipe 'trdecode x.heapprofile | trstat -t tsv -g name -c self'
	assert_line $'f\t39'
	assert_equal "$stderr" ''
}

@test "names, files and lines; facts; types" {
	run -0 pipe "trdecode -q $CPU | trstat -q -t csv -g name,file,line -c count"
	assert_line --regexp '^fib,file:///.*/cpu\.js,3,[0-9]+$'
	run -0 trdecode --info "$CPU"
	assert_line --regexp '^format +cpuprofile$'
	assert_line --regexp "^nodes +$(gzip -dc "$CPU" | jq '.nodes | length')\$"
	assert_line --regexp "^samples +$(gzip -dc "$CPU" | jq '.samples | length')\$"
	assert_line --regexp "^duration +$(gzip -dc "$CPU" | jq '(.endTime - .startTime - .timeDeltas[0]) * 1000')\$"
	run -0 trdecode --info "$HEAP"
	assert_line --regexp '^format +heapprofile$'
	assert_line --regexp "^bytes +$(gzip -dc "$HEAP" | grep -o '"selfSize":[0-9]*' | awk -F: '{ n += $2 } END { print n }')\$"
	run -0 trdecode --list "$HEAP"
	assert_line --regexp 'sample +heap_profile$'
	assert_line --regexp '^ +bytes +unsigned '
}

@test "the members are in any order, also in a pipe" {
	trdecode -q "$CPU" | trencode -q -t csv >want
	gzip -dc "$CPU" | jq -cS . >sorted.cpuprofile
	trdecode -q sorted.cpuprofile | trencode -q -t csv | diff want -
	gzip -dc "$CPU" | jq -c 'to_entries | reverse | from_entries' | trdecode -q -f cpuprofile | trencode -q -t csv | diff want -
	gzip -dc "$CPU" | jq -c 'del(.nodes[].hitCount) | .nodes[] |= {children, id, callFrame}' >nohit.json
	trdecode -q nohit.json | trencode -q -t csv | diff want -
	trdecode -q <"$CPU" | trencode -q -t csv | diff want -
	trdecode -q "$HEAP" | trencode -q -t folded | LC_ALL=C sort >want
	gzip -dc "$HEAP" | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin), sort_keys=True))' |
		trdecode -q | trencode -q -t folded | LC_ALL=C sort | diff want -
}

@test "profiles of early versions: nested nodes, times of samples; hits without samples" {
	cat >early.cpuprofile <<-'END'
		{"head":{"functionName":"(root)","url":"","lineNumber":0,"hitCount":0,"children":[
			{"functionName":"f","url":"a.js","lineNumber":7,"hitCount":2,"children":[
				{"functionName":"g","url":"a.js","lineNumber":9,"hitCount":1,"children":[],"id":3}],"id":2}],"id":1},
		"startTime":1.5,"endTime":2,"samples":[2,3,2],"timestamps":[1500000,1500100,1500300]}
	END
	run -0 columns early.cpuprofile
	assert_output - <<-'END'
		time,stack,line,weight
		1500000000,"[""(root)"",""f""]",7,100000
		1500100000,"[""(root)"",""f"",""g""]",9,200000
		1500300000,"[""(root)"",""f""]",7,0
	END
	jq -c 'del(.timestamps)' early.cpuprofile >untimed.cpuprofile
	run -0 pipe 'trdecode -q untimed.cpuprofile | trstat -q -t csv -g name -c count,self'
	assert_line f,3,2
	assert_line g,1,1
	jq -c 'del(.timestamps, .samples)' early.cpuprofile >hits.cpuprofile
	run -0 pipe 'trdecode -q hits.cpuprofile | trstat -q -t csv -g name -c count,self'
	assert_line f,2,2
	assert_line g,1,1
}

@test "times that step back, nodes that are not there, and callers that are a circle" {
	cat >x.cpuprofile <<-'END'
		{"nodes":[{"id":1,"callFrame":{"functionName":"a"},"children":[2],"hitCount":1},
			{"id":2,"callFrame":{"functionName":"b"},"children":[1]},{"id":2,"callFrame":{"functionName":"c"}}],
		"startTime":100,"samples":[1,2,9,1],"timeDeltas":[10,20,-5,99999999999999999999]}
	END
	run -1 --separate-stderr pipefail "trdecode x.cpuprofile | trencode -q -t csv -c time,stack,weight"
	assert_output - <<-'END'
		time,stack,weight
		110000,"[""b"",""a""]",15000
		125000,"[""?""]",0
		125000,"[""b"",""a""]",5000
		130000,"[""b""]",0
	END
	for line in '0x105: a time that is out of range: the sample has the time of the one before; such times: 1' \
		'0xb3: a node with the id of another: the first one is valid; such nodes: 1' \
		'a node that is named is not in the file: its function is not known; such nodes: 1' \
		'a node is its own caller: its stack ends there; such circles: 1'; do
		[[ $stderr == *"trdecode: x.cpuprofile: $line"* ]] || fail "$line"
	done
}

@test "what has no time, no number or two callers is damage that is reported" {
	local -a cases=(
		'.timeDeltas |= .[:2]' '4 samples have 2 times: the others have that of the last one'
		'.timeDeltas[1] = "20"' 'a sample or time that is no number: it has no stack, or the time of the one before; such elements: 1'
		'.samples[1] = "4"' 'a sample or time that is no number: it has no stack, or the time of the one before; such elements: 1'
		'.samples[1] = 99' 'a node that is named is not in the file: its function is not known; such nodes: 1'
		'.nodes[3].children = [2]' 'a child of two nodes: it is that of the first; such children: 1'
		'.nodes[3].children = [1]' 'a node is its own caller: its stack ends there; such circles: 1'
		'.nodes[2].children = [4]' 'a child of two nodes: it is that of the first; such children: 1'
		'.nodes[2].hitCount = -5' 'hits or bytes that are negative or out of range are left out; such nodes: 1'
		'.nodes[2].hitCount = 18446744073709551616' 'hits or bytes that are negative or out of range are left out; such nodes: 1'
	)
	cat >ok.json <<-'END'
		{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,3]},{"id":2,"callFrame":{"functionName":"a"},"children":[4]},
			{"id":3,"callFrame":{"functionName":"b"}},{"id":4,"callFrame":{"functionName":"c"}}],
		"startTime":1000,"endTime":1100,"samples":[2,4,3,4],"timeDeltas":[10,20,30,5]}
	END
	run -0 --separate-stderr columns ok.json
	assert_equal "$stderr" ''
	for ((at = 0; at < ${#cases[@]}; at += 2)); do
		jq -c "${cases[at]}" ok.json >x.json
		run -1 errors trdecode -f cpuprofile x.json
		assert_output --regexp '^trdecode: x\.json: (0x[0-9a-f]+: )?'"${cases[at + 1]}"'$'
	done
	# what is no number keeps the places of the others
	jq -c '.samples[1] = "4"' ok.json >x.json
	run -1 pipefail 'trdecode x.json 2>&- | trencode -q -t csv -c stack,weight 2>&-'
	assert_line '"[""(root)"",""b""]",5000'
	assert_line '"[""(root)"",""a"",""c""]",35000'
}

@test "a file that is cut, and one that is no profile" {
	gzip -dc "$CPU" >x.cpuprofile
	head -c 20000 x.cpuprofile >cut.cpuprofile
	run -1 --separate-stderr pipefail 'trdecode cut.cpuprofile | trstat -q -t csv -g name -c self'
	assert_line --regexp '^fib,[0-9]+$'
	assert_equal "$stderr" 'trdecode: cut.cpuprofile: 0x4e20: the input ends within a JSON value'
	run -1 trdecode --info cut.cpuprofile
	echo '{"nodes":[],"functionName":1,"hitCount":2}' >none.cpuprofile
	run -2 errors trdecode none.cpuprofile
	assert_output 'trdecode: none.cpuprofile: no profile of V8: no object has nodes or a head'
	echo '{"nodes":[{"id":1,]}' >bad.json
	run -2 errors trdecode -f cpuprofile bad.json
	assert_output --partial 'trdecode: bad.json: 0x12: no profile of V8: '
}

@test "a profile meets a trace of Chrome on one clock" {
	echo '[{"ph":"X","name":"load","ts":115,"dur":20,"pid":1,"tid":2}]' >x.json
	echo '{"nodes":[{"id":1,"callFrame":{"functionName":"a"},"hitCount":1}],"startTime":100,"samples":[1,1],"timeDeltas":[10,20]}' >x.cpuprofile
	run -0 pipe 'trdecode x.json x.cpuprofile | trencode -q -t csv -c time,name | sed 1d | sort -n'
	assert_output - <<-'END'
		110000,a
		115000,load
		130000,a
	END
}
