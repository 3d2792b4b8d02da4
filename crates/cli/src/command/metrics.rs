//! `--metrics`: where Prometheus may ask how a crawl stands.

use crate::Usage;
use anyhow::Context;
use argiope_crawl::{Live, serve_metrics};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// Listens at an address; port 0 lets the system choose.
pub fn listen(text: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let address: SocketAddr = text.parse().map_err(|_| {
        Usage(format!(
            "metrics.listen = {text:?} is no address with a port; write for example 127.0.0.1:9464"
        ))
    })?;
    let listener = TcpListener::bind(address)
        .with_context(|| format!("cannot listen at {address} for those who ask for metrics"))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Answers there from now on; called within the runtime.
pub fn serve(listener: TcpListener, live: Arc<Live>) {
    match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => drop(tokio::spawn(serve_metrics(listener, live))),
        Err(e) => tracing::warn!("nobody can ask for metrics: {e}"),
    }
}
