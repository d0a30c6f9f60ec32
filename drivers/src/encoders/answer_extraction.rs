//! A reader: which of several texts answers a question, and which of its words.

use std::ops::Range;
use std::path::Path;

use memory_core::ports::{AnswerExtractor, AnswerForm, Extraction, Passage, PortError};
use ndarray::{Array, Array1, Array2, Array3, ArrayD, ArrayView1, ArrayView2, Axis, Dim, Dimension, s};
use parking_lot::{Mutex, MutexGuard};
use tokenizers::{Encoding, Tokenizer};

use super::passage_comparison::PassageComparison;
use super::text_embedding::{head, padded, runs};
use super::{Backend, EncoderError, Graph, Tensor, TensorView};
use crate::models::{InstalledModel, Part, Role};

/// Ids of the tokens that begin a sequence and end each of its parts (BERT's vocabulary).
const BEGIN: u32 = 101;
const SEPARATOR: u32 = 102;
/// Maximum length of an answer, in tokens.
const MAX_ANSWER_TOKENS: usize = 24;
/// A network that reads a question and a text together, so that each word sees all others (a cross-encoder; Nogueira and Cho
/// 2019). A sequence is the question, the text, and what was said before it. The graph takes `i64[texts, tokens]` twice, tokens
/// and mask, and gives `f32[texts]` (log-odds that the text answers), `f32[texts, tokens, 2]` (begin and end of the answer) and
/// `f32[texts, forms]` ([`AnswerForm::ALL`]); one with a second network that compares the texts also `f32[texts, width]`, a vector
/// of question and text.
pub struct CrossEncoder {
    graph: Mutex<Box<dyn Graph>>,
    comparison: Option<PassageComparison>,
    tokenizer: Tokenizer,
    model: String,
    limits: TokenLimits,
}

/// Maximum numbers of tokens, as in training.
#[derive(Debug, Clone, Copy)]
struct TokenLimits {
    question: usize,
    text: usize,
    sequence: usize,
}

/// What the graph finds in some texts.
struct Outputs {
    relevance: Array1<f32>,
    spans: Array3<f32>,
    forms: Array2<f32>,
    /// Only if the texts are compared.
    vectors: Option<Array2<f32>>,
}

/// The tokens of one question and text.
struct Sequence {
    ids: Vec<u32>,
    /// Index of the first token of the text.
    text_from: usize,
    /// Bytes of the text of each of its tokens.
    offsets: Vec<(usize, usize)>,
}

impl CrossEncoder {
    /// Loads the graph and the tokenizer.
    ///
    /// # Errors
    /// If a file cannot be loaded, or the entry lacks `parameters.question_tokens`, `text_tokens` or `max_tokens`.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let parameter = |name: &str| entry.parameter(name).map_err(EncoderError::Entry).map(|tokens| tokens as usize);
        let limits = TokenLimits {
            question: parameter("question_tokens")?,
            text: parameter("text_tokens")?,
            sequence: parameter("max_tokens")?,
        };
        if limits.question + limits.text + 3 > limits.sequence {
            let message = format!("{}: `max_tokens` has no room for a question and a text", entry.name);
            return Err(EncoderError::Entry(message));
        }
        let lacks =
            || EncoderError::Entry(format!("{}: the catalogue lacks a file with part = \"tokenizer\"", entry.name));
        let file = installed.files.get(&Part::Tokenizer).ok_or_else(lacks)?;
        let tokenizer =
            tokenizer(file).map_err(|message| EncoderError::Entry(format!("{}: {message}", file.display())))?;
        let graph = Mutex::new(backend.load(installed, threads)?);
        let compares = installed.files.contains_key(&Part::TextGraph);
        let comparison = compares.then(|| PassageComparison::load(installed, backend, threads)).transpose()?;
        Ok(Self { graph, comparison, tokenizer, model: entry.name.clone(), limits })
    }

    fn extract_all(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, EncoderError> {
        let asked = self.tokens(question)?;
        let sequences =
            passages.iter().map(|passage| self.sequence(asked.get_ids(), passage)).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<Vec<u32>> = sequences.iter().map(|sequence| sequence.ids.clone()).collect();
        let mut found: Vec<Option<Extraction>> = vec![None; passages.len()];
        let mut vectors: Vec<Option<Array1<f32>>> = vec![None; passages.len()];
        let mut graph = self.graph.lock();
        for run in runs(&ids) {
            let outputs = self.run(&mut **graph, &run, &ids)?;
            for (row, at) in run.iter().enumerate() {
                found[*at] = Some(extraction(&outputs, row, &sequences[*at]));
                vectors[*at] = outputs.vectors.as_ref().map(|vectors| vectors.row(row).to_owned());
            }
            MutexGuard::bump(&mut graph);
        }
        drop(graph);
        let mut found = found
            .into_iter()
            .map(|one| one.ok_or_else(|| EncoderError::output(&self.model, "a text was not read")))
            .collect::<Result<Vec<Extraction>, _>>()?;
        if let Some(comparison) = self.comparison.as_ref().filter(|_| !found.is_empty()) {
            let rows: Vec<_> = vectors.iter().flatten().map(|vector| vector.view()).collect();
            let vectors = ndarray::stack(Axis(0), &rows).map_err(|error| EncoderError::output(&self.model, error))?;
            let alone = found.iter().map(|one| one.relevance_alone).collect();
            let compared = comparison.compare(passages, &vectors, &alone)?;
            found.iter_mut().zip(compared).for_each(|(one, compared)| one.relevance = compared);
        }
        Ok(found)
    }

    fn tokens(&self, text: &str) -> Result<Encoding, EncoderError> {
        self.tokenizer.encode(head(text), false).map_err(|error| EncoderError::input(&self.model, error))
    }

    fn sequence(&self, question: &[u32], passage: &Passage<'_>) -> Result<Sequence, EncoderError> {
        let TokenLimits { question: most_asked, text: most_text, sequence: most } = self.limits;
        let text = self.tokens(passage.text)?;
        let length = text.len().min(most_text);
        let mut ids = vec![BEGIN];
        ids.extend(&question[..question.len().min(most_asked)]);
        ids.push(SEPARATOR);
        let text_from = ids.len();
        ids.extend(&text.get_ids()[..length]);
        ids.push(SEPARATOR);
        // The end of what was said before is nearest to the text.
        let room = most.saturating_sub(ids.len() + 1);
        if room > 2 && !passage.before.is_empty() {
            let before = self.tokens(passage.before)?;
            let before = before.get_ids();
            ids.extend(&before[before.len().saturating_sub(room)..]);
            ids.push(SEPARATOR);
        }
        Ok(Sequence { ids, text_from, offsets: text.get_offsets()[..length].to_vec() })
    }

    fn run(&self, graph: &mut dyn Graph, run: &[usize], ids: &[Vec<u32>]) -> Result<Outputs, EncoderError> {
        let (tokens, mask) = padded(run, ids);
        let longest = tokens.ncols();
        let inputs = [&tokens, &mask].map(|input| TensorView::I64(input.view().into_dyn()));
        let mut outputs = graph.run(&inputs)?.into_iter().filter_map(Tensor::into_f32);
        let mut next = |name: &str| {
            let output = outputs.next().ok_or_else(|| EncoderError::output(&self.model, format!("no `{name}`")))?;
            match output.iter().all(|number| number.is_finite()) {
                true => Ok(output),
                false => Err(EncoderError::output(&self.model, format!("a number of `{name}` is not finite"))),
            }
        };
        let relevance = self.shaped("relevance", next("relevance")?, [run.len()])?;
        let spans = self.shaped("span", next("span")?, [run.len(), longest, 2])?;
        let forms = self.shaped("form", next("form")?, [run.len(), AnswerForm::ALL.len()])?;
        let vectors = match &self.comparison {
            Some(_) => {
                let vectors = next("vector of question and text")?;
                let width = vectors.shape().last().copied().unwrap_or_default();
                Some(self.shaped("vector of question and text", vectors, [run.len(), width])?)
            }
            None => None,
        };
        Ok(Outputs { relevance, spans, forms, vectors })
    }

    /// Returns an output of the graph with the expected shape.
    fn shaped<const N: usize>(
        &self,
        name: &str,
        output: ArrayD<f32>,
        expected: [usize; N],
    ) -> Result<Array<f32, Dim<[usize; N]>>, EncoderError>
    where
        Dim<[usize; N]>: Dimension,
    {
        let message = format!("shape {:?} of `{name}`, not {expected:?}", output.shape());
        let shaped = (output.shape() == expected).then(|| output.into_dimensionality().ok()).flatten();
        shaped.ok_or_else(|| EncoderError::output(&self.model, message))
    }
}

/// Returns what the graph found in the text of a row.
fn extraction(outputs: &Outputs, row: usize, sequence: &Sequence) -> Extraction {
    let text = sequence.text_from..sequence.text_from + sequence.offsets.len();
    let spans = best_spans(outputs.spans.slice(s![row, text, ..]));
    let mut forms = [0.0; AnswerForm::ALL.len()];
    forms.copy_from_slice(&softmax(outputs.forms.row(row)));
    let bytes = |index: usize| sequence.offsets.get(index).copied().unwrap_or_default();
    let mut spans = spans.into_iter().map(|(first, last, probability)| (bytes(first).0..bytes(last).1, probability));
    let (span, span_probability) = spans.next().unwrap_or_default();
    let relevance = outputs.relevance[row];
    Extraction { relevance, relevance_alone: relevance, span, span_probability, other_spans: spans.collect(), forms }
}

/// Returns the first and the last token of the most probable span and its probability, then those of the best spans before
/// and behind it, the more probable first. `logits` has one row per token: that the span begins there, and that it ends
/// there. Both are independent given the text (Devlin et al. 2019, section 4.2).
fn best_spans(logits: ArrayView2<'_, f32>) -> Vec<(usize, usize, f32)> {
    let [begins, ends] = [0, 1].map(|column| softmax(logits.index_axis(Axis(1), column)));
    let best_within = |tokens: Range<usize>| {
        let mut best = (tokens.start, tokens.start, 0.0);
        for (first, begin) in begins.iter().enumerate().take(tokens.end).skip(tokens.start) {
            for (last, end) in ends.iter().enumerate().take(tokens.end).skip(first).take(MAX_ANSWER_TOKENS) {
                if begin * end > best.2 {
                    best = (first, last, begin * end);
                }
            }
        }
        best
    };
    let best = best_within(0..begins.len());
    let mut others = [best_within(0..best.0), best_within((best.1 + 1).min(begins.len())..begins.len())];
    others.sort_by(|a, b| b.2.total_cmp(&a.2));
    std::iter::once(best).chain(others.into_iter().filter(|other| other.2 > 0.0)).collect()
}

fn softmax(logits: ArrayView1<'_, f32>) -> Vec<f32> {
    let greatest = logits.iter().copied().fold(f32::MIN, f32::max);
    let odds: Vec<f32> = logits.iter().map(|logit| (logit - greatest).exp()).collect();
    let all: f32 = odds.iter().sum();
    odds.iter().map(|odds| odds / all).collect()
}

fn tokenizer(file: &Path) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_file(file).map_err(|error| error.to_string())?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

impl AnswerExtractor for CrossEncoder {
    fn extract(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        self.extract_all(question, passages)
            .map_err(|error| PortError { role: Role::AnswerExtraction.name(), message: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_span_ends_where_it_begins_or_behind_it() {
        // Alone, the best end lies before the best begin.
        let logits = array![[0.0, 9.0], [8.0, 0.0], [0.0, 3.0]];
        let (first, last, probability) = best_spans(logits.view())[0];
        assert_eq!((first, last), (1, 2));
        assert!(probability > 0.0 && probability < 0.1, "{probability}");
    }

    #[test]
    fn a_span_is_no_longer_than_an_answer() {
        let mut logits = Array2::<f32>::zeros((MAX_ANSWER_TOKENS + 8, 2));
        logits[[0, 0]] = 20.0;
        logits[[MAX_ANSWER_TOKENS + 7, 1]] = 10.0;
        let (first, last, _) = best_spans(logits.view())[0];
        assert!(last - first < MAX_ANSWER_TOKENS, "{first} to {last}");
    }

    #[test]
    fn the_best_spans_before_and_behind_the_best_are_told_too() {
        let logits = array![[4.0, 4.0], [0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [0.0, 0.0], [6.0, 6.0]];
        let spans: Vec<(usize, usize)> =
            best_spans(logits.view()).into_iter().map(|(first, last, _)| (first, last)).collect();
        assert_eq!(spans, [(2, 3), (5, 5), (0, 0)]);
    }

    #[test]
    fn a_text_without_tokens_has_an_empty_span() {
        assert_eq!(best_spans(Array2::<f32>::zeros((0, 2)).view()), [(0, 0, 0.0)]);
    }
}
