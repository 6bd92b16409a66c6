# .trace of apitrace: decoded, as text, written back, filtered and counted.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$DATA/apitrace
}

dump() {
	trencode -t text --all-calls --thread-ids "$@"
}

@test "text is what apitrace dump prints, of every version and container" {
	for trace in "$T"/*.trace; do
		trdecode "$trace" 2>/dev/null | dump >got 2>/dev/null || true
		cmp got "${trace%.trace}.txt"
	done
}

@test "every container is read through a pipe, and says the same" {
	for method in snappy gzip brotli zstd; do
		trdecode "$T/v6.trace" | trencode -t apitrace --compress $method -o x.trace
		trdecode x.trace | dump >a
		pipe 'cat x.trace | trdecode -' | dump >b
		cmp a "$T/v6.txt"
		cmp b "$T/v6.txt"
	done
}

@test "written back, a recording is the same byte for byte" {
	for name in threads crash; do
		trdecode "$T/$name.trace" >s 2>/dev/null || true
		trencode -t apitrace --compress gzip s 2>/dev/null | zcat >once
		trencode -t apitrace --compress gzip s 2>/dev/null >g
		trdecode g | trencode -t apitrace --compress brotli:9 >b 2>/dev/null
		trdecode b | trencode -t apitrace --compress zstd:1 >z 2>/dev/null
		trdecode z | trencode -t apitrace --compress gzip:1 2>/dev/null | zcat >again
		cmp once again
	done
}

@test "apitrace reads what was written" {
	need apitrace
	for name in v0 v2 v3 v5 v6 threads crash odd pending; do
		trdecode "$T/$name.trace" 2>/dev/null | trencode -t apitrace -o x.trace 2>/dev/null
		apitrace dump --color=never -v --thread-ids=yes x.trace >got
		cmp got "$T/$name.txt"
	done
}

@test "several segments: definitions are sent again where they are used" {
	trdecode "$RECORDED/apitrace/glxgears.trace" | dump >want
	trdecode --segment 64K "$RECORDED/apitrace/glxgears.trace" >s
	[ "$(grep -ao 'trstrm1:' s | wc -l)" -gt 1 ]
	dump s >got
	cmp got want
	trdecode s | dump >got
	cmp got want
	trencode -t apitrace s | trdecode - | dump >got
	cmp got want
}

@test "calls by number, with the leaves of other threads between" {
	trdecode "$T/threads.trace" | trfilter 'call >= 10 && call < 20' | dump 2>/dev/null |
		grep -v '^//' | sort -n >got
	grep -E '^1[0-9] @' "$T/threads.txt" | sort -n >want
	cmp got want
}

@test "a filtered stream becomes a trace: definitions are carried forward" {
	trdecode "$T/threads.trace" | trfilter 'name =~ "^gl(Begin|Clear)$"' |
		trencode -t apitrace -o x.trace
	trdecode x.trace | dump | sed 's/^[0-9]* //' >got
	grep -E '^//|^[0-9]+ @[0-9]+ gl(Begin|Clear)\(' "$T/threads.txt" | sed 's/^[0-9]* //' >want
	cmp got want
}

@test "arguments by name, enums by theirs, members of structs, sizes of blobs" {
	trdecode "$T/threads.trace" >s
	run -0 trfilter -c 'kind == enter && arg.mode == "GL_TRIANGLES"' s
	assert_output 160
	run -0 trfilter -c 'kind == enter && arg.mode == "GL_LINES"' s
	assert_output 0
	trdecode "$T/v6.trace" >s
	run -0 trfilter -c 'kind == enter && arg.st.x == 1' s
	assert_output 1
	run -0 trfilter -c 'kind == enter && arg.blob.size == 3' s
	assert_output 1
	run -0 trstat -t tsv -g name -c 'sum(arg.blob.size)' -s name s
	assert_line "kinds	3"
}

# the condition of the man page's example that has this in it
example() {
	page_examples trfilter | sed -n "s/^trdecode app.trace | trfilter '\(.*$1.*\)' | trencode.*/\1/p"
}

@test "examples of trfilter(1): calls 100 to 299, a frame, what was given back, a member" {
	trdecode "$T/threads.trace" >s
	trfilter "$(example 'call >= 100')" s | trencode -q -t apitrace -o part.trace
	trdecode part.trace | dump -q | sed 's/^[0-9]* //' | grep -v '^//' >got
	grep -E '^[12][0-9][0-9] @[0-9]* .*mode = GL_TRIANGLES' "$T/threads.txt" | sed 's/^[0-9]* //' >want
	[ -s want ]
	cmp got want
	run -0 trfilter "$(example 'frame == 3')" s
	trfilter "$(example 'frame == 3')" s | dump -q | grep -c '^[0-9]' >got
	trstat -q -t tsv -g frame -c count s | awk '$1 == 3 { print $2 }' | cmp - got
	trdecode "$T/v6.trace" | trfilter "$(example arg.vis.depth)" | dump | grep -v '^//' >got
	grep 'depth = 24' "$T/v6.txt" | cmp - got
	trdecode "$RECORDED/apitrace/eglinfo.trace" | trfilter "$(example arg.major)" | dump -q | grep -v '^//' >got
	grep 'major = &1.* = EGL_TRUE' "$RECORDED/apitrace/eglinfo.verbose.txt" | cmp - got
	[ "$(wc -l <got)" -ge 2 ]
}

@test "counts per function, thread and frame" {
	trdecode "$T/threads.trace" >s
	run -0 trstat -t tsv -g name -c count -s count -n 1 s
	assert_line 'glVertex2f	480'
	run -0 trstat -t tsv -g tid -c count -s tid s
	assert_line '0	5'
	run -0 trstat -t tsv -g frame -c count -s count -n 1 s
	assert_line '0	136'
	run -0 trstat -t tsv -g arg.mode -c count -s count s
	assert_line 'GL_TRIANGLES	160'
	# calls that never returned have what their enters had
	trdecode "$T/pending.trace" >s
	run -0 trstat --quiet -t tsv -g frame,name -c count -s name s
	assert_line '0	glFinish	1'
}

@test "a call that never returned counts in the frame that it was made in" {
	# glFlush is entered in the second frame, and left in none
	{
		printf '\005\000\000\000\016glXSwapBuffers\000\000\001\000\000'
		printf '\000\000\001\007glFlush\000\000\000\000\000\000\001\002\000'
		printf '\000\000\000\000\001\003\000'
	} | gzip -n >open.trace
	run -0 --separate-stderr pipe 'trdecode open.trace | trstat -t tsv -g frame,name -c count -s frame,name'
	assert_line --index 1 '0	glXSwapBuffers	1'
	assert_line --index 2 '1	glFlush	1'
	assert_line --index 3 '1	glXSwapBuffers	1'
	assert_line --index 4 '2	glXSwapBuffers	1'
}

@test "a call that returns in a later frame is of that frame, as in apitrace trim" {
	# glFlush of one thread is entered in frame 0; meanwhile another thread ends the frame
	{
		printf '\005\000\001\000\007glFlush\000\000\000\000\001\016glXSwapBuffers\000\000'
		printf '\001\001\000\001\000\000\000\000\001\000\001\002\000'
	} | gzip -n >cross.trace
	trdecode cross.trace >s
	run -0 trstat -t tsv -g frame,name -c count -s frame,name s
	assert_output $'frame\tname\tcount\n0\tglXSwapBuffers\t1\n1\tglFlush\t1\n1\tglXSwapBuffers\t1'
	run -0 trencode -t tsv -c frame,name s
	assert_output $'frame\tname\n0\tglXSwapBuffers\n1\tglFlush\n1\tglXSwapBuffers'
	for n in 0 1; do
		trfilter "frame == $n" s | dump -q | sed -E "s/^[0-9]+ (@[0-9a-f]+ )?//; /^$/d" >got
		[ -s got ]
		printf '%s\n' "$([ $n = 0 ] || echo 'glFlush()')" 'glXSwapBuffers()' | sed '/^$/d' | diff - got
		if command -v apitrace; then
			apitrace trim --frames=$n -o part.trace cross.trace
			apitrace dump part.trace | sed 's/^[0-9]* //; /^$/d' | diff - got
		fi
	done
	run -0 trfilter -c 'frame == 1 && name == "glFlush"' s
	assert_output 1
}

# frames TRACE: want has the frames that apitrace knows, got trstat's lines for them; the last may have no end
frames() {
	apitrace info --dump-frames "$RECORDED/apitrace/$1.trace" 2>/dev/null >info
	sed -n 's/.*"TotalCalls": \([0-9]*\).*/\1/p' info | cat -n | awk '{ print $1 - 1 "\t" $2 }' >want
	trdecode -q "$RECORDED/apitrace/$1.trace" >s 2>/dev/null || true
	trstat -q -t tsv -g frame -c count -s frame s 2>/dev/null | tail -n +2 | sort -n |
		head -n "$(wc -l <want)" >got
}

same_frames() {
	frames "$1"
	[ -s want ] || fail "$1"
	cmp want got || fail "$1"
}

@test "calls by frame of public traces are those of apitrace info" {
	need apitrace
	need_shared apitrace/old
	same_frames old/v4-glthreads
	same_frames old/v5-tri_glsl
}

@test "calls by frame are those of apitrace info, but for calls that never returned" {
	need apitrace
	local name
	for name in backtrace feat es2gears glxgears-trim mt4 mt4-thread2 gen/gen-v6 gen/rand-v0 \
		gen/rand-v5; do
		same_frames $name
	done
	# made in frame 0, and in frames 55 and 56, of which the one ends another with apitrace
	frames gen/gen-odd
	run -1 diff want got
	assert_output "$(printf '1c1\n< 0\t9\n---\n> 0\t10')"
	frames gen/rand-v6
	run -1 diff want got
	assert_output "$(printf '56c56\n< 55\t6\n---\n> 55\t7')"
	[ "$(tail -n 1 got)" = "$(printf '56\t4')" ]
}

@test "ticks are no time: rates are refused" {
	trdecode "$T/v6.trace" >s
	run -2 trstat -c rate s
	assert_output --partial 'ticks'
}

@test "a call that never returned is said to be incomplete" {
	run -0 pipe "trdecode $T/pending.trace | trstat -c count"
	assert_output --partial 'had not returned'
}

@test "--info" {
	run -0 trdecode --info "$T/threads.trace"
	assert_line --regexp '^container type +brotli$'
	assert_line --regexp '^frames count +40$'
	assert_line --regexp '^calls +1169$'
	assert_line --regexp '^threads +5$'
	run -0 trdecode --info --json "$T/threads.trace"
	assert_output --partial '"api": "OpenGL/GLES1/GLES2/VG + EGL"'
}

@test "a cut file: what is whole comes out, and the end of the pipe knows" {
	head -c 900 "$T/v6.trace" >cut.trace
	run -1 --separate-stderr trdecode -o s cut.trace
	[[ $stderr == *'cut.trace: 0x2: chunk 0: the file ends inside of it'* ]]
	run -1 --separate-stderr trencode --all-calls --thread-ids s
	head -n "${#lines[@]}" "$T/v6.txt" >want
	printf '%s\n' "${lines[@]}" | head -n 5 >got
	head -n 5 want | cmp - got
}

@test "cut at any byte: never a crash, never silence" {
	for n in $(seq 6 12) $(seq 64 61 2100); do
		head -c "$n" "$T/v6.trace" >cut.trace
		run -1 trdecode -o s cut.trace
		assert_line --regexp '^trdecode: cut.trace: 0x[0-9a-f]+: chunk [01](, byte [0-9]+ of the unpacked trace)?: '
	done
}

@test "flipped bits: no crash, no hang, and what is read can be read again" {
	RANDOM=1
	for ((k = 0; k < 60; k++)); do
		set -- v6 v6-br gz-members v2 threads odd
		shift $((k % 6))
		cp "$T/$1.trace" x.trace
		chmod u+w x.trace
		flip x.trace $((k % 3 ? 1 : 8))
		timeout 20 trdecode -o s x.trace 2>said && status=0 || status=$?
		((status <= 2)) || fail "$1, flip $k: status $status: $(cat said)"
		((status < 2)) || continue
		for program in 'trstat -g name,frame -c count,sum(arg.3.size)' \
			'trencode --all-calls' 'trencode -t apitrace'; do
			timeout 20 $program s >out 2>said && then=0 || then=$?
			[ "$then" -eq "$status" ] || fail "$1, flip $k: $program: $(cat said)"
		done
	done
}

@test "an argument that its function does not have, a number of more than 64 bits" {
	run -1 --separate-stderr trdecode -o s "$T/bad/argno-over.trace"
	[[ $stderr == *'0x2: chunk 0, byte 22 of the unpacked trace: argument 6 of a function that has 1' ]]
	run -1 --separate-stderr dump s
	assert_line --index 1 '1 @0 good(a = ?, ?, ?, ?, ?, NULL)'
	run -1 trdecode --info "$T/bad/argno-over.trace"
	run -1 --separate-stderr trdecode -o s "$T/long-number.trace"
	[[ $stderr == *'0x2: chunk 0, byte 22 of the unpacked trace: a number of more than 64 bits' ]]
}

@test "an argument whose number begins with a byte of all ones" {
	{
		# f(a), then f with the argument 255, then more calls of f
		printf '\005\000\000\000\001f\001\001a\000\001\000\000'
		printf '\000\000\000\001\377\001\004\007\000\001\001\000'
		for ((call = 2; call < 40; call++)); do
			printf '\000\000\000\000\001'"\\x$(printf %02x $call)"'\000'
		done
	} | gzip -n >x.trace
	run -1 --separate-stderr trdecode -o s x.trace
	[[ $stderr == *': argument 256 of a function that has 1' ]]
}

@test "the mark of a container alone is no trace" {
	for mark in at 'at\006\000\000' '\037\213'; do
		# shellcheck disable=SC2059 # it is a format
		printf "$mark" >mark.trace
		run -2 errors trdecode -o s mark.trace
		assert_output 'trdecode: mark.trace: not a trace of a known format'
	done
	: >empty.trace
	run -2 errors trdecode empty.trace
}

@test "--info: a call that has not returned ends its frame, names are escaped" {
	run -0 trdecode --info "$T/pending.trace"
	assert_line --regexp '^frames count +1$'
	assert_line --regexp '^api +OpenGL/GLES1/GLES2/VG \+ EGL$'
	printf '\006\006\003a"\033\001v\000' >raw
	printf 'at\013\000\000\000\011\040' >named.trace
	cat raw >>named.trace
	run -0 trdecode --info --json named.trace
	assert_output --partial '"property_a\"\u001b": "v"'
}

@test "two traces in one file are two traces" {
	{
		printf at
		tail -c +3 "$T/v6.trace"
		tail -c +3 "$T/v4.trace"
	} >two.trace
	trdecode two.trace | dump >got
	cat "$T/v6.txt" "$T/v4.txt" | cmp - got
	run -0 trdecode --info two.trace
	assert_line --regexp '^traces +2$'
}

@test "traces without calls before, between and behind others of a file" {
	# of each version: its header, and a call of f
	header() {
		if [ "$1" = 6 ]; then printf '\006\006\001p\001%s\000' "$2"; else printf "\\00$1"; fi
	}
	call() {
		if [ "$1" -lt 4 ]; then printf '\000'; else printf '\000\000'; fi
		printf '\000\001f\000\000\001\000\000'
	}
	for version in 2 3 4 5 6; do
		for other in 5 6; do
			for order in 'c e c' 'e c' 'c e' 'c e e c e' 'e e'; do
				for what in $order; do
					[ $what = e ] || { header $version 1 && call $version; }
					[ $what = c ] || header $other 2
				done >raw
				gzip -n <raw >x.trace
				trdecode -o s x.trace
				trencode -q -t apitrace --compress gzip s | zcat | cmp - raw
				[ "$(trencode s | grep -cx '0 f()')" = "$(tr -cd c <<<"$order" | wc -m)" ]
			done
		done
	done
	[ "$(trdecode --info x.trace | grep -E '^(traces|property|trace)')" = "$(printf '%s\n' \
		'traces            2' 'property p        2' 'trace 2 property p 2')" ]
	# what follows must be a trace's, too; versions 0 and 1 are events
	printf '\005\006\006\000\005\011' | gzip -n >x.trace
	run -1 trdecode -o s x.trace
	assert_output 'trdecode: x.trace: 0x0: member 0, byte 1 of the unpacked trace: unknown event 6'
	head -c 20000 /dev/zero | tr '\000' '\005' | gzip -n >x.trace
	run -1 trdecode -o s x.trace
	assert_output --partial 'byte 1 of the unpacked trace: more than 16384 traces in a file'
	# apitrace ends with the second header
	{ header 6 1 && call 6 && header 6 2; } | gzip -n >x.trace
	run -0 pipe 'trdecode x.trace | trencode -t apitrace -o y.trace'
	assert_output --partial 'apitrace reads only the first'
}

@test "blobs become files" {
	trdecode "$T/v6.trace" | trencode --all-calls --blobs blobs >got
	grep -q 'blob("blob_call1.bin")' got
	[ "$(stat -c %s blobs/blob_call1.bin)" -eq 3 ]
	[ -z "$(find blobs -name '.blob*')" ]
}

@test "octal escapes as they should be" {
	trdecode "$T/v6.trace" | trencode --all-calls --octal >got
	run diff <(trdecode "$T/v6.trace" | trencode --all-calls) got
	assert_failure
	assert_output --partial '\300\301\302'
}

@test "what is no trace is refused" {
	printf '\006\006\000' >bare
	run -2 errors trdecode bare
	assert_output --partial 'not a trace of a known format'
	printf 'at\007\000\000\000\005\020\007\000\000\000\000' >seven
	run -2 errors trdecode seven
	assert_output --partial 'unsupported trace format version 7'
}

@test "text that begins with the mark of snappy is no trace" {
	for text in 'attach the cable\n' 'attach.txt' 'at\n' 'at once\n' 'atom' 'at\t1\n' \
		'attachment; caf\303\251\n' 'attention \303\244\303\266\303\274\n'; do
		# shellcheck disable=SC2059 # it is a format
		printf "$text" >attach.txt
		run -2 errors trdecode -o s attach.txt
		assert_output 'trdecode: attach.txt: not a trace of a known format'
		run -2 errors trdecode -f apitrace -o s - <attach.txt
		assert_output 'trdecode: <stdin>: not a trace of the format apitrace'
	done
	seq -f 'at %g o clock' 1000 >attach.txt
	run -2 errors trdecode -o s attach.txt
	# a damaged length, with a trace after it
	for byte in 2 3 4 5; do
		for bit in 1 8 16 64 128; do
			cp "$T/v6.trace" x.trace
			chmod u+w x.trace
			damage_byte x.trace $byte $bit
			run -1 trdecode -o s x.trace
			assert_output --regexp '^trdecode: x.trace: 0x[0-9a-f]+: chunk [01]'
		done
	done
}

@test "what brotli has a meaning for is no trace for that" {
	# as compiled Python of version 3.11 begins
	printf '\247\015\015\012\000\000\000\000\244\214\017\150\304\023\000\000\343\000' >x.pyc
	head -c 100 /dev/zero >>x.pyc
	run -2 errors trdecode x.pyc
	assert_output 'trdecode: x.pyc: not a trace of a known format'
}

# damage_byte FILE OFFSET [BITS]: those of that byte, 32 unless given
damage_byte() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\x$(printf %x $((byte ^ ${3:-32})))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "damaged brotli: all that comes before the damage is there" {
	trdecode "$RECORDED/apitrace/glxinfo.trace" | trencode -t apitrace --compress brotli >big.br
	half=$(($(stat -c %s big.br) / 2))
	head -c $half big.br >cut.br
	trdecode -o s cut.br 2>said || [ $? -eq 1 ]
	trencode -t text --all-calls s 2>said | sed '$d' >want
	cp big.br bad.br
	damage_byte bad.br $half
	trdecode -o s bad.br 2>said || [ $? -eq 1 ]
	trencode -t text --all-calls s 2>/dev/null | head -n "$(wc -l <want)" | cmp - want
	[ "$(wc -l <want)" -gt 10000 ]
	grep -q 'stream 0' said
}

@test "damaged brotli within its first bytes is still a trace, if a header came out" {
	local reported=0
	trdecode "$T/v6.trace" | trencode -t apitrace --compress brotli >whole.br
	for at in $(seq 600 100 1500); do
		cp whole.br bad.br
		damage_byte bad.br "$at"
		run --separate-stderr trdecode -o s bad.br
		# a literal that another one replaces is no damage that shows
		[ "$status" -ne 0 ] || continue
		[ "$status" -eq 1 ]
		[[ $stderr == *'bad.br: 0x'*': stream 0'* ]]
		reported=$((reported + 1))
	done
	[ $reported -ge 3 ]
}

@test "damage names the member that it is in" {
	{
		printf '\005\000\000' | gzip -n
	} >x.trace
	run -1 --separate-stderr trdecode -o s x.trace
	[[ $stderr == *'x.trace: 0x0: member 0, byte 1 of the unpacked trace: '* ]]
	trdecode "$T/v6.trace" | trencode -t apitrace --compress gzip >x.trace
	printf 'more' >>x.trace
	run -1 --separate-stderr trdecode -o s x.trace
	[[ $stderr == *': member 0: bytes that do not belong to the trace follow it' ]]
}

@test "the second blob of a call is its number 1" {
	# f(a = 16-byte blob, b, c)
	{
		printf '\005\000\000\000\001f\003\001a\001b\001c'
		printf '\001\000\010\002xx\001\001\010\002yy\001\002\010\002zz\000\001\000\000'
	} | gzip -n >blobs.trace
	trdecode blobs.trace | trencode -t text --all-calls --blobs blobs >got
	grep -qF 'f(a = blob("blob_call0.bin"), b = blob("blob_call0_1.bin"), c = blob("blob_call0_2.bin"))' got
	[ "$(cat blobs/blob_call0_1.bin)" = yy ]
}

@test "--offset in ticks: a number, and not to before the beginning" {
	run -2 errors trdecode --offset="$T/v6.trace=-2" -o s "$T/v6.trace"
	assert_output --partial 'before time 0'
	run -2 errors trdecode --offset="$T/v6.trace=5s" -o s "$T/v6.trace"
	assert_output --partial 'counts ticks'
	run -0 pipe "cat $T/v6.trace | trdecode --offset=-=5 - | trfilter -c 'time < 5'"
	assert_output 0
	trdecode "$T/v6.trace" >s
	run -2 errors trdecode --offset=s=5s -o again s
	assert_output --partial 'counts ticks'
}

@test "--info: properties of all traces of a file" {
	printf '\006\006\001a\001b\000' >raw
	printf '\006\006\001c\001d\000' >>raw
	gzip -n <raw >two.trace
	run -0 trdecode --info two.trace
	assert_line --regexp '^property a +b$'
	assert_line --regexp '^trace 2 property c +d$'
	run -0 trdecode --info --json two.trace
	assert_output --partial '"trace_2_property_c": "d"'
}

@test "zstd that begins with a frame to skip" {
	printf '\x50\x2a\x4d\x18\004\000\000\000skip' >x.trace
	trdecode "$T/v6.trace" | trencode -t apitrace --compress zstd >>x.trace
	trdecode x.trace | dump | cmp - "$T/v6.txt"
}

@test "zstd: a window of up to 128 MiB is read, a larger one is named and refused" {
	# frames as a pipe gets them have a window, those of files one segment
	trdecode "$T/v6.trace" | trencode -t apitrace --compress gzip | zcat >raw
	for how in 'zstd -qc --long=27' 'zstd -qc --ultra -22 --long=27'; do
		pipe "cat raw | $how" >x.trace
		trdecode x.trace | dump | cmp - "$T/v6.txt"
	done
	pipe 'cat raw | zstd -qc --long=28' >x.trace
	for format in apitrace uftrace; do
		run -2 errors trdecode -f $format -o s x.trace
		assert_output 'trdecode: x.trace: 0x0: frame 0: it asks for a window of 256 MiB, and at most 128 MiB are kept'
	done
	# after a complete frame only the rest of the file is lost
	at=$(($(stat -c %s raw) / 2))
	pipe "head -c $at raw | zstd -qc" >two.trace
	size=$(stat -c %s two.trace)
	pipe "tail -c +$((at + 1)) raw | zstd -qc --long=31" >>two.trace
	run -1 trdecode -o s two.trace
	assert_output "$(printf 'trdecode: two.trace: 0x%x: frame 1: it asks for a window of 2048 MiB, and at most 128 MiB are kept' "$size")"
	run -1 pipe 'trencode --all-calls --thread-ids s 2>/dev/null'
	[ "${#lines[@]}" -ge 3 ]
	# one segment of 1 GiB: the size of what is in it is what must be kept
	printf '\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x40\x01\x00\x00' >one.trace
	run -2 errors trdecode -o s one.trace
	assert_output --partial 'a window of 1024 MiB'
}

@test "gzip and zstd damaged before the first byte: a damaged trace, and where" {
	for method in gzip zstd; do
		trdecode "$T/v6.trace" | trencode -t apitrace --compress $method -o whole.trace
		part=member
		[ $method = gzip ] || part=frame
		for at in 12 14 16 20 30; do
			cp whole.trace x.trace
			printf '\xff' | dd of=x.trace bs=1 seek=$at conv=notrunc status=none
			run -1 trdecode -o s x.trace
			assert_output --regexp "^trdecode: x.trace: 0x[0-9a-f]+: $part 0: damaged before a byte of it was unpacked$"
			run -1 trstat s
			run -1 trdecode --info x.trace
			run -1 pipe "cat x.trace | trdecode - | trencode --all-calls"
		done
		for size in 12 20 30; do
			head -c $size whole.trace >x.trace
			run -1 trdecode -o s x.trace
			assert_output --regexp "^trdecode: x.trace: 0x[0-9a-f]+: $part 0: the file ends inside of it$"
		done
	done
	# flags that gzip does not have
	printf '\037\213\010\377\0\0\0\0\0\003\003\0' >x.trace
	run -1 trdecode -o s x.trace
	assert_output --partial 'x.trace: 0x4: member 0: damaged'
}

@test "values too large to keep are left out, and that is said" {
	{
		printf '\005\000\000\000\001f\001\001a\001\000\010\200\200\200\210\001'
		head -c $((272 << 20)) /dev/zero
		printf '\000\001\000\000'
	} | gzip -1 >huge.trace
	run -1 --separate-stderr trdecode -o s huge.trace
	[[ $stderr == *'huge.trace: 1 call has values of more than 256 MiB, which were left out: a stream holds no larger ones'* ]]
	# a gap says so, in text and in every summary, and so does the status
	run -1 --separate-stderr trencode --all-calls s
	assert_line --index 0 '// gap: values of call 0 beyond 256 MiB are left out'
	assert_line --index 1 '0 f(a = ?)'
	run -1 --separate-stderr trstat -c count s
	[[ $stderr == *'trstat: 1 gap, where something is missing (trencode shows them)'* ]]
	run -1 --separate-stderr pipe "trfilter 'name == \"none\"' s | trstat -c count"
	[[ $stderr == *'trstat: 1 gap, where something is missing'* ]]
}

@test "--max-value: what is larger is left out, all else stays, and gaps say so" {
	# f(a = blob of 128 bytes, b = 1), f(b = 2)
	{
		printf '\005\000\000\000\001f\002\001a\001b\001\000\010\200\001'
		head -c 128 /dev/zero
		printf '\001\001\004\001\000\001\000\000'
		printf '\000\000\000\001\001\004\002\000\001\001\000'
	} | gzip -n >x.trace
	run -0 --separate-stderr pipe 'trdecode --max-value=100 x.trace | trencode --all-calls'
	assert_output "$(printf '%s\n' '// gap: values of call 0 beyond 100 bytes are left out' '0 f(a = ?, b = 1)' '1 f(a = ?, b = 2)')"
	[[ $stderr == *'x.trace: 1 call has values of more than 100 bytes, which were left out: a higher --max-value keeps them'* ]]
	# a limit that the user set is no damage, except with --strict
	run -1 --separate-stderr pipe 'trdecode --strict --max-value=100 x.trace | trencode --all-calls'
	[[ $(grep -c 'left out: a higher --max-value keeps them' <<<"$stderr") == 1 ]]
	run -0 --separate-stderr pipe 'trdecode --max-value=1K x.trace | trencode --all-calls'
	assert_line --index 0 '0 f(a = blob(128), b = 1)'
	for size in 0 63 257M much; do
		run -2 errors trdecode --max-value=$size x.trace
		assert_output --partial 'takes a size from 64 to 256M'
	done
	for size in 64 100 1000 4K 64K; do
		for name in feat glxinfo gen/rand-v6; do
			trdecode -q --max-value=$size "$RECORDED/apitrace/$name.trace" >s
			trfilter -q -c 1 s >count
			trdecode -q "$RECORDED/apitrace/$name.trace" | trfilter -c 1 | cmp - count
			run -0 --separate-stderr trencode -t apitrace -q -o again s
			[ "$size" != 64 ] || continue
			trdecode again | trencode --all-calls | grep -v '^// gap' >a
			trencode --all-calls s | grep -v '^// gap' | cmp - a
		done
	done
}

@test "bitmasks by the names of their bits, wide strings as text" {
	# f(m = A | C, w = L"h\u00e9")
	{
		printf '\005\000\000\000\001f\002\001m\001w'
		printf '\001\000\012\000\003\001A\001\001B\002\001C\004\005'
		printf '\001\001\017\002h\351\001\000\001\000\000'
	} | gzip -n >bits.trace
	trdecode bits.trace >s
	for holds in 'arg.m == "A"' 'arg.m == "C"' 'arg.m == "A|C"' 'arg.m == "A | C"' 'arg.m =~ "^A[|]C$"' 'arg.m in {B, C}' \
		'arg.m != "B"' 'arg.m == 5' 'arg.w == "hé"' 'arg.w.size == 2'; do
		run -0 trfilter -c "kind == enter && $holds" s
		assert_output 1
	done
	for fails in 'arg.m == "B"' 'arg.m =~ "B"' 'arg.m in {B}' 'arg.m == "A| |C"' 'arg.m == "A|"' 'arg.w == "h"'; do
		run -0 trfilter -c "kind == enter && $fails" s
		assert_output 0
	done
	run -0 trstat -t tsv -g arg.m,arg.w -c count s
	assert_line 'A|C	hé	1'
}

@test "a value has one spelling in rows, keys and conditions" {
	trdecode "$DATA/apitrace/v6.trace" >s
	run -0 pipe 'trencode -q -t ndjson s | jq -r "select(.name == \"kinds\") | .args | .ptr, .mask"'
	# shellcheck disable=SC2154
	ptr=${lines[-2]} mask=${lines[-1]}
	[[ $ptr == 0x* && $mask != *' '* ]]
	run -0 pipe "trstat -q -t tsv -g arg.ptr,arg.mask -c count s | grep -c '^$ptr	$mask	1\$'"
	assert_output 1
	run -0 trfilter -c "kind == enter && arg.ptr == $ptr && arg.mask == \"$mask\"" s
	assert_output 1
}

@test "rows have the number of the call, as apitrace dump prints it" {
	trdecode "$DATA/apitrace/threads.trace" >s
	trencode -q -t ndjson s | jq -r '"\(.args.call) \(.name)"' | sort -n >got
	trencode -q --all-calls s | sed -n 's/^\([0-9]* [A-Za-z0-9_]*\)(.*/\1/p' | sort -n >want
	[[ -s got ]]
	run -0 cmp got want
	trencode -q -t csv s | grep -c '""call"":' >n
	assert_equal "$(<n)" "$(wc -l <got)"
}

@test "fake calls and back traces: fields of rows, conditions and keys" {
	# f(n = 1) fake, with a back trace: g in the module m at offset 16, then m2 at 32
	{
		printf '\005\000\000\000\001f\001\001n\005\001'
		printf '\004\002\000\001\001m\002\001g\005\020\000\001\001\002m2\005\040\000'
		printf '\001\000\004\001\000\001\000\000'
		printf '\000\000\000\001\000\004\002\000\001\001\000'
	} | gzip -n >x.trace
	trdecode x.trace >s
	run -0 trencode s
	assert_line '0 f(n = 1) // fake'
	assert_line 'm: g+0x10'
	run -0 pipe 'trencode -t ndjson s | jq -c .args'
	assert_line --index 0 '{"fake":true,"backtrace":["m: g+0x10","m2+0x20"],"n":1,"call":0,"stack":["m2+0x20","g"],"frame":0}'
	assert_line --index 1 '{"n":2,"call":1,"frame":0}'
	for c in fake 'has(backtrace)' 'backtrace =~ "g$"' 'backtrace == "m2+0x20;g"' '!(fake == 0)'; do
		run -0 pipe "trfilter '$c' s | trencode -t ndjson | jq -c .args.n"
		assert_output 1
	done
	run -0 pipe "trfilter '!fake && !has(backtrace)' s | trencode -t ndjson | jq -c .args.n"
	assert_output 2
	# what has no place for back traces says so
	for c in lttng trace-cmd uftrace; do
		run -0 --separate-stderr trencode --tick 1us -t $c -o "to-$c" s
		assert_regex "$stderr" '[0-9]+ back (trace of a call is|traces of calls are) left out'
	done
	run -0 trstat -q -t tsv -g fake,backtrace -c count s
	assert_line $'true\tm2+0x20;g\t1'
	assert_line $'false\t\t1'
}

@test "our brotli is what apitrace reads, and is not taken for JSON" {
	run -0 pipe "trdecode '$RECORDED/apitrace/brotli-begins-like-json.trace' | trencode | grep -c '^[0-9]'"
	[[ $output -gt 10 ]]
}

@test "an array of JSON is empty only if nothing follows it" {
	printf '[ ] \n' >x.json
	run -0 trdecode -o s x.json
	printf '[]\001\002 "x"' >x
	run -2 trdecode -o s x
	assert_output --partial 'x: not a trace of a known format'
}

@test "a call is fake if any of its flags says so" {
	# f() with flags 1 in the enter and 0 in the leave, with 1 and 2 in the enter
	printf '\005\000\000\000\001f\000\005\001\000\001\000\005\000\000' | gzip -n >x.trace
	run -0 pipe 'trdecode x.trace | trencode'
	assert_output '0 f() // fake'
	printf '\005\000\000\000\001f\000\005\001\005\002\000\001\000\000' | gzip -n >x.trace
	run -0 pipe 'trdecode x.trace | trencode'
	assert_output '0 f() // fake'
}

@test "what a Direct3D device is asked is hidden, of whatever version" {
	printf '\005' >raw
	call=0
	for name in ID3D10Device::CheckFormatSupport ID3D10Device1::CheckMultisampleQualityLevels \
		ID3D11Device::CheckFormatSupport ID3D11Device5::CheckFormatSupport \
		ID3D11Device::CheckMultisampleQualityLevels ID3D11Device::CheckCounter \
		ID3D12Device::CheckFormatSupport ID3D11DeviceX::CheckFormatSupport \
		ID3D11Device::CheckFormatSupportX; do
		octal=$(printf '%03o' $call)
		printf "\\000\\000\\$octal\\$(printf '%03o' ${#name})$name\\000\\000\\001\\$octal\\000" >>raw
		call=$((call + 1))
	done
	gzip -n <raw >x.trace
	run -0 pipe 'trdecode x.trace | trencode'
	assert_output "$(printf '%s()\n' '5 ID3D11Device::CheckCounter' \
		'6 ID3D12Device::CheckFormatSupport' '7 ID3D11DeviceX::CheckFormatSupport' \
		'8 ID3D11Device::CheckFormatSupportX')"
}

@test "a file of several traces, however small, is written back as they are" {
	printf '\006\006\001a\001b\000\000\000\000\001f\000\000\001\000\000' >raw
	printf '\006\006\001e\001f\000\000\000\000\001g\000\000\001\000\000' >>raw
	printf '\006\006\001g\001h\000' >>raw
	gzip -n <raw >x.trace
	trdecode x.trace | trencode -t apitrace --compress gzip | zcat >got
	cmp got raw
	for trace in threads v6; do
		trdecode "$T/$trace.trace" | trencode -t apitrace --compress gzip | zcat >one
		cat one one one >raw
		gzip -n <raw >x.trace
		trdecode x.trace | trencode -t apitrace --compress gzip | zcat >got
		cmp got raw
	done
}

@test "--blobs: nothing but the blobs that the text names is left in the directory" {
	# f(a = "1", then "22"), in the enter, and in enter and leave; a hidden call with one
	printf '\005\000\000\000\001f\001\001a\001\000\010\0011\001\000\010\00222\000\001\000\000' |
		gzip -n >x.trace
	printf '\005\000\000\000\001f\001\001a\001\000\010\0011\000\001\000\001\000\010\00222\000' |
		gzip -n >y.trace
	for name in x y; do
		run -0 pipe "trdecode $name.trace | trencode --blobs $name"
		assert_output '0 f(a = blob("blob_call0.bin"))'
		[ "$(cat $name/blob_call0.bin)" = 22 ]
		[ "$(find $name -type f | wc -l)" = 1 ]
	done
	printf '\005\000\000\000\013glGetString\001\001a\001\000\010\0011\000\001\000\000' |
		gzip -n >z.trace
	run -0 pipe 'trdecode z.trace | trencode --blobs z'
	assert_output ''
	[ -z "$(find z -type f)" ]
}

@test "--blobs of several traces do not replace each other" {
	for text in one two; do
		printf '\005\000\000\000\001f\002\001a\001b\001\000\010\003%s\001\001\010\0012\000\001\000\000' $text
	done >raw
	gzip -n <raw >x.trace
	run -0 pipe 'trdecode x.trace | trencode --blobs x'
	[[ $output == *'0 f(a = blob("blob_call0.bin"), b = blob("blob_call0_1.bin"))'* ]]
	[[ $output == *'0 f(a = blob("blob_trace2_call0.bin"), b = blob("blob_trace2_call0_1.bin"))'* ]]
	[ "$(cat x/blob_call0.bin)" = one ]
	[ "$(cat x/blob_trace2_call0.bin)" = two ]
	[ "$(find x -type f | wc -l)" = 4 ]
}

@test "snappy damaged within its first bytes: a damaged trace, and where" {
	# a copy from before the beginning, a length of 4 GiB
	printf 'at\006\000\000\000\040\000Az\377\377' >copy.trace
	printf 'at\007\000\000\000\377\377\377\377\017\000A' >length.trace
	for name in copy length; do
		run -1 trdecode -o s $name.trace
		assert_output --regexp "^trdecode: $name.trace: 0x2: chunk 0: (damaged|impossible length)"
		run -1 trstat s
		run -1 trdecode --info $name.trace
	done
}

@test "--info: the container's size is the file's, of a damaged one too" {
	{
		printf '\005\000\000\000\001f\000\000\011' | gzip -n
		head -c 1000000 /dev/zero
	} >x.trace
	run -1 trdecode --info x.trace
	assert_line --regexp "^container size +$(stat -c %s x.trace)$"
	run -0 pipe "cat $T/v6.trace | trdecode --info -"
	assert_line --regexp "^container size +$(stat -c %s "$T/v6.trace")$"
}

@test "blobs whose files cannot be written name the file" {
	trdecode "$T/v6.trace" >s
	trencode --blobs=b s >/dev/null
	name=$(cd b && printf '%s\n' * | head -n 1)
	mkdir -p "c/$name/x"
	run -2 trencode --blobs=c s
	assert_output --partial "c: cannot write $name: Is a directory"
}

@test "a name of no bytes in an empty buffer" {
	printf '\004\000\000\000\001f\001\001a\001\000\011\000\001\000\004\005\004\005\000\001\000\000' | gzip >x.trace
	run -0 pipe 'trdecode x.trace | trencode'
	assert_output '0 f(a = )'
}

@test "numbers where apitrace needs some: lines and offsets, glGetError, GUIDs" {
	need apitrace
	{
		# a property whose name holds a NUL
		printf '\006\006\003a\000b\001v\000'
		# f(), of a frame with line 2^32 - 1 and offset 2^63, and one with 7 and 9
		printf '\000\000\000\001f\001\001a\004\002'
		printf '\000\002\001f\003\001s\004\377\377\377\377\017\005\200\200\200\200\200\200\200\200\200\001\000'
		printf '\001\003\001s\004\007\005\011\000'
		# a = GUID {0, true, repr ("x", 3), {8 bytes}}
		printf '\001\000\014\000\004GUID\004\001a\001b\001c\001d\000\002\016\007\001x\004\003'
		printf '\013\010\004\001\004\002\004\003\004\004\004\005\004\006\004\007\016\004\011\004\010\000'
		printf '\001\000\000'
		# glGetError: nothing, 5, 0, NULL, false, true, 0.5, -1.5, repr (1, 0), repr (0, 1)
		printf '\000\000\001\012glGetError\000\000\001\001\000'
		call=2
		for value in '\004\005' '\004\000' '\000' '\001' '\002' '\005\000\000\000\077' \
			'\005\000\000\300\277' '\016\004\001\004\000' '\016\004\000\004\001'; do
			# shellcheck disable=SC2059 # they are formats
			printf "\\000\\000\\001\\000\\001\\$(printf %03o $call)\\002$value\\000"
			call=$((call + 1))
		done
	} | gzip -n >x.trace
	apitrace dump --color=never x.trace >want
	[ "$(grep -c glGetError want)" = 5 ]
	grep -qxF '?+0x9: s:7' want
	grep -qxF '?: f: s' want
	trdecode x.trace | trencode | cmp - want
	apitrace dump -v --color=never x.trace >want
	trdecode x.trace | trencode --all-calls | cmp - want
}

@test "very many chunks in which nothing is packed take no stack" {
	{
		printf at
		head -c 400000 /dev/zero | sed 's/\x00\x00\x00\x00/\x01\x00\x00\x00\x00/g'
	} >"$BATS_TEST_TMPDIR/x.trace"
	cd "$BATS_TEST_TMPDIR"
	run bash -c "ulimit -s 256; trdecode -f apitrace -o x.trs x.trace"
	((status < 128)) || fail "$output"
}

@test "classes of calls and frames are those of apitrace, in conditions, keys and columns" {
	need apitrace
	local trace set n
	for trace in "$RECORDED"/apitrace/{glxgears,es2gears,mt4,feat}.trace "$DATA/apitrace/threads.trace"; do
		trdecode -q "$trace" -o x.trs
		for set in frame render; do
			apitrace dump -v --color=never --multiline=no --calls="*/$set" "$trace" | sed -nE 's/^([0-9]+) .*/\1/p' | sort -n >theirs
			[ $set = frame ] || set='draw", "render'
			trfilter -q "class in {\"$set\"}" x.trs | trencode -q -t tsv --no-header -c call | sort -n | diff theirs -
			run -0 trfilter -c "class in {\"$set\"}" x.trs
			assert_output "$(wc -l <theirs)"
		done
		trencode -q -t tsv --no-header -c call,frame,class x.trs >rows
		awk -F '\t' '{ n[$3]++ } END { for (c in n) print c "\t" n[c] }' rows | sort >theirs
		trstat -q -t tsv -g class -c count x.trs | tail -n +2 | sort | diff theirs -
	done
	for n in 1 2; do
		apitrace trim --frames=$n -o frame.trace "$RECORDED/apitrace/mt4.trace"
		run -0 pipe "trdecode -q '$RECORDED/apitrace/mt4.trace' | trfilter -c 'frame == $n'"
		assert_output "$(apitrace dump -v --color=never --multiline=no frame.trace | grep -c '^[0-9]')"
	done
	run -0 pipe 'trdecode -q "$DATA/apitrace/threads.trace" | trfilter "class == \"draw\"" | trstat -q -t tsv -g name -c count'
	assert_output $'name\tcount\nglEnd\t160'
}

@test "the backtraces of calls are stacks: those that apitrace dump prints" {
	apitrace dump -v --color=never "$RECORDED/apitrace/backtrace.trace" >dump
	# a call, then its frames, innermost first: MODULE: FUNCTION+OFFSET: FILE, or MODULE+OFFSET
	awk 'function flush() { if (stack != "") print stack ";" name; stack = "" }
		/^[0-9]+ (@[0-9]+ )?[A-Za-z]+\(/ { flush(); on = 0; sub(/^[0-9]+ (@[0-9]+ )?/, ""); sub(/\(.*/, ""); name = $0; next }
		/^Backtrace:/ { on = 1; next }
		/^$/ { on = 0 }
		!on { next }
		{ frame = $0; if (sub(/^[^ ]+: /, "", frame)) sub(/\+0x.*/, "", frame)
			stack = stack == "" ? frame : frame ";" stack }
		END { flush() }' dump | sort | uniq -c | awk '{ print $2 "\t" $1 }' | sort >theirs
	[ "$(wc -l <theirs)" -ge 6 ]
	trdecode -q "$RECORDED/apitrace/backtrace.trace" >b.trs
	trstat -q -t tsv -g stack -c count b.trs | grep ';' | sort | diff theirs -
	trencode -q -t folded --weight count b.trs | grep ';' | sed 's/ \([0-9]*\)$/\t\1/' | sort | diff theirs -
	run -0 trfilter -c 'under("main") && kind == "enter"' b.trs
	assert_output "$(awk -F '\t' '/;main;/ { n += $2 } END { print n }' theirs)"
	run -0 trfilter -c 'stack =~ "main;glClear$" && kind == "enter"' b.trs
	assert_output "$(awk -F '\t' '/;main;glClear\t/ { n += $2 } END { print n }' theirs)"
	# neither segments nor a stage between change the stacks
	trdecode -q --segment=64K "$RECORDED/apitrace/backtrace.trace" | trsym -q |
		trstat -q -t tsv -g stack -c count | grep ';' | sort | diff theirs -
}
