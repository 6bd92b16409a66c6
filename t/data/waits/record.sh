#!/bin/bash
# record.sh DIRECTORY: build waits.c, and record it with uftrace (app) and the machine with perf (kernel.data), by root.
# kernel.txt is what perf script prints, app.txt what uftrace dump prints. With a cgroup cpu of version 1 the thread
# "limited" has a quarter of a CPU. Where a loop device can be mounted, the file is on its ext4, with a thread of a journal.
set -e
here=$(dirname "$(realpath "$0")")
mkdir -p "$1"
cd "$1"
gcc -O1 -pg -g "$here/waits.c" -o waits -lpthread
group=/sys/fs/cgroup/cpu/waits tasks=
if mkdir -p $group 2>/dev/null; then
	echo 20000 >$group/cpu.cfs_period_us
	echo 5000 >$group/cpu.cfs_quota_us
	tasks=$group/tasks
fi
truncate -s 16M disk
mkdir mounted
release() {
	umount mounted 2>/dev/null || true
	[ -z "$device" ] || losetup -d "$device"
	rm -rf disk mounted
}
device=$(losetup -f --show disk 2>/dev/null) || device=
trap release EXIT
[ -z "$device" ] || { mkfs.ext4 -q "$device" && mount "$device" mounted; } 2>/dev/null || true
perf record -q -k CLOCK_MONOTONIC -a -m 2048 -o kernel.data \
	-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_migrate_task \
	-e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit \
	-e timer:hrtimer_expire_entry -e timer:hrtimer_expire_exit -- \
	nice -n -20 uftrace record -d app --no-libcall --no-event ./waits mounted/file $tasks </dev/null >log 2>&1
[ -z "$tasks" ] || rmdir $group
find app -name '*.sym' ! -name 'waits.sym' -delete
perf script -i kernel.data --ns -F comm,pid,tid,cpu,time,event,trace >kernel.txt 2>/dev/null
uftrace dump -d app >app.txt
rm -f waits mounted/file
