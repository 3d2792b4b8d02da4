//! The user's own filter: a script with `fn crawl(url)` that says yes or no.
//!
//! * What this is: a Rhai engine with everything left out that is not computing, one for each script,
//!   and what scripts see of a URL.
//! * Invariants: a script ends, whatever it does: operations, calls within calls, texts, lists and
//!   names are counted. It reads no file, no clock and no other script, and nothing it does
//!   outlives its call. What it prints goes to the log, at the level `debug`.
//! * What is not here: what a failure means for a URL (`judge`), and saying so (`crawl`).

use crate::compile::Problem;
use crate::facts::{plain, raw_params, segments};
use argiope_model::{CanonicalUrl, Suffixes};
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{
    AST, Array, CallFnOptions, Dynamic, Engine, EvalAltResult, ImmutableString, Map, Position,
    Scope,
};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a script may do for one URL: a few milliseconds.
const MAX_OPERATIONS: u64 = 50_000;
/// Calls within calls.
const MAX_CALLS: usize = 24;
/// Bytes of a text, or of all texts in a list.
const MAX_TEXT: usize = 16 << 10;
/// Members of a list or a map, those within members included.
const MAX_LIST: usize = 1_000;
/// Names at a time.
const MAX_NAMES: usize = 200;
/// How deep an expression goes, outside functions and in them.
const MAX_DEPTH: (usize, usize) = (48, 32);
/// No script is longer.
const MAX_SCRIPT: usize = 256 << 10;
/// The URL that a new script is tried with.
const SAMPLE: &str = "https://www.example.org/a/b.html?c=d";

thread_local! {
    /// Operations of the call under way. The engine counts anew in functions that are handed to
    /// functions, such as that of `map`; here nothing is forgotten.
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// A script, compiled.
pub(crate) struct Script {
    name: Box<str>,
    engine: Engine,
    ast: AST,
    /// Where `crawl` begins: the engine tells no place of what it stops for taking too long.
    line: usize,
}

/// A script did not come to a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its file and line.
    pub place: String,
    /// What went wrong, as the end of a sentence.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Whether a script can be used; else the line and what is wrong there.
pub fn check_script(name: &str, text: &str) -> Result<(), (usize, String)> {
    Script::new(name, text).map(|_| ()).map_err(|problem| match problem {
        Problem::Script { line, what, .. } => (line, what),
        other => (1, other.to_string()),
    })
}

impl Script {
    pub fn new(name: &str, text: &str) -> Result<Self, Problem> {
        let problem =
            |line: usize, what: String| Problem::Script { name: name.to_owned(), line, what };
        if text.len() > MAX_SCRIPT {
            return Err(problem(1, format!("it is longer than {} kB", MAX_SCRIPT >> 10)));
        }
        let engine = engine();
        let mut ast = engine.compile(text).map_err(|e| {
            let what = e.err_type().to_string();
            problem(e.position().line().unwrap_or(1), lower_first(&what))
        })?;
        ast.set_source(name);
        let takes_one = ast.iter_functions().any(|f| f.name == "crawl" && f.params.len() == 1);
        if !takes_one {
            let what = "there is no `fn crawl(url)`, which says true or false of each URL";
            return Err(problem(1, what.to_owned()));
        }
        let line = text.lines().position(|line| line.contains("fn crawl")).map_or(1, |n| n + 1);
        let script = Script { name: name.into(), engine, ast, line };
        // What can never come to a verdict is told now; what fails for some URLs, with these.
        let url = CanonicalUrl::parse(SAMPLE).expect("the sample is a URL");
        if let Err(e) = script.call(&url, "example.org") {
            let never = matches!(
                e.unwrap_inner(),
                EvalAltResult::ErrorFunctionNotFound(..)
                    | EvalAltResult::ErrorPropertyNotFound(..)
                    | EvalAltResult::ErrorDotExpr(..)
                    | EvalAltResult::ErrorMismatchOutputType(..)
                    | EvalAltResult::ErrorVariableNotFound(..)
            );
            if never {
                return Err(problem(line_of(&e).unwrap_or(1), in_words(&e)));
            }
        }
        Ok(script)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the script says of a URL.
    pub fn crawl(&self, url: &CanonicalUrl, suffixes: &Suffixes) -> Result<bool, Failure> {
        let site = suffixes.site_of(url.host());
        // The engine is somebody else's: should it fail, this URL is lost and not the crawl.
        let said = catch_unwind(AssertUnwindSafe(|| self.call(url, site)));
        let (line, what) = match said {
            Ok(Ok(said)) => return Ok(said),
            Ok(Err(e)) => (line_of(&e), in_words(&e)),
            Err(_) => (None, "the script made its engine fail".to_owned()),
        };
        let place = format!("{}:{}", self.name, line.unwrap_or(self.line));
        Err(Failure { place, what })
    }

    fn call(&self, url: &CanonicalUrl, site: &str) -> Result<bool, Box<EvalAltResult>> {
        let seen = Seen(Arc::new((url.clone(), site.into())));
        let options = CallFnOptions::new().eval_ast(false).rewind_scope(false);
        let scope = &mut Scope::new();
        DONE.set(0);
        self.engine.call_fn_with_options(options, scope, &self.ast, "crawl", (seen,))
    }
}

/// A URL as scripts see it, and its site.
#[derive(Clone)]
struct Seen(Arc<(CanonicalUrl, Box<str>)>);

fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicFnPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    engine
        .disable_symbol("eval")
        .set_strict_variables(true)
        .on_progress(|_| {
            DONE.set(DONE.get() + 1);
            (DONE.get() > MAX_OPERATIONS).then_some(Dynamic::UNIT)
        })
        .set_max_call_levels(MAX_CALLS)
        .set_max_string_size(MAX_TEXT)
        .set_max_array_size(MAX_LIST)
        .set_max_map_size(MAX_LIST)
        .set_max_variables(MAX_NAMES)
        .set_max_functions(MAX_NAMES)
        .set_max_expr_depths(MAX_DEPTH.0, MAX_DEPTH.1)
        .on_print(|text| tracing::debug!("a script prints: {text}"))
        .on_debug(|text, _, _| tracing::debug!("a script prints: {text}"));
    fn text(text: &str) -> ImmutableString {
        text.into()
    }
    engine
        .register_type_with_name::<Seen>("url")
        .register_get("text", |url: &mut Seen| text(url.0.0.as_str()))
        .register_get("scheme", |url: &mut Seen| text(url.0.0.scheme()))
        .register_get("host", |url: &mut Seen| text(url.0.0.host()))
        .register_get("port", |url: &mut Seen| i64::from(url.0.0.port()))
        .register_get("domain", |url: &mut Seen| text(&url.0.1))
        .register_get("path", |url: &mut Seen| text(url.0.0.path()))
        .register_get("query", |url: &mut Seen| text(url.0.0.query().unwrap_or("")))
        .register_get("depth", |url: &mut Seen| segments(&url.0.0).count() as i64)
        .register_get("segments", |url: &mut Seen| -> Array {
            segments(&url.0.0).map(|segment| text(segment).into()).collect()
        })
        .register_get("params", |url: &mut Seen| -> Map {
            let mut map = Map::new();
            for (name, value) in raw_params(&url.0.0).take(MAX_LIST / 2) {
                // As forms mean it, the first of several counts.
                let value = || Dynamic::from(text(&plain(value)));
                map.entry(plain(name).as_ref().into()).or_insert_with(value);
            }
            map
        })
        .register_fn("to_string", |url: &mut Seen| text(url.0.0.as_str()));
    // In place of the engine's own, which look at the length when it is too late.
    engine
        .register_fn("replace", |text: &mut ImmutableString, a: &str, b: &str| replace(text, a, b))
        .register_fn("replace", |text: &mut ImmutableString, a: &str, b: char| {
            replace(text, a, b.encode_utf8(&mut [0; 4]))
        })
        .register_fn("replace", |text: &mut ImmutableString, a: char, b: &str| {
            replace(text, a.encode_utf8(&mut [0; 4]), b)
        });
    engine
}

/// Puts `b` for every `a`, where the text does not grow too long by that.
fn replace(text: &mut ImmutableString, a: &str, b: &str) -> Result<(), Box<EvalAltResult>> {
    if a.is_empty() {
        return Ok(());
    }
    let times = text.matches(a).count();
    if text.len().saturating_add(times.saturating_mul(b.len())) > 2 * MAX_TEXT {
        let what = "Length of string".to_owned();
        return Err(EvalAltResult::ErrorDataTooLarge(what, Position::NONE).into());
    }
    *text = text.replace(a, b).into();
    Ok(())
}

fn line_of(error: &EvalAltResult) -> Option<usize> {
    let inner = error.unwrap_inner();
    inner.position().line().or_else(|| error.position().line())
}

/// What went wrong, without the place.
fn in_words(error: &EvalAltResult) -> String {
    let limit = |what: &str| format!("the script was stopped: {what}");
    match error.unwrap_inner() {
        EvalAltResult::ErrorTerminated(..) => {
            limit(&format!("more than {MAX_OPERATIONS} operations for one URL"))
        }
        EvalAltResult::ErrorStackOverflow(_) => {
            limit(&format!("more than {MAX_CALLS} calls within each other"))
        }
        EvalAltResult::ErrorDataTooLarge(what, _) => {
            let most = if what.contains("string") {
                format!("texts of more than {} kB", MAX_TEXT >> 10)
            } else {
                format!("lists of more than {MAX_LIST} members")
            };
            limit(&most)
        }
        EvalAltResult::ErrorTooManyVariables(_) => limit(&format!("more than {MAX_NAMES} names")),
        EvalAltResult::ErrorMismatchOutputType(_, got, _) => {
            let got = if got == "()" { "nothing" } else { got };
            format!("`crawl` must say true or false, and says {got}")
        }
        EvalAltResult::ErrorRuntime(value, _) => format!("the script throws: {value}"),
        inner => {
            let mut bare = inner.to_string();
            // The engine writes the place behind its words; it is told before them here.
            if let Some(at) = bare.rfind(" (line ") {
                bare.truncate(at);
            }
            lower_first(&bare)
        }
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if chars.as_str().chars().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
