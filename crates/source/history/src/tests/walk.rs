use super::*;

impl Place {
    /// The subjects of a walk, each with those of its parents.
    fn shape(&self, good: &str, bad: &str, limits: &Limits) -> Vec<(String, Vec<String>)> {
        let walk = self.walk(good, bad, limits).unwrap();
        assert_eq!(walk.commits.len(), walk.subjects.len());
        let name = |&number: &usize| walk.subjects[number].clone();
        let parents = walk.parents.iter().enumerate().map(|(number, parents)| {
            assert!(parents.iter().all(|&parent| parent < number), "a child before its parent");
            parents.iter().map(name).collect()
        });
        walk.subjects.iter().cloned().zip(parents).collect()
    }

    /// `base`, then `a1` and `a2` on main, `b1` and `b2` on a branch, and `merge`.
    pub(super) fn forked(&self) {
        self.commit("a", "0\n", "base");
        self.git(&["tag", "base"]);
        self.git(&["checkout", "--quiet", "-b", "side"]);
        self.commit("b", "1\n", "b1");
        self.commit("b", "2\n", "b2");
        self.git(&["checkout", "--quiet", "main"]);
        self.commit("a", "1\n", "a1");
        self.commit("a", "2\n", "a2");
        self.git(&["merge", "--quiet", "--no-ff", "--message", "merge", "side"]);
    }

    fn refusal(&self, good: &str, bad: &str, limits: &Limits) -> String {
        let error = self.walk(good, bad, limits).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    }
}

fn all() -> Limits {
    Limits::default()
}

fn paths(paths: &[&str]) -> Limits {
    Limits { paths: paths.iter().map(|&path| path.to_owned()).collect(), first_parent: false }
}

fn named(shape: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    shape.iter().map(|(name, parents)| ((*name).to_owned(), owned(parents))).collect()
}

#[test]
fn both_sides_of_a_merge_are_walked_parents_first() {
    let place = Place::new();
    place.forked();
    let mut shape = place.shape("base", "main", &all());
    assert_eq!(shape.pop().unwrap(), named(&[("merge", &["a2", "b2"])])[0]);
    shape.sort();
    assert_eq!(shape, named(&[("a1", &[]), ("a2", &["a1"]), ("b1", &[]), ("b2", &["b1"])]));
    let walk = place.walk("base", "main", &all()).unwrap();
    assert_eq!((walk.good, walk.bad), (place.git(&["rev-parse", "base"]), place.git(&["rev-parse", "main"])));
    assert!(walk.merge_bases.is_empty());
}

#[test]
fn the_first_parents_alone_are_walked() {
    let place = Place::new();
    place.forked();
    let limits = Limits { first_parent: true, ..all() };
    let wanted = named(&[("a1", &[]), ("a2", &["a1"]), ("merge", &["a2"])]);
    assert_eq!(place.shape("base", "main", &limits), wanted);
}

#[test]
fn paths_leave_out_what_does_not_touch_them_and_join_what_is_left() {
    let place = Place::new();
    place.forked();
    place.commit("dir/c", "1\n", "c1");
    place.commit("a", "3\n", "a3");
    let wanted = named(&[("a1", &[]), ("a2", &["a1"]), ("a3", &["a2"])]);
    assert_eq!(place.shape("base", "main", &paths(&["a"])), wanted);
    assert_eq!(place.shape("base", "main", &paths(&["b"])), named(&[("b1", &[]), ("b2", &["b1"])]));
    let mut both = place.shape("base", "main", &paths(&["a", "b"]));
    assert_eq!(both.pop().unwrap(), named(&[("a3", &["merge"])])[0]);
    assert_eq!(place.shape("base", "main", &paths(&["dir/"])), named(&[("c1", &[])]));
}

#[test]
fn odd_subjects_do_not_mix_up_the_commits() {
    let place = Place::new();
    place.commit("a", "0\n", "base");
    place.git(&["tag", "base"]);
    for (content, subject) in
        [("1\n", ""), ("2\n", "commit abc"), ("3\n", "\tcommit"), ("4\n", "last\u{1b}[1m")]
    {
        place.commit("a", content, subject);
    }
    let walk = place.walk("base", "main", &all()).unwrap();
    assert_eq!(walk.subjects, ["", "commit abc", "\tcommit", "last\u{1b}[1m"]);
    assert_eq!(walk.parents, [vec![], vec![0], vec![1], vec![2]]);
}

#[test]
fn ends_that_do_not_fit_are_reported() {
    let place = Place::new();
    place.forked();
    place.git(&["checkout", "--quiet", "--orphan", "other"]);
    place.commit("o", "", "unrelated");
    place.git(&["tag", "again", "main"]);
    let says = |good: &str, bad: &str, limits: &Limits, wanted: &str| {
        let text = place.refusal(good, bad, limits);
        assert!(text.contains(wanted), "{text}");
    };
    says("main", "again", &all(), "main and again are the same commit");
    says("main", "base", &all(), "base is an ancestor of main");
    says("main", "base", &all(), "--fixed");
    says("base", "other", &all(), "base and other have no common ancestor");
    says("v9", "main", &all(), "has no commit v9");
    says("base", "^main", &all(), "has no commit ^main");
    says("base", "base..main", &all(), "has no commit base..main");
    says("base", "--all", &all(), "has no commit --all");
    says("base", "main", &paths(&["drivers/", "x"]), "touches drivers/, x");
    says("base", "main", &paths(&["../../outside"]), "../../outside: not paths of the tree");
    let nowhere = place.with(|context| walk(&place.directory.path().join("no"), "a", "b", &all(), context));
    assert!(nowhere.unwrap_err().to_string().contains("not a git repository"));
}

#[test]
fn a_good_end_beside_the_bad_one_gives_where_they_parted() {
    let place = Place::new();
    place.forked();
    let walk = place.walk("side", "main~1", &all()).unwrap();
    assert_eq!(walk.subjects, ["a1", "a2"]);
    assert_eq!(walk.merge_bases, [place.git(&["rev-parse", "base"])]);
}

#[test]
fn histories_that_crossed_have_two_merge_bases() {
    let place = Place::new();
    place.commit("a", "0\n", "base");
    place.git(&["branch", "side"]);
    let ours = place.commit("a", "1\n", "a1");
    place.git(&["checkout", "--quiet", "side"]);
    let theirs = place.commit("b", "1\n", "b1");
    place.merge(&ours);
    place.commit("b", "2\n", "b2");
    place.git(&["checkout", "--quiet", "main"]);
    place.merge(&theirs);
    place.commit("a", "2\n", "a2");
    let walk = place.walk("side", "main", &all()).unwrap();
    assert_eq!(walk.subjects.last().unwrap(), "a2");
    assert_eq!((walk.commits.len(), walk.parents), (2, vec![vec![], vec![0]]));
    let (mut found, mut wanted) = (walk.merge_bases, vec![ours, theirs]);
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn a_history_that_was_cut_off_is_reported() {
    let place = Place::new();
    place.forked();
    let from = format!("file://{}", place.tree().display());
    place.git(&["clone", "--quiet", "--depth=2", "--no-single-branch", &from, "../shallow"]);
    let shallow = place.beside("shallow");
    let ask = |good: &str, bad: &str| place.with(|context| walk(&shallow, good, bad, &all(), context));
    // Of main there are the merge, a2 and b2; b1 of the branch, too.
    let text = ask("HEAD^2", "HEAD").unwrap_err().to_string();
    assert!(text.contains("is a shallow clone") && text.contains("--unshallow"), "{text}");
    let text = ask("HEAD^2", "HEAD^1").unwrap_err().to_string();
    assert!(text.contains("is a shallow clone"), "{text}");
    assert_eq!(ask("origin/side~1", "origin/side").unwrap().subjects, ["b2"]);
}

#[test]
fn more_commits_than_a_walk_holds_are_reported() {
    let place = Place::new();
    let base = place.commit("a", "", "base");
    let mut stream = String::new();
    for number in 0..=COMMITS_MAX {
        let from = if number == 0 { format!("from {base}\n") } else { String::new() };
        stream += &format!("commit refs/heads/long\ncommitter x <x> {number} +0000\ndata 1\nx\n{from}\n");
    }
    let file = place.beside("stream");
    write(&file, stream);
    let mut import = Command::new("git");
    import.args(["fast-import", "--quiet"]).current_dir(place.tree());
    assert!(import.stdin(fs::File::open(file).unwrap()).status().unwrap().success());
    let text = place.refusal("main", "long", &all());
    assert!(text.contains("more than 32768 commits") && text.contains("--first-parent"), "{text}");
    assert_eq!(place.walk("main", "long~1", &all()).unwrap().commits.len(), COMMITS_MAX);
}
