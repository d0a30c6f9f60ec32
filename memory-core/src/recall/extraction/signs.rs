//! What speaks for an event that was read, beside how the reader rates its text.

use crate::ports::{AnswerForm, Extraction};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::{Kind, Timestamp};

/// Log-odds from which an event may answer.
const MAY_ANSWER: f32 = 0.0;

/// What speaks for an event beside its text, each number from 0 to 1 unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PassageSigns {
    /// Share of the other events that may answer which began before it; one half if there are none.
    pub later: f32,
    /// Share of the other events that may answer which are more relevant.
    pub beaten: f32,
    /// Share of the question's content that it covers.
    pub coverage: f32,
    /// Share of its own words that the question covers.
    pub own: f32,
    /// Similarity in meaning.
    pub cosine: f32,
    /// Absolute score of the search.
    pub found: f32,
    /// Fit to the time relation of the question.
    pub placed: f32,
    /// Certainty that it is about the things that the question names: of the least certain one.
    pub thing: f32,
    /// The same of the first thing.
    pub first: f32,
    /// Whether its speaker or actor is a person that the question names.
    pub actor: f32,
    /// Whether it only asks.
    pub asks: f32,
    /// Whether it was said.
    pub spoken: f32,
    /// Whether it was seen.
    pub seen: f32,
    /// Probability of the words that the reader marks.
    pub certain: f32,
    /// Probability that words of the text answer.
    pub words: f32,
    /// Probability that the time of the event answers.
    pub time: f32,
    /// Probability that yes or no answers.
    pub truth: f32,
}

impl PassageSigns {
    /// Returns the signs of an event, given when each event that was read began and its log-odds.
    pub fn of(
        question: &Question<'_>,
        found: &RetrievedEvent,
        extraction: &Extraction,
        all: &[(Timestamp, f32)],
    ) -> Self {
        let is = |condition: bool| f32::from(u8::from(condition));
        let start = found.span().start;
        let others = || all.iter().filter(|(other, relevance)| *relevance > MAY_ANSWER && *other != start);
        let share = |wanted: &dyn Fn(&(Timestamp, f32)) -> bool, none: f32| match others().count() {
            0 => none,
            #[expect(clippy::cast_precision_loss, reason = "a share of a few")]
            count => others().filter(|other| wanted(other)).count() as f32 / count as f32,
        };
        let event = &found.reading.event;
        let things = || question.named.iter().map(|thing| best_phrase_similarity(thing, &found.reading));
        let actor = event.entity.as_deref().unwrap_or_default();
        let acts = |noun: &crate::language::english::syntax::NounPhrase| {
            noun.head.eq_ignore_ascii_case(actor) && is_person(noun)
        };
        let form = |form: AnswerForm| extraction.form_probability(form);
        Self {
            later: share(&|(other, _)| *other < start, 0.5),
            beaten: share(&|(_, relevance)| *relevance > extraction.relevance, 0.0),
            coverage: found.coverage.of_content,
            own: found.coverage.of_event,
            cosine: found.cosine.unwrap_or(0.0),
            found: found.relevance,
            placed: found.placed,
            thing: things().reduce(f32::min).unwrap_or(0.5),
            first: things().next().unwrap_or(0.5),
            actor: is(question.named.iter().any(acts)),
            asks: is(found.reading.only_asks()),
            spoken: is(event.kind == Kind::Text),
            seen: is(event.kind == Kind::Caption),
            certain: extraction.span_probability,
            words: form(AnswerForm::Words),
            time: form(AnswerForm::Time),
            truth: form(AnswerForm::Yes) + form(AnswerForm::No),
        }
    }
}
