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
    /// Backups and exports requested over MQTT.
    pub backups: PathBuf,
    /// Recordings that came with an import.
    pub imported: PathBuf,
    /// The recordings.
    pub media: PathBuf,
}

impl Directories {
    /// The directories that `config` means on this machine.
    pub fn from_config(config: &Config) -> Self {
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

/// Returns why no user can keep anything in a directory; `None` if it may be usable.
pub fn unusable(directory: &Path) -> Option<String> {
    let there = directory.ancestors().find(|path| path.symlink_metadata().is_ok())?;
    if !there.is_dir() {
        return Some(format!("{} cannot be made: {} is no directory", directory.display(), there.display()));
    }
    // /proc, /sys and their like have no room for anything.
    let room = rustix::fs::statvfs(there).ok()?.f_blocks > 0;
    let message = || format!("{}: {} keeps no files; name a directory on a disk", directory.display(), there.display());
    (!room).then(message)
}

/// Budgets of the configuration that the disk below them cannot hold, one sentence each.
pub fn beyond_the_disk(config: &Config) -> Vec<String> {
    let directories = Directories::from_config(config);
    let mut said = Vec::new();
    let mut look = |key: &str, mib: u64, directory: &Path| {
        let Some(there) = directory.ancestors().find(|path| path.is_dir()) else { return };
        let Ok(about) = rustix::fs::statvfs(there) else { return };
        let (wanted, size) = (mib << 20, about.f_blocks.saturating_mul(about.f_frsize));
        let free = about.f_bavail.saturating_mul(about.f_frsize).saturating_add(bytes_in(directory));
        if wanted > free {
            let [wanted, free, size] = [wanted, free, size].map(crate::output::bytes);
            said.push(format!(
                "{key} allows {wanted}, and the disk of {} has {free} for it, of {size}",
                directory.display()
            ));
        }
    };
    if config.recording.enabled {
        look("recording.budget_mib", config.recording.budget_mib, &directories.media);
    }
    if let Some(max) = config.memory.max_mib {
        look("memory.max_mib", max, &directories.memory);
    }
    said
}

/// Bytes of the files in a directory and the directories in it.
fn bytes_in(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => bytes_in(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
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
    fn a_directory_that_keeps_nothing_is_found_out_before_the_start() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        assert_eq!(unusable(folder.path()), None);
        assert_eq!(unusable(&folder.path().join("a/b")), None);
        assert!(unusable(&folder.path().join("file/b")).unwrap().contains("is no directory"));
        for nowhere in ["/proc/nope", "/sys/nope"] {
            let said = unusable(Path::new(nowhere)).unwrap();
            assert!(said.contains("keeps no files") && said.contains(nowhere), "{said}");
        }
    }

    #[test]
    fn a_budget_beyond_the_disk_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        config.recording.enabled = true;
        config.recording.budget_mib = 1;
        assert_eq!(beyond_the_disk(&config), Vec::<String>::new());
        config.recording.budget_mib = 1 << 40;
        config.memory.max_mib = Some(1 << 40);
        let said = beyond_the_disk(&config);
        assert!(said[0].starts_with("recording.budget_mib") && said[1].starts_with("memory.max_mib"), "{said:?}");
    }

    #[test]
    fn a_relative_xdg_directory_is_ignored_as_the_standard_says() {
        let chosen = choose(None, Path::new("/var/lib/engram"), |_| false, Some(path("x")), Some(path("/home/a")));
        assert_eq!(chosen, path("/home/a/.local/share/engram"));
    }
}
