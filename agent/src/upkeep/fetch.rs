//! Fetches what the agent has written on request.
//!
//! Anybody on the broker can answer a request, so nothing in the reply is believed. This program chooses the name, looks in
//! the directory of its own configuration, follows no link, and verifies its own copy before that copy gets its name.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use memory_core::{BackupReply, Memory};

use super::lines::{ExportLine, VERSION};
use super::sums::{self, SUMS};
use super::transfer::{Exporting, LINES, MAX_LINE, MEDIA};
use super::{Reserve, UpkeepError, files, io_error};
use crate::config::Directories;

/// Maximum size of a list of digests, in bytes.
const MAX_SUMS_BYTES: u64 = 64 << 20;

/// Copies the backup `name` from `directory` to `wanted`, verifies the copy, and removes the original.
///
/// # Errors
/// [`UpkeepError::NotWritten`] if there is none, or it is not whole; `wanted` is then as it was.
pub fn fetch_backup(directory: &Path, name: &str, wanted: &Path, replace: bool) -> Result<BackupReply, UpkeepError> {
    let written = files::confined(directory, name)?;
    let mut from = open(&written)?;
    let new = files::beginning(wanted, replace)?;
    let file = files::create_private(&new.path).map_err(io_error(&new.path))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    io::copy(&mut from, &mut out).and_then(|_| synced(out)).map_err(io_error(&new.path))?;
    let copy = File::open(&new.path).map_err(io_error(&new.path))?;
    let found = Memory::verify_backup(&mut BufReader::with_capacity(1 << 20, copy))
        .map_err(|error| not_written(&written, &error.to_string()))?;
    new.finish(wanted)?;
    tidy(&written, fs::remove_file(&written));
    Ok(found)
}

/// A copy in the agent's directory; removed when it is dropped.
pub struct HandedOver {
    path: PathBuf,
    name: String,
}

impl HandedOver {
    /// Returns the name by which the agent knows it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for HandedOver {
    fn drop(&mut self) {
        tidy(&self.path, fs::remove_file(&self.path));
    }
}

/// Verifies the backup `file` and copies it to where the agent reads backups, under `name`.
///
/// # Errors
/// If it is no whole backup, there is no room for it, or this user may not write there.
pub fn hand_over(
    file: &Path,
    directories: &Directories,
    name: String,
    reserve: Reserve,
) -> Result<HandedOver, UpkeepError> {
    let mut from = File::open(file).map_err(io_error(file))?;
    Memory::verify_backup(&mut BufReader::with_capacity(1 << 20, &from))?;
    from.rewind().map_err(io_error(file))?;
    let (data, backups) = (&directories.data, &directories.backups);
    let unable = |path: &Path, error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => UpkeepError::NotReadable(path.to_path_buf()),
        _ => io_error(path)(error),
    };
    if backups.symlink_metadata().is_err() {
        files::make_private(backups)?;
        files::give_to_owner_of(backups, data).map_err(|error| unable(backups, error))?;
    }
    let path = files::confined(backups, &name)?;
    reserve.check(&path, from.metadata().map_or(0, |about| about.len()))?;
    let to = files::create_private(&path).map_err(|error| unable(&path, error))?;
    let copy = HandedOver { path, name };
    let mut out = BufWriter::with_capacity(1 << 20, to);
    io::copy(&mut from, &mut out).and_then(|_| synced(out)).map_err(io_error(&copy.path))?;
    files::give_to_owner_of(&copy.path, backups).map_err(|error| unable(&copy.path, error))?;
    Ok(copy)
}

/// Copies the export `name` from `directory` to `wanted`, verifies the digest of every file, and removes the original.
///
/// # Errors
/// [`UpkeepError::NotWritten`] if there is none, or it is not whole; `wanted` is then as it was.
pub fn fetch_export(directory: &Path, name: &str, wanted: &Path) -> Result<Exporting, UpkeepError> {
    let written = files::confined(directory, name)?;
    if !written.symlink_metadata().map_err(|error| unreadable(&written, &error))?.is_dir() {
        return Err(not_written(&written, "it is no directory"));
    }
    let mut text = String::new();
    open(&written.join(SUMS))?
        .take(MAX_SUMS_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| not_written(&written, &error.to_string()))?;
    let listed = sums::parse(&text).ok_or_else(|| not_written(&written, "its SHA256SUMS cannot be read"))?;
    if !listed.iter().any(|(_, name)| *name == LINES) {
        return Err(not_written(&written, "its SHA256SUMS does not name memory.jsonl"));
    }
    let new = files::beginning(wanted, false)?;
    files::make_private(&new.path)?;
    let mut recordings = 0;
    for (digest, name) in &listed {
        if *name != LINES {
            recordings += 1;
        }
        fetch_file(&written, &new.path, name, digest)?;
    }
    let sums_path = new.path.join(SUMS);
    files::create_private(&sums_path)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .map_err(io_error(&sums_path))?;
    let mut done = count(&new.path.join(LINES)).map_err(|message| not_written(&written, &message))?;
    done.media = recordings;
    new.finish(wanted)?;
    tidy(&written, fs::remove_dir_all(&written));
    Ok(done)
}

/// Copies one file of an export, by its name in the list of digests.
fn fetch_file(from: &Path, to: &Path, name: &str, digest: &str) -> Result<(), UpkeepError> {
    let (from, to) = match name.strip_prefix(MEDIA).and_then(|rest| rest.strip_prefix('/')) {
        Some(recording) => {
            let directory = from.join(MEDIA);
            // A directory that is a link would lead elsewhere.
            if !directory.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                return Err(not_written(from, "it has no directory `media`"));
            }
            files::make_private(&to.join(MEDIA))?;
            (files::inside(&directory, recording)?, files::inside(&to.join(MEDIA), recording)?)
        }
        None if name == LINES => (from.join(LINES), to.join(LINES)),
        None => return Err(not_written(from, &format!("its SHA256SUMS names `{name}`"))),
    };
    let mut source = open(&from)?;
    let file = files::create_private(&to).map_err(io_error(&to))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let found =
        sums::copy(&mut source, &mut out).and_then(|found| synced(out).map(|()| found)).map_err(io_error(&to))?;
    if found == digest { Ok(()) } else { Err(not_written(&from, "its SHA-256 does not fit")) }
}

/// Reads every line of an export and counts what is in it.
fn count(path: &Path) -> Result<Exporting, String> {
    let mut reader = BufReader::new(File::open(path).map_err(|error| error.to_string())?);
    let mut done = Exporting::default();
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let read = Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut text).map_err(|error| error.to_string())?;
        if read == 0 {
            if number == 1 {
                return Err("memory.jsonl is empty".to_owned());
            }
            break;
        }
        let line = serde_json::from_slice(&text).map_err(|error| format!("line {number} of memory.jsonl: {error}"))?;
        match line {
            ExportLine::Export { version: VERSION, .. } if number == 1 => {}
            ExportLine::Told(_) if number > 1 => done.told += 1,
            ExportLine::Segment(segment) if number > 1 => {
                done.segments += 1;
                done.media_missing += u64::from(segment.media_missing);
            }
            _ => return Err(format!("line {number} of memory.jsonl does not belong there")),
        }
    }
    Ok(done)
}

fn open(path: &Path) -> Result<File, UpkeepError> {
    files::open_regular(path).map_err(|error| unreadable(path, &error))
}

fn synced(out: BufWriter<File>) -> io::Result<()> {
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

fn tidy(path: &Path, removed: io::Result<()>) {
    if let Err(error) = removed {
        tracing::warn!(%error, "the fetched file also remains at {}", path.display());
    }
}

fn not_written(path: &Path, why: &str) -> UpkeepError {
    UpkeepError::NotWritten { path: path.to_path_buf(), why: why.to_owned() }
}

fn unreadable(path: &Path, error: &io::Error) -> UpkeepError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => UpkeepError::NotReadable(PathBuf::from(path)),
        _ => not_written(path, &error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::Arc;

    use memory_core::store::MemoryStorage;
    use memory_core::{ManualClock, MemoryOptions, Timestamp};

    use super::*;

    fn memory() -> Memory {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_000_000)));
        let options = MemoryOptions {
            zone: jiff::tz::TimeZone::UTC,
            max_bytes: None,
            cache_bytes: 1 << 20,
            index: Default::default(),
        };
        Memory::open_in(Arc::new(MemoryStorage::new()), options, clock).unwrap()
    }

    #[test]
    fn a_backup_is_fetched_whole_and_readable_by_nobody_else() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let wanted = to.path().join("robot.backup");
        let made = super::super::backup(&memory(), &from.path().join("a.backup"), false, Reserve::default()).unwrap();
        assert_eq!(fetch_backup(from.path(), "a.backup", &wanted, false).unwrap(), made);
        assert_eq!(wanted.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!from.path().join("a.backup").exists());
    }

    #[test]
    fn what_is_no_backup_is_not_fetched_and_stays_where_it_is() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = to.path().join("secret");
        fs::write(&secret, "a diary").unwrap();
        symlink(&secret, from.path().join("link.backup")).unwrap();
        fs::write(from.path().join("list.backup"), "a shopping list").unwrap();
        super::super::backup(&memory(), &from.path().join("cut.backup"), false, Reserve::default()).unwrap();
        let cut = File::options().write(true).open(from.path().join("cut.backup")).unwrap();
        cut.set_len(cut.metadata().unwrap().len() - 9).unwrap();
        let wanted = to.path().join("robot.backup");
        for name in ["link.backup", "list.backup", "cut.backup", "none.backup", "../secret"] {
            fetch_backup(from.path(), name, &wanted, false).unwrap_err();
            assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1, "{name}: nothing was written");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "a diary");
        assert!(from.path().join("list.backup").exists());
    }

    #[test]
    fn an_export_is_fetched_only_if_every_digest_fits() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let wanted = to.path().join("export");
        let export = |name: &str| {
            let at = Timestamp::from_micros(0);
            super::super::export(&memory(), &from.path().join(name), at, None, Reserve::default()).unwrap();
            from.path().join(name)
        };
        let changed = export("changed");
        fs::write(changed.join(LINES), "{}\n").unwrap();
        let leading_out = export("leading-out");
        fs::write(to.path().join("secret"), "a diary").unwrap();
        let digest = sums::copy(&mut &b"a diary"[..], io::sink()).unwrap();
        let mut text = fs::read_to_string(leading_out.join(SUMS)).unwrap();
        text += &sums::line(&digest, &format!("media/../../../{}", to.path().join("secret").display()));
        fs::write(leading_out.join(SUMS), text).unwrap();
        let linked = export("linked");
        symlink(to.path(), linked.join(MEDIA)).unwrap();
        let mut text = fs::read_to_string(linked.join(SUMS)).unwrap();
        text += &sums::line(&digest, "media/secret");
        fs::write(linked.join(SUMS), text).unwrap();
        symlink(export("real"), from.path().join("link")).unwrap();
        for name in ["changed", "leading-out", "linked", "link", "none"] {
            fetch_export(from.path(), name, &wanted).unwrap_err();
            assert!(!wanted.exists() && to.path().join("secret").exists(), "{name}");
        }
        assert_eq!(fetch_export(from.path(), "real", &wanted).unwrap(), Exporting::default());
        assert!(wanted.join(LINES).is_file() && !from.path().join("real").exists());
    }
}
