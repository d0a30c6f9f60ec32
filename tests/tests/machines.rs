//! What must hold whatever processor the program was built for. Natively the first runs with every other test; `cross/test`
//! runs all of them with the aarch64 program under an emulator (`ENGRAM_BIN`, `ENGRAM_RUNNER`) and the host's own beside it
//! (`ENGRAM_HOST_BIN`), and the kills of `crash.rs`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, Finished, engram_command, evidence_ids, media, run_to_end};
use memory_core::index::signature::{Planes, SignatureOptions, quantise};
use serde_json::Value;

/// An emulated program is twenty times slower.
const PLAYING: Duration = Duration::from_secs(240);
const COMMAND: Duration = Duration::from_secs(240);
/// How far a component of a unit vector may differ between two processors.
const AGREE: f32 = 1e-4;
/// What share of the bits of signatures may differ.
const BITS_DIFFER: f64 = 0.01;
/// One thing said in several ways, and others.
const TEXTS: [&str; 8] = [
    "Where did Anna put the keys?",
    "Anna: I put my keys in the blue bowl by the door.",
    "A courier hands over a parcel.",
    "The delivery man brought a package.",
    "The battery is at 14 percent and the charger is in the hall.",
    "Shelf 7 holds three cans of paint.",
    "It rained all night, so the garden path is wet.",
    "ünïcödé – „Anführung“, 日本語, and a rather long sentence that goes on about nothing in particular for a while.",
];

/// Without models: the emulated program has none of its own, and by words alone both find the same.
fn engram(mut command: Command, data: &Path, words: &[&str]) -> Result<Finished> {
    let models = format!("models.dir={}", data.join("no-models").display());
    let ended = run_to_end(command.arg("--data-dir").arg(data).args(["--set", &models]).args(words), COMMAND)?;
    ensure!(ended.code == Some(0), "{words:?} ended with {:?}:\n{}{}", ended.code, ended.stdout, ended.stderr);
    Ok(ended)
}

fn host(variable: &str) -> Result<Command> {
    let program = std::env::var_os(variable).with_context(|| format!("{variable} names the host's own program"))?;
    Ok(Command::new(program))
}

/// A program of the other machine, through the runner that starts such.
fn other(variable: &str) -> Result<Command> {
    let program = std::env::var(variable).with_context(|| format!("{variable} names the other machine's program"))?;
    let runner = std::env::var("ENGRAM_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace().chain([program.as_str()]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    Ok(command)
}

#[test]
fn a_film_is_remembered_and_asked_about_over_tls() -> Result<()> {
    let clip = media::talk()?;
    let broker = Broker::builder().tls().password("robot", "correct horse").start()?;
    let client = broker.client()?;
    let mut agent = Agent::builder(&broker, "abroad").file("film", &clip).start(&client)?;
    agent.health(&client, PLAYING, |report| report["sources"]["film"]["state"] == "ended")?;
    let answer = client.ask("abroad", "Where should the blue mug go?")?;
    let best = &answer["evidence"][0];
    assert!(best["text"].as_str().is_some_and(|text| text.contains("kitchen table")), "{answer}");
    assert!(best["stream_start_s"].as_f64().is_some_and(|start| (start - 1.0).abs() < 0.1), "{answer}");
    agent.stop()?;
    Ok(())
}

#[test]
#[ignore = "needs the programs of two machines: cross/test"]
fn a_memory_made_on_one_machine_opens_on_the_other_and_answers_the_same() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    let lines: Vec<String> = (0..300)
        .map(|number| {
            let text = format!("Shelf {} holds {} cans of paint.", number % 40, number % 7);
            let at = format!("2026-11-20T{:02}:{:02}:00Z", number / 60, number % 60);
            serde_json::json!({"id": format!("o{number}"), "source": "test", "kind": "state", "text": text, "at": at})
                .to_string()
        })
        .collect();
    let file = folder.path().join("told.jsonl");
    let told = file.to_str().context("a path in UTF-8")?;
    let observe = ["observe", "--offline", "--file", told];
    let ask = ["--json", "ask", "--offline", "--now", "2026-11-20T12:00:00Z", "How many cans are on shelf 7?"];
    let evidence = |ended: Finished| -> Result<(Vec<String>, Value)> {
        let answer: Value = serde_json::from_str(&ended.stdout).with_context(|| ended.stdout.clone())?;
        Ok((evidence_ids(&answer), answer["answer"].clone()))
    };

    // Half of it is told to one, the other half to the other, in both orders.
    for (data, first, second) in [(&here, true, false), (&there, false, true)] {
        for (part, on_host) in [(&lines[..150], first), (&lines[150..], second)] {
            std::fs::write(&file, part.join("\n"))?;
            let command = if on_host { host("ENGRAM_HOST_BIN")? } else { engram_command()? };
            engram(command, data, &observe)?;
        }
        let by_host = evidence(engram(host("ENGRAM_HOST_BIN")?, data, &ask)?)?;
        let by_other = evidence(engram(engram_command()?, data, &ask)?)?;
        assert!(!by_host.0.is_empty(), "{by_host:?}");
        assert_eq!(by_host, by_other);
        engram(engram_command()?, data, &["check"])?;
    }
    Ok(())
}

/// So many events are in the memory that `save_index` makes.
const EVENTS: usize = 3_000;

/// The saved index beside the store: its sections in order, without the first, which holds a random token and the time.
fn saved_index(store: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files: Vec<_> = std::fs::read_dir(store)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "snapshot"))
        .collect();
    ensure!(files.len() == 1, "one saved index is beside the store, not {files:?}");
    let bytes = std::fs::read(files.remove(0))?;
    let mut rest = bytes.as_slice();
    let mut sections = Vec::new();
    // Tag, length, payload, checksum.
    while !rest.is_empty() {
        let tag = String::from_utf8(rest.get(..4).context("a tag")?.to_vec())?;
        let length = u64::from_le_bytes(rest.get(4..12).context("a length")?.try_into()?);
        let end = 12 + usize::try_from(length)? + 4;
        sections.push((tag, rest.get(..end).context("a whole section")?.to_vec()));
        rest = &rest[end..];
    }
    ensure!(sections.first().is_some_and(|(tag, _)| tag == "SVHD"), "the saved index has another form");
    Ok(sections.split_off(1))
}

#[test]
#[ignore = "needs the programs of two machines: cross/test"]
fn the_index_and_its_signatures_are_the_same_bytes_for_the_same_stored_embeddings() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    let run = |command: &mut Command, what: &str, store: &Path| -> Result<()> {
        let ended = run_to_end(command.arg(what).arg(store), COMMAND)?;
        ensure!(ended.code == Some(0), "{what} ended with {:?}:\n{}{}", ended.code, ended.stdout, ended.stderr);
        Ok(())
    };
    run(&mut host("ENGRAM_HOST_SAVE_INDEX")?, "make", &here)?;
    let copied = run_to_end(Command::new("cp").arg("-r").args([&here, &there]), COMMAND)?;
    ensure!(copied.code == Some(0), "{}", copied.stderr);
    run(&mut host("ENGRAM_HOST_SAVE_INDEX")?, "save", &here)?;
    run(&mut other("ENGRAM_SAVE_INDEX")?, "save", &there)?;
    let (ours, theirs) = (saved_index(&here)?, saved_index(&there)?);
    let signatures = ours.iter().find(|(tag, _)| tag == "IXSI").map_or(0, |(_, section)| section.len());
    let least = EVENTS * SignatureOptions::default().bits() / 8;
    assert!(signatures > least, "{signatures} bytes are no signatures of {EVENTS} events");
    let tags = |sections: &[(String, Vec<u8>)]| sections.iter().map(|(tag, _)| tag.clone()).collect::<Vec<_>>();
    assert_eq!(tags(&ours), tags(&theirs));
    for ((tag, mine), (_, yours)) in ours.iter().zip(&theirs) {
        assert!(mine == yours, "section {tag} differs: {} and {} bytes", mine.len(), yours.len());
    }
    Ok(())
}

#[test]
#[ignore = "needs the programs of two machines and the models: cross/test"]
fn embeddings_agree_and_equal_embeddings_have_equal_signatures() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let texts = folder.path().join("texts.jsonl");
    let lines = TEXTS.map(|text| serde_json::to_string(text).unwrap_or_default());
    std::fs::write(&texts, lines.join("\n"))?;
    let vectors = |mut command: Command, name: &str| -> Result<BTreeMap<String, Vec<f32>>> {
        let file = folder.path().join(name);
        let ended = run_to_end(command.arg(&texts).arg(&file), COMMAND)?;
        ensure!(ended.code == Some(0), "{}{}", ended.stdout, ended.stderr);
        read_vectors(&std::fs::read(&file)?).context("a file of vectors")
    };
    let mut emulated = other("ENGRAM_EMBED")?;
    // Both look for models in the user's data; the other's ONNX Runtime is of its own kind.
    emulated.env("XDG_DATA_HOME", std::env::var("ENGRAM_OTHER_DATA")?);
    let ours = vectors(host("ENGRAM_HOST_EMBED")?, "host")?;
    let theirs = vectors(emulated, "other")?;
    ensure!(ours.len() == TEXTS.len() && theirs.len() == TEXTS.len(), "{} and {}", ours.len(), theirs.len());

    let planes = Planes::new(SignatureOptions::default(), ours.values().next().map_or(0, Vec::len));
    let (mut differ, mut bits) = (0, 0);
    for (text, mine) in &ours {
        let yours = &theirs[text];
        let most = mine.iter().zip(yours).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most <= AGREE, "{text}: a component differs by {most}");
        let sign = |vector: &[f32]| planes.signature(&quantise(vector)?);
        let (one, other) = (sign(mine).context("a direction")?, sign(yours).context("a direction")?);
        differ += one.iter().zip(&other).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        bits += 64 * u32::try_from(one.len())?;
    }
    assert!(f64::from(differ) <= BITS_DIFFER * f64::from(bits), "{differ} of {bits} bits differ");
    Ok(())
}

/// Dimensions, then of every text its length, its bytes and its components, all little-endian.
fn read_vectors(bytes: &[u8]) -> Option<BTreeMap<String, Vec<f32>>> {
    let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize);
    let dimensions = number(bytes)?;
    let mut rest = bytes.get(4..)?;
    let mut vectors = BTreeMap::new();
    while !rest.is_empty() {
        let length = number(rest)?;
        let text = String::from_utf8(rest.get(4..4 + length)?.to_vec()).ok()?;
        let components = rest.get(4 + length..4 + length + 4 * dimensions)?;
        rest = &rest[4 + length + 4 * dimensions..];
        let floats = components.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        vectors.insert(text, floats.collect());
    }
    Some(vectors)
}
