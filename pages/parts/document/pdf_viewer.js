// The viewer of a PDF: its pages under one another, each loaded when it comes near.
//
// What the server says is put in as text and numbers only, never as HTML.

const SVG = "http://www.w3.org/2000/svg";
const STEPS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4];
const POINT = 96 / 72;
const MOST_LOADED = 16;
const A4 = [595, 842];

function made(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function drawn(tag, attributes, words = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = words;
  return element;
}

// The places of a slice of a page's text, one for each word or part of a word.
function placesOf(words, start, end) {
  const places = [];
  let at = 0;
  for (const [text, left, top, right, bottom] of words) {
    const length = text.trimEnd().length || 1;
    const from = Math.max(0, start - at);
    const to = Math.min(length, end - at);
    at += text.length;
    if (from >= to) continue;
    const whole = bottom - top > 2 * (right - left);
    const part = (index) => (whole ? (index ? right : left) : left + ((right - left) * index) / length);
    places.push([part(from), top, part(whole ? 1 : to), bottom]);
  }
  return places;
}

// How far down a page the passage is: where most of its lines and searched words stand together.
// A passage may begin in a footer, which comes first in the order of the file.
function heartOf({ frames, marks, words }) {
  const tops = frames.map(([, top]) => [top, 1]);
  for (const [start, end] of marks) for (const [, top] of placesOf(words, start, end)) tops.push([top, 3]);
  let best = null;
  let most = 0;
  for (const [top] of tops.sort(([a], [b]) => a - b)) {
    const worth = tops.reduce((sum, [other, weight]) =>
      other >= top && other < top + 0.3 ? sum + weight : sum, 0);
    if (worth > most) [best, most] = [top, worth];
  }
  return best;
}

class Viewer {
  constructor(parent, data) {
    this.data = data;
    this.sheets = [];
    this.loaded = new Map();
    this.near = new Set();
    this.zoom = "width";
    this.matches = [];
    this.match = -1;
    this.ended = new AbortController();
    this.build(parent);
    this.open();
  }

  address(path, query = {}) {
    const { id, version } = this.data;
    return `/_ragkit/pdf/${id}${path}?${new URLSearchParams({ version, ...query })}`;
  }

  async ask(path, query) {
    try {
      const answer = await fetch(this.address(path, query), { signal: this.ended.signal });
      return await answer.json();
    } catch (error) {
      if (error.name === "AbortError") return new Promise(() => {});
      return { problem: "The page did not load.", cure: "Load the document again." };
    }
  }

  // -- building -----------------------------------------------------------------------------

  build(parent) {
    const button = (words, label, onclick) =>
      made("button", { type: "button", title: label, ariaLabel: label, onclick }, words);
    this.before = button("‹", "Previous page", () => this.turn(-1));
    this.after = button("›", "Next page", () => this.turn(1));
    this.box = made("input", {
      className: "rk-pdf-page", ariaLabel: "Page", autocomplete: "off",
      onfocus: () => this.box.select(),
      onchange: () => this.goTo(this.box.value),
      onkeydown: (event) => { if (event.key === "Enter") this.goTo(this.box.value); },
    });
    this.total = made("span", { className: "rk-soft" });
    this.size = made("select", {
      ariaLabel: "Zoom", onchange: () => this.setZoom(Number(this.size.value) || this.size.value),
    });
    this.finder = made("input", {
      className: "rk-pdf-find", type: "search", placeholder: "Find in document",
      ariaLabel: "Find in document", autocomplete: "off",
      oninput: () => {
        window.clearTimeout(this.typing);
        this.typing = window.setTimeout(() => this.find(), 250);
      },
      onkeydown: (event) => {
        if (event.key === "Enter") this.sought === this.finder.value
          ? this.step(event.shiftKey ? -1 : 1) : this.find();
        else if (event.key === "Escape") { this.finder.value = ""; this.find(); }
      },
    });
    this.count = made("span", { className: "rk-soft", role: "status" });
    this.up = button("↑", "Previous match", () => this.step(-1));
    this.down = button("↓", "Next match", () => this.step(1));
    const bar = made(
      "div", { className: "rk-pdf-bar", role: "toolbar", ariaLabel: "Pages" },
      made("span", {}, this.before, this.box, this.total, this.after),
      made("span", {}, button("−", "Zoom out", () => this.zoomBy(-1)), this.size,
           button("+", "Zoom in", () => this.zoomBy(1))),
      made("span", {}, this.finder, this.count, this.up, this.down),
    );
    this.pages = made("div", {
      className: "rk-pdf-pages", tabIndex: 0, role: "region", ariaLabel: "Pages of the document",
      onscroll: () => this.scrolled(),
      onkeydown: (event) => this.pressed(event),
    });
    for (const hand of ["wheel", "pointerdown", "keydown", "touchmove"])
      this.pages.addEventListener(hand, () => { this.touched = true; }, { passive: true });
    this.pages.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1 : -1);
    }, { passive: false });
    this.root = made("div", { className: "rk-pdf" }, bar, this.pages);
    this.root.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.finder.select();
      this.finder.focus();
    });
    parent.replaceChildren(this.root);
    this.watcher = new IntersectionObserver((seen) => this.seen(seen), {
      root: this.pages, rootMargin: "50% 0px",
    });
    this.resizer = new ResizeObserver(() => this.lay());
    this.resizer.observe(this.pages);
    this.fitter = new ResizeObserver(() => this.fit());
    this.fitter.observe(document.querySelector("[data-testid=stMainBlockContainer]") ?? document.body);
    this.showMatches();
  }

  async open() {
    const answer = await this.ask("");
    if (!answer.pages) {
      const words = `${answer.problem ?? "The pages cannot be shown here."} ${answer.cure ?? ""}`;
      this.pages.replaceChildren(made("p", { role: "alert" }, words));
      return;
    }
    answer.pages.forEach(({ label, size }, index) => {
      const sheet = made("div", { className: "rk-sheet rk-waiting" });
      Object.assign(sheet.dataset, { page: index + 1, label });
      this.sheets.push({ sheet, label, size: size ?? A4, number: index + 1 });
    });
    this.pages.replaceChildren(...this.sheets.map(({ sheet }) => sheet));
    this.lay();
    this.show(this.data);
    for (const { sheet } of this.sheets) this.watcher.observe(sheet);
  }

  // Bring the page of a passage into sight, and the passage when its page is there.
  async show(data) {
    this.data = data;
    const page = this.sheets[data.first - 1];
    if (!page) return;
    this.touched = false;
    this.scrollTo(page.sheet.offsetTop - 8);
    const named = data.passage && (data.chunk || data.find || data.span);
    if (named && this.root.getBoundingClientRect().top > innerHeight / 2)
      this.root.scrollIntoView({ block: "nearest" });
    await this.load(page);
    const heart = data.passage && page.answer?.picture ? heartOf(page.answer) : null;
    if (heart === null || this.touched) return;
    const { offsetTop, offsetHeight } = page.sheet;
    this.scrollTo(offsetTop + Math.max(-8, heart * offsetHeight - this.pages.clientHeight / 5));
  }

  end() {
    this.ended.abort();
    this.watcher.disconnect();
    this.resizer.disconnect();
    this.fitter.disconnect();
    window.clearTimeout(this.typing);
  }

  // -- places and sizes -----------------------------------------------------------------------

  scrollTo(top) {
    this.pages.scrollTo({ top, behavior: "instant" });
    this.scrolled();
  }

  reveal(element) {
    const box = element.getBoundingClientRect();
    const frame = this.pages.getBoundingClientRect();
    if (box.left < frame.left || box.right > frame.right)
      this.pages.scrollLeft += box.left - frame.left - frame.width / 4;
    if (box.top < frame.top + 20 || box.bottom > frame.bottom - 60)
      this.scrollTo(this.pages.scrollTop + box.top - frame.top - frame.height / 4);
  }

  get current() {
    const middle = this.pages.scrollTop + this.pages.clientHeight / 3;
    let low = 0;
    let high = this.sheets.length - 1;
    while (low < high) {
      const half = Math.ceil((low + high) / 2);
      if (this.sheets[half].sheet.offsetTop <= middle) low = half;
      else high = half - 1;
    }
    return low;
  }

  get scale() {
    if (typeof this.zoom === "number") return this.zoom * POINT;
    const widest = Math.max(...this.sheets.map(({ size }) => size[0]));
    const style = getComputedStyle(this.pages);
    const room = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + 2;
    const across = (this.pages.clientWidth - room) / widest;
    if (this.zoom === "width") return across;
    const { size } = this.sheets[this.current];
    return Math.min(across, (this.pages.clientHeight - room) / size[1]);
  }

  // Say where the viewer begins: it is as high as the window leaves room (pdf.css), so that only
  // its pages scroll, and what stands above it stays.
  fit() {
    const main = this.root.closest("[data-testid=stMain]") ?? document.scrollingElement;
    const top = this.root.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop;
    document.documentElement.style.setProperty("--rk-pdf-top", `${Math.round(top)}px`);
  }

  // Give every page its size; what was in sight stays there.
  lay() {
    if (!this.sheets.length || !this.pages.clientWidth) return;
    const page = this.sheets[this.current];
    const into = (this.pages.scrollTop - page.sheet.offsetTop) / (page.sheet.offsetHeight || 1);
    const { scale } = this;
    for (const { sheet, size } of this.sheets) {
      sheet.style.width = `${Math.round(size[0] * scale)}px`;
      sheet.style.height = `${Math.round(size[1] * scale)}px`;
    }
    const percent = Math.round((100 * scale) / POINT);
    const choices = [["width", "Fit width"], ["page", "Fit page"], ...STEPS.map((step) => [step, `${100 * step} %`])];
    if (typeof this.zoom === "number" && !STEPS.includes(this.zoom)) choices.push([this.zoom, `${percent} %`]);
    this.size.replaceChildren(...choices.map(([value, words]) =>
      made("option", { value, selected: value === this.zoom }, words)));
    this.scrollTo(page.sheet.offsetTop + into * page.sheet.offsetHeight);
    window.clearTimeout(this.sharpening);
    this.sharpening = window.setTimeout(() => this.sharpen(), 300);
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.lay();
  }

  zoomBy(direction) {
    const now = this.scale / POINT;
    const next = direction > 0
      ? STEPS.find((step) => step > now * 1.02)
      : STEPS.findLast((step) => step < now * 0.98);
    if (next) this.setZoom(next);
  }

  turn(by) {
    const page = this.sheets[this.current + by];
    if (page) this.scrollTo(page.sheet.offsetTop - 8);
  }

  goTo(words) {
    const wanted = words.trim().toLowerCase();
    const page = this.sheets.find(({ label }) => label.toLowerCase() === wanted) ?? this.sheets[Number(wanted) - 1];
    if (page) this.scrollTo(page.sheet.offsetTop - 8);
    this.scrolled(true);
  }

  scrolled(always = false) {
    const page = this.sheets[this.current];
    if (!page) return;
    this.before.disabled = page.number === 1;
    this.after.disabled = page.number === this.sheets.length;
    const total = this.sheets.length;
    this.total.textContent = page.label === String(page.number) ? `of ${total}` : `(${page.number} of ${total})`;
    if (always || document.activeElement !== this.box) this.box.value = page.label;
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.pages) return;
    const keys = {
      "+": () => this.zoomBy(1), "=": () => this.zoomBy(1), "-": () => this.zoomBy(-1),
      "0": () => this.setZoom("width"),
      ArrowRight: () => this.turn(1), ArrowLeft: () => this.turn(-1),
    };
    // Pages wider than their frame are scrolled sideways by the arrows.
    const wide = this.pages.scrollWidth > this.pages.clientWidth + 1;
    if (!keys[event.key] || (wide && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    keys[event.key]();
  }

  // -- loading --------------------------------------------------------------------------------

  seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const page = this.sheets[target.dataset.page - 1];
      if (isIntersecting) this.near.add(page);
      else this.near.delete(page);
    }
    window.clearTimeout(this.looking);
    // Pages that fly past are not worth a picture.
    this.looking = window.setTimeout(() => this.loadNear(), 100);
  }

  loadNear() {
    const { current } = this;
    const away = (page) => Math.abs(page.number - 1 - current);
    for (const page of [...this.near].sort((a, b) => away(a) - away(b))) this.load(page);
    const far = [...this.loaded.keys()].sort((a, b) => away(b) - away(a));
    for (const page of far.slice(0, Math.max(0, this.loaded.size - MOST_LOADED))) {
      if (this.near.has(page)) continue;
      this.loaded.delete(page);
      delete page.answer;
      page.sheet.replaceChildren();
      page.sheet.className = "rk-sheet rk-waiting";
    }
  }

  load(page) {
    const width = Math.round(page.sheet.offsetWidth * Math.min(2, window.devicePixelRatio || 1));
    if (!this.loaded.has(page)) this.loaded.set(page, this.fetchPage(page, width));
    return this.loaded.get(page);
  }

  async fetchPage(page, width) {
    const { chunk, find, span } = this.data;
    const answer = await this.ask(`/${page.number}`, { width, chunk, find, span });
    if (this.loaded.has(page)) this.fill(page, answer);
  }

  // Pictures that were made for a smaller zoom are made again.
  sharpen() {
    for (const page of this.near) {
      const width = page.sheet.offsetWidth * Math.min(2, window.devicePixelRatio || 1);
      if (page.answer?.size && page.answer.size[0] < Math.min(2400, 0.8 * width)) {
        this.loaded.set(page, this.fetchPage(page, Math.round(width)));
      }
    }
  }

  fill(page, answer) {
    page.answer = answer;
    const { sheet, label } = page;
    if (!answer.picture) {
      sheet.className = "rk-sheet rk-unread";
      sheet.replaceChildren(
        made("p", { className: "rk-error-text" }, `${answer.problem ?? "The page did not load."} ${answer.cure ?? ""}`),
        made("div", { className: "rk-text", dir: "auto" }, answer.text ?? ""),
      );
      return;
    }
    const picture = made("img", { alt: `Page ${label}`, src: answer.picture });
    [picture.width, picture.height] = answer.size;
    const layer = drawn("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none" });
    const box = (kind, [left, top, right, bottom]) => drawn("rect", {
      class: kind, x: left, y: top, width: right - left, height: bottom - top,
    });
    const frame = this.data.span ? "rk-frame rk-cited" : "rk-frame";
    layer.append(...answer.frames.map((edges) => box(frame, edges)));
    for (const [start, end] of answer.marks)
      layer.append(...placesOf(answer.words, start, end).map((edges) => box("rk-found-word", edges)));
    page.over = drawn("g", {});
    layer.append(page.over);
    // Words that can be selected and read aloud, over the picture of themselves.
    layer.append(...answer.words.map(([text, left, top, right, bottom]) => drawn("text", {
      x: left, y: bottom - 0.2 * (bottom - top), "font-size": 0.8 * (bottom - top),
      textLength: right - left, lengthAdjust: "spacingAndGlyphs",
    }, text)));
    sheet.className = "rk-sheet";
    sheet.replaceChildren(picture, layer);
    this.drawMatches(page);
  }

  // -- finding --------------------------------------------------------------------------------

  async find() {
    const sought = this.finder.value;
    this.sought = sought;
    const words = sought.trim();
    const { counts = [] } = words ? await this.ask("/find", { words }) : {};
    if (this.sought !== sought) return;
    this.matches = counts.flatMap((count, index) =>
      Array.from({ length: count }, (_, place) => ({ page: this.sheets[index], place })));
    const { current } = this;
    const next = this.matches.findIndex(({ page }) => page && page.number - 1 >= current);
    this.match = this.matches.length ? Math.max(0, next) : -1;
    for (const page of this.loaded.keys()) this.drawMatches(page);
    this.showMatch();
  }

  step(by) {
    if (!this.matches.length) return;
    this.match = (this.match + by + this.matches.length) % this.matches.length;
    this.showMatch();
  }

  async showMatch() {
    this.showMatches();
    const { page, place } = this.matches[this.match] ?? {};
    if (!page) return;
    const { match } = this;
    if (!page.answer) this.scrollTo(page.sheet.offsetTop - 8);
    await this.load(page);
    if (this.match !== match) return;
    for (const old of this.pages.querySelectorAll(".rk-found[aria-current]")) old.removeAttribute("aria-current");
    const boxes = page.sheet.querySelectorAll(`.rk-found[data-place="${place}"]`);
    for (const each of boxes) each.setAttribute("aria-current", "true");
    if (boxes.length) this.reveal(boxes[0]);
    else this.scrollTo(page.sheet.offsetTop - 8);
  }

  showMatches() {
    const words = this.finder.value.trim();
    this.count.textContent = this.matches.length
      ? `${this.match + 1} of ${this.matches.length}` : words ? "Not found" : "";
    this.up.disabled = this.down.disabled = !this.matches.length;
  }

  drawMatches(page) {
    if (!page.answer?.words) return;
    page.over.replaceChildren();
    const sought = (this.sought ?? "").trim().toLowerCase().split(/\s+/).join(" ");
    if (!sought) return;
    const text = page.answer.words.map(([word]) => word).join("").toLowerCase();
    let place = 0;
    for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
      for (const [left, top, right, bottom] of placesOf(page.answer.words, at, at + sought.length)) {
        page.over.append(drawn("rect", {
          class: "rk-found", "data-place": place, x: left, y: top,
          width: right - left, height: bottom - top,
        }));
      }
      place += 1;
    }
  }
}

export default function (component) {
  const { data, parentElement } = component;
  const before = parentElement.ragkitPdf;
  const key = JSON.stringify([data.id, data.version, data.chunk, data.find, data.span]);
  if (before?.key === key) {
    if (before.place !== data.place) before.viewer.show(data);
    before.place = data.place;
    return before.leave;
  }
  before?.viewer.end();
  const viewer = new Viewer(parentElement, data);
  const leave = () => { viewer.end(); delete parentElement.ragkitPdf; };
  parentElement.ragkitPdf = { key, place: data.place, viewer, leave };
  return leave;
}
