//! Forgetting a part of a stay: it is parted at the segments that it was made of, so that no more is forgotten than would have been
//! before they became one.

use redb::ReadableTable;

use crate::engine::draft::Draft;
use crate::engine::shared::Release;
use crate::episodic::consolidation::{parts_of, set_duration};
use crate::store::failure::{Result, if_sound};
use crate::store::records::{CONTINUED, EpisodeBody, EventBody, EventRow, joined};
use crate::store::tables;
use crate::{Origin, TimeSpan};

/// The key of a segment, and its span in stream time, microseconds.
pub(in crate::engine) type SegmentKey = (Vec<u8>, (u64, u64));

impl Draft<'_> {
    /// The segments that a perceived episode is made of, by their keys.
    pub(in crate::engine) fn segments_of(&self, body: &EpisodeBody) -> Result<Vec<SegmentKey>> {
        let (Some(session), Some((start, end))) = (&body.session, body.stream) else { return Ok(Vec::new()) };
        if body.origin != Origin::Perceived {
            return Ok(Vec::new());
        }
        let key = |from: u64, to: u64| {
            joined(&[body.source.as_bytes(), session.as_bytes()], &[from.cast_signed(), to.cast_signed()])
        };
        let number = |bytes: &[u8]| {
            let bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
            u64::from_be_bytes(bytes) ^ (1 << 63)
        };
        let mut keys = Vec::new();
        for entry in self.tables.segments.range::<&[u8]>(key(start, 0).as_slice()..=key(end, end).as_slice())? {
            let found = entry?.0.value().to_vec();
            let Some((_, numbers)) = found.split_last_chunk::<16>() else { continue };
            let (from, to) = (number(&numbers[..8]), number(&numbers[8..]));
            if from >= start && to <= end {
                keys.push((found, (from, to)));
            }
        }
        Ok(keys)
    }

    /// Parts an episode that was made of several segments, so that those that overlap `span` are an episode of their own. Returns
    /// which events were parted as well: each with one that came of it.
    pub(in crate::engine) fn part(&mut self, episode: u64, span: TimeSpan) -> Result<Vec<(u64, u64)>> {
        let Some(Some(body)) = if_sound(self.episode(episode))?.map(|body| body.cloned()) else {
            return Ok(Vec::new());
        };
        let Some(stream) = body.stream else { return Ok(Vec::new()) };
        let segments = self.segments_of(&body)?;
        if segments.len() < 2 {
            return Ok(Vec::new());
        }
        // Within a stay, wall clock and stream run together.
        let wall = |at: u64| body.start.saturating_add(i64::try_from(at.saturating_sub(stream.0)).unwrap_or(i64::MAX));
        let meant =
            |(from, to): &(u64, u64)| wall(*to) >= span.start.as_micros() && wall(*from) <= span.end.as_micros();
        let inside: Vec<(u64, u64)> = segments.iter().map(|(_, stream)| *stream).filter(meant).collect();
        let (Some(from), Some(to)) =
            (inside.iter().map(|(from, _)| *from).min(), inside.iter().map(|(_, to)| *to).max())
        else {
            return Ok(Vec::new());
        };
        let (before, after) = (from > stream.0, to < stream.1);
        if !before && !after {
            return Ok(Vec::new());
        }
        let cut = (if before { wall(from) } else { i64::MIN }, if after { wall(to) } else { i64::MAX });
        let spans = [
            before.then_some((body.start, cut.0, (stream.0, from))),
            Some((cut.0.max(body.start), cut.1.min(body.end), (from, to))),
            after.then_some((cut.1, body.end, (to, stream.1))),
        ];

        // The first part keeps the number.
        let mut numbers = [0; 3];
        let mut first = true;
        self.tables.segment_times.remove((body.start, episode))?;
        for (number, part) in numbers.iter_mut().zip(spans) {
            let Some((start, end, stream)) = part else { continue };
            *number = if std::mem::take(&mut first) {
                let own = self.episode_of_event(episode)?;
                (own.start, own.end, own.stream) = (start, end, Some(stream));
                episode
            } else {
                self.open_episode(EpisodeBody { start, end, stream: Some(stream), events: 0, ..body.clone() })
            };
            self.tables.segment_times.insert((start, *number), end)?;
        }
        for (key, (at, _)) in segments {
            let part = if at < from { 0 } else { 1 + usize::from(at >= to) };
            self.tables.segments.insert(key.as_slice(), numbers[part])?;
        }
        let mut made = Vec::new();
        for member in tables::members_of(&*self.tables.members, episode)? {
            if let Some(event) = if_sound(self.live_event(member))? {
                made.extend(self.part_event(member, &event, cut, numbers)?);
            }
        }
        Ok(made)
    }

    /// Puts an event into the part of its episode in which it lies, or parts it as well; then the event with each that came of it.
    fn part_event(
        &mut self,
        id: u64,
        body: &EventBody,
        cut: (i64, i64),
        episodes: [u64; 3],
    ) -> Result<Vec<(u64, u64)>> {
        let mut parts = parts_of(body.start, body.end, cut);
        if body.origin == Origin::Told || parts.iter().flatten().count() == 1 {
            // Told events are in the segment in which they begin.
            let begin = parts_of(body.start, body.start, cut);
            let place = if body.origin == Origin::Told { begin } else { parts };
            let place = place.iter().position(Option::is_some).unwrap_or(1);
            if episodes[place] != body.episode {
                self.move_event(id, episodes[place])?;
            }
            return Ok(Vec::new());
        }
        let pose = self.pose(id)?;
        let mut made = Vec::new();
        for (part, episode) in parts.iter_mut().zip(episodes) {
            let Some((start, end)) = part.take() else { continue };
            let stream = body.stream.map(|(own, _)| {
                let at = |moment: i64| own.saturating_add(u64::try_from(moment - body.start).unwrap_or(0));
                (at(start), at(end))
            });
            let mut piece = EventBody { episode, start, end, stream, ..body.clone() };
            set_duration(&mut piece);
            let event = self.insert_posed(piece, pose.clone())?;
            made.push((id, event));
        }
        // Its picture is the average of what it was made of, and some of that is to be forgotten: no part keeps it.
        self.remove_vectors(id, Release::Forgotten)?;
        let by = made.last().map_or(id, |(_, part)| *part);
        self.hide_event(id, body, &EventRow::Superseded { by, supersedes: None, digest: CONTINUED })?;
        Ok(made)
    }
}
