//! The lexical table in memory.

mod decode;

use std::sync::LazyLock;

use super::category::Category;
use super::part_of_speech::PartOfSpeech;
#[cfg(test)]
pub(super) use decode::TableError;

const EMBEDDED: &[u8] = include_bytes!("wordnet.bin");

/// A sense of a lemma.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sense {
    pub(super) synset: u32,
    /// How often WordNet's concordance has this lemma with this sense.
    pub(super) count: u16,
}

/// Concatenated texts, sorted.
#[derive(Debug, Default)]
struct Texts {
    bytes: String,
    ends: Vec<u32>,
}

/// Concatenated lists of numbers: list `i` is `items[starts[i]..starts[i + 1]]`.
#[derive(Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    lemmas: Texts,
    sense_starts: Vec<u32>,
    senses: Vec<Sense>,
    files: Vec<u8>,
    information: Vec<u8>,
    parents: Lists,
    /// Senses of each synset, the most frequent first.
    members: Lists,
    opposites: Lists,
    derivations: Lists,
    forms: Texts,
    form_lemmas: Vec<(PartOfSpeech, u32)>,
}

/// Returns the embedded table. A test checks that the embedded bytes can be decoded. Otherwise every word would be
/// unknown.
pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::decode(EMBEDDED).unwrap_or_else(|error| {
            tracing::error!(%error, "no English words are known");
            Table::default()
        })
    });
    &TABLE
}

/// Compares two words without regard to ASCII case. An underscore equals a space.
fn compare(entry: &str, word: &str) -> std::cmp::Ordering {
    let lowered = word.bytes().map(|byte| if byte == b'_' { b' ' } else { byte.to_ascii_lowercase() });
    entry.bytes().cmp(lowered)
}

impl Texts {
    fn get(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[start..self.ends[number] as usize]
    }

    /// Returns the first number whose text is not below `word`.
    fn position(&self, word: &str) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(self.get(middle), word).is_lt() { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn equals(&self, number: usize, word: &str) -> bool {
        number < self.ends.len() && compare(self.get(number), word).is_eq()
    }
}

impl Lists {
    fn get(&self, number: usize) -> &[u32] {
        match (self.starts.get(number), self.starts.get(number + 1)) {
            (Some(&start), Some(&end)) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Groups pairs of (list, item) by list. The pairs may be in any order; a list keeps the order of its items.
    fn grouped(lists: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; lists + 1];
        for (list, _) in pairs {
            starts[*list as usize + 1] += 1;
        }
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for (list, item) in pairs {
            let at = &mut next[*list as usize];
            items[*at as usize] = *item;
            *at += 1;
        }
        Self { starts, items }
    }
}

impl Table {
    /// Returns the number of a lemma, if the table has exactly this word (without regard to case).
    pub(super) fn find(&self, word: &str) -> Option<u32> {
        let number = self.lemmas.position(word);
        self.lemmas.equals(number, word).then_some(number as u32)
    }

    pub(super) fn lemma(&self, lemma: u32) -> &str {
        self.lemmas.get(lemma as usize)
    }

    /// Returns the irregular forms that are written as `word`: the part of speech and the lemma.
    pub(super) fn irregular<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (PartOfSpeech, u32)> + 'a {
        (self.forms.position(word)..)
            .take_while(|number| self.forms.equals(*number, word))
            .map(|number| self.form_lemmas[number])
    }

    /// Returns the numbers of the senses of a lemma: nouns, verbs, adjectives, adverbs, and within those the most
    /// frequent first.
    pub(super) fn senses_of(&self, lemma: u32) -> std::ops::Range<u32> {
        self.sense_starts[lemma as usize]..self.sense_starts[lemma as usize + 1]
    }

    pub(super) fn sense(&self, number: u32) -> Sense {
        self.senses[number as usize]
    }

    pub(super) fn lemma_of(&self, sense: u32) -> u32 {
        (self.sense_starts.partition_point(|start| *start <= sense) - 1) as u32
    }

    pub(super) fn senses_as(&self, lemma: u32, part: PartOfSpeech) -> impl Iterator<Item = u32> {
        self.senses_of(lemma).filter(move |sense| self.part(self.sense(*sense).synset) == part)
    }

    pub(super) fn category(&self, synset: u32) -> Category {
        Category::from_file(self.files[synset as usize])
    }

    pub(super) fn part(&self, synset: u32) -> PartOfSpeech {
        PartOfSpeech::of_file(self.files[synset as usize])
    }

    /// Returns the intrinsic information content in 0..=1: 1 for a synset without hyponyms, 0 for the most general one.
    pub(super) fn information(&self, synset: u32) -> f32 {
        f32::from(self.information[synset as usize]) / 255.0
    }

    pub(super) fn parents(&self, synset: u32) -> &[u32] {
        self.parents.get(synset as usize)
    }

    /// Returns the senses of a synset, the most frequent first.
    pub(super) fn members(&self, synset: u32) -> &[u32] {
        self.members.get(synset as usize)
    }

    pub(super) fn opposites(&self, sense: u32) -> &[u32] {
        self.opposites.get(sense as usize)
    }

    pub(super) fn derivations(&self, sense: u32) -> &[u32] {
        self.derivations.get(sense as usize)
    }

    #[cfg(test)]
    pub(super) fn lemmas(&self) -> impl Iterator<Item = &str> {
        (0..self.lemmas.ends.len()).map(|number| self.lemmas.get(number))
    }

    #[cfg(test)]
    pub(super) fn bytes_in_memory(&self) -> usize {
        let lists = [&self.parents, &self.members, &self.opposites, &self.derivations];
        lists.iter().map(|lists| (lists.starts.capacity() + lists.items.capacity()) * 4).sum::<usize>()
            + [&self.lemmas, &self.forms].iter().map(|t| t.bytes.capacity() + t.ends.capacity() * 4).sum::<usize>()
            + self.sense_starts.capacity() * 4
            + self.senses.capacity() * size_of::<Sense>()
            + self.files.capacity()
            + self.information.capacity()
            + self.form_lemmas.capacity() * size_of::<(PartOfSpeech, u32)>()
    }
}
