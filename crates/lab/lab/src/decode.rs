//! Lines of a kernel's back traces with the lines of source that they mean, as the kernel's own
//! decode_stacktrace.sh gives them.

use std::collections::HashMap;

use kernel::symbols::{Frame, Place};
use kernel::{Kernel, Symbols};
use protocol::End;

use crate::event::{Event, Listener};
use judge::run::Run;

/// Most places of one Run that are looked up.
const LOOKUPS_MAX: usize = 400;

/// Finds the lines of source at a place, those of inlined functions first.
pub type Resolver<'a> = dyn FnMut(&Place) -> Vec<Frame> + 'a;

/// Decodes all that a Run shows of its kernel before it is told on. Titles and reasons stay as they are.
pub struct Decoding<'a> {
    listener: &'a mut dyn Listener,
    symbols: Option<Symbols>,
}

impl std::fmt::Debug for Decoding<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoding").field("symbols", &self.symbols).finish_non_exhaustive()
    }
}

impl<'a> Decoding<'a> {
    /// Before `listener`, with the symbols of `kernel` where they are at hand.
    pub fn of(kernel: &Kernel, listener: &'a mut dyn Listener) -> Self {
        Self { listener, symbols: Symbols::of(kernel) }
    }
}

impl Listener for Decoding<'_> {
    fn on_event(&mut self, event: &Event) {
        let Some(symbols) = &self.symbols else { return self.listener.on_event(event) };
        let decoded = |run: &Run| {
            let mut decoded = run.clone();
            self::run(&mut decoded, &mut |place| symbols.frames(place));
            Box::new(decoded)
        };
        match event {
            Event::Finished(run) => self.listener.on_event(&Event::Finished(decoded(run))),
            Event::Repeated(run) => self.listener.on_event(&Event::Repeated(decoded(run))),
            other => self.listener.on_event(other),
        }
    }
}

/// Decodes all that `run` shows of its kernel.
pub fn run(run: &mut Run, resolver: &mut Resolver<'_>) {
    let mut decoder = Decoder { resolver, known: HashMap::new() };
    decoder.lines(&mut run.evidence);
    for report in &mut run.kernel_reports {
        decoder.lines(&mut report.lines);
    }
    if let Some(End::TimedOut { stacks, .. }) = &mut run.end {
        let mut lines = stacks.lines().map(str::to_string).collect();
        decoder.lines(&mut lines);
        *stacks = lines.join("\n");
    }
}

struct Decoder<'a, 'b> {
    resolver: &'a mut Resolver<'b>,
    known: HashMap<Place, Vec<Frame>>,
}

impl Decoder<'_, '_> {
    fn lines(&mut self, lines: &mut Vec<String>) {
        *lines = std::mem::take(lines).into_iter().flat_map(|line| self.line(line)).collect();
    }

    /// The line, after those of functions that are inlined there.
    fn line(&mut self, line: String) -> Vec<String> {
        let Some(found) = Found::in_line(&line) else { return vec![line] };
        let mut frames = self.frames(found.place);
        let Some(last) = frames.pop() else { return vec![line] };
        let (before, after) = line.split_at(found.end);
        let indent = &line[..found.start];
        let inlined =
            |frame: &Frame| format!("{indent}{} ({}:{}) [inline]", frame.function, frame.file, frame.line);
        let decoded = format!("{before} ({}:{}){after}", last.file, last.line);
        frames.iter().map(inlined).chain([decoded]).collect()
    }

    fn frames(&mut self, place: Place) -> Vec<Frame> {
        if let Some(frames) = self.known.get(&place) {
            return frames.clone();
        }
        if self.known.len() == LOOKUPS_MAX {
            return Vec::new();
        }
        let frames = (self.resolver)(&place);
        self.known.insert(place, frames.clone());
        frames
    }
}

/// The place in a line, and from where to where it stands.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    place: Place,
    start: usize,
    end: usize,
}

impl Found {
    /// `pipe_read+0x12/0x340`, unless it is of a module, whose name follows, or has its line already.
    fn in_line(line: &str) -> Option<Self> {
        let plus = line.find("+0x")?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
        let start = line[..plus].trim_end_matches(is_name).len();
        let (offset, rest) = hexadecimal(&line[plus + 1..])?;
        let (size, rest) = hexadecimal(rest.strip_prefix('/')?)?;
        let is_last = !(rest.starts_with(" [") || rest.starts_with(" ("));
        // `WARNING: CPU: 0 PID: 1 at fs/pipe.c:71 pipe_read+0x12/0x340`
        let has_line = line[..start].split_whitespace().last().is_some_and(|word| word.contains(".c:"));
        // What stands on a stack is where a call returns to. The call itself is before that.
        let is_call = !["RIP: ", "EIP: ", "pc : "].iter().any(|register| line.contains(register));
        let offset = if is_call { offset.saturating_sub(1) } else { offset };
        let place = Place { function: line[start..plus].to_string(), offset, size };
        (is_last && !has_line && start < plus).then_some(Self { place, start, end: line.len() - rest.len() })
    }
}

/// The number after `0x`, and what follows it.
fn hexadecimal(text: &str) -> Option<(u64, &str)> {
    let digits = text.strip_prefix("0x")?;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    Some((u64::from_str_radix(&digits[..end], 16).ok()?, &digits[end..]))
}

#[cfg(test)]
mod tests;
