//! Servers that let in who knows a password.

use super::{Database, On, Site};
use crate::servers::{MariaDb, Postgres, Redis};

/// What stands before the `@` of a URL, for a server that lets in not everybody.
#[derive(Debug)]
pub struct Logins {
    /// By which one is let in.
    pub right: Vec<String>,
    /// By which one is not.
    pub wrong: Vec<String>,
}

impl On {
    /// Starts a server that asks for passwords. Each of them, right or wrong, has this word in it.
    pub async fn start_with_logins(self, secret: &str) -> (Site, Logins) {
        let login = |login: &str| login.to_owned();
        let app = |password: &str| format!("app:{secret}-{password}");
        let wrong = vec![app("wrong"), format!("nobody:{secret}")];
        match self.database {
            Database::Redis => {
                let user = format!("user app on >{secret}-app ~* &* +@all");
                let server = Redis::start_with(&[&user]).await;
                let mut set = redis::cmd("CONFIG");
                server.ask::<()>(set.arg("SET").arg("requirepass").arg(secret)).await;
                let right = vec![format!(":{secret}"), app("app")];
                let mut wrong = wrong;
                wrong.extend([format!(":{secret}-wrong"), login("")]);
                (Site::Redis(server), Logins { right, wrong })
            }
            Database::Postgres => {
                let server = Postgres::start().await;
                server.ask_for_passwords().await;
                let site = Site::Postgres(server);
                site.tell(&format!(
                    "CREATE ROLE app LOGIN PASSWORD '{secret}-app'; \
                     GRANT CREATE ON SCHEMA public TO app"
                ))
                .await;
                let mut wrong = wrong;
                wrong.push(login("app"));
                (site, Logins { right: vec![app("app")], wrong })
            }
            Database::MariaDb => {
                let site = Site::MariaDb(MariaDb::start().await);
                site.tell(&format!(
                    "CREATE USER app@127.0.0.1 IDENTIFIED BY '{secret}-app'; \
                     GRANT ALL ON leases.* TO app@127.0.0.1"
                ))
                .await;
                let mut wrong = wrong;
                wrong.push(login("app"));
                (site, Logins { right: vec![app("app")], wrong })
            }
            Database::Sqlite => panic!("it has no users: see Need::Logins"),
        }
    }
}

impl Site {
    /// Lets in somebody who may use all the tables that there are, and make none; answers who.
    pub async fn let_in_a_user(&self) -> &'static str {
        let may = "SELECT, INSERT, UPDATE, DELETE";
        match self {
            Site::Postgres(_) => {
                self.tell(&format!(
                    "CREATE ROLE worker LOGIN; \
                     GRANT {may} ON ALL TABLES IN SCHEMA public TO worker"
                ))
                .await;
            }
            Site::MariaDb(_) => {
                self.tell(&format!(
                    "CREATE USER worker@127.0.0.1; GRANT {may} ON leases.* TO worker@127.0.0.1"
                ))
                .await;
            }
            Site::Redis(_) | Site::Sqlite(_) => panic!("see Need::Tables and Need::Logins"),
        }
        "worker"
    }

    /// Its URL for who logs in so.
    pub fn url_of(&self, login: &str) -> String {
        let address = self.address();
        let at = if login.is_empty() { String::new() } else { format!("{login}@") };
        match self {
            Site::Redis(_) => format!("redis://{at}{address}/"),
            Site::Postgres(_) => format!("postgres://{at}{address}/postgres"),
            Site::MariaDb(_) => format!("mysql://{at}{address}/leases"),
            Site::Sqlite(_) => panic!("it has no users: see Need::Logins"),
        }
    }
}
