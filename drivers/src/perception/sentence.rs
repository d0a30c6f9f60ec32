//! Describes what is in view in a sentence that a person would write and a search finds.

use super::colours::listed;
use super::scenes::Scene;
use super::tracks::{InView, PERSON};

/// Where the middle of a thing is left or right of the middle of the picture.
const LEFT: f32 = 0.36;
const RIGHT: f32 = 0.64;

/// "A person in a red top and blue trousers is in view on the left.", "Four cars are in view."
pub(super) fn in_view(view: &InView) -> String {
    let (thing, verb) = match view.count {
        1 => (described(view), "is"),
        count => (phrase(&view.label, count, ""), "are"),
    };
    let mut sentence = format!("{thing} {verb} in view");
    match view.moved() {
        Some(way) if way > 0.0 => sentence.push_str(", moving from left to right"),
        Some(_) => sentence.push_str(", moving from right to left"),
        None => sentence.push_str(place(view)),
    }
    if view.face {
        sentence.push_str(", facing the camera");
    }
    sentence.push('.');
    capitalised(sentence)
}

/// "The scene is white and brown, and looks like a flower."; `None` where nothing can be said of it.
pub(super) fn scene(scene: &Scene) -> Option<String> {
    let looks = scene.looks_like.as_ref().map(|(name, _)| format!("looks like {} {name}", article(name)));
    let colours = (!scene.colours.is_empty()).then(|| format!("is mostly {}", listed(&scene.colours)));
    Some(match (colours, looks) {
        (Some(colours), Some(looks)) => format!("The scene {colours} and {looks}."),
        (Some(one), None) | (None, Some(one)) => format!("The scene {one}."),
        (None, None) if !scene.vectors.is_empty() || !scene.joint.is_empty() => {
            "The scene has no colour that prevails.".to_owned()
        }
        (None, None) => return None,
    })
}

/// Adds the colours.
fn described(view: &InView) -> String {
    let [upper, lower] = view.colours.each_ref().map(|colours| listed(colours));
    if &*view.label != PERSON {
        return phrase(&view.label, 1, &upper);
    }
    let person = phrase(PERSON, 1, "");
    match (upper.as_str(), lower.as_str()) {
        ("", "") => person,
        (upper, lower) if upper == lower => format!("{person} in {upper} clothes"),
        (upper, "") => format!("{person} in {} {upper} top", article(upper)),
        ("", lower) => format!("{person} in {lower} trousers"),
        (upper, lower) => format!("{person} in {} {upper} top and {lower} trousers", article(upper)),
    }
}

fn place(view: &InView) -> &'static str {
    match (view.place[0][0] + view.place[1][0]) / 2.0 {
        _ if view.wide => "",
        x if x < LEFT => " on the left",
        x if x > RIGHT => " on the right",
        _ => " in the middle",
    }
}

pub(super) fn capitalised(mut sentence: String) -> String {
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

fn phrase(label: &str, count: usize, colour: &str) -> String {
    let name = if label == "tv" { "TV" } else { label };
    let name = if colour.is_empty() { name.to_owned() } else { format!("{colour} {name}") };
    match (label, count) {
        ("broccoli", _) => format!("some {name}"),
        ("scissors" | "skis", 1) => format!("a pair of {name}"),
        ("scissors" | "skis", _) => format!("{} pairs of {name}", number(count)),
        (_, 1) => format!("{} {name}", article(&name)),
        _ => format!("{} {}", number(count), plural(&name)),
    }
}

/// By the first letter; no label of COCO and no colour begins with a vowel that is not spoken as one.
pub(super) fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}

fn number(count: usize) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

fn plural(name: &str) -> String {
    match name {
        "person" => "people".to_owned(),
        "mouse" => "mice".to_owned(),
        "knife" => "knives".to_owned(),
        "sheep" => "sheep".to_owned(),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|end| name.ends_with(end)) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    fn view(label: &str, count: usize, colours: [&[&'static str]; 2], x: [f32; 2]) -> InView {
        InView {
            label: Arc::from(label),
            count,
            start: Duration::ZERO,
            end: Duration::ZERO,
            confidence: 1.0,
            colours: colours.map(<[&str]>::to_vec),
            place: x.map(|x| [x, 0.5]),
            wide: false,
            face: false,
            face_vector: None,
        }
    }

    #[test]
    fn a_thing_is_told_with_its_colour_and_its_place() {
        assert_eq!(in_view(&view("car", 1, [&["red"], &[]], [0.2, 0.2])), "A red car is in view on the left.");
        assert_eq!(
            in_view(&view("dog", 1, [&["black", "white"], &[]], [0.5, 0.5])),
            "A black and white dog is in view in the middle."
        );
        assert_eq!(
            in_view(&view("umbrella", 1, [&["orange"], &[]], [0.8, 0.8])),
            "An orange umbrella is in view on the right."
        );
        let wide = InView { wide: true, ..view("bus", 1, [&[], &[]], [0.2, 0.2]) };
        assert_eq!(in_view(&wide), "A bus is in view.");
        assert_eq!(
            in_view(&view("car", 1, [&["white"], &[]], [0.1, 0.9])),
            "A white car is in view, moving from left to right."
        );
    }

    #[test]
    fn a_person_is_told_with_the_clothes() {
        let person = |colours| in_view(&InView { wide: true, ..view("person", 1, colours, [0.5; 2]) });
        assert_eq!(person([&[], &[]]), "A person is in view.");
        assert_eq!(person([&["black"], &["black"]]), "A person in black clothes is in view.");
        assert_eq!(person([&["grey"], &["blue"]]), "A person in a grey top and blue trousers is in view.");
        assert_eq!(person([&["orange"], &[]]), "A person in an orange top is in view.");
        let face = InView { face: true, wide: true, ..view("person", 1, [&[], &[]], [0.5; 2]) };
        assert_eq!(in_view(&face), "A person is in view, facing the camera.");
    }

    #[test]
    fn a_scene_is_told_by_its_colours_and_by_what_it_looks_like() {
        let scene_of = |colours: &[&'static str], name: Option<&str>, vectors| {
            let looks_like = name.map(|name| (Arc::from(name), 0.7));
            scene(&Scene { colours: colours.to_vec(), looks_like, names: Vec::new(), vectors, joint: Vec::new() })
        };
        assert_eq!(
            scene_of(&["red", "green"], Some("flower"), Vec::new()).unwrap(),
            "The scene is mostly red and green and looks like a flower."
        );
        assert_eq!(scene_of(&["grey"], None, Vec::new()).unwrap(), "The scene is mostly grey.");
        assert_eq!(scene_of(&[], Some("alp"), Vec::new()).unwrap(), "The scene looks like an alp.");
        assert_eq!(scene_of(&[], None, Vec::new()), None);
        let picture = memory_core::MomentVector { at: std::time::Duration::ZERO, vector: vec![1.0] };
        assert!(scene_of(&[], None, vec![picture]).is_some(), "its vector is worth an event");
    }

    #[test]
    fn words_with_forms_of_their_own_are_used_as_people_use_them() {
        let many = |label, count| in_view(&InView { wide: true, ..view(label, count, [&[], &[]], [0.5; 2]) });
        assert_eq!(many("person", 2), "Two people are in view.");
        assert_eq!(many("scissors", 1), "A pair of scissors is in view.");
        assert_eq!(many("skis", 2), "Two pairs of skis are in view.");
        assert_eq!(many("sheep", 4), "Four sheep are in view.");
        assert_eq!(many("bus", 14), "14 buses are in view.");
        assert_eq!(many("broccoli", 1), "Some broccoli is in view.");
        assert_eq!(many("tv", 3), "Three TVs are in view.");
    }
}
