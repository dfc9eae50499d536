//! Trailers of those whose trailers nobody wants, such as robots.

use crate::assemble::{Assembled, Given, Reason, Refused};

impl Assembled<'_> {
    /// Takes back the trailers that name one of these addresses, in whichever case.
    pub fn ignore(&mut self, addresses: &[String]) {
        let is_ignored = |given: &Given<'_>| {
            let person = given.trailer.person();
            person.is_some_and(|person| {
                addresses.iter().any(|other| other.eq_ignore_ascii_case(&person.address))
            })
        };
        let given = self.patches.values_mut().map(|patch| &mut patch.given).chain([&mut self.for_all]);
        for all in given {
            for Given { trailer, by, .. } in all.extract_if(.., |given| is_ignored(given)) {
                let is_known =
                    self.refused.iter().any(|other| other.trailer == trailer && std::ptr::eq(other.by, by));
                if !is_known {
                    self.refused.push(Refused { trailer, by, reason: Reason::Ignored });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::assemble::{Choice, Reason, assemble};
    use crate::series::series;
    use crate::tests::{Letter, threads};

    #[test]
    fn trailers_of_robots_are_taken_back() {
        let patch = Letter { id: "1@x", subject: "[PATCH] x", is_patch: true, ..Letter::default() };
        let answer = |id, from, text| Letter {
            id,
            from,
            text,
            parent: "1@x",
            subject: "Re: [PATCH] x",
            ..Letter::default()
        };
        let robot = answer("2@x", "Robot <robot@x.org>", "Tested-by: Robot <Robot@x.org>");
        let viewer = answer("3@x", "V <v@x.org>", "Reviewed-by: V <v@x.org>");
        let threads = threads(&[patch, robot, viewer]);
        let mut assembled = assemble(&threads, &series(&threads)[0], Choice::default()).expect("a revision");
        let given = |assembled: &crate::Assembled<'_>| {
            assembled.patches[&1].given.iter().map(|given| given.trailer.value.clone()).collect::<Vec<_>>()
        };
        assert_eq!(given(&assembled).len(), 2);
        assembled.ignore(&["robot@x.org".to_owned()]);
        assert_eq!(given(&assembled), ["V <v@x.org>"]);
        let [refused] = &assembled.refused[..] else { panic!("{:?}", assembled.refused) };
        assert_eq!((refused.by.id.as_str(), refused.reason), ("2@x", Reason::Ignored));
    }
}
