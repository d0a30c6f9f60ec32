//! Known places, by their vectors.

use std::sync::Arc;

use drivers::encoders::{Encoder, EncoderError, Encoders, Filled, Picture, VectorEncoder};
use drivers::looking::{Labels, Looking};
use drivers::perception::Pace;
use memory_core::reasoning::{KnownPlace, LookOrder, Sighting, SightingKind, Tool, Tools};

use super::{OneFile, lighter, looking, ms, order, second_of};

/// Pictures up to the sixth second in one direction, brighter ones in another.
struct Rooms;

impl Encoder<Picture<'_>, Vec<f32>> for Rooms {
    fn model(&self) -> &str {
        "rooms"
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<f32>, EncoderError> {
        // One picture in three is a little off.
        let turned = 0.05 * (second_of(picture) % 3) as f32;
        let room = [1.0 - turned, turned];
        Ok(if second_of(picture) < 6 { room.to_vec() } else { vec![room[1], room[0]] })
    }
}

impl VectorEncoder<Picture<'_>> for Rooms {
    fn space(&self) -> &str {
        "rooms/1"
    }

    fn dimensions(&self) -> usize {
        2
    }
}

#[test]
fn a_look_tells_which_known_place_the_pictures_show_and_when() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let filled = Filled { image_embedding: Some(Arc::new(Rooms) as _), ..Filled::default() };
    let recordings = Arc::new(OneFile(Some(path)));
    let tools = Looking::new(Encoders::ready(filled), Labels::default(), recordings, Pace::default());
    assert_eq!(tools.reach(Tool::IntervalLocaliser).places.as_deref(), Some("rooms/1"));
    assert_eq!(looking(None).0.reach(Tool::IntervalLocaliser).places, None, "nothing makes vectors of pictures");
    let place = |name: &str, space: &str, view: [f32; 2]| KnownPlace {
        name: name.to_owned(),
        space: space.to_owned(),
        gamma: 0.9,
        views: vec![view.to_vec()],
    };
    let seen = |places: &[KnownPlace], tool: Tool| {
        let look = tools.look(&LookOrder { places, ..order(tool, &|| false) }).unwrap();
        let sighting = |seen: &Sighting| (seen.kind, seen.label.clone(), seen.stream, seen.share);
        look.sightings.iter().map(sighting).collect::<Vec<_>>()
    };
    let kitchen = place("kitchen", "rooms/1", [1.0, 0.0]);
    for tool in [Tool::IntervalLocaliser, Tool::SceneSnapper] {
        let found = seen(&[place("cellar", "rooms/1", [-1.0, 0.0]), kitchen.clone()], tool);
        let [(kind, name, stream, share)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((*kind, name.as_str()), (SightingKind::Place, "kitchen"), "what is like no known place is none");
        assert!(stream.start < ms(4400) && stream.end.abs_diff(ms(6000)) <= ms(300), "{stream:?}");
        assert!((share - 0.4).abs() < 0.11, "{share}");
    }
    let both = seen(&[kitchen, place("hall", "rooms/1", [0.0, 1.0])], Tool::IntervalLocaliser);
    assert_eq!(both.iter().map(|(_, name, ..)| name.as_str()).collect::<Vec<_>>(), ["kitchen", "hall"]);
    assert_eq!(seen(&[place("kitchen", "other/1", [1.0, 0.0])], Tool::IntervalLocaliser), [], "another space");
}
