(() => {
  const focused = document.activeElement;
  if (!focused || focused === document.body || !judged.left.delete(focused)) return [];
  const name = focused.outerHTML.slice(0, 120);
  const faults = [];
  const style = getComputedStyle(focused);
  const hasRing = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  if (!focused.matches(":focus-visible") || !hasRing) faults.push(`the focus is not seen on ${name}`);
  const box = focused.getBoundingClientRect();
  const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.width > 0;
  if (!isInside) faults.push(`the focus is outside of the window on ${name}`);
  const isBehind = !judged.last || judged.last.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (!isBehind) faults.push(`the focus jumps back to ${name}`);
  judged.last = focused;
  return faults;
})()
