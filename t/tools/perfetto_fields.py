#!/usr/bin/env python3
"""Test what trdecode does with each field of the messages of Perfetto that it reads.
usage: perfetto_fields.py TRDECODE ROOT
The table of perfetto_tables.c must be that of t/proto/perfetto_fields.proto. Of a trace with every field, the remark must name
those that are left out, with their counts. A field that is read must change the stream: a trace without it gives
another one. A packet whose payload is not read must be named in a remark, any other is one of the messages that are read.
The probe must know the wire types of fields, and a counter of vmstat has the name of its enum. The names and numbers of
packets and events are those of t/proto/perfetto.proto."""
import collections
import json
import os
import re
import struct
import subprocess
import sys

TRDECODE, ROOT = sys.argv[1:]
PRIMITIVES = set("uint64 int64 uint32 int32 bool string bytes double float fixed64 Type".split())
Field = collections.namedtuple("Field", "number name type packed many")
faults = []


def messages_of(path):
    """The fields of each message by name; a type is the full name of its message."""
    found, scope = {}, []
    text = re.sub(r"//[^\n]*", "", open(os.path.join(ROOT, "t/proto", path)).read())
    text = re.sub(r"enum \w+ {[^}]*}", "", text)
    for token in re.findall(r"message \w+ {|oneof \w+ {|}|(?:optional |repeated )?[\w.]+ \w+ = \d+[^;\n]*;", text):
        if token == "}":
            scope.pop()
        elif token.endswith("{"):
            scope.append(token.split()[1] if token.startswith("message") else "")
            found.setdefault(".".join(filter(None, scope)), {})
        else:
            many, kind, name, number, rest = re.match(
                r"(optional |repeated )?([\w.]+) (\w+) = (\d+)([^;]*);", token).groups()
            found[".".join(filter(None, scope))][name] = Field(
                int(number), name, kind, "packed" in rest, many == "repeated ")
    for message, fields in found.items():
        for name, f in fields.items():
            scopes = message.split(".")
            names = [".".join(scopes[:n] + [f.type]) for n in range(len(scopes), -1, -1)]
            resolved = f.type[2:] if f.type.startswith("f.") else next((n for n in names if n in found), f.type)
            fields[name] = f._replace(type=resolved)
    return found


KNOWN = {name: fields for name, fields in messages_of("perfetto_fields.proto").items() if fields}
PAYLOADS = KNOWN.pop("TracePacket")
ALL = messages_of("perfetto.proto")
for message, fields in KNOWN.items():
    ALL.setdefault(message, {}).update(fields)
ALL["FtraceEventBundle"]["event"] = KNOWN["FtraceEventBundle"]["event"]._replace(type="FtraceEvent")
ALL["FtraceEvent"]["funcgraph_entry"] = Field(437, "funcgraph_entry", "FuncgraphEntryFtraceEvent", False, False)
ALL["FtraceEvent"]["funcgraph_exit"] = Field(438, "funcgraph_exit", "FuncgraphExitFtraceEvent", False, False)
for message, name, kind in (
        ("TrackEvent", "legacy_event", "TrackEvent.LegacyEvent"), ("TrackEvent", "source_location", "SourceLocation"),
        ("Packet", "android_log", "AndroidLogPacket"), ("Packet", "process_descriptor", "ProcessDescriptor"),
        ("Packet", "thread_descriptor", "ThreadDescriptor"), ("Packet", "profile_packet", "ProfilePacket"),
        ("Packet", "streaming_profile_packet", "StreamingProfilePacket"),
        ("Packet", "trace_packet_defaults", "TracePacketDefaults"),
        ("Packet", "service_event", "TracingServiceEvent"),
        ("Packet", "frame_timeline_event", "FrameTimelineEvent")):
    ALL[message][name] = ALL[message][name]._replace(type=kind)
for name, f in PAYLOADS.items():
    if f.number != ALL["Packet"].setdefault(name, f).number:
        faults.append("Packet.%s: the numbers differ" % name)


# --- the table ---

def read_table():
    """Of each message and field of perfetto_messages: what becomes of it."""
    text = open(os.path.join(ROOT, "cmd/trdecode/perfetto_tables.c")).read()
    text = re.search(r"perfetto_messages\[\] = {(.*?)};", text, re.S)[1]
    table = {}
    for row in re.sub(r'"\s+"', "", text).split(",\n"):
        message, *fields = re.search(r'"(.*)"', row)[1].split(" ")
        if message == "Message":
            break
        number = 0
        for field in fields:
            given, name, kind = re.match(r"(?:(\d+)=)?(\w+)(?::(\S+))?$", field).groups()
            number = int(given) if given else number + 1
            if message == "TracePacket":
                if ALL["Packet"].get(name, (0,))[0] != number:
                    faults.append("TracePacket.%s: the table has %d" % (name, number))
            # all fields of a TrackEvent are read; the table has names for numbers beyond the limits
            elif message != "TrackEvent":
                table[message, name] = (
                    number, "LEFT_OUT" if kind == "-" else kind if kind in KNOWN else "FIELD_READ")
            elif not kind and (number, name) not in {(f.number, f.name) for f in ALL["TrackEvent"].values()}:
                faults.append("TrackEvent.%s: the table has %s" % (name, number))
    return table


TABLE = read_table()
for message, fields in KNOWN.items():
    for f in fields.values():
        number, what = TABLE.pop((message, f.name), (0, "nothing"))
        if number != f.number or (what not in ("FIELD_READ", "LEFT_OUT") and what != f.type):
            faults.append("%s.%s: the table has %d %s" % (message, f.name, number, what))
faults += ["%s.%s: of the table only" % key for key in TABLE]
TABLE = read_table()


# --- encoding ---

def varint(n):
    out = bytearray()
    n &= 2**64 - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def encode_one(f, value):
    if f.type in ALL:
        value = encode(f.type, value)
    elif isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(f.number << 3 | 2) + varint(len(value)) + value
    if f.type in ("double", "fixed64"):
        return varint(f.number << 3 | 1) + struct.pack("<d" if f.type == "double" else "<Q", value)
    if f.type == "float":
        return varint(f.number << 3 | 5) + struct.pack("<f", value)
    return varint(f.number << 3) + varint(value)


def encode(message, fields):
    out = b""
    for name, value in fields.items():
        f, values = ALL[message][name], value if isinstance(value, list) else [value]
        out += encode_one(f._replace(type="bytes"), b"".join(map(varint, values))) if f.packed else \
            b"".join(encode_one(f, v) for v in values)
    return out


def trace(packets):
    return encode("Trace", {"packet": [dict({"trusted_packet_sequence_id": 1}, **p) for p in packets]})


def decode(packets):
    with open("x.pftrace", "wb") as out:
        out.write(trace(packets))
    run = subprocess.run([TRDECODE, "--verbose", "x.pftrace"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return run.stdout, run.stderr.decode()


# --- every field ---

def whole(message, left):
    """A value with each field of a message, which counts those that are left out."""
    value = {}
    for f in KNOWN[message].values():
        if TABLE.get((message, f.name), (0, ""))[1] == "LEFT_OUT":
            left[message + "." + f.name] += 1
        if f.type == message or ALL[message][f.name].type == "FtraceEvent":
            continue
        value[f.name] = whole(f.type, left) if f.type in KNOWN else \
            "text" if f.type == "string" else b"\x08\x01" if f.type == "bytes" else [1] if f.packed else 1
    return value


def check_left_out():
    left = collections.Counter()
    head = {"sequence_flags": 1, "timestamp": 1000}
    packets = [dict(head)]
    for f in ALL["Packet"].values():
        if f.type in KNOWN:
            packets.append({"timestamp": 1000, f.name: whole(f.type, left)})
    packets.append({"timestamp": 1000, "track_event": {
        "type": 3, "track_uuid": 1, "name": "e", "legacy_event": whole("TrackEvent.LegacyEvent", left),
        "debug_annotations": [whole("DebugAnnotation", left)]}})
    events = [dict(whole("FtraceEvent", left), funcgraph_entry=whole("FuncgraphEntryFtraceEvent", left)),
              dict(whole("FtraceEvent", left), funcgraph_exit=whole("FuncgraphExitFtraceEvent", left))]
    packets.append({"ftrace_events": {"cpu": 1, "event": events}})
    said = re.findall(r"(\d+) fields? w[a-z]+ left out, by name or number: (.*)", decode(packets)[1])
    have = {name: int(n) for _, text in said for name, n in re.findall(r"([\w.]+) \((\d+)\)", text)}
    for name in sorted(set(have) | set(left)):
        if have.get(name, 0) != left[name]:
            faults.append("%s: %d left out, the remark has %d" % (name, left[name], have.get(name, 0)))
    if sum(int(n) for n, _ in said) != sum(left.values()):
        faults.append("the remarks have another sum")


def check_payloads():
    """A payload is that of a message whose fields are read, or is named in a remark with the number of its packets."""
    packets = [{"timestamp": 1, name: {} if ALL["Packet"][name].type in ALL else b"\x08\x01"} for name in PAYLOADS]
    said = decode(packets + packets)[1]
    have = [name for text in re.findall(r"packets of kinds that .* left out, by name or number: (.*)", said)
            for name in re.findall(r"(\w+) \(2\)", text)]
    read = {name for name, f in PAYLOADS.items() if f.type in KNOWN}
    read |= {"track_event", "compressed_packets", "zstd_compressed_packets"}
    if sorted(have) != sorted(set(PAYLOADS) - read):
        faults.append("of the packets not read the remarks have " + " ".join(have))


# --- fields that are read ---

def full_tracks():
    """Tracks whose descriptors come one by one, so that each field has an effect of its own."""
    return [
        {"track_descriptor": {"uuid": 10, "process": {"pid": 7, "cmdline": ["prog", "arg"]}}},
        {"track_descriptor": {"uuid": 11, "process": {"pid": 70, "process_name": "app"}}},
        {"track_descriptor": {"uuid": 12, "parent_uuid": 10, "thread": {"pid": 7, "tid": 8, "thread_name": "worker"}}},
        {"track_descriptor": {"uuid": 13, "parent_uuid": 11, "name": "jobs"}},
        {"track_descriptor": {"uuid": 14, "parent_uuid": 11, "static_name": "static"}},
        {"track_descriptor": {"uuid": 15, "parent_uuid": 11, "atrace_name": "atrace"}},
        {"track_descriptor": {"uuid": 16, "process": {"pid": 71}, "disallow_merging_with_system_tracks": 1,
                              "thread": {"pid": 71, "tid": 71}}},
        {"track_descriptor": {"uuid": 20, "name": "load", "counter": {
            "unit": 1, "unit_multiplier": 10, "is_incremental": 1}}},
        {"track_descriptor": {"uuid": 21, "name": "sum", "counter": {"unit_name": "things"}}},
        {"track_descriptor": {"uuid": 22, "counter": {"type": 1}}},
        {"track_descriptor": {"uuid": 23, "name": "real", "counter": {}}},
        {"track_descriptor": {"uuid": 24, "name": "power", "state": b""}},
        {"timestamp": 1000, "track_event": {"type": 5, "track_uuid": 24, "name": "on"}},
    ]


INTERNED = {
    "event_categories": [{"iid": 1, "str": "cat"}], "event_names": [{"iid": 1, "str": "ev"}],
    "debug_annotation_names": [{"iid": 1, "str": "arg"}], "function_names": [{"iid": 1, "str": "fn"}],
    "source_locations": [{"iid": 1, "file_name": "a.c", "function_name": "f", "line_number": 3}],
    "build_ids": [{"iid": 1, "str": b"\x12\x34"}], "mapping_paths": [{"iid": 1, "str": "lib.so"}],
    "source_paths": [{"iid": 1, "str": "b.c"}], "log_message_body": [{"iid": 1, "str": "body"}],
    "kernel_symbols": [{"iid": 1, "str": "sym"}], "correlation_id_str": [{"iid": 1, "str": "corr"}],
    "debug_annotation_string_values": [{"iid": 1, "str": "value"}],
    "mappings": [{"iid": 1, "build_id": 1, "load_bias": 4096, "path_string_ids": [1]}],
    "frames": [{"iid": 1, "function_name_id": 1, "mapping_id": 1, "rel_pc": 16, "source_path_iid": 1, "line_number": 9},
               {"iid": 2, "mapping_id": 1, "rel_pc": 32}],
    "callstacks": [{"iid": 1, "frame_ids": [1, 2]}],
}
DEFAULTS = {
    "track_event_defaults": {"track_uuid": 12, "extra_counter_track_uuids": [21], "extra_double_counter_track_uuids": [23]},
    "perf_sample_defaults": {"timebase": {"counter": 3, "name": "clock"}, "followers": [
        {"counter": 11}, {"tracepoint": {"name": "tp"}}, {"name": "own"}]},
}
ANNOTATIONS = [{"name_iid": 1, "string_value_iid": 1}, {"name": "b", "bool_value": 1}, {"name": "u", "uint_value": 2},
               {"name": "i", "int_value": -1}, {"name": "d", "double_value": 0.5}, {"name": "s", "string_value": "x"},
               {"name": "p", "pointer_value": 255}, {"name": "n", "nested_value": b"\x28\x05"},
               {"name": "j", "legacy_json_value": "[1]"}, {"name": "dict", "dict_entries": [{"name": "k", "int_value": 1}]},
               {"name": "list", "array_values": [{"int_value": 1}]}, {"name": "proto", "proto_value": b"\x08\x01"}]


def legacy(time, phase, **fields):
    event = {"type": 0, "track_uuid": 12, "name": "legacy", "legacy_event": dict({"phase": ord(phase)}, **fields)}
    return {"timestamp": time, "track_event": event}


def events():
    return [
        {"timestamp": 3000, "sequence_flags": 2, "interned_data": INTERNED, "trace_packet_defaults": DEFAULTS},
        {"timestamp": 3010, "track_event": {"type": 1, "category_iids": [1], "name_iid": 1, "callstack_iid": 1,
                                            "debug_annotations": ANNOTATIONS, "source_location_iid": 1,
                                            "log_message": {"source_location_iid": 1, "body_iid": 1},
                                            "extra_counter_values": [4], "extra_double_counter_values": [0.25],
                                            "correlation_id_str_iid": 1}},
        {"timestamp": 3020, "track_event": {"type": 2}},
        {"timestamp": 3030, "track_event": {"type": 1, "track_uuid": 13, "name": "job"}},
        {"timestamp": 3040, "track_event": {"type": 1, "track_uuid": 14, "name": "job"}},
        {"timestamp": 3050, "track_event": {"type": 1, "track_uuid": 15, "name": "job"}},
        {"timestamp": 3055, "track_event": {"type": 1, "track_uuid": 16, "name": "apart"}},
        {"timestamp": 3056, "track_event": {"type": 2, "track_uuid": 16}},
        {"timestamp": 3060, "track_event": {"type": 4, "track_uuid": 20, "counter_value": 5}},
        {"timestamp": 3070, "track_event": {"type": 4, "track_uuid": 20, "counter_value": 5}},
        {"timestamp": 3080, "track_event": {"type": 4, "track_uuid": 22, "counter_value": 5}},
        legacy(3100, "B", name_iid=1, pid_override=7, tid_override=99), legacy(3110, "E", pid_override=7, tid_override=99),
        legacy(3120, "X", duration_us=2), legacy(3130, "b", unscoped_id=5, id_scope="s"),
        legacy(3140, "e", unscoped_id=5, id_scope="s"), legacy(3150, "b", local_id=6), legacy(3160, "e", local_id=6),
        legacy(3170, "b", global_id=7), legacy(3180, "e", global_id=7),
        legacy(3190, "I", bind_id=3, flow_direction=2), legacy(3200, "I", instant_event_scope=1),
        {"timestamp": 3210, "track_event": {"type": 3, "name": "", "legacy_event": {"name_iid": 1}}},
        {"timestamp": 3300, "perf_sample": {"cpu": 1, "pid": 7, "tid": 8, "callstack_iid": 1, "timebase_count": 40,
                                            "follower_counts": [1, 2, 3]}},
        {"timestamp": 3310, "perf_sample": {"cpu": 1, "kernel_records_lost": 3}},
        {"timestamp": 3320, "perf_sample": {"cpu": 1, "sample_skipped_reason": 1}},
        {"timestamp": 3330, "streaming_profile_packet": {"callstack_iid": [1, 1], "timestamp_delta_us": [1, 2]}},
        {"module_symbols": {"path": "/lib.so", "address_symbols": [{"address": 32, "lines": [{"function_name": "other"}]}]}},
        {"module_symbols": {"path": "/lib.so", "build_id": b"\x12\x34", "address_symbols": [
            {"address": 32, "lines": [{"function_name": "named", "source_file_name": "c.c", "line_number": 2}]}]}},
        {"timestamp": 3400, "trace_packet_defaults": {"timestamp_clock_id": 64, "perf_sample_defaults": {
            "timebase": {"period": 77, "tracepoint": {"name": "base"}}}}},
        {"timestamp": 5, "perf_sample": {"cpu": 1}},
        {"timestamp": 5, "perf_sample": {"cpu": 1}},
    ]


def profile():
    return [{"sequence_flags": 1, "trusted_packet_sequence_id": 3, "timestamp": 4000, "profile_packet": {
        "strings": [{"iid": 1, "str": "heapfn"}], "frames": [{"iid": 1, "function_name_id": 1, "mapping_id": 1}],
        "mappings": [{"iid": 1, "path_string_ids": [1]}], "callstacks": [{"iid": 1, "frame_ids": [1]}],
        "process_dumps": [
            {"pid": 7, "timestamp": 9000, "heap_name": "heap", "rejected_concurrent": 1, "samples": [
                {"callstack_id": 1, "self_allocated": 64, "self_freed": 8, "alloc_count": 2, "free_count": 1}]},
            {"pid": 8, "buffer_overran": 1, "samples": [{"self_max": 12, "self_max_count": 3}]}]}}]


def statistics():
    pair = [{"key": 1, "value": 5}]
    trigger = {"trigger_name": "t", "producer_name": "p", "trusted_producer_uid": 5, "stop_delay_ms": 9}
    of_process = {f.name: 4 for f in KNOWN["ProcessStats.Process"].values()
                  if TABLE["ProcessStats.Process", f.name][1] == "FIELD_READ"}
    cpu = {f.name: 6 for f in KNOWN["SysStats.CpuTimes"].values()}
    disk = {f.name: "sda" if f.type == "string" else 7 for f in KNOWN["SysStats.DiskStat"].values()}
    return [
        {"timestamp": 5000, "sys_stats": {
            "meminfo": pair, "vmstat": pair, "cpu_stat": [cpu], "num_forks": 1, "num_irq_total": 2,
            "num_irq": [{"irq": 3, "count": 4}], "num_softirq_total": 3, "num_softirq": [{"irq": 3, "count": 4}],
            "devfreq": [{"key": "bus", "value": 5}], "cpufreq_khz": [8], "disk_stat": [disk], "gpufreq_mhz": [9],
            "buddy_info": [{"node": "0", "zone": "DMA", "order_pages": [1]}], "psi": [{"resource": 1, "total_ns": 2}],
            "thermal_zone": [{"name": "z", "temp": 5}, {"temp": 6, "type": "t"}],
            "cpuidle_state": [{"cpu_id": 2, "cpuidle_state_entry": [{"state": "C1", "duration_us": 2}]}],
            "slab_info": [{"name": "dentry", "pages_per_slab": 2, "num_slabs": 3}]}},
        {"timestamp": 5010, "process_stats": {"processes": [of_process]}},
        {"timestamp": 5020, "trace_stats": {"buffer_stats": [{"chunks_overwritten": 3}]}},
        {"timestamp": 5021, "trigger": dict(trigger, trusted_producer_uid=-1)}, {"clone_snapshot_trigger": trigger},
        *({"timestamp": 5022, "service_event": {f.name: 1}} for f in KNOWN["TracingServiceEvent"].values()
          if TABLE["TracingServiceEvent", f.name][1] == "FIELD_READ"),
        {"timestamp": 5030, "trace_stats": {"buffer_stats": [{"chunks_overwritten": 3, "trace_writer_packet_loss": 2}]}},
        {"timestamp": 5040, "android_log": {"events": [{
            "log_id": 1, "pid": 7, "tid": 8, "uid": 2, "timestamp": 90000, "tag": "tag", "prio": 4, "message": "said"}]}},
        {"packages_list": {"packages": [{"name": "org.x", "uid": 5, "version_code": 3}]}},
        {"process_tree": {"processes": [{"pid": 500, "cmdline": ["tree"]}],
                          "threads": [{"tid": 501, "name": "leaf", "tgid": 500}]}},
        {"timestamp": 5050, "android_log": {"events": [{"tid": 501, "message": "m"}, {"pid": 500, "message": "m"}]}},
    ]


def frames():
    out, cookie = [], 1
    for field in ("expected_display_frame_start", "actual_display_frame_start", "expected_surface_frame_start",
                  "actual_surface_frame_start"):
        message = ALL["FrameTimelineEvent"][field].type
        begin = {f.name: "layer" if f.type == "string" else 1 for f in KNOWN[message].values()
                 if TABLE[message, f.name][1] == "FIELD_READ"}
        begin["cookie"] = cookie
        out += [{"timestamp": 6000 + 10 * cookie, "frame_timeline_event": {field: begin}},
                {"timestamp": 6005 + 10 * cookie, "frame_timeline_event": {"frame_end": {"cookie": cookie}}}]
        cookie += 1
    return out


def bundles():
    described = b"\x0a\x03new\x12\x07\x0a\x01a\x18\x01\x28\x05"
    return [
        {"ftrace_events": {"cpu": 2, "lost_events": 1, "event": [{"timestamp": 7000, "pid": 8, "softirq_entry": {"vec": 1}}],
                           "compact_sched": {
                               "switch_timestamp": [7010], "switch_prev_state": [1], "switch_next_pid": [8],
                               "switch_next_prio": [120], "intern_table": ["a", "worker"], "switch_next_comm_index": [1],
                               "waking_timestamp": [7020], "waking_pid": [8], "waking_target_cpu": [1],
                               "waking_prio": [120], "waking_comm_index": [1]}}},
        {"ftrace_events": {"cpu": 2, "ftrace_clock": 1, "ftrace_timestamp": 100, "boot_timestamp": 7100,
                           "event": [{"timestamp": 120, "pid": 8, "described": {"state": 1}}],
                           "generic_event_descriptors": [
                               {"field_id": 65540, "event_descriptor": described, "group_name": "mine"}]}},
        {"sequence_flags": 2, "ftrace_events": {"cpu": 2, "event": [
            {"timestamp": 7200, "pid": 8, "funcgraph_entry": {"depth": 3, "func": 1}},
            {"timestamp": 7300, "pid": 8, "funcgraph_exit": {"depth": 3, "func": 1}}]}},
    ]


def descriptors():
    return [
        {"trusted_packet_sequence_id": 5, "sequence_flags": 1, "process_descriptor": {"pid": 60, "cmdline": ["described"]}},
        {"trusted_packet_sequence_id": 5, "process_descriptor": {"pid": 61, "process_name": "named"}},
        {"trusted_packet_sequence_id": 5, "thread_descriptor": {
            "pid": 60, "tid": 62, "thread_name": "thread", "reference_timestamp_us": 8, "reference_thread_time_us": 3}},
        {"trusted_packet_sequence_id": 5, "track_event": {"type": 3, "name": "d", "timestamp_delta_us": 1,
                                                          "thread_time_delta_us": 1}},
        {"trusted_packet_sequence_id": 5, "track_event": {"type": 3, "name": "d", "timestamp_delta_us": 2,
                                                          "track_uuid": 9, "legacy_event": {"phase": 73, "pid_override": 61}}},
    ]


def base():
    clocks = [{"clock_id": 3, "timestamp": 1000}, {"clock_id": 6, "timestamp": 2000}, {"clock_id": 1, "timestamp": 5000},
              {"clock_id": 5, "timestamp": 100},
              {"clock_id": 64, "timestamp": 3, "is_incremental": 1, "unit_multiplier_ns": 10}]
    head = [{"trace_config": {"unique_session_name": "trutils-part id=x part=1 from=1 until=-"}},
            {"sequence_flags": 1, "clock_snapshot": {"clocks": clocks, "primary_trace_clock": 3}}]
    return head + full_tracks() + statistics() + frames() + events() + bundles() + profile() + descriptors()


def occurrences(value, kind, path, found):
    """Collect the paths of the fields of a message in the table."""
    for name, inner in value.items():
        f = ALL[kind][name]
        if kind in KNOWN and (kind, name) in TABLE:
            found[kind, name].append(path + [name])
        if f.type in ALL:
            for i, item in enumerate(inner if isinstance(inner, list) else [inner]):
                occurrences(item, f.type, path + ([name, i] if isinstance(inner, list) else [name]), found)


def without(packets, path):
    """The packets, of which the field with a path is left out."""
    if len(path) == 1:
        return {k: v for k, v in packets.items() if k != path[0]}
    if isinstance(packets, list):
        return [without(v, path[1:]) if i == path[0] else v for i, v in enumerate(packets)]
    return {k: without(v, path[1:]) if k == path[0] else v for k, v in packets.items()}


def check_read():
    packets, found = base(), collections.defaultdict(list)
    for i, packet in enumerate(packets):
        occurrences(packet, "Packet", [i], found)
    stream, said = decode(packets)
    if "left out" in said:
        faults.append("of the trace with fields that are read: " + said)
    for (message, name), (_, what) in TABLE.items():
        if what == "LEFT_OUT" or any(
                decode(without(packets, path))[0] != stream for path in found[message, name]):
            continue
        faults.append("%s.%s: %s" % (message, name, "read without effect" if found[message, name] else "not in the trace"))


# --- the probe ---

def wire_of(f):
    if f.type in ("double", "fixed64"):
        return "r"
    if f.type in PRIMITIVES - {"string", "bytes"}:
        return "l" if f.many else "n"
    return "m"


def check_wires():
    """The wires of a payload in perfetto.c are those of the fields of its message."""
    text = open(os.path.join(ROOT, "cmd/trdecode/perfetto.c")).read()
    numbers = open(os.path.join(ROOT, "common/formats/perfetto.h")).read()
    names = {f.number: name for name, f in ALL["Packet"].items()}
    for packet, wires in re.findall(r'{(PACKET_\w+),\s*"([a-z-]+)"}', text):
        name = names[int(re.search(packet + r" = (\d+),", numbers)[1])]
        message = ALL["Packet"][name].type
        fields = KNOWN.get(message) or ALL[message]
        want = {f.number: wire_of(f) for f in fields.values() if f.number < 1000}
        have = {number: wire for number, wire in enumerate(wires, 1) if wire != "-"}
        # the .proto does not have all fields of events
        if message in KNOWN and have != want or not want.items() <= have.items():
            faults.append("the wires of %s are %s, not %s" % (message, have, want))


# --- names of counters ---

def check_vmstat():
    """A counter of vmstat has its name in VmstatCounters, in lower case; any other number is its name."""
    text = open(os.path.join(ROOT, "t/proto/perfetto_fields.proto")).read()
    want = {int(number): name.lower() for name, number in re.findall(r"VMSTAT_(\w+) = (\d+);", text)}
    for number in (0, max(want) + 1, 2**31 - 1, -1):
        want[number] = "%d" % number
    stream = decode([{"timestamp": 1, "sys_stats": {"vmstat": [{"key": number, "value": 5}]}} for number in want])[0]
    rows = subprocess.run([os.path.join(os.path.dirname(TRDECODE), "trencode"), "-t", "ndjson"], input=stream,
                          stdout=subprocess.PIPE, check=True).stdout.splitlines()
    have = [json.loads(row)["name"] for row in rows]
    for number, name, got in zip(want, want.values(), have + [""] * len(want)):
        if got != "vmstat " + name:
            faults.append("counter %d of vmstat: named '%s', not '%s'" % (number, got, name))


check_left_out()
check_payloads()
check_read()
check_wires()
check_vmstat()
print("\n".join(faults))
sys.exit(bool(faults))
