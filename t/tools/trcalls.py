"""Pairs the rows of a stream by the section CALLS of trstream(5), and makes the events of trencode-formats(7), NDJSON."""
import struct
from types import SimpleNamespace

import trvalues
from trvalues import text

INSTANT, ENTER, LEAVE, COUNTER, GAP, DROP, SAMPLE = range(7)
TAIL, VALUES, DEPTH, INNER, PER_CPU, _, CALL_NUMBER, KERNEL = (1 << i for i in range(8))
HAS_CPU, HAS_TID, HAS_PID, PROCESS_TID, STARTED, CPU_STARTED = (1 << i for i in range(6))  # flags of a LANE
THREAD_PER_CPU, HAS_LAST, HAS_OPEN, LEFT_OUT, UNSEEN, OUTSIDE = (1 << i for i in range(6))
CPU, CALL, ROW, STACK, PERIOD = 7, 9, 10, 12, 13  # roles of fields
IN_KERNEL, IGNORED, LEFT_OUT_CALL = 1, 2, 4  # flags of a frame of a SNAPSHOT
UNKNOWN = (1 << 64) - 1
MOST_NUMBERED = 1 << 20
EXECS = ("execl", "execlp", "execle", "execv", "execve", "execvp", "execvpe", "fexecve")


class Row:
    """A row of an EVENTS block."""

    def __init__(self, time, kind, lane, location, depth, fixed, tail, dictionary):
        self.time = time
        self.type = kind
        self.lane = lane
        self.stack = location if kind.kind == SAMPLE else None
        self.location = self.stack.location if self.stack else None if kind.kind == SAMPLE else location
        self.depth = depth
        self.fixed = fixed
        self.tail = tail
        self.definitions = dictionary.tables["definition"] if dictionary else {}
        self.stacks = dictionary.tables["stack"] if dictionary else {}

    def has(self, flag):
        return bool(self.type.flags & flag)

    def fields(self):
        """Pairs of a field and its value."""
        if not hasattr(self.type, "reader"):
            self.type.reader = trvalues.Fields(self.type)
        return self.type.reader.of_row(self.fixed, self.tail)

    def role(self, role):
        """The value of the field with this role, or None."""
        found = None
        for field, value in self.fields():
            if field.role == role:
                found = value
        return found


def source_key(lane):
    return lane.source.key if lane.source else None


def cpu_key(lane):
    """The stack of rows with PER_CPU, and of rows without a thread."""
    return ("cpu", source_key(lane), lane.cpu if lane.flags & HAS_CPU else None)


def thread_key(lane):
    """The stack of the thread of a lane."""
    if not lane.flags & (HAS_TID | PROCESS_TID):
        return cpu_key(lane)
    if not lane.flags & HAS_TID:
        return ("pid", lane.pid, cpu_key(lane))
    return ("tid", source_key(lane), lane.tid, lane.pid if lane.flags & PROCESS_TID else None,
            (lane.cpu if lane.flags & HAS_CPU else None) if lane.tid == 0 else None)


def location_name(location):
    """The name of a LOCATION, or its address."""
    symbol = location.symbol
    if symbol and symbol.name:
        return text(symbol.name)
    return text(location.name) if location.name else f"<{location.address:x}>"


def is_exec(location):
    """Whether calls of the location are execs: its name at its first ENTER decides."""
    if not location:
        return False
    if location.executes is None:
        location.executes = location_name(location) in EXECS
    return location.executes


def content(location):
    """What makes locations of several segments the same."""
    return location and (location.space, location.epoch, location.address, location.name)


class NoType:
    """The type of a call that no row entered."""
    name = group = b""
    kind, flags, fields = ENTER, 0, ()


def unseen_row(record):
    """What a record of a SNAPSHOT has of a call without an ENTER: its time and its lane."""
    return Row(record["since"], NoType, record["lane"], None, 0, b"", b"", None)


class Frame:
    """An open call."""

    def __init__(self, depth, row, time, *, seen=True, callees=0, flags=0):
        self.depth = depth
        self.row = row  # its ENTER, or the row that showed a call without one
        self.seen = seen  # it has an ENTER
        self.location = row.location if seen else None
        self.time = time
        self.callees = callees  # the sum of their totals
        self.flags = flags  # of a SNAPSHOT
        self.inner = seen and row.has(INNER)
        self.exec = False
        self.ignored = False


class Stack:
    """The open calls of a thread or CPU: its first stack and the one in the kernel."""

    def __init__(self, key):
        self.key = key
        self.calls = []
        self.kernel = []
        self.begun = False  # a row has shown which calls were open, or that none were
        self.started = False  # such a row is in an earlier segment, by the lane
        self.charged = 0  # until this time the calls of the first stack are charged with those of the kernel
        self.outside_kernel = 0  # rows of the first stack since the last row with KERNEL
        self.forget()

    def forget(self):
        """Forget what filters recorded."""
        self.left_out = False
        self.outside = []  # ranges of times in which no call was open
        self.since = self.unseen = 0
        self.last = self.open = None
        self.unseen_count = False
        self.lane = None  # of the last THREAD

    def thread(self, entry):
        """What a filter recorded."""
        self.lane = entry.lane
        if entry.flags & LEFT_OUT:
            self.left_out = True
        if entry.flags & OUTSIDE:
            self.outside.append((entry.since, entry.last))
            return
        if entry.flags & HAS_LAST:
            self.last = max(entry.last, self.last or 0)
            self.unseen_count = bool(entry.flags & UNSEEN)
        if entry.flags & HAS_OPEN:
            self.open = entry.open
        if entry.unseen:
            self.since, self.unseen = entry.since, entry.unseen

    def charge(self, time):
        """Charge the time in the kernel to the call on top of the first stack."""
        if self.kernel and not self.kernel[0].ignored and self.calls:
            self.calls[-1].callees += max(0, time - self.charged)
        self.charged = time

    def may_be_inside(self, time):
        """Whether calls around a row may be left out."""
        return self.left_out and not any(first <= time <= last for first, last in self.outside)


class Events:
    """Takes rows, and gives events as dictionaries to a function."""

    def __init__(self, put):
        self.put = put
        self.damaged_values = 0
        self.begin()

    def begin(self):
        self.stacks = {}
        self.numbered = {}  # (source, number): open call
        self.overlapping = {}  # thread: number of its open numbered calls
        self.adopted = False  # the stream has begun with a SNAPSHOT
        self.last = {}  # key of a stack: time of the last row

    def entry(self, entry):
        """A LANE or a THREAD."""
        if not hasattr(entry, "lane"):
            for flag, key in ((STARTED, thread_key), (CPU_STARTED, cpu_key)):
                if entry.flags & flag:
                    self.stack(key(entry)).started = True
            return
        key = cpu_key(entry.lane) if entry.flags & THREAD_PER_CPU else thread_key(entry.lane)
        self.stack(key).thread(entry)

    def forget_threads(self):
        """Begin with a segment: what earlier segments declared about stacks is not valid."""
        for stack in self.stacks.values():
            stack.forget()
            stack.started = False

    def adopt(self, records, continued):
        """Replace the open calls by those of a SNAPSHOT, or add to those of the SNAPSHOT before."""
        if not continued:
            self.numbered, self.overlapping = {}, {}
            self.adopted = True
            for stack in self.stacks.values():
                stack.calls, stack.kernel, stack.begun = [], [], False
        for record, frames in records:
            key = cpu_key(record["lane"]) if record["flags"] & 1 else thread_key(record["lane"])
            stack = self.stack(key)
            if not record["flags"] & 8:
                self.last[key] = record["last"]
                stack.begun = not record["flags"] & 16
                stack.started = stack.begun
                stack.charged, stack.outside_kernel = record["charged"], int(bool(record["flags"] & 4))
                stack.calls = [Frame(depth, unseen_row(record), record["since"], seen=False)
                               for depth in range(record["unseen"])]
                if stack.calls:
                    stack.calls[-1].callees = record["child"]
            for frame in frames:
                if frame.flags & LEFT_OUT_CALL:
                    continue
                frame.row.time = frame.time
                if frame.row.has(CALL_NUMBER):
                    self.enter_numbered(frame)
                    continue
                calls = stack.kernel if frame.flags & IN_KERNEL else stack.calls
                frame.ignored = bool(frame.flags & IGNORED) or calls is stack.kernel and bool(calls) and calls[-1].ignored
                frame.exec = not frame.inner and is_exec(frame.location)
                calls.append(frame)

    def stack(self, key):
        return self.stacks.setdefault(key, Stack(key))

    def row(self, row):
        kind = row.type.kind
        key = cpu_key(row.lane) if row.has(PER_CPU) else thread_key(row.lane)
        if kind != GAP:
            self.last[key] = row.time
        if kind == DROP:
            self.drop_row(self.stack(key), row)
        elif kind not in (ENTER, LEAVE):
            self.put(self.single(row))
        elif row.has(CALL_NUMBER):
            self.numbered_row(row)
        else:
            stack = self.stack(key)
            if row.has(INNER):
                self.inner_row(stack, row)
            elif row.has(KERNEL):
                self.kernel_row(stack, row)
            else:
                self.user_row(stack, row)

    # Calls with numbers

    def numbered_row(self, row):
        number = row.role(CALL)
        if number is None:
            return
        key = (source_key(row.lane), number)
        frame = self.numbered.pop(key, None)
        if frame:
            self.overlapping[thread_key(frame.row.lane)] -= 1
        if row.type.kind == LEAVE:
            if frame:
                self.put(self.call(frame, row, [], row.time, frame.depth))
            return
        if frame:
            self.put_dropped(frame, row.time, frame.depth)
        if len(self.numbered) < MOST_NUMBERED:
            self.enter_numbered(Frame(0, row, row.time))

    def enter_numbered(self, frame):
        thread = thread_key(frame.row.lane)
        frame.depth = self.overlapping.get(thread, 0)
        self.overlapping[thread] = frame.depth + 1
        self.numbered[(source_key(frame.row.lane), frame.row.role(CALL))] = frame

    # Calls on stacks

    def user_row(self, stack, row):
        enter = row.type.kind == ENTER
        if stack.kernel:
            stack.outside_kernel += 1
            if stack.outside_kernel == 2:
                self.drop(stack, stack.kernel, 0, row.time)
        stack.charge(row.time)
        if not stack.begun and (enter or row.has(DEPTH)):
            if not (self.adopted and stack.started):
                self.first_row(stack, row)
            stack.begun = True
        calls = stack.calls
        if enter:
            executing = [i for i, frame in enumerate(calls) if frame.exec]
            if executing and not (row.has(DEPTH) and row.depth > calls[executing[0]].depth):
                self.drop(stack, calls, 0, row.time)
            if row.has(DEPTH):
                self.drop_deeper(stack, calls, row.depth, row.time)
            self.push(calls, row, row.depth if row.has(DEPTH) else None)
        elif row.has(DEPTH):
            self.drop_deeper(stack, calls, row.depth + 1, row.time)
            if calls and calls[-1].depth == row.depth:
                self.leave(stack, calls, row)
        else:
            while calls and calls[-1].inner:
                self.drop(stack, calls, len(calls) - 1, row.time)
            if calls:
                self.leave(stack, calls, row)

    def drop_row(self, stack, row):
        """A filter left out a row that drops calls."""
        calls = stack.kernel if row.has(KERNEL) else stack.calls
        if not row.has(INNER):
            self.drop_deeper(stack, calls, row.depth, row.time)
        while row.has(INNER) and calls and calls[-1].inner:
            self.drop(stack, calls, len(calls) - 1, row.time)

    def first_row(self, stack, row):
        """Put the calls that were open before the trace."""
        if not row.has(DEPTH):
            return
        if stack.left_out:
            count, since = stack.unseen, stack.since
        else:
            count, since = row.depth + (row.type.kind == LEAVE), row.time
        self.drop(stack, stack.calls, 0, row.time)
        stack.calls = [Frame(depth, row, since, seen=False) for depth in range(count)]

    def inner_row(self, stack, row):
        calls = stack.kernel or stack.calls
        if row.type.kind == LEAVE:
            if calls and calls[-1].inner:
                self.leave(stack, calls, row)
        elif calls and not calls[-1].exec:
            self.push(calls, row, calls[-1].depth if calls is stack.kernel else None)
        elif not calls and stack.may_be_inside(row.time):
            self.push(calls, row, None)

    def kernel_row(self, stack, row):
        stack.outside_kernel = 0
        stack.charge(row.time)
        calls = stack.kernel
        if row.type.kind == ENTER:
            if row.has(DEPTH):
                self.drop_deeper(stack, calls, row.depth, row.time)
            frame = self.push(calls, row, row.depth if row.has(DEPTH) else None)
            if len(calls) == 1:
                frame.ignored = not stack.calls and not stack.may_be_inside(row.time)
            return
        if row.has(DEPTH):
            self.drop_deeper(stack, calls, row.depth + 1, row.time)
            while calls and calls[-1].inner:
                self.drop(stack, calls, len(calls) - 1, row.time)
            if calls and calls[-1].depth == row.depth:
                self.leave(stack, calls, row)
            return
        while calls and calls[-1].inner:
            self.drop(stack, calls, len(calls) - 1, row.time)
        if calls:
            self.leave(stack, calls, row)

    @staticmethod
    def push(calls, row, depth):
        if depth is None:
            depth = calls[-1].depth + 1 if calls else 0
        frame = Frame(depth, row, row.time)
        frame.ignored = bool(calls) and calls[-1].ignored
        frame.exec = not row.has(INNER) and is_exec(row.location)
        calls.append(frame)
        return frame

    def drop_deeper(self, stack, calls, depth, time):
        """Drop the calls at a depth or deeper."""
        while calls and calls[-1].depth >= depth:
            self.drop(stack, calls, len(calls) - 1, time)

    def drop(self, stack, calls, count, time):
        """Drop calls until this number remains: they end as unfinished."""
        while len(calls) > count:
            frame = calls.pop()
            if frame.seen and not frame.ignored:
                self.put_dropped(frame, time, len(self.below(stack, calls)))

    def put_dropped(self, frame, time, depth):
        event = self.call(frame, None, [], time, depth)
        event.update(self=None, recursive=None)
        self.put(event)

    @staticmethod
    def below(stack, calls):
        """The calls below the top of one of the two stacks."""
        return stack.calls + calls if calls is stack.kernel else calls

    def leave(self, stack, calls, row):
        frame = calls.pop()
        below = self.below(stack, calls)
        if frame.ignored:
            return
        if calls:
            calls[-1].callees += max(0, row.time - frame.time)
        self.put(self.call(frame, row, below, row.time))

    def end(self):
        """The end of a stream: close its open calls."""
        for frame in self.numbered.values():
            self.put(self.call(frame, None, [], self.last[thread_key(frame.row.lane)], frame.depth))
        for stack in self.stacks.values():
            self.end_stack(stack)
        self.begin()

    def end_stack(self, stack):
        last = max(self.last.get(stack.key, 0), stack.last or 0)
        if stack.unseen_count and not stack.begun:
            row = SimpleNamespace(lane=stack.lane, type=SimpleNamespace(name=b"", group=b""))
            stack.calls = [Frame(depth, row, stack.since, seen=False) for depth in range(stack.unseen)]
        stack.charge(last)
        for calls in (stack.kernel, stack.calls):
            if any(frame.exec for frame in calls):
                self.drop(stack, calls, 0, last)
        if stack.open is not None:
            self.drop_deeper(stack, stack.calls, stack.open, last)
        for calls in (stack.kernel, stack.calls):
            while calls:
                frame = calls.pop()
                below = self.below(stack, calls)
                end = max(last, frame.time + frame.callees)
                if not frame.seen and stack.left_out and not stack.unseen_count:
                    continue
                if frame.ignored:
                    continue
                if calls:
                    calls[-1].callees += end - frame.time
                self.put(self.call(frame, None, below, end))

    # Events

    def single(self, row):
        """The event of a row that is not part of a call."""
        event = self.common(row, row.location, row.lane, True)
        kind = {INSTANT: "instant", COUNTER: "counter", GAP: "gap", SAMPLE: "sample"}[row.type.kind]
        event.update(time=row.time, kind=kind, args=self.gap(row) if kind == "gap" else self.arguments(row))
        if kind == "sample":
            event.update(stack=frame_names(row.stack), weight=self.weight(row))
        elif kind == "instant":
            event.update(stack=self.recorded_stack(row))
        return event

    @staticmethod
    def recorded_stack(row):
        """The names of the frames in the first field with the role STACK, or None."""
        for field in row.type.fields:
            if field.role == STACK and field.where == trvalues.FIXED and field.size == 4:
                ident = int.from_bytes(row.fixed[field.offset:field.offset + 4], "little")
                return frame_names(row.stacks.get(ident))
        return None

    @staticmethod
    def weight(row):
        """The field with the role PERIOD of the fixed part, else that of the type."""
        periods = [f for f in row.type.fields
                   if (f.role, f.where, f.size) == (PERIOD, trvalues.FIXED, 8)]
        if periods:
            at = periods[-1].offset
            return int.from_bytes(row.fixed[at:at + 8], "little", signed=periods[-1].kind == trvalues.INT)
        return row.type.weight or 1

    def call(self, frame, leave, below, end, depth=None):
        """The event of a call that ends at a time; leave is None if it is unfinished."""
        row = leave or frame.row
        location = leave and leave.location or frame.location
        event = self.common(row, location, frame.row.lane if frame.seen else row.lane, leave)
        event["name"] = location_name(location) if location else "<0>"
        total = max(0, end - frame.time)
        caller = below[-1].location if below else None
        event.update(
            time=frame.time, dur=total, self=max(0, total - frame.callees), kind="call",
            depth=len(below) if depth is None else depth,
            caller=location_name(caller) if caller else None,
            recursive=any(content(frame.location) == content(location) for frame in below),
            unfinished=not leave, args=self.arguments(frame.row if frame.seen else None, leave))
        return event

    @staticmethod
    def common(row, location, lane, cpu_of_row):
        """The columns that come from the lane, the type and the location."""
        symbol = location.symbol if location else None
        cpu = lane.cpu if lane.flags & HAS_CPU else row.role(CPU) if cpu_of_row else None
        return {
            "time": None, "dur": None, "type": text(row.type.name) or None,
            "pid": lane.pid if lane.flags & HAS_PID else None,
            "tid": lane.tid if lane.flags & HAS_TID else None,
            "cpu": cpu, "comm": text(lane.comm) or None,
            "name": location_name(location) if location else text(row.type.name) or None,
            "depth": None,
            "file": text(symbol.file) or None if symbol else None,
            "line": symbol.line or None if symbol and symbol.file else None,
            "args": None, "kind": None, "self": None, "caller": None, "recursive": None, "unfinished": None,
            "stack": None, "weight": None, "group": text(row.type.group) or None,
            "module": text(symbol.module) or None if symbol else None,
            "input": text(lane.source.name) or None if lane.source else None}

    def arguments(self, *rows):
        """The details and fields of an event's rows; those of the later row are used."""
        args = {}
        for row in filter(None, rows):
            if row.has(VALUES):
                args.update(self.details(row))
            source = row.lane.source.format if row.lane.source else b""
            for field, value in row.fields():
                if field.role == CALL and source != b"apitrace":
                    continue
                if field.role == STACK and field.where == trvalues.FIXED and field.size == 4:
                    value = frame_names(row.stacks.get(int.from_bytes(row.fixed[field.offset:field.offset + 4], "little")))
                    if not value:
                        continue
                if field.role != ROW and not field.name.startswith(b"common_"):
                    args[text(field.name)] = value
        return args or None

    def details(self, row):
        source = row.lane.source.format if row.lane.source else b""
        try:
            details = trvalues.Details(row.tail, row.definitions, source).read()
        except trvalues.Damaged:
            self.damaged_values += 1
            return {}
        definition = row.location.definition if row.location else None
        args = {}
        for what, index, value in details:
            if what == trvalues.ARGUMENT:
                name = b""
                if definition and index <= len(definition.members):
                    name = definition.members[index - 1][0]
                floating = source == b"uftrace" and index > 1000
                args[text(name) or (f"fparg{index - 1000}" if floating else f"arg{index}")] = value
            elif what == trvalues.RETURN:
                args["ret"] = value
            elif what == trvalues.BACKTRACE:
                args["backtrace"] = [frame_line(frame) for frame in value]
            elif source == b"apitrace":
                args["fake"] = bool(value & 1)
            else:
                args["flags"] = value
        return args

    @staticmethod
    def gap(row):
        """What is missing, and where."""
        count, offset, reason, unit = struct.unpack_from("<QQII", row.fixed)
        args = {"reason": {1: "lost", 2: "damage", 3: "unread"}.get(reason, reason)}
        if count != UNKNOWN:
            args[{0: "events", 1: "bytes", 2: "packets"}.get(unit, "events")] = count
        length = int.from_bytes(row.tail[:4], "little")
        if length > len(row.tail) - 4:
            return args if offset == UNKNOWN else {**args, "offset": offset}
        name, message = row.tail[4:4 + length].rstrip(b"\0"), row.tail[4 + length:]
        if name:
            args["file"] = text(name)
        if offset != UNKNOWN:
            args["offset"] = offset
        if message:
            args["message"] = text(message)
        return args


def frame_names(stack):
    """The names of a stack's frames, outermost first."""
    names = []
    while stack:
        names.append(location_name(stack.location) if stack.location else "<0>")
        stack = stack.parent
    return names[::-1] or None


def frame_line(frame):
    """MODULE: FUNCTION+OFFSET: FILE:LINE, without what is unknown."""
    line = frame.get("module", "?")
    if "function" in frame:
        line += f": {frame['function']}"
    if "offset" in frame:
        line += f"+0x{frame['offset']:x}"
    if "file" in frame:
        line += f": {frame['file']}"
        if "line" in frame:
            line += f":{frame['line']}"
    return line
