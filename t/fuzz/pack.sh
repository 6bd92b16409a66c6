#!/bin/bash
# Pack a uftrace directory as an input of the fuzz target uftrace; long files are cut.
# usage: t/fuzz/pack.sh DIR >t/fuzz/corpus/uftrace/NAME
cd "$1" || exit

# le16 N: two bytes
le16() {
	printf '%b' "$(printf '\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8)))"
}

for f in *; do
	limit=3000
	case $f in
	lib[a-oq-z]*.sym | ld-*.sym | lib*.dbg | kallsyms | kernel*) continue ;;
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
