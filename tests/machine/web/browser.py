"""browser.py - Chromium for the tests of pvm web, and what they read from the page."""
import os
import re
import subprocess
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

LIMIT_S = 120  # of any wait; a busy machine is slow
VIEWS = ["machine", "tasks", "diagram", "traffic", "output", "mailbox", "groups"]


class Browser:
    """A headless Chromium that shows the page at `url`. `shots` is the folder for pictures."""

    def __init__(self, url, shots, size="1400,900"):
        options = Options()
        profile = os.path.join(os.environ["HOME"], "chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--disable-background-networking", "--user-data-dir=" + profile, "--window-size=" + size):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.shots, self.bad = shots, False
        os.makedirs(shots, exist_ok=True)
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        try:
            self.driver.get(url)
        except BaseException:
            self.driver.quit()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind:
            self.shot("failure")
        for line in self.driver.get_log("browser"):
            if line["level"] == "SEVERE" and not self.expected(line["message"]):
                self.fail("the browser complains: " + line["message"])
        self.driver.quit()
        return False

    @staticmethod
    def expected(message):
        """The stream breaks when pvm web ends."""
        return "ERR_CONNECTION_REFUSED" in message or "ERR_INCOMPLETE_CHUNKED" in message or "ERR_EMPTY" in message

    def fail(self, text):
        print(text)
        self.bad = True

    def equal(self, what, wanted, got):
        if wanted != got:
            self.fail(f"{what}: expected {wanted!r}, not {got!r}")

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def show(self, view):
        self.one("#tab-" + view).click()
        self.equal("the view that is shown", view, self.script("return document.querySelector('section:not([hidden])').id"))

    def shot(self, name):
        self.driver.save_screenshot(os.path.join(self.shots, name + ".png"))

    def texts(self, selector):
        """The texts of all these elements, as the page shows them."""
        return self.script("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector)

    def eventually(self, what, get, wanted):
        """Waits until get() returns `wanted`, or something true if `wanted` is None."""
        end = time.monotonic() + LIMIT_S
        got = get()
        while (not got if wanted is None else got != wanted) and time.monotonic() < end:
            time.sleep(0.1)
            got = get()
        if not got if wanted is None else got != wanted:
            self.fail(f"{what}: expected {wanted!r}, not {got!r}")
        return got


def pvm(commands):
    return subprocess.run(["pvm", "-c", commands], capture_output=True, text=True, timeout=60, check=True).stdout


def machine_tasks():
    """{tid: (host, program)} of `ps -a`, which leaves out its own console."""
    rows = (line.split(None, 3) for line in pvm("ps -a").splitlines()[1:])
    return {"t" + row[1]: (row[0], row[3].strip() if len(row) > 3 else "-") for row in rows}


def machine_hosts():
    return {line.split()[0] for line in pvm("conf").splitlines() if re.match(r"^ +\S+ +[0-9a-f]+ +LINUX64", line)}


def page_tasks(browser):
    """The same of the table of tasks."""
    rows = browser.script("return [...document.querySelectorAll('#task-table tbody tr')]"
                          ".map((r) => [...r.cells].slice(0, 3).map((c) => c.innerText))")
    return {tid: (host, program) for tid, program, host in rows}


def same_tasks(browser, own):
    """Whether page and `ps -a` agree. Consoles come and go meanwhile, as this one; `own` is pvm web's program."""
    listed = {tid: task for tid, task in machine_tasks().items() if task[1] not in ("pvm", "-")}
    shown = {tid: task for tid, task in page_tasks(browser).items() if task[1] not in ("pvm", "–", own)}
    return listed == shown


def end(browser):
    sys.exit(1 if browser.bad else 0)
