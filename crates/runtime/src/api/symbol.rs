//! Device variables, each named by the host variable that stands for it.

use crate::api::api;
use crate::api::copy::kind;
use crate::client::{Bytes, Out};
use crate::context;
use crate::driver::{Driver, Stream};
use crate::error::{Answer, Error};
use crate::registry;

/// Device address of a range within a variable.
pub fn range(driver: &Driver, symbol: Bytes, offset: u64, bytes: u64) -> Answer<u64> {
    let (address, size) = registry::variable(driver, symbol)?;
    let end = offset.checked_add(bytes).filter(|end| *end <= size);
    end.map(|_| address + offset).ok_or(Error::InvalidValue)
}

fn to_symbol(symbol: Bytes, from: Bytes, bytes: u64, offset: u64, direction: u32, on: Stream) -> Answer {
    let driver = context::ready()?;
    let to = range(driver, symbol, offset, bytes)?;
    match direction {
        kind::HOST_TO_DEVICE => driver.cuMemcpyHtoDAsync_v2(to, from, bytes, on),
        kind::DEVICE_TO_DEVICE => driver.cuMemcpyDtoDAsync_v2(to, from.address(), bytes, on),
        kind::DEFAULT => driver.cuMemcpyAsync(to, from.address(), bytes, on),
        _ => Err(Error::InvalidMemcpyDirection),
    }
}

fn from_symbol(to: Bytes, symbol: Bytes, bytes: u64, offset: u64, direction: u32, on: Stream) -> Answer {
    let driver = context::ready()?;
    let from = range(driver, symbol, offset, bytes)?;
    match direction {
        kind::DEVICE_TO_HOST => driver.cuMemcpyDtoHAsync_v2(to, from, bytes, on),
        kind::DEVICE_TO_DEVICE => driver.cuMemcpyDtoDAsync_v2(to.address(), from, bytes, on),
        kind::DEFAULT => driver.cuMemcpyAsync(to.address(), from, bytes, on),
        _ => Err(Error::InvalidMemcpyDirection),
    }
}

api! {
    /// Copies into a variable. Fails if the range exceeds the variable.
    cudaMemcpyToSymbol | cudaMemcpyToSymbol_ptds (symbol: Bytes, from: Bytes, bytes: u64, offset: u64, kind: u32) {
        to_symbol(symbol, from, bytes, offset, kind, Stream::NULL)
    }

    /// Copies into a variable, in a stream. Fails if the range exceeds the variable.
    cudaMemcpyToSymbolAsync | cudaMemcpyToSymbolAsync_ptsz (
        symbol: Bytes, from: Bytes, bytes: u64, offset: u64, kind: u32, stream: Stream,
    ) {
        to_symbol(symbol, from, bytes, offset, kind, stream)
    }

    /// Copies out of a variable. Fails if the range exceeds the variable.
    cudaMemcpyFromSymbol | cudaMemcpyFromSymbol_ptds (to: Bytes, symbol: Bytes, bytes: u64, offset: u64, kind: u32) {
        from_symbol(to, symbol, bytes, offset, kind, Stream::NULL)
    }

    /// Copies out of a variable, in a stream. Fails if the range exceeds the variable.
    cudaMemcpyFromSymbolAsync | cudaMemcpyFromSymbolAsync_ptsz (
        to: Bytes, symbol: Bytes, bytes: u64, offset: u64, kind: u32, stream: Stream,
    ) {
        from_symbol(to, symbol, bytes, offset, kind, stream)
    }

    /// Writes the device address of a variable.
    cudaGetSymbolAddress(address: Out<u64>, symbol: Bytes) {
        let place = address.place()?;
        place.put(registry::variable(context::ready()?, symbol)?.0);
        Ok(())
    }

    /// Writes the size of a variable in bytes.
    cudaGetSymbolSize(bytes: Out<u64>, symbol: Bytes) {
        let place = bytes.place()?;
        place.put(registry::variable(context::ready()?, symbol)?.1);
        Ok(())
    }
}
