//! All functions and methods of the language, for the page about it and for whoever asks.

use crate::call;
use crate::data::ObjectKind;
use crate::globals::signatures;
use crate::local;
use crate::signature::Signature;

/// A function or method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is a method of; nothing for a function.
    pub object: Option<&'static str>,
    /// How it is called.
    pub usage: String,
    /// What it gives.
    pub gives: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// All functions and methods.
#[must_use]
pub fn reference() -> Vec<Entry> {
    let entry = |object: Option<ObjectKind>, signature: &Signature| Entry {
        object: object.map(ObjectKind::name),
        usage: signature.usage(),
        gives: signature.gives.describe(),
        about: signature.about,
    };
    let objects = [ObjectKind::Lab, ObjectKind::Machine, ObjectKind::Job, ObjectKind::Segment];
    let methods = objects.into_iter().flat_map(|kind| {
        let all = local::methods(kind).iter().chain(call::methods(kind));
        all.map(move |signature| entry(Some(kind), signature)).collect::<Vec<_>>()
    });
    signatures().map(|signature| entry(None, signature)).chain(methods).collect()
}
