//! Decodes the frames that a Heron buoy sends over the mobile network.
//!
//! A frame is little-endian: magic `0x4B48` ("HK"), version, kind, length, payload, CRC-16.
//! The same code runs on the buoy and on the gateway, so it uses no allocation.

#![no_std]

pub const FRAME_MAGIC: u16 = 0x4B48;
pub const MAX_PAYLOAD_LEN: usize = 240;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    TooShort,
    BadMagic(u16),
    PayloadTooLong(usize),
    ChecksumMismatch { expected: u16, found: u16 },
    UnknownKind(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub interval_seconds: u16,
    pub low_oxygen_ugl: u16,
    /// Signed since firmware v2.0.1. v2.0.0 read this back as `u16` after a restart,
    /// which turned small negative corrections into the largest positive ones.
    pub drift_offset_ugl: i16,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OxygenSample {
    pub seconds_since_epoch: u32,
    pub oxygen_ugl: u16,
    pub temperature_centi_celsius: i16,
    pub quality_flags: u8,
}

pub const FLAG_SUSPECT_STEP: u8 = 0b0000_0001;
pub const FLAG_CAP_WORN: u8 = 0b0000_0010;
pub const FLAG_CLOCK_UNSET: u8 = 0b0000_0100;

fn read_u16(bytes: &[u8], at: usize) -> Result<u16, DecodeError> {
    let pair = bytes.get(at..at + 2).ok_or(DecodeError::TooShort)?;
    Ok(u16::from_le_bytes([pair[0], pair[1]]))
}

fn read_i16(bytes: &[u8], at: usize) -> Result<i16, DecodeError> {
    read_u16(bytes, at).map(|value| value as i16)
}

/// CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xFFFF, no reflection.
pub fn crc16_ccitt(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, &byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            if crc & 0x8000 != 0 { (crc << 1) ^ 0x1021 } else { crc << 1 }
        })
    })
}

/// Checks magic, length and checksum, and returns kind and payload.
pub fn split_frame(frame: &[u8]) -> Result<(u8, &[u8]), DecodeError> {
    let magic = read_u16(frame, 0)?;
    if magic != FRAME_MAGIC {
        return Err(DecodeError::BadMagic(magic));
    }
    let kind = *frame.get(3).ok_or(DecodeError::TooShort)?;
    let length = usize::from(*frame.get(4).ok_or(DecodeError::TooShort)?);
    if length > MAX_PAYLOAD_LEN {
        return Err(DecodeError::PayloadTooLong(length));
    }
    let payload = frame.get(5..5 + length).ok_or(DecodeError::TooShort)?;
    let expected = read_u16(frame, 5 + length)?;
    let found = crc16_ccitt(&frame[..5 + length]);
    if expected != found {
        return Err(DecodeError::ChecksumMismatch { expected, found });
    }
    Ok((kind, payload))
}

pub fn decode_settings(payload: &[u8]) -> Result<Settings, DecodeError> {
    Ok(Settings {
        interval_seconds: read_u16(payload, 0)?,
        low_oxygen_ugl: read_u16(payload, 2)?,
        drift_offset_ugl: read_i16(payload, 4)?,
    })
}

pub fn decode_sample(payload: &[u8]) -> Result<OxygenSample, DecodeError> {
    let low = read_u16(payload, 0)?;
    let high = read_u16(payload, 2)?;
    Ok(OxygenSample {
        seconds_since_epoch: u32::from(high) << 16 | u32::from(low),
        oxygen_ugl: read_u16(payload, 4)?,
        temperature_centi_celsius: read_i16(payload, 6)?,
        quality_flags: *payload.get(8).ok_or(DecodeError::TooShort)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_offset_keeps_its_sign() {
        for offset in [-900i16, -1, 0, 1, 900, i16::MIN, i16::MAX] {
            let mut payload = [0u8; 6];
            payload[4..6].copy_from_slice(&offset.to_le_bytes());
            assert_eq!(decode_settings(&payload).unwrap().drift_offset_ugl, offset);
        }
    }

    #[test]
    fn crc_matches_the_published_check_value() {
        assert_eq!(crc16_ccitt(b"123456789"), 0x29B1);
    }
}
