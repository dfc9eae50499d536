//! The function to name: what a stack tells of where the defect is.

use super::helpers::{is_entry, is_helper};
use super::line::{inner, is_start_of_trace};

/// A frame of a stack.
#[derive(Debug, Clone, Copy)]
struct Frame<'a> {
    function: &'a str,
    /// Without `? `: the unwinder vouches for it.
    reliable: bool,
}

/// The name before what the compiler appended: `foo.isra.0`, `foo.cold`.
pub(super) fn plain(name: &str) -> &str {
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name)
}

/// The function that a text begins with: `foo+0x12/0x34 [mod]`.
pub(super) fn function(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once('+')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'));
    (is_name && rest.starts_with("0x")).then(|| plain(name))
}

/// ` foo+0x1/0x2`, ` ? foo+0x1/0x2`, ` [<ffffffff81000000>] foo+0x1/0x2`
fn frame(line: &str) -> Option<Frame<'_>> {
    let mut rest = inner(line).strip_prefix([' ', '\t'])?.trim_start();
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        rest = after.trim_start();
    }
    let certain = rest.strip_prefix("? ");
    Some(Frame { function: function(certain.unwrap_or(rest))?, reliable: certain.is_none() })
}

/// The kernel function at which the processor was: `RIP: 0010:foo+0x1/0x2`, `pc : foo+0x1/0x2`.
fn at_processor(line: &str) -> Option<&str> {
    const STARTS: [&str; 5] = ["EIP: ", "pc : ", "epc : ", "PC is at ", "NIP "];
    let line = line.trim_start();
    // The segment tells whose function it is: the kernel's has 0010, under Xen e030; user space 0033.
    let segment = line.strip_prefix("RIP: ").and_then(|rest| rest.split_once(':'));
    let of_kernel = segment.filter(|(segment, _)| *segment != "0033").map(|(_, rest)| rest);
    let rest = of_kernel.or_else(|| STARTS.iter().find_map(|start| line.strip_prefix(start)))?;
    function(rest.rsplit("] ").next().unwrap_or(rest)).or_else(|| function(rest))
}

/// The processor's functions and those of the stacks, in order.
fn frames<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = Frame<'a>> {
    let mut in_trace = false;
    lines.iter().filter_map(move |line| {
        in_trace |= is_start_of_trace(line);
        let here = at_processor(line).map(|function| Frame { function, reliable: true });
        here.or_else(|| frame(line).filter(|_| in_trace))
    })
}

/// The first function that is no helper; a helper if there are only those.
///
/// What the unwinder does not vouch for counts only where it vouches for nothing: after a jump into
/// the void.
pub(super) fn culprit<'a>(lines: &'a [&'a str]) -> Option<&'a str> {
    let certain = || frames(lines).filter(|frame| frame.reliable).map(|frame| frame.function);
    let guessed = || frames(lines).map(|frame| frame.function);
    let telling = |function: &&str| !is_helper(function);
    certain().find(telling).or_else(|| certain().next()).or_else(|| guessed().find(telling))
}

/// The function below the entry into the kernel, in the stack that the stalled task or interrupt had.
///
/// Where a loop happens to be when it is looked at changes from boot to boot; who entered it does not.
pub(super) fn staller<'a>(lines: &'a [&'a str]) -> Option<&'a str> {
    let mut below = None;
    let mut in_trace = false;
    for line in lines {
        in_trace |= is_start_of_trace(line);
        // The interrupt that came to look says nothing.
        if [" </IRQ>", " </NMI>"].iter().any(|end| line.starts_with(end)) {
            below = None;
        }
        let in_stack = || frame(line).filter(|frame| in_trace && frame.reliable).map(|frame| frame.function);
        let Some(function) = at_processor(line).or_else(in_stack) else { continue };
        match below {
            Some(below) if is_entry(function) && !is_helper(below) => return Some(below),
            _ => below = Some(function),
        }
    }
    culprit(lines)
}

/// The function that takes the lock of which lockdep complains: after the first `at:`.
pub(super) fn taker<'a>(lines: &'a [&'a str]) -> Option<&'a str> {
    let mut wanted = false;
    for line in lines {
        if wanted
            && let Some(function) =
                frame(line).map(|frame| frame.function).or_else(|| function(after_address(line)))
        {
            return Some(function);
        }
        wanted = line.ends_with(" at:");
        if let Some((_, place)) = line.split_once(" at: ")
            && let Some(function) = function(after_address(place))
        {
            return Some(function);
        }
    }
    None
}

/// Without a leading `[<address>] `.
fn after_address(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix('[').and_then(|inside| inside.split_once("] ")).map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_several_forms() {
        let parts = |line| frame(line).map(|frame| (frame.function, frame.reliable));
        assert_eq!(parts(" foo+0x1/0x2"), Some(("foo", true)));
        assert_eq!(parts("  ? foo.isra.0+0x1/0x2 [mod]"), Some(("foo", false)));
        assert_eq!(parts(" [<ffffffff81000000>] foo+0x1/0x2 fs/x.c:1"), Some(("foo", true)));
        assert_eq!(parts("foo+0x1/0x2"), None);
        assert_eq!(parts(" 0xffffffffc0440000"), None);
        assert_eq!(parts(" ? "), None);
    }

    #[test]
    fn helpers_are_named_only_when_there_is_nobody_else() {
        let lines = ["Call Trace:", " dump_stack_lvl+0x1/0x2", " ? bar+0x1/0x2", " foo+0x1/0x2"];
        assert_eq!(culprit(&lines), Some("foo"));
        assert_eq!(culprit(&lines[..2]), Some("dump_stack_lvl"));
        assert_eq!(culprit(&[]), None);
        assert_eq!(culprit(&["RIP: 0033:0x439770"]), None);
    }

    #[test]
    fn a_stall_is_named_after_who_entered_the_loop() {
        let lines = [
            "Call Trace:",
            " <IRQ>",
            " rcu_sched_clock_irq+0x1/0x2",
            " </IRQ>",
            " <TASK>",
            " asm_sysvec_apic_timer_interrupt+0x1/0x2",
            "RIP: 0010:spin+0x1/0x2",
            " looper+0x1/0x2",
            " kthread+0x1/0x2",
        ];
        assert_eq!(staller(&lines), Some("looper"));
    }
}
