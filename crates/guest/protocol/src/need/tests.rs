use super::*;
use proptest::prelude::*;

fn need() -> impl Strategy<Value = Need<String>> {
    let word = "[a-zA-Z0-9_][a-zA-Z0-9_.:+-]{0,20}";
    prop_oneof![
        word.prop_map(Need::Module),
        word.prop_map(Need::OptionalModule),
        word.prop_map(Need::Filesystem),
        word.prop_map(Need::Config),
        word.prop_map(|name| Need::Device(format!("/dev/{name}"))),
        (1..=1_u64 << 24).prop_map(Need::Disk),
        (1..=1_u64 << 24).prop_map(Need::Memory),
        (1..=255_u32).prop_map(Need::Cpus),
        (0..=63_u32).prop_map(Need::Capability),
        word.prop_map(Need::Tool),
    ]
}

/// The first form of a need.
fn old_form(need: &Need<String>) -> String {
    match need {
        Need::Module(name) => format!("module {name}"),
        Need::OptionalModule(_) => need.to_string(),
        Need::Filesystem(name) => format!("file system {name}"),
        Need::Config(option) => format!("CONFIG_{option}"),
        Need::Device(path) => format!("device {path}"),
        Need::Disk(mib) => format!("a disk of {mib} MiB"),
        Need::Memory(mib) => format!("{mib} MiB of memory"),
        Need::Cpus(count) => format!("{count} CPUs"),
        Need::Capability(number) => format!("capability {number}"),
        Need::Tool(name) => format!("program {name}"),
    }
}

proptest! {
    #[test]
    fn what_is_shown_is_read(need in need()) {
        prop_assert_eq!(need.to_string().parse(), Ok(need.clone()));
        prop_assert_eq!(need.borrowed().to_string(), need.to_string());
        prop_assert_eq!(need.borrowed().owned(), need.clone());
        prop_assert!(!need.to_string().contains(','), "a list of them can be split");
    }

    #[test]
    fn the_first_form_means_the_same(need in need()) {
        prop_assert_eq!(old_form(&need).parse(), Ok(need));
    }

    #[test]
    fn any_text_is_read_without_panic(text: String) {
        let _ = text.parse::<Need<String>>();
    }
}

#[test]
fn both_forms_are_read() {
    let name = ToString::to_string;
    for (text, old, need) in [
        ("module=kvm", "module kvm", Need::Module(name("kvm"))),
        ("fs=xfs", "file system xfs", Need::Filesystem(name("xfs"))),
        ("config=XFS_FS", "CONFIG_XFS_FS", Need::Config(name("XFS_FS"))),
        ("device=/dev/kvm", "device /dev/kvm", Need::Device(name("/dev/kvm"))),
        ("disk=512M", "a disk of 512 MiB", Need::Disk(512)),
        ("memory=4G", "4096 MiB of memory", Need::Memory(4096)),
        ("cpus=2", "2 CPUs", Need::Cpus(2)),
        ("capability=21", "capability 21", Need::Capability(21)),
        ("program=fio", "program fio", Need::Tool(name("fio"))),
    ] {
        assert_eq!(text.parse(), Ok(need.clone()));
        assert_eq!(old.parse(), Ok(need.clone()));
        assert_eq!(need.to_string(), text);
    }
}

#[test]
fn sizes_have_units() {
    for (text, mib) in
        [("disk=64", 64), ("disk=64M", 64), ("disk=2G", 2048), ("disk=2048M", 2048), ("disk=1T", 1 << 20)]
    {
        assert_eq!(text.parse(), Ok(Need::<String>::Disk(mib)), "{text}");
    }
    assert_eq!("config=CONFIG_XFS_FS".parse(), Ok(Need::Config("XFS_FS".to_string())));
}

#[test]
fn an_unknown_need_is_refused_with_the_list_of_needs() {
    for wrong in [
        "",
        "module",
        "module ",
        "module=",
        "module a b",
        "module=a b",
        "program ../x",
        "program=../x",
        "program=..",
        "program a/b",
        "program=a=b",
        "device x",
        "device=x",
        "device /",
        "device /dev/../x",
        "device=/dev/../x",
        "CONFIG_",
        "config=",
        "disk",
        "disk=",
        "disk=M",
        "disk=1K",
        "disk=1GM",
        "disk=-1",
        "disk=1.5G",
        "a disk of MiB",
        "a disk of -1 MiB",
        "a disk of 1 GiB",
        "a disk of 1G MiB",
        " CPUs",
        "x CPUs",
        "2 cpus",
        "cpus=two",
        "CPUS=2",
        "capability CAP_SYS_ADMIN",
        "xfs",
        "size=2",
        "module é",
        "disk=1é",
    ] {
        let error = wrong.parse::<Need<String>>().expect_err(wrong);
        assert_eq!(error, WrongNeed::Unknown(wrong.to_string()));
        assert!(error.to_string().contains("fs=TYPE"), "{error}");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (wrong, least, most) in [
        ("disk=0", "1M", "16T"),
        ("disk=17T", "1M", "16T"),
        ("a disk of 0 MiB", "1M", "16T"),
        ("memory=99999999999999999999G", "1M", "16T"),
        ("99999999999999999999 MiB of memory", "1M", "16T"),
        ("cpus=0", "1", "255"),
        ("256 CPUs", "1", "255"),
        ("capability=64", "0", "63"),
    ] {
        let text = wrong.to_string();
        assert_eq!(wrong.parse::<Need<String>>(), Err(WrongNeed::Number { text, least, most }));
    }
}
