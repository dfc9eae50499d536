"use strict";
// Makes a frame as wide as the picture, and marks frames by their names.
(() => {
  const root = document.documentElement;
  const found = root.querySelector(".found");
  const frames = [...root.querySelectorAll(".frames > svg")].map((node) => ({
    node,
    left: Number(node.dataset.left),
    width: Number(node.dataset.width),
    total: Number(node.dataset.total),
    row: node.y.baseVal.value,
    name: node.querySelector("title").textContent,
    label: node.querySelector("text"),
  }));
  const EDGE = 1e-3;

  const place = (frame, left, width) => {
    frame.node.setAttribute("x", `${left}%`);
    frame.node.setAttribute("width", `${width}%`);
    frame.label.style.display = width < 1 ? "none" : "";
  };

  // Frames that it is in stay above it, as wide as it; those beside it go.
  const widen = (chosen) => {
    for (const frame of frames) {
      const isInside = frame.left >= chosen.left - EDGE && frame.left + frame.width <= chosen.left + chosen.width + EDGE;
      const isAround = frame.left <= chosen.left + EDGE && frame.left + frame.width >= chosen.left + chosen.width - EDGE;
      const isAbove = frame.row < chosen.row && isAround;
      const isBelow = frame.row >= chosen.row && isInside;
      frame.node.style.display = isAbove || isBelow ? "" : "none";
      frame.node.classList.toggle("above", isAbove);
      const scale = 100 / chosen.width;
      if (isAbove) place(frame, 0, 100);
      else if (isBelow) place(frame, (frame.left - chosen.left) * scale, frame.width * scale);
    }
  };
  const all = () => {
    for (const frame of frames) {
      frame.node.style.display = "";
      frame.node.classList.remove("above");
      place(frame, frame.left, frame.width);
    }
  };

  // The share of the samples that are in a frame of such a name: of frames in each other the outer one counts.
  const search = (text) => {
    const wanted = text.toLowerCase();
    const outer = [];
    for (const frame of [...frames].sort((a, b) => a.row - b.row)) {
      const isMatch = wanted !== "" && frame.name.split(": ")[0].toLowerCase().includes(wanted);
      frame.node.classList.toggle("match", isMatch);
      const isIn = (other) => frame.left >= other.left - EDGE && frame.left + frame.width <= other.left + other.width + EDGE;
      if (isMatch && !outer.some(isIn)) outer.push(frame);
    }
    const share = outer.reduce((sum, frame) => sum + frame.width, 0);
    found.textContent = wanted === "" ? "" : `${text}: ${share.toFixed(2)} %`;
  };

  for (const frame of frames) {
    frame.node.setAttribute("tabindex", "0");
    frame.node.addEventListener("click", () => widen(frame));
  }
  document.addEventListener("keydown", (event) => {
    const frame = frames.find((one) => one.node === document.activeElement);
    if (event.key === "Escape") all();
    else if (event.key === "Enter" && frame) widen(frame);
    else if (event.key === "/") {
      event.preventDefault();
      search(prompt("Search for a function", "") ?? "");
    }
  });
  all();
})();
