//! What an instrument looks at: a program with all its processes, a process that runs already, or all of a machine for a time.

use serde::{Deserialize, Serialize};

/// The longest time: a day.
pub const DURATION_MAX_MS: u64 = 24 * 3600 * 1000;

/// Words of a command, and bytes of each.
const WORDS_MAX: usize = 256;
const WORD_MAX: usize = 4096;

/// What is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Workload {
    /// The program and its arguments; all of this machine without one, and without a process.
    pub command: Vec<String>,
    /// A process that runs already, with all its threads and what they start from now on.
    pub process: Option<u32>,
    /// All processes of this machine, also if there is a command: it says how long.
    pub everywhere: bool,
    /// After this time the command is ended, or a process is left alone; without either it must be there: up to [`DURATION_MAX_MS`].
    pub duration_ms: Option<u64>,
}

impl Workload {
    /// Whether the instructions of it are known by a clock that goes by them. While nothing runs, that goes by the time of the host.
    #[must_use]
    pub fn may_go_by_clock(&self) -> bool {
        !self.command.is_empty() && !self.everywhere
    }

    /// What of it cannot be meant, if anything.
    #[must_use]
    pub fn wrong(&self) -> Option<String> {
        let is_long = |word: &String| word.len() > WORD_MAX || word.contains('\0');
        if self.duration_ms.is_some_and(|duration| !(1..=DURATION_MAX_MS).contains(&duration)) {
            return Some("a duration is more than nothing and at most a day".to_owned());
        }
        if self.process.is_some() && (self.everywhere || !self.command.is_empty()) {
            return Some("a process, a program or everything: name one of them".to_owned());
        }
        if self.process.is_some_and(|process| i32::try_from(process).map_or(true, |process| process < 1)) {
            return Some("no process has this number".to_owned());
        }
        match self.command.len() {
            0 if self.process.is_some() => None,
            0 if self.duration_ms.is_none() => Some("name a program, or a duration".to_owned()),
            0..=WORDS_MAX if self.command.iter().any(is_long) => {
                Some(format!("a word of the command has more than {WORD_MAX} bytes"))
            }
            0..=WORDS_MAX => None,
            words => Some(format!("{words} words of a command: at most {WORDS_MAX}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(change: impl FnOnce(&mut Workload)) -> Option<String> {
        let mut workload = Workload { command: vec!["true".to_owned()], ..Workload::default() };
        change(&mut workload);
        workload.wrong()
    }

    #[test]
    fn only_what_can_be_meant_is_taken() {
        assert_eq!(wrong(|_| {}), None);
        let refused = |change: &dyn Fn(&mut Workload)| wrong(change).expect("it is wrong");
        assert!(refused(&|it| it.duration_ms = Some(0)).contains("a day"));
        assert!(refused(&|it| it.duration_ms = Some(DURATION_MAX_MS + 1)).contains("a day"));
        assert!(refused(&|it| it.command.clear()).contains("a duration"));
        assert!(refused(&|it| it.command = vec!["x".repeat(5000)]).contains("bytes"));
        assert!(refused(&|it| it.command = vec![String::new(); 300]).contains("300 words"));
        assert_eq!(wrong(|it| it.duration_ms = Some(DURATION_MAX_MS)), None);
        let timed = |it: &mut Workload| {
            it.command.clear();
            it.duration_ms = Some(5);
        };
        assert_eq!(wrong(timed), None);
        let attached = |it: &mut Workload| {
            it.command.clear();
            it.process = Some(17);
        };
        assert_eq!(wrong(attached), None);
        let beside = |change: &dyn Fn(&mut Workload)| {
            refused(&|it| {
                attached(it);
                change(it);
            })
        };
        assert!(beside(&|it| it.command = vec!["true".to_owned()]).contains("one of them"));
        assert!(beside(&|it| it.everywhere = true).contains("one of them"));
        for number in [0, 1 << 31] {
            assert!(beside(&|it| it.process = Some(number)).contains("this number"));
        }
    }
}
