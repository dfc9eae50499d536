//! What is there already when a recording begins: all threads, by proc(5).

use std::fs;
use std::path::Path;

use protocol::trace::Task;

/// Threads that are passed on at most.
const TASKS_MAX: usize = 100_000;

/// All threads. One that ends meanwhile may be missing.
pub(crate) fn all() -> impl Iterator<Item = Task> {
    numbers(Path::new("/proc"))
        .flat_map(|process| {
            let folder = Path::new("/proc").join(process.to_string()).join("task");
            numbers(&folder).filter_map(move |thread| {
                let stat = fs::read_to_string(folder.join(thread.to_string()).join("stat")).ok()?;
                task(process, &stat)
            })
        })
        .take(TASKS_MAX)
}

/// The entries of a directory that are numbers.
fn numbers(directory: &Path) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A thread by its line in `stat`: the name may have any character in it.
fn task(process: u32, stat: &str) -> Option<Task> {
    let (thread, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let parent = rest.split(' ').nth(1)?.parse().ok()?;
    Some(Task { thread: thread.parse().ok()?, process, parent, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_any_character() {
        let found = task(7, "8 (a) (b) S 1 7 7 0 -1").expect("a line");
        assert_eq!(found, Task { thread: 8, process: 7, parent: 1, name: "a) (b".to_owned() });
        assert_eq!(task(7, "8 (a"), None);
        assert_eq!(task(7, ""), None);
    }

    #[test]
    fn this_thread_is_among_them() {
        let own = std::process::id();
        assert!(all().any(|task| task.process == own));
    }
}
