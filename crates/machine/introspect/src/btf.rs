//! Where the structures of a kernel have their members: Documentation/bpf/btf.rst.

use std::collections::HashSet;

use kernel::bytes::{u16_at, u32_at, until_nul};

use crate::memo::Memo;

/// `BTF_MAGIC`.
const MAGIC: u16 = 0xeb9f;

/// Bytes of what each type begins with, and of a member.
const TYPE: usize = 12;
const MEMBER: usize = 12;

/// Kinds of types.
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const TYPEDEF: u32 = 8;
const VOLATILE: u32 = 9;
const CONST: u32 = 10;
const RESTRICT: u32 = 11;
const TYPE_TAG: u32 = 18;

/// The deepest that structures are looked for in structures, and the most that are looked through for a member.
const DEPTH_MAX: usize = 16;
const STRUCTURES_MAX: usize = 256;

/// Bytes of a name at most.
const NAME_MAX: usize = 512;

/// A member: where it is, in bits, and how many bits it has if it is a bit field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) bits: u64,
    pub(crate) width: u32,
}

/// The types of a kernel.
pub(crate) struct Types {
    bytes: Vec<u8>,
    /// Where the texts begin, and each type; the first is no type.
    texts: usize,
    types: Vec<usize>,
    structures: Memo<usize>,
    members: Memo<Member>,
}

impl Types {
    /// Reads the types of a kernel: what is between `__start_BTF` and `__stop_BTF`.
    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let word = |at: usize| word(&bytes, at).map(|word| word as usize);
        let header = word(4).filter(|_| u16_at(&bytes, 0) == Some(MAGIC))?;
        let (begin, length, texts) =
            (header.checked_add(word(8)?)?, word(12)?, header.checked_add(word(16)?)?);
        let end = begin.checked_add(length)?;
        let mut types = vec![0];
        let mut at = begin;
        while at + TYPE <= end {
            types.push(at);
            at = at.checked_add(TYPE + size_of_rest(self::word(&bytes, at + 4)?)?)?;
        }
        Some(Self { bytes, texts, types, structures: Memo::default(), members: Memo::default() })
    }

    /// Where a structure has a member, which may be in a structure of its own: `["thread", "sp"]`.
    pub(crate) fn member(&self, structure: &str, path: &[&str]) -> Option<Member> {
        self.members.get(format!("{structure}.{}", path.join(".")), |_| self.find_member(structure, path))
    }

    fn find_member(&self, structure: &str, path: &[&str]) -> Option<Member> {
        let mut at = self.named(structure)?;
        let mut bits = 0;
        let mut found = None;
        for name in path {
            let (member, of) = self.find(at, name, &mut HashSet::new())?;
            bits += member.bits;
            found = Some(Member { bits, width: member.width });
            at = self.structure(of).unwrap_or(0);
        }
        found
    }

    /// The same in bytes.
    pub(crate) fn offset(&self, structure: &str, path: &[&str]) -> Option<u64> {
        self.member(structure, path).map(|member| member.bits / 8)
    }

    /// The bytes of a structure.
    pub(crate) fn size(&self, structure: &str) -> Option<u64> {
        word(&self.bytes, self.named(structure)? + 8).map(u64::from)
    }

    /// The member of a structure that is at this place, in bytes, and where it begins.
    pub(crate) fn member_at(&self, structure: &str, place: u64) -> Option<(u64, String)> {
        self.last_before(self.named(structure)?, place, 0)
    }

    fn last_before(&self, at: usize, place: u64, depth: usize) -> Option<(u64, String)> {
        let info = word(&self.bytes, at + 4).filter(|_| depth <= DEPTH_MAX)?;
        let begin = |member: usize| {
            let offset = word(&self.bytes, member + 8)?;
            let bits = if info >> 31 == 1 { offset & 0x00ff_ffff } else { offset };
            Some((u64::from(bits / 8), member)).filter(|(begin, _)| *begin <= place)
        };
        let members = (0..count(info)).map(|number| at + TYPE + MEMBER * number);
        let (begin, member) = members.filter_map(begin).max_by_key(|(begin, _)| *begin)?;
        let name = self.text(member).filter(|name| !name.is_empty());
        if let Some(name) = name {
            return Some((begin, String::from_utf8_lossy(name).into_owned()));
        }
        let inner = self.structure(word(&self.bytes, member + 4)?)?;
        let (within, name) = self.last_before(inner, place - begin, depth + 1)?;
        Some((begin + within, name))
    }

    /// The structure of this name, if it has members here.
    fn named(&self, name: &str) -> Option<usize> {
        let is_it = |at: &usize| {
            let info = word(&self.bytes, at + 4).unwrap_or(0);
            kind(info) == STRUCT && count(info) > 0 && self.text(*at) == Some(name.as_bytes())
        };
        self.structures.get(name.to_owned(), |_| self.types.iter().skip(1).copied().find(is_it))
    }

    /// A member of a structure or of one without a name in it, and its type. Each structure is looked at once: a type may have itself as
    /// a member.
    fn find(&self, at: usize, name: &str, seen: &mut HashSet<usize>) -> Option<(Member, u32)> {
        let info = word(&self.bytes, at + 4).filter(|info| matches!(kind(*info), STRUCT | UNION))?;
        if seen.len() > STRUCTURES_MAX || !seen.insert(at) {
            return None;
        }
        (0..count(info)).map(|number| at + TYPE + MEMBER * number).find_map(|member| {
            let (of, offset) = (word(&self.bytes, member + 4)?, word(&self.bytes, member + 8)?);
            let is_field = info >> 31 == 1;
            let (bits, width) = if is_field { (offset & 0x00ff_ffff, offset >> 24) } else { (offset, 0) };
            let text = self.text(member)?;
            if text == name.as_bytes() {
                return Some((Member { bits: bits.into(), width }, of));
            }
            let inner = self.structure(of).filter(|_| text.is_empty())?;
            let (found, of) = self.find(inner, name, seen)?;
            Some((Member { bits: found.bits + u64::from(bits), ..found }, of))
        })
    }

    /// The structure or union that a type is, by whichever other name.
    fn structure(&self, mut of: u32) -> Option<usize> {
        for _ in 0..DEPTH_MAX {
            let at = self.types.get(of as usize).copied().filter(|at| *at > 0)?;
            match kind(word(&self.bytes, at + 4)?) {
                STRUCT | UNION => return Some(at),
                TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG => of = word(&self.bytes, at + 8)?,
                _ => return None,
            }
        }
        None
    }

    /// The name of what is here.
    fn text(&self, at: usize) -> Option<&[u8]> {
        let begin = self.texts.checked_add(word(&self.bytes, at)? as usize)?;
        until_nul(&self.bytes, begin as u64, NAME_MAX)
    }
}

fn kind(info: u32) -> u32 {
    info >> 24 & 0x1f
}

fn count(info: u32) -> usize {
    (info & 0xffff) as usize
}

/// Bytes behind what each type begins with.
fn size_of_rest(info: u32) -> Option<usize> {
    let count = count(info);
    Some(match kind(info) {
        // Integers, variables and tags of declarations have a word.
        1 | 14 | 17 => 4,
        ARRAY => 12,
        STRUCT | UNION | 19 => MEMBER * count,
        // Enumerations, and parameters of functions.
        6 | 13 => 8 * count,
        // Sections.
        15 => 12 * count,
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    u32_at(bytes, at as u64)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Structures whose members are numbers, at these bytes.
    pub(crate) fn structures(all: &[(&str, &[(&str, u32)])]) -> Types {
        let number = |value: usize| u32::try_from(value).expect("small");
        let mut texts = vec![0];
        let mut text = |name: &str| {
            texts.extend(name.bytes().chain([0]));
            number(texts.len() - name.len() - 1)
        };
        let mut words: Vec<u32> = vec![0, 1 << 24, 8, 0];
        for (name, members) in all {
            words.extend([text(name), STRUCT << 24 | number(members.len()), 64]);
            members.iter().for_each(|(name, at)| words.extend([text(name), 1, 8 * at]));
        }
        let length = number(4 * words.len());
        let header = [24, 0, length, length, number(texts.len())];
        let words = header.into_iter().chain(words).flat_map(u32::to_le_bytes);
        let bytes = MAGIC.to_le_bytes().into_iter().chain([1, 0]).chain(words).chain(texts);
        Types::read(bytes.collect()).expect("they are types")
    }

    /// `struct task { int pid; struct { u64 flags:3; struct thread thread; }; }`, `struct thread { u64 ip, sp; }`, with a type for numbers.
    fn types() -> Vec<u8> {
        let texts = b"\0task\0pid\0flags\0thread\0ip\0sp\0";
        let text = |name: &str| {
            let name = [b"\0", name.as_bytes(), b"\0"].concat();
            let at = texts.windows(name.len()).position(|window| window == name).expect("it is there");
            u32::try_from(at + 1).expect("short")
        };
        let info = |kind: u32, count: u32, has_fields: bool| u32::from(has_fields) << 31 | kind << 24 | count;
        let words = [
            // 1: a number
            [0, info(1, 0, false), 8, 0].to_vec(),
            // 2: struct thread
            [text("thread"), info(STRUCT, 2, false), 16, text("ip"), 1, 0, text("sp"), 1, 64].to_vec(),
            // 3: the inner one, with a bit field, and 4: another name for struct thread
            [0, info(STRUCT, 2, true), 24, text("flags"), 1, 3 << 24 | 2, text("thread"), 4, 64].to_vec(),
            [text("thread"), info(TYPEDEF, 0, false), 2].to_vec(),
            // 5: struct task
            [text("task"), info(STRUCT, 2, false), 32, text("pid"), 1, 0, 0, 3, 64].to_vec(),
        ]
        .concat();
        let body: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let length = u32::try_from(body.len()).expect("short");
        let sizes = [24, 0, length, length, u32::try_from(texts.len()).expect("short")];
        let header = sizes.iter().flat_map(|word: &u32| word.to_le_bytes());
        [MAGIC.to_le_bytes().to_vec(), vec![1, 0], header.collect(), body, texts.to_vec()].concat()
    }

    #[test]
    fn members_are_found_through_structures_without_names() {
        let types = Types::read(types()).expect("they are types");
        assert_eq!((types.offset("task", &["pid"]), types.size("task")), (Some(0), Some(32)));
        assert_eq!(types.member("task", &["flags"]), Some(Member { bits: 66, width: 3 }));
        assert_eq!(types.offset("task", &["thread", "sp"]), Some(8 + 8 + 8));
        assert_eq!((types.offset("task", &["ip"]), types.offset("thread", &["pid"])), (None, None));
        assert_eq!(types.offset("nothing", &["pid"]), None);
    }

    #[test]
    fn a_structure_without_end_has_an_end() {
        // struct task { struct task; struct task; ... }: without names, so that members are looked for within.
        let texts = b"\0task\0";
        let members = (0..100).flat_map(|_| [0, 1, 0]);
        let words: Vec<u32> = [1, STRUCT << 24 | 100, 8].into_iter().chain(members).collect();
        let length = u32::try_from(4 * words.len()).expect("short");
        let header = [24, 0, length, length, u32::try_from(texts.len()).expect("short")];
        let words = header.into_iter().chain(words).flat_map(u32::to_le_bytes);
        let bytes = MAGIC.to_le_bytes().into_iter().chain([1, 0]).chain(words).chain(*texts);
        let types = Types::read(bytes.collect()).expect("they are types");
        assert_eq!((types.offset("task", &["pid"]), types.member_at("task", 0)), (None, None));
    }

    #[test]
    fn members_are_found_by_their_places() {
        let types = Types::read(types()).expect("they are types");
        let at = |place| types.member_at("task", place).expect("it has members");
        assert_eq!((at(0), at(7)), ((0, "pid".to_owned()), (0, "pid".to_owned())));
        assert_eq!((at(8), at(31)), ((8, "flags".to_owned()), (16, "thread".to_owned())));
        assert_eq!(types.member_at("nothing", 0), None);
    }

    proptest! {
        #[test]
        fn any_types_are_read(change in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8)) {
            let mut bytes = types();
            for (at, byte) in change {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(types) = Types::read(bytes) {
                let _ = (types.member("task", &["thread", "sp"]), types.size("thread"));
                let _ = (types.member_at("task", 20), types.member_at("thread", u64::MAX));
            }
        }
    }
}
