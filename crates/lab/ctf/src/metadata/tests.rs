use proptest::prelude::*;

use super::*;
use crate::class::Stream;

fn number() -> impl Strategy<Value = Number> {
    (prop::sample::select(vec![1_u8, 2, 4, 8]), 0..3).prop_map(|(bytes, kind)| Number {
        bytes,
        is_signed: kind == 1,
        is_hex: kind == 2,
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        number().prop_map(Shape::Number),
        (number(), 1..100_u32).prop_map(|(number, count)| Shape::Array(number, count)),
        number().prop_map(Shape::Sequence),
        (1..100_u32).prop_map(Shape::Text),
        Just(Shape::String),
    ]
}

pub(crate) fn class() -> impl Strategy<Value = Class> {
    let field = ("[a-z][a-z0-9_]{0,10}", shape()).prop_map(|(name, shape)| Field { name, shape });
    let stream = prop::sample::select(vec![Stream::Kernel, Stream::Marks]);
    (0..=crate::class::ID_MAX, stream, "[a-z_]{1,8}:[a-z0-9_]{1,12}", prop::collection::vec(field, 0..8))
        .prop_map(|(id, stream, name, fields)| Class { id, stream, name, fields })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        uuid in any::<[u8; 16]>(), offset in any::<i64>(), classes in prop::collection::vec(class(), 0..5),
        environment in prop::collection::btree_map("[a-z_]{1,10}", "[ -~äß]{0,20}", 0..4),
    ) {
        let metadata = Metadata { uuid, offset, environment, classes };
        prop_assert_eq!(Metadata::parse(&metadata.text()), Ok(metadata));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ a-z_={};:\"\\\\\\[\\]0-9/*\n]{0,200}") {
        let _ = Metadata::parse(&text);
    }

    #[test]
    fn no_damage_makes_the_parser_panic(class in class(), at in any::<prop::sample::Index>(), with in any::<char>()) {
        let text = Metadata { classes: vec![class], ..Metadata::default() }.text();
        let mut damaged: Vec<char> = text.chars().collect();
        let at = at.index(damaged.len());
        damaged[at] = with;
        let _ = Metadata::parse(&damaged.into_iter().collect::<String>());
    }
}

#[test]
fn what_is_no_trace_of_kiln_is_told_with_its_line() {
    let text = Metadata::default().text();
    let wrong = |from: &str, to: &str| Metadata::parse(&text.replace(from, to)).expect_err(to);
    assert_eq!(wrong("\"kiln\"", "\"lttng-modules\"").1, "tracer_name is not kiln");
    assert_eq!(wrong("trace_version = \"1\"", "trace_version = \"2\"").1, "trace_version is not 1");
    assert_eq!(wrong("uuid = ", "uuids = "), (20, "the trace has no UUID".to_owned()));
    let event = |fields: &str| {
        let event =
            format!("event {{ name = \"x\"; id = 1; stream_id = 0; fields := struct {{ {fields} }}; }};\n");
        Metadata::parse(&(text.clone() + &event)).expect_err(fields).1
    };
    assert_eq!(event("float _f;"), "event x: a field is not understood");
    assert_eq!(event("uint9_t _f;"), "event x: a field is not understood");
    assert_eq!(event("uint8_t _f[0];"), "event x: it is not valid");
    assert!(Metadata::parse(&(text.clone() + "event { name = \"x\"; };")).is_err());
    assert_eq!(
        Metadata::parse(&(text + "event {")).expect_err("it has no end").1,
        "the text ends in the middle"
    );
}
