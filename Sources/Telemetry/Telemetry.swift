/// Counters, histograms, Prometheus text, log lines.
