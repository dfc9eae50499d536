//! This call of kiln as a shell reads it.

use lab::request::words::call;

/// This call.
pub(crate) fn this_call() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    call(&words.collect::<Vec<_>>())
}
