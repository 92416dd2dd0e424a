/** A logger that keeps what it is told: `level: message`. */
import { createLogger } from '../../src/telemetry/logger.ts'
import type { Logger } from '../../src/telemetry/logger.ts'

export function recordingLogger(level = 'info'): { logger: Logger; lines: string[]; entries: Record<string, unknown>[] } {
  const lines: string[] = []
  const entries: Record<string, unknown>[] = []
  const logger = createLogger({
    level,
    destination: {
      write(text: string) {
        const entry = JSON.parse(text) as Record<string, unknown>
        entries.push(entry)
        lines.push(`${String(entry.level)}: ${String(entry.msg)}`)
      },
    },
  })
  return { logger, lines, entries }
}
