//! Which change made it bad: what a bisection walks, asks, and proves.
//!
//! * [`request`]: what a bisection is asked; [`mod@carry_out`]: from there to what is known in the end
//! * [`axis`]: what can be walked: packages, commits, patches of a series, kernel parameters, configuration options
//! * [`question`]: what is asked of each kernel on the way
//! * [`tester`]: answers it, with Kernels in machines
//! * [`event`]: what is reported meanwhile
//! * [`bisection`]: what is known in the end; `identity`: what makes two calls one search
//! * [`procedure`]: from the ends to the proof
//! * `asking`: the question at points of the axis, with all answers so far; `track`: which candidates a search is about
//! * `ends`, `find`, `reduce`, `proof`: the parts of the procedure, in their order
//!
//! The search itself is in `verdict`: this crate feeds it with answers.

mod asking;
pub mod axis;
pub mod bisection;
pub mod carry_out;
mod ends;
pub mod error;
pub mod event;
mod find;
mod identity;
pub mod procedure;
mod proof;
pub mod question;
mod reduce;
pub mod request;
pub mod tester;
mod track;

pub use axis::{Axis, Candidate, Changes, Kind, Point, Subject};
pub use bisection::{Bisection, Check, Checked, Conclusion, End, Evidence, StateReport, Steps};
pub use carry_out::{Done, Environment, Opened};
pub use error::Error;
pub use event::{Belief, Progress, Purpose};
pub use procedure::{Kept, Parts, Settings, bisect};
pub use question::{Question, Threshold};
pub use request::{AxisRequest, BisectRequest, SearchRequest};
pub use tester::{Answer, Test, Tested, Tester};
