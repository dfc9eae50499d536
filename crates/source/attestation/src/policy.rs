//! What a user wants of patches that nobody vouches for.

use kernel::Context;

use crate::Error;

/// As b4's `attestation-policy` has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// Signatures are not looked at.
    Off,
    /// They are shown.
    Check,
    /// A patch without one is worth a warning, too.
    #[default]
    SoftFail,
    /// Such a patch is refused.
    HardFail,
}

impl Policy {
    /// Reads `b4.attestation-policy` from git's configuration.
    ///
    /// # Errors
    ///
    /// When git refuses its configuration, and when the policy is none.
    pub fn read(context: &mut Context<'_>) -> Result<Self, Error> {
        match history::setting("b4.attestation-policy", context)?.as_deref() {
            None => Ok(Self::default()),
            Some("off") => Ok(Self::Off),
            Some("check") => Ok(Self::Check),
            Some("softfail") => Ok(Self::SoftFail),
            Some("hardfail") => Ok(Self::HardFail),
            Some(other) => Err(Error::Policy { value: other.to_owned() }),
        }
    }
}
