//! What a person must agree to: licences, and files whose digest the catalogue does not know.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};

use drivers::models::Arrived;

use super::WantedFile;
use crate::exit::{Exit, Failure, OrExit};
use crate::output::Output;

/// Whether somebody is there who can answer.
fn somebody_is_there(output: Output) -> bool {
    !output.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks at the terminal; anything but yes is no.
#[allow(clippy::print_stderr, reason = "a question to the person at the terminal, not output")]
fn ask(question: &str) -> std::io::Result<bool> {
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Shows the licences and asks, where there is somebody to ask.
#[allow(clippy::print_stderr, reason = "a question to the person at the terminal, not output")]
pub(super) fn accept_licences(new: &[&WantedFile<'_>], output: Output) -> Result<(), Failure> {
    let licences: BTreeSet<String> =
        new.iter().map(|one| format!("  {}: {} under {}", one.role, one.model, one.licence)).collect();
    let list: Vec<String> = licences.into_iter().collect();
    let refused = |why: &str| {
        Failure::new(Exit::Refused, format!("{why}: nothing was pulled. --accept-licence accepts\n{}", list.join("\n")))
    };
    if !somebody_is_there(output) {
        return Err(refused("the licences of the models must be accepted, and nobody is there to ask"));
    }
    eprintln!("These models are not Engram's own and have licences of their own:\n{}", list.join("\n"));
    if ask("Accept them?").or_exit(Exit::Internal)? { Ok(()) } else { Err(refused("the licences were not accepted")) }
}

/// Shows the digest of what came and asks for it, unless it was accepted beforehand. An error says what to do.
#[allow(clippy::print_stderr, reason = "a question to the person at the terminal, not output")]
pub(super) fn accept_digest(file: &str, arrived: &Arrived, given: &[String], output: Output) -> Result<(), String> {
    let Arrived { sha256, bytes, origin } = arrived;
    if given.iter().any(|one| one.eq_ignore_ascii_case(sha256)) {
        return Ok(());
    }
    let told =
        format!("{file} came from {origin} with {bytes} bytes and sha256 {sha256}, which the catalogue does not know");
    if somebody_is_there(output) {
        eprintln!("{told}. Compare it with what the authors of the model publish.");
        if ask("Accept it?").map_err(|error| error.to_string())? {
            return Ok(());
        }
    }
    Err(format!("{told}; compare it with what the authors of the model publish, and pull again with --accept {sha256}"))
}
