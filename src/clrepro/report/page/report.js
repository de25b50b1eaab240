// What the page adds to its own HTML: dialogs that follow the address, sorting, filters, views of the tables.

const dialog = document.getElementById("dialog");
dialog.setAttribute("aria-labelledby", "dialog-title");
const hint = document.getElementById("hint");

// ---- dialogs follow the address: #cell=..., #run=..., #figure=... ----

const views = { cell: cellView, run: runView, figure: figureView };
let origin = null; // what was focused before the dialog opened

function show(key, id) {
  const [title, subtitle, body] = views[key](id);
  const heading = make("h2", { id: "dialog-title", tabIndex: -1 }, title);
  const closer = make("button", { type: "button" }, "Close");
  closer.addEventListener("click", leave);
  const inside = history.state.depth > 1;
  const back = inside ? make("button", { type: "button" }, "Back") : "";
  if (inside) back.addEventListener("click", () => history.back());
  dialog.classList.toggle("wide", key === "figure");
  dialog.replaceChildren(
    make("div", { className: "dialog-head" }, make("div", {}, heading, subtitle && make("p", { className: "small" }, subtitle)), back, closer),
    make("div", { className: "dialog-body" }, body),
  );
  hint.hidden = true;
  if (!dialog.open) {
    origin = document.activeElement === document.body ? null : document.activeElement;
    dialog.showModal();
  }
  dialog.scrollTop = 0;
  heading.focus({ focusVisible: false });
}

function hide(focus) {
  if (!dialog.open) return;
  dialog.close();
  const back = focus && (origin || document.querySelector(":target a"));
  if (back) setTimeout(() => back.focus({ preventScroll: true })); // later: the browser, too, moves the focus on its way back
}

const leave = () => history.go(-history.state.depth); // to where the first dialog was opened; route closes it

function reveal(node) {
  for (let outer = node.parentElement; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
  node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
}

let place = ""; // the address outside dialogs

function route() {
  const hash = location.hash.slice(1);
  const target = hash && document.getElementById(hash);
  const [, key, value] = hash.match(/^(cell|run|figure|claim)=(.*)$/) || [];
  if (key in views) {
    if (!history.state?.depth) {
      // A link from outside: show where it points, and put the page itself one step back.
      history.replaceState(null, "", location.pathname + location.search);
      history.pushState({ depth: 1 }, "", `#${hash}`);
      if (target) reveal(target);
    }
    return show(key, decodeURIComponent(value));
  }
  const closed = dialog.open && hash === place;
  hide(closed);
  place = hash;
  if (closed) return;
  if (key === "claim" && target) {
    resetTools(target.closest("table"));
    toggle(target, true);
    reveal(target);
  }
  const [, section, paper] = hash.match(/^(claims|theory)\/(.*)$/) || [];
  const select = section && document.querySelector(`#${section} select[name=paper]`);
  if (select) {
    resetTools(document.querySelector(`#${section} table`));
    select.value = decodeURIComponent(paper);
    select.dispatchEvent(new Event("change"));
    document.getElementById(section).scrollIntoView();
  }
}

function enter(hash) {
  history.pushState({ depth: (dialog.open ? history.state.depth : 0) + 1 }, "", hash);
  route();
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.('a[href^="#cell="], a[href^="#run="], a[href^="#figure="]');
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  enter(anchor.getAttribute("href"));
});
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  leave();
});
dialog.addEventListener("click", (event) => event.target === dialog && leave());
addEventListener("popstate", route);

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

// ---- claims open to their evidence ----

function toggle(row, open) {
  const opener = row.querySelector(".opener");
  opener.setAttribute("aria-expanded", String(open));
  row.rows[1].hidden = !open;
  const claim = data.claims.find(({ id }) => `claim=${address(id)}` === row.id);
  for (const [place, cell] of all(".rests", row).entries()) {
    const { cells, runs } = claim.evidence[place];
    if (cell.querySelector("details") || !(cells?.length || runs?.length)) continue;
    const items = (cells || []).map((reference) => {
      const id = cellOf(reference, claim.id.split("/")[0]);
      return id ? link(`#cell=${address(id)}`, cellLabel(id)) : reference;
    });
    const entries = [...items, ...(runs || []).map(runLink)].map((item) => make("li", {}, item));
    cell.replaceChildren(make("details", {}, make("summary", {}, cell.textContent), make("ul", { className: "plainlist" }, entries)));
  }
}

for (const row of all(".claims .row")) {
  const head = row.querySelector(".statement");
  const opener = make("button", { type: "button", className: "opener" }, head.firstChild.textContent.trim());
  head.firstChild.replaceWith(opener);
  opener.addEventListener("click", () => toggle(row, row.rows[1].hidden));
  opener.setAttribute("aria-expanded", "false");
  row.rows[1].hidden = true;
}

// ---- figures, commands, theme, navigation, print ----

for (const image of all("figure img")) {
  const button = make("button", { type: "button", "aria-label": `Enlarge ${image.closest("figure").querySelector("h4").textContent}` });
  image.replaceWith(button);
  button.append(image);
  button.addEventListener("click", () => enter(`#figure=${address(button.closest("figure").id)}`));
}
all(".command").forEach(command);

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = make("button", { type: "button" });
const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => (theme.textContent = isDark() ? "Light" : "Dark");
theme.setAttribute("aria-description", "switches the colours of this page");
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();
document.querySelector(".top").append(theme);

const spy = new IntersectionObserver(
  (entries) => {
    const entry = entries.find((one) => one.isIntersecting);
    const anchor = entry && document.querySelector(`.top nav a[href="#${entry.target.id}"]`);
    if (!anchor) return;
    document.querySelector(".top nav [aria-current]")?.removeAttribute("aria-current");
    anchor.setAttribute("aria-current", "location");
    anchor.parentNode.scrollTo({ left: anchor.offsetLeft - anchor.parentNode.offsetLeft - anchor.parentNode.clientWidth / 3 });
  },
  { rootMargin: "-15% 0px -80% 0px" },
);
all("main > section").forEach((section) => spy.observe(section));

let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = all("details:not([open])");
  for (const part of unfolded) part.open = true;
});
addEventListener("afterprint", () => unfolded.forEach((part) => (part.open = false)));

if (location.hash) route();
