//! `hash`, `cipher`: functions that mix bytes, against their published test vectors.

use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::kit::{content, digest};
use crate::stressor::{Class, Setting, Stressor, choice};

const METHOD: Setting = choice(
    "method",
    "the function",
    &["all", "adler32", "djb2", "fnv1a", "jenkins", "murmur3", "sdbm", "sha256"],
);

pub(super) const HASH: Stressor = Stressor {
    name: "hash",
    classes: &[Class::Cpu],
    about: "hash functions over 4096 bytes",
    operation: "one function over 4096 bytes, whole and with one bit changed",
    verifies: "the known value of nine digits, and another value after the change",
    options: &[METHOD],
    body: hash,
    ..Stressor::PLAIN
};

pub(super) const CIPHER: Stressor = Stressor {
    name: "cipher",
    classes: &[Class::Cpu],
    about: "the stream cipher ChaCha20 over 4096 bytes",
    operation: "4096 bytes encrypted and decrypted",
    verifies: "the first block of RFC 8439, and that decrypting leads back",
    body: cipher,
    ..Stressor::PLAIN
};

/// A function, and its value of `123456789`.
type Function = (fn(&[u8]) -> u64, u64);

const FUNCTIONS: &[(&str, Function)] = &[
    ("adler32", (adler32, 0x091e_01de)),
    ("djb2", (djb2, 0x35cd_bb82)),
    ("fnv1a", (fnv1a, 0x06d5_5739_23c6_cdfc)),
    ("jenkins", (jenkins, 0xc66b_58c5)),
    ("murmur3", (murmur3, 0xb4fe_f382)),
    ("sdbm", (sdbm, 0x68a0_7035)),
    ("sha256", (|bytes| u64::from_be_bytes(first(&digest::sha256(bytes))), 0x15e2_b0d3_c338_91eb)),
];

fn first(bytes: &[u8; 32]) -> [u8; 8] {
    std::array::from_fn(|at| bytes[at])
}

fn adler32(bytes: &[u8]) -> u64 {
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u64::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}

fn djb2(bytes: &[u8]) -> u64 {
    bytes.iter().fold(5381_u32, |hash, &byte| hash.wrapping_mul(33).wrapping_add(byte.into())).into()
}

fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// One at a time.
fn jenkins(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0_u32, |hash, &byte| {
        let hash = hash.wrapping_add(byte.into());
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    let hash = hash.wrapping_add(hash << 3);
    let hash = hash ^ (hash >> 11);
    hash.wrapping_add(hash << 15).into()
}

/// The 32-bit variant with seed 0.
fn murmur3(bytes: &[u8]) -> u64 {
    let scramble = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (words, rest) = bytes.as_chunks::<4>();
    let hash = words.iter().fold(0_u32, |hash, &word| {
        let hash = hash ^ scramble(u32::from_le_bytes(word));
        hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let tail = rest.iter().rev().fold(0, |tail, &byte| tail << 8 | u32::from(byte));
    let hash = hash ^ scramble(tail) ^ bytes.len() as u32;
    let hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)).into()
}

fn sdbm(bytes: &[u8]) -> u64 {
    let step = |hash: u32, &byte: &u8| {
        u32::from(byte).wrapping_add(hash << 6).wrapping_add(hash << 16).wrapping_sub(hash)
    };
    bytes.iter().fold(0, step).into()
}

fn hash(worker: &Worker) -> Checked {
    let mut bytes = content::of(4096, worker.random().next_u64(), 0);
    let functions = worker.methods(&METHOD, FUNCTIONS);
    let (mut next, mut random) = (functions.iter().cycle(), worker.random());
    worker.repeat(|| {
        let Some((name, (function, known))) = next.next() else { return Ok(()) };
        equal(&format!("{name} of the digits"), function(black_box(b"123456789")), *known)?;
        let before = function(&bytes);
        bytes[random.below(4096)] ^= 1;
        holds("a changed bit changes the hash", function(black_box(&bytes)) != before)
    })
}

fn cipher(worker: &Worker) -> Checked {
    /// The first words of the key stream in section 2.3.2 of RFC 8439.
    const BLOCK: [u32; 4] = [0xe4e7_f110, 0x1559_3bd1, 0x1fdd_0f50, 0xc471_20a3];
    let known: [u8; 32] = std::array::from_fn(|at| at as u8);
    let block = chacha20_block(&known, 1, &[0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0]);
    equal("the block of the RFC", [block[0], block[1], block[2], block[3]], BLOCK)?;
    let (mut random, nonce, mut key) = (worker.random(), [7; 12], [0; 32]);
    let plain = content::of(4096, random.next_u64(), 0);
    worker.repeat(|| {
        random.fill(&mut key);
        let mut bytes = plain.clone();
        apply(&key, &nonce, &mut bytes);
        holds("it is encrypted", bytes != plain)?;
        apply(&key, &nonce, &mut bytes);
        holds("decrypting leads back", bytes == plain)
    })
}

fn apply(key: &[u8; 32], nonce: &[u8; 12], bytes: &mut [u8]) {
    for (chunk, counter) in bytes.chunks_mut(64).zip(1..) {
        let stream = chacha20_block(key, counter, nonce).into_iter().flat_map(u32::to_le_bytes);
        chunk.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
    }
}

/// RFC 8439, section 2.3.
fn chacha20_block(key: &[u8; 32], counter: u32, nonce: &[u8; 12]) -> [u32; 16] {
    const ROUND: [[usize; 4]; 8] = [
        [0, 4, 8, 12],
        [1, 5, 9, 13],
        [2, 6, 10, 14],
        [3, 7, 11, 15],
        [0, 5, 10, 15],
        [1, 6, 11, 12],
        [2, 7, 8, 13],
        [3, 4, 9, 14],
    ];
    let mut start =
        [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, counter, 0, 0, 0];
    let (keys, nonces) = (key.as_chunks::<4>().0, nonce.as_chunks::<4>().0);
    start[4..12].iter_mut().zip(keys).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
    start[13..].iter_mut().zip(nonces).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
    let mut state = start;
    for _ in 0..10 {
        for [a, b, c, d] in ROUND {
            for (x, y, z, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                state[x] = state[x].wrapping_add(state[y]);
                state[z] = (state[z] ^ state[x]).rotate_left(turn);
            }
        }
    }
    std::array::from_fn(|at| state[at].wrapping_add(start[at]))
}
