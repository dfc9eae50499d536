//! `af-alg`: the kernel's cryptography through sockets.

use std::ffi::CStr;
use std::os::fd::FromRawFd;

use harness::check::{Checked, equal, holds, skip};
use harness::child::last_error;
use harness::sys::succeeded;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{Errno, read, write};

use crate::Worker;
use crate::kit::{content, digest};
use crate::stressor::{Class, Need, Setting, Stressor, choice, size};
use harness::random::Random;

const METHOD: Setting = choice("method", "kind of algorithm", &["all", "hash", "cipher", "rng"]);
const BYTES: Setting = size("bytes", "what is hashed or encrypted", 16..=64 << 10, 4096);

pub(super) const AF_ALG: Stressor = Stressor {
    name: "af-alg",
    classes: &[Class::Security, Class::Cpu, Class::Os],
    about: "hashes, ciphers and random numbers of the kernel: AF_ALG of Documentation/crypto/userspace-if.rst",
    operation: "a text hashed, or encrypted and decrypted, or a block of random bytes",
    verifies: "SHA-256 is what software computes, decrypting leads back, and no random block comes twice",
    options: &[METHOD, BYTES],
    needs: &[Need::Module("algif_hash"), Need::Module("algif_skcipher"), Need::Module("algif_rng")],
    body,
    ..Stressor::PLAIN
};

/// `SOL_ALG`, and what is set or sent with it: <linux/if_alg.h>.
const LEVEL: libc::c_int = 279;
const SET_KEY: libc::c_int = 1;
const SET_IV: libc::c_int = 2;
const SET_OPERATION: libc::c_int = 3;
const DECRYPT: u32 = 0;
const ENCRYPT: u32 = 1;

/// An algorithm, and a socket that accepts work for it.
struct Algorithm(OwnedFd);

impl Algorithm {
    /// The algorithm called `name` of a kind; nothing if this kernel has no such.
    fn new(kind: &CStr, name: &CStr) -> Checked<Option<Self>> {
        // SAFETY: makes a new descriptor.
        let number = unsafe { libc::socket(libc::AF_ALG, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) };
        if number == -1 {
            return match last_error() {
                Errno::AFNOSUPPORT | Errno::PERM | Errno::ACCESS => Ok(None),
                error => Err(error.into()),
            };
        }
        // SAFETY: made just now.
        let socket = unsafe { OwnedFd::from_raw_fd(number) };
        // SAFETY: all zeroes is a valid address.
        let mut address: libc::sockaddr_alg = unsafe { std::mem::zeroed() };
        address.salg_family = libc::AF_ALG as u16;
        address.salg_type.iter_mut().zip(kind.to_bytes()).for_each(|(to, from)| *to = *from);
        address.salg_name.iter_mut().zip(name.to_bytes()).for_each(|(to, from)| *to = *from);
        let size = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or(0);
        // SAFETY: the address is valid and has the given size.
        match succeeded(unsafe { libc::bind(number, (&raw const address).cast(), size) }) {
            Err(Errno::NOENT | Errno::INVAL) => Ok(None),
            bound => Ok(Some(bound.map(|()| Self(socket))?)),
        }
    }

    fn set_key(&self, key: &[u8]) -> Result<(), Errno> {
        let size = libc::socklen_t::try_from(key.len()).unwrap_or(0);
        // SAFETY: a key with its size.
        succeeded(unsafe { libc::setsockopt(self.0.as_raw_fd(), LEVEL, SET_KEY, key.as_ptr().cast(), size) })
    }

    /// A socket for one piece of work.
    fn accept(&self) -> Result<OwnedFd, Errno> {
        // SAFETY: the address of the peer is not asked for.
        let number = unsafe { libc::accept(self.0.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut()) };
        // SAFETY: made just now.
        succeeded(number).map(|()| unsafe { OwnedFd::from_raw_fd(number) })
    }
}

/// A kind of algorithm and the work that it does.
type Work = fn(&Algorithm, &mut Random, usize) -> Checked;

const METHODS: &[(&str, (&CStr, &CStr, Work))] = &[
    ("hash", (c"hash", c"sha256", hash)),
    ("cipher", (c"skcipher", c"cbc(aes)", cipher)),
    ("rng", (c"rng", c"stdrng", random_numbers)),
];

fn body(worker: &Worker) -> Checked {
    let mut usable = Vec::new();
    for (_, (kind, name, work)) in worker.methods(&METHOD, METHODS) {
        if let Some(algorithm) = Algorithm::new(kind, name)? {
            usable.push((algorithm, work));
        }
    }
    if usable.is_empty() {
        return skip("this kernel has no AF_ALG, or none of the algorithms");
    }
    let (mut next, mut random) = (usable.iter().cycle(), worker.random());
    // Whole blocks of AES.
    let size = worker.size(&BYTES) / 16 * 16;
    worker.repeat(|| next.next().map_or(Ok(()), |(algorithm, work)| work(algorithm, &mut random, size)))
}

fn hash(algorithm: &Algorithm, random: &mut Random, size: usize) -> Checked {
    let text = content::of(size, random.next_u64(), 0);
    let work = algorithm.accept()?;
    equal("bytes sent", write(&work, &text)?, size)?;
    let mut result = [0; 32];
    equal("bytes of the digest", read(&work, &mut result)?, 32)?;
    equal("the digest", result, digest::sha256(&text))
}

/// A control message and its data, as cmsg(3) says.
fn control(kind: libc::c_int, data: &[u8]) -> Vec<u8> {
    let mut bytes = (16 + data.len()).to_ne_bytes().to_vec();
    bytes.extend(LEVEL.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// Sends a text with an operation and an initial value, and gives what comes back.
fn transform(work: &OwnedFd, operation: u32, text: &[u8]) -> Checked<Vec<u8>> {
    let iv = [&16_u32.to_ne_bytes()[..], &[9; 16]].concat();
    let mut controls = control(SET_OPERATION, &operation.to_ne_bytes());
    controls.extend(control(SET_IV, &iv));
    let mut part = libc::iovec { iov_base: text.as_ptr().cast_mut().cast(), iov_len: text.len() };
    // SAFETY: all zeroes is a valid message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) = (controls.as_mut_ptr().cast(), controls.len());
    // SAFETY: all parts of the message outlive the call.
    let sent = unsafe { libc::sendmsg(work.as_raw_fd(), &raw const message, 0) };
    if sent == -1 {
        return Err(last_error().into());
    }
    equal("bytes sent", sent.unsigned_abs(), text.len())?;
    let mut result = vec![0; text.len()];
    equal("bytes that come back", read(work, &mut result[..])?, text.len())?;
    Ok(result)
}

fn cipher(algorithm: &Algorithm, random: &mut Random, size: usize) -> Checked {
    let (mut key, text) = ([0; 32], content::of(size, random.next_u64(), 0));
    random.fill(&mut key);
    algorithm.set_key(&key)?;
    let work = algorithm.accept()?;
    let encrypted = transform(&work, ENCRYPT, &text)?;
    holds("it is encrypted", encrypted != text)?;
    holds("decrypting leads back", transform(&work, DECRYPT, &encrypted)? == text)
}

fn random_numbers(algorithm: &Algorithm, random: &mut Random, _: usize) -> Checked {
    // Most generators want no seed; those that do take this one.
    let _ = algorithm.set_key(&random.next_u64().to_ne_bytes());
    let work = algorithm.accept()?;
    let block = || {
        let mut bytes = [0; 64];
        equal("bytes of a block", read(&work, &mut bytes)?, 64).map(|()| bytes)
    };
    holds("no block comes twice", block()? != block()?)
}
