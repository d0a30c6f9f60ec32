//! Selects the rows that are copied: everything except forgotten data.

use std::borrow::Cow;
use std::collections::BTreeMap;

use redb::ReadTransaction;

use super::failure::{Result, if_sound};
use super::records::{CONTINUED, EPISODE, EVENT, EpisodeRow, EventRow, FORGOTTEN_KEY, forgotten_key};
use super::tables::{self, EPISODES, EVENTS};

/// Fate of an event or an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Fate {
    /// No row, or one that does not decode.
    #[default]
    Unknown,
    Live,
    /// Superseded, or merged.
    Replaced,
    Forgotten,
}

/// One consistent state, looked through before it is copied.
pub(crate) struct LiveRows {
    events: Vec<Fate>,
    episodes: Vec<Fate>,
    /// Superseded event → the one that took its place.
    versions: BTreeMap<u64, u64>,
    /// Merged episode → the one that took it in.
    merged: BTreeMap<u64, u64>,
    /// Rows of hidden events that are not copied.
    pub hidden_left_out: u64,
}

/// A row as it is copied: its key and its value.
pub(crate) type LiveRow<'r> = (Cow<'r, [u8]>, Cow<'r, [u8]>);

impl LiveRows {
    pub(crate) fn read(transaction: &ReadTransaction) -> Result<Self> {
        let mut rows = Self {
            events: Vec::new(),
            episodes: Vec::new(),
            versions: BTreeMap::new(),
            merged: BTreeMap::new(),
            hidden_left_out: 0,
        };
        for entry in transaction.open_table(EVENTS)?.range::<u64>(..)? {
            let (key, value) = entry?;
            let id = key.value();
            let fate = match if_sound(tables::open_numbered(EVENT, id, value.value()))? {
                None => Fate::Unknown,
                Some(EventRow::Live(_)) => Fate::Live,
                // What it was is in the event that it became a part of.
                Some(EventRow::Forgotten { .. } | EventRow::Superseded { digest: CONTINUED, .. }) => Fate::Forgotten,
                Some(EventRow::Superseded { by, .. }) => {
                    rows.versions.insert(id, by);
                    Fate::Replaced
                }
            };
            put(&mut rows.events, id, fate);
        }
        for entry in transaction.open_table(EPISODES)?.range::<u64>(..)? {
            let (key, value) = entry?;
            let id = key.value();
            let fate = match if_sound(tables::open_numbered(EPISODE, id, value.value()))? {
                None => Fate::Unknown,
                Some(EpisodeRow::Live(_)) => Fate::Live,
                Some(EpisodeRow::Forgotten { .. }) => Fate::Forgotten,
                Some(EpisodeRow::Merged { into }) => {
                    rows.merged.insert(id, into);
                    Fate::Replaced
                }
            };
            put(&mut rows.episodes, id, fate);
        }
        let hidden = (0..rows.events.len() as u64).filter(|id| rows.left_out(*id));
        rows.hidden_left_out = hidden.count() as u64;
        Ok(rows)
    }

    /// Whether the row of an event is not copied: it was forgotten, or is an earlier version of what was.
    fn left_out(&self, event: u64) -> bool {
        match get(&self.events, event) {
            Fate::Forgotten => true,
            Fate::Replaced => {
                let mut newest = event;
                // A version is superseded by a later one, so this ends.
                while let Some(&by) = self.versions.get(&newest).filter(|by| **by > newest) {
                    newest = by;
                }
                get(&self.events, newest) == Fate::Forgotten
            }
            Fate::Unknown | Fate::Live => false,
        }
    }

    /// The row that is copied; `None` for one that is left out. Rows that do not decode are copied as they are, so that
    /// `check` goes on naming them.
    pub(crate) fn row<'r>(&self, table: &str, key: &'r [u8], value: &'r [u8]) -> Option<LiveRow<'r>> {
        let as_it_is = || Some((Cow::Borrowed(key), Cow::Borrowed(value)));
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).ok();
        let (own, leads_to) = (number(key), number(value));
        match table {
            "events" if own.is_some_and(|event| self.left_out(event)) => None,
            "episodes" => match own.map(|episode| (episode, get(&self.episodes, episode))) {
                Some((_, Fate::Forgotten)) => None,
                Some((episode, Fate::Replaced)) => {
                    let into = self.merged.get(&episode).map(|into| get(&self.episodes, *into));
                    if into == Some(Fate::Forgotten) { None } else { as_it_is() }
                }
                _ => as_it_is(),
            },
            // Stores of format 1 kept the keys of what was forgotten.
            "identity" if plain(key) && leads_to.is_some_and(|event| get(&self.events, event) == Fate::Forgotten) => {
                Some((Cow::Owned(forgotten_key(key).to_vec()), Cow::Borrowed(value)))
            }
            "segments" if plain(key) && leads_to.is_some_and(|id| get(&self.episodes, id) == Fate::Forgotten) => {
                Some((Cow::Owned(forgotten_key(key).to_vec()), Cow::Owned(0_u64.to_le_bytes().to_vec())))
            }
            // They belong to indexes that were saved of this generation.
            "changes" => None,
            "streams" if leads_to.is_some_and(|id| get(&self.episodes, id) != Fate::Live) => None,
            _ => as_it_is(),
        }
    }
}

fn plain(key: &[u8]) -> bool {
    key.first() != Some(&FORGOTTEN_KEY)
}

fn put(fates: &mut Vec<Fate>, id: u64, fate: Fate) {
    let index = usize::try_from(id).expect("ids count what fits into memory");
    if fates.len() <= index {
        fates.resize(index + 1, Fate::Unknown);
    }
    fates[index] = fate;
}

fn get(fates: &[Fate], id: u64) -> Fate {
    usize::try_from(id).ok().and_then(|index| fates.get(index)).copied().unwrap_or_default()
}
