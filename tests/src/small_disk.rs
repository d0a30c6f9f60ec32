//! A small file system of its own.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use tempfile::TempDir;

use crate::{SOON, run_to_end, skipped};

/// A file system in memory; unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// One with these options of tmpfs, for instance `size=12m`. `None`, with a printed line, where this user may not mount.
    ///
    /// # Errors
    /// If `mount` cannot be run.
    pub fn mount(options: &str) -> Result<Option<Self>> {
        let folder = tempfile::Builder::new().prefix("engram-disk-").tempdir()?;
        let ended = run_to_end(
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "engram-test"]).arg(folder.path()),
            SOON,
        )?;
        if ended.code == Some(0) {
            return Ok(Some(Self { folder }));
        }
        skipped(&format!("a full disk needs the right to mount a tmpfs: {}", ended.stderr.trim()));
        Ok(None)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Changes its options.
    ///
    /// # Errors
    /// If they cannot be changed.
    pub fn remount(&self, options: &str) -> Result<()> {
        let ended =
            run_to_end(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.path()), SOON)?;
        ensure!(ended.code == Some(0), "cannot remount the disk: {}", ended.stderr);
        Ok(())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run_to_end(Command::new("umount").arg("--lazy").arg(self.path()), SOON).ok();
    }
}
