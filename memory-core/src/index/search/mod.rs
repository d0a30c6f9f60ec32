//! The read side.

mod best;
mod filter;
mod keywords;
mod listing;
mod meaning;
mod names;
mod phrases;
mod words;

use std::collections::HashSet;

use best::{Best, Candidate};
use filter::{Filter, Mask};
use meaning::Meaning;
use words::{Group, Means, Segment, Workspace};

use super::analysis::{TermId, is_stop_word, term_of};
use super::compressed::{IndexOptions, State};
use super::content::ContentView;
use super::fusion::{self, K1};
use super::postings::SEGMENT;
use super::terms::Terms;
use super::token_signatures::TokenSignatureView;
use super::{Hit, Search, SearchQuery, TermStatistics};
use crate::{EventId, TimeSpan};

/// Up to so many documents nothing is left out or estimated to save time.
const EXACT: usize = 8_192;

/// One consistent state of the index.
pub(super) struct Snapshot {
    pub options: IndexOptions,
    pub state: State,
    pub terms: Terms,
    pub content: ContentView,
    pub token_signatures: Option<TokenSignatureView>,
}

impl Search for Snapshot {
    fn search(&self, query: &SearchQuery) -> Vec<Hit> {
        let filter = Filter::of(query, &self.state);
        let terms = self.query_terms(query);
        if terms.is_empty() && query.embedding.is_none() {
            return listing::in_order_of_time(query, &filter, &self.state);
        }
        let mask = Mask::of(&filter, &self.state);
        if query.limit == 0 || mask.as_ref().is_some_and(|mask| mask.count() == 0) {
            return Vec::new();
        }
        if let Some(signatures) = &self.token_signatures {
            return keywords::ranked(self, signatures, &terms, query.limit, mask.as_ref());
        }
        self.ranked(query, self.groups(terms), mask.as_ref())
    }

    fn terms(&self, text: &str) -> Vec<TermStatistics> {
        let mut seen = HashSet::new();
        let mut terms = Vec::new();
        for word in super::words(text) {
            if let Some(held) = self.options.language.term_of(&word)
                && seen.insert(held)
            {
                let symbol = self.state.vocabulary.get(held);
                let documents = symbol.map_or(0, |symbol| self.documents(symbol));
                let idf = fusion::idf(documents, self.visible_count());
                terms.push(TermStatistics { term: term_of(&word), word, documents, idf });
            }
        }
        terms
    }

    fn session(&self, within: Option<TimeSpan>) -> Option<TimeSpan> {
        listing::session(&self.state, within)
    }

    fn occurrences(&self, phrase: &str, limit: usize) -> Vec<EventId> {
        phrases::occurrences(self, phrase, limit)
    }

    fn text(&self, id: EventId) -> Option<String> {
        let ordinal = self.state.entries.find(id).filter(|ordinal| !self.state.hidden.contains(*ordinal))?;
        self.content.text(ordinal as usize).ok()
    }

    fn write_snapshot(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        self.encode(out)
    }

    fn for_each_visible(&self, visit: &mut dyn FnMut(EventId, bool)) {
        for ordinal in 0..self.state.entries.len() {
            if !self.state.hidden.contains(ordinal) {
                visit(self.state.entries.id(ordinal), self.state.signatures.has(ordinal));
            }
        }
    }

    fn len(&self) -> usize {
        self.visible_count() as usize
    }

    fn embedded(&self) -> usize {
        self.state.signatures.len()
    }
}

impl Snapshot {
    fn visible_count(&self) -> u32 {
        self.state.entries.len() - self.state.hidden.count()
    }

    /// How many visible documents hold a symbol.
    fn documents(&self, symbol: u32) -> u32 {
        let hidden = self.state.hidden_holding.get(&symbol).copied().unwrap_or(0);
        self.state.postings.count(symbol).saturating_sub(hidden)
    }

    fn is_small(&self) -> bool {
        self.state.entries.len() as usize <= EXACT
    }

    fn means(&self) -> Means {
        let all = f64::from(self.state.entries.len().max(1));
        #[expect(clippy::cast_possible_truncation, reason = "mean lengths")]
        let means =
            Means { own: (self.state.lengths.own / all) as f32, context: (self.state.lengths.context / all) as f32 };
        means
    }

    /// The distinct terms of a question, in groups that count as one term. Two words that stand next to each
    /// other are also looked up as one ("clean room", "cleanrooms").
    fn query_terms(&self, query: &SearchQuery) -> Vec<Vec<TermId>> {
        let language = self.options.language;
        let all: Vec<String> = super::words(&query.text).collect();
        let mut terms: Vec<Vec<TermId>> = Vec::new();
        let mut push = |term: Option<TermId>| {
            if let Some(term) = term
                && !terms.iter().flatten().any(|other| *other == term)
            {
                terms.push(vec![term]);
            }
        };
        all.iter().for_each(|word| push(language.term_of(word)));
        for pair in all.windows(2).filter(|pair| pair.iter().all(|word| !is_stop_word(word))) {
            push(language.term_of(&pair.concat()));
        }
        for group in &query.alternatives {
            let mut group: Vec<TermId> = group.iter().filter_map(|word| language.term_of(word)).collect();
            group.sort_unstable();
            group.dedup();
            terms.push(group);
        }
        terms
    }

    /// Those of the groups of terms that are held.
    fn groups(&self, terms: Vec<Vec<TermId>>) -> Vec<Group> {
        let visible = self.visible_count();
        let group = |terms: Vec<TermId>| {
            let symbols: Vec<u32> = terms.into_iter().filter_map(|term| self.state.vocabulary.get(term)).collect();
            let documents = symbols.iter().map(|symbol| self.documents(*symbol)).sum::<u32>().min(visible);
            Group { symbols, documents, own: 0.0, context: 0.0 }
        };
        terms.into_iter().map(group).filter(|group| group.documents > 0).collect()
    }

    /// What each group is worth: its inverse document frequency as a share of all.
    fn weigh(&self, groups: &mut [Group], segments: &[Segment<'_>], space: &mut Workspace) {
        let visible = self.visible_count();
        let (mut own, mut context) = (f32::MIN_POSITIVE, f32::MIN_POSITIVE);
        for group in groups.iter_mut() {
            let around = match segments {
                [only] if self.is_small() => only.around(group, space),
                _ => documents_around(group.documents, visible),
            };
            group.own = fusion::idf(group.documents, visible);
            group.context = fusion::idf(around, visible);
            own += group.own * (K1 + 1.0);
            context += group.context * (K1 + 1.0);
        }
        for group in groups {
            group.own /= own;
            group.context /= context;
        }
    }

    fn ranked(&self, query: &SearchQuery, mut groups: Vec<Group>, mask: Option<&Mask>) -> Vec<Hit> {
        let state = &self.state;
        let (fusion, means) = (&self.options.fusion, self.means());
        let postings: Vec<_> = state.postings.segments().collect();
        let segments: Vec<Segment<'_>> = (0_u32..)
            .zip(&postings)
            .map(|(at, postings)| Segment {
                postings,
                links: state.links.segment(at as usize),
                first: at * SEGMENT,
                state,
                means,
            })
            .collect();
        let mut space = Workspace::new((state.entries.len().min(SEGMENT)) as usize);
        self.weigh(&mut groups, &segments, &mut space);

        let meaning = query.embedding.as_deref().and_then(|embedding| Meaning::of(embedding, state));
        let near = meaning.as_ref().map_or_else(Vec::new, |meaning| meaning.candidates(mask, query.exhaustive));
        let bonus = names::Bonus::of(query, self);
        let context_cosine = |segment: &Segment<'_>, place: u16| {
            meaning.as_ref().and_then(|meaning| meaning.context_cosine(segment.first, place, segment.links))
        };
        // The nearest in meaning bound what meaning can add to any other.
        let most_meaning = near
            .iter()
            .filter_map(|ordinal| context_cosine(&segments[(ordinal / SEGMENT) as usize], (ordinal % SEGMENT) as u16))
            .fold(0.0, |most: f32, (dense, _)| most.max(dense))
            * fusion.dense.max(0.0);
        let most_beside = most_meaning + bonus.most();

        let mut best = Best::new(query.limit);
        for segment in &segments {
            if mask.is_some_and(|mask| !mask.any_in(segment.first, segment.first.saturating_add(SEGMENT))) {
                continue;
            }
            let of_segment = |ordinal: &&u32| **ordinal / SEGMENT == segment.first / SEGMENT;
            let begin = near.partition_point(|ordinal| *ordinal < segment.first);
            let wanted: Vec<u16> =
                near[begin..].iter().take_while(of_segment).map(|ordinal| (ordinal % SEGMENT) as u16).collect();
            let needed = if query.exhaustive { f32::NEG_INFINITY } else { best.threshold() - most_beside };
            let mut scored = segment.score(&groups, &wanted, needed, fusion, &mut space);
            if let Some(mask) = mask {
                scored.retain(|one| mask.contains(segment.first + u32::from(one.place)));
            }
            // The best by words first: they raise the threshold for the others.
            scored.sort_unstable_by(|a, b| b.words(fusion).total_cmp(&a.words(fusion)).then(a.place.cmp(&b.place)));
            for one in scored {
                let ordinal = segment.first + u32::from(one.place);
                let words = one.words(fusion);
                if words + most_beside < best.threshold() {
                    // So do all that follow, but for those that are wanted for their meaning.
                    if near.binary_search(&ordinal).is_err() {
                        continue;
                    }
                }
                let dense = context_cosine(segment, one.place).map_or(0.0, |(dense, _)| dense);
                let score = words + fusion.dense * dense + bonus.of_document(ordinal);
                best.offer(Candidate { ordinal, score, own: one.own, context: one.context });
            }
        }
        best.finish()
            .into_iter()
            .map(|one| {
                let entry = state.entries.get(one.ordinal);
                let (segment, place) = (&segments[(one.ordinal / SEGMENT) as usize], (one.ordinal % SEGMENT) as u16);
                Hit {
                    id: entry.id,
                    episode: entry.episode,
                    score: one.score,
                    lexical: one.own,
                    context: one.context,
                    cosine: meaning.as_ref().and_then(|meaning| meaning.cosine(one.ordinal)),
                    of_cosine: context_cosine(segment, place).map_or(0.0, |(_, own)| fusion.dense * own),
                }
            })
            .collect()
    }
}

/// About how many documents have one of `holding` in their window, if those are spread evenly.
fn documents_around(holding: u32, total: u32) -> u32 {
    let without = 1.0 - f64::from(holding) / f64::from(total.max(1));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and total")]
    let around = (f64::from(total) * (1.0 - without.powi(5))) as u32;
    around
}
