//! A diary that answers questions: a small application of `memory-core`.
//!
//! ```sh
//! cargo run -p memory-core --example diary -- my-diary
//! ```
//!
//! Each line is an entry, a question (it ends with `?`) or `forget NAME`. The memory stays in the directory:
//!
//! ```text
//! Anna brought the ladder back to the shed.
//! Where is the ladder?
//!   In the shed (0.99)
//!   2026-11-20T08:02:11+01:00  Anna brought the ladder back to the shed.
//! ```

// The answers are the purpose of the program.
#![allow(clippy::print_stdout)]

use std::io::{BufRead, stdin};

use memory_core::{Answer, ForgetRequest, Memory, Observation, ObserveOutcome, Query, Told};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Events that one call learns from; questions can be asked between two calls.
const LESSONS: usize = 64;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).ok_or("name the directory of the diary")?;
    let memory = match Memory::open(folder) {
        Err(error) if error.is_in_use() => return Err("the diary is open in another window".into()),
        opened => opened?,
    };
    for line in stdin().lock().lines() {
        let line = line?;
        match line.trim() {
            "" => {}
            question if question.ends_with('?') => show(&memory.ask(&Query::new(question))?),
            command if command.starts_with("forget ") => {
                let name = command["forget ".len()..].trim().to_owned();
                println!("  {} entries forgotten", memory.forget(&ForgetRequest::Entity(name))?.events);
            }
            entry => write(&memory, entry)?,
        }
    }
    Ok(())
}

/// Remembers one entry durably, and learns from it.
fn write(memory: &Memory, entry: &str) -> Result<()> {
    for outcome in memory.observe(vec![Observation::Told(Told::new("diary", entry))])? {
        if let ObserveOutcome::Rejected { message } = outcome {
            println!("  not written down: {message}");
        }
    }
    // A program with more to do would learn on a thread of its own.
    while memory.learn_pending(LESSONS)?.has_lessons() {}
    Ok(())
}

fn show(answer: &Answer) {
    match &answer.answer {
        Some(text) => println!("  {text} ({:.2})", answer.confidence),
        None => println!("  I do not know; the nearest entry is:"),
    }
    for evidence in answer.evidence.iter().take(1) {
        println!("  {}  {}", evidence.span.start.format(&jiff::tz::TimeZone::system()), evidence.text);
    }
}
