//! Text of a stranger's in one line.

/// Longest name, address or header that is kept, in characters.
pub(crate) const LINE_MAX: usize = 1000;

/// Text without control characters, of bounded length, that can stand in a line and be handed to git.
pub(crate) fn clean(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(LINE_MAX).collect();
    text.trim().to_owned()
}
