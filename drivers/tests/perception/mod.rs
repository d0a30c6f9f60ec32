//! Stand-ins that several tests of perception share.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Mutex;
use std::time::Duration;

use drivers::encoders::{Encoder, EncoderError, SpeechThresholds, VoiceActivity, VoiceStep, VoiceWindow};
use memory_core::ports::{PerceptionSink, PortError};
use memory_core::{Perceived, Timestamp};

/// Keeps the segments that it is given, or refuses them.
#[derive(Default)]
pub struct SegmentSink {
    pub segments: Mutex<Vec<Perceived>>,
    /// Refuses every segment, as a full disk does.
    pub full: bool,
}

impl PerceptionSink for SegmentSink {
    fn perceived(&self, segment: Perceived) -> Result<Timestamp, PortError> {
        if self.full {
            return Err(PortError { role: "memory", message: "the disk is full".to_owned() });
        }
        let end = segment.end;
        self.segments.lock().unwrap().push(segment);
        Ok(end)
    }
}

/// Detects speech in what is loud.
pub struct Loudness;

impl Encoder<VoiceWindow, VoiceStep> for Loudness {
    fn model(&self) -> &str {
        "loudness"
    }

    fn encode(&self, window: &VoiceWindow) -> Result<VoiceStep, EncoderError> {
        Ok(VoiceStep { probability: window.samples[64].abs(), state: window.state.clone() })
    }
}

impl VoiceActivity for Loudness {
    fn thresholds(&self) -> SpeechThresholds {
        SpeechThresholds {
            speech: 0.5,
            silence: 0.35,
            min_speech: Duration::from_millis(250),
            min_silence: Duration::from_millis(300),
            pad: Duration::ZERO,
        }
    }
}
