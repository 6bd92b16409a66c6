#!/usr/bin/env bats
# trsym -i: inlined functions in the frames of recorded stacks, and the lines of their code with -l.
bats_require_minimum_version 1.5.0

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	cat >inlined.c <<-'END'
		static volatile unsigned sink;
		static inline __attribute__((always_inline)) unsigned leaf(unsigned x) { return sink * x; }
		static inline __attribute__((always_inline)) unsigned middle(unsigned x)
		{
			return leaf(x) + leaf(x + 1);
		}
		__attribute__((noinline)) unsigned outer(unsigned x) { return middle(x) + 1; }
		int main(int argc, char **argv) { return outer(argc) == 12345; }
	END
	cat >templates.cc <<-'END'
		#include <algorithm>
		#include <map>
		#include <string>
		#include <vector>
		int main(int argc, char **)
		{
			std::map<std::string, int> m;
			std::vector<int> v(argc * 100);
			for (int i = 0; i < 1000; i++)
				m["k" + std::to_string(i)] += i;
			std::sort(v.begin(), v.end());
			return m.size() + v[3] == 7;
		}
	END
	gcc -O2 -g -no-pie -o c inlined.c
	g++ -O2 -g -no-pie -o cc templates.cc
	g++ -O3 -g -gdwarf-4 -no-pie -o cc4 templates.cc
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	export PYTHONDONTWRITEBYTECODE=1
}

stacks() {
	python3 "$ROOT/t/tools/program_stacks.py" "$@"
}

# One complete constructor or destructor has two names.
one_name() {
	sed -E 's/([CD])[12]E/\1E/g'
}

# frames PROGRAM ADDRESS[*N]...: a stream with one sample, whose stack has these addresses, outermost first
frames() {
	PYTHONPATH=$ROOT/t/tools python3 - "$PWD/$1" "${@:2}" <<-'END'
		import sys
		import streams_writer as w
		words = w.Dictionary()
		kind = words.type("cycles", w.SAMPLE)
		lane = words.lane(tid=1)
		space = words.space()
		words.map(space, 0x400000, 0x800000, sys.argv[1])
		stack, blocks, known = 0, [], {}
		for address in sys.argv[2:]:
		    address, _, times = address.partition("*")
		    # an address is one location, as trdecode declares it
		    if address not in known:
		        known[address] = words.location("", int(address, 16), space=space)
		    for _ in range(int(times or 1)):
		        stack = words.stack(stack, known[address])
		        if len(words.data) > 500000:
		            blocks.append(words.block())
		sys.stdout.buffer.write(w.marker() + w.head() + b"".join(blocks) + words.block() +
		                        w.events(0, [w.narrow(0, 0, location=1)], [kind], [lane], [], stacks=[stack]) +
		                        w.end(1))
	END
}

read_stream() {
	python3 "$ROOT/t/tools/trstream.py"
}

# An address in leaf as outer has it.
address_of_leaf() {
	local start
	start=$(nm c | awk '$3 == "outer" { print $1 }')
	printf '%x\n' $((0x$start + 3))
}

@test "stacks and lines are those of llvm-symbolizer: C++ of DWARF 4 and 5, C" {
	need llvm-symbolizer objdump
	for program in cc cc4 c; do
		for seed in 1 2; do
			stacks make "$PWD/$program" $seed | trsym -il --demangle=no >with.trs
			stacks expect $program $seed | one_name >want
			[ "$(wc -l <want)" -ge 400 ]
			grep -q ' .* .*:[1-9]' want
			stacks names with.trs | one_name | diff want -
		done
	done
}

@test "an inlined function is a frame of its own, called by the function that contains it" {
	frames c "$(address_of_leaf)" >c.trs
	run -0 pipe 'trsym c.trs | python3 $ROOT/t/tools/trstream.py'
	assert_output --partial '"stack": ["outer"]'
	run -0 pipe 'trsym -i c.trs | python3 $ROOT/t/tools/trstream.py'
	assert_output --partial '"name": "leaf"'
	assert_output --partial '"stack": ["outer", "middle", "leaf"]'
	assert_output --partial '"file": null'
	run -0 pipe 'trsym --inline --lines c.trs | python3 $ROOT/t/tools/trstream.py'
	assert_output --partial '"stack": ["outer", "middle", "leaf"]'
	assert_output --partial 'inlined.c", "line": 2,'
	# without -i the line is that of the code in outer, not that of its declaration
	run -0 pipe 'trsym -l c.trs | python3 $ROOT/t/tools/trstream.py'
	assert_output --partial '"stack": ["outer"]'
	assert_output --partial 'inlined.c", "line": 2,'
}

@test "sections that older compilers packed as .zdebug" {
	stacks make "$PWD/cc" 5 >in.trs
	trsym -il in.trs >with.trs
	cp cc cc.plain
	objcopy --compress-debug-sections=zlib-gnu cc
	readelf -SW cc | grep -q '\.zdebug_rnglists'
	trsym -il -o packed.trs in.trs
	mv cc.plain cc
	stacks names with.trs >want
	stacks names packed.trs | diff want -
}

@test "a second trsym adds no inlined function again" {
	stacks make "$PWD/cc" 3 >in.trs
	trsym -i in.trs | read_stream >want
	trsym -i in.trs | trsym -i | read_stream | diff want -
	trsym -i in.trs | trsym | read_stream | diff want -
	trsym in.trs | trsym -i | read_stream | diff want -
	# nor does it lose the lines of frames
	for options in -l -il; do
		trsym $options in.trs | read_stream >lines
		trsym in.trs | trsym $options | read_stream | diff lines -
	done
	trsym -i in.trs | trfilter 'kind == "sample"' | trsym -il | read_stream |
		sed -E 's/"(file|line)": [^,]*, //g' | diff <(sed -E 's/"(file|line)": [^,]*, //g' want) -
}

@test "in each segment of a stream, and after trdecode" {
	stacks make "$PWD/cc" 4 >in.trs
	trsym -il -o in.il.trs in.trs
	stacks names in.il.trs >want
	trdecode --segment 256 in.trs >parts.trs
	(($(grep -ac trstrm1: parts.trs) > 3))
	trsym -il parts.trs >with.trs
	stacks names with.trs | diff want -
	trdecode -o again.trs with.trs
	stacks names again.trs | diff want -
}

@test "a stack that is as deep as a stream permits keeps its frames" {
	local leaf
	leaf=$(address_of_leaf)
	for n in 65535 30000; do
		frames c "$leaf*$n" >deep.trs
		run -0 --separate-stderr trsym -i -o with.trs deep.trs
		[ -z "$stderr" ]
		run -0 pipe "python3 $ROOT/t/tools/trstream.py with.trs | sed 's/.*\"stack\"//' | grep -o '\"outer\"' | wc -l"
		assert_output $n
	done
}

@test "where nothing is inlined, and without debug information, frames stay as they are" {
	cp c bare
	strip --strip-debug bare
	frames bare "$(address_of_leaf)" >bare.trs
	run -0 --separate-stderr pipe 'trsym -i bare.trs | python3 $ROOT/t/tools/trstream.py'
	assert_output --partial '"stack": ["outer"]'
	[[ $stderr == *'bare: no inlined functions: has no debug information'* ]]
	frames c "$(nm c | awk '$3 == "main" { print $1 }')" >main.trs
	run -0 --separate-stderr pipe 'trsym -i main.trs | python3 $ROOT/t/tools/trstream.py'
	assert_output --partial '"stack": ["main"]'
	[ -z "$stderr" ]
}
