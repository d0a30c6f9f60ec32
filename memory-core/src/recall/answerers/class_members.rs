//! Answers with the members of a class: "which animals did you see?", "how many different animals were there?".

use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::{AnswerKind, Occurrence, is_request_verb};
use crate::language::english::syntax::{NounKind, NounPhrase, parse};
use crate::language::english::tag::Tag;
use crate::recall::answerers::ordinal::{SAYS_SEVERAL, is_perception_verb};
use crate::recall::answerers::parts::MAX_LIST_ITEMS;
use crate::recall::answerers::quote::{asks_for_name_or_number, join_list};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, ReadError};

/// Maximum number of events that are looked through, the latest ones.
const MAX_EVENTS: usize = 600;
/// Nouns without a plural that name several things.
const COLLECTIVES: &[&str] =
    &["food", "fruit", "furniture", "clothing", "equipment", "luggage", "jewellery", "machinery"];
/// Nouns for all that is heard.
const SOUND_NOUNS: &[&str] = &["sound", "noise"];
/// What likenesses of living things are made of.
const MATERIALS_OF_LIKENESSES: &[&str] = &["metal", "alloy", "rock", "ceramic", "plastic", "glass"];
/// Adjectives of likenesses of living things.
const LIKENESSES: &[&str] = &["wooden", "toy", "plush", "stuffed", "carved", "painted", "stone"];

/// The name of a member of a class, how often it was noticed, and an event.
type Member = (String, usize, RetrievedEvent);

/// Answers with all members of a class in the time of the question, if it names nothing else: "which animals did you
/// see?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(class) = asked_class(question) else { return Ok(None) };
    // What narrows the class ("which kitchen sound") is not met by its members, also where no event names it.
    let narrows = |lemma: &String| {
        let several = SAYS_SEVERAL.contains(&lemma.as_str());
        class.modifiers.contains(lemma) && !several || class.of.as_ref().is_some_and(|of| of.head == *lemma)
    };
    let several = class.plural || question.ask() == AnswerKind::Count || COLLECTIVES.contains(&class.head.as_str());
    let of_all = matches!(question.ask(), AnswerKind::Thing | AnswerKind::Count);
    let all = several && of_all && asks_perception_only(question);
    let class = &class.head;
    let alone = question.content.items.iter().all(|item| {
        let unknown = item.documents == 0 && !narrows(&item.lemma);
        item.lemma == *class || item.light || unknown || item.tag == Tag::Verb
    });
    let one_of_order = matches!(question.asked.occurrence, Some(Occurrence::First | Occurrence::Last));
    if !alone || one_of_order || question.asked.cue.is_some() {
        return Ok(None);
    }
    if all && SOUND_NOUNS.contains(&class.as_str()) {
        return sounds_heard(pool);
    }
    let (mut items, nearest) = members(pool, class)?;
    // Asked for one ("which animal walked by?"), the one that is nearest in meaning comes first. Asked for all, the most
    // frequent.
    let plural = question.asked.class.as_ref().is_none_or(|class| class.plural);
    let near = |found: &RetrievedEvent| {
        let cosine = pool.embedding.as_ref().and_then(|vector| pool.cosine(vector, found.id()));
        if plural { 0.0 } else { cosine.unwrap_or(0.0) }
    };
    items.sort_by(|a, b| near(&b.2).total_cmp(&near(&a.2)).then(b.1.cmp(&a.1)).then_with(|| a.0.cmp(&b.0)));
    if items.is_empty() {
        return Ok(None);
    }
    let count = items.len();
    items.truncate(MAX_LIST_ITEMS);
    let names: Vec<String> = items.iter().map(|(name, ..)| name.clone()).collect();
    let list = join_list(&names);
    let (text, value) = match question.ask() {
        AnswerKind::Truth => (format!("Yes: {list}"), CandidateValue::List(names)),
        AnswerKind::Count => {
            let more = if count > MAX_LIST_ITEMS { ", …" } else { "" };
            #[expect(clippy::cast_precision_loss, reason = "a count of words")]
            let number = CandidateValue::Number(count as f64, String::new());
            (format!("{count}: {list}{more}"), number)
        }
        _ => (list, CandidateValue::List(names)),
    };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value,
        signals: Signals {
            coverage: 1.0,
            margin: if all { 1.0 } else { 0.0 },
            fits: 1.0,
            // The nearest class counts: a drink is nearer to "drink" than to "thing".
            thing: 1.0 / f32::from(nearest),
            known: question.content.known_share(),
            ..Signals::default()
        },
        evidence: items.into_iter().map(|(.., found)| found).collect(),
        confidence: 0.0,
        // No event by itself tells all of them.
        computed: all,
        reason: format!("everything of the class {class}"),
    }))
}

/// Returns the class whose members answer a question.
fn asked_class<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    // A name is no class: "what is he called?".
    if asks_for_name_or_number(question) {
        return None;
    }
    let class = question.asked.class.as_ref();
    match question.ask() {
        AnswerKind::Thing => class.filter(|class| class.kind == NounKind::Common),
        AnswerKind::Count => class.filter(|_| asks_perception_only(question)).and_then(counted_kinds),
        AnswerKind::Truth => {
            question.named.first().filter(|noun| noun.determiner.as_deref() == Some("any") || noun.plural)
        }
        _ => None,
    }
}

/// Returns what is of a class, each with how often it was noticed and the latest event that tells of it; and how many
/// steps the nearest is below the class.
fn members(pool: &EventPool<'_>, class: &str) -> Result<(Vec<Member>, u8), ReadError> {
    let question = pool.question;
    let living = lexicon::is_a_as(class, "organism", PartOfSpeech::Noun).is_some();
    let kinds = vec![Kind::Caption, Kind::Object, Kind::Sound, Kind::Entity, Kind::Action, Kind::State];
    let events =
        pool.events_in_time_order(question.bound(), question.sense, kinds, true, MAX_EVENTS, &question.content)?;
    let mut items: Vec<Member> = Vec::new();
    let mut nearest = u8::MAX;
    for found in events {
        for (lemma, tag) in &found.reading.lemmas[..found.reading.own_words.min(found.reading.lemmas.len())] {
            let steps = lexicon::is_a_as(lemma, class, PartOfSpeech::Noun).filter(|steps| *steps > 0);
            let steps = steps.filter(|_| *tag == Tag::Noun && lexicon::is_kind_of(lemma, class));
            let steps = steps.filter(|_| !occurs_only_as_modifier(lemma, &found.reading.event.text));
            if let Some(steps) = steps.filter(|_| !(living && is_likeness(lemma, &found.reading))) {
                nearest = nearest.min(steps);
                match items.iter_mut().find(|(known, ..)| known == lemma) {
                    Some((_, count, _)) => *count += 1,
                    None => items.push((lemma.clone(), 1, found.clone())),
                }
            }
        }
    }
    Ok((items, nearest))
}

/// Returns the class whose kinds are counted: "different animals", "kinds of food". How many of each there are is
/// another question.
fn counted_kinds(class: &NounPhrase) -> Option<&NounPhrase> {
    if matches!(class.head.as_str(), "kind" | "sort" | "type") {
        return class.of.as_deref().filter(|of| of.kind == NounKind::Common);
    }
    // Every sound is another one: how often the same was heard is asked with its name.
    let different = SOUND_NOUNS.contains(&class.head.as_str())
        || class.modifiers.iter().any(|modifier| SAYS_SEVERAL.contains(&modifier.as_str()));
    (different && class.kind == NounKind::Common).then_some(class)
}

/// Returns the sounds that were heard, each of them once.
fn sounds_heard(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut events =
        pool.events_in_time_order(question.bound(), None, vec![Kind::Sound], true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let mut sounds: Vec<(String, RetrievedEvent)> = Vec::new();
    // Silence and noise that nobody noticed are no event.
    for found in events.into_iter().filter(|found| !found.reading.event.attributes.contains_key("signal")) {
        let sound = found.reading.event.text.trim_end_matches('.').to_owned();
        if !sounds.iter().any(|(known, _)| known.eq_ignore_ascii_case(&sound)) {
            sounds.push((sound, found));
        }
    }
    let count = sounds.len();
    sounds.truncate(MAX_LIST_ITEMS);
    if sounds.is_empty() {
        return Ok(None);
    }
    let (sounds, evidence): (Vec<String>, Vec<RetrievedEvent>) = sounds.into_iter().unzip();
    let more = if count > MAX_LIST_ITEMS { "; …" } else { "" };
    let counted = if question.ask() == AnswerKind::Count { format!("{count}: ") } else { String::new() };
    let text = format!("{counted}{}{more}", sounds.join("; "));
    let known = question.content.known_share();
    let reason = "everything of the class sound".to_owned();
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(sounds), evidence, known, reason)))
}

/// Returns whether a question asks for no more than what was perceived or was there: "which animals did you come
/// across?", "list the vehicles", but not "which animals barked?".
pub(super) fn asks_perception_only(question: &Question<'_>) -> bool {
    let words = &question.asked.words;
    let mut verbs = words.iter().enumerate().filter(|(_, word)| word.tag == Tag::Verb);
    // What somebody else had or saw is told by single events.
    let subject = question.asked.clause.subject.as_ref();
    let another = subject.is_some_and(|who| matches!(who.head.as_str(), "i" | "he" | "she" | "it" | "they"));
    !question.asked.negated
        && !another
        && verbs.all(|(at, verb)| {
            let across = words.get(at + 1).is_some_and(|next| next.has_text("across"));
            is_perception_verb(&verb.lemma) || is_request_verb(&verb.text) || verb.lemma == "come" && across
        })
}

/// Returns whether a living thing is one of metal, stone or the like in a text: "a bronze lion".
fn is_likeness(lemma: &str, reading: &ParsedEvent) -> bool {
    let is_material = |modifier: &String| {
        let is_a = |class: &&str| modifier == class || lexicon::is_a_as(modifier, class, PartOfSpeech::Noun).is_some();
        MATERIALS_OF_LIKENESSES.iter().any(is_a) || LIKENESSES.contains(&modifier.as_str())
    };
    let mut own = reading.clauses().flat_map(|clause| clause.nouns()).filter(|noun| noun.head == lemma).peekable();
    own.peek().is_some() && own.all(|noun| noun.modifiers.iter().any(is_material))
}

/// Returns whether a noun only modifies other nouns in a text: there is no wine in a "wine rack".
fn occurs_only_as_modifier(lemma: &str, text: &str) -> bool {
    let (words, _) = parse(text, &[]);
    let mut own = (0..words.len()).filter(|at| words[*at].lemma == lemma).peekable();
    let behind = |at: usize| words.get(at + 1).filter(|next| next.range.start <= words[at].range.end + 1);
    let modifies = |at: usize| behind(at).is_some_and(|next| next.tag == Tag::Noun && next.lemma != lemma);
    own.peek().is_some() && own.all(modifies)
}
