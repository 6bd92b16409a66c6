# Only common/stream/row.h knows the layout of a row: programs that are built with the fields of a
# row in another order pass tests of filters, tables and all formats.

load lib

setup_file() {
	export OTHER=$BATS_FILE_TMPDIR/other
	env -u MAKEFLAGS -u MAKELEVEL make -s -j2 -C "$ROOT" O="$OTHER" CPPFLAGS=-DROW_REVERSED \
		CFLAGS='-O0 -g0 -U_FORTIFY_SOURCE' all
}

# bytes PROGRAM: the stream of one call
bytes() {
	echo '[{"ph":"X","pid":1,"tid":7,"ts":1,"dur":2,"name":"f"}]' | "$1" - | od -An -v -tx1
}

@test "another layout of rows makes another stream" {
	[[ $(bytes "$OTHER/bin/trdecode") != $(bytes trdecode) ]]
}

@test "filters, tables and all pairs of formats with another layout of rows" {
	for file in filter_context stat matrix; do
		BIN=$OTHER/bin run -0 bats --formatter tap "$ROOT/t/$file.bats"
		refute_line --regexp '^not ok'
	done
}
