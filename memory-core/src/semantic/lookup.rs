//! Questions that facts answer: where something is, who did something last, what colour or what else something has.

use super::claim::{Attribute, TopicKey};
use super::extract::{owned, stems, verb_of};
use super::fact::{self, Fact};
use super::facts::{FactTopic, Facts};
use super::lexicon::{Act, act, state_group};
use super::text::{ARTICLES, Noun, OWNERS, SentenceWord, noun_words, tokens};
use crate::index::stem;
use crate::{TimeSpan, Timestamp};

/// What a question asks about its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    Place,
    Colour,
    /// Whether it is in this state, of this group.
    State {
        group: &'static str,
        state: String,
    },
    /// An attribute, by its stems.
    Named(String),
    /// Object of a relation, by this verb.
    Relation(String),
    /// Who did this to it last.
    Who(String),
    /// When this was last done to it, and by whom if the question names somebody.
    When(String, Option<Noun>),
}

/// A question that facts may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FactQuestion {
    pub ask: Ask,
    pub subject: Noun,
    /// Whether it asks how things were.
    pub past: bool,
    /// Whether it asks what was before what is now.
    pub before: bool,
}

/// Words that may end a question without changing what it asks.
const IGNORED_ENDINGS: &[&str] = &[
    "now",
    "right",
    "currently",
    "last",
    "recently",
    "again",
    "please",
    "today",
    "at",
    "the",
    "moment",
    "time",
    "most",
    "before",
    "previously",
    "earlier",
    "then",
    "located",
    "kept",
    "stored",
    "seen",
    "these",
    "days",
    "for",
    "ever",
    "that",
    "put",
];
const BE_FORMS: &[&str] = &["is", "are", "was", "were"];
const PAST_AUXILIARIES: &[&str] = &["was", "were", "did", "had"];

impl FactQuestion {
    /// Reads a question without its time words; `None` if it is none that facts answer.
    pub fn of(question: &str) -> Option<Self> {
        let tokens = tokens(question);
        let past = tokens.iter().take(4).any(|token| token.is_one_of(PAST_AUXILIARIES));
        let before = tokens.iter().any(|token| token.is_one_of(&["before", "previously", "earlier"]));
        let (ask, subject) = Self::parse(&tokens)?;
        Some(Self { ask, subject, past, before })
    }

    fn parse(tokens: &[SentenceWord]) -> Option<(Ask, Noun)> {
        let first = tokens.first()?;
        let second = tokens.get(1);
        let being = |at: usize| tokens.get(at).is_some_and(|token| token.is_one_of(BE_FORMS));
        // "Where's the mug?"
        let rest = |at: usize| tokens.get(if first.apostrophe_s { 1 } else { at }..);
        let asks_being = first.apostrophe_s || being(1);
        match first.lower.as_str() {
            "where" if asks_being => Some((Ask::Place, whole(rest(2)?)?)),
            "where" if second?.is_one_of(&["did", "have", "has"]) => {
                let verb =
                    (3..tokens.len()).find(|at| verb_of(&tokens[*at]).is_some_and(|(_, act)| act == Act::Put))?;
                Some((Ask::Place, whole(&tokens[verb + 1..])?))
            }
            "where" if second?.is_one_of(&["can", "could"]) && tokens.get(3)?.is("find") => {
                Some((Ask::Place, whole(&tokens[4..])?))
            }
            "where" if second?.is("does") => {
                let (last, subject) = tokens[2..].split_last()?;
                let verb = stem(&last.lower);
                (act(&verb) == Some(Act::State)).then(|| Some((Ask::Named(verb), whole(subject)?)))?
            }
            "what" | "which" if second?.is_one_of(&["colour", "color"]) && being(2) => {
                Some((Ask::Colour, whole(&tokens[3..])?))
            }
            "what" if second?.is("does") => {
                let (last, subject) = tokens[2..].split_last()?;
                let verb = stem(&last.lower);
                (act(&verb) == Some(Act::Relation)).then(|| Some((Ask::Relation(verb), whole(subject)?)))?
            }
            "what" if asks_being => attribute(rest(2)?),
            "who" if asks_being => last_doer(rest(2)?),
            "who" => {
                let at = if second?.is("last") { 2 } else { 1 };
                let (verb, act) = verb_of(tokens.get(at)?)?;
                let particles = usize::from(tokens.get(at + 1)?.is_one_of(&["on", "off", "up", "down", "out"]));
                let handled = matches!(act, Act::Deed | Act::Put | Act::Take);
                handled.then(|| Some((Ask::Who(verb), whole(&tokens[at + 1 + particles..])?)))?
            }
            "when" if being(1) => {
                let verb = (3..tokens.len()).rev().find(|at| handles(&tokens[*at]).is_some())?;
                let end = if tokens[verb - 1].is("last") { verb - 1 } else { verb };
                let over = tokens[verb + 1..].iter().all(|token| token.is_one_of(IGNORED_ENDINGS));
                let last = end < verb || tokens[verb + 1..].iter().any(|token| token.is("last"));
                (over && last).then(|| Some((Ask::When(handles(&tokens[verb])?, None), whole(&tokens[2..end])?)))?
            }
            "when" if second?.is("did") && tokens.iter().any(|token| token.is("last")) => {
                let verb = (3..tokens.len()).find(|at| handles(&tokens[*at]).is_some())?;
                let end = if tokens[verb - 1].is("last") { verb - 1 } else { verb };
                let actor = whole(&tokens[2..end]);
                Some((Ask::When(handles(&tokens[verb])?, actor), whole(&tokens[verb + 1..])?))
            }
            "is" | "are" | "was" | "were" => {
                let (last, subject) = tokens[1..].split_last()?;
                let group = state_group(&last.lower)?;
                Some((Ask::State { group, state: last.lower.clone() }, whole(subject)?))
            }
            _ => None,
        }
    }
}

/// "The last to water the plants", after "who was".
fn last_doer(rest: &[SentenceWord]) -> Option<(Ask, Noun)> {
    let to = rest.iter().position(|token| token.is("to"))?;
    let last = rest[..to].iter().all(|token| token.is_one_of(&["the", "last", "one", "person"]));
    (last && to > 0).then(|| Some((Ask::Who(handles(rest.get(to + 1)?)?), whole(&rest[to + 2..])?)))?
}

/// "Anna's favourite colour", "the colour of the mug", after "what is".
fn attribute(rest: &[SentenceWord]) -> Option<(Ask, Noun)> {
    let rest = without_trailers(rest);
    if let Some(of) = rest.iter().position(|token| token.is("of")) {
        let (words, end) = noun_words(&rest[..of], 0);
        let name = Noun::from_words(&words, None).filter(|_| end == of)?;
        return Some((asks_for(&name.key), whole(&rest[of + 1..])?));
    }
    let noun = whole(rest)?;
    let (owner, attribute) = owned(&noun)?;
    Some((asks_for(&attribute), owner))
}

fn asks_for(attribute: &str) -> Ask {
    match attribute {
        "colour" | "color" => Ask::Colour,
        "place" | "locat" | "posit" | "whereabout" => Ask::Place,
        other => Ask::Named(other.to_owned()),
    }
}

/// The stem of a verb that does something to an object.
fn handles(token: &SentenceWord) -> Option<String> {
    let (verb, act) = verb_of(token)?;
    matches!(act, Act::Deed | Act::Put | Act::Take).then_some(verb)
}

fn without_trailers(mut tokens: &[SentenceWord]) -> &[SentenceWord] {
    while let [rest @ .., last] = tokens
        && last.is_one_of(IGNORED_ENDINGS)
    {
        tokens = rest;
    }
    tokens
}

/// The one noun that all the words make.
fn whole(tokens: &[SentenceWord]) -> Option<Noun> {
    let tokens = without_trailers(tokens);
    let mine = tokens.first()?.is_one_of(OWNERS);
    let (words, end) = noun_words(tokens, 0);
    let mut noun = Noun::from_words(&words, None).filter(|_| end == tokens.len())?;
    noun.name &= !mine && !tokens[0].is_one_of(ARTICLES);
    Some(noun)
}

/// Facts that answer a question, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FactsFound {
    pub facts: Vec<Fact>,
    /// Whether the facts are about just what was asked for, not about something less precisely named.
    pub precise: bool,
}

/// Time span within which one place is meant, not several.
const ONE_PLACE_SPAN: std::time::Duration = std::time::Duration::from_secs(6 * 3600);
/// Maximum number of subjects in one answer: "the mug" may be several mugs.
const MAX_SUBJECTS: usize = 3;

impl Facts {
    /// Returns the facts that answer `question` at `now`, within `bound` if it names a time. `called` gives other names of the
    /// subject.
    pub fn answer(
        &self,
        question: &FactQuestion,
        bound: Option<TimeSpan>,
        now: Timestamp,
        called: &[Noun],
    ) -> Option<FactsFound> {
        let (subjects, precise) = self.subjects(question, called);
        let mut facts: Vec<Fact> = Vec::new();
        for topics in subjects.into_iter().take(MAX_SUBJECTS) {
            let mut claims: Vec<_> = topics.iter().flat_map(|(_, topic)| topic.claims()).collect();
            claims.sort();
            let newest = topics.iter().max_by_key(|(_, topic)| topic.claims().last())?;
            let mut told = fact::facts(newest.1.shown(), &newest.0.attribute, claims.into_iter());
            told.retain(|fact| fact.since <= now);
            facts.extend(choose(question, told, bound, now));
        }
        facts.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.subject.cmp(&b.subject)));
        if matches!(question.ask, Ask::Who(_) | Ask::When(..)) {
            facts.truncate(1);
        }
        (!facts.is_empty()).then_some(FactsFound { facts, precise })
    }

    /// The topics that the question is about, one list per subject.
    fn subjects(&self, question: &FactQuestion, called: &[Noun]) -> (Vec<Vec<(&TopicKey, &FactTopic)>>, bool) {
        let mut wanted: Vec<&Noun> = vec![&question.subject];
        wanted.extend(called);
        let fits = |key: &TopicKey| match (&question.ask, &key.attribute) {
            (Ask::Place, Attribute::Place) | (Ask::Colour, Attribute::Colour) => true,
            (Ask::State { group, .. }, Attribute::State(own)) => **own == **group,
            (Ask::Named(name), Attribute::Named(own)) => **own == **name,
            (Ask::Relation(verb), Attribute::Relation(own, _)) => **own == **verb,
            (Ask::Who(verb) | Ask::When(verb, _), Attribute::Deed(own)) => **own == **verb,
            _ => false,
        };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut subjects: Vec<(String, Vec<(&TopicKey, &FactTopic)>)> = Vec::new();
        let mut vague: Vec<(&TopicKey, &FactTopic)> = Vec::new();
        let mut others = false;
        for noun in wanted {
            let asked = words(&noun.key);
            for (key, topic) in self.topics(&noun.head).filter(|(key, _)| fits(key)) {
                let own = words(&key.subject);
                if asked.iter().all(|word| own.contains(word)) {
                    // Names of one person are one subject, and so is one that holds several relations.
                    let subject = if called.is_empty() { key.subject.to_string() } else { String::new() };
                    match subjects.iter_mut().find(|(known, _)| *known == subject) {
                        Some((_, topics)) if !topics.iter().any(|(known, _)| *known == key) => {
                            topics.push((key, topic))
                        }
                        Some(_) => {}
                        None => subjects.push((subject, vec![(key, topic)])),
                    }
                } else if own == [noun.head.as_str()] {
                    vague.push((key, topic));
                } else {
                    others = true;
                }
            }
        }
        let relations = matches!(question.ask, Ask::Relation(_));
        // "The drill" after "my drill" is the same one, as long as there is no other.
        let bare = subjects.iter().position(|(subject, _)| *subject == question.subject.head);
        if let (Some(bare), 2) = (bare, subjects.len()) {
            let (_, topics) = subjects.remove(bare);
            subjects[0].1.extend(topics);
        }
        let mut lists: Vec<Vec<_>> = subjects.into_iter().map(|(_, topics)| topics).collect();
        if relations {
            // Several hold at a time: each is a list of its own.
            lists = lists.into_iter().flatten().map(|topic| vec![topic]).collect();
        }
        let precise = !lists.is_empty();
        match (lists.as_mut_slice(), others) {
            // "The mug" after "the blue mug" is the blue one, as long as there is no other.
            ([only], false) if !relations => only.extend(vague),
            ([], false) if !vague.is_empty() => lists.push(vague),
            _ => {}
        }
        (lists, precise)
    }
}

/// Selects the requested facts of one subject.
fn choose(question: &FactQuestion, mut told: Vec<Fact>, bound: Option<TimeSpan>, now: Timestamp) -> Vec<Fact> {
    if let Ask::When(_, Some(actor)) = &question.ask {
        told.retain(|fact| Noun::named(&fact.value).is_some_and(|who| who.covers(actor)));
    }
    if let Ask::Who(_) | Ask::When(..) = &question.ask {
        told.retain(|fact| bound.is_none_or(|bound| fact.held_within(bound.start, bound.end)));
        if matches!(question.ask, Ask::Who(_)) {
            told.retain(|fact| !fact.value.is_empty());
        }
        return told.into_iter().next_back().into_iter().collect();
    }
    if let Some(bound) = bound {
        told.retain(|fact| fact.held_within(bound.start, bound.end));
        let length = bound.end.since(bound.start);
        if length <= ONE_PLACE_SPAN {
            // "Ten minutes ago" is a moment, however precisely people tell it.
            let middle = bound.start.saturating_add(length / 2);
            let then = told.iter().rposition(|fact| fact.held_within(middle, middle)).or(told.len().checked_sub(1));
            return then.map(|at| told.swap_remove(at)).into_iter().collect();
        }
        return told.split_off(told.len().saturating_sub(2)).into_iter().rev().collect();
    }
    let holds = |fact: &Fact| fact.until.is_none_or(|until| until > now);
    if question.before {
        let current = told.iter().rposition(holds).unwrap_or(told.len());
        told.truncate(current);
        return told.pop().into_iter().collect();
    }
    match told.pop() {
        Some(fact) if holds(&fact) || question.past => vec![fact],
        _ => Vec::new(),
    }
}

/// Whether a told state is the one in the question: "closed" and "shut" are one.
pub(crate) fn same_state(told: &str, asked: &str) -> bool {
    let plain = |state: &str| {
        stems(match state {
            "shut" => "closed",
            "repaired" | "fixed" => "working",
            "faulty" | "defective" => "broken",
            other => other,
        })
    };
    plain(told) == plain(asked)
}
