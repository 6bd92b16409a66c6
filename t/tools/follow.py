#!/usr/bin/env python3
"""What trfilter --follow 'arg.id == N' keeps, by FOLLOWING ONE REQUEST in trfilter(1): a model over
Trace Event JSON that shares nothing with the program.

usage: follow.py random SEED [EVENTS] >FILE      a trace with calls, flows, ids, wakeups and switches
       follow.py complete FILE                  the same calls as X, each at its end
       follow.py keep N FILE                     lines "TIME DUR TID NAME" of what is kept, in ns
       follow.py lines <NDJSON                   the same lines of rows that trencode -t ndjson printed
"""
import json
import random
import sys

THREADS = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 5)]


def random_trace(seed, events):
    """Calls nest in their threads; every event has its own time, but for flows at the begins of calls."""
    r = random.Random(seed)
    out, time = [], 0
    stacks = {t: [] for t in THREADS}
    begun = []

    def put(ph, thread, name, later=None, **more):
        nonlocal time
        time += r.randint(1, 3) if later is None else later
        out.append({"ph": ph, "pid": thread[0], "tid": thread[1], "ts": time, "name": name, "cat": "c", **more})

    for _ in range(events):
        thread = r.choice(THREADS)
        stack = stacks[thread]
        what = r.choices("BEistfxbenws", [14, 13, 4, 4, 2, 5, 3, 2, 2, 1, 5, 6])[0]
        what = "switch" if what == "s" and r.random() < 0.5 else what
        if what == "B":
            stack.append(1)
            args = {"id": r.randint(1, 12)} if r.random() < 0.5 else {}
            put("B", thread, "call%d" % r.randint(1, 4), args=args)
            if r.random() < 0.4:
                enclosing = {"bp": "e"} if r.random() < 0.5 else {}
                put(r.choice("stf"), thread, "flow", later=0, id=r.randint(1, 30), **enclosing)
        elif what == "E" and stack:
            stack.pop()
            put("E", thread, "")
        elif what == "i":
            put("i", thread, "mark", s="t")
        elif what in "stf" and len(what) == 1:
            enclosing = {"bp": "e"} if r.random() < 0.5 else {}
            put(what, thread, "flow", id=r.randint(1, 30), **enclosing)
        elif what == "x":
            stack.append(1)
            way = r.choice([{"flow_out": True}, {"flow_in": True}, {"flow_in": True, "flow_out": True}])
            put("B", thread, "bound", bind_id=r.randint(1, 30), **way)
        elif what == "b":
            begun.append((thread, r.randint(1, 5)))
            put("b", thread, "async", id=begun[-1][1], args={"id": r.randint(1, 12)})
        elif what == "e" and begun:
            thread, number = begun.pop(r.randrange(len(begun)))
            put("e", thread, "async", id=number)
        elif what == "n":
            put("n", thread, "step", id=r.randint(1, 5))
        elif what == "w":
            put("i", thread, "sched_waking", s="t",
                args={"comm": "c", "pid": r.choice(THREADS)[1], "prio": 120, "target_cpu": 0})
        elif what == "switch":
            put("i", thread, "sched_switch", s="t",
                args={"prev_comm": "c", "prev_pid": thread[1], "prev_prio": 120,
                      "prev_state": r.choice(["S", "S", "R", "D"]), "next_comm": "c",
                      "next_pid": r.choice(THREADS)[1], "next_prio": 120})
    for thread, stack in stacks.items():
        for _ in stack:
            put("E", thread, "")
    json.dump({"traceEvents": out}, sys.stdout)


def complete(path):
    """Flows at the time of a begin are before the call then."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    out, stacks = [], {}
    for e in events:
        stack = stacks.setdefault((e["pid"], e["tid"]), [])
        if e["ph"] == "B":
            stack.append(e)
        elif e["ph"] == "E":
            begin = stack.pop()
            out.append({**begin, "ph": "X", "dur": e["ts"] - begin["ts"]})
        else:
            out.append(e)
    json.dump({"traceEvents": out}, sys.stdout)


class Call:
    def __init__(self, event):
        self.event, self.end = event, None
        self.kept = self.followed = self.strong = False


class Model:
    """One pass over the events in the order of time."""

    def __init__(self, events, wanted):
        self.events, self.wanted = events, wanted
        self.stacks, self.awake, self.next = {}, {}, {}
        self.flows, self.ids = set(), {}
        self.open_ids, self.kept, self.last = [], [], {}
        self.ends = self.find_ends()

    def find_ends(self):
        """The last event of each flow of calls ends the flow if it only receives."""
        last = {}
        for e in self.events:
            if "bind_id" in e:
                last[e["bind_id"]] = e
        return {id(e) for e in last.values() if not e.get("flow_out")}

    def thread(self, e):
        return e["pid"], e["tid"]

    def stack(self, thread):
        return self.stacks.setdefault(thread, [])

    def works(self, thread):
        return self.awake.get(thread) or any(c.followed for c in self.stack(thread))

    def flow(self, e):
        """(key, phase, ends) of the flow of an event."""
        if e["ph"] in "stf":
            return ("event", e["id"]), e["ph"], e["ph"] == "f"
        if "bind_id" in e:
            return ("bound", e["bind_id"]), None, id(e) in self.ends
        return None

    def pass_flow(self, flow):
        if flow and flow[2]:
            self.flows.discard(flow[0])
        elif flow:
            self.flows.add(flow[0])

    def wake(self, tid):
        for thread in THREADS:
            if thread[1] == tid and not any(c.followed and c.strong for c in self.stack(thread)):
                self.awake[thread] = True

    def begin(self, e):
        thread, flow, call = self.thread(e), self.flow(e), Call(e)
        stack = self.stack(thread)
        call.strong = (e.get("args", {}).get("id") == self.wanted or (flow and flow[0] in self.flows) or
                       self.next.pop(thread, False) or any(c.strong and c.followed for c in stack))
        call.followed = call.kept = bool(call.strong or self.works(thread))
        if call.followed:
            self.pass_flow(flow)
        stack.append(call)

    def leave(self, e):
        stack = self.stack(self.thread(e))
        if stack:
            call = stack.pop()
            call.end = e["ts"]
            if call.kept:
                self.kept.append((call.event, call.end))

    def begin_async(self, e):
        call = Call(e)
        call.kept = e.get("args", {}).get("id") == self.wanted or self.ids.get(e["id"], 0) > 0
        if call.kept:
            self.ids[e["id"]] = self.ids.get(e["id"], 0) + 1
        self.open_ids.append(call)

    def end_async(self, e):
        # those of its own process come first
        for call in sorted(reversed(self.open_ids), key=lambda c: c.event["pid"] != e["pid"]):
            if call.event["id"] == e["id"]:
                self.open_ids.remove(call)
                if call.kept:
                    self.ids[e["id"]] -= 1
                    self.kept.append((call.event, e["ts"]))
                return

    def instant(self, e):
        thread, flow, args = self.thread(e), self.flow(e), e.get("args", {})
        part = bool(flow and flow[0] in self.flows)
        kept = part or self.works(thread) or (e["ph"] == "n" and self.ids.get(e["id"], 0) > 0)
        begins = bool(self.stack(thread) and self.stack(thread)[-1].event["ts"] == e["ts"])
        if part and flow[1] == "f" and e.get("bp") != "e" and not begins:
            self.next[thread] = True
        elif part and self.stack(thread) and not self.stack(thread)[-1].followed:
            call = self.stack(thread)[-1]
            call.followed = call.strong = call.kept = True
        if kept:
            self.pass_flow(flow)
        if e["name"] == "sched_waking":
            if kept:
                self.wake(args["pid"])
            kept = kept or any(self.works(t) for t in THREADS if t[1] == args["pid"])
        elif e["name"] == "sched_switch":
            if args["prev_state"] == "S":
                self.awake[thread] = False
            kept = kept or any(self.works(t) for t in THREADS if t[1] == args["next_pid"])
        if kept:
            self.kept.append((e, None))

    def run(self):
        for e in self.events:
            self.last[self.thread(e)] = e["ts"]
            {"B": self.begin, "E": self.leave, "b": self.begin_async, "e": self.end_async}.get(
                e["ph"], self.instant)(e)
        for stack in self.stacks.values():
            self.kept += [(c.event, None) for c in stack if c.kept]
        self.kept += [(c.event, None) for c in self.open_ids if c.kept]
        return self.kept


def keep(wanted, path):
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    for e, end in Model(events, wanted).run():
        dur = "-" if end is None else str(1000 * (end - e["ts"]))
        print(1000 * e["ts"], dur, e["tid"], e["name"])


def lines():
    for line in sys.stdin:
        row = json.loads(line)
        dur = "-" if row["dur"] is None or row.get("unfinished") else row["dur"]
        print(row["time"], dur, row["tid"], row["name"])


def main(argv):
    if argv[:1] == ["random"] and len(argv) > 1:
        random_trace(int(argv[1]), int(argv[2]) if len(argv) > 2 else 300)
    elif argv[:1] == ["keep"] and len(argv) == 3:
        keep(int(argv[1]), argv[2])
    elif argv[:1] == ["complete"] and len(argv) == 2:
        complete(argv[1])
    elif argv == ["lines"]:
        lines()
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
