//! A question, parsed once: all that any later stage asks of its text.

use std::ops::Range;

use jiff::Zoned;

use super::content::Content;
use super::intent;
use crate::index::{Holding, Search};
use crate::language::english::closed::{ABSENT, CHANGING, PARTS_OF_DAYS, PROFESSIONS, SUMMING};
use crate::language::english::question::{Ask, Asked, Cue, is_request, understand};
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::{Tense, TimePhrase, may_name_session, tense_of, time_phrases, without};
use crate::{Intent, Modality, Query, QuestionModality, TimeSpan};

/// The entity under which a robot tells of itself (docs/mqtt.md).
pub(super) const ITSELF: &str = "robot";

/// Weight of a word of what places a question that no memory holds: senses have fewer words than people.
pub(super) const UNPERCEIVED: f32 = 0.4;
/// Weight of the words of a sentence beside the one that asks.
const ASIDE: f32 = 0.4;

/// A question, understood.
pub(super) struct Question<'a> {
    pub query: &'a Query,
    pub text: &'a str,
    pub now: Zoned,
    pub asked: Asked,
    pub tense: Tense,
    pub phrases: Vec<TimePhrase>,
    /// Without the phrases that bound it, for searching inside those bounds.
    pub timeless: String,
    /// Bounds of the request; nothing may cross them.
    pub hard: Option<TimeSpan>,
    /// What it asks about, without what places it in time.
    pub content: Content,
    /// What the event that places it is about.
    pub cue: Option<Content>,
    /// The things and persons that it names, in order; the thing it is about first.
    pub named: Vec<NounPhrase>,
    /// The sense that what is asked for belongs to, if it names one.
    pub sense: Option<Modality>,
    /// Whether it asks for what was said (true), or for a sound that is no speech (false).
    pub speech: Option<bool>,
    pub intent: Intent,
    pub modality: QuestionModality,
}

impl<'a> Question<'a> {
    /// Reads a question. `hard` are the bounds of the request.
    pub fn of(query: &'a Query, now: Zoned, search: &dyn Search, hard: Option<TimeSpan>) -> Self {
        let text = query.question.as_str();
        let tense = tense(text);
        let session = may_name_session(text).then(|| search.session(hard)).flatten();
        let mut phrases = time_phrases(text, &now, session, tense);
        phrases.iter_mut().filter(|phrase| describes(text, phrase)).for_each(|phrase| phrase.bounds = false);
        let ranges: Vec<Range<usize>> = phrases.iter().map(|phrase| phrase.range.clone()).collect();
        let asked = understand(text, &ranges);
        let main = asked.main.clone();
        let about = match &asked.report {
            Some(report) => vec![main.start..report.start.max(main.start), report.end.min(main.end)..main.end],
            None => vec![main.clone()],
        };
        let mut content = Content::of(&asked.words, &about, 1.0, search);
        let context: Vec<Range<usize>> = asked
            .sentences
            .iter()
            .map(|sentence| sentence.range.clone())
            .filter(|range| range.end <= main.start || range.start >= main.end)
            .filter(|range| {
                asked.cue.as_ref().is_none_or(|cue| cue.range.end <= range.start || cue.range.start >= range.end)
            })
            .collect();
        // "A lady waved. What did she wear?" is about the lady as much as about what she wore.
        let (before, behind): (Vec<_>, Vec<_>) = context.into_iter().partition(|range| range.end <= main.start);
        let weight = if refers_back(&asked) { 1.0 } else { ASIDE };
        content.extend(Content::of(&asked.words, &before, weight, search));
        content.extend(Content::of(&asked.words, &behind, ASIDE, search));
        if let Some(verb) = &asked.clause.verb {
            content.join_particle(verb);
        }
        let cue =
            asked.cue.as_ref().map(|cue| Content::of(&asked.words, std::slice::from_ref(&cue.range), 1.0, search));
        let cue = cue.filter(|cue| !cue.is_empty());
        let mut named = named(&asked);
        // "You" is the robot itself, under the name by which it tells of itself.
        let itself = asked.words.iter().enumerate().any(|(at, word)| {
            matches!(word.text.as_str(), "you" | "your" | "yourself")
                && main.start <= word.range.start
                && word.range.end <= main.end
                && !is_requested(&asked.words, at)
        });
        let tells =
            || !search.holding(&Holding { entity: Some(ITSELF.into()), limit: 1, ..Holding::default() }).is_empty();
        if itself && !matches!(asked.ask, Ask::Way | Ask::Next) && tells() {
            content.add_name(ITSELF, search);
            content.add_other("charge", "battery", search);
            named.push(super::reading::name_phrase(ITSELF));
        }
        let (sense, speech) = intent::senses(&asked);
        let intent = intent::intent(&asked);
        let modality = intent::modality(&asked, sense);
        let timeless = without(text, &phrases);
        content.weigh_class(asked.class.as_ref());
        match asked.ask {
            Ask::Change => {
                content.leave_out(CHANGING);
                content.discount_doings();
            }
            Ask::Action if asked.habitual => content.leave_out(PARTS_OF_DAYS),
            // "What is the date of …?": a date is no part of what is asked about.
            Ask::Time => content.leave_out(&asked.class.iter().map(|class| class.head.as_str()).collect::<Vec<_>>()),
            Ask::Summary => content.leave_out(SUMMING),
            Ask::Owner => content.leave_out(&["belong"]),
            Ask::Person if asks_absent(&asked) => content.leave_out(ABSENT),
            Ask::Thing if asks_profession(&asked) => content.leave_out(PROFESSIONS),
            _ => {}
        }
        Self {
            query,
            text,
            now,
            asked,
            tense,
            phrases,
            timeless,
            hard,
            content,
            cue,
            named,
            sense,
            speech,
            intent,
            modality,
        }
    }

    pub fn ask(&self) -> Ask {
        self.asked.ask
    }

    /// The cue, where it has words to look for.
    pub fn relation(&self) -> Option<(&Cue, &Content)> {
        Some((self.asked.cue.as_ref()?, self.cue.as_ref()?))
    }

    /// The span that its time words bound it to, within the bounds of the request.
    pub fn bound(&self) -> Option<TimeSpan> {
        let mut bound: Option<TimeSpan> = None;
        for span in self.phrases.iter().filter(|phrase| phrase.bounds).filter_map(|phrase| phrase.spans.first()) {
            bound = match bound {
                None => Some(span.0),
                Some(other) => intersection(other, span.0),
            };
            bound?;
        }
        match (bound, self.hard) {
            (Some(bound), Some(hard)) => intersection(bound, hard),
            (bound, hard) => bound.or(hard),
        }
    }

    /// Whether time words of its own bound it.
    pub fn is_bounded(&self) -> bool {
        self.phrases.iter().any(|phrase| phrase.bounds)
    }

    /// The spans that lift what is near them.
    pub fn near(&self) -> Vec<(TimeSpan, f32)> {
        self.phrases.iter().flat_map(|phrase| phrase.spans.iter().copied()).collect()
    }

    /// The text of a range.
    pub fn part(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// Whether the sentence that asks says only by a pronoun what it is about, or hardly says anything: the sentence before names it.
fn refers_back(asked: &Asked) -> bool {
    let main = &asked.main;
    let mut inside =
        asked.words.iter().filter(|word| main.start <= word.range.start && word.range.end <= main.end).peekable();
    let anaphor = |word: &Word| {
        matches!(
            word.text.as_str(),
            "he" | "she"
                | "it"
                | "they"
                | "him"
                | "her"
                | "them"
                | "his"
                | "hers"
                | "its"
                | "their"
                | "theirs"
                | "there"
        )
    };
    inside.peek().is_some() && (asked.is_bare() || inside.any(anaphor))
}

/// What somebody is asked to tell: "can you please sum up Tuesday?" asks for nothing to come.
fn requested(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once(" you ")?;
    let modal = ["can", "could", "will", "would"].iter().any(|modal| before.trim().eq_ignore_ascii_case(modal));
    let rest = rest.trim_start().strip_prefix("please ").unwrap_or(rest);
    let first = crate::index::words(rest).next()?;
    (modal && is_request(&first)).then_some(rest)
}

/// The tense of what is asked: that of its first auxiliary where it is past, whatever the question quotes behind it.
fn tense(text: &str) -> Tense {
    let text = requested(text).unwrap_or(text);
    let first = crate::index::words(text).take(24);
    let mut auxiliary = first.filter(|word| {
        matches!(
            word.as_str(),
            "did"
                | "was"
                | "were"
                | "had"
                | "couldn"
                | "couldn't"
                | "does"
                | "do"
                | "is"
                | "are"
                | "will"
                | "must"
                | "has"
                | "have"
        )
    });
    match auxiliary.next().as_deref() {
        Some("did" | "was" | "were" | "had" | "couldn" | "couldn't") => Tense::Past,
        _ => tense_of(text),
    }
}

/// Whether "you" is whom a request is addressed to, and not what it is about: "can you please sum up the day?".
fn is_requested(words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let mut behind = words[at + 1..].iter().skip_while(|word| word.tag == Tag::Adverb || word.is("please"));
    before.is_some_and(|word| word.tag == Tag::Modal) && behind.next().is_some_and(|word| is_request(&word.text))
}

/// Whether a time says when a thing was seen, and not when what is asked for happened: "the cup seen at 10:15".
fn describes(text: &str, phrase: &TimePhrase) -> bool {
    let before = text.get(..phrase.range.start).unwrap_or_default();
    let mut words = before.split_whitespace().rev();
    let last = words.next().unwrap_or_default();
    let last = if matches!(last, "at" | "on" | "in" | "around") { words.next().unwrap_or_default() } else { last };
    let subject = words.next().unwrap_or_default();
    matches!(last, "seen" | "shown" | "visible" | "heard" | "observed" | "noticed" | "spotted" | "mentioned")
        && !matches!(subject, "was" | "were" | "is" | "are" | "be" | "been" | "last" | "first" | "being")
}

/// Whether a question asks what somebody who is named is by profession.
pub(super) fn asks_profession(asked: &Asked) -> bool {
    let clause = &asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let profession = |noun: &NounPhrase| PROFESSIONS.contains(&noun.head.as_str());
    let of_name = |noun: &NounPhrase| {
        let whose = noun.owner.as_deref().or(noun.of.as_deref());
        profession(noun) && whose.is_some_and(super::reading::is_person)
    };
    let by = clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "by" && profession(&adjunct.noun));
    let lives_on = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "do")
        && clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "for" && adjunct.noun.head == "living");
    clause.subject.as_ref().is_some_and(|subject| {
        lives_on && subject.kind == NounKind::Name || is && (by && subject.kind == NounKind::Name || of_name(subject))
    })
}

/// Whether a question asks who was not there: "who was missing at lunch?", "who was not at the table?".
pub(super) fn asks_absent(asked: &Asked) -> bool {
    let clause = &asked.clause;
    let Some(verb) = &clause.verb else { return false };
    let there = verb.lemma == "be" && verb.auxiliary_only || matches!(verb.lemma.as_str(), "sit" | "attend" | "come");
    let not_there = verb.negated && there && !clause.adjuncts.is_empty();
    let misses = verb.lemma == "miss" && verb.progressive && !verb.negated;
    let absent = clause.complements.iter().any(|(word, _)| matches!(word.as_str(), "missing" | "absent"));
    asked.ask == Ask::Person && asked.subject_is_asked && (not_there || misses || absent)
}

/// What two spans share.
pub(super) fn intersection(a: TimeSpan, b: TimeSpan) -> Option<TimeSpan> {
    a.overlaps(b).then(|| TimeSpan { start: a.start.max(b.start), end: a.end.min(b.end) })
}

/// The noun phrases of the asking clause and of the other clauses of its sentence, what they are about first.
fn named(asked: &Asked) -> Vec<NounPhrase> {
    let mut found: Vec<NounPhrase> = Vec::new();
    let mut add = |noun: &NounPhrase| {
        for noun in noun.all() {
            let general = noun.is_pronoun()
                || matches!(
                    noun.head.as_str(),
                    "participant" | "person" | "people" | "thing" | "object" | "item" | "time" | "one"
                );
            let apart =
                [&asked.called, &asked.report].into_iter().flatten().any(|part| part.contains(&noun.range.start));
            if !general && !apart && !found.iter().any(|known| known.range == noun.range) {
                found.push(noun.clone());
            }
        }
    };
    let clause = &asked.clause;
    clause.subject.iter().for_each(&mut add);
    clause.objects.iter().for_each(&mut add);
    clause.adjuncts.iter().for_each(|adjunct| add(&adjunct.noun));
    for sentence in &asked.sentences {
        for clause in &sentence.clauses {
            let in_cue = asked
                .cue
                .as_ref()
                .is_some_and(|cue| cue.range.start <= clause.range.start && clause.range.end <= cue.range.end);
            if in_cue {
                continue;
            }
            clause.subject.iter().for_each(&mut add);
            clause.objects.iter().for_each(&mut add);
            clause.adjuncts.iter().for_each(|adjunct| add(&adjunct.noun));
        }
    }
    let nothing = asked.clause.subject.is_none() && asked.clause.objects.is_empty() && asked.clause.adjuncts.is_empty();
    if nothing {
        asked.class.iter().for_each(&mut add);
    }
    found
}
