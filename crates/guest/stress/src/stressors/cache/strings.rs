//! `str`, `wcs`: the string functions of libc against the definition of each.

use std::ffi::CStr;
use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::stressor::{Class, Stressor};
use harness::random::Random;

unsafe extern "C" {
    fn wcslen(text: *const libc::wchar_t) -> usize;
    fn wcscmp(a: *const libc::wchar_t, b: *const libc::wchar_t) -> libc::c_int;
    fn wcschr(text: *const libc::wchar_t, letter: libc::wchar_t) -> *const libc::wchar_t;
    fn wcsrchr(text: *const libc::wchar_t, letter: libc::wchar_t) -> *const libc::wchar_t;
    fn wcsstr(text: *const libc::wchar_t, part: *const libc::wchar_t) -> *const libc::wchar_t;
    fn wcsspn(text: *const libc::wchar_t, set: *const libc::wchar_t) -> usize;
}

const CLASSES: &[Class] = &[Class::Cpu, Class::CpuCache, Class::Memory];

const STRINGS: Stressor = Stressor {
    classes: CLASSES,
    operation: "each function once with random strings of up to 512 letters",
    verifies: "each result is what the definition of the function gives",
    ..Stressor::PLAIN
};

pub(super) const STR: Stressor =
    Stressor { name: "str", about: "string functions of libc: string(3)", body: narrow, ..STRINGS };

pub(super) const WCS: Stressor =
    Stressor { name: "wcs", about: "string functions of libc for wide characters", body: wide, ..STRINGS };

/// Few letters, so that all are found.
fn letters(random: &mut Random) -> Vec<u8> {
    (0..=random.below(512)).map(|_| b'a' + random.below(4) as u8).collect()
}

fn narrow(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| {
        let (mut a, mut b) = (letters(&mut random), letters(&mut random));
        let part: Vec<u8> = a.iter().copied().skip(random.below(a.len())).take(3).collect();
        let letter = b'a' + random.below(4) as u8;
        let (plain_a, plain_b) = (a.clone(), b.clone());
        let mut end_part = part.clone();
        [&mut a, &mut b, &mut end_part].into_iter().for_each(|text| text.push(0));
        let texts = [&a, &b, &end_part]
            .map(|text| CStr::from_bytes_until_nul(black_box(text)).unwrap_or_default().as_ptr());
        let [a, b, part_pointer] = texts;
        let at = |found: *mut libc::c_char| (!found.is_null()).then(|| found.addr() - a.addr());
        let wanted = libc::c_int::from(letter);
        // SAFETY: all end in a null byte.
        unsafe {
            equal("strlen", libc::strlen(a), plain_a.len())?;
            equal("strcmp", libc::strcmp(a, b).signum(), plain_a.cmp(&plain_b) as libc::c_int)?;
            equal("strchr", at(libc::strchr(a, wanted)), plain_a.iter().position(|&byte| byte == letter))?;
            equal("strrchr", at(libc::strrchr(a, wanted)), plain_a.iter().rposition(|&byte| byte == letter))?;
            equal(
                "strstr",
                at(libc::strstr(a, part_pointer)),
                plain_a.windows(part.len()).position(|window| window == part),
            )?;
            let span = plain_a.iter().take_while(|byte| part.contains(byte)).count();
            equal("strspn", libc::strspn(a, part_pointer), span)?;
            let span = plain_a.iter().take_while(|byte| !part.contains(byte)).count();
            equal("strcspn", libc::strcspn(a, part_pointer), span)?;
        }
        copies(&plain_a, a)
    })
}

fn copies(plain: &[u8], text: *const libc::c_char) -> Checked {
    let mut room = vec![0_u8; 2 * plain.len() + 1];
    // SAFETY: there is room for twice the text and its end.
    unsafe {
        libc::strcpy(room.as_mut_ptr().cast(), text);
        libc::strcat(room.as_mut_ptr().cast(), text);
    }
    holds(
        "strcpy and strcat",
        room[..2 * plain.len()] == [plain, plain].concat() && room[2 * plain.len()] == 0,
    )
}

fn wide(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| {
        let mut text = || letters(&mut random).into_iter().map(libc::wchar_t::from).collect::<Vec<_>>();
        let (a, b) = (text(), text());
        let part: Vec<_> = a.iter().copied().skip(a.len() / 2).take(3).collect();
        let ended = |text: &[libc::wchar_t]| [text, &[0]].concat();
        let (end_a, end_b, end_part) = (ended(&a), ended(&b), ended(&part));
        let [pa, pb, pp] = [&end_a, &end_b, &end_part].map(|text| black_box(text).as_ptr());
        let at = |found: *const libc::wchar_t| {
            (!found.is_null()).then(|| (found.addr() - pa.addr()) / size_of::<libc::wchar_t>())
        };
        let letter = part[0];
        // SAFETY: all end in a null character.
        unsafe {
            equal("wcslen", wcslen(pa), a.len())?;
            equal("wcscmp", wcscmp(pa, pb).signum(), a.cmp(&b) as libc::c_int)?;
            equal("wcschr", at(wcschr(pa, letter)), a.iter().position(|&wide| wide == letter))?;
            equal("wcsrchr", at(wcsrchr(pa, letter)), a.iter().rposition(|&wide| wide == letter))?;
            equal("wcsstr", at(wcsstr(pa, pp)), a.windows(part.len()).position(|window| window == part))?;
            equal("wcsspn", wcsspn(pa, pp), a.iter().take_while(|wide| part.contains(wide)).count())
        }
    })
}
