"""What can go wrong on one host, for a while: each nemesis begins and ends something.

The attributes say what it may cost. A host that is lost, or a task that fails, without a nemesis that may cost it, is a
failure of the run.
"""
import os
import resource
import signal
import struct
import sys
import time

from lab import Lab

TABLE = {}


class Nemesis:
    name = ""
    about = ""
    loses_host = False  # the host may leave the machine
    silences = False  # one at a time: a master that hears nothing from half of the hosts ends
    fails_calls = False  # calls may fail for want of memory or descriptors
    spares_first = False  # not on the load's own host
    interrupts = False  # its host is silent meanwhile
    breaks_network = False  # one at a time, with a rest after it: several short outages in a row are a long one
    rest_s = 3  # after it, before the next one: TCP repeats what was lost
    seconds = (0.3, 1.5)  # it lasts

    def __init__(self, lab: Lab, load, counts):
        self.lab, self.load, self.counts = lab, load, counts

    def usable(self):
        """Why it cannot be used here, or None."""

    @classmethod
    def is_long(cls):
        """A host that joins again while it lasts may be lost by it once more."""
        return cls.seconds[1] > 1

    def begin(self, host, rng):
        raise NotImplementedError

    def end(self, host):
        pass

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    @staticmethod
    def signal(pid, number):
        """False if the process has just ended."""
        try:
            os.kill(pid, number)
            return True
        except ProcessLookupError:
            return False

    def signal_daemon(self, host, number):
        return [pid for pid in self.lab.daemons(host) if self.signal(pid, number)]


def nemesis(cls):
    TABLE[cls.name] = cls
    return cls


# ---- processes ----


@nemesis
class KillTask(Nemesis):
    name, about = "kill-task", "SIGKILL to one or two tasks"
    seconds = (0, 0.2)

    def begin(self, host, rng):
        tasks = self.lab.tasks(host, self.load)
        for pid, _ in rng.sample(tasks, min(len(tasks), rng.randint(1, 2))):
            self.count("tasks killed", self.signal(pid, signal.SIGKILL))


@nemesis
class StopTask(Nemesis):
    name, about = "stop-task", "SIGSTOP to half of the tasks, and SIGCONT"

    def begin(self, host, rng):
        tasks = self.lab.tasks(host, self.load)
        self.stopped = [pid for pid, _ in rng.sample(tasks, len(tasks) // 2)]
        for pid in self.stopped:
            self.count("tasks stopped", self.signal(pid, signal.SIGSTOP))

    def end(self, host):
        alive = {pid for pid, _ in self.lab.tasks(host, self.load)}
        for pid in alive.intersection(self.stopped):
            self.signal(pid, signal.SIGCONT)


@nemesis
class KillDaemon(Nemesis):
    name, about = "kill-daemon", "SIGKILL to the daemon; it is added again"
    loses_host, spares_first, seconds = True, True, (0, 0.2)
    counted = "daemons killed"

    def begin(self, host, rng):
        self.load.killed.update(self.lab.daemons(host))  # before: the watch must not find one that is gone
        killed = self.signal_daemon(host, signal.SIGKILL)
        self.count(self.counted, len(killed))


@nemesis
class TermDaemon(KillDaemon):
    name, about = "term-daemon", "SIGTERM to the daemon, whose host leaves; it is added again"

    def begin(self, host, rng):
        self.count("daemons ended by SIGTERM", len(self.signal_daemon(host, signal.SIGTERM)))


@nemesis
class KillMaster(KillDaemon):
    """The machine starts on the last host then. The load's host must not become the master, since it is not to be killed:
    it is cut off from before the kill, so that it misses changes, until the others have elected one of them."""
    name, about = "kill-master", "SIGKILL to the daemon of the host that is the master"
    counted = "masters killed"
    breaks_network, rest_s, seconds = True, 1, (1.2, 1.8)
    rules = ("add table inet election; add chain inet election in { type filter hook input priority 0; };"
             "add chain inet election out { type filter hook output priority 0; };"
             "add rule inet election in iifname eth0 drop; add rule inet election out oifname eth0 drop")

    def begin(self, host, rng):
        self.lab.on(self.lab.hosts[0], "nft", self.rules)
        time.sleep(0.1)
        super().begin(host, rng)

    def end(self, host):
        self.lab.on(self.lab.hosts[0], "nft", "delete table inet election")

    def usable(self):
        return None if len(self.lab.hosts) >= 3 else "it takes three hosts, of which two elect another master"


@nemesis
class StopDaemon(Nemesis):
    name, about = "stop-daemon", "SIGSTOP to the daemon for less than PVM_HOST_TIMEOUT, and SIGCONT"
    interrupts, seconds = True, (0.2, 2.0)

    def begin(self, host, rng):
        self.count("daemons stopped", len(self.signal_daemon(host, signal.SIGSTOP)))

    def end(self, host):
        self.signal_daemon(host, signal.SIGCONT)


@nemesis
class FreezeDaemon(StopDaemon):
    name, about = "freeze-daemon", "SIGSTOP for longer than PVM_HOST_TIMEOUT: the host is declared dead"
    loses_host, spares_first, silences, seconds = True, True, True, (9.0, 12.0)


@nemesis
class Leave(Nemesis):
    name, about = "leave", "the host is deleted from the machine, as by the console; it is added again"
    loses_host, spares_first, seconds = True, True, (0, 0.2)

    def begin(self, host, rng):
        self.load.console_later(f"delete {host}")  # it waits if the first host's daemon is stopped
        self.count("deletions of hosts asked for")


@nemesis
class Failpoint(KillDaemon):
    """The daemon is killed; its next one crashes, errs or is slow at a step of PVM_FAULT."""
    name, about = "failpoint", "the daemon is killed, and the next one has a random failpoint"
    seconds = (3.0, 6.0)
    crashes = ("link.connect", "link.verdict", "link.tls", "link.hello", "link.write", "link.read", "door.judge",
               "host.rows", "host.up", "task.start", "task.enrol", "task.end", "notify.add", "notify.send",
               "address.place")

    def begin(self, host, rng):
        step, done = rng.choice(self.crashes), rng.choice(["", ".done"])
        busy = step in ("link.write", "link.read")
        action = rng.choice([f"crash/{rng.randint(1, 400 if busy else 6)}",
                             f"delay:{rng.randint(1, 400)}ms/{rng.randint(1, 9)}"])
        self.lab.extra[host]["PVM_FAULT"] = f"{step}{done}={action}"
        self.lab.write_wrapper(host)
        super().begin(host, rng)
        self.count("daemons with a failpoint")

    def end(self, host):
        self.lab.extra[host].pop("PVM_FAULT", None)
        self.lab.write_wrapper(host)


# ---- the network ----


@nemesis
class Cut(Nemesis):
    name, about = "cut", "the cable is pulled for less than PVM_HOST_TIMEOUT"
    breaks_network = True
    seconds = (0.2, 2.5)

    def begin(self, host, rng):
        self.lab.netlab("cut", host)
        self.count("cables pulled")

    def end(self, host):
        self.lab.netlab("join", host)


@nemesis
class LongCut(Cut):
    name, about = "long-cut", "the cable is pulled for longer than PVM_HOST_TIMEOUT"
    loses_host, spares_first, silences, seconds = True, True, True, (9.0, 12.0)


@nemesis
class OneWay(Nemesis):
    name, about = "one-way", "all frames to the host, or all from it, are lost for a moment"
    breaks_network = True
    seconds = (0.2, 2.0)

    def begin(self, host, rng):
        self.lab.netlab("impair", host, "loss=100", f"dir={rng.choice(['in', 'out'])}")
        self.count("one-way outages")

    def end(self, host):
        self.lab.netlab("heal", host)


@nemesis
class Loss(OneWay):
    name, about = "loss", "5 to 20 percent of the frames are lost, some doubled"

    def begin(self, host, rng):
        self.lab.netlab("impair", host, f"loss={rng.randint(5, 20)}", "dup=2")
        self.count("times of loss")


@nemesis
class Reset(Nemesis):
    name, about = "reset", "TCP connections to the host (not ssh's) are reset"
    breaks_network = True
    seconds = (0.1, 0.4)
    rules = ("add table inet nemesis; add chain inet nemesis in { type filter hook input priority 0; };"
             "add rule inet nemesis in iifname eth0 tcp dport != 22 tcp sport != 22 tcp flags & (syn | rst) == 0 "
             "reject with tcp reset")

    def begin(self, host, rng):
        self.lab.on(host, "nft", self.rules)
        self.count("times of resets")

    def end(self, host):
        self.lab.on(host, "nft", "delete table inet nemesis")


# What the cable copies must have whole checksums and be no larger than the MTU: tx, tso, gso and gro off (SIOCETHTOOL).
NO_OFFLOAD = """
import array, fcntl, socket, struct
s = socket.socket()
for command in (0x17, 0x1f, 0x24, 0x2c):
    value = array.array("I", [command, 0])
    fcntl.ioctl(s, 0x8946, struct.pack("16sQ16x", b"eth0", value.buffer_info()[0]))
"""


@nemesis
class Delay(Nemesis):
    name, about = "delay", "frames take 5 to 60 ms more, with jitter, and some are overtaken"
    breaks_network = True
    seconds = (0.5, 3.0)

    def usable(self):
        return None if self.load.cable else "the program cable is not built"

    def begin(self, host, rng):
        self.lab.on(host, sys.executable, "-c", NO_OFFLOAD)
        delay = rng.randint(5, 60) * 1000
        self.lab.netlab("spoil", host, "eth0", self.load.cable, f"delay={delay}", f"jitter={delay // 4}", "reorder=1")
        self.count("times of delay")

    def end(self, host):
        self.lab.netlab("mend", host, "eth0")


# ---- resources ----


@nemesis
class FullDisk(Nemesis):
    name, about = "full-disk", "PVM_TMP is full"
    seconds = (0.5, 4.0)

    def begin(self, host, rng):
        self.lab.on(host, "sh", "-c", "cat /dev/zero >/tmp/full 2>/dev/null; :")
        self.count("times of a full disk")

    def end(self, host):
        self.lab.on(host, "rm", "-f", "/tmp/full")


class Limit(Nemesis):
    fails_calls = True

    def begin(self, host, rng):
        self.limited = self.lab.daemons(host)
        for pid in self.limited:
            try:
                low = self.low(pid)
                self.old = resource.prlimit(pid, self.which)
                resource.prlimit(pid, self.which, (min(low, self.old[1]) if self.old[1] >= 0 else low, self.old[1]))
                self.count(self.counted)
            except OSError:
                continue  # it has ended

    def end(self, host):
        for pid in set(self.limited).intersection(self.lab.daemons(host)):
            try:
                resource.prlimit(pid, self.which, self.old)
            except ProcessLookupError:
                continue


@nemesis
class NoDescriptors(Limit):
    name, about = "no-descriptors", "the daemon can open no further descriptors"
    which, counted = resource.RLIMIT_NOFILE, "times without descriptors"

    def low(self, pid):
        return max(int(fd) for fd in os.listdir(f"/proc/{pid}/fd")) + 1


@nemesis
class NoMemory(Limit):
    name, about = "no-memory", "the daemon gets no further memory from the system"
    which, counted = resource.RLIMIT_AS, "times without memory"

    def usable(self):
        return "a sanitizer ends the process that gets no memory" if self.load.options.sanitized else None

    def low(self, pid):
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()


@nemesis
class Clock(Nemesis):
    name, about = "clock", "the wall clock of daemon and tasks steps by up to a week, either way, and back"

    def usable(self):
        return None if self.load.wallclock else "sanitizers do not let it be preloaded, or wallclock.so is not built"

    def set(self, host, seconds):
        with open(self.lab.base / f"{host}.clock", "r+b") as clock:
            clock.write(struct.pack("=q", int(seconds * 1e6)))

    def begin(self, host, rng):
        self.set(host, rng.choice([-1, 1]) * rng.choice([0.5, 60, 7200, 7 * 86400]))
        self.count("clock steps")

    def end(self, host):
        self.set(host, 0)
