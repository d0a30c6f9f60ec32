//! Writing down what is said in an interval.

use std::path::PathBuf;
use std::sync::Arc;

use crate::media::VIDEO;
use drivers::encoders::{Encoder, EncoderError, Encoders, Filled, SpeechRecogniser, SpokenWord};
use drivers::looking::{Labels, Looking};
use drivers::perception::Pace;
use memory_core::reasoning::{LookError, SightingKind, Tool, Tools};
use parking_lot::Mutex;

use super::{OneFile, lighter, looking, ms, order};
use crate::media;

/// Hears two sentences a second and three seconds behind the begin of a stretch, and counts the samples that it was given.
struct Words(Mutex<Vec<usize>>);

impl Encoder<[f32], Vec<SpokenWord>> for Words {
    fn model(&self) -> &str {
        "words"
    }

    fn encode(&self, samples: &[f32]) -> Result<Vec<SpokenWord>, EncoderError> {
        self.0.lock().push(samples.len());
        let word = |text: &str, start, end| SpokenWord {
            text: text.to_owned(),
            start: ms(start),
            end: ms(end),
            confidence: 0.75,
        };
        Ok(vec![word("Before.", 500, 900), word("Mind", 3000, 3400), word("the step.", 3400, 4000)])
    }
}

impl SpeechRecogniser for Words {}

fn listening(path: Option<PathBuf>) -> (Looking, Arc<Words>) {
    let words = Arc::new(Words(Mutex::default()));
    let filled = Filled { speech_recognition: Some(Arc::clone(&words) as _), ..Filled::default() };
    (Looking::new(Encoders::ready(filled), Labels::default(), Arc::new(OneFile(path)), Pace::default()), words)
}

#[test]
fn what_is_said_in_an_interval_is_written_down_with_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let (listening, words) = listening(Some(lighter(folder.path(), "a.mkv", 12, 250)));
    let reach = listening.reach(Tool::Transcriber);
    assert!(reach.speech && reach.missing.is_empty() && !listening.reach(Tool::ClipExplorer).speech);
    let look = listening.look(&order(Tool::Transcriber, &|| false)).unwrap();
    // Two seconds before and behind the interval are heard too, so that no sentence is halved.
    assert!(words.0.lock().iter().all(|samples| samples.abs_diff(9 * 16_000) < 4000), "{:?}", words.0.lock());
    let said: Vec<_> = look.sightings.iter().map(|seen| (seen.kind, seen.text.as_str(), seen.score)).collect();
    assert_eq!(
        said,
        [(SightingKind::Speech, "Mind the step.", 0.75)],
        "what was said before the interval is not its own"
    );
    let stream = look.sightings[0].stream;
    assert!(stream.start.abs_diff(ms(5000)) <= ms(200) && stream.end.abs_diff(ms(6000)) <= ms(200), "{stream:?}");
    assert!(look.bytes > 0 && look.degraded.is_empty(), "{look:?}");
}

#[test]
fn a_recogniser_that_is_absent_is_named_and_a_film_without_sound_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 250);
    let (deaf, _) = looking(Some(path));
    let reach = deaf.reach(Tool::Transcriber);
    assert!(!reach.speech);
    let look = deaf.look(&order(Tool::Transcriber, &|| false)).unwrap();
    assert!(look.sightings.is_empty());
    assert_eq!(look.degraded, ["speech recognition: no model"]);
    let silent = folder.path().join("silent.mkv");
    media::make(&format!(
        "videotestsrc num-buffers=250 ! {VIDEO} ! matroskamux ! \
         filesink location={}",
        silent.display()
    ));
    let (listening, words) = listening(Some(silent));
    let look = listening.look(&order(Tool::Transcriber, &|| false)).unwrap();
    assert!(look.sightings.is_empty() && look.degraded.is_empty() && words.0.lock().is_empty(), "{look:?}");
}

#[test]
fn an_asker_who_gives_up_ends_the_writing_down() {
    let folder = tempfile::tempdir().unwrap();
    let (listening, words) = listening(Some(lighter(folder.path(), "a.mkv", 10, 250)));
    assert_eq!(listening.look(&order(Tool::Transcriber, &|| true)), Err(LookError::Cancelled));
    assert!(words.0.lock().is_empty());
    let (gone, _) = self::listening(None);
    assert_eq!(gone.look(&order(Tool::Transcriber, &|| false)), Err(LookError::Gone));
}
