//! The MQTT front door (the contract is in the operator's guide).
