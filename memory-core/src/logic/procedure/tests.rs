use super::{Procedure, ProcedureId};
use crate::logic::{Action, StepId};
use crate::{EventId, TimeSpan, Timestamp};

fn action(event: u64, text: &str) -> Action {
    let start = Timestamp::from_micros(event as i64 * 15_000_000);
    Action::new(EventId(event), text, TimeSpan::new(start, Timestamp::from_micros(start.as_micros() + 12_000_000)))
}

#[test]
fn a_session_leaves_steps_attributes_order_and_evidence() {
    let mut tea = Procedure::new(ProcedureId(7), "make tea", true);
    let mut boil = action(1, "Boil water");
    boil.tools = vec!["Kettle".to_owned()];
    boil.person = Some("Anna".to_owned());
    assert!(tea.add_session("s1", &[boil, action(2, "pour"), action(3, " ")]));
    assert!(tea.add_session("s2", &[action(4, "boil  water."), action(5, "add sugar"), action(6, "pour")]));
    assert!(!tea.add_session("s3", &[action(7, "  ")]), "nothing was done");

    let boil = tea.find_step("BOIL water").unwrap();
    let step = tea.step(boil).unwrap();
    assert_eq!((step.text.as_str(), step.count, step.attributes.tools["kettle"]), ("Boil water", 2, 1));
    assert_eq!(step.duration().unwrap().as_secs(), 12);
    let first = tea.runs().next().unwrap();
    assert_eq!(first.events().collect::<Vec<_>>(), [EventId(1), EventId(2)]);
    let person = first.persons().into_iter().next().unwrap();
    assert_eq!(tea.name(person), Some("Anna"));
    let orders: Vec<_> = tea.variants().into_iter().map(|variant| variant.steps).collect();
    assert_eq!(orders, [vec![StepId(0), StepId(1)], vec![StepId(0), StepId(2), StepId(1)]]);
    assert!(tea.dag().path(&orders[1]).is_some());
}

#[test]
fn an_action_told_late_takes_its_place_in_time() {
    let mut tea = Procedure::new(ProcedureId(1), "make tea", true);
    assert!(tea.add_session("s1", &[action(1, "boil"), action(5, "pour"), action(3, "add tea")]));
    let texts: Vec<_> = tea.runs().next().unwrap().steps().iter().map(|id| tea.steps[id.0 as usize].key()).collect();
    assert_eq!(texts, ["boil", "add tea", "pour"]);
    assert_eq!(tea.dag().len(), 5);
}

#[test]
fn a_session_given_back_leaves_no_trace_in_graph_and_counts() {
    let mut tea = Procedure::new(ProcedureId(1), "make tea", true);
    let told = [action(1, "boil"), action(2, "pour"), action(2, "pour"), action(3, "boil")];
    assert!(tea.add_session("s1", &told));
    assert_eq!(tea.runs().next().unwrap().steps().len(), 3, "the same action told twice counts once");
    let actions = tea.take(EventId(1));
    assert_eq!(actions.len(), 4, "and both tellings are given back");
    assert!(tea.dag().is_empty());
    assert!(tea.steps().iter().all(|step| step.count == 0 && step.sessions == 0));
}

#[test]
fn ids_are_written_and_read() {
    assert_eq!(ProcedureId(7).to_string(), "p-7");
    assert_eq!("p-7".parse(), Ok(ProcedureId(7)));
    assert!("x".parse::<ProcedureId>().is_err());
}
