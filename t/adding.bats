# doc/adding-a-format.md: what it adds, built in a copy of the tree.

load lib

# Add the line for a toy format to a table.
add_format() {
	sed -i 's/^#define TR[A-Z]*_FORMATS(F).*/&\n\tF(toy) \\/' "$1"
}

# rows PAGE HEADING: the rows of the tables whose first cell of the head begins so
rows() {
	awk -v heading="| $2" '
		/^\|/ { if (!table) { table = 1; wanted = !index($0, heading) ? 0 : 1; next } if (wanted && !/^\|-/) print; next }
		{ table = 0 }' "$1"
}

# cells N: the words in backticks of a cell of each row, one a line
cells() {
	cut -d '|' -f $(($1 + 1)) | grep -oE '`[^`]+`' | tr -d '`'
}

# The names in the second cell of a row, without the files
identifiers() {
	cells 2 | sed 's/^struct //' | grep -xE '[A-Za-z_]\w*'
}

# Print what the table of helpers of a page names that does not exist: in the row's headers, in the decoder.
helpers_missing() {
	local row name file headers decoders
	cd "$ROOT" || return
	rows "$1" 'what you need' | while IFS= read -r row; do
		headers=() decoders=()
		for name in $(cells 2 <<<"$row" | grep '\.h$'); do
			[[ $name == */* ]] || name=cmd/trdecode/$name
			[[ -e $name ]] && headers+=("$name") || echo "no header $name"
		done
		for name in $(cells 3 <<<"$row"); do
			[[ $name == */* ]] && file=$name || file=cmd/trdecode/$name
			[[ -e $file ]] && decoders+=("$file") || echo "no decoder $file"
		done
		if ((!${#headers[@]} || !${#decoders[@]})); then
			echo "no header or no decoder: $row"
			continue
		fi
		while read -r name; do
			grep -qw -e "$name" "${headers[@]}" || echo "$name: not in ${headers[*]}"
			grep -qw -e "$name" "${decoders[@]}" || echo "$name: not in ${decoders[*]}"
		done < <(identifiers <<<"$row")
		for file in "${decoders[@]}"; do
			grep -qwE -e "$(identifiers <<<"$row" | paste -sd '|')" "$file" ||
				echo "$file uses nothing of: $row"
		done
	done
}

# Print the files of a page that do not exist; those of the toy are made from it.
files_missing() {
	local name
	cd "$ROOT" || return
	grep -oE '`[^` ]+/[^` ]+`' "$1" | tr -d '`' | sort -u | while read -r name; do
		[[ $name == @(t|cmd/*)/*toy.@(c|bats) || -e ${name%%\**} ]] || echo "$name"
	done
}

# pages_of NAME...: the pages, documents and headers of tables that have all these names
pages_of() {
	local name
	local -a pages
	cd "$ROOT" || return
	mapfile -t pages < <(find README NEWS man? doc/*.md packaging -type f ! -name adding-a-format.md
		echo cmd/trstat/table.h)
	for name in "$@"; do
		mapfile -t pages < <(grep -lwF -e "$name" "${pages[@]}")
		((${#pages[@]})) || break
	done
	((${#pages[@]})) && printf '%s\n' "${pages[@]}"
}

# Print the pages that list all formats or columns, or name the rarest ones, and are not in the page's tables.
pages_missing() {
	local page=$1
	comm -13 <(sed '/^## An output format/,$d' "$page" >input.md; rows input.md 'what names the formats' | cells 1 | sort) \
		<({
			# shellcheck disable=SC2046 # names
			pages_of $("$BIN/trdecode" --complete-options | grep '^-f ' | cut -f 3 | tr ' ' '\n' | grep -vx stream)
			pages_of glprofile
		} | sort -u)
	comm -13 <(sed '1,/^## An output format/d' "$page" >output.md; rows output.md 'what names the formats' | cells 1 | sort) \
		<({
			# shellcheck disable=SC2046 # names
			pages_of $("$BIN/trencode" --formats | cut -d ' ' -f 1)
		} | sort -u)
	comm -13 <(rows "$page" 'what names the columns' | cells 1 | sort) \
		<(pages_of total_stdev self_percent p99.9 uniq rate util | sort -u)
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
	make -s O=build HASH="${objects##*-}" WERROR=1 CFLAGS='-O0 -g0 -U_FORTIFY_SOURCE' build/bin/tr{decode,encode,stat} >log 2>&1 ||
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
	trdecode --help=all | grep -q ' toy '
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
	assert_equal "$stderr" "$(printf 'trdecode: bad.toy: 0x%x: not a toy event' "$(wc -c <"$TOY")")"
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

@test "what the page names is there: functions in their headers, decoders that use them, files" {
	page=$ROOT/doc/adding-a-format.md
	[ "$(rows "$page" 'what you need' | wc -l)" -ge 20 ]
	run -0 helpers_missing "$page"
	refute_output
	run -0 files_missing "$page"
	refute_output
	sed 's/`row_queue_put`/`row_queue_gone`/; s/`sorter\.h`/`gone.h`/; s/| `pprof\.c` |/| `folded.c` |/
		s/, `tracecmd\.c` |/, `gone.c` |/; s|`t/fuzz/keep.sh`|`t/fuzz/gone.sh`|' "$page" |
		grep -E '^\| what you need|^\|-|gone|`folded\.c`' >"$BATS_TEST_TMPDIR/wrong.md"
	run -0 helpers_missing "$BATS_TEST_TMPDIR/wrong.md"
	assert_line --partial 'row_queue_gone: not in cmd/trdecode/rows.h'
	assert_line 'no header cmd/trdecode/gone.h'
	assert_line 'no decoder cmd/trdecode/gone.c'
	assert_line --partial 'cmd/trdecode/folded.c uses nothing of: | messages of Protocol Buffers'
	run -0 files_missing "$BATS_TEST_TMPDIR/wrong.md"
	assert_output t/fuzz/gone.sh
}

@test "the page names each page that lists the formats or the columns" {
	page=$ROOT/doc/adding-a-format.md
	cd "$BATS_TEST_TMPDIR"
	run -0 pages_missing "$page"
	refute_output
	grep -vE '^\| `(man5/trstream-sources.5|doc/design.md|man1/trencode.1|cmd/trstat/table.h)`' "$page" >wrong.md
	run -0 pages_missing wrong.md
	for name in man5/trstream-sources.5 doc/design.md man1/trencode.1 cmd/trstat/table.h; do
		assert_line "$name"
	done
}

@test "the stack of a leave is no stack of the event, as the page says" {
	grep -q '^\* A field with the role STACK of any other row (a LEAVE' "$ROOT/doc/adding-a-format.md"
	PYTHONPATH=$ROOT/t/tools python3 - >"$BATS_TEST_TMPDIR/x.trs" <<-'END'
		import struct, sys
		import streams_writer as w
		words = w.Dictionary()
		stack_field = lambda: [w.field("stack", w.UINT, w.FIXED, 0, 4, role=12)]
		kinds = [words.type("c", w.ENTER), words.type("c", w.LEAVE, fixed=4, fields=stack_field()),
		         words.type("i", w.INSTANT, fixed=4, fields=stack_field())]
		lane, place = words.lane(tid=1), words.location("f")
		stack = words.stack(0, words.location("outer"))
		rows = [w.narrow(0, 0, location=1), w.narrow(5, 1, location=1, parts=struct.pack("<I", stack)),
		        w.narrow(1, 2, parts=struct.pack("<I", stack))]
		sys.stdout.buffer.write(w.marker() + w.head() + words.block() + w.events(0, rows, kinds, [lane], [place], stacks=[stack]) +
		    w.end(3, last=6))
	END
	cd "$BATS_TEST_TMPDIR"
	run -0 pipe 'trencode -q x.trs | grep -c outer'
	run -0 pipe 'trfilter -q -c "stack =~ \"outer\"" x.trs'
	assert_output 1
	run -0 pipe 'trfilter -q -c "stack =~ \"outer\" && kind != instant" x.trs'
	assert_output 0
}
