/**
 * The context of the current reconcile. Shared code such as the client takes the fields of its log lines from this context. In Go, a
 * `context.Context` would contain it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

export interface LogContext {
  /** The name of the component that runs the current asynchronous operation, such as the name of a controller. */
  readonly owner: string
  /** A logger with the fields of the current asynchronous operation, such as those of a reconcile. */
  readonly logger: Logger
}

const storage = new AsyncLocalStorage<LogContext>()

/** Calls `work`. In `work`, and in everything that it calls or awaits, `logContext` returns `context`. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

/** Returns the context that `withLogContext` has set for the current call; undefined outside `withLogContext`. */
export function logContext(): LogContext | undefined {
  return storage.getStore()
}
