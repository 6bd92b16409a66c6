#!/bin/bash
# The main job on a small recording: where did the time go?
# usage: t/demo.sh --before OBJ    say what make demo is about to build into OBJ
#        t/demo.sh BIN             run the programs of BIN
cd "$(dirname "$0")/.." || exit
if [[ $1 == --before ]]; then
	todo=$(find cmd common -name '*.c' | while read -r file; do
		[[ $2/${file%.c}.o -nt $file ]] || echo "$file"
	done | wc -l)
	((todo)) || exit 0
	# some 0.11 s of a processor for each file
	echo "Building the programs from $todo files: about $((todo * 11 / 100 / $(nproc) + 1)) s on $(nproc) processor(s)."
	exit
fi
bin=$(realpath "$1")
PATH=$bin:$PATH
set -o pipefail
echo '$ trdecode t/data/uftrace/fib | trsym | trstat'
trdecode t/data/uftrace/fib | trsym | trstat || exit
cat <<END

The programs are in $bin. To run the examples of the README in this shell:

    PATH=$bin:\$PATH

or install them with the pages: sudo make install
END
