//! What is learnt from events: kept, withdrawn, and learnt anew.

use std::time::Duration;

use memory_core::learning::LearningOptions;
use memory_core::{
    EntityChange, Fact, FactFilter, ForgetRequest, Kind, NamingRequest, Perceived, Person, ProcedureChange, Query,
    Route, Sensed, SensedEmbedding, Told,
};

use crate::support::{Bench, accepted, at, keyed, segment, told_at, with_session};

fn said(who: &str, text: &str, seconds: i64) -> Told {
    Told { entity: Some(who.into()), ..told_at(text, seconds) }
}

impl Bench {
    fn learn(&self) {
        while self.memory.learn_pending(3).unwrap().has_lessons() {}
    }

    fn facts(&self) -> Vec<Fact> {
        self.memory.facts(&FactFilter { past: true, ..FactFilter::default() }).unwrap()
    }

    fn values(&self) -> Vec<String> {
        self.facts().into_iter().map(|fact| format!("{}: {}", fact.subject, fact.value)).collect()
    }

    fn answer(&self, question: &str) -> memory_core::Answer {
        let query = Query { question: question.into(), now: Some(at(7200)), ..Query::default() };
        self.memory.ask(&query).unwrap()
    }
}

fn household() -> Vec<Told> {
    vec![
        said("Anna", "I put the blue mug in the dishwasher.", 0),
        said("Tom", "The red mug is on the table.", 10),
        said("Anna", "Clara watered the plants.", 20),
        said("Tom", "She went to the garden.", 30),
        said("Tom", "The front door is locked.", 40),
        said("Anna", "The blue mug is on the shelf.", 3600),
    ]
}

fn told_household() -> Bench {
    let bench = Bench::new();
    household().into_iter().for_each(|told| drop(accepted(bench.tell(told))));
    bench
}

#[test]
fn a_fact_does_not_answer_while_something_newer_of_it_is_not_learnt_yet() {
    let bench = told_household();
    bench.learn();
    accepted(bench.tell(said("Tom", "The blue mug is in the sink.", 5000)));
    for _ in 0..2 {
        let answer = bench.answer("Where is the blue mug?");
        assert_eq!(answer.answer.as_deref(), Some("In the sink"), "{answer:?}");
        bench.learn();
    }
}

#[test]
fn a_place_that_was_seen_does_not_answer_after_somebody_took_the_thing() {
    let bench = Bench::new();
    let seen = Told { kind: Kind::Object, ..told_at("umbrella: black, in the stand by the door", 0) };
    accepted(bench.tell(seen));
    bench.learn();
    assert!(bench.answer("Where is the umbrella?").answer.is_some_and(|text| text.contains("stand")));
    accepted(bench.tell(said("Tom", "Anna took the umbrella.", 3600)));
    bench.learn();
    let answer = bench.answer("Where is the umbrella?");
    assert_eq!(answer.answer.as_deref(), Some("With Anna"), "{}", answer.reason);
}

#[test]
fn questions_about_what_was_learnt_are_answered_with_the_events_they_go_back_to() {
    let bench = told_household();
    assert_eq!(bench.memory.stats().pending_lessons, 6);
    bench.learn();
    assert_eq!(bench.memory.stats().pending_lessons, 0);
    for (question, answer) in [
        ("Where is the blue mug?", "On the shelf"),
        ("Where was the blue mug before?", "In the dishwasher"),
        ("Where was the blue mug 90 minutes ago?", "In the dishwasher"),
        ("Who watered the plants last?", "Clara"),
        ("When were the plants last watered?", "Today at 08:00"),
        ("Is the front door locked?", "Yes: "),
        ("Where is Clara?", "In the garden"),
    ] {
        let said = bench.answer(question);
        assert!(said.answer.as_deref().unwrap_or_default().starts_with(answer), "{question}: {:?}", said.answer);
        assert!(!said.evidence.is_empty());
    }
    let mug = bench.answer("Where is the blue mug?");
    assert_eq!(mug.evidence[0].text, "Anna: The blue mug is on the shelf.");
    assert_eq!(bench.answer("Where is the hammer?").route, Route::None);
    bench.assert_clean();
}

#[test]
fn learning_survives_a_restart_and_goes_on_where_it_was() {
    let mut bench = told_household();
    assert_eq!(bench.memory.learn_pending(4).unwrap().lessons, 2);
    let learnt = bench.values();
    assert!(!learnt.is_empty());
    bench.reopen();
    assert_eq!(bench.memory.stats().pending_lessons, 2);
    assert_eq!(bench.values(), learnt);
    bench.learn();
    let learnt = bench.facts();
    bench.reopen();
    assert_eq!(bench.facts(), learnt);
    bench.assert_clean();
}

#[test]
fn a_kill_loses_slices_and_no_fact() {
    let mut bench = told_household();
    bench.learn();
    let learnt = bench.facts();
    bench.kill();
    bench.learn();
    assert_eq!(bench.facts(), learnt);
    bench.assert_clean();
}

#[test]
fn everything_learnt_anew_is_what_was_learnt() {
    let bench = told_household();
    bench.learn();
    let learnt = bench.facts();
    bench.memory.relearn().unwrap();
    assert!(bench.memory.stats().relearning);
    assert_eq!(bench.facts(), learnt, "until it is done, what was learnt is used");
    bench.learn();
    assert!(!bench.memory.stats().relearning);
    assert_eq!(bench.facts(), learnt);
    bench.assert_clean();
}

#[test]
fn forgetting_takes_facts_away_at_once_and_leaves_what_would_have_been_learnt_without() {
    let bench = told_household();
    bench.learn();
    // "She" of Tom's sentence was Clara, whom only Anna named.
    bench.memory.forget(&ForgetRequest::Entity("Anna".into())).unwrap();
    let left = bench.values();
    assert!(left.iter().all(|fact| !fact.contains("Clara") && !fact.contains("blue")), "{left:?}");
    assert!(bench.memory.stats().relearning);
    bench.assert_clean();
    bench.learn();

    let without = Bench::new();
    for told in household().into_iter().filter(|told| told.entity.as_deref() != Some("Anna")) {
        accepted(without.tell(told));
    }
    without.learn();
    assert_eq!(bench.values(), without.values());
    assert_ne!(bench.answer("Where is the blue mug?").route, Route::Symbolic);
    bench.assert_clean();
}

#[test]
fn a_corrected_fact_does_not_come_back() {
    let mut bench = Bench::new();
    bench.tell(keyed("a", "The mug is in the kitchen.", 0));
    bench.tell(keyed("b", "The keys are in the hall.", 0));
    bench.learn();
    bench.tell(keyed("a", "The mug is in the garden.", 0));
    assert_eq!(
        bench.values(),
        ["key: in the hall".replace("key:", "keys:")],
        "withdrawn before anything is learnt anew"
    );
    bench.learn();
    let expected = ["keys: in the hall", "mug: in the garden"];
    assert_eq!(bench.values(), expected);
    // By no other route: not told again, not learnt anew, not after a restart.
    bench.tell(Told { redelivered: true, ..keyed("a", "The mug is in the kitchen.", 0) });
    bench.memory.relearn().unwrap();
    bench.learn();
    assert_eq!(bench.values(), expected);
    bench.reopen();
    assert_eq!(bench.values(), expected);
    bench.assert_clean();
}

#[test]
fn what_nobody_could_learn_from_is_passed_over() {
    let bench = Bench::new();
    for text in ["is", "the the the is", "'s 's 's", "…", "Where is where is?", &"is in the ".repeat(200)] {
        for kind in Kind::ALL {
            accepted(bench.tell(Told { kind, ..told_at(text, 0) }));
        }
    }
    bench.learn();
    assert_eq!(bench.memory.stats().pending_lessons, 0);
    bench.assert_clean();
}

/// A segment in which a face is seen: of 0 to 7, each the farther from the others the more bits of their numbers differ.
fn with_face(start: i64, face: usize, shade: f32) -> Perceived {
    let mut seen = segment(start, start + 5, &["A person is in view."]);
    seen.session = format!("s{start}");
    let mut vector = vec![0.05 * shade; 8];
    vector[face] = 1.0;
    seen.events[0].embeddings =
        vec![SensedEmbedding { sensed: Sensed::Face, space: "faces-1".into(), vector, sequence: Vec::new() }];
    seen
}

fn two_faces() -> Bench {
    let bench = Bench::new();
    for (number, face) in [0, 1, 0, 0, 1].into_iter().enumerate() {
        accepted(bench.perceive(with_face(100 * number as i64, face, number as f32)));
    }
    bench.learn();
    bench
}

fn seen(persons: &[Person]) -> Vec<(Option<&str>, u64)> {
    persons.iter().map(|person| (person.name.as_deref(), person.faces)).collect()
}

fn name(entity: impl ToString, name: &str) -> NamingRequest {
    NamingRequest::Name { entity: entity.to_string(), name: name.into() }
}

#[test]
fn persons_are_named_kept_learnt_anew_and_forgotten_by_name() {
    let mut bench = two_faces();
    let persons = bench.memory.persons().unwrap();
    assert_eq!(seen(&persons), [(None, 3), (None, 2)]);
    bench.memory.name_entity(&name(persons[0].id, "Anna")).unwrap();
    let news: Vec<EntityChange> = bench.memory.take_entity_news().into_iter().map(|news| news.change).collect();
    assert_eq!(news, [EntityChange::New, EntityChange::New, EntityChange::Named]);
    accepted(bench.perceive(with_face(900, 0, 1.0)));
    bench.learn();

    let named = bench.memory.persons().unwrap();
    assert_eq!(seen(&named), [(Some("Anna"), 4), (None, 2)]);
    bench.memory.relearn().unwrap();
    bench.learn();
    assert_eq!(bench.memory.persons().unwrap(), named);
    bench.reopen();
    assert_eq!(bench.memory.persons().unwrap(), named);
    bench.kill();
    assert_eq!(bench.memory.persons().unwrap()[0].name.as_deref(), Some("Anna"));
    bench.learn();
    assert_eq!(bench.memory.persons().unwrap(), named);
    bench.assert_clean();

    let reply = bench.memory.forget(&ForgetRequest::Entity("Anna".into())).unwrap();
    assert_eq!(reply.events, 4, "she was named in none of them and recognised in all");
    assert_eq!(seen(&bench.memory.persons().unwrap()), [(None, 2)]);
    bench.assert_clean();
    bench.learn();
    assert_eq!(seen(&bench.memory.persons().unwrap()), [(None, 2)]);
    bench.assert_clean();
}

#[test]
fn who_was_there_in_an_event_can_be_somebody_else() {
    let mut bench = two_faces();
    let person = bench.memory.persons().unwrap()[0].clone();
    let event = bench.events()[2].id;
    let split = NamingRequest::Split { entity: person.id.to_string(), others: vec![event.to_string()] };
    let persons = bench.memory.name_entity(&split).unwrap();
    assert_eq!(seen(&persons), [(None, 2), (None, 1)]);
    let after = bench.memory.persons().unwrap();
    bench.memory.relearn().unwrap();
    bench.learn();
    assert_eq!(bench.memory.persons().unwrap(), after, "what people told is done again at its place");
    bench.reopen();
    assert_eq!(bench.memory.persons().unwrap(), after);
    bench.memory.forget(&ForgetRequest::Episodes(vec![bench.events()[2].episode])).unwrap();
    assert_eq!(seen(&bench.memory.persons().unwrap()), [(None, 2), (None, 2)]);
    bench.assert_clean();
    assert!(bench.memory.name_entity(&name("e-77", "Tom")).is_err());
}

#[test]
fn procedures_are_learnt_kept_and_withdrawn() {
    let mut bench = Bench::new();
    let step = |session: &str, text: &str, seconds: i64| {
        let mut told = with_session(told_at(text, seconds), session);
        told.attributes.insert("task".into(), memory_core::Value::Text("make tea".into()));
        Told { kind: Kind::Action, entity: Some("Anna".into()), ..told }
    };
    let mut last = None;
    for (number, session) in ["mon", "tue", "wed"].into_iter().enumerate() {
        for (at, text) in ["boil water", "add tea", "pour"].into_iter().enumerate() {
            let outcome = bench.tell(step(session, text, (number * 3_600 + at * 20) as i64));
            last = Some(accepted(outcome).0);
        }
    }
    bench.learn();
    let rows = bench.memory.check().unwrap().records;
    bench.reopen();
    assert_eq!(bench.memory.stats().pending_lessons, 0);
    bench.memory.relearn().unwrap();
    bench.learn();
    assert_eq!(bench.memory.check().unwrap().records, rows);
    bench.memory.forget(&ForgetRequest::Episodes(vec![last.unwrap()])).unwrap();
    bench.assert_clean();
    bench.learn();
    bench.assert_clean();
    assert!(bench.memory.check().unwrap().records < rows);
}

/// Somebody clears the table, without a goal or a session, after a pause.
fn clear_table(bench: &Bench, begin: i64) {
    for (at, text) in ["take the plates", "rinse the plates", "wipe the table"].into_iter().enumerate() {
        let told = told_at(text, begin + at as i64 * 20);
        accepted(bench.tell(Told { kind: Kind::Action, entity: Some("Anna".into()), ..told }));
    }
}

fn procedure_news(bench: &Bench) -> Vec<(ProcedureChange, Option<usize>)> {
    bench.learn();
    let news = bench.memory.take_procedure_news();
    news.into_iter().map(|news| (news.change, news.now.map(|now| now.sessions))).collect()
}

#[test]
fn news_of_procedures_tell_what_became_of_them_and_nothing_is_news_twice() {
    let mut bench = Bench::new();
    clear_table(&bench, 0);
    assert_eq!(procedure_news(&bench), [], "one session is no procedure");
    clear_table(&bench, 3_600);
    assert_eq!(procedure_news(&bench), [(ProcedureChange::New, Some(2))]);
    clear_table(&bench, 7_200);
    assert_eq!(procedure_news(&bench), [(ProcedureChange::Update, Some(3))]);
    bench.memory.relearn().unwrap();
    assert_eq!(procedure_news(&bench), [], "what is found again is no news");
    bench.reopen();
    assert_eq!(procedure_news(&bench), []);
    bench.memory.forget(&ForgetRequest::Entity("Anna".into())).unwrap();
    assert_eq!(procedure_news(&bench), [(ProcedureChange::End, None)]);
}

#[test]
fn learning_goes_by_its_options() {
    let bench = Bench::new();
    let usual = LearningOptions::default();
    bench.memory.set_learning_options(LearningOptions { min_sessions: 3, ..usual });
    clear_table(&bench, 0);
    clear_table(&bench, 3_600);
    assert_eq!(procedure_news(&bench), [], "two sessions are too few");
    clear_table(&bench, 7_200);
    assert_eq!(procedure_news(&bench), [(ProcedureChange::New, Some(3))]);
    // With a gap of three hours all of it was one session, which is what learning anew finds.
    bench.memory.set_learning_options(LearningOptions { gap: Duration::from_hours(3), ..usual });
    bench.memory.relearn().unwrap();
    assert_eq!(procedure_news(&bench), [(ProcedureChange::End, None)]);
}

/// Knows one sentence of German.
struct German;

const GERMAN: &str = "Die Tasse ist in der Küche.";

impl memory_core::ports::FactExtractor for German {
    fn extract(
        &self,
        event: &memory_core::Event,
    ) -> Result<Vec<memory_core::ports::Statement>, memory_core::ports::PortError> {
        let statement = |subject: &str, attribute: &str, value: &str| memory_core::ports::Statement {
            subject: subject.into(),
            attribute: attribute.into(),
            value: value.into(),
            holds: true,
        };
        match event.text.as_str() {
            GERMAN => Ok(vec![statement("mug", "place", "kitchen"), statement("", "", "")]),
            "broken" => Err(memory_core::ports::PortError { role: "fact extraction", message: "out of memory".into() }),
            _ => Ok(Vec::new()),
        }
    }
}

#[test]
fn a_language_model_reads_what_the_rules_cannot_and_may_fail() {
    let bench = Bench::new();
    bench.memory.set_fact_extractor(Some(std::sync::Arc::new(German)));
    for text in [GERMAN, "broken", "The keys are in the hall."] {
        accepted(bench.tell(told_at(text, 0)));
    }
    bench.learn();
    assert_eq!(bench.values(), ["keys: in the hall", "mug: in the kitchen"]);
}

/// Finds every pattern as good as its number says.
struct Strict(f32);

impl memory_core::ports::ProcedureJudge for Strict {
    fn judge(&self, steps: &[&str], context: &[String]) -> Result<f32, memory_core::ports::PortError> {
        assert!(steps.len() > 1 && !context.is_empty());
        Ok(self.0)
    }
}

#[test]
fn a_judge_that_is_set_decides_which_patterns_are_procedures_also_when_they_are_learnt_again() {
    let bench = Bench::new();
    bench.memory.set_procedure_judge(Some(std::sync::Arc::new(Strict(0.0))));
    clear_table(&bench, 0);
    clear_table(&bench, 3_600);
    assert_eq!(procedure_news(&bench), []);
    bench.memory.set_procedure_judge(Some(std::sync::Arc::new(Strict(1.0))));
    bench.memory.relearn().unwrap();
    assert_eq!(procedure_news(&bench), [(ProcedureChange::New, Some(2))]);
}
