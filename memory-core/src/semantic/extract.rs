//! Extracts claims from events, with rules for English.
//!
//! The rules read simple statements: a subject, a verb of the lexicon, an object, a place. Everything else is left to search.
//! Questions, wishes, plans and commands are no facts. `docs/decisions.md` says what they are measured on.

mod deeds;

use super::claim::{Attribute, Claim, Conclusion, Stance};
use super::context::{Mention, MentionContext};
use super::lexicon::{Act, SHADES, act, is_colour, state_group};
use super::text::{ARTICLES, Noun, OWNERS, PLACE_WORDS, SentenceWord, noun_words, sentences, tokens};
use crate::AnchorId;
use crate::index::stem;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::ports::Statement;
use crate::{Event, EventId, Kind, Origin, Value};

/// Maximum length of a value, in characters.
const MAX_VALUE_CHARS: usize = 160;
/// Maximum number of conclusions from one event.
const MAX_CONCLUSIONS: usize = 32;
/// Attributes that say how an event was told, not how the world is.
const REPORTING_ATTRIBUTES: &[&str] =
    &["session", "task", "place", "objects", "counts", "signal", "duration_s", "confidence"];
/// Words that, before the verb, make a sentence hypothetical: it states no fact.
const HYPOTHETICAL_WORDS: &[&str] = &[
    "will", "would", "should", "could", "might", "may", "can", "must", "if", "maybe", "perhaps", "probably", "unless",
    "let", "lets", "please", "want", "wants", "wanted", "hope", "hopes", "wish", "plan", "plans", "need", "needs",
    "going", "gonna", "think", "thinks", "guess", "suppose", "who", "what", "where", "when", "why", "how", "which",
    "would", "shall", "imagine", "pretend", "almost", "nearly", "try", "tries", "tried", "supposed", "rather",
];
const FILLERS: &[&str] = &[
    "now",
    "still",
    "currently",
    "really",
    "very",
    "always",
    "back",
    "also",
    "already",
    "just",
    "probably",
    "again",
    "finally",
    "both",
    "all",
    "quite",
    "so",
    "usually",
    "often",
    "once",
    "recently",
    "actually",
    "even",
    "too",
];
/// Conjunctions that begin a new clause.
const CLAUSE_CONJUNCTIONS: &[&str] = &["and", "but", "because", "so", "while", "then", "although", "though", "whereas"];

/// Reads what an event says and remembers in `context` whom and what it named.
///
/// `heard` is who speaks, by the voice, where the event does not name the speaker.
pub(crate) fn conclusions(event: &Event, heard: Option<AnchorId>, context: &mut MentionContext) -> Vec<Conclusion> {
    let derived = event.attributes.get("derived").is_some_and(|flag| *flag == Value::Bool(true));
    if derived || !is_read(event.origin, event.kind) {
        return Vec::new();
    }
    let named = event.entity.as_deref().and_then(Noun::named);
    let speaker = named.or_else(|| heard.filter(|_| event.kind == Kind::Text).map(Noun::heard));
    if let Some(speaker) = &speaker {
        // First, so that "she" in an answer is whom the event speaks of before it is who spoke.
        let person = !matches!(event.kind, Kind::Object | Kind::State);
        let (at, noun) = (event.span.start.as_micros(), speaker.clone());
        context.mention(&event.source, Mention { event: event.id, at, noun, person });
    }
    let mut reading = ClauseReading { event, speaker: speaker.clone(), context, found: Vec::new() };
    reading.read_attributes();
    let text = event.text.as_str();
    let spoken = matches!(event.kind, Kind::Text);
    for sentence in sentences(text) {
        if !sentence.asks {
            reading.read_sentence(&sentence.tokens, spoken);
        }
    }
    let mut found = reading.found;
    found.truncate(MAX_CONCLUSIONS);
    found
}

/// Whether events of this kind are read for facts. What was only sensed tells none.
pub(crate) fn is_read(origin: Origin, kind: Kind) -> bool {
    kind != Kind::Sound && (origin == Origin::Told || matches!(kind, Kind::Text | Kind::Caption))
}

/// Turns a statement that a language model read from an event into a conclusion.
pub(crate) fn stated(event: &Event, statement: &Statement) -> Option<Conclusion> {
    let attribute = match statement.attribute.trim().to_lowercase().as_str() {
        "" => return None,
        "place" | "location" => Attribute::Place,
        "colour" | "color" => Attribute::Colour,
        other => Attribute::Named(stems(&shortened(other)).into()),
    };
    let value = shortened(statement.value.trim());
    let value = if attribute == Attribute::Place { place_in_words(&value) } else { value };
    if value.is_empty() {
        return None;
    }
    Some(Conclusion {
        subject: Noun::named(&statement.subject)?,
        attribute,
        claim: Claim {
            from: event.span.start.as_micros(),
            event: event.id,
            until: None,
            context: None,
            stance: if statement.holds { Stance::Affirms } else { Stance::Denies },
            value: value.into(),
            place: None,
        },
    })
}

/// Truncates a value or the name of an attribute.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_VALUE_CHARS).collect()
}

struct ClauseReading<'a> {
    event: &'a Event,
    /// Speaker or actor; of a state, its subject.
    speaker: Option<Noun>,
    context: &'a mut MentionContext,
    found: Vec<Conclusion>,
}

/// A subject, as far as it is known, and the event that tells who it is.
#[derive(Clone)]
struct Named {
    noun: Noun,
    told_by: Option<EventId>,
}

impl ClauseReading<'_> {
    fn conclude(&mut self, subject: &Named, attribute: Attribute, stance: Stance, value: &str, place: Option<&str>) {
        let until = (self.event.span.end > self.event.span.start).then(|| self.event.span.end.as_micros());
        // Only a told state says how long it holds; the end of speech is not the end of what was said.
        let until = until.filter(|_| self.event.kind == Kind::State);
        self.found.push(Conclusion {
            subject: subject.noun.clone(),
            attribute,
            claim: Claim {
                from: self.event.span.start.as_micros(),
                event: self.event.id,
                until,
                context: subject.told_by,
                stance,
                value: shortened(value).into(),
                place: place.map(|place| shortened(place).into()),
            },
        });
    }

    /// Reads the attributes of a told observation as facts about its entity.
    fn read_attributes(&mut self) {
        let event = self.event;
        let thing = || (event.kind == Kind::Object).then(|| short_noun(&event.text)).flatten();
        let Some(noun) = self.speaker.clone().or_else(thing) else { return };
        let subject = Named { noun, told_by: None };
        if let Some(place) = event.attributes.get("place").and_then(Value::as_text) {
            self.conclude(&subject, Attribute::Place, Stance::Affirms, &place_in_words(place), None);
        }
        if event.kind != Kind::State && event.kind != Kind::Object && event.kind != Kind::Entity {
            return;
        }
        for (name, value) in &event.attributes {
            if REPORTING_ATTRIBUTES.contains(&name.as_str()) {
                continue;
            }
            let Some(value) = scalar(value) else { continue };
            let attribute = match name.as_str() {
                "color" | "colour" => Attribute::Colour,
                "location" | "position" => Attribute::Place,
                _ => Attribute::Named(stems(&shortened(name)).into()),
            };
            let value = if attribute == Attribute::Place { place_in_words(&value) } else { value };
            self.conclude(&subject, attribute, Stance::Affirms, &value, None);
        }
    }

    /// Reads a sentence clause by clause; a clause without a subject goes on with the one before it.
    fn read_sentence(&mut self, tokens: &[SentenceWord], spoken: bool) {
        let mut from = 0;
        // What is done without a subject is done by the entity; in speech it is a command.
        let mut subject = if spoken { None } else { self.speaker.clone().map(|noun| Named { noun, told_by: None }) };
        while from < tokens.len() {
            let joint = |at: usize| at > from && (tokens[at].is_one_of(CLAUSE_CONJUNCTIONS) || tokens[at].pause);
            let end = (from + 1..tokens.len()).find(|at| joint(*at)).unwrap_or(tokens.len());
            let clause = &tokens[from..end];
            // The month of May is no modal verb.
            let unreal = |(at, token): (usize, &SentenceWord)| {
                token.is_one_of(HYPOTHETICAL_WORDS) && (at == 0 || !token.is_capitalised())
            };
            let unreal = clause.iter().take(8).enumerate().any(unreal);
            if unreal {
                // "If it rains, the door is open": what follows is no fact either.
                return;
            }
            subject = self.read_clause(clause, subject.as_ref()).or(subject);
            from = end;
            while tokens.get(from).is_some_and(|token| token.is_one_of(CLAUSE_CONJUNCTIONS)) {
                from += 1;
            }
        }
    }

    /// Reads a clause and returns its subject.
    fn read_clause(&mut self, clause: &[SentenceWord], before: Option<&Named>) -> Option<Named> {
        let start = clause.iter().position(|token| !token.is_one_of(FILLERS) && !token.is_one_of(GREETINGS))?;
        let clause = &clause[start..];
        if clause.first()?.is("there") && clause.get(1).is_some_and(is_copula) {
            return self.read_existential(clause);
        }
        for verb in 0..clause.len().min(8) {
            let token = &clause[verb];
            let being = is_copula(token) || verb > 0 && clause[verb - 1].apostrophe_s && starts_complement(token);
            let doing = verb_of(token);
            if !being && doing.is_none() {
                continue;
            }
            let contracted = being && !is_copula(token);
            let subject = if verb == 0 { before.cloned() } else { self.read_subject(&clause[..verb], contracted) };
            let Some(subject) = subject else { continue };
            let rest = &clause[if contracted { verb } else { verb + 1 }..];
            let known = self.found.len();
            if being {
                self.read_copula(&subject, rest);
            } else if let Some((verb, act)) = doing {
                self.read_action(&subject, &verb, act, token, rest);
            }
            if self.found.len() > known || being {
                let mention = Mention {
                    event: self.event.id,
                    at: self.event.span.start.as_micros(),
                    person: subject.noun.name,
                    noun: subject.noun.clone(),
                };
                if subject.told_by.is_none() && self.speaker.as_ref() != Some(&subject.noun) {
                    self.context.mention(&self.event.source, mention);
                }
                return Some(subject);
            }
        }
        None
    }

    /// "There is a cup on the table."
    fn read_existential(&mut self, clause: &[SentenceWord]) -> Option<Named> {
        let negated = clause.get(2).is_some_and(|token| token.is_one_of(&["no", "not"]));
        let (words, end) = noun_words(clause, if negated { 3 } else { 2 });
        let noun = Noun::from_words(&words, None)?;
        let (place, _) = self.read_place(&clause[end..])?;
        let subject = Named { noun, told_by: None };
        let stance = if negated { Stance::Denies } else { Stance::Affirms };
        self.conclude(&subject, Attribute::Place, stance, &place, None);
        Some(subject)
    }

    /// Reads the subject from the words before a verb. All of them must belong to it.
    fn read_subject(&mut self, words: &[SentenceWord], contracted: bool) -> Option<Named> {
        let mut words = words;
        while words.last().is_some_and(|token| token.is_one_of(FILLERS) || token.is_one_of(&["has", "have", "had"])) {
            words = &words[..words.len() - 1];
        }
        let (named, end) = self.read_noun(words, 0, contracted)?;
        (end == words.len()).then_some(named)
    }

    /// The person or thing that begins at `from`, and where its words end.
    fn read_noun(&mut self, tokens: &[SentenceWord], from: usize, contracted: bool) -> Option<(Named, usize)> {
        let token = tokens.get(from)?;
        let speaker = self.speaker.as_ref();
        if token.is_one_of(&["i", "me"]) {
            return Some((Named { noun: speaker?.clone(), told_by: None }, from + 1));
        }
        let owner = if token.is("my") {
            speaker.map(|noun| Named { noun: noun.clone(), told_by: None })
        } else {
            let resolved = self.context.resolve(&token.lower, self.event, speaker);
            resolved.map(|found| Named { noun: found.noun.clone(), told_by: Some(found.event) })
        };
        let owns = token.is_one_of(OWNERS) && !(token.is("her") && tokens.len() == from + 1);
        if !owns && let Some(named) = owner {
            return Some((named, from + 1));
        }
        let (words, end) = noun_words(tokens, from);
        let mut noun = Noun::from_words(&words, owner.as_ref().filter(|_| owns).map(|owner| &owner.noun))?;
        if contracted {
            noun.shown = noun.shown.trim_end_matches("'s").to_owned();
        }
        // An article before it, and it is no name.
        noun.name &= !token.is_one_of(ARTICLES) && !token.is_one_of(OWNERS);
        Some((Named { noun, told_by: owner.filter(|_| owns).and_then(|owner| owner.told_by) }, end))
    }

    /// A phrase that says where, as it is shown, and where it ends.
    fn read_place(&mut self, tokens: &[SentenceWord]) -> Option<(String, usize)> {
        let mut at = 0;
        let mut shown = String::new();
        while let Some(token) = tokens.get(at) {
            if !token.is_one_of(PLACE_WORDS) || at > 0 && token.pause {
                break;
            }
            let begin = at;
            let mut words = vec![token.lower.as_str()];
            at += 1;
            while tokens.get(at).is_some_and(|token| token.is_one_of(&["to", "of", "front", "top", "left", "right"])) {
                words.push(tokens[at].lower.as_str());
                at += 1;
            }
            if token.is_one_of(&["upstairs", "downstairs"]) {
                push_words(&mut shown, words.into_iter());
                continue;
            }
            let article = tokens.get(at).filter(|token| token.is_one_of(ARTICLES) || token.is_one_of(OWNERS));
            let Some((named, end)) = self.read_noun(tokens, at, false) else {
                at = begin;
                break;
            };
            push_words(&mut shown, words.into_iter());
            if let Some(article) = article.filter(|article| !article.is_one_of(OWNERS)) {
                push_words(&mut shown, std::iter::once(article.lower.as_str()));
            }
            push_words(&mut shown, std::iter::once(named.noun.shown.as_str()));
            at = end;
            // "In the chest of drawers."
            if tokens.get(at).is_some_and(|token| token.is("of") && !token.pause)
                && let Some((of, end)) = self.read_noun(tokens, at + 1, false)
            {
                let article = tokens[at + 1].is_one_of(ARTICLES).then_some(tokens[at + 1].lower.as_str());
                push_words(&mut shown, std::iter::once("of").chain(article).chain([of.noun.shown.as_str()]));
                at = end;
            }
        }
        (!shown.is_empty()).then_some((shown, at))
    }

    /// Reads what follows "is".
    fn read_copula(&mut self, subject: &Named, rest: &[SentenceWord]) {
        let mut at = 0;
        let mut stance = Stance::Affirms;
        while let Some(token) = rest.get(at) {
            if token.is("no") && rest.get(at + 1).is_some_and(|next| next.is("longer")) {
                stance = Stance::Ends;
                at += 1;
            } else if token.is_one_of(&["not", "never"]) {
                stance = Stance::Denies;
            } else if !token.is_one_of(FILLERS) {
                break;
            }
            at += 1;
        }
        let over = rest.iter().any(|token| token.is("anymore"))
            || rest.windows(2).any(|pair| pair[0].is("any") && pair[1].is_one_of(&["more", "longer"]));
        if over && stance == Stance::Denies {
            stance = Stance::Ends;
        }
        let rest = &rest[at..];
        let Some(first) = rest.first() else { return };
        let lower = first.lower.as_str();
        let ends = |at: usize| {
            rest.get(at)
                .is_none_or(|next| !next.lower.chars().all(char::is_alphabetic) || next.is_one_of(COMPLEMENT_ENDS))
        };
        if rest.len() == 1 && first.is_one_of(&["on", "off"]) {
            self.conclude(subject, Attribute::State("power".into()), stance, lower, None);
        } else if first.is_one_of(PLACE_WORDS) {
            if let Some((place, _)) = self.read_place(rest).filter(|(place, _)| place != "in view") {
                self.conclude(subject, Attribute::Place, stance, &place, None);
            }
        } else if is_colour(lower) && ends(1) {
            self.conclude(subject, Attribute::Colour, stance, lower, None);
        } else if SHADES.contains(&lower) && rest.get(1).is_some_and(|next| is_colour(&next.lower)) && ends(2) {
            let value = format!("{lower} {}", rest[1].lower);
            self.conclude(subject, Attribute::Colour, stance, &value, None);
        } else if let Some(group) = state_group(lower).filter(|_| ends(1)) {
            self.conclude(subject, Attribute::State(group.into()), stance, lower, None);
        } else if first.is_one_of(&["called", "named"]) {
            let value = shown(&rest[1..]);
            self.conclude(subject, Attribute::Named("name".into()), stance, &value, None);
        } else if let Some((verb, act)) = verb_of(first) {
            self.read_passive(subject, &verb, act, rest);
        } else {
            self.read_equation(subject, rest, stance);
        }
    }

    /// "Anna's birthday is the fourth of May", "Anna is a nurse".
    fn read_equation(&mut self, subject: &Named, rest: &[SentenceWord], stance: Stance) {
        let value = shown(rest);
        if value.is_empty() || rest.len() > 8 {
            return;
        }
        if let Some((owner, attribute)) = owned(&subject.noun) {
            let owner = Named { noun: owner, told_by: subject.told_by };
            self.conclude(&owner, Attribute::Named(attribute.into()), stance, &value, None);
        } else if subject.noun.name && rest[0].is_one_of(&["a", "an", "the"]) {
            let attribute = Attribute::Relation("be".into(), stems(&shortened(&value)).into());
            self.conclude(subject, attribute, stance, &value, None);
        }
    }
}

const GREETINGS: &[&str] =
    &["yes", "no", "ok", "okay", "oh", "well", "hey", "hi", "hello", "today", "yesterday", "right"];
/// Words that end a complement of one word.
const COMPLEMENT_ENDS: &[&str] =
    &["and", "but", "now", "again", "today", "because", "since", "already", "too", "anymore", "any", "for", "in", "on"];
const PARTICLES: &[&str] = &["up", "down", "away", "back", "out", "off", "on", "over"];
const DIRECTION_WORDS: &[&str] =
    &["to", "into", "in", "at", "inside", "outside", "upstairs", "downstairs", "on", "onto"];

fn is_copula(token: &SentenceWord) -> bool {
    token.is_one_of(&["is", "are", "was", "were", "am"])
}

/// Whether a word after `'s` shows that it means "is".
fn starts_complement(token: &SentenceWord) -> bool {
    token.is_one_of(PLACE_WORDS)
        || token.is_one_of(&["not", "now", "still", "a", "an", "the", "called"])
        || is_colour(&token.lower)
        || state_group(&token.lower).is_some()
}

/// The stem of a verb of the lexicon and what it does.
pub(super) fn verb_of(token: &SentenceWord) -> Option<(String, Act)> {
    let stem = stem(&token.lower);
    let act = act(&stem)?;
    let running = token.lower.ends_with("ing");
    (!running).then_some((stem, act))
}

/// "Anna's birthday" and "birthday of Anna": whose, and the stems of what.
pub(super) fn owned(noun: &Noun) -> Option<(Noun, String)> {
    let (owner, attribute) = noun.shown.split_once("'s ")?;
    Some((Noun::named(owner)?, stems(attribute)))
}

pub(super) fn stems(text: &str) -> String {
    let stems: Vec<String> = tokens(&text.replace('_', " "))
        .iter()
        .filter(|token| !token.is_one_of(ARTICLES))
        .map(|token| stem(&token.lower))
        .collect();
    stems.join(" ")
}

fn shown(tokens: &[SentenceWord]) -> String {
    let mut text = String::new();
    push_words(&mut text, tokens.iter().map(|token| token.text.as_str()));
    text
}

fn push_words<'a>(text: &mut String, words: impl Iterator<Item = &'a str>) {
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// Whether somebody is named, or a person by what they are: "the courier".
fn is_person(noun: &Noun) -> bool {
    noun.name || lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Person)
}

/// Returns the place of a thing after it was brought there.
fn settled(place: &str) -> String {
    for (towards, there) in [("into ", "in "), ("onto ", "on "), ("to the ", "in the "), ("to ", "at ")] {
        if let Some(rest) = place.strip_prefix(towards) {
            return format!("{there}{rest}");
        }
    }
    place.to_owned()
}

fn is_medicine(noun: &Noun) -> bool {
    let head = noun.shown.rsplit(' ').next().unwrap_or_default();
    ["medicine", "drug"].iter().any(|class| lexicon::is_a_as(head, class, PartOfSpeech::Noun).is_some())
}

/// The attribute `place` as a phrase.
fn place_in_words(place: &str) -> String {
    let place = place.trim();
    let first = tokens(place).into_iter().next();
    match first {
        Some(first) if first.is_one_of(PLACE_WORDS) => place.to_owned(),
        Some(first) if first.is_capitalised() || first.is_one_of(ARTICLES) => format!("in {place}"),
        _ => format!("in the {place}"),
    }
}

/// A text that only names a thing.
fn short_noun(text: &str) -> Option<Noun> {
    let tokens = tokens(text);
    let (words, end) = noun_words(&tokens, 0);
    (end == tokens.len()).then(|| Noun::from_words(&words, None)).flatten()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Bool(true) => Some("yes".into()),
        Value::Bool(false) => Some("no".into()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
