// A page that is opened is shown once it is whole: what Streamlit loads bit by bit would move it.
const STUCK = 2000; // nothing came for as long: it is shown as it is
const LONGEST = 15000;
const SPINS = 300; // something takes long, and says so
const root = document.documentElement;
let began = 0;
let came = 0;
let spins = 0;

root.dataset.ragkitDraws = "yes";
const observer = new MutationObserver(() => { came = performance.now(); });
observer.observe(document.body, { childList: true, subtree: true });
const timer = window.setInterval(() => {
  const now = performance.now();
  const main = document.querySelector("[data-testid=stMainBlockContainer]");
  if (!main?.querySelector(".stElementContainer")) return;
  began ||= now;
  const rests = document.querySelector("[data-test-script-state=notRunning]");
  const whole = rests && !main.querySelector("[data-testid=stSkeleton]");
  spins = main.querySelector("[data-testid=stSpinner]") ? spins || now : 0;
  const waits = now - came < STUCK && now - began < LONGEST && !(spins && now - spins > SPINS);
  if (!whole && waits) return;
  window.clearInterval(timer);
  observer.disconnect();
  delete root.dataset.ragkitDraws;
  window.dispatchEvent(new Event("ragkit-arrived"));
}, 30);
