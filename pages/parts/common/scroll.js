// Brings the passage that was asked for into sight, once for each place, until the page is at rest.

// The outline scrolls by itself: its current heading may be far down in it.
function showInOutline() {
  const heading = document.querySelector(".rk-outline [aria-current]");
  let list = heading?.parentElement;
  while (list && list.scrollHeight <= list.clientHeight) list = list.parentElement;
  if (!list || list.querySelector(".rk-text")) return;
  const below = heading.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (below > list.clientHeight) list.scrollTop += below - list.clientHeight / 3;
}

export default function (component) {
  const { data, parentElement } = component;
  const place = String(data?.place ?? "");
  // One for the whole page: the component may be mounted again while it still scrolls.
  const scroll = (window.ragkitScroll ??= { place: "", timer: 0, owner: null });
  scroll.owner = parentElement;
  const stop = () => window.clearInterval(scroll.timer);
  const hands = ["wheel", "touchmove", "keydown", "pointerdown"];
  const leave = () => {
    for (const hand of hands) window.removeEventListener(hand, stop, true);
    if (parentElement.isConnected || scroll.owner !== parentElement) return;
    stop();
    scroll.place = "";
  };
  // Whoever scrolls or clicks is not pulled away, whatever else listens to the event.
  for (const hand of hands) window.addEventListener(hand, stop, { capture: true, passive: true });
  if (!place || scroll.place === place) return leave;
  scroll.place = place;
  stop();
  let tries = 0;
  let calm = 0;
  scroll.timer = window.setInterval(() => {
    const found = document.querySelector(data.selector);
    tries += 1;
    if (found) {
      const box = found.getBoundingClientRect();
      const seen = box.top > 70 && (box.bottom < innerHeight * 0.9 || box.top < innerHeight / 3);
      calm = seen ? calm + 1 : 0;
      if (calm === 1) showInOutline();
      if (!seen) found.scrollIntoView({ block: box.height > innerHeight / 2 ? "start" : "center" });
    }
    if (calm > 12 || tries > 60) stop();
  }, 100);
  return leave;
}
