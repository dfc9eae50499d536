// Only tables and pictures may be wider than the window, and then scroll on their own.
(() => {
  const root = document.documentElement;
  const excess = root.scrollWidth - root.clientWidth;
  if (excess <= 0) return [];
  const name = element => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} ${element.textContent.slice(0, 60)}`;
  const isWide = element => !element.closest(".wide") && element.getBoundingClientRect().right > root.clientWidth + 1;
  const guilty = [...document.body.querySelectorAll("*")].filter(isWide).slice(-3).map(name);
  return [`it is ${excess} pixels too wide: ${guilty.join("; ")}`];
})()
