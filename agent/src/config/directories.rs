//! Where things live on disk.

use std::path::{Path, PathBuf};

use super::Config;

/// The directories of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// Everything below is in here unless configured.
    pub data: PathBuf,
    /// The store.
    pub memory: PathBuf,
    /// Backups and exports that are asked for by MQTT.
    pub backups: PathBuf,
    /// Recordings that came with an import.
    pub imported: PathBuf,
    /// The recordings.
    pub media: PathBuf,
}

impl Directories {
    /// The directories that `config` means on this machine.
    pub fn of(config: &Config) -> Self {
        let data = config.data_dir.clone().unwrap_or_else(default_data_dir);
        let backups = config.backup.dir.clone().unwrap_or_else(|| data.join("backups"));
        Self { memory: data.join("memory"), media: data.join("media"), imported: data.join("imported"), backups, data }
    }
}

/// systemd's state directory, else `/var/lib/engram` if this process may write there, else the user's XDG directory.
pub fn default_data_dir() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    choose(
        variable("STATE_DIRECTORY"),
        Path::new("/var/lib/engram"),
        |path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok(),
        variable("XDG_DATA_HOME"),
        variable("HOME"),
    )
}

fn choose(
    state: Option<PathBuf>,
    system: &Path,
    writable: impl Fn(&Path) -> bool,
    xdg: Option<PathBuf>,
    home: Option<PathBuf>,
) -> PathBuf {
    if let Some(state) = state {
        // systemd lists several, separated by colons, where the unit names several.
        let text = state.to_string_lossy();
        return PathBuf::from(text.split(':').next().unwrap_or(&text));
    }
    if writable(system) {
        return system.to_path_buf();
    }
    xdg.filter(|path| path.is_absolute())
        .or_else(|| home.map(|home| home.join(".local/share")))
        .map_or_else(|| system.to_path_buf(), |base| base.join("engram"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PathBuf {
        PathBuf::from(text)
    }

    #[test]
    fn systemd_decides_then_the_system_directory_then_the_user() {
        let system = Path::new("/var/lib/engram");
        assert_eq!(choose(Some(path("/state/engram:/other")), system, |_| true, None, None), path("/state/engram"));
        assert_eq!(choose(None, system, |_| true, Some(path("/x")), None), path("/var/lib/engram"));
        assert_eq!(choose(None, system, |_| false, Some(path("/x")), Some(path("/home/a"))), path("/x/engram"));
        assert_eq!(choose(None, system, |_| false, None, Some(path("/home/a"))), path("/home/a/.local/share/engram"));
    }

    #[test]
    fn a_relative_xdg_directory_is_ignored_as_the_standard_says() {
        let chosen = choose(None, Path::new("/var/lib/engram"), |_| false, Some(path("x")), Some(path("/home/a")));
        assert_eq!(chosen, path("/home/a/.local/share/engram"));
    }
}
