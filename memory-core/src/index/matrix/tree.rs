//! The storage of the digits.
//!
//! One [`TreeNode`] per prefix and height holds the digits of the symbols with that prefix, in order of append:
//!
//! ```text
//! node      head: digits 0 to 63 │ first block │ list of the other extents ─→ u32, u32, u32, u32, pages …, bases
//! block     counts (1 word)      │ digits 64 + 480 b … (15 words)
//! ```
//!
//! The head keeps the many nodes of rare symbols at 24 bytes. A block's counts say how often 1, 2 and 3 occur in the node
//! before it, modulo 2²¹; nodes that grow beyond one superblock (2,048 blocks) keep the exact counts at the start of each in
//! their list of bases. What is written once is never changed but for the word that is being filled, so a clone of the
//! tables with a length is a state.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::digits::{self, WORD_DIGITS, digit_in, first, places_of, with_digit};
use super::place::{self, BLOCK_DIGITS, HEAD_DIGITS, InList, LIST_OTHER, LIST_RECORD};
use crate::index::bits::{Block, Chunks, select_in_word};

const COUNT_BITS: usize = 21;
const COUNT_MASK: usize = (1 << COUNT_BITS) - 1;
/// Blocks in a superblock: their digits, and one block more, are fewer than 2^21.
const SUPERBLOCK: usize = 2048;

const HEAD_WORDS: usize = HEAD_DIGITS / WORD_DIGITS;
const BLOCK_DATA: usize = BLOCK_DIGITS / WORD_DIGITS;

/// The digits of one prefix.
#[derive(Debug, Default)]
struct TreeNode {
    head: [AtomicU64; HEAD_WORDS],
    /// Block 0; 0 is none.
    first: AtomicU32,
    /// The record of the list of extents; 0 is none.
    list: AtomicU32,
}

impl TreeNode {
    #[inline]
    fn head(&self, index: usize) -> u64 {
        self.head[index].load(Ordering::Relaxed)
    }

    /// A one for each of the first `place` (at most 64) places of the head that hold `digit`.
    #[inline]
    fn places_in_head(&self, place: usize, digit: usize) -> u64 {
        (places_of(self.head(0), digit) | places_of(self.head(1), digit) << 32) & first(place)
    }
}

/// All nodes of one height.
#[derive(Debug, Clone, Default)]
pub(super) struct Height {
    nodes: Chunks<TreeNode, 256>,
    /// Node 0 begins with so many zeros that are not stored: what was there when the height was added.
    pub prefix: usize,
}

impl Height {
    /// A height on top of a matrix of `len` symbols.
    pub fn above(len: usize) -> Self {
        Self { nodes: Chunks::default(), prefix: len }
    }

    #[inline]
    pub fn prefix_of(&self, node: usize) -> usize {
        if node == 0 { self.prefix } else { 0 }
    }
}

/// Number of blocks that the writer has allocated. Number 0 of both tables means "none".
#[derive(Debug)]
pub(super) struct Allocated {
    blocks: usize,
    numbers: usize,
}

impl Default for Allocated {
    fn default() -> Self {
        Self { blocks: 1, numbers: 1 }
    }
}

/// Nodes by height (0 is the lowest), the blocks of all, and the lists of all.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub heights: Vec<Height>,
    blocks: Chunks<Block, 512>,
    numbers: Chunks<AtomicU32, 4096>,
}

/// Reading. Places count the stored digits of a node: zeros that are not stored are the caller's business, but for
/// [`Tree::rank`] and [`Tree::digit_and_rank`].
impl Tree {
    /// How often `digit` occurs in the first `place` digits of a node, those included that are not stored.
    #[inline]
    pub fn rank(&self, height: usize, node: usize, place: usize, digit: usize) -> usize {
        let level = &self.heights[height];
        let prefix = level.prefix_of(node);
        let zeros = if digit == 0 { prefix } else { 0 };
        if place <= prefix {
            return place.min(zeros);
        }
        zeros + self.stored_rank(level.nodes.get(node), place - prefix, digit)
    }

    /// The digit at `place`, and how often it occurs before, those included that are not stored.
    #[inline]
    pub fn digit_and_rank(&self, height: usize, node: usize, place: usize) -> (usize, usize) {
        let level = &self.heights[height];
        let prefix = level.prefix_of(node);
        if place < prefix {
            return (0, place);
        }
        let node = level.nodes.get(node);
        let place = place - prefix;
        if place < HEAD_DIGITS {
            let digit = digit_in(node.head(place / WORD_DIGITS), place % WORD_DIGITS);
            let before = node.places_in_head(place, digit).count_ones() as usize;
            return (digit, before + if digit == 0 { prefix } else { 0 });
        }
        let (index, within) = in_blocks(place);
        let block = self.block(node, index);
        let digit = digit_in(block.word(1 + within / WORD_DIGITS), within % WORD_DIGITS);
        let before = self.count_before(node, block, index, digit) + count_in(block, within, digit);
        (digit, before + if digit == 0 { prefix } else { 0 })
    }

    /// How often each digit occurs in the first `place` digits of a node, those included that are not stored.
    pub fn ranks(&self, height: usize, node: usize, place: usize) -> [usize; 4] {
        std::array::from_fn(|digit| self.rank(height, node, place, digit))
    }

    /// Word `index` of a node's stored digits: the head, then the data words of its blocks.
    #[inline]
    pub fn word(&self, height: usize, node: usize, index: usize) -> u64 {
        let node = self.heights[height].nodes.get(node);
        match index.checked_sub(HEAD_WORDS) {
            None => node.head(index),
            Some(index) => self.block(node, index / BLOCK_DATA).word(1 + index % BLOCK_DATA),
        }
    }

    /// Where the `k`-th `digit` (from 0) of a node is, zeros that are not stored included. The node holds `len` digits, and
    /// `count` of them, more than `k`, are this one.
    pub fn select(&self, height: usize, node: usize, digit: usize, k: usize, len: usize, count: usize) -> usize {
        let level = &self.heights[height];
        let prefix = level.prefix_of(node);
        let zeros = if digit == 0 { prefix } else { 0 };
        if k < zeros {
            return k;
        }
        prefix + self.stored_select(level.nodes.get(node), digit, k - zeros, len - prefix, count - zeros)
    }

    fn stored_select(&self, node: &TreeNode, digit: usize, k: usize, len: usize, count: usize) -> usize {
        let head = node.places_in_head(len.min(HEAD_DIGITS), digit);
        if k < head.count_ones() as usize {
            return select_in_word(head, narrow(k)) as usize;
        }
        let blocks = (len - HEAD_DIGITS).div_ceil(BLOCK_DIGITS);
        let before = |index: usize| self.count_before(node, self.block(node, index), index, digit);
        // Occurrences are spread about evenly: guess, and widen the search around the guess.
        let guess = (k as u64 * blocks as u64 / count as u64) as usize;
        let (mut low, mut high) = (0, blocks);
        let mut step = 1;
        if before(guess) <= k {
            low = guess;
            while low + step < high {
                if before(low + step) > k {
                    high = low + step;
                    break;
                }
                low += step;
                step *= 2;
            }
        } else {
            high = guess;
            while high >= step && high - step > low {
                if before(high - step) <= k {
                    low = high - step;
                    break;
                }
                high -= step;
                step *= 2;
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if before(middle) <= k {
                low = middle;
            } else {
                high = middle;
            }
        }
        let block = self.block(node, low);
        let mut rest = k - before(low);
        for index in (0..BLOCK_DATA).step_by(2) {
            // Two words of 32 places are searched at once; the last one is alone.
            let second = if index + 1 < BLOCK_DATA { places_of(block.word(index + 2), digit) } else { 0 };
            let places = places_of(block.word(index + 1), digit) | second << 32;
            let count = places.count_ones() as usize;
            if rest < count {
                let within = select_in_word(places, narrow(rest)) as usize;
                return HEAD_DIGITS + low * BLOCK_DIGITS + index * WORD_DIGITS + within;
            }
            rest -= count;
        }
        unreachable!("the block was chosen because it holds the digit")
    }

    #[inline]
    fn stored_rank(&self, node: &TreeNode, place: usize, digit: usize) -> usize {
        if place <= HEAD_DIGITS {
            return node.places_in_head(place, digit).count_ones() as usize;
        }
        // The last digit before the place has a block for sure, the place itself perhaps not yet.
        let (index, within) = in_blocks(place - 1);
        let block = self.block(node, index);
        self.count_before(node, block, index, digit) + count_in(block, within + 1, digit)
    }

    #[inline]
    fn block(&self, node: &TreeNode, index: usize) -> &Block {
        let (extent, offset, _) = place::extent(index);
        let start = match extent.checked_sub(1) {
            None => node.first.load(Ordering::Relaxed) as usize,
            Some(listed) => self.number(node.list.load(Ordering::Relaxed), listed) as usize,
        };
        self.blocks.get(start + offset)
    }

    /// How often `digit` occurs in the node before its block `index`.
    #[inline]
    fn count_before(&self, node: &TreeNode, block: &Block, index: usize, digit: usize) -> usize {
        let counts = block.word(0) as usize;
        let count = |digit: usize| {
            let count = counts >> (COUNT_BITS * (digit - 1)) & COUNT_MASK;
            if index < SUPERBLOCK {
                return count;
            }
            let bases = self.at(node.list.load(Ordering::Relaxed) as usize + LIST_OTHER);
            let base = self.number(bases, 3 * (index / SUPERBLOCK - 1) + digit - 1) as usize;
            base + (count.wrapping_sub(base) & COUNT_MASK)
        };
        match digit {
            0 => HEAD_DIGITS + index * BLOCK_DIGITS - count(1) - count(2) - count(3),
            digit => count(digit),
        }
    }

    #[inline]
    fn at(&self, place: usize) -> u32 {
        self.numbers.get(place).load(Ordering::Relaxed)
    }

    /// Number `index` of the list whose record is at `list`.
    #[inline]
    fn number(&self, list: u32, index: usize) -> u32 {
        let list = list as usize;
        match place::in_list(index) {
            InList::Record(slot) => self.at(list + slot),
            InList::Page { slot, offset, .. } => self.at(self.at(list + slot) as usize + offset),
        }
    }

    /// Bytes that the tables take.
    pub fn bytes(&self) -> usize {
        let nodes: usize = self.heights.iter().map(|height| height.nodes.bytes()).sum();
        nodes + self.blocks.bytes() + self.numbers.bytes()
    }
}

/// Writing, by the one writer.
impl Tree {
    /// Makes every node of an alphabet's symbols a place.
    pub fn reach(&mut self, sigma: u32) {
        for (height, level) in self.heights.iter_mut().enumerate() {
            level.nodes.reach(digits::node(sigma - 1, height));
        }
    }

    /// Appends the digit of `symbol` to its node of `height`, which holds `place` digits so far. Returns how often the digit
    /// occurred there before: its place in the node below.
    pub fn push(&mut self, allocated: &mut Allocated, height: usize, symbol: u32, place: usize) -> usize {
        let (index, digit) = (digits::node(symbol, height), digits::digit(symbol, height));
        let prefix = self.heights[height].prefix_of(index);
        let place = place - prefix;
        let zeros = if digit == 0 { prefix } else { 0 };
        if place < HEAD_DIGITS {
            let node = self.heights[height].nodes.get(index);
            let word = with_digit(node.head(place / WORD_DIGITS), place % WORD_DIGITS, digit);
            node.head[place / WORD_DIGITS].store(word, Ordering::Relaxed);
            return zeros + node.places_in_head(place, digit).count_ones() as usize;
        }
        let (block_index, within) = in_blocks(place);
        if within == 0 {
            self.open_block(allocated, height, index, block_index);
        }
        let node = self.heights[height].nodes.get(index);
        let block = self.block(node, block_index);
        let word = 1 + within / WORD_DIGITS;
        block.set_word(word, with_digit(block.word(word), within % WORD_DIGITS, digit));
        zeros + self.count_before(node, block, block_index, digit) + count_in(block, within, digit)
    }

    /// Fills word `index` of a node's stored digits, of which all words before it are full and no other is filled.
    pub fn set_word(&mut self, allocated: &mut Allocated, height: usize, node: usize, index: usize, word: u64) {
        let Some(index) = index.checked_sub(HEAD_WORDS) else {
            self.heights[height].nodes.get(node).head[index].store(word, Ordering::Relaxed);
            return;
        };
        if index.is_multiple_of(BLOCK_DATA) {
            self.open_block(allocated, height, node, index / BLOCK_DATA);
        }
        let node = self.heights[height].nodes.get(node);
        self.block(node, index / BLOCK_DATA).set_word(1 + index % BLOCK_DATA, word);
    }

    /// Prepares the block `index` of a node whose blocks before it are full.
    fn open_block(&mut self, allocated: &mut Allocated, height: usize, node: usize, index: usize) {
        let place = HEAD_DIGITS + index * BLOCK_DIGITS;
        let counts: [usize; 3] = {
            let node = self.heights[height].nodes.get(node);
            std::array::from_fn(|digit| self.stored_rank(node, place, digit + 1))
        };
        let (extent, offset, size) = place::extent(index);
        if offset == 0 {
            let start = allocated.blocks;
            allocated.blocks += size;
            self.blocks.reach(allocated.blocks - 1);
            if extent == 0 {
                self.heights[height].nodes.get(node).first.store(narrow(start), Ordering::Relaxed);
            } else {
                let list = self.list_of(allocated, height, node);
                self.set_number(allocated, list, extent - 1, narrow(start));
            }
        }
        if index > 0 && index.is_multiple_of(SUPERBLOCK) {
            let other = self.list_of(allocated, height, node) as usize + LIST_OTHER;
            if self.at(other) == 0 {
                let bases = self.allocate(allocated, LIST_RECORD);
                self.numbers.get(other).store(bases, Ordering::Relaxed);
            }
            let bases = self.at(other);
            for (digit, count) in counts.into_iter().enumerate() {
                self.set_number(allocated, bases, 3 * (index / SUPERBLOCK - 1) + digit, narrow(count));
            }
        }
        let word = counts.iter().rev().fold(0, |word, count| word << COUNT_BITS | (count & COUNT_MASK) as u64);
        self.block(self.heights[height].nodes.get(node), index).set_word(0, word);
    }

    /// The record of a node's list, made when it is needed first.
    fn list_of(&mut self, allocated: &mut Allocated, height: usize, node: usize) -> u32 {
        let list = self.heights[height].nodes.get(node).list.load(Ordering::Relaxed);
        if list != 0 {
            return list;
        }
        let list = self.allocate(allocated, LIST_RECORD);
        self.heights[height].nodes.get(node).list.store(list, Ordering::Relaxed);
        list
    }

    fn set_number(&mut self, allocated: &mut Allocated, list: u32, index: usize, number: u32) {
        let list = list as usize;
        let place = match place::in_list(index) {
            InList::Record(slot) => list + slot,
            InList::Page { slot, offset, size } => {
                if offset == 0 {
                    let page = self.allocate(allocated, size);
                    self.numbers.get(list + slot).store(page, Ordering::Relaxed);
                }
                self.at(list + slot) as usize + offset
            }
        };
        self.numbers.get(place).store(number, Ordering::Relaxed);
    }

    /// Room for so many numbers, all 0.
    fn allocate(&mut self, allocated: &mut Allocated, count: usize) -> u32 {
        let start = allocated.numbers;
        allocated.numbers += count;
        self.numbers.reach(allocated.numbers - 1);
        narrow(start)
    }
}

/// The block of a place behind the head, and where in the block.
#[inline]
fn in_blocks(place: usize) -> (usize, usize) {
    ((place - HEAD_DIGITS) / BLOCK_DIGITS, (place - HEAD_DIGITS) % BLOCK_DIGITS)
}

/// How often `digit` occurs in the first `count` digits of a block.
#[inline]
fn count_in(block: &Block, count: usize, digit: usize) -> usize {
    let (words, rest) = (count / WORD_DIGITS, count % WORD_DIGITS);
    let mut total = 0;
    let mut index = 1;
    while index < words {
        // Two words of 32 places are counted at once.
        let pair = places_of(block.word(index), digit) | places_of(block.word(index + 1), digit) << 32;
        total += pair.count_ones() as usize;
        index += 2;
    }
    let mut last = 0;
    if index == words {
        last = places_of(block.word(index), digit);
    }
    if rest > 0 {
        last |= (places_of(block.word(words + 1), digit) & first(rest)) << 32;
    }
    total + last.count_ones() as usize
}

/// Counts and places of a matrix are below 2^32, because its length is.
#[inline]
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("the length of a matrix is bounded")
}
