//! The read side.

use std::collections::HashSet;

use super::analysis::{TermId, is_stop_word, name_hash, term_of, words};
use super::documents::{DocumentTable, Entry, NONE};
use super::fusion::{self, Fusion, NEIGHBOUR_COSINE, TERM_WINDOW, VECTOR_WINDOW};
use super::hidden::HiddenSet;
use super::log_index::Lengths;
use super::postings::Postings;
use super::vectors::VectorTable;
use super::{Hit, Search, SearchQuery, TermStatistics};
use crate::{Kind, Modality, TimeSpan};

/// Longest name of an entity that is recognised in a question, in words.
const LONGEST_NAME: usize = 4;

/// One consistent state of the index.
pub(super) struct Snapshot {
    pub fusion: Fusion,
    pub documents: DocumentTable,
    pub postings: Postings,
    pub vectors: VectorTable,
    pub hidden: HiddenSet,
    pub lengths: Lengths,
}

/// Scores per document, by ordinal.
struct Lexical {
    own: Vec<f32>,
    context: Vec<f32>,
    /// The most that the question's words can give, by themselves and in context.
    ideal: [f32; 2],
}

impl Search for Snapshot {
    fn search(&self, query: &SearchQuery) -> Vec<Hit> {
        let filter = Filter::of(query);
        let terms = Self::query_terms(query);
        if terms.is_empty() && query.embedding.is_none() {
            return self.in_order_of_time(query, &filter);
        }
        let lexical = self.lexical(&terms);
        let cosines = query.embedding.as_deref().and_then(|embedding| self.vectors.cosines(embedding, self.total()));
        let named = names_in(&query.text);

        let mut hits = Vec::new();
        for ordinal in self.visible() {
            let place = ordinal as usize;
            let dense = cosines.as_ref().and_then(|cosines| self.context_cosine(ordinal, cosines));
            let (own, context) = (lexical.own[place] / lexical.ideal[0], lexical.context[place] / lexical.ideal[1]);
            if context <= 0.0 && dense.is_none() {
                continue;
            }
            let entry = self.documents.get(ordinal);
            if !filter.passes(entry) {
                continue;
            }
            let is_named = entry.entity.is_some_and(|(name, first)| {
                named.contains(&name) || first.is_some_and(|first| named.contains(&first))
            });
            let near = query
                .near
                .iter()
                .filter(|(span, _)| span.overlaps(entry.span))
                .fold(0.0_f32, |most, (_, weight)| most.max(*weight));
            let score = self.fusion.own * own
                + self.fusion.context * context
                + self.fusion.dense * dense.unwrap_or(0.0)
                + self.fusion.entity * f32::from(u8::from(is_named))
                + self.fusion.near * near;
            hits.push((
                ordinal,
                Hit {
                    id: entry.id,
                    episode: self.documents.episode(ordinal),
                    score,
                    lexical: own,
                    context,
                    cosine: cosines.as_ref().map(|cosines| cosines[place]).filter(|cosine| !cosine.is_nan()),
                },
            ));
        }
        best(hits, query.limit)
    }

    fn terms(&self, text: &str) -> Vec<TermStatistics> {
        let mut seen = HashSet::new();
        let mut terms = Vec::new();
        for word in words(text).filter(|word| !is_stop_word(word)) {
            let term = term_of(&word);
            if seen.insert(term) {
                let documents = self.document_frequency(term);
                terms.push(TermStatistics { word, term, documents, idf: fusion::idf(documents, self.visible_count()) });
            }
        }
        terms
    }

    fn session(&self, within: Option<TimeSpan>) -> Option<TimeSpan> {
        let in_span = |entry: &Entry| within.is_none_or(|span| span.overlaps(entry.span));
        let entries = || self.visible().map(|ordinal| self.documents.get(ordinal));
        let start = entries().filter(|entry| in_span(entry)).filter_map(|entry| entry.session_start).max()?;
        let end = entries().filter(|entry| entry.session_start == Some(start)).map(|entry| entry.span.end).max()?;
        Some(TimeSpan::new(start, end))
    }

    fn len(&self) -> usize {
        self.visible_count() as usize
    }

    fn embedded(&self) -> usize {
        self.vectors.len()
    }
}

impl Snapshot {
    fn total(&self) -> usize {
        self.documents.len() as usize
    }

    fn visible_count(&self) -> u32 {
        self.documents.len() - self.hidden.count()
    }

    fn visible(&self) -> impl Iterator<Item = u32> {
        (0..self.documents.len()).filter(|ordinal| !self.hidden.contains(*ordinal))
    }

    fn document_frequency(&self, term: TermId) -> u32 {
        let mut documents = 0;
        self.postings.for_each(term, &mut |ordinal, _| {
            if ordinal < self.documents.len() && !self.hidden.contains(ordinal) {
                documents += 1;
            }
        });
        documents
    }

    /// The distinct terms of a question, in groups that count as one term. Two words that stand next to each other are also
    /// looked up as one ("clean room", "cleanrooms").
    fn query_terms(query: &SearchQuery) -> Vec<Vec<TermId>> {
        let all: Vec<String> = words(&query.text).collect();
        let mut terms: Vec<Vec<TermId>> = Vec::new();
        let mut push = |term| {
            if !terms.iter().flatten().any(|other| *other == term) {
                terms.push(vec![term]);
            }
        };
        for word in all.iter().filter(|word| !is_stop_word(word)) {
            push(term_of(word));
        }
        for pair in all.windows(2).filter(|pair| pair.iter().all(|word| !is_stop_word(word))) {
            push(term_of(&pair.concat()));
        }
        for group in &query.alternatives {
            let mut group: Vec<TermId> = group.iter().map(|word| term_of(word)).collect();
            group.sort_unstable();
            group.dedup();
            terms.push(group);
        }
        terms
    }

    /// BM25 of every document, by itself and with its neighbours as context.
    ///
    /// In the context a term counts three times as often where it stands, twice at the neighbours and once at theirs;
    /// that is BM25 over a text in which the neighbours' words were repeated so.
    fn lexical(&self, terms: &[Vec<TermId>]) -> Lexical {
        let total = self.total();
        let mut lexical = Lexical { own: vec![0.0; total], context: vec![0.0; total], ideal: [f32::MIN_POSITIVE; 2] };
        let all = f64::from(self.documents.len().max(1));
        #[expect(clippy::cast_possible_truncation, reason = "mean lengths")]
        let (mean_own, mean_context) = ((self.lengths.own / all) as f32, (self.lengths.context / all) as f32);
        let mut counts = vec![0.0_f32; total];
        let mut touched: Vec<u32> = Vec::new();
        let mut matches: Vec<(u32, u8)> = Vec::new();

        for group in terms {
            self.matches(group, &mut matches);
            if matches.is_empty() {
                continue;
            }
            let idf = fusion::idf(count(matches.len()), self.visible_count());
            lexical.ideal[0] += idf * (fusion::K1 + 1.0);
            let mut add = |ordinal: u32, amount: f32| {
                let place = ordinal as usize;
                if counts[place] == 0.0 {
                    touched.push(ordinal);
                }
                counts[place] += amount;
            };
            for (ordinal, frequency) in &matches {
                let frequency = f32::from(*frequency);
                let length = f32::from(self.documents.get(*ordinal).length);
                lexical.own[*ordinal as usize] += idf * fusion::saturation(frequency, length, mean_own);
                add(*ordinal, TERM_WINDOW[0] * frequency);
                self.documents.for_each_neighbour(*ordinal, &mut |neighbour, distance| {
                    add(neighbour, TERM_WINDOW[distance] * frequency);
                });
            }
            let idf = fusion::idf(count(touched.len()), self.visible_count());
            lexical.ideal[1] += idf * (fusion::K1 + 1.0);
            for ordinal in touched.drain(..) {
                let frequency = std::mem::take(&mut counts[ordinal as usize]);
                let length = self.context_length(ordinal);
                lexical.context[ordinal as usize] += idf * fusion::saturation(frequency, length, mean_context);
            }
        }
        lexical
    }

    /// The visible documents that hold a term of the group, in order, and how often.
    fn matches(&self, group: &[TermId], matches: &mut Vec<(u32, u8)>) {
        matches.clear();
        for term in group {
            self.postings.for_each(*term, &mut |ordinal, frequency| {
                if !self.hidden.contains(ordinal) {
                    matches.push((ordinal, frequency));
                }
            });
        }
        if group.len() > 1 {
            matches.sort_unstable();
            matches.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = kept.1.saturating_add(next.1);
                }
                same
            });
        }
    }

    fn context_length(&self, ordinal: u32) -> f32 {
        let mut length = TERM_WINDOW[0] * f32::from(self.documents.get(ordinal).length);
        self.documents.for_each_neighbour(ordinal, &mut |neighbour, distance| {
            length += TERM_WINDOW[distance] * f32::from(self.documents.get(neighbour).length);
        });
        length
    }

    /// Cosine of the question with the weighted sum of a document's vector and its neighbours'. The length of that sum is
    /// estimated from how similar neighbours usually are.
    fn context_cosine(&self, ordinal: u32, cosines: &[f32]) -> Option<f32> {
        let own = cosines[ordinal as usize];
        if own.is_nan() {
            return None;
        }
        let (mut sum, mut weights, mut squares) = (own, VECTOR_WINDOW[0], VECTOR_WINDOW[0] * VECTOR_WINDOW[0]);
        self.documents.for_each_neighbour(ordinal, &mut |neighbour, distance| {
            let cosine = cosines[neighbour as usize];
            if !cosine.is_nan() && !self.hidden.contains(neighbour) {
                let weight = VECTOR_WINDOW[distance];
                sum += weight * cosine;
                weights += weight;
                squares += weight * weight;
            }
        });
        Some(sum / (squares * (1.0 - NEIGHBOUR_COSINE) + weights * weights * NEIGHBOUR_COSINE).sqrt())
    }

    fn in_order_of_time(&self, query: &SearchQuery, filter: &Filter<'_>) -> Vec<Hit> {
        let mut found: Vec<(u32, &Entry)> = self
            .visible()
            .map(|ordinal| (ordinal, self.documents.get(ordinal)))
            .filter(|(_, entry)| filter.passes(entry))
            .collect();
        if query.latest {
            found.sort_by_key(|(_, entry)| std::cmp::Reverse((entry.span.end, entry.id)));
        } else {
            found.sort_by_key(|(_, entry)| (entry.span.start, entry.id));
        }
        found.truncate(query.limit);
        found
            .into_iter()
            .map(|(ordinal, entry)| Hit {
                id: entry.id,
                episode: self.documents.episode(ordinal),
                score: 0.0,
                lexical: 0.0,
                context: 0.0,
                cosine: None,
            })
            .collect()
    }
}

struct Filter<'a> {
    span: Option<TimeSpan>,
    modality: Option<Modality>,
    kinds: &'a [Kind],
    entity: Option<u64>,
    source: Option<u64>,
}

impl<'a> Filter<'a> {
    fn of(query: &'a SearchQuery) -> Self {
        let hash = |name: &String| {
            let words: Vec<String> = words(name).collect();
            name_hash(words.iter().map(String::as_str))
        };
        Self {
            span: query.span,
            modality: query.modality,
            kinds: &query.kinds,
            entity: query.entity.as_ref().map(hash),
            source: query.source.as_ref().map(|source| name_hash([source.as_str()])),
        }
    }

    fn passes(&self, entry: &Entry) -> bool {
        self.span.is_none_or(|span| span.overlaps(entry.span))
            && self.modality.is_none_or(|modality| modality == entry.modality)
            && (self.kinds.is_empty() || self.kinds.contains(&entry.kind))
            && self.source.is_none_or(|source| source == entry.source)
            && self.entity.is_none_or(|entity| entry.entity.is_some_and(|(name, _)| name == entity))
    }
}

/// Hashes of every run of words of the question that could be a name.
fn names_in(question: &str) -> HashSet<u64> {
    let words: Vec<String> = words(question).collect();
    let mut names = HashSet::new();
    for start in 0..words.len() {
        for end in start + 1..=words.len().min(start + LONGEST_NAME) {
            if end > start + 1 || !is_stop_word(&words[start]) {
                names.insert(name_hash(words[start..end].iter().map(String::as_str)));
            }
        }
    }
    names
}

fn best(mut hits: Vec<(u32, Hit)>, limit: usize) -> Vec<Hit> {
    let order = |a: &(u32, Hit), b: &(u32, Hit)| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0));
    if limit == 0 {
        return Vec::new();
    }
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit - 1, order);
        hits.truncate(limit);
    }
    hits.sort_unstable_by(order);
    hits.into_iter().map(|(_, hit)| hit).collect()
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(NONE)
}
