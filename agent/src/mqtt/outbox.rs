//! What goes out over `…-ask`: replies, which wait for a connection as long as somebody may wait for them, and
//! announcements, which keep their order.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Mutex, Semaphore, mpsc, watch};
use tokio_util::task::TaskTracker;

use super::MqttCounters;
use super::client::{Delivery, Publication, Sender};
use super::reply::ReplyAddress;

/// Maximum number of replies on their way.
const MAX_REPLIES: usize = 1024;

/// Maximum size of these replies together, in KiB. The page of an episode has 512 KiB, and a client that asks for many need not
/// read any.
const MAX_REPLIES_KIB: u32 = 32 << 10;

/// Maximum number of announcements that wait.
const MAX_ANNOUNCEMENTS: usize = 1024;

/// The way out. Never blocks: what finds no room is dropped and counted.
pub struct Outbox {
    link: watch::Sender<Option<Sender>>,
    room: Arc<Semaphore>,
    kib: Arc<Semaphore>,
    replies: TaskTracker,
    announcements: mpsc::Sender<Publication>,
    waiting: Mutex<mpsc::Receiver<Publication>>,
    counters: Arc<MqttCounters>,
}

impl Outbox {
    pub fn new(counters: Arc<MqttCounters>) -> Self {
        let (announcements, waiting) = mpsc::channel(MAX_ANNOUNCEMENTS);
        Self {
            link: watch::Sender::new(None),
            room: Arc::new(Semaphore::new(MAX_REPLIES)),
            kib: Arc::new(Semaphore::new(MAX_REPLIES_KIB as usize)),
            replies: TaskTracker::new(),
            announcements,
            waiting: Mutex::new(waiting),
            counters,
        }
    }

    /// The connection to use from now on.
    pub fn set_link(&self, link: Option<Sender>) {
        self.link.send_replace(link);
    }

    /// Sends a reply; tries again on the next connection if this one breaks first, until `patience` is over.
    pub fn reply(&self, address: ReplyAddress, body: &Value, patience: Duration) {
        let payload = payload(body);
        // No reply is larger than all of them may be.
        let kib = u32::try_from(payload.len() / 1024).map_or(MAX_REPLIES_KIB, |kib| kib.min(MAX_REPLIES_KIB));
        let room = Arc::clone(&self.room).try_acquire_owned();
        let (Ok(room), Ok(bytes)) = (room, Arc::clone(&self.kib).try_acquire_many_owned(kib)) else {
            self.counters.replies_dropped.increment();
            return;
        };
        let publication =
            Publication { topic: address.topic, payload, correlation: address.correlation, ..Publication::default() };
        let (link, counters) = (self.link.subscribe(), Arc::clone(&self.counters));
        self.replies.spawn(async move {
            let delivered = tokio::time::timeout(patience, deliver(link, &publication)).await;
            if !matches!(delivered, Ok(Delivery::Taken | Delivery::NobodyListens)) {
                counters.replies_dropped.increment();
                tracing::warn!(topic = publication.topic, outcome = ?delivered, "a reply was not delivered");
            }
            drop((room, bytes));
        });
    }

    /// Announces something on its topic once there is a connection.
    pub fn announce(&self, topic: String, body: &Value) {
        let publication = Publication { topic, payload: payload(body), ..Publication::default() };
        if self.announcements.try_send(publication).is_err() {
            self.counters.events_dropped.increment();
        }
    }

    /// Hands the announcements to a connection, in order, until it ends.
    pub async fn forward_announcements(&self, link: &Sender) {
        let mut waiting = self.waiting.lock().await;
        while let Some(publication) = waiting.recv().await {
            if link.send(publication).await.is_err() {
                self.counters.events_dropped.increment();
                return;
            }
        }
    }

    /// Waits until every reply is delivered or given up.
    pub async fn flush(&self, patience: Duration) {
        self.replies.close();
        // What is not delivered by then is counted by its own task, or lost with the process.
        drop(tokio::time::timeout(patience, self.replies.wait()).await);
        self.replies.reopen();
    }
}

async fn deliver(mut link: watch::Receiver<Option<Sender>>, publication: &Publication) -> Delivery {
    loop {
        let sender = match link.wait_for(Option::is_some).await {
            Ok(sender) => sender.clone(),
            Err(_stopped) => return Delivery::Refused,
        };
        if let Some(sender) = sender
            && let Ok(delivery) = sender.publish(publication.clone()).await
        {
            return delivery;
        }
        // That connection is over; only the next one can take it.
        if link.changed().await.is_err() {
            return Delivery::Refused;
        }
    }
}

fn payload(body: &Value) -> bytes::Bytes {
    body.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn replies_that_nobody_fetches_are_bounded_by_their_bytes_and_the_room_comes_back() {
        let counters = Arc::new(MqttCounters::default());
        let outbox = Outbox::new(Arc::clone(&counters));
        let address = || ReplyAddress { topic: "reply/somebody".to_owned(), correlation: None };
        let page = Value::String("x".repeat(512 << 10));
        for _ in 0..100 {
            outbox.reply(address(), &page, Duration::from_secs(5));
        }
        assert_eq!(counters.replies_dropped.get(), 100 - 64);
        // Nobody fetches the others in time.
        outbox.flush(Duration::from_secs(10)).await;
        assert_eq!(counters.replies_dropped.get(), 100);
        outbox.reply(address(), &page, Duration::from_secs(5));
        assert_eq!(counters.replies_dropped.get(), 100, "there is room again");
    }
}
