//! A household told at many times real time: store, learning and index do days of work in minutes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, SeededRandom, until};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::bars::{Bars, Slope};
use super::observer::{Sample, fresh_health, look, refused};
use super::{SoakArguments, as_service};

const ROBOT: &str = "told";
/// When the robot's first day begins.
const BEGIN: &str = "2026-03-02T06:00:00Z";
/// Robot time of one message.
const STEP_S: f64 = 60.0;
/// Messages that may wait for their reply.
const WINDOW: usize = 8;
/// Robot minutes between two looks, and between two questions.
const LOOK_MIN: u64 = 6;
const ASK_MIN: u64 = 30;
const REPLY: Duration = Duration::from_secs(60);

const PEOPLE: [&str; 4] = ["Anna", "Ben", "Mia", "Tom"];
const ROOMS: [&str; 6] = ["kitchen", "hall", "garage", "garden", "study", "cellar"];
const THINGS: [&str; 10] =
    ["blue mug", "red toolbox", "spare key", "ladder", "parcel", "laptop", "broom", "watering can", "torch", "scarf"];
const TEA: [&str; 4] = ["fill the kettle", "boil water", "put tea into the cup", "pour the water"];
const SOUNDS: [&str; 4] = ["a door closes", "the bell rings", "somebody laughs", "water runs"];

/// What happens in the house: the same in every run.
struct Household {
    random: SeededRandom,
    number: u64,
    tea: Option<(u64, usize)>,
}

impl Household {
    fn any<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len() as u64) as usize]
    }

    fn next(&mut self, at: Timestamp) -> Value {
        let (who, room, thing) = (self.any(&PEOPLE), self.any(&ROOMS), self.any(&THINGS));
        self.number += 1;
        let number = self.number;
        let base = |kind: &str, text: String, source: &str| json!({"id": format!("o{number}"), "kind": kind, "text": text, "source": source, "at": at.to_string()});
        let mut item = match self.random.below(10) {
            0..=2 => base("text", format!("The {thing} is in the {room}."), "asr"),
            3..=4 => base("object", format!("a {thing} and a person in the {room}"), "detector"),
            5..=6 => base("sound", self.any(&SOUNDS).to_owned(), "ears"),
            7 => base("state", format!("Battery at {} percent.", 20 + self.random.below(80)), "power"),
            _ => {
                let (session, step) = self.tea.take().unwrap_or((self.number, 0));
                self.tea = (step + 1 < TEA.len()).then_some((session, step + 1));
                let mut action = base("action", TEA[step].to_owned(), "hands");
                action["attributes"] = json!({"session": format!("tea-{session}"), "task": "make tea"});
                action
            }
        };
        item["entity"] = who.into();
        item
    }
}

/// What became of what was told.
#[derive(Default)]
struct Replies {
    accepted: u64,
    refused: u64,
}

impl Replies {
    fn add(&mut self, reply: &Value) -> Result<()> {
        self.accepted += reply["accepted"].as_u64().with_context(|| format!("observe replied {reply}"))?;
        self.refused += reply["rejected"].as_array().map_or(0, |rejected| rejected.len() as u64);
        Ok(())
    }
}

/// Tells and looks.
///
/// # Errors
/// If the program, or the broker, does not work at all.
pub fn run(arguments: &SoakArguments, bars: &mut Bars) -> Result<Vec<Sample>> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut agent = as_service(Agent::builder(&broker, ROBOT))?
        // Words alone: models of the machine would make one run another than the next.
        .set("models.dir", "/nowhere/models")
        // A small page cache is full within the warm-up.
        .set("memory.cache_mib", 4)
        .set("memory.max_mib", i64::try_from(arguments.disk_mib)?)
        .set("mqtt.limits.observations_per_s", 100_000)
        .start(&client)?;
    client.subscribe(&format!("engram/{ROBOT}/health"))?;
    let mut house = Household { random: SeededRandom::seeded(24), number: 0, tea: None };
    let begin: Timestamp = BEGIN.parse()?;
    let steps = (arguments.hours * 3600.0 / STEP_S).round() as u64;
    let each = (STEP_S / arguments.every_s).round().max(1.0) as u64;
    let started = Instant::now();
    let (mut samples, mut open, mut replies) = (Vec::new(), VecDeque::new(), Replies::default());
    let (mut unanswered, mut late) = (0, Duration::ZERO);
    for step in 0..steps {
        let due = Duration::from_secs_f64(step as f64 * STEP_S / arguments.speed);
        until("the next minute", due + REPLY, || Ok((started.elapsed() >= due).then_some(())))?;
        let items: Vec<Value> = (0..each)
            .map(|item| {
                let millis = (step as f64 * STEP_S + item as f64 * arguments.every_s) * 1000.0;
                let at = begin + Duration::from_millis(millis as u64);
                house.next(at)
            })
            .collect();
        open.push_back(client.request_later(&format!("engram/{ROBOT}/observe"), json!(items).to_string())?);
        while open.len() > WINDOW {
            let request = open.pop_front().context("a request")?;
            replies.add(&client.reply(&request, REPLY)?)?;
        }
        late = late.max(started.elapsed().saturating_sub(due));
        if step % LOOK_MIN == 0 {
            samples.push(look(&mut agent, step as f64 * STEP_S / 3600.0)?);
        }
        if step % ASK_MIN == ASK_MIN / 2 {
            let thing = THINGS[(step / ASK_MIN) as usize % THINGS.len()];
            let answer = client.ask(ROBOT, &format!("Where is the {thing}?"))?;
            unanswered += u64::from(answer["evidence"].as_array().is_none_or(Vec::is_empty));
        }
    }
    for request in open {
        replies.add(&client.reply(&request, REPLY)?)?;
    }
    let took = started.elapsed();
    let report = fresh_health(&agent, &client, |report| {
        report["memory"]["pending_lessons"] == 0 && report["memory"]["observations"].as_u64() >= Some(replies.accepted)
    })?;
    let told = steps * each;
    let real = arguments.hours * 3600.0 / took.as_secs_f64();
    println!(
        "told: {:.1} h of robot time in {:.0} s, {told} observations, {} events, {} facts; at most {:.1} s behind",
        arguments.hours,
        took.as_secs_f64(),
        report["memory"]["events"],
        report["memory"]["facts"],
        late.as_secs_f64(),
    );
    bars.check("at least 100 times real time", &format!("{real:.0} times"), real >= 100.0);
    bars.flat(&samples[samples.len() / 4..], Slope::WithRoom);
    bars.none("observations refused", replies.refused);
    bars.none("observations accepted and not remembered", {
        let remembered = report["memory"]["observations"].as_u64().unwrap_or(0);
        told.max(remembered) - told.min(remembered)
    });
    bars.none("refused by queues", refused(&report));
    bars.none("questions without evidence", unanswered);
    let (disk, most) = (look(&mut agent, arguments.hours)?.disk, arguments.disk_mib << 20);
    bars.check(
        "disk within its budget",
        &format!("{:.1} of {} MiB", disk as f64 / 1048576.0, arguments.disk_mib),
        disk <= most,
    );
    agent.stop()?;
    let checked = agent.engram(&["check"])?;
    bars.check("the memory is whole", checked.stdout.lines().last().unwrap_or("nothing said"), checked.code == Some(0));
    ensure!(!samples.is_empty(), "nothing was looked at");
    Ok(samples)
}
