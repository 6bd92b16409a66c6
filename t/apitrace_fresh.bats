# A program recorded with the apitrace that is installed: text, counts and values are those of apitrace.

load lib
load apitrace_gl

setup_file() {
	command -v apitrace >/dev/null || return 0
	cd "$BATS_FILE_TMPDIR" || return
	gl_library
	gl_program
	HOME=$PWD LD_LIBRARY_PATH=$PWD TRACE_LIBGL=$PWD/libGL.so.1 \
		timeout 60 apitrace trace -a gl -o snappy.trace ./drawing >said 2>&1 || return 0
	apitrace repack --zlib snappy.trace zlib.trace >/dev/null
	apitrace repack --brotli=5 snappy.trace brotli.trace >/dev/null
}

setup() {
	need apitrace
	cd "$BATS_FILE_TMPDIR" || return
	[[ -s snappy.trace ]] || skip "apitrace records no OpenGL here: $(tail -n 1 said)"
}

@test "the text of a fresh recording is that of apitrace dump, in every container" {
	for container in snappy zlib brotli; do
		apitrace dump --color=never -v --thread-ids=yes $container.trace >want
		[[ $(wc -l <want) -gt 200 ]]
		trdecode $container.trace | trencode --all-calls --thread-ids | diff want -
		apitrace dump --color=never $container.trace >want
		trdecode $container.trace | trencode | diff want -
		trdecode $container.trace | trfilter -q 1 | trencode | diff want -
	done
}

@test "a fresh recording written back is equal to apitrace" {
	apitrace dump --color=never -v --thread-ids=yes snappy.trace >want
	for method in snappy gzip brotli zstd; do
		trdecode zlib.trace | trencode -t apitrace --compress $method -o back.trace
		trdecode back.trace | trencode --all-calls --thread-ids | diff want -
		# apitrace reads no zstd
		[[ $method == zstd ]] || apitrace dump --color=never -v --thread-ids=yes back.trace | diff want -
	done
}

@test "calls of a fresh recording by function, thread and frame are those of apitrace" {
	trdecode snappy.trace >s
	apitrace dump --color=never -v --thread-ids=yes snappy.trace >text
	sed -n 's/^[0-9]* @[0-9a-f]* \(gl[A-Za-z0-9]*\)(.*/\1/p' text | LC_ALL=C sort | uniq -c |
		awk -v OFS='\t' '{ print $2, $1 }' >want
	[[ $(wc -l <want) -gt 30 ]]
	trstat -q -t tsv -g name -c count s | tail -n +2 | LC_ALL=C sort | diff want -
	sed -n 's/^[0-9]* @\([0-9a-f]*\) .*/\1/p' text | sort | uniq -c | awk -v OFS='\t' '{ print $2, $1 }' >want
	[[ $(wc -l <want) -eq 2 ]]
	trstat -q -t tsv -g tid -c count s | tail -n +2 | sort | diff want -
	apitrace info --dump-frames snappy.trace 2>/dev/null | sed -n 's/.*"TotalCalls": \([0-9]*\).*/\1/p' >want
	[[ $(wc -l <want) -ge 3 ]]
	trstat -q -t tsv -g frame -c count -s frame s | tail -n +2 | sort -n | cut -f 2 |
		head -n "$(wc -l <want)" | diff want -
	run -0 pipe "apitrace info snappy.trace 2>/dev/null | jq .FramesCount"
	frames=$output
	run -0 pipe "trdecode --info snappy.trace | sed -n 's/^frames count *//p'"
	assert_output "$frames"
}

# arguments FUNCTION NAME: what apitrace dump prints of them, with how often
arguments() {
	apitrace dump --color=never -v snappy.trace |
		sed -n "s/^[0-9]* $1(\(.*, \)*$2 = \(blob([0-9]*)\|[^,()]*\)[,)].*/\2/p" | sed 's/ | /|/g' |
		LC_ALL=C sort | uniq -c | awk -v OFS='\t' '{ print $2, $1 }'
}

@test "keys, rows and conditions of a fresh recording have the values that apitrace dump prints" {
	trdecode snappy.trace >s
	trencode -q -t ndjson s >rows
	while read -r function argument; do
		arguments "$function" "$argument" >want
		[[ -s want ]] || fail "$function $argument"
		trstat -q -t tsv -g "name,arg.$argument" -c count s | sed -n "s/^$function	//p" |
			LC_ALL=C sort | diff want -
		jq -r "select(.name == \"$function\") | .args.$argument | if . == null then \"NULL\" else . end" rows |
			LC_ALL=C sort | uniq -c | awk -v OFS='\t' '{ print $2, $1 }' | diff want -
		while IFS=$'\t' read -r text count; do
			[[ $text == *[!0-9]* ]] || continue
			# by the whole text: a bitmask equals the name of each of its bits
			run -0 trfilter -c "kind == enter && name == \"$function\" &&
				arg.$argument =~ \"^$(sed 's/[|()]/[&]/g' <<<"$text")\$\"" s
			assert_output "$count"
			run -0 trfilter -c "kind == enter && name == \"$function\" && arg.$argument == \"$text\"" s
			((output >= count))
		done <want
	done <<-'END'
		glClear mask
		glPushAttrib mask
		glEnable cap
		glBegin mode
		glBufferData data
		glBufferSubData data
		glTexImage2D pixels
		glXSwapBuffers dpy
		glDepthMask flag
		glClearColor blue
		glXCreateContext direct
	END
	# a number that is no label
	run -0 trfilter -c 'kind == enter && name == "glEnable" && arg.cap == 74565' s
	assert_output 1
}

@test "values that a call of a fresh recording gives back are in its conditions" {
	trdecode snappy.trace >s
	calls() {
		trfilter "$1" s | trencode -q | grep '^[0-9]'
	}
	apitrace dump --color=never snappy.trace >text
	calls 'name == "glGetIntegerv" && arg.params == -7' | diff <(grep 'params = &-7)' text) -
	calls 'name == "glGetIntegerv" && arg.params.2 == -640' | diff <(grep 'params = {0, 1, -640' text) -
	calls 'name == "glGetUniformLocation" && ret < 0' | diff <(grep ') = -1$' text) -
	calls 'name == "glCreateShader" && ret == 3' | diff <(grep 'glCreateShader(.*) = 3$' text) -
	calls 'arg.length.0 == 5' >got
	[[ $(grep -c 'glShaderSource' got) -eq 1 ]]
	calls 'name == "glXCreateContext" && ret == "0x1234"' | diff <(grep 'glXCreateContext' text) -
	apitrace dump --color=never -v snappy.trace >text
	trfilter 'name == "glIsEnabled" && ret == "GL_TRUE"' s | trencode -q --all-calls | grep '^[0-9]' |
		diff <(grep 'glIsEnabled(.*) = GL_TRUE$' text) -
}
