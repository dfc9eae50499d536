//! Plain data of a script: what goes between its values, calls and the journal.

use std::fmt;

use serde_json::{Map, Number, Value};

/// Lists in lists.
const DEPTH: usize = 32;

/// Something that stands for a thing outside of the script, or for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ObjectKind {
    Lab,
    Kernel,
    Machine,
    Segment,
    Job,
    /// What a step returned, for later steps.
    Returned,
}

impl ObjectKind {
    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::Kernel => "kernel",
            Self::Machine => "machine",
            Self::Segment => "segment",
            Self::Job => "job",
            Self::Returned => "step",
        }
    }

    /// Whether it ends with the step that made it.
    pub(crate) fn ends_with_step(self) -> bool {
        matches!(self, Self::Machine | Self::Segment | Self::Job)
    }
}

/// A thing outside of the script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    /// Which of its kind.
    pub(crate) id: u32,
    /// The step that made it.
    pub(crate) step: u32,
    /// What it shows of itself.
    pub(crate) attributes: Vec<(&'static str, Data)>,
}

impl Object {
    /// One that shows nothing of itself.
    pub(crate) fn new(kind: ObjectKind, id: u32, step: u32) -> Self {
        Self { kind, id, step, attributes: Vec::new() }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "<{} {}>", self.kind.name(), self.id)
    }
}

/// Something that is described before it is made: a disk, an interface.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Described {
    /// The function that described it.
    pub(crate) kind: &'static str,
    pub(crate) fields: Map<String, Value>,
    /// The step whose things it names, if it names some.
    pub(crate) step: Option<u32>,
}

impl fmt::Display for Described {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}(", self.kind)?;
        for (index, (name, value)) in self.fields.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}{name} = {value}")?;
        }
        write!(out, ")")
    }
}

/// A value of a script that can leave it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Data>),
    Map(Vec<(String, Data)>),
    /// With attributes, such as the result of a command.
    Struct(Vec<(String, Data)>),
    Object(Object),
    Described(Described),
}

impl Data {
    /// Its type, in words.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a truth value",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a fraction",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a dict",
            Self::Struct(_) => "a result",
            Self::Object(object) => object.kind.name(),
            Self::Described(described) => described.kind,
        }
    }

    /// As JSON, or what in it is not plain.
    pub(crate) fn plain(&self) -> Result<Value, String> {
        self.plain_at(DEPTH)
    }

    fn plain_at(&self, depth: usize) -> Result<Value, String> {
        let deeper = depth.checked_sub(1).ok_or_else(|| format!("lists in lists deeper than {DEPTH}"))?;
        Ok(match self {
            Self::None => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::from(*value),
            Self::Float(value) => Value::Number(
                Number::from_f64(*value).ok_or_else(|| "a fraction that is not finite".to_owned())?,
            ),
            Self::Text(text) => Value::String(text.clone()),
            Self::List(items) => {
                Value::Array(items.iter().map(|item| item.plain_at(deeper)).collect::<Result<_, _>>()?)
            }
            Self::Map(entries) | Self::Struct(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok::<_, String>((key.clone(), value.plain_at(deeper)?)));
                Value::Object(entries.collect::<Result<_, _>>()?)
            }
            Self::Object(object) => return Err(format!("a {}", object.kind.name())),
            Self::Described(described) => return Err(format!("a {}", described.kind)),
        })
    }

    /// All things that end with a step, and the step.
    pub(crate) fn owned(&self) -> Vec<(&'static str, u32)> {
        let (objects, described) = (self.objects(), self.described());
        let objects = objects.into_iter().filter(|object| object.kind.ends_with_step());
        let objects = objects.map(|object| (object.kind.name(), object.step));
        objects.chain(described.into_iter().filter_map(|it| Some((it.kind, it.step?)))).collect()
    }

    fn described(&self) -> Vec<&Described> {
        match self {
            Self::Described(described) => vec![described],
            Self::List(items) => items.iter().flat_map(Self::described).collect(),
            Self::Map(entries) | Self::Struct(entries) => {
                entries.iter().flat_map(|(_, value)| value.described()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All things outside of the script that it names.
    fn objects(&self) -> Vec<&Object> {
        match self {
            Self::Object(object) => vec![object],
            Self::List(items) => items.iter().flat_map(Self::objects).collect(),
            Self::Map(entries) | Self::Struct(entries) => {
                entries.iter().flat_map(|(_, value)| value.objects()).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl From<&Value> for Data {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => {
                number.as_i64().map_or_else(|| Self::Float(number.as_f64().unwrap_or_default()), Self::Int)
            }
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(entries) => {
                Self::Map(entries.iter().map(|(key, value)| (key.clone(), Self::from(value))).collect())
            }
        }
    }
}

impl fmt::Display for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(object) => write!(out, "{object}"),
            Self::Described(described) => write!(out, "{described}"),
            other => match other.plain() {
                Ok(value) => write!(out, "{value}"),
                Err(why) => write!(out, "{why}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain() -> impl Strategy<Value = Data> {
        let leaf = prop_oneof![
            Just(Data::None),
            any::<bool>().prop_map(Data::Bool),
            any::<i64>().prop_map(Data::Int),
            ".{0,8}".prop_map(Data::Text),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Data::List),
                prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                    .prop_map(|map| Data::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn plain_data_is_read_back_as_it_was(data in plain()) {
            prop_assert_eq!(Data::from(&data.plain().unwrap()), data);
        }
    }

    #[test]
    fn what_is_not_plain_is_named() {
        let machine = Data::Object(Object::new(ObjectKind::Machine, 1, 0));
        assert_eq!(Data::List(vec![machine.clone()]).plain(), Err("a machine".to_owned()));
        assert_eq!(Data::Float(f64::NAN).plain(), Err("a fraction that is not finite".to_owned()));
        let deep = (0..100).fold(Data::None, |inner, _| Data::List(vec![inner]));
        assert!(deep.plain().unwrap_err().contains("deeper"));
        assert_eq!(Data::List(vec![machine]).objects().len(), 1);
    }
}
