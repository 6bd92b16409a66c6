# The rules of the source tree (t/tree.sh): they are kept, and a violation in any folder is found.

load lib

@test "the source tree keeps its rules" {
	run -0 "$ROOT/t/tree.sh"
	refute_output
}

@test "functions keep their sizes, names are unique, and no headers include each other" {
	need ctags
	run -0 "$ROOT/t/sizes.sh"
	refute_output
}

# oversized NAME: a source with a struct NAME, a function of 61 lines and one of 7 parameters
oversized() {
	printf 'struct %s {\n\tint f;\n};\n\n' "$1"
	printf 'void many(int a, int b, int c, int (*d)(int, int), int e, int f, int g);\n\n'
	printf 'int long_one(int (*a)(int, int, int), int b, int c, int d, int e, int f)\n{\n'
	yes '' | head -n 58
	printf '}\n\nint many(int a, int b, int c, int (*d)(int, int), int e, int f, int g)\n{\n}\n'
}

@test "sizes: functions and headers beyond the limits, and names that occur twice, are found in any folder" {
	need ctags
	mapfile -t folders < <(cd "$ROOT" && find cmd common -name '*.c' -printf '%h\n' | sort -u)
	((${#folders[@]} > 12))
	cd "$BATS_TEST_TMPDIR"
	mkdir -p sizes/t
	for folder in "${folders[@]}"; do
		mkdir -p "sizes/$folder"
		oversized "of_${folder//\//_}" >"sizes/$folder/planted.c"
		printf '#include "%s/b.h"\nstruct of_%s {\n\tint g;\n};\n' "$folder" "${folder//\//_}" >"sizes/$folder/a.h"
		echo "#include \"$folder/a.h\"" >"sizes/$folder/b.h"
	done
	run -1 "$ROOT/t/sizes.sh" sizes
	missing=$(for folder in "${folders[@]}"; do
		printf '%s\n' "$folder/planted.c: "{'long_one: 61 lines','many: 7 parameters'} \
			"tag of_${folder//\//_}: $folder/a.h $folder/planted.c"
		grep -qE "^function many:.* $folder/planted.c( |$)" <<<"$output" || echo "function many $folder"
		grep -qF "$folder/a.h" <<<"$output" || echo "$folder/a.h"
	done | grep -vxFf <(echo "$output")) || true
	[[ -z $missing ]] || fail "not found: $missing"
}

@test "sizes: a file without a comment at its head is found, whatever its language" {
	need ctags
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/{cmd/trsym,common/util,t/tools,t/unit/util,doc}
	echo 'int one;' | tee tree/cmd/trsym/a.c tree/common/util/a.h >tree/doc/a.c
	printf '/* links: cmd/trsym */\nint one;\n' >tree/t/unit/util/a.c
	printf '#!/bin/bash\necho\n' | tee tree/t/a.sh >tree/t/tools/a.py
	printf 'load lib\n' >tree/t/a.bats
	printf '/* links: cmd/trsym */\n/* One. */\nint one;\n' >tree/t/unit/util/good.c
	printf '#!/usr/bin/env python3\n"""One."""\n' >tree/t/tools/good.py
	printf '#!/bin/bash\n# One.\n' >tree/t/good.sh
	run -1 "$ROOT/t/sizes.sh" tree
	assert_output "files without a comment at their head:
$(printf '%s\n' cmd/trsym/a.c common/util/a.h doc/a.c t/a.bats t/a.sh t/tools/a.py t/unit/util/a.c)"
}

@test "sizes: external functions that one file of their folder calls are counted" {
	need ctags
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/{cmd/trsym,common/util}
	printf '/* A. */\nint of_header(void);\nstatic inline int inlined(void)\n{\n\treturn of_header();\n}\n' >tree/cmd/trsym/a.h
	printf '%s\n' '/* A. */' 'int of_header(void)' '{' '}' 'static int hidden(int a)' '{' '}' \
		'int two_files(void)' '{' '}' 'struct a *one_file(int a,' '		   int b)' '{' '}' 'int itself(void)' '{' '}' \
		'int far(void)' '{' '}' >tree/cmd/trsym/a.c
	printf '%s\n' '/* B. */' 'static int hidden(int a)' '{' '	return one_file(1, 2)->a + two_files(); /* itself() */' '}' \
		'static const char *text = "itself()";' >tree/cmd/trsym/b.c
	printf '%s\n' '/* C. */' 'static int other(void)' '{' '	return two_files() + of_header();' '}' >tree/cmd/trsym/c.c
	printf '%s\n' '/* D. */' 'static int third(void)' '{' '	return far();' '}' >tree/common/util/d.c
	run -0 "$ROOT/t/tools/callers.py" -C tree
	assert_output 'one_file cmd/trsym/a.c cmd/trsym/b.c'
	run -0 "$ROOT/t/tools/callers.py" -C tree count
	assert_output 1
	{
		echo '/* E. */'
		printf 'int many%d(void)\n{\n}\n' {1..2000}
	} >tree/cmd/trsym/e.c
	{
		printf '/* F. */\nstatic int all(void)\n{\n'
		printf '\tmany%d();\n' {1..2000}
		echo '}'
	} >tree/cmd/trsym/f.c
	run -1 "$ROOT/t/sizes.sh" tree
	assert_line --partial '2001 external functions, at most '
}

@test "sizes: headers that an object reads, itself or through others, are counted" {
	need ctags
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/{common/util,t}
	for i in {1..40}; do
		printf '/* One. */\n#include "common/util/h%d.h"\n' $((i + 1)) >tree/common/util/h$i.h
	done
	echo '/* Last. */' >tree/common/util/h41.h
	printf '/* A. */\n#include "common/util/h1.h"\n' >tree/common/util/a.c
	printf '/* B. */\n#include "common/util/h40.h"\n' >tree/common/util/b.c
	run -0 "$ROOT/t/tools/includes.py" -C tree headers
	assert_line --index 0 '2 common/util/h40.h'
	assert_line --index 1 '2 common/util/h41.h'
	assert_line --index 2 '1 common/util/h1.h'
	run -0 "$ROOT/t/tools/includes.py" -C tree readers common/util/h41.h common/util/h2.h
	assert_output 'common/util/h2.h common/util/a.c
common/util/h41.h common/util/a.c
common/util/h41.h common/util/b.c'
	run -0 "$ROOT/t/tools/includes.py" -C tree named common/util/h41.h common/util/h40.h
	assert_output 'common/util/h40.h common/util/b.c'
	run -1 "$ROOT/t/sizes.sh" tree
	assert_line --partial '21.50 headers for each object, at most '
}

@test "what includes.py finds is what the compiler has read" {
	built=$(realpath "$BIN/trdecode")
	built=${built%/trdecode}
	[[ -e $built/common/util/buffer.d ]] || skip 'no objects'
	run -0 "$ROOT/t/tools/includes.py" -C "$ROOT" compare "$built"
	refute_output
}

@test "a violation in any folder of sources is found" {
	mapfile -t folders < <(cd "$ROOT" && find cmd common -name '*.c' -printf '%h\n' | sort -u)
	((${#folders[@]} > 12))
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/t
	for folder in "${folders[@]}"; do
		mkdir -p "tree/$folder"
		{
			# no program and no folder of common may include this
			if [[ $folder == cmd/trsym* ]]; then
				echo '#include "cmd/trstat/planted.h"'
			else
				echo '#include "cmd/trsym/planted.h"'
			fi
			echo '/* made anew */'
		} >"tree/$folder/planted.c"
	done
	run -1 "$ROOT/t/tree.sh" tree
	said=$(sed -E 's/:1: .*(common only).*/: \1/; s/:2:.*(made anew).*/: \1/' <<<"$output")
	missing=$(for folder in "${folders[@]}"; do
		printf '%s\n' "$folder/planted.c: "{'common only','made anew'}
	done | grep -vxFf <(echo "$said")) || true
	[[ -z $missing ]] || fail "not found: $missing"
}

@test "a word that the glossary replaces is found in documents, across lines too" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/t
	printf 'A map that stands\nfor a type.\n' >tree/CONTRIBUTING
	printf '# Nobody reads this\n' >tree/t/a.bats
	printf '/* the first event\n * behind\n * the gap */\n' >tree/t/a.c
	run -1 "$ROOT/t/tree.sh" tree
	assert_line 'CONTRIBUTING:2: A map that stands for a type.'
	assert_line 't/a.bats:1: Nobody reads this'
	assert_line 't/a.c:3: behind the gap */'
}

@test "a comment that names a file that does not exist is found, one of another project is not" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/{cmd,common/util,t}
	printf '/* Calls overlap (input/calls.h), as\n * util/there.h has it. Source: kernel/trace/trace.c */\n' >tree/common/util/there.h
	printf '#include "gone.h"\nint f(void); /* of gone*.c: of 1.c */ /* gone.h */\n' >tree/common/util/a.c
	run -1 "$ROOT/t/tree.sh" tree
	assert_line 'common/util/there.h:1: input/calls.h'
	assert_line 'common/util/a.c:2: gone*.c'
	assert_line 'common/util/a.c:2: gone.h'
	refute_line --partial 'trace.c'
	refute_line --partial ': util/there.h'
}

@test "a recipe of the Makefile that the shell cannot run is found" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/{cmd,common,t}
	printf 'a:\n\t$(AGAIN) all\n\tX=1 $(AGAIN) all\n' >tree/Makefile
	run -1 "$ROOT/t/tree.sh" tree
	assert_line $'3:\tX=1 $(AGAIN) all'
	refute_line --partial '2:'
}

@test "an include upwards in common, and one that does not start at the top, are found" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/{cmd/trsym,common/{util,stream,value,calls,expr},t}
	echo '#include "common/value/value.h"' >tree/common/stream/up.c
	echo '#include "common/calls/calls.h"' >tree/common/value/up.c
	echo '#include "common/calls/calls.h"' >tree/common/expr/down.c
	echo '#include "buffer.h"' >tree/common/util/short.c
	run -1 "$ROOT/t/tree.sh" tree
	assert_line --partial 'common/stream/up.c:1: "common/value/value.h" is not below common/stream'
	assert_line --partial 'common/value/up.c:1: "common/calls/calls.h" is not below common/value'
	assert_line --partial 'common/util/short.c:1: "buffer.h" is not named from the top of the tree'
	refute_line --partial 'down.c'
}

@test "the top level has only the files that all projects have, and a folder for each purpose" {
	git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip 'no repository'
	git -C "$ROOT" ls-files | cut -d / -f 1 | sort -u >"$BATS_TEST_TMPDIR/top"
	# README.md is a link to README, for web pages that show it
	LC_ALL=C tr ' ' '\n' <<<'.ci .clang-format .gitignore CONTRIBUTING LICENSE Makefile NEWS README README.md SECURITY cmd common doc man1 man3 man5 man7 packaging python t' |
		sort | diff - "$BATS_TEST_TMPDIR/top"
	[ "$(readlink "$ROOT/README.md")" = README ]
}
