// Streamlit stops drawing when something of a page that was left arrives after the next one's first
// parts. All that is shown stands in the address: the page is loaded again, but not all the time.
const LOST = /Bad (delta path|'setIn') index/;
const KEPT = "ragkit-recovered";
const PAUSE = 10000;

let isRecovering = false;

function recover(message) {
  if (LOST.test(message)) reload();
}

function reload() {
  if (isRecovering) return;
  isRecovering = true;
  const since = Date.now() - Number(sessionStorage.getItem(KEPT));
  window.setTimeout(() => {
    sessionStorage.setItem(KEPT, Date.now());
    location.reload();
  }, Math.max(0, PAUSE - since));
}

window.addEventListener("error", (event) => recover(String(event.message)));
window.addEventListener("unhandledrejection", (event) => recover(String(event.reason?.message)));

// A click in a part of the page that is being left can arrive while the next page is drawn. Streamlit
// then goes back to the page of the click, which has that part no longer, and shows nothing at all.
const BLANK = 1500;
let blank = 0;

const isBlank = () => !document.querySelector("[data-testid=stMain] [class*='st-key-page-']");

function notice() {
  const { testConnectionState: connection, testScriptState: script } = document.querySelector(".stApp")?.dataset ?? {};
  window.clearTimeout(blank);
  if (connection !== "CONNECTED" || script !== "notRunning" || !isBlank()) return;
  blank = window.setTimeout(() => { if (isBlank()) reload(); }, BLANK);
}

// A server that was started again, or that forgot a page while it was away, draws nothing on it,
// whatever is asked. A page asks every few seconds (pulse.js): if nothing runs although it is
// connected again, it is loaded again.
const SILENCE = 8000;
let connected = false;
let away = false;
let timer = 0;

function hear() {
  const { testConnectionState: connection, testScriptState: script } = document.querySelector(".stApp")?.dataset ?? {};
  if (connection === "CONNECTED") connected = true;
  else if (connected) away = true;
  const answers = connection !== "CONNECTED" || script !== "notRunning";
  if (connection === "CONNECTED" && answers) away = false;
  if (answers || !away || document.hidden) {
    window.clearTimeout(timer);
    timer = 0;
  } else timer ||= window.setTimeout(() => location.reload(), SILENCE);
}

const states = ["data-test-connection-state", "data-test-script-state"];
new MutationObserver(() => { hear(); notice(); }).observe(document.documentElement, { attributeFilter: states, subtree: true });
document.addEventListener("visibilitychange", hear);

// What Streamlit says of a server that does not answer names a command that nobody here has typed.
const UNANSWERED = /^(Is Streamlit still running|Streamlit server is not responding)/;

function explain() {
  for (const said of document.querySelectorAll('[role="dialog"] > h2 + div')) {
    if (!UNANSWERED.test(said.textContent)) continue;
    said.dataset.instead = "ragkit does not answer. If it was stopped, start it again: this page then goes on by itself.";
  }
}

new MutationObserver(explain).observe(document.body, { childList: true });
