//! Answers that a trained reader marks in what was found.

use std::sync::{Arc, Mutex};

use super::home::{Home, Row, home};
use crate::ports::{AnswerExtractor, AnswerForm, Extraction, Passage, PortError};
use crate::query::Effort;
use crate::recall::answer;
use crate::{Kind, Query, Route};

/// The passages of the last call: text, and what was before it.
pub(super) type ReadTexts = Arc<Mutex<Vec<(String, String)>>>;

/// A reader that finds one sentence relevant, and marks its words.
pub(super) struct Marks {
    pub sentence: &'static str,
    pub words: &'static str,
    pub form: AnswerForm,
    pub read: ReadTexts,
}

impl AnswerExtractor for Marks {
    fn extract(&self, _: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        *self.read.lock().unwrap() =
            passages.iter().map(|passage| (passage.text.to_owned(), passage.before.to_owned())).collect();
        let extraction = |passage: &Passage<'_>| {
            let relevant = passage.text.contains(self.sentence);
            let start = passage.text.find(self.words).filter(|_| relevant).unwrap_or(0);
            let length = if relevant { self.words.len() } else { 0 };
            Extraction {
                relevance: if relevant { 5.0 } else { -5.0 },
                relevance_alone: if relevant { 5.0 } else { -5.0 },
                span: start..start + length,
                span_probability: 0.95,
                other_spans: Vec::new(),
                forms: certain(self.form),
            }
        };
        Ok(passages.iter().map(extraction).collect())
    }
}

/// The probabilities of forms if one is certain.
fn certain(form: AnswerForm) -> [f32; AnswerForm::ALL.len()] {
    AnswerForm::ALL.map(|other| if other == form { 1.0 } else { 0.0 })
}

/// A reader that is not sure where the words begin and end.
struct Unsure {
    reader: Marks,
    span_probability: f32,
}

impl AnswerExtractor for Unsure {
    fn extract(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        let sure = self.reader.extract(question, passages)?;
        let span_probability = self.span_probability;
        Ok(sure.into_iter().map(|one| Extraction { span_probability, ..one }).collect())
    }
}

/// A reader that fails.
struct OutOfMemory;

impl AnswerExtractor for OutOfMemory {
    fn extract(&self, _: &str, _: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        Err(PortError { role: "answer extraction", message: "out of memory".into() })
    }
}

const ROWS: &[Row] = &[
    ("19T08:00:00", 0, Kind::Text, Some("Oda"), "The seedlings look limp again, no idea what they lack."),
    ("19T08:01:00", 0, Kind::Text, Some("Piotr"), "Well, nobody has watered since the weekend."),
    ("19T09:30:00", 0, Kind::Text, Some("Oda"), "How many trays did you sow?"),
    ("19T09:31:00", 0, Kind::Text, Some("Piotr"), "Fourteen, and two with spares."),
    ("19T17:00:00", 0, Kind::Caption, None, "A woman in a yellow coat carries a crate into the greenhouse."),
];

fn reading(sentence: &'static str, words: &'static str, form: AnswerForm) -> (Home, ReadTexts) {
    let read = Arc::new(Mutex::new(Vec::new()));
    let marks = Marks { sentence, words, form, read: Arc::clone(&read) };
    let memory = home(ROWS).with_meaning().with_reader(marks);
    (memory, read)
}

#[test]
fn the_words_that_the_reader_marks_are_the_answer() {
    let (memory, _) = reading("nobody has watered", "nobody has watered since the weekend", AnswerForm::Words);
    let answer = memory.ask("Why do the seedlings hang their heads?");
    assert_eq!(answer.answer.as_deref(), Some("Nobody has watered since the weekend"), "{}", answer.reason);
    assert_eq!(answer.route, Route::Detailed);
    assert_eq!(answer.evidence[0].observations, ["told-2"]);
}

/// A reader that compares the passages: of those that the inner one finds relevant, the newest answers.
struct Newest(Marks);

impl AnswerExtractor for Newest {
    fn extract(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        let mut found = self.0.extract(question, passages)?;
        let relevant = passages.iter().zip(&found).filter(|(_, one)| one.relevance > 0.0);
        let newest = relevant.map(|(passage, _)| passage.age).min();
        for (passage, one) in passages.iter().zip(&mut found).filter(|(passage, _)| Some(passage.age) != newest) {
            assert!(!passage.age.is_zero(), "{passage:?}");
            one.relevance = -5.0;
        }
        Ok(found)
    }
}

#[test]
fn a_reader_that_compares_the_events_knows_which_is_newest() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "Put it behind the compost, the barrow."),
        ("19T08:30:00", 0, Kind::Text, Some("Piotr"), "The barrow went behind the kiln after all."),
    ];
    let marks = Marks { sentence: "behind the", words: "behind the", form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(Newest(marks));
    let answer = memory.ask("What became of the barrow?");
    assert!(answer.evidence[0].text.contains("kiln"), "{:?} {}", answer.answer, answer.reason);
}

#[test]
fn a_number_of_things_is_no_number_of_persons() {
    let rows: &[Row] =
        &[("19T08:00:00", 0, Kind::Text, Some("Oda"), "Nine crates and two gardeners came on the cart.")];
    let ask = |words: &'static str, question: &str| {
        let marks = Marks { sentence: "crates", words, form: AnswerForm::Words, read: Arc::default() };
        home(rows).with_meaning().with_reader(marks).ask(question)
    };
    let persons = "How many people helped in the garden?";
    let answer = ask("Nine crates", persons);
    assert!(!answer.answer.unwrap_or_default().contains("Nine"), "{}", answer.reason);
    assert_eq!(ask("two gardeners", persons).answer.as_deref(), Some("Two gardeners"));
    assert_eq!(ask("Nine crates", "How many boxes came on it?").answer.as_deref(), Some("Nine crates"));
}

#[test]
fn what_is_found_by_its_moment_needs_no_reader_that_agrees() {
    let rows: &[Row] = &[
        ("19T08:00:00", 2, Kind::Sound, None, "A goods bell rings twice."),
        ("19T08:00:04", 3, Kind::Text, Some("Oda"), "Somebody take the melons in, please."),
        ("19T11:00:00", 3, Kind::Text, Some("Oda"), "The scales want oiling."),
    ];
    let deaf = Marks { sentence: "of no row", words: "", form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(deaf);
    let answer = memory.ask("What was said when the bell rang?");
    assert!(answer.answer.is_some(), "{}", answer.reason);
    assert!(answer.evidence[0].text.contains("melons"), "{:?}", answer.evidence[0].text);
    // Without a moment, the reader is believed.
    let answer = memory.ask("What did Oda say of the turnips?");
    assert_eq!(answer.answer, None, "{}", answer.reason);
}

#[test]
fn a_marked_i_is_the_speaker() {
    let rows: &[Row] = &[("19T08:00:00", 0, Kind::Text, Some("Oda"), "I gave the seedlings a good soaking.")];
    let marks = Marks { sentence: "soaking", words: "I", form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(marks);
    let answer = memory.ask("Who took care of the young plants?");
    assert_eq!(answer.answer.as_deref(), Some("Oda"), "{}", answer.reason);
}

#[test]
fn marked_words_about_the_speaker_name_the_speaker() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "I'm off to the allotment, because I promised my aunt the seeds."),
        ("19T09:00:00", 0, Kind::Caption, None, "A man sweeps the path."),
    ];
    let words = "I promised my aunt the seeds";
    let marks = Marks { sentence: "allotment", words, form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(marks);
    let answer = memory.ask("Why did she go to the allotment?");
    assert_eq!(answer.answer.as_deref(), Some("Oda: I promised my aunt the seeds"), "{}", answer.reason);
}

#[test]
fn the_words_that_answer_are_shown_instead_of_the_sentence_around_them() {
    let rows: &[Row] =
        &[("19T08:00:00", 0, Kind::Text, Some("Oda"), "The wheelbarrow, well, it has a puncture, sadly.")];
    let words = "it has a puncture";
    let marks = Marks { sentence: "wheelbarrow", words, form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(marks);
    let answer = memory.ask("What is wrong with the wheelbarrow?");
    assert_eq!(answer.answer.as_deref(), Some("It has a puncture"), "{}", answer.reason);
    assert_eq!(answer.evidence[0].observations, ["told-1"]);
}

#[test]
fn words_that_the_reader_is_not_sure_of_are_shown_in_their_sentence() {
    let sentence = "Frost got into the pipes, so we carry water from the well.";
    let rows: &[Row] = &[("19T08:00:00", 0, Kind::Text, Some("Oda"), sentence)];
    let marks = || Marks {
        sentence: "Frost",
        words: "Frost got into the pipes",
        form: AnswerForm::Words,
        read: Arc::default(),
    };
    let question = "Why do you carry water?";
    let unsure = home(rows).with_meaning().with_reader(Unsure { reader: marks(), span_probability: 0.3 }).ask(question);
    assert_eq!(unsure.answer.as_deref(), Some(&*format!("Oda: {sentence}")), "{}", unsure.reason);
    let sure = home(rows).with_meaning().with_reader(marks()).ask(question);
    assert_eq!(sure.answer.as_deref(), Some("Frost got into the pipes"), "{}", sure.reason);
}

#[test]
fn marked_words_are_extended_to_whole_phrases_but_not_over_words_of_the_question() {
    let said = |row: &'static str, words: &'static str, question: &str| {
        let rows: &[Row] = &[("19T08:00:00", 0, Kind::Text, Some("Oda"), row)];
        let marks = Marks { sentence: row, words, form: AnswerForm::Words, read: Arc::default() };
        home(rows).with_meaning().with_reader(marks).ask(question).answer.unwrap_or_default()
    };
    let row = "A man with a plaited beard brought the seedlings.";
    assert_eq!(said(row, "beard", "How did the fellow look who came with the young plants?"), "A plaited beard");
    let row = "The seedlings go out on Friday at half past two.";
    assert_eq!(said(row, "half past two", "When do the young plants leave?"), "On Friday at half past two");
    let row = "Fourteen trays of seedlings have mites, sadly.";
    assert_eq!(said(row, "Fourteen", "How many of the trays went bad?"), "Fourteen");
}

#[test]
fn the_quotation_around_words_does_not_raise_the_confidence_in_them() {
    let rows: &[Row] =
        &[("19T08:00:00", 0, Kind::Text, Some("Oda"), "The wheelbarrow, well, it has a puncture, sadly.")];
    let words = "it has a puncture";
    let reader = Marks { sentence: "wheelbarrow", words, form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(Unsure { reader, span_probability: 0.52 });
    let question = "Why can't anybody use the wheelbarrow today?".to_owned();
    let answer = answer(&Query { question, trace: true, ..Query::default() }, &memory).unwrap();
    let confidence = |layer: &str| -> f32 {
        let step = answer.trace.iter().find(|step| step.step == layer && step.detail.contains("Signals {")).unwrap();
        step.detail.split(' ').next().unwrap().parse().unwrap()
    };
    let (quotation, marked) = (confidence("episodes"), confidence("read"));
    assert!((quotation - marked).abs() > 0.01, "{quotation} {marked}");
    assert!((answer.confidence - marked).abs() < 0.006, "{} instead of {marked}", answer.confidence);
}

#[test]
fn what_somebody_tells_of_themselves_does_not_answer_for_another_person() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "Good morning! Did you sleep?"),
        ("19T08:01:00", 0, Kind::Text, Some("Piotr"), "Morning, Oda! I sold my unicycle to a dentist."),
        ("19T08:02:00", 0, Kind::Text, Some("Oda"), "I bought a tent from him last year."),
    ];
    let marks = || Marks {
        sentence: "sold my unicycle",
        words: "to a dentist",
        form: AnswerForm::Words,
        read: ReadTexts::default(),
    };
    let memory = home(rows).with_meaning().with_reader(marks());
    assert_eq!(memory.ask("Where did Piotr's unicycle go?").answer.as_deref(), Some("To a dentist"));
    for memory in [memory, home(rows).with_meaning()] {
        let answer = memory.ask("Where did Oda's unicycle go?");
        assert_eq!((answer.route, answer.answer), (Route::None, None), "{}", answer.reason);
    }
}

#[test]
fn what_was_taken_back_is_not_read() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "The garage remote is in the blue vase."),
        ("19T09:00:00", 0, Kind::Text, Some("Tove"), "I was wrong about the garage remote. My brother has it."),
    ];
    let read = ReadTexts::default();
    let words = "My brother has it";
    let marks = Marks { sentence: "garage remote", words, form: AnswerForm::Words, read: Arc::clone(&read) };
    let answer = home(rows).with_meaning().with_reader(marks).ask("Where is the garage remote?");
    assert!(answer.answer.is_some_and(|text| text.contains("brother")), "{}", answer.reason);
    let read = read.lock().unwrap();
    assert!(!read.is_empty() && read.iter().all(|(text, _)| !text.contains("vase")), "{read:?}");
}

#[test]
fn what_somebody_said_at_a_moment_needs_no_reader_that_finds_it_relevant() {
    let rows: &[Row] = &[
        ("19T08:00:00", 2, Kind::Sound, None, "A gong is heard."),
        ("19T08:00:05", 3, Kind::Text, Some("Forester"), "Two sacks for Oda. I lean them against the fence."),
        ("19T08:30:00", 3, Kind::Text, None, "Piotr: Good morning, all of you."),
        ("19T08:40:00", 3, Kind::Text, Some("Anna"), "I put the blue jug on the shelf."),
        ("19T08:50:00", 3, Kind::Text, Some("Mara"), "The roofer comes on Monday at ten."),
        ("19T08:55:00", 3, Kind::Text, Some("Mara"), "The roofer has called, he comes on Tuesday instead."),
    ];
    let marks = Marks { sentence: "no such", words: "", form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(marks);
    for question in ["What did the forester say when the gong sounded?", "What did the forester say?"] {
        let answer = memory.ask(question);
        let said = "Forester: Two sacks for Oda. I lean them against the fence.";
        assert_eq!(answer.answer.as_deref(), Some(said), "{question}: {}", answer.reason);
    }
    let once = memory.ask("What did Anna say?");
    assert_eq!(once.answer.as_deref(), Some("Anna: I put the blue jug on the shelf."), "{}", once.reason);
    let twice = memory.ask("What did Mara say?");
    let both = "Mara: The roofer comes on Monday at ten. The roofer has called, he comes on Tuesday instead.";
    assert_eq!(twice.answer.as_deref(), Some(both), "{}", twice.reason);
    assert_eq!(memory.ask("What did Mara say about the roofer?").answer.as_deref(), Some(both));
    let subtitle = memory.ask("What did Piotr say?");
    assert_eq!(subtitle.answer.as_deref(), Some("Piotr: Good morning, all of you."), "{}", subtitle.reason);
}

#[test]
fn words_that_are_said_of_something_else_are_not_the_answer() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "I bought nails, they are in the chest under the bench."),
        ("19T09:00:00", 0, Kind::Text, Some("Mara"), "I am away next week, Stellan comes instead of me."),
    ];
    let marked = |sentence, words| Marks { sentence, words, form: AnswerForm::Words, read: Arc::default() };
    let nails = marked("I bought nails", "in the chest under the bench");
    let nails = home(rows).with_meaning().with_reader(nails);
    assert_eq!(nails.ask("Where are the nails?").answer.as_deref(), Some("In the chest under the bench"));
    assert_ne!(nails.ask("Where is Rolf?").answer.as_deref(), Some("In the chest under the bench"));
    let instead = home(rows).with_meaning().with_reader(marked("I am away", "Stellan"));
    assert_eq!(instead.ask("Who comes instead of Mara?").answer.as_deref(), Some("Stellan"));
    assert_ne!(instead.ask("Who is Mara?").answer.as_deref(), Some("Stellan"));
    let hamster = &[("19T09:00:00", 0, Kind::Text, Some("Mara"), "Runa is my friend. She has a hamster called Tock.")];
    let hamster = home(hamster).with_meaning().with_reader(marked("Runa is my friend", "Runa"));
    assert_ne!(hamster.ask("Who is Tock?").answer.as_deref(), Some("Runa"));
    // Who comes next week does not come tomorrow.
    assert_ne!(instead.ask("Who is coming tomorrow?").answer.as_deref(), Some("Stellan"));
}

#[test]
fn what_follows_from_who_speaks_or_from_two_times_needs_no_reader_that_agrees() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "My sister Runa plays the zither."),
        ("18T09:00:00", 0, Kind::Text, Some("Mara"), "The roofer comes on Monday at ten."),
        ("19T09:00:00", 0, Kind::Text, Some("Mara"), "The roofer has called, he comes on Tuesday instead."),
    ];
    let nothing = Marks { sentence: "no such", words: "", form: AnswerForm::Words, read: Arc::default() };
    let sister = home(rows).with_meaning().with_reader(nothing).ask("What is Rolf's sister called?");
    assert_eq!(sister.answer.as_deref(), Some("Runa"), "{}", sister.reason);
    let older = Marks { sentence: "Monday at ten", words: "Monday", form: AnswerForm::Yes, read: Arc::default() };
    let roofer = home(rows).with_meaning().with_reader(older).ask("Is the roofer coming on Monday?");
    assert!(
        roofer.answer.as_deref().is_some_and(|text| text.starts_with("No")),
        "{:?} {}",
        roofer.answer,
        roofer.reason
    );
}

/// A reader that marks what a vessel is filled with. Of several events, it thinks that the newest answers; each does by
/// itself.
struct FilledWith;

impl AnswerExtractor for FilledWith {
    fn extract(&self, _: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        let newest = passages.iter().filter(|passage| passage.text.contains(" with ")).map(|passage| passage.age).min();
        let extraction = |passage: &Passage<'_>| {
            let start = passage.text.find(" with ").map(|at| at + " with ".len());
            Extraction {
                relevance: if Some(passage.age) == newest { 6.0 } else { -6.0 },
                relevance_alone: if start.is_some() { 4.0 } else { -6.0 },
                span: start.unwrap_or_default()..start.map_or(0, |_| passage.text.len() - 1),
                span_probability: 0.95,
                other_spans: Vec::new(),
                forms: certain(AnswerForm::Words),
            }
        };
        Ok(passages.iter().map(extraction).collect())
    }
}

#[test]
fn all_that_answers_by_itself_is_listed_where_several_things_are_asked_for() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Caption, None, "Piotr fills the brown jug with cider."),
        ("19T10:00:00", 0, Kind::Caption, None, "Oda fills the tall jug with buttermilk."),
        ("19T10:10:00", 0, Kind::Caption, None, "Oda sets the table."),
    ];
    let memory = home(rows).with_meaning().with_reader(FilledWith);
    let several = memory.ask("What drinks were the jugs filled with?");
    assert_eq!(several.answer.as_deref(), Some("Cider and buttermilk"), "{}", several.reason);
    let one = memory.ask("What drink was the jug filled with?");
    assert_eq!(one.answer.as_deref(), Some("Buttermilk"), "{}", one.reason);
}

#[test]
fn a_reader_has_no_say_in_what_the_order_of_events_answers() {
    let rows: &[Row] = &[
        ("19T08:00:00", 5, Kind::Caption, None, "A heron stands on the roof."),
        ("19T08:05:00", 5, Kind::Caption, None, "A cart with barrels stands in the yard."),
    ];
    let marks = Marks { sentence: "cart", words: "", form: AnswerForm::Words, read: Arc::default() };
    let home = home(rows).with_meaning().with_reader(marks);
    let answer = home.ask("Which did you see first, the cart or the heron?");
    assert_eq!(answer.answer.as_deref(), Some("The heron"), "{}", answer.reason);
    assert!(answer.confidence > 0.6, "{} ({})", answer.confidence, answer.reason);
    let told: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "Mind the step."),
        ("19T08:05:00", 0, Kind::Text, Some("Oda"), "We close in an hour."),
    ];
    let marks = Marks { sentence: "We close", words: "an hour", form: AnswerForm::Words, read: Arc::default() };
    let answer =
        super::home::home(told).with_meaning().with_reader(marks).ask("What was the last thing that Oda said?");
    assert_eq!(answer.answer.as_deref(), Some("Oda: We close in an hour."), "{}", answer.reason);
}

#[test]
fn a_reader_has_no_say_in_what_comparing_events_answers() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Caption, Some("barley"), "90 g of barley: 110 kcal, 6 g protein."),
        ("19T08:01:00", 0, Kind::Caption, Some("tofu"), "80 g of tofu: 95 kcal, 11 g protein."),
        ("19T08:02:00", 0, Kind::Caption, Some("quinces"), "60 g of quinces: 35 kcal, 0 g protein."),
    ];
    let marks = Marks { sentence: "quinces", words: "0 g protein", form: AnswerForm::Words, read: Arc::default() };
    let answer = home(rows).with_meaning().with_reader(marks).ask("What has the highest protein of all?");
    assert_eq!(answer.answer.as_deref(), Some("tofu"), "{}", answer.reason);
    assert!(answer.confidence > 0.6, "{} ({})", answer.confidence, answer.reason);
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Caption, Some("Oda"), "Oda waters the ferns."),
        ("18T08:00:00", 0, Kind::Caption, Some("Piotr"), "Piotr waters the ferns."),
        ("19T08:00:00", 0, Kind::Caption, Some("Oda"), "Oda waters the ferns."),
    ];
    let marks = Marks { sentence: "Piotr", words: "Piotr", form: AnswerForm::Words, read: Arc::default() };
    let answer = home(rows).with_meaning().with_reader(marks).ask("Who watered the ferns more often, Piotr or Oda?");
    assert_eq!(answer.answer.as_deref(), Some("Oda (twice, Piotr once)"), "{}", answer.reason);
    assert!(answer.confidence > 0.6, "{} ({})", answer.confidence, answer.reason);
}

#[test]
fn the_words_of_the_reader_speak_for_an_option() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "Ferns need shade, and somebody has to rinse the pots."),
        ("19T08:05:00", 0, Kind::Text, Some("Piotr"), "The ladder wobbles, and the pump has no more diesel."),
    ];
    let chosen = |sentence: &'static str, words: &'static str| {
        let marks = Marks { sentence, words, form: AnswerForm::Words, read: Arc::default() };
        let memory = home(rows).with_meaning().with_reader(marks);
        memory.choose("What is it that is lacking?", &["shade", "diesel", "a lid"]).choice
    };
    assert_eq!((chosen("Ferns", "shade"), chosen("ladder", "diesel")), (Some(0), Some(1)));
}

/// A reader that finds several sentences relevant, and marks words of each.
struct MarksSeveral(&'static [&'static str]);

impl AnswerExtractor for MarksSeveral {
    fn extract(&self, _: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        let extraction = |passage: &Passage<'_>| {
            let marked = self.0.iter().find_map(|words| Some((passage.text.find(words)?, words.len())));
            let (start, length) = marked.unwrap_or((0, 0));
            Extraction {
                relevance: if marked.is_some() { 5.0 } else { -5.0 },
                relevance_alone: if marked.is_some() { 5.0 } else { -5.0 },
                span: start..start + length,
                span_probability: 0.95,
                other_spans: Vec::new(),
                forms: certain(AnswerForm::Words),
            }
        };
        Ok(passages.iter().map(extraction).collect())
    }
}

#[test]
fn a_question_for_several_things_lists_what_several_events_answer() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "My basket is heavy, there is elderflower cordial in it."),
        ("19T08:05:00", 0, Kind::Text, Some("Piotr"), "Careful with my bag, the cider might foam over."),
        ("19T08:10:00", 0, Kind::Caption, None, "A heron stands in the reeds."),
    ];
    let memory = home(rows).with_meaning().with_reader(MarksSeveral(&["elderflower cordial", "the cider"]));
    let answer = memory.ask("What drinks did Oda and Piotr bring along?");
    let said = answer.answer.unwrap_or_default().to_lowercase();
    assert!(said.contains("cordial") && said.contains("cider"), "{said} ({})", answer.reason);
    // One thing is asked for.
    let answer = memory.ask("What drink did Oda and Piotr bring along?");
    let said = answer.answer.unwrap_or_default().to_lowercase();
    assert!(said.contains("cordial") != said.contains("cider"), "{said} ({})", answer.reason);
}

#[test]
fn marked_words_are_extended_to_the_list_that_they_are_part_of() {
    let rows: &[Row] =
        &[("19T08:00:00", 0, Kind::Caption, Some("Oda"), "Oda packs a spade, two rakes and a ball of string.")];
    let memory = home(rows).with_meaning().with_reader(MarksSeveral(&["a spade"]));
    let answer = memory.ask("What went into the barrow with Oda?");
    assert_eq!(answer.answer.as_deref(), Some("A spade, two rakes and a ball of string"), "{}", answer.reason);
}

#[test]
fn a_reply_is_read_with_what_it_replies_to() {
    let (memory, read) = reading("Fourteen", "Fourteen", AnswerForm::Words);
    memory.ask("How many trays were sown?");
    let read = read.lock().unwrap();
    let reply = read.iter().find(|(text, _)| text.starts_with("Piotr: Fourteen")).unwrap();
    assert_eq!(reply.1, "Oda: How many trays did you sow?");
    let caption = read.iter().find(|(text, _)| text.contains("yellow coat"));
    assert!(caption.is_none_or(|(_, before)| before.is_empty()), "{read:?}");
}

#[test]
fn yes_and_no_of_the_reader_answer_only_what_asks_for_them() {
    let (memory, _) = reading("nobody has watered", "nobody", AnswerForm::No);
    let answer = memory.ask("Have the seedlings been watered lately?");
    assert!(answer.answer.is_some_and(|text| text.starts_with("No: ")));
    let answer = memory.ask("Why are the seedlings so limp?");
    assert!(answer.answer.is_none_or(|text| !text.starts_with("No")));
}

#[test]
fn what_nothing_answers_is_declined_with_a_reader_too() {
    let (memory, _) = reading("no such sentence", "", AnswerForm::Words);
    let answer = memory.ask("Who sold the seedlings to the neighbours?");
    assert_eq!(answer.answer, None, "{}", answer.reason);
}

#[test]
fn words_that_a_rule_finds_do_not_answer_if_the_reader_finds_no_answer_in_any_sentence() {
    let rows: &[Row] = &[("19T08:00:00", 0, Kind::Text, Some("Oda"), "The wheelbarrow is in the shed.")];
    let ask = |sentence: &'static str, question: &str| {
        let words = if sentence.is_empty() { "" } else { "in the shed" };
        let marks = Marks { sentence, words, form: AnswerForm::Words, read: Arc::default() };
        home(rows).with_meaning().with_reader(marks).ask(question)
    };
    let question = "Where is the wheelbarrow that the neighbours painted?";
    assert!(ask("wheelbarrow", question).answer.is_some());
    let declined = ask("no such sentence", question);
    assert_eq!(declined.answer, None, "{}", declined.reason);
    assert!(declined.evidence.iter().any(|item| item.observations == ["told-1"]), "the nearest memory is shown");
    // What says all of the question may answer, but not surely.
    let [sure, unsure] = ["wheelbarrow", "no such sentence"].map(|read| ask(read, "Where is the wheelbarrow?"));
    assert!(unsure.confidence < 0.6 && sure.confidence > 0.9, "{} {}", unsure.confidence, sure.confidence);
}

/// The value of a signal of the candidates of a layer.
fn signal(memory: &Home, question: &str, layer: &str, name: &str) -> Vec<f32> {
    let answer = answer(&Query { question: question.into(), trace: true, ..Query::default() }, memory).unwrap();
    let steps = answer.trace.iter().filter(|step| step.step == layer);
    let value = |detail: &str| detail.split(&format!(", {name}: ")).nth(1)?.split([',', ' ']).next()?.parse().ok();
    steps.filter_map(|step| value(&step.detail)).collect()
}

#[test]
fn other_words_of_its_event_count_against_a_candidate() {
    let rows: &[Row] =
        &[("19T08:00:00", 0, Kind::Text, Some("Oda"), "The wheelbarrow is in the shed, the ladder behind the barn.")];
    let question = "Where is the wheelbarrow?";
    let undisputed = |words| {
        let marks = Marks { sentence: "wheelbarrow", words, form: AnswerForm::Words, read: Arc::default() };
        let memory = home(rows).with_meaning().with_reader(marks);
        (signal(&memory, question, "episodes", "undisputed")[0], memory.ask(question).answer)
    };
    let (agreed, place) = undisputed("in the shed");
    assert!(agreed > 0.99 && place.as_deref() == Some("In the shed"), "{agreed} {place:?}");
    let (disputed, place) = undisputed("behind the barn");
    assert!(disputed < 0.2 && place.as_deref() == Some("Behind the barn"), "{disputed} {place:?}");
}

/// A reader that is not sure whether it is yes or no.
struct Undecided(Marks);

impl AnswerExtractor for Undecided {
    fn extract(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        let sure = self.0.extract(question, passages)?;
        Ok(sure.into_iter().map(|one| Extraction { forms: [0.4, 0.2, 0.3, 0.1, 0.0, 0.0], ..one }).collect())
    }
}

#[test]
fn a_verdict_is_as_certain_as_yes_and_no_are_apart() {
    let verdict = |rows: &[Row], question: &str| {
        let marks = Marks { sentence: "watered", words: "nobody", form: AnswerForm::Words, read: Arc::default() };
        let memory = home(rows).with_meaning().with_reader(Undecided(marks));
        signal(&memory, question, "read", "fits")[0]
    };
    // Together, yes and no are likelier than words.
    let certainty = verdict(ROWS, "Have the seedlings been watered lately?");
    assert!((certainty - 0.6).abs() < 1e-3, "0.3 of 0.2 and 0.3: {certainty}");
    let certainty = verdict(ROWS, "Why are the seedlings so limp?");
    assert!((certainty - 0.95).abs() < 1e-3, "that of the words: {certainty}");
}

#[test]
fn a_fast_question_is_not_read() {
    let (memory, read) = reading("nobody has watered", "nobody has watered", AnswerForm::Words);
    let question = "Why do the seedlings hang their heads?".to_owned();
    answer(&Query { question, effort: Effort::Fast, ..Query::default() }, &memory).unwrap();
    assert!(read.lock().unwrap().is_empty());
}

#[test]
fn a_reader_that_fails_is_named_and_the_rules_answer() {
    let memory = home(ROWS).with_meaning().with_reader(OutOfMemory);
    let answer = memory.ask("Who carries a crate into the greenhouse?");
    assert!(answer.answer.is_some());
    assert!(answer.degraded.iter().any(|line| line == "answer extraction: out of memory"), "{:?}", answer.degraded);
}
