//! Recognises the speech of a segment in the background.
//!
//! Recognition takes longer than a camera can wait, so it runs on its own thread. The segment waits for it, and the following
//! segments wait in order. Only a few may wait; then the source waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

use memory_core::{Kind, Perceived, PerceivedEvent, StreamSpan, Value};

use super::captions::AwaitedCaption;
use crate::encoders::{SpeechRecogniser, SpokenWord};
use crate::models::Role;

/// Maximum number of segments that wait. Beyond it, the source waits for the first one.
const MAX_WAITING: usize = 4;

/// A stretch of speech to write down.
pub(super) struct SpeechStretch {
    /// Which event of the segment told of it.
    pub event: usize,
    /// Stream time of the first sample, which may lie before or behind the event's begin.
    pub begin: Duration,
    pub samples: Vec<f32>,
}

struct SpeechJob {
    recogniser: Arc<dyn SpeechRecogniser>,
    stretches: Vec<SpeechStretch>,
    reply: SyncSender<Vec<TranscribedStretch>>,
}

/// Result for a stretch.
struct TranscribedStretch {
    event: usize,
    begin: Duration,
    words: Result<Vec<SpokenWord>, String>,
}

struct Waiting {
    segment: Perceived,
    /// `None` if there is nothing to write down.
    words: Option<Receiver<Vec<TranscribedStretch>>>,
    /// The caption, if one is being made.
    caption: Option<AwaitedCaption>,
}

/// The segments that wait for their words.
#[derive(Default)]
pub(super) struct WordsBehind {
    jobs: Option<SyncSender<SpeechJob>>,
    waiting: VecDeque<Waiting>,
}

impl WordsBehind {
    /// Takes a segment with the stretches whose words it lacks. An error is that of a thread that could not be made: the
    /// segment then stays without.
    pub fn push(
        &mut self,
        segment: Perceived,
        stretches: Vec<SpeechStretch>,
        recogniser: Option<Arc<dyn SpeechRecogniser>>,
        caption: Option<AwaitedCaption>,
    ) -> std::io::Result<()> {
        let mut waiting = Waiting { segment, words: None, caption };
        let mut outcome = Ok(());
        if let (Some(recogniser), false) = (recogniser, stretches.is_empty()) {
            match self.worker() {
                Ok(jobs) => {
                    let (reply, words) = sync_channel(1);
                    // It fails only if the thread is gone; then so is `reply`, and the segment waits for nothing.
                    if jobs.send(SpeechJob { recogniser, stretches, reply }).is_err() {
                        self.jobs = None;
                    }
                    waiting.words = Some(words);
                }
                Err(error) => outcome = Err(error),
            }
        }
        self.waiting.push_back(waiting);
        outcome
    }

    /// The next segment that has its words and its caption. With `all`, or where too many wait, it is waited for.
    pub fn pop(&mut self, all: bool) -> Option<Perceived> {
        let full = self.waiting.len() > MAX_WAITING;
        let first = self.waiting.front_mut()?;
        let written = match &first.words {
            None => Vec::new(),
            Some(words) if all || full => words.recv().unwrap_or_else(|_| lost()),
            Some(words) => match words.try_recv() {
                Ok(written) => written,
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => lost(),
            },
        };
        if first.words.take().is_some() {
            write_down(&mut first.segment, written);
        }
        if let Some(caption) = &first.caption
            && !caption.settle(&mut first.segment, all, full)
        {
            return None;
        }
        self.waiting.pop_front().map(|waiting| waiting.segment)
    }

    fn worker(&mut self) -> std::io::Result<SyncSender<SpeechJob>> {
        if let Some(jobs) = &self.jobs {
            return Ok(jobs.clone());
        }
        let (jobs, wanted) = sync_channel::<SpeechJob>(MAX_WAITING);
        std::thread::Builder::new().name("recognise-speech".to_owned()).spawn(move || {
            for SpeechJob { recogniser, stretches, reply } in wanted {
                let one = |stretch: &SpeechStretch| TranscribedStretch {
                    event: stretch.event,
                    begin: stretch.begin,
                    words: recogniser.encode(&stretch.samples).map_err(|error| error.to_string()),
                };
                // Nobody waits for it once its source is gone.
                drop(reply.send(stretches.iter().map(one).collect()));
            }
        })?;
        Ok(self.jobs.insert(jobs).clone())
    }
}

/// Returns the events for a stretch at which the thread failed.
fn lost() -> Vec<TranscribedStretch> {
    let words = Err("recognising broke off".to_owned());
    vec![TranscribedStretch { event: usize::MAX, begin: Duration::ZERO, words }]
}

/// Puts what was said in place of the events that told that somebody spoke.
fn write_down(segment: &mut Perceived, written: Vec<TranscribedStretch>) {
    let mut said: Vec<(usize, Vec<PerceivedEvent>)> = Vec::new();
    for TranscribedStretch { event: at, begin, words } in written {
        match words {
            Ok(words) => {
                let Some(event) = segment.events.get(at) else { continue };
                let sentences =
                    sentences(&words).map(|sentence| with_words(event, begin, sentence)).collect::<Vec<_>>();
                said.push((at, sentences));
            }
            Err(error) => {
                let line = format!("{}: {error}", Role::SpeechRecognition);
                if !segment.degraded.contains(&line) {
                    segment.degraded.push(line);
                }
            }
        }
    }
    // Without words the event stays: somebody spoke, whatever it was.
    for (at, sentences) in said.into_iter().rev().filter(|(_, sentences)| !sentences.is_empty()) {
        segment.events.splice(at..=at, sentences);
    }
    segment.events.sort_by_key(|event| event.stream.start);
}

/// Words up to the end of a sentence.
pub(crate) fn sentences(words: &[SpokenWord]) -> impl Iterator<Item = &[SpokenWord]> {
    words.split_inclusive(|word| word.text.ends_with(['.', '!', '?', '…']))
}

/// A sentence as an event, with the times of its words, counted from `begin`, and the voice of the stretch that it is from.
fn with_words(stretch: &PerceivedEvent, begin: Duration, words: &[SpokenWord]) -> PerceivedEvent {
    let text = words.iter().map(|word| word.text.trim()).collect::<Vec<_>>().join(" ");
    let first = words.first().map_or(Duration::ZERO, |word| word.start);
    let last = words.last().map_or(first, |word| word.end).max(first);
    // Speech is heard somewhat before its begin and behind its end; the event keeps to its own time.
    let at = |offset: Duration| (begin + offset).clamp(stretch.stream.start, stretch.stream.end);
    let stream = StreamSpan { start: at(first), end: at(last) };
    let wall = |time: Duration| stretch.start.saturating_add(time.saturating_sub(stretch.stream.start));
    let mut event = PerceivedEvent {
        kind: Kind::Text,
        text,
        start: wall(stream.start),
        end: wall(stream.end),
        stream,
        confidence: (words.iter().map(|word| word.confidence).sum::<f32>() / words.len().max(1) as f32).clamp(0.0, 1.0),
        ..stretch.clone()
    };
    event.attributes.clear();
    event.attributes.insert("recognised".to_owned(), Value::Bool(true));
    event
}
