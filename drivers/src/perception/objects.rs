//! Things in view, gathered over the pictures of a segment.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use memory_core::segment::Segment;

use crate::encoders::Detection;

/// A thing that is surer than this counts though it was seen once.
const SURE: f32 = 0.8;
/// Others flicker: they must be seen twice, once at least this surely.
const FAIRLY_SURE: f32 = 0.65;
/// Things that come and go within this time of each other are told in one sentence.
const TOGETHER: Duration = Duration::from_secs(1);

/// What the detector saw in the pictures of segments that are still open.
#[derive(Default)]
pub(super) struct ObjectLog {
    /// By picture, in order of time: how many things of each class, and the score of the surest.
    pictures: VecDeque<(Duration, BTreeMap<Arc<str>, Seen>)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    count: usize,
    score: f32,
}

/// Classes that were in view together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InView {
    /// In order of surety, with the usual count of each.
    pub(super) things: Vec<(Arc<str>, usize)>,
    pub(super) start: Duration,
    pub(super) end: Duration,
    /// Mean over the classes of their surest score.
    pub(super) confidence: f32,
}

/// One class over a segment.
struct Track {
    label: Arc<str>,
    first: Duration,
    last: Duration,
    counts: Vec<usize>,
    score: f32,
}

impl ObjectLog {
    pub(super) fn push(&mut self, at: Duration, detections: &[Detection]) {
        let mut seen: BTreeMap<Arc<str>, Seen> = BTreeMap::new();
        for Detection { label, score, .. } in detections {
            let entry = seen.entry(Arc::clone(label)).or_insert(Seen { count: 0, score: 0.0 });
            *entry = Seen { count: entry.count + 1, score: entry.score.max(*score) };
        }
        self.pictures.push_back((at, seen));
    }

    /// What was in view in `segment`; its pictures, and any before it, are forgotten.
    pub(super) fn take(&mut self, segment: &Segment) -> Vec<InView> {
        let inside = self.pictures.partition_point(|(at, _)| *at < segment.end);
        let pictures: Vec<_> = self.pictures.drain(..inside).collect();
        let times: Vec<Duration> = pictures.iter().map(|(at, _)| *at).collect();
        let mut tracks: BTreeMap<Arc<str>, Track> = BTreeMap::new();
        for (at, seen) in pictures {
            for (label, Seen { count, score }) in seen {
                let track = tracks.entry(Arc::clone(&label)).or_insert_with(|| Track {
                    label,
                    first: at,
                    last: at,
                    counts: Vec::new(),
                    score: 0.0,
                });
                track.last = at;
                track.counts.push(count);
                track.score = track.score.max(score);
            }
        }
        // Of a segment with a single picture nothing can be seen twice.
        let twice = |track: &Track| track.counts.len() > 1 || times.len() == 1;
        let stable = |track: &Track| track.score >= SURE || (track.score >= FAIRLY_SURE && twice(track));
        let mut tracks: Vec<Track> = tracks.into_values().filter(stable).collect();
        for track in &mut tracks {
            (track.first, track.last) = widen(track.first, track.last, &times, segment);
        }
        together(tracks)
    }
}

/// Between the picture that first shows a thing and the one before, it came into view: the middle is the best guess.
fn widen(first: Duration, last: Duration, times: &[Duration], segment: &Segment) -> (Duration, Duration) {
    let before = times[..times.partition_point(|at| *at < first)].last();
    let after = times.get(times.partition_point(|at| *at <= last));
    let start = before.map_or(segment.start, |before| (*before + first) / 2);
    let end = after.map_or(segment.end, |after| (last + *after) / 2);
    (start.clamp(segment.start, segment.end), end.clamp(segment.start, segment.end))
}

fn together(mut tracks: Vec<Track>) -> Vec<InView> {
    tracks.sort_by(|a, b| (a.first, a.last).cmp(&(b.first, b.last)).then(a.label.cmp(&b.label)));
    let mut groups: Vec<Vec<Track>> = Vec::new();
    for track in tracks {
        let near = |group: &&mut Vec<Track>| {
            let founder = &group[0];
            founder.first.abs_diff(track.first) <= TOGETHER && founder.last.abs_diff(track.last) <= TOGETHER
        };
        match groups.iter_mut().find(near) {
            Some(group) => group.push(track),
            None => groups.push(vec![track]),
        }
    }
    groups.into_iter().map(in_view).collect()
}

fn in_view(mut group: Vec<Track>) -> InView {
    group.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
    let confidence = group.iter().map(|track| track.score).sum::<f32>() / group.len() as f32;
    let start = group.iter().map(|track| track.first).min().unwrap_or_default();
    let end = group.iter().map(|track| track.last).max().unwrap_or_default();
    let things = group.into_iter().map(|track| (track.label, median(track.counts))).collect();
    InView { things, start, end, confidence }
}

/// The lower one of two: a thing too few is missed less than a thing too many.
fn median(mut counts: Vec<usize>) -> usize {
    counts.sort_unstable();
    counts.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use memory_core::Boundary;

    use super::*;

    fn seconds(at: f64) -> Duration {
        Duration::from_secs_f64(at)
    }

    fn log(pictures: &[(f64, &[(&str, f32)])]) -> ObjectLog {
        let mut log = ObjectLog::default();
        for (at, things) in pictures {
            let detections: Vec<_> = things
                .iter()
                .map(|(label, score)| Detection { label: Arc::from(*label), score: *score, bounds: [0.0; 4] })
                .collect();
            log.push(seconds(*at), &detections);
        }
        log
    }

    fn segment(start: f64, end: f64) -> Segment {
        Segment { start: seconds(start), end: seconds(end), boundary: Boundary::Visual }
    }

    type Told<'a> = (Vec<(&'a str, usize)>, f64, f64);

    fn told(found: &[InView]) -> Vec<Told<'_>> {
        found
            .iter()
            .map(|view| {
                let things = view.things.iter().map(|(label, count)| (&**label, *count)).collect();
                (things, view.start.as_secs_f64(), view.end.as_secs_f64())
            })
            .collect()
    }

    #[test]
    fn things_that_are_there_all_the_time_are_told_together_for_the_whole_segment() {
        let both: &[(&str, f32)] = &[("person", 0.7), ("chair", 0.66)];
        let mut log = log(&[(0.5, both), (1.5, both), (2.5, both)]);
        assert_eq!(told(&log.take(&segment(0.0, 3.0))), [(vec![("person", 1), ("chair", 1)], 0.0, 3.0)]);
    }

    #[test]
    fn a_flicker_is_not_told_but_a_sure_sight_is() {
        let unsure: &[(&str, f32)] = &[("vase", 0.6)];
        let mut log = log(&[(0.0, unsure), (0.5, &[("toaster", 0.7)]), (1.5, &[("dog", 0.85)]), (2.5, unsure)]);
        assert_eq!(told(&log.take(&segment(0.0, 3.0))), [(vec![("dog", 1)], 1.0, 2.0)]);
    }

    #[test]
    fn a_thing_that_comes_late_has_a_sentence_and_a_time_of_its_own() {
        let mut log = log(&[
            (0.0, &[("person", 0.7)]),
            (1.0, &[("person", 0.7)]),
            (2.0, &[("person", 0.7)]),
            (3.0, &[("person", 0.7), ("dog", 0.6)]),
            (4.0, &[("person", 0.7), ("dog", 0.7)]),
        ]);
        let found = log.take(&segment(0.0, 5.0));
        assert_eq!(told(&found), [(vec![("person", 1)], 0.0, 5.0), (vec![("dog", 1)], 2.5, 5.0)]);
        assert!((found[1].confidence - 0.7).abs() < 1e-6);
    }

    #[test]
    fn the_usual_count_is_told() {
        let two: &[(&str, f32)] = &[("car", 0.7), ("car", 0.6)];
        let mut log = log(&[(0.5, two), (1.5, &[("car", 0.7), ("car", 0.7), ("car", 0.6)]), (2.5, two)]);
        assert_eq!(told(&log.take(&segment(0.0, 3.0)))[0].0, [("car", 2)]);
    }

    #[test]
    fn pictures_of_the_next_segment_wait_for_it() {
        let mut log =
            log(&[(0.5, &[("cat", 0.7)]), (1.5, &[("cat", 0.7)]), (5.0, &[("dog", 0.7)]), (5.5, &[("dog", 0.7)])]);
        assert_eq!(told(&log.take(&segment(0.0, 5.0)))[0].0, [("cat", 1)]);
        assert_eq!(told(&log.take(&segment(5.0, 6.0))), [(vec![("dog", 1)], 5.0, 6.0)]);
        assert!(log.take(&segment(6.0, 7.0)).is_empty());
    }

    #[test]
    fn a_segment_with_one_picture_tells_what_is_fairly_sure() {
        let mut log = log(&[(0.5, &[("cat", 0.7), ("vase", 0.6)])]);
        assert_eq!(told(&log.take(&segment(0.0, 1.0))), [(vec![("cat", 1)], 0.0, 1.0)]);
    }
}
