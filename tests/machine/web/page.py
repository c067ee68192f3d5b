"""page.py URL SHOTS PID - see page.sh; ends pvm web, the process PID, at last."""
import json
import os
import signal
import sys
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import VIEWS, Browser, end, machine_hosts, machine_tasks, page_tasks, pvm, same_tasks

OWN = "pvm web (this page)"
MEMBERS = 6
COLOURS = """const c = document.querySelector(arguments[0]), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
const seen = new Map();
for (let i = 0; i < p.length; i += 4) { const k = [p[i], p[i+1], p[i+2]].join(); seen.set(k, (seen.get(k) ?? 0) + 1); }
return Object.fromEntries([...seen].filter(([, n]) => n > 20));"""


def rgb(browser, name):
    text = browser.script("return getComputedStyle(document.documentElement).getPropertyValue('--' + arguments[0]).trim()", name)
    return ",".join(str(int(text[i:i + 2], 16)) for i in (1, 3, 5))


def check_entrance(b):
    b.eventually("the link", lambda: b.one("#link").text, "● live" if "●" in b.one("#link").text else "live")
    b.equal("the address has no token", False, "token" in b.driver.current_url)
    b.equal("scripts cannot see the cookie", "", b.script("return document.cookie"))


def check_machine(b):
    b.show("machine")
    b.eventually("hosts", lambda: set(b.texts(".host:not(.gone) h3")), machine_hosts())
    b.eventually("tiles", lambda: len(b.script("return document.querySelectorAll('.tile:not(.ended)')")) >= MEMBERS + 2, True)
    b.eventually("figures", lambda: b.one("#figure-hosts").text, "2")
    b.eventually("tiles that light up", lambda: b.script("return document.querySelector('.tile.receiving, .tile.computing') !== null"), True)
    b.eventually("a chart", lambda: len(b.script(COLOURS, ".chart canvas")) > 1, True)
    tile = b.one(".tile:not(.ended)")
    b.script("arguments[0].focus()", tile)
    before = tile.get_attribute("data-tid")
    tile.send_keys(Keys.ARROW_RIGHT)
    b.equal("the arrow keys go from tile to tile", True, b.script("return document.activeElement.dataset.tid") not in (before, None))


def check_tasks(b):
    b.show("tasks")
    b.eventually("the tasks of ps -a", lambda: same_tasks(b, OWN), True)
    own = [tid for tid, task in page_tasks(b).items() if task[1] == OWN]
    b.equal("pvm web itself is listed, and ps -a has it", True, len(own) == 1 and own[0] in machine_tasks())
    b.eventually("the group server waits, although it is not traced",
                 lambda: b.texts("#task-table tbody tr:has(td:nth-child(4) .group) td:nth-child(2)").count("pvmgs"), 1)
    b.eventually("the leader waits for its group",
                 lambda: any(row.startswith("t") and "actor" in row and "a group" in row for row in b.texts("#task-table tbody tr")), True)
    b.eventually("everybody's memory", lambda: all("B" in t for t in b.texts("#task-table tbody td:nth-child(8)")), True)
    members = [tid for tid, task in machine_tasks().items() if "onerror" in task[1]]
    b.equal("members", MEMBERS, len(members))
    field = b.one("#task-filter")
    field.send_keys("ONERROR")
    b.eventually("the filter", lambda: set(page_tasks(b)), set(members))
    field.send_keys("nowhere")
    b.eventually("an empty table", lambda: b.one("#tasks .empty").text, "No task matches.")
    field.clear()
    field.send_keys(Keys.SPACE)
    b.script("document.querySelector('#task-table th:nth-child(3) button').click()")
    b.eventually("sorted by host", lambda: (lambda h: h == sorted(h))(b.texts("#task-table tbody td:nth-child(3)")), True)
    return members


def check_detail(b, members):
    b.script("document.querySelector(`#task-table button[data-tid='${arguments[0]}']`).click()", int(members[0][1:], 16))
    b.equal("the title of the details", f"<img src=x onerror=document.title='owned'> {members[0]}", " ".join(b.one("#detail h2").text.split()))
    b.eventually("peers in the details", lambda: len(b.texts("#detail tbody tr")) >= 2, True)
    b.eventually("output in the details", lambda: "to standard error" in b.one("#detail pre").text, True)
    b.shot("detail")
    b.one("#detail button").send_keys(Keys.ESCAPE)
    b.equal("Escape closes them", False, b.one("#detail").is_displayed())


def check_diagram(b):
    b.show("diagram")
    canvas = "#diagram-box canvas"
    b.eventually("lanes", lambda: {rgb(b, "computing"), rgb(b, "group")} <= set(b.script(COLOURS, canvas)), True)
    Select(b.one("#diagram-window")).select_by_value("2")
    b.eventually("receives", lambda: rgb(b, "receiving") in b.script(COLOURS, canvas) or rgb(b, "sending") in b.script(COLOURS, canvas), True)
    before = b.script(COLOURS, canvas)
    b.eventually("it rolls", lambda: b.script(COLOURS, canvas) != before, True)
    b.shot("diagram-2s")
    b.one("#diagram-pause").click()
    b.equal("paused", "Go on", b.one("#diagram-pause").text)
    still = b.script("return document.querySelector(arguments[0]).toDataURL()", canvas)
    time.sleep(0.5)
    b.equal("a paused picture stands", True, still == b.script("return document.querySelector(arguments[0]).toDataURL()", canvas))
    height = b.script("return document.querySelector(arguments[0]).clientHeight", canvas)
    ActionChains(b.driver).move_to_element_with_offset(b.one(canvas), 100, 45 - height // 2).perform()
    b.eventually("a tip", lambda: " at 127.0.0." in b.one("#tip").text, True)
    b.one("#diagram-pause").click()


def check_traffic(b, members):
    b.show("traffic")

    def pairs():
        rows = b.script("return [...document.querySelectorAll('#pair-table tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
        return {(row[0].split()[0], row[1].split()[0]): row for row in rows}

    def ring():
        return [row for (source, to), row in pairs().items() if source in members and to in members]

    b.eventually("a pair for each member", lambda: len(ring()), MEMBERS)
    b.eventually("messages of all", lambda: all(row[3] not in ("–", "0") for row in ring()), True)

    def routes_agree():
        told = {("t" + t["tid"].lstrip("t"), p["tid"]): p["route"] for t in json.loads(pvm("route --json"))["tasks"] for p in t["peers"]}
        return all(told.get((row[0].split()[0], row[1].split()[0])) == row[6] for row in ring())

    b.eventually("the routes that the command route prints", routes_agree, True)
    b.eventually("the matrix", lambda: len(b.script(COLOURS, "#traffic-box canvas")) > 3, True)
    b.shot("traffic-bytes")
    Select(b.one("#traffic-colour")).select_by_value("route")
    b.eventually("a legend of routes", lambda: b.one("#traffic-legend").text != "", True)
    Select(b.one("#traffic-of")).select_by_value("hosts")
    b.eventually("hosts instead of tasks", lambda: {pair[0] for pair in pairs()} <= machine_hosts() and len(pairs()) > 0, True)


def check_texts(b):
    b.show("output")
    b.eventually("output", lambda: len([t for t in b.texts(".line .text") if t.startswith("<script>document.title='owned'</script><img")]), MEMBERS)
    b.eventually("errors", lambda: b.texts(".line .text").count("to standard error"), MEMBERS)
    b.one("#output-filter").send_keys("standard")
    b.eventually("a filter", lambda: len(b.texts(".line")), MEMBERS)
    b.show("mailbox")
    names = {entry["name"] for entry in json.loads(pvm("names --json"))["names"] if not entry["name"].startswith("###")}
    b.equal("the box", True, "<b onmouseover=alert(2)>box</b>" in names)
    b.eventually("the mailbox", lambda: {t for t in b.texts("#mailbox-table tbody td:first-child") if not t.startswith("###")}, names)
    b.show("groups")
    b.eventually("the group", lambda: b.texts("#group-cards h3"), ["<i onclick=alert(1)>team</i>"])
    b.eventually("members", lambda: b.one("#group-cards .note").text, f"{MEMBERS + 1} members · 1 of {MEMBERS + 2} wait at a barrier")
    b.equal("nothing is markup", ["icon.svg"], b.script("return [...document.images].map((i) => i.getAttribute('src'))"))
    b.equal("scripts", ["app.js"], b.script("return [...document.scripts].map((s) => s.getAttribute('src'))"))
    b.equal("the title", "pvm web · 127.0.0.1", b.driver.title)


def toast(b, part):
    b.eventually(f"a word of success: {part}", lambda: any(part in t for t in b.texts(".toast")), True)


def check_control(b):
    b.one("#open-add").click()
    b.one("#add-hosts").send_keys("127.0.0.3")
    b.one("#add-dialog .primary").click()
    toast(b, "added 1 host")
    b.equal("the machine has it", True, "127.0.0.3" in machine_hosts())
    b.show("machine")
    b.eventually("and so has the page", lambda: set(b.texts(".host:not(.gone) h3")), machine_hosts())
    b.one("#open-spawn").click()
    b.one("#spawn-program").send_keys("sleeper")
    b.one("#spawn-count").clear()
    b.one("#spawn-count").send_keys("2")
    Select(b.one("#spawn-host")).select_by_value("127.0.0.3")
    b.shot("spawn")
    b.one("#spawn-dialog .primary").click()
    toast(b, "started 2 tasks")
    sleepers = [tid for tid, task in machine_tasks().items() if task == ("127.0.0.3", "sleeper")]
    b.equal("two sleepers", 2, len(sleepers))
    b.show("tasks")
    b.eventually("the page has them", lambda: same_tasks(b, OWN), True)
    b.script("document.querySelector(`#task-table button[data-tid='${arguments[0]}']`).click()", int(sleepers[0][1:], 16))
    b.one("#detail-kill").click()
    b.one("#kill-dialog .danger").click()
    toast(b, "killed " + sleepers[0])
    b.eventually("it is gone", lambda: sleepers[0] in machine_tasks(), False)
    b.eventually("from the page, too", lambda: same_tasks(b, OWN) and sleepers[0] not in page_tasks(b), True)
    b.script("document.querySelector('#detail button').click()")
    b.one("#open-spawn").click()
    b.one("#spawn-program").clear()
    b.one("#spawn-program").send_keys("nosuch")
    b.one("#spawn-dialog .primary").click()
    toast(b, "No such file")


def take_pictures(b):
    Select(b.one("#diagram-window")).select_by_value("5") if b.one("#diagram-window").is_displayed() else None
    b.script("document.querySelector('#traffic-of').value = 'tasks'; document.querySelector('#output-filter').value = ''")
    for theme in ("light", "dark"):
        if b.script("return document.documentElement.dataset.theme") != theme:
            b.one("#theme").click()
        for view in VIEWS:
            b.show(view)
            time.sleep(0.4)
            b.shot(f"{view}-{theme}")


def check_keys(b):
    b.one("body").send_keys("4")
    b.equal("the key 4", "traffic", b.script("return document.querySelector('section:not([hidden])').id"))
    b.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    b.equal("the arrow key at the tabs", "diagram", b.script("return document.querySelector('section:not([hidden])').id"))


with Browser(sys.argv[1], sys.argv[2]) as browser:
    check_entrance(browser)
    check_machine(browser)
    ring_members = check_tasks(browser)
    check_detail(browser, ring_members)
    check_diagram(browser)
    check_traffic(browser, ring_members)
    check_texts(browser)
    check_keys(browser)
    take_pictures(browser)
    check_control(browser)
    os.kill(int(sys.argv[3]), signal.SIGINT)
    browser.eventually("the page says that pvm web has ended", lambda: browser.one("#link").text, "no connection")
end(browser)
