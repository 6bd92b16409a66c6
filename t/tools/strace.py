#!/usr/bin/env python3
"""Count the calls in logs of strace, by expressions over whole lines.

usage: strace.py [--table | --folded | --errors] LOG...

Prints for each name: calls that began, calls with a result, those with an error, and the sum of the
durations in ns, or "-" if one has none. With --table the same of the table that strace -C or -c
wrote: name, calls, errors, us. With --folded the stacks of a log of -k, with their calls and ns. With
--errors for each error that a call returned: its name, that of the call, and how often.
"""
import collections
import re
import sys

BEGIN = re.compile(r'^[^("]*?\b(\w+)\(')
RESUMED = re.compile(r'^[^"]*?<\.\.\. (\w+) resumed>')
RESULT = re.compile(r'^.*\)\s+= (.*?)(?: <(\d+)\.(\d+)>)?$')


def read_log(names, calls):
    for name in names:
        held = ''
        for line in open(name, encoding='latin-1'):
            line = line.rstrip('\n')
            if line.startswith('% time'):
                break
            if re.match(r'^ > |.*(---|\+\+\+)$|^strace: ', line):
                continue
            # text of other programs in a call, and what follows it
            attached = re.search(r'strace: Process \d+ attached$', line)
            if attached:
                held = line[:attached.start()]
                continue
            line, held = held + line, ''
            resumed, begin = RESUMED.match(line), BEGIN.match(line)
            if not resumed and not begin:
                continue
            c = calls[(resumed or begin)[1]]
            c['begun'] += not resumed
            if line.endswith('<unfinished ...>'):
                continue
            result = RESULT.match(line)
            if not result:
                continue
            ret, seconds, fraction = result.groups()
            if ret == '?':
                c['timeless'] += 1
                continue
            c['done'] += 1
            error = re.match(r'(?:-1|\?) (E\w+)', ret)
            c['errors'] += bool(error)
            if error:
                c[error[1]] += 1
            if seconds is None:
                c['timeless'] += 1
            else:
                c['ns'] += int(seconds) * 10**9 + int(fraction.ljust(9, '0'))


def fold(name):
    """Sum the durations by stack. A stack follows the line with the result."""
    sums = collections.Counter()
    call, frames = None, []
    for line in list(open(name, encoding='latin-1')) + ['']:
        frame = re.match(r'^ > (.*)\((.*?)(?:\+0x[0-9a-f]+)?\) \[0x', line)
        if frame:
            frames.insert(0, frame[2] or '[%s]' % frame[1].split('/')[-1])
            continue
        if call:
            sums[';'.join(frames + [call[0]])] += call[1]
        call, frames = None, []
        begin = RESUMED.match(line) or BEGIN.match(line)
        result = RESULT.match(line.rstrip('\n'))
        if begin and result and result[2]:
            call = begin[1], int(result[2]) * 10**9 + int(result[3].ljust(9, '0'))
    for stack in sorted(sums):
        print(stack, sums[stack])


def main():
    if sys.argv[1] == '--folded':
        fold(sys.argv[2])
        return
    table = sys.argv[1] == '--table'
    if table:
        on = False
        for line in open(sys.argv[2], encoding='latin-1'):
            on |= line.startswith('% time')
            row = line.split()
            if on and row and re.match(r'^[\d.]+$', row[0]) and row[-1] != 'total':
                errors = row[4] if len(row) == 6 else '0'
                print('\t'.join((row[-1], row[3], errors, str(round(float(row[1]) * 1e6)))))
        return
    calls = collections.defaultdict(collections.Counter)
    by_error = sys.argv[1] == '--errors'
    read_log(sys.argv[1 + by_error:], calls)
    if by_error:
        for name in sorted(calls):
            for error in sorted(key for key in calls[name] if key.startswith('E')):
                print('\t'.join((name, error, str(calls[name][error]))))
        return
    for name in sorted(calls):
        c = calls[name]
        total = '-' if c['timeless'] or not c['ns'] else str(c['ns'])
        print('\t'.join((name, str(c['begun']), str(c['done']), str(c['errors']), total)))


main()
