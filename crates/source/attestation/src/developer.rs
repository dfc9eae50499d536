//! Developer signatures: the field `X-Developer-Signature`, as patatt 0.6 makes it.
//!
//! What is signed is what git makes of the mail: sender and subject as `git mailinfo` gives them, and the message and the
//! patch below them. So it does not matter how the mail was encoded on its way.

mod claim;
mod normal;

use kernel::Context;
use series::Mail;

use crate::Error;
use crate::fields::{Field, Parts};
use crate::gpg::{Ring, Signed, Verified, verify};
use crate::keys::Keys;
use crate::outcome::{Method, Signature, State};
use crate::tags::{Tags, decoded};
use crate::trust::Ruling;
use claim::{Claim, Kind};
use normal::Normal;

const FIELD: &str = "x-developer-signature";
const KEY_FIELD: &str = "x-developer-key";

/// The selector of a key that has none.
const SELECTOR: &str = "default";

/// Most signatures of a mail that are checked.
const SIGNATURES_MAX: usize = 10;

/// The signatures of a mail, in the order of its header.
pub(crate) fn signatures(
    mail: &Mail,
    parts: &Parts,
    keys: &mut Keys,
    context: &mut Context<'_>,
) -> Result<Vec<Signature>, Error> {
    let fields: Vec<&Field> = parts.values(FIELD).take(SIGNATURES_MAX).collect();
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let normal = Normal::of(mail, parts, context)?;
    let mut checker = Checker { mail, parts, normal, keys, context };
    fields.into_iter().map(|field| checker.signature(field)).collect()
}

/// A mail, and all that its signatures are checked with.
struct Checker<'a, 'c> {
    mail: &'a Mail,
    parts: &'a Parts,
    normal: Normal,
    keys: &'a mut Keys,
    context: &'a mut Context<'c>,
}

impl Checker<'_, '_> {
    fn signature(&mut self, field: &Field) -> Result<Signature, Error> {
        let tags = Tags::parse(&field.text()).unwrap_or_default();
        let signer = tags.bare("i").unwrap_or_else(|| self.mail.from.address.clone());
        let selector = tags.bare("s").unwrap_or_else(|| SELECTOR.to_owned());
        let fault = self.normal.fault.clone();
        let checked = fault
            .map_or_else(|| Claim::read(&tags, field), Err)
            .and_then(|claim| claim.check_mail(&self.normal).map(|digest| (claim, digest)));
        let (state, key) = match checked {
            Err(reason) => (State::Bad(reason), selector),
            Ok((claim, digest)) => self.check(&claim, &digest, &signer, selector)?,
        };
        let time = tags.number("t").and_then(|time| i64::try_from(time).ok());
        let state = self.keys.fresh(state, time, self.mail);
        let is_senders = signer.eq_ignore_ascii_case(&self.mail.from.address);
        Ok(Signature { method: Method::Developer, signer, key, state, is_senders })
    }

    /// What becomes of a signature of this digest, and the key by its best name.
    fn check(
        &mut self,
        claim: &Claim,
        digest: &[u8],
        signer: &str,
        selector: String,
    ) -> Result<(State, String), Error> {
        match claim.kind {
            Kind::Ed25519 => self.check_ed25519(claim, digest, signer, selector),
            Kind::OpenPgp => self.check_openpgp(claim, digest, signer, selector),
            Kind::OpenSsh => {
                Ok((State::NotChecked("kiln does not check signatures of OpenSSH".to_owned()), selector))
            }
            Kind::Unknown => Ok((State::NotChecked("kiln does not know its algorithm".to_owned()), selector)),
        }
    }

    /// The key is that of a keyring, or with trust on first use the one that the mail brings for an address without any.
    fn check_ed25519(
        &mut self,
        claim: &Claim,
        digest: &[u8],
        signer: &str,
        selector: String,
    ) -> Result<(State, String), Error> {
        let ringed = self.keys.in_rings("ed25519", signer, &selector, self.context);
        if let Some(key) = ringed.and_then(|text| decoded(&String::from_utf8_lossy(&text))) {
            return Ok((claim.ed25519_state(digest, &key), selector));
        }
        let is_first = self.keys.trust.is_some() && !self.keys.know(signer, self.context)?;
        let brought = self.brought(signer).filter(|_| is_first);
        let Some((key, text)) = brought.and_then(|text| Some((decoded(&text)?, text))) else {
            return Ok((State::UnknownKey("no keyring has it".to_owned()), selector));
        };
        let state = claim.ed25519_state(digest, &key);
        if state != State::Good {
            return Ok((state, text));
        }
        let ruling = self.keys.first_use(signer, &text)?;
        Ok((ruling.map_or(state, Ruling::state), text))
    }

    /// The key of ed25519 that a mail brings, in base64.
    fn brought(&self, signer: &str) -> Option<String> {
        let mut all = self.parts.values(KEY_FIELD).filter_map(|field| Tags::parse(&field.text()));
        all.find(|tags| tags.bare("i").as_deref() == Some(signer))?.bare("pk")
    }

    /// What is signed is a message of OpenPGP that holds the digest.
    fn check_openpgp(
        &mut self,
        claim: &Claim,
        digest: &[u8],
        signer: &str,
        selector: String,
    ) -> Result<(State, String), Error> {
        let ringed = self.keys.in_rings("openpgp", signer, &selector, self.context);
        let users = self.keys.gnupg_home.clone();
        let ring = ringed.as_deref().map_or(Ring::Users(users.as_deref()), Ring::These);
        let verified = verify(&Signed::Whole(&claim.signature), &ring, self.context)?;
        let state = verified.state(signer, ringed.is_some());
        let Verified::Good(good) = &verified else { return Ok((state, selector)) };
        let key = good.fingerprint.clone();
        if good.text != digest {
            return Ok((State::Bad("the header was changed".to_owned()), key));
        }
        Ok((self.keys.fresh(state, Some(good.signed), self.mail), key))
    }
}
