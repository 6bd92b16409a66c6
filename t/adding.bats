# doc/adding-a-format.md: what it adds, built in a copy of the tree.

load lib

# Add the line for a toy format to a table.
add_format() {
	sed -i 's/^#define TR[A-Z]*_FORMATS(F).*/&\n\tF(toy) \\/' "$1"
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local page=$ROOT/doc/adding-a-format.md objects
	objects=$(realpath "$BIN/trdecode")
	objects=${objects%/trdecode}
	# The objects of the tree are reused, whatever made them: only what changes is built.
	mkdir -p t/unit "build/${objects##*/}/cmd"
	cp -a "$ROOT"/{Makefile,cmd,common} .
	cp -a "$objects"/{common,libtr.a} "build/${objects##*/}"
	cp -a "$objects"/cmd/{trdecode,trencode,trstat} "build/${objects##*/}/cmd"
	# they may have been built elsewhere, as by make asan
	find build -name '*.d' -exec sed -i "s,[^ ]*/${objects##*/}/,build/${objects##*/}/,g" {} +

	cp "$ROOT/doc/toy/decoder.c" cmd/trdecode/toy.c
	cp "$ROOT/doc/toy/encoder.c" cmd/trencode/toy.c
	add_format cmd/trdecode/formats.h
	add_format cmd/trencode/formats.h
	sed -n 's/^    \(VALUE(spread.*\)/\1/p' "$page" >value
	sed -n 's/^    \({"spread".*\)/\1/p' "$page" >row
	sed -i -e '/^VALUE(count/r value' -e '/^const struct column_type column_types/r row' \
		cmd/trstat/table.c
	make -s O=build HASH="${objects##*-}" WERROR=1 build/bin/tr{decode,encode,stat} >log 2>&1 ||
		{ cat log >&2; return 1; }
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	PATH=$PWD/build/bin:$PATH
	TOY=$ROOT/doc/toy/toy.trace
}

@test "the sources of the page are short" {
	[ "$(grep -cv '^[[:space:]]*\(/\?\*.*\)\?$' "$ROOT/doc/toy/decoder.c")" -lt 160 ]
	[ "$(wc -l <"$ROOT/doc/toy/encoder.c")" -lt 60 ]
}

@test "the toy format: recognised, decoded, filtered, counted, merged" {
	run -0 trdecode --info "$TOY"
	assert_line --regexp '^format +toy$'
	trdecode --help | grep -q ' toy '
	trdecode -f toy <"$TOY" - >toy.trs
	run -0 trstat -t tsv -g name,kind -c count toy.trs
	assert_line $'main\tcall\t1'
	assert_line $'queue\tcounter\t2'
	run -0 trfilter -c 'number > 0' toy.trs
	assert_output 1
	run -0 pipe 'trfilter "name == \"f\"" toy.trs | trencode -t tsv --no-header --columns time,dur,name'
	assert_output $'1500\t1000\tf'
	run -0 pipe "cp '$TOY' other; trdecode --offset other=1ms '$TOY' other | trfilter -c true"
	assert_output 10
}

@test "damage of a toy trace is reported, and the rest is decoded" {
	{ cat "$TOY"; echo 'no event'; echo '9000 1 +end'; } >bad.toy
	run -1 --separate-stderr trdecode -o bad.trs bad.toy
	assert_equal "$stderr" 'trdecode: bad.toy: 0x69: not a toy event'
	run -1 --separate-stderr trfilter -c 'name == "end"' bad.trs
	assert_output 1
}

@test "the toy output is the toy input" {
	trdecode "$TOY" | trencode -t toy -o back.toy
	cmp "$TOY" back.toy
	trencode --formats | grep -q '^toy '
}

@test "the column" {
	run -0 pipe "trdecode '$DATA/uftrace/fib' | trsym | trstat -t tsv -g name -c total_max,total_min,spread"
	awk -F'\t' 'NR > 1 && $2 != "" && $2 - $3 != $4 { bad = 1 } END { exit bad || NR < 3 }' <<<"$output"
}
