//! Word classes, clauses and questions, with sentences of everyday life.

use super::closed::number_word;
use super::question::{AnswerKind, Occurrence, Order, ParsedQuestion, parse_question};
use super::states::same_state;
use super::syntax::{Clause, parse};
use super::tag::{Tag, tag_words};

const NONE: [String; 0] = [];

fn clauses(text: &str) -> Vec<Clause> {
    parse(text, &[]).1.into_iter().flat_map(|sentence| sentence.clauses).collect()
}

fn tag_of(text: &str, word: &str) -> Option<Tag> {
    tag_words(text, &[], &[]).into_iter().find(|found| found.text == word).map(|found| found.tag)
}

#[test]
fn words_get_their_class_from_what_stands_around_them() {
    let mut wrong = Vec::new();
    for (text, word, tag) in [
        ("The plumber repairs the tap.", "repairs", Tag::Verb),
        ("The repairs were dear.", "repairs", Tag::Noun),
        ("Ilse waters the ferns.", "waters", Tag::Verb),
        ("The water is cold.", "water", Tag::Noun),
        ("The water is cold.", "cold", Tag::Adjective),
        ("Did Jonas paint the fence?", "paint", Tag::Verb),
        ("Where is the green paint?", "paint", Tag::Noun),
        ("She wants to leave.", "leave", Tag::Verb),
        ("She can swim.", "can", Tag::Modal),
        ("Ilse's cat sleeps.", "'s", Tag::Possessive),
        ("She isn't here.", "not", Tag::Not),
        ("It has 3 wheels.", "3", Tag::Number),
        ("Leena lives in Turku.", "turku", Tag::Name),
        ("Which ladder was used?", "which", Tag::Wh),
        ("He fell before he reached the door.", "before", Tag::Conjunction),
        ("He fell before dinner.", "before", Tag::Preposition),
        ("The blue crate is empty.", "blue", Tag::Adjective),
        ("My sister lost her gloves.", "my", Tag::Owner),
        ("The coins are under the till.", "till", Tag::Noun),
        ("He waited till the bell rang.", "till", Tag::Conjunction),
    ] {
        let found = tag_of(text, word);
        if found != Some(tag) {
            wrong.push(format!("{word} in {text:?} is {found:?}, expected {tag:?}"));
        }
    }
    assert_eq!(wrong, NONE);
}

#[test]
fn base_forms_follow_the_class() {
    let lemma = |text: &str, word: &str| {
        tag_words(text, &[], &[]).into_iter().find(|found| found.text == word).map(|found| found.lemma)
    };
    for (text, word, base) in [
        ("The mice were gone.", "mice", "mouse"),
        ("She took the knives.", "took", "take"),
        ("She took the knives.", "knives", "knife"),
        ("They are running.", "running", "run"),
        ("The zorbels are here.", "zorbels", "zorbel"),
    ] {
        assert_eq!(lemma(text, word).as_deref(), Some(base), "{word} in {text}");
    }
}

#[test]
fn a_clause_has_its_subject_its_verb_its_object_and_its_places() {
    let clause = clauses("Jonas put the heavy toolbox under the workbench.").remove(0);
    assert_eq!(clause.subject.as_ref().map(|noun| noun.head.as_str()), Some("jonas"), "{clause:#?}");
    assert_eq!(
        clause.verb.as_ref().map(|verb| (verb.lemma.as_str(), verb.past, verb.negated)),
        Some(("put", true, false))
    );
    assert_eq!(clause.objects.iter().map(|noun| noun.head.as_str()).collect::<Vec<_>>(), ["toolbox"]);
    assert_eq!(clause.objects[0].modifiers, ["heavy"]);
    let adjuncts: Vec<_> = clause.adjuncts.iter().map(|it| (it.preposition.as_str(), it.noun.head.as_str())).collect();
    assert_eq!(adjuncts, [("under", "workbench")]);
}

#[test]
fn noun_phrases_keep_owner_number_and_what_they_are_of() {
    let clause = clauses("Ilse's brother bought three jars of honey.").remove(0);
    let subject = clause.subject.as_ref().unwrap();
    assert_eq!(subject.owner.as_ref().map(|owner| owner.head.as_str()), Some("ilse"), "{clause:#?}");
    let object = &clause.objects[0];
    assert_eq!((object.head.as_str(), object.number, object.plural), ("jar", Some(3.0), true));
    assert_eq!(object.of.as_ref().map(|of| of.head.as_str()), Some("honey"));
    let pair = clauses("A fork and a spoon lie on the tray.").remove(0);
    let heads: Vec<_> =
        pair.subject.iter().flat_map(|noun| noun.coordinated()).map(|noun| noun.head.as_str()).collect();
    assert_eq!(heads, ["fork", "spoon"], "{pair:#?}");
}

#[test]
fn clauses_are_told_apart_and_a_subject_is_taken_over() {
    let found = clauses("Jonas opened the gate and fed the goats.");
    let verbs: Vec<_> =
        found.iter().filter_map(|clause| clause.verb.as_ref()).map(|verb| verb.lemma.as_str()).collect();
    assert_eq!(verbs, ["open", "feed"], "{found:#?}");
    assert_eq!(found[1].subject.as_ref().map(|noun| noun.head.as_str()), Some("jonas"));
    assert!(found[1].inherited);
    let two = clauses("The lamp flickers because the plug is loose.");
    assert_eq!(two.len(), 2, "{two:#?}");
    assert_eq!(two[1].link.as_deref(), Some("because"));
}

#[test]
fn auxiliaries_tell_tense_and_denial() {
    let verb = |text: &str| clauses(text).remove(0).verb.unwrap();
    assert!(verb("Leena will not come.").negated && verb("Leena will not come.").future);
    assert!(verb("The walls were painted by Jonas.").passive);
    assert!(verb("Jonas has painted the walls.").perfect);
    assert!(verb("Jonas is painting the walls.").progressive);
    assert_eq!(verb("She might come.").modal.as_deref(), Some("might"));
    assert_eq!(verb("Jonas switched the radio off.").lemma, "switch");
}

#[test]
fn a_question_with_its_verb_first_has_its_subject() {
    let clause = clauses("Did Jonas paint the fence?").remove(0);
    assert!(clause.inverted, "{clause:#?}");
    assert_eq!(clause.subject.as_ref().map(|noun| noun.head.as_str()), Some("jonas"));
    assert_eq!(clause.verb.as_ref().map(|verb| verb.lemma.as_str()), Some("paint"));
    assert_eq!(clause.objects.first().map(|noun| noun.head.as_str()), Some("fence"));
    let clause = clauses("Where has Leena left the rake?").remove(0);
    assert_eq!(clause.asking.as_ref().map(|asking| asking.word.as_str()), Some("where"), "{clause:#?}");
    assert_eq!(clause.subject.as_ref().map(|noun| noun.head.as_str()), Some("leena"));
}

#[test]
fn the_kind_of_answer_is_read_from_the_grammar() {
    let mut wrong = Vec::new();
    for (text, ask) in [
        ("Where is the rake?", AnswerKind::Place),
        ("In which room is the rake?", AnswerKind::Place),
        ("When did Leena arrive?", AnswerKind::Time),
        ("What time did Leena arrive?", AnswerKind::Time),
        ("On which day did Leena arrive?", AnswerKind::Time),
        ("Who fed the goats?", AnswerKind::Person),
        ("Whose rake is that?", AnswerKind::Owner),
        ("What did Jonas paint?", AnswerKind::Thing),
        ("Which tool did Jonas use?", AnswerKind::Thing),
        ("What did Jonas do?", AnswerKind::Action),
        ("What jobs did Jonas get done?", AnswerKind::Action),
        ("What happened to the winch?", AnswerKind::Summary),
        ("What do you know about the winch?", AnswerKind::Summary),
        ("Tell me about the winch.", AnswerKind::Summary),
        ("Has anything changed?", AnswerKind::Summary),
        ("What has changed about the winch?", AnswerKind::Change),
        ("How many goats are there?", AnswerKind::Count),
        ("How many times did the gong sound?", AnswerKind::Times),
        ("How often did the gong sound?", AnswerKind::Times),
        ("How much does the crate weigh?", AnswerKind::Amount),
        ("How heavy is the crate?", AnswerKind::Amount),
        ("How long did the film last?", AnswerKind::Length),
        ("Is the gate open?", AnswerKind::Truth),
        ("Did Leena feed the goats?", AnswerKind::Truth),
        ("Are there any goats?", AnswerKind::Truth),
        ("Was it Jonas or Leena?", AnswerKind::Thing),
        ("Why is the gate open?", AnswerKind::Reason),
        ("How do I sharpen the scythe?", AnswerKind::Way),
        ("What comes next?", AnswerKind::Next),
        ("Summarise the afternoon.", AnswerKind::Summary),
        ("What has changed since noon?", AnswerKind::Change),
        ("Describe the goat.", AnswerKind::Description),
        ("List the tools on the wall.", AnswerKind::Thing),
        ("The gate squeaks. Who can oil it?", AnswerKind::Person),
        ("How frequently are the goats fed?", AnswerKind::Times),
        ("What is the number of times that the goat escaped?", AnswerKind::Times),
        ("What was the total number of goats in the barn?", AnswerKind::Count),
        ("Count the goats in the barn.", AnswerKind::Count),
        ("How many repairs of the fence were there?", AnswerKind::Times),
        ("How many wedges of cheese were there?", AnswerKind::Count),
        ("What is the number of her flat?", AnswerKind::Thing),
        ("The last time that the hens were fed?", AnswerKind::Time),
        ("Which drawer is the rake in?", AnswerKind::Place),
        ("In what drawer are the seeds kept?", AnswerKind::Place),
        ("Which page is the goat on?", AnswerKind::Thing),
        ("What state is the rake in?", AnswerKind::Thing),
        ("Have you seen my rake?", AnswerKind::Place),
        ("Has anybody seen Leena?", AnswerKind::Place),
        ("Have you seen a goat?", AnswerKind::Truth),
        ("Have you seen the goat on the roof?", AnswerKind::Truth),
    ] {
        let found = parse_question(text, &[]).ask;
        if found != ask {
            wrong.push(format!("{text} is {found:?}, expected {ask:?}"));
        }
    }
    assert_eq!(wrong, NONE);
}

fn cue(text: &str) -> Option<(Order, bool, String)> {
    parse_question(text, &[]).cue.map(|cue| (cue.order, cue.direct, text[cue.range].to_owned()))
}

#[test]
fn another_event_places_what_is_asked_for() {
    let mut wrong = Vec::new();
    for (text, order, direct, range) in [
        ("What did Leena do right after the bell rang?", Order::After, true, "after the bell rang"),
        ("Who came before the goats were fed?", Order::Before, false, "before the goats were fed"),
        ("When it rained, who shut the hatch?", Order::During, false, "When it rained"),
        ("While Jonas slept, what could be heard?", Order::During, false, "While Jonas slept"),
        ("What could be heard while Jonas slept?", Order::During, false, "while Jonas slept"),
        ("After the storm, what lay on the roof?", Order::After, false, "After the storm"),
        ("Who was in the barn as the lights went out?", Order::During, false, "as the lights went out"),
        ("What did she do when the hens had been fed?", Order::After, false, "when the hens had been fed"),
        ("When the hens ran off, what had she done?", Order::During, false, "When the hens ran off"),
        ("What followed the speech?", Order::After, false, "followed the speech"),
        ("What stood there prior to the delivery?", Order::Before, false, "prior to the delivery"),
        ("Who was in the barn with drums in the background?", Order::During, false, "with drums in the background"),
        ("Who danced with the radio playing?", Order::During, false, "with the radio playing"),
        ("Somebody knocked twice. What was going on in the yard?", Order::During, true, "Somebody knocked twice"),
    ] {
        let found = cue(text);
        if found != Some((order, direct, range.to_owned())) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert_eq!(wrong, NONE);
}

#[test]
fn words_that_place_nothing_are_no_cue() {
    for text in [
        "Where was the rake before?",
        "When did the bell ring?",
        "By when must the hay be in?",
        "Where is the rake?",
        "What grew during the spring?",
        "Who followed the goat?",
        "What are we still waiting for before the hay can be brought in?",
        "What does Jonas need before the goats arrive?",
    ] {
        assert_eq!(cue(text), None, "{text}");
    }
}

#[test]
fn what_holds_for_one_of_several_is_asked_of_each() {
    let asked = |text: &str| -> Vec<String> {
        super::question::asked_of_each(text, &parse_question(text, &[]))
            .into_iter()
            .flatten()
            .map(|one| one.question)
            .collect()
    };
    let of_two = asked("Which of the two is still wet, the hay or the straw?");
    assert_eq!(of_two, ["Is the hay still wet?", "Is the straw still wet?"]);
    assert_eq!(asked("Who hasn't paid yet, Jonas or Leena?"), ["Hasn't Jonas paid yet?", "Hasn't Leena paid yet?"]);
    // Compared, ordered, done to one of them, or none offered.
    for text in [
        "Which is heavier, the hay or the straw?",
        "Which came first, the hay or the straw?",
        "Which did Jonas cut, the hay or the straw?",
        "Which is still wet?",
    ] {
        assert_eq!(asked(text), NONE, "{text}");
    }
}

fn alternatives(text: &str) -> Vec<String> {
    let asked = parse_question(text, &[]);
    asked.alternatives.iter().map(|range| text[range.clone()].to_owned()).collect()
}

#[test]
fn the_things_that_a_question_chooses_among_are_found() {
    assert_eq!(alternatives("Which came first, the goat or the hen?"), ["the goat", "the hen"]);
    assert_eq!(alternatives("Was it Jonas, Leena or Ilse?"), ["Jonas", "Leena", "Ilse"]);
    assert_eq!(alternatives("Of the goat and the hen, which was fed first?"), ["the goat", "the hen"]);
    assert_eq!(alternatives("Was the goat fed first or the hen?"), ["the goat", "the hen"]);
    assert_eq!(alternatives("The goat and the hen were both fed. Which was first?"), ["The goat", "the hen"]);
    let mutual = "Did Leena feed the goat before the hen or the hen before the goat?";
    assert_eq!(alternatives(mutual), ["the goat", "the hen"]);
    assert_eq!(parse_question(mutual, &[]).occurrence, Some(Occurrence::First));
    let after = "Did Leena feed the goat after the hen or the hen after the goat?";
    assert_eq!(parse_question(after, &[]).occurrence, Some(Occurrence::Last));
    assert_eq!(alternatives("Was it the glueing clamp or the saw?"), ["the glueing clamp", "the saw"]);
    assert_eq!(alternatives("Where is the rake?"), NONE);
}

#[test]
fn what_opens_is_a_thing_and_what_is_warmer_is_a_property() {
    let subject = |text: &str| parse_question(text, &[]).clause.subject.map(|noun| (noun.modifiers, noun.head));
    let opener = (vec!["tin".to_owned()], "opener".to_owned());
    assert_eq!(subject("When was the tin opener last used?"), Some(opener));
    assert_eq!(subject("Is the water warmer now?").map(|(_, head)| head).as_deref(), Some("water"));
}

#[test]
fn occurrences_scales_habits_and_others_are_noticed() {
    let of = |text: &str| -> ParsedQuestion { parse_question(text, &[]) };
    assert_eq!(of("When did Leena last call?").occurrence, Some(Occurrence::Last));
    assert_eq!(of("Who was the first visitor?").occurrence, Some(Occurrence::First));
    assert_eq!(of("Where was the rake before?").occurrence, Some(Occurrence::Previous));
    assert_eq!(of("When did the second visitor come?").occurrence, Some(Occurrence::Nth(2)));
    assert_eq!(of("When did Leena call?").occurrence, None);
    let most = of("Which cheese has the most fat?").scale.unwrap();
    assert_eq!((most.most, most.scale_noun.as_str(), most.comparative), (true, "fat", false));
    assert!(of("Which film was longer?").scale.is_some_and(|scale| scale.comparative));
    assert!(of("What does Leena usually drink?").habitual);
    assert!(!of("What did Leena drink?").habitual);
    assert!(of("Did Leena not call?").negated);
    assert!(of("Who said \"mind the step\"?").quotes.len() == 1);
    assert_eq!(of("Which kind of bird was it?").class.map(|class| class.head).as_deref(), Some("bird"));
}

#[test]
fn states_of_one_scale_are_the_same_or_opposite() {
    for (a, b, alike) in [
        ("broken", "fixed", Some(false)),
        ("work", "repair", Some(true)),
        ("open", "shut", Some(false)),
        ("closed", "shut", Some(true)),
        ("locked", "unlock", Some(false)),
        ("full", "empty", Some(false)),
        ("right", "snapped", Some(false)),
        ("asleep", "awake", Some(false)),
        ("open", "locked", None),
        ("green", "open", None),
    ] {
        assert_eq!(same_state(a, b), alike, "{a}, {b}");
        assert_eq!(same_state(b, a), alike, "{b}, {a}");
    }
}

#[test]
fn numbers_in_words_have_values() {
    for (word, value) in
        [("seven", Some(7.0)), ("forty-two", Some(42.0)), ("dozen", Some(12.0)), ("goat", None), ("ten-two", None)]
    {
        assert_eq!(number_word(word), value, "{word}");
    }
}

#[test]
fn whom_a_question_calls_is_not_what_it_is_about() {
    for (text, called) in [
        ("What did you see in the yard, Rover?", Some(", Rover")),
        ("Leena, where did Jonas put the ladder?", Some("Leena,")),
        ("Was it Jonas, Leena or Ilse?", None),
        ("Who was there with Ilse?", None),
    ] {
        let asked = parse_question(text, &[]);
        assert_eq!(asked.addressee.map(|called| &text[called]), called, "{text}");
    }
}

#[test]
fn a_question_of_one_word_asks_what_the_sentence_before_leaves_open() {
    let asked = parse_question("The goat chewed something. What?", &[]);
    assert_eq!(asked.ask, AnswerKind::Thing);
    assert_eq!(asked.clause.subject.map(|subject| subject.head).as_deref(), Some("goat"));
    assert!(asked.clause.objects.is_empty() && !asked.subject_is_asked);
    let asked = parse_question("Somebody mowed the meadow. Who?", &[]);
    assert!(asked.ask == AnswerKind::Person && asked.subject_is_asked);
    assert_eq!(asked.clause.objects[0].head, "meadow");
}

#[test]
fn what_does_something_is_no_amount() {
    assert_eq!(parse_question("Which age brought us the plough?", &[]).ask, AnswerKind::Thing);
    assert_eq!(parse_question("What age is Ilse?", &[]).ask, AnswerKind::Amount);
}

#[test]
fn a_report_of_some_length_is_a_summary() {
    for text in
        ["Tell me the whole story.", "Give me a brief report of the week.", "Write a short account of the trip."]
    {
        assert_eq!(parse_question(text, &[]).ask, AnswerKind::Summary, "{text}");
    }
    for text in [
        "Give me the short ladder.",
        "Which story did Ilse read?",
        "How long did the boat trip that Ilse went on last?",
    ] {
        assert_ne!(parse_question(text, &[]).ask, AnswerKind::Summary, "{text}");
    }
}

#[test]
fn a_question_for_what_something_does_has_one_verb() {
    let clause = |text: &str| parse_question(text, &[]).clause;
    for (text, subject, verb) in [
        ("Does the hand pump make a noise?", "pump", "make"),
        ("When does the ferry to the trade fair leave?", "ferry", "leave"),
        ("Where did the watering can stand?", "can", "stand"),
        ("Is the hose joint in the shed still leaking?", "joint", "leak"),
        ("Why didn't the lawn get cut?", "lawn", "cut"),
    ] {
        let clause = clause(text);
        let found = (
            clause.subject.map(|subject| subject.head).unwrap_or_default(),
            clause.verb.map(|verb| verb.lemma).unwrap_or_default(),
        );
        assert_eq!(found, (subject.to_owned(), verb.to_owned()), "{text}");
    }
    let clause = clause("Is Ilse Anton's mother?");
    assert_eq!(clause.subject.map(|subject| subject.head).as_deref(), Some("ilse"));
    assert_eq!(clause.objects.first().map(|object| object.head.as_str()), Some("mother"));
}

#[test]
fn what_stands_behind_a_noun_and_cannot_be_a_verb_is_a_noun() {
    let tag = |text: &str, word: &str| {
        let (words, _) = parse(text, &[]);
        words.into_iter().find(|one| one.text == word).map(|one| one.tag)
    };
    for (text, word) in [
        ("The field glasses are on the shelf.", "glasses"),
        ("The field glasses on the upper shelf.", "glasses"),
        ("What about the hair dryer, what state is that in?", "dryer"),
        ("Tell me where Ilse's drops are.", "drops"),
        ("She owns a steel pocket watch.", "watch"),
        ("He opens the tin; in it lie a photo of a boy and a steel pocket watch.", "watch"),
    ] {
        assert_eq!(tag(text, word), Some(Tag::Noun), "{text}");
    }
    assert_eq!(tag("The messenger hands over the letter.", "hands"), Some(Tag::Verb));
    assert_eq!(tag("The dog barks at the gate.", "barks"), Some(Tag::Verb));
    assert_eq!(tag("A boy and a girl play outside.", "play"), Some(Tag::Verb));
    assert_eq!(tag("Did a dog bark?", "bark"), Some(Tag::Verb));
    assert_eq!(tag("The downstairs window is open.", "downstairs"), Some(Tag::Adjective));
}

#[test]
fn a_question_of_yes_or_no_may_be_wrapped_in_other_words() {
    for text in [
        "The lamp was eighty euros, wasn't it?",
        "Rover, can I send you to the shed?",
        "If I open the hatch, will it stay open?",
        "Has Ilse returned what she borrowed?",
        "Did Ilse pay the whole bill?",
    ] {
        assert_eq!(parse_question(text, &[]).ask, AnswerKind::Truth, "{text}");
    }
    assert_eq!(parse_question("Do you know who sang?", &[]).ask, AnswerKind::Person);
    assert_eq!(parse_question("How does Ilse clean the pump, step by step?", &[]).ask, AnswerKind::Way);
}

#[test]
fn things_in_a_list_are_no_verbs_of_a_subject_in_the_plural() {
    let objects = |text: &str| {
        let (_, sentences) = super::syntax::parse(text, &[]);
        let clauses = sentences.iter().flat_map(|sentence| &sentence.clauses);
        let objects = clauses.flat_map(|clause| &clause.objects).flat_map(super::syntax::NounPhrase::coordinated);
        objects.map(|noun| noun.head.clone()).collect::<Vec<_>>()
    };
    assert_eq!(objects("We need rice, ropes and soap."), ["rice", "rope", "soap"]);
    assert_eq!(objects("Please buy flour and eggs."), ["flour", "egg"]);
    assert_eq!(objects("She takes the cup and washes it."), ["cup", "it"]);
}

#[test]
fn has_is_told_from_is_and_from_a_duty() {
    for (text, lemma) in
        [("Has the plumber come?", "come"), ("She's got our drill.", "get"), ("The mill's sent the flour.", "send")]
    {
        let verb = clauses(text)[0].verb.clone().unwrap();
        assert!(verb.lemma == lemma && verb.perfect && !verb.passive && verb.modal.is_none(), "{text} {verb:?}");
    }
    let duty = clauses("Has she to come?")[0].verb.clone().unwrap();
    assert!(!duty.perfect && duty.modal.is_some(), "{duty:?}");
}
