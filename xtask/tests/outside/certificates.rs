//! An authority of our own, and certificates that hold or do not, made with `openssl`.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::process;

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
const SETTINGS: &str = "\
[ca]
default_ca = ours
[ours]
database = index
serial = serial
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
";

/// An authority; its files lie in a directory.
pub struct Authority {
    dir: PathBuf,
}

impl Authority {
    /// A new one in `dir`, which must exist.
    pub fn new(dir: &Path) -> Result<Authority> {
        let authority = Authority { dir: dir.to_path_buf() };
        authority.openssl(&format!(
            "req -x509 {KEY} -days 3650 -subj /CN=ours -keyout ca.key -out ca.pem"
        ))?;
        std::fs::write(dir.join("ca.cnf"), SETTINGS)?;
        std::fs::write(dir.join("index"), "")?;
        std::fs::write(dir.join("serial"), "01\n")?;
        Ok(authority)
    }

    /// The file to trust.
    pub fn file(&self) -> String {
        self.dir.join("ca.pem").display().to_string()
    }

    /// `NAME.pem` and `NAME.key` for these names (`DNS:a.test,IP:127.0.0.1`), valid in these years.
    pub fn sign(&self, name: &str, names: &str, years: std::ops::Range<u16>) -> Result<()> {
        self.openssl(&format!("req {KEY} -subj /CN={name} -keyout {name}.key -out {name}.csr"))?;
        let extensions = format!("subjectAltName={names}\n");
        std::fs::write(self.dir.join(format!("{name}.names")), extensions)?;
        let (from, to) = (years.start, years.end);
        self.openssl(&format!(
            "ca -batch -notext -config ca.cnf -startdate {from}0101000000Z -enddate {to}0101000000Z \
             -extfile {name}.names -in {name}.csr -out {name}.pem"
        ))
    }

    /// `NAME.pem` and `NAME.key`, signed by nobody but itself.
    pub fn self_signed(&self, name: &str, names: &str) -> Result<()> {
        self.openssl(&format!(
            "req -x509 {KEY} -days 3650 -subj /CN={name} -addext subjectAltName={names} \
             -keyout {name}.key -out {name}.pem"
        ))
    }

    /// What nginx needs to hear to use a certificate.
    pub fn nginx(&self, name: &str) -> String {
        let dir = self.dir.display();
        format!("ssl_certificate {dir}/{name}.pem; ssl_certificate_key {dir}/{name}.key;")
    }

    fn openssl(&self, args: &str) -> Result<()> {
        let mut command = Command::new("openssl");
        command.current_dir(&self.dir).args(args.split_whitespace());
        process::output(&mut command).with_context(|| format!("openssl {args}"))?;
        Ok(())
    }
}
