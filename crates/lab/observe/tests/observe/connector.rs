//! What the kernel tells of all processes.

use std::process::Command;
use std::time::Duration;

use crate::common::compile;
use observe::{Connector, Ending, Event, Job, What, process};

#[test]
fn a_storm_is_received_or_counted_as_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connector = Connector::new().expect("root, and CONFIG_PROC_EVENTS");
    let begin = process::now();
    let mut child = Command::new(compile(&folder, "storm")).arg("3").spawn().expect("it starts");
    let first = i32::try_from(child.id()).expect("a number");
    let (mut job, mut events) = (Job::new(first, begin), Vec::<Event>::new());
    let is_end = |event: &Event| event.thread == first && matches!(event.what, What::Exit(_));
    while !events.last().is_some_and(is_end) {
        connector.wait(Duration::from_secs(1)).expect("poll");
        while let Some(event) = connector.next_event().expect("readable") {
            if job.has(event.process) && !events.last().is_some_and(is_end) {
                job.see(&event);
                events.push(event);
            }
        }
    }
    child.wait().expect("it has ended");
    // Others may be lost, too, so this is no equation; but there is room for a storm of this size.
    assert_eq!(connector.lost(), 0);
    let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event.what, What::Fork { .. })), 601);
    assert_eq!(count(|event| matches!(event.what, What::Clone { .. })), 1);
    assert_eq!(count(|event| event.what == What::Exit(Ending::Code(3))), 600);
    assert_eq!(job.lives().len(), 602);
    assert!(events.iter().all(|event| event.time >= begin));
}
