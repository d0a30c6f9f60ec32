//! The harness itself: a harness that cannot fail proves nothing.

use std::time::Duration;

use anyhow::Result;
use engram_tests::{Broker, SeededRandom, media};

#[test]
fn a_client_hears_itself_through_a_broker_that_was_restarted() -> Result<()> {
    let mut broker = Broker::start()?;
    let client = broker.client()?;
    client.subscribe("news")?;
    client.publish("news", "before")?;
    client.message("news", Duration::from_secs(5), |message| message.text() == "before")?;
    broker.stop()?;
    client.wait_disconnected()?;
    broker.up()?;
    client.wait_connected()?;
    broker.client()?.publish("news", "after")?;
    client.message("news", Duration::from_secs(10), |message| message.text() == "after")?;
    Ok(())
}

#[test]
fn tls_and_password_are_both_asked_for() -> Result<()> {
    let broker = Broker::builder().tls().password("robot", "correct horse").start()?;
    let client = broker.client()?;
    client.subscribe("news")?;
    client.publish("news", "secret")?;
    client.message("news", Duration::from_secs(5), |message| message.text() == "secret")?;
    Ok(())
}

#[test]
fn clips_can_be_made_here() -> Result<()> {
    for clip in [media::talk()?, media::video_only()?, media::audio_only()?] {
        let bytes = std::fs::metadata(&clip)?.len();
        assert!(bytes > 5_000, "{} has only {bytes} bytes", clip.display());
    }
    Ok(())
}

#[test]
fn seeded_numbers_are_the_same_in_every_run() {
    let mut random = SeededRandom::seeded(7);
    assert_eq!([random.below(100), random.below(100), random.below(100)], [87, 4, 46]);
}
