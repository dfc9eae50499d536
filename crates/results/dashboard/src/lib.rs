//! What the ledger knows, as pages that a browser is served or a site has.
//!
//! * [`server`]: from requests to pages; [`access`]: whose requests are answered
//! * [`connections`]: how many are served at a time; [`clients`]: how many of one address
//! * [`live`]: what browsers learn meanwhile; [`recent`]: pages that were made just now; [`coding`]: how they are sent
//! * [`store`]: what is asked of the ledger; [`running`]: how far sessions are; [`measured`]: which kernels were measured;
//!   [`kept`]: what has its page in a folder
//! * [`pages`]: the pages; [`frame`]: what is around each; [`address`]: where they are; [`site`]: the same as files
//!
//! * [`jobs`]: what browsers had started
//!
//! Nothing is changed by a request, unless the user allows runs, and no path of one reaches the file system.

mod access;
mod address;
mod clients;
mod coding;
mod connections;
#[cfg(test)]
mod fixture;
mod frame;
mod jobs;
mod kept;
mod live;
mod measured;
mod pages;
mod recent;
mod running;
mod server;
mod site;
mod store;

pub use access::Access;
pub use server::{Error, Service, serve};
pub use site::{Published, SiteError, publish, publish_branch};
pub use store::Folders;
