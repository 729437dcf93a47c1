"use strict";
// Shows the exchanges that are asked for. It compares texts and sets `hidden`; it makes no markup.
const form = document.getElementById("filter");
if (form) {
  const rows = [...document.querySelectorAll(".exchange")];
  const [status, ending, search, count] = ["status", "ending", "search", "count"].map((id) => document.getElementById(id));
  const apply = () => {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits =
        (!status.value || row.dataset.status === status.value) &&
        (!ending.value || row.dataset.ending === ending.value) &&
        (!wanted || row.firstElementChild.textContent.toLowerCase().includes(wanted));
      row.hidden = !fits;
      shown += fits;
    }
    count.value = `${shown} of ${rows.length}`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
}
