//! Computes the position of a node's digit.
//!
//! A node's digits go to its head (64 digits), then to blocks of 480. Blocks come in extents that grow with the node,
//! so that a node's unused space stays a small share of it, and the list of its extents too: four extents each of 1, 2, 4
//! and 8 blocks, 512 of 16, then extents of 256 blocks.

use super::digits::WORD_DIGITS;
use crate::index::bits::BLOCK_WORDS;

/// Digits in a node's head.
pub(super) const HEAD_DIGITS: usize = 2 * WORD_DIGITS;

/// Digits in a block.
pub(super) const BLOCK_DIGITS: usize = (BLOCK_WORDS - 1) * WORD_DIGITS;

/// Extents of every doubling size.
const REPEAT: usize = 4;
/// Blocks in the extents of 1, 2, 4 and 8 blocks.
const SMALL: usize = REPEAT * 15;
const SMALL_EXTENTS: usize = REPEAT * 4;
const MIDDLE_SIZE: usize = 16;
const MIDDLE_EXTENTS: usize = 512;
const MIDDLE: usize = MIDDLE_SIZE * MIDDLE_EXTENTS;
const LARGE_SIZE: usize = 256;
/// The first extent is in the node, the others are in its list.
const MAX_EXTENTS: usize = 1 + LIST_MAX;

/// Digits in a node at most: what the list of its extents can address.
pub(super) const MAX_PLACES: usize =
    HEAD_DIGITS + (SMALL + MIDDLE + (MAX_EXTENTS - SMALL_EXTENTS - MIDDLE_EXTENTS) * LARGE_SIZE) * BLOCK_DIGITS;

/// The place of a block: its extent, where in the extent, and how many blocks the extent has.
#[inline]
pub(super) fn extent(block: usize) -> (usize, usize, usize) {
    if block < SMALL {
        let class = (block / REPEAT + 1).ilog2() as usize;
        let within = block - REPEAT * ((1 << class) - 1);
        (REPEAT * class + (within >> class), within & ((1 << class) - 1), 1 << class)
    } else if block < SMALL + MIDDLE {
        let within = block - SMALL;
        (SMALL_EXTENTS + within / MIDDLE_SIZE, within % MIDDLE_SIZE, MIDDLE_SIZE)
    } else {
        let within = block - SMALL - MIDDLE;
        (SMALL_EXTENTS + MIDDLE_EXTENTS + within / LARGE_SIZE, within % LARGE_SIZE, LARGE_SIZE)
    }
}

/// Numbers that a list's record holds itself.
const LIST_INLINE: usize = 4;
/// Pages of a list: 8, 16, 32, … numbers.
const LIST_PAGES: usize = 11;
const FIRST_PAGE: usize = 8;

/// Numbers in a list's record: those it holds, the pages' places, and the place of another list.
pub(super) const LIST_RECORD: usize = LIST_INLINE + LIST_PAGES + 1;
/// Offset in the record of the other list's place.
pub(super) const LIST_OTHER: usize = LIST_RECORD - 1;
/// Numbers in a list at most.
pub(super) const LIST_MAX: usize = LIST_INLINE + FIRST_PAGE * ((1 << LIST_PAGES) - 1);

/// Location of number `index` of a list.
pub(super) enum InList {
    /// In the record.
    Record(usize),
    /// In a page.
    Page {
        /// Offset in the record of the page's place.
        slot: usize,
        /// Offset in the page.
        offset: usize,
        /// How many numbers the page has.
        size: usize,
    },
}

#[inline]
pub(super) fn in_list(index: usize) -> InList {
    if index < LIST_INLINE {
        return InList::Record(index);
    }
    let shifted = index - LIST_INLINE + FIRST_PAGE;
    let page = (shifted / FIRST_PAGE).ilog2() as usize;
    let size = FIRST_PAGE << page;
    InList::Page { slot: LIST_INLINE + page, offset: shifted - size, size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fill_one_extent_after_the_other() {
        let mut expected = (0, 0);
        for block in 0..100_000 {
            let (index, offset, size) = extent(block);
            assert_eq!((index, offset), expected, "block {block}");
            expected = if offset + 1 == size { (index + 1, 0) } else { (index, offset + 1) };
        }
    }

    #[test]
    fn numbers_fill_the_record_and_then_one_page_after_the_other() {
        let mut expected = (LIST_INLINE, 0);
        for index in 0..LIST_MAX {
            match in_list(index) {
                InList::Record(slot) => assert!(index < LIST_INLINE && slot == index),
                InList::Page { slot, offset, size } => {
                    assert_eq!((slot, offset), expected, "number {index}");
                    expected = if offset + 1 == size { (slot + 1, 0) } else { (slot, offset + 1) };
                }
            }
        }
        assert_eq!(expected, (LIST_OTHER, 0));
    }

    #[test]
    fn the_last_place_of_the_longest_sequence_has_an_extent() {
        let last = (MAX_PLACES - 1 - HEAD_DIGITS) / BLOCK_DIGITS;
        assert_eq!(extent(last).0, MAX_EXTENTS - 1);
        assert!(MAX_PLACES < u32::MAX as usize, "counts are kept in 32 bits");
    }
}
