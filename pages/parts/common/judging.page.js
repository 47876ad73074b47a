// Keys for judging (1 2 3, u) and moving (j k h l, arrows), and what joins a document's results.
const state = { id: "" };
// Those in a fold that is closed are out of reach.
const items = () => [...document.querySelectorAll("article:has(.rk-judge)")]
  .filter((item) => !item.closest("details.rk-weaker:not([open])"));
const current = () => document.activeElement?.closest?.("article:has(.rk-judge)");
const focus = (item) => {
  if (!item) return;
  if (item.tabIndex < 0 || !item.hasAttribute("tabindex")) item.tabIndex = -1;
  state.id = item.id;
  item.focus({ preventScroll: true });
  const box = item.getBoundingClientRect();
  if (box.top < 70 || box.bottom > innerHeight) {
    item.scrollIntoView({ block: box.height > innerHeight / 2 ? "start" : "center" });
  }
};
const columnOf = (item) => item.closest(".rk-column");
const inColumn = (item) => {
  const column = columnOf(item);
  return column ? [...column.querySelectorAll("article")] : items();
};
const step = (item, by) => {
  const all = item ? inColumn(item) : items();
  const at = item ? all.indexOf(item) + by : by > 0 ? 0 : all.length - 1;
  focus(all[Math.max(0, Math.min(all.length - 1, at))]);
};
const cross = (item, by) => {
  const columns = [...document.querySelectorAll(".rk-column")];
  const next = columns[columns.indexOf(columnOf(item)) + by];
  if (!next) return;
  const all = [...next.querySelectorAll("article")];
  const same = all.find((one) => one.dataset.doc === item.dataset.doc);
  focus(same ?? all[Math.min(inColumn(item).indexOf(item), all.length - 1)]);
};
const mark = (button) => {
  for (const one of button.closest(".rk-judge").querySelectorAll(".rk-grade")) {
    one.setAttribute("aria-pressed", String(one === button));
  }
};
const grades = { 1: "2", 2: "1", 3: "0" };
const hint = (words) => {
  document.querySelector(".rk-key-hint")?.remove();
  const note = document.createElement("div");
  note.className = "rk-key-hint";
  note.setAttribute("role", "alert");
  note.textContent = words;
  document.querySelector("[data-testid=stMain]")?.append(note);
  setTimeout(() => note.remove(), 5000);
};
const press = (event) => {
  const active = document.activeElement;
  const typing = active && (["INPUT", "TEXTAREA", "SELECT"].includes(active.tagName)
    || active.isContentEditable || active.closest("[role=dialog], [role=listbox], [role=slider], [role=combobox]"));
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const item = current();
  const arrows = item && columnOf(item);
  if (event.key === "j" || (arrows && event.key === "ArrowDown")) step(item, 1);
  else if (event.key === "k" || (arrows && event.key === "ArrowUp")) step(item, -1);
  else if (arrows && ["l", "ArrowRight"].includes(event.key)) cross(item, 1);
  else if (arrows && ["h", "ArrowLeft"].includes(event.key)) cross(item, -1);
  else if (item && grades[event.key]) {
    item.querySelector(`.rk-grade[data-grade="${grades[event.key]}"]`)?.click();
  } else if (grades[event.key] && items().length) {
    hint("Select a result first: press j, then 1, 2 or 3.");
  } else if (event.key === "u") {
    const undo = document.querySelector('[data-rk="unjudge"]');
    if (!undo) return;
    undo.click();
  } else return;
  event.preventDefault();
};
const clicked = (event) => {
  const button = event.target.closest?.(".rk-grade");
  if (button) mark(button);
};
const focused = (event) => {
  state.id = event.target.closest?.("article:has(.rk-judge)")?.id ?? "";
  same(event);
};
// A document's results in all columns are marked together.
const same = (event) => {
  const item = event.target.closest?.("[data-doc]");
  const doc = item?.dataset.doc;
  for (const one of document.querySelectorAll(".rk-compare .rk-same")) {
    if (one.dataset.doc !== doc) one.classList.remove("rk-same");
  }
  if (!doc) return;
  for (const one of document.querySelectorAll(".rk-compare [data-doc]")) {
    one.classList.toggle("rk-same", one.dataset.doc === doc);
  }
};
const draw = () => {
  const grid = document.querySelector(".rk-compare");
  if (!grid) return;
  const frame = grid.getBoundingClientRect();
  const columns = [...grid.querySelectorAll(".rk-column")];
  const lines = [];
  for (let at = 0; at + 1 < columns.length; at += 1) {
    for (const left of columns[at].querySelectorAll("article[data-joined]")) {
      const wanted = `article[data-joined][data-doc="${left.dataset.doc}"]`;
      const right = columns[at + 1].querySelector(wanted);
      if (!right) continue;
      const a = left.getBoundingClientRect();
      const b = right.getBoundingClientRect();
      if (b.left <= a.right) continue;
      const [x1, y1] = [a.right - frame.left, a.top - frame.top + 20];
      const [x2, y2] = [b.left - frame.left, b.top - frame.top + 20];
      const middle = (x1 + x2) / 2;
      lines.push([left, `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`]);
    }
  }
  const signature = lines.map((one) => one[1]).join("");
  let svg = grid.querySelector("svg.rk-lines");
  if (svg?.dataset.drawn === signature) return;
  svg?.remove();
  const space = "http://www.w3.org/2000/svg";
  svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "rk-lines");
  svg.setAttribute("aria-hidden", "true");
  svg.dataset.drawn = signature;
  for (const [left, shape] of lines) {
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", shape);
    path.dataset.doc = left.dataset.doc;
    path.style.setProperty("--hue", left.style.getPropertyValue("--hue"));
    svg.append(path);
  }
  grid.append(svg);
};
// What is drawn anew after a judgment keeps the focus where it was.
const keep = () => {
  draw();
  if (!state.id || (document.activeElement && document.activeElement !== document.body)) return;
  const item = document.getElementById(state.id);
  if (!item) return;
  if (!item.hasAttribute("tabindex")) item.tabIndex = -1;
  item.focus({ preventScroll: true });
};
const observer = new MutationObserver(keep);
observer.observe(document.body, { childList: true, subtree: true });
const sized = new ResizeObserver(draw);
sized.observe(document.body);
draw();
const listeners = [["keydown", press], ["click", clicked], ["focusin", focused], ["mouseover", same]];
for (const [name, handle] of listeners) document.addEventListener(name, handle);
// What is unfolded in one column moves the results of all.
document.addEventListener("toggle", draw, true);
