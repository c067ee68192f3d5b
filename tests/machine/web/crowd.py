"""crowd.py URL SHOTS PID - see crowd.sh; PID is pvm web's."""
import os
import sys
import time

from browser import VIEWS, Browser, end, machine_hosts, same_tasks

OWN = "pvm web (this page)"
WATCHED_S = 3


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(b, pid, view):
    """What the page and the server need while a view is watched."""
    b.show(view)
    before, updates, server_s = time.monotonic(), int(b.script("return document.body.dataset.updates")), cpu_s(pid)
    b.script("document.body.dataset.slowestMs = document.body.dataset.slowestDrawMs = 0")
    time.sleep(WATCHED_S)
    seconds = time.monotonic() - before
    rate = (int(b.script("return document.body.dataset.updates")) - updates) / seconds
    slowest = b.script("return document.body.dataset.slowestMs + ' ms, the slowest picture ' + document.body.dataset.slowestDrawMs")
    print(f"{view}: {rate:.1f} updates/s, the slowest took {slowest} ms; server: {(cpu_s(pid) - server_s) / seconds * 100:.0f} % of a core")
    if rate <= 0:
        b.fail(f"{view}: no updates come")


with Browser(sys.argv[1], sys.argv[2]) as browser:
    browser.eventually("hosts", lambda: len(browser.texts(".host:not(.gone) h3")), 64)
    browser.equal("their names", machine_hosts(), set(browser.texts(".host:not(.gone) h3")))
    browser.eventually("tasks", lambda: browser.script("return document.querySelectorAll('.tile:not(.ended)').length >= 1003"), True)
    browser.eventually("the whole ring lives", lambda: browser.script("return document.querySelectorAll('.tile.computing, .tile.receiving').length >= 900"), True)
    browser.show("tasks")
    browser.eventually("the tasks of ps -a", lambda: same_tasks(browser, OWN), True)
    browser.equal("their number", True, int(browser.one("#figure-tasks").text) >= 1003)
    browser.show("traffic")
    browser.eventually("pairs", lambda: "k pairs" in browser.one("#traffic-note").text, True)
    for name in VIEWS:
        browser.show(name)
        time.sleep(0.5)
        browser.shot("crowd-" + name)
    for name in ("machine", "tasks", "diagram", "traffic"):
        measure(browser, int(sys.argv[3]), name)
end(browser)
