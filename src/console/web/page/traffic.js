// traffic.js - who sends how much to whom, and on which route.
import { bytesText, colour, countText, find, fitCanvas, hideTip, legend, ROUTE_COLOURS, setText, showEmpty, showTip, tidText } from "./format.js";
import { fillTid, Table } from "./table.js";

const LABEL = 74, ROWS = 300, SIZE_MAX = 720;

const total = (pair) => Math.max(pair.bytes, pair.directBytes + pair.daemonBytes);

export class Traffic {
    constructor(model, choose) {
        Object.assign(this, { model, section: find("#traffic"), box: find("#traffic-box"), of: find("#traffic-of"), colours: find("#traffic-colour") });
        this.canvas = this.box.querySelector("canvas");
        const label = (tid) => (this.byHost ? model.hostName(tid) : `${tidText(tid)} ${model.taskName(tid)}`);
        const choosePart = (tid) => this.byHost || choose(tid);
        this.table = new Table(find("#pair-table"), [
            { title: "From", value: (p) => p.from, fill: fillTid(choosePart, (p) => label(p.from), (p) => p.from) },
            { title: "To", value: (p) => p.to, fill: fillTid(choosePart, (p) => label(p.to), (p) => p.to) },
            { title: "Bytes", value: total, text: (p) => bytesText(total(p)), number: true },
            { title: "Messages", value: (p) => p.messages, text: (p) => p.messages ? countText(p.messages) : "–", number: true },
            { title: "Frames direct", value: (p) => p.directFrames, text: (p) => countText(p.directFrames), number: true },
            { title: "by daemons", value: (p) => p.daemonFrames, text: (p) => countText(p.daemonFrames), number: true },
            { title: "Route", value: (p) => p.route, text: (p) => p.route || "–" },
        ], 2, true);
        this.label = label;
        this.table.onsort = () => this.draw(true);
        for (const select of [this.of, this.colours])
            select.addEventListener("change", () => this.draw(true));
        this.canvas.addEventListener("mousemove", (e) => this.tip(e));
        this.canvas.addEventListener("mouseleave", hideTip);
        this.canvas.addEventListener("click", (e) => this.at(e) && choosePart(this.at(e).from));
    }

    take(changes, whole) {
        this.changed ||= whole || Boolean(changes.pairs);
    }

    // Pairs of tasks, or their sums for hosts.
    findPairs() {
        const runs = (tid) => this.model.tasks.get(tid)?.ended === 0;
        if (!this.byHost)
            return [...this.model.pairs].filter(([, p]) => this.of.value === "tasks" || (runs(p.from) && runs(p.to)));
        const sums = new Map();
        for (const pair of this.model.pairs.values()) {
            const from = this.model.tasks.get(pair.from)?.host, to = this.model.tasks.get(pair.to)?.host;
            if (from === undefined || to === undefined)
                continue;
            const key = from + ":" + to;
            const sum = sums.get(key) ?? { from, to, messages: 0, bytes: 0, directFrames: 0, directBytes: 0, daemonFrames: 0, daemonBytes: 0, route: pair.route };
            for (const field of ["messages", "directFrames", "daemonFrames"])
                sum[field] += pair[field];
            sum.bytes += total(pair);
            if (pair.route && sum.route !== pair.route)
                sum.route = sum.route ? "several" : pair.route;
            sums.set(key, sum);
        }
        return [...sums];
    }

    draw(always) {
        if (!this.changed && !always)
            return;
        this.changed = false;
        this.byHost = this.of.value === "hosts";
        const pairs = this.findPairs();
        this.section.querySelector(".columns").hidden = !pairs.length;
        showEmpty(this.section, pairs.length ? "" : "No message has been seen yet.\nTasks are asked for what they have sent; they answer in their next PVM call.");
        if (!pairs.length)
            return;
        const n = this.table.draw(pairs, ROWS);
        setText(find("#traffic-note"), `${countText(n)} pair${n === 1 ? "" : "s"}${n > ROWS ? `, ${ROWS} in the table` : ""}${this.model.pairs_full ? "; there are more than this page can follow" : ""}`);
        this.drawMatrix(pairs.map(([, pair]) => pair));
    }

    drawMatrix(pairs) {
        const ids = [...new Set(pairs.flatMap((p) => [p.from, p.to]))].sort((a, b) => a - b);
        const place = new Map(ids.map((id, i) => [id, i]));
        const room = Math.max(Math.min(this.section.clientHeight - 110, this.section.clientWidth * 0.52, SIZE_MAX), 200);
        const cell = Math.min((room - LABEL) / ids.length, 34), size = LABEL + cell * ids.length + 1;
        const c = fitCanvas(this.canvas, size, size), most = Math.log1p(Math.max(...pairs.map(total), 1));
        const byRoute = this.colours.value === "route", low = colour("heat-low").split(" ").map(Number), high = colour("heat-high").split(" ").map(Number);
        const gap = cell > 5 ? 1 : 0;
        c.fillStyle = colour("back");
        c.fillRect(LABEL, LABEL, size - LABEL, size - LABEL);
        for (const pair of pairs) {
            const strength = Math.log1p(total(pair)) / most;
            c.fillStyle = byRoute ? colour(ROUTE_COLOURS[pair.route] ?? "ended") : `rgb(${low.map((v, i) => Math.round(v + (high[i] - v) * strength)).join(" ")})`;
            c.fillRect(LABEL + place.get(pair.to) * cell, LABEL + place.get(pair.from) * cell, Math.max(cell - gap, 0.8), Math.max(cell - gap, 0.8));
        }
        if (cell >= 11)
            this.drawLabels(c, ids, cell);
        else
            this.drawHint(c, size, ids.length);
        Object.assign(this, { ids, cell, index: new Map(pairs.map((p) => [p.from + ":" + p.to, p])) });
        legend(find("#traffic-legend"), byRoute ? [...new Set(pairs.map((p) => p.route || "not told"))].map((r) => [`var(--${ROUTE_COLOURS[r] ?? "ended"})`, r])
            : [["rgb(var(--heat-low))", "few bytes"], ["rgb(var(--heat-high))", `${bytesText(Math.expm1(most))}, on a logarithmic scale`]]);
    }

    drawLabels(c, ids, cell) {
        c.fillStyle = colour("soft");
        c.font = Math.min(cell - 1, 11.5) + "px ui-monospace, 'DejaVu Sans Mono', monospace";
        c.textBaseline = "middle";
        ids.forEach((id, i) => {
            const text = this.byHost ? this.model.hostName(id) : tidText(id), at = LABEL + (i + 0.5) * cell;
            c.textAlign = "right";
            c.fillText(text, LABEL - 6, at, LABEL - 8);
            c.save();
            c.translate(at, LABEL - 6);
            c.rotate(-Math.PI / 2);
            c.textAlign = "left";
            c.fillText(text, 0, 0, LABEL - 8);
            c.restore();
        });
    }

    drawHint(c, size, n) {
        c.fillStyle = colour("soft");
        c.font = "12px system-ui, sans-serif";
        c.textAlign = "center";
        c.fillText(`to ${n} receivers →`, (size + LABEL) / 2, LABEL - 14);
        c.save();
        c.translate(LABEL - 14, (size + LABEL) / 2);
        c.rotate(-Math.PI / 2);
        c.fillText("← from senders", 0, 0);
        c.restore();
    }

    at(event) {
        const column = Math.floor((event.offsetX - LABEL) / this.cell), row = Math.floor((event.offsetY - LABEL) / this.cell);
        const from = this.ids?.[row], to = this.ids?.[column];
        return from === undefined || to === undefined || column < 0 || row < 0 ? null : this.index.get(from + ":" + to) ?? { from, to };
    }

    tip(event) {
        const pair = this.at(event);
        if (!pair) {
            hideTip();
            return;
        }
        showTip(`${this.label(pair.from)} → ${this.label(pair.to)}\n` + (pair.route === undefined ? "nothing"
            : `${bytesText(total(pair))}, route: ${pair.route || "not told"}`), event.clientX, event.clientY);
    }
}
