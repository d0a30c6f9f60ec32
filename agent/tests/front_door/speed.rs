//! Numbers rather than verdicts: `cargo test --release -p agent --test front_door -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use engram_tests::{Broker, eventually};
use memory_core::ports::{PortError, TextEmbedder};
use memory_core::store::DirStorage;
use serde_json::json;

use crate::robot::{NAME, Robot, config, topic};

/// Takes as long as a small model on one core.
struct Slow;

impl TextEmbedder for Slow {
    fn space(&self) -> &str {
        "slow"
    }

    fn dimensions(&self) -> usize {
        384
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Ok(texts.iter().map(|text| spin(text)).collect())
    }
}

fn spin(text: &str) -> Vec<f32> {
    let until = Instant::now() + Duration::from_millis(4);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    let mut vector = vec![0.0; 384];
    for (index, byte) in text.bytes().enumerate() {
        vector[(index * 31 + usize::from(byte)) % 384] += 1.0_f32;
    }
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-6);
    vector.iter().map(|value| value / norm).collect()
}

fn percentile(times: &mut [Duration], of: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * of) as usize]
}

#[test]
#[ignore = "a measurement"]
fn speed() -> Result<()> {
    const COUNT: usize = 20_000;
    let words =
        ["mug", "piano", "kitchen", "Anna", "door", "bell", "letter", "garden", "window", "cat", "lamp", "book"];
    let broker = Broker::start()?;
    let folder = tempfile::tempdir()?;
    let robot = Robot::start(config(&broker), Arc::new(DirStorage::new(folder.path())))?;
    robot.wait_online()?;
    let client = broker.client()?;
    let observations: Vec<_> = (0..COUNT)
        .map(|n| {
            let word = |k: usize| words[(n / k + n) % words.len()];
            json!({"id": format!("o-{n}"), "text": format!("the {} is near the {} while the {} is at the {}, says number {n}",
                word(1), word(7), word(11), word(13)), "source": "asr", "entity": word(3),
                "at": format!("2026-11-{:02}T{:02}:{:02}:{:02}Z", 1 + n / 3600 % 20, n / 150 % 24, n / 60 % 60, n % 60)})
        })
        .collect();
    let begin = Instant::now();
    for batch in observations.chunks(64) {
        client.publish(&topic("observe"), json!(batch).to_string())?;
    }
    robot.wait_observations(COUNT as u64)?;
    let took = begin.elapsed();
    let counters = robot.service.counters();
    println!(
        "{COUNT} observations in batches of 64: {:.0} a second, {} commits of {:?} on average",
        COUNT as f64 / took.as_secs_f64(),
        counters.commits,
        counters.commit_time / u32::try_from(counters.commits.max(1))?,
    );
    for (what, embedder) in [("alone", None), ("while embedding", Some(Arc::new(Slow) as Arc<dyn TextEmbedder>))] {
        let embedding = embedder.is_some();
        robot.service.set_text_embedder(embedder);
        if embedding {
            eventually("embedding has begun", Duration::from_secs(10), || {
                (robot.service.counters().embedding.done > 0).then_some(())
            })?;
        }
        let before = robot.service.counters().embedding.done;
        let begin = Instant::now();
        let mut times = Vec::new();
        for n in 0..300 {
            let question = format!("where was the {} near the {}?", words[n % 12], words[(n / 12) % 12]);
            let begin = Instant::now();
            let answer = client.ask(NAME, &question)?;
            times.push(begin.elapsed());
            assert_ne!(answer["route"], "none");
        }
        let embedded = robot.service.counters().embedding.done - before;
        println!(
            "300 questions {what}: p50 {:?}, p95 {:?}, max {:?}; {:.0} embedded a second meanwhile",
            percentile(&mut times, 0.5),
            percentile(&mut times, 0.95),
            percentile(&mut times, 1.0),
            embedded as f64 / begin.elapsed().as_secs_f64(),
        );
    }
    Ok(())
}
