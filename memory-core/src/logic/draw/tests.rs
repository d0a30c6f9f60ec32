use crate::logic::draw::Diagram;
use crate::logic::{Action, Procedure, ProcedureId};
use crate::{EventId, TimeSpan, Timestamp};

/// A procedure of these sessions.
fn procedure(goal: &str, sessions: &[&[&str]]) -> Procedure {
    let mut procedure = Procedure::new(ProcedureId(1), goal, true);
    let mut event = 0;
    for (number, steps) in sessions.iter().enumerate() {
        let actions: Vec<Action> = steps
            .iter()
            .map(|step| {
                event += 1;
                let at = Timestamp::from_micros(event as i64 * 1_000_000);
                Action::new(EventId(event), *step, TimeSpan::new(at, at))
            })
            .collect();
        assert!(procedure.add_session(&format!("s{number}"), &actions));
    }
    procedure
}

const TEA: &[&[&str]] = &[
    &["fill the kettle", "boil water", "put a tea bag into the cup", "pour", "stir"],
    &["fill the kettle", "boil water", "put a tea bag into the cup", "pour", "stir"],
    &["put a tea bag into the cup", "fill the kettle", "boil water", "pour"],
    &["heat water in the microwave", "put a tea bag into the cup", "pour", "stir", "stir"],
];

#[test]
fn the_graph_reads_well_for_graphviz() {
    insta::assert_snapshot!(Diagram::of(&procedure("make \"tea\"", TEA), 60).to_dot(), @r#"
    digraph procedure {
      label="make \"tea\""; labelloc=t; rankdir=TB;
      node [shape=box, style=rounded];
      n0 [label="START", shape=circle];
      n1 [label="fill the kettle"];
      n2 [label="boil water"];
      n3 [label="heat water in the microwave"];
      n4 [label="put a tea bag into the cup"];
      n5 [label="fill the kettle"];
      n6 [label="boil water"];
      n7 [label="pour"];
      n8 [label="stir"];
      n9 [label="stir (2)"];
      n10 [label="GOAL", shape=doublecircle];
      n0 -> n1 [label="0.43", count=2, penwidth=1.9];
      n0 -> n4 [label="0.29", count=1, penwidth=1.6];
      n0 -> n3 [label="0.29", count=1, penwidth=1.6];
      n1 -> n2 [label="1.00", count=2, penwidth=3.0];
      n2 -> n4 [label="1.00", count=2, penwidth=3.0];
      n3 -> n4 [label="1.00", count=1, penwidth=3.0];
      n4 -> n7 [label="0.67", count=3, penwidth=2.3];
      n4 -> n5 [label="0.33", count=1, penwidth=1.7];
      n5 -> n6 [label="1.00", count=1, penwidth=3.0];
      n6 -> n7 [label="1.00", count=1, penwidth=3.0];
      n7 -> n10 [label="0.33", count=1, penwidth=1.7];
      n7 -> n8 [label="0.67", count=3, penwidth=2.3];
      n8 -> n10 [label="0.60", count=2, penwidth=2.2];
      n8 -> n9 [label="0.40", count=1, penwidth=1.8];
      n9 -> n10 [label="1.00", count=1, penwidth=3.0];
    }
    "#);
}

#[test]
fn the_picture_shows_every_step_and_every_branch() {
    let svg = Diagram::of(&procedure("make <tea> & more", TEA), 60).to_svg();
    assert!(svg.contains("make &lt;tea&gt; &amp; more"));
    for label in ["START", "GOAL", "boil water", "stir (2)"] {
        assert!(svg.contains(label), "{label} is missing in {svg}");
    }
    assert!(svg.contains("4 sessions;") && svg.contains("marker-end"));
    assert_eq!(svg.matches("<path d=\"M").count(), svg.matches("marker-end=\"url(#arrow)\"").count() + 1);
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
}

#[test]
fn a_large_procedure_is_drawn_by_its_most_frequent_ways() {
    let steps: Vec<String> = (0..30).map(|step| format!("step number {step}")).collect();
    let usual: Vec<&str> = steps.iter().map(String::as_str).take(8).collect();
    let rare: Vec<&str> = steps.iter().map(String::as_str).skip(8).collect();
    let dot = Diagram::of(&procedure("assemble", &[&usual, &usual, &rare]), 10).to_dot();
    assert!(dot.contains("step number 7") && !dot.contains("step number 8"), "{dot}");
    let svg = Diagram::of(&procedure("assemble", &[&usual, &usual, &rare]), 10).to_svg();
    assert!(svg.contains("the 1 most frequent of 2 ways"));
}

#[test]
fn the_same_procedure_gives_the_same_picture() {
    let (one, two) = (procedure("make tea", TEA), procedure("make tea", TEA));
    assert_eq!(Diagram::of(&one, 60).to_svg(), Diagram::of(&two, 60).to_svg());
}

#[test]
fn a_procedure_that_nobody_did_is_a_start_and_a_goal() {
    let empty = Procedure::new(ProcedureId(1), "fly", true);
    assert!(Diagram::of(&empty, 60).to_svg().contains("GOAL"));
}
