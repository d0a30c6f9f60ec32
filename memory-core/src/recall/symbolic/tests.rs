//! Questions and requests to a kitchen in which tea, coffee and a fruit salad were made.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::*;
use crate::index::{CompressedIndex, Document, Index, IndexOptions, Search};
use crate::learning::Learnt;
use crate::lesson::Lesson;
use crate::logic::query::Part;
use crate::logic::{Action, LogicOptions, Procedures};
use crate::ports::TextEmbedder;
use crate::{
    AbsentRole, Answer, Clock, Episode, EpisodeId, Event, EventId, Kind, ManualClock, Origin, PictureFormat,
    ProcedureError, ProcedureReply, ProcedureRequest, Query, Route, TimeSpan, Value, WhichProcedure,
};

pub(super) struct Kitchen {
    events: Vec<Event>,
    index: CompressedIndex,
    search: Arc<dyn Search>,
    procedures: Procedures,
    learnt: Option<Learnt>,
    clock: ManualClock,
    zone: TimeZone,
}

impl Reader for Kitchen {
    fn search(&self) -> &dyn Search {
        &*self.search
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        Ok(self.events.iter().find(|event| event.id == id).cloned())
    }

    fn episode(&self, _: EpisodeId) -> Result<Option<Episode>, ReadError> {
        Ok(None)
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        None
    }

    fn vector(&self, _: EventId) -> Option<Vec<i16>> {
        None
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        &[]
    }

    fn pending_embeddings(&self) -> u64 {
        0
    }

    fn learnt(&self) -> Option<&Learnt> {
        self.learnt.as_ref()
    }

    fn procedures(&self) -> Option<&Procedures> {
        Some(&self.procedures)
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }
}

pub(super) fn at(text: &str) -> Timestamp {
    Timestamp::parse(&format!("2026-11-{text}+01:00")).unwrap()
}

impl Kitchen {
    pub fn empty() -> Self {
        let index = CompressedIndex::new(IndexOptions::default());
        Self {
            events: Vec::new(),
            search: index.snapshot(),
            index,
            procedures: Procedures::new(LogicOptions::default()),
            learnt: None,
            clock: ManualClock::at(at("20T12:00:00")),
            zone: TimeZone::fixed(jiff::tz::offset(1)),
        }
    }

    pub fn tell(
        &mut self,
        kind: Kind,
        begin: Timestamp,
        entity: Option<&str>,
        text: &str,
        attributes: &[(&str, &str)],
    ) -> EventId {
        let id = EventId(self.events.len() as u64 + 1);
        let event = Event {
            id,
            episode: EpisodeId(id.0),
            origin: Origin::Told,
            sender_id: None,
            kind,
            modality: kind.modality(),
            text: text.to_owned(),
            span: TimeSpan::new(begin, begin),
            stream: None,
            source: "test".to_owned(),
            entity: entity.map(str::to_owned),
            attributes: attributes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Value::Text((*value).to_owned())))
                .collect(),
            confidence: 1.0,
            media: None,
            received: begin,
            pose: None,
        };
        self.index.append(&[Document::of(&event)]);
        self.search = self.index.snapshot();
        self.events.push(event);
        id
    }

    /// A told session: steps with their tool ("" for none), a minute apart.
    pub fn session(&mut self, name: &str, begin: &str, person: &str, goal: Option<&str>, steps: &[(&str, &str)]) {
        for (number, (text, tool)) in steps.iter().enumerate() {
            let begin = at(begin).saturating_add(std::time::Duration::from_secs(60 * number as u64));
            let event = self.tell(Kind::Action, begin, Some(person), text, &[("session", name)]);
            let mut action = Action::new(event, *text, TimeSpan::new(begin, begin));
            action.source = "test".to_owned();
            action.person = Some(person.to_owned());
            action.session = Some(name.to_owned());
            action.goal = goal.map(str::to_owned);
            action.tools = [*tool].into_iter().filter(|tool| !tool.is_empty()).map(str::to_owned).collect();
            self.procedures.observe(&action, &|_| None);
        }
    }

    /// Learns facts from everything that was told.
    fn learn(&mut self) {
        let mut learnt = Learnt::default();
        for event in &self.events {
            learnt.learn(&Lesson { event: event.clone(), vectors: Vec::new(), statements: Vec::new() }, &|_| None);
        }
        self.learnt = Some(learnt);
    }

    fn usual() -> Self {
        let mut kitchen = Self::empty();
        let kettle =
            [("boil water", "kettle"), ("put tea into the cup", "spoon"), ("pour the water", ""), ("stir", "spoon")];
        let microwave = [("heat water", "microwave"), ("put tea into the cup", "spoon"), ("pour the water", "")];
        let salad = [("chop the fruits", "knife"), ("mix the fruits", "bowl"), ("serve the salad", "spoon")];
        let coffee = [("grind the beans", "mill"), ("brew the coffee", "machine")];
        kitchen.session("t1", "17T08:00:00", "Anna", Some("make tea"), &kettle);
        kitchen.session("t2", "18T08:05:00", "Anna", Some("make tea"), &kettle);
        kitchen.session("t3", "18T17:00:00", "Ben", Some("make tea"), &microwave);
        kitchen.session("f1", "18T18:00:00", "Mia", Some("make fruit salad"), &salad);
        kitchen.session("f2", "19T18:00:00", "Anna", Some("make fruit salad"), &salad);
        kitchen.session("c1", "19T08:00:00", "Anna", Some("make coffee"), &coffee);
        kitchen
    }

    pub fn ask(&self, question: &str) -> Answer {
        crate::recall::answer(&Query { question: question.to_owned(), ..Query::default() }, self).unwrap()
    }

    /// What procedures say by themselves, before they meet the other layers.
    fn told(&self, question: &str) -> String {
        let said = answer(question, self, None, self.clock.now(), 5).unwrap();
        let said = said.unwrap_or_else(|| panic!("no answer from procedures: {question}"));
        let signals = [said.goal, said.agreement, said.support];
        assert!(!said.events.is_empty() && signals.iter().all(|signal| (0.0..=1.0).contains(signal)), "{question}");
        format!("{:?}, {:.2} {:.2} {:.2}: {}", said.intent, said.goal, said.agreement, said.support, said.answer)
    }

    fn serve(&self, request: &ProcedureRequest) -> ProcedureReply {
        serve(request, self).unwrap()
    }
}

#[test]
fn plain_questions_are_answered_from_procedures() {
    let kitchen = Kitchen::usual();
    let told: BTreeMap<&str, String> = [
        "How do I make tea?",
        "How do I make tea without the kettle?",
        "How can I make tea if the kettle is broken?",
        "How do I make tea without the kettle and the microwave?",
        "How do I make tea in at most three steps?",
        "What are the steps to make coffee?",
        "What comes after boiling the water when making tea?",
        "What do I need for fruit salad?",
        "I have chopped the fruits. What do I still need for fruit salad?",
        "What does Anna usually do in the morning?",
        "What does Anna usually do?",
        "What is Ben's evening routine?",
        "How can I make fruit salad with the bowl?",
    ]
    .into_iter()
    .map(|question| (question, kitchen.told(question)))
    .collect();
    insta::assert_json_snapshot!(told);
}

/// NS-Mem, Figure 1: the fruits are chopped, the bowl is broken, a store downstairs sells bowls.
#[test]
fn jack_gets_a_bowl_from_the_store_before_he_mixes() {
    let mut kitchen = Kitchen::usual();
    kitchen.session("now", "20T11:50:00", "Jack", Some("make fruit salad"), &[("chop the fruits", "knife")]);
    assert_eq!(kitchen.ask("What should Jack do next?").answer.as_deref(), Some("Next: mix the fruits."));
    let broken = kitchen.tell(Kind::State, at("20T11:55:00"), None, "The bowl at home is broken.", &[]);
    let store =
        kitchen.tell(Kind::State, at("20T11:56:00"), None, "A store downstairs sells bowls, one minute away.", &[]);
    for question in ["What should Jack do next?", "What should Jack do next to make fruit salad?"] {
        let answer = kitchen.ask(question);
        let text = answer.answer.clone().unwrap();
        assert!(text.contains("broken") && text.contains("A store downstairs sells bowls"), "{text}");
        assert!(text.contains("then mix the fruits"), "{text}");
        let evidence: Vec<&str> =
            answer.evidence.iter().flat_map(|item| &item.observations).map(String::as_str).collect();
        assert_eq!(evidence[..2], [broken.to_string(), store.to_string()], "{answer:?}");
        assert!(answer.evidence.len() > 2, "the step's own evidence comes with it");
    }
    assert_eq!(
        kitchen.ask("The bowl is broken, how can I make fruit salad?").answer.as_deref(),
        Some(
            "Make fruit salad: chop the fruits, then mix the fruits, which needs the bowl, but “The bowl at home is \
             broken”. So get another bowl first (“A store downstairs sells bowls, one minute away”), then mix the fruits, \
             then serve the salad."
        )
    );
    kitchen.tell(Kind::State, at("20T11:58:00"), None, "The bowl has been repaired.", &[]);
    assert!(!kitchen.told("What should Jack do next?").contains("broken"));
}

#[test]
fn a_fact_in_force_blocks_the_step_that_needs_the_thing_whatever_its_words() {
    let blocked = |told: &[&str]| {
        let mut kitchen = Kitchen::usual();
        kitchen.session("sit", "18T20:00:00", "Ben", Some("have a rest"), &[("lie down", "sofa"), ("sleep", "")]);
        for (number, text) in told.iter().enumerate() {
            kitchen.tell(Kind::Text, at(&format!("20T11:5{number}:00")), Some("Tom"), text, &[]);
        }
        kitchen.learn();
        let of = |goal: &str| {
            let of = WhichProcedure::of_goal(goal);
            let request = ProcedureRequest::Alternatives { of, blocked: Vec::new(), done: Vec::new(), max: 5 };
            let ProcedureReply::Alternatives(found) = kitchen.serve(&request) else { panic!("alternatives") };
            assert_eq!(found.because.is_empty(), found.blocked.is_empty(), "{found:?}");
            found.blocked
        };
        [of("fruit salad"), of("have a rest")].concat()
    };
    assert_eq!(blocked(&["I washed the bowl.", "It is broken."]), ["mix the fruits"], "it is the bowl");
    assert_eq!(blocked(&["Jack broke the bowl."]), ["mix the fruits"], "what was done to it");
    assert_eq!(blocked(&["The couch is faulty."]), ["lie down"], "one thing of two names");
    assert_eq!(blocked(&["Jack broke the bowl.", "I fixed the bowl."]), [""; 0], "only the fact in force counts");
    assert_eq!(blocked(&["Jack broke the window."]), [""; 0]);
}

#[test]
fn what_is_broken_blocks_only_the_steps_that_need_it() {
    let mut kitchen = Kitchen::usual();
    let with = |tool| [("chop the fruits", "knife"), ("mix the fruits", tool), ("serve the salad", "spoon")];
    kitchen.session("f3", "19T19:00:00", "Ben", Some("make fruit salad"), &with("pot"));
    kitchen.tell(Kind::Text, at("20T11:55:00"), Some("Anna"), "Tom broke the pot.", &[]);
    kitchen.learn();
    let request = |blocked: &[&str]| ProcedureRequest::Alternatives {
        of: WhichProcedure::of_goal("fruit salad"),
        blocked: blocked.iter().map(|thing| (*thing).to_owned()).collect(),
        done: Vec::new(),
        max: 5,
    };
    let blocked = |kitchen: &Kitchen, things: &[&str]| {
        let ProcedureReply::Alternatives(found) = kitchen.serve(&request(things)) else { panic!("alternatives") };
        found.blocked
    };
    assert_eq!(blocked(&kitchen, &[]), [""; 0], "two of three mixed in the bowl");
    assert_eq!(blocked(&kitchen, &["pot"]), ["mix the fruits"], "who asks without the pot is told what used it");
    for (number, day) in ["19T20:00:00", "19T21:00:00"].into_iter().enumerate() {
        kitchen.session(&format!("g{number}"), day, "Ben", Some("make fruit salad"), &with("pot"));
    }
    assert_eq!(blocked(&kitchen, &[]), ["mix the fruits"], "the edge to the pot has grown as heavy");
}

#[test]
fn a_thing_is_meant_under_all_its_names() {
    let mut kitchen = Kitchen::usual();
    kitchen.session("sit", "18T20:00:00", "Ben", Some("have a rest"), &[("lie down", "sofa"), ("sleep", "")]);
    let paths = |part| {
        let without = vec![Phrase::of_part("couch", part)];
        let constraints = Constraints { without, ..Constraints::default() };
        let of = WhichProcedure::of_goal("have a rest");
        let ProcedureReply::Paths(found) =
            kitchen.serve(&ProcedureRequest::Paths { of, constraints, done: Vec::new(), max: 5 })
        else {
            panic!("paths")
        };
        found.ways.len()
    };
    assert_eq!(paths(Part::Tool), 0, "the couch is the sofa");
    assert_eq!(paths(Part::Object), 1, "and nothing that was lain down on another part");
}

#[test]
fn steps_lead_to_the_facts_about_their_things() {
    let mut kitchen = Kitchen::usual();
    for (minute, text) in
        [(50, "The bowl is on the shelf."), (52, "The bowl is on the shelf."), (55, "Tom broke the bowl.")]
    {
        kitchen.tell(Kind::Text, at(&format!("20T11:{minute}:00")), Some("Anna"), text, &[]);
    }
    kitchen.learn();
    let get = ProcedureRequest::Get(WhichProcedure::of_goal("fruit salad"));
    let ProcedureReply::Procedure(found) = kitchen.serve(&get) else { panic!("a procedure") };
    let linked: Vec<_> =
        found.steps.iter().flat_map(|step| step.facts.iter().map(|linked| (&*step.text, linked))).collect();
    let told: Vec<_> = linked
        .iter()
        .map(|(step, linked)| {
            (*step, &*linked.name, linked.observations, &*linked.fact.value, linked.fact.weight, linked.blocks)
        })
        .collect();
    assert_eq!(
        told,
        [("mix the fruits", "bowl", 2, "on the shelf", 2, false), ("mix the fruits", "bowl", 2, "broken", 1, true)]
    );
    kitchen.events.retain(|event| event.text != "Tom broke the bowl.");
    let ProcedureReply::Procedure(found) = kitchen.serve(&get) else { panic!("a procedure") };
    assert_eq!(found.steps.iter().map(|step| step.facts.len()).sum::<usize>(), 1, "what was hidden is not shown");
}

#[test]
fn a_thing_that_others_did_without_is_stood_in_for() {
    let mut kitchen = Kitchen::usual();
    kitchen.session(
        "f3",
        "19T19:00:00",
        "Ben",
        Some("make fruit salad"),
        &[("chop the fruits", "knife"), ("mix the fruits", "pot"), ("serve the salad", "spoon")],
    );
    kitchen.tell(Kind::Text, at("20T11:55:00"), Some("Anna"), "We can't find the bowl.", &[]);
    assert_eq!(
        kitchen.ask("How do I make fruit salad?").answer.as_deref(),
        Some(
            "Make fruit salad: chop the fruits, then mix the fruits, which needs the bowl, but “We can't find the bowl”. So \
             use the pot instead, as in 1 session."
        )
    );
    let request = ProcedureRequest::Alternatives {
        of: WhichProcedure::of_goal("fruit salad"),
        blocked: Vec::new(),
        done: vec!["chop the fruits".into()],
        max: 5,
    };
    let ProcedureReply::Alternatives(found) = kitchen.serve(&request) else { panic!("alternatives") };
    assert_eq!(found.blocked, ["mix the fruits"]);
    assert_eq!(found.because[0].thing, "bowl");
    assert_eq!((found.others[0].with.as_str(), found.others[0].seen), ("pot", 1));
}

#[test]
fn what_fits_no_procedure_is_left_to_the_search_in_events() {
    let mut kitchen = Kitchen::usual();
    kitchen.tell(Kind::Text, at("20T09:00:00"), Some("Anna"), "To make pancakes you need flour, eggs and milk.", &[]);
    for question in [
        "How do I make pancakes?",
        "What does Tom usually do?",
        "What did Anna do on the nineteenth?",
        "How do I repair the bicycle?",
        "What should Tom do next?",
        "Who boiled water?",
    ] {
        assert_ne!(kitchen.ask(question).route, Route::Symbolic, "{question}");
    }
    assert_ne!(Kitchen::empty().ask("How do I make tea?").route, Route::Symbolic);
}

#[test]
fn requests_are_answered_with_their_evidence() {
    let kitchen = Kitchen::usual();
    let tea = || WhichProcedure::of_goal("Make tea");
    let ProcedureReply::Procedure(found) = kitchen.serve(&ProcedureRequest::Get(tea())) else { panic!("a procedure") };
    assert_eq!((found.summary.sessions, found.summary.steps, found.summary.named), (3, 5, true));
    assert_eq!(found.summary.evidence[0].observations, ["ev-1", "ev-2", "ev-3", "ev-4"]);
    assert_eq!((found.steps[0].text.as_str(), found.steps.last().unwrap().text.as_str()), ("START", "GOAL"));
    let from_start: f64 = found.edges.iter().filter(|edge| edge.from == "start").map(|edge| edge.probability).sum();
    assert!((from_start - 1.0).abs() < 1e-9);
    let by_id = WhichProcedure { id: Some(found.summary.id), goal: Some("something else".into()) };
    assert_eq!(kitchen.serve(&ProcedureRequest::Get(by_id)), ProcedureReply::Procedure(found));

    let ProcedureReply::List(all) = kitchen.serve(&ProcedureRequest::List { goal_like: None, max: 100 }) else {
        panic!("a list")
    };
    let goals: Vec<&str> = all.iter().map(|one| one.goal.as_str()).collect();
    assert_eq!(goals, ["make tea", "make fruit salad", "make coffee"]);

    let done = vec!["chop the fruits".to_owned()];
    let next = kitchen.serve(&ProcedureRequest::Next { of: WhichProcedure::of_goal("fruit salad"), done, k: 2 });
    let ProcedureReply::Next(next) = next else { panic!("next steps") };
    assert_eq!((next.len(), next[0].step.as_str()), (2, "mix the fruits"));

    let anna = kitchen.serve(&ProcedureRequest::Behaviours { person: "Anna".into() });
    let ProcedureReply::Behaviours(anna) = anna else { panic!("behaviours") };
    let told: Vec<(&str, usize)> = anna.iter().map(|one| (one.goal.as_str(), one.sessions)).collect();
    assert_eq!(told, [("make tea", 2), ("make fruit salad", 1), ("make coffee", 1)]);
    assert_eq!(anna[0].evidence.len(), 2);

    let show = ProcedureRequest::Show { of: tea(), format: PictureFormat::Svg, max_steps: 60 };
    let ProcedureReply::Picture { picture, .. } = kitchen.serve(&show) else { panic!("a picture") };
    assert!(picture.starts_with("<svg") && picture.contains("boil water"));
}

#[test]
fn what_verification_refuses_is_listed_as_a_candidate_and_answers_nothing() {
    let mut kitchen = Kitchen::usual();
    let said = ["look at the train", "laugh about a joke", "ask for the radio", "point at the cat"];
    for (day, order) in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]].into_iter().enumerate() {
        let steps: Vec<(&str, &str)> = order.into_iter().map(|at: usize| (said[at], "")).collect();
        kitchen.session(&format!("x{day}"), &format!("1{day}T20:00:00"), "Ben", None, &steps);
    }
    kitchen.session("once", "19T21:00:00", "Ben", None, &[("sneeze", ""), ("wipe the nose", "")]);
    let ProcedureReply::List(all) = kitchen.serve(&ProcedureRequest::List { goal_like: None, max: 100 }) else {
        panic!("a list")
    };
    let candidates: Vec<bool> = all.iter().map(|one| one.candidate).collect();
    assert_eq!(candidates, [false, false, false, true], "one session alone is not listed: {all:?}");
    let talk = all.last().unwrap();
    assert_eq!((talk.sessions, talk.named), (4, false));
    let request = ProcedureRequest::Behaviours { person: "Ben".into() };
    let ProcedureReply::Behaviours(of_ben) = kitchen.serve(&request) else { panic!("behaviours") };
    let found: Vec<(usize, bool)> = of_ben.iter().map(|one| (one.sessions, one.candidate)).collect();
    assert_eq!(found, [(1, false), (4, true)], "what is sure comes first");
    let get = ProcedureRequest::Get(WhichProcedure { id: Some(talk.id), goal: None });
    let ProcedureReply::Procedure(detail) = kitchen.serve(&get) else { panic!("a procedure") };
    assert!(detail.summary.candidate);
    assert!(!kitchen.told("What does Ben usually do?").contains("joke"), "a question is answered by procedures alone");
}

#[test]
fn bad_requests_say_what_to_change() {
    let kitchen = Kitchen::usual();
    let long = "x".repeat(2_000);
    for (request, hint) in [
        (ProcedureRequest::Get(WhichProcedure::default()), "`goal` or by `id`"),
        (ProcedureRequest::Get(WhichProcedure::of_goal("")), "empty"),
        (ProcedureRequest::Get(WhichProcedure::of_goal(long.clone())), "1024 are allowed"),
        (ProcedureRequest::Get(WhichProcedure::of_goal("build a rocket")), "`list` names"),
        (
            ProcedureRequest::Get(WhichProcedure::of_goal("make a rocket at home in the garden")),
            "the nearest are: make tea",
        ),
        (ProcedureRequest::Behaviours { person: " ".into() }, "empty"),
        (
            ProcedureRequest::Next { of: WhichProcedure::of_goal("make tea"), done: vec!["x".into(); 2_000], k: 1 },
            "1024 are allowed",
        ),
    ] {
        let error = serve(&request, &kitchen).unwrap_err();
        assert!(error.to_string().contains(hint), "{request:?}: {error}");
        assert!(!matches!(error, ProcedureError::Read(_)));
    }
}
