//! A person at the console of a machine.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::{POWER_OFF_PATIENCE, Vmm};

impl Vmm {
    /// From now on the console's bytes also go to `screen`, as they are.
    pub fn show_console(&mut self, screen: Box<dyn Write + Send>) {
        self.screen = Some(screen);
    }

    /// Where to write what a person types on the console.
    ///
    /// # Errors
    ///
    /// When the host has no descriptor left.
    pub fn console_input(&self) -> std::io::Result<UnixStream> {
        self.console_input.try_clone()
    }

    /// Ends the program; the screen gets all that the console has said. What the agent says later may be read earlier, since it
    /// comes through another socket.
    pub fn kill_and_drain(&mut self) {
        self.process.kill();
        while !self.is_gone() && self.wait(Instant::now() + POWER_OFF_PATIENCE) {
            self.queue.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use protocol::{Encoder, End, FromAgent};

    use super::super::testing::Idle;
    use super::*;
    use crate::{Event, Machine};

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_last_words_of_a_shell_are_shown_although_its_end_overtakes_them() {
        let Idle { mut machine, mut agent, mut console } = Idle::start();
        let screen = Screen::default();
        machine.show_console(Box::new(screen.clone()));
        let ended = FromAgent::ShellEnded { end: End::Exited(0) };
        agent.write_all(&Encoder::default().encode(&ended).unwrap()).unwrap();
        let event = machine.next(Instant::now() + Duration::from_secs(60));
        assert!(matches!(event, Event::Agent(FromAgent::ShellEnded { .. })), "{event:?}");
        let words = "the last words\n".repeat(5000);
        console.write_all(words.as_bytes()).unwrap();
        drop((agent, console));
        machine.kill_and_drain();
        assert_eq!(screen.0.lock().unwrap().len(), words.len());
    }
}
