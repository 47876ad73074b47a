// Asks for news every few seconds, only while the tab is looked at and the app is at rest.
//
// At rest: the server drops what a run has not yet sent of a fragment when that fragment runs
// again at once, and the page would then be put together wrongly.
export default function (component) {
  const { data, setTriggerValue } = component;
  const pause = 1000 * Math.max(1, Number(data?.seconds) || 5);
  const app = document.querySelector(".stApp");
  let due = Date.now() + pause;
  let busy = Date.now();
  const look = () => {
    if (document.hidden) return;
    // Popovers and dialogs hang outside the app's element and would not know its colour scheme.
    if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
    const now = Date.now();
    if ((app?.dataset.testScriptState ?? "notRunning") !== "notRunning") busy = now;
    if (now < due || now - busy < 400 || now - (window.ragkitTicked ?? 0) < 600) return;
    due = now + pause;
    window.ragkitTicked = now;
    setTriggerValue("tick", now);
  };
  const back = () => { if (!document.hidden) { due = 0; look(); } };
  look();
  const timer = window.setInterval(look, 200);
  document.addEventListener("visibilitychange", back);
  return () => {
    window.clearInterval(timer);
    document.removeEventListener("visibilitychange", back);
  };
}
