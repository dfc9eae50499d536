//! Requests that start and stop calls of kiln.

use std::path::Path;

use axum::Router;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::Shared;
use crate::address::JOBS;
use crate::jobs::{Jobs, RUNNING_MAX, Refused};
use crate::pages::{self, Failure, Wanted};

/// Which call is meant.
#[derive(Deserialize)]
struct Which {
    id: u64,
}

/// The pages of these calls, which keep what they run in the folder of the sessions.
pub(super) fn router(jobs: &Jobs, sessions: &Path) -> Router<Shared> {
    let (listed, started, stopped) = (jobs.clone(), jobs.clone(), jobs.clone());
    let sessions = sessions.display().to_string();
    Router::new()
        .route(
            JOBS,
            get(|State(shared): State<Shared>| async move { shared.answer(Ok(pages::jobs(&listed.all()))) }),
        )
        .route("/jobs/start", post(|shared, form| start(shared, form, started, sessions)))
        .route("/jobs/stop", post(|form| stop(form, stopped)))
}

async fn start(
    State(shared): State<Shared>,
    Form(wanted): Form<Wanted>,
    jobs: Jobs,
    sessions: String,
) -> Response {
    let started = tokio::task::spawn_blocking(move || {
        let mut words = wanted.words()?;
        // A bisection is kept elsewhere.
        if words[0] != "bisect" {
            words.extend(["--results".to_owned(), sessions]);
        }
        jobs.start(words).map_err(refused)
    });
    match started.await.unwrap_or_else(|_| Err(Failure::Broken("nothing was started".to_owned()))) {
        Ok(()) => Redirect::to(JOBS).into_response(),
        Err(failure) => shared.failed(&failure),
    }
}

async fn stop(Form(Which { id }): Form<Which>, jobs: Jobs) -> Response {
    jobs.stop(id);
    Redirect::to(JOBS).into_response()
}

fn refused(refused: Refused) -> Failure {
    match refused {
        Refused::Busy => Failure::Wrong(format!("{RUNNING_MAX} calls run: stop one, or wait")),
        Refused::Host(error) => Failure::Broken(format!("kiln: {error}")),
    }
}
