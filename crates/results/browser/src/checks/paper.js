(() => {
  const isShown = element => element.checkVisibility();
  const faults = [...document.querySelectorAll("nav, form, input, select, .search")].filter(isShown)
    .map(element => `on paper it has ${element.outerHTML.slice(0, 100)}`);
  if (![...document.querySelectorAll("h1")].some(isShown)) faults.push("on paper it has no heading");
  return faults;
})()
