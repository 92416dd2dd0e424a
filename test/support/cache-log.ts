/** A logger that keeps its lines for a test to read. */
import { pino } from 'pino'
import type { Logger } from '../../src/telemetry/logger.ts'

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

export function recordingLogger(): { logger: Logger; lines: LogLine[]; /** From level info on. */ told(): string[] } {
  const lines: LogLine[] = []
  const logger = pino(
    { level: 'debug', base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) },
  )
  return { logger, lines, told: () => lines.filter(({ level }) => level !== 'debug').map(({ level, msg }) => `${level}: ${msg}`) }
}
