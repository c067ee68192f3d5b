// detail.js - what is known of one task.
import { bytesText, countText, durationText, element, find, setText, stateOf, STATE_TEXTS, tidText, waitsFor } from "./format.js";

const LINES = 40, PEERS = 50;

export class Detail {
    constructor(model, control) {
        Object.assign(this, { model, control, box: find("#detail"), tid: null });
        this.title = element("h2");
        this.list = element("dl");
        this.peers = element("tbody");
        this.output = element("pre");
        this.kill = element("button", { type: "button", class: "danger", id: "detail-kill", onclick: () => control.askKill(this.tid) }, "Kill…");
        const close = element("button", { type: "button", "aria-label": "Close", onclick: () => this.close() }, "✕");
        const head = element("tr", {}, ...["Peer", "Route", "Sent", "Received"].map((t) => element("th", {}, element("span", {}, t))));
        this.box.append(element("header", {}, this.title, close), this.list, element("h3", {}, "Traffic"),
            element("table", {}, element("thead", {}, head), this.peers), element("h3", {}, "Output"), this.output,
            element("p", {}, this.kill));
    }

    open(tid) {
        this.tid = tid;
        this.opener = document.activeElement;
        this.box.hidden = false;
        this.draw();
        this.box.querySelector("button").focus();
    }

    close() {
        if (this.box.hidden)
            return;
        this.box.hidden = true;
        this.tid = null;
        this.opener?.focus?.();
    }

    draw() {
        const task = this.tid !== null && this.model.tasks.get(this.tid);
        if (this.tid === null)
            return;
        setText(this.title, `${this.model.taskName(this.tid)}  ${tidText(this.tid)}`);
        this.kill.hidden = !this.model.control || !task || Boolean(task.ended) || task.own;
        if (task)
            this.drawFacts(task);
        this.drawPeers();
        const lines = this.model.output.filter((line) => line[0] === this.tid).slice(-LINES);
        setText(this.output, lines.map((line) => line[3]).join("\n") || "none came here");
    }

    drawFacts(task) {
        const state = stateOf(task), now = this.model.now();
        const call = task.call >= 0 && !task.ended ? ` in pvm_${this.model.event_names?.[task.call]} for ${durationText(Math.max(now - task.since, 0))}` : "";
        const facts = {
            Program: task.name || "–", Host: this.model.hostName(task.host), State: STATE_TEXTS[state] + call,
            Parent: task.parent ? `${tidText(task.parent)} ${this.model.taskName(task.parent)}` : "none: started from a shell",
            "Waits for": waitsFor(task) || "nobody", CPU: task.usage ? task.usage.cpu + " %" : "–",
            Memory: task.usage ? bytesText(task.usage.memory) + (task.usage.queue ? `, ${bytesText(task.usage.queue)} wait in its daemon` : "") : "–",
            Pid: String(task.pid || "–"), Seen: "for " + durationText((task.ended || now) - task.begun),
        };
        if (this.list.childElementCount !== 2 * Object.keys(facts).length)
            this.list.replaceChildren(...Object.keys(facts).flatMap((name) => [element("dt", {}, name), element("dd")]));
        Object.values(facts).forEach((text, i) => setText(this.list.children[2 * i + 1], text));
    }

    drawPeers() {
        const peers = new Map();
        for (const pair of this.model.pairs.values()) {
            if (pair.from !== this.tid && pair.to !== this.tid)
                continue;
            const sends = pair.from === this.tid, peer = sends ? pair.to : pair.from;
            const row = peers.get(peer) ?? { sent: 0, received: 0, route: "" };
            row[sends ? "sent" : "received"] += Math.max(pair.bytes, pair.directBytes + pair.daemonBytes);
            row.route = pair.route || row.route;
            peers.set(peer, row);
        }
        const rows = [...peers].sort((a, b) => b[1].sent + b[1].received - a[1].sent - a[1].received);
        this.peers.replaceChildren(...rows.slice(0, PEERS).map(([peer, row]) => element("tr", {},
            element("td", { class: "mono" }, tidText(peer)), element("td", {}, row.route || "–"),
            element("td", {}, bytesText(row.sent)), element("td", {}, bytesText(row.received)))));
        if (!rows.length)
            this.peers.append(element("tr", {}, element("td", { colSpan: 4 }, "none yet")));
        if (rows.length > PEERS)
            this.peers.append(element("tr", {}, element("td", { colSpan: 4 }, `and ${countText(rows.length - PEERS)} more`)));
    }
}
