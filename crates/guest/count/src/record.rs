//! What the kernel tells of processes: the records of perf_event_open(2).

/// Bytes of `struct perf_event_header`.
pub(crate) const HEADER: usize = 8;

const LOST: u32 = 2;
const COMM: u32 = 3;
const FORK: u32 = 7;
const READ: u32 = 8;

/// A record that says something of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record {
    /// So many are missing.
    Lost(u64),
    /// A thread has this name from now on.
    Name { pid: u32, tid: u32, name: String },
    /// A thread has been made.
    Fork { pid: u32, parent: u32 },
    /// A thread has ended: what it had of the event with this id, on one CPU.
    Read { pid: u32, value: u64, id: u64 },
}

/// The bytes of a record that begins with this header.
pub(crate) fn size_of_record(header: &[u8]) -> usize {
    header
        .get(6..8)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, |bytes| u16::from_ne_bytes(bytes).into())
}

impl Record {
    /// Reads one; nothing if it is of another kind, or none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let half = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        match half(0)? {
            LOST => Some(Self::Lost(word(HEADER + 8)?)),
            COMM => {
                let name = bytes.get(HEADER + 8..)?.split(|&byte| byte == 0).next()?;
                let name = String::from_utf8_lossy(name).into_owned();
                Some(Self::Name { pid: half(HEADER)?, tid: half(HEADER + 4)?, name })
            }
            FORK => Some(Self::Fork { pid: half(HEADER)?, parent: half(HEADER + 4)? }),
            READ => Some(Self::Read { pid: half(HEADER)?, value: word(HEADER + 8)?, id: word(HEADER + 32)? }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(HEADER + body.len()).expect("short");
        [&kind.to_ne_bytes()[..], &0_u16.to_ne_bytes(), &size.to_ne_bytes(), body].concat()
    }

    #[test]
    fn records_are_read() {
        let pair = |a: u32, b: u32| [a.to_ne_bytes(), b.to_ne_bytes()].concat();
        let comm = record(COMM, &[&pair(7, 8)[..], b"make\0\0\0\0"].concat());
        assert_eq!(size_of_record(&comm), comm.len());
        assert_eq!(Record::read(&comm), Some(Record::Name { pid: 7, tid: 8, name: "make".to_owned() }));
        let fork = record(FORK, &[pair(9, 7), pair(9, 7), vec![0; 8]].concat());
        assert_eq!(Record::read(&fork), Some(Record::Fork { pid: 9, parent: 7 }));
        let words: Vec<u8> = [30_u64, 90, 90, 5].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let read = record(READ, &[pair(9, 9), words].concat());
        assert_eq!(Record::read(&read), Some(Record::Read { pid: 9, value: 30, id: 5 }));
        assert_eq!(Record::read(&read[..read.len() - 1]), None);
        assert_eq!(Record::read(&record(99, &[])), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (Record::read(&bytes), size_of_record(&bytes));
        }
    }
}
