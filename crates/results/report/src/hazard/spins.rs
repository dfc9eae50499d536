//! CPUs that wait in a loop.

use introspect::Task;
use machine::Look;
use machine::hazards::Spin;
use protocol::hazard::Site;
use serde::Serialize;

use super::groups::{Group, groups};
use super::{functions, indented};
use crate::figures::count;
use crate::safe::safe_line;

/// A loop in which CPUs waited for too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Waited {
    /// The case, or the program.
    pub case: String,
    /// How often, if the machine lived to tell.
    pub waited: Option<Site>,
    /// What was seen when the machine was stopped there: the first time, and now and then.
    pub stops: Vec<Spin>,
}

impl Waited {
    pub(super) fn site(&self) -> Option<u32> {
        self.stops.first().map(|hazard| hazard.site)
    }

    pub(super) fn text(&self, number: usize) -> String {
        let Some(first) = self.stops.first() else { return String::new() };
        let times = self.waited.as_ref().map(times).unwrap_or_default();
        let head = format!("{number}. {} in {}{times}\n", place(first), safe_line(&self.case));
        let code = first.code.iter().map(|line| indented(3, line));
        let groups = groups(&self.stops, is_alike).into_iter();
        let groups = groups.map(|group| stops(&group, self.stops.len()));
        head + &code.chain(groups).collect::<String>()
    }
}

/// Stops of a loop with the same calls for the same thing, of so many.
fn stops(group: &Group<'_, Spin>, of: usize) -> String {
    let (hazard, stops) = (group.first, group.all.len());
    let (waiting, others): (Vec<_>, Vec<_>) =
        hazard.tasks.iter().partition(|task| task.on_cpu == Some(hazard.cpu));
    let who = waiting.first().map_or_else(|| format!("CPU {}", hazard.cpu), |task| task.head());
    let share = if of == 1 { String::new() } else { format!("{stops} of {of} stops: ") };
    let held = waiting.iter().flat_map(|task| task.held());
    let lines: [Vec<String>; 5] = [
        hazard.looks_at.iter().map(|it| indented(5, &look(it))).collect(),
        held.map(|lock| indented(7, &lock)).collect(),
        hazard.calls.iter().map(|call| indented(7, &call.line())).collect(),
        others.iter().flat_map(|task| other(task)).collect(),
        hazard.missing.iter().map(|why| indented(5, &format!("not known: {why}"))).collect(),
    ];
    indented(3, &format!("{share}{who} waits")) + &lines.concat().concat()
}

/// A task that does not wait, with what it holds and where it is.
fn other(task: &Task) -> Vec<String> {
    let lines = task.lines().into_iter().enumerate();
    lines.map(|(number, line)| indented(if number == 0 { 5 } else { 7 }, &line)).collect()
}

/// Whether the same calls waited for the same thing.
fn is_alike(one: &Spin, other: &Spin) -> bool {
    one.looks_at == other.looks_at && functions(&one.calls) == functions(&other.calls)
}

/// The function, or the address in a program.
pub(super) fn place(hazard: &Spin) -> String {
    match &hazard.function {
        Some(function) => safe_line(function),
        None => format!("a program at {:#x}", hazard.address),
    }
}

fn times(site: &Site) -> String {
    let times = if site.times == 1 { "once".to_owned() } else { format!("{} times", count(site.times)) };
    format!(": {times}, {} passes, at most {}", count(site.passes), count(site.longest))
}

fn look(look: &Look) -> String {
    let name = look.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("looks at {:#x}{name}", look.address)
}
