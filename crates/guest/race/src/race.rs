//! What a race is, and how its author writes it.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
//! use race::{Judgement, Race};
//!
//! let count = AtomicU32::new(0);
//! let increment = || count.store(count.load(Relaxed) + 1, Relaxed);
//! let race = Race::between(increment, increment)
//!     .setup_a(|| Ok(count.store(0, Relaxed)))
//!     .judge(|(), ()| Ok(if count.load(Relaxed) == 2 { Judgement::Miss } else { Judgement::Hit }));
//! ```

use std::fmt;

use harness::check::Checked;

/// What a round came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The sections collided: the defect showed itself.
    Hit,
    /// They did not.
    Miss,
    /// They did not, since B came too early: the next one shall be held back more.
    Early,
    /// They did not, since B came too late: the next one shall be held back less.
    Late,
    /// The round shows nothing, not even how long the sections take.
    Useless,
}

pub(crate) type Setup<'a> = dyn FnMut() -> Checked + 'a;
pub(crate) type Judge<'a, A, B> = dyn FnMut(&A, &B) -> Checked<Judgement> + 'a;

/// Two sections that are executed at the same time, by two threads of one process.
///
/// A is executed by the thread that runs the race, B by another one. On a kernel without the defect both must return.
/// What they share must be safe to share: atomics, descriptors, memory of the kernel.
pub struct Race<'a, A = (), B = ()> {
    pub(crate) setup_a: Option<Box<Setup<'a>>>,
    pub(crate) a: Box<dyn FnMut() -> A + 'a>,
    pub(crate) setup_b: Option<Box<dyn FnMut() -> Checked + Send + 'a>>,
    pub(crate) b: Box<dyn FnMut() -> B + Send + 'a>,
    pub(crate) judge: Option<Box<Judge<'a, A, B>>>,
}

impl<'a, A, B: Send> Race<'a, A, B> {
    /// A race of the two sections. What they return goes to the judgement.
    pub fn between(a: impl FnMut() -> A + 'a, b: impl FnMut() -> B + Send + 'a) -> Self {
        Self { setup_a: None, a: Box::new(a), setup_b: None, b: Box::new(b), judge: None }
    }

    /// What thread A does before each round.
    #[must_use]
    pub fn setup_a(self, setup: impl FnMut() -> Checked + 'a) -> Self {
        Self { setup_a: Some(Box::new(setup)), ..self }
    }

    /// What thread B does before each round, once thread A has done its own set-up.
    #[must_use]
    pub fn setup_b(self, setup: impl FnMut() -> Checked + Send + 'a) -> Self {
        Self { setup_b: Some(Box::new(setup)), ..self }
    }

    /// What a round came to, by what both sections returned; thread A looks at it while thread B waits. Without it, a
    /// round is a miss, and only the kernel itself can show the defect.
    #[must_use]
    pub fn judge(self, judge: impl FnMut(&A, &B) -> Checked<Judgement> + 'a) -> Self {
        Self { judge: Some(Box::new(judge)), ..self }
    }

    /// Each round needs a set-up.
    pub(crate) fn has_setup(&self) -> bool {
        self.setup_a.is_some() || self.setup_b.is_some()
    }
}

impl<A, B> fmt::Debug for Race<'_, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Race").finish_non_exhaustive()
    }
}
