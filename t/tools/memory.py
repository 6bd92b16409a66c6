# What memory is allocated and not freed: memory.py alloc <REPLAY, of `uftrace replay`, or memory.py
# kmem|pages <SCRIPT, of `perf script -F comm,tid,cpu,time,event,trace`. Rows are the caller, the
# call_site or the command, with the bytes, the bytes that are outstanding, the number of their
# allocations, and the number that was freed. Memory that is allocated again was freed unseen.
import re
import sys
from collections import defaultdict

live = {}
sums = defaultdict(lambda: [0, 0, 0, 0])


def free(address, seen=1):
    if address in live:
        key, size = live.pop(address)
        sums[key][1] -= size
        sums[key][2] -= 1
        sums[key][3] += seen


def allocate(address, key, size):
    free(address, 0)
    live[address] = key, size
    sums[key][0] += size
    sums[key][1] += size
    sums[key][2] += 1


def replay(lines):
    sizes = dict(malloc=lambda n: n, calloc=lambda n, m: n * m, realloc=lambda p, n: n,
                 aligned_alloc=lambda a, n: n)
    stacks = defaultdict(list)
    for line in lines:
        found = re.match(r'[^[]*\[ *(\d+)\] \| *(.*)', line)
        if not found:
            continue
        stack, text = stacks[found[1]], found[2]
        if text.startswith('}'):
            stack.pop()
        elif text.endswith('{'):
            stack.append(text.split('(')[0])
        else:
            call = re.match(r'(\w+)\((.*?)\)(?: = (\w+))?;', text)
            numbers = [int(n, 0) for n in re.findall(r'\b(?:0x)?[0-9a-f]+\b', call[2])] if call else []
            if call and call[1] in ('free', 'realloc'):
                free(numbers[0])
            if call and call[1] in sizes and int(call[3], 0):
                allocate(int(call[3], 0), stack[-1], sizes[call[1]](*numbers))


def script(lines, kind):
    for line in lines:
        event, text = re.search(r'kmem:(\w+): *(.*)', line).groups()
        field = dict(re.findall(r'(\w+)=(\S+)', text))
        if kind == 'pages' and event == 'mm_page_alloc':
            comm = re.match(r' *(.*?) +-?\d+ +\[', line)[1]
            allocate(field['pfn'], comm, 4096 << int(field['order']))
        elif kind == 'pages' and event == 'mm_page_free':
            free(field['pfn'])
        elif kind == 'kmem' and event in ('kmalloc', 'kmem_cache_alloc'):
            allocate(field['ptr'], field['call_site'], int(field['bytes_alloc']))
        elif kind == 'kmem' and event in ('kfree', 'kmem_cache_free'):
            free(field['ptr'])


if sys.argv[1] == 'alloc':
    replay(sys.stdin)
else:
    script(sys.stdin, sys.argv[1])
for key in sums:
    print(key, *sums[key], sep='\t')
