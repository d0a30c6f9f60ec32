//! The two connections and what happens on them.

use std::sync::Arc;
use std::time::Duration;

use memory_core::{EntityNews, GistNews, ProcedureNews};
use serde_json::json;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::MqttError;
use super::backoff::Backoff;
use super::beat::{self, Beat};
use super::client::{ConnectionEnd, EndKind, Gone, Link, LinkOptions, Publication, Reliability, Sender};
use super::context::{CONNECTION_ASK, CONNECTION_IN, Context, RIGHTS_ASK, RIGHTS_IN, STORAGE};
use super::dispute::{self, Dispute, Due};
use super::ingest::{self, Ended, Ingest};
use super::presence::{OFFLINE, ONLINE, STOPPED, SessionClaim, claim, shown};
use super::requests::{Dispatcher, Sign};
use super::topics::{ClientRole, Outbound};
use super::{entities, gists, homeassistant, looking, procedure};
use crate::health::HealthReport;
use crate::service::EpisodeEvent;

/// Maximum number of presence messages that wait.
const MAX_SIGNS: usize = 64;
/// How long `online` waits for the connection `…-in`, so that no client publishes before it is subscribed.
const ONLINE_WAIT: Duration = Duration::from_secs(3);
/// Maximum time of each step of a clean exit.
const LEAVE_STEP_TIMEOUT: Duration = Duration::from_secs(2);

/// `…-in`: observations and `cmd/forget`.
pub struct InConnection {
    pub context: Arc<Context>,
    /// True while this engram may serve.
    pub claimed: watch::Receiver<bool>,
    /// True while observations reach the memory.
    pub subscribed: watch::Sender<bool>,
    pub stop: CancellationToken,
}

impl InConnection {
    pub async fn run(mut self) {
        let most = Duration::from_secs(self.context.config.reconnect_max_s);
        let mut backoff = Backoff::new(most);
        let mut storage_backoff = Backoff::new(most);
        while !self.stop.is_cancelled() {
            tokio::select! {
                () = self.stop.cancelled() => return,
                claimed = self.claimed.wait_for(|claimed| *claimed) => if claimed.is_err() { return },
            }
            let accepted = self.context.counters.observations_accepted.get();
            let (end, ended) = self.connection(&mut backoff).await;
            self.subscribed.send_replace(false);
            if self.context.counters.observations_accepted.get() > accepted {
                storage_backoff.reset();
            }
            let pause = match ended {
                Ended::StorageTrouble(problem) => {
                    self.context.problem(STORAGE, Some(&problem));
                    storage_backoff.pause(EndKind::Lost)
                }
                // The name was given up; it is waited for again.
                Ended::Done if end.kind == EndKind::Closed && !self.stop.is_cancelled() => continue,
                Ended::Done if end.kind == EndKind::Closed => return,
                Ended::Done => {
                    self.context.report(CONNECTION_IN, &end);
                    backoff.pause(end.kind)
                }
            };
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One connection, from CONNECT until every message it brought is dealt with.
    async fn connection(&self, backoff: &mut Backoff) -> (ConnectionEnd, Ended) {
        let context = &self.context;
        let limits = &context.config.limits;
        let (ingest_sender, messages) = ingest::ingest_channel();
        let (trouble, closing) = (CancellationToken::new(), CancellationToken::new());
        let options = LinkOptions {
            client_id: context.topics.client_id(&context.identity.instance, ClientRole::In),
            keep_session: Some(Duration::from_secs(u64::from(context.config.session_expiry_h) * 3600)),
            receive_maximum: Some(limits.unacknowledged),
            will: None,
            watched: Some((Arc::clone(&context.watchdog), "mqtt in events")),
            acknowledgements: ingest::MAX_IN_FLIGHT,
        };
        let connected = tokio::select! {
            () = self.stop.cancelled() => return (closed(), Ended::Done),
            connected = context.broker.connect(options, ingest_sender) => connected,
        };
        let mut link = match connected {
            Ok(link) => link,
            Err(end) => return (end, Ended::Done),
        };
        context.counters.connects_in.increment();
        tracing::debug!(session_present = link.session_present(), "connected for observations");
        let ingest =
            Ingest { context: Arc::clone(context), messages, trouble: trouble.clone(), closing: closing.clone() };
        let ingest = AbortOnDropHandle::new(tokio::spawn(ingest.run()));
        let end = tokio::select! {
            end = self.subscribe(&mut link, backoff) => end,
            () = trouble.cancelled() => closed(),
            () = self.stop.cancelled() => closed(),
            () = given_up(self.claimed.clone()) => closed(),
        };
        self.subscribed.send_replace(false);
        if self.stop.is_cancelled() {
            // What has come is committed and acknowledged before leaving; the session keeps the rest.
            closing.cancel();
            let ended = tokio::time::timeout(LEAVE_STEP_TIMEOUT, ingest).await;
            link.close(LEAVE_STEP_TIMEOUT).await;
            return (closed(), ended.map_or(Ended::Done, done));
        }
        drop(link);
        (end, done(ingest.await))
    }

    /// Subscribes and waits for the end.
    async fn subscribe(&self, link: &mut Link, backoff: &mut Backoff) -> ConnectionEnd {
        let topics = &self.context.topics;
        let forget = topics.command("forget").expect("names of commands are topic levels");
        let filters = [topics.observe(), forget].map(|filter| (filter, Reliability::AtLeastOnce));
        let sender = link.sender().clone();
        match link.during(sender.subscribe(&filters)).await {
            Ok(Ok(granted)) => {
                report_rights(&self.context, RIGHTS_IN, &filters, &granted);
                backoff.reset();
                self.context.problem(CONNECTION_IN, None);
                self.subscribed.send_replace(true);
                link.end().await
            }
            Ok(Err(Gone)) => link.end().await,
            Err(end) => end,
        }
    }
}

/// Waits until this engram may not serve any more.
async fn given_up(mut claimed: watch::Receiver<bool>) {
    if claimed.wait_for(|claimed| !*claimed).await.is_err() {
        // The other connection is gone; `stop` says the rest.
        std::future::pending().await
    }
}

fn done(ended: Result<Ended, tokio::task::JoinError>) -> Ended {
    ended.unwrap_or_else(|error| Ended::StorageTrouble(error.to_string()))
}

fn closed() -> ConnectionEnd {
    ConnectionEnd { kind: EndKind::Closed, message: "closed".to_owned() }
}

fn report_rights(context: &Context, part: &'static str, filters: &[(String, Reliability)], granted: &[bool]) {
    let denied: Vec<&str> =
        filters.iter().zip(granted).filter(|(_, granted)| !**granted).map(|((filter, _), _)| filter.as_str()).collect();
    let problem = (!denied.is_empty()).then(|| {
        ["the broker does not let engram subscribe to ", &denied.join(", "), "; check its access rules"].concat()
    });
    context.problem(part, problem.as_deref());
}

/// `…-ask`: questions, commands, and everything that is published.
pub struct AskConnection {
    pub context: Arc<Context>,
    pub health: watch::Receiver<HealthReport>,
    pub claimed: watch::Sender<bool>,
    /// Whether this engram has served the robot name since it started.
    pub has_served: bool,
    pub subscribed: watch::Receiver<bool>,
    pub shutdown: CancellationToken,
    pub online: watch::Sender<bool>,
    pub stop_in: CancellationToken,
    pub in_connection: AbortOnDropHandle<()>,
}

/// Announcements of the memory.
struct MemoryEvents {
    episodes: broadcast::Receiver<EpisodeEvent>,
    entities: broadcast::Receiver<EntityNews>,
    procedures: broadcast::Receiver<ProcedureNews>,
    gists: broadcast::Receiver<GistNews>,
    looking: broadcast::Receiver<crate::service::LookingNews>,
}

/// How a connection ended.
enum ServingEnd {
    Lost(ConnectionEnd),
    Taken(String),
}

impl AskConnection {
    pub async fn run(mut self) -> Result<(), MqttError> {
        let mut backoff = Backoff::new(Duration::from_secs(self.context.config.reconnect_max_s));
        let mut events = MemoryEvents {
            episodes: self.context.service.episode_events(),
            entities: self.context.service.entity_events(),
            procedures: self.context.service.procedure_events(),
            gists: self.context.service.gist_events(),
            looking: self.context.service.looking_events(),
        };
        while !self.shutdown.is_cancelled() {
            let (to_session, mut signs) = mpsc::channel(MAX_SIGNS);
            let dispatcher = Dispatcher { context: Arc::clone(&self.context), signs: to_session };
            let connected = tokio::select! {
                () = self.shutdown.cancelled() => break,
                connected = self.context.broker.connect(self.options(), move |message| dispatcher.dispatch(message)) => connected,
            };
            let end = match connected {
                Err(end) => end,
                Ok(mut link) => {
                    self.context.counters.connects_ask.increment();
                    let shutdown = self.shutdown.clone();
                    let outcome = tokio::select! {
                        () = shutdown.cancelled() => None,
                        outcome = self.session(&mut link, &mut signs, &mut events, &mut backoff) => Some(outcome),
                    };
                    match outcome {
                        None => {
                            self.leave(link).await;
                            return Ok(());
                        }
                        Some(ServingEnd::Taken(other)) if self.has_served => {
                            self.step_back(link, &other).await;
                            let pause = backoff.pause(EndKind::TakenOver);
                            tokio::select! {
                                () = self.shutdown.cancelled() => {}
                                () = tokio::time::sleep(pause) => {}
                            }
                            continue;
                        }
                        Some(ServingEnd::Taken(other)) => {
                            self.online.send_replace(false);
                            self.stop_in.cancel();
                            // A clean farewell keeps the will from declaring the other one offline.
                            link.close(LEAVE_STEP_TIMEOUT).await;
                            return Err(MqttError::RobotNameTaken {
                                robot: self.context.topics.robot().to_owned(),
                                other,
                            });
                        }
                        Some(ServingEnd::Lost(end)) => end,
                    }
                }
            };
            self.online.send_replace(false);
            self.context.outbox.set_link(None);
            self.context.report(CONNECTION_ASK, &end);
            tokio::select! {
                () = self.shutdown.cancelled() => {}
                () = tokio::time::sleep(backoff.pause(end.kind)) => {}
            }
        }
        self.stop_in.cancel();
        drop(tokio::time::timeout(LEAVE_STEP_TIMEOUT, &mut self.in_connection).await);
        Ok(())
    }

    fn options(&self) -> LinkOptions {
        let topics = &self.context.topics;
        LinkOptions {
            client_id: topics.client_id(&self.context.identity.instance, ClientRole::Ask),
            keep_session: None,
            receive_maximum: None,
            will: Some((topics.outbound(Outbound::Status), OFFLINE)),
            watched: Some((Arc::clone(&self.context.watchdog), "mqtt ask events")),
            acknowledgements: 0,
        }
    }

    async fn session(
        &mut self,
        link: &mut Link,
        signs: &mut mpsc::Receiver<Sign>,
        events: &mut MemoryEvents,
        backoff: &mut Backoff,
    ) -> ServingEnd {
        let sender = link.sender().clone();
        let serving = async {
            match claim(&self.context, &sender, signs).await? {
                SessionClaim::Taken(other) => return Ok(ServingEnd::Taken(other)),
                SessionClaim::Free => {}
            }
            backoff.reset();
            self.context.problem(CONNECTION_ASK, None);
            self.has_served = true;
            self.claimed.send_replace(true);
            self.context.outbox.set_link(Some(sender.clone()));
            self.subscribe_and_announce(&sender).await?;
            self.serve(&sender, signs, events).await
        };
        match link.during(serving).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(Gone)) => ServingEnd::Lost(link.end().await),
            Err(end) => ServingEnd::Lost(end),
        }
    }

    async fn subscribe_and_announce(&mut self, link: &Sender) -> Result<(), Gone> {
        let topics = &self.context.topics;
        self.announce_instance(link).await?;
        self.announce_recording(link).await?;
        let commands = topics.commands();
        let [ask, commands] = [topics.ask(), commands].map(|filter| (filter, Reliability::AtLeastOnce));
        let filters = [ask, commands, (topics.pose(), Reliability::AtMostOnce)];
        let granted = link.subscribe(&filters).await?;
        report_rights(&self.context, RIGHTS_ASK, &filters, &granted);
        let both = self.subscribed.wait_for(|subscribed| *subscribed);
        if !matches!(tokio::time::timeout(ONLINE_WAIT, both).await, Ok(Ok(_))) {
            tracing::warn!("online without the connection for observations");
        }
        self.announce_online(link).await?;
        self.online.send_replace(true);
        tracing::info!(robot = topics.robot(), instance = self.context.identity.instance, "online");
        Ok(())
    }

    async fn serve(
        &mut self,
        link: &Sender,
        signs: &mut mpsc::Receiver<Sign>,
        events: &mut MemoryEvents,
    ) -> Result<ServingEnd, Gone> {
        let context = Arc::clone(&self.context);
        let mut beat = Beat::new(Duration::from_secs(context.config.health_interval_s));
        let mut health_open = true;
        let mut dispute = Dispute::new(&context, Instant::now());
        let own = context.identity.instance.as_str();
        let mut announcements = std::pin::pin!(context.outbox.forward_announcements(link));
        let mut discovery = Box::pin(homeassistant::run(&context, link, self.health.clone()));
        loop {
            tokio::select! {
                () = &mut announcements => return Err(Gone),
                gone = &mut discovery => return Err(gone),
                event = events.episodes.recv() => match event {
                    Ok(event) => announce_episode(&context, event),
                    Err(broadcast::error::RecvError::Lagged(missed)) => context.counters.events_dropped.add(missed),
                    // The writer has stopped: nothing more will happen to episodes, and the rest goes on.
                    Err(broadcast::error::RecvError::Closed) => events.episodes = context.service.episode_events(),
                },
                event = events.entities.recv() => match event {
                    Ok(news) => {
                        context.outbox.announce(context.topics.outbound(Outbound::Entity), &entities::news(&news));
                    }
                    Err(broadcast::error::RecvError::Lagged(missed)) => context.counters.events_dropped.add(missed),
                    Err(broadcast::error::RecvError::Closed) => events.entities = context.service.entity_events(),
                },
                event = events.procedures.recv() => match event {
                    Ok(news) => {
                        context.outbox.announce(context.topics.outbound(Outbound::Procedure), &procedure::news(&news));
                    }
                    Err(broadcast::error::RecvError::Lagged(missed)) => context.counters.events_dropped.add(missed),
                    Err(broadcast::error::RecvError::Closed) => {
                        events.procedures = context.service.procedure_events();
                    }
                },
                event = events.gists.recv() => match event {
                    Ok(gist) => {
                        context.outbox.announce(context.topics.outbound(Outbound::Gist), &gists::news(&gist, &context.zone));
                    }
                    Err(broadcast::error::RecvError::Lagged(missed)) => context.counters.events_dropped.add(missed),
                    Err(broadcast::error::RecvError::Closed) => events.gists = context.service.gist_events(),
                },
                event = events.looking.recv() => match event {
                    Ok(step) => {
                        let topic = context.topics.outbound(Outbound::Reasoning);
                        context.outbox.announce(topic, &looking::news(&step, &context.zone));
                    }
                    Err(broadcast::error::RecvError::Lagged(missed)) => context.counters.events_dropped.add(missed),
                    Err(broadcast::error::RecvError::Closed) => events.looking = context.service.looking_events(),
                },
                () = tokio::time::sleep_until(beat.due()) => {
                    let report = self.health.borrow_and_update().clone();
                    let topic = context.topics.outbound(Outbound::Health);
                    let payload = beat::payload(&report);
                    link.send(Publication { topic, payload, retain: true, fire_and_forget: true, ..Publication::default() }).await?;
                    beat.published(report);
                }
                changed = self.health.changed(), if health_open => match changed {
                    Ok(()) => beat.changed(&self.health.borrow_and_update()),
                    Err(_) => health_open = false,
                },
                () = context.recording_changed.notified() => self.announce_recording(link).await?,
                sign = signs.recv() => match sign {
                    None => return Err(Gone),
                    Some(Sign::Instance(other)) if !other.is_empty() && other != own => {
                        dispute.instance(own, &other, Instant::now());
                    }
                    // The will of an earlier connection, or of one that has left: this one is here.
                    Some(Sign::Status(status)) if status != ONLINE => dispute.status(),
                    Some(Sign::Answer(text)) => if let Some(other) = dispute.answer(own, &text) {
                        return Ok(ServingEnd::Taken(other));
                    },
                    Some(_) => {}
                },
                () = dispute::until(dispute.due()) => match dispute.next(Instant::now()) {
                    Some(Due::Correct) => {
                        self.announce_instance(link).await?;
                        self.announce_online(link).await?;
                    }
                    Some(Due::Challenge) => {
                        tracing::warn!("another id is announced for this robot name; it is challenged");
                        dispute.challenge(&context, link).await?;
                    }
                    Some(Due::Settled) => {
                        tracing::warn!("nobody answered the challenge; the announcement for this robot name is corrected");
                        dispute.settle(link).await?;
                    }
                    None => {}
                },
            }
        }
    }

    /// Leaves the robot name to another engram for a while. A stranger may have said that there is one, so nothing ends.
    async fn step_back(&mut self, link: Link, other: &str) {
        self.online.send_replace(false);
        self.claimed.send_replace(false);
        self.context.outbox.set_link(None);
        let message = format!(
            "another engram (instance {}) answers for the robot `{}`; this one is offline and tries again; set a different \
             `robot` in the configuration of one of the two",
            shown(other),
            self.context.topics.robot()
        );
        self.context.problem(CONNECTION_ASK, Some(&message));
        // A clean farewell keeps the will from declaring the other one offline.
        link.close(LEAVE_STEP_TIMEOUT).await;
    }

    async fn announce_instance(&self, link: &Sender) -> Result<(), Gone> {
        link.send(self.retained(Outbound::Instance, &self.context.identity.instance)).await
    }

    async fn announce_recording(&self, link: &Sender) -> Result<(), Gone> {
        let state = if self.context.recording.paused() { "paused" } else { "on" };
        link.send(self.retained(Outbound::Recording, state)).await
    }

    async fn announce_online(&self, link: &Sender) -> Result<(), Gone> {
        link.publish(self.retained(Outbound::Status, ONLINE)).await.map(drop)
    }

    fn retained(&self, topic: Outbound, text: &str) -> Publication {
        Publication {
            topic: self.context.topics.outbound(topic),
            payload: text.to_owned().into(),
            retain: true,
            plain_text: true,
            ..Publication::default()
        }
    }

    /// Takes nothing new, finishes what is under way, says `stopped`.
    async fn leave(&mut self, link: Link) {
        let context = &self.context;
        context.leaving.cancel();
        self.stop_in.cancel();
        // Each step that overruns is given up: what was accepted is committed, and the rest is the broker's to keep.
        drop(tokio::time::timeout(LEAVE_STEP_TIMEOUT * 2, &mut self.in_connection).await);
        context.requests.close();
        drop(tokio::time::timeout(LEAVE_STEP_TIMEOUT, context.requests.wait()).await);
        context.outbox.flush(LEAVE_STEP_TIMEOUT).await;
        let stopped = self.retained(Outbound::Status, STOPPED);
        drop(tokio::time::timeout(LEAVE_STEP_TIMEOUT, link.sender().publish(stopped)).await);
        link.close(LEAVE_STEP_TIMEOUT).await;
        self.online.send_replace(false);
    }
}

fn announce_episode(context: &Context, event: EpisodeEvent) {
    let topic = context.topics.outbound(Outbound::Episode);
    context.outbox.announce(topic, &json!({"type": event.change, "id": event.id.to_string()}));
}
