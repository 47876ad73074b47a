// A written answer as it grows: asks the server for its next state, and draws it at most ten times
// a second.
//
// The state in words has an element of its own, which is said aloud when it changes. What the server
// sends as HTML is made by answer_html.py alone, where a model's words are only ever text.
const PAUSE = 100;

function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

class Answer {
  constructor(parent, token, first) {
    this.token = token;
    this.version = -1;
    this.ended = new AbortController();
    this.state = made("span", { className: "rk-answer-state" });
    this.state.setAttribute("role", "status");
    this.stop = made("button", { type: "button", className: "rk-act", textContent: "Cancel" });
    this.stop.addEventListener("click", () => this.cancel());
    this.head = made("div", { className: "rk-answer-head" }, this.state, this.stop);
    this.body = made("div", { className: "rk-answer-body" });
    this.root = made("section", { className: "stHtml rk-answer rk-answer-written" }, this.head, this.body);
    this.root.setAttribute("aria-label", "Written answer");
    parent.replaceChildren(this.root);
    // A page that is closed or loaded again shows the answer no more.
    window.addEventListener(
      "pagehide",
      () => { if (!this.over) navigator.sendBeacon(this.address("/cancel")); },
      { signal: this.ended.signal },
    );
    this.draw(first);
    this.follow();
  }

  address(path) {
    return `/_ragkit/answers/${encodeURIComponent(this.token)}${path}`;
  }

  draw({ version, html, state, over }) {
    this.over = over;
    if (version === this.version) return;
    this.version = version;
    const words = state || (over ? "The answer is complete." : "");
    if (this.state.textContent !== words) this.state.textContent = words;
    this.stop.hidden = over;
    // Who sees the answer sees that it is complete; to others it is said.
    this.head.classList.toggle("rk-unseen", over && !state);
    this.root.setAttribute("aria-busy", String(!over));
    this.body.innerHTML = html;
  }

  async follow() {
    let failures = 0;
    while (!this.over && !this.ended.signal.aborted) {
      const began = performance.now();
      try {
        const answer = await fetch(this.address(`?after=${this.version}`), { signal: this.ended.signal });
        if (answer.status === 404) return this.lose();
        this.draw(await answer.json());
        failures = 0;
      } catch (error) {
        if (this.ended.signal.aborted) return;
        failures += 1;
        if (failures > 5) return this.lose();
      }
      const spent = performance.now() - began;
      await new Promise((go) => window.setTimeout(go, Math.max(0, PAUSE * (1 + 5 * failures) - spent)));
    }
  }

  async cancel() {
    this.stop.disabled = true;
    try {
      const answer = await fetch(this.address("/cancel"), { method: "POST" });
      if (answer.ok) this.draw(await answer.json());
    } catch {
      this.stop.disabled = false;
    }
  }

  lose() {
    this.over = true;
    this.stop.hidden = true;
    this.state.textContent = "The answer was lost: the server has been started again. Ask for it again.";
  }

  end() {
    this.ended.abort();
  }
}

export default function (component) {
  const { data, parentElement } = component;
  const before = parentElement.ragkitAnswer;
  if (before?.token === data.token) {
    if (before.answer.over) before.answer.draw(data.first);
    return before.leave;
  }
  before?.answer.end();
  const answer = new Answer(parentElement, data.token, data.first);
  const leave = () => { answer.end(); delete parentElement.ragkitAnswer; };
  parentElement.ragkitAnswer = { token: data.token, answer, leave };
  return leave;
}
