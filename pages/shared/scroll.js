// Brings the passage that was asked for into sight, once for each place, until the page is at rest.
export default function (component) {
  const { data, parentElement } = component;
  const place = String(data?.place ?? "");
  const key = "ragkit-scrolled";
  if (!place || window[key] === place) return;
  let tries = 0;
  let calm = 0;
  const stop = () => window.clearInterval(timer);
  const timer = window.setInterval(() => {
    const found = document.querySelector(data.selector);
    tries += 1;
    if (found) {
      window[key] = place;
      const box = found.getBoundingClientRect();
      const seen = box.top > 70 && (box.bottom < innerHeight * 0.9 || box.top < innerHeight / 3);
      calm = seen ? calm + 1 : 0;
      if (!seen) found.scrollIntoView({ block: box.height > innerHeight / 2 ? "start" : "center" });
    }
    if (calm > 12 || tries > 60) stop();
  }, 100);
  // Whoever scrolls by hand is not pulled back.
  const hands = ["wheel", "touchmove", "keydown", "pointerdown"];
  for (const hand of hands) document.addEventListener(hand, stop, { once: true, passive: true });
  return () => {
    stop();
    for (const hand of hands) document.removeEventListener(hand, stop);
    if (!parentElement.isConnected) window[key] = "";
  };
}
