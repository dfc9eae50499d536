//! Reports on a writing platform that speaks WriteFreely's HTTP API: <https://developers.write.as/docs/api/>.
//!
//! A post is a draft until it is moved to a blog, and what was posted once is updated. What cannot be sent waits in a queue of [`outbox`].
//!
//! * [`address`]: where a post goes
//! * [`Post`]: what is sent
//! * [`Posts`]: the queue, and what is known of earlier posts; `known` keeps it
//! * `client`: one call; `answer`: what came back; `delivery`: which calls a post takes

pub mod address;
mod answer;
mod client;
mod delivery;
pub mod error;
mod known;
mod post;
mod posts;

pub use address::Address;
pub use error::Error;
pub use known::Known;
pub use post::Post;
pub use posts::Posts;
