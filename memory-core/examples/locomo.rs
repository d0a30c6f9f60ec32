//! Evidence recall on the LoCoMo conversations, in process: what `tests/score locomo` measures over MQTT, in seconds.
//!
//! - `locomo [--vectors FILE [--missing FILE]] [--read COMMAND] [--rows] [--signatures] [--token-signatures] [--fusion OWN,CONTEXT,DENSE,ENTITY,NEAR,PHRASE]`: the table. The texts that the file of
//!   vectors lacks go into the file after `--missing`, for `embed` of `drivers`. `--read` gives the reader that extracts answers (`embed read` of `drivers`). With `--signatures` no vector is read for an answer; with `--token-signatures`
//!   the paper's are all that is searched.
//! - `locomo nested --vectors FILE [--draws N]`: nested leave-one-conversation-out. N weightings are drawn at random around the defaults; for
//!   each conversation the one that is best on all *others* is taken and scored on it, by signatures alone. Prints the one that is best on all, too.
//!
//! Each after `cargo run --release -p memory-core --example locomo --`.

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "counts of questions, unit vectors")]

mod offline;
mod reading;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use memory_core::index::{Fusion, IndexOptions, TokenSignatureOptions};
use memory_core::ports::AnswerExtractor;
use memory_core::{
    Answer, Attributes, EpisodeId, Event, EventId, Kind, Modality, Origin, Query, Route, TimeSpan, Timestamp, Value,
    recall,
};
use offline::{Offline, VectorFile, shared};
use reading::ReadingProcess;

type Failure = Box<dyn std::error::Error>;

const DEPTHS: [usize; 5] = [1, 5, 10, 20, 50];

#[derive(serde::Deserialize)]
struct Observation {
    id: String,
    text: String,
    at: String,
    until: String,
    source: String,
    entity: String,
    attributes: serde_json::Map<String, serde_json::Value>,
}

#[derive(serde::Deserialize)]
struct LocomoQuestion {
    id: String,
    category_name: Option<String>,
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Questions {
    questions: Vec<LocomoQuestion>,
    adversarial: Vec<LocomoQuestion>,
}

fn event(place: usize, observation: Observation) -> Result<Event, Failure> {
    let attributes: Attributes =
        observation.attributes.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    let start = Timestamp::parse(&observation.at)?;
    Ok(Event {
        id: EventId(place as u64),
        episode: EpisodeId(0),
        origin: Origin::Told,
        sender_id: Some(observation.id),
        kind: Kind::Text,
        modality: Modality::Audio,
        text: observation.text,
        span: TimeSpan::new(start, Timestamp::parse(&observation.until)?),
        stream: None,
        source: observation.source,
        entity: Some(observation.entity),
        attributes,
        confidence: 1.0,
        media: None,
        received: start,
        pose: None,
    })
}

struct Conversation {
    name: String,
    events: Vec<Event>,
    asked: Questions,
}

impl Conversation {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let lines = std::fs::read_to_string(folder.join("observations.jsonl"))?;
        let events = lines.lines().enumerate().map(|(place, line)| event(place, serde_json::from_str(line)?));
        let asked = serde_json::from_str(&std::fs::read_to_string(folder.join("questions.json"))?)?;
        Ok(Self { name: folder.display().to_string(), events: events.collect::<Result<_, Failure>>()?, asked })
    }

    fn memory(&self, embedder: Option<&Arc<VectorFile>>, options: IndexOptions, exact: bool) -> Offline {
        let mut memory = Offline::new(self.events.clone(), embedder.cloned(), options);
        memory.exact = exact;
        memory
    }
}

/// What share of a question's evidence is among the first, by depth.
fn recalled(one: &LocomoQuestion, answer: &Answer) -> [f64; DEPTHS.len()] {
    let ids: Vec<&String> = answer.evidence.iter().flat_map(|item| &item.observations).collect();
    DEPTHS.map(|depth| {
        let held = one.evidence.iter().filter(|gold| ids.iter().take(depth).any(|id| id == gold)).count();
        held as f64 / one.evidence.len() as f64
    })
}

fn add(sum: &mut [f64; DEPTHS.len()], other: &[f64; DEPTHS.len()]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}

#[derive(Default)]
struct RankTally {
    count: usize,
    recalled: [f64; DEPTHS.len()],
    declined: usize,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let mut options = IndexOptions::default();
    if let Some(weights) = value("--fusion") {
        let weights: Vec<f32> = weights.split(',').map(str::parse).collect::<Result<_, _>>()?;
        options.fusion = fusion(weights.try_into().map_err(|_| format!("--fusion takes {WEIGHTS} numbers"))?);
    }
    if arguments.iter().any(|argument| argument == "--token-signatures") {
        options.token_signatures = Some(TokenSignatureOptions::default());
    }
    let embedder = value("--vectors").map(|path| VectorFile::read(Path::new(path))).transpose()?.map(Arc::new);
    let mut folders: Vec<PathBuf> = std::fs::read_dir(shared().join("bench/locomo/dev"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    folders.sort();
    let conversations = folders.iter().map(|folder| Conversation::read(folder)).collect::<Result<Vec<_>, _>>()?;
    if arguments.first().is_some_and(|argument| argument == "nested") {
        let draws = value("--draws").map_or(Ok(200), |draws| draws.parse())?;
        return nested(&conversations, embedder.as_ref(), options, draws);
    }
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let extractor = value("--read").map(|command| ReadingProcess::start(command)).transpose()?;
    let extractor = extractor.map(|process| Arc::new(process) as Arc<dyn AnswerExtractor>);
    let memory = |conversation: &Conversation| {
        let mut memory = conversation.memory(embedder.as_ref(), options, !given("--signatures"));
        memory.extractor.clone_from(&extractor);
        memory
    };
    table(&conversations, &memory, given("--rows"))?;
    if let (Some(embedder), Some(path)) = (embedder, value("--missing")) {
        embedder.write_missing(Path::new(path))?;
    }
    Ok(())
}

fn table(conversations: &[Conversation], memory: &dyn Fn(&Conversation) -> Offline, rows: bool) -> Result<(), Failure> {
    let mut tallies: BTreeMap<String, RankTally> = BTreeMap::new();
    let (mut times, mut adversarial, mut declined) = (Vec::new(), 0, 0);
    for conversation in conversations {
        let memory = memory(conversation);
        for one in &conversation.asked.questions {
            let query = Query { question: one.question.clone(), top_k: 50, trace: rows, ..Query::default() };
            let started = Instant::now();
            let answer = recall::answer(&query, &memory)?;
            times.push(started.elapsed());
            let recalled = recalled(one, &answer);
            for name in [one.category_name.as_deref().unwrap_or("other"), "~all"] {
                let tally = tallies.entry(name.to_string()).or_default();
                tally.count += 1;
                tally.declined += usize::from(answer.route == Route::None);
                add(&mut tally.recalled, &recalled);
            }
            if rows {
                println!(
                    "{}\t{:.3}\t{}\t{:?}\t{}\t{:?}\t{:?}",
                    one.id, answer.confidence, recalled[0], answer.route, one.question, answer.answer, answer.trace
                );
            }
        }
        for one in &conversation.asked.adversarial {
            let answer = recall::answer(&Query { question: one.question.clone(), ..Query::default() }, &memory)?;
            adversarial += 1;
            declined += usize::from(answer.route == Route::None);
            if rows {
                println!("{}\t{:.3}\tADV\t{:?}\t{}", one.id, answer.confidence, answer.route, one.question);
            }
        }
        println!("{}: {} of {} events embedded", conversation.name, memory.embedded(), conversation.events.len());
    }
    println!("{:12} {:>5} {}  declined", "", "n", DEPTHS.map(|depth| format!("{:>6}", format!("R@{depth}"))).join(" "));
    for (name, tally) in &tallies {
        let shares = shares(&tally.recalled, tally.count);
        println!("{name:12} {:5} {shares}  {:.3}", tally.count, tally.declined as f64 / tally.count as f64);
    }
    times.sort();
    println!("adversarial: {declined} of {adversarial} declined");
    println!("p50 {:?}  p95 {:?}", times[times.len() / 2], times[times.len() * 95 / 100]);
    Ok(())
}

fn shares(recalled: &[f64; DEPTHS.len()], count: usize) -> String {
    recalled.map(|sum| format!("{:6.3}", sum / count as f64)).join(" ")
}

/// How many weights a weighting has.
const WEIGHTS: usize = 6;

fn fusion(weights: [f32; WEIGHTS]) -> Fusion {
    let [own, context, dense, entity, near, phrase] = weights;
    Fusion { own, context, dense, entity, near, phrase }
}

fn weights(fusion: Fusion) -> [f32; WEIGHTS] {
    [fusion.own, fusion.context, fusion.dense, fusion.entity, fusion.near, fusion.phrase]
}

/// The weighting at `place`: the default first, then each weight between a third and three times the default's, evenly in its logarithm; the
/// context's stays, since only ratios count.
fn drawn(place: usize, base: Fusion) -> Fusion {
    let mut state = place as u64;
    let mut uniform = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 40) as f32 / (1_u64 << 24) as f32
    };
    let drawn = weights(base).map(|weight| if place == 0 { weight } else { weight * 9_f32.powf(uniform() - 0.5) });
    Fusion { context: base.context, ..fusion(drawn) }
}

fn nested(
    conversations: &[Conversation],
    embedder: Option<&Arc<VectorFile>>,
    options: IndexOptions,
    draws: usize,
) -> Result<(), Failure> {
    // By weighting and conversation: sums over its questions.
    let mut sums = Vec::with_capacity(draws);
    for place in 0..draws {
        let options = IndexOptions { fusion: drawn(place, options.fusion), ..options };
        let mut of_weighting = Vec::with_capacity(conversations.len());
        for conversation in conversations {
            let memory = conversation.memory(embedder, options, false);
            let mut sum = [0.0; DEPTHS.len()];
            for one in &conversation.asked.questions {
                let query = Query { question: one.question.clone(), top_k: 50, ..Query::default() };
                add(&mut sum, &recalled(one, &recall::answer(&query, &memory)?));
            }
            of_weighting.push(sum);
        }
        sums.push(of_weighting);
    }
    let counts: Vec<usize> = conversations.iter().map(|conversation| conversation.asked.questions.len()).collect();
    let total: usize = counts.iter().sum();
    // The weighting that finds most at depths 1, 10 and 50 together, over the conversations in use.
    let best = |used: &dyn Fn(usize) -> bool| {
        let value = |place: usize| {
            let of = |(at, sum): (usize, &[f64; DEPTHS.len()])| if used(at) { sum[0] + sum[2] + sum[4] } else { 0.0 };
            sums[place].iter().enumerate().map(of).sum::<f64>()
        };
        (0..draws).max_by(|a, b| value(*a).total_cmp(&value(*b)).then(b.cmp(a))).unwrap_or(0)
    };
    println!("{:24} {}", "", DEPTHS.map(|depth| format!("{:>6}", format!("R@{depth}"))).join(" "));
    let mut left_out = [0.0; DEPTHS.len()];
    for (at, conversation) in conversations.iter().enumerate() {
        let chosen = best(&|other| other != at);
        add(&mut left_out, &sums[chosen][at]);
        let name = conversation.name.rsplit('/').next().unwrap_or_default();
        let tried = weights(drawn(chosen, options.fusion)).map(|weight| format!("{weight:.2}")).join(",");
        println!("{name:24} {}  with {tried}", shares(&sums[chosen][at], counts[at]));
    }
    let over_all = |place: usize| {
        let mut sum = [0.0; DEPTHS.len()];
        sums[place].iter().for_each(|of| add(&mut sum, of));
        shares(&sum, total)
    };
    println!("{:24} {}", "nested, left out", shares(&left_out, total));
    println!("{:24} {}", "the defaults", over_all(0));
    let chosen = best(&|_| true);
    let tried = weights(drawn(chosen, options.fusion)).map(|weight| format!("{weight:.2}")).join(",");
    println!("{:24} {}  with {tried}", "best of all on all", over_all(chosen));
    Ok(())
}
