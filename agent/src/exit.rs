//! Exit codes. Scripts and systemd units rely on them: a number never changes its meaning.

use std::process::ExitCode;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// Something that should not happen; the message says what.
    Internal = 1,
    /// The command line is wrong (clap's own number).
    Usage = 2,
    /// The configuration is wrong.
    Config = 3,
    /// The store cannot be opened, read or written, or `check` found damage.
    Store = 4,
    /// The broker cannot be reached or refuses.
    Broker = 5,
    /// A source or an input file cannot be used.
    Source = 6,
    /// Memory holds nothing that answers.
    Nothing = 7,
    /// `doctor` found something that must be fixed.
    Unhealthy = 8,
    /// No reply came in time.
    Timeout = 9,
    /// The agent refused the request.
    Refused = 10,
    /// Another agent already serves under this robot name.
    NameTaken = 11,
    /// A second signal forced the end before everything was drained.
    Forced = 130,
}

impl Exit {
    /// Every code with its meaning, in order.
    pub const TABLE: [(Self, &str); 13] = [
        (Self::Ok, "done"),
        (Self::Internal, "unexpected failure"),
        (Self::Usage, "wrong command line"),
        (Self::Config, "wrong configuration"),
        (Self::Store, "the store cannot be used, or `check` found damage"),
        (Self::Broker, "the broker cannot be reached or refuses"),
        (Self::Source, "a source or input file cannot be used"),
        (Self::Nothing, "memory holds nothing that answers"),
        (Self::Unhealthy, "`doctor` found something to fix"),
        (Self::Timeout, "nobody answered in time"),
        (Self::Refused, "the agent refused the request"),
        (Self::NameTaken, "another agent serves this robot name"),
        (Self::Forced, "ended by a second signal"),
    ];

    /// The table for `--help`.
    pub fn help() -> String {
        let mut text = String::from("Exit codes:\n");
        for (exit, meaning) in Self::TABLE {
            text.push_str(&format!("  {:>3}  {meaning}\n", exit as u8));
        }
        text.push_str("\nConfiguration: /etc/engram/engram.toml, /etc/engram/conf.d/*.toml (or --config FILE),\n");
        text.push_str("then ENGRAM__SECTION__KEY, then flags. `engram config show` says where each value came from.");
        text
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A failure with its exit code, for `main` to print and return.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// What failed, why, and what to do.
    pub error: anyhow::Error,
}

impl Failure {
    /// A failure with a message.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self { exit, error: anyhow::anyhow!("{message}") }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { exit: Exit::Internal, error }
    }
}

/// Gives an error its exit code.
pub trait OrExit<T> {
    /// The same result, the error carrying `exit`.
    ///
    /// # Errors
    /// The error of `self`.
    fn or_exit(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit, error: error.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_in_order() {
        let codes: Vec<u8> = Exit::TABLE.iter().map(|(exit, _)| *exit as u8).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
    }
}
