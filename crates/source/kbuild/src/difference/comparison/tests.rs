use super::*;
use kconfig::Variables;
use proptest::prelude::*;

fn symbols(kconfig: &str) -> Symbols {
    Symbols::read(&Variables::new(), &mut |_| Ok(kconfig.to_owned())).unwrap()
}

fn difference(kconfig: &str, good: &str, bad: &str, given: Option<&str>) -> Difference {
    let symbols = symbols(kconfig);
    Comparison::new(&symbols, &[good.to_owned(), bad.to_owned()]).difference(given)
}

fn shown(found: &Difference) -> Vec<String> {
    let line = |one: &Setting| format!("{}: {} -> {}", one.names.join(","), one.good, one.bad);
    found.options.iter().map(line).collect()
}

const EACH: &str = "\
config DERIVED\n\tbool\n\tdefault TOP\n\
config CHILD\n\ttristate \"c\"\n\tdepends on TOP\n\
config TOP\n\tbool \"t\"\n\
config NAME\n\tstring \"n\"\n\
config ADDRESS\n\thex \"a\"\n\
choice\n\tprompt \"rate\"\nconfig HZ_100\n\tbool \"1\"\nconfig HZ_250\n\tbool \"2\"\nconfig HZ_1000\n\tbool \"3\"\nendchoice\n\
config HZ\n\tint\n\tdefault 250 if HZ_250\n\
config SAME\n\tint \"s\"\n";

#[test]
fn what_a_user_would_set_and_nothing_that_follows_from_it() {
    let good = "# CONFIG_TOP is not set\nCONFIG_NAME=\"n\"\nCONFIG_ADDRESS=0x10\n# CONFIG_HZ_100 is not set\n\
                CONFIG_HZ_250=y\n# CONFIG_HZ_1000 is not set\nCONFIG_HZ=250\nCONFIG_SAME=1\n";
    let bad = "CONFIG_DERIVED=y\nCONFIG_CHILD=m\nCONFIG_TOP=y\nCONFIG_NAME=\"o\"\nCONFIG_ADDRESS=0x20\n\
               # CONFIG_HZ_100 is not set\n# CONFIG_HZ_250 is not set\nCONFIG_HZ_1000=y\nCONFIG_HZ=1000\nCONFIG_SAME=1\n";
    let there = difference(EACH, good, bad, None);
    assert_eq!(
        shown(&there),
        [
            "TOP: n -> y",
            "CHILD: n -> m",
            "NAME: \"n\" -> \"o\"",
            "ADDRESS: 0x10 -> 0x20",
            "HZ_1000,HZ_250: HZ_250=y -> HZ_1000=y"
        ]
    );
    let with = there.with(&[4, 0, 99]);
    for line in ["CONFIG_TOP=y", "# CONFIG_CHILD is not set", "CONFIG_NAME=\"n\"", "CONFIG_HZ_1000=y"] {
        assert!(with.lines().any(|found| found == line), "{with}");
    }
    assert!(with.contains("# CONFIG_HZ_250 is not set\n") && !with.contains("CONFIG_HZ_250=y"), "{with}");
    let back = difference(EACH, bad, good, None);
    assert_eq!(shown(&back)[..2], ["CHILD: m -> n", "TOP: y -> n"], "what depends goes first");
}

#[test]
fn what_appears_at_its_default_is_left_to_kconfig() {
    let kconfig = "config TOP\n\tbool \"t\"\nif TOP\nconfig A\n\tint \"a\"\n\tdefault 1\nconfig B\n\tint \"b\"\n\
                   \tdefault 1\nconfig C\n\tbool \"c\"\n\tdefault y\nchoice\n\tprompt \"p\"\nconfig P\n\tbool \"p\"\n\
                   config Q\n\tbool \"q\"\nendchoice\nendif\n";
    let good = "# CONFIG_TOP is not set\n";
    let bad =
        "CONFIG_TOP=y\nCONFIG_A=1\nCONFIG_B=2\n# CONFIG_C is not set\n# CONFIG_P is not set\nCONFIG_Q=y\n";
    let given =
        "CONFIG_TOP=y\nCONFIG_A=1\nCONFIG_B=1\n# CONFIG_C is not set\nCONFIG_P=y\n# CONFIG_Q is not set\n";
    let first = difference(kconfig, good, bad, None);
    assert_eq!(shown(&first), ["TOP: n -> y"]);
    assert!(first.with(&[0]).contains("# CONFIG_C is not set\n"), "its default would switch it on");
    let found = difference(kconfig, good, bad, Some(given));
    assert_eq!(shown(&found), ["TOP: n -> y", "B: unset -> 2", "Q: unset -> Q=y"]);
    assert_eq!(shown(&difference(kconfig, bad, good, None)), ["TOP: y -> n"]);
}

#[test]
fn what_can_be_set_at_neither_end_is_left_to_kconfig() {
    let kconfig = "config S\n\tbool \"s\"\n\tselect X\nconfig X\n\tbool \"x\" if NOWHERE\n\
                   config EXPERT\n\tbool \"e\"\nconfig ON\n\tbool \"o\" if EXPERT\n\tdefault y\n";
    let good = "# CONFIG_S is not set\n# CONFIG_EXPERT is not set\nCONFIG_ON=y\n";
    let bad = "CONFIG_S=y\nCONFIG_X=y\nCONFIG_EXPERT=y\n# CONFIG_ON is not set\n";
    assert_eq!(shown(&difference(kconfig, good, bad, None)), ["S: n -> y", "EXPERT: n -> y", "ON: y -> n"]);
    assert_eq!(shown(&difference(kconfig, bad, good, None)), ["ON: n -> y", "EXPERT: y -> n", "S: y -> n"]);
}

#[test]
fn a_cycle_has_an_end() {
    let kconfig = "config A\n\tbool \"a\"\n\tdepends on B\nconfig B\n\tbool \"b\"\n\tdepends on A\n";
    assert_eq!(difference(kconfig, "", "CONFIG_A=y\nCONFIG_B=y\n", None).options.len(), 2);
}

/// Options of which each may depend on those with a lower number, in the order of a tree's files.
#[derive(Debug, Clone)]
struct Made {
    needs: Vec<Vec<usize>>,
    order: Vec<usize>,
}

impl Made {
    fn kconfig(&self) -> String {
        let one = |&n: &usize| {
            let needs = self.needs[n].iter().map(|other| format!("\tdepends on O{other}\n"));
            format!("config O{n}\n\tbool \"o\"\n{}", needs.collect::<String>())
        };
        self.order.iter().map(one).collect()
    }

    /// As Kconfig writes what it makes of a text; what nobody has set is on.
    fn completed(&self, text: &str) -> String {
        let mut on: Vec<bool> = Vec::new();
        for (n, needs) in self.needs.iter().enumerate() {
            let is_off = text.lines().any(|line| line == off(&format!("O{n}")));
            on.push(needs.iter().all(|other| on[*other]) && !is_off);
        }
        let has_place = |n: &usize| self.needs[*n].iter().all(|other| on[*other]);
        let line = |n: usize| if on[n] { format!("CONFIG_O{n}=y") } else { off(&format!("O{n}")) };
        self.order.iter().copied().filter(has_place).map(|n| line(n) + "\n").collect()
    }
}

fn trees() -> impl Strategy<Value = Made> {
    const SIZE: usize = 9;
    let needs = proptest::collection::vec(proptest::collection::vec(0..SIZE, 0..3), SIZE);
    (needs, Just((0..SIZE).collect::<Vec<_>>()).prop_shuffle()).prop_map(|(mut needs, order)| {
        needs.iter_mut().enumerate().for_each(|(n, needs)| needs.retain(|other| *other < n));
        Made { needs, order }
    })
}

proptest! {
    #[test]
    fn each_step_takes_effect_and_the_last_one_arrives(
        made in trees(),
        ends in proptest::array::uniform2(proptest::collection::vec(any::<bool>(), 9)),
    ) {
        let [good, bad] = ends.map(|on| {
            let off: String = (0..9).filter(|n| !on[*n]).map(|n| off(&format!("O{n}")) + "\n").collect();
            made.completed(&off)
        });
        let found = difference(&made.kconfig(), &good, &bad, None);
        let included: Vec<usize> = (0..found.options.len()).collect();
        prop_assert_eq!(made.completed(&found.with(&[])), good.clone());
        prop_assert_eq!(made.completed(&found.with(&included)), bad.clone());
        let [good, bad] = [&good, &bad].map(|text| Config::parse(text));
        for count in 0..=found.options.len() {
            let config = Config::parse(&made.completed(&found.with(&included[..count])));
            for (at, one) in found.options.iter().enumerate() {
                let wanted = if at < count { &bad } else { &good };
                prop_assert_eq!(config.value(&one.names[0]), wanted.value(&one.names[0]));
            }
        }
    }

    #[test]
    fn any_text_is_taken(good: String, bad: String) {
        let found = difference(EACH, &good, &bad, Some(&bad));
        found.with(&[0, 1, usize::MAX]);
    }
}
