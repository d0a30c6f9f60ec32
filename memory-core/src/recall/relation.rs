//! Questions that place what they ask for by another event: "after the bell", "while somebody spoke of the telescope".

/// How the two lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// At the same time.
    During,
    /// What is asked for comes later.
    After,
    /// What is asked for comes earlier.
    Before,
}

/// A question taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    /// How the two lie in time.
    pub order: Order,
    /// Whether the one follows the other directly.
    pub direct: bool,
    /// What is asked for.
    pub main: String,
    /// The event that places it.
    pub cue: String,
}

impl Relation {
    /// Takes a question apart; `None` if it places nothing by another event.
    pub fn of(question: &str) -> Option<Self> {
        let question = question.trim().trim_end_matches(['?', '.', '!', ' ']);
        let words = word_ranges(question);
        let found = words.iter().enumerate().find_map(|(place, (start, end))| {
            let order = order_of(&question[*start..*end].to_ascii_lowercase())?;
            // A question that begins with "when" asks for the time, unless a comma parts a clause from it.
            let leading = place == 0;
            if leading && !question.contains(',') {
                return None;
            }
            Some((place, order, leading))
        })?;
        let (place, order, leading) = found;
        let (start, end) = words[place];
        let before = place.checked_sub(1).map(|before| &question[words[before].0..words[before].1]);
        let direct = before.is_some_and(|word| {
            matches!(
                word.to_ascii_lowercase().as_str(),
                "right" | "directly" | "immediately" | "just" | "shortly" | "straight" | "soon"
            )
        });
        let (main, cue) = if leading {
            // A comma that a phrase taken out left in front of "when" parts nothing.
            let comma = end + question[end..].find(',')?;
            (&question[comma + 1..], &question[end..comma])
        } else {
            let main_end = if direct { words[place - 1].0 } else { start };
            (&question[..main_end], &question[end..])
        };
        let (main, cue) = (main.trim(), cue.trim());
        (!main.is_empty() && !cue.is_empty()).then(|| Self { order, direct, main: main.into(), cue: cue.into() })
    }
}

fn order_of(word: &str) -> Option<Order> {
    match word {
        "while" | "when" | "during" | "whilst" => Some(Order::During),
        "after" | "following" => Some(Order::After),
        "before" => Some(Order::Before),
        _ => None,
    }
}

fn word_ranges(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut open = None;
    for (at, character) in text.char_indices() {
        match (character.is_alphanumeric(), open) {
            (true, None) => open = Some(at),
            (false, Some(start)) => {
                ranges.push((start, at));
                open = None;
            }
            _ => {}
        }
    }
    ranges.extend(open.map(|start| (start, text.len())));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(question: &str) -> Option<(Order, bool, String, String)> {
        Relation::of(question).map(|relation| (relation.order, relation.direct, relation.main, relation.cue))
    }

    #[test]
    fn a_question_is_parted_from_the_event_that_places_it() {
        for (question, order, direct, main, cue) in [
            ("What was visible while Anna spoke?", Order::During, false, "What was visible", "Anna spoke"),
            ("What happened right after the bell rang?", Order::After, true, "What happened", "the bell rang"),
            ("Who came in before the drums?", Order::Before, false, "Who came in", "the drums"),
            ("After the bell rang, who came in?", Order::After, false, "who came in", "the bell rang"),
            (
                "What was on the table when the door opened?",
                Order::During,
                false,
                "What was on the table",
                "the door opened",
            ),
        ] {
            assert_eq!(parts(question), Some((order, direct, main.into(), cue.into())), "{question}");
        }
    }

    #[test]
    fn a_comma_in_front_of_the_clause_is_no_end_of_it() {
        let found = parts(", when the kettle whistled, who stood there?");
        assert_eq!(found, Some((Order::During, false, "who stood there".into(), "the kettle whistled".into())));
        assert_eq!(parts(", after the kettle"), None);
    }

    #[test]
    fn a_question_for_the_time_is_not_parted() {
        assert_eq!(parts("When did the bell ring?"), None);
        assert_eq!(parts("What did Anna say?"), None);
    }
}
