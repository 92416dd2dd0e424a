package main

import (
	"bytes"
	"os"
	"strconv"
)

// cpuSeconds returns the CPU time of the processes: the sum of `utime` and `stime` in proc(5), which are counted in ticks of 10 ms.
func cpuSeconds(processes []string) (float64, error) {
	var ticks int
	for _, process := range processes {
		stat, err := os.ReadFile("/proc/" + process + "/stat")
		if err != nil {
			return 0, err
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		for _, field := range fields[11:13] {
			value, err := strconv.Atoi(string(field))
			if err != nil {
				return 0, err
			}
			ticks += value
		}
	}
	return float64(ticks) / 100, nil
}
