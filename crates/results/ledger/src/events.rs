//! What was reported in a session, event after event.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use lab::Event;

use crate::past::{DOCUMENT_MAX, EVENTS, Error, Past};

impl Past {
    /// What was reported in it. What cannot be read is left out: it may be half written, or that of another kiln.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened.
    pub fn events(&self) -> Result<impl Iterator<Item = Event>, Error> {
        let events = self.lines()?.map_while(Result::ok);
        Ok(events.filter_map(|line| serde_json::from_slice(&line).ok()))
    }

    /// The lines of the file of its events.
    pub(crate) fn lines(&self) -> Result<Lines<BufReader<File>>, Error> {
        let path = self.directory().join(EVENTS);
        let file = File::open(&path).map_err(|why| Error::Document { path, why: why.to_string() })?;
        Ok(Lines::new(BufReader::new(file), DOCUMENT_MAX))
    }
}

/// Lines of bounded length, without their ends.
pub(crate) struct Lines<R> {
    reader: R,
    limit: u64,
}

impl<R> Lines<R> {
    /// Lines of at most so many bytes.
    pub(crate) fn new(reader: R, limit: u64) -> Self {
        Self { reader, limit }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        match self.reader.by_ref().take(self.limit).read_until(b'\n', &mut line) {
            Err(error) => Some(Err(error)),
            Ok(0) => None,
            Ok(_) if line.pop_if(|last| *last == b'\n').is_some() || (line.len() as u64) < self.limit => {
                Some(Ok(line))
            }
            Ok(_) => {
                let text = format!("the line is longer than {} MiB", self.limit >> 20);
                Some(Err(io::Error::other(text)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use judge::Outcome;

    use super::*;
    use crate::past::tests::keep;

    #[test]
    fn what_is_no_event_is_left_out() {
        let root = tempfile::tempdir().expect("a directory");
        let past = keep(root.path(), "2026", &[("a", Outcome::Fail)], Some(false));
        let mut file =
            File::options().append(true).open(past.directory().join(EVENTS)).expect("it was recorded");
        file.write_all(
            b"{\"event\": \"of the future\"}\n\xff\n{\"event\": \"note\", \"text\": \"b\"}\n{\"half",
        )
        .expect("written");
        let events: Vec<Event> = past.events().expect("there").collect();
        assert!(matches!(&events[..], [
            Event::Planned(_),
            Event::Finished(_),
            Event::Ended { .. },
            Event::Note { text }
        ] if text == "b"));
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error() {
        let long = io::repeat(b'x').take((1 << 20) + 10);
        let mut lines = Lines::new(BufReader::new(b"short\n".chain(long)), 1 << 20);
        assert_eq!(lines.next().expect("a line").expect("short"), b"short");
        assert!(lines.next().expect("a line").is_err());
    }
}
