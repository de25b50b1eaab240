// ---- tables: sorting, filters, views, arrow keys ----

const tools = new Map(); // table -> its search box, its selects, and what applies them
const line = (row) => (row.tagName === "TBODY" ? row.rows[0] : row);

function sortKey(row, place) {
  const cell = line(row).cells[place];
  if (cell?.classList.contains("cell")) {
    const view = document.documentElement.dataset.view;
    return data.cells[decodeURIComponent(cell.id.slice(5))][view === "published" || view === "difference" ? view : "ours"];
  }
  const text = cell?.dataset.v ?? cell?.textContent.trim() ?? "";
  if (text === "" || text === "–") return null;
  const value = Number(text.replace("−", "-"));
  return Number.isNaN(value) ? text.toLowerCase() : value;
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortBy(table, header, rows) {
  const next = { none: "ascending", ascending: "descending", descending: "none" }[header.getAttribute("aria-sort") || "none"];
  for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
  if (next !== "none") header.setAttribute("aria-sort", next);
  const place = header.cellIndex;
  const keyed = rows.map((row) => [sortKey(row, place), row]);
  if (next !== "none")
    keyed.sort(([a], [b]) => (missing(a) || missing(b) ? missing(a) - missing(b) : next === "ascending" ? compare(a, b) : compare(b, a)));
  rows[0].parentNode.append(...keyed.map(([, row]) => row)); // "none": the paper's own order
  say(next === "none" ? "In the original order" : `Sorted by ${header.textContent}, ${next}`);
}

function resetTools(table) {
  const { inputs, apply } = tools.get(table) || { inputs: [], apply() {} };
  for (const input of inputs) input.value = "";
  apply();
}

for (const table of all("table.smart")) {
  const rows = all(".row", table);
  const heads = [...table.tHead.rows].at(-1);
  for (const header of heads.cells) {
    if (header.dataset.sort === "none" || rows.length < 2) continue;
    const button = make("button", { type: "button" }, ...header.childNodes);
    button.addEventListener("click", () => sortBy(table, header, rows));
    header.append(button);
  }
  const what = table.dataset.what;
  if (rows.length < 4 || !what) continue;
  const search = make("input", { type: "search", placeholder: `Filter ${what}`, "aria-label": `Filter ${what}: ${table.caption.textContent}` });
  const selects = (table.dataset.facets || "").split(" ").filter(Boolean).map((facet) => {
    const values = [...new Set(rows.map((row) => row.dataset[facet]).filter(Boolean))];
    if (values.length < 2) return null;
    return make("select", { name: facet }, new Option(`all`, ""), values.map((value) => new Option(value, value)));
  }).filter(Boolean);
  const count = make("output", { className: "count" });
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows)
      row.hidden = !words.every((text) => texts.get(row).includes(text)) || selects.some((select) => select.value && row.dataset[select.name] !== select.value);
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} ${what}`;
    rove(table);
  };
  search.addEventListener("input", apply);
  for (const select of selects) select.addEventListener("change", apply);
  const bar = make("div", { className: "tools" }, search, selects.map((select) => make("label", {}, select.name, select)), count);
  table.closest(".scroll").before(bar);
  tools.set(table, { inputs: [search, ...selects], apply });
  apply();
}

function rove(table, current) {
  // One tab stop a table; arrow keys do the rest.
  const cells = all(".row:not([hidden]) .cell a", table);
  if (!cells.length) return;
  const chosen = current || cells.find((cell) => cell.tabIndex === 0 && cell.hasAttribute("tabindex")) || cells[0];
  for (const cell of all(".cell a", table)) cell.tabIndex = cell === chosen ? 0 : -1;
}

for (const table of all("table.result")) {
  rove(table);
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".cell");
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!cell || !move) return;
    event.preventDefault();
    const rows = all(".row:not([hidden])", table);
    let [row, column] = [rows.indexOf(cell.parentNode), cell.cellIndex];
    do [row, column] = [row + move[0], column + move[1]];
    while (rows[row]?.cells[column] && !rows[row].cells[column].querySelector("a"));
    const next = rows[row]?.cells[column]?.querySelector("a");
    if (!next) return;
    rove(table, next);
    next.focus();
  });
}

const viewBar = document.getElementById("views");
if (viewBar && document.querySelector(".cell")) {
  const names = { all: "Ours + published", ours: "Ours", published: "Published" };
  if (document.querySelector(".cell .d")) names.difference = "Difference"; // none compares at a small scale
  const buttons = Object.entries(names).map(([view, name]) => {
    const button = make("button", { type: "button", "aria-pressed": String(view === "all") }, name);
    button.addEventListener("click", () => {
      document.documentElement.dataset.view = view;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    });
    return button;
  });
  viewBar.append(make("div", { className: "segments", role: "group", "aria-label": "What the cells show" }, buttons));
}

// ---- a hint over a cell, for the mouse; the dialog says the same and more ----

let waiting = 0;
document.addEventListener("pointerover", (event) => {
  clearTimeout(waiting);
  hint.hidden = true;
  const anchor = event.pointerType === "mouse" && event.target.closest?.(".cell a");
  if (!anchor) return;
  waiting = setTimeout(() => {
    const cell = data.cells[decodeURIComponent(anchor.getAttribute("href").slice(6))];
    const seeds = cell.seeds ? ` (${cell.seeds} ${cell.seeds === 1 ? "seed" : "seeds"})` : "";
    const lines = [missing(cell.ours) ? "no number of ours" : `ours ${number(cell.ours, cell.decimals)}${missing(cell.std) ? "" : ` ± ${number(cell.std, cell.decimals)}`}${seeds}`];
    if (!missing(cell.published)) lines.push(`published ${number(cell.published, cell.decimals)}`);
    if (!missing(cell.difference)) lines.push(`difference ${number(cell.difference, cell.decimals, true)}`);
    if (cell.note) lines.push(cell.note);
    if (cell.fill) lines.push(`fill it by: ${cell.fill}`);
    hint.replaceChildren(make("b", {}, cell.verdict), ...lines.flatMap((text) => [text, make("br")]));
    hint.hidden = dialog.open;
    const [box, own] = [anchor.getBoundingClientRect(), hint.getBoundingClientRect()];
    hint.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
    hint.style.top = `${box.bottom + own.height + 8 < innerHeight ? box.bottom + 6 : box.top - own.height - 6}px`;
  }, 350);
});
addEventListener("scroll", () => (hint.hidden = true), { passive: true });
addEventListener("keydown", (event) => event.key === "Escape" && (hint.hidden = true));
