//! The events of all streams in the order of their times.

use super::stream::{Cursor, EventHead, Stream};
use super::{Classes, Known};
use crate::class::{Class, Field, Stream as Kind};
use crate::error::Error;
use crate::value::Value;

/// Where the flags are in the context.
const FLAGS: usize = 4;

/// The events of a trace, one by one.
#[derive(Debug)]
pub struct Events<'a> {
    classes: Classes,
    cursors: Vec<Cursor<'a>>,
    /// What each stream has next; none at its end.
    heads: Vec<Option<EventHead>>,
    from: u64,
    /// The stream that is read, until its next event is behind those of all others.
    current: Option<Current>,
    damage: u64,
}

/// A stream that has the earliest event.
#[derive(Debug, Clone, Copy)]
struct Current {
    at: usize,
    /// The time and the place of the stream that comes next; none if there is no other.
    next: Option<(u64, usize)>,
    /// Where its event ends that was given last.
    end: Option<usize>,
}

/// What is found of an event.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Where its fields begin and end.
    fields: usize,
    end: usize,
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
    context: &'a [u8],
    fields: &'a [u8],
}

impl<'a> Events<'a> {
    pub(super) fn new(streams: &'a [Stream], classes: Classes, from: u64) -> Self {
        let cursors: Vec<_> = streams.iter().map(|stream| stream.cursor(from)).collect();
        let heads = Vec::with_capacity(cursors.len());
        Self { classes, cursors, heads, from, current: None, damage: 0 }
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
        let Some((at, head, found)) = self.next_place()? else { return Ok(None) };
        self.is_given(found);
        Ok(self.event(at, head, found))
    }

    /// The time of the next event; none at the end.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn next_time(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.next_place()?.map(|(_, head, _)| head.time))
    }

    /// The stream that has the next event, and where it is.
    fn next_place(&mut self) -> Result<Option<(usize, EventHead, Found)>, Error> {
        if self.heads.is_empty() {
            for cursor in &mut self.cursors {
                self.heads.push(cursor.next_head(&mut self.damage)?);
            }
        }
        loop {
            self.pass_last()?;
            let Some(Current { at, .. }) = self.current else { return Ok(None) };
            let Some(head) = self.heads[at] else { return Ok(None) };
            let Some(found) = self.found(at, head) else {
                self.damage += 1;
                self.cursors[at].give_up_packet();
                self.heads[at] = self.cursors[at].next_head(&mut self.damage)?;
                continue;
            };
            if head.time >= self.from {
                return Ok(Some((at, head, found)));
            }
            self.is_given(found);
        }
    }

    fn is_given(&mut self, found: Found) {
        self.current.iter_mut().for_each(|current| current.end = Some(found.end));
    }

    /// Passes the event that was given last, and finds the stream with the earliest one.
    fn pass_last(&mut self) -> Result<(), Error> {
        if let Some(Current { at, end: Some(end), .. }) = self.current {
            self.cursors[at].pass(end);
            self.heads[at] = self.cursors[at].next_head(&mut self.damage)?;
        }
        let is_first = |current: &Current| {
            let own = self.heads[current.at].map(|head| (head.time, current.at));
            own.is_some_and(|own| current.next.is_none_or(|next| own < next))
        };
        self.current = match self.current.filter(is_first) {
            Some(current) => Some(Current { end: None, ..current }),
            None => self.earliest(),
        };
        Ok(())
    }

    fn earliest(&self) -> Option<Current> {
        let times = self.heads.iter().enumerate().filter_map(|(at, head)| Some((head.as_ref()?.time, at)));
        let (mut first, mut next) = (None, None);
        for time in times {
            if first.is_none_or(|first| time < first) {
                next = first.replace(time);
            } else if next.is_none_or(|next| time < next) {
                next = Some(time);
            }
        }
        first.map(|(_, at)| Current { at, next, end: None })
    }

    /// Where the event of a head is; nothing if it cannot be read.
    fn found(&self, at: usize, head: EventHead) -> Option<Found> {
        let known = self.known(head)?;
        let fields = head.at + known.context;
        let size = known.steps.size(self.cursors[at].bytes(fields))?;
        Some(Found { fields, end: fields + size })
    }

    fn known(&self, head: EventHead) -> Option<&Known> {
        self.classes.get(usize::from(head.class))?.as_ref()
    }

    fn event(&self, at: usize, head: EventHead, found: Found) -> Option<Event<'_>> {
        let (known, cursor) = (self.known(head)?, &self.cursors[at]);
        let thread = match known.class.stream {
            Kind::Kernel => cursor.bytes(head.at).first_chunk().map(|bytes| i32::from_le_bytes(*bytes)),
            Kind::Marks => None,
        };
        let context = cursor.bytes(head.at).get(..known.context)?;
        let fields = cursor.bytes(found.fields).get(..found.end - found.fields)?;
        Some(Event { time: head.time, cpu: cursor.cpu(), class: &known.class, thread, context, fields })
    }
}

impl<'a> Event<'a> {
    /// Its context and its fields as they are in the trace.
    pub(crate) fn bytes(&self) -> (&'a [u8], &'a [u8]) {
        (self.context, self.fields)
    }

    /// In which context the kernel was: `enum trace_flag_type` of include/linux/trace_events.h; 0 for marks.
    #[must_use]
    pub fn flags(&self) -> u8 {
        self.context.get(FLAGS).copied().unwrap_or_default()
    }

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
