//! The JSON gateway of a member: what records say becomes what it understands, and its answers what records say.
//!
//! In records bytes are text, numbers are numbers, and all that is not set is left out or has its default; the gateway
//! has bytes in base 64, and great numbers as text.

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

/// The path of an operation.
pub(super) fn path(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "range" => "/v3/kv/range",
        "put" => "/v3/kv/put",
        "delete" => "/v3/kv/deleterange",
        "txn" => "/v3/kv/txn",
        "compact" => "/v3/kv/compaction",
        "grant" => "/v3/lease/grant",
        "revoke" => "/v3/lease/revoke",
        "timetolive" => "/v3/lease/timetolive",
        "leases" => "/v3/lease/leases",
        "keepalive" => "/v3/lease/keepalive",
        "lock" => "/v3/lock/lock",
        "unlock" => "/v3/lock/unlock",
        "campaign" => "/v3/election/campaign",
        "proclaim" => "/v3/election/proclaim",
        "resign" => "/v3/election/resign",
        "leader" => "/v3/election/leader",
        _ => return None,
    })
}

/// What a call says.
pub(super) fn request(operation: &str, args: &Value) -> Value {
    match operation {
        "txn" => transaction(args),
        "watch" => json!({"create_request": fields(args)}),
        "watch_cancel" => json!({"cancel_request": fields(args)}),
        "watch_progress" => json!({"progress_request": {}}),
        _ => fields(args),
    }
}

fn encoded(text: &Value) -> Value {
    let letters = text.as_str().unwrap_or_default().chars();
    let bytes: Vec<u8> = letters.map(|letter| letter as u8).collect();
    BASE64.encode(&bytes).into()
}

/// The fields of a message by their names there.
fn fields(args: &Value) -> Value {
    let mut fields = Map::new();
    for (name, value) in args.as_object().into_iter().flatten() {
        let (name, value) = match &**name {
            // What steps say of themselves.
            "call" | "stream" | "hasleader" => continue,
            "key" | "range_end" | "value" | "name" => (&**name, encoded(value)),
            "id" => ("ID", value.clone()),
            "ttl" => ("TTL", value.clone()),
            "create" => ("rev", value.clone()),
            "leader" => ("leader", self::fields(value)),
            "sort_order" if value == "ASC" => ("sort_order", "ASCEND".into()),
            "sort_order" => ("sort_order", "DESCEND".into()),
            other => (other, value.clone()),
        };
        fields.insert(name.to_owned(), value);
    }
    fields.into()
}

fn transaction(args: &Value) -> Value {
    json!({
        "compare": list(&args["if"]).iter().map(compare).collect::<Value>(),
        "success": list(&args["then"]).iter().map(operation).collect::<Value>(),
        "failure": list(&args["else"]).iter().map(operation).collect::<Value>(),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn compare(args: &Value) -> Value {
    let result = match args["op"].as_str() {
        Some(">") => "GREATER",
        Some("<") => "LESS",
        Some("!=") => "NOT_EQUAL",
        _ => "EQUAL",
    };
    let target = args["target"].as_str().unwrap_or_default();
    let (operand, value) = match target {
        "create" => ("create_revision", args["v"].clone()),
        "mod" => ("mod_revision", args["v"].clone()),
        "value" => ("value", encoded(&args["v"])),
        other => (other, args["v"].clone()),
    };
    let mut shown = json!({
        "key": encoded(&args["key"]), "range_end": encoded(&args["range_end"]),
        "target": target.to_ascii_uppercase(), "result": result,
    });
    if !value.is_null() {
        shown[operand] = value;
    }
    shown
}

fn operation(entry: &Value) -> Value {
    match entry[0].as_str() {
        Some("range") => json!({"request_range": fields(&entry[1])}),
        Some("put") => json!({"request_put": fields(&entry[1])}),
        Some("delete") => json!({"request_delete_range": fields(&entry[1])}),
        Some("txn") => json!({"request_txn": transaction(&entry[1])}),
        _ => json!({}),
    }
}

fn number(value: &Value) -> i64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or(value.as_i64()).unwrap_or_default()
}

fn text(value: &Value) -> Value {
    let bytes = BASE64.decode(value.as_str().unwrap_or_default().as_bytes());
    let letters = bytes.unwrap_or_default().into_iter().map(char::from);
    letters.collect::<String>().into()
}

/// The names of codes of gRPC.
fn code(number: i64) -> &'static str {
    match number {
        3 => "INVALID_ARGUMENT",
        4 => "DEADLINE_EXCEEDED",
        5 => "NOT_FOUND",
        8 => "RESOURCE_EXHAUSTED",
        9 => "FAILED_PRECONDITION",
        11 => "OUT_OF_RANGE",
        13 => "INTERNAL",
        14 => "UNAVAILABLE",
        _ => "UNKNOWN",
    }
}

/// What a call was answered.
pub(super) fn answer(operation: &str, body: &str) -> Value {
    let body: Value = match serde_json::from_str(body) {
        Ok(body) => body,
        Err(error) => return json!({"unreadable": body, "why": error.to_string()}),
    };
    let body = body.get("result").unwrap_or(&body);
    let failed = match &body["error"] {
        Value::String(_) => Some((&body["code"], &body["message"])),
        Value::Object(error) => Some((&body["error"]["grpc_code"], &error["message"])),
        _ => None,
    };
    if let Some((number, message)) = failed {
        let code = code(self::number(number));
        return json!({"err": {"code": code, "msg": message}});
    }
    let mut shown = response(operation, body);
    shown["rev"] = number(&body["header"]["revision"]).into();
    shown
}

fn response(operation: &str, body: &Value) -> Value {
    let kvs = |name: &str| list(&body[name]).iter().map(pair).collect::<Value>();
    let mut shown = json!({});
    match operation {
        "range" => {
            shown = json!({"kvs": kvs("kvs"), "count": number(&body["count"])});
            if body["more"] == true {
                shown["more"] = true.into();
            }
        }
        "put" if body["prev_kv"].is_object() => shown["prev_kv"] = pair(&body["prev_kv"]),
        "delete" => {
            shown["deleted"] = number(&body["deleted"]).into();
            if body["prev_kvs"].is_array() {
                shown["prev_kvs"] = kvs("prev_kvs");
            }
        }
        "txn" => {
            let responses: Value = list(&body["responses"]).iter().map(inner).collect();
            shown = json!({"succeeded": body["succeeded"] == true, "responses": responses});
        }
        "grant" | "keepalive" => {
            shown = json!({"id": number(&body["ID"]), "ttl": number(&body["TTL"])});
        }
        "timetolive" => {
            shown = json!({
                "id": number(&body["ID"]), "ttl": number(&body["TTL"]),
                "granted": number(&body["grantedTTL"]),
                "keys": list(&body["keys"]).iter().map(text).collect::<Value>(),
            });
        }
        "leases" => {
            let ids = list(&body["leases"]).iter();
            shown["ids"] = ids.map(|lease| number(&lease["ID"])).collect();
        }
        "lock" => shown["key"] = text(&body["key"]),
        "leader" => shown["kv"] = pair(&body["kv"]),
        "campaign" => {
            let leader = &body["leader"];
            shown["leader"] = json!({
                "name": text(&leader["name"]), "key": text(&leader["key"]),
                "create": number(&leader["rev"]), "lease": number(&leader["lease"]),
            });
        }
        _ => {}
    }
    shown
}

/// A part of the answer to a transaction.
fn inner(part: &Value) -> Value {
    const PARTS: [(&str, &str); 4] = [
        ("range", "response_range"),
        ("put", "response_put"),
        ("delete", "response_delete_range"),
        ("txn", "response_txn"),
    ];
    let known = PARTS.iter().find(|(_, field)| part[field].is_object());
    let (name, field) = known.unwrap_or(&("nothing", "nothing"));
    json!([name, response(name, &part[field])])
}

fn pair(pair: &Value) -> Value {
    let mut shown = json!({
        "key": text(&pair["key"]), "create": number(&pair["create_revision"]),
        "mod": number(&pair["mod_revision"]), "ver": number(&pair["version"]),
        "value": text(&pair["value"]),
    });
    if pair["lease"].is_string() {
        shown["lease"] = number(&pair["lease"]).into();
    }
    shown
}

/// What a stream of watches has told.
pub(super) fn watch(stream: &str, body: &str) -> Value {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let body = &body["result"];
    let mut shown = json!({
        "stream": stream, "watch_id": number(&body["watch_id"]),
        "rev": number(&body["header"]["revision"]),
    });
    for name in ["created", "canceled", "cancel_reason"] {
        if !body[name].is_null() {
            shown[name] = body[name].clone();
        }
    }
    if !body["compact_revision"].is_null() {
        shown["compact_revision"] = number(&body["compact_revision"]).into();
    }
    if body["events"].is_array() {
        shown["events"] = list(&body["events"]).iter().map(event).collect();
    }
    shown
}

fn event(event: &Value) -> Value {
    let is_deletion = event["type"] == "DELETE";
    let mut shown = pair(&event["kv"]);
    if is_deletion {
        shown = json!({"key": shown["key"], "mod": shown["mod"]});
    }
    shown["t"] = if is_deletion { "DELETE" } else { "PUT" }.into();
    if event["prev_kv"].is_object() {
        shown["prev_kv"] = pair(&event["prev_kv"]);
    }
    shown
}
