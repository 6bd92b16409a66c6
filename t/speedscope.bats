# Files of speedscope: calls and samples of many profiles, also those that trencode writes.

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

# sums FILE: of each function, as an independent reader prints them
sums() {
	trdecode -q "$1" | trstat -q -t csv -g name -c count,self,total | sed '1d; s/ /_/g; s/,\([^,]*\),\([^,]*\),\([^,]*\)$/ \1 \2 \3/' |
		LC_ALL=C sort
}

# same TABLE-OPTIONS... A B: two streams have the same table
same() {
	diff <(trstat -q -t csv "${@:1:$#-2}" "${@: -2:1}" | LC_ALL=C sort) <(trstat -q -t csv "${@:1:$#-2}" "${@: -1}" | LC_ALL=C sort)
}

two_profiles() {
	cat >two.json <<-'END'
		{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[
			{"name":"main"},{"name":"f","file":"a.c","line":3},{"name":"f","file":"b.c","line":5}]},
		"profiles":[{"type":"evented","name":"work [7]","unit":"microseconds","startValue":0,"endValue":9,"events":[
			{"type":"O","frame":0,"at":1},{"type":"O","frame":1,"at":2},{"type":"C","frame":1,"at":4.5},
			{"type":"O","frame":2,"at":5},{"type":"C","frame":2,"at":6},{"type":"C","frame":0,"at":9}]},
		{"type":"sampled","name":"timer","unit":"milliseconds","startValue":1,"endValue":4,
			"samples":[[0,1],[0],[]],"weights":[2,0.5,0.5]}]}
	END
}

@test "calls and samples: an independent reader has the same sums" {
	two_profiles
	python3 "$ROOT/t/tools/speedscope_profile.py" two.json | LC_ALL=C sort | diff - <(sums two.json | grep -v '^time')
	run -0 pipe 'trdecode two.json | trencode -q -t csv -c time,tid,comm,name,depth,dur,self'
	assert_line '1000,7,work,main,0,8000,4500'
	assert_line '2000,7,work,f,1,2500,2500'
	run -0 pipe "trdecode two.json | trfilter 'kind == sample' | trencode -q -t csv -c time,tid,comm,stack,weight"
	assert_output - <<-'END'
		time,tid,comm,stack,weight
		1000000,2,timer,"[""main"",""f""]",2000000
		3000000,2,timer,"[""main""]",500000
		3500000,2,timer,,500000
	END
	# functions of one name have their own files
	run -0 pipe "trdecode two.json | trfilter 'kind != sample' | trstat -q -t csv -g name,file,line -c count"
	assert_line f,a.c,3,1
	assert_line f,b.c,5,1
}

@test "facts, types, and input from a pipe" {
	two_profiles
	run -0 trdecode --info two.json
	assert_line --regexp '^format +speedscope$'
	assert_line --regexp '^profiles +2$'
	assert_line --regexp '^calls +3$'
	assert_line --regexp '^samples +3$'
	assert_line --regexp '^profile +timer, milliseconds$'
	run -0 trdecode --list two.json
	assert_line --regexp ' sample +time$'
	assert_line --regexp ' enter +open$'
	gzip -c two.json | trdecode -q | trencode -q -t csv | diff <(trdecode -q two.json | trencode -q -t csv) -
}

@test "what trencode writes has the tables of the trace that it was made of" {
	trdecode -q "$DATA/uftrace/fib" | trsym -q | trfilter -q 'kind == enter || kind == leave' >a.trs
	trencode -q -t speedscope -o a.json a.trs
	trdecode -q -o b.trs a.json
	same a.trs b.trs
	same -g tid,comm -c count,total,self a.trs b.trs
	for file in perf/zstd.data perf/weight.data.gz; do
		trdecode -q "$DATA/$file" | trfilter -q 'kind == sample' >a.trs
		trencode -q -t speedscope -o a.json a.trs
		trdecode -q -o b.trs a.json
		same -g name,type,tid -c count,self,total a.trs b.trs
	done
}

@test "values without a unit of time, and members in any order" {
	cat >bytes.json <<-'END'
		{"profiles":[{"events":[{"at":5,"frame":0,"type":"O"},{"at":9,"frame":0,"type":"C"}],"name":"a","startValue":5,
			"type":"evented","unit":"bytes"},
		{"name":"b","samples":[[0],[0]],"weights":[32,64],"type":"sampled","unit":"bytes"}],"shared":{"frames":[{"name":"f"}]}}
	END
	run -0 pipe 'trdecode bytes.json | trencode -q -t csv -c time,comm,name,dur,weight'
	assert_line '5,a,f,4,'
	assert_line '1,b,f,,32'
	assert_line '2,b,f,,64'
	run -0 trdecode --info bytes.json
	assert_line --regexp '^profile +b, bytes$'
	# samples of other units are of other types, which are never added and can be chosen
	jq -nc '{shared:{frames:[{name:"f"}]},profiles:[["a","milliseconds"],["b","bytes"],["x [7] cpu","none"],["y [8] cpu","bytes"] |
		{type:"sampled",name:.[0],unit:.[1],samples:[[0]],weights:[3]}]}' >units.json
	trdecode -o units.trs units.json
	trencode -q -t speedscope -o again.json units.trs
	run -0 jq -c '[.profiles[].unit]' again.json
	assert_output '["nanoseconds","bytes","none","bytes"]'
	for file in units.trs again.json; do
		run -0 pipe "trdecode $file | trstat -q -t csv -g name,type -c total -s type"
		assert_output $'name,type,total\nf,bytes,3\nf,cpu,3\nf,cpu bytes,3\nf,time,3000000'
	done
	run -0 pipe "trfilter 'type == \"bytes\"' units.trs | trencode -t folded"
	assert_output 'b;f 3'
	# of one name, where files are one after another
	echo 'f 5' | trdecode -q -f folded - >count.trs
	jq -nc '{shared:{frames:[{name:"f"}]},profiles:[{type:"sampled",name:"x [1] samples",unit:"seconds",samples:[[0]],weights:[3]}]}' |
		trdecode -q - >time.trs
	run -2 --separate-stderr trstat count.trs time.trs
	[[ $stderr == *"samples of 'samples' weigh times in some inputs"* ]]
	# the unit is read after the values
	two_profiles
	jq -cS . two.json | trdecode -q | trencode -q -t csv | diff <(trdecode -q two.json | trencode -q -t csv) -
}

@test "frames that are closed out of order, indexes of no frame, times that step back, negative weights" {
	cat >x.json <<-'END'
		{"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"type":"evented","name":"t","unit":"nanoseconds","events":[
			{"type":"O","frame":0,"at":1},{"type":"O","frame":1,"at":2},{"type":"C","frame":0,"at":5},{"type":"C","frame":1,"at":6},
			{"type":"O","frame":7,"at":7},{"type":"C","frame":7,"at":3}]},
			{"type":"sampled","unit":"none","name":"s","samples":[[0,-1]],"weights":[-4,1]}]}
	END
	run -1 --separate-stderr pipefail 'trdecode x.json | trencode -q -t csv -c time,name,dur | sort'
	assert_line '1,a,4'
	assert_line '2,b,3'
	assert_line '7,?,0'
	[[ $stderr == *'x.json: the frame that is closed is not the innermost one; such events: 2'* ]]
	[[ $stderr == *'x.json: an event is earlier than the one before'* ]]
	[[ $stderr == *'x.json: an index of a frame that is none; such indexes: 1'* ]]
	[[ $stderr == *'x.json: a negative weight'* ]]
}

@test "profiles with the tid of another are threads of their own" {
	cat >two.chrome.json <<-'END'
		{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":40,"name":"main"},{"ph":"X","pid":1,"tid":1,"ts":10,"dur":20,"name":"f"},
		{"ph":"X","pid":2,"tid":1,"ts":5,"dur":40,"name":"main2"},{"ph":"X","pid":2,"tid":1,"ts":15,"dur":20,"name":"g"}]}
	END
	trdecode two.chrome.json | trencode -q -t speedscope -o x.json
	run -0 pipe 'trdecode x.json | trstat -q -t csv -g tid,name -c total,self,count | sed 1d | cut -d, -f2- | sort'
	assert_output - <<-'END'
		f,20000,20000,1
		g,20000,20000,1
		main,40000,20000,1
		main2,40000,20000,1
	END
	# the number of a profile without a tid is the tid of another; two names have one tid
	for names in '"B" "A [1]"' '"X [7]" "Y [7]"' '"X [7]" "X [7]"' '"X [2147483647]" "Y"'; do
		jq -c --argjson a "${names% \"*}" --argjson b "${names#*\" }" '.profiles[0].name = $a | .profiles[1].name = $b' x.json >y.json
		python3 "$ROOT/t/tools/speedscope_profile.py" y.json | LC_ALL=C sort | diff - <(sums y.json)
		run -0 pipe 'trdecode y.json | trstat -q -t csv -g tid -c count | wc -l'
		assert_output 3
	done
}

@test "fractions of weights are carried, negative times become the first ones" {
	jq -nc '{shared:{frames:[{name:"a"}]},profiles:[{type:"sampled",name:"s",unit:"none",samples:[range(9)|[0]],weights:[range(9)|0.7]},
		{type:"evented",name:"n",unit:"microseconds",startValue:-50,events:[{type:"O",frame:0,at:-50},{type:"C",frame:0,at:30}]}]}' >x.json
	jq -c 'del(.profiles[1])' x.json >weights.json
	run -0 pipe 'trdecode -q weights.json | trstat -q -t csv -c count,self'
	assert_line a,9,6
	run -0 pipe "trdecode -q x.json | trfilter -q 'kind != sample' | trencode -q -t csv -c time,name,dur"
	assert_line 0,a,80000
	run -0 errors trdecode x.json
	assert_line 'trdecode: x.json: some times are below 0: all times count from the earliest, -50000 ns'
}

@test "frames that are not there, events that are none, and profiles of another type are damage" {
	local -a cases=(
		'.profiles[1].samples[0] = [77]' 'profile 2 names the frame 77, and the file has 3 frames'
		'del(.shared)' 'profile 1 names the frame 2, and the file has 0 frames'
		'.profiles[0].events[3].type = "X"' 'an event that opens or closes no frame, or has no time, is left out; such events: 1, the first in profile 1'
		'del(.profiles[0].events[3].at)' 'an event that opens or closes no frame, or has no time, is left out; such events: 1, the first in profile 1'
		'.profiles[1].type = "weird"' 'a profile that is neither evented nor sampled; such profiles: 1, the first in profile 2'
	)
	two_profiles
	for ((at = 0; at < ${#cases[@]}; at += 2)); do
		jq -c "${cases[at]}" two.json >x.json
		run -1 errors trdecode x.json
		assert_line "trdecode: x.json: ${cases[at + 1]}"
	done
}

@test "a file that is cut, in a pipe, and one that is no profile" {
	two_profiles
	head -c 520 two.json >cut.json
	run -1 --separate-stderr pipefail 'trdecode <cut.json | trstat -q -t csv -c count'
	assert_line main,1
	assert_equal "$stderr" 'trdecode: <stdin>: 0x208: the input ends within a JSON value'
	echo '{"$schema":"https://www.speedscope.app/file-format-schema.json"}' >none.json
	run -2 errors trdecode none.json
	assert_output 'trdecode: none.json: no file of speedscope: no profiles'
}
