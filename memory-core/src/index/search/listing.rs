//! Searches by time alone.

use std::time::Duration;

use super::filter::{Filter, Mask};
use crate::index::compressed::IndexState;
use crate::index::entries::{BLOCK, Entry, EntryBlock};
use crate::index::{Hit, SearchQuery};
use crate::{TimeSpan, Timestamp};

/// Tolerance of the begin of a session. It is computed from the events, whose times are rounded, and clocks drift.
const SESSION_TOLERANCE: Duration = Duration::from_secs(1);

/// Every document that passes, the earliest first or, if so asked, the latest.
pub(super) fn in_order_of_time(query: &SearchQuery, filter: &Filter<'_>, state: &IndexState) -> Vec<Hit> {
    if query.limit == 0 {
        return Vec::new();
    }
    let mask = Mask::from_filter(filter, state);
    // Blocks from the most promising on, until none can hold what comes before the last that is kept.
    let mut blocks: Vec<(i64, usize)> =
        (0..state.entries.blocks().len()).map(|at| (best_key(&state.entries.blocks()[at], query.latest), at)).collect();
    blocks.sort_unstable();
    let mut found: Vec<((i64, i64), u32)> = Vec::new();
    let mut last = None;
    for (best, at) in blocks {
        if last.is_some_and(|last: (i64, i64)| best > last.0) {
            break;
        }
        let first = ordinal(at * BLOCK);
        let end = state.entries.len().min(first + BLOCK as u32);
        let mut visit = |ordinal: u32| {
            let span = state.entries.span(ordinal);
            let sign = if query.latest { -1 } else { 1 };
            let time = if query.latest { span.end } else { span.start };
            let key = (time.as_micros().saturating_mul(sign), i64::from(ordinal) * sign);
            if last.is_none_or(|last| key < last) {
                found.push((key, ordinal));
            }
        };
        match &mask {
            Some(mask) => mask.for_each_in(first, end, &mut visit),
            None => (first..end).for_each(visit),
        }
        if found.len() >= query.limit {
            found.select_nth_unstable(query.limit - 1);
            found.truncate(query.limit);
            last = Some(found[query.limit - 1].0);
        }
    }
    found.sort_unstable();
    let hit = |(_, ordinal)| {
        let Entry { id, episode, .. } = state.entries.get(ordinal);
        Hit { id, episode, score: 0.0, lexical: 0.0, context: 0.0, cosine: None, of_cosine: 0.0 }
    };
    found.into_iter().map(hit).collect()
}

/// Returns the best rank that a document of a block can have.
pub(super) fn best_key(block: &EntryBlock, latest: bool) -> i64 {
    match block {
        EntryBlock::Open(_) => i64::MIN,
        EntryBlock::Packed(packed) if latest => packed.bounds().1.as_micros().saturating_mul(-1),
        EntryBlock::Packed(packed) => packed.bounds().0.as_micros(),
    }
}

/// The wall-clock span of the latest capture session that has an event in `within`.
pub(super) fn session(state: &IndexState, within: Option<TimeSpan>) -> Option<TimeSpan> {
    let blocks = || state.entries.blocks().iter().enumerate();
    let entries = |at: usize| {
        let first = ordinal(at * BLOCK);
        let visible = (first..state.entries.len().min(first + BLOCK as u32)).filter(|it| !state.hidden.contains(*it));
        visible.map(|ordinal| state.entries.get(ordinal))
    };
    let latest_of = |block: &EntryBlock| match block {
        EntryBlock::Open(_) => Some(Timestamp::from_micros(i64::MAX)),
        EntryBlock::Packed(packed) => packed.session_start(),
    };
    let mut start: Option<Timestamp> = None;
    for (at, block) in blocks() {
        let can = latest_of(block).is_some_and(|latest| start.is_none_or(|start| latest > start));
        if can {
            let inside = entries(at).filter(|entry| within.is_none_or(|span| span.overlaps(entry.span)));
            start = inside.filter_map(|entry| entry.session_start).chain(start).max();
        }
    }
    let start = start?;
    let of_session = |entry: &Entry| {
        entry.session_start.is_some_and(|other| start.since(other) <= SESSION_TOLERANCE && other <= start)
    };
    let mut end: Option<Timestamp> = None;
    for (at, block) in blocks() {
        let can = match block {
            EntryBlock::Open(_) => true,
            EntryBlock::Packed(packed) => {
                packed.session_start().is_some_and(|latest| start.since(latest) <= SESSION_TOLERANCE)
                    && end.is_none_or(|end| packed.bounds().1 > end)
            }
        };
        if can {
            end = entries(at).filter(of_session).map(|entry| entry.span.end).chain(end).max();
        }
    }
    Some(TimeSpan::new(start, end?))
}

fn ordinal(place: usize) -> u32 {
    u32::try_from(place).expect("ordinals are 32 bits")
}
