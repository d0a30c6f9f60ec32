//! A disk that fails, became read-only, is slow or has no inode left, under the running program.
//!
//! The first three are played by `fake-disk`, which is loaded into the program; the last is a file system of its own.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, SOON, SmallDisk, Stage, evidence_ids};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Long enough for what is delivered again: the pauses between the attempts grow.
const AGAIN: Duration = Duration::from_secs(60);

/// A program on a disk that does what it is told.
struct Faulty {
    stage: Stage,
    folder: TempDir,
}

impl Faulty {
    fn start(robot: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        let stage = Stage::with(robot, |builder| {
            builder
                .set("data_dir", path("data"))
                .set("models.dir", path("models"))
                .environment("LD_PRELOAD", &fakes::built("fake_disk").display().to_string())
                .environment("ENGRAM_FAULT_DIR", &path("data"))
                .environment("ENGRAM_FAULT_FILE", &path("fault"))
        })?;
        Ok(Self { stage, folder })
    }

    /// From now on. Renamed into place, so that nobody reads half a word.
    fn fault(&self, text: &str) -> Result<()> {
        let draft = self.folder.path().join("draft");
        fs::write(&draft, text)?;
        Ok(fs::rename(draft, self.folder.path().join("fault"))?)
    }

    fn observe_later(&self, id: &str) -> Result<String> {
        let topic = format!("engram/{}/observe", self.stage.agent.robot());
        self.stage.client.request_later(&topic, observation(id).to_string())
    }

    /// It answers from what it knows.
    fn answers(&self) -> Result<()> {
        let answer = self.stage.ask("Where is the rake?")?;
        ensure!(evidence_ids(&answer).first().is_some_and(|id| id == "rake"), "{answer}");
        Ok(())
    }

    /// What was accepted is there, now and after a restart; the store is sound.
    fn end(mut self, accepted: &[&str]) -> Result<()> {
        for _ in 0..2 {
            let found = self.stage.remembered_ids()?;
            let missing: Vec<_> = accepted.iter().filter(|id| !found.contains(**id)).collect();
            ensure!(missing.is_empty(), "{missing:?} were accepted and are lost");
            self.stage.agent.stop()?;
            self.stage.check()?;
            self.stage.agent.restart(&self.stage.client)?;
        }
        Ok(())
    }
}

fn observation(id: &str) -> Value {
    json!({"id": id, "text": format!("The hoe {id} is beside it."), "at": "2026-11-20T08:00:00Z"})
}

fn refused_then_taken_in(robot: &str, fault: &str) -> Result<()> {
    let faulty = Faulty::start(robot)?;
    let stage = &faulty.stage;
    stage.tell("rake", "The rake is in the shed.")?;
    faulty.fault(fault)?;
    let request = faulty.observe_later("later")?;
    let reply = stage.client.reply(&request, SOON)?;
    let error = if reply["error"].is_object() { &reply["error"] } else { &reply["rejected"][0]["error"] };
    ensure!(error["code"] == "internal", "{fault}: {reply}");
    ensure!(
        error["message"].as_str().is_some_and(|message| message.contains("continues by itself")),
        "{fault}: {reply}"
    );
    for _ in 0..3 {
        faulty.answers().with_context(|| format!("{fault} stops no question"))?;
    }
    ensure!(!stage.remembered_ids()?.contains("later"), "what is not durable is not shown");
    let health = stage.agent.health(&stage.client, SOON, |report| report["last_error"].is_string())?;
    ensure!(health["degraded"].to_string().contains("storage"), "{health}");

    faulty.fault("")?;
    // It was never acknowledged: the broker brings it again.
    stage.client.reply_that(&request, AGAIN, |reply| reply["accepted"] == 1).context("it does not come back")?;
    stage.agent.health(&stage.client, SOON, |report| !report["degraded"].to_string().contains("storage"))?;
    stage.tell("next", "The shed is green.")?;
    faulty.answers()?;
    faulty.end(&["rake", "later", "next"])
}

#[test]
fn a_disk_that_fails_refuses_answers_and_takes_it_in_once_it_works_again() -> Result<()> {
    refused_then_taken_in("failing", "eio")
}

#[test]
fn a_file_system_that_became_read_only_refuses_answers_and_takes_it_in_once_it_is_writable() -> Result<()> {
    refused_then_taken_in("remounted", "erofs")
}

#[test]
fn a_disk_that_cannot_be_read_says_so_and_is_read_again_once_it_can() -> Result<()> {
    let faulty = Faulty::start("unread")?;
    faulty.stage.tell("rake", "The rake is in the shed.")?;
    faulty.fault("eio-reads")?;
    // What is in the cache is answered; whatever is read from the disk is an error with a reason.
    let answer = faulty.stage.ask("Where is the rake?")?;
    ensure!(answer["evidence"].is_array() || answer["error"]["code"] == "internal", "{answer}");
    let request = faulty.observe_later("later")?;
    let reply = faulty.stage.client.reply(&request, SOON)?;
    ensure!(reply.to_string().contains("\"internal\""), "{reply}");
    faulty.fault("")?;
    faulty.stage.client.reply_that(&request, AGAIN, |reply| reply["accepted"] == 1)?;
    faulty.answers()?;
    faulty.end(&["rake", "later"])
}

#[test]
fn a_commit_of_five_seconds_holds_up_no_question_and_is_acknowledged_when_it_is_durable() -> Result<()> {
    let faulty = Faulty::start("slow")?;
    let stage = &faulty.stage;
    stage.tell("rake", "The rake is in the shed.")?;
    // Two syncs a commit.
    faulty.fault("slow 2500")?;
    let begin = Instant::now();
    let request = faulty.observe_later("later")?;
    let mut answered = 0;
    while begin.elapsed() < Duration::from_secs(4) {
        let asked = Instant::now();
        faulty.answers()?;
        ensure!(asked.elapsed() < Duration::from_secs(2), "a question took {:?}", asked.elapsed());
        ensure!(!stage.remembered_ids()?.contains("later"), "what is not durable is not shown");
        ensure!(stage.client.try_reply(&request).is_none(), "acknowledged before it is durable");
        answered += 1;
    }
    ensure!(answered > 3, "{answered} questions were answered");
    let reply = stage.client.reply(&request, AGAIN)?;
    ensure!(reply["accepted"] == 1 && begin.elapsed() >= Duration::from_secs(5), "{reply} after {:?}", begin.elapsed());
    faulty.fault("")?;
    stage.tell("next", "The shed is green.")?;
    faulty.end(&["rake", "later", "next"])
}

#[test]
fn without_a_free_inode_observations_and_questions_go_on_and_what_needs_a_file_says_why_not() -> Result<()> {
    let Some(disk) = SmallDisk::mount("size=64m,nr_inodes=64")? else { return Ok(()) };
    let broker = Broker::start()?;
    let client = broker.client()?;
    let path = |name: &str| disk.path().join(name).display().to_string();
    let agent = Agent::builder(&broker, "crowded")
        .set("data_dir", path("data"))
        .set("models.dir", path("models"))
        .set("backup.keep_free_mib", 0)
        .set("mqtt.allow.backup", true)
        .set("mqtt.allow.forget", true)
        .start(&client)?;
    let mut stage = Stage { agent, client, broker };
    stage.tell("rake", "The rake is in the shed.")?;
    let fillers = fill_inodes(disk.path().join("crowd"))?;

    for (command, body) in [("compact", json!({})), ("snapshot", json!({})), ("backup", json!({"file": "a.backup"}))] {
        let reply = stage.command(command, body)?;
        ensure!(reply["state"] == "failed" && reply["error"]["code"] == "storage_full", "{command}: {reply}");
    }
    stage.tell("hoe", "The hoe is beside it.")?;
    let answer = stage.ask("Where is the rake?")?;
    ensure!(evidence_ids(&answer).first().is_some_and(|id| id == "rake"), "{answer}");
    let forgotten =
        stage.command("forget", json!({"since": "2026-11-20T09:00:00Z", "until": "2026-11-20T10:00:00Z"}))?;
    ensure!(forgotten["state"] == "succeeded", "{forgotten}");
    // A start needs no new file either.
    stage.agent.kill()?;
    stage.agent.restart(&stage.client)?;
    stage.tell("spade", "The spade is broken.")?;

    fs::remove_dir_all(&fillers)?;
    for (command, body) in [("compact", json!({})), ("snapshot", json!({})), ("backup", json!({"file": "a.backup"}))] {
        let reply = stage.command(command, body)?;
        ensure!(reply["state"] == "succeeded", "{command}: {reply}");
    }
    let found = stage.remembered_ids()?;
    ensure!(["rake", "hoe", "spade"].iter().all(|id| found.contains(*id)), "{found:?}");
    stage.agent.stop()?;
    stage.check()
}

/// Makes empty files until the file system has no inode for another one.
fn fill_inodes(folder: PathBuf) -> Result<PathBuf> {
    fs::create_dir(&folder)?;
    for number in 0..10_000 {
        match fs::File::create(folder.join(number.to_string())) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => return Ok(folder),
            Err(error) => return Err(error.into()),
        }
    }
    anyhow::bail!("there is no end of inodes: nothing was tested")
}
