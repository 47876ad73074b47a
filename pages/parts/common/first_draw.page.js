// A page that is opened is shown once it is whole: what Streamlit loads bit by bit would move it.
const WAIT = 3000; // after its first element it is shown as it is
const SPINNER_WAIT = 300; // something takes long, and says so
const root = document.documentElement;
let began = 0;
let spins = 0;

root.dataset.ragkitDraws = "yes";
const timer = window.setInterval(() => {
  const now = performance.now();
  const main = document.querySelector("[data-testid=stMainBlockContainer]");
  if (!main?.querySelector(".stElementContainer")) return;
  began ||= now;
  const rests = document.querySelector("[data-test-script-state=notRunning]");
  spins = main.querySelector("[data-testid=stSpinner]") ? spins || now : 0;
  const whole = rests && !main.querySelector("[data-testid=stSkeleton]");
  if (!whole && now - began < WAIT && !(spins && now - spins > SPINNER_WAIT)) return;
  window.clearInterval(timer);
  delete root.dataset.ragkitDraws;
  window.dispatchEvent(new Event("ragkit-arrived"));
}, 30);
