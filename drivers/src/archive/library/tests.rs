use super::*;

const LIMITS: ArchiveLimits = ArchiveLimits { budget_bytes: 250, keep_free_bytes: 0, chunk: Duration::from_secs(10) };

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(1_000_000_000_000).saturating_add(Duration::from_secs(seconds))
}

fn record(archive: &Archive, source: &str, session: u64, begin: u64, bytes: usize) -> ChunkName {
    let name = ChunkName { session: at(session), begin: Duration::from_secs(begin) };
    let path = archive.begin_chunk(source, name).unwrap();
    std::fs::write(path, vec![7; bytes]).unwrap();
    assert!(archive.reached(source, name, Duration::from_secs(begin + 10)));
    archive.end_chunk(source, name);
    name
}

fn recording(source: &str, session: u64) -> Recording {
    Recording { source: source.into(), session: at(session) }
}

fn stream(start: u64, end: u64) -> StreamSpan {
    StreamSpan { start: Duration::from_secs(start), end: Duration::from_secs(end) }
}

#[test]
fn a_moment_is_found_in_its_chunk_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    record(&archive, "eye", 0, 0, 100);
    let second = record(&archive, "eye", 0, 10, 100);
    for archive in [archive, Archive::open(folder.path(), LIMITS).unwrap()] {
        let found = archive.locate(&recording("eye", 0), stream(13, 15)).unwrap();
        assert_eq!((found.name, found.offset), (second, Duration::from_secs(3)));
        assert!(found.path.is_file());
        assert_eq!(archive.locate(&recording("eye", 0), stream(40, 50)), None);
        assert_eq!(archive.locate(&recording("ear", 0), stream(13, 15)), None);
        assert_eq!(archive.locate(&recording("eye", 5), stream(13, 15)), None);
    }
}

#[test]
fn a_chunk_from_elsewhere_is_taken_where_there_is_room_and_takes_nothings_place() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(&folder.path().join("media"), LIMITS).unwrap();
    record(&archive, "eye", 0, 0, 100);
    let file = |bytes: usize| {
        let path = folder.path().join("chunk");
        std::fs::write(&path, vec![9; bytes]).unwrap();
        std::fs::File::open(path).unwrap()
    };
    let name = |begin: u64| ChunkName { session: at(500), begin: Duration::from_secs(begin) };
    assert!(archive.adopt("eye", name(0), &mut file(100)).unwrap());
    assert!(archive.adopt("eye", name(0), &mut file(7)).unwrap(), "it is there already");
    assert!(!archive.adopt("eye", name(10), &mut file(51)).unwrap(), "there is no room for it");
    for source in ["", "..", "../out", "/etc", ".hidden"] {
        assert!(!archive.adopt(source, name(20), &mut file(1)).unwrap(), "{source}");
    }
    assert_eq!(archive.status().chunks, 2);
    let found = archive.showing(&recording("eye", 500), stream(3, 5));
    assert_eq!(found.iter().map(|found| found.name).collect::<Vec<_>>(), [name(0)]);
    assert_eq!(std::fs::read(&found[0].path).unwrap().len(), 100);
}

#[test]
fn the_oldest_chunk_goes_first_and_the_budget_holds() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    for begin in [0, 10, 20, 30, 40] {
        record(&archive, "eye", 0, begin, 100);
    }
    // Room is made before a chunk: the last one may stand above the budget.
    assert_eq!(archive.status().chunks, 3);
    assert!(archive.locate(&recording("eye", 0), stream(5, 6)).is_none());
    assert!(archive.locate(&recording("eye", 0), stream(45, 46)).is_some());
    assert_eq!(std::fs::read_dir(folder.path().join("eye")).unwrap().count(), 3);
}

#[test]
fn without_room_for_the_memory_nothing_is_recorded_and_the_reason_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ArchiveLimits { keep_free_bytes: u64::MAX, ..LIMITS }).unwrap();
    let name = ChunkName { session: at(0), begin: Duration::ZERO };
    let reason = archive.begin_chunk("eye", name).unwrap_err();
    assert!(reason.contains("recording.keep_free_mib"), "{reason}");
    assert_eq!(archive.status().error, Some(reason));
}

#[test]
fn what_is_forgotten_is_deleted_with_every_chunk_that_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ArchiveLimits { budget_bytes: 10_000, ..LIMITS }).unwrap();
    for begin in [0, 10, 20, 30] {
        record(&archive, "eye", 0, begin, 100);
        record(&archive, "ear", 0, begin, 100);
    }
    assert_eq!(archive.forget(Some("eye"), TimeSpan::new(at(12), at(21))).unwrap(), 2);
    assert_eq!(archive.status().chunks, 6);
    assert!(archive.locate(&recording("eye", 0), stream(12, 13)).is_none());
    assert!(archive.locate(&recording("ear", 0), stream(12, 13)).is_some());
    assert_eq!(std::fs::read_dir(folder.path().join("eye")).unwrap().count(), 2);
    assert_eq!(archive.forget(None, TimeSpan::new(at(0), at(100))).unwrap(), 6);
}

#[test]
fn what_is_recorded_is_for_its_owner_alone_and_what_a_kill_left_goes() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    let name = record(&archive, "eye", 0, 0, 10);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("eye")), 0o700);
    assert_eq!(mode(&archive.file("eye", &name.to_string()).unwrap()), 0o600);

    let eye = folder.path().join("eye");
    let begun = ChunkName { session: at(0), begin: Duration::from_secs(10) };
    archive.begin_chunk("eye", begun).unwrap();
    for name in ["5-0.part", "notes", "empty.txt"] {
        std::fs::write(eye.join(name), []).unwrap();
    }
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    assert_eq!(archive.status().chunks, 1, "an empty chunk shows nothing");
    assert_eq!(archive.tidy().unwrap(), 2);
    let mut left: Vec<_> = std::fs::read_dir(eye).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [name.to_string().as_str(), "empty.txt", "notes"]);
}

#[test]
fn a_chunk_that_cannot_be_deleted_is_still_counted_and_nothing_goes_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    for begin in [0, 10, 20] {
        record(&archive, "eye", 0, begin, 100);
    }
    // A directory cannot be removed as a file, not even by root.
    let oldest = folder.path().join("eye").join(ChunkName { session: at(0), begin: Duration::ZERO }.to_string());
    std::fs::remove_file(&oldest).unwrap();
    std::fs::create_dir(&oldest).unwrap();
    let next = ChunkName { session: at(0), begin: Duration::from_secs(30) };
    assert!(archive.begin_chunk("eye", next).is_err());
    assert_eq!(archive.status().chunks, 3);
    assert!(archive.forget(Some("eye"), TimeSpan::new(at(0), at(5))).is_err());
}

#[test]
fn a_chunk_that_is_forgotten_while_it_is_written_does_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    let name = ChunkName { session: at(0), begin: Duration::ZERO };
    let path = archive.begin_chunk("eye", name).unwrap();
    archive.forget(None, TimeSpan::new(at(0), at(5))).unwrap();
    std::fs::write(&path, [7; 10]).unwrap();
    assert!(!archive.reached("eye", name, Duration::from_secs(6)));
    archive.end_chunk("eye", name);
    assert!(!path.exists());
    assert_eq!(archive.status(), ArchiveStatus::default());
}

#[test]
fn only_chunks_of_the_archive_have_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret.mkv"), b"x").unwrap();
    let archive = Archive::open(folder.path(), LIMITS).unwrap();
    let name = record(&archive, "eye", 0, 0, 10);
    assert!(archive.file("eye", &name.to_string()).is_some());
    for (source, name) in [("eye", "../secret.mkv"), ("..", "secret.mkv"), ("eye", "0-0.mkv"), ("", "/etc/passwd")] {
        assert_eq!(archive.file(source, name), None);
    }
}
