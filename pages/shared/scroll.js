// Brings the passage that was asked for into sight, once for each place.
export default function (component) {
  const { data, parentElement } = component;
  const place = String(data?.place ?? "");
  const key = "ragkit-scrolled";
  if (!place || window[key] === place) return;
  let tries = 0;
  const timer = window.setInterval(() => {
    const found = document.querySelector(data.selector);
    tries += 1;
    if (found) {
      window[key] = place;
      const box = found.getBoundingClientRect();
      const seen = box.top > 70 && (box.bottom < innerHeight || box.top < innerHeight / 3);
      if (!seen) found.scrollIntoView({ block: box.height > innerHeight / 2 ? "start" : "center" });
    }
    if (found || tries > 40) window.clearInterval(timer);
  }, 75);
  return () => { window.clearInterval(timer); if (!parentElement.isConnected) window[key] = ""; };
}
