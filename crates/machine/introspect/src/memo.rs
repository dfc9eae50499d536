//! What was looked for before: a kernel whose lists are long must not have them passed for each of its tasks.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What was found under names, or not found.
#[derive(Debug)]
pub(crate) struct Memo<T>(Mutex<HashMap<String, Option<T>>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Copy> Memo<T> {
    /// What has this name, which `find` finds the first time.
    pub(crate) fn get(&self, name: String, find: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&name) {
            return *found;
        }
        let found = find(&name);
        known.insert(name, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_looked_for_once() {
        let (memo, mut looks) = (Memo::default(), 0);
        for (name, found) in [("a", Some(1)), ("b", None), ("a", Some(1)), ("b", None)] {
            let find = |_: &str| {
                looks += 1;
                found
            };
            assert_eq!(memo.get(name.to_owned(), find), found);
        }
        assert_eq!(looks, 2);
    }
}
