//! What the kernel tells: the records of perf_event_open(2).

use std::ops::Range;

/// Bytes of `struct perf_event_header`.
pub const HEADER: usize = 8;

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const THROTTLE: u32 = 5;
const FORK: u32 = 7;
const READ: u32 = 8;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;

/// `PERF_RECORD_MISC_COMM_EXEC`.
const COMM_EXEC: u16 = 1 << 13;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// So many are missing.
    Lost(u64),
    /// A thread has this name from now on; with a new program, if it was executed.
    Name {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// The name.
        name: String,
        /// The process has executed a program.
        is_executed: bool,
    },
    /// A thread has been made.
    Fork {
        /// Its process.
        pid: u32,
        /// The process that made it: the same, unless it is the first of its process.
        parent: u32,
        /// The thread.
        tid: u32,
    },
    /// A thread has ended.
    Exit {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
    /// A thread has ended: what it had of the event with this id, on one CPU.
    Read {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// What it had.
        value: u64,
        /// The id.
        id: u64,
    },
    /// A file was mapped into a process to be executed.
    Map(Mapping),
    /// An event was so frequent that some samples of it were not taken.
    Throttled,
    /// A sample: what follows its header.
    Sample(Vec<u8>),
}

/// A file that is mapped into a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The process.
    pub pid: u32,
    /// Where.
    pub addresses: Range<u64>,
    /// From where in the file.
    pub offset: u64,
    /// Its path, as that process sees it; no path for what is no file.
    pub path: String,
}

/// The bytes of a record that begins with this header.
pub(super) fn size_of_record(header: &[u8]) -> usize {
    half_word(header, 6).map_or(0, usize::from)
}

fn half_word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn text(bytes: &[u8]) -> Option<String> {
    let text = bytes.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

impl Record {
    /// Reads one; nothing if it is of another kind, or none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let half = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let pid = || half(HEADER);
        match half(0)? {
            LOST => Some(Self::Lost(word(HEADER + 8)?)),
            COMM => Some(Self::Name {
                pid: pid()?,
                tid: half(HEADER + 4)?,
                name: text(bytes.get(HEADER + 8..)?)?,
                is_executed: half_word(bytes, 4)? & COMM_EXEC != 0,
            }),
            EXIT => Some(Self::Exit { pid: pid()?, tid: half(HEADER + 8)? }),
            THROTTLE => Some(Self::Throttled),
            FORK => Some(Self::Fork { pid: pid()?, parent: half(HEADER + 4)?, tid: half(HEADER + 8)? }),
            READ => {
                let (value, id) = (word(HEADER + 8)?, word(HEADER + 32)?);
                Some(Self::Read { pid: pid()?, tid: half(HEADER + 4)?, value, id })
            }
            SAMPLE => Some(Self::Sample(bytes.get(HEADER..)?.to_vec())),
            MMAP2 => {
                let start = word(HEADER + 8)?;
                let addresses = start..start.checked_add(word(HEADER + 16)?)?;
                let (offset, path) = (word(HEADER + 24)?, text(bytes.get(HEADER + 64..)?)?);
                Some(Self::Map(Mapping { pid: pid()?, addresses, offset, path }))
            }
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

    fn pair(a: u32, b: u32) -> Vec<u8> {
        [a.to_ne_bytes(), b.to_ne_bytes()].concat()
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn records_of_threads_are_read() {
        let comm = record(COMM, &[&pair(7, 8)[..], b"make\0\0\0\0"].concat());
        assert_eq!(size_of_record(&comm), comm.len());
        let name = |is_executed| Record::Name { pid: 7, tid: 8, name: "make".to_owned(), is_executed };
        assert_eq!(Record::read(&comm), Some(name(false)));
        let mut executed = comm;
        executed[4..6].copy_from_slice(&COMM_EXEC.to_ne_bytes());
        assert_eq!(Record::read(&executed), Some(name(true)));
        let fork = record(FORK, &[pair(9, 7), pair(9, 7), vec![0; 8]].concat());
        assert_eq!(Record::read(&fork), Some(Record::Fork { pid: 9, parent: 7, tid: 9 }));
        let exit = record(EXIT, &[pair(9, 7), pair(10, 7), vec![0; 8]].concat());
        assert_eq!(Record::read(&exit), Some(Record::Exit { pid: 9, tid: 10 }));
        let read = record(READ, &[pair(9, 10), words(&[30, 90, 90, 5])].concat());
        assert_eq!(Record::read(&read), Some(Record::Read { pid: 9, tid: 10, value: 30, id: 5 }));
        assert_eq!(Record::read(&read[..read.len() - 1]), None);
        assert_eq!(Record::read(&record(99, &[])), None);
    }

    #[test]
    fn records_of_mappings_are_read() {
        let map = |start, length| {
            let place = words(&[start, length, 0x2000, 0, 7, 0, 0]);
            record(MMAP2, &[pair(9, 9), place, b"/bin/true\0".to_vec()].concat())
        };
        let mapping =
            Mapping { pid: 9, addresses: 0x1000..0x3000, offset: 0x2000, path: "/bin/true".to_owned() };
        assert_eq!(Record::read(&map(0x1000, 0x2000)), Some(Record::Map(mapping)));
        assert_eq!(Record::read(&map(u64::MAX, 2)), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (Record::read(&bytes), size_of_record(&bytes));
        }
    }
}
