//! The read side.

mod best;
mod bounds;
mod filter;
mod find;
mod holding;
mod kernels;
mod keywords;
mod listing;
mod meaning;
mod names;
mod nearness;
mod phrases;
mod ranking;
mod words;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use filter::{Filter, Mask};
use words::{Means, WordGroup};

use super::analysis::{TermId, is_stop_word, term_of};
use super::compressed::{IndexOptions, IndexState};
use super::content::ContentView;
use super::entries::Lines;
use super::fusion;
use super::signature::{BALL_MARGIN, radius};
use super::terms::Terms;
use super::token_signatures::TokenSignatureView;
use super::{BallHit, Hit, Holding, Search, SearchQuery, TermStatistics};
use crate::word_search::{Snippet, WordMatches, WordPlan, WordQuery, WordQueryError};
use crate::{EpisodeId, EventId, TimeSpan};

/// Number of documents up to which nothing is skipped or estimated to save time.
const MAX_EXACT: usize = 8_192;

/// One consistent state of the index.
pub(super) struct Snapshot {
    pub options: IndexOptions,
    pub state: IndexState,
    pub terms: Terms,
    pub content: ContentView,
    pub token_signatures: Option<TokenSignatureView>,
    /// The lines of the last segment, from the first search on.
    pub last_lines: OnceLock<Arc<Lines>>,
}

impl Search for Snapshot {
    fn search(&self, query: &SearchQuery) -> Vec<Hit> {
        let filter = Filter::from_query(query, &self.state);
        let terms = self.query_terms(query);
        if terms.is_empty() && query.embedding.is_none() {
            return listing::in_order_of_time(query, &filter, &self.state);
        }
        let mask = Mask::from_filter(&filter, &self.state);
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

    fn find(&self, query: &WordQuery, plan: Option<WordPlan>) -> Result<WordMatches, WordQueryError> {
        find::find(self, query, plan)
    }

    fn snippet(&self, text: &str, query: &WordQuery) -> Snippet {
        find::snippet(text, query, self.options.language)
    }

    fn episodes_of(&self, ids: &[EventId]) -> Vec<EpisodeId> {
        let mut episodes = Vec::new();
        self.state.entries.for_each_of(ids, &mut |ordinal| {
            if !self.state.hidden.contains(ordinal) {
                episodes.push(self.state.entries.get(ordinal).episode);
            }
        });
        episodes
    }

    fn holding(&self, query: &Holding) -> Vec<EventId> {
        holding::holding(self, query)
    }

    fn in_ball(&self, vector: &[i16], cosine: f32) -> Vec<BallHit> {
        let state = &self.state;
        let signature = state.planes.as_ref().and_then(|planes| planes.signature(vector));
        let Some(signature) = signature else { return Vec::new() };
        let ball = radius(cosine, BALL_MARGIN, self.options.signature.bits());
        let nearest = state.signatures.nearest(&signature, state.entries.len() as usize, ball);
        let visible = nearest.into_iter().filter(|(ordinal, _)| !state.hidden.contains(*ordinal));
        visible
            .map(|(ordinal, _)| BallHit { id: state.entries.id(ordinal), episode: state.entries.get(ordinal).episode })
            .collect()
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
        self.state.entries.len() as usize <= MAX_EXACT
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

    /// Returns the groups of terms that are held.
    fn groups(&self, terms: Vec<Vec<TermId>>) -> Vec<WordGroup> {
        let visible = self.visible_count();
        let group = |terms: Vec<TermId>| {
            let symbols: Vec<u32> = terms.into_iter().filter_map(|term| self.state.vocabulary.get(term)).collect();
            let documents = symbols.iter().map(|symbol| self.documents(*symbol)).sum::<u32>().min(visible);
            WordGroup { symbols, documents, own: 0.0, context: 0.0 }
        };
        terms.into_iter().map(group).filter(|group| group.documents > 0).collect()
    }
}

/// About how many documents have one of `holding` in their window, if those are spread evenly.
fn documents_around(holding: u32, total: u32) -> u32 {
    let without = 1.0 - f64::from(holding) / f64::from(total.max(1));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and total")]
    let around = (f64::from(total) * (1.0 - without.powi(5))) as u32;
    around
}
