"""Streams without damage: calls, threads and stacks."""
import struct

import streams_writer as w
from streams_case import F, G, MAIN, Case, call, dropped, stream, tick, unfinished
from streams_writer import field

HAS_LAST, HAS_OPEN, LEFT_OUT, UNSEEN, OUTSIDE = (2 << i for i in range(5))


def good(make):
    return stream("good")(make)


def unseen(ts, dur, depth, **more):
    """A call without an ENTER or a LEAVE that is open at the end."""
    return unfinished(ts, dur, "<0>", depth=depth, recursive=depth > 0, **more)


# Without DEPTH


@good
def calls_without_depth():
    """Calls nest by the order of their rows."""
    case = Case(0).E(1000).E(1100, F).E(1110, G).L(1120, G).L(1200, F).E(1300, G).L(1310, G).L(1500)
    return case.data(), [call(1110, 10, "g", depth=2, caller="f"), call(1100, 100, "f", depth=1, caller="main", self=90),
                         call(1300, 10, "g", depth=1, caller="main"), call(1000, 500, self=390)]


@good
def leave_without_enter():
    """A LEAVE without DEPTH and without an open call matches none."""
    return Case(0).L(1000, F).E(1100).L(1200).L(1300).data(), [call(1100, 100)]


@good
def leave_names_the_call():
    """A call bears the location of its LEAVE, or of its ENTER if the LEAVE has none."""
    case = Case(0).E(1000).L(1100, F).E(1200, G).L(1300, 0)
    return case.data(), [call(1000, 100, "f"), call(1200, 100, "g")]


@good
def leave_before_enter_in_time():
    """A LEAVE that is earlier than its ENTER: the total is 0; callees may exceed it."""
    case = Case(0).E(1500).L(1400).E(1600).E(1600, F).L(1700, F).L(1650)
    return case.data(), [call(1500, 0), call(1600, 100, "f", depth=1, caller="main"), call(1600, 50, self=0)]


@good
def recursion():
    """Calls of a function that is open already."""
    case = Case(0).E(1000).E(1010, F).E(1020).L(1030).L(1040, F).L(1050)
    return case.data(), [call(1020, 10, depth=2, caller="f", recursive=True),
                         call(1010, 30, "f", depth=1, caller="main", self=20), call(1000, 50, self=20)]


# With DEPTH


@good
def lost_leave():
    """An ENTER drops the open calls at its depth or deeper."""
    case = Case().E(1000).E(1100, F, 1).E(1110, G, 2).E(1200, G, 1).L(1300, G, 1).L(1500)
    return case.data(), [dropped(1110, 90, "g", depth=2), dropped(1100, 100, "f", depth=1),
                         call(1200, 100, "g", depth=1, caller="main"), call(1000, 500, self=400)]


@good
def lost_leaves_at_a_leave():
    """A LEAVE drops all deeper calls."""
    case = Case().E(1000).E(1100, F, 1).E(1110, G, 2).L(1500)
    return case.data(), [dropped(1110, 390, "g", depth=2), dropped(1100, 400, "f", depth=1), call(1000, 500)]


@good
def lost_enter():
    """A LEAVE at a depth where no call is open matches none; the calls below go on."""
    case = Case().E(1000).L(1100, F, 1).L(1200, G, 7).L(1500)
    return case.data(), [call(1000, 500)]


@good
def depth_with_holes():
    """A call at the depth below need not be open."""
    case = Case().E(1000).E(1100, F, 5).E(1110, G, 3).L(1120, G, 3).L(1500)
    return case.data(), [dropped(1100, 10, "f", depth=1), call(1110, 10, "g", depth=1, caller="main"),
                         call(1000, 500, self=490)]


@good
def dropped_callees():
    """The time of a dropped call remains its caller's own, that of its callees does not return."""
    case = Case().E(1000).E(1100, F, 1).E(1110, G, 2).L(1150, G, 2).L(1500)
    return case.data(), [call(1110, 40, "g", depth=2, caller="f"), dropped(1100, 400, "f", depth=1), call(1000, 500)]


@good
def mid_call_by_enter():
    """The first ENTER at depth 2 shows two calls without a location."""
    case = Case().E(1000, F, 2).L(1100, F, 2).L(1200, MAIN, 0)
    return case.data(), [call(1000, 100, "f", depth=2), call(1000, 200)]


@good
def mid_call_by_leave():
    """The first LEAVE at depth 1 shows two calls, and ends the deeper."""
    case = Case().L(1000, F, 1).I(1400)
    return case.data(), [call(1000, 0, "f", depth=1), tick(1400), unseen(1000, 400, 0)]


@good
def mid_call_only_at_first_row():
    """Later rows of a stack show no calls that were open before."""
    case = Case().E(1000).L(1100).E(1200, F, 2).L(1300, F, 2).L(1400, G, 1)
    return case.data(), [call(1000, 100), call(1200, 100, "f")]


@good
def mid_call_after_row_without_depth():
    """A LEAVE without DEPTH before the first ENTER shows nothing; the first ENTER with DEPTH does."""
    case = Case()
    plain = case.type("out", w.LEAVE)
    case.L(1000, kind=plain).E(1100, F, 1).L(1200, F, 1).L(1300)
    return case.data(), [call(1100, 100, "f", depth=1), call(1100, 200, self=100)]


@good
def deep_calls():
    """Depths of more than 255, in a wide block."""
    case = Case()
    case.wide = True
    case.E(1000).E(1001, F, 300).L(1002, F, 300).E(1003, G, 65535).L(1004, G, 65535).L(1005)
    return case.data(), [call(1001, 1, "f", depth=1, caller="main"), call(1003, 1, "g", depth=1, caller="main"),
                         call(1000, 5, self=3)]


# Threads


@good
def threads():
    """Each thread has a stack; several lanes are of one thread."""
    case = Case()
    case.lane(tid=43)
    case.lane(tid=42, comm="new", cpu=1, pid=7)
    case.E(1000).E(1100, F, lane=1).E(1200, F, 1, lane=2).L(1300, F, 1).L(1400, F, lane=1).L(1500, lane=2)
    return case.data(), [call(1200, 100, "f", depth=1, caller="main", comm="new", cpu=1, pid=7),
                         call(1100, 300, "f", tid=43), call(1000, 500, self=400)]


@good
def tid_in_process():
    """With PROCESS_TID lanes of other processes are of other threads."""
    case = Case(lane={"tid": 1, "pid": 10, "process": True})
    case.lane(tid=1, pid=11, process=True)
    case.E(1000).E(1100, F, lane=1).L(1200).L(1300, F, lane=1)
    return case.data(), [call(1000, 200, tid=1, pid=10), call(1100, 200, "f", tid=1, pid=11)]


@good
def idle_threads():
    """Thread 0 is another thread on each CPU."""
    case = Case(lane={"tid": 0, "cpu": 0})
    case.lane(tid=0, cpu=1)
    case.E(1000).E(1100, F, lane=1).L(1200).L(1300, F, lane=1)
    return case.data(), [call(1000, 200, tid=0, cpu=0), call(1100, 200, "f", tid=0, cpu=1)]


@good
def threads_of_sources():
    """Threads of one number of two sources are two threads."""
    words = w.Dictionary()
    first, second = words.source(name="a"), words.source(name="b")
    case = Case(words=words, lane={"tid": 42, "source": first})
    case.lane(tid=42, source=second)
    case.E(1000).E(1100, F, lane=1).L(1200).L(1300, F, lane=1)
    return case.data(), [call(1000, 200, input="a"), call(1100, 200, "f", input="b")]


@good
def calls_per_cpu():
    """PER_CPU: the stack is that of the CPU, in whatever thread the rows are."""
    case = Case(w.PER_CPU, lane={"tid": 42, "cpu": 0})
    case.lane(tid=43, cpu=0)
    case.lane(tid=42, cpu=1)
    case.E(1000).E(1100, F, lane=2).E(1150, G, lane=1).L(1180, G).L(1200, lane=1).L(1300, F, lane=2)
    return case.data(), [call(1150, 30, "g", depth=1, caller="main", tid=43, cpu=0), call(1000, 200, self=170, cpu=0),
                         call(1100, 200, "f", cpu=1)]


@good
def interrupt_in_a_call():
    """Calls per CPU are no callees of the thread's calls."""
    case = Case(lane={"tid": 42, "cpu": 0})
    enter, leave = case.type("irq", w.ENTER, w.PER_CPU), case.type("irqret", w.LEAVE, w.PER_CPU)
    case.E(1000).E(1100, F, kind=enter).L(1200, F, kind=leave).L(1300)
    return case.data(), [call(1100, 100, "f", type="irqret", cpu=0), call(1000, 300, cpu=0)]


@good
def lanes_without_thread():
    """Rows of lanes without a thread are on the stack of their CPU, or of their source."""
    case = Case(0, lane={"cpu": 0})
    case.lane()
    case.E(1000).E(1100, F, lane=1).L(1200).L(1300, F, lane=1)
    return case.data(), [call(1000, 200, cpu=0, tid=None), call(1100, 200, "f", tid=None)]


@good
def lane_without_thread_and_per_cpu():
    """A row of a lane without a thread, and a row with PER_CPU, are on one stack."""
    case = Case(0, lane={"cpu": 3})
    case.lane(cpu=3, tid=42)
    leave = case.type("irqret", w.LEAVE, w.PER_CPU)
    case.E(1000).L(1100, kind=leave, lane=1)
    return case.data(), [call(1000, 100, type="irqret", cpu=3, tid=None)]


# INNER


def inner_types(case):
    return case.type("off", w.ENTER, w.INNER), case.type("on", w.LEAVE, w.INNER)


@good
def inner():
    """A call with INNER is a callee of the open call, and ignored where no call is open."""
    case = Case()
    off, on = inner_types(case)
    case.E(1000, G, kind=off).L(1010, G, kind=on).E(1100).E(1200, G, kind=off).L(1250, G, kind=on).L(1300)
    return case.data(), [call(1200, 50, "g", type="on", depth=1, caller="main"), call(1100, 200, self=150)]


@good
def inner_leave_alone():
    """A LEAVE with INNER ends only a call with INNER on top."""
    case = Case()
    _, on = inner_types(case)
    return case.E(1000).L(1100, G, kind=on).L(1200).data(), [call(1000, 200)]


@good
def inner_is_dropped():
    """ENTER and LEAVE of other calls drop the calls with INNER on top of them."""
    case = Case()
    off, _ = inner_types(case)
    case.E(1000).E(1100, G, kind=off).E(1150, F, 1).L(1180, F, 1).E(1190, G, kind=off).L(1200)
    return case.data(), [dropped(1100, 50, "g", type="off", depth=1), call(1150, 30, "f", depth=1, caller="main"),
                         dropped(1190, 10, "g", type="off", depth=1), call(1000, 200, self=170)]


@good
def inner_is_dropped_without_depth():
    """A LEAVE without DEPTH drops the calls with INNER on top, and ends the call below."""
    case = Case(0)
    off, _ = inner_types(case)
    case.E(1000).E(1100, G, kind=off).E(1110, G, kind=off).L(1200)
    return case.data(), [dropped(1110, 90, "g", type="off", depth=2), dropped(1100, 100, "g", type="off", depth=1),
                         call(1000, 200)]


@good
def inner_and_depth():
    """INNER and DEPTH: the flag DEPTH has no effect."""
    case = Case()
    off, on = case.type("off", w.ENTER, w.INNER | w.DEPTH), case.type("on", w.LEAVE, w.INNER | w.DEPTH)
    case.E(1000).E(1100, G, 0, kind=off).L(1150, G, 9, kind=on).L(1200)
    return case.data(), [call(1100, 50, "g", type="on", depth=1, caller="main"), call(1000, 200, self=150)]


# KERNEL


def kernel_types(case, flags=w.DEPTH):
    return case.type("kin", w.ENTER, w.KERNEL | flags), case.type("kout", w.LEAVE, w.KERNEL | flags)


@good
def kernel():
    """Calls of the kernel are a stack on top of the thread's other calls."""
    case = Case()
    kin, kout = kernel_types(case)
    case.E(1000).E(1100, F, 0, kind=kin).E(1110, G, 1, kind=kin).L(1120, G, 1, kind=kout).L(1200, F, 0, kind=kout).L(1300)
    return case.data(), [call(1110, 10, "g", type="kout", depth=2, caller="f"),
                         call(1100, 100, "f", type="kout", depth=1, caller="main", self=90), call(1000, 300, self=200)]


@good
def kernel_without_depth():
    """Calls of the kernel without DEPTH."""
    case = Case()
    kin, kout = kernel_types(case, 0)
    case.E(1000).E(1100, F, kind=kin).E(1110, G, kind=kin).L(1120, G, kind=kout).L(1200, F, kind=kout).L(1300)
    return case.data(), [call(1110, 10, "g", type="kout", depth=2, caller="f"),
                         call(1100, 100, "f", type="kout", depth=1, caller="main", self=90), call(1000, 300, self=200)]


@good
def kernel_outside_calls():
    """A call of the kernel that begins outside any call is ignored, with the calls that begin in it."""
    case = Case()
    kin, kout = kernel_types(case)
    case.E(1000, F, 0, kind=kin).E(1010, G, 1, kind=kin).L(1020, G, 1, kind=kout).E(1030).E(1035, G, 1, kind=kin)
    case.L(1038, G, 1, kind=kout).L(1040, F, 0, kind=kout).E(1050, G, 0, kind=kin).L(1060, G, 0, kind=kout).L(1100)
    return case.data(), [call(1050, 10, "g", type="kout", depth=1, caller="main"), call(1030, 70, self=60)]


@good
def kernel_is_not_assumed():
    """A first row with KERNEL at depth 2 shows no calls."""
    case = Case()
    kin, kout = kernel_types(case)
    case.E(1000).E(1100, F, 2, kind=kin).L(1200, F, 2, kind=kout).L(1210, G, 1, kind=kout).L(1300)
    return case.data(), [call(1100, 100, "f", type="kout", depth=1, caller="main"), call(1000, 300, self=200)]


@good
def kernel_over_user_calls():
    """A call of the kernel outlasts the call below: each call is charged with its part of the time."""
    case = Case()
    kin, kout = kernel_types(case)
    case.E(1000).E(1100, F, 1).E(1200, G, 0, kind=kin).L(1300, F, 1).L(1350, G, 0, kind=kout).L(1500)
    return case.data(), [call(1100, 200, "f", depth=1, caller="main", self=100),
                         call(1200, 150, "g", type="kout", depth=1, caller="main"), call(1000, 500, self=250)]


@good
def kernel_before_user_call():
    """A call of the kernel ends in a call that began after it."""
    case = Case()
    kin, kout = kernel_types(case)
    case.E(1000).E(1100, G, 0, kind=kin).E(1200, F, 1).L(1230, G, 0, kind=kout).L(1300, F, 1).L(1500)
    return case.data(), [call(1100, 130, "g", type="kout", depth=2, caller="f"),
                         call(1200, 100, "f", depth=1, caller="main", self=70), call(1000, 500, self=300)]


@good
def kernel_is_left():
    """Two rows outside the kernel without one in it show that the thread has left it."""
    case = Case()
    kin, _ = kernel_types(case)
    case.E(1000).E(1100, G, 0, kind=kin).E(1200, F, 1).L(1300, F, 1).L(1500)
    return case.data(), [dropped(1100, 200, "g", type="kin", depth=2), call(1200, 100, "f", depth=1, caller="main"),
                         call(1000, 500, self=300)]


@good
def kernel_inner():
    """An ENTER with INNER in the kernel is a call of the kernel."""
    case = Case()
    kin, kout = kernel_types(case)
    off, on = inner_types(case)
    case.E(1000).E(1100, F, 0, kind=kin).E(1110, G, kind=off).L(1150, G, kind=on).L(1200, F, 0, kind=kout).L(1300)
    return case.data(), [call(1110, 40, "g", type="on", depth=2, caller="f"),
                         call(1100, 100, "f", type="kout", depth=1, caller="main", self=60), call(1000, 300, self=200)]


@good
def kernel_in_inner():
    """Calls that the scheduler makes are callees of the call with INNER; a LEAVE of the call below drops it."""
    case = Case()
    kin, kout = kernel_types(case)
    off, _ = inner_types(case)
    case.E(1000).E(1100, F, 0, kind=kin).E(1110, G, kind=off).E(1120, G, 1, kind=kin).L(1130, G, 1, kind=kout)
    case.L(1200, F, 0, kind=kout).L(1300)
    return case.data(), [call(1120, 10, "g", type="kout", depth=3, caller="g", recursive=True),
                         dropped(1110, 90, "g", type="off", depth=2),
                         call(1100, 100, "f", type="kout", depth=1, caller="main"), call(1000, 300, self=200)]


# exec


def exec_case(name="execve", flags=w.DEPTH):
    case = Case(flags)
    return case, case.location(name)


@good
def exec_that_succeeds():
    """An ENTER while an exec is open drops all calls of the stack."""
    case, execve = exec_case()
    case.E(1000).E(1100, F, 1).E(1200, execve, 2).E(1300, G).L(1400, G)
    return case.data(), [dropped(1200, 100, "execve", depth=2), dropped(1100, 200, "f", depth=1), dropped(1000, 300),
                         call(1300, 100, "g")]


@good
def exec_that_fails():
    """A LEAVE ends the exec: it failed."""
    case, execve = exec_case("fexecve", 0)
    case.E(1000).E(1200, execve).L(1250, execve).E(1300, G).L(1350, G).L(1400)
    return case.data(), [call(1200, 50, "fexecve", depth=1, caller="main"), call(1300, 50, "g", depth=1, caller="main"),
                         call(1000, 400, self=300)]


@good
def exec_that_calls():
    """A deeper ENTER with DEPTH is a call that the exec makes."""
    case, execve = exec_case("execlp")
    case.E(1000).E(1200, execve, 1).E(1210, G, 2).L(1220, G, 2).L(1250, execve, 1).L(1400)
    return case.data(), [call(1210, 10, "g", depth=2, caller="execlp"),
                         call(1200, 50, "execlp", depth=1, caller="main", self=40), call(1000, 400, self=350)]


@good
def exec_left_below():
    """A LEAVE that ends a call below the exec shows that it failed."""
    case, execve = exec_case("execv")
    case.E(1000).E(1100, F, 1).E(1200, execve, 2).L(1300, F, 1).E(1350, G, 1).L(1360, G, 1).L(1400)
    return case.data(), [dropped(1200, 100, "execv", depth=2), call(1100, 200, "f", depth=1, caller="main"),
                         call(1350, 10, "g", depth=1, caller="main"), call(1000, 400, self=190)]


@good
def exec_without_depth():
    """Without DEPTH, any ENTER shows that the exec succeeded."""
    case, execve = exec_case("execvpe", 0)
    case.E(1000).E(1200, execve).E(1300, G).L(1400, G)
    return case.data(), [dropped(1200, 100, "execvpe", depth=1), dropped(1000, 300), call(1300, 100, "g")]


@good
def exec_at_the_end():
    """If an exec is open at the end, its calls are dropped."""
    case, execve = exec_case("execle")
    case.E(1000).E(1200, execve, 1).I(1300)
    return case.data(), [tick(1300), dropped(1200, 100, "execle", depth=1), dropped(1000, 300)]


@good
def exec_and_inner():
    """A call with INNER directly on top of an exec is ignored."""
    case, execve = exec_case("execl")
    off, on = inner_types(case)
    case.E(1000).E(1200, execve, 1).E(1210, G, kind=off).L(1220, G, kind=on).L(1250, execve, 1).L(1400)
    return case.data(), [call(1200, 50, "execl", depth=1, caller="main"), call(1000, 400, self=350)]


@good
def exec_by_symbol():
    """The name of the SYMBOL before the first ENTER decides what is an exec."""
    case = Case()
    words = case.words
    first, second = case.location("", 1), case.location("execve", 2)
    words.symbol(case.locations[first - 1], "execvp")
    words.symbol(case.locations[second - 1], "other")
    case.E(1000).E(1100, first, 1).E(1200).E(1250, second, 1).E(1300, F, 1).L(1350, F, 1).L(1400)
    return case.data(), [dropped(1100, 100, "execvp", depth=1), dropped(1000, 200), dropped(1250, 50, "other", depth=1),
                         call(1300, 50, "f", depth=1, caller="main"), call(1200, 200, self=150)]


# CALL_NUMBER


def numbered_case(**how):
    case = Case(w.CALL_NUMBER, **how)
    case.types.clear()
    for name, kind in (("in", w.ENTER), ("out", w.LEAVE)):
        case.type(name, kind, w.CALL_NUMBER, fixed=4, fields=[field("call", w.UINT, w.FIXED, 0, 4, role=9)])
    return case


def number(value):
    return {"parts": struct.pack("<I", value)}


@good
def numbered_calls():
    """Calls that pair by number overlap, and are on no stack."""
    case = numbered_case()
    case.lane(tid=43)
    case.E(1000, **number(5)).E(1100, F, **number(4294967295)).L(1200, **number(5)).L(1300, F, lane=1, **number(4294967295))
    return case.data(), [call(1000, 200), call(1100, 200, "f", depth=1)]


@good
def numbered_leave_without_enter():
    """A LEAVE whose number is not open matches none."""
    case = numbered_case().L(1000, **number(1)).E(1100, **number(1)).L(1200, **number(1)).L(1300, **number(1))
    return case.data(), [call(1100, 100)]


@good
def numbers_of_sources():
    """One number of two sources: two calls."""
    words = w.Dictionary()
    first, second = words.source(name="a"), words.source(name="b")
    case = numbered_case(words=words, lane={"tid": 42, "source": first})
    case.lane(tid=43, source=second)
    case.E(1000, **number(1)).E(1100, F, lane=1, **number(1)).L(1200, **number(1)).L(1300, F, lane=1, **number(1))
    return case.data(), [call(1000, 200, input="a"), call(1100, 200, "f", tid=43, input="b")]


@good
def number_again():
    """A number that is used again while its call is open drops that call."""
    case = numbered_case().E(1000, **number(1)).E(1100, F, **number(1)).L(1200, F, **number(1))
    case.words.type("tick", w.INSTANT)
    return case.data(), [dropped(1000, 100), call(1100, 100, "f")]


@good
def numbered_type_without_number():
    """Rows of a type with CALL_NUMBER, but without the field, are no part of a call."""
    case = Case(w.CALL_NUMBER).E(1000).L(1100).I(1200)
    return case.data(), [tick(1200)]


@good
def numbered_among_others():
    """Calls with numbers are neither callees nor callers of the calls of the stack."""
    case = numbered_case()
    enter, leave = case.type("sin", w.ENTER, w.DEPTH), case.type("sout", w.LEAVE, w.DEPTH)
    case.E(1000, kind=enter).E(1100, F, **number(1)).E(1150, G, 1, kind=enter).L(1160, G, 1, kind=leave)
    case.L(1200, F, **number(1)).L(1300, kind=leave)
    return case.data(), [call(1150, 10, "g", type="sout", depth=1, caller="main"), call(1100, 100, "f"),
                         call(1000, 300, type="sout", self=290)]


# The end of the stream


@good
def unfinished_calls():
    """Calls that are open at the end end with the last row of their thread."""
    case = Case()
    case.lane(tid=43)
    gap = case.type("gap", w.GAP, w.TAIL, fixed=24)
    case.E(1000).E(1100, F, 1).I(1300).I(1800, lane=1)
    case.I(1900, gap, parts=struct.pack("<QQII", 1, (1 << 64) - 1, 1, 0) + w.tail(bytes(4)))
    case.gaps = case.lost = 1
    return case.data(), [tick(1300), tick(1800, tid=43), tick(1900, "gap", kind="gap", args={"reason": "lost", "events": 1}),
                         unfinished(1100, 200, "f", depth=1, caller="main"), unfinished(1000, 300, self=100)]


@good
def unfinished_call_per_cpu():
    """A row with PER_CPU is no row of its thread, and the rows of a thread are not those of its CPU."""
    case = Case(lane={"tid": 42, "cpu": 0})
    enter = case.type("irq", w.ENTER, w.PER_CPU)
    case.E(1000).I(1100).E(1200, F, kind=enter).E(1250, G, kind=enter).I(1300)
    return case.data(), [tick(1100, cpu=0), tick(1300, cpu=0), unfinished(1000, 300, cpu=0),
                         unfinished(1200, 50, "f", type="irq", cpu=0, self=50),
                         unfinished(1250, 0, "g", type="irq", cpu=0, depth=1, caller="f")]


@good
def unfinished_after_step_back():
    """An unfinished call ends no earlier than its ENTER, and has at least the time of its callees."""
    case = Case(0).E(1000).E(1100, F).L(1400, F).E(1500, F).I(1200)
    return case.data(), [call(1100, 300, "f", depth=1, caller="main"), tick(1200),
                         unfinished(1500, 0, "f", depth=1, caller="main"), unfinished(1000, 300, self=0)]


@good
def unfinished_kernel():
    """A call of the kernel that is open at the end."""
    case = Case()
    kin, _ = kernel_types(case)
    case.E(1000).E(1100, F, 0, kind=kin).I(1300)
    return case.data(), [tick(1300), unfinished(1100, 200, "f", type="kin", depth=1, caller="main"),
                         unfinished(1000, 300, self=100)]


@good
def unfinished_numbered():
    """A numbered call that is open at the end ends with the last row of its thread."""
    case = numbered_case()
    case.lane(tid=43)
    tock = case.type("tick", w.INSTANT)
    case.E(1000, **number(1)).I(1200, tock).I(1400, tock, lane=1)
    return case.data(), [tick(1200), tick(1400, tid=43), unfinished(1000, 200)]


# DROP


def drop_type(case, flags):
    return case.type("", w.DROP, flags, ident=(1 << 32) - 1)


@good
def drop_with_depth():
    """DROP with DEPTH drops the calls at its depth and deeper."""
    case = Case(head=w.head(flags=1))
    drop = drop_type(case, w.DEPTH)
    case.E(1000).E(1100, F, 1).E(1110, G, 2).row(1200, drop, depth=1).E(1300, G, 1).L(1350, G, 1).L(1500)
    return case.data(), [dropped(1110, 90, "g", depth=2), dropped(1100, 100, "f", depth=1),
                         call(1300, 50, "g", depth=1, caller="main"), call(1000, 500, self=450)]


@good
def drop_with_inner():
    """DROP with INNER drops the calls with INNER on top."""
    case = Case(head=w.head(flags=1))
    off, _ = inner_types(case)
    drop = drop_type(case, w.INNER)
    case.E(1000).E(1100, G, kind=off).row(1200, drop).row(1250, drop).L(1500)
    return case.data(), [dropped(1100, 100, "g", type="off", depth=1), call(1000, 500)]


@good
def drop_in_kernel():
    """DROP with KERNEL drops calls in the kernel."""
    case = Case(head=w.head(flags=1))
    kin, _ = kernel_types(case)
    drop = drop_type(case, w.DEPTH | w.KERNEL)
    case.E(1000).E(1100, F, 0, kind=kin).row(1200, drop).L(1500)
    return case.data(), [dropped(1100, 100, "f", type="kin", depth=1), call(1000, 500)]


@good
def drop_is_a_row_of_its_thread():
    """DROP is the last row of its thread, and shows no calls."""
    case = Case(head=w.head(flags=1))
    drop = drop_type(case, w.DEPTH)
    case.row(1000, drop, depth=3).E(1100).row(1400, drop, depth=5)
    return case.data(), [unfinished(1100, 300)]


# THREAD


def filtered(*threads, flags=w.DEPTH):
    """A case that a filter wrote, with these THREADs: pairs of flags and numbers."""
    case = Case(flags, head=w.head(flags=1))
    for bits, numbers in threads:
        case.words.thread(case.lanes[0], bits, **numbers)
    return case


@good
def thread_last():
    """HAS_LAST: an open call ends at the last time of its thread; of several the highest counts."""
    case = filtered((HAS_LAST, {"last": 1700}), (HAS_LAST, {"last": 1600})).E(1000)
    return case.data(), [unfinished(1000, 700)]


@good
def thread_last_is_earlier():
    """HAS_LAST with an earlier time than the last row has no effect."""
    return filtered((HAS_LAST, {"last": 1100})).E(1000).I(1300).data(), [tick(1300), unfinished(1000, 300)]


@good
def thread_left_out():
    """LEFT_OUT: the first row shows no calls."""
    case = filtered((LEFT_OUT, {})).E(1000, F, 2).L(1100, F, 2)
    return case.data(), [call(1000, 100, "f")]


@good
def thread_unseen():
    """THREAD shows the calls that were open, since its time."""
    case = filtered((LEFT_OUT, {"since": 900, "unseen": 2})).E(1000, F, 5).L(1100, F, 5).L(1200, G, 1)
    return case.data(), [call(1000, 100, "f", depth=2), call(900, 300, "g", depth=1, self=200)]


@good
def thread_unseen_counts():
    """UNSEEN: calls without ENTER and LEAVE count."""
    case = filtered((LEFT_OUT, {"since": 900, "unseen": 1}), (HAS_LAST | LEFT_OUT | UNSEEN, {"last": 1500}))
    return case.E(1000, F, 1).L(1100, F, 1).data(), [call(1000, 100, "f", depth=1), unseen(900, 600, 0, self=500)]


@good
def thread_open():
    """HAS_OPEN: at this depth and deeper no call is open at the end."""
    case = filtered((HAS_LAST | HAS_OPEN | LEFT_OUT, {"last": 1500, "open_": 1})).E(1000).E(1100, F, 1)
    return case.data(), [dropped(1100, 400, "f", depth=1), unfinished(1000, 500)]


@good
def thread_inner():
    """LEFT_OUT: a call with INNER, and one of the kernel, counts without an open call."""
    case = filtered((LEFT_OUT, {}))
    off, on = inner_types(case)
    kin, kout = kernel_types(case)
    case.E(1000, G, kind=off).L(1050, G, kind=on).E(1100, F, 0, kind=kin).L(1150, F, 0, kind=kout)
    return case.data(), [call(1000, 50, "g", type="on"), call(1100, 50, "f", type="kout")]


@good
def thread_outside():
    """OUTSIDE: in these ranges no call is left out."""
    case = filtered((LEFT_OUT, {}), (LEFT_OUT | OUTSIDE, {"since": 1000, "last": 1100}),
                    (LEFT_OUT | OUTSIDE, {"since": 1300, "last": 1300}))
    off, on = inner_types(case)
    for time in (1000, 1100, 1200, 1300):
        case.E(time, G, kind=off).L(time + 1, G, kind=on)
    return case.data(), [call(1200, 1, "g", type="on")]


@good
def thread_per_cpu():
    """THREAD with PER_CPU is that of the lane's CPU."""
    case = Case(w.PER_CPU, lane={"tid": 42, "cpu": 0}, head=w.head(flags=1))
    case.words.thread(case.lanes[0], 1 | HAS_LAST, last=1700)
    case.words.thread(case.lanes[0], HAS_LAST, last=1900)
    return case.E(1000).data(), [unfinished(1000, 700, cpu=0)]
