# trfilter: calls are kept whole where the recorder gave a leave to another function than that of its
# enter: longjmp, signals, exceptions, vfork, lost events.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	trdecode -q "$DATA/uftrace/jumps" | trsym -q >jumps.trs
	for name in longjmp exc-cyg exc-pg forkexec signal lost trace-onoff tailcall; do
		trdecode -q "$RECORDED/uftrace/$name" 2>/dev/null | trsym -q >"$name.trs" 2>/dev/null
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

rows() {
	trencode -q -t tsv 2>/dev/null
}

# kinds OPTIONS EXPRESSION STREAM: enters and leaves of what is kept
kinds() {
	trfilter -q "$@" >kept || return
	echo "$(trfilter -c 'kind == enter' kept) $(trfilter -c 'kind == leave' kept)"
}

@test "what setjmp was called for ends with its second return" {
	assert_equal "$(kinds 'name == "_setjmp"' jumps.trs)" '8 8'
	assert_equal "$(kinds 'name == "nested"' jumps.trs)" '4 4'
	# the leaves of both are named jumps and _setjmp
	assert_equal "$(trfilter -c 'kind == leave && name == "nested"' jumps.trs)" 0
	assert_equal "$(trfilter -c 'kind == leave && name == "_setjmp"' jumps.trs)" 16
	assert_equal "$(kinds 'name == "longjmp"' jumps.trs)" '8 0'
}

@test "functions give the same calls in the quick way and as whole calls" {
	local stream f plain
	for stream in *.trs; do
		for f in $(trfilter 'kind == enter || kind == leave' "$stream" | trstat -q -c count -t tsv | cut -f1 |
			grep -x '[a-z_]*' | grep -v '^name$' | head -n 9); do
			for plain in "name == '$f'" "name != '$f'"; do
				trfilter "$plain" "$stream" | rows >quick
				trfilter "$plain || children > 1000000" "$stream" | rows >whole
				cmp quick whole || fail "$stream: $plain"
				trfilter -v "$plain" "$stream" | rows >quick
				trfilter -v "$plain || children > 1000000" "$stream" | rows >whole
				cmp quick whole || fail "$stream: -v $plain"
			done
		done
	done
}

# orphans OPTIONS EXPRESSION STREAM: leaves without an enter in what is kept
orphans() {
	trfilter -q "$@" | trstat -c count 2>&1 >/dev/null | grep -o '^trstat: [0-9]* returns\? without a call' | grep -o '[0-9]*' || echo 0
}

@test "no leave loses its enter" {
	local stream e
	for stream in jumps.trs longjmp.trs signal.trs exc-pg.trs; do
		[[ -f $stream ]] || continue
		for e in 'name =~ "jmp"' 'name == "leaf"' 'name == "jumps" || name == "deep"' 'module =~ "jumps"' \
			'name != "vfork" && name != "leaf"' 'name != "main" && tid > 0 && name !~ "^j"'; do
			assert_equal "$stream $e $(($(orphans "$e" "$stream") + $(orphans -v "$e" "$stream")))" \
				"$stream $e $(orphans 1 "$stream")"
		done
	done
}

@test "options that look around give the same calls" {
	for e in 'name == "_setjmp"' 'name == "nested"'; do
		trfilter "$e" jumps.trs | rows >plain
		for with in '-D 100' '--since +0' '--until +1000s'; do
			# shellcheck disable=SC2086
			trfilter $with "$e" jumps.trs | rows >other
			cmp plain other || fail "$with $e"
		done
		trfilter --with-callers "$e" jumps.trs | trfilter "$e" | rows >other
		cmp plain other || fail "--with-callers $e"
	done
}

# Damaged: t/data/uftrace/jumps, whose enters lost their depths.
@test "a leave with a depth ends a call without one" {
	local stream=$DATA/stream/bare-enters.trs
	trfilter -q 'dur > 100ns' "$stream" 2>/dev/null | rows >quick || true
	trfilter -q 'dur > 100ns && depth >= 0' "$stream" 2>/dev/null | rows | cmp - quick
	assert_equal "$(trstat -q -t tsv -c count,total "$stream" 2>/dev/null | grep -a ^_setjmp)" $'_setjmp\t4\t27932'
	trfilter -q 'dur > 100ns' "$stream" 2>/dev/null | trstat -q -t tsv -c count,total 2>/dev/null |
		grep -ax $'_setjmp\t4\t27932'
	# no call was open before the first enter: all leaves lack theirs
	assert_equal "$(orphans 'kind == leave' "$stream" 2>/dev/null)" "$(trfilter -qc 'kind == leave' "$stream" 2>/dev/null)"
}
