"""What went wrong, from what the tasks and daemons have left behind."""
import re
import time

import barriers
import linear

SYSTEM_ERROR, NO_MEMORY, OUT_OF_RESOURCES = -14, -10, -27
ABOUT_LOSS_S = 25  # after the end of a nemesis, until which it may explain the loss of its host
ENOUGH = 3  # daemons killed, of which some must have been those of members of the machine
NEWS_S = 1  # in which the group server hears of a death after the load has


class Failure(Exception):
    pass


def _read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def events(lab):
    """(seconds, words) of each event that the load has printed."""
    found = []
    for line in _read(lab.base / "load.out").splitlines():
        if line.startswith("EVENT "):
            _, us, *words = line.split()
            found.append((float(us) / 1e6, words))
    return found


def journals(lab, name):
    """Of each task: (tid, [(begin_us, end_us or None, words of the call, words of the result or None)])."""
    for path in sorted((lab.base / "journals").glob(f"{name}.*")):
        calls, begun = [], None
        for line in _read(path).splitlines():
            kind, us, *words = line.split()
            if kind == "I":
                begun = (int(us), words)
            else:
                calls.append((begun[0], int(us), begun[1], words))
                begun = None
        if begun:
            calls.append((begun[0], None, begun[1], None))
        yield path.suffix[1:], calls


def mailbox(lab):
    names = {}
    for _, calls in journals(lab, "mailbox"):
        for begin, end, (op, name, *value), result in calls:
            call = linear.Call(begin, end, op, value[0] if value else None, result[0] if result else None)
            names.setdefault(name, []).append(call)
    for name, calls in sorted(names.items()):
        try:
            if not linear.is_linearizable(calls):
                text = "\n    ".join(map(repr, sorted(calls, key=lambda c: c.begin)))
                yield f"the calls of mailbox entry {name} have no order that explains them:\n    {text}"
        except linear.Undecided as why:
            yield f"the history of mailbox entry {name} is too hard: {why}"


def barrier(lab):
    deaths = {words[2]: at for at, words in events(lab) if words[0] == "died"}
    visits, count = [], 0
    for tid, calls in journals(lab, "barrier"):
        dead_us = (deaths.get(f"t{tid}", float("inf")) + NEWS_S) * 1e6
        for begin, end, words, result in calls:
            count = int(words[1])
            code = int(result[0]) if result else None
            if code is None or code == SYSTEM_ERROR:  # its daemon has died: as if the task had been killed
                end, code = dead_us, None
            visits.append(barriers.Visit(tid, begin, end, code))
    wrong = barriers.disagreement(visits, count) if visits else None
    if wrong:
        yield f"members do not agree on a barrier: {wrong}"


def _explains(begin, end, kind, limit_s):
    """Whether a nemesis may have cost its host. On a busy machine a short outage can end too late, and be a long one."""
    return kind.loses_host or ((kind.interrupts or kind.breaks_network) and end - begin >= limit_s)


def lost_hosts(lab, load):
    """Hosts that were lost, and no nemesis explains it."""
    for at, words in events(lab):
        if words[0] != "lost":
            continue
        host = words[1]
        about = [act for act in load.past if act[0] <= at <= act[1] + ABOUT_LOSS_S]
        if not any(h == host and _explains(begin, end, kind, load.host_timeout_s) for begin, end, kind, h in about):
            near = "; ".join(f"{kind.name} on {h} for {end - begin:.1f} s" for begin, end, kind, h in about)
            yield f"host {host} was lost at {at:.1f} s, which nothing should have cost (at work before: {near})"


def misses(lab, counts):
    """Nemeses that hit something else than the daemons would let every machine pass."""
    killed = counts.get("daemons killed", 0) + counts.get("masters killed", 0)
    if killed >= ENOUGH and not any(words[0] == "lost" for _, words in events(lab)):
        yield f"{killed} daemons were killed, but no host was lost: these were not the daemons"


def failed_checks(lab, load):
    lost = {words[1] for _, words in events(lab) if words[0] == "lost"}
    poor = any(kind.fails_calls for _, _, kind, _ in load.past)
    for host in [*lab.hosts, "load"]:
        for line in _read(lab.base / f"failed.{host}").splitlines():
            code = re.search(r"\(pvm_errno (-?\d+)\)$", line)
            code = int(code.group(1)) if code else 0
            if code == SYSTEM_ERROR and (host in lost or poor) and host != "load":
                continue
            if code in (NO_MEMORY, OUT_OF_RESOURCES) and poor:
                continue
            yield f"{host}: {line}"


def all_of(lab, load, counts):
    failures = [*misses(lab, counts), *failed_checks(lab, load), *lost_hosts(lab, load), *mailbox(lab), *barrier(lab)]
    for path in lab.base.glob("sanitizer*"):
        failures.append(f"a sanitizer reports: {_read(path)[:2000]}")
    return failures


def _where(pid):
    """The state of a process, and the kernel function in which it sleeps."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            state = next((line.split()[1] for line in status if line.startswith("State:")), "?")
        with open(f"/proc/{pid}/wchan", encoding="ascii") as wchan:
            return f"{state} in {wchan.read() or '?'}"
    except OSError:
        return "gone"


def processes(lab):
    return "; ".join(f"{host} {p.pid} {' '.join(p.arguments)[:60]} ({_where(p.pid)})"
                     for host in lab.hosts for p in lab.processes(host))


def left_behind(lab):
    """Processes and files after the machine's end."""
    end = time.monotonic() + 15
    left = None
    while left is None or (left and time.monotonic() < end):
        time.sleep(0.1)
        left = [f"{host}: process {p.pid} {' '.join(p.arguments)[:80]}" for host in lab.hosts
                for p in lab.processes(host)
                if p.exe.rpartition("/")[2] in ("pvmd3", "load", "pvmgs", "pvm")]
    for host in lab.hosts:
        for name in lab.on(host, "ls", "/tmp", check=False).split():
            if name.startswith(("pvmd.", "pvmtmp")):
                left.append(f"{host}: file /tmp/{name}")
    return [f"left behind: {what}" for what in left]


def stuck(lab, options):
    """Where the load's tasks are when it does not come to its end."""
    lines = [f"{host} {role} {pid} ({_where(pid)})"
             for host in lab.hosts for pid, role in lab.tasks(host, options.load)]
    return ["still there: " + ", ".join(lines)] if lines else []


def summary(lab, counts):
    lines = _read(lab.base / "load.out").splitlines()
    totals = next((line for line in lines if line.startswith("TOTALS")), "no totals")
    calls = sum(len(c) for _, c in journals(lab, "mailbox"))
    passed = sum(r is not None and int(r[0]) >= 0 for _, c in journals(lab, "barrier") for *_, r in c)
    return (f"{totals}; {calls} calls of the mailbox, {passed} barriers passed; "
            + ", ".join(f"{n} {what}" for what, n in counts.items()))
