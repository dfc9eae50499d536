//! What is switched on.

use std::fs;
use std::io;

use harness::tracefs::Instance;
use protocol::trace::{Choice, Entry};

/// Longest text of a format that is passed on, in bytes.
const FORMAT_MAX: u64 = 64 << 10;

/// What is switched on, in each system by name.
#[derive(Debug, Default)]
pub(crate) struct Enabled {
    /// [`Entry::Format`] and [`Entry::Missing`].
    pub(crate) entries: Vec<Entry>,
    /// How many are.
    pub(crate) count: usize,
}

/// The event of what programs write to `trace_marker`, which is always on.
pub(crate) fn marks(instance: &Instance) -> Option<Entry> {
    let text = read(instance, "events/ftrace/print/format").ok()?;
    Some(Entry::Format { system: "ftrace".to_owned(), text })
}

/// Switches the chosen events on.
pub(crate) fn enable(instance: &Instance, choices: &[Choice]) -> Enabled {
    let mut enabled = Enabled::default();
    for choice in choices {
        let events = events(instance, choice);
        if events.is_empty() {
            let (event, why) = (choice.to_string(), "the kernel has no such event".to_owned());
            enabled.entries.push(Entry::Missing { event, why });
        }
        for event in events {
            match enable_one(instance, choice, &event) {
                Ok(text) => {
                    enabled.count += 1;
                    enabled.entries.push(Entry::Format { system: choice.system.clone(), text });
                }
                Err(why) => {
                    let event = format!("{}:{event}", choice.system);
                    enabled.entries.push(Entry::Missing { event, why });
                }
            }
        }
    }
    enabled
}

/// The events of a choice that the kernel has.
fn events(instance: &Instance, choice: &Choice) -> Vec<String> {
    if let Some(event) = &choice.event {
        let is_there = instance.has(&format!("events/{}/{event}/format", choice.system));
        return is_there.then(|| event.clone()).into_iter().collect();
    }
    let entries = fs::read_dir(instance.path(&format!("events/{}", choice.system)));
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| instance.has(&format!("events/{}/{name}/format", choice.system)))
        .collect();
    names.sort_unstable();
    names
}

/// Switches one on, and gives its format.
fn enable_one(instance: &Instance, choice: &Choice, event: &str) -> Result<String, String> {
    let folder = format!("events/{}/{event}", choice.system);
    let text = read(instance, &format!("{folder}/format"))?;
    if let Some(filter) = &choice.filter {
        let wrong = |_| format!("the kernel does not take the filter {filter:?}");
        instance.write(&format!("{folder}/filter"), filter).map_err(wrong)?;
    }
    instance.write(&format!("{folder}/enable"), "1")?;
    Ok(text)
}

/// Switches the instance off when an event happens, which is recorded before: Documentation/trace/events.rst.
pub(crate) fn stop_at(instance: &Instance, Choice { system, event, filter }: &Choice) -> Result<(), String> {
    let event = event.as_deref().unwrap_or_default();
    let folder = format!("events/{system}/{event}");
    if !instance.has(&format!("{folder}/trigger")) {
        return Err(format!("the kernel has no such event: {system}:{event}"));
    }
    // Without a condition the recording would end in front of the event.
    let filter = filter.as_deref().unwrap_or("common_pid >= 0");
    let wrong = |_| format!("the kernel does not take the condition {filter:?}");
    instance.write(&format!("{folder}/trigger"), &format!("traceoff if {filter}")).map_err(wrong)
}

/// Reads a file of the instance.
pub(crate) fn read(instance: &Instance, file: &str) -> Result<String, String> {
    let failed = |error: &io::Error| harness::tracefs::failed(file, error);
    let opened = fs::File::open(instance.path(file)).map_err(|error| failed(&error))?;
    let mut text = vec![0; usize::try_from(FORMAT_MAX).unwrap_or(usize::MAX)];
    // Some files are given to the first read(2) alone, and seq_file(9) gives others in pieces.
    let mut length = 0;
    loop {
        match io::Read::read(&mut &opened, &mut text[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    text.truncate(length);
    Ok(String::from_utf8_lossy(&text).into_owned())
}
