//! Questions asked indirectly, and what was told in other words than a plain statement: plans that changed, corrections
//! of oneself, things named without their owner.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn an_indirect_question_asks_what_the_plain_one_does() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Object, Some("ladder"), "The ladder leans against the barn."),
        ("17T09:10:00", 0, Kind::Action, Some("Rolf"), "Rolf bolts the gate."),
        ("17T09:20:00", 0, Kind::State, Some("pump"), "The pump is running."),
        ("17T09:30:00", 0, Kind::Text, Some("Tove"), "The plumber comes on Friday at ten."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Could you please tell me where the ladder is?", "barn"),
        ("Do you happen to know who bolted the gate?", "Rolf"),
        ("I'd like to know when the plumber comes.", "10:00"),
        ("Rolf is asking. Any idea where the ladder is?", "barn"),
        ("Can you tell me whether the pump is running?", "Yes"),
        ("Do you know if the pump is running?", "Yes"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn an_appointment_is_at_the_time_to_which_it_was_moved() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "Boiler check, Thursday at nine."),
        ("17T12:00:00", 0, Kind::Text, Some("Ivo"), "They have moved my swimming lesson. Saturday at two, in the hall."),
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The firm rang. The check's put off to Friday at eleven."),
        ("18T10:00:00", 0, Kind::Text, Some("Rolf"), "I'll shear the ewes on Thursday. No, Thursday I'm at the mill. Sunday at ten."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("When is the boiler check?", "11:00"),
        ("When is Ivo's swimming lesson?", "14:00"),
        ("When will Rolf shear the ewes?", "Sunday"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_thing_is_where_it_was_put_last_also_if_its_owner_is_not_named() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Mrs Lind"), "My silver thimble was on the dresser this morning."),
        ("17T11:00:00", 0, Kind::Action, Some("Tove"), "Tove locks the thimble in the strongbox."),
        ("17T12:00:00", 0, Kind::Text, Some("Rolf"), "I could take the thimble to the smithy."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("Where is Mrs Lind's thimble?", "strongbox")]), NONE);
}

#[test]
fn a_film_that_was_told_of_is_no_recording() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Action, Some("Tove"), "Tove rinses the brushes."),
        ("17T20:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf and Tove watch a film about otters."),
        ("17T22:00:00", 0, Kind::Action, Some("Rolf"), "Rolf bolts the gate."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("What was the film yesterday about?", "otters")]), NONE);
}
