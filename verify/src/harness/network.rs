//! Ports and connections on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::harness::error::{Result, VerifyError};

/// So many free ports on loopback.
pub(crate) fn free_ports(count: usize) -> Result<Vec<u16>> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // All at once, so that none is given twice.
    let listeners: io::Result<Vec<TcpListener>> = (0..count).map(bind).collect();
    let ports = listeners.and_then(|listeners| {
        let ports = listeners.iter().map(|port| Ok(port.local_addr()?.port()));
        ports.collect()
    });
    ports.map_err(VerifyError::io("cannot find a free port on loopback"))
}

/// One free port on loopback.
pub(crate) fn free_port() -> Result<u16> {
    Ok(free_ports(1)?[0])
}

/// Connects to a port on loopback. Connecting, and each read and write, may take this long.
pub(crate) fn connect(port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let stream =
        TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), timeout)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    Ok(stream)
}
