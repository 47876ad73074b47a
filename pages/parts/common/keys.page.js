// The keys of every page: "/" and Ctrl-K lead to the search box, "?" lists the keys.
//
// Those of results are in judging.page.js, those of suggestions in suggestions.page.js.
const BOX = ".st-key-q input";
const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const KEYS = [
  [["/", APPLE ? "⌘ K" : "Ctrl K"], "Go to the search box"],
  [["j", "k"], "Next and previous result"],
  [["w"], "Have an answer written"],
  [["1", "2", "3"], "Rate a result: relevant, partly, not relevant"],
  [["u"], "Undo the last rating"],
  [["h", "l"], "Compare: the column before and after"],
  [["?"], "Show these keys"],
  [["Esc"], "Close what is open"],
];

function overlay() {
  const dialog = document.createElement("dialog");
  dialog.className = "rk-keys";
  dialog.setAttribute("aria-label", "Keyboard shortcuts");
  const title = document.createElement("h2");
  title.textContent = "Keyboard shortcuts";
  const list = document.createElement("dl");
  for (const [keys, what] of KEYS) {
    const name = document.createElement("dt");
    for (const key of keys) name.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
    list.append(name, Object.assign(document.createElement("dd"), { textContent: what }));
  }
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Close" });
  close.className = "rk-act";
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.append(title, list, close);
  return dialog;
}

let waiting = 0;
const dialog = overlay();
document.body.append(dialog);
const reach = () => {
  const box = document.querySelector(BOX);
  box?.focus({ preventScroll: true });
  box?.select();
  return Boolean(box);
};
// The box comes a moment after its page. Whoever has the focus by then keeps it.
const await_ = (wanted) => {
  window.clearInterval(waiting);
  let tries = 0;
  waiting = window.setInterval(() => {
    const box = document.querySelector(BOX);
    const busy = document.activeElement && document.activeElement !== document.body;
    tries += 1;
    if (tries > 50 || (busy && !wanted)) return window.clearInterval(waiting);
    if (!box || location.pathname !== "/") return;
    window.clearInterval(waiting);
    if (wanted || !box.value) reach();
  }, 60);
};
// A finger would only call up the keyboard of a telephone.
const arrived = () => { if (matchMedia("(pointer: fine)").matches) await_(false); };
// So does the box of a follow-up, once its button was pressed.
const opened = (event) => {
  if (!event.target.closest?.("[data-rk=follow-up]")) return;
  let tries = 0;
  const timer = window.setInterval(() => {
    const box = document.querySelector(".st-key-follow_up input");
    tries += 1;
    if (box || tries > 50) window.clearInterval(timer);
    box?.focus();
  }, 60);
};
const press = (event) => {
  const active = document.activeElement;
  const typing = active && (["INPUT", "TEXTAREA", "SELECT"].includes(active.tagName) || active.isContentEditable);
  const plain = !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  const command = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
  if (plain && event.key === "?" && !document.querySelector("[role=dialog]")) {
    if (!dialog.open) dialog.showModal();
  } else if (plain && event.key === "w" && document.querySelector("[data-rk=write]")) {
    document.querySelector("[data-rk=write]").click();
  } else if (command || (plain && event.key === "/")) {
    dialog.close();
    if (!reach()) {
      window.ragkitAddress?.go("/");
      await_(true);
    }
  } else return;
  event.preventDefault();
  event.stopPropagation();
};
document.addEventListener("keydown", press, true);
document.addEventListener("click", opened, true);
window.addEventListener("ragkit-arrived", arrived);
