// The load of the benchmarks: one process, cheap enough to fill a server's core from another one.
module proreus.example/bench/load

go 1.24
