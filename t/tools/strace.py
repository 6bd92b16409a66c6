#!/usr/bin/env python3
"""Count the calls in logs of strace, by expressions over whole lines.

usage: strace.py [--table | --folded | --errors | --ltrace | --events] LOG...

Prints for each name: calls that began, calls with a result, those with an error, and the sum of the
durations in ns, or "-" if one has none. With --table the same of the table that strace -C or -c
wrote: name, calls, errors, us. With --folded the stacks of a log of -k, with their calls and ns. With
--errors for each error that a call returned: its name, that of the call, and how often. With --ltrace
the calls of a log of ltrace without times: name, depth of indentation, lines that begin it. With
--events the events of a log of perf trace: thread, name, fields in their order, stack.
"""
import collections
import json
import re
import sys

BEGIN = re.compile(r'^[^("]*?\b(\w+)\(')
RESUMED = re.compile(r'^[^"]*?<\.\.\. (\w+) resumed>')
RESULT = re.compile(r'^.*\)\s+= (.*?)(?: <(\d+)\.(\d+)>)?$')


def read_log(names, calls):
    for name in names:
        held, open_call = '', None
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
            # of -r with -t
            line = re.sub(r'^([^("]*) \(\+ +[\d.]+\)', r'\1', line)
            resumed, begin = RESUMED.match(line), BEGIN.match(line)
            # -z and -Z: the end of the call in the line before
            if open_call and not re.match(r'\d+[ <]|\[pid', line):
                resumed, begin = open_call, None
            open_call = (resumed or begin) if line.endswith('<unfinished ...>') else None
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


def ltrace(name):
    calls = collections.Counter()
    for line in open(name):
        call = re.match(r'^( *)([\w@>-]+)\(', line)
        if call:
            calls[call[2], len(call[1])] += 1
    for key in sorted(calls):
        print('\t'.join(map(str, (*key, calls[key]))))


def scalar(text):
    """Read what perf prints: a text in quotes, a number, which the name of a thread may follow."""
    if text.startswith('"'):
        return text[1:-1]
    number = re.match(r'^-?\d+(?= \(|$)', text)
    return int(number[0]) if number else text


def events(name):
    """Print the events of perf trace. A stack follows its line, the innermost frame first."""
    found, last = [], None
    for line in open(name):
        frame = re.match(r'^ {39}(.*) \((.*)\)$', line)
        if frame:
            unknown = frame[1].startswith('[')
            file = '[%s]' % frame[2].strip('[]').split('/')[-1]
            if last is not None:
                last.insert(0, file if unknown else frame[1])
            continue
        last = None
        event = re.match(r'^ *[\d.]+ (?:\( *(?:[\d.]+ ms)?\): )?.*?/?(\d+) (?:\w+:(\w+)\((.*)\)|'
                         r'(m\w+fault) \[(.*)\] => (.*) \((..)\))$', line)
        if not event:
            continue
        if event[4]:
            fields = {'ip': event[5], 'addr': event[6], 'map': event[7]}
        else:
            fields = {key: scalar(text) for key, text in re.findall(r'(\w+): ("[^"]*"|[^,]+)', event[3])}
        last = []
        found.append((int(event[1]), event[2] or event[4], fields, last))
    for tid, name, fields, stack in found:
        if stack:
            fields['stack'] = stack
        print(json.dumps([tid, name, fields], separators=(',', ':')))


def main():
    if sys.argv[1] in ('--ltrace', '--events'):
        (ltrace if sys.argv[1] == '--ltrace' else events)(sys.argv[2])
        return
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
