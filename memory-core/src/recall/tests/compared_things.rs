//! Things are compared by what is told of each.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn two_things_are_compared_by_a_question_about_each() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Ilse is nine years old."),
        ("18T10:10:00", 0, Kind::Text, Some("Tove"), "Our Bo is four years old."),
        ("18T10:20:00", 0, Kind::Text, Some("Jonas"), "The regatta is on Saturday at ten."),
        ("18T10:30:00", 0, Kind::Text, Some("Ivo"), "The flea market is on Friday at noon."),
    ];
    let misses = home(rows).misses(&[
        ("Who is older, Ilse or Bo?", "Ilse"),
        ("Who's the younger one, Ilse or Bo?", "Bo: "),
        ("Is Ilse older than Bo?", "Yes"),
        ("What comes first, the regatta or the flea market?", "The flea market"),
        ("Which is later, the regatta or the flea market?", "The regatta"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_thing_is_found_by_what_the_question_names_before_it_asks() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, None, "A tin bucket stands under the window in the hall."),
        ("18T10:10:00", 0, Kind::Caption, None, "Jonas hangs the cellar key on the hook by the stove."),
        ("18T10:20:00", 0, Kind::Caption, None, "Tove gives Ivo the spare key to the boat."),
        ("18T10:30:00", 0, Kind::Caption, None, "Box 7 is at the foot of the stairs."),
        ("18T10:40:00", 0, Kind::Caption, None, "Box 5 is in the attic."),
    ];
    let misses = home(rows).misses(&[
        ("That tin bucket, where is it standing?", "under the window"),
        ("Where do I find the key for the cellar?", "hook"),
        ("Box number seven, where is it now?", "stairs"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_condition_of_a_thing_is_the_one_that_was_told_last() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "The bilge pump is broken, it does not start."),
        ("18T12:00:00", 0, Kind::Action, None, "Jonas puts a new seal into the bilge pump."),
        ("18T12:10:00", 0, Kind::State, None, "The bilge pump works again."),
        ("18T13:00:00", 0, Kind::Caption, None, "Ivo walks past the bilge pump."),
    ];
    let misses = home(rows).misses(&[
        ("What state is the bilge pump in?", "works again"),
        ("What about the bilge pump?", "works again"),
        ("How is the bilge pump now?", "works again"),
    ]);
    assert_eq!(misses, NONE);
}
