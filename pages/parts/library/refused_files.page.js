// What an uploader refused is told until the next files are given (library.css hides what is past).
const past = (event) => {
  const zone = event.target.closest?.(".st-key-drop");
  for (const chip of zone?.querySelectorAll(".stFileChip[aria-invalid=true]") ?? []) {
    chip.dataset.ragkitPast = "yes";
  }
};
for (const given of ["change", "drop"]) document.addEventListener(given, past, true);
