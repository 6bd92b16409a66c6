#!/usr/bin/env python3
"""Read what bpftrace and bcc print with expressions over the whole text, independently of trdecode.

usage: bpftrace.py sums FILE        MAP <tab> KEYS <tab> BUCKET <tab> SUM of each map, sorted; keys that
                                    are stacks are left out
       bpftrace.py folded MAP FILE  the stacks of a map with its other keys as the outermost frame
       bpftrace.py bcc FILE         the same of stacks of bcc, with the name of the process
"""
import collections
import json
import re
import sys

STACK = r'(?:\n(?:[ \t]+[^\n]*\n)+)'
NUMBER = re.compile(r'-?\d+$|count \d+, average -?\d+, total (-?\d+)$')


def bound(text):
    n = re.match(r'(-?\d+)([KMGTPE]?)$', text)
    return int(n[1]) << (10 * (' KMGTPE'.index(n[2] or ' ')))


def text_values(text):
    """Yield the map, the list of its keys, the bucket and the number of each value."""
    key = rf'(?:{STACK}|[^,\n\]]*)'
    for m in re.finditer(rf'^(@\w*)(?:\[({key}(?:, {key})*)\])?:[ ]?(.*)\n((?:[\[(].*\|\n)*)', text, re.M):
        keys = re.findall(rf'(?:^|, )({STACK}|[^,\n]*)', m[2]) if m[2] is not None else []
        for label, count in re.findall(r'^([\[(].*?[\])]) +(\d+) \|', m[4], re.M):
            yield m[1], keys, label, int(count)
        number = NUMBER.match(m[3])
        if number:
            yield m[1], keys, '', int(number[1] or m[3])


def json_values(text):
    def label(low, high):
        def part(n):
            if n is None:
                return '...'
            shift = 0
            while n and n % 1024 == 0:
                n, shift = n // 1024, shift + 1
            return str(n) + ' KMGTPE'[shift].strip()
        if low == high:
            return f'[{low}]'
        return ('(' if low is None else '[') + part(low) + ', ' + part(None if high is None else high + 1) + ')'

    def leaves(name, keys, value):
        if isinstance(value, int):
            yield name, keys, '', value
        elif isinstance(value, dict) and set(value) == {'count', 'average', 'total'}:
            yield name, keys, '', value['total']
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from leaves(name, [k for k in re.findall(rf'(?:^|,)({STACK}|[^,\n]*)', key)], inner)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for b in value:
                yield name, keys, label(b.get('min'), b.get('max')), b['count']

    for line in text.splitlines():
        if line.startswith('{') and isinstance(json.loads(line)['data'], dict):
            for name, value in json.loads(line)['data'].items():
                if name.startswith('@'):
                    yield from leaves(name, [], value)


def frame(line):
    line = re.sub(r'^\s*[0-9a-f]+ (.*) \(.*\)$', r'\1', line).strip()
    return re.sub(r'\+\d+$', '', line).replace(';', ':')


def folded(keys):
    frames = [frame(f) for k in keys if '\n' in k or not k for f in k.splitlines() if f.strip()]
    label = ', '.join(k for k in keys if k and '\n' not in k)
    return ';'.join([label] * bool(label) + frames[::-1])


def bcc_values(text):
    for m in re.finditer(r'((?:^  +\S.*\n)+)^ +-  +(.*) \(\d+\)\n +(\d+)\n', text, re.M):
        yield ';'.join([m[2]] + [f.strip() for f in m[1].splitlines() if f.strip() != '--'][::-1]), int(m[3])


def main():
    text = open(sys.argv[-1], encoding='latin-1').read()
    sums = collections.Counter()
    values = json_values if text.startswith('{') else text_values
    if sys.argv[1] == 'bcc':
        for stack, n in bcc_values(text):
            sums[stack] += n
    for name, keys, label, n in values(text):
        if sys.argv[1] == 'folded' and name == sys.argv[2]:
            sums[folded(keys)] += n
        elif sys.argv[1] == 'sums' and n:
            sums['\t'.join([name, ', '.join(k for k in keys if k and '\n' not in k), label])] += n
    separator = '\t' if sys.argv[1] == 'sums' else ' '
    for key in sorted(sums):
        print(f'{key}{separator}{sums[key]}')


main()
