use std::io::{BufReader, Error, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use parking_lot::Mutex;
use whisper_rs::{
    FullParams, SamplingStrategy, WhisperContext, WhisperContextParameters, WhisperSegment, WhisperState,
    install_logging_hooks,
};

use super::{SpeechRecogniser, SpokenWord};
use crate::encoders::{Encoder, EncoderError};
use crate::models::{InstalledModel, Part};

const RATE: usize = 16_000;
/// Minimum number of samples. whisper.cpp ignores less than a second, so silence is appended.
const MIN_SAMPLES: usize = RATE * 11 / 10;
/// "ggml", as a number.
const MAGIC: u32 = 0x6767_6d6c;
/// Numbers that tell how large the model is.
const SIZES: usize = 11;
/// Number of samples of the model's window.
const WINDOW_SAMPLES: usize = RATE * 30;

/// Whisper (Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision") run by whisper.cpp, with a
/// time for every word from the probabilities of its time tokens.
pub struct Whisper {
    state: Mutex<WhisperState>,
    model: String,
    threads: i32,
    /// Tokens from here on are no text.
    end_of_text: i32,
    multilingual: bool,
    /// A stretch that is no speech with more than this probability has no words.
    no_speech: f32,
    /// Words less likely than this are not told.
    least: f32,
}

impl Whisper {
    /// Loads the weights.
    ///
    /// # Errors
    /// If the file is no model of whisper.cpp or is cut short, or the entry lacks a threshold.
    pub fn load(installed: &InstalledModel, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let parameter = |name: &str| entry.parameter(name).map_err(EncoderError::Entry);
        let lacks = || EncoderError::Entry(format!("{}: no file with part = \"graph\"", entry.name));
        let path = installed.files.get(&Part::Graph).ok_or_else(lacks)?;
        // What it says of itself would go to standard error otherwise.
        install_logging_hooks();
        let unusable = |error: &dyn std::fmt::Display| {
            EncoderError::Entry(format!(
                "{} cannot be used: {} is no whole ggml model of Whisper ({error})",
                entry.name,
                path.display()
            ))
        };
        whole_head(path).map_err(|error| unusable(&error))?;
        let context = WhisperContext::new_with_params(path, WhisperContextParameters::default())
            .map_err(|error| unusable(&error))?;
        let state = context.create_state().map_err(|error| unusable(&error))?;
        Ok(Self {
            state: Mutex::new(state),
            model: entry.name.clone(),
            threads: i32::try_from(threads.max(1)).unwrap_or(1),
            end_of_text: context.token_eot(),
            multilingual: context.is_multilingual(),
            no_speech: parameter("no_speech")?,
            least: parameter("least")?,
        })
    }

    fn parameters(&self) -> FullParams<'_, '_> {
        let mut parameters = FullParams::new(SamplingStrategy::Greedy { best_of: 1 });
        parameters.set_n_threads(self.threads);
        parameters.set_language(Some(if self.multilingual { "auto" } else { "en" }));
        // Stretches come from different speakers: what the one said is no context for the other.
        parameters.set_no_context(true);
        // One word a segment, with its times.
        parameters.set_token_timestamps(true);
        parameters.set_split_on_word(true);
        parameters.set_max_len(1);
        parameters.set_suppress_nst(true);
        parameters.set_print_special(false);
        parameters.set_print_progress(false);
        parameters.set_print_realtime(false);
        parameters.set_print_timestamps(false);
        parameters
    }

    fn word(&self, segment: &WhisperSegment<'_>) -> Option<SpokenWord> {
        let text = segment.to_str_lossy().ok()?.trim().to_owned();
        let tokens = (0..segment.n_tokens()).filter_map(|at| segment.get_token(at));
        let (sum, count) = tokens
            .filter(|token| token.token_id() < self.end_of_text)
            .fold((0.0, 0.0), |(sum, count), token| (sum + token.token_probability(), count + 1.0));
        let confidence = if count > 0.0 { sum / count } else { 0.0 };
        // Times are in hundredths of a second.
        let at = |time: i64| Duration::from_millis(u64::try_from(time).unwrap_or(0) * 10);
        let (start, end) = (at(segment.start_timestamp()), at(segment.end_timestamp()));
        (!text.is_empty()).then(|| SpokenWord { text, start, end: end.max(start), confidence })
    }
}

/// Reads everything before the weights. whisper.cpp takes a file that ends there, or within, for a model for tests that has
/// no weights, and hears nothing with it.
fn whole_head(path: &Path) -> std::io::Result<()> {
    let mut file = BufReader::new(std::fs::File::open(path)?);
    let mut number = || -> std::io::Result<u32> {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    };
    if number()? != MAGIC {
        return Err(Error::new(ErrorKind::InvalidData, "it does not begin like one"));
    }
    for _ in 0..SIZES {
        number()?;
    }
    // The filters of its spectra, then the words of its vocabulary.
    let filters = u64::from(number()?) * u64::from(number()?) * 4;
    let cut = || Error::new(ErrorKind::UnexpectedEof, "it is cut short");
    let skip = |file: &mut BufReader<std::fs::File>, bytes: u64| {
        let skipped = std::io::copy(&mut file.take(bytes), &mut std::io::sink())?;
        if skipped == bytes { Ok(()) } else { Err(cut()) }
    };
    skip(&mut file, filters)?;
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    for _ in 0..u32::from_le_bytes(bytes) {
        file.read_exact(&mut bytes)?;
        skip(&mut file, u64::from(u32::from_le_bytes(bytes)))?;
    }
    Ok(())
}

impl Encoder<[f32], Vec<SpokenWord>> for Whisper {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, samples: &[f32]) -> Result<Vec<SpokenWord>, EncoderError> {
        if samples.len() > WINDOW_SAMPLES {
            return Err(EncoderError::input(&self.model, "more than half a minute of sound at once"));
        }
        let length = Duration::from_secs_f64(samples.len() as f64 / RATE as f64);
        let mut padded = samples.to_vec();
        padded.resize(samples.len().max(MIN_SAMPLES), 0.0);
        let mut state = self.state.lock();
        state
            .full(self.parameters(), &padded)
            .map_err(|error| EncoderError::output(&self.model, format!("whisper.cpp says: {error}")))?;
        if state.get_segment(0).is_some_and(|first| first.no_speech_probability() > self.no_speech) {
            return Ok(Vec::new());
        }
        let mut words: Vec<SpokenWord> = state.as_iter().filter_map(|segment| self.word(&segment)).collect();
        drop(state);
        super::without_remarks(&mut words);
        words.retain(|word| word.confidence >= self.least && word.start < length);
        words.iter_mut().for_each(|word| word.end = word.end.min(length));
        Ok(words)
    }
}

impl SpeechRecogniser for Whisper {}
