use super::*;
use crate::Timestamp;

fn parse(text: &str) -> Result<WordQuery, WordQueryError> {
    WordQuery::parse(text, &mut |text| {
        let hours = text.strip_suffix('h').and_then(|hours| hours.parse::<i64>().ok());
        hours
            .map(|hours| Timestamp::from_micros(-hours * 3_600_000_000))
            .ok_or_else(|| format!("`{text}` is not a time"))
    })
}

fn message(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

fn phrase(text: &str) -> WordPart {
    WordPart { pattern: WordPattern::Phrase(text.into()), excluded: false }
}

fn near(first: &str, second: &str, within: usize) -> WordPart {
    WordPart { pattern: WordPattern::Near(first.into(), second.into(), within), excluded: false }
}

#[test]
fn words_phrases_and_exclusions_are_parts_in_their_order() {
    let query = parse(r#"mug "blue plate" -sink -"hot tea" mother-in-law"#).unwrap();
    let without = |text: &str| WordPart { excluded: true, ..phrase(text) };
    let expected = [phrase("mug"), phrase("blue plate"), without("sink"), without("hot tea"), phrase("mother-in-law")];
    assert_eq!(query.parts, expected);
    assert_eq!(parse("„blue plate“ mug").unwrap().parts, [phrase("blue plate"), phrase("mug")]);
    assert_eq!(parse("mug - plate … 10:30 note: http://a.b").unwrap().parts.len(), 5, "marks alone ask for nothing");
}

#[test]
fn near_joins_the_parts_beside_it() {
    assert_eq!(parse("mug near/5 sink").unwrap().parts, [near("mug", "sink", 5)]);
    let chain = parse(r#"red "big mug" NEAR/2 sink near/3 tap blue"#).unwrap();
    let expected = [phrase("red"), near("big mug", "sink", 2), near("sink", "tap", 3), phrase("blue")];
    assert_eq!(chain.parts, expected);
    assert_eq!(parse("near the sink").unwrap().parts.len(), 3, "near without a number is a word");
}

#[test]
fn fields_bound_who_what_and_when() {
    let query = parse(r#"who:"Anna Lee" kind:action KIND:state since:5h until:2h mug"#).unwrap();
    assert_eq!((query.entity.as_deref(), query.kinds), (Some("Anna Lee"), vec![Kind::Action, Kind::State]));
    let at = |hours: i64| Timestamp::from_micros(-hours * 3_600_000_000);
    assert_eq!(query.span, Some(TimeSpan::new(at(5), at(2))));
    assert_eq!(parse("kind:sound -beep").unwrap().parts.len(), 1, "a field is something to find");
}

#[test]
fn a_query_that_cannot_be_answered_says_what_to_do() {
    let long = "mug ".repeat(25_000);
    for (text, expected) in [
        ("", "give at least one word"),
        (" … - ", "give at least one word"),
        ("-mug -\"red tea\"", "everything in the query is excluded; add a word"),
        ("red \"blue mug", "the quote at character 5 is not closed; write \"blue mug\" with a second"),
        ("who:\"Anna", "is not closed"),
        (&long, "the query has 100000 characters, and 2000 are allowed"),
        (&"a1 ".repeat(MAX_PARTS + 1), "more than 32 words"),
        ("place:kitchen", "there is no field place:; the fields are who:, kind:, since:, until:"),
        ("place:\"the kitchen\"", "write it in quotes"),
        ("who: anna", "write the value directly behind the colon, such as who:Anna"),
        ("who:…", "holds no name"),
        ("who:anna who:ben", "stands twice"),
        ("kind:dance", "the kinds are text, caption, sound, object, entity, action, state"),
        ("since:soon", "since: `soon` is not a time"),
        ("since:1h since:2h", "stands twice"),
        ("since:1h until:2h", "earlier than since:"),
        ("-who:anna mug", "a field cannot be excluded"),
        ("near/5 mug", "nothing stands before it"),
        ("mug near/5", "nothing stands behind it"),
        ("mug near/5 near/5 sink", "nothing stands before it"),
        ("-mug near/5 sink", "nothing stands before it"),
        ("mug near/5 -sink", "an excluded word cannot be near"),
        ("mug -near/5 sink", "not their nearness"),
        ("mug near/0 sink", "with a number from 1 to 100"),
        ("mug near/x sink", "it needs a number of words"),
        ("mug OR cup", "search once for each alternative"),
    ] {
        let message = message(text);
        assert!(message.contains(expected), "{}: {message}", text.chars().take(40).collect::<String>());
        assert!(message.chars().count() < 300, "{message}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text in r#"[a-z"“”:/ \-0-9NEARéß東\n]{0,60}|\PC{0,80}"#) {
        drop(parse(&text));
        drop(parse(&format!("near/{text} who:{text} \"{text}")));
    }
}

#[test]
fn marks_are_put_around_characters() {
    let snippet = Snippet { text: "die Tür, né".into(), marks: vec![4..7, 9..11] };
    assert_eq!(snippet.marked("[", "]"), "die [Tür], [né]");
}
