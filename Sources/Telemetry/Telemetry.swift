/// Counters, gauges, histograms, their Prometheus text, log lines.
///
/// Threads: every type here may be used from any thread. Metrics are atomics and never block; the registry and the log
/// hold the house's pthread lock (`Workers.Lock`) for the length of an append or one write to standard error. Imports
/// Primitives and Workers, no Foundation.
