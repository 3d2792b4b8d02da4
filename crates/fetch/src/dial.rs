//! Opening a TCP connection to one of several addresses.
//!
//! The first address is tried at once, each next one when those before it have failed or have
//! been silent for a while; whoever answers first is taken. So an address family that leads
//! nowhere costs a fraction of a second instead of the whole patience.

use crate::failure::{Failure, io_words};
use argiope_model::OutcomeKind;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};

/// How long one address may be silent before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(300);

type Try = Pin<Box<dyn Future<Output = Result<TcpStream, Failure>> + Send>>;

/// Connects to whichever address answers first; says which one it was, as an index. The failure
/// is that of the address which failed last.
pub(crate) async fn dial(
    addresses: &[SocketAddr],
    limit: Duration,
) -> Result<(TcpStream, usize), Failure> {
    let mut tries: Vec<(usize, Try)> = Vec::new();
    let mut failure = Failure::new(OutcomeKind::NoAddress, "no address");
    let mut rest = addresses.iter().copied().enumerate();
    loop {
        match rest.next() {
            Some((n, address)) => tries.push((n, Box::pin(connect(address, limit)))),
            None if tries.is_empty() => return Err(failure),
            None => {}
        }
        let turn = Instant::now() + HEAD_START;
        let waiting = rest.len() > 0;
        let mut pause = std::pin::pin!(sleep_until(turn));
        let ended = poll_fn(|cx| {
            for (at, (n, attempt)) in tries.iter_mut().enumerate() {
                if let Poll::Ready(result) = attempt.as_mut().poll(cx) {
                    return Poll::Ready(Some((at, *n, result)));
                }
            }
            if waiting && pause.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await;
        match ended {
            Some((_, n, Ok(tcp))) => return Ok((tcp, n)),
            Some((at, _, Err(why))) => {
                drop(tries.remove(at));
                failure = why;
            }
            // Silence: the next one is tried beside the others.
            None => {}
        }
    }
}

async fn connect(address: SocketAddr, limit: Duration) -> Result<TcpStream, Failure> {
    let detail = match timeout(limit, TcpStream::connect(address)).await {
        Ok(Ok(tcp)) => {
            // Without it small requests may wait for an acknowledgement; not fatal.
            let _ = tcp.set_nodelay(true);
            return Ok(tcp);
        }
        Ok(Err(error)) => format!("{} ({address})", io_words(&error)),
        Err(_) => format!("no connection to {address} within {limit:?}"),
    };
    Err(Failure::new(OutcomeKind::ConnectFailed, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// An address that accepts nothing more: its queue is full, so connecting waits.
    async fn silent() -> (SocketAddr, Vec<TcpStream>, std::net::TcpListener) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap().into_std().unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(Ok(tcp)) =
            timeout(Duration::from_millis(100), TcpStream::connect(address)).await
        {
            queue.push(tcp);
        }
        (address, queue, listener)
    }

    #[tokio::test]
    async fn a_silent_address_does_not_cost_the_whole_patience() {
        let (dead, _queue, _listener) = silent().await;
        let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addresses = [dead, alive.local_addr().unwrap()];
        let clock = Instant::now();
        let (_, n) = dial(&addresses, Duration::from_secs(20)).await.unwrap();
        assert_eq!(n, 1);
        let took = clock.elapsed();
        assert!(took >= HEAD_START && took < Duration::from_secs(5), "{took:?}");
    }

    #[tokio::test]
    async fn all_failing_is_a_failure_within_the_limit() {
        let (dead, _queue, _listener) = silent().await;
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let limit = Duration::from_millis(600);
        let failure = dial(&[closed, dead], limit).await.unwrap_err();
        assert_eq!(failure.detail, format!("no connection to {dead} within {limit:?}"));
        assert_eq!(dial(&[], limit).await.unwrap_err().kind, OutcomeKind::NoAddress);
    }
}
