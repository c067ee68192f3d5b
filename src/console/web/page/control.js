// control.js - adding hosts, spawning and killing tasks, if pvm web was started with --control.
import { element, find, setText, tidText } from "./format.js";

const lines = (text) => text.split("\n").map((l) => l.trim()).filter(Boolean);

export class Control {
    constructor(model) {
        Object.assign(this, { model, waiting: new Map(), early: new Map() });
        for (const name of ["add", "spawn", "kill"]) {
            const dialog = find(`#${name}-dialog`);
            dialog.querySelector(".cancel").addEventListener("click", () => dialog.close());
            dialog.querySelector("form").addEventListener("submit", () => this[name]());
        }
        find("#open-add").addEventListener("click", () => find("#add-dialog").showModal());
        find("#open-spawn").addEventListener("click", () => this.openSpawn());
    }

    openSpawn() {
        const hosts = [...this.model.hosts.values()].filter((h) => !h.gone);
        find("#spawn-host").replaceChildren(element("option", { value: "" }, "any"), ...hosts.map((h) => element("option", { value: h.name }, h.name)));
        find("#spawn-dialog").showModal();
    }

    askKill(tid) {
        this.victim = tid;
        setText(find("#kill-text"), `${this.model.taskName(tid)} ${tidText(tid)} at ${this.model.hostName(this.model.tasks.get(tid)?.host)} gets SIGTERM.`);
        find("#kill-dialog").showModal();
    }

    add() {
        const hosts = lines(find("#add-hosts").value);
        this.wish("add", { hosts }, `Adding ${hosts.join(", ")}…`);
    }

    spawn() {
        const program = find("#spawn-program").value.trim();
        this.wish("spawn", { program, arguments: lines(find("#spawn-arguments").value), count: Number(find("#spawn-count").value), host: find("#spawn-host").value },
            `Spawning ${program}…`);
    }

    kill() {
        this.wish("kill", { tid: this.victim }, `Killing ${tidText(this.victim)}…`);
    }

    async wish(action, body, text) {
        const toast = element("div", { class: "toast busy" }, text);
        find("#toasts").append(toast);
        try {
            const request = await this.model.wish(action, body);
            this.waiting.set(request, toast);
            if (this.early.has(request)) // the result came before the answer
                this.finish(this.early.get(request));
        } catch (error) {
            this.end(toast, false, error.message);
        }
    }

    take(changes) {
        for (const result of changes.results ?? [])
            if (this.waiting.has(result.request))
                this.finish(result);
            else
                this.early.set(result.request, result);
    }

    finish(result) {
        this.end(this.waiting.get(result.request), result.good, result.text);
        this.waiting.delete(result.request);
        this.early.delete(result.request);
    }

    end(toast, good, text) {
        toast.className = good ? "toast" : "toast bad";
        setText(toast, text);
        setTimeout(() => toast.remove(), good ? 5000 : 15000);
    }
}
