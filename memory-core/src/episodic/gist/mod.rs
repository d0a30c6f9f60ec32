//! Gists: what a stretch of time was about (HippoMM 4.2.4, ThetaEvents).
//!
//! A gist is a list of [`Line`]s: what happened, told once, with how often, how long and the events that say so. The lines of a
//! longer stretch are those of its parts, joined: a day is made from its hours, cut to the lines that together tell the most.
//! Sentences are made of them when somebody reads (`language::english::summary`).

mod line;
mod select;
mod stretch;

pub use crate::gist_line::{Line, Topic};
pub(crate) use line::joined;
pub(crate) use select::chosen;
pub use stretch::Level;

use jiff::tz::TimeZone;

use crate::TimeSpan;
use crate::language::english::summary::summarise;

/// Most words of a summary.
pub const SUMMARY_WORDS: usize = 120;

/// The lines that tell the most, as many as fit into so many words, and what they say; `None` where there are none.
pub(crate) fn summary<'a>(lines: &'a [Line], budget: usize, zone: &TimeZone) -> Option<(String, Vec<&'a Line>)> {
    summarise(chosen(lines, budget).into_iter().map(|place| &lines[place]).collect(), budget, zone)
}

/// Events that a summary goes through at most where no gists are made yet.
pub(crate) const MOST_EVENTS: usize = 20_000;

/// Summary of a stretch of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Gist {
    /// How long the stretch is.
    pub level: Level,
    /// The stretch.
    pub span: TimeSpan,
    /// The summary, in at most [`SUMMARY_WORDS`] words.
    pub summary: String,
    /// Lines in order of time.
    pub lines: Vec<Line>,
}

/// A gist was made. It names the stretch and says nothing of it: what is forgotten before somebody hears of it stays unsaid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GistNews {
    /// How long the stretch is.
    pub level: Level,
    /// The stretch.
    pub span: TimeSpan,
}

/// The lines that a gist of this level keeps, in order of time.
pub(crate) fn kept(level: Level, lines: Vec<Line>) -> Vec<Line> {
    kept_within(level.words(), lines)
}

/// The lines that fit into so many words and together tell the most, in order of time.
pub(crate) fn kept_within(budget: usize, lines: Vec<Line>) -> Vec<Line> {
    let mut places = chosen(&lines, budget);
    places.sort_unstable();
    let mut lines: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
    places.into_iter().filter_map(|place| lines[place].take()).collect()
}
