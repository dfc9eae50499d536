(() => {
  const colour = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
  return (0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]) / 255;
})()
