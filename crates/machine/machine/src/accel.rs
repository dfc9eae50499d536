//! How the machine's instructions are executed.

use crate::error::Error;
use crate::kvm;

/// What the user asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccelChoice {
    /// KVM if it works, else TCG.
    #[default]
    Auto,
    /// KVM or nothing.
    Kvm,
    /// Always TCG.
    Tcg,
}

/// What the machine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accel {
    /// The host's processor executes the guest.
    Kvm,
    /// QEMU translates the guest's instructions.
    Tcg,
}

impl From<Accel> for AccelChoice {
    fn from(accel: Accel) -> Self {
        match accel {
            Accel::Kvm => Self::Kvm,
            Accel::Tcg => Self::Tcg,
        }
    }
}

impl Accel {
    /// QEMU's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }

    /// How much longer things may take than on the bare host.
    #[must_use]
    pub fn slowness(self) -> u32 {
        match self {
            Self::Kvm => 1,
            Self::Tcg => 4,
        }
    }

    /// Decides, looking at the host where it must.
    ///
    /// # Errors
    ///
    /// When KVM was asked for and does not work.
    pub fn choose(choice: AccelChoice) -> Result<Self, Error> {
        match choice {
            AccelChoice::Tcg => Ok(Self::Tcg),
            AccelChoice::Auto => Ok(kvm::verdict().map_or(Self::Tcg, |()| Self::Kvm)),
            AccelChoice::Kvm => kvm::verdict().map(|()| Self::Kvm).map_err(Error::NoKvm),
        }
    }
}
