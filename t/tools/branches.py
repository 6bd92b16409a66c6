#!/usr/bin/env python3
"""Make calls of the branches in a text of perf script, by the rules of trstream-sources(5).

usage: branches.py FILE

Prints for each function: calls that ended, and the sum of their times in ns.
"""
import collections
import re
import sys

HEAD = re.compile(r'^\s*(?:\S.*?\s)??(?:\d+/)?(\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d+):\s+(?:\d+\s+)?(?:\S+:\s)?(.*)$')
FLAGS = 'tr strt|tr end|call|return|jcc|jmp|tx abrt|syscall|hw int|int|sysret|iret|async|vmentry|vmexit'
BRANCH = re.compile(r'^((?:\s*(?:%s)(?:/\w+)?(?=\s)(?:\s+\([xDt]*\))?)+)\s+(.*?) => (.*)$' % FLAGS)
INDENT = re.compile(r'^\s*((?:(?:%s)(?:/\w+)?\s+)*)\((.*?)\s*\)\t( *)(\S.*?)\s*$' % FLAGS)
FRAME = re.compile(r'(?:^|\s)([0-9a-f]+)\s+(\S.*?)(?:\+(0x[0-9a-f]+))?\s+\((.*)\)\s*$')
ERROR = re.compile(r'^ *instruction trace error type \d+ (?:time (\d+)\.(\d+) )?.*\btid (-?\d+)')


class Thread:
    def __init__(self):
        self.frames = []  # (key, name, begin, kind or depth)


class Calls:
    def __init__(self):
        self.count = collections.Counter()
        self.total = collections.Counter()
        self.threads = collections.defaultdict(Thread)
        self.jumps = False

    def push(self, thread, function, now, kind='call'):
        thread.frames.append((function, now, kind))

    def pop_to(self, thread, n, now):
        while len(thread.frames) > n:
            function, begin, _ = thread.frames.pop()
            self.count[function[0]] += 1
            self.total[function[0]] += now - begin

    def find(self, thread, function):
        for i in range(len(thread.frames), 0, -1):
            if thread.frames[i - 1][0] == function:
                return i
            if thread.frames[i - 1][2] == 'level':
                return 0
        return 0

    def mend(self, thread, function, now, tail=False):
        if function is None or (thread.frames and thread.frames[-1][0] == function):
            return
        i = 0 if tail else self.find(thread, function)
        if i:
            self.pop_to(thread, i, now)
            return
        kind = thread.frames[-1][2] if thread.frames else 'call'
        self.pop_to(thread, max(len(thread.frames) - 1, 0), now)
        self.push(thread, function, now, kind)

    def untrace(self, thread, flags, now, kind):
        self.push(thread, ('[syscall]' if 'syscall' in flags else '[untraced]', ''), now, kind)

    def branch(self, thread, flags, source, to, entry, now):
        ends = 'tr end' in flags
        self.jumps |= bool(flags & {'jmp', 'jcc', 'tx abrt'})
        before = thread.frames[-1][2] if thread.frames else ''
        if before in ('untraced', 'called'):
            self.pop_to(thread, len(thread.frames) - 1, now)
        if 'tr strt' in flags:
            if ends or to is None:
                return
            i = self.find(thread, to)
            if i:
                self.pop_to(thread, i, now)
            elif not thread.frames or before == 'called':
                self.push(thread, to, now)
            return
        if 'call' in flags:
            if source and (not thread.frames or not self.jumps or self.find(thread, source)):
                self.mend(thread, source, now)
            if to:
                self.push(thread, to, now)
            if ends:
                self.untrace(thread, flags, now, 'untraced' if to else 'called')
            return
        if 'return' in flags:
            if not thread.frames and source:
                self.push(thread, source, now)
            self.pop_to(thread, max(len(thread.frames) - 1, 0), now)
        elif flags & {'syscall', 'hw int', 'int'} and not ends:
            if to:
                self.push(thread, to, now, 'level')
            return
        elif flags & {'iret', 'sysret'}:
            levels = [i for i, frame in enumerate(thread.frames) if frame[2] == 'level']
            self.pop_to(thread, levels[-1] if levels else 0, now)
        if ends:
            self.untrace(thread, flags, now, 'untraced')
        else:
            self.mend(thread, to, now, entry and bool(flags & {'jmp', 'jcc', 'tx abrt'}))

    def indented(self, thread, flags, name, depth, now):
        n = len(thread.frames)
        while n and thread.frames[n - 1][2] >= depth:
            n -= 1
        self.pop_to(thread, n, now)
        if not flags & {'return', 'iret', 'sysret', 'tr end'}:
            self.push(thread, name, now, depth)


def function_of(text):
    frame = FRAME.search(text)
    if not frame or int(frame[1], 16) == 0:
        return None, False
    name = frame[2]
    name = re.sub(r'\([^()]*\)$', '', name)
    if name == '[unknown]':
        name = '[%s]' % frame[4].split('/')[-1]
    return (name, frame[4]), int(frame[3] or '0', 16) == 0


def main():
    calls = Calls()
    now = 0
    for line in open(sys.argv[1], encoding='latin-1'):
        line = line.rstrip('\n')
        error = ERROR.match(line)
        if error:
            now = int(error[1]) * 10**9 + int(error[2].ljust(9, '0')) if error[1] else now
            calls.pop_to(calls.threads[error[3]], 0, now)
            continue
        head = HEAD.match(line)
        if not head:
            continue
        tid, cpu, seconds, fraction, text = head.groups()
        branch, indent = BRANCH.match(text), INDENT.match(text)
        if not branch and not indent:
            continue
        now = int(seconds) * 10**9 + int(fraction.ljust(9, '0'))
        thread = calls.threads[tid if tid != '0' else 'cpu %s' % cpu]
        flags = set(re.findall(FLAGS, (branch or indent)[1]))
        if branch:
            source, _ = function_of(branch[2])
            to, entry = function_of(branch[3])
            calls.branch(thread, flags, source, to, entry, now)
        else:
            calls.indented(thread, flags, (indent[4], indent[2]), len(indent[3]) // 4, now)
    for name in sorted(calls.count):
        print('\t'.join((name, str(calls.count[name]), str(calls.total[name]))))


main()
