//! SIGTERM and SIGINT: the first drains, the second forces the end.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

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
