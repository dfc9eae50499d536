//! Which change made it bad: what a bisection walks, asks, and proves.
//!
//! * [`axis`]: what can be walked: packages, commits, patches of a series, kernel parameters, configuration options
//! * [`question`]: what is asked of each kernel on the way
//! * [`tester`]: whoever answers it
//! * [`event`]: what is told meanwhile
//! * [`bisection`]: what is known in the end
//! * [`procedure`]: from the ends to the proof
//! * `asking`: the question at points of the axis, with all answers so far; `track`: which candidates a search is about
//! * `ends`, `find`, `reduce`, `proof`: the parts of the procedure, in their order
//!
//! The search itself is in `verdict`: this crate feeds it with answers.

mod asking;
pub mod axis;
pub mod bisection;
mod ends;
pub mod error;
pub mod event;
mod find;
pub mod procedure;
mod proof;
pub mod question;
mod reduce;
pub mod tester;
mod track;

pub use axis::{Axis, Candidate, Changes, Kind, Point, Subject};
pub use bisection::{Bisection, Check, Conclusion, End, Evidence, StateReport, Steps};
pub use error::Error;
pub use event::{Belief, Progress, Purpose};
pub use procedure::{Kept, Parts, Settings, bisect};
pub use question::{Question, Threshold};
pub use tester::{Answer, Test, Tested, Tester};
