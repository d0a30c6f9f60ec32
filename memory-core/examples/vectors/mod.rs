//! φ from a file that grows: what it lacks, a program of `drivers` embeds and adds.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use memory_core::ports::{PortError, TextEmbedder};

type Failure = Box<dyn std::error::Error>;

/// The space of the default model of `config/models.toml`, so that the store of an agent is not embedded anew.
const SPACE: &str = "all-MiniLM-L6-v2/mean/l2/256";
const DIMENSIONS: usize = 384;

/// Vectors by text.
pub struct Vectors {
    state: Mutex<State>,
}

struct State {
    known: HashMap<String, Vec<f32>>,
    command: Option<String>,
    serving: Option<Serving>,
}

/// The program that embeds; it ends when its standard input does.
struct Serving {
    _child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Vectors {
    /// Reads the file, which may be absent: dimensions, then per text its length in bytes, the text and the vector (u32 and f32,
    /// little-endian). A record that another program is still writing at its end is left out.
    ///
    /// # Errors
    /// If the file is there and cannot be read, or is of another model.
    pub fn open(path: &Path, command: Option<&str>) -> Result<Self, Failure> {
        let bytes = if path.exists() { std::fs::read(path)? } else { Vec::new() };
        let mut known = HashMap::new();
        let mut rest = bytes.as_slice();
        if let Some(dimensions) = number(&mut rest)
            && dimensions != DIMENSIONS
        {
            return Err(format!("{} holds vectors of {dimensions} dimensions", path.display()).into());
        }
        while let Some(length) = number(&mut rest) {
            let Some((record, tail)) = rest.split_at_checked(length + DIMENSIONS * 4) else { break };
            let (text, vector) = record.split_at(length);
            let components =
                vector.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            known.insert(String::from_utf8(text.to_vec())?, components.collect());
            rest = tail;
        }
        Ok(Self { state: Mutex::new(State { known, command: command.map(str::to_owned), serving: None }) })
    }
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (head, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    usize::try_from(u32::from_le_bytes(*head)).ok()
}

impl State {
    fn learn(&mut self, missing: &[&str]) -> Result<(), Failure> {
        let Some(command) = &self.command else { return Ok(()) };
        if self.serving.is_none() {
            let mut child =
                Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let questions = child.stdin.take().ok_or("no pipe to the embedding program")?;
            let answers = BufReader::new(child.stdout.take().ok_or("no pipe from the embedding program")?);
            self.serving = Some(Serving { _child: child, questions, answers });
        }
        let Some(serving) = &mut self.serving else { return Ok(()) };
        writeln!(serving.questions, "{}", serde_json::to_string(missing)?)?;
        let mut line = String::new();
        serving.answers.read_line(&mut line)?;
        let vectors: Vec<Vec<f32>> =
            serde_json::from_str(&line).map_err(|error| format!("`{command}` failed: {error}"))?;
        self.known.extend(missing.iter().map(|text| (*text).to_owned()).zip(vectors));
        Ok(())
    }
}

impl TextEmbedder for Vectors {
    fn space(&self) -> &str {
        SPACE
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&str> = texts.iter().copied().filter(|text| !state.known.contains_key(*text)).collect();
        if !missing.is_empty() {
            state.learn(&missing).map_err(|error| PortError { role: "text embedding", message: error.to_string() })?;
        }
        Ok(texts.iter().map(|text| state.known.get(*text).cloned().unwrap_or_else(|| vec![0.0; DIMENSIONS])).collect())
    }
}
