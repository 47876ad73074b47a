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
      found.scrollIntoView({ block: "center" });
    }
    if (found || tries > 40) window.clearInterval(timer);
  }, 75);
  return () => { window.clearInterval(timer); if (!parentElement.isConnected) window[key] = ""; };
}
