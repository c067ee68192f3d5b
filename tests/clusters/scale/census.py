#!/usr/bin/python3
"""census.py - what the daemons of one machine take.

    census.py PVM_TMP MASTER_PID        prints "NAME VALUE" lines
    census.py --all PVM_TMP             prints daemons, doormen and sweepers as PID:START
    census.py --left PID:START...       prints the process numbers of those that still run

A daemon or sweeper is found by PVM_TMP in its environment; a doorman is a daemon's child. START, in clock ticks since
the computer started, tells a process from a later one with its number.
"""
import os
import sys

ROLES = {"pvmd3": "daemon", "pvmd3-doorman": "doorman", "pvm-sweeper": "sweeper"}


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def processes(tmp):
    """The process numbers of each role."""
    found = {role: [] for role in ROLES.values()}
    others = []
    needle = ("PVM_TMP=%s\0" % tmp).encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        role = ROLES.get(read("/proc/%s/comm" % name).decode(errors="replace").strip())
        if not role:
            continue
        if needle in read("/proc/%s/environ" % name):
            found[role].append(int(name))
        elif role == "doorman":
            others.append(int(name))
    daemons = set(found["daemon"])
    for pid in others:  # its environment is empty
        if parent(pid) in daemons:
            found["doorman"].append(pid)
    return found


def stat(pid):
    return read("/proc/%d/stat" % pid).decode(errors="replace").rpartition(")")[2].split()


def parent(pid):
    fields = stat(pid)
    return int(fields[1]) if fields else 0


def start_of(pid):
    fields = stat(pid)
    return fields[19] if fields and fields[0] != "Z" else ""


def cpu_s(pid):
    """To the nanosecond: most processes have less than one tick."""
    fields = read("/proc/%d/schedstat" % pid).split()
    return int(fields[0]) / 1e9 if fields else 0.0


def memory_kib(pid):
    """Proportional and resident memory."""
    values = dict(line.split()[:2] for line in read("/proc/%d/smaps_rollup" % pid).decode().splitlines()[1:])
    return int(values.get("Pss:", 0)), int(values.get("Rss:", 0))


def established():
    """Inodes of established TCP connections."""
    lines = (read("/proc/net/tcp") + read("/proc/net/tcp6")).decode().splitlines()
    return {fields[9] for fields in map(str.split, lines) if len(fields) > 9 and fields[3] == "01"}


def descriptors(pid):
    try:
        names = os.listdir("/proc/%d/fd" % pid)
    except OSError:
        return []
    links = []
    for name in names:
        try:
            links.append(os.readlink("/proc/%d/fd/%s" % (pid, name)))
        except OSError:
            pass
    return links


def link_count(links, connections):
    return sum(link.startswith("socket:[") and link[8:-1] in connections for link in links)


def say(name, value):
    print("%s %s" % (name, "%.2f" % value if isinstance(value, float) else value))


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--left":
        print(*(each.split(":")[0] for each in arguments[1:] if start_of(int(each.split(":")[0])) == each.split(":")[1]))
        return
    if arguments[0] == "--all":
        print(*("%d:%s" % (pid, start_of(pid)) for pid in sum(processes(arguments[1]).values(), [])))
        return
    tmp, master = arguments[0], int(arguments[1])
    found = processes(tmp)
    for role, pids in found.items():
        say(role + "s", len(pids))
        memory = [memory_kib(pid) for pid in pids if pid != master] or [(0, 0)]
        say(role + "_pss_kib", sum(m[0] for m in memory) / len(memory))
        say(role + "_rss_kib", sum(m[1] for m in memory) / len(memory))
    say("cpu_s", sum(cpu_s(pid) for pids in found.values() for pid in pids))
    say("master_cpu_s", cpu_s(master))
    say("master_pss_kib", memory_kib(master)[0])
    connections = established()
    open_files = {pid: descriptors(pid) for pid in found["daemon"]}
    slaves = [pid for pid in found["daemon"] if pid != master] or [master]
    links = [link_count(open_files[pid], connections) for pid in slaves]
    say("master_descriptors", len(open_files.get(master, [])))
    say("master_links", link_count(open_files.get(master, []), connections))
    say("slave_descriptors", max(len(open_files[pid]) for pid in slaves))
    say("slave_links", sum(links) / len(links))
    say("slave_links_max", max(links))


if __name__ == "__main__":
    main()
