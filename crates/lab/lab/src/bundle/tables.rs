//! What is known about kernels, as data for awk: written from the tables that kiln itself uses.

use judge::case::TAINTS;
use judge::kernel_report::tables as known;

/// The statements that fill awk's tables.
pub(super) fn write() -> String {
    let rows = known::openings().map(|row| {
        let [pattern, start, within, role, title, text] = row.map(|text| string(&text));
        format!("    row({pattern}, {start}, {within}, {role}, {title}, {text})\n")
    });
    let taints = TAINTS.iter().enumerate().map(|(at, (bit, text))| {
        format!("    TAINT_BIT[{0}] = {bit}; TAINT[{0}] = {1}; TAINTS = {0}\n", at + 1, string(text))
    });
    let lists = [
        ("HELPER", known::HELPERS),
        ("ENTRY", known::ENTRIES),
        ("INSIDE", known::INSIDE),
        ("ENDING", known::INSIDE_ENDS),
    ];
    let lists = lists.map(|(name, words)| format!("    {}\n", list(name, words)));
    let limits = known::LIMITS.map(|(name, value)| format!("    {name} = {value}\n"));
    let statements: String = rows.chain(taints).chain(lists).chain(limits).collect();
    format!(
        "function row(pattern, start, within, role, title, text) {{\n    OPENINGS++\n    PATTERN[OPENINGS] = pattern; \
         START[OPENINGS] = start; WITHIN[OPENINGS] = within\n    ROLE[OPENINGS] = role; TITLE[OPENINGS] = title; \
         SAYS[OPENINGS] = text\n}}\nBEGIN {{\n{statements}}}\n"
    )
}

/// The statement that makes an array of `words`, which hold no line ends, and its length in the plural.
pub(super) fn list(name: &str, words: &[&str]) -> String {
    let plural = name.strip_suffix('Y').map_or_else(|| format!("{name}S"), |stem| format!("{stem}IES"));
    format!("{plural} = split({}, {name}, \"\\n\")", string(&words.join("\n")))
}

/// A text as awk reads it between quotes.
pub(super) fn string(text: &str) -> String {
    let text = text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("\"{text}\"")
}
