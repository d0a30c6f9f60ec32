//! Answers from what was learnt: where something is, who did something last, what something is like.
//!
//! Facts answer only questions whose whole wording the rules understand, about subjects that facts are known of; all others
//! are left to search. The events that a fact goes back to are its evidence, newest first, and what search found follows.

use jiff::Zoned;

use super::question::{Question, terms_of_event};
use super::reader::Reader;
use super::retrieve::{Found, Retrieval, step};
use crate::language::english::time::moment;
use crate::semantic::{Ask, Fact, FactQuestion, FactsFound, same_state};
use crate::{Event, QueryError, TimeSpan, Timestamp};

/// Most events that one fact is shown with.
const SHOWN_EVENTS: usize = 3;
/// How sure a fact is that was told once, in just these words.
const TOLD_ONCE: f32 = 0.85;
/// The same where it was told of something less precisely named.
const VAGUE: f32 = 0.6;

/// An answer from facts.
pub(super) struct Said {
    pub answer: String,
    pub confidence: f32,
}

/// Answers from facts, if they can, and puts the events that they go back to first among what was found.
///
/// # Errors
/// If the store could not be read.
pub(super) fn answer(
    question: &Question,
    reader: &dyn Reader,
    hard: Option<TimeSpan>,
    now: &Zoned,
    retrieval: &mut Retrieval,
    degraded: &mut Vec<String>,
) -> Result<Option<Said>, QueryError> {
    let Some(learnt) = reader.learnt() else { return Ok(None) };
    if question.relation.is_some() {
        return Ok(None);
    }
    let Some(asked) = FactQuestion::of(&question.timeless) else { return Ok(None) };
    let pending = reader.pending_lessons();
    if pending > 0 {
        degraded.push(format!("learning: pending for {pending} events"));
    }
    let bound = question.bound(hard).or(hard);
    let at = Timestamp::from(now.timestamp());
    let called = learnt.also_called(&asked.subject);
    let Some(found) = learnt.facts().answer(&asked, bound, at, &called) else { return Ok(None) };

    let mut events: Vec<Event> = Vec::new();
    for fact in &found.facts {
        for id in fact.evidence.iter().rev().take(SHOWN_EVENTS) {
            // What was hidden since is not to be seen, and the fact with it.
            let Some(event) = reader.event(*id)? else { return Ok(None) };
            if !events.iter().any(|known| known.id == event.id) {
                events.push(event);
            }
        }
    }
    let answer = learnt.with_names(&in_words(&asked, &found, bound.is_some(), now));
    retrieval.trace.push(step("facts", format!("{asked:?}: {} facts", found.facts.len())));
    put_first(question, events, retrieval);
    Ok(Some(Said { answer, confidence: confidence(&found) }))
}

fn confidence(found: &FactsFound) -> f32 {
    let once = if found.precise { TOLD_ONCE } else { VAGUE };
    let least = found.facts.iter().map(|fact| fact.weight).min().unwrap_or(1);
    // Every repetition takes away a third of the doubt, up to a point.
    let doubt = (1.0 - once) * (2.0_f32 / 3.0).powi(i32::try_from(least.clamp(1, 5)).unwrap_or(5) - 1);
    let several = if found.facts.len() > 1 { 0.8 } else { 1.0 };
    (1.0 - doubt) * several
}

/// The facts' events with a score above all others.
fn put_first(question: &Question, events: Vec<Event>, retrieval: &mut Retrieval) {
    let best = retrieval.found.first().map_or(1.0, |found| found.score);
    retrieval.found.retain(|found| !events.iter().any(|event| event.id == found.event.id));
    let own = events.into_iter().enumerate().map(|(rank, event)| {
        let terms = terms_of_event(&event);
        let coverage = question.content.coverage(&terms);
        #[expect(clippy::cast_precision_loss, reason = "a handful of events")]
        let score = best + 1.0 / (1.0 + rank as f32);
        Found { event, score, cosine: None, terms, coverage }
    });
    let found = own.chain(std::mem::take(&mut retrieval.found)).collect();
    retrieval.found = found;
}

fn in_words(asked: &FactQuestion, found: &FactsFound, bounded: bool, now: &Zoned) -> String {
    let relation = matches!(asked.ask, Ask::Relation(_));
    if relation {
        let values: Vec<&str> = found.facts.iter().map(|fact| fact.value.as_str()).collect();
        let first = &found.facts[0];
        let told = moment(first.last, now);
        return format!("{}: {} (told {told}).", capitalised(&first.subject), values.join(", "));
    }
    let sentences: Vec<String> = found.facts.iter().map(|fact| sentence(asked, fact, bounded, now)).collect();
    sentences.join(" ")
}

fn sentence(asked: &FactQuestion, fact: &Fact, bounded: bool, now: &Zoned) -> String {
    let at = Timestamp::from(now.timestamp());
    let over = fact.until.is_some_and(|until| until <= at);
    let plural = fact.subject.rsplit(' ').next().is_some_and(|last| last.ends_with('s') && !last.ends_with("ss"))
        && !fact.subject.contains("'s ")
        && fact.subject.starts_with(char::is_lowercase);
    let being = match (over || bounded, plural) {
        (true, true) => "were",
        (true, false) => "was",
        (false, true) => "are",
        (false, false) => "is",
    };
    let subject = with_article(&fact.subject);
    let told = moment(fact.last, now);
    let until = fact.until.filter(|until| *until <= at).map(|until| format!(", until {}", moment(until, now)));
    let until = until.unwrap_or_default();
    match &asked.ask {
        Ask::Who(_) => {
            let place = fact.place.as_deref().map(|place| format!(" {place}")).unwrap_or_default();
            format!("{}{place}, {}.", capitalised(&fact.value), moment(fact.last, now))
        }
        Ask::When(..) => {
            let who = if fact.value.is_empty() { String::new() } else { format!(" by {}", fact.value) };
            format!("{}{who}.", capitalised(&moment(fact.last, now)))
        }
        Ask::State { state, .. } => {
            let yes = if same_state(&fact.value, state) { "Yes" } else { "No" };
            format!("{yes}: {subject} {being} {} (told {told}{until}).", fact.value)
        }
        Ask::Named(_) if !matches!(fact.attribute.as_str(), "live" | "work") => {
            format!("{} (told {told}{until}).", capitalised(&fact.value))
        }
        Ask::Named(verb) => {
            let verb = if over { format!("{verb}ed").replace("eed", "ed") } else { format!("{verb}s") };
            format!("{} {verb} {} (told {told}{until}).", capitalised(&subject), fact.value)
        }
        Ask::Place | Ask::Colour | Ask::Relation(_) => {
            format!("{} {being} {} (told {told}{until}).", capitalised(&subject), fact.value)
        }
    }
}

/// "The blue mug", "Anna", "Anna's mug".
fn with_article(subject: &str) -> String {
    let name = subject.split(' ').next().is_some_and(|first| first.starts_with(char::is_uppercase));
    if name { subject.to_owned() } else { format!("the {subject}") }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
