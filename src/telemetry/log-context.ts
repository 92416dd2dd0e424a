/** Which reconcile a piece of work belongs to, for log lines of parts that do not know: what a `context.Context` carries in Go. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

export interface LogContext {
  /** Whose work it is, such as the name of a controller. */
  readonly owner: string
  /** Carries the fields that tell which. */
  readonly logger: Logger
}

const storage = new AsyncLocalStorage<LogContext>()

/** Calls `work`; whatever it does, now or later, finds `context`. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

/** That of the work which runs; undefined outside. */
export function logContext(): LogContext | undefined {
  return storage.getStore()
}
