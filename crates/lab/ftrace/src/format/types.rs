//! What the types in declarations of fields are.

use super::Element;

/// A type as far as its name tells.
pub(super) enum Shape {
    /// A value in its place, or none that is known by this name.
    Plain(Option<Element>),
    /// A word that says where the values are.
    Dynamic {
        /// What they are.
        element: Element,
        /// Their place is counted from the end of the word.
        is_relative: bool,
    },
}

/// The bytes of types that arrays are made of.
const BYTES: [(&[&str], usize); 4] = [
    (&["u8", "s8", "__u8", "__s8", "uint8_t", "int8_t", "unsigned char", "signed char", "bool"], 1),
    (
        &[
            "u16",
            "s16",
            "__u16",
            "__s16",
            "uint16_t",
            "int16_t",
            "short",
            "unsigned short",
            "__be16",
            "__le16",
        ],
        2,
    ),
    (
        &[
            "u32",
            "s32",
            "__u32",
            "__s32",
            "uint32_t",
            "int32_t",
            "int",
            "unsigned int",
            "unsigned",
            "pid_t",
            "__be32",
        ],
        4,
    ),
    (
        &[
            "u64",
            "s64",
            "__u64",
            "__s64",
            "uint64_t",
            "int64_t",
            "long",
            "unsigned long",
            "long long",
            "unsigned long long",
            "size_t",
        ],
        8,
    ),
];

/// Reads a type without the name of the field and the brackets behind it.
pub(super) fn shape(text: &str) -> Shape {
    for (keyword, is_relative) in [("__data_loc", false), ("__rel_loc", true)] {
        if let Some(of) = text.strip_prefix(keyword) {
            let name = of.trim().trim_end_matches("[]").trim();
            // Of what is unknown there are bytes.
            let element = element(name).unwrap_or(Element::Integer { bytes: 1, is_signed: false });
            return Shape::Dynamic { element, is_relative };
        }
    }
    Shape::Plain(element(text))
}

fn element(name: &str) -> Option<Element> {
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    if name.ends_with('*') {
        return Some(Element::Pointer);
    }
    if name == "char" {
        return Some(Element::Character);
    }
    let found = BYTES.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, bytes)| Element::Integer { bytes: *bytes, is_signed: false })
}
