//! φ: texts to vectors of one space.

use std::path::Path;

use memory_core::ports::{PortError, TextEmbedder};
use ndarray::{Array2, ArrayD, Axis, Ix3, s};
use parking_lot::{Mutex, MutexGuard};
use tokenizers::{Tokenizer, TruncationParams};

use super::vector::normalised;
use super::{Backend, Encoder, EncoderError, Graph, TensorView};
use crate::models::{InstalledModel, Part, Pooling, Role};

/// Maximum number of texts in one run.
const BATCH_TEXTS: usize = 32;
/// Maximum number of tokens in one run, padding included. A question that arrives while a batch is embedded waits for one run,
/// so this limits its wait. Larger runs gain little, because a core is busy long before.
const BATCH_TOKENS: usize = 256;
/// Maximum number of bytes read from a text. 256 tokens are far fewer; without a limit, a text of megabytes would be tokenized
/// before it is truncated.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Minimum and maximum number of inputs: tokens, the mask of those that are no padding, and which sentence each belongs to.
const MIN_INPUTS: usize = 1;
const MAX_INPUTS: usize = 3;

/// A text encoder: tokens, a transformer, and one vector per text. The graph takes `i64[texts, tokens]` (tokens; tokens and mask;
/// or tokens, mask and zeros for the one sentence that there is) and gives vectors `f32[texts, dimensions]`, or those of the
/// tokens `f32[texts, tokens, dimensions]`, which the entry's `pooling` makes one. Vectors have unit length in the end.
pub struct SentenceEncoder {
    graph: Mutex<Box<dyn Graph>>,
    tokenizer: Tokenizer,
    model: String,
    space: String,
    dimensions: usize,
    inputs: usize,
    pooling: Option<Pooling>,
}

impl SentenceEncoder {
    /// Loads the graph and the tokenizer.
    ///
    /// # Errors
    /// If a file cannot be loaded, the entry lacks `space`, `dimensions` or `parameters.max_tokens`, its inputs are not one to
    /// three, or its output is vectors of tokens and it lacks `pooling`.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let lacks = |what: &str| EncoderError::Entry(format!("{}: the catalogue lacks `{what}`", entry.name));
        let space = entry.space.clone().ok_or_else(|| lacks("space"))?;
        let dimensions = entry.dimensions.filter(|n| *n > 0).ok_or_else(|| lacks("dimensions"))?;
        let max_tokens = entry.parameter("max_tokens").map_err(EncoderError::Entry)?;
        let file = installed.files.get(&Part::Tokenizer).ok_or_else(|| lacks("a file with part = \"tokenizer\""))?;
        let tokenizer = tokenizer(file, max_tokens as usize)
            .map_err(|message| EncoderError::Entry(format!("{}: {message}", file.display())))?;
        let inputs = entry.inputs.len();
        if !(MIN_INPUTS..=MAX_INPUTS).contains(&inputs) {
            let message =
                format!("{inputs} inputs, expected tokens, and a mask and token types where the graph has them");
            return Err(EncoderError::Entry(format!("{}: {message}", entry.name)));
        }
        if entry.pooling.is_none() && entry.outputs.first().is_some_and(|output| output.shape.len() == 3) {
            return Err(lacks("pooling"));
        }
        let graph = Mutex::new(backend.load(installed, threads)?);
        Ok(Self { graph, tokenizer, model: entry.name.clone(), space, dimensions, inputs, pooling: entry.pooling })
    }

    fn embed_all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let ids = texts
            .iter()
            .map(|text| {
                let encoding = self
                    .tokenizer
                    .encode_fast(head(text), true)
                    .map_err(|error| EncoderError::input(&self.model, error))?;
                Ok(encoding.get_ids().to_vec())
            })
            .collect::<Result<Vec<_>, EncoderError>>()?;
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut graph = self.graph.lock();
        for run in runs(&ids) {
            let embedded = self.run(&mut **graph, &run, &ids)?;
            for (row, at) in embedded.outer_iter().zip(&run) {
                vectors[*at] = self.unit(row.iter().copied().collect())?;
            }
            // Hands the lock to a waiter, so that a question passes between the runs of a long batch.
            MutexGuard::bump(&mut graph);
        }
        Ok(vectors)
    }

    /// Graphs that norm their vectors themselves are left alone to the last bit.
    fn unit(&self, vector: Vec<f32>) -> Result<Vec<f32>, EncoderError> {
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if (norm - 1.0).abs() < 1e-3 {
            return Ok(vector);
        }
        normalised(vector).ok_or_else(|| EncoderError::output(&self.model, "a vector has no direction"))
    }

    fn run(&self, graph: &mut dyn Graph, run: &[usize], ids: &[Vec<u32>]) -> Result<ArrayD<f32>, EncoderError> {
        let (tokens, mask) = padded(run, ids);
        let sentences = Array2::<i64>::zeros(tokens.dim());
        let inputs = [&tokens, &mask, &sentences].map(|input| TensorView::I64(input.view().into_dyn()));
        let output = graph.run(&inputs[..self.inputs])?.into_iter().next().and_then(super::Tensor::into_f32);
        let output = output.ok_or_else(|| EncoderError::output(&self.model, "no vectors"))?;
        let output = match self.pooling {
            Some(pooling) => self.pooled(output, &mask, pooling)?,
            None => output,
        };
        if output.shape() != [run.len(), self.dimensions] {
            let expected = [run.len(), self.dimensions];
            return Err(EncoderError::output(&self.model, format!("shape {:?}, not {expected:?}", output.shape())));
        }
        if output.iter().any(|number| !number.is_finite()) {
            return Err(EncoderError::output(&self.model, "a number is not finite"));
        }
        Ok(output)
    }

    /// One vector per text of those of its tokens.
    fn pooled(&self, output: ArrayD<f32>, mask: &Array2<i64>, pooling: Pooling) -> Result<ArrayD<f32>, EncoderError> {
        let shape = output.shape().to_vec();
        if shape.get(..2) != Some(mask.shape()) {
            let expected = format!("[{}, {}, {}]", mask.nrows(), mask.ncols(), self.dimensions);
            return Err(EncoderError::output(&self.model, format!("shape {shape:?}, not {expected}")));
        }
        let tokens = output
            .into_dimensionality::<Ix3>()
            .map_err(|_| EncoderError::output(&self.model, format!("shape {shape:?} is not of three dimensions")))?;
        Ok(match pooling {
            Pooling::Cls => tokens.slice(s![.., 0, ..]).to_owned().into_dyn(),
            Pooling::Mean => {
                let weights = mask.mapv(|kept| kept as f32);
                let sums = (&tokens * &weights.view().insert_axis(Axis(2))).sum_axis(Axis(1));
                (sums / weights.sum_axis(Axis(1)).mapv(|count| count.max(1.0)).insert_axis(Axis(1))).into_dyn()
            }
        })
    }
}

fn tokenizer(file: &Path, max_tokens: usize) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_file(file).map_err(|error| error.to_string())?;
    // Batches are padded to their own longest text, not to what the file says.
    tokenizer.with_padding(None);
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

/// The begin of a text, cut between characters.
pub(super) fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES.min(text.len()))]
}

/// Returns the tokens of a run, padded with zeros to its longest text, and the mask of those that are no padding.
pub(super) fn padded(run: &[usize], ids: &[Vec<u32>]) -> (Array2<i64>, Array2<i64>) {
    let longest = run.iter().map(|at| ids[*at].len()).max().unwrap_or(0);
    let mut tokens = Array2::<i64>::zeros((run.len(), longest));
    let mut mask = Array2::<i64>::zeros((run.len(), longest));
    for (row, at) in run.iter().enumerate() {
        for (column, id) in ids[*at].iter().enumerate() {
            tokens[[row, column]] = i64::from(*id);
            mask[[row, column]] = 1;
        }
    }
    (tokens, mask)
}

/// Groups texts of similar length, shortest first, so that little is padded. Every index appears once.
pub(super) fn runs(ids: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|at| ids[*at].len());
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for at in order {
        match runs.last_mut() {
            // Ascending lengths: this text is the longest of the run that it joins.
            Some(run) if run.len() < BATCH_TEXTS && (run.len() + 1) * ids[at].len() <= BATCH_TOKENS => run.push(at),
            _ => runs.push(vec![at]),
        }
    }
    runs
}

impl Encoder<[&str], Vec<Vec<f32>>> for SentenceEncoder {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        self.embed_all(texts)
    }
}

impl TextEmbedder for SentenceEncoder {
    fn space(&self) -> &str {
        &self.space
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        self.embed_all(texts)
            .map_err(|error| PortError { role: Role::TextEmbedding.name(), message: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_is_in_one_run_and_no_run_is_larger_than_allowed(
            lengths in proptest::collection::vec(2_usize..=256, 0..120),
        ) {
            let ids: Vec<_> = lengths.iter().map(|length| vec![0; *length]).collect();
            let runs = runs(&ids);
            let mut seen: Vec<_> = runs.concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..ids.len()).collect::<Vec<_>>());
            for run in runs {
                let longest = run.iter().map(|at| lengths[*at]).max().unwrap_or(0);
                prop_assert!(run.len() <= BATCH_TEXTS);
                prop_assert!(run.len() == 1 || run.len() * longest <= BATCH_TOKENS);
            }
        }
    }

    #[test]
    fn vectors_of_tokens_become_one_without_the_padding() {
        let encoder = |pooling| SentenceEncoder {
            graph: Mutex::new(Box::new(NoGraph)),
            tokenizer: Tokenizer::new(tokenizers::models::wordlevel::WordLevel::default()),
            model: "m".to_owned(),
            space: "s".to_owned(),
            dimensions: 2,
            inputs: 2,
            pooling: Some(pooling),
        };
        let mask = Array2::from_shape_vec((1, 3), vec![1, 1, 0]).unwrap();
        let tokens = |shape: &[usize]| {
            ArrayD::from_shape_vec(shape.to_vec(), (0..6_u8).map(f32::from).collect::<Vec<_>>()).unwrap()
        };
        let pooled = |pooling| {
            let output = encoder(pooling).pooled(tokens(&[1, 3, 2]), &mask, pooling).unwrap();
            output.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(pooled(Pooling::Cls), [0.0, 1.0]);
        assert_eq!(pooled(Pooling::Mean), [1.0, 2.0]);
        let error = encoder(Pooling::Cls).pooled(tokens(&[3, 2]), &mask, Pooling::Cls).unwrap_err().to_string();
        assert!(error.contains("[3, 2]"), "{error}");
    }

    struct NoGraph;

    impl Graph for NoGraph {
        fn run(&mut self, _: &[TensorView<'_>]) -> Result<Vec<super::super::Tensor>, super::super::BackendError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "é".repeat(MAX_TEXT_BYTES);
        assert_eq!(head(&text).len(), MAX_TEXT_BYTES);
        let odd = format!("a{text}");
        assert_eq!(head(&odd).len(), MAX_TEXT_BYTES - 1);
        assert_eq!(head("short"), "short");
    }
}
