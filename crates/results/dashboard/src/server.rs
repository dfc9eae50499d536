//! From requests to pages.

use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path as Named, Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use ledger::LedgerError;
use report::html::{Page, SCRIPT, STYLE};
use thiserror::Error;
use tokio::sync::watch;
use tokio_stream::{Stream, StreamExt, wrappers::WatchStream};

use crate::access::{Access, TOKEN};
use crate::frame::framed;
use crate::live::watch_sessions;
use crate::pages::{self, Asked, Failure};
use crate::store::Store;

/// How long open connections may go on when the user wants to stop.
const END: Duration = Duration::from_secs(2);

/// How soon that is noticed.
const INTERVAL: Duration = Duration::from_millis(100);

/// Nothing of a page may be fetched from elsewhere, and no script or style may be in it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What all answers say of themselves.
const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// Why nothing is served.
#[derive(Debug, Error)]
pub enum Error {
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The host refuses.
    #[error("the server: {0}")]
    Io(#[from] std::io::Error),
}

/// What all requests share.
#[derive(Clone)]
struct Shared {
    store: Arc<Mutex<Store>>,
    access: Access,
    changes: watch::Receiver<u64>,
}

/// Answers requests about the sessions below `root` until `stop` is set.
///
/// # Errors
///
/// When the ledger cannot be read, or the host refuses.
pub fn serve(
    listener: TcpListener,
    root: &Path,
    access: Access,
    stop: &Arc<AtomicBool>,
) -> Result<(), Error> {
    let store = Arc::new(Mutex::new(Store::open(root)?));
    let changes = watch_sessions(root.to_owned(), Arc::clone(stop))?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let router = router(Shared { store, access, changes });
        let stopped = until(Arc::clone(stop));
        let server =
            tokio::spawn(async { axum::serve(listener, router).with_graceful_shutdown(stopped).await });
        until(Arc::clone(stop)).await;
        // A client that reads slowly is not waited for.
        tokio::time::timeout(END, server).await.map_or(Ok(()), |ended| ended.unwrap_or(Ok(())))
    });
    runtime.shutdown_timeout(END);
    Ok(served?)
}

async fn until(stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(INTERVAL).await;
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/", get(|shared, query| page(shared, query, pages::overview)))
        .route("/runs", get(|shared, query| page(shared, query, pages::runs)))
        .route("/runs.csv", get(runs_csv))
        .route("/problems", get(|shared, query| page(shared, query, pages::problems)))
        .route("/session/{name}", get(session))
        .route("/session/{name}/{*case}", get(run))
        .route("/live", get(live))
        .route(
            "/style.css",
            get(|| asset("text/css", format!("{STYLE}{}", include_str!("assets/dashboard.css")))),
        )
        .route("/page.js", get(|| asset("text/javascript", SCRIPT.to_owned())))
        .route("/live.js", get(|| asset("text/javascript", include_str!("assets/live.js").to_owned())))
        .fallback(|| async { failed(&Failure::Unknown("there is no such page".to_owned())) })
        .layer(from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Answers who may ask, and says what browsers may do with the answer.
async fn guard(State(shared): State<Shared>, uri: Uri, request: Request, next: Next) -> Response {
    let in_address = token_in(&uri);
    let mut response = match shared.access.check(request.headers(), in_address) {
        Err(refusal) => (refusal.status(), refusal.text()).into_response(),
        // The token does not stay in the address, where somebody may look over a shoulder.
        Ok(()) => match in_address.and_then(|token| entered(&uri, token)) {
            Some(response) => response,
            None => next.run(request).await,
        },
    };
    let headers = HEADERS.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(headers);
    response
}

fn token_in(uri: &Uri) -> Option<&str> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == TOKEN).map(|(_, value)| value)
}

/// To the same page, with the token in a cookie.
fn entered(uri: &Uri, token: &str) -> Option<Response> {
    let cookie = format!("{TOKEN}={token}; Path=/; HttpOnly; SameSite=Strict");
    let headers = [
        (LOCATION, HeaderValue::from_str(uri.path()).ok()?),
        (SET_COOKIE, HeaderValue::from_str(&cookie).ok()?),
    ];
    Some((StatusCode::SEE_OTHER, headers).into_response())
}

/// Has the ledger asked where that may take its time.
async fn ask<T: Send + 'static>(
    shared: Shared,
    work: impl FnOnce(&mut Store) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let asked = tokio::task::spawn_blocking(move || {
        work(&mut shared.store.lock().unwrap_or_else(PoisonError::into_inner))
    });
    asked.await.unwrap_or_else(|_| Err(Failure::Broken("the request ended in a defect of kiln".to_owned())))
}

async fn page(
    State(shared): State<Shared>,
    Query(asked): Query<Asked>,
    make: fn(&mut Store, &Asked) -> Result<Page, Failure>,
) -> Response {
    answer(ask(shared, move |store| make(store, &asked)).await)
}

async fn session(State(shared): State<Shared>, Named(name): Named<String>) -> Response {
    answer(ask(shared, move |store| pages::session(store, &name)).await)
}

async fn run(State(shared): State<Shared>, Named((name, case)): Named<(String, String)>) -> Response {
    answer(ask(shared, move |store| pages::run(store, &name, &case)).await)
}

async fn runs_csv(State(shared): State<Shared>, Query(asked): Query<Asked>) -> Response {
    match ask(shared, move |store| pages::runs_csv(store, &asked)).await {
        Ok(text) => ([(CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response(),
        Err(failure) => failed(&failure),
    }
}

async fn live(
    State(shared): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>> {
    let changes =
        WatchStream::new(shared.changes).map(|number| Ok(Event::default().data(number.to_string())));
    Sse::new(changes).keep_alive(KeepAlive::default())
}

async fn asset(kind: &'static str, text: String) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}

fn answer(page: Result<Page, Failure>) -> Response {
    page.map_or_else(|failure| failed(&failure), |page| Html(framed(&page)).into_response())
}

fn failed(failure: &Failure) -> Response {
    let status = match failure {
        Failure::Unknown(_) => StatusCode::NOT_FOUND,
        Failure::Wrong(_) => StatusCode::BAD_REQUEST,
        Failure::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, Html(framed(&pages::failure(failure)))).into_response()
}

#[cfg(test)]
mod tests;
