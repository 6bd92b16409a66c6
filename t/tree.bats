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
	LC_ALL=C tr ' ' '\n' <<<'.ci .clang-format .gitignore CONTRIBUTING LICENSE Makefile NEWS README README.md SECURITY cmd common doc man1 man3 man5 man7 packaging t' |
		sort | diff - "$BATS_TEST_TMPDIR/top"
	[ "$(readlink "$ROOT/README.md")" = README ]
}
