# Made recordings of uftrace, of any number of tasks.

# le N: REPLY is N as eight bytes in little-endian order, for printf %b
le() {
	printf -v REPLY '\\x%02x\\x%02x\\x%02x\\x%02x\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) \
		$(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)) $(($1 >> 32 & 255)) \
		$(($1 >> 40 & 255)) $(($1 >> 48 & 255)) $(($1 >> 56 & 255))
}

# record TIME WORD
record() {
	local time
	le "$1"
	time=$REPLY
	le "$2"
	printf '%b' "$time$REPLY"
}

# records_from FIRST N: the records FIRST and on, calls of the function work, 100 ns apart
records_from() {
	printf '%b' "$(awk -v first="$1" -v n="$2" '
		function le(v, s, i) {
			for (i = 0; i < 8; i++) {
				s = s sprintf("\\x%02x", v % 256)
				v = int(v / 256)
			}
			return s
		}
		BEGIN { # 0x401000 << 16 | 0x28 | i % 2
			for (i = first; i < first + n; i++)
				printf "%s%s", le(1000000 + i * 100), le(4198400 * 65536 + 40 + i % 2)
		}')"
}

records() {
	records_from 0 "$1"
}

# many DIR N FILE: a recording of N tasks, 1000 and on, each with the content of FILE
many() {
	local dir=$1 n=$2 size
	mkdir "$dir"
	cat "$3" >"$dir/all"
	size=$(stat -c %s "$dir/all")
	while (($(stat -c %s "$dir/all") < n * size)); do
		cat "$dir/all" "$dir/all" >"$dir/twice"
		mv "$dir/twice" "$dir/all"
	done
	truncate -s $((n * size)) "$dir/all"
	split -b "$size" -a 4 --numeric-suffixes=1000 --additional-suffix=.dat "$dir/all" "$dir/"
	rm "$dir/all"
	{
		# version 4, 40 bytes, little-endian, 64 bits; feat_mask, info_mask: taskinfo; max_stack
		printf 'Ftrace!\0\4\0\0\0\050\0\1\2'
		record 0x63 0x80
		record 1024 0 | head -c 8
		printf 'taskinfo:lines=2\ntaskinfo:nr_tid=%d\ntaskinfo:tids=%s\n' "$n" "$(seq -s , 1000 $((999 + n)))"
	} >"$dir/info"
	{
		echo 'SESS timestamp=0.000500000 pid=1000 sid=0123456789abcdef exename="/bin/many"'
		seq -f 'TASK timestamp=0.000600000 tid=%g pid=1000' 1000 $((999 + n))
	} >"$dir/task.txt"
	echo '00401000-00402000 r-xp 00000000 00:00 0    /bin/many' >"$dir/sid-0123456789abcdef.map"
	printf '%s\n' '# symbols: 1' '# path name: /bin/many' '0000000000000000 T work' \
		'0000000000000100 ? __sym_end' >"$dir/many.sym"
}
