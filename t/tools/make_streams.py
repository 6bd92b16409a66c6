#!/usr/bin/env python3
"""Write the corpus of trace streams: usage: make_streams.py DIR

DIR/good and DIR/bad get a file for each stream, DIR/expect.ndjson a line for each: its name, what it shows, the
exit status and the events of a right reader. streams_good.py and streams_bad.py describe the streams; like
streams_writer.py they follow trstream(5) and share nothing with the programs.
"""
import json
import os
import sys

import streams_bad
import streams_calls
import streams_good
import streams_samples
import streams_snapshot
import streams_values
from streams_case import STREAMS

DESCRIPTIONS = (streams_good, streams_values, streams_calls, streams_snapshot,
                streams_samples, streams_bad)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for folder in ("good", "bad"):
        os.makedirs(os.path.join(sys.argv[1], folder), exist_ok=True)
    with open(os.path.join(sys.argv[1], "expect.ndjson"), "w", encoding="utf-8") as manifest:
        for name, about, make in STREAMS:
            data, events, *status = make()
            with open(os.path.join(sys.argv[1], name + ".trs"), "wb") as file:
                file.write(data)
            line = {"stream": name + ".trs", "about": about,
                    "status": status[0] if status else int(name.startswith("bad/")), "events": events}
            manifest.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
