//! What the kernel's tracing records, as it lies in tracefs: Documentation/trace/ftrace.rst and events.rst.
//!
//! * [`mod@format`]: `events/SYSTEM/EVENT/format`, the fields of an event
//! * [`page`]: `per_cpu/cpuN/trace_pipe_raw`, pages of a ring buffer with records
//! * [`layout`]: `events/header_page`, where the parts of such a page are

pub mod format;
pub mod layout;
pub mod page;

pub use format::{Element, Field, Format, Kind, WrongFormat};
pub use layout::{Layout, WrongLayout};
pub use page::{Lost, Page, Record, Records, WrongPage};
