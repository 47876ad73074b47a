// The drawer with the pages, on narrow screens: it closes once a page is chosen, by Esc and by a
// press beside it, and a page that is loaded begins without it. Streamlit keeps it open for good.
const KEPT = "stSidebarCollapsed";
const DRAWER = "[data-testid=stSidebar]";

for (const key of Object.keys(localStorage)) if (key.startsWith(KEPT)) localStorage.removeItem(key);

const close = () => {
  const drawer = document.querySelector(`${DRAWER}[data-collapsed=false]`);
  // On wide screens it is not shown.
  if (!drawer?.getClientRects().length) return false;
  drawer.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  return true;
};
// The button that opens it comes back a moment later.
const returnFocus = () => {
  let tries = 0;
  const timer = window.setInterval(() => {
    const button = document.querySelector("[data-testid=stExpandSidebarButton]");
    tries += 1;
    if (button || tries > 20) window.clearInterval(timer);
    button?.focus();
  }, 50);
};

document.addEventListener("click", (event) => {
  const chosen = event.target.closest?.(`${DRAWER} a[href]`);
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  // The link is out of sight then, and the page's own box may take the focus.
  if (chosen && !event.button && !elsewhere) window.setTimeout(() => close() && chosen.blur());
});
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest?.("[data-testid=stMain], [data-testid=stHeader]")) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && close()) returnFocus();
});
window.addEventListener("popstate", close);
