//! How source shall become a Kernel: from the words of a user to a base and fragments.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::Error;
use kernel::Arch;
use kernel::files;

/// What a user says about a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Names of kiln's configurations, targets of make, or paths of files, in the order in which they apply.
    pub configurations: Vec<String>,
    /// What the kernel shall run on.
    pub arch: Arch,
    /// Build also when an option is not granted.
    pub allow_unmet: bool,
    /// Variables for make, such as `LLVM=1`.
    pub variables: Vec<String>,
}

impl Recipe {
    /// The configurations as one word: `boot,debug`.
    #[must_use]
    pub fn named(&self) -> String {
        if self.configurations.is_empty() { BOOT.to_owned() } else { self.configurations.join(",") }
    }
}

/// A whole configuration to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// What this target of make writes.
    Target(String),
    /// A whole file, from a distribution or another build.
    File(String),
}

/// Options that are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its name or path.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A base, and fragments in the order in which they apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Configuration {
    pub(crate) base: Base,
    pub(crate) parts: Vec<Part>,
}

/// A configuration of kiln: data, with a reason on each option.
struct Own {
    name: &'static str,
    /// It is a whole configuration, on top of `tinyconfig`.
    is_base: bool,
    common: &'static str,
    x86_64: &'static str,
    um: &'static str,
}

macro_rules! own {
    ($name:literal, $is_base:literal) => {
        Own {
            name: $name,
            is_base: $is_base,
            common: include_str!(concat!("../configs/", $name, ".config")),
            x86_64: include_str!(concat!("../configs/", $name, ".x86_64.config")),
            um: include_str!(concat!("../configs/", $name, ".um.config")),
        }
    };
}

const TINY: &str = "tiny";
const BOOT: &str = "boot";

static OWN: [Own; 6] = [
    own!("tiny", true),
    own!("boot", true),
    own!("debug", false),
    own!("fault", false),
    own!("cov", false),
    own!("kunit", false),
];

/// Names of keys that a distribution signs its modules with, and that nobody else has.
const WITHOUT_KEYS: &str = "\
# optional: of configurations that check signatures
CONFIG_SYSTEM_TRUSTED_KEYS=\"\"
# optional: since 5.13
CONFIG_SYSTEM_REVOCATION_KEYS=\"\"
";

/// What Kconfig writes into every whole configuration since 4.18.
const WRITTEN_BY_KCONFIG: &str = "\nCONFIG_CC_VERSION_TEXT=";

/// Of a configuration file with more lines than this one expects that it is whole.
const WHOLE: usize = 500;

/// What a word of the user means.
enum Word {
    Own(&'static Own),
    Target(String),
    Whole(Part),
    Fragment(Part),
}

impl Configuration {
    /// Reads what the recipe names. Fragments alone stand on the base `boot`, KUnit's on `tiny`.
    pub(crate) fn read(recipe: &Recipe) -> Result<Self, Error> {
        let words = recipe.configurations.iter().map(|name| word(name)).collect::<Result<Vec<_>, _>>()?;
        let base = base(&words)?;
        let implied = base.is_none().then(|| implied(&words));
        let mut own: Vec<&Own> = implied.iter().flat_map(|name| stack(name)).collect();
        let mut parts = Vec::new();
        for word in words {
            match word {
                Word::Own(found) => own.extend(stack(found.name)),
                Word::Fragment(part) => parts.push(part),
                Word::Whole(_) => parts.push(Part { name: "keys".into(), text: WITHOUT_KEYS.into() }),
                Word::Target(_) => {}
            }
        }
        let mut seen = BTreeSet::new();
        own.retain(|own| seen.insert(own.name));
        // The user's own fragments have the last word.
        let own = own.into_iter().flat_map(|own| own.parts(recipe.arch));
        let base = base.unwrap_or_else(|| Base::Target("tinyconfig".into()));
        Ok(Self { base, parts: own.chain(parts).collect() })
    }
}

fn word(name: &str) -> Result<Word, Error> {
    if let Some(own) = OWN.iter().find(|own| own.name == name) {
        return Ok(Word::Own(own));
    }
    if is_target(name) {
        return Ok(Word::Target(name.to_owned()));
    }
    let part = Part { name: name.to_owned(), text: read_file(name)? };
    let options = || part.text.lines().filter(|line| line.starts_with("CONFIG_")).count();
    let is_whole = part.text.contains(WRITTEN_BY_KCONFIG) || options() > WHOLE;
    Ok(if is_whole { Word::Whole(part) } else { Word::Fragment(part) })
}

/// The one whole configuration among the words.
fn base(words: &[Word]) -> Result<Option<Base>, Error> {
    let mut found: Option<(&str, Base)> = None;
    for word in words {
        let (name, base) = match word {
            // Both begin with the same target.
            Word::Own(own) if own.is_base => (TINY, Base::Target("tinyconfig".to_owned())),
            Word::Target(target) => (target.as_str(), Base::Target(target.clone())),
            Word::Whole(part) => (part.name.as_str(), Base::File(part.text.clone())),
            Word::Own(_) | Word::Fragment(_) => continue,
        };
        match &found {
            Some((first, _)) if *first != name => {
                return Err(Error::TwoBases { first: (*first).into(), second: name.into() });
            }
            _ => found = Some((name, base)),
        }
    }
    Ok(found.map(|(_, base)| base))
}

/// What fragments stand on when nothing was said.
fn implied(words: &[Word]) -> &'static str {
    let is_kunit = |word: &Word| matches!(word, Word::Own(own) if own.name == "kunit");
    if !words.is_empty() && words.iter().all(is_kunit) { TINY } else { BOOT }
}

/// A configuration of kiln with what it stands on.
fn stack(name: &str) -> impl Iterator<Item = &'static Own> {
    let below = (name == BOOT).then_some(TINY);
    below
        .into_iter()
        .chain([name])
        .filter_map(|name| OWN.iter().find(|own| own.name == name))
        .collect::<Vec<_>>()
        .into_iter()
}

impl Own {
    fn parts(&self, arch: Arch) -> Vec<Part> {
        let special = match arch {
            Arch::X86_64 => self.x86_64,
            Arch::Um => self.um,
        };
        let part = |name: String, text: &str| Part { name, text: text.to_owned() };
        vec![part(self.name.to_owned(), self.common), part(format!("{}.{arch}", self.name), special)]
    }
}

/// `defconfig`, `x86_64_defconfig`, `allnoconfig` and their like: those that depend on nothing but the tree.
fn is_target(name: &str) -> bool {
    const WHOLE: [&str; 5] = ["tinyconfig", "allnoconfig", "allyesconfig", "allmodconfig", "alldefconfig"];
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    WHOLE.contains(&name)
        || (name.ends_with("defconfig") && name.bytes().all(plain) && !name.starts_with('-'))
}

fn read_file(name: &str) -> Result<String, Error> {
    let path = PathBuf::from(name);
    if !name.contains('/') && !path.exists() {
        let known = OWN.iter().map(|own| own.name).collect::<Vec<_>>().join(", ");
        return Err(Error::NoSuchConfiguration { name: name.to_owned(), known });
    }
    let content = files::read(&path, files::CONFIG)?;
    String::from_utf8(content)
        .map_err(|_| Error::ConfigurationFile { path, reason: "it is not text".to_owned() })
}
