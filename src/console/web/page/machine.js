// machine.js - the view of hosts: a card for each, a tile for each task, lit by what the task does.
import { bytesText, countText, element, find, hideTip, legend, setText, showTip, stateOf, STATE_TEXTS, tidText } from "./format.js";
import { Chart } from "./chart.js";

const MANY_HOSTS = 12;
const MANY_TASKS = 150;
const FEW_TASKS = 60;

export class Machine {
    constructor(model, choose) {
        Object.assign(this, { model, choose, box: find("#hosts"), cards: new Map(), tiles: new Map() });
        const rate = (column) => (now, before) => (now[column] - before[column]) / Math.max((now[0] - before[0]) / 1e6, 0.5);
        this.charts = [
            new Chart("Tasks", (now) => now[2], String), new Chart("Messages in traces/s", rate(3), countText),
            new Chart("Bytes/s", rate(4), bytesText), new Chart("Trace events/s", rate(5), countText),
        ];
        find("#charts").append(...this.charts.map((c) => c.card));
        legend(find("#legend"), Object.entries(STATE_TEXTS));
        const ended = find("#show-ended");
        const setEnded = () => this.box.classList.toggle("hide-ended", !ended.checked);
        ended.addEventListener("change", setEnded);
        setEnded();
        this.box.addEventListener("click", (e) => e.target.dataset.tid && choose(Number(e.target.dataset.tid)));
        this.box.addEventListener("mouseover", (e) => e.target.dataset.tid ? this.tip(e) : hideTip());
        this.box.addEventListener("mouseleave", hideTip);
        this.box.addEventListener("keydown", (e) => this.move(e));
    }

    tip(event) {
        const task = this.model.tasks.get(Number(event.target.dataset.tid));
        if (task)
            showTip(`${this.model.taskName(task.tid)}  ${tidText(task.tid)}\n${STATE_TEXTS[stateOf(task)]}`, event.clientX, event.clientY);
    }

    // Arrow keys go from tile to tile.
    move(event) {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step || !event.target.dataset.tid)
            return;
        const all = [...this.box.querySelectorAll(".tile")].filter((t) => t.offsetParent);
        const next = all[all.indexOf(event.target) + step];
        if (!next)
            return;
        event.target.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
        event.preventDefault();
    }

    take(changes, whole) {
        if (whole) {
            this.box.replaceChildren();
            this.cards.clear();
            this.tiles.clear();
        }
        for (const host of changes.hosts ?? [])
            this.setHost(host);
        for (const task of changes.tasks ?? [])
            this.setTask(task);
        for (const tid of changes.forget ?? []) {
            this.tiles.get(tid)?.remove();
            this.tiles.delete(tid);
        }
        this.changed = true;
        const running = changes.tasks ? [...this.model.tasks.values()].filter((t) => !t.ended).length : this.running ?? 0;
        this.running = running;
        this.box.classList.toggle("many", this.cards.size > MANY_HOSTS || running > MANY_TASKS);
        this.box.classList.toggle("few", this.cards.size <= MANY_HOSTS && running <= FEW_TASKS);
    }

    setHost(host) {
        let card = this.cards.get(host.tid);
        if (!card) {
            card = { title: element("h3"), about: element("p"), tiles: element("div", { class: "tiles" }) };
            card.box = element("article", { class: "host" }, card.title, card.about, card.tiles);
            card.box.dataset.host = host.tid;
            this.cards.set(host.tid, card);
            this.box.append(card.box);
        }
        setText(card.title, host.name);
        card.title.title = host.name;
        card.box.classList.toggle("gone", Boolean(host.gone));
    }

    setTask(task) {
        let tile = this.tiles.get(task.tid);
        if (!tile) {
            const tiles = this.cards.get(task.host)?.tiles;
            if (!tiles)
                return;
            tile = element("button", { type: "button", tabIndex: tiles.childElementCount ? -1 : 0 });
            tile.dataset.tid = task.tid;
            this.tiles.set(task.tid, tile);
            tiles.append(tile);
        }
        setText(tile, task.own ? "pvm web" : this.model.taskName(task.tid)); // seen if there are few
        const state = stateOf(task);
        if (tile.dataset.state !== state) {
            tile.dataset.state = state;
            tile.className = "tile " + state;
            tile.setAttribute("aria-label", `${this.model.taskName(task.tid)} ${tidText(task.tid)}, ${STATE_TEXTS[state]}`);
        }
    }

    draw(always) {
        if (!this.changed && !always)
            return;
        this.changed = false;
        const counts = new Map();
        for (const task of this.model.tasks.values())
            if (!task.ended)
                counts.set(task.host, (counts.get(task.host) ?? 0) + 1);
        for (const [tid, card] of this.cards) {
            const host = this.model.hosts.get(tid), n = counts.get(tid) ?? 0;
            setText(card.about, host.gone ? "has left" : `${n} task${n === 1 ? "" : "s"} · ${host.arch}`);
        }
        for (const chart of this.charts)
            chart.draw(this.model.history, always);
    }
}
