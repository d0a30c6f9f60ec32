//! The unit's own sandbox: the service sees, remembers and answers in it, and reaches nothing else.
//!
//! Without systemd as the first process it is made by bubblewrap from the directives of `systemd/engram.service` themselves;
//! what of them cannot be applied is printed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::sandbox::{Sandbox, Unit};
use engram_tests::{
    Broker, Client, Notifications, Process, SOON, engram, media, models_dir, repository, run_to_end, skipped,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A film, a live source and a recording; with the models in a debug build, on a busy machine.
const PLAYING: Duration = Duration::from_secs(150);

fn unit() -> Result<Unit> {
    Unit::parse(&fs::read_to_string(repository().join("systemd/engram.service"))?)
}

/// The sandbox of the unit, or a loud word that there is none here.
fn sandbox(unit: &Unit) -> Result<Option<Sandbox>> {
    match Sandbox::around(unit, &engram()?)? {
        Ok(sandbox) => Ok(Some(sandbox)),
        Err(why) => {
            skipped(&format!("********** the unit's sandbox was NOT tested: {why} **********"));
            Ok(None)
        }
    }
}

/// The service, started as the unit says.
struct Service {
    process: Process,
    /// Its number, outside.
    id: u32,
    client: Client,
    _broker: Broker,
}

impl Service {
    fn start(unit: &Unit, sandbox: &Sandbox, configuration: &str) -> Result<Self> {
        let broker = Broker::builder().password("robot", "correct horse").start()?;
        let client = broker.client()?;
        let broker_part = format!("[mqtt]\nport = {}\nusername = \"robot\"\nhealth_interval_s = 1\n", broker.port());
        sandbox.configure("engram.toml", &format!("robot = \"boxed\"\n{broker_part}{configuration}"))?;
        sandbox.credential("mqtt-password", "correct horse\n")?;
        for line in unit.values("ExecStartPre") {
            let ended = run_to_end(&mut sandbox.unit_command(line), SOON)?;
            ensure!(ended.code == Some(0), "{line}: {}{}", ended.stdout, ended.stderr);
        }
        let mut systemd = Notifications::listen(&sandbox.notify_socket())?;
        client.subscribe("engram/boxed/#")?;
        let mut process = Process::start("engram in the sandbox", &mut sandbox.unit_command(unit.last("ExecStart")?))?;
        let ready = systemd.until("READY=1 and a fed watchdog", SOON, |heard| {
            heard.count("READY=1") == 1 && heard.count("WATCHDOG=1") > 0
        });
        ready.with_context(|| format!("it said:\n{}", process.output()))?;
        let said = client.message("engram/boxed/status", SOON, |message| message.text() == "online");
        said.with_context(|| format!("it said:\n{}", process.output()))?;
        ensure!(process.ended()?.is_none(), "it ended:\n{}", process.output());
        // bubblewrap has one child, and that is the program.
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", process.id()))?;
        let id = children.split_whitespace().next().context("the sandbox has a process")?.parse()?;
        Ok(Self { process, id, client, _broker: broker })
    }

    fn health(&self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let found = self
            .client
            .message("engram/boxed/health", PLAYING, |message| message.json().is_ok_and(|report| wanted(&report)));
        found.with_context(|| format!("it said:\n{}", self.process.output()))?.json()
    }

    /// A line of `/proc/PID/status`.
    fn status(&self, name: &str) -> Result<String> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.id))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(line.with_context(|| format!("no {name} in:\n{text}"))?.trim().to_owned())
    }

    /// Ends it as systemd does.
    fn stop(mut self) -> Result<()> {
        let id = Pid::from_raw(i32::try_from(self.id)?).context("a process id")?;
        kill_process(id, Signal::TERM)?;
        let status = self.process.wait(SOON)?;
        ensure!(status.success(), "{status}; it said:\n{}", self.process.output());
        self.client.message("engram/boxed/status", SOON, |message| message.text() == "stopped")?;
        Ok(())
    }
}

fn state<'a>(report: &'a Value, source: &str) -> &'a str {
    report["sources"][source]["state"].as_str().unwrap_or("absent")
}

#[test]
fn in_the_units_sandbox_it_sees_records_remembers_and_answers() -> Result<()> {
    let unit = unit()?;
    let Some(sandbox) = sandbox(&unit)? else { return Ok(()) };
    for (directive, why) in sandbox.not_applied() {
        skipped(&format!("not applied in the unit's sandbox here: {directive} ({why})"));
    }
    let home = sandbox.outside("StateDirectory");
    fs::copy(media::talk()?, home.join("film.mkv"))?;
    let configuration = "[sources.film]\nuri = \"file:/var/lib/engram/film.mkv\"\nspeed = \"max\"\n\
                         [sources.eye]\nuri = \"test\"\n[recording]\nenabled = true\nkeep_free_mib = 0\nchunk_s = 2.0\n";
    let service = Service::start(&unit, &sandbox, configuration)?;
    service.health(|report| {
        state(report, "film") == "ended"
            && state(report, "eye") == "running"
            && report["sources"]["eye"]["segments"].as_u64() >= Some(1)
            && report["disk"]["media_bytes"].as_u64() > Some(0)
    })?;
    let told = json!({"id": "told", "text": "The spare key hangs behind the boiler.", "at": "2026-11-20T08:00:00Z"});
    let reply = service.client.observe("boxed", told)?;
    assert_eq!(reply["accepted"], 1, "{reply}");
    let seen = service.client.ask("boxed", "Where should the blue mug go?")?;
    assert!(seen["evidence"].to_string().contains("kitchen table"), "{seen}");
    let heard = service.client.ask("boxed", "Where does the spare key hang?")?;
    assert_eq!(heard["evidence"][0]["observations"][0], "told", "{heard}");

    // What was asked for is what it runs under.
    for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(service.status(name)?.trim_start_matches('0'), "", "{name}");
    }
    assert_eq!(service.status("NoNewPrivs")?, "1");
    assert_eq!(service.status("Umask")?, unit.last("UMask")?);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(service.status("Seccomp")?, "2", "no filter of system calls");
    }
    service.stop()?;
    let store = home.join("memory");
    assert!(store.is_dir(), "the memory is not in the state directory");
    assert_eq!(readable_by_others(&home)?, Vec::<String>::new());
    Ok(())
}

/// Files that somebody else could read, were the directory itself open.
fn readable_by_others(folder: &Path) -> Result<Vec<String>> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(readable_by_others(&path)?);
        } else if !path.ends_with("film.mkv") && path.symlink_metadata()?.permissions().mode() & 0o077 != 0 {
            found.push(path.display().to_string());
        }
    }
    Ok(found)
}

#[test]
fn the_encoders_run_in_the_units_sandbox() -> Result<()> {
    let unit = unit()?;
    let Some(models) = models_dir() else {
        skipped("no models here; drivers/scripts/fetch-models brings them");
        return Ok(());
    };
    let Some(sandbox) = sandbox(&unit)? else { return Ok(()) };
    let home = sandbox.outside("StateDirectory");
    let copied = run_to_end(Command::new("cp").arg("-rL").arg(&models).arg(home.join("models")), SOON)?;
    ensure!(copied.code == Some(0), "{}", copied.stderr);
    fs::copy(media::talk()?, home.join("film.mkv"))?;
    let service =
        Service::start(&unit, &sandbox, "[sources.film]\nuri = \"file:/var/lib/engram/film.mkv\"\nspeed = \"max\"\n")?;
    let report =
        service.health(|report| state(report, "film") == "ended" && report["memory"]["pending_embeddings"] == 0)?;
    let ready = report["models"].as_object().into_iter().flatten().filter(|(_, model)| model["state"] == "ready");
    assert!(ready.count() >= 3, "{report}");
    // No word of the question is in the subtitle: it is found by meaning.
    let answer = service.client.ask("boxed", "Which room is the delivery in?")?;
    assert!(answer["evidence"][0]["text"].as_str().is_some_and(|text| text.contains("parcel")), "{answer}");
    service.stop()
}

/// Tries everything that the sandbox is to forbid, and what it is to allow, and prints what came of it.
const PROBE: &str = r#"
import ctypes, errno, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def tried(work):
    try:
        work()
        return "done"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
def write(path):
    def work():
        with open(path, "w") as file:
            file.write("x")
    return tried(work)
def call(function, *arguments):
    def work():
        if function(*arguments) == -1:
            raise OSError(ctypes.get_errno(), "")
    return tried(work)
def connection(family, kind):
    return tried(lambda: socket.socket(family, kind).close())
print(json.dumps({
    "writes": {path: write(path) for path in [
        "/var/lib/engram/probe", "/run/engram/probe", "/var/cache/engram/probe", "/tmp/engram-probe", "/var/tmp/probe",
        "/probe", "/usr/probe", "/usr/bin/engram", "/etc/probe", "/etc/engram/engram.toml", "/var/lib/probe", "/var/probe",
        "/home/probe", "/root/probe", "/run/probe", "/opt/probe", "/sys/probe", "/proc/sys/kernel/hostname",
    ]},
    "nodes": {path: os.path.exists(path) for path in ["/dev/null", "/dev/urandom", "/dev/kmsg", "/dev/mem", "/dev/vda"]},
    "families": {
        "AF_INET": connection(socket.AF_INET, socket.SOCK_STREAM), "AF_UNIX": connection(socket.AF_UNIX, socket.SOCK_STREAM),
        "AF_PACKET": connection(socket.AF_PACKET, socket.SOCK_DGRAM), "AF_VSOCK": connection(40, socket.SOCK_STREAM),
    },
    "calls": {
        "unshare": call(libc.unshare, 0x10000000), "chroot": call(libc.chroot, b"/tmp"),
        "mount": call(libc.mount, b"none", b"/tmp", b"tmpfs", 0, None), "setuid": call(libc.setuid, 0),
        "personality": call(libc.personality, 0x0040000), "clock": call(libc.clock_settime, 0, bytes(16)),
        "realtime": call(libc.sched_setscheduler, 0, 1, bytes([1, 0, 0, 0])), "chmod": call(libc.chmod, b"/tmp", 0o4700),
        "reboot": call(libc.syscall, 169, 0, 0, 0, 0), "unheard": call(libc.syscall, 9999),
    },
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
    "homes": os.listdir("/root") + os.listdir("/home"),
}))
"#;

#[test]
fn nothing_outside_of_its_directories_can_be_written_in_the_units_sandbox() -> Result<()> {
    let unit = unit()?;
    let Some(sandbox) = sandbox(&unit)? else { return Ok(()) };
    let ended = run_to_end(&mut sandbox.command(["python3", "-c", PROBE]), SOON)?;
    ensure!(ended.code == Some(0), "{}{}", ended.stdout, ended.stderr);
    let found: Value = serde_json::from_str(&ended.stdout).with_context(|| ended.stdout.clone())?;
    let own = ["/var/lib/engram/", "/run/engram/", "/var/cache/engram/", "/tmp/", "/var/tmp/"];
    let writes = found["writes"].as_object().context("what was written")?;
    assert!(writes.len() > 15, "{found}");
    for (path, outcome) in writes {
        let may = own.iter().any(|own| path.starts_with(own));
        assert_eq!(outcome == "done", may, "{path}: {outcome}");
    }
    assert!(sandbox.outside("StateDirectory").join("probe").is_file());
    assert!(!Path::new("/tmp/engram-probe").exists(), "/tmp is not its own");
    let nodes =
        json!({"/dev/null": true, "/dev/urandom": true, "/dev/kmsg": false, "/dev/mem": false, "/dev/vda": false});
    assert_eq!(found["nodes"], nodes);
    assert_eq!(found["processes"], json!([1]), "it sees the processes of others");
    assert_eq!(found["homes"], json!([]), "it sees somebody's home");
    if cfg!(target_arch = "x86_64") {
        let families =
            json!({"AF_INET": "done", "AF_UNIX": "done", "AF_PACKET": "EAFNOSUPPORT", "AF_VSOCK": "EAFNOSUPPORT"});
        assert_eq!(found["families"], families);
        for (call, outcome) in found["calls"].as_object().context("calls")? {
            assert_eq!(outcome, if call == "unheard" { "ENOSYS" } else { "EPERM" }, "{call}");
        }
    }
    Ok(())
}

#[test]
fn a_directive_that_nobody_thought_about_is_an_error() -> Result<()> {
    let text = fs::read_to_string(repository().join("systemd/engram.service"))?;
    let unit = Unit::parse(&text.replace("[Service]", "[Service]\nBindPaths=/srv"))?;
    match Sandbox::around(&unit, &engram()?) {
        Err(error) => assert!(error.to_string().contains("BindPaths=/srv"), "{error:#}"),
        Ok(Err(why)) => skipped(&format!("********** the unit's sandbox was NOT tested: {why} **********")),
        Ok(Ok(_)) => panic!("a sandbox without the directive"),
    }
    Ok(())
}
