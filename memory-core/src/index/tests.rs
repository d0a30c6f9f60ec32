//! The index against a model that scans every text.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::Timestamp;
use crate::random::split_mix;

const WORDS: [&str; 12] =
    ["apple", "river", "stone", "painted", "painting", "music", "anna", "bridge", "the", "robot", "kitchen", "window"];

fn at(seconds: i64) -> TimeSpan {
    let at = Timestamp::from_micros(seconds * 1_000_000);
    TimeSpan::new(at, at)
}

fn document(id: u64, source: &str, seconds: i64, text: &str) -> Document {
    Document {
        id: EventId(id),
        episode: EpisodeId(id / 4),
        kind: Kind::Text,
        modality: Modality::Audio,
        span: at(seconds),
        stream: None,
        source: source.into(),
        entity: None,
        text: text.into(),
    }
}

fn index_of(documents: &[Document], batch: usize) -> CompressedIndex {
    let mut index = CompressedIndex::new(IndexOptions::default());
    for batch in documents.chunks(batch) {
        index.append(batch);
    }
    index
}

fn ask(text: &str, limit: usize) -> SearchQuery {
    SearchQuery { text: text.into(), limit, ..SearchQuery::default() }
}

fn ids(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.id.0).collect()
}

/// BM25 with and without the neighbours' words, written down as the definition says.
fn model(documents: &[Document], hidden: &[u64], question: &str) -> Vec<(u64, f32)> {
    let stems = |text: &str| words(text).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect::<Vec<_>>();
    let texts: Vec<Vec<String>> = documents.iter().map(|document| stems(&document.text)).collect();
    let visible = |place: usize| !hidden.contains(&documents[place].id.0);
    let neighbour = |place: usize, step: isize| -> Option<usize> {
        let mut at = place;
        for _ in 0..step.abs() {
            let near = |other: &usize| {
                let (a, b) = (documents[at].span.start.as_micros(), documents[*other].span.start.as_micros());
                (a - b).abs() <= 60_000_000
            };
            let same = |other: &usize| documents[*other].source == documents[at].source;
            let next = if step < 0 { (0..at).rev().find(same) } else { (at + 1..documents.len()).find(same) };
            at = next.filter(near)?;
        }
        Some(at)
    };
    let windows: Vec<Vec<(usize, f32)>> = (0..documents.len())
        .map(|place| {
            let mut window = vec![(place, 3.0)];
            for (step, weight) in [(-1, 2.0), (1, 2.0), (-2, 1.0), (2, 1.0)] {
                window.extend(neighbour(place, step).map(|other| (other, weight)));
            }
            window
        })
        .collect();
    let window_length =
        |place: usize| windows[place].iter().map(|(other, weight)| weight * texts[*other].len() as f32).sum::<f32>();
    let total = documents.len() as f32;
    let mean = texts.iter().map(|text| text.len() as f32).sum::<f32>() / total;
    let window_mean = (0..documents.len()).map(window_length).sum::<f32>() / total;
    let frequency = |place: usize, term: &String| {
        if visible(place) { texts[place].iter().filter(|other| *other == term).count() as f32 } else { 0.0 }
    };
    let window_frequency = |place: usize, term: &String| {
        windows[place].iter().map(|(other, weight)| weight * frequency(*other, term)).sum::<f32>()
    };
    let visible_count = (0..documents.len()).filter(|place| visible(*place)).count() as u32;

    let all: Vec<String> = words(question).collect();
    let mut terms: Vec<String> = all.iter().filter(|word| !is_stop_word(word)).map(|word| stem(word)).collect();
    terms.extend(
        all.windows(2).filter(|pair| pair.iter().all(|word| !is_stop_word(word))).map(|pair| stem(&pair.concat())),
    );
    let mut distinct: Vec<String> = Vec::new();
    for term in terms {
        if !distinct.contains(&term) {
            distinct.push(term);
        }
    }
    let mut scores = vec![(0.0_f32, 0.0_f32); documents.len()];
    let mut ideal = [f32::MIN_POSITIVE; 2];
    for term in &distinct {
        let holding = (0..documents.len()).filter(|place| frequency(*place, term) > 0.0).count() as u32;
        let around = (0..documents.len()).filter(|place| window_frequency(*place, term) > 0.0).count() as u32;
        if holding > 0 {
            ideal[0] += fusion::idf(holding, visible_count) * (fusion::K1 + 1.0);
            ideal[1] += fusion::idf(around, visible_count) * (fusion::K1 + 1.0);
        }
        for place in 0..documents.len() {
            let own = fusion::saturation(frequency(place, term), texts[place].len() as f32, mean);
            let context = fusion::saturation(window_frequency(place, term), window_length(place), window_mean);
            scores[place].0 += fusion::idf(holding, visible_count) * own;
            scores[place].1 += fusion::idf(around, visible_count) * context;
        }
    }
    let weights = Fusion::default();
    let mut ranked: Vec<(u64, f32)> = (0..documents.len())
        .filter(|place| visible(*place) && scores[*place].1 > 0.0)
        .map(|place| {
            (
                documents[place].id.0,
                weights.own * scores[place].0 / ideal[0] + weights.context * scores[place].1 / ideal[1],
            )
        })
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

fn texts() -> impl Strategy<Value = Vec<(String, i64, usize)>> {
    let text = prop::collection::vec(prop::sample::select(WORDS.as_slice()), 0..7).prop_map(|words| words.join(" "));
    prop::collection::vec((text, 0_i64..100, 0_usize..2), 1..40)
}

proptest! {
    #[test]
    fn search_ranks_like_a_model_that_scans_every_text(
        texts in texts(),
        batch in 1_usize..9,
        hidden in prop::collection::vec(0_u64..40, 0..5),
        question in prop::collection::vec(prop::sample::select(WORDS.as_slice()), 1..5),
    ) {
        let mut seconds = 0;
        let documents: Vec<Document> = (0_u64..).zip(&texts).map(|(id, (text, gap, source))| {
            seconds += gap;
            document(id, ["a", "b"][*source], seconds, text)
        }).collect();
        let question = question.join(" ");
        let mut index = index_of(&documents, batch);
        index.hide(&hidden.iter().map(|id| EventId(*id)).collect::<Vec<_>>());

        let found = index.snapshot().search(&ask(&question, 100));
        if question.split(' ').all(is_stop_word) {
            return Ok(());
        }
        let expected = model(&documents, &hidden, &question);
        prop_assert_eq!(found.len(), expected.len());
        for hit in &found {
            prop_assert!(!hidden.contains(&hit.id.0));
            let score = expected.iter().find(|(id, _)| *id == hit.id.0).unwrap().1;
            prop_assert!((score - hit.score).abs() < 1e-4, "{} {}", score, hit.score);
        }
        let ordered = found.is_sorted_by(|a, b| a.score > b.score || (a.score == b.score && a.id < b.id));
        prop_assert!(ordered);
    }
}

#[test]
fn the_entity_named_in_the_question_comes_first() {
    let mut documents = [document(1, "a", 0, "I like tea"), document(2, "b", 0, "I like tea")];
    documents[0].entity = Some("Maria Lopez".into());
    documents[1].entity = Some("Anna".into());
    let search = index_of(&documents, 2).snapshot();
    assert_eq!(ids(&search.search(&ask("What does Anna like to drink? Tea?", 9))), [2, 1]);
    assert_eq!(ids(&search.search(&ask("Is tea what Maria likes?", 9))), [1, 2]);
    let only = SearchQuery { entity: Some("ANNA".into()), ..ask("tea", 9) };
    assert_eq!(ids(&search.search(&only)), [2]);
}

#[test]
fn alternatives_count_as_one_word() {
    let documents = [document(1, "a", 0, "a car"), document(2, "b", 0, "a car"), document(3, "c", 0, "one motorcycle")];
    let search = index_of(&documents, 2).snapshot();
    let query = SearchQuery { alternatives: vec![vec!["motorcycles".into(), "cars".into()]], ..ask("", 9) };
    let hits = search.search(&query);
    assert_eq!(ids(&hits)[..2], [1, 2]);
    assert!((hits[0].score - hits[1].score).abs() < 1e-6, "a rare alternative is worth no more than a frequent one");
}

#[test]
fn neighbours_in_time_are_found_with_the_word_they_stand_by_and_distant_ones_are_not() {
    let documents = [
        document(1, "asr", 0, "Look at that sunset"),
        document(2, "asr", 30, "Beautiful indeed"),
        document(3, "asr", 300, "Good morning"),
        document(4, "detector", 31, "A chair"),
    ];
    let search = index_of(&documents, 3).snapshot();
    assert_eq!(ids(&search.search(&ask("sunset", 9))), [1, 2]);
}

#[test]
fn filters_hold_inside_the_search_and_a_search_without_words_goes_by_time() {
    let mut documents: Vec<Document> =
        (0_u8..10).map(|id| document(id.into(), "asr", i64::from(id) * 100, "tea")).collect();
    documents[3].modality = Modality::Visual;
    documents[3].kind = Kind::Caption;
    let search = index_of(&documents, 4).snapshot();
    let span = Some(TimeSpan::new(Timestamp::from_micros(150_000_000), Timestamp::from_micros(500_000_000)));
    assert_eq!(ids(&search.search(&SearchQuery { span, ..ask("tea", 9) })), [2, 3, 4, 5]);
    assert_eq!(ids(&search.search(&SearchQuery { span, latest: true, ..ask("", 2) })), [5, 4]);
    assert_eq!(ids(&search.search(&SearchQuery { modality: Some(Modality::Visual), ..ask("tea", 9) })), [3]);
    assert_eq!(ids(&search.search(&SearchQuery { kinds: vec![Kind::Caption], ..ask("", 9) })), [3]);
    assert!(search.search(&SearchQuery { source: Some("other".into()), ..ask("tea", 9) }).is_empty());
}

#[test]
fn a_snapshot_never_changes() {
    let mut index = index_of(&[document(1, "a", 0, "tea"), document(2, "a", 1, "tea")], 2);
    let before = index.snapshot();
    let hits = before.search(&ask("tea", 9));
    index.append(&[document(3, "a", 2, "tea tea tea")]);
    index.hide(&[EventId(1)]);
    index.use_space(2);
    index.embed(&[(EventId(3), vec![32_767, 0])]);
    assert_eq!(before.search(&ask("tea", 9)), hits);
    assert_eq!(before.len(), 2);
    let after = index.snapshot();
    assert_eq!((after.len(), after.embedded()), (2, 1));
    assert_eq!(ids(&after.search(&ask("tea", 9))), [3, 2]);
}

#[test]
fn meaning_finds_what_words_do_not_and_one_space_never_meets_another() {
    let mut index = index_of(&[document(1, "a", 0, "dog"), document(2, "b", 0, "finance")], 2);
    index.use_space(2);
    index.embed(&[(EventId(1), vec![32_767, 0]), (EventId(2), vec![0, 32_767])]);
    let query = SearchQuery { embedding: Some(vec![0.9, 0.1]), ..ask("puppy", 9) };
    let hits = index.snapshot().search(&query);
    assert_eq!(ids(&hits), [1, 2]);
    assert!(hits[0].cosine.unwrap() > 0.95, "by signatures");
    let other = SearchQuery { embedding: Some(vec![1.0, 0.0, 0.0]), ..ask("puppy", 9) };
    assert_eq!(index.snapshot().search(&other), []);
}

#[test]
fn an_event_that_joins_a_segment_is_found_in_its_episode() {
    let mut index = index_of(&[document(1, "a", 0, "tea")], 1);
    index.regroup(&[(EventId(1), EpisodeId(77)), (EventId(9), EpisodeId(1))]);
    assert_eq!(index.snapshot().search(&ask("tea", 1))[0].episode, EpisodeId(77));
}

#[test]
fn a_span_named_in_the_question_lifts_what_lies_inside_and_excludes_nothing() {
    let documents = [document(1, "a", 0, "tea with milk"), document(2, "a", 5_000, "tea with milk")];
    let search = index_of(&documents, 1).snapshot();
    let near = vec![(TimeSpan::new(at(4_000).start, at(6_000).start), 1.0)];
    assert_eq!(ids(&search.search(&SearchQuery { near, ..ask("tea", 9) })), [2, 1]);
}

#[test]
fn the_latest_session_is_told_from_stream_time() {
    let mut documents = [document(1, "a", 1_000, "x"), document(2, "a", 1_050, "y"), document(3, "told", 2_000, "z")];
    for (place, seconds) in [(0, 0), (1, 50)] {
        let at = Duration::from_secs(seconds);
        documents[place].stream = Some(StreamSpan { start: at, end: at });
    }
    let search = index_of(&documents, 3).snapshot();
    assert_eq!(search.session(None), Some(TimeSpan::new(at(1_000).start, at(1_050).start)));
    assert_eq!(search.session(Some(at(2_000))), None);
}

#[test]
fn statistics_tell_how_common_a_word_is() {
    let search = index_of(&[document(1, "a", 0, "red mug"), document(2, "b", 0, "red door")], 2).snapshot();
    let terms = search.terms("the red mug, a unicorn");
    let counts: Vec<(&str, u32)> = terms.iter().map(|term| (term.word.as_str(), term.documents)).collect();
    assert_eq!(counts, [("red", 2), ("mug", 1), ("unicorn", 0)]);
    assert!(terms[0].idf < terms[1].idf && terms[1].idf < terms[2].idf);
}

#[test]
fn what_an_event_says_in_its_attributes_is_findable_and_embedded_but_identifiers_mean_nothing() {
    let event = crate::Event {
        id: EventId(1),
        episode: EpisodeId(1),
        origin: crate::Origin::Told,
        sender_id: None,
        kind: Kind::Text,
        modality: Modality::Audio,
        text: "Look!".into(),
        span: at(0),
        stream: None,
        source: "chat".into(),
        entity: Some("Anna".into()),
        attributes: [
            ("image", "a photo of a sunset"),
            ("conversation", "conv-26"),
            ("place", "beach"),
            ("session", "morning walk"),
        ]
        .map(|(name, text)| (name.to_string(), crate::Value::Text(text.into())))
        .into(),
        confidence: 1.0,
        media: None,
        received: at(0).start,
        pose: None,
    };
    assert_eq!(Document::of(&event).text, "Look!\nconv-26\na photo of a sunset\nbeach");
    assert_eq!(passage(&event), "Anna: Look! [a photo of a sunset] [beach]");
}

/// A memory large enough that frequent terms and distant meanings are not scored everywhere.
fn large() -> (CompressedIndex, Vec<Document>) {
    let documents: Vec<Document> = (0..12_000_u32)
        .map(|place| {
            let topic = ["garden", "kitchen", "market"][place as usize % 3];
            let rare = if place % 400 == 7 { "telescope" } else { "nothing" };
            document(place.into(), "asr", i64::from(place) * 20, &format!("robot {topic} {rare} number{place}"))
        })
        .collect();
    (index_of(&documents, 100), documents)
}

#[test]
fn in_a_large_memory_frequent_terms_still_order_what_rare_ones_found() {
    let (index, documents) = large();
    let hits = index.snapshot().search(&ask("the robot with a telescope in the garden", 10));
    assert_eq!(hits.len(), 10);
    for hit in &hits {
        let text = &documents[hit.id.0 as usize].text;
        assert!(text.contains("telescope") && text.contains("garden"), "{text}");
    }
    let only_frequent = index.snapshot().search(&ask("robot", 10));
    assert_eq!(only_frequent.len(), 10, "a question of frequent terms alone is answered as well");
}

#[test]
fn in_a_large_memory_the_nearest_meaning_is_found_inside_a_filter_too() {
    let (mut index, documents) = large();
    index.use_space(4);
    let vector = |place: u64| {
        if place == 7_777 {
            vec![32_767, 0, 0, 0]
        } else {
            vec![0, 20_000, 20_000, i16::try_from(place % 9_000).unwrap()]
        }
    };
    index.embed(&documents.iter().map(|document| (document.id, vector(document.id.0))).collect::<Vec<_>>());
    let meaning = SearchQuery { embedding: Some(vec![1.0, 0.0, 0.0, 0.0]), limit: 3, ..SearchQuery::default() };
    let search = index.snapshot();
    assert!((7_775..=7_779).contains(&search.search(&meaning)[0].id.0));
    let span = TimeSpan::new(at(100_000).start, at(100_100).start);
    let inside = search.search(&SearchQuery { span: Some(span), ..meaning });
    assert_eq!(inside.len(), 3);
    assert!(inside.iter().all(|hit| (5_000..=5_005).contains(&hit.id.0)), "{inside:?}");
}

#[test]
fn what_is_left_out_to_save_time_is_never_among_the_best_by_words() {
    let (index, _) = large();
    let search = index.snapshot();
    for text in
        ["robot", "the robot with a telescope in the garden", "kitchen number77 market", "telescope number407 nothing"]
    {
        let found = search.search(&ask(text, 50));
        let expected = search.search(&SearchQuery { exhaustive: true, ..ask(text, 50) });
        assert_eq!(found, expected, "{text}");
    }
}

/// Sources take turns, names are asked for, some documents are hidden and some have no vector.
#[test]
fn in_a_large_memory_words_and_meaning_find_nearly_all_that_scoring_everything_finds() {
    let (_, mut documents) = large();
    for (place, document) in documents.iter_mut().enumerate() {
        document.source = ["asr", "camera", "told"][place % 7 % 3].into();
        document.entity = [None, Some("Anna Lee"), Some("Ben")][place % 11 % 3].map(str::to_owned);
    }
    let mut index = index_of(&documents, 100);
    index.use_space(64);
    let mut state = 3;
    let mut component = || i16::try_from(split_mix(&mut state).count_ones()).unwrap() - 32;
    let vectors: Vec<(EventId, Vec<i16>)> = documents
        .iter()
        .map(|document| (document.id, (0..64).map(|_| component()).collect()))
        .filter(|(id, _)| id.0 % 13 > 0)
        .collect();
    index.embed(&vectors);
    index.hide(&documents.iter().map(|document| document.id).filter(|id| id.0 % 17 == 0).collect::<Vec<_>>());
    let search = index.snapshot();
    let (mut found, mut expected) = (0, 0);
    for (turn, text) in ["what did Ben see in the garden", "the telescope", "number77 of Anna", "robot market"]
        .into_iter()
        .enumerate()
        .cycle()
        .take(12)
    {
        let embedding =
            Some(vectors[turn * 900 + found % 700].1.iter().map(|component| f32::from(*component)).collect());
        let span = (turn == 1).then(|| TimeSpan::new(at(40_000).start, at(200_000).start));
        let query = SearchQuery { embedding, span, ..ask(text, 20) };
        let best = search.search(&SearchQuery { exhaustive: true, ..query.clone() });
        let usual: HashSet<u64> = ids(&search.search(&query)).into_iter().collect();
        assert_eq!((best.len(), usual.len()), (20, 20), "{text}");
        expected += best.len();
        found += best.iter().filter(|hit| usual.contains(&hit.id.0)).count();
    }
    assert!(found * 100 >= expected * 98, "{found} of {expected}");
}

#[test]
fn a_segment_that_fills_up_is_packed_and_nothing_changes_for_a_search() {
    let documents: Vec<Document> = (0..70_000_u32)
        .map(|place| document(place.into(), "asr", i64::from(place) * 30, &format!("word{} common", place % 900)))
        .collect();
    let mut index = index_of(&documents, 1_000);
    index.hide(&[EventId(7), EventId(69_307)]);
    let search = index.snapshot();
    assert_eq!(search.terms("word7 common").iter().map(|term| term.documents).collect::<Vec<_>>(), [76, 69_998]);
    let found = ids(&search.search(&ask("word7", 500)));
    // Those that hold the word come first, then their neighbours in time.
    let mut holding: Vec<u64> = found[..76].to_vec();
    holding.sort_unstable();
    assert_eq!(holding, (0..78_u64).map(|n| n * 900 + 7).filter(|id| ![7, 69_307].contains(id)).collect::<Vec<_>>());
    let span = TimeSpan::new(at(2_097_000).start, at(2_098_000).start);
    let inside = search.search(&SearchQuery { span: Some(span), ..ask("common", 100) });
    assert!(!inside.is_empty() && inside.iter().all(|hit| (69_900..=69_934).contains(&hit.id.0)), "{inside:?}");
    assert_eq!(search.session(None), None);
    let latest = search.search(&SearchQuery { latest: true, ..ask("", 2) });
    assert_eq!(ids(&latest), [69_999, 69_998]);
}

#[test]
fn a_phrase_is_found_where_its_words_stand_together_in_one_event() {
    let documents = [
        document(1, "a", 0, "a red mug and a blue mug"),
        document(2, "a", 1, "the mug is red"),
        document(3, "a", 2, "mug"),
        document(4, "a", 3, "red, the mugs"),
        document(5, "a", 4, "Red"),
        document(6, "a", 5, "mug red mug"),
    ];
    let mut index = index_of(&documents, 4);
    let events = |search: &dyn Search, phrase: &str, limit| {
        holding_phrase(search, phrase, limit).into_iter().map(|id| id.0).collect::<Vec<_>>()
    };
    let search = index.snapshot();
    assert_eq!(events(&*search, "red mug", 9), [1, 4, 6]);
    assert_eq!(events(&*search, "red mug", 2), [4, 6], "the latest");
    assert_eq!(events(&*search, "blue unicorn", 9), Vec::<u64>::new());
    assert_eq!(events(&*search, "is the", 9), Vec::<u64>::new());
    index.hide(&[EventId(4)]);
    assert_eq!(events(&*index.snapshot(), "red mug", 9), [1, 6]);
    let quoted = ids(&search.search(&ask("who said \"red mug\"?", 3)));
    assert_eq!(quoted.iter().copied().collect::<std::collections::BTreeSet<_>>(), [1, 4, 6].into());
}

#[test]
fn what_is_hidden_leaves_the_statistics() {
    let mut index = index_of(&[document(1, "a", 0, "red mug, red door"), document(2, "b", 0, "red door")], 2);
    index.hide(&[EventId(1), EventId(1)]);
    let counts: Vec<u32> = index.snapshot().terms("red mug door").iter().map(|term| term.documents).collect();
    assert_eq!(counts, [1, 0, 1]);
    assert_eq!(index.snapshot().len(), 1);
}

#[test]
fn vectors_of_no_direction_or_another_length_change_nothing() {
    let mut index = index_of(&[document(1, "a", 0, "tea")], 1);
    index.use_space(3);
    index.embed(&[(EventId(1), vec![1, 2]), (EventId(1), vec![0, 0, 0]), (EventId(9), vec![1, 2, 3])]);
    let search = index.snapshot();
    assert_eq!(search.embedded(), 0);
    for embedding in [vec![f32::NAN; 3], vec![0.0; 3], vec![1.0; 2], vec![f32::INFINITY, 0.0, 0.0]] {
        assert_eq!(ids(&search.search(&SearchQuery { embedding: Some(embedding), ..ask("tea", 3) })), [1]);
    }
}

#[test]
fn an_empty_memory_and_events_without_words_are_no_trouble() {
    let empty = CompressedIndex::new(IndexOptions::default());
    assert!(empty.snapshot().search(&ask("tea", 5)).is_empty() && empty.snapshot().is_empty());
    assert!(empty.snapshot().search(&SearchQuery { embedding: Some(vec![1.0]), ..ask("", 5) }).is_empty());
    let long = "word ".repeat(300_000);
    let index = index_of(&[document(1, "a", 0, ""), document(2, "a", 1, &long), document(3, "a", 2, "the")], 2);
    let search = index.snapshot();
    assert_eq!(ids(&search.search(&ask("word", 1))), [2]);
    assert_eq!(ids(&search.search(&ask("", 5))), [1, 2, 3]);
    assert_eq!(holding_phrase(&*search, "word word", 9), [EventId(2)]);
}

#[test]
fn words_of_another_language_are_taken_back_to_their_stems() {
    let options = IndexOptions { language: Language::German, ..IndexOptions::default() };
    let mut index = CompressedIndex::new(options);
    index.append(&[document(1, "a", 0, "Die Katzen schlafen"), document(2, "b", 0, "Der Hund bellt")]);
    assert_eq!(ids(&index.snapshot().search(&ask("Wo schläft die Katze?", 1))), [1]);
    assert_eq!(index.snapshot().terms("Katze")[0].documents, 1);
}

#[test]
fn readers_on_other_threads_keep_their_state_while_the_writer_goes_on() {
    let mut index = index_of(&[document(0, "a", 0, "tea common")], 1);
    index.use_space(2);
    std::thread::scope(|scope| {
        for round in 1..60_u64 {
            let state = index.snapshot();
            let expected = state.search(&ask("common tea", 1_000));
            scope.spawn(move || {
                for _ in 0..20 {
                    assert_eq!(state.search(&ask("common tea", 1_000)), expected);
                    assert_eq!(state.len() as u64, (round - 1) * 40 + 1);
                }
            });
            let batch: Vec<Document> = (round * 40 - 39..=round * 40)
                .map(|id| document(id, "a", i64::try_from(id).unwrap(), "common word"))
                .collect();
            index.append(&batch);
            index.embed(&[(batch[0].id, vec![1, 2])]);
        }
    });
}

#[test]
fn texts_come_back_as_they_were_until_they_are_hidden() {
    let texts = ["A  red\tmug \u{1f642}", "", "Größe 9.5 — naïve\nline", "\u{0} bytes"];
    let documents: Vec<Document> = (1..).zip(texts).map(|(id, text)| document(id, "a", 0, text)).collect();
    let mut index = index_of(&documents, 3);
    let search = index.snapshot();
    for (id, text) in (1..).zip(texts) {
        assert_eq!(search.text(EventId(id)).as_deref(), Some(text));
    }
    assert_eq!(search.text(EventId(9)), None);
    index.hide(&[EventId(3)]);
    assert_eq!(index.snapshot().text(EventId(3)), None);
}

#[test]
fn without_texts_everything_but_the_texts_is_found_and_the_option_is_part_of_the_saved_index() {
    let without = IndexOptions { texts: false, ..IndexOptions::default() };
    let documents = [document(1, "a", 0, "the red mug stands on the table"), document(2, "a", 9, "a blue cup")];
    let mut indexes = [IndexOptions::default(), without].map(CompressedIndex::new);
    indexes.iter_mut().for_each(|index| index.append(&documents));
    let [with, less] = &indexes;
    assert!(less.bytes().content < with.bytes().content, "{:?} {:?}", less.bytes(), with.bytes());
    let (whole, search) = (with.snapshot(), less.snapshot());
    assert_eq!(search.search(&ask("Where is the red mug?", 5)), whole.search(&ask("Where is the red mug?", 5)));
    assert_eq!(holding_phrase(&*search, "red mug", 5), [EventId(1)]);
    assert_eq!((search.text(EventId(1)), whole.text(EventId(2)).as_deref()), (None, Some("a blue cup")));

    let mut saved = Vec::new();
    search.write_snapshot(&mut saved).unwrap();
    assert!(CompressedIndex::read_snapshot(IndexOptions::default(), &mut saved.as_slice()).is_err());
    let read = CompressedIndex::read_snapshot(without, &mut saved.as_slice()).unwrap();
    assert_eq!(ids(&read.snapshot().search(&ask("blue cup", 1))), [2]);
}

#[test]
fn token_signatures_find_a_lone_word_where_it_stands_alone_also_after_reading_back() {
    let options = IndexOptions { token_signatures: Some(TokenSignatureOptions::default()), ..IndexOptions::default() };
    let mut index = CompressedIndex::new(options);
    index.append(&[
        document(1, "a", 0, "telescope"),
        document(2, "a", 1, "a telescope in the garden"),
        document(3, "a", 2, "tea"),
    ]);
    let mut bytes = Vec::new();
    index.snapshot().write_snapshot(&mut bytes).unwrap();
    let back = CompressedIndex::read_snapshot(options, &mut bytes.as_slice()).unwrap();
    for search in [index.snapshot(), back.snapshot()] {
        assert_eq!(ids(&search.search(&ask("the telescope", 9))), [1]);
    }
}

#[test]
fn the_episodes_of_events_are_those_that_a_search_finds() {
    // Ids with gaps, over several blocks, some of them hidden.
    let documents: Vec<Document> =
        (0..5_000_u64).map(|number| document(number * 3 + 7, "a", 60 * number as i64, "stone")).collect();
    let mut index = index_of(&documents, 700);
    let hidden: Vec<EventId> = (0..5_000).step_by(11).map(|number| EventId(number * 3 + 7)).collect();
    index.hide(&hidden);
    let search = index.snapshot();
    for (first, step) in [(0, 1), (7, 3), (7, 9), (8, 3), (1_500, 401), (14_990, 1), (20_000, 5)] {
        let wanted: Vec<EventId> = (first..16_000).step_by(step).map(EventId).collect();
        let query = SearchQuery { only: Some(wanted.as_slice().into()), limit: usize::MAX, ..SearchQuery::default() };
        let expected: Vec<EpisodeId> = search.search(&query).into_iter().map(|hit| hit.episode).collect();
        assert_eq!(search.episodes_of(&wanted), expected, "from {first} in steps of {step}");
    }
}
