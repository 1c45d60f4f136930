/// Containers and clocks of the inner loops: slab, ring, frame pool, timer wheel, instants, token bucket, histogram.
///
/// Threads: none; every value here is owned by exactly one thread. Imports nothing of ours and no Foundation.
