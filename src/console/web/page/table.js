// table.js - a table that can be sorted; rows are made once and changed in place.
import { element, setText } from "./format.js";

export class Table {
    // Columns: { title, value(row): what it is sorted by, text(row), number, mono, fill(cell, row) }
    constructor(table, columns, sort, descending) {
        Object.assign(this, { columns, sort, descending, body: table.tBodies[0], rows: new Map() });
        this.heads = columns.map((column, i) => {
            const head = element("th", { class: column.number ? "number" : "" },
                element("button", { type: "button", onclick: () => this.setSort(i) }, column.title));
            head.scope = "col";
            return head;
        });
        table.tHead.append(element("tr", {}, ...this.heads));
        this.mark();
        this.onsort = () => {};
    }

    setSort(i) {
        this.descending = i === this.sort ? !this.descending : Boolean(this.columns[i].number);
        this.sort = i;
        this.mark();
        this.onsort();
    }

    mark() {
        this.heads.forEach((head, i) => {
            if (i === this.sort)
                head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
            else
                head.removeAttribute("aria-sort");
        });
    }

    makeRow(key) {
        const tr = element("tr");
        tr.dataset.key = key;
        for (const column of this.columns)
            tr.append(element("td", { class: (column.number ? "number " : "") + (column.mono ? "mono" : "") }));
        return tr;
    }

    // Items: [key, row]. `most`: how many are shown. Returns how many there are.
    draw(items, most, look) {
        const value = this.columns[this.sort].value, sign = this.descending ? -1 : 1;
        const sorted = items.map(([key, row]) => [key, row, value(row)]);
        sorted.sort((a, b) => (a[2] < b[2] ? -sign : a[2] > b[2] ? sign : a[0] < b[0] ? -1 : 1));
        const wanted = new Map();
        let at = this.body.firstElementChild;
        for (const [key, row] of sorted.slice(0, most)) {
            const tr = this.rows.get(key) ?? this.makeRow(key);
            wanted.set(key, tr);
            this.columns.forEach((column, i) => (column.fill ? column.fill(tr.cells[i], row) : setText(tr.cells[i], column.text(row))));
            look?.(tr, row);
            if (tr !== at)
                this.body.insertBefore(tr, at);
            else
                at = at.nextElementSibling;
        }
        for (const [key, tr] of this.rows)
            if (!wanted.has(key))
                tr.remove();
        this.rows = wanted;
        return sorted.length;
    }
}

// A cell with the tid of a task, which opens its details.
export function fillTid(choose, text, tidOf) {
    return (cell, row) => {
        const tid = tidOf(row);
        let button = cell.firstElementChild;
        if (!button) {
            button = element("button", { type: "button", class: "tid mono", onclick: () => choose(Number(button.dataset.tid)) });
            cell.append(button);
        }
        button.dataset.tid = tid;
        setText(button, text(row));
    };
}
