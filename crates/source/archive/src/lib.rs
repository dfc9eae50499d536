//! public-inbox archives: git repositories on this host, and servers.
//!
//! A [`Folder`] is an archive that somebody has cloned, a [`Server`] is asked over HTTP with the settings that b4 has. Both give
//! the thread of a mail, and the threads that may hold other revisions of the same series.

mod cache;
mod error;
mod fetch;
mod folder;
mod link;
mod query;
mod server;
mod settings;

pub use error::Error;
pub use folder::Folder;
pub use link::Link;
pub use server::Server;
pub use settings::Settings;
