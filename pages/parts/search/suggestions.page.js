// Suggestions under the search box, by the combobox pattern of ARIA.
//
// They are asked for by a request of their own, so that typing runs no page and Enter never waits.
const BOX = ".st-key-page-narrow .st-key-q input";
const COLLECTION = ".st-key-collection input";
const ALL = "All collections"; // as in state.py
const PAUSE = 120;

const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
};

// React knows a value only when it is set as a person would.
const type = (box, text, cursor) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  box.setSelectionRange(cursor, cursor);
};

const HINTS = { search: "Recent", document: "Open", filter: "Filter" };

function optionOf(each, number) {
  const option = element(each.document ? "a" : "div", `rk-suggestion rk-${each.kind}`);
  option.id = `rk-suggestion-${number}`;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.tabIndex = -1;
  const words = element("span", "rk-suggested");
  words.append(element("bdi", "", each.label));
  if (each.detail) words.append(" ", element("bdi", "rk-soft", each.detail));
  const count = each.count && `${each.count.toLocaleString()} document${each.count > 1 ? "s" : ""}`;
  const hint = count || (each.pinned ? "Pinned" : HINTS[each.kind]);
  option.append(words, element("span", "rk-soft", hint || ""));
  if (each.document) {
    option.href = `document?id=${each.document}`;
    option.target = "_self";
    Object.assign(option.dataset, { rk: "suggested", id: each.document });
  }
  return option;
}

const list = element("div", "rk-suggestions");
list.id = "rk-suggestions";
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Suggestions");
list.style.left = list.style.top = "0";
list.hidden = true;
let suggestions = [];
let active = -1;
let timer = 0;
let request = null;
let following = 0;

const box = () => document.querySelector(BOX);
const prepare = (input) => {
  const open = !list.hidden;
  input.setAttribute("role", "combobox");
  input.setAttribute("autocomplete", "off");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-haspopup", "listbox");
  input.setAttribute("aria-expanded", String(open));
  if (open) input.setAttribute("aria-controls", list.id);
  else input.removeAttribute("aria-controls");
  if (open && active >= 0) input.setAttribute("aria-activedescendant", list.children[active].id);
  else input.removeAttribute("aria-activedescendant");
};
const forget = () => {
  window.clearTimeout(timer);
  request?.abort();
  request = null;
};
const close = () => {
  forget();
  window.clearInterval(following);
  list.hidden = true;
  active = -1;
  const input = box();
  if (input) prepare(input);
};
const place = (input) => {
  const frame = input.closest("[data-baseweb=input], [data-testid=stTextInputRootElement]") ?? input;
  const below = frame.getBoundingClientRect();
  const now = list.getBoundingClientRect();
  const left = (parseFloat(list.style.left) || 0) + below.left - now.left;
  const top = (parseFloat(list.style.top) || 0) + below.bottom + 4 - now.top;
  Object.assign(list.style, { width: `${below.width}px`, left: `${left}px`, top: `${top}px` });
};
const show = (input, found) => {
  suggestions = found;
  active = -1;
  list.replaceChildren(...found.map(optionOf));
  if (!list.isConnected) document.querySelector("[data-testid=stMain]").append(list);
  list.hidden = !found.length;
  window.clearInterval(following);
  if (found.length) {
    place(input);
    // The box moves when the page is scrolled or drawn anew.
    following = window.setInterval(() => { if (box()) place(box()); else close(); }, 150);
  }
  prepare(input);
};
const move = (input, step) => {
  const count = suggestions.length;
  list.children[active]?.setAttribute("aria-selected", "false");
  active = active < 0 && step < 0 ? count - 1 : active + step;
  if (active >= count || active < 0) active = -1;
  else {
    list.children[active].setAttribute("aria-selected", "true");
    list.children[active].scrollIntoView({ block: "nearest" });
  }
  prepare(input);
};
const ask = async (input, text) => {
  forget();
  request = new AbortController();
  const { signal } = request;
  const query = new URLSearchParams({ q: text, cursor: input.selectionStart ?? text.length });
  const collection = document.querySelector(COLLECTION)?.value;
  if (collection && collection !== ALL) query.append("collection", collection);
  try {
    const answer = await fetch(`/_ragkit/suggest?${query}`, { signal });
    const found = answer.ok ? await answer.json() : [];
    if (!signal.aborted && document.activeElement === input && input.value === text) show(input, found);
  } catch (error) {
    if (!signal.aborted) close();
  }
};
const choose = (number) => {
  const each = suggestions[number];
  const input = box();
  if (!each || !input) return;
  if (each.kind === "document") {
    list.children[number].click();
    close();
    return;
  }
  close();
  type(input, each.text, each.cursor);
  if (each.kind !== "search") return;
  forget();
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
};

const isBox = (event) => event.target instanceof Element && event.target.matches(BOX);
const typed = (event) => {
  if (!isBox(event) || event.isComposing) return;
  const input = event.target;
  forget();
  if (!input.value.trim()) close();
  else timer = window.setTimeout(() => ask(input, input.value), PAUSE);
};
const focused = (event) => {
  if (!isBox(event)) return;
  prepare(event.target);
  // Gets the server ready, once for each page that is opened.
  if (window.ragkitSuggests) return;
  window.ragkitSuggests = true;
  ask(event.target, "");
};
const left = (event) => { if (isBox(event)) close(); };
const pressed = (event) => {
  if (!isBox(event) || event.isComposing || !event.isTrusted) return;
  const open = !list.hidden;
  if (event.key === "Enter" && open && active >= 0) choose(active);
  else if (event.key === "Enter" || event.key === "Tab") { close(); return; }
  else if (event.key === "Escape" && open) close();
  else if (event.key === "ArrowDown" && open) move(event.target, 1);
  else if (event.key === "ArrowUp" && open) move(event.target, -1);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
};
// The box keeps the focus: leaving it would search for what stands in it.
const held = (event) => event.preventDefault();
const clicked = (event) => {
  const number = [...list.children].indexOf(event.target.closest("[role=option]"));
  if (number < 0 || (suggestions[number].kind === "document" && event.isTrusted === false)) return;
  if (suggestions[number].kind === "document") close();
  else choose(number);
};
list.addEventListener("mousedown", held);
list.addEventListener("click", clicked);
const on = [["input", typed], ["focusin", focused], ["focusout", left], ["keydown", pressed]];
for (const [name, listener] of on) document.addEventListener(name, listener, true);
// The box comes with its page, and is to say what it is before anybody reaches it.
new MutationObserver(() => {
  const input = box();
  if (input && input.getAttribute("role") !== "combobox") prepare(input);
}).observe(document.body, { childList: true, subtree: true });
