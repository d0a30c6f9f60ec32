//! Forgetting for real, backing up, moving to another machine, exporting and importing: as a person does it.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, Finished, Stage, evidence_ids};
use serde_json::{Value, json};

const SECRET: &str = "The xylophone is under the floorboards.";

/// Whether any file in a directory holds these bytes.
fn holds(directory: &Path, words: &[u8]) -> Result<bool> {
    for entry in std::fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        let found = if path.is_dir() {
            holds(&path, words)?
        } else {
            std::fs::read(&path)?.windows(words.len()).any(|window| window.eq_ignore_ascii_case(words))
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn told(stage: &Stage) -> Result<()> {
    stage.tell("mug", "Anna put the blue mug on the shelf.")?;
    let reply = stage.observe(json!([
        {"id": "secret", "text": SECRET, "source": "asr", "entity": "Zebulon", "at": "2026-11-20T09:00:00Z"},
        {"text": "The window was open.", "source": "asr", "at": "2026-11-20T10:00:00Z"},
    ]))?;
    ensure!(reply["accepted"] == 2, "{reply}");
    Ok(())
}

#[track_caller]
fn succeeded(ended: &Finished) {
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

fn with_forgetting(builder: engram_tests::AgentBuilder) -> engram_tests::AgentBuilder {
    ["backup", "export", "forget", "restore"]
        .iter()
        .fold(builder, |builder, command| builder.set(&format!("mqtt.allow.{command}"), true))
}

#[test]
fn what_is_forgotten_and_compacted_is_nowhere_in_the_data_directory() -> Result<()> {
    let mut stage = Stage::with("upkeep", with_forgetting)?;
    told(&stage)?;
    let data = stage.agent.data_dir();
    assert!(holds(&data, b"xylophone")? && holds(&data, b"zebulon")?, "it was stored");
    let forgotten = stage.command("forget", json!({"entity": "Zebulon"}))?;
    assert_eq!(forgotten["events"], 1, "{forgotten}");
    let done = stage.command("compact", json!({}))?;
    assert_eq!(done["state"], "succeeded", "{done}");
    assert!(done["bytes_before"].as_u64() > Some(0) && done["bytes_after"].as_u64() > Some(0), "{done}");
    for words in [&b"xylophone"[..], b"floorboards", b"zebulon"] {
        assert!(!holds(&data, words)?, "{} is still there", String::from_utf8_lossy(words));
    }
    assert_eq!(stage.ask("Where is the xylophone?")?["route"], "none");
    assert_eq!(evidence_ids(&stage.ask("Where is the blue mug?")?)[..1], ["mug"]);
    let again =
        stage.observe(json!({"id": "secret", "text": SECRET, "source": "asr", "at": "2026-11-20T09:00:00Z"}))?;
    assert_eq!(again["accepted"], 0, "what is forgotten stays forgotten: {again}");
    // Also where the agent is not running, on the command line.
    stage.agent.stop()?;
    succeeded(&stage.agent.engram(&["compact"])?);
    stage.check()
}

#[test]
fn what_a_language_model_read_out_of_forgotten_events_goes_also_after_a_kill() -> Result<()> {
    let mut stage = Stage::start("upkeep")?;
    told(&stage)?;
    stage.agent.kill()?;
    // As a kill leaves it between the commit that forgets an event and the end of `forget`.
    let known = stage.agent.data_dir().join("llm-facts.jsonl");
    let row = |event: u32, value: &str| json!({"event": event, "sum": "", "facts": [["mug", "place", value, true]]});
    std::fs::write(&known, format!("{}\n{}\n", row(1, "shelf"), row(4711, "attic")))?;
    stage.agent.restart(&stage.client)?;
    let left = std::fs::read_to_string(&known)?;
    assert!(left.contains("shelf") && !left.contains("attic"), "{left}");
    // Nor while no agent runs.
    stage.agent.stop()?;
    succeeded(&stage.agent.engram(&["forget", "--offline", "--yes", "--entity", "Anna"])?);
    assert_eq!(std::fs::read_to_string(&known)?, "");
    Ok(())
}

#[test]
fn a_backup_made_while_it_runs_moves_the_memory_to_another_machine() -> Result<()> {
    let stage = Stage::start("upkeep")?;
    told(&stage)?;
    let elsewhere = tempfile::tempdir()?;
    let file = elsewhere.path().join("robot.backup");
    let name = file.to_string_lossy().into_owned();
    succeeded(&stage.agent.engram(&["backup", &name])?);
    let exists = stage.agent.engram(&["backup", &name])?;
    assert_ne!(exists.code, Some(0), "a backup is not replaced by accident");
    stage.tell("later", "This was told after the backup.")?;

    let broker = Broker::start()?;
    let client = broker.client()?;
    let folder = tempfile::tempdir()?;
    let mut other = Agent::builder(&broker, "other").folder(folder.path()).start(&client)?;
    other.stop()?;
    let restored = other.engram(&["restore", &name, "--json"])?;
    succeeded(&restored);
    other.restart(&client)?;
    let answer = client.ask("other", "Where is the blue mug?")?;
    assert_eq!(evidence_ids(&answer)[..1], ["mug"], "{answer}");
    let page = client.command("other", "list", json!({}))?;
    assert!(!page.to_string().contains("after the backup"), "{page}");

    // A damaged and a foreign file change nothing.
    other.stop()?;
    let mut bytes = std::fs::read(&file)?;
    bytes.truncate(bytes.len() - 9);
    std::fs::write(&file, &bytes)?;
    let cut = other.engram(&["restore", &name])?;
    assert!(cut.code == Some(6) && cut.stderr.contains("cut off"), "{:?} {}", cut.code, cut.stderr);
    std::fs::write(&file, "a shopping list")?;
    let foreign = other.engram(&["restore", &name])?;
    assert!(foreign.code == Some(6) && foreign.stderr.contains("no backup of engram"), "{}", foreign.stderr);
    succeeded(&other.engram(&["check"])?);
    other.restart(&client)?;
    assert_eq!(evidence_ids(&client.ask("other", "Where is the blue mug?")?)[..1], ["mug"]);
    Ok(())
}

/// Runs a command that asks for the agent on a broker where only a stranger answers, with `answer`.
fn answered_by_a_stranger(stage: &Stage, words: &[&str], answer: &Value) -> Result<Finished> {
    let broker = Broker::start()?;
    let stranger = broker.client()?;
    stranger.subscribe("engram/+/cmd/+")?;
    let port = broker.port().to_string();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| stage.agent.engram_with(&[("ENGRAM__MQTT__PORT", &port)], words));
        let topic = format!("engram/upkeep/cmd/{}", words[0]);
        let request = stranger.message(&topic, engram_tests::SOON, |_| true)?;
        stranger.respond(&request, answer)?;
        asking.join().expect("the command was run")
    })
}

#[test]
fn a_path_that_a_stranger_names_is_not_touched_and_no_success_is_reported() -> Result<()> {
    let stage = Stage::start("upkeep")?;
    told(&stage)?;
    let elsewhere = tempfile::tempdir()?;
    let (secret, wanted) = (elsewhere.path().join("diary"), elsewhere.path().join("wanted"));
    std::fs::create_dir(elsewhere.path().join("letters"))?;
    std::fs::write(elsewhere.path().join("letters/one"), "Dear Anna")?;
    std::fs::write(&secret, "a diary")?;
    for (command, answer) in [
        ("backup", json!({"state": "succeeded", "file": secret, "events": 1, "seq": 1, "bytes": 7})),
        ("export", json!({"state": "succeeded", "dir": elsewhere.path().join("letters"), "told": 1})),
        ("backup", json!({"state": "succeeded", "file": 17})),
    ] {
        let ended = answered_by_a_stranger(&stage, &[command, &wanted.to_string_lossy()], &answer)?;
        assert_eq!(ended.code, Some(6), "{command}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("another program answers"), "{}", ended.stderr);
        assert!(!wanted.exists(), "{command}");
        assert_eq!(std::fs::read_to_string(&secret)?, "a diary");
        assert_eq!(std::fs::read_to_string(elsewhere.path().join("letters/one"))?, "Dear Anna");
    }
    succeeded(&stage.agent.engram(&["backup", &wanted.to_string_lossy()])?);
    assert!(wanted.is_file());
    Ok(())
}

#[test]
fn commands_back_up_and_restore_a_running_robot_and_stay_in_their_directory() -> Result<()> {
    let stage = Stage::with("upkeep", with_forgetting)?;
    told(&stage)?;
    let correlation = stage.client.request_later("engram/upkeep/cmd/backup", r#"{"file": "one.backup"}"#)?;
    let executing = stage.client.reply_that(&correlation, engram_tests::SOON, |reply| reply["state"] == "executing")?;
    assert_eq!(executing["state"], "executing");
    let done = stage.client.reply(&correlation, engram_tests::SOON)?;
    assert_eq!((&done["state"], &done["events"]), (&json!("succeeded"), &json!(3)), "{done}");
    let file = done["file"].as_str().unwrap_or_default().to_owned();
    assert!(Path::new(&file).starts_with(stage.agent.data_dir()), "{file}");

    stage.tell("later", "This was told after the backup.")?;
    let restored = stage.command("restore", json!({"file": "one.backup"}))?;
    assert_eq!((&restored["state"], &restored["events"]), (&json!("succeeded"), &json!(3)), "{restored}");
    assert_eq!(evidence_ids(&stage.ask("Where is the blue mug?")?)[..1], ["mug"]);
    assert!(!stage.remembered_ids()?.contains("later"));
    stage.tell("next", "Life goes on.")?;

    std::fs::write(Path::new(&file).with_file_name("list"), "a shopping list")?;
    let foreign = stage.command("restore", json!({"file": "list"}))?;
    assert_eq!(foreign["state"], "failed", "{foreign}");
    assert_eq!(foreign["error"]["code"], "bad_request", "{foreign}");
    for name in ["../one.backup", "/etc/passwd", "a/b", ".hidden", ""] {
        for command in ["backup", "restore"] {
            let refused = stage.command(command, json!({"file": name}))?;
            assert_eq!(refused["error"]["code"], "bad_request", "{command} {name}: {refused}");
        }
    }
    assert!(stage.remembered_ids()?.contains("next"));
    Ok(())
}

#[test]
fn what_destroys_blinds_or_fills_the_disk_is_denied_on_a_broker_without_authentication() -> Result<()> {
    for stage in [
        Stage::start("upkeep")?,
        // A name that nobody has to prove is no authentication.
        Stage::with("upkeep", |builder| builder.set("mqtt.username", "engram"))?,
    ] {
        for command in ["backup", "export", "pause", "picture", "resume", "restore"] {
            for body in [json!({"file": "one.backup"}), json!({"file": "one.backup", "operator": "../x"})] {
                let refused = stage.command(command, body)?;
                assert_eq!(refused["error"]["code"], "forbidden", "{command}: {refused}");
            }
        }
        assert!(!stage.agent.data_dir().join("backups").exists());
        // Whoever may write into the data directory is obeyed.
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("robot.backup").to_string_lossy().into_owned();
        succeeded(&stage.agent.engram(&["backup", &file])?);
        succeeded(&stage.agent.engram(&["restore", &file])?);
        let left = std::fs::read_dir(stage.agent.data_dir().join("backups"))?.count();
        assert_eq!(left, 0, "nothing of the two commands stays in the agent's directory");
    }
    Ok(())
}

#[test]
fn the_rest_of_the_disk_is_kept_from_backups_and_exports() -> Result<()> {
    let stage = Stage::with("upkeep", |builder| with_forgetting(builder).set("backup.keep_free_mib", 1_048_576))?;
    told(&stage)?;
    for command in ["backup", "export"] {
        let refused = stage.command(command, json!({}))?;
        assert_eq!(refused["error"]["code"], "storage_full", "{command}: {refused}");
        let backups = stage.agent.data_dir().join("backups");
        assert_eq!(std::fs::read_dir(backups)?.count(), 0, "{command}");
    }
    Ok(())
}

#[test]
fn an_export_is_imported_once_however_often() -> Result<()> {
    let mut stage = Stage::start("upkeep")?;
    told(&stage)?;
    let elsewhere = tempfile::tempdir()?;
    let dir = elsewhere.path().join("export");
    let name = dir.to_string_lossy().into_owned();
    succeeded(&stage.agent.engram(&["export", &name])?);
    let lines = std::fs::read_to_string(dir.join("memory.jsonl"))?;
    assert_eq!(lines.lines().count(), 4, "{lines}");
    for line in lines.lines() {
        serde_json::from_str::<Value>(line)?;
    }

    let broker = Broker::start()?;
    let client = broker.client()?;
    let folder = tempfile::tempdir()?;
    let mut other = Agent::builder(&broker, "other").folder(folder.path()).start(&client)?;
    let busy = other.engram(&["import", &name])?;
    assert!(busy.code == Some(4) && busy.stderr.contains("in use"), "{:?} {}", busy.code, busy.stderr);
    other.stop()?;
    for expected in [(3, 0), (0, 3)] {
        let imported = other.engram(&["import", &name, "--json"])?;
        succeeded(&imported);
        let report: Value = serde_json::from_str(&imported.stdout)?;
        assert_eq!((report["accepted"].as_i64(), report["duplicates"].as_i64()), (Some(expected.0), Some(expected.1)));
    }
    other.restart(&client)?;
    assert_eq!(evidence_ids(&client.ask("other", "Where is the blue mug?")?)[..1], ["mug"]);
    // The memory that it comes from knows all of it.
    stage.agent.stop()?;
    let imported = stage.agent.engram(&["import", &name, "--json"])?;
    let report: Value = serde_json::from_str(&imported.stdout)?;
    assert_eq!((report["accepted"].as_i64(), report["duplicates"].as_i64()), (Some(0), Some(3)), "{report}");

    std::fs::write(dir.join("memory.jsonl"), "{\"type\": \"told\"}\n")?;
    let wrong = other.engram(&["import", &name])?;
    assert_ne!(wrong.code, Some(0));
    Ok(())
}

#[test]
fn a_snapshot_is_beside_the_store_and_read_after_a_kill() -> Result<()> {
    let mut stage = Stage::start("saver")?;
    let saved = |stage: &Stage| stage.agent.data_dir().join("memory/index-0.snapshot");
    stage.tell("mug", "Anna put the blue mug on the shelf.")?;
    assert!(!saved(&stage).exists(), "so little is not saved by itself");
    let done = stage.command("snapshot", json!({}))?;
    assert_eq!((&done["state"], &done["events"]), (&json!("succeeded"), &json!(1)), "{done}");
    assert_eq!(done["bytes"].as_u64(), Some(saved(&stage).metadata()?.len()), "{done}");
    // What came after it is found as well.
    stage.tell("keys", "Ben put the keys into the bowl.")?;
    stage.agent.kill()?;
    stage.agent.restart(&stage.client)?;
    for (question, id) in [("Where is the blue mug?", "mug"), ("Where are the keys?", "keys")] {
        let answer = stage.ask(question)?;
        assert_eq!(evidence_ids(&answer).first().map(String::as_str), Some(id), "{answer}");
    }
    stage.agent.stop()?;
    stage.check()
}

/// The steps of docs/guide.md, "Back to an older version", where the older one needs its own backup.
#[test]
fn a_backup_of_before_and_an_export_of_after_make_the_whole_memory_again() -> Result<()> {
    let mut stage = Stage::start("stepper")?;
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    stage.tell("before", "The lamp is on.")?;
    succeeded(&stage.agent.engram(&["backup", &path("before.backup")])?);
    stage.tell("after", "The lamp was switched off.")?;
    stage.observe(json!({"text": "Told without an id.", "at": "2026-11-20T09:00:00Z"}))?;
    succeeded(&stage.agent.engram(&["export", &path("after")])?);
    stage.agent.stop()?;
    let memory = stage.agent.data_dir().join("memory");
    std::fs::rename(&memory, folder.path().join("memory.newer"))?;
    succeeded(&stage.agent.engram(&["restore", &path("before.backup")])?);
    let imported = stage.agent.engram(&["import", &path("after"), "--json"])?;
    succeeded(&imported);
    let counted: Value = serde_json::from_str(&imported.stdout)?;
    assert_eq!((&counted["accepted"], &counted["duplicates"]), (&json!(2), &json!(1)), "{counted}");
    stage.agent.restart(&stage.client)?;
    // What had no id was exported with one.
    let ids = stage.remembered_ids()?;
    assert!(ids.len() == 3 && ids.contains("before") && ids.contains("after"), "{ids:?}");
    assert_eq!(stage.command("list", json!({"of": "stats"}))?["events"], 3);
    Ok(())
}
