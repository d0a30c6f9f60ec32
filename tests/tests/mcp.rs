//! `engram mcp`: a language model's way to the memory, with everything that a client can do wrong.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, McpClient, SOON, Stage, until};
use serde_json::{Value, json};

fn client(stage: &Stage, words: &[&str]) -> Result<McpClient> {
    McpClient::start(stage.agent.config_file(), words)
}

fn names(reply: &Value) -> Vec<&str> {
    reply["result"]["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn a_client_shakes_hands_and_sees_the_tools_with_what_they_do() -> Result<()> {
    let stage = Stage::start("mcp-tools")?;
    let mut client = McpClient::spawn(stage.agent.config_file(), &[])?;
    let server = client.initialize()?;
    assert_eq!(server["serverInfo"]["name"], "engram", "{server}");
    assert!(server["instructions"].as_str().is_some_and(|text| text.contains("memory")), "{server}");
    for unused in ["sampling", "roots", "logging"] {
        assert!(server["capabilities"][unused].is_null(), "{server}");
    }
    let listed = client.request("tools/list", json!({}))?;
    let expected = [
        "ask",
        "search_memory",
        "list_episodes",
        "get_episode",
        "get_facts",
        "get_persons",
        "get_procedure",
        "next_step",
        "get_picture",
        "observe",
        "get_status",
    ];
    assert_eq!(names(&listed), expected);
    for tool in listed["result"]["tools"].as_array().context("a list")? {
        let annotations = &tool["annotations"];
        assert_eq!(annotations["readOnlyHint"], tool["name"] != "observe", "{tool}");
        assert_eq!((&annotations["destructiveHint"], &annotations["openWorldHint"]), (&json!(false), &json!(false)));
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    assert_eq!(client.close()?, Some(0));
    Ok(())
}

#[test]
fn every_tool_answers_with_the_time_and_a_short_result() -> Result<()> {
    let stage = Stage::start("mcp-every")?;
    for (number, step) in ["boil water", "put the tea bag into the cup", "pour the water"].iter().enumerate() {
        let told = stage.observe(json!({
            "text": step, "kind": "action", "source": "test", "id": format!("tea-{number}"),
            "at": format!("2026-11-20T08:0{number}:00Z"),
            "attributes": {"session": "s-1", "task": "make tea"},
        }))?;
        assert_eq!(told["accepted"], 1, "{told}");
    }
    let mut client = client(&stage, &[])?;
    let text = "Anna: I put the blue mug on the shelf.";
    let told =
        client.result("observe", json!({"text": text, "entity": "Anna", "place": "kitchen", "confidence": 0.9}))?;
    assert_eq!((&told["remembered"], &told["known_already"]), (&json!(true), &json!(false)), "{told}");

    let answer = client.result("ask", json!({"question": "Where is the blue mug?", "limit": 1}))?;
    assert!(answer["answer"].as_str().is_some_and(|text| text.to_lowercase().contains("shelf")), "{answer}");
    assert!(answer["confidence"].as_f64().is_some_and(|confidence| confidence > 0.5), "{answer}");
    let best = answer["evidence"][0].clone();
    assert_eq!((&best["text"], &best["place"]), (&json!(text), &json!("kitchen")), "{answer}");
    assert!(answer["evidence"].as_array().is_some_and(|evidence| evidence.len() == 1), "{answer}");
    assert!(answer.get("trace").is_none() && answer.get("elapsed_ms").is_none(), "{answer}");
    let chosen = client
        .result("ask", json!({"question": "Where is the blue mug?", "options": ["in the car", "on the shelf"]}))?;
    assert_eq!(chosen["choice"], 1, "{chosen}");
    let nothing = client.result("ask", json!({"question": "Where is the blue mug?", "until": "2026-11-19"}))?;
    assert!(nothing["answer"].is_null() && nothing["reason"].is_string(), "{nothing}");

    let found = client.result("search_memory", json!({"query": "blue mug", "since": "1h"}))?;
    assert_eq!(found["events"][0]["event"], best["event"], "{found}");
    assert!(found["events"][0]["text"].as_str().is_some_and(|text| text.contains("the **blue** **mug**")), "{found}");
    let elsewhere = json!({"query": "blue mug", "near": {"x": 50, "y": 50, "radius": 1}});
    assert_eq!(client.result("search_memory", elsewhere)?["count"], 0, "nothing was told with a pose");
    let unknown = client.result("search_memory", json!({"query": "blue mug zebra", "best": true}))?;
    assert_eq!((&unknown["count"], &unknown["words"][2]["events"]), (&json!(0), &json!(0)), "{unknown}");
    assert_eq!(unknown["nearest_in_meaning"][0]["event"], best["event"], "{unknown}");
    let (failed, unclosed) = client.call("search_memory", json!({"query": "\"blue mug"}))?;
    assert!(
        failed && unclosed["error"]["message"].as_str().is_some_and(|text| text.contains("not closed")),
        "{unclosed}"
    );
    for (arguments, advice) in [
        (json!({"similar_to": best["event"]}), "has no embedding"),
        (json!({"similar_to": "ev-99999", "query": "mug"}), "there is no ev-99999"),
        (json!({"limit": 3}), "give words in `query`"),
    ] {
        let (failed, refused) = client.call("search_memory", arguments)?;
        let said = refused["error"]["message"].as_str().is_some_and(|text| text.contains(advice));
        assert!(failed && said, "{refused}");
    }
    let episodes = client.result("list_episodes", json!({"entity": "Anna", "limit": 1}))?;
    assert_eq!(episodes["episodes"][0]["id"], best["episode"], "{episodes}");
    let episode = client.result("get_episode", json!({"episode": best["episode"]}))?;
    assert!(episode["events"].as_array().is_some_and(|events| !events.is_empty()), "{episode}");
    let event = client.result("get_episode", json!({"event": best["event"]}))?;
    assert_eq!((&event["text"], &event["origin"]), (&json!(text), &json!("told")), "{event}");
    let persons = client.result("get_persons", json!({}))?;
    assert_eq!(persons["names"][0]["name"], "Anna", "{persons}");

    let facts = until("the facts that are learned in the background", SOON, || {
        let facts = client.result("get_facts", json!({"about": "blue mug"}))?;
        Ok(facts["facts"].as_array().is_some_and(|facts| !facts.is_empty()).then_some(facts))
    })?;
    assert!(facts["facts"][0]["value"].as_str().is_some_and(|value| value.contains("shelf")), "{facts}");
    let tasks = until("the procedure that is learned in the background", SOON, || {
        let tasks = client.result("get_procedure", json!({}))?;
        Ok(tasks["procedures"].as_array().is_some_and(|tasks| !tasks.is_empty()).then_some(tasks))
    })?;
    assert_eq!(tasks["procedures"][0]["goal"], "make tea", "{tasks}");
    let tea = client.result("get_procedure", json!({"goal": "make tea"}))?;
    assert_eq!(tea["ways"][0]["steps"].as_array().map(Vec::len), Some(3), "{tea}");
    let next = client.result("next_step", json!({"goal": "make tea", "done": ["boil water"]}))?;
    assert!(next["next"][0]["step"].as_str().is_some_and(|step| step.contains("tea bag")), "{next}");
    let status = client.result("get_status", json!({}))?;
    assert_eq!((&status["robot"], &status["status"]), (&json!("mcp-every"), &json!("online")), "{status}");

    let (failed, picture) = client.call("get_picture", json!({"event": best["event"]}))?;
    assert!(failed && picture["error"]["code"] == "bad_request", "nothing recorded it: {picture}");
    for body in [
        answer, chosen, nothing, found, unknown, episodes, episode, event, persons, facts, tasks, tea, next, status,
        picture,
    ] {
        assert!(body["now"].as_str().is_some_and(|now| now.starts_with("20")), "{body}");
        assert!(body.to_string().len() < 4096, "too long for a model: {body}");
    }
    Ok(())
}

#[test]
fn resources_are_the_clock_the_health_and_episodes() -> Result<()> {
    let stage = Stage::start("mcp-resources")?;
    stage.tell("mug", "The blue mug stands on the kitchen table.")?;
    let mut client = client(&stage, &[])?;
    let listed = client.request("resources/list", json!({}))?;
    assert_eq!(listed["result"]["resources"].as_array().map(Vec::len), Some(2), "{listed}");
    let templates = client.request("resources/templates/list", json!({}))?;
    assert_eq!(templates["result"]["resourceTemplates"].as_array().map(Vec::len), Some(2), "{templates}");
    let mut read = |uri: &str| -> Result<Value> {
        let reply = client.request("resources/read", json!({"uri": uri}))?;
        let text = reply["result"]["contents"][0]["text"].as_str().with_context(|| format!("{uri}: {reply}"))?;
        Ok(serde_json::from_str(text)?)
    };
    assert!(read("engram://clock")?["now"].is_string());
    let health = read("engram://health")?;
    assert!(health["status"] == "online" && health["health"]["uptime_s"].is_u64(), "{health}");
    let episode = read("engram://episode/ep-1")?;
    assert_eq!(episode["events"][0]["text"], "The blue mug stands on the kitchen table.", "{episode}");
    for (uri, said) in [("engram://nothing", "there is no resource"), ("engram://episode/ep-99", "no episode ep-99")] {
        let reply = client.request("resources/read", json!({"uri": uri}))?;
        assert!(reply["error"]["message"].as_str().is_some_and(|message| message.contains(said)), "{reply}");
    }
    Ok(())
}

#[test]
fn what_the_camera_saw_comes_as_an_image() -> Result<()> {
    const FILMING: Duration = Duration::from_secs(90);
    let stage = Stage::with("mcp-picture", |builder| {
        builder
            .source("eye", "test")
            .set("recording.enabled", true)
            .set("recording.keep_free_mib", 0)
            .set("recording.chunk_s", 2.0)
    })?;
    let mut client = client(&stage, &[])?;
    let episode = until("an episode with a picture", FILMING, || {
        let page = client.result("list_episodes", json!({"limit": 5}))?;
        let episodes = page["episodes"].as_array().cloned().unwrap_or_default();
        Ok(episodes.into_iter().find(|episode| episode["picture"] == true))
    })?;
    // The moment may not be on the disk yet.
    let reply = until("its picture", FILMING, || {
        let reply = client.request(
            "tools/call",
            json!({"name": "get_picture", "arguments": {"episode": episode["id"], "width": 160}}),
        )?;
        Ok((reply["result"]["isError"] != true).then_some(reply))
    })?;
    let image = &reply["result"]["content"][0];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/jpeg")), "{reply}");
    assert!(image["data"].as_str().is_some_and(|data| data.starts_with("/9j/")), "it is a JPEG file");
    let (_, about) = engram_tests::read_result(&reply["result"])?;
    assert_eq!((&about["width"], &about["episode"]), (&json!(160), &episode["id"]), "{about}");
    let uri = format!("engram://picture/{}", episode["id"].as_str().unwrap_or_default());
    let read = client.request("resources/read", json!({"uri": uri}))?;
    assert!(read["result"]["contents"][0]["blob"].as_str().is_some_and(|data| data.starts_with("/9j/")), "{read}");
    // What is told while a camera films has a picture too, though nothing recorded the words.
    client.result("observe", json!({"text": "Anna: This is the place.", "entity": "Anna", "at": about["at"]}))?;
    let found = client.result("search_memory", json!({"query": "This is the place", "limit": 1}))?;
    let told = &found["events"][0]["event"];
    let (failed, picture) = client.call("get_picture", json!({"event": told}))?;
    assert!(!failed && picture["event"] == *told, "{picture}");
    // Strangers on an open broker see nothing.
    let refused = stage.command("picture", json!({"episode": episode["id"]}))?;
    assert_eq!(refused["error"]["code"], "forbidden", "{refused}");
    Ok(())
}

#[test]
fn wrong_calls_say_what_to_change_and_the_next_one_works() -> Result<()> {
    let stage = Stage::start("mcp-wrong")?;
    let mut client = client(&stage, &[])?;
    for (tool, arguments, said) in [
        ("ask", json!({}), "`question` is missing"),
        ("ask", json!({"question": 7}), "`question` must be a text"),
        ("ask", json!({"question": ""}), "question"),
        ("ask", json!({"question": "who?", "limit": 1000}), "from 1 to 20"),
        ("ask", json!({"question": "who?", "since": "soon"}), "is not a time"),
        ("ask", json!({"question": "who?", "top_k": 3}), "there is no argument `top_k`"),
        ("ask", json!({"question": "x".repeat(9 << 10)}), "8192"),
        ("get_episode", json!({}), "either `episode`"),
        ("get_episode", json!({"episode": "gist-1"}), "ep-42"),
        ("get_episode", json!({"episode": "ep-4096"}), "there is no episode"),
        ("list_episodes", json!({"cursor": "x"}), "cursor"),
        ("get_picture", json!({"event": "ev-4096"}), "there is no event"),
        ("next_step", json!({"goal": "fly to the moon"}), "`get_procedure` without arguments lists"),
        ("observe", json!({"text": "x", "kind": "smell"}), "one of text"),
        ("observe", json!({"text": "x", "confidence": 7}), "from 0 to 1"),
        ("observe", json!({"text": "x", "entity": "a/b"}), "`entity`"),
        ("observe", json!({"text": "x", "at": "2099-01-01"}), ""),
    ] {
        let (failed, body) = client.call(tool, arguments.clone())?;
        let message = body["error"]["message"].as_str().unwrap_or_default();
        assert!(failed && message.contains(said) && message.len() > 10, "{tool}: {body}");
        assert!(body["now"].is_string(), "{body}");
    }
    for (name, said) in [("smell", "the tools are ask, "), ("forget", "--allow-forget")] {
        let reply = client.request("tools/call", json!({"name": name, "arguments": {}}))?;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        assert!(reply["error"]["message"].as_str().is_some_and(|message| message.contains(said)), "{reply}");
    }
    let unknown = client.request("memory/read", json!({}))?;
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    client.result("get_status", json!({}))?;
    Ok(())
}

#[test]
fn lines_that_are_no_requests_are_refused_and_the_next_one_is_served() -> Result<()> {
    let stage = Stage::start("mcp-lines")?;
    let mut client = client(&stage, &[])?;
    let long = json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "x".repeat(3 << 20)}}});
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (line, code) in
        [(long.to_string(), -32600), ("hello".to_owned(), -32700), (deep, -32700), ("\u{0}".to_owned(), -32700)]
    {
        client.send(&line)?;
        let refused = client.reply(&Value::Null, SOON)?;
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert!(refused["error"]["message"].as_str().is_some_and(|message| message.len() > 20), "{refused}");
        client.result("get_status", json!({}))?;
    }
    client.send(r#"{"jsonrpc": "2.0", "id": 901, "method": 5}"#)?;
    assert_eq!(client.reply(&json!(901), SOON)?["error"]["code"], -32600);
    client.send(r#"{"jsonrpc": "2.0", "method": "notifications/nobody-knows-this"}"#)?;
    client.result("get_status", json!({}))?;
    Ok(())
}

#[test]
fn without_an_agent_or_a_broker_every_call_says_what_to_do_and_works_once_they_are_there() -> Result<()> {
    let mut broker = Broker::builder().down()?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("mcp.toml");
    std::fs::write(&config, format!("robot = \"late\"\n[mqtt]\nhost = \"localhost\"\nport = {}\n", broker.port()))?;
    let mut client = McpClient::start(&config, &[])?;
    let failure = |client: &mut McpClient, tool: &str, arguments: Value| -> Result<String> {
        let begin = Instant::now();
        let (failed, body) = client.call(tool, arguments)?;
        ensure!(failed && body["error"]["code"] == "unreachable", "{tool}: {body}");
        ensure!(begin.elapsed() < Duration::from_secs(10), "{tool} took {:?}", begin.elapsed());
        Ok(body["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    let message = failure(&mut client, "ask", json!({"question": "Where is the mug?"}))?;
    assert!(message.contains("is the broker at localhost:") && message.contains("--mqtt-host"), "{message}");
    broker.up()?;
    let message = failure(&mut client, "ask", json!({"question": "Where is the mug?"}))?;
    assert!(message.contains("`late`") && message.contains("engram run"), "{message}");
    let message = failure(&mut client, "observe", json!({"text": "The mug is on the shelf."}))?;
    assert!(message.contains("engram run"), "{message}");
    let status = client.result("get_status", json!({}))?;
    assert!(status["status"].as_str().is_some_and(|status| status.contains("no agent")), "{status}");
    let listener = broker.client()?;
    let _agent = Agent::builder(&broker, "late").start(&listener)?;
    client.result("observe", json!({"text": "The mug is on the shelf."}))?;
    let answer = client.result("ask", json!({"question": "Where is the mug?"}))?;
    assert!(answer["answer"].is_string(), "{answer}");
    Ok(())
}

#[test]
fn a_cut_connection_is_resumed_and_nothing_is_told_twice() -> Result<()> {
    let mut stage = Stage::start("mcp-cut")?;
    let mut client = client(&stage, &[])?;
    let told = client.result("observe", json!({"text": "The parcel is in the hallway."}))?;
    stage.broker.stop()?;
    let (failed, body) = client.call("ask", json!({"question": "Where is the parcel?"}))?;
    assert!(failed && body["error"]["code"] == "unreachable", "{body}");
    stage.broker.up()?;
    stage.client.wait_connected()?;
    let answer = until("an answer after the cut", Duration::from_secs(60), || {
        let (failed, body) = client.call("ask", json!({"question": "Where is the parcel?"}))?;
        Ok((!failed).then_some(body))
    })?;
    assert!(answer["answer"].as_str().is_some_and(|text| text.to_lowercase().contains("hallway")), "{answer}");
    // The same observation again, as a client sends it that heard no reply.
    let event = client.result("get_episode", json!({"event": "ev-1"}))?;
    let again = client
        .result("observe", json!({"text": "The parcel is in the hallway.", "id": told["id"], "at": event["at"]}))?;
    assert_eq!(again["known_already"], true, "{again}");
    assert_eq!(client.close()?, Some(0));
    // A client that went away without a word and one that comes back are new sessions of the same memory.
    let mut back = self::client(&stage, &[])?;
    back.result("ask", json!({"question": "Where is the parcel?"}))?;
    Ok(())
}

#[test]
fn two_clients_at_once_get_their_own_answers() -> Result<()> {
    let stage = Stage::start("mcp-two")?;
    stage.tell("mug", "The blue mug stands on the kitchen table.")?;
    stage.tell("parcel", "A parcel for Anna lies in the hallway.")?;
    let mut clients = [client(&stage, &[])?, client(&stage, &[])?];
    let questions = [("Where is the blue mug?", "kitchen table"), ("Where is the parcel?", "hallway")];
    for _ in 0..20 {
        let mut ids = Vec::new();
        for (client, (question, _)) in clients.iter_mut().zip(questions) {
            ids.push(client.request_later("tools/call", json!({"name": "ask", "arguments": {"question": question}}))?);
        }
        for ((client, (question, expected)), id) in clients.iter_mut().zip(questions).zip(ids) {
            let reply = client.reply(&id.into(), SOON)?;
            let (_, body) = engram_tests::read_result(&reply["result"])?;
            let answer = body["answer"].as_str().unwrap_or_default().to_lowercase();
            assert!(answer.contains(expected), "{question}: {body}");
        }
    }
    Ok(())
}

#[test]
fn a_flood_is_answered_in_full_within_a_bounded_memory() -> Result<()> {
    const CALLS: u64 = 2_000;
    let stage = Stage::start("mcp-flood")?;
    stage.tell("mug", "The blue mug stands on the kitchen table.")?;
    let mut client = client(&stage, &[])?;
    let mut ids = Vec::new();
    for number in 0..CALLS {
        let (name, arguments) = match number % 4 {
            0 => ("ask", json!({"question": "Where is the blue mug?"})),
            1 => ("smell", json!({})),
            2 => ("ask", json!({"question": 7})),
            _ => ("list_episodes", json!({})),
        };
        ids.push(client.request_later("tools/call", json!({"name": name, "arguments": arguments}))?);
    }
    for id in ids {
        let reply = client.reply(&id.into(), Duration::from_secs(120))?;
        assert!(reply["result"].is_object() || reply["error"]["code"] == -32602, "{reply}");
    }
    let resident = client.resident_mib()?;
    assert!(resident < 100, "{resident} MiB");
    client.result("ask", json!({"question": "Where is the blue mug?"}))?;
    Ok(())
}

#[test]
fn forgetting_has_to_be_allowed_twice_and_confirmed() -> Result<()> {
    let stage = Stage::with("mcp-forget", |builder| builder.set("mqtt.allow.forget", true))?;
    stage.tell("mug", "Anna: The blue mug stands on the kitchen table.")?;
    let mut client = client(&stage, &["--allow-forget"])?;
    let listed = client.request("tools/list", json!({}))?;
    let tools = listed["result"]["tools"].as_array().context("a list")?;
    let forget = tools.iter().find(|tool| tool["name"] == "forget").context("forget is offered")?;
    assert_eq!(forget["annotations"]["destructiveHint"], true, "{forget}");
    let preview = client.result("forget", json!({"entity": "Anna"}))?;
    assert_eq!((&preview["forgotten"], &preview["events"]), (&json!(false), &json!(1)), "{preview}");
    assert!(client.result("ask", json!({"question": "Where is the blue mug?"}))?["answer"].is_string());
    let done = client.result("forget", json!({"entity": "Anna", "confirm": true}))?;
    assert_eq!((&done["forgotten"], &done["events"]), (&json!(true), &json!(1)), "{done}");
    assert!(client.result("ask", json!({"question": "Where is the blue mug?"}))?["answer"].is_null());

    // The agent's own rule holds whatever the client was started with.
    let denied = Stage::start("mcp-denied")?;
    let mut client = self::client(&denied, &["--allow-forget"])?;
    let (failed, body) = client.call("forget", json!({"entity": "Anna", "confirm": true}))?;
    assert!(failed && body["error"]["code"] == "forbidden", "{body}");
    Ok(())
}

/// How long a model waits after the start of `engram mcp`. Ignored: a busy machine says nothing about it. docs/benchmarks.md
/// has the command.
#[test]
#[ignore = "a measurement, for a release build on a free machine"]
#[allow(clippy::print_stdout, reason = "the figures are what it is run for")]
fn first_answer_after_the_start() -> Result<()> {
    const STARTS: usize = 50;
    let stage = Stage::start("mcp-first")?;
    for number in 0..1_000 {
        let told = json!({"id": format!("n-{number}"), "text": format!("Box {number} stands on shelf {}.", number % 50), "source": "test"});
        assert_eq!(stage.observe(told)?["accepted"], 1);
    }
    let (mut shaken, mut answered, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..STARTS {
        let begin = Instant::now();
        let mut client = client(&stage, &[])?;
        shaken.push(begin.elapsed());
        let question = json!({"question": format!("Where is box {}?", number * 7)});
        let answer = client.result("ask", question.clone())?;
        answered.push(begin.elapsed());
        assert!(answer["answer"].is_string(), "{answer}");
        let begin = Instant::now();
        client.result("ask", question)?;
        second.push(begin.elapsed());
        client.close()?;
    }
    for (what, times) in [("handshake", &mut shaken), ("first answer", &mut answered), ("second answer", &mut second)] {
        times.sort_unstable();
        println!(
            "{what}: median {:?}, p95 {:?}, longest {:?}",
            times[STARTS / 2],
            times[STARTS * 95 / 100],
            times[STARTS - 1]
        );
    }
    assert!(answered[STARTS * 95 / 100] <= Duration::from_millis(300), "{answered:?}");
    Ok(())
}
