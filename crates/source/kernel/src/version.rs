//! The order of kernel versions: of labels as people write them, and of Debian's packages.

pub(crate) mod debian;
mod label;

pub use label::compare;
