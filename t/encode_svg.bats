#!/usr/bin/env bats
# trencode -t svg: a flame graph whose widths are those of folded stacks.
bats_require_minimum_version 1.5.0

load lib

setup() {
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
	trdecode "$DATA/uftrace/fib" | trsym >fib.trs
	trdecode -o perf.trs "$DATA/perf/zstd.data"
}

# Draw a stream, and compare the graph with the folded stacks.
compare() {
	trencode -q -t svg "${@:2}" -o x.svg "$1"
	trencode -q -t folded "${@:2}" "$1" >x.folded
	python3 "$ROOT/t/tools/flame_widths.py" x.svg x.folded
	if command -v xmllint >/dev/null; then
		xmllint --noout x.svg
	fi
}

@test "the frames are the stacks of folded, with the same sums: calls, samples, every weight" {
	compare fib.trs
	grep -q 'time of calls: [0-9]* ns' x.svg
	compare fib.trs --weight count
	grep -q 'calls: 1732 calls' x.svg
	compare fib.trs --unclosed drop
	compare fib.trs --since +7ms --until +8ms
	compare perf.trs
	grep -q 'cpu-clock[^:]*: [0-9]* ns\|cycles[^:]*: [0-9]* cycles' x.svg
	compare perf.trs --weight count
	trdecode "$DATA/apitrace/threads.trace" >ticks.trs
	compare ticks.trs
	grep -q 'time of calls: [0-9]* ticks' x.svg
}

@test "names with the characters of XML, and in other scripts" {
	printf 'a<b>&"c";%s 3\na<b>&"c";g 4\n' $'\u00e9\u4e2d\U1f600' >odd.txt
	trdecode -o odd.trs -f folded odd.txt
	compare odd.trs
	grep -q '<title>a&lt;b&gt;&amp;&quot;c&quot; (7 ' x.svg
}

@test "at most 8000 frames, and the others are merged and counted" {
	for ((n = 0; n < 30000; n++)); do echo "main;f$((n % 200));g$n $((n % 997 + 1))"; done >many.txt
	trdecode -o many.trs -f folded many.txt
	trencode -q -t svg -o x.svg many.trs
	(($(grep -c 'class="f"' x.svg) <= 8200))
	(($(stat -c %s x.svg) < 2000000))
	grep -q '[0-9]* frames too narrow to see' x.svg
	grep -q 'narrow frames) (' x.svg
	# the sums of the frames above main are that of main
	sed -n 's/.*<title>\(.*\) (\([0-9]*\) .*y="\([0-9]*\)" width.*/\3 \2/p' x.svg |
		awk '{ sum[$1] += $2 } END { for (y in sum) print sum[y] }' | sort -u >sums
	assert_equal "$(wc -l <sums)" 1
}

@test "an empty trace is a graph without frames" {
	trfilter -q 'tid == 1' fib.trs | trencode -q -t svg >x.svg
	if command -v xmllint >/dev/null; then
		xmllint --noout x.svg
	fi
	grep -q '<title>all (0 ns' x.svg
}

@test "in a browser: a click zooms, a search marks, Escape resets" {
	local browser
	browser=$(command -v chromium) || skip 'no chromium'
	trencode -q -t svg -o x.svg fib.trs
	# the script runs in the page, and writes what it sees into the title of the page
	{
		echo '<!DOCTYPE html><meta charset="utf-8"><title></title>'
		sed 1d x.svg | sed '/<script>/,$d'
		echo '</svg><script>'
		sed -n '/<script>/,/<\/script>/p' x.svg | sed '1d; s/\]\]><\/script>.*//; s/^const svg = .*/const svg = document.querySelector("svg");/'
		cat <<-'END'
			const shown = () => frames.filter(f => f.g.style.display !== 'none').length;
			const log = [frames.length === shown()];
			const fib = frames.find(f => f.name === 'fib');
			fib.g.dispatchEvent(new MouseEvent('click'));
			log.push(Math.abs(fib.rect.getAttribute('width') - width) < 1e-6, shown() < frames.length,
				frames.find(f => f.name === 'all').g.classList.contains('below'));
			document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
			log.push(shown() === frames.length, +fib.rect.getAttribute('width') === fib.width);
			search('^fib$');
			log.push(found.textContent);
			fib.g.dispatchEvent(new FocusEvent('focus'));
			log.push(about.textContent === fib.title);
			document.title = log.join(' ');
		END
		echo '</script>'
	} >page.html
	run -0 --separate-stderr timeout 100 "$browser" --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/page.html"
	part=$(sed -n 's/.*<title>fib (\([0-9]*\) .*/\1/p' x.svg | sort -n | tail -n 1)
	echo "fib: $part"
	assert_output --regexp '<title>true true true true true true found: [0-9.]+% true</title>'
}
