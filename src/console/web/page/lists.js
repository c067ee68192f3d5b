// lists.js - the mailbox and the groups.
import { element, find, setText, showEmpty, tidText } from "./format.js";
import { Table } from "./table.js";

const FLAGS = [[1, "persistent"], [2, "several"], [4, "overwritable"]];

export class Mailbox {
    constructor(model, choose) {
        Object.assign(this, { model, section: find("#mailbox"), filter: find("#mailbox-filter") });
        this.table = new Table(find("#mailbox-table"), [
            { title: "Name", value: (e) => e.name, text: (e) => e.name },
            { title: "Index", value: (e) => e.index, text: (e) => String(e.index), number: true },
            { title: "Owner", value: (e) => e.owner, text: (e) => e.owner ? `${tidText(e.owner)} ${model.taskName(e.owner)}` : "none" },
            { title: "Flags", value: (e) => e.flags, text: (e) => FLAGS.filter(([bit]) => e.flags & bit).map(([, name]) => name).join(", ") || "–" },
        ], 0, false);
        this.table.onsort = () => this.draw(true);
        this.filter.addEventListener("input", () => this.draw(true));
    }

    take(changes, whole) {
        this.changed ||= whole || Boolean(changes.mailbox);
    }

    draw(always) {
        if (!this.changed && !always)
            return;
        this.changed = false;
        const wanted = this.filter.value.trim().toLowerCase();
        const items = this.model.mailbox.filter((c) => c.name.toLowerCase().includes(wanted))
            .flatMap((c) => c.entries.map(([index, owner, flags]) => [c.name + "\u0000" + index, { name: c.name, index, owner, flags }]));
        const n = this.table.draw(items, 2000);
        setText(find("#mailbox-count"), `${n} entr${n === 1 ? "y" : "ies"}`);
        showEmpty(this.section, n ? "" : wanted ? "No name matches." : "The mailbox is empty.");
    }
}

export class Groups {
    constructor(model, choose) {
        Object.assign(this, { model, choose, section: find("#groups"), box: find("#group-cards") });
        this.box.addEventListener("click", (e) => e.target.dataset.tid && choose(Number(e.target.dataset.tid)));
    }

    take(changes, whole) {
        this.changed ||= whole || Boolean(changes.groups);
    }

    card(group) {
        const waiting = new Set(group.waiting);
        const members = group.members.flatMap((tid, instance) => {
            if (tid <= 0)
                return [];
            const button = element("button", { type: "button", class: waiting.has(tid) ? "member waits" : "member" }, `${instance}: ${tidText(tid)}`);
            button.dataset.tid = tid;
            return [button];
        });
        const about = waiting.size ? `${waiting.size} of ${group.barrier} wait at a barrier` : "nobody waits at a barrier";
        const bar = waiting.size ? [element("progress", { max: group.barrier, value: waiting.size })] : [];
        return element("article", { class: "card" }, element("h3", { title: group.name }, group.name),
            element("div", { class: "note" }, `${group.size} member${group.size === 1 ? "" : "s"} · ${about}`), ...bar,
            element("div", { class: "members" }, ...members));
    }

    draw(always) {
        if (!this.changed && !always)
            return;
        this.changed = false;
        this.box.replaceChildren(...this.model.groups.map((g) => this.card(g)));
        showEmpty(this.section, this.model.groups.length ? "" : "No groups.\nThe first pvm_joingroup() of a program makes one.");
    }
}
