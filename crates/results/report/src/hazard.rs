//! What `kiln hazard` prints.
//!
//! * [`Waited`]: a loop in which CPUs waited; [`Slept`]: a task that slept for a lock; [`Written`]: a write to what is watched; [`mod@groups`]: what is alike

mod groups;
mod spins;
mod waits;
mod writes;

use std::time::Duration;

use introspect::Call;
use judge::Run;
use lab::Event;
use lab::event::Session;
use ledger::Past;
use machine::{Conditions, Hazard};
use protocol::hazard::Site;
use serde::Serialize;

use groups::groups;
pub use spins::Waited;
pub use waits::Slept;
pub use writes::Written;

use crate::figures::count;
use crate::safe::safe_line;
use crate::times::nanoseconds;
use crate::words::counted;

/// The hazards of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Hazards {
    /// What is one.
    pub when: Conditions,
    /// Loops in which CPUs waited, in the order in which they were found.
    pub loops: Vec<Waited>,
    /// Tasks that slept for locks, in that order.
    pub sleeps: Vec<Slept>,
    /// Writes to what is watched, in that order.
    pub writes: Vec<Written>,
}

impl Hazards {
    /// None so far.
    #[must_use]
    pub fn new(when: Conditions) -> Self {
        Self { when, loops: Vec::new(), sleeps: Vec::new(), writes: Vec::new() }
    }

    /// Those of a Run that was kept, or of all Runs of its session, if they were looked for in its machines.
    #[must_use]
    pub fn kept(past: &Past, session: &Session, run: Option<&Run>) -> Option<Self> {
        let when = session.request.as_ref()?.machine().hazards.clone();
        let mut hazards = Some(when).filter(|when| !when.is_empty()).map(Self::new)?;
        let is_of =
            |case: &str, clone: u32| run.is_none_or(|run| (case, clone) == (run.case.as_str(), run.clone));
        // Without them there is nothing to show.
        for event in past.events().ok()? {
            match event {
                Event::Hazard { case, clone, hazard } if is_of(&case, clone) => hazards.add(&case, *hazard),
                Event::Waited { case, clone, sites } if is_of(&case, clone) => hazards.count(&case, &sites),
                _ => {}
            }
        }
        Some(hazards)
    }

    /// A machine was stopped while this case ran.
    pub fn add(&mut self, case: &str, hazard: Hazard) {
        match hazard {
            Hazard::LockSpin(spin) => {
                let is_same = |found: &&mut Waited| found.case == case && found.site() == Some(spin.site);
                match self.loops.iter_mut().find(is_same) {
                    Some(found) => found.stops.push(spin),
                    None => {
                        self.loops.push(Waited { case: case.to_owned(), waited: None, stops: vec![spin] });
                    }
                }
            }
            Hazard::LockWait(wait) => self.sleeps.push(Slept { case: case.to_owned(), wait }),
            Hazard::Write(write) => self.writes.push(Written { case: case.to_owned(), write }),
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
        let spin = self.loops.last().and_then(|found| found.stops.last());
        let spins = spin
            .map(|spin| format!("{}, the last in {}", counted(self.loops.len(), "loop"), spins::place(spin)));
        let slept = self.sleeps.last();
        let sleeps = slept.map(|last| {
            format!("{}, the last for {}", counted(self.sleeps.len(), "sleep"), waits::lock(&last.wait))
        });
        let written = self.writes.last().map(|last| {
            format!(
                "{}, the last to {}",
                counted(self.writes.len(), "write"),
                safe_line(&last.write.variable)
            )
        });
        [spins, sleeps, written].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// All of them.
    #[must_use]
    pub fn text(&self) -> String {
        let spins = self.when.lock_spin().map(|passes| self.text_of_loops(passes));
        let waits = self.when.lock_wait().map(|time| self.text_of_sleeps(time));
        let writes = (!self.when.writes().is_empty()).then(|| self.text_of_writes());
        [spins, waits, writes].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    fn text_of_loops(&self, passes: u64) -> String {
        let passes = count(passes);
        let head = match self.loops.len() {
            0 => format!("no CPU waited for more than {passes} passes of a loop\n"),
            number => {
                format!("{} in which a CPU waited for more than {passes} passes\n", counted(number, "loop"))
            }
        };
        let loops = self.loops.iter().enumerate();
        head + &loops.map(|(index, found)| format!("\n{}", found.text(index + 1))).collect::<String>()
    }

    fn text_of_sleeps(&self, bound: Duration) -> String {
        let bound = nanoseconds(u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX));
        let head = match self.sleeps.len() {
            0 => format!("no task slept for a lock for more than {bound}\n"),
            number => format!("{} of a task for a lock, of more than {bound}\n", counted(number, "sleep")),
        };
        let groups = groups(&self.sleeps, waits::is_alike).into_iter().enumerate();
        head + &groups
            .map(|(index, group)| format!("\n{}", waits::text(&group, index + 1)))
            .collect::<String>()
    }

    fn text_of_writes(&self) -> String {
        let watched: Vec<String> = self.when.writes().into_iter().map(ToString::to_string).collect();
        let watched = watched.join(", ");
        let head = match self.writes.len() {
            0 => format!("nothing was written to {watched}\n"),
            number => format!("{} to {watched}\n", counted(number, "write")),
        };
        let groups = groups(&self.writes, writes::is_alike).into_iter().enumerate();
        let groups = groups.map(|(index, group)| format!("\n{}", writes::text(&group, index + 1)));
        head + &groups.collect::<String>() + &writes::end(&self.writes)
    }
}

/// The names of the functions that were called.
fn functions(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|call| call.text.split('+').next().unwrap_or_default()).collect()
}

/// A line that begins with so many spaces.
fn indented(spaces: usize, text: &str) -> String {
    format!("{:spaces$}{}\n", "", safe_line(text))
}

#[cfg(test)]
mod tests {
    use introspect::{Lock, Registers, Task};
    use machine::hazards::{InProgram, Spin, Variable, Wait, Write};
    use machine::{Condition, Look};

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
    fn stop(site: u32, caller: &str) -> Spin {
        Spin {
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
            hazards.add("load", Hazard::LockSpin(stop));
        }
        let in_program = Spin {
            address: 0x40_1000,
            function: None,
            looks_at: Vec::new(),
            calls: vec![call("main at load.c:7")],
            tasks: Vec::new(),
            missing: Some("the kernel has no types".to_owned()),
            program: Some(InProgram { registers: Registers::default(), code: Vec::new(), stack: Vec::new() }),
            ..stop(1, "")
        };
        hazards.add("load", Hazard::LockSpin(in_program));
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

    /// A task that slept so long for a mutex, or for one who reads.
    fn wait(milliseconds: u64, owner: Option<u32>, is_read: bool) -> Hazard {
        let asleep = |pid, caller: &str| Task {
            state: 'D',
            on_cpu: None,
            ..task(pid, 0, &["schedule+0x1/0x2", caller])
        };
        Hazard::LockWait(Wait {
            task: asleep(90, if is_read { "down_read+0x1/0x2" } else { "mutex_lock+0x1/0x2" }),
            slept_ns: milliseconds * 1_000_000,
            lock: Lock {
                kind: if is_read { "rw_semaphore" } else { "mutex" }.to_owned(),
                address: owner.map(|_| 0x10),
                waiters: owner.map(|_| 2),
                owner: owner.map(u64::from),
                is_read,
            },
            name: owner.map(|_| "an object of \u{1b}filp".to_owned()),
            owner: owner.map(|pid| asleep(pid, "msleep+0x1/0x2")),
        })
    }

    #[test]
    fn sleeps_for_the_same_lock_are_shown_once() {
        let mut hazards = Hazards::new(Conditions(vec![Condition::LockWait(Duration::from_millis(100))]));
        assert_eq!(hazards.text(), "no task slept for a lock for more than 100.0 ms\n");
        for (milliseconds, owner, is_read) in
            [(110, Some(89), true), (120, Some(89), false), (340, Some(89), false), (150, None, false)]
        {
            hazards.add("load", wait(milliseconds, owner, is_read));
        }
        assert_eq!(hazards.progress(), "4 sleeps, the last for mutex");
        insta::assert_snapshot!("hazards-sleeps", hazards.text());
        let json = serde_json::to_value(&hazards).expect("plain data");
        assert_eq!(json["sleeps"][1]["lock"]["kind"], "mutex");
        assert_eq!(
            (&json["sleeps"][1]["case"], &json["sleeps"][1]["owner"]["pid"]),
            (&"load".into(), &89.into())
        );
        assert_eq!(json["when"], serde_json::json!(["lock-wait>100ms"]));
    }

    #[test]
    fn sleeps_are_shown_by_a_stop_at_which_the_lock_had_an_owner() {
        let mut hazards = Hazards::new(Conditions(vec![Condition::LockWait(Duration::from_millis(100))]));
        let Hazard::LockWait(known) = wait(110, Some(89), false) else { panic!("a sleep") };
        // One has released the lock, and the next has not got it yet.
        let between = Wait { owner: None, ..known.clone() };
        for wait in [between, known] {
            hazards.add("load", Hazard::LockWait(wait));
        }
        let text = hazards.text();
        assert!(text.contains(": 2 sleeps,") && text.contains("load (89 of 88) D has it\n"), "{text}");
    }

    #[test]
    fn writes_with_the_same_calls_are_shown_once() {
        let variable = Variable { symbol: "total_forks".to_owned(), offset: 0 };
        let mut hazards = Hazards::new(Conditions(vec![Condition::Write(variable)]));
        assert_eq!(hazards.text(), "nothing was written to total_forks\n");
        for (number, caller) in
            [(1, "copy_process+0x1/0x9"), (2, "\u{1b}other+0x1/0x9"), (3, "copy_process+0x1/0x9")]
        {
            hazards.add(
                "load",
                Hazard::Write(Write {
                    variable: "total_forks".to_owned(),
                    address: 0x10,
                    before: (number > 1).then_some(number),
                    after: Some(number + 1),
                    cpu: 1,
                    calls: vec![call(caller), call("kernel_clone+0x1/0x9")],
                    task: (number != 2).then(|| task(90, 1, &[])),
                    is_last: number == 3,
                }),
            );
        }
        assert_eq!(hazards.progress(), "3 writes, the last to total_forks");
        insta::assert_snapshot!("hazards-writes", hazards.text());
        let json = serde_json::to_value(&hazards).expect("plain data");
        assert_eq!((&json["writes"][2]["after"], &json["writes"][2]["case"]), (&4.into(), &"load".into()));
    }
}
