//! JSON-RPC, one message a line, with bounds.
//!
//! The transport of `rmcp` starts a task for each message that arrives, and drops a line that is too long without a reply.
//! Here a client that asks faster than it is answered has to wait, and every line that cannot be served gets an error.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Notify;

/// Maximum length of a line, in bytes.
pub const MAX_LINE: usize = 1 << 20;
/// Maximum number of requests in progress; more are not read yet.
pub const MAX_OPEN: usize = 32;

type Sending = Pin<Box<dyn Future<Output = std::io::Result<()>> + Send>>;

/// Reads requests from `R` and writes replies to `W`.
pub struct LineTransport<R, W> {
    reader: BufReader<R>,
    writer: Arc<tokio::sync::Mutex<W>>,
    line: Vec<u8>,
    /// The rest of a line that is too long is not kept.
    discarding: bool,
    open: Arc<OpenRequests>,
    /// An error on its way to the client. Kept here because `receive` may be dropped while it waits.
    refusal: Option<Sending>,
}

/// Requests without a reply yet.
#[derive(Default)]
struct OpenRequests {
    ids: Mutex<HashSet<RequestId>>,
    closed: Notify,
}

impl OpenRequests {
    /// Waits until there is room for one more.
    async fn room(&self) {
        loop {
            let closed = self.closed.notified();
            if self.ids.lock().len() < MAX_OPEN {
                return;
            }
            closed.await;
        }
    }

    fn close(&self, id: &RequestId) {
        self.ids.lock().remove(id);
        self.closed.notify_waiters();
    }
}

enum McpLine {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    /// A transport over two streams.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            writer: Arc::new(tokio::sync::Mutex::new(writer)),
            line: Vec::new(),
            discarding: false,
            open: Arc::default(),
            refusal: None,
        }
    }

    /// Reads up to the end of a line into `line`. Nothing is lost where this is dropped while it waits.
    async fn read_line(&mut self) -> std::io::Result<McpLine> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(McpLine::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = self.line.len() + taken <= MAX_LINE;
            if fits && !self.discarding {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            let was_discarding = self.discarding;
            self.discarding = (was_discarding || !fits) && end.is_none();
            if !fits && !was_discarding {
                self.line.clear();
                return Ok(McpLine::TooLong);
            }
            if end.is_some() && !was_discarding {
                return Ok(McpLine::Whole);
            }
        }
    }

    fn refuse(&mut self, id: Option<RequestId>, code: ErrorCode, message: String) {
        let error = JsonRpcMessage::error(ErrorData::new(code, message, None), id);
        self.refusal = Some(Box::pin(write(Arc::clone(&self.writer), error)));
    }

    /// The message of the line; `None` where there is none, and `refusal` may say why.
    fn message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let value: Value = match serde_json::from_slice(&line) {
            Ok(value) => value,
            Err(error) => {
                self.refuse(None, ErrorCode::PARSE_ERROR, format!("the line is not JSON: {error}"));
                return None;
            }
        };
        let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let is_request = value.get("id").is_some();
        match serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(value) {
            Ok(JsonRpcMessage::Request(request)) => {
                if !self.open.ids.lock().insert(request.id.clone()) {
                    let message = "a request with this id is open; every request needs an id of its own";
                    self.refuse(Some(request.id), ErrorCode::INVALID_REQUEST, message.to_owned());
                    return None;
                }
                Some(JsonRpcMessage::Request(request))
            }
            Ok(message) => {
                // A cancelled request gets no reply.
                if let JsonRpcMessage::Notification(notification) = &message
                    && let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
                        &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.close(id);
                }
                Some(message)
            }
            // Notifications that nobody knows are ignored, as the protocol wants.
            Err(_) if !is_request => None,
            Err(error) => {
                let message = format!("the request does not follow the protocol: {error}");
                self.refuse(id, ErrorCode::INVALID_REQUEST, message);
                None
            }
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    writer: Arc<tokio::sync::Mutex<W>>,
    message: TxJsonRpcMessage<RoleServer>,
) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let (writer, open) = (Arc::clone(&self.writer), Arc::clone(&self.open));
        async move {
            let written = write(writer, message).await;
            // Only now: a client that does not read its replies gets no more of them.
            if let Some(id) = id {
                open.close(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = self.refusal.as_mut() {
                let written = refusal.as_mut().await;
                self.refusal = None;
                if written.is_err() {
                    return None;
                }
            }
            self.open.room().await;
            match self.read_line().await {
                Ok(McpLine::Whole) => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Ok(McpLine::TooLong) => {
                    let message = format!("the line has more than {MAX_LINE} bytes; send smaller messages");
                    self.refuse(None, ErrorCode::INVALID_REQUEST, message);
                }
                Ok(McpLine::End) => return None,
                Err(error) => {
                    tracing::warn!(%error, "stdin cannot be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;

    fn transport(input: &[u8]) -> (LineTransport<std::io::Cursor<Vec<u8>>, DuplexStream>, DuplexStream) {
        let (near, far) = duplex(1 << 16);
        (LineTransport::new(std::io::Cursor::new(input.to_vec()), near), far)
    }

    fn ping(id: u64) -> String {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string()
    }

    async fn everything(
        mut transport: LineTransport<std::io::Cursor<Vec<u8>>, DuplexStream>,
        mut far: DuplexStream,
    ) -> (Vec<RequestId>, String) {
        let mut ids = Vec::new();
        while let Some(message) = transport.receive().await {
            if let JsonRpcMessage::Request(request) = message {
                ids.push(request.id);
            }
        }
        drop(transport);
        let mut said = String::new();
        far.read_to_string(&mut said).await.unwrap();
        (ids, said)
    }

    #[tokio::test]
    async fn lines_that_cannot_be_served_are_refused_and_the_next_one_is_read() {
        let long = "x".repeat(3 * MAX_LINE);
        let twice = ping(1);
        let odd = r#"{"jsonrpc": "2.0", "id": 7, "method": 5}"#;
        let unknown = r#"{"jsonrpc": "2.0", "note": "no method, no id"}"#;
        let input =
            [ping(1).as_str(), long.as_str(), "no JSON", &twice, odd, unknown, "", ping(2).as_str()].join("\n") + "\n";
        let (transport, far) = transport(input.as_bytes());
        let (ids, said) = everything(transport, far).await;
        assert_eq!(ids, [RequestId::Number(1), RequestId::Number(2)]);
        let errors: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told: Vec<(&Value, i64)> =
            errors.iter().map(|error| (&error["id"], error["error"]["code"].as_i64().unwrap())).collect();
        assert_eq!(told, [(&Value::Null, -32600), (&Value::Null, -32700), (&json!(1), -32600), (&json!(7), -32600)]);
        assert!(said.contains("more than 1048576 bytes"), "{said}");
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_is_read_than_can_be_worked_on_until_a_reply_is_written() {
        let most = u64::try_from(MAX_OPEN).unwrap();
        let input: String = (0..=most).map(|id| ping(id) + "\n").collect();
        let (mut transport, _far) = transport(input.as_bytes());
        for _ in 0..most {
            assert!(transport.receive().await.is_some());
        }
        let patience = std::time::Duration::from_secs(60);
        assert!(tokio::time::timeout(patience, transport.receive()).await.is_err(), "it waits");
        let reply = JsonRpcMessage::error(ErrorData::internal_error("x", None), Some(RequestId::Number(3)));
        transport.send(reply).await.unwrap();
        let next = tokio::time::timeout(patience, transport.receive()).await.unwrap();
        assert!(
            matches!(next, Some(JsonRpcMessage::Request(request)) if request.id == RequestId::Number(i64::try_from(most).unwrap()))
        );
    }
}
