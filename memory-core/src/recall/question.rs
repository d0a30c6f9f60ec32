//! A question, understood.

use std::collections::HashSet;

use super::classify::{self, Form};
use super::fitness::Wanted;
use super::lexicon::{classes_of, is_frame_word};
use super::relation::Relation;
use crate::index::{Search, TermId, TermStatistics, is_stop_word, term_of, words};
use crate::language::english::time::{Tense, TimePhrase, may_name_session, time_phrases, without};
use crate::{Event, Intent, Modality, QuestionModality, TimeSpan, Timestamp};

/// What a word of an option counts that no memory holds, beside one that some memory holds.
const UNPERCEIVED: f32 = 0.4;

/// Weighted words whose presence in a memory speaks for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    terms: Vec<ContentTerm>,
    total: f32,
    known: f32,
}

#[derive(Debug, Clone)]
struct ContentTerm {
    term: TermId,
    /// Terms that say the same more specifically.
    classes: Vec<TermId>,
    weight: f32,
    /// Whether any memory holds it, or a class of it.
    known: bool,
}

/// The distinct terms of a text.
pub(super) type Terms = HashSet<TermId>;

/// The terms of a text, and of two words that stand next to each other as one.
pub(super) fn terms_of(text: &str) -> Terms {
    let all: Vec<String> = words(text).filter(|word| !is_stop_word(word)).collect();
    all.iter().map(|word| term_of(word)).chain(all.windows(2).map(|pair| term_of(&pair.concat()))).collect()
}

/// The terms of an event: its text, its entity and its attributes.
pub(super) fn terms_of_event(event: &Event) -> Terms {
    let document = crate::index::Document::of(event);
    let mut terms = terms_of(&document.text);
    terms.extend(document.entity.as_deref().map(terms_of).into_iter().flatten());
    terms
}

impl Content {
    /// The content of a text, weighted by how rare its words are in memory.
    pub fn of(text: &str, search: &dyn Search) -> Self {
        Self::from_statistics(search.terms(text).into_iter().filter(|term| !is_frame_word(&term.word)), search)
    }

    /// The same with the words that would only frame a question: of an option, they are what it says.
    pub fn whole(text: &str, search: &dyn Search) -> Self {
        Self::from_statistics(search.terms(text).into_iter(), search)
    }

    fn from_statistics(statistics: impl Iterator<Item = TermStatistics>, search: &dyn Search) -> Self {
        let held = |word: &str| search.terms(word).first().is_some_and(|term| term.documents > 0);
        let mut known = 0.0;
        let terms: Vec<ContentTerm> = statistics
            .map(|term| {
                let classes = classes_of(&term.word);
                let is_known = term.documents > 0 || classes.iter().any(|class| held(class));
                if is_known {
                    known += term.idf;
                }
                ContentTerm {
                    known: is_known,
                    term: term.term,
                    classes: classes.iter().map(|class| term_of(class)).collect(),
                    weight: term.idf,
                }
            })
            .collect();
        let total = terms.iter().map(|term| term.weight).sum();
        Self { terms, total, known }
    }

    /// The share of the content, by weight, that any memory holds; 1 if there is no content.
    pub fn known(&self) -> f32 {
        if self.total > 0.0 { self.known / self.total } else { 1.0 }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The share of the content, by weight, that these terms hold; 0 if there is no content. Two words of the content may
    /// stand in the terms as one. A more specific class counts almost as much as the word itself.
    pub fn coverage(&self, terms: &Terms) -> f32 {
        if self.total > 0.0 { self.held(terms) / self.total } else { 0.0 }
    }

    /// The same where words that no memory holds count for less: that nobody ever perceived them says little against what
    /// is described with them, because senses have fewer words than people.
    pub fn told_by(&self, terms: &Terms) -> f32 {
        let unknown = self.terms.iter().filter(|term| !term.known).map(|term| term.weight).sum::<f32>();
        let weight = self.total - (1.0 - UNPERCEIVED) * unknown;
        if weight > 0.0 { self.held(terms) / weight } else { 0.0 }
    }

    fn held(&self, terms: &Terms) -> f32 {
        let held = self.terms.iter().map(|term| {
            if terms.contains(&term.term) {
                term.weight
            } else if term.classes.iter().any(|class| terms.contains(class)) {
                0.7 * term.weight
            } else {
                0.0
            }
        });
        held.sum()
    }
}

/// A question, understood.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// As it was asked.
    pub text: String,
    pub intent: Intent,
    pub modality: QuestionModality,
    pub form: Form,
    /// The sense that what is asked for belongs to, if the question names one.
    pub target: Option<Modality>,
    /// What it asks to be told of.
    pub wanted: Wanted,
    /// The general word ("animal") of which it asks which it was.
    pub category: Option<String>,
    pub phrases: Vec<TimePhrase>,
    /// Without the phrases that bound it, for searching inside those bounds.
    pub timeless: String,
    pub relation: Option<Relation>,
    pub content: Content,
    /// Which of several occurrences is meant.
    pub occurrence: Option<Occurrence>,
    /// Whether it asks for what was there for the longest time.
    pub longest: bool,
    /// Whether it is about a place as such.
    pub of_place: bool,
}

/// Which of several occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrence {
    First,
    Last,
}

impl Question {
    pub fn understand(
        text: &str,
        now: Timestamp,
        zone: &jiff::tz::TimeZone,
        search: &dyn Search,
        within: Option<TimeSpan>,
    ) -> Self {
        let zoned = now.to_jiff().to_zoned(zone.clone());
        let session = may_name_session(text).then(|| search.session(within)).flatten();
        let phrases = time_phrases(text, &zoned, session, Tense::Past);
        let timeless = without(text, &phrases);
        let relation = Relation::of(&timeless).filter(|relation| !Content::of(&relation.cue, search).is_empty());
        let main = relation.as_ref().map_or(timeless.as_str(), |relation| relation.main.as_str());
        let target = classify::sense(main);
        let wanted = Wanted::of(main, target);
        let category = category(main);
        let longest = classify::longest(text);
        Self {
            text: text.into(),
            intent: classify::intent(text),
            modality: classify::modality(text),
            form: classify::form(text),
            target,
            wanted,
            category,
            // What was there for the longest time is asked for by no word of its own.
            content: if longest { Content::default() } else { Content::of(&timeless, search) },
            occurrence: occurrence(text),
            longest,
            of_place: classify::of_place(text),
            phrases,
            timeless,
            relation,
        }
    }

    /// The span that the question's time words bound it to, within hard bounds.
    pub fn bound(&self, hard: Option<TimeSpan>) -> Option<TimeSpan> {
        let mut bound: Option<TimeSpan> = None;
        for span in self.phrases.iter().filter(|phrase| phrase.bounds).filter_map(|phrase| phrase.spans.first()) {
            bound = match bound {
                None => Some(span.0),
                Some(other) => intersection(other, span.0),
            };
            bound?;
        }
        match (bound, hard) {
            (Some(bound), Some(hard)) => intersection(bound, hard),
            (bound, _) => bound,
        }
    }

    /// The spans that lift what is near them.
    pub fn near(&self) -> Vec<(TimeSpan, f32)> {
        self.phrases.iter().flat_map(|phrase| phrase.spans.iter().copied()).collect()
    }
}

/// What two spans share.
pub(super) fn intersection(a: TimeSpan, b: TimeSpan) -> Option<TimeSpan> {
    a.overlaps(b).then(|| TimeSpan { start: a.start.max(b.start), end: a.end.min(b.end) })
}

/// The general word that follows "which" or "what kind of".
fn category(question: &str) -> Option<String> {
    let words: Vec<String> = words(question).collect();
    let asked = words.iter().position(|word| word == "which" || word == "what")?;
    let rest = &words[asked + 1..];
    let rest = match rest {
        [kind, of, rest @ ..] if of == "of" && is_frame_word(kind) => rest,
        rest => rest,
    };
    rest.first().filter(|word| !classes_of(word).is_empty()).cloned()
}

fn occurrence(question: &str) -> Option<Occurrence> {
    let words: Vec<String> = words(question).collect();
    let verb = |word: &str| {
        matches!(
            word,
            "see"
                | "saw"
                | "seen"
                | "hear"
                | "heard"
                | "time"
                | "visit"
                | "say"
                | "said"
                | "put"
                | "use"
                | "used"
                | "meet"
        )
    };
    words.windows(2).find_map(|pair| match pair[0].as_str() {
        "last" if verb(&pair[1]) => Some(Occurrence::Last),
        "most" if pair[1].starts_with("recent") => Some(Occurrence::Last),
        "first" if verb(&pair[1]) => Some(Occurrence::First),
        _ => None,
    })
}
