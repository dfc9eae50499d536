//! A writer that is asked about errors at the end.

use std::io::{self, Write};

/// Keeps the first error and writes nothing after it: listeners cannot return errors, and a reader that
/// went away must not end a session.
#[derive(Debug)]
pub(crate) struct Sink<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, error: None }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.attempt(|out| out.write_all(text.as_bytes()));
    }

    /// Lets what was written so far be seen even if kiln is killed.
    pub(crate) fn flush(&mut self) {
        self.attempt(Write::flush);
    }

    pub(crate) fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush();
        self.result()
    }

    /// The first error, once.
    pub(crate) fn result(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn attempt(&mut self, action: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = action(&mut self.out).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe whose reader leaves after one write.
    #[derive(Default)]
    struct Broken {
        writes: usize,
    }

    impl Write for Broken {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            if self.writes > 1 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_error_silences_and_comes_back() {
        let mut sink = Sink::new(Broken::default());
        for _ in 0..4 {
            sink.write("x");
        }
        assert_eq!(sink.out.writes, 2);
        assert_eq!(sink.finish().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
