//! A reader in a process of its own: a program of `drivers` that extracts answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use memory_core::ports::{AnswerExtractor, AnswerForm, Extraction, Passage, PortError};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// The program; it ends when its standard input does. A request and its reply are one line of JSON each.
pub struct ReadingProcess {
    pipes: Mutex<Pipes>,
}

struct Pipes {
    _child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl ReadingProcess {
    /// Starts the program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &str) -> Result<Self, Failure> {
        let mut child =
            Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = child.stdin.take().ok_or("no pipe to the reading program")?;
        let replies = BufReader::new(child.stdout.take().ok_or("no pipe from the reading program")?);
        Ok(Self { pipes: Mutex::new(Pipes { _child: child, requests, replies }) })
    }

    fn ask(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, Failure> {
        let passages: Vec<Value> = passages
            .iter()
            .map(|one| json!({"text": one.text, "before": one.before, "age": one.age.as_secs_f64()}))
            .collect();
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(pipes.requests, "{}", json!({"question": question, "passages": passages}))?;
        let mut line = String::new();
        pipes.replies.read_line(&mut line)?;
        let reply: Vec<Value> = serde_json::from_str(&line)?;
        reply.iter().map(|one| extraction(one).ok_or_else(|| format!("no extraction: {one}").into())).collect()
    }
}

#[allow(clippy::cast_possible_truncation, reason = "numbers that the program wrote as f32")]
fn extraction(value: &Value) -> Option<Extraction> {
    let place = |name: &str| value[name].as_u64().and_then(|at| usize::try_from(at).ok());
    let mut forms = [0.0; AnswerForm::ALL.len()];
    for (form, probability) in forms.iter_mut().zip(value["forms"].as_array()?) {
        *form = probability.as_f64()? as f32;
    }
    let span = |value: &Value| {
        let place = |name: &str| value[name].as_u64().and_then(|at| usize::try_from(at).ok());
        Some((place("start")?..place("end")?, value["probability"].as_f64()? as f32))
    };
    Some(Extraction {
        relevance: value["relevance"].as_f64()? as f32,
        relevance_alone: value["relevance_alone"].as_f64()? as f32,
        span: place("start")?..place("end")?,
        span_probability: value["span_probability"].as_f64()? as f32,
        other_spans: value["other_spans"].as_array()?.iter().map(span).collect::<Option<_>>()?,
        forms,
    })
}

impl AnswerExtractor for ReadingProcess {
    fn extract(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        self.ask(question, passages)
            .map_err(|error| PortError { role: "answer extraction", message: error.to_string() })
    }
}
