//! `key`, `keyring`: keys that the kernel keeps.

use std::ffi::CStr;

use harness::check::{Checked, equal, fails, holds};
use harness::keys::{add, keyctl, new_session};
use harness::sys::call;
use rustix::io::Errno;

use crate::Worker;
use crate::kit::support::supported;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const KEYS: Setting = number("keys", "keys at a time", 1..=150, 16);

const KEYRINGS: Stressor =
    Stressor { classes: &[Class::Security, Class::Os], needs: &[Need::Config("KEYS")], ..Stressor::PLAIN };

pub(super) const KEY: Stressor = Stressor {
    name: "key",
    about: "keys made, read, updated, searched, described, revoked and timed: add_key(2), request_key(2), keyctl(2)",
    operation: "the life of one key",
    verifies: "payload and description; a revoked key gives EKEYREVOKED",
    body: life,
    ..KEYRINGS
};

pub(super) const KEYRING: Stressor = Stressor {
    name: "keyring",
    about: "keyrings with many keys: linked, moved to another keyring, cleared",
    operation: "a key linked to one keyring and unlinked from the other",
    verifies: "each keyring lists its keys, and an empty one none",
    options: &[KEYS],
    body: rings,
    ..KEYRINGS
};

const USER: &CStr = c"user";
const RING: &CStr = c"keyring";
/// `KEY_SPEC_SESSION_KEYRING`.
const SESSION: usize = -3_isize as usize;

/// What KEYCTL_READ gives.
fn payload(key: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; 4096];
    let size = keyctl(libc::KEYCTL_READ, key, [bytes.as_mut_ptr().addr(), bytes.len()])?;
    bytes.truncate(size);
    Ok(bytes)
}

/// Numbers of keys in the payload of a keyring.
fn members(ring: usize) -> Result<Vec<usize>, Errno> {
    let mut members: Vec<usize> =
        payload(ring)?.as_chunks::<4>().0.iter().map(|bytes| i32::from_ne_bytes(*bytes) as usize).collect();
    members.sort_unstable();
    Ok(members)
}

fn session() -> Checked {
    supported("keys", new_session()).map(drop)
}

fn life(worker: &Worker) -> Checked {
    session()?;
    let mut random = worker.random();
    worker.repeat(|| {
        let mut secret = vec![0; 1 + random.below(128)];
        random.fill(&mut secret);
        let name = c"kiln-stress";
        let key = add(USER, name, &secret, SESSION)?;
        equal("the payload", payload(key)?, secret.clone())?;
        let text = (USER.as_ptr().addr(), name.as_ptr().addr());
        equal(
            "the key that a search finds",
            keyctl(libc::KEYCTL_SEARCH, SESSION, [text.0, text.1, 0])?,
            key,
        )?;
        // SAFETY: two texts that end in a null byte.
        let requested = unsafe { call(libc::SYS_request_key, [text.0, text.1, 0, SESSION]) };
        equal("the key that a request finds", requested?, key)?;
        secret.reverse();
        keyctl(libc::KEYCTL_UPDATE, key, [secret.as_ptr().addr(), secret.len()])?;
        equal("the payload after the update", payload(key)?, secret)?;
        let mut description = [0_u8; 256];
        let size = keyctl(libc::KEYCTL_DESCRIBE, key, [description.as_mut_ptr().addr(), description.len()])?;
        let description = String::from_utf8_lossy(&description[..size.min(256)]).into_owned();
        let is_right =
            description.starts_with("user;") && description.trim_end_matches('\0').ends_with(";kiln-stress");
        holds(&format!("the description {description:?}"), is_right)?;
        keyctl(libc::KEYCTL_SET_TIMEOUT, key, [1000])?;
        keyctl(libc::KEYCTL_REVOKE, key, [])?;
        fails("reading a revoked key", payload(key), Errno::KEYREVOKED)?;
        keyctl(libc::KEYCTL_UNLINK, key, [SESSION])?;
        fails("a search for nothing", keyctl(libc::KEYCTL_SEARCH, SESSION, [text.0, text.1, 0]), Errno::NOKEY)
    })
}

fn rings(worker: &Worker) -> Checked {
    session()?;
    let (here, there) = (add(RING, c"here", &[], SESSION)?, add(RING, c"there", &[], SESSION)?);
    let count = worker.value(&KEYS);
    while worker.goes_on() {
        let make = |number: u64| {
            let name = std::ffi::CString::new(format!("kiln-{number}")).unwrap_or_default();
            match add(USER, &name, b"secret", here) {
                // The user has as many keys as allowed.
                Err(Errno::DQUOT) => Ok(None),
                key => key.map(Some),
            }
        };
        let mut keys =
            (0..count).map(make).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect::<Vec<_>>();
        keys.sort_unstable();
        holds("there are keys", !keys.is_empty())?;
        equal("the first keyring", members(here)?, keys.clone())?;
        for &key in &keys {
            keyctl(libc::KEYCTL_LINK, key, [there])?;
            keyctl(libc::KEYCTL_UNLINK, key, [here])?;
            worker.count();
        }
        equal("both keyrings", (members(here)?, members(there)?), (Vec::<usize>::new(), keys))?;
        keyctl(libc::KEYCTL_CLEAR, there, [])?;
        equal("a cleared keyring", members(there)?, Vec::<usize>::new())?;
    }
    Ok(())
}
