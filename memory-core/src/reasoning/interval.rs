//! The intervals to look at: those of the evidence, then a uniform sample of everything recorded.

use std::time::Duration;

use crate::index::SearchQuery;
use crate::recall::Reader;
use crate::{Evidence, Kind, ReadError, StreamSpan, TimeSpan, Timestamp};

/// Maximum number of intervals that the evidence points to.
const MAX_EVIDENCE_INTERVALS: usize = 5;
/// Maximum number of intervals of the uniform sample.
const MAX_SAMPLE_INTERVALS: usize = 8;
/// How far an interval extends beyond the event that points to it (HippoMM 4.3, δ).
const MARGIN: Duration = Duration::from_secs(2);
/// Length of an interval of the sample, and maximum length of any interval.
const MAX_LENGTH: Duration = Duration::from_secs(30);
/// Maximum number of segments that the sample is taken from, the latest ones.
const MAX_SAMPLED_SEGMENTS: usize = 600;
/// Gap up to which neighbouring segments are one interval.
const MAX_GAP: Duration = Duration::from_secs(2);
/// Prior probability that one of the intervals of the evidence holds the answer, whatever the confidence. In recorded
/// sessions, one of the first five events lies at the right place for about half of the questions.
const EVIDENCE_PRIOR: f32 = 0.5;

/// A part of a recording.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interval {
    pub media: String,
    pub stream: StreamSpan,
    /// Wall-clock time of stream time 0, by the nearest event.
    pub session: Timestamp,
    /// Probability that it holds the answer. The sum over all intervals is 1.
    pub probability: f32,
}

impl Interval {
    pub fn wall_clock_at(&self, at: Duration) -> Timestamp {
        self.session.saturating_add(at)
    }

    pub fn span(&self) -> TimeSpan {
        TimeSpan { start: self.wall_clock_at(self.stream.start), end: self.wall_clock_at(self.stream.end) }
    }

    pub fn length(&self) -> Duration {
        self.stream.end.saturating_sub(self.stream.start)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.media == other.media && self.stream.start < other.stream.end && other.stream.start < self.stream.end
    }
}

fn stream_start(span: TimeSpan, stream: StreamSpan) -> Timestamp {
    span.start.saturating_sub(stream.start)
}

/// Returns the intervals for a question, the most likely first.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn candidate_intervals(
    evidence: &[Evidence],
    confidence: f32,
    bound: Option<TimeSpan>,
    reader: &dyn Reader,
) -> Result<Vec<Interval>, ReadError> {
    let bound = bound.map(widen_moment);
    let mut found = evidence_intervals(evidence, bound);
    let sample = sample_intervals(&found, bound, reader)?;
    let share = if sample.is_empty() { 1.0 } else { confidence.clamp(EVIDENCE_PRIOR, 0.95) };
    let share = if found.is_empty() { 0.0 } else { share };
    let total: f32 = found.iter().map(|interval| interval.probability).sum();
    for interval in &mut found {
        interval.probability *= share / total.max(f32::EPSILON);
    }
    #[expect(clippy::cast_precision_loss, reason = "a few intervals")]
    let each = (1.0 - share) / sample.len().max(1) as f32;
    found.extend(sample.into_iter().map(|interval| Interval { probability: each, ..interval }));
    Ok(found)
}

/// Widens a moment by a margin: a span without length shows nothing.
fn widen_moment(bound: TimeSpan) -> TimeSpan {
    if bound.end.since(bound.start) > MARGIN {
        return bound;
    }
    TimeSpan { start: bound.start.saturating_sub(MARGIN), end: bound.end.saturating_add(MARGIN) }
}

/// Orders evidence by its rank times the likelihood ratio of its interval. An interval with few sightings does not
/// lower its evidence: the tools miss too much.
pub(super) fn order_by_interval(evidence: &mut [Evidence], places: &[Interval], ratios: &[f32]) {
    let scores: Vec<f32> = evidence.iter().map(|item| item.score).collect();
    let ratio_of = |item: &Evidence| {
        let middle = item.stream.map(|stream| (stream.start + stream.end) / 2);
        let holds = |place: &Interval| {
            item.media.as_ref() == Some(&place.media)
                && middle.is_some_and(|middle| place.stream.start <= middle && middle <= place.stream.end)
        };
        places.iter().zip(ratios).find(|(place, _)| holds(place)).map_or(1.0, |(_, ratio)| ratio.max(1.0))
    };
    #[expect(clippy::cast_precision_loss, reason = "a rank")]
    let mut weighed: Vec<(f32, Evidence)> =
        evidence.iter().enumerate().map(|(rank, item)| (ratio_of(item) / (1.0 + rank as f32), item.clone())).collect();
    // The sort is stable: equal weights keep their order.
    weighed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    for ((item, (_, new)), score) in evidence.iter_mut().zip(weighed).zip(scores) {
        *item = Evidence { score, ..new };
    }
}

/// Returns the intervals around the events of the evidence. Touching ones are joined, up to a maximum length.
fn evidence_intervals(evidence: &[Evidence], bound: Option<TimeSpan>) -> Vec<Interval> {
    let mut found: Vec<Interval> = Vec::new();
    for (rank, item) in evidence.iter().enumerate() {
        let (Some(media), Some(stream)) = (&item.media, item.stream) else { continue };
        let session = stream_start(item.span, stream);
        let widened = StreamSpan {
            start: stream.start.saturating_sub(MARGIN),
            end: (stream.end + MARGIN).min(stream.start.saturating_sub(MARGIN) + MAX_LENGTH),
        };
        #[expect(clippy::cast_precision_loss, reason = "a rank")]
        let probability = 1.0 / (1.0 + rank as f32);
        let new =
            Interval { media: media.clone(), stream: clip_to_bound(widened, session, bound), session, probability };
        if new.length().is_zero() {
            continue;
        }
        match found.iter().position(|known| known.overlaps(&new)) {
            Some(place) => {
                let known = &mut found[place];
                let (start, end) = (known.stream.start.min(new.stream.start), known.stream.end.max(new.stream.end));
                if end - start <= MAX_LENGTH {
                    known.stream = StreamSpan { start, end };
                }
                known.probability += new.probability;
            }
            None if found.len() < MAX_EVIDENCE_INTERVALS => found.push(new),
            None => {}
        }
    }
    found
}

fn clip_to_bound(stream: StreamSpan, session: Timestamp, bound: Option<TimeSpan>) -> StreamSpan {
    let Some(bound) = bound else { return stream };
    let since = |at: Timestamp| at.since(session);
    StreamSpan { start: stream.start.max(since(bound.start)), end: stream.end.min(since(bound.end)) }
}

/// Returns a uniform sample of the recordings within the bound, without the `known` intervals.
fn sample_intervals(
    known: &[Interval],
    bound: Option<TimeSpan>,
    reader: &dyn Reader,
) -> Result<Vec<Interval>, ReadError> {
    let query = SearchQuery {
        span: bound,
        kinds: vec![Kind::Caption, Kind::Sound, Kind::Object],
        latest: true,
        limit: MAX_SAMPLED_SEGMENTS,
        ..SearchQuery::default()
    };
    let mut stretches: Vec<Interval> = Vec::new();
    for hit in reader.search().search(&query) {
        let Some(event) = reader.event(hit.id)? else { continue };
        let (Some(media), Some(stream)) = (event.media, event.stream) else { continue };
        let session = stream_start(event.span, stream);
        stretches.push(Interval { media, stream: clip_to_bound(stream, session, bound), session, probability: 0.0 });
    }
    stretches.retain(|stretch| !stretch.length().is_zero());
    stretches.sort_by(|a, b| (&a.media, a.stream.start, a.stream.end).cmp(&(&b.media, b.stream.start, b.stream.end)));
    let mut merged: Vec<Interval> = Vec::new();
    for stretch in stretches {
        match merged.last_mut() {
            Some(last) if last.media == stretch.media && stretch.stream.start <= last.stream.end + MAX_GAP => {
                last.stream.end = last.stream.end.max(stretch.stream.end);
            }
            _ => merged.push(stretch),
        }
    }
    let mut pieces: Vec<Interval> = Vec::new();
    for stretch in merged {
        let mut start = stretch.stream.start;
        while start < stretch.stream.end {
            let end = (start + MAX_LENGTH).min(stretch.stream.end);
            pieces.push(Interval { stream: StreamSpan { start, end }, ..stretch.clone() });
            start = end;
        }
    }
    let covered = |piece: &Interval| {
        let shared: Duration = known
            .iter()
            .filter(|known| known.overlaps(piece))
            .map(|known| known.stream.end.min(piece.stream.end) - known.stream.start.max(piece.stream.start))
            .sum();
        shared * 2 > piece.length()
    };
    pieces.retain(|piece| !covered(piece));
    let count = pieces.len();
    if count > MAX_SAMPLE_INTERVALS {
        let mut place = 0;
        // Evenly spaced and deterministic.
        pieces.retain(|_| {
            let chosen = place * MAX_SAMPLE_INTERVALS / count != (place + 1) * MAX_SAMPLE_INTERVALS / count;
            place += 1;
            chosen
        });
    }
    Ok(pieces)
}
