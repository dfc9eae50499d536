//! How far a build is, from what it adds to its log.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use kernel::Context;

/// Most of a log that is read at a time, in bytes.
const PIECE: u64 = 1 << 20;

/// How often it is reported.
const INTERVAL: Duration = Duration::from_millis(200);

/// Follows the log of a build.
#[derive(Debug)]
pub(crate) struct Progress {
    log: Option<File>,
    total: Option<usize>,
    done: usize,
    /// The beginning of a line whose end has not come.
    part: String,
    last: String,
    last_report: Instant,
}

impl Progress {
    /// Follows the log from `position` on; `total` steps are expected, if that is known.
    pub(crate) fn follow(log: &Path, position: u64, total: Option<usize>) -> Self {
        let open = || {
            let mut log = File::open(log)?;
            log.seek(SeekFrom::Start(position))?;
            std::io::Result::Ok(log)
        };
        // Without it the build is the same, and silent.
        Self {
            log: open().ok(),
            total,
            done: 0,
            part: String::new(),
            last: String::new(),
            last_report: Instant::now(),
        }
    }

    /// Tells what has been done since the last time.
    pub(crate) fn emit(&mut self, context: &mut Context<'_>) {
        if self.last_report.elapsed() < INTERVAL {
            return;
        }
        self.last_report = Instant::now();
        let mut bytes = Vec::new();
        if let Some(log) = &mut self.log {
            // What cannot be read now is read the next time.
            let _ = log.take(PIECE).read_to_end(&mut bytes);
        }
        self.read(&String::from_utf8_lossy(&bytes));
        context.progress(&self.text());
    }

    fn read(&mut self, text: &str) {
        self.part.push_str(text);
        let Some(end) = self.part.rfind('\n') else { return };
        let rest = self.part.split_off(end + 1);
        let lines = std::mem::replace(&mut self.part, rest);
        for step in lines.lines().filter_map(step) {
            self.done += 1;
            self.last = step;
        }
    }

    fn text(&self) -> String {
        let Self { done, last, .. } = self;
        // A dry run cannot see what depends on what has not been generated yet.
        match self.total.map(|total| total.max(*done)) {
            Some(total) => format!("building: {done} of {total}  {last}"),
            None => format!("building: {done}  {last}"),
        }
    }
}

/// `  CC [M]  fs/xfs/xfs_log.o`: what is made, and how.
pub(crate) fn step(line: &str) -> Option<String> {
    let text = line.strip_prefix("  ")?;
    let (kind, rest) = text.split_once(' ')?;
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase()) && kind.bytes().all(is_name);
    let made = rest.split_whitespace().next_back()?;
    is_kind.then(|| format!("{kind} {made}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_over_pieces_of_the_log() {
        let mut progress = Progress::follow(Path::new("/no/such/log"), 0, Some(3));
        progress.read("make[1]: Entering directory\n  CC      kernel/fo");
        assert_eq!(progress.text(), "building: 0 of 3  ");
        progress.read("rk.o\n  LD [M]  fs/xfs/xfs.ko\nwarning: x\n");
        assert_eq!(progress.text(), "building: 2 of 3  LD fs/xfs/xfs.ko");
        progress.read("  AR      a\n  AR      b\n");
        assert_eq!(progress.text(), "building: 4 of 4  AR b");
        progress.total = None;
        assert_eq!(progress.text(), "building: 4  AR b");
    }

    #[test]
    fn what_a_compiler_says_is_no_step() {
        for line in ["  123 |  int x;", "   ^~~", "CC a", "  in file", "", "  "] {
            assert_eq!(step(line), None, "{line}");
        }
    }
}
