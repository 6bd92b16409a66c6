# The array of jobs of trutils-scale(7) in a real Slurm: one node with two processors. Run by make check-interop.

load ../lib

setup_file() {
	local host
	command -v munged slurmctld slurmd sbatch >/dev/null || return 0
	cd "$BATS_FILE_TMPDIR" || return
	host=$(hostname -s)
	# munged refuses directories that other users can write
	mkdir -p run/state run/spool
	head -c 1024 /dev/urandom >munge.key
	chmod 400 munge.key
	chmod 755 "$BATS_RUN_TMPDIR" . run
	cat >slurm.conf <<-END
		ClusterName=trutils
		SlurmctldHost=$host(127.0.0.1)
		AuthType=auth/munge
		CredType=cred/munge
		# a job that is queued again may start after so many seconds
		AuthInfo=socket=$PWD/run/munge.sock,cred_expire=5
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		SlurmctldPort=16817
		SlurmdPort=16818
		StateSaveLocation=$PWD/run/state
		SlurmdSpoolDir=$PWD/run/spool
		SlurmctldPidFile=$PWD/run/slurmctld.pid
		SlurmdPidFile=$PWD/run/slurmd.pid
		SlurmctldLogFile=$PWD/run/slurmctld.log
		SlurmdLogFile=$PWD/run/slurmd.log
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		MpiDefault=none
		SchedulerType=sched/builtin
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		ReturnToService=2
		KillWait=1
		SlurmdParameters=config_overrides
		NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
		PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
	END
	export SLURM_CONF=$PWD/slurm.conf
	munged --force --key-file="$PWD/munge.key" --socket="$PWD/run/munge.sock" --pid-file="$PWD/run/munged.pid" \
		--log-file="$PWD/run/munged.log" --seed-file="$PWD/run/seed" >run/out 2>&1 3>&- &&
		slurmctld >>run/out 2>&1 3>&- && slurmd >>run/out 2>&1 3>&- || return 0
	for _ in $(seq 50); do
		sinfo -h -o %T 2>/dev/null | grep -q idle && touch run/ready && break
		sleep 0.2
	done
}

teardown_file() {
	local file pid
	for file in "$BATS_FILE_TMPDIR"/run/{slurmd,slurmctld,munged}.pid; do
		[ -s "$file" ] || continue
		pid=$(<"$file")
		kill "$pid"
		tail -f /dev/null --pid="$pid"
	done
}

setup() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	export SLURM_CONF=$BATS_FILE_TMPDIR/slurm.conf
	[ -e "$BATS_FILE_TMPDIR/run/ready" ] ||
		skip "Slurm does not run here: $(tail -n 1 "$BATS_FILE_TMPDIR"/run/{out,slurmctld.log,slurmd.log} 2>/dev/null | tail -n 1)"
	mkdir -p "$BATS_TEST_TMPDIR/jobs"
	cd "$BATS_TEST_TMPDIR/jobs" || return
}

# wait_for SECONDS COMMAND...
wait_for() {
	local tries=$(($1 * 5))
	while ! "${@:2}"; do
		((--tries)) || return 1
		sleep 0.2
	done
}

# state ID STATE: a job is in the state
in_state() {
	[[ $(squeue -h -r -j "$1" -o %T 2>/dev/null) == "$2" ]]
}

merged() {
	compgen -G 'slurm-*.merged' >/dev/null && grep -q call_99 slurm-*.merged
}

@test "an array of 20 jobs, one of which is killed and queued again, has the table of a single run" {
	local i job
	for i in $(seq -w 0 19); do
		awk -v seed="$i" 'BEGIN { srand(seed + 1); for (k = 0; k < 300; k++) { t += 1 + int(rand() * 1000)
			printf "{\"time\":%d,\"dur\":%d,\"tid\":%d,\"name\":\"call_%d\"}\n", t, int(rand() * 500), seed + 1, k < 100 ? k : rand() * 100 } }' </dev/null >"rec$i"
	done
	for i in rec*; do
		trdecode -q "$i" | trsym -q >"../$i.trs"
	done
	trstat -q ../rec*.trs >../theirs
	# the page's scripts; the third job waits in its first attempt
	sed -n '/^#!\/bin\/sh/,/^\.Ed/p' "$ROOT/man7/trutils-scale.7" | sed '$d; s/--array=0-99/--array=0-19/' >trstat.sbatch
	sed -i '2a [ "$SLURM_ARRAY_TASK_ID" != 2 ] || [ -n "$SLURM_RESTART_COUNT" ] || { : >waits; exec sleep 600; }' trstat.sbatch
	job=$(sbatch --parsable --export=ALL trstat.sbatch)
	sed -n '/^sbatch --dependency/p' "$ROOT/man7/trutils-scale.7" | sed 's/sbatch /&--output=slurm-%j.merged /; s/trstat --merge/trstat -q --merge/' >merge.sh
	job=$job sh merge.sh
	wait_for 60 test -e waits
	wait_for 60 in_state "${job}_2" RUNNING
	[ ! -e part.2 ]
	scontrol requeue "${job}_2"
	wait_for 90 merged || fail "$(squeue; tail -n 5 "$BATS_FILE_TMPDIR"/run/*.log)"
	[ "$(ls part.* | wc -l)" = 20 ]
	wait_for 10 diff -q ../theirs slurm-*.merged
	diff ../theirs slurm-*.merged
}
