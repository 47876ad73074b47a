// Listens once for every button and link that the cards carry (data-rk), and for copying.
const KEPT = "ragkit-unfolded";
const MOST_KEPT = 100;

export default function (component) {
  const { setTriggerValue } = component;
  // The next one may be mounted before this one has ended.
  const me = (window.ragkitActions = {});
  const announce = (button, words) => {
    const before = button.dataset.label || button.textContent;
    button.dataset.label = before;
    button.textContent = words;
    button.setAttribute("aria-live", "polite");
    window.setTimeout(() => { button.textContent = before; }, 1600);
  };
  const copy = async (button, value) => {
    try {
      await navigator.clipboard.writeText(value);
      announce(button, "Copied");
    } catch (error) {
      announce(button, "Copying is not allowed here");
    }
  };
  const click = (event) => {
    const target = event.target.closest?.("[data-rk]");
    if (!target) return;
    if (target.tagName === "A" && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    const values = { ...target.dataset };
    if (values.rk === "copy-path") { copy(target, values.text); return; }
    if (values.rk === "anchor") {
      const place = document.getElementById(values.place);
      if (place) { place.scrollIntoView({ block: "start" }); return; }
    }
    delete values.label;
    const send = () => setTriggerValue("act", { ...values, at: Date.now() });
    if (!window.ragkitAddress?.coming) { send(); return; }
    // The person has gone elsewhere, and what is sent now would lead back: what is still there when
    // that page is drawn belongs to it.
    window.addEventListener("ragkit-drawn", () => { if (target.isConnected) send(); }, { once: true });
  };
  // A card is drawn anew when something in it is opened, and the page is loaded again: what was
  // unfolded stays unfolded. A fold outside of cards has a name of its own.
  const FOLDS = ".rk-card details, .rk-chunk details, details[data-fold]";
  const unfolded = (window.ragkitUnfolded ??= new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]")));
  const nameOf = (fold) => {
    if (fold.dataset.fold) return fold.dataset.fold;
    const card = fold.closest(".rk-card, .rk-chunk");
    return card && `${location.search} ${card.id} ${card.dataset.document} ${fold.className}`;
  };
  const toggled = (event) => {
    const name = event.target.tagName === "DETAILS" && nameOf(event.target);
    if (!name) return;
    unfolded.delete(name);
    if (event.target.open) unfolded.set(name, true);
    sessionStorage.setItem(KEPT, JSON.stringify([...unfolded].slice(-MOST_KEPT)));
  };
  const unfold = (within) => {
    const folds = within.querySelectorAll?.(`${FOLDS}, :scope > details`) ?? [];
    for (const fold of within.matches?.("details[data-fold]") ? [within, ...folds] : folds) {
      if (unfolded.has(nameOf(fold)) && !fold.open) fold.open = true;
    }
  };
  const observer = new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) unfold(node);
  });
  unfold(document.body);
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("toggle", toggled, true);
  document.addEventListener("click", click);
  document.documentElement.dataset.ragkitListens = "yes";
  return () => {
    if (window.ragkitActions === me) delete document.documentElement.dataset.ragkitListens;
    observer.disconnect();
    document.removeEventListener("toggle", toggled, true);
    document.removeEventListener("click", click);
  };
}
