//! Weighs options in words: by words, by meaning, and by the answers of the layers.

use super::agreement::agreement;
use super::{OptionVectors, OptionWeights};
use crate::language::english::syntax::parse;
use crate::language::english::tag::Word;
use crate::recall::answerers::rank::rank;
use crate::recall::calibration;
use crate::recall::candidate::Candidate;
use crate::recall::content::Content;
use crate::recall::extraction::{ReadAnswer, ReadEvents};
use crate::recall::nearest;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::{ReadError, TimeSpan};

/// Weight of a word of an option that no memory holds. Encoders have fewer words than people.
const UNKNOWN_WORD_WEIGHT: f32 = 0.4;
/// Maximum number of candidates that are compared with each option.
const MAX_WORD_CANDIDATES: usize = 24;
/// Minimum `fits` signal of a candidate that has the requested kind of answer.
const MIN_ANSWER_FIT: f32 = 0.5;
/// Weight of a word of an option that also occurs in the question.
const QUESTION_WORD_WEIGHT: f32 = 0.3;
/// Minimum weight of an event that does not match the question.
const MIN_EVENT_WEIGHT: f32 = 0.15;

/// Features of an option, each 0 or more.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::recall) struct Speaks {
    /// Best coverage of its words by one event, weighted by the event's match with the question.
    pub told: f32,
    /// Coverage of its words by the events of one moment.
    pub scene: f32,
    /// Coverage of its words by any event.
    pub anywhere: f32,
    /// Best cosine of the question with the option to an event.
    pub joint: f32,
    /// As `joint`, weighted by the event's match with the question.
    pub joint_suited: f32,
    /// Best cosine of the option alone to an event that matches the question.
    pub alone_suited: f32,
    /// Best cosine of the option alone to any event.
    pub alone: f32,
    /// Best cosine of the question with the option to a moment: the mean of its events' vectors (v of HippoMM).
    pub moment: f32,
    /// Agreement with the answers of the layers, weighted by their confidence.
    pub answered: f32,
    /// Agreement with mere quotations.
    pub quoted: f32,
    /// Whether an event is about the very thing that the option names.
    pub about: f32,
    /// Support by the kind of answer: by times, numbers, sums, order or topic. With a reader.
    pub typed: f32,
    /// Whether this is the option with the most support by the kind of answer. With a reader.
    pub typed_best: f32,
    /// Agreement with the reader's answers, weighted by the probability of each.
    pub read: f32,
    /// Cosine of the option alone to the events that answer according to the reader: its expected value.
    pub read_alone: f32,
}

/// Returns the content of each option without what all options share.
fn distinct_contents(pool: &EventPool<'_>, options: &[String]) -> Vec<Content> {
    let search = pool.reader.search();
    let mut contents: Vec<Content> = options
        .iter()
        .map(|option| {
            let (words, _) = parse(option, &[]);
            let whole = 0..option.len();
            Content::from_ranges(&words, std::slice::from_ref(&whole), 1.0, search)
        })
        .collect();
    // Words of the question support no option, unless the question names the options.
    let asked = pool.question;
    let alternatives = &asked.asked.alternatives;
    let offered =
        |word: &Word| alternatives.iter().any(|range| range.start <= word.range.start && word.range.end <= range.end);
    let said = |lemma: &str| asked.asked.words.iter().any(|word| word.lemma == lemma && !offered(word));
    for content in &mut contents {
        content.discount(QUESTION_WORD_WEIGHT, said);
    }
    let in_all = |lemma: &str| contents.iter().all(|content| content.items.iter().any(|item| item.lemma == lemma));
    let common: Vec<String> = contents
        .first()
        .filter(|_| contents.len() > 1)
        .map(|first| first.items.iter().map(|item| item.lemma.clone()).filter(|lemma| in_all(lemma)).collect())
        .unwrap_or_default();
    for content in &mut contents {
        content.items.retain(|item| !common.contains(&item.lemma));
        content.discount_unknown(UNKNOWN_WORD_WEIGHT);
    }
    contents
}

/// Weighs options in words. With a reader, what it answers and what was weighed by the kind of answer (`typed`) are features
/// among the others.
pub(super) fn weigh_by_words(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    candidates: &[Candidate],
    options: &[String],
    vectors: &[OptionVectors],
    read: Option<&ReadEvents>,
    typed: Option<OptionWeights>,
) -> Result<OptionWeights, ReadError> {
    let question = pool.question;
    let contents = distinct_contents(pool, options);
    let mut speaks: Vec<Speaks> = Vec::with_capacity(options.len());
    let mut events: Vec<Option<RetrievedEvent>> = Vec::with_capacity(options.len());
    let fit = EventMatch::new(pool, pooled);
    for (place, option) in options.iter().enumerate() {
        let (spoken, event) = add_event_features(pool, pooled, &fit, option, &contents[place], vectors.get(place))?;
        speaks.push(spoken);
        events.push(event);
    }
    for candidate in candidates {
        add_candidate_features(question, candidate, options, &contents, &mut speaks);
    }
    if let Some(read) = read {
        let typed = typed.as_ref();
        add_typed_features(typed, &mut speaks);
        let answers = read.answers(question);
        for (place, option) in options.iter().enumerate() {
            let vector = vectors.get(place).map(|vectors| &vectors.alone);
            let best = add_read_features(pool, &answers, option, &contents[place], vector, &mut speaks[place]);
            events[place] = best.or(events[place].take());
        }
    }
    // "Which is not used": the option with the least support.
    let sign = if question.asked.negated && question.asked.among_options { -1.0 } else { 1.0 };
    let support = softmax(speaks.iter().map(|speaks| sign * calibration::option_logit(speaks, read.is_some())));
    let best = support.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))).map(|(place, _)| place);
    if let Some(typed) = typed.filter(|_| best.is_some_and(|place| speaks[place].typed_best > 0.0)) {
        return Ok(OptionWeights { support, speaks, ..typed });
    }
    let evidence = best.and_then(|place| events[place].clone()).into_iter().collect();
    let by = if sign < 0.0 { "words, and the one denied was wanted" } else { "words" };
    Ok(OptionWeights { support, evidence, by, speaks })
}

/// Sets the features from what was weighed by the kind of answer.
fn add_typed_features(typed: Option<&OptionWeights>, speaks: &mut [Speaks]) {
    let Some(typed) = typed else { return };
    let best = typed.best().map(|(option, ..)| option);
    for (place, (speaks, support)) in speaks.iter_mut().zip(&typed.support).enumerate() {
        speaks.typed = support.clamp(0.0, 1.0);
        speaks.typed_best = f32::from(u8::from(best == Some(place)));
    }
}

/// Sets the features from what a reader answers. Returns the event whose answer agrees best with the option, if one is
/// likelier than not to be it.
fn add_read_features(
    pool: &EventPool<'_>,
    answers: &[ReadAnswer<'_>],
    option: &str,
    content: &Content,
    vector: Option<&Vec<f32>>,
    speaks: &mut Speaks,
) -> Option<RetrievedEvent> {
    let mut best: Option<&RetrievedEvent> = None;
    for answer in answers {
        let agrees = agreement(pool.question, (&answer.text, &answer.value), option, content);
        let says = answer.probability * answer.certainty * agrees;
        let cosine = vector.and_then(|vector| pool.cosine(vector, answer.found.id())).unwrap_or(0.0).max(0.0);
        speaks.read_alone += answer.probability * cosine;
        if says > speaks.read {
            speaks.read = says;
            best = Some(answer.found);
        }
    }
    best.filter(|_| speaks.read >= MIN_ANSWER_FIT).cloned()
}

/// Returns the share of each option in the odds of all (softmax).
pub(super) fn softmax(logits: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
    let most = logits.clone().fold(f32::MIN, f32::max);
    let odds: Vec<f32> = logits.map(|logit| (logit - most).exp()).collect();
    let all: f32 = odds.iter().sum();
    odds.into_iter().map(|odds| odds / all).collect()
}

/// How well events match the question, relative to the best one.
struct EventMatch {
    /// Whether the question places events in time. The time then decides.
    placed: bool,
    top: f32,
}

impl EventMatch {
    fn new(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Self {
        let top = pooled.iter().map(|found| rank(pool.question, found)).fold(0.0, f32::max).max(0.2);
        Self { placed: pooled.iter().any(|found| found.placed > 0.0), top }
    }

    /// Weight of an event regardless of its match: `MIN_EVENT_WEIGHT` outside of the requested time, else 1.
    fn weight_anywhere(&self, found: &RetrievedEvent) -> f32 {
        if self.placed && found.placed == 0.0 { MIN_EVENT_WEIGHT } else { 1.0 }
    }

    /// Returns the match with the question, from 0 to 1, and the resulting weight, from `MIN_EVENT_WEIGHT` to 1.
    fn match_and_weight(&self, pool: &EventPool<'_>, found: &RetrievedEvent) -> (f32, f32) {
        let suits = match self.placed {
            true => found.placed.max(MIN_EVENT_WEIGHT),
            false => (rank(pool.question, found) / self.top).clamp(0.0, 1.0),
        };
        (suits, MIN_EVENT_WEIGHT + (1.0 - MIN_EVENT_WEIGHT) * suits * suits)
    }
}

/// Sets the features from events, and returns the event with the most support.
fn add_event_features(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    fit: &EventMatch,
    option: &str,
    content: &Content,
    vectors: Option<&OptionVectors>,
) -> Result<(Speaks, Option<RetrievedEvent>), ReadError> {
    let question = pool.question;
    let text = format!("{option} {}", question.timeless);
    let joint = vectors.map(|vectors| &vectors.joint);
    let alone = vectors.map(|vectors| &vectors.alone);
    let own = match question.query.ablation.without_details {
        true => Vec::new(),
        false => {
            let own = pool.search(&text, joint, &question.content, question.bound(), None)?;
            let of_option = pool.search(option, alone, &question.content, question.bound(), None)?;
            merge(
                own.into_iter().take(MAX_WORD_CANDIDATES).collect(),
                of_option.into_iter().take(MAX_WORD_CANDIDATES).collect(),
            )
        }
    };
    let looked = merge(pooled.iter().take(MAX_WORD_CANDIDATES).cloned().collect(), own);
    let mut speaks = Speaks::default();
    let mut together = vec![0.0_f32; content.items.len()];
    let things = item_contents(content, option);
    let mut items = vec![0.0_f32; things.len()];
    let mut most: Option<(f32, usize)> = None;
    for (place, found) in looked.iter().enumerate() {
        let (suits, weight) = fit.match_and_weight(pool, found);
        let coverage = content.coverage(&found.reading).of_content;
        for (best, held) in together.iter_mut().zip(content.item_similarities(&found.reading)) {
            *best = best.max(weight * held);
        }
        let near = |vector: Option<&Vec<f32>>| {
            vector.and_then(|vector| pool.cosine(vector, found.id())).unwrap_or(0.0).max(0.0)
        };
        let (joint, alone) = (near(joint), near(alone));
        let task = found.reading.event.attributes.get("task").and_then(crate::Value::as_text);
        let named = [found.reading.event.entity.as_deref(), task].into_iter().flatten();
        let about = if named.into_iter().any(|name| name.eq_ignore_ascii_case(option.trim())) { suits } else { 0.0 };
        let anywhere = fit.weight_anywhere(found);
        speaks.told = speaks.told.max(weight * coverage);
        for (best, item) in items.iter_mut().zip(&things) {
            *best = best.max(anywhere * item.coverage(&found.reading).of_content);
        }
        speaks.joint = speaks.joint.max(anywhere * joint);
        speaks.joint_suited = speaks.joint_suited.max(weight * joint);
        speaks.alone_suited = speaks.alone_suited.max(weight * alone);
        speaks.alone = speaks.alone.max(anywhere * alone);
        speaks.about = speaks.about.max(about);
        let says = weight * (0.85 * coverage + 0.15 * joint) + 0.3 * about;
        if most.is_none_or(|(known, _)| says > known) {
            most = Some((says, place));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few things")]
    let count = items.len().max(1) as f32;
    speaks.anywhere = items.iter().sum::<f32>() / count;
    speaks.scene = content.covered_share(&together);
    if let Some(joint) = joint {
        speaks.moment = moment_cosine(pool, &looked, joint);
    }
    Ok((speaks, most.map(|(_, place)| looked[place].clone())))
}

/// Returns the content of each item that an option lists.
fn item_contents(content: &Content, option: &str) -> Vec<Content> {
    let parts = option.split(", ").flat_map(|part| part.split(" and "));
    let mut things: Vec<Content> =
        parts.map(|part| content.restricted_to(part)).filter(|thing| !thing.is_empty()).collect();
    if things.is_empty() {
        things.push(content.restricted_to(option));
    }
    things
}

/// Returns the best cosine of a vector to a moment: to the mean vector of events at the same time.
fn moment_cosine(pool: &EventPool<'_>, looked: &[RetrievedEvent], vector: &[f32]) -> f32 {
    let unit = |vector: Vec<i16>| -> Vec<f32> {
        let length = vector.iter().map(|value| f32::from(*value).powi(2)).sum::<f32>().sqrt().max(1.0);
        vector.into_iter().map(|value| f32::from(value) / length).collect()
    };
    let known: Vec<(TimeSpan, Vec<f32>)> =
        looked.iter().filter_map(|found| Some((found.span(), unit(pool.reader.vector(found.id())?)))).collect();
    let mut best = 0.0_f32;
    for (span, own) in &known {
        let mut mean = vec![0.0_f32; own.len()];
        for (_, beside) in known.iter().filter(|(other, beside)| span.overlaps(*other) && beside.len() == own.len()) {
            mean.iter_mut().zip(beside).for_each(|(sum, value)| *sum += value);
        }
        best = best.max(nearest::cosine(vector, &mean).unwrap_or(0.0));
    }
    best
}

/// Adds what a layer's answer says about each option.
fn add_candidate_features(
    question: &Question<'_>,
    candidate: &Candidate,
    options: &[String],
    contents: &[Content],
    speaks: &mut [Speaks],
) {
    for ((option, content), speaks) in options.iter().zip(contents).zip(speaks) {
        let agrees = agreement(question, (&candidate.text, &candidate.value), option, content);
        let says = candidate.confidence * agrees;
        if candidate.signals.fits >= MIN_ANSWER_FIT {
            speaks.answered = speaks.answered.max(says);
        } else {
            speaks.quoted = speaks.quoted.max(says);
        }
    }
}
