//! The sandbox that a unit of systemd describes, made by bubblewrap where no systemd runs.
//!
//! Every directive of the unit is applied, is no matter of a sandbox, or is named with the reason why it cannot be applied
//! here. One that is not known at all is an error, so that a directive added to the unit is thought about here too.
//!
//! The sandbox is a user namespace: inside, the program is the unit's user and has no capability; outside, it is whoever
//! runs the tests.

mod filter;
mod unit;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

pub use unit::Unit;

use crate::run_to_end;

/// Where the program under test stands inside: nothing may be put among the system's own.
const PROGRAM: &str = "/run/under-test/engram";
/// Where systemd's notification socket is, inside.
const NOTIFY: &str = "/run/systemd/notify";
/// The user inside. Any but root.
const USER: &str = "997";

/// What a unit's sandbox became here.
#[derive(Debug)]
pub struct Sandbox {
    folder: TempDir,
    arguments: Vec<OsString>,
    /// Said by the shell that starts bubblewrap: what children inherit.
    limits: String,
    filter: bool,
    executable: String,
    not_applied: Vec<(String, &'static str)>,
}

/// What becomes of a directive.
enum DirectiveFate {
    Applied,
    /// It says how the service is run, not what it may do.
    NoSandbox,
    NotHere(&'static str),
}

impl Sandbox {
    /// The sandbox of `unit` around `program`; `Err` within says why there can be none on this machine.
    ///
    /// # Errors
    /// If the unit says something that is not understood.
    pub fn around(unit: &Unit, program: &Path) -> Result<Result<Self, String>> {
        if let Err(why) = possible() {
            return Ok(Err(why));
        }
        let folder = tempfile::Builder::new().prefix("engram-sandbox-").tempdir().context("no temporary folder")?;
        let executable = unit.last("ExecStart")?.split_whitespace().next().context("ExecStart= is empty")?.to_owned();
        let mut sandbox = Self {
            folder,
            arguments: Vec::new(),
            limits: String::new(),
            filter: false,
            executable,
            not_applied: Vec::new(),
        };
        sandbox.root(program)?;
        let filter = filter::filter(unit)?;
        let by_filter = filter.as_ref().map(|filter| filter.holds.clone()).unwrap_or_default();
        if let Some(filter) = filter {
            fs::write(sandbox.folder.path().join("filter"), filter.program)?;
            sandbox.filter = true;
        }
        for (key, value) in unit.directives() {
            match sandbox.apply(key, value, &by_filter)? {
                DirectiveFate::Applied | DirectiveFate::NoSandbox => {}
                DirectiveFate::NotHere(why) => sandbox.not_applied.push((format!("{key}={value}"), why)),
            }
        }
        // Nothing was made in the root that is not meant to be written to.
        sandbox.add(["--remount-ro", "/"]);
        Ok(Ok(sandbox))
    }

    /// The directives that are not applied here, with the reason.
    pub fn not_applied(&self) -> &[(String, &'static str)] {
        &self.not_applied
    }

    /// Where a directory of the unit (`StateDirectory` and its like) is on this machine.
    pub fn outside(&self, directive: &str) -> PathBuf {
        self.folder.path().join(directive)
    }

    /// The notification socket on this machine; [`command`](Self::command) tells the program where it is inside.
    pub fn notify_socket(&self) -> PathBuf {
        self.folder.path().join("systemd/notify")
    }

    /// Writes a file of `/etc/engram`, as a person would.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn configure(&self, name: &str, text: &str) -> Result<()> {
        let path = self.outside("ConfigurationDirectory").join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes a credential that the unit loads.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn credential(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.path().join("credentials").join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// A command line of the unit, for instance that of `ExecStart=`, in the sandbox.
    pub fn unit_command(&self, line: &str) -> Command {
        let words = line.split_whitespace().map(|word| if word == self.executable { PROGRAM } else { word });
        self.command(words)
    }

    /// Any command in the sandbox.
    pub fn command<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new("sh");
        let filter = if self.filter { "--seccomp 9" } else { "" };
        let input = if self.filter { "9<\"$0\"" } else { "" };
        command.args(["-c", &format!("{}exec bwrap {filter} \"$@\" {input}", self.limits)]);
        command.arg(self.folder.path().join("filter")).args(&self.arguments).arg("--").args(words);
        command
    }

    fn add<I: Into<OsString>>(&mut self, words: impl IntoIterator<Item = I>) {
        self.arguments.extend(words.into_iter().map(Into::into));
    }

    /// What every service sees: the system, with the program in a place of its own.
    fn root(&mut self, program: &Path) -> Result<()> {
        self.add(["--unshare-user", "--unshare-pid", "--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"]);
        self.add(["--tmpfs", "/", "--proc", "/proc", "--dir", "/run", "--dir", "/var", "--dir", "/var/lib"]);
        for entry in fs::read_dir("/")? {
            let entry = entry?;
            let name = entry.file_name();
            let open = ["usr", "opt", "srv", "boot"].iter().any(|open| name == **open);
            if open || entry.file_type()?.is_symlink() {
                self.show(&entry.path())?;
            }
        }
        // One by one, for a directory of the unit is to lie beside them.
        self.add(["--dir", "/etc"]);
        for entry in fs::read_dir("/etc")? {
            self.show(&entry?.path())?;
        }
        self.add(["--ro-bind", "/sys", "/sys", "--dev", "/dev"]);
        self.add([OsString::from("--ro-bind"), program.into(), PROGRAM.into()]);
        private_dir(&self.folder.path().join("systemd"))?;
        self.add([OsString::from("--ro-bind"), self.folder.path().join("systemd").into(), "/run/systemd".into()]);
        let environment = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"),
            ("LANG", "C.UTF-8"),
            ("NOTIFY_SOCKET", NOTIFY),
            ("HOME", "/var/lib/engram"),
        ];
        environment.into_iter().for_each(|(name, value)| self.add(["--setenv", name, value]));
        Ok(())
    }

    fn show(&mut self, path: &Path) -> Result<()> {
        if path.ends_with("etc/engram") {
            return Ok(());
        }
        if path.is_symlink() {
            self.add([OsString::from("--symlink"), fs::read_link(path)?.into(), path.into()]);
        } else {
            self.add([OsString::from("--ro-bind"), path.into(), path.into()]);
        }
        Ok(())
    }

    /// A directory that the unit keeps for the service.
    fn directory(&mut self, directive: &str, parent: &str, name: &str, bind: &str) -> Result<()> {
        ensure!(!name.contains(char::is_whitespace), "{directive}={name}: one directory is understood");
        let outside = self.outside(directive);
        private_dir(&outside)?;
        let inside = format!("{parent}/{name}");
        self.add([OsString::from(bind), outside.into(), inside.clone().into()]);
        let variable = match directive {
            "StateDirectory" => "STATE_DIRECTORY",
            "RuntimeDirectory" => "RUNTIME_DIRECTORY",
            "CacheDirectory" => "CACHE_DIRECTORY",
            _ => "CONFIGURATION_DIRECTORY",
        };
        self.add(["--setenv", variable, &inside]);
        Ok(())
    }

    fn apply(&mut self, key: &str, value: &str, by_filter: &[&str]) -> Result<DirectiveFate> {
        const NO_TABLE: &str = "the numbers of system calls are known on x86_64 only";
        let yes = value == "yes";
        match key {
            "Type"
            | "ExecStartPre"
            | "ExecStart"
            | "ExecReload"
            | "Restart"
            | "RestartSec"
            | "RestartPreventExitStatus"
            | "TimeoutStartSec"
            | "TimeoutStopSec" => return Ok(DirectiveFate::NoSandbox),
            "WatchdogSec" => {
                let seconds: u64 = value.parse().context("WatchdogSec= in seconds")?;
                self.add(["--setenv", "WATCHDOG_USEC", &(seconds * 1_000_000).to_string()]);
            }
            "User" => self.add(["--uid", USER, "--setenv", "USER", value]),
            "Group" => self.add(["--gid", USER]),
            // bubblewrap sets it always; the test looks at the running program.
            "NoNewPrivileges" if yes => {}
            "CapabilityBoundingSet" | "AmbientCapabilities" if value.is_empty() => self.add(["--cap-drop", "ALL"]),
            "Environment" => {
                let (name, value) = value.split_once('=').with_context(|| format!("Environment={value}"))?;
                self.add(["--setenv", name, value]);
            }
            "UMask" => self.limits.push_str(&format!("umask {value}; ")),
            "LimitNOFILE" => self.limits.push_str(&format!("ulimit -n {value}; ")),
            "StateDirectory" => self.directory(key, "/var/lib", value, "--bind")?,
            "CacheDirectory" => self.directory(key, "/var/cache", value, "--bind")?,
            "RuntimeDirectory" => self.directory(key, "/run", value, "--bind")?,
            // It belongs to root, whom the service is not.
            "ConfigurationDirectory" => self.directory(key, "/etc", value, "--ro-bind")?,
            "StateDirectoryMode" | "ConfigurationDirectoryMode" => {
                return Ok(DirectiveFate::NotHere("who else may look in is the service manager's to say"));
            }
            "LoadCredential" => {
                let folder = self.folder.path().join("credentials");
                private_dir(&folder)?;
                let inside = "/run/credentials/engram.service";
                self.add([OsString::from("--ro-bind"), folder.into(), inside.into()]);
                self.add(["--setenv", "CREDENTIALS_DIRECTORY", inside]);
            }
            // The root is read-only as a whole.
            "ProtectSystem" if value == "strict" => {}
            "ProtectHome" if yes => {
                for home in ["/home", "/root", "/run/user"] {
                    self.add(["--dir", home]);
                }
            }
            "PrivateTmp" if yes => self.add(["--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]),
            // /sys is read-only as a whole, and a name space of mounts of its own is what bubblewrap is.
            "PrivateMounts" | "ProtectControlGroups" if yes => {}
            "ProtectKernelTunables" if yes => {
                for tunables in ["/proc/sys", "/proc/irq", "/proc/bus"] {
                    self.add(["--ro-bind-try", tunables, tunables]);
                }
            }
            // Its /proc has its own processes only.
            "ProtectProc" if value == "invisible" => {}
            "ProtectHostname" if yes => self.add(["--unshare-uts"]),
            // The few nodes that are always there were made with the root.
            "DevicePolicy" if value == "closed" => {}
            "DeviceAllow" => self.devices(value)?,
            "PrivateUsers" => return Ok(DirectiveFate::NotHere("the sandbox itself is a user namespace")),
            "SupplementaryGroups" => {
                return Ok(DirectiveFate::NotHere("a user namespace has the one group of its maker"));
            }
            "OOMScoreAdjust" => {
                return Ok(DirectiveFate::NotHere("only root may make a process less likely to be killed"));
            }
            "MemoryMax" => return Ok(DirectiveFate::NotHere("a limit of memory needs a control group of its own")),
            "RemoveIPC" | "KeyringMode" => return Ok(DirectiveFate::NotHere("the service manager does it")),
            _ if by_filter.contains(&key) => {}
            "SystemCallArchitectures"
            | "SystemCallFilter"
            | "SystemCallErrorNumber"
            | "RestrictAddressFamilies"
            | "RestrictNamespaces"
            | "RestrictRealtime"
            | "RestrictSUIDSGID"
            | "LockPersonality"
            | "ProtectClock"
            | "ProtectKernelModules"
            | "ProtectKernelLogs"
                if !self.filter =>
            {
                return Ok(DirectiveFate::NotHere(NO_TABLE));
            }
            _ => bail!("{key}={value} is not known here: say in tests/src/sandbox how it is applied, or why it is not"),
        }
        Ok(DirectiveFate::Applied)
    }

    /// The nodes of a kind of devices that this machine has.
    fn devices(&mut self, value: &str) -> Result<()> {
        let (kind, access) = value.split_once(' ').with_context(|| format!("DeviceAllow={value}"))?;
        ensure!(access == "rw", "DeviceAllow={value}: only `rw` is understood");
        let (folder, prefix) = match kind {
            "char-video4linux" => ("/dev", "video"),
            "char-media" => ("/dev", "media"),
            "char-alsa" => ("/dev/snd", ""),
            "char-drm" => ("/dev/dri", ""),
            other => bail!("DeviceAllow={other}: it is not known here which nodes these are"),
        };
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        for entry in entries {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)) {
                self.add([OsString::from("--dev-bind"), path.clone().into(), path.into()]);
            }
        }
        Ok(())
    }
}

/// Whether this machine lets an ordinary program make a sandbox.
fn possible() -> Result<(), String> {
    let probe = ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--", "true"];
    match run_to_end(Command::new("bwrap").args(probe), Duration::from_secs(20)) {
        Ok(ended) if ended.code == Some(0) => Ok(()),
        Ok(ended) => Err(format!("bwrap may not make name spaces here: {}", ended.stderr.trim())),
        Err(error) => Err(format!("bwrap cannot be started (install the package bubblewrap): {error:#}")),
    }
}

fn private_dir(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot make {}", path.display()))
}
