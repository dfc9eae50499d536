//! From requests to pages; `started`: those that start and stop something.

mod started;

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{Path as Named, Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use ledger::LedgerError;
use report::html::{Page, SCRIPT};
use thiserror::Error;
use tokio::sync::watch;
use tokio_stream::{Stream, StreamExt, wrappers::WatchStream};

use crate::access::{Access, TOKEN};
use crate::clients::Client;
use crate::coding::Coding;
use crate::connections;
use crate::frame::{framed, style};
use crate::jobs::Jobs;
use crate::kept::{self, Kind};
use crate::live::watch_folders;
use crate::pages::{self, Asked, Failure};
use crate::recent::Recent;
use crate::store::{Folders, Store};

/// Nothing of a page may be fetched from elsewhere, and no script or style may be in it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What browsers show beside the title of a page.
const ICON: &str = include_str!("assets/icon.svg");

/// What an address says that nothing stands for.
const NO_PAGE: &str = "there is no such page";

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
    folders: Arc<Folders>,
    /// Whether browsers may have something started.
    has_jobs: bool,
    store: Arc<Mutex<Store>>,
    recent: Arc<Mutex<Recent>>,
    access: Access,
    changes: watch::Receiver<u64>,
}

/// What is served.
#[derive(Debug)]
pub struct Service {
    /// Of what pages are made.
    pub folders: Folders,
    /// Who may ask.
    pub access: Access,
    /// The kiln that browsers may have started, if they may.
    pub program: Option<PathBuf>,
}

/// Answers requests until `stop` is set.
///
/// # Errors
///
/// When the ledger cannot be read, or the host refuses.
pub fn serve(listener: TcpListener, service: Service, stop: &Arc<AtomicBool>) -> Result<(), Error> {
    let Service { folders, access, program } = service;
    let jobs = program.map(|program| Jobs::new(program, Arc::clone(stop))).transpose()?;
    let (jobs, keeper) = jobs.unzip();
    let changes =
        watch_folders(&folders, jobs.as_ref().map(Jobs::changes).unwrap_or_default(), Arc::clone(stop))?;
    let folders = Arc::new(folders);
    let store = Arc::new(Mutex::new(Store::open(Arc::clone(&folders))?));
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let has_jobs = jobs.is_some();
    let started = jobs.map_or_else(Router::new, |jobs| started::router(&jobs, &folders.sessions));
    let router =
        router(Shared { folders, has_jobs, store, recent: Arc::default(), access, changes }, started);
    let served = runtime.block_on(connections::serve(listener, router, Arc::clone(stop)));
    runtime.shutdown_timeout(connections::END);
    // With it all that was started ends.
    stop.store(true, Ordering::Relaxed);
    keeper.map(std::thread::JoinHandle::join);
    Ok(served?)
}

/// All pages, `started` among them.
fn router(shared: Shared, started: Router<Shared>) -> Router {
    let pages = Router::new()
        .route("/", get(|shared, query| page(shared, query, pages::overview)))
        .route("/runs", get(|shared, query| page(shared, query, pages::runs)))
        .route("/matrix", get(|shared, query| page(shared, query, pages::matrix)))
        .route("/kernel", get(|shared, query| page(shared, query, pages::kernel)))
        .route("/case", get(|shared, query| page(shared, query, pages::case)))
        .route("/experiment", get(|shared, query| page(shared, query, pages::experiment)))
        .route("/problems", get(|shared, query| page(shared, query, pages::problems)))
        .route("/problem/{id}", get(problem))
        .route("/conclusions", get(|shared, query| page(shared, query, pages::conclusions)))
        .route("/host", get(|shared, query| page(shared, query, pages::host)))
        .route("/session/{name}", get(session))
        .route("/session/{name}/{*case}", get(run))
        .layer(from_fn_with_state(shared.clone(), remember));
    pages
        .route("/runs.csv", get(runs_csv))
        .route("/{kind}/{name}", get(kept))
        .layer(from_fn(in_turn))
        .merge(started)
        .route("/live", get(live))
        .route("/style.css", get(|| asset("text/css", style())))
        .route("/icon.svg", get(|| asset("image/svg+xml", ICON.to_owned())))
        .route("/page.js", get(|| asset("text/javascript", SCRIPT.to_owned())))
        .route("/live.js", get(|| asset("text/javascript", include_str!("assets/live.js").to_owned())))
        .fallback(|State(shared): State<Shared>| async move {
            shared.failed(&Failure::Unknown(NO_PAGE.to_owned()))
        })
        .layer(from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Answers who may ask, and says what browsers may do with the answer.
async fn guard(State(shared): State<Shared>, uri: Uri, request: Request, next: Next) -> Response {
    let in_address = token_in(&uri);
    let kept = in_address.filter(|_| shared.access.has_token());
    let mut response = match shared.access.check(request.method(), request.headers(), in_address) {
        Err(refusal) => (refusal.status(), refusal.text()).into_response(),
        // The token does not stay in the address, where somebody may look over a shoulder.
        Ok(()) => match kept.and_then(|token| entered(&uri, token)) {
            Some(response) => response,
            None => next.run(request).await,
        },
    };
    for (name, value) in HEADERS {
        // A page that was kept has a policy of its own.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Makes a page when it is the client's turn.
async fn in_turn(Extension(client): Extension<Arc<Client>>, request: Request, next: Next) -> Response {
    match client.turn().await {
        Ok(_turn) => next.run(request).await,
        Err(told) => told,
    }
}

/// Answers with the same page as just now, as long as there is no news.
async fn remember(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let coding = Coding::accepted(request.headers());
    let address = format!("{} {}", coding.name(), request.uri());
    let news = *shared.changes.borrow();
    let known = recent(&shared).get(&address, news);
    if let Some(page) = known {
        return coding.answer(page);
    }
    let (head, body) = next.run(request).await.into_parts();
    // A page is in memory already.
    let page = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if head.status != StatusCode::OK {
        return Response::from_parts(head, Body::from(page));
    }
    let page = coding.encode(page);
    recent(&shared).put(&address, news, page.clone());
    coding.answer(page)
}

fn recent(shared: &Shared) -> std::sync::MutexGuard<'_, Recent> {
    shared.recent.lock().unwrap_or_else(PoisonError::into_inner)
}

fn token_in(uri: &Uri) -> Option<&str> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == TOKEN).map(|(_, value)| value)
}

/// To the same page, with the token in a cookie.
fn entered(uri: &Uri, token: &str) -> Option<Response> {
    let cookie = format!("{TOKEN}={token}; Path=/; HttpOnly; SameSite=Strict");
    // Behind two slashes browsers look for the name of a host, and they take a backslash for one.
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let headers =
        [(LOCATION, HeaderValue::from_str(&path).ok()?), (SET_COOKIE, HeaderValue::from_str(&cookie).ok()?)];
    Some((StatusCode::SEE_OTHER, headers).into_response())
}

impl Shared {
    /// Has the ledger asked where that may take its time.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (store, changes) = (Arc::clone(&self.store), self.changes.clone());
        aside(move || {
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            store.notice(*changes.borrow());
            work(&mut store)
        })
        .await
    }

    /// Answers with a page that the ledger is asked for.
    async fn page(
        &self,
        make: impl FnOnce(&mut Store) -> Result<Page, Failure> + Send + 'static,
    ) -> Response {
        self.answer(self.ask(make).await)
    }

    fn answer(&self, page: Result<Page, Failure>) -> Response {
        page.map_or_else(
            |failure| self.failed(&failure),
            |page| Html(framed(&page, self.has_jobs)).into_response(),
        )
    }

    fn failed(&self, failure: &Failure) -> Response {
        let status = match failure {
            Failure::Unknown(_) => StatusCode::NOT_FOUND,
            Failure::Wrong(_) => StatusCode::BAD_REQUEST,
            Failure::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Html(framed(&pages::failure(failure), self.has_jobs))).into_response()
    }
}

/// Has work done where it may take its time.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Failure::Broken("the request ended in a defect of kiln".to_owned())))
}

async fn page(
    State(shared): State<Shared>,
    Query(asked): Query<Asked>,
    make: fn(&mut Store, &Asked) -> Result<Page, Failure>,
) -> Response {
    shared.page(move |store| make(store, &asked)).await
}

async fn session(State(shared): State<Shared>, Named(name): Named<String>) -> Response {
    shared.page(move |store| pages::session(store, &name)).await
}

async fn run(State(shared): State<Shared>, Named((name, case)): Named<(String, String)>) -> Response {
    shared.page(move |store| pages::run(store, &name, &case)).await
}

async fn problem(State(shared): State<Shared>, Named(id): Named<String>) -> Response {
    shared.page(move |store| pages::problem(store, &id)).await
}

/// A bisection as it goes, or the page that a comparison, a bisection or a check has in its folder. The ledger knows nothing of them:
/// others may ask it meanwhile.
async fn kept(State(shared): State<Shared>, Named((kind, name)): Named<(String, String)>) -> Response {
    let of = shared.clone();
    let made = aside(move || {
        let kind = Kind::named(&kind).ok_or_else(|| Failure::Unknown(NO_PAGE.to_owned()))?;
        let unknown = || Failure::Unknown(format!("there is no {} {name:?} with a page", kind.name()));
        let kept = kept::named(kind, of.folders.of(kind), &name).ok_or_else(unknown)?;
        if let Some(page) = pages::bisection(&kept) {
            return Ok(of.answer(Ok(page)));
        }
        let page = kept.page().ok_or_else(unknown)?;
        Ok(([(CONTENT_SECURITY_POLICY, kept::POLICY.as_str())], Html(page)).into_response())
    });
    made.await.unwrap_or_else(|failure| shared.failed(&failure))
}

async fn runs_csv(State(shared): State<Shared>, Query(asked): Query<Asked>) -> Response {
    match shared.ask(move |store| pages::runs_csv(store, &asked)).await {
        Ok(text) => ([(CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response(),
        Err(failure) => shared.failed(&failure),
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

#[cfg(test)]
mod tests;
