/**
 * The context of the reconcile that the current call belongs to, for log lines of shared parts such as the client. In Go, a
 * `context.Context` would carry it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

export interface LogContext {
  /** The owner of the work, such as the name of a controller. */
  readonly owner: string
  /** A logger with the fields of the work. */
  readonly logger: Logger
}

const storage = new AsyncLocalStorage<LogContext>()

/** Calls `work`; in all its synchronous and asynchronous calls `logContext` returns `context`. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

/** Returns the context of the current call; undefined outside `withLogContext`. */
export function logContext(): LogContext | undefined {
  return storage.getStore()
}
