//! What was found out about this host, for the next kiln: trying it again takes time.

use std::path::PathBuf;

/// The answer under this name, if it was found out under the same conditions.
pub(crate) fn recall(name: &str, conditions: &str) -> Option<String> {
    let text = std::fs::read_to_string(file(name)).ok()?;
    let answer = text.strip_prefix(conditions)?.strip_prefix('\n')?;
    Some(answer.trim().to_string())
}

/// Keeps an answer for as long as the conditions are the same.
pub(crate) fn keep(name: &str, conditions: &str, answer: &str) {
    write(name, format!("{conditions}\n{answer}\n").as_bytes());
}

/// Writes a file of this name. If it cannot be written, it is only found out or said once more.
pub(crate) fn write(name: &str, content: &[u8]) {
    let file = file(name);
    let _ = file.parent().map(std::fs::create_dir_all);
    let _ = host::write_atomically(&file, content);
}

pub(crate) fn file(name: &str) -> PathBuf {
    host::cache_folder().join(name)
}
