//! SIGTERM and SIGINT: the first drains, the second forces the end. SIGHUP is kept for who reloads.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// The hangups from here on. Asked for before anything slow: until then a SIGHUP ends the program.
///
/// # Errors
/// If the handler cannot be installed.
pub fn hangups() -> std::io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// Cancels `shutdown` at the first signal and ends the process at the second.
///
/// # Errors
/// If the handlers cannot be installed.
pub fn watch(shutdown: CancellationToken) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        for count in 0_u32.. {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if count == 0 {
                tracing::info!("draining; a second signal ends the program at once");
                shutdown.cancel();
            } else {
                tracing::error!("ended by a second signal; what was not committed is lost");
                std::process::exit(Exit::Forced as i32);
            }
        }
    });
    Ok(())
}
