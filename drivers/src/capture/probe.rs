//! Opens a source briefly to see whether it delivers, for `doctor`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::{SystemClock, Timestamp};
use parking_lot::{Condvar, Mutex};

use super::source::SourceHandle;
use super::spec::{SourceKind, SourceSpec, Speed, Subtitles};
use super::status::SourceState;
use super::{AudioBlock, Frame, MediaConsumer, Subtitle};

/// Result of trying a source.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeReport {
    /// Size of the first picture, after scaling.
    pub picture: Option<(u32, u32)>,
    /// Time of the first picture, counted from the start.
    pub first_picture: Option<Duration>,
    /// Time of the first sound, counted from the start.
    pub first_sound: Option<Duration>,
    /// Level of the first sound in dB of full scale.
    pub sound_level_db: Option<f64>,
    /// Why nothing came, and what to do.
    pub error: Option<String>,
    /// How long it took.
    pub elapsed: Duration,
}

impl ProbeReport {
    /// Whether anything came.
    pub fn delivers(&self) -> bool {
        self.first_picture.is_some() || self.first_sound.is_some()
    }
}

/// How long the second medium is waited for once the first has come.
const SECOND_MEDIUM_WAIT: Duration = Duration::from_secs(1);

#[derive(Default)]
struct ProbedMedia {
    picture: Option<(u32, u32, Instant)>,
    sound: Option<(f64, Instant)>,
}

struct ProbeLook(Arc<(Mutex<ProbedMedia>, Condvar)>);

impl MediaConsumer for ProbeLook {
    fn begin(&mut self, _: &str, _: Timestamp) {}

    fn frame(&mut self, frame: Frame<'_>) {
        self.0.0.lock().picture.get_or_insert((frame.width, frame.height, Instant::now()));
        self.0.1.notify_all();
    }

    fn audio(&mut self, block: AudioBlock<'_>) {
        let level = memory_core::segment::level_db(block.samples);
        self.0.0.lock().sound.get_or_insert((level, Instant::now()));
        self.0.1.notify_all();
    }

    fn subtitle(&mut self, _: Subtitle) {}

    fn end(&mut self, _: Duration) {}

    fn frame_interval(&self) -> Duration {
        Duration::from_millis(100)
    }
}

/// Opens a source, waits for the first picture and the first sound at most until `deadline`, and closes it.
///
/// A source that is being recorded by another program, this one included, may refuse to be opened twice.
pub fn probe(spec: &SourceSpec, deadline: Duration) -> ProbeReport {
    let mut spec = spec.clone();
    if let SourceKind::File(file) = &mut spec.kind {
        (file.speed, file.subtitles, file.repeat) = (Speed::Max, Subtitles::Off, false);
    }
    let began = Instant::now();
    let seen = Arc::new((Mutex::new(ProbedMedia::default()), Condvar::new()));
    let source = match SourceHandle::start(spec, Box::new(ProbeLook(Arc::clone(&seen))), Arc::new(SystemClock::new())) {
        Ok(source) => source,
        Err(error) => {
            return ProbeReport {
                picture: None,
                first_picture: None,
                first_sound: None,
                sound_level_db: None,
                error: Some(error.to_string()),
                elapsed: began.elapsed(),
            };
        }
    };
    let mut state = seen.0.lock();
    loop {
        let status = source.status();
        let over = matches!(status.state, SourceState::Ended | SourceState::Failed | SourceState::Backoff);
        let first = [state.picture.map(|(.., at)| at), state.sound.map(|(_, at)| at)];
        let waited = match first {
            [Some(_), Some(_)] => break,
            [Some(at), None] | [None, Some(at)] => at.elapsed() >= SECOND_MEDIUM_WAIT,
            [None, None] => false,
        };
        if over || waited || began.elapsed() >= deadline {
            break;
        }
        seen.1.wait_for(&mut state, Duration::from_millis(20));
    }
    let (picture, sound) = (state.picture, state.sound);
    drop(state);
    let error = source.status().error;
    source.stop();
    let delivers = picture.is_some() || sound.is_some();
    ProbeReport {
        picture: picture.map(|(width, height, _)| (width, height)),
        first_picture: picture.map(|(.., at)| at - began),
        first_sound: sound.map(|(_, at)| at - began),
        sound_level_db: sound.map(|(level, _)| level),
        error: error.or_else(|| {
            (!delivers).then(|| {
                format!("nothing came within {:.1} s; is the device connected and not in use?", deadline.as_secs_f64())
            })
        }),
        elapsed: began.elapsed(),
    }
}
