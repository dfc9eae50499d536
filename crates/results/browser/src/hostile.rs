//! Texts that want to be more than text.

/// Each leaves a mark in its page if it is more: `window.owned`, a dialog, or a request.
pub const HOSTILE: [&str; 8] = [
    "<script>window.owned=1</script>",
    "\"><img src=x onerror=\"window.owned=2\">",
    "'><svg onload='window.owned=3'>",
    "</title></style></script><script>alert(4)</script>",
    "javascript:window.owned=5",
    "<a href=\"javascript:alert(6)\">x</a><base href=\"//evil.example/\">",
    "<!--<script>&lt;&#60;&amp;]]>{{7*7}}${window.owned=7}",
    "\u{1b}[31mred\u{1b}[0m\u{1b}]8;;http://evil.example\u{7}link \u{202e}gnp.exe\u{2066} \u{9b}2J",
];

/// All of them in lines, with a line that has no end, a NUL and a byte order mark.
#[must_use]
pub fn hostile_lines() -> String {
    let lines = HOSTILE.join("\n");
    format!("{lines}\n{}\n\0NUL\u{feff}\r\u{8}back\n", "x".repeat(100_000))
}
