# Only common/stream/row.h knows the layout of a row: programs that are built with the fields of a
# row in another order pass tests of filters, tables and all formats.

load lib

# Objects that have none of the functions of row.h are the same in both layouts: those of $BIN are taken,
# where they say so in their debug information.
setup_file() {
	local built names users
	export OTHER=$BATS_FILE_TMPDIR/other
	built=$(dirname "$(realpath "$BIN/trdecode")")
	names=$(grep -oE '\brow_[a-z_]+\(' "$ROOT/common/stream/row.h" | tr -d '(' | sort -u | paste -sd '|')
	mkdir "$OTHER"
	if [[ -f $built/common/stream/writer.o ]] && ! nm "$BIN/trdecode" | grep -qE '__(asan|ubsan|tsan)'; then
		cp -r --preserve=timestamps "$built/common" "$built/cmd" "$OTHER"
		find "$OTHER" -name '*.d' -delete
		mapfile -t users < <(grep -lrawE "$names" --include='*.o' "$OTHER")
		if ((${#users[@]} < 20)); then
			find "$OTHER" -name '*.o' -delete
		else
			rm "${users[@]}"
		fi
	fi
	env -u MAKEFLAGS -u MAKELEVEL make -s -j2 -C "$ROOT" OBJ="$OTHER" CPPFLAGS=-DROW_REVERSED \
		CFLAGS='-O0 -g0 -U_FORTIFY_SOURCE' "$OTHER"/tr{decode,filter,sym,stat,encode}
}

# bytes PROGRAM: the stream of one call
bytes() {
	echo '[{"ph":"X","pid":1,"tid":7,"ts":1,"dur":2,"name":"f"}]' | "$1" - | od -An -v -tx1
}

@test "another layout of rows makes another stream" {
	[[ $(bytes "$OTHER/trdecode") != $(bytes trdecode) ]]
}

@test "filters, tables and all pairs of formats with another layout of rows" {
	BIN=$OTHER run -0 bats --formatter tap "$ROOT"/t/{filter_context,stat,matrix}.bats
	assert_line --regexp '^ok 50'
	refute_line --regexp '^not ok'
}
