//! Subtitle files: WebVTT and SubRip.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::spec::Subtitles;
use crate::pipeline::CaptureError;

/// A subtitle in stream time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cue {
    pub(super) start: Duration,
    pub(super) end: Duration,
    pub(super) text: String,
}

/// Maximum size of a subtitle file, in bytes.
const MAX_BYTES: u64 = 32 << 20;

/// The subtitle file to use with a recording: the one that is named, or `NAME.vtt` or `NAME.srt` beside it.
pub(super) fn sidecar(recording: &Path, wanted: &Subtitles) -> Option<PathBuf> {
    match wanted {
        Subtitles::Off => None,
        Subtitles::Path(path) => Some(path.clone()),
        Subtitles::Auto => {
            ["vtt", "srt"].map(|ext| recording.with_extension(ext)).into_iter().find(|path| path.is_file())
        }
    }
}

/// Reads a subtitle file; cues in order of time.
///
/// # Errors
/// If it cannot be read, or holds no cue.
pub(super) fn read(path: &Path) -> Result<Vec<Cue>, CaptureError> {
    let fail = |reason: String| CaptureError::Subtitles { path: path.to_path_buf(), reason };
    let size = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(fail(format!("{size} bytes are too many for a subtitle file")));
    }
    let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let cues = parse(&String::from_utf8_lossy(&bytes));
    if cues.is_empty() && !bytes.trim_ascii().is_empty() && !bytes.trim_ascii().ends_with(b"WEBVTT") {
        return Err(fail("no line of the form `00:00:01.000 --> 00:00:02.000` in it".into()));
    }
    Ok(cues)
}

/// Cues of a WebVTT or SubRip text, in order of time. Both are blocks of lines with a timing line in each; whatever is
/// no such block (header, notes, styles) is passed over.
pub(super) fn parse(text: &str) -> Vec<Cue> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let mut cues = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((start, end)) = timing(line) else { continue };
        let mut words = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.trim().is_empty() && timing(line).is_none()) {
            words.push(line);
        }
        // Without a blank line between, the next cue's number stands at the end of this one.
        if words.len() > 1
            && lines.peek().is_some_and(|next| timing(next).is_some())
            && words.last().is_some_and(|last| last.trim().bytes().all(|b| b.is_ascii_digit()))
        {
            words.pop();
        }
        let text = plain(&words.join("\n"));
        if !text.is_empty() {
            cues.push(Cue { start, end: end.max(start), text });
        }
    }
    cues.sort_by_key(|cue| (cue.start, cue.end));
    cues
}

fn timing(line: &str) -> Option<(Duration, Duration)> {
    let (start, rest) = line.split_once("-->")?;
    Some((clock(start.trim())?, clock(rest.split_whitespace().next()?)?))
}

/// `HH:MM:SS.mmm`, `MM:SS.mmm`, with a comma for the point in SubRip.
fn clock(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let mut seconds = 0_u64;
    let mut fields = 0;
    for field in whole.split(':') {
        if field.is_empty() || !field.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        seconds = seconds.checked_mul(60)?.checked_add(field.parse().ok()?)?;
        fields += 1;
    }
    if !(2..=3).contains(&fields) || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse().ok()?;
    // More than a year is a slip of the pen.
    (seconds < 366 * 24 * 3600).then(|| Duration::new(seconds, nanos))
}

/// The words alone: markup (`<b>`, `<v Name>`, `{\an8}`) removed, entities resolved, white space made single.
pub(super) fn plain(marked: &str) -> String {
    let mut text = String::with_capacity(marked.len());
    let mut rest = marked;
    while let Some(c) = rest.chars().next() {
        let tag = match c {
            '<' => tag_end(rest),
            '{' if rest.starts_with("{\\") => rest.find('}'),
            _ => None,
        };
        if let Some(end) = tag {
            if rest[..end].starts_with("<br") {
                text.push(' ');
            }
            rest = &rest[end + 1..];
        } else {
            text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    let mut resolved = text;
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&nbsp;", " "),
        ("&lrm;", ""),
        ("&rlm;", ""),
        ("&amp;", "&"),
    ] {
        if resolved.contains(entity) {
            resolved = resolved.replace(entity, character);
        }
    }
    resolved.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the end of a tag that begins here; "3 < 5" is none.
fn tag_end(text: &str) -> Option<usize> {
    let second = text[1..].chars().next()?;
    (second.is_ascii_alphanumeric() || second == '/').then(|| text.find('>')).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cue(start: u64, end: u64, text: &str) -> Cue {
        Cue { start: Duration::from_millis(start), end: Duration::from_millis(end), text: text.into() }
    }

    #[test]
    fn webvtt_with_header_notes_settings_and_markup() {
        let text = "\u{feff}WEBVTT - title\r\nKind: captions\r\n\r\nNOTE nothing --\r\nto see\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nintro\r\n00:01.000 --> 00:02.500 align:start position:10%\r\n<v Anna>Look, <i>the kettle</i>\r\n&amp; 3 &lt; 5\r\n\r\n01:00:00.040 --> 01:00:01.000\r\nLate\r\n";
        assert_eq!(parse(text), [cue(1000, 2500, "Look, the kettle & 3 < 5"), cue(3_600_040, 3_601_000, "Late")]);
    }

    #[test]
    fn subrip_with_commas_and_missing_blank_lines() {
        let text = "1\n00:00:01,5 --> 00:00:02,000\n{\\an8}One\n2\n00:00:03,000 --> 00:00:04,000\n1984\n\n3\n00:00:05,000 --> 00:00:06,000\n\n";
        assert_eq!(parse(text), [cue(1500, 2000, "One"), cue(3000, 4000, "1984")]);
    }

    #[test]
    fn cues_come_in_order_of_time_and_never_end_before_they_start() {
        let text = "00:05.000 --> 00:04.000\nb\n\n00:01.000 --> 00:02.000\na\n";
        assert_eq!(parse(text), [cue(1000, 2000, "a"), cue(5000, 5000, "b")]);
    }

    #[test]
    fn a_file_without_a_timing_line_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.srt");
        std::fs::write(&path, "shopping list").unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains("notes.srt") && message.contains("-->"), "{message}");
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(&path).unwrap(), []);
    }

    #[test]
    fn the_file_beside_the_recording_is_found_and_can_be_overruled() {
        let folder = tempfile::tempdir().unwrap();
        let (film, srt) = (folder.path().join("film.mp4"), folder.path().join("film.srt"));
        assert_eq!(sidecar(&film, &Subtitles::Auto), None);
        std::fs::write(&srt, "").unwrap();
        assert_eq!(sidecar(&film, &Subtitles::Auto), Some(srt));
        assert_eq!(sidecar(&film, &Subtitles::Off), None);
        assert_eq!(sidecar(&film, &Subtitles::from("/x/y.vtt")), Some("/x/y.vtt".into()));
    }

    #[test]
    fn fuzz_subtitles() {
        let valid: [&[u8]; 2] = [
            b"\xef\xbb\xbfWEBVTT - title\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nintro\r\n00:01.000 --> 00:02.500 align:start\r\n<v Olga>Look, <i>the gate</i>\r\n&amp; 3 &lt; 5\r\n\r\n01:00:00.040 --> 01:00:01.000\r\nLate\r\n",
            b"1\n00:00:01,5 --> 00:00:02,000\n{\\an8}One\n2\n00:00:03,000 --> 00:00:04,000\n1984\n\n",
        ];
        fuzzing::fuzz("subtitles", 30_000, |random| {
            for cue in parse(&String::from_utf8_lossy(&random.mutated(&valid))) {
                assert!(cue.start <= cue.end && !cue.text.is_empty());
            }
        });
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _cues = parse(&text);
            let _plain = plain(&text);
        }

        #[test]
        fn near_subtitles_do_not_panic(text in "([0-9:.,]{0,12} --> [0-9:.,]{0,12}\n[<>&{}\\\\a-z ]{0,20}\n){0,6}") {
            for cue in parse(&text) {
                prop_assert!(cue.start <= cue.end);
            }
        }
    }
}
