//! A configuration with a mistake, and a port that somebody else has.

use std::net::TcpListener;

use anyhow::{Context, Result};
use engram_tests::{Agent, Broker, SOON, Stage, engram_command, evidence_ids, run_to_end};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn a_typo_is_named_with_its_line_and_what_was_probably_meant() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("engram.toml");
    std::fs::write(&file, "robot = \"kitchen\"\n\n[mqtt]\nhots = \"broker.local\"\n")?;
    for words in [&["config", "check"][..], &["run"]] {
        let ended = run_to_end(engram_command()?.arg("--config").arg(&file).args(words), SOON)?;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(3), "{words:?}: {said}");
        assert!(said.contains("engram.toml:4"), "the line is not named: {said}");
        assert!(said.contains("hots") && said.contains("`host`"), "no suggestion: {said}");
    }
    Ok(())
}

#[test]
fn the_configurations_that_are_shipped_are_valid() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for name in ["engram.toml", "jetson.toml", "demo.toml"] {
        let shipped = engram_tests::repository().join("config").join(name);
        let mut command = engram_command()?;
        command.arg("--config").arg(&shipped).arg("--data-dir").arg(folder.path()).args(["config", "check"]);
        let ended = run_to_end(&mut command, SOON)?;
        assert_eq!(ended.code, Some(0), "{name}: {}{}", ended.stdout, ended.stderr);
    }
    Ok(())
}

#[test]
fn a_metrics_port_in_use_is_said_and_the_memory_serves_all_the_same() -> Result<()> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    let mut stage =
        Stage::with("busy", |builder| builder.set("metrics.enabled", true).set("metrics.listen", address.as_str()))?;
    let line = stage.agent.process().wait_for_line(&address, SOON)?;
    assert!(line.contains("in use"), "the line does not say what is wrong: {line}");
    stage.tell("one", "The memory serves.")?;
    stage.agent.stop()?;
    Ok(())
}

#[test]
fn a_metrics_port_in_use_ends_a_strict_start() -> Result<()> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    let broker = Broker::start()?;
    let mut agent = Agent::builder(&broker, "strict")
        .set("metrics.enabled", true)
        .set("metrics.listen", address.as_str())
        .argument("--strict")
        .spawn()?;
    let status = agent.process().wait(SOON)?;
    assert!(status.code().is_some_and(|code| code != 0), "{status}");
    assert!(agent.output().contains(&address), "{}", agent.output());
    Ok(())
}

#[test]
fn a_hangup_takes_changed_sources_into_use_and_names_what_needs_a_restart() -> Result<()> {
    let mut stage = Stage::with("reloaded", |builder| builder.source("door", "test").source("yard", "test"))?;
    let running = |report: &serde_json::Value, name: &str| report["sources"][name]["state"] == "running";
    stage.agent.health(&stage.client, SOON, |report| running(report, "door") && running(report, "yard"))?;

    let file = stage.agent.config_file().to_owned();
    let written = std::fs::read_to_string(&file)?;
    let mut wanted: toml::Table = written.parse()?;
    let sources = wanted["sources"].as_table_mut().context("sources")?;
    let yard = sources.remove("yard").context("yard")?;
    sources.insert("hall".to_owned(), yard);
    wanted.insert("log".to_owned(), toml::Value::Table("level = \"debug\"".parse()?));
    wanted.insert("memory".to_owned(), toml::Value::Table("cache_mib = 32".parse()?));
    std::fs::write(&file, toml::to_string(&wanted)?)?;
    stage.agent.process().signal(Signal::HUP)?;

    let report = stage.agent.health(&stage.client, SOON, |report| running(report, "hall"))?;
    assert!(report["sources"]["yard"].is_null() && running(&report, "door"), "{report}");
    assert!(report["degraded"].to_string().contains("needs a restart: memory.cache_mib"), "{report}");
    let reply = stage.command("reload", json!({}))?;
    assert_eq!((&reply["applied"], &reply["restart"]), (&json!([]), &json!(["memory.cache_mib"])), "{reply}");

    // A mistake changes nothing and is named.
    std::fs::write(&file, "robott = \"x\"\n")?;
    let refused = stage.command("reload", json!({}))?;
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("robott")), "{refused}");
    std::fs::write(&file, written)?;
    let reply = stage.command("reload", json!({}))?;
    assert_eq!(reply["applied"], json!(["log.level", "sources.hall", "sources.yard"]), "{reply}");
    stage.agent.health(&stage.client, SOON, |report| running(report, "yard") && report["sources"]["hall"].is_null())?;
    stage.agent.stop()?;
    Ok(())
}

#[test]
fn a_hangup_during_the_start_is_obeyed_once_it_runs() -> Result<()> {
    let broker = Broker::start()?;
    let mut agent = Agent::builder(&broker, "early").spawn()?;
    agent.process().wait_for_line("memory is open", SOON)?;
    agent.process().signal(Signal::HUP)?;
    agent.process().wait_for_line("the configuration has not changed", SOON)?;
    agent.process().wait_for_line("online robot=\"early\"", SOON)?;
    agent.stop()
}

#[test]
fn an_index_of_another_language_is_built_at_the_next_start_and_finds_its_words() -> Result<()> {
    let mut stage = Stage::start("polyglot")?;
    stage.tell("houses", "Die Häuser stehen am Fluss.")?;
    stage.tell("mug", "The blue mug is on the shelf.")?;
    let saved = stage.command("snapshot", json!({}))?;
    assert_eq!(saved["events"], 2, "{saved}");
    let known = |stage: &Stage, question: &str| -> Result<Option<String>> {
        Ok(evidence_ids(&stage.ask(question)?).first().cloned())
    };
    assert_eq!(known(&stage, "Haus")?, None, "English knows no such plural");

    let file = stage.agent.config_file().to_owned();
    let mut wanted: toml::Table = std::fs::read_to_string(&file)?.parse()?;
    let index = "index = { language = \"german\", signature_bits = 256 }";
    wanted.insert("memory".to_owned(), toml::Value::Table(index.parse()?));
    std::fs::write(&file, toml::to_string(&wanted)?)?;
    let reply = stage.command("reload", json!({}))?;
    let keys = json!(["memory.index.language", "memory.index.signature_bits"]);
    assert_eq!((&reply["applied"], &reply["restart"]), (&json!([]), &keys), "{reply}");
    assert_eq!(known(&stage, "Haus")?, None, "until then it is as it was");

    stage.agent.stop()?;
    stage.agent.restart(&stage.client)?;
    stage.agent.process().wait_for_line("the index was built anew", SOON)?;
    assert_eq!(known(&stage, "Haus")?.as_deref(), Some("houses"));
    assert_eq!(known(&stage, "blue mug")?.as_deref(), Some("mug"));
    let saved = stage.command("snapshot", json!({}))?;
    assert_eq!(saved["events"], 2, "{saved}");
    stage.agent.stop()?;
    stage.agent.restart(&stage.client)?;
    assert_eq!(known(&stage, "Haus")?.as_deref(), Some("houses"));
    assert!(!stage.agent.output().contains("the index was built anew"), "it was read: {}", stage.agent.output());
    stage.agent.stop()?;
    stage.check()
}

#[test]
fn an_index_that_cannot_be_made_is_refused_by_its_key() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("engram.toml");
    for (line, key, hint) in [
        ("language = \"englisch\"", "memory.index.language", "did you mean `english`?"),
        ("signature_bits = 100", "memory.index.signature_bits", "a multiple of 64"),
        ("signature_bits = 2048", "memory.index.signature_bits", "from 64 to 1024"),
    ] {
        std::fs::write(&file, format!("[memory.index]\n{line}\n"))?;
        let ended = run_to_end(engram_command()?.arg("--config").arg(&file).args(["config", "check"]), SOON)?;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(3), "{line}: {said}");
        assert!(said.contains("engram.toml:2") && said.contains(key) && said.contains(hint), "{line}: {said}");
    }
    Ok(())
}
