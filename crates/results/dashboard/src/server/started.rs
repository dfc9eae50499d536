//! Requests that start and stop calls of kiln.

use axum::Router;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::{Shared, answer, failed};
use crate::jobs::{Jobs, RUNNING_MAX, Refused};
use crate::pages::{self, Failure, Wanted};

/// Where they are listed.
pub(super) const LIST: &str = "/jobs";

/// Which call is meant.
#[derive(Deserialize)]
struct Which {
    id: u64,
}

/// The pages of these calls.
pub(super) fn router(jobs: &Jobs) -> Router<Shared> {
    let (listed, started, stopped) = (jobs.clone(), jobs.clone(), jobs.clone());
    Router::new()
        .route(LIST, get(|| async move { answer(Ok(pages::jobs(&listed.all()))) }))
        .route("/jobs/start", post(|shared, form| start(shared, form, started)))
        .route("/jobs/stop", post(|form| stop(form, stopped)))
}

async fn start(State(shared): State<Shared>, Form(wanted): Form<Wanted>, jobs: Jobs) -> Response {
    let started = tokio::task::spawn_blocking(move || {
        let mut words = wanted.words()?;
        // A bisection is kept elsewhere.
        if words[0] != "bisect" {
            words.extend(["--results".to_owned(), shared.root.display().to_string()]);
        }
        jobs.start(words).map_err(refused)
    });
    match started.await.unwrap_or_else(|_| Err(Failure::Broken("nothing was started".to_owned()))) {
        Ok(()) => Redirect::to(LIST).into_response(),
        Err(failure) => failed(&failure),
    }
}

async fn stop(Form(Which { id }): Form<Which>, jobs: Jobs) -> Response {
    jobs.stop(id);
    Redirect::to(LIST).into_response()
}

fn refused(refused: Refused) -> Failure {
    match refused {
        Refused::Busy => Failure::Wrong(format!("{RUNNING_MAX} calls run: stop one, or wait")),
        Refused::Host(error) => Failure::Broken(format!("kiln: {error}")),
    }
}
