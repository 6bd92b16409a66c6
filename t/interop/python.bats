# The Python module trstream, built by make python: the examples of its page, and its numbers beside those of trstat
# and trencode. Run by make check-interop.

load ../lib

python() {
	PYTHONPATH=$MODULE /usr/bin/python3 "$@"
}

setup_file() {
	export MODULE=${BIN%/*}/python
	cd "$BATS_FILE_TMPDIR" || return
	/usr/bin/python3 -c 'import numpy, os, pandas, sysconfig
os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null || return 0
	! sanitized || return 0
	make -s -C "$ROOT" O="${BIN%/*}" python >log 2>&1 3>&- || {
		cat log >&2
		return 1
	}
	trdecode -q "$DATA/uftrace/fib" | trsym -q >calls.trs
	trdecode -q "$DATA/trace-cmd/v7-zlib-sched-irq-timer.dat" -o sched.trs
	trdecode -q "$DATA/perf/flat.data" -o samples.trs
	head -c 20000 calls.trs >cut.trs
	touch built
}

setup() {
	[[ -e $BATS_FILE_TMPDIR/built ]] || skip 'no headers of Python, no numpy, no pandas, or a sanitizer'
	cd "$BATS_FILE_TMPDIR" || return
}

@test "the examples of trstream-python(3) print what the page says" {
	mandoc -Tutf8 -O width=100 "$ROOT/man3/trstream-python.3" | sed 's/.\x08//g' >page.txt
	run -0 python -c 'import doctest; print(doctest.testfile("page.txt", module_relative=False))'
	assert_output --regexp 'failed=0, attempted=[2-9][0-9]'
}

@test "the page has all functions, and the default columns exist" {
	python - "$ROOT/man3/trstream-python.3" <<-'END'
		import re, sys, trstream
		page = open(sys.argv[1]).read()
		named = set(re.findall(r"^\.It F[no] (\w+)", page, re.M)) | set(re.findall(r" Fn (\w+)", page))
		for kind in trstream.Table, trstream.Batch:
		    for name in vars(kind):
		        assert name[0] == "_" or name == "is_stack" or name in named or "Li " + name in page, name
		assert {"events", "calls", "samples"} <= named
		for kind, file in (trstream.events, "sched.trs"), (trstream.calls, "calls.trs"), (trstream.samples, "samples.trs"):
		    assert len(kind(file).read()) > 100
	END
}

@test "calls by function are those of trstat, of ranges of times and compressed streams too" {
	cat >calls.py <<-'END'
		import sys, trstream
		frame = trstream.calls(sys.argv[1], "name,self,unfinished", None, *(sys.argv[2:] or (None, None))).to_pandas()
		groups = frame.groupby("name", observed=True)["self"].agg(["count", "sum"])
		for name, row in groups.iterrows():
		    print(row["count"], row["sum"], name, sep="\t")
	END
	compare() {
		trstat -q -t tsv -g name -c count,self,total -s count ${2:+--since $2 --until $3} "$1" |
			awk -F '\t' 'NR > 1 && $3 != "" { print $2 "\t" $3 "\t" $1 }' | LC_ALL=C sort >want
		python calls.py "$@" | LC_ALL=C sort | diff want -
		[ -s want ]
	}
	for trace in "$DATA/uftrace/fib" "$DATA/trace-cmd/"{v6-fgraph,marks}.dat; do
		trdecode -q "$trace" | trsym -q >s.trs
		compare s.trs
	done
	trdecode -q --segment 4K "$DATA/uftrace/fib" | trsym -q >s.trs
	compare s.trs +6ms +8ms
	compare s.trs +0s +6500us
	trsym -q --compress -o z.trs s.trs
	[ "$(stat -c %s z.trs)" -lt "$(stat -c %s s.trs)" ]
	compare z.trs +6ms +8ms
}

@test "events by type, fields and weights are those of trstat" {
	local field
	for field in type next_comm next_pid vec.name cpu; do
		trstat -q -t tsv -g ${field%.name} -c count sched.trs | awk -F '\t' -v field=$field 'NR > 1 && $1 != "" { print field, $1, $2 }'
	done | LC_ALL=C sort >want
	python - <<-'END' | LC_ALL=C sort | diff want -
		import trstream
		frame = trstream.events("sched.trs", ["type", "next_comm", "next_pid", "vec.name", "cpu"]).to_pandas()
		for field in frame:
		    for value, count in frame[field].value_counts().items():
		        if count:
		            print(field, value, count)
	END
	[ "$(cut -d ' ' -f 1 want | sort -u | wc -l)" = 5 ]
}

@test "weights by function are those of trstat" {
	trstat -q -t tsv -g name -c total,count samples.trs | awk -F '\t' 'NR > 1 && $2 != ""' | LC_ALL=C sort >want
	python - <<-'END' | LC_ALL=C sort | diff want -
		import trstream
		frame = trstream.samples("samples.trs", "name,weight,stack").to_pandas()
		innermost = frame["stack"].astype(str).str.rsplit(";", n=1).str[-1]
		assert (innermost == frame["name"].astype(str)).all()
		for name, row in frame.groupby("name", observed=True)["weight"].agg(["sum", "count"]).iterrows():
		    print(name, row["sum"], row["count"], sep="\t")
	END
	[ "$(wc -l <want)" -gt 5 ]
}

@test "each row is that of trencode -t ndjson" {
	for file in sched calls samples; do
		trencode -q -t ndjson $file.trs >want.ndjson
		python - $file.trs want.ndjson <<-'END'
			import json, sys, trstream
			names = "time,type,pid,tid,cpu,comm,name".split(",")
			kind = trstream.calls if sys.argv[1] == "calls.trs" else trstream.events
			batch = kind(sys.argv[1], names + (["dur"] if kind is trstream.calls else ["next_pid"] * ("sched" in sys.argv[1]))).read()
			got = list(zip(*(batch[name].tolist() for name in batch.columns)))
			want = []
			for row in map(json.loads, open(sys.argv[2])):
			    if kind is trstream.calls and row["dur"] is None:
			        continue
			    values = [row[name] for name in names]
			    if kind is trstream.calls:
			        values.append(row["dur"])
			    elif "sched" in sys.argv[1]:
			        values.append((row["args"] or {}).get("next_pid"))
			    want.append(tuple(values))
			assert len(got) == len(want) > 100, (len(got), len(want))
			for a, b in zip(got, want):
			    assert a == b, (a, b)
		END
	done
}

@test "streams with and without damage: the status of trencode, all errors, and the rows before and after" {
	cat >status.py <<-'END'
		import sys, warnings, trstream
		for path in sys.argv[1:]:
		    status = rows = 0
		    try:
		        for batch in trstream.events(path, "time,kind"):
		            rows += len(batch)
		    except trstream.DamageError as error:
		        status = error.status
		        assert error.errors and status == 1
		    except trstream.Error as error:
		        status = error.status
		    with warnings.catch_warnings(record=True) as caught, trstream.events(path, "time", damage="warn") as table:
		        warnings.simplefilter("always")
		        try:
		            assert sum(map(len, table)) == rows
		            assert len(caught) >= len(table.errors) and bool(caught) == bool(status)
		        except trstream.Error as error:
		            assert error.status == status == 2
		    print(status, path)
	END
	for stream in "$DATA"/streams/{good,bad}/*; do
		status=0
		trencode -q -t ndjson "$stream" >/dev/null 2>&1 || status=$?
		echo "$status $stream"
	done >want
	grep -q ^1 want && grep -q ^2 want
	python status.py "$DATA"/streams/{good,bad}/* | diff want -
}

@test "wrong use is an exception" {
	python - <<-'END'
		import os, trstream
		def raises(kind, text, use):
		    try:
		        use()
		    except kind as error:
		        assert text in str(error), str(error)
		    else:
		        assert False, text
		raises(FileNotFoundError, "none.trs", lambda: trstream.calls("none.trs"))
		raises(trstream.Error, "since takes a time", lambda: trstream.calls("calls.trs", since="x"))
		raises(TypeError, "until is a text", lambda: trstream.calls("calls.trs", until=5))
		raises(ValueError, "damage", lambda: trstream.calls("calls.trs", damage="ignore"))
		raises(trstream.Error, "did you mean 'sched_switch'?", lambda: trstream.events("sched.trs", types="shed_switch").read())
		raises(OSError, "", lambda: trstream.calls(987))
		table = trstream.calls("calls.trs", "name")
		batch = next(table)
		names = batch["name"]
		raises(ValueError, "read-only", lambda: batch.codes("name").__setitem__(0, 1))
		raises(IndexError, "no text", lambda: table.text(1 << 31))
		raises(IndexError, "no stack", lambda: table.stack(1 << 31))
		table.close()
		raises(ValueError, "closed", lambda: next(table))
		# columns live longer than their table, and no descriptor is left open
		codes = batch.codes("name")
		total = int(codes.sum())
		del table, batch
		assert int(codes.sum()) == total and (names != None).all()
		before = len(os.listdir("/proc/self/fd"))
		for i in range(50):
		    with open("calls.trs", "rb") as file:
		        trstream.calls(file, "self").read()
		    raises(trstream.Error, "since", lambda: trstream.calls("calls.trs", since="x"))
		assert len(os.listdir("/proc/self/fd")) == before
	END
}

@test "10 million rows are summed at 20 million a second" {
	rm -rf big
	python - <<-'END'
		import numpy as np
		records = np.empty((2500000, 2), np.uint64) # calls of work, 100 ns apart
		records[:, 0] = np.arange(len(records)) * 100 + 1000000
		records[:, 1] = (0x401000 << 16) + 0x28 + np.arange(len(records)) % 2
		records.tofile("each")
	END
	(
		source "$ROOT/t/many.bash"
		many big 4 each
	)
	trdecode -q big -o big.trs
	trstat -q -t tsv -g name -c self,count big.trs >want
	run -0 python - <<-'END'
		import time, trstream
		def best(use):
		    took = []
		    for i in range(5):
		        begin = time.process_time()
		        result = use()
		        took.append(time.process_time() - begin)
		    return result, min(took)
		def times():
		    return [sum(x) for x in zip(*((len(b), int(b["time"].sum())) for b in trstream.events("big.trs", "time", ["entry", "exit"])))]
		def calls():
		    return [sum(x) for x in zip(*((len(b), int(b["self"].sum())) for b in trstream.calls("big.trs", "self")))]
		(rows, total), took = best(times)
		assert rows == 10000000 and total == 4 * sum(range(1000000, 1000000 + 2500000 * 100, 100)), (rows, total)
		assert rows / took > 20e6, took
		(rows, total), calls_took = best(calls)
		name, self, count = open("want").read().split("\n")[1].split("\t")
		assert (rows, total) == (int(count), int(self)), (rows, total)
		assert 2 * rows / calls_took > 20e6, calls_took # each has two events
		print("%.0f M events and %.0f M calls a second" % (1e-6 * 1e7 / took, 1e-6 * rows / calls_took))
	END
	echo "# $output" >&3
}
