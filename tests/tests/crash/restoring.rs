//! `engram restore`, killed in the middle: the memory is the one before or the one of the backup, and works.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, Process, SeededRandom, Stage, engram_command};
use serde_json::{Value, json};

use crate::campaign::{Estimate, KillMoment, Tally, kill_after};

/// Observations of each memory.
const TOLD: u32 = 600;

/// A backup and what is in it.
struct Backup {
    file: String,
    ids: BTreeSet<String>,
}

/// Kills `engram restore` at each of the moments.
///
/// # Errors
/// What was lost, came back or is damaged.
pub fn run(seed: u64, moments: &[KillMoment], tally: &mut Tally) -> Result<()> {
    if moments.is_empty() {
        return Ok(());
    }
    let mut mover = Mover::new(seed)?;
    // The second holds the first, and has forgotten one of it.
    mover.tell("a", TOLD)?;
    let first = mover.back_up("first")?;
    mover.tell("b", TOLD)?;
    mover.run(&["forget", "--offline", "--yes", "--entity", "Owner-a7"])?;
    let second = mover.back_up("second")?;
    ensure!(!second.ids.contains("a7") && first.ids.contains("a7"), "nothing was forgotten");
    for (number, moment) in moments.iter().enumerate() {
        let backup = if mover.random.below(2) == 0 { &first } else { &second };
        let inside = mover.restore(number, backup).with_context(|| format!("kill {number}, while {moment}"))?;
        tally.killed(*moment, inside);
        mover.go_on(backup).with_context(|| format!("after kill {number}, while {moment}"))?;
    }
    Ok(())
}

struct Mover {
    stage: Stage,
    folder: tempfile::TempDir,
    random: SeededRandom,
    /// What is remembered.
    ids: BTreeSet<String>,
    /// From the start of the command, and from the first byte of the new generation.
    whole: Estimate,
    writing: Estimate,
}

impl Mover {
    fn new(seed: u64) -> Result<Self> {
        let (broker, folder) = (Broker::start()?, tempfile::tempdir()?);
        let client = broker.client()?;
        let models = folder.path().join("models").display().to_string();
        let mut agent =
            Agent::builder(&broker, "mover").folder(folder.path()).set("models.dir", models).start(&client)?;
        agent.stop()?;
        Ok(Self {
            stage: Stage { agent, client, broker },
            folder,
            random: SeededRandom::seeded(seed),
            ids: BTreeSet::new(),
            whole: Estimate(Duration::from_millis(400)),
            writing: Estimate(Duration::from_millis(200)),
        })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, words: &[&str]) -> Result<()> {
        let ended = self.stage.agent.engram(words)?;
        ensure!(ended.code == Some(0), "{words:?} ended with {:?}: {}{}", ended.code, ended.stdout, ended.stderr);
        Ok(())
    }

    /// Tells some more to the store itself.
    fn tell(&mut self, name: &str, count: u32) -> Result<()> {
        let mut lines = String::new();
        for number in 0..count {
            let id = format!("{name}{number}");
            let told = json!({
                "id": id, "source": "mover", "at": "2026-11-20T08:00:00Z", "entity": format!("Owner-{id}"),
                "text": format!("Owner-{id} keeps box {number} of {name} in the cellar."),
            });
            writeln!(lines, "{told}")?;
            self.ids.insert(id);
        }
        let file = self.path("told.jsonl");
        std::fs::write(&file, lines)?;
        self.run(&["observe", "--offline", "--file", &file])
    }

    fn back_up(&mut self, name: &str) -> Result<Backup> {
        let file = self.path(name);
        self.run(&["backup", &file])?;
        self.ids = self.remembered()?;
        Ok(Backup { file, ids: self.ids.clone() })
    }

    /// The ids of everything in the store.
    fn remembered(&self) -> Result<BTreeSet<String>> {
        let dir = self.path("export");
        self.run(&["export", &dir])?;
        let mut ids = BTreeSet::new();
        for line in std::fs::read_to_string(Path::new(&dir).join("memory.jsonl"))?.lines() {
            let line: Value = serde_json::from_str(line)?;
            if let Some(id) = line["id"].as_str() {
                ensure!(ids.insert(id.to_owned()), "{id} is there twice");
            }
        }
        std::fs::remove_dir_all(&dir)?;
        Ok(ids)
    }

    /// Tells one more, restores and kills that; whether it had begun and not ended.
    fn restore(&mut self, number: usize, backup: &Backup) -> Result<bool> {
        self.tell(&format!("late{number}-"), 1)?;
        let generations = self.generations()?;
        let mut command = engram_command()?;
        command.arg("--config").arg(self.stage.agent.config_file()).args(["restore", &backup.file]);
        let begin = Instant::now();
        let mut process = Process::start("engram restore", &mut command)?;
        // Most of the time begins when the first file of the new generation is there.
        let anywhere = self.random.below(4) == 0;
        let estimate = if anywhere { &self.whole } else { &self.writing };
        let delay = estimate.moment(&mut self.random);
        let mut writing_since = None;
        let killed = kill_after(&mut process, delay, || {
            if !anywhere && self.generations()? != generations {
                writing_since = Some(Instant::now());
            }
            Ok(anywhere || writing_since.is_some())
        })?;
        if killed.is_some() {
            if anywhere { self.whole.learn(None) } else { self.writing.learn(None) }
        } else if anywhere {
            self.whole.learn(Some(begin.elapsed()));
        } else {
            self.writing.learn(writing_since.map(|since: Instant| since.elapsed()));
        }
        Ok(killed.is_some() && self.generations()? != generations)
    }

    /// Names of the store's files.
    fn generations(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(self.stage.agent.data_dir().join("memory"))? {
            names.extend(entry?.file_name().into_string().ok().filter(|name| name.ends_with(".redb")));
        }
        Ok(names)
    }

    /// Looks at the memory after a kill, and goes on with it in one of three ways.
    fn go_on(&mut self, backup: &Backup) -> Result<()> {
        let way = self.random.below(3);
        let found = if way == 0 {
            // The first to open it is the agent.
            self.by_agent()?
        } else {
            self.stage.check()?;
            self.remembered()?
        };
        let kept = found == self.ids;
        ensure!(
            kept || found == backup.ids,
            "{} are remembered; it was {} before, and {} are in the backup",
            found.len(),
            self.ids.len(),
            backup.ids.len()
        );
        self.ids = found;
        if way == 1 {
            self.run(&["restore", &backup.file])?;
            self.ids.clone_from(&backup.ids);
            ensure!(self.remembered()? == self.ids, "restored once more it is not what is in the backup");
        }
        self.stage.check()
    }

    fn by_agent(&mut self) -> Result<BTreeSet<String>> {
        self.stage.agent.restart(&self.stage.client)?;
        let found = self.stage.remembered_ids()?;
        self.stage.agent.kill()?;
        Ok(found)
    }
}
