//! The integrity check: every record decodes, and the tables agree.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata};

use super::gists;
use super::learned;
use super::poses;
use super::sequences;
use super::shared;
use super::told_places;
use super::vectors;
use crate::store::failure::Result;
use crate::store::records::{
    CHANGE, Change, EPISODE, EVENT, EpisodeBody, EpisodeRow, EventBody, EventRow, FORGOTTEN_KEY,
};
use crate::store::tables::{self, ENTITY, PLACE, ReadTables};
use crate::words::fold_name;
use crate::{CheckReport, EventId, Origin};

/// Maximum number of problems reported one by one.
const MAX_PROBLEMS: usize = 200;

/// One part of the check.
type CheckPart<'t> = fn(&mut Check<'t>) -> Result<()>;

/// Reads everything and says what is wrong.
pub(crate) fn check<'t>(transaction: &'t ReadTransaction) -> Result<CheckReport> {
    let mut check = Check { transaction, report: CheckReport::default(), untold: 0, live: Live::default() };
    // Pages that contradict each other make redb panic; what it was reading is what is damaged.
    let parts: [(&str, CheckPart<'t>); 11] = [
        ("events", Check::events),
        ("episodes", Check::episodes),
        ("the tables that lead to events", Check::references),
        ("the tables that lead to episodes", Check::segments),
        ("vectors", Check::vectors),
        ("what was learnt", Check::learnt),
        ("settings", Check::texts),
        ("changes", Check::changes),
        ("gists", Check::gists),
        ("poses", Check::poses),
        ("sequences", Check::sequences),
    ];
    for (what, part) in parts {
        match catch_unwind(AssertUnwindSafe(|| part(&mut check))) {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => check.problem(format!("{what}: {}", tables::describe(failure))),
            Err(_) => check.problem(format!("{what}: pages contradict each other")),
        }
    }
    if check.untold > 0 {
        check.report.problems.push(format!("and {} more", check.untold));
    }
    Ok(check.report)
}

#[derive(Default)]
struct Live {
    events: BTreeMap<u64, EventBody>,
    episodes: BTreeMap<u64, EpisodeBody>,
}

struct Check<'t> {
    transaction: &'t ReadTransaction,
    report: CheckReport,
    untold: usize,
    live: Live,
}

impl Check<'_> {
    fn problem(&mut self, problem: String) {
        if self.report.problems.len() < MAX_PROBLEMS {
            self.report.problems.push(problem);
        } else {
            self.untold += 1;
        }
    }

    fn expect(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problem(problem());
        }
    }

    fn events(&mut self) -> Result<()> {
        let table = self.transaction.open_table(tables::EVENTS)?;
        let (mut last, mut hidden) = (0, 0);
        for entry in table.iter()? {
            let (key, value) = entry?;
            self.report.records += 1;
            last = key.value();
            match tables::open_numbered(EVENT, last, value.value()) {
                Ok(EventRow::Live(body)) => {
                    let whole = body.clone().into_event(last, None).is_ok() && body.start <= body.end;
                    self.expect(whole, || format!("record {last} of events: it decodes to no event"));
                    self.live.events.insert(last, body);
                }
                Ok(EventRow::Superseded { by, .. }) => {
                    hidden += 1;
                    self.expect(by > last, || format!("record {last} of events: superseded by the older {by}"));
                }
                Ok(EventRow::Forgotten { .. }) => hidden += 1,
                Err(failure) => self.problem(tables::describe(failure)),
            }
        }
        let head = tables::head(&self.transaction.open_table(tables::META)?)?;
        let visible = self.live.events.len() as u64;
        // A compaction takes the rows of what was forgotten away, also the last one.
        let same = head.last_event >= last && (head.events, head.hidden) == (visible, hidden);
        self.expect(same, || {
            format!(
                "record head of meta: last event {}, {} visible and {} hidden, but the table has {last}, {visible} and {hidden}",
                head.last_event, head.events, head.hidden
            )
        });
        Ok(())
    }

    fn episodes(&mut self) -> Result<()> {
        let table = self.transaction.open_table(tables::EPISODES)?;
        let members = self.transaction.open_table(tables::MEMBERS)?;
        let times = self.transaction.open_table(tables::SEGMENT_TIMES)?;
        let mut last = 0;
        let mut merged = Vec::new();
        for entry in table.iter()? {
            let (key, value) = entry?;
            self.report.records += 1;
            last = key.value();
            match tables::open_numbered(EPISODE, last, value.value()) {
                Ok(EpisodeRow::Live(body)) => {
                    let events = tables::members_of(&members, last)?.len();
                    let complete = events == body.events as usize && (events > 0 || body.origin == Origin::Perceived);
                    self.expect(complete, || {
                        format!(
                            "record {last} of episodes: it counts {} events, and `members` has {events}",
                            body.events
                        )
                    });
                    if body.origin == Origin::Perceived {
                        let end = times.get((body.start, last))?.map(|end| end.value());
                        self.expect(end == Some(body.end), || {
                            format!(
                                "record ({}, {last}) of segment_times: the segment ends at {}",
                                body.start, body.end
                            )
                        });
                    }
                    self.live.episodes.insert(last, body);
                }
                Ok(EpisodeRow::Merged { into }) => merged.push((last, into)),
                Ok(EpisodeRow::Forgotten { .. }) => {}
                Err(failure) => self.problem(tables::describe(failure)),
            }
        }
        for (from, into) in merged {
            let there = table.get(into)?.is_some();
            self.expect(there, || format!("record {from} of episodes: merged into {into}, which is not there"));
        }
        let head = tables::head(&self.transaction.open_table(tables::META)?)?;
        let visible = self.live.episodes.len() as u64;
        self.expect(head.last_episode >= last && head.episodes == visible, || {
            format!(
                "record head of meta: last episode {} and {} visible, but the table has {last} and {visible}",
                head.last_episode, head.episodes
            )
        });
        Ok(())
    }

    /// Every visible event is found by every table that should lead to it, and by no other way.
    fn references(&mut self) -> Result<()> {
        let read = ReadTables::open(self.transaction)?;
        let identity = self.transaction.open_table(tables::IDENTITY)?;
        let told_times = self.transaction.open_table(tables::TOLD_TIMES)?;
        let (mut expected_facets, mut expected_told) = (0, 0);
        let events = std::mem::take(&mut self.live.events);
        for (&id, body) in &events {
            let member = read.members.get((body.episode, id))?.is_some();
            self.expect(member, || format!("record ({}, {id}) of members: missing", body.episode));
            let value = (body.episode, body.start, body.end);
            let entity = body.entity.as_deref().map(|name| (ENTITY, fold_name(name)));
            for (facet, name) in entity.into_iter().chain(body.place().map(|name| (PLACE, name))) {
                expected_facets += 1;
                let found = read.facets.get((facet, name.as_str(), id))?.map(|value| value.value());
                self.expect(found == Some(value), || {
                    format!("record ({facet}, {name:?}, {id}) of facets: {found:?} instead of {value:?}")
                });
            }
            if let Some(key) = body.identity() {
                let found = identity.get(key.as_slice())?.map(|value| value.value());
                self.expect(found == Some(id), || format!("the key of event {id} leads to {found:?} in identity"));
            }
            match self.live.episodes.get(&body.episode) {
                None => self.problem(format!("record {id} of events: its episode {} is not visible", body.episode)),
                Some(episode) if episode.origin == Origin::Told => {
                    let inside = episode.start <= body.start && body.end <= episode.end;
                    expected_told += 1;
                    let found = told_times.get((body.start, id))?.map(|value| value.value());
                    self.expect(found == Some(body.episode), || {
                        format!("record ({}, {id}) of told_times: {found:?} instead of {}", body.start, body.episode)
                    });
                    self.expect(inside, || format!("record {} of episodes: event {id} lies outside", body.episode));
                }
                Some(_) => {}
            }
        }
        let visible = events.len() as u64;
        self.live.events = events;
        for (table, found, expected) in [
            ("members", read.members.len()?, visible),
            ("facets", read.facets.len()?, expected_facets),
            ("told_times", told_times.len()?, expected_told),
        ] {
            self.report.records += found;
            self.expect(found == expected, || format!("{table}: {found} records instead of {expected}"));
        }
        for entry in identity.iter()? {
            let (key, event) = entry?;
            let event = event.value();
            self.report.records += 1;
            if key.value().first() == Some(&FORGOTTEN_KEY) {
                continue;
            }
            match tables::event_row(&read.events, event) {
                Ok(Some(EventRow::Live(_) | EventRow::Forgotten { .. })) => {}
                Ok(_) => self.problem(format!("identity: a key leads to event {event}, which is not the newest of it")),
                // Told already with the table of events.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn segments(&mut self) -> Result<()> {
        let episodes = self.transaction.open_table(tables::EPISODES)?;
        let segments = self.transaction.open_table(tables::SEGMENTS)?;
        let streams = self.transaction.open_table(tables::STREAMS)?;
        for (table, name) in [(&segments, "segments"), (&streams, "streams")] {
            for entry in table.iter()? {
                let (key, episode) = entry?;
                let episode = episode.value();
                self.report.records += 1;
                if key.value().first() == Some(&FORGOTTEN_KEY) {
                    continue;
                }
                let there = episodes.get(episode)?.is_some();
                self.expect(there, || format!("{name}: a key leads to episode {episode}, which is not there"));
            }
        }
        let perceived = self.live.episodes.values().filter(|episode| episode.origin == Origin::Perceived).count();
        let times = self.transaction.open_table(tables::SEGMENT_TIMES)?.len()?;
        self.report.records += times;
        self.expect(times == perceived as u64, || format!("segment_times: {times} records instead of {perceived}"));
        Ok(())
    }

    fn vectors(&mut self) -> Result<()> {
        let mut spaces = BTreeMap::new();
        for entry in self.transaction.open_table(tables::SPACES)?.iter()? {
            let (key, value) = entry?;
            self.report.records += 1;
            match vectors::open_space(key.value(), value.value()) {
                Ok(space) => drop(spaces.insert(key.value(), space.dimensions)),
                Err(failure) => self.problem(tables::describe(failure)),
            }
        }
        // How many events have a shared vector, as it says and as they say.
        let (mut counts, mut referred) = (BTreeMap::new(), BTreeMap::<(u32, u64), u32>::new());
        for entry in self.transaction.open_table(tables::VECTORS)?.iter()? {
            let (key, value) = entry?;
            let (space, event) = key.value();
            self.report.records += 1;
            let Some(&dimensions) = spaces.get(&space) else {
                self.problem(format!("record ({space}, {event}) of vectors: there is no such space"));
                continue;
            };
            if event >= shared::FIRST {
                match shared::SharedVector::open(space, event, dimensions, value.value()) {
                    Ok(shared) => drop(counts.insert((space, event), shared.count)),
                    Err(failure) => self.problem(tables::describe(failure)),
                }
                continue;
            }
            match shared::stored(space, event, dimensions, value.value()) {
                Ok(shared::Stored::Own(_)) => {}
                Ok(shared::Stored::Shared(key)) => *referred.entry((space, key)).or_insert(0) += 1,
                Err(failure) => self.problem(tables::describe(failure)),
            }
            let visible = self.live.events.contains_key(&event);
            self.expect(visible, || format!("record ({space}, {event}) of vectors: the event is not visible"));
        }
        self.expect(counts == referred, || {
            let wrong = |(key, count): &(&(u32, u64), &u32)| referred.get(key) != Some(count);
            let shared =
                counts.iter().find(wrong).or_else(|| referred.iter().find(|(key, _)| !counts.contains_key(key)));
            format!("vectors: the shared one {shared:?} is not that of as many events")
        });
        Ok(())
    }

    fn learnt(&mut self) -> Result<()> {
        let mut problems = Vec::new();
        self.report.records += learned::check(self.transaction, &mut |problem| problems.push(problem))?;
        problems.into_iter().for_each(|problem| self.problem(problem));
        Ok(())
    }

    fn gists(&mut self) -> Result<()> {
        let Some(table) = tables::gists(self.transaction)? else { return Ok(()) };
        let mut problems = Vec::new();
        let is_visible = |event: EventId| self.live.events.contains_key(&event.0);
        self.report.records += gists::check(&table, &is_visible, &mut |problem| problems.push(problem))?;
        problems.into_iter().for_each(|problem| self.problem(problem));
        Ok(())
    }

    fn poses(&mut self) -> Result<()> {
        let mut problems = Vec::new();
        let is_visible = |event: u64| self.live.events.contains_key(&event);
        self.report.records += poses::check(self.transaction, &is_visible, &mut |problem| problems.push(problem))?;
        told_places::check(self.transaction, &is_visible, &mut |problem| problems.push(problem))?;
        problems.into_iter().for_each(|problem| self.problem(problem));
        Ok(())
    }

    fn sequences(&mut self) -> Result<()> {
        let events = &self.live.events;
        let is_visible = |event: u64| events.contains_key(&event);
        let mut problems = Vec::new();
        self.report.records += sequences::check(self.transaction, &is_visible, &mut |problem| problems.push(problem))?;
        problems.into_iter().for_each(|problem| self.problem(problem));
        Ok(())
    }

    /// These count as no records: where one does not decode, the index is built anew at the next opening.
    fn changes(&mut self) -> Result<()> {
        for entry in self.transaction.open_table(tables::CHANGES)?.iter()? {
            let (key, value) = entry?;
            if let Err(failure) = tables::open_numbered::<Change>(CHANGE, key.value(), value.value()) {
                self.problem(tables::describe(failure));
            }
        }
        Ok(())
    }

    fn texts(&mut self) -> Result<()> {
        let settings = self.transaction.open_table(tables::SETTINGS)?;
        let names = settings.iter()?.map(|entry| Ok(entry?.0.value().to_owned())).collect::<Result<Vec<_>>>()?;
        for name in names {
            self.report.records += 1;
            if let Err(failure) = tables::text(&settings, &name) {
                self.problem(tables::describe(failure));
            }
        }
        let meta = self.transaction.open_table(tables::META)?;
        self.report.records += meta.len()?;
        if let Err(failure) = tables::text(&meta, "instance") {
            self.problem(tables::describe(failure));
        }
        Ok(())
    }
}
