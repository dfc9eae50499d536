//! Parameters that a kernel does not know: as candidates they can be no cause.

use crate::axis::Subject;
use crate::error::Error;
use crate::question::Question;
use crate::request::{AxisRequest, BisectRequest};

/// Refuses a candidate that the kernel does not know, unless the user's program may read it from `/proc/cmdline`. The
/// parameters that are the same at each point are no candidates.
pub(super) fn refuse(request: &BisectRequest, subject: &Subject, unknown: &[String]) -> Result<(), Error> {
    let may_read = matches!(request.question, Question::Program(_));
    if may_read || !matches!(request.axis, AxisRequest::Parameters { .. }) {
        return Ok(());
    }
    let is_candidate =
        |name: &&String| subject.parameters.split_whitespace().any(|word| word == name.as_str());
    match unknown.iter().find(is_candidate) {
        Some(name) => Err(Error::Usage(format!(
            "--params: the kernel does not know {name}, so it has no effect: leave it out, or correct it"
        ))),
        None => Ok(()),
    }
}
