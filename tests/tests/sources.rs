//! What a person gives to watch and hear: good files, bad files, half files, and a camera that is not there.

use std::time::Duration;

use anyhow::Result;
use engram_tests::{SOON, Stage, media, models_dir, skipped};
use serde_json::Value;

const PLAYING: Duration = Duration::from_secs(90);

fn state<'a>(report: &'a Value, source: &str) -> &'a str {
    report["sources"][source]["state"].as_str().unwrap_or("absent")
}

#[test]
fn a_film_with_subtitles_answers_questions_with_the_seconds_of_its_evidence() -> Result<()> {
    let clip = media::talk()?;
    let mut stage = Stage::with("film", |builder| builder.file("film", &clip))?;
    let report = stage.agent.health(&stage.client, PLAYING, |report| state(report, "film") == "ended")?;
    assert!(report["sources"]["film"]["segments"].as_u64().is_some_and(|n| n >= 2), "{report}");
    for (from, until, text) in media::TALK {
        let answer = stage.ask(text)?;
        let best = &answer["evidence"][0];
        assert!(best["text"].as_str().is_some_and(|found| found.contains(text)), "{answer}");
        let (start, end) =
            (best["stream_start_s"].as_f64().unwrap_or(-1.0), best["stream_end_s"].as_f64().unwrap_or(-1.0));
        assert!(start < until && end > from && end - start < 12.0, "said at {from}-{until} s, cited {start}-{end} s");
        assert!(
            answer["degraded"].as_array().is_some_and(|missing| !missing.is_empty()),
            "no model is there: {answer}"
        );
    }
    stage.agent.stop()?;
    stage.check()
}

#[test]
fn with_the_models_of_the_default_profile_nothing_of_theirs_is_missing() -> Result<()> {
    let Some(models) = models_dir() else {
        skipped("no models here; drivers/scripts/fetch-models brings them");
        return Ok(());
    };
    let clip = media::talk()?;
    let stage =
        Stage::with("seeing", |builder| builder.file("film", &clip).set("models.dir", models.display().to_string()))?;
    let report = stage.agent.health(&stage.client, PLAYING, |report| {
        state(report, "film") == "ended" && report["memory"]["pending_embeddings"] == 0
    })?;
    let models = report["models"].as_object().cloned().unwrap_or_default();
    let ready: Vec<_> = models.iter().filter(|(_, model)| model["state"] == "ready").map(|(role, _)| role).collect();
    assert!(ready.len() >= 3, "only {ready:?} are ready: {report}");
    // No word of the question is in the subtitle: it is found by meaning.
    let answer = stage.ask("Which room is the delivery in?")?;
    assert!(answer["evidence"][0]["text"].as_str().is_some_and(|text| text.contains("parcel")), "{answer}");
    Ok(())
}

#[test]
fn subtitles_can_be_left_out() -> Result<()> {
    let clip = media::talk()?;
    let stage = Stage::with("film", |builder| builder.file("film", &clip).set("sources.film.subtitles", "off"))?;
    stage.agent.health(&stage.client, PLAYING, |report| state(report, "film") == "ended")?;
    let answer = stage.ask("Where should the blue mug go?")?;
    assert!(!answer.to_string().contains("kitchen table"), "{answer}");
    Ok(())
}

#[test]
fn a_clip_without_sound_and_one_without_picture_are_both_remembered() -> Result<()> {
    let (video, audio) = (media::video_only()?, media::audio_only()?);
    let stage = Stage::with("halves", |builder| builder.file("video", &video).file("audio", &audio))?;
    let report = stage.agent.health(&stage.client, PLAYING, |report| {
        state(report, "video") == "ended" && state(report, "audio") == "ended"
    })?;
    for source in ["video", "audio"] {
        assert!(report["sources"][source]["segments"].as_u64().is_some_and(|n| n >= 1), "{source}: {report}");
        assert!(report["sources"][source]["error"].is_null(), "{source}: {report}");
    }
    Ok(())
}

/// A source that cannot work is shown with a reason that names it, and the rest goes on.
fn fails_alone(uri: &str, named: &str) -> Result<()> {
    let stage = Stage::with("partly", |builder| builder.source("bad", uri))?;
    let report = stage.agent.health(&stage.client, PLAYING, |report| {
        matches!(state(report, "bad"), "failed" | "backoff") && report["sources"]["bad"]["error"].is_string()
    })?;
    let error = report["sources"]["bad"]["error"].as_str().unwrap_or_default();
    assert!(error.contains(named), "the error does not name {named}: {error}");
    stage.tell("fine", "The rest of the robot works.")?;
    assert_eq!(stage.ask("What works?")?["evidence"][0]["observations"][0], "fine");
    Ok(())
}

#[test]
fn a_camera_that_is_not_there_is_shown_and_the_rest_goes_on() -> Result<()> {
    fails_alone("v4l2:/dev/video97", "/dev/video97")
}

#[test]
fn a_file_that_is_not_media_is_shown_and_the_rest_goes_on() -> Result<()> {
    fails_alone(&format!("file:{}", media::not_media()?.display()), "shopping-list.mp4")
}

#[test]
fn a_truncated_mp4_is_shown_and_the_rest_goes_on() -> Result<()> {
    fails_alone(&format!("file:{}", media::truncated()?.display()), "truncated.mp4")
}

#[test]
fn a_file_that_does_not_exist_is_shown_and_the_rest_goes_on() -> Result<()> {
    fails_alone("file:/nowhere/film.mp4", "/nowhere/film.mp4")
}

#[test]
fn a_source_that_is_spelled_wrong_is_refused_at_the_start() -> Result<()> {
    let broker = engram_tests::Broker::start()?;
    let mut agent = engram_tests::Agent::builder(&broker, "wrong").source("eye", "kamera:0").spawn()?;
    let status = agent.process().wait(SOON)?;
    assert!(!status.success(), "{}", agent.output());
    assert!(agent.output().contains("kamera"), "{}", agent.output());
    Ok(())
}
