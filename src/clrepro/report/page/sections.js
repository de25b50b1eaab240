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
