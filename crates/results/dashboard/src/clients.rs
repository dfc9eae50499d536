//! How much one client may have at a time: a greedy one hurts nobody else. A client is an address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Connections of one client: ten browsers behind one address, which have six each.
pub(crate) const CONNECTIONS_MAX: usize = 64;

/// Connections of this host, where many windows are, or a proxy with all its clients. The rest is for others.
pub(crate) const CONNECTIONS_OF_HOST_MAX: usize = 384;

/// Connections beyond these whose client is told why it is not served; more are closed.
const TOLD_MAX: usize = 8;

/// Pages that are made for one client at a time; its other requests wait.
const TURNS: usize = 4;

/// How long they wait.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What a client with too many connections is told.
const CONNECTIONS: &str =
    "kiln has too many connections from your address: close other windows of it, and reload this one\n";

/// What it is told whose requests wait for too long.
const REQUESTS: &str =
    "kiln is still busy with other requests from your address: wait a moment, and reload\n";

/// Bits of an address that a network of IPv6 has: whoever has one has all of its addresses.
const NETWORK: u128 = !0 << 64;

/// All clients that have connections.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// With how many connections each has.
    connected: Mutex<HashMap<IpAddr, (usize, Arc<Client>)>>,
}

/// Whose requests are answered.
#[derive(Debug)]
pub(crate) struct Client {
    turns: Semaphore,
}

/// A connection of a client.
#[derive(Debug)]
pub(crate) struct Connected {
    clients: Arc<Clients>,
    address: IpAddr,
    pub(crate) client: Arc<Client>,
}

/// What becomes of a connection.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is served.
    Served(Connected),
    /// Its client is told that it has too many.
    Told(Connected),
    /// It is closed.
    Closed,
}

impl Clients {
    /// Takes a connection from an address.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Admission {
        let address = client_of(address);
        let limit = if address.is_loopback() { CONNECTIONS_OF_HOST_MAX } else { CONNECTIONS_MAX };
        let mut connected = self.connected();
        let new = || (0, Arc::new(Client { turns: Semaphore::new(TURNS) }));
        let (count, client) = connected.entry(address).or_insert_with(new);
        if *count >= limit + TOLD_MAX {
            return Admission::Closed;
        }
        *count += 1;
        let one = Connected { clients: Arc::clone(self), address, client: Arc::clone(client) };
        if *count <= limit { Admission::Served(one) } else { Admission::Told(one) }
    }

    fn connected(&self) -> MutexGuard<'_, HashMap<IpAddr, (usize, Arc<Client>)>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut connected = self.clients.connected();
        let Some((count, _)) = connected.get_mut(&self.address) else { return };
        *count -= 1;
        if *count == 0 {
            connected.remove(&self.address);
        }
    }
}

impl Client {
    /// Waits until a page can be made for it.
    ///
    /// # Errors
    ///
    /// When that takes too long: what it is told then.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, Response> {
        self.turn_within(TIMEOUT).await
    }

    async fn turn_within(&self, timeout: Duration) -> Result<SemaphorePermit<'_>, Response> {
        let turn = tokio::time::timeout(timeout, self.turns.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| too_many(REQUESTS))
    }
}

/// What a client with too many connections is told.
pub(crate) async fn too_many_connections() -> Response {
    ([(CONNECTION, "close")], too_many(CONNECTIONS)).into_response()
}

fn too_many(text: &'static str) -> Response {
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "10")], text).into_response()
}

/// The address that stands for a client.
fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address if address.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & NETWORK).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Connections of an address that are served, up to the first that is not, and those that are told so, up to the first that is
    /// closed.
    fn fill(clients: &Arc<Clients>, from: &str) -> (Vec<Connected>, Vec<Connected>) {
        let (mut served, mut told) = (Vec::new(), Vec::new());
        loop {
            match clients.admit(address(from)) {
                Admission::Served(one) => served.push(one),
                Admission::Told(one) => told.push(one),
                Admission::Closed => return (served, told),
            }
        }
    }

    #[test]
    fn one_client_does_not_get_the_connections_of_others() {
        let clients = Arc::default();
        let (mut served, told) = fill(&clients, "192.0.2.1");
        assert_eq!((served.len(), told.len()), (CONNECTIONS_MAX, TOLD_MAX));
        assert!(matches!(clients.admit(address("192.0.2.2")), Admission::Served(_)));
        drop(told);
        assert!(matches!(clients.admit(address("192.0.2.1")), Admission::Told(_)));
        served.pop();
        assert!(matches!(clients.admit(address("192.0.2.1")), Admission::Served(_)));
        drop(served);
        assert!(clients.connected().is_empty(), "nothing is kept of who is gone");
    }

    #[test]
    fn this_host_may_have_more_and_leaves_some_to_others() {
        let clients = Arc::default();
        let (here, told) = fill(&clients, "127.0.0.1");
        assert_eq!(here.len(), CONNECTIONS_OF_HOST_MAX);
        for same in ["::1", "127.8.9.1", "::ffff:127.0.0.1"] {
            assert!(matches!(clients.admit(address(same)), Admission::Closed), "{same}");
        }
        let taken = here.len() + told.len();
        assert!(taken + CONNECTIONS_MAX + TOLD_MAX <= crate::connections::CONNECTIONS_MAX);
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let clients = Arc::default();
        let (_served, _told) = fill(&clients, "2001:db8:0:1::1");
        assert!(matches!(clients.admit(address("2001:db8:0:1:ffff::2")), Admission::Closed));
        assert!(matches!(clients.admit(address("2001:db8:0:2::1")), Admission::Served(_)));
        let (_served, _told) = fill(&clients, "::ffff:192.0.2.1");
        assert!(matches!(clients.admit(address("192.0.2.1")), Admission::Closed));
        assert!(matches!(clients.admit(address("::ffff:192.0.2.2")), Admission::Served(_)));
    }

    #[test]
    fn requests_of_one_client_wait_for_each_other() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let clients: Arc<Clients> = Arc::default();
            let admit = |from: &str| match clients.admit(address(from)) {
                Admission::Served(one) => one,
                other => panic!("{other:?}"),
            };
            let (one, other) = (admit("192.0.2.1"), admit("192.0.2.2"));
            let mut turns = Vec::new();
            for _ in 0..TURNS {
                turns.push(one.client.turn().await.expect("nobody is before it"));
            }
            let late = one.client.turn_within(Duration::ZERO).await.expect_err("others are before it");
            assert_eq!(late.status(), StatusCode::TOO_MANY_REQUESTS);
            assert!(other.client.turn_within(Duration::ZERO).await.is_ok(), "another does not wait for it");
            turns.pop();
            let second = admit("192.0.2.1");
            assert!(second.client.turn_within(Duration::ZERO).await.is_ok(), "on any of its connections");
        });
    }
}
