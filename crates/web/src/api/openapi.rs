//! `/api/openapi.json`: the table, as OpenAPI 3.1 has it.

use super::given::Given;
use super::table::{Answer, Endpoint, Place, Verb};
use super::{json, schema, tables};
use crate::app::App;
use crate::failure::Failure;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json as value};

/// Failures that every path has.
const ALWAYS: [u16; 5] = [400, 401, 409, 421, 503];
/// Failures of what changes something.
const ACTING: [u16; 3] = [403, 413, 415];

pub(crate) fn openapi(_: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move { Ok(json(&description(&given.base))) }.boxed()
}

fn description(base: &str) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in tables::all() {
        let verb = if endpoint.verb == Verb::Get { "get" } else { "post" };
        let path = paths.entry(endpoint.path).or_insert_with(|| value!({}));
        path[verb] = operation(endpoint);
    }
    value!({
        "openapi": "3.1.0",
        "info": {
            "title": "Argiope",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
            "description": "What is kept here, asked by programs. Answers in pieces have a `next`: send it back as \
                `cursor`, with all other parameters as they were, for the next piece; null is the end. \
                What is added meanwhile moves nothing: a piece begins behind the last row of the one before. \
                Searches go on by number, so that new pages may move hits. A cursor holds until the server is \
                started again. Rows may get more fields at any time.",
        },
        "servers": [{ "url": base }],
        "paths": paths,
        "components": {
            "schemas": {
                "Failure": schema::object("status:int error:str"),
            },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer",
                    "description": "The token that `argiope serve` printed." },
            },
        },
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let mut responses = Map::new();
    match endpoint.answer {
        Answer::Rows(row, beside) => {
            let mut envelope = schema::object(&format!("next:str? {beside}"));
            envelope["properties"]["rows"] =
                value!({ "type": "array", "items": schema::object(row) });
            if let Some(required) = envelope["required"].as_array_mut() {
                required.push(value!("rows"));
            }
            responses.insert("200".to_owned(), told("application/json", &envelope));
        }
        Answer::Object(fields) => {
            let schema = schema::object(fields);
            responses.insert("200".to_owned(), told("application/json", &schema));
        }
        Answer::Suggestions => {
            let text = value!({ "type": "string" });
            let list = value!({ "type": "array", "items": text });
            let schema = value!({ "type": "array", "minItems": 2, "maxItems": 2,
                "items": { "anyOf": [text, list] } });
            let kind = "application/x-suggestions+json";
            responses.insert("200".to_owned(), told(kind, &schema));
        }
        Answer::Types(kinds) => {
            let text = value!({ "schema": { "type": "string" } });
            let content: Map<String, Value> =
                kinds.iter().map(|kind| ((*kind).to_owned(), text.clone())).collect();
            let answer = value!({ "description": "As asked for.", "content": content });
            responses.insert("200".to_owned(), answer);
        }
        Answer::Elsewhere => {
            responses.insert(
                "302".to_owned(),
                value!({ "description": "It is there.", "headers": {
                "Location": { "required": true, "schema": { "type": "string" } },
                "Vary": { "required": true, "schema": { "type": "string" } },
                "Link": { "required": true, "schema": { "type": "string" } },
            } }),
            );
        }
    }
    let failure = value!({ "$ref": "#/components/schemas/Failure" });
    let acting: &[u16] = if endpoint.verb == Verb::Post { &ACTING } else { &[] };
    for status in [414, 431] {
        let why = "The request is longer than anybody reads.";
        responses.insert(status.to_string(), value!({ "description": why }));
    }
    for status in ALWAYS.iter().chain(acting).chain(endpoint.failures) {
        responses.entry(status.to_string()).or_insert_with(|| {
            let mut answer = told("application/json", &failure);
            answer["description"] = value!(in_words(*status));
            answer
        });
    }
    let mut out = value!({
        "summary": endpoint.about,
        "operationId": endpoint.path.trim_matches('/').replace(['/', '.'], "_").replace(['{', '}'], ""),
        "responses": responses,
    });
    let parameters: Vec<Value> =
        endpoint.params.iter().filter(|p| p.place != Place::Body).map(parameter).collect();
    if !parameters.is_empty() {
        out["parameters"] = parameters.into();
    }
    if endpoint.guarded {
        out["security"] = value!([{ "token": [] }]);
    }
    if endpoint.verb == Verb::Post {
        out["security"] = value!([{ "token": [] }]);
        let fields: Vec<_> = endpoint.params.iter().filter(|p| p.place == Place::Body).collect();
        if !fields.is_empty() {
            let needed: Vec<&str> = fields.iter().filter(|p| p.needed).map(|p| p.name).collect();
            let properties: Map<String, Value> = fields
                .iter()
                .map(|param| {
                    let mut schema = schema::of_param(param);
                    schema["description"] = value!(param.about);
                    (param.name.to_owned(), schema)
                })
                .collect();
            let mut schema = value!({ "type": "object", "properties": properties,
                "additionalProperties": false });
            if !needed.is_empty() {
                schema["required"] = value!(needed);
            }
            out["requestBody"] = value!({ "required": !needed.is_empty(),
                "content": { "application/json": { "schema": schema } } });
        }
    }
    out
}

fn parameter(param: &super::table::Param) -> Value {
    let place = match param.place {
        Place::Path => "path",
        Place::Header => "header",
        _ => "query",
    };
    value!({
        "name": param.name,
        "in": place,
        "description": param.about,
        "required": param.needed || param.place == Place::Path,
        "schema": schema::of_param(param),
    })
}

fn told(kind: &str, schema: &Value) -> Value {
    value!({ "description": "The answer.", "content": { kind: { "schema": schema } } })
}

fn in_words(status: u16) -> &'static str {
    match status {
        400 => "A parameter is wrong, missing or not known.",
        401 => "That needs the token.",
        403 => "The page asks not to be shown, or the request comes from elsewhere.",
        404 => "Nothing is known of it.",
        409 => "It cannot be done now.",
        413 => "The body is too long.",
        415 => "The body is not JSON.",
        421 => "The name in the request is not one of this server.",
        _ => "Nobody can answer just now.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_described_once_and_its_parameters_are() {
        let told = description("http://127.0.0.1:7070");
        let mut ids = std::collections::BTreeSet::new();
        for endpoint in tables::all() {
            let verb = if endpoint.verb == Verb::Get { "get" } else { "post" };
            let operation = &told["paths"][endpoint.path][verb];
            assert!(ids.insert(operation["operationId"].to_string()), "{}", endpoint.path);
            let named = operation["parameters"].as_array().map_or(0, Vec::len);
            let fields = &operation["requestBody"]["content"]["application/json"]["schema"];
            let fields = fields["properties"].as_object().map_or(0, Map::len);
            assert_eq!(named + fields, endpoint.params.len(), "{}", endpoint.path);
            for part in endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = part.trim_end_matches('}');
                let is_it = |p: &&super::super::table::Param| p.name == name;
                let param = endpoint.params.iter().find(is_it);
                assert_eq!(param.map(|p| p.place), Some(Place::Path), "{}", endpoint.path);
            }
        }
    }
}
