//! The line to the server: one connection, calls sent one behind the other, typed failures.
//!
//! * Its place: a store has two of them, one for commits and leases of its own pace each, and one
//!   for everything that only reads.
//! * Calls of one [`Link::run`] are pipelined: all are sent before the first answer is awaited, so
//!   that a group costs one round trip, whatever it consists of.
//! * A lost connection is told as [`StoreError::Unreachable`] and made anew by the next call. Every
//!   wait has a limit; who must know sooner says so ([`Link::answer_within`]).
//! * Threads: the connection lives on a thread of the store; who calls waits on its own, which may
//!   be any, one of an async runtime included.

use super::server::Server;
use super::tls;
use crate::StoreError;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use tokio_postgres::{Client, NoTls, Row, SimpleQueryMessage, Statement};

/// How long a call may take, where nobody says how long.
const ANSWER: Duration = Duration::from_secs(90);

/// Every session: plans that do not change with the size of a table (all reads go by key), and an
/// end for a transaction whose client has stopped, since it holds the rows of its partitions. What is
/// acknowledged is on the disk, whatever the server's default.
///
/// Citus has to see the parameters to find the shards of a statement, so that it plans anew each time
/// what goes to several; and one connection to each of its nodes is enough for who sends one
/// statement at a time. Where there is no Citus, nobody reads that setting.
const SESSION: &str = "SET search_path = argiope; SET application_name = 'argiope';
    SET client_min_messages = warning; SET jit = off;
    SELECT set_config('plan_cache_mode', CASE WHEN EXISTS (
        SELECT FROM pg_extension WHERE extname = 'citus') THEN 'auto' ELSE 'force_generic_plan' END, false);
    SET citus.max_adaptive_executor_pool_size = 1;
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
    SET enable_bitmapscan = off; SET idle_in_transaction_session_timeout = '10s';
    SET statement_timeout = '80s'; SET bytea_output = hex;
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'";

pub(super) type Param = Box<dyn ToSql + Send + Sync>;

/// A statement: as PostgreSQL is told it, and as Citus is, where that spares it a detour.
#[derive(Clone, Copy)]
pub(super) struct Sql {
    pub plain: &'static str,
    pub citus: &'static str,
}

impl From<&'static str> for Sql {
    fn from(sql: &'static str) -> Sql {
        Sql { plain: sql, citus: sql }
    }
}

/// One statement with what goes into it; without parameters it is sent as it stands.
pub(super) struct Call {
    pub sql: Sql,
    pub params: Vec<Param>,
}

/// The rows that a call answered.
pub(super) type Answer = Vec<Row>;

/// A statement that takes nothing and answers nothing.
pub(super) fn plain(sql: &'static str) -> Call {
    Call { sql: sql.into(), params: Vec::new() }
}

/// A call with these parameters.
macro_rules! call {
    ($sql:expr $(, $param:expr)+ $(,)?) => {
        $crate::postgres::link::Call {
            sql: $crate::postgres::link::Sql::from($sql),
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
    /// Whether the server is a coordinator of Citus.
    citus: bool,
    statements: Mutex<HashMap<&'static str, Statement>>,
}

/// A cause and what lies behind it, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
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
    /// How long an answer is awaited, in milliseconds.
    answer: AtomicU64,
    /// Whether the last server that was met is Citus.
    citus: AtomicBool,
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
        let answer = AtomicU64::new(ANSWER.as_millis() as u64);
        let (connection, citus) = (Mutex::new(None), AtomicBool::new(false));
        Link { server, runtime, connection, patience, answer, citus }
    }

    pub fn is_citus(&self) -> bool {
        self.citus.load(Ordering::Relaxed)
    }

    /// Waits no longer than this for each answer, connecting included, from now on; `None` as at first.
    pub fn answer_within(&self, limit: Option<Duration>) {
        let limit = limit.unwrap_or(ANSWER).as_millis() as u64;
        self.answer.store(limit, Ordering::Relaxed);
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
            let client = connect(&server).await?;
            let told = client.simple_query(SESSION).await?;
            let is_auto = |told: &SimpleQueryMessage| matches!(told, SimpleQueryMessage::Row(row) if row.get(0) == Some("auto"));
            let citus = told.iter().any(is_auto);
            Ok(Connection { client, citus, statements: Mutex::default() })
        });
        match made {
            Ok(Ok(connection)) => {
                self.citus.store(connection.citus, Ordering::Relaxed);
                Ok(kept.insert(Arc::new(connection)).clone())
            }
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
        let limit = Duration::from_millis(self.answer.load(Ordering::Relaxed));
        runtime.spawn(async move {
            let done = tokio::time::timeout(limit, work).await;
            let _ = tell.send(done);
        });
        match told.recv() {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) => Err(format!("no answer for {:.1} s", limit.as_secs_f64())),
            Err(_) => Err("its thread ended".into()),
        }
    }

    pub fn unreachable(&self, action: &'static str, why: String) -> StoreError {
        StoreError::Unreachable { server: self.server.name.clone(), action, why }
    }

    fn failed(&self, action: &'static str, error: tokio_postgres::Error) -> StoreError {
        if let Some(why) = tls::words(&error) {
            return StoreError::Address { why };
        }
        if is_passing(&error) {
            return self.unreachable(action, chain(&error));
        }
        let server = self.server.name.clone();
        StoreError::Server { server, action, source: Box::new(error) }
    }
}

/// Makes a connection. Where TLS is only preferred, a server that offers it and cannot is spoken to
/// without.
async fn connect(server: &Server) -> Result<Client, tokio_postgres::Error> {
    let Some(secure) = &server.tls else {
        let (client, line) = server.config.connect(NoTls).await?;
        tokio::spawn(line);
        return Ok(client);
    };
    match server.config.connect(secure.clone()).await {
        Ok((client, line)) => {
            tokio::spawn(line);
            Ok(client)
        }
        Err(error)
            if server.config.get_ssl_mode() == SslMode::Prefer && tls::words(&error).is_some() =>
        {
            let (client, line) = server.config.connect(NoTls).await?;
            tokio::spawn(line);
            Ok(client)
        }
        Err(error) => Err(error),
    }
}

/// Calls that were sent again, by all links of this process.
static RETRIES: AtomicU64 = AtomicU64::new(0);

/// How many calls to a server this process has sent again.
pub fn store_retries() -> u64 {
    RETRIES.load(Ordering::Relaxed)
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
        RETRIES.fetch_add(1, Ordering::Relaxed);
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
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    // What Citus says when a node hangs up on it has no code of its own.
    let node_is_gone = match code.code() {
        "XX000" => told.where_().is_some_and(|at| at.contains("while executing command on")),
        "58030" => told.message().contains(" COPY "),
        _ => false,
    };
    known.contains(code) || code.code().starts_with("08") || node_is_gone
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
    async fn prepare(&self, sql: Sql) -> Result<Statement, tokio_postgres::Error> {
        let sql = if self.citus { sql.citus } else { sql.plain };
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
            self.client.batch_execute(call.sql.plain).await?;
            return Ok(Answer::default());
        }
        let statement = self.prepare(call.sql).await?;
        let params: Vec<&(dyn ToSql + Sync)> =
            call.params.iter().map(|p| p.as_ref() as &(dyn ToSql + Sync)).collect();
        self.client.query(&statement, &params).await
    }
}
