//! All keys that the user trusts, and what the user says of them.

use std::path::PathBuf;

use history::Settings;
use kernel::Context;
use series::Mail;

use crate::Error;
use crate::dns::Resolver;
use crate::domain_key::DomainKeys;
use crate::gpg;
use crate::keyring::Keyring;
use crate::outcome::State;
use crate::trust::{Ruling, Trust};

/// Where patatt looks unless it is told otherwise.
const RINGS: [&str; 3] = ["ref:::.keys", "ref:::.local-keys", "ref::refs/meta/keyring:"];

/// Days between sending and signing, unless the user says otherwise.
const STALENESS: i64 = 30;

const DAY: i64 = 24 * 60 * 60;

/// Keys of domains and of developers.
#[derive(Debug, Default)]
pub struct Keys {
    /// For DKIM.
    pub domains: DomainKeys,
    /// Keys of developers in files.
    pub rings: Vec<Keyring>,
    /// The folder of gpg with the user's keys; nothing for gpg's default.
    pub gnupg_home: Option<PathBuf>,
    /// Keys that are trusted because they were the first, if the user wants that.
    pub trust: Option<Trust>,
    /// How many days may lie between sending and signing; 0 for any number.
    pub staleness: i64,
}

impl Keys {
    /// Reads `patatt.keyringsrc`, `b4.keyringsrc`, `b4.attestation-gnupghome`, `b4.attestation-staleness-days`,
    /// `b4.attestation-check-dkim` and `b4.attestation-trust-model` from git's configuration. DNS is asked only if `is_online`.
    ///
    /// # Errors
    ///
    /// When git refuses its configuration, and when a keyring is none.
    pub fn read(is_online: bool, context: &mut Context<'_>) -> Result<Self, Error> {
        let settings = history::settings(r"^(b4|patatt)\.", context)?;
        let setting = |key: &str| settings.last(key);
        let checks_dkim = setting("b4.attestation-check-dkim").is_none_or(|text| text != "no");
        let is_tofu = setting("b4.attestation-trust-model").is_some_and(|text| text == "tofu");
        let days = setting("b4.attestation-staleness-days").and_then(|text| text.parse().ok());
        Ok(Self {
            domains: DomainKeys::new((is_online && checks_dkim).then(Resolver::of_host)),
            rings: rings(&settings)?,
            gnupg_home: setting("b4.attestation-gnupghome").map(PathBuf::from),
            trust: is_tofu.then(|| Trust::at(host::state_folder().join("keys"))),
            staleness: days.unwrap_or(STALENESS),
        })
    }

    /// The key of an address in the first keyring that has it.
    pub(crate) fn in_rings(
        &self,
        kind: &str,
        address: &str,
        selector: &str,
        context: &Context<'_>,
    ) -> Option<Vec<u8>> {
        self.rings.iter().find_map(|ring| ring.find(kind, address, selector, context))
    }

    /// Whether a keyring or gpg has a key of an address, by whatever selector: then no other key is trusted for it.
    pub(crate) fn know(&self, address: &str, context: &mut Context<'_>) -> Result<bool, Error> {
        let is_ringed = self.rings.iter().any(|ring| ring.knows(address, context));
        Ok(is_ringed || gpg::knows(address, self.gnupg_home.as_deref(), context)?)
    }

    /// What is known of a key that was met, with trust on first use.
    pub(crate) fn first_use(&self, address: &str, key: &str) -> Result<Option<Ruling>, Error> {
        self.trust.as_ref().map(|trust| trust.meet(address, key)).transpose()
    }

    /// A good signature that was made long before or after the mail was sent is stale, and so is one of a mail without a date,
    /// which may be of any age.
    pub(crate) fn fresh(&self, state: State, signed: Option<i64>, mail: &Mail) -> State {
        if state != State::Good || self.staleness <= 0 {
            return state;
        }
        if mail.date.is_none() {
            return State::Stale("the mail has no date".to_owned());
        }
        let days =
            signed.map_or(0, |signed| signed.saturating_sub(mail.sent).unsigned_abs() / DAY.unsigned_abs());
        match days > self.staleness.unsigned_abs() {
            true => State::Stale(format!("{days} days lie between signing and sending")),
            false => state,
        }
    }
}

/// The keyrings that the user names, then those of patatt.
fn rings(settings: &Settings) -> Result<Vec<Keyring>, Error> {
    let named = ["patatt.keyringsrc", "b4.keyringsrc"]
        .into_iter()
        .flat_map(|key| settings.all(key).map(move |text| (key, text)));
    let usual = RINGS.into_iter().map(|text| ("patatt.keyringsrc", text));
    let rings: Result<Vec<Keyring>, Error> =
        named.chain(usual).map(|(key, text)| Keyring::parse(key, text)).collect();
    let own = host::data_home().map(|home| Keyring::Folder(home.join("patatt/public")));
    Ok(rings?.into_iter().chain(own).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keyrings_count_that_the_user_names() {
        let pairs =
            [("b4.keyringsrc", "/three"), ("patatt.keyringsrc", "/one"), ("patatt.keyringsrc", "/two")];
        let found = rings(&Settings::from_iter(pairs)).unwrap();
        let named = ["/one", "/two", "/three"].map(|path| Keyring::Folder(path.into()));
        assert_eq!(found[..3], named);
        assert_eq!(found[3], Keyring::parse("patatt.keyringsrc", RINGS[0]).unwrap());
        let wrong = rings(&Settings::from_iter([("b4.keyringsrc", "ref:x")])).unwrap_err();
        assert!(wrong.to_string().starts_with("b4.keyringsrc: ref:x: "), "{wrong}");
    }
}
