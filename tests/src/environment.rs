//! Where things are.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

/// Root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies inside the repository").to_owned()
}

/// The folder of shared data (`ENGRAM_SHARED`, else `../shared` beside the repository), or `None` with a printed line.
pub fn shared(part: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ENGRAM_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let path = folder.join(part);
    if path.exists() {
        return path.canonicalize().ok();
    }
    skipped(&format!("{} is not there (ENGRAM_SHARED names another place)", path.display()));
    None
}

/// Says that a check was not made, and why: silence would look like success.
#[allow(clippy::print_stderr, reason = "said where the person runs it")]
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Where `drivers/scripts/fetch-models` leaves the models: `ENGRAM_MODELS_DIR`, else the user's data folder. `None` if
/// nothing was fetched.
pub fn models_dir() -> Option<PathBuf> {
    let path = std::env::var_os("ENGRAM_MODELS_DIR").map(PathBuf::from).or_else(|| {
        let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let data = data.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")));
        Some(data?.join("engram/models"))
    })?;
    path.is_dir().then_some(path)
}

/// The folder of the running executable's profile, for instance `target/debug`.
fn profile_dir() -> Result<PathBuf> {
    let executable = std::env::current_exe().context("this executable has no path")?;
    let folder = executable.parent().context("an executable lies in a folder")?;
    Ok(if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder }.to_owned())
}

/// Where made media is kept between runs.
///
/// # Errors
/// If the folder cannot be made.
pub fn fixtures_dir() -> Result<PathBuf> {
    let folder = profile_dir()?.join("fixtures");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The program under test.
///
/// # Errors
/// If it is not built.
pub fn engram() -> Result<PathBuf> {
    let path = match std::env::var_os("ENGRAM_BIN") {
        Some(path) => PathBuf::from(path),
        None => profile_dir()?.join("engram"),
    };
    if !path.is_file() {
        bail!("{} is not there: build it with `cargo build -p agent` or name it in ENGRAM_BIN", path.display());
    }
    path.canonicalize().with_context(|| format!("cannot resolve {}", path.display()))
}

/// A command that starts the program, through the runner of `ENGRAM_RUNNER` if there is one.
///
/// Variables that would configure the program from outside are removed.
///
/// # Errors
/// If the program is not built.
pub fn engram_command() -> Result<Command> {
    let program = engram()?;
    let runner = std::env::var("ENGRAM_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let mut command = match words.next() {
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(&program);
            command
        }
        None => Command::new(&program),
    };
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("ENGRAM__") || name_text == "ENGRAM_CONFIG" {
            command.env_remove(&name);
        }
    }
    command.env_remove("NOTIFY_SOCKET").env_remove("JOURNAL_STREAM");
    Ok(command)
}

/// Ports that tests may claim: below those that the system gives to outgoing connections and to whoever asks for any.
const CLAIMABLE_PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Claims a free port of the loopback interface, for as long as this process runs.
///
/// Nobody listens on the port until a program under test does. Until then a lock on a file of its number keeps it from the
/// other tests, which run at the same time in processes of their own.
///
/// # Errors
/// If there is none.
pub fn free_port() -> Result<u16> {
    static CLAIMED: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let folder = std::env::temp_dir().join("engram-test-ports");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let claimable = usize::from(CLAIMABLE_PORTS.end - CLAIMABLE_PORTS.start);
    // Processes that start together begin at different ports.
    let begin = std::process::id() as usize * 31 % claimable;
    for port in CLAIMABLE_PORTS.cycle().skip(begin).take(claimable) {
        let Ok(lock) = File::options().create(true).append(true).open(folder.join(port.to_string())) else { continue };
        if lock.try_lock().is_ok() && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).push(lock);
            return Ok(port);
        }
    }
    bail!(
        "none of the ports from {} to {} can be claimed in {}: remove the folder if it belongs to another user",
        CLAIMABLE_PORTS.start,
        CLAIMABLE_PORTS.end,
        folder.display()
    )
}
