//! Lists all documents that contain given words, in order of time, for counting and for "last".

use super::Snapshot;
use super::filter::{Filter, Mask};
use crate::EventId;
use crate::index::postings::SEGMENT;
use crate::index::{Holding, SearchQuery};

/// The visible documents that hold a word of every group, in order of time.
pub(super) fn holding(snapshot: &Snapshot, query: &Holding) -> Vec<EventId> {
    let language = snapshot.options.language;
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for group in &query.groups {
        let terms = group.iter().filter_map(|word| language.term_of(word));
        let mut symbols: Vec<u32> = terms.filter_map(|term| snapshot.state.vocabulary.get(term)).collect();
        symbols.sort_unstable();
        symbols.dedup();
        if symbols.is_empty() {
            // A group of stop words asks for nothing; one of unknown words is held nowhere.
            if group.iter().any(|word| language.term_of(word).is_some()) {
                return Vec::new();
            }
        } else {
            groups.push(symbols);
        }
    }
    let count = |group: &Vec<u32>| group.iter().map(|symbol| snapshot.state.postings.count(*symbol)).sum::<u32>();
    groups.sort_by_key(count);
    let filter_query = SearchQuery {
        span: query.span,
        modality: query.modality,
        kinds: query.kinds.clone(),
        entity: query.entity.clone(),
        only: query.only.clone(),
        ..SearchQuery::default()
    };
    let filter = Filter::from_query(&filter_query, &snapshot.state);
    let mask = Mask::from_filter(&filter, &snapshot.state);
    let passes = |ordinal: u32| mask.as_ref().is_none_or(|mask| mask.contains(ordinal));
    let mut ordinals: Vec<u32> = match groups.split_first() {
        None => (0..snapshot.state.entries.len()).filter(|ordinal| passes(*ordinal)).collect(),
        Some((rarest, others)) => {
            let mut held = documents(snapshot, rarest);
            held.retain(|ordinal| passes(*ordinal));
            for group in others {
                let other = documents(snapshot, group);
                held.retain(|ordinal| other.binary_search(ordinal).is_ok());
            }
            held
        }
    };
    let entries = &snapshot.state.entries;
    let key = |ordinal: &u32| {
        let span = entries.span(*ordinal);
        if query.latest { (span.end, *ordinal) } else { (span.start, *ordinal) }
    };
    if query.latest {
        ordinals.sort_by_cached_key(|ordinal| std::cmp::Reverse(key(ordinal)));
    } else {
        ordinals.sort_by_cached_key(key);
    }
    ordinals.truncate(query.limit);
    ordinals.into_iter().map(|ordinal| entries.get(ordinal).id).collect()
}

/// The documents that hold one of some symbols, in order.
fn documents(snapshot: &Snapshot, symbols: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    for (number, segment) in (0_u32..).zip(snapshot.state.postings.segments()) {
        for symbol in symbols {
            segment.for_each_run(*symbol, &mut |places, _| {
                found.extend(places.iter().map(|place| number * SEGMENT + u32::from(*place)));
            });
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
