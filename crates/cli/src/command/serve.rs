//! `serve`: the pages and the API of a data directory, beside a crawl or without one.
//!
//! * [`Page`] listens and answers; [`Keeper`] is what it asks.
//! * `crawl --open` and `demo` start a [`Page`] of their own.

use super::keeper::Keeper;
use super::{load, wiring};
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_serve::Serve;
use crate::config::Flags;
use crate::output;
use anyhow::Context;
use argiope_web::{Options, new_token, serve as serve_pages};
use serde_json::json;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// Where it listens unless told otherwise.
const DEFAULT: &str = "127.0.0.1:7070";
/// A token that is shorter is guessed.
const SHORTEST: usize = 8;

pub fn serve(global: &Global, args: &Serve) -> anyhow::Result<ExitCode> {
    let new = !global.data.join("manifest.json").exists();
    let page = Page::start(global, args)?;
    if new && global.store.is_none() && global.format == Format::Text {
        output::talk(format!(
            "There is nothing in {} yet: start a crawl on the page, or with `argiope --data {} crawl URL`.",
            global.data.display(),
            global.data.display()
        ));
    }
    if global.format == Format::Json {
        let row = json!({ "url": page.url(), "login": page.login() });
        output::print([row.to_string()])?;
    } else {
        output::talk(format!("Argiope is at {} (Ctrl-C ends it).", page.url()));
        output::talk(format!("To start, stop and exclude, come in by {}", page.login()));
    }
    if !args.no_open {
        open_browser(&page.login());
    }
    page.until_signal()?;
    Ok(ExitCode::SUCCESS)
}

/// The pages, being served.
pub struct Page {
    address: SocketAddr,
    token: String,
    keeper: Arc<Keeper>,
    runtime: Runtime,
    end: Option<oneshot::Sender<()>>,
}

impl Page {
    /// Listens, and answers from now on.
    pub fn start(global: &Global, args: &Serve) -> anyhow::Result<Page> {
        let wanted: SocketAddr = args.listen.parse().map_err(|_| {
            let said = &args.listen;
            Usage(format!("--listen {said} is no address with a port; write 127.0.0.1:7070"))
        })?;
        let token = match &args.token {
            Some(token) if token.trim().len() < SHORTEST => {
                return Err(Usage(format!("--token needs {SHORTEST} characters or more")).into());
            }
            Some(token) => token.trim().to_owned(),
            None => new_token(),
        };
        let listener = TcpListener::bind(wanted).with_context(|| {
            format!("cannot listen at {wanted}; --listen 127.0.0.1:0 takes a free port")
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let private = [("fetch.allow_private", "true".to_owned(), "--allow-private")];
        let own = if args.allow_private { &private[..] } else { &[] };
        let settings = load(global, Flags { own, set: &[] })?.settings;
        let keeper = Keeper::new(global, wiring::engine_settings(&settings));
        keeper.look()?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("web").enable_all().build();
        let runtime = runtime.context("cannot start a thread")?;
        let options = Options { address, names: args.names.clone(), token: token.clone() };
        let (end, ended) = oneshot::channel();
        let desk = keeper.clone();
        let listener = {
            let _within = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(async move {
            let ended = async move { drop(ended.await) };
            if let Err(e) = serve_pages(listener, desk, options, ended).await {
                tracing::error!("the pages are not served any more: {e}");
            }
        });
        Ok(Page { address, token, keeper, runtime, end: Some(end) })
    }

    /// The page of a crawl that this process makes itself; told, and opened in the browser where there is one.
    pub fn beside(global: &Global, listen: Option<&str>, open: bool) -> anyhow::Result<Page> {
        let args = |listen: &str| Serve {
            listen: listen.to_owned(),
            token: std::env::var("ARGIOPE_TOKEN").ok().filter(|token| !token.is_empty()),
            names: Vec::new(),
            no_open: !open,
            allow_private: false,
        };
        let page = match listen {
            Some(listen) => Page::start(global, &args(listen))?,
            // Another page may be there already.
            None => Page::start(global, &args(DEFAULT))
                .or_else(|_| Page::start(global, &args("127.0.0.1:0")))?,
        };
        output::talk(format!("See it at {}", page.login()));
        if open {
            open_browser(&page.at("crawl"));
        }
        Ok(page)
    }

    /// A page of it, for operators.
    fn at(&self, path: &str) -> String {
        format!("{}{path}?token={}", self.url(), self.token)
    }

    /// Serves on when the crawl is over, until a signal comes.
    pub fn stay(self) -> anyhow::Result<()> {
        output::talk(format!("The page stays at {} until Ctrl-C.", self.url()));
        self.until_signal()
    }

    /// Where it is.
    pub fn url(&self) -> String {
        // Nobody can ask for "any address".
        let mut address = self.address;
        if address.ip().is_unspecified() {
            let local = if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            };
            address.set_ip(local);
        }
        format!("http://{address}/")
    }

    /// Where it is for operators.
    pub fn login(&self) -> String {
        self.at("")
    }

    /// Serves until a signal comes; a crawl that was started from the page is ended in order.
    pub fn until_signal(self) -> anyhow::Result<()> {
        self.runtime.block_on(super::crawl::signal());
        output::talk("\nEnding.");
        self.finish();
        Ok(())
    }

    /// Ends it.
    pub fn finish(mut self) {
        let _ = self.end.take().map(|end| end.send(()));
        self.keeper.end();
        self.runtime.shutdown_background();
    }
}

/// Opens a page in the browser; whether there is one.
pub fn open_browser(url: &str) -> bool {
    // What the user has chosen goes before: commands with colons between them, `%s` for the URL.
    let chosen = std::env::var("BROWSER").unwrap_or_default();
    for command in chosen.split(':').filter(|command| !command.trim().is_empty()) {
        let mut words: Vec<String> =
            command.split_whitespace().map(|w| w.replace("%s", url)).collect();
        if !command.contains("%s") {
            words.push(url.to_owned());
        }
        if start(&words[0], &words[1..]) {
            return true;
        }
    }
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some()) {
        "xdg-open"
    } else {
        return false;
    };
    start(program, &[url.to_owned()])
}

/// Starts a program that goes on by itself; whether there is one.
fn start(program: &str, arguments: &[String]) -> bool {
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(e) = &started {
        tracing::debug!(error = %e, "no browser was opened");
    }
    started.is_ok()
}
