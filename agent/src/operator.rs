//! Proves to a running agent that a command comes from its operator.
//!
//! On a broker without authentication a message proves nothing. But a user who can write to the agent's data directory may do
//! everything anyway. So the command creates a file with a random name there and sends the name with its request. The agent
//! removes the file when it accepts the command, so somebody who reads the name on the broker comes too late.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::config::Directories;
use crate::upkeep::{confined, create_private, give_to_owner_of, make_private, open_regular};

/// Field of a command that names the proof.
pub const PROOF_FIELD: &str = "operator";

/// The directory of proofs in the data directory.
fn directory(directories: &Directories) -> PathBuf {
    directories.data.join("operator")
}

/// A proof for one command; removed when it is dropped.
pub struct Proof {
    path: PathBuf,
    name: String,
}

impl Proof {
    /// Leaves a proof for `command`.
    ///
    /// # Errors
    /// If this user may not write into the data directory.
    pub fn leave(directories: &Directories, command: &str) -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let directory = directory(directories);
        make_private(&directory).map_err(io::Error::other)?;
        // The superuser leaves them for the agent's user.
        give_to_owner_of(&directory, &directories.data)?;
        let proof = Self { path: directory.join(&name), name };
        create_private(&proof.path)?.write_all(command.as_bytes())?;
        give_to_owner_of(&proof.path, &directories.data)?;
        Ok(proof)
    }

    /// Returns the value to send along.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Proof {
    fn drop(&mut self) {
        // The agent has taken it, or nobody will.
        drop(fs::remove_file(&self.path));
    }
}

/// Takes the proofs that commands bring.
#[derive(Debug, Clone)]
pub struct Proofs {
    directory: PathBuf,
}

impl Proofs {
    /// Returns the proofs of an installation.
    pub fn in_directories(directories: &Directories) -> Self {
        Self { directory: directory(directories) }
    }

    /// Proofs in a directory of their own, for tests.
    pub fn at(data: &Path) -> Self {
        Self { directory: data.join("operator") }
    }

    /// Whether `name` is a proof for `command`. It is none a second time.
    pub fn take(&self, name: &str, command: &str) -> bool {
        let Ok(path) = confined(&self.directory, name) else { return false };
        let mut text = String::new();
        let read = open_regular(&path).and_then(|file| file.take(64).read_to_string(&mut text));
        read.is_ok() && text == command && fs::remove_file(&path).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_proof_holds_once_and_for_its_command_alone() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: Some(folder.path().to_path_buf()), ..Config::default() };
        let directories = Directories::from_config(&config);
        let proofs = Proofs::in_directories(&directories);
        let proof = Proof::leave(&directories, "backup").unwrap();
        assert!(!proofs.take(proof.name(), "restore"));
        for name in ["", "..", "../engram.toml", "0123456789abcdef0123456789abcdef"] {
            assert!(!proofs.take(name, "backup"), "{name}");
        }
        assert!(proofs.take(proof.name(), "backup"));
        assert!(!proofs.take(proof.name(), "backup"), "whoever reads it on the broker comes too late");
        let left = Proof::leave(&directories, "pause").unwrap();
        let name = left.name().to_owned();
        drop(left);
        assert!(!proofs.take(&name, "pause"));
        assert_eq!(fs::read_dir(folder.path().join("operator")).unwrap().count(), 0);
    }
}
