#!/bin/bash
# What no compiler looks at: sources, man pages, scripts, the direction of includes.
# usage: t/lint.sh LIBTR.A
set -u
library=$(realpath "$1")
# shellcheck source=t/complain.bash
. "${BASH_SOURCE[0]%/*}/complain.bash"
cd "$(dirname "$0")/.." || exit

mapfile -t sources < <(find cmd common python t doc -name '*.[ch]' | sort)
mapfile -t scripts < <(find t packaging .ci -name '*.sh' -o -name '*.bash' -o -path t/fuzz/run \
	-o -path .ci/run | sort)
mapfile -t texts < <(find Makefile README* man1 man3 man5 man7 t/*.bats -type f | sort)

clang-format --dry-run -Werror "${sources[@]}" 2>&1 | sed -n 's/^\([^ :]*\):[0-9].*error: .*/\1/p' |
	uniq -c | complain 'clang-format -i wanted (places, file)'
grep -nE '[[:blank:]]+$' "${sources[@]}" "${scripts[@]}" "${texts[@]}" | complain 'trailing blanks'
mandoc -Tlint -Wwarning man[1357]/*.[1357] 2>&1 | complain 'man pages'
# groff, unlike mandoc, breaks each word of a cell that its column has no place for
for page in man[1357]/*.[1357]; do
	groff -mdoc -Tutf8 -Kutf8 -rLL=78n -ww "$page" 2>&1 >/dev/null | sed "s|^|$page: |"
done | complain 'man pages in 80 columns'
shellcheck -x "${scripts[@]}" 2>&1 | complain 'shellcheck'
# variables that bats sets or a test's subshell changes
shellcheck -x -s bats -S warning -e SC2030,SC2031,SC2154 t/*.bats 2>&1 | complain 'shellcheck of bats'

t/tree.sh | complain 'source tree'
t/sizes.sh | complain 'sizes'

# The library keeps no state and never ends the process. What a process has once is of the programs,
# which alone set it: its command line and the files of expressions that this names, the locale by
# which characters have a width, that a signal came, that memory was lacking, what was printed,
# temporary files.
of_process='aligned.o: tried|aligned.o: utf8|error.o: command|expression.o: files|program.o: line|program.o: remarks|error.o: said|error.o: prints_errors|output.o: stop|memory.o: failed|output.o: names'
objdump -t "$library" | awk '/^.*:  *file format/ { file = $1 }
	($4 == ".data" || $4 == ".bss" || $3 == ".data" || $3 == ".bss") && / O / { print file, $NF }' |
	sed 's/ [a-z_]*\.\([a-z]\)/ \1/' |
	grep -vE "^($of_process)(\.[0-9]+)?$" |
	complain 'global state in common'
# memory_exit: what libdw calls without memory must not return; a worker, which ends where its work does
nm -A --undefined-only "$library" 2>/dev/null | grep -wE '_?exit|abort|_Exit|err|errx|__assert_fail' |
	grep -vE ':(memory|workers)\.o: *U _exit$' |
	complain 'common ends the process'

((bad == 0)) && echo 'lint: nothing to complain about'
exit $bad
