# lttng-analyses itself prints what t/analyses.bats compares with, and takes twenty times as long: run by make check-interop.

load ../lib

setup() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	DATA=$ROOT/t/data
	cd "$BATS_TEST_TMPDIR" || return
	need lttng-cputop-mi
	tar -xJf "$DATA/analyses/kernel.tar.xz"
}

# numbers DIRECTORY: the tables of all programs
numbers() {
	local file
	for file in "$1"/*.json; do
		echo "$file" | sed 's|.*/||'
		jq -S .results "$file"
	done
}

@test "lttng-analyses prints the stored numbers" {
	"$DATA/analyses/references.sh" "$PWD/kernel" "$PWD/live" 00:14:59.597101256
	[ "$(find live -size +0 -name '*.json' | wc -l)" = "$(find reference -name '*.json' | wc -l)" ]
	diff <(numbers reference) <(numbers live)
}

@test "lttng-analyses takes at least twenty times as long as trdecode and trstat" {
	# a recording fifty times, one after another
	text=$RECORDED/trace-cmd/v7-none-max.raw.txt
	for i in {0..49}; do
		awk -v add=$((2 * i)) 'match($0, / [0-9]+[.][0-9]+: /) {
			print substr($0, 1, RSTART) int(substr($0, RSTART) + add) substr($0, RSTART + index(substr($0, RSTART), ".") - 1) }' "$text"
	done | python3 "$ROOT/t/tools/lttng_kernel.py" many/kernel
	measure() {
		python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1], shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)))' "$1"
	}
	for program in 'cputop --pair oncpu' 'schedstats --pair wakeup' 'syscallstats --pair syscall -g tid,name'; do
		read -r name options <<<"$program"
		theirs=$(measure "lttng-$name-mi --skip-validation many")
		ours=$(measure "trdecode -q many | trstat -q $options")
		echo "$name: $theirs ms, $ours ms"
		((theirs >= 20 * ours)) || fail "$name: $theirs ms, $ours ms"
	done
}
