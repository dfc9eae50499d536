//! What the samples were.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SampleRequest;

/// Functions at most; what is rarest is left out.
pub const FUNCTIONS_MAX: usize = 8192;

/// Nodes of the tree at most; what is rarest is left out.
pub const NODES_MAX: usize = 65_536;

/// Bytes of a name at most.
pub const TEXT_MAX: usize = 256;

/// The samples so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SampleReport {
    /// What was asked.
    pub request: SampleRequest,
    /// How long, in nanoseconds.
    pub elapsed_ns: u64,
    /// The exit status of the command; none while it runs, without one, and if a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended the command.
    pub signal: Option<u8>,
    /// Samples that were taken: all of them are in the tree once it is there.
    pub samples: u64,
    /// Records that the kernel had no room for, most of them samples.
    pub lost: u64,
    /// How often the kernel took no samples for a moment, since there were too many.
    pub throttled: u64,
    /// Samples of a program whose calls end before the first of them.
    pub cut: u64,
    /// What the nodes are.
    pub functions: Vec<Function>,
    /// The tree of calls: each node after the one that it belongs to. Empty as long as the program runs.
    pub nodes: Vec<Node>,
    /// What is missing, and why.
    pub missing: Vec<String>,
}

/// A function, or what else calls are put together by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Function {
    /// Its name; the file's where it has none.
    pub name: String,
    /// The program, the library, `kernel` or the module.
    pub file: String,
    /// Whose code it is.
    pub part: Part,
    /// Its code is part of that of the function that calls it.
    pub is_inlined: bool,
}

/// Whose code a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// No code: the name of a thread, under which its calls are.
    Thread,
    /// The program's.
    User,
    /// The kernel's.
    Kernel,
    /// No code: what is left out under a node, since it is rare.
    Omitted,
}

/// A function as it was called in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Option<u32>, u32, u64)", into = "(Option<u32>, u32, u64)")]
pub struct Node {
    /// The node of its caller; none for a thread.
    pub caller: Option<u32>,
    /// Its place among the functions.
    pub function: u32,
    /// Samples in itself, without what it called.
    pub own: u64,
}

impl From<(Option<u32>, u32, u64)> for Node {
    fn from((caller, function, own): (Option<u32>, u32, u64)) -> Self {
        Self { caller, function, own }
    }
}

impl From<Node> for (Option<u32>, u32, u64) {
    fn from(Node { caller, function, own }: Node) -> Self {
        (caller, function, own)
    }
}

/// No instrument has reported this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the instrument has sent a report that cannot be: {0}")]
pub struct WrongReport(&'static str);

impl SampleReport {
    /// Whether an instrument can have reported this.
    ///
    /// # Errors
    ///
    /// What cannot be.
    pub fn validate(&self) -> Result<(), WrongReport> {
        let is_long = |text: &String| text.len() > TEXT_MAX;
        let is_later = |(at, node): (usize, &Node)| node.caller.is_some_and(|caller| caller as usize >= at);
        let own = self.nodes.iter().try_fold(0_u64, |sum, node| sum.checked_add(node.own));
        let wrong = [
            (self.request.validate().is_err(), "its request"),
            (self.functions.len() > FUNCTIONS_MAX, "so many functions"),
            (self.nodes.len() > NODES_MAX, "so many nodes"),
            (self.functions.iter().any(|one| is_long(&one.name) || is_long(&one.file)), "a long name"),
            (self.missing.iter().any(is_long), "a long sentence"),
            (self.nodes.iter().any(|node| node.function as usize >= self.functions.len()), "no function"),
            (self.nodes.iter().enumerate().any(is_later), "a node before its caller"),
            (!self.nodes.is_empty() && own != Some(self.samples), "another number of samples"),
        ];
        wrong.iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, what)| Err(WrongReport(what)))
    }

    /// The samples of each node with what it called.
    #[must_use]
    pub fn totals(&self) -> Vec<u64> {
        totals(&self.nodes)
    }
}

/// The samples of each node with what it called, in a tree in which each comes after its caller.
#[must_use]
pub fn totals(nodes: &[Node]) -> Vec<u64> {
    let mut totals: Vec<u64> = nodes.iter().map(|node| node.own).collect();
    for (at, node) in nodes.iter().enumerate().rev() {
        if let Some(caller) = node.caller {
            totals[caller as usize] = totals[caller as usize].saturating_add(totals[at]);
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;

    fn report() -> SampleReport {
        let function = |name: &str, part| Function {
            name: name.to_owned(),
            file: "load".to_owned(),
            part,
            is_inlined: false,
        };
        SampleReport {
            request: SampleRequest {
                event: "cpu-clock".parse().expect("an event"),
                period: 1_000_000,
                stack: 8192,
                workload: Workload { command: vec!["load".to_owned()], ..Workload::default() },
                instruction_ns: None,
            },
            elapsed_ns: 5,
            status: Some(0),
            signal: None,
            samples: 10,
            lost: 0,
            throttled: 0,
            cut: 0,
            functions: vec![function("load", Part::Thread), function("main", Part::User)],
            nodes: [(None, 0, 0), (Some(0), 1, 4), (Some(1), 1, 6)].map(Node::from).to_vec(),
            missing: Vec::new(),
        }
    }

    #[test]
    fn a_node_has_what_it_calls() {
        assert_eq!(report().totals(), [10, 10, 6]);
        let json = serde_json::to_string(&report()).expect("plain data");
        assert!(json.contains("\"nodes\":[[null,0,0],[0,1,4],[1,1,6]]"), "{json}");
        assert_eq!(serde_json::from_str::<SampleReport>(&json).expect("its own"), report());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(report().validate(), Ok(()));
        let refused = |change: &dyn Fn(&mut SampleReport)| {
            let mut wrong = report();
            change(&mut wrong);
            wrong.validate().expect_err("it cannot be").to_string()
        };
        assert!(refused(&|it| it.nodes[1].caller = Some(1)).contains("before its caller"));
        assert!(refused(&|it| it.nodes[1].function = 2).contains("no function"));
        assert!(refused(&|it| it.nodes[1].own = u64::MAX).contains("samples"));
        assert!(refused(&|it| it.samples = 9).contains("samples"));
        assert!(refused(&|it| it.request.period = 0).contains("request"));
        assert!(refused(&|it| it.functions[0].name = "x".repeat(300)).contains("long name"));
        assert!(refused(&|it| it.nodes = vec![it.nodes[0]; NODES_MAX + 1]).contains("so many nodes"));
        assert!(refused(&|it| it.missing = vec!["x".repeat(300)]).contains("sentence"));
    }
}
