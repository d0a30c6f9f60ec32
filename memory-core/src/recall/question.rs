//! A parsed question: everything that later stages ask of its text.

use std::ops::Range;

use jiff::Zoned;

use super::content::Content;
use super::intent;
use super::reading::is_person;
use crate::index::{Holding, Search};
use crate::language::english::closed::{
    ABSENCE_WORDS, CHANGE_WORDS, PROFESSION_NOUNS, RECURRING_TIMES, SUMMARY_VERBS, is_one_of,
};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::{
    AnswerKind, Cue, ParsedQuestion, Stage, asked_stage, is_request_verb, parse_question,
};
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::{Tense, TimePhrase, may_name_session, tense_of, time_phrases, without_bounds};
use crate::{Intent, Modality, Query, QuestionModality, TimeSpan};

/// The entity under which a robot reports about itself (docs/mqtt.md).
pub(super) const ROBOT_ENTITY: &str = "robot";

/// Weight of a word of the cue that no memory holds. Encoders have fewer words than people.
pub(super) const UNKNOWN_CUE_WORD_WEIGHT: f32 = 0.4;
/// Weight of the words of a sentence other than the one that asks.
const PRECEDING_SENTENCE_WEIGHT: f32 = 0.4;

/// A parsed question.
pub(super) struct Question<'a> {
    pub query: &'a Query,
    pub text: &'a str,
    pub now: Zoned,
    pub asked: ParsedQuestion,
    pub tense: Tense,
    /// Which of several states the question names.
    pub stage: Option<Stage>,
    pub phrases: Vec<TimePhrase>,
    /// The text without the time phrases that bound it. The search inside those bounds uses it.
    pub timeless: String,
    /// Bounds of the request. No evidence lies outside of them.
    pub hard: Option<TimeSpan>,
    /// What the question asks about, without the cue that places it in time.
    pub content: Content,
    /// The content of the cue.
    pub cue: Option<Content>,
    /// The persons and animals that the question calls by a role, each role with the name: the cat, and Mocca.
    pub role_names: Vec<(String, String)>,
    /// The noun phrases of the question, the main one first.
    pub named: Vec<NounPhrase>,
    /// The modality of the answer, if the question names one.
    pub sense: Option<Modality>,
    /// `true` if the question asks for speech, `false` if it asks for another sound.
    pub speech: Option<bool>,
    pub intent: Intent,
    pub modality: QuestionModality,
}

impl<'a> Question<'a> {
    /// Parses a question. `hard` are the bounds of the request.
    pub fn parse(query: &'a Query, now: Zoned, search: &dyn Search, hard: Option<TimeSpan>) -> Self {
        let text = query.question.as_str();
        let tense = question_tense(text);
        // Without a capture session, "the recording" is what the request asks about.
        let both_ends = hard.filter(|_| query.since.is_some() && query.until.is_some());
        let session = may_name_session(text).then(|| search.session(hard).or(both_ends)).flatten();
        let mut phrases = time_phrases(text, &now, session, tense);
        phrases.iter_mut().filter(|phrase| time_describes_thing(text, phrase)).for_each(|phrase| phrase.bounds = false);
        let ranges: Vec<Range<usize>> = phrases.iter().map(|phrase| phrase.range.clone()).collect();
        let asked = parse_question(text, &ranges);
        // "Where have my keys got to?" asks where they are now, and so does "The cup that she lost, where is it?".
        let now_asked = asks_resulting_place(&asked) || asks_present_place(&asked);
        let tense = match now_asked && !phrases.iter().any(|phrase| phrase.bounds) {
            true => Tense::Present,
            false => tense,
        };
        let stage = asked_stage(&asked);
        let main = asked.main.clone();
        let about = match &asked.report {
            Some(report) => vec![main.start..report.start.max(main.start), report.end.min(main.end)..main.end],
            None => vec![main.clone()],
        };
        let mut content = Content::from_ranges(&asked.words, &about, 1.0, search);
        let context: Vec<Range<usize>> = asked
            .sentences
            .iter()
            .map(|sentence| sentence.range.clone())
            .filter(|range| range.end <= main.start || range.start >= main.end)
            .filter(|range| {
                asked.cue.as_ref().is_none_or(|cue| cue.range.end <= range.start || cue.range.start >= range.end)
            })
            .collect();
        // "A lady waved. What did she wear?" is about the lady as much as about her clothes.
        let (before, behind): (Vec<_>, Vec<_>) = context.into_iter().partition(|range| range.end <= main.start);
        // Where it is known which thing is meant, only that one.
        content.extend(Content::from_ranges(&asked.words, asked.antecedent.as_slice(), 1.0, search));
        let weight = if refers_back(&asked) && asked.antecedent.is_none() { 1.0 } else { PRECEDING_SENTENCE_WEIGHT };
        content.extend(Content::from_ranges(&asked.words, &before, weight, search));
        content.extend(Content::from_ranges(&asked.words, &behind, PRECEDING_SENTENCE_WEIGHT, search));
        if let Some(verb) = &asked.clause.verb {
            content.join_particle(verb);
        }
        let cue = Some(cue_ranges(&asked)).filter(|ranges| !ranges.is_empty());
        let cue = cue.map(|ranges| Content::from_ranges(&asked.words, &ranges, 1.0, search));
        let cue = cue.filter(|cue| !cue.is_empty());
        let mut named = noun_phrases_of(&asked);
        // "You" is the robot itself. Its entity name stands for it.
        let itself = asked.words.iter().enumerate().any(|(at, word)| {
            matches!(word.text.as_str(), "you" | "your" | "yourself")
                && main.start <= word.range.start
                && word.range.end <= main.end
                && !is_addressee(&asked.words, at)
        });
        let tells = || {
            !search.holding(&Holding { entity: Some(ROBOT_ENTITY.into()), limit: 1, ..Holding::default() }).is_empty()
        };
        if itself && !matches!(asked.ask, AnswerKind::Way | AnswerKind::Next) && tells() {
            content.add_name(ROBOT_ENTITY, search);
            content.add_synonym("charge", "battery", search);
            named.push(super::reading::name_phrase(ROBOT_ENTITY));
        }
        let (sense, speech) = intent::answer_modality(&asked);
        let intent = intent::question_intent(&asked);
        let modality = intent::question_modality(&asked, sense);
        let timeless = without_bounds(text, &phrases);
        content.discount_class(asked.class.as_ref());
        if asked.ask == AnswerKind::Person {
            let offered = asked.alternatives.iter().flat_map(|range| asked.words_in(range));
            content.discount_alternatives(&offered.map(|word| word.lemma.as_str()).collect::<Vec<_>>());
        }
        match asked.ask {
            AnswerKind::Change => {
                content.remove_words(CHANGE_WORDS);
                content.discount_unknown_deeds();
            }
            AnswerKind::Way => content.remove_words(&["step"]),
            AnswerKind::Action if asked.habitual => content.remove_words(RECURRING_TIMES),
            AnswerKind::Action if spends_time(&asked) => content.remove_words(&["spend"]),
            // "What is the date of …?": the date is the answer, not the subject.
            AnswerKind::Time => {
                content.remove_words(&asked.class.iter().map(|class| class.head.as_str()).collect::<Vec<_>>())
            }
            AnswerKind::Summary => content.remove_words(SUMMARY_VERBS),
            AnswerKind::Count | AnswerKind::Amount => content.remove_words(SUM_WORDS),
            AnswerKind::Owner => content.remove_words(&["belong"]),
            AnswerKind::Person if asks_absent(&asked) => content.remove_words(ABSENCE_WORDS),
            AnswerKind::Thing if asks_profession(&asked) => content.remove_words(PROFESSION_NOUNS),
            _ => {}
        }
        Self {
            query,
            text,
            now,
            asked,
            tense,
            stage,
            phrases,
            timeless,
            hard,
            content,
            cue,
            role_names: Vec::new(),
            named,
            sense,
            speech,
            intent,
            modality,
        }
    }

    /// Registers the name of somebody whom the question calls by a role, where it speaks of what they own.
    pub fn add_owner_name(&mut self, role: &str, name: &str) {
        let clause = &mut self.asked.clause;
        let nouns = self.named.iter_mut().chain(&mut clause.subject).chain(&mut clause.objects);
        for owner in nouns.filter_map(|noun| noun.owner.as_mut()).filter(|owner| owner.head == role) {
            owner.also.push(super::reading::name_phrase(name));
        }
    }

    pub fn ask(&self) -> AnswerKind {
        self.asked.ask
    }

    /// Returns the cue if it has words to search for.
    pub fn searchable_cue(&self) -> Option<(&Cue, &Content)> {
        Some((self.asked.cue.as_ref()?, self.cue.as_ref()?))
    }

    /// Returns the time span of the question's time words within the bounds of the request.
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

    /// Returns whether it asks for what was planned or usual before: "what was it going to be?", "when did she use to come?".
    pub fn asks_former_plan(&self) -> bool {
        let words: Vec<&str> = self.asked.words.iter().map(|word| word.text.as_str()).collect();
        let to = |before: &[&str]| words.windows(2).any(|two| before.contains(&two[0]) && two[1] == "to");
        let planned = ["supposed", "meant", "planned", "due", "scheduled"];
        self.tense == Tense::Past
            && (to(&["was", "were", "going", "use", "used"]) || words.iter().any(|word| planned.contains(word)))
    }

    /// Returns whether it asks for a state at any time of the past: "was she ill?", "did she have a cold?"
    pub fn asks_former_state(&self) -> bool {
        let verb = self.asked.clause.verb.as_ref();
        let was = verb.is_some_and(|verb| verb.auxiliary_only && verb.past || verb.lemma == "have" && !verb.perfect);
        was && self.tense == Tense::Past && self.bound().is_none() && self.asked.cue.is_none()
    }

    /// Returns whether the question's own time words bound it.
    pub fn has_time_bound(&self) -> bool {
        self.phrases.iter().any(|phrase| phrase.bounds)
    }

    /// Returns the time spans near which events get a higher score, with the weight of each.
    pub fn boosted_spans(&self) -> Vec<(TimeSpan, f32)> {
        self.phrases.iter().flat_map(|phrase| phrase.spans.iter().copied()).collect()
    }

    /// Returns the text of a range.
    pub fn part(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// Words that ask for a sum. No event has to hold them.
const SUM_WORDS: &[&str] = &["together", "altogether", "overall", "total", "combined"];

/// Returns whether the asking sentence names its subject only by a pronoun, or says almost nothing. The sentence before
/// it then names the subject.
fn refers_back(asked: &ParsedQuestion) -> bool {
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

/// Returns what a request asks to report: "can you please sum up Tuesday?" asks about no future event, and neither does
/// "give me a rundown of Monday".
fn requested_report(text: &str) -> Option<&str> {
    let begin = text.trim_start();
    let begin = begin.strip_prefix("Please ").or_else(|| begin.strip_prefix("please ")).unwrap_or(begin);
    if let Some((first, rest)) = begin.split_once(" me ")
        && is_request_verb(&first.to_lowercase())
    {
        return Some(rest);
    }
    let (before, rest) = text.split_once(" you ")?;
    let modal = ["can", "could", "will", "would"].iter().any(|modal| before.trim().eq_ignore_ascii_case(modal));
    let rest = rest.trim_start().strip_prefix("please ").unwrap_or(rest);
    let first = crate::index::words(rest).next()?;
    (modal && is_request_verb(&first)).then_some(rest)
}

/// Returns whether a question asks how somebody spent a time: "how did she spend her Monday?".
pub(super) fn spends_time(asked: &ParsedQuestion) -> bool {
    asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "spend")
}

/// Returns the cue of a question with what its pronouns mean: in "where were the oars before they were moved?", the
/// oars.
fn cue_ranges(asked: &ParsedQuestion) -> Vec<Range<usize>> {
    let Some(cue) = &asked.cue else { return Vec::new() };
    let says = |pronouns: &[&str]| asked.words_in(&cue.range).any(|word| is_one_of(&word.text, pronouns));
    let nouns = || asked.clause.objects.iter().chain(&asked.clause.subject).filter(|noun| !noun.is_pronoun());
    // In "when it rained", it is nothing.
    let mut verbs = asked.words_in(&cue.range).filter(|word| word.tag == Tag::Verb);
    let weather = verbs.any(|word| lexicon::category(&word.lemma, PartOfSpeech::Verb) == Some(Category::WeatherVerb));
    let thing = says(&["they", "them"]) || says(&["it"]) && !weather;
    let thing = thing.then(|| nouns().find(|noun| !is_person(noun))).flatten();
    let person = says(&["he", "she", "him"]).then(|| nouns().find(|noun| is_person(noun))).flatten();
    std::iter::once(cue.range.clone()).chain(thing.or(person).map(|noun| noun.range.clone())).collect()
}

/// Returns the tense of the question: that of its first auxiliary if it is past, whatever the question quotes after it.
fn question_tense(text: &str) -> Tense {
    let text = requested_report(text).unwrap_or(text);
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
        _ => got_tense(text).unwrap_or_else(|| tense_of(text)),
    }
}

/// Returns the tense of a question for what somebody has, which is no past one: "what have we got on Tuesday?" asks of the
/// time to come. `None` for "where has it got to?" and "what has she got done?".
fn got_tense(text: &str) -> Option<Tense> {
    let words: Vec<String> = crate::index::words(text).collect();
    let has = words.iter().position(|word| matches!(word.as_str(), "have" | "has" | "ve"))?;
    let got = words.iter().position(|word| word == "got").filter(|got| has < *got && *got <= has + 4)?;
    match words.get(got + 1).map_or("", String::as_str) {
        "" => Some(Tense::Present),
        "on" | "for" | "today" | "tomorrow" | "tonight" | "this" | "next" => Some(Tense::Future),
        _ => None,
    }
}

/// Returns whether a question asks where something is after it was moved: "where have my keys got to?", "where did the
/// cup end up?", "where has she put it?".
fn asks_resulting_place(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let Some(verb) = clause.verb.as_ref().filter(|_| asked.ask == AnswerKind::Place) else { return false };
    let ends = match verb.lemma.as_str() {
        "end" => verb.particle.as_deref() == Some("up") || asked.words.iter().any(|word| word.has_text("up")),
        "get" => asked.words.iter().any(|word| word.has_text("to")) && clause.objects.is_empty(),
        "move" => clause.objects.is_empty(),
        _ => false,
    };
    let placed = verb.perfect
        && !verb.past
        && matches!(verb.lemma.as_str(), "put" | "leave" | "go" | "hide" | "park" | "lay" | "place" | "store" | "move");
    (ends || placed) && asked.occurrence.is_none()
}

/// Returns whether a question asks where something is, whatever else of it is told in the past: "where is the key kept?",
/// "where would I find the scarf that she lost?".
fn asks_present_place(asked: &ParsedQuestion) -> bool {
    let Some(verb) = asked.clause.verb.as_ref().filter(|_| asked.ask == AnswerKind::Place) else { return false };
    // "Have you seen my keys?"
    if verb.lemma == "see" && verb.perfect && asked.clause.asking.is_none() {
        return true;
    }
    if verb.past || verb.perfect || verb.future || asked.occurrence.is_some() || asked.cue.is_some() {
        return false;
    }
    let fetches = matches!(verb.lemma.as_str(), "find" | "get" | "look" | "search");
    match verb.modal.as_deref() {
        Some(modal) => fetches && matches!(modal, "can" | "could" | "would" | "should" | "must" | "might"),
        None => {
            let stays = matches!(verb.lemma.as_str(), "be" | "stand" | "lie" | "hang" | "sit" | "live" | "belong");
            // "Where is she supposed to wait?" asks for a plan.
            stays || verb.passive && verb.lemma != "suppose" || fetches
        }
    }
}

/// Returns whether "you" addresses a request and is not its subject: "can you please sum up the day?".
fn is_addressee(words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let mut behind = words[at + 1..].iter().skip_while(|word| word.tag == Tag::Adverb || word.has_text("please"));
    before.is_some_and(|word| word.tag == Tag::Modal) && behind.next().is_some_and(|word| is_request_verb(&word.text))
}

/// Returns whether a time phrase describes a thing and not the event in question: "the cup seen at 10:15".
fn time_describes_thing(text: &str, phrase: &TimePhrase) -> bool {
    let before = text.get(..phrase.range.start).unwrap_or_default();
    let mut words = before.split_whitespace().rev();
    let last = words.next().unwrap_or_default();
    let last = if matches!(last, "at" | "on" | "in" | "around") { words.next().unwrap_or_default() } else { last };
    let subject = words.next().unwrap_or_default();
    matches!(last, "seen" | "shown" | "visible" | "heard" | "observed" | "noticed" | "spotted" | "mentioned")
        && !matches!(subject, "was" | "were" | "is" | "are" | "be" | "been" | "last" | "first" | "being")
}

/// Returns whether a question asks for the profession of a named person.
pub(super) fn asks_profession(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let profession = |noun: &NounPhrase| PROFESSION_NOUNS.contains(&noun.head.as_str());
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

/// Returns whether a question asks who was absent: "who was missing at lunch?", "who was not at the table?".
pub(super) fn asks_absent(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let Some(verb) = &clause.verb else { return false };
    let there = verb.lemma == "be" && verb.auxiliary_only || matches!(verb.lemma.as_str(), "sit" | "attend" | "come");
    let not_there = verb.negated && there && !clause.adjuncts.is_empty();
    let misses = verb.lemma == "miss" && verb.progressive && !verb.negated;
    let absent = clause.complements.iter().any(|(word, _)| matches!(word.as_str(), "missing" | "absent"));
    asked.ask == AnswerKind::Person && asked.subject_is_asked && (not_there || misses || absent)
}

/// Returns the intersection of two spans.
pub(super) fn intersection(a: TimeSpan, b: TimeSpan) -> Option<TimeSpan> {
    a.overlaps(b).then(|| TimeSpan { start: a.start.max(b.start), end: a.end.min(b.end) })
}

/// Returns the noun phrases of the asking clause and of the other clauses of its sentence, the main one first.
fn noun_phrases_of(asked: &ParsedQuestion) -> Vec<NounPhrase> {
    let mut found: Vec<NounPhrase> = Vec::new();
    let mut add = |noun: &NounPhrase| {
        for noun in noun.coordinated() {
            let general = noun.is_pronoun()
                || matches!(
                    noun.head.as_str(),
                    "participant" | "person" | "people" | "thing" | "object" | "item" | "time" | "one"
                );
            let apart =
                [&asked.addressee, &asked.report].into_iter().flatten().any(|part| part.contains(&noun.range.start));
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
