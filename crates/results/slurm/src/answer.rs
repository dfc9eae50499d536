//! What comes back from a job: the events of its session, or why there is none.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use lab::Event;
use serde::{Deserialize, Serialize};

/// Longest line that says why there is no session.
const REFUSAL_MAX: u64 = 64 << 10;

/// Why there is no session: the node lacks something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// In words.
    pub(crate) refused: String,
}

impl Refusal {
    /// What was refused, if this is no session.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let mut line = Vec::new();
        BufReader::new(File::open(path)?.take(REFUSAL_MAX)).read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line).ok())
    }
}

/// The events of a session, as `kiln import` takes them.
pub(crate) fn lines(events: impl Iterator<Item = Event>) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for event in events {
        serde_json::to_writer(&mut lines, &event)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_no_session() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let read = |content: &[u8]| {
            std::fs::write(file.path(), content).expect("written");
            Refusal::read(file.path()).expect("it is there")
        };
        let refused = Refusal { refused: "no QEMU".to_owned() };
        assert_eq!(read(&serde_json::to_vec(&refused).expect("JSON")), Some(refused));
        let note = lines([Event::Note { text: "x".to_owned() }].into_iter()).expect("JSON");
        for session in [&note[..], b"", b"\xff", &[b'['; 1 << 17]] {
            assert_eq!(read(session), None);
        }
    }
}
