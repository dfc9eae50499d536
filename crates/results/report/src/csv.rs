//! Comma-separated values, as RFC 4180 has them.

use std::io::{self, Write};

use csv::{Terminator, Writer, WriterBuilder};

use crate::safe::safe_line;

/// A table that is written to `out`.
pub(crate) struct Table<W: Write>(Writer<W>);

impl<W: Write> Table<W> {
    /// A table with the names of its columns.
    pub(crate) fn new(head: &[&str], out: W) -> io::Result<Self> {
        let mut table = Self(WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out));
        table.record(head)?;
        Ok(table)
    }

    /// Adds a line.
    pub(crate) fn record<T: AsRef<str>>(&mut self, fields: &[T]) -> io::Result<()> {
        Ok(self.0.write_record(fields.iter().map(|field| safe_line(field.as_ref())))?)
    }

    /// Writes what is still held back.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A figure for programs; nothing where there is none.
pub(crate) fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hostile_labels_come_back(labels in prop::collection::vec("[a,\"\r\n\x1b;= \u{202e}é]{0,12}", 1..5)) {
            let mut out = Vec::new();
            let mut table = Table::new(&vec!["head"; labels.len()], &mut out).unwrap();
            table.record(&labels).unwrap();
            table.finish().unwrap();
            let text = String::from_utf8(out).unwrap();
            let wanted: Vec<String> = labels.iter().map(|label| safe_line(label)).collect();
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let records: Vec<_> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(records, [csv::StringRecord::from(wanted)]);
            prop_assert_eq!(text.matches(['\r', '\n', '\x1b']).count(), 4);
        }
    }

    #[test]
    fn what_is_no_figure_is_empty() {
        assert_eq!([Some(5732.0), Some(0.125), Some(f64::NAN), None].map(number), ["5732", "0.125", "", ""]);
    }
}
