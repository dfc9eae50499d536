//! What the ledger knows, as pages that a browser is served.
//!
//! * [`server`]: from requests to pages; [`access`]: whose requests are answered; [`live`]: what browsers learn meanwhile
//! * [`store`]: what is asked of the ledger
//! * [`pages`]: the pages; [`frame`]: what is around each
//!
//! Nothing is changed by a request, and no path of one reaches the file system.

mod access;
mod frame;
mod live;
mod pages;
mod server;
mod store;

pub use access::Access;
pub use server::{Error, serve};
