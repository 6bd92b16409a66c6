"""What the descriptions of streams share: a stream of calls, and the events that are expected."""
import streams_writer as w

MAIN, F, G = 1, 2, 3  # locations of a Case
BASE = 1000
STREAMS = []  # (name, about, function)


def stream(folder, name=None):
    """Register a function that returns data, the events and the status; its docstring describes the stream."""
    def add(make):
        STREAMS.append((f"{folder}/{name or make.__name__.replace('_', '-')}", make.__doc__, make))
        return make
    return add


class Case:
    """One segment with a thread 42, the types "in", "out" and "tick", and the functions main, f and g.

    E, L and I add rows; own types, lanes and locations have the index that type, lane and location return.
    """

    def __init__(self, flags=w.DEPTH, *, crc=True, lane=None, definition=0, head=None, words=None):
        self.words = words or w.Dictionary()
        self.crc = crc
        self.types, self.lanes, self.locations, self.stacks, self.rows, self.blocks = [], [], [], [], [], []
        self.events = self.gaps = self.lost = 0
        self.head = head or w.head(crc=crc)
        self.wide = False
        self.type("in", w.ENTER, flags)
        self.type("out", w.LEAVE, flags)
        self.type("tick", w.INSTANT)
        self.lane(**({"tid": 42} if lane is None else lane))
        for name in ("main", "f", "g"):
            self.location(name, definition=definition)

    def type(self, *args, **named):
        self.types.append(self.words.type(*args, **named))
        return len(self.types) - 1

    def lane(self, **named):
        self.lanes.append(self.words.lane(**named))
        return len(self.lanes) - 1

    def location(self, *args, **named):
        self.locations.append(self.words.location(*args, **named))
        return len(self.locations)

    def stack(self, *locations):
        """The index of the stack of these locations, outermost first."""
        ident = 0
        for location in locations:
            ident = self.words.stack(ident, self.locations[location - 1])
        self.stacks.append(ident)
        return len(self.stacks)

    def row(self, time, kind, **named):
        self.rows.append((w.wide if self.wide else w.narrow)(time - BASE, kind, **named))
        self.events += 1
        return self

    def E(self, time, where=MAIN, depth=0, kind=0, **named):
        return self.row(time, kind, location=where, depth=depth, **named)

    def L(self, time, where=MAIN, depth=0, kind=1, **named):
        return self.row(time, kind, location=where, depth=depth, **named)

    def I(self, time, kind=2, **named):
        return self.row(time, kind, **named)

    def dictionary(self, **how):
        """End the DICT block here."""
        self.blocks.append(self.words.block(**{"crc": self.crc, **how}))
        return self

    def add(self, *blocks):
        """Blocks after the rows so far."""
        self.flush()
        self.blocks += blocks
        return self

    def flush(self, **how):
        """End the DICT and EVENTS blocks here."""
        if self.words.data:
            self.dictionary()
        if self.rows:
            how = {"crc": self.crc, "flags": w.WIDE if self.wide else 0, **how}
            self.blocks.append(w.events(BASE, self.rows, self.types, self.lanes, self.locations,
                                        stacks=self.stacks, **how))
            self.rows = []
        return self

    def data(self, *, end=True, marker=None, **how):
        """The stream; without END if end is false."""
        self.flush()
        how = {"crc": self.crc, "gaps": self.gaps, "lost": self.lost, **how}
        last = [w.end(how.pop("events", self.events), **how)] if end else []
        return (w.marker() if marker is None else marker) + b"".join([self.head, *self.blocks, *last])


def event(**columns):
    return {name: value for name, value in columns.items() if value is not None}


def call(ts, dur, name="main", **more):
    """A call that returned."""
    return event(**{"time": ts, "dur": dur, "name": name, "type": "out", "tid": 42, "depth": 0, "kind": "call",
                    "self": dur, "recursive": False, "unfinished": False, **more})


def unfinished(ts, dur, name="main", **more):
    """A call that is open at the end of the stream."""
    return call(ts, dur, name, **{"type": "in", "unfinished": True, **more})


def sample(ts, stack, weight=1, **more):
    """A sample of a type "cycles"."""
    return event(**{"time": ts, "name": stack[-1] if stack else "cycles", "type": "cycles", "tid": 42,
                    "kind": "sample", "stack": stack or None, "weight": weight, **more})


def dropped(ts, dur, name="main", **more):
    """A call whose LEAVE is missing."""
    return unfinished(ts, dur, name, **{"self": None, "recursive": None, **more})


def tick(ts, name="tick", **more):
    """An event that is no call."""
    return event(**{"time": ts, "name": name, "type": name, "tid": 42, "kind": "instant", **more})
