"""Shells on the hosts of the stage, which run the commands of a document one after the other."""
import os
import re
import shlex
import subprocess
import time
from pathlib import Path

PROMPTS = re.compile(r"^([a-z0-9]*> )+", re.M)
SET_STATUS = "document_status() { return $1; }\n"  # for `$?`


class TimedOut(Exception):
    pass


class Shell:
    """A bash on one host. Each command's output goes to a file, so that what it leaves in the background holds nothing."""

    def __init__(self, enter, folder, environment, limit_s, start):
        self.folder, self.limit_s, self.status, self.count = folder, limit_s, 0, 0
        reader, writer = os.pipe()
        self.process = subprocess.Popen([*enter, "bash", "--norc"], stdin=subprocess.PIPE, pass_fds=[writer], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        os.set_blocking(reader, False)
        self.reader, self.writer, self.ended = reader, writer, b""
        self.tell(SET_STATUS + start + "\n")

    def tell(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        os.close(self.reader)

    def start(self, text, has_input):
        """Starts a command; returns the files of its output and, if it HAS_INPUT, of its input."""
        self.count += 1
        output = self.folder / f"output-{id(self)}-{self.count}"
        source = self.folder / f"input-{id(self)}-{self.count}" if has_input else Path("/dev/null")
        if has_input:
            os.mkfifo(source)
        self.tell(f"document_status {self.status}; eval {shlex.quote(text)} <{source} >{output} 2>&1; "
                  f"echo $? >&{self.writer}\n")
        return output, source

    def ask_status(self):
        """The exit status of the command, once it has ended; else None."""
        try:
            self.ended += os.read(self.reader, 100)
        except BlockingIOError:
            pass
        if b"\n" not in self.ended:
            return None
        status, _, self.ended = self.ended.partition(b"\n")
        self.status = int(status)
        return self.status

    def wait(self, condition, what):
        """Waits until the condition is not None, and returns it."""
        until = time.monotonic() + self.limit_s
        while time.monotonic() < until:
            value = condition()
            if value is not None:
                return value
            if self.process.poll() is not None:
                raise TimedOut("the shell has ended")
            time.sleep(0.01)
        raise TimedOut(f"after {self.limit_s} s it {what()}")

    def run(self, text, typed=(), complete=lambda shown, text: True, first=()):
        """Runs a command, and types lines into it, each when what must come before it has been printed. Returns its status
        and its output."""
        output, source = self.start(text, bool(typed))
        if typed:
            with open(source, "w") as keyboard:
                self.wait(lambda: True if output.exists() else None, lambda: "has not begun")
                expected = list(first)  # shown before the first line is typed
                for line, shown in typed:
                    expected += [line, *shown]
                    keyboard.write(line + "\n")
                    keyboard.flush()
                    self.wait(lambda: True if not shown or complete(expected, self.text_of(output)) else None,
                              lambda: f"has not printed what is shown, but: {self.text_of(output)}")
        status = self.wait(self.ask_status, lambda: f"still runs; its output: {self.text_of(output)}")
        return status, output

    @staticmethod
    def text_of(output):
        return PROMPTS.sub("", output.read_text(errors="replace")) if output.exists() else ""
