use super::*;

impl Place {
    fn ancestry(&self, commits: &[&str]) -> Ancestry {
        self.with(|context| {
            let repository = Repository::open(&self.tree(), context).unwrap();
            repository.ancestry(commits.iter().copied(), context).unwrap()
        })
    }
}

#[test]
fn a_commit_follows_what_is_in_its_history_and_nothing_else() {
    let place = Place::new();
    place.forked();
    let [base, side, main, merge] =
        ["base", "side", "main~1", "main"].map(|name| place.git(&["rev-parse", name]));
    let before = place.git(&["rev-parse", "main~2"]);
    let ancestry = place.ancestry(&[&merge, &side, &base, &main, &before]);
    let follows = |commit: &str, ancestor: &str| ancestry.follows(commit, ancestor);
    for older in [&base, &side, &main, &before] {
        assert!(follows(&merge, older) && !follows(older, &merge));
    }
    assert!(follows(&side, &base) && follows(&main, &before) && follows(&main, &base));
    assert!(!follows(&main, &side) && !follows(&side, &main) && !follows(&side, &before));
    assert!(!follows(&base, &base));
    assert_eq!(ancestry.place(&base), Some(0));
    assert_eq!(ancestry.place(&merge), Some(4));
}

#[test]
fn histories_without_a_common_beginning_do_not_follow_each_other() {
    let place = Place::new();
    let ours = place.commit("a", "0\n", "ours");
    place.git(&["checkout", "--quiet", "--orphan", "theirs"]);
    let theirs = place.commit("b", "0\n", "theirs");
    let ancestry = place.ancestry(&[&ours, &theirs]);
    assert!(!ancestry.follows(&ours, &theirs) && !ancestry.follows(&theirs, &ours));
    assert!(ancestry.place(&ours).is_some() && ancestry.place(&theirs).is_some());
}

#[test]
fn commits_that_are_not_there_and_other_words_have_no_place() {
    let place = Place::new();
    let only = place.commit("a", "0\n", "only");
    let gone = "1".repeat(40);
    for others in [vec!["--all", &gone, "HEAD"], vec![], vec![&gone]] {
        let ancestry = place.ancestry(&others);
        assert!(others.iter().all(|other| ancestry.place(other).is_none()));
    }
    let ancestry = place.ancestry(&[&gone, &only]);
    assert_eq!((ancestry.place(&only), ancestry.place(&gone)), (Some(0), None));
}
