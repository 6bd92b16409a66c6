#!/usr/bin/env python3
"""Run two programs of BPF, first_prog and second_prog, for some time each: bpf_programs.py SECONDS

They filter the datagrams of a socket. Exit status 77: the kernel does not let this user, or does not compile them.
"""
import ctypes
import socket
import struct
import sys
import time

BPF, PROG_LOAD, SOCKET_FILTER, ATTACH = 321, 5, 1, 50  # system call of x86_64
MULTIPLICATIONS = 1500


def instruction(code, value):
    return struct.pack("<BBhi", code, 0, 0, value)


def load(name):
    code = instruction(0xb7, 1)
    code += (instruction(0x27, 3) + instruction(0x07, 7)) * MULTIPLICATIONS
    code += instruction(0x95, 0)
    memory, licence = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"MIT")
    attributes = struct.pack("<IIQQIIQII16s", SOCKET_FILTER, len(code) // 8, ctypes.addressof(memory),
                             ctypes.addressof(licence), 0, 0, 0, 0, 0, name) + bytes(64)
    program = ctypes.CDLL(None).syscall(BPF, PROG_LOAD, attributes, len(attributes) - 64)
    if program < 0:
        sys.exit(77)
    return program


def filter_datagrams(program, seconds):
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, ATTACH, program)
    end = time.time() + seconds
    while time.time() < end:
        for _ in range(100):
            sender.send(b"x")
            receiver.recv(100)


def main(seconds):
    with open("/proc/sys/net/core/bpf_jit_enable", encoding="ascii") as file:
        if file.read().strip() == "0":
            sys.exit(77)
    for program in [load(b"first_prog"), load(b"second_prog")]:
        filter_datagrams(program, seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]))
