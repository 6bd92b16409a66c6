#!/usr/bin/env bats
# trencode -t svg: a flame graph whose widths are those of folded stacks, and with --by-time a flame chart whose
# frames are at the times of the calls.
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
	xmllint --noout x.svg
}

@test "the frames are the stacks of folded, with the same sums: calls, samples, every weight" {
	compare fib.trs
	# a time that a person reads, with the exact one as its tooltip
	head=$(sed -n 's/.*class="about head"[^>]*>time of calls: \([0-9.]* ms\).*<title>time of calls: \([0-9.]*\) ms.*/\1 \2/p' x.svg)
	assert_equal "${head##* }" "$(awk '{ sum += $NF } END { print sum / 1e6 }' CONVFMT=%.6f OFMT=%.6f x.folded)"
	awk '{ d = $1 - $3; exit (d < 0 ? -d : d) > $3 / 1000 }' <<<"$head"
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

@test "the title of a picture: the name of the trace, or --title" {
	title() {
		xmllint --xpath 'string(//*[@class="about title"])' -
	}
	for option in '' --by-time; do
		assert_equal "$(trencode -q -t svg $option fib.trs | title)" fib
		assert_equal "$(trencode -q -t svg $option --title 'a <b> & "c"' fib.trs | title)" 'a <b> & "c"'
		trencode -q -t svg $option --title '' fib.trs >none.svg
		! grep -q 'class="about title"' none.svg
		# several traces have no name
		trencode -q -t svg $option <(trdecode -q --align start "$DATA/uftrace/fib" "$DATA/perf/zstd.data") >two.svg
		! grep -q 'class="about title"' two.svg
	done
	# and the date, of a clock with wall time: the start time of this trace is 1212400800.123456
	assert_equal "$(trdecode -q "$DATA/lttng/v2.6-le64-packed.tar.gz" | trencode -q -t svg | title)" \
		"v2.6-le64-packed.tar.gz, $(date -u -d @1212400800 '+%F %T') UTC"
	mkdir b
	cp fib.trs b/later.trs
	assert_equal "$(trstat -q --diff -t svg fib.trs b/later.trs | title)" 'later.trs, compared with fib.trs'
	assert_equal "$(trstat -q --diff -t svg --title mine fib.trs b/later.trs | title)" mine
	run -2 trstat --diff --title mine fib.trs fib.trs
	assert_output --partial -- '--title goes with -t svg'
	run -2 trencode -t folded --title mine fib.trs
	assert_output --partial -- '--title has no effect on folded; it is for svg'
}

@test "names with the characters of XML, and in other scripts" {
	printf 'a<b>&"c";%s 3\na<b>&"c";g 4\n' $'\u00e9\u4e2d\U1f600' >odd.txt
	trdecode -o odd.trs -f folded odd.txt
	compare odd.trs
	grep -q '<title>a&lt;b&gt;&amp;&quot;c&quot; (7 ' x.svg
}

@test "characters that XML does not allow are escapes or question marks" {
	echo '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"a\u0001<\uffff\u007f"}]' |
		trdecode -q -f chrome -o odd.trs -
	trencode -q -t svg --by-time -o chart.svg odd.trs
	grep -q '<title>a\\x01&lt;?\\x7f (5 us at 0 ns, ' chart.svg
	trencode -q -t svg -o graph.svg odd.trs
	grep -q '<title>a\\x01&lt;?\\x7f (5 us, ' graph.svg
	xmllint --noout chart.svg graph.svg
}

@test "at most 8000 frames, and the others are merged and counted" {
	awk 'BEGIN { for (n = 0; n < 30000; n++) print "main;f" n % 200 ";g" n, n % 997 + 1 }' >many.txt
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
	xmllint --noout x.svg
	grep -q '<title>all (0 ns' x.svg
}

@test "a trace without calls and samples: what it has is said, with -q too" {
	trdecode -q "$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat" >k.trs
	empty='nothing to show: the trace has no calls and no samples, only other events (sys_'
	for to in svg folded callgrind pprof dot mermaid; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr trencode -q -t $to -o x.out k.trs
		[[ $stderr == "trencode: $empty"*'; --pair shows the times between two of them' ]] || fail "$to: $stderr"
		[ -s x.out ] || [ "$to" = folded ]
	done
	run -0 --separate-stderr trencode -t svg -o x.svg k.trs
	[[ $stderr == "trencode: $empty"*"left out: flame graphs show calls and samples only" ]]
	# a quiet night
	trfilter -q 'tid == 1' fib.trs >none.trs
	run -0 --separate-stderr trencode -q -t folded none.trs
	[ -z "$stderr" ]
}

# browse GRAPH: run the script of standard input in the page, after the graph's own; the title of the page is what
# it leaves in log
browse() {
	local browser
	browser=$(command -v chromium) || skip 'no chromium'
	{
		echo '<!DOCTYPE html><meta charset="utf-8"><title></title>'
		sed 1d "$1" | sed '/<script>/,$d'
		echo '</svg><script>'
		# the body of the function for one picture, as a script
		sed -n '/<script>/,/<\/script>/p' "$1" | sed '1d; s/^function picture.*/const svg = document.querySelector("svg");/
			s/^const alone = .*/const alone = true;/; /^for (const svg of/,$d' | head -n -1
		echo "const shown = () => frames.filter(f => f.g.style.display !== 'none').length;"
		cat
		echo "document.title = log.join(' ');</script>"
	} >page.html
	run -0 --separate-stderr timeout 100 "$browser" --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/page.html"
}

@test "in a browser: a click zooms, a search marks, Escape resets" {
	trencode -q -t svg -o x.svg fib.trs
	browse x.svg <<-'END'
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
	END
	assert_output --regexp '<title>true true true true true true found: [0-9.]+% true</title>'
}

# chart STREAM MODEL...: draw it by time, and compare it with the model
chart() {
	trencode -q -t svg --by-time -o x.svg "$1"
	python3 "$ROOT/t/tools/flame_chart.py" x.svg "${@:2}"
	xmllint --noout x.svg
}

@test "--by-time: each call of uftrace at its time, and merged where too narrow" {
	need uftrace
	uftrace dump --no-pager -d "$DATA/uftrace/fib" >fib.dump
	chart fib.trs calls fib.dump
	for name in basic-pg threads deep-default; do
		[[ -e $RECORDED/uftrace/$name ]] || continue
		uftrace dump --no-pager -d "$RECORDED/uftrace/$name" >x.dump
		trdecode "$RECORDED/uftrace/$name" | trsym >x.trs
		chart x.trs calls x.dump
	done
}

@test "--by-time: samples last until the next one, or as long as they weigh" {
	chart perf.trs samples perf.trs
	python3 "$ROOT/t/tools/random_samples.py" 3 cycles >random.trs
	chart random.trs samples random.trs
	python3 "$ROOT/t/tools/random_samples.py" 3 cpu-clock+ >random.trs
	chart random.trs samples random.trs --timed
}

@test "--by-time: a quarter of a million calls in less than 2 MB, of which no frame is wrong" {
	need uftrace
	cat >busy.c <<-'END'
		#include <pthread.h>
		static volatile unsigned long sink;
		static void leaf(unsigned n) { while (n--) sink += n; }
		static void node(unsigned depth, unsigned long *s)
		{
			unsigned n = (*s = *s * 6364136223846793005ul + 1442695040888963407ul) >> 60;

			if (!depth)
				leaf(n * n * n);
			for (unsigned k = 0; depth && k < 1 + n % 4; k++)
				node(depth - 1, s);
		}
		static void *work(void *seed)
		{
			unsigned long s = (unsigned long)seed;

			for (int k = 0; k < 1300; k++)
				node(4, &s);
			return 0;
		}
		int main(void)
		{
			pthread_t t;

			pthread_create(&t, 0, work, (void *)7);
			work((void *)3);
			return pthread_join(t, 0);
		}
	END
	gcc -O1 -fno-inline -pg -pthread -o busy busy.c
	uftrace record --no-libcall -b 64M -d busy.data ./busy >/dev/null 2>&1 || skip 'uftrace does not record'
	uftrace dump --no-pager -d busy.data >busy.dump
	(($(grep -c '\[entry\]' busy.dump) > 250000))
	! grep -i lost busy.dump || skip 'uftrace lost records'
	trdecode busy.data | trsym >busy.trs
	chart busy.trs calls busy.dump
}

# calls of Trace Event JSON: one line of "tid start duration" for each
calls_json() {
	awk 'BEGIN { printf "[" } { printf "%s{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"name\":\"f%d\"}",
		NR == 1 ? "" : ",\n", $1, $2, $3, NR % 7 } END { print "]" }' | trdecode -f chrome -o x.trs -
}

@test "--by-time: a deep recursion, many threads, and calls without any time are small files" {
	awk 'BEGIN { for (n = 0; n < 200000; n++) print 1, n, 1000000 - 2 * n }' | calls_json
	trencode -q -t svg --by-time -o deep.svg x.trs
	awk 'BEGIN { for (n = 0; n < 40000; n++) print n % 4000 + 1, n * 7, 100 + n % 7000 }' | calls_json
	trencode -q -t svg --by-time -o threads.svg x.trs
	grep -q ', 3500 threads left out' threads.svg
	awk 'BEGIN { for (n = 0; n < 300000; n++) print 1, 5, 0 }' | calls_json
	trencode -q -t svg --by-time -o none.svg x.trs
	trfilter -q 'tid == 1' fib.trs | trencode -q -t svg --by-time -o empty.svg
	for name in deep threads none empty; do
		(($(stat -c %s $name.svg) < 2000000))
		xmllint --noout $name.svg
	done
	# the outermost of the deep calls is there, as wide as the chart
	grep -q '<title>f1 (1 s at 0 ns, 100.00%)</title><rect x="10.000" y="83" width="1180.000"' deep.svg
}

@test "--by-time: the axis has round times, from nothing to years, and of clocks without a unit" {
	local ns
	axis() {
		trencode -q -t svg --by-time -o x.svg "${@:2}" "$1"
		run -0 python3 "$ROOT/t/tools/flame_chart.py" x.svg axis
	}
	for ns in 0 1 2 7 10 11 99 999 1000 1001 42424 112115 999999 1000000 22422999 123456789 999999999 1000000000 \
		3600000000000 31536000000000000 315360000000000001; do
		printf '[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":%d.%03d,"name":"f"}]' $((ns / 1000)) $((ns % 1000)) |
			trdecode -q -f chrome -o x.trs -
		axis x.trs
		case $ns in
		0 | 1) assert_output '0 ns' ;;
		112115) assert_output '0 us, 20 us, 40 us, 60 us, 80 us, 100 us' ;;
		22422999) assert_output '0 ms, 5 ms, 10 ms, 15 ms, 20 ms' ;;
		1000000000) assert_output --regexp '^0.0 s, 0.1 s, .*, 0.9 s$' ;;
		esac
	done
	trdecode "$DATA/apitrace/threads.trace" >ticks.trs
	axis ticks.trs
	assert_output --regexp '^0 ticks, 500 ticks, '
	axis ticks.trs --tick 1us
	assert_output --regexp '^0.0 ms, 0.5 ms, '
	# long times and units are farther from each other
	printf 'f 12345678901234567\n' | trdecode -q -f folded -o x.trs -
	axis x.trs
	assert_output '0 samples, 5000000000000000 samples, 10000000000000000 samples'
	python3 "$ROOT/t/tools/random_samples.py" 3 "$(printf 'a%.0s' {1..200})" >x.trs
	axis x.trs
}

@test "--by-time: --since, --until, --tick and --unclosed as elsewhere; --weight is refused" {
	trencode -q -t svg --by-time --since +7ms --until +8ms -o x.svg fib.trs
	grep -q '>states and calls by time: 1.000 ms.*<title>states and calls by time: 1 ms' x.svg
	trdecode "$DATA/apitrace/threads.trace" >ticks.trs
	trencode -q -t svg --by-time -o x.svg ticks.trs
	grep -q 'data-unit="ticks"' x.svg
	trencode -q -t svg --by-time --tick 1us -o x.svg ticks.trs
	grep -q 'data-unit="ns"' x.svg
	# a call that is open at the end is drawn, or left out
	trfilter -q 'name == "main"' fib.trs | trfilter -q 'kind == enter' >open.trs
	trencode -q -t svg --by-time -o x.svg open.trs
	assert_equal "$(grep -c 'class="f"' x.svg)" 1
	trencode -q -t svg --by-time --unclosed drop -o x.svg open.trs
	assert_equal "$(grep -c 'class="f"' x.svg)" 0
	run -2 trencode -t svg --by-time --weight count fib.trs
	assert_output --partial 'trencode: --weight does not go with --by-time, whose widths are times'
	run -2 trencode -t folded --by-time fib.trs
	assert_output --partial by-time
}

@test "--by-time in a browser: a click shows the time of a frame in all lanes, a search adds up times" {
	trencode -q -t svg --by-time -o x.svg fib.trs
	browse x.svg <<-'END'
		/* each of three threads has a lane of its calls, and one of its states */
		const log = [frames.length === shown(), lanes.length];
		const fib = frames.filter(f => f.name === 'fib')[0];
		const texts = () => Array.from(axis.querySelectorAll('text'), t => t.textContent).join();
		const before = texts();
		fib.g.dispatchEvent(new MouseEvent('click'));
		const others = frames.filter(f => f.x + f.width < fib.x - near || f.x > fib.x + fib.width + near);
		log.push(Math.abs(fib.rect.getAttribute('width') - width) < 1e-6,
			others.length > 0 && others.every(f => f.g.style.display === 'none'),
			frames.find(f => f.name === 'main').g.classList.contains('below'),
			Array.from(axis.children).every(tick => {
				const [line, text] = tick.children, time = parseFloat(text.textContent) * 1e3;
				const at = (fib.x + (line.getAttribute('x1') - left) * fib.width / width) * svg.dataset.span / width;
				return !text.textContent || Math.abs(time - at) < 20;
			}));
		document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
		log.push(shown() === frames.length, +fib.rect.getAttribute('width') === fib.width, texts() === before);
		search('^worker$');
		log.push(found.textContent);
		fib.g.dispatchEvent(new FocusEvent('focus'));
		log.push(about.textContent === fib.title);
	END
	# the time of both workers, in the words of uftrace
	time=$(trstat -q -t csv -c total fib.trs | sed -n 's/^worker,//p' |
		awk '{ printf "%.2f", $1 / 1000000 }')
	output=$(grep -a '<title>' <<<"$output" | head -n 1)
	assert_output --regexp "<title>true 6 true true true true true true true found: 2 frames, ${time}[0-9] ms true</title>"
}

@test "--by-time: the states of threads are those of the model, at their times" {
	local trace least
	for trace in s390x-v6-sched-irq-timer v6-sched-irq-timer s390x-v7-zstd-sched-syscalls; do
		trdecode -q "$RECORDED/trace-cmd/$trace.dat" | trencode -q -t svg --by-time -o x.svg
		least=$(sed -n 's/.*class="about head".*<title>.*too narrow to see (below \([0-9.]* [nu]s\)[),].*/\1/p' x.svg)
		least=$(awk '{ print $1 * ($2 == "us" ? 1000 : 1) }' <<<"$least")
		python3 "$ROOT/t/tools/states.py" tasks trace-cmd "$RECORDED/trace-cmd/$trace.raw.txt" |
			awk -F '\t' -v OFS='\t' -v least="$least" 'NR == 1 || $1 < first { first = $1 } { row[NR] = $0 }
				END { for (i in row) { $0 = row[i]; if ($4 >= least) print $1 - first, $2, $3, $4 } }' | sort >want
		(($(wc -l <want) > 20))
		python3 "$ROOT/t/tools/pictures.py" states x.svg | grep -v 'merged frame' | sort | diff want -
		xmllint --noout x.svg
	done
	# the heights and names of the legend show what the colours do
	run -0 xmllint --xpath 'count(//*[@class="legend"]/*[local-name()="text"])' x.svg
	assert_output 7
	# calls and states of a thread are next to each other
	run -0 pipe "trencode -q -t svg --by-time fib.trs | grep -o '>fib \[[0-9]*\][^<]*' | sort | head -n 2"
	assert_output $'>fib [4123]\n>fib [4123], states'
}

@test "the flame graph of the README is what its commands draw" {
	while IFS= read -r command; do
		grep -qxF "    $command" "$ROOT/README.md" || fail "$command"
	done < <("$ROOT/t/interop/flame_graph.sh" --commands)
	(($(stat -c %s "$ROOT/doc/flame-graph.png") < 100000))
	need chromium
	need perf
	perf record -q -o try.data true >/dev/null 2>&1 || skip 'perf does not record'
	run -0 "$ROOT/t/interop/flame_graph.sh" "$BIN" graph.png
	assert_equal "$(head -c 4 graph.png | tail -c 3)" PNG
	(($(stat -c %s graph.png) > 10000))
}

@test "flame graph: narrow frames that are drawn as one are below the title, like all others" {
	cd "$BATS_TEST_TMPDIR" || return
	awk 'BEGIN { for (i = 0; i < 20000; i++) print "a;b;f" i " 1" }' >x.folded
	trdecode -q x.folded | trencode -q -t svg -o x.svg
	# four rows of 17 pixels (all, a, b and the narrow ones) below 50
	run -0 grep -c '(20000 narrow frames)' x.svg
	assert_equal "$(grep -o '<rect[^>]* y="[0-9]*"' x.svg | sed 's/.* y="//; s/"//' | sort -nu | paste -sd ' ')" '50 67 84 101'
}
