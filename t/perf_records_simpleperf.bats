#!/usr/bin/env bats
# perf.data of Android's simpleperf: names by the file's own tables, and its own records.
# t/tools/simpleperf.py writes the recordings by the format, with the stacks that they have.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	tool=$ROOT/t/tools/simpleperf.py
}

# stacks FILE: the time and the stack of each sample with a call chain
stacks() {
	trencode -q -t ndjson "$1" | jq -r 'select(.type != "sched_waking" and .stack != null) |
		"\(.time)\t\(.stack | join(";"))"'
}

@test "frames have the names of the file's own tables, in both layouts, with status 0 and no remark" {
	for version in 1 2; do
		python3 "$tool" write $version perf.data >expect
		python3 "$tool" stacks perf.data | diff - expect
		run -0 errors trdecode -o x.trs perf.data
		assert_output ''
		stacks x.trs | diff - expect
		# of a pipe, and compressed
		gzip -c perf.data | trdecode -o y.trs
		stacks y.trs | diff - expect
	done
	trencode -q -t folded x.trs | grep -qx 'app;java.lang.String.equals;free 250'
	# the functions of a public recording, where there are any
	for file in "$SHARED"/traces/simpleperf/*.data; do
		[ -e "$file" ] || continue
		python3 "$tool" stacks "$file" >expect
		trdecode --no-unwind -o x.trs "$file"
		stacks x.trs | diff - expect
	done
}

@test "events have the names of the recording, and tracepoints the fields of the data inside" {
	python3 "$tool" write 2 perf.data >expect
	run -0 trdecode --info perf.data
	assert_line --regexp '^simpleperf version +1.build.1$'
	assert_line --regexp '^machine +aarch64$'
	trdecode -o x.trs perf.data
	run -0 trstat -q -g type,group -c count --where 'kind == sample' -t csv x.trs
	assert_line cpu-clock,software,6
	assert_line sched_waking,sched,1
	run -0 trfilter -c 'type == "sched_waking" && prio == 120' x.trs
	assert_output 1
}

@test "damage: a table that is cut is reported, what is before it is used" {
	python3 "$tool" write 1 perf.data >expect
	size=$(stat -c %s perf.data)
	# the size of the last file of the feature
	python3 - perf.data <<-'X'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at = data.rindex(b"/vendor/lib/modules/a.ko") - 4
		data[at] += 1
		open("long.data", "wb").write(data)
	X
	run -1 errors trdecode -o x.trs long.data
	assert_output --partial 'feature 128 of the header is cut'
	stacks x.trs | grep -q 'com.example.Main.run;malloc'
	for ((n = 104; n < size; n += 61)); do
		head -c $n perf.data >cut.data
		run errors timeout 20 trdecode -o x.trs cut.data
		assert [ "$status" -le 2 ]
	done
}

@test "hybrid processors: the cores' events are one profile, and apart by the key group" {
	python3 "$tool" write hybrid perf.data >expect
	trdecode -o data.trs perf.data
	stacks data.trs | diff - expect
	printf '%s\n' 'app  7/7  [000]  1.000:  250 cpu_core/cycles/P: ' '	10 f+0x10 (/app)' '	20 main+0x10 (/app)' '' \
		'app  7/7  [004]  2.000:  100 cpu_atom/cycles/P: ' '	10 f+0x10 (/app)' '	20 main+0x10 (/app)' '' >script.txt
	trdecode -o text.trs script.txt
	run -0 errors trencode -t folded -o graph text.trs
	assert_output ''
	run -0 cat graph
	assert_output 'app;main;f 350'
	run -0 trstat -q -g name,group -c self,count -t csv text.trs
	assert_line f,cpu_core,250,1
	assert_line f,cpu_atom,100,1
	for stream in data text; do
		run -0 trstat -q -g type -c count --where 'kind == sample' $stream.trs
		assert_line --regexp '^ +[0-9]+  cycles:P$'
	done
	run -0 trfilter -c 'group == "cpu_atom"' data.trs
	assert_output 2
	# an event of another PMU keeps its name
	sed 's,cpu_atom/cycles/P,uncore_imc_0/cas/,; s,cpu_core,cpu,' script.txt | trdecode -o other.trs
	run -0 trstat -q -g type -c count -t csv other.trs
	assert_line cpu/cycles/P,1
	assert_line uncore_imc_0/cas/,1
	# a code is another event on each PMU
	for code in event=0x3c r3c; do
		sed "s,/cycles/P,/$code/u," script.txt | trdecode -o code.trs
		run -0 trstat -q -g type -c count -t csv code.trs
		assert_line cpu_core/$code/u,1
		assert_line cpu_atom/$code/u,1
	done
}
