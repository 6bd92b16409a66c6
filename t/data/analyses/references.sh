#!/bin/sh
# references.sh TRACE DIRECTORY BEGIN: what lttng-analyses prints of the trace, as JSON; BEGIN is a time of day (UTC)
# after the first switch of each CPU, for lttng-cputop
trace=$1 directory=$2 begin=$3
# shellcheck disable=SC2016 # they are names of lttng-analyses
queue='queue : $evt.$name == "block_rq_insert" : $evt.$name == "block_rq_issue" && $evt.dev == $begin.$evt.dev && $evt.sector == $begin.$evt.sector'

run() {
	name=$1
	shift
	"lttng-$name-mi" --skip-validation "$@" "$trace" >"$directory/$name.json"
}

mkdir -p "$directory"
run cputop --limit 1000 --gmt --begin "$begin"
run memtop --limit 1000
run irqlog
run irqstats
run irqfreq --min 0 --max 40 --freq-resolution 20
run schedlog
run schedtop --limit 10
run schedstats
run schedfreq --total --min 0 --max 1000 --freq-resolution 20
run iolog
run iolatencytop --limit 10
run iolatencystats
run iolatencyfreq
run iousagetop --limit 1000
run syscallstats
run periodlog --period "$queue"
run periodtop --limit 10 --period "$queue"
run periodstats --period "$queue"
run periodfreq --min 0 --max 100 --freq-resolution 20 --period "$queue"
