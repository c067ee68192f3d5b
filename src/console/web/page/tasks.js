// tasks.js - the table of tasks.
import { bytesText, durationText, element, find, setText, showEmpty, stateOf, STATE_TEXTS, tidText, waitsFor } from "./format.js";
import { fillTid, Table } from "./table.js";

const SHOWN = 1500;

export class Tasks {
    constructor(model, choose) {
        Object.assign(this, { model, section: find("#tasks"), filter: find("#task-filter"), ended: find("#task-ended") });
        const age = (t) => (t.ended || model.now()) - t.begun;
        this.table = new Table(find("#task-table"), [
            { title: "Tid", value: (t) => t.tid, fill: fillTid(choose, (t) => tidText(t.tid), (t) => t.tid) },
            { title: "Program", value: (t) => t.name, text: (t) => t.own ? "pvm web (this page)" : t.name || "–" },
            { title: "Host", value: (t) => model.hostName(t.host), text: (t) => model.hostName(t.host) },
            { title: "State", value: stateOf, fill: (cell, t) => this.fillState(cell, t) },
            { title: "Call", value: (t) => this.call(t), text: (t) => this.call(t) },
            { title: "Waits for", value: waitsFor, text: (t) => waitsFor(t) || "–" },
            { title: "CPU", value: (t) => t.usage?.cpu ?? -1, text: (t) => t.usage && !t.ended ? t.usage.cpu + " %" : "–", number: true },
            { title: "Memory", value: (t) => t.usage?.memory ?? -1, text: (t) => t.usage && !t.ended ? bytesText(t.usage.memory) : "–", number: true },
            { title: "Parent", value: (t) => t.parent, text: (t) => t.parent ? tidText(t.parent) : "–", mono: true },
            { title: "Pid", value: (t) => t.pid, text: (t) => String(t.pid || "–"), number: true },
            { title: "Seen for", value: age, text: (t) => durationText(Math.floor(age(t) / 1e6) * 1e6 || 1e6), number: true },
        ], 0, false);
        this.table.onsort = () => this.draw(true);
        this.filter.addEventListener("input", () => this.draw(true));
        this.ended.addEventListener("change", () => this.draw(true));
    }

    call(t) {
        return !t.ended && t.call >= 0 ? "pvm_" + (this.model.event_names?.[t.call] ?? t.call) : "–";
    }

    fillState(cell, task) {
        const state = stateOf(task);
        if (cell.dataset.state === state)
            return;
        cell.dataset.state = state;
        cell.replaceChildren(element("span", { class: "swatch " + state }), STATE_TEXTS[state]);
    }

    matches(task, text) {
        return !text || [task.name, tidText(task.tid), this.model.hostName(task.host), STATE_TEXTS[stateOf(task)]]
            .some((field) => field.toLowerCase().includes(text));
    }

    draw() {
        const text = this.filter.value.trim().toLowerCase();
        const items = [...this.model.tasks].filter(([, t]) => (this.ended.checked || !t.ended) && this.matches(t, text));
        const n = this.table.draw(items, SHOWN, (tr, t) => tr.classList.toggle("over", Boolean(t.ended)));
        setText(find("#task-count"), n > SHOWN ? `the first ${SHOWN} of ${n} tasks` : `${n} task${n === 1 ? "" : "s"}`);
        showEmpty(this.section, n ? "" : text ? "No task matches." : "No task runs.");
    }
}
