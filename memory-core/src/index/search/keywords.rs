//! Search by token signatures alone: the documents in which most keywords have a near signature (HIPPOCAMPUS, Figure 6).

use std::collections::BTreeMap;

use super::Snapshot;
use super::filter::Mask;
use crate::index::Hit;
use crate::index::analysis::TermId;
use crate::index::token_signatures::TokenSignatureView;

pub(super) fn ranked(
    snapshot: &Snapshot,
    signatures: &TokenSignatureView,
    keywords: &[Vec<TermId>],
    limit: usize,
    mask: Option<&Mask>,
) -> Vec<Hit> {
    let entries = &snapshot.state.entries;
    // How many keywords a document matches, and how often.
    let mut matches: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for group in keywords {
        let mut of_group: BTreeMap<u32, u32> = BTreeMap::new();
        for keyword in group {
            signatures.for_each_position(*keyword, &mut |position| {
                if let Some(ordinal) = entries.holding(position as u64) {
                    *of_group.entry(ordinal).or_default() += 1;
                }
            });
        }
        for (ordinal, count) in of_group {
            let (keywords, occurrences) = matches.entry(ordinal).or_default();
            *keywords += 1;
            *occurrences += count;
        }
    }
    let passes = |ordinal: &u32| mask.is_none_or(|mask| mask.contains(*ordinal));
    let mut ranked: Vec<(u32, (u32, u32))> = matches.into_iter().filter(|(ordinal, _)| passes(ordinal)).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(limit);
    let hit = |(ordinal, (matched, _)): (u32, (u32, u32))| {
        let entry = entries.get(ordinal);
        #[expect(clippy::cast_precision_loss, reason = "a few keywords")]
        let share = matched as f32 / keywords.len().max(1) as f32;
        Hit {
            id: entry.id,
            episode: entry.episode,
            score: share,
            lexical: share,
            context: 0.0,
            cosine: None,
            of_cosine: 0.0,
        }
    };
    ranked.into_iter().map(hit).collect()
}
