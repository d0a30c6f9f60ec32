//! Co-occurrence by the rarest word first: select finds it, rank looks for the others in the events around it.

use super::compiled::Compiled;
use crate::index::search::Snapshot;
use crate::index::search::filter::Filter;

/// The visible documents that pass the filter, hold every wanted word and none of the excluded ones, in order.
pub(super) fn documents(compiled: &Compiled, filter: &Filter<'_>, snapshot: &Snapshot) -> Vec<u32> {
    let (state, matrix) = (&snapshot.state, snapshot.terms.matrix());
    let mut words = compiled.wanted.clone();
    words.sort_by_key(|word| word.occurrences);
    let Some((rarest, others)) = words.split_first() else { return Vec::new() };
    let Ok(occurrences) = matrix.occurrences(rarest.symbol) else { return Vec::new() };
    let mut found = Vec::new();
    // Everything before this position has been looked at.
    let (mut done, mut last) = (0, 0);
    for occurrence in 0..rarest.occurrences {
        let Some(position) = occurrences.get(occurrence) else { break };
        if position < done {
            continue;
        }
        let Some(ordinal) = state.entries.holding_from(last, position as u64) else { continue };
        last = ordinal;
        let span = state.terms_of(ordinal, &snapshot.terms);
        let (Ok(start), Ok(end)) = (usize::try_from(span.start), usize::try_from(span.end)) else { break };
        done = end;
        let holds = |symbol: u32| matrix.rank_range(symbol, start..end).is_ok_and(|count| count > 0);
        if !state.hidden.contains(ordinal)
            && filter.admits(state, ordinal)
            && others.iter().all(|word| holds(word.symbol))
            && !compiled.excluded.iter().any(|symbol| holds(*symbol))
        {
            found.push(ordinal);
        }
    }
    found
}
