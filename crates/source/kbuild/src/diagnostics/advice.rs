//! What a user can do about an error of the host: install a package, free some space.

/// Programs and the package of Debian and Ubuntu that has them, where the names differ.
const PROGRAMS: &[(&str, &str)] = &[
    ("ar", "binutils"),
    ("as", "binutils"),
    ("awk", "gawk"),
    ("cc", "gcc"),
    ("cc1", "gcc"),
    ("depmod", "kmod"),
    ("ld", "binutils"),
    ("ld.bfd", "binutils"),
    ("ld.lld", "lld"),
    ("lex", "flex"),
    ("llvm-ar", "llvm"),
    ("llvm-nm", "llvm"),
    ("llvm-objcopy", "llvm"),
    ("llvm-strip", "llvm"),
    ("mkimage", "u-boot-tools"),
    ("nm", "binutils"),
    ("objcopy", "binutils"),
    ("objdump", "binutils"),
    ("pahole", "dwarves"),
    ("readelf", "binutils"),
    ("rustc", "rustc"),
    ("strip", "binutils"),
    ("unlz4", "lz4"),
    ("xz", "xz-utils"),
    ("yacc", "bison"),
];

/// Programs whose package has their name, among those that builds of kernels call.
const SAME: &[&str] = &[
    "bc", "bindgen", "bison", "bzip2", "ccache", "clang", "cpio", "flex", "g++", "gawk", "gcc", "git",
    "gzip", "kmod", "lz4", "lzop", "make", "openssl", "perl", "python3", "rsync", "sparse", "tar", "zstd",
];

/// Headers by the beginning of their names.
const HEADERS: &[(&str, &str)] = &[
    ("alsa/asoundlib.h", "libasound2-dev"),
    ("asm/unistd_32.h", "gcc-multilib"),
    ("bpf/", "libbpf-dev"),
    ("cap-ng.h", "libcap-ng-dev"),
    ("dwarf.h", "libdw-dev"),
    ("elfutils/", "libdw-dev"),
    ("fuse.h", "libfuse-dev"),
    ("gcc-plugin.h", "gcc-12-plugin-dev"),
    ("gelf.h", "libelf-dev"),
    ("gmp.h", "libgmp-dev"),
    ("hugetlbfs.h", "libhugetlbfs-dev"),
    ("libelf.h", "libelf-dev"),
    ("libmnl/", "libmnl-dev"),
    ("liburing.h", "liburing-dev"),
    ("mpc.h", "libmpc-dev"),
    ("ncurses.h", "libncurses-dev"),
    ("numa.h", "libnuma-dev"),
    ("openssl/", "libssl-dev"),
    ("popt.h", "libpopt-dev"),
    ("stdio.h", "libc6-dev"),
    ("stdlib.h", "libc6-dev"),
    ("sys/capability.h", "libcap-dev"),
    ("sys/types.h", "libc6-dev"),
    ("yaml.h", "libyaml-dev"),
    ("zlib.h", "zlib1g-dev"),
];

/// Libraries by their names on the linker's command line.
const LIBRARIES: &[(&str, &str)] = &[
    ("c", "libc6-dev"),
    ("cap", "libcap-dev"),
    ("cap-ng", "libcap-ng-dev"),
    ("crypto", "libssl-dev"),
    ("dw", "libdw-dev"),
    ("elf", "libelf-dev"),
    ("mnl", "libmnl-dev"),
    ("ncurses", "libncurses-dev"),
    ("numa", "libnuma-dev"),
    ("popt", "libpopt-dev"),
    ("ssl", "libssl-dev"),
    ("yaml", "libyaml-dev"),
    ("z", "zlib1g-dev"),
];

/// What to do about an error with this text, if it is the host's.
pub(super) fn of(text: &str) -> Option<String> {
    if is_full_disk(text) {
        return Some("free some space, or build on another disk".to_owned());
    }
    let out_of_memory =
        ["Killed signal terminated", "out of memory", "virtual memory exhausted", "Cannot allocate memory"];
    if text == "Killed" || out_of_memory.iter().any(|words| text.contains(words)) {
        return Some(
            "something killed it, most often the kernel for lack of memory: build with fewer jobs".to_owned(),
        );
    }
    let package = asked_for(text)
        .or_else(|| header(text))
        .or_else(|| library(text))
        .or_else(|| missing_program(text).and_then(package_of));
    package.map(|package| format!("apt-get install {package}"))
}

/// Whether a disk ran full.
pub(super) fn is_full_disk(text: &str) -> bool {
    ["No space left on device", "Disk quota exceeded"].iter().any(|words| text.contains(words))
}

/// What the kernel's own makefiles ask for; Debian's name comes first there.
fn asked_for(text: &str) -> Option<String> {
    let (_, names) = text.split_once("please install ")?;
    let name = names.split([',', ' ', '"']).next()?;
    (name.ends_with("-dev") && kernel::is_package_name(name)).then(|| name.to_owned())
}

fn header(text: &str) -> Option<String> {
    let name = text
        .strip_suffix(": No such file or directory")
        .or_else(|| text.strip_prefix('\'')?.strip_suffix("' file not found"))?;
    entry(HEADERS, |known| name.starts_with(known))
}

fn library(text: &str) -> Option<String> {
    let (_, after) =
        text.split_once("cannot find -l").or_else(|| text.split_once("unable to find library -l"))?;
    let name = after.split([':', ' ']).next()?;
    entry(LIBRARIES, |known| known == name)
}

fn entry(list: &[(&str, &str)], fits: impl Fn(&str) -> bool) -> Option<String> {
    list.iter().find(|(known, _)| fits(known)).map(|(_, package)| (*package).to_owned())
}

/// The program that a shell, make, gcc or ccache did not find.
fn missing_program(text: &str) -> Option<&str> {
    let name = if let Some(name) =
        text.strip_suffix(": not found").or_else(|| text.strip_suffix(": command not found"))
    {
        name
    } else if let Some((_, after)) =
        text.split_once("cannot find ").or_else(|| text.split_once("cannot execute "))
    {
        after.split(':').next()?
    } else if let Some((_, after)) = text.split_once("Could not find compiler ") {
        after.split(" in PATH").next()?
    } else if text.contains("pahole") && text.contains("is not available") {
        "pahole"
    } else {
        text.strip_suffix(": No such file or directory")
            .or_else(|| text.strip_suffix(": Command not found"))?
    };
    let name = name.rsplit(' ').next()?;
    Some(name.trim_matches(|c| "'\"`‘’“”".contains(c)))
}

fn package_of(program: &str) -> Option<String> {
    let known = entry(PROGRAMS, |known| known == program);
    let same = || SAME.contains(&program).then(|| program.to_owned());
    // gcc-12, clang-14, and cross compilers such as aarch64-linux-gnu-gcc.
    let version = || {
        let (name, version) = program.rsplit_once('-')?;
        let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        (is_version && SAME.contains(&name)).then(|| program.to_owned())
    };
    let cross = || {
        let (target, tool) = program.rsplit_once('-')?;
        let is_target = target.contains("-linux-")
            && target.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        let target = target.replace('_', "-");
        match tool {
            "gcc" if is_target => Some(format!("gcc-{target}")),
            "ld" | "as" | "ar" | "objcopy" | "nm" if is_target => Some(format!("binutils-{target}")),
            _ => None,
        }
    };
    known.or_else(same).or_else(version).or_else(cross)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_for_what_is_missing() {
        for (text, wanted) in [
            ("bison: not found", "bison"),
            ("flex: command not found", "flex"),
            ("lex: Command not found", "flex"),
            ("bc: No such file or directory", "bc"),
            ("gelf.h: No such file or directory", "libelf-dev"),
            ("sys/capability.h: No such file or directory", "libcap-dev"),
            ("cannot find -lnuma: No such file or directory", "libnuma-dev"),
            ("'openssl/opensslv.h' file not found", "libssl-dev"),
            ("cannot find -lelf: No such file or directory", "libelf-dev"),
            ("cannot find -lcrypto", "libssl-dev"),
            ("collect2: cannot find ‘ld’", "binutils"),
            ("gcc: cannot execute 'as': execvp: No such file or directory", "binutils"),
            ("Could not find compiler \"gcc\" in PATH", "gcc"),
            ("BTF: .tmp_vmlinux.btf: pahole (pahole) is not available", "dwarves"),
            ("aarch64-linux-gnu-gcc: not found", "gcc-aarch64-linux-gnu"),
            ("x86_64-linux-gnu-ld: not found", "binutils-x86-64-linux-gnu"),
            ("CONFIG_X=y, please install libelf-dev, libelf-devel or elfutils-libelf-devel", "libelf-dev"),
            ("gcc-12: not found", "gcc-12"),
            ("env: ‘python3’: No such file or directory", "python3"),
        ] {
            assert_eq!(of(text), Some(format!("apt-get install {wanted}")), "{text}");
        }
    }

    #[test]
    fn no_advice_without_knowledge() {
        for text in [
            "",
            "x: not found",
            "linux/nothing.h: No such file or directory",
            "cannot find ",
            ": not found",
            "a b; rm -x: not found",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        assert!(of("final link failed: No space left on device").is_some_and(|text| text.contains("space")));
        assert!(of("gcc: Killed signal terminated program cc1").is_some_and(|text| text.contains("jobs")));
    }
}
