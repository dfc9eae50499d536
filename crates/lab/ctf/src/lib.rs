//! Traces in the Common Trace Format, version 1.8 (diamon.org/ctf): a folder that babeltrace2 and Trace Compass read, too.
//!
//! ```text
//! metadata          the classes of events, in the Trace Stream Description Language
//! cpu0, cpu1        streams of events, in packets
//! index/cpu0.idx    where the packets are, and what time each is of, as LTTng writes it
//! ```
//!
//! * [`class`]: what events there are, and their fields; [`value`]: what is in a field
//! * [`metadata`]: classes as text
//! * [`packet`]: the head of a packet; [`index`]: packets of a stream
//! * [`writer`], [`reader`]: a trace; [`copy`]: some events of one as another; [`tail`]: only the end of it

pub mod class;
mod copy;
mod error;
pub mod index;
pub mod metadata;
pub mod packet;
pub mod reader;
mod tail;
pub mod value;
pub mod writer;

pub use class::{Class, Field, Number, Shape, Stream};
pub use copy::Copy;
pub use error::Error;
pub use metadata::Metadata;
pub use reader::{Event, Events, Trace};
pub use value::Value;
pub use writer::{StreamWriter, Writer};
