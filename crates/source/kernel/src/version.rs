//! The order of kernel versions, of labels as people write them and of Debian's packages; what version texts say.

pub(crate) mod debian;
mod label;
pub mod text;

pub use label::compare;
