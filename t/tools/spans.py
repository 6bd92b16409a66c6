#!/usr/bin/env python3
"""Write the spans of services in each format that trdecode reads, and list them.
usage: spans.py SEED DIRECTORY: DIRECTORY/otlp.json (lines), one.json, old.json, otlp.pb, sized.pb,
jaeger.json, zipkin.json, zipkin_v1.json, and expect and expect_v1: trace, span, parent, name, service, start, duration in ns,
the name of the parent, kind, status, the attribute http.target"""
import json
import random
import struct
import sys

seed, to = int(sys.argv[1]), sys.argv[2]
random.seed(seed)
KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer']
BASE = 1796034223 * 10**9
services = ['shop', 'cart "x"', 'stock', 'zahlung-ü']


def attributes():
    return {'http.target': f'/{random.randrange(9)}', 'n': random.randrange(-5, 2**62), 'ok': random.random() < .5,
            'ratio': random.randrange(1, 99) / 8, 'list': [1, 'two', {'three': [3.5]}], 'empty': ''}


spans = []
for t in range(20):
    trace = f'{random.getrandbits(128):032x}'
    own = []
    for i in range(random.randrange(1, 12)):
        parent = random.choice(own) if own else None
        start = parent['start'] + random.randrange(0, 2000) * 1000 if parent else BASE + random.randrange(10**6) * 1000
        own.append(dict(trace=trace, id=f'{random.getrandbits(64) | 1 << 60:016x}', parent=parent, start=start,
                        end=start + random.choice((0, 1, 50, 3000)) * 1000, service=random.choice(services),
                        name=random.choice(('GET /', 'POST /cart', 'query')), kind=random.randrange(1, 6),
                        status=random.choice((0, 0, 1, 2)), attributes=attributes(),
                        events=[(start + 1000 * j, f'event {j}') for j in range(random.randrange(3))],
                        links=[random.choice(spans)] if spans and random.random() < .2 else []))
        spans.append(own[-1])
random.shuffle(spans)


def value(v):
    if isinstance(v, bool):
        return {'boolValue': v}
    if isinstance(v, int):
        return {'intValue': str(v)}
    if isinstance(v, float):
        return {'doubleValue': v}
    if isinstance(v, list):
        return {'arrayValue': {'values': [value(x) for x in v]}}
    if isinstance(v, dict):
        return {'kvlistValue': {'values': pairs(v)}}
    return {'stringValue': v}


def pairs(d):
    return [{'key': k, 'value': value(v)} for k, v in d.items()]


def otlp_span(s):
    return {'traceId': s['trace'], 'spanId': s['id'], 'parentSpanId': s['parent']['id'] if s['parent'] else '',
            'name': s['name'], 'kind': s['kind'], 'startTimeUnixNano': str(s['start']), 'endTimeUnixNano': str(s['end']),
            'attributes': pairs(s['attributes']), 'status': {'code': s['status']} if s['status'] else {},
            'events': [{'timeUnixNano': str(t), 'name': n} for t, n in s['events']],
            'links': [{'traceId': l['trace'], 'spanId': l['id']} for l in s['links']]}


def resource_spans(part, old=False):
    return [{'resource': {'attributes': pairs({'service.name': name, 'host.name': 'h1'})},
             'instrumentationLibrarySpans' if old else 'scopeSpans':
             [{'instrumentationLibrary' if old else 'scope': {'name': 'lib', 'version': '1'},
               'spans': [otlp_span(s) for s in part if s['service'] == name]}]}
            for name in services if any(s['service'] == name for s in part)]


def write(name, text):
    with open(f'{to}/{name}', 'wb') as f:
        f.write(text if isinstance(text, bytes) else text.encode())


parts = [spans[i:i + 7] for i in range(0, len(spans), 7)]
write('otlp.json', ''.join(json.dumps({'resourceSpans': resource_spans(p)}) + '\n' for p in parts))
write('one.json', json.dumps({'resourceSpans': resource_spans(spans)}, indent=1, ensure_ascii=False))
write('old.json', json.dumps({'resourceSpans': resource_spans(spans, True)}))


# Protocol Buffers
def varint(n):
    n &= 2**64 - 1
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, v):
    if isinstance(v, str):
        v = v.encode()
    if isinstance(v, bytes):
        return varint(number << 3 | 2) + varint(len(v)) + v
    return varint(number << 3) + varint(v)


def fixed(number, n):
    return varint(number << 3 | 1) + struct.pack('<Q', n)


def pb_value(v):
    if isinstance(v, bool):
        return field(2, int(v))
    if isinstance(v, int):
        return field(3, v)
    if isinstance(v, float):
        return varint(4 << 3 | 1) + struct.pack('<d', v)
    if isinstance(v, list):
        return field(5, b''.join(field(1, pb_value(x)) for x in v))
    if isinstance(v, dict):
        return field(6, pb_pairs(v, 1))
    return field(1, v)


def pb_pairs(d, number):
    return b''.join(field(number, field(1, k) + field(2, pb_value(v))) for k, v in d.items())


def pb_span(s):
    return (field(1, bytes.fromhex(s['trace'])) + field(2, bytes.fromhex(s['id'])) +
            (field(4, bytes.fromhex(s['parent']['id'])) if s['parent'] else b'') + field(5, s['name']) +
            field(6, s['kind']) + fixed(7, s['start']) + fixed(8, s['end']) + pb_pairs(s['attributes'], 9) +
            b''.join(field(11, fixed(1, t) + field(2, n)) for t, n in s['events']) +
            b''.join(field(13, field(1, bytes.fromhex(l['trace'])) + field(2, bytes.fromhex(l['id'])))
                     for l in s['links']) + field(15, field(3, s['status']) if s['status'] else b''))


def pb(part):
    return b''.join(field(1, field(1, pb_pairs({'service.name': name, 'host.name': 'h1'}, 1)) + field(
        2, field(1, field(1, 'lib') + field(2, '1')) + b''.join(field(2, pb_span(s)) for s in part if s['service'] == name)))
        for name in services if any(s['service'] == name for s in part))


write('otlp.pb', pb(spans))
write('sized.pb', b''.join(struct.pack('>I', len(pb(p))) + pb(p) for p in parts))


# Jaeger
def tag(k, v):
    kind = {bool: 'bool', int: 'int64', float: 'float64'}.get(type(v), 'string')
    return {'key': k, 'type': kind, 'value': v if kind != 'string' or isinstance(v, str) else json.dumps(v)}


def jaeger_span(s):
    tags = [tag(k, v) for k, v in s['attributes'].items()] + [tag('span.kind', KINDS[s['kind']])]
    tags += [tag('error', True)] if s['status'] == 2 else [tag('otel.status_code', 'OK')] if s['status'] else []
    references = [{'refType': 'FOLLOWS_FROM', 'traceID': l['trace'], 'spanID': l['id']} for l in s['links']]
    if s['parent']:
        references.insert(0, {'refType': 'CHILD_OF', 'traceID': s['trace'], 'spanID': s['parent']['id']})
    return {'traceID': s['trace'], 'spanID': s['id'], 'flags': 1, 'operationName': s['name'], 'references': references,
            'startTime': s['start'] // 1000, 'duration': (s['end'] - s['start']) // 1000, 'tags': tags,
            'logs': [{'timestamp': t // 1000, 'fields': [tag('event', n), tag('level', 'info')]} for t, n in s['events']],
            'processID': f'p{services.index(s["service"]) + 1}', 'warnings': None}


traces = {}
for s in spans:
    traces.setdefault(s['trace'], []).append(jaeger_span(s))
write('jaeger.json', json.dumps({'data': [
    {'traceID': t, 'spans': of, 'processes': {f'p{i + 1}': {'serviceName': n, 'tags': [tag('hostname', 'h1')]}
                                              for i, n in enumerate(services)}, 'warnings': None}
    for t, of in traces.items()], 'total': 0, 'errors': None}))


# Zipkin
def zipkin_span(s):
    z = {'traceId': s['trace'], 'id': s['id'], 'name': s['name'], 'timestamp': s['start'] // 1000,
         'duration': (s['end'] - s['start']) // 1000, 'localEndpoint': {'serviceName': s['service'], 'ipv4': '10.0.0.1'},
         'annotations': [{'timestamp': t // 1000, 'value': n} for t, n in s['events']],
         'tags': {k: str(v) for k, v in s['attributes'].items()}}
    if s['parent']:
        z['parentId'] = s['parent']['id']
    if s['kind'] > 1:
        z['kind'] = KINDS[s['kind']].upper()
    if s['status'] == 2:
        z['tags']['error'] = 'bad'
    return z


write('zipkin.json', json.dumps([zipkin_span(s) for s in spans]))


def expect(s, **other):
    s = {**s, **other}
    return '\t'.join(str(x) for x in (
        s['trace'], s['id'], s['parent']['id'] if s['parent'] else '', s['name'], s['service'], s['start'],
        s['end'] - s['start'], s['parent']['name'] if s['parent'] else '', KINDS[s['kind']],
        ('', 'ok', 'error')[s['status']], s['attributes'].get('http.target', ''))) + '\n'


write('expect', ''.join(expect(s) for s in spans))


# Version 1 of Zipkin: annotations have the times and the service of each side. A record of a client may be that of
# its server too.
def zipkin_v1_span(s, i):
    def at(t, value, service):
        return {'timestamp': t // 1000, 'value': value,
                'endpoint': {'serviceName': service, 'ipv4': '10.0.0.1', 'port': 80}}

    begin, end = (('', ''), ('', ''), ('sr', 'ss'), ('cs', 'cr'), ('ms', 'ws'), ('wr', 'mr'))[s['kind']]
    # a record has its own times, or those of its annotations; without core annotations its own
    whole = not begin or i % 2
    lines = [expect(s, status=s['status'] & 2, kind=s['kind'] if begin else 0)]
    annotations = [at(t, n, s['service']) for t, n in s['events']]
    if begin:
        annotations += [at(s['start'], begin, s['service']), at(s['end'], end, s['service'])]
    if begin == 'cs' and i % 3 == 0:
        other = services[(services.index(s['service']) + i % 2) % 4]
        annotations += [at(s['start'] + 2000, 'sr', other), at(s['start'] + 5000, 'ss', other)]
        lines.append(expect(s, service=other, start=s['start'] + 2000, end=s['start'] + 5000, kind=2, status=0, attributes={}))
    random.shuffle(annotations)
    z = {'traceId': s['trace'], 'id': s['id'], 'name': s['name'], 'annotations': annotations, 'binaryAnnotations': [
        {'key': k, 'value': str(v), 'endpoint': at(0, '', s['service'])['endpoint']} for k, v in s['attributes'].items()]}
    if not begin:
        z['binaryAnnotations'].append({'key': 'lc', 'value': '', 'endpoint': at(0, '', s['service'])['endpoint']})
    if begin == 'cs':
        z['binaryAnnotations'].append({'key': 'sa', 'value': True, 'endpoint': at(0, '', 'remote')['endpoint']})
    if s['status'] == 2:
        z['binaryAnnotations'].append({'key': 'error', 'value': 'bad', 'endpoint': at(0, '', s['service'])['endpoint']})
    if s['parent']:
        z['parentId'] = s['parent']['id']
    if whole:
        z.update(timestamp=s['start'] // 1000, duration=(s['end'] - s['start']) // 1000)
    return z, lines


old = [zipkin_v1_span(s, i) for i, s in enumerate(spans)]
write('zipkin_v1.json', json.dumps([z for z, _ in old]))
write('expect_v1', ''.join(line for _, lines in old for line in lines))
