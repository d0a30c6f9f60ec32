//! The session that the broker keeps between connections.

use rumqttc::{PersistedAckMode, PersistedSession, SessionStore, SessionStoreError, SessionStoreKey};

/// Maximum number of unacknowledged publications.
pub(super) const MAX_IN_FLIGHT: u16 = 100;

/// Says to the client crate that this program has nothing of its own under way in a kept session: `…-in` publishes
/// nothing, and what it received is the broker's to deliver again. Without it the crate refuses to resume a session after
/// a restart.
#[derive(Debug)]
pub(super) struct NothingUnderWay {
    pub(super) client_id: String,
    pub(super) expiry: u32,
}

type StoreFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

impl SessionStore for NothingUnderWay {
    fn load<'a>(&'a self, _: &'a SessionStoreKey) -> StoreFuture<'a, Option<PersistedSession>> {
        let session = PersistedSession {
            format_version: 1,
            client_id: self.client_id.clone(),
            clean_start: false,
            session_expiry_interval: Some(self.expiry),
            outgoing_inflight_upper_limit: Some(MAX_IN_FLIGHT),
            ack_mode: PersistedAckMode::Manual,
            last_pkid: 0,
            last_puback: 0,
            replay: Vec::new(),
            incoming_qos2: Vec::new(),
        };
        Box::pin(std::future::ready(Ok(Some(session))))
    }

    fn save<'a>(&'a self, _: &'a SessionStoreKey, _: &'a PersistedSession) -> StoreFuture<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn clear<'a>(&'a self, _: &'a SessionStoreKey) -> StoreFuture<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}
