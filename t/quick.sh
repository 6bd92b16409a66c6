#!/bin/bash
# Print what make quick runs for a change, one a line: units (unit/SUBJECT/NAME), fuzz targets whose kept
# inputs are run (fuzz/NAME), files of tests (t/NAME.bats). t/README has the rule.
# usage: t/quick.sh [FILE...]    without files: what differs from HEAD, untracked files too
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
shopt -s nullglob extglob
READERS_MOST=24 # sources of programs; what more of them include concerns all tests

# Patterns of files, and the files of tests, without .bats, whose names do not say that they concern them.
other_names() {
	cat <<-'END'
		cmd/trdecode/@(bid|decoder|formats|main).*	decode mistakes adding quick
		cmd/trdecode/@(input|rows|sorter).*	decode
		cmd/trdecode/input_tree.*	decode damage
		cmd/trdecode/row_filter.*	limits
		cmd/trdecode/rows_table.*	rows_in
		cmd/trdecode/folded.*	samples
		cmd/trdecode/@(otlp|jaeger|zipkin).*	services
		cmd/trdecode/frames.*	v8_profile chrome speedscope firefox
		cmd/trdecode/stream.*	filter_segments merge
		cmd/trdecode/uftrace*	decode damage
		cmd/trdecode/uftrace_kernel.*	decode_kernel
		cmd/trencode/@(apitrace|pack|snappy_memory).*	apitrace
		cmd/trencode/@(attributes|spans|table).*	encode_rows
		cmd/trencode/@(parquet|arrow).*	encode_dataset encode_rows
		cmd/trencode/@(encode|encoder|main).*	encode_text encode_split jobs
		cmd/trencode/formats.*	encode_text matrix encode_examples adding quick
		cmd/trencode/@(flame_chart|tree_output|tracks).*	encode_svg encode_chrome encode_speedscope
		cmd/trencode/@(folded|stack_profile|pprof).*	encode_profiles encode_svg
		cmd/trencode/lttng.*	lttng
		cmd/trencode/text/*	encode_text encode_text_tracecmd
		cmd/trstat/@(groups|slowest|table).*	stat stat_keys house
		cmd/trstat/@(main|run|statistics).*	stat stat_views stat_alarm jobs
		cmd/trstat/@(histogram|prom|timeline|tree).*	stat_views stat_interval
		cmd/trstat/explain_tail.*	explain_tail
		common/pairs/call_sample.*	explain_tail
		common/util/operands.*	stat_diff_runs
		cmd/trstat/summary.*	merge
		cmd/trstat/why.*	why
		cmd/trstat/report*	report
		cmd/trencode/path.*	why
		common/scheduling/waits.*	why
		common/pairs/critical.*	why
		cmd/trfilter/call_filter.*	filter_calls filter_keeps
		cmd/trfilter/follow.*	follow
		cmd/trfilter/@(block_queue|left_out).*	filter_keeps filter_segments
		cmd/trfilter/@(main|options|rewrite|rows|run).*	filter values
		cmd/trsym/*	sym sym_inline sym_lines
		common/library/*	library
		common/cli/workers.*	jobs
		common/stream/index.*	archive
		common/util/frames.*	archive
		man[0-9]/*	house vocabulary tree readme packaging
		man7/trutils-analyses.7	analyses
		README*	readme tree
		doc/@(adding-a-format.md|toy/*)	adding tree
		doc/examples/*	examples
		doc/html.*	packaging
		packaging/@(conformance|mime)/*	streams packaging
		packaging/*	packaging house
		python/*	tree
		Makefile	packaging
		t/@(quick|check).sh	quick
		t/tools/includes.py	quick tree
		t/@(sizes|tree|complain).*	tree
		@(CONTRIBUTING|NEWS|SECURITY|doc/*)	tree
	END
}

# What differs from HEAD, with what is not committed or not yet added.
changed() {
	git rev-parse --verify -q HEAD >/dev/null 2>&1 || {
		echo 'quick.sh: no repository: give the names of the files' >&2
		return 1
	}
	git -c core.quotePath=false diff --name-only HEAD
	git -c core.quotePath=false ls-files --others --exclude-standard
}

# by_name DIRECTORY EXTENSION PREFIX STEM: the files of the longest beginning of STEM, of whole words, that some
# have as their names, or as a beginning: perf_unwind is tested by perf.bats and perf_kernel.bats.
by_name() {
	local stem=$4 found
	while [[ $stem ]]; do
		found=("$1/$3$stem$2" "$1/$3${stem}_"*"$2")
		[[ -e ${found[0]} ]] || found=("${found[@]:1}")
		if ((${#found[@]})); then
			printf '%s\n' "${found[@]}"
			return
		fi
		[[ $stem == *_* ]] || return
		stem=${stem%_*}
	done
}

# The unit or fuzz target of a source in t, if it is one.
target() {
	case $1 in
	t/unit/*/*.c) [[ -e $1 ]] && sed 's|^t/||; s|\.c$||' <<<"$1" ;;
	t/fuzz/*.c) [[ -e $1 && $1 != t/fuzz/@(driver|time_limit).c ]] && sed 's|^t/||; s|\.c$||' <<<"$1" ;;
	esac
}

# The files of tests in which a text occurs.
mention() {
	grep -lF -e "$1" t/*.bats
}

of_program() {
	local program=$1 stem=$2 file folder
	case $program in
	trdecode)
		by_name t .bats '' "$stem"
		by_name t .bats decode_ "$stem"
		;;
	*)
		by_name t .bats "${program#tr}_" "$stem"
		;;
	esac
	[[ $3 == tests ]] && return
	folder=t/unit/${program#tr}
	[[ $program != trsym ]] || folder=t/unit/symbols
	by_name "$folder" .c '' "$stem" | while read -r file; do target "$file"; done
	[[ $program != trdecode ]] || target "$(by_name t/fuzz .c '' "$stem" | head -n 1)"
}

# of_file FILE [tests]: what its name says; with a second argument without units
of_file() {
	local file=$1 stem pattern names name
	stem=${file##*/}
	stem=${stem%%.*}
	case $file in
	t/*.bats) [[ -e $file ]] && echo "$file" ;;
	t/unit/*.c | t/fuzz/*.c) target "$file" ;;
	t/fuzz/corpus/*/*)
		stem=${file#t/fuzz/corpus/}
		target "t/fuzz/${stem%%/*}.c"
		;;
	t/@(lib|setup_suite).bash) echo "quick.sh: $file concerns all tests: make check" >&2 ;;
	t/*.bash) grep -lE "^[[:space:]]*load $stem$" t/*.bats ;;
	t/data/recorded/*) grep -lw RECORDED t/*.bats | xargs -r grep -lwF -e "$stem" ;;
	t/data/*/*)
		name=${file#t/data/}
		mention "$(cut -d / -f 1,2 <<<"$name")"
		;;
	t/data/*) mention "${file##*/}" ;;
	t/unit/*.h | t/fuzz/*.h) ;;
	t/*/*.*) mention "${file#t/}" ;;
	cmd/*/*.[ch])
		name=${file#cmd/}
		of_program "${name%%/*}" "$stem" "$2"
		;;
	common/*/*.[ch])
		name=${file%/*}
		by_name "t/unit/${name##*/}" .c '' "$stem" | while read -r name; do target "$name"; done
		;;
	esac
	while IFS=$'\t' read -r pattern names; do
		# shellcheck disable=SC2053 # a pattern
		[[ $file == $pattern ]] || continue
		for name in $names; do
			echo "t/$name.bats"
		done
	done < <(other_names)
}

# The header that declares what a source defines: its own, or one with a beginning of its name.
header_of() {
	[[ $1 == *.h ]] && echo "$1" && return
	by_name "${1%/*}" .h '' "$(basename "$1" .c)" | head -n 1
}

# What reads the headers of the changed files: the units that name one, and what concerns the sources of
# programs that read one of common, where these are many only those that name it.
of_readers() {
	local header source
	declare -A named readers
	(($#)) || return
	while read -r header source; do
		case $source in
		cmd/*) named[$header]+=" $source" ;;
		t/*) target "$source" ;;
		esac
	done < <(t/tools/includes.py named "$@")
	while read -r header source; do
		case $source in
		cmd/*) readers[$header]+=" $source" ;;
		t/*) [[ $header == t/* ]] && target "$source" ;;
		esac
	done < <(t/tools/includes.py readers "$@")
	for header in "${!readers[@]}"; do
		[[ $header == common/* ]] || continue
		# shellcheck disable=SC2086 # names
		set -- ${readers[$header]}
		# shellcheck disable=SC2086 # names
		(($# <= READERS_MOST)) || set -- ${named[$header]}
		if (($# > READERS_MOST)); then
			echo "quick.sh: $# sources of programs include $header: make check" >&2
			continue
		fi
		for source in "$@"; do
			of_file "$source" tests
		done
	done
}

[[ ${BASH_SOURCE[0]} == "$0" ]] || return 0 # a test calls the functions

if (($#)); then
	files=("$@")
else
	changed=$(changed) || exit
	[[ $changed ]] || exit 0
	mapfile -t files <<<"$changed"
fi
headers=()
for file in "${files[@]}"; do
	case $file in
	cmd/*.[ch] | common/*.[ch] | t/*.h) mapfile -t -O "${#headers[@]}" headers < <(header_of "$file") ;;
	esac
done
{
	for file in "${files[@]}"; do
		of_file "$file"
	done
	of_readers "${headers[@]}"
} | sort -u
