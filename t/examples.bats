# The examples for systemd and cron are what these accept, and their commands work.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	TRACE=$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat
	METRICS=$PWD/trstat.prom
	export TRACE METRICS
}

@test "systemd accepts the services and the timers" {
	need systemd-analyze
	cp "$ROOT"/doc/examples/trstat-*.{service,timer} .
	run systemd-analyze verify --man=no ./*.service ./*.timer
	[[ $output != *'not been booted'* && $output != *'Failed to '*bus* ]] || skip "no systemd: $output"
	assert_equal "$status" 0
	assert_output ''
	run -0 systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' trstat-monitor.timer)"
	run -0 systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' trstat-nightly.timer)"
}

@test "the metrics of the service are where others can read them" {
	service=$ROOT/doc/examples/trstat-monitor.service
	value() {
		sed -n "s/^$1=//p" "$service"
	}
	run grep DynamicUser= "$service"
	refute_line --regexp '^DynamicUser='
	metrics=$(value Environment | sed -n 's/^METRICS=//p')
	assert_equal "${metrics%/*}" "/var/lib/$(value StateDirectory)"
	assert_equal "$(value StateDirectoryMode)" 0755
	command=$(sed -n "s/^ExecStart=.*-c '\(.*\)'\$/\1/p" "$service")
	(umask "$(value UMask)" && bash -o pipefail -c "${command/20ms/20s}")
	assert_equal "$(stat -c %a trstat.prom)" 644
}

@test "the service's command writes metrics, and fails where a condition holds" {
	command=$(sed -n "s/^ExecStart=.*-c '\(.*\)'\$/\1/p" "$ROOT/doc/examples/trstat-monitor.service")
	[ -n "$command" ]
	# no wakeup took so long
	run -0 bash -o pipefail -c "${command/20ms/20s}"
	grep -q '^trstat_call_seconds{next_comm="wl.sh",quantile="0.99"} ' trstat.prom
	# one did
	rm trstat.prom
	run -3 bash -o pipefail -c "${command/20ms/1us}"
	assert_output --partial 'p99 > 1us is true: '
	[ -s trstat.prom ]
	if command -v promtool; then promtool check metrics <trstat.prom; fi
	head -c 15000 "$TRACE" >cut.dat
	TRACE=cut.dat run -1 bash -o pipefail -c "${command/20ms/20s}"
}

@test "the line for cron speaks only when something is wrong" {
	need flock
	line=$(grep -E '^[*0-9]' "$ROOT/doc/examples/trstat.cron")
	[[ $line != *%* ]]
	read -r -a word <<<"$line"
	for ((i = 0; i < 5; i++)); do
		[[ ${word[i]} =~ ^(\*(/[0-9]+)?|[0-9,-]+)$ ]] || fail "${word[i]}"
	done
	command=${line#*"${word[5]}"}
	command=${command//\/tmp\/trstat.lock/$PWD\/lock}
	run -0 bash -c "${command/20ms/20s}"
	assert_output ''
	run -0 bash -c "${command/20ms/1us}"
	assert_output --partial 'p99 > 1us is true: '
	assert_output --partial 'next_comm'
	# remarks of the programs before trstat are in the mail of a failure only, also of the recipe
	recipe=$(sed -n '/^\$ out=/,/|| echo/p' "$ROOT/man7/trutils-recipes.7" |
		sed "s/^[\$>] //; s/\\\\(aq/'/g; s/\\\\(dq/\"/g; s/\\\\e$/\\\\/; s/trace\.dat/\"\$TRACE\"/; s/100us/20ms/")
	[[ $recipe == *'trsym'*'20ms'* ]]
	for command in "$command" "$recipe"; do
		TRACE=$DATA/perf/sched.data.gz run -0 bash -c "${command/20ms/20s}"
		assert_output ''
		TRACE=$DATA/perf/sched.data.gz run -0 bash -c "${command/20ms/1us}"
		assert_output --partial 'p99 > 1us is true: '
		assert_output --partial 'trsym: [kernel.kallsyms]: no symbols'
	done
}

@test "while the command for cron runs another does not" {
	need flock
	command=$(sed -n 's/^[*0-9][^d]*daemon *//p' "$ROOT/doc/examples/trstat.cron")
	command=${command//\/tmp\/trstat.lock/$PWD\/lock}
	run -1 flock lock bash -c "${command/20ms/1us}"
	assert_output ''
}

# cron_mails STATUS MESSAGE CONDITION [SED-SCRIPT]: the line for cron with another condition
cron_mails() {
	local command
	command=$(sed -n 's/^[*0-9][^d]*daemon *//p' "$ROOT/doc/examples/trstat.cron" | sed "${4:-}")
	[[ $command == *'--pair wakeup'*'p99 > 20ms'* ]]
	command=${command//\/tmp\/trstat.lock/$PWD\/lock}
	command=${command/--pair wakeup/$PAIR}
	run -0 bash -c "${command/p99 > 20ms/$3}"
	assert_output --partial "$2"
	# the status of the line is echo's; that of trstat is the reason to print
	command=${command/'|| echo "$out"'/'|| echo "status $?"'}
	run -0 bash -c "${command/p99 > 20ms/$3}"
	assert_line "status $1"
}

@test "the line for cron mails an alarm, a wrong trace, a missing trsym and a misspelt name" {
	need flock
	PAIR='--pair wakeup'
	cron_mails 3 'p99 > 1us is true: ' 'p99 > 1us'
	TRACE=$DATA/uftrace/fib
	cron_mails 2 'the trace has no sched_wakeup' 'p99 > 20ms'
	PAIR=
	cron_mails 3 'max(name == "usleep") > 2ms is true: 2.094 ms' 'max(name == \"usleep\") > 2ms'
	cron_mails 2 "no event has the name 'uslep'; did you mean 'usleep'?" 'max(name == \"uslep\") > 2ms'
	cron_mails 2 'the stream has no symbols: run trsym before this program' \
		'max(name == \"usleep\") > 2ms' 's/ | trsym / /'
	cron_mails 2 "no event has the name 'usleep'" 'max(name == \"usleep\") > 2ms' \
		"s|\\\$TRACE|$DATA/trace-cmd/s390x-v7-zstd-sched-syscalls.dat|"
}

@test "the nightly report mails alarms first, and what changed against the nights before" {
	local setting night command
	# as the line for cron and the service start it
	command=$(sed -n 's/^[*0-9].*flock [^ ]* [^ ]* //p' "$ROOT/doc/examples/trstat-nightly.cron")
	[ "/bin/$command" = "$(sed -n 's/^ExecStart=//p' "$ROOT/doc/examples/trstat-nightly.service")" ]
	command=${command/\/usr\/share\/doc\/trutils/"$ROOT"\/doc}
	setting=$(sed -n 's/^CONDITION=//p' "$ROOT/doc/examples/trstat-nightly.cron")
	grep -qxF "Environment=\"CONDITION=$setting\"" "$ROOT/doc/examples/trstat-nightly.service"
	export NIGHTS=$PWD/nights SENDMAIL='tee mail'
	CONDITION="$setting" run -0 bash -c "${command/20ms/20s} 2>&1"
	[ "$(sed -n '2p' mail)" = "Subject: [trstat] nothing is wrong: $(date +%F)" ]
	grep -q '^# Report of a trace' mail
	grep -q '^No night before is known' mail
	grep -q '^<!DOCTYPE html>' nights/*.html
	for night in 1 2 3 4 5 6 7; do
		cp nights/"$(date +%F)".sum "nights/2026-01-0$night.sum"
	done
	CONDITION='p99 > 1us' KEEP=6 run -3 bash -c "$command"
	[ "$(sed -n '2p' mail)" = "Subject: [trstat] ALARM: $(date +%F)" ]
	[[ $(grep -n '^- \*\*ALARM true\*\*: p99' mail | cut -d: -f1) -lt 12 ]]
	grep -q '^| .*p99.*verdict' <(sed -n '/^## Change/,$p' mail)
	# the oldest are forgotten
	run -0 ls nights
	refute_line 2026-01-02.sum
	assert_line 2026-01-03.sum
	TRACE=$PWD/none run -2 bash -c "$command"
	grep -q '^Subject: .*the report failed' mail
}
