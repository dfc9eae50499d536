//! The memory that a measuring machine shares with this host.
//!
//! The guest may write anything there at any time: it is read as a file, within bounds, and never mapped.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use protocol::measure::{
    ANSWERS, Answer, EXCHANGE_SIZE, ORDER, Order, RECORDING, RECORDING_SIZE, SYMBOLS, decode, encode,
};

use crate::RecordingMemory;
use crate::error::Error;
use crate::vmm::launch::in_memory;

/// Host's side of the memory.
#[derive(Debug)]
pub(crate) struct Exchange {
    file: File,
    /// Where the next answer is.
    end: usize,
}

impl Exchange {
    /// Memory with `order` in it, or empty.
    pub(crate) fn new(order: Option<&Order>) -> Result<Self, Error> {
        let file = File::from(in_memory("exchange", &[])?);
        let failed = |source| Error::host("memory of a measuring machine", source);
        file.set_len(EXCHANGE_SIZE as u64).map_err(failed)?;
        if let Some(order) = order {
            let bytes = encode(order).map_err(|error| failed(std::io::Error::other(error)))?;
            if bytes.len() + 4 > ANSWERS {
                return Err(failed(std::io::Error::other("the order is too long")));
            }
            let length = u32::try_from(bytes.len()).unwrap_or(0);
            file.write_all_at(&bytes, ORDER as u64 + 4).map_err(failed)?;
            file.write_all_at(&length.to_le_bytes(), ORDER as u64).map_err(failed)?;
        }
        Ok(Self { file, end: ANSWERS })
    }

    /// For the machine.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd, Error> {
        let failed = |source| Error::host("memory of a measuring machine", source);
        self.file.try_clone().map(OwnedFd::from).map_err(failed)
    }

    /// The next answer, if there is one. One that cannot be read is the last.
    pub(crate) fn next(&mut self) -> Option<Result<Answer, String>> {
        let length = self.word(self.end)? as usize;
        let start = self.end + 4;
        if length == 0 {
            return None;
        }
        if start + length > SYMBOLS {
            self.end = SYMBOLS;
            return Some(Err(format!("an answer of {length} bytes does not fit")));
        }
        let mut bytes = vec![0; length];
        let answer = self.file.read_exact_at(&mut bytes, start as u64).map_err(|error| error.to_string());
        self.end = start + length;
        Some(answer.and_then(|()| decode(&bytes).map_err(|error| error.to_string())))
    }

    /// The text of the kernel's symbols, as far as it is text.
    pub(crate) fn symbols(&self) -> String {
        let mut length = [0; 8];
        if self.file.read_exact_at(&mut length, SYMBOLS as u64).is_err() {
            return String::new();
        }
        let room = RECORDING - SYMBOLS - 8;
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(room).min(room);
        let mut bytes = vec![0; length];
        match self.file.read_exact_at(&mut bytes, SYMBOLS as u64 + 8) {
            Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => String::new(),
        }
    }

    /// The part of it that has a recording, of which nothing is taken before the machine has stopped.
    pub(crate) fn recording(&self) -> Result<RecordingMemory, Error> {
        let file = File::from(self.descriptor()?);
        Ok(RecordingMemory { file, place: RECORDING as u64, size: RECORDING_SIZE as u64 })
    }

    fn word(&self, place: usize) -> Option<u32> {
        let mut bytes = [0; 4];
        (place + 4 <= SYMBOLS).then(|| self.file.read_exact_at(&mut bytes, place as u64).ok())??;
        Some(u32::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use protocol::measure::Clock;

    fn order() -> Order {
        Order { clock: Clock::Nanoseconds, jobs: Vec::new(), symbols: true, trace: None }
    }

    fn put(exchange: &Exchange, place: usize, bytes: &[u8]) {
        exchange.file.write_all_at(bytes, place as u64).unwrap();
    }

    #[test]
    fn answers_are_read_as_they_come() {
        let mut exchange = Exchange::new(Some(&order())).unwrap();
        assert_eq!(exchange.next(), None);
        for (place, answer) in [(ANSWERS, Answer::Begun(1)), (ANSWERS + 6, Answer::Begun(2))] {
            let bytes = encode(&answer).unwrap();
            assert_eq!(bytes.len(), 2);
            put(&exchange, place + 4, &bytes);
            put(&exchange, place, &2_u32.to_le_bytes());
            assert_eq!(exchange.next(), Some(Ok(answer)));
        }
        assert_eq!(exchange.next(), None);
    }

    #[test]
    fn an_answer_that_does_not_fit_is_the_last() {
        let mut exchange = Exchange::new(None).unwrap();
        put(&exchange, ANSWERS, &u32::MAX.to_le_bytes());
        assert!(exchange.next().is_some_and(|answer| answer.is_err()));
        assert_eq!(exchange.next(), None);
    }

    #[test]
    fn symbols_end_with_the_memory() {
        let exchange = Exchange::new(None).unwrap();
        assert_eq!(exchange.symbols(), "");
        put(&exchange, SYMBOLS, &u64::MAX.to_le_bytes());
        assert_eq!(exchange.symbols().len(), RECORDING - SYMBOLS - 8);
        put(&exchange, SYMBOLS, &2_u64.to_le_bytes());
        put(&exchange, SYMBOLS + 8, b"k\xff");
        assert_eq!(exchange.symbols(), "k\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_memory_has_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut exchange = Exchange::new(None).unwrap();
            put(&exchange, ANSWERS, &bytes);
            let answers = std::iter::from_fn(|| exchange.next()).count();
            prop_assert!(answers <= bytes.len());
        }
    }
}
