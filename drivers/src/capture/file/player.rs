//! Delivers the decoded streams of a file in order of stream time, with their subtitles.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use memory_core::Timestamp;
use parking_lot::Mutex;

use super::super::delivery::{Delivery, FrameGate};
use super::super::spec::{FileSource, SourceSpec, Speed};
use super::super::status::{Loss, SourceShared, SourceState};
use super::super::subtitles::Cue;
use super::super::text_track::TextTrack;
use super::bus::BusReader;
use super::pipeline::FoundStreams;
use super::{Played, STALL_TIMEOUT, stuck_error};
use crate::pipeline::CaptureError;
use crate::pipeline::PictureConverter;
use crate::pipeline::read_samples;

/// Time after which a stream that the other one waits for counts as having a gap.
const STARVED_TIMEOUT: Duration = Duration::from_secs(3);

/// Duration of one poll of a queue.
const POLL_TIMEOUT: gst::ClockTime = gst::ClockTime::from_mseconds(20);

/// The next thing that a stream has.
pub(super) struct Head {
    stream: Duration,
    length: Duration,
    sample: gst::Sample,
}

/// One stream of the file.
pub(super) struct FileStream {
    pub(super) sink: gst_app::AppSink,
    pub(super) head: Option<Head>,
    pub(super) finished: bool,
    pub(super) waiting_since: Option<Instant>,
    /// Begin of the next sample if the sample itself has no time.
    pub(super) expected: Duration,
}

impl FileStream {
    fn locate(&mut self, sample: gst::Sample) -> Option<Head> {
        let buffer = sample.buffer()?;
        let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
        let stream =
            segment.to_running_time(buffer.pts()).map_or(self.expected, |at| Duration::from_nanos(at.nseconds()));
        let length = buffer.duration().map_or(Duration::from_millis(40), |d| Duration::from_nanos(d.nseconds()));
        self.expected = stream + length;
        Some(Head { stream, length, sample })
    }
}

pub(super) enum CueSource {
    List(VecDeque<Cue>),
    Track(TextTrack),
}

pub(super) struct Player<'a, 'b> {
    pub(super) spec: &'a SourceSpec,
    pub(super) file: &'a FileSource,
    pub(super) shared: &'a Arc<SourceShared>,
    pub(super) delivery: &'a mut Delivery<'b>,
    pub(super) bus: BusReader<'a>,
    pub(super) found: Arc<Mutex<FoundStreams>>,
    /// Video, then audio.
    pub(super) streams: [Option<FileStream>; 2],
    pub(super) cues: CueSource,
    pub(super) started: Option<Timestamp>,
    /// At `real` speed: the monotonic time of stream time 0.
    pub(super) origin: Duration,
}

impl Player<'_, '_> {
    pub(super) fn run(&mut self, pipeline: &gst::Pipeline) -> Result<Played, CaptureError> {
        let mut pictures = PictureConverter::new(self.spec.max_width);
        let mut gate = FrameGate::default();
        let mut samples = Vec::new();
        let mut session = None;
        let mut last_progress = Instant::now();
        let mut frame_interval = None;
        loop {
            self.bus.drain(self.shared);
            self.shared.measure();
            if self.shared.stop_wanted() {
                return Ok(Played::Stopped);
            }
            if self.shared.pause_wanted() {
                self.pause(session.as_ref());
                last_progress = Instant::now();
                continue;
            }
            let Some(turn) = self.next() else {
                if self.streams.iter().flatten().all(|stream| stream.finished) {
                    break;
                }
                if last_progress.elapsed() > STALL_TIMEOUT {
                    return Err(stuck_error(self.file, "picture or sound", STALL_TIMEOUT));
                }
                continue;
            };
            last_progress = Instant::now();
            let stream = self.streams[turn]
                .as_ref()
                .and_then(|stream| stream.head.as_ref())
                .map_or(Duration::ZERO, |head| head.stream);
            if session.is_none() {
                session = Some(self.begin(pipeline));
            }
            if !self.pace(stream) {
                continue;
            }
            self.subtitles_until(stream);
            let Some(head) = self.streams[turn].as_mut().and_then(|stream| stream.head.take()) else { continue };
            self.delivery.lasts_until(stream + head.length);
            if turn == 0 {
                if !gate.wants(stream) {
                    self.shared.skipped.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                } else if let Some((width, height, rgb)) = pictures.convert(&head.sample) {
                    frame_interval = self.delivery.frame(stream, width, height, rgb).or(frame_interval);
                    gate.handed(stream, frame_interval.unwrap_or_default());
                } else {
                    self.shared.count(Loss::DecodeError);
                }
            } else if read_samples(&head.sample, &mut samples) {
                self.delivery.audio(stream, &samples);
            } else {
                self.shared.count(Loss::DecodeError);
            }
        }
        self.finish(session)
    }

    /// The stream whose head comes next, once both heads, or the absence of one, are known.
    fn next(&mut self) -> Option<usize> {
        let gaps = self.found.lock().gap_until;
        let broken = self.bus.error.is_some();
        for (kind, stream) in self.streams.iter_mut().enumerate() {
            let Some(stream) = stream else { continue };
            if stream.head.is_some() || stream.finished {
                continue;
            }
            // After an error nothing new comes, but what was decoded before is still there.
            let glance = if broken { gst::ClockTime::ZERO } else { POLL_TIMEOUT };
            match stream.sink.try_pull_sample(glance) {
                Some(sample) => {
                    if kind == 0 {
                        self.shared.video_arrived()
                    } else {
                        self.shared.audio_arrived()
                    }
                    stream.head = stream.locate(sample);
                    stream.waiting_since = None;
                }
                None if broken || stream.sink.is_eos() => stream.finished = true,
                None => {
                    stream.waiting_since.get_or_insert_with(Instant::now);
                }
            }
        }
        let heads =
            [0, 1].map(|kind| self.streams[kind].as_ref().and_then(|s| s.head.as_ref()).map(|head| head.stream));
        let turn = match heads {
            [Some(video), Some(audio)] => usize::from(audio <= video),
            [Some(_), None] => 0,
            [None, Some(_)] => 1,
            [None, None] => return None,
        };
        let (other, at) = (1 - turn, heads[turn]?);
        let settled = self.streams[other].as_ref().is_none_or(|stream| {
            stream.head.is_some()
                || stream.finished
                || gaps[other] > at
                || stream.waiting_since.is_some_and(|since| since.elapsed() > STARVED_TIMEOUT)
        });
        settled.then_some(turn)
    }

    fn begin(&mut self, pipeline: &gst::Pipeline) -> (String, Timestamp) {
        // Tags travel with the data: by the time something is decoded, they are on the bus.
        self.bus.drain(self.shared);
        self.bus.duration =
            pipeline.query_duration::<gst::ClockTime>().map(|duration| Duration::from_nanos(duration.nseconds()));
        let start =
            self.started.or(self.file.start_at).or(self.bus.created).unwrap_or_else(|| self.shared.clock().now());
        let session = format!("{}-{start}", self.spec.name);
        self.origin = self.shared.clock().monotonic();
        self.delivery.begin(&session, start, Duration::ZERO);
        (session, start)
    }

    /// Closes the session for the pause and opens it again after it, at the same place of the file.
    fn pause(&mut self, session: Option<&(String, Timestamp)>) {
        let clock = self.shared.clock();
        let paused_at = clock.monotonic();
        self.delivery.end();
        self.shared.enter(SourceState::Paused, None);
        self.shared.wait_resumed();
        self.origin += clock.monotonic().saturating_sub(paused_at);
        self.shared.enter(SourceState::Starting, None);
        if let Some((name, start)) = session
            && !self.shared.stop_wanted()
        {
            self.delivery.begin(name, *start, self.delivery.reached());
        }
    }

    /// At `real` speed waits until it is time for `stream`; `false` if something else is to be done first.
    fn pace(&self, stream: Duration) -> bool {
        if self.file.speed == Speed::Max {
            return true;
        }
        let early = (self.origin + stream).saturating_sub(self.shared.clock().monotonic());
        if early.is_zero() {
            return true;
        }
        self.shared.wait(early.min(Duration::from_millis(50)), || false);
        false
    }

    fn subtitles_until(&mut self, stream: Duration) {
        let due: Vec<Cue> = match &mut self.cues {
            CueSource::List(list) => {
                let count = list.iter().take_while(|cue| cue.start <= stream).count();
                list.drain(..count).collect()
            }
            CueSource::Track(track) => track.until(stream, || self.shared.stop_wanted()),
        };
        for cue in due {
            self.delivery.subtitle(cue.start.max(self.delivery.reached()), cue.end, cue.text);
        }
    }

    fn finish(&mut self, session: Option<(String, Timestamp)>) -> Result<Played, CaptureError> {
        let Some((_, start)) = session else {
            return Err(self.bus.error.take().unwrap_or_else(|| CaptureError::NotMedia {
                path: self.file.path.clone(),
                reason: "nothing in it could be decoded".into(),
            }));
        };
        let length = self.delivery.position();
        self.subtitles_until(length);
        if let CueSource::List(rest) = &self.cues {
            for _ in rest {
                self.shared.count(Loss::SubtitleBeyondEnd);
            }
        }
        let truncated =
            |reason: String| CaptureError::Truncated { path: self.file.path.clone(), seconds: length.into(), reason };
        if let Some(error) = self.bus.error.take() {
            return Err(truncated(error.to_string()));
        }
        match self.bus.duration {
            Some(duration) if duration > length + Duration::from_secs(2) => {
                Err(truncated(format!("its header promises {:.1} s", duration.as_secs_f64())))
            }
            _ => Ok(Played::Finished { start, length }),
        }
    }
}
