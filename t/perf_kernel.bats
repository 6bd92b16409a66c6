#!/usr/bin/env bats
# Names in the kernel of recordings of perf: modules, programs of BPF, and other code that the kernel makes.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

# make_module: my-driver.ko, with functions in the sections that modules have
make_module() {
	need gcc ld readelf
	cat >my-driver.c <<-'END'
		#define IN(name) __attribute__((section(name), used))
		int seen;
		IN(".text") int my_open(int x) { seen += x; return x * 3; }
		IN(".text") int my_read(int x) { return my_open(x) + 5 + seen; }
		IN(".init.text") int my_init(int x) { return my_read(x) * 7; }
		IN(".noinstr.text") int my_entry(int x) { return my_read(x) * 9; }
		IN(".text.unlikely") int my_error(int x) { return my_read(x) * 11; }
		IN(".exit.text") int my_exit(int x) { return my_read(x) * 13; }
		static IN(".modinfo") const char info[] = "name=my_driver";
	END
	gcc -O2 -fno-inline -c my-driver.c
	ld -r --build-id=sha1 -o my-driver.ko my-driver.o
}

# named OPTION...: time, function and module of each sample of kernel.data, after trsym
named() {
	trdecode kernel.data | trsym "$@" | trfilter -q 'kind == "sample"' | trencode -t tsv -c time,name,module | tail -n +2
}

@test "modules by their files, code by its KSYMBOL until it is freed, and the rest by kallsyms" {
	make_module
	path=/lib/modules/6.1.0/kernel/my-driver.ko
	python3 "$ROOT/t/tools/perf_kernel.py" kernel.data kallsyms my-driver.ko $path >want
	[ "$(grep -c my_driver want)" -eq 10 ]
	mkdir -p "root${path%/*}"
	cp my-driver.ko "root$path"
	named --sysroot root --kallsyms kallsyms 2>said | diff want -
	refute grep my-driver said

	# a file of another build is not used
	gcc -O1 -c my-driver.c
	ld -r --build-id=md5 -o "root$path" my-driver.o
	named --sysroot root 2>said | awk -F '\t' '$3 == "[my_driver]" && $2 !~ /^</' | run -1 grep .
	grep -E "$path: no symbols: build-id [0-9a-f]+ differs from [0-9a-f]+ in the trace \(see --kallsyms\)$" said

	# the file is found by its build-id alone
	python3 "$ROOT/t/tools/perf_kernel.py" kernel.data kallsyms my-driver.ko '[my_driver]' >want
	id=$(readelf -nW my-driver.ko | sed -n 's/.*Build ID: //p')
	mkdir -p "root/usr/lib/debug/.build-id/${id:0:2}"
	cp my-driver.ko "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	named --sysroot root --kallsyms kallsyms | diff want -
}

@test "compressed modules: .ko.xz, .ko.gz, .ko.zst, and cut ones" {
	local pack suffix path
	make_module
	while read -r suffix pack; do
		path=/lib/modules/6.1.0/kernel/my-driver.ko.$suffix
		python3 "$ROOT/t/tools/perf_kernel.py" kernel.data kallsyms my-driver.ko "$path" >want
		[ "$(grep -c my_driver want)" -eq 10 ]
		mkdir -p "root${path%/*}"
		$pack <my-driver.ko >"root$path"
		named --sysroot root --kallsyms kallsyms 2>said | diff want -
		refute grep my-driver said
		head -c 100 "root$path" >short
		mv short "root$path"
		named --sysroot root 2>said >have
		[ "$(grep -cP '\t<ffffffffc01[0-9a-f]*>\t\[my_driver\]$' have)" -eq 10 ]
		grep "my-driver.ko.$suffix: .*not an ELF file" said
	done <<-'END'
		xz xz -c
		gz gzip -c
		zst zstd -c
	END
}

@test "a module of which there is no file has the names of --kallsyms, and else its own name" {
	make_module
	python3 "$ROOT/t/tools/perf_kernel.py" kernel.data kallsyms my-driver.ko /lib/modules/6.1.0/kernel/my-driver.ko >want
	printf '%s\n' 'ffffffffc0100000 t one	[my_driver]' 'ffffffffc0100030 t two	[my_driver]' >>kallsyms
	named --sysroot none --kallsyms kallsyms >have
	[ "$(grep -cP '\t(one|two)\t\[my_driver\]$' have)" -eq 10 ]
	diff <(grep -v my_driver want) <(grep -v my_driver have)
	run -0 --separate-stderr named --sysroot none
	[ "$(grep -cP '\t<ffffffffc01[0-9a-f]*>\t\[my_driver\]$' <<<"$output")" -eq 10 ]
	[ "$(grep -c sd_fw_egress <<<"$output")" -eq 2 ]
}

@test "programs of BPF that ran here, as perf script names them" {
	need perf
	[ "$(uname -m)" = x86_64 ] || skip 'no system call of this machine'
	python3 "$ROOT/t/tools/bpf_programs.py" 0 || skip 'no BPF for this user'
	perf record -q -F 4000 -e cpu-clock -o bpf.data python3 "$ROOT/t/tools/bpf_programs.py" 0.3 2>err ||
		skip "perf record: $(tail -n 1 err)"
	perf script -i bpf.data -F ip,sym,dso 2>/dev/null | awk '$2 ~ /^bpf_prog_[0-9a-f]+_/ { print $2, $3 }' | sort >theirs
	trdecode -q bpf.data | trsym -q | trencode -t tsv -c name,module |
		awk '$1 ~ /^bpf_prog_[0-9a-f]+_/ { print $1, "(" $2 ")" }' | sort >ours
	[ "$(uniq ours | wc -l)" -eq 2 ]
	diff theirs ours
}

@test "a recording without build-ids has the names of the kernel that runs, if it is that kernel" {
	need perf
	grep -q '^0*[1-9a-f][0-9a-f]* T _text' /proc/kallsyms || skip 'kallsyms has no addresses'
	perf record -q -a -o - sleep 0.2 2>err | tee saved.pipe | trdecode -q >live.trs || skip "perf record: $(tail -n 1 err)"
	# names_of OPTION...: functions of the kernel with their samples
	names_of() {
		trsym -q "$@" | trstat -q -t tsv -g module,name -c count | grep '^\[kernel' | sort
	}
	names_of --kallsyms /proc/kallsyms <live.trs >want
	[ -s want ]
	names_of <live.trs | diff want -
	trdecode -q saved.pipe | names_of | diff want -
	# of another machine
	sed "s/$(uname -n | sed 's/[.]/\\./g')/$(uname -n | tr 'a-zA-Z0-9' 'b-zab-zab-zab')/g" saved.pipe | trdecode -q |
		names_of | cut -f 2 | run -1 grep -v '^<'
	# of another kernel: its text is a page longer
	python3 - saved.pipe >longer.pipe <<-'END'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		size = data.index(b"[kernel.kallsyms]_") - 16
		struct.pack_into("=Q", data, size, struct.unpack_from("=Q", data, size)[0] + 4096)
		sys.stdout.buffer.write(data)
	END
	trdecode -q longer.pipe | names_of | cut -f 2 | run -1 grep -v '^<'
}

@test "frames have the names of perf script while programs are executed" {
	need perf
	grep -q '^0*[1-9a-f][0-9a-f]* T _text' /proc/kallsyms || skip 'kallsyms has no addresses'
	perf record -q -B -c 100000 -e cpu-clock -g -o exec.data sh -c \
		'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; exec env nice ls' >out 2>err || skip "perf record: $(tail -n 1 err)"
	perf script -i exec.data --no-inline -F ip,sym 2>/dev/null | awk 'NF { print $2 }' | sed 's/@.*//' >theirs
	trdecode -q exec.data | trsym -q --demangle=no >exec.trs
	python3 "$ROOT/t/tools/trstream.py" exec.trs | jq -r '.stack // [] | .[]' |
		sed 's/^<[0-9a-f]*>$/[unknown]/; s/@.*//' >ours
	# the kernel calls for the program before, of which perf prints another name of the function
	grep -qx execve ours
	assert_equal "$(grep -cx execve ours)" "$(grep -cxE '(__GI___)?execve' theirs)"
	assert_equal "$(grep -cx '\[unknown\]' ours)" "$(grep -cx '\[unknown\]' theirs)"
	assert_equal "$(wc -l <ours)" "$(wc -l <theirs)"
}
