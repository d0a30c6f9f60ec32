//! Log lines: text on a terminal, JSON on request, the journal's own fields under systemd. Always on stderr, so that
//! stdout stays for answers.

use std::fmt;
use std::io::IsTerminal;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::{LogConfig, LogFormat};

/// Whether stderr is the journal: systemd names the device and inode of the stream it gave us, and a redirection
/// changes them.
fn stderr_is_the_journal() -> bool {
    let Ok(named) = std::env::var("JOURNAL_STREAM") else { return false };
    let Some((device, inode)) = named.split_once(':') else { return false };
    let Ok(stat) = rustix::fs::fstat(std::io::stderr()) else { return false };
    device.parse() == Ok(stat.st_dev) && inode.parse() == Ok(stat.st_ino)
}

/// The last thing that went wrong, for health. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct LastError(Arc<Mutex<Option<String>>>);

impl LastError {
    /// The message, if anything went wrong yet.
    pub fn get(&self) -> Option<String> {
        self.0.lock().clone()
    }
}

/// Maximum length of a message kept for health, in characters.
const MAX_ERROR_CHARS: usize = 300;

impl<S: Subscriber> Layer<S> for LastError {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        // What a client of MCP does wrong is not wrong with this program.
        if *event.metadata().level() == Level::ERROR && !event.metadata().target().starts_with("rmcp") {
            let mut said = LoggedFields::default();
            event.record(&mut said);
            let text = format!("{}{}", said.message, said.fields);
            *self.0.lock() = Some(text.chars().take(MAX_ERROR_CHARS).collect());
        }
    }
}

#[derive(Default)]
struct LoggedFields {
    message: String,
    fields: String,
}

impl Visit for LoggedFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.fields.push_str(&format!(" {}={value:?}", field.name()));
        }
    }
}

/// Lets a panic of any thread be logged like every other error, so that it reaches the journal and health.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        let trace = std::backtrace::Backtrace::capture();
        tracing::error!(thread = thread.name().unwrap_or("unnamed"), place, "panic: {message}");
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            tracing::warn!("the panic came from:\n{trace}");
        }
    }));
}

/// The filter of a configured level. The library of MCP says in the log what is wrong with a client's requests, which a client
/// could fill the disk with; the client is told anyway. A filter that names the library has the last word.
fn filter_of(level: &str) -> anyhow::Result<EnvFilter> {
    let filter = EnvFilter::try_new(level)?;
    Ok(if level.contains("rmcp") { filter } else { filter.add_directive("rmcp=off".parse()?) })
}

/// Changes what is logged while the program runs. Clones change the same.
#[derive(Debug, Clone)]
pub struct LogLevel(reload::Handle<EnvFilter, Registry>);

impl LogLevel {
    /// The filter, and what changes it.
    ///
    /// # Errors
    /// If the filter cannot be read.
    pub fn from_filter(filter: &str) -> anyhow::Result<(Self, reload::Layer<EnvFilter, Registry>)> {
        let (layer, handle) = reload::Layer::new(filter_of(filter)?);
        Ok((Self(handle), layer))
    }

    /// # Errors
    /// If the filter cannot be read, or logging has ended.
    pub fn set(&self, filter: &str) -> anyhow::Result<()> {
        Ok(self.0.reload(filter_of(filter)?)?)
    }
}

/// Logging that was started.
#[derive(Debug, Clone)]
pub struct Log {
    /// The last thing that went wrong.
    pub last_error: LastError,
    /// The filter in use.
    pub level: LogLevel,
}

/// Starts logging. Called once, before anything is said.
///
/// # Errors
/// If the filter cannot be read, or the journal is asked for and is not there.
pub fn start(config: &LogConfig) -> anyhow::Result<Log> {
    let (level, filter) = LogLevel::from_filter(&config.level)?;
    let journal = || tracing_journald::layer().map(|layer| layer.with_syslog_identifier("engram".to_owned()).boxed());
    let text = || {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
            .with_target(false)
            .boxed()
    };
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match config.format {
        LogFormat::Text => text(),
        LogFormat::Json => tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr).boxed(),
        LogFormat::Journald => journal().map_err(|error| {
            anyhow::anyhow!("`log.format` is \"journald\" and the journal does not answer: {error}")
        })?,
        LogFormat::Auto if stderr_is_the_journal() => journal().unwrap_or_else(|_| text()),
        LogFormat::Auto => text(),
    };
    let last_error = LastError::default();
    tracing_subscriber::registry().with(layer.with_filter(filter)).with(last_error.clone()).try_init()?;
    Ok(Log { last_error, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_is_kept_with_its_fields_and_warnings_are_not() {
        let last = LastError::default();
        let subscriber = tracing_subscriber::registry().with(last.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(path = "a/b", "cannot write");
            tracing::warn!("later");
            tracing::error!(target: "rmcp::service", "a client left");
        });
        assert_eq!(last.get().unwrap(), "cannot write path=a/b");
    }

    #[test]
    fn clients_of_mcp_cannot_fill_the_log_unless_somebody_wants_to_read_it() {
        assert!(filter_of("info").unwrap().to_string().contains("rmcp=off"));
        let wanted = filter_of("info,rmcp=debug").unwrap().to_string();
        assert!(wanted.contains("rmcp=debug") && !wanted.contains("off"), "{wanted}");
        assert!(filter_of("info,[").is_err());
    }
}
