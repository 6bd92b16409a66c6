# Write marks of atrace to trace_marker: two threads that move between the CPUs.
import os, sys, threading, time
fd = os.open('/sys/kernel/tracing/trace_marker', os.O_WRONLY)
pid = os.getpid()
rounds = int(sys.argv[1])

def w(text):
    os.write(fd, text.encode())

def work(k):
    for i in range(rounds):
        os.sched_setaffinity(0, {(i + k) % 2})
        w(f"B|{pid}|outer {k}\n")
        w(f"C|{pid}|queue|{i - 1}")
        w(f"B|{pid}|inner|x=1;y=two|cat")
        os.sched_setaffinity(0, {(i + k + 1) % 2})
        w(f"S|{pid}|load|{k * 1000 + i}")
        w(f"E|{pid}\n")
        w(f"I|{pid}|tick")
        w(f"B|1|for another process|with a bar")
        w(f"E|1")
        w(f"E|{pid}")
        w(f"F|{pid}|load|{k * 1000 + i}\n")

w(f"E|{pid}")
w(f"F|{pid}|before|5")
w("plain text, no mark\n")
w("B|not a mark")
w("two\nlines\n")
threads = [threading.Thread(target=work, args=(k,), name=f"t{k}") for k in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
w(f"G|{pid}|track a|job|7")
w(f"N|{pid}|track a|note")
w(f"H|{pid}|track a|7")
w(f"S|{pid}|unfinished|5")
w(f"B|{pid}|open at the end")
