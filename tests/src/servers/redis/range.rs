//! Reading what a node says about slots.

use redis::{FromRedisValue, ParsingError, Value, from_redis_value};

/// Slots that follow one another, and the port of the node that they are on.
#[derive(Debug)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) port: u16,
}

/// One entry of `CLUSTER SLOTS`: first, last, the primary as address, port and more, its replicas.
impl FromRedisValue for Range {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let entry: Vec<Value> = from_redis_value(value)?;
        let [first, last, primary, ..] = entry.as_slice() else {
            return Err("a range has three parts or more".into());
        };
        let primary: Vec<Value> = from_redis_value(primary.clone())?;
        let [_, port, ..] = primary.as_slice() else {
            return Err("a node has two parts or more".into());
        };
        let number = |value: &Value| from_redis_value(value.clone());
        Ok(Range { first: number(first)?, last: number(last)?, port: number(port)? })
    }
}
