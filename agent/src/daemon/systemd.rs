//! What systemd is told. Without `NOTIFY_SOCKET` every call does nothing.

use std::time::Duration;

use sd_notify::NotifyState;

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "systemd does not listen");
    }
}

/// The daemon serves.
pub fn ready() {
    notify(&[NotifyState::Ready]);
}

/// The daemon reads its configuration again; [`ready`] ends it.
pub fn reloading() {
    let reloading = NotifyState::Reloading;
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[reloading, now]),
        Err(_) => notify(&[reloading]),
    }
}

/// The daemon drains.
pub fn stopping() {
    notify(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// One line for `systemctl status`.
pub fn status(line: &str) {
    notify(&[NotifyState::Status(line)]);
}

/// Feeds the watchdog.
pub fn alive() {
    notify(&[NotifyState::Watchdog]);
}

/// How often systemd wants to hear that the daemon lives, if at all.
pub fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}
