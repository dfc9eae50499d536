//! The title of a report.

use super::clean::{clean, source};
use super::helpers::is_helper;
use super::line::warned_at;
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
    fn a_slab_has_the_same_name_on_each_boot() {
        let line = "BUG kmalloc-rnd-05-64 (Tainted: G    B      OE     ): Right Redzone overwritten";
        assert_eq!(slab(line), "BUG kmalloc-rnd-NN-64: Right Redzone overwritten");
        assert_eq!(slab("BUG "), "BUG : ");
    }
}
