# The program of the recordings beside it: cProfile of Python 2.7, 3.6, 3.13; profile.prof is of profile.
# 2.7.expect, 2.7.callers: t/tools/pstats_sums.py with Python 2.7. table.txt: pstats of 3.11 for 3.13.prof.
import sys


class Store:
    def __init__(self):
        self.items = []

    def add(self, n):
        self.items.append(n)


class Cache:
    def __init__(self):
        self.store = Store()


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def fill(cache):
    for n in sorted(range(200), key=lambda x: -x):
        cache.store.add(fib(n % 9))
    return even(100)


def main():
    cache = Cache()
    for _ in range(3):
        fill(cache)
    return len(cache.store.items) + fib(12)


sys.exit(0 if main() else 1)
