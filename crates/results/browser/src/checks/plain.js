// A control that only a script could serve is not there.
(() => {
  const controls = [...document.querySelectorAll("button, input, select")].filter(one => one.checkVisibility() && !one.closest("form"));
  // A style can serve a box to tick.
  const dead = controls.filter(one => one.type !== "checkbox").map(one => `it has ${one.outerHTML.slice(0, 100)}`);
  return document.querySelectorAll("h1").length === 1 ? dead : [...dead, "it does not have one heading of the first level"];
})()
