//! Where a function of the kernel is.

use crate::kallsyms::{self, functions};

/// Names that are given at most.
const NEAR_MAX: usize = 3;

/// What a name must have in common with another one that is near.
const COMMON_MIN: usize = 3;

/// The address of a function of the kernel.
///
/// # Errors
///
/// Why it has none, in a line, with the names that are the most like it.
pub(super) fn address(name: &str) -> Result<u64, String> {
    find(&kallsyms::read()?, name)
}

fn find(text: &str, name: &str) -> Result<u64, String> {
    let found: Vec<u64> =
        functions(text).filter(|function| function.name == name).map(|function| function.address).collect();
    match found[..] {
        [] => Err(unknown(text, name)),
        [0, ..] => Err("the kernel hides its addresses (kernel.kptr_restrict, or no root)".to_owned()),
        [address] => Ok(address),
        _ => Err(format!("the kernel has {} functions of this name: a probe could be of any", found.len())),
    }
}

/// Why a list of kallsyms has no function of this name, with the names that are the most like it.
#[must_use]
pub fn unknown(text: &str, name: &str) -> String {
    let whole = functions(text).map(|function| function.name).filter(|name| !name.contains(".cold"));
    let near = near(whole, name).join(", ");
    let near = if near.is_empty() { near } else { format!("; near ones are {near}") };
    format!("the kernel has no such function: it is inlined, or in a module that is not loaded{near}")
}

/// Parts of a function that the compiler has split come first, then names that begin alike, the shorter before the longer.
fn near<'a>(functions: impl Iterator<Item = &'a str>, name: &str) -> Vec<String> {
    let common =
        |function: &str| function.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    let mut near: Vec<(usize, usize, &str)> = functions
        .map(|function| (common(function), function.len(), function))
        .filter(|(common, ..)| *common >= COMMON_MIN.max(name.len() / 2))
        .collect();
    near.sort_unstable_by(|one, other| {
        other.0.cmp(&one.0).then_with(|| (one.1, one.2).cmp(&(other.1, other.2)))
    });
    near.dedup();
    near.into_iter().take(NEAR_MAX).map(|(.., function)| function.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T vfs_read
ffffffff81000010 T vfs_readv
ffffffff81000020 t do_loop.isra.0
ffffffff81000030 D vfs_reader
ffffffff81000040 t ext4_readdir\t[ext4]
";

    #[test]
    fn names_that_begin_alike_are_near() {
        let near = |name: &str| near(functions(TEXT).map(|function| function.name), name);
        assert_eq!(near("vfs_reed"), ["vfs_read", "vfs_readv"]);
        assert_eq!(near("do_loop"), ["do_loop.isra.0"]);
        assert_eq!(near("ext4_readdirs"), ["ext4_readdir"]);
        assert!(near("zzz").is_empty() && near("").is_empty());
    }

    #[test]
    fn a_function_has_one_address_or_it_is_said_why_not() {
        assert_eq!(find(TEXT, "vfs_readv"), Ok(0xffff_ffff_8100_0010));
        let why = |text: &str, name: &str| find(text, name).expect_err("it has none");
        assert!(why(TEXT, "vfs_reed").ends_with("near ones are vfs_read, vfs_readv"));
        assert!(why(TEXT, "vfs_reader").contains("near ones"), "it is no code");
        assert!(why(TEXT, "zzz").ends_with("not loaded"));
        assert!(why("0 T vfs_read", "vfs_read").contains("kptr_restrict"));
        assert!(why("1 t show\n2 t show", "show").contains("2 functions"));
    }
}
