//! Which thread made which.

use std::collections::HashMap;

use serde_json::{Value, json};
use viewer::Tree;
use viewer::tree::Task;

use crate::columns::Columns;
use crate::safe::safe_line;
use crate::times::{in_seconds, nanoseconds};

/// Generations that are shown.
const DEPTH_MAX: usize = 64;

/// A line for each task that did something, and for those that they come from; `begin` is that of the trace.
#[must_use]
pub fn text(tree: &Tree, begin: u64) -> String {
    let rows: Vec<[String; 5]> =
        shown(tree).into_iter().map(|(place, depth)| row(&tree.tasks[place], depth, begin)).collect();
    let columns =
        Columns { head: ["BEGAN", "LIVED", "RUNNING", "TID", "TASK"], right: &[0, 1, 2, 3], spared: &[] };
    let widths = columns.widths(&rows, None);
    let lines = rows.iter().map(|row| columns.line(row, &widths));
    std::iter::once(columns.line(&columns.head.map(str::to_owned), &widths))
        .chain(lines)
        .map(|line| line + "\n")
        .collect()
}

fn row(task: &Task, depth: usize, begin: u64) -> [String; 5] {
    let began = task.began.map(|time| in_seconds(time.saturating_sub(begin))).unwrap_or_default();
    let lived = task.ended.zip(task.began).map(|(ended, began)| nanoseconds(ended.saturating_sub(began)));
    let mut names: Vec<String> = task.names.iter().map(|name| safe_line(name)).collect();
    names.dedup();
    let name = format!("{}{}", "  ".repeat(depth), names.join(" > "));
    [began, lived.unwrap_or_default(), nanoseconds(task.running), task.number.to_string(), name]
}

/// The places of tasks in the order of a tree, with their depths.
fn shown(tree: &Tree) -> Vec<(usize, usize)> {
    let children = tree.children();
    let matters = mattering(tree, &children);
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    let push = |waiting: &mut Vec<(usize, usize)>, parent: Option<usize>, depth: usize| {
        let below = children.get(&parent).into_iter().flatten().rev();
        waiting.extend(below.filter(|place| matters[**place]).map(|place| (*place, depth)));
    };
    push(&mut waiting, None, 0);
    let mut order = Vec::new();
    while let Some((place, depth)) = waiting.pop() {
        order.push((place, depth));
        push(&mut waiting, Some(place), (depth + 1).min(DEPTH_MAX));
    }
    order
}

/// Which tasks did something, or have descendants that did.
fn mattering(tree: &Tree, children: &HashMap<Option<usize>, Vec<usize>>) -> Vec<bool> {
    let mut order: Vec<usize> = children.get(&None).cloned().unwrap_or_default();
    let mut at = 0;
    while let Some(place) = order.get(at).copied() {
        order.extend(children.get(&Some(place)).into_iter().flatten());
        at += 1;
    }
    let mut matters: Vec<bool> =
        tree.tasks.iter().map(|task| task.events > 0 || task.began.is_some()).collect();
    // Children come behind their parents.
    for place in order.into_iter().rev() {
        matters[place] |= children.get(&Some(place)).into_iter().flatten().any(|child| matters[*child]);
    }
    matters
}

/// The same for programs: the tasks in the order of a tree.
#[must_use]
pub fn json(tree: &Tree) -> Value {
    let tasks = shown(tree).into_iter().map(|(place, depth)| {
        let task = &tree.tasks[place];
        json!({
            "tid": task.number,
            "depth": depth,
            "names": task.names,
            "began_ns": task.began,
            "ended_ns": task.ended,
            "running_ns": task.running,
            "events": task.events,
        })
    });
    tasks.collect()
}
