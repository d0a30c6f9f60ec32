//! A camera with a microphone, at real time, that dies and comes back: a peer that sends pictures and sound over TCP.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, Process, free_port, until};
use serde_json::Value;

use super::bars::{Bars, Slope};
use super::observer::{Sample, bytes_in, fresh_health, look, refused};
use super::{SoakArguments, as_service};

const ROBOT: &str = "seen";
/// How long a camera may need to be back, with the backoff before it.
const BACK: Duration = Duration::from_secs(60);
/// The last session lasts at least so long: nothing but its length ends its first segment.
const LAST: Duration = Duration::from_secs(12);
/// Seconds between two looks.
const LOOK: f64 = 1.0;
/// So many sessions are warm-up: each begins a dozen threads, and until then the allocator still makes them room of its own.
const WARM_UP: u64 = 30;
/// From so many reconnects on the slope is judged by its bar: a quarter of them is warm-up, in which the store's cache fills,
/// too, and what is left lasts long enough for a slope to stand out of the allocator's noise.
const LONG: u64 = 200;
/// Blocks of sound that a session may lose at its begin, where they come later than the picture they belong with.
const LATE: u64 = 5;
/// What the recorder may pass its budget by: the chunk that is open.
const OPEN_CHUNK: u64 = 16 << 20;

/// What sends: both streams raw, for it is not encoders that are tried here.
fn camera(port: u16) -> Result<Process> {
    let description = format!(
        "matroskamux name=m streamable=true ! tcpserversink host=127.0.0.1 port={port} \
         videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=180,framerate=10/1 ! queue ! m. \
         audiotestsrc is-live=true wave=ticks ! audio/x-raw,format=S16LE,rate=16000,channels=1 ! queue ! m."
    );
    let mut command = Command::new("gst-launch-1.0");
    command.arg("-q").args(description.split_whitespace());
    Process::start("the camera", &mut command).context("install the package gstreamer1.0-tools")
}

fn source<'a>(report: &'a Value, key: &str) -> &'a Value {
    &report["sources"]["eye"][key]
}

fn running(report: &Value) -> bool {
    source(report, "state") == "running" && source(report, "fps").as_f64() > Some(1.0)
}

/// One sample per session, that of the median resident memory: a camera takes two MiB while it lives, so that a slope through
/// every look would also tell at which of both the run began and ended.
fn medians(sessions: &[&[Sample]]) -> Vec<Sample> {
    let median = |session: &&[Sample]| {
        let mut session = session.to_vec();
        session.sort_by_key(|sample| sample.resident);
        let middle = session.len() / 2;
        session.into_iter().nth(middle)
    };
    sessions.iter().filter_map(median).collect()
}

/// Looks for as long as the camera lives.
fn watch(agent: &mut Agent, begin: Instant, session: Duration, samples: &mut Vec<Sample>) -> Result<()> {
    let end = Instant::now() + session;
    while Instant::now() < end {
        let due = Instant::now() + Duration::from_secs_f64(LOOK);
        until("the next look", BACK, || Ok((Instant::now() >= due.min(end)).then_some(())))?;
        samples.push(look(agent, begin.elapsed().as_secs_f64() / 3600.0)?);
    }
    Ok(())
}

/// Looks at a camera that dies `reconnects` times.
///
/// # Errors
/// If the program, or the broker, does not work at all.
pub fn run(arguments: &SoakArguments, bars: &mut Bars) -> Result<Vec<Sample>> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    let port = free_port()?;
    let peer = format!(
        "pipeline:tcpclientsrc host=127.0.0.1 port={port} ! matroskademux name=d \
         d. ! video/x-raw ! queue ! appsink name=video \
         d. ! audio/x-raw ! queue ! audioconvert ! audioresample ! appsink name=audio"
    );
    let mut agent = as_service(Agent::builder(&broker, ROBOT))?
        .source("eye", &peer)
        .set("models.dir", "/nowhere/models")
        .set("memory.cache_mib", 4)
        .set("memory.max_mib", i64::try_from(arguments.disk_mib)?)
        .set("recording.enabled", true)
        .set("recording.keep_free_mib", 0)
        .set("recording.budget_mib", i64::try_from(arguments.disk_mib)?)
        .start(&client)?;
    client.subscribe(&format!("engram/{ROBOT}/health"))?;
    let session = Duration::from_secs_f64(arguments.session_s);
    let mut eye = Some(camera(port)?);
    fresh_health(&agent, &client, running).context("the camera never came up")?;
    let begin = Instant::now();
    let (mut samples, mut worst) = (Vec::new(), Duration::ZERO);
    // Where each session's samples begin.
    let mut begins = Vec::new();
    for _ in 0..arguments.reconnects {
        begins.push(samples.len());
        watch(&mut agent, begin, session, &mut samples)?;
        eye.take().context("a camera")?.kill()?;
        fresh_health(&agent, &client, |report| !running(report)).context("its death was not noticed")?;
        eye = Some(camera(port)?);
        let back = Instant::now();
        fresh_health(&agent, &client, running).context("it did not come back")?;
        worst = worst.max(back.elapsed());
    }
    begins.push(samples.len());
    watch(&mut agent, begin, session.max(LAST), &mut samples)?;
    let report = fresh_health(&agent, &client, running)?;
    let dropped = source(&report, "dropped").as_object().cloned().unwrap_or_default();
    let restarts = source(&report, "restarts").as_u64().unwrap_or(0);
    let segments = source(&report, "segments").as_u64().unwrap_or(0);
    println!(
        "seen: {:.1} min of a camera that died {} times, {segments} segments, {restarts} restarts, dropped: {}; back within {:.1} s",
        begin.elapsed().as_secs_f64() / 60.0,
        arguments.reconnects,
        if dropped.is_empty() { "nothing".to_owned() } else { Value::Object(dropped.clone()).to_string() },
        worst.as_secs_f64(),
    );
    let warm_up = if arguments.reconnects < LONG { WARM_UP } else { arguments.reconnects / 4 };
    let ends = begins.iter().skip(1).copied().chain([samples.len()]);
    let sessions: Vec<&[Sample]> = begins.iter().copied().zip(ends).map(|(from, to)| &samples[from..to]).collect();
    let too_short = format!("below {} reconnects caches and heaps still fill", 2 * WARM_UP);
    match usize::try_from(warm_up)? {
        _ if arguments.reconnects < 2 * WARM_UP => {
            bars.flat(&samples[samples.len() / 4..], Slope::NotJudged(&too_short));
        }
        warm if arguments.reconnects < LONG => bars.flat(&samples[begins[warm]..], Slope::WithRoom),
        warm => {
            bars.memory(&medians(&sessions[warm..]), Slope::Strictly);
            bars.threads_and_files(&samples[begins[warm]..]);
        }
    }
    let lost = |reason: &str| dropped.get(reason).and_then(Value::as_u64).unwrap_or(0);
    let all: u64 = dropped.values().filter_map(Value::as_u64).sum();
    bars.none("pictures, sounds and segments dropped while a session runs", all - lost("late"));
    let most = LATE * (restarts + 1);
    bars.check("late at the begin of a session", &format!("{} of at most {most}", lost("late")), lost("late") <= most);
    bars.none("refused by queues", refused(&report));
    bars.check("every death was a restart", &restarts.to_string(), restarts >= arguments.reconnects);
    // A session begins with a segment of its own.
    bars.check("segments of every session", &segments.to_string(), segments > arguments.reconnects);
    let (media, most) = (bytes_in(&agent.data_dir().join("media")), arguments.disk_mib << 20);
    let within = media <= most + OPEN_CHUNK;
    bars.check(
        "recordings within their budget",
        &format!("{:.1} of {} MiB", media as f64 / 1048576.0, arguments.disk_mib),
        within,
    );
    agent.stop()?;
    let checked = agent.engram(&["check"])?;
    bars.check("the memory is whole", checked.stdout.lines().last().unwrap_or("nothing said"), checked.code == Some(0));
    ensure!(!samples.is_empty(), "nothing was looked at");
    Ok(samples)
}
