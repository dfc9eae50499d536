//! The user's terminal.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Stderr, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use kernel::News;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Takes a line away.
const CLEAR: &str = "\r\x1b[K";

/// Takes all that is shown away, and begins at the top.
const CLEAR_SCREEN: &str = "\x1b[H\x1b[2J";

/// How often a log gets a line about something that takes long.
const LOGGED: Duration = Duration::from_secs(60);

/// One line about something that takes long; where it does not go to a terminal, a new line each minute.
#[derive(Debug)]
pub(crate) struct Progress<W: Write = Stderr> {
    out: W,
    shown: bool,
    is_terminal: bool,
    logged: Instant,
}

impl Progress {
    /// Shows nothing yet.
    pub(crate) fn new() -> Self {
        let out = std::io::stderr();
        let is_terminal = out.is_terminal();
        Self { out, shown: false, is_terminal, logged: Instant::now() }
    }
}

// What cannot be written has nobody to read it.
impl<W: Write> Progress<W> {
    /// A step replaces the line; a note stays, once.
    pub(crate) fn tell(&mut self, news: News<'_>) {
        match news {
            News::Step(text) => self.show(text),
            News::Note(text) => self.note(text),
        }
    }

    /// The same of sessions: what is known stays.
    pub(crate) fn follow(&mut self, progress: &ledger::Progress) {
        match progress {
            ledger::Progress::Working(text) => self.show(text),
            ledger::Progress::Known(text) | ledger::Progress::Note(text) => self.note(text),
        }
    }

    /// Replaces the line.
    pub(crate) fn show(&mut self, text: &str) {
        self.show_at(text, Instant::now());
    }

    fn show_at(&mut self, text: &str, now: Instant) {
        let line: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
        if self.is_terminal {
            let _ = write!(self.out, "{CLEAR}{line}");
            self.shown = true;
        } else if now.duration_since(self.logged) >= LOGGED {
            let _ = writeln!(self.out, "kiln: {line}");
            self.logged = now;
        }
    }

    /// Replaces all that the terminal shows by as much of a text as it has room for; elsewhere the whole text stays.
    pub(crate) fn show_page(&mut self, text: &str) {
        let page = if self.is_terminal { page(text, size()) } else { format!("{text}\n") };
        let _ = self.out.write_all(page.as_bytes());
        self.shown = false;
    }

    /// Writes a line that stays, unless this kiln has written it before.
    pub(crate) fn note(&mut self, text: &str) {
        if is_new(text) {
            self.clear();
            let _ = writeln!(self.out, "kiln: {}", report::safe::safe_line(text));
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(self.out, "{CLEAR}");
        }
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// As much of a text as a terminal has room for, with its last line free.
fn page(text: &str, (lines, columns): (u16, u16)) -> String {
    let line = |line: &str| line.chars().take(columns.into()).chain(['\n']).collect::<String>();
    text.lines()
        .take(usize::from(lines) - 1)
        .map(line)
        .fold(CLEAR_SCREEN.to_owned(), |page, line| page + &line)
}

/// Whether this kiln has not shown this note yet: each build has its own, and many of them are the same.
pub(crate) fn is_new(note: &str) -> bool {
    static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    SHOWN.lock().is_ok_and(|mut shown| shown.insert(note.to_owned()))
}

/// A terminal that passes every key on; it is as before when this is dropped.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    before: Option<Termios>,
}

impl RawTerminal {
    /// Standard input passes every key on, if it is a terminal.
    pub(crate) fn enter() -> std::io::Result<Self> {
        let input = std::io::stdin();
        if !input.is_terminal() {
            return Ok(Self { before: None });
        }
        let before = tcgetattr(&input)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&input, OptionalActions::Now, &raw)?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // There is nothing else that could be tried.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Lines and columns of the terminal; 24 by 80 where there is none, or one that does not know its size, such as a serial console.
pub(crate) fn size() -> (u16, u16) {
    let size = tcgetwinsize(std::io::stdin()).or_else(|_| tcgetwinsize(std::io::stdout()));
    let known = size.map_or((0, 0), |size| (size.ws_row, size.ws_col));
    if known.0 == 0 || known.1 == 0 { (24, 80) } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written by what happens at so many seconds.
    fn written(is_terminal: bool, story: &[(u64, News<'_>)]) -> String {
        let (mut out, start) = (Vec::new(), Instant::now());
        let mut progress = Progress { out: &mut out, shown: false, is_terminal, logged: start };
        for (seconds, news) in story {
            match news {
                News::Step(text) => progress.show_at(text, start + Duration::from_secs(*seconds)),
                News::Note(text) => progress.note(text),
            }
        }
        drop(progress);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_log_gets_a_line_each_minute() {
        let story: Vec<_> = (0..600).map(|second| (second, News::Step("building"))).collect();
        assert_eq!(written(false, &story), "kiln: building\n".repeat(9));
    }

    #[test]
    fn a_page_has_room_on_the_terminal() {
        assert_eq!(page("one\ntwo\nthree\n", (3, 2)), "\x1b[H\x1b[2Jon\ntw\n");
        assert_eq!(page("one", (1, 80)), "\x1b[H\x1b[2J");
    }

    #[test]
    fn a_note_stays_and_is_shown_once() {
        let story = |note| {
            [(0, News::Step("one")), (0, News::Note(note)), (1, News::Note(note)), (2, News::Step("two"))]
        };
        assert_eq!(written(false, &story("in a \x1blog")), "kiln: in a ␛log\n");
        let shown = written(true, &story("on a terminal"));
        assert_eq!(shown, "\r\x1b[Kone\r\x1b[Kkiln: on a terminal\n\r\x1b[Ktwo\r\x1b[K");
    }
}
