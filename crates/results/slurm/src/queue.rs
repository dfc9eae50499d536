//! What squeue(1) says of jobs, which is taken for hostile: what is no line of a job is left out.

/// Fields of a line: name, job with its place in the array, state, nodes, why it waits.
pub(crate) const FORMAT: &str = "%j|%i|%T|%N|%r";

/// Most jobs that are looked at.
const JOBS_MAX: usize = 100_000;

/// Longest name of a node, and longest reason.
const WORD_MAX: usize = 255;

/// One job of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    /// The name of its submission.
    pub(crate) name: String,
    /// Its place in the array.
    pub(crate) index: u32,
    pub(crate) state: State,
    /// The node that has or had it; empty if none has.
    pub(crate) node: String,
    /// Why it waits; empty if it does not.
    pub(crate) reason: String,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It has not begun, or begins once more.
    Waiting,
    /// It is at work.
    Running,
    /// It came to its end by itself.
    Ended,
    /// Somebody cancelled it.
    Cancelled,
    /// Something else ended it, in Slurm's words: its node, its time limit, a job that takes precedence.
    Lost(&'static str),
}

/// What ends a job that can be run again.
const LOST: [&str; 7] =
    ["BOOT_FAIL", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"];

impl State {
    /// A state that kiln does not know is one of a job that goes on.
    fn of(word: &str) -> Self {
        match word {
            "COMPLETED" | "FAILED" => Self::Ended,
            "CANCELLED" => Self::Cancelled,
            "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" => Self::Running,
            _ => LOST.into_iter().find(|lost| *lost == word).map_or(Self::Waiting, Self::Lost),
        }
    }

    /// Whether an answer may still come.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }
}

/// The jobs of arrays.
pub(crate) fn jobs(output: &str) -> Vec<Job> {
    output.lines().take(JOBS_MAX).filter_map(job).collect()
}

fn job(line: &str) -> Option<Job> {
    let mut fields = line.split('|').map(str::trim);
    let (name, id, state, node) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let (_, index) = id.split_once('_')?;
    let reason = fields.next().filter(|reason| *reason != "None").unwrap_or_default();
    let (name, index, state) = (name.to_owned(), index.parse().ok()?, State::of(state));
    Some(Job { name, index, state, node: word(node), reason: word(reason) })
}

/// The word as it is; nothing where it is none, such as (null), or could be taken for an option.
fn word(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_word = text.len() <= WORD_MAX && !text.starts_with('-') && text.chars().all(is_part);
    if is_word { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_of_squeue_become_jobs() {
        let output = "kiln-1|5_0|COMPLETED|n1|None\nkiln-1|5_1|PENDING||Resources\nkiln-1|5_2|RUNNING|n-2.lab\n\
                      kiln-1|5_[3-7]|PENDING|\ncat|7|COMPLETED|n2\nslurm_load_jobs error\n\
                      kiln-1|5_8|NEW_STATE|(null)\nkiln-1|5_9|NODE_FAIL|--x\nkiln-1|5_10|CANCELLED|n1\n";
        assert_eq!([&jobs(output)[0].reason, &jobs(output)[1].reason], ["", "Resources"]);
        let found: Vec<_> = jobs(output).into_iter().map(|job| (job.index, job.state, job.node)).collect();
        let expected = [
            (0, State::Ended, "n1"),
            (1, State::Waiting, ""),
            (2, State::Running, "n-2.lab"),
            (8, State::Waiting, ""),
            (9, State::Lost("NODE_FAIL"), ""),
            (10, State::Cancelled, "n1"),
        ];
        let expected = expected.map(|(index, state, node)| (index, state, node.to_owned()));
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn any_output_is_read(output in "([ -~|_0-9]{0,40}\n){0,20}", noise in any::<String>()) {
            let found = jobs(&(output + &noise));
            prop_assert!(found.iter().all(|job| !job.node.starts_with('-') && !job.node.contains(' ')));
        }

        #[test]
        fn what_is_listed_is_found(index in any::<u32>(), word in "[A-Z_]{1,20}", node in "[a-z0-9]{1,20}") {
            let found = jobs(&format!("kiln-1|17_{index}|{word}|{node}\n"));
            let state = State::of(&word);
            prop_assert_eq!(found, [Job { name: "kiln-1".to_owned(), index, state, node, reason: String::new() }]);
        }
    }
}
