// output.js - what tasks print.
import { element, find, setText, showEmpty, tidText } from "./format.js";

const SHOWN = 2000;

export class Output {
    constructor(model, choose) {
        Object.assign(this, { model, choose, section: find("#output"), box: find("#output-lines"), filter: find("#output-filter"), follow: find("#output-follow"), fresh: [] });
        this.filter.addEventListener("input", () => this.draw(true));
        this.box.addEventListener("click", (e) => e.target.dataset.tid && choose(Number(e.target.dataset.tid)));
        this.box.addEventListener("scroll", () => {
            const atEnd = this.box.scrollTop + this.box.clientHeight > this.box.scrollHeight - 30;
            if (!atEnd && this.scrolls === undefined)
                this.follow.checked = false;
        });
    }

    take(changes, whole) {
        if (whole)
            this.stale = true;
        this.fresh.push(...changes.output ?? []);
        if (this.fresh.length > SHOWN) {
            this.fresh = this.fresh.slice(-SHOWN);
            this.stale = true;
        }
    }

    matches([tid, , , text], wanted) {
        return !wanted || text.toLowerCase().includes(wanted) || tidText(tid).includes(wanted);
    }

    line([tid, isError, time, text]) {
        const at = new Date((this.model.origin + time) / 1000);
        const button = element("button", { type: "button", class: "tid" }, tidText(tid));
        button.dataset.tid = tid;
        return element("div", { class: isError ? "line error" : "line" }, element("time", {}, at.toTimeString().slice(0, 8)), button,
            element("span", { class: "text" }, text));
    }

    draw(always) {
        const wanted = this.filter.value.trim().toLowerCase();
        const lines = (always || this.stale ? this.model.output : this.fresh).filter((l) => this.matches(l, wanted)).slice(-SHOWN).map((l) => this.line(l));
        if (always || this.stale)
            this.box.replaceChildren(...lines);
        else
            this.box.append(...lines);
        while (this.box.childElementCount > SHOWN)
            this.box.firstElementChild.remove();
        this.stale = false;
        this.fresh = [];
        const any = this.model.output.length > 0;
        this.box.hidden = !any;
        setText(find("#output-count"), any ? `the last ${Math.min(this.box.childElementCount, SHOWN)} lines` : "");
        showEmpty(this.section, any ? "" : "No output yet.\nIt comes from tasks that this page has spawned, and from tasks that are spawned by programs which are started from a shell while this page runs.");
        if (this.follow.checked) {
            this.scrolls = true;
            this.box.scrollTop = this.box.scrollHeight;
            requestAnimationFrame(() => { this.scrolls = undefined; });
        }
    }
}
