//! Rows of a view: a trace may make up as many names and numbers as it likes.

use std::collections::BTreeMap;

/// Rows at most.
pub(crate) const ROWS_MAX: usize = 100_000;

/// The row of a key, a new one if there is none; nothing if there are too many.
pub(crate) fn row<K: Ord, V: Default>(rows: &mut BTreeMap<K, V>, key: K) -> Option<&mut V> {
    let has_room = rows.len() < ROWS_MAX || rows.contains_key(&key);
    has_room.then(|| rows.entry(key).or_default())
}
