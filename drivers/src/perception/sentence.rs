//! What is in view, as a sentence that a person would write and a search finds.

/// `[("person", 2), ("dining table", 1)]` as "Two people and a dining table are in view."
pub(super) fn in_view(things: &[(&str, usize)]) -> String {
    let phrases: Vec<String> = things.iter().map(|(label, count)| phrase(label, *count)).collect();
    let single = things.len() == 1 && things[0].1 == 1;
    let list = match phrases.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    };
    let verb = if single || things.is_empty() { "is" } else { "are" };
    let mut sentence = format!("{list} {verb} in view.");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

fn phrase(label: &str, count: usize) -> String {
    let name = if label == "tv" { "TV" } else { label };
    match (label, count) {
        ("broccoli", _) => "some broccoli".to_owned(),
        ("scissors" | "skis", 1) => format!("a pair of {name}"),
        ("scissors" | "skis", _) => format!("{} pairs of {name}", number(count)),
        (_, 1) => format!("{} {name}", article(name)),
        _ => format!("{} {}", number(count), plural(name)),
    }
}

/// By the first letter; no label of COCO begins with a vowel that is not spoken as one.
fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
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
    use super::*;

    #[test]
    fn one_thing_two_things_and_many_read_like_sentences() {
        assert_eq!(in_view(&[("dog", 1)]), "A dog is in view.");
        assert_eq!(in_view(&[("person", 1), ("dining table", 1)]), "A person and a dining table are in view.");
        assert_eq!(in_view(&[("person", 2)]), "Two people are in view.");
        assert_eq!(
            in_view(&[("umbrella", 1), ("wine glass", 3), ("tv", 14)]),
            "An umbrella, three wine glasses and 14 TVs are in view."
        );
    }

    #[test]
    fn words_with_forms_of_their_own_are_used_as_people_use_them() {
        assert_eq!(in_view(&[("scissors", 1)]), "A pair of scissors is in view.");
        assert_eq!(in_view(&[("skis", 2)]), "Two pairs of skis are in view.");
        assert_eq!(in_view(&[("sheep", 4)]), "Four sheep are in view.");
        assert_eq!(in_view(&[("mouse", 2), ("knife", 2)]), "Two mice and two knives are in view.");
        assert_eq!(in_view(&[("couch", 2), ("bus", 2)]), "Two couches and two buses are in view.");
        assert_eq!(in_view(&[("broccoli", 3), ("fork", 1)]), "Some broccoli and a fork are in view.");
    }
}
