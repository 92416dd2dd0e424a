// The load generator of the benchmarks. On one CPU core it sends enough requests to use a server's core completely.
module proreus.example/bench/load

go 1.24
