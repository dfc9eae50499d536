//! Processes of a machine, as far as the host can see.

use std::collections::VecDeque;
use std::fs::{read_dir, read_to_string};

/// Most processes that are looked at. Each address space of a UML guest is one.
const PROCESSES_MAX: usize = 64;

/// A process and its descendants, parents first: proc_tid_children(5).
pub(crate) fn process_tree(root: u32) -> Vec<u32> {
    let mut waiting = VecDeque::from([root]);
    let mut found = Vec::new();
    while let Some(id) = waiting.pop_front().filter(|_| found.len() < PROCESSES_MAX) {
        waiting.extend(children(id));
        found.push(id);
    }
    found
}

/// Threads of a process.
pub(super) fn threads(id: u32) -> Vec<u32> {
    let tasks = read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

fn children(id: u32) -> Vec<u32> {
    let lists = threads(id).into_iter();
    let lists = lists.filter_map(|thread| read_to_string(format!("/proc/{id}/task/{thread}/children")).ok());
    lists.flat_map(|list| numbers(&list)).collect()
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_begins_with_its_root_and_has_the_child() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let found = process_tree(own);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found[0], own);
        assert!(found.contains(&child.id()), "{found:?}");
        assert!(threads(own).contains(&own));
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        assert_eq!(numbers("12 x 7\n"), [12, 7]);
    }
}
