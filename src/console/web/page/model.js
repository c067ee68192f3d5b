// model.js - the machine as the server tells of it: the whole state once, then changes.

const CALLS_KEPT = 4000; // of one task
const MESSAGES_KEPT = 40000;
const OUTPUT_KEPT = 5000;
const HISTORY_KEPT = 600;

export class Model {
    constructor() {
        this.listeners = [];
        this.onlink = () => {};
        this.clear();
    }

    clear() {
        this.hosts = new Map();
        this.tasks = new Map();
        this.pairs = new Map();
        this.calls = new Map(); // tid: [what, start, end] in the order of their ends
        this.messages = [];
        this.output = [];
        this.mailbox = [];
        this.groups = [];
        this.history = [];
        this.hidden = 0;
        this.clock = null;
        this.control = false;
    }

    listen(listener) {
        this.listeners.push(listener);
    }

    // Server time in microseconds. It follows the server's slowly, so that pictures roll evenly.
    now() {
        return performance.now() * 1000 + (this.clock ?? 0);
    }

    setClock(now) {
        const clock = now - performance.now() * 1000;
        this.clock = this.clock === null || Math.abs(clock - this.clock) > 400000 ? clock : this.clock + (clock - this.clock) / 8;
    }

    hostName(tid) {
        return this.hosts.get(tid)?.name ?? "?";
    }

    taskName(tid) {
        const name = this.tasks.get(tid)?.name ?? "";
        return name.slice(name.lastIndexOf("/") + 1) || "–";
    }

    take(changes) {
        for (const host of changes.hosts ?? [])
            this.hosts.set(host.tid, host);
        for (const task of changes.tasks ?? [])
            this.tasks.set(task.tid, task);
        for (const tid of changes.forget ?? [])
            this.forget(tid);
        for (const [from, to, messages, bytes, directFrames, directBytes, daemonFrames, daemonBytes, route] of changes.pairs ?? [])
            this.pairs.set(from + ":" + to, { from, to, messages, bytes, directFrames, directBytes, daemonFrames, daemonBytes, route });
        this.takeCalls(changes.calls ?? []);
        this.messages = append(this.messages, changes.messages, MESSAGES_KEPT);
        this.output = append(this.output, changes.output, OUTPUT_KEPT);
        this.history = append(this.history, changes.history, HISTORY_KEPT);
        for (const key of ["mailbox", "groups", "hidden", "control", "key", "version", "event_names", "origin", "pairs_full"])
            if (key in changes)
                this[key] = changes[key];
        this.setClock(changes.now);
    }

    forget(tid) {
        this.tasks.delete(tid);
        this.calls.delete(tid);
        for (const [key, pair] of this.pairs)
            if (pair.from === tid || pair.to === tid)
                this.pairs.delete(key);
    }

    takeCalls(rows) {
        for (const [tid, what, start, length] of rows) {
            let list = this.calls.get(tid);
            if (!list)
                this.calls.set(tid, list = []);
            list.push([what, start, start + length]);
            if (list.length > CALLS_KEPT * 1.5)
                list.splice(0, list.length - CALLS_KEPT);
        }
    }

    tell(changes, whole) {
        const before = performance.now();
        this.take(changes);
        for (const listener of this.listeners)
            listener(changes, whole);
        const took = performance.now() - before;
        document.body.dataset.updates = Number(document.body.dataset.updates ?? 0) + 1;
        document.body.dataset.updateMs = took.toFixed(1);
        document.body.dataset.slowestMs = Math.max(took, Number(document.body.dataset.slowestMs ?? 0)).toFixed(1);
    }

    // Fetches the state and follows the changes; again when the stream breaks.
    async follow() {
        for (let wait = 500;; wait = Math.min(wait * 2, 5000)) {
            try {
                const answer = await fetch("state");
                if (answer.status === 401 || answer.status === 403) {
                    this.onlink("lost", "not let in");
                    return;
                }
                const state = await answer.json();
                this.clear();
                this.tell(state, true);
                this.onlink("live", "live");
                wait = 500;
                await this.stream(state.position);
            } catch (error) {
                console.warn(error);
            }
            this.onlink("lost", "no connection");
            await new Promise((resolve) => setTimeout(resolve, wait));
        }
    }

    stream(position) {
        return new Promise((resolve) => {
            const source = new EventSource("events?from=" + position);
            source.onmessage = (event) => this.tell(JSON.parse(event.data), false);
            source.onerror = () => {
                source.close();
                resolve();
            };
        });
    }

    async wish(action, body) {
        const answer = await fetch(action, {
            method: "POST",
            headers: { "Content-Type": "application/json", "X-Dpvm-Token": this.key ?? "" },
            body: JSON.stringify(body),
        });
        const said = await answer.json();
        if (!answer.ok)
            throw new Error(said.error);
        return said.request;
    }
}

function append(list, more, kept) {
    if (!more?.length)
        return list;
    for (const item of more)
        list.push(item);
    return list.length > kept * 1.2 ? list.slice(-kept) : list;
}
