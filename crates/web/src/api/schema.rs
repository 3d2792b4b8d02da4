//! JSON schemas from a short way of writing fields: `url:str status:int? ~at:time traps:[obj]`.
//!
//! A `?` behind a type: it may be null. A `~` before a name: it may be missing. More fields may follow at any time.

use super::table::{Kind, LONGEST_CURSOR, Param};
use serde_json::{Map, Value, json};

/// The schema of an object with these fields.
pub(crate) fn object(fields: &str) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields.split_whitespace() {
        let (name, kind) = field.split_once(':').unwrap_or((field, "any"));
        let bare = name.trim_start_matches('~');
        if bare == name {
            required.push(bare);
        }
        properties.insert(bare.to_owned(), of_type(kind));
    }
    let mut out = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    out
}

fn of_type(kind: &str) -> Value {
    if let Some(kind) = kind.strip_suffix('?') {
        return json!({ "anyOf": [of_type(kind), { "type": "null" }] });
    }
    if let Some(kind) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
        return json!({ "type": "array", "items": of_type(kind) });
    }
    match kind {
        "int" => json!({ "type": "integer", "minimum": 0 }),
        "num" => json!({ "type": "number" }),
        "str" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "time" => json!({ "type": "string", "format": "date-time" }),
        "obj" => json!({ "type": "object" }),
        _ => json!({}),
    }
}

/// What a parameter may be.
pub(crate) fn of_param(param: &Param) -> Value {
    let mut one = match param.kind {
        Kind::Text(least, most) => json!({ "type": "string", "minLength": least, "maxLength": most,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" }),
        Kind::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Seconds(most) => json!({ "type": "number", "minimum": 0, "maximum": most }),
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Moment => json!({ "type": "string", "maxLength": 40,
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$" }),
        Kind::Digits => json!({ "type": "string", "pattern": "^[0-9]{4,14}$" }),
        Kind::Cursor => json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_CURSOR,
            "pattern": "^[A-Za-z0-9_-]*$" }),
        Kind::Document(most) => json!({ "type": "string", "minLength": 1, "maxLength": most }),
        Kind::Web => json!({ "type": "string", "format": "uri", "pattern": "^https?://",
            "maxLength": 2_000 }),
    };
    if let Some(default) = param.default {
        one["default"] = match param.kind {
            Kind::Number(..) | Kind::Flag => serde_json::from_str(default).unwrap_or_default(),
            _ => json!(default),
        };
    }
    match param.most {
        1 => one,
        most => json!({ "type": "array", "items": one, "maxItems": most }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_a_schema() {
        let schema = object("url:str at:time? ~traps:[obj]");
        assert_eq!(schema["required"], json!(["url", "at"]));
        assert_eq!(schema["properties"]["traps"]["items"]["type"], "object");
        assert_eq!(schema["properties"]["at"]["anyOf"][1]["type"], "null");
    }
}
