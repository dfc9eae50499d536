//! Points that one process of a case reaches and others wait for.
//!
//! A checkpoint counts how often it was reached, so that a process that comes to wait later still sees it. The count is
//! a word that futex(2) can wait on.

use std::sync::atomic::{AtomicU32, Ordering};

/// How many checkpoints a case can have.
pub const CHECKPOINTS: usize = 29;

/// The checkpoints of a page. All zeroes are none.
#[repr(C)]
#[derive(Debug)]
pub struct Checkpoints([Checkpoint; CHECKPOINTS]);

#[repr(C)]
#[derive(Debug)]
struct Checkpoint {
    /// The hash of its name; 0 while it has none.
    name: AtomicU32,
    reached: AtomicU32,
}

impl Checkpoints {
    /// How often the checkpoint of this name was reached; nothing if there are [`CHECKPOINTS`] of other names. Whoever
    /// asks first makes it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&AtomicU32> {
        let hash = hash(name);
        let has_it = |checkpoint: &&Checkpoint| {
            let taken = checkpoint.name.compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire);
            taken.is_ok() || taken == Err(hash)
        };
        self.0.iter().find(has_it).map(|checkpoint| &checkpoint.reached)
    }
}

/// FNV-1a, and 1 for 0, which says that there is no name.
fn hash(name: &str) -> u32 {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoints() -> Checkpoints {
        Checkpoints(std::array::from_fn(|_| Checkpoint {
            name: AtomicU32::new(0),
            reached: AtomicU32::new(0),
        }))
    }

    #[test]
    fn a_name_has_one_count() {
        let all = checkpoints();
        for name in ["open", "locked", "", "open"] {
            all.named(name).expect("there is room").fetch_add(1, Ordering::Relaxed);
        }
        let count = |name| all.named(name).map(|reached| reached.load(Ordering::Relaxed));
        assert_eq!([count("open"), count("locked"), count(""), count("new")], [2, 1, 1, 0].map(Some));
    }

    #[test]
    fn there_is_room_for_so_many_names() {
        let all = checkpoints();
        let names: Vec<String> = (0..=CHECKPOINTS).map(|number| number.to_string()).collect();
        assert!(names[..CHECKPOINTS].iter().all(|name| all.named(name).is_some()));
        assert!(all.named(&names[CHECKPOINTS]).is_none());
        assert!(all.named("0").is_some(), "those that are there stay");
    }

    #[test]
    fn threads_that_make_it_at_once_share_it() {
        let all = checkpoints();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for number in 0..20 {
                        let reached = all.named(&number.to_string()).expect("there is room");
                        reached.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let total: u32 = all.0.iter().map(|checkpoint| checkpoint.reached.load(Ordering::Relaxed)).sum();
        let made = all.0.iter().filter(|checkpoint| checkpoint.name.load(Ordering::Relaxed) != 0).count();
        assert_eq!((total, made), (160, 20));
    }
}
