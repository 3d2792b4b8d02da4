//! The server's address: what a URL says, what it leaves to the environment, and how it is told.
//!
//! * Both forms of PostgreSQL's own programs are read, `postgres://user@host/database?…` and
//!   `host=… dbname=…`; what the client library does not know of them is taken out first: `sslmode` with its
//!   verifying kinds, `sslrootcert`, `passfile`.
//! * A password need not stand where the list of processes shows it: without one in the URL,
//!   `PGPASSWORD` counts, then the password file (`passfile`, `PGPASSFILE`, `~/.pgpass`).
//!   `PGSSLMODE` and `PGSSLROOTCERT` stand in for what the URL does not say.
//! * A Unix socket is never encrypted, whatever `sslmode` says, as everywhere in PostgreSQL.
//! * Invariant: the name told to people never holds the password.

use super::tls::{Check, Tls};
use crate::StoreError;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// The server's address, read once.
pub(super) struct Server {
    pub config: Config,
    /// How the line is made secure; `None` where it is not to be.
    pub tls: Option<Tls>,
    /// As it is told to people: without the password.
    pub name: String,
}

impl Server {
    pub fn parse(url: &str) -> Result<Self, StoreError> {
        let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::parse_in(url, &env).map_err(|why| StoreError::Address { why })
    }

    fn parse_in(url: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let (rest, mut ours) = take_ours(url)?;
        let mut config = Config::from_str(&rest).map_err(|e| super::link::chain(&e))?;
        config.connect_timeout(CONNECT).keepalives_idle(Duration::from_secs(10));
        let host = config.get_hosts().first().ok_or("it names no host")?;
        let is_socket = matches!(host, Host::Unix(_));
        let host = match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let port = config.get_ports().first().map_or(5432, |port| *port);
        if config.get_user().is_none() {
            env("PGUSER").map(|user| config.user(user));
        }
        let user = config.get_user().map(str::to_owned).or_else(|| env("USER")).unwrap_or_default();
        let database = config.get_dbname().or(config.get_user()).unwrap_or("postgres").to_owned();
        let mut said = |key: &str, variable: &str| ours.remove(key).or_else(|| env(variable));

        let mode = said("sslmode", "PGSSLMODE").unwrap_or_else(|| "prefer".into());
        let root = said("sslrootcert", "PGSSLROOTCERT").map(PathBuf::from);
        let file = said("passfile", "PGPASSFILE").map(PathBuf::from);
        let home = env("HOME").map(PathBuf::from);
        let tls = match is_socket {
            true => None,
            false => secured(&mode, root, home.as_deref())?,
        };
        config.ssl_mode(match (&tls, mode.as_str()) {
            (None, _) => SslMode::Disable,
            (_, "prefer" | "allow") => SslMode::Prefer,
            _ => SslMode::Require,
        });
        if config.get_password().is_none() {
            let file = file.or_else(|| home.map(|home| home.join(".pgpass")));
            let at = PassAt { host: &host, port, database: &database, user: &user };
            let password = env("PGPASSWORD").or_else(|| password_from(&file?, &at));
            password.map(|password| config.password(password));
        }
        Ok(Server { config, tls, name: format!("{host}:{port}/{database}") })
    }
}

/// What `sslmode` asks for; `None` where the line is not to be secure.
fn check_of(mode: &str, has_root: bool) -> Result<Option<Check>, String> {
    Ok(Some(match mode {
        "disable" => return Ok(None),
        "prefer" | "allow" => Check::Nothing,
        // A root that is named is meant to be looked at.
        "require" if !has_root => Check::Nothing,
        "require" | "verify-ca" => Check::Issuer,
        "verify-full" => Check::IssuerAndName,
        other => {
            return Err(format!(
                "sslmode={other} is not known; it is disable, prefer, require, verify-ca or verify-full"
            ));
        }
    }))
}

fn secured(mode: &str, root: Option<PathBuf>, home: Option<&Path>) -> Result<Option<Tls>, String> {
    let Some(check) = check_of(mode, root.is_some())? else { return Ok(None) };
    let usual = home.map(|home| home.join(".postgresql/root.crt")).filter(|path| path.is_file());
    let root = root.or(usual).filter(|path| path.as_os_str() != "system");
    Tls::new(check, root.as_deref()).map(Some)
}

/// The options that are ours to read.
const OURS: [&str; 3] = ["sslmode", "sslrootcert", "passfile"];

type Options = std::collections::BTreeMap<String, String>;

/// Parts an address into what the client library reads and what we do.
fn take_ours(url: &str) -> Result<(String, Options), String> {
    let mut ours = Options::new();
    let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
    if !is_url {
        let mut rest = String::new();
        for (key, value) in pairs(url)? {
            if OURS.contains(&key) {
                ours.insert(key.into(), value);
            } else {
                let value = value.replace('\\', "\\\\").replace('\'', "\\'");
                rest.push_str(&format!("{key}='{value}' "));
            }
        }
        return Ok((rest, ours));
    }
    let Some((base, query)) = url.split_once('?') else { return Ok((url.into(), ours)) };
    let mut rest = Vec::new();
    for option in query.split('&') {
        match option.split_once('=') {
            Some((key, value)) if OURS.contains(&key) => {
                ours.insert(key.into(), percent_decoded(value)?);
            }
            _ => rest.push(option),
        }
    }
    match rest.is_empty() {
        true => Ok((base.into(), ours)),
        false => Ok((format!("{base}?{}", rest.join("&")), ours)),
    }
}

/// The pairs of the form `key = 'value' …`.
fn pairs(text: &str) -> Result<Vec<(&str, String)>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        // The text itself may hold a password: it is not repeated.
        let (key, after) = rest.split_once('=').ok_or("a name in it has no value behind =")?;
        let after = after.trim_start();
        let (quoted, body) = match after.strip_prefix('\'') {
            Some(body) => (true, body),
            None => (false, after),
        };
        let (mut value, mut end) = (String::new(), None);
        let mut letters = body.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                '\'' if quoted => {
                    end = Some(at + 1);
                    break;
                }
                space if !quoted && space.is_whitespace() => {
                    end = Some(at);
                    break;
                }
                letter => value.push(letter),
            }
        }
        if quoted && end.is_none() {
            return Err("a quote in it is not closed".into());
        }
        out.push((key.trim(), value));
        rest = body[end.unwrap_or(body.len())..].trim_start();
    }
    Ok(out)
}

fn percent_decoded(text: &str) -> Result<String, String> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digits = [bytes.next(), bytes.next()].map(|digit| digit.unwrap_or(b' '));
                let digits = std::str::from_utf8(&digits).unwrap_or("");
                u8::from_str_radix(digits, 16)
                    .map_err(|_| "a % in it is not followed by two digits")?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).map_err(|_| "it is not UTF-8".into())
}

/// Whom a password is for.
struct PassAt<'a> {
    host: &'a str,
    port: u16,
    database: &'a str,
    user: &'a str,
}

/// The password that a password file holds for this server; a file that others may read is not used.
fn password_from(file: &Path, at: &PassAt<'_>) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let about = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    if about.permissions().mode() & 0o077 != 0 {
        tracing::warn!(
            file = %file.display(),
            "the password file is not used, since others may read it: chmod 0600"
        );
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password_in(line, at))
}

/// The password of a line `host:port:database:user:password`, if it is for this server.
fn password_in(line: &str, at: &PassAt<'_>) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields.last_mut()?.extend(letters.next()),
            // The password is the rest of the line.
            ':' if fields.len() < 5 => fields.push(String::new()),
            letter => fields.last_mut()?.push(letter),
        }
    }
    let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
    // Where PostgreSQL has its socket by default, the machine itself is meant.
    let usual = ["/tmp", "/run/postgresql", "/var/run/postgresql"].contains(&at.host);
    let is_host = host == "*" || host == at.host || (usual && host == "localhost");
    let is = |field: &str, value: &str| field == "*" || field == value;
    let meant = is_host && is(&port, &at.port.to_string()) && is(&database, at.database);
    (meant && is(&user, at.user)).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str, env: &[(&str, &str)]) -> Result<Server, String> {
        let find = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string());
        Server::parse_in(url, &find)
    }

    fn password(url: &str, env: &[(&str, &str)]) -> Option<String> {
        let server = parsed(url, env).unwrap();
        server.config.get_password().map(|word| String::from_utf8(word.to_vec()).unwrap())
    }

    #[test]
    fn a_password_of_the_url_counts_before_that_of_the_environment_and_of_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(".pgpass");
        let lines = "# mine\ndb.test:5432:crawl:ann:by\\:file\n*:5433:*:*:any\n";
        std::fs::write(&file, lines).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        let home = ("HOME", dir.path().to_str().unwrap());
        let env = ("PGPASSWORD", "by environment");
        let url = "postgres://ann@db.test/crawl";
        assert_eq!(password("postgres://ann:x@db.test/crawl", &[env, home]).unwrap(), "x");
        assert_eq!(password(url, &[env, home]).unwrap(), "by environment");
        assert_eq!(password(url, &[home]).unwrap(), "by:file");
        assert_eq!(password("host=db.test user=ann dbname=crawl", &[home]).unwrap(), "by:file");
        assert_eq!(password("postgres://bob@db.test:5433/other", &[home]).unwrap(), "any");
        assert_eq!(password("postgres://bob@db.test/crawl", &[home]), None);
        let named = format!("{url}?passfile={}", file.display());
        assert_eq!(password(&named, &[]).unwrap(), "by:file");
        assert_eq!(password(url, &[("PGPASSFILE", file.to_str().unwrap())]).unwrap(), "by:file");
        // What everybody can read is nobody's password.
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(password(url, &[home]), None);
    }

    #[test]
    fn what_is_told_to_people_names_the_server_and_no_password() {
        for (url, name) in [
            ("postgres://ann:secret@db.test/crawl?sslmode=disable", "db.test:5432/crawl"),
            ("host=db.test port=6 user=ann password='se cret' dbname=crawl", "db.test:6/crawl"),
            ("postgres://ann:secret@%2Frun%2Fpg/crawl", "/run/pg:5432/crawl"),
            ("host=/run/pg user=ann password=secret", "/run/pg:5432/ann"),
        ] {
            let env = [("PGPASSWORD", "secret")];
            assert_eq!(parsed(url, &env).unwrap().name, name);
        }
        for url in [
            "postgres://ann:secret@db.test:x/",
            "host=db.test password=secret oops",
            "host=db.test password='secret",
            "host=h password=secret color=red",
        ] {
            let refused = parsed(url, &[]).err().unwrap();
            assert!(!refused.contains("secret"), "{refused}");
        }
    }

    #[test]
    fn sslmode_is_kept_over_the_network_and_means_nothing_on_a_socket() {
        let mode = |url: &str| {
            let server = parsed(url, &[]).unwrap();
            (server.config.get_ssl_mode(), server.tls.is_some())
        };
        let at = |mode: &str| format!("postgres://db.test/crawl?connect_timeout=3&sslmode={mode}");
        assert_eq!(mode("postgres://db.test/crawl"), (SslMode::Prefer, true));
        assert_eq!(mode(&at("disable")), (SslMode::Disable, false));
        assert_eq!(mode(&at("require")), (SslMode::Require, true));
        assert_eq!(
            mode("host=/run/pg dbname=crawl sslmode=verify-full"),
            (SslMode::Disable, false)
        );
        assert_eq!(check_of("require", false), Ok(Some(Check::Nothing)));
        assert_eq!(check_of("require", true), Ok(Some(Check::Issuer)));
        assert_eq!(check_of("verify-ca", false), Ok(Some(Check::Issuer)));
        assert_eq!(check_of("verify-full", false), Ok(Some(Check::IssuerAndName)));
        let refused = parsed(&at("often"), &[]).err().unwrap();
        assert!(refused.contains("verify-full"), "{refused}");
        let nowhere = at("verify-full&sslrootcert=/nowhere/root.crt");
        let refused = parsed(&nowhere, &[]).err().unwrap();
        assert!(refused.contains("/nowhere/root.crt"), "{refused}");
        let env = [("PGSSLMODE", "disable")];
        let server = parsed("postgres://db.test/crawl", &env).unwrap();
        assert_eq!(server.config.get_ssl_mode(), SslMode::Disable);
    }
}
