// Streamlit stops drawing when something of a page that was left arrives after the next one's first
// parts. All that is shown stands in the address: the page is loaded again, once in a while.
const LOST = /Bad (delta path|'setIn') index/;
const KEPT = "ragkit-recovered";
const PAUSE = 10000;

function recover(message) {
  if (!LOST.test(message) || Date.now() - Number(sessionStorage.getItem(KEPT)) < PAUSE) return;
  sessionStorage.setItem(KEPT, Date.now());
  location.reload();
}

window.addEventListener("error", (event) => recover(String(event.message)));
window.addEventListener("unhandledrejection", (event) => recover(String(event.reason?.message)));
