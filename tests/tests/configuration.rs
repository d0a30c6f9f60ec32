//! A configuration with a mistake, and a port that somebody else has.

use std::net::TcpListener;

use anyhow::Result;
use engram_tests::{Agent, Broker, SOON, Stage, engram_command, run_to_end};

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
fn the_annotated_configuration_is_valid() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let shipped = engram_tests::repository().join("config/engram.toml");
    let mut command = engram_command()?;
    command.arg("--config").arg(&shipped).arg("--data-dir").arg(folder.path()).args(["config", "check"]);
    let ended = run_to_end(&mut command, SOON)?;
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
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
