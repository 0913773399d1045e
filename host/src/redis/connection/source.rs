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

use super::super::config::{Address, RedisConfig, Servers};
use super::super::keys;

/// The most requests that wait to be written to a node. A future that waits for room and is never
/// polled again keeps the room that it is then given: there has to be enough.
const QUEUED_MAX: usize = 100_000;

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

/// What is told of a connection; it must not block.
pub(in super::super) type Hears = Box<dyn Fn(PushInfo) + Send + Sync>;

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

    /// The same, to a cluster, with every command sent once. None where that is so anyway.
    pub(in super::super) fn without_repeats(config: &RedisConfig) -> RedisResult<Option<Self>> {
        let source = Source::new(config)?;
        Ok(match source {
            Source::Cluster(builder) => {
                Some(Source::Cluster(Box::new(move || builder().retries(0))))
            }
            Source::Single(_) | Source::Sentinel(_) => None,
        })
    }

    pub(in super::super) fn is_cluster(&self) -> bool {
        matches!(self, Source::Cluster(_))
    }

    /// Opens a connection; `hears` is told what the server pushes, and of its end.
    pub(in super::super) async fn open(&self, hears: Hears) -> RedisResult<Connection> {
        let how = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(QUEUED_MAX);
        let hears = move |push| {
            hears(push);
            Ok::<(), ()>(())
        };
        match self {
            Source::Single(client) => {
                let how = how.set_push_sender(hears);
                let connection = client.get_multiplexed_async_connection_with_config(&how).await?;
                Ok(Connection::Node(connection))
            }
            Source::Sentinel(client) => {
                let how = how.set_push_sender(hears);
                let mut client = client.lock().await;
                let connection = client.get_async_connection_with_config(&how).await?;
                Ok(Connection::Node(connection))
            }
            Source::Cluster(builder) => {
                let client: ClusterClient = builder().push_sender(hears).build()?;
                Ok(Connection::Cluster(client.get_async_connection().await?))
            }
        }
    }
}

impl Connection {
    pub(in super::super) async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        let reply = match self {
            Connection::Node(connection) => connection.req_packed_command(command).await,
            Connection::Cluster(connection) => connection.req_packed_command(command).await,
        };
        reply?.extract_error()
    }

    /// Sends a command to the node of a cluster that has this slot. Elsewhere there is one node.
    pub(super) async fn send_to(&mut self, slot: u16, command: &Cmd) -> RedisResult<Value> {
        let reply = match self {
            Connection::Node(connection) => connection.req_packed_command(command).await,
            Connection::Cluster(connection) => {
                connection.route_command(command.clone(), to_master_of(slot)).await
            }
        };
        reply?.extract_error()
    }

    /// Subscribes to a channel that every node of a cluster has.
    pub(in super::super) async fn subscribe_everywhere(
        &mut self,
        channel: &str,
    ) -> RedisResult<()> {
        match self {
            Connection::Node(connection) => connection.subscribe(channel).await,
            Connection::Cluster(connection) => connection.subscribe(channel).await,
        }
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
                connection.route_command(wait, to_master_of(keys::slot(key))).await?
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
        // A verbatim string, as this protocol has them.
        let told: String = redis::from_redis_value(self.send(&ask).await.ok()?).ok()?;
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

fn to_master_of(slot: u16) -> RoutingInfo {
    let route = Route::new(slot, SlotAddr::Master);
    RoutingInfo::SingleNode(SingleNodeRoutingInfo::SpecificNode(route))
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
            .connection_timeout(timeout / 2) // A silent node is not the end of all.
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
