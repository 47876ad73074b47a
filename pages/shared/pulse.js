// Asks for news every few seconds, and only while the tab is looked at.
export default function (component) {
  const { data, setTriggerValue } = component;
  const seconds = Math.max(1, Number(data?.seconds) || 5);
  const tick = () => { if (!document.hidden) setTriggerValue("tick", Date.now()); };
  const timer = window.setInterval(tick, seconds * 1000);
  document.addEventListener("visibilitychange", tick);
  return () => {
    window.clearInterval(timer);
    document.removeEventListener("visibilitychange", tick);
  };
}
