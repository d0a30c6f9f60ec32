//! Searching for words: over MQTT, from the command line with and without an agent, and after forgetting.

use anyhow::Result;
use engram_tests::{SOON, Stage, models_dir, skipped};
use serde_json::{Value, json};

fn stage(robot: &str) -> Result<Stage> {
    let stage = Stage::with(robot, |builder| builder.set("mqtt.allow.forget", true))?;
    for (id, kind, entity, at, text) in [
        ("m1", "action", Some("Anna"), "2026-11-20T08:00:00Z", "Anna puts the blue mug on the shelf beside the sink"),
        ("m2", "action", Some("Ben"), "2026-11-20T09:00:00Z", "Ben washes two blue mugs"),
        ("m3", "text", Some("Anna"), "2026-11-20T10:00:00Z", "the sink is blue, and somebody broke the old red mug"),
        ("m4", "state", None, "2026-11-20T11:00:00Z", "the door is open"),
    ] {
        let told = stage.observe(json!({"id": id, "kind": kind, "entity": entity, "at": at, "text": text}))?;
        assert_eq!(told["accepted"], 1, "{told}");
    }
    Ok(stage)
}

fn snippets(reply: &Value) -> Vec<&str> {
    reply["found"].as_array().into_iter().flatten().filter_map(|found| found["snippet"].as_str()).collect()
}

#[test]
fn events_are_found_by_words_with_snippets_counts_and_ids() -> Result<()> {
    let stage = stage("seeker")?;
    let search = |query: &str| stage.command("search", json!({"query": query}));
    let found = search("mug blue")?;
    assert_eq!((&found["count"], &found["order"]), (&json!(3), &json!("newest")), "{found}");
    assert_eq!(snippets(&found)[1], "Ben washes two blue mugs", "{found}");
    assert_eq!(found["found"][1]["marks"], json!([[15, 19], [20, 24]]), "{found}");
    assert!(found["found"][0]["episode"].as_str().is_some_and(|id| id.starts_with("ep-")), "{found}");
    assert_eq!(found["words"][0], json!({"word": "mug", "events": 3}), "{found}");
    for (query, count) in [
        ("\"blue mug\"", 2),
        ("\"blue mug\" -ben", 1),
        ("mug near/5 sink", 1),
        ("mug who:anna", 2),
        ("kind:action blue", 2),
        ("kind:state", 1),
        ("mug since:2026-11-20T08:30:00Z until:2026-11-20T09:30:00Z", 1),
        ("mug zebra", 0),
    ] {
        let found = search(query)?;
        assert_eq!(found["count"], count, "{query}: {found}");
    }
    let best = stage.command("search", json!({"query": "blue mug", "order": "relevance", "limit": 1}))?;
    assert_eq!(snippets(&best), ["Ben washes two blue mugs"], "the shortest: {best}");
    assert!(best["found"][0]["score"].as_f64().is_some_and(|score| score > 0.3), "{best}");

    for (query, advice) in [
        ("\"blue mug".to_owned(), "is not closed"),
        ("-mug".to_owned(), "add a word to find"),
        ("place:kitchen".to_owned(), "the fields are who:, kind:, since:, until:"),
        ("the was".to_owned(), "add a word with a meaning of its own"),
        ("mug ".repeat(2_500), "2000 are allowed"),
    ] {
        let refused = search(&query)?;
        assert_eq!(refused["error"]["code"], "bad_request", "{refused}");
        assert!(refused["error"]["message"].as_str().is_some_and(|message| message.contains(advice)), "{refused}");
    }

    let large = search(&"mug ".repeat(25_000))?;
    assert_eq!(large["error"]["code"], "too_large", "{large}");

    let forgotten = stage.command("forget", json!({"entity": "Ben"}))?;
    assert_eq!(forgotten["events"], 1, "{forgotten}");
    let left = search("mug blue")?;
    assert_eq!((&left["count"], &left["words"][0]["events"]), (&json!(2), &json!(2)), "{left}");
    stage.command("compact", json!({}))?;
    let compacted = search("mugs washes")?;
    assert_eq!(compacted["count"], 0, "{compacted}");
    assert_eq!(compacted["words"][1], json!({"word": "washes", "events": 0}), "{compacted}");
    Ok(())
}

#[test]
fn the_command_searches_with_and_without_an_agent() -> Result<()> {
    let mut stage = stage("lookout")?;
    let online = stage.agent.engram(&["search", "blue", "mug", "--best"])?;
    assert_eq!(online.code, Some(0), "{}", online.stderr);
    assert!(online.stdout.contains("Ben: Ben washes two [blue] [mugs]  (action, ep-"), "{}", online.stdout);
    assert!(online.stdout.contains("3 of 3 events, best first; blue in 3, mug in 3"), "{}", online.stdout);
    let nothing = stage.agent.engram(&["search", "zebra"])?;
    assert_eq!(nothing.code, stage.agent.engram(&["ask", "Where is the zebra?"])?.code, "{}", nothing.stdout);
    assert!(nothing.stdout.contains("no event matches; zebra in 0"), "{}", nothing.stdout);
    let refused = stage.agent.engram(&["search", "\"blue"])?;
    assert!(refused.code != Some(0) && refused.stderr.contains("is not closed"), "{}", refused.stderr);

    stage.agent.stop()?;
    let offline = stage.agent.engram(&["--json", "search", "\"blue mug\" who:anna"])?;
    assert_eq!(offline.code, Some(0), "{}", offline.stderr);
    let reply: Value = serde_json::from_str(&offline.stdout)?;
    assert_eq!((&reply["count"], &reply["found"][0]["entity"]), (&json!(1), &json!("Anna")), "{reply}");
    Ok(())
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() -> Result<()> {
    let mut stage = stage("likeness")?;
    let found = stage.command("search", json!({"query": "washes"}))?;
    let event = found["found"][0]["event"].as_str().unwrap_or_default();
    for (body, advice) in [
        (json!({"similar_to": "mug"}), "write ev-42 or ep-12"),
        (json!({"similar_to": "ev-999"}), "there is no ev-999, or it was forgotten"),
        (json!({"similar_to": "ep-999"}), "there is no ep-999, or it was forgotten"),
        (
            json!({"similar_to": event}),
            "has no embedding, so nothing can be compared with it: no model for text embedding",
        ),
        (json!({"similar_to": event, "order": "newest"}), "leave out `order`"),
        (json!({"similar_to": event, "likeness": 2}), "more than 0 and at most 1"),
    ] {
        let refused = stage.command("search", body)?;
        assert_eq!(refused["error"]["code"], "bad_request", "{refused}");
        assert!(refused["error"]["message"].as_str().is_some_and(|message| message.contains(advice)), "{refused}");
    }
    stage.command("forget", json!({"entity": "Ben"}))?;
    let forgotten = stage.command("search", json!({"similar_to": event}))?;
    assert!(forgotten["error"]["message"].as_str().is_some_and(|message| message.contains("forgotten")), "{forgotten}");

    let refused = stage.agent.engram(&["search", "--like", "ev-999"])?;
    assert!(refused.code != Some(0) && refused.stderr.contains("there is no ev-999"), "{}", refused.stderr);
    stage.agent.stop()?;
    let refused = stage.agent.engram(&["search", "--like", "ev-999"])?;
    assert!(refused.code != Some(0) && refused.stderr.contains("there is no ev-999"), "{}", refused.stderr);
    Ok(())
}

#[test]
fn more_like_an_event_or_an_episode_is_found_by_meaning() -> Result<()> {
    let Some(models) = models_dir() else {
        skipped("no models here; drivers/scripts/fetch-models brings them");
        return Ok(());
    };
    let mut stage = Stage::with("resembling", |builder| {
        builder.set("models.dir", models.display().to_string()).set("mqtt.allow.forget", true)
    })?;
    // Hours apart, so each is an episode of its own.
    for (id, at, text) in [
        ("m1", "2026-11-20T08:00:00Z", "Anna drops the coffee cup and it breaks"),
        ("m2", "2026-11-20T10:00:00Z", "a mug falls to the floor and shatters"),
        ("m3", "2026-11-20T12:00:00Z", "Ben mows the lawn behind the house"),
        ("m4", "2026-11-20T14:00:00Z", "Anna breaks a coffee cup"),
        ("m5", "2026-11-20T16:00:00Z", "the gardener cuts the grass"),
    ] {
        let told = stage.observe(json!({"id": id, "at": at, "text": text, "source": "test"}))?;
        assert_eq!(told["accepted"], 1, "{told}");
    }
    stage.agent.health(&stage.client, SOON, |report| {
        report["memory"]["pending_embeddings"] == 0 && report["models"]["text embedding"]["state"] == "ready"
    })?;
    let broken = stage.command("search", json!({"query": "drops"}))?;
    let (event, episode) = (&broken["found"][0]["event"], &broken["found"][0]["episode"]);

    let alike = stage.command("search", json!({"similar_to": event}))?;
    assert_eq!(snippets(&alike)[0], "Anna breaks a coffee cup", "{alike}");
    assert_eq!((&alike["order"], &alike["plan"]), (&json!("likeness"), &json!("ball")), "{alike}");
    assert!(!snippets(&alike).iter().any(|text| text.contains("lawn") || text.contains("drops")), "{alike}");
    let looser = stage.command("search", json!({"similar_to": event, "likeness": 0.35}))?;
    assert!(snippets(&looser).contains(&"a mug falls to the floor and shatters"), "no word in common: {looser}");
    let narrowed = stage.command("search", json!({"similar_to": event, "likeness": 0.35, "query": "mug"}))?;
    assert_eq!((&narrowed["count"], snippets(&narrowed)[0]), (&json!(1), "a mug falls to the floor and shatters"));
    let episodes = stage.command("search", json!({"similar_to": episode}))?;
    assert_eq!(snippets(&episodes)[0], "Anna breaks a coffee cup", "{episodes}");
    assert_ne!(&episodes["found"][0]["episode"], episode, "{episodes}");

    let id = event.as_str().unwrap_or_default();
    let online = stage.agent.engram(&["search", "--like", id])?;
    assert_eq!(online.code, Some(0), "{}", online.stderr);
    assert!(
        online.stdout.contains("Anna breaks a coffee cup") && online.stdout.contains("most alike first"),
        "{}",
        online.stdout
    );

    stage.command("forget", json!({"episodes": [episodes["found"][0]["episode"]]}))?;
    let left = stage.command("search", json!({"similar_to": event}))?;
    assert!(!snippets(&left).contains(&"Anna breaks a coffee cup"), "{left}");

    stage.agent.stop()?;
    let offline = stage.agent.engram(&["--json", "search", "--like", id, "--likeness", "0.35", "mug"])?;
    assert_eq!(offline.code, Some(0), "{}", offline.stderr);
    let reply: Value = serde_json::from_str(&offline.stdout)?;
    assert_eq!(snippets(&reply), ["a mug falls to the floor and shatters"], "{reply}");
    Ok(())
}
