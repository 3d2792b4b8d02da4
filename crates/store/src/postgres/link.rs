//! The line to the server: one connection, calls sent one behind the other, typed failures.
//!
//! * Its place: a store has two of them, one for commits and leases of its own pace each, and one
//!   for everything that only reads.
//! * Calls of one [`Link::run`] are pipelined: all are sent before the first answer is awaited, so
//!   that a group costs one round trip, whatever it consists of.
//! * A lost connection is told as [`StoreError::Unreachable`] and made anew by the next call. Every
//!   wait has a limit.
//! * Threads: the connection lives on a thread of the store; who calls waits on its own, which may
//!   be any, one of an async runtime included.

use crate::StoreError;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

/// How long a connection may take, and a call.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(90);

/// Every session: plans that do not change with the size of a table (all reads go by key), and an
/// end for a transaction whose client has stopped, since it holds the rows of its partitions. What is
/// acknowledged is on the disk, whatever the server's default.
const SESSION: &str = "SET search_path = argiope; SET application_name = 'argiope';
    SET client_min_messages = warning; SET plan_cache_mode = force_generic_plan; SET jit = off;
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
    SET enable_bitmapscan = off; SET idle_in_transaction_session_timeout = '10s';
    SET statement_timeout = '80s'; SET bytea_output = hex;
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'";

pub(super) type Param = Box<dyn ToSql + Send + Sync>;

/// One statement with what goes into it; without parameters it is sent as it stands.
pub(super) struct Call {
    pub sql: &'static str,
    pub params: Vec<Param>,
}

/// The rows that a call answered.
pub(super) type Answer = Vec<Row>;

/// A statement that takes nothing and answers nothing.
pub(super) fn plain(sql: &'static str) -> Call {
    Call { sql, params: Vec::new() }
}

/// A call with these parameters.
macro_rules! call {
    ($sql:expr $(, $param:expr)+ $(,)?) => {
        $crate::postgres::link::Call {
            sql: $sql,
            params: vec![$(Box::new($param) as $crate::postgres::link::Param),+],
        }
    };
}
pub(super) use call;

/// An array of byte strings, in the form in which it is sent.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    count: i32,
    body: Vec<u8>,
}

impl Bytes {
    pub fn push(&mut self, bytes: &[u8]) {
        self.push_two(bytes, &[]);
    }

    /// Pushes two pieces as one.
    pub fn push_two(&mut self, a: &[u8], b: &[u8]) {
        self.count += 1;
        self.body.extend_from_slice(&((a.len() + b.len()) as i32).to_be_bytes());
        self.body.extend_from_slice(a);
        self.body.extend_from_slice(b);
    }
}

impl ToSql for Bytes {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let dimensions = i32::from(self.count > 0);
        let mut head = vec![dimensions, 0, Type::BYTEA.oid() as i32];
        if self.count > 0 {
            head.extend([self.count, 1]);
        }
        head.into_iter().for_each(|n| out.extend_from_slice(&n.to_be_bytes()));
        out.extend_from_slice(&self.body);
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::BYTEA_ARRAY
    }

    tokio_postgres::types::to_sql_checked!();
}

/// A connection, with the statements that are prepared on it.
pub(super) struct Connection {
    pub client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
}

/// The server's address, read once.
pub(super) struct Server {
    config: Config,
    /// As it is told to people: without the password.
    pub name: String,
}

impl Server {
    pub fn parse(url: &str) -> Result<Self, StoreError> {
        let unusable = |why: String| StoreError::Address { why };
        if url.contains("sslmode=verify") || url.contains("sslmode=require") {
            return Err(unusable(
                "this build speaks to PostgreSQL without TLS: sslmode=require cannot be kept; use \
                 sslmode=disable or sslmode=prefer over a network you trust, or a tunnel"
                    .into(),
            ));
        }
        let mut config = Config::from_str(url).map_err(|e| unusable(chain(&e)))?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(unusable("sslmode=require cannot be kept: this build has no TLS".into()));
        }
        config.connect_timeout(CONNECT).keepalives_idle(Duration::from_secs(10));
        let host = config.get_hosts().first().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        });
        let host = host.ok_or_else(|| unusable("it names no host".into()))?;
        let port = config.get_ports().first().map_or(5432, |port| *port);
        let database = config.get_dbname().or(config.get_user()).unwrap_or("postgres");
        let name = format!("{host}:{port}/{database}");
        Ok(Server { config, name })
    }
}

/// A cause and what lies behind it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// A connection that is made when it is needed.
pub(super) struct Link {
    server: Arc<Server>,
    runtime: Arc<Threads>,
    connection: Mutex<Option<Arc<Connection>>>,
    /// How long reading goes on trying.
    patience: Duration,
}

/// The thread that connections live on.
pub(super) struct Threads(Option<Runtime>);

impl Threads {
    pub fn start() -> Result<Self, StoreError> {
        let mut builder = Builder::new_multi_thread();
        let built = builder.worker_threads(1).thread_name("argiope-postgres").enable_all().build();
        built.map(|runtime| Threads(Some(runtime))).map_err(|e| StoreError::Address {
            why: format!("no thread could be started for its connection: {e}"),
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Waiting for it is not allowed on threads of an async runtime.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Link {
    pub fn new(server: Arc<Server>, runtime: Arc<Threads>, patience: Duration) -> Self {
        Link { server, runtime, connection: Mutex::new(None), patience }
    }

    /// Sends all calls, then awaits their answers.
    pub fn run(&self, action: &'static str, calls: Vec<Call>) -> Result<Vec<Answer>, StoreError> {
        self.run_all(action, &[&Arc::new(calls)])
    }

    /// As [`Link::run`], list by list; the calls can be sent again.
    pub fn run_all(
        &self,
        action: &'static str,
        lists: &[&Arc<Vec<Call>>],
    ) -> Result<Vec<Answer>, StoreError> {
        if lists.iter().all(|calls| calls.is_empty()) {
            return Ok(Vec::new());
        }
        let connection = self.connected(action)?;
        let lists: Vec<Arc<Vec<Call>>> = lists.iter().map(|calls| Arc::clone(calls)).collect();
        let answer = self.wait(async move {
            let calls: Vec<&Call> = lists.iter().flat_map(|calls| calls.iter()).collect();
            perform(&connection, &calls).await
        });
        match answer {
            Ok(Ok(answers)) => Ok(answers),
            Ok(Err(error)) => {
                let failed = self.failed(action, error);
                if matches!(failed, StoreError::Unreachable { .. }) {
                    self.hang_up();
                }
                Err(failed)
            }
            Err(why) => {
                self.hang_up();
                Err(self.unreachable(action, why))
            }
        }
    }

    /// One call that only reads: sent again when the line turns out to be cut.
    pub fn read(&self, action: &'static str, call: Call) -> Result<Vec<Row>, StoreError> {
        let mut answers = self.read_all(action, vec![call])?;
        Ok(answers.pop().unwrap_or_default())
    }

    /// Calls that only read.
    pub fn read_all(
        &self,
        action: &'static str,
        calls: Vec<Call>,
    ) -> Result<Vec<Answer>, StoreError> {
        let calls = Arc::new(calls);
        let mut pause = Pause::new(self.patience);
        loop {
            match self.run_all(action, &[&calls]) {
                Err(failed) if failed.is_passing() => pause.or(failed)?,
                answers => return answers,
            }
        }
    }

    /// Another line to the same server, for work that keeps one for long.
    pub fn apart(&self) -> Self {
        Link::new(self.server.clone(), self.runtime.clone(), self.patience)
    }

    /// Starts work on the connection itself, which takes as long as it takes.
    pub fn start<T: Send + 'static, F>(
        &self,
        action: &'static str,
        work: impl FnOnce(Arc<Connection>) -> F,
    ) -> Result<Started<'_, T>, StoreError>
    where
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        let work = work(self.connected(action)?);
        let closed = || self.unreachable(action, "the store is being closed".into());
        let runtime = self.runtime.0.as_ref().ok_or_else(closed)?;
        let (tell, told) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            let _ = tell.send(work.await);
        });
        Ok(Started { link: self, action, told })
    }

    /// A connection that is not whole is not used again.
    pub fn hang_up(&self) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn connected(&self, action: &'static str) -> Result<Arc<Connection>, StoreError> {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = kept.as_ref().filter(|c| !c.client.is_closed()) {
            return Ok(connection.clone());
        }
        let server = self.server.clone();
        let made = self.wait(async move {
            let (client, line) = server.config.connect(NoTls).await?;
            tokio::spawn(line);
            client.batch_execute(SESSION).await?;
            Ok(Connection { client, statements: Mutex::default() })
        });
        match made {
            Ok(Ok(connection)) => Ok(kept.insert(Arc::new(connection)).clone()),
            Ok(Err(error)) => Err(self.failed(action, error)),
            Err(why) => Err(self.unreachable(action, why)),
        }
    }

    /// Lets the store's thread do it, and waits; says why where nothing came of it.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, String> {
        let runtime = self.runtime.0.as_ref().ok_or("the store is being closed")?;
        let (tell, told) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            let done = tokio::time::timeout(ANSWER, work).await;
            let _ = tell.send(done);
        });
        match told.recv() {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) => Err(format!("no answer for {} s", ANSWER.as_secs())),
            Err(_) => Err("its thread ended".into()),
        }
    }

    fn unreachable(&self, action: &'static str, why: String) -> StoreError {
        StoreError::Unreachable { server: self.server.name.clone(), action, why }
    }

    fn failed(&self, action: &'static str, error: tokio_postgres::Error) -> StoreError {
        if is_passing(&error) {
            return self.unreachable(action, chain(&error));
        }
        let server = self.server.name.clone();
        StoreError::Server { server, action, source: Box::new(error) }
    }
}

/// Work that was started on a connection.
pub(super) struct Started<'a, T> {
    link: &'a Link,
    action: &'static str,
    told: mpsc::Receiver<Result<T, tokio_postgres::Error>>,
}

impl<T> Started<'_, T> {
    /// Waits for its end.
    pub fn end(self) -> Result<T, StoreError> {
        match self.told.recv() {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(self.link.failed(self.action, error)),
            Err(_) => Err(self.link.unreachable(self.action, "its thread ended".into())),
        }
    }
}

/// The waits between attempts: at once, then longer and longer, until patience is at its end.
pub(super) struct Pause {
    end: Instant,
    next: Duration,
}

impl Pause {
    pub fn new(patience: Duration) -> Self {
        Pause { end: Instant::now() + patience, next: Duration::ZERO }
    }

    /// Waits, or gives up with this failure.
    pub fn or(&mut self, failed: StoreError) -> Result<(), StoreError> {
        let wait = self.next;
        // A line that broke while nobody used it deserves a second attempt, whatever the patience.
        if !wait.is_zero() && Instant::now() + wait > self.end {
            return Err(failed);
        }
        tracing::warn!(error = %failed, "it is tried again");
        std::thread::sleep(wait);
        self.next = (wait * 2).clamp(Duration::from_millis(50), Duration::from_secs(2));
        Ok(())
    }
}

/// Whether the same call may succeed later: the line is gone, the server restarts or is full, or
/// two transactions were in each other's way.
fn is_passing(error: &tokio_postgres::Error) -> bool {
    let Some(told) = error.as_db_error() else {
        let source = std::error::Error::source(error);
        let io = source.is_some_and(|cause| cause.is::<std::io::Error>());
        // What cannot be written or read as it was meant is our bug and will not pass.
        return io || error.is_closed() || source.is_none();
    };
    let code = told.code();
    let known = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::QUERY_CANCELED,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    known.contains(code) || code.code().starts_with("08")
}

type Pending<'a> = Pin<Box<dyn Future<Output = Result<Answer, tokio_postgres::Error>> + Send + 'a>>;

/// Sends all calls in order, then collects what they answer; the first that fails is told.
async fn perform(
    connection: &Connection,
    calls: &[&Call],
) -> Result<Vec<Answer>, tokio_postgres::Error> {
    for call in calls.iter().filter(|call| !call.params.is_empty()) {
        connection.prepare(call.sql).await?;
    }
    let mut pending: Vec<Option<Pending<'_>>> =
        calls.iter().map(|call| Some(Box::pin(connection.send(call)) as Pending<'_>)).collect();
    let mut done: Vec<Option<Result<Answer, tokio_postgres::Error>>> =
        calls.iter().map(|_| None).collect();
    // Polled in their order: a call is sent when it is polled first.
    std::future::poll_fn(|context| {
        let mut waits = false;
        for (slot, done) in pending.iter_mut().zip(&mut done) {
            let Some(future) = slot else { continue };
            match future.as_mut().poll(context) {
                Poll::Ready(answer) => (*slot, *done) = (None, Some(answer)),
                Poll::Pending => waits = true,
            }
        }
        if waits { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    done.into_iter().map(|answer| answer.expect("all are ready")).collect()
}

impl Connection {
    async fn prepare(&self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        let known = |statements: &Mutex<HashMap<&'static str, Statement>>| {
            statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned()
        };
        if let Some(statement) = known(&self.statements) {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.insert(sql, statement.clone());
        Ok(statement)
    }

    async fn send(&self, call: &Call) -> Result<Answer, tokio_postgres::Error> {
        if call.params.is_empty() {
            self.client.batch_execute(call.sql).await?;
            return Ok(Answer::default());
        }
        let statement = self.prepare(call.sql).await?;
        let params: Vec<&(dyn ToSql + Sync)> =
            call.params.iter().map(|p| p.as_ref() as &(dyn ToSql + Sync)).collect();
        self.client.query(&statement, &params).await
    }
}
