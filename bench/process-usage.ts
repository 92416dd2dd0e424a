/** Reads the CPU time and the memory of a running process from proc(5). */
import { readFileSync } from 'node:fs'

/** Returns the CPU time of the process in seconds. This is the sum of `utime` and `stime`, which are counted in ticks of 10 ms. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Returns the resident memory of the process in MiB. */
export function residentMbOf(pid: number): number {
  return megabytes(pid, 'VmRSS')
}

/** Returns the largest resident memory that the process has had, in MiB. */
export function peakResidentMbOf(pid: number): number {
  return megabytes(pid, 'VmHWM')
}

function megabytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
}
