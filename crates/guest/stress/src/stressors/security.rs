//! Stressors of keys, cryptography and privileges.

mod crypto;
mod keyrings;
mod namespaces;
mod rights;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    crypto::AF_ALG,
    keyrings::KEY,
    keyrings::KEYRING,
    namespaces::MOUNT,
    namespaces::SETNS,
    namespaces::UNSHARE,
    namespaces::USERNS,
    rights::CAP,
    rights::CHROOT,
    rights::LANDLOCK,
    rights::SECCOMP,
];
