//! What `kiln hazard` prints.

use introspect::{Call, Task};
use machine::{Conditions, Hazard, Look};
use protocol::hazard::Site;
use serde::Serialize;

use crate::figures::count;
use crate::safe::safe_line;
use crate::words::counted;

/// The hazards of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Hazards {
    /// What is one.
    pub when: Conditions,
    /// In the order in which they were found.
    pub loops: Vec<Waited>,
}

/// A loop in which CPUs waited for too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Waited {
    /// The case, or the program.
    pub case: String,
    /// How often, if the machine lived to tell.
    pub waited: Option<Site>,
    /// What was seen when the machine was stopped there: the first time, and now and then.
    pub stops: Vec<Hazard>,
}

/// Stops of a loop with the same calls for the same thing.
struct Group<'a> {
    first: &'a Hazard,
    stops: usize,
}

impl Hazards {
    /// None so far.
    #[must_use]
    pub fn new(when: Conditions) -> Self {
        Self { when, loops: Vec::new() }
    }

    /// A machine was stopped while this case ran.
    pub fn add(&mut self, case: &str, hazard: Hazard) {
        let is_same = |found: &&mut Waited| found.case == case && found.site() == Some(hazard.site);
        match self.loops.iter_mut().find(is_same) {
            Some(found) => found.stops.push(hazard),
            None => {
                self.loops.push(Waited { case: case.to_owned(), waited: None, stops: vec![hazard] });
            }
        }
    }

    /// How often CPUs waited while this case ran.
    pub fn count(&mut self, case: &str, sites: &[Site]) {
        for found in self.loops.iter_mut().filter(|found| found.case == case && found.waited.is_none()) {
            found.waited = sites.iter().find(|site| Some(site.site) == found.site()).copied();
        }
    }

    /// What is known so far, in a line.
    #[must_use]
    pub fn progress(&self) -> String {
        let last = self.loops.last().and_then(|found| found.stops.last());
        let last = last.map(|hazard| format!(", the last in {}", place(hazard)));
        format!("{}{}", counted(self.loops.len(), "loop"), last.unwrap_or_default())
    }

    /// All of them.
    #[must_use]
    pub fn text(&self) -> String {
        let passes = count(self.when.lock_spin().unwrap_or_default());
        let head = match self.loops.len() {
            0 => format!("no CPU waited for more than {passes} passes of a loop\n"),
            number => {
                format!("{} in which a CPU waited for more than {passes} passes\n", counted(number, "loop"))
            }
        };
        let loops = self.loops.iter().enumerate();
        head + &loops.map(|(index, found)| format!("\n{}", found.text(index + 1))).collect::<String>()
    }
}

impl Waited {
    fn site(&self) -> Option<u32> {
        self.stops.first().map(|hazard| hazard.site)
    }

    fn text(&self, number: usize) -> String {
        let Some(first) = self.stops.first() else { return String::new() };
        let times = self.waited.as_ref().map(times).unwrap_or_default();
        let head = format!("{number}. {} in {}{times}\n", place(first), safe_line(&self.case));
        let code = first.code.iter().map(|line| indented(3, line));
        let groups = self.groups();
        let groups = groups.iter().map(|group| group.text(self.stops.len()));
        head + &code.chain(groups).collect::<String>()
    }

    /// The most frequent first.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for stop in &self.stops {
            match groups.iter_mut().find(|group| is_alike(group.first, stop)) {
                Some(group) => group.stops += 1,
                None => groups.push(Group { first: stop, stops: 1 }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.stops));
        groups
    }
}

impl Group<'_> {
    fn text(&self, of: usize) -> String {
        let Self { first: hazard, stops } = self;
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
}

/// A task that does not wait, with what it holds and where it is.
fn other(task: &Task) -> Vec<String> {
    let lines = task.lines().into_iter().enumerate();
    lines.map(|(number, line)| indented(if number == 0 { 5 } else { 7 }, &line)).collect()
}

/// A line that begins with so many spaces.
fn indented(spaces: usize, text: &str) -> String {
    format!("{:spaces$}{}\n", "", safe_line(text))
}

/// Whether the same calls waited for the same thing.
fn is_alike(one: &Hazard, other: &Hazard) -> bool {
    let functions = |hazard: &Hazard| -> Vec<String> {
        let function = |call: &Call| call.text.split('+').next().unwrap_or_default().to_owned();
        hazard.calls.iter().map(function).collect()
    };
    one.looks_at == other.looks_at && functions(one) == functions(other)
}

/// The function, or the address in a program.
fn place(hazard: &Hazard) -> String {
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

#[cfg(test)]
mod tests {
    use introspect::Registers;
    use machine::Condition;
    use machine::hazards::InProgram;

    use super::*;

    fn none_so_far(passes: u64) -> Hazards {
        Hazards::new(Conditions(vec![Condition::LockSpin(passes)]))
    }

    fn call(text: &str) -> Call {
        Call { text: text.to_owned(), is_guess: false }
    }

    fn task(pid: u32, on_cpu: u32, calls: &[&str]) -> Task {
        Task {
            pid,
            tgid: 88,
            name: "load\u{1b}[31m".to_owned(),
            state: 'R',
            is_kernel: false,
            on_cpu: Some(on_cpu),
            calls: calls.iter().copied().map(call).collect(),
            locks: Vec::new(),
        }
    }

    /// A stop of CPU 1, which came from here.
    fn stop(site: u32, caller: &str) -> Hazard {
        Hazard {
            site,
            cpu: 1,
            address: 0xffff_ffff_8100_0000,
            function: Some("slowpath+0x1/0x9".to_owned()),
            code: vec!["ffffffff81000000: pause".to_owned()],
            looks_at: vec![Look { address: 0x10, name: Some("runqueues of CPU 0".to_owned()) }],
            calls: vec![call("slowpath+0x5/0x9"), call(caller)],
            tasks: vec![task(90, 1, &["never shown"]), task(89, 0, &["unlock+0x1/0x2"])],
            missing: None,
            program: None,
        }
    }

    #[test]
    fn stops_with_the_same_calls_for_the_same_thing_are_shown_once() {
        let mut hazards = none_so_far(1000);
        for caller in ["close+0x1/0x9", "dup+0x1/0x9", "dup+0x2/0x9"] {
            let mut stop = stop(0, caller);
            if caller.starts_with("close") {
                stop.tasks[0].locks.push("tasklist_lock (0x20)".to_owned());
                stop.tasks[1].locks.push("&rq->lock (0x10)".to_owned());
            }
            hazards.add("load", stop);
        }
        let in_program = Hazard {
            address: 0x40_1000,
            function: None,
            looks_at: Vec::new(),
            calls: vec![call("main at load.c:7")],
            tasks: Vec::new(),
            missing: Some("the kernel has no types".to_owned()),
            program: Some(InProgram { registers: Registers::default(), code: Vec::new(), stack: Vec::new() }),
            ..stop(1, "")
        };
        hazards.add("load", in_program);
        hazards.count("load", &[Site { site: 0, times: 1234, passes: 5_000_000, longest: 70_000 }]);
        hazards.count("other", &[Site { site: 1, ..Site::default() }]);
        assert_eq!(hazards.progress(), "2 loops, the last in a program at 0x401000");
        let expected = "\
2 loops in which a CPU waited for more than 1,000 passes

1. slowpath+0x1/0x9 in load: 1,234 times, 5,000,000 passes, at most 70,000
   ffffffff81000000: pause
   2 of 3 stops: load (90 of 88) R on CPU 1 waits
     looks at 0x10 (runqueues of CPU 0)
       slowpath+0x5/0x9
       dup+0x1/0x9
     load (89 of 88) R on CPU 0
       unlock+0x1/0x2
   1 of 3 stops: load (90 of 88) R on CPU 1 waits
     looks at 0x10 (runqueues of CPU 0)
       holds tasklist_lock (0x20)
       slowpath+0x5/0x9
       close+0x1/0x9
     load (89 of 88) R on CPU 0
       holds &rq->lock (0x10)
       unlock+0x1/0x2

2. a program at 0x401000 in load
   ffffffff81000000: pause
   CPU 1 waits
       main at load.c:7
     not known: the kernel has no types
";
        assert_eq!(hazards.text(), expected);
        let json = serde_json::to_value(&hazards).expect("plain data");
        assert_eq!(json["loops"][0]["waited"]["times"], 1234);
        assert_eq!(json["loops"][1]["stops"][0]["program"], serde_json::Value::Null);
    }

    #[test]
    fn no_hazard_is_a_line() {
        assert_eq!(none_so_far(20).text(), "no CPU waited for more than 20 passes of a loop\n");
    }
}
