//! A clone that measures.

use std::time::{Duration, Instant};

use protocol::measure::Order;

use super::Template;
use super::wake::{WAKE_MAX, not_started};
use crate::error::{BootFailure, Error};
use crate::instrument::{Channel, Exchange, Measuring, Watch};
use crate::{Death, Event, Machine};

/// How long is waited for why a QEMU has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Template {
    /// Starts a clone that does what `order` says, if this is a machine that measures, with QEMU's plugin as `watch`
    /// says.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A clone that does not go on is the inner error.
    pub fn measure(&self, order: &Order, watch: Watch<'_>) -> Result<Result<Measuring, BootFailure>, Error> {
        let (channel, files) = Channel::new(Exchange::new(Some(order))?, watch)?;
        let mut machine = self.start(Some(files))?;
        Ok(match machine.resume(Instant::now() + WAKE_MAX) {
            Ok(()) => Ok(Measuring::new(machine, channel)),
            // A QEMU that ended says why in its own words.
            Err(why) => Err(match machine.next(Instant::now() + LAST_WORDS) {
                Event::Ended(Death::Broken(last)) => machine.failure(not_started(&last)),
                _ => machine.failure(not_started(&why)),
            }),
        })
    }
}
