//! The program with a language model that a test plays: answers, health, doctor, captions, facts.

use anyhow::{Context, Result};
use engram_tests::{LanguageModel, ModelRequest, Play, SOON, Stage, evidence_ids, media};
use serde_json::{Value, json};

/// Chooses the first proposed answer that holds a word.
fn choosing(word: &'static str) -> impl Fn(usize, &ModelRequest) -> Play + Send + Sync {
    move |_, request| {
        if request.purpose() == "facts" {
            return Play::Say(json!({"facts": []}).to_string());
        }
        let data = request.data();
        let answers = data["answers"].as_array().cloned().unwrap_or_default();
        let chosen = answers.iter().find(|answer| answer["text"].as_str().is_some_and(|text| text.contains(word)));
        let said = match chosen {
            Some(answer) => json!({"answer": answer["id"], "evidence": answer["evidence"], "wording": ""}),
            None => json!({"answer": "none", "evidence": [], "wording": ""}),
        };
        Play::Say(said.to_string())
    }
}

fn stage(robot: &str, model: &LanguageModel) -> Result<Stage> {
    Stage::with(robot, |builder| {
        builder
            .set("llm.chat.url", model.url())
            .set("llm.chat.model", "stand-in")
            .set("llm.chat.token", "sk-of-the-test")
            .set("mqtt.limits.default_deadline_ms", 20_000)
    })
}

fn told(stage: &Stage) -> Result<()> {
    let mut last = None;
    for (id, text, at) in [
        ("m1", "I put the blue mug in the dishwasher.", "2026-11-20T08:00:00Z"),
        ("m2", "The blue mug is on the shelf.", "2026-11-20T09:00:00Z"),
    ] {
        let body = json!({"id": id, "kind": "text", "text": text, "entity": "Anna", "source": "asr", "at": at});
        let reply = stage.observe(body)?;
        assert_eq!(reply["accepted"], 1, "{reply}");
        last = reply["seq"].as_u64();
    }
    // A report from before says nothing of what was told since.
    let learnt = |report: &Value| report["memory"]["pending_lessons"] == 0 && report["memory"]["seq"].as_u64() >= last;
    stage.agent.health(&stage.client, SOON, learnt)?;
    Ok(())
}

#[test]
fn a_model_decides_among_the_proposed_answers_and_health_and_doctor_say_who_it_is() -> Result<()> {
    let model = LanguageModel::start(choosing("dishwasher"))?;
    let mut stage = stage("advised", &model)?;
    told(&stage)?;
    let answer = stage.ask("Where is the blue mug?")?;
    assert!(answer["answer"].as_str().is_some_and(|text| text.contains("dishwasher")), "{answer}");
    assert_eq!(evidence_ids(&answer).first().map(String::as_str), Some("m1"), "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|text| text.starts_with("the language model chose")), "{answer}");

    let report = stage.agent.health(&stage.client, SOON, |report| {
        report["language_models"]["llm.chat"]["tokens_today"].as_u64() >= Some(100)
    })?;
    let chat = &report["language_models"]["llm.chat"];
    assert_eq!(
        (&chat["state"], &chat["schemas"], &chat["model"]),
        (&json!("closed"), &json!("kept"), &json!("stand-in"))
    );
    assert_eq!(chat["leaves_the_machine"], false);
    let doctor = stage.agent.engram(&["doctor", "--json", "--no-broker"])?;
    let found: Value = serde_json::from_str(&doctor.stdout).with_context(|| doctor.stderr.clone())?;
    let findings = found["findings"].as_array().cloned().unwrap_or_default();
    let of = |check: &str| findings.iter().find(|finding| finding["check"] == check).cloned().unwrap_or_default();
    assert!(of("llm.chat")["found"].as_str().is_some_and(|text| text.contains("on this machine")), "{found}");
    assert!(of("llm.chat use")["found"].as_str().is_some_and(|text| text.contains("tokens")), "{found}");
    let shown = format!("{}{}{report}", doctor.stdout, stage.agent.output());
    assert!(!shown.contains("sk-of-the-test"), "the token is shown");
    assert!(!stage.agent.output().contains("dishwasher"), "what was said is in the log");
    stage.agent.stop()
}

#[test]
fn a_model_that_is_gone_is_named_in_answers_and_health_and_the_memory_answers_without_it() -> Result<()> {
    let model = LanguageModel::start(choosing("dishwasher"))?;
    let stage = stage("alone", &model)?;
    told(&stage)?;
    drop(model);
    for _ in 0..4 {
        let answer = stage.ask("Where is the blue mug?")?;
        assert!(answer["answer"].as_str().is_some_and(|text| text.starts_with("On the shelf")), "{answer}");
        let named = answer["degraded"].as_array().into_iter().flatten().filter_map(Value::as_str);
        assert_eq!(named.filter(|line| line.starts_with("llm.chat: ")).count(), 1, "{answer}");
    }
    stage.agent.health(&stage.client, SOON, |report| {
        let degraded = report["degraded"].as_array().cloned().unwrap_or_default();
        degraded.iter().any(|line| line.as_str().is_some_and(|line| line.starts_with("llm.chat: left alone after")))
    })?;
    Ok(())
}

#[test]
fn a_vision_model_fills_the_role_of_captions_and_what_it_says_is_found() -> Result<()> {
    let clip = media::talk()?;
    let model = LanguageModel::start(|number, _| {
        Play::Say(json!({"caption": format!("A zebra stands beside fountain number {number}.")}).to_string())
    })?;
    let mut stage = Stage::with("viewer", |builder| {
        builder.file("film", &clip).set("llm.vision.url", model.url()).set("llm.vision.model", "stand-in-vl")
    })?;
    let report = stage.agent.health(&stage.client, 5 * SOON, |report| report["sources"]["film"]["state"] == "ended")?;
    assert_eq!(report["models"]["captions"]["state"], "ready", "{report}");
    assert_eq!(report["models"]["captions"]["model"], "stand-in-vl");
    let answer = stage.ask("What stands beside the fountain?")?;
    let best = &answer["evidence"][0];
    assert!(best["text"].as_str().is_some_and(|text| text.contains("zebra stands beside fountain")), "{answer}");
    assert_eq!(best["attributes"]["described_by"], "stand-in-vl");
    assert!(best["stream_start_s"].is_number(), "{answer}");
    let requests = model.requests();
    let picture = requests[0].body["messages"][1]["content"][1]["image_url"]["url"].as_str().unwrap_or_default();
    assert!(picture.starts_with("data:image/jpeg;base64,/9j/"), "{}", &picture[..picture.len().min(60)]);
    stage.agent.stop()
}

#[test]
fn a_vision_model_sees_the_recording_where_a_thorough_question_looks_again() -> Result<()> {
    let clip = media::talk()?;
    let model = LanguageModel::start(|_, request| {
        let said = match request.purpose() {
            "looking" => {
                json!({"pictures": [1, 2], "seen": "A sundial stands beside the fountain.", "confidence": 0.95})
            }
            _ => json!({"caption": "A plain wall."}),
        };
        Play::Say(said.to_string())
    })?;
    let mut stage = Stage::with("looker", |builder| {
        builder
            .file("film", &clip)
            .set("llm.vision.url", model.url())
            .set("llm.vision.model", "stand-in-vl")
            // The program under test resizes pictures without vector instructions.
            .set("reasoning.deadline_s", 50.0)
    })?;
    stage.agent.health(&stage.client, 5 * SOON, |report| report["sources"]["film"]["state"] == "ended")?;
    let looks = || model.requests().into_iter().filter(|request| request.purpose() == "looking").collect::<Vec<_>>();
    let question = "Where was the sundial?";
    let known = stage.ask(question)?;
    assert!(known["answer"].is_null() && looks().is_empty(), "nobody asked to look: {known}");
    let thorough = json!({"question": question, "effort": "thorough", "trace": true});
    let answer = stage.client.ask_with(stage.agent.robot(), thorough.clone())?;
    assert!(answer["answer"].as_str().is_some_and(|text| text.contains("fountain")), "{answer}");
    assert_eq!(answer["route"], "agentic", "{answer}");
    let best = &answer["evidence"][0];
    assert_eq!(
        (&best["attributes"]["looked"], &best["attributes"]["derived"]),
        (&json!("clip_analyser"), &json!(true))
    );
    assert!(best["stream_start_s"].is_number() && best["media"].is_string(), "it points to the recording: {best}");
    let sent = looks();
    let picture = sent[0].body["messages"][1]["content"][1]["image_url"]["url"].as_str().unwrap_or_default();
    assert!(picture.starts_with("data:image/jpeg;base64,/9j/"), "{}", &picture[..picture.len().min(60)]);
    assert_eq!(sent[0].data()["question"], question);
    let again = stage.client.ask_with(stage.agent.robot(), thorough)?;
    assert_eq!(looks().len(), sent.len(), "the second asking is answered from memory: {again}");
    assert_eq!(again["answer"], answer["answer"]);
    stage.agent.stop()
}

#[test]
fn a_run_is_recorded_and_replayed_without_the_model() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let transcript = folder.path().join("run.jsonl").display().to_string();
    let model = LanguageModel::start(choosing("dishwasher"))?;
    let url = model.url();
    let ask = |stage: &Stage| {
        told(stage)?;
        let question = json!({"question": "Where is the blue mug?", "now": "2026-11-20T20:00:00Z"});
        let answer = stage.client.ask_with(stage.agent.robot(), question)?;
        Ok::<_, anyhow::Error>((answer["answer"].clone(), answer["reason"].clone(), evidence_ids(&answer)))
    };
    // Without models on both runs: a text embedding that is loaded a moment later proposes in another order, which is another
    // request.
    let no_models = folder.path().join("no models").display().to_string();
    let configured = |key: &'static str| {
        let (url, transcript, no_models) = (url.clone(), transcript.clone(), no_models.clone());
        Stage::with("twin", move |builder| {
            builder
                .set("llm.chat.url", url)
                .set("llm.chat.model", "stand-in")
                .set(key, transcript)
                .set("models.dir", no_models)
                .set("mqtt.limits.default_deadline_ms", 20_000)
        })
    };
    let recorded = ask(&configured("llm.record")?)?;
    let asked = model.requests().len();
    assert!(asked >= 1);
    let replayed = ask(&configured("llm.replay")?)?;
    assert_eq!(replayed, recorded);
    assert_eq!(model.requests().len(), asked, "the replay asks nobody");
    Ok(())
}
