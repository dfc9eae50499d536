//! `bsearch`, `lsearch`, `tsearch`, `hsearch`: the search functions of libc.

use std::ffi::{c_char, c_int, c_void};
use std::hint::black_box;

use harness::check::{Checked, equal, holds};

use crate::Worker;
use crate::stressor::{Class, Setting, Stressor, number};

unsafe extern "C" {
    fn lsearch(
        key: *const c_void,
        base: *mut c_void,
        count: *mut usize,
        width: usize,
        compare: Compare,
    ) -> *mut c_void;
    fn tsearch(key: *const c_void, root: *mut *mut c_void, compare: Compare) -> *mut c_void;
    fn tfind(key: *const c_void, root: *const *mut c_void, compare: Compare) -> *mut c_void;
    fn tdelete(key: *const c_void, root: *mut *mut c_void, compare: Compare) -> *mut c_void;
    fn hcreate_r(count: usize, table: *mut HashTable) -> c_int;
    fn hsearch_r(entry: Entry, action: c_int, found: *mut *mut Entry, table: *mut HashTable) -> c_int;
    fn hdestroy_r(table: *mut HashTable);
}

type Compare = unsafe extern "C" fn(*const c_void, *const c_void) -> c_int;

/// `struct entry` of <search.h>.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    key: *mut c_char,
    data: *mut c_void,
}

/// `struct hsearch_data` of <search.h>.
#[repr(C)]
struct HashTable {
    table: *mut c_void,
    size: u32,
    filled: u32,
}

const CLASSES: &[Class] = &[Class::CpuCache, Class::Cpu, Class::Memory];
const SIZE: Setting = number("size", "entries to search among", 64..=1 << 18, 65536);
const FEW: Setting = number("size", "entries to search among", 64..=8192, 2048);

const SEARCH: Stressor = Stressor {
    classes: CLASSES,
    operation: "all entries found once",
    verifies: "each search finds its entry, and none finds what is not there",
    options: &[SIZE],
    ..Stressor::PLAIN
};

pub(super) const BSEARCH: Stressor = Stressor {
    name: "bsearch",
    about: "binary search in a sorted array: bsearch(3)",
    body: binary,
    ..SEARCH
};

pub(super) const LSEARCH: Stressor = Stressor {
    name: "lsearch",
    about: "linear search that adds what it does not find: lsearch(3)",
    options: &[FEW],
    body: linear,
    ..SEARCH
};

pub(super) const TSEARCH: Stressor = Stressor {
    name: "tsearch",
    about: "a balanced tree: tsearch(3), tfind(3), tdelete(3)",
    operation: "all entries added, found and removed",
    body: tree,
    ..SEARCH
};

pub(super) const HSEARCH: Stressor =
    Stressor { name: "hsearch", about: "a hash table: hsearch_r(3)", body: hash, ..SEARCH };

unsafe extern "C" fn compare(a: *const c_void, b: *const c_void) -> c_int {
    // SAFETY: all callers pass pointers to numbers.
    let (a, b) = unsafe { (*a.cast::<u64>(), *b.cast::<u64>()) };
    a.cmp(&b) as c_int
}

fn pointer(number: &u64) -> *const c_void {
    (&raw const *number).cast()
}

/// Even numbers; odd ones are not there.
fn evens(size: usize) -> Vec<u64> {
    (0..size as u64).map(|number| number * 2).collect()
}

fn binary(worker: &Worker) -> Checked {
    let numbers = evens(worker.size(&SIZE));
    let find = |key: &u64| {
        let (base, width) = (numbers.as_ptr().cast(), size_of::<u64>());
        // SAFETY: the array has as many elements of that width.
        unsafe { libc::bsearch(pointer(key), base, numbers.len(), width, Some(compare)) }
    };
    worker.repeat(|| {
        let found =
            numbers.iter().filter(|number| find(black_box(number)).cast_const() == pointer(number)).count();
        equal("entries found", found, numbers.len())?;
        holds("an odd number is not there", find(&7).is_null())
    })
}

fn linear(worker: &Worker) -> Checked {
    let mut keys = evens(worker.size(&FEW));
    let mut random = worker.random();
    let mut table = vec![0_u64; keys.len()];
    worker.repeat(|| {
        random.shuffle(&mut keys);
        let mut count = 0;
        let mut search = |key: &u64| {
            let (base, width) = (table.as_mut_ptr().cast(), size_of::<u64>());
            // SAFETY: the table has room for as many different keys as there are.
            let found = unsafe { lsearch(pointer(key), base, &raw mut count, width, compare) };
            // SAFETY: it points into the table.
            unsafe { *found.cast::<u64>() == *key }
        };
        holds("each is added", keys.iter().all(&mut search))?;
        holds("each is found", keys.iter().all(&mut search))?;
        equal("entries", count, keys.len())
    })
}

fn tree(worker: &Worker) -> Checked {
    let mut keys = evens(worker.size(&SIZE));
    let mut random = worker.random();
    worker.repeat(|| {
        random.shuffle(&mut keys);
        let mut root = std::ptr::null_mut();
        // SAFETY: the keys outlive the tree, which is empty again at the end; nodes begin with the key's address.
        unsafe {
            let is_node = |node: *mut c_void, key: &u64| {
                !node.is_null() && *node.cast::<*const c_void>() == pointer(key)
            };
            let added =
                keys.iter().filter(|key| is_node(tsearch(pointer(key), &raw mut root, compare), key)).count();
            equal("entries added", added, keys.len())?;
            let found =
                keys.iter().filter(|key| is_node(tfind(pointer(key), &raw const root, compare), key)).count();
            equal("entries found", found, keys.len())?;
            holds("an odd number is not there", tfind(pointer(&7), &raw const root, compare).is_null())?;
            let removed =
                keys.iter().filter(|key| !tdelete(pointer(key), &raw mut root, compare).is_null()).count();
            equal("entries removed", removed, keys.len())?;
        }
        holds("the tree is empty", root.is_null())
    })
}

fn hash(worker: &Worker) -> Checked {
    const FIND: c_int = 0;
    const ENTER: c_int = 1;
    let texts: Vec<_> =
        (0..worker.size(&SIZE)).filter_map(|n| std::ffi::CString::new(n.to_string()).ok()).collect();
    let mut table = HashTable { table: std::ptr::null_mut(), size: 0, filled: 0 };
    // SAFETY: the table is empty.
    holds("a table is made", unsafe { hcreate_r(texts.len(), &raw mut table) } != 0)?;
    let mut search = |text: &std::ffi::CStr, action, data: usize| {
        let entry = Entry { key: text.as_ptr().cast_mut(), data: std::ptr::without_provenance_mut(data) };
        let mut found = std::ptr::null_mut();
        // SAFETY: the texts outlive the table.
        let is_there = unsafe { hsearch_r(entry, action, &raw mut found, &raw mut table) } != 0;
        // SAFETY: it points to an entry of the table.
        is_there.then(|| unsafe { (*found).data.addr() })
    };
    let added = texts.iter().enumerate().filter(|(n, text)| search(text, ENTER, *n).is_some()).count();
    equal("entries added", added, texts.len())?;
    let result = worker.repeat(|| {
        let found = texts.iter().enumerate().filter(|(n, text)| search(text, FIND, 0) == Some(*n)).count();
        equal("entries found", found, texts.len())?;
        equal("what is not there", search(c"x", FIND, 0), None)
    });
    // SAFETY: made above.
    unsafe { hdestroy_r(&raw mut table) };
    result
}
