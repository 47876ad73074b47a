// Listens once for every button and link that the cards carry (data-rk), for "/" and for copying.
export default function (component) {
  const { setTriggerValue } = component;
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
  const passageOf = (button) => {
    const card = button.closest(".rk-card");
    const parts = card ? [...card.querySelectorAll(".rk-exact:not(.rk-filled)")] : [];
    return parts.map((part) => part.textContent).join("\n…\n");
  };
  const click = (event) => {
    const target = event.target.closest?.("[data-rk]");
    if (!target) return;
    if (target.tagName === "A" && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    const values = { ...target.dataset };
    if (values.rk === "copy-passage") { copy(target, passageOf(target)); return; }
    if (values.rk === "copy-path") { copy(target, values.text); return; }
    if (values.rk === "anchor") {
      const place = document.getElementById(values.place);
      if (place) { place.scrollIntoView({ block: "start" }); return; }
    }
    delete values.label;
    setTriggerValue("act", { ...values, at: Date.now() });
  };
  const press = (event) => {
    const active = document.activeElement;
    const typing = active && (["INPUT", "TEXTAREA", "SELECT"].includes(active.tagName) || active.isContentEditable);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = document.querySelector(".st-key-q input");
    if (!box) return;
    event.preventDefault();
    box.focus();
    box.select();
  };
  // A card is drawn anew when something in it is opened; what was unfolded stays unfolded.
  const unfolded = (window.ragkitUnfolded ??= new Map());
  const nameOf = (fold) => {
    const card = fold.closest(".rk-card, .rk-chunk");
    return card && `${location.search} ${card.id} ${card.dataset.document} ${fold.className}`;
  };
  const toggled = (event) => {
    const name = event.target.tagName === "DETAILS" && nameOf(event.target);
    if (name) unfolded.set(name, event.target.open);
  };
  const observer = new MutationObserver((changes) => {
    for (const change of changes) {
      for (const node of change.addedNodes) {
        for (const fold of node.querySelectorAll?.(".rk-card details, .rk-chunk details, :scope > details") ?? []) {
          if (unfolded.get(nameOf(fold)) && !fold.open) fold.open = true;
        }
      }
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("toggle", toggled, true);
  document.addEventListener("click", click);
  document.addEventListener("keydown", press);
  document.documentElement.dataset.ragkitListens = "yes";
  return () => {
    delete document.documentElement.dataset.ragkitListens;
    observer.disconnect();
    document.removeEventListener("toggle", toggled, true);
    document.removeEventListener("click", click);
    document.removeEventListener("keydown", press);
  };
}
