use proptest::prelude::*;

use super::table::{Table, TableError};
use super::*;

const EMBEDDED: &[u8] = include_bytes!("wordnet.bin");

fn firsts(words: &[&str]) -> Vec<Option<PartOfSpeech>> {
    words.iter().map(|word| parts_of_speech(word).first()).collect()
}

#[test]
fn the_embedded_table_is_one() {
    let table = Table::decode(EMBEDDED).expect("the embedded table is read");
    assert!(table.lemmas().count() > 50_000);
    assert!(table.lemmas().zip(table.lemmas().skip(1)).all(|(a, b)| a < b), "lemmas are sorted and differ");
    assert!(EMBEDDED.len() < 1_500_000, "{} bytes in the repository", EMBEDDED.len());
    println!("{} bytes in the repository, {} in memory", EMBEDDED.len(), table.bytes_in_memory());
    assert!(table.bytes_in_memory() < 6_000_000, "{} bytes in memory", table.bytes_in_memory());
}

#[test]
fn a_table_that_is_cut_short_or_changed_is_refused_with_a_reason() {
    assert_eq!(Table::decode(&[]).expect_err("empty"), TableError::NoTable);
    assert_eq!(Table::decode(b"some other file of forty bytes, or more").expect_err("other"), TableError::NoTable);
    let cut = Table::decode(&EMBEDDED[..EMBEDDED.len() - 1]).expect_err("cut short");
    assert!(matches!(cut, TableError::OtherLength { .. }), "{cut}");
    let mut changed = EMBEDDED.to_vec();
    changed[5_000] ^= 1;
    assert_eq!(Table::decode(&changed).expect_err("changed"), TableError::Checksum);
    let mut newer = EMBEDDED.to_vec();
    newer[8] = 9;
    assert_eq!(Table::decode(&newer).expect_err("newer"), TableError::OtherVersion { found: 9 });
    assert!(cut.to_string().contains("make-lexicon"), "{cut}");
}

/// Returns a table with a valid checksum around `payload`.
fn sealed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = EMBEDDED[..12].to_vec();
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

#[test]
fn a_table_with_a_wrong_inside_and_a_right_checksum_is_refused() {
    let payload = &EMBEDDED[20..];
    assert!(Table::decode(&sealed(payload)).is_ok());
    for length in (0..payload.len()).step_by(payload.len() / 97) {
        let error = Table::decode(&sealed(&payload[..length])).expect_err("the payload is cut short");
        assert!(matches!(error, TableError::Inconsistent { .. }), "{error}");
    }
    let longer = [payload, &[0]].concat();
    assert!(matches!(Table::decode(&sealed(&longer)), Err(TableError::Inconsistent { .. })));
}

#[test]
fn an_inflected_word_is_known_by_its_lemma() {
    use PartOfSpeech::{Adjective, Noun, Verb};
    for (form, part, wanted) in [
        ("ran", Verb, "run"),
        ("Carries", Verb, "carry"),
        ("stopped", Verb, "stop"),
        ("mending", Verb, "mend"),
        ("mice", Noun, "mouse"),
        ("shelves", Noun, "shelf"),
        ("glasses", Noun, "glass"),
        ("washing machines", Noun, "washing machine"),
        ("picked up", Verb, "pick up"),
        ("wider", Adjective, "wide"),
        ("happiest", Adjective, "happy"),
        ("the neighbour's", Noun, ""),
        ("neighbour's", Noun, "neighbour"),
    ] {
        let found = lemma(form, part);
        assert_eq!(found.unwrap_or_default(), wanted, "{form}");
    }
    assert_eq!(lemma("mice", PartOfSpeech::Verb), None);
    assert_eq!(lemmas("saw")[0], ("see", PartOfSpeech::Verb));
    assert!(lemmas("saw").contains(&("saw", PartOfSpeech::Noun)));
}

#[test]
fn parts_of_speech_come_in_the_order_of_use() {
    use PartOfSpeech::{Adjective, Adverb, Noun, Verb};
    let words = ["kettle", "opened", "greasy", "quickly", "ran", "mice", "unheardofword"];
    let wanted = [Some(Noun), Some(Verb), Some(Adjective), Some(Adverb), Some(Verb), Some(Noun), None];
    assert_eq!(firsts(&words), wanted);
    let close = parts_of_speech("close");
    assert!(close.can_be(Verb) && close.can_be(Adjective) && close.can_be(Adverb));
    let sum: u32 = close.iter().map(|(_, share)| u32::from(share)).sum();
    assert!((250..=260).contains(&sum), "the shares of {close:?} are 255 together");
    assert!(parts_of_speech("unheardofword").is_empty());
}

#[test]
fn a_word_is_of_the_classes_above_it() {
    for (word, class) in [
        ("dog", "animal"),
        ("spanner", "tool"),
        ("mouse", "animal"),
        ("bikes", "vehicle"),
        ("Washing machine", "appliance"),
        ("thunder", "sound"),
        ("kitchen", "room"),
        ("aunt", "relative"),
        ("rain", "weather"),
        ("trombone", "musical instrument"),
        ("banana", "fruit"),
        ("banana", "food"),
        ("sofa", "furniture"),
        ("milk", "drink"),
        ("red", "colour"),
        ("France", "country"),
        ("nurse", "person"),
        ("anorak", "clothing"),
        ("walk", "move"),
        ("whispered", "speak"),
    ] {
        assert!(is_a(word, class).is_some(), "{word} is a {class}");
    }
    for (word, class) in
        [("dog", "person"), ("chair", "person"), ("animal", "dog"), ("thunder", "weather"), ("sofa", "food")]
    {
        assert_eq!(is_a(word, class), None, "{word} is no {class}");
    }
    assert_eq!((is_a("sofa", "couch"), is_a("kitchen", "room")), (Some(0), Some(1)));
    assert!(is_a("puppy", "animal") > is_a("puppy", "dog"));
}

#[test]
fn likeness_falls_with_distance() {
    let values = [
        ("mend", "mended"),
        ("mend", "repair"),
        ("arrive", "arrival"),
        ("puppy", "dog"),
        ("puppy", "animal"),
        ("dog", "cat"),
    ]
    .map(|(a, b)| similarity(a, b));
    assert!(values.is_sorted_by(|a, b| a > b), "{values:?}");
    assert_eq!(values[..3], [1.0, 0.9, 0.85]);
    assert!((0.6..=0.7).contains(&values[3]) && values[5] < 0.3, "{values:?}");
    assert_eq!(similarity("kitchen", "engine"), 0.0);
    assert_eq!((similarity("snowy", "snow"), similarity("flight", "fly")), (0.85, 0.8));
    assert_eq!((similarity("zxqv", "zxqv"), similarity("zxqv", "dog"), similarity("", "")), (1.0, 0.0, 0.0));
}

#[test]
fn opposites_are_found_directly_and_through_words_that_are_alike() {
    for (a, b) in [
        ("open", "closed"),
        ("unlocked", "lock"),
        ("hot", "cold"),
        ("boiling", "freeze"),
        ("huge", "small"),
        ("arrival", "leave"),
        ("purchase", "sell"),
        ("asleep", "awake"),
        ("empty", "full"),
        ("on", "off"),
        ("early", "late"),
    ] {
        assert!(are_opposites(a, b) && are_opposites(b, a), "{a} and {b}: {:?} {:?}", opposites(a), opposites(b));
    }
    assert!(!are_opposites("hot", "warm") && !are_opposites("dog", "cat") && !are_opposites("open", "open"));
}

#[test]
fn categories_and_synonyms_are_those_of_the_first_senses() {
    use PartOfSpeech::{Adjective, Noun, Verb};
    let categories_of =
        [("aunt", Noun), ("soup", Noun), ("hammer", Noun), ("Monday", Noun), ("walked", Verb), ("heard", Verb)];
    let found = categories_of.map(|(word, part)| category(word, part));
    let wanted = [
        Category::Person,
        Category::Food,
        Category::Artifact,
        Category::Time,
        Category::MotionVerb,
        Category::PerceptionVerb,
    ];
    assert_eq!(found, wanted.map(Some));
    assert!(categories("run", Verb).len() > 3);
    assert!(synonyms("sofa", Noun).contains(&"couch"));
    assert!(synonyms("mend", Verb).contains(&"repair"));
    assert!(synonyms("large", Adjective).contains(&"big"));
    assert_eq!(category("sofa", Verb), None);
}

#[test]
fn a_common_word_is_more_frequent_than_a_rare_one() {
    assert!(frequency("houses") > frequency("kettle") && frequency("kettle") > frequency("zxqv"));
    assert_eq!((frequency("duvet"), frequency("zxqv")), (1, 0));
}

#[test]
fn british_spelling_has_the_senses_of_the_american() {
    assert_eq!(category("colour", PartOfSpeech::Noun), category("color", PartOfSpeech::Noun));
    assert!(frequency("colour") > 30, "{}", frequency("colour"));
}

proptest! {
    #[test]
    fn no_text_breaks_a_look_up(a in "\\PC{0,40}", b in "[a-zA-Z_' é’-]{0,24}", part in 0_usize..4) {
        let part = PartOfSpeech::ALL[part];
        for word in [a.as_str(), b.as_str()] {
            let _ = (lemma(word, part), lemmas(word), parts_of_speech(word), category(word, part), categories(word, part));
            let _ = (synonyms(word, part), opposites(word), frequency(word), label_is_a(word, &b), is_a(word, &a));
        }
        let alike = similarity(&a, &b);
        prop_assert!((0.0..=1.0).contains(&alike));
        prop_assert_eq!(alike.to_bits(), similarity(&b, &a).to_bits());
        prop_assert_eq!(are_opposites(&a, &b), are_opposites(&b, &a));
    }

    #[test]
    fn pairs_of_known_words_behave(a in 0_usize..60_000, b in 0_usize..60_000) {
        let table = super::table::table();
        let word = |number: usize| table.lemmas().nth(number).expect("there are 60,000 lemmas");
        let (a, b) = (word(a), word(b));
        prop_assert_eq!(similarity(a, b).to_bits(), similarity(b, a).to_bits());
        prop_assert_eq!(similarity(a, a), 1.0);
        prop_assert!(frequency(a) > 0 && !parts_of_speech(a).is_empty());
        for (own, part) in lemmas(a) {
            prop_assert!(lemma(own, part).is_some());
        }
    }
}

#[test]
fn a_long_text_is_no_word() {
    for text in ["x".repeat(8192), "é".repeat(4096), "a b-c's ".repeat(1024), "-".repeat(8192)] {
        assert!(lemmas(&text).is_empty());
        assert_eq!((similarity(&text, "dog"), is_a(&text, "dog"), frequency(&text)), (0.0, None, 0));
        assert!(opposites(&text).is_empty());
    }
}

#[test]
fn a_kind_is_what_a_word_commonly_means() {
    for (word, class) in [("oboe", "instrument"), ("cider", "drink"), ("heron", "animal"), ("lady", "person")] {
        assert!(is_kind_of(word, class), "{word}, {class}");
        assert!(!is_kind_of(class, word), "{class}, {word}");
    }
    for (word, class) in [("leash", "digit"), ("oboe", "oboe"), ("ladder", "animal"), ("", "animal")] {
        assert!(!is_kind_of(word, class), "{word}, {class}");
    }
}
