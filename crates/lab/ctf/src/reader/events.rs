//! The events of all streams in the order of their times.

use std::collections::HashMap;
use std::sync::Arc;

use super::Known;
use super::stream::{Cursor, EventHead, Stream};
use crate::class::{Class, Field, Stream as Kind};
use crate::error::Error;
use crate::value::Value;

/// The events of a trace, one by one.
#[derive(Debug)]
pub struct Events<'a> {
    classes: Arc<HashMap<u16, Known>>,
    cursors: Vec<Cursor<'a>>,
    /// What each stream has next; none at its end.
    heads: Vec<Option<EventHead>>,
    from: u64,
    /// The stream of the event that was given last, and where that event ends.
    last: Option<(usize, usize)>,
    is_begun: bool,
    damage: u64,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// When it was, in nanoseconds on the clock of the trace.
    pub time: u64,
    /// Where it was.
    pub cpu: u32,
    /// What it is.
    pub class: &'a Class,
    /// The thread in which it was; none for marks.
    pub thread: Option<i32>,
    fields: &'a [u8],
}

impl<'a> Events<'a> {
    pub(super) fn new(streams: &'a [Stream], classes: Arc<HashMap<u16, Known>>, from: u64) -> Self {
        let cursors: Vec<_> = streams.iter().map(|stream| stream.cursor(from)).collect();
        let heads = vec![None; cursors.len()];
        Self { classes, cursors, heads, from, last: None, is_begun: false, damage: 0 }
    }

    /// Packets so far of which something could not be read.
    #[must_use]
    pub fn damage(&self) -> u64 {
        self.damage
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        loop {
            self.advance()?;
            let earliest =
                self.heads.iter().enumerate().filter_map(|(at, head)| Some((head.as_ref()?.time, at)));
            let Some((time, at)) = earliest.min() else { return Ok(None) };
            let Some(end) = self.end_of(at) else {
                self.damage += 1;
                self.cursors[at].give_up_packet();
                self.heads[at] = self.cursors[at].next_head(&mut self.damage)?;
                continue;
            };
            self.last = Some((at, end));
            if time >= self.from {
                return Ok(self.event(at, end));
            }
        }
    }

    /// Passes the event that was given last.
    fn advance(&mut self) -> Result<(), Error> {
        if !self.is_begun {
            self.is_begun = true;
            for at in 0..self.cursors.len() {
                self.heads[at] = self.cursors[at].next_head(&mut self.damage)?;
            }
        }
        if let Some((at, end)) = self.last.take() {
            self.cursors[at].pass(end);
            self.heads[at] = self.cursors[at].next_head(&mut self.damage)?;
        }
        Ok(())
    }

    /// Where the next event of a stream ends; nothing if it cannot be read.
    fn end_of(&self, at: usize) -> Option<usize> {
        let head = self.heads[at]?;
        let known = self.classes.get(&head.class)?;
        let fields = head.at + known.context;
        Some(fields + known.steps.size(self.cursors[at].bytes(fields))?)
    }

    fn event(&self, at: usize, end: usize) -> Option<Event<'_>> {
        let (head, cursor) = (self.heads[at]?, &self.cursors[at]);
        let known = self.classes.get(&head.class)?;
        let bytes = cursor.bytes(head.at).get(..end - head.at)?;
        let (context, fields) = bytes.split_at_checked(known.context)?;
        let thread = match known.class.stream {
            Kind::Kernel => context.get(..4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes),
            Kind::Marks => None,
        };
        Some(Event { time: head.time, cpu: cursor.cpu(), class: &known.class, thread, fields })
    }
}

impl<'a> Event<'a> {
    /// Its fields in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&'a Field, Value<'a>)> {
        let (class, mut rest) = (self.class, self.fields);
        class.fields.iter().map_while(move |field| {
            let (bytes, behind) = rest.split_at_checked(field.shape.size(rest)?)?;
            rest = behind;
            Some((field, Value::read(field.shape, bytes)))
        })
    }

    /// The field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        self.fields().find(|(field, _)| field.name == name).map(|(_, value)| value)
    }
}
