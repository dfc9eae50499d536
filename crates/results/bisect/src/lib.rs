//! Which change made it bad: what a bisection walks, asks, and proves.
//!
//! * [`question`]: what is asked of each kernel on the way; [`request`]: what a bisection is asked
//! * [`candidate`]: the changes among which it searches; [`point`]: where between the ends a Kernel can be had
//! * [`answer`]: what a test answers; [`event`]: what is reported meanwhile, and [`underway`] kept for others to read;
//!   [`bisection`]: what is known in the end
//! * [`axis`]: what can be walked: packages, commits, patches of a series, kernel parameters, configuration options
//! * [`tester`]: answers the question, with Kernels in machines
//! * `asking`: the question at points of the axis, with all answers so far; `track`: which candidates a search is about
//! * `ends`, `find`, `reduce`, `proof`: the parts of the procedure, in their order; `missing`: how many runs they want
//! * [`procedure`]: from the ends to the proof, as its [`settings`] say
//! * [`mod@carry_out`]: from a request, in an [`environment`], to what is known in the end; `identity`: what makes two
//!   calls one search
//! * [`problem`]: the searches that a problem asks for
//!
//! The search itself is in `verdict`: this crate feeds it with answers.

pub mod answer;
mod asking;
pub mod axis;
pub mod bisection;
pub mod candidate;
pub mod carry_out;
mod ends;
pub mod environment;
pub mod error;
pub mod event;
mod find;
mod identity;
mod missing;
pub mod point;
pub mod problem;
pub mod procedure;
mod proof;
pub mod question;
mod reduce;
pub mod request;
pub mod settings;
pub mod tester;
mod track;
pub mod underway;

pub use answer::Answer;
pub use asking::Kept;
pub use axis::{Axis, Subject};
pub use bisection::{Bisection, Check, Checked, Conclusion, End, Evidence, StateReport, Steps};
pub use candidate::{Candidate, Changes, Kind};
pub use carry_out::{Done, Opened};
pub use environment::Environment;
pub use error::Error;
pub use event::{Belief, Progress, Purpose};
pub use point::Point;
pub use procedure::{Parts, bisect};
pub use question::{Measured, Question, RecordedMetric, Threshold};
pub use request::{AxisRequest, BisectRequest, SearchRequest};
pub use settings::Settings;
pub use tester::{Test, Tested, Tester};
pub use underway::{Testing, Underway};
