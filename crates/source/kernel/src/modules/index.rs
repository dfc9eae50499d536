//! What is in a module tree: read once, kept in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::decompress::decompress;
use crate::error::Error;
use crate::files::{self, PartsHash};
use crate::modules::lists;
use crate::modules::modinfo::{self, ModInfo, normal};
use crate::modules::survey::{ModuleFile, Survey};

/// The modules of a tree by name, and what is built in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) entries: BTreeMap<String, Entry>,
    /// Of each plain alias the modules that have it, loadable or built in.
    pub(crate) aliases: BTreeMap<String, BTreeSet<String>>,
    /// Nothing if the tree does not say what is built in.
    pub(crate) built_in: Option<BTreeSet<String>>,
    /// Over the paths and the contents of all modules.
    pub(crate) hash: String,
}

/// One loadable module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Relative to the tree.
    pub(crate) path: PathBuf,
    pub(crate) depends: Vec<String>,
    pub(crate) softdeps: Vec<String>,
    /// Why the file cannot be loaded, if so.
    pub(crate) damage: Option<String>,
}

/// What reading one file gave.
struct Reading {
    hash: String,
    info: Result<ModInfo, String>,
}

/// What a name, or an alias, stands for in a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'a> {
    BuiltIn,
    Loadable(&'a str, &'a Entry),
    Nothing,
}

impl Index {
    /// Reads every module that the survey found.
    pub(crate) fn build(survey: &Survey) -> Result<Self, Error> {
        let lists = Lists::read(&survey.root)?;
        let mut index = Self { built_in: lists.built_in.clone(), ..Self::default() };
        let mut hash = PartsHash::default();
        let names: BTreeMap<&str, &str> =
            survey.files.iter().map(|file| (file.relative.as_str(), file.name.as_str())).collect();
        for (file, reading) in survey.files.iter().zip(read_all(&survey.files, &lists)?) {
            hash.part(&file.relative);
            hash.part(&reading.hash);
            index.insert(file, reading, &lists, &names);
        }
        for (alias, name) in lists.aliases {
            if index.entries.contains_key(&name) || index.is_built_in(&name) {
                index.aliases.entry(alias).or_default().insert(name);
            }
        }
        index.hash = hash.finish();
        Ok(index)
    }

    pub(crate) fn is_built_in(&self, name: &str) -> bool {
        self.built_in.as_ref().is_some_and(|names| names.contains(name))
    }

    fn insert(&mut self, file: &ModuleFile, reading: Reading, lists: &Lists, names: &BTreeMap<&str, &str>) {
        let mut entry = Entry { path: (&file.relative).into(), ..Entry::default() };
        match reading.info {
            Ok(info) => {
                entry.depends = info.depends;
                entry.softdeps = info.softdeps;
                for alias in info.aliases {
                    self.aliases.entry(alias).or_default().insert(file.name.clone());
                }
            }
            Err(reason) => entry.damage = Some(reason),
        }
        if let Some(needs) = lists.depends.get(&file.relative) {
            let named = |path: &String| names.get(path.as_str()).map(|name| (*name).to_owned());
            // A file that is listed and not there keeps its name, so that the closure can miss it.
            entry.depends =
                needs.iter().filter_map(|path| named(path).or_else(|| lists::module_name(path))).collect();
            entry.softdeps = lists.softdeps.get(&file.name).cloned().unwrap_or_default();
        }
        // Of two files for one module depmod takes the one below updates/, and lists only that.
        let better = match lists.depends.is_empty() {
            true => file.relative.starts_with("updates/"),
            false => lists.depends.contains_key(&file.relative),
        };
        if better || !self.entries.contains_key(&file.name) {
            self.entries.insert(file.name.clone(), entry);
        }
    }

    /// Looks a name up, first as a module's own, then as an alias.
    pub(crate) fn find(&self, name: &str) -> Found<'_> {
        let name = normal(name);
        if let Some((name, entry)) = self.entries.get_key_value(&name) {
            return Found::Loadable(name, entry);
        }
        let providers = || self.aliases.get(&name).into_iter().flatten();
        if self.is_built_in(&name) || providers().any(|provider| self.is_built_in(provider)) {
            return Found::BuiltIn;
        }
        // Of several implementations one is enough, and the generic one loads on every processor.
        let provider = providers().find(|name| name.ends_with("_generic")).or_else(|| providers().next());
        let entry = provider.and_then(|name| self.entries.get_key_value(name));
        entry.map_or(Found::Nothing, |(name, entry)| Found::Loadable(name, entry))
    }
}

/// The lists that stand beside the modules.
struct Lists {
    depends: BTreeMap<String, Vec<String>>,
    softdeps: BTreeMap<String, Vec<String>>,
    aliases: Vec<(String, String)>,
    built_in: Option<BTreeSet<String>>,
}

impl Lists {
    fn read(root: &Path) -> Result<Self, Error> {
        let text = |name: &str| files::read_text(&root.join(name), files::LIST);
        let mut aliases = text("modules.alias")?.map_or_else(Vec::new, |text| lists::aliases(&text));
        aliases
            .extend(text("modules.builtin.modinfo")?.iter().flat_map(|text| lists::built_in_aliases(text)));
        Ok(Self {
            depends: text("modules.dep")?.map_or_else(BTreeMap::new, |text| lists::dependencies(&text)),
            softdeps: text("modules.softdep")?
                .map_or_else(BTreeMap::new, |text| lists::soft_dependencies(&text)),
            aliases,
            built_in: text("modules.builtin")?.map(|text| lists::built_in(&text)),
        })
    }
}

/// Reads all files on all processors, since thousands may have to be decompressed.
fn read_all(files: &[ModuleFile], lists: &Lists) -> Result<Vec<Reading>, Error> {
    host::on_all_cpus(files, |file| read_one(file, lists)).into_iter().collect()
}

fn read_one(file: &ModuleFile, lists: &Lists) -> Result<Reading, Error> {
    let content = files::read(&file.path, files::MODULE)?;
    let hash = files::hash(&content);
    if lists.depends.contains_key(&file.relative) {
        // depmod has read it already, and left its aliases in modules.alias.
        return Ok(Reading { hash, info: Ok(ModInfo::default()) });
    }
    let info = decompress(content, files::MODULE.bytes)
        .and_then(|content| modinfo::parse(&content).map_err(|error| error.to_string()));
    Ok(Reading { hash, info })
}
