// Moves between the matched words of a text: the buttons of .rk-matches, and the keys n and p.
export default function () {
  let at = -1;
  const words = () => [...document.querySelectorAll(".rk-text mark")];
  const nearest = (marks, step) => {
    const middle = innerHeight / 2;
    const below = marks.findIndex((mark) => mark.getBoundingClientRect().top > middle);
    if (below < 0) return step > 0 ? marks.length - 1 : marks.length;
    return step > 0 ? below - 1 : below;
  };
  const go = (step) => {
    const marks = words();
    if (!marks.length) return;
    const here = at >= 0 && marks[at]?.classList.contains("rk-current") ? at : nearest(marks, step);
    at = (here + step + marks.length) % marks.length;
    for (const mark of marks) mark.classList.remove("rk-current");
    marks[at].classList.add("rk-current");
    marks[at].scrollIntoView({ block: "center" });
    const label = document.querySelector(".rk-matches [role=status]");
    if (label) label.textContent = `${at + 1} of ${marks.length}`;
  };
  const click = (event) => {
    const button = event.target.closest?.("[data-match]");
    if (button) go(Number(button.dataset.match));
  };
  const press = (event) => {
    const active = document.activeElement;
    const typing = active && (["INPUT", "TEXTAREA", "SELECT"].includes(active.tagName) || active.isContentEditable);
    const step = { n: 1, p: -1 }[event.key];
    if (step && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) go(step);
  };
  document.addEventListener("click", click);
  document.addEventListener("keydown", press);
  return () => {
    document.removeEventListener("click", click);
    document.removeEventListener("keydown", press);
  };
}
