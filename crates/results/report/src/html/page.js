function equip() {
  // Heads of tables become buttons that sort. Cells without data-v are text.
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
        const order = (a, b) => isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => down * order(key(a), key(b)));
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
        table.tBodies[0].append(...rows);
      });
    });
  }
  // Above a table a field that hides the rows without the words in it.
  for (const table of document.querySelectorAll("table.searchable")) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    label.className = "search";
    input.type = "search";
    label.append("Search ", input, " ", count);
    table.parentElement.before(label);
    const rows = [...table.tBodies[0].rows].map(row => [row, row.textContent.toLowerCase()]);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/);
      let shown = 0;
      for (const [row, text] of rows) {
        row.hidden = !words.every(word => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = input.value ? `${shown} of ${rows.length}` : "";
    });
  }
  // What is wider than the window scrolls, with a keyboard, too.
  for (const area of document.querySelectorAll(".wide")) {
    new ResizeObserver(() => {
      if (area.scrollWidth > area.clientWidth) area.tabIndex = 0;
      else area.removeAttribute("tabindex");
    }).observe(area);
  }
}
equip();
// A server may have renewed the page.
document.addEventListener("renewed", equip);
// What a link leads to may be folded away.
addEventListener("hashchange", () => {
  document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
});
