//! Commands on a machine that has no memory: they reach the agent by the flags that `ask` takes, or say why not.

use std::path::Path;

use anyhow::{Context, Result};
use engram_tests::{Broker, Finished, SOON, Stage, engram_command, run_to_end, until};
use serde_json::{Value, json};

const ALLOWED: [&str; 5] = ["backup", "export", "forget", "name_entity", "restore"];

fn stage() -> Result<Stage> {
    let stage = Stage::with("far", |builder| {
        ALLOWED.into_iter().fold(builder, |builder, name| builder.set(&format!("mqtt.allow.{name}"), true))
    })?;
    for (n, step) in ["wash the lettuce", "cut the tomato", "mix the salad"].into_iter().enumerate() {
        let told = json!({"text": step, "kind": "action", "entity": "Anna", "at": format!("2026-11-20T08:0{n}:00Z"),
            "attributes": {"session": "s1", "task": "make salad"}});
        assert_eq!(stage.observe(told)?["accepted"], 1);
    }
    Ok(stage)
}

/// The program on another machine: no configuration, and nothing in its data directory.
fn from_afar(broker: &Broker, robot: &str, words: &[&str]) -> Result<Finished> {
    let home = tempfile::tempdir()?;
    let port = broker.port().to_string();
    let mut command = engram_command()?;
    command.env("XDG_DATA_HOME", home.path()).env("STATE_DIRECTORY", home.path().join("state"));
    command.args(["--config", "/dev/null", "--mqtt-host", "localhost", "--mqtt-port", &port, "--robot", robot]);
    let ended = run_to_end(command.args(words), SOON)?;
    assert_eq!(home.path().read_dir()?.count(), 0, "{words:?} left something on a machine that only asks");
    Ok(ended)
}

fn succeeded(ended: &Finished) -> &str {
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    &ended.stdout
}

#[test]
fn every_command_that_can_reaches_the_agent_by_flags_alone() -> Result<()> {
    let stage = stage()?;
    let afar = |words: &[&str]| from_afar(&stage.broker, "far", words);
    let json = |words: &[&str]| -> Result<Value> {
        let ended = afar(words)?;
        serde_json::from_str(&ended.stdout).with_context(|| format!("{words:?}: {}{}", ended.stdout, ended.stderr))
    };
    assert_eq!(json(&["inspect", "stats", "--json"])?["observations"], 3);
    let events = json(&["inspect", "events", "--limit", "2", "--json"])?;
    assert_eq!((events["events"].as_array().map(Vec::len), &events["next"]), (Some(2), &json!(2)), "{events}");
    let rest = json(&["inspect", "events", "--after", "2", "--json"])?;
    assert_eq!((&rest["events"][0]["text"], &rest["next"]), (&json!("mix the salad"), &Value::Null));
    assert_eq!(json(&["inspect", "episodes", "--since", "2026-11-20", "--json"])?["next"], Value::Null);
    let episode = json(&["inspect", "episodes", "ep-1", "--json"])?;
    assert_eq!(episode["episode"]["events"].as_array().map(Vec::len), Some(3), "{episode}");
    assert!(succeeded(&afar(&["entity", "list"])?).contains("Anna"));
    until("the procedure", SOON, || {
        let listed = json(&["procedure", "list", "--json"])?;
        Ok((listed["procedures"][0]["goal"] == "make salad").then_some(()))
    })?;
    assert!(succeeded(&afar(&["compact"])?).contains("compacted"));
    assert!(
        succeeded(&afar(&["check"])?).contains("the agent's store") && afar(&["check"])?.stdout.contains("all sound")
    );

    let backup = succeeded(&afar(&["backup", "monday.backup"])?).to_owned();
    let there = stage.agent.data_dir().join("backups");
    assert!(backup.contains("on the agent's machine") && there.join("monday.backup").is_file(), "{backup}");
    assert!(succeeded(&afar(&["export", "monday"])?).contains("3 told"));
    assert!(there.join("monday").is_dir());
    assert!(
        succeeded(&afar(&["forget", "--since", "2026-11-20", "--until", "2026-11-21", "--yes"])?).contains("3 events")
    );
    assert_eq!(json(&["inspect", "stats", "--json"])?["events"], 0);
    assert!(succeeded(&afar(&["restore", "monday.backup"])?).contains("restored 3 events"));
    Ok(())
}

#[test]
fn what_cannot_work_over_the_wire_says_so_and_why() -> Result<()> {
    let stage = stage()?;
    let refused = |words: &[&str], why: &str| -> Result<()> {
        let ended = from_afar(&stage.broker, "far", words)?;
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{words:?}: {}", ended.stderr);
        Ok(())
    };
    refused(&["clip", "ep-1", "-o", "clip.mkv"], "recordings do not travel over MQTT")?;
    refused(&["backup", "/tmp/monday.backup"], "a name without a directory")?;
    refused(&["restore", "sub/monday.backup"], "a name without a directory")?;
    refused(&["export", "./monday"], "a name without a directory")?;
    let nobody = from_afar(&stage.broker, "nobody", &["inspect", "stats"])?;
    assert_eq!(nobody.code, Some(9), "{}", nobody.stderr);
    assert!(nobody.stderr.contains("`nobody`"), "{}", nobody.stderr);
    Ok(())
}

#[test]
fn a_machine_without_a_memory_asks_the_agent_that_its_configuration_names() -> Result<()> {
    let stage = stage()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("engram.toml");
    let empty = folder.path().join("empty");
    let write = |port: u16| -> Result<()> {
        let text = format!("robot = \"far\"\ndata_dir = \"{}\"\n[mqtt]\nport = {port}\n", empty.display());
        Ok(std::fs::write(&file, text)?)
    };
    let run = |words: &[&str]| run_to_end(engram_command()?.arg("--config").arg(&file).args(words), SOON);
    write(stage.broker.port())?;
    assert!(succeeded(&run(&["inspect", "stats"])?).contains("3  events"));
    write(Broker::builder().down()?.port())?;
    let ended = run(&["inspect", "stats"])?;
    assert_eq!(ended.code, Some(5), "{}", ended.stderr);
    assert!(ended.stderr.contains("there is no memory at") && ended.stderr.contains("by MQTT"), "{}", ended.stderr);
    // Whoever does not know what the file says is told where it says so.
    let written = file.display();
    for words in [vec!["inspect", "stats"], vec!["ask", "Where is the mug?"], vec!["observe", "The mug is here."]] {
        let said = run(&words)?.stderr;
        assert!(
            said.contains(&format!("mqtt.port is set in {written}:4, robot is set in {written}:1")),
            "{words:?}: {said}"
        );
    }
    assert!(ended.stderr.contains(&format!("data_dir is set in {written}:2")), "{}", ended.stderr);
    assert!(!Path::new(&empty).exists(), "asking makes no directory");
    Ok(())
}

#[test]
fn a_span_over_mqtt_is_what_the_command_line_takes() -> Result<()> {
    let stage = stage()?;
    stage.observe(json!({"text": "The lamp is on.", "source": "now"}))?;
    let found = |body: Value| -> Result<usize> {
        let reply = stage.command("list", body)?;
        reply["episodes"].as_array().map(Vec::len).with_context(|| format!("list replied {reply}"))
    };
    assert_eq!(found(json!({"since": "2h"}))?, 1);
    assert_eq!(found(json!({"since": "2026-11-20", "until": "2026-11-20 23:59"}))?, 1);
    let wrong = stage.command("list", json!({"since": "soon"}))?;
    assert_eq!(wrong["error"]["code"], "bad_request");
    assert!(wrong["error"]["message"].as_str().is_some_and(|text| text.contains("`soon`")), "{wrong}");
    Ok(())
}
