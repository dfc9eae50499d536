//! Keys and keyrings: keyrings(7), add_key(2), request_key(2), keyctl(2).

use std::ffi::CStr;

use harness::check::{Checked, equal, fails, holds};
use harness::child::unprivileged;
use harness::keys::{add, keyctl, new_session};
use harness::sys::call;
use rustix::io::Errno;

use crate::case::{Case, Need};

const KEYS: &[Need] = &[Need::Config("KEYS")];

pub(super) const CASES: &[Case] = &[
    Case::new(
        "keys/read-back",
        "add_key(2) stores and updates a payload that KEYCTL_READ gives back",
        read_back,
    )
    .needs(KEYS),
    Case::new(
        "keys/search",
        "KEYCTL_SEARCH finds keys in nested keyrings, ENOKEY when there is none",
        search,
    )
    .needs(KEYS),
    Case::new(
        "keys/request",
        "request_key(2) finds keys of the session keyring, ENOKEY without one",
        request,
    )
    .needs(KEYS),
    Case::new("keys/revoke", "after KEYCTL_REVOKE a key gives EKEYREVOKED", revoke).needs(KEYS),
    Case::new("keys/permissions", "KEYCTL_SETPERM: reading without permission gives EACCES", permissions)
        .needs(KEYS),
    Case::new("keys/quota", "a user with too many keys gets EDQUOT", quota).needs(KEYS),
    Case::new("keys/refusals", "add_key(2) gives ENODEV, EINVAL, EPERM and ENOTDIR as it should", refusals)
        .needs(KEYS),
];

fn read(key: usize) -> Result<Vec<u8>, Errno> {
    let mut payload = vec![0; 64];
    let size = keyctl(libc::KEYCTL_READ, key, [payload.as_mut_ptr().addr(), payload.len()])?;
    payload.truncate(size);
    Ok(payload)
}

fn find(keyring: usize, description: &CStr) -> Result<usize, Errno> {
    let (kind, description) = (c"user".as_ptr().addr(), description.as_ptr().addr());
    keyctl(libc::KEYCTL_SEARCH, keyring, [kind, description, 0])
}

fn read_back() -> Checked {
    let session = new_session()?;
    let key = add(c"user", c"kiln:first", b"secret", session)?;
    equal("payload", read(key)?, b"secret")?;
    equal("key of the same name", add(c"user", c"kiln:first", b"changed", session)?, key)?;
    equal("payload after the update", read(key)?, b"changed")?;
    let mut text = [0_u8; 64];
    let size = keyctl(libc::KEYCTL_DESCRIBE, key, [text.as_mut_ptr().addr(), text.len()])?;
    let text = String::from_utf8_lossy(&text[..size.min(64)]);
    holds(&format!("type and owner in '{text}'"), text.starts_with("user;0;0;"))?;
    holds(&format!("description in '{text}'"), text.ends_with(";kiln:first\0"))
}

fn search() -> Checked {
    let session = new_session()?;
    let nested = add(c"keyring", c"kiln:ring", b"", session)?;
    let key = add(c"user", c"kiln:deep", b"treasure", nested)?;
    equal("key in the nested keyring", find(session, c"kiln:deep")?, key)?;
    fails("a key that is not there", find(session, c"kiln:none"), Errno::NOKEY)?;
    fails("a search in a key", find(key, c"kiln:deep"), Errno::NOTDIR)?;
    keyctl(libc::KEYCTL_UNLINK, key, [nested])?;
    fails("a key that was unlinked", find(session, c"kiln:deep"), Errno::NOKEY)
}

fn request() -> Checked {
    let key = add(c"user", c"kiln:wanted", b"here", new_session()?)?;
    let request = |description: &CStr| {
        let arguments = [c"user".as_ptr().addr(), description.as_ptr().addr(), 0, 0];
        // SAFETY: two strings that end in a null byte, no call-out and no keyring.
        unsafe { call(libc::SYS_request_key, arguments) }
    };
    equal("key by its description", request(c"kiln:wanted")?, key)?;
    fails("a key that nobody has", request(c"kiln:none"), Errno::NOKEY)?;
    new_session()?;
    fails("the key from another session", request(c"kiln:wanted"), Errno::NOKEY)
}

fn revoke() -> Checked {
    let session = new_session()?;
    let key = add(c"user", c"kiln:short-lived", b"secret", session)?;
    keyctl(libc::KEYCTL_REVOKE, key, [])?;
    fails("read", read(key), Errno::KEYREVOKED)?;
    fails("search", find(session, c"kiln:short-lived"), Errno::KEYREVOKED)?;
    fails("revoke again", keyctl(libc::KEYCTL_REVOKE, key, []), Errno::KEYREVOKED)
}

fn permissions() -> Checked {
    const VIEW_AND_SETATTR: usize = 0x2100_0000;
    let key = add(c"user", c"kiln:guarded", b"secret", new_session()?)?;
    keyctl(libc::KEYCTL_SETPERM, key, [VIEW_AND_SETATTR])?;
    fails("read without permission", read(key), Errno::ACCESS)?;
    fails("bits that do not exist", keyctl(libc::KEYCTL_SETPERM, key, [1 << 31]), Errno::INVAL)?;
    unprivileged(|| {
        fails("another user's key", keyctl(libc::KEYCTL_SETPERM, key, [VIEW_AND_SETATTR]), Errno::ACCESS)
    })?
    .succeeds()
}

fn quota() -> Checked {
    let limit: usize = number_in("/proc/sys/kernel/keys/maxkeys")?;
    unprivileged(|| {
        let session = new_session()?;
        let first_refused = (0..=limit).find_map(|number| {
            let description = std::ffi::CString::new(format!("kiln:{number}")).unwrap_or_default();
            add(c"user", &description, b"1", session).err()
        });
        equal("error for one key too many", first_refused, Some(Errno::DQUOT))
    })?
    .succeeds()
}

fn number_in(path: &str) -> Checked<usize> {
    let text = std::fs::read_to_string(path)?;
    text.trim().parse().or_else(|_| harness::check::fail(&format!("{path} contains no number: {text}")))
}

fn refusals() -> Checked {
    let session = new_session()?;
    fails("an unknown type", add(c"kiln", c"kiln:a", b"1", session), Errno::NODEV)?;
    fails("a type of the kernel", add(c".kiln", c"kiln:a", b"1", session), Errno::PERM)?;
    fails("no payload", add(c"user", c"kiln:a", b"", session), Errno::INVAL)?;
    fails("too much payload", add(c"user", c"kiln:a", &[0; 32768], session), Errno::INVAL)?;
    let key = add(c"user", c"kiln:a", b"1", session)?;
    fails("a key as keyring", add(c"user", c"kiln:b", b"1", key), Errno::NOTDIR)?;
    fails("an unknown keyring", add(c"user", c"kiln:b", b"1", 0x7fff_fff0), Errno::NOKEY)?;
    fails("an unknown operation", keyctl(9999, 0, []), Errno::OPNOTSUPP)
}
