//! What an argument may be, and the JSON that stands for it in a call.

use serde_json::Value;

use crate::data::{Data, ObjectKind};
use crate::nearest::suggestion;

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text,
    /// A whole number from 0.
    Count,
    Number,
    /// From 0 to 1.
    Share,
    Flag,
    /// Seconds, or a text such as `2m`.
    Time,
    /// Bytes, or a text such as `4G`.
    Size,
    OneOf(&'static [&'static str]),
    Object(ObjectKind),
    Described(&'static [&'static str]),
    List(&'static Kind),
    /// One, or a list of them.
    OneOrMore(&'static Kind),
    /// A dict with texts as keys.
    Dict(&'static Kind),
    /// Anything that is plain.
    Plain,
    /// Anything.
    Any,
}

impl Kind {
    /// The JSON for an argument, or why it is none.
    pub(crate) fn accept(&self, data: &Data) -> Result<Value, String> {
        match (self, data) {
            (Self::Text, Data::Text(text)) => Ok(Value::from(text.as_str())),
            (Self::Count, Data::Int(count)) if *count >= 0 => Ok(Value::from(*count)),
            (Self::Number, Data::Int(_) | Data::Float(_)) => data.plain().map_err(|_| self.refuse(data)),
            (Self::Share, Data::Int(_) | Data::Float(_)) => self.share(data),
            (Self::Flag, Data::Bool(flag)) => Ok(Value::from(*flag)),
            (Self::Time, _) => seconds(data).map(Value::from).ok_or_else(|| self.refuse(data)),
            (Self::Size, _) => bytes(data).map(Value::from).ok_or_else(|| self.refuse(data)),
            (Self::OneOf(known), Data::Text(text)) => choice(known, text),
            (Self::Object(kind), Data::Object(object)) if object.kind == *kind => Ok(Value::from(object.id)),
            (Self::Described(kinds), Data::Described(it)) if kinds.contains(&it.kind) => {
                Ok(tagged(kinds, it.kind, &it.fields))
            }
            (Self::List(kind), Data::List(items)) => {
                Ok(Value::Array(items.iter().map(|item| kind.accept(item)).collect::<Result<_, _>>()?))
            }
            (Self::OneOrMore(kind), Data::List(_)) => Self::List(kind).accept(data),
            (Self::OneOrMore(kind), one) => {
                kind.accept(one).map(|one| Value::Array(vec![one])).map_err(|_| self.refuse(data))
            }
            (Self::Dict(kind), Data::Map(entries)) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), kind.accept(value)?)));
                Ok(Value::Object(entries.collect::<Result<_, String>>()?))
            }
            (Self::Any, _) => Ok(data.plain().unwrap_or_default()),
            (Self::Plain, _) => data.plain().map_err(|what| format!("expects plain data, not {what}")),
            _ => Err(self.refuse(data)),
        }
    }

    /// What it expects, in words.
    pub(crate) fn expects(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Count => "a whole number from 0".to_owned(),
            Self::Number => "a finite number".to_owned(),
            Self::Share => "a number from 0 to 1".to_owned(),
            Self::Flag => "True or False".to_owned(),
            Self::Time => "seconds or a text such as \"2m\"".to_owned(),
            Self::Size => "bytes or a text such as \"4G\"".to_owned(),
            Self::OneOf(known) => format!("one of {}", known.join(", ")),
            Self::Object(kind) => format!("a {}", kind.name()),
            Self::Described(kinds) => format!("a {}", kinds.join(" or a ")),
            Self::List(kind) => format!("a list, each {}", kind.expects()),
            Self::OneOrMore(kind) => format!("{} or a list, each {}", kind.expects(), kind.expects()),
            Self::Dict(kind) => format!("a dict, each value {}", kind.expects()),
            Self::Plain => "plain data".to_owned(),
            Self::Any => "anything".to_owned(),
        }
    }

    fn refuse(&self, data: &Data) -> String {
        let got = match data {
            Data::Text(text) => format!("{text:?}"),
            Data::Int(number) => number.to_string(),
            Data::Float(number) => number.to_string(),
            other => other.type_name().to_owned(),
        };
        format!("expects {}, not {got}", self.expects())
    }

    fn share(&self, data: &Data) -> Result<Value, String> {
        let value = data.plain().map_err(|_| self.refuse(data))?;
        let inside = value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share));
        if inside { Ok(value) } else { Err(self.refuse(data)) }
    }
}

/// Of several kinds, which one it is belongs to the value.
fn tagged(kinds: &[&str], kind: &str, fields: &serde_json::Map<String, Value>) -> Value {
    let fields = Value::Object(fields.clone());
    if kinds.len() == 1 {
        return fields;
    }
    Value::Object([(kind.to_owned(), fields)].into_iter().collect())
}

fn choice(known: &[&str], text: &str) -> Result<Value, String> {
    if known.contains(&text) {
        return Ok(Value::from(text));
    }
    Err(format!("does not know {text:?}: {}", suggestion(text, known.iter().copied())))
}

/// Seconds of a number or of a text such as `1.5s`.
fn seconds(data: &Data) -> Option<f64> {
    const UNITS: &[(&str, f64)] = &[("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    // A year is longer than any experiment, and within the range of a Duration.
    const LIMIT: f64 = 366.0 * 86400.0;
    quantity(data, UNITS).filter(|seconds| (0.0..=LIMIT).contains(seconds))
}

/// Bytes of a number or of a text such as `4G`.
fn bytes(data: &Data) -> Option<u64> {
    const UNITS: &[(&str, f64)] = &[
        ("K", 1024.0),
        ("M", 1024.0 * 1024.0),
        ("G", 1024.0 * 1024.0 * 1024.0),
        ("T", 1024.0 * 1024.0 * 1024.0 * 1024.0),
    ];
    if let Data::Int(bytes) = data {
        return u64::try_from(*bytes).ok();
    }
    // Up to 2^53 the fraction is exact.
    let bytes = quantity(data, UNITS).filter(|bytes| bytes.fract() == 0.0 && (0.0..=9e15).contains(bytes))?;
    format!("{bytes:.0}").parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "a number of seconds beyond 2^53 is refused anyway")]
fn quantity(data: &Data, units: &[(&str, f64)]) -> Option<f64> {
    match data {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        Data::Text(text) => {
            let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let (_, factor) =
                units.iter().find(|(unit, _)| *unit == text.get(digits.len()..).unwrap_or(""))?;
            digits.parse::<f64>().ok().map(|number| number * factor)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Data {
        Data::Text(text.to_owned())
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(Kind::Time.accept(&text("2m")), Ok(Value::from(120.0)));
        assert_eq!(Kind::Time.accept(&text("1.5s")), Ok(Value::from(1.5)));
        assert_eq!(Kind::Time.accept(&text("5ms")), Ok(Value::from(0.005)));
        assert_eq!(Kind::Time.accept(&Data::Int(3)), Ok(Value::from(3.0)));
        assert_eq!(Kind::Size.accept(&text("4G")), Ok(Value::from(4_294_967_296_u64)));
        assert_eq!(Kind::Size.accept(&text("0.5K")), Ok(Value::from(512)));
        for wrong in ["", "4", "G", "four", "-1s", "1e400s", "nans", "infs", "3 m"] {
            assert!(Kind::Time.accept(&text(wrong)).is_err(), "{wrong}");
        }
        for wrong in ["4g", "1.0001K", "99999999T"] {
            assert!(Kind::Size.accept(&text(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_is_a_list_of_one() {
        let texts = Kind::OneOrMore(&Kind::Text);
        let one = Ok(Value::from(vec!["a"]));
        assert_eq!(
            [texts.accept(&text("a")), texts.accept(&Data::List(vec![text("a")]))],
            [one.clone(), one]
        );
        assert!(texts.accept(&Data::List(vec![Data::Int(5)])).is_err());
    }

    #[test]
    fn what_is_wrong_is_said_with_what_was_expected() {
        let said = |kind: Kind, data: &Data| kind.accept(data).unwrap_err();
        assert_eq!(
            said(Kind::OneOf(&["nvme", "virtio"]), &text("nvm")),
            "does not know \"nvm\": did you mean nvme?"
        );
        assert_eq!(said(Kind::Share, &Data::Int(5)), "expects a number from 0 to 1, not 5");
        assert_eq!(said(Kind::Count, &Data::Int(-1)), "expects a whole number from 0, not -1");
        assert_eq!(said(Kind::List(&Kind::Text), &text("a")), "expects a list, each a text, not \"a\"");
        let texts = Kind::OneOrMore(&Kind::Text);
        assert_eq!(said(texts, &Data::Int(5)), "expects a text or a list, each a text, not 5");
        assert_eq!(said(Kind::Flag, &Data::None), "expects True or False, not None");
        assert_eq!(said(Kind::Object(ObjectKind::Machine), &Data::Int(1)), "expects a machine, not 1");
    }
}
