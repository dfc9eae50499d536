//! Comma-separated values, as RFC 4180 has them.

use std::io::{self, Write};

use crate::safe::safe_line;

/// Writes a line.
pub(crate) fn record(fields: &[String], mut out: impl Write) -> io::Result<()> {
    let fields: Vec<String> = fields.iter().map(|field| quoted(&safe_line(field))).collect();
    write!(out, "{}\r\n", fields.join(","))
}

/// A figure for programs; nothing where there is none.
pub(crate) fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads one line as the grammar of RFC 4180, section 2, has it.
    fn fields(line: &str) -> Vec<String> {
        let mut fields = vec![String::new()];
        let mut quoted = false;
        let mut rest = line.strip_suffix("\r\n").unwrap().chars().peekable();
        while let Some(c) = rest.next() {
            let field = fields.last_mut().unwrap();
            match c {
                '"' if quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                _ => field.push(c),
            }
        }
        assert!(!quoted, "{line:?}");
        fields
    }

    proptest! {
        #[test]
        fn hostile_labels_come_back(labels in prop::collection::vec("[a,\"\r\n\x1b;= \u{202e}é]{0,12}", 1..5)) {
            let mut out = Vec::new();
            record(&labels, &mut out).unwrap();
            let line = String::from_utf8(out).unwrap();
            let wanted: Vec<String> = labels.iter().map(|label| safe_line(label)).collect();
            prop_assert_eq!(fields(&line), wanted);
            prop_assert_eq!(line.matches(['\r', '\n', '\x1b']).count(), 2);
        }
    }

    #[test]
    fn what_is_no_figure_is_empty() {
        assert_eq!([Some(5732.0), Some(0.125), Some(f64::NAN), None].map(number), ["5732", "0.125", "", ""]);
    }
}
