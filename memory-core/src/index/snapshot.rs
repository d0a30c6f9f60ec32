//! The read side.

use std::collections::HashSet;
use std::time::Duration;

use super::analysis::{TermId, is_stop_word, name_hash, term_of, words};
use super::documents::{DocumentTable, Entry, Links, NONE};
use super::fusion::{self, Fusion, NEIGHBOUR_COSINE, TERM_WINDOW, VECTOR_WINDOW};
use super::hidden::HiddenSet;
use super::log_index::Lengths;
use super::postings::Postings;
use super::vectors::VectorTable;
use super::{Hit, Search, SearchQuery, TermStatistics};
use crate::{Kind, Modality, TimeSpan};

/// Longest name of an entity that is recognised in a question, in words.
const LONGEST_NAME: usize = 4;

/// The begin of a session, computed from its events, differs by their rounding and by drift of the clocks.
const ONE_SESSION: Duration = Duration::from_secs(1);

/// Up to so many documents nothing is left out to save time.
const EXACT: usize = 8_192;
/// A term that more than one in so many documents hold is frequent.
const FREQUENT: usize = 16;
/// How many documents that are nearest in meaning are scored.
const NEAREST: usize = 2_048;

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
    /// Those with a score.
    candidates: Vec<u32>,
}

impl Search for Snapshot {
    fn search(&self, query: &SearchQuery) -> Vec<Hit> {
        let filter = Filter::of(query);
        let terms = Self::query_terms(query);
        if terms.is_empty() && query.embedding.is_none() {
            return self.in_order_of_time(query, &filter);
        }
        let links = self.documents.links();
        let cosines = query.embedding.as_deref().and_then(|embedding| self.vectors.cosines(embedding, self.total()));
        let lexical = self.lexical(&terms, &links);
        let candidates = self.candidates(&lexical, cosines.as_deref(), &filter, &links);

        let base = |ordinal: u32| {
            let place = ordinal as usize;
            let dense = cosines.as_ref().and_then(|cosines| self.context_cosine(ordinal, cosines, &links));
            self.fusion.own * lexical.own[place] / lexical.ideal[0]
                + self.fusion.context * lexical.context[place] / lexical.ideal[1]
                + self.fusion.dense * dense.unwrap_or(0.0)
        };
        let mut scored: Vec<(u32, f32)> = candidates.into_iter().map(|ordinal| (ordinal, base(ordinal))).collect();
        let named = names_in(&query.text);
        let most = self.fusion.entity + if query.near.is_empty() { 0.0 } else { self.fusion.near };
        keep_hopeful(&mut scored, query.limit, most);
        for (ordinal, score) in &mut scored {
            *score += self.bonus(*ordinal, &named, &query.near);
        }
        let hit = |(ordinal, score): (u32, f32)| {
            let place = ordinal as usize;
            Hit {
                id: self.documents.get(ordinal).id,
                episode: self.documents.episode(ordinal),
                score,
                lexical: lexical.own[place] / lexical.ideal[0],
                context: lexical.context[place] / lexical.ideal[1],
                cosine: cosines.as_ref().map(|cosines| cosines[place]).filter(|cosine| !cosine.is_nan()),
            }
        };
        best(scored, query.limit).into_iter().map(hit).collect()
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
        let of_session = |entry: &&Entry| {
            entry.session_start.is_some_and(|other| start.since(other) <= ONE_SESSION && other <= start)
        };
        let end = entries().filter(of_session).map(|entry| entry.span.end).max()?;
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

    /// BM25 of documents, by themselves and with their neighbours as context.
    ///
    /// In the context a term counts three times as often where it stands, twice at the neighbours and once at theirs;
    /// that is BM25 over a text in which the neighbours' words were repeated so. Terms are taken from the rarest to the
    /// most frequent; in a large memory a term that every few documents hold is only counted where a rarer one was.
    fn lexical(&self, groups: &[Vec<TermId>], links: &Links<'_>) -> Lexical {
        let total = self.total();
        let mut lexical = Lexical {
            own: vec![0.0; total],
            context: vec![0.0; total],
            ideal: [f32::MIN_POSITIVE; 2],
            candidates: Vec::new(),
        };
        let mut matches: Vec<Vec<(u32, u8)>> = groups.iter().map(|group| self.matches(group)).collect();
        matches.retain(|matches| !matches.is_empty());
        matches.sort_by_key(Vec::len);
        let mut counts = vec![0.0_f32; total];
        for matches in matches {
            let frequent = total > EXACT && matches.len() > total / FREQUENT && !lexical.candidates.is_empty();
            if frequent {
                self.add_where_candidates(&matches, &mut lexical, &mut counts, links);
            } else {
                self.add_everywhere(&matches, &mut lexical, &mut counts, links);
            }
        }
        lexical
    }

    fn means(&self) -> (f32, f32) {
        let all = f64::from(self.documents.len().max(1));
        #[expect(clippy::cast_possible_truncation, reason = "mean lengths")]
        let means = ((self.lengths.own / all) as f32, (self.lengths.context / all) as f32);
        means
    }

    fn add_everywhere(&self, matches: &[(u32, u8)], lexical: &mut Lexical, counts: &mut [f32], links: &Links<'_>) {
        let (mean_own, mean_context) = self.means();
        let idf = fusion::idf(count(matches.len()), self.visible_count());
        lexical.ideal[0] += idf * (fusion::K1 + 1.0);
        let mut touched: Vec<u32> = Vec::with_capacity(matches.len() * 3);
        let mut add = |ordinal: u32, amount: f32| {
            let count = &mut counts[ordinal as usize];
            if *count == 0.0 {
                touched.push(ordinal);
            }
            *count += amount;
        };
        for (ordinal, frequency) in matches {
            let frequency = f32::from(*frequency);
            lexical.own[*ordinal as usize] += idf * fusion::saturation(frequency, links.length(*ordinal), mean_own);
            add(*ordinal, TERM_WINDOW[0] * frequency);
            links.for_each_neighbour(*ordinal, &mut |neighbour, distance| {
                add(neighbour, TERM_WINDOW[distance] * frequency);
            });
        }
        let idf = fusion::idf(count(touched.len()), self.visible_count());
        lexical.ideal[1] += idf * (fusion::K1 + 1.0);
        for ordinal in touched {
            let frequency = std::mem::take(&mut counts[ordinal as usize]);
            let score = &mut lexical.context[ordinal as usize];
            if *score == 0.0 && !self.hidden.contains(ordinal) {
                lexical.candidates.push(ordinal);
            }
            *score += idf * fusion::saturation(frequency, context_length(ordinal, links), mean_context);
        }
    }

    fn add_where_candidates(
        &self,
        matches: &[(u32, u8)],
        lexical: &mut Lexical,
        counts: &mut [f32],
        links: &Links<'_>,
    ) {
        let (mean_own, mean_context) = self.means();
        let own_idf = fusion::idf(count(matches.len()), self.visible_count());
        let around = fusion::idf(documents_around(count(matches.len()), self.visible_count()), self.visible_count());
        lexical.ideal[0] += own_idf * (fusion::K1 + 1.0);
        lexical.ideal[1] += around * (fusion::K1 + 1.0);
        for (ordinal, frequency) in matches {
            counts[*ordinal as usize] = f32::from(*frequency);
        }
        for ordinal in &lexical.candidates {
            let own = counts[*ordinal as usize];
            let mut frequency = TERM_WINDOW[0] * own;
            links.for_each_neighbour(*ordinal, &mut |neighbour, distance| {
                frequency += TERM_WINDOW[distance] * counts[neighbour as usize];
            });
            let place = *ordinal as usize;
            lexical.own[place] += own_idf * fusion::saturation(own, links.length(*ordinal), mean_own);
            lexical.context[place] +=
                around * fusion::saturation(frequency, context_length(*ordinal, links), mean_context);
        }
        for (ordinal, _) in matches {
            counts[*ordinal as usize] = 0.0;
        }
    }

    /// The documents that are scored: those that a word found, and those that are nearest in meaning with their neighbours.
    /// In a small memory that is every document with a vector.
    fn candidates(
        &self,
        lexical: &Lexical,
        cosines: Option<&[f32]>,
        filter: &Filter<'_>,
        links: &Links<'_>,
    ) -> Vec<u32> {
        let passes = |ordinal: u32| filter.is_open() || filter.passes(self.documents.get(ordinal));
        let mut candidates: Vec<u32> = lexical.candidates.iter().copied().filter(|ordinal| passes(*ordinal)).collect();
        let Some(cosines) = cosines else { return candidates };
        let mut known = vec![false; self.total()];
        for ordinal in &candidates {
            known[*ordinal as usize] = true;
        }
        let mut nearest: Vec<(u32, f32)> = self
            .visible()
            .map(|ordinal| (ordinal, cosines[ordinal as usize]))
            .filter(|(_, cosine)| !cosine.is_nan())
            .filter(|(ordinal, _)| passes(*ordinal))
            .collect();
        let exact = nearest.len() <= EXACT;
        if !exact {
            let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
            nearest.select_nth_unstable_by(NEAREST - 1, order);
            nearest.truncate(NEAREST);
        }
        for (ordinal, _) in nearest {
            let mut add = |ordinal: u32| {
                if !std::mem::replace(&mut known[ordinal as usize], true) {
                    candidates.push(ordinal);
                }
            };
            add(ordinal);
            if !exact {
                links.for_each_neighbour(ordinal, &mut |neighbour, _| {
                    if !self.hidden.contains(neighbour) && passes(neighbour) {
                        add(neighbour);
                    }
                });
            }
        }
        candidates
    }

    /// What a document gains by the entity and the spans that the question names.
    fn bonus(&self, ordinal: u32, named: &HashSet<u64>, near: &[(TimeSpan, f32)]) -> f32 {
        let entry = self.documents.get(ordinal);
        let is_named = entry
            .entity
            .is_some_and(|(name, first)| named.contains(&name) || first.is_some_and(|first| named.contains(&first)));
        let near = near
            .iter()
            .filter(|(span, _)| span.overlaps(entry.span))
            .fold(0.0_f32, |most, (_, weight)| most.max(*weight));
        self.fusion.entity * f32::from(u8::from(is_named)) + self.fusion.near * near
    }

    /// The visible documents that hold a term of the group, in order, and how often.
    fn matches(&self, group: &[TermId]) -> Vec<(u32, u8)> {
        let mut matches = Vec::new();
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
        matches
    }

    /// Cosine of the question with the weighted sum of a document's vector and its neighbours'. The length of that sum is
    /// estimated from how similar neighbours usually are.
    fn context_cosine(&self, ordinal: u32, cosines: &[f32], links: &Links<'_>) -> Option<f32> {
        let own = cosines[ordinal as usize];
        if own.is_nan() {
            return None;
        }
        let (mut sum, mut weights, mut squares) = (own, VECTOR_WINDOW[0], VECTOR_WINDOW[0] * VECTOR_WINDOW[0]);
        links.for_each_neighbour(ordinal, &mut |neighbour, distance| {
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

    /// Whether everything passes.
    fn is_open(&self) -> bool {
        self.span.is_none()
            && self.modality.is_none()
            && self.kinds.is_empty()
            && self.entity.is_none()
            && self.source.is_none()
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

/// Drops what cannot come among the first `limit` even with the largest bonus.
fn keep_hopeful(scored: &mut Vec<(u32, f32)>, limit: usize, most: f32) {
    if limit == 0 || scored.len() <= 4 * limit {
        return;
    }
    let mut scores: Vec<f32> = scored.iter().map(|(_, score)| *score).collect();
    let (_, last, _) = scores.select_nth_unstable_by(limit - 1, |a, b| b.total_cmp(a));
    // A hair below, so that rounding never decides.
    let least = *last - most - 1e-4;
    scored.retain(|(_, score)| *score >= least);
}

/// The best, ties by ordinal, which is the order of ids.
fn best(mut scored: Vec<(u32, f32)>, limit: usize) -> Vec<(u32, f32)> {
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if limit == 0 {
        return Vec::new();
    }
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit - 1, order);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(order);
    scored
}

/// How long a document is with its neighbours, weighted.
fn context_length(ordinal: u32, links: &Links<'_>) -> f32 {
    let mut length = TERM_WINDOW[0] * links.length(ordinal);
    links.for_each_neighbour(ordinal, &mut |neighbour, distance| {
        length += TERM_WINDOW[distance] * links.length(neighbour);
    });
    length
}

/// About how many documents have one of `holding` in their window, if those are spread evenly.
fn documents_around(holding: u32, total: u32) -> u32 {
    let without = 1.0 - f64::from(holding) / f64::from(total.max(1));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and total")]
    let around = (f64::from(total) * (1.0 - without.powi(5))) as u32;
    around
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(NONE)
}
