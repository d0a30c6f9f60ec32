//! Recently forgotten spans. A perceived segment is described and queued before it is written, so it may arrive after the request
//! that forgot its span. Then the forgotten part is cut before it is written.

use std::time::Duration;

use super::draft::Draft;
use crate::store::envelope;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{FORGOTTEN_SPANS, ForgottenSpans};
use crate::{ForgottenRecording, Perceived, TimeSpan, Timestamp};

const SPANS_KEY: &str = "forgotten_spans";

/// Maximum number of spans that are kept, those that end last.
const MAX_SPANS: usize = 64;

/// How long a span is kept after its end. No perceived segment is committed that late.
const RETENTION: Duration = Duration::from_secs(24 * 3600);

/// Rest of a segment.
pub(super) enum Left {
    All(Perceived),
    /// A part; the other one is on the recording still.
    Part(Perceived, ForgottenRecording),
    Nothing(ForgottenRecording),
}

impl Draft<'_> {
    fn forgotten_spans(&self) -> Result<ForgottenSpans> {
        use redb::ReadableTable as _;
        let Some(row) = self.tables.meta.get(SPANS_KEY)? else { return Ok(ForgottenSpans::default()) };
        let spans = envelope::open(FORGOTTEN_SPANS, SPANS_KEY.as_bytes(), row.value())
            .map_err(|detail| Failure::damaged(FORGOTTEN_SPANS.table, SPANS_KEY, detail));
        Ok(if_sound(spans)?.unwrap_or_default())
    }

    /// Keeps in mind that what was until now of a span is forgotten.
    pub(super) fn note_forgotten_span(&mut self, span: TimeSpan) -> Result<()> {
        let end = span.end.min(self.now);
        if span.start > end || self.now.since(end) > RETENTION {
            return Ok(());
        }
        let mut spans = self.forgotten_spans()?;
        let kept = self.now.saturating_sub(RETENTION).as_micros();
        spans.0.retain(|(_, end)| *end >= kept);
        spans.0.push((span.start.as_micros(), end.as_micros()));
        spans.0.sort_unstable_by_key(|(start, end)| (*end, *start));
        let beyond = spans.0.len().saturating_sub(MAX_SPANS);
        spans.0.drain(..beyond);
        self.dirty = true;
        self.tables.meta.insert(SPANS_KEY, envelope::seal(FORGOTTEN_SPANS, SPANS_KEY.as_bytes(), &spans).as_slice())?;
        Ok(())
    }

    /// Whether any of a span was forgotten lately.
    pub(super) fn is_forgotten(&self, span: TimeSpan) -> Result<bool> {
        let forgotten = self.forgotten_spans()?.0;
        let micros = Timestamp::from_micros;
        Ok(forgotten.iter().any(|(start, end)| span.overlaps(TimeSpan::new(micros(*start), micros(*end)))))
    }

    /// Takes out of a segment what was forgotten before it was there.
    pub(super) fn cut(&self, mut segment: Perceived) -> Result<Left> {
        let mut cut: Option<TimeSpan> = None;
        for (start, end) in self.forgotten_spans()?.0 {
            let span = TimeSpan::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
            if !span.overlaps(TimeSpan::new(segment.start, segment.end)) {
                continue;
            }
            let inside = TimeSpan::new(span.start.max(segment.start), span.end.min(segment.end));
            cut = Some(match cut {
                Some(cut) => TimeSpan::new(cut.start.min(inside.start), cut.end.max(inside.end)),
                None => inside,
            });
        }
        let Some(cut) = cut else { return Ok(Left::All(segment)) };
        let recording =
            ForgottenRecording { source: Some(segment.source.clone()), span: cut, media: segment.media.take() };
        segment.events.retain(|event| !cut.overlaps(TimeSpan::new(event.start, event.end.max(event.start))));
        // A part at each end is one too many: the longer one stays.
        let (before, after) = (cut.start.since(segment.start), segment.end.since(cut.end));
        if before.max(after).is_zero() {
            return Ok(Left::Nothing(recording));
        }
        if before > after {
            segment.end = cut.start;
            segment.events.retain(|event| event.start <= cut.start);
        } else {
            segment.start = cut.end;
            segment.events.retain(|event| event.end >= cut.end);
        }
        segment.degraded.push("recording: a part was forgotten".to_owned());
        Ok(Left::Part(segment, recording))
    }
}
