// The field at the top of each page: finds names (names.js has them) that hold what was typed; those that begin with it
// come first. Enter goes to the first, "/" puts the cursor there.
const field = document.getElementById("search"), list = document.getElementById("found");

function find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted)
        return [];
    const rank = ([name, summary]) => {
        const at = name.toLowerCase().indexOf(wanted);
        return at === 0 ? 0 : at > 0 ? 1 : summary.toLowerCase().includes(wanted) ? 2 : 3;
    };
    return names.map(row => [rank(row), row]).filter(([r]) => r < 3).sort((a, b) => a[0] - b[0]).map(([, row]) => row).slice(0, 30);
}

function show() {
    list.replaceChildren(...find(field.value).map(([name, summary, file]) => {
        const row = document.createElement("li"), link = document.createElement("a"), text = document.createElement("span");
        link.href = file;
        link.textContent = name;
        text.textContent = summary;
        row.append(link, " ", text);
        return row;
    }));
    list.hidden = !list.firstChild;
}

field.addEventListener("input", show);
field.addEventListener("keydown", event => {
    const first = list.querySelector("a");
    if (event.key === "Enter" && first)
        location.href = first.href;
    if (event.key === "Escape") {
        field.value = "";
        show();
    }
});
document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== field) {
        event.preventDefault();
        field.focus();
    }
});
