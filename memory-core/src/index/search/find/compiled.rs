//! A query in the numbers of one state of the index.

use std::collections::{BTreeMap, HashMap};

use super::shape::Shape;
use crate::index::Language;
use crate::index::analysis::{TermId, words};
use crate::index::fusion;
use crate::index::search::Snapshot;
use crate::word_search::{WordCount, WordPattern, WordQuery, WordQueryError};

/// The distinct terms of a query and the patterns that they form. Terms have the numbers of their places here.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub terms: Vec<TermId>,
    /// A word for each of them.
    pub words: Vec<String>,
    pub wanted: Vec<Shape>,
    pub excluded: Vec<Shape>,
    /// Parts of the query whose words the index does not keep.
    pub ignored: Vec<String>,
}

impl Shapes {
    /// # Errors
    /// [`WordQueryError::OnlySmallWords`] if `near` has nothing on a side.
    pub fn compile(query: &WordQuery, language: Language) -> Result<Self, WordQueryError> {
        let mut shapes = Self::default();
        for part in &query.parts {
            let shape = match &part.pattern {
                WordPattern::Phrase(text) => Shape::Run(shapes.run(text, language)),
                WordPattern::Near(first, second, within) => {
                    let small = |text: &String| WordQueryError::OnlySmallWords { text: format!("\"{text}\"") };
                    let [one, other] = [first, second].map(|text| shapes.run(text, language));
                    if one.is_empty() || other.is_empty() {
                        return Err(small(if one.is_empty() { first } else { second }));
                    }
                    Shape::Near(one, other, *within)
                }
            };
            if let (WordPattern::Phrase(text), true) = (&part.pattern, shape == Shape::Run(Vec::new())) {
                shapes.ignored.push(text.clone());
            } else if part.excluded {
                shapes.excluded.push(shape);
            } else {
                shapes.wanted.push(shape);
            }
        }
        let asks = query.span.is_some() || !query.kinds.is_empty() || query.entity.is_some();
        if shapes.wanted.is_empty() && !asks {
            let text = shapes.ignored.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
            return Err(match (text.is_empty(), shapes.excluded.is_empty()) {
                (false, _) => WordQueryError::OnlySmallWords { text },
                (true, true) => WordQueryError::Empty,
                (true, false) => WordQueryError::OnlyExcluded,
            });
        }
        Ok(shapes)
    }

    fn run(&mut self, text: &str, language: Language) -> Vec<usize> {
        let mut run = Vec::new();
        for word in words(text) {
            let Some(term) = language.term_of(&word) else { continue };
            let number = self.terms.iter().position(|known| *known == term);
            run.push(number.unwrap_or_else(|| {
                self.terms.push(term);
                self.words.push(word);
                self.terms.len() - 1
            }));
        }
        run
    }

    /// The numbers of the terms that must be held, each once.
    pub fn wanted_terms(&self) -> Vec<usize> {
        let mut terms: Vec<usize> = self.wanted.iter().flat_map(Shape::terms).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

/// A term of the query in the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompiledWord {
    pub symbol: u32,
    /// How often it occurs, by rank.
    pub occurrences: usize,
    /// Inverse document frequency.
    pub idf: f32,
}

/// A query in the symbols of one state.
pub(super) struct Compiled {
    shapes: Shapes,
    language: Language,
    /// Patterns that an event must hold, in order of the query; empty if some word is held nowhere.
    pub wanted: Vec<CompiledWord>,
    /// Single words that no event may hold.
    pub excluded: Vec<u32>,
    counts: Vec<WordCount>,
    impossible: bool,
    needs_check: bool,
    /// The numbers of the terms by their symbols. Several share one symbol if it is a bucket.
    numbers: HashMap<u32, Vec<usize>>,
    /// Whether a symbol stands for other words too, so that the text has to be read.
    shared: bool,
}

impl Compiled {
    pub fn compile(query: &WordQuery, snapshot: &Snapshot) -> Result<Self, WordQueryError> {
        let language = snapshot.options.language;
        let shapes = Shapes::compile(query, language)?;
        let vocabulary = &snapshot.state.vocabulary;
        let symbols: Vec<Option<u32>> = shapes.terms.iter().map(|term| vocabulary.get(*term)).collect();
        let shared = shapes.terms.iter().any(|term| !vocabulary.has(*term) && vocabulary.get(*term).is_some());
        let mut numbers: HashMap<u32, Vec<usize>> = HashMap::new();
        for (number, symbol) in symbols.iter().enumerate() {
            symbol.iter().for_each(|symbol| numbers.entry(*symbol).or_default().push(number));
        }
        let terms = shapes.wanted_terms();
        let visible = snapshot.visible_count();
        let documents = |number: &usize| symbols[*number].map_or(0, |symbol| snapshot.documents(symbol));
        let counts =
            terms.iter().map(|number| WordCount { word: shapes.words[*number].clone(), events: documents(number) });
        let counts: Vec<WordCount> = counts.collect();
        let mut wanted: BTreeMap<u32, CompiledWord> = BTreeMap::new();
        for (number, count) in terms.iter().zip(&counts) {
            if let Some(symbol) = symbols[*number] {
                let occurrences = snapshot.terms.matrix().count(symbol).unwrap_or(0);
                let idf = fusion::idf(count.events, visible);
                wanted.insert(symbol, CompiledWord { symbol, occurrences, idf });
            }
        }
        let single = |shape: &Shape| shape.single().and_then(|number| symbols[number]);
        // A symbol that stands for other words too cannot exclude an event.
        let excluded = if shared { Vec::new() } else { shapes.excluded.iter().filter_map(single).collect() };
        let simple = |shape: &Shape| shape.single().is_some();
        Ok(Self {
            impossible: counts.iter().any(|count| count.events == 0),
            needs_check: shared || !shapes.wanted.iter().chain(&shapes.excluded).all(simple),
            wanted: wanted.into_values().collect(),
            shapes,
            language,
            excluded,
            counts,
            numbers,
            shared,
        })
    }

    /// Whether events must hold some word.
    pub fn has_words(&self) -> bool {
        !self.shapes.wanted.is_empty()
    }

    /// Whether a word is held by no event.
    pub fn is_impossible(&self) -> bool {
        self.impossible
    }

    /// Whether holding the words is not enough.
    pub fn needs_check(&self) -> bool {
        self.needs_check
    }

    /// Whether an event holds everything in its order and nothing that is excluded.
    pub fn holds(&self, snapshot: &Snapshot, ordinal: u32) -> bool {
        let span = snapshot.state.terms_of(ordinal, &snapshot.terms);
        let symbols = snapshot.terms.symbols(span);
        let held = if self.shared { self.by_text(snapshot, ordinal, &symbols) } else { self.by_symbols(&symbols) };
        self.shapes.wanted.iter().all(|shape| shape.is_in(&held))
            && !self.shapes.excluded.iter().any(|shape| shape.is_in(&held))
    }

    fn by_symbols(&self, symbols: &[u32]) -> Vec<Option<usize>> {
        let number = |symbol: &u32| self.numbers.get(symbol).and_then(|numbers| numbers.first().copied());
        symbols.iter().map(number).collect()
    }

    /// As [`Self::by_symbols`], with the words of the text instead of the symbols that they share. Before them stand the words of the
    /// entity, which the content does not have.
    fn by_text(&self, snapshot: &Snapshot, ordinal: u32, symbols: &[u32]) -> Vec<Option<usize>> {
        let Ok(text) = snapshot.content.text(ordinal as usize) else { return self.by_symbols(symbols) };
        let terms: Vec<TermId> = words(&text).filter_map(|word| self.language.term_of(&word)).collect();
        let entity = self.by_symbols(&symbols[..symbols.len().saturating_sub(terms.len())]);
        let number = |term: &TermId| self.shapes.terms.iter().position(|known| known == term);
        entity.into_iter().chain(terms.iter().map(number)).collect()
    }

    /// How common the words are, and what was left out.
    pub fn into_words(self) -> (Vec<WordCount>, Vec<String>) {
        (self.counts, self.shapes.ignored)
    }
}
