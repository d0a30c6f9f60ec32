//! What commands print on stdout: JSON for programs, lines for people.

use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

/// stdout, in the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// `--json` was given.
    pub json: bool,
}

impl Output {
    /// Prints one JSON document on one line.
    pub fn json(self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(line) => write_line(&line),
            Err(error) => tracing::error!(%error, "an answer could not be written as JSON"),
        }
    }

    /// Prints lines for people. Their words may be a stranger's, so what a terminal would obey is made visible.
    pub fn text(self, text: impl AsRef<str>) {
        write_line(&visible(text.as_ref()));
    }

    /// Prints lines with colours of this program's own.
    pub fn styled(self, text: impl AsRef<str>) {
        write_line(text.as_ref());
    }
}

/// The text without control characters, but for the ends of lines and tabs.
pub(crate) fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(obeyed) { text.replace(obeyed, "\u{fffd}").into() } else { text.into() }
}

fn write_line(line: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        // A reader that has seen enough (`| head`) is no failure, and nothing more can reach it.
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        tracing::error!(%error, "stdout cannot be written");
    }
}

/// A progress bar on stderr where that is a terminal, else one that draws nothing.
pub fn progress(length: Option<u64>, template: &str) -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = length.map_or_else(indicatif::ProgressBar::new_spinner, indicatif::ProgressBar::new);
    let style = indicatif::ProgressStyle::with_template(template).expect("templates are constants of this program");
    bar.with_style(style.progress_chars("━━╌"))
}

/// `1234567` as `1.2 MB`.
pub fn bytes(count: u64) -> String {
    indicatif::DecimalBytes(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_made_visible() {
        assert_eq!(visible("a\tb\nKüche ✓"), "a\tb\nKüche ✓");
        assert_eq!(visible("\u{1b}]0;title\u{7}\u{9b}2J\r"), "\u{fffd}]0;title\u{fffd}\u{fffd}2J\u{fffd}");
    }
}
