// app.js - the views and what is around them.
import { Control } from "./control.js";
import { Detail } from "./detail.js";
import { Diagram } from "./diagram.js";
import { bytesText, countText, find, forgetColours, setText } from "./format.js";
import { Groups, Mailbox } from "./lists.js";
import { Machine } from "./machine.js";
import { Model } from "./model.js";
import { Output } from "./output.js";
import { Tasks } from "./tasks.js";
import { Traffic } from "./traffic.js";

const model = new Model();
const control = new Control(model);
const detail = new Detail(model, control);
const choose = (tid) => detail.open(tid);
const views = {
    machine: new Machine(model, choose), tasks: new Tasks(model, choose), diagram: new Diagram(model, choose),
    traffic: new Traffic(model, choose), output: new Output(model, choose), mailbox: new Mailbox(model, choose),
    groups: new Groups(model, choose),
};
const names = Object.keys(views);
let shown = null;

// ---- views: only the one that is shown draws ----

function show(name, focus) {
    if (!(name in views))
        name = names[0];
    for (const other of names) {
        const tab = find("#tab-" + other), on = other === name;
        find("#" + other).hidden = !on;
        tab.setAttribute("aria-selected", on);
        tab.tabIndex = on ? 0 : -1;
        if (on && focus)
            tab.focus();
    }
    shown = name;
    if (location.hash !== "#" + name)
        history.replaceState(null, "", "#" + name);
    views[name].draw(true);
}

for (const name of names)
    find("#tab-" + name).addEventListener("click", () => show(name));
find("nav").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step)
        show(names[(names.indexOf(shown) + step + names.length) % names.length], true);
});
addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey)
        return;
    if (event.key >= "1" && event.key <= String(names.length))
        show(names[event.key - 1], true);
    if (event.key === "Escape")
        detail.close();
});
addEventListener("hashchange", () => show(location.hash.slice(1)));
addEventListener("resize", () => views[shown].draw(true));

// The time of the slowest picture is kept for whoever wants to know.
function timed(draw) {
    const before = performance.now(), notes = document.body.dataset;
    draw();
    notes.slowestDrawMs = Math.max(performance.now() - before, Number(notes.slowestDrawMs ?? 0)).toFixed(1);
}

let due = false;
function drawSoon() {
    if (due || document.hidden)
        return;
    due = true;
    requestAnimationFrame(() => {
        due = false;
        timed(() => {
            views[shown].draw(false);
            detail.draw();
        });
    });
}

// ---- the head of the page ----

function drawFigures() {
    const last = model.history.at(-1), before = model.history.at(-4) ?? model.history[0];
    if (!last)
        return;
    const seconds = Math.max((last[0] - before[0]) / 1e6, 1);
    setText(find("#figure-hosts"), String(last[1]));
    setText(find("#figure-tasks"), String([...model.tasks.values()].filter((t) => !t.ended).length));
    setText(find("#figure-messages"), countText((last[3] - before[3]) / seconds));
    setText(find("#figure-bytes"), bytesText((last[4] - before[4]) / seconds));
}

model.listen((changes, whole) => {
    if (whole) {
        find("#control").hidden = !model.control;
        setText(find("#mode"), model.control ? "control" : "read-only");
        const first = [...model.hosts.values()][0];
        setText(find("#where"), first ? "at " + first.name : "");
        document.title = first ? "pvm web · " + first.name : "pvm web";
    }
    for (const view of Object.values(views))
        view.take?.(changes, whole);
    control.take(changes);
    drawFigures();
    drawSoon();
});

model.onlink = (state, text) => {
    const pill = find("#link");
    pill.className = "pill " + state;
    setText(pill, text);
};

// ---- light and dark ----

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    forgetColours();
    if (shown)
        views[shown].draw(true);
}
const wanted = matchMedia("(prefers-color-scheme: dark)");
setTheme(sessionStorage.theme ?? (wanted.matches ? "dark" : "light"));
wanted.addEventListener("change", () => sessionStorage.theme ?? setTheme(wanted.matches ? "dark" : "light"));
find("#theme").addEventListener("click", () => {
    sessionStorage.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(sessionStorage.theme);
});

// Every update goes through one short timer, so that 1,000 tasks cost one drawing and not a thousand.
setInterval(() => shown === "diagram" && !document.hidden && timed(() => views.diagram.roll()), 50);
show(location.hash.slice(1));
model.follow();
