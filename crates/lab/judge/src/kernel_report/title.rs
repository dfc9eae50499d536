//! The title of a report.

use super::clean::{clean, source};
use super::helpers::is_helper;
use super::openings::{Opening, Title};
use super::stack;

/// Bytes of a title at most.
pub(super) const TITLE_MAX: usize = 200;

/// What a report is called: the same for the same defect on each boot.
pub(super) fn title(opening: &Opening, headline: &str, lines: &[&str]) -> String {
    let made = match opening.title {
        Title::Fixed(text) => text.to_owned(),
        Title::InStack(text) => within(text, stack::culprit(lines)),
        Title::InStalled(text) => within(text, stack::staller(lines)),
        Title::InTaker(text) => within(text, stack::taker(lines).or_else(|| stack::culprit(lines))),
        Title::Head => head(headline, lines),
        Title::HeadUntil(ends) => head_until(headline, ends, lines),
        Title::Warned => warned(headline, lines),
        Title::Died => died(headline, lines),
        Title::Panic => {
            format!("Kernel panic: {}", clean(headline.split_once(": ").map_or("", |(_, text)| text)))
        }
        Title::Slab => slab(headline),
    };
    let made = if made.trim().is_empty() { headline } else { made.trim_end() };
    protocol::results::cut(made, TITLE_MAX).to_owned()
}

fn within(text: &str, function: Option<&str>) -> String {
    match function {
        Some(function) => format!("{text} in {function}"),
        None => text.to_owned(),
    }
}

/// `BUG: KASAN: use-after-free in foo+0x12/0x34 [mod]`: the caller, where the function is a mere helper.
fn head(headline: &str, lines: &[&str]) -> String {
    if let Some((what, place)) = headline.split_once(" in ")
        && let Some(helper) = stack::function(place)
        && is_helper(helper)
    {
        return within(&clean(what), stack::culprit(lines).or(Some(helper)));
    }
    let text = headline.split_once(" (target: ").map_or(headline, |(before, _)| before);
    clean(text).replacen("CFI failure at ", "CFI failure in ", 1)
}

/// The beginning of the headline; for UBSAN with the function in place of the source line.
fn head_until(headline: &str, ends: &[char], lines: &[&str]) -> String {
    if let Some(what) = headline.strip_prefix("UBSAN: ") {
        let (what, place) = what.split_once(" in ").unwrap_or((what, ""));
        let place = stack::culprit(lines).unwrap_or_else(|| source(place));
        return format!("UBSAN: {} in {place}", clean(what));
    }
    if let Some(place) = headline.strip_prefix("kernel BUG at ") {
        return match stack::function(place) {
            Some(function) => within("kernel BUG", Some(function)),
            None => format!("kernel BUG at {}", source(place.split('!').next().unwrap_or(place))),
        };
    }
    // The first of the ends may stand inside of the opening itself: `BUG: ...`.
    let opening = headline.find(' ').map_or(0, |at| at + 1);
    let end = headline[opening..].find(ends).map_or(headline.len(), |at| opening + at);
    let whole = clean(headline[..end].trim_end());
    if whole.len() > opening { whole } else { clean(headline) }
}

/// `WARNING in foo`, or `WARNING at file:line` where the kernel has no names.
fn warned(headline: &str, lines: &[&str]) -> String {
    let Some(place) = warned_at(headline) else { return clean(headline) };
    match stack::function(place.function) {
        Some(function) if is_helper(function) => within("WARNING", stack::culprit(lines).or(Some(function))),
        Some(function) => within("WARNING", Some(function)),
        None if !place.source.is_empty() => format!("WARNING at {}", source(place.source)),
        None => within("WARNING", stack::culprit(lines)),
    }
}

/// Where a `WARN()` is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// `fs/x.c:12`, or nothing.
    source: &'a str,
    /// `foo+0x12/0x34 [mod]`, or an address.
    function: &'a str,
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

/// `general protection fault in foo`.
fn died(headline: &str, lines: &[&str]) -> String {
    let text = super::line::died(headline).unwrap_or(headline);
    let text = if text == "Oops" { text } else { text.strip_prefix("Oops: ").unwrap_or(text) };
    // `, probably for non-canonical address ...`, `, maybe for address ...`
    let text = text.split(',').next().unwrap_or(text);
    let text = clean(text);
    within(if text.is_empty() { "Oops" } else { &text }, stack::culprit(lines))
}

/// `BUG kmalloc-64 (Tainted: G    B): Redzone overwritten`, without the taints.
fn slab(headline: &str) -> String {
    let cache = headline.split(' ').nth(1).unwrap_or("");
    let what = headline.split_once("): ").map_or("", |(_, what)| what);
    // `kmalloc-rnd-05-64`: which of the copies it is, is drawn at boot.
    let cache = match cache.strip_prefix("kmalloc-rnd-").and_then(|rest| rest.split_once('-')) {
        Some((_, size)) => format!("kmalloc-rnd-NN-{size}"),
        None => cache.to_owned(),
    };
    format!("BUG {cache}: {}", clean(what))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_slab_has_the_same_name_on_each_boot() {
        let line = "BUG kmalloc-rnd-05-64 (Tainted: G    B      OE     ): Right Redzone overwritten";
        assert_eq!(slab(line), "BUG kmalloc-rnd-NN-64: Right Redzone overwritten");
        assert_eq!(slab("BUG "), "BUG : ");
    }
}
