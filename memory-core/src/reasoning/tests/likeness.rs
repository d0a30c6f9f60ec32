//! Things that no detector has a label for, compared with pictures by their words.

use super::*;

/// Knows when which phrase is like the pictures, and keeps what it was to compare.
struct Alike {
    shows: Vec<(&'static str, f32, StreamSpan)>,
    compares: bool,
    asked: Mutex<Vec<Vec<AskedThing>>>,
}

impl Tools for Alike {
    fn reach(&self, tool: Tool) -> Reach {
        let sees = matches!(tool, Tool::IntervalLocaliser | Tool::SceneSnapper);
        let labels = ["dog", "sundial, clock"].map(|name| (Modality::Visual, name.to_owned()));
        Reach {
            labels: labels.into_iter().filter(|_| sees).collect(),
            scenes: vec!["sundial, clock".to_owned()],
            likeness: sees && self.compares,
            ..Reach::default()
        }
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        self.asked.lock().unwrap().push(order.things.to_vec());
        let inside = |stream: &StreamSpan| stream.start < order.stream.end && order.stream.start < stream.end;
        let seen = self.shows.iter().filter(|(.., stream)| inside(stream));
        let sighting = |(phrase, score, stream): &(&str, f32, StreamSpan)| {
            let thing = order.things.iter().find(|thing| thing.phrase == *phrase)?;
            let found = sighting(&thing.phrase, &thing.sentence, *score, *stream);
            Some(Sighting { kind: SightingKind::Likeness, ..found })
        };
        Ok(Look { sightings: seen.filter_map(sighting).collect(), pictures: order.pictures, ..Look::default() })
    }
}

fn alike(shows: &[(&'static str, f32, StreamSpan)]) -> Alike {
    Alike { shows: shows.to_vec(), compares: true, asked: Mutex::default() }
}

fn ask_alike(question: &str, options: &[&str], tools: &Alike) -> Reasoned {
    let query = Query {
        question: question.into(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        trace: true,
        top_k: 10,
        ..Query::default()
    };
    let (home, watch) = (morning(), Patience { most: usize::MAX, begun: AtomicUsize::new(0) });
    reason(&query, &One(&home), &home.clock, tools, &ReasoningOptions::default(), None, &watch).unwrap()
}

fn phrases(tools: &Alike) -> Vec<String> {
    let asked = tools.asked.lock().unwrap();
    assert!(asked.windows(2).all(|pair| pair[0] == pair[1]), "each look compares the same: {asked:?}");
    asked.first().map_or_else(Vec::new, |things| things.iter().map(|thing| thing.phrase.clone()).collect())
}

#[test]
fn a_thing_without_a_label_is_found_where_pictures_are_like_its_word() {
    let tools = alike(&[("a heron", 0.93, seconds(121, 127))]);
    let Reasoned { answer, found, .. } = ask_alike("When was the heron seen?", &[], &tools);
    assert_eq!(phrases(&tools), ["a heron"]);
    let event = &found[0];
    assert_eq!(
        (event.text.as_str(), event.kind, event.stream),
        ("A heron is in view.", Kind::Caption, Some(seconds(121, 127)))
    );
    assert!((event.confidence - 0.93).abs() < 1e-6, "as sure as what was measured of the space says");
    assert_eq!(answer.evidence[0].stream, Some(seconds(121, 127)), "{answer:?}");
    assert_eq!(answer.route, Route::Agentic, "{answer:?}");
}

#[test]
fn without_such_a_model_nothing_is_compared_and_nothing_looked_at() {
    let tools = Alike { compares: false, ..alike(&[("a heron", 0.93, seconds(121, 127))]) };
    let reasoned = ask_alike("When was the heron seen?", &[], &tools);
    assert_eq!((reasoned.stopped, reasoned.steps), (Stopped::NothingToSee, 0));
}

#[test]
fn options_are_compared_as_they_are_written() {
    let options = ["feeding the hens", "a game of chess", "a cake with candles"];
    let tools = alike(&[("a cake with candles", 0.9, seconds(11, 17))]);
    let Reasoned { answer, .. } = ask_alike("What was to be seen in the garden?", &options, &tools);
    let compared = phrases(&tools);
    assert!(options.iter().all(|option| compared.contains(&(*option).to_owned())), "{compared:?}");
    assert_eq!(answer.choice, Some(2), "{answer:?}");
}

#[test]
fn what_a_detector_has_a_label_for_is_left_to_it_and_a_class_of_scenes_is_no_detector() {
    let tools = alike(&[]);
    ask_alike("Where was the dog?", &["the dog", "a puppy"], &tools);
    assert_eq!(phrases(&tools), Vec::<String>::new());
    let tools = alike(&[]);
    ask_alike("Where was the sundial?", &[], &tools);
    assert_eq!(phrases(&tools), ["a sundial"]);
}

#[test]
fn names_and_sounds_are_compared_with_no_picture() {
    for question in ["Where was Mira?", "Which birds were heard?", "What did Mira say about the heron?"] {
        let tools = alike(&[]);
        ask_alike(question, &[], &tools);
        assert_eq!(phrases(&tools), Vec::<String>::new(), "{question}");
    }
}
