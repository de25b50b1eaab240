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
