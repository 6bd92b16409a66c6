#!/usr/bin/env bats
# .ninja_log: builds, lanes and times as t/tools/ninja_lanes.py has them, which does what ninjatracing
# does. t/data/ninja has logs of a build of 29 commands that sleep and touch: v5 is of ninja 1.11,
# v7 of 1.14, compacted the latter after "ninja -t recompact" and a build.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	LOGS=$DATA/ninja
	cd "$BATS_TEST_TMPDIR" || return
}

# calls FILE: build, lane, outputs, start and end in ms
calls() {
	trdecode -q "$1" | trencode -q -t ndjson |
		jq -r '[.pid, .tid, .name, .time / 1e6, (.time + .dur) / 1e6] | @tsv'
}

# same FILE [--one]
same() {
	python3 "$ROOT/t/tools/ninja_lanes.py" ${2:+"$2"} "$1" | sort >want
	calls "$1" | sort | diff want -
}

@test "builds, lanes, outputs and times are those of ninjatracing" {
	for log in v5 v7; do
		same "$LOGS/$log.ninja_log"
		[ "$(cut -f 1 want | uniq | sort -u | wc -l)" = 3 ]
		[ "$(cut -f 2 want | sort -n | tail -n 1)" -ge 5 ]
		grep -q 'gen/api.h, gen/api.c, gen/api.json' want
	done
	# version 6 has the lines of 5
	sed '1s/5/6/' "$LOGS/v5.ninja_log" >v6
	same v6
	# as a pipe, and compressed
	calls "$LOGS/v7.ninja_log" >want
	trdecode -q <"$LOGS/v7.ninja_log" | trencode -q -t ndjson | jq -r .name | diff <(cut -f 3 want) -
	gzip -c "$LOGS/v7.ninja_log" >v7.gz
	calls v7.gz | diff want -
}

@test "many commands, at the same times and of no duration, have these lanes too" {
	python3 - >many <<-'PY'
		import random
		random.seed(3)
		lines = []
		for i in range(3000):
		    start = random.randrange(400)
		    end = start + random.choice((0, 0, 1, 2, 30, 200))
		    for j in range(random.choice((1, 1, 3))):
		        lines.append((end, f'{start}\t{end}\t{i}\tout{i}.{j}\t{i:x}'))
		lines.sort(key=lambda l: l[0])
		print('# ninja log v5')
		print('\n'.join(l[1] for l in lines + lines[:50]))
	PY
	same many
}

@test "the fields are those of the log" {
	trdecode -q "$LOGS/v7.ninja_log" | trencode -q -t tsv -c hash,mtime,outputs,name |
		sed 1d | sort -u >have
	awk -F '\t' -v OFS='\t' '/^#/ { next } { key = $5 FS $1 FS $2; n[key]++; time[key] = $3; hash[key] = $5
		name[key] = name[key] (n[key] > 1 ? ", " : "") $4 }
		END { for (k in n) print "0x" hash[k], time[k], n[k], name[k] }' "$LOGS/v7.ninja_log" | sort -u | diff - have
	[ "$(wc -l <have)" -ge 29 ]
}

@test "a part that ninja rewrote is one build" {
	# the build after it has the last four lines
	calls "$LOGS/compacted.ninja_log" >have
	head -n -4 "$LOGS/compacted.ninja_log" >part
	python3 "$ROOT/t/tools/ninja_lanes.py" --one part | sort >want
	grep -P '^1\t' have | sort | diff want -
	tail -n 4 "$LOGS/compacted.ninja_log" >part
	python3 "$ROOT/t/tools/ninja_lanes.py" part | sed 's/^1/2/' | sort >want
	grep -P '^2\t' have | sort | diff want -
	run -0 trdecode --info "$LOGS/compacted.ninja_log"
	assert_line --regexp '^builds +1 \(several, compacted\): 29 commands, 0.426 s$'
	assert_line --regexp '^builds +2: 4 commands, 0.132 s$'
	trdecode "$LOGS/compacted.ninja_log" | trencode -t chrome |
		jq -r '.traceEvents[] | select(.name == "process_name") | .args.name' | sort >names
	diff names - <<-'END'
		build 2
		compacted builds
	END
}

@test "an output that is made again begins a build, also when no end is earlier" {
	{
		echo '# ninja log v5'
		printf '%s\t%s\t%s\t%s\t%s\n' 0 10 1 a aa 0 10 2 a aa 3 12 1 b bb 1 20 3 a aa 1 20 3 c aa
	} >again
	run -0 trdecode --info again
	assert_line --regexp '^builds count +3$'
	assert_line --regexp '^commands +4$'
	calls again | cut -f 1,3 | sort | diff - <(printf '%s\t%s\n' 1 a 2 a 2 b 3 'a, c')
}

@test "--info and --list" {
	run -0 trdecode --info "$LOGS/v5.ninja_log"
	assert_line --regexp '^format +ninja-log$'
	assert_line --regexp '^version +5$'
	assert_line --regexp "^commands +$(grep -v '^#' "$LOGS/v5.ninja_log" | cut -f 1,2,5 | sort -u | wc -l)\$"
	assert_line --regexp '^builds count +3$'
	run -0 trdecode --list "$LOGS/v5.ninja_log"
	assert_line --regexp '37 .*enter +ninja +start'
}

@test "the times of two logs agree only where they are aligned" {
	cp "$LOGS/v7.ninja_log" a
	cp "$LOGS/v5.ninja_log" b
	run -2 trdecode -o both.trs a b
	assert_output 'trdecode: b: its clock (build) and the clock of a (build) cannot be compared: align them with --offset FILE=TIME, or with --align start'
	[ ! -e both.trs ]
	trdecode --offset b=10s a b | trencode -q -t tsv -c input,time | awk '$2 < 10e9 { print $1 }' | uniq | diff <(echo a) -
	trdecode --align start a b | trstat -q -t tsv -g input -c count | sed 1d | wc -l | diff <(echo 2) -
	# so are saved streams
	trdecode -o a.trs a
	trdecode -o b.trs b
	run -2 trdecode -o both.trs a.trs b.trs
	assert_output --partial 'cannot be compared'
}

@test "damage: lines that are no commands, other versions" {
	{
		echo '# ninja log v5'
		printf '0\t10\t0\ta.o\t1f\n'
		printf '10\t5\t0\tends-before\t1f\n'
		printf '10\t20\t0\tno-hash\n'
		printf 'x\t20\t0\tno-start\t1\n'
		printf '4611686018428\t4611686018428\t0\ttoo-late\t1\n'
		printf '1\t2\t0\tbad-hash\t12g\n'
		printf '10\t20\t-1\tb.o\t20\n'
		printf '20\t30\t0\tcut.o\t2'
	} >bad
	run -1 --separate-stderr trdecode -o bad.trs bad
	[[ $stderr == *'bad: 0x1d: a line that is not a command of a build'* ]]
	trencode -q -t ndjson bad.trs 2>/dev/null | jq -r .name | diff - <(printf 'a.o\nb.o\n')
	sed '1s/5/8/' "$LOGS/v5.ninja_log" >v8
	run -2 trdecode v8
	assert_output --partial 'v8: 0x0: a log of ninja of version 8: versions 5 to 7 can be read'
	sed '1s/5/4/' "$LOGS/v5.ninja_log" >v4
	run -2 trdecode v4
	run -2 trdecode -f ninja-log "$DATA/strace/f.txt"
	# a log without commands is no damage
	head -n 1 "$LOGS/v5.ninja_log" >empty
	run -0 trdecode -o empty.trs empty
}

@test "the names of a command with many outputs are cut after 4096 bytes" {
	{
		echo '# ninja log v7'
		for ((i = 0; i < 1000; i++)); do printf '0\t10\t0\tout%04d.o\t1f\n' $i; done
	} >outputs
	run -0 pipe "trdecode -q outputs | trencode -q -t ndjson | jq -r '.name, .args.outputs'"
	[[ ${lines[0]} == 'out0000.o, out0001.o, '*' and '*' more' ]]
	[ "${lines[1]}" = 1000 ]
	named=$(grep -o 'out[0-9]*' <<<"${lines[0]}" | wc -l)
	[[ ${lines[0]} == *" and $((1000 - named)) more" ]]
}
