//! What servers do, against what real ones have answered.
