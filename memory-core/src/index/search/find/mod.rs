//! Finds the events that hold words, phrases and nearby words.
//!
//! Two plans give the same events. By rank, every occurrence of the rarest word is found by select in the term stream, and rank
//! tells whether the event around it holds the other words (HIPPOCAMPUS). By postings, the lists of all words are decoded and
//! intersected. Rank also tells in advance how many occurrences each plan visits, so the cheaper one is chosen for each query.
//! What a plan cannot tell (the order of words) is checked in the terms of each event that is left.

mod by_postings;
mod by_rank;
mod compiled;
mod order;
mod plan;
mod shape;
mod snippet;

#[cfg(test)]
mod tests;

use compiled::Compiled;
pub(super) use snippet::snippet;

use super::Snapshot;
use super::filter::Filter;
use crate::index::SearchQuery;
use crate::word_search::{WordMatches, WordOrder, WordPlan, WordQuery, WordQueryError};

/// The events that match; found by `plan`, or else by the cheaper one.
pub(super) fn find(
    snapshot: &Snapshot,
    query: &WordQuery,
    plan: Option<WordPlan>,
) -> Result<WordMatches, WordQueryError> {
    let compiled = Compiled::compile(query, snapshot)?;
    let conditions = SearchQuery {
        span: query.span,
        kinds: query.kinds.clone(),
        entity: query.entity.clone(),
        ..SearchQuery::default()
    };
    let filter = Filter::from_query(&conditions, &snapshot.state);
    let plan = plan.filter(|_| compiled.has_words()).unwrap_or_else(|| plan::cheaper(&compiled, snapshot));
    let mut found = match plan {
        _ if compiled.is_impossible() => Vec::new(),
        WordPlan::Rank => by_rank::documents(&compiled, &filter, snapshot),
        WordPlan::Postings => by_postings::documents(&compiled, &filter, snapshot),
    };
    if compiled.needs_check() {
        found.retain(|ordinal| compiled.holds(snapshot, *ordinal));
    }
    let hits = match query.order {
        WordOrder::Newest => order::newest(&found, query.limit, &snapshot.state),
        WordOrder::Relevance => order::relevance(&found, query.limit, &compiled, snapshot),
    };
    let (words, ignored) = compiled.into_words();
    Ok(WordMatches { total: found.len(), hits, words, ignored, plan })
}
