//! Opening connections: to one server, to the one that Sentinel names, to a cluster.

use std::fmt;
use std::time::Duration;

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr};
use redis::io::tcp::TcpSettings;
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo,
    ProtocolVersion, PushInfo, RedisConnectionInfo, RedisResult, TlsMode, Value,
};
use tokio::sync::mpsc::UnboundedSender;

use super::super::config::{Address, RedisConfig, Servers};
use super::super::keys;

/// Where connections come from.
pub(in super::super) enum Source {
    Single(Box<Client>),
    Sentinel(Box<tokio::sync::Mutex<SentinelClient>>),
    Cluster(Box<dyn Fn() -> ClusterClientBuilder + Send + Sync>),
}

/// A connection; its clones share it.
#[derive(Clone)]
pub(in super::super) enum Connection {
    Node(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// What a server calls a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct ClientName {
    id: String,
    address: String,
}

impl Source {
    pub(in super::super) fn new(config: &RedisConfig) -> RedisResult<Self> {
        match &config.servers {
            Servers::Single(address) => {
                let info = info(config, address, settings(config))?;
                Ok(Source::Single(Box::new(Client::open(info)?)))
            }
            Servers::Sentinel { sentinels, service } => sentinel(config, sentinels, service),
            Servers::Cluster(nodes) => cluster(config, nodes),
        }
    }

    pub(in super::super) fn is_cluster(&self) -> bool {
        matches!(self, Source::Cluster(_))
    }

    /// Opens a connection for commands, or one that is pushed messages.
    pub(in super::super) async fn open(
        &self,
        pushes: Option<UnboundedSender<PushInfo>>,
    ) -> RedisResult<Connection> {
        let mut how =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        match self {
            Source::Single(client) => {
                if let Some(pushes) = pushes {
                    how = how.set_push_sender(pushes);
                }
                let connection = client.get_multiplexed_async_connection_with_config(&how).await?;
                Ok(Connection::Node(connection))
            }
            Source::Sentinel(client) => {
                if let Some(pushes) = pushes {
                    how = how.set_push_sender(pushes);
                }
                let mut client = client.lock().await;
                let connection = client.get_async_connection_with_config(&how).await?;
                Ok(Connection::Node(connection))
            }
            Source::Cluster(builder) => {
                let mut builder = builder();
                if let Some(pushes) = pushes {
                    builder = builder.push_sender(pushes);
                }
                let client: ClusterClient = builder.build()?;
                Ok(Connection::Cluster(client.get_async_connection().await?))
            }
        }
    }
}

impl Connection {
    pub(super) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        let reply = match self {
            Connection::Node(connection) => connection.req_packed_command(command).await,
            Connection::Cluster(connection) => connection.req_packed_command(command).await,
        };
        reply?.extract_error()
    }

    /// Subscribes to a channel; in a cluster, to one that stays in its slot.
    pub(in super::super) async fn subscribe(&mut self, channel: &str) -> RedisResult<()> {
        match self {
            Connection::Node(connection) => connection.subscribe(channel).await,
            Connection::Cluster(connection) => connection.ssubscribe(channel).await,
        }
    }

    pub(in super::super) async fn unsubscribe(&mut self, channel: &str) -> RedisResult<()> {
        match self {
            Connection::Node(connection) => connection.unsubscribe(channel).await,
            Connection::Cluster(connection) => connection.sunsubscribe(channel).await,
        }
    }

    pub(in super::super) async fn ping(&mut self) -> RedisResult<()> {
        self.send(&redis::cmd("PING")).await.map(drop)
    }

    /// Writes to this key, and waits until so many replicas have that, or the time is up; answers
    /// how many have.
    pub(super) async fn replicas_follow(
        &mut self,
        key: &str,
        replicas: u32,
        within: Duration,
    ) -> RedisResult<u32> {
        let mut write = redis::cmd("SET");
        write.arg(&[key, "", "PX", "1000"]);
        self.send(&write).await?;
        let mut wait = redis::cmd("WAIT");
        wait.arg(replicas).arg(u64::try_from(within.as_millis()).unwrap_or(u64::MAX).max(1));
        let reply = match self {
            Connection::Node(connection) => connection.req_packed_command(&wait).await?,
            Connection::Cluster(connection) => {
                let route = Route::new(keys::slot(key), SlotAddr::Master);
                let node = SingleNodeRoutingInfo::SpecificNode(route);
                connection.route_command(wait, RoutingInfo::SingleNode(node)).await?
            }
        };
        redis::from_redis_value(reply).map_err(Into::into)
    }

    /// Whether it opens its parts again by itself.
    pub(in super::super) fn mends(&self) -> bool {
        matches!(self, Connection::Cluster(_))
    }

    /// What the server calls it; none where it does not say.
    pub(super) async fn name(&mut self) -> Option<ClientName> {
        if self.mends() {
            return None;
        }
        let mut ask = redis::cmd("CLIENT");
        ask.arg("INFO");
        let Ok(Value::BulkString(told)) = self.send(&ask).await else { return None };
        let told = String::from_utf8(told).ok()?;
        let field =
            |name: &str| told.split_ascii_whitespace().find_map(|field| field.strip_prefix(name));
        Some(ClientName { id: field("id=")?.to_owned(), address: field("addr=")?.to_owned() })
    }

    /// Has the server end another of this program's connections, with what it has not carried out
    /// of it. One that it does not know has ended.
    pub(super) async fn end(&mut self, other: &ClientName) -> RedisResult<()> {
        let mut kill = redis::cmd("CLIENT");
        kill.arg(&["KILL", "ID", &other.id, "ADDR", &other.address]);
        match self.send(&kill).await {
            Err(error) if error.is_io_error() => Err(error),
            Err(error) => {
                tracing::debug!(%error, "an earlier connection was not ended");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

fn sentinel(config: &RedisConfig, sentinels: &[Address], service: &str) -> RedisResult<Source> {
    let of_sentinel = |address| info(config, address, RedisConnectionInfo::default());
    let sentinels = sentinels.iter().map(of_sentinel).collect::<RedisResult<Vec<_>>>()?;
    let mut to_redis = SentinelNodeConnectionInfo::default()
        .set_redis_connection_info(settings(config))
        .set_tcp_settings(tcp());
    if config.tls {
        to_redis = to_redis.set_tls_mode(TlsMode::Secure);
    }
    let service = service.to_owned();
    let role = SentinelServerType::Master;
    let client = SentinelClient::build(sentinels, service, Some(to_redis), role)?;
    Ok(Source::Sentinel(Box::new(tokio::sync::Mutex::new(client))))
}

fn cluster(config: &RedisConfig, nodes: &[Address]) -> RedisResult<Source> {
    let of_node = |address| info(config, address, settings(config));
    let nodes = nodes.iter().map(of_node).collect::<RedisResult<Vec<_>>>()?;
    let timeout = config.request_timeout;
    Ok(Source::Cluster(Box::new(move || {
        ClusterClientBuilder::new(nodes.clone())
            .use_protocol(ProtocolVersion::RESP3)
            .tcp_settings(tcp())
            .connection_timeout(timeout)
            .response_timeout(timeout)
    })))
}

fn settings(config: &RedisConfig) -> RedisConnectionInfo {
    let mut settings = RedisConnectionInfo::default()
        .set_db(config.database)
        .set_protocol(ProtocolVersion::RESP3)
        .set_lib_name("leases", env!("CARGO_PKG_VERSION"));
    if let Some(user) = &config.user {
        settings = settings.set_username(user);
    }
    if let Some(password) = &config.password {
        settings = settings.set_password(password);
    }
    settings
}

fn info(
    config: &RedisConfig,
    Address { host, port }: &Address,
    settings: RedisConnectionInfo,
) -> RedisResult<ConnectionInfo> {
    let (host, port) = (host.clone(), *port);
    let address = match config.tls {
        false => ConnectionAddr::Tcp(host, port),
        true => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
    };
    Ok(address.into_connection_info()?.set_tcp_settings(tcp()).set_redis_settings(settings))
}

/// Small requests, each waited for: none of them waits for others to fill a packet.
fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Single(_) => "Source(single)",
            Source::Sentinel(_) => "Source(sentinel)",
            Source::Cluster(_) => "Source(cluster)",
        })
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.mends() { "Connection(cluster)" } else { "Connection(node)" })
    }
}
