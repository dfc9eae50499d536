//! The kernel log as `/dev/kmsg` gives it: Documentation/ABI/testing/dev-kmsg.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;

use protocol::message::TEXT_MAX;
use protocol::{FromAgent, KernelRecord, results::cut};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

const DEVICE: &str = "/dev/kmsg";

/// Stands before the text of a record that the kernel did not write.
const WRITTEN_BY_A_PROGRAM: &str = "user: ";

/// How the kernel writes a newline inside a text; a backslash of the text itself is `\\x5c`.
const NEWLINE: &str = "\\x0a";

/// Longest record that the kernel gives, `PRINTKRB_RECORD_MAX` and its prefix.
const RECORD_MAX: usize = 8192;

#[derive(Debug)]
pub(crate) struct KernelLog(File);

impl KernelLog {
    /// From here on: what came before is on the console.
    pub(crate) fn open() -> std::io::Result<Self> {
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let mut file = File::options().read(true).custom_flags(flags).open(DEVICE)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// The next record, if there is one already: a message for each of its lines.
    pub(crate) fn next(&mut self) -> Option<Vec<FromAgent>> {
        let mut buffer = [0; RECORD_MAX];
        match self.0.read(&mut buffer) {
            Ok(count) => parse(&buffer[..count]).map(|lines| lines.into_iter().map(FromAgent::Log).collect()),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::PIPE) => Some(vec![FromAgent::LogLost]),
            Err(_) => None,
        }
    }
}

impl AsFd for KernelLog {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Puts a line into the kernel log, and so on the console.
pub(crate) fn write(text: &str) {
    if let Ok(mut file) = File::options().write(true).open(DEVICE) {
        // One write is one record. There is nobody else who could be told.
        let _ = file.write_all(format!("<3>{text}").as_bytes());
    }
}

/// `priority,sequence,microseconds,flags[,...];text`, then continuation lines that start with a blank.
/// A text of several lines has [`NEWLINE`] between them, and becomes as many records, as on the console.
/// What a program wrote is marked: the kernel lets nobody else write as the kernel, syslog(3)'s facility 0.
fn parse(record: &[u8]) -> Option<Vec<KernelRecord>> {
    let record = String::from_utf8_lossy(record);
    let (head, body) = record.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u64 = fields.next()?.parse().ok()?;
    let sequence = fields.next()?.parse().ok()?;
    let time_us = fields.next()?.parse().ok()?;
    let mark = if priority >> 3 == 0 { "" } else { WRITTEN_BY_A_PROGRAM };
    let text = body.lines().next().unwrap_or_default();
    let lines = text.strip_suffix(NEWLINE).unwrap_or(text).split(NEWLINE);
    let line = |line| {
        let text = format!("{mark}{}", cut(line, TEXT_MAX - mark.len()));
        KernelRecord { sequence, time_us, level: (priority & 7) as u8, text }
    };
    Some(lines.map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_taken_apart() {
        let record = parse(b"6,339,5140900,-;NET: Registered\n SUBSYSTEM=net\n DEVICE=+net:lo\n")
            .expect("well formed");
        let expected =
            KernelRecord { sequence: 339, time_us: 5_140_900, level: 6, text: "NET: Registered".into() };
        assert_eq!(record, [expected]);
    }

    #[test]
    fn each_line_of_a_record_is_one() {
        let texts = |record: &[u8]| -> Vec<String> {
            parse(record).expect("well formed").into_iter().map(|record| record.text).collect()
        };
        assert_eq!(texts(b"3,1,2,-;at ffff\\x0a which is\\x0a gone\n"), ["at ffff", " which is", " gone"]);
        assert_eq!(texts(b"12,1,2,-;one\\x0atwo\\x0a\n"), ["user: one", "user: two"]);
        assert_eq!(texts(b"3,1,2,-;\n"), [""]);
        assert_eq!(texts(b"3,1,2,-;no \\x5cx0a line\n"), ["no \\x5cx0a line"]);
    }

    #[test]
    fn what_a_program_wrote_is_marked() {
        let record = parse(b"12,340,5140901,-;WARNING: CPU: 0\n").expect("well formed");
        let [record] = &record[..] else { panic!("{record:?}") };
        assert_eq!((record.level, record.text.as_str()), (4, "user: WARNING: CPU: 0"));
    }

    #[test]
    fn what_is_no_record_is_left_out() {
        for text in ["", ";", "6,1;x", "a,b,c;x", "6,1,2,-"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
