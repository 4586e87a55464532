#!/usr/bin/env python3
"""Two ranks of Open MPI with a slow link between them: sudo bench/ranks/link.py [--rate MBIT/S] [--delay MS] [--loss PERCENT] -- PROGRAM ARGUMENT...

Each rank runs in a network namespace of its own; the only way between the two is a pair of tunnel interfaces, whose packets this
process passes on: as many bits per second as `--rate` says, `--delay` later, without those that are lost. Linux, root, iproute2. Both
ranks share the machine's cores with this process, which takes some of one at high rates: keep below 1000 Mbit/s.
"""
import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

NAMES = ("sextant-link-0", "sextant-link-1")
ADDRESSES = ("10.93.0.1", "10.93.0.2")
MTU = 9000
QUEUE_SECONDS = 0.1  # what waits longer for the link is dropped, as a switch does
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    if LIBC.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        sys.exit(f"link: cannot enter {namespace.name}: {os.strerror(ctypes.get_errno())}")


def tunnel(name):
    """A tunnel interface of a namespace: what is written to it arrives there, what is sent there can be read."""
    with open("/proc/self/ns/net") as ours, open(f"/run/netns/{name}") as theirs:
        enter(theirs)
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22s", b"wire", IFF_TUN | IFF_NO_PI, b""))
        enter(ours)
    return fd


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def open_link():
    ends = []
    for name, mine, other in zip(NAMES, ADDRESSES, reversed(ADDRESSES)):
        ip("netns", "add", name)
        ends.append(tunnel(name))
        ip("-n", name, "addr", "add", mine, "peer", other, "dev", "wire")
        ip("-n", name, "link", "set", "dev", "wire", "mtu", str(MTU), "up")
        ip("-n", name, "link", "set", "dev", "lo", "up")
    return ends


def close_link():
    for name in NAMES:
        subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)


class Direction:
    """One way of the link: packets leave one after the other at its rate."""

    def __init__(self, given, to):
        self.given, self.to, self.free_at = given, to, 0.0

    def take(self, packet, now, underway):
        leaves = max(now, self.free_at) + len(packet) * 8 / (self.given.rate * 1e6)
        if leaves - now > QUEUE_SECONDS or random.random() * 100 < self.given.loss:
            return
        self.free_at = leaves
        heapq.heappush(underway, (leaves + self.given.delay / 1e3, next(self.given.numbers), self.to, packet))


def carry(ends, given, running):
    ways = {ends[0]: Direction(given, ends[1]), ends[1]: Direction(given, ends[0])}
    underway = []
    while running.poll() is None:
        wait = 0.05 if not underway else max(0.0, min(0.05, underway[0][0] - time.monotonic()))
        for end in select.select(ends, [], [], wait)[0]:
            try:
                ways[end].take(os.read(end, MTU + 100), time.monotonic(), underway)
            except BlockingIOError:
                pass
        now = time.monotonic()
        while underway and underway[0][0] <= now:
            _, _, to, packet = heapq.heappop(underway)
            try:
                os.write(to, packet)
            except OSError:
                pass  # full, or gone: lost


def within(name, address, command):
    """A command in a namespace, under a host name of its own, by which Open MPI tells machines apart."""
    return ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", f'hostname {address.replace(".", "-")}; exec {command}']


def main():
    if sys.argv[1:2] == ["--start"]:  # as Open MPI's remote shell: ADDRESS COMMAND..., on the other end
        os.execvp("ip", within(NAMES[1], ADDRESSES[1], " ".join(sys.argv[3:])))
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--rate", type=float, default=100, help="Mbit/s each way")
    words.add_argument("--delay", type=float, default=0, help="ms, one way")
    words.add_argument("--loss", type=float, default=0, help="percent of packets")
    words.add_argument("program", nargs=argparse.REMAINDER)
    given = words.parse_args()
    given.numbers = iter(range(1 << 62))
    command = [word for word in given.program if word != "--"]
    close_link()
    try:
        ends = open_link()
        shell = os.path.abspath(__file__)
        launcher = ["mpirun", "--allow-run-as-root", "-n", "2", "--host", ",".join(ADDRESSES), "--bind-to", "none",
                    "--mca", "plm_rsh_agent", f"{shell} --start", "--mca", "btl", "tcp,self", "--mca", "pml", "ob1",
                    "--mca", "btl_tcp_if_include", "wire", "--mca", "oob_tcp_if_include", "wire", "-x", "OMP_NUM_THREADS=1", *command]
        running = subprocess.Popen(within(NAMES[0], ADDRESSES[0], " ".join(f"'{word}'" for word in launcher)))
        carry(ends, given, running)
        return running.returncode
    finally:
        close_link()


if __name__ == "__main__":
    sys.exit(main())
