//! What a camera showed can be looked at again: in the answer, as a clip, on a phone; and is gone when it shall be.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::{Stage, free_port, media, run_to_end, until};
use serde_json::{Value, json};

/// A live camera needs some seconds for a segment; a busy machine more.
const FILMING: Duration = Duration::from_secs(90);
const TOKEN: &str = "a token of 24 characters";

/// A drawn camera that is recorded.
fn filming(robot: &str, port: Option<u16>) -> Result<Stage> {
    let stage = Stage::with(robot, |builder| {
        let builder = builder
            .source("eye", "test")
            .set("recording.enabled", true)
            .set("recording.keep_free_mib", 0)
            .set("recording.chunk_s", 2.0)
            .set("mqtt.allow.pause", true)
            .set("mqtt.allow.resume", true)
            .set("mqtt.allow.forget", true);
        match port {
            Some(port) => builder
                .set("recording.server.enabled", true)
                .set("recording.server.token", TOKEN)
                .set("recording.server.url", format!("http://127.0.0.1:{port}"))
                .set("recording.server.listen", format!("127.0.0.1:{port}")),
            None => builder,
        }
    })?;
    stage.agent.health(&stage.client, FILMING, |report| {
        report["sources"]["eye"]["segments"].as_u64() >= Some(1) && report["disk"]["media_bytes"].as_u64() > Some(0)
    })?;
    Ok(stage)
}

/// The newest episode that has a recording.
fn recorded_episode(stage: &Stage) -> Result<Value> {
    until("an episode with its recording", FILMING, || {
        let page = stage.command("list", json!({"limit": 5}))?;
        let episodes = page["episodes"].as_array().cloned().unwrap_or_default();
        Ok(episodes.into_iter().find(|episode| episode["media"].is_string()))
    })
}

/// In the order of time: the milliseconds at the end of a name have no leading zeros.
fn chunks(stage: &Stage) -> Vec<PathBuf> {
    let folder = stage.agent.data_dir().join("media/eye");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    found
}

/// Whether GStreamer plays it to its end.
fn plays(path: &Path) -> Result<()> {
    let ended = run_to_end(
        std::process::Command::new("gst-launch-1.0")
            .args(["-q", "filesrc"])
            .arg(format!("location={}", path.display()))
            .args([
                "!",
                "decodebin",
                "name=d",
                "d.",
                "!",
                "queue",
                "!",
                "videoconvert",
                "!",
                "fakesink",
                "d.",
                "!",
                "queue",
                "!",
                "audioconvert",
                "!",
                "fakesink",
            ]),
        FILMING,
    )?;
    ensure!(ended.code == Some(0), "{} does not play: {}", path.display(), ended.stderr);
    Ok(())
}

/// Status, headers and body.
fn get(port: u16, path: &str, header: &str) -> Result<(u16, String, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(FILMING))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n")?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply)?;
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n").context("a reply has headers")?;
    let headers = String::from_utf8_lossy(&reply[..end]).into_owned();
    let status = headers.split_whitespace().nth(1).and_then(|status| status.parse().ok()).context("a status")?;
    Ok((status, headers, reply[end + 4..].to_vec()))
}

#[test]
fn what_a_camera_showed_is_cut_out_while_it_films_and_afterwards() -> Result<()> {
    let mut stage = filming("filming", None)?;
    let episode = recorded_episode(&stage)?;
    let media = episode["media"].as_str().unwrap_or_default();
    let path = PathBuf::from(media.strip_prefix("file://").with_context(|| format!("{media} is no file"))?);
    ensure!(path.is_file() && episode["media_start_s"].is_number(), "{episode}");
    let id = episode["id"].as_str().unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let mkv = folder.path().join("evidence.mkv");
    let out = mkv.display().to_string();
    let seconds = episode["stream_end_s"].as_f64().unwrap_or(0.0) - episode["stream_start_s"].as_f64().unwrap_or(0.0);
    let cut = stage.agent.engram(&["--json", "clip", id, "-o", &out])?;
    ensure!(cut.code == Some(0), "{}{}", cut.stdout, cut.stderr);
    let length = serde_json::from_str::<Value>(&cut.stdout)?["seconds"].as_f64().unwrap_or(0.0);
    ensure!(length > 0.5 && length <= seconds + 0.1, "{length} s of {seconds} s");
    plays(&mkv)?;
    let again = stage.agent.engram(&["clip", id, "-o", &out])?;
    ensure!(again.code == Some(2) && again.stderr.contains("--force"), "a file is not overwritten: {}", again.stderr);

    stage.agent.stop()?;
    for chunk in chunks(&stage) {
        plays(&chunk)?;
    }
    let mp4 = folder.path().join("evidence.mp4").display().to_string();
    let (start, end) = (episode["start"].as_str().unwrap_or_default(), episode["end"].as_str().unwrap_or_default());
    let cut = stage.agent.engram(&["clip", "--since", start, "--until", end, "-o", &mp4])?;
    ensure!(cut.code == Some(0), "{}{}", cut.stdout, cut.stderr);
    plays(Path::new(&mp4))?;
    let nothing =
        stage.agent.engram(&["clip", "--since", "2001-01-01", "--until", "2001-01-02", "-o", &out, "--force"])?;
    ensure!(nothing.code == Some(7), "{:?} {}", nothing.code, nothing.stderr);
    stage.check()
}

#[test]
fn a_pause_leaves_no_recording_and_forgetting_deletes_it() -> Result<()> {
    let mut stage = filming("private", None)?;
    let reply = stage.command("pause", json!({}))?;
    ensure!(reply["paused"] == true, "{reply}");
    stage.agent.health(&stage.client, FILMING, |report| report["sources"]["eye"]["state"] == "paused")?;
    let sizes = |paths: &[PathBuf]| -> Vec<u64> {
        paths.iter().map(|path| std::fs::metadata(path).map_or(0, |about| about.len())).collect()
    };
    let topic = format!("engram/{}/health", stage.agent.robot());
    let a_second = || stage.client.message_after(stage.client.mark(), &topic, FILMING, |_| true);
    // What was filmed before the pause may still be on its way to the disk. A source that goes on never comes to rest.
    let mut written = Vec::new();
    let mut before = chunks(&stage);
    for _ in 0..20 {
        if written == sizes(&before) {
            break;
        }
        written = sizes(&before);
        a_second()?;
        before = chunks(&stage);
    }
    ensure!(!before.is_empty(), "something was recorded");
    a_second()?;
    a_second()?;
    ensure!(chunks(&stage) == before && sizes(&before) == written, "nothing is written while paused");

    let page = stage.command("list", json!({"limit": 200}))?;
    let episodes = page["episodes"].as_array().cloned().unwrap_or_default();
    let ids: Vec<&Value> = episodes.iter().map(|episode| &episode["id"]).collect();
    let reply = stage.command("forget", json!({"episodes": ids}))?;
    ensure!(reply["state"] == "succeeded", "{reply}");
    let left: Vec<PathBuf> = before.iter().filter(|path| path.exists()).cloned().collect();
    // What came after the last segment was never remembered, and cannot be forgotten with it.
    ensure!(left.len() < before.len() && !left.contains(&before[0]), "{left:?} are left of {before:?}");
    let reply = stage.command("forget", json!({"since": "2000-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z"}))?;
    ensure!(reply["state"] == "succeeded", "{reply}");
    ensure!(chunks(&stage).is_empty(), "{:?}", chunks(&stage));
    stage.agent.stop()?;
    stage.check()
}

#[test]
fn a_phone_opens_evidence_with_the_token_and_nobody_without_it() -> Result<()> {
    let port = free_port()?;
    let mut stage = filming("open", Some(port))?;
    let episode = recorded_episode(&stage)?;
    let media = episode["media"].as_str().unwrap_or_default();
    let address =
        media.strip_prefix(&format!("http://127.0.0.1:{port}")).with_context(|| format!("{media} is no link"))?;
    let (path, fragment) = address.split_once("#t=").context("a link says where it begins")?;
    ensure!(fragment.parse::<f64>().is_ok() && !media.contains(TOKEN), "{media}");
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");

    let (status, headers, whole) = get(port, path, &bearer)?;
    ensure!(status == 200 && headers.to_ascii_lowercase().contains("video/x-matroska"), "{headers}");
    ensure!(whole.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]), "it is Matroska");
    let (status, headers, part) = get(port, path, &format!("{bearer}Range: bytes=4-19\r\n"))?;
    ensure!(status == 206 && part == whole[4..20] && headers.contains("bytes 4-19/"), "{headers}");
    let asked = format!("{path}?token={}", TOKEN.replace(' ', "%20"));
    ensure!(get(port, &asked, "")?.0 == 200, "the token may be in the address");
    ensure!(get(port, path, &format!("{bearer}Range: bytes=99999999999-\r\n"))?.0 == 416, "beyond the end");

    for (path, header, expected) in [
        (path, "", 401),
        (path, "Authorization: Bearer a token of 24 charactert\r\n", 401),
        ("/media/eye/../../memory/memory.redb", bearer.as_str(), 404),
        ("/media/eye/..%2F..%2Fmemory%2Fmemory.redb", bearer.as_str(), 404),
        ("/media/..%2Fmemory/CURRENT", bearer.as_str(), 404),
        ("/media/eye/0-0.mkv", bearer.as_str(), 404),
        ("/etc/passwd", bearer.as_str(), 404),
    ] {
        let (status, headers, body) = get(port, path, header)?;
        ensure!(status == expected && body.len() < 200, "{path}: {headers}");
    }
    stage.agent.stop()
}

#[test]
fn a_film_is_its_own_recording() -> Result<()> {
    let clip = media::talk()?;
    let mut stage = Stage::with("film", |builder| builder.file("film", &clip).set("recording.enabled", true))?;
    stage.agent.health(&stage.client, FILMING, |report| report["sources"]["film"]["state"] == "ended")?;
    let answer = stage.ask("Where is the parcel for Anna?")?;
    let best = &answer["evidence"][0];
    ensure!(best["media"] == format!("file://{}", clip.display()), "{best}");
    ensure!(best["media_start_s"] == best["stream_start_s"], "{best}");
    let episode = best["episode"].as_str().unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("parcel.mkv");
    let cut = stage.agent.engram(&["--json", "clip", episode, "-o", &out.display().to_string()])?;
    ensure!(cut.code == Some(0), "{}{}", cut.stdout, cut.stderr);
    plays(&out)?;
    ensure!(!stage.agent.data_dir().join("media").exists(), "a film is not copied");
    stage.agent.stop()
}

#[test]
fn a_server_without_a_token_is_refused_by_config_check() -> Result<()> {
    let stage = Stage::start("careful")?;
    let check = stage.agent.engram(&["config", "check", "--set", "recording.server.enabled=true"])?;
    ensure!(check.code == Some(3) && check.stderr.contains("recording.server.token_file"), "{}", check.stderr);
    let check = stage.agent.engram(&["config", "check", "--set", "recording.server.token=short"])?;
    ensure!(check.code == Some(3) && check.stderr.contains("guessed"), "{}", check.stderr);
    Ok(())
}
