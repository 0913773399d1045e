//! `leases run` over a Redis that speaks TLS.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use leases_tests::servers::Redis;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::{Ran, leases, probe};

/// A server's certificate, and that of the authority that signed it.
struct Certificates {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

/// Whoever trusts the authority gets through; nobody else does, and nobody without TLS.
#[tokio::test]
async fn over_tls_only_a_server_that_is_trusted_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let Certificates { authority, certificate, key } = certificates(folder.path());
    let port = free_port();
    let config = [
        format!("tls-port {port}"),
        format!("tls-cert-file {}", certificate.display()),
        format!("tls-key-file {}", key.display()),
        "tls-auth-clients no".to_owned(),
    ];
    let server = Redis::start_with(&config.each_ref().map(String::as_str)).await;
    let run = |scheme: &str, timeout: &str, trusted: Option<&Path>| {
        let url = format!("{scheme}://localhost:{port}?timeout={timeout}");
        let mut command = leases();
        command.args(["run", &probe(), "--backend", &url, "--allow", "a", "--", "lease", "a"]);
        if let Some(trusted) = trusted {
            command.env("SSL_CERT_FILE", trusted);
        }
        Ran::to_its_end(&mut command)
    };
    let trusted = run("rediss", "5s", Some(&authority));
    assert_eq!((trusted.status, &*trusted.err), (0, ""));
    assert!(trusted.out.starts_with("fence "), "{}", trusted.out);
    run("rediss", "1s", None).refused(69, "certificate");
    run("redis", "1s", Some(&authority)).refused(69, "not reached");
    drop(server);
}

fn certificates(folder: &Path) -> Certificates {
    let key = || KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, key()).expect("an authority");
    let server_key = key();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    let server = params.signed_by(&server_key, &authority).expect("a certificate");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).expect("it is written");
        path
    };
    Certificates {
        authority: write("authority.pem", authority.pem()),
        certificate: write("server.pem", server.pem()),
        key: write("server.key", server_key.serialize_pem()),
    }
}

/// A port beyond those that servers of tests use, and below those that the system gives.
fn free_port() -> u16 {
    let first = 30_000 + std::process::id() % 2_000;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut ports = (0..2_000).map(|by| (30_000 + (first + by) % 2_000) as u16);
    ports.find(is_free).expect("one is free")
}
