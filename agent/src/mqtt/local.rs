//! The requests of the contract from inside the program: the same parsing, the same rules and the same replies, without a
//! broker. For `[mcp] listen`.

use std::time::Duration;

use bytes::Bytes;
use memory_core::Observation;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::ask::read_question;
use super::client::Message;
use super::commands::CommandName;
use super::context::Context;
use super::fields::Fields;
use super::observe::read_observations;
use super::reply::{Code, Refusal, Route};
use super::request::Vitals;
use super::{MqttError, MqttInterface, requests};
use crate::health::HealthReport;
use crate::service::ObserveFailure;

/// Maximum delay of an observation that exceeds `mqtt.limits.observations_per_s`.
const MAX_DELAY: Duration = Duration::from_secs(5);

/// The contract without a broker.
pub struct LocalAccess {
    context: Context,
    health: watch::Receiver<HealthReport>,
}

impl LocalAccess {
    /// Creates access to the memory of `interface`. Requests have a rate limit of their own, with the numbers of `mqtt.limits`.
    ///
    /// # Errors
    /// See [`MqttError`].
    pub fn new(interface: MqttInterface) -> Result<Self, MqttError> {
        let (context, health) = Context::new(interface)?;
        Ok(Self { context, health })
    }

    /// Name of the robot.
    pub fn robot(&self) -> &str {
        &self.context.identity.robot
    }

    /// Returns the program's status and health.
    pub fn vitals(&self) -> Vitals {
        let health = serde_json::to_value(&*self.health.borrow()).ok();
        Vitals { status: Some("online".to_owned()), health }
    }

    /// Asks, as `…/ask` does; the reply may be an error.
    pub async fn ask(&self, body: &Value) -> Value {
        let arrival = self.context.clock.monotonic();
        self.context.counters.asks.increment();
        let message = message(self.context.topics.ask(), body);
        let request =
            read_question(&message, &self.context.router(), &self.context.config.limits, &self.context.moment());
        let outcome = match request.body {
            Ok(_) if !self.context.admit() => Err(busy()),
            Ok(asked) => requests::answer(&self.context, &Route::default(), asked, arrival).await,
            Err(refusal) => Err(refusal),
        };
        match &outcome {
            Ok(_) => self.context.counters.asks_answered.increment(),
            Err(_) => self.context.counters.asks_failed.increment(),
        }
        sealed(outcome)
    }

    /// Tells, as `…/observe` does; replies after the commit.
    pub async fn observe(&self, body: &Value) -> Value {
        let counters = &self.context.counters;
        counters.observe_messages.increment();
        let message = message(self.context.topics.observe(), body);
        let request = read_observations(&message, &self.context.router(), &self.context.config.limits);
        let outcome = async {
            let items = request.body?;
            let wait = self.context.pace(items.told.len());
            if wait > MAX_DELAY {
                return Err(busy());
            }
            tokio::time::sleep(wait).await;
            let batch = items.told.iter().cloned().map(Observation::Told).collect();
            let committed = self.context.service.observe(batch).await.map_err(|failure| {
                let code =
                    if matches!(failure, ObserveFailure::StorageFull(_)) { Code::StorageFull } else { Code::Internal };
                Refusal::new(code, failure.to_string())
            })?;
            let report = items.report(&committed);
            counters.observations_accepted.add(report.accepted);
            counters.observations_duplicate.add(report.duplicates);
            counters.observations_rejected.add(report.rejected.len() as u64);
            Ok(report.body(&Route::default()))
        };
        sealed(outcome.await)
    }

    /// Runs a command, as `…/cmd/<name>` does, for commands that reply once. The client has shown a token, so nothing more has to be proved;
    /// what `[mqtt.allow]` denies is denied here too.
    pub async fn command(&self, name: &str, body: &Value) -> Value {
        self.context.counters.commands.increment();
        let outcome = async {
            let name = CommandName::parse(name)?;
            name.check_not_denied(&self.context.config)?;
            self.context.admit_command(name)?;
            let none = Map::new();
            requests::run(&self.context, name, Fields(body.as_object().unwrap_or(&none))).await
        };
        sealed(outcome.await)
    }
}

fn busy() -> Refusal {
    Refusal::new(Code::Busy, "more requests a second than mqtt.limits allows; try again in a moment")
}

fn sealed(outcome: Result<Value, Refusal>) -> Value {
    outcome.unwrap_or_else(|refusal| json!({ "error": refusal }))
}

fn message(topic: String, body: &Value) -> Message {
    Message { topic, payload: Bytes::from(body.to_string()), ..Message::default() }
}
