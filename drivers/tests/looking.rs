//! Looking at recordings again, through real GStreamer pipelines and recordings made on the spot.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

mod media;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::archive::{
    Archive, ArchiveLimits, ClipError, FrameOptions, Recorder, Recording, RecordingPart, pictures, sound,
};
use drivers::capture::{SourceHandle, SourceKind, SourceSpec};
use drivers::encoders::{
    ClipViewer, Detection, Encoder, EncoderError, Encoders, Face, Filled, JointEncoder, NumberedPictures,
    ObjectDetector, OnnxRuntime, Picture, ReadText, SpeechRecogniser, SpokenWord, VectorEncoder, ViewedClip,
    WrittenLine,
};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::models::{Availability, Catalogue, InstalledModel, InstalledModels, Part, Role};
use drivers::perception::Pace;
use media::{AUDIO, DEADLINE, VIDEO, chunks};
use memory_core::reasoning::{AskedThing, KnownPlace, LookError, LookOrder, Sighting, SightingKind, Tool, Tools};
use memory_core::{StreamSpan, SystemClock};
use parking_lot::Mutex;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn options() -> FrameOptions<'static> {
    FrameOptions {
        short_edge: None,
        ceiling_bytes: 64 << 20,
        deadline: Instant::now() + DEADLINE,
        cancelled: &|| false,
    }
}

/// A recording of which each second is lighter than the one before, with a key picture every `keys` pictures.
fn lighter(folder: &Path, name: &str, seconds: u64, keys: u32) -> PathBuf {
    let path = folder.join(name);
    let muxer = media::muxer(name);
    let encode = VIDEO.replace("key-int-max=25", &format!("key-int-max={keys}"));
    let parts: String = (0..seconds)
        .map(|second| {
            let grey = 16 + 14 * (second % 16);
            let colour = 0xff00_0000_u32 | (grey as u32) << 16 | (grey as u32) << 8 | grey as u32;
            format!(
                "videotestsrc pattern=solid-color foreground-color={colour} num-buffers=25 ! \
                 video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! c. "
            )
        })
        .collect();
    media::make(&format!(
        "concat name=c ! queue ! {encode} ! {muxer} name=mux ! filesink location={} {parts} \
         audiotestsrc samplesperbuffer=1600 num-buffers={} ! {AUDIO} ! queue ! mux.",
        path.display(),
        10 * seconds
    ));
    path
}

fn whole(path: &Path, from: Duration, to: Duration) -> Vec<RecordingPart> {
    vec![RecordingPart { path: path.to_owned(), begin: Duration::ZERO, from, to }]
}

/// The second that a picture of [`lighter`] shows.
fn second_of(picture: &Picture<'_>) -> u64 {
    let middle = picture.rgb[picture.rgb.len() / 2];
    (u64::from(middle).saturating_sub(16) + 7) / 14
}

fn seen(stretches: &[RecordingPart], times: &[Duration]) -> Vec<(u64, Duration)> {
    let mut seen = Vec::new();
    pictures(stretches, times, options(), |at, picture| seen.push((second_of(picture), at))).unwrap();
    seen
}

#[test]
fn each_moment_shows_its_own_picture_whether_it_is_sought_or_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    for (name, keys) in [("a.mkv", 25), ("b.mp4", 250)] {
        let path = lighter(folder.path(), name, 12, keys);
        let stretches = whole(&path, Duration::ZERO, ms(12_000));
        let dense: Vec<Duration> = (0..12).map(|second| ms(1000 * second + 500)).collect();
        let found = seen(&stretches, &dense);
        assert_eq!(found.iter().map(|(second, _)| *second).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>(), "{name}");
        assert!(found.iter().zip(&dense).all(|((_, at), time)| at.abs_diff(*time) <= ms(45)), "{found:?}");
        let sparse = seen(&stretches, &[ms(500), ms(5500), ms(10_500)]);
        assert_eq!(sparse.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [0, 5, 10], "{name}");
    }
}

#[test]
fn pictures_keep_to_their_short_edge_and_to_the_ceiling() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 2, 25);
    let size = |options: FrameOptions<'_>| {
        let mut size = (0, 0);
        let stretches = whole(&path, Duration::ZERO, ms(2000));
        pictures(&stretches, &[ms(500)], options, |_, picture| size = (picture.width, picture.height)).unwrap();
        size
    };
    assert_eq!(size(options()), (320, 180));
    assert_eq!(size(FrameOptions { short_edge: Some(90), ..options() }), (160, 90));
    assert_eq!(size(FrameOptions { short_edge: Some(900), ..options() }), (320, 180), "never larger");
    let (width, height) = size(FrameOptions { ceiling_bytes: 100_000, ..options() });
    assert!(width * height * 6 <= 104_000, "{width}x{height}");
}

#[test]
fn the_sound_of_an_interval_is_heard_and_nothing_beyond_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 6, 25);
    let (mut first, mut samples) = (None, 0);
    let stretches = whole(&path, ms(2000), ms(4000));
    sound(&stretches, options(), |at, block| {
        first.get_or_insert(at);
        samples += block.len();
    })
    .unwrap();
    assert!(first.unwrap().abs_diff(ms(2000)) <= ms(150), "{first:?}");
    assert!((28_000..=36_000).contains(&samples), "{samples} samples of two seconds");
}

#[test]
fn a_chunk_that_a_kill_cut_short_shows_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 8, 25);
    let bytes = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.mkv");
    std::fs::write(&cut, &bytes[..bytes.len() * 6 / 10]).unwrap();
    let stretches = whole(&cut, Duration::ZERO, ms(8000));
    let found = seen(&stretches, &[ms(500), ms(1500), ms(2500), ms(7500)]);
    assert_eq!(found.iter().take(3).map(|(second, _)| *second).collect::<Vec<_>>(), [0, 1, 2], "{found:?}");
    assert!(found.iter().all(|(second, at)| at.as_secs() == *second), "none shows another second: {found:?}");
}

#[test]
fn what_is_no_recording_is_an_error_and_what_is_gone_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage.mkv");
    std::fs::write(&garbage, b"no recording").unwrap();
    let outcome = |path: &Path| pictures(&whole(path, Duration::ZERO, ms(1000)), &[ms(500)], options(), |_, _| {});
    assert!(matches!(outcome(&garbage), Err(ClipError::Unreadable { .. })));
    assert!(matches!(outcome(&folder.path().join("gone.mkv")), Err(ClipError::Nothing)));
    let path = lighter(folder.path(), "a.mkv", 1, 25);
    let mut both = whole(&garbage, Duration::ZERO, ms(500));
    both.push(RecordingPart { path, begin: ms(500), from: ms(500), to: ms(1500) });
    assert_eq!(seen(&both, &[ms(200), ms(1000)]).len(), 1, "what is there is shown beside what is not");
}

#[test]
fn chunks_that_are_written_are_read_by_two_at_once_across_their_borders() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ArchiveLimits { budget_bytes: 1 << 30, keep_free_bytes: 0, chunk: ms(1000) };
    let archive = Arc::new(Archive::open(folder.path(), limits).unwrap());
    let recorder = Recorder::start(Arc::clone(&archive), "cam").unwrap();
    let record = media::Record::default();
    let consumer = media::CallRecorder { record: record.clone(), interval: ms(100) };
    let spec = SourceSpec::new("cam", SourceKind::Test);
    let source =
        SourceHandle::start_with(spec, Box::new(consumer), Arc::new(SystemClock::new()), false, Some(recorder))
            .unwrap();
    let begin = Instant::now();
    while chunks(folder.path(), "cam").len() < 4 {
        assert!(begin.elapsed() < DEADLINE);
        std::thread::park_timeout(ms(20));
    }
    let session = record.begins()[0].1;
    let recording = Recording { source: "cam".to_owned(), session };
    let span = StreamSpan { start: ms(200), end: ms(60_000) };
    let stretches: Vec<RecordingPart> = archive
        .showing(&recording, span)
        .into_iter()
        .map(|chunk| RecordingPart { begin: chunk.name.begin, from: chunk.name.begin, to: chunk.end, path: chunk.path })
        .filter(|stretch| stretch.from < stretch.to)
        .collect();
    assert!(stretches.len() >= 3, "{stretches:?}");
    let last = stretches.last().unwrap().to;
    let times: Vec<Duration> = (1..last.as_millis() as u64 / 250).map(|n| ms(250 * n)).collect();
    let read = || {
        let mut at = Vec::new();
        pictures(&stretches, &times, options(), |time, _| at.push(time)).unwrap();
        at
    };
    let (one, other) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(read), scope.spawn(read));
        (one.join().unwrap(), other.join().unwrap())
    });
    source.stop();
    assert!(one.len() + 5 >= times.len(), "{} of {} moments", one.len(), times.len());
    assert!(one.windows(2).all(|pair| pair[0] <= pair[1]), "in order of time across the chunks");
    assert!(one.len().abs_diff(other.len()) <= 2, "both see it: {} and {}", one.len(), other.len());
}

/// Sees a lamp where it is light, and counts what it was shown.
struct Lamps(Mutex<Vec<(u32, u32)>>);

impl ObjectDetector for Lamps {}

impl Encoder<Picture<'_>, Vec<Detection>> for Lamps {
    fn model(&self) -> &str {
        "lamps"
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
        self.0.lock().push((picture.width, picture.height));
        let light = second_of(picture) >= 6;
        let lamp = Detection { label: Arc::from("lamp"), score: 0.8, bounds: [0.4, 0.4, 0.6, 0.6] };
        Ok(light.then_some(lamp).into_iter().collect())
    }
}

struct OneFile(Option<PathBuf>);

impl Recordings for OneFile {
    fn stretches(&self, _: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        self.0.iter().flat_map(|path| whole(path, stream.start, stream.end)).collect()
    }
}

fn looking(path: Option<PathBuf>) -> (Looking, Arc<Lamps>) {
    let lamps = Arc::new(Lamps(Mutex::default()));
    let filled = Filled { objects: Some(Arc::clone(&lamps) as _), ..Filled::default() };
    let labels = Labels { objects: vec!["lamp".to_owned()], scenes: vec!["kitchen".to_owned()] };
    (Looking::new(Encoders::ready(filled), labels, Arc::new(OneFile(path)), Pace::default()), lamps)
}

fn order(tool: Tool, cancelled: &(dyn Fn() -> bool + Sync)) -> LookOrder<'_> {
    LookOrder {
        tool,
        question: "Where is the lamp?",
        media: "file:///a.mkv",
        stream: StreamSpan { start: ms(4000), end: ms(9000) },
        pictures: 10,
        asked: &[],
        things: &[],
        places: &[],
        ceiling_bytes: 64 << 20,
        budget: DEADLINE,
        cancelled,
    }
}

#[test]
fn a_look_names_what_it_sees_from_the_first_to_the_last_moment() {
    let folder = tempfile::tempdir().unwrap();
    let (looking, lamps) = looking(Some(lighter(folder.path(), "a.mkv", 10, 250)));
    assert_eq!(looking.reach(Tool::IntervalLocaliser).labels.len(), 1, "no scene classifier, no scenes");
    assert!(looking.reach(Tool::ClipExplorer).labels.is_empty());
    let look = looking.look(&order(Tool::IntervalLocaliser, &|| false)).unwrap();
    assert_eq!((look.pictures, look.missing), (10, Duration::ZERO));
    let lamp = &look.sightings[0];
    assert_eq!((lamp.label.as_str(), lamp.count), ("lamp", 1));
    assert!((lamp.share - 0.6).abs() < 0.01, "{lamp:?}");
    assert!(lamp.stream.start.abs_diff(ms(6000)) <= ms(300) && lamp.stream.end >= ms(8700), "{lamp:?}");
    assert!(lamp.text.contains("lamp is in view"), "{}", lamp.text);
    assert!(look.bytes > 0 && look.bytes < 4 << 20, "{} bytes", look.bytes);
    assert!(lamps.0.lock().iter().all(|size| *size == (320, 180)), "never larger than the recording");
}

#[test]
fn the_snapper_looks_at_tiles_too() {
    let folder = tempfile::tempdir().unwrap();
    let (looking, lamps) = looking(Some(lighter(folder.path(), "a.mkv", 10, 25)));
    let look = looking.look(&LookOrder { pictures: 2, ..order(Tool::SceneSnapper, &|| false) }).unwrap();
    let sizes = lamps.0.lock().clone();
    assert_eq!(sizes.len(), 2 * 7, "the whole and six tiles");
    assert!(sizes.iter().filter(|(width, _)| *width < 200).count() == 12, "{sizes:?}");
    assert_eq!(look.sightings.len(), 1);
}

#[test]
fn a_recording_that_is_gone_and_an_asker_who_gives_up_are_told_apart() {
    let (looking_at_nothing, _) = looking(None);
    assert_eq!(looking_at_nothing.look(&order(Tool::IntervalLocaliser, &|| false)), Err(LookError::Gone));
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let (deleted, _) = looking(Some(path.clone()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(deleted.look(&order(Tool::SceneSnapper, &|| false)), Err(LookError::Gone));
    let (given_up, lamps) = looking(Some(lighter(folder.path(), "b.mkv", 10, 25)));
    let cancelled = || lamps.0.lock().len() >= 2;
    assert_eq!(given_up.look(&order(Tool::IntervalLocaliser, &cancelled)), Err(LookError::Cancelled));
    assert!(lamps.0.lock().len() <= 3, "at the next picture");
}

/// Pictures up to the sixth second in one direction, brighter ones in another.
struct Rooms;

impl Encoder<Picture<'_>, Vec<f32>> for Rooms {
    fn model(&self) -> &str {
        "rooms"
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<f32>, EncoderError> {
        // One picture in three is a little off.
        let turned = 0.05 * (second_of(picture) % 3) as f32;
        let room = [1.0 - turned, turned];
        Ok(if second_of(picture) < 6 { room.to_vec() } else { vec![room[1], room[0]] })
    }
}

impl VectorEncoder<Picture<'_>> for Rooms {
    fn space(&self) -> &str {
        "rooms/1"
    }

    fn dimensions(&self) -> usize {
        2
    }
}

#[test]
fn a_look_tells_which_known_place_the_pictures_show_and_when() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let filled = Filled { image_embedding: Some(Arc::new(Rooms) as _), ..Filled::default() };
    let recordings = Arc::new(OneFile(Some(path)));
    let tools = Looking::new(Encoders::ready(filled), Labels::default(), recordings, Pace::default());
    assert_eq!(tools.reach(Tool::IntervalLocaliser).places.as_deref(), Some("rooms/1"));
    assert_eq!(looking(None).0.reach(Tool::IntervalLocaliser).places, None, "nothing makes vectors of pictures");
    let place = |name: &str, space: &str, view: [f32; 2]| KnownPlace {
        name: name.to_owned(),
        space: space.to_owned(),
        gamma: 0.9,
        views: vec![view.to_vec()],
    };
    let seen = |places: &[KnownPlace], tool: Tool| {
        let look = tools.look(&LookOrder { places, ..order(tool, &|| false) }).unwrap();
        let sighting = |seen: &Sighting| (seen.kind, seen.label.clone(), seen.stream, seen.share);
        look.sightings.iter().map(sighting).collect::<Vec<_>>()
    };
    let kitchen = place("kitchen", "rooms/1", [1.0, 0.0]);
    for tool in [Tool::IntervalLocaliser, Tool::SceneSnapper] {
        let found = seen(&[place("cellar", "rooms/1", [-1.0, 0.0]), kitchen.clone()], tool);
        let [(kind, name, stream, share)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((*kind, name.as_str()), (SightingKind::Place, "kitchen"), "what is like no known place is none");
        assert!(stream.start < ms(4400) && stream.end.abs_diff(ms(6000)) <= ms(300), "{stream:?}");
        assert!((share - 0.4).abs() < 0.11, "{share}");
    }
    let both = seen(&[kitchen, place("hall", "rooms/1", [0.0, 1.0])], Tool::IntervalLocaliser);
    assert_eq!(both.iter().map(|(_, name, ..)| name.as_str()).collect::<Vec<_>>(), ["kitchen", "hall"]);
    assert_eq!(seen(&[place("kitchen", "other/1", [1.0, 0.0])], Tool::IntervalLocaliser), [], "another space");
}

/// A film of one colour a second.
fn coloured(folder: &Path, colours: &[u32]) -> PathBuf {
    let path = folder.join("colours.mkv");
    let parts: String = colours
        .iter()
        .map(|colour| {
            format!(
                "videotestsrc pattern=solid-color foreground-color={} num-buffers=25 ! \
                 video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! c. ",
                0xff00_0000_u32 | colour
            )
        })
        .collect();
    let muxer = media::muxer("colours.mkv");
    media::make(&format!(
        "concat name=c ! queue ! {VIDEO} ! {muxer} name=mux ! filesink location={} {parts} \
         audiotestsrc samplesperbuffer=1600 num-buffers={} ! {AUDIO} ! queue ! mux.",
        path.display(),
        10 * colours.len()
    ));
    path
}

/// Tiny networks for pictures and texts in one space, in which a kingfisher is blue; with what was measured of the space, or without.
fn pair(measured: bool) -> Option<JointEncoder> {
    let catalogue = Catalogue::load(None).unwrap();
    let library = match InstalledModels::new(catalogue.clone(), None, None).runtime_library() {
        Availability::Found(library) => library,
        Availability::Absent(reason) | Availability::Damaged(reason) => {
            println!("skipped: {reason}");
            return None;
        }
    };
    let mut entry = catalogue.model(Role::JointImageText).unwrap().clone();
    if measured {
        entry.parameters.extend([("shows_slope".to_owned(), 20.0), ("shows_offset".to_owned(), -16.0)]);
    }
    let tiny = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny").join(name);
    let files = [
        (Part::Graph, "clip_image.onnx"),
        (Part::TextGraph, "clip_text.onnx"),
        (Part::Tokenizer, "clip_tokenizer.json"),
    ];
    let files = files.iter().map(|(part, name)| (*part, tiny(name))).collect();
    Some(JointEncoder::load(&InstalledModel { entry, files }, &OnnxRuntime::open(&library).unwrap(), 1).unwrap())
}

#[test]
fn what_no_detector_has_a_label_for_is_seen_by_the_likeness_of_its_word() {
    let folder = tempfile::tempdir().unwrap();
    let (red, green, blue) = (0xc8_14_14, 0x14_b4_14, 0x28_28_f0);
    let path = coloured(folder.path(), &[red, red, red, red, red, green, blue, blue, green, green]);
    let (Some(measured), Some(unmeasured)) = (pair(true), pair(false)) else { return };
    let tools = |encoder: JointEncoder| {
        let filled = Filled { joint: Some(Arc::new(encoder)), ..Filled::default() };
        let recordings = Arc::new(OneFile(Some(path.clone())));
        Looking::new(Encoders::ready(filled), Labels::default(), recordings, Pace::default())
    };
    let thing = |phrase: &str| AskedThing { phrase: phrase.to_owned(), sentence: format!("There is {phrase}.") };
    let things = [thing("a kingfisher"), thing("red"), thing("something else")];
    let seeing = tools(measured);
    assert!(seeing.reach(Tool::IntervalLocaliser).likeness && seeing.reach(Tool::SceneSnapper).likeness);
    assert!(!seeing.reach(Tool::ClipExplorer).likeness);
    let look = |tools: &Looking, tool| tools.look(&LookOrder { things: &things, ..order(tool, &|| false) }).unwrap();
    for tool in [Tool::IntervalLocaliser, Tool::SceneSnapper] {
        let found = look(&seeing, tool);
        let [bird, wall] = found.sightings.as_slice() else { panic!("{found:?}") };
        assert_eq!((bird.kind, bird.label.as_str()), (SightingKind::Likeness, "a kingfisher"));
        assert_eq!((bird.text.as_str(), wall.label.as_str()), ("There is a kingfisher.", "red"));
        assert!(bird.stream.start.abs_diff(ms(6000)) <= ms(300), "{bird:?}");
        assert!(bird.stream.end.abs_diff(ms(8000)) <= ms(300), "{bird:?}");
        assert!(bird.score > 0.9 && (bird.share - 0.4).abs() < 0.11, "{bird:?}");
        assert!(wall.stream.end.abs_diff(ms(5000)) <= ms(300), "{wall:?}");
    }
    let unmeasured = tools(unmeasured);
    assert!(!unmeasured.reach(Tool::IntervalLocaliser).likeness, "nothing was measured of the space");
    assert_eq!(look(&unmeasured, Tool::IntervalLocaliser).sightings, []);
}

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

/// A face in the upper half of every picture, a line of writing in its middle, and what it says.
struct FakeSigns;

impl Encoder<Picture<'_>, Vec<Face>> for FakeSigns {
    fn model(&self) -> &str {
        "faces"
    }

    fn encode(&self, _: &Picture<'_>) -> Result<Vec<Face>, EncoderError> {
        Ok(vec![Face { score: 0.9, bounds: [0.4, 0.1, 0.5, 0.3], landmarks: [[10.0, 10.0]; 5] }])
    }
}

impl Encoder<Picture<'_>, Vec<WrittenLine>> for FakeSigns {
    fn model(&self) -> &str {
        "lines"
    }

    fn encode(&self, _: &Picture<'_>) -> Result<Vec<WrittenLine>, EncoderError> {
        Ok(vec![WrittenLine { score: 0.9, bounds: [0.2, 0.4, 0.8, 0.6] }])
    }
}

impl Encoder<Picture<'_>, ReadText> for FakeSigns {
    fn model(&self) -> &str {
        "reader"
    }

    fn encode(&self, _: &Picture<'_>) -> Result<ReadText, EncoderError> {
        Ok(ReadText { text: "Wet  Paint".to_owned(), confidence: 0.8 })
    }
}

#[test]
fn faces_and_writing_are_looked_for_where_the_question_asks_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let sign = Arc::new(FakeSigns);
    let filled = Filled {
        faces: Some(Arc::clone(&sign) as _),
        text_detection: Some(Arc::clone(&sign) as _),
        text_recognition: Some(sign),
        ..Filled::default()
    };
    let labels = Labels::default();
    let looking = Looking::new(Encoders::ready(filled), labels, Arc::new(OneFile(Some(path))), Pace::default());
    let reach = looking.reach(Tool::SceneSnapper);
    assert!(reach.faces && reach.writing && !looking.reach(Tool::IntervalLocaliser).writing);
    let unasked = looking.look(&LookOrder { pictures: 3, ..order(Tool::SceneSnapper, &|| false) }).unwrap();
    assert!(unasked.sightings.is_empty(), "{unasked:?}");
    let asked = [SightingKind::Face, SightingKind::Writing];
    let order = LookOrder { pictures: 3, asked: &asked, ..order(Tool::SceneSnapper, &|| false) };
    let look = looking.look(&order).unwrap();
    let seen: Vec<_> = look.sightings.iter().map(|seen| (seen.kind, seen.label.as_str(), seen.text.as_str())).collect();
    assert!(seen.contains(&(SightingKind::Writing, "Wet Paint", "The writing \"Wet Paint\" is in view.")), "{seen:?}");
    let faces: Vec<_> = look.sightings.iter().filter(|seen| seen.kind == SightingKind::Face).collect();
    assert!(faces.len() == 1 && faces[0].text.contains("face"), "followed over the pictures: {seen:?}");
}

/// Sees what is asked for in the pictures with these numbers, and keeps what it was shown.
struct Viewer(Vec<usize>, Mutex<Vec<(String, NumberedPictures)>>);

impl ClipViewer for Viewer {
    fn view(&self, question: &str, pictures: &NumberedPictures, _: Duration) -> Result<ViewedClip, String> {
        self.1.lock().push((question.to_owned(), pictures.clone()));
        if self.0.contains(&99) {
            return Err("llm.vision: no reply within 1 s".to_owned());
        }
        let text = if self.0.is_empty() { String::new() } else { "A lamp is lit on the desk.".to_owned() };
        Ok(ViewedClip { numbers: self.0.clone(), text, confidence: 0.7 })
    }
}

fn viewing(path: PathBuf, numbers: &[usize]) -> (Looking, Arc<Viewer>) {
    let viewer = Arc::new(Viewer(numbers.to_vec(), Mutex::default()));
    let tools = Looking::new(
        Encoders::ready(Filled::default()),
        Labels::default(),
        Arc::new(OneFile(Some(path))),
        Pace::default(),
    );
    (tools.with_viewer(Some(Arc::clone(&viewer) as _)), viewer)
}

#[test]
fn a_vision_model_sees_numbered_pictures_and_what_it_names_has_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let (tools, viewer) = viewing(path.clone(), &[8, 9]);
    assert!(tools.reach(Tool::ClipAnalyser).question && !looking(None).0.reach(Tool::ClipAnalyser).question);
    let order = LookOrder { pictures: 12, ..order(Tool::ClipAnalyser, &|| false) };
    let look = tools.look(&order).unwrap();
    let (question, shown) = viewer.1.lock().remove(0);
    assert_eq!((question.as_str(), shown.count, shown.grids.len()), ("Where is the lamp?", 12, 2));
    assert!(shown.grids.iter().all(|grid| grid.starts_with(&[0xff, 0xd8])), "JPEG files");
    let seen = &look.sightings[0];
    assert_eq!(
        (seen.kind, seen.text.as_str(), seen.score),
        (SightingKind::Description, "A lamp is lit on the desk.", 0.7)
    );
    // Of twelve pictures of 4 s to 9 s the eighth and the ninth lie between 6.9 s and 7.8 s.
    assert!(seen.stream.start.abs_diff(ms(6917)) <= ms(60) && seen.stream.end.abs_diff(ms(7750)) <= ms(60), "{seen:?}");
    let (nothing, _) = viewing(path.clone(), &[]);
    assert!(nothing.look(&order).unwrap().sightings.is_empty());
    let (silent, _) = viewing(path.clone(), &[99]);
    let look = silent.look(&order).unwrap();
    assert_eq!((look.sightings.len(), look.degraded), (0, vec!["llm.vision: no reply within 1 s".to_owned()]));
    let (small, viewer) = viewing(path, &[1]);
    small.look(&LookOrder { ceiling_bytes: 1 << 20, ..order }).unwrap();
    assert_eq!(viewer.1.lock()[0].1.count, 6, "one grid where little memory is allowed");
}

/// Records the test source until it has so many chunks, and returns the recording.
fn recorded(archive: &Arc<Archive>, folder: &Path, source: &str, count: usize) -> Recording {
    let recorder = Recorder::start(Arc::clone(archive), source).unwrap();
    let record = media::Record::default();
    let consumer = media::CallRecorder { record: record.clone(), interval: ms(100) };
    let spec = SourceSpec::new(source, SourceKind::Test);
    let handle =
        SourceHandle::start_with(spec, Box::new(consumer), Arc::new(SystemClock::new()), false, Some(recorder))
            .unwrap();
    let begin = Instant::now();
    while chunks(folder, source).len() < count {
        assert!(begin.elapsed() < DEADLINE);
        std::thread::park_timeout(ms(20));
    }
    handle.stop();
    Recording { source: source.to_owned(), session: record.begins()[0].1 }
}

/// What an archive has of one recording.
struct OfArchive(Arc<Archive>, Recording);

impl Recordings for OfArchive {
    fn stretches(&self, _: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        let found = self.0.showing(&self.1, stream).into_iter().map(|chunk| RecordingPart {
            begin: chunk.name.begin,
            from: stream.start.max(chunk.name.begin),
            to: stream.end.min(chunk.end),
            path: chunk.path,
        });
        found.filter(|stretch| stretch.from < stretch.to).collect()
    }
}

#[test]
fn what_the_budget_deleted_is_gone_and_what_it_left_is_still_seen() {
    let folder = tempfile::tempdir().unwrap();
    let limits = |budget_bytes| ArchiveLimits { budget_bytes, keep_free_bytes: 0, chunk: ms(1000) };
    let archive = Arc::new(Archive::open(folder.path(), limits(1 << 30)).unwrap());
    let recording = recorded(&archive, folder.path(), "cam", 6);
    let sizes: Vec<u64> =
        chunks(folder.path(), "cam").iter().map(|path| std::fs::metadata(path).unwrap().len()).collect();
    // Another start with less room; its next chunk makes the oldest go.
    let budget = sizes.iter().sum::<u64>() * 2 / 3;
    let archive = Arc::new(Archive::open(folder.path(), limits(budget)).unwrap());
    recorded(&archive, folder.path(), "other", 1);
    let left = chunks(folder.path(), "cam").len();
    assert!((1..sizes.len()).contains(&left), "{left} of {} chunks", sizes.len());
    let lamps = Arc::new(Lamps(Mutex::default()));
    let filled = Filled { objects: Some(lamps as _), ..Filled::default() };
    let recordings = Arc::new(OfArchive(archive, recording));
    let tools = Looking::new(Encoders::ready(filled), Labels::default(), recordings, Pace::default());
    let look = |start: u64, end: u64| {
        let stream = StreamSpan { start: ms(start), end: ms(end) };
        tools.look(&LookOrder { stream, ..order(Tool::IntervalLocaliser, &|| false) })
    };
    assert_eq!(look(0, 400), Err(LookError::Gone), "the oldest chunk is deleted");
    let whole = look(0, 5000).unwrap();
    assert!(whole.missing >= ms(900) && whole.pictures > 0, "{whole:?}");
}
