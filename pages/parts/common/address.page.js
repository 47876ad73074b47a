// The history of the browser: one entry for what a person did, links without loading the app again,
// and the place where each entry was scrolled to.
//
// The server writes the address (address.py), and Streamlit makes an entry of each change: also of
// the two or three that follow one click. An entry has its number in history.state; where it was
// scrolled to is kept for as long as the tab is open.
const KEPT = "ragkit-history";
const HANDS = ["pointerdown", "keydown", "wheel", "touchmove"];
const LONGEST = 5000; // until a page that was gone to counts as drawn

function install() {
  const scroller = () => document.querySelector("[data-testid=stMain]") ?? document.scrollingElement;
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null") ?? { last: -1, entries: {} };
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let here = history.state?.ragkit;
  let top = 0; // where it was when a person last did something
  let acted = false; // whether a person did something since the last entry
  let restoring = 0;
  let shown = location.pathname + location.search;
  let coming = 0; // a page that was gone to, and that is not drawn yet

  const save = () => sessionStorage.setItem(KEPT, JSON.stringify(kept));
  const note = (url) => {
    shown = location.pathname + location.search;
    kept.entries[here] = { top: kept.entries[here]?.top ?? 0, path: new URL(url, location.href).pathname };
    kept.last = here;
    save();
  };
  const leave = (at) => { if (kept.entries[here]) kept.entries[here].top = at; };
  const stop = () => { window.clearInterval(restoring); restoring = 0; };
  // What was there comes bit by bit: hold the place until it has been there for a while.
  const restore = (at) => {
    stop();
    let calm = 0;
    let tries = 0;
    restoring = window.setInterval(() => {
      const box = scroller();
      if (Math.abs(box.scrollTop - at) > 1) { box.scrollTop = at; calm = 0; } else calm += 1;
      const rests = document.querySelector(".stApp")?.dataset.testScriptState === "notRunning";
      tries += 1;
      if ((calm > 10 && rests) || tries > 250) stop();
    }, 20);
  };

  history.replaceState = (state, title, url) => replace({ ...state, ragkit: here }, title, url);
  history.pushState = (state, title, url) => {
    const target = new URL(url ?? location.href, location.href);
    if (!acted || target.href === location.href) {
      history.replaceState(state, title, url);
      return note(target);
    }
    acted = false;
    leave(top);
    for (const number of Object.keys(kept.entries)) if (Number(number) > here) delete kept.entries[number];
    const before = location.pathname;
    here += 1;
    push({ ...state, ragkit: here }, title, url);
    note(target);
    stop();
    if (target.pathname !== before) scroller().scrollTop = 0;
    window.dispatchEvent(new Event("ragkit-arrived"));
  };
  const expectPage = () => {
    window.clearTimeout(coming);
    coming = window.setTimeout(come, LONGEST);
  };
  const come = () => {
    window.clearTimeout(coming);
    coming = 0;
    window.dispatchEvent(new Event("ragkit-drawn"));
  };
  const go = (url) => {
    acted = true;
    expectPage();
    history.pushState({}, "", url);
    window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
  };
  const back = (url) => {
    const paths = ["/", "/search", "/compare", "/conversation"];
    for (let at = here - 1; at >= 0 && kept.entries[at]; at -= 1) {
      if (paths.includes(kept.entries[at].path)) return history.go(at - here);
    }
    go(url);
  };

  if (here === undefined) {
    here = kept.last + 1;
    history.replaceState(history.state, "");
  } else if (kept.entries[here]) restore(kept.entries[here].top);
  note(location.href);

  for (const hand of HANDS) {
    window.addEventListener(hand, (event) => {
      if (!event.isTrusted) return;
      stop();
      top = scroller().scrollTop;
      if (hand === "pointerdown" || hand === "keydown") acted = true;
    }, { capture: true, passive: true });
  }
  const look = () => {
    if (coming && document.querySelector("[data-test-script-state=notRunning]")) come();
  };
  const states = { attributeFilter: ["data-test-script-state"], subtree: true };
  new MutationObserver(look).observe(document.documentElement, states);
  window.addEventListener("popstate", () => {
    if (shown !== location.pathname + location.search) expectPage();
    shown = location.pathname + location.search;
    const next = history.state?.ragkit;
    if (next === here || next === undefined) return;
    leave(scroller().scrollTop);
    here = next;
    acted = false;
    save();
    restore(kept.entries[here]?.top ?? 0);
  }, true);
  window.addEventListener("pagehide", () => { leave(scroller().scrollTop); save(); });

  // Links to pages of the app, and the name of the page that is shown: the page as it begins. A cell
  // of a card's bar leads to its chunk.
  document.addEventListener("click", (event) => {
    const cell = event.target.closest?.(".rk-cell");
    const link = cell?.closest(".rk-card").querySelector(".rk-title a") ?? event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey
      || event.shiftKey || event.altKey) return;
    const current = link.matches("[data-testid=stTopNavLink][aria-current=page]");
    if (!current && !link.closest(".stHtml, [data-ragkit-links]")) return;
    const target = new URL(link.href);
    if (cell) target.searchParams.set("chunk", cell.dataset.chunk);
    if (target.origin !== location.origin || link.hasAttribute("download") || target.hash
      || link.target === "_blank" || link.dataset.rk === "anchor") return;
    event.preventDefault();
    event.stopPropagation();
    if (link.dataset.rk === "back") back(target.href);
    else go(current ? target.pathname : target.href);
  }, true);
  return { go, get restoring() { return Boolean(restoring); }, get coming() { return Boolean(coming); } };
}

window.ragkitAddress = install();
