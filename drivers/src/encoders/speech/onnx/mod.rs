//! Whisper on the runtime that runs every other model.

mod phrases;
mod search;
mod spectrum;
mod vocabulary;

use std::time::Duration;

use ndarray::{ArrayD, ArrayViewD, IxDyn};
use parking_lot::Mutex;

use self::phrases::{Phrase, phrases};
use self::search::Search;
use self::spectrum::{BANDS, FRAMES, RATE, Spectrum};
use self::vocabulary::Vocabulary;
use super::{SpeechRecogniser, SpokenWord};
use crate::encoders::{Backend, Encoder, EncoderError, Graph, Tensor, TensorView};
use crate::models::{InstalledModel, Part};

/// Maximum number of samples that the encoder takes at once.
const MAX_SAMPLES: usize = RATE * 30;
/// Number of samples up to which a sound is never cut, however little was recognised in it.
const MIN_CUT_SAMPLES: usize = RATE * 4;
/// Number of samples over which the loudness is measured where a sound is cut.
const LOUDNESS_WINDOW: usize = RATE / 5;
/// Length of a silence, in seconds, after which the rest of a sound is recognised again.
const RELISTEN_SILENCE_S: f32 = 1.0;

/// Whisper (Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision") as two graphs: an encoder that
/// listens, and a decoder that writes one token after another. English only.
///
/// The encoder always sees 30 s. A shorter sound is followed by silence, as in training: with less silence the decoder writes
/// the same words again and again (docs/decisions.md).
pub struct OnnxWhisper {
    graphs: Mutex<Graphs>,
    spectrum: Spectrum,
    vocabulary: Vocabulary,
    model: String,
    /// Rows and numbers a row that the decoder keeps of a token.
    kept: [usize; 2],
    /// A sound that is no speech with more than this probability has no words.
    no_speech: f32,
    /// A text whose tokens are less likely on average (the geometric mean) is not told.
    least: f32,
}

struct Graphs {
    encoder: Box<dyn Graph>,
    decoder: Box<dyn Graph>,
}

/// Result of one run.
struct HeardRun {
    phrases: Vec<Phrase>,
}

impl OnnxWhisper {
    /// Loads both graphs and the tokenizer.
    ///
    /// # Errors
    /// If one of them cannot be loaded, or the entry lacks the decoder's files or tensors.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let parameter = |name: &str| entry.parameter(name).map_err(EncoderError::Entry);
        let lacks = |what: &str| EncoderError::Entry(format!("{}: the catalogue lacks {what}", entry.name));
        let tokenizer =
            installed.files.get(&Part::Tokenizer).ok_or_else(|| lacks("a file with part = \"tokenizer\""))?;
        let vocabulary = Vocabulary::load(tokenizer)
            .map_err(|message| EncoderError::Entry(format!("{}: {message}", tokenizer.display())))?;
        let decoder = decoder_side(installed)?;
        let kept = match decoder.entry.inputs[1].shape.as_slice() {
            [_, rows, width] if *rows > 0 && *width > 0 => [*rows as usize, *width as usize],
            shape => {
                return Err(lacks(&format!("the shape [-1, rows, width] of the decoder's past, it says {shape:?}")));
            }
        };
        let graphs = Graphs { encoder: backend.load(installed, threads)?, decoder: backend.load(&decoder, threads)? };
        Ok(Self {
            graphs: Mutex::new(graphs),
            spectrum: Spectrum::default(),
            vocabulary,
            model: entry.name.clone(),
            kept,
            no_speech: parameter("no_speech")?,
            least: parameter("least")?,
        })
    }

    /// The words of a sound, which is cut at its quietest place where it is too long or the model has passed over speech.
    fn words(&self, graphs: &mut Graphs, samples: &[f32]) -> Result<Vec<SpokenWord>, EncoderError> {
        if samples.len() <= MAX_SAMPLES {
            let heard = self.hear(graphs, samples)?;
            let seconds = samples.len() as f32 / RATE as f32;
            let reached = heard.phrases.last().map_or(seconds, |phrase| phrase.end);
            let whole = seconds - reached <= RELISTEN_SILENCE_S && !heard.phrases.iter().any(Phrase::is_sparse);
            if whole || samples.len() < MIN_CUT_SAMPLES {
                return Ok(heard.phrases.into_iter().flat_map(|phrase| phrase.words).collect());
            }
        }
        let cut = quietest(samples);
        let mut words = self.words(graphs, &samples[..cut])?;
        let offset = Duration::from_secs_f64(cut as f64 / RATE as f64);
        let behind = self.words(graphs, &samples[cut..])?;
        words.extend(behind.into_iter().map(|word| SpokenWord {
            start: word.start + offset,
            end: word.end + offset,
            ..word
        }));
        Ok(words)
    }

    /// Runs the encoder once and the decoder until the text ends.
    fn hear(&self, graphs: &mut Graphs, samples: &[f32]) -> Result<HeardRun, EncoderError> {
        let seconds = samples.len() as f32 / RATE as f32;
        let spectrum = self.array(&[1, BANDS, FRAMES], self.spectrum.compute(samples))?;
        let cross = graphs.encoder.run(&[TensorView::F32(spectrum.view())])?;
        let cross: Vec<ArrayD<f32>> = cross.into_iter().filter_map(Tensor::into_f32).collect();
        let mut search = Search::new(&self.vocabulary, seconds);
        let row: usize = self.kept.iter().product();
        // The first row is none: a tensor without any cannot cross the border.
        let mut past = vec![0.0_f32; row];
        let mut token = self.vocabulary.start;
        loop {
            let token_now = [i64::from(token)];
            let shape = IxDyn(&[past.len() / row, self.kept[0], self.kept[1]]);
            let view = |error: ndarray::ShapeError| EncoderError::output(&self.model, error);
            let mut inputs = vec![
                TensorView::I64(ArrayViewD::from_shape(IxDyn(&[1]), &token_now).map_err(view)?),
                TensorView::F32(ArrayViewD::from_shape(shape, &past).map_err(view)?),
            ];
            inputs.extend(cross.iter().map(|tensor| TensorView::F32(tensor.view())));
            let outputs = graphs.decoder.run(&inputs)?;
            let mut outputs = outputs.into_iter().filter_map(Tensor::into_f32);
            let (Some(mut logits), Some(present)) = (outputs.next(), outputs.next()) else {
                return Err(EncoderError::output(&self.model, "no scores or nothing to be kept"));
            };
            if present.len() != row || logits.len() <= self.vocabulary.first_time as usize {
                let found = format!("{} scores and {} numbers to be kept", logits.len(), present.len());
                return Err(EncoderError::output(&self.model, found));
            }
            let Some(scores) = logits.as_slice_mut() else {
                return Err(EncoderError::output(&self.model, "scores that do not lie one behind the other"));
            };
            if scores.iter().any(|score| score.is_nan()) {
                return Err(EncoderError::output(&self.model, "a score is no number"));
            }
            past.extend(present.iter());
            match search.choose(scores) {
                Some(next) => token = next,
                None => break,
            }
        }
        let (chosen, no_speech) = search.finish();
        let mean = chosen.iter().map(|one| one.log_probability).sum::<f32>() / chosen.len().max(1) as f32;
        let told = no_speech <= self.no_speech && mean.exp() >= self.least;
        tracing::debug!(seconds, no_speech, probability = mean.exp(), told, "speech was listened to");
        let phrases = if told { phrases(&chosen, &self.vocabulary, seconds) } else { Vec::new() };
        Ok(HeardRun { phrases })
    }

    fn array(&self, shape: &[usize], numbers: Vec<f32>) -> Result<ArrayD<f32>, EncoderError> {
        ArrayD::from_shape_vec(IxDyn(shape), numbers).map_err(|error| EncoderError::output(&self.model, error))
    }
}

/// The decoder as a model of its own.
fn decoder_side(installed: &InstalledModel) -> Result<InstalledModel, EncoderError> {
    let decoder = installed.second_network().map_err(EncoderError::Entry)?;
    if decoder.entry.inputs.len() != installed.entry.outputs.len() + 2 || decoder.entry.outputs.len() != 2 {
        let lacks =
            "the catalogue lacks `text_inputs` (token, past and the encoder's outputs) and two of `text_outputs`";
        return Err(EncoderError::Entry(format!("{}: {lacks}", installed.entry.name)));
    }
    Ok(decoder)
}

/// The middle of the quietest fifth of a second of a sound, its outer quarters left out, and never further than what fits.
fn quietest(samples: &[f32]) -> usize {
    let quarter = samples.len().min(MAX_SAMPLES) / 4;
    let (from, to) = (quarter, (samples.len() - quarter).min(MAX_SAMPLES));
    let squares =
        |begin: usize| samples[begin..begin + LOUDNESS_WINDOW].iter().map(|sample| sample * sample).sum::<f32>();
    (from..to.saturating_sub(LOUDNESS_WINDOW))
        .step_by(LOUDNESS_WINDOW / 10)
        .min_by(|a, b| squares(*a).total_cmp(&squares(*b)))
        .map_or(samples.len() / 2, |begin| begin + LOUDNESS_WINDOW / 2)
        .clamp(1, MAX_SAMPLES)
}

impl Encoder<[f32], Vec<SpokenWord>> for OnnxWhisper {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, samples: &[f32]) -> Result<Vec<SpokenWord>, EncoderError> {
        if samples.is_empty() {
            return Ok(Vec::new());
        }
        let length = Duration::from_secs_f64(samples.len() as f64 / RATE as f64);
        let mut words = self.words(&mut self.graphs.lock(), samples)?;
        super::without_remarks(&mut words);
        words.retain(|word| word.start < length);
        words.iter_mut().for_each(|word| word.end = word.end.min(length));
        Ok(words)
    }
}

impl SpeechRecogniser for OnnxWhisper {}
