//! What models do that nobody waits for: facts, procedures, gists, captions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::config::{EndpointConfig, LlmConfig, Purpose};
use agent::llm::{Background, FactReader, LanguageModels, LineChooser, PatternJudge, VisionCaptioner, VisionViewer};
use drivers::encoders::{Captioner, ClipViewer, NumberedPictures};
use engram_tests::{LanguageModel, ModelRequest, Play};
use jiff::tz::TimeZone;
use memory_core::ports::{GistSelector, ProcedureJudge};
use memory_core::{Clock, EventId, FactFilter, ForgetRequest, SystemClock};
use serde_json::json;
use tokio::runtime::Handle;

use crate::bench::{Bench, WAIT, without_model};

pub fn background(model: &LanguageModel, purpose: Purpose) -> Background {
    let endpoint = EndpointConfig {
        url: Some(model.url()),
        model: Some("stand-in".to_owned()),
        timeout_s: 5.0,
        purposes: Some(vec![purpose]),
        ..EndpointConfig::default()
    };
    let vision = matches!(purpose, Purpose::Captions | Purpose::Looking);
    let config = match vision {
        true => LlmConfig { vision: endpoint, ..LlmConfig::default() },
        false => LlmConfig { chat: endpoint, ..LlmConfig::default() },
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let models = LanguageModels::new(&config, None, &clock, &TimeZone::UTC);
    Background::new(models.serving(purpose).unwrap(), Handle::current())
}

/// Runs what blocks on a thread of its own.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Says that a wombat sleeps where the sentence says so, and what an order wants.
fn zoologist(_: usize, request: &ModelRequest) -> Play {
    let sentence = request.data()["sentence"].as_str().unwrap_or_default().to_owned();
    let fact = |subject: &str, attribute: &str, value: &str| json!({"subject": subject, "attribute": attribute, "value": value, "holds": true});
    let facts = if sentence.contains("wombat") {
        vec![fact("wombat", "material", "velvet"), fact("front door", "state", "unlocked")]
    } else {
        Vec::new()
    };
    Play::Say(json!({"facts": facts}).to_string())
}

fn values(bench: &Bench, subject: &str) -> Vec<String> {
    let filter = FactFilter { subject: Some(subject.to_owned()), ..FactFilter::default() };
    bench.service.memory().facts(&filter).unwrap().into_iter().map(|fact| fact.value).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_are_read_once_kept_in_the_words_of_their_sentence_and_forgotten_with_it() {
    let model = LanguageModel::start(zoologist).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let reader = Arc::new(FactReader::new(background(&model, Purpose::Facts), Some(directory.path())));
    let bench = without_model(&[]).await;
    bench.service.memory().set_fact_extractor(Some(Arc::<FactReader>::clone(&reader)));
    bench.tell(&[(0, "Anna", "Regarding the wombat, velvet it was, I believe."), (5, "Tom", "Good morning.")]).await;
    assert_eq!(values(&bench, "wombat"), ["velvet"]);
    assert_eq!(values(&bench, "front door"), Vec::<String>::new());
    let asked = model.requests().len();
    assert_eq!(asked, 2);

    bench.service.memory().relearn().unwrap();
    bench.service.memory_replaced();
    let begin = Instant::now();
    while bench.service.memory().stats().relearning {
        assert!(begin.elapsed() < WAIT);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!((values(&bench, "wombat"), model.requests().len()), (vec!["velvet".to_owned()], asked));

    let kept = || std::fs::read_to_string(directory.path().join("llm-facts.jsonl")).unwrap();
    assert!(kept().contains("velvet"));
    let request = ForgetRequest::Entity("Anna".to_owned());
    bench.service.forget(request).await.unwrap();
    let memory = bench.service.memory().clone();
    reader.forget(|event| matches!(memory.event(EventId(event)), Ok(Some(_))));
    assert!(!kept().contains("velvet"), "{}", kept());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_facts_can_be_read_the_rules_remain() {
    let model = LanguageModel::always(Play::Status(500, None)).unwrap();
    let bench = without_model(&[]).await;
    let reader = FactReader::new(background(&model, Purpose::Facts), None);
    bench.service.memory().set_fact_extractor(Some(Arc::new(reader)));
    bench.tell(&[(0, "Tom", "The blue mug is on the shelf."), (1, "Tom", "The keys are in the hall.")]).await;
    bench.tell(&[(2, "Tom", "The ladder is in the barn."), (3, "Tom", "The rope is in the shed.")]).await;
    assert_eq!(values(&bench, "blue mug"), ["on the shelf"]);
    assert_eq!(values(&bench, "rope"), ["in the shed"]);
    assert_eq!(model.requests().len(), 3, "then it is left alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_is_judged_once_and_a_score_beyond_the_scale_is_refused() {
    let model = LanguageModel::start(|_, request| {
        let steps = request.data()["steps"].to_string();
        Play::Say(json!({"score": if steps.contains("boil") { 8 } else { 11 }}).to_string())
    })
    .unwrap();
    let judge = Arc::new(PatternJudge::new(background(&model, Purpose::Procedures)));
    let asked = Arc::clone(&judge);
    let score = blocking(move || {
        let context = vec!["boil water, add tea, pour".to_owned()];
        [asked.judge(&["boil water", "add tea"], &context), asked.judge(&["boil water", "add tea"], &context)]
    });
    assert_eq!(score.await.map(Result::unwrap), [0.8, 0.8]);
    assert_eq!(model.requests().len(), 1);
    let refused = blocking(move || judge.judge(&["fly", "land"], &[])).await.unwrap_err();
    assert!(refused.message.contains("the score was above 10"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_a_summary_are_chosen_by_number_and_none_is_written() {
    for (said, expected) in [
        (json!({"lines": [3, 1]}), Ok(vec![2, 0])),
        (json!({"lines": []}), Err("it chose no line")),
        (json!({"lines": [9]}), Err("it chose a line that was not given")),
        (json!({"lines": ["Anna left."]}), Err("it was not the JSON object")),
        (json!({"summary": "Anna left."}), Err("it was not the JSON object")),
    ] {
        let model = LanguageModel::always(Play::Say(said.to_string())).unwrap();
        let chooser = LineChooser::new(background(&model, Purpose::Gists));
        let lines = ["Anna left.", "It rained.", "Tom came."].map(str::to_owned);
        let chosen = blocking(move || chooser.select(&lines, 20)).await;
        match (chosen, expected) {
            (Ok(chosen), Ok(expected)) => assert_eq!(chosen, expected),
            (Err(error), Err(expected)) => assert!(error.message.contains(expected), "{error}"),
            (chosen, expected) => panic!("{chosen:?} instead of {expected:?}"),
        }
        assert_eq!(model.requests()[0].data()["lines"][1]["number"], 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_goes_out_as_a_data_url_and_its_caption_is_one_plain_line() {
    let model =
        LanguageModel::always(Play::Say(json!({"caption": "A cat\nsits on\u{7} a chair."}).to_string())).unwrap();
    let captioner = VisionCaptioner::new(background(&model, Purpose::Captions));
    assert!(captioner.backend().starts_with("llm.vision at 127.0.0.1:"));
    let caption = blocking(move || captioner.caption(&[0xff, 0xd8, 0xff, 0xd9])).await;
    assert_eq!(caption.as_deref(), Ok("A cat sits on a chair."));
    let request = model.requests().remove(0);
    let picture = request.body["messages"][1]["content"][1]["image_url"]["url"].as_str().unwrap().to_owned();
    assert_eq!(picture, "data:image/jpeg;base64,/9j/2Q==");

    let long = LanguageModel::always(Play::Say(json!({"caption": "x".repeat(500)}).to_string())).unwrap();
    let captioner = VisionCaptioner::new(background(&long, Purpose::Captions));
    let refused = blocking(move || captioner.caption(&[0xff, 0xd8])).await.unwrap_err();
    assert!(refused.starts_with("llm.vision: ") && refused.contains("too long"), "{refused}");
}

/// What a viewer makes of replies, each to one request after the other.
async fn viewed(replies: Vec<Play>) -> (Result<drivers::encoders::ViewedClip, String>, Vec<ModelRequest>) {
    let model = LanguageModel::start(move |number, _| replies[number.min(replies.len() - 1)].clone()).unwrap();
    let viewer = VisionViewer::new(background(&model, Purpose::Looking));
    let pictures = NumberedPictures { grids: vec![vec![0xff, 0xd8, 0xff], vec![0xff, 0xd8]], count: 9 };
    let outcome = blocking(move || viewer.view("Where is the red cup?", &pictures, WAIT)).await;
    (outcome, model.requests())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_and_numbered_pictures_go_to_the_vision_model_and_its_reply_is_checked() {
    let seen = |numbers: &[usize]| {
        Play::Say(json!({"pictures": numbers, "seen": "A red cup is on the sill.", "confidence": 0.8}).to_string())
    };
    let (outcome, requests) = viewed(vec![seen(&[4, 5])]).await;
    let viewed_clip = outcome.unwrap();
    assert_eq!((viewed_clip.numbers, viewed_clip.text.as_str()), (vec![4, 5], "A red cup is on the sill."));
    assert_eq!((requests.len(), requests[0].purpose()), (1, "looking"));
    assert_eq!(requests[0].data()["question"], "Where is the red cup?", "as data between marks");
    let parts = requests[0].body["messages"][1]["content"].as_array().unwrap();
    assert_eq!(parts.len(), 3, "a text and two grids");
    assert!(parts[2]["image_url"]["url"].as_str().unwrap().starts_with("data:image/jpeg;base64,/9g="), "{}", parts[2]);
    // A number that was not shown is refused; the second reply counts.
    let (outcome, requests) = viewed(vec![seen(&[10]), seen(&[9])]).await;
    assert_eq!((outcome.unwrap().numbers, requests.len()), (vec![9], 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vision_model_that_misbehaves_is_named_and_tells_nothing() {
    let said = |text: &str| Play::Say(text.to_owned());
    let invented = json!({"pictures": [70], "seen": "A cup.", "confidence": 1}).to_string();
    let obeying = json!({"pictures": [1], "seen": "A cup.", "confidence": 1, "forget": "everything"}).to_string();
    for play in [
        said("The cup is on the sill."),
        said(&invented),
        said(&obeying),
        said(""),
        said(r#"{"pictures": [1], "seen": "A"#),
        Play::Status(429, Some(30)),
        Play::Status(500, None),
        Play::Refuse,
        Play::Cut,
        Play::HangUp,
        Play::Noise,
        Play::Huge,
    ] {
        let (outcome, requests) = viewed(vec![play.clone()]).await;
        let error = outcome.expect_err("nothing usable was said");
        assert!(error.starts_with("llm.vision: "), "{play:?}: {error}");
        assert!((1..=2).contains(&requests.len()), "{play:?}: {} requests", requests.len());
    }
    let endless = LanguageModel::always(Play::Endless).unwrap();
    let viewer = VisionViewer::new(background(&endless, Purpose::Looking));
    let pictures = NumberedPictures { grids: vec![vec![0xff, 0xd8]], count: 6 };
    let begin = Instant::now();
    let late = blocking(move || viewer.view("Where?", &pictures, Duration::from_millis(400))).await;
    assert!(late.is_err() && begin.elapsed() < WAIT, "{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_nobody_waits_for_ends_when_engram_stops() {
    let slow = Play::Slow(Duration::from_secs(60), Box::new(Play::Say("{}".into())));
    let model = LanguageModel::always(slow).unwrap();
    let background = background(&model, Purpose::Procedures);
    let judge = PatternJudge::new(background.clone());
    let judged = tokio::task::spawn_blocking(move || judge.judge(&["a", "b"], &[]));
    let begin = Instant::now();
    while model.requests().is_empty() {
        assert!(begin.elapsed() < WAIT);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    background.endpoint().stop();
    let error = tokio::time::timeout(WAIT, judged).await.unwrap().unwrap().unwrap_err();
    assert!(error.message.contains("engram is stopping"), "{error}");
}
