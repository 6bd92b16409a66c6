#!/usr/bin/env python3
"""Gives records of a trace.dat, version 6, another event: replace_event.py IN OUT SYSTEM/EVENT NEW < FORMAT

NEW is SYSTEM/EVENT; the system is renamed for all of its events. FORMAT is the text of the new event's
fields and its print fmt; the common fields stay. The file keeps its size, so the new texts may not be
longer than the old ones.
"""
import struct
import sys


def main():
    source, target, old, new = sys.argv[1:]
    data = open(source, "rb").read()
    old_system, old_event = old.encode().split(b"/")
    system, event = new.encode().split(b"/")
    at = data.index(b"header_page\0") + 12
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    at = data.index(b"header_event\0", at) + 13
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    count = struct.unpack_from("<I", data, at)[0]
    at += 4
    for _ in range(count):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    systems = struct.unpack_from("<I", data, at)[0]
    at += 4
    for _ in range(systems):
        begin = at
        end = data.index(b"\0", at)
        name = data[at:end]
        at = end + 1
        events = struct.unpack_from("<I", data, at)[0]
        at += 4
        texts = []
        for _ in range(events):
            size = struct.unpack_from("<Q", data, at)[0]
            texts.append(data[at + 8:at + 8 + size])
            at += 8 + size
        if name != old_system:
            continue
        spare = len(name) - len(system)
        for i, text in enumerate(texts):
            if text.startswith(b"name: " + old_event + b"\n"):
                common = text[text.index(b"\n") + 1:text.index(b"\n\n", text.index(b"common_pid")) + 2]
                content = b"name: " + event + b"\n" + common + sys.stdin.buffer.read().strip()
                room = len(text) + spare - len(content) - 1
                if room < 0:
                    raise ValueError(f"{-room} bytes too long")
                texts[i] = content + b" " * room + b"\n"
                spare = 0
        part = system + b"\0" + struct.pack("<I", events)
        part += b"".join(struct.pack("<Q", len(text)) + text for text in texts)
        if len(part) != at - begin:
            raise ValueError(f"no event {old}")
        open(target, "wb").write(data[:begin] + part + data[at:])
        return
    raise ValueError(f"no system {old_system}")


main()
