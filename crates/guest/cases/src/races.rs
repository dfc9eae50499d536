//! The races of the instrument `race`, as cases.

use std::sync::LazyLock;
use std::time::Duration;

use race::races::{self, Known};

use crate::case::{Body, Case};

/// Beside the time in which it races, for what it prepares and cleans up.
const GRACE: Duration = Duration::from_secs(20);

/// All of them.
pub(super) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| races::all().map(case).collect());

fn case(race: &'static Known) -> Case {
    Case { needs: race.needs, limit: race.time + GRACE, ..Case::of(race.name, race.about, Body::Race(race)) }
}
