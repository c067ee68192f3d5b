// diagram.js - the space-time diagram: a lane for each traced task, time to the right, an arrow for each message.
import { bytesText, colour, durationText, find, fitCanvas, hideTip, legend, setText, showEmpty, showTip, STATES, STATE_TEXTS, tidText } from "./format.js";

const LABEL = 190, AXIS = 24, LANE_MIN = 5, LANE_MAX = 30, ARROWS_MAX = 1200, DELAY_US = 400000, SLACK_US = 3e6;

const CATEGORY = new Map();
function categoryOf(model, what) {
    if (!CATEGORY.has(what)) {
        const name = model.event_names?.[what] ?? "";
        CATEGORY.set(what, /^(send|psend|mcast)$/.test(name) ? "sending" : /^(n|t|p)?recv$|^probe$/.test(name) ? "receiving"
            : /^(barrier|bcast|joingroup|lvgroup|gsize|getinst|gettid|reduce|gather|scatter)$/.test(name) ? "group"
            : /^(un)?packf$|^u?pk/.test(name) ? "packing" : "other");
    }
    return CATEGORY.get(what);
}

function shortened(c, text, width) {
    if (c.measureText(text).width <= width)
        return text;
    let kept = text.slice(0, 40);
    while (kept && c.measureText(kept + "…").width > width)
        kept = kept.slice(0, -1);
    return kept + "…";
}

export class Diagram {
    constructor(model, choose) {
        Object.assign(this, { model, choose, section: find("#diagram"), box: find("#diagram-box"), window: find("#diagram-window"),
            arrows: find("#diagram-arrows"), pause: find("#diagram-pause"), spanUs: 10e6, endUs: null, lanes: [] });
        this.canvas = this.box.querySelector("canvas");
        this.spacer = this.box.querySelector(".spacer");
        legend(find("#diagram-legend"), STATES.filter((s) => s !== "packing").map((s) => [s, STATE_TEXTS[s]]));
        this.window.addEventListener("change", () => { this.spanUs = this.window.value * 1e6; this.draw(true); });
        this.arrows.addEventListener("change", () => this.draw(true));
        this.pause.addEventListener("click", () => this.setEnd(this.endUs === null ? this.liveEnd() : null));
        this.box.addEventListener("scroll", () => this.draw(true));
        this.box.addEventListener("wheel", (e) => this.zoom(e), { passive: false });
        this.box.addEventListener("keydown", (e) => this.key(e));
        this.canvas.addEventListener("pointerdown", (e) => this.drag(e));
        this.canvas.addEventListener("mousemove", (e) => this.tip(e));
        this.canvas.addEventListener("mouseleave", hideTip);
        this.canvas.addEventListener("click", (e) => e.offsetX < LABEL && this.laneAt(e.offsetY) && choose(this.laneAt(e.offsetY).tid));
    }

    // Events need a moment to arrive; the picture shows what is complete.
    liveEnd() {
        return this.model.now() - DELAY_US;
    }

    setEnd(us) {
        this.endUs = us;
        this.pause.setAttribute("aria-pressed", us !== null);
        setText(this.pause, us === null ? "Pause" : "Go on");
        this.draw(true);
    }

    key(event) {
        const step = { ArrowLeft: -0.1, ArrowRight: 0.1 }[event.key];
        if (step)
            this.setEnd((this.endUs ?? this.liveEnd()) + step * this.spanUs);
        if (event.key === "+" || event.key === "-")
            this.setSpan(this.spanUs * (event.key === "+" ? 0.7 : 1.4));
    }

    setSpan(us) {
        this.spanUs = Math.min(Math.max(us, 200), 600e6);
        this.draw(true);
    }

    zoom(event) {
        if (!event.ctrlKey && !event.shiftKey)
            return;
        event.preventDefault();
        const end = this.endUs ?? this.liveEnd(), at = (event.offsetX - LABEL) / this.plotWidth;
        const under = end - this.spanUs * (1 - at), factor = event.deltaY + event.deltaX > 0 ? 1.25 : 0.8;
        this.setSpan(this.spanUs * factor);
        if (this.endUs !== null)
            this.setEnd(under + this.spanUs * (1 - at));
    }

    drag(event) {
        if (event.offsetX < LABEL)
            return;
        const start = event.clientX, end = this.endUs ?? this.liveEnd();
        this.canvas.setPointerCapture(event.pointerId);
        this.canvas.onpointermove = (e) => Math.abs(e.clientX - start) > 3 && this.setEnd(end - (e.clientX - start) / this.plotWidth * this.spanUs);
        this.canvas.onpointerup = () => { this.canvas.onpointermove = null; };
    }

    // Called often; draws only while it rolls.
    roll() {
        if (this.endUs === null)
            this.draw(true);
    }

    findLanes(from, to) {
        const lanes = [];
        for (const task of this.model.tasks.values())
            if (task.traced && task.begun <= to && (!task.ended || task.ended >= from))
                lanes.push(task);
        lanes.sort((a, b) => a.host - b.host || a.tid - b.tid);
        return lanes;
    }

    laneAt(y) {
        return this.lanes[Math.floor((y - AXIS + this.box.scrollTop) / this.laneHeight)];
    }

    draw(always) {
        if (!always)
            return;
        const end = this.endUs ?? this.liveEnd(), from = end - this.spanUs;
        this.lanes = this.findLanes(from, end);
        const any = [...this.model.tasks.values()].some((t) => t.traced);
        this.box.hidden = !any;
        showEmpty(this.section, any ? "" : "No traced task yet.\nPrograms that are started from now on appear here: from a shell, by pvm run, by the console's spawn, or from this page.");
        if (!any)
            return;
        const width = this.box.clientWidth, height = this.box.clientHeight;
        this.laneHeight = Math.min(Math.max((height - AXIS) / Math.max(this.lanes.length, 1), LANE_MIN), LANE_MAX);
        const all = AXIS + this.lanes.length * this.laneHeight;
        this.spacer.style.height = Math.max(all - height, 0) + "px";
        const c = fitCanvas(this.canvas, width, height);
        this.plotWidth = width - LABEL - 8;
        this.from = from;
        const x = (us) => LABEL + (us - from) / this.spanUs * this.plotWidth;
        const first = Math.floor(this.box.scrollTop / this.laneHeight), last = Math.min(this.lanes.length, first + Math.ceil(height / this.laneHeight) + 1);
        const y = (lane) => AXIS + lane * this.laneHeight - this.box.scrollTop;
        c.save();
        c.beginPath();
        c.rect(LABEL, AXIS, this.plotWidth, height);
        c.clip();
        for (let i = first; i < last; i++)
            this.drawLane(c, this.lanes[i], y(i), x, from, end);
        if (this.arrows.checked)
            this.drawArrows(c, x, y, from, end, first, last);
        c.restore();
        this.drawLabels(c, y, first, last);
        this.drawAxis(c, x, from, end, width, height);
        const thinned = this.arrows.checked && this.stride > 1 ? `one message of ${this.stride} drawn` : "";
        const note = this.model.hidden ? `${this.model.hidden.toLocaleString("en")} short calls and messages left out` : "";
        const ends = this.endUs === null ? "" : `ends ${durationText(this.model.now() - end)} ago`;
        setText(find("#diagram-note"), [ends, thinned, note].filter(Boolean).join(" · "));
    }

    drawLane(c, task, top, x, from, end) {
        const gap = this.laneHeight > 8 ? 2 : this.laneHeight > 5.5 ? 1 : 0.5, height = this.laneHeight - 2 * gap;
        const bar = (start, stop, name) => {
            const left = Math.max(x(start), LABEL - 1), right = Math.min(x(stop), LABEL + this.plotWidth + 1);
            c.fillStyle = colour(name);
            c.fillRect(left, top + gap, Math.max(right - left, 0.7), height);
        };
        bar(Math.max(task.begun, from), Math.min(task.ended || end, end), "computing");
        const calls = this.model.calls.get(task.tid) ?? [];
        let lastPixel = -1, lastName = "";
        for (let i = calls.length - 1; i >= 0 && calls[i][2] >= from - SLACK_US; i--) {
            const [what, start, stop] = calls[i];
            if (start > end || stop < from)
                continue;
            const name = categoryOf(this.model, what), pixel = Math.round(x(start));
            if (stop - start < this.spanUs / this.plotWidth && pixel === lastPixel && name === lastName)
                continue;
            lastPixel = pixel;
            lastName = name;
            bar(start, stop, name);
        }
        if (!task.ended && task.call >= 0 && task.since < end)
            bar(Math.max(task.since, from), end, categoryOf(this.model, task.call));
    }

    drawArrows(c, x, y, from, end, first, last) {
        const lane = new Map(this.lanes.map((task, i) => [task.tid, i]));
        const list = this.model.messages, half = this.laneHeight / 2;
        let seen = 0, drawn = 0;
        for (let i = list.length - 1; i >= 0 && list[i][5] >= from - SLACK_US; i--)
            seen += list[i][4] <= end && list[i][5] >= from;
        const stride = Math.ceil(seen / ARROWS_MAX); // of many, some, evenly
        this.stride = stride;
        c.strokeStyle = c.fillStyle = colour("arrow");
        c.lineWidth = this.laneHeight > 8 ? 1.1 : 0.7;
        c.beginPath();
        for (let i = list.length - 1; i >= 0 && list[i][5] >= from - SLACK_US; i--) {
            const [source, target, , , sent, received] = list[i];
            const a = lane.get(source), b = lane.get(target);
            if (sent > end || received < from || a === undefined || b === undefined || Math.max(a, b) < first || Math.min(a, b) >= last)
                continue;
            if (drawn++ % stride)
                continue;
            c.moveTo(x(sent), y(a) + half);
            c.lineTo(x(Math.max(received, sent)), y(b) + half);
        }
        c.stroke();
    }

    drawLabels(c, y, first, last) {
        c.fillStyle = colour("card");
        c.fillRect(0, 0, LABEL, this.box.clientHeight);
        const size = Math.min(12.5, this.laneHeight - 1);
        c.textBaseline = "middle";
        if (size < 7)
            return this.drawHostLabels(c, y, first, last);
        c.font = size + "px system-ui, sans-serif";
        for (let i = first; i < last; i++) {
            const task = this.lanes[i], at = y(i) + this.laneHeight / 2;
            c.fillStyle = colour("ink");
            c.textAlign = "left";
            c.fillText(shortened(c, this.model.taskName(task.tid), LABEL - 80), 10, at);
            c.fillStyle = colour("soft");
            c.textAlign = "right";
            c.fillText(tidText(task.tid), LABEL - 8, at);
        }
    }

    // With lanes too thin for names, each host is named once.
    drawHostLabels(c, y, first, last) {
        c.font = "11px system-ui, sans-serif";
        c.fillStyle = colour("soft");
        c.textAlign = "left";
        let free = 0;
        for (let i = first; i < last; i++) {
            const isFirst = i === 0 || this.lanes[i - 1].host !== this.lanes[i].host;
            if (!isFirst || y(i) + 6 < free)
                continue;
            c.fillText(this.model.hostName(this.lanes[i].host), 10, y(i) + 6, LABEL - 20);
            c.fillRect(LABEL - 14, y(i), 14, 0.7);
            free = y(i) + 18;
        }
    }

    drawAxis(c, x, from, end, width, height) {
        c.fillStyle = colour("card");
        c.fillRect(0, 0, width, AXIS);
        c.fillStyle = colour("soft");
        c.font = "11px system-ui, sans-serif";
        c.textAlign = "center";
        c.textBaseline = "middle";
        const step = 10 ** Math.floor(Math.log10(this.spanUs / 4)), by = [1, 2, 5, 10].find((f) => this.spanUs / (step * f) < 9) * step;
        for (let t = Math.ceil(from / by) * by; t <= end; t += by) {
            if (x(t) > LABEL + 20 && x(t) < width - 24)
                c.fillText((t / 1e6).toFixed(by >= 1e6 ? 0 : Math.min(6, Math.ceil(-Math.log10(by / 1e6)))) + " s", x(t), AXIS / 2);
            c.globalAlpha = 0.25;
            c.fillRect(x(t), AXIS - 4, 0.7, height);
            c.globalAlpha = 1;
        }
    }

    tip(event) {
        const task = this.lanes.length ? this.laneAt(event.offsetY) : null;
        if (!task || event.offsetY < AXIS || event.offsetX < LABEL) {
            hideTip();
            return;
        }
        const time = this.from + (event.offsetX - LABEL) / this.plotWidth * this.spanUs, near = this.spanUs / this.plotWidth * 2;
        const call = (this.model.calls.get(task.tid) ?? []).findLast(([, start, stop]) => start - near <= time && stop + near >= time);
        const message = this.model.messages.findLast(([source, target, , , sent, received]) =>
            (source === task.tid && Math.abs(sent - time) < near) || (target === task.tid && Math.abs(received - time) < near));
        const lines = [`${this.model.taskName(task.tid)} ${tidText(task.tid)} at ${this.model.hostName(task.host)}`];
        if (call)
            lines.push(`pvm_${this.model.event_names?.[call[0]]}: ${durationText(call[2] - call[1])}`);
        if (message)
            lines.push(`${tidText(message[0])} → ${tidText(message[1])}, tag ${message[2]}, ${bytesText(message[3])}, ${durationText(Math.max(message[5] - message[4], 0))}`);
        showTip(lines.join("\n"), event.clientX, event.clientY);
    }
}
