//! What bodies of stressors are made of.
//!
//! * [`helper`]: processes that end with their worker; [`exclusion`]: whether they keep each other out
//! * [`memory`]: mapped memory, as bytes and as words
//! * [`content`]: bytes that can be verified; [`mod@file`]: files that hold them; [`disk`]: files as block devices
//! * [`digest`]: the hash function SHA-256
//! * [`support`]: what this kernel or user may lack
//! * [`network`]: a network of one's own; [`clock`]: time

pub(crate) mod clock;
pub(crate) mod content;
pub(crate) mod digest;
pub(crate) mod disk;
pub(crate) mod exclusion;
pub(crate) mod file;
pub(crate) mod helper;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod support;
