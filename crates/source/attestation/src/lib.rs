//! Who vouches for a mail: its domain by DKIM, its sender by a developer signature or by OpenPGP.
//!
//! [`Keys`] are all keys that the user trusts, or may ask for; [`Keys::signatures`] checks each [`Signature`] of a mail. A mail
//! without any is missing an attestation, which is no [`State`] of a signature.

mod attest;
mod canonical;
mod developer;
mod dkim;
mod dns;
mod domain_key;
mod error;
mod fields;
mod gpg;
mod keyring;
mod keys;
mod openpgp;
mod outcome;
mod policy;
mod reading;
mod tags;
mod trust;

pub use dns::Resolver;
pub use domain_key::DomainKeys;
pub use error::Error;
pub use keyring::Keyring;
pub use keys::Keys;
pub use outcome::{Attested, Method, Signature, State};
pub use policy::Policy;
pub use trust::Trust;

#[cfg(test)]
mod tests;
