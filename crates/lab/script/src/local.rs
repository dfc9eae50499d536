//! The methods and functions that are no calls: the script's own side of the language.

use crate::call::segment::NIC;
use crate::data::ObjectKind;
use crate::kind::Kind;
use crate::signature::{Gives, Signature, optional, required};

/// Methods of `lab` that need no machine.
const LAB: &[Signature] = &[
    Signature {
        name: "parallel",
        parameters: &[required("branches", Kind::List(&Kind::Any))],
        rest: None,
        gives: Gives::Plain,
        about: "runs branches at the same time, and gives what each returned",
    },
    Signature {
        name: "barrier",
        parameters: &[required("name", Kind::Text), optional("branches", Kind::Count)],
        rest: None,
        gives: Gives::Nothing,
        about: "waits until so many branches, or all, are here",
    },
    Signature {
        name: "random",
        parameters: &[optional("below", Kind::Count)],
        rest: None,
        gives: Gives::Plain,
        about: "a number from 0 to 1, or a whole one below another; the same in each run",
    },
    Signature {
        name: "file",
        parameters: &[required("path", Kind::Text)],
        rest: None,
        gives: Gives::Nothing,
        about: "names a file of the experiment's folder",
    },
];

const SEGMENT: &[Signature] = &[NIC];

/// The methods of an object that are no calls.
pub(crate) fn methods(kind: ObjectKind) -> &'static [Signature] {
    match kind {
        ObjectKind::Lab => LAB,
        ObjectKind::Segment => SEGMENT,
        _ => &[],
    }
}

/// The functions that record.
pub(crate) const RECORDS: &[Signature] = &[
    Signature {
        name: "metric",
        parameters: &[required("name", Kind::Text), required("value", Kind::Number)],
        rest: None,
        gives: Gives::Nothing,
        about: "records a figure of a metric that the experiment declares",
    },
    Signature {
        name: "finding",
        parameters: &[required("text", Kind::Text)],
        rest: Some("values"),
        gives: Gives::Nothing,
        about: "states something that was found",
    },
    Signature {
        name: "table",
        parameters: &[
            required("name", Kind::Text),
            required("columns", Kind::List(&Kind::Text)),
            required("rows", Kind::List(&Kind::List(&Kind::Plain))),
        ],
        rest: None,
        gives: Gives::Nothing,
        about: "records a table",
    },
    Signature {
        name: "note",
        parameters: &[required("text", Kind::Text)],
        rest: None,
        gives: Gives::Nothing,
        about: "a remark for people",
    },
    Signature {
        name: "expect",
        parameters: &[required("condition", Kind::Any), required("text", Kind::Text)],
        rest: None,
        gives: Gives::Nothing,
        about: "fails the case if the condition does not hold",
    },
    Signature {
        name: "skip",
        parameters: &[required("reason", Kind::Text)],
        rest: None,
        gives: Gives::Nothing,
        about: "ends the case, since something that it needs is missing",
    },
];
