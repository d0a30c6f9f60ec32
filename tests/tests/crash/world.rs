//! A memory that is told without a pause, and killed while it takes in, forgets, compacts or saves its index.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use engram_tests::{SOON, SeededRandom, Stage, eventually};
use serde_json::json;

use crate::campaign::{Estimate, KillMoment, Tally, pass, time_below};
use crate::ledger::{self, Forgotten, Ledger};

/// Batches that are on their way at any time.
const WINDOW: usize = 6;
/// The same while something else is to be hit.
const BESIDE: usize = 2;
/// Batches before the newest of which something may be forgotten.
const LATELY: u32 = 30;

struct World {
    stage: Stage,
    random: SeededRandom,
    ledger: Ledger,
    longest: Duration,
    /// Batches without a reply: number, request.
    open: Vec<(u32, String)>,
    /// Requests to forget without a reply.
    forgetting: Vec<(u32, String)>,
    compacting: Estimate,
    saving: Estimate,
    /// What the memory holds of batches before this one was compared.
    verified: u32,
}

/// Kills a new memory at each of the moments and looks at it after every kill, and once more at the end.
///
/// # Errors
/// What was lost, came back or is damaged.
pub fn run(seed: u64, moments: &[KillMoment], tally: &mut Tally, longest: Duration) -> Result<()> {
    let mut world = World::new(seed, longest)?;
    for (number, moment) in moments.iter().enumerate() {
        let inside = world.live(*moment).with_context(|| format!("life {number}, to end while {moment}"))?;
        tally.killed(*moment, inside);
        world.look().with_context(|| format!("after kill {number}, while {moment}"))?;
    }
    world.end()
}

impl World {
    fn new(seed: u64, longest: Duration) -> Result<Self> {
        let no_models = tempfile::tempdir()?;
        let stage = Stage::with("crash", |builder| {
            builder
                .set("models.dir", no_models.path().display().to_string())
                .set("mqtt.allow.forget", true)
                .set("memory.compaction.automatic", false)
        })?;
        Ok(Self {
            stage,
            random: SeededRandom::seeded(seed),
            ledger: Ledger::default(),
            longest,
            open: Vec::new(),
            forgetting: Vec::new(),
            compacting: Estimate(longest / 3),
            saving: Estimate(longest / 5),
            verified: 0,
        })
    }

    /// Takes in the replies that have come.
    fn hear(&mut self) -> Result<()> {
        let (client, ledger) = (&self.stage.client, &mut self.ledger);
        let mut fault = Ok(());
        self.open.retain(|(number, request)| match client.try_reply(request) {
            None => true,
            Some(message) => {
                let taken = message.json().and_then(|reply| ledger.replied(*number, &reply));
                if fault.is_ok() {
                    fault = taken;
                }
                false
            }
        });
        fault?;
        let mut waiting = Vec::new();
        for (number, request) in self.forgetting.drain(..) {
            match client.try_reply(&request) {
                None => waiting.push((number, request)),
                Some(message) => {
                    let reply = message.json()?;
                    ensure!(reply["state"] == "succeeded", "batch {number} was not forgotten: {reply}");
                    ledger.forgot(number);
                }
            }
        }
        self.forgetting = waiting;
        Ok(())
    }

    /// Tells until `time` is over, with at most `window` batches on their way.
    fn tell(&mut self, time: Duration, window: usize) -> Result<()> {
        let end = Instant::now() + time;
        loop {
            self.hear()?;
            while self.open.len() < window {
                let number = self.ledger.next();
                let request =
                    self.stage.client.request_later("engram/crash/observe", ledger::body(number).to_string())?;
                self.ledger.sent(number);
                self.open.push((number, request));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            pass(left.min(Duration::from_millis(1)));
        }
    }

    /// Lives until it is killed; whether the kill was inside of what it was meant for.
    fn live(&mut self, moment: KillMoment) -> Result<bool> {
        match moment {
            KillMoment::Telling => {
                let time = Duration::from_millis(2) + time_below(&mut self.random, self.longest);
                self.tell(time, WINDOW)?;
                self.stage.agent.kill()?;
                self.hear()?;
                Ok(!self.open.is_empty())
            }
            KillMoment::Forgetting => self.forget(),
            KillMoment::Compacting | KillMoment::Saving => self.maintain(moment),
            KillMoment::Perceiving | KillMoment::Restoring | KillMoment::Upgrading => {
                bail!("{moment} is no moment of this memory")
            }
        }
    }

    fn forget(&mut self) -> Result<bool> {
        let time = time_below(&mut self.random, self.longest / 2);
        self.tell(time, BESIDE)?;
        let mut known = self.ledger.forgettable(self.ledger.next().saturating_sub(LATELY));
        let deadline = Instant::now() + SOON;
        while known.is_empty() && Instant::now() < deadline {
            self.tell(Duration::from_millis(5), BESIDE)?;
            known = self.ledger.forgettable(self.ledger.next().saturating_sub(LATELY));
        }
        for _ in 0..1 + self.random.below(3) {
            if known.is_empty() {
                break;
            }
            let batch = known.swap_remove(usize::try_from(self.random.below(known.len() as u64))?);
            let what = if self.random.below(2) == 0 { Forgotten::Span } else { Forgotten::Owner };
            self.ledger.forget(batch, what);
            self.verified = self.verified.min(batch);
            let request = self.stage.client.request_later("engram/crash/cmd/forget", what.body(batch).to_string())?;
            self.forgetting.push((batch, request));
        }
        let time = time_below(&mut self.random, self.longest / 2);
        self.tell(time, BESIDE)?;
        self.stage.agent.kill()?;
        self.hear()?;
        Ok(!self.forgetting.is_empty())
    }

    fn maintain(&mut self, moment: KillMoment) -> Result<bool> {
        let time = time_below(&mut self.random, self.longest / 4);
        self.tell(time, BESIDE)?;
        let command = if moment == KillMoment::Compacting { "compact" } else { "snapshot" };
        let request = self.stage.client.request_later(&format!("engram/crash/cmd/{command}"), "{}")?;
        self.stage.client.reply_that(&request, SOON, |_| true)?;
        let estimate = if moment == KillMoment::Compacting { &self.compacting } else { &self.saving };
        let time = estimate.moment(&mut self.random);
        let begin = Instant::now();
        self.tell(time, BESIDE)?;
        self.stage.agent.kill()?;
        let lived = begin.elapsed();
        let reply = self.stage.client.reply(&request, Duration::ZERO).ok();
        if let Some(reply) = &reply {
            // It may be saved by itself at the same time.
            let busy = reply["error"]["code"] == "busy";
            ensure!(reply["state"] == "succeeded" || busy, "{command}: {reply}");
        }
        // How long it took is known to the millisecond, and it was not longer than the life.
        let took = reply.as_ref().and_then(|reply| reply["took_ms"].as_u64());
        let took = took.map(|ms| (Duration::from_millis(ms) + Duration::from_millis(1)).min(lived));
        if moment == KillMoment::Compacting {
            self.compacting.learn(took)
        } else {
            self.saving.learn(took)
        }
        self.hear()?;
        Ok(reply.is_none())
    }

    /// Checks the store, starts the program on it and compares what it holds with what it must hold.
    fn look(&mut self) -> Result<()> {
        // Half the times nothing has opened the store before the agent does.
        let offline = self.random.below(2) == 0;
        if offline {
            self.stage.check()?;
        }
        self.stage.agent.restart(&self.stage.client)?;
        let found = self.stage.remembered_ids_of(&ledger::filter(self.verified))?;
        // What was heard before this is in what was found, or must not be.
        self.ledger.verify(self.verified, &found)?;
        self.hear()?;
        self.verified = self.ledger.open_from(self.verified);
        if !offline {
            let report = self.stage.command("check", json!({}))?;
            ensure!(report["problems_total"] == 0, "check: {report}");
        }
        Ok(())
    }

    /// Lets everything that is on its way arrive and compares all of it.
    fn end(mut self) -> Result<()> {
        self.stage.client.flush()?;
        let wanted = self.ledger.at_the_end();
        let answered = self.ledger.next() as usize - self.open.len();
        ensure!(answered > 0, "none of {} batches was ever answered: nothing was tested", self.ledger.next());
        eventually("everything that the broker had taken", Duration::from_secs(60), || {
            let found = self.stage.remembered_ids().ok()?;
            (found == wanted).then_some(())
        })
        .or_else(|late| -> Result<()> {
            let found = self.stage.remembered_ids()?;
            let lost: Vec<_> = wanted.difference(&found).take(20).collect();
            let back: Vec<_> = found.difference(&wanted).take(20).collect();
            ensure!(lost.is_empty() && back.is_empty(), "{late:#}: lost {lost:?}, not forgotten {back:?}");
            Ok(())
        })?;
        self.hear()?;
        let done = self.stage.command("compact", json!({}))?;
        ensure!(done["state"] == "succeeded", "{done}");
        let found = self.stage.remembered_ids()?;
        ensure!(found == wanted, "compacting changed what is remembered");
        self.stage.agent.stop()?;
        self.stage.client.message("engram/crash/status", SOON, |message| message.text() == "stopped")?;
        self.stage.check()?;
        for entry in std::fs::read_dir(self.stage.agent.data_dir().join("memory"))? {
            let path = entry?.path();
            let label = self.ledger.forgotten_label(&std::fs::read(&path)?);
            ensure!(
                label.is_none(),
                "{} was forgotten and compacted, and is in {}",
                label.unwrap_or_default(),
                path.display()
            );
        }
        Ok(())
    }
}
