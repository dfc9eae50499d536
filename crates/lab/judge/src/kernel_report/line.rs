//! One line of the kernel log.

/// What the kernel prints before the text of a WARN, a BUG and some others.
const CUT_HERE: &str = "------------[ cut here ]------------";
/// Shortest row of `=` that is taken for one; the kernel's are 28 and longer.
const SEPARATOR_MIN: usize = 20;

/// The line without the names of subsystems that some kernels put before a report's first line.
pub(super) fn headline(mut line: &str) -> &str {
    const PREFIXES: [&str; 4] = ["NMI watchdog: ", "watchdog: ", "rcu: ", "traps: "];
    for prefix in PREFIXES {
        line = line.strip_prefix(prefix).unwrap_or(line);
    }
    // `watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3`, since 6.12.
    match line.strip_prefix("CPU").and_then(|rest| rest.split_once(": ")) {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => line,
    }
}

/// `------------[ cut here ]------------`
pub(super) fn is_cut_here(line: &str) -> bool {
    line.starts_with(CUT_HERE)
}

/// A row of `=`.
pub(super) fn is_separator(line: &str) -> bool {
    line.len() >= SEPARATOR_MIN && line.bytes().all(|b| b == b'=')
}

/// `general protection fault: 0000 [#1] SMP`: the text before the error code, where the line ends in one.
pub(super) fn died(line: &str) -> Option<&str> {
    let (before, after) = line.split_once(" [#")?;
    let (number, _) = after.split_once(']')?;
    let (text, code) = before.rsplit_once(": ")?;
    let is_code = !code.is_empty() && code.bytes().all(|b| b.is_ascii_hexdigit());
    (is_code && number.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// Where a `WARN()` is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// `fs/x.c:12`, or nothing.
    pub(super) source: &'a str,
    /// `foo+0x12/0x34 [mod]`, or an address.
    pub(super) function: &'a str,
}

/// The place of a `WARN()`, if the line is one.
///
/// Up to 6.17: `WARNING: CPU: 0 PID: 1 at fs/x.c:12 foo+0x1/0x2 [mod]`; then
/// `WARNING: fs/x.c:12 at foo+0x1/0x2 [mod], CPU#0: comm/1`, where `[condition] ` may come before the
/// file. Either may have no file.
pub(super) fn warned_at(headline: &str) -> Option<Place<'_>> {
    let rest = headline.strip_prefix("WARNING: ")?;
    if rest.starts_with("CPU: ") {
        let (who, place) = rest.split_once(" at ")?;
        who.contains(" PID: ").then_some(())?;
        return Some(match place.split_once(' ') {
            Some((source, function)) if is_source(source) => Place { source, function },
            _ => Place { source: "", function: place },
        });
    }
    let (place, _) = rest.rsplit_once(", CPU#")?;
    let Some((before, function)) = place.rsplit_once(" at ") else {
        return Some(Place { source: "", function: place.strip_prefix("at ")? });
    };
    let source = before.rsplit(' ').next().unwrap_or(before);
    is_source(source).then_some(Place { source, function })
}

/// `fs/x.c:12`
fn is_source(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(file, line)| {
        !file.is_empty() && !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
    })
}

/// The end of a `WARN()`, an oops or a panic.
pub(super) fn is_end_of_trace(line: &str) -> bool {
    line.starts_with("---[ end ")
}

/// The beginning of a stack.
pub(super) fn is_start_of_trace(line: &str) -> bool {
    let line = inner(line).trim_start();
    ["Call Trace:", "Call trace:", "stack backtrace:", "backtrace"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The line without the prefix that kmemleak puts before each of its lines.
pub(super) fn inner(line: &str) -> &str {
    line.strip_prefix("kmemleak:").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_told_by_its_number() {
        assert_eq!(died("invalid opcode: 0000 [#1] PREEMPT SMP"), Some("invalid opcode"));
        assert_eq!(died("Internal error: Oops: 0000000096000004 [#12] SMP"), Some("Internal error: Oops"));
        assert_eq!(died("usb: port [#1] is on"), None);
        assert_eq!(died(": [#]"), None);
    }

    #[test]
    fn warn_has_two_forms() {
        let place = |source, function| Some(Place { source, function });
        assert_eq!(
            warned_at("WARNING: CPU: 0 PID: 1 at fs/x.c:12 foo+0x1/0x2 [mod]"),
            place("fs/x.c:12", "foo+0x1/0x2 [mod]")
        );
        assert_eq!(warned_at("WARNING: CPU: 0 PID: 1 at foo+0x1/0x2"), place("", "foo+0x1/0x2"));
        assert_eq!(
            warned_at("WARNING: fs/x.c:12 at foo+0x1/0x2 [mod], CPU#0: a b/1"),
            place("fs/x.c:12", "foo+0x1/0x2 [mod]")
        );
        assert_eq!(
            warned_at("WARNING: [a == 0] fs/x.c:12 at foo+0x1/0x2, CPU#0: a/1"),
            place("fs/x.c:12", "foo+0x1/0x2")
        );
        assert_eq!(warned_at("WARNING: at foo+0x1/0x2, CPU#0: a/1"), place("", "foo+0x1/0x2"));
        assert_eq!(warned_at("WARNING: stack recursion at foo, CPU#"), None);
        assert_eq!(warned_at("WARNING: can't access registers at foo+0x1/0x2"), None);
    }

    #[test]
    fn cutting_respects_characters() {
        assert_eq!(protocol::results::cut("aé", 2), "a");
        assert_eq!(protocol::results::cut("aé", 3), "aé");
    }

    #[test]
    fn prefixes_of_subsystems_are_no_part_of_the_headline() {
        assert_eq!(headline("watchdog: BUG: soft lockup"), "BUG: soft lockup");
        assert_eq!(headline("watchdog: CPU3: Watchdog detected"), "Watchdog detected");
        assert_eq!(headline("rcu: INFO: rcu_preempt self-detected"), "INFO: rcu_preempt self-detected");
        assert_eq!(headline("CPUs: all"), "CPUs: all");
    }
}
