#!/usr/bin/env python3
"""Print the samples of a trace of Perfetto: usage: protoc --decode=m.Trace ... | perfetto_samples.py [stacks]

A line is time,pid,tid,cpu,event,weight,stack as JSON. A sample weighs what the counter of its sequence and CPU has
counted since the sample before it, or else the period of its sequence. With "stacks", the lines are the track events
with callstacks instead: [time, stack]. Names are those interned by the packets of the same sequence.
"""
import json
import re
import sys

LINE = re.compile(r'(\w+)(?:: (.*)| \{)$')


def text_of(value):
    """A string as protoc prints it: escapes of C for each byte."""
    raw = re.sub(rb'\\([0-7]{3}|.)', lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                 {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(m[1], m[1]), value[1:-1].encode())
    return raw.decode("utf-8", "replace")


def read(lines):
    """A message as a dictionary of lists, up to its end."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        name, value = LINE.match(line).groups()
        if value is None:
            item = read(lines)
        else:
            item = text_of(value) if value.startswith('"') else value
        message.setdefault(name, []).append(item)
    return message


def one(message, name, default=None):
    return message.get(name, [default])[0]


class Sequence:
    """What the packets of a sequence have interned."""

    def __init__(self):
        self.tables, self.defaults, self.counts = {}, {}, {}

    def learn(self, interned):
        for kind, entries in interned.items():
            for entry in entries:
                number = one(entry, "iid")
                if self.tables.setdefault(kind, {}).setdefault(number, entry) is not entry:
                    sys.exit(f"{kind} {number} is interned twice")

    def stack(self, number):
        """The names of the functions of a callstack, outermost first."""
        frames = self.tables["callstacks"][number].get("frame_ids", []) if number else []
        names = []
        for frame in (self.tables["frames"][iid] for iid in frames):
            names.append(one(self.tables["function_names"][one(frame, "function_name_id")], "name"))
            if "mapping_id" in frame:
                mapping = self.tables["mappings"][one(frame, "mapping_id")]
                for path in mapping.get("path_string_ids", []):
                    assert path in self.tables["mapping_paths"]
                # the address is in the file
                if not 0 <= int(one(frame, "rel_pc")) - int(one(mapping, "exact_offset")) < \
                        int(one(mapping, "end")) - int(one(mapping, "start")):
                    sys.exit(f"address {one(frame, 'rel_pc')} is not in its mapping")
        return names


def main():
    sequences, stacks = {}, "stacks" in sys.argv
    for packet in read(iter(sys.stdin))["packet"]:
        if "ftrace_events" in packet:
            continue
        number = one(packet, "trusted_packet_sequence_id")
        if one(packet, "sequence_flags") == "1":
            sequences[number] = Sequence()
        sequence = sequences[number]
        sequence.learn(one(packet, "interned_data", {}))
        if "trace_packet_defaults" in packet:
            sequence.defaults = one(one(one(packet, "trace_packet_defaults"), "perf_sample_defaults"), "timebase")
        time = int(one(packet, "timestamp", 0))
        event, sample = one(packet, "track_event"), one(packet, "perf_sample")
        if stacks and event and "callstack_iid" in event:
            print(json.dumps([time, sequence.stack(one(event, "callstack_iid"))]))
        if sample and not stacks:
            cpu = one(sample, "cpu")
            count = int(one(sample, "timebase_count"))
            weight = count - sequence.counts.get(cpu, 0)
            sequence.counts[cpu] = count
            if "period" in sequence.defaults and int(one(sequence.defaults, "period")) != weight:
                sys.exit(f"weight {weight} is not the period {one(sequence.defaults, 'period')}")
            print(json.dumps([time, int(one(sample, "pid")), int(one(sample, "tid")), cpu and int(cpu),
                              one(sequence.defaults, "name"), weight, sequence.stack(one(sample, "callstack_iid"))]))


main()
