//! DomainKeys Identified Mail: RFC 6376, with RFC 8301 and RFC 8463.

use ring::digest::{SHA256, digest};
use ring::signature::{
    ED25519, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, UnparsedPublicKey, VerificationAlgorithm,
};
use series::Mail;

use crate::canonical::Form;
use crate::domain_key::{DomainKey, Found};
use crate::fields::{Field, Parts};
use crate::keys::Keys;
use crate::outcome::{Method, Signature, State, domain, is_above};
use crate::reading::{check_part, check_start};
use crate::tags::{Tags, without_signature};

const FIELD: &str = "dkim-signature";

/// Most signatures of a mail that are checked; each may be a question to DNS.
const SIGNATURES_MAX: usize = 10;

/// The signatures of a mail, in the order of its header. `now` is in seconds since 1970.
pub(crate) fn signatures(mail: &Mail, parts: &Parts, keys: &mut Keys, now: i64) -> Vec<Signature> {
    let fields: Vec<&Field> = parts.values(FIELD).take(SIGNATURES_MAX).collect();
    fields.into_iter().map(|field| signature(mail, parts, field, keys, now)).collect()
}

fn signature(mail: &Mail, parts: &Parts, field: &Field, keys: &mut Keys, now: i64) -> Signature {
    let tags = Tags::parse(&field.text()).unwrap_or_default();
    let text = |name: &str| tags.bare(name).unwrap_or_default();
    let (signer, key) = (text("d"), text("s"));
    let state = match Signed::read(&tags, field) {
        Err(state) => state,
        Ok(signed) => signed.check(mail, parts, keys.domains.find(&key, &signer), now),
    };
    let time = tags.number("t").and_then(|time| i64::try_from(time).ok());
    let state = keys.fresh(state, time, mail);
    let is_senders = is_above(&signer, domain(&mail.from.address));
    Signature { method: Method::Dkim, signer, key, state, is_senders }
}

/// A signature as it can be checked.
struct Signed<'a> {
    field: &'a Field,
    is_ed25519: bool,
    header: Form,
    body: Form,
    names: Vec<String>,
    body_hash: Vec<u8>,
    signature: Vec<u8>,
    /// How much of the canonical body is signed.
    length: Option<u64>,
    expires: Option<u64>,
}

impl<'a> Signed<'a> {
    fn read(tags: &Tags, field: &'a Field) -> Result<Self, State> {
        let wanted = |name: &str| tags.wanted(name).map_err(State::Bad);
        if wanted("v")? != "1" {
            return Err(State::NotChecked("its version is not 1".to_owned()));
        }
        let algorithm = wanted("a")?;
        let is_ed25519 = match algorithm.as_str() {
            "rsa-sha256" => false,
            "ed25519-sha256" => true,
            _ => return Err(State::NotChecked(format!("{algorithm} does not count"))),
        };
        let forms = tags.bare("c").unwrap_or_else(|| "simple/simple".to_owned());
        let (header, body) = forms.split_once('/').unwrap_or((&forms, "simple"));
        let form = |text: &str| {
            Form::parse(text).ok_or_else(|| State::NotChecked(format!("its form {forms} is unknown")))
        };
        let names = tags.signed_fields().map_err(State::Bad)?;
        let bytes = |name: &str| tags.wanted_bytes(name).map_err(State::Bad);
        let no_number = || State::Bad("its l= is no number".to_owned());
        Ok(Self {
            field,
            is_ed25519,
            header: form(header)?,
            body: form(body)?,
            names,
            body_hash: bytes("bh")?,
            signature: bytes("b")?,
            length: tags.get("l").map(|_| tags.number("l").ok_or_else(no_number)).transpose()?,
            expires: tags.number("x"),
        })
    }

    fn check(&self, mail: &Mail, parts: &Parts, key: Found, now: i64) -> State {
        if let Err(reason) = self.check_body(mail, parts) {
            return State::Bad(reason);
        }
        let key = match key {
            Found::Key(key) => key,
            Found::Unknown => return State::UnknownKey("its domain does not have the key".to_owned()),
            Found::NotChecked(reason) => return State::NotChecked(reason),
        };
        let Some(signed) = self.signed_header(parts) else {
            return State::Bad("it has no b=".to_owned());
        };
        if !self.is_of(&key, &signed) {
            return State::Bad("the header was changed, or the key is another".to_owned());
        }
        match self.expires.and_then(|expires| i64::try_from(expires).ok()) {
            Some(expires) if expires < now => State::Stale("it has expired".to_owned()),
            _ => State::Good,
        }
    }

    fn check_body(&self, mail: &Mail, parts: &Parts) -> Result<(), String> {
        let body = self.body.body(&parts.body);
        let length = self.length.and_then(|length| usize::try_from(length).ok()).unwrap_or(body.len());
        let (signed, rest) = body.split_at_checked(length).ok_or("the body was cut")?;
        if digest(&SHA256, signed).as_ref() != self.body_hash {
            return Err("the body was changed".to_owned());
        }
        match (rest, signed) {
            ([], _) => check_part(mail, &self.mail(parts, usize::MAX))
                .map_err(|_| "it does not sign a field that changes how the text is read".to_owned()),
            // No form changes the number of lines.
            (_, [.., b'\n']) => {
                let count = signed.iter().filter(|&&byte| byte == b'\n').count();
                check_start(mail, &self.mail(parts, count))
            }
            _ => Err("a line is signed in part, or none".to_owned()),
        }
    }

    /// The mail as it would be without all that is not signed: fields, and lines of the body behind so many.
    fn mail(&self, parts: &Parts, lines: usize) -> Vec<u8> {
        let mut mail = Form::Simple.header(&parts.fields, &self.names);
        mail.extend(b"\r\n");
        mail.extend(parts.body.split_inclusive(|&byte| byte == b'\n').take(lines).flatten());
        mail
    }

    /// What is signed of the header, and then the signature itself.
    fn signed_header(&self, parts: &Parts) -> Option<Vec<u8>> {
        let mut signed = self.header.header(&parts.fields, &self.names);
        let bare = Field { value: without_signature(&self.field.value)?, ..self.field.clone() };
        let mut own = self.header.field(&bare);
        while own.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
            own.pop();
        }
        signed.extend(own);
        Some(signed)
    }

    fn is_of(&self, key: &DomainKey, signed: &[u8]) -> bool {
        let hash = digest(&SHA256, signed);
        let (algorithm, key, message): (&dyn VerificationAlgorithm, &[u8], &[u8]) = match key {
            DomainKey::Rsa(key) if !self.is_ed25519 => {
                (&RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, key, signed)
            }
            DomainKey::Ed25519(key) if self.is_ed25519 => (&ED25519, key, hash.as_ref()),
            _ => return false,
        };
        UnparsedPublicKey::new(algorithm, key).verify(message, &self.signature).is_ok()
    }
}
