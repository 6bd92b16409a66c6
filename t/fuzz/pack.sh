#!/bin/bash
# Pack a directory as an input of the fuzz targets uftrace, lttng and ctf: of each file at most
# LIMIT bytes (3000; less of tables of symbols, more of uftrace's info).
# usage: t/fuzz/pack.sh DIR [LIMIT] >t/fuzz/corpus/uftrace/NAME
most=${2:-3000}
cd "$1" || exit

# le16 N: two bytes
le16() {
	printf '%b' "$(printf '\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8)))"
}

find . -type f -printf '%P\n' | LC_ALL=C sort | while read -r f; do
	limit=$most
	case $f in
	lib[a-oq-z]*.sym | ld-*.sym | lib*.dbg | kallsyms) continue ;;
	*.sym | *.dbg) limit=1200 ;;
	info | metadata) limit=60000 ;;
	esac
	size=$(stat -c %s -- "$f")
	((size = size < limit ? size : limit))
	printf '%b' "$(printf '\\x%02x' ${#f})"
	le16 "$size"
	printf '%s' "$f"
	head -c "$size" -- "$f"
done
printf '\0'
