//! `[mcp] listen`: the memory over HTTP, for whoever knows the token and for no web page.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result};
use engram_tests::{Stage, eventually, free_port, read_result};
use serde_json::{Value, json};

const TOKEN: &str = "a token of 24 characters";
const WAIT: Duration = Duration::from_secs(30);

struct Served {
    stage: Stage,
    port: u16,
}

fn served(robot: &str, forget: bool) -> Result<Served> {
    let port = free_port()?;
    let stage = Stage::with(robot, |builder| {
        builder.set("mcp.listen", format!("127.0.0.1:{port}")).set("mcp.token", TOKEN).set("mcp.forget", forget)
    })?;
    stage.tell("mug", "The blue mug stands on the kitchen table.")?;
    Ok(Served { stage, port })
}

impl Served {
    fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).context("nobody listens")?;
        stream.set_read_timeout(Some(WAIT))?;
        Ok(stream)
    }

    /// Sends a body with these header lines; returns the status and the body of the response.
    fn post(&self, headers: &[String], body: &str) -> Result<(u16, String)> {
        let mut stream = self.connect()?;
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        headers.iter().for_each(|line| head.push_str(&format!("{line}\r\n")));
        // A server that refuses may close before it has read everything.
        stream.write_all([head.as_str(), "\r\n", body].concat().as_bytes()).ok();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).ok();
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        let (_, body) = text.split_once("\r\n\r\n").unwrap_or_default();
        Ok((status.with_context(|| format!("no HTTP: {text}"))?, body.to_owned()))
    }

    fn request(&self, id: u64, method: &str, params: Value) -> Result<Value> {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let (status, body) = self.post(&[bearer(TOKEN)], &body)?;
        serde_json::from_str(&body).with_context(|| format!("{status}: {body}"))
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<(bool, Value)> {
        let reply = self.request(7, "tools/call", json!({"name": tool, "arguments": arguments}))?;
        read_result(&reply["result"]).with_context(|| format!("{tool}: {reply}"))
    }
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn listing() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string()
}

#[test]
fn whoever_knows_the_token_uses_the_memory() -> Result<()> {
    let served = served("mcp-http", false)?;
    let shaken = served.request(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
    )?;
    assert_eq!(shaken["result"]["serverInfo"]["name"], "engram", "{shaken}");
    let listed = served.request(2, "tools/list", json!({}))?;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(11), "{listed}");
    let (_, told) = served.call("observe", json!({"text": "Ben: The parcel is in the hallway.", "entity": "Ben"}))?;
    assert_eq!(told["remembered"], true, "{told}");
    let (_, answer) = served.call("ask", json!({"question": "Where is the parcel?"}))?;
    assert!(answer["answer"].as_str().is_some_and(|text| text.to_lowercase().contains("hallway")), "{answer}");
    let event = &answer["evidence"][0]["event"];
    let (_, opened) = served.call("get_episode", json!({"event": event}))?;
    assert_eq!(opened["observation"], told["id"], "{opened}");
    let (_, status) = served.call("get_status", json!({}))?;
    assert_eq!((&status["robot"], &status["status"]), (&json!("mcp-http"), &json!("online")), "{status}");
    for (tool, arguments, said) in [
        ("ask", json!({"question": 7}), "`question` must be a text"),
        ("get_episode", json!({"episode": "ep-4096"}), "there is no episode"),
        ("get_picture", json!({"event": event}), "no recording shows"),
        ("observe", json!({"text": "x", "kind": "smell"}), "one of text"),
    ] {
        let (failed, body) = served.call(tool, arguments)?;
        assert!(failed && body["error"]["message"].as_str().is_some_and(|message| message.contains(said)), "{body}");
    }
    // What is told here is told to the same memory.
    let answer = served.stage.ask("Where is the parcel?")?;
    assert!(answer["answer"].as_str().is_some_and(|text| text.to_lowercase().contains("hallway")), "{answer}");
    Ok(())
}

#[test]
fn without_the_token_nobody_learns_anything() -> Result<()> {
    let served = served("mcp-token", false)?;
    for headers in [vec![], vec![bearer("a wrong token of 24 chars")], vec!["Authorization: Basic YTpi".to_owned()]] {
        let (status, body) = served.post(&headers, &listing())?;
        assert!(status == 401 && !body.contains("ask"), "{status}: {body}");
    }
    let (status, body) = served.post(&[bearer(TOKEN)], &listing())?;
    assert!(status == 200 && body.contains("search_memory"), "{status}: {body}");
    Ok(())
}

#[test]
fn no_web_page_uses_it_in_the_name_of_a_person() -> Result<()> {
    let served = served("mcp-origin", false)?;
    for line in ["Origin: http://evil.example", "Origin: null", "Host: evil.example"] {
        let (status, body) = served.post(&[bearer(TOKEN), line.to_owned()], &listing())?;
        assert!(status == 403 && !body.contains("search_memory"), "{line}: {status}: {body}");
    }
    // Its own address is nobody else's page.
    let own = format!("Origin: http://127.0.0.1:{}", served.port);
    let (status, body) = served.post(&[bearer(TOKEN), own], &listing())?;
    assert_eq!(status, 200, "{body}");
    let port = free_port()?;
    let stage = Stage::with("mcp-page", |builder| {
        builder
            .set("mcp.listen", format!("127.0.0.1:{port}"))
            .set("mcp.token", TOKEN)
            .set("mcp.origins", vec!["https://chat.example.com:443".to_owned()])
    })?;
    let served = Served { stage, port };
    for (origin, expected) in [("https://chat.example.com", 200), ("http://chat.example.com", 403)] {
        let (status, body) = served.post(&[bearer(TOKEN), format!("Origin: {origin}")], &listing())?;
        assert_eq!(status, expected, "{origin}: {body}");
    }
    Ok(())
}

#[test]
fn two_clients_at_once_and_a_restart_between_two_requests_are_no_problem() -> Result<()> {
    let mut served = served("mcp-pair", false)?;
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    for _ in 0..20 {
                        let (_, answer) = served.call("ask", json!({"question": "Where is the blue mug?"}))?;
                        assert!(answer["answer"].as_str().is_some_and(|text| text.contains("kitchen")), "{answer}");
                    }
                    Ok(())
                })
            })
            .collect();
        asking.into_iter().try_for_each(|one| one.join().expect("no client panics"))
    })?;
    served.stage.agent.kill()?;
    served.stage.agent.restart(&served.stage.client)?;
    let (_, answer) = served.call("ask", json!({"question": "Where is the blue mug?"}))?;
    assert!(answer["answer"].is_string(), "{answer}");
    Ok(())
}

#[test]
fn what_is_too_large_or_no_request_is_refused_and_a_flood_of_connections_is_bounded() -> Result<()> {
    let served = served("mcp-http-flood", false)?;
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "x".repeat(3 << 20)}}});
    let (status, _) = served.post(&[bearer(TOKEN)], &long.to_string())?;
    assert_eq!(status, 413);
    for body in ["no JSON", "[]", "{}", r#"{"jsonrpc": "2.0", "id": 1}"#] {
        let (status, said) = served.post(&[bearer(TOKEN)], body)?;
        assert!((400..500).contains(&status), "{body}: {status}: {said}");
    }
    // More silent connections than there are places for one address.
    let silent: Vec<TcpStream> = (0..100).filter_map(|_| served.connect().ok()).collect();
    drop(silent);
    eventually("a place for an honest client", WAIT, || {
        served.call("get_status", json!({})).ok().filter(|(failed, _)| !failed)
    })?;
    let resident =
        served.stage.agent.health(&served.stage.client, WAIT, |health| health["process"]["resident_mib"].is_u64())?;
    assert!(resident["process"]["resident_mib"].as_u64() < Some(500), "{resident}");
    Ok(())
}

#[test]
fn a_connection_that_is_cut_takes_only_its_own_answer() -> Result<()> {
    let served = served("mcp-http-cut", false)?;
    let ask = json!({"name": "ask", "arguments": {"question": "Where is the blue mug?"}});
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ask}).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{}\r\nContent-Length: {}\r\n\r\n",
        served.port,
        bearer(TOKEN),
        ask.len()
    );
    let whole = [head.as_str(), &ask].concat();
    // In the head, in the body, and before the answer is read.
    for cut in [20, head.len() + 5, whole.len()] {
        for _ in 0..20 {
            let mut stream = served.connect()?;
            stream.write_all(&whole.as_bytes()[..cut])?;
            drop(stream);
        }
        // Their places are free again at once, or a moment later.
        let question = json!({"question": "Where is the blue mug?"});
        let answered = || served.call("ask", question.clone()).ok().filter(|(failed, _)| !failed);
        let (_, answer) = eventually("an answer after cut connections", WAIT, answered)?;
        assert!(answer["answer"].is_string(), "after {cut} bytes: {answer}");
    }
    Ok(())
}

#[test]
fn forget_is_offered_only_where_the_configuration_says_so() -> Result<()> {
    let served = served("mcp-http-forget", true)?;
    let (_, preview) = served.call("forget", json!({"entity": "mug"}))?;
    assert_eq!((&preview["forgotten"], &preview["events"]), (&json!(false), &json!(1)), "{preview}");
    let (_, done) = served.call("forget", json!({"entity": "mug", "confirm": true}))?;
    assert_eq!((&done["forgotten"], &done["events"]), (&json!(true), &json!(1)), "{done}");
    let (_, answer) = served.call("ask", json!({"question": "Where is the blue mug?"}))?;
    assert!(answer["answer"].is_null(), "{answer}");

    let denied = self::served("mcp-http-deny", false)?;
    let reply = denied.request(1, "tools/call", json!({"name": "forget", "arguments": {"entity": "mug"}}))?;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    Ok(())
}
