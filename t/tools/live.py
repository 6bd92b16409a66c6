#!/usr/bin/env python3
"""Run a shell command as a terminal's foreground job, and end it by signals.

    live.py [-s INT|TERM] [-w SECONDS] [-2 SECONDS] [-o PROGRAM] [--stop] COMMAND

The command gets the signals with their default actions, in a process group of its own. After -w
seconds the signal is sent to the group, or with -o to the processes PROGRAM of it alone; with -2
once more, so much later. The exit status is the command's (128 + N after signal N), or 99 if it
runs 6 seconds after the signal. With --stop, as systemd stops a service: every process of the session
gets the signal, and those that are left when the command has ended get it again; the status is 98 if
one of them runs 2 seconds later. Prints "ended after N ms" on stderr, from the first signal on.
"""
import argparse, os, signal, subprocess, sys, time


def processes(session, name):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                text = stat.read()
        except OSError:
            continue
        comm, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if name in (comm, None) and int(rest[3]) == session:
            yield int(pid)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", default="INT")
    parser.add_argument("-w", type=float, default=0.5)
    parser.add_argument("-2", dest="again", type=float)
    parser.add_argument("-o")
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("command")
    args = parser.parse_args()
    number = getattr(signal, "SIG" + args.s)

    def start():
        os.setsid()
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(s, signal.SIG_DFL)

    def send():
        if not args.o:
            os.killpg(job.pid, number)
        for pid in processes(job.pid, args.o) if args.o else ():
            os.kill(pid, number)

    job = subprocess.Popen(["bash", "-c", args.command], preexec_fn=start)
    time.sleep(args.w)
    send()
    begin = time.monotonic()
    if args.again is not None:
        time.sleep(args.again)
        if job.poll() is None:
            send()
    try:
        job.wait(6)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        sys.exit(99)
    begin_rest = time.monotonic()
    if args.stop:
        for pid in processes(job.pid, None):
            os.kill(pid, number)
    while args.stop and list(processes(job.pid, None)):
        if time.monotonic() - begin_rest > 2:
            os.killpg(job.pid, signal.SIGKILL)
            sys.exit(98)
        time.sleep(0.02)
    print(f"ended after {int((time.monotonic() - begin) * 1000)} ms", file=sys.stderr)
    sys.exit(job.returncode if job.returncode >= 0 else 128 - job.returncode)


main()
