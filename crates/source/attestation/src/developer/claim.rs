//! What a developer signature claims.

use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, UnparsedPublicKey};

use super::normal::Normal;
use crate::canonical::{Form, relaxed};
use crate::fields::Field;
use crate::outcome::State;
use crate::reading::check_rest;
use crate::tags::{Tags, without_signature};

/// Bytes of a signature by ed25519, which the signed digest follows.
const ED25519_LENGTH: usize = 64;

/// A signature as it can be checked.
pub(super) struct Claim {
    pub(super) kind: Kind,
    /// Up to and with `b=`, in one line.
    value: Vec<u8>,
    names: Vec<String>,
    body_hash: Vec<u8>,
    /// How much of the body is signed.
    length: Option<usize>,
    pub(super) signature: Vec<u8>,
    has_time: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ed25519,
    OpenPgp,
    OpenSsh,
    Unknown,
}

impl Claim {
    pub(super) fn read(tags: &Tags, field: &Field) -> Result<Self, String> {
        let kind = match tags.wanted("a")?.as_str() {
            "ed25519-sha256" => Kind::Ed25519,
            "openpgp-sha256" => Kind::OpenPgp,
            "openssh-sha256" => Kind::OpenSsh,
            _ => Kind::Unknown,
        };
        let names = tags.signed_fields()?;
        Ok(Self {
            kind,
            value: without_signature(&relaxed(&field.value)).ok_or("it has no b=")?,
            names,
            body_hash: tags.wanted_bytes("bh")?,
            length: tags.number("l").and_then(|length| usize::try_from(length).ok()),
            signature: tags.wanted_bytes("b")?,
            has_time: tags.number("t").is_some(),
        })
    }

    /// Whether the body is the one that was signed: the digest of all that is signed, or what is wrong.
    pub(super) fn check_mail(&self, normal: &Normal) -> Result<Vec<u8>, String> {
        let is_signed = |body: &[u8]| digest(&SHA256, body).as_ref() == self.body_hash;
        if !is_signed(&normal.body) {
            // A list may have added a footer.
            let (signed, rest) = self
                .length
                .and_then(|length| normal.body.split_at_checked(length))
                .ok_or("the message or the patch was changed")?;
            if !is_signed(signed) {
                return Err("the message or the patch was changed".to_owned());
            }
            check_rest(rest)?;
        }
        let mut signed = Form::Relaxed.header(&normal.fields, &self.names);
        signed.extend([super::FIELD.as_bytes(), b":", &self.value].concat());
        Ok(digest(&SHA256, &signed).as_ref().to_vec())
    }

    pub(super) fn ed25519_state(&self, digest: &[u8], key: &[u8]) -> State {
        if !self.has_time {
            return State::Bad("it has no t=".to_owned());
        }
        let Some((signature, signed)) = self.signature.split_at_checked(ED25519_LENGTH) else {
            return State::Bad("the signature was cut".to_owned());
        };
        let is_good = UnparsedPublicKey::new(&ED25519, key).verify(signed, signature).is_ok();
        match is_good && signed == digest {
            true => State::Good,
            false => State::Bad("the header was changed, or the key is another".to_owned()),
        }
    }
}
