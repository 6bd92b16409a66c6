# What every program has: help, version, exit statuses, man page, completion.

load lib

PROGRAMS='trdecode trfilter trsym trstat trencode'

# complete_line WORD...: the replies to a TAB after the last word
complete_line() {
	source "$ROOT/packaging/completion/trutils.bash"
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_trutils "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "every program prints its help" {
	for program in $PROGRAMS; do
		run -0 --separate-stderr "$program" --help
		assert_line --index 0 --partial "Usage: $program [OPTION]..."
		assert_line --regexp '^  -o, --output=FILE '
		[ -z "$stderr" ]
		diff <("$program" -h) <("$program" --help)
	done
}

@test "every program prints its version" {
	version=$(sed -n 's/.*TRUTILS_VERSION "\(.*\)"/\1/p' "$ROOT/common/util/version.h")
	for program in $PROGRAMS; do
		run -0 "$program" --version
		assert_output "$program (trutils) $version"
		run -0 "$program" -V
		assert_output "$program (trutils) $version"
	done
}

@test "every option of --help is in the man page" {
	for program in $PROGRAMS; do
		page=$(mandoc -Tascii "$ROOT/man1/$program.1" | sed 's/.\x08//g')
		for option in $("$program" --help=all | grep -oE '^ +(-., +)?--[a-z-]+' | grep -oE -e '--.*'); do
			grep -qE -e "(^|[^-a-z])$option([^-a-z]|$)" <<<"$page" ||
				fail "$program $option is not in man1/$program.1"
		done
		for option in $("$program" --help=all | grep -oE '^  -[^-,]'); do
			grep -qE -e "(^|[^-A-Za-z])$option([^-a-z]|$)" <<<"$page" ||
				fail "$program $option is not in man1/$program.1"
		done
	done
}

@test "a page begins with five examples, and has none twice" {
	for program in $PROGRAMS; do
		grep '^\.S[hs]' "$ROOT/man1/$program.1" | grep -qzP '\.Sh DESCRIPTION\n\.Ss First examples\n'
		[ "$(mandoc -Tutf8 "$ROOT/man1/$program.1" | sed 's/.\x08//g' | sed -n '/^   First examples/,/^   [A-Z]/p' |
			grep -cE '^     [A-Z].*')" = 5 ] || fail "$program"
		run page_examples "$program"
		assert_equal "$(sort <<<"$output" | uniq -d)" ''
	done
}

@test "every option of a program has an example in a man page" {
	cd "$BATS_TEST_TMPDIR"
	for program in $PROGRAMS; do
		mandoc -Tascii "$ROOT/man1/$program.1" "$ROOT"/man7/*.7 | sed 's/.\x08//g' |
			sed -n '/^   First examples/,/^   [A-Z]/p; /^EXAMPLES/,/^SEE ALSO/p; /^ONE HOST/,/^EXIT/p' >examples
		# up to the options that all have
		"$program" --help=all | sed '/^Common options:/,$d' | grep -E '^  +-' |
			sed -nE 's/^ +(-[^-], |)(--[a-z0-9-]+).*/\1\2/p; s/^ +(-[^-])( .*|)$/\1/p' >options
		while IFS=', ' read -r short long; do
			grep -oE "(^|[^a-z])$program [^|]*" examples |
				grep -qE -e " (${short}${long:+|$long})([^-a-z]|$)" ||
				grep -qE -e "^ +(${short}${long:+|$long})([^-a-z]|$)" examples ||
				fail "$program $short $long has no example"
		done <options
	done
}

@test "what the tables of other tools' options say is here is here" {
	cd "$BATS_TEST_TMPDIR"
	page=$ROOT/man7/trutils-other-tools.7
	for program in trdecode trfilter trstat; do
		sed -n "/^\.Sh .*: ${program^^}\$/,/^\.Sh [^:]*\$/p" "$page" | sed '1!{/^\.Sh/,$d}' >section
		[ -s section ]
		"$program" --help=all >help
		# .Fl is of ours only: theirs are plain words
		grep -oE 'Fl -?[-a-zA-Z]+( , [-a-zA-Z]+)*' section | sed 's/^Fl //; s/ , /\n/g' |
			grep -vxE 'Fl|Li|No' | sed 's/^/-/' | sort -u >options
		[ -s options ]
		while read -r option; do
			[[ $option == -- ]] || grep -qE -e "(^| )$option([[ ,=]|$)" help ||
				fail "$page: $program has no $option"
		done <options
		grep -oE 'Li "([^"]|"")*"' section | sed 's/^Li "//; s/"$//; s/""/"/g' |
			while read -r example; do
				case $example in
				*trdecode*) continue ;;
				esac
				trfilter --explain "$example" >/dev/null || fail "$page: $example"
			done
	done
}

@test "an unknown option is a usage error" {
	for program in $PROGRAMS; do
		# where a stream is expected, one that says so
		run -2 --separate-stderr bash -c "$program --no-such-option >'$BATS_TEST_TMPDIR/out'"
		[[ ! -s $BATS_TEST_TMPDIR/out || $(head -c 8 "$BATS_TEST_TMPDIR/out") == trstrm1: ]]
		assert_equal "${stderr_lines[0]}" "$program: unknown option '--no-such-option'"
		assert_equal "${stderr_lines[1]}" "Try '$program --help'"
		run -2 "$program" -o
	done
}

@test "help and version onto a full device fail" {
	for program in $PROGRAMS; do
		run -2 pipe "$program --help >/dev/full"
		assert_output --partial 'No space left on device'
		run -2 pipe "$program --version >/dev/full"
	done
}

@test "closed standard output is an error" {
	for program in $PROGRAMS; do
		run -2 pipe "$program --help >&-"
		assert_output --partial "$program: standard output: "
	done
}

@test "an input that is not there is status 2" {
	cd "$BATS_TEST_TMPDIR"
	for command in trdecode 'trfilter "tid == 1"' trsym trstat trencode; do
		run -2 pipe "$command no-such-file >out"
		assert_output --partial no-such-file
	done
}

@test "a stream of no bytes is refused, it is no empty trace" {
	cd "$BATS_TEST_TMPDIR"
	for command in 'trfilter "tid == 1"' trsym trstat trencode; do
		run -2 pipe "$command </dev/null >out"
		run -2 pipe "$command -o file </dev/null"
		assert_output --partial 'no input: did the previous command fail?'
		assert [ ! -e file ]
	done
}

@test "a closed pipe ends quietly, also where the parent ignores SIGPIPE" {
	for program in $PROGRAMS; do
		run -0 pipe "trap '' PIPE
			{ while $program --help; do :; done; $program --help; echo \$? >&2; } | head -n 1 >/dev/null"
		assert_output 141
	done
}

@test "completion knows the options" {
	run -0 complete_line trstat --outp
	assert_output '--output='
	run -0 complete_line trdecode -
	assert_line -- '--help'
	refute_line --partial complete-options
	assert_line -- '-q'
}

@test "completion knows the arguments" {
	cd "$BATS_TEST_TMPDIR"
	mkdir sub
	touch 'some trace.dat'
	run -0 complete_line trdecode -f u
	assert_output uftrace
	run -0 complete_line trdecode --from = stre
	assert_output stream
	run -0 complete_line trstat --output = so
	assert_output 'some trace.dat'
	run -0 complete_line trstat -o so
	assert_output 'some trace.dat'
	run -0 complete_line trstat s
	assert_line 'some trace.dat'
	assert_line sub
}

@test "completion knows keys, columns, and the fields of the inputs, in lists too" {
	trdecode "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" >"$BATS_TEST_TMPDIR/s.trs" 2>/dev/null
	cd "$BATS_TEST_TMPDIR"
	run -0 complete_line trstat -g calle
	assert_output caller
	run -0 complete_line trstat -c self_av
	assert_output self_avg
	run -0 complete_line trstat s.trs -g tid,next_com
	assert_output tid,next_comm
	run -0 complete_line trencode s.trs -t csv -c +next_com
	assert_output +next_comm
	run -0 complete_line trfilter s.trs --keep next_pid,prev_sta
	assert_output next_pid,prev_state
	# of an option that takes no fields, and without an input
	run -0 complete_line trstat s.trs -n next_com
	assert_output ''
	run -0 complete_line trstat -g next_com
	assert_output ''
}

@test "completion runs no command that a trace has as the name of a field" {
	cd "$BATS_TEST_TMPDIR"
	echo '[{"ph":"i","name":"n","ts":1,"tid":1,"args":{"pw$(touch${IFS}owned)":1,"pwd`touch${IFS}owned`":1,"pwx":1}}]' >s.json
	run -0 complete_line trstat s.json -g arg.pw
	assert_output arg.pwx
	! [ -e owned ]
}

@test "trstat --help names all keys and columns, and each is a key or a column" {
	for option in -g -c; do
		run -2 trstat "$option" 'a(b'
		words=$(trstat --complete-options | grep "^$option " | cut -f 3)
		for word in $words; do
			grep -qwF -e "$word" <<<"$output" || fail "trstat $option $word"
			trstat --help=all | sed 's/$/ /' | grep -qF " $word " || fail "--help: $word"
		done
	done
}

@test "each column of trstat is in --help and is completed" {
	# the table of columns, with the spelling of those that are of a field
	sed -n '/^const struct column_type column_types/,/^};/p' "$ROOT/cmd/trstat/table.c" |
		tr -d '\n' | grep -oE '\{"[^"]+", (NULL|"[^"]+"), [A-Z_| 0]+' | tr -d '"{,' >"$BATS_TEST_TMPDIR/types"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/types")" -gt 20 ]
	while read -r name alias flags; do
		[ "$name" != p ] || name=p99
		[[ $flags != *OF_FIELD* ]] || name="$name(F)"
		for word in "$name" ${alias/NULL/}; do
			trstat --complete-options | grep '^-c ' | cut -f 3 | tr ' ' '\n' | grep -qxF -e "$word" || fail "completion: $word"
			trstat --help=all | sed 's/$/ /' | grep -qF " $word " || fail "--help: $word"
			sed -n '/^\.Sh COLUMNS/,/^\.Sh SEE/p' "$ROOT/man7/trstat-columns.7" | grep -wF -e "${word%(F)}" | grep -q '^\.\(It \)\?Cm ' ||
				fail "trstat-columns(7), COLUMNS: $word"
		done
	done <"$BATS_TEST_TMPDIR/types"
}

@test "bash completes the names in an expression of trfilter" {
	cd "$BATS_TEST_TMPDIR"
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o s.trs
	run -0 complete_line trfilter s.trs "'dur > 1ms && next_co"
	assert_output 'dur > 1ms && next_comm'
	run -0 complete_line trfilter '"!(chil'
	assert_output '!(children'
	# a name without a trace on the line, and what is no name
	run -0 complete_line trfilter "'next_com"
	assert_output ''
	run -0 complete_line trfilter "'dur > "
	assert_output ''
}

@test "completion is registered by an interactive bash" {
	run -0 bash --norc -ic "source '$ROOT/packaging/completion/trutils.bash'; complete -p trstat" 3>&-
	assert_output --partial 'complete -F _trutils trstat'
}

@test "install puts everything in its place, uninstall takes it away" {
	root=$BATS_TEST_TMPDIR/root
	make -s -o all -C "$ROOT" O="$(dirname "$BIN")" ${LIBRARY:+LIBRARY="$LIBRARY"} DESTDIR="$root" PREFIX=/usr \
		install >/dev/null 2>&1 3>&-
	for program in $PROGRAMS; do
		run -0 "$root/usr/bin/$program" --version
		[ -f "$root/usr/share/man/man1/$program.1" ]
		[ -f "$root/usr/share/bash-completion/completions/$program" ]
	done
	for page in "$ROOT"/man[1357]/*; do
		cmp "$page" "$root/usr/share/man/${page#"$ROOT/"}"
	done
	[ -f "$root/usr/share/doc/trutils/examples/trstat-monitor.timer" ]
	make -s -C "$ROOT" O="$(dirname "$BIN")" DESTDIR="$root" PREFIX=/usr uninstall >/dev/null 3>&-
	[ -z "$(find "$root" ! -type d)" ]
}

@test "progress is shown when asked for, and not otherwise" {
	trdecode --progress "$DATA/uftrace/fib" >"$BATS_TEST_TMPDIR/s" 2>"$BATS_TEST_TMPDIR/e"
	grep -q '^trdecode: .* MB, [0-9]* events in ' "$BATS_TEST_TMPDIR/e"
	for program in trsym trstat trencode 'trfilter 1'; do
		$program --progress "$BATS_TEST_TMPDIR/s" >/dev/null 2>"$BATS_TEST_TMPDIR/e"
		grep -q "^${program%% *}: .* MB of .* MB, 100 %, [0-9]* events in " "$BATS_TEST_TMPDIR/e"
		$program "$BATS_TEST_TMPDIR/s" >/dev/null 2>"$BATS_TEST_TMPDIR/e"
		run ! grep 'events in' "$BATS_TEST_TMPDIR/e"
	done
}

@test "a program does not read what it writes" {
	cd "$BATS_TEST_TMPDIR"
	trdecode "$DATA/uftrace/fib" >s
	for program in trdecode 'trdecode --list' 'trdecode --info' trsym trstat trencode 'trfilter 1'; do
		cp s both
		run -2 bash -c "$program both >>both"
		assert_output "${program%% *}: both: is also the output"
		cmp s both
		run -2 bash -c "$program - <both >>both"
	done
}

@test "a test that needs a terminal skips where there is none" {
	run awk '/^@test / { name = FILENAME ": " $0; ready = 0 } /^\tneed_terminal/ { ready = 1 }
		/(^|[^a-z])script -qe?c|= *zsh_complete|[0-9] zsh_complete/ && !ready { print name }' "$ROOT"/t/*.bats
	assert_output ''
}

@test "elsewhere than on Debian make deps names the libraries" {
	cd "$BATS_TEST_TMPDIR"
	mkdir bin
	for tool in bash cat paste uniq dirname; do ln -s "$(command -v $tool)" bin; done
	# the compiler finds one header alone
	printf '#!/bin/bash\n[[ "$*" == *" zlib.h "* ]]\n' >bin/cc
	chmod +x bin/cc
	run -0 env -i PATH="$PWD/bin" bash "$ROOT/t/deps.sh" build
	assert_line --regexp 'dnf install snappy-devel .*libdeflate-devel .*elfutils-devel binutils-devel$'
	assert_line --regexp 'pacman -S --needed snappy brotli zstd libdeflate libarchive libelf binutils$'
	printf '#!/bin/bash\n' >bin/cc
	run -0 env -i PATH="$PWD/bin" bash "$ROOT/t/deps.sh" build
	assert_output ''
}

@test "--help fits two screens, and --help=all has every option" {
	cd "$BATS_TEST_TMPDIR"
	for program in $PROGRAMS; do
		"$program" --help >daily
		"$program" --help=all >all
		[ "$(wc -l <daily)" -le 48 ] || fail "$program --help: $(wc -l <daily) lines"
		for help in daily all; do
			[ "$(wc -L <$help)" -le 80 ] || fail "$program, $help: $(awk 'length > 80' $help)"
		done
		# a line of --help is a line of --help=all, up to the last one, and whole
		grep -v "^All options: $program --help=all" daily | grep -vxFf all | tee /dev/stderr | diff /dev/null -
		run ! grep -E '[,;]$|[^.]\.\.$' <(sed '1,/^$/d' daily | grep '^  ')
		cmp -s daily all || grep -qxF "All options: $program --help=all; each is explained in $program(1)" daily
	done
	run -2 trstat --help=some
	assert_output --partial "--help takes all, not 'some'"
	# units, in each
	trsym --help=all | grep -qxF 'Times have a unit: ns us ms s m min h; sizes: K M G T kB MB GB TB'
	run -0 trstat --help
	for option in --group --columns --where --pair --fail-if --tree --diff; do
		assert_line --regexp "^ +(-., )?${option}[=\[ ]"
	done
	refute_line --partial --alpha
}

@test "--formats, --explain and --report fit a terminal of 80 columns, and have the same words" {
	need_terminal
	cd "$BATS_TEST_TMPDIR"
	trdecode -q "$DATA/perf/sched.data.gz" >s
	for command in 'trencode --formats' 'trfilter --explain 1 s' 'trsym --report -o named s'; do
		terminal 80 bash -c "'$command 2>&1'" | sed 's/.*\x1b\[K//' >narrow
		$command >wide 2>&1
		diff -w <(tr -s ' \n' '\n' <narrow) <(tr -s ' \n' '\n' <wide)
		run -0 awk 'length > 80' narrow
		refute_output
		# what is longer goes on below
		(($(wc -l <narrow) > $(wc -l <wide)))
	done
}
