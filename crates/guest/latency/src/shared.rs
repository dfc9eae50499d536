//! What the threads of a measurement share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use protocol::latency::LatencyRequest;

use crate::gate::Gate;
use crate::trace::Trace;

/// A latency above the limit of the request: see [`protocol::latency::Breach`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Late {
    pub(crate) latency_ns: u64,
    pub(crate) at_ns: u64,
    pub(crate) woken_ns: u64,
    pub(crate) cpu: u32,
}

#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) request: &'a LatencyRequest,
    pub(crate) stopped: AtomicBool,
    pub(crate) gate: Gate,
    pub(crate) late: OnceLock<Late>,
    pub(crate) trace: Option<Trace>,
    measuring: AtomicUsize,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(request: &'a LatencyRequest, trace: Option<Trace>) -> Self {
        Self {
            request,
            stopped: AtomicBool::new(false),
            gate: Gate::default(),
            late: OnceLock::new(),
            trace,
            measuring: AtomicUsize::new(request.threads()),
        }
    }

    /// Ends all loops after their next wake-up.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, SeqCst);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// A thread measures no more.
    pub(crate) fn leave(&self) {
        self.measuring.fetch_sub(1, SeqCst);
    }

    /// Whether a thread still measures.
    pub(crate) fn is_measuring(&self) -> bool {
        self.measuring.load(SeqCst) > 0
    }

    /// Ends the measurement because of a latency, unless another thread has seen one before.
    #[cold]
    pub(crate) fn end_because(&self, late: Late) {
        if self.late.set(late).is_ok() {
            self.trace.iter().for_each(Trace::stop);
        }
        self.stop();
    }
}
