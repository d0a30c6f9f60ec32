//! Describes a picture of a segment in the background.
//!
//! A vision model takes seconds, so it runs behind a thread of its own, one picture at a time. A live source does not wait for
//! it: a segment whose caption is not there in time goes without, and says so. A file waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

use memory_core::segment::Segment;
use memory_core::{Attributes, Kind, Modality, Perceived, PerceivedEvent, Value};

use crate::encoders::{Captioner, Picture};
use crate::models::Role;

/// Maximum number of pictures kept for segments that are still open.
const MAX_PICTURES: usize = 4;
/// Maximum width of a picture sent to the model, in pixels.
const MAX_WIDTH: u32 = 640;
/// Confidence of a caption. The model gives none.
const CONFIDENCE: f32 = 0.5;
/// How long the last segments of a live source, and of a file, wait for their captions.
const LIVE_CAPTION_WAIT: Duration = Duration::from_secs(3);
const FILE_CAPTION_WAIT: Duration = Duration::from_secs(120);
/// Reason for a missing caption where the model is slower than the source.
const TOO_SLOW: &str = "the model is slower than the source";

/// A picture of its own.
pub(super) struct KeptPicture {
    at: Duration,
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

/// The pictures of open segments.
#[derive(Default)]
pub(super) struct CaptionLog {
    pictures: VecDeque<KeptPicture>,
}

impl CaptionLog {
    pub fn push(&mut self, at: Duration, picture: &Picture<'_>) {
        if self.pictures.len() == MAX_PICTURES {
            self.pictures.pop_front();
        }
        let (width, height) = (picture.width, picture.height);
        self.pictures.push_back(KeptPicture { at, width, height, rgb: picture.rgb.to_vec() });
    }

    /// The picture in the middle of those of a segment; they, and any before it, are forgotten.
    pub fn take(&mut self, segment: &Segment) -> Option<KeptPicture> {
        let inside = self.pictures.partition_point(|kept| kept.at < segment.end);
        let mut pictures: Vec<KeptPicture> =
            self.pictures.drain(..inside).filter(|kept| kept.at >= segment.start).collect();
        let middle = pictures.len() / 2;
        (!pictures.is_empty()).then(|| pictures.swap_remove(middle))
    }
}

struct CaptionJob {
    captioner: Arc<dyn Captioner>,
    picture: KeptPicture,
    reply: SyncSender<Result<String, String>>,
}

/// A caption that is being made.
pub(super) struct AwaitedCaption {
    reply: Receiver<Result<String, String>>,
    model: String,
    live: bool,
}

/// The thread that captions.
#[derive(Default)]
pub(super) struct CaptionsBehind {
    jobs: Option<SyncSender<CaptionJob>>,
}

impl CaptionsBehind {
    /// Begins a caption. One of a live source is not begun while another one is waiting.
    pub fn begin(&mut self, captioner: Arc<dyn Captioner>, picture: KeptPicture, live: bool) -> AwaitedCaption {
        let (reply, awaited) = sync_channel(1);
        let awaited = AwaitedCaption { reply: awaited, model: captioner.model().to_owned(), live };
        let refused = reply.clone();
        let job = CaptionJob { captioner, picture, reply };
        let begun = self.worker().and_then(|jobs| {
            let sent = if live {
                jobs.try_send(job)
            } else {
                jobs.send(job).map_err(|lost| TrySendError::Disconnected(lost.0))
            };
            sent.map_err(|error| match error {
                TrySendError::Full(_) => TOO_SLOW.to_owned(),
                TrySendError::Disconnected(_) => "its thread ended".to_owned(),
            })
        });
        if let Err(reason) = begun {
            if reason != TOO_SLOW {
                self.jobs = None;
            }
            // There is room for one, and nobody else has answered.
            drop(refused.try_send(Err(reason)));
        }
        awaited
    }

    fn worker(&mut self) -> Result<SyncSender<CaptionJob>, String> {
        if let Some(jobs) = &self.jobs {
            return Ok(jobs.clone());
        }
        let (jobs, wanted) = sync_channel::<CaptionJob>(1);
        let spawned = std::thread::Builder::new().name("caption".to_owned()).spawn(move || {
            for CaptionJob { captioner, picture, reply } in wanted {
                let shown = Picture { width: picture.width, height: picture.height, rgb: &picture.rgb };
                let file = crate::archive::jpeg(&shown, MAX_WIDTH).map_err(|error| error.to_string());
                // Nobody waits for it once its source is gone.
                drop(reply.send(file.and_then(|file| captioner.caption(&file))));
            }
        });
        spawned.map_err(|error| error.to_string())?;
        Ok(self.jobs.insert(jobs).clone())
    }
}

impl AwaitedCaption {
    /// Puts the caption into its segment. `false` if it is not there yet and may still be waited for; with `last`, or where `full`
    /// says that others wait, that ends.
    pub fn settle(&self, segment: &mut Perceived, last: bool, full: bool) -> bool {
        let patience = match (self.live, last, full) {
            (true, true, _) => Some(LIVE_CAPTION_WAIT),
            (true, false, true) => Some(Duration::ZERO),
            (false, true, _) | (false, _, true) => Some(FILE_CAPTION_WAIT),
            (_, false, false) => None,
        };
        let outcome = match patience {
            None => match self.reply.try_recv() {
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => Err("captioning broke off".to_owned()),
                Ok(outcome) => outcome,
            },
            Some(patience) => match self.reply.recv_timeout(patience) {
                Err(RecvTimeoutError::Timeout) => Err(TOO_SLOW.to_owned()),
                Err(RecvTimeoutError::Disconnected) => Err("captioning broke off".to_owned()),
                Ok(outcome) => outcome,
            },
        };
        match outcome {
            Ok(text) if !text.trim().is_empty() => segment.events.push(event(segment, text, &self.model)),
            Ok(_) => {}
            Err(error) => segment.degraded.push(format!("{}: {error}", Role::Captions)),
        }
        segment.events.sort_by_key(|event| event.stream.start);
        true
    }
}

fn event(segment: &Perceived, text: String, model: &str) -> PerceivedEvent {
    PerceivedEvent {
        kind: Kind::Caption,
        modality: Modality::Visual,
        text,
        start: segment.start,
        end: segment.end,
        stream: segment.stream,
        entity: None,
        attributes: Attributes::from([("described_by".to_owned(), Value::Text(model.to_owned()))]),
        confidence: CONFIDENCE,
        embeddings: Vec::new(),
        pose: None,
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Boundary, StreamSpan, Timestamp};
    use parking_lot::Mutex;

    use super::*;

    struct Fixed {
        says: Result<&'static str, &'static str>,
        go: Mutex<Receiver<()>>,
        begun: SyncSender<()>,
    }

    impl Captioner for Fixed {
        fn model(&self) -> &str {
            "fixed"
        }

        fn backend(&self) -> &str {
            "test"
        }

        fn caption(&self, jpeg: &[u8]) -> Result<String, String> {
            assert!(jpeg.starts_with(&[0xff, 0xd8]));
            // Nobody may be waiting to hear that it has begun.
            self.begun.try_send(()).ok();
            // An error says that the sender is gone, which lets everything through.
            self.go.lock().recv().ok();
            self.says.map(str::to_owned).map_err(str::to_owned)
        }
    }

    /// A captioner that answers once for every message of its sender, and at once when that is gone. The receiver hears of every
    /// caption that is begun.
    fn captioner(says: Result<&'static str, &'static str>) -> (Arc<dyn Captioner>, SyncSender<()>, Receiver<()>) {
        let (go, wait) = sync_channel(8);
        let (begun, begins) = sync_channel(8);
        (Arc::new(Fixed { says, go: Mutex::new(wait), begun }), go, begins)
    }

    fn picture() -> KeptPicture {
        KeptPicture { at: Duration::ZERO, width: 32, height: 24, rgb: vec![9; 32 * 24 * 3] }
    }

    fn segment() -> Perceived {
        let at = Timestamp::from_micros(0);
        let stream = StreamSpan { start: Duration::ZERO, end: Duration::from_secs(5) };
        Perceived {
            source: "cam".into(),
            session: "s".into(),
            start: at,
            end: at,
            stream,
            boundary: Boundary::Length,
            events: Vec::new(),
            media: None,
            degraded: Vec::new(),
        }
    }

    #[test]
    fn a_caption_becomes_an_event_of_its_segment_and_a_failure_is_named() {
        for (says, live) in [(Ok("A cat sits on a chair."), false), (Err("it refused"), false), (Ok("  "), false)] {
            let (fixed, go, _) = captioner(says);
            drop(go);
            let awaited = CaptionsBehind::default().begin(fixed, picture(), live);
            let mut segment = segment();
            assert!(awaited.settle(&mut segment, true, false));
            match says {
                Ok(text) if !text.trim().is_empty() => {
                    assert_eq!((segment.events[0].text.as_str(), segment.events[0].kind), (text, Kind::Caption));
                    assert_eq!(segment.events[0].attributes["described_by"], Value::Text("fixed".into()));
                }
                Ok(_) => assert!(segment.events.is_empty() && segment.degraded.is_empty()),
                Err(_) => assert_eq!(segment.degraded, ["captions: it refused"]),
            }
        }
    }

    #[test]
    fn a_live_source_does_not_wait_for_a_slow_model() {
        let (slow, go, begins) = captioner(Ok("late"));
        let mut behind = CaptionsBehind::default();
        let mut begin = || behind.begin(Arc::clone(&slow), picture(), true);
        let first = begin();
        begins.recv().unwrap();
        let waiting = [first, begin(), begin()];
        let mut last = segment();
        // One is with the model and one waits at most: the third is not begun.
        assert!(waiting[2].settle(&mut last, false, false));
        assert_eq!(last.degraded, [format!("captions: {TOO_SLOW}")]);
        let mut first = segment();
        assert!(!waiting[0].settle(&mut first, false, false));
        assert!(waiting[0].settle(&mut first, false, true));
        assert_eq!(first.degraded, [format!("captions: {TOO_SLOW}")]);
        drop(go);
    }

    #[test]
    fn the_picture_in_the_middle_of_a_segment_is_described() {
        let mut log = CaptionLog::default();
        let rgb = vec![0; 32 * 24 * 3];
        for second in 0..6 {
            log.push(Duration::from_secs(second), &Picture { width: 32, height: 24, rgb: &rgb });
        }
        let segment = |start, end| Segment {
            start: Duration::from_secs(start),
            end: Duration::from_secs(end),
            boundary: Boundary::Length,
        };
        // Four are kept, from second 2 on.
        assert_eq!(log.take(&segment(0, 5)).map(|kept| kept.at), Some(Duration::from_secs(3)));
        assert_eq!(log.take(&segment(5, 9)).map(|kept| kept.at), Some(Duration::from_secs(5)));
        assert!(log.take(&segment(9, 12)).is_none());
    }
}
