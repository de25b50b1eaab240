"use strict";
// What the dialogs show of a cell, a run or a figure, built from the page's JSON block.
// All text goes into the page as text nodes; nothing is ever parsed as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const address = (id) => id.split("/").map(encodeURIComponent).join("/"); // as words.address in Python
const kindOf = (verdict) => data.kinds[verdict] || (verdict.startsWith("holds ") ? "near" : "plain");
const missing = (value) => value === null || value === undefined || value === "" || value === false;

// ---- building blocks ----

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => !missing(child)));
  return node;
}

function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}

const sign = (verdict) => draw("svg", { class: "g", "aria-hidden": "true" }, draw("use", { href: `#g-${kindOf(verdict)}` }));
const word = (verdict) => make("span", { className: `word k-${kindOf(verdict)}` }, sign(verdict), verdict);
const link = (href, ...content) => make("a", { href }, ...content);

function number(value, decimals = 2, plus = false) {
  if (missing(value)) return "–"; // otherwise as common.number in Python
  const text = value.toFixed(Math.min(decimals ?? 2, 20));
  if (!Number(text)) return text.replace("-", "");
  return plus && value > 0 ? `+${text}` : text.replace("-", "−");
}

// Small and huge numbers with an exponent, as Python writes them: 1e-05, not 0.00001.
function written(value, huge) {
  const size = Math.abs(value);
  const text = size && (size < 1e-4 || size >= huge) ? value.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(value);
  return value < 0 ? text.replace("-", "−") : text;
}

const plain = (value) => (typeof value === "number" ? written(value, 1e16) : String(value)); // a setting, as words.plain in Python

function short(value) {
  const size = Math.abs(value); // as common.short in Python
  return (size >= 0.1 && size < 1e5) || size === 0 ? number(value) : written(Number(value.toPrecision(3)), 1e5).replaceAll("-", "−");
}

function pairs(entries) {
  const shown = entries.filter(([, value]) => !missing(value));
  return make("dl", { className: "pairs" }, shown.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function flat(object, shown = plain, prefix = "") {
  return Object.entries(object || {}).flatMap(([name, value]) => {
    if (value && typeof value === "object" && !Array.isArray(value)) return flat(value, shown, `${prefix}${name}.`);
    if (missing(value)) return [];
    return [[`${prefix}${name}`.replaceAll("_", " "), Array.isArray(value) ? value.join(", ") : shown(value)]];
  });
}

function say(text) {
  document.getElementById("said").textContent = text;
}

function command(node) {
  const button = make("button", { type: "button" }, "Copy");
  const code = node.querySelector("code");
  button.setAttribute("aria-label", `Copy: ${code.textContent}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // no clipboard here: selected, ready for the keyboard
      button.textContent = "Selected";
    }
    say(button.textContent);
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  node.append(button);
  return node;
}

// ---- cells and runs, as words ----

const runLabel = (id) => {
  const run = data.runs[id];
  if (!run) return id;
  return [run.objective || "untrained", run.backbone, missing(run.seed) ? "" : `seed ${run.seed}`].filter(Boolean).join(" · ");
};
const runLink = (id) => (data.runs[id] ? link(`#run=${address(id)}`, runLabel(id)) : make("code", {}, id));
const parts = (id) => {
  const [paper, , ...rest] = id.split("/");
  return { paper, title: rest.filter((part, place) => part !== "value" || place < 2).join(" · ") };
};
const tableOf = (id) => data.tables[id.split("/").slice(0, 2).join("/")] || ["", ""];
const cellLabel = (id) => `${tableOf(id)[0]} · ${parts(id).title}`;
const cellOf = (reference, paper) =>
  [reference, `${paper}/${reference}`, `${paper}/${reference}/value`].find((id) => id in data.cells);

const claimsOf = {}; // cell id -> claims that rest on it
for (const claim of data.claims) {
  const paper = claim.id.split("/")[0];
  for (const reference of claim.evidence.flatMap((part) => part.cells || [])) {
    const id = cellOf(reference, paper);
    if (id && !(claimsOf[id] ||= []).includes(claim)) claimsOf[id].push(claim);
  }
}

function plot(cell) {
  // Ours with its interval above the published number, on one axis with round ticks.
  const values = [cell.ours, cell.published, ...(cell.ci || [])].filter((value) => !missing(value));
  if (cell.published !== null && cell.published_std) values.push(cell.published - cell.published_std, cell.published + cell.published_std);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || Math.abs(high) * 0.02 || 1) * 0.12;
  [low, high] = [low - room, high + room];
  const x = (value) => 70 + (360 * (value - low)) / (high - low);
  const step = [1, 2, 5, 10].map((factor) => factor * 10 ** Math.floor(Math.log10((high - low) / 5))).find((size) => (high - low) / size <= 6);
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick++) ticks.push(tick * step);
  const kind = kindOf(cell.verdict);
  const nodes = ticks.flatMap((tick) => [
    draw("line", { class: "axis", x1: x(tick), x2: x(tick), y1: 4, y2: 54 }),
    draw("text", { x: x(tick), y: 70, "text-anchor": "middle" }, String(Number(tick.toPrecision(6))).replace("-", "−")),
  ]);
  nodes.push(draw("text", { class: "label", x: 0, y: 22 }, "ours"));
  if (cell.ci) nodes.push(draw("line", { class: `ci s-${kind}`, x1: x(cell.ci[0]), x2: x(cell.ci[1]), y1: 18, y2: 18 }));
  nodes.push(draw("circle", { class: `f-${kind}`, cx: x(cell.ours), cy: 18, r: 5 }));
  if (!missing(cell.published)) {
    nodes.push(draw("text", { class: "label", x: 0, y: 46 }, "published"));
    if (cell.published_std)
      nodes.push(draw("line", { class: "ci s-plain", x1: x(cell.published - cell.published_std), x2: x(cell.published + cell.published_std), y1: 42, y2: 42 }));
    nodes.push(draw("path", { class: "printed", d: `M${x(cell.published)} 36l6 6l-6 6l-6 -6z` }));
  }
  return draw("svg", { class: "plot", viewBox: "0 0 440 74", "aria-hidden": "true" }, nodes);
}

function cellView(id) {
  const cell = data.cells[id];
  if (!cell) return ["No such cell", "", [make("p", {}, `This report has no cell ${id}.`)]];
  const { paper, title } = parts(id);
  const digits = cell.decimals;
  const spread = (std) => (missing(std) ? "" : ` ± ${number(std, digits)}`);
  const body = [make("p", { className: "lead" }, word(cell.verdict), data.meanings[cell.verdict] ? ` ${data.meanings[cell.verdict]}.` : "")];
  if (!missing(cell.ours) && cell.verdict !== "not comparable") body.push(plot(cell)); // one axis would compare
  body.push(
    pairs([
      ["Ours", missing(cell.ours) ? "– (a hole)" : number(cell.ours, digits) + spread(cell.std)],
      ["Interval of the mean", cell.ci && cell.ci[0] < cell.ci[1] && `${number(cell.ci[0], digits)} to ${number(cell.ci[1], digits)}`],
      ["Seeds", cell.seeds],
      ["Published", missing(cell.published) ? cell.text || "no number in print" : number(cell.published, digits) + spread(cell.published_std)],
      ["Difference", missing(cell.difference) ? "" : number(cell.difference, digits, true)],
      ["Note", cell.note],
    ]),
  );
  if (cell.fill) body.push(make("h3", {}, "How to fill this hole"), command(make("span", { className: "command" }, make("code", {}, cell.fill))));
  if (cell.runs?.length)
    body.push(make("h3", {}, "Runs"), make("ul", { className: "plainlist" }, cell.runs.map((run) => make("li", {}, runLink(run)))));
  if (claimsOf[id])
    body.push(
      make("h3", {}, "Claims that rest on it"),
      make("ul", { className: "plainlist" }, claimsOf[id].map((claim) => make("li", {}, word(claim.verdict), " ", link(`#claim=${address(claim.id)}`, claim.statement)))),
    );
  return [title, `${paper}, ${tableOf(id).filter(Boolean).join(": ")}`, body];
}

function curve(name, points, best) {
  const [width, height] = [240, 84];
  const finite = points.filter(([, value]) => !missing(value));
  if (!finite.length) return "";
  const steps = finite.map(([step]) => step);
  const values = finite.map(([, value]) => value);
  const [first, last, low, high] = [Math.min(...steps), Math.max(...steps), Math.min(...values), Math.max(...values)];
  const x = (step) => 4 + ((width - 8) * (step - first)) / (last - first || 1);
  const y = (value) => 22 + ((height - 40) * (high - value)) / (high - low || 1);
  const nodes = [
    draw("text", { class: "label", x: 4, y: 11 }, name.replaceAll("_", " ")),
    draw("text", { x: width - 4, y: 11, "text-anchor": "end" }, `${short(low)} to ${short(high)}`),
    draw("line", { class: "axis", x1: 4, x2: width - 4, y1: height - 14, y2: height - 14 }),
    draw("text", { x: 4, y: height - 2 }, `step ${first}`),
    draw("text", { x: width - 4, y: height - 2, "text-anchor": "end" }, String(last)),
  ];
  if (best >= first && best <= last) nodes.push(draw("line", { class: "bound", x1: x(best), x2: x(best), y1: 18, y2: height - 14 }));
  if (finite.length === 1) nodes.push(draw("circle", { class: "f-good", cx: x(first), cy: y(values[0]), r: 3 }));
  else nodes.push(draw("polyline", { class: "curve", points: finite.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }));
  const label = `${name} from ${short(values[0])} at step ${first} to ${short(values.at(-1))} at step ${last}`;
  return draw("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, nodes);
}

function runView(id) {
  const run = data.runs[id];
  if (!run) return ["No such run", "", [make("p", {}, `This report has no run ${id}.`)]];
  const [body, groups] = [[], make("div", { className: "groups" })];
  const group = (title, entries) => {
    if (entries.some(([, value]) => !missing(value))) groups.append(make("section", {}, make("h3", {}, title), pairs(entries)));
  };
  if (run.stale) body.push(make("p", { className: "note" }, make("b", {}, "Trained by older code. "), "The code that this run depends on has changed since."));
  body.push(
    pairs([
      ["Objective", run.objective ? `${run.objective}${run.variant ? `, ${run.variant}` : ""}` : "none: the untrained encoder"],
      ["Best score", missing(run.best_score) ? "" : `${number(run.best_score, 4)} on development data, at step ${run.best_step} of ${run.steps}`],
      ["Time", run.time],
      ["Energy", missing(run.energy_wh) ? "" : `${short(run.energy_wh)} Wh`],
      ["Record", run.record && link(encodeURI(run.record), run.record)],
    ]),
  );
  const curves = Object.entries(run.curves || {}).map(([name, points]) => curve(name, points, run.best_step));
  if (curves.some(Boolean)) body.push(make("h3", {}, "Curves"), make("div", { className: "curves" }, curves));
  group("Scores", flat(run.scores, short));
  group("Parameters", flat(run.parameters));
  group("Training", flat(run.training));
  group("Data", flat(run.data));
  group("Encoder", flat(run.encoder));
  group("Code and machine", [["code fingerprint", run.code], ["commit", run.commit], ...flat(run.environment), ...flat(run.hardware)]);
  group("Model", flat(run.model));
  body.push(groups);
  const cells = run.cells || [];
  if (cells.length) {
    const item = (cell) => {
      if (!data.cells[cell]) return make("li", {}, cell);
      return make("li", {}, sign(data.cells[cell].verdict), " ", link(`#cell=${address(cell)}`, `${parts(cell).paper} ${cellLabel(cell)}`));
    };
    const list = make("ul", { className: "plainlist" }, cells.map(item));
    const summary = make("summary", {}, `${cells.length} ${cells.length === 1 ? "cell" : "cells"}`);
    body.push(make("h3", {}, "Cells that it fills"), cells.length > 12 ? make("details", {}, summary, list) : list);
  }
  return [runLabel(id), id, body];
}

function figureView(id) {
  const figure = document.getElementById(id);
  const image = figure?.querySelector("img");
  if (!image) return ["No such figure", "", []];
  return [figure.querySelector("h4").textContent, "", [make("img", { src: image.src, alt: image.alt })]];
}
