//! How many are served at a time, and for how long: a client that is slow or greedy hurts nobody else.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::clients::{Admission, Clients, too_many_connections};

/// Connections at a time; others wait in the kernel.
pub(crate) const CONNECTIONS_MAX: usize = 512;

/// How long a client may take for the head of a request, also of the next one on the same connection.
const HEAD: Duration = Duration::from_secs(30);

/// How long what was sent may remain unread.
const UNREAD_MILLISECONDS: u32 = 30_000;

/// How long open connections may go on when the user wants to stop.
pub(crate) const END: Duration = Duration::from_secs(2);

/// How soon that is noticed.
const INTERVAL: Duration = Duration::from_millis(100);

/// Serves until `stop` is set.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: Arc<AtomicBool>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let graceful = Arc::new(GracefulShutdown::new());
    let accepting = tokio::spawn(accept(listener, router, Arc::clone(&graceful)));
    until(stop).await;
    accepting.abort();
    let _ = accepting.await;
    if let Some(graceful) = Arc::into_inner(graceful) {
        // A client that reads slowly is not waited for.
        let _ = tokio::time::timeout(END, graceful.shutdown()).await;
    }
    Ok(())
}

/// Takes connections as long as nobody aborts it.
async fn accept(listener: tokio::net::TcpListener, router: Router, graceful: Arc<GracefulShutdown>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let clients: Arc<Clients> = Arc::default();
    let telling = Router::new().fallback(too_many_connections);
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        // A client that is gone already, or no more descriptors: the next one may be luckier.
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(INTERVAL).await;
            continue;
        };
        let (connected, router) = match clients.admit(address.ip()) {
            Admission::Served(connected) => {
                let client = Arc::clone(&connected.client);
                (connected, router.clone().layer(Extension(client)))
            }
            Admission::Told(connected) => (connected, telling.clone()),
            Admission::Closed => continue,
        };
        let connection = graceful.watch(connection(stream, router));
        tokio::spawn(async move {
            // What a client breaks is its own loss.
            let _ = connection.await;
            drop((connected, place));
        });
    }
}

fn connection(
    stream: TcpStream,
    router: Router,
) -> http1::Connection<TokioIo<TcpStream>, TowerToHyperService<Router>> {
    // An old kernel that lacks it only waits for longer.
    let _ = set_tcp_user_timeout(&stream, UNREAD_MILLISECONDS);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}

async fn until(stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(INTERVAL).await;
    }
}
