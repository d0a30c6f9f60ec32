//! A store of an older format, and the program killed while it brings it to its own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use engram_tests::{Broker, Finished, Process, SOON, SeededRandom, engram_command, repository, run_to_end};
use serde_json::Value;
use tempfile::TempDir;

use crate::campaign::{Estimate, KillMoment, Tally, kill_after};

/// Formats before the present one.
const FORMATS: u64 = 3;
/// Bytes of a page of a fixture.
const PAGE: usize = 4096;

/// Kills the program at each of the moments, each time on a store of its own.
///
/// # Errors
/// What was lost or is damaged.
pub fn run(seed: u64, moments: &[KillMoment], tally: &mut Tally) -> Result<()> {
    let broker = Broker::start()?;
    let mut random = SeededRandom::seeded(seed);
    let mut expected: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    // From the first byte that is written to the end of `check`. The agent is killed within the same time.
    let mut upgrading = Estimate(Duration::from_millis(20));
    for (number, moment) in moments.iter().enumerate() {
        let format = 1 + random.below(FORMATS);
        let expected = match expected.entry(format) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Older::new(&broker, format)?.remembered()?),
        };
        let older = Older::new(&broker, format)?;
        let command = if random.below(2) == 0 { "check" } else { "run" };
        let what = format!("kill {number}, while `{command}` is {moment} from format {format}");
        let inside = older.kill(command, &mut random, &mut upgrading).with_context(|| what.clone())?;
        tally.killed(*moment, inside);
        let found = older.remembered().with_context(|| format!("after {what}"))?;
        ensure!(found == *expected, "after {what}: {found:#?}");
    }
    Ok(())
}

/// A store of an older format with a configuration.
struct Older {
    folder: TempDir,
    config: PathBuf,
    store: PathBuf,
    written: SystemTime,
}

impl Older {
    fn new(broker: &Broker, format: u64) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (config, memory) = (folder.path().join("engram.toml"), folder.path().join("data/memory"));
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(
            &config,
            format!(
                "robot = \"older\"\ndata_dir = {:?}\n[models]\ndir = {:?}\n[metrics]\nenabled = false\n\
                 [mqtt]\nhost = \"localhost\"\nport = {}\n",
                path("data"),
                path("models"),
                broker.port()
            ),
        )?;
        std::fs::create_dir_all(&memory)?;
        let fixture = repository().join(format!("memory-core/tests/fixtures/format-{format}.pages"));
        let packed = std::fs::read(&fixture).with_context(|| format!("cannot read {}", fixture.display()))?;
        let store = memory.join("memory.redb");
        std::fs::write(&store, unpack(&packed).with_context(|| format!("{} is cut off", fixture.display()))?)?;
        // Long ago, so that every write is seen.
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&store)?.set_modified(written)?;
        Ok(Self { folder, config, store, written })
    }

    fn command(&self, words: &[&str]) -> Result<Command> {
        let mut command = engram_command()?;
        command.arg("--config").arg(&self.config).args(words);
        Ok(command)
    }

    fn finished(&self, words: &[&str]) -> Result<Finished> {
        let ended = run_to_end(&mut self.command(words)?, SOON)?;
        ensure!(ended.code == Some(0), "{words:?} ended with {:?}: {}{}", ended.code, ended.stdout, ended.stderr);
        Ok(ended)
    }

    /// Opens it and kills what opens it; whether that had begun to write and not ended.
    fn kill(&self, command: &str, random: &mut SeededRandom, upgrading: &mut Estimate) -> Result<bool> {
        let mut process = Process::start("engram", &mut self.command(&[command])?)?;
        let mut since = None;
        let killed = kill_after(&mut process, upgrading.moment(random), || {
            let begun = std::fs::metadata(&self.store)?.modified()? != self.written;
            if begun {
                since = Some(Instant::now());
            }
            Ok(begun)
        })?;
        if command == "check" {
            upgrading.learn(if killed.is_none() { since.map(|since: Instant| since.elapsed()) } else { None });
        }
        Ok(killed.is_some())
    }

    /// Everything in it, after a check.
    fn remembered(&self) -> Result<Vec<Value>> {
        self.finished(&["check"])?;
        let dir = self.folder.path().join("export");
        self.finished(&["export", &dir.display().to_string()])?;
        let lines = std::fs::read_to_string(dir.join("memory.jsonl"))?;
        // The first line says when it was written.
        let lines = lines.lines().skip(1).map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        ensure!(lines.len() > 5, "{} lines are too few to lose something of", lines.len());
        Ok(lines)
    }
}

/// The bytes of a file from its pages: see memory-core/tests/memory/format.rs.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, mut rest) = packed.split_first_chunk()?;
    let mut image = vec![0; usize::try_from(u64::from_le_bytes(*length)).ok()?];
    while let Some((page, after)) = rest.split_first_chunk() {
        let (length, after) = after.split_first_chunk()?;
        let (bytes, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
        let start = usize::try_from(u32::from_le_bytes(*page)).ok()? * PAGE;
        image.get_mut(start..start + bytes.len())?.copy_from_slice(bytes);
        rest = after;
    }
    Some(image)
}
