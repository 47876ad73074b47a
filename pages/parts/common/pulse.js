// Asks for news every few seconds, only while the tab is looked at and the app is at rest.
//
// At rest: the server drops what a run has not yet sent of a fragment when that fragment runs
// again at once, and the page would then be put together wrongly.

// Ask by itself. Streamlit puts off what has changed by setTimeout(..., 0) and sends it together;
// when a fragment asks for news in the same moment, only that fragment runs, and a click or a file
// that came with it has no effect. So wait until what was put off has been sent, give up when more
// came meanwhile, and send at once. `done` is told whether it was sent.
function alone(ask, done) {
  const put = window.setTimeout;
  let others = false;
  window.setTimeout = (work, pause, ...rest) => {
    others ||= !pause;
    return put(work, pause, ...rest);
  };
  put(() => {
    const asked = [];
    window.setTimeout = (work, pause, ...rest) =>
      pause ? put(work, pause, ...rest) : asked.push(() => work(...rest));
    try {
      if (!others) ask();
    } finally {
      window.setTimeout = put;
    }
    for (const send of asked) send();
    done(!others);
  }, 10);
}

// Parts of a page ask for news at different moments, and all show the newest figure of a job.
function agree() {
  const newest = new Map();
  const figures = [...document.querySelectorAll(".rk-figure")];
  const at = (figure) => Number(figure.dataset.at);
  for (const figure of figures) {
    const before = newest.get(figure.dataset.job);
    if (!before || at(figure) > at(before)) newest.set(figure.dataset.job, figure);
  }
  for (const figure of figures) {
    const words = newest.get(figure.dataset.job).textContent;
    if (figure.textContent !== words) figure.textContent = words;
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  // Streamlit calls this again with each new pause, and ends only the last: end the one before.
  parentElement.ragkitEnd?.();
  const pause = 1000 * Math.max(1, Number(data?.seconds) || 5);
  const app = document.querySelector(".stApp");
  let due = Date.now() + pause;
  let busy = Date.now();
  let here = true;
  const look = () => {
    if (document.hidden) return;
    agree();
    // Streamlit gives a place for files no role, and yet a name.
    for (const zone of document.querySelectorAll("section[role=presentation][aria-label]")) {
      zone.setAttribute("role", "group");
    }
    // Popovers and dialogs hang outside the app's element and would not know its colour scheme.
    if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
    const now = Date.now();
    if ((app?.dataset.testScriptState ?? "notRunning") !== "notRunning") busy = now;
    if (now < due || now - busy < 400 || now - (window.ragkitTicked ?? 0) < 600) return;
    window.ragkitTicked = now;
    alone(
      () => here && setTriggerValue("tick", now),
      (sent) => { if (sent) due = now + pause; },
    );
  };
  const back = () => { if (!document.hidden) { due = 0; look(); } };
  look();
  const timer = window.setInterval(look, 200);
  document.addEventListener("visibilitychange", back);
  const end = () => {
    here = false;
    window.clearInterval(timer);
    document.removeEventListener("visibilitychange", back);
  };
  parentElement.ragkitEnd = end;
  return end;
}
