//! Both plans against a plain scan of the texts.

use std::time::Duration;

use proptest::prelude::*;

use crate::index::{CompressedIndex, Document, Index, IndexOptions, Search, stem, words};
use crate::word_search::{WordMatches, WordOrder, WordPart, WordPattern, WordPlan, WordQuery};
use crate::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};

const WORDS: [&str; 10] =
    ["apple", "river", "painted", "painting", "anna", "the", "robot", "bridge", "zq7481726", "zq9917264"];
const NAMES: [Option<&str>; 4] = [None, Some("Anna"), Some("the Robot"), Some("person 20260117445")];

fn document(id: u64, seconds: i64, kind: Kind, entity: Option<&str>, text: String) -> Document {
    let start = Timestamp::from_micros(seconds * 1_000_000);
    Document {
        id: EventId(id),
        episode: EpisodeId(id / 4),
        kind,
        modality: Modality::Audio,
        span: TimeSpan::new(start, start.saturating_add(Duration::from_secs(2))),
        stream: None,
        source: "a".into(),
        entity: entity.map(str::to_owned),
        text,
    }
}

/// The stems of a text that are no stop words.
fn stems(text: &str) -> Vec<String> {
    words(text).filter(|word| !crate::index::is_stop_word(word)).map(|word| stem(&word)).collect()
}

/// Whether a document holds a pattern, written down as the definition says.
fn model_holds(held: &[String], pattern: &WordPattern) -> bool {
    let runs = |text: &str| -> Vec<(usize, usize)> {
        let run = stems(text);
        (0..held.len()).filter(|at| held[*at..].starts_with(&run)).map(|at| (at, at + run.len())).collect()
    };
    match pattern {
        WordPattern::Phrase(text) => !runs(text).is_empty(),
        WordPattern::Near(first, second, within) => runs(first).iter().any(|a| {
            runs(second).iter().any(|b| {
                let (earlier, later) = if a.0 <= b.0 { (a, b) } else { (b, a) };
                later.0 >= earlier.1 && later.0 + 1 - earlier.1 <= *within
            })
        }),
    }
}

/// The stems of every document, of its entity first.
fn held(documents: &[Document]) -> Vec<Vec<String>> {
    let text = |document: &Document| format!("{}\n{}", document.entity.as_deref().unwrap_or_default(), document.text);
    documents.iter().map(|document| stems(&text(document))).collect()
}

/// What a plain scan of all texts finds, the latest first.
fn model(documents: &[Document], held: &[Vec<String>], hidden: &[EventId], query: &WordQuery) -> Vec<EventId> {
    let name = |text: &str| words(text).collect::<Vec<_>>();
    let mut found: Vec<&Document> = documents
        .iter()
        .zip(held)
        .filter(|(document, held)| {
            let asked = query.parts.iter().filter(|part| match &part.pattern {
                WordPattern::Phrase(text) => !stems(text).is_empty(),
                WordPattern::Near(..) => true,
            });
            !hidden.contains(&document.id)
                && query.span.is_none_or(|span| span.overlaps(document.span))
                && (query.kinds.is_empty() || query.kinds.contains(&document.kind))
                && query
                    .entity
                    .as_ref()
                    .is_none_or(|wanted| document.entity.as_ref().is_some_and(|entity| name(entity) == name(wanted)))
                && asked.clone().all(|part| model_holds(held, &part.pattern) != part.excluded)
        })
        .map(|(document, _)| document)
        .collect();
    found.sort_by_key(|document| std::cmp::Reverse((document.span.end, document.id)));
    found.into_iter().map(|document| document.id).collect()
}

/// Whether a query asks for nothing, or for something near nothing.
fn is_refused(query: &WordQuery) -> bool {
    let small = |text: &String| stems(text).is_empty();
    let near_nothing = query.parts.iter().any(|part| match &part.pattern {
        WordPattern::Phrase(_) => false,
        WordPattern::Near(first, second, _) => small(first) || small(second),
    });
    let asks = query.parts.iter().any(|part| match &part.pattern {
        WordPattern::Phrase(text) => !part.excluded && !small(text),
        WordPattern::Near(..) => !part.excluded,
    });
    near_nothing || !asks && query.span.is_none() && query.kinds.is_empty() && query.entity.is_none()
}

fn ids(found: &WordMatches) -> Vec<EventId> {
    found.hits.iter().map(|hit| hit.id).collect()
}

fn assert_same(
    search: &dyn Search,
    documents: &[Document],
    held: &[Vec<String>],
    hidden: &[EventId],
    query: &WordQuery,
) {
    let expected = model(documents, held, hidden, query);
    if is_refused(query) {
        assert!(search.find(query, None).is_err(), "{query:?}");
        return;
    }
    for plan in [Some(WordPlan::Rank), Some(WordPlan::Postings), None] {
        let found = search.find(query, plan).unwrap();
        assert_eq!(ids(&found), expected[..query.limit.min(expected.len())], "{plan:?} {query:?}");
        assert_eq!(found.total, expected.len(), "{plan:?} {query:?}");
        let best = search.find(&WordQuery { order: WordOrder::Relevance, ..query.clone() }, plan).unwrap();
        assert!(best.hits.is_sorted_by(|a, b| a.score >= b.score) && best.total == expected.len());
        assert!(ids(&best).iter().all(|id| expected.contains(id)), "{plan:?} {query:?}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.as_slice()), 0..9).prop_map(|words| words.join(" "))
}

fn phrase() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.as_slice()), 1..3).prop_map(|words| words.join(" "))
}

fn part() -> impl Strategy<Value = WordPart> {
    let pattern = prop_oneof![
        5 => phrase().prop_map(WordPattern::Phrase),
        2 => (phrase(), phrase(), 1_usize..4).prop_map(|(a, b, within)| WordPattern::Near(a, b, within)),
    ];
    (pattern, prop::bool::weighted(0.25)).prop_map(|(pattern, excluded)| WordPart { pattern, excluded })
}

fn query() -> impl Strategy<Value = WordQuery> {
    let span = prop::option::weighted(0.2, (0_i64..200, 0_i64..100)).prop_map(|span| {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        span.map(|(start, lasts)| TimeSpan::new(at(start), at(start + lasts)))
    });
    let kinds = prop::option::weighted(0.2, prop::sample::select(Kind::ALL.as_slice()));
    let entity = prop::option::weighted(0.2, prop::sample::select(["anna", "The ROBOT", "nobody"].as_slice()));
    (prop::collection::vec(part(), 0..4), span, kinds, entity, 0_usize..40).prop_map(
        |(parts, span, kinds, entity, limit)| WordQuery {
            parts,
            span,
            kinds: kinds.into_iter().collect(),
            entity: entity.map(str::to_owned),
            limit,
            ..WordQuery::default()
        },
    )
}

proptest! {
    #[test]
    fn both_plans_find_what_a_scan_of_the_texts_finds_also_after_forgetting_and_merging(
        told in prop::collection::vec((0_i64..200, 0_usize..7, 0_usize..4, text()), 1..90),
        batches in prop::collection::vec(1_usize..20, 1..9),
        forgotten in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        queries in prop::collection::vec(query(), 1..12),
    ) {
        let documents: Vec<Document> = (1..)
            .zip(told)
            .map(|(id, (seconds, kind, name, text))| document(id, seconds, Kind::ALL[kind], NAMES[name], text))
            .collect();
        let mut index = CompressedIndex::new(IndexOptions::default());
        let (mut rest, mut at) = (documents.as_slice(), 0);
        while !rest.is_empty() {
            // Chunks of the postings are merged as they come.
            let (batch, later) = rest.split_at(batches[at % batches.len()].min(rest.len()));
            index.append(batch);
            (rest, at) = (later, at + 1);
        }
        let held = held(&documents);
        for query in &queries {
            assert_same(&*index.snapshot(), &documents, &held, &[], query);
        }
        let hidden: Vec<EventId> = forgotten.iter().map(|it| documents[it.index(documents.len())].id).collect();
        index.hide(&hidden);
        let mut file = Vec::new();
        index.snapshot().write_snapshot(&mut file).unwrap();
        let back = CompressedIndex::read_snapshot(IndexOptions::default(), &mut file.as_slice()).unwrap();
        for query in &queries {
            assert_same(&*index.snapshot(), &documents, &held, &hidden, query);
            assert_same(&*back.snapshot(), &documents, &held, &hidden, query);
        }
    }
}

fn searched(text: &str, limit: usize) -> WordQuery {
    let query = WordQuery::parse(text, &mut |_| Err("no time".to_owned())).unwrap();
    WordQuery { limit, ..query }
}

#[test]
fn across_packed_segments_both_plans_agree_and_the_rarest_word_decides_which_is_taken() {
    let text = |id: u64| {
        let rare = if id % 9_000 == 7 { " unicorn" } else { "" };
        let half = if id.is_multiple_of(2) { "left" } else { "right" };
        format!("common words stand {half} here number w{}x{rare}", id % 50)
    };
    let documents: Vec<Document> =
        (1..=70_000).map(|id| document(id, i64::try_from(id).unwrap(), Kind::Text, None, text(id))).collect();
    let mut index = CompressedIndex::new(IndexOptions::default());
    documents.chunks(1_000).for_each(|batch| index.append(batch));
    index.hide(&[EventId(7), EventId(65_537)]);
    let (search, held) = (index.snapshot(), held(&documents));
    let hidden = [EventId(7), EventId(65_537)];
    for text in
        ["unicorn common", "left common", "\"stand left\" w4x -unicorn", "common near/2 right unicorn", "-left common"]
    {
        let query = searched(text, 30);
        assert_same(&*search, &documents, &held, &hidden, &query);
    }
    let plan = |text: &str| search.find(&searched(text, 1), None).unwrap().plan;
    assert_eq!((plan("unicorn common words"), plan("left common")), (WordPlan::Rank, WordPlan::Postings));
    let found = search.find(&searched("unicorn left", 3), None).unwrap();
    assert_eq!(
        found.words.iter().map(|word| (word.word.as_str(), word.events)).collect::<Vec<_>>(),
        [("unicorn", 7), ("left", 35_000)]
    );
}

#[test]
fn small_words_are_named_and_alone_refused() {
    let mut index = CompressedIndex::new(IndexOptions::default());
    index.append(&[document(1, 0, Kind::Text, None, "the mug was on the table".into())]);
    let search = index.snapshot();
    let found = search.find(&searched("the mug", 5), None).unwrap();
    assert_eq!((found.total, found.ignored), (1, vec!["the".to_owned()]));
    let refused = search.find(&searched("the was", 5), None).unwrap_err().to_string();
    assert!(refused.contains("the index keeps no word of \"the\", \"was\""), "{refused}");
    assert!(search.find(&searched("the near/2 mug", 5), None).is_err());
}

#[test]
fn a_word_that_shares_its_bucket_is_told_from_the_others_by_the_text() {
    // Every number of these has a bucket, and with 200,000 of them some share it.
    let documents: Vec<Document> =
        (1..=60_000).map(|id| document(id, 0, Kind::Text, None, format!("{:08} {:08}", id * 7, id * 13))).collect();
    let mut index = CompressedIndex::new(IndexOptions::default());
    documents.chunks(2_000).for_each(|batch| index.append(batch));
    let search = index.snapshot();
    for number in [7_u64, 700, 91_000] {
        let query = searched(&format!("{number:08}"), 50);
        let expected = documents.iter().filter(|document| document.text.contains(&format!("{number:08}"))).count();
        assert_eq!(search.find(&query, None).unwrap().total, expected, "{number}");
    }
}

#[test]
fn a_snippet_shows_the_words_around_the_hits_on_one_line() {
    let index = CompressedIndex::new(IndexOptions::default());
    let search = index.snapshot();
    let marked = |text: &str, query: &str| search.snippet(text, &searched(query, 1)).marked("[", "]");
    assert_eq!(marked("Anna put the red  mugs\non a shelf.", "mug anna"), "[Anna] put the red [mugs] on a shelf.");
    assert_eq!(marked("a mug of red, and the red mug", "\"red mug\""), "a mug of red, and the [red mug]");
    assert_eq!(
        marked("the sink is far from a mug and a tap", "mug near/2 tap"),
        "the sink is far from a [mug] and a [tap]"
    );
    assert_eq!(marked("nothing of it", "mug"), "nothing of it");
    let long = format!("{}the red mug stood by the sink {}", "before ".repeat(90), "behind ".repeat(90));
    let shown = marked(&long, "sink mug");
    assert!(shown.starts_with("… ") && shown.ends_with(" …") && shown.contains("[mug] stood by the [sink]"), "{shown}");
    assert!(shown.chars().count() < 230, "{shown}");
    for filler in ["é".repeat(400), "x".repeat(5_000), "🙂 ".repeat(300), "word ".repeat(2_000)] {
        let text = format!("{filler} mug {filler}");
        let shown = marked(&text, "mug word");
        assert!(shown.contains("[mug]") || shown.contains("[word]"), "{shown}");
    }
}
