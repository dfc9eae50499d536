use proptest::prelude::*;

use super::*;

const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
    \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\n\
    print fmt: \"prev_comm=%s\", REC->prev_comm\n";

fn kind(line: &str) -> Option<(String, Kind)> {
    attributes(line).and_then(|attributes| attributes.field()).map(|field| (field.name, field.kind))
}

fn of(declaration: &str, size: usize, is_signed: bool) -> Option<(String, Kind)> {
    kind(&format!("\tfield:{declaration};\toffset:8;\tsize:{size};\tsigned:{};", u8::from(is_signed)))
}

fn integer_of(bytes: usize, is_signed: bool) -> Element {
    Element::Integer { bytes, is_signed }
}

#[test]
fn an_event_has_a_number_and_fields() {
    let format = Format::parse(SWITCH).expect("it is one");
    assert_eq!((&*format.name, format.id, format.common.len()), ("sched_switch", 372, 2));
    let fields: Vec<_> = format.fields.iter().map(|it| (&*it.name, it.offset, it.size, it.kind)).collect();
    assert_eq!(
        fields,
        [
            ("prev_comm", 8, 16, Kind::Array(Element::Character)),
            ("prev_pid", 24, 4, Kind::One(integer_of(4, true))),
            ("prev_state", 32, 8, Kind::One(integer_of(8, true))),
        ]
    );
    assert_eq!(format.print, "\"prev_comm=%s\", REC->prev_comm");
}

#[test]
fn declarations_of_kernels_are_understood() {
    let dynamic = |element, is_relative| Kind::Dynamic { element, is_relative };
    for (declaration, size, is_signed, name, expected) in [
        ("char comm[TASK_COMM_LEN]", 16, false, "comm", Kind::Array(Element::Character)),
        ("__data_loc char[] name", 4, true, "name", dynamic(Element::Character, false)),
        ("__data_loc u64[] values", 4, false, "values", dynamic(integer_of(8, false), false)),
        ("__data_loc unsigned int[] ids", 4, false, "ids", dynamic(integer_of(4, false), false)),
        ("__data_loc struct odd[] rest", 4, false, "rest", dynamic(integer_of(1, false), false)),
        ("__rel_loc char[] text", 4, false, "text", dynamic(Element::Character, true)),
        ("unsigned long args[6]", 48, false, "args", Kind::Array(integer_of(8, false))),
        ("u8 saddr[16]", 16, false, "saddr", Kind::Array(integer_of(1, false))),
        ("u8 stack[N]", 16, false, "stack", Kind::Array(integer_of(1, false))),
        ("unsigned char mac[6]", 6, false, "mac", Kind::Array(integer_of(1, false))),
        ("const char * filename", 8, false, "filename", Kind::One(Element::Pointer)),
        ("const void* p", 8, false, "p", Kind::One(Element::Pointer)),
        ("const char *const * argv", 8, false, "argv", Kind::One(Element::Pointer)),
        ("enum zone_type zone", 4, false, "zone", Kind::One(integer_of(4, false))),
        ("bool is_on", 1, false, "is_on", Kind::One(integer_of(1, false))),
        ("struct __kernel_timespec when", 16, false, "when", Kind::Opaque),
        ("struct odd things[3]", 15, false, "things", Kind::Opaque),
    ] {
        assert_eq!(of(declaration, size, is_signed), Some((name.to_owned(), expected)), "{declaration}");
    }
}

#[test]
fn what_is_no_format_is_refused() {
    let wrong = |text: &str| Format::parse(text).expect_err("it is none").to_string();
    assert_eq!(wrong(""), "the format of an event has no line \"name:\"");
    assert_eq!(wrong("name: x\nID: 70000\n"), "the format of an event has no line \"ID:\"");
    let refused = wrong(&SWITCH.replace("offset:24", "offset:x"));
    assert!(
        refused.contains("sched_switch has a field that is not understood: \"field:pid_t prev_pid;"),
        "{refused}"
    );
    assert_eq!(of("__data_loc char[] name", 8, false), None);
    assert_eq!(of("[3]", 8, false), None);
    let many =
        format!("name: x\nID: 1\n{}", "field:int a;offset:0;size:4;signed:0;\n".repeat(FIELDS_MAX + 1));
    assert_eq!(wrong(&many), "the format of the event x has more than 1000 fields");
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(name: x\nID: 1\n)?(\tfield:[a-z_ \\*\\[\\]0-9;:\t]{0,40};\toffset:[0-9]{1,20};\tsize:[0-9]{1,20};\n){0,5}") {
        let _ = Format::parse(&text);
    }
}

/// Events of this very host, where it lets us look.
#[test]
fn all_formats_of_this_kernel_are_understood() {
    let mut known = 0;
    for root in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
        for system in std::fs::read_dir(format!("{root}/events")).into_iter().flatten().flatten() {
            for event in std::fs::read_dir(system.path()).into_iter().flatten().flatten() {
                let Ok(text) = std::fs::read_to_string(event.path().join("format")) else { continue };
                let format = Format::parse(&text)
                    .unwrap_or_else(|error| panic!("{}: {error}", event.path().display()));
                assert!(!format.common.is_empty(), "{text}");
                known += 1;
            }
        }
    }
    println!("{known} formats");
}
