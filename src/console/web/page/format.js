// format.js - texts, colours and elements. All text reaches the page as text, never as markup.

export const tidText = (tid) => "t" + tid.toString(16);

export const STATES = ["computing", "packing", "sending", "receiving", "group", "other"];
export const STATE_TEXTS = {
    computing: "computing", packing: "packing", sending: "sending", receiving: "receiving", group: "in a group call",
    other: "other call", running: "running", starting: "starting", ended: "ended",
};

const FLAG_CONNECTED = 4;
const DOES = ["computing", "receiving", "sending", "other", "group"]; // enum pvmdoes

// What a task does, as far as is known: by its last event if it is traced, else by what it showed lately.
export function stateOf(task) {
    if (task.ended)
        return "ended";
    if (task.traced)
        return STATES[task.doing] ?? "other";
    if (task.usage?.does >= 0)
        return DOES[task.usage.does] ?? "other";
    return task.flags & FLAG_CONNECTED ? "running" : "starting";
}

export function element(tag, properties = {}, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(properties))
        if (name === "class")
            e.className = value;
        else if (name.startsWith("on"))
            e.addEventListener(name.slice(2), value);
        else if (name in e)
            e[name] = value;
        else
            e.setAttribute(name, value);
    e.append(...children);
    return e;
}

// Whom a task waits for; "" if for nobody.
export function waitsFor(task) {
    const { does, peer, tag } = task.usage ?? {};
    if (task.ended || !(does > 0) || (task.traced && task.call < 0)) // its last event is newer
        return "";
    if (!(peer > 0) && does >= 3)
        return does === 3 ? "its daemon" : "a group";
    return (peer > 0 ? tidText(peer) : "anybody") + (does === 1 && tag >= 0 ? `, tag ${tag}` : "");
}

export const find = (selector) => document.querySelector(selector);

export function setText(e, text) {
    if (e.textContent !== text)
        e.textContent = text;
}

function scaled(value, units, step) {
    let i = 0;
    for (; value >= step * 0.9995 && i + 1 < units.length; i++)
        value /= step;
    return (value >= 100 || i === 0 ? Math.round(value) : value.toPrecision(3)) + units[i];
}
export const countText = (n) => scaled(n, ["", " k", " M", " G"], 1000);
export const bytesText = (n) => scaled(n, [" B", " kB", " MB", " GB", " TB"], 1000);

export function durationText(us) {
    if (us < 1000)
        return Math.round(us) + " µs";
    if (us < 1e6)
        return (us / 1000).toPrecision(3) + " ms";
    const s = us / 1e6;
    if (s < 60)
        return s.toFixed(s < 10 ? 1 : 0) + " s";
    if (s < 3600)
        return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
    return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
}

let styles = null;
const colours = new Map();
export function colour(name) {
    styles ??= getComputedStyle(document.documentElement);
    if (!colours.has(name))
        colours.set(name, styles.getPropertyValue("--" + name).trim());
    return colours.get(name);
}
export const forgetColours = () => colours.clear();

export const ROUTE_COLOURS = { daemon: "other", shm: "computing", tcp: "packing", dp: "group", rdma: "sending", ofi: "bad", atm: "receiving" };

// Makes a canvas fit its place at the screen's resolution.
export function fitCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(width * ratio), h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = width + "px";
        canvas.style.height = height + "px";
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

const tip = find("#tip");
export function showTip(text, x, y) {
    setText(tip, text);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.min(x + 14, innerWidth - box.width - 8) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
}
export const hideTip = () => { tip.hidden = true; };

export function showEmpty(section, text) {
    const p = section.querySelector(".empty");
    p.hidden = !text;
    setText(p, text || "");
}

export function legend(list, entries) {
    list.replaceChildren(...entries.map(([look, text]) => {
        const swatch = element("span", { class: "swatch" });
        if (look.includes("--"))
            swatch.style.backgroundColor = look;
        else
            swatch.classList.add(look);
        return element("li", {}, swatch, text);
    }));
}
