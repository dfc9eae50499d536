(async () => {
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
  const node = one => `${one.target.join(" ")} ${one.html.slice(0, 200)}: ${one.failureSummary.replace(/\s+/g, " ")}`;
  return found.violations.map(rule =>
    `axe: ${rule.id}: ${rule.help}, ${rule.nodes.length} times; ${rule.nodes.slice(0, 3).map(node).join("; ")}`);
})()
