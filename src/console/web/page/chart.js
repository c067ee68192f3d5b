// chart.js - a small chart of the last minutes.
import { colour, durationText, element, fitCanvas, hideTip, setText, showTip } from "./format.js";

const HEIGHT = 62;

export class Chart {
    constructor(title, value, text) {
        Object.assign(this, { value, text, last: element("b"), canvas: element("canvas") });
        this.card = element("div", { class: "chart" }, element("h3", {}, title, this.last), this.canvas);
        this.canvas.addEventListener("mousemove", (e) => this.tip(e));
        this.canvas.addEventListener("mouseleave", hideTip);
    }

    draw(history, always) {
        if (history.length < 2 || (!always && history.at(-1) === this.seen))
            return;
        this.seen = history.at(-1);
        const width = this.card.clientWidth - 24;
        if (width <= 0)
            return;
        const c = fitCanvas(this.canvas, width, HEIGHT);
        const points = history.slice(1).map((row, i) => ({ time: row[0], value: this.value(row, history[i]) }));
        const top = Math.max(...points.map((p) => p.value), 1) * 1.1;
        const first = points[0].time, span = Math.max(points.at(-1).time - first, 1e6);
        const x = (p) => (p.time - first) / span * width, y = (p) => HEIGHT - 14 - p.value / top * (HEIGHT - 20);
        c.beginPath();
        points.forEach((p, i) => (i ? c.lineTo(x(p), y(p)) : c.moveTo(x(p), y(p))));
        c.strokeStyle = colour("accent");
        c.lineWidth = 1.6;
        c.lineJoin = "round";
        c.stroke();
        c.lineTo(width, HEIGHT - 14);
        c.lineTo(0, HEIGHT - 14);
        c.globalAlpha = 0.13;
        c.fillStyle = colour("accent");
        c.fill();
        c.globalAlpha = 1;
        c.fillStyle = colour("soft");
        c.font = "10.5px system-ui, sans-serif";
        c.textAlign = "left";
        c.fillText("−" + durationText(span), 0, HEIGHT - 2);
        c.textAlign = "right";
        c.fillText("now", width, HEIGHT - 2);
        setText(this.last, this.text(points.at(-1).value));
        Object.assign(this, { points, first, span, width });
    }

    tip(event) {
        if (!this.points)
            return;
        const time = this.first + event.offsetX / this.width * this.span;
        const near = this.points.reduce((a, b) => (Math.abs(b.time - time) < Math.abs(a.time - time) ? b : a));
        showTip(`${this.text(near.value)}, ${durationText(this.points.at(-1).time - near.time)} ago`, event.clientX, event.clientY);
    }
}
