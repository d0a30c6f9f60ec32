//! Determines the kind of answer of a question.

use std::ops::Range;

use super::{AnswerKind, ParsedQuestion, is_request_verb};
use crate::language::english::closed::{BE_FORMS, DO_FORMS, HAVE_FORMS, MODALS, PREPOSITIONS, WORK_NOUNS, is_one_of};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::states::CONDITION_NOUNS;
use crate::language::english::syntax::{Asking, Clause, NounKind, NounPhrase};
use crate::language::english::tag::{Tag, Word};

/// Words for the length of a report.
const REPORT_LENGTHS: &[&str] = &["short", "brief", "quick", "concise", "whole", "full", "complete"];

/// Returns the range of a requested report, by its length ("tell me the whole story", "a quick rundown of the week,
/// please") or its name ("an overview").
fn asked_report(asked: &ParsedQuestion) -> Option<Range<usize>> {
    // "Did she pay the whole bill?" asks for no report.
    let requests = asked.words.iter().any(|word| is_request_verb(&word.text));
    if asked.clause.inverted && asked.clause.asking.is_none() && !requests {
        return None;
    }
    let nouns = asked.clause.objects.iter().chain(&asked.clause.subject).flat_map(NounPhrase::coordinated);
    let is_a = |noun: &NounPhrase, class| lexicon::is_a_as(&noun.head, class, PartOfSpeech::Noun).is_some();
    let has_extent =
        |noun: &NounPhrase| noun.modifiers.iter().any(|modifier| REPORT_LENGTHS.contains(&modifier.as_str()));
    let mut nouns = nouns.filter(|noun| listed_class(noun).is_none());
    let wanted = nouns.find(|noun| {
        is_a(noun, "summary") || is_a(noun, "overview") || has_extent(noun) && is_a(noun, "communication")
    })?;
    let end = wanted.of.as_ref().map_or(wanted.range.end, |of| of.range.start);
    Some(wanted.range.start..end)
}

/// Puts what a report is to be about in the place of the report: the boiler in "the whole boiler story", and the paw in
/// "the whole story of the paw".
fn report_on_topic(asked: &mut ParsedQuestion) {
    let Some(report) = asked.report.clone() else { return };
    let clause = &mut asked.clause;
    let mut nouns = clause.objects.iter_mut().chain(&mut clause.subject);
    let Some(wanted) = nouns.find(|noun| noun.range.start == report.start) else { return };
    let is_time = |head: &str| lexicon::category(head, PartOfSpeech::Noun) == Some(Category::Time);
    if let Some(of) = wanted.of.take() {
        *wanted = *of;
        return;
    }
    let is_length = |word: &String| is_one_of(word, REPORT_LENGTHS);
    let mut topic: Vec<String> = wanted.modifiers.iter().filter(|word| !is_length(word)).cloned().collect();
    let head =
        topic.last().is_some_and(|head| lexicon::parts_of_speech(head).can_be(PartOfSpeech::Noun) && !is_time(head));
    let story = asked.words.iter().rfind(|word| word.range.end == wanted.range.end).map(|word| word.range.clone());
    if let (true, Some(story)) = (head, story) {
        let head = topic.pop().unwrap_or_default();
        *wanted = NounPhrase {
            range: wanted.range.start..story.start.saturating_sub(1),
            head,
            modifiers: topic,
            kind: NounKind::Common,
            plural: false,
            ..wanted.clone()
        };
        asked.report = Some(story);
    }
}

/// Returns whether the asking clause ascribes a quality: "what is new about it?", not "what is that new thing?".
fn ascribes_quality(asked: &ParsedQuestion, word: &str) -> bool {
    asked.clause.complements.iter().any(|(complement, _)| complement == word)
}

/// Returns whether the object of the verb is asked for: "which room did you clean?", not "which room does he live in?".
fn asks_object(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let asking = clause.asking.as_ref().is_some_and(|asking| asking.preposition.is_none() && asking.noun.is_some());
    let verb = clause.verb.as_ref().is_some_and(|verb| {
        let moves = matches!(verb.lemma.as_str(), "go" | "come" | "walk" | "run" | "drive" | "fly" | "move" | "travel");
        !verb.auxiliary_only && !verb.passive && !moves
    });
    let left = clause.complements.iter().any(|(word, _)| is_one_of(word, PREPOSITIONS));
    asking && verb && clause.subject.is_some() && clause.objects.is_empty() && !left
}

/// Returns whether a thing is asked for by what it is in or on: "which drawer is the tape in?".
fn asks_place_of_class(clause: &Clause, class: &str) -> bool {
    const POSITIONS: &[&str] = &["in", "inside", "on", "at", "under", "behind", "by"];
    const CLASSES: [&str; 8] =
        ["room", "area", "location", "structure", "container", "furniture", "support", "vehicle"];
    let stays = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" || verb.passive || verb.progressive);
    let position = clause.asking.as_ref().and_then(|asking| asking.preposition.as_deref());
    let mut positions = clause.complements.iter().map(|(word, _)| word.as_str()).chain(position);
    // "What state is it in?" asks for no place.
    stays
        && !is_one_of(class, CONDITION_NOUNS)
        && positions.any(|word| is_one_of(word, POSITIONS))
        && CLASSES.iter().any(|of| lexicon::is_a_as(class, of, PartOfSpeech::Noun).is_some())
}

/// Returns whether somebody is asked for the whereabouts of a certain thing: "have you seen my keys?". "Have you seen a
/// cat?" and "have you seen the cat on the sofa?" ask whether that happened.
fn asks_whereabouts(asked: &ParsedQuestion) -> bool {
    const ANYBODY: &[&str] = &["you", "anybody", "anyone", "somebody", "someone"];
    let clause = &asked.clause;
    let seen = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "see" && verb.perfect && !verb.negated);
    let anybody = clause.subject.as_ref().is_some_and(|subject| is_one_of(&subject.head, ANYBODY));
    let [thing] = clause.objects.as_slice() else { return false };
    let certain = thing.kind == NounKind::Name
        || thing.owner.is_some()
        || thing.determiner.as_deref().is_some_and(|word| !matches!(word, "a" | "an" | "any" | "some"));
    let alone = clause.adjuncts.is_empty() && clause.complements.iter().all(|(word, _)| word == "anywhere");
    let whole = asked.sentences.last().is_some_and(|sentence| sentence.clauses.len() == 1);
    seen && anybody && certain && alone && whole && asked.cue.is_none() && !thing.is_pronoun()
}

/// Returns whether the requested subject acts on a thing: an age that brought something is no number of years.
fn subject_acts(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let does = clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.passive);
    asked.subject_is_asked && does && !clause.objects.is_empty()
}

/// Returns whether a clause asks for what was cleaned.
fn asks_cleaned_object(clause: &Clause) -> bool {
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.passive && clause.objects.is_empty());
    verb.is_some_and(|verb| lexicon::is_a_as(&verb.lemma, "clean", PartOfSpeech::Verb).is_some())
        && clause.adjuncts.is_empty()
}

/// The words of a question in order.
struct QuestionWords(Vec<String>);

impl QuestionWords {
    fn of(asked: &ParsedQuestion) -> Self {
        Self(asked.words.iter().map(|word| word.text.clone()).collect())
    }

    /// Returns whether the words stand next to each other.
    fn has(&self, phrase: &[&str]) -> bool {
        self.0.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(word, own)| word == own))
    }

    /// Returns whether any of the words occurs.
    fn any(&self, list: &[&str]) -> bool {
        self.0.iter().any(|word| is_one_of(word, list))
    }

    fn at(&self, place: usize) -> &str {
        self.0.get(place).map_or("", String::as_str)
    }

    /// Returns whether the last word that is no mark is this one.
    fn end_in(&self, last: &str) -> bool {
        self.0.iter().rev().find(|word| word.starts_with(char::is_alphanumeric)).is_some_and(|word| word == last)
    }
}

/// Returns the kind of answer.
pub(super) fn answer_kind(asked: &mut ParsedQuestion) -> AnswerKind {
    let words = QuestionWords::of(asked);
    asked.report = asked_report(asked);
    report_on_topic(asked);
    if asks_summary(asked, &words) {
        return AnswerKind::Summary;
    }
    if asks_change(asked, &words) {
        return AnswerKind::Change;
    }
    let Some(asking) = asked.clause.asking.clone() else { return kind_without_question_word(asked, &words) };
    // "What does he do for a living?" asks what he is.
    if asking.word == "what" && words.has(&["for", "a", "living"]) {
        return AnswerKind::Thing;
    }
    let noun = asking.noun.as_ref().map(|noun| noun.head.as_str()).unwrap_or_default();
    let verb = asked.clause.verb.as_ref().map(|verb| verb.lemma.as_str()).unwrap_or_default();
    match asking.word.as_str() {
        "who" | "whom" if verb == "belong" => AnswerKind::Owner,
        "who" | "whom" | "whoever" => AnswerKind::Person,
        // "Whose turn is it to cook?" asks who cooks.
        "whose" if matches!(noun, "job" | "turn" | "task" | "chore" | "duty") && words.has(&["it", "to"]) => {
            asked.subject_is_asked = true;
            asked.habitual = true;
            asked.report = asked.class.take().map(|class| class.range);
            AnswerKind::Person
        }
        "whose" => AnswerKind::Owner,
        // "Where have you swept?" asks for the rooms that were.
        "where" if asks_cleaned_object(&asked.clause) => {
            asked.class = Some(NounPhrase { plural: true, ..NounPhrase::common_noun("room") });
            AnswerKind::Thing
        }
        "where" | "whereabouts" => AnswerKind::Place,
        "when" => AnswerKind::Time,
        "why" => AnswerKind::Reason,
        "how" => kind_of_how(&asked.clause, &asking, &words),
        _ => kind_of_what(asked, &asking, &words),
    }
}

fn asks_summary(asked: &ParsedQuestion, words: &QuestionWords) -> bool {
    let clause = &asked.clause;
    // "An overview of the animals" is a list.
    if clause.objects.iter().any(|object| listed_class(object).is_some()) {
        return false;
    }
    // What went on, and not a walk "that she went on".
    let what_went_on = ["what", "all", "else"].iter().any(|word| words.has(&[word, "went", "on"]));
    let goes_on = words.has(&["going", "on"]) || what_went_on;
    words.any(&["summarise", "summarize", "summary", "recap", "overview"])
        || words.has(&["sum", "up"])
        || words.has(&["in", "short"])
        || words.has(&["in", "brief"])
        || words.any(&["briefly"]) && words.any(&["tell", "say", "describe", "how"])
        || asked.report.is_some()
        || words.has(&["did", "i", "miss"])
        || words.has(&["have", "i", "missed"])
        || goes_on && clause.asking.is_some() && asked.cue.is_none()
        || asks_story(asked)
        || asks_news(words)
        || words.has(&["up", "to"]) && words.has(&["been"]) && clause.asking.is_some()
        || words.has(&["what", "happened"])
            // "What happened last?" asks for one thing.
            && !words.end_in("first")
            && !words.end_in("last")
            && asked.cue.is_none()
            && clause.objects.is_empty()
            && clause.adjuncts.is_empty()
}

/// Returns whether a question asks for whatever is new: "what's new?", "has anything changed?"
fn asks_news(words: &QuestionWords) -> bool {
    const NEWS: &[&str] =
        &["any", "anything", "are", "changed", "changes", "has", "is", "new", "news", "there", "what"];
    let mut all =
        words.0.iter().map(|word| word.trim_start_matches('\'')).filter(|word| word.starts_with(char::is_alphabetic));
    let mut told = all.clone().filter(|word| matches!(*word, "new" | "news" | "changed" | "changes"));
    told.next().is_some() && all.all(|word| word == "s" || is_one_of(word, NEWS))
}

/// Returns whether a question asks for all of something: "what happened with the hedgehog?", "tell me everything about
/// the boiler".
fn asks_story(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let about = |prepositions: &[&str]| {
        let named = |noun: &NounPhrase| !noun.is_pronoun();
        clause.adjuncts.iter().any(|adjunct| is_one_of(&adjunct.preposition, prepositions) && named(&adjunct.noun))
    };
    let happened = clause.asking.is_some() && clause.verb.as_ref().is_some_and(|verb| verb.lemma == "happen");
    let everything = || clause.objects.iter().any(|object| object.head == "everything");
    let nothing_else = || clause.objects.iter().all(NounPhrase::is_pronoun);
    let verb = |verbs: &[&str]| clause.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, verbs));
    // "What do you know about the boiler?"
    let knows = || clause.subject.as_ref().is_some_and(|who| who.head == "you") && verb(&["know", "remember"]);
    // What happened to a person is what was done to them last, and to a thing all that was.
    let of_thing = || clause.adjuncts.iter().all(|adjunct| adjunct.noun.kind == NounKind::Common);
    happened && asked.cue.is_none() && (about(&["with", "at"]) || about(&["to"]) && of_thing())
        || clause.asking.is_none() && everything() && about(&["about", "on", "of"])
        || clause.asking.is_none() && verb(&["tell"]) && nothing_else() && about(&["about"])
        || clause.asking.as_ref().is_some_and(|asking| asking.word == "what" && asking.noun.is_none())
            && knows()
            && about(&["about"])
}

fn asks_change(asked: &ParsedQuestion, words: &QuestionWords) -> bool {
    let clause = &asked.clause;
    if asked.subject_is_asked && clause.verb.as_ref().is_some_and(|verb| verb.lemma == "change") {
        return true;
    }
    let is_new = words.has(&["'s", "new"]) || words.has(&["is", "new"]) || words.has(&["are", "new"]);
    let changed = words.any(&["changed", "different", "changes"])
        && !words.has(&["how", "many", "different"])
        && !words.any(&["values", "by"]);
    let changes = changed
        || is_new && ascribes_quality(asked, "new")
        || words.has(&["become", "of"])
        || words.has(&["became", "of"]);
    let asks = clause
        .asking
        .as_ref()
        .map_or(clause.inverted || words.has(&["and", "how"]), |asking| matches!(asking.word.as_str(), "what" | "how"));
    changes && asks
}

/// Returns whether a question is no more than one time among several, and what happened then: "the last time she came?".
fn begins_with_time(words: &QuestionWords) -> bool {
    let article = usize::from(words.at(0) == "the");
    matches!(words.at(article), "last" | "first" | "latest")
        && words.at(article + 1) == "time"
        && !words.at(article + 2).is_empty()
}

/// Returns the kind of answer to a request, to a question that begins with a verb, or to a mere statement.
fn kind_without_question_word(asked: &mut ParsedQuestion, words: &QuestionWords) -> AnswerKind {
    let main: Vec<&Word> =
        asked.words.iter().filter(|word| word.range.start >= asked.main.start && word.tag != Tag::Mark).collect();
    let first = main.first().copied();
    if let Some(request) = request_verb(&main) {
        // "List the towns", "describe the pet": the object is what is asked for.
        let object = asked.clause.objects.iter().find(|object| !object.is_pronoun()).cloned();
        if let Some(class) = object.as_ref().and_then(listed_class) {
            asked.report = object.as_ref().map(|list| list.range.start..class.range.start);
            asked.class = Some(class.clone());
            return AnswerKind::Thing;
        }
        asked.class = object;
        let object = asked.class.as_ref().map_or("", |class| class.head.as_str());
        return match object {
            "colour" | "color" | "name" | "number" => AnswerKind::Thing,
            "step" => AnswerKind::Way,
            _ if request.has_text("describe") => AnswerKind::Description,
            _ => AnswerKind::Thing,
        };
    }
    // "The last time that it rained?"
    if begins_with_time(words) {
        return AnswerKind::Time;
    }
    let begins_with_verb = first.is_some_and(|word| {
        [BE_FORMS, HAVE_FORMS, MODALS].iter().any(|forms| is_one_of(&word.text, forms)) || word.lemma == "do"
    });
    match asked.clause.inverted || begins_with_verb || asks_behind_comma(&asked.words) {
        true if asked.alternatives.len() > 1 => AnswerKind::Thing,
        true if asks_whereabouts(asked) => AnswerKind::Place,
        true => AnswerKind::Truth,
        false => AnswerKind::Description,
    }
}

/// Returns whether a question of yes or no stands behind another clause: "if I push it up, will it stay there?".
fn asks_behind_comma(words: &[Word]) -> bool {
    words.windows(3).any(|three| {
        let [comma, auxiliary, subject] = three else { return false };
        let forms = [BE_FORMS, HAVE_FORMS, DO_FORMS, MODALS];
        comma.has_text(",")
            && forms.iter().any(|forms| is_one_of(&auxiliary.text, forms))
            && matches!(subject.tag, Tag::Pronoun | Tag::Determiner | Tag::Name | Tag::Owner)
    })
}

/// Returns the verb of a request: "describe the pet", "could you please describe the pet?"
fn request_verb<'w>(words: &[&'w Word]) -> Option<&'w Word> {
    let mut rest = words.iter().copied().peekable();
    if rest.next_if(|word| word.tag == Tag::Modal).is_some() {
        rest.next_if(|word| word.has_text("you"))?;
    }
    while rest.next_if(|word| word.tag == Tag::Adverb || word.has_text("please")).is_some() {}
    rest.next().filter(|word| is_request_verb(&word.text))
}

/// Returns the class of things that a list is wanted of: "a list of the animals", "a roundup of the vehicles".
fn listed_class(list: &NounPhrase) -> Option<&NounPhrase> {
    let is_a = |head, class| lexicon::is_a_as(head, class, PartOfSpeech::Noun).is_some();
    let lists = ["list", "summary", "overview"].iter().any(|class| list.head == *class || is_a(&list.head, class));
    list.of.as_deref().filter(|of| {
        let things = is_a(&of.head, "object") || is_a(&of.head, "substance");
        lists && of.plural && of.kind == NounKind::Common && things
    })
}

fn kind_of_how(clause: &Clause, asking: &Asking, words: &QuestionWords) -> AnswerKind {
    // "How did she spend her Monday?" asks what she did.
    if asking.degree.is_none() && clause.verb.as_ref().is_some_and(|verb| verb.lemma == "spend") {
        return AnswerKind::Action;
    }
    let noun = asking.noun.as_ref().map(|noun| noun.head.as_str()).unwrap_or_default();
    match asking.degree.as_deref() {
        Some("often") => AnswerKind::Times,
        Some("many") if matches!(noun, "time" | "occasion" | "visit" | "move") => AnswerKind::Times,
        Some("many") => AnswerKind::Count,
        Some("much") => AnswerKind::Amount,
        Some("long") => AnswerKind::Length,
        Some(
            "old" | "heavy" | "full" | "hot" | "warm" | "cold" | "far" | "high" | "tall" | "deep" | "wide" | "big"
            | "large" | "fast",
        ) => AnswerKind::Amount,
        _ => {
            let subject = clause.subject.as_ref().map(|subject| subject.head.as_str()).unwrap_or_default();
            let auxiliary = clause.verb.as_ref().is_some_and(|verb| !verb.past && !verb.auxiliary_only);
            let anybody = matches!(subject, "i" | "you" | "we" | "one" | "people" | "somebody" | "someone" | "anybody");
            // "How does she descale the machine, step by step?"
            let in_steps = words.has(&["step", "by", "step"]) || words.has(&["step", "after"]);
            match auxiliary && anybody || in_steps || words.at(0) == "how" && words.at(1) == "to" {
                true => AnswerKind::Way,
                false => AnswerKind::Description,
            }
        }
    }
}

/// Returns the kind of answer to "what" and "which", by the noun that they ask for, else by the verb.
fn kind_of_what(asked: &mut ParsedQuestion, asking: &Asking, words: &QuestionWords) -> AnswerKind {
    let noun = asking.noun.as_ref().map(|noun| noun.head.as_str()).unwrap_or_default();
    let verb = asked.clause.verb.as_ref().map(|verb| verb.lemma.clone()).unwrap_or_default();
    let verb = verb.as_str();
    // "What did it cost?", "what did he pay for it?", "what did it come to?" ask how much.
    let costs = matches!(verb, "cost" | "charge" | "weigh" | "pay" | "quote") || verb == "come" && words.end_in("to");
    if asking.word == "what"
        && noun.is_empty()
        && asked.clause.objects.is_empty()
        && asked.clause.subject.is_some()
        && costs
    {
        return AnswerKind::Amount;
    }
    // "Which of us is going?", "which of them is ill, Vera or Ilse?"
    let of = |whom: &str| asking.word == "which" && words.has(&["which", "of", whom]);
    if of("us") || of("you") || of("them") && offers_persons(asked) {
        asked.subject_is_asked |= asked.clause.subject.is_none();
        return AnswerKind::Person;
    }
    let comes_next = words.has(&["comes", "next"]) || words.has(&["come", "next"]);
    let class = class_noun(asked, asking, noun);
    match class.as_str() {
        "quantity" | "amount" | "weight" | "size" | "temperature" | "price" | "cost" | "length" | "height" | "age"
        | "percentage" | "level" | "volume"
            if !subject_acts(asked) =>
        {
            AnswerKind::Amount
        }
        "time" | "date" | "day" | "hour" | "year" | "month" | "weekday" | "evening" | "morning" | "afternoon"
        | "night" | "o'clock" | "moment" => AnswerKind::Time,
        "place" | "room" | "location" | "spot" | "where" if asks_object(asked) => AnswerKind::Thing,
        "place" | "room" | "location" | "spot" | "where" if !noun.is_empty() || verb == "be" => AnswerKind::Place,
        // "Which side was it on?": the left one.
        "side" if asking.word == "which" => AnswerKind::Thing,
        class if asks_place_of_class(&asked.clause, class) => AnswerKind::Place,
        "person" | "people" | "man" | "woman" | "child" | "family" | "visitor" => AnswerKind::Person,
        "step" if words.any(&["next"]) => AnswerKind::Next,
        _ if noun.is_empty() && words.has(&["what", "now"]) => AnswerKind::Next,
        _ if noun.is_empty() && (comes_next || words.has(&["next", "step"]) || words.has(&["do", "next"])) => {
            AnswerKind::Next
        }
        _ if noun.is_empty()
            && asked.clause.objects.is_empty()
            && (verb == "do" || verb == "get" && (words.any(&["done"]) || words.has(&["get", "up", "to"]))) =>
        {
            AnswerKind::Action
        }
        // "What jobs did you get done today?"
        class if is_one_of(class, WORK_NOUNS) && verb == "get" && words.any(&["done"]) => {
            asked.class = None;
            AnswerKind::Action
        }
        _ if ["time", "day", "date"].iter().any(|unit| words.has(&["what", unit])) => AnswerKind::Time,
        _ if noun.is_empty() && class.is_empty() && verb == "happen" => AnswerKind::Action,
        _ => AnswerKind::Thing,
    }
}

/// Returns whether all alternatives of a question are names.
fn offers_persons(asked: &ParsedQuestion) -> bool {
    let is_name = |range: &Range<usize>| {
        let mut words = asked.words_in(range).peekable();
        words.peek().is_some() && words.all(|word| word.tag == Tag::Name)
    };
    !asked.alternatives.is_empty() && asked.alternatives.iter().all(is_name)
}

/// Returns the noun that names the class of the answer, and stores it in `asked.class`.
fn class_noun(asked: &mut ParsedQuestion, asking: &Asking, noun: &str) -> String {
    // "What kind of animal", "which sort of tool".
    if matches!(noun, "kind" | "sort" | "type" | "part" | "piece" | "item" | "form" | "means" | "name")
        && let Some(of) = asking.noun.as_ref().and_then(|noun| noun.of.as_deref())
        && noun != "name"
    {
        // "Which kinds of food" asks for more than one.
        let plural = of.plural || asking.noun.as_ref().is_some_and(|noun| noun.plural);
        asked.class = Some(NounPhrase { plural, ..of.clone() });
        return of.head.clone();
    }
    // "What size boots does she need?" asks for the size.
    if let Some(of) = asking.noun.as_ref()
        && let Some(measure) = of.modifiers.first().filter(|word| matches!(word.as_str(), "size" | "colour" | "color"))
    {
        asked.class = Some(NounPhrase { head: measure.clone(), modifiers: Vec::new(), plural: false, ..of.clone() });
        return measure.clone();
    }
    if !noun.is_empty() {
        return noun.to_owned();
    }
    // "What is the ingredient with …", "what was the name of …": the subject of "be" is the class.
    // "What was the exact weight of the salt used …": a noun of measure.
    if let Some(subject) = asked.clause.subject.as_ref().filter(|subject| subject.of.is_some() && asking.word == "what")
        && matches!(
            subject.head.as_str(),
            "quantity"
                | "amount"
                | "weight"
                | "size"
                | "price"
                | "cost"
                | "length"
                | "height"
                | "age"
                | "volume"
                | "temperature"
        )
    {
        let head = subject.head.clone();
        asked.class = Some(subject.clone());
        return head;
    }
    let copula = asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    if copula && let Some(subject) = &asked.clause.subject {
        let head = subject.head.clone();
        // "What is that new thing?", "what is Ivo?": neither names a class.
        let general = matches!(subject.head.as_str(), "thing" | "matter" | "problem" | "trouble" | "fault")
            || subject.kind == NounKind::Name;
        if !subject.is_pronoun() && !general && asked.clause.complements.is_empty() {
            asked.class = Some(subject.clone());
            return head;
        }
    }
    String::new()
}
