#!/usr/bin/env python3
"""Reads the seek table of the Zstandard seekable format, by its specification alone.

    seek_table.py check FILE...       each frame alone, the sizes, the checksums; prints the number of frames
    seek_table.py flips N SEED FILE SCRATCH   flips a bit N times and compares what trencode delivers

Files of several tables, one after another, are as cat makes them.
"""
import random
import struct
import subprocess
import sys

FRAME, TABLE, FOOT = 0xFD2FB528, 0x184D2A5E, 0x8F92EAB1


def tables(data):
    """Yields (frames, begin, end) of each table from the end: a frame is (begin, packed size, size, check)."""
    end = len(data)
    while end:
        count, flags, foot = struct.unpack("<IBI", data[end - 9:end])
        assert foot == FOOT and not flags & 0x7C, "no seek table before %d" % end
        entry = 12 if flags & 0x80 else 8
        begin = end - 9 - count * entry - 8
        magic, length = struct.unpack("<II", data[begin:begin + 8])
        assert magic == TABLE and length == end - begin - 8, "the seek table is no skippable frame"
        entries = [struct.unpack("<%dI" % (entry // 4), data[at:at + entry])
                   for at in range(begin + 8, end - 9, entry)]
        at = begin - sum(e[0] for e in entries)
        assert at >= 0, "frames exceed the file"
        frames, first = [], at
        for e in entries:
            frames.append((at,) + e)
            at += e[0]
        yield frames, begin, end
        end = first


def unpack(data):
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout


def check(path):
    data = open(path, "rb").read()
    count, plain = 0, []
    for frames, _, _ in tables(data):
        parts = []
        for at, packed, size, sum_ in frames:
            frame = data[at:at + packed]
            magic = struct.unpack("<I", frame[:4])[0]
            if magic & 0xFFFFFFF0 == 0x184D2A50:
                assert size == 0 and sum_ == 0x51D8E999, "a skippable frame has data"
                assert struct.unpack("<I", frame[4:8])[0] == packed - 8, "a skippable frame has another size"
            else:
                assert magic == FRAME, "no frame at %d" % at
                assert struct.unpack("<I", frame[-4:])[0] == sum_, "another checksum at %d" % at
                parts.append(unpack(frame))
                assert len(parts[-1]) == size, "another size at %d" % at
            count += 1
        plain.insert(0, b"".join(parts))
    assert b"".join(plain) == unpack(data), "zstd unpacks other data"
    print(count)


def deliver(args, data):
    run = subprocess.run(args, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return run.returncode, run.stdout.split(b"\n"), run.stderr


def flips(n, seed, path, scratch):
    rng = random.Random(seed)
    data = open(path, "rb").read()
    frames = [f for t in tables(data) for f in t[0]]
    command = ["trencode", "-t", "csv", "-c", "time,kind,name,cpu,tid"]
    status, whole, _ = deliver(command, data)
    assert status == 0
    plain = unpack(data)
    # a frame is a segment: the rows of all others are delivered
    for i in range(n):
        at = rng.randrange(len(data))
        bit = 1 << rng.randrange(8)
        bad = bytearray(data)
        bad[at] ^= bit
        open(scratch, "wb").write(bad)
        hit = [f for f in frames if f[0] <= at < f[0] + f[1] and f[2]]
        # the rows that are not in the frame of the flip
        expected = None
        if hit:
            rest = data[:hit[0][0]] + data[hit[0][0] + hit[0][1]:]
            expected = deliver(command, rest)[1]
        for how, args in ("file", command + [scratch]), ("pipe", command):
            status, lines, error = deliver(args, bytes(bad) if how == "pipe" else b"")
            where = "%s: bit %d of byte %d, %s" % (how, bit, at, error.decode(errors="replace"))
            if at < 4 and status == 2:
                continue  # not a compressed file any more
            # some bits of a compressed frame have no meaning
            if status == 0 and hit and unpack(bytes(bad)) == plain:
                assert lines == whole, "rows are missing: " + where
                continue
            assert status == 1 and error, "not found: " + where
            have = set(lines)
            assert have <= set(whole), "another row: " + where
            missing = [l for l in (expected if hit else whole) if l not in have]
            assert not missing, "%d rows of other frames are missing, as %s: %s" % (len(missing), missing[0], where)
        # a seek finds what concerns it; what it delivers is right
        range_ = ["--since=+%d.5ms" % rng.randrange(50), "--until=+%dms" % rng.randrange(60, 200)]
        good = deliver(command + range_ + [path], b"")
        status, lines, error = deliver(command + range_ + [scratch], b"")
        assert status in (0, 1) or at < 4, "seek: " + where
        assert (status == 1 and error) or lines == good[1] or status == 2, "a seek is wrong without a message: " + where
    print("%d flips: found, and all else delivered" % n)


if sys.argv[1] == "check":
    for name in sys.argv[2:]:
        check(name)
else:
    flips(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
