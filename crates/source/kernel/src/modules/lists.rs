//! The lists that depmod and the kernel's build leave in a module tree.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::modinfo::{is_name, normal, softdeps_before};

/// `modules.dep`: of each file the files it needs, as relative paths.
pub fn dependencies(text: &str) -> BTreeMap<String, Vec<String>> {
    let line = |line: &str| {
        let (path, needs) = line.split_once(':')?;
        Some((path.trim().to_owned(), needs.split_ascii_whitespace().map(str::to_owned).collect()))
    };
    text.lines().filter_map(line).collect()
}

/// `modules.softdep`: of each module those that should come before it.
pub fn soft_dependencies(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        if let Some((name, value)) = line.strip_prefix("softdep ").and_then(|rest| rest.split_once(' ')) {
            found.entry(normal(name)).or_default().extend(softdeps_before(value));
        }
    }
    found
}

/// `modules.alias`: pairs of a plain alias and a module; patterns for hardware are passed over.
pub fn aliases(text: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (alias, name) = line.strip_prefix("alias ")?.split_once(' ')?;
        (is_name(alias) && is_name(name)).then(|| (normal(alias), normal(name)))
    };
    text.lines().filter_map(line).collect()
}

/// `modules.builtin`: the modules that are part of the image.
pub fn built_in(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(|line| module_name(line.trim())).collect()
}

/// `modules.builtin.modinfo`: pairs of a plain alias and the built-in module that has it.
pub fn built_in_aliases(text: &str) -> Vec<(String, String)> {
    let entry = |entry: &str| {
        let (name, alias) = entry.split_once(".alias=")?;
        (is_name(alias) && is_name(name)).then(|| (normal(alias), normal(name)))
    };
    text.split('\0').filter_map(entry).collect()
}

/// `modules.order` of a built tree: the files of its modules, which some releases list as `.o`.
pub fn order(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let stem = line.strip_suffix(".ko").or_else(|| line.strip_suffix(".o"))?;
        // Releases before 6.3 write the path that the module has once it is installed.
        let stem = stem.strip_prefix("kernel/").map_or(vec![stem], |inner| vec![inner, stem]);
        Some(stem.into_iter().map(|stem| format!("{stem}.ko")).collect::<Vec<_>>())
    };
    text.lines().filter_map(|text| line(text.trim())).flatten().collect()
}

/// The name of the module in a file: `kernel/fs/xfs/xfs.ko.xz` holds `xfs`.
pub fn module_name(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    let packed = [".gz", ".xz", ".zst"].iter().find_map(|ending| file.strip_suffix(ending));
    let name = packed.unwrap_or(file).strip_suffix(".ko")?;
    is_name(name).then(|| normal(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_modules() {
        assert_eq!(module_name("kernel/crypto/crc32c-intel.ko.zst").as_deref(), Some("crc32c_intel"));
        assert_eq!(module_name("a.ko").as_deref(), Some("a"));
        for other in ["", "a", "a.ko.bz2", ".ko", "x/.ko.xz", "modules.dep", "a b.ko", "a.ko/"] {
            assert_eq!(module_name(other), None, "{other}");
        }
    }

    #[test]
    fn lists_of_depmod() {
        let needs = dependencies("kernel/a.ko.xz: kernel/b.ko kernel/c.ko\nkernel/b.ko:\nrubbish\n");
        assert_eq!(needs["kernel/a.ko.xz"], ["kernel/b.ko", "kernel/c.ko"]);
        assert_eq!(needs.len(), 2);
        let soft = soft_dependencies("# x\nsoftdep btrfs pre: xxhash64\nsoftdep btrfs pre: a-b post: c\n");
        assert_eq!(soft["btrfs"], ["xxhash64", "a_b"]);
        let found = aliases("alias pci:v*d* e1000\nalias crypto-crc32c crc32c-intel\nalias x\n");
        assert_eq!(found, [("crypto_crc32c".into(), "crc32c_intel".into())]);
    }

    #[test]
    fn lists_of_the_build() {
        assert_eq!(built_in("kernel/fs/ext4/ext4.ko\nx\n").into_iter().collect::<Vec<_>>(), ["ext4"]);
        let found = built_in_aliases("ext4.license=GPL\0ext4.alias=fs-ext4\0ext4.alias=a:*\0");
        assert_eq!(found, [("fs_ext4".into(), "ext4".into())]);
        assert_eq!(order("fs/xfs/xfs.o\nfs/a.ko\n"), ["fs/xfs/xfs.ko", "fs/a.ko"]);
        assert_eq!(order("kernel/fs/xfs/xfs.ko\n"), ["fs/xfs/xfs.ko", "kernel/fs/xfs/xfs.ko"]);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            dependencies(&text);
            soft_dependencies(&text);
            aliases(&text);
            built_in(&text);
            built_in_aliases(&text);
            order(&text);
        }

        #[test]
        fn names_cannot_lead_elsewhere(path: String) {
            let name = module_name(&path);
            prop_assert!(name.is_none_or(|name| !name.contains(['/', '-']) && !name.is_empty()));
        }
    }
}
