//! The recordings of an export: copied beside its lines, and from there to those of another installation.
//!
//! A file becomes `media/00000-NAME`. Of the archive, the chunks that show a segment become `media/SOURCE@CHUNK`, and the line
//! names them; the importing archive takes them under the same names.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use drivers::archive::{ChunkName, Recording};
use memory_core::StreamSpan;

use super::lines::SegmentLine;
use super::sums;
use super::transfer::MEDIA;
use super::{Reserve, UpkeepError, files, io_error};
use crate::media::Recordings;

/// Copies recordings next to the lines.
pub struct MediaOut<'r> {
    directory: PathBuf,
    recordings: Option<&'r Recordings>,
    /// Path → name within the export; none if it is gone.
    known: BTreeMap<PathBuf, Option<String>>,
    /// Files that were copied.
    pub copied: u64,
    /// Digests of the copies.
    pub sums: String,
    reserve: Reserve,
}

impl<'r> MediaOut<'r> {
    /// Copies of `recordings` go to `directory`.
    pub fn new(directory: PathBuf, recordings: Option<&'r Recordings>, reserve: Reserve) -> Self {
        Self { directory, recordings, known: BTreeMap::new(), copied: 0, sums: String::new(), reserve }
    }

    /// Copies what a segment leads to, and makes its line lead to the copy.
    pub fn copy(&mut self, line: &mut SegmentLine) -> io::Result<()> {
        let Some(uri) = line.media.take() else { return Ok(()) };
        if let Some(recording) = Recording::parse(&uri) {
            line.chunks = self.copy_chunks(&recording, line.stream())?;
            line.media = (!line.chunks.is_empty()).then_some(uri);
        } else if let Some((path, place)) = self.recordings.and_then(|recordings| recordings.places.file_of(&uri)) {
            // Files of different directories may have one name.
            let number = self.known.len();
            let name = path.file_name().and_then(|name| name.to_str()).map(|name| format!("{number:05}-{name}"));
            line.media = self.copy_file(&path, name)?.map(|name| [&name, place.as_str()].concat());
        }
        line.media_missing = line.media.is_none();
        Ok(())
    }

    fn copy_chunks(&mut self, recording: &Recording, stream: StreamSpan) -> io::Result<Vec<String>> {
        let Some(recordings) = self.recordings else { return Ok(Vec::new()) };
        let mut copies = Vec::new();
        for chunk in recordings.archive.showing(recording, stream) {
            copies.extend(self.copy_file(&chunk.path, Some(format!("{}@{}", chunk.source, chunk.name)))?);
        }
        Ok(copies)
    }

    /// Copies a file once; returns its path within the export, or `None` if it is gone.
    fn copy_file(&mut self, path: &Path, name: Option<String>) -> io::Result<Option<String>> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let copied = match name {
            // A line end in a name would break the list of digests.
            Some(name) => self.copy_new(path, &name.replace(|c: char| c.is_control() || c == '\\', "_"))?,
            None => None,
        };
        self.known.insert(path.to_path_buf(), copied.clone());
        Ok(copied)
    }

    fn copy_new(&mut self, path: &Path, name: &str) -> io::Result<Option<String>> {
        let mut from = match files::open_regular(path) {
            Ok(from) => from,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a recording is not exported");
                return Ok(None);
            }
        };
        fs::create_dir_all(&self.directory)?;
        let path = self.directory.join(name);
        let mut to = self.reserve.guard(files::create_private(&path)?, &path);
        let digest = sums::copy(&mut from, &mut to)?;
        to.get_ref().sync_all()?;
        let name = [MEDIA, "/", name].concat();
        self.sums += &sums::line(&digest, &name);
        self.copied += 1;
        Ok(Some(name))
    }
}

/// Copies recordings of an export to those of this installation.
pub struct MediaIn<'r> {
    directory: PathBuf,
    recordings: &'r Recordings,
    /// Name within the export → file; none if it is not there.
    known: BTreeMap<String, Option<PathBuf>>,
    /// Files that were copied.
    pub copied: u64,
}

impl<'r> MediaIn<'r> {
    /// Recordings of the export are in `directory`.
    pub fn new(directory: PathBuf, recordings: &'r Recordings) -> Self {
        Self { directory, recordings, known: BTreeMap::new(), copied: 0 }
    }

    /// Copies what a line leads to, and makes it lead to the copy. An address that leads out of the export is removed.
    /// Says whether the recording, if there was one, is there afterwards.
    pub fn copy(&mut self, line: &mut SegmentLine) -> Result<bool, UpkeepError> {
        let Some(uri) = line.media.take() else { return Ok(!line.media_missing) };
        let chunks = std::mem::take(&mut line.chunks);
        if let Some(recording) = Recording::parse(&uri) {
            for chunk in &chunks {
                self.adopt(&recording, chunk)?;
            }
            let there = self.recordings.archive.locate(&recording, line.stream()).is_some();
            line.media = there.then_some(uri);
        } else if let Some(rest) = uri.strip_prefix(MEDIA).and_then(|rest| rest.strip_prefix('/')) {
            let (name, place) =
                rest.split_once('#').map_or((rest, String::new()), |(name, place)| (name, format!("#{place}")));
            line.media = self.take_file(name)?.map(|path| format!("file://{}{place}", path.display()));
        } else {
            // An export of this very installation may name one of its own files.
            line.media = self.recordings.places.file_of(&uri).map(|_| uri);
        }
        Ok(line.media.is_some())
    }

    fn adopt(&mut self, recording: &Recording, chunk: &str) -> Result<(), UpkeepError> {
        if self.known.contains_key(chunk) {
            return Ok(());
        }
        self.known.insert(chunk.to_owned(), None);
        let name = chunk.strip_prefix(MEDIA).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
        let Some((source, parsed)) = name.rsplit_once('@') else { return Ok(()) };
        let Some(parsed) = ChunkName::parse(parsed) else { return Ok(()) };
        if source != recording.source || parsed.session != recording.session {
            return Ok(());
        }
        let path = files::inside(&self.directory, name)?;
        let Ok(mut from) = files::open_regular(&path) else { return Ok(()) };
        let before = self.recordings.archive.file(source, &parsed.to_string()).is_some();
        let there = self.recordings.archive.adopt(source, parsed, &mut from).map_err(io_error(&path))?;
        if !there {
            tracing::warn!(
                chunk = name,
                "there is no room for a recording (recording.budget_mib, recording.keep_free_mib)"
            );
        }
        self.copied += u64::from(there && !before);
        Ok(())
    }

    /// Copies a file to those of imports. Its name there holds its digest: files of two exports may have one name.
    fn take_file(&mut self, name: &str) -> Result<Option<PathBuf>, UpkeepError> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let from = files::inside(&self.directory, name)?;
        let taken = match files::open_regular(&from) {
            Ok(mut source) => Some(self.take(&mut source, &from, name)?),
            Err(_) => None,
        };
        self.known.insert(name.to_owned(), taken.clone());
        Ok(taken)
    }

    fn take(&mut self, source: &mut File, from: &Path, name: &str) -> Result<PathBuf, UpkeepError> {
        let imported = self.recordings.places.imported();
        files::make_private(imported)?;
        let part = imported.join("import.part");
        match fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_error(&part)(error)),
            _ => {}
        }
        let to = files::create_private(&part).map_err(io_error(&part))?;
        let digest =
            sums::copy(source, &to).and_then(|digest| to.sync_all().map(|()| digest)).map_err(io_error(from))?;
        let plain = name.split_once('-').map_or(name, |(_, plain)| plain);
        let path = imported.join(format!("{}-{plain}", &digest[..16]));
        if path.is_file() {
            fs::remove_file(&part).map_err(io_error(&part))?;
        } else {
            fs::rename(&part, &path).map_err(io_error(&path))?;
            File::open(imported).and_then(|directory| directory.sync_all()).map_err(io_error(imported))?;
            self.copied += 1;
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use memory_core::store::MemoryStorage;
    use memory_core::{
        Attributes, Boundary, ForgetRequest, Kind, ManualClock, Memory, MemoryOptions, Modality, Observation,
        Perceived, PerceivedEvent, TimeSpan, Timestamp,
    };

    use super::*;
    use crate::config::Config;
    use crate::media::delete_forgotten;
    use crate::upkeep::{export, import};

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(1_763_712_000_000_000).saturating_add(Duration::from_secs(seconds))
    }

    fn memory() -> Memory {
        let clock = Arc::new(ManualClock::at(at(1000)));
        let options = MemoryOptions {
            zone: jiff::tz::TimeZone::UTC,
            max_bytes: None,
            cache_bytes: 1 << 20,
            index: Default::default(),
        };
        Memory::open_in(Arc::new(MemoryStorage::new()), options, clock).unwrap()
    }

    /// Perceives ten seconds that `media` shows.
    fn perceive(memory: &Memory, source: &str, begin: u64, media: &str) {
        let stream = StreamSpan { start: Duration::from_secs(begin), end: Duration::from_secs(begin + 10) };
        let event = PerceivedEvent {
            kind: Kind::Caption,
            modality: Modality::Visual,
            text: format!("{source} shows a mug at {begin}"),
            start: at(begin),
            end: at(begin + 10),
            stream,
            entity: None,
            attributes: Attributes::new(),
            confidence: 0.9,
            pose: None,
            embeddings: Vec::new(),
        };
        let segment = Perceived {
            source: source.to_owned(),
            session: "s".to_owned(),
            start: at(begin),
            end: at(begin + 10),
            stream,
            boundary: Boundary::End,
            events: vec![event],
            media: Some(media.to_owned()),
            degraded: Vec::new(),
        };
        memory.observe(vec![Observation::Perceived(segment)]).unwrap();
    }

    struct RecordingsFixture {
        folder: tempfile::TempDir,
        recordings: Recordings,
    }

    impl RecordingsFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut config = Config { data_dir: Some(folder.path().join("data")), ..Config::default() };
            config.recording.keep_free_mib = 0;
            let recordings = Recordings::open(&config).unwrap();
            Self { folder, recordings }
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }

        /// Opens the archive anew: it reads which chunks there are.
        fn reopened(self) -> Self {
            let mut config = Config { data_dir: Some(self.folder.path().join("data")), ..Config::default() };
            config.recording.keep_free_mib = 0;
            Self { recordings: Recordings::open(&config).unwrap(), folder: self.folder }
        }
    }

    fn uri(path: &Path) -> String {
        format!("file://{}", path.display())
    }

    #[test]
    fn every_recording_is_exported_or_counted_as_missing_and_is_found_again_where_it_is_imported() {
        let from = RecordingsFixture::new();
        let session = at(0).as_micros();
        from.file(&format!("data/media/eye/{session}-0.mkv"), "chunk 0");
        from.file(&format!("data/media/eye/{session}-10000.mkv"), "chunk 10");
        let film = from.file("film.mkv", "a film");
        let from = from.reopened();
        from.recordings.places.note_played(&film).unwrap();
        let memory_a = memory();
        let live = format!("archive:eye/{session}");
        perceive(&memory_a, "eye", 0, &live);
        perceive(&memory_a, "eye", 12, &live);
        perceive(&memory_a, "eye", 600, &live);
        perceive(&memory_a, "film", 100, &uri(&film));
        perceive(&memory_a, "gone", 200, "file:///nowhere/film.mkv");
        let secret = from.file("secret", "a diary");
        perceive(&memory_a, "spy", 300, &uri(&secret));
        perceive(&memory_a, "web", 400, "http://elsewhere/film.mkv");
        let dir = from.folder.path().join("export");
        let done = export(&memory_a, &dir, at(0), Some(&from.recordings), Reserve::default()).unwrap();
        assert_eq!((done.segments, done.media, done.media_missing), (7, 3, 4), "{done:?}");
        for file in fs::read_dir(dir.join("media")).unwrap() {
            assert_ne!(fs::read_to_string(file.unwrap().path()).unwrap(), "a diary");
        }

        let to = RecordingsFixture::new();
        let memory_b = memory();
        let done = import(&memory_b, &dir, &to.recordings).unwrap();
        assert_eq!((done.accepted, done.media, done.media_missing), (7, 3, 4), "{done:?}");
        let recording = Recording::parse(&live).unwrap();
        let stream = StreamSpan { start: Duration::from_secs(12), end: Duration::from_secs(13) };
        for to in [to, RecordingsFixture::new()].map(RecordingsFixture::reopened) {
            let found = to.recordings.archive.locate(&recording, stream);
            let imported = to.folder.path().join("data/imported");
            if !imported.is_dir() {
                assert_eq!(found, None, "nothing was imported there");
                continue;
            }
            assert_eq!(fs::read_to_string(found.unwrap().path).unwrap(), "chunk 10");
            // What is forgotten takes its recordings along.
            memory_b.forget(&ForgetRequest::Span(TimeSpan::new(at(0), at(500)))).unwrap();
            assert_eq!(fs::read_dir(&imported).unwrap().count(), 1);
            assert_eq!(delete_forgotten(&memory_b, &to.recordings), 0);
            assert_eq!(fs::read_dir(&imported).unwrap().count(), 0);
            assert_eq!(to.recordings.archive.status().chunks, 0);
        }
        assert!(film.is_file() && secret.is_file(), "what lay elsewhere is nobody's to delete");
    }

    #[test]
    fn a_hostile_export_leads_nowhere() {
        let place = RecordingsFixture::new();
        let secret = place.file("secret", "a diary");
        let donor = memory();
        perceive(&donor, "film", 100, "file:///nowhere/film.mkv");
        let dir = place.folder.path().join("export");
        export(&donor, &dir, at(0), None, Reserve::default()).unwrap();
        std::os::unix::fs::symlink(&secret, place.file("export/media/x", "x").with_file_name("00000-link.mkv"))
            .unwrap();
        let lines = fs::read_to_string(dir.join("memory.jsonl")).unwrap();
        let session = at(0).as_micros();
        let chunk = format!("eye@{session}-0.mkv");
        std::os::unix::fs::symlink(&secret, dir.join("media").join(&chunk)).unwrap();
        for (media, chunks) in [
            (uri(&secret), vec![]),
            ("http://elsewhere/film.mkv".to_owned(), vec![]),
            ("media/00000-link.mkv".to_owned(), vec![]),
            (format!("archive:eye/{session}"), vec![format!("media/{chunk}")]),
            (format!("archive:../eye/{session}"), vec![format!("media/../{chunk}")]),
        ] {
            let line = lines.lines().nth(1).unwrap();
            let mut body: serde_json::Value = serde_json::from_str(line).unwrap();
            (body["media"], body["chunks"]) = (media.clone().into(), chunks.into());
            fs::write(dir.join("memory.jsonl"), format!("{}\n{body}\n", lines.lines().next().unwrap())).unwrap();
            let memory = memory();
            match import(&memory, &dir, &place.recordings) {
                Ok(done) => assert_eq!((done.accepted, done.media, done.media_missing), (1, 0, 1), "{media}"),
                Err(error) => assert!(matches!(error, UpkeepError::Name(_)), "{media}: {error}"),
            }
            let again = place.folder.path().join("again");
            let done = export(&memory, &again, at(0), Some(&place.recordings), Reserve::default()).unwrap();
            assert_eq!(done.media, 0, "{media}");
            assert!(!fs::read_to_string(again.join("memory.jsonl")).unwrap().contains("secret"), "{media}");
            fs::remove_dir_all(again).unwrap();
        }
        assert_eq!(fs::read_to_string(secret).unwrap(), "a diary");
    }
}
