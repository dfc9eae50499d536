//! Text without what changes from boot to boot.

/// `fs/x.c:12` out of what a build elsewhere made of it: `../fs/x.c:12`.
pub(super) fn source(mut place: &str) -> &str {
    while let Some(rest) = place.strip_prefix("../").or_else(|| place.strip_prefix("./")) {
        place = rest;
    }
    place
}

/// Words one blank apart, without offsets, modules, addresses and the numbers of tasks, CPUs and seconds.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace().filter(|word| !is_module(word)) {
        if !out.is_empty() {
            out.push(' ');
        }
        clean_word(word, &mut out);
    }
    out
}

/// `[ext4]` behind a function.
fn is_module(word: &str) -> bool {
    let name = word.strip_prefix('[').and_then(|word| word.strip_suffix([']', ','].as_slice()));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_part))
}

fn clean_word(word: &str, out: &mut String) {
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        if !first.is_ascii() || !is_part(first as u8) {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.bytes().position(|b| !is_part(b)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = clean_part(part, after, out);
    }
}

/// Writes a word of letters and digits; returns what is left after it.
fn clean_part<'a>(part: &str, after: &'a str, out: &mut String) -> &'a str {
    if let Some(offset) = after.strip_prefix("+0x") {
        out.push_str(super::stack::plain(part));
        let end = offset.bytes().position(|b| !b.is_ascii_hexdigit() && b != b'/' && b != b'x');
        return &offset[end.unwrap_or(offset.len())..];
    }
    // How init ended tells defects apart and is the same on each boot.
    if is_address(part) && !out.ends_with("exitcode=") {
        out.push_str("ADDR");
    } else if is_changing_number(part, out) {
        out.push('N');
    } else {
        out.push_str(part);
    }
    after
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// `0x7f`, `ffff888100000000`.
fn is_address(part: &str) -> bool {
    let digits = part.strip_prefix("0x").unwrap_or(part);
    let long =
        part.len() != digits.len() || (digits.len() >= 8 && digits.bytes().any(|b| b.is_ascii_digit()));
    long && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A number of three digits or more, of seconds, of a CPU or of a task.
fn is_changing_number(part: &str, before: &str) -> bool {
    let digits = part.trim_end_matches("ms").trim_end_matches('s');
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    const OWNERS: [&str; 8] = ["CPU#", "CPU ", "cpu ", "CPU: ", "PID: ", "pid ", "comm/", "task "];
    digits.len() >= 3 || digits.len() < part.len() || OWNERS.iter().any(|owner| before.ends_with(owner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_changes_is_taken_out() {
        assert_eq!(
            clean("BUG: KASAN: use-after-free in foo.isra.0+0x12/0x34 [ext4]"),
            "BUG: KASAN: use-after-free in foo"
        );
        assert_eq!(
            clean("bad thing at ffff888012345678 on CPU#3 by 1234"),
            "bad thing at ADDR on CPU#N by N"
        );
        assert_eq!(clean("stuck for 22s!"), "stuck for N!");
        assert_eq!(
            clean("Attempted to kill init! exitcode=0x00000300"),
            "Attempted to kill init! exitcode=0x00000300"
        );
        assert_eq!(
            clean("VFS: Unable to mount root fs on unknown-block(0,0)"),
            "VFS: Unable to mount root fs on unknown-block(0,0)"
        );
        assert_eq!(clean("data-race in foo / bar"), "data-race in foo / bar");
        assert_eq!(source("../../fs/x.c:12"), "fs/x.c:12");
    }

    proptest! {
        #[test]
        fn cleaning_ends_and_is_done_once(text in ".{0,200}") {
            let once = clean(&text);
            prop_assert!(once.len() <= text.len() * 4);
        }
    }
}
