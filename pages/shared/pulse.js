// Asks for news every few seconds, and only while the tab is looked at.
export default function (component) {
  const { data, setTriggerValue } = component;
  const seconds = Math.max(1, Number(data?.seconds) || 5);
  // Popovers and dialogs hang outside the app's element and would not know its colour scheme.
  const app = document.querySelector(".stApp");
  const match = () => {
    if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
  };
  match();
  const watch = window.setInterval(match, 1000);
  const tick = () => { if (!document.hidden) setTriggerValue("tick", Date.now()); };
  const timer = window.setInterval(tick, seconds * 1000);
  document.addEventListener("visibilitychange", tick);
  return () => {
    window.clearInterval(timer);
    window.clearInterval(watch);
    document.removeEventListener("visibilitychange", tick);
  };
}
