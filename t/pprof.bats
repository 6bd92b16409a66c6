#!/usr/bin/env bats
# Profiles of pprof: samples with their values, labels, frames and inlined functions.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

# folds PROFILE: its folded stacks are those of an independent reader
folds() {
	trdecode -q "$1" | trencode -q -t folded | LC_ALL=C sort >got
	python3 "$ROOT/t/tools/pprof_profile.py" "$1" | LC_ALL=C sort | diff - got
}

# make FILE: a profile of the text of its message on stdin
make_profile() {
	need protoc
	protoc --encode=m.Profile -I "$ROOT/t/proto" pprof.proto >"$1"
}

# Two values, a stack with an inlined function, one without names, and labels.
two_values() {
	make_profile two.pb <<-'END'
		string_table: "" string_table: "alloc_objects" string_table: "count"
		string_table: "alloc_space" string_table: "bytes" string_table: "main" string_table: "outer"
		string_table: "inlined" string_table: "a.c" string_table: "/bin/a" string_table: "tid"
		string_table: "thread_name" string_table: "worker" string_table: "size" string_table: "flavour"
		string_table: "big"
		sample_type { type: 1 unit: 2 } sample_type { type: 3 unit: 4 }
		sample { location_id: 900 location_id: 7 value: 3 value: 3000
			label { key: 10 num: 42 } label { key: 11 str: 12 } label { key: 13 num: 1000 } }
		sample { location_id: 8 location_id: 7 value: 1 value: 50 label { key: 14 str: 15 } }
		sample { location_id: 900 location_id: 7 value: 2 value: 2000
			label { key: 10 num: 42 } label { key: 11 str: 12 } label { key: 13 num: 1000 } }
		mapping { id: 5 memory_start: 4096 memory_limit: 8192 filename: 9 }
		location { id: 900 mapping_id: 5 address: 4100
			line { function_id: 3 line: 12 } line { function_id: 2 line: 30 } }
		location { id: 7 mapping_id: 5 address: 4200 line { function_id: 1 line: 5 } }
		location { id: 8 mapping_id: 5 address: 5000 }
		function { id: 1 name: 5 filename: 8 }
		function { id: 2 name: 6 filename: 8 }
		function { id: 3 system_name: 7 filename: 8 }
	END
}

@test "folded stacks: those of an independent reader" {
	[ ! -d "$RECORDED/profiles" ] || folds "$RECORDED/profiles/speedscope-simple.prof"
	trdecode -q -o zstd.trs "$DATA/perf/zstd.data"
	trencode -q -t pprof -o zstd.pb.gz zstd.trs
	folds zstd.pb.gz
	(($(wc -l <got) > 300))
	gzip -dc zstd.pb.gz >zstd.pb
	folds zstd.pb
	# the weights are those of the samples that the profile was made of
	trencode -q -t folded zstd.trs | awk '{ n += $NF } END { print n }' >want
	awk '{ n += $NF } END { print n }' got | diff want -
}

@test "values, threads, labels, inlined functions, addresses" {
	two_values
	run -0 pipe 'trdecode two.pb | trencode -q -t csv -c time,tid,comm,type,stack,alloc_objects,alloc_space,size,flavour'
	assert_output - <<-'END'
		time,tid,comm,type,stack,alloc_objects,alloc_space,size,flavour
		1,42,worker,alloc_space,"[""main"",""outer"",""inlined""]",3,3000,1000,
		2,,,alloc_space,"[""main"",""<1388>""]",1,50,,big
		3,42,worker,alloc_space,"[""main"",""outer"",""inlined""]",2,2000,1000,
	END
	trdecode -o two.trs two.pb
	run -0 trencode -q -t folded --weight alloc_objects two.trs
	assert_line 'worker;main;outer;inlined 5'
	run -0 trencode -q -t folded two.trs
	assert_line 'worker;main;outer;inlined 5000'
	run -0 trencode -q -t folded --weight count two.trs
	assert_line 'worker;main;outer;inlined 5'
	run -0 pipe 'trfilter "size == 1000 && under(\"outer\")" two.trs | trstat -q -g name,file,line,module -c self,total -t tsv'
	assert_line "$(printf 'inlined\ta.c\t12\t/bin/a\t5000\t5000')"
	assert_line "$(printf 'main\ta.c\t5\t/bin/a\t0\t5000')"
}

@test "the default value, units of time, lists that are not packed, unknown fields" {
	make_profile time.pb <<-'END'
		string_table: "" string_table: "wall" string_table: "microseconds" string_table: "samples"
		string_table: "count" string_table: "f" string_table: "a remark"
		sample_type { type: 1 unit: 2 } sample_type { type: 3 unit: 4 }
		sample { location_id: 1 value: 7 value: 1 } sample { location_id: 1 value: 8 value: 1 }
		location { id: 1 line { function_id: 1 } } function { id: 1 name: 5 }
		time_nanos: 17 comment: 6 default_sample_type: 1 period_type { type: 1 unit: 2 } period: 10
	END
	# field 20: a text; a sample whose numbers are not packed: location_id 1, values 9 and 1
	{ cat time.pb; printf '\242\001\002xx\022\006\010\001\020\011\020\001'; } >more.pb
	trdecode more.pb >/dev/null
run -0 pipe 'trdecode more.pb | trencode -q -t csv -c time,name,wall,samples'
	assert_output - <<-'END'
		time,name,wall,samples
		0,f,7000,1
		7000,f,8000,1
		15000,f,9000,1
	END
	run -0 pipe 'trdecode more.pb | trstat -q -g name -c total'
	assert_line --regexp '^24\.000 us +f$'
	run -0 trdecode --info more.pb
	assert_line --regexp '^format +pprof$'
	assert_line --regexp '^samples +3$'
	assert_line --regexp '^value +wall, microseconds$'
	assert_line --regexp '^comment +a remark$'
}

@test "functions of addresses are found by trsym" {
	gzip -dc "$DATA/perf/work.gz" >work
	make_profile work.pb <<-END
		string_table: "" string_table: "samples" string_table: "count" string_table: "$PWD/work"
		sample_type { type: 1 unit: 2 }
		sample { location_id: 1 value: 4 }
		mapping { id: 1 memory_start: 0x555500001000 memory_limit: 0x555500002000 file_offset: 0x1000 filename: 3 }
		location { id: 1 mapping_id: 1 address: 0x555500001240 }
	END
	run -0 pipe 'trdecode work.pb | trsym -q | trencode -q -t folded'
	assert_output 'fib 4'
	run -0 pipe 'trdecode work.pb | trencode -q -t folded'
	assert_output '<555500001240> 4'
}

difference() {
	make_profile diff.pb <<-'END'
		string_table: "" string_table: "inuse_objects" string_table: "count" string_table: "inuse_space"
		string_table: "bytes" string_table: "f" string_table: "g" string_table: "main"
		sample_type { type: 1 unit: 2 } sample_type { type: 3 unit: 4 }
		sample { location_id: 1 location_id: 3 value: 3 value: 500 }
		sample { location_id: 2 location_id: 3 value: -2 value: -300 }
		sample { location_id: 2 location_id: 1 location_id: 3 value: -1 value: -50 }
		location { id: 1 line { function_id: 1 } } location { id: 2 line { function_id: 2 } }
		location { id: 3 line { function_id: 3 } }
		function { id: 1 name: 5 } function { id: 2 name: 6 } function { id: 3 name: 7 }
	END
}

@test "the difference of two profiles has negative weights, which sums count" {
	difference
	run -0 --separate-stderr pipe 'trdecode diff.pb | trstat -g name -c total,self,count,min,self_percent,total_stdev -t csv --sort name'
	assert_equal "$stderr" ''
	# of main 500, -300, -50; of f 500, -50: by hand
	assert_output - <<-'END'
		name,total,self,count,min,self_percent,total_stdev
		f,450,500,2,-50,333.333,275
		g,-350,-350,2,-300,-233.333,125
		main,150,0,3,-300,0.000,334
	END
	trdecode -q diff.pb >diff.trs
	run -0 trstat -q -g type -c total,self,count -t csv diff.trs
	assert_line 'inuse_space,150,150,3'
	# parts and their sum are the same
	trstat -q -g name -c total,min,max --partial diff.trs >diff.sum
	run -0 bash -c 'cmp <(trstat -q -g name -c total,min,max diff.trs) <(trstat -q --merge diff.sum)'
	run -0 trencode -q -t ndjson -c weight diff.trs
	assert_line '{"weight":-300}'
	run -0 trfilter -q 'inuse_space < 0' diff.trs -o less.trs
	run -0 trstat -q -g type -c total -t csv less.trs
	assert_line 'inuse_space,-350'
}

@test "the difference of two profiles of times: negative times in each text that trstat prints" {
	for most in 5000 20000000000 9223372036854775806; do
		python3 "$ROOT/t/tools/pprof_difference.py" 7 $most
		make_profile diff.pb <profile.txt
		trdecode -q diff.pb >diff.trs
		trencode -q -t folded diff.trs | diff <(LC_ALL=C sort folded) -
		columns=total,self,count,min,max,avg,self_avg
		trstat -q -s name -c $columns diff.trs | sed '1d; s/^ *//; s/  */ /g' | diff table -
		trstat -q -c $columns --partial diff.trs -o diff.sum
		trstat -q --merge -s name -c $columns diff.sum | sed '1d; s/^ *//; s/  */ /g' | diff table -
		trstat -q --diff -s name -c total diff.trs diff.trs | awk 'NR > 1 { print $1, $2, $NF }' |
			diff <(awk '{ print $1, $2, $NF }' table) -
		trstat -q --tree -c total,self,count diff.trs |
			sed -E '1d; s/^ *//; s/  */ /g; s/ [| ]*[+]-([a-z]+)$/ \1/' | LC_ALL=C sort |
			diff <(LC_ALL=C sort tree) -
		trstat -q --callers f -c total diff.trs | awk 'NR == 2 { print $1, $2 }' |
			diff <(awk '$NF == "f" { print $1, $2 }' table) -
		read -r low lower high higher <range
		run -0 trstat -q --hist diff.trs
		assert_output --regexp "min $low $lower,\s+max $high $higher"$'\n'
		read -r value unit name <<<"$(awk '$3 < 0 { print $3, $4, $NF; exit }' table)"
		run -3 errors trstat -q --fail-if "self(name == \"$name\") < 0ns" diff.trs
		assert_output --partial "is true: $value $unit"
		run -0 pipe 'trstat -q --hist -t prom diff.trs | grep -m 1 _bucket'
		assert_output 'trstat_call_seconds_bucket{le="-0.000000001"} 0'
	done
}

@test "trstat --diff -t svg: stacks with a negative weight are left out, and counted" {
	difference
	trdecode -q diff.pb >diff.trs
	run -0 errors trstat --diff -t svg -o x.svg diff.trs diff.trs
	assert_output 'trstat: 4 stacks with a negative weight left out'
	run -0 grep -F 'all (500 weight, 100.00%; before 500 weight, 100.00%)' x.svg
}

@test "sums of weights are exact until they are clipped, once and with a remark" {
	most=9223372036854775807
	signed() {
		{
			echo 'string_table: "" string_table: "bytes" string_table: "f" string_table: "g" string_table: "main"'
			echo 'sample_type { type: 1 unit: 1 }'
			for i in 1 2 3; do
				echo "function { id: $i name: $((i + 1)) } location { id: $i line { function_id: $i } }"
			done
			for value; do
				echo "sample { location_id: 2 location_id: 3 value: $value }"
			done
		} | make_profile sum.pb
		trdecode -q sum.pb >sum.trs
	}
	# 3 (2^63 - 1) - 2 (2^63 - 1) - 300
	signed $most $most $most -$most -$most -300
	run -0 trencode -t folded sum.trs
	assert_output 'main;g 9223372036854775507'
	run -0 errors trencode -t pprof -o sum.pb.gz sum.trs
	assert_output ''
	assert_equal "$(trdecode -q sum.pb.gz | trencode -q -t folded)" 'main;g 9223372036854775507'
	# 3 (2^63 - 1) - 300 is above 2^64
	signed $most $most -300 $most
	run -0 trencode -t folded sum.trs
	assert_line 'main;g 18446744073709551615'
	assert_line 'trencode: 1 sum of a stack was clipped to 18446744073709551615: folded stacks hold no larger numbers'
	# below -2^63
	signed -$most -$most 5
	for format in folded:'folded stacks' pprof:profiles; do
		run -0 errors trencode -t "${format%:*}" -o out sum.trs
		assert_output "trencode: 1 sum of a stack was clipped to -9223372036854775808: ${format#*:} hold no smaller numbers"
	done
	trencode -q -t folded sum.trs >out.folded
	assert_equal "$(cat out.folded)" 'main;g -9223372036854775808'
	run -0 trdecode -f folded --info out.folded
	assert_line --regexp '^weight +-9223372036854775808$'
}

@test "negative weights go out in the formats that hold them, and are counted in the others" {
	difference
	trdecode -q diff.pb >diff.trs
	run -0 trencode -q -t folded diff.trs
	assert_output - <<-'END'
		main;f 500
		main;f;g -50
		main;g -300
	END
	trencode -q -t pprof -o back.pb.gz diff.trs
	gzip -dc back.pb.gz | protoc --decode=m.Profile -I "$ROOT/t/proto" pprof.proto >back
	run -0 bash -c "sed -n '/^sample {/,/^}/s/^ *value: //p' back | paste - - | sort"
	assert_output "$(printf '%s\n' '1	-300' '1	-50' '1	500')"
	trdecode -q back.pb.gz | trencode -q -t folded >again
	trencode -q -t folded diff.trs | cmp - again
	for t in svg callgrind dot firefox speedscope chrome perfetto; do
		run -0 errors trencode -t "$t" -o out diff.trs
		assert_line --partial '2 '
		assert_line --partial 'with a negative weight left out'
	done
}

@test "damage: what is lost is named, with its place" {
	two_values
	size=$(wc -c <two.pb)
	head -c $((size - 3)) two.pb >cut.pb
	run -1 errors trdecode cut.pb
	assert_line --regexp "cut.pb: 0x[0-9a-f]+: no field of a profile"
	# a location that is not there, and too few values
	make_profile bad.pb <<-'END'
		string_table: "" string_table: "n" string_table: "count"
		sample_type { type: 1 unit: 2 }
		sample { location_id: 9 value: 1 } sample { }
	END
	run -1 errors trdecode bad.pb
	assert_line --partial 'a sample has location 9, which the profile does not have'
	assert_line --partial 'a sample has 0 values, not 1'
	run -1 pipe 'trdecode -q bad.pb | trencode -q -t folded'
	assert_line '? 1'
	# each prefix ends with a report or is whole
	for ((cut = 40; cut < size; cut += 7)); do
		head -c "$cut" two.pb >cut.pb
		rc=0
		trdecode -q -f pprof -o cut.trs cut.pb 2>/dev/null || rc=$?
		((rc == 0 || rc == 1)) || fail "cut at $cut: status $rc"
		trstat -q cut.trs >/dev/null || (($? == 1))
	done
}

@test "the second label of a long key has the first 200 bytes of the key" {
	local k250 k200
	printf -v k250 '%250s' '' && k250=${k250// /k}
	printf -v k200 '%200s' '' && k200=${k200// /q}
	make_profile x.pb <<-END
		string_table: "" string_table: "cpu" string_table: "nanoseconds" string_table: "$k250" string_table: "$k200"
		sample_type { type: 1 unit: 2 }
		sample { value: 5 label { key: 3 num: 1 } label { key: 3 num: 2 } label { key: 4 num: 3 } label { key: 4 num: 4 } }
	END
	trdecode -q x.pb | trencode -q -t ndjson | jq -r '.args | to_entries[] | select(.value < 5) | "\(.key) \(.value)"' >got
	printf '%s %s\n' "$k250" 1 "${k250:0:200}.2" 2 "$k200" 3 "$k200.2" 4 | cmp - got
}
