(() => {
  // From the begin of the page, wherever a script put the focus.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
  scrollTo(0, 0);
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])");
  const isShown = one => one.checkVisibility({ visibilityProperty: true }) && !one.disabled;
  window.judged = { left: new Set([...all].filter(isShown)), last: null };
  return judged.left.size;
})()
