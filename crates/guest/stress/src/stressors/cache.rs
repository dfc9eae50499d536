//! Stressors that compute on data that fits into caches, or just not.

mod copies;
mod lines;
mod searches;
mod sorts;
mod strings;
mod trees;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    copies::STRESSOR,
    lines::STRESSOR,
    searches::BSEARCH,
    searches::HSEARCH,
    searches::LSEARCH,
    searches::TSEARCH,
    sorts::HEAPSORT,
    sorts::MERGESORT,
    sorts::NSORT,
    sorts::QSORT,
    sorts::RADIXSORT,
    sorts::SHELLSORT,
    strings::STR,
    strings::WCS,
    trees::STRESSOR,
];
