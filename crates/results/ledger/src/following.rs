//! The events of a session while another kiln records it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use lab::Event;

use crate::past::{DOCUMENT_MAX, EVENTS, Past};

/// What was reported in a session, as far as it was read.
#[derive(Debug)]
pub struct Following {
    past: Past,
    /// Where the next event begins.
    at: u64,
}

impl Following {
    /// Nothing has been read yet.
    #[must_use]
    pub fn new(past: Past) -> Self {
        Self { past, at: 0 }
    }

    /// What was reported since the last call. What is no event is left out, and half a line is read once it is whole. A session that
    /// was begun again gives all of its events.
    pub fn news(&mut self) -> Vec<Event> {
        // A file that cannot be read says nothing now; the next look tries again.
        self.read().unwrap_or_default()
    }

    fn read(&mut self) -> std::io::Result<Vec<Event>> {
        let mut file = File::open(self.past.directory().join(EVENTS))?;
        if file.metadata()?.len() < self.at {
            self.at = 0;
        }
        file.seek(SeekFrom::Start(self.at))?;
        let mut reader = BufReader::new(file);
        let mut events = Vec::new();
        let mut line = Vec::new();
        while reader.by_ref().take(DOCUMENT_MAX).read_until(b'\n', &mut line)? > 0 {
            let is_whole = line.ends_with(b"\n");
            if !is_whole && (line.len() as u64) < DOCUMENT_MAX {
                break;
            }
            self.at += line.len() as u64;
            events.extend(serde_json::from_slice::<Event>(&line).ok());
            line.clear();
        }
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use judge::Outcome;

    use super::*;
    use crate::past::tests::keep;

    #[test]
    fn each_event_is_given_once_and_whole() {
        let root = tempfile::tempdir().expect("a directory");
        let past = keep(root.path(), "2026", &[("a", Outcome::Fail)], None);
        let path = past.directory().join(EVENTS);
        let mut following = Following::new(past);
        assert!(matches!(&following.news()[..], [Event::Planned(_), Event::Finished(_)]));
        assert_eq!(following.news(), []);
        let mut file = File::options().append(true).open(&path).expect("it was recorded");
        file.write_all(b"\xff\n{\"event\": \"note\", \"te").expect("writable");
        assert_eq!(following.news(), []);
        file.write_all(b"xt\": \"b\"}\n").expect("writable");
        assert_eq!(following.news(), [Event::Note { text: "b".into() }]);
        file.set_len(0).expect("writable");
        file.write_all(b"{\"event\": \"note\", \"text\": \"c\"}\n").expect("writable");
        assert_eq!(following.news(), [Event::Note { text: "c".into() }], "it was begun again");
        std::fs::remove_file(path).expect("it is there");
        assert_eq!(following.news(), []);
    }
}
