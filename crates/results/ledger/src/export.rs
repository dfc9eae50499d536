//! What leaves for other hosts, which [`import`](crate::import()) takes in there.

use lab::Event;

use crate::import::origin;
use crate::past::{Error, Past};

impl Past {
    /// What was reported in it. The first event says where it was run.
    ///
    /// # Errors
    ///
    /// When what it was about or the events cannot be read.
    pub fn exported(&self) -> Result<impl Iterator<Item = Event>, Error> {
        let origin = origin(self, &self.session()?);
        Ok(self.events()?.map(move |mut event| {
            if let Event::Planned(session) = &mut event {
                session.origin = Some(origin.clone());
            }
            event
        }))
    }
}

#[cfg(test)]
mod tests {
    use judge::Outcome;

    use super::*;
    use crate::past::tests::keep;

    #[test]
    fn the_first_event_has_the_origin() {
        let root = tempfile::tempdir().expect("a directory");
        let past = keep(root.path(), "2026", &[("a", Outcome::Fail)], Some(false));
        let mut events = past.exported().expect("there");
        let Some(Event::Planned(planned)) = events.next() else { panic!("it was planned") };
        assert_eq!(planned.origin.map(|origin| origin.session), Some(past.name()));
        assert_eq!(events.count() + 1, past.events().expect("there").count());
    }
}
