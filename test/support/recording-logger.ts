/** A logger that keeps its log entries in memory. */
import { createLogger } from '../../src/telemetry/logger.ts'
import type { Logger } from '../../src/telemetry/logger.ts'

export interface LogEntry {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

export interface RecordingLogger {
  readonly logger: Logger
  /** The log entries, each as `LEVEL: MESSAGE`. */
  readonly lines: string[]
  /** The log entries with all of their fields except the time. */
  readonly entries: LogEntry[]
}

/** Returns a logger that keeps the log entries of `level` (default: info) and of higher levels. */
export function recordingLogger(level = 'info'): RecordingLogger {
  const lines: string[] = []
  const entries: LogEntry[] = []
  const logger = createLogger({
    level,
    destination: {
      write(text: string) {
        const { time: _time, ...entry } = JSON.parse(text) as LogEntry
        entries.push(entry as LogEntry)
        lines.push(`${entry.level as string}: ${entry.msg as string}`)
      },
    },
  })
  return { logger, lines, entries }
}
