//! Answers with the members of a class: "which animals did you see?".

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounKind, parse};
use crate::language::english::tag::Tag;
use crate::recall::answerers::parts::MAX_LIST_ITEMS;
use crate::recall::answerers::places::capitalised;
use crate::recall::answerers::quote::{asks_for_name_or_number, join_list};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::{Kind, ReadError};

/// Answers with all members of a class in the time of the question, if it names nothing else: "which animals did you
/// see?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    // A name is no class: "what is he called?".
    if asks_for_name_or_number(question) {
        return Ok(None);
    }
    let class = match (question.ask(), &question.asked.class) {
        (AnswerKind::Thing, Some(class)) if class.kind == NounKind::Common => class,
        (AnswerKind::Truth, _) => match question.named.first() {
            Some(noun) if noun.determiner.as_deref() == Some("any") || noun.plural => noun,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    // What narrows the class ("which kitchen sound") is not met by its members, also where no event names it.
    let narrows =
        |lemma: &String| class.modifiers.contains(lemma) || class.of.as_ref().is_some_and(|of| of.head == *lemma);
    let class = &class.head;
    let alone = question.content.items.iter().all(|item| {
        let unknown = item.documents == 0 && !narrows(&item.lemma);
        item.lemma == *class || item.light || unknown || item.tag == Tag::Verb
    });
    if !alone || question.asked.cue.is_some() {
        return Ok(None);
    }
    let kinds = vec![Kind::Caption, Kind::Object, Kind::Sound, Kind::Entity, Kind::Action, Kind::State];
    let events = pool.events_in_time_order(question.bound(), question.sense, kinds, true, 600, &question.content)?;
    let mut items: Vec<(String, usize, RetrievedEvent)> = Vec::new();
    let mut nearest = u8::MAX;
    for found in events {
        for (lemma, tag) in &found.reading.lemmas[..found.reading.own_words.min(found.reading.lemmas.len())] {
            let steps = lexicon::is_a_as(lemma, class, PartOfSpeech::Noun).filter(|steps| *steps > 0);
            let steps = steps.filter(|_| *tag == Tag::Noun && lexicon::is_kind_of(lemma, class));
            if let Some(steps) = steps.filter(|_| !occurs_only_as_modifier(lemma, &found.reading.event.text)) {
                nearest = nearest.min(steps);
                match items.iter_mut().find(|(known, ..)| known == lemma) {
                    Some((_, count, _)) => *count += 1,
                    None => items.push((lemma.clone(), 1, found.clone())),
                }
            }
        }
    }
    // Asked for one ("which animal walked by?"), the one that is nearest in meaning comes first. Asked for all, the most
    // frequent.
    let plural = question.asked.class.as_ref().is_none_or(|class| class.plural);
    let near = |found: &RetrievedEvent| {
        let cosine = pool.embedding.as_ref().and_then(|vector| pool.cosine(vector, found.id()));
        if plural { 0.0 } else { cosine.unwrap_or(0.0) }
    };
    items.sort_by(|a, b| near(&b.2).total_cmp(&near(&a.2)).then(b.1.cmp(&a.1)).then_with(|| a.0.cmp(&b.0)));
    items.truncate(MAX_LIST_ITEMS);
    if items.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = items.iter().map(|(name, ..)| name.clone()).collect();
    let yes = if question.ask() == AnswerKind::Truth { "Yes: " } else { "" };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&format!("{yes}{}", join_list(&names))),
        value: CandidateValue::List(names),
        signals: Signals {
            coverage: 1.0,
            fits: 1.0,
            // The nearest class counts: a drink is nearer to "drink" than to "thing".
            thing: 1.0 / f32::from(nearest),
            known: question.content.known_share(),
            ..Signals::default()
        },
        evidence: items.into_iter().map(|(.., found)| found).collect(),
        confidence: 0.0,
        computed: false,
        reason: format!("everything of the class {class}"),
    }))
}

/// Returns whether a noun only modifies other nouns in a text: there is no wine in a "wine rack".
fn occurs_only_as_modifier(lemma: &str, text: &str) -> bool {
    let (words, _) = parse(text, &[]);
    let mut own = (0..words.len()).filter(|at| words[*at].lemma == lemma).peekable();
    let behind = |at: usize| words.get(at + 1).filter(|next| next.range.start <= words[at].range.end + 1);
    let modifies = |at: usize| behind(at).is_some_and(|next| next.tag == Tag::Noun && next.lemma != lemma);
    own.peek().is_some() && own.all(modifies)
}
