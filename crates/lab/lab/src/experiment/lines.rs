//! What a person reads of an experiment.

use std::fmt::Write as _;

use judge::Outcome;
use script::show::shown;
use script::{Event, Figure};
use serde_json::Value;

/// Widest text of a value in a table.
const WIDTH: usize = 60;

/// Widest line of a text.
const LINE: usize = 1000;

/// Digits of a number that is not whole.
const DIGITS: f64 = 4.0;

/// What a person reads of an event.
#[must_use]
pub fn lines(event: &Event) -> Vec<String> {
    match event {
        Event::Started { step, resumed: true } => vec![format!("step {step}: done before")],
        Event::Started { step, resumed: false } => vec![format!("step {step}")],
        Event::Metric(Figure { name, value }) => vec![format!("  {name} = {}", number(*value))],
        Event::Finding { text, values } => {
            let values: Vec<String> =
                values.iter().map(|(key, value)| format!("{key} = {}", cell(value))).collect();
            let separator = if values.is_empty() { "" } else { ": " };
            block("  ", &format!("{text}{separator}{}", values.join(", ")))
        }
        Event::Table { name, columns, rows } => {
            table(name, columns, rows).iter().map(|line| format!("  {line}")).collect()
        }
        Event::Note { text } => block("  note: ", text),
        Event::Ended { outcome, reason, step } => match reason {
            Some(reason) => block(&format!("  {}: ", outcome.name()), reason),
            None if *outcome == Outcome::Pass => Vec::new(),
            None => vec![format!("  {step}: {}", outcome.name())],
        },
    }
}

/// A text with its lines below each other, and nothing in it that acts on a terminal.
fn block(begin: &str, text: &str) -> Vec<String> {
    let lines = text.trim_end().lines().map(|line| shown(line, LINE));
    let mut lines: Vec<String> = lines.map(|line| format!("{:1$}{line}", "", begin.len())).collect();
    match lines.first_mut() {
        Some(first) => first.replace_range(..begin.len(), begin),
        None => lines.push(begin.trim_end().to_string()),
    }
    lines
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text, WIDTH),
        Value::Number(value) if value.is_f64() => number(value.as_f64().unwrap_or_default()),
        value => shown(&value.to_string(), WIDTH),
    }
}

/// A whole number as it is, any other with as many digits as a person compares.
fn number(value: f64) -> String {
    let before = value.abs().log10().floor();
    if value != 0.0 && !(-6.0..15.0).contains(&before) {
        return format!("{value:.3e}");
    }
    if value.fract() == 0.0 {
        return value.to_string();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 9")]
    let places = (DIGITS - 1.0 - before).max(0.0) as usize;
    format!("{value:.places$}")
}

/// A table with columns as wide as what is in them.
#[must_use]
pub fn table(name: &str, columns: &[String], rows: &[Vec<Value>]) -> Vec<String> {
    let head: Vec<String> = columns.iter().map(|column| shown(column, WIDTH)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let width = |place: usize| {
        let all = std::iter::once(&head).chain(&rows).filter_map(|row| row.get(place));
        all.map(|text| text.chars().count()).max().unwrap_or_default()
    };
    let line = |row: &Vec<String>| {
        let mut text = String::from(" ");
        for (place, cell) in row.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, " {cell:<width$} ", width = width(place));
        }
        text.trim_end().to_string()
    };
    std::iter::once(shown(name, WIDTH)).chain(std::iter::once(&head).chain(&rows).map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_recorded_can_be_read() {
        let rows = vec![vec![json!("none"), json!(2048)], vec![json!("intel"), json!(0)]];
        let table =
            Event::Table { name: "isolation".into(), columns: vec!["iommu".into(), "bytes".into()], rows };
        assert_eq!(lines(&table), ["  isolation", "    iommu  bytes", "    none   2048", "    intel  0"]);
        let values = json!({ "port": 1 }).as_object().cloned().unwrap_or_default();
        let finding = Event::Finding { text: "lost".into(), values };
        assert_eq!(lines(&finding), ["  lost: port = 1"]);
        assert_eq!(lines(&Event::Started { step: "a".into(), resumed: true }), ["step a: done before"]);
    }

    #[test]
    fn a_text_of_a_guest_keeps_to_its_place() {
        let note = |text: &str| lines(&Event::Note { text: text.into() });
        assert_eq!(note("one"), ["  note: one"]);
        assert_eq!(note("one\n two\x1b[2J\n\n"), ["  note: one", "         two\\u{1b}[2J"]);
        assert_eq!(note(""), ["  note:"]);
    }

    #[test]
    fn numbers_have_four_digits() {
        let all = [0.0, 2_000_000.0, 53.499_085, 0.739_690_7, 12_345.678, 0.000_012_36, -1.5, 1e300, -2e-9];
        let shown =
            ["0", "2000000", "53.50", "0.7397", "12346", "0.00001236", "-1.500", "1.000e300", "-2.000e-9"];
        assert_eq!(all.map(number), shown);
        assert_eq!(lines(&Event::Metric(Figure { name: "a".into(), value: 2.5 })), ["  a = 2.500"]);
    }
}
