//! Mails that are signed with OpenPGP: RFC 3156, and clear-signed texts (RFC 4880, 7).

use kernel::Context;
use series::Mail;

use crate::Error;
use crate::fields::{Field, Parts};
use crate::gpg::{Ring, Signed, Verified, verify};
use crate::keys::Keys;
use crate::outcome::{Method, Signature};
use crate::reading::{check_clear, check_part, check_rest};

const BEGIN: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";
const SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----";
const END: &[u8] = b"-----END PGP SIGNATURE-----";

/// The signature of a mail, if it is signed as a whole.
pub(crate) fn signature(
    mail: &Mail,
    parts: &Parts,
    keys: &mut Keys,
    context: &mut Context<'_>,
) -> Result<Option<Signature>, Error> {
    // A text may be encoded on its way, a part must not.
    let text = [mail.text.as_bytes(), &mail.patch].concat();
    let Some(piece) = multipart(parts).or_else(|| clear_signed(&text)) else {
        return Ok(None);
    };
    let address = &mail.from.address;
    let home = keys.gnupg_home.clone();
    let verified = verify(&piece.signed, &Ring::Users(home.as_deref()), context)?;
    let mut key = String::new();
    let mut state = verified.state(address, false);
    if let Verified::Good(good) = &verified {
        key.clone_from(&good.fingerprint);
        state = keys.fresh(state, Some(good.signed), mail);
        state = state.unless(piece.check(mail, &good.text).err());
    }
    let signer = address.clone();
    Ok(Some(Signature { method: Method::OpenPgp, signer, key, state, is_senders: true }))
}

/// What is signed, and what lies around it.
struct Piece<'a> {
    signed: Signed<'a>,
    above: &'a [u8],
    /// What kiln reads of it.
    text: &'a [u8],
    rest: Vec<&'a [u8]>,
}

impl Piece<'_> {
    /// Whether it is what kiln reads. `signed` is the text of a clear-signed one as gpg reads it.
    fn check(&self, mail: &Mail, signed: &[u8]) -> Result<(), String> {
        match self.signed {
            Signed::Detached { .. } => check_part(mail, self.text)?,
            Signed::Whole(_) if self.above.trim_ascii().is_empty() => check_clear(mail, self.text, signed)?,
            Signed::Whole(_) => return Err("a text stands above what is signed".to_owned()),
        }
        self.rest.iter().try_for_each(|rest| check_rest(rest))
    }
}

/// The first part of a `multipart/signed`, with its signature in the second.
fn multipart(parts: &Parts) -> Option<Piece<'_>> {
    let kind = parts.values("content-type").next()?.text();
    let is_signed = kind.to_ascii_lowercase().starts_with("multipart/signed");
    let boundary = parameter(&kind, "boundary").filter(|_| is_signed)?;
    let delimiter = [b"--".as_slice(), boundary.as_bytes()].concat();
    let [before, first, second, after] = divided(&parts.body, &delimiter)?;
    let inner = Parts::of(second);
    let is_signature = inner.fields.iter().any(Field::is_openpgp);
    let signature = second.strip_suffix(inner.body.as_slice()).map(|head| &second[head.len()..])?;
    is_signature.then_some(Piece {
        signed: Signed::Detached { text: first, signature },
        above: before,
        text: first,
        rest: vec![after],
    })
}

impl Field {
    fn is_openpgp(&self) -> bool {
        self.name == "content-type"
            && self.text().to_ascii_lowercase().starts_with("application/pgp-signature")
    }
}

/// What stands before, in, between and after the first two parts.
fn divided<'a>(body: &'a [u8], delimiter: &[u8]) -> Option<[&'a [u8]; 4]> {
    let (before, from_first) = cut(body, delimiter)?;
    let (first, from_second) = cut(from_first, delimiter)?;
    let (second, after) = cut(from_second, delimiter)?;
    // The line end before a delimiter belongs to it.
    Some([before, first.strip_suffix(b"\r\n")?, second, after])
}

/// What stands before and after the first line that begins with a delimiter.
fn cut<'a>(text: &'a [u8], delimiter: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(delimiter) {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// A parameter of a content type.
fn parameter(kind: &str, name: &str) -> Option<String> {
    let parameters = kind.split(';').skip(1).filter_map(|part| part.split_once('='));
    let value = parameters.into_iter().find(|(other, _)| other.trim().eq_ignore_ascii_case(name))?.1;
    let value = value.trim().trim_matches('"');
    (!value.is_empty()).then(|| value.to_owned())
}

/// A text between the lines with which gpg marks it.
fn clear_signed(body: &[u8]) -> Option<Piece<'_>> {
    let (above, from_start) = body.split_at_checked(line(body, BEGIN)?)?;
    let armor = line(from_start, SIGNATURE)?;
    let end = armor + line(&from_start[armor..], END)? + END.len();
    let (signed, below) = from_start.split_at_checked(end)?;
    // What a signature says of itself, before and behind the text, is not signed.
    let (head, text) = headed(&from_start[..armor]);
    Some(Piece {
        signed: Signed::Whole(signed),
        above,
        text,
        rest: vec![head, &from_start[armor..end], below],
    })
}

/// What stands before and after the first empty line.
fn headed(text: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        if line.trim_ascii().is_empty() {
            break;
        }
    }
    text.split_at(at)
}

/// Where the first line begins that begins with a mark.
fn line(text: &[u8], mark: &[u8]) -> Option<usize> {
    let (above, _) = cut(text, mark)?;
    Some(above.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_signed_part_is_found_with_its_signature() {
        let raw = b"Content-Type: multipart/signed; micalg=pgp-sha256;\n protocol=\"application/pgp-signature\"; boundary=\"b=1\"\n\n\
                    before\n--b=1\nContent-Type: text/plain\n\nsigned\n\n--b=1\nContent-Type: application/pgp-signature\n\nSIG\n--b=1--\nafter\n";
        let parts = Parts::of(raw);
        let piece = multipart(&parts).expect("signed");
        let Signed::Detached { text, signature } = piece.signed else { panic!("it is beside") };
        assert_eq!(text, b"Content-Type: text/plain\r\n\r\nsigned\r\n");
        assert_eq!(signature, b"SIG\r\n");
        assert_eq!((piece.above, piece.rest), (b"before\r\n".as_slice(), vec![b"after\r\n".as_slice()]));
    }

    proptest! {
        #[test]
        fn no_mail_does_harm(body in "(--b|-----BEGIN PGP SIGNED MESSAGE-----|-----END PGP SIGNATURE-----|\n|x){0,20}") {
            let raw = format!("Content-Type: multipart/signed; boundary=b\n\n{body}");
            multipart(&Parts::of(raw.as_bytes()));
            clear_signed(body.as_bytes());
        }
    }
}
