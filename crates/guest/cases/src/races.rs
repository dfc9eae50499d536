//! The races of the instrument `race`, as cases.

use std::sync::LazyLock;

use race::races::{self, Known};

use crate::case::{Body, Case};

/// All of them.
pub(super) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| races::all().map(case).collect());

fn case(race: &'static Known) -> Case {
    Case { needs: race.needs, limit: race.limit(), ..Case::of(race.name, race.about, Body::Race(race)) }
}
