//! The events that bpftrace lost, counted in the stream of what it prints.
//!
//! It says so at the end of a line: `Lost 17 events`, or `{"type": "lost_events", "data": {"events": 17}}` as JSON. The kernel reports
//! what a full buffer of a CPU lost with the next event that this buffer has room for (PERF_RECORD_LOST of perf_event_open(2)).

/// Bytes of the end of a line, more than either way of saying it takes.
const END_MAX: usize = 80;

const TEXT: (&str, &str) = ("Lost ", " events");
const JSON: (&str, &str) = (r#"{"type": "lost_events", "data": {"events": "#, "}}");

#[derive(Default)]
pub(super) struct Losses {
    events: u64,
    /// The end of the line that has no end yet.
    line: Vec<u8>,
}

impl Losses {
    /// Takes what comes next in the stream.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let end = part.strip_suffix(b"\n");
            self.extend(end.unwrap_or(part));
            if end.is_some() {
                self.events = self.events.saturating_add(lost(&String::from_utf8_lossy(&self.line)));
                self.line.clear();
            }
        }
    }

    fn extend(&mut self, part: &[u8]) {
        self.line.extend_from_slice(&part[part.len().saturating_sub(END_MAX)..]);
        self.line.drain(..self.line.len().saturating_sub(END_MAX));
    }

    /// How many events are lost by all lines that have ended.
    pub(super) const fn events(&self) -> u64 {
        self.events
    }
}

/// How many events are lost by one line.
pub(super) fn lost(line: &str) -> u64 {
    let number = |(begin, end): (&str, &str)| line.strip_suffix(end)?.rsplit_once(begin)?.1.parse().ok();
    number(TEXT).or_else(|| number(JSON)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
        let mut losses = Losses::default();
        parts.into_iter().for_each(|part| losses.read(part));
        losses.events()
    }

    #[test]
    fn both_ways_of_saying_it_are_understood() {
        assert_eq!(read([&b"x\nLost 17 events\nWARNING: Lost 3 events\nno newLost 1 events\n"[..]]), 21);
        assert_eq!(read([&b"{\"type\": \"lost_events\", \"data\": {\"events\": 11809}}\n"[..]]), 11809);
        assert_eq!(lost(&format!("{}{}{}", JSON.0, u64::MAX, JSON.1)), u64::MAX);
        assert!(JSON.0.len() + u64::MAX.to_string().len() + JSON.1.len() <= END_MAX);
    }

    #[test]
    fn nothing_else_is_a_loss() {
        for line in ["Lost some events", "Lost 5 events.", "Lost events", "Lost -1 events"] {
            assert_eq!(lost(line), 0, "{line}");
        }
        // A script that prints it as data.
        let printed =
            r#"{"type": "printf", "data": "{\"type\": \"lost_events\", \"data\": {\"events\": 7}}"}"#;
        assert_eq!(lost(printed), 0);
        // The line has no end.
        assert_eq!(read([&b"Lost 17 events"[..]]), 0);
    }

    proptest! {
        #[test]
        fn how_the_stream_is_cut_does_not_matter(
            lines in prop::collection::vec((".{0,200}", 0_u32..9), 0..9),
            cuts in prop::collection::vec(1_usize..300, 1..40),
        ) {
            let text: String = lines.iter().map(|(line, lost)| format!("{line}\nLost {lost} events\n")).collect();
            let (mut rest, mut parts) = (text.as_bytes(), Vec::new());
            for cut in cuts {
                let (part, more) = rest.split_at(cut.min(rest.len()));
                parts.push(part);
                rest = more;
            }
            parts.push(rest);
            prop_assert_eq!(read(parts), read([text.as_bytes()]));
            prop_assert!(read([text.as_bytes()]) >= lines.iter().map(|(_, lost)| u64::from(*lost)).sum());
        }
    }
}
