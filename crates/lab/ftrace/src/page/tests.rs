use proptest::prelude::*;

use super::*;

/// What is written to a page.
#[derive(Debug, Clone)]
enum Entry {
    Data { delta: u32, data: Vec<u8> },
    Discarded { delta: u32, length: u32 },
    Extend(u64),
    Absolute(u64),
}

/// A page as the kernel writes it.
fn page(begin: u64, entries: &[Entry], missed: Option<Option<u64>>) -> Vec<u8> {
    let mut data = Vec::new();
    for entry in entries {
        write(entry, &mut data);
    }
    let flags = match missed {
        None => 0,
        Some(None) => MISSED,
        Some(Some(_)) => MISSED | MISSED_STORED,
    };
    let mut page = [begin.to_le_bytes(), (data.len() as u64 | flags).to_le_bytes()].concat();
    page.extend_from_slice(&data);
    missed.flatten().into_iter().for_each(|count| page.extend(count.to_le_bytes()));
    page
}

fn write(entry: &Entry, data: &mut Vec<u8>) {
    let word = |kind: u32, delta: u32| (kind | delta << 5).to_le_bytes();
    match entry {
        Entry::Data { delta, data: content } => {
            let padded = content.len().next_multiple_of(WORD);
            let quarter = padded / WORD;
            if content.len() == padded && (1..=28).contains(&quarter) {
                data.extend(word(quarter as u32, *delta));
            } else {
                data.extend(word(0, *delta));
                data.extend((content.len() as u32 + 4).to_le_bytes());
            }
            data.extend_from_slice(content);
            data.resize(data.len() + padded - content.len(), 0);
        }
        Entry::Discarded { delta, length } => {
            data.extend(word(PADDING, *delta));
            data.extend((length + 4).to_le_bytes());
            data.resize(data.len() + *length as usize, 0xee);
        }
        Entry::Extend(delta) => two_words(TIME_EXTEND, *delta, data),
        Entry::Absolute(time) => two_words(TIME_STAMP, *time, data),
    }
}

fn two_words(kind: u32, value: u64, data: &mut Vec<u8>) {
    let low = (value & ((1 << DELTA_BITS) - 1)) as u32;
    data.extend((kind | low << 5).to_le_bytes());
    data.extend(((value >> DELTA_BITS) as u32).to_le_bytes());
}

fn read(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let page = Page::read(Layout::default(), bytes).expect("it is a page");
    page.records()
        .map(|record| record.map(|it| (it.time, it.data.to_vec())).expect("it is a record"))
        .collect()
}

fn entry() -> impl Strategy<Value = Entry> {
    let delta = 1..1_u32 << DELTA_BITS;
    prop_oneof![
        4 => (delta.clone(), prop::collection::vec(any::<u8>(), 1..140)).prop_map(|(delta, data)| Entry::Data { delta, data }),
        1 => (delta, (1..20_u32).prop_map(|words| words * 4)).prop_map(|(delta, length)| Entry::Discarded { delta, length }),
        1 => (0..1_u64 << 50).prop_map(Entry::Extend),
    ]
}

proptest! {
    #[test]
    fn what_the_kernel_wrote_is_read(begin in 0..1_u64 << 55, entries in prop::collection::vec(entry(), 0..30)) {
        let mut time = begin;
        let mut expected = Vec::new();
        for entry in &entries {
            match entry {
                Entry::Data { delta, data } => {
                    time += u64::from(*delta);
                    expected.push((time, data.clone()));
                }
                Entry::Discarded { delta, .. } => time += u64::from(*delta),
                Entry::Extend(delta) => time += delta,
                Entry::Absolute(absolute) => time = *absolute,
            }
        }
        prop_assert_eq!(read(&page(begin, &entries, None)), expected);
    }

    #[test]
    fn no_page_makes_the_reader_panic_or_run_for_ever(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(page) = Page::read(Layout::default(), &bytes) {
            prop_assert!(page.records().count() <= bytes.len() / WORD);
        }
    }

    #[test]
    fn a_page_that_was_cut_gives_what_is_whole(entries in prop::collection::vec(entry(), 1..10), cut in 0..500_usize) {
        let whole = page(0, &entries, None);
        let mut damaged = whole.clone();
        damaged.truncate(whole.len().saturating_sub(cut).max(16));
        let used = damaged.len() as u64 - 16;
        damaged[8..16].copy_from_slice(&used.to_le_bytes());
        let all = read(&whole);
        let page = Page::read(Layout::default(), &damaged).expect("its head is whole");
        let found: Vec<_> = page.records().map_while(Result::ok).map(|it| (it.time, it.data.to_vec())).collect();
        prop_assert!(all.starts_with(&found));
    }
}

#[test]
fn what_was_lost_is_told() {
    let lost = |missed| Page::read(Layout::default(), &page(0, &[], missed)).expect("it is a page").lost;
    assert_eq!(
        [lost(None), lost(Some(None)), lost(Some(Some(7)))],
        [Lost::Nothing, Lost::Some, Lost::Records(7)]
    );
}

#[test]
fn the_rest_of_a_page_may_be_unused() {
    let data = |delta, byte| Entry::Data { delta, data: vec![byte; 8] };
    let mut bytes = page(100, &[data(1, 1), data(2, 2)], None);
    bytes.extend(PADDING.to_le_bytes());
    bytes.extend([0xff; 40]);
    let used = bytes.len() as u64 - 16;
    bytes[8..16].copy_from_slice(&used.to_le_bytes());
    assert_eq!(read(&bytes), [(101, vec![1; 8]), (103, vec![2; 8])]);
}

#[test]
fn an_absolute_time_keeps_the_upper_bits_and_does_not_go_back() {
    let at = |begin: u64, low: u64| {
        let entries = [Entry::Absolute(low), Entry::Data { delta: 0, data: vec![0; 4] }];
        read(&page(begin, &entries, None))[0].0
    };
    let wrap = 1 << ABSOLUTE_BITS;
    assert_eq!(at(5, 7), 7);
    assert_eq!(at(wrap + 5, 7), wrap + 7);
    assert_eq!(at(wrap + 7, 5), 2 * wrap + 5);
}

#[test]
fn a_page_that_lies_is_refused() {
    let wrong = |bytes: &[u8]| Page::read(Layout::default(), bytes).expect_err("it lies").to_string();
    assert_eq!(wrong(&[0; 15]), "a page of 15 bytes is shorter than its head");
    let mut lying = page(0, &[], None);
    lying[8] = 9;
    assert_eq!(wrong(&lying), "a page promises 9 bytes and has 0");
    let mut beyond = page(0, &[Entry::Data { delta: 1, data: vec![0; 8] }], None);
    beyond[16] = 28 | 1 << 5;
    let page = Page::read(Layout::default(), &beyond).expect("its head is right");
    assert_eq!(page.records().collect::<Vec<_>>(), [Err(WrongPage::Record(0))]);
}
