//! Takes lines as they come.

use console::printk;
use protocol::results::cut;

use super::LINE_BYTES_MAX;
use super::budget::Budget;
use super::cut::{Piece, find_runner_result, join, split};
use super::line;
use super::problem::What;
use super::stream::Stream;
use super::tree::Results;

/// Pieces into which one line falls at most.
const PIECES_MAX: usize = 32;

/// Reads the lines of a console, or of any text that has results in it.
#[derive(Debug, Default)]
pub struct Reader {
    budget: Budget,
    /// What the kernel printed, known by its time stamps.
    printed: Stream,
    /// All other lines.
    plain: Stream,
    /// The beginning of a line into which printk wrote.
    beginning: Option<String>,
}

impl Reader {
    /// Takes the next line, without its end.
    pub fn line(&mut self, line: &str) {
        let mut rest = Some(cut(line, LINE_BYTES_MAX).trim_end_matches(['\r', '\n']));
        for _ in 0..PIECES_MAX {
            let Some(piece) = rest else { break };
            let read = printk::read(piece);
            rest = if read.is_record { self.record(read.text) } else { self.program(read.text) };
        }
        self.budget.line += 1;
    }

    /// Lines up to now.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.budget.line
    }

    /// Whether some results have begun, and all that were planned are there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_any = [&self.printed, &self.plain].iter().any(|stream| stream.has_results());
        is_any && self.printed.is_complete() && self.plain.is_complete()
    }

    /// The results; what is not finished now never will be.
    #[must_use]
    pub fn finish(mut self) -> Results {
        // What is missing is noticed at the last line.
        self.budget.line = self.budget.line.saturating_sub(1);
        self.settle();
        self.printed.end(&mut self.budget);
        self.plain.end(&mut self.budget);
        let mut groups = self.printed.done;
        groups.append(&mut self.plain.done);
        groups.sort_by_key(|group| group.lines.start);
        Results { groups, problems: self.budget.problems, lost_failures: self.budget.lost_failures }
    }

    /// A line of printk; gives what cuts into it.
    fn record<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        // The kernel has booted again: nothing that was open goes on.
        if text.starts_with("Linux version ") {
            self.settle();
            self.printed.end(&mut self.budget);
            self.plain.end(&mut self.budget);
        }
        let (piece, rest) = split(text);
        let (Piece::Whole(text) | Piece::Beginning(text)) = piece;
        // printk writes its records as a whole: this one is not going on.
        if matches!(piece, Piece::Beginning(_)) {
            self.budget.problem(What::Cut(text.to_string()));
        }
        self.feed(true, text);
        rest
    }

    /// A line of a program, or of a kernel without time stamps; gives what cuts into it.
    fn program<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let joined = self.beginning.take().map(|beginning| (join(&beginning, text), beginning));
        match joined {
            Some((Some(whole), _)) => {
                let (piece, rest) = split(&whole);
                let rest = rest.map(str::len);
                self.piece(&piece);
                return rest.and_then(|length| text.get(text.len().checked_sub(length)?..));
            }
            Some((None, beginning)) => self.feed_cut(&beginning),
            None => {}
        }
        let (piece, rest) = split(text);
        self.piece(&piece);
        rest
    }

    fn piece(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Whole(text) => match find_runner_result(text) {
                Some(at) => {
                    self.feed(false, &text[..at]);
                    self.feed(false, &text[at..]);
                }
                None => self.feed(false, text),
            },
            Piece::Beginning(text) => self.beginning = Some((*text).to_string()),
        }
    }

    /// A beginning whose rest cannot come any more.
    fn settle(&mut self) {
        if let Some(beginning) = self.beginning.take() {
            self.feed_cut(&beginning);
        }
    }

    fn feed_cut(&mut self, beginning: &str) {
        self.budget.problem(What::Cut(beginning.to_string()));
        self.feed(false, beginning);
    }

    fn feed(&mut self, is_record: bool, text: &str) {
        let (own, other) = match is_record {
            true => (&mut self.printed, &mut self.plain),
            false => (&mut self.plain, &mut self.printed),
        };
        let is_log = !own.line(&line::parse(text), text, &mut self.budget);
        // What one side says may explain what happens on the other.
        if is_log && !text.trim().is_empty() {
            own.log(text, &mut self.budget);
            other.log(text, &mut self.budget);
        }
    }
}
