//! Which lines a gist keeps: a language model chooses among them where there is one, else what they cover decides.

use std::sync::Arc;

use crate::engine::handle::Engine;
use crate::episodic::gist::{Level, Line, kept, kept_within};
use crate::ports::GistSelector;

/// How many times the words of a gist the lines hold from which a language model chooses.
const CHOICE_FACTOR: usize = 3;

impl Engine {
    pub(crate) fn set_gist_selector(&self, selector: Option<Arc<dyn GistSelector>>) {
        *self.gist_selector.lock() = selector;
    }

    /// The lines of a gist, in order of time. A model is asked only where not all of them fit, and what it chooses is cut to the
    /// same number of words.
    pub(super) fn select_lines(&self, level: Level, lines: Vec<Line>) -> Vec<Line> {
        let selector = self.gist_selector.lock().clone();
        let Some(selector) = selector else { return kept(level, lines) };
        let usual = kept(level, lines.clone());
        if usual.len() == lines.len() {
            return usual;
        }
        let choice = kept_within(CHOICE_FACTOR * level.words(), lines);
        let told: Vec<String> = choice.iter().map(selectable_line).collect();
        match selector.select(&told, level.words()) {
            Ok(places) => {
                let wanted = |place: &usize| places.contains(place);
                let lines: Vec<Line> =
                    choice.into_iter().enumerate().filter(|(place, _)| wanted(place)).map(|(_, line)| line).collect();
                if lines.is_empty() { usual } else { kept(level, lines) }
            }
            Err(error) => {
                tracing::info!(%error, "the lines of a gist were chosen without a language model");
                usual
            }
        }
    }
}

/// A line as a model reads it.
fn selectable_line(line: &Line) -> String {
    let who = line.entity.as_deref().filter(|name| !line.text.contains(*name));
    let who = who.map_or(String::new(), |name| format!("{name}: "));
    let times = if line.times > 1 { format!(" ({} times)", line.times) } else { String::new() };
    format!("{who}{}{times}", line.text)
}
