//! Lock recipes and the client handles they speak to.
