"""Hosts made of namespaces (tests/lab/netlab), and the daemons and tasks on them.

Only processes in namespaces of this lab are ever signalled, by their process id.
"""
import os
import pathlib
import subprocess
import tempfile

NETLAB = pathlib.Path(__file__).resolve().parent.parent / "lab" / "netlab"


class Process:
    def __init__(self, pid, exe, arguments):
        self.pid, self.exe, self.arguments = pid, exe, arguments


class Lab:
    def __init__(self, count, settings):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="dpvm-nemesis.", dir="/tmp"))
        self.base.chmod(0o755)
        self.name = f"nem{os.getpid()}"
        self.hosts = [f"h{n}" for n in range(1, count + 1)]
        self.settings = settings  # of all daemons: {name: value}
        self.extra = {host: {} for host in self.hosts}  # of one host's daemon, for its next start
        self.seen = []  # folders below /tmp that the hosts see, besides that of the lab
        self.programs = {}  # the daemon's program of each host
        self._namespaces = {}

    # ---- the network ----

    def netlab(self, *words, check=True):
        environment = dict(os.environ, NETLAB_DIR=str(self.base))
        return subprocess.run([NETLAB, "-l", self.name, *words], env=environment, check=check, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300).stdout

    def why_not(self):
        """Why this machine cannot make a lab, or None. Ends the program if a tool is missing."""
        environment = dict(os.environ, NETLAB_DIR=str(self.base))
        done = subprocess.run([NETLAB, "-l", self.name, "check"], env=environment, text=True, capture_output=True)
        why = (done.stderr or done.stdout).strip()
        if done.returncode not in (0, 77):
            raise SystemExit(why)
        return why if done.returncode else None

    def up(self):
        seen = [word for folder in (self.base, *self.seen) for word in ("-b", str(folder))]
        self.netlab("up", "-n", str(len(self.hosts)), *seen)
        for host in self.hosts:
            pid = (self.base / f"netlab-{self.name}" / f"{host}.pid").read_text().strip()
            self._namespaces[host] = (pid, os.stat(f"/proc/{pid}/ns/pid").st_ino)
            self.on(host, "mount", "-o", "remount,size=16m", "/tmp")
            self.write_wrapper(host)

    def down(self):
        self.netlab("down", check=False)

    # ---- programs on hosts ----

    def command(self, host, *words):
        pid = self._namespaces[host][0]
        return ["nsenter", "-t", pid, "--net", "--uts", "--ipc", "--pid", "--mount", "--", *map(str, words)]

    def on(self, host, *words, check=True, timeout=60):
        return subprocess.run(self.command(host, *words), check=check, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout).stdout

    def write_wrapper(self, host):
        """The daemon's start on each host: `pvmd3` in the lab's folder, which all hosts see, reads HOST.env."""
        wrapper = self.base / "pvmd3"
        if not wrapper.exists():
            wrapper.write_text(f'#!/bin/sh\n. {self.base}/$(uname -n).env\nexec "$DAEMON" "$@"\n')
            wrapper.chmod(0o755)
        lines = {**self.settings, **self.extra[host], "DAEMON": self.programs[host],
                 "CHECK_FAILED": str(self.base / f"failed.{host}")}
        text = "".join(f"export {name}='{value}'\n" for name, value in lines.items())
        new = self.base / f"{host}.env.new"
        new.write_text(text)
        new.rename(self.base / f"{host}.env")

    # ---- processes ----

    def describe_programs(self):
        """What runs dpvm's programs, a line each: host, pid, parent, name, state, where in the kernel, arguments."""
        lines = []
        for host, processes in self.scan().items():
            for p in processes:
                if p.exe != os.path.realpath(self.programs[host]):
                    continue
                try:
                    state = pathlib.Path(f"/proc/{p.pid}/stat").read_text().rpartition(")")[2].split()[0]
                    where = pathlib.Path(f"/proc/{p.pid}/wchan").read_text()
                except OSError:
                    continue  # it has ended
                lines.append(f"{host} {p.pid} {self._parent(p.pid)} {self._name(p.pid)} {state} {where} {p.arguments}")
        return "\n".join(lines)

    def scan(self):
        """The processes of each host."""
        hosts = {inode: host for host, (_, inode) in self._namespaces.items()}
        found = {host: [] for host in self.hosts}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                host = hosts.get(os.stat(f"/proc/{entry}/ns/pid").st_ino)
                if not host:
                    continue
                arguments = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().decode(errors="replace").split("\0")
                found[host].append(Process(int(entry), os.readlink(f"/proc/{entry}/exe"), arguments[:-1]))
            except OSError:
                continue  # it has ended
        return {host: sorted(of_host, key=lambda p: p.pid) for host, of_host in found.items()}

    def processes(self, host):
        return self.scan()[host]

    @staticmethod
    def _parent(pid):
        try:
            return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return 0  # it has ended

    @staticmethod
    def _name(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text().rstrip()
        except OSError:
            return ""  # it has ended

    def daemons(self, host, serving=False, processes=None):
        """Pids of daemons: not the doormen and sweepers, and not what waits for a daemon that starts. serving: only those
        that have come far enough to have a doorman, and therefore a log."""
        program = os.path.realpath(self.programs[host])
        ours = [p for p in processes or self.processes(host) if p.exe == program and self._name(p.pid) != "pvm-sweeper"]
        doormen = {self._parent(p.pid) for p in ours if "-D" in p.arguments}
        rest = [p.pid for p in ours if "-D" not in p.arguments]
        parents = {self._parent(pid) for pid in rest}
        return [pid for pid in rest if pid not in parents and (not serving or pid in doormen)]

    def tasks(self, host, program):
        """Pids of the load's tasks, by role."""
        program = os.path.realpath(program)
        return [(p.pid, p.arguments[1]) for p in self.processes(host)
                if p.exe == program and len(p.arguments) > 1 and p.arguments[1] in ("worker", "clerk", "member")]

    def daemon_log(self, host):
        """All that is left of the logs of this host's daemons."""
        return self.on(host, "sh", "-c", "cat /tmp/pvml.*.old /tmp/pvml.*[0-9] 2>/dev/null", check=False)
