//! Options in words: what speaks for each, by words, by meaning, and by what the layers answer.

use super::{OptionVectors, Weighed};
use crate::language::english::syntax::parse;
use crate::language::english::tag::{Tag, Word};
use crate::recall::answerers::rank::rank;
use crate::recall::calibration;
use crate::recall::candidate::{Candidate, Value};
use crate::recall::content::Content;
use crate::recall::nearest;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::reading::is_content_word;
use crate::{ReadError, TimeSpan};

/// Weight of a word of an option that no memory holds: senses have fewer words than people.
const UNPERCEIVED: f32 = 0.4;
/// Candidates that are looked at for each option.
const LOOKED_AT: usize = 24;
/// A candidate that has the kind of answer that was asked for fits at least so well.
const ANSWERS: f32 = 0.5;
/// Weight of a word of an option that the question has, too.
const SAID_ALREADY: f32 = 0.3;
/// Least share that an event counts which does not suit the question at all.
const UNSUITED: f32 = 0.15;

/// What speaks for an option; each 0 or more.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::recall) struct Speaks {
    /// The share of its words that one event holds which suits the question.
    pub told: f32,
    /// The share that the events of one moment hold together.
    pub scene: f32,
    /// The share that any event holds.
    pub anywhere: f32,
    /// How near the question with the option comes to an event in meaning.
    pub joint: f32,
    /// The same of an event that suits the question.
    pub joint_suited: f32,
    /// How near the option alone comes to an event that suits the question.
    pub alone_suited: f32,
    /// How near it comes to any event.
    pub alone: f32,
    /// How near the question with the option comes to a moment: the mean of its events' vectors (HippoMM's v).
    pub moment: f32,
    /// What the layers' own answers share with it, by how likely they are right.
    pub answered: f32,
    /// The same of mere quotations.
    pub quoted: f32,
    /// Whether an event is about the very thing that it names.
    pub about: f32,
}

/// An option with what it says, apart from what every option says.
fn contents(pool: &EventPool<'_>, options: &[String]) -> Vec<Content> {
    let search = pool.reader.search();
    let mut contents: Vec<Content> = options
        .iter()
        .map(|option| {
            let (words, _) = parse(option, &[]);
            let whole = 0..option.len();
            Content::from_ranges(&words, std::slice::from_ref(&whole), 1.0, search)
        })
        .collect();
    // What the question says itself speaks for no option, unless it names them.
    let asked = pool.question;
    let alternatives = &asked.asked.alternatives;
    let offered =
        |word: &Word| alternatives.iter().any(|range| range.start <= word.range.start && word.range.end <= range.end);
    let said = |lemma: &str| asked.asked.words.iter().any(|word| word.lemma == lemma && !offered(word));
    for content in &mut contents {
        content.discount(SAID_ALREADY, said);
    }
    let in_all = |lemma: &str| contents.iter().all(|content| content.items.iter().any(|item| item.lemma == lemma));
    let common: Vec<String> = contents
        .first()
        .filter(|_| contents.len() > 1)
        .map(|first| first.items.iter().map(|item| item.lemma.clone()).filter(|lemma| in_all(lemma)).collect())
        .unwrap_or_default();
    for content in &mut contents {
        content.items.retain(|item| !common.contains(&item.lemma));
        content.discount_unknown(UNPERCEIVED);
    }
    contents
}

/// Weighs options in words.
pub(super) fn by_words(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    candidates: &[Candidate],
    options: &[String],
    vectors: &[OptionVectors],
) -> Result<Weighed, ReadError> {
    let question = pool.question;
    let contents = contents(pool, options);
    let mut speaks: Vec<Speaks> = Vec::with_capacity(options.len());
    let mut events: Vec<Option<RetrievedEvent>> = Vec::with_capacity(options.len());
    let fit = Fit::of(pool, pooled);
    for (place, option) in options.iter().enumerate() {
        let (spoken, event) = of_events(pool, pooled, &fit, option, &contents[place], vectors.get(place))?;
        speaks.push(spoken);
        events.push(event);
    }
    for candidate in candidates {
        of_candidate(candidate, options, &contents, &mut speaks);
    }
    // "Which is not used": the one for which least speaks.
    let sign = if question.asked.negated && question.asked.among_options { -1.0 } else { 1.0 };
    let support = shares(speaks.iter().map(|speaks| sign * calibration::support(speaks)));
    let best = support.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))).map(|(place, _)| place);
    let evidence = best.and_then(|place| events[place].clone()).into_iter().collect();
    let by = if sign < 0.0 { "words, and the one denied was wanted" } else { "words" };
    Ok(Weighed { support, evidence, by, speaks })
}

/// The share of each in the odds of all (softmax).
pub(super) fn shares(logits: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
    let most = logits.clone().fold(f32::MIN, f32::max);
    let odds: Vec<f32> = logits.map(|logit| (logit - most).exp()).collect();
    let all: f32 = odds.iter().sum();
    odds.into_iter().map(|odds| odds / all).collect()
}

/// How well an event suits the question, beside the best.
struct Fit {
    /// Whether something places events in time, which then decides.
    placed: bool,
    top: f32,
}

impl Fit {
    fn of(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Self {
        let top = pooled.iter().map(|found| rank(pool.question, found)).fold(0.0, f32::max).max(0.2);
        Self { placed: pooled.iter().any(|found| found.placed > 0.0), top }
    }

    /// What an event counts that does not suit the question otherwise: nothing but what lies in time as asked speaks for an option
    /// where that is known.
    fn anywhere(&self, found: &RetrievedEvent) -> f32 {
        if self.placed && found.placed == 0.0 { UNSUITED } else { 1.0 }
    }

    /// How well it suits, 0 to 1, and what it counts for that, from `UNSUITED` to 1.
    fn weight(&self, pool: &EventPool<'_>, found: &RetrievedEvent) -> (f32, f32) {
        let suits = match self.placed {
            true => found.placed.max(UNSUITED),
            false => (rank(pool.question, found) / self.top).clamp(0.0, 1.0),
        };
        (suits, UNSUITED + (1.0 - UNSUITED) * suits * suits)
    }
}

/// What the events say for an option, and the one that says most.
fn of_events(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    fit: &Fit,
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
            merge(own.into_iter().take(LOOKED_AT).collect(), of_option.into_iter().take(LOOKED_AT).collect())
        }
    };
    let looked = merge(pooled.iter().take(LOOKED_AT).cloned().collect(), own);
    let mut speaks = Speaks::default();
    let mut together = vec![0.0_f32; content.items.len()];
    let things = listed(content, option);
    let mut items = vec![0.0_f32; things.len()];
    let mut most: Option<(f32, usize)> = None;
    for (place, found) in looked.iter().enumerate() {
        let (suits, weight) = fit.weight(pool, found);
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
        let anywhere = fit.anywhere(found);
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
    speaks.scene = content.share_of_similarities(&together);
    if let Some(joint) = joint {
        speaks.moment = moment(pool, &looked, joint);
    }
    Ok((speaks, most.map(|(_, place)| looked[place].clone())))
}

/// What an option says, by the things that it lists.
fn listed(content: &Content, option: &str) -> Vec<Content> {
    let parts = option.split(", ").flat_map(|part| part.split(" and "));
    let mut things: Vec<Content> =
        parts.map(|part| content.restricted_to(part)).filter(|thing| !thing.is_empty()).collect();
    if things.is_empty() {
        things.push(content.restricted_to(option));
    }
    things
}

/// How near a vector comes to a moment: to the mean of the vectors of events that share their time.
fn moment(pool: &EventPool<'_>, looked: &[RetrievedEvent], vector: &[f32]) -> f32 {
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

/// What a layer's own answer says for each option.
fn of_candidate(candidate: &Candidate, options: &[String], contents: &[Content], speaks: &mut [Speaks]) {
    let said = match &candidate.value {
        Value::List(items) => items.join(", "),
        Value::Truth(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        _ => candidate.text.clone(),
    };
    let (words, _) = parse(&said, &[]);
    let lemmas: Vec<(String, Tag)> =
        words.iter().filter(|word| is_content_word(word)).map(|word| (word.lemma.clone(), word.tag)).collect();
    for ((option, content), speaks) in options.iter().zip(contents).zip(speaks) {
        let held = content.share_of_lemmas(&lemmas);
        let truth = matches!(&candidate.value, Value::Truth(yes) if option.to_lowercase().starts_with(if *yes { "yes" } else { "no" }));
        let exactly = candidate.signals.fits >= 1.0 && said.trim().eq_ignore_ascii_case(option.trim());
        let share = if truth || exactly { 1.0 } else { held };
        let says = candidate.confidence * share;
        if candidate.signals.fits >= ANSWERS {
            speaks.answered = speaks.answered.max(says);
        } else {
            speaks.quoted = speaks.quoted.max(says);
        }
    }
}
