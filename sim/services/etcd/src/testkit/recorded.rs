//! Calls and answers as records have them: objects of JSON, in which bytes are text.

use serde_json::{Value, json};

use crate::rpc::{
    Bytes, Compare, CompareResult, CompareTarget, DeleteRangeRequest, Event, EventType, KeyRange,
    KeyValue, LeaderKey, LeaseId, PutRequest, RangeRequest, RangeResponse, Request, RequestOp,
    Response, ResponseHeader, ServerBody, SortOrder, SortTarget, TxnRequest, WatchCreateRequest,
    WatchId, WatchRequest, WatchResponse,
};
use crate::rpctypes::Status;

fn bytes(text: &Value) -> Bytes {
    let text = text.as_str().unwrap_or_default();
    text.chars().map(|letter| letter as u8).collect()
}

fn text(bytes: &[u8]) -> Value {
    bytes
        .iter()
        .map(|byte| char::from(*byte))
        .collect::<String>()
        .into()
}

pub(super) fn number(args: &Value, name: &str) -> i64 {
    args[name].as_i64().unwrap_or_default()
}

pub(super) fn is_set(args: &Value, name: &str) -> bool {
    args[name].as_bool().unwrap_or_default()
}

fn keys(args: &Value) -> KeyRange {
    KeyRange::of(&bytes(&args["key"]), &bytes(&args["range_end"]))
}

fn range(args: &Value) -> RangeRequest {
    RangeRequest {
        keys: keys(args),
        limit: number(args, "limit"),
        revision: number(args, "revision"),
        sort_order: match args["sort_order"].as_str() {
            Some("ASC") => SortOrder::Ascend,
            Some("DESC") => SortOrder::Descend,
            _ => SortOrder::None,
        },
        sort_target: match args["sort_target"].as_str() {
            Some("VERSION") => SortTarget::Version,
            Some("CREATE") => SortTarget::Create,
            Some("MOD") => SortTarget::Mod,
            Some("VALUE") => SortTarget::Value,
            _ => SortTarget::Key,
        },
        serializable: is_set(args, "serializable"),
        keys_only: is_set(args, "keys_only"),
        count_only: is_set(args, "count_only"),
        min_mod_revision: number(args, "min_mod_revision"),
        max_mod_revision: number(args, "max_mod_revision"),
        min_create_revision: number(args, "min_create_revision"),
        max_create_revision: number(args, "max_create_revision"),
    }
}

fn put(args: &Value) -> PutRequest {
    PutRequest {
        key: bytes(&args["key"]),
        value: bytes(&args["value"]),
        lease: LeaseId(number(args, "lease")),
        prev_kv: is_set(args, "prev_kv"),
        ignore_value: is_set(args, "ignore_value"),
        ignore_lease: is_set(args, "ignore_lease"),
    }
}

fn delete(args: &Value) -> DeleteRangeRequest {
    let prev_kv = is_set(args, "prev_kv");
    DeleteRangeRequest {
        keys: keys(args),
        prev_kv,
    }
}

fn compare(args: &Value) -> Compare {
    let operand = number(args, "v");
    Compare {
        keys: keys(args),
        target: match args["target"].as_str() {
            Some("version") => CompareTarget::Version(operand),
            Some("create") => CompareTarget::Create(operand),
            Some("mod") => CompareTarget::Mod(operand),
            Some("lease") => CompareTarget::Lease(LeaseId(operand)),
            _ => CompareTarget::Value(bytes(&args["v"])),
        },
        result: match args["op"].as_str() {
            Some(">") => CompareResult::Greater,
            Some("<") => CompareResult::Less,
            Some("!=") => CompareResult::NotEqual,
            _ => CompareResult::Equal,
        },
    }
}

fn operations(list: &Value) -> Vec<RequestOp> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    let operation = |entry: &Value| match entry[0].as_str() {
        Some("range") => RequestOp::Range(range(&entry[1])),
        Some("put") => RequestOp::Put(put(&entry[1])),
        Some("delete") => RequestOp::DeleteRange(delete(&entry[1])),
        Some("txn") => RequestOp::Txn(txn(&entry[1])),
        _ => RequestOp::Unset,
    };
    list.iter().map(operation).collect()
}

fn txn(args: &Value) -> TxnRequest {
    let compares = args["if"].as_array().map_or(&[][..], Vec::as_slice);
    TxnRequest {
        compare: compares.iter().map(compare).collect(),
        success: operations(&args["then"]),
        failure: operations(&args["else"]),
    }
}

fn leader_key(args: &Value) -> LeaderKey {
    LeaderKey {
        name: bytes(&args["name"]),
        key: bytes(&args["key"]),
        rev: number(args, "create"),
        lease: LeaseId(number(args, "lease")),
    }
}

pub(super) fn request(operation: &str, args: &Value) -> Option<Request> {
    let (id, lease) = (LeaseId(number(args, "id")), LeaseId(number(args, "lease")));
    Some(match operation {
        "range" => Request::Range(range(args)),
        "put" => Request::Put(put(args)),
        "delete" => Request::DeleteRange(delete(args)),
        "txn" => Request::Txn(txn(args)),
        "compact" => Request::Compact(number(args, "revision")),
        "grant" => Request::LeaseGrant(id, number(args, "ttl")),
        "revoke" => Request::LeaseRevoke(id),
        "timetolive" => Request::LeaseTimeToLive(id, is_set(args, "keys")),
        "leases" => Request::LeaseLeases,
        "lock" => Request::Lock(bytes(&args["name"]), lease),
        "unlock" => Request::Unlock(bytes(&args["key"])),
        "campaign" => Request::Campaign(bytes(&args["name"]), lease, bytes(&args["value"])),
        "proclaim" => Request::Proclaim(leader_key(&args["leader"]), bytes(&args["value"])),
        "resign" => Request::Resign(leader_key(&args["leader"])),
        "leader" => Request::Leader(bytes(&args["name"])),
        _ => return None,
    })
}

pub(super) fn watch_request(operation: &str, args: &Value) -> Option<WatchRequest> {
    let has_filter = |name: &str| {
        let filters = args["filters"].as_array();
        filters.is_some_and(|filters| filters.iter().any(|filter| filter == name))
    };
    let watch_id = WatchId(number(args, "watch_id"));
    Some(match operation {
        "watch" => WatchRequest::Create(WatchCreateRequest {
            keys: keys(args),
            start_revision: number(args, "start_revision"),
            prev_kv: is_set(args, "prev_kv"),
            no_put: has_filter("NOPUT"),
            no_delete: has_filter("NODELETE"),
            watch_id,
        }),
        "watch_cancel" => WatchRequest::Cancel(watch_id),
        "watch_progress" => WatchRequest::Progress,
        _ => return None,
    })
}

/// An object of those fields that are not the default.
fn object(fields: &[(&str, Value)]) -> Value {
    let is_default =
        |value: &Value| *value == json!(0) || *value == json!(false) || value.is_null();
    let kept = fields.iter().filter(|(_, value)| !is_default(value));
    Value::Object(
        kept.map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    )
}

fn pair_text(pair: &KeyValue) -> Value {
    let mut found = json!({
        "key": text(&pair.key), "create": pair.create_revision, "mod": pair.mod_revision,
        "ver": pair.version, "value": text(&pair.value),
    });
    if pair.lease != LeaseId(0) {
        found["lease"] = pair.lease.0.into();
    }
    found
}

fn pairs_text(pairs: &[KeyValue]) -> Value {
    pairs.iter().map(pair_text).collect()
}

fn range_text(found: &RangeResponse) -> Value {
    let mut shown = json!({"kvs": pairs_text(&found.kvs), "count": found.count});
    if found.more {
        shown["more"] = true.into();
    }
    shown
}

fn response_text(response: &Response) -> Value {
    match response {
        Response::Range(found) => range_text(found),
        Response::Put(former) => object(&[("prev_kv", former.as_ref().map(pair_text).into())]),
        Response::DeleteRange(deleted, former) => {
            let mut shown = json!({"deleted": deleted});
            if !former.is_empty() {
                shown["prev_kvs"] = pairs_text(former);
            }
            shown
        }
        Response::Txn(succeeded, responses) => {
            let name = |response: &Response| match response {
                Response::Range(_) => "range",
                Response::Put(_) => "put",
                Response::DeleteRange(..) => "delete",
                _ => "txn",
            };
            let shown: Value = responses
                .iter()
                .map(|inner| json!([name(inner), response_text(inner)]))
                .collect();
            json!({"succeeded": succeeded, "responses": shown})
        }
        Response::LeaseGrant(id, ttl) => json!({"id": id.0, "ttl": ttl}),
        Response::LeaseTimeToLive(left) => {
            let keys: Value = left.keys.iter().map(|key| text(key)).collect();
            json!({"id": left.id.0, "ttl": left.ttl, "granted": left.granted, "keys": keys})
        }
        Response::LeaseLeases(ids) => json!({"ids": ids.iter().map(|id| id.0).collect::<Vec<_>>()}),
        Response::Lock(key) => json!({"key": text(key)}),
        Response::Campaign(leader) => json!({"leader": {
            "name": text(&leader.name), "key": text(&leader.key), "create": leader.rev,
            "lease": leader.lease.0,
        }}),
        Response::Leader(pair) => json!({"kv": pair_text(pair)}),
        Response::Compact
        | Response::LeaseRevoke
        | Response::Unlock
        | Response::Proclaim
        | Response::Resign => json!({}),
    }
}

pub(super) fn answer_text(body: &ServerBody) -> Value {
    let with_header = |header: &ResponseHeader, mut shown: Value| {
        shown["rev"] = header.revision.into();
        shown
    };
    match body {
        ServerBody::Unary(header, response) => with_header(header, response_text(response)),
        ServerBody::LeaseKeepAlive(header, id, ttl) => {
            with_header(header, json!({"id": id.0, "ttl": ttl}))
        }
        ServerBody::Error(Status { code, message }) => {
            json!({"err": {"code": code.name(), "msg": message}})
        }
        ServerBody::Watch(response) => panic!("an event as an answer: {response:?}"),
    }
}

fn event_text(event: &Event) -> Value {
    let pair = &event.kv;
    let mut shown = match event.kind {
        EventType::Put => pair_text(pair),
        EventType::Delete => json!({"key": text(&pair.key), "mod": pair.mod_revision}),
    };
    shown["t"] = match event.kind {
        EventType::Put => "PUT".into(),
        EventType::Delete => "DELETE".into(),
    };
    if let Some(former) = &event.prev_kv {
        shown["prev_kv"] = pair_text(former);
    }
    shown
}

pub(super) fn watch_text(stream: &str, response: &WatchResponse) -> Value {
    let events: Value = response.events.iter().map(event_text).collect();
    let reason = Some(response.cancel_reason).filter(|reason| !reason.is_empty());
    let mut shown = object(&[
        ("created", response.created.into()),
        ("canceled", response.canceled.into()),
        ("compact_revision", response.compact_revision.into()),
        ("cancel_reason", reason.into()),
    ]);
    shown["stream"] = stream.into();
    shown["watch_id"] = response.watch_id.0.into();
    shown["rev"] = response.header.revision.into();
    if !response.events.is_empty() {
        shown["events"] = events;
    }
    shown
}
