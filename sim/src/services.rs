//! The services, each behind the door that the world has for them: one adapter a service.
//!
//! A service is a crate of state machines (`sim/services/NAME`), and what lets them live in the world: it sends their
//! messages, wakes them, breaks them, and says who owns the lock. The door is
//! [`SimulatedService`](crate::world::SimulatedService).

pub(crate) mod chubby;
pub(crate) mod consul;
pub(crate) mod etcd;
pub(crate) mod lease_server;
pub(crate) mod memcached;
pub(crate) mod redis;
pub(crate) mod sql;
pub(crate) mod zookeeper;

/// Calls a function that is made for an adapter with that of the service that a plan stands on.
macro_rules! with_adapter {
    ($plan:expr, $function:ident $arguments:tt) => {
        $crate::services::with_adapter! { @of $plan, $function $arguments
            ZooKeeper => zookeeper::SimulatedZooKeeper,
            Redis => redis::SimulatedRedis,
            LeaseServer => lease_server::SimulatedLeaseServer,
            Etcd => etcd::SimulatedEtcd,
            Sql => sql::SimulatedSql,
            Memcached => memcached::SimulatedMemcached,
            Consul => consul::SimulatedConsul,
            Chubby => chubby::SimulatedChubby,
        }
    };
    (@of $plan:expr, $function:ident $arguments:tt $($service:ident => $module:ident::$adapter:ident,)+) => {
        match $plan.service {
            $($crate::plan::Service::$service(_) => {
                $function::<$crate::services::$module::$adapter> $arguments
            })+
        }
    };
}

pub(crate) use with_adapter;
