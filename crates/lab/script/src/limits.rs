//! What a script may use.

/// What one run of a script may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Statements, calls and turns of loops of one step or branch.
    pub statements: u64,
    /// Bytes of values of one step or branch. The values at the top of a file have a sixteenth of it.
    pub heap_bytes: usize,
    /// Calls that can be in each other.
    pub call_depth: usize,
    /// Steps.
    pub steps: usize,
    /// Machines of one step.
    pub machines: u32,
    /// Segments of one step.
    pub segments: u32,
    /// Branches that run at the same time.
    pub branches: usize,
    /// Metrics, findings, tables and notes of one step.
    pub records: usize,
    /// Bytes of one output, or of one record.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            statements: 20_000_000,
            heap_bytes: 64 * 1024 * 1024,
            call_depth: 100,
            steps: 1000,
            machines: 64,
            segments: 64,
            branches: 64,
            records: 10_000,
            text_bytes: 1024 * 1024,
        }
    }
}
