//! What threads do.

use observe::{Frame, ThreadStack};
use serde_json::{Value, json};

use crate::safe::safe_line;

/// Most threads of a group that are named.
const NAMED_MAX: usize = 16;

/// A line for each function, the innermost first.
#[must_use]
pub fn frames(frames: &[Frame]) -> String {
    frames.iter().enumerate().map(|(number, frame)| format!("  #{number:<2} {}\n", function(frame))).collect()
}

fn function(frame: &Frame) -> String {
    format!("{:#018x} {}", frame.address, called(frame))
}

/// What a frame is called, and where it is in the source or the file: `main at load.c:12 (inlined)`.
#[must_use]
pub fn called(frame: &Frame) -> String {
    let name = frame.function.as_deref().map_or_else(|| "??".to_owned(), safe_line);
    let place = match (&frame.source, &frame.file) {
        (Some(source), _) => {
            let line = source.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!(" at {}{line}", safe_line(&source.file))
        }
        (None, Some(file)) => format!(" in {} +{:#x}", safe_line(file), frame.file_address),
        (None, None) => String::new(),
    };
    let inlined = if frame.is_inlined { " (inlined)" } else { "" };
    format!("{name}{place}{inlined}")
}

/// The stacks of threads: those that do the same are shown once.
#[must_use]
pub fn threads(threads: &[ThreadStack]) -> String {
    let mut groups: Vec<Vec<&ThreadStack>> = Vec::new();
    for thread in threads {
        match groups.iter_mut().find(|group| does_the_same(group[0], thread)) {
            Some(group) => group.push(thread),
            None => groups.push(vec![thread]),
        }
    }
    groups.iter().map(|group| text(group)).collect::<Vec<_>>().join("\n")
}

fn does_the_same(one: &ThreadStack, other: &ThreadStack) -> bool {
    let alike =
        |(one, other): (&Frame, &Frame)| (one.address, &one.function) == (other.address, &other.function);
    one.is_stuck == other.is_stuck
        && one.waits_in == other.waits_in
        && one.frames.len() == other.frames.len()
        && one.frames.iter().zip(&other.frames).all(alike)
}

fn text(group: &[&ThreadStack]) -> String {
    let mut names: Vec<String> = group
        .iter()
        .take(NAMED_MAX)
        .map(|thread| format!("{} {}", thread.thread, safe_line(&thread.comm)))
        .collect();
    if group.len() > NAMED_MAX {
        names.push(format!("and {} more", group.len() - NAMED_MAX));
    }
    let first = group[0];
    let count = if group.len() == 1 { "thread".to_owned() } else { format!("{} threads", group.len()) };
    let waits = first.waits_in.as_ref().map(|place| format!(", in the kernel at {}", safe_line(place)));
    let mut lines = format!("{count} {}{}\n", names.join(", "), waits.unwrap_or_default());
    lines.extend(first.kernel.iter().map(|call| format!("  kernel {}\n", safe_line(call))));
    lines += &if first.is_stuck { "  did not stop\n".to_owned() } else { frames(&first.frames) };
    lines
}

/// The stacks for programs.
#[must_use]
pub fn json(threads: &[ThreadStack]) -> Value {
    let thread = |thread: &ThreadStack| {
        json!({
            "thread": thread.thread,
            "comm": thread.comm,
            "waits_in": thread.waits_in,
            "kernel": thread.kernel,
            "is_stuck": thread.is_stuck,
            "frames": frames_json(&thread.frames),
        })
    };
    threads.iter().map(thread).collect()
}

/// The functions of a stack.
#[must_use]
pub fn frames_json(frames: &[Frame]) -> Value {
    let frame = |frame: &Frame| {
        json!({
            "address": format!("{:#x}", frame.address),
            "function": frame.function,
            "file": frame.file,
            "file_address": format!("{:#x}", frame.file_address),
            "source": frame.source.as_ref().map(|source| &source.file),
            "line": frame.source.as_ref().and_then(|source| source.line),
            "is_inlined": frame.is_inlined,
        })
    };
    frames.iter().map(frame).collect()
}
