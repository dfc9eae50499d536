//! A line of Kernels, one for each change.

use std::time::Duration;

use bisect::{Axis, BisectRequest, Candidate, Conclusion, Error, Kind, Point, Question, Subject};
use kbuild::Recipe;
use kernel::{Arch, Locator};

use crate::fake::{Does, World, asks, culprits, request};

/// Images `/kernels/0`, `/kernels/1` ...: each has one change more.
pub(crate) struct Images(Vec<Candidate>);

impl Images {
    pub(crate) fn with(changes: usize) -> Self {
        let named = |number| Candidate { name: format!("change {number}"), ..Candidate::default() };
        Self((1..=changes).map(named).collect())
    }
}

impl Axis for Images {
    fn kind(&self) -> Kind {
        Kind::Commits
    }

    fn candidates(&self) -> &[Candidate] {
        &self.0
    }

    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error> {
        let number = match point {
            Point::First => 0,
            Point::After(number) => number + 1,
            Point::Last => self.0.len(),
            Point::Without(_) | Point::With(_) => return Ok(None),
        };
        let name = format!("/kernels/{number}");
        let recipe = Recipe {
            configurations: Vec::new(),
            arch: Arch::X86_64,
            allow_unmet: false,
            variables: Vec::new(),
        };
        let locator = Locator::Path(name.clone().into());
        Ok(Some(Subject { name, locator, recipe, configuration: None, parameters: String::new() }))
    }

    fn usual_effort(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn identity(&self) -> String {
        self.0.len().to_string()
    }
}

fn asked() -> BisectRequest {
    asks(request("", ""))
}

/// Whether an image has a change.
fn has(image: &str, change: usize) -> bool {
    image.parse::<usize>().unwrap() >= change
}

#[test]
fn the_change_is_found_among_many_in_few_steps() {
    let world = World::new(|image, _| if has(image, 41) { Does::Fails("sum: is 2") } else { Does::Passes });
    let bisection = world.along(&asked(), Images::with(64)).unwrap();
    assert_eq!(culprits(&bisection), ["change 41"]);
    assert!(bisection.steps.taken <= 9, "{:?}", bisection.steps);
}

#[test]
fn a_failure_that_shows_now_and_then_is_found_with_its_rate() {
    let world =
        World::new(|image, _| if has(image, 3) { Does::FailsEach(3, "sum: is 2") } else { Does::Passes });
    let bisection = world.along(&asked(), Images::with(8)).unwrap();
    assert_eq!(culprits(&bisection), ["change 3"]);
    assert!((0.2..0.5).contains(&bisection.rate.mean), "{:?}", bisection.rate);
}

#[test]
fn kernels_that_do_not_boot_leave_suspects() {
    let world = World::new(|image, _| match image.parse::<usize>().unwrap() {
        0..=2 => Does::Passes,
        3..=4 => Does::Panics,
        _ => Does::Fails("sum: is 2"),
    });
    let bisection = world.along(&asked(), Images::with(7)).unwrap();
    let Conclusion::Suspects { candidates, .. } = &bisection.conclusion else { panic!("{bisection:?}") };
    let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
    assert_eq!(names, ["change 3", "change 4", "change 5"]);
    let untestable = bisection.states.iter().filter_map(|state| state.untestable.as_deref());
    for why in untestable {
        assert!(why.starts_with("it does not boot: "), "{why}");
    }
}

#[test]
fn what_fixed_it_is_found_too() {
    let world = World::new(|image, _| if has(image, 5) { Does::Passes } else { Does::Panics });
    let mut asked = asks(BisectRequest { question: Question::Boot, ..asked() });
    asked.search.fixed = true;
    let bisection = world.along(&asked, Images::with(9)).unwrap();
    assert!(bisection.fixed);
    assert_eq!(culprits(&bisection), ["change 5"]);
}
