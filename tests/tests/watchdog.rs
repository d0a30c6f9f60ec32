//! What systemd hears: the watchdog is fed whatever cameras and brokers do.

use std::time::Duration;

use anyhow::Result;
use engram_tests::{Agent, Broker, Notifications, SOON, Stage};
use rustix::process::Signal;

/// Fed once a second; more than any loop's pause between two ticks.
const FEEDS: usize = 8;
const FEEDING: Duration = Duration::from_secs(60);

fn listening(folder: &tempfile::TempDir) -> Result<Notifications> {
    Notifications::listen(&folder.path().join("notify"))
}

/// Nothing that was heard says that a loop is stuck.
fn assert_lively(systemd: &Notifications) {
    let stuck: Vec<_> = systemd.heard().iter().filter(|line| line.contains("stuck")).collect();
    assert!(stuck.is_empty(), "{stuck:?}");
}

#[test]
fn a_broker_that_is_away_and_a_dead_camera_do_not_starve_the_watchdog() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut systemd = listening(&folder)?;
    let broker = Broker::builder().down()?;
    let mut agent = Agent::builder(&broker, "lonely")
        .source("eye", "v4l2:/dev/video97")
        // Opened, and silent for ever.
        .source("ear", "pipeline:appsrc name=never is-live=true format=time ! audio/x-raw,format=F32LE,rate=16000,channels=1 ! appsink name=audio")
        .environment("NOTIFY_SOCKET", &systemd.path().display().to_string())
        .environment("WATCHDOG_USEC", "60000000")
        .spawn()?;
    systemd.until("READY=1", SOON, |heard| heard.count("READY=1") == 1)?;
    systemd.until("a camera that is gone", SOON, |heard| {
        heard.heard().iter().any(|line| line.starts_with("STATUS=") && line.contains("0 of 2 sources running"))
    })?;
    let before = systemd.count("WATCHDOG=1");
    systemd.until("a fed watchdog", FEEDING, |heard| heard.count("WATCHDOG=1") >= before + FEEDS)?;
    assert!(agent.process().ended()?.is_none(), "{}", agent.output());
    assert_lively(&systemd);
    agent.process().signal(Signal::TERM)?;
    systemd.until("STOPPING=1", SOON, |heard| heard.count("STOPPING=1") == 1)?;
    assert!(agent.process().wait(SOON)?.success(), "{}", agent.output());
    Ok(())
}

#[test]
fn a_broker_that_goes_and_comes_back_does_not_starve_the_watchdog() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut systemd = listening(&folder)?;
    let path = systemd.path().display().to_string();
    let mut stage = Stage::with("patient", |builder| {
        builder
            .source("eye", "test")
            .set("mqtt.reconnect_max_s", 1)
            .environment("NOTIFY_SOCKET", &path)
            .environment("WATCHDOG_USEC", "60000000")
    })?;
    systemd.until("a fed watchdog", FEEDING, |heard| heard.count("WATCHDOG=1") >= 1)?;
    stage.broker.stop()?;
    stage.client.wait_disconnected()?;
    let before = systemd.count("WATCHDOG=1");
    systemd.until("a fed watchdog", FEEDING, |heard| heard.count("WATCHDOG=1") >= before + FEEDS)?;
    stage.broker.up()?;
    stage.client.wait_connected()?;
    stage.tell("after", "The broker is back.")?;
    let before = systemd.count("WATCHDOG=1");
    systemd.until("a fed watchdog", FEEDING, |heard| heard.count("WATCHDOG=1") > before)?;
    assert_lively(&systemd);
    stage.agent.stop()
}
