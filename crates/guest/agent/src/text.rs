//! Messages as lines of text, for a run without a host beside the machine.

use protocol::{End, FromAgent};

/// Stands in a line for the end of one.
const LINE_END: char = '\x1e';

/// A message as lines, each a word for what it is and the rest.
pub(crate) fn lines(message: &FromAgent) -> String {
    match message {
        FromAgent::Hello { release, .. } => line("hello", release),
        FromAgent::Log(record) => line("log", &record.text),
        FromAgent::LogLost => line("lost", ""),
        FromAgent::Output { text, .. } => line("output", text),
        FromAgent::Report { report, .. } => line(report.kind.name(), &report.text),
        FromAgent::Finished { end, counts, taint_before, taint_after, leftovers, .. } => {
            let mut text: String = leftovers.iter().map(|what| line("left", &what.to_string())).collect();
            let counts =
                [counts.pass, counts.fail, counts.skip, counts.broken].map(|count| count.to_string());
            text += &line("counts", &counts.join(" "));
            text += &line("taint", &(taint_after & !taint_before).to_string());
            // The last, so that all is there where it is.
            text + &ended(end)
        }
        FromAgent::Pong { .. } => line("alive", ""),
        FromAgent::Trouble { text } => line("trouble", text),
        // What only a host beside the machine asks for.
        FromAgent::ShellEnded { .. }
        | FromAgent::Unpacked { .. }
        | FromAgent::Settling { .. }
        | FromAgent::Answer { .. }
        | FromAgent::JobOutput { .. }
        | FromAgent::JobEnded { .. } => String::new(),
    }
}

fn ended(end: &End) -> String {
    match end {
        End::Exited(code) => line("end", &format!("exited {code}")),
        End::Signalled(signal) => line("end", &format!("signalled {signal}")),
        End::TimedOut { stacks, killed } => {
            let how = if *killed { "late killed" } else { "late stuck" };
            line("stacks", stacks) + &line("end", how)
        }
        End::NotStarted(why) => line("end", &format!("not-started {why}")),
    }
}

/// One line, whatever the text holds.
fn line(word: &str, text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' => LINE_END,
        '\t' => '\t',
        _ if c.is_control() => '?',
        _ => c,
    };
    let text: String = text.chars().map(harmless).collect();
    format!("{word} {text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Counts, Leftover, Report, ReportKind};

    #[test]
    fn a_text_stays_one_line() {
        let report = Report { kind: ReportKind::Fail, text: "a\tb\nend exited 0\x1b[m".into() };
        assert_eq!(lines(&FromAgent::Report { run: 1, report }), "fail a\tb\x1eend exited 0?[m\n");
    }

    #[test]
    fn the_end_comes_last() {
        let finished = FromAgent::Finished {
            run: 1,
            end: End::TimedOut { stacks: "one\ntwo".into(), killed: false },
            counts: Counts { pass: 3, skip: 1, ..Counts::default() },
            duration_us: 1,
            taint_before: 1,
            taint_after: 513,
            leftovers: vec![Leftover { name: "mount /tmp/x".into(), stuck: None }],
        };
        let expected = "left mount /tmp/x\ncounts 3 0 1 0\ntaint 512\nstacks one\x1etwo\nend late stuck\n";
        assert_eq!(lines(&finished), expected);
    }
}
