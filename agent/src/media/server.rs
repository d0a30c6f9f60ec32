//! Recordings over HTTP, for clients with the token: whole or by range, as players request them.

use std::io::SeekFrom;
use std::net::SocketAddr;
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use drivers::archive::Archive;
use percent_encoding::percent_decode_str;
use subtle::ConstantTimeEq;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::net::TcpListener;
use tokio_util::io::ReaderStream;
use tokio_util::sync::CancellationToken;

use crate::config::MIN_TOKEN_CHARS;
use crate::config::MediaServerConfig;
use crate::http::{self, HttpLimits};

/// The token of the configuration.
///
/// # Errors
/// If there is none, or it could be guessed; the message says what to do.
pub fn token(config: &MediaServerConfig) -> Result<String, String> {
    read_token("recording.server", config.token.as_deref(), config.token_file.as_deref())
}

/// The token of a section of the configuration.
///
/// # Errors
/// If there is none, or it could be guessed; the message says what to do.
pub(crate) fn read_token(section: &str, token: Option<&str>, file: Option<&FilePath>) -> Result<String, String> {
    let token = match (token, file) {
        (Some(token), _) => token.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| format!("{section}.token_file {} cannot be read: {error}", file.display()))?,
        (None, None) => return Err(format!("{section}.token_file is missing")),
    };
    let token = token.trim_end_matches(['\r', '\n']).to_owned();
    if token.len() < MIN_TOKEN_CHARS {
        return Err(format!("the token of {section} is shorter than {MIN_TOKEN_CHARS} characters"));
    }
    Ok(token)
}

/// The server, listening.
pub struct MediaServer {
    listener: TcpListener,
    served: Arc<ServedFile>,
}

struct ServedFile {
    archive: Arc<Archive>,
    token: String,
}

impl MediaServer {
    /// Takes the port.
    ///
    /// # Errors
    /// If the token cannot be used or the port is taken; the message says what to change.
    pub async fn bind(config: &MediaServerConfig, archive: Arc<Archive>) -> Result<Self, String> {
        let token = token(config)?;
        let listen = config.listen;
        let listener = TcpListener::bind(listen).await.map_err(|error| {
            format!("cannot listen on {listen}: {error}; set `recording.server.listen` to another port")
        })?;
        Ok(Self { listener, served: Arc::new(ServedFile { archive, token }) })
    }

    /// Returns the address on which it listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown`.
    pub async fn serve(self, shutdown: CancellationToken) {
        let router = axum::Router::new().route("/media/{source}/{chunk}", get(chunk)).with_state(self.served);
        http::serve(self.listener, router, HttpLimits::default(), shutdown).await;
    }
}

async fn chunk(
    State(served): State<Arc<ServedFile>>,
    Path((source, chunk)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    // Before anything is looked at: a stranger learns nothing, not even what there is.
    if !allowed(&served.token, query.as_deref(), &headers) {
        // The connection is not kept for him either.
        let how = [(header::WWW_AUTHENTICATE, "Bearer"), (header::CONNECTION, "close")];
        return (StatusCode::UNAUTHORIZED, how, "a token is needed: ?token=… or `Authorization: Bearer …`\n")
            .into_response();
    }
    let Some(path) = served.archive.file(&source, &chunk) else {
        return (StatusCode::NOT_FOUND, "there is no such recording, or it is gone\n").into_response();
    };
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    match part(&path, range).await {
        Ok(response) => response,
        // Deleted between the index and the disk.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => StatusCode::NOT_FOUND.into_response(),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "a recording cannot be served");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Whether the request brings the token, as a bearer or in the query.
pub(crate) fn allowed(token: &str, query: Option<&str>, headers: &HeaderMap) -> bool {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let asked = query.into_iter().flat_map(|query| query.split('&')).find_map(|pair| pair.strip_prefix("token="));
    let asked = asked.map(|asked| percent_decode_str(asked).collect::<Vec<u8>>());
    bearer.is_some_and(|bearer| same(bearer.as_bytes(), token.as_bytes()))
        || asked.is_some_and(|asked| same(&asked, token.as_bytes()))
}

/// Whether two secrets are equal, in a time that tells nothing but their lengths.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

async fn part(path: &FilePath, range: Option<&str>) -> std::io::Result<Response> {
    let mut file = tokio::fs::File::open(path).await?;
    let length = file.metadata().await?.len();
    let (status, start, end) = match range.map(|range| asked_range(range, length)) {
        None | Some(ByteRange::Everything) => (StatusCode::OK, 0, length),
        Some(ByteRange::Part(start, end)) => (StatusCode::PARTIAL_CONTENT, start, end),
        Some(ByteRange::Nothing) => {
            let whole = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, whole).into_response());
        }
    };
    file.seek(SeekFrom::Start(start)).await?;
    let body = Body::from_stream(ReaderStream::new(file.take(end - start)));
    let mut response = (
        status,
        [
            (header::CONTENT_TYPE, "video/x-matroska".to_owned()),
            (header::ACCEPT_RANGES, "bytes".to_owned()),
            (header::CONTENT_LENGTH, (end - start).to_string()),
            // A recording that is forgotten must not live on in a cache.
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ],
        body,
    )
        .into_response();
    if status == StatusCode::PARTIAL_CONTENT
        && let Ok(value) = format!("bytes {start}-{}/{length}", end - 1).parse()
    {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    Ok(response)
}

/// What part of a file a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum ByteRange {
    /// Also where several ranges, or other units, are asked for: a server may.
    Everything,
    /// From, and up to but not including.
    Part(u64, u64),
    /// Beyond the end.
    Nothing,
}

/// RFC 9110, 14.1.2.
fn asked_range(range: &str, length: u64) -> ByteRange {
    let Some((first, last)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return ByteRange::Everything;
    };
    let (first, last) = (first.trim(), last.trim());
    let (start, end) = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => (first, last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => (first, length),
        (Err(_), Ok(last)) if first.is_empty() => (length.saturating_sub(last), length),
        _ => return ByteRange::Everything,
    };
    if start < end { ByteRange::Part(start, end) } else { ByteRange::Nothing }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (range, expected) in [
            ("bytes=0-99", ByteRange::Part(0, 100)),
            ("bytes=900-", ByteRange::Part(900, 1000)),
            ("bytes=-100", ByteRange::Part(900, 1000)),
            ("bytes=-5000", ByteRange::Part(0, 1000)),
            ("bytes=990-5000", ByteRange::Part(990, 1000)),
            ("bytes=1000-", ByteRange::Nothing),
            ("bytes=-0", ByteRange::Nothing),
            ("bytes=5-2", ByteRange::Everything),
            ("bytes=0-1,5-6", ByteRange::Everything),
            ("lines=1-2", ByteRange::Everything),
            ("bytes=-", ByteRange::Everything),
        ] {
            assert_eq!(asked_range(range, 1000), expected, "{range}");
        }
        assert_eq!(asked_range("bytes=0-", 0), ByteRange::Nothing);
    }

    #[test]
    fn only_the_token_opens() {
        let token = "0123456789abcdef";
        let header = |value: &str| HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
        let none = HeaderMap::new();
        assert!(allowed(token, None, &header("Bearer 0123456789abcdef")));
        assert!(allowed(token, Some("a=b&token=0123456789abcde%66"), &none));
        for (query, headers) in [
            (None, none.clone()),
            (Some("token="), none.clone()),
            (Some("token=0123456789abcde"), none.clone()),
            (Some("token=0123456789abcdef0"), none.clone()),
            (Some("tokens=0123456789abcdef"), none.clone()),
            (None, header("0123456789abcdef")),
            (None, header("Bearer 0123456789abcdeF")),
        ] {
            assert!(!allowed(token, query, &headers), "{query:?} {headers:?}");
        }
    }

    proptest! {
        #[test]
        fn no_range_leaves_the_file(range in ".{0,30}", first: u64, last: u64, length in 0_u64..5000) {
            for range in [range, format!("bytes={first}-{last}"), format!("bytes={first}-"), format!("bytes=-{last}")] {
                if let ByteRange::Part(start, end) = asked_range(&range, length) {
                    prop_assert!(start < end && end <= length);
                }
            }
        }

        #[test]
        fn no_text_opens_by_accident_or_makes_the_decoding_fail(text in ".{0,30}") {
            let asked = format!("token={text}");
            prop_assert!(!allowed("a token of 32 bytes, well chosen", Some(&asked), &HeaderMap::new()));
        }
    }
}
