//! A line of a trace in the form of Documentation/trace/ftrace.rst, with times in ticks.

/// An event on the traced CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The current task.
    pub(super) pid: u32,
    /// When it was, in ticks of the time-stamp counter.
    pub(super) at: u64,
    pub(super) event: Event<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// The current task gives way to another one; it could have gone on or not.
    Switch { could_run: bool, next: u32, name: &'a [u8] },
    /// The current task has a new child.
    Fork { child: u32 },
    /// An interrupt begins, by the name of its device or of its vector.
    Interrupt(&'a [u8]),
    /// It ends.
    InterruptEnd,
    /// A softirq begins, by the name of its vector.
    Softirq(&'a [u8]),
    /// It ends.
    SoftirqEnd,
    /// A NAPI instance was polled.
    Poll { packets: u64, budget: u64 },
}

/// Bytes of a task's name, which is filled up on the left and may have any characters: TASK_COMM_LEN.
const NAME: usize = 16;

impl<'a> Line<'a> {
    /// `           probe-41      [001] d.h1. 123456789: softirq_entry: vec=3 [action=NET_RX]`.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let rest = line.get(NAME..)?.strip_prefix(b"-")?;
        let (pid, rest) = split(rest, b" ")?;
        let (_, rest) = split(rest, b"] ")?;
        let (_flags, rest) = split(rest.trim_ascii_start(), b" ")?;
        let (at, rest) = split(rest.trim_ascii_start(), b": ")?;
        let (name, fields) = split(rest, b":").unwrap_or((rest, b""));
        Some(Self { pid: number(pid)?, at: number(at)?, event: Event::parse(name.trim_ascii(), fields)? })
    }
}

impl<'a> Event<'a> {
    fn parse(name: &'a [u8], fields: &'a [u8]) -> Option<Self> {
        match name {
            b"sched_switch" => switch(fields),
            b"sched_process_fork" => Some(Self::Fork { child: number(last(fields, b" child_pid=")?)? }),
            b"irq_handler_entry" => Some(Self::Interrupt(last(fields, b" name=")?)),
            b"irq_handler_exit" => Some(Self::InterruptEnd),
            b"softirq_entry" => Some(Self::Softirq(last(fields, b"[action=")?.strip_suffix(b"]")?)),
            b"softirq_exit" => Some(Self::SoftirqEnd),
            b"napi_poll" => poll(fields),
            // Those that are left are of vectors.
            _ => match name.strip_suffix(b"_entry") {
                Some(vector) => Some(Self::Interrupt(vector)),
                None => name.strip_suffix(b"_exit").map(|_| Self::InterruptEnd),
            },
        }
    }
}

/// `prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=8 next_prio=120`
fn switch(fields: &[u8]) -> Option<Event<'_>> {
    let (before, next) = split_last(fields, b" next_pid=")?;
    let (before, name) = split_last(before, b" ==> next_comm=")?;
    let (_, state) = split_last(before, b" prev_state=")?;
    let (next, _) = split(next, b" ").unwrap_or((next, b""));
    Some(Event::Switch { could_run: state.starts_with(b"R"), next: number(next)?, name })
}

/// `napi poll on napi struct 00000000f3a2 for device eth0 work 27 budget 64`
fn poll(fields: &[u8]) -> Option<Event<'_>> {
    let (before, budget) = split_last(fields, b" budget ")?;
    Some(Event::Poll { packets: number(last(before, b" work ")?)?, budget: number(budget)? })
}

fn split<'a>(text: &'a [u8], by: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(by.len()).position(|part| part == by)?;
    Some((&text[..at], &text[at + by.len()..]))
}

fn split_last<'a>(text: &'a [u8], by: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(by.len()).rposition(|part| part == by)?;
    Some((&text[..at], &text[at + by.len()..]))
}

/// What follows the last occurrence.
fn last<'a>(text: &'a [u8], by: &[u8]) -> Option<&'a [u8]> {
    split_last(text, by).map(|(_, rest)| rest)
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(rest: &str) -> Option<Event<'_>> {
        let (name, fields) = rest.split_once(':').unwrap_or((rest, ""));
        Event::parse(name.as_bytes(), fields.as_bytes())
    }

    #[test]
    fn lines_are_read_whatever_the_name_of_the_task_is() {
        for name in ["probe", "a-1 [9] d 5: x", "<...>", "ä: softirq_exit"] {
            let blanks = " ".repeat(NAME - name.len());
            let text = format!(
                "{blanks}{name}-4194304 [001] d.h1. 12345678901: softirq_entry: vec=3 [action=NET_RX]"
            );
            let expected = Line { pid: 4_194_304, at: 12_345_678_901, event: Event::Softirq(b"NET_RX") };
            assert_eq!(Line::parse(text.as_bytes()), Some(expected), "{name}");
        }
        assert_eq!(Line::parse(b"CPU:1 [LOST 123 EVENTS]"), None);
        assert_eq!(Line::parse(b""), None);
    }

    #[test]
    fn all_events_are_known() {
        let switch = " prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=k d/1 next_pid=18 next_prio=120";
        assert_eq!(
            event(&format!("sched_switch:{switch}")),
            Some(Event::Switch { could_run: true, next: 18, name: b"k d/1" })
        );
        assert_eq!(
            event(&format!("sched_switch:{}", switch.replace("R+", "S"))),
            Some(Event::Switch { could_run: false, next: 18, name: b"k d/1" })
        );
        assert_eq!(
            event("sched_process_fork: comm=sh pid=7 child_comm=sh child_pid=9"),
            Some(Event::Fork { child: 9 })
        );
        assert_eq!(event("irq_handler_entry: irq=27 name=virtio1"), Some(Event::Interrupt(b"virtio1")));
        assert_eq!(event("irq_handler_exit: irq=27 ret=handled"), Some(Event::InterruptEnd));
        assert_eq!(event("local_timer_entry: vector=236"), Some(Event::Interrupt(b"local_timer")));
        assert_eq!(event("local_timer_exit: vector=236"), Some(Event::InterruptEnd));
        assert_eq!(event("softirq_exit: vec=3 [action=NET_RX]"), Some(Event::SoftirqEnd));
        assert_eq!(
            event("napi_poll: napi poll on napi struct 00000000f3a2 for device kiln0 work 27 budget 64"),
            Some(Event::Poll { packets: 27, budget: 64 })
        );
        assert_eq!(event("sched_wakeup: comm=x"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_event_or_none(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Line::parse(&line).is_none_or(|_| line.len() > NAME));
        }

        #[test]
        fn a_line_whose_fields_are_hostile_is_an_event_or_none(
            name in "(sched_switch|napi_poll|softirq_entry|irq_handler_entry|[a-z_]{0,9}(_entry|_exit)?)",
            fields in "( next_pid=| ==> next_comm=| prev_state=R| work | budget |\\[action=|\\]|[0-9a-zé ]{0,4}){0,9}",
        ) {
            let line = format!("{:>16}-1 [001] d.... 5: {name}: {fields}", "x");
            prop_assert!(Line::parse(line.as_bytes()).is_none_or(|line| line.at == 5));
        }
    }
}
