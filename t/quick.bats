# make quick: t/quick.sh chooses the units, fuzz targets and files of tests that concern a change.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
}

# tree FILE...: a tree of empty files, and the script
tree() {
	local file
	for file in "$@"; do
		mkdir -p "$(dirname "$file")"
		: >"$file"
	done
	mkdir -p t/tools
	cp "$ROOT/t/quick.sh" t
	cp "$ROOT/t/tools/includes.py" t/tools
}

# chooses FILE... -- NAME...: those are chosen for these files, and no others
chooses() {
	local files=()
	while [[ $1 != -- ]]; do
		files+=("$1")
		shift
	done
	run -0 t/quick.sh "${files[@]}"
	assert_output "$(printf '%s\n' "${@:2}")"
}

@test "a source of a program: the tests and units that have the longest beginning of its name" {
	tree cmd/trdecode/{perf,perf_unwind,perf_script,chrome_rows}.c cmd/trencode/chrome.c cmd/trstat/{diff,fail_if}.c \
		t/{perf,perf_kernel,perf_script,perfect,chrome,encode_chrome,stat_diff,stat_alarm,decode_chrome}.bats \
		t/unit/decode/{perf_chains,perf_script_lines,chrome}.c t/unit/encode/chrome.c t/fuzz/{perf,perf_script,driver}.c
	chooses cmd/trdecode/perf_unwind.c -- fuzz/perf t/perf.bats t/perf_kernel.bats t/perf_script.bats \
		unit/decode/perf_chains unit/decode/perf_script_lines
	chooses cmd/trdecode/perf_script.c -- fuzz/perf_script t/perf_script.bats unit/decode/perf_script_lines
	chooses cmd/trdecode/chrome_rows.c -- t/chrome.bats t/decode_chrome.bats unit/decode/chrome
	chooses cmd/trencode/chrome.c cmd/trstat/diff.c -- t/encode_chrome.bats t/stat_diff.bats unit/encode/chrome
	chooses cmd/trdecode/folded.c -- t/samples.bats # another name
}

@test "a header: the units that name it; of common, what concerns the sources that read it" {
	tree t/{ctf,encode_ctf,stat_diff,decode}.bats common/util/{heap,list,all}.c cmd/trdecode/{ctf,input}.c \
		cmd/trencode/ctf.c cmd/trstat/diff.c t/unit/{decode/window,stat/pair,util/heap}.c
	echo '#include "common/util/heap.h"' >common/util/list.h
	echo '#include "common/util/all.h"' >common/util/heap.h
	: >common/util/all.h
	echo '#include "common/util/heap.h"' | tee cmd/trdecode/ctf.c >t/unit/stat/pair.c
	echo '#include "common/util/list.h"' >cmd/trencode/ctf.c
	echo '#include "cmd/trdecode/input.h"' >t/unit/decode/window.c
	: >cmd/trdecode/input.h
	chooses common/util/heap.h -- t/ctf.bats t/encode_ctf.bats unit/stat/pair unit/util/heap
	# what it declares is in its header
	chooses common/util/heap.c -- t/ctf.bats t/encode_ctf.bats unit/stat/pair unit/util/heap
	chooses common/util/list.c -- t/encode_ctf.bats
	chooses cmd/trdecode/input.c -- t/decode.bats unit/decode/window
	# where many sources read it, the few that name it count; where these are many, a message says so
	for i in {1..30}; do
		echo '#include "common/util/heap.h"' >"cmd/trdecode/x$i.c"
	done
	run -0 --separate-stderr t/quick.sh common/util/heap.h
	assert_output $'unit/stat/pair\nunit/util/heap'
	assert_equal "$stderr" 'quick.sh: 31 sources of programs include common/util/heap.h: make check'
}

@test "files of t: themselves, or what loads, includes or names them" {
	tree t/{a,b,c}.bats t/unit/util/{text,u128}.c t/fuzz/{perf,driver}.c t/{many,lib}.bash t/tools/{model.py,other.py}
	printf '\tload many\n' >t/a.bats
	echo 'python3 t/tools/model.py; "$RECORDED"/uftrace/fib' >t/b.bats
	echo '$DATA/perf/flat.data' >t/c.bats
	echo '#include "t/unit/help.h"' >t/unit/util/text.c
	: >t/unit/help.h
	chooses t/c.bats -- t/c.bats
	chooses t/gone.bats t/unit/gone/gone.c -- ''
	chooses t/unit/util/u128.c t/fuzz/perf.c t/fuzz/corpus/perf/x -- fuzz/perf unit/util/u128
	chooses t/unit/help.h -- unit/util/text
	chooses t/many.bash -- t/a.bats
	chooses t/tools/model.py t/tools/other.py -- t/b.bats
	chooses t/data/recorded/uftrace.tar.xz -- t/b.bats
	chooses t/data/perf/flat.data -- t/c.bats
	run -0 --separate-stderr t/quick.sh t/lib.bash
	refute_output
	assert_equal "$stderr" 'quick.sh: t/lib.bash concerns all tests: make check'
}

@test "without names: what differs from HEAD, staged, not staged, not added, removed; no ignored files" {
	need git
	tree t/{ctf,perf,lttng,chrome,tree}.bats cmd/trdecode/{ctf,perf,lttng,chrome}.c NEWS
	echo '*.o' >.gitignore
	run -2 --separate-stderr bash -c 't/quick.sh || exit 2'
	assert_equal "$stderr" 'quick.sh: no repository: give the names of the files'
	git init -q .
	git add .
	git -c user.name=a -c user.email=a@b commit -q -m a
	run -0 t/quick.sh
	refute_output
	touch cmd/trdecode/ctf.o
	run -0 t/quick.sh
	refute_output
	echo >>cmd/trdecode/ctf.c
	echo >>cmd/trdecode/perf.c
	git add cmd/trdecode/perf.c
	git rm -q cmd/trdecode/lttng.c
	: >cmd/trdecode/chrome_new.c
	run -0 t/quick.sh
	assert_output "$(printf 't/%s.bats\n' chrome ctf lttng perf)"
	git -c user.name=a -c user.email=a@b commit -q -a -m b
	rm cmd/trdecode/chrome_new.c
	echo >>NEWS
	run -0 t/quick.sh
	assert_output t/tree.bats
}

@test "each source of a program has tests, and the names in t/quick.sh are of files that exist" {
	cd "$ROOT"
	# shellcheck source=t/quick.sh
	source t/quick.sh
	while IFS= read -r file; do
		[[ $(of_file "$file" tests) ]] || fail "no test concerns $file: name a file of tests so, or add it to t/quick.sh"
	done < <(find cmd -name '*.[ch]')
	mapfile -t all < <(find CONTRIBUTING NEWS README* SECURITY Makefile cmd common man[0-9] doc packaging python t -type f)
	while IFS=$'\t' read -r pattern names; do
		match=
		for file in "${all[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $pattern ]] || match=1
		done
		[[ $match ]] || fail "no file is $pattern"
		for name in $names; do
			[[ -e t/$name.bats ]] || fail "no t/$name.bats"
		done
	done < <(other_names)
}

@test "make builds and runs what is chosen, and says so if that is nothing" {
	need make
	cp "$ROOT/Makefile" .
	tree cmd/trsym/main.c common/util/version.h t/unit/util/text.c t/sym.bats
	printf '#!/bin/bash\necho "check: $*"\n' >t/check.sh
	chmod +x t/check.sh
	run -0 make -n O=b CHANGED='cmd/trsym/main.c t/unit/util/text.c' quick-tests
	assert_line --regexp 't/unit/util/text\.o'
	assert_line --regexp '^t/check.sh b/bin b/obj-[0-9]*/t t/sym.bats .*unit/util/text$'
	run -0 make -n O=b CHANGED=.gitignore quick-tests
	refute_line --regexp 't/unit/util/text\.o'
	assert_line --regexp 'no test concerns what changed'
	run -0 make help
	assert_line --regexp '^quick  '
}

@test "recordings: those that the files of tests name, or files that they load, are unpacked" {
	tree t/{a,b,c,d}.bats
	echo '# the uftrace that is installed, and $DATA/ctf' >t/a.bats
	echo 'trdecode "$RECORDED"/{uftrace/fib,lttng-legacy/x}' >t/b.bats
	printf 'load lib\nload helper\n' >t/c.bats
	echo 'cat "$RECORDED/trace-cmd/x"; cat ctf-babeltrace' >t/helper.bash
	mkdir -p t/data/recorded
	touch t/data/recorded/{uftrace,lttng-legacy,trace-cmd,ctf,apitrace}.tar.xz
	# shellcheck source=t/setup_suite.bash
	source "$ROOT/t/setup_suite.bash"
	unpacked() {
		recordings t | sed 's|.*/||; s|\.tar\.xz||' | paste -sd ' '
	}
	BATS_UNIQUE_TEST_FILENAMES=("$PWD/t/a.bats")
	assert_equal "$(unpacked)" ''
	BATS_UNIQUE_TEST_FILENAMES=(t/b.bats)
	assert_equal "$(unpacked)" 'lttng-legacy uftrace'
	BATS_UNIQUE_TEST_FILENAMES=(t/a.bats t/c.bats)
	assert_equal "$(unpacked)" trace-cmd
	BATS_UNIQUE_TEST_FILENAMES=()
	assert_equal "$(unpacked)" 'ctf lttng-legacy trace-cmd uftrace'
}
