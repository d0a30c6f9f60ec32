//! One thing that happened in a stretch of time, told once however often it happened.

use std::collections::HashMap;

use crate::episodic::visited;
use crate::gist_line::{Line, Topic};
use crate::index::{is_stop_word, stem, words};
use crate::{Event, Kind, Modality, Value};

/// Maximum number of words in a line.
const MAX_WORDS: usize = 18;
/// Maximum number of words of several sentences in a line.
const MAX_SPEECH_WORDS: usize = 13;
/// Maximum number of characters in a line.
const MAX_CHARS: usize = 160;
/// Maximum number of events that a line refers to, the first ones.
const MAX_SOURCES: usize = 3;
/// Absence, in microseconds, up to which a thing that returns counts as never gone.
const MAX_ABSENCE_US: i64 = 120_000_000;

impl Topic {
    /// The name in the MQTT contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Action => "action",
            Self::Task => "task",
            Self::Speech => "speech",
            Self::State => "state",
            Self::Entity => "entity",
            Self::Sound => "sound",
            Self::Object => "object",
            Self::Place => "place",
        }
    }

    /// The sense that such a line comes from.
    pub(crate) fn sense(self) -> Modality {
        match self {
            Self::Speech | Self::Sound => Modality::Audio,
            Self::Scene | Self::Action | Self::Task | Self::State | Self::Entity | Self::Object | Self::Place => {
                Modality::Visual
            }
        }
    }

    /// How much such a line tells in a summary. These are editorial: what was done and said before what stood about. What
    /// people and cameras describe is already a summary, so it comes first.
    fn interest(self) -> f64 {
        match self {
            Self::Scene => 1.2,
            Self::Action | Self::Task | Self::Speech | Self::Entity | Self::Place => 1.0,
            Self::State => 0.8,
            Self::Sound => 0.5,
            Self::Object => 0.2,
        }
    }

    /// Whether it is told as a name in a list.
    pub(super) fn is_listed(self) -> bool {
        matches!(self, Self::Task | Self::Entity | Self::Sound | Self::Object | Self::Place)
    }

    /// Whether each event counts, however near the next one is.
    fn is_told_each_time(self) -> bool {
        matches!(self, Self::Scene | Self::Action | Self::Speech | Self::State)
    }
}

impl Line {
    /// Makes the line of an event; `None` if it does not belong into a summary: a question, or a state of the signal.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        Self::about(event, &[])
    }

    /// Makes the line of an event that is told because of a topic, given by the stems of its words.
    pub(crate) fn about(event: &Event, topic_stems: &[String]) -> Option<Self> {
        let text = |name: &str| event.attributes.get(name).and_then(Value::as_text);
        let first_of = |name: &str| match event.attributes.get(name) {
            Some(Value::List(items)) => items.first().and_then(Value::as_text),
            _ => None,
        };
        if event.is_looked()
            || event.attributes.contains_key("signal")
            || event.kind == Kind::Text && event.text.trim_end().ends_with('?')
        {
            return None;
        }
        let own = || event.text.clone();
        let name = |attribute: &str| first_of(attribute).map(str::to_owned).or_else(|| event.entity.clone());
        let (topic, words) = match event.kind {
            Kind::State if visited(event).is_some() => (Topic::Place, visited(event).unwrap_or_default().to_owned()),
            Kind::Caption => (Topic::Scene, own()),
            Kind::Action => match text("task") {
                Some(task) => (Topic::Task, task.to_owned()),
                None => (Topic::Action, own()),
            },
            Kind::Text => (Topic::Speech, own()),
            Kind::State => (Topic::State, own()),
            Kind::Entity => (Topic::Entity, event.entity.clone().unwrap_or_else(own)),
            Kind::Sound => (Topic::Sound, name("sounds").unwrap_or_else(own)),
            Kind::Object => (Topic::Object, name("objects").unwrap_or_else(own)),
        };
        // People greet and address each other before they say something; what was seen begins with what matters.
        let text = short(match topic == Topic::Speech || !topic_stems.is_empty() {
            true => most_telling(&words, topic_stems),
            false => sentences(&words).next().map_or("", |first| &words[first]),
        });
        // Of a goal and of what is in view the entity is one of many; a name without a capital is none of a speaker.
        let is_named = matches!(topic, Topic::Scene | Topic::Action | Topic::Speech | Topic::State);
        let is_name = |name: &String| topic != Topic::Speech || name.starts_with(char::is_uppercase);
        (!text.is_empty()).then(|| Self {
            topic,
            text,
            entity: event.entity.clone().filter(|name| is_named && is_name(name)),
            times: 1,
            lasted: u64::try_from(event.span.end.as_micros().saturating_sub(event.span.start.as_micros())).unwrap_or(0),
            span: event.span,
            confidence: event.confidence,
            sources: vec![event.id],
        })
    }

    /// Returns the key of the line. Two lines with an equal key are one.
    fn key(&self) -> (Topic, String, Option<String>) {
        (self.topic, self.text.to_lowercase(), self.entity.as_ref().map(|name| name.to_lowercase()))
    }

    /// Takes in a line of the same key that begins no earlier.
    fn absorb(&mut self, later: &Self) {
        let gap = later.span.start.as_micros().saturating_sub(self.span.end.as_micros());
        let goes_on = !self.topic.is_told_each_time() && gap <= MAX_ABSENCE_US;
        self.times = self.times.saturating_add(later.times).saturating_sub(u32::from(goes_on));
        self.lasted = self.lasted.saturating_add(later.lasted);
        self.span.end = self.span.end.max(later.span.end);
        self.confidence = self.confidence.max(later.confidence);
        for source in &later.sources {
            if self.sources.len() < MAX_SOURCES && !self.sources.contains(source) {
                self.sources.push(*source);
            }
        }
    }

    /// How much it tells: what lasted, and what is rare.
    pub(super) fn weight(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "minutes of an event")]
        let minutes = self.lasted as f64 / 60_000_000.0;
        let rare = 1.0 / f64::from(self.times.max(1)).sqrt();
        self.topic.interest() * f64::from(self.confidence.clamp(0.05, 1.0)) * (1.0 + 0.3 * minutes.ln_1p() + 0.3 * rare)
    }
}

/// Lines of which each is told once, in order of their first begin.
pub(crate) fn joined(lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    let mut lines: Vec<Line> = lines.into_iter().collect();
    lines.sort_by_key(|line| (line.span.start, line.sources.first().copied()));
    let mut places: HashMap<(Topic, String, Option<String>), usize> = HashMap::new();
    let mut joined: Vec<Line> = Vec::new();
    for line in lines {
        match places.get(&line.key()) {
            Some(place) => joined[*place].absorb(&line),
            None => {
                places.insert(line.key(), joined.len());
                joined.push(line);
            }
        }
    }
    joined
}

/// The ranges of the sentences of a text, with their marks.
fn sentences(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        start += text[start..].len() - text[start..].trim_start().len();
        let rest = &text[start..];
        let is_end = |(at, c): &(usize, char)| {
            matches!(c, '.' | '!' | '?') && rest[at + c.len_utf8()..].starts_with(char::is_whitespace)
        };
        let end = rest.char_indices().find(is_end).map_or(rest.trim_end().len(), |(at, c)| at + c.len_utf8());
        let sentence = start..start + end;
        start = sentence.end;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// The sentences in a row that say most: with the most different words that mean something. Longer than
/// [`MAX_SPEECH_WORDS`] is only a single sentence. Where there is a topic, the sentence that names most of it. A question
/// says nothing, if there is anything else.
fn most_telling<'t>(text: &'t str, topic_stems: &[String]) -> &'t str {
    let value = |part: &str| {
        let mut stems: Vec<String> =
            words(part).take(MAX_WORDS).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect();
        stems.sort_unstable();
        stems.dedup();
        let named = stems.iter().filter(|stem| topic_stems.contains(stem)).count();
        (!part.ends_with('?'), named, stems.len())
    };
    let all: Vec<std::ops::Range<usize>> = sentences(text).collect();
    let mut best: Option<&str> = None;
    for (place, first) in all.iter().enumerate() {
        for last in &all[place..] {
            let part = &text[first.start..last.end];
            let several = last.start > first.start;
            if several && (!topic_stems.is_empty() || part.split_whitespace().count() > MAX_SPEECH_WORDS) {
                break;
            }
            // Of equal ones the first and shortest.
            if best.is_none_or(|best| value(part) > value(best)) {
                best = Some(part);
            }
        }
    }
    best.unwrap_or_default()
}

/// A text, cut at a length that reads well.
fn short(text: &str) -> String {
    let text = text.trim_end_matches(['.', '!', '?']);
    let all: Vec<&str> = text.split_whitespace().collect();
    let mut cut = all[..all.len().min(MAX_WORDS)].join(" ").replace(char::is_control, " ");
    let mut is_cut = all.len() > MAX_WORDS;
    if let Some((at, _)) = cut.char_indices().nth(MAX_CHARS) {
        cut.truncate(at);
        is_cut = true;
    }
    let cut = cut.trim_end_matches(['.', ',', ';', ':', ' ']);
    if is_cut { format!("{cut} …") } else { cut.to_owned() }
}
